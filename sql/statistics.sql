-- What the theory says of fingerprints, on random vectors: the mean distance is
-- 64 theta / pi, every bit is balanced, and no two bits are correlated.  The
-- vectors are made of counters and md5, the same every time.

-- Weights, drawn once: multiples of 2^-16 below 1, none of which is rounded, and of
-- 200 of which one vote in a million is a tie.
CREATE FUNCTION draw(word text) RETURNS float8 LANGUAGE sql AS
	$$SELECT ('x' || left(md5(word), 4))::bit(16)::int / 65536.0::float8$$;
CREATE TABLE drawn AS
SELECT array_agg(draw('a' || f) ORDER BY f) AS a, array_agg(draw('b' || f) ORDER BY f) AS b
FROM generate_series(1, 400) f;

-- Vector u has the features 1 .. 200 with the weights a, vector v those from 1 + shift
-- on, 200 too, with the weights a or others.
CREATE FUNCTION dot(x float8[], y float8[]) RETURNS float8 LANGUAGE sql AS
	'SELECT coalesce(sum(x * y), 0) FROM unnest(x, y) v(x, y)';
CREATE TABLE angles AS
SELECT shift, u, v, acos(dot(u[1 + shift:], v[:200 - shift]) / sqrt(dot(u, u) * dot(v, v))) AS theta
FROM (SELECT a[:200] AS u, a, b FROM drawn) s,
	LATERAL (VALUES (20, a[21:220]), (100, a[101:300]), (200, a[201:400]),
		(0, b[1:200]), (60, b[61:260])) angle(shift, v);
SELECT shift, round(degrees(theta)) AS degrees FROM angles ORDER BY 1;

-- 3,000 pairs of each angle: pair i has features of its own
CREATE TABLE pairs AS
SELECT i, theta, simhash(feature[:200], u) AS u, simhash(feature[1 + shift:200 + shift], v) AS v
FROM (SELECT i, ARRAY(SELECT i || ' ' || f FROM generate_series(1, 400) f) AS feature
	FROM generate_series(1, 3000) i OFFSET 0) features, angles;

-- Each check below is false of honest fingerprints once in a thousand drawings: its
-- quantile is the normal one of 1 - 0.0005 / (number of comparisons).

-- Five mean distances.  Each is of n sums of 64 draws that are 1 with probability
-- p = theta / pi, which is the limit for many features.  A vote is a sum of 200
-- random signs, which has no skewness; its fourth cumulants, of the order 1 / 200,
-- move the mean by less than 0.03 here, and no interval is narrower than 0.18.
CREATE FUNCTION is_mean(distances int[], theta float8) RETURNS boolean LANGUAGE sql AS $$
	SELECT abs(avg(d) - 64 * p) < 3.72 * sqrt(64 * p * (1 - p) / count(*))
	FROM unnest(distances) d, (SELECT theta / pi()) s(p) GROUP BY p
$$;
-- One half of n draws, for 64 bits: is the bit set?
-- And for 2,016 pairs of bits: do they differ?
CREATE FUNCTION is_half(draws varbit, quantile float8) RETURNS boolean LANGUAGE sql AS
	'SELECT abs(bit_count(draws) - length(draws) / 2.0) < quantile * sqrt(length(draws)) / 2';
CREATE FUNCTION bits(fingerprints bigint[]) RETURNS varbit[] LANGUAGE sql AS $$
	SELECT array_agg((SELECT string_agg(((f >> n) & 1)::text, '')::varbit
		FROM unnest(fingerprints) f) ORDER BY n)
	FROM generate_series(0, 63) n
$$;
CREATE FUNCTION are_balanced(bits varbit[]) RETURNS boolean LANGUAGE sql AS
	'SELECT bool_and(is_half(b, 4.32)) FROM unnest(bits) b';
CREATE FUNCTION are_uncorrelated(bits varbit[]) RETURNS boolean LANGUAGE sql AS $$
	SELECT bool_and(is_half(bits[x] # bits[y], 5.03))
	FROM generate_series(1, 64) x, generate_series(x + 1, 64) y
$$;

-- Fingerprints as they are, and tampered with: what does each check notice?
CREATE TABLE variants AS
SELECT i, theta, how, variant.u, variant.v
FROM (SELECT i, theta, u::bigint, v::bigint, (i % 8 = 0)::int * 128 AS cleared,
		(i % 8 = 0)::int * 16 AS copied FROM pairs) p, LATERAL (VALUES
	('as they are', u, v),
	('a bit of every second v flipped', u, v # ((i % 2)::bigint << i / 2 % 64)),
	('bit 63 never set', u & ~(1::bigint << 63), v & ~(1::bigint << 63)),
	('bit 7 always set', u | 128, v | 128),
	('bit 7 cleared in one of 8', u & ~cleared, v & ~cleared),
	('bit 4 is bit 3', (u & ~16) | ((u & 8) << 1), (v & ~16) | ((v & 8) << 1)),
	('bit 4 is never bit 3', (u & ~16) | ((~u & 8) << 1), (v & ~16) | ((~v & 8) << 1)),
	('bit 4 is bit 3 in one of 8', (u & ~copied) | ((u & copied / 2) << 1),
		(v & ~copied) | ((v & copied / 2) << 1))) variant(how, u, v);
SELECT how, mean, are_balanced(bits) AS balanced, are_uncorrelated(bits) AS uncorrelated
FROM (SELECT how, bool_and(is_mean(distances, theta)) AS mean
	FROM (SELECT how, theta, array_agg(u::simhash64 <-> v::simhash64) AS distances
		FROM variants GROUP BY 1, 2) d
	GROUP BY 1) means
JOIN (SELECT how, bits(array_agg(u ORDER BY i) || array_agg(v ORDER BY i)) AS bits
	-- all of these are of different features
	FROM variants WHERE theta = (SELECT theta FROM angles WHERE shift = 200)
	GROUP BY 1 OFFSET 0) fingerprints USING (how)
ORDER BY how COLLATE "C";

DROP TABLE drawn, angles, pairs, variants;
DROP FUNCTION draw, dot, is_mean, is_half, bits(bigint[]), are_balanced, are_uncorrelated;
