-- simhash_audit and simhash_audit_pairs: what each distance finds and misses
\pset format unaligned \pset tuples_only on \set ECHO queries

SET jit = off;

-- Texts of 40 words and copies with up to 12 other words, equal ones, groups,
-- texts without a word, of one, and of one again and again.
CREATE TABLE texts AS
SELECT id, string_agg(CASE WHEN ('x' || md5(id || '-' || place))::bit(16)::int % 40 < id % 13 AND id > 130
		THEN 'other' || id * place ELSE 'word' || ('x' || md5(source || ' ' || place))::bit(20)::int END, ' '
	ORDER BY place) AS body
FROM generate_series(1, 300) id, generate_series(1, 40) place,
	LATERAL (SELECT CASE WHEN id > 230 THEN id % 5 WHEN id > 130 THEN id - 100 ELSE id END AS source) s
GROUP BY id;
INSERT INTO texts SELECT 300 + n, body FROM unnest(ARRAY['', '...', 'one', 'One!', 'again again', repeat('again ', 500),
	'three words here', 'three words here', repeat('ÄÖÜ ', 40), repeat('äöü ', 40), NULL]) WITH ORDINALITY u (body, n);
-- what has no feature has no fingerprint, unless it is given one
CREATE TABLE prints AS
SELECT id, body, coalesce(minhash(body), repeat('0', 16)::simhash64) AS fp,
	coalesce(simhash_128(body), repeat('0', 32)::simhash128) AS wide FROM texts;

-- What a threshold and a distance of all pairs come to.
CREATE TABLE truth AS
SELECT a.id AS a, b.id AS b, a.fp <-> b.fp AS narrow, a.wide <-> b.wide AS wide,
	coalesce(text_jaccard(a.body, b.body, words => 3), 0) AS jaccard,
	coalesce(text_jaccard(a.body, b.body, chars => 5), 0) AS of_chars
FROM prints a JOIN prints b ON a.id < b.id WHERE a.body IS NOT NULL AND b.body IS NOT NULL;

-- Where all rows are compared, each pair is there, once, and nothing else is.
CREATE FUNCTION wrong_pairs(query text, threshold float8, max_distance int, distances text, similarities text,
	words int DEFAULT NULL, chars int DEFAULT NULL)
RETURNS TABLE (pairs bigint, wrong bigint) LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format(
		'SELECT count(*), count(*) FILTER (WHERE (f.distance, f.similarity) IS DISTINCT FROM (t.%1$I, t.%2$I))
		FROM (SELECT * FROM truth WHERE %1$I <= $3 OR %2$I >= $2) t
			FULL JOIN simhash_audit_pairs($1, 1000000, $2, $4, $5, $3) f USING (a, b)', distances, similarities)
	USING query, threshold, max_distance, words, chars;
END $$;
SELECT threshold, max_distance, narrow.pairs > 0 AS some, narrow.wrong, wide.wrong, of_chars.wrong
FROM unnest('{0.1,0.8,1}'::float8[]) threshold, unnest('{0,10,64}'::int[]) max_distance,
	wrong_pairs('SELECT id, fp, body FROM prints', threshold, max_distance, 'narrow', 'jaccard') narrow,
	wrong_pairs('SELECT id, wide, body FROM prints', threshold, max_distance, 'wide', 'jaccard', 3) wide,
	wrong_pairs('SELECT id, fp, body FROM prints', threshold, max_distance, 'narrow', 'of_chars', NULL, 5) of_chars
ORDER BY 1, 2;
-- also if the texts of the sample do not fit into memory at once
SET work_mem = 64;
SET hash_mem_multiplier = 1;
SELECT * FROM wrong_pairs('SELECT id, fp, body FROM prints', 0.3, 20, 'narrow', 'jaccard');
RESET work_mem;
RESET hash_mem_multiplier;

-- The rows of simhash_audit say what the pairs say.
CREATE TABLE exact AS
SELECT threshold, max_distance, count(*) FILTER (WHERE near) AS pairs,
	count(*) FILTER (WHERE near AND alike)::float8 / nullif(count(*) FILTER (WHERE near), 0) AS "precision",
	count(*) FILTER (WHERE near AND jaccard >= 0.5)::float8 / nullif(count(*) FILTER (WHERE near), 0) AS related,
	count(*) FILTER (WHERE near AND alike)::float8 / nullif(count(*) FILTER (WHERE alike), 0) AS recall
FROM truth, unnest('{0.1,0.5,0.7,0.95,1}'::float8[]) threshold, generate_series(0, 20) max_distance,
	LATERAL (SELECT narrow <= max_distance AS near, jaccard >= threshold AS alike) s
WHERE narrow <= 20 OR jaccard >= 0.1
GROUP BY threshold, max_distance;
SELECT t.threshold, count(*) AS distances,
	count(*) FILTER (WHERE (f.pairs, f.precision, f.related, f.recall) IS DISTINCT FROM
			(e.pairs, e.precision, e.related, e.recall)
		OR (f.precision_low, f.related_low, f.recall_low) IS DISTINCT FROM (f.precision, f.related, f.recall)
		OR (f.precision_high, f.related_high, f.recall_high) IS DISTINCT FROM (f.precision, f.related, f.recall)) AS wrong
FROM (SELECT DISTINCT threshold FROM exact) t,
	simhash_audit('SELECT id, fp, body FROM prints', 100000, t.threshold, max_distance => 20) f
	JOIN exact e USING (max_distance)
WHERE e.threshold = t.threshold
GROUP BY 1 ORDER BY 1;
-- by default up to 10 of 64 bits, and up to 20 of 128; 1,000 rows; 0.8; three words
SELECT count(*), max(max_distance) FROM simhash_audit('SELECT id, fp, body FROM prints');
SELECT count(*), max(max_distance) FROM simhash_audit('SELECT id, wide, body FROM prints');
SELECT count(*) FROM (SELECT * FROM simhash_audit('SELECT id, fp, body FROM prints')
	EXCEPT SELECT * FROM simhash_audit('SELECT id, fp, body FROM prints', 1000, 0.8, 3, NULL, 10, 0)) s;

-- A sample: pairs that there are; the same ones again, in whatever order rows
-- come; others with another seed.
SELECT count(*) BETWEEN 10 AND 400 AS few, count(*) FILTER (WHERE narrow <> distance OR jaccard <> similarity) AS wrong,
	count(*) - count(DISTINCT (f.a, f.b)) AS twice
FROM simhash_audit_pairs('SELECT id, fp, body FROM prints', 20, 0.8) f LEFT JOIN truth USING (a, b);
CREATE TABLE sampled AS SELECT * FROM simhash_audit_pairs('SELECT id, fp, body FROM prints', 20, 0.8, seed => 1);
SELECT count(*) FILTER (WHERE s IS NULL OR f IS NULL) AS others
FROM sampled s FULL JOIN simhash_audit_pairs('SELECT id, fp, body FROM prints ORDER BY md5(id::text)',
	20, 0.8, seed => 1) f USING (a, b);
SELECT count(*) FILTER (WHERE s IS NULL OR f IS NULL) > 0 AS others
FROM sampled s FULL JOIN simhash_audit_pairs('SELECT id, fp, body FROM prints', 20, 0.8, seed => 2) f USING (a, b);

-- Of 100 samples the interval of 95 % holds the truth in most.
SELECT max_distance, count(*) FILTER (WHERE e.precision BETWEEN precision_low - 1e-9 AND precision_high + 1e-9) >= 90
	AND count(*) FILTER (WHERE e.related BETWEEN related_low - 1e-9 AND related_high + 1e-9) >= 90
	AND count(*) FILTER (WHERE e.recall BETWEEN recall_low - 1e-9 AND recall_high + 1e-9) >= 90 AS covered,
	bool_and(precision_low <= f.precision AND f.precision <= precision_high
		AND recall_low <= f.recall AND f.recall <= recall_high
		AND precision_low >= 0 AND precision_high <= 1 AND recall_low >= 0 AND recall_high <= 1) AS ordered,
	count(*) FILTER (WHERE precision_low = precision_high) < 5 AS wide,
	avg(f.pairs) / avg(e.pairs) BETWEEN 0.8 AND 1.25 AS as_many
FROM generate_series(1, 100) seed,
	simhash_audit('SELECT id, fp, body FROM prints', 60, 0.7, seed => seed) f
	JOIN exact e USING (max_distance)
WHERE e.threshold = 0.7
GROUP BY max_distance ORDER BY max_distance;

-- Estimates are right on average where most rows that may have a pair are drawn.
SELECT sample, bool_and(ratio BETWEEN 0.95 AND 1.05) AS as_many
FROM (SELECT sample, max_distance, avg(f.pairs) / avg(e.pairs) AS ratio
	FROM unnest('{100,130,160}'::int[]) sample, generate_series(1, 40) seed,
		simhash_audit('SELECT id, fp, body FROM prints', sample, 0.7, seed => seed) f
		JOIN exact e USING (max_distance)
	WHERE e.threshold = 0.7 GROUP BY sample, max_distance) r
GROUP BY sample ORDER BY sample;

-- also where no two rows have a fingerprint or a band of the text in common
CREATE TABLE distinct_rows AS
SELECT id, (id # (id >> 1))::bigint::simhash64 AS fp, md5(id::text) AS body FROM generate_series(1, 1000) id;
SELECT f.pairs / e.pairs BETWEEN 0.8 AND 1.25 AS as_many
FROM simhash_audit('TABLE distinct_rows', 200, max_distance => 1) f,
	(SELECT sum(pairs) AS pairs FROM count_distances('SELECT id, fp FROM distinct_rows', 1)) e
WHERE f.max_distance = 1;

-- A row that is in no sample is in no pair.  So if all rows but one may be drawn,
-- each pair within max_distance is counted: with texts that have nothing in
-- common, and others; in memory, and in files; rows far apart, rows in a ball, and
-- many with the same fingerprint.
CREATE TABLE many AS
SELECT id, md5((CASE WHEN id % 3 = 0 THEN id / 30 ELSE -id END)::text) AS body, far::simhash64 AS far,
	(CASE WHEN id < 2000 THEN id % 1024 | id::bigint << 60 ELSE far END)::simhash64 AS ball,
	(CASE WHEN id % 2 = 0 THEN 1 ELSE far END)::simhash64 AS same,
	(far::bit(64) || (far # id % 256)::bit(64))::bit(128)::simhash128 AS wide
FROM generate_series(1, 2500) id,
	LATERAL (SELECT hashint8extended(id / 2, 1) # (id % 2 * (hashint8extended(id, 2) & hashint8extended(id, 3)
		& hashint8extended(id, 4))) AS far) f;
CREATE TABLE audits AS
SELECT fp, k, format('SELECT id, %I FROM many', fp) AS rows, format('SELECT id, %I, body FROM many', fp) AS texts
FROM unnest('{far,ball,same,wide}'::text[]) fp, unnest('{0,10}'::int[]) k;
CREATE TABLE expected AS
SELECT fp, k, distance, sum(pairs) OVER (PARTITION BY fp, k ORDER BY distance) AS pairs
FROM audits, count_distances(rows, k);
CREATE VIEW not_counted AS
SELECT fp, k, count(*) FILTER (WHERE found.pairs IS DISTINCT FROM expected.pairs) AS wrong
FROM expected FULL JOIN (SELECT fp, k, max_distance AS distance, pairs
	FROM audits, simhash_audit(texts, 2499, max_distance => k)) found USING (fp, k, distance)
GROUP BY fp, k ORDER BY fp, k;
TABLE not_counted;
SELECT max(pairs) > 500 AS some FROM expected WHERE fp = 'far' AND k = 10;
CREATE TABLE in_memory AS SELECT * FROM simhash_audit_pairs('SELECT id, far, body FROM many', 100);
SET work_mem = 64;
SET hash_mem_multiplier = 1;
TABLE not_counted;
SELECT count(*) FILTER (WHERE e IS NULL OR c IS NULL) AS others
FROM (SELECT * FROM expected WHERE fp = 'far' AND k = 10) e FULL JOIN
	(SELECT distance, sum(pairs) OVER (ORDER BY distance) AS pairs FROM count_distances('SELECT id, far FROM many', 10)) c
	USING (distance, pairs);
-- the memory does not change what is drawn
SELECT count(*) > 0 AS some, count(*) FILTER (WHERE m IS NULL OR f IS NULL) AS others
FROM in_memory m FULL JOIN simhash_audit_pairs('SELECT id, far, body FROM many', 100) f USING (a, b);
RESET work_mem;
RESET hash_mem_multiplier;

-- Types of the columns; NULLs; nothing to compare.
CREATE DOMAIN some_text AS varchar(1000);
\set ECHO none
SELECT query, count(*) AS distances, sum(pairs) AS pairs, round(sum(recall)::numeric, 9) AS recall
FROM unnest(ARRAY[
	'SELECT id::smallint, fp, body::some_text FROM prints WHERE id <= 300',
	'SELECT id::bigint, fp, body::char(1000) FROM prints WHERE id <= 300',
	'SELECT nullif(id, 301), fp, body FROM prints WHERE id IN (301, 302)',
	'SELECT id, CASE WHEN id = 1 THEN fp END, body FROM prints WHERE id <= 2',
	'SELECT id, fp, NULL::text FROM prints',
	'SELECT 1, fp, body FROM prints',
	'SELECT id, fp, body FROM prints LIMIT 0',
	'SELECT id, fp, body FROM prints LIMIT 1']) query, simhash_audit(query, 10000)
GROUP BY query ORDER BY query;
\set ECHO queries
SELECT count(*) FROM simhash_audit(NULL);
SELECT count(*) FROM simhash_audit('TABLE prints', seed => NULL);
SELECT * FROM simhash_audit('SELECT id, fp, body FROM prints WHERE id <= 3', max_distance => 0);
SELECT simhash_audit('SELECT id, fp, body FROM prints WHERE id > 300 AND id < 305', 10, max_distance => 1);

SELECT error_of(statement) FROM (VALUES
	($$SELECT simhash_audit('SELECT id, fp FROM prints')$$),
	($$SELECT simhash_audit('SELECT fp, id, body FROM prints')$$),
	($$SELECT simhash_audit('SELECT id, body, fp FROM prints')$$),
	($$SELECT simhash_audit('SELECT id, fp, id FROM prints')$$),
	($$SELECT simhash_audit('SELECT id, fp, ''{}''::simhash_weights FROM prints')$$),
	($$SELECT simhash_audit('SELECT id, fp, body FROM prints; SELECT 1')$$),
	($$SELECT simhash_audit('DELETE FROM prints RETURNING id, fp, body')$$),
	($$SELECT simhash_audit('')$$),
	($$SELECT simhash_audit('SELECT id, fp, body FROM prints', 0)$$),
	($$SELECT simhash_audit('SELECT id, fp, body FROM prints', -2147483648)$$),
	($$SELECT simhash_audit('SELECT id, fp, body FROM prints', 10, 0.0999)$$),
	($$SELECT simhash_audit('SELECT id, fp, body FROM prints', 10, 1.0001)$$),
	($$SELECT simhash_audit('SELECT id, fp, body FROM prints', 10, 'NaN')$$),
	($$SELECT simhash_audit('SELECT id, fp, body FROM prints', words => 0)$$),
	($$SELECT simhash_audit('SELECT id, fp, body FROM prints', words => 2, chars => 3)$$),
	($$SELECT simhash_audit('SELECT id, fp, body FROM prints', max_distance => -1)$$),
	($$SELECT simhash_audit('SELECT id, fp, body FROM prints', max_distance => 65)$$),
	($$SELECT simhash_audit('SELECT id, wide, body FROM prints', max_distance => 129)$$)) s (statement);

DROP VIEW not_counted;
DROP TABLE texts, prints, truth, exact, sampled, distinct_rows, many, audits, expected, in_memory;
DROP FUNCTION wrong_pairs;
DROP DOMAIN some_text;
