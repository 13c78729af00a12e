-- How well passages find texts that share a part, and what that costs: of the
-- table docs of bench/quality_texts.sql, with the functions of bench/random.sql.
-- Prints its tables.

SET max_parallel_workers_per_gather = 2;

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

-- Parts of that many words, from a place drawn, of up to 300 texts each.  A
-- sentence ends where its last word does.
CREATE UNLOGGED TABLE words AS
SELECT id, size, place, word, gap, (id * 10000::bigint + place) * 16 AS key,
	coalesce(sum(ends) OVER (w ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS sentence,
	sum(length(word || gap)) OVER w - length(word || gap) AS col
FROM (SELECT s.id, part AS size, (n - start)::int AS place, word, gap,
		(gap ~ '^["'')\]]*[.!?]["'')\]]*\s|。|\n\s*\n')::int AS ends
	FROM sizes, LATERAL (SELECT id, size AS part, first - 1 + draw(id, size, units - size + 1) AS start
			FROM lengths WHERE units >= size ORDER BY id LIMIT 300) s
		JOIN pool ON n > start AND n <= start + part) p
WINDOW w AS (PARTITION BY id, size ORDER BY place);
ANALYZE words;

CREATE FUNCTION pool_text(start bigint, count bigint) RETURNS text LANGUAGE sql STABLE
RETURN (SELECT coalesce(string_agg(word || gap, '' ORDER BY n), '') FROM pool WHERE n > start AND n <= start + count);

-- The parts, and the other texts that are made of them.
CREATE UNLOGGED TABLE copies AS
WITH edits AS (
	SELECT id, size, string_agg(w.word || w.gap, '' ORDER BY w.place) AS body,
		string_agg(CASE WHEN turn < 50 THEN p.word ELSE w.word END || w.gap, '' ORDER BY w.place) AS five,
		string_agg(CASE WHEN turn < 100 THEN p.word ELSE w.word END || w.gap, '' ORDER BY w.place) AS ten,
		string_agg(w.word || w.gap, '' ORDER BY w.place) FILTER (WHERE w.place <= 0.8 * size) AS most,
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
FROM edits e, LATERAL (VALUES ('text', body), ('5 %', five), ('10 %', ten),
	('footer', body || ' ' || pool_text(0, 51)), ('boilerplate', body || ' ' || pool_text(start, size * 3 / 10)),
	('80 %', most), ('half', half), ('30 %', excerpt),
	('wrapped', pool_text(start, before) || ' ' || body || ' ' || pool_text(start + before, 2 * size - before)),
	('accents', nullif(normalize(regexp_replace(normalize(body, NFD), U&'[\0300-\036f]', '', 'g'), NFC),
		normalize(body, NFC))),
	('hyphens', nullif(hyphens, body))) c (kind, body)
WHERE c.body IS NOT NULL
UNION ALL
SELECT id, size, 'letters', string_agg(CASE WHEN draw(key + at, 6, 1000) >= 30 THEN letter
	WHEN letter < '⺀' THEN chr(97 + draw(key + at, 7, 26)::int)
	ELSE chr(19968 + draw(key + at, 7, 3000)::int) END || CASE WHEN at = length(word) THEN gap ELSE '' END,
	'' ORDER BY place, at)
FROM words, string_to_table(word, NULL) WITH ORDINALITY l (letter, at)
GROUP BY id, size
UNION ALL
-- Sentences in another order, all but one, and in thirds of the text, the last first.
SELECT id, size, kind, c.body
FROM (SELECT id, size, string_agg(part, ' ' ORDER BY draw(id * 10000::bigint + sentence, 8, 1::bigint << 60)) AS mixed,
		string_agg(part, ' ' ORDER BY sentence) FILTER (WHERE sentence <> draw(id, 9, sentences)) AS less,
		nullif(string_agg(part, ' ' ORDER BY (3 * (ends - 1) / size + 1) % 3, sentence),
			string_agg(part, ' ' ORDER BY sentence)) AS thirds
	FROM (SELECT id, size, sentence, string_agg(word || gap, '' ORDER BY place) AS part, max(place) AS ends,
			count(*) OVER (PARTITION BY id, size) AS sentences
		FROM words GROUP BY id, size, sentence) s
	WHERE sentences >= 3
	GROUP BY id, size) o, LATERAL (VALUES ('order', mixed), ('sentence', less), ('thirds', thirds)) c (kind, body)
WHERE c.body IS NOT NULL;

-- What shares no half in either direction is not to be found.
CREATE UNLOGGED TABLE changed AS
SELECT id, size, c.kind, c.body,
	greatest(text_containment(c.body, t.body), text_containment(t.body, c.body)) >= 0.5 AS counts
FROM copies c JOIN copies t USING (id, size) WHERE t.kind = 'text';
ANALYZE changed;

-- Texts that have a half in common.  What is right among these: the sets of
-- three-word shingles have a half in common, too, or 10 words in a row are the
-- same.
CREATE TABLE corpus AS SELECT id, body FROM docs WHERE words >= 20;
CREATE TABLE queries AS SELECT id, body FROM corpus ORDER BY id LIMIT 200;
ANALYZE corpus, queries;
ALTER TABLE corpus SET (parallel_workers = 2);
CREATE TABLE halves AS
SELECT a.id AS a, b.id AS b,
	greatest(text_containment(a.body, b.body, words => 3), text_containment(b.body, a.body, words => 3)) >= 0.5
		AS three, text_containment(a.body, b.body, words => 10) > 0 AS run
FROM queries a JOIN corpus b ON a.id <> b.id
	AND (text_containment(a.body, b.body) >= 0.5 OR text_containment(b.body, a.body) >= 0.5);
ANALYZE halves;

-- What is searched, within k: whole texts, and passages.
CREATE TABLE ways (way int GENERATED ALWAYS AS IDENTITY, name text, k int, parts boolean, prints text);
INSERT INTO ways (name, k, parts, prints)
SELECT format('`%s`', name), k, false, 'SELECT 1, 1, length(body), ' || name
FROM (VALUES ('minhash(body)', 8), ('minhash(body, chars => 3)', 8), ('simhash(body)', 12)) v (name, k);
INSERT INTO ways (name, k, parts, prints)
SELECT name, k, true,
	format('SELECT place, start, length, fp FROM minhash_passages(body, words => %s, mean_length => %s)', words, mean)
FROM (VALUES ('9 words', 6, 2, 9), ('13 words', 6, 2, 13), ('21 words', 8, 2, 21),
	('13 words, `words => 1`', 6, 1, 13)) v (name, k, words, mean);

-- Of the passages of one text and one of the other that are within k, least has how
-- many texts have one: the least of these numbers.  So they are found where only
-- passages of more texts are left out.
CREATE TABLE nearest (way int, id int, size int, kind text, least int);
CREATE TABLE costs (way int, rows float8, heap float8, index float8);
CREATE TABLE candidates (way int, a int, b int, least int);

SELECT format($$
CREATE TABLE prints AS
SELECT doc, start, length, fp
FROM (SELECT id AS doc, body FROM corpus) d, LATERAL (%2$s) p (place, start, length, fp);
CREATE INDEX prints_hamming ON prints USING hamming (fp);
INSERT INTO costs
SELECT %1$s, count(*)::float8 / n, pg_relation_size('prints')::float8 / n,
	pg_relation_size('prints_hamming')::float8 / n
FROM prints, (SELECT count(*) AS n FROM corpus) c GROUP BY n;
CREATE TABLE prints_once AS SELECT fp, array_agg(DISTINCT doc) AS docs FROM prints GROUP BY fp;
CREATE INDEX ON prints_once USING hamming (fp);
ANALYZE prints, prints_once;

CREATE TABLE parts AS
SELECT id, size, kind, fp, coalesce(cardinality(docs), 0) AS texts
FROM (SELECT DISTINCT id, size, kind, fp FROM copies, LATERAL (%2$s) p (place, start, length, fp)) c
	LEFT JOIN prints_once USING (fp);
ANALYZE parts;
INSERT INTO nearest
SELECT %1$s, id, size, c.kind, min(greatest(o.texts, c.texts))
FROM parts o JOIN parts c USING (id, size)
WHERE o.kind = 'text' AND c.kind <> 'text' AND o.fp <-> c.fp <= %3$s
GROUP BY id, size, c.kind;

CREATE TABLE asked AS
SELECT DISTINCT doc AS a, fp FROM prints WHERE doc IN (SELECT id FROM queries);
ANALYZE asked;
CREATE TABLE near AS
SELECT q.fp, o.docs, greatest(cardinality(q.docs), cardinality(o.docs)) AS texts
FROM (SELECT * FROM prints_once WHERE fp IN (SELECT fp FROM asked)) q
	JOIN prints_once o ON q.fp <-> o.fp <= %3$s;
ANALYZE near;
INSERT INTO candidates
SELECT %1$s, a, b, min(texts)
FROM asked JOIN near USING (fp), unnest(docs) b WHERE a <> b GROUP BY a, b;
DROP TABLE prints, prints_once, parts, asked, near;
$$, way, prints, k) FROM ways \gexec
ANALYZE nearest, candidates;

-- What is printed.
\echo
SELECT format('%s texts of %s words on average', count(*), round(avg(words), 1)) FROM docs WHERE words >= 20;
SELECT format('%s queries share half of either text with %s others; '
	'of these %s share half of the three-word shingles, and %s 10 words in a row',
	(SELECT count(*) FROM queries), count(*), count(*) FILTER (WHERE three), count(*) FILTER (WHERE run)) FROM halves;

-- What is left out.
CREATE TABLE leaves (name text, most int);
INSERT INTO leaves VALUES ('in at most 20', 20), ('in at most 100 texts', 100), ('all', 2147483647);
CREATE TABLE shown AS
SELECT way, ways.name, k, parts, most, leaves.name AS leave
FROM ways CROSS JOIN leaves WHERE leaves.name = 'all' OR ways.name = '13 words';
CREATE TABLE kinds (n int, kind text);
INSERT INTO kinds
SELECT n, kind
FROM unnest('{5 %,10 %,sentence,thirds,order,80 %,half,30 %,wrapped,footer,boilerplate,letters,hyphens,accents}'::text[])
	WITH ORDINALITY k (kind, n);
CREATE TABLE recalls AS
SELECT way, size, most, n, to_char(avg(coalesce(least <= most, false)::int), 'FM0.00') AS recall
FROM changed JOIN kinds USING (kind) CROSS JOIN shown LEFT JOIN nearest USING (way, id, size, kind)
WHERE counts GROUP BY way, size, most, n HAVING count(*) >= 30;

-- What enough texts have a figure of.
CREATE VIEW cells AS
SELECT way, size, most, array_agg(recall ORDER BY n) AS recalls
FROM (SELECT DISTINCT size FROM recalls) z CROSS JOIN (SELECT DISTINCT n FROM recalls) s
	CROSS JOIN (SELECT way, most FROM shown) w LEFT JOIN recalls USING (way, size, most, n)
GROUP BY way, size, most;

SELECT line
FROM (SELECT size, 0 AS way, format(E'\nRecall, %s words\n\n| passages of | k | %s |\n|---|---|%s',
			size, string_agg(format('%s (%s)', kind, texts), ' | ' ORDER BY n), repeat('--:|', count(*)::int)) AS line
	FROM (SELECT size, n, kind, count(c.id) AS texts
		FROM (SELECT DISTINCT size FROM recalls) s
			CROSS JOIN (SELECT n, kind FROM kinds WHERE n IN (SELECT n FROM recalls)) k
			LEFT JOIN (SELECT * FROM changed WHERE counts) c USING (size, kind)
		GROUP BY size, n, kind) c
	GROUP BY size
	UNION ALL
	SELECT size, way, format('| %s | %s | %s |', name, k, array_to_string(recalls, ' | ', '-'))
	FROM cells JOIN shown USING (way, most) WHERE leave = 'all') l
ORDER BY size, way;

SELECT line
FROM (SELECT 0 AS size, 0 AS most,
		format(E'\nRecall without the passages that many texts have\n
| passages of | words | passages | %s |\n|---|---|---|%s',
			string_agg(kind, ' | ' ORDER BY n), repeat('--:|', count(*)::int)) AS line
	FROM kinds WHERE n IN (SELECT n FROM recalls)
	UNION ALL
	SELECT size, most, format('| %s, k = %s | %s | %s | %s |', name, k, size, leave,
		array_to_string(recalls, ' | ', '-'))
	FROM cells JOIN shown USING (way, most) WHERE name = '13 words') l
ORDER BY size, most DESC;

-- What each query finds.
CREATE TABLE found AS
SELECT s.way, s.most, q.id AS a, count(c.b) AS found, count(h.b) AS halves, count(*) FILTER (WHERE three) AS three,
	count(*) FILTER (WHERE run) AS run
FROM shown s CROSS JOIN queries q LEFT JOIN candidates c ON c.way = s.way AND c.a = q.id AND least <= most
	LEFT JOIN halves h ON h.a = c.a AND h.b = c.b
GROUP BY s.way, s.most, q.id;

SELECT line
FROM (SELECT 0 AS way, 0 AS most, E'\nCandidates a query, what the check accepts, and what is right of it\n
| passages of | k | passages | mean | median | 95 % | accepted | three words | 10 in a row | of all halves |
|---|---|---|--:|--:|--:|--:|--:|--:|--:|' AS line
	UNION ALL
	SELECT way, most, format('| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |', name, k, leave,
		round(sum(found) / n, 1), coalesce((array_agg(found ORDER BY found DESC))[n / 2], 0),
		coalesce((array_agg(found ORDER BY found DESC))[n / 20], 0), round(sum(halves) / n, 1),
		round(sum(three) / nullif(sum(halves), 0), 3), round(sum(run) / nullif(sum(halves), 0), 3),
		round(sum(halves) / (SELECT nullif(count(*), 0) FROM halves), 3))
	FROM found JOIN shown USING (way, most), (SELECT count(*) AS n FROM queries) q
	GROUP BY way, name, k, leave, most, n) l
ORDER BY way, most DESC;

SELECT line
FROM (SELECT 0 AS way, E'\nRows and bytes a text\n\n| passages of | rows | table | index |\n|---|--:|--:|--:|' AS line
	UNION ALL
	SELECT way, format('| %s | %s | %s | %s |', name, round(rows::numeric, 1), round(heap), round(index))
	FROM costs JOIN ways USING (way) WHERE parts) l
ORDER BY way;
