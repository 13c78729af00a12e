-- All pairs of texts that are alike, and what script/quality measures with, of
-- the table docs of bench/quality_texts.sql.

-- At any distance: here fingerprints do not matter.
CREATE TABLE pairs AS
SELECT a, b, similarity AS jaccard
FROM simhash_audit_pairs('SELECT id, minhash(body), body FROM docs', sample => 12000, threshold => 0.5,
	max_distance => 0)
WHERE similarity >= 0.5;
ANALYZE pairs;

-- What a text is edited by: words and the space that follows each, or
-- characters of scripts that have no spaces.
CREATE UNLOGGED TABLE units AS
SELECT id, place::int, unit[1] AS word, unit[2] AS gap
FROM docs, regexp_matches(left(body, 10000), '([⺀-鿿]|[^\s⺀-鿿]+)(\s*)', 'g')
	WITH ORDINALITY u (unit, place);
CREATE TABLE lengths AS SELECT id, count(*)::int AS units FROM units GROUP BY id;
CREATE UNLOGGED TABLE pool AS
SELECT row_number() OVER (ORDER BY id, place) AS n, word FROM units;
ALTER TABLE pool ADD PRIMARY KEY (n);
ANALYZE units, lengths, pool;

-- A word of some text, as frequent as it is in the texts.
CREATE FUNCTION any_word(id bigint, stream int) RETURNS text
LANGUAGE sql STABLE
RETURN (SELECT word FROM pool WHERE n = 1 + draw(id, stream, (SELECT max(n) FROM pool)));

-- Texts of at least 100 words, with none, 1, 2 and 5 % of the words replaced.
CREATE TABLE edited AS
SELECT id, percent, string_agg(CASE WHEN turn <= round(units * percent / 100.0)
	THEN any_word(id * 1000000::bigint + place, 1) ELSE word END || gap, '' ORDER BY place) AS body
FROM (SELECT u.*, units, row_number() OVER (PARTITION BY id
		ORDER BY draw(id * 1000000::bigint + place, 2, 1::bigint << 60), place) AS turn
	FROM units u JOIN (SELECT * FROM lengths WHERE units >= 100 ORDER BY id LIMIT 500) l USING (id)) u,
	unnest('{0,1,2,5}'::int[]) percent
GROUP BY id, percent;
ANALYZE edited;

-- The beginnings of texts: as they are, with one word replaced, and with one
-- letter of one word replaced.
CREATE TABLE beginnings AS
SELECT id, size, kind, string_agg(CASE WHEN place <> 1 + draw(id, size, size) OR kind = 'text' THEN word
	WHEN kind = 'word' THEN any_word(id, size)
	ELSE overlay(word PLACING chr(97 + draw(id, 3, 26)::int)
		FROM 1 + draw(id, 4, length(word))::int FOR 1) END || gap, '' ORDER BY place) AS body
FROM unnest('{5,10,20,50,100}'::int[]) size,
	LATERAL (SELECT id FROM lengths WHERE units >= size ORDER BY id LIMIT 1000) l
	JOIN units USING (id), unnest('{text,word,letter}'::text[]) kind
WHERE place <= size
GROUP BY id, size, kind;
ANALYZE beginnings;

-- Pairs of beginnings that have words in common in the same order.
CREATE UNLOGGED TABLE related AS
WITH s AS MATERIALIZED (SELECT size, id, hash FROM beginnings, simhash_features(body, words => 3)
	WHERE kind = 'text')
SELECT DISTINCT size, a.id AS a, b.id AS b FROM s a JOIN s b USING (size, hash) WHERE a.id < b.id;
ANALYZE related;

-- Where idf is capped, a word that no text has weighs 1.
CREATE TABLE weights AS
SELECT idf, (SELECT jsonb_object_agg(key, least(value::float8, 4)) || '{"": 1}'
	FROM jsonb_each(idf::jsonb))::simhash_weights AS capped
FROM (SELECT simhash_idf(body) AS idf FROM docs) i;

-- A MinHash of numbers has no bits.
CREATE TABLE methods (method int PRIMARY KEY, name text, bits int);
-- What is found within each distance.
CREATE TABLE curves (method int, k int, precision float8, recall float8,
	f1 float8 GENERATED ALWAYS AS (2 * precision * recall / nullif(precision + recall, 0)) STORED);
CREATE TABLE edits (method int, percent int, measured float8, theory float8);
-- Within 3, 8 and 10 of 64 bits, and twice as many of 128.
CREATE TABLE changes (method int, size int, kind text, mean float8, within3 float8, within8 float8,
	within10 float8);
