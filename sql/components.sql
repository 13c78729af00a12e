-- simhash_components: the groups of ids that pairs make
\pset format unaligned \pset tuples_only on \set ECHO queries

CREATE TABLE pairs (a int, b int);
INSERT INTO pairs VALUES (7, 5), (2, 3), (NULL, 2), (3, 4), (5, 7), (9, 9), (2, 3), (8, NULL), (4, 1);
SELECT * FROM simhash_components('TABLE pairs');
SELECT * FROM simhash_components('SELECT a, b FROM pairs', 'leader');
SELECT * FROM simhash_components(method => 'connected', query => 'SELECT b, a FROM pairs');
-- a row in the SELECT list
SELECT simhash_components('TABLE pairs') LIMIT 2;
SELECT (c).cluster, count(*) FROM (SELECT simhash_components('TABLE pairs', 'leader') AS c) s
GROUP BY 1 ORDER BY 1;
-- no rows, only NULLs, one id
SELECT source, simhash_components(source), simhash_components(source, 'leader')
FROM (VALUES ('SELECT a, b FROM pairs WHERE false'), ('SELECT a, b FROM pairs WHERE a + b IS NULL'),
	('SELECT NULL::int, NULL::bigint'), ('SELECT 6, 6')) s (source);
SELECT count(*) FROM (SELECT simhash_components(NULL) UNION ALL SELECT simhash_components('x', NULL)) s;

-- Compare both methods with what loops make of the pairs (a, b) of a query.  Ids are numbered
-- in their order.  Of a group with more than one id the first one names it; others do not come.
\set ECHO none
CREATE FUNCTION check_components(source text)
RETURNS TABLE (ids bigint, connected bigint, ids_connected bigint, leader bigint, ids_leader bigint, wrong bigint)
LANGUAGE plpgsql AS $$
DECLARE
	root int[];     -- of each id, the least one of its group so far
	leader_of int[];
	lesser int[];
	x int;
	y int;
BEGIN
	SET LOCAL jit = off;
	EXECUTE format('CREATE TEMP TABLE input ON COMMIT DROP AS
		SELECT a::bigint, b::bigint FROM (%s) s (a, b) WHERE a IS NOT NULL AND b IS NOT NULL', source);
	CREATE TEMP TABLE numbered ON COMMIT DROP AS
	SELECT id, row_number() OVER (ORDER BY id)::int AS n FROM (
		SELECT a AS id FROM input UNION SELECT b FROM input) s;
	CREATE TEMP TABLE edges ON COMMIT DROP AS
	SELECT x.n AS a, y.n AS b FROM input JOIN numbered x ON x.id = a JOIN numbered y ON y.id = b;
	SELECT coalesce(array_agg(n ORDER BY n), '{}') INTO root FROM numbered;
	leader_of := root;
	FOR x, y IN TABLE edges LOOP
		WHILE root[x] <> x LOOP root[x] := root[root[x]]; x := root[x]; END LOOP;
		WHILE root[y] <> y LOOP root[y] := root[root[y]]; y := root[y]; END LOOP;
		root[greatest(x, y)] := least(x, y);
	END LOOP;
	FOR i IN 1 .. cardinality(root) LOOP
		root[i] := root[root[i]];
	END LOOP;
	FOR x, lesser IN SELECT greatest(a, b), array_agg(least(a, b)) FROM edges GROUP BY 1 ORDER BY 1 LOOP
		SELECT coalesce(min(l), x) INTO y FROM unnest(lesser) l WHERE leader_of[l] = l;
		leader_of[x] := y;
	END LOOP;
	RETURN QUERY
	WITH grouped AS (
		SELECT method, id, first, count(*) OVER (PARTITION BY method, first) AS members
		FROM numbered, LATERAL (VALUES ('connected', root[n]), ('leader', leader_of[n])) v (method, first)),
	expected AS (
		SELECT method, g.id, f.id AS cluster, row_number() OVER (PARTITION BY method ORDER BY g.id) AS place
		FROM grouped g JOIN numbered f ON f.n = first WHERE members > 1),
	found AS (
		SELECT method, c.* FROM unnest('{connected,leader}'::text[]) method,
			LATERAL simhash_components(source, method) WITH ORDINALITY c (id, cluster, place))
	SELECT (SELECT count(*) FROM numbered),
		count(DISTINCT f.cluster) FILTER (WHERE method = 'connected'), count(f.id) FILTER (WHERE method = 'connected'),
		count(DISTINCT f.cluster) FILTER (WHERE method = 'leader'), count(f.id) FILTER (WHERE method = 'leader'),
		count(*) FILTER (WHERE (e.id, e.cluster) IS DISTINCT FROM (f.id, f.cluster))
	-- in the order of ids, too
	FROM expected e FULL JOIN found f USING (method, place);
	DROP TABLE input, numbered, edges;
END $$;
-- one of n numbers, from 0 on, for each i
CREATE FUNCTION pick(i bigint, n int, seed int) RETURNS bigint LANGUAGE sql IMMUTABLE AS
	$$SELECT (hashint8extended(i, seed) & 9223372036854775807) % n$$;
CREATE TABLE graphs (graph text, source text);
INSERT INTO graphs VALUES
	('sparse', 'SELECT pick(i, 6000, 1), pick(i, 6000, 2) FROM generate_series(1, 1500) i'),
	('as many ids as pairs', 'SELECT pick(i, 3000, 3), pick(i, 3000, 4) FROM generate_series(1, 3000) i'),
	('dense', 'SELECT pick(i, 300, 5), pick(i, 300, 6) FROM generate_series(1, 6000) i'),
	('many small ones', 'SELECT g * 10 + pick(i, 6, 7), g * 10 + pick(i, 6, 8)
		FROM generate_series(1, 3000) i, LATERAL (SELECT pick(i, 700, 9) AS g) s'),
	('chain', 'SELECT i, i + 1 FROM generate_series(1, 2000) i'),
	('chain, down', 'SELECT i + 1, i FROM generate_series(2000, 1, -1) i'),
	('chain, in no order', 'SELECT i, i + 1 FROM generate_series(1, 2000) i ORDER BY pick(i, 1000000, 10)'),
	('chain of numbers in no order', 'SELECT i * 7919 % 2003, (i + 1) * 7919 % 2003
		FROM generate_series(1, 2000) i'),
	('ring', 'SELECT i, i % 1001 + 1 FROM generate_series(1, 1001) i'),
	('star of the least', 'SELECT 0, i FROM generate_series(1, 1500) i'),
	('star of the greatest', 'SELECT 1501, i FROM generate_series(1, 1500) i'),
	('stars of any', 'SELECT i % 9 * 100 + 50, i FROM generate_series(1, 1000) i'),
	('cliques', 'SELECT a * 40 + c, b * 40 + c FROM generate_series(1, 15) a, generate_series(1, 15) b,
		generate_series(1, 30) c WHERE a < b'),
	('clique', 'SELECT a, b FROM generate_series(1, 100) a, generate_series(1, 100) b WHERE a < b'),
	('clique, each pair four times', 'SELECT a % 50, b % 50 FROM generate_series(1, 100) a,
		generate_series(1, 100) b WHERE a <> b'),
	('tree', 'SELECT i / 2, i FROM generate_series(2, 2000) i'),
	('grid', 'SELECT i, i + s FROM generate_series(1, 900) i, unnest(''{1,30}''::int[]) s'),
	('pairs', 'SELECT 2 * i, 2 * i + 1 FROM generate_series(1, 1500) i'),
	('each with itself', 'SELECT i, i FROM generate_series(1, 1500) i'),
	('some with others, too', 'SELECT i, i FROM generate_series(1, 1500) i UNION ALL
		SELECT i, pick(i, 1500, 20) FROM generate_series(1, 1500, 2) i'),
	('both orders', 'SELECT CASE s WHEN 0 THEN a ELSE b END, CASE s WHEN 0 THEN b ELSE a END
		FROM generate_series(1, 900) i, generate_series(0, 1) s,
			LATERAL (SELECT pick(i, 1500, 11) AS a, pick(i, 1500, 12) AS b) p'),
	('below zero', 'SELECT pick(i, 2000, 13) - 1000, 1000 - pick(i, 2000, 14) FROM generate_series(1, 800) i'),
	('any bigint', 'SELECT x.id, y.id FROM generate_series(1, 1200) i,
		LATERAL (SELECT hashint8extended(pick(i, 1500, 15), 0) AS id) x,
		LATERAL (SELECT hashint8extended(pick(i, 1500, 16), 0) AS id) y'),
	('the ends of bigint', 'SELECT a, b FROM unnest(''{-9223372036854775808,-9223372036854775807,-1,0,1,
		9223372036854775806,9223372036854775807}''::bigint[]) WITH ORDINALITY x (a, i),
		unnest(''{9223372036854775807,-9223372036854775808,7,-1,-9223372036854775807}''::bigint[])
		WITH ORDINALITY y (b, j) WHERE i % 3 = j % 3'),
	('multiples of powers of two', 'SELECT pick(i, 1000, 17) << 52, (pick(i, 1000, 18) << 20) - 1
		FROM generate_series(1, 900) i'),
	('NULLs', 'SELECT nullif(pick(i, 20, 19), 7), CASE WHEN i % 9 > 0 THEN i END
		FROM generate_series(1, 1500) i');
SELECT graph, c.* FROM graphs, LATERAL check_components(source) c;
\set ECHO queries
-- numbers of pairs at which tables grow
SELECT count(*), sum(c.ids) AS ids, sum(c.wrong) AS wrong
FROM unnest('{1,255,256,257,511,512,513,1023,1024,1025,2047,2048,2049}'::int[]) n,
	LATERAL check_components(format('SELECT i, i + 5 FROM generate_series(1, %s) i', n)) c;
-- more pairs, of which the groups are known
SELECT method, count(*), count(DISTINCT cluster) AS clusters,
	count(*) FILTER (WHERE cluster <> (id - 1) / 10 * 10 + 1) AS wrong
FROM unnest('{connected,leader}'::text[]) method, LATERAL simhash_components(
	'SELECT (i - 1) / 10 * 10 + 1, i FROM generate_series(1, 40000) i ORDER BY hashint4(i)', method)
GROUP BY 1 ORDER BY 1;
-- so many ids that some have a slot and its tag in common
SELECT count(*), count(*) FILTER (WHERE cluster <> (id - 1) % 500000 + 1) AS wrong
FROM simhash_components('SELECT i, i + 500000 FROM generate_series(1, 500000) i');

-- what simhash_pairs finds: the clusters of simhash_cluster that have several rows
CALL make_tables(200);
CREATE VIEW all_rows AS SELECT 'skewed' AS tab, * FROM skewed UNION ALL SELECT 'duplicates', * FROM duplicates
	UNION ALL SELECT 'ascending', * FROM ascending;
SELECT tab, k, method, count(f.id) AS rows, count(DISTINCT f.cluster) AS clusters,
	count(*) FILTER (WHERE (e.id, e.cluster) IS DISTINCT FROM (f.id, f.cluster)) AS wrong
FROM unnest('{skewed,duplicates,ascending}'::text[]) tab, unnest('{0,3}'::int[]) k,
	unnest('{connected,leader}'::text[]) method, LATERAL (
		SELECT * FROM (
			SELECT id, min(id) OVER same AS cluster, count(*) OVER same AS members
			FROM (SELECT id, simhash_cluster(fp, k, method) OVER (ORDER BY id)
				FROM all_rows r WHERE r.tab = tab.tab AND fp IS NOT NULL) c
			WINDOW same AS (PARTITION BY simhash_cluster)) g
		WHERE members > 1) e
	FULL JOIN LATERAL simhash_components(
		format('SELECT a, b FROM simhash_pairs(''TABLE %I'', %s)', tab, k), method) f USING (id)
GROUP BY tab, k, method ORDER BY tab, k, method;
DROP VIEW all_rows;
CALL for_each_table('DROP TABLE %1$s');

-- every kind of query
CREATE DOMAIN doc_id AS smallint;
CREATE DOMAIN stored_id AS doc_id NOT NULL;
CREATE VIEW all_pairs AS SELECT a AS "A", b AS "B" FROM pairs;
\set ECHO none
SELECT source, (SELECT array_agg(cluster) FROM simhash_components(source)) FROM unnest(ARRAY[
	'SELECT a, b FROM pairs;', ' ; TABLE all_pairs ; ;', 'VALUES (1, 2), (2::bigint, 5)',
	'(SELECT * FROM pairs ORDER BY a, b LIMIT 3) -- three',
	'/* SELECT */ WITH p AS (TABLE pairs) SELECT * FROM p UNION ALL SELECT b, a + 1 FROM p',
	'SELECT a::smallint, b::bigint FROM pairs', 'SELECT a::doc_id, b::stored_id FROM pairs WHERE b > 0',
	'SELECT count(*), max(a) FROM pairs GROUP BY b',
	-- itself
	'SELECT id, cluster FROM simhash_components(''TABLE pairs'')']) source;
\set ECHO queries
-- the ends of smaller types
SELECT * FROM simhash_components('SELECT (-32768)::smallint, 2147483647');
SELECT * FROM simhash_components('SELECT (-2147483648)::int, 32767::smallint');
-- two at once
SELECT simhash_components('SELECT 1, 2'), simhash_components('SELECT 4, 3', 'leader');
-- again and again, of a query that changes
SELECT n, count(*), max(cluster) FROM generate_series(0, 5) n,
	LATERAL simhash_components(format('TABLE pairs LIMIT %s', n), 'leader') GROUP BY n ORDER BY n;
SELECT id, cluster FROM unnest('{3,2,7}'::int[]) WITH ORDINALITY x (a, place),
	LATERAL (SELECT * FROM simhash_components('SELECT a, b FROM pairs WHERE a = ' || a) LIMIT 1) c ORDER BY place;
SELECT array_agg(id) FROM (SELECT id FROM simhash_components('TABLE pairs') LIMIT 3) s;
SELECT a, (SELECT count(*) FROM simhash_components('TABLE pairs') WHERE id = a) FROM pairs WHERE a < 4;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT * FROM simhash_components('TABLE pairs');
FETCH 2 FROM c;
FETCH ABSOLUTE 5 FROM c;
FETCH BACKWARD 1 FROM c;
ROLLBACK;

-- the search path, the snapshot and the rights of the caller
CREATE TEMP TABLE pairs AS SELECT 1 AS a, 2 AS b;
SELECT count(*) FROM simhash_components('TABLE pairs');
DROP TABLE pg_temp.pairs;
WITH inserted AS (INSERT INTO pairs VALUES (1, 9) RETURNING 1)
SELECT max(cluster) FROM inserted, simhash_components('TABLE pairs');
SELECT max(cluster) FROM simhash_components('TABLE pairs');
CREATE ROLE simhash_reader;
SET ROLE simhash_reader;
SELECT error_of('SELECT simhash_components(''TABLE pairs'')');
RESET ROLE;
DROP ROLE simhash_reader;

-- errors
SELECT error_of(format('SELECT simhash_components(''TABLE pairs'', %L)', method))
FROM unnest(ARRAY['', 'Leader', 'connected ', 'components']) method;
\set ECHO none
SELECT q AS query, error_of(format('SELECT simhash_components(%L)', q)) FROM unnest(ARRAY[
	-- columns
	'SELECT a FROM pairs', 'SELECT FROM pairs', 'SELECT a, b, 1 FROM pairs', 'SELECT pairs FROM pairs',
	'SELECT a::numeric, b FROM pairs', 'SELECT a, b::text FROM pairs', 'SELECT ctid, a FROM pairs',
	'SELECT NULL, a FROM pairs', 'SELECT a, b::oid FROM pairs', 'SELECT a, ARRAY[b] FROM pairs',
	'SELECT a::text, b FROM pairs WHERE false',
	-- more than reading
	'INSERT INTO pairs VALUES (10, 11) RETURNING *', 'DELETE FROM pairs', 'SELECT * FROM pairs FOR UPDATE',
	'WITH i AS (INSERT INTO pairs VALUES (10, 11) RETURNING *) TABLE i', 'CREATE TABLE t AS TABLE pairs',
	'COPY pairs TO STDOUT', 'COMMIT',
	-- not one statement
	'', ';', '-- nothing', 'SELECT 1, 2; SELECT 3, 4', 'SET work_mem = 1000',
	-- wrong by itself
	'SELEC', 'TABLE nowhere', 'SELECT a, 1 / (a - 9) FROM pairs', 'SELECT $1, $2']) q;
\set ECHO queries
SELECT count(*) FROM pairs;
-- the hints are what works
SELECT * FROM simhash_components('SELECT a::numeric, b FROM pairs');
SELECT count(*) FROM simhash_components('SELECT a::numeric::bigint, b FROM pairs');
CREATE TABLE keyed AS SELECT md5(a::text)::uuid AS x, md5(b::text)::uuid AS y FROM pairs;
SELECT * FROM simhash_components('SELECT x, y FROM keyed');
CREATE VIEW keys AS SELECT key, row_number() OVER (ORDER BY key) AS n FROM (
	SELECT x AS key FROM keyed WHERE y IS NOT NULL UNION SELECT y FROM keyed WHERE x IS NOT NULL) s;
SELECT count(key) AS keys, count(DISTINCT cluster) AS clusters
FROM simhash_components('SELECT k.n, l.n FROM keyed JOIN keys k ON k.key = x JOIN keys l ON l.key = y')
	JOIN keys ON n = id;

DROP VIEW all_pairs, keys;
DROP TABLE pairs, graphs, keyed;
DROP DOMAIN stored_id, doc_id;
DROP FUNCTION check_components, pick;
