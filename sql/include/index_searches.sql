-- What searches of an index of either type find and how they are planned, after its
-- life in index_life.sql.  For the tests that include this file, which also set the
-- radii whose plans are shown.

-- of random fingerprints few are within half of the bits less 12
SELECT 4 * :digits / 2 - 12 AS few, repeat('0123456789abcdef', :digits / 16) AS centre,
	repeat('00000000ffffffff', :digits / 16) AS other \gset
SELECT overlay(:'centre' PLACING 'e' FROM :digits) AS near,
	overlay(:'centre' PLACING '0' FROM :digits) AS far \gset

-- conditions, also several, and orders
VACUUM ANALYZE uniform;
SET enable_seqscan = off;
SET jit = off;
SELECT fp AS q FROM uniform WHERE fp IS NOT NULL ORDER BY id LIMIT 1 \gset
SELECT form, proves(format('SELECT id FROM uniform ' || form,
	:'q', :'other', :few, :'type'))
FROM (VALUES ('WHERE fp = %L'), ('WHERE fp %% %L'), ('WHERE fp IS NULL'),
	('WHERE fp IS NOT NULL'), ('WHERE fp IS NULL AND fp %% %L'),
	('WHERE fp IS NOT NULL AND fp <-> %1$L <= %3$s'),
	('WHERE fp <-> %1$L <= %3$s + 6 AND fp <-> %2$L <= %3$s + 8'),
	('WHERE fp <-> %1$L <= %3$s + 10 AND fp <-> %2$L <= %3$s + 4'),
	('WHERE fp <-> %1$L <= %3$s + 10 AND fp <-> %1$L <= -1'),
	('WHERE fp = %1$L AND fp %% %1$L'), ('WHERE fp = ANY (ARRAY[%1$L, NULL]::%4$s[])'),
	('WHERE fp = NULL'), ('WHERE fp <@ NULL')) f(form);
SET enable_bitmapscan = off;
SELECT form, proves(format('SELECT id FROM uniform ' || form,
	:'q', :'other', :few, :'type'))
FROM (VALUES ('WHERE fp = %L'), ('WHERE fp %% %L'), ('WHERE fp IS NULL'),
	('WHERE fp IS NOT NULL'), ('WHERE fp <-> %1$L <= %3$s + 4'),
	('WHERE fp <-> %1$L <= %3$s + 6 AND fp <-> %2$L <= %3$s + 8')) f(form);

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
SELECT index_use(format('SELECT id FROM uniform ORDER BY fp <-> %L', :'centre'));
SELECT form, same_order(format('SELECT fp <-> %1$L AS d FROM ' || form || ' ORDER BY fp <-> %1$L',
	:'centre', overlay(:'centre' PLACING '00' FROM :digits - 1), reverse(:'centre'), :few)) AS same
FROM (VALUES ('uniform'), ('skewed'), ('duplicates'), ('extremes'), ('only_null'), ('empty'),
	('uniform WHERE fp <-> %1$L <= %4$s + 2'),
	('uniform WHERE fp <-> %2$L <= %4$s + 4'),
	('uniform WHERE fp <-> %3$L <= %4$s + 20'),
	('uniform WHERE fp IS NULL'), ('uniform WHERE fp IS NOT NULL'),
	('uniform WHERE id %% 2 = 0')) f(form);
SELECT same_rows(format('SELECT id FROM uniform ORDER BY fp <-> %L', :'centre'));
-- by distances that are all NULL
SELECT count(*) FROM index_use(format('SELECT id FROM uniform
	ORDER BY fp <-> (SELECT NULL::%s)', :'type')) line WHERE line LIKE 'Order By%';
SELECT same_rows(format('SELECT id FROM uniform ORDER BY fp <-> (SELECT NULL::%s)', :'type'));
-- two distances, the second one also 0
SELECT fp AS second FROM uniform WHERE fp IS NOT NULL ORDER BY id LIMIT 1 \gset
SELECT count(*), bool_and((a, b) >= (pa, pb)) AS ordered, min(b) FROM (
	SELECT a, b, lag(a) OVER () AS pa, lag(b) OVER () AS pb FROM (
	SELECT fp <-># :'centre' AS a, fp <-># :'second' AS b FROM uniform
	WHERE fp IS NOT NULL ORDER BY fp <-> :'centre', fp <-> :'second') s) t;
-- more than work_mem holds
SET work_mem = '64kB';
CREATE TABLE many AS SELECT i AS id, left(md5((i % 7000)::text), :digits):::type AS fp
FROM generate_series(1, 40000) i;
CREATE INDEX many_fp ON many USING hamming (fp);
ANALYZE many;
SELECT index_use(format('SELECT id FROM many ORDER BY fp <-> %L', :'centre'));
SELECT same_order(format('SELECT fp <-> %1$L AS d FROM many ORDER BY fp <-> %1$L', :'centre'));
SELECT count(DISTINCT id) FROM (SELECT id FROM many ORDER BY fp <-> :'centre') s;
RESET work_mem;
-- as many at distance 0 as a round keeps, the first or the second one, and some at 6,
-- which the next one finds; before each a search that keeps others
CREATE TABLE rounds (fp :type);
INSERT INTO rounds SELECT left(md5(i::text), :digits):::type FROM generate_series(1, 5000) i;
INSERT INTO rounds SELECT flipped(left(md5('centre ' || n), :digits):::type,
	CASE WHEN i > n THEN (1 << 96 / :digits) - 1 ELSE 0 END)
FROM unnest('{255,256,257,4096,4352}'::int[]) n, generate_series(1, n + 10) i;
CREATE INDEX rounds_fp ON rounds USING hamming (fp) WITH (blocks = 4, fillfactor = 10);
VACUUM ANALYZE rounds;
SELECT n, same_rows(format('SELECT m, d
	FROM unnest(''{-%1$s,%1$s}''::int[]) m, left(md5(''centre '' || m), %2$s) centre,
		LATERAL (SELECT fp <-> centre::%3$s AS d FROM rounds
			ORDER BY fp <-> centre::%3$s LIMIT %1$s + 1000) s', n, :digits, :'type')) AS same
FROM unnest('{255,256,257,4096,4352}'::int[]) n;
-- the same, and the others are met after them, on other leaves
TRUNCATE rounds;
INSERT INTO rounds SELECT flipped(repeat('0', :digits):::type, CASE WHEN i > 256 THEN 1::bigint << 63 ELSE 0 END)
FROM generate_series(1, 260) i;
INSERT INTO rounds SELECT left(md5(i::text), :digits):::type FROM generate_series(1, 5000) i;
SELECT proves(format('SELECT fp FROM rounds WHERE fp <-> %1$L <= 3 ORDER BY fp <-> %1$L',
	repeat('0', :digits)));
DROP TABLE rounds;

-- cursors, forward and back, and closed early
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT fp <-> :'centre' AS d FROM many
	ORDER BY fp <-> :'centre';
FETCH 3 FROM c;
FETCH BACKWARD 2 FROM c;
MOVE ABSOLUTE 30000 IN c;
FETCH RELATIVE 0 FROM c;
DECLARE n CURSOR FOR SELECT id FROM many WHERE fp <-> :'centre' <= :few + 12;
MOVE 1000 IN n;
COMMIT;
-- no column is wanted, and yet no index-only scan
SELECT index_use('SELECT count(*) FROM many');
SELECT count(*) FROM many;
RESET enable_bitmapscan;
RESET enable_seqscan;

-- what the planner chooses: as long as few rows match, the index
SET effective_cache_size = '4GB';
SELECT k, index_use(format('SELECT id FROM many WHERE fp <-> %L <= %s',
	:'centre', k))
FROM unnest(:'plan_radii'::int[]) k;
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
SELECT count(*) FROM outer_rows o JOIN uniform u ON u.fp <-># o.fp <= 3;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP TABLE outer_rows;

-- equal fingerprints, inserted one by one and sorted, also equal NULLs
CREATE TABLE equal (id int, fp :type) WITH (autovacuum_enabled = off);
CREATE INDEX equal_fp ON equal USING hamming (fp) WITH (blocks = 8);
INSERT INTO equal SELECT i, CASE WHEN i <= 10000 THEN :'centre':::type END
FROM generate_series(1, 13000) i;
SELECT hamming_index_check('equal_fp');
REINDEX INDEX equal_fp;
SELECT hamming_index_check('equal_fp');
SET enable_seqscan = off;
SELECT count(*) FROM equal WHERE fp % :'near';
SELECT count(*) FROM equal WHERE fp IS NULL;
SELECT count(*), min(d), max(d) FROM (SELECT fp <-> :'far' AS d FROM equal
	ORDER BY fp <-> :'far' LIMIT 5000) s;
-- deleted in part: whole leaves, and some rows of the other ones
DELETE FROM equal WHERE id BETWEEN 2000 AND 6000 OR id % 3 = 0;
VACUUM equal;
SELECT rows, nulls, fingerprints, hamming_index_check('equal_fp') FROM hamming_index_stats('equal_fp');
SELECT count(*) FROM equal WHERE fp % :'near';
-- all but the last one, and that one
DELETE FROM equal WHERE id <> 10000;
VACUUM equal;
SELECT rows, nulls, fingerprints, hamming_index_check('equal_fp') FROM hamming_index_stats('equal_fp');
-- the pages of rows that are gone are free, and so are their fingerprints
DELETE FROM equal;
VACUUM (INDEX_CLEANUP on) equal;
SELECT rows, fingerprints, pages - free_pages AS used, hamming_index_check('equal_fp') FROM hamming_index_stats('equal_fp');
-- and come back
INSERT INTO equal SELECT i, :'centre':::type FROM generate_series(1, 3000) i;
SELECT rows, fingerprints, hamming_index_check('equal_fp') FROM hamming_index_stats('equal_fp');
SELECT count(*) FROM equal WHERE fp % :'near';
RESET enable_seqscan;
DROP TABLE equal;

-- VACUUM of more fingerprints than the memory for them has room for: no file, and none is left
CREATE TABLE swept (id int, fp :type) WITH (autovacuum_enabled = off);
INSERT INTO swept SELECT i, left(md5(i::text), :digits):::type FROM generate_series(1, 150000) i;
CREATE INDEX swept_fp ON swept USING hamming (fp);
SET maintenance_work_mem = '1MB';
SET temp_file_limit = 0;
DELETE FROM swept WHERE id > 1000;
VACUUM swept;
RESET temp_file_limit;
RESET maintenance_work_mem;
SELECT rows, fingerprints, hamming_index_check('swept_fp') FROM hamming_index_stats('swept_fp');
-- nothing reads pages that are free, and known to be
CREATE FUNCTION accesses(index regclass) RETURNS bigint LANGUAGE sql AS
	$$ SELECT idx_blks_read + idx_blks_hit FROM pg_statio_all_indexes WHERE indexrelid = index $$;
DELETE FROM swept WHERE id = 1;
SELECT pg_stat_force_next_flush();
CREATE TEMP TABLE before AS SELECT accesses('swept_fp');
VACUUM (INDEX_CLEANUP on) swept;
SELECT pg_stat_force_next_flush();
SELECT free_pages > pages * 0.9 AS mostly_free, accesses('swept_fp') - before.accesses < pages / 4 AS few_read
FROM hamming_index_stats('swept_fp'), before;
DROP TABLE swept, before;
DROP FUNCTION accesses;

-- a look-up of many rows that ends early, and then that of another fingerprint
CREATE TABLE rescanned AS
SELECT i AS id, (CASE WHEN i <= 5 THEN reverse(:'centre')
	WHEN i > 3000 THEN :'centre' ELSE left(md5(i::text), :digits) END):::type AS fp
FROM generate_series(1, 6000) i;
CREATE INDEX rescanned_fp ON rescanned USING hamming (fp);
-- they differ in the first block, so that tree 1 finds them
CREATE TABLE probes AS SELECT n, overlay(fp PLACING digit FROM 2):::type AS fp
FROM (VALUES (1, :'centre', 'd'), (2, reverse(:'centre'), 'd')) v(n, fp, digit);
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

-- After any insertions an index takes at most 3 times the bytes of a new one, also
-- where keys halve the gap above the keys of each full leaf, or below them; and no
-- more than a new one where keys ascend or descend at an end.
CREATE TABLE growing (fp :type);
CREATE INDEX growing_fp ON growing USING hamming (fp);
CREATE FUNCTION growth(query text, OUT bounded boolean, OUT compact boolean) LANGUAGE plpgsql AS $$
DECLARE
	grown bigint;
	fresh bigint;
BEGIN
	TRUNCATE growing;
	EXECUTE 'INSERT INTO growing ' || query;
	PERFORM hamming_index_check('growing_fp');
	SELECT bytes INTO grown FROM hamming_index_stats('growing_fp');
	REINDEX INDEX growing_fp;
	SELECT bytes INTO fresh FROM hamming_index_stats('growing_fp');
	bounded := grown <= 3 * fresh;
	compact := grown <= fresh;
END $$;
CREATE VIEW gaps AS SELECT i, NULL AS half, i << 34 AS place FROM generate_series(1::bigint, 20 * :leaf + 1) i
UNION ALL SELECT i, half, (i << 34) + (1::bigint << 34 - half)
FROM generate_series(:leaf::bigint, 20 * :leaf, :leaf) i, generate_series(1, 33) half;
SELECT name, g.* FROM (VALUES
	('gaps above', 'SELECT place FROM gaps ORDER BY half NULLS FIRST, i'),
	('gaps below', 'SELECT -1 - place FROM gaps ORDER BY half NULLS FIRST, i'),
	('ascending', 'SELECT i::bigint FROM generate_series(1, 10000) i'),
	('descending', 'SELECT -i::bigint FROM generate_series(1, 10000) i'),
	('zigzag', 'SELECT CASE WHEN i % 2 = 0 THEN i ELSE -i END::bigint FROM generate_series(1, 10000) i'),
	('equal', 'SELECT 5 FROM generate_series(1, 10000)'),
	('NULL', 'SELECT NULL::bigint FROM generate_series(1, 10000)')) k(name, places),
	growth(format('SELECT rpad(lpad(to_hex(place), 16, ''0''), %s, ''0'')::%s FROM (%s) p(place)',
		:digits, :'type', places)) g;
DROP TABLE growing;
DROP VIEW gaps;
DROP FUNCTION growth;

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
CREATE TABLE parted (id int, fp :type) PARTITION BY HASH (id);
CREATE TABLE parted1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted2 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
CREATE INDEX parted_fp ON parted USING hamming (fp);
INSERT INTO parted SELECT id, fp FROM uniform;
SELECT check_index('parted', :'radii');
SELECT hamming_index_check('parted1_fp_idx');
-- made and filled in one transaction
BEGIN;
CREATE TABLE fresh (id int, fp :type);
CREATE INDEX fresh_fp ON fresh USING hamming (fp);
INSERT INTO fresh SELECT id, fp FROM uniform;
SAVEPOINT s;
INSERT INTO fresh SELECT id + 10000, fp FROM uniform;
ROLLBACK TO s;
COMMIT;
SELECT check_index('fresh', :'radii');
DROP TABLE parted, fresh;
DROP FUNCTION same_order;
