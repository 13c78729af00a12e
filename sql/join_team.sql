-- HammingJoin with workers of its own, which search together.
\pset format unaligned \pset tuples_only on \set ECHO queries

\getenv directory PG_ABS_SRCDIR
\set setup :directory '/sql/include/join_setup.sql'
\set ECHO none
\i :setup
\set ECHO queries

SET jit = off;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET max_parallel_workers_per_gather = 2;
-- near-duplicates, copies and NULLs, and a column that may be equal
CREATE TABLE x AS
SELECT id, nullif(id % 5, 0) AS n, CASE WHEN id % 10 > 0 THEN fp END AS fp, repeat(md5(id::text), 1 + id % 3) AS body
FROM (SELECT id, (simhash('text ' || id / 4)::bigint # (1::bigint << id % 7 >> 1))::simhash64 AS fp
	FROM generate_series(1, 4000) id) s;
CREATE TABLE y AS SELECT id + 300 AS id, n, fp, body FROM x WHERE id % 4 > 0;
CREATE TABLE bits_128.x AS SELECT id, n, widen(fp, 'spread') AS fp, body FROM x;
CREATE TABLE bits_128.y AS SELECT id, n, widen(fp, 'spread') AS fp, body FROM y;
ANALYZE x, y, bits_128.x, bits_128.y;

\set ECHO none
-- How many rows a query has, and a hash of them, by one process and by a team; how many
-- workers are planned.
CREATE FUNCTION alone(query text) RETURNS text LANGUAGE sql SET max_parallel_workers_per_gather = 0
SET enable_nestloop = off SET enable_hashjoin = off SET enable_mergejoin = off
AS 'SELECT result_of(query, NULL)';
CREATE FUNCTION together(query text) RETURNS text LANGUAGE sql
SET enable_nestloop = off SET enable_hashjoin = off SET enable_mergejoin = off
AS 'SELECT result_of(query, NULL)';
CREATE FUNCTION planned_for(query text) RETURNS int LANGUAGE plpgsql
SET enable_nestloop = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN jsonb_path_query_first(plan, '$.** ? (@."Custom Plan Provider" == "HammingJoin")') -> 'Workers Planned';
END $$;
-- The same of a table after a statement, of which nothing stays, and what EXPLAIN says of
-- the work.
CREATE FUNCTION left_by(statement text, tab text, OUT result text, OUT planned int, OUT launched int,
	OUT compared bigint, OUT passes int, OUT disk bigint) LANGUAGE plpgsql
SET enable_nestloop = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF, FORMAT JSON) ' || statement INTO plan;
	EXECUTE format('SELECT (count(*), sum(hash_record_extended(r, 0)))::text FROM %s r', tab) INTO result;
	plan := jsonb_path_query_first(plan, '$.** ? (@."Custom Plan Provider" == "HammingJoin")');
	RAISE USING ERRCODE = 'ZZZZZ', MESSAGE = coalesce(plan, '{}');
EXCEPTION WHEN SQLSTATE 'ZZZZZ' THEN
	plan := SQLERRM;
	planned := plan -> 'Workers Planned';
	launched := plan -> 'Workers Launched';
	compared := plan -> 'Candidates';
	passes := plan -> 'Passes';
	disk := plan -> 'Disk Usage';
END $$;
CREATE FUNCTION team_of(query text, OUT result text, OUT planned int, OUT launched int,
	OUT compared bigint, OUT passes int, OUT disk bigint) LANGUAGE sql
AS $$ SELECT * FROM left_by('CREATE TEMP TABLE team_rows AS ' || query, 'team_rows') $$;
-- Whether a team had workers that is to have some.  Of a server that others use, too, these may
-- have all.
CREATE FUNCTION came(launched int, wanted boolean) RETURNS boolean LANGUAGE sql
AS $$ SELECT launched > 0 OR wanted AND current_setting('cluster_name') <> 'simhash_test' $$;
-- for all types of joins, or every second and so on: how many have a team, and which are wrong
CREATE FUNCTION check_team(k int, every int DEFAULT 1) RETURNS text LANGUAGE sql AS $$
	SELECT format('%s joins, %s by a team, wrong: %s', count(*), count(*) FILTER (WHERE planned_for(query) > 0),
		string_agg(query, E'\n') FILTER (WHERE together(query) IS DISTINCT FROM alone(query)))
	FROM (SELECT replace(q, '%s', k::text) AS query FROM unnest(ARRAY[
		'SELECT x.id, y.id AS partner, y.body FROM x JOIN y ON x.fp <-> y.fp <= %s',
		'SELECT x.id, y.id AS partner FROM x JOIN y ON x.fp <-> y.fp <= %s AND x.body < y.body',
		'SELECT a.id, b.id AS partner, b.body FROM x a JOIN x b ON a.fp <-> b.fp <= %s AND a.id < b.id',
		'SELECT x.id, x.body, y.id AS partner FROM x LEFT JOIN y ON x.fp <-> y.fp <= %s AND (x.id + y.id) % 3 = 0',
		'SELECT x.id, y.id AS partner FROM x RIGHT JOIN y ON x.fp <-> y.fp <= %s',
		'SELECT x.id, y.id AS partner FROM x FULL JOIN y ON x.fp <-> y.fp <= %s AND (x.id + y.id) % 3 = 0',
		'SELECT x.id, x.body FROM x WHERE EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s)',
		'SELECT x.id FROM x WHERE NOT EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s)',
		'SELECT x.id FROM x WHERE EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s AND x.id <> y.id)',
		'SELECT x.id, x.body FROM x WHERE NOT EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s AND x.body > y.body)',
		'SELECT x.id, y.id AS partner FROM x JOIN y ON x.fp <-> y.fp <= %s AND x.n = y.n',
		'SELECT a.id, b.id AS partner FROM x a JOIN x b ON a.fp <-> b.fp <= %s AND a.body = b.body AND a.id <> b.id',
		'SELECT x.id, y.id AS partner FROM x LEFT JOIN y ON x.fp <-> y.fp <= %s AND x.body = y.body',
		'SELECT x.id FROM x WHERE NOT EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s AND x.n = y.n)'])
		WITH ORDINALITY t (q, number) WHERE number % every = 0) s
$$;
\set ECHO queries
SELECT k, check_team(k, every) FROM (VALUES (0, 3), (3, 1), (8, 3)) v (k, every);
SET max_parallel_workers_per_gather = 8;
SELECT check_team(3, 5);
SET max_parallel_workers_per_gather = 2;
SET search_path = bits_128, public;
SELECT check_team(3, 2);
RESET search_path;
-- workers that do not come
SET max_parallel_workers = 0;
SELECT check_team(3, 3);
SELECT planned, launched FROM team_of('SELECT FROM x JOIN y ON x.fp <-> y.fp <= 3');
RESET max_parallel_workers;
-- no file may be written: one process
SET temp_file_limit = 0;
SET work_mem = '64MB';
SELECT check_team(3, 2);
RESET temp_file_limit;
RESET work_mem;
-- rows that memory has no room for: a team pairs their partitions, or each stretch of
-- them, one after the other
SET work_mem = '128kB';
SET hash_mem_multiplier = 1;
SELECT check_team(k, every) FROM (VALUES (0, 4), (3, 1), (8, 4)) v (k, every);
SET work_mem = '64kB';
CREATE TABLE big AS
SELECT id, nullif(id % 5, 0) AS n, (hashint8extended(id / 4, 1) # (1::bigint << id % 7 >> 1))::simhash64 AS fp
FROM generate_series(1, 12000) id;
INSERT INTO big SELECT 30000 + i, 1, '0123456789abcdef' FROM generate_series(1, 300) i;
ANALYZE big;
ALTER TABLE big SET (parallel_workers = 0);	-- processes share no outer rows
\set ECHO none
SELECT query, result = alone(query) AS same, came(launched, wanted) AS launched, passes > 50 AS partitions FROM unnest(ARRAY[
	'SELECT a.id, b.id AS partner FROM big a JOIN big b ON a.fp <-> b.fp <= 8 AND a.id < b.id',
	'SELECT x.id, b.id AS partner FROM big x FULL JOIN big b ON x.fp <-> b.fp <= 4 AND x.id <> b.id',
	'SELECT x.id, b.n FROM big x LEFT JOIN big b ON x.fp <-> b.fp <= 8 AND x.n = b.n AND x.id < b.id',
	'SELECT a, b FROM simhash_pairs(''SELECT id, fp FROM big'', 4)',
	'SELECT count(*) FROM big a JOIN big b ON a.fp <-> b.fp <= 8 AND a.id < b.id LIMIT 1',
	'SELECT x.id FROM big x WHERE EXISTS (SELECT FROM big y WHERE x.fp <-> y.fp <= 4 AND x.id <> y.id)'],
	'{t,t,t,NULL,t,NULL}'::boolean[]) t (query, wanted), team_of(query);
\set ECHO queries
RESET work_mem;
RESET hash_mem_multiplier;

-- what EXPLAIN shows is that of all processes
EXPLAIN (COSTS OFF) SELECT FROM x a JOIN x b ON a.fp <-> b.fp <= 3 AND a.id < b.id;
CREATE TABLE spread AS SELECT * FROM many_uniform(6000);
ANALYZE spread;
SELECT planned, compared FROM team_of('SELECT FROM spread a JOIN spread b ON a.fp <-> b.fp <= 12 AND a.id < b.id');

-- semi and anti joins that most outer rows leave early, or few
CREATE TABLE u AS SELECT i AS id, hashint8extended(i, 1)::simhash64 AS fp FROM generate_series(1, 30000) i;
CREATE TABLE v AS SELECT i AS id, hashint8extended(i, 2)::simhash64 AS fp FROM generate_series(1, 30000) i;
CREATE TABLE more AS SELECT i AS id, hashint8extended(i, 3)::simhash64 AS fp FROM generate_series(1, 150000) i;
ANALYZE u, v, more;
\set ECHO none
SELECT query, result = alone(query) AS same, came(launched, wanted) AS launched FROM unnest(ARRAY[
	'SELECT m.id FROM more m WHERE EXISTS (SELECT FROM v WHERE m.fp <-> v.fp <= 14)',
	'SELECT u.id FROM u WHERE EXISTS (SELECT FROM v WHERE u.fp <-> v.fp <= 17)',
	'SELECT u.id FROM u WHERE EXISTS (SELECT FROM v WHERE u.fp <-> v.fp <= 20)',
	'SELECT u.id FROM u WHERE NOT EXISTS (SELECT FROM v WHERE u.fp <-> v.fp <= 20)',
	'SELECT m.id FROM more m WHERE NOT EXISTS (SELECT FROM v WHERE m.fp <-> v.fp <= 14 AND (m.id + v.id) % 5 > 0)',
	'SELECT m.id, m.fp FROM more m WHERE EXISTS (SELECT FROM v WHERE m.fp <-> v.fp <= 14 AND (m.id + v.id) % 5 > 0)'],
	'{t,t,f,f,t,t}'::boolean[]) t (query, wanted), team_of(query);
\set ECHO queries
-- A team whose rows have too many partners stops, and one process finds them: the planner,
-- without ANALYZE, knows of none.  All pairs of dense take 105 MB of files.
SET work_mem = '64MB';
CREATE TABLE dense AS SELECT id, fp, id % 2 AS n FROM more;
INSERT INTO dense
SELECT 150000 + i, ('0123456789abcdef'::simhash64::bigint # (1::bigint << i % 64) # (1::bigint << i / 64 % 64))::simhash64, i % 2
FROM generate_series(1, 3000) i;
SELECT query, result = alone(query) AS same, planned, disk < 25000 AS stopped FROM unnest(ARRAY[
	'SELECT a.id FROM dense a WHERE EXISTS (SELECT FROM dense b WHERE a.fp <-> b.fp <= 8 AND b.id < a.id)',
	'SELECT a.id, a.fp FROM dense a WHERE NOT EXISTS (SELECT FROM dense b WHERE a.fp <-> b.fp <= 8 AND b.id < a.id AND a.n = b.n)'
	]) query, team_of(query);
DO $$
BEGIN
	PERFORM FROM dense a WHERE EXISTS (SELECT FROM dense b WHERE a.fp <-> b.fp <= 8 AND 1 / (a.id - b.id) > 0);
EXCEPTION WHEN division_by_zero THEN
	RAISE NOTICE 'an error, after that';
END $$;
SELECT left_behind();
-- most rows have one key, and each of the others one of its own
CREATE TABLE one_key AS SELECT id, fp, CASE WHEN id <= 100000 THEN 0 ELSE id END AS n FROM more;
ANALYZE one_key;
RESET parallel_setup_cost;
SELECT planned, disk > 0 AS by_team FROM team_of(
	'SELECT a.id, b.id AS other FROM one_key a JOIN one_key b ON a.fp <-> b.fp <= 12 AND a.n = b.n AND a.id < b.id');
SET parallel_setup_cost = 0;
RESET work_mem;
\set ECHO none
-- Where a statement may end early, one process finds the pairs: but not where it needs all
-- of them before its first row.
SELECT query, planned_for(replace(query, '%s', 'u JOIN v ON u.fp <-> v.fp <= 16')) AS planned FROM unnest(ARRAY[
	'SELECT u.id FROM %s LIMIT 10',
	'SELECT u.id FROM %s LIMIT (SELECT 10)',
	'SELECT EXISTS (SELECT FROM %s)',
	'DECLARE c CURSOR FOR SELECT u.id FROM %s',
	'SELECT u.id FROM %s UNION ALL SELECT v.id FROM %s LIMIT 10',
	'SELECT u.id FROM %s',
	'SELECT u.id FROM %s ORDER BY 1 LIMIT 10',
	'SELECT count(*) FROM %s LIMIT 1',
	'SELECT u.id % 9 FROM %s GROUP BY 1 LIMIT 1',
	'SELECT DISTINCT u.id FROM %s LIMIT 10',
	'SELECT u.id, count(*) OVER () FROM %s LIMIT 10',
	'SELECT * FROM (SELECT u.id FROM %s ORDER BY 1 OFFSET 0) s LIMIT 10',
	'WITH s AS MATERIALIZED (SELECT u.id FROM %s) SELECT FROM s LIMIT 10',
	'SELECT EXISTS (SELECT count(*) FROM %s HAVING count(*) > 9)',
	'DECLARE c CURSOR FOR SELECT u.id FROM %s ORDER BY 1',
	'SELECT u.id FROM u WHERE NOT EXISTS (SELECT FROM v WHERE u.fp <-> v.fp <= 16) LIMIT 10']) query;
\set ECHO queries
SET cursor_tuple_fraction = 1;
SELECT planned_for('DECLARE c CURSOR FOR SELECT u.id FROM u JOIN v ON u.fp <-> v.fp <= 16');
RESET cursor_tuple_fraction;
-- no pair is compared twice for a LIMIT
SELECT count(DISTINCT (result, compared)) FROM unnest('{"",LIMIT 1}'::text[]) clause,
	team_of('SELECT count(*) FROM u JOIN v ON u.fp <-> v.fp <= 16 ' || clause);
-- few fingerprints of one side; one key, and a key for each row; no row of a side
CREATE TABLE tiny AS SELECT * FROM x WHERE id IN (11, 12, 14);
CREATE TABLE keys AS SELECT id % 1500 AS one, 1 AS all_rows, fp FROM x;
CREATE TABLE nothing AS SELECT * FROM x WHERE fp IS NULL;
ANALYZE tiny, keys, nothing;
\set ECHO none
SELECT query, together(query) = alone(query) AS same, planned FROM unnest(ARRAY[
	'SELECT t.id, x.id AS partner FROM tiny t JOIN x ON t.fp <-> x.fp <= 9',
	'SELECT t.id, x.id AS partner FROM x JOIN tiny t ON t.fp <-> x.fp <= 30',
	'SELECT a.one, b.fp FROM keys a JOIN keys b ON a.one = b.one AND a.fp <-> b.fp <= 30',
	'SELECT a.one, b.fp FROM keys a JOIN keys b ON a.all_rows = b.all_rows AND a.fp <-> b.fp <= 3',
	'SELECT x.id FROM x LEFT JOIN nothing n ON n.fp <-> x.fp <= 3',
	'SELECT x.id FROM x WHERE NOT EXISTS (SELECT FROM nothing n WHERE n.fp <-> x.fp <= 3)']) query, planned_for(query) planned;
\set ECHO queries

-- scans that are repeated, with other parameters and with the same
SET enable_material = off;
SET enable_memoize = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT count(*), sum(p.id) FROM generate_series(1, 3) g
	LEFT JOIN (SELECT a.id FROM x a JOIN x b ON a.fp <-> b.fp <= 1 AND a.id < b.id OFFSET 0) p ON p.id + 0 >= g;
SELECT count(*), sum(a.id) FROM generate_series(1, 3) g, (SELECT) s, x a, x b WHERE a.fp <-> b.fp <= 1 AND a.id < b.id;
SELECT k, p.* FROM generate_series(0, 3) k, LATERAL (SELECT count(*), sum(a.id * b.id) FROM x a JOIN y b ON a.fp <-> b.fp <= k OFFSET 0) p;
SELECT k, p.* FROM generate_series(0, 3) k, LATERAL (SELECT count(*) FROM (SELECT a.id FROM x a JOIN y b ON a.fp <-> b.fp <= 3 LIMIT k) s) p;
SELECT count(*) FROM x WHERE id < 9 AND EXISTS (SELECT FROM y a JOIN y b ON a.fp <-> b.fp <= 1 AND a.id < b.id AND a.id > x.id - 30);
RESET enable_material;
RESET enable_memoize;
RESET enable_hashjoin;
RESET enable_mergejoin;
-- several joins in a statement
SET enable_nestloop = off;
SELECT count(*), sum(a.id + c.id) FROM x a JOIN y b ON a.fp <-> b.fp <= 1 JOIN x c ON b.fp <-> c.fp <= 1 AND a.id < c.id;
SELECT count(*), sum(id) FROM (SELECT a.id FROM x a JOIN y b ON a.fp <-> b.fp <= 1
	UNION ALL SELECT a.id FROM y a JOIN x b ON a.fp <-> b.fp <= 2) s;

-- statements that write
CREATE FUNCTION left_alone(statement text) RETURNS text LANGUAGE sql SET max_parallel_workers_per_gather = 0
AS $$ SELECT result FROM left_by(statement, 'x') $$;
SELECT result = left_alone(statement) AS same, substring(result, '\d+') AS rows, planned, came(launched, wanted) AS launched
FROM unnest(ARRAY[
	'DELETE FROM x USING y WHERE x.fp <-> y.fp <= 1 AND x.id < y.id',
	'DELETE FROM x WHERE EXISTS (SELECT FROM x b WHERE x.fp <-> b.fp <= 1 AND b.id < x.id)',
	'DELETE FROM x WHERE EXISTS (SELECT FROM y b WHERE x.fp <-> b.fp <= 1)',
	'UPDATE x SET n = x.n + 1 FROM (SELECT DISTINCT a.id FROM x a JOIN x b ON a.fp <-> b.fp <= 1 AND a.id < b.id) s WHERE s.id = x.id',
	'INSERT INTO x SELECT y.* FROM y WHERE NOT EXISTS (SELECT FROM x WHERE x.fp <-> y.fp <= 0)',
	'MERGE INTO x USING (SELECT DISTINCT ON (y.id) y.id, b.id AS other FROM y JOIN x b ON y.fp <-> b.fp <= 1 ORDER BY 1, 2) s
		ON x.id = s.other AND s.id = s.other + 300 WHEN MATCHED THEN DELETE'],
	'{t,t,t,t,f,t}'::boolean[]) t (statement, wanted), left_by(statement, 'x');

-- cursors: one that is read in part, in subtransactions, and after its transaction
BEGIN;
DECLARE near CURSOR FOR SELECT a.id, b.id AS partner FROM x a JOIN x b ON a.fp <-> b.fp <= 1 AND a.id < b.id;
DECLARE near_held CURSOR WITH HOLD FOR SELECT a.id, b.id AS partner FROM x a JOIN x b ON a.fp <-> b.fp <= 1 AND a.id < b.id;
CREATE TEMP TABLE fetched (a int, b int);
CREATE PROCEDURE fetch_from(cursor refcursor, count int) LANGUAGE plpgsql AS $$
DECLARE
	a int;
	b int;
BEGIN
	FOR i IN 1 .. count LOOP
		FETCH cursor INTO a, b;
		EXIT WHEN NOT FOUND;
		INSERT INTO fetched VALUES (a, b);
	END LOOP;
END $$;
CALL fetch_from('near', 1);
SAVEPOINT a;
CALL fetch_from('near', 300);
ROLLBACK TO a;
SAVEPOINT b;
MOVE 10 FROM near_held;
RELEASE b;
CALL fetch_from('near', 1000000);
SELECT count(*), count(DISTINCT (a, b)) FROM fetched;
SELECT count(*) FROM x a JOIN x b ON a.fp <-> b.fp <= 1 AND a.id < b.id;
COMMIT;
MOVE ALL FROM near_held;
CLOSE near_held;
SELECT left_behind();

-- a function that a worker of another node calls has no workers of its own
CREATE FUNCTION near_of(i int) RETURNS bigint LANGUAGE sql PARALLEL SAFE
AS 'SELECT count(*) FROM x a JOIN x b ON a.fp <-> b.fp <= 1 AND a.id < b.id AND a.id > i - i';
SET min_parallel_table_scan_size = 0;
SELECT count(DISTINCT near_of), min(near_of) FROM (SELECT near_of(id) FROM tiny OFFSET 0) s;
SELECT sum(near_of(id)) / min(near_of(id)) FROM tiny;
RESET min_parallel_table_scan_size;

-- a search by one process that a row of o ended early, and one by a team for the next row
CREATE TABLE o AS SELECT i FROM generate_series(1, 2) i;
CREATE TABLE p AS SELECT id % 2 AS n, 0 AS v, (repeat('0', 16) || left(md5(id::text), 15) || '0')::simhash128 AS fp
FROM generate_series(1, 6000) id;
CREATE TABLE q AS SELECT id % 2 AS n, least(id, 2) AS v, (repeat('0', 16) || left(md5(id::text), 15) || 7 - id % 2 * 6)::simhash128 AS fp
FROM generate_series(1, 6000) id;
ANALYZE o, p, q;
SET cursor_tuple_fraction = 1;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET enable_material = off;
BEGIN;
DECLARE c CURSOR FOR SELECT i FROM o WHERE EXISTS (
	SELECT FROM (SELECT p.v + q.v AS v FROM p JOIN q ON p.n = q.n AND p.fp <-> q.fp <= 1 OFFSET 0) s WHERE v >= i AND v <= i);
SET LOCAL max_parallel_workers_per_gather = 0;
FETCH 1 FROM c;
SET LOCAL max_parallel_workers_per_gather = 2;
FETCH ALL FROM c;
COMMIT;
RESET cursor_tuple_fraction;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET enable_material;

-- of a statement that is cancelled, here by the first of its pairs, nothing is left
\set cancelled 'SELECT FROM more a JOIN more b ON a.fp <-> b.fp <= 14 AND a.id < b.id AND pg_cancel_backend(CASE WHEN a.id < b.id THEN pg_backend_pid() END)'
:cancelled;
SET work_mem = '64kB';
:cancelled;
RESET work_mem;
SELECT left_behind();

DROP PROCEDURE fetch_from;
DROP TABLE x, y, spread, big, u, v, more, dense, one_key, tiny, keys, nothing, fetched, o, p, q;
DROP FUNCTION alone, together, planned_for, came, team_of, check_team, left_by, left_alone, near_of;
\set ECHO none
\set drop :directory '/sql/include/join_drop.sql'
\i :drop
