-- Constructors from a tsvector and aggregates of one width, for aggregates.sql, which
-- sets simhash and simhash_agg to their names, type to that of their results, and
-- hash to a hash of the column feature.

-- a tsvector: lexemes by their positions and labels
SELECT simhash:suffix(to_tsvector('simple', 'to be or not to be')) = simhash:suffix('to be or not to be') AS words,
	simhash:suffix('a:1 b:2'::tsvector) = simhash:suffix('a b') AS positions,
	simhash:suffix('a b'::tsvector) = simhash:suffix('a b') AS no_positions,
	simhash:suffix('a:1,2 b:3'::tsvector) = simhash:suffix('a a b') AS counted,
	simhash:suffix('a:1A b:2B c:3C d:4D e:5'::tsvector)
		= simhash_tokens:suffix('{a,b,c,d,e}'::text[], '{1,0.4,0.2,0.1,0.1}') AS labels,
	simhash:suffix('a:1A b:2'::tsvector, '{1,0,0,0}') = simhash:suffix('b') AS own_weights,
	simhash:suffix('a:1A b:2'::tsvector, NULL) = simhash:suffix('a:1A b:2'::tsvector) AS default_weights,
	simhash:suffix(''::tsvector) IS NULL AS empty, simhash:suffix(NULL::tsvector) IS NULL AS nothing,
	simhash:suffix('a'::tsvector, '{0,1,1,1}') IS NULL AS no_weight;
SELECT feature, count, weight FROM simhash_features('a:1A,2,3 b:4C c'::tsvector, '{0.5,1,2,4}') ORDER BY 1, 3;
SELECT simhash:suffix(to_tsvector('english', '<p>The cats are <b>sitting</b></p>')) = simhash:suffix('cat sit') AS stemmed;
SELECT error_of(regexp_replace(statement, '\m(simhash|simhash_tokens|simhash_agg)\(', '\1' || :'suffix' || '(')) FROM (VALUES
	($$SELECT simhash('a'::tsvector, '{1,1,1}')$$),
	($$SELECT simhash('a'::tsvector, '{1,1,1,1,1}')$$),
	($$SELECT simhash('a'::tsvector, '{1,1,1,NULL}')$$),
	($$SELECT simhash('a'::tsvector, '{{1,1},{1,1}}')$$),
	($$SELECT simhash('a'::tsvector, '{1,1,1,-1}')$$),
	($$SELECT simhash('a'::tsvector, '{1,1,1,Infinity}')$$)) t(statement);

-- rows of features
CREATE TABLE features (doc int, feature text, weight float8);
INSERT INTO features
SELECT i % 50, md5((i * i % 997)::text), (i % 13) / 7.0 FROM generate_series(1, 3000) i;
CREATE VIEW compared AS
SELECT doc,
	simhash_agg:suffix(feature) = simhash_tokens:suffix(array_agg(feature)) AS features,
	simhash_agg:suffix(feature, weight) = simhash_tokens:suffix(array_agg(feature), array_agg(weight)) AS weighted,
	simhash_agg:suffix(:hash) = simhash_hashes:suffix(array_agg(:hash)) AS hashes,
	simhash_agg:suffix(:hash, weight)
		= simhash_hashes:suffix(array_agg(:hash), array_agg(weight)) AS weighted_hashes
FROM features GROUP BY doc;
SELECT count(*), bool_and(features) AS features, bool_and(weighted) AS weighted,
	bool_and(hashes) AS hashes, bool_and(weighted_hashes) AS weighted_hashes FROM compared;
-- NULLs count for nothing
SELECT simhash_agg:suffix(f) IS NULL AS none, simhash_agg:suffix(f, 1) IS NULL AS none FROM (VALUES (NULL::text)) v(f);
SELECT simhash_agg:suffix(f) = simhash:suffix('a') AS feature, simhash_agg:suffix(f, w) = simhash:suffix('a') AS weight
FROM (VALUES ('a', 1.0), (NULL, 1), ('a', NULL)) v(f, w);
SELECT simhash_agg:suffix(feature) IS NULL AS no_rows FROM features WHERE false;
SELECT simhash_agg:suffix(feature, 0) IS NULL AS no_weight FROM features;
-- the order of the rows does not matter
SELECT count(DISTINCT fp) AS shuffled FROM (
	SELECT simhash_agg:suffix(feature, weight ORDER BY md5(n || ctid::text)) AS fp
	FROM features, generate_series(1, 5) n GROUP BY n) s;
SELECT error_of(replace('SELECT simhash_agg(feature, -weight) FROM features', 'simhash_agg', 'simhash_agg' || :'suffix'));
SELECT error_of(replace('SELECT simhash_agg(feature, 2147483648) FROM features, generate_series(1, 22)', 'simhash_agg', 'simhash_agg' || :'suffix'));

-- moving windows take rows back exactly
SELECT count(*), count(*) FILTER (WHERE w IS DISTINCT FROM (
	SELECT simhash_tokens:suffix(array_agg(feature), array_agg(weight)) FROM (
		SELECT * FROM unnest(fs, ws) u(feature, weight)) s)) AS wrong
FROM (SELECT simhash_agg:suffix(feature, weight) OVER f AS w,
		array_agg(feature) OVER f AS fs, array_agg(weight) OVER f AS ws
	FROM features WINDOW f AS (ORDER BY doc, feature, weight ROWS BETWEEN 7 PRECEDING AND 3 PRECEDING)) s;
SELECT count(*) FILTER (WHERE w IS DISTINCT FROM simhash_hashes:suffix(hs)) AS wrong,
	count(*) FILTER (WHERE c IS DISTINCT FROM simhash_hashes:suffix(hs)) AS centroid_wrong,
	count(*) FILTER (WHERE v IS DISTINCT FROM simhash_hashes:suffix(hs, ws)) AS weighted_wrong
FROM (SELECT simhash_agg:suffix(h) OVER f AS w, simhash_centroid(CAST(h AS :type)) OVER f AS c,
		simhash_agg:suffix(h, weight) OVER f AS v, array_agg(h) OVER f AS hs, array_agg(weight) OVER f AS ws
	FROM (SELECT :hash AS h, weight FROM features) s
	WINDOW f AS (ORDER BY h ROWS BETWEEN CURRENT ROW AND 4 FOLLOWING)) s;

-- one result serially and in parallel
ALTER TABLE features SET (parallel_workers = 2);
SET max_parallel_workers_per_gather = 0;
SELECT simhash_agg:suffix(feature) AS a, simhash_agg:suffix(feature, weight) AS b,
	simhash_agg:suffix(:hash, weight) AS c,
	simhash_centroid(simhash:suffix(feature)) AS d,
	simhash_agg:suffix(:hash) AS e FROM features \gset serial_
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT simhash_agg:suffix(feature, weight), simhash_centroid(simhash:suffix(feature)) FROM features;
SELECT simhash_agg:suffix(feature) = :'serial_a' AS a, simhash_agg:suffix(feature, weight) = :'serial_b' AS b,
	simhash_agg:suffix(:hash, weight) = :'serial_c' AS c,
	simhash_centroid(simhash:suffix(feature)) = :'serial_d' AS d,
	simhash_agg:suffix(:hash) = :'serial_e' AS e FROM features;
-- the total that has passed the limit is that of one process, or of several
SELECT regexp_replace(error_of(replace('SELECT simhash_agg(feature, 2147483648) FROM features, generate_series(1, 22)',
	'simhash_agg', 'simhash_agg' || :'suffix')), '\d{15,}$', 'more');
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP VIEW compared;
DROP TABLE features;
