-- minhash, of both widths: the estimate is without bias, the bits are independent,
-- and one set of features has one fingerprint, however it is handed in.
\pset format unaligned \pset tuples_only on \set ECHO queries

\getenv directory PG_ABS_SRCDIR
\set of_width :directory '/sql/include/minhash_width.sql'

-- A set of hashes of each trial, good ones or poor ones.
CREATE FUNCTION draw(source text, n int, trial int) RETURNS bigint[] LANGUAGE sql AS $$
	SELECT CASE source WHEN 'random' THEN ARRAY(SELECT hashint8extended(i, trial) FROM generate_series(1, n) i)
		ELSE ARRAY(SELECT (trial::bigint * n + i) << trial % 3 * 20 FROM generate_series(1, n) i) END
$$;
\set suffix ''
\set minhash_drawn minhash_hashes
\set bits 64
\set hash hash
\set row_hash 'hashtextextended(feature, 0)'
\set hash_type bigint
\set member bigint
\i :of_width
DROP FUNCTION draw;

-- The same with tokens, whose hashes of two seeds make the words.
CREATE FUNCTION draw(source text, n int, trial int) RETURNS text[] LANGUAGE sql AS $$
	SELECT CASE source WHEN 'random' THEN ARRAY(SELECT md5(trial || ' ' || i) FROM generate_series(1, n) i)
		ELSE ARRAY(SELECT (trial::bigint * n + i)::text FROM generate_series(1, n) i) END
$$;
\set suffix _128
\set minhash_drawn minhash_tokens_128
\set bits 128
\set hash 'simhash_tokens_128(ARRAY[feature])::uuid'
\set row_hash 'md5(feature)::uuid'
\set hash_type uuid
\set member text
-- the same statements
\set ECHO none
\i :of_width
\set ECHO queries
DROP FUNCTION draw;

-- The high word is the fingerprint of 64 bits.
SELECT count(*), count(*) FILTER (WHERE minhash_128(body, NULL, words, chars)::simhash64 IS DISTINCT FROM minhash(body, NULL, words, chars)) AS wrong,
	count(*) FILTER (WHERE words > 0 AND minhash_128(body, stops, words)::simhash64 IS DISTINCT FROM minhash(body, stops, words)) AS wrong_stops,
	count(*) FILTER (WHERE minhash_tokens_128(tokens)::simhash64 IS DISTINCT FROM minhash_tokens(tokens)) AS wrong_tokens,
	count(*) FILTER (WHERE minhash_128(doc)::simhash64 IS DISTINCT FROM minhash(doc)) AS wrong_lexemes
FROM (SELECT body, string_to_array(body, ' ') AS tokens, to_tsvector('simple', body) AS doc
		FROM (SELECT string_agg('w' || n * i * i % 997, ' ') AS body FROM generate_series(1, 60) n, generate_series(1, n * 5) i GROUP BY n) b) s,
	(VALUES (1, NULL), (NULL, NULL), (3, NULL), (NULL, 5)) o(words, chars), (VALUES ('{"w1": 0, "w16": 0, "w25": 0}'::simhash_weights)) w(stops);

-- but an empty token is one, and so are all hashes
SELECT minhash_tokens(ARRAY['']) IS NOT NULL AS empty, minhash_agg(f) = minhash_tokens(ARRAY['', 'a']) AS nulls,
	minhash_agg(h) = minhash_hashes('{0,-1}'::bigint[]) AS hashes
FROM (VALUES ('', 0::bigint), (NULL, NULL), ('a', -1)) v(f, h);
SELECT count(DISTINCT minhash_hashes(hashes)) FROM (VALUES ('{0}'::bigint[]), ('{-1}'), ('{1}'), ('{0,1}'), ('{-1,1}'), ('{0,-1,1}'),
	('{-9223372036854775808}'), ('{9223372036854775807}')) v(hashes);
-- hashes of 16 bytes: each word has a set of its own halves
SELECT minhash_agg_128(h) = minhash_hashes_128(array_agg(h)) AS same
FROM (VALUES ('00000000-0000-0000-0000-000000000000'::uuid), (NULL), ('ffffffff-ffff-ffff-ffff-ffffffffffff')) v(h) WHERE h IS NOT NULL;
SELECT count(DISTINCT minhash_hashes_128(hashes)), count(DISTINCT minhash_hashes_128(hashes)::simhash64) AS high_words
FROM (VALUES ('{00000000-0000-0000-0000-000000000000}'::uuid[]), ('{00000000-0000-0000-0000-000000000001}'),
	('{00000000-0000-0000-0000-000000000000,00000000-0000-0000-0000-000000000001}'), ('{00000000-0000-0001-0000-000000000000}')) v(hashes);
SELECT error_of(statement) FROM (VALUES
	($$SELECT minhash_hashes('{1,NULL}'::bigint[])$$),
	($$SELECT minhash_hashes('{{1},{2}}'::bigint[])$$),
	($$SELECT minhash_hashes_128('{00000000-0000-0000-0000-000000000000,NULL}'::uuid[])$$),
	($$SELECT minhash_hashes_128('{{00000000-0000-0000-0000-000000000000}}'::uuid[])$$)) t(statement);
