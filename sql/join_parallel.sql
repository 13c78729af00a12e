-- HammingJoin in parallel plans, whose processes share the outer rows.
\pset format unaligned \pset tuples_only on \set ECHO queries

\getenv directory PG_ABS_SRCDIR
\set setup :directory '/sql/include/join_setup.sql'
\set ECHO none
\i :setup
\set ECHO queries

SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
-- near-duplicates, copies and NULLs, in two columns that may be equal
CREATE TABLE many AS
SELECT id, nullif(id % 5, 0) AS n, CASE WHEN id % 10 > 0 THEN fp END AS fp
FROM (SELECT id, (simhash('text ' || id / 4)::bigint # (1::bigint << id % 3 >> 1))::simhash64 AS fp
	FROM generate_series(1, 240) id) s;
CREATE TABLE other AS SELECT id + 100 AS id, n, fp FROM many WHERE id % 4 > 0;
CREATE TABLE few AS SELECT id, n, fp FROM other WHERE id % 20 = 1;
CREATE TABLE none AS SELECT id, n, fp FROM other WHERE id % 10 = 0 AND fp IS NULL;
CREATE TABLE bits_128.many AS SELECT id, n, widen(fp, 'spread') AS fp FROM many;
CREATE TABLE bits_128.other AS SELECT id, n, widen(fp, 'spread') AS fp FROM other;
CREATE TABLE bits_128.few AS SELECT id, n, widen(fp, 'spread') AS fp FROM few;
CREATE TABLE bits_128.none AS SELECT id, n, widen(fp, 'spread') AS fp FROM none;
ANALYZE many, other, few, none, bits_128.many, bits_128.other, bits_128.few, bits_128.none;
\set ECHO none
-- All types of joins of one or of all pairs of tables.  Each type comes with each pair, and
-- each of both with keys and without; which with which depends on k, too.
CREATE FUNCTION parallel_queries(k int, pairs int) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format(query, x, y, k, CASE WHEN (k + pair + type) % 2 = 0 THEN 'AND x.n = y.n' END)
	FROM (VALUES (1, 'many', 'other'), (2, 'other', 'few'), (3, 'few', 'many'), (4, 'many', 'none')
			LIMIT pairs) t (pair, x, y),
		unnest(ARRAY[
			'SELECT x.id, y.id AS partner, y.fp FROM %s x JOIN %s y
				ON x.fp <-> y.fp <= %s AND costly(x.id + y.id) %s',
			'SELECT x.id, x.fp, y.id AS partner FROM %s x LEFT JOIN %s y
				ON x.fp <-> y.fp <= %s AND costly(x.id + y.id) %s',
			'SELECT x.id, x.n FROM %s x WHERE EXISTS (SELECT FROM %s y
				WHERE x.fp <-> y.fp <= %s AND costly(x.id + y.id) %s)',
			'SELECT x.id FROM %s x WHERE NOT EXISTS (SELECT FROM %s y
				WHERE x.fp <-> y.fp <= %s AND costly(x.id + y.id) %s)'])
		WITH ORDINALITY q (query, type)
$$;
CREATE FUNCTION is_parallel(query text) RETURNS boolean LANGUAGE sql AS $$
	SELECT count(*) > 0 FROM join_plan(query) line WHERE line ~ 'Parallel Custom Scan .HammingJoin'
$$;
CREATE FUNCTION serial_result(query text) RETURNS text LANGUAGE sql
SET jit = off SET max_parallel_workers_per_gather = 0 AS 'SELECT result_by_loop(query, NULL)';
CREATE FUNCTION parallel_differs(query text) RETURNS boolean LANGUAGE sql SET jit = off AS
	'SELECT result_by_join(query, NULL) IS DISTINCT FROM serial_result(query)';
CREATE PROCEDURE set_workers(workers int) LANGUAGE plpgsql AS $$
DECLARE
	tab text;
BEGIN
	FOREACH tab IN ARRAY '{many,other,few,none}'::text[] LOOP
		EXECUTE format('ALTER TABLE %s SET (parallel_workers = %s)', tab, workers);
	END LOOP;
END $$;
-- for each setting, what gives other rows than a nested loop in one process
CREATE FUNCTION check_parallel(k int, pairs int DEFAULT 1) RETURNS text LANGUAGE sql AS $$
	SELECT format('%s joins, %s, wrong: %s', count(*),
		CASE WHEN count(*) FILTER (WHERE is_parallel(query)) > count(*) / 2 THEN 'most in parallel' END,
		string_agg(query, E'\n') FILTER (WHERE parallel_differs(query)))
	FROM parallel_queries(k, pairs) query
$$;
\set ECHO queries
SET max_parallel_workers_per_gather = 3;
CALL set_workers(3);
SELECT check_parallel(8, 4);
SET search_path = bits_128, public;
CALL set_workers(3);
SELECT check_parallel(3);
SET work_mem = '64kB';
RESET search_path;
SELECT check_parallel(0);
RESET work_mem;
CALL set_workers(1);
SELECT check_parallel(1);
CALL set_workers(2);
SET parallel_leader_participation = off;
SELECT check_parallel(4);
RESET parallel_leader_participation;
-- a worker that does not come
SET max_parallel_workers = 0;
SELECT check_parallel(3);
-- then the leader has all batches
CREATE FUNCTION passes(query text, OUT passes int, OUT has_files boolean) LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF, FORMAT JSON) ' || query INTO plan;
	plan := jsonb_path_query_first(plan, '$.** ? (@."Parallel Aware" == true && @."Custom Plan Provider" == "HammingJoin")');
	passes := plan -> 'Passes';
	has_files := (plan ->> 'Disk Usage')::int > 0;
END $$;
SET enable_nestloop = off;
SELECT passes > 16, has_files FROM passes('SELECT FROM many x JOIN other y ON x.fp <-> y.fp <= 3 AND costly(x.id + y.id)');
-- larger ones, once they have fewer pairs than the planner expects
CREATE TABLE far AS SELECT id, n, (~ fp::bigint)::simhash64 AS fp FROM other;
ANALYZE far;
SELECT passes < 16, has_files FROM passes('SELECT FROM many x JOIN far y ON x.fp <-> y.fp <= 3 AND costly(x.id + y.id)');
-- batches grow until one is too large for memory, which the planner does not expect
CREATE TABLE grown AS SELECT id, n, fp FROM many, generate_series(1, 100);
ANALYZE grown;
ALTER TABLE grown SET (parallel_workers = 3);
SET work_mem = '64kB';
SELECT passes > 12, has_files, parallel_differs(query) FROM unnest(ARRAY[
	'SELECT x.id, y.id AS partner FROM grown x JOIN other y ON x.fp <-> y.fp <= 0 AND costly(x.id + y.id) WHERE x.id * 0 = 0',
	'SELECT x.id FROM grown x WHERE NOT EXISTS (SELECT FROM other y WHERE x.fp <-> y.fp <= 0 AND costly(x.id + y.id)) AND x.id * 0 = 0']) query,
	passes(query);
RESET work_mem;
RESET max_parallel_workers;
-- the table is small, but not the work for its pairs
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
ALTER TABLE many RESET (parallel_workers);
SELECT is_parallel('SELECT x.id FROM many x JOIN other y ON x.fp <-> y.fp <= 3'),
	is_parallel('SELECT x.id FROM many x JOIN other y ON x.fp <-> y.fp <= 3 AND costly(x.id + y.id)'),
	is_parallel('SELECT x.id FROM many x JOIN many y ON x.fp <-> y.fp <= 3 AND x.id < y.id'),
	is_parallel('SELECT x.id FROM many x JOIN many y ON x.fp <-> y.fp <= 3 AND x.id < y.id AND costly(x.id + y.id)');
ALTER TABLE many SET (parallel_workers = 0);
SELECT is_parallel('SELECT x.id FROM many x WHERE EXISTS (SELECT FROM other y WHERE x.fp <-> y.fp <= 3 AND costly(x.id + y.id))');
CALL set_workers(3);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
-- some rows only, of scans that end before the join, and of scans that are repeated: the
-- most of them first, as PostgreSQL's workers keep the limit of the first scan
SELECT count(*) FROM (SELECT x.id FROM many x LEFT JOIN other y ON x.fp <-> y.fp <= 3 AND costly(x.id + y.id) LIMIT 5) s;
SET enable_nestloop = on;
SET enable_material = off;
SELECT count(*), count(DISTINCT (s.n, s.sum)), min(s.n)
FROM generate_series(1, 3) i LEFT JOIN (SELECT count(*) AS n, sum(x.id * y.id) FROM many x JOIN other y
	ON x.fp <-> y.fp <= 3 AND costly(x.id + y.id)) s ON i <> s.n;
SELECT i, (SELECT count(*) FROM (SELECT FROM many x JOIN other y ON x.fp <-> y.fp <= 3
	AND costly(x.id + y.id) LIMIT i) s) AS n FROM generate_series(3, 1, -1) i;
RESET enable_material;
-- an error in one process
SELECT error_of('SELECT FROM many x JOIN other y ON x.fp <-> y.fp <= 3 AND costly(x.id - 131)'),
	error_of('SELECT FROM many x WHERE EXISTS (SELECT FROM other y WHERE x.fp <-> y.fp <= 3 AND costly(y.id - 131))');
SELECT parallel_differs('SELECT x.id, y.id AS partner FROM many x JOIN other y ON x.fp <-> y.fp <= 3 AND costly(x.id)');
-- PostgreSQL 19 may aggregate the rows of one side, in part, before the join
RESET min_parallel_table_scan_size;
CREATE TABLE grouped AS SELECT i AS n, hashint8extended(i % 1000, 1)::simhash64 AS fp FROM generate_series(1, 16000) i;
CREATE TABLE outer_rows AS SELECT * FROM grouped WHERE n <= 4000;
ANALYZE grouped, outer_rows;
SELECT count(*), sum(s) FROM (SELECT o.n, sum(g.n) AS s FROM grouped g JOIN outer_rows o ON g.fp <-> o.fp <= 3 GROUP BY o.n) s;

DROP TABLE many, other, few, none, grown, far, grouped, outer_rows;
DROP FUNCTION parallel_queries, is_parallel, serial_result, parallel_differs, check_parallel, passes;
DROP PROCEDURE set_workers;
\set ECHO none
\set drop :directory '/sql/include/join_drop.sql'
\i :drop
