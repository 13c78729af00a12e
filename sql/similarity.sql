-- text_jaccard, text_containment, text_cosine, against SQL over what
-- simhash_features says.
\pset format unaligned \pset tuples_only on \set ECHO queries

-- by hand
SELECT text_jaccard('a b c d', 'b c d e') AS jaccard,
	text_containment('b c d', 'a b c d e') AS excerpt,
	text_containment('a b c d e', 'b c d') AS whole;
SELECT text_cosine('a a b', 'b a c') AS once, text_cosine('a a b', 'a b b', tf => 'count') AS count,
	round(text_cosine('a a b', 'a b b', tf => 'log')::numeric, 4) AS log,
	text_cosine('a a b', 'a b b', NULL, NULL, NULL, NULL) AS no_tf;
-- words count once, but for the cosine of counts
SELECT text_jaccard('the cat the hat', 'The Cat: THE HAT!') AS equal,
	text_jaccard('a a a b', 'b b a', words => 1) AS counts, text_cosine('a a a b', 'b b a') AS once,
	text_cosine('a a a b', 'b b a', tf => 'count') AS cosine;
SELECT text_jaccard('to be or not', 'to be or', words => 3) AS words,
	text_jaccard('abcd', 'bcde', chars => 2) AS chars,
	text_containment('abc', 'abcde', chars => 2) AS part,
	text_cosine('a b', 'a c', '{"a": 3}') AS weighted,
	text_cosine('a b', 'a c', chars => 1) AS chars;
-- what is too short for a shingle is one feature
SELECT text_jaccard('a', 'A!') AS word, text_jaccard('a b', 'a b', words => 9) AS equal,
	text_jaccard('a b', 'a b c', words => 9) AS other;
-- stop words go before shingles are made
SELECT text_jaccard('the cat of the hat', 'a cat, hat', '{"the": 0, "of": 0, "a": 0}') AS jaccard,
	text_containment('of cat', 'the cat', '{"of": 0, "the": 0}') AS containment;

-- no features
SELECT a, b, text_jaccard(a, b), text_containment(a, b), text_cosine(a, b)
FROM (VALUES ('', 'a'), ('a', ' .,;'), ('', ''), (NULL, 'a'), ('a', NULL), (NULL, NULL)) t (a, b);
SELECT text_cosine('a b', 'a b', '{"": 0}') AS no_weight, text_cosine('a b', 'b', '{"a": 0}') AS one_word,
	text_cosine('a', 'b', '{"a": 0}') AS none_of_a, text_jaccard('a', 'b', '{"a": 0}') AS stopped_a,
	text_containment('b', 'a', '{"a": 0}') AS stopped_b;

SELECT error_of(statement) FROM (VALUES
	($$SELECT text_jaccard('a', 'b', words => 2, chars => 2)$$),
	($$SELECT text_jaccard('a', 'b', words => 0)$$),
	($$SELECT text_containment('a', 'b', chars => 65)$$),
	($$SELECT text_cosine('a', 'b', words => 2, chars => 2)$$),
	($$SELECT text_cosine('a', 'b', '{"a": 2}', chars => 2)$$),
	($$SELECT text_jaccard('a', 'b', '{"a": 0}', chars => 2)$$),
	($$SELECT text_jaccard('a', 'b', '{"a": 2}')$$),
	($$SELECT text_containment('a', 'b', '{"": 0.5}')$$),
	($$SELECT text_cosine('a', 'b', tf => 'idf')$$),
	($$SELECT text_cosine('a', repeat('a ', 65536), '{"a": 2147483648}', tf => 'count')$$),
	($$SELECT text_cosine(s, 'a', '{"": 2147483648}') FROM
		(SELECT string_agg(i::text, ' ') FROM generate_series(1, 65536) i) t (s)$$),
	($$SELECT text_cosine(s || ' ' || s, 'a', '{"": 2147483648}', tf => 'log') FROM
		(SELECT string_agg(i::text, ' ') FROM generate_series(1, 38800) i) t (s)$$)) s (statement);
-- just below an overflow
SELECT text_cosine(s || ' ' || s, s || ' a', '{"": 2147483648}', tf => tf)
FROM (VALUES ('once', 65535), ('log', 38700), ('count', 32767)) t (tf, words),
	LATERAL (SELECT string_agg(i::text, ' ') FROM generate_series(1, words - 1) i) l (s);

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
	(70, (SELECT string_agg('w' || i, ' ') FROM generate_series(1500, 4500) i)), (71, NULL),
	(72, 'これはペンです。w1'), (73, 'それはペンですか。w2 w1');
-- "without" matches the words of weight 0 of the stop list, but for a word with an
-- accent.
CREATE TABLE kinds (kind int, words int, chars int, stops simhash_weights, without text, weights simhash_weights);
INSERT INTO kinds VALUES (1, NULL, NULL, NULL, '', NULL), (2, 2, NULL, NULL, '', NULL), (3, 3, NULL, NULL, '', NULL),
	(4, NULL, 1, NULL, '', NULL), (5, NULL, 4, NULL, '', NULL), (6, 1, NULL, NULL, '', NULL),
	(7, NULL, NULL, '{"w1": 0, "w2": 0}', '\m(w1|w2)\M', '{"w1": 3.7, "w2": 0, "": 0.25}'),
	(8, 3, NULL, '{"w1": 0, "w3": 1}', '\mw1\M', '{"w1": 100, "w3": 0.0001, "": 0.00007}'),
	(9, NULL, NULL, '{"": 0, "w1": 1, "w2": 1}', '[^\x01-\x7f]|\m(?!w1\M|w2\M)\w+', '{"w1": 0.00002, "": 0.001}');

CREATE TABLE features AS
SELECT kind, id, hash
FROM bodies, kinds, simhash_features(regexp_replace(body, without, '', 'g'), NULL,
	coalesce(words, CASE WHEN chars IS NULL THEN 2 END), chars)
WHERE id <> 66 OR without = '';
ANALYZE features;
CREATE TABLE sizes AS SELECT kind, id, count(*) AS features FROM features GROUP BY kind, id;
ANALYZE sizes;
CREATE TABLE sets AS
SELECT x.kind, x.id AS a, y.id AS b, x.features AS fa, y.features AS fb, coalesce(shared, 0) AS shared
FROM sizes x JOIN sizes y ON y.kind = x.kind
	LEFT JOIN (SELECT kind, a.id AS a, b.id AS b, count(*) AS shared
		FROM features a JOIN features b USING (kind, hash) GROUP BY kind, a.id, b.id) common
		ON common.kind = x.kind AND a = x.id AND b = y.id;
ANALYZE sets;
CREATE VIEW compared AS
SELECT kinds.*, a.id AS a, b.id AS b, a.body AS x, b.body AS y
FROM kinds, bodies a, bodies b
WHERE (a.id < 67 AND b.id < 67 OR a.id > 64 AND b.id > 64)
	AND (66 NOT IN (a.id, b.id) OR without = '');

-- Which are not what SQL says?  Equal sets have equal fingerprints.
SELECT count(*) AS compared, count(jaccard) AS not_null, count(*) FILTER (WHERE jaccard = 1) AS equal,
	count(*) FILTER (WHERE jaccard IS DISTINCT FROM shared / (fa + fb - shared)::float8) AS jaccards,
	count(*) FILTER (WHERE containment IS DISTINCT FROM shared / fa::float8) AS containments,
	count(*) FILTER (WHERE jaccard = 1 AND fp <> fp_of_b) AS fingerprints
FROM (SELECT kind, a, b, text_jaccard(x, y, stops, words, chars) AS jaccard,
		text_containment(x, y, stops, words, chars) AS containment,
		minhash(x, stops, words, chars) AS fp, minhash(y, stops, words, chars) AS fp_of_b
	FROM compared) t
LEFT JOIN sets USING (kind, a, b);

-- The same of cosines, for each tf.  They are rounded: SQL adds up in any order.
CREATE TABLE vectors AS
SELECT kind, tf, id, hash, factor * weight AS number
FROM bodies, kinds, unnest('{once,log,count}'::text[]) tf, simhash_features(body, weights, words, chars, tf)
WHERE id <> 66 OR without = '';
ANALYZE vectors;
CREATE TABLE sums AS
SELECT kind, tf, id, sum(number ^ 2) AS squares FROM vectors GROUP BY kind, tf, id;
ANALYZE sums;
CREATE TABLE cosines AS
SELECT x.kind, x.tf, x.id AS a, y.id AS b, coalesce(product, 0) / sqrt(nullif(x.squares * y.squares, 0)) AS expected
FROM sums x JOIN sums y ON y.kind = x.kind AND y.tf = x.tf
	LEFT JOIN (SELECT kind, tf, a.id AS a, b.id AS b, sum(a.number * b.number) AS product
		FROM vectors a JOIN vectors b USING (kind, tf, hash) GROUP BY kind, tf, a.id, b.id) common
		ON common.kind = x.kind AND common.tf = x.tf AND a = x.id AND b = y.id;
ANALYZE cosines;
SELECT tf, count(*) AS compared, count(cosine) AS not_null,
	count(*) FILTER (WHERE abs(cosine - expected) > 1e-12 OR (cosine IS NULL) <> (expected IS NULL)) AS wrong
FROM (SELECT kind, tf, a, b, text_cosine(x, y, weights, words, chars, tf) AS cosine
	FROM compared, unnest('{once,log,count}'::text[]) tf) t
LEFT JOIN cosines USING (kind, tf, a, b)
GROUP BY tf ORDER BY tf;

-- the defaults are those of minhash and of simhash
SELECT count(*) FILTER (WHERE text_jaccard(x, y) IS DISTINCT FROM text_jaccard(x, y, words => 2)) AS jaccards,
	count(*) FILTER (WHERE text_containment(x, y) IS DISTINCT FROM text_containment(x, y, words => 2)) AS containments,
	count(*) FILTER (WHERE text_cosine(x, y) IS DISTINCT FROM text_cosine(x, y, words => 1, tf => 'once')) AS cosines,
	count(*) FILTER (WHERE text_jaccard(x, y) <> text_jaccard(x, y, words => 1)) > 0 AS differ
FROM compared WHERE kind = 1;
-- the same for either order, and 1 for a text with itself
SELECT count(*) FILTER (WHERE text_jaccard(x, y) IS DISTINCT FROM text_jaccard(y, x)) AS jaccards,
	count(*) FILTER (WHERE text_cosine(x, y, weights, tf => 'log') IS DISTINCT FROM
		text_cosine(y, x, weights, tf => 'log')) AS cosines
FROM compared WHERE kind = 7 AND a < b;
SELECT DISTINCT text_jaccard(body, body), text_containment(body, body), text_cosine(body, body),
	text_cosine(body, body, '{"w1": 1.1, "": 0.3}', tf => 'log') AS log,
	text_cosine(body, body, '{"w1": 1.1, "": 0.3}', tf => 'count') AS count
FROM bodies ORDER BY 1;

-- The features of a text that comes again are kept.  The values are those of calls that
-- keep nothing, as each is a statement of its own: whichever text comes again, with the
-- same options and with others, out of line, compressed, NULL, or with more features than
-- there is room for.  Some texts differ, but have one length.
CREATE TABLE texts (id serial, body text);
INSERT INTO texts (body) SELECT body FROM bodies WHERE id IN (1, 30, 33, 61, 62, 63, 64, 65, 68, 71, 73) ORDER BY id;
INSERT INTO texts (body) SELECT format('w%s w%s w%s w1', i % 2, i % 3, i % 5) FROM generate_series(1, 12) i;
ALTER TABLE texts ALTER body SET STORAGE EXTERNAL;
INSERT INTO texts (body) SELECT body FROM bodies WHERE id IN (69, 70);
INSERT INTO texts (body) SELECT string_agg('w' || i % 500, ' ') FROM generate_series(1, 2) j, generate_series(1, 600 * j, j) i GROUP BY j;
-- a text stays for 8 calls, on a side that changes, and the options for 3, or for 1
CREATE TABLE calls AS
SELECT n, CASE WHEN draw % 3 > 0 THEN stays ELSE other END AS a, CASE WHEN draw % 3 > 0 THEN other ELSE stays END AS b,
	1 + CASE WHEN n % 400 < 200 THEN n / 3 ELSE draw / 1000 END % 9 AS kind, tf
FROM generate_series(0, 2999) n, LATERAL (SELECT ('x' || md5('call ' || n))::bit(31)::int AS draw,
	1 + ('x' || md5('stays ' || n / 8))::bit(31)::int % 27 AS stays) d,
	LATERAL (SELECT CASE WHEN draw % 7 = 0 THEN stays ELSE 1 + draw / 10 % 27 END AS other,
		('{once,log,count}'::text[])[1 + draw / 5 % 3] AS tf) o;
-- and some calls have only three texts, as either argument, and options that change now and then
INSERT INTO calls
SELECT n, one[1 + draw % 3], one[1 + draw / 3 % 3], 1 + n / (1 + n / 100 % 7) % 9, ('{once,log,count}'::text[])[1 + n / 30 % 3]
FROM generate_series(3000, 3699) n, LATERAL (SELECT ('x' || md5('few ' || n))::bit(31)::int AS draw,
	ARRAY(SELECT 1 + ('x' || md5(n / 35 || ' one ' || i))::bit(31)::int % 27 FROM generate_series(1, 3) i) AS one) d;
\set ECHO none
CREATE FUNCTION similarities(x text, y text, stops simhash_weights, weights simhash_weights, words int, chars int,
	tf text) RETURNS float8[] LANGUAGE plpgsql AS $$
DECLARE
	result float8[];
BEGIN
	EXECUTE 'SELECT ARRAY[text_jaccard($1, $2, $3, $5, $6), text_containment($1, $2, $3, $5, $6),
		text_cosine($1, $2, $4, $5, $6, $7)]' INTO result USING x, y, stops, weights, words, chars, tf;
	RETURN result;
END $$;
CREATE FUNCTION kept_and_not(most int, OUT compared bigint, OUT values_found bigint, OUT differ bigint) LANGUAGE sql AS $$
	SELECT count(*), count(DISTINCT kept), count(*) FILTER (WHERE kept <> similarities(x, y, stops, weights, words, chars, tf)
		OR kept IS NULL)
	FROM (SELECT *, ARRAY[text_jaccard(x, y, stops, words, chars), text_containment(x, y, stops, words, chars),
			text_cosine(x, y, weights, words, chars, tf)] AS kept
		FROM (SELECT *, (SELECT body FROM texts WHERE id = a) AS x, (SELECT body FROM texts WHERE id = b) AS y
			FROM (SELECT (SELECT k FROM kinds k WHERE k.kind = c.kind).*, a, b, tf FROM calls c WHERE n < most ORDER BY n OFFSET 0) c OFFSET 0) t
		OFFSET 0) t
$$;
\set ECHO queries
SELECT * FROM kept_and_not(3700);
SET work_mem = '64kB';
SELECT * FROM kept_and_not(1200);
RESET work_mem;

-- Texts that are equal byte by byte: 1, or NULL without a feature; inline, out of line and compressed,
-- also where a text begins with more than 256 bytes that are no word.
CREATE TABLE equal (body text, outside text);
ALTER TABLE equal ALTER outside SET STORAGE EXTERNAL;
INSERT INTO equal (body) SELECT body FROM bodies WHERE id IN (1, 30, 33, 61, 62, 63, 67, 68, 69, 71, 72);
INSERT INTO equal (body) SELECT repeat('-', n) || word FROM unnest('{0,1,250,254,255,256,257,3000,5000}'::int[]) n,
	unnest(ARRAY['', 'a', U&'\00e9', U&'\0301', U&'\0301 a b', U&'\6771\4eac a', 'w1 w2', '. .']) word;
UPDATE equal SET outside = body;
-- which are not what the features say, of a text with itself, and of two that are stored in two ways?
SELECT count(*) AS compared, count(expected) AS not_null, count(*) FILTER (WHERE (jaccard, containment, cosine) IS DISTINCT FROM
	(expected, expected, expected)) AS wrong
FROM (SELECT expected, text_jaccard(a, b, stops, words, chars) AS jaccard, text_containment(a, b, stops, words, chars) AS containment,
		CASE WHEN stops IS NULL THEN text_cosine(a, b, NULL, words, chars, tf) ELSE text_jaccard(b, a, stops, words, chars) END AS cosine
	FROM equal, kinds, unnest('{once,count}'::text[]) tf, LATERAL (SELECT (SELECT 1::float8 FROM simhash_features(
			regexp_replace(body, without, '', 'g'), NULL, coalesce(words, CASE WHEN chars IS NULL THEN 2 END), chars) LIMIT 1) AS expected OFFSET 0) e,
		LATERAL (VALUES (body, body), (outside, outside), (body, outside), (outside, body), (body, body || ''), (body || '', outside)) v (a, b)) s;
-- of one length, but not equal
SELECT max(text_jaccard(body || 'x y', outside || 'x z')) < 1 AS jaccard, max(text_containment(outside || 'x y', body || 'x z')) < 1 AS containment,
	max(text_cosine(body || 'x y', body || 'x z')) < 1 AS cosine FROM equal;
-- all words stopped, no weight, and a weight that is too much: as of other texts
SELECT text_jaccard('a b', 'a b', '{"a": 0, "b": 0}') AS stopped, text_containment('a b', 'a b', '{"": 0}') AS all_stopped,
	text_jaccard('a b', 'a b', '{"a": 0}') AS one_stopped, text_cosine('a b', 'a b', '{"": 0}') AS no_weight,
	text_cosine('a b', 'a b', '{"a": 0, "b": 0.00002}', tf => 'log') AS some_weight,
	text_cosine('a b', 'a b', words => 1, tf => 'count') AS count;
SELECT error_of(statement) FROM unnest(ARRAY[
	$$SELECT text_cosine(s, s, '{"a": 2147483648}', tf => 'count') FROM (VALUES (repeat('a ', 65536))) t (s)$$,
	$$SELECT text_cosine(s, s, '{"": 2147483648}') FROM (SELECT string_agg(i::text, ' ') FROM generate_series(1, 65536) i) t (s)$$,
	$$SELECT text_jaccard(s, s, words => 0) FROM (VALUES ('a')) t (s)$$, $$SELECT text_jaccard(s, s, '{"a": 2}') FROM (VALUES ('a')) t (s)$$,
	$$SELECT text_cosine(s, s, tf => 'idf') FROM (VALUES ('a')) t (s)$$]) statement;
-- more features than work_mem has room for
SET work_mem = '64kB';
SELECT text_jaccard(s, s || '', words => 1) AS jaccard, text_containment(s, s) AS containment, text_cosine(s, s, tf => 'log') AS cosine,
	text_jaccard(s, s, '{"1": 0}') AS stopped, text_cosine(s, s, '{"1": 3}') AS weighted
FROM (SELECT string_agg(i::text, ' ') FROM generate_series(1, 30000) i) t (s);
RESET work_mem;

-- the total that an error shows is that of the first text
SELECT error_of($$SELECT count(text_cosine(CASE WHEN n < 4 THEN n::text ELSE repeat('b ', 65540) END,
	CASE WHEN n < 4 THEN 'a' ELSE repeat('a ', 70000) END, '{"": 2147483648}', tf => 'count'))
	FROM unnest('{1,2,3,4}'::int[]) n$$);

-- A call costs as much as its texts are long, inline or out of line, so that the shorter
-- come first; and 650 where nobody knows the length.
CREATE FUNCTION cost_of(call text, tables text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	with_call json;
	without json;
BEGIN
	EXECUTE format('EXPLAIN (FORMAT json) SELECT %s FROM %s', call, tables) INTO with_call;
	EXECUTE format('EXPLAIN (FORMAT json) SELECT FROM %s', tables) INTO without;
	RETURN ((with_call -> 0 -> 'Plan' ->> 'Total Cost')::float8 - (without -> 0 -> 'Plan' ->> 'Total Cost')::float8)
		/ current_setting('cpu_operator_cost')::float8 / (without -> 0 -> 'Plan' ->> 'Plan Rows')::float8;
END $$;
CREATE TABLE widths (narrow text, wide varchar);
CREATE TABLE outside (body text);
ALTER TABLE widths ALTER narrow SET STORAGE PLAIN, ALTER wide SET STORAGE PLAIN;
ALTER TABLE outside ALTER body SET STORAGE EXTERNAL;
INSERT INTO widths SELECT repeat('abc ', 125), repeat('abc ', 1250) FROM generate_series(1, 1000);
INSERT INTO outside SELECT repeat('abc ', 1250) FROM generate_series(1, 1000);
SELECT round(cost_of('text_jaccard(body, body)', 'outside')) AS unknown;
ANALYZE widths, outside;
SELECT round(cost_of(format('%s(%s, %s)', name, a, b), tables) / 650) AS times, name, a, left(b, 40) AS b
FROM (VALUES ('text_jaccard', 'narrow', 'narrow', 'widths'), ('text_containment', 'wide', 'wide', 'widths'),
	('text_cosine', 'wide', 'narrow', 'widths'), ('text_jaccard', 'body', 'body', 'outside'),
	('text_jaccard', 'body', format('%L', repeat('x', 15000)), 'outside'), ('text_jaccard', 'narrow', 'NULL', 'widths'),
	('text_jaccard', 'narrow', 'lower(narrow)', 'widths'),
	('text_jaccard', 'narrow', 'x', '(SELECT narrow, wide || 1 AS x FROM widths OFFSET 0) t')) c (name, a, b, tables);
EXPLAIN (COSTS OFF) SELECT FROM widths WHERE text_jaccard(wide, wide) > 0.5 AND text_jaccard(narrow, 'abc') > 0.5;
-- here the planner asks before it knows its tables
SELECT count(*) FROM widths WHERE text_jaccard(narrow, 'abc') NOT IN (SELECT text_jaccard(wide, 'abc') FROM widths);
PREPARE likeness(text) AS SELECT count(text_jaccard(narrow, $1)) FROM widths;
SET plan_cache_mode = force_generic_plan;
EXECUTE likeness('abc abc');
RESET plan_cache_mode;
DEALLOCATE likeness;
DROP TABLE widths, outside;
DROP FUNCTION cost_of;

-- more features than work_mem has room for, whichever text has them
CREATE TABLE long AS
SELECT string_agg(i::text, ' ') AS a, string_agg((i * 2)::text, ' ') AS b FROM generate_series(1, 100000) i;
CREATE VIEW of_long AS
SELECT text_jaccard(a, b, words => 1) AS jaccard, text_containment('2 4 6 x', b, words => 1) AS part,
	text_containment(b, '2 4 6 x', words => 1) AS whole, text_cosine(a || ' ' || a, b) AS cosine,
	text_cosine(a || ' 2 4', b, '{"1": 3, "2": 5.3}', tf => 'count') AS count,
	text_cosine(a || ' 2 4', b, '{"1": 3, "2": 5.3}', tf => 'log') AS log
FROM long;
SET work_mem = '64kB';
TABLE of_long;
SET work_mem = '256MB';
TABLE of_long;
RESET work_mem;

-- minhash_jaccard: the estimate at each distance
SELECT bool_and(minhash_jaccard(0::bigint::simhash64, repeat('1', d)::bit varying::bit(64)::simhash64) = greatest(0, 1 - d / 32.0))
FROM generate_series(0, 64) d;
-- two literals are fingerprints for it and for simhash_cosine, as they are for <->
SELECT minhash_jaccard('0123456789abcdef', '0123456789abcdee') AS jaccard,
	simhash_cosine('0123456789abcdef', '0123456789abcdee') AS cosine;
SELECT error_of($$SELECT simhash_cosine('a b', 'a c')$$);
DROP VIEW compared, of_long;
DROP FUNCTION kept_and_not, similarities;
DROP TABLE bodies, kinds, features, sizes, sets, vectors, sums, cosines, long, texts, calls, equal;
