-- minhash_passages() and minhash_passages_128(): where a text is cut, and what of.
\pset format unaligned \pset tuples_only on \set ECHO queries

CREATE TABLE speech AS SELECT 'Four score and seven years ago our fathers brought forth, on this continent, a new nation, '
	'conceived in Liberty, and dedicated to the proposition that all men are created equal. Now we are engaged in a great civil war, '
	'testing whether that nation, or any nation so conceived and so dedicated, can long endure.'::text AS body;
SELECT p.* FROM speech, minhash_passages(body) p ORDER BY place;
SELECT place, substr(body, start, length) FROM speech, minhash_passages(body, mean_length => 5) ORDER BY place;
SELECT place, passage, fp FROM minhash_passages('東京都に住む人と、大阪府に住む人の話。', words => 1, mean_length => 5) ORDER BY place;

-- Bodies of all kinds, and what may be asked of them.
CREATE TABLE bodies AS
SELECT id, string_agg(CASE id % 4 WHEN 0 THEN chr(19968 + draw % 300) ELSE CASE id % 3 WHEN 0 THEN 'W' ELSE 'é' END || draw % (id * 7) END,
	CASE id % 5 WHEN 0 THEN '' WHEN 1 THEN E' --\n' ELSE ' ' END ORDER BY place) AS body
FROM generate_series(1, 60) id, generate_series(1, id * id / 5) place,
	LATERAL (SELECT ('x' || md5(id || ' ' || place))::bit(31)::int AS draw) d
GROUP BY id;
INSERT INTO bodies VALUES (61, 'one'), (62, ' (a b) '), (63, 'a ' || repeat('x', 9000) || ' b a ' || repeat('x', 9000) || ' c'),
	(64, repeat('again ', 3000) || 'and again'), (65, (SELECT string_agg(body, E'\n') || repeat(' ', 70000) || 'end' FROM bodies)),
	(66, U&'cafe\0301 CAF\00c9 \00bd\fdfa x\00ady \0378 \1112\1161\11ab\1112 a' || repeat(U&'\0301\0327', 3000) || ' ﬁ' || repeat(U&' Ⅷ.e\0301', 50));
CREATE TABLE calls AS
SELECT id, o.*, p.* FROM bodies,
	(VALUES (NULL::simhash_weights, NULL::int, NULL::int, NULL::int), (NULL, 1, NULL, 21), (NULL, 5, NULL, 4), (NULL, 64, NULL, 51),
		(NULL, 3, NULL, 1001), (NULL, NULL, 1, 20), (NULL, NULL, 3, NULL), (NULL, NULL, 9, 3), ('{"w1": 0, "w2": 0, "again": 0, "é3": 0}', 2, NULL, 7))
	o (weights, words, chars, mean),
	minhash_passages(body, weights, words, chars, mean) p;
CREATE TABLE wide_calls AS
SELECT id, o.*, p.* FROM bodies, (SELECT DISTINCT weights, words, chars, mean FROM calls) o, minhash_passages_128(body, weights, words, chars, mean) p;
-- The fingerprint is that of what is shown.  With 128 bits the cuts are the same.
SELECT words, chars, mean, stops, count(*), max(place) AS most,
	count(*) FILTER (WHERE fp IS DISTINCT FROM minhash(passage, words => words, chars => chars)) AS other_fingerprint,
	count(*) FILTER (WHERE wide_fp IS DISTINCT FROM minhash_128(passage, words => words, chars => chars)) AS other_wide,
	count(*) FILTER (WHERE wide_passage IS DISTINCT FROM passage) AS other_cut
FROM (SELECT c.*, c.weights IS NOT NULL AS stops, w.fp AS wide_fp, w.passage AS wide_passage FROM calls c FULL JOIN wide_calls w
		ON (c.id, c.mean IS NULL, c.mean, c.chars, c.place, c.start, c.length)::text = (w.id, w.mean IS NULL, w.mean, w.chars, w.place, w.start, w.length)::text) s
GROUP BY words, chars, mean, stops ORDER BY 1, 2, 3, 4;
-- One after the other they are all of the text.
SELECT count(*), count(*) FILTER (WHERE start + length <> coalesce(next, length(body) + 1) OR (place = 1 AND start > 1) OR length < 0) AS wrong
FROM (SELECT *, lead(start) OVER (PARTITION BY id, weights, words, chars, mean ORDER BY place) AS next FROM calls) c JOIN bodies USING (id);
SELECT count(*), count(*) FILTER (WHERE all_of_it IS DISTINCT FROM body) AS wrong
FROM (SELECT id, string_agg(substr(body, start, length), '' ORDER BY place) AS all_of_it FROM calls JOIN bodies USING (id)
	WHERE id <> 65 GROUP BY id, weights, words, chars, mean) s JOIN bodies USING (id);
-- A cut belongs to a word: what is shown of the text has the words of the passage.
SELECT count(*), count(*) FILTER (WHERE minhash(substr(body, start, length), words => words) IS DISTINCT FROM fp) AS other
FROM calls JOIN bodies USING (id) WHERE chars IS NULL AND weights IS NULL AND id < 64 AND id % 4 <> 0;

-- The definition, in SQL: a pair of words begins a passage if its hash is less than those of radius pairs before, and not greater
-- than those of radius pairs after.
CREATE FUNCTION cuts(words text[], radius int) RETURNS text[] LANGUAGE sql AS $$
WITH pairs AS MATERIALIZED (SELECT i, a, CASE WHEN b IS NOT NULL THEN simhash_tokens(ARRAY[a || ' ' || b]) END AS key
		FROM (SELECT i, a, lead(a) OVER (ORDER BY i) AS b FROM unnest(words) WITH ORDINALITY u (a, i)) w),
	around AS (SELECT *, array_agg(key) OVER (ORDER BY i ROWS BETWEEN radius PRECEDING AND 1 PRECEDING) AS before,
			array_agg(key) OVER (ORDER BY i ROWS BETWEEN 1 FOLLOWING AND radius FOLLOWING) AS after
		FROM pairs),
	numbered AS (SELECT i, a, count(*) FILTER (WHERE cardinality(before) = radius AND cardinality(after) = radius
			AND after[radius] IS NOT NULL AND key < ALL (before) AND key <= ALL (after)) OVER (ORDER BY i) AS n
		FROM around)
SELECT array_agg(passage ORDER BY n) FROM (SELECT n, string_agg(a, ' ' ORDER BY i) AS passage FROM numbered GROUP BY n) p
$$;
SELECT mean, kinds, count(*) AS texts, sum(cardinality(passages)) AS passages,
	count(*) FILTER (WHERE passages IS DISTINCT FROM cuts(words, mean / 2)) AS wrong
FROM (SELECT kinds, array_agg('w' || ('x' || md5(id || ' ' || place))::bit(31)::int % kinds ORDER BY place) AS words
		FROM generate_series(1, 20) id, generate_series(1, id * id / 2) place, unnest('{1,2,5,100,100000}'::int[]) kinds GROUP BY id, kinds) t,
	unnest('{3,4,13,30,101}'::int[]) mean,
	LATERAL (SELECT array_agg(passage ORDER BY place) AS passages FROM minhash_passages(array_to_string(words, ' '), mean_length => mean)) p
GROUP BY mean, kinds ORDER BY mean, kinds;

-- The fingerprint is that of the passage in a text of many buffers, too, wherever one ends, and the passage stands where it is
-- said to: digits, and single ideographs.
SELECT count(*) > 5000 AS many, bool_and(fp IS NOT DISTINCT FROM minhash(passage, chars => 3)) AS same,
	bool_and(passage = rtrim(substr(body, start, length))) AS there
FROM (SELECT string_agg(i::text, ' ' ORDER BY i) FROM generate_series(1, 4000) i) b (body), minhash_passages(body, chars => 3, mean_length => 3);
SELECT count(*) > 1000 AS many, bool_and(fp IS NOT DISTINCT FROM minhash(passage, words => 1)) AS same,
	bool_and(passage = rtrim(substr(body, start, length))) AS there
FROM (SELECT string_agg(chr(19968 + i), ' ' ORDER BY i) FROM generate_series(1, 5000) i) b (body),
	minhash_passages(body, words => 1, mean_length => 3);

-- What is far away does not move a cut: all passages of a text but the first and the last are those of any text around it.
WITH inner_texts AS (SELECT id, body FROM bodies WHERE id BETWEEN 20 AND 60 AND id % 4 > 0)
SELECT count(*), count(*) FILTER (WHERE passage NOT IN (SELECT passage FROM minhash_passages('Any words that come before it: ' || body || ', or after it.')))
FROM inner_texts, LATERAL (SELECT *, max(place) OVER () AS last FROM minhash_passages(body)) p WHERE place > 2 AND place < last - 1;

-- No text, no passage.  No more passages than there are words.
SELECT count(*) FROM (VALUES (NULL), (''), (' .,;!?')) t (body), minhash_passages(body);
SELECT count(*) FROM minhash_passages('the the the the', '{"the": 0}');
SELECT place, start, length, passage FROM minhash_passages('The cat: the hat, the mat and the bat', '{"the": 0}', mean_length => 3) ORDER BY place;
-- In a target list, and again and again.
SELECT (minhash_passages(body, mean_length => 101)).place FROM speech;
SELECT count(*), count(DISTINCT md5(p::text)) FROM generate_series(1, 300) i, LATERAL (SELECT body FROM speech OFFSET i * 0) s,
	minhash_passages(body) p;

SELECT call, error_of('SELECT * FROM ' || call) FROM (VALUES ($$minhash_passages('a', mean_length => 2)$$), ($$minhash_passages('a', mean_length => 1002)$$),
	($$minhash_passages('a', mean_length => -2147483648)$$), ($$minhash_passages_128('a', mean_length => 0)$$),
	($$minhash_passages('a', words => 65)$$), ($$minhash_passages('a', words => 2, chars => 3)$$),
	($$minhash_passages('a', weights => '{"a": 0}', chars => 3)$$), ($$minhash_passages('a', weights => '{"a": 2}')$$)) c (call);

DROP TABLE speech, bodies, calls, wide_calls;
DROP FUNCTION cuts;
