-- Row estimates of a Hamming ball, for as many rows, and within the radii, that
-- another file asks for that includes this one.

\if :{?rows}
\else
	\set rows 100000
	\set radii '{-1,0,1,2,3,4,31,32,33,63,64,65}'
\endif

CREATE FUNCTION estimate(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan->0->'Plan'->>'Plan Rows';
END $$;

CREATE TABLE docs (fp simhash64);
INSERT INTO docs SELECT substr(md5(i::text), 1, 16)::simhash64
FROM generate_series(1, :rows) i;
ANALYZE docs;
-- between 1 and 1,000 for k = 0 .. 6, growing with k, with any way to ask
CREATE VIEW asked AS
SELECT name, k, estimate(format(query, k)) AS rows FROM generate_series(0, 6) k, (VALUES
	('constant', 'SELECT FROM docs WHERE fp <-> ''0123456789abcdef'' <= %s'),
	('below', 'SELECT FROM docs WHERE fp <-> ''0123456789abcdef'' < %s + 1'),
	('ball', 'SELECT FROM docs WHERE fp <@ hamming_ball(''0123456789abcdef'', %s)'),
	('unknown', 'SELECT FROM docs WHERE fp <-> (SELECT ''0123456789abcdef''::simhash64) <= %s')
	) q(name, query);
SELECT name, min(rows) >= 1 AND max(rows) <= 1000 AS sane,
	bool_and(grows) AS grows
FROM (SELECT *, rows > lag(rows, 1, 0.0::float8) OVER (PARTITION BY name ORDER BY k) AS grows
	FROM asked) s GROUP BY name ORDER BY name;
SELECT estimate($$SELECT FROM docs WHERE fp % '0123456789abcdef'$$)
	= estimate($$SELECT FROM docs WHERE fp <-> '0123456789abcdef' <= 3$$) AS same;
-- half of the rows at 32, all at 64, none below 0
SELECT k, round((estimate(format('SELECT FROM docs WHERE fp <-> ''0123456789abcdef'' <= %s',
	k)) / :rows)::numeric, 2) AS part
FROM unnest('{-1,24,28,32,36,40,64,100}'::int[]) k;
SELECT round((estimate($$SELECT FROM docs WHERE fp <-> '0123456789abcdef' > 32$$)
	/ :rows)::numeric, 2) AS more_than_32;
-- a join, and a semijoin
SELECT estimate('SELECT FROM docs a JOIN docs b ON a.fp <-> b.fp <= 3')
	BETWEEN :rows AND 10 * :rows AS joined,
	estimate('SELECT FROM docs a WHERE EXISTS
		(SELECT FROM docs b WHERE a.fp <-> b.fp <= 3)') <= :rows AS semijoined;
-- neither none nor all where a semijoin or an antijoin cannot know
SELECT estimate('SELECT FROM docs a WHERE EXISTS
		(SELECT FROM docs b WHERE a.fp <-> b.fp <= 3)') BETWEEN 0.1 * :rows AND 0.9 * :rows AS semijoin,
	estimate('SELECT FROM docs a WHERE NOT EXISTS
		(SELECT FROM docs b WHERE a.fp <-> b.fp <= 3)') BETWEEN 0.1 * :rows AND 0.9 * :rows AS antijoin;
-- two columns of one row, of which nothing is known
SELECT estimate('SELECT FROM (SELECT fp, fp AS other FROM docs OFFSET 0) s
	WHERE fp <-> other <= 3') BETWEEN 0.001 * :rows AND 0.1 * :rows AS two_columns;
-- without statistics, too
CREATE TABLE unanalyzed (fp simhash64) WITH (autovacuum_enabled = off);
INSERT INTO unanalyzed SELECT fp FROM docs LIMIT 100000;
SELECT estimate($$SELECT FROM unanalyzed WHERE fp <-> '0123456789abcdef' <= 6$$)
	BETWEEN 1 AND 1000 AS sane;

-- the most common values within k are counted
CREATE TABLE common (fp simhash64);
INSERT INTO common SELECT CASE WHEN i % 10 < 4 THEN '00000000000000ff'
	WHEN i % 10 < 6 THEN '00000000000000fc'
	WHEN i % 10 > 6 THEN substr(md5(i::text), 1, 16) END::simhash64
FROM generate_series(1, 10000) i;
ANALYZE common;
SELECT k, round(estimate(format(
	'SELECT FROM common WHERE fp <-> ''00000000000000ff'' <= %s', k))::numeric, -3) AS rows
FROM unnest('{0,1,2,3,64}'::int[]) k;
SELECT round(estimate($$SELECT FROM common WHERE fp <-> 'ffffffffffffffff' <= 3$$)
	::numeric, -3) AS rows;
SELECT estimate('SELECT FROM common WHERE fp <-> NULL <= 3') AS null_centre,
	estimate('SELECT FROM common WHERE fp <-> (SELECT NULL::simhash64) <= 3') < 100 AS unknown;
DROP VIEW asked;
DROP TABLE docs, unanalyzed, common;

-- every bound in every position: no error, and as many rows as without the
-- planner's help
CREATE TABLE points (id int, a simhash64, b simhash64);
INSERT INTO points
SELECT id, substr(md5(id::text), 1, 16)::simhash64,
	(substr(md5((id + id % 3)::text), 1, 16)::simhash64::bigint # ((1::bigint << id % 63) - 1))::simhash64
FROM generate_series(1, 20) id;
INSERT INTO points VALUES (21, NULL, '00000000000000ff'), (22, '00000000000000ff', NULL),
	(23, '00000000000000ff', 'ffffffffffffff00'), (24, '00000000000000ff', '00000000000000ff');
CREATE INDEX ON points USING hamming (a);
ANALYZE points;
-- the number of rows that a statement returns or changes, undone, or its error
CREATE FUNCTION rows_or_error(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE statement;
	GET DIAGNOSTICS n = ROW_COUNT;
	RAISE EXCEPTION USING ERRCODE = 'UNDO1', MESSAGE = n;
EXCEPTION
	WHEN SQLSTATE 'UNDO1' THEN RETURN SQLERRM;
	WHEN OTHERS THEN RETURN SQLSTATE || ': ' || SQLERRM;
END $$;
CREATE TABLE statements (n int, left_side text, right_side text, statement text);
INSERT INTO statements VALUES (1, 'p.a', 'p.b', 'SELECT FROM points p WHERE %s'),
	(2, 'p.a', '''00000000000000ff''', 'SELECT FROM points p WHERE %s'),
	(3, 'p.a', 'q.b', 'SELECT FROM points p JOIN points q ON %s'),
	(4, '''00000000000000ff''', 'p.a', 'SELECT FROM points p WHERE %s ORDER BY p.a <-> ''ff00000000000000'' LIMIT 9'),
	(5, '(SELECT ''00000000000000ff''::simhash64)', 'p.a', 'SELECT FROM points p WHERE %s OR p.id = 1'),
	(6, 'p.a', 'q.b', 'SELECT FROM points q LEFT JOIN points p ON %s'),
	(7, 'p.a', 'q.b', 'SELECT FROM points q WHERE EXISTS (SELECT FROM points p WHERE %s)'),
	(8, 'p.a', 'q.b', 'SELECT FROM points q WHERE NOT EXISTS (SELECT FROM points p WHERE %s)'),
	(9, 'p.a', 'p.b', 'UPDATE points p SET id = 0 WHERE %s'),
	(10, 'p.a', 'q.b', 'UPDATE points p SET id = 0 FROM points q WHERE q.id = 7 AND %s'),
	(11, 'q.a', 'p.b', 'DELETE FROM points p USING points q WHERE q.id < p.id AND %s');
CREATE TABLE conditions (condition text);
INSERT INTO conditions VALUES ('%s <-> %s <= %s'), ('%3$s::bigint >= %1$s <-> %2$s'),
	('%s <-> %s < %s + 1'), ('%3$s::smallint + 1 > %1$s <-> %2$s'), ('%s <-> %s BETWEEN 0 AND %s'),
	('NOT %s <-> %s > %s'), ('simhash_within(%s, %s, %s)'), ('%s <@ hamming_ball(%s, %s)'),
	('hamming_ball(%1$s, %3$s) @> %2$s');
SET enable_seqscan = off;
-- what no plan may do costs much, for which each statement would be compiled
SET jit = off;
CREATE TABLE plain AS
SELECT n, k, rows_or_error(format(statement, format('(%s <~> %s) + 0 <= %s', left_side, right_side, k))) AS rows
FROM statements, unnest(:'radii'::int[]) k;
CREATE TABLE asked AS
SELECT n, k, condition, rows_or_error(format(statement, format(condition, left_side, right_side, k))) AS rows
FROM statements, unnest(:'radii'::int[]) k, conditions
-- each row that is changed and undone makes the next statement slower
WHERE n <= 8 OR condition = '%s <-> %s <= %s' OR k NOT BETWEEN 1 AND 59;
RESET enable_seqscan;
RESET jit;
SELECT n, condition, array_agg(k ORDER BY k) AS k, min(asked.rows) AS wrong
FROM plain JOIN asked USING (n, k) WHERE plain.rows <> asked.rows GROUP BY n, condition ORDER BY 1, 2;
SELECT n, count(DISTINCT condition), count(DISTINCT rows) >= 3 AS varies
FROM asked GROUP BY n ORDER BY n;
DROP FUNCTION estimate, rows_or_error;
DROP TABLE points, statements, conditions, plain, asked;
