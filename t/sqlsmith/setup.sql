-- What SQLsmith reads and writes: all types, all kinds of indexes, and a view for
-- each function that it would not call by itself.

CREATE EXTENSION simhash;
CREATE FUNCTION body(i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg(md5((CASE n WHEN i % 7 THEN i ELSE i / 5 END * 100 + n)::text), ' ')
	FROM generate_series(1, i / 5 % 40) n
$$;
CREATE TABLE weights (name text PRIMARY KEY, w simhash_weights);
INSERT INTO weights VALUES ('none', NULL), ('empty', '{}'), ('one', '{"a": 2}');
INSERT INTO weights SELECT 'idf', simhash_idf(body(i)) FROM generate_series(1, 500) i;
CREATE TABLE docs (id bigint PRIMARY KEY, site int, body text, tags text[], hashes bigint[],
	uuids uuid[], near simhash64, near_wide simhash128, radius int, ball hamming_ball,
	wide_ball hamming_ball128,
	doc tsvector GENERATED ALWAYS AS (to_tsvector('simple', body)) STORED,
	fp simhash64 GENERATED ALWAYS AS (simhash(body)) STORED,
	wide simhash128 GENERATED ALWAYS AS (minhash_128(body)) STORED);
INSERT INTO docs SELECT i, i % 5, body(i), string_to_array(body(i), ' '), ARRAY[i, i / 2, NULL],
	ARRAY[md5(i::text)::uuid], simhash(body(i + 1)),
	CASE WHEN i % 9 > 0 THEN minhash_128(body(i + 2)) END, i % 12,
	hamming_ball(simhash(body(i)), i % 70), hamming_ball_128(simhash_128(body(i)), i % 140)
FROM generate_series(1, 3000) i;
CREATE INDEX ON docs (fp);
CREATE INDEX ON docs USING hash (fp);
CREATE INDEX ON docs USING gist (fp);
CREATE INDEX ON docs USING hamming (fp);
CREATE INDEX ON docs (wide, site);
CREATE INDEX ON docs USING hash (wide);
CREATE INDEX ON docs USING hamming (wide) WITH (blocks = 8);
CREATE INDEX ON docs USING gist ((wide::simhash64));
CREATE INDEX ON docs USING hamming (simhash_128(body)) WHERE site < 3;

-- few rows, and none that are near each other
CREATE TABLE drafts (id bigserial PRIMARY KEY, fp simhash64, wide simhash128, w simhash_weights,
	body text, minhash simhash64 GENERATED ALWAYS AS (minhash(body)) STORED,
	EXCLUDE USING hamming (wide WITH %));
CREATE INDEX ON drafts USING hamming (fp) WITH (blocks = 3);
CREATE INDEX ON drafts USING hamming (minhash) WITH (fillfactor = 10);
CREATE INDEX ON drafts USING gist (fp);
CREATE INDEX ON drafts (w);
CREATE INDEX ON drafts USING hash (w);
INSERT INTO drafts (fp, wide, w, body)
SELECT CASE WHEN i % 10 > 0 THEN left(md5(i::text), 16)::simhash64 END, md5(i::text)::simhash128,
	CASE WHEN i % 3 > 0 THEN jsonb_build_object(i, 1 + i % 3)::simhash_weights END, body(i)
FROM generate_series(1, 300) i;

CREATE VIEW features AS SELECT id, f.* FROM docs, simhash_features(body, chars => 4) f WHERE id < 40;
CREATE VIEW lexemes AS SELECT id, f.* FROM docs, simhash_features(doc) f WHERE id < 300;
CREATE VIEW passages AS SELECT id, p.* FROM docs, minhash_passages(body, words => 1, mean_length => 20) p
	WHERE id < 300;
CREATE VIEW wide_passages AS SELECT id, p.* FROM docs, minhash_passages_128(body, words => 1) p
	WHERE id < 300;
CREATE VIEW pairs AS SELECT * FROM simhash_pairs('SELECT id, fp FROM docs', 3);
CREATE VIEW wide_pairs AS SELECT * FROM simhash_pairs('SELECT id, near_wide FROM docs', 9);
CREATE VIEW components AS SELECT * FROM simhash_components('SELECT a, b FROM pairs WHERE a < 500');
CREATE VIEW clusters AS SELECT id, near, simhash_cluster(near, 5) OVER (PARTITION BY site) AS cluster,
	simhash_cluster(wide, 5, 'leader') OVER (PARTITION BY site) AS wide_cluster FROM docs;
CREATE VIEW parts AS SELECT id, fp, simhash_parts(fp, 3, 7) AS part FROM docs;
CREATE VIEW audit AS SELECT * FROM simhash_audit('SELECT id, fp, body FROM docs', 100);
CREATE VIEW joined AS SELECT a.id, b.id AS other, a.fp, b.near, a.wide FROM docs a
	JOIN docs b ON a.fp <-> b.near <= 3;
CREATE VIEW left_joined AS SELECT a.id, b.id AS other, a.near_wide, b.wide FROM docs a
	LEFT JOIN docs b ON a.near_wide <-> b.wide <= 8 AND a.site = b.site;
CREATE VIEW around AS SELECT a.id, near.* FROM drafts a CROSS JOIN LATERAL
	(SELECT id AS other, fp <-> a.fp AS distance FROM docs ORDER BY fp <-> a.fp LIMIT 5) near;
CREATE VIEW votes AS SELECT site, simhash_agg(body) AS fp, minhash_agg_128(body) AS wide,
	simhash_centroid(near) AS centroid, simhash_idf(body) AS w FROM docs GROUP BY site;
CREATE VIEW moving AS SELECT id, simhash_agg_128(body, radius) OVER w AS wide,
	simhash_centroid(fp) OVER w AS fp FROM docs
	WINDOW w AS (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING);
CREATE VIEW statistics AS SELECT * FROM hamming_index_stats('drafts_fp_idx');
VACUUM ANALYZE;

-- SQLsmith deletes and updates at random
CREATE ROLE smith LOGIN;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO smith;
ALTER TABLE drafts OWNER TO smith;
ALTER ROLE smith SET statement_timeout = '3s';
