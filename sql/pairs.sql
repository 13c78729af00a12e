-- simhash_pairs: the pairs of near-duplicates among the rows of a query
\pset format unaligned \pset tuples_only on \set ECHO queries

CREATE TABLE docs (id int, fp simhash64);
INSERT INTO docs VALUES (1, '0000000000000000'), (2, '0000000000000007'), (3, NULL),
	(4, '000000000000003f'), (5, 'ffff000000000000'), (6, '0000000000000001'),
	(NULL, '0000000000000000'), (8, 'ffff000000000000');
SELECT * FROM simhash_pairs('SELECT id, fp FROM docs', 3) ORDER BY a, b;
SELECT (pair).* FROM (SELECT simhash_pairs('SELECT id, fp FROM docs', 0) AS pair) s;
SELECT a, b, distance FROM simhash_pairs(max_distance => 3, query => 'SELECT -id, fp FROM docs') ORDER BY a, b;
-- no rows, one row, only NULLs
SELECT source, simhash_pairs(source, 64)
FROM (VALUES ('SELECT id, fp FROM docs WHERE false'), ('SELECT id, fp FROM docs WHERE id = 3'),
	('SELECT id, fp FROM docs WHERE id IS NULL'), ('SELECT NULL::int, NULL::simhash64')) s (source);
SELECT simhash_pairs('SELECT id, fp FROM docs WHERE id = 1', 64);
SELECT count(*) FROM (SELECT simhash_pairs(NULL, 3) UNION ALL SELECT simhash_pairs('x', NULL)
	UNION ALL SELECT simhash_pairs('x', 3, NULL, 1) UNION ALL SELECT simhash_pairs('x', 3, 0, NULL)) s;

CALL make_tables(200);
-- ids in no order, some of them negative
SELECT check_pairs(format('SELECT id * 7919 %% 10007 - 5000 AS id, fp
	FROM (%s) s WHERE id <= 100', source), '{0,1,3,6,16,64}'), string_agg(shape, ', ' ORDER BY shape) AS shapes
FROM shapes GROUP BY 1;
SELECT check_pairs(wide, '{0,1,3,7,16,65,128}'), string_agg(DISTINCT shape, ', ') AS shapes,
	string_agg(DISTINCT way, ', ') AS ways
FROM shapes, widened(format('SELECT * FROM (%s) s WHERE id <= 60', source)) GROUP BY 1;
-- ids that are not unique, and NULLs
SELECT check_pairs('SELECT nullif(id % 20, 7) AS id, fp FROM ' || tab,
	'{0,1,3,5,12,32,64}') FROM tables WHERE tab IN ('skewed', 'duplicates', 'extremes');
-- pairs, and nothing else
SELECT pairs, wrong, different, joined, min(k), max(k), count(*) FROM find_many_pairs(2000)
GROUP BY pairs, wrong, different, joined;
SELECT count(*) FROM generate_series(1, 11) k, unnest('{t,f}'::boolean[]) of_all,
	LATERAL simhash_pairs(format('SELECT * FROM many_pairs(%s, 2000, %L)', k, of_all), k - 1);
-- within radii for which the parts of a cut are fewer than k + 1, and pairs
-- differ in a bit of a part, or in two: as many as of each with each, and once;
-- then those of two lists
CREATE TABLE many AS SELECT id, fp, (fp::text ||
	substr(md5((id - (id % 10 = 0)::int)::text), 17))::simhash128 AS wide FROM many_uniform(12000);
WITH counted AS MATERIALIZED (
	SELECT col, d.* FROM unnest('{fp,wide}'::text[]) col,
		LATERAL count_distances(format('SELECT id, %I FROM many', col), 28) d)
SELECT col, k, count(*) AS pairs, count(*) - count(DISTINCT (a, b)) AS twice,
	(SELECT sum(pairs) - count(p) FROM counted c WHERE c.col = v.col AND c.distance <= k) AS missing,
	(SELECT sum(pairs * c.distance) - sum(p.distance)
		FROM counted c WHERE c.col = v.col AND c.distance <= k) AS farther,
	(count(*) FILTER (WHERE a % 2 <> b % 2), sum(hash_record_extended(
			CASE WHEN a % 2 = 0 THEN (a, b, distance) ELSE (b, a, distance) END, 0))
		FILTER (WHERE a % 2 <> b % 2))::text = joined_pairs(format(
			'SELECT x.id AS a, y.id AS b, x.%1$I <-> y.%1$I AS distance FROM many x JOIN many y
				ON x.%1$I <-> y.%1$I <= %2$s WHERE x.id %% 2 = 0 AND y.id %% 2 = 1', col, k)) AS same_of_two
FROM (VALUES ('fp', 12), ('fp', 15), ('wide', 20), ('wide', 28)) v (col, k),
	LATERAL simhash_pairs(format('SELECT id, %I FROM many', col), k) p
GROUP BY col, k ORDER BY col, k;
DROP TABLE many;
-- the ends of bigint
SELECT * FROM simhash_pairs('SELECT id, ''0000000000000000''::simhash64
	FROM unnest(''{-9223372036854775808,9223372036854775807,-1,0,0}''::bigint[]) id', 0)
ORDER BY a, b;

-- every kind of query
CREATE DOMAIN fingerprint AS simhash64;
CREATE DOMAIN stored_fingerprint AS fingerprint NOT NULL;
CREATE DOMAIN doc_id AS smallint;
CREATE VIEW all_docs AS SELECT id AS "Id", fp AS "fp" FROM docs;
\set ECHO none
SELECT source, (SELECT count(*) FROM simhash_pairs(source, 3)) FROM unnest(ARRAY[
	'SELECT id, fp FROM docs;', ' ; SELECT id, fp FROM docs ; ;', 'TABLE docs', 'TABLE all_docs;',
	'(SELECT * FROM docs ORDER BY fp LIMIT 5) -- five',
	'/* SELECT */ WITH d AS (SELECT * FROM docs) SELECT * FROM d UNION ALL SELECT * FROM d',
	'SELECT id::smallint, fp::fingerprint FROM docs',
	'SELECT id::doc_id, fp::stored_fingerprint FROM docs WHERE fp IS NOT NULL',
	'SELECT count(*), max(fp) FROM docs GROUP BY id',
	'SELECT id, lag(fp) OVER (ORDER BY id) AS distance FROM docs',
	-- itself
	'SELECT 100 * a + b, fp FROM simhash_pairs(''SELECT id, fp FROM docs'', 3) JOIN docs ON id = a'])
	source;
\set ECHO queries
-- two at once
SELECT simhash_pairs('SELECT id, fp FROM docs', 0), simhash_pairs('SELECT -id, fp FROM docs', 0),
	simhash_pairs('SELECT id, fp FROM docs WHERE id IN (1, 2, 6)', 2);
-- for each row of another table
SELECT k, count(*) FROM generate_series(0, 3) k,
	simhash_pairs('SELECT id, fp FROM docs WHERE id > ' || k, k) GROUP BY k ORDER BY k;
SELECT id, (SELECT count(*) FROM simhash_pairs(format('SELECT id, fp FROM docs WHERE id <> %s', id), 3))
FROM docs WHERE id < 5 ORDER BY id;

-- the search path of the caller
CREATE TEMP TABLE docs AS SELECT * FROM public.docs WHERE id > 4;
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', 3);
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM public.docs', 3);
DROP TABLE pg_temp.docs;
SET search_path = '';
SELECT pg_catalog.count(*) FROM public.simhash_pairs('SELECT id, fp FROM public.docs', 3);
SELECT public.error_of($$SELECT public.simhash_pairs('SELECT id, fp FROM docs', 3)$$);
RESET search_path;
BEGIN;
CREATE SCHEMA elsewhere;
ALTER EXTENSION simhash SET SCHEMA elsewhere;
CREATE TYPE simhash64 AS ENUM ('0000000000000000');
SELECT count(*) FROM elsewhere.simhash_pairs('SELECT id, fp FROM docs', 3);
SELECT error_of($$SELECT elsewhere.simhash_pairs('SELECT 1, ''0000000000000000''::simhash64', 3)$$);
ROLLBACK;

-- the snapshot of the caller: what the statement itself inserts is not in it
WITH inserted AS (INSERT INTO docs VALUES (9, '0000000000000001') RETURNING 1)
SELECT count(*) FROM inserted, simhash_pairs('SELECT id, fp FROM docs', 3);
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', 3);
DELETE FROM docs WHERE id = 9;
BEGIN TRANSACTION READ ONLY;
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', 3);
COMMIT;

-- the rights of the caller
CREATE ROLE simhash_reader;
SET ROLE simhash_reader;
SELECT error_of($$SELECT simhash_pairs('SELECT id, fp FROM docs', 3)$$);
RESET ROLE;
GRANT SELECT (id, fp) ON docs TO simhash_reader;
SET ROLE simhash_reader;
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', 3);
RESET ROLE;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY not_6 ON docs USING (id <> 6);
SET ROLE simhash_reader;
SELECT * FROM simhash_pairs('SELECT id, fp FROM docs', 3) ORDER BY a, b;
RESET ROLE;
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', 3);
ALTER TABLE docs DISABLE ROW LEVEL SECURITY;

-- errors
SELECT error_of(format('SELECT simhash_pairs(''SELECT id, fp FROM docs'', %s)', k))
FROM unnest('{-1,65,-2147483648,2147483647}'::int[]) k;
SELECT error_of(format('SELECT simhash_pairs(''SELECT id, widen(fp, twice) FROM docs'', %s)', k))
FROM unnest('{-1,129}'::int[]) k;
CREATE FUNCTION errors_of(queries text[]) RETURNS TABLE (query text, error text)
LANGUAGE sql AS $$
	SELECT q, error_of(format('SELECT simhash_pairs(%L, 3)', q)) FROM unnest(queries) q
$$;
\set ECHO none
-- columns
SELECT * FROM errors_of(ARRAY['SELECT id FROM docs', 'SELECT FROM docs', 'SELECT id, fp, 1 FROM docs',
	'SELECT fp, id FROM docs', 'SELECT id::numeric, fp FROM docs', 'SELECT id::text, fp FROM docs',
	'SELECT ctid, fp FROM docs', 'SELECT NULL, fp FROM docs', 'SELECT id, NULL FROM docs',
	'SELECT id, fp::text FROM docs', 'SELECT id, fp::bigint FROM docs', 'SELECT docs FROM docs',
	'SELECT id, ''0123456789abcdef'' FROM docs', 'SELECT id, ARRAY[fp] FROM docs',
	'SELECT widen(fp, ''first''), id FROM docs',
	'SELECT id::text, fp FROM docs WHERE false']);
\set ECHO queries
-- the hint is what works
SELECT * FROM simhash_pairs('SELECT fp, id FROM docs', 3);
SELECT * FROM simhash_pairs('SELECT id::numeric, fp FROM docs', 3);
SELECT count(*) FROM simhash_pairs('SELECT id::numeric::bigint, fp FROM docs', 3);
CREATE TABLE keyed AS SELECT 'key ' || id AS key, fp FROM docs WHERE id IS NOT NULL;
SELECT * FROM simhash_pairs('SELECT key, fp FROM keyed', 3);
WITH numbered AS (SELECT key, row_number() OVER (ORDER BY key) AS n FROM keyed)
SELECT x.key, y.key, distance
FROM simhash_pairs('SELECT row_number() OVER (ORDER BY key), fp FROM keyed', 3)
	JOIN numbered x ON x.n = a JOIN numbered y ON y.n = b ORDER BY a, b;
DROP TABLE keyed;
SELECT * FROM simhash_pairs('SELECT id, fp::text FROM docs', 3);
SELECT count(*) FROM simhash_pairs('SELECT id, fp::text::simhash64 FROM docs', 3);
SELECT count(*) FROM simhash_pairs('SELECT id, simhash(fp::text) FROM docs', 3);
-- more than reading
CREATE PROCEDURE nothing() LANGUAGE sql AS '';
PREPARE of_docs AS SELECT id, fp FROM docs;
\set ECHO none
SELECT * FROM errors_of(ARRAY['INSERT INTO docs VALUES (10, NULL) RETURNING *',
	'INSERT INTO docs VALUES (10, NULL)', 'UPDATE docs SET id = id RETURNING *',
	'DELETE FROM docs RETURNING *', 'MERGE INTO docs USING docs d ON d.id = docs.id WHEN MATCHED THEN DELETE',
	'WITH d AS (DELETE FROM docs RETURNING *) SELECT * FROM d', 'SELECT * FROM docs FOR UPDATE',
	'SELECT * FROM docs FOR KEY SHARE', 'SELECT id, fp INTO other FROM docs',
	'CREATE TABLE other AS TABLE docs', 'TRUNCATE docs', 'DROP TABLE docs', 'CALL nothing()',
	'SET work_mem = 64', 'SHOW work_mem', 'EXECUTE of_docs', 'EXPLAIN SELECT id, fp FROM docs',
	'DECLARE c CURSOR FOR TABLE docs', 'DO ''BEGIN END''', 'COMMIT', 'BEGIN', 'ROLLBACK', 'SAVEPOINT s',
	'COPY docs TO STDOUT', 'VACUUM docs', 'LISTEN x',
	'SELECT * FROM docs; DELETE FROM docs']);
\set ECHO queries
DEALLOCATE of_docs;
DROP PROCEDURE nothing;
SELECT count(*) FROM docs;
-- not one statement, or none
SELECT * FROM errors_of(ARRAY['', ' ', ';', '-- nothing', 'TABLE docs; TABLE docs',
	'SELECT id, fp FROM docs WHERE false; TABLE docs', 'TABLE docs; SELECT 1']);
SELECT simhash_pairs('', 3);
SELECT simhash_pairs('EXPLAIN SELECT id, fp FROM docs', 3);
SELECT count(*) FROM simhash_pairs('VALUES (1, 0::simhash64), (2, 1::simhash64), (3, 7::simhash64)', 1);
-- the name of a table
SELECT simhash_pairs('public.docs', 3);
SELECT simhash_pairs('"docs"', 3);
SELECT simhash_pairs('SELECT', 3);
-- what core says
SELECT * FROM errors_of(ARRAY['SELECT id, fp FORM docs', 'SELECT id, fp FROM nothing', 'SELECT a, fp FROM docs',
	'SELECT $1, fp FROM docs', 'SELECT id / 0, fp FROM docs', 'SELECT id, ''x''::simhash64 FROM docs',
	'SELECT 9223372036854775808, fp FROM docs']);

-- The extension is dropped once the statement has begun: by an argument, or while
-- the query is planned.
BEGIN;
SET LOCAL client_min_messages = warning;
CREATE FUNCTION dropped() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	DROP EXTENSION simhash CASCADE;
	RETURN '';
END $$;
CREATE FUNCTION dropped_in_plan() RETURNS text IMMUTABLE LANGUAGE sql AS 'SELECT dropped()';
SELECT regexp_replace(error_of(statement), '\d+ does', 'N does') FROM unnest(ARRAY[
	$$SELECT simhash_pairs(dropped() || 'SELECT 1, ''0123456789abcdef''::simhash64', 3)$$,
	$$SELECT simhash_pairs('SELECT 1, dropped_in_plan()', 3)$$]) statement;
SELECT simhash_components(dropped() || 'VALUES (1, 2)');
ROLLBACK;

-- Ten billion pairs come one at a time: to keep them all would take temporary
-- files.
CREATE TABLE equal AS SELECT id, '0123456789abcdef'::simhash64 AS fp
FROM generate_series(1, 150000) id;
SET temp_file_limit = '1MB';
SELECT count(*), count(DISTINCT pair), max((pair).distance) FROM (
	SELECT simhash_pairs('SELECT id, fp FROM equal', 3) AS pair LIMIT 1000) s;
SELECT count(*), count(DISTINCT pair), max((pair).distance) FROM (
	SELECT simhash_pairs('SELECT id, fp FROM equal', 3, simhash_parts(fp, 3, 4), 4) AS pair
	FROM equal WHERE id = 1 LIMIT 1000) s;
SELECT EXISTS (SELECT simhash_pairs('SELECT id, fp FROM equal', 3));
DO $$
DECLARE
	pair record;
	pairs int := 0;
BEGIN
	FOR pair IN SELECT (simhash_pairs('SELECT id, fp FROM equal', 3)).* LOOP
		IF pair.a >= pair.b OR pair.distance <> 0 THEN RAISE 'wrong'; END IF;
		pairs := pairs + 1;
		EXIT WHEN pairs = 500;
	END LOOP;
	FOR pair IN SELECT * FROM simhash_pairs('SELECT id, fp FROM docs', 3) LOOP
		pairs := pairs + 1;
	END LOOP;
	RAISE NOTICE '% pairs', pairs;
END $$;
BEGIN;
DECLARE c CURSOR FOR SELECT simhash_pairs('SELECT id, fp FROM equal', 3);
MOVE 150001 IN c;
DECLARE d CURSOR FOR SELECT a, b FROM simhash_pairs('SELECT id, fp FROM docs', 3) ORDER BY 1, 2;
FETCH 2 FROM d;
DELETE FROM docs;
MOVE 10 IN c;
FETCH ALL FROM d;
CLOSE c;
ROLLBACK;
RESET temp_file_limit;
-- in FROM, beyond work_mem in temporary files
SET work_mem = '64kB';
SELECT count(*), sum(distance), sum(b - a) FROM simhash_pairs('SELECT id, fp FROM equal WHERE id <= 1000', 3);
-- equal fingerprints only, in stretches that memory has room for
SET max_parallel_workers_per_gather = 0;
SELECT count(*), sum(b - a) FROM simhash_pairs('SELECT id, (id % 2000)::bigint::simhash64 FROM generate_series(0, 3999) id', 0);
RESET max_parallel_workers_per_gather;
RESET work_mem;

CALL for_each_table('DROP TABLE %1$s');
DROP OWNED BY simhash_reader;
DROP ROLE simhash_reader;
DROP VIEW all_docs;
DROP TABLE docs, equal;
DROP DOMAIN stored_fingerprint, fingerprint, doc_id;
DROP FUNCTION errors_of;
