-- Hashes and rows as features, of both widths.
\pset format unaligned \pset tuples_only on \set ECHO queries

\getenv directory PG_ABS_SRCDIR
\set of_width :directory '/sql/include/aggregates_width.sql'

-- hashes of the caller's own: each bit is what more than half of the weight says
SELECT simhash_hashes('{1,2,3}'::bigint[]) AS majority, simhash_hashes('{1,2}'::bigint[]) AS ties,
	simhash_hashes(ARRAY[-1]::bigint[]) AS all_ones, simhash_hashes(ARRAY[0]::bigint[]) AS all_zeros,
	simhash_hashes('{1,6}'::bigint[], '{2,1}') AS weighted, simhash_hashes('{1,6}'::bigint[], '{1,1}') AS even,
	simhash_hashes('{}'::bigint[]) IS NULL AS none, simhash_hashes('{5}'::bigint[], '{0}') IS NULL AS no_weight,
	simhash_hashes(NULL::bigint[]) IS NULL AS nothing, simhash_hashes(ARRAY[7, 7, 8]) AS ints;
-- text-dedup's published pair: ties are 0
SELECT simhash_hashes(ARRAY[13352372148217134600, 5020219685658847592]::numeric[]::simhash64[]::bigint[])::bigint;
SELECT simhash_hashes(array_agg(hash)) = simhash('to be or not') AS same FROM simhash_features('to be or not');
SELECT * FROM simhash_features_hashes('{5,5,6}'::bigint[], '{1,1,0.5}');
SELECT * FROM simhash_features_tokens('{a,a,b}'::text[], '{1,2,2}');
SELECT error_of(statement) FROM (VALUES
	($$SELECT simhash_hashes('{1,NULL}'::bigint[])$$),
	($$SELECT simhash_hashes('{1,2}'::bigint[], '{1}')$$),
	($$SELECT simhash_hashes('{{1},{2}}'::bigint[])$$),
	($$SELECT simhash_hashes('{1}'::bigint[], '{-0.5}')$$),
	($$SELECT simhash_hashes(array_fill(1::bigint, '{65536}'), array_fill(2147483648::float8, '{65536}'))$$)) t(statement);
-- of 16 bytes: the first 8 are for the high word, the others for the low one
CREATE FUNCTION uuids(high bigint[], low bigint[]) RETURNS uuid[] LANGUAGE sql IMMUTABLE
RETURN (SELECT array_agg((lpad(to_hex(h), 16, '0') || lpad(to_hex(l), 16, '0'))::uuid ORDER BY i)
	FROM unnest(high, low) WITH ORDINALITY u (h, l, i));
SELECT count(*), count(simhash_hashes_128(hashes)) AS fingerprints,
	count(*) FILTER (WHERE simhash_hashes_128(hashes) IS DISTINCT FROM (simhash_hashes(high)::text || simhash_hashes(low))::simhash128) AS wrong,
	count(*) FILTER (WHERE simhash_hashes_128(hashes, weights) IS DISTINCT FROM (simhash_hashes(high, weights)::text || simhash_hashes(low, weights))::simhash128) AS wrong_weighted,
	count(*) FILTER (WHERE minhash_hashes_128(hashes) IS DISTINCT FROM (minhash_hashes(high)::text || minhash_hashes(low))::simhash128) AS wrong_minhash
FROM (SELECT high, low, uuids(high, low) AS hashes, ARRAY(SELECT i % 5 / 3.0 FROM generate_series(1, n) i) AS weights
	FROM generate_series(1, 300) n, LATERAL (SELECT array_agg(CASE n % 3 WHEN 0 THEN i % 7 ELSE hashint8extended(i, n) END) AS high,
			array_agg(CASE n % 4 WHEN 0 THEN i % 5 - 2 ELSE hashint8extended(i, n + 1000) END) AS low
		FROM generate_series(1::bigint, n) i) h) s;
SELECT simhash_hashes_128('{00000000-0000-0001-0000-000000000003,00000000-0000-0002-0000-000000000006,00000000-0000-0003-0000-000000000000}'::uuid[]) AS majority,
	simhash_hashes_128('{00000000-0000-0001-0000-000000000001,00000000-0000-0006-0000-000000000006}', '{2,1}') AS weighted,
	simhash_hashes_128('{}') IS NULL AS none, simhash_hashes_128(NULL) IS NULL AS nothing,
	simhash_hashes_128('{00000000-0000-0005-0000-000000000005}', '{0}') IS NULL AS no_weight;
-- one feature, or two where either half differs
SELECT * FROM simhash_features_hashes_128(uuids('{5,5,5,6}', '{5,6,5,5}'), '{1,1,1,0.5}');
SELECT * FROM simhash_features_hashes_128(uuids('{5,5,5,-1}', '{5,6,5,5}'), '{1,2,1,0.5}');
SELECT count(*), count(*) FILTER (WHERE (SELECT simhash_hashes_128(array_agg(hash), array_agg(count * weight))
		FROM simhash_features_hashes_128(hashes, weights)) IS DISTINCT FROM simhash_hashes_128(hashes, weights)) AS wrong
FROM (SELECT uuids(array_agg(i % 7), array_agg(i % 5)) AS hashes, array_agg(i % 3 / 2.0) AS weights
	FROM generate_series(1, 60) n, generate_series(1::bigint, n) i GROUP BY n) s;
SELECT count(*) FROM simhash_features_hashes_128(NULL::uuid[]);
SELECT count(*) FROM simhash_features_hashes_128('{}');
SELECT error_of(statement) FROM (VALUES
	($$SELECT simhash_features_hashes_128('{00000000-0000-0001-0000-000000000003}'::uuid[], '{1,2}')$$),
	($$SELECT simhash_hashes_128('{NULL}'::uuid[])$$),
	($$SELECT simhash_hashes_128('{{00000000-0000-0001-0000-000000000003}}'::uuid[])$$),
	($$SELECT simhash_hashes_128('{00000000-0000-0001-0000-000000000003}'::uuid[], '{1,2}')$$),
	($$SELECT simhash_hashes_128('{00000000-0000-0001-0000-000000000003}'::uuid[], '{-0.5}')$$)) t(statement);
-- PostgreSQL words it differently from version to version
SELECT left(error_of($$SELECT simhash_hashes_128('{1}'::bigint[])$$), 5);
DROP FUNCTION uuids;

\set suffix ''
\set type simhash64
\set hash 'hashtextextended(feature, 0)'
\i :of_width
\set suffix _128
\set type simhash128
\set hash 'md5(feature)::uuid'
-- the same statements
\set ECHO none
\i :of_width
\set ECHO queries
-- aggregates of both widths see the same rows
SELECT count(*), count(*) FILTER (WHERE g::simhash64 IS DISTINCT FROM h) AS wrong_high,
	count(*) FILTER (WHERE i::simhash64 IS DISTINCT FROM j) AS wrong_weighted_high, count(*) FILTER (WHERE k::simhash64 IS DISTINCT FROM l) AS wrong_minhash_high
FROM (SELECT simhash_agg_128(t) OVER w AS g, simhash_agg(t) OVER w AS h, simhash_agg_128(t, v) OVER w AS i, simhash_agg(t, v) OVER w AS j,
		minhash_agg_128(t) OVER w AS k, minhash_agg(t) OVER w AS l
	FROM (SELECT n, md5((n % 97)::text) AS t, n % 7 / 3.0::float8 AS v FROM generate_series(1, 500) n) s
	WINDOW w AS (ORDER BY n ROWS BETWEEN 7 PRECEDING AND 2 PRECEDING)) s;

-- the centroid: what more than half of the fingerprints say
SELECT simhash_centroid(fp) FROM unnest('{00000000000000ff,000000000000000f,00000000000000f1}'::simhash64[]) fp;
SELECT simhash_centroid(fp) AS ties FROM unnest('{00000000000000ff,000000000000000f}'::simhash64[]) fp;
SELECT simhash_centroid(fp) AS zero FROM unnest('{0000000000000000,NULL}'::simhash64[]) fp;
SELECT simhash_centroid(fp) IS NULL AS nothing FROM unnest('{NULL}'::simhash64[]) fp;
SELECT simhash_centroid(fp) FROM unnest('{00000000000000ff00000000000000ff,000000000000000f00000000000000f1,00000000000000f1000000000000000f}'::simhash128[]) fp;
SELECT simhash_centroid(fp) AS ties FROM unnest('{00000000000000ff000000000000ff00,000000000000000f0000000000000f00}'::simhash128[]) fp;
SELECT simhash_centroid(fp) AS zero FROM unnest('{00000000000000000000000000000000,NULL}'::simhash128[]) fp;
SELECT simhash_centroid(fp) IS NULL AS nothing FROM unnest('{NULL}'::simhash128[]) fp;
