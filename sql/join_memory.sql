-- HammingJoin with little memory, or with nothing to join.
\pset format unaligned \pset tuples_only on \set ECHO queries

\getenv directory PG_ABS_SRCDIR
\set setup :directory '/sql/include/join_setup.sql'
\set ECHO none
\i :setup
\set ECHO queries

-- More rows than fit into memory: tuples go to files, or fingerprints, too.  Some
-- rows are wide, and many have the same fingerprint.
CREATE TABLE large AS
SELECT id, (hashint8extended(id % 400, 1) # CASE WHEN id > 400 THEN bits(id, 1 + id % 2 * 16,
	id % 5) ELSE 0 END)::simhash64 AS fp,
	CASE WHEN id % 3 = 0 THEN repeat(md5(id::text), id % 20) END AS body
FROM generate_series(1, 800) id;
INSERT INTO large SELECT id, CASE WHEN id % 100 > 0 THEN '0123456789abcdef'::simhash64 END, 'equal'
FROM generate_series(2001, 2300) id;
CREATE TABLE wide (id int, fp simhash64, body text);
ALTER TABLE wide ALTER body SET STORAGE EXTERNAL;
INSERT INTO wide SELECT id, fp, repeat(md5(id::text), 60 + id % 40) FROM large WHERE id % 3 > 0;
INSERT INTO wide VALUES (-1, '0123456789abcdee', 'near'), (-2, NULL, NULL);
CREATE TABLE equal AS SELECT id, '0123456789abcdef'::simhash64 AS fp, '' AS body FROM generate_series(1, 2000) id;
ANALYZE large, wide, equal;
-- What the join has done, in all of its scans.
\set ECHO none
CREATE FUNCTION work_of(query text) RETURNS text LANGUAGE plpgsql SET enable_nestloop = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Passes' THEN
			RETURN concat_ws(', ', CASE substring(line, 'Passes: (\d+)') WHEN '0' THEN 'no pass'
				WHEN '1' THEN 'one pass' ELSE 'passes' END, CASE WHEN line ~ 'Disk Usage: [1-9]' THEN 'disk' END,
				CASE WHEN substring(line, 'Memory Usage: (\d+)')::int * 1024 >
					pg_size_bytes(current_setting('work_mem'))
					* current_setting('hash_mem_multiplier')::float * 1.1 THEN 'TOO MUCH MEMORY' END);
		END IF;
	END LOOP;
	RETURN 'another join';
END $$;
-- With little memory, what the join gives is what a nested loop gives; and with
-- more what it gives with little.
CREATE FUNCTION check_large() RETURNS TABLE (query text, result text, work text, with_memory boolean)
	LANGUAGE plpgsql AS $$
DECLARE
	with_little text;
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'SELECT a.id, b.id AS other FROM large a JOIN large b ON a.fp <-> b.fp <= 3 AND a.id > b.id AND b.id < 2005',
		'SELECT a.*, b.id AS other, b.body AS text FROM large a
			LEFT JOIN wide b ON a.fp <-> b.fp <= 3 AND b.id % 60 = a.id % 60',
		'SELECT a.*, b FROM wide a JOIN large b ON a.fp <-> b.fp <= 3 AND b.id < 2010',
		'SELECT a.id, b.id AS other, length(a.body || b.body) AS size FROM wide a JOIN wide b
			ON a.fp <-> b.fp <= 3 AND a.id < b.id',
		'SELECT a.* FROM large a WHERE EXISTS (SELECT FROM wide b WHERE a.fp <-> b.fp <= 3)',
		'SELECT a.id FROM large a WHERE EXISTS (SELECT FROM large b WHERE a.fp <-> b.fp <= 3 AND a.id > b.id)',
		'SELECT a.* FROM wide a WHERE NOT EXISTS (SELECT FROM large b WHERE a.fp <-> b.fp <= 3 AND a.id <> b.id)',
		'SELECT a.id FROM large a WHERE NOT EXISTS (SELECT FROM wide b WHERE a.fp <-> b.fp <= 3)',
		'SELECT a.id FROM large a JOIN equal b ON a.fp <-> b.fp <= 3 AND b.id < 50',
		'SELECT a.id FROM equal a WHERE EXISTS (SELECT FROM equal b
			WHERE a.fp <-> b.fp <= 3 AND (a.id + b.id) % 5 = 0)',
		'SELECT a.id FROM equal a WHERE NOT EXISTS (SELECT FROM large b
			WHERE a.fp <-> b.fp <= 3 AND b.id % 2 <> a.id % 3)
			AND a.id < 700',
		'SELECT i, (SELECT count(*) FROM large a JOIN large b ON a.fp <-> b.fp <= i % 3 AND b.id < 2002 + i)
			FROM generate_series(4, 5) i'] LOOP
		SET LOCAL work_mem = '64kB';
		SET LOCAL hash_mem_multiplier = 1;
		result := joins(query);
		work := work_of(query);
		with_little := result_by_join(query, NULL);
		SET LOCAL work_mem = '64MB';
		with_memory := with_little = result_by_join(query, NULL);
		RETURN NEXT;
	END LOOP;
END $$;
\set ECHO queries
SELECT * FROM check_large();
CREATE TABLE bits_128.large AS SELECT id, widen(fp, 'last') AS fp, body FROM large;
CREATE TABLE bits_128.wide AS SELECT id, widen(fp, 'last') AS fp, body FROM wide;
CREATE TABLE bits_128.equal AS SELECT id, widen(fp, 'last') AS fp, body FROM equal;
ANALYZE bits_128.large, bits_128.wide, bits_128.equal;
SET search_path = bits_128, public;
SELECT result, work, with_memory FROM check_large();
RESET search_path;
SET hash_mem_multiplier = 1;
SET work_mem = '64kB';
SELECT joins('SELECT a.id, b.id AS other FROM large a FULL JOIN wide b ON a.fp <-> b.fp <= 3 AND a.id = b.id', NULL,
	'SELECT a.id, b.id AS other FROM large a LEFT JOIN wide b ON a.fp <-> b.fp <= 3 AND a.id = b.id UNION ALL
		SELECT NULL, id FROM wide b WHERE NOT EXISTS (SELECT FROM large a WHERE a.fp <-> b.fp <= 3 AND a.id = b.id)');
SELECT joins('SELECT id, fp FROM large', statement) FROM unnest(ARRAY[
	'DELETE FROM large a WHERE EXISTS (SELECT FROM wide b WHERE a.fp <-> b.fp <= 3 AND a.id < b.id)',
	'UPDATE large a SET id = 0 FROM wide b WHERE a.fp <-> b.fp <= 3 AND a.id <> b.id AND b.id < 2100']) statement;
-- so many that they are divided, by each part of the fingerprints anew; a file that
-- is left open when a statement ends is a warning
CREATE TABLE many AS SELECT * FROM many_uniform(2800);
ANALYZE many;
SELECT joins(query), work_of(query) FROM unnest(ARRAY[
	'SELECT a.id, b.id AS other FROM many a JOIN many b ON a.fp <-> b.fp <= 5 AND a.id <> b.id',
	'SELECT a.id FROM many a WHERE NOT EXISTS (SELECT FROM many b WHERE a.fp <-> b.fp <= 5 AND a.id <> b.id)']) query;
SET enable_nestloop = off;
SELECT count(*) FROM (SELECT FROM many a JOIN many b ON a.fp <-> b.fp <= 5 LIMIT 1) s;
-- the tuples of equal fingerprints are read from their file to a cache, not for each pair;
-- what several processes divide may need no file
CREATE FUNCTION shown(query text, what text) RETURNS int LANGUAGE plpgsql SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	RETURN plan->0->'Plan'->>what;
END $$;
SELECT shown(query, 'Temp Read Blocks') BETWEEN 1 AND 300000 AS in_cache FROM unnest(ARRAY[
	'SELECT FROM equal a JOIN equal b ON a.fp <-> b.fp <= 3 AND a.id < b.id',
	'SELECT FROM equal a JOIN (SELECT id + 1 AS id, fp FROM equal) b ON a.fp <-> b.fp <= 3 AND a.id * 3 < b.id',
	'SELECT FROM equal a WHERE NOT EXISTS (SELECT FROM equal b WHERE a.fp <-> b.fp <= 3 AND a.id > b.id + 3000)']) query;
-- nor those of many fingerprints that are near each other
CREATE TABLE nearby AS SELECT id, hashint8extended(id, 1)::simhash64 AS fp FROM generate_series(1, 10000) id UNION ALL
SELECT -i, ((1::bigint << i % 32) # (1::bigint << 32 + i / 32))::simhash64 FROM generate_series(0, 799) i;
ANALYZE nearby;
SET work_mem = '512kB';
SELECT shown(query, 'Temp Read Blocks') BETWEEN 1 AND 100000 AS cached FROM unnest(ARRAY[
	'SELECT FROM nearby a JOIN nearby b ON a.fp <-> b.fp <= 4 AND a.id < b.id',
	'SELECT FROM nearby a JOIN (SELECT id + 1 AS id, fp FROM nearby) b ON a.fp <-> b.fp <= 4 AND a.id * 3 < b.id']) query;
SET work_mem = '64kB';
DROP TABLE nearby;
-- partitions of one part of the fingerprints at a time are on disk
SELECT count(*) AS queries, count(DISTINCT disk) AS sizes, min(disk) > 0 AS has_files FROM unnest(ARRAY[1, 3, 5]) k,
	shown('SELECT FROM many a JOIN many b ON a.fp <-> b.fp <= ' || k || ' AND a.id < b.id', 'Disk Usage') disk;
DROP FUNCTION shown;
-- tuples that have gone to a file take no memory
SET work_mem = '1MB';
WITH wide AS MATERIALIZED (SELECT fp, repeat('x', 1000) AS body FROM many)
SELECT bytes BETWEEN 1 AND 1024 * 1024 AS within_memory, length(bodies) FROM (
	SELECT (SELECT sum(total_bytes) FROM pg_backend_memory_contexts
		WHERE name = 'HammingJoin' AND a.fp IS NOT NULL) AS bytes, a.body || b.body AS bodies
	FROM wide a JOIN wide b ON a.fp <-> b.fp <= 5 LIMIT 1) s;
RESET enable_nestloop;
RESET work_mem;
RESET hash_mem_multiplier;
-- nothing to read, or nothing to pair
SELECT query, work_of(query) FROM unnest(ARRAY['SELECT FROM a JOIN b ON a.fp <-> b.fp <= -1',
	'SELECT FROM a JOIN empty b ON a.fp <-> b.fp <= 64', 'SELECT FROM a LEFT JOIN empty b ON a.fp <-> b.fp <= 64',
	'SELECT FROM a JOIN only_null b ON a.fp <-> b.fp <= 64']) query;
-- k is computed where both sides have rows
SELECT joins(format(query, x, y), NULL, format(replace(query, 'FULL', kind), x, y)), format(query, x, y) AS query
FROM (VALUES ('a', 'empty', 'LEFT'), ('empty', 'a', 'RIGHT'), ('empty', 'empty', 'LEFT')) v (x, y, kind), unnest(ARRAY[
	'SELECT x.id, y.id AS other FROM %s x JOIN %s y ON x.fp <-> y.fp <= 1 / (SELECT count(*) FROM empty)',
	'SELECT x.id, y.id AS other FROM %s x LEFT JOIN %s y ON x.fp <-> y.fp <= 1 / (SELECT count(*) FROM empty)',
	'SELECT x.id, y.id AS other FROM %s x FULL JOIN %s y ON x.fp <-> y.fp <= 1 / (SELECT count(*) FROM empty)',
	'SELECT x.id FROM %s x WHERE EXISTS (SELECT FROM %s y WHERE x.fp <-> y.fp <= 1 / (SELECT count(*) FROM empty))',
	'SELECT x.id FROM %s x WHERE NOT EXISTS (SELECT FROM %s y
		WHERE x.fp <-> y.fp <= 1 / (SELECT count(*) FROM empty))'])
	query;
SELECT joins('SELECT i, (SELECT sum(x.id + y.id) FROM (SELECT * FROM a WHERE id < i * 30) x
	JOIN b y ON x.fp <-> y.fp <= 2 / i)
	FROM unnest(ARRAY[2, 0, 1]) i');
SELECT error_of('SELECT FROM a JOIN b ON a.fp <-> b.fp <= 1 / (SELECT count(*) FROM empty)');

DROP TABLE large, wide, equal, many;
DROP FUNCTION check_large, work_of;
\set ECHO none
\set drop :directory '/sql/include/join_drop.sql'
\i :drop
