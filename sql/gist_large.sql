-- The GiST index gives exactly the rows of a sequential scan, of
-- more rows and within every radius.

\set type simhash64
\set method gist
-- a sorted build, and one by insertion
\set options ''
\set other_options 'WITH (buffering = on)'
SELECT array(SELECT generate_series(-1, 65)) AS radii \gset
\getenv directory PG_ABS_SRCDIR
\set life :directory '/sql/index_life.sql'
\i :life
CALL for_each_table('DROP TABLE %1$s');

-- 100,000 equal fingerprints, inserted one by one and sorted
CREATE TABLE equal (id int, fp simhash64);
CREATE INDEX equal_fp ON equal USING gist (fp);
INSERT INTO equal SELECT i, '0123456789abcdef' FROM generate_series(1, 100000) i;
SET enable_seqscan = off;
SELECT count(*) FROM equal WHERE fp % '0123456789abcd10';
REINDEX INDEX equal_fp;
SELECT count(*) FROM equal WHERE fp % '0123456789abcd10';
SELECT count(*) FROM equal WHERE fp % '0123456789abcc10';
SELECT count(*), min(d) FROM (SELECT fp <-> '0123456789abcde0' AS d FROM equal
	ORDER BY fp <-> '0123456789abcde0' LIMIT 50000) s;
RESET enable_seqscan;
DROP TABLE equal;

-- A search within 3 reads at most 10 % of the pages of an index on a million
-- uniform rows, after row-by-row inserts and after a sorted build.
CREATE FUNCTION pages_read(q simhash64) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL jit = off;
	EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON)
		SELECT FROM million WHERE fp <-> %L <= 3', q) INTO plan;
	plan := plan->0->'Plan'->'Plans'->0;
	IF plan->>'Index Name' IS DISTINCT FROM 'million_fp' THEN RAISE 'no index'; END IF;
	RETURN (plan->>'Shared Hit Blocks')::int + (plan->>'Shared Read Blocks')::int;
END $$;
CREATE TABLE million (fp simhash64);
CREATE INDEX million_fp ON million USING gist (fp);
CREATE VIEW reads AS
SELECT count(*) AS searches, avg(pages_read(substr(md5('q' || i), 1, 16)::simhash64))
	<= 0.1 * pg_relation_size('million_fp') / current_setting('block_size')::int AS few
FROM generate_series(1, 20) i;
INSERT INTO million SELECT substr(md5(i::text), 1, 16)::simhash64
FROM generate_series(1, 1000000) i;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
TABLE reads;
REINDEX INDEX million_fp;
TABLE reads;
RESET enable_indexscan;
RESET enable_indexonlyscan;
DROP VIEW reads;
DROP TABLE million;
DROP FUNCTION pages_read;
