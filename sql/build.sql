-- CREATE INDEX: in memory and on disk, by one process and by several.
\pset format unaligned \pset tuples_only on \set ECHO queries

\set type simhash64
\set radii '{0, 3, 8, 20}'
\getenv directory PG_ABS_SRCDIR
\set index_build :directory '/sql/include/index_build.sql'
\i :index_build

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

-- a sort of many digits keeps to the stack
CREATE TABLE deep AS SELECT (1::bigint << i % 64)::simhash64 AS fp FROM generate_series(1, 30000) i;
SET max_stack_depth = '100kB';
\set VERBOSITY terse
CREATE INDEX deep_fp ON deep USING hamming (fp);
\set VERBOSITY default
RESET max_stack_depth;
CREATE INDEX deep_fp ON deep USING hamming (fp);
SELECT hamming_index_check('deep_fp');
DROP TABLE deep;

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
DROP FUNCTION state_of;
