-- HammingJoin of a table with itself: where both sides have the same rows, these
-- are read once, and two rows are paired once.
\pset format unaligned \pset tuples_only on \set ECHO queries
\getenv directory PG_ABS_SRCDIR
\set setup :directory '/sql/include/join_setup.sql'
\set ECHO none
\i :setup
\set ECHO queries

-- How often a join reads the table, and whether its rows are right.
CREATE FUNCTION self_join(query text) RETURNS text LANGUAGE sql AS $$
	SELECT joins(query) || ', read ' || (SELECT count(*) FROM join_plan(query) line WHERE line ~ 'Scan on')
$$;

\set ECHO none
-- Clauses that are false for a row and itself; of the last five none is, or they
-- look at another row than the distance, or change from call to call.
SELECT condition, self_join('SELECT x.id, y.id AS other, x.body, y.n FROM a x JOIN a y ON x.fp <-> y.fp <= 2 AND '
	|| condition) FROM unnest(ARRAY[
	'x.id < y.id', 'x.id > y.id', 'x.id <> y.id', 'y.id <> x.id', 'x.body < y.body', 'x.n <> y.n', 'x.fp <> y.fp',
	'x.id % 5 <> y.id % 5', 'x.id < y.id AND x.n = y.n', 'x.id < y.id AND x.n > y.n', 'x.ctid < y.ctid',
	'x.id < y.id AND x.n = 3 AND y.n = x.n', 'x.id < y.id AND x.body <> ''text 7'' AND y.body <> ''text 7''',
	'x.id <= y.id', 'x.id < y.n', 'x.id < y.id + 1', 'x.id < y.id + volatile_true()::int - 1',
	'x.id < y.id AND x.body <> ''text 7''']) condition;
\set ECHO queries
SELECT joins('SELECT * FROM a', 'UPDATE a x SET n = 7 FROM a y WHERE x.fp <-> y.fp <= 1 AND x.id < y.id');
SELECT joins('SELECT * FROM b',
	'INSERT INTO b (id, n) SELECT x.id, y.id FROM a x JOIN a y ON x.fp <-> y.fp <= 1 AND x.id < y.id');
SELECT self_join('SELECT x.id, y FROM b x JOIN b y ON x.fp <-> y.fp <= 2 AND x.id < y.id');
SELECT join_plan('SELECT x.id, y.body FROM a x JOIN a y ON x.fp <-> y.fp <= 2 AND x.n = y.n AND x.id < y.id');
-- Both sides need the same rows of one table, of which none is to be locked.
CREATE TABLE child () INHERITS (a);
INSERT INTO child SELECT * FROM b;
ANALYZE child;
\set ECHO none
SELECT query, self_join('SELECT x.id, y.id AS other FROM ' || query) FROM unnest(ARRAY[
	'ONLY a x JOIN ONLY a y ON x.fp <-> y.fp <= 2 AND x.id < y.id',
	'a x JOIN a y ON x.fp <-> y.fp <= 2 AND x.id < y.id',
	'ONLY a x JOIN a y ON x.fp <-> y.fp <= 2 AND x.id < y.id',
	'b x JOIN b y ON (x.fp::bigint # 1)::simhash64 <-> y.fp <= 2 AND x.id < y.id',
	'b x JOIN b y ON (x.fp::bigint # 1)::simhash64 <-> (y.fp::bigint # 1)::simhash64 <= 2 AND x.id < y.id',
	'b x JOIN b y ON x.fp <-> y.fp <= 2 AND x.n = y.id AND x.id < y.id',
	'b x JOIN (SELECT * FROM b WHERE volatile_true()) y ON x.fp <-> y.fp <= 2 AND x.id < y.id',
	'(SELECT * FROM b WHERE volatile_true()) x JOIN (SELECT * FROM b WHERE volatile_true()) y
		ON x.fp <-> y.fp <= 2 AND x.id < y.id',
	'b x JOIN b y TABLESAMPLE system (100) ON x.fp <-> y.fp <= 2 AND x.id < y.id',
	'b x LEFT JOIN b y ON x.fp <-> y.fp <= 2 AND x.id < y.id',
	'(SELECT * FROM b FOR SHARE) x JOIN (SELECT * FROM b FOR SHARE) y ON x.fp <-> y.fp <= 2 AND x.id < y.id',
	'b x JOIN b y ON x.fp <-> y.fp <= 2 AND x.id < y.id JOIN b z ON y.fp <-> z.fp <= 1 AND y.id < z.id',
	'b x JOIN b y ON x.fp <-> y.fp <= 2 AND x.id < y.id LEFT JOIN b z ON y.id = z.id AND x.n = z.n',
	'(SELECT *, coalesce(n, 0) AS m FROM b OFFSET 0) x JOIN (SELECT *, coalesce(n, 0) AS m FROM b OFFSET 0) y
		ON x.fp <-> y.fp <= 2 AND x.id < y.id',
	'(VALUES (0), (2), (5)) k (k), LATERAL (SELECT x.id FROM b x JOIN b y ON x.fp <-> y.fp <= k AND x.id < y.id
		OFFSET 0) x, LATERAL (SELECT x.id) y']) query;
\set ECHO queries
DROP TABLE child;
-- each partition with itself
CREATE TABLE parts (body text, n int, id int, fp simhash64) PARTITION BY HASH (n);
CREATE TABLE parts_0 PARTITION OF parts FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parts_1 (id int, fp simhash64, n int, body text);
ALTER TABLE parts ATTACH PARTITION parts_1 FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parts (id, n, fp, body) SELECT id, n, fp, body FROM a UNION ALL SELECT id + 1000, n, fp, body FROM a;
ANALYZE parts;
SET enable_partitionwise_join = on;
\set ECHO none
SELECT query, self_join(query || ' x.fp <-> y.fp <= 2 AND x.n = y.n AND x.id < y.id') FROM unnest(ARRAY[
	'SELECT x.id, y.id AS other, y.body FROM parts x JOIN parts y ON',
	'SELECT x.id, y FROM parts x JOIN parts y ON',
	'SELECT x.id, y.id AS other FROM parts x JOIN parts y ON x.body > ''text 3'' AND y.body > ''text 3'' AND',
	'SELECT x.id, y.id AS other FROM parts x JOIN parts y ON x.body > ''text 3'' AND',
	'SELECT x.id, y.id AS other FROM parts_1 x JOIN parts_1 y ON']) query;
\set ECHO queries
RESET enable_partitionwise_join;
DROP TABLE parts;
\set ECHO none
-- Where the rows are read twice, a row is not read again as its own partner, in memory
-- and in partitions, unless others have its fingerprint.
CREATE FUNCTION removed(query text, memory text) RETURNS int LANGUAGE plpgsql SET enable_nestloop = off
SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
	line text;
	result int := 0;
	is_ours boolean := false;
BEGIN
	PERFORM set_config('work_mem', memory, true);
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		is_ours := is_ours OR line ~ 'HammingJoin';
		result := result + coalesce(substring(line, 'Rows Removed by Join Filter: (\d+)')::int, 0);
	END LOOP;
	RETURN CASE WHEN is_ours THEN result END;
END $$;
\set ECHO queries
CREATE TABLE far AS SELECT id, hashint8extended(id, 1)::simhash64 AS fp, id % 3 AS n FROM generate_series(1, 10000) id;
ANALYZE far;
\set ECHO none
SELECT query, removed(query, '4MB') AS in_memory, removed(query, '64kB') AS in_files FROM unnest(ARRAY[
	'SELECT FROM far x WHERE EXISTS (SELECT FROM far y WHERE x.fp <-> y.fp <= 3 AND y.id < x.id)',
	'SELECT FROM far x WHERE NOT EXISTS (SELECT FROM far y WHERE x.fp <-> y.fp <= 3 AND y.id <> x.id AND y.n = x.n)',
	'SELECT FROM far x LEFT JOIN far y ON x.fp <-> y.fp <= 3 AND y.id < x.id',
	'DELETE FROM far x WHERE EXISTS (SELECT FROM far y WHERE x.fp <-> y.fp <= 3 AND y.id < x.id)',
	'DELETE FROM far x USING far y WHERE x.fp <-> y.fp <= 3 AND y.id < x.id',
	'SELECT FROM far x WHERE EXISTS (SELECT FROM far y WHERE x.fp <-> y.fp <= 3 AND y.id < x.id - 1)']) query;
\set ECHO queries
-- nor by a team
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
ALTER TABLE far SET (parallel_workers = 0);
SET work_mem = '64kB';
SELECT plan_lines('SELECT FROM far x LEFT JOIN far y ON x.fp <-> y.fp <= 8 AND y.id < x.id', 'Workers'),
	removed('SELECT FROM far x LEFT JOIN far y ON x.fp <-> y.fp <= 8 AND y.id < x.id', '64kB') AS in_files;
RESET work_mem;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
DELETE FROM far WHERE id > 2000;
INSERT INTO far SELECT id + 10000, fp, id % 2 FROM far WHERE id % 10 = 0;
\set ECHO none
SELECT query, joins('SELECT x.id FROM far x WHERE ' || query) FROM unnest(ARRAY[
	'EXISTS (SELECT FROM far y WHERE x.fp <-> y.fp <= 3 AND y.id < x.id)',
	'EXISTS (SELECT FROM far y WHERE x.fp <-> y.fp <= 3 AND y.id <= x.id)',
	'EXISTS (SELECT FROM far y WHERE x.fp <-> y.fp <= 3 AND y.id < x.id AND y.n < 2) AND x.n < 2',
	'EXISTS (SELECT FROM far y WHERE x.fp <-> y.fp <= 3 AND y.id <> x.id AND y.id > 10000)',
	'EXISTS (SELECT FROM far y WHERE x.fp <-> y.fp <= 3 AND y.id <> x.id AND x.n = y.id % 2)',
	'NOT EXISTS (SELECT FROM far y WHERE x.fp <-> y.fp <= 3 AND y.id <> x.id AND x.n = y.n)',
	'x.id IN (SELECT l.id FROM far l LEFT JOIN far y ON l.fp <-> y.fp <= 3 WHERE y.id < l.id)']) query;
\set ECHO queries
SELECT joins('TABLE far', 'DELETE FROM far x WHERE EXISTS (SELECT FROM far y WHERE x.fp <-> y.fp <= 3 AND y.id < x.id)');
DROP TABLE far;
DROP FUNCTION removed;
-- a condition without a column, on one side or on both
SELECT same_result(format('SELECT x.id, y.id AS other, c.id AS third FROM c LEFT JOIN ((SELECT * FROM b WHERE %s) x
	JOIN (SELECT * FROM b WHERE (SELECT %s)) y ON x.fp <-> y.fp <= 2 AND x.id < y.id) ON c.id = x.id', x, y))
FROM (VALUES ('true', 'true'), ('true', 'false'), ('(SELECT true)', 'true'), ('(SELECT false)', 'true')) v (x, y);

\set ECHO none
-- Rows of all shapes, with much memory and with little; within no distance and all.
CREATE FUNCTION check_self(source text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	results text[];
BEGIN
	EXECUTE 'CREATE TEMP TABLE x ON COMMIT DROP AS ' || source;
	ANALYZE x;
	results := ARRAY(SELECT self_join(format('SELECT x.id, y.id AS other, x.fp FROM x JOIN x y
		ON x.fp <-> y.fp <= %s AND x.id %s y.id', k, operator))
		FROM unnest('{-1,0,3,12,128}'::int[]) k, unnest(ARRAY['<', '<>']) operator);
	DROP TABLE x;
	RETURN (SELECT format('%s joins, %s wrong: %s rows', count(*), count(*) FILTER (WHERE r !~ ' rows, read 1$'),
		sum(substring(r FROM '\d+')::int)) FROM unnest(results) r);
END $$;
\set ECHO queries
SELECT shape, check_self(format('SELECT * FROM (%s) s LIMIT 150', source)) FROM shapes ORDER BY shape;
SELECT check_self(query_128('SELECT id, fp FROM bits_128.a'));
CREATE TABLE many AS SELECT id, fp, id % 3 AS n, repeat('x', id % 100) AS body FROM many_uniform(2000);
INSERT INTO many SELECT -id, fp, n, body FROM many WHERE id % 10 = 0;
ANALYZE many;
SET work_mem = '64kB';
SELECT self_join('SELECT x.*, y.id AS other, y.body AS others FROM many x JOIN many y ON x.fp <-> y.fp <= 5 AND x.id <> y.id');
SELECT self_join('SELECT x.id, y.id AS other FROM many x JOIN many y
	ON x.fp <-> y.fp <= 5 AND x.id < y.id AND x.n = y.n');
RESET work_mem;

DROP TABLE many;
DROP FUNCTION self_join, check_self;
\set ECHO none
\set drop :directory '/sql/include/join_drop.sql'
\i :drop
