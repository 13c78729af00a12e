-- The join method HammingJoin gives what nested loops give.

-- How many rows a query has, and a hash of them; of a statement before it nothing
-- stays.
CREATE FUNCTION result_of(query text, statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text;
BEGIN
	IF statement IS NOT NULL THEN EXECUTE statement; END IF;
	EXECUTE format('SELECT (count(*), sum(hash_record_extended(r, 0)))::text FROM (%s) r', query)
		INTO result;
	RAISE USING ERRCODE = 'ZZZZZ', MESSAGE = result;
EXCEPTION WHEN SQLSTATE 'ZZZZZ' THEN
	RETURN SQLERRM;
END $$;
CREATE FUNCTION result_by_join(query text, statement text) RETURNS text LANGUAGE sql
SET simhash.enable_hammingjoin = on SET enable_nestloop = off SET enable_hashjoin = off
SET enable_mergejoin = off AS 'SELECT result_of(query, statement)';
CREATE FUNCTION result_by_loop(query text, statement text) RETURNS text LANGUAGE sql
SET simhash.enable_hammingjoin = off AS 'SELECT result_of(query, statement)';

-- What a plan says of the joins by our method.
CREATE FUNCTION join_plan(query text) RETURNS SETOF text LANGUAGE sql
SET simhash.enable_hammingjoin = on SET enable_nestloop = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
	SELECT plan_lines(query, 'HammingJoin|Join Type|Hamming Cond|Filter|Scan on|Nested|Subquery')
$$;

-- How many rows a query has, by the join; or a table after a statement.  Another
-- query may give what is expected.
CREATE FUNCTION joins(query text, statement text DEFAULT NULL, expected text DEFAULT NULL)
RETURNS text LANGUAGE plpgsql SET jit = off AS $$
DECLARE
	by_join text := result_by_join(query, statement);
	by_loop text := result_by_loop(coalesce(expected, query), statement);
BEGIN
	IF by_join IS DISTINCT FROM by_loop THEN
		RETURN format('%s, but %s EXPECTED', by_join, by_loop);
	END IF;
	RETURN substring(by_join, '\d+') || CASE
		WHEN EXISTS (SELECT FROM join_plan(coalesce(statement, query)) line WHERE line ~ 'HammingJoin')
		THEN ' rows' ELSE ' rows BY ANOTHER JOIN' END;
END $$;

-- The same, whatever the plan is: another version of PostgreSQL may choose another.
CREATE FUNCTION same_result(query text) RETURNS boolean LANGUAGE sql SET jit = off AS
	'SELECT result_by_join(query, NULL) = result_by_loop(query, NULL)';

-- All types of joins of two queries for (id, fp).  Only their columns that are
-- named come out of the join: all, those of one side, or none.
CREATE FUNCTION check_joins(x text, y text, ks int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	k int;
	expected text;
	query text;
	result text;
	results int := 0;
	wrong int := 0;
BEGIN
	EXECUTE 'CREATE TEMP TABLE x ON COMMIT DROP AS ' || x;
	EXECUTE 'CREATE TEMP TABLE y ON COMMIT DROP AS ' || y;
	FOREACH k IN ARRAY ks LOOP
		FOR query, expected IN
			SELECT replace(q, '%s', k::text), replace(e, '%s', k::text) FROM (VALUES
				('SELECT x.*, y.id AS other, y.fp AS near FROM x JOIN y ON x.fp <-> y.fp <= %s', NULL),
				('SELECT y.id FROM x JOIN y ON y.fp <-> x.fp <= %s', NULL),
				('SELECT FROM x JOIN y ON x.fp <-> y.fp <= %s', NULL),
				('SELECT x.id, y.id AS other FROM x JOIN y ON x.fp <-> y.fp <= %s AND x.id < y.id', NULL),
				('SELECT x.*, y.id AS other, y.fp AS near FROM x LEFT JOIN y ON x.fp <-> y.fp <= %s', NULL),
				('SELECT x.*, y.id AS other FROM x LEFT JOIN y ON x.fp <-> y.fp <= %s AND (x.id + y.id) % 3 = 0', NULL),
				('SELECT x.*, y.id AS other, y.fp AS near FROM x RIGHT JOIN y ON x.fp <-> y.fp <= %s', NULL),
				('SELECT x.*, y.id AS other FROM x FULL JOIN y ON x.fp <-> y.fp <= %s AND (x.id + y.id) % 3 > 0',
				'SELECT x.*, y.id AS other FROM x LEFT JOIN y ON x.fp <-> y.fp <= %s AND (x.id + y.id) % 3 > 0
					UNION ALL SELECT NULL, NULL, y.id FROM y WHERE NOT EXISTS (SELECT FROM x
						WHERE x.fp <-> y.fp <= %s AND (x.id + y.id) % 3 > 0)'),
				('SELECT x.* FROM x WHERE EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s)', NULL),
				('SELECT x.id FROM x WHERE EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s AND x.id <> y.id)', NULL),
				('SELECT x.* FROM x WHERE NOT EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s)', NULL),
				('SELECT x.* FROM x WHERE NOT EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s
					AND (x.id + y.id) % 3 = 0)', NULL),
				('SELECT x.* FROM x LEFT JOIN y ON x.fp <-> y.fp <= %s WHERE y.id IS NULL', NULL)) v (q, e)
		LOOP
			result := joins(query, NULL, expected);
			results := results + 1;
			IF result !~ 'rows$' THEN
				wrong := wrong + 1;
				RAISE NOTICE '%: %', query, result;
			END IF;
		END LOOP;
	END LOOP;
	DROP TABLE x, y;
	RETURN format('%s joins, %s wrong', results, wrong);
END $$;

CALL make_tables(100);
-- each with itself, and with rows of which few, or none, are near
SELECT tab, check_joins('TABLE ' || tab, format('SELECT id + 3 AS id, fp FROM %s
	WHERE id %% 4 > 0', tab), '{3}') FROM tables;
SELECT tab, check_joins('TABLE ' || tab, 'TABLE uniform', '{7}')
FROM tables WHERE tab IN ('skewed', 'ascending', 'extremes');
SELECT check_joins('TABLE half_bits', 'TABLE skewed', '{-1,0,20,64,1000}');
SELECT shape, way, check_joins(wide, format('SELECT id + 3 AS id, fp FROM (%s) s WHERE id %% 4 > 0', wide), '{3,16,70}')
FROM shapes, widened(source || ' LIMIT 60') WHERE shape IN ('skewed', 'balls', 'empty');
SELECT check_joins('TABLE empty', 'TABLE only_null', '{64}'),
	check_joins('TABLE uniform', 'TABLE empty', '{64}'),
	check_joins('TABLE only_null', 'TABLE uniform', '{64}');

-- near-duplicates, some NULLs, and other columns
CREATE TABLE a AS
SELECT id, nullif(id % 7, 0) AS n, 'text ' || id / 3 AS body,
	CASE WHEN id % 10 > 0 THEN (simhash('text ' || id / 3)::bigint # (1 << id % 3 >> 1))::simhash64 END AS fp
FROM generate_series(1, 120) id;
CREATE TABLE b AS SELECT id + 30 AS id, n, body, fp FROM a WHERE id % 4 > 0;
CREATE TABLE c AS SELECT id + 60 AS id, n, body, fp FROM a WHERE id % 3 > 0;
ANALYZE a, b, c;
-- the same of 128 bits, as far apart, and what a query of a, b and c gives there
CREATE SCHEMA bits_128;
CREATE TABLE bits_128.a AS SELECT id, n, body, widen(fp, 'spread') AS fp FROM a;
CREATE TABLE bits_128.b AS SELECT id, n, body, widen(fp, 'spread') AS fp FROM b;
CREATE TABLE bits_128.c AS SELECT id, n, body, widen(fp, 'spread') AS fp FROM c;
ANALYZE bits_128.a, bits_128.b, bits_128.c;
CREATE FUNCTION query_128(query text) RETURNS text LANGUAGE sql AS $$
	SELECT replace(replace(replace(query, 'hamming_ball(', 'hamming_ball_128('),
		'''0000000000000000''', 'widen(''0000000000000000'', ''spread'')'),
		'(a.fp::bigint # 1)::simhash64', '(a.fp::bit(128) # 1::bit(128))::simhash128')
$$;
CREATE FUNCTION joins_128(query text) RETURNS text LANGUAGE sql SET search_path = bits_128, public AS
	'SELECT joins(query_128(query))';

-- The plans.  Neither side has an index.
SELECT query, (SELECT string_agg(line, E'\n') FROM join_plan(query) line) AS plan FROM unnest(ARRAY[
	'SELECT * FROM a JOIN b ON a.fp <-> b.fp <= 3 AND a.id < b.id',
	'SELECT * FROM a LEFT JOIN b ON a.fp <-> b.fp <= 3 WHERE a.n = 1 AND b.n IS NULL',
	'SELECT * FROM a FULL JOIN b ON a.fp <-> b.fp <= 3 AND a.n = b.n',
	'SELECT * FROM a WHERE EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= 3 AND a.id <> b.id)',
	'SELECT * FROM a WHERE NOT EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= 3)',
	'SELECT a.* FROM a LEFT JOIN b ON a.fp <-> b.fp <= 3 WHERE b.fp IS NULL']) query;
SELECT join_plan('SELECT * FROM bits_128.a a JOIN bits_128.b b ON a.fp <-> b.fp <= 3 AND a.id < b.id');
-- and without force
SELECT plan_lines('SELECT * FROM uniform a JOIN uniform b ON a.fp <-> b.fp <= 3', 'Join');
SET simhash.enable_hammingjoin = off;
SELECT plan_lines('SELECT * FROM uniform a JOIN uniform b ON a.fp <-> b.fp <= 3', 'Join');
SELECT plan_lines('SELECT * FROM a FULL JOIN b ON a.fp <-> b.fp <= 3', 'Join');
RESET simhash.enable_hammingjoin;

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
SELECT form, joins('SELECT a.id, b.id AS other FROM a JOIN b ON ' || form),
	joins_128('SELECT a.id, b.id AS other FROM a JOIN b ON ' || form)
FROM unnest(ARRAY['a.fp <-> b.fp <= a.n', 'a.fp <-> b.fp <= b.id', 'a.fp <-># b.fp <= 3',
	'a.fp <-> b.fp > 3', 'a.fp <-> b.fp = 0', 'a.fp <-> a.fp <= 3', 'NOT a.fp <-> b.fp <= 3',
	'a.fp <-> b.fp <= 1 OR a.id = b.id', '(a.fp <-> b.fp <= 1) IS NOT TRUE',
	'a.fp <-> b.fp <= volatile_k()']) form;

-- other conditions: of the join, of its result, of one side, of none; some of
-- them are volatile, or never true
CREATE FUNCTION volatile_true() RETURNS boolean LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN true; END';
SELECT form, joins('SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1 ' || form),
	joins('SELECT a.id, b.id AS other FROM a JOIN b ON a.fp <-> b.fp <= 1 ' || form)
FROM unnest(ARRAY['AND a.n = b.n', 'AND a.n = 3', 'AND b.n = 3', 'AND b.n IS NULL', 'AND a.fp = b.fp',
	'AND (a.n IS NULL OR b.id > 70)', 'AND volatile_true()', 'AND volatile_true() AND a.id < b.id',
	'WHERE b.n IS NULL', 'WHERE b.id IS NOT NULL AND b.n IS NULL', 'WHERE a.n = coalesce(b.n, 3)',
	'WHERE a.n IS DISTINCT FROM b.n', 'WHERE b.fp IS NULL OR a.id = 31', 'WHERE a.id = 31',
	'WHERE a.id > ALL (SELECT n FROM c WHERE n > 0)', 'WHERE volatile_true()',
	'WHERE coalesce(b.fp, a.fp) <-> a.fp <= 0']) form;
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
-- without one the error of a full join says so, but not that of a join without a distance
CREATE FUNCTION full_join(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	RETURN result_of(format('SELECT a.id, b.id AS other FROM a FULL JOIN b ON %s
		WHERE current_setting(''work_mem'') = ''x''', condition), NULL);
EXCEPTION WHEN feature_not_supported THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN hint;
END $$;
SELECT full_join(condition) LIKE CASE
		WHEN current_setting('server_version_num')::int < 170000 THEN '%Put the join into a subquery with OFFSET 0%'
		ELSE '(0,)' END AS expected
FROM unnest(ARRAY['a.fp <-> b.fp <= 1', 'b.fp % a.fp AND a.n <> b.n',
	'md5(a.id::text)::uuid::simhash128 <-> md5(b.id::text)::uuid::simhash128 < 2']) condition;
SELECT full_join('a.n < b.n') AS hint;
DROP FUNCTION full_join;

-- types of joins, one in another
SELECT joins(query), joins_128(query), query FROM unnest(ARRAY[
	'SELECT a.id, b.id AS b, c.id AS c FROM a JOIN b ON a.fp <-> b.fp <= 1 JOIN c ON b.fp <-> c.fp <= 1',
	'SELECT a.id, b.id AS b, c.id AS c FROM a JOIN b ON a.fp % b.fp JOIN c ON b.fp % c.fp AND c.fp % a.fp',
	'SELECT a.id, b.id AS b, c.id AS c FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1 LEFT JOIN c ON b.fp <-> c.fp <= 1',
	'SELECT a.id, b.id AS b, c.id AS c FROM a LEFT JOIN (b JOIN c ON b.fp <-> c.fp <= 1) ON a.fp <-> b.fp <= 1',
	'SELECT a.id, b.id AS b, c.id AS c FROM a LEFT JOIN (b LEFT JOIN c ON b.n = c.n) ON a.fp <-> c.fp <= 0',
	'SELECT a.id, b.id AS b, c.id AS c FROM (a LEFT JOIN b ON a.id = b.id) LEFT JOIN c ON coalesce(b.fp, a.fp) <-> c.fp <= 1',
	'SELECT a.id, b.id AS b, c.id AS c FROM (a LEFT JOIN b ON a.id = b.id) LEFT JOIN c ON b.fp <-> c.fp <= 1 WHERE c.id IS NULL',
	'SELECT a.id, b.id AS b, c.id AS c FROM a RIGHT JOIN b ON a.fp <-> b.fp <= 1 RIGHT JOIN c ON a.fp <-> c.fp <= 1',
	'SELECT a.id, b.id AS b, c.id AS c FROM (a FULL JOIN b ON a.id = b.id) JOIN c ON b.fp <-> c.fp <= 1 OR a.fp IS NULL
		JOIN a d ON a.fp <-> d.fp <= 0',
	'SELECT a.id, b.id AS b, c.id AS c FROM (a FULL JOIN b ON a.id = b.id) LEFT JOIN c ON a.fp <-> c.fp <= 1',
	'SELECT a.id, c.id AS c FROM a LEFT JOIN c ON a.fp <-> c.fp <= 1 WHERE EXISTS (SELECT FROM b WHERE b.fp <-> c.fp <= 1)',
	'SELECT a.id FROM a WHERE EXISTS (SELECT FROM b WHERE b.fp <-> a.fp <= 1 AND NOT EXISTS
		(SELECT FROM c WHERE b.fp <-> c.fp <= 0))',
	'SELECT a.id FROM a WHERE EXISTS (SELECT FROM b JOIN c ON b.n = c.n WHERE b.fp <-> a.fp <= 1 AND a.id < c.id)',
	'SELECT a.id FROM a WHERE EXISTS (SELECT FROM b LEFT JOIN c ON b.n = c.n AND c.id < 80 WHERE c.fp <-> a.fp <= 1)',
	'SELECT a.id FROM a WHERE NOT EXISTS (SELECT FROM b JOIN c ON b.fp <-> c.fp <= 1 WHERE b.fp <-> a.fp <= 1)',
	'SELECT a.id FROM a WHERE id NOT IN (SELECT b.id FROM b JOIN c ON b.fp <-> c.fp <= 1)',
	'SELECT a.id, EXISTS (SELECT FROM b JOIN c ON b.fp <-> c.fp <= 1 AND b.id = a.id) FROM a',
	'SELECT a.id, b.id AS b FROM a CROSS JOIN b WHERE a.fp <-> b.fp <= 1 AND b.fp <-> (SELECT fp FROM c WHERE id = 65) <= 30',
	'SELECT a.id, x.id AS x, y.id AS y FROM a JOIN a x ON a.fp <-> x.fp <= 1 LEFT JOIN a y ON x.fp <-> y.fp <= 0 AND x.id <> y.id'])
	query;
SELECT same_result('SELECT a.id FROM a WHERE n IN (SELECT n FROM b WHERE a.fp <-> b.fp <= 1)'),
	same_result('SELECT a.id FROM a WHERE n NOT IN (SELECT n FROM b WHERE a.fp <-> b.fp <= 1)');

-- columns of every kind: computed on the nullable side, whole rows, of the system
CREATE VIEW near AS SELECT a.id, b.id AS other, a AS a_row, b AS b_row, a.fp <-> b.fp AS distance
FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1;
SELECT joins(query), query FROM unnest(ARRAY[
	'SELECT a.id, s.v FROM a LEFT JOIN (SELECT *, coalesce(n, -1) AS v FROM b) s ON a.fp <-> s.fp <= 1',
	'SELECT a.id, s.v FROM a LEFT JOIN (SELECT coalesce(fp, ''0000000000000000'') AS fp, 1 AS v FROM b) s ON a.fp <-> s.fp <= 1',
	'SELECT a.id, s.v FROM a LEFT JOIN (SELECT coalesce(b.fp, c.fp) AS fp, coalesce(b.id, 7) AS v FROM b LEFT JOIN c
		ON b.id = c.id) s ON a.fp <-> s.fp <= 1 WHERE s.v IS NULL OR s.v > 9',
	'SELECT s.id, s.v, c.id AS c FROM (SELECT a.id, coalesce(b.n, -1) AS v, b.fp FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1) s
		LEFT JOIN c ON s.fp <-> c.fp <= 1',
	'SELECT s.id, s.v, c.id AS c FROM c LEFT JOIN (SELECT a.id, coalesce(b.n, -1) AS v, a.fp FROM a LEFT JOIN b
		ON a.fp <-> b.fp <= 1) s ON s.fp <-> c.fp <= 1',
	'SELECT s.v, count(*) FROM (SELECT coalesce(a.id, b.id) % 10 AS v FROM a FULL JOIN b ON a.fp <-> b.fp <= 1) s GROUP BY 1',
	'SELECT a, b FROM a JOIN b ON a.fp <-> b.fp <= 1', 'SELECT a, b FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1 AND b IS NOT NULL',
	'SELECT a.ctid, b.ctid AS other, a.tableoid, b.tableoid AS others, a.id FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1',
	'SELECT a.id FROM a JOIN b ON a.fp <-> b.fp <= 1 AND a.ctid <> b.ctid', 'SELECT * FROM near',
	'SELECT id, count(other), max(distance) FROM near GROUP BY id HAVING count(other) > 1',
	'SELECT x.id, y.id AS y FROM near x JOIN near y ON (x.a_row).fp <-> (y.b_row).fp <= 0',
	'SELECT 1 FROM a JOIN b ON a.fp <-> b.fp <= 1', 'SELECT a.id + b.id, a.body || b.body FROM a JOIN b ON a.fp <-> b.fp <= 1',
	'SELECT row_number() OVER (ORDER BY a.id, b.id), a.id FROM a JOIN b ON a.fp <-> b.fp <= 1',
	'SELECT DISTINCT a.n, b.n AS other FROM a JOIN b ON a.fp <-> b.fp <= 1',
	'SELECT a.id, unnest(ARRAY[a.n, b.n]) FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1',
	'SELECT a.id, b.id AS other FROM a JOIN b ON a.fp <-> b.fp <= 1 ORDER BY 1, 2 LIMIT 20 OFFSET 10',
	'SELECT count(*) FROM (SELECT FROM a JOIN b ON a.fp <-> b.fp <= 1 LIMIT 20) s',
	'WITH s AS MATERIALIZED (SELECT * FROM a WHERE n > 2) SELECT x.id, y.id AS y FROM s x JOIN s y ON x.fp <-> y.fp <= 1',
	'WITH s AS (SELECT a.fp FROM a JOIN b ON a.fp <-> b.fp <= 1) SELECT c.id FROM c JOIN s ON c.fp <-> s.fp <= 0',
	'SELECT a.id FROM a JOIN (SELECT max(fp) AS fp FROM b GROUP BY n) s ON a.fp <-> s.fp <= 1',
	'SELECT a.id FROM a JOIN (SELECT fp FROM b UNION ALL SELECT fp FROM c UNION SELECT NULL) s ON a.fp <-> s.fp <= 1',
	'SELECT a.id, v.i FROM a JOIN (VALUES (1, simhash(''text 1'')), (2, NULL)) v (i, fp) ON a.fp <-> v.fp <= 1',
	'SELECT a.id, f.fp FROM a LEFT JOIN unnest(ARRAY(SELECT fp FROM b)) f (fp) ON a.fp <-> f.fp <= 1']) query;
SELECT (SELECT string_agg(line, E'\n') FROM join_plan(query) line) AS plan FROM unnest(ARRAY[
	'SELECT a.id, s.v FROM a LEFT JOIN (SELECT *, coalesce(n, -1) AS v FROM b) s ON a.fp <-> s.fp <= 1 WHERE s.v IS NULL',
	'SELECT FROM near WHERE other IS NULL OR distance > 0']) query;

-- again and again: k, or a side, depends on an outer row, or neither does
SET enable_material = off;
SELECT joins(query), joins_128(query), query FROM unnest(ARRAY[
	'SELECT k, (SELECT count(*) FROM a JOIN b ON a.fp <-> b.fp <= k) FROM generate_series(-1, 4) k',
	'SELECT k, (SELECT count(*) FROM a LEFT JOIN b ON a.fp <-> b.fp <= k AND a.id < k * 20) FROM generate_series(-1, 4) k',
	'SELECT k, (SELECT count(*) FROM a WHERE NOT EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= k)) FROM unnest(''{3,NULL,-1,0,64}''::int[]) k',
	'SELECT k, (SELECT count(*) FROM a WHERE EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= k)) FROM unnest(''{3,NULL,-1,0,64}''::int[]) k',
	'SELECT k, s.* FROM generate_series(0, 4) k, LATERAL (SELECT a.id, b.id AS other FROM a JOIN b ON a.fp <-> b.fp <= k
		WHERE a.id > k * 20 ORDER BY 1, 2 LIMIT 150) s',
	'SELECT k, s.* FROM generate_series(0, 4) k, LATERAL (SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1
		AND b.id > k * 20 OFFSET 0) s',
	'SELECT k, s.* FROM generate_series(0, 4) k LEFT JOIN LATERAL (SELECT a.id, b.id AS other, k * b.n FROM a JOIN b
		ON a.fp <-> b.fp <= 1 OFFSET 0) s ON s.id % 5 = k',
	'SELECT k, s.* FROM generate_series(0, 4) k LEFT JOIN (SELECT a.id, b.id AS other FROM a LEFT JOIN b
		ON a.fp <-> b.fp <= 1 OFFSET 0) s ON s.id % 5 = k',
	'SELECT k, s.* FROM generate_series(0, 4) k LEFT JOIN (SELECT a.id FROM a WHERE NOT EXISTS (SELECT FROM b
		WHERE a.fp <-> b.fp <= 1) OFFSET 0) s ON s.id % 5 = k',
	'SELECT a.id, s.* FROM a, LATERAL (SELECT b.id AS other, a.n AS k FROM b WHERE a.fp <-> b.fp <= 1) s']) query;
SELECT joins('SELECT k, (SELECT count(*) FROM a FULL JOIN b ON a.fp <-> b.fp <= k) FROM generate_series(-1, 4) k', NULL,
	'SELECT k, (SELECT count(*) FROM a LEFT JOIN b ON a.fp <-> b.fp <= k) + (SELECT count(*) FROM b
		WHERE NOT EXISTS (SELECT FROM a WHERE a.fp <-> b.fp <= k)) FROM generate_series(-1, 4) k');
RESET enable_material;

-- parameters, in a plan for all values
SET plan_cache_mode = force_generic_plan;
SET enable_nestloop = off;
PREPARE near_pairs(int, int) AS SELECT count(*) FROM a JOIN b ON a.fp <-> b.fp <= $1 AND $2 > 0;
PREPARE near_left(int) AS SELECT * FROM a LEFT JOIN b ON a.fp <-> b.fp <= $1;
EXPLAIN (COSTS OFF) EXECUTE near_left(1);
EXECUTE near_pairs(1, 1);
EXECUTE near_pairs(0, 1);
EXECUTE near_pairs(1, 0);
EXECUTE near_pairs(NULL, 1);
EXECUTE near_pairs(-1, 1);
EXECUTE near_pairs(1000, 1);
CREATE FUNCTION near_rows(k int, OUT inner_rows bigint, OUT left_rows bigint, OUT semi_rows bigint,
	OUT anti_rows bigint) LANGUAGE plpgsql AS $$
BEGIN
	inner_rows := (SELECT count(*) FROM a JOIN b ON a.fp <-> b.fp <= k);
	left_rows := (SELECT count(*) FROM a LEFT JOIN b ON a.fp <@ hamming_ball(b.fp, k));
	semi_rows := (SELECT count(*) FROM a WHERE EXISTS (SELECT FROM b WHERE a.fp <-> b.fp < k + 1));
	anti_rows := (SELECT count(*) FROM a WHERE NOT EXISTS (SELECT FROM b WHERE simhash_within(a.fp, b.fp, k)));
END $$;
SELECT k, r.*, (inner_rows, semi_rows, anti_rows) = (pairs, near, far) AS as_counted
FROM unnest('{0,1,NULL,-5,20,64,100}'::int[]) k, near_rows(k) r, LATERAL (
	SELECT sum(n)::bigint, count(*) FILTER (WHERE n > 0), count(*) FILTER (WHERE n = 0)
	FROM (SELECT count(*) FILTER (WHERE a.fp <-># b.fp <= k) AS n FROM a, b GROUP BY a.id) s) c (pairs, near, far);
RESET enable_nestloop;
RESET plan_cache_mode;
DEALLOCATE ALL;

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
	('a', 'MERGE INTO a USING (SELECT DISTINCT ON (body) * FROM b ORDER BY body, id) b ON a.fp <-> b.fp <= 0 AND a.id % 3 = 0
		WHEN MATCHED AND a.n > 3 THEN DELETE WHEN MATCHED THEN UPDATE SET n = b.id
		WHEN NOT MATCHED THEN INSERT VALUES (b.id, b.n, b.body, b.fp)'),
	('log', 'WITH d AS (DELETE FROM a USING b WHERE a.fp <-> b.fp <= 1 RETURNING a.id) INSERT INTO log SELECT id FROM d'),
	('log', 'WITH u AS (UPDATE a SET n = 1 RETURNING fp) INSERT INTO log SELECT u.fp <-> b.fp, b.id FROM u JOIN b
		ON u.fp <-> b.fp <= 1')) v (tab, statement);
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
		'SELECT a.id, s.* FROM pa a LEFT JOIN LATERAL (SELECT b.n, c.id AS other, least(a.id, b.id) AS v FROM pb b JOIN pa c
			ON b.n = c.n AND b.fp <-> c.fp <= 1) s ON a.n = s.n AND a.id > s.other']) query
	UNION ALL SELECT joins('SELECT * FROM pa', statement) FROM unnest(ARRAY[
		'DELETE FROM pa USING pb b WHERE pa.n = b.n AND pa.fp <-> b.fp <= 1',
		'DELETE FROM pa WHERE id IN (SELECT a.id FROM pa a JOIN pb b ON a.n = b.n AND a.fp <-> b.fp <= 1)',
		'UPDATE pa SET n = 1 FROM b WHERE pa.fp <-> b.fp <= 1']) statement
$$;
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

-- processes: each has all rows of one side, and its part of the other one
SELECT set_config(CASE WHEN current_setting('server_version_num')::int < 160000
	THEN 'force_parallel_mode' ELSE 'debug_parallel_query' END, 'on', false);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT joins(query), (SELECT string_agg(line, E'\n') FROM plan_lines(query, 'Gather|Parallel|Join Type') line) AS plan
FROM unnest(ARRAY[
	'SELECT a.id, b.id AS other FROM a JOIN b ON a.fp <-> b.fp <= 1 AND a.id <> b.id',
	'SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1',
	'SELECT a.id FROM a WHERE EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= 1)',
	'SELECT a.id FROM a WHERE NOT EXISTS (SELECT FROM b WHERE a.fp <-> b.fp <= 1)',
	'SELECT a.id, b.id AS other FROM a JOIN b ON a.fp <-> b.fp <= (SELECT max(i) FROM generate_series(0, 1) i)']) query;
SELECT joins('SELECT a.n, count(*) FROM a JOIN b ON a.fp <-> b.fp <= 1 JOIN c ON b.fp <-> c.fp <= 1 GROUP BY 1');
SELECT joins('SELECT a.id, b.id AS other FROM a FULL JOIN b ON a.fp <-> b.fp <= 1 AND a.n = b.n', NULL,
	'SELECT a.id, b.id AS other FROM a LEFT JOIN b ON a.fp <-> b.fp <= 1 AND a.n = b.n UNION ALL
		SELECT NULL, id FROM b WHERE NOT EXISTS (SELECT FROM a WHERE a.fp <-> b.fp <= 1 AND a.n = b.n)');
SELECT check_joins('TABLE skewed', 'TABLE half_bits', '{30}');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
SELECT set_config(CASE WHEN current_setting('server_version_num')::int < 160000
	THEN 'force_parallel_mode' ELSE 'debug_parallel_query' END, 'off', false);

-- More rows than fit into memory: tuples go to files, or fingerprints, too.  Some
-- rows are wide, and many have the same fingerprint.
CREATE TABLE large AS
SELECT id, (hashint8extended(id % 400, 1) # CASE WHEN id > 400 THEN bits(id, 1 + id % 2 * 16, id % 5) ELSE 0 END)::simhash64 AS fp,
	CASE WHEN id % 3 = 0 THEN repeat(md5(id::text), id % 20) END AS body
FROM generate_series(1, 800) id;
INSERT INTO large SELECT id, CASE WHEN id % 100 > 0 THEN '0123456789abcdef'::simhash64 END, 'equal'
FROM generate_series(2001, 2300) id;
CREATE TABLE wide (id int, fp simhash64, body text);
ALTER TABLE wide ALTER body SET STORAGE EXTERNAL;
INSERT INTO wide SELECT id, fp, repeat(md5(id::text), 60 + id % 40) FROM large WHERE id % 3 > 0;
INSERT INTO wide VALUES (-1, '0123456789abcdee', 'near'), (-2, NULL, NULL);
CREATE TABLE equal AS SELECT id, '0123456789abcdef'::simhash64 AS fp, '' AS body FROM generate_series(1, 2000) id;
ANALYZE large, wide, equal;
-- What the join has done, in all of its scans.
CREATE FUNCTION work_of(query text) RETURNS text LANGUAGE plpgsql SET enable_nestloop = off SET enable_hashjoin = off
SET enable_mergejoin = off AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) ' || query LOOP
		IF line ~ 'Passes' THEN
			RETURN concat_ws(', ', CASE substring(line, 'Passes: (\d+)') WHEN '0' THEN 'no pass'
				WHEN '1' THEN 'one pass' ELSE 'passes' END, CASE WHEN line ~ 'Disk Usage: [1-9]' THEN 'disk' END,
				CASE WHEN substring(line, 'Memory Usage: (\d+)')::int * 1024 > pg_size_bytes(current_setting('work_mem'))
					* current_setting('hash_mem_multiplier')::float * 1.1 THEN 'TOO MUCH MEMORY' END);
		END IF;
	END LOOP;
	RETURN 'another join';
END $$;
-- With little memory, what the join gives is what a nested loop gives; and with
-- more what it gives with little.
CREATE FUNCTION check_large() RETURNS TABLE (query text, result text, work text, with_memory boolean) LANGUAGE plpgsql AS $$
DECLARE
	with_little text;
BEGIN
	FOREACH query IN ARRAY ARRAY[
		'SELECT a.id, b.id AS other FROM large a JOIN large b ON a.fp <-> b.fp <= 3 AND a.id > b.id AND b.id < 2005',
		'SELECT a.*, b.id AS other, b.body AS text FROM large a LEFT JOIN wide b ON a.fp <-> b.fp <= 3 AND b.id % 60 = a.id % 60',
		'SELECT a.*, b FROM wide a JOIN large b ON a.fp <-> b.fp <= 3 AND b.id < 2010',
		'SELECT a.* FROM large a WHERE EXISTS (SELECT FROM wide b WHERE a.fp <-> b.fp <= 3)',
		'SELECT a.id FROM large a WHERE EXISTS (SELECT FROM large b WHERE a.fp <-> b.fp <= 3 AND a.id > b.id)',
		'SELECT a.* FROM wide a WHERE NOT EXISTS (SELECT FROM large b WHERE a.fp <-> b.fp <= 3 AND a.id <> b.id)',
		'SELECT a.id FROM large a WHERE NOT EXISTS (SELECT FROM wide b WHERE a.fp <-> b.fp <= 3)',
		'SELECT a.id FROM large a JOIN equal b ON a.fp <-> b.fp <= 3 AND b.id < 50',
		'SELECT a.id FROM equal a WHERE EXISTS (SELECT FROM equal b WHERE a.fp <-> b.fp <= 3 AND (a.id + b.id) % 5 = 0)',
		'SELECT a.id FROM equal a WHERE NOT EXISTS (SELECT FROM large b WHERE a.fp <-> b.fp <= 3 AND b.id % 2 <> a.id % 3)
			AND a.id < 700',
		'SELECT i, (SELECT count(*) FROM large a JOIN large b ON a.fp <-> b.fp <= i % 3 AND b.id < 2002 + i) FROM generate_series(4, 5) i'] LOOP
		SET LOCAL work_mem = '64kB';
		SET LOCAL hash_mem_multiplier = 1;
		result := joins(query);
		work := work_of(query);
		with_little := result_by_join(query, NULL);
		SET LOCAL work_mem = '64MB';
		with_memory := with_little = result_by_join(query, NULL);
		RETURN NEXT;
	END LOOP;
END $$;
SELECT * FROM check_large();
CREATE TABLE bits_128.large AS SELECT id, widen(fp, 'last') AS fp, body FROM large;
CREATE TABLE bits_128.wide AS SELECT id, widen(fp, 'last') AS fp, body FROM wide;
CREATE TABLE bits_128.equal AS SELECT id, widen(fp, 'last') AS fp, body FROM equal;
ANALYZE bits_128.large, bits_128.wide, bits_128.equal;
SET search_path = bits_128, public;
SELECT result, work, with_memory FROM check_large();
RESET search_path;
SET hash_mem_multiplier = 1;
SET work_mem = '64kB';
SELECT joins('SELECT a.id, b.id AS other FROM large a FULL JOIN wide b ON a.fp <-> b.fp <= 3 AND a.id = b.id', NULL,
	'SELECT a.id, b.id AS other FROM large a LEFT JOIN wide b ON a.fp <-> b.fp <= 3 AND a.id = b.id UNION ALL
		SELECT NULL, id FROM wide b WHERE NOT EXISTS (SELECT FROM large a WHERE a.fp <-> b.fp <= 3 AND a.id = b.id)');
SELECT joins('SELECT id, fp FROM large', statement) FROM unnest(ARRAY[
	'DELETE FROM large a WHERE EXISTS (SELECT FROM wide b WHERE a.fp <-> b.fp <= 3 AND a.id < b.id)',
	'UPDATE large a SET id = 0 FROM wide b WHERE a.fp <-> b.fp <= 3 AND a.id <> b.id AND b.id < 2100']) statement;
-- so many that they are divided, by each part of the fingerprints anew; a file that
-- is left open when a statement ends is a warning
CREATE TABLE many AS SELECT * FROM many_uniform(2800);
ANALYZE many;
SELECT joins(query), work_of(query) FROM unnest(ARRAY[
	'SELECT a.id, b.id AS other FROM many a JOIN many b ON a.fp <-> b.fp <= 5 AND a.id <> b.id',
	'SELECT a.id FROM many a WHERE NOT EXISTS (SELECT FROM many b WHERE a.fp <-> b.fp <= 5 AND a.id <> b.id)']) query;
SET enable_nestloop = off;
SELECT count(*) FROM (SELECT FROM many a JOIN many b ON a.fp <-> b.fp <= 5 LIMIT 1) s;
RESET enable_nestloop;
RESET work_mem;
RESET hash_mem_multiplier;
-- nothing to read, or nothing to pair
SELECT query, work_of(query) FROM unnest(ARRAY['SELECT FROM a JOIN b ON a.fp <-> b.fp <= -1',
	'SELECT FROM a JOIN empty b ON a.fp <-> b.fp <= 64', 'SELECT FROM a LEFT JOIN empty b ON a.fp <-> b.fp <= 64',
	'SELECT FROM a JOIN only_null b ON a.fp <-> b.fp <= 64']) query;
-- k is computed where both sides have rows
SELECT joins(format(query, x, y), NULL, format(replace(query, 'FULL', kind), x, y)), format(query, x, y) AS query
FROM (VALUES ('a', 'empty', 'LEFT'), ('empty', 'a', 'RIGHT'), ('empty', 'empty', 'LEFT')) v (x, y, kind), unnest(ARRAY[
	'SELECT x.id, y.id AS other FROM %s x JOIN %s y ON x.fp <-> y.fp <= 1 / (SELECT count(*) FROM empty)',
	'SELECT x.id, y.id AS other FROM %s x LEFT JOIN %s y ON x.fp <-> y.fp <= 1 / (SELECT count(*) FROM empty)',
	'SELECT x.id, y.id AS other FROM %s x FULL JOIN %s y ON x.fp <-> y.fp <= 1 / (SELECT count(*) FROM empty)',
	'SELECT x.id FROM %s x WHERE EXISTS (SELECT FROM %s y WHERE x.fp <-> y.fp <= 1 / (SELECT count(*) FROM empty))',
	'SELECT x.id FROM %s x WHERE NOT EXISTS (SELECT FROM %s y WHERE x.fp <-> y.fp <= 1 / (SELECT count(*) FROM empty))'])
	query;
SELECT joins('SELECT i, (SELECT sum(x.id + y.id) FROM (SELECT * FROM a WHERE id < i * 30) x JOIN b y ON x.fp <-> y.fp <= 2 / i)
	FROM unnest(ARRAY[2, 0, 1]) i');
SELECT error_of('SELECT FROM a JOIN b ON a.fp <-> b.fp <= 1 / (SELECT count(*) FROM empty)');

-- an expression is all that the query has of the nullable side; a subplan in a clause; an inner column, known
-- to be equal to an outer one, is what the semi join below gives to a join above
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
SELECT split_part(error_of('SELECT FROM two x JOIN two y ON ' || form), ' / ', 1) AS error_of FROM unnest(ARRAY['x.fp <-> y.fp_128 <= 3',
	'x.fp % y.fp_128', 'x.fp_128 <@ hamming_ball(y.fp, 3)', 'x.fp <@ hamming_ball_128(y.fp_128, 3)',
	'simhash_within(x.fp, y.fp_128, 3)']) form;

-- what EXPLAIN tells of it, beside text
SET enable_nestloop = off;
DO $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT JSON) SELECT FROM a JOIN b ON a.fp <-> b.fp <= 1 AND a.id < b.id' INTO plan;
	plan := plan -> 0 -> 'Plan';
	RAISE NOTICE '%, %, %, %, % rows, % passes, %', plan -> 'Custom Plan Provider', plan -> 'Join Type',
		plan -> 'Hamming Cond', plan -> 'Join Filter', round((plan ->> 'Actual Rows')::numeric), plan -> 'Passes',
		(plan ->> 'Candidates')::int > 0 AND (plan ->> 'Memory Usage')::int > 0 AND (plan ->> 'Disk Usage')::int = 0;
END $$;
RESET enable_nestloop;

-- the extension elsewhere, and two like it
BEGIN;
CREATE SCHEMA elsewhere;
ALTER EXTENSION simhash SET SCHEMA elsewhere;
SET LOCAL search_path = public, elsewhere;
SELECT join_plan('SELECT FROM a JOIN b ON a.fp <-> b.fp <= 3');
CREATE FUNCTION simhash_within(simhash64, simhash64, bigint) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE STRICT AS 'BEGIN RETURN false; END';
SELECT * FROM join_plan('SELECT FROM a JOIN b ON public.simhash_within(a.fp, b.fp, 3)') LIMIT 2;
CREATE SCHEMA other;
CREATE DOMAIN other.simhash64 AS bigint;
CREATE FUNCTION other.simhash_within(other.simhash64, other.simhash64, bigint) RETURNS boolean
LANGUAGE c IMMUTABLE STRICT AS '$libdir/simhash', 'simhash_within';
SELECT * FROM join_plan('SELECT FROM a JOIN b ON other.simhash_within(a.id::bigint, b.id::bigint, 3)') LIMIT 1;
ROLLBACK;

DROP OWNED BY simhash_reader;
DROP ROLE simhash_reader;
CALL for_each_table('DROP TABLE %1$s');
DROP VIEW near, even;
DROP TABLE a, b, c, ascending_bits, log, pa, pb, large, wide, equal, many, two;
SET client_min_messages = warning;
DROP SCHEMA bits_128 CASCADE;
RESET client_min_messages;
DROP FUNCTION joins, same_result, join_plan, check_joins, check_partitions, check_large, work_of, result_by_join,
	result_by_loop, result_of, ball_of(simhash64), ball_of(simhash128), joins_128, query_128, volatile_true, volatile_k, near_rows;
