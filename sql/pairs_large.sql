-- simhash_pairs of more rows, and within every distance.
\pset format unaligned \pset tuples_only on \set ECHO none

CALL make_tables(3000);
-- ids in no order, some of them negative
SELECT check_pairs(format('SELECT id * 7919 %% 10007 - 5000 AS id, fp
	FROM (%s) s WHERE id <= 100', source), array(SELECT generate_series(0, 64))), string_agg(shape, ', ' ORDER BY shape) AS shapes
FROM shapes GROUP BY 1;
SELECT check_pairs(format('SELECT id::smallint, fp FROM %s WHERE id <= 900', tab), '{0,1,2,3,6}'),
	string_agg(tab, ', ' ORDER BY tab) AS tables FROM tables GROUP BY 1;
SELECT check_pairs(format('SELECT * FROM (%s) s WHERE id <= 60', wide),
	array(SELECT generate_series(0, 128))), string_agg(shape, ', ' ORDER BY shape) AS shapes
FROM shapes, widened(source) WHERE way = 'spread' GROUP BY 1;
-- ids that are not unique, and NULLs
SELECT check_pairs('SELECT nullif(id % 20, 7) AS id, fp FROM ' || tab || ' WHERE id <= 600',
	'{0,1,3,5,12,32,64}') FROM tables WHERE tab IN ('skewed', 'duplicates', 'extremes');

-- More rows: as many pairs as there are; no pair is wrong and none comes twice.
CREATE TABLE many (id int, fp simhash64);
CREATE FUNCTION check_many(ks int[]) RETURNS TABLE (k int, pairs bigint, not_as_many bigint,
	wrong bigint, twice bigint) LANGUAGE plpgsql SET jit = off AS $$
BEGIN
	CREATE TEMP TABLE counted ON COMMIT DROP AS
	SELECT * FROM count_distances('TABLE many', 16);
	FOREACH k IN ARRAY ks LOOP
		CREATE TEMP TABLE found ON COMMIT DROP AS
		SELECT f.*, x.fp <-># y.fp AS real
		FROM simhash_pairs('SELECT id, fp FROM many', k) f
			LEFT JOIN many x ON x.id = f.a LEFT JOIN many y ON y.id = f.b;
		SELECT count(*), count(*) FILTER (WHERE (a < b AND distance = real) IS NOT TRUE),
			count(*) - count(DISTINCT (a, b)) INTO pairs, wrong, twice FROM found;
		SELECT count(*) INTO not_as_many FROM counted c
			FULL JOIN (SELECT distance, count(*) AS pairs FROM found GROUP BY 1) f USING (distance)
		WHERE distance <= k AND c.pairs <> coalesce(f.pairs, 0) OR distance > k AND f.pairs > 0;
		DROP TABLE found;
		RETURN NEXT;
	END LOOP;
	DROP TABLE counted;
END $$;
INSERT INTO many SELECT * FROM many_uniform(60000);
SELECT * FROM check_many('{0,1,3,4,6,8,12,16}');
TRUNCATE many;
-- with NULLs, many of the same, and parallel workers in the query
INSERT INTO many SELECT id, CASE WHEN id % 100 > 0 THEN fp
	WHEN id % 300 > 0 THEN '0123456789abcdef' END FROM many_skewed(60000);
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
SELECT * FROM check_many('{0,3,5}');
RESET parallel_setup_cost;
RESET parallel_tuple_cost;
RESET min_parallel_table_scan_size;
-- pairs, and nothing else
SELECT pairs, wrong, different, joined, min(k), max(k), count(*) FROM find_many_pairs(20000)
GROUP BY pairs, wrong, different, joined;
SELECT count(*) FROM generate_series(1, 11) k, unnest('{t,f}'::boolean[]) of_all,
	LATERAL simhash_pairs(format('SELECT * FROM many_pairs(%s, 20000, %L)', k, of_all), k - 1);

CALL for_each_table('DROP TABLE %1$s');
CALL make_tables(200);
-- parts
SELECT check_parts(source, '{0,1,3,8,20}', '{1,4,13}'), string_agg(shape, ', ' ORDER BY shape) AS shapes
FROM shapes GROUP BY 1;
SELECT shape, check_parts(source || ' LIMIT 100', '{33,50,51,62,63,64}', '{1,3,7}') FROM shapes
WHERE shape IN ('uniform', 'skewed', 'balls');
SELECT check_parts(wide, '{0,1,3,16,40}', '{1,13}'), string_agg(DISTINCT shape, ', ') AS shapes, string_agg(DISTINCT way, ', ') AS ways
FROM shapes, widened(source || ' LIMIT 100') WHERE shape IN ('uniform', 'skewed', 'balls', 'steps') GROUP BY 1;
SELECT way, check_parts(wide, '{65,126,127,128}', '{1,7}')
FROM widened((SELECT source || ' LIMIT 60' FROM shapes WHERE shape = 'uniform'));
CALL for_each_table('DROP TABLE %1$s');
DROP TABLE many;
DROP FUNCTION check_many;
