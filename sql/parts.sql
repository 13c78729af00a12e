-- simhash_parts, and the pairs of one part: all parts together have each pair once
\pset format unaligned \pset tuples_only on \set ECHO queries

CALL make_tables(200);
SELECT check_parts(source || ' LIMIT 150', '{0,3,20}', '{1,13}'), string_agg(shape, ', ' ORDER BY shape) AS shapes
FROM shapes GROUP BY 1;
SELECT check_parts(source || ' LIMIT 60', '{33,51,63,64}', '{7}') FROM shapes WHERE shape = 'skewed';
SELECT way, check_parts(wide, '{0,16,65,127,128}', '{13}')
FROM widened((SELECT source || ' LIMIT 60' FROM shapes WHERE shape = 'balls'));
-- ids that are not unique, and NULLs
SELECT tab, check_parts('SELECT nullif(id % 20, 7) AS id, fp FROM ' || tab, '{0,3,8,64}', '{1,2,3,16}')
FROM tables WHERE tab IN ('skewed', 'duplicates', 'extremes', 'empty', 'only_null');

-- Rows that are not of the part are passed over, and rows of it come once each.
SELECT (SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM uniform', 24)) =
	(SELECT count(DISTINCT (a, b)) FROM generate_series(0, 9) part,
		simhash_pairs('SELECT id, fp FROM uniform', 24, part, 10)) AS all_of_them,
	(SELECT count(*) = count(DISTINCT (a, b)) FROM generate_series(0, 9) part,
		simhash_pairs('SELECT id, fp FROM uniform', 24, part, 10)) AS once;
-- arguments by name; all pairs are part 0 of 1 part, and part and parts go together
SELECT (SELECT array_agg(p) FROM simhash_pairs(query => source, max_distance => 24, part => 3, parts => 10) p) =
		(SELECT array_agg(p) FROM simhash_pairs(source, 24, 3, 10) p) AS by_name,
	(SELECT array_agg(p) FROM simhash_pairs(source, 24) p) =
		(SELECT array_agg(p) FROM simhash_pairs(source, 24, 0, 1) p) AS part_0_of_1
FROM (VALUES ('SELECT id, fp FROM uniform')) s (source);
SELECT left(error_of($$SELECT simhash_pairs('SELECT id, fp FROM uniform', 24, parts => 10)$$), 5) AS without_part,
	left(error_of($$SELECT simhash_pairs('SELECT id, fp FROM uniform', 24, part => 0)$$), 5) AS without_parts;
-- a pair is in a part of both
SELECT count(*) > 100 AS many, bool_and(part IN (SELECT simhash_parts(x.fp, 24, 10))
	AND part IN (SELECT simhash_parts(y.fp, 24, 10))) AS of_both
FROM generate_series(0, 9) part, simhash_pairs('SELECT id, fp FROM uniform', 24, part, 10)
	JOIN uniform x ON x.id = a JOIN uniform y ON y.id = b;

-- A large group of equal blocks is cut once more, by the bits behind them.
SELECT check_parts('SELECT i AS id, ((i::bigint * 2654435761 << 13) # (i % 7))::simhash64 AS fp
	FROM generate_series(1, 6000) i', '{1,3}', '{1,5}');

-- The numbers are frozen: tables are distributed by them.
SELECT k, n, ARRAY(SELECT simhash_parts('0123456789abcdef'::simhash64, k, n)) AS parts,
	ARRAY(SELECT simhash_parts('00112233445566778899aabbccddeeff'::simhash128, k, n)) AS parts_128
FROM (VALUES (0, 1000000), (1, 1000), (3, 1), (3, 4), (3, 16), (3, 1000), (8, 16), (8, 512),
	(20, 64), (64, 16), (3, 2147483647)) v (k, n);
-- ascending, each once, no more than k + 1 of them; all parts have rows
SELECT k, n, count(*) = count(DISTINCT (id, part)) AS once, bool_and(part BETWEEN 0 AND n - 1) AS in_range,
	count(DISTINCT part) = n AS all_parts, max(rank) <= k + 1 AS few
FROM (VALUES (0, 3), (1, 8), (3, 4), (3, 64), (8, 16), (8, 64)) v (k, n),
	(SELECT i AS id, substr(md5(i::text), 1, 16)::simhash64 AS fp FROM generate_series(1, 3000) i) docs,
	simhash_parts(fp, k, n) WITH ORDINALITY p (part, rank)
GROUP BY k, n ORDER BY k, n;
SELECT k, n, count(*) = count(DISTINCT (id, part)) AS once, bool_and(part BETWEEN 0 AND n - 1) AS in_range,
	count(DISTINCT part) = n AS all_parts, max(rank) <= k + 1 AS few
FROM (VALUES (0, 3), (1, 8), (16, 64), (100, 8)) v (k, n),
	(SELECT i AS id, md5(i::text)::uuid::simhash128 AS fp FROM generate_series(1, 1000) i) docs,
	simhash_parts(fp, k, n) WITH ORDINALITY p (part, rank)
GROUP BY k, n ORDER BY k, n;
SELECT count(*) FROM simhash_parts(NULL::simhash64, 3, 4);
SELECT simhash_parts('0000000000000000'::simhash64, NULL, 4);
SELECT simhash_parts('0000000000000000'::simhash64, 3, NULL);

SELECT error_of(statement) FROM unnest(ARRAY[
	$$SELECT simhash_parts('0000000000000000'::simhash64, -1, 4)$$,
	$$SELECT simhash_parts('0000000000000000'::simhash64, 65, 4)$$,
	$$SELECT simhash_parts(repeat('0', 32)::simhash128, 129, 4)$$,
	$$SELECT simhash_parts('0000000000000000'::simhash64, 3, 0)$$,
	$$SELECT simhash_parts('0000000000000000'::simhash64, 3, -4)$$,
	$$SELECT simhash_pairs('SELECT id, fp FROM uniform', 65, 0, 4)$$,
	$$SELECT simhash_pairs('SELECT id, fp FROM uniform', 3, 0, 0)$$,
	$$SELECT simhash_pairs('SELECT id, fp FROM uniform', 3, -1, 4)$$,
	$$SELECT simhash_pairs('SELECT id, fp FROM uniform', 3, 4, 4)$$,
	$$SELECT simhash_pairs('SELECT id FROM uniform', 3, 0, 4)$$]) statement;

CALL for_each_table('DROP TABLE %1$s');
