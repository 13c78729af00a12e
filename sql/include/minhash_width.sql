-- MinHash of one width, for minhash.sql.  The caller sets minhash and minhash_agg to
-- their names, bits to their width, hash to what has the hashes of a row of
-- simhash_features(), row_hash to some hash of the column feature, and hash_type to
-- the type of both.  draw() returns a set of each trial as an array of member.

-- Two sets of n members in all, some of them shared, one set with the first of
-- the others, and the other set with the rest, which may be none.  That many bits
-- are expected to differ, each with probability p.
CREATE TABLE pairs AS
SELECT source, n, CASE WHEN n < 1000 THEN 500 ELSE 20 END AS trials, jaccard, shared, first,
	(1 - jaccard)::float8 / 2 AS p
FROM unnest('{random,small}'::text[]) source, unnest('{1,2,5,20,64,100,3000}'::int[]) n,
	unnest('{0,0.2,0.5,0.8,0.95,1}'::numeric[]) jaccard, LATERAL (SELECT (n * jaccard)::int AS shared) s,
	LATERAL (SELECT DISTINCT unnest(ARRAY[n, shared + (n - shared) / 2]) AS first) f
WHERE shared = n * jaccard AND first > 0 AND (first < n OR shared > 0);
CREATE TABLE distances AS
SELECT source, n, trials, jaccard, shared, first, p, :bits * p AS expected, :bits * p * (1 - p) AS binomial,
	avg(distance) AS mean, var_samp(distance) AS variance
FROM (SELECT p.*, :minhash_drawn(hashes[:first]) <-> :minhash_drawn(hashes[:shared] || hashes[first + 1:]) AS distance
	FROM (SELECT source, n, draw(source, n, trial) AS hashes
		FROM (SELECT DISTINCT source, n, trials FROM pairs) d, generate_series(1, trials) trial OFFSET 0) h
	JOIN pairs p USING (source, n)) s
GROUP BY source, n, trials, jaccard, shared, first, p;
SELECT jaccard, count(*) AS pairs, sum(trials) AS compared FROM distances GROUP BY jaccard ORDER BY jaccard;
-- Which mean is more than 5 standard errors away, or which variance more than a
-- tenth and 5 standard errors above that of independent bits?
SELECT * FROM distances
WHERE abs(mean - expected) > 5 * sqrt(binomial / trials) OR variance > binomial * 1.1
	+ 5 * sqrt((2 * binomial ^ 2 + binomial * (1 - 6 * p * (1 - p))) / trials);
-- all of them together
SELECT source, abs(avg((mean - expected) / sqrt(binomial / trials))) < 1.5 AS mean,
	avg(variance / binomial) < 1.1 AS variance
FROM distances WHERE p > 0 GROUP BY source ORDER BY source;

-- The bits of many sets: bit i of all of them.  Is each 1 half of the time, and
-- is each two of them the same half of the time, within 5 standard errors?  The
-- squares of the correlations add up to their number, if there are none.
CREATE TABLE bits_of_sets AS
SELECT source, n, i, string_agg(get_bit(fp::bit(:bits), :bits - 1 - i)::text, '' ORDER BY trial)::bit(1000) AS bits
FROM (SELECT source, n, trial, :minhash_drawn(draw(source, n, trial)) AS fp
	FROM unnest('{random,small}'::text[]) source, unnest('{1,20}'::int[]) n, generate_series(1, 1000) trial) s,
	generate_series(0, :bits - 1) i
GROUP BY source, n, i;
SELECT source, n, count(*) AS bits,
	count(*) FILTER (WHERE abs(bit_count(bits) - 500) > 5 * sqrt(1000) / 2) AS wrong
FROM bits_of_sets GROUP BY source, n ORDER BY source, n;
SELECT source, n, count(*) AS pairs, count(*) FILTER (WHERE abs(z) > 5) AS wrong,
	abs(sum(z ^ 2) - count(*)) < 5 * sqrt(2 * count(*)) AS none
FROM (SELECT source, n, (bit_count(a.bits # b.bits) - 500) / (sqrt(1000) / 2) AS z
	FROM bits_of_sets a JOIN bits_of_sets b USING (source, n) WHERE a.i < b.i) s
GROUP BY source, n ORDER BY source, n;

-- Where the fingerprints of two sets agree, that of both together does.
SELECT count(*) AS compared, count(*) FILTER (WHERE bit_count((merged # a) & ~(a # b)) <> 0) AS wrong
FROM (SELECT :minhash_drawn(x)::bit(:bits) AS a, :minhash_drawn(y)::bit(:bits) AS b, :minhash_drawn(x || y)::bit(:bits) AS merged
	FROM generate_series(1, 1000) i, LATERAL (SELECT draw('random', i % 150 + 1, i) AS x,
		draw('random', i % 77 + 1, i + 1) || CASE i % 3 WHEN 0 THEN CAST('{0}' AS :member[]) WHEN 1 THEN '{-1}' END AS y) d) s;
DROP TABLE pairs, distances, bits_of_sets;
-- One set, however it is handed in: the features of many kinds of text as tokens,
-- as hashes, in rows, in another order, and more than once.
CREATE TABLE bodies AS
SELECT id, CASE WHEN id % 4 = 0 THEN string_agg(chr(19968 + draw % 300), '')
	ELSE string_agg('w' || draw % (id * 7), ' ') END AS body
FROM generate_series(1, 60, 3) id, generate_series(1, id * id / 3) place,
	LATERAL (SELECT ('x' || md5(id || ' ' || place))::bit(31)::int AS draw) d
GROUP BY id;
INSERT INTO bodies VALUES (61, 'one'), (62, 'one two'), (63, 'One, two! (ONE; two)'), (64, repeat('again ', 3000)),
	(65, 'a ' || repeat('x', 9000) || ' b'), (66, U&'cafe\0301 CAF\00c9 caf\00e9'), (67, '東京都に住むpostgres、大阪');
CREATE TABLE kinds (words int, chars int);
INSERT INTO kinds VALUES (1, NULL), (NULL, NULL), (3, NULL), (64, NULL), (NULL, 1), (NULL, 3), (NULL, 64);
CREATE TABLE sets AS
SELECT id, words, chars, feature, :hash AS hash
FROM bodies, kinds, simhash_features(body, words => coalesce(words, CASE WHEN chars IS NULL THEN 2 END), chars => chars);
SELECT count(*), count(*) FILTER (WHERE features = 1) AS of_one, count(*) FILTER (WHERE features > 2048) AS of_many,
	count(DISTINCT fp) AS fingerprints,
	count(*) FILTER (WHERE minhash_tokens:suffix(tokens) IS DISTINCT FROM fp) AS tokens,
	count(*) FILTER (WHERE minhash_tokens:suffix(tokens || tokens[:features / 2]) IS DISTINCT FROM fp) AS repeated,
	count(*) FILTER (WHERE minhash_hashes:suffix(hashes) IS DISTINCT FROM fp) AS hashes,
	count(*) FILTER (WHERE minhash_hashes:suffix(shuffled) IS DISTINCT FROM fp) AS shuffled,
	count(*) FILTER (WHERE minhash_hashes:suffix(shuffled || hashes || hashes) IS DISTINCT FROM fp) AS three_times,
	count(*) FILTER (WHERE of_tokens IS DISTINCT FROM fp) AS of_tokens,
	count(*) FILTER (WHERE of_hashes IS DISTINCT FROM fp) AS of_hashes
FROM (SELECT s.*, minhash:suffix(body, NULL, words, chars) AS fp
	FROM bodies JOIN (SELECT id, words, chars, count(*)::int AS features, array_agg(feature) AS tokens, array_agg(hash) AS hashes,
			array_agg(hash ORDER BY md5(hash::text), hash) AS shuffled, minhash_agg:suffix(feature) AS of_tokens, minhash_agg:suffix(hash) AS of_hashes
		FROM sets GROUP BY id, words, chars) s USING (id)) s;
-- the number of occurrences does not matter
SELECT count(*) FILTER (WHERE minhash:suffix(body || ' ' || body, words => 1) IS DISTINCT FROM minhash:suffix(body, words => 1)) AS twice,
	count(*) FILTER (WHERE minhash:suffix(body) IS DISTINCT FROM minhash:suffix(body, words => 2)) AS default,
	count(*) FILTER (WHERE minhash:suffix(body, NULL) IS DISTINCT FROM minhash:suffix(body)) AS no_stops,
	count(*) FILTER (WHERE minhash:suffix(upper(body)) IS DISTINCT FROM minhash:suffix(body)) AS upper
FROM bodies;
-- a tsvector: the set of its lexemes; positions and labels do not matter
SELECT count(*), count(*) FILTER (WHERE minhash:suffix(doc) IS DISTINCT FROM minhash:suffix(body, words => 1)) AS words,
	count(*) FILTER (WHERE minhash:suffix(doc) IS DISTINCT FROM minhash_tokens:suffix(tsvector_to_array(doc))) AS lexemes,
	count(*) FILTER (WHERE minhash:suffix(doc) IS DISTINCT FROM minhash:suffix(strip(doc))) AS positions,
	count(*) FILTER (WHERE minhash:suffix(doc) IS DISTINCT FROM minhash:suffix(setweight(doc, 'A'))) AS labels
FROM (SELECT body, to_tsvector('simple', body) AS doc FROM bodies WHERE id % 4 > 0 AND id < 65) s;

-- rows: an aggregate that goes on after a result, in a window
SELECT count(*), count(*) FILTER (WHERE fp IS DISTINCT FROM minhash_hashes:suffix(seen)) AS wrong,
	count(*) FILTER (WHERE moving IS DISTINCT FROM minhash_hashes:suffix(last)) AS wrong_moving
FROM (SELECT minhash_agg:suffix(hash) OVER w AS fp, array_agg(hash) OVER w AS seen,
		minhash_agg:suffix(hash) OVER (w ROWS 3 PRECEDING) AS moving, array_agg(hash) OVER (w ROWS 3 PRECEDING) AS last
	FROM sets WHERE id IN (19, 31) AND words = 1 WINDOW w AS (PARTITION BY id ORDER BY hash)) s;
-- one result serially and in parallel, of one set and of many
CREATE TABLE features AS SELECT i, i % 500 AS doc, md5((i % 30011)::text) AS feature FROM generate_series(1, 60000) i;
ALTER TABLE features SET (parallel_workers = 2);
SET max_parallel_workers_per_gather = 0;
CREATE TABLE serial AS
SELECT doc, minhash_agg:suffix(feature) AS features, minhash_agg:suffix(:row_hash) AS hashes
FROM features GROUP BY GROUPING SETS (doc, ());
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT minhash_agg:suffix(feature), minhash_agg:suffix(:row_hash) FROM features;
SELECT minhash_agg:suffix(feature) = (SELECT features FROM serial WHERE doc IS NULL) AS features,
	minhash_agg:suffix(:row_hash) = (SELECT hashes FROM serial WHERE doc IS NULL) AS hashes,
	minhash_agg:suffix(feature) = minhash_tokens:suffix(array_agg(feature)) AS tokens
FROM features;
SELECT minhash_agg:suffix(feature) IS NULL AS no_rows FROM features WHERE i < 0;
SET enable_sort = off;
SELECT plan_lines('SELECT doc, ' || 'minhash_agg' || :'suffix' || '(feature) FROM features GROUP BY doc', 'Agg|Gather');
SELECT count(*), count(*) FILTER (WHERE (s.features, s.hashes) IS DISTINCT FROM (p.features, p.hashes)) AS wrong
FROM serial s JOIN (SELECT doc, minhash_agg:suffix(feature) AS features, minhash_agg:suffix(:row_hash) AS hashes
	FROM features GROUP BY doc) p USING (doc);
RESET enable_sort;
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP TABLE features, serial, sets, kinds;

-- no feature: NULL
SELECT minhash:suffix('') IS NULL AS empty, minhash:suffix(' -- ... !?') IS NULL AS no_word, minhash:suffix(NULL::text) IS NULL AS nothing,
	minhash:suffix(U&'\00AD', chars => 3) IS NULL AS no_char, minhash_tokens:suffix('{}'::text[]) IS NULL AS no_token,
	minhash_tokens:suffix(NULL::text[]) IS NULL AS no_tokens, minhash_hashes:suffix(CAST('{}' AS :hash_type[])) IS NULL AS no_hash,
	minhash_hashes:suffix(CAST(NULL AS :hash_type[])) IS NULL AS no_hashes, minhash:suffix(''::tsvector) IS NULL AS no_lexeme,
	minhash:suffix(NULL::tsvector) IS NULL AS no_tsvector, minhash:suffix('', '{"a": 0}') IS NULL AS no_word,
	minhash:suffix(NULL, '{"a": 0}') IS NULL AS nothing;
SELECT minhash_agg:suffix(f) IS NULL AS none, minhash_agg:suffix(CAST(f AS :hash_type)) IS NULL AS none FROM (VALUES (NULL::text)) v(f);
-- but an empty token is one
SELECT minhash_tokens:suffix(ARRAY['']) IS NOT NULL AS empty, minhash_agg:suffix(f) = minhash_tokens:suffix(ARRAY['', 'a']) AS nulls
FROM (VALUES (''), (NULL), ('a')) v(f);
SELECT minhash:suffix('{1,2}') = minhash:suffix('1 2') AS text, minhash_tokens:suffix('{1,2}'::text[]) = minhash:suffix('1 2', words => 1) AS tokens,
	minhash:suffix('a b c', words => NULL, chars => NULL) = minhash_tokens:suffix('{a b,b c}'::text[]) AS default,
	minhash:suffix('One, two.', words => 5) = minhash_tokens:suffix('{one two}'::text[]) AS fewer_than_n,
	minhash:suffix('a-b', chars => 64) = minhash_tokens:suffix('{a b}'::text[]) AS fewer_chars;

SELECT error_of(regexp_replace(statement, '\m(minhash|minhash_tokens)\(', '\1' || :'suffix' || '(')) FROM (VALUES
	($$SELECT minhash('a', words => 2, chars => 2)$$),
	($$SELECT minhash('a', words => 0)$$),
	($$SELECT minhash('a', words => 65)$$),
	($$SELECT minhash('a', chars => 0)$$),
	($$SELECT minhash('', chars => -1)$$),
	($$SELECT minhash('a', '{"a": 0}', words => 0)$$),
	($$SELECT minhash('a', '{"a": 0}', chars => 3)$$),
	($$SELECT minhash('a', '{"a": 0}', 1, 1)$$),
	($$SELECT minhash('a', '{"a": 0, "The": 0.5}')$$),
	($$SELECT minhash('a', '{"a": 2}')$$),
	($$SELECT minhash('', '{"": 2147483648}')$$),
	($$SELECT minhash('', '{"": 0.9999999}')$$),
	($$SELECT minhash('a', ('{"' || repeat('x', 10000) || '": 3}')::simhash_weights)$$),
	($$SELECT minhash_tokens('{a,NULL}'::text[])$$),
	($$SELECT minhash_tokens('{{a},{b}}'::text[])$$)) t(statement);

-- arguments by place are those of simhash, whatever the type of a NULL
SELECT minhash:suffix('a b c d', NULL, 3) = minhash:suffix('a b c d', words => 3) AS words,
	minhash:suffix('a b c d', NULL, NULL, 3) = minhash:suffix('a b c d', chars => 3) AS chars;
SELECT call, error_of('SELECT ' || 'minhash' || :'suffix' || call) ~ '^42883' AS refused
FROM (VALUES ($$('a b c d', 3)$$), ($$('a b c d', NULL::int, 3)$$)) v(call);

-- a stop list: as if its words were not there
SELECT count(*), count(*) FILTER (WHERE minhash:suffix(body, '{"w1": 0, "W2": 0, "w3": 1, "w5": 0}', words) IS DISTINCT FROM
		minhash:suffix(regexp_replace(body, '\mw[125]\M', '', 'g'), words => words)) AS wrong,
	count(*) FILTER (WHERE minhash:suffix(body, '{"": 0, "w1": 1, "w2": 1, "w7": 1}', words) IS DISTINCT FROM
		minhash:suffix(regexp_replace(body, '\m(?!w[127]\M)\w+', '', 'g'), words => words)) AS wrong_allowed,
	count(*) FILTER (WHERE minhash:suffix(body, '{}', words) IS DISTINCT FROM minhash:suffix(body, words => words)) AS wrong_empty,
	count(*) FILTER (WHERE minhash:suffix(body, '{"": 0}', words) IS NOT NULL) AS wrong_all
FROM bodies, unnest('{1,2,3,7,NULL}'::int[]) words WHERE id % 4 > 0 AND id < 65;
SELECT minhash:suffix('a b a c', '{"": 0, "a": 1}', words => 1) = minhash_tokens:suffix('{a}'::text[]) AS allowed,
	minhash:suffix('a b a c', '{"": 0, "a": 1}') = minhash_tokens:suffix('{a a}'::text[]) AS made_neighbours,
	minhash:suffix('the cat, THE hat', '{"the": 0}') = minhash:suffix('cat hat') AS neighbours,
	minhash:suffix('the cat of the', '{"the": 0, "of": 0}', 3) = minhash_tokens:suffix('{cat}'::text[]) AS fewer_than_n,
	minhash:suffix('the the The', '{"the": 0}') IS NULL AS none_left,
	minhash:suffix('the cat', NULL::simhash_weights) = minhash:suffix('the cat') AS no_list,
	minhash:suffix('東京都大阪', '{"京都": 0}') = minhash_tokens:suffix('{東京 都大,都大 大阪}'::text[]) AS bigrams,
	minhash:suffix('東京都大阪', '{"京都": 0}', 1) = minhash_tokens:suffix('{東京,都大,大阪}'::text[]) AS bigrams;
-- words that are longer than the buffer, stopped or not
SELECT n, minhash:suffix('a b ' || long || ' c ' || long || ' d', stop, n) = minhash:suffix('a b c d', words => n) AS stopped,
	minhash:suffix(long || ' a b c d ' || long, stop, n) = minhash:suffix('a b c d', words => n) AS at_ends,
	minhash:suffix('a ' || long || ' the b ' || other, stop, n) = minhash:suffix('a b ' || other, words => n) AS one_of_two,
	minhash:suffix('a the ' || other || ' the ' || long || ' b the c', stop, n) = minhash:suffix('a ' || other || ' b c', words => n) AS kept,
	minhash:suffix(long || ' ' || long, stop, n) IS NULL AS none_left
FROM (SELECT repeat('x', 20000) AS long, repeat('x', 19999) || 'y' AS other,
	('{"the": 0, "' || repeat('X', 20000) || '": 0}')::simhash_weights AS stop) s, unnest('{1,2,3,64}'::int[]) n;

-- more features than are sketched at once; one word again and again
SELECT words, minhash:suffix(body, words => words) = minhash_tokens:suffix(ARRAY(SELECT feature FROM simhash_features(body, words => words))) AS tokens,
	minhash:suffix(body, words => words) = minhash_hashes:suffix(ARRAY(SELECT :hash FROM simhash_features(body, words => words) ORDER BY md5(feature))) AS hashes,
	minhash:suffix(body, '{"1": 0, "77777": 0}', words) = minhash:suffix(replace(' ' || body || ' ', ' 77777 ', ' '), '{"1": 0}', words) AS stops
FROM (SELECT string_agg(i::text, ' ') AS body FROM generate_series(1, 100000) i) s, unnest('{1,2}'::int[]) words;
SELECT n, minhash:suffix(repeat('again ', n)) = minhash:suffix('again again') AS words, minhash:suffix(repeat('a', n), chars => 1) = minhash:suffix('a', chars => 1) AS chars,
	minhash_tokens:suffix(array_fill('a'::text, ARRAY[n])) = minhash_tokens:suffix('{a}'::text[]) AS tokens,
	minhash:suffix(repeat('a b ', n), words => 1) = minhash_tokens:suffix('{b,a}'::text[]) AS two
FROM unnest('{2,63,64,65,2047,2048,2049,2113,100000}'::int[]) n;
DROP TABLE bodies;
