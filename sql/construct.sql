-- one word, however it is written
SELECT simhash(w) = simhash('café') AS same, w
FROM unnest('{Café,CAFÉ,Ｃafé,"  café!"}'::text[]) w
UNION ALL
SELECT simhash(U&'cafe\0301') = simhash('café'), 'decomposed'
UNION ALL
SELECT simhash(U&'ca\00ADfé') = simhash('café'), 'soft hyphen';

-- the order of the words does not matter, their number does
SELECT simhash('a b c') = simhash('c, b; a') AS same,
	simhash('a a b c d') = simhash('a b c d') AS counted_once;
SELECT simhash('a b c', words => 2) = simhash('c b a', words => 2) AS same;

-- neither given means words => 1
SELECT simhash('to be or not to be') = simhash('to be or not to be', words => 1)
	AS same;
-- a text with fewer than n has one feature: all of it
SELECT simhash('One, two.', words => 5) = simhash('one two', words => 2) AS same,
	simhash('a-b', chars => 64) = simhash(' A b ', chars => 3) AS same;

-- no feature: NULL
SELECT simhash('') IS NULL AS empty, simhash(' -- ... !?') IS NULL AS no_word,
	simhash(NULL) IS NULL AS nothing, simhash(U&'\00AD\200D') IS NULL AS ignored,
	simhash('', chars => 3) IS NULL AS no_char,
	simhash('{}'::text[]) IS NULL AS no_token;

-- literals and types that resolve
SELECT simhash('{1,2}') = simhash('1 2') AS text,
	simhash('{1,2}'::text[]) = simhash('1 2') AS tokens,
	simhash('x'::varchar) = simhash('x'::name::text) AS varchar;

-- what a fingerprint is made of
SELECT * FROM simhash_features('The cat, the CAT & the café');
SELECT feature, count FROM simhash_features('The cat sat on the cat sat', words => 2);
SELECT feature, count FROM simhash_features('To-be  or', chars => 4);
SELECT feature, count FROM simhash_features('日本語のtext、มากไป ก', words => 1);
SELECT count(*) FROM simhash_features(' ');
SELECT count(*) FROM simhash_features(NULL);

-- the fingerprint is the vote of its features
SELECT simhash(body, words => n) = simhash(
		(SELECT array_agg(f.feature) FROM simhash_features(body, words => n) f),
		(SELECT array_agg(f.count::float8) FROM simhash_features(body, words => n) f))
	AS same
FROM (VALUES ('It was the best of times, it was the worst of times, it was the '
	'age of wisdom, it was the age of foolishness')) t(body),
	generate_series(1, 4) n;

-- tokens as they are, with weights
SELECT simhash('{a,b}'::text[]) = simhash('b a') AS words,
	simhash('{A,b}'::text[]) = simhash('b a') AS case_kept,
	simhash('{a,b}'::text[], '{1,0}') = simhash('a') AS zero,
	simhash('{a,a,b,c}'::text[]) = simhash('{a,b,c}'::text[], '{2,1,1}') AS counted,
	simhash('{a,b,c}'::text[], '{0.5,0.25,0.25}') = simhash('{a,b,c}'::text[], '{2,1,1}') AS scaled,
	simhash('{a,b}'::text[], '{0,0}') IS NULL AS no_weight,
	simhash('{a,b}'::text[], NULL) = simhash('a b') AS default_weight,
	simhash(ARRAY['']) AS empty_token;
-- rounded to multiples of 2^-16, half to even
SELECT simhash('{a}'::text[], ARRAY[2::float8 ^ -17]) IS NULL AS half_to_even,
	simhash('{a}'::text[], ARRAY[2::float8 ^ -17 * 1.001]) = simhash('a') AS up,
	simhash('{a,b}'::text[], ARRAY[1.5 * 2::float8 ^ -16, 2 * 2::float8 ^ -16])
		= simhash('{a,b}'::text[], '{2,2}') AS up_to_even;

SELECT error_of(statement) FROM (VALUES
	($$SELECT simhash('a', words => 0)$$),
	($$SELECT simhash('a', words => -1)$$),
	($$SELECT simhash('a', words => 65)$$),
	($$SELECT simhash('a', chars => 0)$$),
	($$SELECT simhash('a', chars => 65)$$),
	($$SELECT simhash('a', words => 1, chars => 1)$$),
	($$SELECT simhash_features('a', words => 1, chars => 1)$$),
	($$SELECT simhash('{a,NULL}'::text[])$$),
	($$SELECT simhash('{a,b}'::text[], '{1}')$$),
	($$SELECT simhash('{}'::text[], '{1}')$$),
	($$SELECT simhash('{{a},{b}}'::text[])$$),
	($$SELECT simhash('{a,b}'::text[], '{{1},{2}}')$$),
	($$SELECT simhash('{a,b}'::text[], '{1,NULL}')$$),
	($$SELECT simhash('{a,b}'::text[], '{1,-1}')$$),
	($$SELECT simhash('{a,b}'::text[], '{1,NaN}')$$),
	($$SELECT simhash('{a,b}'::text[], '{1,Infinity}')$$),
	($$SELECT simhash('{a,b}'::text[], '{1,2147483649}')$$),
	($$SELECT simhash(array_fill('a'::text, '{65536}'),
	array_fill(2147483648::float8, '{65536}'))$$)) t(statement);
SELECT simhash(array_fill('a'::text, '{65535}'),
	array_fill(2147483648::float8, '{65535}')) = simhash('a') AS largest_total;

-- long words, runs of marks and shingles
SELECT simhash(repeat('x', 1000000)) = simhash(ARRAY[repeat('x', 1000000)])
	AS long_word,
	simhash('a ' || repeat('x', 100000) || ' b', words => 2)
		= simhash(ARRAY['a ' || repeat('x', 100000), repeat('x', 100000) || ' b'])
	AS long_shingle,
	simhash('a ' || repeat('x', 100000) || ' b c d', words => 3)
		= simhash(ARRAY['a ' || repeat('x', 100000) || ' b',
			repeat('x', 100000) || ' b c', 'b c d'])
	AS after_it,
	simhash('a ' || repeat('x', 100000), words => 64)
		= simhash(ARRAY['a ' || repeat('x', 100000)])
	AS fewer_than_n;
SELECT simhash('e' || repeat(U&'\0323\0301', 10000))
	= simhash('e' || repeat(U&'\0301\0323', 10000)) AS canonical_order;
-- what combines, but is no mark, between marks
SELECT simhash('e' || repeat(U&'\09be\0301\0323', 20000))
	= simhash('e' || repeat(U&'\09be\0323\0301', 20000)) AS canonical_order;
SELECT length(feature), count FROM simhash_features(
	'a ' || repeat('x', 100000) || ' b', words => 2);
-- buffers full of short tokens, wherever a run of letters ends
SELECT count(*), count(*) FILTER (WHERE simhash(body, chars => c) IS DISTINCT FROM simhash(ARRAY(
	SELECT encode(substr(bytes, i, c), 'escape')
	FROM generate_series(1, greatest(length(body) - c + 1, 1)) i))) AS wrong
FROM (SELECT left(repeat(md5(n::text), 200), n) AS body, left(repeat(md5(n::text), 200), n)::bytea AS bytes
	FROM unnest(ARRAY(SELECT generate_series(1, 140)) || ARRAY(SELECT generate_series(1975, 2125))
		|| ARRAY[4100, 6400]) n OFFSET 0) s, unnest('{1,4,64}'::int[]) c;
SELECT count(*), count(*) FILTER (WHERE simhash(repeat('é', p) || body, chars => 3) IS DISTINCT FROM simhash(ARRAY(
	SELECT first || second || third
	FROM (SELECT first, lead(first) OVER w AS second, lead(first, 2) OVER w AS third
		FROM string_to_table(repeat('é', p) || body, NULL) WITH ORDINALITY c (first, i)
		WINDOW w AS (ORDER BY i)) s
	WHERE third IS NOT NULL))) AS wrong
FROM (SELECT repeat(md5('x'), 70) AS body) s, generate_series(0, 66) p;
SELECT count(*), count(*) FILTER (WHERE simhash(array_to_string(words, ' '), words => n) IS DISTINCT FROM simhash(ARRAY(
	SELECT array_to_string(words[i:i + n - 1], ' ') FROM generate_series(1, cardinality(words) - n + 1) i))) AS wrong
FROM (SELECT ARRAY(SELECT left(md5(i::text), 1 + i % width) FROM generate_series(1, 2500) i) AS words
	FROM unnest('{1,2,7,17,31}'::int[]) width) s, unnest('{1,2,3,64}'::int[]) n;
-- a text is read in pieces, wherever they end
SELECT bool_and(simhash(repeat('a', n) || U&'e\0301' || repeat('日本', 40000))
	= simhash(repeat('a', n) || 'é' || repeat('日本', 40000))) AS same
FROM generate_series(65530, 65540) n;

-- generated columns and expression indexes
CREATE TABLE docs (body text,
	fp simhash64 GENERATED ALWAYS AS (simhash(body)) STORED,
	shingles simhash64 GENERATED ALWAYS AS (simhash(body, words => 3)) STORED);
INSERT INTO docs VALUES ('The quick brown fox'), (''), (NULL);
SELECT * FROM docs;
UPDATE docs SET body = 'A quick brown fox' WHERE fp IS NOT NULL;
SELECT * FROM docs;
CREATE INDEX ON docs (simhash(body, chars => 4));
DROP TABLE docs;

-- parallel plans give the same fingerprints
CREATE TABLE bodies AS
SELECT i, repeat(md5(i::text) || ' ' || md5((i % 100)::text) || ' é ', 3) AS body
FROM generate_series(1, 20000) i;
ALTER TABLE bodies SET (parallel_workers = 2);
SET max_parallel_workers_per_gather = 0;
SELECT max(simhash(body)), min(simhash(body, words => 2)) FROM bodies \gset serial_
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF)
SELECT max(simhash(body)), min(simhash(body, words => 2)) FROM bodies;
SELECT max(simhash(body)) = :'serial_max' AS same,
	min(simhash(body, words => 2)) = :'serial_min' AS same FROM bodies;
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP TABLE bodies;
