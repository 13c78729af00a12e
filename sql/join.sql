-- The join method HammingJoin gives what nested loops give: every form of a query.
\pset format unaligned \pset tuples_only on \set ECHO queries

\getenv directory PG_ABS_SRCDIR
\set setup :directory '/sql/include/join_setup.sql'
\set ECHO none
\i :setup
\set ECHO queries

-- each with itself, and with rows of which few, or none, are near
SELECT check_joins('TABLE ' || tab, format('SELECT id + 3 AS id, fp FROM %s
	WHERE id %% 4 > 0', tab), '{3}'), string_agg(tab, ', ' ORDER BY tab) AS tables FROM tables GROUP BY 1;
SELECT tab, check_joins('TABLE ' || tab, 'TABLE uniform', '{7}')
FROM tables WHERE tab IN ('skewed', 'ascending', 'extremes');
SELECT check_joins('TABLE half_bits', 'TABLE skewed', '{-1,0,20,64,1000}');
SELECT check_joins(wide, format('SELECT id + 3 AS id, fp FROM (%s) s WHERE id %% 4 > 0', wide), '{3,16,70}'),
	string_agg(DISTINCT shape, ', ') AS shapes, string_agg(DISTINCT way, ', ') AS ways
FROM shapes, widened(source || ' LIMIT 60') WHERE shape IN ('skewed', 'balls', 'empty') GROUP BY 1;
SELECT check_joins('TABLE empty', 'TABLE only_null', '{64}'),
	check_joins('TABLE uniform', 'TABLE empty', '{64}'),
	check_joins('TABLE only_null', 'TABLE uniform', '{64}');

-- every form of the clause, each way round
CREATE FUNCTION ball_of(simhash64) RETURNS hamming_ball LANGUAGE sql AS 'SELECT hamming_ball($1, 3)';
CREATE FUNCTION ball_of(simhash128) RETURNS hamming_ball128 LANGUAGE sql AS 'SELECT hamming_ball_128($1, 3)';
SELECT form, joins('SELECT a.id, b.id AS other FROM a JOIN b ON ' || form),
	joins('SELECT a.id, b.id AS other FROM b LEFT JOIN a ON ' || form),
	joins_128('SELECT a.id, b.id AS other FROM a JOIN b ON ' || form),
	-- an InitPlan has another name in each version
	regexp_replace(plan_lines('SELECT FROM a JOIN b ON ' || form, 'Hamming Cond|Join Filter'),
		'\$0|\(InitPlan \w+\)\.col1', 'InitPlan') AS plan
FROM unnest(ARRAY['a.fp <-> b.fp <= 1', 'b.fp <-> a.fp < 2', '1 >= a.fp <-> b.fp', '2 > a.fp <-> b.fp',
	'a.fp <-> b.fp BETWEEN 0 AND 3', 'a.fp <-> b.fp BETWEEN 1 AND 3', 'a.fp <-> b.fp <= 1::smallint',
	'a.fp <-> b.fp <= 1::bigint', 'simhash_distance(a.fp, b.fp) <= 1', 'a.fp % b.fp',
	'simhash_within(a.fp, b.fp, 1)', 'a.fp <@ hamming_ball(b.fp, 1)', 'b.fp <@ hamming_ball(a.fp, 1)',
	'hamming_ball(a.fp, 1) @> b.fp', 'a.fp <@ ball_of(b.fp)',
	'a.fp <-> b.fp <= 1 AND a.fp <-> b.fp <= 3', 'a.fp % b.fp AND b.fp <-> a.fp > 0',
	'coalesce(a.fp, ''0000000000000000'') <-> b.fp <= 1', '(a.fp::bigint # 1)::simhash64 <-> b.fp <= 1',
	'a.fp <-> b.fp <= (SELECT 1)', 'a.fp <-> b.fp <= (SELECT max(id) FROM a) / 100',
	'a.fp <-> b.fp <= length(current_setting(''server_encoding'')) - 3',
	'a.fp <-> b.fp <= NULL', 'a.fp <-> b.fp <= (SELECT n FROM a WHERE id = 7)']) form;
-- % is a bound of 8 bits, or of 16: pairs of every distance up to 32
CREATE TABLE ascending_bits AS SELECT n, (~ 0::bit(64) << n)::simhash64 AS fp FROM generate_series(0, 32) n;
CREATE TABLE bits_128.ascending_bits AS SELECT n, (~ 0::bit(128) << n)::simhash128 AS fp FROM generate_series(0, 32) n;
SELECT form, joins('SELECT a.n, b.n AS other FROM ascending_bits a JOIN ascending_bits b ON ' || form),
	joins_128('SELECT a.n, b.n AS other FROM ascending_bits a JOIN ascending_bits b ON ' || form)
FROM unnest(ARRAY['a.fp % b.fp', 'a.fp <-> b.fp <= 8', 'a.fp <-> b.fp <= 16']) form;
-- fingerprints that are computed
SELECT joins('SELECT a.id, b.id AS other FROM a JOIN b ON ' || form || ' AND a.id < 20')
FROM unnest(ARRAY['simhash(a.body) <-> b.fp <= 1', 'a.fp <-> simhash(b.body) <= 1',
	'minhash(a.body) <-> minhash(b.body) <= 1']) form;
-- what no join by distance can serve: core's methods do
CREATE FUNCTION volatile_k() RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN 1; END';
\set ECHO none
SELECT form, joins('SELECT a.id, b.id AS other FROM a JOIN b ON ' || form),
	joins_128('SELECT a.id, b.id AS other FROM a JOIN b ON ' || form)
FROM unnest(ARRAY['a.fp <-> b.fp <= a.n', 'a.fp <-> b.fp <= b.id', 'a.fp <-># b.fp <= 3',
	'a.fp <-> b.fp > 3', 'a.fp <-> b.fp = 0', 'a.fp <-> a.fp <= 3', 'NOT a.fp <-> b.fp <= 3',
	'a.fp <-> b.fp <= 1 OR a.id = b.id', '(a.fp <-> b.fp <= 1) IS NOT TRUE',
	'a.fp <-> b.fp <= volatile_k()']) form;

-- other conditions: of the join, of its result, of one side, of none; some of
-- them are volatile, or never true
SELECT form, joins('SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1 ' || form),
	joins('SELECT a.id, b.id AS other FROM a JOIN b ON a.fp <-> b.fp <= 1 ' || form)
FROM unnest(ARRAY['AND a.n = b.n', 'AND a.n = 3', 'AND b.n = 3', 'AND b.n IS NULL', 'AND a.fp = b.fp',
	'AND (a.n IS NULL OR b.id > 70)', 'AND volatile_true()', 'AND volatile_true() AND a.id < b.id',
	'WHERE b.n IS NULL', 'WHERE b.id IS NOT NULL AND b.n IS NULL', 'WHERE a.n = coalesce(b.n, 3)',
	'WHERE a.n IS DISTINCT FROM b.n', 'WHERE b.fp IS NULL OR a.id = 31', 'WHERE a.id = 31',
	'WHERE a.id > ALL (SELECT n FROM c WHERE n > 0)', 'WHERE volatile_true()',
	'WHERE coalesce(b.fp, a.fp) <-> a.fp <= 0']) form;
\set ECHO queries
-- without a column: each query has a gate that is open or shut
SELECT form, same_result('SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1 ' || form),
	same_result('SELECT a.id, b.id AS other FROM a JOIN b ON a.fp <-> b.fp <= 1 ' || form),
	same_result('SELECT a.id FROM a WHERE EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= 1 ' || form || ')'),
	same_result('SELECT a.id FROM a WHERE NOT EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= 1 ' || form || ')')
FROM unnest(ARRAY['AND current_setting(''work_mem'') = ''x''', 'AND current_setting(''work_mem'') <> ''x''',
	'AND false', 'AND (SELECT true)', 'AND (SELECT n = 3 FROM c WHERE c.id = 61)']) form;
-- PostgreSQL 15 and 16 join these by no method of an extension, unless in a subquery
SELECT sign, joins(format(query, sign), NULL, format(expected, sign)) FROM (VALUES
	('SELECT * FROM (SELECT a.id, b.id AS other FROM a JOIN b ON a.fp <-> b.fp <= 1 OFFSET 0) s
		WHERE current_setting(''work_mem'') %s ''x''', NULL),
	('WITH s AS MATERIALIZED (SELECT a.id, b.id AS other FROM a JOIN b ON a.fp <-> b.fp <= 1)
		SELECT * FROM s WHERE current_setting(''work_mem'') %s ''x''', NULL),
	('SELECT * FROM (SELECT a.id, b.id AS other FROM a FULL JOIN b ON a.fp <-> b.fp <= 1 OFFSET 0) s
		WHERE EXISTS (SELECT FROM c WHERE current_setting(''work_mem'') %s ''x'')',
	'SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1 WHERE current_setting(''work_mem'') %1$s ''x''
		UNION ALL SELECT NULL, id FROM b WHERE NOT EXISTS (SELECT FROM a WHERE a.fp <-> b.fp <= 1)
			AND current_setting(''work_mem'') %1$s ''x''')) v (query, expected), unnest(ARRAY['<>', '=']) sign;

\set ECHO none
-- types of joins, one in another
SELECT joins(query), joins_128(query), query FROM unnest(ARRAY[
	'SELECT a.id, b.id AS b, c.id AS c FROM a JOIN b ON a.fp <-> b.fp <= 1 JOIN c ON b.fp <-> c.fp <= 1',
	'SELECT a.id, b.id AS b, c.id AS c FROM a JOIN b ON a.fp % b.fp JOIN c ON b.fp % c.fp AND c.fp % a.fp',
	'SELECT a.id, b.id AS b, c.id AS c FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1 LEFT JOIN c ON b.fp <-> c.fp <= 1',
	'SELECT a.id, b.id AS b, c.id AS c FROM a LEFT JOIN (b JOIN c ON b.fp <-> c.fp <= 1) ON a.fp <-> b.fp <= 1',
	'SELECT a.id, b.id AS b, c.id AS c FROM a LEFT JOIN (b LEFT JOIN c ON b.n = c.n) ON a.fp <-> c.fp <= 0',
	'SELECT a.id, b.id AS b, c.id AS c FROM (a LEFT JOIN b ON a.id = b.id)
		LEFT JOIN c ON coalesce(b.fp, a.fp) <-> c.fp <= 1',
	'SELECT a.id, b.id AS b, c.id AS c FROM (a LEFT JOIN b ON a.id = b.id)
		LEFT JOIN c ON b.fp <-> c.fp <= 1 WHERE c.id IS NULL',
	'SELECT a.id, b.id AS b, c.id AS c FROM a RIGHT JOIN b ON a.fp <-> b.fp <= 1 RIGHT JOIN c ON a.fp <-> c.fp <= 1',
	'SELECT a.id, b.id AS b, c.id AS c FROM (a FULL JOIN b ON a.id = b.id) JOIN c ON b.fp <-> c.fp <= 1 OR a.fp IS NULL
		JOIN a d ON a.fp <-> d.fp <= 0',
	'SELECT a.id, b.id AS b, c.id AS c FROM (a FULL JOIN b ON a.id = b.id) LEFT JOIN c ON a.fp <-> c.fp <= 1',
	'SELECT a.id, c.id AS c FROM a LEFT JOIN c ON a.fp <-> c.fp <= 1 WHERE EXISTS (SELECT FROM b
		WHERE b.fp <-> c.fp <= 1)',
	'SELECT a.id FROM a WHERE EXISTS (SELECT FROM b WHERE b.fp <-> a.fp <= 1 AND NOT EXISTS
		(SELECT FROM c WHERE b.fp <-> c.fp <= 0))',
	'SELECT a.id FROM a WHERE EXISTS (SELECT FROM b JOIN c ON b.n = c.n WHERE b.fp <-> a.fp <= 1 AND a.id < c.id)',
	'SELECT a.id FROM a WHERE EXISTS (SELECT FROM b LEFT JOIN c ON b.n = c.n AND c.id < 80 WHERE c.fp <-> a.fp <= 1)',
	'SELECT a.id FROM a WHERE NOT EXISTS (SELECT FROM b JOIN c ON b.fp <-> c.fp <= 1 WHERE b.fp <-> a.fp <= 1)',
	'SELECT a.id FROM a WHERE id NOT IN (SELECT b.id FROM b JOIN c ON b.fp <-> c.fp <= 1)',
	'SELECT a.id, EXISTS (SELECT FROM b JOIN c ON b.fp <-> c.fp <= 1 AND b.id = a.id) FROM a',
	'SELECT a.id, b.id AS b FROM a CROSS JOIN b WHERE a.fp <-> b.fp <= 1 AND b.fp <-> (SELECT fp FROM c
		WHERE id = 65) <= 30',
	'SELECT a.id, x.id AS x, y.id AS y FROM a JOIN a x ON a.fp <-> x.fp <= 1
		LEFT JOIN a y ON x.fp <-> y.fp <= 0 AND x.id <> y.id'])
	query;
\set ECHO queries
SELECT same_result('SELECT a.id FROM a WHERE n IN (SELECT n FROM b WHERE a.fp <-> b.fp <= 1)'),
	same_result('SELECT a.id FROM a WHERE n NOT IN (SELECT n FROM b WHERE a.fp <-> b.fp <= 1)');

-- columns of every kind: computed on the nullable side, whole rows, of the system
CREATE VIEW near AS SELECT a.id, b.id AS other, a AS a_row, b AS b_row, a.fp <-> b.fp AS distance
FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1;
\set ECHO none
SELECT joins(query), query FROM unnest(ARRAY[
	'SELECT a.id, s.v FROM a LEFT JOIN (SELECT *, coalesce(n, -1) AS v FROM b) s ON a.fp <-> s.fp <= 1',
	'SELECT a.id, s.v FROM a LEFT JOIN (SELECT coalesce(fp, ''0000000000000000'') AS fp, 1 AS v
		FROM b) s ON a.fp <-> s.fp <= 1',
	'SELECT a.id, s.v FROM a LEFT JOIN (SELECT coalesce(b.fp, c.fp) AS fp, coalesce(b.id, 7) AS v FROM b LEFT JOIN c
		ON b.id = c.id) s ON a.fp <-> s.fp <= 1 WHERE s.v IS NULL OR s.v > 9',
	'SELECT s.id, s.v, c.id AS c FROM (SELECT a.id, coalesce(b.n, -1) AS v, b.fp FROM a
		LEFT JOIN b ON a.fp <-> b.fp <= 1) s
		LEFT JOIN c ON s.fp <-> c.fp <= 1',
	'SELECT s.id, s.v, c.id AS c FROM c LEFT JOIN (SELECT a.id, coalesce(b.n, -1) AS v, a.fp FROM a LEFT JOIN b
		ON a.fp <-> b.fp <= 1) s ON s.fp <-> c.fp <= 1',
	'SELECT s.v, count(*) FROM (SELECT coalesce(a.id, b.id) % 10 AS v FROM a
		FULL JOIN b ON a.fp <-> b.fp <= 1) s GROUP BY 1',
	'SELECT a, b FROM a JOIN b ON a.fp <-> b.fp <= 1', 'SELECT a, b FROM a
		LEFT JOIN b ON a.fp <-> b.fp <= 1 AND b IS NOT NULL',
	'SELECT a.ctid, b.ctid AS other, a.tableoid, b.tableoid AS others, a.id FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1',
	'SELECT a.id FROM a JOIN b ON a.fp <-> b.fp <= 1 AND a.ctid <> b.ctid', 'SELECT * FROM near',
	'SELECT id, count(other), max(distance) FROM near GROUP BY id HAVING count(other) > 1',
	'SELECT x.id, y.id AS y FROM near x JOIN near y ON (x.a_row).fp <-> (y.b_row).fp <= 0',
	'SELECT 1 FROM a JOIN b ON a.fp <-> b.fp <= 1', 'SELECT a.id + b.id, a.body || b.body FROM a
		JOIN b ON a.fp <-> b.fp <= 1',
	'SELECT row_number() OVER (ORDER BY a.id, b.id), a.id FROM a JOIN b ON a.fp <-> b.fp <= 1',
	'SELECT DISTINCT a.n, b.n AS other FROM a JOIN b ON a.fp <-> b.fp <= 1',
	'SELECT a.id, unnest(ARRAY[a.n, b.n]) FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1',
	'SELECT a.id, b.id AS other FROM a JOIN b ON a.fp <-> b.fp <= 1 ORDER BY 1, 2 LIMIT 20 OFFSET 10',
	'SELECT count(*) FROM (SELECT FROM a JOIN b ON a.fp <-> b.fp <= 1 LIMIT 20) s',
	'WITH s AS MATERIALIZED (SELECT * FROM a WHERE n > 2) SELECT x.id, y.id AS y FROM s x
		JOIN s y ON x.fp <-> y.fp <= 1',
	'WITH s AS (SELECT a.fp FROM a JOIN b ON a.fp <-> b.fp <= 1) SELECT c.id FROM c JOIN s ON c.fp <-> s.fp <= 0',
	'SELECT a.id FROM a JOIN (SELECT max(fp) AS fp FROM b GROUP BY n) s ON a.fp <-> s.fp <= 1',
	'SELECT a.id FROM a JOIN (SELECT fp FROM b UNION ALL SELECT fp FROM c UNION SELECT NULL) s ON a.fp <-> s.fp <= 1',
	'SELECT a.id, v.i FROM a JOIN (VALUES (1, simhash(''text 1'')), (2, NULL)) v (i, fp) ON a.fp <-> v.fp <= 1',
	'SELECT a.id, f.fp FROM a LEFT JOIN unnest(ARRAY(SELECT fp FROM b)) f (fp) ON a.fp <-> f.fp <= 1']) query;
\set ECHO queries
SELECT (SELECT string_agg(line, E'\n') FROM join_plan(query) line) AS plan FROM unnest(ARRAY[
	'SELECT a.id, s.v FROM a LEFT JOIN (SELECT *, coalesce(n, -1) AS v FROM b) s ON a.fp <-> s.fp <= 1
		WHERE s.v IS NULL',
	'SELECT FROM near WHERE other IS NULL OR distance > 0']) query;

-- again and again: k, or a side, depends on an outer row, or neither does
SET enable_material = off;
\set ECHO none
SELECT joins(query), joins_128(query), query FROM unnest(ARRAY[
	'SELECT k, (SELECT count(*) FROM a JOIN b ON a.fp <-> b.fp <= k) FROM generate_series(-1, 4) k',
	'SELECT k, (SELECT count(*) FROM a LEFT JOIN b ON a.fp <-> b.fp <= k AND a.id < k * 20)
		FROM generate_series(-1, 4) k',
	'SELECT k, (SELECT count(*) FROM a WHERE NOT EXISTS (SELECT FROM b
		WHERE a.fp <-> b.fp <= k)) FROM unnest(''{3,NULL,-1,0,64}''::int[]) k',
	'SELECT k, (SELECT count(*) FROM a WHERE EXISTS (SELECT FROM b
		WHERE a.fp <-> b.fp <= k)) FROM unnest(''{3,NULL,-1,0,64}''::int[]) k',
	'SELECT k, s.* FROM generate_series(0, 4) k, LATERAL (SELECT a.id, b.id AS other FROM a JOIN b ON a.fp <-> b.fp <= k
		WHERE a.id > k * 20 ORDER BY 1, 2 LIMIT 150) s',
	'SELECT k, s.* FROM generate_series(0, 4) k, LATERAL (SELECT a.id, b.id AS other FROM a
		LEFT JOIN b ON a.fp <-> b.fp <= 1
		AND b.id > k * 20 OFFSET 0) s',
	'SELECT k, s.* FROM generate_series(0, 4) k LEFT JOIN LATERAL (SELECT a.id, b.id AS other, k * b.n FROM a JOIN b
		ON a.fp <-> b.fp <= 1 OFFSET 0) s ON s.id % 5 = k',
	'SELECT k, s.* FROM generate_series(0, 4) k LEFT JOIN (SELECT a.id, b.id AS other FROM a LEFT JOIN b
		ON a.fp <-> b.fp <= 1 OFFSET 0) s ON s.id % 5 = k',
	'SELECT k, s.* FROM generate_series(0, 4) k LEFT JOIN (SELECT a.id FROM a WHERE NOT EXISTS (SELECT FROM b
		WHERE a.fp <-> b.fp <= 1) OFFSET 0) s ON s.id % 5 = k',
	'SELECT a.id, s.* FROM a, LATERAL (SELECT b.id AS other, a.n AS k FROM b WHERE a.fp <-> b.fp <= 1) s']) query;
\set ECHO queries
SELECT joins('SELECT k, (SELECT count(*) FROM a FULL JOIN b ON a.fp <-> b.fp <= k) FROM generate_series(-1, 4) k', NULL,
	'SELECT k, (SELECT count(*) FROM a LEFT JOIN b ON a.fp <-> b.fp <= k) + (SELECT count(*) FROM b
		WHERE NOT EXISTS (SELECT FROM a WHERE a.fp <-> b.fp <= k)) FROM generate_series(-1, 4) k');
RESET enable_material;

-- an expression is all that the query has of the nullable side; a subplan in a
-- clause; an inner column, known to be equal to an outer one, is what the semi join
-- below gives to a join above
SET enable_nestloop = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET join_collapse_limit = 1;
SET from_collapse_limit = 1;
SELECT b.id + 1 AS id FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1 ORDER BY 1 LIMIT 1;
SELECT count(*) > 0 AS is_explained
FROM join_plan('SELECT a.id FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1 AND a.id IN (SELECT c.id FROM c WHERE c.n = b.n)');
SELECT count(*) FROM (SELECT * FROM a WHERE EXISTS (SELECT FROM b WHERE b.n = a.n AND a.fp <-> b.fp <= 3)) a
JOIN c ON a.n = c.n;
SET simhash.enable_hammingjoin = off;
SELECT count(*) FROM (SELECT * FROM a WHERE EXISTS (SELECT FROM b WHERE b.n = a.n AND a.fp <-> b.fp <= 3)) a
JOIN c ON a.n = c.n;
RESET simhash.enable_hammingjoin;
RESET enable_nestloop;
RESET enable_hashjoin;
RESET enable_mergejoin;
RESET join_collapse_limit;
RESET from_collapse_limit;

-- of fingerprints of both types a join takes one, and it matters not which
CREATE TABLE two AS SELECT id, a.fp, b.fp AS fp_128 FROM a JOIN bits_128.a b USING (id);
SELECT joins('SELECT x.id, y.id AS other FROM two x JOIN two y ON ' || form) FROM unnest(ARRAY[
	'x.fp <-> y.fp <= 9 AND x.fp_128 <-> y.fp_128 <= 0', 'x.fp_128 <-> y.fp_128 <= 9 AND x.fp <-> y.fp <= 0',
	'x.fp <-> y.fp <= 1 AND y.fp_128 % x.fp_128']) form;
SELECT split_part(error_of('SELECT FROM two x JOIN two y ON ' || form), ' / ', 1) AS error_of
	FROM unnest(ARRAY['x.fp <-> y.fp_128 <= 3',
	'x.fp % y.fp_128', 'x.fp_128 <@ hamming_ball(y.fp, 3)', 'x.fp <@ hamming_ball_128(y.fp_128, 3)',
	'simhash_within(x.fp, y.fp_128, 3)']) form;

DROP VIEW near;
DROP TABLE ascending_bits, two;
DROP FUNCTION ball_of(simhash64), ball_of(simhash128), volatile_k;
\set ECHO none
\set drop :directory '/sql/include/join_drop.sql'
\i :drop
