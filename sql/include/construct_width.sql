-- The constructors of one width, for construct.sql, which sets simhash to their name
-- and type to that of their result.

-- one word, however it is written
SELECT simhash:suffix(w) = simhash:suffix('café') AS same, w
FROM unnest('{Café,CAFÉ,Ｃafé,"  café!"}'::text[]) w
UNION ALL
SELECT simhash:suffix(U&'cafe\0301') = simhash:suffix('café'), 'decomposed'
UNION ALL
SELECT simhash:suffix(U&'ca\00ADfé') = simhash:suffix('café'), 'soft hyphen';

-- neither the order of the words matters nor, unless asked for, their number
SELECT simhash:suffix('a b c') = simhash:suffix('c, b; a') AS same,
	simhash:suffix('a a b c d') = simhash:suffix('a b c d') AS counted_once,
	simhash:suffix('a a b c d', tf => 'count') = simhash:suffix('a b c d', tf => 'count') AS counted;
SELECT simhash:suffix('a b c', words => 2) = simhash:suffix('c b a', words => 2) AS same;

-- neither given means words => 1
SELECT simhash:suffix('to be or not to be') = simhash:suffix('to be or not to be', words => 1)
	AS same;
-- a text with fewer than n has one feature: all of it
SELECT simhash:suffix('One, two.', words => 5) = simhash:suffix('one two', words => 2) AS same,
	simhash:suffix('a-b', chars => 64) = simhash:suffix(' A b ', chars => 3) AS same;

-- no feature: NULL
SELECT simhash:suffix('') IS NULL AS empty, simhash:suffix(' -- ... !?') IS NULL AS no_word,
	simhash:suffix(NULL) IS NULL AS nothing, simhash:suffix(U&'\00AD\200D') IS NULL AS ignored,
	simhash:suffix('', chars => 3) IS NULL AS no_char,
	simhash_tokens:suffix('{}'::text[]) IS NULL AS no_token;

-- literals, and columns of all types of text, without a cast
SELECT simhash:suffix('{1,2}') = simhash:suffix('1 2') AS text, simhash_tokens:suffix('{1,2}') = simhash:suffix('1 2') AS tokens;
CREATE DOMAIN title AS varchar(40);
CREATE DOMAIN tags AS title[];
CREATE TABLE docs AS
SELECT body, body::varchar(40) AS v, body::char(40) AS c, body::citext AS ci, body::name AS n, body::title AS d, jsonb_build_object('body', body) AS j
FROM (VALUES ('New York, CAFÉ')) b(body);
SELECT type, simhash = simhash:suffix(body) AS simhash, minhash = minhash:suffix(body) AS minhash,
	simhash_of_token = simhash_tokens:suffix(ARRAY[body]) AS simhash_of_token, minhash_of_token = minhash_tokens:suffix(ARRAY[body]) AS minhash_of_token
FROM docs, LATERAL (VALUES
	('varchar', simhash:suffix(v), minhash:suffix(v), simhash_tokens:suffix(ARRAY[v]), minhash_tokens:suffix(ARRAY[v])),
	('char', simhash:suffix(c), minhash:suffix(c), simhash_tokens:suffix(ARRAY[c]), minhash_tokens:suffix(ARRAY[c])),
	('citext', simhash:suffix(ci), minhash:suffix(ci), simhash_tokens:suffix(ARRAY[ci]), minhash_tokens:suffix(ARRAY[ci])),
	('name', simhash:suffix(n), minhash:suffix(n), simhash_tokens:suffix(ARRAY[n]), minhash_tokens:suffix(ARRAY[n])),
	('domain', simhash:suffix(d), minhash:suffix(d), simhash_tokens:suffix(ARRAY[d]::tags), minhash_tokens:suffix(ARRAY[d]::tags)),
	('jsonb ->>', simhash:suffix(j ->> 'body'), minhash:suffix(j ->> 'body'), simhash_tokens:suffix(ARRAY[j ->> 'body']), minhash_tokens:suffix(ARRAY[j ->> 'body']))
	) t(type, simhash, minhash, simhash_of_token, minhash_of_token);
-- nothing else is taken for a text
SELECT left(error_of(format('SELECT %s%s(%s) FROM docs', f, :'suffix', argument)), 5) AS error, f, string_agg(argument, ', ' ORDER BY argument COLLATE "C") AS arguments
FROM (VALUES ('simhash', '{j,j -> ''body'',body::bytea,1,ARRAY[body]}'::text[]), ('minhash', '{j,ARRAY[body]}'),
		('simhash_tokens', '{body,j,ARRAY[1]}'), ('minhash_tokens', '{body,ARRAY[1]}'),
		('simhash_hashes', '{body,ARRAY[body],ARRAY[1.0]}'), ('minhash_hashes', '{ARRAY[body],ARRAY[1.0]}')) c(f, arguments),
	unnest(arguments) argument
GROUP BY 1, 2 ORDER BY 2;
DROP TABLE docs;
DROP DOMAIN tags, title;

-- what a fingerprint is made of
SELECT * FROM simhash_features('The cat, the CAT & the café');
SELECT feature, count FROM simhash_features('The cat sat on the cat sat', words => 2);
SELECT feature, count FROM simhash_features('To-be  or', chars => 4);
SELECT feature, count FROM simhash_features('日本語のtext、มากไป ก', words => 1);
SELECT count(*) FROM simhash_features(' ');
SELECT count(*) FROM simhash_features(NULL);

-- the fingerprint is the vote of its features
SELECT simhash:suffix(body, words => n) = simhash_tokens:suffix(
		(SELECT array_agg(f.feature) FROM simhash_features(body, words => n) f),
		(SELECT array_agg(f.factor * f.weight) FROM simhash_features(body, words => n) f))
	AS same,
	simhash:suffix(body, words => n, tf => 'count') = simhash_tokens:suffix(
		(SELECT array_agg(f.feature) FROM simhash_features(body, words => n) f),
		(SELECT array_agg(f.count::float8) FROM simhash_features(body, words => n) f))
	AS counted
FROM (VALUES ('It was the best of times, it was the worst of times, it was the '
	'age of wisdom, it was the age of foolishness')) t(body),
	generate_series(1, 4) n;

-- tokens as they are, with weights
SELECT simhash_tokens:suffix('{a,b}'::text[]) = simhash:suffix('b a') AS words,
	simhash_tokens:suffix('{A,b}'::text[]) = simhash:suffix('b a') AS case_kept,
	simhash_tokens:suffix('{a,b}'::text[], '{1,0}') = simhash:suffix('a') AS zero,
	simhash_tokens:suffix('{a,a,b,c}'::text[]) = simhash_tokens:suffix('{a,b,c}'::text[], '{2,1,1}') AS counted,
	simhash_tokens:suffix('{a,b,c}'::text[], '{0.5,0.25,0.25}') = simhash_tokens:suffix('{a,b,c}'::text[], '{2,1,1}') AS scaled,
	simhash_tokens:suffix('{a,b}'::text[], '{0,0}') IS NULL AS no_weight,
	simhash_tokens:suffix('{a,b}'::text[], NULL) = simhash:suffix('a b') AS default_weight,
	simhash_tokens:suffix(ARRAY['']) AS empty_token;
-- rounded to multiples of 2^-16, half to even
SELECT simhash_tokens:suffix('{a}'::text[], ARRAY[2::float8 ^ -17]) IS NULL AS half_to_even,
	simhash_tokens:suffix('{a}'::text[], ARRAY[2::float8 ^ -17 * 1.001]) = simhash:suffix('a') AS up,
	simhash_tokens:suffix('{a,b}'::text[], ARRAY[1.5 * 2::float8 ^ -16, 2 * 2::float8 ^ -16])
		= simhash_tokens:suffix('{a,b}'::text[], '{2,2}') AS up_to_even;

SELECT error_of(regexp_replace(statement, '\m(simhash|simhash_tokens)\(', '\1' || :'suffix' || '(')) FROM (VALUES
	($$SELECT simhash('a', words => 0)$$),
	($$SELECT simhash('a', words => -1)$$),
	($$SELECT simhash('a', words => 65)$$),
	($$SELECT simhash('a', chars => 0)$$),
	($$SELECT simhash('a', chars => 65)$$),
	($$SELECT simhash('a', words => 1, chars => 1)$$),
	($$SELECT simhash_features('a', words => 1, chars => 1)$$),
	($$SELECT simhash_tokens('{a,NULL}'::text[])$$),
	($$SELECT simhash_tokens('{a,b}'::text[], '{1}')$$),
	($$SELECT simhash_tokens('{}'::text[], '{1}')$$),
	($$SELECT simhash_tokens('{{a},{b}}'::text[])$$),
	($$SELECT simhash_tokens('{a,b}'::text[], '{{1},{2}}')$$),
	($$SELECT simhash_tokens('{a,b}'::text[], '{1,NULL}')$$),
	($$SELECT simhash_tokens('[3:5]={a,b,NULL}'::text[])$$),
	($$SELECT simhash_tokens('{a,b}'::text[], '{1,-1}')$$),
	($$SELECT simhash_tokens('{a,b}'::text[], '{1,NaN}')$$),
	($$SELECT simhash_tokens('{a,b}'::text[], '{1,Infinity}')$$),
	($$SELECT simhash_tokens('{a,b}'::text[], '{1,2147483649}')$$),
	($$SELECT simhash_tokens(array_fill('a'::text, '{65536}'),
	array_fill(2147483648::float8, '{65536}'))$$)) t(statement);
SELECT simhash_tokens:suffix(array_fill('a'::text, '{65535}'),
	array_fill(2147483648::float8, '{65535}')) = simhash:suffix('a') AS largest_total;

-- long words, runs of marks and shingles
SELECT simhash:suffix(repeat('x', 1000000)) = simhash_tokens:suffix(ARRAY[repeat('x', 1000000)])
	AS long_word,
	simhash:suffix('a ' || repeat('x', 100000) || ' b', words => 2)
		= simhash_tokens:suffix(ARRAY['a ' || repeat('x', 100000), repeat('x', 100000) || ' b'])
	AS long_shingle,
	simhash:suffix('a ' || repeat('x', 100000) || ' b c d', words => 3)
		= simhash_tokens:suffix(ARRAY['a ' || repeat('x', 100000) || ' b',
			repeat('x', 100000) || ' b c', 'b c d'])
	AS after_it,
	simhash:suffix('a ' || repeat('x', 100000), words => 64)
		= simhash_tokens:suffix(ARRAY['a ' || repeat('x', 100000)])
	AS fewer_than_n;
SELECT simhash:suffix('e' || repeat(U&'\0323\0301', 10000))
	= simhash:suffix('e' || repeat(U&'\0301\0323', 10000)) AS canonical_order;
-- what combines, but is no mark, between marks
SELECT simhash:suffix('e' || repeat(U&'\09be\0301\0323', 20000))
	= simhash:suffix('e' || repeat(U&'\09be\0323\0301', 20000)) AS canonical_order;
SELECT length(feature), count FROM simhash_features(
	'a ' || repeat('x', 100000) || ' b', words => 2);
-- buffers full of short tokens, wherever a run of letters ends
SELECT count(*), count(*) FILTER (WHERE simhash:suffix(body, chars => c, tf => 'count') IS DISTINCT FROM simhash_tokens:suffix(ARRAY(
	SELECT encode(substr(bytes, i, c), 'escape')
	FROM generate_series(1, greatest(length(body) - c + 1, 1)) i))) AS wrong
FROM (SELECT left(repeat(md5(n::text), 200), n) AS body, left(repeat(md5(n::text), 200), n)::bytea AS bytes
	FROM unnest(ARRAY(SELECT generate_series(1, 140)) || ARRAY(SELECT generate_series(1975, 2125))
		|| ARRAY[4100, 6400]) n OFFSET 0) s, unnest('{1,4,64}'::int[]) c;
SELECT count(*), count(*) FILTER (WHERE simhash:suffix(repeat('é', p) || body, chars => 3, tf => 'count') IS DISTINCT FROM simhash_tokens:suffix(ARRAY(
	SELECT first || second || third
	FROM (SELECT first, lead(first) OVER w AS second, lead(first, 2) OVER w AS third
		FROM string_to_table(repeat('é', p) || body, NULL) WITH ORDINALITY c (first, i)
		WINDOW w AS (ORDER BY i)) s
	WHERE third IS NOT NULL))) AS wrong
FROM (SELECT repeat(md5('x'), 70) AS body) s, generate_series(0, 66) p;
SELECT count(*), count(*) FILTER (WHERE simhash:suffix(array_to_string(words, ' '), words => n, tf => 'count') IS DISTINCT FROM simhash_tokens:suffix(ARRAY(
	SELECT array_to_string(words[i:i + n - 1], ' ') FROM generate_series(1, cardinality(words) - n + 1) i))) AS wrong
FROM (SELECT ARRAY(SELECT left(md5(i::text), 1 + i % width) FROM generate_series(1, 2500) i) AS words
	FROM unnest('{1,2,7,17,31}'::int[]) width) s, unnest('{1,2,3,64}'::int[]) n;
-- a text is read in pieces, wherever they end
SELECT bool_and(simhash:suffix(repeat('a', n) || U&'e\0301' || repeat('日本', 40000))
	= simhash:suffix(repeat('a', n) || 'é' || repeat('日本', 40000))) AS same
FROM generate_series(65530, 65540) n;

-- How often a feature counts: tf.  What the fingerprint of a text should be is
-- put together by SQL: its features once, as often as they occur, and by vote.
CREATE FUNCTION by_tf(body text, weights simhash_weights, words int, chars int) RETURNS TABLE (tf text, expected :type)
LANGUAGE sql BEGIN ATOMIC
	SELECT 'once', simhash_tokens:suffix(array_agg(feature), array_agg(weight)) FROM simhash_features(body, weights, words, chars)
	UNION ALL
	SELECT 'count', simhash_tokens:suffix(array_agg(feature), array_agg(weight))
	FROM simhash_features(body, weights, words, chars), generate_series(1, count)
	UNION ALL
	SELECT 'log', simhash_tokens:suffix(array_agg(feature), array_agg(floor(factor * weight * 65536) / 65536))
	FROM simhash_features(body, weights, words, chars, 'log');
END;
SELECT tf, count(*), count(DISTINCT expected) AS fingerprints,
	count(*) FILTER (WHERE simhash:suffix(body, weights, words, chars, tf) IS DISTINCT FROM expected) AS wrong
FROM (VALUES (''), ('a'), ('to be or not to be'), ('a a a a a a b b c d e f'), ('日本語日本語の日本'),
		(repeat('a ', 3000) || repeat('b ', 100) || repeat('c ', 10) || 'd e f g'),
		(repeat(repeat('x', 9000) || ' y z ', 3) || repeat('x', 9000) || ' w')) t(body),
	(VALUES (NULL::simhash_weights, 1, NULL::int), (NULL, 2, NULL), (NULL, NULL, 3),
		('{"a": 0.001, "to": 3, "": 0.3}', 1, NULL), ('{"a": 0, "b": 77.7, "y": 5e-5}', 2, NULL)) o(weights, words, chars),
	by_tf(body, weights, words, chars)
GROUP BY tf ORDER BY tf;
-- the default is 'once', for NULL as well; not for tokens, each of which votes
SELECT simhash:suffix(body) = simhash:suffix(body, tf => 'once') AS default, simhash:suffix(body, tf => NULL) = simhash:suffix(body) AS unknown,
	simhash:suffix(body) = simhash_tokens:suffix('{to,be,or,not}'::text[]) AS once,
	simhash:suffix(body, tf => 'count') = simhash_tokens:suffix('{to,be,or,not,to,be}'::text[]) AS count,
	simhash:suffix(body) = simhash:suffix(body, tf => 'count') AS same
FROM (VALUES ('to be or not to be')) t(body);
-- 1 + ln(count), in units of 2^-16; more than 2^20 count as 2^20
SELECT count, factor, factor * 65536 = round(65536 * (1 + ln(least(count, 1 << 20)))) AS rounded
FROM unnest('{1,2,3,4,63,64,65,1000,1048575,1048576,1048577,1500000}'::int[]) n, simhash_features(repeat('a ', n), tf => 'log');
SELECT tf, count, factor, weight FROM unnest('{once,count,log}'::text[]) tf, simhash_features('a b A', '{"a": 2.5}', tf => tf)
WHERE feature = 'a';
-- a vote is rounded down: of 1, 2 and 3 units, 1, 3 and 5 are 1.69 times as much
SELECT simhash:suffix('a a b', ('{"a": ' || n / 65536.0 || ', "b": ' || m / 65536.0 || '}')::simhash_weights, tf => 'log')
	= simhash_tokens:suffix('{a,b}'::text[], ARRAY[floor(n * 1.6931) / 65536, m / 65536.0]) AS same, n, m
FROM generate_series(1, 3) n, LATERAL generate_series(floor(n * 1.6931)::int, floor(n * 1.6931)::int + 1) m;

-- lexemes weigh what their heaviest label weighs; by 'count', all labels do
SELECT tf, simhash:suffix(doc, tf => tf) = simhash_tokens:suffix('{a,b,c,d}'::text[], by_default) AS by_default,
	simhash:suffix(doc, '{0.5,1,2,4}', tf) = simhash_tokens:suffix('{a,b,c,d}'::text[], by_own) AS by_own
FROM (VALUES ('a:1A,2B,3B b:4,5,6,7C c:8C,9C d'::tsvector)) t(doc), (VALUES
	('once', '{1,0.1999969482421875,0.1999969482421875,0.100006103515625}'::float8[], '{4,1,1,0.5}'::float8[]),
	('count', '{1.8,0.5,0.4,0.1}', '{8,2.5,2,0.5}'),
	('log', ARRAY[1 + ln(3), (1 + ln(4)) / 5, (1 + ln(2)) / 5, 0.1], ARRAY[4 * (1 + ln(3)), 1 + ln(4), 1 + ln(2), 0.5])) e(tf, by_default, by_own);
SELECT feature, count, factor, weight, tf FROM unnest('{once,count,log}'::text[]) tf, simhash_features('a:1A,2,3 b:4C c'::tsvector, '{0.5,1,2,4}', tf);

SELECT error_of(regexp_replace(statement, '\m(simhash|simhash_tokens)\(', '\1' || :'suffix' || '(')) FROM (VALUES
	($$SELECT simhash('a', tf => 'twice')$$),
	($$SELECT simhash('a', tf => '')$$),
	($$SELECT simhash('', tf => 'Once')$$),
	($$SELECT simhash('a'::tsvector, tf => 'tf')$$),
	($$SELECT simhash_features('a', tf => 'ln')$$),
	($$SELECT simhash_features('a'::tsvector, tf => 'x')$$)) t(statement);

-- more distinct features than work_mem has room for
CREATE TABLE long AS
SELECT string_agg(i::text, ' ') || ' ' || string_agg((i * i % 20011)::text, ' ') AS body
FROM generate_series(1::bigint, 20000) i;
SET work_mem = '64kB';
CREATE TABLE small AS
SELECT tf, simhash:suffix(body, tf => tf) AS plain, simhash:suffix(body, words => 2, tf => tf) AS shingles,
	simhash:suffix(body, '{"1": 3, "2": 5.5, "": 0.7}', tf => tf) AS weighted
FROM long, unnest('{once,count,log}'::text[]) tf;
SET work_mem = '256MB';
CREATE TABLE large AS
SELECT tf, simhash:suffix(body, tf => tf) AS plain, simhash:suffix(body, words => 2, tf => tf) AS shingles,
	simhash:suffix(body, '{"1": 3, "2": 5.5, "": 0.7}', tf => tf) AS weighted
FROM long, unnest('{once,count,log}'::text[]) tf;
RESET work_mem;
SELECT tf, small.plain = large.plain AS plain, small.shingles = large.shingles AS shingles,
	small.weighted = large.weighted AS weighted,
	small.plain = CASE tf WHEN 'count' THEN every WHEN 'once' THEN once END AS by_words
FROM small JOIN large USING (tf), (SELECT simhash_tokens:suffix(array_agg(w)) AS every,
		simhash_tokens:suffix(array_agg(DISTINCT w)) AS once FROM long, string_to_table(body, ' ') w) a
ORDER BY tf;
DROP TABLE long, small, large;
DROP FUNCTION by_tf;

-- generated columns and expression indexes
CREATE TABLE docs (body text,
	fp :type GENERATED ALWAYS AS (simhash:suffix(body)) STORED,
	shingles :type GENERATED ALWAYS AS (simhash:suffix(body, words => 3)) STORED);
INSERT INTO docs VALUES ('The quick brown fox'), (''), (NULL);
SELECT * FROM docs;
UPDATE docs SET body = 'A quick brown fox' WHERE fp IS NOT NULL;
SELECT * FROM docs;
CREATE INDEX ON docs (simhash:suffix(body, chars => 4));
DROP TABLE docs;

-- parallel plans give the same fingerprints
CREATE TABLE bodies AS
SELECT i, repeat(md5(i::text) || ' ' || md5((i % 100)::text) || ' é ', 3) AS body
FROM generate_series(1, 20000) i;
ALTER TABLE bodies SET (parallel_workers = 2);
SET max_parallel_workers_per_gather = 0;
SELECT max(simhash:suffix(body)), min(simhash:suffix(body, words => 2)) FROM bodies \gset serial_
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF)
SELECT max(simhash:suffix(body)), min(simhash:suffix(body, words => 2)) FROM bodies;
SELECT max(simhash:suffix(body)) = :'serial_max' AS same,
	min(simhash:suffix(body, words => 2)) = :'serial_min' AS same FROM bodies;
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP TABLE bodies;
