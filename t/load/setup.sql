-- A table that sessions change and search at the same time; each search compares
-- the index with a sequential scan under one snapshot.

CREATE EXTENSION simhash;
-- twice the bits, twice as far apart: many that differ have the first word in common, or
-- the second
CREATE FUNCTION widen(fp simhash64) RETURNS simhash128 LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
	'SELECT regexp_replace(fp::text, ''(.{8})(.{8})'', ''\1\1\2\2'')::text::simhash128';
CREATE TABLE docs (id bigserial, fp simhash64,
	wide simhash128 GENERATED ALWAYS AS (widen(fp)) STORED) WITH (autovacuum_enabled = off);

-- half near one of a hundred others, a fifth equal to many others, a tenth to few,
-- which come and go, some without fingerprint
CREATE FUNCTION some_fp(r int) RETURNS simhash64 LANGUAGE sql AS $$
	SELECT CASE WHEN r % 50 = 0 THEN NULL
		WHEN r % 10 IN (2, 4) THEN substr(md5((r % 40)::text), 1, 16)::simhash64
		WHEN r % 10 = 6 THEN substr(md5((r % 20000)::text), 1, 16)::simhash64
		WHEN r % 2 = 0 THEN substr(md5(r::text), 1, 16)::simhash64
		ELSE (substr(md5((r % 100)::text), 1, 16)::simhash64::bigint
			# (1::bigint << r % 64) # (1::bigint << r / 64 % 64))::simhash64 END
$$;
INSERT INTO docs (fp) SELECT some_fp((random() * 1e6)::int) FROM generate_series(1, 10000);
CREATE INDEX docs_fp ON docs USING hamming (fp) WITH (fillfactor = 20, blocks = 8);
CREATE INDEX docs_wide ON docs USING hamming (wide) WITH (fillfactor = 20, blocks = 8);

CREATE FUNCTION verify(q simhash64, k int) RETURNS void LANGUAGE plpgsql
SET enable_seqscan = off SET jit = off AS $$
DECLARE
	wrong boolean;
	wrong_wide boolean;
BEGIN
	WITH by_scan AS MATERIALIZED (
		SELECT array_agg(id ORDER BY id) AS ids FROM docs WHERE fp <-># q <= k)
	SELECT (SELECT array_agg(id ORDER BY id) FROM docs WHERE fp <-> q <= k) IS DISTINCT FROM ids,
		(SELECT array_agg(id ORDER BY id) FROM docs WHERE wide <-> widen(q) <= 2 * k)
		IS DISTINCT FROM ids
	INTO wrong, wrong_wide FROM by_scan;
	IF wrong THEN
		RAISE 'index and table differ within % of %', k, q;
	END IF;
	IF wrong_wide THEN
		RAISE 'index and table differ within % of %', 2 * k, widen(q);
	END IF;
	-- in turns
	SELECT CASE WHEN k % 2 = 0 THEN (SELECT array_agg(d) FROM
			(SELECT fp <-># q AS d FROM docs ORDER BY fp <-> q LIMIT 300) s)
		ELSE (SELECT array_agg(d / 2) FROM
			(SELECT wide <-># widen(q) AS d FROM docs ORDER BY wide <-> widen(q) LIMIT 300) s) END
		IS DISTINCT FROM (SELECT array_agg(d) FROM
			(SELECT fp <-># q AS d FROM docs ORDER BY (fp <-># q) + 0 LIMIT 300) s)
		INTO wrong;
	IF wrong THEN
		RAISE 'index and table differ in the nearest of %', q;
	END IF;
END $$;

-- for every k, or every third one, of one centre or the other, and the NULLs
CREATE FUNCTION verify_all(step int DEFAULT 1) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM verify(some_fp(1 + k / 2 % 2), k) FROM generate_series(-1, 64, step) k;
	-- within any k the same
	PERFORM verify(NULL, k) FROM unnest('{-1,3,64}'::int[]) k;
	PERFORM set_config('enable_seqscan', 'off', true);
	IF (SELECT count(*) FROM docs WHERE fp IS NULL)
			<> (SELECT count(*) FROM docs WHERE fp::bigint IS NULL)
		OR (SELECT count(*) FROM docs WHERE wide IS NULL)
			<> (SELECT count(*) FROM docs WHERE fp::bigint IS NULL) THEN
		RAISE 'index and table differ in NULLs';
	END IF;
	RETURN 'as the table';
END $$;
