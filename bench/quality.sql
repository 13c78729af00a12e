-- All pairs of texts that are alike, and what script/quality measures with, of
-- the table docs of bench/quality_texts.sql.

-- The sets of three-word shingles.  Shingles that occur in the same texts, and
-- in more than one, are one member, which weighs as many as they are.
CREATE UNLOGGED TABLE shingles AS
SELECT id, hash FROM docs, simhash_features(body, words => 3);

CREATE UNLOGGED TABLE sets AS
SELECT id, count(*)::int AS size FROM shingles GROUP BY id;
ALTER TABLE sets ADD PRIMARY KEY (id);
ANALYZE sets;

CREATE UNLOGGED TABLE members AS
SELECT id, member, weight, cardinality(ids) AS texts
FROM (SELECT row_number() OVER () AS member, ids, count(*)::int AS weight
	FROM (SELECT array_agg(id ORDER BY id) AS ids FROM shingles
		GROUP BY hash HAVING count(*) > 1) s
	GROUP BY ids) m, unnest(ids) id;
CREATE INDEX ON members (id, member) INCLUDE (weight);
VACUUM ANALYZE members;

-- Two sets of Jaccard 0.5 or more share half of each, and so at least one of
-- the first size - ceil(size / 2) + 1 shingles of each, whatever the order, if
-- it is one order for all; here, the rarest first.  Shingles that no other
-- text has come before all others.
CREATE UNLOGGED TABLE prefixes AS
SELECT id, member, size
FROM (SELECT id, member, size, size - sum(weight) OVER (PARTITION BY id
		ORDER BY texts DESC, member DESC) AS before
	FROM members JOIN sets USING (id)) m
WHERE before <= size - ceil(size / 2.0);
ANALYZE prefixes;

CREATE TABLE pairs AS
SELECT a, b, common / (sa.size + sb.size - common)::float8 AS jaccard
FROM (SELECT DISTINCT a.id AS a, b.id AS b FROM prefixes a JOIN prefixes b USING (member)
		WHERE a.id < b.id AND 2 * least(a.size, b.size) >= greatest(a.size, b.size)) c
JOIN sets sa ON sa.id = a JOIN sets sb ON sb.id = b,
	LATERAL (SELECT sum(ma.weight) AS common FROM members ma JOIN members mb USING (member)
		WHERE ma.id = a AND mb.id = b) m
WHERE 3 * common >= sa.size + sb.size;
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
CREATE TABLE found (method int, distance int, pairs bigint);
CREATE TABLE alike (method int, distance int, half bigint, most bigint);
CREATE TABLE edits (method int, percent int, measured float8, theory float8);
-- Within 3, 8 and 10 of 64 bits, and twice as many of 128.
CREATE TABLE changes (method int, size int, kind text, mean float8, within3 float8, within8 float8,
	within10 float8);

-- What is found within each distance.
CREATE VIEW curves AS
SELECT *, 2 * precision * recall / nullif(precision + recall, 0) AS f1
FROM (SELECT method, k, (sum(half) OVER w / nullif(sum(pairs) OVER w, 0))::float8 AS precision,
		(sum(most) OVER w / (SELECT nullif(count(*), 0) FROM pairs WHERE jaccard >= 0.8))::float8 AS recall
	FROM methods CROSS JOIN generate_series(0, 128) k
		LEFT JOIN (SELECT method, distance AS k, pairs FROM found) f USING (method, k)
		LEFT JOIN (SELECT method, distance AS k, half, most FROM alike) a USING (method, k)
	WINDOW w AS (PARTITION BY method ORDER BY k)) c;
