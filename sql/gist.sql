-- The GiST index gives exactly the rows of a sequential scan.

CALL make_tables();
-- sorted build
CALL for_each_table('CREATE INDEX %1$s_fp ON %1$s USING gist (fp)');
SELECT tab, check_index(tab) FROM tables;
CALL change_tables();
SELECT tab, check_index(tab) FROM tables;
VACUUM uniform, skewed, duplicates, half_bits, one_block, ascending, descending, extremes;
SELECT tab, check_index(tab) FROM tables;
-- row by row
CALL refill_tables();
SELECT tab, check_index(tab) FROM tables;
-- rebuilt by insertion, without sorting
CALL for_each_table('DROP INDEX %1$s_fp');
CALL for_each_table('CREATE INDEX %1$s_fp ON %1$s USING gist (fp) WITH (buffering = on)');
SELECT tab, check_index(tab) FROM tables;
REINDEX INDEX CONCURRENTLY uniform_fp;
REINDEX TABLE skewed;
SELECT tab, check_index(tab) FROM tables WHERE tab IN ('uniform', 'skewed');

-- 100,000 equal fingerprints, inserted one by one and sorted
CREATE TABLE equal (id int, fp simhash64);
CREATE INDEX equal_fp ON equal USING gist (fp);
INSERT INTO equal SELECT i, '0123456789abcdef' FROM generate_series(1, 100000) i;
SET enable_seqscan = off;
SELECT count(*) FROM equal WHERE fp % '0123456789abcdee';
REINDEX INDEX equal_fp;
SELECT count(*) FROM equal WHERE fp % '0123456789abcdee';
SELECT count(*) FROM equal WHERE fp % '0123456789abcde0';
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

-- index-only scans, INCLUDE
CREATE INDEX uniform_include ON uniform USING gist (fp) INCLUDE (id);
DROP INDEX uniform_fp;
VACUUM ANALYZE uniform;
SET enable_bitmapscan = off;
SET enable_seqscan = off;
SELECT index_use($$SELECT id, fp FROM uniform WHERE fp <-> '0123456789abcdef' <= 20$$);
SELECT same_rows($$SELECT id, fp FROM uniform WHERE fp <-> '0123456789abcdef' <= 20$$);
SELECT same_rows($$SELECT id, fp FROM uniform WHERE fp <-> '0123456789abcdef' <= 64$$);
-- NULLs come last
SELECT count(*), count(fp) FROM (SELECT fp FROM uniform
	ORDER BY fp <-> '0123456789abcdef') s;
SELECT fp IS NULL AS null_last FROM (SELECT fp, row_number() OVER () FROM (SELECT fp
	FROM uniform ORDER BY fp <-> '0123456789abcdef') s) t ORDER BY row_number DESC LIMIT 1;
SELECT index_use('SELECT id FROM uniform WHERE fp IS NULL');
SELECT same_rows('SELECT id FROM uniform WHERE fp IS NULL');
RESET enable_bitmapscan;
RESET enable_seqscan;

-- multicolumn, with btree_gist
CREATE EXTENSION btree_gist;
CREATE TABLE tenants AS SELECT id, id % 20 AS tenant, fp FROM uniform;
CREATE INDEX ON tenants USING gist (tenant, fp);
SET enable_seqscan = off;
SELECT index_use($$SELECT id FROM tenants
	WHERE tenant = 3 AND fp <-> '0123456789abcdef' <= 24$$);
SELECT same_rows($$SELECT id FROM tenants
	WHERE tenant = 3 AND fp <-> '0123456789abcdef' <= 24$$);
SELECT index_use($$SELECT id FROM tenants WHERE tenant = 3
	ORDER BY fp <-> '0123456789abcdef' LIMIT 3$$);
RESET enable_seqscan;
DROP TABLE tenants;
DROP EXTENSION btree_gist;

-- the table itself refuses near-duplicates
CREATE TABLE refusing (id int, fp simhash64,
	CONSTRAINT no_near_duplicate EXCLUDE USING gist (fp WITH %));
INSERT INTO refusing VALUES (1, '00000000000000ff'), (2, '000000000000000f'), (3, NULL),
	(4, NULL);
INSERT INTO refusing VALUES (5, '00000000000000f8');
INSERT INTO refusing VALUES (5, '00000000000000f8') ON CONFLICT DO NOTHING;
UPDATE refusing SET fp = '0000000000000007' WHERE id = 2;
UPDATE refusing SET fp = '00000000000000fe' WHERE id = 2;
TABLE refusing;
DROP TABLE refusing;

CALL for_each_table('DROP TABLE %1$s');
