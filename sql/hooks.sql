-- HammingJoin's hook beside those of other libraries, which t/hooks.c has.
\pset format unaligned \pset tuples_only on \set ECHO queries

CREATE FUNCTION hook(kind text) RETURNS int LANGUAGE c STRICT AS '$libdir/simhash', 'simhash_test_hook';
CREATE TABLE sites AS
SELECT i AS id, left(md5(i::text), 16)::simhash64 AS fp, i % 40 AS site FROM generate_series(1, 20000) i;
CREATE INDEX ON sites USING hamming (fp);
CREATE TABLE few AS SELECT * FROM sites WHERE id > 19900;
ANALYZE sites, few;
-- of the semi join and the anti join PostgreSQL counts too few pairs
CREATE TABLE queries (n int, query text);
INSERT INTO queries VALUES
	(1, 'SELECT FROM sites a JOIN sites b ON a.fp <-> b.fp <= 8 AND a.id = b.id'),
	(2, 'SELECT FROM few a WHERE EXISTS (SELECT FROM sites b WHERE a.fp <-> b.fp <= 8 AND a.site = b.site)'),
	(3, 'SELECT FROM few a WHERE NOT EXISTS (SELECT FROM sites b WHERE a.fp <-> b.fp <= 8 AND a.site = b.site)'),
	(4, 'SELECT FROM few a LEFT JOIN sites b ON a.fp <-> b.fp <= 8 AND a.site = b.site'),
	(5, 'SELECT FROM sites a WHERE EXISTS (SELECT FROM sites b WHERE a.fp <-> b.fp <= 8 AND a.id = b.id AND b.site < 30)');
\set ECHO none
CREATE FUNCTION plan_with(kind text, query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	line text;
	lines text[];
BEGIN
	PERFORM hook(kind);
	FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
		lines := lines || line;
	END LOOP;
	RETURN array_to_string(lines, E'\n');
END $$;
-- what a hook before ours takes away stays away
CREATE FUNCTION count_with(kind text, query text) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
	PERFORM plan_with(kind, query);
	RETURN hook('ours');
END $$;
\set ECHO queries
SELECT n, count_with('first', query) AS came_back, plan_with('ours', query) ~ 'Hash' AS by_itself FROM queries ORDER BY n;
-- with simhash.enable_hammingjoin = off, PostgreSQL's paths are as it made them
SET simhash.enable_hammingjoin = off;
SELECT n, plan_with('ours', query) = plan_with('none', query) AS same FROM queries ORDER BY n;
RESET simhash.enable_hammingjoin;
-- a hook after ours is called as often as for a join that is not ours
SELECT n, count_with('last', query) =
	count_with('last', replace(query, 'a.fp <-> b.fp <= 8', 'simhash_similarity(a.fp, b.fp) > 0.9')) AS same,
	count_with('last', query) > 0 AS called FROM queries ORDER BY n;
-- a join that was planned before looks nothing up in pg_depend
BEGIN;
SELECT plan_with('ours', query) IS NOT NULL FROM queries WHERE n = 2;
\set ECHO none
SELECT idx_scan AS before FROM pg_stat_xact_sys_tables WHERE relname = 'pg_depend' \gset
SELECT plan_with('ours', query) IS NOT NULL FROM queries WHERE n = 2;
SELECT idx_scan - :before AS more FROM pg_stat_xact_sys_tables WHERE relname = 'pg_depend';
\set ECHO queries
ROLLBACK;
-- an index that is not there costs about as much as one that is
SELECT k, plan ~ 'hypothetical' AS taken, cost / real_cost BETWEEN 0.7 AND 1.4 AS same
FROM (VALUES (3), (8), (12)) v (k),
	format('SELECT FROM sites WHERE fp <-> %L <= %s', '0123456789abcdef', k) query,
	plan_with('hypothetical', query) plan, plan_with('ours', query) real_plan,
	float8(substring(plan FROM '\.\.([0-9.]+)')) cost, float8(substring(real_plan FROM '\.\.([0-9.]+)')) real_cost
ORDER BY k;
DROP FUNCTION count_with, plan_with, hook;
DROP TABLE sites, few, queries;
