-- What version 1.0 has written: see make.  The table "answers" has what its
-- searches found.

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
ANALYZE;

-- from here on in the WAL
CHECKPOINT;
INSERT INTO docs SELECT i, i FROM generate_series(601, 750) i;
UPDATE docs SET n = n + 1 WHERE id % 10 = 3;
INSERT INTO gist SELECT id, fp FROM docs WHERE id > 600;
DELETE FROM docs WHERE id BETWEEN 300 AND 400;
DELETE FROM gist WHERE id BETWEEN 300 AND 400;
VACUUM docs, gist;
CREATE INDEX docs_late ON docs USING hamming (wide) WHERE id > 500;
INSERT INTO refused SELECT body_of(i * 5 + 1) FROM generate_series(41, 60) i;
INSERT INTO unlogged SELECT fp FROM docs;

CREATE TABLE answers (query text, answer text);
INSERT INTO answers (query) SELECT format(query, k) FROM generate_series(0, 24, 4) k, (VALUES
	('SELECT id FROM docs WHERE fp <-> minhash(body_of(7)) <= %s'),
	('SELECT id FROM gist WHERE fp <-> minhash(body_of(7)) <= %s'),
	('SELECT id FROM docs WHERE wide <-> simhash_128(body_of(7)) <= %s'),
	('SELECT id FROM docs WHERE id > 500 AND wide <-> simhash_128(body_of(607)) <= %s'),
	('SELECT a.id, b.id FROM docs a JOIN docs b ON a.fp <-> b.fp <= %s / 4 AND a.id < b.id')
) v (query);
INSERT INTO answers (query) VALUES
	('SELECT * FROM docs'),
	('SELECT * FROM stored'),
	('SELECT * FROM refused'),
	('SELECT fp <-> minhash(body_of(7)) FROM docs ORDER BY fp <-> minhash(body_of(7)) LIMIT 40'),
	('SELECT wide <-> simhash_128(body_of(7)) FROM docs ORDER BY wide <-> simhash_128(body_of(7)) LIMIT 40'),
	('SELECT id FROM docs WHERE fp = minhash(body_of(7))'),
	('SELECT id FROM docs WHERE wide = simhash_128(body_of(7))'),
	('SELECT id FROM docs WHERE fp IS NULL'),
	('SELECT id, simhash_cluster(fp, 8) OVER (ORDER BY id) FROM docs');
UPDATE answers SET answer = rows_of(query);
