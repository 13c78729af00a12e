-- What the tests of HammingJoin share: functions, and tables of 64 and of 128 bits.

-- How many rows a query has, and a hash of them; of a statement before it nothing
-- stays.
CREATE FUNCTION result_of(query text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	IF statement IS NOT NULL THEN EXECUTE statement; END IF;
	EXECUTE format('SELECT (count(*), sum(hash_record_extended(r, 0)))::text FROM (%s) r', query)
		INTO result;
	RAISE USING ERRCODE = 'ZZZZZ', MESSAGE = result;
EXCEPTION WHEN SQLSTATE 'ZZZZZ' THEN
	RETURN SQLERRM;
END $$;
CREATE FUNCTION result_by_join(query text, statement text) RETURNS text LANGUAGE sql
SET simhash.enable_hammingjoin = on SET enable_nestloop = off SET enable_hashjoin = off
SET enable_mergejoin = off AS 'SELECT result_of(query, statement)';
CREATE FUNCTION result_by_loop(query text, statement text) RETURNS text LANGUAGE sql
SET simhash.enable_hammingjoin = off AS 'SELECT result_of(query, statement)';

-- What a plan says of the joins by our method.
CREATE FUNCTION join_plan(query text) RETURNS SETOF text LANGUAGE sql
SET simhash.enable_hammingjoin = on SET enable_nestloop = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
	SELECT plan_lines(query, 'HammingJoin|Join Type|Hamming Cond|Keys|Filter|Scan on|Nested|Subquery')
$$;

-- How many rows a query has, by the join; or a table after a statement.  Another
-- query may give what is expected.
CREATE FUNCTION joins(query text, statement text DEFAULT NULL, expected text DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SET jit = off AS $$
DECLARE
	by_join text := result_by_join(query, statement);
	by_loop text := result_by_loop(coalesce(expected, query), statement);
BEGIN
	IF by_join IS DISTINCT FROM by_loop THEN
		RETURN format('%s, but %s EXPECTED', by_join, by_loop);
	END IF;
	RETURN substring(by_join, '\d+') || CASE
		WHEN EXISTS (SELECT FROM join_plan(coalesce(statement, query)) line WHERE line ~ 'HammingJoin')
		THEN ' rows' ELSE ' rows BY ANOTHER JOIN' END;
END $$;

-- The same, whatever the plan is: another version of PostgreSQL may choose another.
CREATE FUNCTION same_result(query text) RETURNS boolean LANGUAGE sql SET jit = off AS
	'SELECT result_by_join(query, NULL) = result_by_loop(query, NULL)';

-- All types of joins of two queries for (id, fp).  Only their columns that are
-- named come out of the join: all, those of one side, or none.
CREATE FUNCTION check_joins(x text, y text, ks int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	k int;
	expected text;
	query text;
	result text;
	results int := 0;
	wrong int := 0;
BEGIN
	EXECUTE 'CREATE TEMP TABLE x ON COMMIT DROP AS ' || x;
	EXECUTE 'CREATE TEMP TABLE y ON COMMIT DROP AS ' || y;
	FOREACH k IN ARRAY ks LOOP
		FOR query, expected IN
			SELECT replace(q, '%s', k::text), replace(e, '%s', k::text) FROM (VALUES
				('SELECT x.*, y.id AS other, y.fp AS near FROM x JOIN y ON x.fp <-> y.fp <= %s', NULL),
				('SELECT y.id FROM x JOIN y ON y.fp <-> x.fp <= %s', NULL),
				('SELECT FROM x JOIN y ON x.fp <-> y.fp <= %s', NULL),
				('SELECT x.id, y.id AS other FROM x JOIN y ON x.fp <-> y.fp <= %s AND x.id < y.id', NULL),
				('SELECT x.*, y.id AS other, y.fp AS near FROM x LEFT JOIN y ON x.fp <-> y.fp <= %s', NULL),
				('SELECT x.*, y.id AS other FROM x LEFT JOIN y ON x.fp <-> y.fp <= %s AND (x.id + y.id) % 3 = 0', NULL),
				('SELECT x.*, y.id AS other, y.fp AS near FROM x RIGHT JOIN y ON x.fp <-> y.fp <= %s', NULL),
				('SELECT x.*, y.id AS other FROM x FULL JOIN y ON x.fp <-> y.fp <= %s AND (x.id + y.id) % 3 > 0',
				'SELECT x.*, y.id AS other FROM x LEFT JOIN y ON x.fp <-> y.fp <= %s AND (x.id + y.id) % 3 > 0
					UNION ALL SELECT NULL, NULL, y.id FROM y WHERE NOT EXISTS (SELECT FROM x
						WHERE x.fp <-> y.fp <= %s AND (x.id + y.id) % 3 > 0)'),
				('SELECT x.* FROM x WHERE EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s)', NULL),
				('SELECT x.id FROM x WHERE EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s AND x.id <> y.id)', NULL),
				('SELECT x.* FROM x WHERE NOT EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s)', NULL),
				('SELECT x.* FROM x WHERE NOT EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s
					AND (x.id + y.id) % 3 = 0)', NULL),
				('SELECT x.* FROM x LEFT JOIN y ON x.fp <-> y.fp <= %s WHERE y.id IS NULL', NULL)) v (q, e)
		LOOP
			result := joins(query, NULL, expected);
			results := results + 1;
			IF result !~ 'rows$' THEN
				wrong := wrong + 1;
				RAISE NOTICE '%: %', query, result;
			END IF;
		END LOOP;
	END LOOP;
	DROP TABLE x, y;
	RETURN format('%s joins, %s wrong', results, wrong);
END $$;

CALL make_tables(100);
-- near-duplicates, some NULLs, and other columns
CREATE TABLE a AS
SELECT id, nullif(id % 7, 0) AS n, 'text ' || id / 3 AS body,
	CASE WHEN id % 10 > 0 THEN (simhash('text ' || id / 3)::bigint # (1 << id % 3 >> 1))::simhash64 END AS fp
FROM generate_series(1, 120) id;
CREATE TABLE b AS SELECT id + 30 AS id, n, body, fp FROM a WHERE id % 4 > 0;
CREATE TABLE c AS SELECT id + 60 AS id, n, body, fp FROM a WHERE id % 3 > 0;
ANALYZE a, b, c;
-- the same of 128 bits, as far apart, and what a query of a, b and c gives there
CREATE SCHEMA bits_128;
CREATE TABLE bits_128.a AS SELECT id, n, body, widen(fp, 'spread') AS fp FROM a;
CREATE TABLE bits_128.b AS SELECT id, n, body, widen(fp, 'spread') AS fp FROM b;
CREATE TABLE bits_128.c AS SELECT id, n, body, widen(fp, 'spread') AS fp FROM c;
ANALYZE bits_128.a, bits_128.b, bits_128.c;
CREATE FUNCTION query_128(query text) RETURNS text LANGUAGE sql AS $$
	SELECT replace(replace(replace(query, 'hamming_ball(', 'hamming_ball_128('),
		'''0000000000000000''', 'widen(''0000000000000000'', ''spread'')'),
		'(a.fp::bigint # 1)::simhash64', '(a.fp::bit(128) # 1::bit(128))::simhash128')
$$;
CREATE FUNCTION joins_128(query text) RETURNS text LANGUAGE sql SET search_path = bits_128, public AS
	'SELECT joins(query_128(query))';
-- processes share the outer rows where this takes most of the time; 0 raises an error
CREATE FUNCTION costly(i int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000000
AS 'BEGIN RETURN 10 / i IS NOT NULL; END';
CREATE FUNCTION volatile_true() RETURNS boolean LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN true; END';
