-- HammingJoin: plans, parameters, processes, and what EXPLAIN shows.
\pset format unaligned \pset tuples_only on \set ECHO queries

\getenv directory PG_ABS_SRCDIR
\set setup :directory '/sql/include/join_setup.sql'
\set ECHO none
\i :setup

-- The plans.  Neither side has an index.
SELECT query, (SELECT string_agg(line, E'\n') FROM join_plan(query) line) AS plan FROM unnest(ARRAY[
	'SELECT * FROM a JOIN b ON a.fp <-> b.fp <= 3 AND a.id < b.id',
	'SELECT * FROM a LEFT JOIN b ON a.fp <-> b.fp <= 3 WHERE a.n = 1 AND b.n IS NULL',
	'SELECT * FROM a FULL JOIN b ON a.fp <-> b.fp <= 3 AND a.n = b.n',
	'SELECT * FROM a WHERE EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= 3 AND a.id <> b.id)',
	'SELECT * FROM a WHERE NOT EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= 3)',
	'SELECT a.* FROM a LEFT JOIN b ON a.fp <-> b.fp <= 3 WHERE b.fp IS NULL']) query;
\set ECHO queries
SELECT join_plan('SELECT * FROM bits_128.a a JOIN bits_128.b b ON a.fp <-> b.fp <= 3 AND a.id < b.id');
-- and without force
SELECT plan_lines('SELECT * FROM uniform a JOIN uniform b ON a.fp <-> b.fp <= 3', 'Join');
SET simhash.enable_hammingjoin = off;
SELECT plan_lines('SELECT * FROM uniform a JOIN uniform b ON a.fp <-> b.fp <= 3', 'Join');
SELECT plan_lines('SELECT * FROM a FULL JOIN b ON a.fp <-> b.fp <= 3', 'Join');
RESET simhash.enable_hammingjoin;

-- Equality beside the distance.  100 rows cost less than look-ups in the index on fp,
-- and those less than a hash join, which compares all rows of a site; and more by the
-- index on big, as a third of all rows meet a third of all rows.
CREATE TABLE of_sites AS
SELECT id, fp, id % 40 AS site, CASE WHEN id % 3 > 0 THEN id ELSE 0 END AS big FROM many_uniform(20000);
CREATE INDEX ON of_sites USING hamming (fp);
CREATE INDEX ON of_sites (big);
CREATE TABLE few AS SELECT id, flipped(fp, 1) AS fp, site, big FROM of_sites WHERE id > 19900;
ANALYZE of_sites, few;
SELECT plan_lines(format(
	'SELECT FROM few a WHERE %s (SELECT FROM of_sites b WHERE a.fp <-> b.fp <= 8 AND a.site = b.site)', test),
	'Join|Loop|Index')
FROM unnest(ARRAY['EXISTS', 'NOT EXISTS']) test;
-- what PostgreSQL takes by itself
SET simhash.enable_hammingjoin = off;
SELECT plan_lines(format(
	'SELECT FROM few a WHERE %s (SELECT FROM of_sites b WHERE a.fp <-> b.fp <= 8 AND a.site = b.site)', test),
	'Join|Loop|Index')
FROM unnest(ARRAY['EXISTS', 'NOT EXISTS']) test;
RESET simhash.enable_hammingjoin;
SELECT plan_lines(format('SELECT FROM of_sites a WHERE %s (SELECT FROM of_sites b
	WHERE a.fp <-> b.fp <= 8 AND a.site = b.site AND a.id <> b.id)', test), 'Join|Loop|Index')
FROM unnest(ARRAY['EXISTS', 'NOT EXISTS']) test;
SELECT plan_lines(format('SELECT FROM few a %s of_sites b ON a.fp <-> b.fp <= 20 AND a.big = b.big', type),
	'Join|Loop|Index')
FROM unnest(ARRAY['JOIN', 'LEFT JOIN']) type;
-- A hash join costs less than it seems where the distance spares most pairs a costly condition.
SELECT plan_lines('SELECT FROM of_sites a WHERE NOT EXISTS (SELECT FROM few b
	WHERE a.fp <-> b.fp <= 0 AND a.site = b.site AND text_jaccard(a.fp::text, b.fp::text) > 0.5) LIMIT 100', 'Join$|HammingJoin');
-- A hash join costs least where it compares a row with one row.
SET simhash.enable_hammingjoin = off;
SELECT plan_lines('SELECT FROM of_sites a JOIN of_sites b ON a.fp <-> b.fp <= 8 AND a.id = b.id', 'Join|Loop|Index|Cond');
RESET simhash.enable_hammingjoin;
DROP TABLE of_sites, few;

-- parameters, in a plan for all values
SET plan_cache_mode = force_generic_plan;
SET enable_nestloop = off;
PREPARE near_pairs(int, int) AS SELECT count(*) FROM a JOIN b ON a.fp <-> b.fp <= $1 AND $2 > 0;
PREPARE near_left(int) AS SELECT * FROM a LEFT JOIN b ON a.fp <-> b.fp <= $1;
EXPLAIN (COSTS OFF) EXECUTE near_left(1);
EXECUTE near_pairs(1, 1);
EXECUTE near_pairs(0, 1);
EXECUTE near_pairs(1, 0);
EXECUTE near_pairs(NULL, 1);
EXECUTE near_pairs(-1, 1);
EXECUTE near_pairs(1000, 1);
CREATE FUNCTION near_rows(k int, OUT inner_rows bigint, OUT left_rows bigint, OUT semi_rows bigint,
	OUT anti_rows bigint) LANGUAGE plpgsql AS $$
BEGIN
	inner_rows := (SELECT count(*) FROM a JOIN b ON a.fp <-> b.fp <= k);
	left_rows := (SELECT count(*) FROM a LEFT JOIN b ON a.fp <@ hamming_ball(b.fp, k));
	semi_rows := (SELECT count(*) FROM a WHERE EXISTS (SELECT FROM b WHERE a.fp <-> b.fp < k + 1));
	anti_rows := (SELECT count(*) FROM a WHERE NOT EXISTS (SELECT FROM b WHERE simhash_within(a.fp, b.fp, k)));
END $$;
SELECT k, r.*, (inner_rows, semi_rows, anti_rows) = (pairs, near, far) AS as_counted
FROM unnest('{0,1,NULL,-5,20,64,100}'::int[]) k, near_rows(k) r, LATERAL (
	SELECT sum(n)::bigint, count(*) FILTER (WHERE n > 0), count(*) FILTER (WHERE n = 0)
	FROM (SELECT count(*) FILTER (WHERE a.fp <-># b.fp <= k) AS n FROM a, b GROUP BY a.id) s) c (pairs, near, far);
RESET enable_nestloop;
RESET plan_cache_mode;
DEALLOCATE ALL;

-- processes: each has all rows of one side, and its part of the other one
SELECT set_config(CASE WHEN current_setting('server_version_num')::int < 160000
	THEN 'force_parallel_mode' ELSE 'debug_parallel_query' END, 'on', false);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT joins(query), (SELECT string_agg(line, E'\n') FROM plan_lines(query, 'Gather|Parallel|Join Type') line) AS plan
FROM unnest(ARRAY[
	'SELECT a.id, b.id AS other FROM a JOIN b ON a.fp <-> b.fp <= 1 AND a.id <> b.id AND costly(a.id + b.id)',
	'SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1 AND costly(a.id + b.id)',
	'SELECT a.id FROM a WHERE EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= 1 AND costly(a.id + b.id))',
	'SELECT a.id FROM a WHERE NOT EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= 1 AND costly(a.id + b.id))',
	'SELECT a.id, b.id AS other FROM a JOIN b ON a.fp <-> b.fp <= (SELECT max(i) FROM generate_series(0, 1) i)
		AND costly(a.id + b.id)']) query;
SELECT joins('SELECT a.n, count(*) FROM a JOIN b ON a.fp <-> b.fp <= 1 JOIN c ON b.fp <-> c.fp <= 1 GROUP BY 1');
SELECT joins('SELECT a.id, b.id AS other FROM a FULL JOIN b ON a.fp <-> b.fp <= 1 AND a.n = b.n', NULL,
	'SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1 AND a.n = b.n UNION ALL
		SELECT NULL, id FROM b WHERE NOT EXISTS (SELECT FROM a WHERE a.fp <-> b.fp <= 1 AND a.n = b.n)');
SELECT check_joins('TABLE skewed', 'TABLE half_bits', '{30}');
-- what EXPLAIN shows is that of all of them: where all fingerprints are compared with all, each scan compares 900
SELECT set_config(CASE WHEN current_setting('server_version_num')::int < 160000
	THEN 'force_parallel_mode' ELSE 'debug_parallel_query' END, 'off', false);
SET parallel_leader_participation = off;
SET enable_nestloop = off;
CREATE TABLE thirty AS SELECT id, fp, repeat('x', 1000) AS wide FROM many_uniform(30);
ALTER TABLE thirty SET (parallel_workers = 2);
ANALYZE thirty;
\set ECHO none
CREATE FUNCTION work_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
	work jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF, FORMAT JSON) ' || query INTO plan;
	work := jsonb_path_query_first(plan, '$.** ? (@."Custom Plan Provider" == "HammingJoin")');
	RETURN format('%s, %s candidates, passes %s, memory %s, disk %s', CASE WHEN jsonb_path_exists(plan,
		'$.** ? (@."Workers Planned" == 2).** ? (@."Custom Plan Provider" == "HammingJoin")') THEN 'parallel' END,
		work -> 'Candidates', (work ->> 'Passes')::int > 0, (work ->> 'Memory Usage')::int > 0,
		(work ->> 'Disk Usage')::int > 0);
END $$;
\set ECHO queries
SELECT work_of('SELECT FROM thirty a JOIN thirty b ON a.fp <-> b.fp <= 30 AND costly(a.id + b.id)');
SELECT work_of('SELECT FROM thirty a JOIN thirty b ON a.fp <-> b.fp <= 30 AND costly(a.id + b.id) LIMIT 1') ~ '^parallel, [1-9].* passes t, memory t'
	AS below_limit;
\set ECHO none
-- until the transaction ends, no more of a statement is kept than of PostgreSQL's own parallel plans
CREATE FUNCTION kept(query text) RETURNS bigint LANGUAGE plpgsql SET max_parallel_workers = 0 AS $$
DECLARE
	before bigint;
	bytes bigint;
BEGIN
	FOR i IN 1 .. 30 LOOP
		EXECUTE 'EXPLAIN (ANALYZE) ' || query;
		SELECT used_bytes INTO bytes FROM pg_backend_memory_contexts WHERE name = 'TopTransactionContext';
		IF i = 10 THEN before := bytes; END IF;
	END LOOP;
	RETURN bytes - before;
END $$;
\set ECHO queries
SELECT kept('SELECT FROM thirty a JOIN thirty b ON a.fp <-> b.fp <= 30 AND costly(a.id + b.id)')
	- kept('SELECT FROM thirty WHERE costly(id)') AS kept;
DROP FUNCTION kept;
-- three scans of a plan with workers of its own
SET enable_nestloop = on;
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT work_of('SELECT n FROM generate_series(1, 3) i LEFT JOIN (SELECT count(*) AS n FROM thirty a JOIN thirty b
	ON a.fp <-> b.fp <= 30 AND costly(a.id + b.id)) s ON i <> n');
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;
DROP FUNCTION work_of;
DROP TABLE thirty;
RESET parallel_leader_participation;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;

-- what EXPLAIN tells of it, beside text
SET enable_nestloop = off;
DO $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) SELECT FROM a JOIN b ON a.fp <-> b.fp <= 1 AND a.id < b.id' INTO plan;
	plan := plan -> 0 -> 'Plan';
	RAISE NOTICE '%, %, %, %, % rows, % passes, %', plan -> 'Custom Plan Provider', plan -> 'Join Type',
		plan -> 'Hamming Cond', plan -> 'Join Filter', round((plan ->> 'Actual Rows')::numeric), plan -> 'Passes',
		(plan ->> 'Candidates')::int > 0 AND (plan ->> 'Memory Usage')::int > 0 AND (plan ->> 'Disk Usage')::int = 0;
END $$;
RESET enable_nestloop;

-- the extension elsewhere, and two like it
BEGIN;
CREATE SCHEMA elsewhere;
ALTER EXTENSION simhash SET SCHEMA elsewhere;
SET LOCAL search_path = public, elsewhere;
SELECT join_plan('SELECT FROM a JOIN b ON a.fp <-> b.fp <= 3');
CREATE FUNCTION simhash_within(simhash64, simhash64, bigint) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN false; END';
SELECT * FROM join_plan('SELECT FROM a JOIN b ON public.simhash_within(a.fp, b.fp, 3)') LIMIT 2;
CREATE SCHEMA other;
CREATE DOMAIN other.simhash64 AS bigint;
CREATE FUNCTION other.simhash_within(other.simhash64, other.simhash64, bigint) RETURNS boolean
LANGUAGE c IMMUTABLE STRICT AS '$libdir/simhash', 'simhash_within';
SELECT * FROM join_plan('SELECT FROM a JOIN b ON other.simhash_within(a.id::bigint, b.id::bigint, 3)') LIMIT 1;
ROLLBACK;

DROP FUNCTION near_rows;
\set ECHO none
\set drop :directory '/sql/include/join_drop.sql'
\i :drop
