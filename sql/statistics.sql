-- What the theory says of fingerprints, on random vectors: the mean distance is
-- bits theta / pi, every bit is balanced, and no two bits are correlated.  The
-- vectors are made of counters and md5, the same every time.  Fingerprints have 64
-- bits, or as many as a file asks for that includes this one.
\pset format unaligned \pset tuples_only on \set ECHO none

\if :{?bits}
	\set suffix _128
	\set balanced 4.47
	\set uncorrelated 5.29
\else
	\set bits 64
	\set suffix ''
	\set balanced 4.32
	\set uncorrelated 5.03
\endif

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
SELECT i, theta, simhash_tokens:suffix(feature[:200], u) AS u, simhash_tokens:suffix(feature[1 + shift:200 + shift], v) AS v
FROM (SELECT i, ARRAY(SELECT i || ' ' || f FROM generate_series(1, 400) f) AS feature
	FROM generate_series(1, 3000) i OFFSET 0) features, angles;

-- Each check below is false of honest fingerprints once in a thousand drawings: its
-- quantile is the normal one of 1 - 0.0005 / (number of comparisons).

-- Five mean distances.  Each is of n sums of as many draws as there are bits, which
-- are 1 with probability p = theta / pi, the limit for many features.  A vote is a
-- sum of 200 random signs, which has no skewness; its fourth cumulants, of the order
-- 1 / 200, move the mean of 64 bits by less than 0.03 here, and no interval is
-- narrower than 0.18; with 128 bits by less than 0.06, and 0.26.
CREATE FUNCTION is_mean(distances int[], theta float8, bits int) RETURNS boolean LANGUAGE sql AS $$
	SELECT abs(avg(d) - bits * p) < 3.72 * sqrt(bits * p * (1 - p) / count(*))
	FROM unnest(distances) d, (SELECT theta / pi()) s(p) GROUP BY p
$$;
-- One half of n draws, for 64 or 128 bits: is the bit set?
-- And for 2,016 or 8,128 pairs of bits: do they differ?
CREATE FUNCTION is_half(draws varbit, quantile float8) RETURNS boolean LANGUAGE sql AS
	'SELECT abs(bit_count(draws) - length(draws) / 2.0) < quantile * sqrt(length(draws)) / 2';
CREATE FUNCTION bits(fingerprints varbit[]) RETURNS varbit[] LANGUAGE sql AS $$
	SELECT array_agg((SELECT string_agg(get_bit(f, n)::text, '')::varbit
		FROM unnest(fingerprints) f) ORDER BY n)
	FROM generate_series(0, length(fingerprints[1]) - 1) n
$$;
CREATE FUNCTION are_balanced(bits varbit[], quantile float8) RETURNS boolean LANGUAGE sql AS
	'SELECT bool_and(is_half(b, quantile)) FROM unnest(bits) b';
CREATE FUNCTION are_uncorrelated(bits varbit[], quantile float8) RETURNS boolean LANGUAGE sql AS $$
	SELECT bool_and(is_half(bits[x] # bits[y], quantile))
	FROM generate_series(1, cardinality(bits)) x, generate_series(x + 1, cardinality(bits)) y
$$;

-- Fingerprints as they are, and tampered with: what does each check notice?
CREATE TABLE variants AS
SELECT i, theta, how, variant.u, variant.v
FROM (SELECT i, theta, u::bit(:bits) AS u, v::bit(:bits) AS v, 1::bit(:bits) AS one,
		((i % 8 = 0)::int * 128)::bit(:bits) AS cleared,
		((i % 8 = 0)::int * 16)::bit(:bits) AS copied FROM pairs) p, LATERAL (VALUES
	('as they are', u, v),
	('a bit of every second v flipped', u, v # ((i % 2)::bit(:bits) << i / 2 % :bits)),
	(format('bit %s never set', :bits - 1), u & ~(one << (:bits - 1)), v & ~(one << (:bits - 1))),
	('bit 7 always set', u | (one << 7), v | (one << 7)),
	('bit 7 cleared in one of 8', u & ~cleared, v & ~cleared),
	('bit 4 is bit 3', (u & ~(one << 4)) | ((u & (one << 3)) << 1), (v & ~(one << 4)) | ((v & (one << 3)) << 1)),
	('bit 4 is never bit 3', (u & ~(one << 4)) | ((~u & (one << 3)) << 1),
		(v & ~(one << 4)) | ((~v & (one << 3)) << 1)),
	('bit 4 is bit 3 in one of 8', (u & ~copied) | ((u & (copied >> 1)) << 1),
		(v & ~copied) | ((v & (copied >> 1)) << 1)),
	('the second half is the first', (u >> :bits / 2 << :bits / 2) | (u >> :bits / 2),
		(v >> :bits / 2 << :bits / 2) | (v >> :bits / 2))) variant(how, u, v);
SELECT how, mean, are_balanced(bits, :balanced) AS balanced, are_uncorrelated(bits, :uncorrelated) AS uncorrelated
FROM (SELECT how, bool_and(is_mean(distances, theta, :bits)) AS mean
	FROM (SELECT how, theta, array_agg(u::simhash:bits <-> v::simhash:bits) AS distances
		FROM variants GROUP BY 1, 2) d
	GROUP BY 1) means
JOIN (SELECT how, bits(array_agg(u ORDER BY i) || array_agg(v ORDER BY i)) AS bits
	-- all of these are of different features
	FROM variants WHERE theta = (SELECT theta FROM angles WHERE shift = 200)
	GROUP BY 1 OFFSET 0) fingerprints USING (how)
ORDER BY how COLLATE "C";

DROP TABLE drawn, angles, pairs, variants;
DROP FUNCTION draw, dot, is_mean, is_half, bits(varbit[]), are_balanced, are_uncorrelated;
