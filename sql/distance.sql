-- Distances and balls of 64 bits, or of as many as a file asks for that includes
-- this one.
\pset format unaligned \pset tuples_only on

\if :{?bits}
	\set ball hamming_ball :bits
	\set make_ball hamming_ball_128
\else
	\set bits 64
	\set ECHO queries
	\set ball hamming_ball
	\set make_ball hamming_ball
\endif
\set ball_send :ball _send
SELECT repeat('0', :bits / 4) AS zero, left(repeat('0123456789abcdef', 8), :bits / 4) AS some \gset

-- zeros, and n ones
CREATE FUNCTION ones(n int) RETURNS simhash:bits LANGUAGE sql IMMUTABLE
RETURN (repeat('0', :bits - n) || repeat('1', n))::simhash:bits;

-- '0' and its neighbours
SELECT d, z <-> f AS "<->", z <-># f AS "<->#", simhash_distance(z, f),
	simhash_similarity(z, f), round(simhash_cosine(z, f)::numeric, 4) AS cosine,
	minhash_jaccard(z, f) AS jaccard,
	z % f AS "%", simhash_within(z, f, 4) AS within_4,
	f <@ :make_ball(z, 4) AS "<@", :make_ball(z, 4) @> f AS "@>"
FROM (VALUES (:'zero'::simhash:bits)) t(z),
	unnest(ARRAY[0, 1, 4, 5, 7, 8, 9, 15, 16, 17, :bits / 2, :bits / 2 + 1, :bits]) d, ones(d) f;
-- a bit of each byte
SELECT i, z <-> f AS "<->", z <-># f AS "<->#" FROM (VALUES (:'zero'::simhash:bits)) t(z),
	generate_series(0, :bits / 8 - 1) i, LATERAL (SELECT overlay(z::text PLACING '81' FROM 2 * i + 1)::simhash:bits) s(f)
WHERE z <-> f <> 2 OR z <-># f <> 2 OR f <-> z <> 2;
-- both ways round
SELECT count(*) FROM generate_series(1, 1000) i,
	LATERAL (SELECT left(md5(i::text), :bits / 4)::simhash:bits a,
		left(md5((-i)::text), :bits / 4)::simhash:bits b) t
WHERE a <-> b <> b <-> a OR (a % b) <> (b % a) OR a <-> a <> 0
	OR a <-> b <> length(replace((a::bit(:bits) # b::bit(:bits))::text, '0', ''));
SELECT pg_typeof(:'zero'::simhash:bits <-> :'zero'), pg_typeof(:'zero'::simhash:bits <-># :'zero');

-- NULL
SELECT NULL <-> f AS "<->", NULL % f AS "%", simhash_within(f, f, NULL) AS within,
	f <@ NULL AS "<@", :make_ball(f, NULL) AS ball, (f <-> f) <= NULL AS "<="
FROM (VALUES (:'zero'::simhash:bits)) t(f);

-- balls: text form, clamped radius
SELECT :make_ball(:'some', k)
FROM unnest(ARRAY[-9223372036854775808, -1, 0, 3, :bits, :bits + 1, 9223372036854775807]::bigint[]) k;
SELECT format(form, :'some'):::ball FROM (VALUES (' ( %s , 3 ) '), ('(%s,99999)'), ('(%s,-7)'),
	('(%s,99999999999999999999)'), ('(%s,-99999999999999999999)')) f(form);
SELECT upper(:make_ball(:'some', 3)::text):::ball;
SELECT :ball_send(:make_ball(:'some', k)) FROM unnest(ARRAY[-1, 3, :bits]) k;
SELECT error_of(format('SELECT %L::%s', format(form, :'some'), :'ball')) FROM (VALUES
	(''),
	('(%s)'),
	('(%s,)'),
	('(%s,3'),
	('(%s,3) x'),
	('(%s,3x)'),
	('(%s0,3)'),
	('(0123,3)'),
	('%s,3)'),
	('(,)')) f(form);

-- bounds of every integer type, both ways round, with no surprise at the ends
CREATE FUNCTION bounds(type text, bits int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	k bigint;
	d int;
	op text;
	wrong int := 0;
	tried int := 0;
	got bool[];
	bound text;
BEGIN
	FOREACH k IN ARRAY ARRAY[-9223372036854775808, -2147483648, -32768, -1, 0, 1, 3, 4, bits - 1, bits,
		bits + 1, 32767, 2147483647, 9223372036854775807]::bigint[] LOOP
		CONTINUE WHEN type = 'smallint' AND k NOT BETWEEN -32768 AND 32767;
		CONTINUE WHEN type IN ('integer', 'hamming_distance')
			AND k NOT BETWEEN -2147483648 AND 2147483647;
		FOREACH d IN ARRAY ARRAY[0, 3, 4, bits] LOOP
			FOREACH op IN ARRAY '{<,<=,>,>=}'::text[] LOOP
				bound := format('(%L::%s)', k, type);
				EXECUTE format('SELECT ARRAY[a <-> b %1$s %2$s, %2$s %1$s a <-> b,
					%3$s %1$s %4$s, %4$s %1$s %3$s,
					d.s %1$s %2$s, %2$s %1$s d.s] FROM (VALUES (ones(0), ones(%3$s))) t(a, b),
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
SELECT t, bounds(t, :bits) FROM unnest('{smallint,integer,bigint,hamming_distance}'::text[]) t;
-- the same where nothing is constant, so that the planner rewrites it
CREATE TABLE pairs AS
SELECT ones(0) AS a, ones(d) AS b, d, k
FROM generate_series(0, :bits, 4) d, generate_series(-2, :bits + 2) k;
INSERT INTO pairs VALUES (NULL, ones(0), 0, 0), (ones(0), ones(0), 0, NULL);
SELECT count(*) FROM pairs WHERE
	(a <-> b <= k) IS DISTINCT FROM (a <-># b <= k) OR
	(a <-> b < k) IS DISTINCT FROM (a <-># b < k) OR
	(a <-> b > k) IS DISTINCT FROM (a <-># b > k) OR
	(a <-> b >= k) IS DISTINCT FROM (a <-># b >= k) OR
	(k <= a <-> b) IS DISTINCT FROM (k <= a <-># b) OR
	(k < a <-> b) IS DISTINCT FROM (k < a <-># b) OR
	(k > a <-> b::text::simhash:bits) IS DISTINCT FROM (k > a <-># b) OR
	(k >= a <-> b) IS DISTINCT FROM (k >= a <-># b) OR
	(a <-> b <= b <-> a) IS DISTINCT FROM (a <-># b <= b <-># a) OR
	(a <-> b = k) IS DISTINCT FROM (a <-># b = k) OR
	(a <-> b IN (0, 4)) IS DISTINCT FROM (a <-># b IN (0, 4));
-- a distance is an integer: arithmetic, aggregates, grouping
SELECT sum(a <-> b), avg(a <-> b)::int, max(a <-> b), (min(a <-> b) + 1) / 2 AS half
FROM pairs;
SELECT count(*) FILTER (WHERE (a <-> b, k) > (8, 3)) AS "row >",
	count(*) FILTER (WHERE (a <-># b, k) > (8, 3)) AS "<->#",
	count(*) FILTER (WHERE (8::bigint, k) >= (a <-> b, k)) AS "row >=",
	count(*) FILTER (WHERE (8, k) >= (a <-># b, k)) AS "<->#",
	count(*) FILTER (WHERE (a <-> b, k) > (8::smallint, 3)) AS "smallint >",
	count(*) FILTER (WHERE (8::smallint, k) >= (a <-> b, k)) AS "smallint >=" FROM pairs;
SELECT a <-> b AS d, count(*) FROM pairs GROUP BY 1 HAVING a <-> b < 8 ORDER BY 1;
DROP TABLE pairs;
DROP FUNCTION bounds, ones;
