-- The literal query uses an index, however it is written.  For plans.sql, which sets
-- the method of the index, the bits of a fingerprint, and what names of functions
-- end with.

-- join.sql has the method that joins need no index for
SET simhash.enable_hammingjoin = off;

CREATE TABLE docs (id int PRIMARY KEY, body text, fp simhash:bits, k int);
INSERT INTO docs
SELECT i, md5(i::text) || ' ' || md5((i % 7)::text),
	CASE WHEN i % 10 = 0 THEN NULL
		-- near-duplicates of row i - 1, at distance 1 to 6
		WHEN i % 10 = 1 THEN
			(left(md5((i - 2)::text), :bits / 4)::simhash:bits::bit(:bits)
			# ((1 << (i / 10 % 6 + 1)) - 1)::bit(:bits))::simhash:bits
		ELSE left(md5(i::text), :bits / 4)::simhash:bits END,
	i % 5
FROM generate_series(1, 20000) i;
CREATE INDEX docs_fp ON docs USING :method (fp);
VACUUM ANALYZE docs;
CREATE TABLE queries (q simhash:bits, k smallint);
INSERT INTO queries SELECT fp, 3 FROM docs WHERE id IN (9, 19, 29, 39, 49);
INSERT INTO queries VALUES (NULL, 3), (repeat('0', :bits / 4)::simhash:bits, NULL);
ANALYZE queries;
SELECT fp AS q, left(repeat('0123456789abcdef', 8), :bits / 4) AS other FROM docs WHERE id = 49 \gset

SELECT plan_as_before(format('SELECT id FROM docs WHERE ' || form, :'q'))
FROM (VALUES ('fp <-> %L <= 3'), ('fp <-> %L < 4'), ('%L <-> fp <= 3'),
	('3 >= fp <-> %L'), ('4 > %L <-> fp'), ('fp <-> %L BETWEEN 0 AND 3'),
	('fp <-> %L BETWEEN 2 AND 6'),
	('fp <-> %L <= 3::smallint'), ('fp <-> %L <= 3::bigint'),
	('fp <-> %L <= 3::hamming_distance'), ('fp <-> %L <= ''3'''),
	('3::smallint >= fp <-> %L'), ('3::bigint >= fp <-> %L'),
	('simhash_distance(fp, %L) <= 3'), ('simhash_within(fp, %L, 3)'),
	('fp %% %L'), ('%L %% fp'), ('fp <@ ' || :'ball' || '(%L, 3)'),
	(:'ball' || '(%L, 3) @> fp'),
	('fp <-> %L <= 0'), ('fp <-> %L <= 6 AND k = 3')) f(form);

-- a bound that is no bound
SELECT plan_as_before(format('SELECT id FROM docs WHERE ' || form, :'q'))
FROM (VALUES ('fp <-> %L <= -1'), ('fp <-> %L < 0'),
	('fp <-> %L < -9223372036854775808'), ('fp <-> %L <= NULL')) f(form);
SELECT count(*) FROM docs WHERE fp <-> :'q' <= NULL;
SELECT count(*) FROM docs WHERE fp <-> NULL <= 3;
SELECT rows_as_before(format('SELECT id FROM docs WHERE ' || form, :'q'))
FROM (VALUES ('fp <-> %L <= ' || :bits), ('fp <-> %L < ' || :bits + 1),
	('fp <-> %L <= 9223372036854775807'), ('fp <-> %L >= 0'), ('fp <-> %L > 3'),
	('fp <-> %L >= -9223372036854775808'), ('NOT fp <-> %L <= 3')) f(form);
SELECT count(*), count(fp) FROM docs WHERE fp <-> :'q' <= :bits;
SELECT count(*), count(fp) FROM docs WHERE fp <-> :'q' >= 0;
SELECT count(*) FROM docs WHERE (fp <-> :'q' <= 3) IS NULL;

-- equality and lists give right rows, without an index
SELECT plan_as_before(format('SELECT id FROM docs WHERE ' || form, :'q'))
FROM (VALUES ('fp <-> %L = 2'), ('fp <-> %L IN (0, 2)')) f(form);

-- a fingerprint of a text, and a fingerprint of another row
SELECT plan_as_before(format('SELECT id FROM docs WHERE fp <-> %s(''of text'') <= 10', 'simhash' || :'suffix'));
SELECT plan_as_before($$SELECT id, q FROM queries JOIN docs ON fp <-> q <= 3$$);
SELECT plan_as_before($$SELECT id, q FROM queries q JOIN docs d ON fp <-> q <= q.k$$);
SELECT plan_as_before($$SELECT id, q FROM queries q LEFT JOIN docs d ON fp <-> q <= 3$$);
SELECT plan_as_before($$SELECT q FROM queries WHERE EXISTS (
	SELECT FROM docs WHERE fp <-> q <= 3)$$);
SELECT plan_as_before($$SELECT q, n.* FROM queries, LATERAL (
	SELECT id FROM docs WHERE fp <-> q <= 3 ORDER BY id LIMIT 2) n$$);
SELECT plan_as_before(format('SELECT d.id FROM (VALUES (''x y z''), (''a b c'')) other(body)
	JOIN docs d ON d.fp <-> %s(other.body) <= 8', 'simhash' || :'suffix'));
SELECT plan_as_before($$SELECT b.id FROM docs a JOIN docs b ON a.fp <-> b.fp <= 2
	WHERE a.id < 100$$);

-- the nearest
SELECT plan_as_before(format('SELECT fp <-> %1$L FROM docs ORDER BY fp <-> %1$L LIMIT 10',
	:'q'));
SELECT plan_as_before(format('SELECT fp <-> %1$L FROM docs ORDER BY %1$L <-> fp LIMIT 10',
	:'q'));
SELECT plan_as_before(format('SELECT fp <-> %1$L FROM docs ORDER BY fp <-># %1$L LIMIT 10',
	:'q'));
SELECT plan_as_before(format('SELECT fp <-> %1$L d FROM docs ORDER BY d LIMIT 10', :'q'));
SELECT plan_as_before($$SELECT q, n.d FROM queries, LATERAL (
	SELECT fp <-> q d FROM docs ORDER BY fp <-> q LIMIT 2) n WHERE q IS NOT NULL$$);
SET enable_bitmapscan = off;
SET enable_sort = off;
SELECT use_as_before(format('SELECT fp <-> %1$L FROM docs WHERE fp <-> %1$L <= 6
	ORDER BY fp <-> %1$L LIMIT 10', :'q'));
RESET enable_bitmapscan;
RESET enable_sort;
SELECT rows_as_before(format('SELECT fp <-> %1$L FROM docs WHERE fp <-> %1$L <= 6
	ORDER BY fp <-> %1$L LIMIT 10', :'q'));

-- parameters, under a generic plan
SET plan_cache_mode = force_generic_plan;
PREPARE untyped AS SELECT id FROM docs WHERE fp <-> $1 <= $2;
PREPARE typed(simhash:bits, smallint) AS SELECT id FROM docs WHERE fp <-> $1 <= $2;
PREPARE below(simhash:bits, bigint) AS SELECT id FROM docs WHERE fp <-> $1 < $2;
PREPARE body(text) AS SELECT id FROM docs WHERE fp <-> simhash:suffix($1) <= 3;
PREPARE nearest(simhash:bits) AS
	SELECT fp <-> $1 FROM docs ORDER BY fp <-> $1 LIMIT 3;
SELECT use_as_before(format('EXECUTE ' || form, :'q'))
FROM (VALUES ('untyped(%L, 3)'), ('typed(%L, 3)'), ('below(%L, 4)'),
	('body(%L)'), ('nearest(%L)')) f(form);
EXECUTE untyped(:'q', 3);
EXECUTE untyped(:'q', NULL);
EXECUTE typed(:'q', -1);
EXECUTE below(:'q', -9223372036854775808);
EXECUTE body('');
EXECUTE nearest(:'q');
RESET plan_cache_mode;
SELECT parameter_types FROM pg_prepared_statements WHERE name = 'untyped';
DEALLOCATE ALL;

-- views, CTEs, functions
CREATE VIEW distances AS SELECT id, fp <-> :'other' AS distance FROM docs;
SELECT plan_as_before('SELECT id FROM distances WHERE distance <= 3');
SELECT plan_as_before('SELECT distance FROM distances ORDER BY distance LIMIT 3');
SELECT plan_as_before(format('WITH c AS (SELECT * FROM docs)
	SELECT id FROM c WHERE fp <-> %L <= 3', :'q'));
SELECT plan_as_before(format('WITH c AS MATERIALIZED (SELECT id FROM docs WHERE fp <-> %L <= 3)
	SELECT * FROM c', :'q'));
CREATE FUNCTION near_sql(q simhash:bits, radius int) RETURNS SETOF int STABLE
	LANGUAGE sql AS 'SELECT id FROM docs WHERE fp <-> q <= radius';
SELECT plan_as_before(format('SELECT * FROM near_sql(%L, 3)', :'q'));
CREATE FUNCTION near_plpgsql(q simhash:bits, radius int) RETURNS SETOF text
	LANGUAGE plpgsql AS $$
DECLARE
	r text;
BEGIN
	FOR r IN EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE fp <-> q <= radius LOOP
		IF r ~ 'Index Cond' THEN RETURN NEXT trim(r); END IF;
	END LOOP;
	FOR r IN SELECT id FROM docs WHERE fp <-> q <= radius LOOP RETURN NEXT r; END LOOP;
END $$;
SELECT near_plpgsql(:'q', 3);
SELECT near_plpgsql(:'q', NULL);

-- UPDATE and DELETE
SELECT use_as_before(format('UPDATE docs SET k = 0 WHERE fp <-> %L <= 3', :'q'));
SELECT use_as_before('DELETE FROM docs USING queries WHERE fp <-> q <= 3');
BEGIN;
WITH deleted AS (DELETE FROM docs USING queries WHERE fp <-> q <= 3 RETURNING id)
SELECT id FROM deleted ORDER BY id;
ROLLBACK;

-- expression and partial indexes
CREATE INDEX docs_body ON docs USING :method (simhash:suffix(body));
CREATE INDEX docs_partial ON docs USING :method (fp) WHERE k = 2;
ANALYZE docs;
SELECT plan_as_before(format('SELECT id FROM docs WHERE %1$s(body) <-> %1$s(''x'') <= 18', 'simhash' || :'suffix'));
SELECT plan_as_before(format('SELECT %1$s(body) <-> %1$s(''x'') FROM docs
	ORDER BY %1$s(body) <-> %1$s(''x'') LIMIT 3', 'simhash' || :'suffix'));
DROP INDEX docs_fp;
SELECT plan_as_before(format('SELECT id FROM docs WHERE fp <-> %L <= 6 AND k = 2', :'q'));
SELECT plan_as_before(format('SELECT id FROM docs WHERE fp <-> %L <= 6', :'q'));
DROP INDEX docs_body, docs_partial;
CREATE INDEX docs_fp ON docs USING :method (fp);

-- row-level security
CREATE ROLE simhash_reader;
GRANT SELECT ON docs, queries TO simhash_reader;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON docs TO simhash_reader USING (id % 2 = 0 OR k = 4);
SET ROLE simhash_reader;
SELECT plan_as_before(format('SELECT id FROM docs WHERE fp <-> %L <= 6', :'q'));
SELECT plan_as_before(format('SELECT id FROM docs WHERE fp %% %L', :'q'));
SET enable_seqscan = off;
SELECT use_as_before('SELECT id FROM queries q JOIN docs ON fp <-> q < q.k');
RESET enable_seqscan;
SELECT plan_as_before(format('SELECT fp <-> %1$L FROM docs ORDER BY fp <-> %1$L LIMIT 3', :'q'));
RESET ROLE;
ALTER TABLE docs DISABLE ROW LEVEL SECURITY;
DROP OWNED BY simhash_reader;
DROP ROLE simhash_reader;

-- partitions
CREATE TABLE parted (id int, fp simhash:bits) PARTITION BY RANGE (id);
CREATE TABLE parted1 PARTITION OF parted FOR VALUES FROM (0) TO (10001);
CREATE TABLE parted2 PARTITION OF parted FOR VALUES FROM (10001) TO (20001);
INSERT INTO parted SELECT id, fp FROM docs;
CREATE INDEX ON parted USING :method (fp);
ANALYZE parted;
SELECT plan_as_before(format('SELECT id FROM parted WHERE fp <-> %L <= 6', :'q'));
SELECT plan_as_before(format('SELECT fp <-> %1$L FROM parted ORDER BY fp <-> %1$L LIMIT 3', :'q'));
DROP TABLE parted;

-- a stored distance uses a btree index
CREATE TABLE stored AS SELECT id, (id % 65)::hamming_distance AS d FROM docs;
CREATE INDEX stored_d ON stored (d);
ANALYZE stored;
SELECT plan_as_before('SELECT id FROM stored WHERE ' || form)
FROM (VALUES ('d <= 1'), ('d < 1::smallint'), ('63::bigint < d'), ('d >= ''63'''),
	('d <= 1::hamming_distance')) f(form);
SELECT plan_as_before('SELECT d FROM stored ORDER BY d LIMIT 3');
DROP TABLE stored;

-- in a schema that is not searched, and moved
CREATE SCHEMA elsewhere;
ALTER EXTENSION simhash SET SCHEMA elsewhere;
SELECT plan_as_before(format('SELECT id FROM docs WHERE fp OPERATOR(elsewhere.<->) %L
	OPERATOR(elsewhere.<=) 3', :'q'));
SELECT plan_as_before(format('SELECT fp OPERATOR(elsewhere.<->) %1$L FROM docs
	ORDER BY fp OPERATOR(elsewhere.<->) %1$L LIMIT 3', :'q'));
SELECT plan_as_before('SELECT id FROM distances WHERE distance OPERATOR(elsewhere.<=) 3');
SET search_path = elsewhere, public;
SELECT plan_as_before(format('SELECT id FROM docs WHERE fp <-> %L <= 3', :'q'));
RESET search_path;
ALTER EXTENSION simhash SET SCHEMA public;
DROP SCHEMA elsewhere;

-- what is not there is not used
ALTER FUNCTION simhash_within(simhash:bits, simhash:bits, bigint) RENAME TO renamed;
SELECT rows_as_before(format('SELECT id FROM docs WHERE fp <-> %L <= 3', :'q'));
ALTER FUNCTION renamed(simhash:bits, simhash:bits, bigint) RENAME TO simhash_within;
DROP VIEW distances;
DROP FUNCTION near_sql, near_plpgsql;
DROP TABLE docs, queries;
