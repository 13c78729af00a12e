-- AdaptiveJoin: PostgreSQL's join for the first outer rows, and a HammingJoin for all others.
\pset format unaligned \pset tuples_only on \set ECHO queries
\getenv directory PG_ABS_SRCDIR
\set setup :directory '/sql/include/join_setup.sql'
\set ECHO none
\i :setup

-- What has joined outer rows.
CREATE FUNCTION joined_by(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	tried int;
	result text := 'no AdaptiveJoin';
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		CONTINUE WHEN line !~ 'Custom Scan \(OuterRows\)';
		IF tried IS NULL THEN
			tried := substring(line, 'rows=(\d+)');
			result := CASE WHEN tried > 0 THEN 'first join' ELSE 'nothing' END;
		ELSIF substring(line, 'rows=(\d+)')::int > 0 THEN
			result := result || ', then HammingJoin';
		END IF;
	END LOOP;
	RETURN result;
END $$;
CREATE FUNCTION adapts(query text) RETURNS text LANGUAGE sql SET jit = off AS $$
	SELECT joined_by(query) || CASE WHEN result_of(query, NULL) = result_by_loop(query, NULL) THEN '' ELSE ', WRONG' END
$$;
\set ECHO queries

-- The planner expects one row that is chosen, or none: then nearly all are.
CREATE TABLE docs (id int, fp simhash64, n int, chosen bool) WITH (autovacuum_enabled = off);
INSERT INTO docs SELECT id, CASE WHEN id % 100 > 0 THEN flipped(fp, CASE WHEN id % 3 > 0 THEN id % 8 ELSE 0 END) END, id % 7, id = 1
FROM (SELECT id, CASE WHEN id > 3000 THEN lag(fp, 1000) OVER (ORDER BY id) ELSE fp END AS fp FROM many_uniform(6000)) u;
CREATE INDEX ON docs USING hamming (fp);
CREATE INDEX ON docs (n);
ANALYZE docs;
UPDATE docs SET chosen = id % 10 > 0;
SELECT type, k, adapts(format('SELECT x, y FROM docs x %s docs y ON x.fp <-> y.fp <= %s AND x.id <> y.id WHERE x.chosen', type, k))
FROM unnest(ARRAY['JOIN', 'LEFT JOIN']) type, unnest(ARRAY[0, 3]) k;
SELECT type, k, adapts(format('SELECT * FROM docs x WHERE chosen AND %s (SELECT FROM docs y WHERE x.fp <-> y.fp <= %s AND x.id <> y.id)', type, k))
FROM unnest(ARRAY['EXISTS', 'NOT EXISTS']) type, unnest(ARRAY[0, 3]) k;
EXPLAIN (VERBOSE, COSTS OFF) SELECT x.id, y.id AS other FROM docs x LEFT JOIN docs y ON x.fp <-> y.fp <= 3 AND x.n = y.n WHERE x.chosen;
-- Expressions and whole rows above the join, other joins beside it, aggregates, set operations.
SELECT adapts(query) FROM unnest(ARRAY[
	'SELECT x.id + y.id AS sum, upper(x.fp::text) AS fp, y FROM docs x JOIN docs y ON x.fp <-> y.fp <= 3 WHERE x.chosen',
	'SELECT x.n, count(*), sum(y.id) FROM docs x JOIN docs y ON x.fp <-> y.fp <= 3 WHERE x.chosen GROUP BY x.n',
	'SELECT x.id, z.id AS other FROM docs x JOIN docs y ON x.fp <-> y.fp <= 3 AND x.chosen JOIN docs z ON y.id = z.id + 1',
	'SELECT x.id, z.id AS other FROM docs x JOIN docs y ON x.fp <-> y.fp <= 1 AND x.chosen JOIN docs z ON y.fp <-> z.fp <= 1',
	'SELECT x.id, y.m FROM docs x LEFT JOIN (SELECT id, fp, coalesce(n, 0) + id AS m FROM docs) y ON x.fp <-> y.fp <= 3
		AND x.id < y.id WHERE x.chosen',
	'SELECT x.id, y.id AS other FROM docs x LEFT JOIN docs y ON x.fp <-> y.fp <= 3 WHERE x.chosen AND y.id IS NULL',
	'SELECT x.id FROM docs x WHERE chosen AND EXISTS (SELECT FROM docs y WHERE x.fp <-> y.fp <= 3 AND x.fp = y.fp AND x.id < y.id)',
	'SELECT x.id FROM (SELECT DISTINCT id, fp FROM docs WHERE chosen) x JOIN docs y ON y.fp <@ hamming_ball(x.fp, 3)',
	'WITH w AS MATERIALIZED (SELECT * FROM docs WHERE chosen) SELECT w.id, y.id AS other FROM w JOIN docs y ON w.fp % y.fp',
	'SELECT s.id FROM (SELECT x.id, y.n FROM docs x JOIN docs y ON x.fp <-> y.fp <= 3 WHERE x.chosen OFFSET 0) s',
	'SELECT id, (SELECT count(*) FROM docs y WHERE y.fp <-> x.fp <= 3) AS near FROM docs x WHERE id < 20']) query;
\set ECHO none
-- The order of the outer rows holds, in both joins together.
CREATE FUNCTION in_order(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	id int;
	before int := 0;
	ordered boolean := true;
BEGIN
	FOR id IN EXECUTE query LOOP
		ordered := ordered AND id >= before;
		before := id;
	END LOOP;
	RETURN ordered;
END $$;
\set ECHO queries
CREATE UNIQUE INDEX ON docs (id);
SET enable_sort = off;
SELECT joined_by(query), in_order(query), adapts(query), query FROM unnest(ARRAY[
	'SELECT x.id FROM docs x JOIN docs y ON x.fp <-> y.fp <= 3 AND x.id <> y.id WHERE x.chosen ORDER BY x.id',
	'SELECT x.id FROM docs x LEFT JOIN docs y ON x.fp <-> y.fp <= 3 AND x.id <> y.id WHERE x.chosen ORDER BY x.id',
	'SELECT x.id FROM docs x WHERE chosen AND EXISTS (SELECT FROM docs y WHERE x.fp <-> y.fp <= 3 AND x.id <> y.id) ORDER BY x.id'
	]) query;
RESET enable_sort;
-- An order by what is no column of the join does not.
CREATE INDEX ON docs (abs(id));
SELECT in_order(query), adapts(query) FROM (VALUES (
	'SELECT DISTINCT ON (abs(x.id)) x.id FROM docs x JOIN docs y ON x.fp <-> y.fp <= 3 AND x.id <> y.id WHERE x.chosen
		ORDER BY abs(x.id)')) v (query);
-- A LIMIT ends it early where there are pairs.
CREATE TABLE dense (id int, fp simhash64, n int) WITH (autovacuum_enabled = off);
INSERT INTO dense SELECT id, flipped('0123456789abcdef', id % 4), id % 5 FROM generate_series(1, 3000) id;
ANALYZE dense;
SELECT joined_by(query), query FROM unnest(ARRAY[
	'SELECT x.id FROM dense x JOIN dense y ON x.fp <-> y.fp <= 3 AND x.id < y.id LIMIT 10',
	'SELECT x.id FROM dense x JOIN dense y ON x.fp <-> y.fp <= 3 LIMIT 10',
	'SELECT x.id FROM dense x WHERE EXISTS (SELECT FROM dense y WHERE x.fp <-> y.fp <= 3 AND x.id <> y.id) LIMIT 10',
	'SELECT EXISTS (SELECT FROM dense x JOIN dense y ON x.fp <-> y.fp <= 3 AND x.id < y.id)']) query;
-- Where the pairs are gone since, few of the outer rows are compared with all inner ones.
UPDATE dense SET fp = docs.fp FROM docs WHERE docs.id = dense.id;
CREATE FUNCTION limited(query text) RETURNS text LANGUAGE sql AS $$ SELECT adapts(format('SELECT * FROM (%s LIMIT 4000) s', query)) $$;
\set ECHO none
SELECT limited(query), query FROM unnest(ARRAY[
	'SELECT x.id, y.id AS other FROM dense x JOIN dense y ON x.fp <-> y.fp <= 3 AND x.id < y.id',
	'SELECT x, y FROM dense x JOIN dense y ON x.fp <-> y.fp <= 2 AND x.id <> y.id',
	'SELECT x.id, y.id AS other FROM dense x JOIN dense y ON x.fp <-> y.fp <= 3 AND x.n = y.n AND x.id > y.id',
	'SELECT x.id, y.id AS other FROM dense x JOIN dense y ON x.fp <-> y.fp <= 3',
	'SELECT x.id, y.id AS other FROM dense x LEFT JOIN dense y ON x.fp <-> y.fp <= 3 AND x.id <> y.id']) query;
\set ECHO queries
SELECT adapts('SELECT * FROM (SELECT x.id FROM dense x WHERE EXISTS (SELECT FROM dense y WHERE x.fp <-> y.fp <= 3 AND x.id <> y.id) LIMIT 1000) s');
SET work_mem = '64kB';
SELECT limited('SELECT x, y FROM dense x JOIN dense y ON x.fp <-> y.fp <= 2 AND x.id <> y.id');
RESET work_mem;
SELECT query, (SELECT count(*) FROM plan_lines(query, 'Loop|Materialize')) FROM unnest(ARRAY[
	'SELECT x.id FROM dense x JOIN dense y ON x.fp <-> y.fp <= 3',
	'SELECT x.id FROM dense x LEFT JOIN dense y ON x.fp <-> y.fp <= 3',
	'SELECT x.id FROM dense x WHERE EXISTS (SELECT FROM dense y WHERE x.fp <-> y.fp <= 3)',
	'SELECT x.id FROM dense x WHERE NOT EXISTS (SELECT FROM dense y WHERE x.fp <-> y.fp <= 3)']) query;
-- Repeated scans, with other parameters each time, and with the same.
SELECT adapts(query) FROM unnest(ARRAY[
	'SELECT k, s.* FROM generate_series(0, 3) k, LATERAL (SELECT x.id, y.id AS other FROM docs x JOIN docs y
		ON x.fp <-> y.fp <= k AND x.id < y.id WHERE x.chosen OFFSET 0) s',
	'SELECT k, s.* FROM (VALUES (1), (0), (2)) v (k), LATERAL (SELECT x.id, y.id AS other FROM (SELECT * FROM docs WHERE chosen
		AND id % 3 = k OFFSET 0) x JOIN docs y ON x.fp <-> y.fp <= 3 AND x.id < y.id OFFSET 0) s',
	'SELECT k, (SELECT count(*) FROM (SELECT FROM dense x JOIN dense y ON x.fp <-> y.fp <= k AND x.id < y.id LIMIT 1000) s) AS n
		FROM (VALUES (1), (0), (2)) v (k)']) query;
-- Rows that have equal keys, expected to be one: all are.  One row at most has an equal id.
CREATE TABLE keyed (id int PRIMARY KEY, fp simhash64, n int) WITH (autovacuum_enabled = off);
INSERT INTO keyed SELECT id, fp, id FROM docs WHERE id <= 3000;
ANALYZE keyed;
UPDATE keyed SET n = 7;
SELECT adapts(query) FROM unnest(ARRAY[
	'SELECT x.id, y.id AS other FROM keyed x JOIN keyed y ON x.fp <-> y.fp <= 3 AND x.n = y.n AND x.id < y.id',
	'SELECT x, y FROM keyed x LEFT JOIN keyed y ON x.fp <-> y.fp <= 3 AND x.n = y.n AND x.id <> y.id',
	'SELECT x.id FROM keyed x WHERE EXISTS (SELECT FROM keyed y WHERE x.fp <-> y.fp <= 3 AND x.n = y.n AND x.id <> y.id)',
	'SELECT x.id FROM keyed x WHERE NOT EXISTS (SELECT FROM keyed y WHERE x.fp <-> y.fp <= 3 AND x.n = y.n AND x.id <> y.id)',
	'SELECT x.id, y.id AS other FROM keyed x FULL JOIN keyed y ON x.fp <-> y.fp <= 3 AND x.n = y.n AND x.id < y.id',
	'SELECT x.id, y.id AS other FROM keyed y RIGHT JOIN docs x ON x.fp <-> y.fp <= 3 AND x.n = y.n']) query;
SELECT plan_lines('SELECT FROM docs x JOIN keyed y ON x.fp <-> y.fp <= 3 AND x.id = y.id', 'Custom|Join');
-- A right join by such a key is none of the plans.
CREATE TABLE longer WITH (autovacuum_enabled = off) AS SELECT id, fp, id AS n, '' AS pad FROM many_uniform(9000);
ANALYZE longer;
UPDATE longer SET n = 7;
SELECT plan_lines('SELECT x.id, y.id FROM keyed x LEFT JOIN longer y ON x.fp <-> y.fp <= 3 AND x.n = y.n', 'Join');
-- A hash table that turns out to need files ends the first join before it compares rows.
CREATE TABLE narrow (id int, fp simhash64, n int, pad text) WITH (autovacuum_enabled = off);
INSERT INTO narrow SELECT id, fp, id, '' FROM docs WHERE id <= 3000;
ANALYZE narrow;
CREATE FUNCTION tried(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		EXIT WHEN line ~ 'OuterRows';
	END LOOP;
	RETURN substring(line, 'rows=(\d+)');
END $$;
SET work_mem = '256kB';
UPDATE narrow SET n = 11, pad = repeat('x', 500);
VACUUM narrow;
SELECT tried('SELECT x.id, y.pad FROM narrow x LEFT JOIN narrow y ON x.fp <-> y.fp <= 3 AND x.n = y.n AND x.id <= y.id') < 3 AS is_soon;
UPDATE narrow SET n = 12;
VACUUM narrow;
SELECT tried('SELECT x.id, y.pad FROM narrow x LEFT JOIN narrow y ON x.fp <-> y.fp <= 3 AND x.n = y.n AND x.id <= y.id') < 3 AS is_soon;
RESET work_mem;
-- The other width, and an index on another column.
CREATE TABLE wide AS SELECT id, widen(fp, 'spread') AS fp, n, chosen FROM docs WHERE id = 1;
ALTER TABLE wide SET (autovacuum_enabled = off);
INSERT INTO wide SELECT id, widen(fp, 'spread'), n, false FROM docs WHERE id > 1;
CREATE INDEX ON wide USING hamming (fp);
ANALYZE wide;
UPDATE wide SET chosen = true;
SELECT adapts(query) FROM unnest(ARRAY[
	'SELECT x.id, y.id AS other FROM wide x JOIN wide y ON x.fp <-> y.fp <= 3 WHERE x.chosen',
	'SELECT x.id, y.id AS other FROM docs x LEFT JOIN docs y ON x.fp <-> y.fp <= 60 AND y.id BETWEEN x.id AND x.id + 3
		WHERE x.chosen']) query;
-- Processes share the outer rows.
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT adapts(query) FROM unnest(ARRAY[
	'SELECT x.id, y.id AS other FROM docs x JOIN docs y ON x.fp <-> y.fp <= 3 WHERE x.id * 7 % 9 = 0',
	'SELECT x.id FROM docs x WHERE x.id * 7 % 9 = 0 AND NOT EXISTS (SELECT FROM docs y WHERE x.fp <-> y.fp <= 3 AND x.id <> y.id)']) query;
SELECT plan_lines('SELECT x.id, y.id AS other FROM docs x JOIN docs y ON x.fp <-> y.fp <= 3 WHERE x.id * 7 % 9 = 0', 'Gather|Custom|Scan|Loop');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- Changes of rows.
SELECT joins('SELECT * FROM docs', 'UPDATE docs x SET n = y.id FROM docs y WHERE x.fp <-> y.fp <= 1 AND x.id = y.id + 1000 AND y.chosen');
-- Nothing of that where there are few outer rows at most.
CREATE TABLE few AS SELECT id, fp FROM docs WHERE id <= 20;
ANALYZE few;
SELECT plan_lines('SELECT FROM docs x JOIN docs y ON x.fp <-> y.fp <= 3 WHERE x.id = 7', 'Custom|Loop');
SELECT plan_lines('SELECT FROM (VALUES (simhash(''a text'')), (simhash(''another''))) x (fp) JOIN docs y ON x.fp <-> y.fp <= 3', 'Custom|Loop');
-- A subquery is planned once, a function called once, and a recursive query's table read by one scan.
CREATE TABLE same AS SELECT id, simhash64 '0123456789abcdef' AS fp FROM generate_series(1, 2000) id;
ANALYZE same;
CREATE SEQUENCE calls;
CREATE FUNCTION called() RETURNS SETOF simhash64 LANGUAGE plpgsql VOLATILE ROWS 100000 AS $$
	BEGIN PERFORM nextval('calls'); RETURN QUERY SELECT fp FROM docs WHERE id < 9; END $$;
\set ECHO none
SELECT adapts(query), query FROM unnest(ARRAY[
	'SELECT x.fp FROM same x JOIN (SELECT fp FROM same OFFSET 0) y ON x.fp <-> y.fp <= 3 LIMIT 9',
	'SELECT x.fp FROM same x JOIN (SELECT fp FROM same ORDER BY id FOR UPDATE) y ON x.fp <-> y.fp <= 3 LIMIT 9',
	'SELECT x.fp FROM (SELECT fp FROM same ORDER BY id FOR UPDATE) x LEFT JOIN (SELECT fp FROM same ORDER BY id FOR UPDATE) y
		ON x.fp <-> y.fp <= 3 LIMIT 9',
	'SELECT x.fp FROM same x TABLESAMPLE BERNOULLI (99) LEFT JOIN same y TABLESAMPLE BERNOULLI (99) ON x.fp <-> y.fp <= 3 LIMIT 9'])
	query;
\set ECHO queries
SELECT count(*) FROM (SELECT FROM same x LEFT JOIN called() y (fp) ON x.fp <-> y.fp <= 3 LIMIT 100) s;
SELECT last_value FROM calls;
-- A nested loop stays where a row of another table says which outer row it joins.
CREATE UNIQUE INDEX ON same (id);
SELECT plan_lines('SELECT FROM few z LEFT JOIN (docs x JOIN same y ON x.fp <-> y.fp <= 3) ON x.id = z.id WHERE z.fp IS NULL',
	'Loop|Scan|Custom');
-- A look-up by an equality is no guess, whichever way round the equality is.
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT plan_lines('SELECT FROM docs x JOIN docs y ON x.fp <-> y.fp <= 3 AND x.n = y.id WHERE x.id <= 200', 'Custom');
RESET enable_hashjoin;
RESET enable_mergejoin;
-- Inner rows that a look-up removes are work, too: 600 for each outer row.
CREATE INDEX ON dense (n);
ANALYZE dense;
SELECT tried('SELECT x.id, y.id AS other FROM docs x JOIN dense y ON x.fp <-> y.fp <= 3 AND x.n = y.n
	WHERE x.chosen AND x.id % 10 > 0') < 30 AS is_soon;
DROP TABLE docs, dense, keyed, longer, narrow, wide, few, same;
DROP SEQUENCE calls;
DROP FUNCTION joined_by, adapts, in_order, limited, called, tried;
\set ECHO none
\set drop :directory '/sql/include/join_drop.sql'
\i :drop
