-- What type.sql tests, of 128 bits, and in what the two types differ.

\set bits 128
\getenv directory PG_ABS_SRCDIR
\set type_test :directory '/sql/type.sql'
-- the same statements as there
\set ECHO none
\i :type_test
\set ECHO queries

-- A uuid is the same 16 bytes.  It is assigned, both ways, but nowhere else taken
-- for a fingerprint.
SELECT u::simhash128, u::simhash128::uuid = u AS same
FROM unnest('{00112233-4455-6677-8899-aabbccddeeff,00000000-0000-0000-0000-000000000001}'::uuid[]) u;
SELECT '{00112233-4455-6677-8899-aabbccddeeff,NULL}'::uuid[]::simhash128[];
CREATE TABLE assigned (f simhash128, u uuid);
INSERT INTO assigned SELECT '00112233-4455-6677-8899-aabbccddeeff'::uuid,
	'00112233445566778899aabbccddeeff'::simhash128;
TABLE assigned;
-- an integer is no fingerprint of so many bits: it may be one of 64
INSERT INTO assigned(f) VALUES (-1);
INSERT INTO assigned(f) VALUES (-1::bigint);
INSERT INTO assigned(f) VALUES ('0000000000000000'::simhash64);
DROP TABLE assigned;

-- simhash64 is the first 64 bits, for those who ask
SELECT f::simhash64, f::bit(64)::simhash64 = f::simhash64 AS same
FROM unnest('{0123456789abcdeffedcba9876543210,ffffffffffffffff0000000000000000,
	0000000000000000ffffffffffffffff}'::simhash128[]) f;

-- the types do not mix
CREATE TABLE both_types (f64 simhash64, f128 simhash128, u uuid);
SELECT split_part(error_of(format('SELECT %s FROM both_types a', expression)), ' / ', 1) AS error
FROM (VALUES ('f64::simhash128'), ('f128::bigint'), ('1::simhash128'), ('f64::uuid'), ('f64 = f128'), ('coalesce(f64, f128)'),
	('f128 = u'), ('f128 = 1'), ('f128 <-> u'), ('f128 <-> 1'),
	('f64 <-> f128'), ('f128 <-> f64 <= 3'), ('f64 <-># f128'), ('f128 % f64'),
	('f128 <@ hamming_ball(f64, 3)'), ('hamming_ball_128(f128, 3) @> f64'),
	('hamming_ball(f128, 3)'), ('hamming_ball_128(f64, 3)'),
	('simhash_distance(f64, f128)'), ('simhash_within(f128, f64, 3)'),
	('(SELECT f64 FROM both_types b WHERE a.f64 <-> b.f128 < 4)'),
	('row_number() OVER (ORDER BY f128 <-> f64)')) e(expression);
DROP TABLE both_types;
