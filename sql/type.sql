-- The type of a fingerprint of 64 bits, or of as many as a file asks for that
-- includes this one.
\pset format unaligned \pset tuples_only on

\if :{?bits}
\else
	\set bits 64
	\set ECHO queries
\endif
\set type simhash :bits
\set send :type _send
\set cmp :type _cmp
\set hash :type _hash
\set hash_extended :type _hash_extended
SELECT :bits / 4 AS digits \gset
SELECT repeat('0', :digits) AS zero, lpad('1', :digits, '0') AS one,
	left(repeat('0123456789abcdef', 8), :digits) AS some,
	rpad('7', :digits, 'f') AS below_middle, rpad('8', :digits, '0') AS middle,
	rpad('c', :digits, '0') AS upper_middle, repeat('f', :digits) AS ones,
	trunc(2::numeric ^ :bits) AS count, trunc(2::numeric ^ (:bits - 1)) AS half \gset

-- input: hexadecimal digits in either case, or binary ones
SELECT :'some'::simhash:bits, upper(reverse(:'some'))::simhash:bits,
	(E' \t\n\r\f\x0b' || :'zero' || ' ')::simhash:bits;
SELECT repeat('10', :bits / 2)::simhash:bits, repeat('01', :bits / 2)::simhash:bits,
	(' ' || repeat('1', :bits) || ' ')::simhash:bits;

SELECT error_of(format('SELECT %L::%s', input, :'type')) FROM (VALUES
	(''),
	('  '),
	(left(:'some', -1)),
	(:'some' || '0'),
	(left(:'some', -1) || 'g'),
	(left(:'some', 8) || ' ' || substr(:'some', 10)),
	('-' || substr(:'some', 2)),
	('0x' || substr(:'some', 3)),
	(repeat('1', :bits - 1) || '2'),
	(repeat('1', :bits - 1) || 'a'),
	(repeat('1', :bits + 1)),
	(left('für immer und ewig und immerdar', :digits)),
	(left(:'some', :digits / 2)),
	(:'some' || :'some')) t(input);

-- binary output, in network order
SELECT :send(:'some');

-- casts keep all bits
SELECT f::bit(:bits), f::bit(:bits)::simhash:bits = f AS same,
	f::numeric, f::numeric::simhash:bits = f AS same,
	f::bytea, f::bytea::simhash:bits = f AS same
FROM unnest(ARRAY[:'zero', :'one', :'some', :'middle', :'ones']::simhash:bits[]) f;
SELECT 0.5::simhash:bits, (:count - 1 + 0.4)::simhash:bits, (-0.4)::simhash:bits;
SELECT v, v::simhash:bits, v::simhash:bits::numeric = v AS same
FROM unnest(ARRAY[0, 1, :half - 1, :half, :count - 1]) v;
-- a number below 0 in two's complement
SELECT v, v::simhash:bits, v::simhash:bits::numeric = :count + round(v) AS same
FROM unnest(ARRAY[-1, -1.4, -1.5, -:half, -:half - 0.4]) v;
SELECT NULL::numeric::simhash:bits, NULL::bytea::simhash:bits, NULL::bit(:bits)::simhash:bits;
SELECT ARRAY[-1, 0, 1, NULL]::numeric[]::simhash:bits[];
CREATE TABLE assigned (f simhash:bits);
INSERT INTO assigned VALUES (5.0), (-1::numeric), (:half), (:count - 1), (:'some');
PREPARE insert_number(numeric) AS INSERT INTO assigned VALUES ($1) RETURNING f;
EXECUTE insert_number(:count - 2);
EXECUTE insert_number(-:half);
DEALLOCATE insert_number;
TABLE assigned;
-- not what is no number
SELECT split_part(error_of(format('INSERT INTO assigned VALUES (%s)', value)), ' / ', 1) AS error
FROM (VALUES ('''\x00''::bytea'), ('1.0::float8'), ('true'), ('''-1''')) v(value);
DROP TABLE assigned;
-- an operator or a function takes no number for a fingerprint by itself
SELECT split_part(error_of(format('SELECT %s FROM (VALUES (%L::%s)) t(f)', expression, :'ones', :'type')),
	' / ', 1) AS error
FROM (VALUES ('f = -1'), ('f <-> -1'), ('f < 1.0'), ('simhash_centroid(1)'), ('coalesce(f, 1)')) e(expression);

SELECT error_of(format('SELECT (%s)::%s', input, :'type')) FROM (VALUES
	(format('-%s', :half + 1)),
	(format('-%s.5', :half)),
	('-1e45'),
	(format('%s', :count)),
	(format('%s.5', :count - 1)),
	('1e45'),
	('''NaN''::numeric'),
	('''Infinity''::numeric'),
	('''-Infinity''::numeric'),
	('B''101'''),
	(format('B''%s''', repeat('1', :bits - 1))),
	(format('B''%s''', repeat('1', :bits + 1))),
	('''''::bytea'),
	(format('''\x%s''::bytea', left(:'some', -2))),
	(format('''\x%s00''::bytea', :'some'))) t(input);

-- unsigned order
CREATE TABLE ordered (f simhash:bits);
INSERT INTO ordered VALUES (:'below_middle'), (:'middle'), (:'ones'), (:'zero'), (NULL), (:'one'),
	(:'middle');
SELECT f FROM ordered ORDER BY f;
SELECT f FROM ordered ORDER BY f DESC NULLS LAST;
SELECT min(f), max(f), count(DISTINCT f) FROM ordered;
SELECT a.f < b.f AS lt, a.f <= b.f AS le, a.f = b.f AS eq, a.f <> b.f AS ne,
	a.f >= b.f AS ge, a.f > b.f AS gt,
	:cmp(a.f, b.f) AS cmp
FROM (VALUES (:'middle'::simhash:bits)) a(f), ordered b
WHERE b.f IS NOT NULL ORDER BY b.f;
SELECT count(*) FROM ordered WHERE f IS NULL;
SELECT f, count(*) FROM ordered GROUP BY f HAVING count(*) > 1;
SELECT :hash(:'some') = :hash_extended(:'some', 0)::bit(32)::int AS compatible;

-- btree and hash indexes
INSERT INTO ordered SELECT left(md5(i::text), :digits)::simhash:bits
FROM generate_series(1, 10000) i;
CREATE INDEX ordered_btree ON ordered (f);
ANALYZE ordered;
SET enable_seqscan = off;
SELECT index_use('SELECT min(f) FROM ordered');
SELECT min(f), max(f) FROM ordered WHERE f <> :'zero' AND f <> :'ones';
SELECT count(*) FROM ordered WHERE f > :'middle' AND f <= :'upper_middle';
DROP INDEX ordered_btree;
CREATE INDEX ordered_hash ON ordered USING hash (f);
SELECT count(*) FROM ordered WHERE f = :'middle';
RESET enable_seqscan;
SELECT count(*) FROM ordered WHERE f > :'middle' AND f <= :'upper_middle';

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

-- the order is that of the bits, wherever the first one is that differs
CREATE TABLE sorted AS
SELECT :'some'::simhash:bits::bit(:bits) # (5::bit(:bits) << i % :bits) # (i % 7)::bit(:bits) AS b
FROM generate_series(1, 5000) i;
SELECT count(DISTINCT b) FROM sorted;
SELECT array_agg(b::simhash:bits ORDER BY b::simhash:bits)
	= array_agg(b::simhash:bits ORDER BY b) AS ascending,
	array_agg(b::simhash:bits ORDER BY b::simhash:bits DESC)
	= array_agg(b::simhash:bits ORDER BY b DESC) AS descending
FROM sorted;

-- in arrays, rows and JSON, at any address
SELECT ARRAY[f, NULL, f] AS "array", ROW(true, f, 1::smallint, f) AS "row", to_jsonb(f) AS json,
	(to_jsonb(f) #>> '{}')::simhash:bits = f AS same,
	f = ANY (ARRAY[NULL, f]) AS "any", ROW(true, f) = ROW(true, :'some'::simhash:bits) AS equal,
	ROW(true, f, 1) < ROW(true, :'ones'::simhash:bits, 0) AS less
FROM unnest(ARRAY[:'some']::simhash:bits[]) f;
CREATE TABLE arrays (flag "char", fs simhash:bits[]);
INSERT INTO arrays SELECT 'x', array_agg(f ORDER BY f NULLS FIRST) FROM ordered;
INSERT INTO arrays SELECT 'y', fs || fs FROM arrays;
SELECT flag, cardinality(fs), (SELECT count(DISTINCT f) FROM unnest(fs) f) AS "distinct",
	fs[1] IS NULL AS "null", fs[2], fs[cardinality(fs)], fs @> ARRAY[:'middle']::simhash:bits[] AS has
FROM arrays;

-- bits of a varying length
SELECT repeat('01', :bits / 2)::varbit::simhash:bits AS varying, repeat('01', :bits)::varbit::bit(:bits)::simhash:bits AS cut;

-- hash partitions
CREATE TABLE parted (f simhash:bits) PARTITION BY HASH (f);
CREATE TABLE parted0 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 0);
CREATE TABLE parted1 PARTITION OF parted FOR VALUES WITH (MODULUS 2, REMAINDER 1);
INSERT INTO parted SELECT * FROM ordered;
SELECT count(*) = (SELECT count(*) FROM ordered) AS whole,
	count(*) FILTER (WHERE tableoid = 'parted0'::regclass) BETWEEN 4000 AND 6000
	AS balanced FROM parted;
SELECT count(*) FROM parted WHERE f = :'middle';

-- min and max of what each worker has found
ALTER TABLE ordered SET (parallel_workers = 2);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SELECT plan_lines('SELECT min(f), max(f) FROM ordered', 'Aggregate');
SELECT min(f), max(f) FROM ordered;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
DROP TABLE parted, ordered, sorted, arrays;
