CREATE EXTENSION simhash;

-- no operator class is wrong
SELECT amname, opcname
FROM pg_opclass opc JOIN pg_am am ON am.oid = opcmethod
WHERE opc.oid >= 16384 AND NOT amvalidate(opc.oid);

-- the distance has operator classes of its own
SELECT amname, opcname, opcdefault
FROM pg_opclass opc JOIN pg_am am ON am.oid = opcmethod
WHERE opc.oid >= 16384 ORDER BY 1, 2;

-- every function is safe in parallel plans, and those that must not leak do not
SELECT proname FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
	AND d.classid = 'pg_proc'::regclass
	AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
	AND proparallel <> 's' AND prorettype <> 'internal'::regtype
	-- temporary indexes are out of reach of parallel workers
	AND proname !~ '^hamming_index_'
	-- and a view or a query may be of anything
	AND proname NOT IN ('simhash_distances', 'simhash_pairs');
SELECT oid::regprocedure FROM pg_proc
WHERE proname IN ('simhash_within', 'simhash_near', 'simhash_in_ball',
		'hamming_ball_contains')
	AND NOT proleakproof;

-- every operator and every function that people call is described
SELECT d.classid::regclass, pg_describe_object(d.classid, d.objid, 0)
FROM pg_depend d
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
	AND d.classid IN ('pg_operator'::regclass, 'pg_type'::regclass, 'pg_cast'::regclass,
		'pg_opclass'::regclass)
	AND NOT EXISTS (SELECT FROM pg_type t
		WHERE t.oid = d.objid AND t.typtype NOT IN ('b', 'd')
			OR t.oid = d.objid AND t.typelem <> 0)
	AND obj_description(d.objid, d.classid::regclass::name) IS NULL;
SELECT oid::regprocedure FROM pg_proc
WHERE oid IN (SELECT objid FROM pg_depend WHERE classid = 'pg_proc'::regclass
		AND refclassid = 'pg_extension'::regclass AND deptype = 'e'
		AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash'))
	AND obj_description(oid, 'pg_proc') IS NULL
	-- what operators, types, operator classes and the planner call
	AND proname !~ '^(simhash64_|simhash_weights_|gist_|hamming_distance_)|_(in|out|recv|send|support)$'
	AND 'internal'::regtype <> ALL (proargtypes);

-- two literals mean a text and its weights, one a text
SELECT typcategory, typispreferred FROM pg_type WHERE typname = 'simhash_weights';

-- What the other tests use: the error of a statement.
CREATE FUNCTION error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'no error: ' || statement;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ': ' || SQLERRM || coalesce(' / ' || nullif(detail, ''), '');
END $$;

-- The lines of a plan that say how an index is used.
CREATE FUNCTION index_use(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ 'Index Cond|Order By|Seq Scan|Index Only' THEN
			RETURN NEXT regexp_replace(line, '^[ >-]*', '');
		END IF;
	END LOOP;
END $$;

-- Do the indexes give the rows that a sequential scan gives?
CREATE FUNCTION rows_of(query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	result text[];
BEGIN
	EXECUTE format('SELECT array_agg(r::text ORDER BY r::text) FROM (%s) r', query)
		INTO result;
	RETURN result;
END $$;
CREATE FUNCTION rows_by_index(query text) RETURNS text[] LANGUAGE sql
SET enable_seqscan = off SET jit = off AS 'SELECT rows_of(query)';
CREATE FUNCTION rows_by_scan(query text) RETURNS text[] LANGUAGE sql
SET enable_seqscan = on SET enable_indexscan = off SET enable_indexonlyscan = off
SET enable_bitmapscan = off AS 'SELECT rows_of(query)';
CREATE FUNCTION same_rows(query text) RETURNS boolean LANGUAGE sql AS
	'SELECT rows_by_index(query) IS NOT DISTINCT FROM rows_by_scan(query)';

-- Show how the index is used, and that it loses no row.
CREATE FUNCTION proves(query text) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT index_use(query)
	UNION ALL
	SELECT CASE WHEN same_rows(query) THEN 'same rows' ELSE 'WRONG ROWS' END
$$;
