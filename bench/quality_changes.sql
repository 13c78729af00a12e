-- What whole texts and passages find of changed texts: of the table docs of
-- bench/quality_texts.sql, with the functions of bench/random.sql.  Prints its tables.

-- A text is changed by its words and what follows each, or by characters of
-- scripts that have no spaces.
CREATE TABLE sizes AS SELECT unnest('{65,500}'::int[]) AS size;
CREATE UNLOGGED TABLE pool AS
SELECT row_number() OVER (ORDER BY id, place) AS n, id, place::int, unit[1] AS word, unit[2] AS gap
FROM docs, regexp_matches(left(body, 60000),
	'([⺀-鿿]|[^\s!-&(-/:-@\[-^`{-~⺀-鿿、。]+)([\s!-&(-/:-@\[-^`{-~、。]*)', 'g')
	WITH ORDINALITY u (unit, place)
WHERE id IN (SELECT id FROM sizes, LATERAL (SELECT id FROM docs WHERE words >= size ORDER BY id LIMIT 400) d);
ALTER TABLE pool ADD PRIMARY KEY (n);
CREATE TABLE lengths AS
SELECT id, min(n) AS first, count(*)::int AS units, (sum(count(*)) OVER ())::bigint AS words
FROM pool GROUP BY id;
ANALYZE pool, lengths;

-- Parts of that many words, from a place drawn, of up to 300 texts each.
CREATE UNLOGGED TABLE words AS
SELECT s.id, part AS size, (n - start)::int AS place, word, gap, (s.id * 10000::bigint + n - start) * 16 AS key,
	sum(length(word || gap)) OVER (PARTITION BY s.id, part ORDER BY n) - length(word || gap) AS col
FROM sizes, LATERAL (SELECT id, size AS part, first - 1 + draw(id, size, units - size + 1) AS start
		FROM lengths WHERE units >= size ORDER BY id LIMIT 300) s
	JOIN pool ON n > start AND n <= start + part;
ANALYZE words;

CREATE FUNCTION pool_text(start bigint, count bigint) RETURNS text LANGUAGE sql STABLE
RETURN (SELECT coalesce(string_agg(word || gap, '' ORDER BY n), '') FROM pool WHERE n > start AND n <= start + count);

-- The parts, and the other texts that are made of them.
CREATE UNLOGGED TABLE copies AS
WITH edits AS (
	SELECT id, size, string_agg(w.word || w.gap, '' ORDER BY w.place) AS body,
		string_agg(CASE WHEN turn < 100 THEN p.word ELSE w.word END || w.gap, '' ORDER BY w.place) AS ten,
		string_agg(w.word || w.gap, '' ORDER BY (3 * (w.place - 1) / size + 1) % 3, w.place) AS thirds,
		string_agg(w.word || w.gap, '' ORDER BY w.place) FILTER (WHERE w.place <= 0.5 * size) AS half,
		string_agg(w.word || w.gap, '' ORDER BY w.place)
			FILTER (WHERE w.place > draw(id, 1, (0.7 * size)::int + 1)
				AND w.place <= draw(id, 1, (0.7 * size)::int + 1) + 0.3 * size) AS excerpt,
		string_agg(CASE WHEN col / 70 < (col + length(w.word)) / 70 AND length(w.word) >= 4
			THEN overlay(w.word PLACING E'-\n' FROM length(w.word) / 2 + 1 FOR 0) ELSE w.word END || w.gap,
			'' ORDER BY w.place) AS hyphens,
		draw(id, 2, 2 * size + 1) AS before, draw(id, 3, (SELECT min(words) FROM lengths) - 2 * size) AS start
	FROM words w, LATERAL (SELECT draw(key, 4, 1000) AS turn,
			1 + draw(key, 5, (SELECT min(words) FROM lengths)) AS n) d
		JOIN (SELECT n, word FROM pool) p USING (n)
	GROUP BY id, size)
SELECT id, size, kind, c.body
FROM edits e, LATERAL (VALUES ('text', body), ('10 %', ten), ('thirds', thirds), ('hyphens', hyphens),
	('half', half), ('30 %', excerpt),
	('wrapped', pool_text(start, before) || ' ' || body || ' ' || pool_text(start + before, 2 * size - before)),
	('footer', body || ' ' || pool_text(0, 51)), ('boilerplate', body || ' ' || pool_text(start, size * 3 / 10)))
	c (kind, body)
UNION ALL
SELECT id, size, 'letters', string_agg(CASE WHEN draw(key + at, 6, 1000) >= 30 THEN letter
	WHEN letter < '⺀' THEN chr(97 + draw(key + at, 7, 26)::int)
	ELSE chr(19968 + draw(key + at, 7, 3000)::int) END || CASE WHEN at = length(word) THEN gap ELSE '' END,
	'' ORDER BY place, at)
FROM words, string_to_table(word, NULL) WITH ORDINALITY l (letter, at)
GROUP BY id, size;

-- What shares no half in either direction is not to be found.
DELETE FROM copies c USING copies t
WHERE t.kind = 'text' AND t.id = c.id AND t.size = c.size
	AND greatest(text_containment(c.body, t.body), text_containment(t.body, c.body)) < 0.5;
ANALYZE copies;

-- What is searched, within k: whole texts, and passages.
CREATE TABLE ways (way int GENERATED ALWAYS AS IDENTITY, name text, k int, prints text);
INSERT INTO ways (name, k, prints) VALUES
	('`minhash(body)`', 8, 'SELECT minhash(body)'),
	('`minhash(body, chars => 3)`', 8, 'SELECT minhash(body, chars => 3)'),
	('13 words', 6, 'SELECT fp FROM minhash_passages(body)');
CREATE TABLE found (way int, size int, kind text, found boolean);
SELECT format($$
WITH prints AS MATERIALIZED (SELECT id, size, kind, fp FROM copies, LATERAL (%s) p (fp)),
	originals AS (SELECT id, size, fp AS original FROM prints WHERE kind = 'text')
INSERT INTO found
SELECT %s, size, kind, coalesce(min(fp <-> original) <= %s, false)
FROM copies LEFT JOIN prints USING (id, size, kind) LEFT JOIN originals USING (id, size)
WHERE kind <> 'text'
GROUP BY id, size, kind
$$, prints, way, k) FROM ways \gexec

-- What enough texts have a figure of.
CREATE VIEW recalls AS
SELECT way, size, kind, count(*) AS texts, to_char(avg(found::int), 'FM0.00') AS recall
FROM found GROUP BY way, size, kind HAVING count(*) >= 30;

SELECT format(E'\nRecall, %s words\n\n| passages of | k |%s\n|---|---|%s\n%s', size,
	(SELECT string_agg(format(' %s (%s) |', kind, texts), '' ORDER BY kind) FROM recalls r WHERE r.size = lines.size AND way = 1),
	(SELECT string_agg('--:|', '') FROM recalls r WHERE r.size = lines.size AND way = 1),
	string_agg(line, E'\n' ORDER BY way))
FROM (SELECT size, way, format('| %s | %s | %s |', name, k, string_agg(recall, ' | ' ORDER BY kind)) AS line
	FROM recalls JOIN ways USING (way) GROUP BY size, way, name, k) lines
GROUP BY size ORDER BY size;
