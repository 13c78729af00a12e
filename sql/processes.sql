-- simhash_cluster, simhash_pairs and simhash_audit by several processes: the rows of
-- one process
\pset format unaligned \pset tuples_only on \set ECHO queries

\set ECHO none
-- The same with no worker, and by a team: with two workers where these are
-- granted, and with none.
CREATE FUNCTION by_one(query text) RETURNS text[] LANGUAGE sql
SET max_parallel_workers_per_gather = 0 AS 'SELECT rows_of(query)';
CREATE FUNCTION by_team(query text) RETURNS text[] LANGUAGE sql
SET max_parallel_workers_per_gather = 2 SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 AS 'SELECT rows_of(query)';
-- Whether the rows are the same, and these.
CREATE FUNCTION same_by_team(query text, OUT same boolean, OUT expected text[]) LANGUAGE plpgsql AS $$
BEGIN
	expected := by_one(query);
	same := expected = by_team(query);
END $$;
CREATE FUNCTION by_team_alone(query text) RETURNS text[] LANGUAGE sql
SET max_parallel_workers_per_gather = 2 SET parallel_setup_cost = 0 SET parallel_tuple_cost = 0 SET max_parallel_workers = 0
AS 'SELECT rows_of(query)';

-- The queries whose rows differ, by their number and a hash of them.
CREATE FUNCTION differing(relation text, fp text, radius int) RETURNS SETOF text LANGUAGE sql AS $$
	SELECT format('%s: %s', way, query) FROM unnest(ARRAY[
		'SELECT id, simhash_cluster(%2$s, %3$s) OVER (ORDER BY id) FROM %1$s',
		'SELECT id, simhash_cluster(%2$s, %3$s, ''leader'') OVER (ORDER BY id) FROM %1$s',
		'SELECT * FROM simhash_pairs(''SELECT id, %2$s FROM %1$s'', %3$s)',
		'SELECT * FROM simhash_audit(''SELECT id, %2$s, left(md5((id / 2)::text), 4) FROM %1$s'', 99, max_distance => %3$s)']) template,
		format('SELECT count(*), sum(hash_record_extended(r, 0)) FROM (' || template || ') r', relation, fp, radius) query,
		by_one(query) expected,
		LATERAL (VALUES ('workers', by_team(query)), ('no worker', by_team_alone(query))) v (way, found)
	WHERE found IS DISTINCT FROM expected
$$;
\set ECHO queries

CREATE TABLE team_uniform AS SELECT * FROM many_uniform(9000);
CREATE TABLE team_skewed AS SELECT * FROM many_skewed(9000);
-- copies, and rows without a fingerprint
INSERT INTO team_skewed SELECT id + 9000, CASE WHEN id % 2 = 0 THEN fp END FROM many_skewed(2000);
-- all within 16 of each other, and no cut divides them
CREATE TABLE team_dense AS SELECT i AS id, (i::bigint << 20)::simhash64 AS fp
	FROM generate_series(0, 65535, 7) i;
CREATE TABLE team_few AS SELECT * FROM team_dense WHERE id % 350 = 0 UNION ALL
	SELECT * FROM team_uniform WHERE id < 200;
ALTER TABLE team_uniform ADD wide simhash128;
UPDATE team_uniform SET wide = widen(fp, 'twice');

SELECT differing(relation, 'fp', radius)
FROM unnest('{team_uniform,team_skewed}'::text[]) relation, unnest('{1,8}'::int[]) radius;
SELECT differing('team_uniform', 'wide', 16);
CREATE TABLE team_words AS SELECT row_number() OVER () AS id, fp
	FROM unnest('{random,half,equal,ball}'::text[]) shape, many_words(shape, 2000);
SELECT differing('team_words', 'fp', radius) FROM unnest('{8,21}'::int[]) radius;
SELECT differing('team_dense', 'fp', 1);
SELECT differing('team_few', 'fp', radius) FROM unnest('{0,5,64}'::int[]) radius;
-- A group that no cut divides, of which one set has most, but not by far.
CREATE TABLE team_most AS SELECT row_number() OVER () AS id, fp FROM (
	SELECT DISTINCT (('x' || md5('c'))::bit(128) # (1::bit(128) << i % 100 | 1::bit(128) << i / 100 % 100
		| 1::bit(128) << i / 37 % 99))::simhash128 AS fp FROM generate_series(1, 16500) i
	UNION ALL SELECT (('x' || md5(i::text))::bit(128) # copy)::simhash128 FROM generate_series(1, 2200) i,
		unnest(ARRAY[0::bit(128), x'80010010010000000000000010000100']) copy) s;
SELECT same, expected FROM (VALUES (
	'SELECT max(c) FROM (SELECT simhash_cluster(fp, 20) OVER (ORDER BY id) c FROM team_most) s')) v (query), same_by_team(query);

-- A group that no cut divides: half of it is one set, and the other half has rows
-- that are near some of this set or near no other.  The words of the Golay code, twice,
-- are 14 bits or more apart.
CREATE TABLE team_code AS SELECT row_number() OVER () AS id,
	(w::bit(23) || w::bit(23) || is_word::int::bit(18))::bit(64)::simhash64 AS fp
FROM unnest('{f,t}'::boolean[]) is_word, generate_series(0, 4095) m, LATERAL (SELECT CASE WHEN is_word THEN coalesce(
	(SELECT bit_xor(3189 << i) FROM generate_series(0, 11) i WHERE m >> i & 1 = 1), 0) ELSE m END AS w) words;
SELECT same, expected FROM (VALUES (
	'SELECT max(c) FROM (SELECT simhash_cluster(fp, 13) OVER (ORDER BY id) c FROM team_code) s')) v (query), same_by_team(query);

-- so many that the team sorts them, too
CREATE TABLE team_many AS SELECT i AS id, ('x' || left(md5((i / 2)::text), 16))::bit(64)::bigint
	# (1::bigint << i % 7) AS bits FROM generate_series(1, 150000) i;
SELECT same, cardinality(expected) FROM unnest(ARRAY[
	'SELECT * FROM simhash_pairs(''SELECT id, bits::simhash64 FROM team_many'', 3)',
	'SELECT count(*), sum(c * id) FROM (SELECT id, simhash_cluster(bits::simhash64, 3, ''leader'')
		OVER (ORDER BY id) c FROM team_many) s']) query, same_by_team(query);

-- large groups, whose cut has another level
CREATE TABLE team_levels AS SELECT i AS id, (hashint8extended(i, 1) & x'ffffffff'::bigint)::simhash64 AS fp
	FROM generate_series(1, 300000) i;
SELECT same, expected FROM unnest(ARRAY[
	'SELECT count(*), sum(a * b), sum(distance) FROM simhash_pairs(''SELECT id, fp FROM team_levels'', 4)',
	'SELECT max(c), sum(c) FROM (SELECT simhash_cluster(fp, 4) OVER (ORDER BY id) c FROM team_levels) s'
	]) query, same_by_team(query);

-- EXPLAIN shows the temporary files of all processes: what is read was written.
CREATE FUNCTION temporary_blocks(query text, OUT read int, OUT written int) LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	read := plan -> 0 -> 'Plan' ->> 'Temp Read Blocks';
	written := plan -> 0 -> 'Plan' ->> 'Temp Written Blocks';
END $$;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET max_parallel_workers_per_gather = 2;
SELECT read > 6000 AS some, written >= read AS written
FROM temporary_blocks('SELECT simhash_pairs(''SELECT id, fp FROM team_dense'', 5)');

-- With a temp_file_limit one process finds the pairs, without a file.
CREATE FUNCTION by_limited_team(query text) RETURNS text[] LANGUAGE sql
SET temp_file_limit = 0 SET work_mem = '1GB' AS 'SELECT by_team(query)';
SELECT expected = by_limited_team(query) AS same, expected FROM (VALUES
	('SELECT count(*), sum(a * b), sum(distance) FROM simhash_pairs(''SELECT id, fp FROM team_skewed'', 3)'),
	('SELECT count(*), sum(a * b), sum(distance) FROM simhash_pairs(''SELECT id, fp FROM team_dense'', 3)'),
	('SELECT count(*), count(DISTINCT hash_record_extended(p, 0)), sum((p).distance)
		FROM (SELECT simhash_pairs(''SELECT id, fp FROM team_dense'', 3) p OFFSET 0) s'),
	('SELECT count(*), count(DISTINCT hash_record_extended(p, 0)), sum((p).distance)
		FROM (SELECT simhash_pairs(''SELECT id, wide FROM team_uniform'', 32) p OFFSET 0) s')) v (query), LATERAL (SELECT by_one(query) AS expected OFFSET 0) o;

-- Of pairs that nobody waits for, an error, and a cancelled statement nothing is
-- left, and the transaction goes on.
SELECT count(*) FROM (SELECT simhash_pairs('SELECT id, fp FROM team_dense', 3) LIMIT 10) s;
BEGIN;
DECLARE open_pairs CURSOR FOR SELECT simhash_pairs('SELECT id, fp FROM team_dense', 2);
MOVE 10 FROM open_pairs;
DECLARE other_pairs CURSOR FOR SELECT simhash_pairs('SELECT id, fp FROM team_few', 8);
MOVE 10 FROM other_pairs;
CREATE TABLE team_written AS SELECT 1 AS a;
DO $$
BEGIN
	PERFORM pg_cancel_backend(CASE WHEN n > 5000 THEN pg_backend_pid() END) FROM (
		SELECT row_number() OVER () AS n FROM (SELECT simhash_pairs('SELECT id, fp FROM team_dense', 3) OFFSET 0) s) s;
EXCEPTION WHEN query_canceled THEN
	RAISE NOTICE 'cancelled';
END $$;
SAVEPOINT before_error;
SELECT 1 / (count(*) - 10) FROM (SELECT simhash_pairs('SELECT id, fp FROM team_dense', 3) LIMIT 10) s;
ROLLBACK TO before_error;
MOVE 10 FROM open_pairs;
SELECT differing('team_few', 'fp', 5);
COMMIT;
SELECT left_behind();

-- in a query that has workers of its own, and in a function that a worker calls
SET min_parallel_table_scan_size = 0;
SET parallel_tuple_cost = 0;
SELECT sum(c) FROM (SELECT simhash_cluster(fp, 3) OVER () c FROM team_uniform WHERE id % 3 = 0) s;
SELECT sum(c) FROM (SELECT simhash_cluster(fp, 3) OVER () c FROM many_uniform(9000) WHERE id % 3 = 0) s;

-- in the SELECT list a team finds the pairs, unless a LIMIT may end it
SELECT count(*), count(DISTINCT hash_record_extended(p, 0)) FROM (
	SELECT simhash_pairs('SELECT id, fp FROM team_dense', 3) p) s;
SELECT query, read > 0 AS by_team FROM unnest(ARRAY['SELECT %s', 'SELECT %s ORDER BY 1 LIMIT 10', 'SELECT %s LIMIT 10',
	'SELECT count(*) FROM (SELECT %s LIMIT 10) s', 'SELECT (p).a FROM (SELECT %s p) s LIMIT 10']) query,
	temporary_blocks(replace(query, '%s', 'simhash_pairs(''SELECT id, fp FROM team_dense'', 3)'));
SET max_parallel_workers_per_gather = 0;
SELECT count(*) FROM (SELECT simhash_pairs('SELECT id, fp FROM team_dense', 3)) s;
