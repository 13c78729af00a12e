-- simhash_cluster of more rows, and within every distance.
\pset format unaligned \pset tuples_only on \set ECHO none

CALL make_tables(3000);
SELECT check_clusters(source, '{0,1,2,3,4,5,6,7,8,10,12,14,16,20,24,32,48,63,64}'),
	string_agg(shape, ', ' ORDER BY shape) AS shapes FROM shapes GROUP BY 1;
SELECT check_clusters(wide, '{0,1,8,32,128}'), string_agg(DISTINCT shape, ', ') AS shapes, string_agg(DISTINCT way, ', ') AS ways
FROM shapes, widened(source) WHERE shape <> 'cube' GROUP BY 1;
-- in other orders
SELECT form, check_clusters('SELECT fp FROM skewed WHERE id <= 700 ' || form, '{0,2,3,4,8,25}')
FROM (VALUES ('ORDER BY id DESC'), ('ORDER BY md5(id::text)'), ('ORDER BY fp'),
	('ORDER BY fp DESC NULLS LAST'), ('AND id % 3 > 0 ORDER BY id % 5, id')) f (form);

-- more rows; simhash_pairs has its own tests
SELECT check_clusters('SELECT fp FROM many_uniform(10000)',
	'{0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,18,20,24,28,32,48,64}',
	'SELECT * FROM simhash_pairs(''SELECT place, fp FROM input'', 21)', 21);
SELECT check_clusters('SELECT fp FROM many_uniform(50000)', '{1,3,6,8,12}',
	'SELECT * FROM simhash_pairs(''SELECT place, fp FROM input'', 12)', 12);
SELECT check_clusters('SELECT fp FROM many_skewed(50000)', '{0,3,5}',
	'SELECT * FROM simhash_pairs(''SELECT place, fp FROM input'', 5)', 5);

-- pairs, and nothing else, far apart in the order; max_distance is no constant
SELECT k, of_all, count(*), count(*) FILTER (WHERE (connected, leader, connected_less, leader_less)
	IS DISTINCT FROM (id % 20000 + 1, id % 20000 + 1, id + 1, id + 1)) AS wrong
FROM unnest('{1,2,3,4,6,8,11}'::int[]) k, unnest('{t,f}'::boolean[]) of_all, LATERAL (
	SELECT id, simhash_cluster(fp, k) OVER w AS connected,
		simhash_cluster(fp, k, 'leader') OVER w AS leader,
		simhash_cluster(fp, k - 1) OVER w AS connected_less,
		simhash_cluster(fp, k - 1, 'leader') OVER w AS leader_less
	FROM many_pairs(k, 20000, of_all) WINDOW w AS (ORDER BY id)) s
GROUP BY 1, 2 ORDER BY 1, 2;
-- dense balls, all of whose members are within 12 of each other
SELECT * FROM check_dense_balls(1000, 100, '{12,15}');
-- pairs of rows 14 bits apart, where too much agrees in any part
SELECT check_clusters('SELECT (substr(md5((i / 2)::text), 1, 16)::simhash64::bigint
		# (i % 2 * bits(i, 5, 14)))::simhash64 AS fp FROM generate_series(1, 30000) i', '{13,14}',
	'SELECT * FROM simhash_pairs(''SELECT place, fp FROM input'', 14)', 14);
-- Dense: most of all are connected long before the last pair is found, and the
-- others have one near-duplicate each, or none.
SELECT check_clusters('SELECT (substr(md5(i::text), 1, 16)::simhash64::bigint
		& x''0fff0fff0fff0000''::bigint)::simhash64 AS fp FROM generate_series(1, 100000) i', '{5,6}',
	'SELECT * FROM simhash_pairs(''SELECT place, fp FROM input'', 6)', 6);
CALL for_each_table('DROP TABLE %1$s');
