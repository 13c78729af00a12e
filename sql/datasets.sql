-- Data on which indexes are compared with sequential scans.

-- Compare an index with sequential scans, for every k and the nearest 50, around
-- values that are in the table, next to one, and in no way related.  <~> with a
-- bound never uses an index.
CREATE FUNCTION check_index(tab text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	q simhash64;
	by_index int[];
	by_scan int[];
	searches int := 0;
	wrong int := 0;
	plan text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL jit = off;
	FOR q IN EXECUTE format('(SELECT fp FROM %1$s WHERE fp IS NOT NULL ORDER BY id LIMIT 2)
		UNION ALL (SELECT (fp::bigint # 5)::simhash64 FROM %1$s ORDER BY id DESC LIMIT 1)
		UNION ALL SELECT unnest(''{0000000000000000,ffffffffffffffff,
			5555aaaa3333cccc}''::simhash64[])', tab) LOOP
		FOR k IN -1 .. 65 LOOP
			EXECUTE format('SELECT array_agg(id ORDER BY id) FROM %s WHERE fp <-> %L <= %s',
				tab, q, k) INTO by_index;
			EXECUTE format('SELECT array_agg(id ORDER BY id) FROM %s WHERE fp <~> %L <= %s',
				tab, q, k) INTO by_scan;
			searches := searches + 1;
			wrong := wrong + (by_index IS DISTINCT FROM by_scan)::int;
		END LOOP;
		EXECUTE format('SELECT array_agg(d) FROM (SELECT fp <-> %2$L AS d
			FROM %1$s ORDER BY fp <-> %2$L LIMIT 50) s', tab, q) INTO by_index;
		EXECUTE format('SELECT array_agg(d) FROM (SELECT fp <~> %2$L AS d
			FROM %1$s ORDER BY (fp <~> %2$L) + 0 LIMIT 50) s', tab, q) INTO by_scan;
		searches := searches + 1;
		wrong := wrong + (by_index IS DISTINCT FROM by_scan)::int;
	END LOOP;
	EXECUTE format('EXPLAIN (FORMAT JSON) SELECT id FROM %s WHERE fp <-> %L <= 3', tab, q)
		INTO plan;
	IF plan !~ 'Index Cond' THEN RETURN 'no index was used'; END IF;
	SET LOCAL enable_seqscan = on;
	RETURN format('%s searches, %s wrong', searches, wrong);
END $$;

CREATE TABLE tables(tab text);
INSERT INTO tables VALUES ('uniform'), ('skewed'), ('duplicates'), ('half_bits'),
	('one_block'), ('ascending'), ('descending'), ('extremes'), ('empty'), ('only_null');

CREATE PROCEDURE make_tables() LANGUAGE plpgsql AS $$
BEGIN
	CREATE TABLE uniform AS SELECT i AS id,
		CASE WHEN i % 9 > 0 THEN substr(md5(i::text), 1, 16)::simhash64 END AS fp
	FROM generate_series(1, 3000) i;
	-- near-duplicates, most of them of a few texts
	CREATE TABLE skewed AS SELECT i AS id,
		(substr(md5((sqrt(i)::int / 4)::text), 1, 16)::simhash64::bigint
		# (1::bigint << (i % 64)) # (1::bigint << (i * 7 % 64)))::simhash64 AS fp
	FROM generate_series(1, 3000) i;
	CREATE TABLE duplicates AS SELECT i AS id, substr(md5((i % 3)::text), 1, 16)::simhash64 AS fp
	FROM generate_series(1, 3000) i;
	-- one half of the bits constant, as those of 32-bit hashes are
	CREATE TABLE half_bits AS SELECT i AS id,
		('00000000' || substr(md5(i::text), 1, 8))::simhash64 AS fp
	FROM generate_series(1, 3000) i;
	CREATE TABLE one_block AS SELECT i AS id,
		(substr(md5(i::text), 1, 8) || 'abcd' || substr(md5(i::text), 13, 4))::simhash64 AS fp
	FROM generate_series(1, 3000) i;
	CREATE TABLE ascending AS SELECT i AS id, i::bigint::simhash64 AS fp
	FROM generate_series(1, 3000) i;
	CREATE TABLE descending AS SELECT i AS id, (-i)::bigint::simhash64 AS fp
	FROM generate_series(1, 3000) i;
	CREATE TABLE extremes AS SELECT i AS id,
		(CASE i % 3 WHEN 0 THEN '0000000000000000' WHEN 1 THEN 'ffffffffffffffff' END)::simhash64
		AS fp
	FROM generate_series(1, 3000) i;
	CREATE TABLE empty (id int, fp simhash64);
	CREATE TABLE only_null AS SELECT i AS id, NULL::simhash64 AS fp FROM generate_series(1, 300) i;
END $$;

-- %1$s is the name of the table.
CREATE PROCEDURE for_each_table(statement text) LANGUAGE plpgsql AS $$
DECLARE
	t text;
BEGIN
	FOR t IN SELECT tab FROM tables LOOP
		EXECUTE format(statement, t);
	END LOOP;
END $$;

CREATE PROCEDURE change_tables() LANGUAGE plpgsql AS $$
BEGIN
	CALL for_each_table('DELETE FROM %1$s WHERE id %% 5 = 0');
	CALL for_each_table('UPDATE %1$s SET fp = (fp::bigint # (id << (id %% 48)))::simhash64
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
