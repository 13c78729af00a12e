-- CREATE INDEX: in memory and on disk, by one process and by several.  For the tests
-- that include this file, which set the type and the radii.

SELECT 2 * typlen AS digits FROM pg_type WHERE oid = :'type'::regtype \gset
-- A third of the rows have fingerprints of their own, a third one of 50, a third
-- one of 1000 that differ in the last bits only.  Some have none.
CREATE TABLE built AS SELECT i AS id,
	(CASE WHEN i % 40 = 0 THEN NULL
		WHEN i % 3 = 0 THEN left(md5(i::text), :digits)
		WHEN i % 3 = 1 THEN left(md5((i % 50)::text), :digits)
		ELSE lpad(to_hex(i % 1000), :digits, '0') END):::type AS fp
FROM generate_series(1, 60000) i;

-- The index has every row and passes its check, searches find what a scan finds,
-- and no page is left over.
CREATE FUNCTION state_of(index regclass, radii int[] DEFAULT '{3}') RETURNS text
LANGUAGE sql AS $$
	SELECT hamming_index_check(index);
	SELECT format('%s rows, %s without fingerprint, %s blocks, %s%s', rows, nulls, blocks,
		check_index('built', radii), CASE WHEN free_pages > 0 THEN ', free pages' END)
	FROM hamming_index_stats(index)
$$;

-- in memory, and in more than 1 MB
SET max_parallel_maintenance_workers = 0;
CREATE INDEX built_fp ON built USING hamming (fp);
SELECT state_of('built_fp', :'radii');
CREATE TEMP TABLE in_memory AS SELECT pages FROM hamming_index_stats('built_fp');
SET maintenance_work_mem = '1MB';
REINDEX INDEX built_fp;
SELECT state_of('built_fp', :'radii');
SELECT s.pages = m.pages AS same FROM hamming_index_stats('built_fp') s, in_memory m;

-- by three processes
ALTER TABLE built SET (parallel_workers = 2);
SET max_parallel_maintenance_workers = 2;
REINDEX INDEX built_fp;
SELECT state_of('built_fp', :'radii');
SELECT s.pages = m.pages AS same FROM hamming_index_stats('built_fp') s, in_memory m;
RESET maintenance_work_mem;
REINDEX INDEX built_fp;
SELECT state_of('built_fp', :'radii');
REINDEX INDEX CONCURRENTLY built_fp;
SELECT state_of('built_fp');
ALTER INDEX built_fp SET (blocks = 3, fillfactor = 100);
REINDEX INDEX built_fp;
SELECT state_of('built_fp');
ALTER INDEX built_fp SET (blocks = 8, fillfactor = 10);
REINDEX INDEX built_fp;
SELECT state_of('built_fp');

-- rows can be inserted into what several processes have written, and deleted
INSERT INTO built SELECT i, left(md5(i::text), :digits):::type
FROM generate_series(60001, 65000) i;
DELETE FROM built WHERE id % 7 = 0;
VACUUM built;
SELECT hamming_index_check('built_fp'), check_index('built', '{3}');
DROP INDEX built_fp;
