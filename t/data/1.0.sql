-- What version 1.0 writes: tables with an index of each kind.  With the variable
-- "make", see make, also their rows, which t/009_released.pl reads from the files
-- of version 1.0.  No value is so long that it would be in a file of TOAST, and
-- none is an array: it has the OID of its type, which each database has anew.

CREATE EXTENSION simhash;

CREATE FUNCTION rows_of(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	EXECUTE format('SELECT string_agg(r::text, E''\n'' ORDER BY r::text COLLATE "C") FROM (%s) r', query)
		INTO result;
	RETURN result;
END $$;

-- a text that others are near to, here and there none
CREATE FUNCTION body_of(i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN i % 50 > 0 THEN string_agg(md5((i / 5)::text || w)::text, ' ')
		|| CASE WHEN i % 5 > 1 THEN ' ' || i ELSE '' END END
	FROM generate_series(1, 6) w
$$;
CREATE TABLE docs (
	id int PRIMARY KEY,
	n int,
	fp simhash64 GENERATED ALWAYS AS (minhash(body_of(n))) STORED,
	wide simhash128 GENERATED ALWAYS AS (simhash_128(body_of(n))) STORED
);
CREATE INDEX docs_fp ON docs USING hamming (fp) WITH (fillfactor = 10);
CREATE INDEX docs_wide ON docs USING hamming (wide) WITH (fillfactor = 10, blocks = 5);
CREATE INDEX docs_late ON docs USING hamming (wide) WHERE id > 150;
CREATE INDEX docs_fp_btree ON docs (fp);
CREATE INDEX docs_wide_hash ON docs USING hash (wide);
CREATE TABLE gist (id int, fp simhash64);
CREATE INDEX gist_fp ON gist USING gist (fp);
CREATE TABLE refused (body text, fp simhash64 GENERATED ALWAYS AS (minhash(body)) STORED,
	EXCLUDE USING hamming (fp WITH %));
CREATE TABLE stored (weights simhash_weights, ball hamming_ball, wide_ball hamming_ball128, distance hamming_distance);
CREATE INDEX stored_weights ON stored (weights);
CREATE TABLE hashed (weights simhash_weights, fp simhash64);
CREATE INDEX hashed_weights ON hashed USING hash (weights);
CREATE INDEX hashed_fp ON hashed USING hash (fp);
CREATE TABLE parted (fp simhash64) PARTITION BY HASH (fp);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
-- an index with each other number of blocks
CREATE TABLE narrow (blocks int, id int, fp simhash64);
CREATE TABLE wide (blocks int, id int, fp simhash128);
SELECT format('CREATE INDEX %1$s_%2$s ON %1$s USING hamming (fp) WITH (blocks = %2$s) WHERE blocks = %2$s', name, blocks)
FROM unnest(ARRAY['narrow', 'wide']) name, unnest(ARRAY[3, 6, 7, 8]) blocks \gexec
-- pages of three levels, whose keys have a row, and many of NULLs
CREATE TABLE pages (id int, fp simhash64);
CREATE INDEX pages_fp ON pages USING hamming (fp) WITH (fillfactor = 10);
CREATE TABLE empty (fp simhash64, wide simhash128);
CREATE INDEX empty_fp ON empty USING hamming (fp);
CREATE INDEX empty_wide ON empty USING hamming (wide);

-- what searches find, which is in a file of its own
CREATE TABLE answers (query text, answer text);

\if :{?make}
INSERT INTO docs SELECT i, i FROM generate_series(1, 200) i;
INSERT INTO gist SELECT id, fp FROM docs;
INSERT INTO refused SELECT body_of(i * 5 + 1) FROM generate_series(1, 20) i;
INSERT INTO stored SELECT jsonb_build_object('é', i, 'word', 1 / i::float8)::simhash_weights,
	hamming_ball(simhash('word ' || i), i), hamming_ball_128(simhash_128('word ' || i), i),
	simhash('word ' || i) <-> simhash('word')
FROM generate_series(1, 20) i;
INSERT INTO hashed SELECT weights, minhash('word ' || row_number() OVER (ORDER BY weights)) FROM stored;
INSERT INTO parted SELECT fp FROM hashed;
INSERT INTO narrow SELECT blocks, id, ((1::bigint << id) # (id::bigint << 20))::simhash64
FROM unnest(ARRAY[3, 6, 7, 8]) blocks, generate_series(0, 60) id;
INSERT INTO wide SELECT blocks, id, (fp::text || reverse(fp::text))::simhash128 FROM narrow;
INSERT INTO pages
SELECT i, CASE WHEN i <= 3000 THEN '00000000000000ff'::simhash64 END FROM generate_series(1, 4500) i;

-- indexes of which some pages are as a build writes them, others have lost rows, or got
-- some since
REINDEX SCHEMA public;
UPDATE docs SET n = n + 1 WHERE id % 10 = 3;
DELETE FROM docs WHERE id BETWEEN 100 AND 140;
DELETE FROM gist WHERE id BETWEEN 100 AND 140;
DELETE FROM pages WHERE id BETWEEN 500 AND 1500 OR id BETWEEN 3500 AND 4000;
VACUUM docs, gist, pages;
INSERT INTO docs SELECT i, i FROM generate_series(201, 250) i;
INSERT INTO gist SELECT id, fp FROM docs WHERE id > 200;
INSERT INTO refused SELECT body_of(i * 5 + 1) FROM generate_series(21, 30) i;
REINDEX INDEX docs_late;
-- no row has the number of a transaction of this database
VACUUM (FREEZE, ANALYZE);

INSERT INTO answers (query) SELECT format(query, k) FROM generate_series(0, 24, 4) k, (VALUES
	('SELECT id FROM docs WHERE fp <-> minhash(body_of(7)) <= %s'),
	('SELECT id FROM gist WHERE fp <-> minhash(body_of(7)) <= %s'),
	('SELECT id FROM docs WHERE wide <-> simhash_128(body_of(7)) <= %s'),
	('SELECT id FROM docs WHERE id > 150 AND wide <-> simhash_128(body_of(207)) <= %s'),
	('SELECT count(*), sum(a.id * b.id) FROM docs a JOIN docs b ON a.fp <-> b.fp <= %s / 4 AND a.id < b.id')
) v (query);
INSERT INTO answers (query)
SELECT format('SELECT id FROM %1$s WHERE blocks = %2$s AND fp <-> (SELECT fp FROM %1$s WHERE id = 9 LIMIT 1) <= %3$s',
	name, blocks, k)
FROM unnest(ARRAY['narrow', 'wide']) name, unnest(ARRAY[3, 6, 7, 8]) blocks, unnest(ARRAY[3, 6]) k;
INSERT INTO answers (query) VALUES
	('SELECT * FROM stored'),
	('SELECT count(*) FROM refused WHERE fp = minhash(body)'),
	('SELECT fp <-> minhash(body_of(7)) FROM docs ORDER BY fp <-> minhash(body_of(7)) LIMIT 40'),
	('SELECT wide <-> simhash_128(body_of(7)) FROM docs ORDER BY wide <-> simhash_128(body_of(7)) LIMIT 40'),
	('SELECT id FROM docs WHERE fp = minhash(body_of(7))'),
	('SELECT id FROM docs WHERE wide = simhash_128(body_of(7))'),
	('SELECT id FROM docs WHERE fp IS NULL'),
	('SELECT count(*), sum(id) FROM pages WHERE fp <-> ''00000000000000fe'' <= 1'),
	('SELECT count(*), sum(id) FROM pages WHERE fp IS NULL'),
	('SELECT fp FROM hashed WHERE fp = minhash(''word 3'')'),
	('SELECT weights FROM hashed WHERE weights = ''{"é": 4, "word": 0.25}'''),
	('SELECT weights FROM stored WHERE weights > ''{"é": 4, "word": 0.25}'''),
	('SELECT tableoid::regclass, fp FROM parted WHERE fp = minhash(''word 3'')'),
	('SELECT simhash64_hash_extended(fp, 7), simhash128_hash_extended(wide, 7) FROM docs WHERE id < 10'),
	('SELECT simhash_weights_hash_extended(weights, 7), rank() OVER (ORDER BY weights) FROM stored'),
	('SELECT id, simhash_parts(fp, 3, 5), simhash_parts(wide, 7, 10) FROM docs WHERE id < 10'),
	('SELECT id, simhash_cluster(fp, 8) OVER (ORDER BY id) FROM docs');
UPDATE answers SET answer = rows_of(query);
\endif
