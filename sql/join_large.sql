-- HammingJoin of more rows, within every distance, and with little memory and much.
\pset format unaligned \pset tuples_only on \set ECHO none

-- Joins of x and y, compared with what near says, all pairs by brute force.
CREATE FUNCTION check_joins_of(k int, memory text) RETURNS SETOF text LANGUAGE plpgsql
SET enable_nestloop = off SET jit = off
SET hash_mem_multiplier = 1 AS $$
DECLARE
	query text;
	source text;
	found text;
	expected text;
BEGIN
	FOR query, source IN SELECT replace(q, '%s', k::text), replace(s, '%s', k::text) FROM (VALUES
		('SELECT x.id AS a, y.id AS b FROM x JOIN y ON x.fp <-> y.fp <= %s',
		'SELECT a, b FROM near WHERE distance <= %s'),
		('SELECT x.id AS a, y.id AS b FROM x JOIN y ON x.fp <-> y.fp <= %s AND x.body < y.body',
		'SELECT a, b FROM near WHERE distance <= %s AND a_body < b_body'),
		('SELECT x.id AS a, y.id AS b FROM x LEFT JOIN y ON x.fp <-> y.fp <= %s',
		'SELECT x.id, b FROM x LEFT JOIN LATERAL (SELECT b FROM near WHERE distance <= %s AND a = x.id) n ON true'),
		('SELECT x.id AS a, y.id AS b FROM x FULL JOIN y ON x.fp <-> y.fp <= %s AND (x.id + y.id) % 2 = 0',
		'WITH n AS MATERIALIZED (SELECT a, b FROM near WHERE distance <= %s AND (a + b) % 2 = 0)
			TABLE n UNION ALL SELECT id, NULL FROM x WHERE id NOT IN (SELECT a FROM n)
			UNION ALL SELECT NULL, id FROM y WHERE id NOT IN (SELECT b FROM n)'),
		('SELECT id, body FROM x WHERE EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s)',
		'SELECT id, body FROM x WHERE id IN (SELECT a FROM near WHERE distance <= %s)'),
		('SELECT id FROM x WHERE EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s AND x.body < y.body)',
		'SELECT id FROM x WHERE id IN (SELECT a FROM near WHERE distance <= %s AND a_body < b_body)'),
		('SELECT id FROM x WHERE NOT EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s)',
		'SELECT id FROM x WHERE id NOT IN (SELECT a FROM near WHERE distance <= %s)'),
		('SELECT id, body FROM x WHERE NOT EXISTS (SELECT FROM y WHERE x.fp <-> y.fp <= %s AND x.body < y.body)',
		'SELECT id, body FROM x WHERE id NOT IN (SELECT a FROM near WHERE distance <= %s AND a_body < b_body)'))
		v (q, s) LOOP
		IF (SELECT count(*) <> 1 FROM plan_lines(query, 'HammingJoin')) THEN
			RETURN NEXT 'another join: ' || query;
		END IF;
		PERFORM set_config('work_mem', memory, true);
		EXECUTE format('SELECT (count(*), sum(hash_record_extended(r, 0)))::text FROM (%s) r', query) INTO found;
		SET LOCAL work_mem = '64MB';
		EXECUTE format('SELECT (count(*), sum(hash_record_extended(r, 0)))::text FROM (%s) r', source) INTO expected;
		RETURN NEXT CASE WHEN found = expected THEN 'right' ELSE format('%s, but %s expected: %s', found, expected, query) END;
	END LOOP;
END $$;
-- All of these for the rows of two queries, for each of some distances and each size
-- of memory.
CREATE FUNCTION check_large_joins(x text, y text, ks int[], memories text[]) RETURNS TABLE (result text, joins bigint)
LANGUAGE plpgsql SET jit = off AS $$
BEGIN
	EXECUTE 'CREATE TEMP TABLE x ON COMMIT DROP AS SELECT *, repeat(md5(id::text), 1 + id % 9) AS body FROM ' || x;
	EXECUTE 'CREATE TEMP TABLE y ON COMMIT DROP AS SELECT *, repeat(md5(id::text), 1 + id % 5) AS body FROM ' || y;
	CREATE TEMP TABLE near ON COMMIT DROP AS
	SELECT x.id AS a, y.id AS b, x.body AS a_body, y.body AS b_body, x.fp <-># y.fp AS distance
	FROM x JOIN y ON x.fp <-># y.fp <= (SELECT max(k) FROM unnest(ks) k);
	CREATE INDEX ON near (a);
	ANALYZE x, y, near;
	RETURN QUERY SELECT r, count(*) FROM unnest(ks) k, unnest(memories) memory, LATERAL check_joins_of(k, memory) r GROUP BY 1;
	DROP TABLE x, y, near;
END $$;

CALL make_tables(2400);
SELECT tab, r.* FROM tables, check_large_joins(tab, format('(SELECT id + 7 AS id, fp FROM %s
	WHERE id %% 3 > 0) s', tab), '{0,3,5}', '{64kB,64MB}') r
WHERE tab IN ('uniform', 'half_bits', 'one_block', 'empty', 'only_null');
SELECT way, r.* FROM widened('SELECT * FROM uniform WHERE id <= 900'), check_large_joins(format('(%s) s', wide),
	format('(SELECT id + 7 AS id, fp FROM (%s) s WHERE id %% 3 > 0) s', wide), '{0,3,16}', '{64kB,64MB}') r;
-- of these many are near each
SELECT tab, r.* FROM tables, check_large_joins(format('(SELECT * FROM %s WHERE id %% 3 = 0) s', tab),
	format('(SELECT * FROM %s WHERE id %% 25 = 0) s', tab), '{0,1,3}', '{64kB,64MB}') r
WHERE tab IN ('duplicates', 'extremes', 'ascending', 'descending', 'skewed');
-- all distances
SELECT r.* FROM check_large_joins('many_uniform(1000)', '(SELECT * FROM many_skewed(900) UNION ALL
	SELECT id + 5000, fp FROM uniform WHERE id < 200) s', '{0,1,2,3,4,6,8,10,12,14,16,20}', '{64kB,64MB}') r;
SELECT r.* FROM check_large_joins('(SELECT * FROM half_bits WHERE id < 90) s',
	'(SELECT * FROM skewed WHERE id < 90) s', array(SELECT generate_series(-1, 65)), '{64kB}') r;
SELECT way, r.* FROM widened('SELECT * FROM skewed WHERE id < 90'), check_large_joins(format('(%s) s', wide),
	format('(%s) s', wide), '{-1,0,1,3,7,8,12,16,20,32,63,64,65,127,128,129}', '{64kB}') r;
-- pairs at just the distance, and nothing else
SELECT k, r.* FROM unnest('{1,2,3,4,6,8}'::int[]) k, check_large_joins(format('many_pairs(%s, 500, false)', k),
	format('many_pairs(%s, 500, true)', k), ARRAY[k - 1, k], '{64kB,64MB}') r;

-- Many rows, of which every tenth is near another: as simhash_pairs has it
CREATE TABLE many AS SELECT * FROM many_uniform(100000);
ANALYZE many;
CREATE FUNCTION pairs_of_many(k int, memory text) RETURNS TABLE (pairs bigint, semi bigint, anti bigint, outer_rows bigint)
LANGUAGE plpgsql SET enable_nestloop = off SET max_parallel_workers_per_gather = 0 AS $$
BEGIN
	PERFORM set_config('work_mem', memory, true);
	RETURN QUERY SELECT (SELECT count(*) FROM many a JOIN many b ON a.fp <-> b.fp <= k AND a.id < b.id),
		(SELECT count(*) FROM many a WHERE EXISTS (SELECT FROM many b WHERE a.fp <-> b.fp <= k AND a.id <> b.id)),
		(SELECT count(*) FROM many a WHERE NOT EXISTS (SELECT FROM many b WHERE a.fp <-> b.fp <= k AND a.id <> b.id)),
		(SELECT count(*) FROM many a LEFT JOIN many b ON a.fp <-> b.fp <= k AND a.id < b.id);
END $$;
SELECT k, memory, r.*, pairs = (SELECT count(*) FROM (SELECT simhash_pairs('TABLE many', k)) s) AS as_pairs,
	semi + anti = (SELECT count(*) FROM many) AS whole
FROM unnest('{0,3,6}'::int[]) k, unnest('{64kB,4MB,1GB}'::text[]) memory, pairs_of_many(k, memory) r
ORDER BY k, pg_size_bytes(memory);

-- Batches against all, as the index finds it: one like all, and one that has bits
-- in common in which some of all differ
CREATE TABLE batch (id int, fp simhash64);
CREATE FUNCTION check_batch(ks int[]) RETURNS TABLE (k int, pairs text, wrong boolean)
LANGUAGE plpgsql SET enable_seqscan = off SET simhash.enable_hammingjoin = off SET jit = off AS $$
DECLARE
	query text;
	expected text;
BEGIN
	FOREACH k IN ARRAY ks LOOP
		query := format('SELECT b.id AS a, m.id AS b, b.fp <-> m.fp AS distance
			FROM batch b JOIN many m ON m.fp <-> b.fp <= %s', k);
		EXECUTE format('SELECT count(*), (count(*), sum(hash_record_extended((a::bigint, b::bigint, distance), 0)))::text
			FROM (%s) s', query) INTO pairs, expected;
		wrong := joined_pairs(query) IS DISTINCT FROM expected;
		RETURN NEXT;
	END LOOP;
END $$;
INSERT INTO many SELECT 200000 + id, (fp::bigint # bits(id, 17, id % 9))::simhash64
FROM half_bits;
CREATE INDEX many_fp ON many USING hamming (fp);
ANALYZE many;
INSERT INTO batch SELECT -id, (fp::bigint # bits(id, 9, id % 8))::simhash64
FROM many WHERE id % 33 = 0;
SELECT * FROM check_batch('{0,3,6,8,10}');
TRUNCATE batch;
INSERT INTO batch TABLE half_bits;
SELECT * FROM check_batch('{0,1,2,3,4,6}');

CALL for_each_table('DROP TABLE %1$s');
DROP TABLE many, batch;
DROP FUNCTION check_joins_of, check_large_joins, pairs_of_many, check_batch;
