-- The GiST index gives exactly the rows of a sequential scan.

-- Compare the two for every k and the nearest 50, around values that are in
-- the table, next to one, and in no way related.  <~> with a bound never uses
-- an index.
CREATE FUNCTION check_index(tab regclass) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	q simhash64;
	by_index int[];
	by_scan int[];
	searches int := 0;
	wrong int := 0;
	plan text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL jit = off;
	FOR q IN EXECUTE format('(SELECT fp FROM %1$s WHERE fp IS NOT NULL ORDER BY id LIMIT 2)
		UNION ALL (SELECT (fp::bigint # 5)::simhash64 FROM %1$s ORDER BY id DESC LIMIT 1)
		UNION ALL SELECT unnest(''{0000000000000000,ffffffffffffffff,
			5555aaaa3333cccc}''::simhash64[])', tab) LOOP
		FOR k IN -1 .. 65 LOOP
			EXECUTE format('SELECT array_agg(id ORDER BY id) FROM %s WHERE fp <-> %L <= %s',
				tab, q, k) INTO by_index;
			EXECUTE format('SELECT array_agg(id ORDER BY id) FROM %s WHERE fp <~> %L <= %s',
				tab, q, k) INTO by_scan;
			searches := searches + 1;
			wrong := wrong + (by_index IS DISTINCT FROM by_scan)::int;
		END LOOP;
		EXECUTE format('SELECT array_agg(d) FROM (SELECT fp <-> %2$L AS d
			FROM %1$s ORDER BY fp <-> %2$L LIMIT 50) s', tab, q) INTO by_index;
		EXECUTE format('SELECT array_agg(d) FROM (SELECT fp <~> %2$L AS d
			FROM %1$s ORDER BY (fp <~> %2$L) + 0 LIMIT 50) s', tab, q) INTO by_scan;
		searches := searches + 1;
		wrong := wrong + (by_index IS DISTINCT FROM by_scan)::int;
	END LOOP;
	EXECUTE format('EXPLAIN (FORMAT JSON) SELECT id FROM %s WHERE fp <-> %L <= 3', tab, q)
		INTO plan;
	IF plan !~ 'Index Cond' THEN RETURN 'no index was used'; END IF;
	SET LOCAL enable_seqscan = on;
	RETURN format('%s searches, %s wrong', searches, wrong);
END $$;

CREATE TABLE uniform AS SELECT i AS id,
	CASE WHEN i % 9 > 0 THEN substr(md5(i::text), 1, 16)::simhash64 END AS fp
FROM generate_series(1, 3000) i;
-- near-duplicates, most of them of a few texts
CREATE TABLE skewed AS SELECT i AS id,
	(substr(md5((sqrt(i)::int / 4)::text), 1, 16)::simhash64::bigint
	# (1::bigint << (i % 64)) # (1::bigint << (i * 7 % 64)))::simhash64 AS fp
FROM generate_series(1, 3000) i;
CREATE TABLE duplicates AS SELECT i AS id, substr(md5((i % 3)::text), 1, 16)::simhash64 AS fp
FROM generate_series(1, 3000) i;
-- one half of the bits constant, as those of 32-bit hashes are
CREATE TABLE half_bits AS SELECT i AS id,
	('00000000' || substr(md5(i::text), 1, 8))::simhash64 AS fp
FROM generate_series(1, 3000) i;
CREATE TABLE ascending AS SELECT i AS id, i::bigint::simhash64 AS fp
FROM generate_series(1, 3000) i;
CREATE TABLE descending AS SELECT i AS id, (-i)::bigint::simhash64 AS fp
FROM generate_series(1, 3000) i;
CREATE TABLE extremes AS SELECT i AS id,
	(CASE i % 3 WHEN 0 THEN '0000000000000000' WHEN 1 THEN 'ffffffffffffffff' END)::simhash64
	AS fp
FROM generate_series(1, 3000) i;
CREATE TABLE empty (id int, fp simhash64);
CREATE TABLE only_null AS SELECT i AS id, NULL::simhash64 AS fp FROM generate_series(1, 300) i;

CREATE TABLE tables(tab regclass);
INSERT INTO tables VALUES ('uniform'), ('skewed'), ('duplicates'), ('half_bits'),
	('ascending'), ('descending'), ('extremes'), ('empty'), ('only_null');

-- sorted build
DO $$ DECLARE t regclass; BEGIN
	FOR t IN SELECT tab FROM tables LOOP
		EXECUTE format('CREATE INDEX %1$s_fp ON %1$s USING gist (fp)', t);
	END LOOP;
END $$;
SELECT tab, check_index(tab) FROM tables;

-- after updates, deletes, vacuum
DO $$ DECLARE t regclass; BEGIN
	FOR t IN SELECT tab FROM tables LOOP
		EXECUTE format('DELETE FROM %s WHERE id %% 5 = 0', t);
		EXECUTE format('UPDATE %s SET fp = (fp::bigint # (id << (id %% 48)))::simhash64
			WHERE id %% 4 = 1', t);
		EXECUTE format('UPDATE %s SET fp = NULL WHERE id %% 17 = 1', t);
	END LOOP;
END $$;
SELECT tab, check_index(tab) FROM tables;
VACUUM uniform, skewed, duplicates, half_bits, ascending, descending, extremes;
SELECT tab, check_index(tab) FROM tables;

-- row by row
DO $$ DECLARE t regclass; BEGIN
	FOR t IN SELECT tab FROM tables LOOP
		EXECUTE format('CREATE TEMP TABLE moved AS SELECT * FROM %s', t);
		EXECUTE format('TRUNCATE %s', t);
		EXECUTE format('INSERT INTO %s SELECT * FROM moved', t);
		DROP TABLE moved;
	END LOOP;
END $$;
SELECT tab, check_index(tab) FROM tables;

-- rebuilt by insertion, without sorting
DO $$ DECLARE t regclass; BEGIN
	FOR t IN SELECT tab FROM tables LOOP
		EXECUTE format('DROP INDEX %1$s_fp', t);
		EXECUTE format('CREATE INDEX %1$s_fp ON %1$s USING gist (fp) WITH (buffering = on)', t);
	END LOOP;
END $$;
SELECT tab, check_index(tab) FROM tables;
REINDEX INDEX CONCURRENTLY uniform_fp;
REINDEX TABLE skewed;
SELECT tab, check_index(tab) FROM tables WHERE tab::text IN ('uniform', 'skewed');

-- 100,000 equal fingerprints, inserted one by one and sorted
CREATE TABLE equal (id int, fp simhash64);
CREATE INDEX equal_fp ON equal USING gist (fp);
INSERT INTO equal SELECT i, '0123456789abcdef' FROM generate_series(1, 100000) i;
SET enable_seqscan = off;
SELECT count(*) FROM equal WHERE fp % '0123456789abcdee';
REINDEX INDEX equal_fp;
SELECT count(*) FROM equal WHERE fp % '0123456789abcdee';
SELECT count(*) FROM equal WHERE fp % '0123456789abcde0';
SELECT count(*), min(d) FROM (SELECT fp <-> '0123456789abcde0' AS d FROM equal
	ORDER BY fp <-> '0123456789abcde0' LIMIT 50000) s;
RESET enable_seqscan;
DROP TABLE equal;

-- A search within 3 reads at most 10 % of the pages of an index on a million
-- uniform rows, after row-by-row inserts and after a sorted build.
CREATE FUNCTION pages_read(q simhash64) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL jit = off;
	EXECUTE format('EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON)
		SELECT FROM million WHERE fp <-> %L <= 3', q) INTO plan;
	plan := plan->0->'Plan'->'Plans'->0;
	IF plan->>'Index Name' IS DISTINCT FROM 'million_fp' THEN RAISE 'no index'; END IF;
	RETURN (plan->>'Shared Hit Blocks')::int + (plan->>'Shared Read Blocks')::int;
END $$;
CREATE TABLE million (fp simhash64);
CREATE INDEX million_fp ON million USING gist (fp);
CREATE VIEW reads AS
SELECT count(*) AS searches, avg(pages_read(substr(md5('q' || i), 1, 16)::simhash64))
	<= 0.1 * pg_relation_size('million_fp') / current_setting('block_size')::int AS few
FROM generate_series(1, 20) i;
INSERT INTO million SELECT substr(md5(i::text), 1, 16)::simhash64
FROM generate_series(1, 1000000) i;
SET enable_indexscan = off;
SET enable_indexonlyscan = off;
TABLE reads;
REINDEX INDEX million_fp;
TABLE reads;
RESET enable_indexscan;
RESET enable_indexonlyscan;
DROP VIEW reads;
DROP TABLE million;

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
INSERT INTO refusing VALUES (1, '00000000000000ff'), (2, '000000000000000f'), (3, NULL),
	(4, NULL);
INSERT INTO refusing VALUES (5, '00000000000000f8');
INSERT INTO refusing VALUES (5, '00000000000000f8') ON CONFLICT DO NOTHING;
UPDATE refusing SET fp = '0000000000000007' WHERE id = 2;
UPDATE refusing SET fp = '00000000000000fe' WHERE id = 2;
TABLE refusing;
DROP TABLE refusing;

DROP TABLE uniform, skewed, duplicates, half_bits, ascending, descending, extremes, empty,
	only_null, tables;
