-- The constructors simhash(...) and simhash_128(...).
\pset format unaligned \pset tuples_only on \set ECHO queries

CREATE EXTENSION citext;
\getenv directory PG_ABS_SRCDIR
\set of_width :directory '/sql/include/construct_width.sql'
\set suffix ''
\set type simhash64
\i :of_width
\set suffix _128
\set type simhash128
-- the same statements
\set ECHO none
\i :of_width
\set ECHO queries
DROP EXTENSION citext;

-- The words of 128 bits.  A feature alone has its two hashes for a fingerprint, so
-- that SQL can put both words together from simhash() of hashes.
CREATE FUNCTION low_word(fp simhash128) RETURNS simhash64 LANGUAGE sql IMMUTABLE
RETURN substr(fp::bytea, 9)::simhash64;
CREATE FUNCTION low_hashes(features text[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE
RETURN (SELECT array_agg(low_word(simhash_tokens_128(ARRAY[f]))::bigint ORDER BY i) FROM unnest(features) WITH ORDINALITY u (f, i));
CREATE TABLE bodies AS
SELECT id, CASE WHEN id % 4 = 0 THEN string_agg(chr(19968 + draw % 300), '')
	ELSE string_agg(CASE id % 3 WHEN 0 THEN 'w' ELSE 'é' || repeat('x', draw % 300 - 280) END || draw % (id * 7), ' ') END AS body
FROM generate_series(1, 60) id, generate_series(1, id * id / 10) place,
	LATERAL (SELECT ('x' || md5(id || ' ' || place))::bit(31)::int AS draw) d
GROUP BY id;
INSERT INTO bodies VALUES (61, ''), (62, ' -- '), (63, 'one'), (64, 'a ' || repeat('x', 9000) || ' b a ' || repeat('x', 9000) || ' c'),
	(65, U&'cafe\0301 CAF\00c9 caf\00e9'), (66, '東京都に住むpostgres、大阪'), (67, repeat('again ', 3000) || 'and again');
CREATE TABLE calls AS
SELECT body, weights, words, chars, tf, simhash(body, weights, words, chars, tf) AS narrow, simhash_128(body, weights, words, chars, tf) AS wide
FROM bodies, unnest('{once,count,log}'::text[]) tf,
	(VALUES (NULL::simhash_weights, NULL::int, NULL::int), (NULL, 2, NULL), (NULL, 64, NULL), (NULL, NULL, 1), (NULL, NULL, 3),
		('{"w1": 0.001, "w2": 3, "and": 77.7, "": 0.3}', 1, NULL), ('{"w3": 0, "again": 5e-5, "b": 2}', 3, NULL)) o(weights, words, chars);
SELECT tf, count(*), count(wide) AS fingerprints, count(DISTINCT low_word(wide)) AS low_words,
	count(*) FILTER (WHERE wide::simhash64 IS DISTINCT FROM narrow) AS wrong_high,
	count(*) FILTER (WHERE low_word(wide) IS DISTINCT FROM low) AS wrong_low,
	count(*) FILTER (WHERE low_word(wide) = narrow) AS same
FROM calls, LATERAL (SELECT simhash_hashes(low_hashes(array_agg(feature)),
		array_agg(CASE tf WHEN 'count' THEN count * weight ELSE floor(factor * weight * 65536) / 65536 END)) AS low
	FROM simhash_features(body, weights, words, chars, tf)) s
GROUP BY tf ORDER BY tf;
SELECT count(*), count(*) FILTER (WHERE simhash_tokens_128(tokens)::simhash64 IS DISTINCT FROM simhash_tokens(tokens)) AS wrong_high,
	count(*) FILTER (WHERE low_word(simhash_tokens_128(tokens)) IS DISTINCT FROM simhash_hashes(low_hashes(tokens))) AS wrong_low,
	count(*) FILTER (WHERE simhash_tokens_128(tokens, weights)::simhash64 IS DISTINCT FROM simhash_tokens(tokens, weights)) AS wrong_weighted,
	count(*) FILTER (WHERE low_word(simhash_tokens_128(tokens, weights)) IS DISTINCT FROM simhash_hashes(low_hashes(tokens), weights)) AS wrong_low_weighted
FROM (SELECT string_to_array(body, ' ') AS tokens, ARRAY(SELECT i % 7 / 3.0 FROM generate_series(1, cardinality(string_to_array(body, ' '))) i) AS weights
	FROM bodies) s;
SELECT tf, count(*), count(*) FILTER (WHERE simhash_128(doc, labels, tf)::simhash64 IS DISTINCT FROM simhash(doc, labels, tf)) AS wrong_high,
	count(*) FILTER (WHERE low_word(simhash_128(doc, labels, tf)) IS DISTINCT FROM low) AS wrong_low
FROM (SELECT setweight(to_tsvector('simple', left(body, 1000)), 'B') || to_tsvector('simple', left(body, 500)) AS doc FROM bodies WHERE id <> 64) d,
	unnest('{once,count,log}'::text[]) tf, (VALUES (NULL::float4[]), ('{1,0.5,2,0}')) l(labels),
	LATERAL (SELECT simhash_hashes(low_hashes(array_agg(feature)),
			array_agg(CASE tf WHEN 'count' THEN count * weight ELSE floor(factor * weight * 65536) / 65536 END)) AS low
		FROM simhash_features(doc, labels, tf)) s
GROUP BY tf ORDER BY tf;
DROP TABLE bodies, calls;

-- A name says what it takes: parameters without a type mean one thing.
CREATE FUNCTION parameter_types(call text) RETURNS regtype[] LANGUAGE plpgsql AS $$
DECLARE
	types regtype[];
BEGIN
	EXECUTE 'PREPARE untyped AS SELECT ' || call;
	SELECT parameter_types INTO types FROM pg_prepared_statements WHERE name = 'untyped';
	DEALLOCATE untyped;
	RETURN types;
END $$;
\set ECHO none
SELECT call, parameter_types(call) FROM unnest(ARRAY[
	'simhash($1)', 'simhash($1, $2)', 'simhash($1, $2, $3, $4, $5)', 'simhash($1, words => $2)', 'simhash($1, chars => $2)',
	'simhash($1, tf => $2)', 'simhash_128($1)', 'simhash_128($1, $2)', 'minhash($1)', 'minhash($1, $2, $3, $4)', 'minhash_128($1)',
	'simhash_tokens($1)', 'simhash_tokens($1, $2)', 'simhash_tokens_128($1)', 'simhash_tokens_128($1, $2)',
	'minhash_tokens($1)', 'minhash_tokens_128($1)',
	'simhash_hashes($1)', 'simhash_hashes($1, $2)', 'simhash_hashes_128($1)', 'simhash_hashes_128($1, $2)',
	'minhash_hashes($1)', 'minhash_hashes_128($1)',
	'simhash_features($1)', 'simhash_features($1, $2)', 'simhash_features_tokens($1, $2)', 'simhash_features_hashes($1, $2)',
	'simhash_features_hashes_128($1, $2)',
	'text_jaccard($1, $2, $3, $4, $5)', 'text_containment($1, $2, $3, $4, $5)', 'text_cosine($1, $2, $3, $4, $5, $6)',
	'simhash_distance($1, $2)', 'simhash_similarity($1, $2)', 'simhash_cosine($1, $2)', 'minhash_jaccard($1, $2)',
	'hamming_ball($1, $2)', 'hamming_ball_128($1, $2)',
	'simhash_pairs($1, $2)', 'simhash_pairs($1, $2, $3, $4)', 'simhash_components($1, $2)', 'simhash_parts($1, $2, $3)',
	'simhash_cluster($1, $2, $3) OVER ()', 'simhash_agg($1, $2)', 'simhash_agg_128($1, $2)', 'minhash_agg($1)', 'minhash_agg_128($1)',
	'simhash_idf($1, $2)', 'hamming_index_stats($1)', 'hamming_index_check($1)']) call;
\set ECHO queries
DROP FUNCTION parameter_types;
