-- Pairs, clusters, joins and parts of fingerprints of two words that repeat, are equal to each other, or lie dense
\pset format unaligned \pset tuples_only on \set ECHO queries

CREATE TABLE shapes_of_words AS SELECT shape, format('SELECT * FROM many_words(%L, 270)', shape) AS source
FROM unnest('{random,half,last half,constant,few,equal,swapped,ball}'::text[]) shape;
SELECT shape, check_pairs(source, '{0,1,8,9,16,21,33,64,127,128}') FROM shapes_of_words;
SELECT shape, check_clusters(source, '{0,9,16,21}') FROM shapes_of_words;
SELECT shape, check_parts(source, '{0,1,16,63,127}', '{1,3,50}') FROM shapes_of_words;

-- Word 0 of all lies dense, and word 1 of each 40: dense groups of word 0 turn to word 1, and find pairs there that
-- are not near enough in word 0.
CREATE TABLE dense_words AS SELECT i AS id, (flipped('0123456789abcdef'::simhash64,
		('x' || left(h, 16))::bit(64)::bigint & ('x' || right(h, 16))::bit(64)::bigint & hashint8extended(i, 1))::text
	|| flipped(left(md5((i % 200)::text), 16)::simhash64, bits(i, 11, i / 200 % 3))::text)::simhash128 AS fp
FROM generate_series(1, 8000) i, LATERAL (SELECT md5(i::text) AS h) m;
SELECT k, count(*) AS pairs, count(*) - count(DISTINCT (a, b)) AS twice
FROM unnest('{8,12}'::int[]) k, simhash_pairs('SELECT id, fp FROM dense_words', k) GROUP BY k;

-- in files
SET work_mem = '64kB';
SET hash_mem_multiplier = 1;
SELECT shape, check_pairs(replace(source, '270', '1500'), '{9,20}') FROM shapes_of_words;
