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

-- The beginnings of texts: as they are, with one word replaced, and with one
-- letter of one word replaced.
CREATE TABLE beginnings AS
SELECT id, size, kind, string_agg(CASE WHEN place <> 1 + draw(id, size, size) OR kind = 'text' THEN word
	WHEN kind = 'word' THEN any_word(id, size)
	ELSE overlay(word PLACING chr(97 + draw(id, 3, 26)::int)
		FROM 1 + draw(id, 4, length(word))::int FOR 1) END || gap, '' ORDER BY place) AS body
FROM unnest('{5,10,20}'::int[]) size,
	LATERAL (SELECT id FROM lengths WHERE units >= size ORDER BY id LIMIT 1000) l
	JOIN units USING (id), unnest('{text,word,letter}'::text[]) kind
WHERE place <= size
GROUP BY id, size, kind;
ANALYZE beginnings;

-- Where idf is capped, a word that no text has weighs 1.
CREATE TABLE weights AS
SELECT idf, (SELECT jsonb_object_agg(key, least(value::float8, 4)) || '{"": 1}'
	FROM jsonb_each(idf::jsonb))::simhash_weights AS capped
FROM (SELECT simhash_idf(body) AS idf FROM docs) i;

CREATE TABLE methods (method int PRIMARY KEY, name text, bits int);
-- What is found within each distance.
CREATE TABLE curves (method int, k int, precision float8, recall float8);
-- The share within 8 of 64 bits, and within 16 of 128.
CREATE TABLE changes (method int, size int, kind text, within float8);
