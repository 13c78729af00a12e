-- What needs many rows, beside the comparisons of the other tests of script/soak compare.
\pset format unaligned \pset tuples_only on \set ECHO none

-- GiST: 20,000 equal fingerprints, inserted one by one and sorted
CREATE TABLE equal (id int, fp simhash64);
CREATE INDEX equal_fp ON equal USING gist (fp);
INSERT INTO equal SELECT i, '0123456789abcdef' FROM generate_series(1, 20000) i;
SET enable_seqscan = off;
SELECT count(*) FROM equal WHERE fp % '0123456789abcd10';
REINDEX INDEX equal_fp;
SELECT count(*) FROM equal WHERE fp % '0123456789abcd10';
SELECT count(*) FROM equal WHERE fp % '0123456789abcc10';
SELECT count(*), min(d) FROM (SELECT fp <-> '0123456789abcde0' AS d FROM equal
	ORDER BY fp <-> '0123456789abcde0' LIMIT 15000) s;
RESET enable_seqscan;
DROP TABLE equal;

-- GiST: a search within 3 reads at most 20 % of the pages of an index on 200,000
-- uniform rows, after row-by-row inserts and after a sorted build.
CREATE FUNCTION pages_read(q simhash64) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL jit = off;
	EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON)
		SELECT FROM pages WHERE fp <-> %L <= 3', q) INTO plan;
	plan := plan->0->'Plan'->'Plans'->0;
	IF plan->>'Index Name' IS DISTINCT FROM 'pages_fp' THEN RAISE 'no index'; END IF;
	RETURN (plan->>'Shared Hit Blocks')::int + (plan->>'Shared Read Blocks')::int;
END $$;
CREATE TABLE pages (fp simhash64);
CREATE INDEX pages_fp ON pages USING gist (fp);
CREATE VIEW reads AS
SELECT count(*) AS searches, avg(pages_read(substr(md5('q' || i), 1, 16)::simhash64))
	<= 0.2 * pg_relation_size('pages_fp') / current_setting('block_size')::int AS few
FROM generate_series(1, 20) i;
INSERT INTO pages SELECT substr(md5(i::text), 1, 16)::simhash64
FROM generate_series(1, 200000) i;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
TABLE reads;
REINDEX INDEX pages_fp;
TABLE reads;
RESET enable_indexscan;
RESET enable_indexonlyscan;
DROP VIEW reads;
DROP TABLE pages;
DROP FUNCTION pages_read;

-- A hamming index: 100,000 equal fingerprints, inserted one by one and sorted, also equal NULLs
CREATE TABLE equal (id int, fp simhash64) WITH (autovacuum_enabled = off);
CREATE INDEX equal_fp ON equal USING hamming (fp);
INSERT INTO equal SELECT i, CASE WHEN i <= 100000 THEN '0123456789abcdef'::simhash64 END
FROM generate_series(1, 130000) i;
SELECT hamming_index_check('equal_fp');
-- full pages: the keys ascend
SELECT rows, nulls, fingerprints, pages, largest_block FROM hamming_index_stats('equal_fp');
SET enable_seqscan = off;
SELECT count(*) FROM equal WHERE fp % '0123456789abcd10';
SELECT count(*) FROM equal WHERE fp IS NULL;
REINDEX INDEX equal_fp;
SELECT hamming_index_check('equal_fp');
SELECT count(*) FROM equal WHERE fp % '0123456789abcd10';
SELECT count(*) FROM equal WHERE fp % '0123456789abcc10';
SELECT count(*), min(d), max(d) FROM (SELECT fp <-> '0123456789abcde0' AS d FROM equal
	ORDER BY fp <-> '0123456789abcde0' LIMIT 50000) s;
-- the pages of rows that are gone are used again
DELETE FROM equal;
VACUUM equal;
SELECT rows, fingerprints, pages - free_pages AS used FROM hamming_index_stats('equal_fp');
INSERT INTO equal SELECT i, '0123456789abcdef' FROM generate_series(1, 100000) i;
SELECT hamming_index_check('equal_fp');
SELECT count(*) FROM equal WHERE fp % '0123456789abcd10';
RESET enable_seqscan;
DROP TABLE equal;

-- A table whose rows are all replaced 8 times, while what they have in common
-- moves, keeps its indexes below twice the size of new ones.
CREATE TABLE churned (id int, fp simhash64,
	wide simhash128 GENERATED ALWAYS AS ((fp::text || reverse(fp::text))::simhash128) STORED) WITH (autovacuum_enabled = off);
CREATE FUNCTION churned_fp(round int, i int) RETURNS simhash64 LANGUAGE sql AS $$
	SELECT ((round::bigint << 59) # (round::bigint << 43) #
		(('x' || substr(md5(round || ' ' || i), 1, 16))::bit(64)::bigint & x'07ffffffffffffff'::bigint))::simhash64
$$;
INSERT INTO churned SELECT i, churned_fp(0, i) FROM generate_series(1, 12000) i;
CREATE INDEX churned_3 ON churned USING hamming (fp) WITH (blocks = 3);
CREATE INDEX churned_8 ON churned USING hamming (fp) WITH (blocks = 8, fillfactor = 50);
CREATE INDEX churned_wide_4 ON churned USING hamming (wide) WITH (blocks = 4, fillfactor = 100);
CREATE INDEX churned_wide_8 ON churned USING hamming (wide) WITH (blocks = 8);
CREATE VIEW churned_stats AS SELECT c.oid::regclass::text AS index, s.*
FROM pg_class c, hamming_index_stats(c.oid) s WHERE relname ~ '^churned_.*\d$';
CREATE TABLE fresh AS SELECT index, pages FROM churned_stats;
SELECT format(statement, part * 2400 + 1, (part + 1) * 2400, round)
FROM generate_series(1, 8) round, generate_series(0, 4) part, (VALUES
	(1, 'DELETE FROM churned WHERE id BETWEEN %1$s AND %2$s'),
	(2, 'VACUUM (INDEX_CLEANUP on) churned'),
	(3, 'INSERT INTO churned SELECT i, churned_fp(%3$s, i)
		FROM generate_series(%1$s, %2$s) i')) s(step, statement)
ORDER BY round, part, step \gexec
SELECT index, rows, fingerprints, blocks, s.pages < 2 * fresh.pages AS small,
	hamming_index_check(index) FROM churned_stats s JOIN fresh USING (index) ORDER BY 1;
DROP VIEW churned_stats;
DROP TABLE churned, fresh;
DROP FUNCTION churned_fp;

-- tuples of 9 million bytes, in memory and in files
CREATE TABLE few AS SELECT * FROM many_uniform(9);
SET enable_nestloop = off;
SET work_mem = '64kB';
SELECT sum(length(b.body)) FROM few a JOIN (SELECT id, fp, id || repeat('x', 9000000 + id) AS body
	FROM few WHERE id < 4 OFFSET 0) b ON a.fp <-> b.fp <= 3 AND octet_length(b.body) > a.id;
SET work_mem = '64MB';
SELECT sum(length(b.body)) FROM few a JOIN (SELECT id, fp, id || repeat('x', 9000000 + id) AS body
	FROM few WHERE id < 4 OFFSET 0) b ON a.fp <-> b.fp <= 3 AND octet_length(b.body) > a.id;
RESET work_mem;
RESET enable_nestloop;
DROP TABLE few;

-- Clusters: a ball, and the sphere around it, 8 bits away: they meet in one pair
WITH words AS MATERIALIZED (SELECT i, bit_count(i::bit(14)) AS ones,
		row_number() OVER (PARTITION BY bit_count(i::bit(14)) ORDER BY i) AS n
	FROM generate_series(0, 16383) i)
SELECT part, count(*), max(within8) AS within8, max(within7) AS within7 FROM (
	SELECT part, simhash_cluster(fp, 8) OVER w AS within8, simhash_cluster(fp, 7) OVER w AS within7
	FROM generate_series(1, 5) part, LATERAL (
		SELECT i::bigint::simhash64 AS fp FROM words WHERE ones < 5 OR ones = 5 AND n = part * 400
		UNION ALL SELECT (i + (255::bigint << 20))::simhash64 FROM words WHERE ones = 5) s
	WINDOW w AS (PARTITION BY part)) s
GROUP BY part ORDER BY part;
-- a path of steps of one bit, from an end and from anywhere
SELECT * FROM clusters_of_path(100000);
