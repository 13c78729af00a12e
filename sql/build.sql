-- CREATE INDEX: in memory and on disk, by one process and by several.

-- A third of the rows have fingerprints of their own, a third one of 50, a third
-- one of 1000 that differ in the last bits only.  Some have none.
CREATE TABLE built AS SELECT i AS id,
	CASE WHEN i % 40 = 0 THEN NULL
		WHEN i % 3 = 0 THEN substr(md5(i::text), 1, 16)::simhash64
		WHEN i % 3 = 1 THEN substr(md5((i % 50)::text), 1, 16)::simhash64
		ELSE (i % 1000)::bigint::simhash64 END AS fp
FROM generate_series(1, 60000) i;

-- The index has every row and passes its check, searches find what a scan finds,
-- and several processes have added pages, some of which are left, or not.
CREATE FUNCTION state_of(index regclass, radii int[] DEFAULT '{3}') RETURNS text
LANGUAGE sql AS $$
	SELECT hamming_index_check(index);
	SELECT format('%s rows, %s without fingerprint, %s blocks, %s%s', rows, nulls, blocks,
		check_index('built', radii), CASE WHEN free_pages > 0 THEN ', parallel' END)
	FROM hamming_index_stats(index)
$$;

-- in memory, and in more than 1 MB
SET max_parallel_maintenance_workers = 0;
CREATE INDEX built_fp ON built USING hamming (fp);
SELECT state_of('built_fp', '{0, 3, 8, 20}');
SELECT pages AS pages_in_memory FROM hamming_index_stats('built_fp') \gset
SET maintenance_work_mem = '1MB';
REINDEX INDEX built_fp;
SELECT state_of('built_fp', '{0, 3, 8, 20}');
SELECT pages = :pages_in_memory AS same FROM hamming_index_stats('built_fp');

-- by three processes
ALTER TABLE built SET (parallel_workers = 2);
SET max_parallel_maintenance_workers = 2;
REINDEX INDEX built_fp;
SELECT state_of('built_fp', '{0, 3, 8, 20}');
RESET maintenance_work_mem;
REINDEX INDEX built_fp;
SELECT state_of('built_fp', '{0, 3, 8, 20}');
REINDEX INDEX CONCURRENTLY built_fp;
SELECT state_of('built_fp');
ALTER INDEX built_fp SET (blocks = 3, fillfactor = 100);
REINDEX INDEX built_fp;
SELECT state_of('built_fp');
ALTER INDEX built_fp SET (blocks = 8, fillfactor = 10);
REINDEX INDEX built_fp;
SELECT state_of('built_fp');

-- rows can be inserted into what several processes have written, and deleted
INSERT INTO built SELECT i, substr(md5(i::text), 1, 16)::simhash64
FROM generate_series(60001, 65000) i;
DELETE FROM built WHERE id % 7 = 0;
VACUUM built;
SELECT hamming_index_check('built_fp'), check_index('built', '{3}');
DROP INDEX built_fp;

-- an expression and a predicate; in a worker as in the leader an error is one
CREATE FUNCTION half(fp simhash64) RETURNS simhash64 LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT AS $$
BEGIN
	IF fp = 999::bigint::simhash64 THEN RAISE 'not this one'; END IF;
	RETURN (fp::bigint & 4294967295)::simhash64;
END $$;
\set VERBOSITY terse
CREATE INDEX built_half ON built USING hamming (half(fp));
\set VERBOSITY default
CREATE INDEX built_half ON built USING hamming (half(fp)) WHERE id < 40000 AND fp <> 999::bigint::simhash64;
SELECT hamming_index_check('built_half');
SELECT same_rows('SELECT id FROM built WHERE id < 40000 AND fp <> 999::bigint::simhash64
	AND half(fp) <-> half(5::bigint::simhash64) <= 3');
DROP INDEX built_half;

-- where no worker starts, or may not: the leader alone
SET max_parallel_workers = 0;
CREATE INDEX built_fp ON built USING hamming (fp);
SELECT state_of('built_fp');
RESET max_parallel_workers;
CREATE TEMP TABLE built_temp WITH (parallel_workers = 2) AS SELECT * FROM built WHERE id < 10000;
CREATE INDEX built_temp_fp ON built_temp USING hamming (fp);
SELECT hamming_index_check('built_temp_fp'), check_index('built_temp', '{3}');
DROP TABLE built_temp;

-- an unlogged table; one fingerprint, one leaf and none
DROP INDEX built_fp;
ALTER TABLE built SET UNLOGGED;
CREATE INDEX built_fp ON built USING hamming (fp);
SELECT state_of('built_fp');
DROP INDEX built_fp;
UPDATE built SET fp = 'ffffffffffffffff';
VACUUM FULL built;
CREATE INDEX built_fp ON built USING hamming (fp);
SELECT hamming_index_check('built_fp'), check_index('built', '{0, 3}');
DELETE FROM built WHERE id > 100;
VACUUM built;
REINDEX INDEX built_fp;
SELECT hamming_index_check('built_fp'), check_index('built', '{0, 3}');
UPDATE built SET fp = NULL;
REINDEX INDEX built_fp;
SELECT hamming_index_check('built_fp');
SELECT rows, nulls FROM hamming_index_stats('built_fp');
TRUNCATE built;
REINDEX INDEX built_fp;
SELECT hamming_index_check('built_fp');
SELECT rows, nulls, blocks FROM hamming_index_stats('built_fp');
RESET max_parallel_maintenance_workers;
DROP TABLE built;
