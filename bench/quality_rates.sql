-- What fingerprints find of changed texts at an equal rate of false candidates,
-- on the table docs of bench/quality_texts.sql with the functions of
-- bench/random.sql.  Prints its tables.
--
-- A candidate is a pair of different texts within k bits.  It is false if the
-- similarity of both is below 0.5.

-- A text is changed by its words and what follows each, or by characters of
-- scripts that have no spaces.
CREATE UNLOGGED TABLE units AS
SELECT id, place::int, unit[1] AS word, unit[2] AS gap
FROM docs, regexp_matches(left(body, 20000), '([⺀-鿿]|[^\s⺀-鿿]+)(\s*)', 'g') WITH ORDINALITY u (unit, place);
CREATE UNLOGGED TABLE pool AS SELECT row_number() OVER (ORDER BY id, place) AS n, word FROM units;
ALTER TABLE pool ADD PRIMARY KEY (n);
CREATE INDEX ON units (id);
ANALYZE units, pool;

-- The whole texts, and as titles their first 5 and 10 words.
CREATE TABLE texts_of AS
SELECT 'whole' AS size, id, body FROM docs WHERE length(body) <= 20000
UNION ALL
SELECT size || ' words', id, string_agg(word || gap, '' ORDER BY place)
FROM unnest('{5,10}'::int[]) size JOIN units ON place <= size GROUP BY size, id HAVING count(*) = size;
CREATE INDEX ON texts_of (size, id);

-- Copies of 1,000 of each: words are replaced by others, as frequent as they
-- are in the texts, or letters are.
CREATE TABLE copies AS
WITH chosen AS (
	SELECT size, id, words
	FROM (SELECT DISTINCT size FROM texts_of) s,
		LATERAL (SELECT id FROM texts_of t WHERE t.size = s.size ORDER BY id LIMIT 1000) c,
		LATERAL (SELECT CASE size WHEN 'whole' THEN max(place) ELSE split_part(size, ' ', 1)::int END AS words
			FROM units WHERE units.id = c.id) u),
turns AS (
	SELECT size, id, words, place, word, gap,
		row_number() OVER (PARTITION BY size, id ORDER BY draw(id * 100000::bigint + place, 1, 1::bigint << 60)) AS turn,
		1 + draw(id * 100000::bigint + place, 2, (SELECT max(n) FROM pool)) AS n
	FROM chosen JOIN units USING (id) WHERE place <= words)
SELECT size, id, kind,
	string_agg(CASE WHEN turn > most THEN t.word
		WHEN kind NOT LIKE '%letter%' THEN p.word
		ELSE overlay(t.word PLACING chr(97 + draw(id, 3, 26)::int) FROM 1 + draw(id, 4, length(t.word))::int FOR 1)
		END || gap, '' ORDER BY place) AS body
FROM turns t JOIN pool p USING (n),
	LATERAL (VALUES ('5 % of the words', round(words * 0.05), 'whole'), ('10 % of the words', round(words * 0.1), 'whole'),
		('a word', 1, 'title'), ('a letter of a word', 1, 'title')) v (kind, most, what)
WHERE (what = 'whole') = (size = 'whole')
GROUP BY size, id, kind;
ANALYZE texts_of, copies;

CREATE TABLE ways (way int, size text, name text, bits int, features text);
INSERT INTO ways
SELECT row_number() OVER (), size, name, CASE WHEN name LIKE '%\_128%' THEN 128 ELSE 64 END, features
FROM unnest('{whole,10 words,5 words}'::text[]) WITH ORDINALITY s (size, n),
	LATERAL (VALUES ('minhash(body)', 'words => 3', 'whole'), ('minhash_128(body)', 'words => 3', 'whole'),
		('simhash(body)', 'words => 3', 'whole'), ('simhash_128(body)', 'words => 3', 'whole'),
		('minhash(body, chars => 3)', 'chars => 3', 'title'), ('minhash_128(body, chars => 3)', 'chars => 3', 'title'),
		('minhash(body)', 'chars => 3', 'title')) v (name, features, what)
WHERE (what = 'whole') = (size = 'whole') ORDER BY n;

-- false candidates of a million pairs, by k; what is found of the copies
CREATE TABLE rates (way int, k int, rate float8);
CREATE TABLE found (way int, kind text, k int, share float8);

SELECT format($$
INSERT INTO rates
SELECT %1$s, max_distance, 1e6 * pairs * (1 - coalesce("precision", 1)) / (n * (n - 1) / 2)
FROM (SELECT count(*)::float8 AS n FROM texts_of WHERE size = %2$L) _, simhash_audit(
	$q$SELECT id, %3$s, body FROM texts_of WHERE size = %2$L$q$, sample => 12000, threshold => 0.5, max_distance => %4$s, %5$s);
INSERT INTO found
SELECT %1$s, kind, k, avg((d <= k)::int)
FROM (SELECT kind, (SELECT %3$s FROM (SELECT c.body) _) <-> (SELECT %3$s FROM (SELECT t.body) _) AS d
		FROM copies c JOIN texts_of t USING (size, id) WHERE size = %2$L) d, generate_series(0, %4$s) k
GROUP BY kind, k
$$, way, size, name, bits / 4, features)
FROM ways ORDER BY way \gexec

-- k is the largest of at most so many false candidates
CREATE VIEW equal_rates AS
SELECT way, size, name, kind, most, k, (SELECT share FROM found f WHERE f.way = ways.way AND f.kind = kinds.kind AND f.k = best.k)
FROM ways JOIN (SELECT DISTINCT way, kind FROM found) kinds USING (way),
	unnest('{1,10}'::float8[]) most,
	LATERAL (SELECT max(k) AS k FROM rates WHERE rates.way = ways.way AND rate <= most) best;

SELECT format(E'\n%s\n\n| fingerprint | change | k at 1 | found at 1 | k at 10 | found at 10 |'
	'\n|---|---|--:|--:|--:|--:|\n%s', CASE size WHEN 'whole' THEN 'Whole texts' ELSE 'Titles of ' || size END,
	string_agg(line, E'\n' ORDER BY way, length(kind)))
FROM (SELECT size, way, kind, format('| `%s` | %s | %s |', name, kind, string_agg(
		format('%s | %s', coalesce(k::text, '-'), coalesce(to_char(share, 'FM0.00'), '-')), ' | ' ORDER BY most)) AS line
	FROM equal_rates GROUP BY size, way, name, kind) lines
GROUP BY size ORDER BY min(way);
