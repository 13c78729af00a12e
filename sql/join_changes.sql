-- HammingJoin in cursors and in statements that change tables, with partitions and
-- the rights of the caller.
\pset format unaligned \pset tuples_only on \set ECHO queries

\getenv directory PG_ABS_SRCDIR
\set setup :directory '/sql/include/join_setup.sql'
\set ECHO none
\i :setup
\set ECHO queries

-- cursors
DO $$
DECLARE
	c SCROLL CURSOR FOR SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1;
	there text[];
	back text[];
	r record;
BEGIN
	OPEN c;
	LOOP
		FETCH c INTO r;
		EXIT WHEN NOT FOUND;
		there := there || r::text;
	END LOOP;
	LOOP
		FETCH PRIOR FROM c INTO r;
		EXIT WHEN NOT FOUND;
		back := r::text || back;
	END LOOP;
	RAISE NOTICE '% rows, and back: %', cardinality(there), there = back;
END $$;
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT a.id, b.id AS other FROM a JOIN b ON a.fp <-> b.fp <= 1;
MOVE 100 IN held;
DELETE FROM b WHERE id % 2 = 0;
COMMIT;
DO $$
DECLARE
	c refcursor := 'held';
	r record;
	rows int := 0;
BEGIN
	LOOP
		FETCH c INTO r;
		EXIT WHEN NOT FOUND;
		rows := rows + 1;
	END LOOP;
	RAISE NOTICE '% rows after 100', rows;
END $$;
CLOSE held;

-- statements that change tables
CREATE TABLE log (id int, other int);
\set ECHO none
SELECT joins('SELECT * FROM ' || tab, statement), statement FROM (VALUES
	('a', 'DELETE FROM a USING a b WHERE a.fp <-> b.fp <= 1 AND a.id > b.id'),
	('a', 'DELETE FROM a USING b WHERE a.fp <-> b.fp <= 1'),
	('a', 'DELETE FROM a WHERE EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= 1)'),
	('a', 'DELETE FROM a WHERE NOT EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= 1)'),
	('a', 'DELETE FROM a WHERE id IN (SELECT x.id FROM a x JOIN a y ON x.fp <-> y.fp <= 1 AND x.id > y.id)'),
	('a', 'UPDATE a SET n = 77, fp = NULL FROM b WHERE a.fp <-> b.fp <= 1 AND a.id <> b.id'),
	('a', 'UPDATE a SET body = ''none'' WHERE NOT EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= 1)'),
	('b', 'INSERT INTO b SELECT * FROM a WHERE NOT EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= 1)'),
	('a', 'INSERT INTO a SELECT -a.id, b.n, a.body, b.fp FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1'),
	('a', 'MERGE INTO a USING b ON a.fp <-> b.fp <= 1 WHEN NOT MATCHED THEN INSERT VALUES (b.id, b.n, b.body, b.fp)'),
	('a', 'MERGE INTO a USING (SELECT DISTINCT ON (body) *
		FROM b ORDER BY body, id) b ON a.fp <-> b.fp <= 0 AND a.id % 3 = 0
		WHEN MATCHED AND a.n > 3 THEN DELETE WHEN MATCHED THEN UPDATE SET n = b.id
		WHEN NOT MATCHED THEN INSERT VALUES (b.id, b.n, b.body, b.fp)'),
	('log', 'WITH d AS (DELETE FROM a USING b WHERE a.fp <-> b.fp <= 1 RETURNING a.id) INSERT INTO log SELECT id
		FROM d'),
	('log', 'WITH u AS (UPDATE a SET n = 1 RETURNING fp) INSERT INTO log SELECT u.fp <-> b.fp, b.id FROM u JOIN b
		ON u.fp <-> b.fp <= 1')) v (tab, statement);
\set ECHO queries
SELECT joins('SELECT a.id, b.id AS other FROM a JOIN b ON a.fp <-> b.fp <= 1 FOR UPDATE'),
	joins('SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1 FOR SHARE OF a');

-- partitions
CREATE TABLE pa (LIKE a) PARTITION BY LIST (n);
CREATE TABLE pa_1 PARTITION OF pa FOR VALUES IN (1, 2, 3);
CREATE TABLE pa_2 (body text, dropped int, fp simhash64, id int, n int);
ALTER TABLE pa_2 DROP dropped;
ALTER TABLE pa ATTACH PARTITION pa_2 DEFAULT;
CREATE TABLE pb (LIKE b) PARTITION BY LIST (n);
CREATE TABLE pb_1 PARTITION OF pb FOR VALUES IN (1, 2, 3);
CREATE TABLE pb_2 PARTITION OF pb DEFAULT;
INSERT INTO pa TABLE a;
INSERT INTO pb TABLE b;
ANALYZE pa, pb;
\set ECHO none
-- a join whose result has rows to be changed of all partitions is by a nested loop
CREATE FUNCTION check_partitions() RETURNS SETOF text LANGUAGE sql AS $$
	SELECT joins(query) FROM unnest(ARRAY[
		'SELECT a.*, b.id AS other FROM pa a JOIN pb b ON a.n = b.n AND a.fp <-> b.fp <= 1',
		'SELECT a.id, b.id AS other, b.tableoid FROM pa a LEFT JOIN pb b ON a.n = b.n AND a.fp <-> b.fp <= 1',
		'SELECT a FROM pa a WHERE EXISTS (SELECT FROM pb b WHERE a.n = b.n AND a.fp <-> b.fp <= 1)',
		'SELECT a.id FROM pa a WHERE NOT EXISTS (SELECT FROM pb b WHERE a.n = b.n AND a.fp <-> b.fp <= 1)',
		'SELECT a.id, b.id AS other FROM pa a JOIN b ON a.fp <-> b.fp <= 1',
		-- rows of one side, or of both, depend on a row of another table
		'SELECT a.id, b.id AS other, b.v FROM pa a LEFT JOIN LATERAL (SELECT *, coalesce(id, a.id + 100) AS v FROM pb) b
			ON a.n = b.n AND a.fp <-> b.fp <= 1',
		'SELECT a.id, s.* FROM pa a LEFT JOIN LATERAL (SELECT b.n, c.id AS other, least(a.id, b.id) AS v
			FROM pb b JOIN pa c
			ON b.n = c.n AND b.fp <-> c.fp <= 1) s ON a.n = s.n AND a.id > s.other']) query
	UNION ALL SELECT joins('SELECT * FROM pa', statement) FROM unnest(ARRAY[
		'DELETE FROM pa USING pb b WHERE pa.n = b.n AND pa.fp <-> b.fp <= 1',
		'DELETE FROM pa WHERE id IN (SELECT a.id FROM pa a JOIN pb b ON a.n = b.n AND a.fp <-> b.fp <= 1)',
		'UPDATE pa SET n = 1 FROM b WHERE pa.fp <-> b.fp <= 1']) statement
$$;
\set ECHO queries
SELECT check_partitions();
SET enable_partitionwise_join = on;
SELECT check_partitions();
SELECT join_plan('SELECT * FROM pa a LEFT JOIN pb b ON a.n = b.n AND a.fp <-> b.fp <= 1');
RESET enable_partitionwise_join;

-- the rights of the caller
CREATE ROLE simhash_reader;
GRANT SELECT ON a, b TO simhash_reader;
CREATE POLICY even ON a USING (id % 2 = 0);
CREATE POLICY near ON b USING (EXISTS (SELECT FROM a WHERE a.fp <-> b.fp <= 1));
ALTER TABLE a ENABLE ROW LEVEL SECURITY;
ALTER TABLE b ENABLE ROW LEVEL SECURITY;
SET ROLE simhash_reader;
SELECT joins('SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1'),
	joins('SELECT a.id FROM a WHERE NOT EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= 1 AND b.n > 3)');
SELECT count(*) FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1 WHERE a.id % 2 > 0;
RESET ROLE;
DROP POLICY near ON b;
ALTER TABLE a DISABLE ROW LEVEL SECURITY;
ALTER TABLE b DISABLE ROW LEVEL SECURITY;
CREATE VIEW even WITH (security_barrier) AS SELECT * FROM a WHERE id % 2 = 0;
SELECT joins('SELECT x.id, b.id AS other FROM even x LEFT JOIN b ON x.fp <-> b.fp <= 1 AND volatile_true()'),
	joins('SELECT x.id, y.id AS other FROM even x JOIN even y ON x.fp <-> y.fp <= 1 AND x.n = y.n');

DROP OWNED BY simhash_reader;
DROP ROLE simhash_reader;
DROP VIEW even;
DROP TABLE log, pa, pb;
DROP FUNCTION check_partitions;
\set ECHO none
\set drop :directory '/sql/include/join_drop.sql'
\i :drop
