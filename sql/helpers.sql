-- The extension, and what the other tests share.  Every other test needs this one
-- to have run in the same database, and no third one.

CREATE EXTENSION simhash;
\set ECHO none

-- The error of a statement.
CREATE FUNCTION error_of(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text;
BEGIN
	EXECUTE statement;
	RETURN 'no error: ' || statement;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL;
	RETURN SQLSTATE || ': ' || SQLERRM || coalesce(' / ' || nullif(detail, ''), '');
END $$;

-- How many pairs of the rows (id, fp) of a query are at each distance up to
-- k: simhash_audit compares each with each.
CREATE FUNCTION count_distances(query text, k int) RETURNS TABLE (distance int, pairs bigint)
LANGUAGE sql AS $$
	SELECT max_distance, pairs - lag(pairs, 1, 0::bigint) OVER (ORDER BY max_distance)
	FROM simhash_audit(format('SELECT id, fp, '''' FROM (%s) s (id, fp)', query), 2147483647,
		max_distance => k)
$$;

-- What this session has not put away: its workers, its temporary files and directories.
CREATE FUNCTION left_behind() RETURNS bigint LANGUAGE sql AS $$
	SELECT (SELECT count(*) FROM pg_stat_activity WHERE leader_pid = pg_backend_pid())
		+ (SELECT count(*) FROM pg_ls_dir('base/pgsql_tmp', true, false) file
			WHERE file ^@ format('pgsql_tmp%s.', pg_backend_pid()))
$$;

-- The lines of a plan that match a pattern, and those that say how an index is
-- used.
CREATE FUNCTION plan_lines(query text, pattern text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
		IF line ~ pattern THEN
			RETURN NEXT regexp_replace(line, '^[ >-]*', '');
		END IF;
	END LOOP;
END $$;
CREATE FUNCTION index_use(query text) RETURNS SETOF text LANGUAGE sql AS
	$$SELECT plan_lines(query, 'Index Cond|Order By|Seq Scan|Index Only')$$;

-- Do the indexes give the rows that a sequential scan gives?
CREATE FUNCTION rows_of(query text) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE
	result text[];
BEGIN
	EXECUTE format('SELECT array_agg(r::text ORDER BY r::text) FROM (%s) r', query)
		INTO result;
	RETURN result;
END $$;
CREATE FUNCTION rows_by_index(query text) RETURNS text[] LANGUAGE sql
SET enable_seqscan = off SET jit = off AS 'SELECT rows_of(query)';
CREATE FUNCTION rows_by_scan(query text) RETURNS text[] LANGUAGE sql
SET enable_seqscan = on SET enable_indexscan = off SET enable_indexonlyscan = off
SET enable_bitmapscan = off AS 'SELECT rows_of(query)';
CREATE FUNCTION same_rows(query text) RETURNS boolean LANGUAGE sql AS
	'SELECT rows_by_index(query) IS NOT DISTINCT FROM rows_by_scan(query)';

-- Show how the index is used, and that it loses no row.
CREATE FUNCTION proves(query text) RETURNS text LANGUAGE sql AS $$
	SELECT concat_ws(' / ', string_agg(line, ' / '),
		CASE WHEN same_rows(query) THEN 'same rows' ELSE 'WRONG ROWS' END)
	FROM index_use(query) line
$$;

-- A fingerprint with some of its bits flipped, of each 64 the same.
CREATE FUNCTION flipped(fp simhash64, bits bigint) RETURNS simhash64 LANGUAGE sql IMMUTABLE AS
	'SELECT (fp::bigint # bits)::simhash64';
CREATE FUNCTION flipped(fp simhash128, bits bigint) RETURNS simhash128 LANGUAGE sql IMMUTABLE AS
	'SELECT (fp::bit(128) # (bits::bit(64) || bits::bit(64)))::simhash128';

-- Compare an index of a table (id, fp) with sequential scans: within each of the
-- radii and for the nearest 50, around values that are in the table, next to
-- one, and in no way related; and for the rows without a fingerprint.  What is
-- computed from a distance or a fingerprint never uses an index.
CREATE FUNCTION check_index(tab text, radii int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	q text;
	digits int;  -- of a fingerprint
	by_index text;
	by_scan text;
	rows_of_scan text[];  -- their number and a hash of their ids, for each of the radii
	searches int := 0;
	wrong int := 0;
	plan text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL jit = off;
	SELECT 2 * attlen INTO digits FROM pg_attribute
	WHERE attrelid = tab::regclass AND attname = 'fp';
	FOR q IN EXECUTE format('(SELECT fp::text FROM %1$s WHERE fp IS NOT NULL ORDER BY id LIMIT 2)
		UNION ALL (SELECT flipped(fp, 5)::text FROM %1$s ORDER BY id DESC LIMIT 1)
		UNION ALL SELECT repeat(unnest(''{00,ff,5555aaaa3333cccc}''::text[]), 16)', tab) LOOP
		q := left(q, digits);
		EXECUTE format('WITH at_distance AS MATERIALIZED (
				SELECT (fp <-># %L) + 0 AS d, count(*) AS n, sum(hashint8extended(id, 0)) AS ids
				FROM %s GROUP BY 1)
			SELECT array_agg((SELECT (coalesce(sum(n), 0), sum(ids))::text
				FROM at_distance WHERE d <= k) ORDER BY place)
			FROM unnest(%L::int[]) WITH ORDINALITY r (k, place)', q, tab, radii) INTO rows_of_scan;
		FOR i IN 1 .. cardinality(radii) LOOP
			EXECUTE format('SELECT (count(*), sum(hashint8extended(id, 0)))::text FROM %s
				WHERE fp <-> %L <= %s', tab, q, radii[i]) INTO by_index;
			searches := searches + 1;
			wrong := wrong + (by_index <> rows_of_scan[i])::int;
		END LOOP;
		EXECUTE format('SELECT array_agg(d) FROM (SELECT fp <-> %2$L AS d
			FROM %1$s ORDER BY fp <-> %2$L LIMIT 50) s', tab, q) INTO by_index;
		EXECUTE format('SELECT array_agg(d) FROM (SELECT fp <-># %2$L AS d
			FROM %1$s ORDER BY (fp <-># %2$L) + 0 LIMIT 50) s', tab, q) INTO by_scan;
		searches := searches + 1;
		wrong := wrong + (by_index IS DISTINCT FROM by_scan)::int;
	END LOOP;
	EXECUTE format('SELECT array_agg(id ORDER BY id) FROM %s WHERE fp IS NULL', tab) INTO by_index;
	EXECUTE format('SELECT array_agg(id ORDER BY id) FROM %s WHERE fp::text IS NULL', tab)
		INTO by_scan;
	searches := searches + 1;
	wrong := wrong + (by_index IS DISTINCT FROM by_scan)::int;
	EXECUTE format('EXPLAIN (FORMAT JSON) SELECT id FROM %s WHERE fp <-> %L <= 3', tab, q)
		INTO plan;
	IF plan !~ 'Index Cond' THEN RETURN 'no index was used'; END IF;
	SET LOCAL enable_seqscan = on;
	RETURN format('%s searches, %s wrong', searches, wrong);
END $$;

-- Data on which indexes are compared with sequential scans, and into how many
-- blocks a hamming index may cut a word of each: 2 to 8, as 10 - blocks is for another
-- index.
CREATE TABLE tables(tab text, blocks int);
INSERT INTO tables VALUES ('uniform', 6), ('skewed', 8), ('duplicates', 3), ('half_bits', 7),
	('halves', 4), ('one_block', 4), ('ascending', 5), ('descending', 3), ('extremes', 8), ('empty', 4),
	('only_null', 6);

-- n is the number of a fingerprint's digits.
CREATE PROCEDURE make_tables(row_count int, type regtype DEFAULT 'simhash64') LANGUAGE plpgsql AS $$
DECLARE
	t record;
BEGIN
	FOR t IN VALUES
		('uniform', row_count, 'CASE WHEN i % 9 > 0 THEN left(md5(i::text), n) END'),
		-- near-duplicates, most of them of a few texts
		('skewed', row_count, 'flipped(left(md5((sqrt(i)::int / 4)::text), n)::' || type
			|| ', (1::bigint << (i % 64)) # (1::bigint << (i * 7 % 64)))'),
		('duplicates', row_count, 'left(md5((i % 3)::text), n)'),
		-- one half of the bits constant, as those of 32-bit hashes are
		('half_bits', row_count, 'lpad(left(md5(i::text), n / 2), n, ''0'')'),
		-- few values of each half, of 128 bits of each word: most fingerprints differ
		('halves', row_count, 'left(md5((i % 29)::text), n / 2) || right(md5((i % 31)::text), n / 2)'),
		('one_block', row_count, 'overlay(left(md5(i::text), n) PLACING ''abcd'' FROM 9)'),
		-- in the first 64 bits, and in the last ones
		('ascending', row_count, 'rpad(lpad(to_hex(i), 16, ''0''), n, ''0'')'),
		('descending', row_count, 'lpad(to_hex(-i::bigint), n, ''f'')'),
		('extremes', row_count, 'repeat(CASE i % 3 WHEN 0 THEN ''0'' WHEN 1 THEN ''f'' END, n)'),
		('empty', 0, 'NULL'),
		('only_null', row_count / 10, 'NULL')
	LOOP
		EXECUTE format('CREATE TABLE %s AS SELECT i AS id, (%s)::text::%s AS fp
			FROM generate_series(1, %s) i, (SELECT 2 * typlen AS n FROM pg_type WHERE oid = %L::regtype) d',
			t.column1, t.column3, type, t.column2, type);
	END LOOP;
END $$;

-- %1$s is the name of the table, %2$s and %3$s are numbers of blocks.
CREATE PROCEDURE for_each_table(statement text) LANGUAGE plpgsql AS $$
DECLARE
	t record;
BEGIN
	FOR t IN SELECT tab, blocks FROM tables LOOP
		EXECUTE format(statement, t.tab, t.blocks, 10 - t.blocks);
	END LOOP;
END $$;

-- A shift of an int by 32 or more is another one on another processor.
CREATE PROCEDURE change_tables() LANGUAGE plpgsql AS $$
BEGIN
	CALL for_each_table('DELETE FROM %1$s WHERE id %% 5 = 0');
	CALL for_each_table('UPDATE %1$s SET fp = flipped(fp, id << (id %% 48 %% 32))
		WHERE id %% 4 = 1');
	CALL for_each_table('UPDATE %1$s SET fp = NULL WHERE id %% 17 = 1');
END $$;

CREATE PROCEDURE refill_tables() LANGUAGE plpgsql AS $$
BEGIN
	CALL for_each_table('CREATE TEMP TABLE %1$s_moved AS SELECT * FROM %1$s');
	CALL for_each_table('TRUNCATE %1$s');
	CALL for_each_table('INSERT INTO %1$s SELECT * FROM %1$s_moved');
	CALL for_each_table('DROP TABLE %1$s_moved');
END $$;

-- Is every hamming index of the tables sound, and does each index agree with its
-- table?  The tables, or some of them, by what is found.
CREATE FUNCTION check_tables(radii int[], names text DEFAULT '') RETURNS TABLE (searches text, tables text)
LANGUAGE plpgsql AS $$
DECLARE
	i regclass;
BEGIN
	FOR i IN SELECT indexrelid FROM pg_index JOIN pg_class c ON c.oid = indexrelid
			JOIN pg_am am ON am.oid = relam
		WHERE amname = 'hamming' AND indrelid IN (SELECT tab::regclass FROM tables) LOOP
		PERFORM hamming_index_check(i);
	END LOOP;
	RETURN QUERY SELECT check_index(tab, radii), string_agg(tab, ' ' ORDER BY tab)
	FROM tables WHERE tab ~ names GROUP BY 1 ORDER BY 1;
END $$;

-- More data, for what compares all rows with all.

-- So many bits, from start on, step apart: side by side, or 17 apart, so that
-- each is in another block of 16 than the one before.
CREATE FUNCTION bits(start int, step int, count int) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
	SELECT coalesce(bit_or(1::bigint << ((start + i * step) % 64)), 0)
	FROM generate_series(0, count - 1) i
$$;
-- Words of extended BCH codes: any two of a code are at least so far apart.
CREATE TABLE codes (distance int, dimension int, generator bigint);
INSERT INTO codes VALUES (4, 57, x'43'::bigint), (6, 51, x'1539'::bigint),
	(8, 45, x'782cf'::bigint), (10, 39, x'1db2777'::bigint), (12, 36, x'86e8113'::bigint),
	(14, 30, x'37cd0eb67'::bigint), (16, 24, x'f69ac20921'::bigint),
	(22, 18, x'2f30b529d3d5'::bigint), (24, 16, x'cd930bdd3b2b'::bigint),
	(28, 10, x'2759262d5d506d'::bigint), (32, 7, x'153225b1d0d73df'::bigint);
-- The first n, or n of all, of the code of least distance that will do;
-- each is the sum of the one before and a multiple of the generator.
CREATE FUNCTION codewords(apart int, n int, of_all boolean) RETURNS TABLE (i int, word bigint)
LANGUAGE sql IMMUTABLE AS $$
	SELECT i, sum | (bit_count(sum::bit(64)) % 2 << 63)
	FROM (SELECT i, bit_xor(CASE WHEN i > 0 THEN generator <<
			(bit_count(((i & -i) - 1)::bit(32)) * CASE WHEN of_all
				THEN dimension / ceil(log(2, n)) ELSE 1 END)::int ELSE 0 END)
			OVER (ORDER BY i) AS sum
		FROM generate_series(0, n - 1) i,
			(SELECT * FROM codes WHERE distance >= apart ORDER BY distance LIMIT 1) c) s
$$;

-- Count what simhash_cluster gets wrong of number balls of members, all of which
-- are within 12 of each other: each ball is a cluster, for each k.
CREATE FUNCTION check_dense_balls(members int, number int, ks int[])
RETURNS TABLE (k int, count bigint, connected_wrong bigint, leader_wrong bigint) LANGUAGE sql AS $$
	WITH masks AS MATERIALIZED (SELECT n, bits(n * 7, n % 31 * 2 + 1, n % 7) AS mask
		FROM generate_series(0, number - 1) n),
	balls AS MATERIALIZED (SELECT n, i, (word # mask)::simhash64 AS fp
		FROM codewords(28, members, true), masks)
	SELECT k, count(*), count(*) FILTER (WHERE connected IS DISTINCT FROM i + 1),
		count(*) FILTER (WHERE leader IS DISTINCT FROM i + 1)
	FROM unnest(ks) k, LATERAL (SELECT i, simhash_cluster(fp, k) OVER w AS connected,
			simhash_cluster(fp, k, 'leader') OVER w AS leader
		FROM balls WINDOW w AS (ORDER BY n, i)) s
	GROUP BY k ORDER BY k
$$;

-- Queries for (id, fp).
CREATE TABLE shapes (shape text, source text);
INSERT INTO shapes
SELECT tab, format('SELECT id, fp FROM %s WHERE id <= 400', tab) FROM tables
UNION ALL VALUES
	-- steps of 0 to 32 bits from each to the next, near each other and far apart
	('steps', 'SELECT i AS id, (bit_xor(bits(i * 11, i % 2 * 16 + 1, i * 7 % 33))
		OVER (ORDER BY i))::simhash64 AS fp FROM generate_series(1, 400) i'),
	('path', 'SELECT i AS id, ((i # (i >> 1))::bigint << 20)::simhash64 AS fp
		FROM generate_series(1, 400) i'),
	('cube', 'SELECT i AS id, (SELECT bit_or((i::bigint >> b & 1) << (b * 7 % 64))
		FROM generate_series(0, 9) b)::simhash64 AS fp FROM generate_series(0, 1023) i'),
	('balls', 'SELECT id, (word # bits(id * 13, id % 31 * 2 + 1, id % 9))::simhash64 AS fp
		FROM generate_series(1, 400) g (id) JOIN codewords(24, 4, false) c ON i = id % 4'),
	('star', 'SELECT i AS id, (bits(i, 1, i / 64 % 3) # bits(i * i, 1, i / 192 % 2))::simhash64
		AS fp FROM generate_series(1, 400) i'),
	('one bit', 'SELECT i AS id, CASE WHEN i % 5 > 0 THEN (i % 2)::bigint::simhash64 END AS fp
		FROM generate_series(1, 400) i'),
	('opposites', 'SELECT i AS id, word::simhash64 AS fp FROM codewords(32, 128, true)'),
	('next neighbours', 'SELECT i AS id, word::simhash64 AS fp FROM codewords(4, 600, false)');

-- A fingerprint of 128 bits: the bits of a fingerprint are the first ones, or the last
-- ones, or each four stand after four that are always the same, or come twice.
CREATE FUNCTION widen(fp simhash64, way text) RETURNS simhash128 LANGUAGE sql IMMUTABLE AS $$
	SELECT (CASE way WHEN 'first' THEN fp::text || '0123456789abcdef'
		WHEN 'last' THEN '0123456789abcdef' || fp::text
		WHEN 'spread' THEN regexp_replace(fp::text, '(.)', 'a\1', 'g')
		WHEN 'twice' THEN regexp_replace(fp::text, '(.)', '\1\1', 'g') END)::simhash128
$$;
-- The same for a query for (id, fp), in each way.
CREATE FUNCTION widened(source text) RETURNS TABLE (way text, wide text) LANGUAGE sql AS $$
	SELECT way, format('SELECT id, widen(fp, %L) AS fp FROM (%s) w', way, source)
	FROM unnest('{first,last,spread,twice}'::text[]) way
$$;

-- Every tenth one is near another one.
CREATE FUNCTION many_uniform(n int) RETURNS TABLE (id int, fp simhash64)
LANGUAGE sql IMMUTABLE AS $$
	SELECT i, (substr(md5((i - (i % 10 = 0)::int)::text), 1, 16)::simhash64::bigint
		# CASE WHEN i % 10 = 0 THEN bits(i, i / 20 % 2 * 16 + 1, i / 10 % 9) ELSE 0 END)::simhash64
	FROM generate_series(1, n) i
$$;
-- Half of them have a block in common, and few have a second one to themselves.
CREATE FUNCTION many_skewed(n int) RETURNS TABLE (id int, fp simhash64)
LANGUAGE sql IMMUTABLE AS $$
	SELECT i, (CASE WHEN i % 2 = 0 THEN 'abcd' ELSE substr(h, 1, 4) END || lpad(to_hex(i % 16), 4, '0')
		|| '0' || substr(h, 5, 7))::simhash64
	FROM generate_series(1, n) i, LATERAL (SELECT md5(i::text) AS h) m
$$;
-- Fingerprints of two words.  Of each 9, the others are 1 to 24 bits from the first, of which 0, 3 .. 24
-- are in word 0.
CREATE FUNCTION many_words(shape text, n int) RETURNS TABLE (id int, fp simhash128)
LANGUAGE sql IMMUTABLE AS $$
	SELECT i, (CASE shape
			WHEN 'half' THEN CASE WHEN i / 9 % 2 = 0 THEN '0123456789abcdef' ELSE w0 END || w1
			WHEN 'last half' THEN w0 || CASE WHEN i / 9 % 2 = 0 THEN '0123456789abcdef' ELSE w1 END
			WHEN 'constant' THEN '0123456789abcdef' || w1
			WHEN 'few' THEN left(md5((i / 9 % 7)::text), 16) || w1
			WHEN 'equal' THEN w1 || w1
			WHEN 'swapped' THEN CASE WHEN i / 9 % 2 = 0 THEN w0 || w1 ELSE w1 || w0 END
			WHEN 'ball' THEN bits(i / 9 * 7, 5, i / 9 % 5)::simhash64::text || w1
			ELSE w0 || w1 END)::simhash128
	FROM generate_series(0, n - 1) i, LATERAL (SELECT md5((i / 18)::text) AS h) m,
		LATERAL (SELECT flipped(left(h, 16)::simhash64, bits(i, 11, i % 9 * 3))::text AS w0,
			flipped(right(h, 16)::simhash64, bits(i * 3, 13, (i % 5 + 1) * (i % 9)::bool::int))::text AS w1) w
$$;
-- n words with half of k bits changed, and the same with k / 2 other bits
-- changed: pairs that are k bits apart, and more than k from all others.
CREATE FUNCTION many_pairs(k int, n int, of_all boolean) RETURNS TABLE (id int, fp simhash64)
LANGUAGE sql IMMUTABLE AS $$
	WITH masks AS MATERIALIZED (
		SELECT half, start + 64 * spread AS kind, bits(start + half * (1 + spread * 16) * ((k + 1) / 2),
			1 + spread * 16, (k + 1 - half) / 2) AS mask
		FROM generate_series(0, 1) half, generate_series(0, 63) start, generate_series(0, 1) spread)
	SELECT i + n * half, (word # mask)::simhash64
	FROM codewords(k + 1 + (k + 1) / 2 * 2, n, of_all) c JOIN masks ON kind = i % 128
$$;

-- What a query has, of which the join is a HammingJoin: the number of its pairs
-- (a, b, distance), and a hash of them; NULL if the join is another.  Both lists are in memory.
CREATE FUNCTION joined_pairs(query text) RETURNS text LANGUAGE plpgsql
SET simhash.enable_hammingjoin = on SET enable_nestloop = off SET enable_seqscan = on SET jit = off
SET work_mem = '64MB' AS $$
DECLARE
	result text;
BEGIN
	IF (SELECT count(*) = 1 FROM plan_lines(query, 'HammingJoin')) THEN
		EXECUTE format('SELECT (count(*), sum(hash_record_extended((a::bigint, b::bigint, distance), 0)))::text
			FROM (%s) s', query) INTO result;
	END IF;
	RETURN result;
END $$;

-- Compare simhash_pairs, and the join of two lists, with nested loops on the rows (id, fp) of
-- a query.
CREATE FUNCTION check_pairs(source text, ks int[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	k int;
	found text;
	expected text;
	results int := 0;
	wrong int := 0;
BEGIN
	SET LOCAL jit = off;
	EXECUTE 'CREATE TEMP TABLE input ON COMMIT DROP AS ' || source;
	CREATE TEMP TABLE near ON COMMIT DROP AS
	SELECT a.id::bigint AS a, b.id::bigint AS b, (a.fp <-># b.fp)::int AS distance
	FROM input a JOIN input b ON a.id < b.id AND a.fp <-># b.fp <= (SELECT max(i) FROM unnest(ks) i);
	CREATE TEMP TABLE near_third ON COMMIT DROP AS
	SELECT a.id::bigint AS a, b.id::bigint AS b, (a.fp <-># b.fp)::int AS distance
	FROM input a JOIN input b ON a.fp <-># b.fp <= (SELECT max(i) FROM unnest(ks) i)
	WHERE a.id % 3 = 0 AND b.id IS NOT NULL;
	FOREACH k IN ARRAY ks LOOP
		SELECT (count(*), sum(hash_record_extended((a, b, distance), 0)))::text INTO expected
		FROM near n WHERE distance <= k;
		SELECT (count(*), sum(hash_record_extended((a, b, distance), 0)))::text INTO found
		FROM simhash_pairs('SELECT id, fp FROM input', k);
		results := results + 1;
		wrong := wrong + (found <> expected)::int;
		SELECT (count(*), sum(hash_record_extended((a, b, distance), 0)))::text INTO expected
		FROM near_third n WHERE distance <= k;
		found := joined_pairs(format('SELECT a.id AS a, b.id AS b, a.fp <-> b.fp AS distance
			FROM input a JOIN input b ON a.fp <-> b.fp <= %s WHERE a.id %% 3 = 0 AND b.id IS NOT NULL', k));
		results := results + 1;
		wrong := wrong + (found IS DISTINCT FROM expected)::int;
	END LOOP;
	DROP TABLE input, near, near_third;
	RETURN format('%s results, %s wrong', results, wrong);
END $$;

-- Compare both methods of simhash_cluster with brute force on the rows of a
-- query, in their order.  Pairs (a, b, distance) of their places say which are near; either
-- all pairs, or those up to a limit within which all rows are connected or
-- beyond which no k is.
CREATE FUNCTION check_clusters(source text, ks int[], pairs text DEFAULT
	'SELECT a.place AS a, b.place AS b, a.fp <-># b.fp AS distance
	FROM input a JOIN input b ON a.place < b.place WHERE a.fp <-># b.fp IS NOT NULL',
	up_to int DEFAULT 128)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	root int[];  -- of each place, the first one of its component
	a int;
	b int;
	k int;
	parts int;
	done int := -1;
	differ int;
	results int := 0;
	wrong int := 0;
BEGIN
	SET LOCAL jit = off;
	EXECUTE format('CREATE TEMP TABLE input ON COMMIT DROP AS
		SELECT row_number() OVER ()::int AS place, fp FROM (%s) s', source);
	EXECUTE 'CREATE TEMP TABLE near ON COMMIT DROP AS ' || pairs;
	CREATE INDEX ON near (distance);
	ANALYZE input, near;
	SELECT coalesce(array_agg(place ORDER BY place), '{}'), count(fp) INTO root, parts FROM input;
	FOREACH k IN ARRAY ks LOOP
		FOR a, b IN SELECT n.a, n.b FROM near n WHERE distance > done AND distance <= k LOOP
			EXIT WHEN parts <= 1;
			WHILE root[a] <> a LOOP root[a] := root[root[a]]; a := root[a]; END LOOP;
			WHILE root[b] <> b LOOP root[b] := root[root[b]]; b := root[b]; END LOOP;
			IF a <> b THEN
				root[greatest(a, b)] := least(a, b);
				parts := parts - 1;
			END IF;
		END LOOP;
		done := k;
		IF k > up_to AND parts > 1 THEN RAISE 'not all pairs are known'; END IF;
		FOR place IN 1 .. cardinality(root) LOOP
			root[place] := root[root[place]];
		END LOOP;
		-- the first places, numbered in their order
		SELECT count(*) INTO differ FROM (
			SELECT simhash_cluster(fp, k) OVER (ORDER BY place) AS result,
				CASE WHEN fp IS NOT NULL THEN dense_rank()
					OVER (PARTITION BY fp IS NULL ORDER BY root[place]) END AS expected
			FROM input) s
		WHERE result IS DISTINCT FROM expected;
		results := results + 1;
		wrong := wrong + (differ > 0)::int;

		-- the number of the first leader near it, or else the next number
		EXECUTE format('WITH results AS MATERIALIZED (
				SELECT place, fp, simhash_cluster(fp, %1$s, ''leader'') OVER (ORDER BY place)
					AS number
				FROM input),
			leaders AS MATERIALIZED (
				SELECT DISTINCT ON (number) place, number, fp FROM results
				WHERE number IS NOT NULL ORDER BY number, place),
			joined AS (
				SELECT place, min(number) AS number FROM (%2$s) s GROUP BY 1)
			SELECT count(*) FROM (
				SELECT r.number AS result,
					CASE WHEN r.fp IS NOT NULL THEN coalesce(j.number, 1
						- (l.number IS NOT NULL)::int + count(l.number) OVER (ORDER BY place))
					END AS expected
				FROM results r LEFT JOIN joined j USING (place)
					LEFT JOIN leaders l USING (place)) s
			WHERE result IS DISTINCT FROM expected', k, format(CASE WHEN k <= least(up_to, 20) THEN
				'SELECT b AS place, number FROM near JOIN leaders ON place = a
				WHERE distance <= %1$s'
			ELSE
				'SELECT r.place, l.number FROM results r JOIN leaders l
				ON l.place < r.place AND l.fp <-># r.fp <= %1$s' END, k))
		INTO differ;
		results := results + 1;
		wrong := wrong + (differ > 0)::int;
	END LOOP;
	DROP TABLE input, near;
	RETURN format('%s results, %s wrong', results, wrong);
END $$;

-- What simhash_pairs finds in many_pairs(k, n, of_all), within each k: all of the
-- pairs, and nothing else?  Does a join of its ids up to n with the others
-- find the same?
CREATE FUNCTION find_many_pairs(n int) RETURNS TABLE (k int, of_all boolean, pairs bigint,
	wrong bigint, different bigint, joined boolean) LANGUAGE sql AS $$
	SELECT k, of_all, count(*),
		count(*) FILTER (WHERE (b, distance) IS DISTINCT FROM (a + n, k)),
		count(DISTINCT a),
		joined_pairs(format('WITH m AS MATERIALIZED (SELECT * FROM many_pairs(%1$s, %2$s, %3$L))
			SELECT x.id AS a, y.id AS b, x.fp <-> y.fp AS distance FROM m x JOIN m y
				ON x.fp <-> y.fp <= %1$s WHERE x.id <= %2$s AND y.id > %2$s', k, n, of_all)) =
			(count(*) FILTER (WHERE a > 0), sum(hash_record_extended((a, b, distance), 0))
				FILTER (WHERE a > 0))::text
	FROM generate_series(1, 11) k, unnest('{t,f}'::boolean[]) of_all, LATERAL simhash_pairs(
		format('SELECT * FROM many_pairs(%s, %s, %L)', k, n, of_all), k)
	GROUP BY 1, 2 ORDER BY 1, 2
$$;

-- How many clusters a path of n steps of one bit has, from an end and from
-- anywhere.
CREATE FUNCTION clusters_of_path(n int) RETURNS TABLE (connected int, shuffled int, alone int)
LANGUAGE sql AS $$
	SELECT max(connected), max(shuffled), max(alone) FROM (
		SELECT simhash_cluster(fp, 1) OVER (ORDER BY i) AS connected,
			simhash_cluster(fp, 1) OVER (ORDER BY i * 7919 % 100003) AS shuffled,
			simhash_cluster(fp, 0) OVER (ORDER BY i) AS alone
		FROM (SELECT i, (i # (i >> 1))::bigint::simhash64 AS fp
			FROM generate_series(1, n) i) s) s
$$;

-- Compare the pairs of all parts with those of all rows, for each k and number
-- of parts.  Each part gets only the rows that simhash_parts says it needs.
CREATE FUNCTION check_parts(source text, ks int[], counts int[]) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	k int;
	parts int;
	found text;
	expected text;
	results int := 0;
	wrong int := 0;
BEGIN
	EXECUTE 'CREATE TEMP TABLE input ON COMMIT DROP AS ' || source;
	FOREACH k IN ARRAY ks LOOP
		SELECT (count(*), sum(hash_record_extended((a, b, distance), 0)))::text INTO expected
		FROM simhash_pairs('SELECT id, fp FROM input', k);
		FOREACH parts IN ARRAY counts LOOP
			SELECT (count(*), sum(hash_record_extended((a, b, distance), 0)))::text INTO found
			FROM generate_series(0, parts - 1) part, simhash_pairs(format('SELECT id, fp FROM input
				WHERE %s IN (SELECT simhash_parts(fp, %s, %s))', part, k, parts), k, part, parts);
			results := results + 1;
			wrong := wrong + (found <> expected)::int;
		END LOOP;
	END LOOP;
	DROP TABLE input;
	RETURN format('%s results, %s wrong', results, wrong);
END $$;
