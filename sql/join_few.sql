-- HammingJoin with few rows on a side, however many the planner expects.
\pset format unaligned \pset tuples_only on \set ECHO queries

\getenv directory PG_ABS_SRCDIR
\set setup :directory '/sql/include/join_setup.sql'
\set ECHO none
\i :setup
\set ECHO queries

-- Few rows are compared with each row of the other side, more by a Bloom filter, and
-- most by none: where one begins differs with k and with the processor.  Every fifth
-- row has no fingerprint, and the others are 0 to 9 bits from one of the other side.
CREATE TABLE many AS SELECT id, CASE WHEN id % 9 > 0 THEN fp END AS fp FROM many_uniform(1300);
CREATE TABLE bits_128.many AS SELECT id, widen(fp, 'last') AS fp FROM many;
CREATE FUNCTION check_few(n int, others int, ks int[]) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws('; ', check_joins(few, many, ks), check_joins(many, few, ks)) FROM (VALUES (
		format('SELECT id, CASE WHEN id %% 5 > 0 THEN flipped(fp, (1::bigint << id %% 10) - 1) END AS fp
			FROM many WHERE id <= %s', n), format('TABLE many LIMIT %s', others))) v (few, many)
$$;
SELECT n, check_few(n, 90, '{0,3,8,64}') FROM unnest(ARRAY[0, 1, 2, 17, 90]) n;
SELECT n, check_few(n, n + 100, '{8}') FROM unnest(ARRAY[160, 799, 1025]) n;
SET search_path = bits_128, public;
SELECT n, check_few(n, 90, '{0,8,128}') FROM unnest(ARRAY[0, 1, 2, 17, 65]) n;
SELECT n, check_few(n, n + 100, '{8}') FROM unnest(ARRAY[80, 400]) n;
RESET search_path;
-- their keys are found of rows that pass only
SELECT joins(query) FROM unnest(ARRAY[
	'SELECT x.id, y.id AS other FROM a x JOIN a y ON x.fp <-> y.fp <= 1 AND x.n = y.n AND y.id < 20',
	'SELECT x.id, y.id AS other FROM a x LEFT JOIN a y ON x.fp <-> simhash(y.body) <= 1 AND x.n = y.n AND y.id < 20',
	'SELECT x.id FROM a x WHERE NOT EXISTS (SELECT FROM a y WHERE x.fp <-> y.fp <= 1 AND x.n + 1 = y.n AND y.id < 20)']) query;

-- What a join does: it compares only rows that the filter has let pass.
CREATE FUNCTION work_of(query text, OUT candidates int, OUT kilobytes int) LANGUAGE plpgsql
SET enable_nestloop = off SET enable_hashjoin = off SET enable_mergejoin = off SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
	plan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ' || query INTO plan;
	plan := jsonb_path_query_first(plan, '$.** ? (@."Custom Plan Provider" == "HammingJoin")');
	candidates := plan -> 'Candidates';
	kilobytes := plan -> 'Memory Usage';
END $$;
CREATE TABLE random AS SELECT id, fp FROM many_uniform(20000);
CREATE TABLE others AS SELECT id, flipped(fp, -1) AS fp FROM random WHERE id <= 1000;
ANALYZE random, others;
SELECT type, count(*), sum(candidates) AS candidates, max(kilobytes) < 32 AS few_are_kept FROM (VALUES
	('inner', 'SELECT FROM (%s) x JOIN random y ON x.fp <-> y.fp <= 8'),
	('inner, the other way round', 'SELECT FROM random y JOIN (%s) x ON x.fp <-> y.fp <= 8'),
	('left', 'SELECT FROM (%s) x LEFT JOIN random y ON x.fp <-> y.fp <= 8'),
	('semi', 'SELECT FROM random y WHERE EXISTS (SELECT FROM (%s) x WHERE x.fp <-> y.fp <= 8)'),
	('anti', 'SELECT FROM (%s) x WHERE NOT EXISTS (SELECT FROM random y WHERE x.fp <-> y.fp <= 8)')) v (type, query),
	unnest(ARRAY[1, 2, 3, 64, 65, 159]) n, work_of(format(query, format('SELECT * FROM others LIMIT %s', n))) GROUP BY 1 ORDER BY 1;
SELECT candidates, kilobytes < 32 AS few_are_kept
FROM work_of('SELECT FROM (SELECT * FROM random WHERE id <= 20) x JOIN random y ON x.fp <-> y.fp <= 8');

-- The side with fewer rows is found as they are read: the planner expects 1 row of
-- 20,000, and more of the 10 or 1,000 others; or 20,000 of a table of which 10 are left.
CREATE TABLE deleted (LIKE random) WITH (autovacuum_enabled = off);
INSERT INTO deleted TABLE random;
ANALYZE deleted;
DELETE FROM deleted WHERE id > 10;
SELECT few, type, candidates < max_candidates AS few_candidates, kilobytes < max_kilobytes AS few_are_kept FROM (VALUES
	('SELECT * FROM others WHERE abs(id) <= 10', 1, 64), ('SELECT * FROM others WHERE abs(id) > 0', 20000, 512),
	('TABLE others', 20000, 512), ('SELECT id, flipped(fp, -1) AS fp FROM deleted', 1, 64)) f (few, max_candidates, max_kilobytes),
	(VALUES ('inner', 'SELECT x.id FROM (%1$s) x JOIN (%2$s) y ON x.fp <-> y.fp <= 3'),
	('inner, the other way round', 'SELECT x.id FROM (%2$s) x JOIN (%1$s) y ON x.fp <-> y.fp <= 3'),
	('left', 'SELECT x.id, y.id FROM (%1$s) x LEFT JOIN (%2$s) y ON x.fp <-> y.fp <= 3'),
	('semi', 'SELECT x.id FROM (%2$s) x WHERE EXISTS (SELECT FROM (%1$s) y WHERE x.fp <-> y.fp <= 3)'),
	('anti', 'SELECT x.id FROM (%1$s) x WHERE NOT EXISTS (SELECT FROM (%2$s) y WHERE x.fp <-> y.fp <= 3)')) t (type, query),
	work_of(format(query, few, 'SELECT * FROM random WHERE id = abs(id)'));
SELECT type, candidates, kilobytes < 64 AS few_are_kept FROM (VALUES
	('inner', 'SELECT x.id FROM (%1$s) x JOIN (%2$s) y ON x.fp <-> y.fp <= 3'),
	('inner, the other way round', 'SELECT x.id FROM (%2$s) x JOIN (%1$s) y ON x.fp <-> y.fp <= 3')) t (type, query),
	work_of(format(query, 'SELECT id, flipped(fp, -1) AS fp FROM deleted', 'TABLE random'));

\set ECHO none
-- No estimate has all rows compared with all.
CREATE FUNCTION compares_all(query text) RETURNS boolean LANGUAGE sql AS
	$$SELECT bool_or(line ~ 'Nested Loop') FROM plan_lines(query, '') line$$;
CREATE PROCEDURE make_sides(sizes int[]) LANGUAGE plpgsql AS $$
DECLARE
	n int;
BEGIN
	FOREACH n IN ARRAY sizes LOOP
		EXECUTE format('CREATE TABLE far_%1$s AS SELECT id, fp FROM many_uniform(%1$s)', n);
		EXECUTE format('CREATE TABLE near_%1$s AS SELECT id, flipped(''0000000000000000'', id %% 2) AS fp
			FROM generate_series(1, %1$s) id', n);
		EXECUTE format('CREATE TABLE new_%1$s (LIKE far_%1$s) WITH (autovacuum_enabled = off)', n);
		EXECUTE format('INSERT INTO new_%1$s TABLE far_%1$s', n);
		EXECUTE format('ANALYZE far_%1$s, near_%1$s', n);
	END LOOP;
END $$;
\set ECHO queries
CALL make_sides('{1,3,64,1000,20000}');
SELECT type, count(*) AS queries, count(*) FILTER (WHERE compares_all(q)) AS quadratic
FROM (VALUES ('inner', 'SELECT x.id, y.id FROM %s x JOIN %s y ON x.fp <-> y.fp <= %s'),
	('left', 'SELECT x.id, y.id FROM %s x LEFT JOIN %s y ON x.fp <-> y.fp <= %s'),
	('semi', 'SELECT x.id FROM %s x WHERE EXISTS (SELECT FROM %s y WHERE x.fp <-> y.fp <= %s)'),
	('anti', 'SELECT x.id FROM %s x WHERE NOT EXISTS (SELECT FROM %s y WHERE x.fp <-> y.fp <= %s)'),
	('inner, another clause', 'SELECT x.id, y.id FROM %s x JOIN %s y ON x.fp <-> y.fp <= %s AND x.id < y.id')) t (type, query),
	unnest('{1,3,64,1000,20000}'::int[]) n, unnest('{1,3,20000}'::int[]) m, unnest('{3,64}'::int[]) k,
	(VALUES ('far', 'far'), ('near', 'near'), ('new', 'new'), ('far', 'near'), ('near', 'far')) v (a, b),
	format(query, format('%s_%s', a, n), format('%s_%s', b, m), k) q
GROUP BY 1 ORDER BY 1;

DROP FUNCTION check_few, work_of, compares_all;
DROP PROCEDURE make_sides;
SET client_min_messages = warning;
DROP TABLE many, random, others, deleted;
DO $$BEGIN EXECUTE (SELECT 'DROP TABLE ' || string_agg(relname, ', ') FROM pg_class
	WHERE relname ~ '^(far|near|new)_\d+$'); END$$;
RESET client_min_messages;
\set ECHO none
\set drop :directory '/sql/include/join_drop.sql'
\i :drop
