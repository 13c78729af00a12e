-- input: 16 hexadecimal digits in either case, or 64 binary ones
SELECT '0123456789abcdef'::simhash64, 'FEDCBA9876543210'::simhash64,
	E' \t\n\r\f\x0b0000000000000000 '::simhash64;
SELECT repeat('10', 32)::simhash64, repeat('01', 32)::simhash64,
	(' ' || repeat('1', 64) || ' ')::simhash64;

SELECT error_of(statement) FROM (VALUES
	($$SELECT ''::simhash64$$),
	($$SELECT '  '::simhash64$$),
	($$SELECT '0123456789abcde'::simhash64$$),
	($$SELECT '0123456789abcdef0'::simhash64$$),
	($$SELECT '0123456789abcdeg'::simhash64$$),
	($$SELECT '01234567 9abcdef'::simhash64$$),
	($$SELECT '-123456789abcdef'::simhash64$$),
	($$SELECT '0x23456789abcdef'::simhash64$$),
	($$SELECT (repeat('1', 63) || '2')::simhash64$$),
	($$SELECT (repeat('1', 63) || 'a')::simhash64$$),
	($$SELECT repeat('1', 65)::simhash64$$),
	($$SELECT 'für immer und ew'::simhash64$$)) t(statement);

-- binary output, in network order
SELECT simhash64_send('0123456789abcdef');

-- casts keep the 64 bits
SELECT v::simhash64, v::simhash64::bigint = v AS same
FROM (VALUES (0), (1), (-1), (9223372036854775807),
	(-9223372036854775808)) t(v);
SELECT f::bit(64), f::bit(64)::simhash64 = f AS same,
	f::numeric, f::numeric::simhash64 = f AS same,
	f::bytea, f::bytea::simhash64 = f AS same
FROM unnest('{0000000000000000,0000000000000001,0123456789abcdef,
	8000000000000000,ffffffffffffffff}'::simhash64[]) f;
SELECT 0.5::simhash64, 18446744073709551615.4::simhash64, (-0.4)::simhash64;

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

SELECT error_of(statement) FROM (VALUES
	($$SELECT (-9223372036854775809)::simhash64$$),
	($$SELECT (-9223372036854775808.5)::simhash64$$),
	($$SELECT (-1e30)::simhash64$$),
	($$SELECT 18446744073709551616::simhash64$$),
	($$SELECT 18446744073709551615.5::simhash64$$),
	($$SELECT 1e30::simhash64$$),
	($$SELECT 'NaN'::numeric::simhash64$$),
	($$SELECT 'Infinity'::numeric::simhash64$$),
	($$SELECT '-Infinity'::numeric::simhash64$$),
	($$SELECT B'101'::simhash64$$),
	($$SELECT repeat('1', 65)::bit(65)::simhash64$$),
	($$SELECT ''::bytea::simhash64$$),
	($$SELECT '\x01020304050607'::bytea::simhash64$$),
	($$SELECT '\x010203040506070809'::bytea::simhash64$$)) t(statement);

-- unsigned order
CREATE TABLE ordered (f simhash64);
INSERT INTO ordered VALUES ('7fffffffffffffff'), ('8000000000000000'),
	('ffffffffffffffff'), ('0000000000000000'), (NULL), ('0000000000000001'),
	('8000000000000000');
SELECT f FROM ordered ORDER BY f;
SELECT f FROM ordered ORDER BY f DESC NULLS LAST;
SELECT min(f), max(f), count(DISTINCT f) FROM ordered;
SELECT a.f < b.f AS lt, a.f <= b.f AS le, a.f = b.f AS eq, a.f <> b.f AS ne,
	a.f >= b.f AS ge, a.f > b.f AS gt,
	simhash64_cmp(a.f, b.f) AS cmp
FROM (VALUES ('8000000000000000'::simhash64)) a(f), ordered b
WHERE b.f IS NOT NULL ORDER BY b.f;
SELECT count(*) FROM ordered WHERE f IS NULL;
SELECT f, count(*) FROM ordered GROUP BY f HAVING count(*) > 1;
SELECT simhash64_hash('0123456789abcdef')
	= simhash64_hash_extended('0123456789abcdef', 0)::bit(32)::int AS compatible;

-- btree and hash indexes
INSERT INTO ordered SELECT substr(md5(i::text), 1, 16)::simhash64
FROM generate_series(1, 10000) i;
CREATE INDEX ordered_btree ON ordered (f);
ANALYZE ordered;
SET enable_seqscan = off;
SELECT index_use('SELECT min(f) FROM ordered');
SELECT min(f), max(f) FROM ordered WHERE f <> '0000000000000000'
	AND f <> 'ffffffffffffffff';
SELECT count(*) FROM ordered WHERE f > '8000000000000000'
	AND f <= 'c000000000000000';
DROP INDEX ordered_btree;
CREATE INDEX ordered_hash ON ordered USING hash (f);
SELECT count(*) FROM ordered WHERE f = '8000000000000000';
RESET enable_seqscan;
SELECT count(*) FROM ordered WHERE f > '8000000000000000'
	AND f <= 'c000000000000000';

-- joins by hash and by merge
SET enable_mergejoin = off;
SET enable_nestloop = off;
SELECT count(*) FROM ordered a JOIN ordered b USING (f);
SET enable_mergejoin = on;
SET enable_hashjoin = off;
SELECT count(*) FROM ordered a JOIN ordered b USING (f);
RESET enable_mergejoin;
RESET enable_nestloop;
RESET enable_hashjoin;

-- hash partitions
CREATE TABLE parted (f simhash64) PARTITION BY HASH (f);
CREATE TABLE parted0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT * FROM ordered;
SELECT count(*) = (SELECT count(*) FROM ordered) AS whole,
	count(*) FILTER (WHERE tableoid = 'parted0'::regclass) BETWEEN 4000 AND 6000
	AS balanced FROM parted;
DROP TABLE parted, ordered;
