-- HammingJoin with equality beside the distance: rows are grouped by what must be
-- equal.
\pset format unaligned \pset tuples_only on \set ECHO queries
\getenv directory PG_ABS_SRCDIR
\set setup :directory '/sql/include/join_setup.sql'
\set ECHO none
\i :setup
\set ECHO queries

-- Keys of many types: few and many values, one of most rows, two of one hash, and NULLs.
CREATE TYPE pair_of_keys AS (x int, y text);
\set ECHO none
CREATE FUNCTION with_keys(source text) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT id, fp, id %% 2 AS two, id %% 40 AS forty, nullif(id %% 13, 5)::bigint AS nulls,
		id / 2 AS many, CASE WHEN id %% 10 > 0 THEN 0 ELSE id END AS skewed, (id %% 5)::numeric AS number,
		CASE id %% 3 WHEN 0 THEN ''Key'' WHEN 1 THEN ''kEY'' ELSE ''other'' END AS word,
		ARRAY[id %% 4, id %% 3] AS list, ROW(id %% 4, ''x'')::pair_of_keys AS pair,
		(''{NaN,-0,0,1}''::float8[])[id %% 4 + 1] AS float, (ARRAY[''k'', ''k '', ''kk''])[id %% 3 + 1]::char(3) AS padded,
		CASE id %% 2 WHEN 0 THEN 1 ELSE 8589934595 END AS hashed
		FROM (%s) s', source)
$$;
CREATE FUNCTION check_keys(source text, k int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	condition text;
	query text;
	result text;
	results int := 0;
	wrong int := 0;
BEGIN
	EXECUTE 'CREATE TEMP TABLE x ON COMMIT DROP AS ' || with_keys(source);
	CREATE TEMP TABLE y ON COMMIT DROP AS SELECT * FROM x WHERE id % 4 > 0;
	ANALYZE x, y;
	FOREACH condition IN ARRAY ARRAY['x.two = y.two', 'x.forty = y.forty', 'x.nulls = y.nulls', 'y.many = x.many',
		'x.skewed = y.skewed', 'x.two = y.two AND x.nulls = y.nulls', 'x.word = y.word', 'x.list = y.list',
		'x.pair = y.pair', 'x.float = y.float::float4', 'x.padded = y.padded', 'x.hashed = y.hashed',
		'x.forty = y.nulls', 'x.two + 1 = y.number', 'x.number = y.number AND y.float = x.float',
		'x.forty % 3 = y.many % 3 AND x.id <> y.id'] LOOP
		FOREACH query IN ARRAY ARRAY['SELECT x.*, y.id AS other FROM x JOIN y ON x.fp <-> y.fp <= %s AND %s',
			'SELECT x.id, y.id AS other FROM x LEFT JOIN y ON x.fp <-> y.fp <= %s AND %s',
			'SELECT x.id FROM x WHERE EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s AND %s)',
			'SELECT x.* FROM x WHERE NOT EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s AND %s)'] LOOP
			query := format(query, k, condition);
			result := joins(query);
			results := results + 1;
			IF result !~ 'rows$' OR NOT EXISTS (SELECT FROM join_plan(query) line WHERE line ~ 'Keys: ') THEN
				wrong := wrong + 1;
				RAISE NOTICE '%: %', query, result;
			END IF;
		END LOOP;
	END LOOP;
	DROP TABLE x, y;
	RETURN format('%s joins, %s wrong', results, wrong);
END $$;
\set ECHO queries
SELECT shape, check_keys(format('SELECT * FROM (%s) s LIMIT 200', source), 6) FROM shapes
WHERE shape IN ('uniform', 'skewed', 'duplicates', 'balls', 'only_null') ORDER BY shape;
SELECT k, check_keys(query_128('SELECT id, fp FROM bits_128.a'), k) FROM unnest('{0,3,20,128}'::int[]) k;

-- a full join, and what EXPLAIN shows
SELECT joins('SELECT x.id, y.id AS other FROM a x FULL JOIN b y ON x.fp <-> y.fp <= 3 AND x.n = y.n', NULL,
	'SELECT x.id, y.id AS other FROM a x LEFT JOIN b y ON x.fp <-> y.fp <= 3 AND x.n = y.n
		UNION ALL SELECT NULL, y.id FROM b y WHERE NOT EXISTS (SELECT FROM a x WHERE x.fp <-> y.fp <= 3 AND x.n = y.n)');
SELECT join_plan('SELECT FROM a JOIN b ON a.fp <-> b.fp <= 3 AND b.n = a.n AND a.body = b.body AND a.id < b.id');
-- a key of the result is none of the join, and neither is one that is volatile
SELECT join_plan('SELECT FROM a LEFT JOIN b ON a.fp <-> b.fp <= 3 WHERE a.n = b.n OR b.n IS NULL');
SELECT join_plan('SELECT FROM a JOIN b ON a.fp <-> b.fp <= 3 AND a.n = b.n + (volatile_true()::int - 1)');
-- nor one that has no hash functions as outer = inner
CREATE FUNCTION same(int, int) RETURNS boolean LANGUAGE internal IMMUTABLE STRICT AS 'int4eq';
CREATE OPERATOR === (FUNCTION = same, LEFTARG = int, RIGHTARG = int, COMMUTATOR = ====, HASHES);
CREATE OPERATOR ==== (FUNCTION = same, LEFTARG = int, RIGHTARG = int, COMMUTATOR = ===);
CREATE OPERATOR CLASS same_ops FOR TYPE int USING hash AS OPERATOR 1 ===, FUNCTION 1 hashint4(int);
SELECT join_plan('SELECT FROM a LEFT JOIN b ON a.fp <-> b.fp <= 3 AND b.n === a.n AND a.id === b.id');
DROP OPERATOR FAMILY same_ops USING hash;
DROP OPERATOR ===(int, int);
DROP OPERATOR ====(int, int);
DROP FUNCTION same;

-- A key of all rows, and keys of one row, with little memory and with more.
CREATE TABLE keyed AS SELECT id, fp, id AS alone, 1 AS together,
	CASE WHEN id % 3 = 0 THEN 7 ELSE id % 50 END AS mixed FROM many_uniform(2000);
ANALYZE keyed;
CREATE FUNCTION check_keyed() RETURNS TABLE (key text, pairs text, alone text) LANGUAGE sql AS $$
	SELECT key, joins(format('SELECT a.id, b.id AS other FROM keyed a JOIN keyed b
			ON a.fp <-> b.fp <= 5 AND a.%I = b.%1$I', key)),
		joins(format('SELECT a.id FROM keyed a WHERE NOT EXISTS (SELECT FROM keyed b
			WHERE a.fp <-> b.fp <= 5 AND a.id <> b.id AND a.%I = b.%1$I)', key))
	FROM unnest(ARRAY['alone', 'together', 'mixed']) key
$$;
SET work_mem = '64kB';
SELECT * FROM check_keyed();
SET work_mem = '4MB';
SELECT * FROM check_keyed();
RESET work_mem;

DROP TABLE keyed;
DROP FUNCTION check_keys, with_keys, check_keyed;
DROP TYPE pair_of_keys;
\set ECHO none
\set drop :directory '/sql/include/join_drop.sql'
\i :drop
