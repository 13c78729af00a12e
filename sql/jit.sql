-- Compiled expressions, and rows that compiled code takes apart, give what interpreted ones
-- give.  Other tests run without them.  On a server without LLVM nothing is compiled.
\pset format unaligned \pset tuples_only on \set ECHO queries

CREATE TABLE left_rows AS
SELECT i AS id, nullif(i % 7, 0) AS n, 'text ' || i / 3 AS body,
	CASE WHEN i % 10 > 0 THEN (simhash('text ' || i / 3)::bigint # (1 << i % 3 >> 1))::simhash64 END AS fp
FROM generate_series(1, 300) i;
CREATE TABLE right_rows AS SELECT id + 30 AS id, body, fp, widen(fp, 'twice') AS wide, n FROM left_rows WHERE id % 4 > 0;
ALTER TABLE left_rows ADD wide simhash128;
UPDATE left_rows SET wide = widen(fp, 'twice');
CREATE INDEX right_fp ON right_rows USING hamming (fp);
CREATE INDEX right_gist ON right_rows USING gist (fp);
ANALYZE left_rows, right_rows;

\set ECHO none
CREATE FUNCTION interpreted(query text) RETURNS text[] LANGUAGE sql SET jit = off AS 'SELECT rows_of(query)';
CREATE FUNCTION compiled(query text) RETURNS text[] LANGUAGE sql
SET jit = on SET jit_above_cost = 0 SET jit_inline_above_cost = 0 SET jit_optimize_above_cost = -1
AS 'SELECT rows_of(query)';
-- whether a query is compiled, where it can be
CREATE FUNCTION compiles(query text) RETURNS boolean LANGUAGE plpgsql
SET jit = on SET jit_above_cost = 0 AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) ' || query INTO plan;
	RETURN (plan -> 0 -> 'JIT' IS NOT NULL) = pg_jit_available();
END $$;
CREATE FUNCTION check_compiled(queries text[]) RETURNS TABLE (query text, "rows" int, same boolean) LANGUAGE sql AS $$
	SELECT query, cardinality(found), found = interpreted(query)
	FROM unnest(queries) query, LATERAL (SELECT compiled(query) AS found OFFSET 0) c
$$;
\set ECHO queries
SELECT compiles('SELECT fp <-> ''0123456789abcdef'' FROM left_rows WHERE id > 3');

SET enable_nestloop = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SELECT plan_lines('SELECT FROM left_rows l JOIN right_rows r ON l.fp <-> r.fp <= 3', 'HammingJoin');
\set ECHO none
SELECT * FROM check_compiled(ARRAY[
	'SELECT l.*, r.id AS other, r.wide FROM left_rows l JOIN right_rows r ON l.fp <-> r.fp <= 3 AND l.id + r.id > 50',
	'SELECT l.id, r.id AS other, r.n + l.n FROM left_rows l LEFT JOIN right_rows r ON l.wide <-> r.wide <= 4 AND l.n = r.n',
	'SELECT l.body, r.* FROM left_rows l FULL JOIN right_rows r ON l.fp <-> r.fp <= 1 AND (l.id + r.id) % 3 > 0',
	'SELECT l.* FROM left_rows l WHERE EXISTS (SELECT FROM right_rows r WHERE l.fp <-> r.fp <= 2 AND l.id <> r.id)',
	'SELECT l.id, l.body FROM left_rows l WHERE NOT EXISTS (SELECT FROM right_rows r WHERE l.fp <-> r.fp <= 2 AND l.body < r.body)',
	'SELECT a.id, b.id AS other, b.body FROM left_rows a JOIN left_rows b ON a.fp <-> b.fp <= 1 AND a.id < b.id']);
\set ECHO queries
RESET enable_nestloop;
RESET enable_hashjoin;
RESET enable_mergejoin;
SET simhash.enable_hammingjoin = off;
SET enable_seqscan = off;
\set ECHO none
SELECT * FROM check_compiled(ARRAY[
	'SELECT id, body FROM right_rows WHERE fp <-> simhash(''text 7'') <= 20 AND id % 3 > 0',
	'SELECT l.id, r.id AS other FROM left_rows l JOIN right_rows r ON l.fp <-> r.fp <= 3 AND l.n < 3',
	'SELECT fp <-> simhash(''text 7'') AS d FROM right_rows ORDER BY fp <-> simhash(''text 7'') LIMIT 20',
	'SELECT id, simhash_cluster(fp, 3) OVER w, simhash_cluster(wide, 6, ''leader'') OVER w FROM left_rows WINDOW w AS (ORDER BY id)',
	'SELECT p.*, a + b FROM simhash_pairs(''SELECT id, fp FROM left_rows'', 3) p WHERE distance > 0',
	'SELECT n, simhash_tokens(array_agg(body ORDER BY id)), max(fp), min(wide), count(DISTINCT fp) FROM left_rows GROUP BY n']);
\set ECHO queries

DROP TABLE left_rows, right_rows;
DROP FUNCTION interpreted, compiled, compiles, check_compiled;
