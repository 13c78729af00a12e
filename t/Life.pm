# What the tests of upgrades, dumps and replication share: a database with
# everything that simhash stores, and what it answers.
package Life;

use strict;
use warnings;

use Exporter qw(import);

our @EXPORT = qw(create_life_database change_rows answers);

# Make a database with an extension in a schema of its own, which is on no search
# path but that of the sessions here.  Autovacuum should be off.
sub create_life_database
{
	my ($node, $dbname) = @_;

	$node->safe_psql('postgres', "CREATE DATABASE $dbname");
	$node->safe_psql($dbname, <<'SQL');
CREATE SCHEMA ext;
CREATE EXTENSION simhash SCHEMA ext;
SET search_path = public, ext;

-- five texts of thirty words that are near each other, and so on; some are NULL
CREATE FUNCTION body_of(i int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT CASE WHEN i % 41 > 0 THEN string_agg(CASE WHEN w = i % 5 * 7 THEN 'Straße'
		ELSE left(md5(i / 5 || ' ' || w), 4) END, ' ' ORDER BY w) END
	FROM generate_series(1, 30) w
$$;

CREATE TABLE docs (
	id int PRIMARY KEY,
	body text,
	weights simhash_weights,
	plain simhash64,
	fp simhash64 GENERATED ALWAYS AS (minhash(body)) STORED,
	weighted simhash64 GENERATED ALWAYS AS (simhash(body, weights)) STORED,
	wide simhash128 GENERATED ALWAYS AS (minhash_128(body)) STORED,
	ball hamming_ball,
	wide_ball hamming_ball128,
	distance hamming_distance,
	fps simhash64[],
	wides simhash128[]
);
INSERT INTO docs (id, body, weights, plain, ball, wide_ball, distance, fps, wides)
SELECT i, b, jsonb_build_object('straße', i % 4, '', 1 + 1 / i::float8)::simhash_weights, simhash(b),
	hamming_ball(minhash(b), i % 67 - 1), hamming_ball_128(minhash_128(b), i % 131 - 1),
	minhash(b) <-> minhash(body_of(8)), ARRAY[NULL, simhash(b)], ARRAY[minhash_128(b), NULL]
FROM generate_series(1, 2000) i, LATERAL (SELECT body_of(i) AS b) s;
CREATE INDEX docs_fp ON docs USING hamming (fp) WITH (fillfactor = 50);
CREATE INDEX docs_weighted ON docs USING hamming (weighted) WITH (blocks = 8);
CREATE INDEX docs_wide ON docs USING hamming (wide) WITH (blocks = 5);
CREATE INDEX docs_partial ON docs USING hamming (plain) WITH (blocks = 3) WHERE id > 1000;
CREATE INDEX docs_shingles ON docs USING hamming (simhash_128(body, chars => 5)) WITH (blocks = 3);
CREATE INDEX docs_gist ON docs USING gist (simhash(body, words => 2));
CREATE INDEX docs_btree ON docs (wide DESC, fp);
CREATE INDEX docs_hash ON docs USING hash (plain);

CREATE TABLE passages (
	doc int REFERENCES docs ON DELETE CASCADE,
	place int,
	fp simhash64,
	PRIMARY KEY (doc, place)
);
INSERT INTO passages SELECT id, p.place, p.fp FROM docs, minhash_passages(body) p;
CREATE INDEX passages_fp ON passages USING hamming (fp);

CREATE TABLE refused (
	id int PRIMARY KEY,
	body text,
	fp simhash64 GENERATED ALWAYS AS (minhash(body)) STORED,
	wide simhash128 GENERATED ALWAYS AS (minhash_128(body)) STORED,
	CONSTRAINT refused_fp EXCLUDE USING hamming (fp WITH %),
	CONSTRAINT refused_wide EXCLUDE USING hamming (wide WITH %, (id % 2) WITH =),
	CONSTRAINT refused_gist EXCLUDE USING gist (simhash(body, words => 2) WITH %)
);
INSERT INTO refused SELECT i, body_of(i * 5) FROM generate_series(1, 200) i;

CREATE TABLE parts (id int, fp simhash64, PRIMARY KEY (id, fp)) PARTITION BY RANGE (fp);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (MINVALUE) TO ('8000000000000000');
CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM ('8000000000000000') TO (MAXVALUE);
CREATE INDEX parts_fp ON parts USING hamming (fp) WITH (blocks = 6);
INSERT INTO parts SELECT id, fp FROM docs WHERE fp IS NOT NULL;

CREATE UNLOGGED TABLE unlogged (id int PRIMARY KEY, fp simhash64);
CREATE INDEX unlogged_fp ON unlogged USING hamming (fp);
INSERT INTO unlogged SELECT id, fp FROM docs;

CREATE VIEW near AS
SELECT id, fp <-> 'f60e4a4e5bd1ec0f' AS bits FROM docs WHERE fp <-> minhash(body_of(8)) <= 9;
CREATE VIEW pairs AS SELECT a.id AS a, b.id AS b FROM docs a JOIN docs b
	ON a.wides[1] % b.wides[1] AND a.id < b.id AND a.id % 5 = 0;
CREATE MATERIALIZED VIEW kept AS
SELECT id, fp, fp <-> minhash(body_of(8)) AS bits FROM docs WHERE plain % simhash(body_of(id));
CREATE UNIQUE INDEX kept_id ON kept (id);
CREATE INDEX kept_fp ON kept USING hamming (fp) WITH (blocks = 7);

-- What a query finds: the number of its rows, and a hash of them.  Its plan has to
-- contain a word, and other plans have to find the same.
CREATE FUNCTION answer(query text, word text) RETURNS text LANGUAGE plpgsql
SET search_path = public, ext SET jit = off
SET enable_seqscan = off SET enable_indexscan = on SET enable_bitmapscan = on SET enable_nestloop = off
SET simhash.enable_hammingjoin = on AS $$
DECLARE
	hashed text := format('SELECT count(*) || '' '' || coalesce(md5(string_agg(r::text, '','' '
		'ORDER BY r::text COLLATE "C")), '''') FROM (%s) r', query);
	plan text;
	result text;
	other_result text;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	IF strpos(plan, '"' || word || '"') = 0 THEN
		RAISE 'no % in the plan of %: %', word, query, plan;
	END IF;
	EXECUTE hashed INTO result;
	PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_indexscan', 'off', true),
		set_config('enable_bitmapscan', 'off', true),
		set_config('simhash.enable_hammingjoin', 'off', true);
	EXECUTE hashed INTO other_result;
	IF result <> other_result THEN
		RAISE 'without %, % finds %, not %', word, query, other_result, result;
	END IF;
	RETURN result;
END $$;

CREATE TABLE searches (query text PRIMARY KEY, word text);
INSERT INTO searches SELECT format(query, k), word FROM generate_series(0, 20, 5) k, (VALUES
	('SELECT id FROM docs WHERE fp <-> minhash(body_of(8)) <= %s', 'docs_fp'),
	('SELECT id FROM docs WHERE weighted <@ hamming_ball(simhash(body_of(8), ''{"straße": 3}''), %s)',
		'docs_weighted'),
	('SELECT id FROM docs WHERE wide <-> minhash_128(body_of(1008)) <= %s * 2', 'docs_wide'),
	('SELECT id FROM docs WHERE plain <-> simhash(body_of(1008)) <= %s AND id > 1000', 'docs_partial'),
	('SELECT id FROM docs WHERE simhash_128(body, chars => 5) <-> simhash_128(body_of(8), chars => 5) <= %s * 2',
		'docs_shingles'),
	('SELECT id FROM docs WHERE simhash(body, words => 2) <-> simhash(body_of(8), words => 2) <= %s',
		'docs_gist'),
	('SELECT doc, place FROM passages WHERE fp <-> minhash(left(body_of(8), 60)) <= %s', 'passages_fp'),
	('SELECT id FROM refused WHERE fp <-> minhash(body_of(40)) <= %s', 'refused_fp'),
	('SELECT id FROM refused WHERE wide <-> minhash_128(body_of(40)) <= %s * 2', 'refused_wide'),
	('SELECT id FROM refused WHERE simhash(body, words => 2) <-> simhash(body_of(40), words => 2) <= %s',
		'refused_gist'),
	('SELECT id FROM parts WHERE fp <-> minhash(body_of(8)) <= %s', 'parts_low_fp_idx'),
	('SELECT id FROM parts WHERE fp <-> minhash(body_of(8)) <= %s + 1', 'parts_high_fp_idx'),
	('SELECT id, bits FROM kept WHERE fp <-> minhash(body_of(8)) <= %s', 'kept_fp')
) v (query, word);
INSERT INTO searches VALUES
	('SELECT * FROM docs', 'docs'),
	('SELECT * FROM passages', 'passages'),
	('SELECT * FROM refused', 'refused'),
	('SELECT * FROM parts', 'parts_low'),
	('SELECT * FROM kept', 'kept'),
	('SELECT * FROM near', 'docs_fp'),
	('SELECT * FROM pairs', 'HammingJoin'),
	('SELECT a.id, b.id FROM docs a JOIN docs b ON a.plain <-> b.plain <= 5 AND a.id % 5 = 0', 'HammingJoin'),
	('SELECT id FROM docs WHERE fp % minhash(body_of(1008))', 'docs_fp'),
	('SELECT id FROM docs WHERE fp IS NULL', 'docs_fp'),
	('SELECT id FROM docs WHERE weighted IS NULL', 'docs_weighted'),
	('SELECT id FROM docs WHERE wide = minhash_128(body_of(8))', 'docs_wide'),
	('SELECT id FROM docs WHERE wide < ''80000000000000000000000000000000''', 'docs_btree'),
	('SELECT id FROM docs WHERE plain = simhash(body_of(8))', 'docs_hash'),
	('SELECT fp <-> minhash(body_of(8)) FROM docs ORDER BY fp <-> minhash(body_of(8)) LIMIT 50', 'docs_fp'),
	('SELECT wide <-> minhash_128(body_of(8)) FROM docs ORDER BY wide <-> minhash_128(body_of(8)) LIMIT 50',
		'docs_wide'),
	('SELECT id, simhash_cluster(fp, 8) OVER (ORDER BY id) FROM docs', 'WindowAgg'),
	('SELECT id, simhash_cluster(wide, 16, ''leader'') OVER (ORDER BY id) FROM docs', 'WindowAgg');
SQL
	# dead rows in the indexes, and places of those that a vacuum has removed
	change_rows($node, $dbname);
	return;
}

# Change a database further, so that the same changes of equal databases keep them
# equal.
sub change_rows
{
	my ($node, $dbname) = @_;

	$node->safe_psql($dbname, <<'SQL');
SET search_path = public, ext;
INSERT INTO docs (id, body, plain) SELECT new, body_of(new), simhash(body_of(new))
	FROM (SELECT max(id) + i AS new FROM docs, generate_series(1, 100) i GROUP BY i) s;
DELETE FROM docs WHERE id IN (SELECT id FROM docs ORDER BY id % 7, id LIMIT 150);
DELETE FROM refused WHERE id IN (SELECT id FROM refused ORDER BY id % 7, id LIMIT 10);
DELETE FROM parts WHERE id % 7 = 3;
VACUUM;
INSERT INTO refused SELECT new, body_of(new * 5)
	FROM (SELECT max(id) + i AS new FROM refused, generate_series(1, 10) i GROUP BY i) s;
UPDATE docs SET body = body_of(id - 5), plain = simhash(body_of(id - 5)) WHERE id % 4 = 1;
UPDATE passages SET fp = (fp::bigint # 1)::simhash64 WHERE place = 2;
DELETE FROM docs WHERE id IN (SELECT id FROM docs ORDER BY id % 11, id LIMIT 50);
REFRESH MATERIALIZED VIEW CONCURRENTLY kept;
ANALYZE;
SQL
	return;
}

# What a database answers to its searches, by each of its indexes.  Dies where an
# index is not used or not sound, or disagrees with its table.  Also for a standby:
# the unlogged table is left out.
sub answers
{
	my ($node, $dbname) = @_;

	return $node->safe_psql($dbname, <<'SQL');
SET search_path = public, ext;
SELECT query, answer(query, word) FROM searches ORDER BY query COLLATE "C";
SELECT i.relname, blocks, hamming_index_check(i.oid, heap => NOT pg_is_in_recovery())
FROM pg_class i JOIN pg_am am ON am.oid = i.relam, LATERAL hamming_index_stats(i.oid)
WHERE amname = 'hamming' AND i.relkind = 'i' AND i.relpersistence = 'p'
ORDER BY 1;
SQL
}

1;
