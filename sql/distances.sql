-- simhash_distances: the distances in a sample of a column

CREATE TABLE docs (id int, fp simhash64);
INSERT INTO docs VALUES (1, '0000000000000000'), (2, '0000000000000000'),
	(3, '0000000000000001'), (4, 'ffffffffffffffff'), (5, NULL);
SELECT * FROM simhash_distances('docs', 'fp', 100) WHERE pairs > 0;
-- every distance has a row
SELECT count(*), min(distance), max(distance), count(DISTINCT distance)
FROM simhash_distances('docs', 'fp', 100);
SELECT simhash_distances('docs', 'fp', 100) LIMIT 2;

-- all pairs, each once, where the sample holds the column
CREATE TABLE many AS SELECT id, CASE WHEN id % 7 > 0 THEN
	substr(md5((id % 300)::text), 1, 16)::simhash64 END AS fp
FROM generate_series(1, 2000) id;
SELECT count(*) AS wrong
FROM (SELECT a.fp <-># b.fp AS distance, count(*) AS pairs
	FROM many a JOIN many b ON a.id < b.id
	WHERE a.fp IS NOT NULL AND b.fp IS NOT NULL GROUP BY 1) exact
	FULL JOIN simhash_distances('many', 'fp', 1715) found USING (distance)
WHERE coalesce(exact.pairs, 0) IS DISTINCT FROM found.pairs;
CREATE TABLE wide AS SELECT id, widen(fp, way) AS fp
FROM (SELECT id, fp, ('{first,last,spread,twice}'::text[])[id % 4 + 1] AS way FROM many WHERE id <= 700) s;
SELECT count(*), max(distance), count(*) FILTER (WHERE exact.pairs IS DISTINCT FROM nullif(found.pairs, 0)) AS wrong
FROM (SELECT a.fp <-># b.fp AS distance, count(*) AS pairs
	FROM wide a JOIN wide b ON a.id < b.id
	WHERE a.fp IS NOT NULL AND b.fp IS NOT NULL GROUP BY 1) exact
	FULL JOIN simhash_distances('wide', 'fp', 700) found USING (distance);
SELECT sum(pairs) = 1715 * 1714 / 2 AS whole_column FROM simhash_distances('many', 'fp', 2147483647);

-- otherwise as many as asked for
SELECT sample, sum(pairs) = sample * (sample - 1) / 2 AS of_sample
FROM unnest('{1,2,3,1000,1025,1714}'::int[]) sample, simhash_distances('many', 'fp', sample)
GROUP BY sample ORDER BY sample;
-- from all of the column: of 200 in 1000, half of which are zeros, no fewer than
-- 40 and no more than 160 are zeros, but for one sample in 10^20
CREATE TABLE halves AS
SELECT CASE WHEN i > 500 THEN 'ffffffffffffffff' ELSE '0000000000000000' END::simhash64 AS fp
FROM generate_series(1, 1000) i;
SELECT pairs >= 40 * 160 AS both FROM simhash_distances('halves', 'fp', 200) WHERE distance = 64;
-- and not always the same
SELECT count(DISTINCT pairs) > 1 AS random FROM generate_series(1, 50) i,
	simhash_distances('halves', 'fp', 200 + 0 * i) WHERE distance = 64;

-- fewer than two fingerprints have no pair
CREATE TABLE few (fp simhash64);
SELECT count(*), sum(pairs) FROM simhash_distances('few', 'fp', 10);
INSERT INTO few VALUES (NULL), (NULL);
SELECT count(*), sum(pairs) FROM simhash_distances('few', 'fp', 10);
INSERT INTO few VALUES ('0000000000000000');
SELECT count(*), sum(pairs) FROM simhash_distances('few', 'fp', 10);

-- whatever can be read, whatever its name
CREATE VIEW "A ""view" AS SELECT fp AS "Odd, isn't it", fp AS "select" FROM docs;
CREATE MATERIALIZED VIEW stored AS SELECT fp FROM docs;
CREATE TABLE parts (fp simhash64, part int) PARTITION BY LIST (part);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE part_2 PARTITION OF parts DEFAULT;
INSERT INTO parts SELECT fp, id % 2 FROM docs;
CREATE DOMAIN fingerprint AS simhash64;
CREATE DOMAIN stored_fingerprint AS fingerprint NOT NULL;
CREATE TABLE domains AS SELECT fp::stored_fingerprint AS fp FROM docs WHERE fp IS NOT NULL;
CREATE TABLE child () INHERITS (docs);
INSERT INTO child VALUES (6, '0000000000000003');
CREATE VIEW computed AS SELECT (id::bigint)::simhash64 AS fp FROM docs;
SELECT rel, column_name, array_agg(distance ORDER BY distance) AS distances,
	array_agg(pairs ORDER BY distance) AS pairs
FROM (VALUES ('"A ""view"', 'Odd, isn''t it'), ('"A ""view"', 'select'), ('stored', 'fp'),
		('parts', 'fp'), ('domains', 'fp'), ('docs', 'fp'), ('computed', 'fp')) v(rel, column_name),
	simhash_distances(rel::regclass, column_name, 100) d
WHERE pairs > 0 GROUP BY 1, 2 ORDER BY 1, 2;
DROP TABLE child;

-- the search path does not matter
CREATE TEMP TABLE docs AS SELECT fp FROM public.docs WHERE id = 1;
SELECT sum(pairs) FROM simhash_distances('public.docs', 'fp', 100);
SELECT sum(pairs) FROM simhash_distances('pg_temp.docs', 'fp', 100);
DROP TABLE pg_temp.docs;
SET search_path = '';
SELECT pg_catalog.sum(pairs) FROM public.simhash_distances('public.docs', 'fp', 100);
RESET search_path;

-- a column that is computed, and is not what it was: its NULLs are left out
CREATE SEQUENCE calls;
CREATE FUNCTION unsteady(fp simhash128) RETURNS simhash128 LANGUAGE plpgsql IMMUTABLE AS
	'BEGIN RETURN CASE WHEN nextval(''calls'') % 2 > 0 THEN fp END; END';
CREATE VIEW unsteady AS SELECT unsteady(fp) AS fp FROM wide;
SELECT count(*), sum(pairs) FROM simhash_distances('unsteady', 'fp', 10);

-- the query's snapshot: what it inserts itself is not in it
WITH inserted AS (INSERT INTO few VALUES ('0000000000000000') RETURNING 1)
SELECT sum(pairs) FROM (SELECT 10 * count(*) AS sample FROM inserted) i,
	simhash_distances('few', 'fp', sample::int);
SELECT sum(pairs) FROM simhash_distances('few', 'fp', 10);

-- the rights of the caller
CREATE ROLE simhash_sampler;
SET ROLE simhash_sampler;
SELECT error_of($$SELECT simhash_distances('docs', 'fp', 100)$$);
RESET ROLE;
GRANT SELECT (id) ON docs TO simhash_sampler;
SET ROLE simhash_sampler;
SELECT error_of($$SELECT simhash_distances('docs', 'fp', 100)$$);
RESET ROLE;
GRANT SELECT (fp) ON docs TO simhash_sampler;
SET ROLE simhash_sampler;
SELECT sum(pairs) FROM simhash_distances('docs', 'fp', 100);
RESET ROLE;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY near ON docs USING (id <> 4);
SET ROLE simhash_sampler;
SELECT * FROM simhash_distances('docs', 'fp', 100) WHERE pairs > 0;
RESET ROLE;
SELECT sum(pairs) FROM simhash_distances('docs', 'fp', 100);

SELECT error_of(statement) FROM (VALUES
	($$SELECT simhash_distances('docs', 'fp', 0)$$),
	($$SELECT simhash_distances('docs', 'fp', -2147483648)$$),
	($$SELECT simhash_distances('docs', 'nothing', 100)$$),
	-- not the whole row
	($$SELECT simhash_distances('docs', 'docs', 100)$$),
	($$SELECT simhash_distances('docs', 'id', 100)$$),
	($$SELECT simhash_distances('docs', 'ctid', 100)$$),
	($$SELECT simhash_distances('nothing', 'fp', 100)$$),
	($$SELECT simhash_distances(1::regclass, 'fp', 100)$$)) t(statement);
-- PostgreSQL words it differently from version to version
CREATE INDEX docs_fp ON docs (fp);
CREATE TYPE pair AS (fp simhash64);
SELECT left(error_of(statement), 5) FROM (VALUES
	($$SELECT simhash_distances('docs_fp', 'fp', 100)$$),
	($$SELECT simhash_distances('pair', 'fp', 100)$$)) t(statement);

-- NULL arguments
SELECT count(*) FROM (SELECT simhash_distances(NULL, 'fp', 100)
	UNION ALL SELECT simhash_distances('docs', NULL, 100)
	UNION ALL SELECT simhash_distances('docs', 'fp', NULL)) s;

DROP OWNED BY simhash_sampler;
DROP ROLE simhash_sampler;
DROP VIEW "A ""view", computed, unsteady;
DROP FUNCTION unsteady;
DROP SEQUENCE calls;
DROP MATERIALIZED VIEW stored;
DROP TABLE docs, many, wide, halves, few, parts, domains;
DROP DOMAIN stored_fingerprint, fingerprint;
DROP TYPE pair;
