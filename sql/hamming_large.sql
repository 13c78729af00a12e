-- The hamming index gives exactly the rows of a sequential scan, of
-- more rows and within every radius; what repeats and what is replaced takes no
-- more pages than it should.

\set type simhash64
\set method hamming
SELECT array(SELECT generate_series(-1, 65)) AS radii \gset
\getenv directory PG_ABS_SRCDIR
\set life :directory '/sql/index_life.sql'
-- small pages make high tables
\set options 'WITH (fillfactor = 10, blocks = 3)'
\set other_options 'WITH (blocks = 8)'
\i :life
CALL for_each_table('DROP TABLE %1$s');
\set options 'WITH (fillfactor = 10, blocks = 6)'
\set other_options 'WITH (fillfactor = 100, blocks = 4)'
\i :life
CALL for_each_table('DROP TABLE %1$s');

-- 128 bits, within every radius
CALL make_tables(3000, 'simhash128');
CALL for_each_table('CREATE INDEX %1$s_fp ON %1$s USING hamming (fp) WITH (fillfactor = 10, blocks = %2$s)');
CALL change_tables();
SELECT * FROM check_tables(array(SELECT generate_series(-1, 129)));
CALL for_each_table('DROP TABLE %1$s');

-- 100,000 equal fingerprints, inserted one by one and sorted, also equal NULLs
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
\set ECHO none
SELECT format(statement, part * 2400 + 1, (part + 1) * 2400, round)
FROM generate_series(1, 8) round, generate_series(0, 4) part, (VALUES
	(1, 'DELETE FROM churned WHERE id BETWEEN %1$s AND %2$s'),
	(2, 'VACUUM (INDEX_CLEANUP on) churned'),
	(3, 'INSERT INTO churned SELECT i, churned_fp(%3$s, i)
		FROM generate_series(%1$s, %2$s) i')) s(step, statement)
ORDER BY round, part, step \gexec
\set ECHO all
SELECT index, rows, fingerprints, blocks, s.pages < 2 * fresh.pages AS small,
	hamming_index_check(index) FROM churned_stats s JOIN fresh USING (index) ORDER BY 1;
DROP VIEW churned_stats;
DROP TABLE churned, fresh;
DROP FUNCTION churned_fp;
