-- What CREATE EXTENSION has made.

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
	AND proname NOT IN ('simhash_components', 'simhash_distances', 'simhash_pairs');
SELECT oid::regprocedure FROM pg_proc
WHERE proname IN ('simhash_within', 'simhash_near', 'simhash_in_ball', 'hamming_ball_contains',
		'hamming_ball', 'hamming_ball_128', 'hamming_bound_below', 'simhash_distance', 'simhash_distance_int')
	AND NOT proleakproof;

-- What is not immutable: generated columns and indexes need all others.
SELECT DISTINCT provolatile, proname FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
	AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
	AND provolatile <> 'i' ORDER BY 1, 2;

-- every object is described
SELECT d.classid::regclass, pg_describe_object(d.classid, d.objid, 0)
FROM pg_depend d
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
	AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
	AND d.classid IN ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass,
		'pg_cast'::regclass, 'pg_opclass'::regclass)
	AND NOT EXISTS (SELECT FROM pg_type t
		WHERE t.oid = d.objid AND t.typtype NOT IN ('b', 'd')
			OR t.oid = d.objid AND t.typelem <> 0)
	AND obj_description(d.objid, d.classid::regclass::name) IS NULL;
-- and what nobody calls is marked
SELECT DISTINCT proname FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.classid = 'pg_proc'::regclass
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
	AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'simhash')
	AND obj_description(p.oid, 'pg_proc') !~ '^internal: ' ORDER BY 1;

-- two literals mean a text and its weights, one a text
SELECT typcategory, typispreferred FROM pg_type WHERE typname = 'simhash_weights';
