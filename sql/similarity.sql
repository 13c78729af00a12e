-- simhash_jaccard, simhash_containment, simhash_cosine of texts, against SQL over
-- what simhash_features says.

-- by hand
SELECT simhash_jaccard('a b c', 'b c d') AS jaccard,
	simhash_containment('b c', 'a b c d') AS excerpt,
	simhash_containment('a b c d', 'b c') AS whole,
	simhash_cosine('a a b', 'a b b') AS cosine;
-- words count once, but for the cosine
SELECT simhash_jaccard('the cat the hat', 'The Cat: THE HAT!') AS equal,
	simhash_jaccard('a a a b', 'b b a') AS counts, simhash_cosine('a a a b', 'b b a') AS cosine;
SELECT simhash_jaccard('to be or not', 'to be or', words => 2) AS words,
	simhash_jaccard('abcd', 'bcde', chars => 2) AS chars,
	simhash_containment('abc', 'abcde', chars => 2) AS part,
	simhash_cosine('a b', 'a c', '{"a": 3}') AS weighted,
	simhash_cosine('a b', 'a c', chars => 1) AS chars;
-- what is too short for a shingle is one feature
SELECT simhash_jaccard('a b', 'a b', words => 9) AS equal, simhash_jaccard('a b', 'a b c', words => 9) AS other;

-- no features
SELECT a, b, simhash_jaccard(a, b), simhash_containment(a, b), simhash_cosine(a, b)
FROM (VALUES ('', 'a'), ('a', ' .,;'), ('', ''), (NULL, 'a'), ('a', NULL), (NULL, NULL)) t (a, b);
SELECT simhash_cosine('a b', 'a b', '{"": 0}') AS no_weight, simhash_cosine('a b', 'b', '{"a": 0}') AS one_word,
	simhash_cosine('a', 'b', '{"a": 0}') AS none_of_a;
-- two literals are texts
SELECT simhash_cosine('0123456789abcdef', '0123456789abcdee') AS texts,
	simhash_cosine('0123456789abcdef'::simhash64, '0123456789abcdee') AS fingerprints;

SELECT error_of(statement) FROM (VALUES
	($$SELECT simhash_jaccard('a', 'b', words => 2, chars => 2)$$),
	($$SELECT simhash_jaccard('a', 'b', words => 0)$$),
	($$SELECT simhash_containment('a', 'b', chars => 65)$$),
	($$SELECT simhash_cosine('a', 'b', '{"a": 2}', chars => 2)$$),
	($$SELECT simhash_cosine(repeat('a ', 65536), 'a', '{"a": 2147483648}')$$)) s (statement);

-- Random texts of few words, so that many are shared; Chinese; hostile ones.
CREATE TABLE bodies AS
SELECT id, CASE WHEN id % 3 = 0 THEN string_agg(chr(19968 + draw % 30), '')
	ELSE string_agg('w' || draw % (id % 37 + 1), ' ') END AS body
FROM generate_series(1, 60, 2) id, generate_series(1, id * id % 97 + 1) place,
	LATERAL (SELECT ('x' || md5(id || ' ' || place))::bit(31)::int AS draw) d
GROUP BY id;
INSERT INTO bodies VALUES (61, ''), (62, ' - '), (63, 'w1'), (64, 'w1 w2'), (65, repeat('w1 ', 10000)),
	(66, U&'w1\0301 w2'), (67, repeat('x', 20000)), (68, repeat('x', 20000) || ' w1'),
	(69, (SELECT string_agg('w' || i, ' ') FROM generate_series(1, 3000) i)),
	(70, (SELECT string_agg('w' || i, ' ') FROM generate_series(1500, 4500) i)), (71, NULL);
CREATE TABLE kinds (kind int, words int, chars int, weights simhash_weights);
INSERT INTO kinds VALUES (1, NULL, NULL, NULL), (2, 2, NULL, NULL), (3, 3, NULL, NULL), (4, NULL, 1, NULL),
	(5, NULL, 4, NULL), (6, NULL, NULL, '{"w1": 3.7, "w2": 0, "": 0.25}'), (7, 2, NULL, '{"w1": 100, "w3": 0.001}');
CREATE TABLE vectors AS
SELECT kind, id, hash, count * weight AS number
FROM bodies, kinds, simhash_features(body, weights, words, chars);
ANALYZE vectors;
CREATE TABLE sums AS
SELECT kind, id, count(*) AS features, sum(number ^ 2) AS squares FROM vectors GROUP BY kind, id;
ANALYZE sums;
CREATE TABLE expected AS
SELECT x.kind, x.id AS a, y.id AS b, x.features AS fa, y.features AS fb, coalesce(shared, 0) AS shared,
	coalesce(product, 0) AS product, nullif(x.squares * y.squares, 0) AS squares
FROM sums x JOIN sums y ON y.kind = x.kind
	LEFT JOIN (SELECT kind, a.id AS a, b.id AS b, count(*) AS shared, sum(a.number * b.number) AS product
		FROM vectors a JOIN vectors b USING (kind, hash) GROUP BY kind, a.id, b.id) common
		ON common.kind = x.kind AND a = x.id AND b = y.id;
ANALYZE expected;

-- Which are not what SQL says?  A cosine is rounded: SQL adds up in any order.
SELECT count(*) AS compared, count(jaccard) AS not_null,
	count(*) FILTER (WHERE jaccard IS DISTINCT FROM shared / (fa + fb - shared)::float8) AS jaccards,
	count(*) FILTER (WHERE containment IS DISTINCT FROM shared / fa::float8) AS containments,
	count(*) FILTER (WHERE abs(cosine - product / sqrt(squares)) > 1e-12
		OR (cosine IS NULL) <> (squares IS NULL)) AS cosines
FROM (SELECT kind, a.id AS a, b.id AS b, simhash_jaccard(a.body, b.body, words, chars) AS jaccard,
		simhash_containment(a.body, b.body, words, chars) AS containment,
		simhash_cosine(a.body, b.body, weights, words, chars) AS cosine
	FROM kinds, bodies a, bodies b WHERE a.id < 67 AND b.id < 67 OR a.id > 60 AND b.id > 60) t
LEFT JOIN expected USING (kind, a, b);

-- the same for either order, and 1 for a text with itself
SELECT count(*) FILTER (WHERE simhash_jaccard(a.body, b.body) IS DISTINCT FROM simhash_jaccard(b.body, a.body)) AS jaccards,
	count(*) FILTER (WHERE simhash_cosine(a.body, b.body, weights) IS DISTINCT FROM
		simhash_cosine(b.body, a.body, weights)) AS cosines
FROM bodies a, bodies b, (SELECT weights FROM kinds WHERE kind = 6) w WHERE a.id < b.id;
SELECT DISTINCT simhash_jaccard(body, body), simhash_containment(body, body), simhash_cosine(body, body),
	simhash_cosine(body, body, '{"w1": 1.1, "": 0.3}')
FROM bodies ORDER BY 1;

-- more features than work_mem has room for, whichever text has them
CREATE TABLE long AS
SELECT string_agg(i::text, ' ') AS a, string_agg((i * 2)::text, ' ') AS b FROM generate_series(1, 100000) i;
SET work_mem = '64kB';
SELECT simhash_jaccard(a, b), simhash_containment('2 4 6 x', b), simhash_containment(b, '2 4 6 x'),
	simhash_cosine(a || ' ' || a, b), simhash_cosine(a, b, '{"1": 3, "2": 5}')
FROM long;
SET work_mem = '256MB';
SELECT simhash_jaccard(a, b), simhash_containment('2 4 6 x', b), simhash_containment(b, '2 4 6 x'),
	simhash_cosine(a || ' ' || a, b), simhash_cosine(a, b, '{"1": 3, "2": 5}')
FROM long;
RESET work_mem;

-- minhash_jaccard: the estimate at each distance
SELECT bool_and(minhash_jaccard(0::bigint::simhash64, repeat('1', d)::bit varying::bit(64)::simhash64) = greatest(0, 1 - d / 32.0))
FROM generate_series(0, 64) d;
DROP TABLE bodies, kinds, vectors, sums, expected, long;
