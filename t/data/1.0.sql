-- What version 1.0 has written: see make.  The table "answers" has what its
-- searches found, the table "files" what must stay in its files.

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
INSERT INTO docs SELECT i, i FROM generate_series(1, 600) i;
CREATE INDEX docs_fp ON docs USING hamming (fp) WITH (fillfactor = 30);
CREATE INDEX docs_wide ON docs USING hamming (wide) WITH (fillfactor = 30, blocks = 5);
CREATE INDEX docs_fp_btree ON docs (fp);
CREATE INDEX docs_wide_hash ON docs USING hash (wide);
CREATE TABLE gist AS SELECT id, fp FROM docs;
CREATE INDEX gist_fp ON gist USING gist (fp);
CREATE UNLOGGED TABLE unlogged (fp simhash64);
CREATE INDEX ON unlogged USING hamming (fp);
CREATE TABLE refused (body text, fp simhash64 GENERATED ALWAYS AS (minhash(body)) STORED,
	EXCLUDE USING hamming (fp WITH %));
INSERT INTO refused SELECT body_of(i * 5 + 1) FROM generate_series(1, 40) i;
CREATE TABLE stored (
	weights simhash_weights, ball hamming_ball, wide_ball hamming_ball128, distance hamming_distance,
	fps simhash64[], wides simhash128[]
);
INSERT INTO stored SELECT jsonb_build_object('é', i, 'word', 1 / i::float8)::simhash_weights,
	hamming_ball(simhash('word ' || i), i), hamming_ball_128(simhash_128('word ' || i), i),
	simhash('word ' || i) <-> simhash('word'), ARRAY[NULL, minhash('word ' || i)],
	ARRAY[minhash_128('word ' || i), NULL]
FROM generate_series(1, 20) i;
CREATE INDEX stored_weights ON stored (weights);
CREATE TABLE hashed AS SELECT weights, fps[2] AS fp FROM stored;
CREATE INDEX hashed_weights ON hashed USING hash (weights);
CREATE INDEX hashed_fp ON hashed USING hash (fp);
CREATE TABLE parted (fp simhash64) PARTITION BY HASH (fp);
CREATE TABLE parted_0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT fp FROM hashed;

-- an index with each other number of blocks
CREATE TABLE narrow AS SELECT blocks, id, ((1::bigint << id) # (id::bigint << 20))::simhash64 AS fp
FROM unnest(ARRAY[3, 6, 7, 8]) blocks, generate_series(0, 60) id;
CREATE TABLE wide AS SELECT blocks, id, (fp::text || reverse(fp::text))::simhash128 AS fp FROM narrow;
SELECT format('CREATE INDEX %1$s_%2$s ON %1$s USING hamming (fp) WITH (blocks = %2$s) WHERE blocks = %2$s', name, blocks)
FROM unnest(ARRAY['narrow', 'wide']) name, unnest(ARRAY[3, 6, 7, 8]) blocks \gexec

-- pages of three levels, whose keys have a row, and many of NULLs
CREATE TABLE pages (id int, fp simhash64);
INSERT INTO pages
SELECT i, CASE WHEN i <= 3000 THEN '00000000000000ff'::simhash64 END FROM generate_series(1, 4500) i;
CREATE INDEX pages_fp ON pages USING hamming (fp) WITH (fillfactor = 10);

CREATE TABLE files (name text, contents text);
ALTER TABLE files ALTER contents SET STORAGE EXTERNAL;
\set script `cat sql/simhash--1.0.sql`
\set vectors `cat sql/vectors.sql`
INSERT INTO files VALUES ('sql/simhash--1.0.sql', md5(:'script')), ('sql/vectors.sql', :'vectors');
ANALYZE docs, gist, stored, hashed, parted, narrow, wide, pages;

-- from here on in the WAL
DO $$ BEGIN PERFORM pg_switch_wal(); END $$;
CHECKPOINT;
INSERT INTO docs SELECT i, i FROM generate_series(601, 750) i;
UPDATE docs SET n = n + 1 WHERE id % 10 = 3;
INSERT INTO gist SELECT id, fp FROM docs WHERE id > 600;
DELETE FROM docs WHERE id BETWEEN 300 AND 400;
DELETE FROM gist WHERE id BETWEEN 300 AND 400;
DELETE FROM pages WHERE id BETWEEN 500 AND 1500 OR id BETWEEN 3500 AND 4000;
VACUUM docs, gist, pages;
CREATE INDEX docs_late ON docs USING hamming (wide) WHERE id > 500;
INSERT INTO refused SELECT body_of(i * 5 + 1) FROM generate_series(41, 60) i;
INSERT INTO unlogged SELECT fp FROM docs;

CREATE TABLE answers (query text, answer text);
ALTER TABLE answers ALTER answer SET STORAGE EXTERNAL;
INSERT INTO answers (query) SELECT format(query, k) FROM generate_series(0, 24, 4) k, (VALUES
	('SELECT id FROM docs WHERE fp <-> minhash(body_of(7)) <= %s'),
	('SELECT id FROM gist WHERE fp <-> minhash(body_of(7)) <= %s'),
	('SELECT id FROM docs WHERE wide <-> simhash_128(body_of(7)) <= %s'),
	('SELECT id FROM docs WHERE id > 500 AND wide <-> simhash_128(body_of(607)) <= %s'),
	('SELECT a.id, b.id FROM docs a JOIN docs b ON a.fp <-> b.fp <= %s / 4 AND a.id < b.id')
) v (query);
INSERT INTO answers (query)
SELECT format('SELECT id FROM %1$s WHERE blocks = %2$s AND fp <-> (SELECT fp FROM %1$s WHERE id = 9 LIMIT 1) <= %3$s',
	name, blocks, k)
FROM unnest(ARRAY['narrow', 'wide']) name, unnest(ARRAY[3, 6, 7, 8]) blocks, unnest(ARRAY[3, 6]) k;
INSERT INTO answers (query) VALUES
	('SELECT * FROM docs'),
	('SELECT * FROM stored'),
	('SELECT * FROM refused'),
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
