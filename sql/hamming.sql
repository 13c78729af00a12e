-- The hamming index gives exactly the rows of a sequential scan.
\pset format unaligned \pset tuples_only on \set ECHO queries

\set VERBOSITY terse
\set type simhash64
\set method hamming
-- small pages make high tables; each table has other numbers of blocks
\set options 'WITH (fillfactor = 10, blocks = %2$s)'
\set other_options 'WITH (blocks = %3$s)'
\set radii '{-1,0,1,3,6,16,64}'
\getenv directory PG_ABS_SRCDIR
\set life :directory '/sql/include/index_life.sql'
\i :life
-- entries of a leaf with TIDs
\set leaf 580
\set searches :directory '/sql/include/index_searches.sql'
\set plan_radii '{0, 3, 10, 20, 32, 64}'
\i :searches

-- and of two indexes the better one
CREATE INDEX many_gist ON many USING gist (fp);
VACUUM ANALYZE many;
CREATE FUNCTION index_names(query text) RETURNS SETOF text LANGUAGE sql AS
	$$SELECT substring(line FROM 'many_\w+') FROM plan_lines(query, 'many_') line$$;
\set ECHO none
SELECT form, index_names('SELECT id FROM many ' || form)
FROM (VALUES ('WHERE fp <-> ''0123456789abcdef'' <= 0'),
	('WHERE fp <-> ''0123456789abcdef'' <= 3'), ('WHERE fp <-> ''0123456789abcdef'' < 11'),
	('WHERE fp <-> ''0123456789abcdef'' <= 16'), ('WHERE fp % ''0123456789abcdef'''),
	('ORDER BY fp <-> ''0123456789abcdef'' LIMIT 10'),
	('ORDER BY fp <-> ''0123456789abcdef'' LIMIT 500'),
	('WHERE fp <-> ''0123456789abcdef'' <= 12 ORDER BY fp <-> ''0123456789abcdef'' LIMIT 3'))
	f(form);
\set ECHO queries
SELECT index_names('SELECT count(*) FROM many WHERE fp <-> ''0123456789abcdef'' <= 3');
-- also of one with another column, unless a condition on that one leaves much less
DROP INDEX many_gist;
CREATE EXTENSION btree_gist;
ALTER TABLE many ADD site int;
UPDATE many SET site = id / 10 % 100, fp = CASE WHEN id % 10 = 0 THEN 'fedcba9876543210' ELSE fp END;
CREATE INDEX many_gist ON many USING gist (site, fp);
VACUUM ANALYZE many;
\set ECHO none
SELECT form, index_names('SELECT id FROM many ' || form)
FROM (VALUES ('WHERE fp <-> ''0123456789abcdef'' <= 3'), ('WHERE fp <-> ''0123456789abcdef'' <= 8'),
	('WHERE fp <-> ''0123456789abcdef'' <= 12'), ('WHERE fp % ''0123456789abcdef'''),
	('WHERE fp <@ hamming_ball(''0123456789abcdef'', 8)'),
	('WHERE fp % ANY (''{0123456789abcdef,0123456789abcde0}'')'),
	('WHERE fp <-> ''fedcba9876543210'' <= 8'),
	('WHERE fp <-> ''fedcba9876543210'' <= 8 AND site = 7'),
	('m WHERE NOT EXISTS (SELECT FROM many n WHERE n.fp <-> m.fp <= 8 AND n.id < m.id) AND id < 5'),
	('ORDER BY fp <-> ''0123456789abcdef'' LIMIT 10'))
	f(form);
\set ECHO queries
-- a condition on a column before leaves little to read, and one on a column behind leaves all
UPDATE many SET site = id % 1000;
CREATE INDEX many_behind ON many USING gist (fp, site);
VACUUM FULL ANALYZE many;
SELECT form, index_names('SELECT id FROM many ' || form)
FROM (VALUES ('WHERE fp <-> ''0123456789abcdef'' <= 20 AND site = 7'),
	('WHERE fp <@ hamming_ball(''0123456789abcdef'', 12) AND site BETWEEN 7 AND 9'),
	('m WHERE NOT EXISTS (SELECT FROM many n WHERE n.fp <-> m.fp <= 20 AND n.id < m.id AND n.site = m.site) AND id < 5'))
	f(form);
DROP INDEX many_gist;
SELECT form, index_names('SELECT id FROM many ' || form)
FROM (VALUES ('WHERE fp <-> ''0123456789abcdef'' <= 12 AND site = 7'), ('WHERE fp <-> ''0123456789abcdef'' <= 20 AND site = 7'))
	f(form);
DROP EXTENSION btree_gist CASCADE;
DROP TABLE many;

-- exclusion constraints
CREATE TABLE refusing (id int, fp simhash64,
	CONSTRAINT no_near_duplicate EXCLUDE USING hamming (fp WITH %));
INSERT INTO refusing VALUES (1, '0000000000000fff'), (2, '0000000000000007'), (3, NULL),
	(4, NULL);
INSERT INTO refusing VALUES (5, '0000000000ff0fff');
INSERT INTO refusing VALUES (5, '0000000000ff0fff') ON CONFLICT DO NOTHING;
-- PostgreSQL refuses it; SELECT is new in 19
SELECT action, error_of(format('INSERT INTO refusing VALUES (5, ''0000000000ff0fff'')
	ON CONFLICT ON CONSTRAINT no_near_duplicate DO %s RETURNING id', action)) ~
	'not supported with exclusion constraints|syntax error at or near "SELECT"' AS refused
FROM unnest('{UPDATE SET id = 5,SELECT}'::text[]) action;
INSERT INTO refusing VALUES (5, '00000000007f0fff');
INSERT INTO refusing VALUES (5, '0000000001ff0fff');
UPDATE refusing SET fp = '0000000000000003' WHERE id = 2;
UPDATE refusing SET fp = '000000000000000f' WHERE id = 2;
TABLE refusing ORDER BY id;
-- as far as a search by %
SELECT proves(format('SELECT id FROM refusing WHERE fp %% %L', q)),
	array(SELECT id FROM refusing WHERE fp % q::simhash64)
FROM (VALUES ('00000000007f0fff'), ('0000000000ff0fff'), ('0000000001ff0fff')) v(q);
DROP TABLE refusing;
CREATE TABLE refusing (fp simhash64, EXCLUDE USING hamming (fp WITH =));
INSERT INTO refusing VALUES ('00000000000000ff'), ('00000000000000fe'), (NULL), (NULL);
INSERT INTO refusing VALUES ('00000000000000ff');
DROP TABLE refusing;

-- options
CREATE INDEX bad ON uniform USING hamming (fp) WITH (fillfactor = 9);
CREATE INDEX bad ON uniform USING hamming (fp) WITH (fillfactor = 101);
CREATE INDEX bad ON uniform USING hamming (fp) WITH (blocks = 1);
CREATE INDEX bad ON uniform USING hamming (fp) WITH (blocks = 9);
CREATE INDEX bad ON uniform USING hamming (fp) WITH (pages_per_range = 2);
CREATE INDEX bad ON uniform USING hamming (fp) INCLUDE (id);
CREATE UNIQUE INDEX bad ON uniform USING hamming (fp);
SELECT error_of('CREATE INDEX bad ON uniform USING hamming (fp DESC)');
CREATE INDEX bad ON uniform USING hamming (id);
ALTER INDEX uniform_fp SET (fillfactor = 10);
REINDEX INDEX uniform_fp;
SELECT * FROM hamming_index_stats('uniform_fp');
-- of a row whose fingerprint has no bit
CREATE TABLE no_bit AS SELECT 0::bigint::simhash64 AS fp;
CREATE INDEX no_bit_fp ON no_bit USING hamming (fp);
SELECT rows, fingerprints, largest_block, average_block FROM hamming_index_stats('no_bit_fp');
DROP TABLE no_bit;
-- the structural half of the check locks nobody out
SELECT hamming_index_check('uniform_fp', heap => false);
-- an index keeps its blocks until it is made again, also where that is undone
ALTER INDEX uniform_fp SET (blocks = 8);
INSERT INTO uniform SELECT 200000 + i, i::bigint::simhash64 FROM generate_series(1, 10) i;
BEGIN;
SELECT blocks, hamming_index_check('uniform_fp') FROM hamming_index_stats('uniform_fp');
SAVEPOINT before;
REINDEX INDEX uniform_fp;
INSERT INTO uniform SELECT 200000 + i, i::bigint::simhash64 FROM generate_series(11, 20) i;
SELECT blocks, hamming_index_check('uniform_fp') FROM hamming_index_stats('uniform_fp');
SELECT check_index('uniform', '{3}');
ROLLBACK TO before;
INSERT INTO uniform SELECT 200000 + i, i::bigint::simhash64 FROM generate_series(21, 30) i;
SELECT blocks, hamming_index_check('uniform_fp') FROM hamming_index_stats('uniform_fp');
SELECT check_index('uniform', '{3}');
COMMIT;
DELETE FROM uniform WHERE id > 200000;
-- emptied in place, where its table is of the same transaction
BEGIN;
CREATE TABLE emptied AS SELECT id, fp FROM uniform;
CREATE INDEX emptied_fp ON emptied USING hamming (fp);
SELECT check_index('emptied', '{3}');
ALTER INDEX emptied_fp SET (blocks = 7);
TRUNCATE emptied;
INSERT INTO emptied SELECT id, fp FROM uniform;
SELECT blocks, hamming_index_check('emptied_fp') FROM hamming_index_stats('emptied_fp');
SELECT check_index('emptied', '{3}');
ROLLBACK;
ALTER INDEX uniform_fp SET (fillfactor = 100);
REINDEX INDEX uniform_fp;
SELECT hamming_index_check('uniform_fp');
SELECT check_index('uniform', :'radii');

-- what PostgreSQL knows of it
SELECT phase, pg_indexam_progress_phasename(oid, phase)
FROM pg_am, generate_series(0, 22) phase WHERE amname = 'hamming';
SELECT property, pg_indexam_has_property(oid, property) AS method
FROM pg_am, unnest('{can_order,can_unique,can_multi_col,can_exclude,can_include}'::text[])
	property WHERE amname = 'hamming';
SELECT property, pg_index_column_has_property('uniform_fp', 1, property) AS of_column
FROM unnest('{orderable,distance_orderable,returnable,search_array,search_nulls}'::text[])
	property;
-- operator classes that are wrong
CREATE OPERATOR CLASS bad_ops FOR TYPE simhash64 USING hamming AS
	FUNCTION 1 simhash64_cmp(simhash64, simhash64);
CREATE OPERATOR CLASS bad_ops FOR TYPE simhash64 USING hamming AS OPERATOR 4 =,
	OPERATOR 15 <-># FOR ORDER BY integer_ops, OPERATOR 2 = (bigint, bigint);
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'bad_ops';
DROP OPERATOR FAMILY bad_ops USING hamming;
CREATE OPERATOR CLASS other_ops FOR TYPE macaddr USING hamming AS OPERATOR 2 =;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'other_ops';
CREATE TABLE others (address macaddr);
CREATE INDEX bad ON others USING hamming (address other_ops);
DROP TABLE others;
DROP OPERATOR FAMILY other_ops USING hamming;
-- an operator that was added to a family can go, and one of its class cannot
CREATE OPERATOR CLASS own_ops FOR TYPE simhash64 USING hamming AS OPERATOR 2 <@ (simhash64, hamming_ball);
ALTER OPERATOR FAMILY own_ops USING hamming ADD OPERATOR 3 =(simhash64, simhash64);
ALTER OPERATOR FAMILY own_ops USING hamming DROP OPERATOR 3 (simhash64, simhash64);
ALTER OPERATOR FAMILY own_ops USING hamming DROP OPERATOR 2 (simhash64, hamming_ball);
DROP OPERATOR FAMILY own_ops USING hamming;

-- inspection is for owners, measuring for who monitors, too, and of hamming indexes
CREATE INDEX uniform_btree ON uniform (fp);
CREATE INDEX uniform_gist ON uniform USING gist (fp);
CREATE VIEW a_view AS SELECT 1 AS x;
SELECT error_of(format('SELECT %s(%L)', f, r))
FROM unnest('{hamming_index_stats,hamming_index_check}'::text[]) f,
	unnest('{uniform,uniform_btree,uniform_gist,a_view,nothing,4294967295}'::text[]) r;
SELECT hamming_index_stats(NULL), hamming_index_check(NULL);
CREATE ROLE simhash_stranger;
SET ROLE simhash_stranger;
SELECT error_of(format('SELECT %s(%L)', f, 'uniform_fp'))
FROM unnest('{hamming_index_stats,hamming_index_check}'::text[]) f;
RESET ROLE;
GRANT pg_monitor TO simhash_stranger;
SET ROLE simhash_stranger;
SELECT error_of(format('SELECT %s(%L)', f, 'uniform_fp'))
FROM unnest('{hamming_index_stats,hamming_index_check}'::text[]) f;
RESET ROLE;
DROP ROLE simhash_stranger;
DROP VIEW a_view;
-- a relation without rows of its own: what to ask instead
\set VERBOSITY default
CREATE TABLE parted (fp simhash64) PARTITION BY LIST (fp);
CREATE INDEX parted_fp ON parted USING hamming (fp);
CREATE FOREIGN DATA WRAPPER elsewhere;
CREATE SERVER far FOREIGN DATA WRAPPER elsewhere;
CREATE FOREIGN TABLE shard PARTITION OF parted DEFAULT SERVER far;
SELECT hamming_index_stats('parted');
SELECT hamming_index_stats('parted_fp');
SELECT hamming_index_check('parted_fp');
SELECT hamming_index_stats('shard');
SELECT hamming_index_stats('uniform');
DROP TABLE parted;
DROP FOREIGN DATA WRAPPER elsewhere CASCADE;

-- no index-only scan, which would read a column that the index cannot return, whatever
-- is disabled
\set ECHO none
CREATE FUNCTION same_counts(enabled text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
	node text;
	statement text;
	result int;
	same boolean := true;
BEGIN
	FOREACH node IN ARRAY '{seqscan,indexscan,indexonlyscan,bitmapscan,sort}'::text[] LOOP
		PERFORM set_config('enable_' || node, (node = ANY (string_to_array(enabled, ' ')))::text, true);
	END LOOP;
	FOREACH statement IN ARRAY ARRAY[
		'SELECT count(*) FROM partial_rows WHERE id < 100', 'SELECT count(*) + 99 - 1500 FROM partial_rows',
		'SELECT 99 WHERE EXISTS (SELECT FROM partial_rows WHERE id < 100)',
		'SELECT 99 WHERE NOT EXISTS (SELECT FROM partial_rows WHERE id < 100 AND fp IS NULL)',
		'SELECT count(*) * 33 FROM (SELECT FROM partial_rows WHERE id < 100 LIMIT 3) s',
		'SELECT count(*) * 33 FROM (SELECT FROM partial_rows LIMIT 3) s',
		'SELECT count(*) * 9 FROM generate_series(1, 11) i WHERE EXISTS
			(SELECT FROM partial_rows WHERE id < 100)',
		'SELECT count(*) FROM (SELECT 1 AS x FROM partial_rows WHERE id < 100 ORDER BY x) s',
		'SELECT count(*) FROM (SELECT id FROM partial_rows WHERE id < 100
			ORDER BY fp <-> ''0123456789abcdef'') s'] LOOP
		EXECUTE statement INTO result;
		same := same AND result = 99;
	END LOOP;
	RETURN same;
END $$;
\set ECHO queries
CREATE TABLE partial_rows AS SELECT i AS id, left(md5(i::text), 16)::simhash64 AS fp
FROM generate_series(1, 1500) i;
CREATE INDEX partial_fp ON partial_rows USING hamming (fp) WHERE id < 100;
CREATE INDEX partial_all ON partial_rows USING hamming (fp);
VACUUM ANALYZE partial_rows;
SELECT count(*), bool_and(same_counts(concat_ws(' ', a, b, c, d, e)))
FROM (VALUES ('seqscan'), (NULL)) a (a), (VALUES ('indexscan'), (NULL)) b (b),
	(VALUES ('indexonlyscan'), (NULL)) c (c), (VALUES ('bitmapscan'), (NULL)) d (d),
	(VALUES ('sort'), (NULL)) e (e);
-- a bitmap scan finds the rows of the partial index
SET enable_seqscan = off;
SELECT plan_lines('SELECT count(*) FROM partial_rows WHERE id < 100', 'Scan');
RESET enable_seqscan;
DROP TABLE partial_rows;
DROP FUNCTION same_counts;

CALL for_each_table('DROP TABLE %1$s');
DROP FUNCTION index_names;
