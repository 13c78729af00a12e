-- The GiST index gives exactly the rows of a sequential scan.
\pset format unaligned \pset tuples_only on \set ECHO queries

\set type simhash64
\set method gist
-- a sorted build, and one by insertion
\set options ''
\set other_options 'WITH (buffering = on)'
\set radii '{-1,0,1,3,6,16,64}'
\getenv directory PG_ABS_SRCDIR
\set life :directory '/sql/include/index_life.sql'
\i :life

-- index-only scans, INCLUDE
CREATE INDEX uniform_include ON uniform USING gist (fp) INCLUDE (id);
DROP INDEX uniform_fp;
VACUUM ANALYZE uniform;
SET enable_bitmapscan = off;
SET enable_seqscan = off;
SELECT index_use($$SELECT id, fp FROM uniform WHERE fp <-> '0123456789abcdef' <= 20$$);
SELECT same_rows($$SELECT id, fp FROM uniform WHERE fp <-> '0123456789abcdef' <= 20$$);
SELECT same_rows($$SELECT id, fp FROM uniform WHERE fp <-> '0123456789abcdef' <= 64$$);
-- NULLs come last
SELECT count(*), count(fp) FROM (SELECT fp FROM uniform
	ORDER BY fp <-> '0123456789abcdef') s;
SELECT fp IS NULL AS null_last FROM (SELECT fp, row_number() OVER () FROM (SELECT fp
	FROM uniform ORDER BY fp <-> '0123456789abcdef') s) t ORDER BY row_number DESC LIMIT 1;
SELECT index_use('SELECT id FROM uniform WHERE fp IS NULL');
SELECT same_rows('SELECT id FROM uniform WHERE fp IS NULL');
RESET enable_bitmapscan;
RESET enable_seqscan;

-- multicolumn, with btree_gist
CREATE EXTENSION btree_gist;
CREATE TABLE tenants AS SELECT id, id % 20 AS tenant, fp FROM uniform;
CREATE INDEX ON tenants USING gist (tenant, fp);
SET enable_seqscan = off;
SELECT index_use($$SELECT id FROM tenants
	WHERE tenant = 3 AND fp <-> '0123456789abcdef' <= 24$$);
SELECT same_rows($$SELECT id FROM tenants
	WHERE tenant = 3 AND fp <-> '0123456789abcdef' <= 24$$);
SELECT index_use($$SELECT id FROM tenants WHERE tenant = 3
	ORDER BY fp <-> '0123456789abcdef' LIMIT 3$$);
RESET enable_seqscan;
DROP TABLE tenants;
DROP EXTENSION btree_gist;

-- the table itself refuses near-duplicates
CREATE TABLE refusing (id int, fp simhash64,
	CONSTRAINT no_near_duplicate EXCLUDE USING gist (fp WITH %));
INSERT INTO refusing VALUES (1, '0000000000000fff'), (2, '0000000000000007'), (3, NULL),
	(4, NULL);
INSERT INTO refusing VALUES (5, '0000000000ff0fff');
INSERT INTO refusing VALUES (5, '0000000000ff0fff') ON CONFLICT DO NOTHING;
INSERT INTO refusing VALUES (5, '00000000007f0fff');
INSERT INTO refusing VALUES (5, '0000000001ff0fff');
UPDATE refusing SET fp = '0000000000000003' WHERE id = 2;
UPDATE refusing SET fp = '000000000000000f' WHERE id = 2;
TABLE refusing;
-- as far as a search by %
SELECT proves(format('SELECT id FROM refusing WHERE fp %% %L', q)),
	array(SELECT id FROM refusing WHERE fp % q::simhash64)
FROM (VALUES ('00000000007f0fff'), ('0000000000ff0fff'), ('0000000001ff0fff')) v(q);
DROP TABLE refusing;

CALL for_each_table('DROP TABLE %1$s');
