-- '0' and its neighbours
SELECT d, z <-> f AS "<->", z <~> f AS "<~>", simhash_distance(z, f),
	simhash_similarity(z, f), round(simhash_cosine(z, f)::numeric, 4) AS cosine,
	z % f AS "%", simhash_within(z, f, 4) AS within_4,
	f <@ hamming_ball(z, 4) AS "<@", hamming_ball(z, 4) @> f AS "@>"
FROM (VALUES ('0000000000000000'::simhash64)) t(z),
	(VALUES (0, '0000000000000000'::simhash64), (1, '8000000000000000'),
	(3, '0000000000000007'), (4, '000000000000000f'), (5, '100000000000000f'),
	(32, '00000000ffffffff'), (33, '80000000ffffffff'),
	(64, 'ffffffffffffffff')) u(d, f);
-- both ways round
SELECT count(*) FROM generate_series(1, 1000) i,
	LATERAL (SELECT substr(md5(i::text), 1, 16)::simhash64 a,
		substr(md5((-i)::text), 1, 16)::simhash64 b) t
WHERE a <-> b <> b <-> a OR (a % b) <> (b % a) OR a <-> a <> 0
	OR a <-> b <> length(replace((a::bit(64) # b::bit(64))::text, '0', ''));
SELECT pg_typeof('0000000000000000'::simhash64 <-> '0000000000000000'),
	pg_typeof('0000000000000000'::simhash64 <~> '0000000000000000');

-- NULL
SELECT NULL <-> f AS "<->", NULL % f AS "%", simhash_within(f, f, NULL) AS within,
	f <@ NULL AS "<@", hamming_ball(f, NULL) AS ball, (f <-> f) <= NULL AS "<="
FROM (VALUES ('0000000000000000'::simhash64)) t(f);

-- balls: text form, clamped radius
SELECT hamming_ball('0123456789abcdef', k)
FROM unnest('{-9223372036854775808,-1,0,3,64,65,9223372036854775807}'::bigint[]) k;
SELECT ' ( 0123456789abcdef , 3 ) '::hamming_ball,
	'(0123456789ABCDEF,99999)'::hamming_ball, '(0123456789abcdef,-7)'::hamming_ball,
	'(0123456789abcdef,99999999999999999999)'::hamming_ball;
SELECT hamming_ball_send('(0123456789abcdef,3)'), hamming_ball_send('(0123456789abcdef,-1)');
SELECT error_of(statement) FROM (VALUES
	($$SELECT ''::hamming_ball$$),
	($$SELECT '(0123456789abcdef)'::hamming_ball$$),
	($$SELECT '(0123456789abcdef,)'::hamming_ball$$),
	($$SELECT '(0123456789abcdef,3'::hamming_ball$$),
	($$SELECT '(0123456789abcdef,3) x'::hamming_ball$$),
	($$SELECT '(0123456789abcdef,3x)'::hamming_ball$$),
	($$SELECT '(0123,3)'::hamming_ball$$),
	($$SELECT '0123456789abcdef,3)'::hamming_ball$$),
	($$SELECT '(,)'::hamming_ball$$)) t(statement);

-- bounds of every integer type, both ways round, with no surprise at the ends
CREATE FUNCTION bounds(type text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	k bigint;
	d int;
	op text;
	wrong int := 0;
	tried int := 0;
	got bool[];
	bound text;
BEGIN
	FOREACH k IN ARRAY '{-9223372036854775808,-2147483648,-32768,-1,0,1,3,4,63,64,
		65,32767,2147483647,9223372036854775807}'::bigint[] LOOP
		CONTINUE WHEN type = 'smallint' AND k NOT BETWEEN -32768 AND 32767;
		CONTINUE WHEN type IN ('integer', 'hamming_distance')
			AND k NOT BETWEEN -2147483648 AND 2147483647;
		FOREACH d IN ARRAY '{0,3,4,64}'::int[] LOOP
			FOREACH op IN ARRAY '{<,<=,>,>=}'::text[] LOOP
				bound := format('(%L::%s)', k, type);
				EXECUTE format('SELECT ARRAY[a <-> b %1$s %2$s, %2$s %1$s a <-> b,
					%3$s %1$s %4$s, %4$s %1$s %3$s,
					d.s %1$s %2$s, %2$s %1$s d.s] FROM (VALUES (
					''0000000000000000''::simhash64,
					(repeat(''0'', 64 - %3$s) || repeat(''1'', %3$s))::simhash64)) t(a, b),
					(VALUES (%3$s::hamming_distance)) d(s)',
					op, bound, d, k) INTO got;
				tried := tried + 4;
				wrong := wrong + (got[1] <> got[3])::int + (got[2] <> got[4])::int
					+ (got[5] <> got[3])::int + (got[6] <> got[4])::int;
			END LOOP;
		END LOOP;
	END LOOP;
	RETURN NEXT format('%s of %s wrong', wrong, tried);
END $$;
SELECT t, bounds(t) FROM unnest('{smallint,integer,bigint,hamming_distance}'::text[]) t;
-- the same where nothing is constant, so that the planner rewrites it
CREATE TABLE pairs AS
SELECT '0000000000000000'::simhash64 AS a,
	(repeat('0', 64 - d) || repeat('1', d))::simhash64 AS b, d, k
FROM generate_series(0, 64, 4) d, generate_series(-2, 66) k;
INSERT INTO pairs VALUES (NULL, '0000000000000000', 0, 0),
	('0000000000000000', '0000000000000000', 0, NULL);
SELECT count(*) FROM pairs WHERE
	(a <-> b <= k) IS DISTINCT FROM (a <~> b <= k) OR
	(a <-> b < k) IS DISTINCT FROM (a <~> b < k) OR
	(a <-> b > k) IS DISTINCT FROM (a <~> b > k) OR
	(a <-> b >= k) IS DISTINCT FROM (a <~> b >= k) OR
	(k <= a <-> b) IS DISTINCT FROM (k <= a <~> b) OR
	(k < a <-> b) IS DISTINCT FROM (k < a <~> b) OR
	(k > a <-> b::text::simhash64) IS DISTINCT FROM (k > a <~> b) OR
	(k >= a <-> b) IS DISTINCT FROM (k >= a <~> b) OR
	(a <-> b <= b <-> a) IS DISTINCT FROM (a <~> b <= b <~> a) OR
	(a <-> b = k) IS DISTINCT FROM (a <~> b = k) OR
	(a <-> b IN (0, 4)) IS DISTINCT FROM (a <~> b IN (0, 4));
-- a distance is an integer: arithmetic, aggregates, grouping
SELECT sum(a <-> b), avg(a <-> b)::int, max(a <-> b), (min(a <-> b) + 1) / 2 AS half
FROM pairs;
SELECT count(*) FILTER (WHERE (a <-> b, k) > (8, 3)) AS "row >",
	count(*) FILTER (WHERE (a <~> b, k) > (8, 3)) AS "<~>",
	count(*) FILTER (WHERE (8::bigint, k) >= (a <-> b, k)) AS "row >=",
	count(*) FILTER (WHERE (8, k) >= (a <~> b, k)) AS "<~>" FROM pairs;
SELECT a <-> b AS d, count(*) FROM pairs GROUP BY 1 HAVING a <-> b < 8 ORDER BY 1;
DROP TABLE pairs;
