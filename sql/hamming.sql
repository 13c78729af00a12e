-- The hamming index gives exactly the rows of a sequential scan.

\set VERBOSITY terse
\set method hamming
-- small pages make high tables; each table has other numbers of blocks
\set options 'WITH (fillfactor = 10, blocks = %2$s)'
\set other_options 'WITH (blocks = %3$s)'
\set radii '{-1,0,1,3,6,16,64}'
\getenv directory PG_ABS_SRCDIR
\set life :directory '/sql/index_life.sql'
\i :life

-- conditions, also several, and orders
VACUUM ANALYZE uniform;
SET enable_seqscan = off;
SET jit = off;
SELECT fp AS q FROM uniform WHERE fp IS NOT NULL ORDER BY id LIMIT 1 \gset
SELECT form, proves(format('SELECT id FROM uniform ' || form, :'q'))
FROM (VALUES ('WHERE fp = %L'), ('WHERE fp %% %L'), ('WHERE fp IS NULL'),
	('WHERE fp IS NOT NULL'), ('WHERE fp IS NULL AND fp %% %L'),
	('WHERE fp IS NOT NULL AND fp <-> %L <= 20'),
	('WHERE fp <-> %1$L <= 26 AND fp <-> ''00000000ffffffff'' <= 28'),
	('WHERE fp <-> %1$L <= 30 AND fp <-> ''00000000ffffffff'' <= 24'),
	('WHERE fp <-> %1$L <= 30 AND fp <-> %1$L <= -1'),
	('WHERE fp = %1$L AND fp %% %1$L'), ('WHERE fp = ANY (ARRAY[%1$L, NULL]::simhash64[])'),
	('WHERE fp = NULL'), ('WHERE fp <@ NULL')) f(form);
SET enable_bitmapscan = off;
SELECT form, proves(format('SELECT id FROM uniform ' || form, :'q'))
FROM (VALUES ('WHERE fp = %L'), ('WHERE fp %% %L'), ('WHERE fp IS NULL'),
	('WHERE fp IS NOT NULL'), ('WHERE fp <-> %L <= 24'),
	('WHERE fp <-> %1$L <= 26 AND fp <-> ''00000000ffffffff'' <= 28')) f(form);

-- whole orders: the same distances as those of a sort, NULL last
CREATE FUNCTION same_order(query text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	by_index int[];
	by_sort int[];
BEGIN
	EXECUTE format('SELECT array_agg(d) FROM (%s) s', query) INTO by_index;
	EXECUTE format('SELECT array_agg(d ORDER BY d) FROM (%s) s', query) INTO by_sort;
	RETURN by_index IS NOT DISTINCT FROM by_sort;
END $$;
SELECT index_use('SELECT id FROM uniform ORDER BY fp <-> ''0123456789abcdef''');
SELECT form, same_order('SELECT fp <-> ''0123456789abcdef'' AS d FROM ' || form
	|| ' ORDER BY fp <-> ''0123456789abcdef''') AS same
FROM (VALUES ('uniform'), ('skewed'), ('duplicates'), ('extremes'), ('only_null'), ('empty'),
	('uniform WHERE fp <-> ''0123456789abcdef'' <= 22'),
	('uniform WHERE fp <-> ''0123456789abcd00'' <= 24'),
	('uniform WHERE fp <-> ''fedcba9876543210'' <= 40'),
	('uniform WHERE fp IS NULL'), ('uniform WHERE fp IS NOT NULL'),
	('uniform WHERE id % 2 = 0')) f(form);
SELECT same_rows('SELECT id FROM uniform ORDER BY fp <-> ''0123456789abcdef''');
-- by distances that are all NULL
SELECT count(*) FROM index_use('SELECT id FROM uniform
	ORDER BY fp <-> (SELECT NULL::simhash64)') line WHERE line LIKE 'Order By%';
SELECT same_rows('SELECT id FROM uniform ORDER BY fp <-> (SELECT NULL::simhash64)');
-- two distances
SELECT count(*), bool_and((a, b) >= (pa, pb)) AS ordered FROM (
	SELECT a, b, lag(a) OVER () AS pa, lag(b) OVER () AS pb FROM (
	SELECT fp <~> '0123456789abcdef' AS a, fp <~> 'ffff000000000000' AS b FROM uniform
	WHERE fp IS NOT NULL ORDER BY fp <-> '0123456789abcdef', fp <-> 'ffff000000000000') s) t;
-- more than work_mem holds
SET work_mem = '64kB';
CREATE TABLE many AS SELECT i AS id, substr(md5((i % 7000)::text), 1, 16)::simhash64 AS fp
FROM generate_series(1, 40000) i;
CREATE INDEX many_fp ON many USING hamming (fp);
ANALYZE many;
SELECT index_use('SELECT id FROM many ORDER BY fp <-> ''0123456789abcdef''');
SELECT same_order('SELECT fp <-> ''0123456789abcdef'' AS d FROM many
	ORDER BY fp <-> ''0123456789abcdef''');
SELECT count(DISTINCT id) FROM (SELECT id FROM many ORDER BY fp <-> '0123456789abcdef') s;
RESET work_mem;

-- cursors, forward and back, and closed early
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT fp <-> '0123456789abcdef' AS d FROM many
	ORDER BY fp <-> '0123456789abcdef';
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
MOVE ABSOLUTE 30000 IN c;
FETCH RELATIVE 0 FROM c;
DECLARE n CURSOR FOR SELECT id FROM many WHERE fp <-> '0123456789abcdef' <= 32;
MOVE 1000 IN n;
COMMIT;
-- no column is wanted, and yet no index-only scan
EXPLAIN (COSTS OFF) SELECT count(*) FROM many;
SELECT count(*) FROM many;
RESET enable_bitmapscan;
RESET enable_seqscan;

-- what the planner chooses: as long as few rows match, the index
SET effective_cache_size = '4GB';
SELECT k, index_use(format('SELECT id FROM many WHERE fp <-> %L <= %s',
	'0123456789abcdef', k))
FROM unnest('{0, 3, 10, 20, 32, 64}'::int[]) k;
-- and of two indexes the better one
CREATE INDEX many_gist ON many USING gist (fp);
VACUUM ANALYZE many;
CREATE FUNCTION index_names(query text) RETURNS SETOF text LANGUAGE sql AS
	$$SELECT substring(line FROM 'many_\w+') FROM plan_lines(query, 'many_') line$$;
SELECT form, index_names('SELECT id FROM many ' || form)
FROM (VALUES ('WHERE fp <-> ''0123456789abcdef'' <= 0'),
	('WHERE fp <-> ''0123456789abcdef'' <= 3'), ('WHERE fp <-> ''0123456789abcdef'' < 11'),
	('WHERE fp <-> ''0123456789abcdef'' <= 16'), ('WHERE fp % ''0123456789abcdef'''),
	('ORDER BY fp <-> ''0123456789abcdef'' LIMIT 10'),
	('ORDER BY fp <-> ''0123456789abcdef'' LIMIT 500'),
	('WHERE fp <-> ''0123456789abcdef'' <= 12 ORDER BY fp <-> ''0123456789abcdef'' LIMIT 3'))
	f(form);
SELECT index_names('SELECT count(*) FROM many WHERE fp <-> ''0123456789abcdef'' <= 3');
DROP TABLE many;

-- parallel plans around it
CREATE TABLE outer_rows AS SELECT id, fp FROM uniform;
ALTER TABLE outer_rows SET (parallel_workers = 2);
ANALYZE outer_rows;
SET simhash.enable_hammingjoin = off;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT count(*) FROM outer_rows o JOIN uniform u ON u.fp <-> o.fp <= 3;
SELECT count(*) FROM outer_rows o JOIN uniform u ON u.fp <-> o.fp <= 3;
SELECT count(*) FROM outer_rows o JOIN uniform u ON u.fp <~> o.fp <= 3;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP TABLE outer_rows;

-- equal fingerprints, inserted one by one and sorted, also equal NULLs
CREATE TABLE equal (id int, fp simhash64) WITH (autovacuum_enabled = off);
CREATE INDEX equal_fp ON equal USING hamming (fp) WITH (blocks = 8);
INSERT INTO equal SELECT i, CASE WHEN i <= 10000 THEN '0123456789abcdef'::simhash64 END
FROM generate_series(1, 13000) i;
SELECT hamming_index_check('equal_fp');
REINDEX INDEX equal_fp;
SELECT hamming_index_check('equal_fp');
SET enable_seqscan = off;
SELECT count(*) FROM equal WHERE fp % '0123456789abcdee';
SELECT count(*) FROM equal WHERE fp IS NULL;
SELECT count(*), min(d), max(d) FROM (SELECT fp <-> '0123456789abcde0' AS d FROM equal
	ORDER BY fp <-> '0123456789abcde0' LIMIT 5000) s;
-- deleted in part: whole leaves, and some rows of the other ones
DELETE FROM equal WHERE id BETWEEN 2000 AND 6000 OR id % 3 = 0;
VACUUM equal;
SELECT rows, nulls, fingerprints FROM hamming_index_stats('equal_fp');
SELECT hamming_index_check('equal_fp');
SELECT count(*) FROM equal WHERE fp % '0123456789abcdee';
-- all but the last one, and that one
DELETE FROM equal WHERE id <> 10000;
VACUUM equal;
SELECT rows, nulls, fingerprints FROM hamming_index_stats('equal_fp');
SELECT hamming_index_check('equal_fp');
-- the pages of rows that are gone are free, and so are their fingerprints
DELETE FROM equal;
VACUUM (INDEX_CLEANUP on) equal;
SELECT rows, fingerprints, pages - free_pages AS used FROM hamming_index_stats('equal_fp');
SELECT hamming_index_check('equal_fp');
-- and come back
INSERT INTO equal SELECT i, '0123456789abcdef' FROM generate_series(1, 3000) i;
SELECT rows, fingerprints FROM hamming_index_stats('equal_fp');
SELECT hamming_index_check('equal_fp');
SELECT count(*) FROM equal WHERE fp % '0123456789abcdee';
RESET enable_seqscan;
DROP TABLE equal;

-- a look-up of many rows that ends early, and then that of another fingerprint
CREATE TABLE rescanned AS
SELECT i AS id, CASE WHEN i <= 5 THEN '123456789abcdef0'::simhash64
	WHEN i > 3000 THEN '0123456789abcdef' ELSE substr(md5(i::text), 1, 16)::simhash64 END AS fp
FROM generate_series(1, 6000) i;
CREATE INDEX rescanned_fp ON rescanned USING hamming (fp);
-- they differ in the first block, so that table 1 finds them
CREATE TABLE probes AS SELECT * FROM (VALUES (1, '0d23456789abcdef'::simhash64),
	(2, '1e3456789abcdef0')) v(n, fp);
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SELECT n, first.id > 3000 AS among_many, first.id <= 5 AS among_few
FROM (SELECT * FROM probes ORDER BY n) p LEFT JOIN LATERAL
	(SELECT id FROM rescanned WHERE fp <-> p.fp <= 3 LIMIT 1) first ON true;
SELECT n, EXISTS (SELECT FROM rescanned r WHERE r.fp <-> p.fp <= 3)
FROM (SELECT * FROM probes ORDER BY n) p;
RESET enable_bitmapscan;
RESET enable_seqscan;
DROP TABLE rescanned, probes;

-- every kind of table and index
CREATE UNLOGGED TABLE unlogged AS SELECT id, fp FROM uniform;
CREATE INDEX unlogged_fp ON unlogged USING hamming (fp);
CREATE TEMP TABLE temporary AS SELECT id, fp FROM uniform;
CREATE INDEX temporary_fp ON temporary USING hamming (fp);
INSERT INTO unlogged SELECT id + 10000, fp FROM uniform;
INSERT INTO temporary SELECT id + 10000, fp FROM uniform;
SELECT check_index('unlogged', :'radii'), check_index('temporary', :'radii');
SELECT hamming_index_check('unlogged_fp'), hamming_index_check('temporary_fp');
DROP TABLE unlogged, temporary;
SET allow_in_place_tablespaces = on;
CREATE TABLESPACE simhash_space LOCATION '';
ALTER INDEX skewed_fp SET TABLESPACE simhash_space;
SELECT check_index('skewed', :'radii');
ALTER INDEX skewed_fp SET TABLESPACE pg_default;
DROP TABLESPACE simhash_space;
CREATE TABLE parted (id int, fp simhash64) PARTITION BY HASH (id);
CREATE TABLE parted1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted2 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE INDEX parted_fp ON parted USING hamming (fp);
INSERT INTO parted SELECT id, fp FROM uniform;
SELECT check_index('parted', :'radii');
SELECT hamming_index_check('parted1_fp_idx');
-- made and filled in one transaction
BEGIN;
CREATE TABLE fresh (id int, fp simhash64);
CREATE INDEX fresh_fp ON fresh USING hamming (fp);
INSERT INTO fresh SELECT id, fp FROM uniform;
SAVEPOINT s;
INSERT INTO fresh SELECT id + 10000, fp FROM uniform;
ROLLBACK TO s;
COMMIT;
SELECT check_index('fresh', :'radii');
DROP TABLE parted, fresh;

-- exclusion constraints
CREATE TABLE refusing (id int, fp simhash64,
	CONSTRAINT no_near_duplicate EXCLUDE USING hamming (fp WITH %));
INSERT INTO refusing VALUES (1, '00000000000000ff'), (2, '000000000000000f'), (3, NULL),
	(4, NULL);
INSERT INTO refusing VALUES (5, '00000000000000f8');
INSERT INTO refusing VALUES (5, '00000000000000f8') ON CONFLICT DO NOTHING;
UPDATE refusing SET fp = '0000000000000007' WHERE id = 2;
UPDATE refusing SET fp = '00000000000000fe' WHERE id = 2;
TABLE refusing ORDER BY id;
DROP TABLE refusing;
CREATE TABLE refusing (fp simhash64, EXCLUDE USING hamming (fp WITH =));
INSERT INTO refusing VALUES ('00000000000000ff'), ('00000000000000fe'), (NULL), (NULL);
INSERT INTO refusing VALUES ('00000000000000ff');
DROP TABLE refusing;

-- options
CREATE INDEX bad ON uniform USING hamming (fp) WITH (fillfactor = 9);
CREATE INDEX bad ON uniform USING hamming (fp) WITH (fillfactor = 101);
CREATE INDEX bad ON uniform USING hamming (fp) WITH (blocks = 2);
CREATE INDEX bad ON uniform USING hamming (fp) WITH (blocks = 9);
CREATE INDEX bad ON uniform USING hamming (fp) WITH (pages_per_range = 2);
CREATE INDEX bad ON uniform USING hamming (fp, id);
CREATE INDEX bad ON uniform USING hamming (fp) INCLUDE (id);
CREATE UNIQUE INDEX bad ON uniform USING hamming (fp);
SELECT error_of('CREATE INDEX bad ON uniform USING hamming (fp DESC)');
CREATE INDEX bad ON uniform USING hamming (id);
ALTER INDEX uniform_fp SET (fillfactor = 10);
REINDEX INDEX uniform_fp;
SELECT * FROM hamming_index_stats('uniform_fp');
-- an index keeps its blocks until it is made again, also where that is undone
ALTER INDEX uniform_fp SET (blocks = 8);
INSERT INTO uniform SELECT 200000 + i, i::bigint::simhash64 FROM generate_series(1, 10) i;
BEGIN;
SELECT blocks, hamming_index_check('uniform_fp') FROM hamming_index_stats('uniform_fp');
SAVEPOINT before;
REINDEX INDEX uniform_fp;
INSERT INTO uniform SELECT 200000 + i, i::bigint::simhash64 FROM generate_series(11, 20) i;
SELECT blocks, hamming_index_check('uniform_fp') FROM hamming_index_stats('uniform_fp');
SELECT check_index('uniform', '{3}');
ROLLBACK TO before;
INSERT INTO uniform SELECT 200000 + i, i::bigint::simhash64 FROM generate_series(21, 30) i;
SELECT blocks, hamming_index_check('uniform_fp') FROM hamming_index_stats('uniform_fp');
SELECT check_index('uniform', '{3}');
COMMIT;
DELETE FROM uniform WHERE id > 200000;
-- emptied in place, where its table is of the same transaction
BEGIN;
CREATE TABLE emptied AS SELECT id, fp FROM uniform;
CREATE INDEX emptied_fp ON emptied USING hamming (fp);
SELECT check_index('emptied', '{3}');
ALTER INDEX emptied_fp SET (blocks = 7);
TRUNCATE emptied;
INSERT INTO emptied SELECT id, fp FROM uniform;
SELECT blocks, hamming_index_check('emptied_fp') FROM hamming_index_stats('emptied_fp');
SELECT check_index('emptied', '{3}');
ROLLBACK;
ALTER INDEX uniform_fp SET (fillfactor = 100);
REINDEX INDEX uniform_fp;
SELECT hamming_index_check('uniform_fp');
SELECT check_index('uniform', :'radii');

-- what PostgreSQL knows of it
SELECT phase, pg_indexam_progress_phasename(oid, phase)
FROM pg_am, generate_series(0, 22) phase WHERE amname = 'hamming';
SELECT property, pg_indexam_has_property(oid, property) AS method
FROM pg_am, unnest('{can_order,can_unique,can_multi_col,can_exclude,can_include}'::text[])
	property WHERE amname = 'hamming';
SELECT property, pg_index_column_has_property('uniform_fp', 1, property) AS of_column
FROM unnest('{orderable,distance_orderable,returnable,search_array,search_nulls}'::text[])
	property;
-- operator classes that are wrong
CREATE OPERATOR CLASS bad_ops FOR TYPE simhash64 USING hamming AS
	FUNCTION 1 simhash64_cmp(simhash64, simhash64);
CREATE OPERATOR CLASS bad_ops FOR TYPE simhash64 USING hamming AS OPERATOR 4 =,
	OPERATOR 15 <~> FOR ORDER BY integer_ops, OPERATOR 2 = (bigint, bigint);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'bad_ops';
DROP OPERATOR FAMILY bad_ops USING hamming;

-- inspection is for owners, and of hamming indexes
CREATE INDEX uniform_btree ON uniform (fp);
CREATE INDEX uniform_gist ON uniform USING gist (fp);
CREATE VIEW a_view AS SELECT 1 AS x;
SELECT error_of(format('SELECT %s(%L)', f, r))
FROM unnest('{hamming_index_stats,hamming_index_check}'::text[]) f,
	unnest('{uniform,uniform_btree,uniform_gist,a_view,nothing,4294967295}'::text[]) r;
SELECT hamming_index_stats(NULL), hamming_index_check(NULL);
CREATE ROLE simhash_stranger;
SET ROLE simhash_stranger;
SELECT error_of(format('SELECT %s(%L)', f, 'uniform_fp'))
FROM unnest('{hamming_index_stats,hamming_index_check}'::text[]) f;
RESET ROLE;
DROP ROLE simhash_stranger;
DROP VIEW a_view;
-- a relation without rows of its own: what to ask instead
\set VERBOSITY default
CREATE TABLE parted (fp simhash64) PARTITION BY LIST (fp);
CREATE INDEX parted_fp ON parted USING hamming (fp);
CREATE FOREIGN DATA WRAPPER elsewhere;
CREATE SERVER far FOREIGN DATA WRAPPER elsewhere;
CREATE FOREIGN TABLE shard PARTITION OF parted DEFAULT SERVER far;
SELECT hamming_index_stats('parted');
SELECT hamming_index_stats('parted_fp');
SELECT hamming_index_check('parted_fp');
SELECT hamming_index_stats('shard');
SELECT hamming_index_stats('uniform');
DROP TABLE parted;
DROP FOREIGN DATA WRAPPER elsewhere CASCADE;
-- where Citus distributes a table, its index here is empty
CREATE TABLE shell (fp simhash64);
CREATE INDEX shell_fp ON shell USING hamming (fp);
BEGIN;
SET LOCAL allow_system_table_mods = on;
INSERT INTO pg_extension
SELECT 1, 'citus', extowner, extnamespace, true, '13.0' FROM pg_extension
WHERE extname = 'simhash';
SELECT rows FROM hamming_index_stats('shell_fp');
SELECT hamming_index_check('shell_fp');
INSERT INTO shell VALUES ('0000000000000000');
SELECT rows FROM hamming_index_stats('shell_fp');
SELECT hamming_index_check('shell_fp');
ROLLBACK;
DROP TABLE shell;

CALL for_each_table('DROP TABLE %1$s');
DROP FUNCTION same_order, index_names;
