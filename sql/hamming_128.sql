-- The hamming index of simhash128 gives exactly the rows of a sequential scan.
\pset format unaligned \pset tuples_only on \set ECHO queries

\set VERBOSITY terse
\set type simhash128
\set method hamming
-- small pages make high tables; each table has other numbers of blocks
\set options 'WITH (fillfactor = 10, blocks = %2$s)'
\set other_options 'WITH (blocks = %3$s)'
\set radii '{-1,0,1,7,14,32,64,127,128}'
\getenv directory PG_ABS_SRCDIR
\set life :directory '/sql/include/index_life.sql'
-- the same statements as in hamming.sql
\set ECHO none
\i :life
\set ECHO queries
-- entries of a leaf with TIDs
\set leaf 368
\set searches :directory '/sql/include/index_searches.sql'
\set plan_radii '{0, 7, 16, 32, 64, 128}'
\set ECHO none
\i :searches
\set ECHO queries

-- exclusion constraints
CREATE TABLE refusing (id int, fp simhash128,
	CONSTRAINT no_near_duplicate EXCLUDE USING hamming (fp WITH %));
INSERT INTO refusing VALUES (1, '00000000000000000000000000ffffff'),
	(2, '0000000000000000000000000000007f'), (3, NULL), (4, NULL);
INSERT INTO refusing VALUES (5, '000000000000ffff0000000000ffffff');
INSERT INTO refusing VALUES (5, '000000000000ffff0000000000ffffff') ON CONFLICT DO NOTHING;
INSERT INTO refusing VALUES (5, '0000000000007fff0000000000ffffff');
INSERT INTO refusing VALUES (5, '000000000001ffff0000000000ffffff');
UPDATE refusing SET fp = '00000000000000000000000000000007' WHERE id = 2;
UPDATE refusing SET fp = '000000000000000000000000000000ff' WHERE id = 2;
TABLE refusing ORDER BY id;
-- as far as a search by %
SELECT proves(format('SELECT id FROM refusing WHERE fp %% %L', q)),
	array(SELECT id FROM refusing WHERE fp % q::simhash128)
FROM (VALUES ('0000000000007fff0000000000ffffff'), ('000000000000ffff0000000000ffffff'),
	('000000000001ffff0000000000ffffff')) v(q);
DROP TABLE refusing;
CREATE TABLE refusing (fp simhash128, EXCLUDE USING hamming (fp WITH =));
INSERT INTO refusing VALUES ('00000000000000ff0000000000000000'),
	('00000000000000fe0000000000000000'), (NULL), (NULL);
INSERT INTO refusing VALUES ('00000000000000ff0000000000000000');
DROP TABLE refusing;

-- how many rows share the value of a block of a word, also of a wide one
CREATE FUNCTION block_rows(blocks int, OUT average float8, OUT largest bigint) LANGUAGE sql AS $$
	SELECT avg(n), max(n) FROM (
		SELECT count(*) AS n FROM skewed, generate_series(0, 64, 64) word, generate_series(0, blocks - 1) j
		WHERE fp IS NOT NULL
		GROUP BY word, j, substring(fp::bit(128) FROM word + j * 64 / blocks + 1
			FOR (j + 1) * 64 / blocks - j * 64 / blocks)) s
$$;
SELECT format('ALTER INDEX skewed_fp SET (blocks = %s); REINDEX INDEX skewed_fp', blocks),
	'SELECT blocks, largest, largest = largest_block AND round((average - average_block)::numeric, 9) = 0
	AS same FROM hamming_index_stats(''skewed_fp''), block_rows(blocks)'
FROM generate_series(2, 8) blocks \gexec
DROP FUNCTION block_rows;

DROP TABLE many;
CALL for_each_table('DROP TABLE %1$s');

-- a word with fingerprints on two leaves of its first tree: those on the first one go, and
-- the word stays in the other trees
CREATE TABLE words AS
SELECT i AS id, (CASE WHEN i > 250 THEN 'ffffffff00000000' || lpad(to_hex((i - 250)::bigint << 50), 16, '0')
	ELSE lpad(to_hex(i::bigint << 50), 16, '0') || left(md5(i::text), 16) END)::simhash128 AS fp
FROM generate_series(1, 650) i;
CREATE INDEX words_fp ON words USING hamming (fp);
DELETE FROM words WHERE id BETWEEN 251 AND 350;
VACUUM (INDEX_CLEANUP on) words;
SELECT hamming_index_check('words_fp');
DROP TABLE words;

-- many indexes in one statement, of both widths, each of which has 8 trees or 16, and few
-- buffers: what is exhausted pins nothing, nor does an ordered scan between its rounds
\c -
SET temp_buffers = 100;
CREATE TEMP TABLE parts (id int, fp simhash128, half simhash64) PARTITION BY HASH (id);
DO $$ BEGIN FOR i IN 0 .. 15 LOOP
	EXECUTE format('CREATE TEMP TABLE part_%s PARTITION OF parts
		FOR VALUES WITH (MODULUS 16, REMAINDER %1$s)', i);
END LOOP; END $$;
INSERT INTO parts SELECT i, CASE WHEN i <= 8000 THEN md5((i % 2000)::text)::simhash128 END,
	left(md5((i % 2000)::text), 16)::simhash64
FROM generate_series(1, 8100) i;
CREATE INDEX ON parts USING hamming (fp) WITH (blocks = 8, fillfactor = 10);
CREATE INDEX ON parts USING hamming (half) WITH (blocks = 8, fillfactor = 10);
SET enable_seqscan = off;
SET enable_sort = off;
SET simhash.enable_hammingjoin = off;
SELECT count(*) FROM parts WHERE fp <-> md5('1')::simhash128 <= 7;
SELECT count(*) FROM parts WHERE fp IS NULL;
SELECT count(*) FROM (SELECT FROM parts WHERE fp <-> md5('1')::simhash128 <= 7
	ORDER BY fp <-> md5('1')::simhash128 LIMIT 3) s;
SET enable_bitmapscan = off;
SELECT count(*) FROM parts WHERE fp <-> md5('1')::simhash128 <= 7;
SELECT count(*) FROM parts WHERE fp IS NULL;
SELECT sum(n) FROM generate_series(1, 3) i, LATERAL
	(SELECT count(*) AS n FROM parts WHERE fp <-> md5(i::text)::simhash128 <= 7
		UNION ALL SELECT count(*) FROM parts WHERE half <-> left(md5(i::text), 16)::simhash64 <= 3) s;
DROP TABLE parts;
