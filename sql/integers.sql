-- What simhash64 has and no wider type: casts from and to integers.
\pset format unaligned \pset tuples_only on \set ECHO queries

SELECT v::simhash64, v::simhash64::bigint = v AS same
FROM (VALUES (0), (1), (-1), (9223372036854775807),
	(-9223372036854775808)) t(v);

-- A number has one fingerprint, whichever type it is sent as: smallint,
-- integer, bigint and numeric agree on what they share.
SELECT v, v::smallint::simhash64, v::smallint::simhash64 = v::simhash64 AS same
FROM unnest('{-32768,-1,0,1,32767}'::bigint[]) v;
SELECT v, v::integer::simhash64, v::integer::simhash64 = v::simhash64 AS same
FROM unnest('{-2147483648,-32769,-1,0,1,32768,2147483647}'::bigint[]) v;
SELECT v, v::numeric::simhash64, v::numeric::simhash64 = v::simhash64 AS same
FROM unnest('{-9223372036854775808,-9223372036854775807,-2147483649,-1,0,1,2147483648,
	9223372036854775807}'::bigint[]) v;
SELECT v, v::simhash64, v::simhash64::numeric = v AS same
FROM unnest('{9223372036854775808,18446744073709551615}'::numeric[]) v;
SELECT v, v::simhash64, v::bigint::simhash64 = v::simhash64 AS same
FROM unnest('{1.5,2.4999,-1.4,-1.5,-9223372036854775808.4}'::numeric[]) v;
SELECT NULL::smallint::simhash64, NULL::integer::simhash64, NULL::numeric::simhash64;

CREATE TABLE assigned (id int GENERATED ALWAYS AS IDENTITY, f simhash64, b bigint);
INSERT INTO assigned(f, b) SELECT 5::bigint, 'ffffffffffffffff'::simhash64;
INSERT INTO assigned(f) VALUES (-1::smallint), (-1), (-1::bigint), (-1::numeric), (5.0),
	(9223372036854775808), (18446744073709551615), ('0123456789abcdef');
PREPARE insert_smallint(smallint) AS INSERT INTO assigned(f) VALUES ($1);
PREPARE insert_integer(integer) AS INSERT INTO assigned(f) VALUES ($1);
PREPARE insert_numeric(numeric) AS INSERT INTO assigned(f) VALUES ($1);
EXECUTE insert_smallint(-32768);
EXECUTE insert_smallint(32767);
EXECUTE insert_integer(-2147483648);
EXECUTE insert_integer(2147483647);
EXECUTE insert_numeric(18446744073709551615);
EXECUTE insert_numeric(-9223372036854775808);
PREPARE update_smallint(smallint) AS UPDATE assigned SET f = $1 WHERE id = 1;
PREPARE update_numeric(numeric) AS UPDATE assigned SET f = $1 WHERE id = 2;
EXECUTE update_smallint(-2);
EXECUTE update_numeric(18446744073709551614);
DEALLOCATE ALL;
SELECT id, f, b FROM assigned ORDER BY id;
-- not what is no number
INSERT INTO assigned(f) VALUES ('\x00'::bytea);
INSERT INTO assigned(f) VALUES (1.0::float8);
INSERT INTO assigned(f) VALUES (true);
-- nor what text is
COPY assigned(f) FROM STDIN;
-1
\.
-- in a function, in an array, and for a column that was made as numbers
DO $$
DECLARE
	f simhash64 := -1;
BEGIN
	RAISE NOTICE '%', f;
	f := 18446744073709551614;
	RAISE NOTICE '%', f;
END $$;
SELECT '{-1,0,1}'::int[]::simhash64[], '{-1,0,1}'::smallint[]::simhash64[],
	'{-1,18446744073709551615}'::numeric[]::simhash64[];
CREATE TABLE numbers (i integer, n numeric);
INSERT INTO numbers VALUES (-1, 18446744073709551614);
ALTER TABLE numbers ALTER i TYPE simhash64, ALTER n TYPE simhash64;
TABLE numbers;
DROP TABLE assigned, numbers;
-- an operator or a function takes no number for a fingerprint by itself
SELECT split_part(error_of(statement), ' / ', 1) AS error FROM (VALUES
	($$SELECT 'ffffffffffffffff'::simhash64 = -1$$),
	($$SELECT 'ffffffffffffffff'::simhash64 <-> -1$$),
	($$SELECT 'ffffffffffffffff'::simhash64 < 1.0$$),
	($$SELECT simhash_centroid(1)$$),
	($$SELECT coalesce('ffffffffffffffff'::simhash64, 1)$$)) t(statement);

-- twice as many digits
SELECT repeat('ab', 16)::simhash64;
SELECT repeat('ab', 32)::simhash128;
