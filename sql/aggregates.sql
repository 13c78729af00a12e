-- hashes of the caller's own: each bit is what more than half of the weight says
SELECT simhash('{1,2,3}'::bigint[]) AS majority, simhash('{1,2}'::bigint[]) AS ties,
	simhash(ARRAY[-1]::bigint[]) AS all_ones, simhash(ARRAY[0]::bigint[]) AS all_zeros,
	simhash('{1,6}'::bigint[], '{2,1}') AS weighted, simhash('{1,6}'::bigint[], '{1,1}') AS even,
	simhash('{}'::bigint[]) IS NULL AS none, simhash('{5}'::bigint[], '{0}') IS NULL AS no_weight,
	simhash(NULL::bigint[]) IS NULL AS nothing, simhash(ARRAY[7, 7, 8]) AS ints;
-- text-dedup's published pair: ties are 0
SELECT simhash(ARRAY[13352372148217134600, 5020219685658847592]::numeric[]::simhash64[]::bigint[])::bigint;
SELECT simhash(array_agg(hash)) = simhash('to be or not') AS same FROM simhash_features('to be or not');
SELECT * FROM simhash_features('{5,5,6}'::bigint[], '{1,1,0.5}');
SELECT * FROM simhash_features('{a,a,b}'::text[], '{1,2,2}');
SELECT error_of(statement) FROM (VALUES
	($$SELECT simhash('{1,NULL}'::bigint[])$$),
	($$SELECT simhash('{1,2}'::bigint[], '{1}')$$),
	($$SELECT simhash('{{1},{2}}'::bigint[])$$),
	($$SELECT simhash('{1}'::bigint[], '{-0.5}')$$),
	($$SELECT simhash(array_fill(1::bigint, '{65536}'), array_fill(2147483648::float8, '{65536}'))$$)) t(statement);

-- a tsvector: lexemes by their positions and labels
SELECT simhash(to_tsvector('simple', 'to be or not to be')) = simhash('to be or not to be') AS words,
	simhash('a:1 b:2'::tsvector) = simhash('a b') AS positions,
	simhash('a b'::tsvector) = simhash('a b') AS no_positions,
	simhash('a:1,2 b:3'::tsvector) = simhash('a a b') AS counted,
	simhash('a:1A b:2B c:3C d:4D e:5'::tsvector)
		= simhash('{a,b,c,d,e}'::text[], '{1,0.4,0.2,0.1,0.1}') AS labels,
	simhash('a:1A b:2'::tsvector, '{1,0,0,0}') = simhash('b') AS own_weights,
	simhash('a:1A b:2'::tsvector, NULL) = simhash('a:1A b:2'::tsvector) AS default_weights,
	simhash(''::tsvector) IS NULL AS empty, simhash(NULL::tsvector) IS NULL AS nothing,
	simhash('a'::tsvector, '{0,1,1,1}') IS NULL AS no_weight;
SELECT feature, count, weight FROM simhash_features('a:1A,2,3 b:4C c'::tsvector, '{0.5,1,2,4}') ORDER BY 1, 3;
SELECT simhash(to_tsvector('english', '<p>The cats are <b>sitting</b></p>')) = simhash('cat sit') AS stemmed;
SELECT error_of(statement) FROM (VALUES
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
	simhash_agg(feature) = simhash(array_agg(feature)) AS features,
	simhash_agg(feature, weight) = simhash(array_agg(feature), array_agg(weight)) AS weighted,
	simhash_agg(hashtextextended(feature, 0)) = simhash(array_agg(hashtextextended(feature, 0))) AS hashes,
	simhash_agg(hashtextextended(feature, 0), weight)
		= simhash(array_agg(hashtextextended(feature, 0)), array_agg(weight)) AS weighted_hashes
FROM features GROUP BY doc;
SELECT count(*), bool_and(features) AS features, bool_and(weighted) AS weighted,
	bool_and(hashes) AS hashes, bool_and(weighted_hashes) AS weighted_hashes FROM compared;
-- NULLs count for nothing
SELECT simhash_agg(f) IS NULL AS none, simhash_agg(f, 1) IS NULL AS none FROM (VALUES (NULL::text)) v(f);
SELECT simhash_agg(f) = simhash('a') AS feature, simhash_agg(f, w) = simhash('a') AS weight
FROM (VALUES ('a', 1.0), (NULL, 1), ('a', NULL)) v(f, w);
SELECT simhash_agg(feature) IS NULL AS no_rows FROM features WHERE false;
SELECT simhash_agg(feature, 0) IS NULL AS no_weight FROM features;
-- the order of the rows does not matter
SELECT count(DISTINCT fp) AS shuffled FROM (
	SELECT simhash_agg(feature, weight ORDER BY md5(n || ctid::text)) AS fp
	FROM features, generate_series(1, 5) n GROUP BY n) s;
SELECT error_of('SELECT simhash_agg(feature, -weight) FROM features');
SELECT error_of('SELECT simhash_agg(feature, 2147483648) FROM features, generate_series(1, 22)');

-- moving windows take rows back exactly
SELECT count(*), count(*) FILTER (WHERE w IS DISTINCT FROM (
	SELECT simhash(array_agg(feature), array_agg(weight)) FROM (
		SELECT * FROM unnest(fs, ws) u(feature, weight)) s)) AS wrong
FROM (SELECT simhash_agg(feature, weight) OVER f AS w,
		array_agg(feature) OVER f AS fs, array_agg(weight) OVER f AS ws
	FROM features WINDOW f AS (ORDER BY doc, feature, weight ROWS BETWEEN 7 PRECEDING AND 3 PRECEDING)) s;
SELECT count(*) FILTER (WHERE w IS DISTINCT FROM simhash(hs)) AS wrong,
	count(*) FILTER (WHERE c IS DISTINCT FROM simhash(hs)) AS centroid_wrong
FROM (SELECT simhash_agg(h) OVER f AS w, simhash_centroid(h::simhash64) OVER f AS c,
		array_agg(h) OVER f AS hs
	FROM (SELECT hashtextextended(feature, 0) AS h FROM features) s
	WINDOW f AS (ORDER BY h ROWS BETWEEN CURRENT ROW AND 4 FOLLOWING)) s;

-- one result serially and in parallel
ALTER TABLE features SET (parallel_workers = 2);
SET max_parallel_workers_per_gather = 0;
SELECT simhash_agg(feature) AS a, simhash_agg(feature, weight) AS b,
	simhash_agg(hashtextextended(feature, 0), weight) AS c,
	simhash_centroid(simhash(feature)) AS d,
	simhash_agg(hashtextextended(feature, 0)) AS e FROM features \gset serial_
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT simhash_agg(feature, weight), simhash_centroid(simhash(feature)) FROM features;
SELECT simhash_agg(feature) = :'serial_a' AS a, simhash_agg(feature, weight) = :'serial_b' AS b,
	simhash_agg(hashtextextended(feature, 0), weight) = :'serial_c' AS c,
	simhash_centroid(simhash(feature)) = :'serial_d' AS d,
	simhash_agg(hashtextextended(feature, 0)) = :'serial_e' AS e FROM features;
SELECT error_of('SELECT simhash_agg(feature, 2147483648) FROM features, generate_series(1, 22)');
RESET max_parallel_workers_per_gather;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
DROP TABLE features CASCADE;

-- the centroid: what more than half of the fingerprints say
SELECT simhash_centroid(fp) FROM unnest('{00000000000000ff,000000000000000f,00000000000000f1}'::simhash64[]) fp;
SELECT simhash_centroid(fp) AS ties FROM unnest('{00000000000000ff,000000000000000f}'::simhash64[]) fp;
SELECT simhash_centroid(fp) AS zero FROM unnest('{0000000000000000,NULL}'::simhash64[]) fp;
SELECT simhash_centroid(fp) IS NULL AS nothing FROM unnest('{NULL}'::simhash64[]) fp;
