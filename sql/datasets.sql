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
