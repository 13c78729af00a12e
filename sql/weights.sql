-- the text form: a JSON object, in one order, without what is the default
\pset format unaligned \pset tuples_only on \set ECHO queries
SELECT '{"the": 0, "postgres": 2.5, "": 1}'::simhash_weights,
	'{}'::simhash_weights, ' { } '::simhash_weights, '{"":0.25}'::simhash_weights,
	E'\t{"b" :1e0,\n"a":-0 ,"c":1E-3}'::simhash_weights;
SELECT '{"x": 0.1, "y": 2147483648, "z": 5e-324, "v": 1e-400, "w": 3.141592653589793238}'::simhash_weights;
-- keys are normalised as text is
SELECT '{"The": 1, "CAFÉ": 2, "\uFF21\u0301": 3, " \"x\" ": 4, "日本": 5, "字": 6, "\ud801\udc00": 7, "\\\/\b\f\n\r\ty": 8}'::simhash_weights;

-- round trips: text, binary, jsonb, rows
SELECT bool_and(w = w::text::simhash_weights) AS text,
	bool_and(w = w::jsonb::simhash_weights) AS jsonb
FROM (VALUES ('{}'::simhash_weights), ('{"": 0}'), ('{"": 1.5, "a": 0.1, "é": 1e-7, "日本": 2147483648}')) v(w);
SELECT simhash_weights_send('{"a": 0.5}');
SELECT '{"b": 1, "a": 0.5}'::simhash_weights::jsonb, '{"A": [1]}'::jsonb -> 'A' AS jsonb;
SELECT (random_weights::text::simhash_weights = random_weights) AS same
FROM (SELECT jsonb_object_agg('t' || i, 1 / (i::float8 + 1))::simhash_weights AS random_weights
	FROM generate_series(0, 5000) i) s;

-- equality
SELECT '{"A": 1.0, "b": 2}'::simhash_weights = '{"b": 2, "a": 1}' AS same,
	'{"a": 1}'::simhash_weights = '{}' AS default_is_no_token,
	'{"": 1}'::simhash_weights = '{}' AS default,
	'{"a": 1}'::simhash_weights <> '{"a": 1.0000000001}' AS other,
	'{"a": -0}'::simhash_weights = '{"a": 0}' AS zero;
SELECT w, count(*) FROM (VALUES ('{"a": 1}'::simhash_weights), ('{"A": 1}'), ('{"b": 1}')) v(w)
GROUP BY w ORDER BY w::text;

-- and an order, for whatever sorts
CREATE TABLE sorted (w simhash_weights PRIMARY KEY, j jsonb);
INSERT INTO sorted (w) SELECT ('{"a": ' || i || '}')::simhash_weights FROM generate_series(1, 100) i;
SELECT error_of($$INSERT INTO sorted VALUES ('{"A": 7.0}')$$) ~ '^23505' AS refused;
SELECT count(DISTINCT w), count(*) FILTER (WHERE w < previous) AS wrong,
	count(*) FILTER (WHERE NOT (w > previous AND w >= previous AND previous <= w AND w <> previous)) AS wrong_too
FROM (SELECT w, lag(w) OVER (ORDER BY w) AS previous FROM sorted) s;
SELECT count(*) FROM sorted a JOIN sorted b USING (w) WHERE a.w <= b.w AND NOT a.w < b.w;
-- assignment
INSERT INTO sorted (w) VALUES ('{"b": 1}'::jsonb);
UPDATE sorted SET j = w WHERE w = '{"b": 1}' RETURNING j, to_jsonb(w), to_json(w);
DROP TABLE sorted;

SELECT error_of(format('SELECT %L::simhash_weights', w)) FROM (VALUES
	(''), ('{'), ('}'), ('[]'), ('null'), ('1'), ('{"a"}'), ('{"a":}'), ('{"a":1,}'), ('{"a":1 "b":2}'),
	('{a:1}'), ('{"a":1}x'), ('{"a":1'), ('{"a'), ('{"a":"1"}'), ('{"a":null}'), ('{"a":true}'), ('{"a":{}}'),
	('{"a":[1]}'), ('{"a":01}'), ('{"a":.5}'), ('{"a":1.}'), ('{"a":1e}'), ('{"a":+1}'), ('{"a":0x10}'), ('{"a":-}'),
	('{"a":NaN}'), ('{"a":Infinity}'), ('{"a":-1}'), ('{"a":-1e-300}'), ('{"a":2147483648.5}'), ('{"a":1e400}'),
	('{"a b":1}'), ('{"日本語":1}'), ('{"!":1}'), ('{" ":1}'), ('{"\u00ad":1}'),
	('{"a":1,"A":2}'), ('{"a":1,"a":1}'), ('{"":1,"":2}'), ('{"é":1,"e\u0301":2}'),
	('{"\x":1}'), ('{"\u12":1}'), ('{"\u0000":1}'), ('{"\ud800":1}'), ('{"\ud800\u0041":1}'), ('{"\udc00":1}'), ('{"\'),
	('{"' || chr(10) || '":1}'), ('{"' || repeat('é', 100) || ' x":1}')) v(w);
SELECT error_of($$SELECT '{"a": "x"}'::jsonb::simhash_weights$$);
SELECT error_of($$SELECT '[1]'::jsonb::simhash_weights$$);

-- literals and parameters resolve
SELECT simhash_128('a the', '{"the": 0}') = simhash_128('a') AS literals, simhash_128('{1,2}') = simhash_128('1 2') AS lone,
	simhash_128(weights => '{"the": 0}', body => 'a the') = simhash_128(body => 'a') AS named;
-- of whatever is text, with or without a type
CREATE DOMAIN short_text AS varchar(20);
SELECT simhash_128('a b') = simhash_128('a b'::text) AS literal, simhash_128('a b'::varchar) = simhash_128('a b') AS varchar,
	simhash_128('a b'::char(5)) = simhash_128('a b') AS char, simhash_128('a b'::short_text) = simhash_128('a b') AS domain,
	simhash_128('a b'::name) = simhash_128('a b') AS name, simhash_128(to_jsonb('a b'::text) ->> 0) = simhash_128('a b') AS jsonb,
	simhash_128(NULL) IS NULL AS nothing, simhash_128('') IS NULL AS empty,
	simhash_tokens_128('{a,b}'::text[]) = simhash_128('a b') AS tokens, simhash_128('a b'::tsvector) = simhash_128('a b') AS lexemes;
SELECT simhash_128('0123456789abcdef0123456789ABCDEF') = simhash_tokens_128('{0123456789abcdef0123456789abcdef}') AS literal,
	simhash128('0123456789abcdef0123456789ABCDEF') AS type, simhash128('01234567-89ab-cdef-0123-456789abcdef'::uuid) AS cast;
DROP DOMAIN short_text;
PREPARE q128 AS SELECT simhash_128($1) = simhash_128($1::text), simhash_tokens_128($2) = simhash_tokens_128('{a,the}'),
	simhash_hashes_128($3)::uuid;
EXECUTE q128('a the', '{a,the}', '{01234567-89ab-cdef-0123-456789abcdef}');
-- the names of the types are no constructors
SELECT error_of(format('SELECT %s(%s)', type, argument)) FROM unnest('{simhash64,simhash128}'::text[]) type,
	unnest(ARRAY['''some text''', '''some text''::text', '''some text''::varchar', '''some text''::name']) argument;
SELECT simhash64('some text');
SELECT simhash128('some text');
SELECT simhash('a the', '{"the": 0}') = simhash('a') AS literals,
	simhash('a the', weights => '{"the": 0}') = simhash('a') AS named,
	simhash(weights => '{"the": 0}', body => 'a the') = simhash('a') AS both_named,
	simhash('{1,2}') = simhash('1 2') AS lone;
SELECT feature, weight FROM simhash_features('a the', '{"the": 0.5}');
PREPARE q AS SELECT simhash($1, $2);
EXECUTE q('a the', '{"the": 0}');
PREPARE q1 AS SELECT simhash($1);
EXECUTE q1('{1,2}');

-- weights are those of the words
SELECT simhash('to be or not to be', '{}') = simhash('to be or not to be') AS all_one,
	simhash('to be or not to be', '{"": 7}') = simhash('to be or not to be') AS all_seven,
	simhash('to be or not to be', NULL) = simhash('to be or not to be') AS none,
	simhash('to be or not to be', '{"To": 3, "or": 0, "": 0.5}')
		= simhash_tokens('{to,be,not}'::text[], '{6,1,0.5}') AS words,
	simhash('the THE', '{"the": 0}') IS NULL AS no_weight,
	simhash('a b', '{"": 0}') IS NULL AS default_zero,
	simhash('', '{"a": 1}') IS NULL AS no_word,
	simhash(NULL, '{"a": 1}') IS NULL AS nothing;
-- a shingle weighs the mean of its words: floor of the sum of rounded weights / n
SELECT feature, count, weight FROM simhash_features('a b c a b', '{"a": 1, "b": 3, "c": 0.5}', words => 2);
SELECT feature, weight * 65536 AS units
FROM simhash_features('a b c', '{"a": 0.0000152587890625, "b": 0.000030517578125, "": 0}', words => 3);
SELECT feature, weight FROM simhash_features('a b', '{"a": 1, "b": 3}', words => 9);
SELECT simhash('a b c a b', '{"a": 1, "b": 3, "c": 0.5}', words => 2, tf => 'count') = (SELECT simhash_tokens(array_agg(feature), array_agg(count * weight))
	FROM simhash_features('a b c a b', '{"a": 1, "b": 3, "c": 0.5}', words => 2)) AS same,
	simhash('a b c a b', '{"a": 1, "b": 3, "c": 0.5}', words => 2) = (SELECT simhash_tokens(array_agg(feature), array_agg(weight))
	FROM simhash_features('a b c a b', '{"a": 1, "b": 3, "c": 0.5}', words => 2)) AS once;
-- long words, too
SELECT simhash('a ' || repeat('x', 100000) || ' b b', ('{"b": 2, "' || repeat('X', 100000) || '": 5}')::simhash_weights, words => n, tf => 'count')
	= (SELECT simhash_tokens(array_agg(feature), array_agg(count * weight))
		FROM simhash_features('a ' || repeat('x', 100000) || ' b b',
			('{"b": 2, "' || repeat('X', 100000) || '": 5}')::simhash_weights, words => n)) AS same,
	(SELECT array_agg(weight) FROM simhash_features('a ' || repeat('x', 100000) || ' b b',
			('{"b": 2, "' || repeat('X', 100000) || '": 5}')::simhash_weights, words => n)) AS weights
FROM generate_series(1, 5) n;

SELECT error_of(statement) FROM (VALUES
	($$SELECT simhash('a', '{}', chars => 3)$$),
	($$SELECT simhash('a', '{}', words => 0)$$),
	($$SELECT simhash('a', '{"a": 1}', 1, 1)$$),
	($$SELECT simhash_features('a', '{}', chars => 3)$$),
	($$SELECT simhash(repeat('a ', 65536), '{"a": 2147483648}', tf => 'count')$$),
	($$SELECT simhash(repeat('a ', 65537), '{"a": 2147483648}', words => 2, tf => 'count')$$),
	($$SELECT simhash_features(repeat('a ', 65536), '{"a": 2147483648}', tf => 'count')$$),
	($$SELECT simhash_features(repeat('a ', 65537), '{"a": 2147483648}', words => 2, tf => 'count')$$),
	($$SELECT simhash_features_tokens(array_fill('a'::text, '{65536}'), array_fill(2147483648::float8, '{65536}'))$$),
	($$SELECT simhash_features_hashes(array_fill(1::bigint, '{65536}'), array_fill(2147483648::float8, '{65536}'))$$),
	($$SELECT simhash_128('a', '{}', chars => 3)$$),
	($$SELECT simhash_128('a', '{}', words => 0)$$),
	($$SELECT simhash_128(repeat('a ', 65536), '{"a": 2147483648}', tf => 'count')$$),
	($$SELECT simhash_128(repeat('a ', 65537), '{"a": 2147483648}', words => 2, tf => 'count')$$),
	($$SELECT simhash_128(string_agg(i::text, ' '), '{"": 2147483648}') FROM generate_series(1, 65536) i$$)) t(statement);
SELECT simhash_128(repeat('a ', 65535), '{"a": 2147483648}', tf => 'count') = simhash_128('a') AS largest_total;
SELECT simhash(repeat('a ', 65535), '{"a": 2147483648}', tf => 'count') = simhash('a') AS largest_total;
-- distinct words, each counted once, or 1 + ln 2 times
CREATE FUNCTION heavy(n int, repeats int, tf text) RETURNS simhash64 LANGUAGE sql AS $$
	SELECT simhash(repeat(string_agg(i::text, ' ') || ' ', repeats), '{"": 2147483648}', tf => tf)
	FROM generate_series(1, n) i
$$;
SELECT error_of(statement) FROM (VALUES
	($$SELECT heavy(65536, 1, 'once')$$),
	($$SELECT heavy(65536, 3, 'once')$$),
	($$SELECT heavy(65536, 1, 'log')$$),
	($$SELECT heavy(38707, 2, 'log')$$)) t(statement);
-- what a fingerprint is made of has its error
CREATE FUNCTION heavy_features(n int, repeats int, tf text) RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM simhash_features((SELECT repeat(string_agg(i::text, ' ') || ' ', repeats) FROM generate_series(1, n) i),
		'{"": 2147483648}', tf => tf)
$$;
SELECT error_of(statement) FROM (VALUES
	($$SELECT heavy_features(65536, 1, 'once')$$),
	($$SELECT heavy_features(65536, 1, 'log')$$),
	($$SELECT heavy_features(38707, 2, 'log')$$)) t(statement);
SELECT heavy_features(65535, 3, 'once') AS once, heavy_features(38706, 2, 'log') AS log;
DROP FUNCTION heavy_features;
SELECT heavy(65535, 3, 'once') = heavy(65535, 1, 'count') AS once, heavy(38706, 2, 'log') = heavy(38706, 1, 'once') AS log;
DROP FUNCTION heavy;

-- tf-idf: ln((1 + N) / (1 + df)) + 1
CREATE TABLE texts (id int, body text);
INSERT INTO texts VALUES (1, 'The cat'), (2, 'the cat, the dog'), (3, 'the bird'), (4, '!'), (5, NULL);
SELECT simhash_idf(body) FROM texts;
SELECT key, round(value::numeric, 6) AS weight,
	round(ln(5.0 / (1 + CASE key WHEN '' THEN 0 WHEN 'the' THEN 3 WHEN 'cat' THEN 2 ELSE 1 END)) + 1, 6) AS expected
FROM texts, LATERAL (SELECT 1) l, jsonb_each_text((SELECT simhash_idf(body, 1) FROM texts)::jsonb)
WHERE id = 1 ORDER BY key;
SELECT simhash_idf(body, 3), simhash_idf(body, 4), simhash_idf(body, 2) = simhash_idf(body) AS default_min_df FROM texts;
SELECT simhash_idf(body) IS NULL AS no_rows FROM texts WHERE false;
SELECT simhash_idf(body) IS NULL AS no_text FROM texts WHERE body IS NULL;
SELECT simhash_idf(body, NULL) = simhash_idf(body) AS null_min_df FROM texts;
SELECT error_of('SELECT simhash_idf(body, 0) FROM texts');
SELECT error_of('SELECT simhash_idf(body, id) FROM texts');
-- NULL is the default in each row; the row of no text counts for nothing
SELECT error_of('SELECT simhash_idf(body, CASE WHEN id = 2 THEN 3 END) FROM texts'),
	error_of('SELECT simhash_idf(body, CASE WHEN id <> 2 THEN 3 END) FROM texts');
SELECT simhash_idf(body, CASE WHEN id > 1 THEN 2 END) = simhash_idf(body) AS some_null,
	simhash_idf(body, CASE WHEN id < 5 THEN 3 END) = simhash_idf(body, 3) AS null_of_no_text,
	simhash_idf(body, CASE WHEN id < 5 THEN 3 ELSE 0 END) = simhash_idf(body, 3) AS wrong_of_no_text FROM texts;
SELECT id, simhash(body, idf) AS fp FROM texts, (SELECT simhash_idf(body) AS idf FROM texts) s WHERE id < 3 ORDER BY id;
-- a token is a bigram where there are no spaces, and may be long
SELECT simhash_idf(t, 1) FROM (VALUES ('日本語')) v(t);
SELECT length(simhash_idf(repeat('x', 100000), 1)::text) FROM generate_series(1, 2);
DROP TABLE texts;

-- Weights from everywhere, several in one query: each row gets its own.
CREATE TABLE idf (lang int, w simhash_weights, j jsonb);
ALTER TABLE idf ALTER w SET STORAGE EXTERNAL;
INSERT INTO idf (lang, j) SELECT lang, jsonb_object_agg('t' || i, (i * lang) % 7)
FROM generate_series(1, 3000) i, generate_series(1, 12) lang GROUP BY lang;
INSERT INTO idf (lang, j) VALUES (13, '{"t1": 4}'), (14, NULL);
UPDATE idf SET w = j::simhash_weights;
CREATE TABLE docs AS
SELECT id, id % 14 + 1 AS lang, string_agg('t' || (id * i) % 4000, ' ') AS body
FROM generate_series(1, 100) id, generate_series(1, 50) i GROUP BY id;
CREATE FUNCTION by_hand(body text, j jsonb, tf text DEFAULT 'once') RETURNS simhash64 LANGUAGE sql AS $$
	SELECT simhash_tokens(array_agg(t), array_agg(coalesce((j ->> t)::float8, 1) * CASE tf WHEN 'count' THEN n ELSE 1 END))
	FROM (SELECT t, count(*) AS n FROM regexp_split_to_table(body, ' ') t GROUP BY t) s
$$;
SELECT count(*), count(*) FILTER (WHERE simhash(body, w) IS DISTINCT FROM by_hand(body, j)) AS wrong,
	count(*) FILTER (WHERE simhash(body, w, tf => 'count') IS DISTINCT FROM by_hand(body, j, 'count')) AS wrong_count
FROM docs JOIN idf USING (lang);
SET work_mem = '64kB';
SELECT count(*), count(*) FILTER (WHERE simhash(body, w) IS DISTINCT FROM by_hand(body, j)) AS wrong,
	count(*) FILTER (WHERE simhash(body, w, tf => 'count') IS DISTINCT FROM by_hand(body, j, 'count')) AS wrong_count
FROM docs JOIN idf USING (lang);
SELECT count(*) FILTER (WHERE fp IS DISTINCT FROM by_hand(body, j)) AS wrong
FROM (SELECT body, j, simhash(body, w) AS fp FROM docs JOIN idf USING (lang) ORDER BY md5(id::text)) s;
-- 128 bits: the high word is that of 64, and shares the weights
SELECT count(*), count(*) FILTER (WHERE simhash_128(body, w)::simhash64 IS DISTINCT FROM by_hand(body, j)) AS wrong,
	count(*) FILTER (WHERE simhash_128(body, w, tf => 'count')::simhash64 IS DISTINCT FROM by_hand(body, j, 'count')) AS wrong_count,
	count(*) FILTER (WHERE simhash_128(body, w, 2)::simhash64 IS DISTINCT FROM simhash(body, w, 2)) AS wrong_shingles
FROM docs JOIN idf USING (lang);
RESET work_mem;
SELECT count(*), count(*) FILTER (WHERE simhash_128(body, w) IS DISTINCT FROM expected) AS wrong
FROM docs JOIN idf USING (lang), LATERAL (SELECT simhash_tokens_128(array_agg(t), array_agg(coalesce((j ->> t)::float8, 1))) AS expected
	FROM (SELECT DISTINCT t FROM regexp_split_to_table(body, ' ') t) s) e;
-- in PL/pgSQL, with a value that changes from call to call
DO $$
DECLARE
	weights simhash_weights;
	by_key jsonb;
	wrong int := 0;
BEGIN
	FOR l IN 1 .. 14 LOOP
		SELECT w, j INTO weights, by_key FROM idf WHERE lang = l;
		wrong := wrong + (SELECT count(*) FILTER (WHERE simhash(body, weights) IS DISTINCT FROM by_hand(body, by_key))
			FROM docs WHERE id <= 30);
	END LOOP;
	UPDATE idf SET w = '{"t1": 0}', j = '{"t1": 0}' WHERE lang = 1 RETURNING w, j INTO weights, by_key;
	wrong := wrong + (SELECT count(*) FILTER (WHERE simhash(body, weights) IS DISTINCT FROM by_hand(body, by_key))
		FROM docs WHERE id <= 30);
	RAISE NOTICE '% wrong', wrong;
END $$;
-- a generated column and an index
CREATE TABLE weighted (body text,
	fp simhash64 GENERATED ALWAYS AS (simhash(body, '{"the": 0}')) STORED,
	wide simhash128 GENERATED ALWAYS AS (simhash_128(body, '{"the": 0}')) STORED);
INSERT INTO weighted VALUES ('the cat'), ('a cat'), ('the');
SELECT body, fp = simhash('cat') AS same, wide = simhash_128('cat') AS same FROM weighted;
CREATE INDEX ON weighted USING hamming (simhash(body, '{"a": 0}', words => 2));
DROP TABLE weighted;

-- one result serially and in parallel
ALTER TABLE docs SET (parallel_workers = 2);
SET max_parallel_workers_per_gather = 0;
SELECT md5(simhash_idf(body)::text) AS idf, count(DISTINCT simhash(body, w)) AS fps
FROM docs, idf WHERE idf.lang = 2 \gset serial_
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT simhash_idf(body) FROM docs;
SELECT md5(simhash_idf(body)::text) = :'serial_idf' AS same FROM docs;
SELECT md5(simhash_idf(body, 2)::text) = :'serial_idf' AS same FROM docs;
SELECT count(DISTINCT simhash(body, w)) = :serial_fps AS same FROM docs, idf WHERE idf.lang = 2;
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- the order of the texts does not matter, and grouping works
SELECT count(DISTINCT idf::text) FROM (
	SELECT simhash_idf(body ORDER BY md5(n || body)) AS idf
	FROM docs, generate_series(1, 4) n GROUP BY n) s;
-- a group has no memory context of its own, all of which HashAggregate would walk for each group
SET enable_sort = off;
SET work_mem = '256MB';
SELECT count(idf), max(contexts) < 400 AS few
FROM (SELECT idf, (SELECT count(*) FROM pg_backend_memory_contexts WHERE n IS NOT NULL) AS contexts
	FROM (SELECT n, simhash_idf('w' || n, 1) AS idf FROM generate_series(1, 1000) n GROUP BY n) s) s;
RESET enable_sort;
RESET work_mem;
-- a jsonb needs no cast; a word is none
SELECT simhash(t, w) = simhash(t, w::simhash_weights) AS same FROM (VALUES ('the library', '{"the": 0}'::jsonb)) v (t, w);
SELECT minhash('the library', 'english');
-- thousands of values: a few are kept, and none is confused with another
CREATE TABLE many AS SELECT i, jsonb_build_object('w' || i, i)::simhash_weights AS w FROM generate_series(1, 20000) i;
SELECT count(*), count(DISTINCT w) AS values, count(*) FILTER (WHERE simhash(t, w) <> simhash_tokens(ARRAY[t])) AS wrong
FROM (SELECT i, w, 'w' || i AS t FROM many) s;
SELECT sum(total_bytes) <= 16 * 1024 AS small FROM pg_backend_memory_contexts WHERE name = 'simhash weights';
DROP TABLE many;
DROP FUNCTION by_hand;
DROP TABLE docs, idf;
