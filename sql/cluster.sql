-- simhash_cluster: near-duplicates have the same number
\pset format unaligned \pset tuples_only on \set ECHO queries

-- 1 and 2 are near each other, 2 and 3 are, 1 and 3 are not
CREATE TABLE chain (id int, fp simhash64);
INSERT INTO chain VALUES (1, '0000000000000000'), (2, '0000000000000007'), (3, NULL),
	(4, '000000000000003f'), (5, 'ffff000000000000'), (6, '0000000000000001'), (7, NULL),
	(8, 'ffff000000000000');
SELECT id, simhash_cluster(fp, 3) OVER w AS connected,
	simhash_cluster(fp, 3, 'connected') OVER w AS also,
	simhash_cluster(fp, 3, 'leader') OVER w AS leader,
	simhash_cluster(fp, 2) OVER w AS within2, simhash_cluster(fp, 0) OVER w AS equal,
	simhash_cluster(fp, 64) OVER w AS one, rank() OVER w
FROM chain WINDOW w AS (ORDER BY id) ORDER BY id;
-- in another order other numbers, and leaders
SELECT id, simhash_cluster(fp, 3) OVER w AS connected,
	simhash_cluster(fp, 3, 'leader') OVER w AS leader
FROM chain WINDOW w AS (ORDER BY id DESC) ORDER BY id;
SELECT id, simhash_cluster(fp, 3, 'leader') OVER (ORDER BY id <> 2, id) AS leader
FROM chain ORDER BY id;
-- of two leaders within reach the earlier one counts, not the nearer one
SELECT n, simhash_cluster(fp, 4, 'leader') OVER (ORDER BY n)
FROM unnest('{0000000000000000,00000000000000ff,000000000000003f,0000000000000003,
	000000000000000f,00000000000001ff}'::simhash64[]) WITH ORDINALITY u (fp, n);

-- a frame changes nothing
SELECT id, count(DISTINCT number) AS numbers FROM (
	SELECT ARRAY[simhash_cluster(fp, 3) OVER (ORDER BY id),
		simhash_cluster(fp, 3) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING),
		simhash_cluster(fp, 3) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING),
		simhash_cluster(fp, 3) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING
			AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW),
		simhash_cluster(fp, 3) OVER (ORDER BY id RANGE BETWEEN 1 PRECEDING AND CURRENT ROW
			EXCLUDE TIES),
		simhash_cluster(fp, 3) OVER (ORDER BY id GROUPS BETWEEN CURRENT ROW AND 1 FOLLOWING
			EXCLUDE GROUP)] AS c, id FROM chain) s, unnest(c) number
GROUP BY id ORDER BY id;

-- NULL arguments, and rows, and no rows
SELECT count(*), count(a), count(b), count(c) FROM (SELECT simhash_cluster(fp, NULL) OVER () AS a,
	simhash_cluster(fp, NULL, 'leader') OVER () AS b, simhash_cluster(fp, 3, NULL) OVER () AS c
	FROM chain) s;
SELECT simhash_cluster(NULL::simhash64, 3) OVER (), simhash_cluster(NULL::simhash128, 3, 'leader') OVER ()
FROM generate_series(1, 2);
SELECT simhash_cluster(fp, 3) OVER (), simhash_cluster(fp, 3, 'leader') OVER ()
FROM chain WHERE id = 5;
SELECT simhash_cluster(fp, 3) OVER () FROM chain WHERE id > 8;
-- NULL as max_distance is no pass for a wrong method, nor the reverse
SELECT error_of(format('SELECT %s OVER () FROM chain', call)) FROM unnest(ARRAY[
	'simhash_cluster(fp, -1)', 'simhash_cluster(fp, 65)', 'simhash_cluster(fp, -2147483648)',
	'simhash_cluster(fp, 2147483647, ''leader'')', 'simhash_cluster(fp, 3, ''unknown'')',
	'simhash_cluster(fp, 3, '''')', 'simhash_cluster(fp, 3, ''LEADER'')',
	'simhash_cluster(NULL::simhash64, 65)', 'simhash_cluster(fp, 3, ''leader ''::text)',
	'simhash_cluster(widen(fp, ''first''), 129)', 'simhash_cluster(widen(fp, ''first''), -1)']) call;

-- max_distance and method are the same in all of the partition
SELECT error_of(format('SELECT simhash_cluster(fp, %s) OVER (ORDER BY id) FROM chain', arguments))
FROM unnest(ARRAY['id', 'CASE WHEN id < 8 THEN 3 ELSE 4 END', 'CASE WHEN id < 8 THEN 3 END',
	'CASE WHEN id > 1 THEN 3 END', 'CASE WHEN id > 1 THEN 3 ELSE 64 END',
	-- also where the fingerprint is NULL
	'CASE WHEN id = 7 THEN 4 ELSE 3 END',
	'3, CASE WHEN id < 8 THEN ''leader'' ELSE ''connected'' END',
	'3, CASE WHEN id < 8 THEN ''leader'' END', '3, CASE WHEN id > 1 THEN ''connected'' END',
	'CASE WHEN id < 8 THEN 3 ELSE 65 END', '3, CASE WHEN id < 8 THEN ''leader'' ELSE '''' END'])
	arguments;
-- but may differ between partitions
SELECT id, simhash_cluster(fp, CASE WHEN fp IS NULL THEN NULL ELSE id / 4 END,
		CASE id / 4 WHEN 0 THEN 'connected' ELSE 'leader' END)
	OVER (PARTITION BY id / 4, fp IS NULL ORDER BY id) FROM chain ORDER BY id;
SELECT error_of('SELECT simhash_cluster(fp, CASE WHEN id > 4 THEN id ELSE 3 END)
	OVER (PARTITION BY id > 4 ORDER BY id) FROM chain');

-- it is a window function only
SELECT left(error_of(statement), 5) FROM (VALUES ('SELECT simhash_cluster(fp, 3) FROM chain'),
	('SELECT simhash_cluster(fp, 3) FILTER (WHERE true) OVER () FROM chain'),
	('SELECT simhash_cluster(DISTINCT fp, 3) OVER () FROM chain'),
	('SELECT simhash_cluster(fp) OVER () FROM chain'),
	('SELECT simhash_cluster(id, 3) OVER () FROM chain'),
	('SELECT id FROM chain WHERE simhash_cluster(fp, 3) OVER () = 1')) s(statement);

CALL make_tables(200);
SELECT shape, check_clusters(source, '{0,1,3,6,16,64}') FROM shapes
WHERE shape NOT IN ('cube', 'next neighbours');
SELECT shape, way, check_clusters(wide, '{0,1,3,16,65,128}') FROM shapes,
	widened(source || ' LIMIT 100') WHERE shape IN ('uniform', 'skewed', 'duplicates', 'steps', 'balls', 'star');
-- in other orders
SELECT form, check_clusters('SELECT fp FROM skewed ' || form, '{0,2,3,4,8,25}')
FROM (VALUES ('ORDER BY id DESC'), ('ORDER BY md5(id::text)'), ('ORDER BY fp'),
	('ORDER BY fp DESC NULLS LAST'), ('WHERE id % 3 > 0 ORDER BY id % 5, id')) f (form);
-- more rows; simhash_pairs has its own tests
SELECT check_clusters('SELECT fp FROM many_uniform(3000)', '{1,3,6,12,18}',
	'SELECT * FROM simhash_pairs(''SELECT place, fp FROM input'', 18)', 18);
SELECT check_clusters('SELECT fp FROM many_skewed(3000)', '{0,3,5}',
	'SELECT * FROM simhash_pairs(''SELECT place, fp FROM input'', 5)', 5);
-- a path of steps of one bit, from an end and from anywhere
SELECT * FROM clusters_of_path(10000);

-- Partitions, however they are read.
CREATE TABLE docs AS
SELECT id, id % 1000 % 7 AS part, CASE WHEN id % 1000 % 7 < 6 AND id % 11 > 0 THEN
	(substr(md5((id % 1000)::text), 1, 16)::simhash64::bigint
		# bits(id % 1000, 17, id / 1000 * 3 % 64))::simhash64 END AS fp
FROM generate_series(1, 20000) id;
ANALYZE docs;
CREATE VIEW clusters AS
SELECT id, part, simhash_cluster(fp, 3) OVER w AS connected,
	simhash_cluster(fp, 3, 'leader') OVER w AS leader, count(*) OVER w AS so_far
FROM docs WINDOW w AS (PARTITION BY part ORDER BY id);
-- 6 has only NULLs
SELECT part, count(*), count(connected), max(connected) AS connected, max(leader) AS leader
FROM clusters GROUP BY part ORDER BY part;
CREATE FUNCTION same_as_view(query text) RETURNS boolean LANGUAGE sql AS $$
	SELECT rows_of(query) = rows_of('SELECT id, part, connected, leader FROM clusters')
$$;
-- one by one, in a subplan that runs again and again
SELECT same_as_view('SELECT id, part, connected, leader FROM generate_series(0, 7) p, LATERAL (
	SELECT id, part, simhash_cluster(fp, 3) OVER (ORDER BY id) AS connected,
		simhash_cluster(fp, 3, ''leader'') OVER (ORDER BY id) AS leader
	FROM docs WHERE part = p) s');
SELECT same_as_view('SELECT id, part, CASE WHEN id % 200 > 0 THEN connected ELSE
		(SELECT c FROM (SELECT o.id, simhash_cluster(fp, 3) OVER (PARTITION BY d.part ORDER BY id) AS c
			FROM docs o WHERE o.part = d.part) s WHERE s.id = d.id) END, leader
	FROM clusters d');
-- from joins, subqueries and groups, and beside other functions
SELECT same_as_view('SELECT a.id, a.part, simhash_cluster(b.fp, 3) OVER w,
		simhash_cluster(b.fp, 3, ''leader'') OVER w
	FROM docs a LEFT JOIN docs b ON b.id = a.id AND b.part < 6
	WINDOW w AS (PARTITION BY a.part ORDER BY a.id)');
SELECT same_as_view('SELECT id, part, simhash_cluster(max(fp), 3) OVER w,
		simhash_cluster(min(fp), 3, ''leader'') OVER w
	FROM (SELECT * FROM docs UNION ALL SELECT * FROM docs) s GROUP BY id, part
	WINDOW w AS (PARTITION BY part ORDER BY id)');
SELECT same_as_view('SELECT id, part, connected, leader FROM (
	SELECT id, part, simhash_cluster(fp, 3) OVER w AS connected,
		simhash_cluster(fp, 3, ''leader'') OVER w AS leader, lag(fp) OVER w,
		simhash_cluster(fp, 8) OVER w, simhash_cluster(fp, 0) OVER (w ROWS 1 PRECEDING),
		sum(id) OVER (w ROWS BETWEEN 2 PRECEDING AND 2 FOLLOWING EXCLUDE TIES),
		simhash_cluster(fp, 3) OVER (ORDER BY id DESC), rank() OVER (ORDER BY fp)
	FROM docs WINDOW w AS (PARTITION BY part ORDER BY id)) s');
-- nested, of a domain, and with parameters of a prepared statement
CREATE DOMAIN fingerprint AS simhash64;
CREATE DOMAIN distance AS int CHECK (VALUE < 9);
SELECT count(*), max(c) FROM (
	SELECT simhash_cluster(fp::fingerprint, 3::distance) OVER (ORDER BY first, id) AS c FROM (
		SELECT id, fp, min(id) OVER (PARTITION BY simhash_cluster) AS first FROM (
			SELECT id, fp, simhash_cluster(fp, 3) OVER () FROM docs) s) s) s;
PREPARE clusters_within(int, text) AS
SELECT count(c) AS rows, max(c) AS clusters
FROM (SELECT simhash_cluster(fp, $1, $2) OVER (ORDER BY id) AS c FROM docs) s;
SET plan_cache_mode = force_generic_plan;
EXECUTE clusters_within(3, 'connected');
EXECUTE clusters_within(3, 'leader');
EXECUTE clusters_within(8, 'leader');
EXECUTE clusters_within(NULL, 'leader');
EXECUTE clusters_within(3, NULL);
\set VERBOSITY terse
EXECUTE clusters_within(65, 'leader');
EXECUTE clusters_within(3, 'nothing');
SET plan_cache_mode = force_custom_plan;
EXECUTE clusters_within(8, 'leader');
RESET plan_cache_mode;
DEALLOCATE clusters_within;
SELECT k, method, max(c) AS clusters FROM unnest('{3,8}'::int[]) k,
	unnest('{connected,leader}'::text[]) method,
	LATERAL (SELECT simhash_cluster(fp, k, method) OVER (ORDER BY id) AS c FROM docs) s
GROUP BY 1, 2 ORDER BY 1, 2;
-- in more than work_mem holds
SET work_mem = '64kB';
SELECT md5(rows_of('SELECT * FROM clusters')::text) AS in_64kb \gset
RESET work_mem;
SELECT md5(rows_of('SELECT * FROM clusters')::text) = :'in_64kb' AS same;

-- of which only some rows are wanted, to and fro
SELECT id, part, connected FROM clusters ORDER BY part, id LIMIT 2;
SELECT id, part, connected FROM clusters ORDER BY part, id LIMIT 2 OFFSET 17250;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, part, connected FROM clusters;
FETCH 2 FROM c;
FETCH ABSOLUTE 15001 FROM c;
FETCH BACKWARD 1 FROM c;
FETCH LAST FROM c;
FETCH FIRST FROM c;
FETCH ABSOLUTE 15001 FROM c;
DECLARE n CURSOR FOR SELECT id, connected FROM clusters;
FETCH 1 FROM n;
ROLLBACK;
SELECT connected, leader, (connected, leader) FROM clusters ORDER BY part, id LIMIT 1;

-- what changes the table itself
CREATE TABLE kept AS SELECT * FROM docs WHERE fp IS NOT NULL;
DELETE FROM kept USING (SELECT id, row_number() OVER (PARTITION BY c ORDER BY id) AS n
	FROM (SELECT id, simhash_cluster(fp, 3, 'leader') OVER (ORDER BY id) AS c FROM kept) s) d
WHERE kept.id = d.id AND n > 1;
SELECT count(*), count(*) = (SELECT max(c) FROM (
	SELECT simhash_cluster(fp, 3, 'leader') OVER (ORDER BY id) AS c FROM docs) s) AS leaders
FROM kept;
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM kept', 3);

-- parallel workers below the window
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT plan_lines('SELECT count(*), sum(connected), sum(leader) FROM clusters',
	'WindowAgg|Gather|Workers|Sort$|Scan');
SELECT count(*), sum(connected) AS connected, sum(leader) AS leader FROM clusters \gset parallel_
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SELECT (count(*), sum(connected), sum(leader))
	= (:parallel_count, :parallel_connected, :parallel_leader) AS same FROM clusters;

CALL for_each_table('DROP TABLE %1$s');
DROP VIEW clusters;
DROP TABLE chain, docs, kept;
DROP DOMAIN fingerprint, distance;
DROP FUNCTION same_as_view;
