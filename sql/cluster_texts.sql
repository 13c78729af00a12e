-- simhash_cluster of near-duplicates whose texts are alike, too
\pset format unaligned \pset tuples_only on \set ECHO queries

-- 1 to 4 are near each other, and 1 is like 2, 2 like 4, and 3 like none of them; nobody is like
-- a row without a word
CREATE TABLE pages (id int, fp simhash64, body text);
INSERT INTO pages VALUES (1, '0000000000000000', 'a b c d e f g h'), (2, '0000000000000001', 'a b c d e f g h i j'),
	(3, '0000000000000003', 'Not found: see our other pages'), (4, '0000000000000007', 'c d e f g h i j'),
	(5, '0000000000000000', 'A, b, c; d e f G h!'), (6, NULL, 'a b c d e f g h'), (7, '0000000000000000', NULL),
	(8, '0000000000000000', '...'), (9, '0000000000000000', '...'), (10, 'ffff000000000000', 'a b c d e f g h'),
	(11, '0000000000000003', 'Not found: see our other pages'), (12, '0000000000000000', ''), (13, '0000000000000000', '');
SELECT id, simhash_cluster(fp, 3) OVER w AS near, simhash_cluster(fp, 3, 'connected', body, 0.7) OVER w AS connected,
	simhash_cluster(fp, 3, 'leader', body, 0.7) OVER w AS leader,
	simhash_cluster(fp, 3, 'leader', body, 0.7, 1) OVER w AS of_words,
	simhash_cluster(fp, 2, 'leader', body, 0) OVER w AS any_text, simhash_cluster(fp, 3, 'leader', body, 1) OVER w AS same
FROM pages WINDOW w AS (ORDER BY id) ORDER BY id;
-- in another order other leaders; arguments by name
SELECT id, simhash_cluster(fp, method => 'leader', words => 2, max_distance => 3, min_similarity => 0.7, body => body)
	OVER (ORDER BY id DESC) AS leader FROM pages ORDER BY id;
-- of two leaders within reach the earlier one counts, not the nearer nor the more similar one
SELECT n, simhash_cluster(fp, 4, 'leader', body, 0.4, 1) OVER (ORDER BY n) FROM (VALUES (1, '0000000000000000', 'a b c x'),
	(2, '000000000000000f', 'a b y z'), (3, '000000000000000f', 'a b c z'), (4, '0000000000000000', 'b y z')) v (n, f, body),
	LATERAL (SELECT f::simhash64 AS fp) f;

-- NULL arguments, and rows, and no rows
SELECT count(*), count(a) AS a, count(b) AS b, count(c) AS c, count(d) AS d, count(e) AS e FROM (
	SELECT simhash_cluster(fp, NULL, 'leader', body, 0.5) OVER () AS a, simhash_cluster(fp, 3, NULL, body, 0.5) OVER () AS b,
		simhash_cluster(fp, 3, 'connected', body, NULL) OVER () AS c, simhash_cluster(fp, 3, 'leader', body, 0.5, NULL) OVER () AS d,
		simhash_cluster(fp, 3, 'leader', NULL, 0) OVER () AS e FROM pages) s;
SELECT simhash_cluster(NULL::simhash64, 3, 'leader', 'a', 0) OVER () AS no_fp, simhash_cluster(fp, 3, 'leader', NULL, 0) OVER () AS no_text,
	simhash_cluster(fp, 3, 'connected', '', 0) OVER () AS no_word, simhash_cluster(fp, 3, 'connected', 'a', 1) OVER () AS one_text
FROM pages WHERE id IN (1, 2);
SELECT simhash_cluster(fp, 3, 'leader', body, 0.5) OVER () FROM pages WHERE id > 13;
SELECT error_of(format('SELECT simhash_cluster(%s) OVER () FROM pages', arguments)) FROM unnest(ARRAY[
	'fp, -1, ''leader'', body, 0.5', 'fp, 65, ''leader'', body, 0.5', 'widen(fp, ''first''), 129, ''leader'', body, 0.5',
	'fp, 3, ''none'', body, 0.5', 'fp, 3, ''leader'', body, -0.001', 'fp, 3, ''leader'', body, 1.001', 'fp, 3, ''leader'', body, ''NaN''',
	'fp, 3, ''leader'', body, ''Infinity''', 'widen(fp, ''first''), 3, ''connected'', body, ''-Infinity''', 'fp, 3, ''leader'', body, 0.5, 0',
	'fp, 3, ''leader'', body, 0.5, -1', 'fp, 3, ''leader'', body, 0.5, 65', 'NULL::simhash64, 3, ''leader'', NULL, 2']) arguments;
-- none of these for the least and the greatest
SELECT max(a) AS a, max(b) AS b FROM (SELECT simhash_cluster(fp, 0, 'leader', body, 0, 1) OVER () AS a,
	simhash_cluster(widen(fp, 'first'), 128, 'leader', body, 1, 64) OVER () AS b FROM pages) s;

-- what is not of a row is the same in all of the partition, also where the fingerprint is NULL
SELECT error_of(format('SELECT simhash_cluster(fp, %s) OVER (ORDER BY id) FROM pages', arguments)) FROM unnest(ARRAY[
	'id, ''leader'', body, 0.5', '3, CASE WHEN id < 13 THEN ''leader'' ELSE ''connected'' END, body, 0.5',
	'3, ''leader'', body, id / 100.0', '3, ''leader'', body, CASE WHEN id <> 6 THEN 0.5 END', '3, ''leader'', body, 0.5, id',
	'3, ''leader'', body, 0.5, CASE WHEN id > 1 THEN 3 END', '3, ''leader'', body, CASE WHEN id < 13 THEN 0.5 ELSE 2 END',
	'3, ''leader'', body, 0.5, CASE id WHEN 6 THEN 2 ELSE 3 END']) arguments;
-- but may differ between partitions
SELECT id, simhash_cluster(fp, id % 2 * 3, CASE id % 2 WHEN 0 THEN 'connected' ELSE 'leader' END, body, id % 2 * 0.3, id % 2 + 1)
	OVER (PARTITION BY id % 2 ORDER BY id) FROM pages ORDER BY id;
-- it is a window function only, and nothing else has its arguments
SELECT left(error_of(statement), 5) FROM (VALUES ('SELECT simhash_cluster(fp, 3, ''leader'', body, 0.5) FROM pages'),
	('SELECT simhash_cluster(fp, 3, ''leader'', body) OVER () FROM pages'),
	('SELECT simhash_cluster(fp, 3, ''leader'', body::bytea, 0.5) OVER () FROM pages'),
	('SELECT simhash_cluster(DISTINCT fp, 3, ''leader'', body, 0.5) OVER () FROM pages')) s (statement);

-- Both methods by their definition, for each of rows (part, place, fp, body, leader, connected) of a
-- query: partners are near and alike; in the order of places each row joins the first leader that is
-- its partner, or leads, and what is connected has one number.  Numbers are in order of appearance,
-- and a part has its own.
\set ECHO none
CREATE FUNCTION check_numbers(query text, k int, s float8, w int DEFAULT 3, OUT rows int, OUT partners int, OUT leaders int,
	OUT components int, OUT wrong int) LANGUAGE plpgsql AS $$
DECLARE
	leader_of int[];
	root int[];     -- of each row, the first one of its component
	x int;
	y int;
	lesser int[];
BEGIN
	SET LOCAL jit = off;
	EXECUTE 'CREATE TEMP TABLE input ON COMMIT DROP AS
		SELECT row_number() OVER (ORDER BY part, place)::int AS n, * FROM (' || query || ') s';
	ANALYZE input;
	EXECUTE format('CREATE TEMP TABLE found ON COMMIT DROP AS SELECT a.n AS a, b.n AS b FROM input a JOIN input b
		ON a.part = b.part AND a.n < b.n AND a.fp <-> b.fp <= %s WHERE text_jaccard(a.body, b.body, words => %s) >= %L', k, w, s);
	SELECT count(*) INTO partners FROM found;
	SELECT count(*), array_agg(n ORDER BY n) INTO rows, root FROM input;
	leader_of := root;
	FOR x, lesser IN SELECT b, array_agg(a ORDER BY a) FROM found GROUP BY b ORDER BY b LOOP
		FOREACH y IN ARRAY lesser LOOP
			IF leader_of[y] = y THEN
				leader_of[x] := y;
				EXIT;
			END IF;
		END LOOP;
	END LOOP;
	FOR x, y IN TABLE found LOOP
		WHILE root[x] <> x LOOP root[x] := root[root[x]]; x := root[x]; END LOOP;
		WHILE root[y] <> y LOOP root[y] := root[root[y]]; y := root[y]; END LOOP;
		root[greatest(x, y)] := least(x, y);
	END LOOP;
	FOR i IN 1 .. rows LOOP
		root[i] := root[root[i]];
	END LOOP;
	SELECT count(*) FILTER (WHERE leader_of[n] = n), count(*) FILTER (WHERE root[n] = n),
		count(*) FILTER (WHERE (leader, connected) IS DISTINCT FROM (first, reached)) INTO leaders, components, wrong
	FROM (SELECT *, dense_rank() OVER (PARTITION BY part ORDER BY leader_of[n]) AS first,
			dense_rank() OVER (PARTITION BY part ORDER BY root[n]) AS reached FROM input WHERE fp IS NOT NULL
		UNION ALL SELECT *, NULL, NULL FROM input WHERE fp IS NULL) s;
	DROP TABLE input, found;
END $$;
-- The query for rows (id, fp, body) of a source, in the order of their ids.
CREATE FUNCTION numbered(source text, k int, s float8, w int DEFAULT 3) RETURNS text LANGUAGE sql AS $$
	SELECT format('SELECT 0 AS part, id AS place, fp, body, simhash_cluster(fp, %1$s, ''leader'', body, %2$L, %3$s) OVER w AS leader,
		simhash_cluster(fp, %1$s, ''connected'', body, %2$L, %3$s) OVER w AS connected
		FROM (%4$s) s (id, fp, body) WINDOW w AS (ORDER BY id)', k, s, w, source)
$$;
-- A number, 0 or more, that seems random.
CREATE FUNCTION draw(what text, n int) RETURNS int LANGUAGE sql IMMUTABLE AS $$
	SELECT ('x' || md5(what || n))::bit(31)::int
$$;
\set ECHO queries

-- Texts of 14 words, each with copies, and others that are equal but for case, or have less or more
-- of it, or other words in between; and none.  Each two texts have one fingerprint, of which most
-- rows have some other bits.
CREATE TABLE originals AS SELECT n, hashint8extended(n / 2, 1) AS fp,
	(SELECT array_agg('w' || draw(n || ' ', i) % 60 ORDER BY i) FROM generate_series(1, 14) i) AS words
FROM generate_series(0, 11) n;
CREATE TABLE edited AS
SELECT id, CASE WHEN draw('null', id) % 19 > 0 THEN (fp # CASE WHEN draw('same', id) % 3 = 0 THEN 0
		ELSE bits(draw('start', id) % 64, 1 + draw('step', id) % 2 * 16, draw('bits', id) % 7) END)::simhash64 END AS fp,
	CASE draw('kind', id) % 16 WHEN 0 THEN NULL WHEN 1 THEN ('{"",...," - "}'::text[])[1 + id % 3]
		WHEN 2 THEN upper(array_to_string(words, ' ')) WHEN 3 THEN array_to_string(words[:7], ' ')
		WHEN 4 THEN array_to_string(words || words, ' ') WHEN 5 THEN array_to_string(words[4:], ' ')
		WHEN 6 THEN array_to_string(words || 'x'::text || words[1:2], ', ') WHEN 7 THEN 'y ' || array_to_string(words, ' ')
		WHEN 8 THEN words[place] WHEN 9 THEN array_to_string(words[2:3] || words[12:], ' ')
		WHEN 10 THEN array_to_string(words[:place - 1] || words[place + 2:], ' ')
		WHEN 11 THEN array_to_string(words[:place - 1] || ('z' || id % 3) || words[place + 1:], ' ')
		WHEN 12 THEN array_to_string(words[:place - 1] || ('z' || id % 3) || words[place:], ' ')
		ELSE array_to_string(words, ' ') END AS body
FROM generate_series(1, 220) id JOIN originals ON n = draw('original', id) % 12, LATERAL (SELECT 1 + draw('place', id) % 14 AS place) p;
SELECT k, count(*) AS queries, array_agg(partners) AS partners, array_agg(leaders) AS leaders, array_agg(components) AS components,
	sum(wrong) AS wrong
FROM unnest('{0,1,4,20,64}'::int[]) k, unnest('{0,0.5,0.8,1}'::float8[]) WITH ORDINALITY s (s, place),
	LATERAL (SELECT (1 + (k + place) % 5)::int AS w) w, check_numbers(numbered('TABLE edited', k, s, w), k, s, w)
GROUP BY k ORDER BY k;
SELECT way, k, array_agg(partners) AS partners, sum(leaders) AS leaders, sum(components) AS components, sum(wrong) AS wrong
FROM (VALUES ('first', 4), ('last', 0), ('spread', 12), ('twice', 3), ('twice', 14), ('twice', 128)) v (way, k), unnest('{0,0.6,1}'::float8[]) s,
	check_numbers(numbered(format('SELECT id, widen(fp, %L), body FROM edited WHERE id < 120', way), k, s, 2), k, s, 2)
GROUP BY 1, 2 ORDER BY 1, 2;
-- in other orders, which are those of the leaders
SELECT ordered, partners, leaders, components, wrong FROM unnest(ARRAY['-id', 'length(body) * 1000 - id', 'md5(id::text)',
		'(coalesce(length(body), 0), id)']) ordered,
	check_numbers(numbered('SELECT row_number() OVER (ORDER BY ' || ordered || '), fp, body FROM edited', 6, 0.6, 2), 6, 0.6, 2);
-- one fingerprint and many texts, and one text with many fingerprints
SELECT s, c.* FROM unnest('{0.3,0.9}'::float8[]) s, check_numbers(numbered('SELECT id, 7::bigint::simhash64, body FROM edited', 0, s, 1), 0, s, 1) c;
SELECT k, c.* FROM unnest('{0,2,5}'::int[]) k, check_numbers(numbered('SELECT id, fp, ''one text of some words'' FROM edited', k, 1), k, 1) c;

-- Many that are near each other, so that they are divided, and are alike now and then.  Then the
-- same by teams; a worker that does not come changes nothing.
CREATE TABLE dense AS SELECT id, (draw('bits', id) % 4096::bigint << 20)::simhash64 AS fp,
	CASE WHEN id % 50 > 0 THEN format('w%s a b w%s', draw('4th', id) % 17, draw('5th', id) % 3) ELSE '-' END AS body
FROM generate_series(1, 3000) id;
SELECT k, c.* FROM (VALUES (1, 0.5), (2, 0.9)) v (k, s), check_numbers(numbered('TABLE dense', k, s, 1), k, s, 1) c;
CREATE TABLE sparse AS SELECT id, fp, 'the page ' || draw('body', id / 10) % 3 || ' of ' || id / 1000 AS body FROM many_uniform(6000);
INSERT INTO sparse SELECT 6000 + id, (fp::bigint # 5)::simhash64, body FROM dense WHERE id <= 300;
CREATE FUNCTION with_workers(most int, query text) RETURNS text[] LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('max_parallel_workers_per_gather', most::text, true), set_config('parallel_setup_cost', '0', true),
		set_config('parallel_tuple_cost', '0', true);
	RETURN rows_of(query);
END $$;
SELECT k, c.*, (SELECT count(DISTINCT with_workers(most, numbered('TABLE sparse', k, s, 1))) FROM generate_series(0, 4) most) AS results
FROM (VALUES (5, 0.8)) v (k, s), check_numbers(numbered('TABLE sparse', k, s, 1), k, s, 1) c;
SELECT count(DISTINCT with_workers(most, numbered('SELECT id, widen(fp, ''twice''), body FROM sparse', 2, 0.7))) AS results
FROM generate_series(0, 4, 2) most;

SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
-- nor does it where a team has nothing to do, as no text has a word
SELECT count(*), bool_and((leader, connected, nulls) = (id, id, id)) AS alone FROM (
	SELECT id, simhash_cluster(fp, 3, 'leader', body, 0) OVER w AS leader, simhash_cluster(fp, 3, 'connected', body, 0) OVER w AS connected,
		simhash_cluster(fp, 3, 'leader', NULL, 0) OVER w AS nulls
	FROM (SELECT id, '0123456789abcdef'::simhash64 AS fp, (ARRAY[NULL, '', '-'])[1 + id % 3] AS body FROM generate_series(1, 20000) id) s
	WINDOW w AS (ORDER BY id)) s;
RESET parallel_setup_cost;
RESET parallel_tuple_cost;

-- Partitions, however they are read.  Some texts are out of line, some are compressed, and some both.
CREATE TABLE docs (id int, part int, key uuid, fp simhash64, body text);
CREATE TABLE of_words AS SELECT n, array_agg(md5(n || ' ' || i) ORDER BY i) AS words
FROM generate_series(0, 15) n, generate_series(1, 100) i GROUP BY n;
INSERT INTO docs
SELECT id, id % 2, md5(id::text)::uuid, (hashint8extended(n / 3, 1) # (1::bigint << draw('bit', id) % 9))::simhash64,
	CASE draw('size', id) % 8 WHEN 0 THEN array_to_string(words[:7], ' ') WHEN 1 THEN array_to_string(words[:8], ' ')
		WHEN 2 THEN array_to_string(words, ' ') WHEN 3 THEN array_to_string(words[2:], ' ')
		WHEN 4 THEN repeat(array_to_string(words[:9], ' ') || ' ', 20) WHEN 5 THEN repeat(words[1] || ' ' || words[2] || ' ', 60 + id % 3)
		WHEN 6 THEN array_to_string(words[:60], ' ') ELSE array_to_string(words[:30] || md5(id::text), ' ') END
FROM generate_series(1, 400) id JOIN of_words ON n = draw('words', id) % 16;
UPDATE docs SET fp = NULL WHERE id % 97 = 0;
UPDATE docs SET body = (ARRAY[NULL, '', '?'])[1 + id % 3] WHERE id % 41 = 0;
ANALYZE docs;
SELECT count(*) FILTER (WHERE pg_column_size(body) < length(body)) > 50 AS compressed,
	count(*) FILTER (WHERE length(body) > 3000) > 50 AS large, pg_relation_size(reltoastrelid) > 0 AS out_of_line
FROM docs, pg_class c WHERE c.oid = 'docs'::regclass GROUP BY reltoastrelid;
CREATE VIEW clusters AS SELECT id, part, simhash_cluster(fp, 3, 'leader', body, 0.8) OVER w AS leader,
	simhash_cluster(fp, 3, 'connected', body, 0.8) OVER w AS connected
FROM docs WINDOW w AS (PARTITION BY part ORDER BY id);
SELECT * FROM check_numbers('SELECT part, id AS place, fp, body, leader, connected FROM clusters JOIN docs USING (id, part)', 3, 0.8);
CREATE TABLE expected AS SELECT rows_of('SELECT id, part, leader, connected FROM clusters') AS found;
CREATE FUNCTION as_expected(query text) RETURNS boolean LANGUAGE sql AS 'SELECT rows_of(query) = found FROM expected';
CREATE FUNCTION of_text(body text) RETURNS text LANGUAGE sql AS $$
	SELECT replace('SELECT id, part, simhash_cluster(fp, 3, ''leader'', %s, 0.8) OVER w, simhash_cluster(fp, 3, ''connected'', %s, 0.8) OVER w
		FROM docs WINDOW w AS (PARTITION BY part ORDER BY id)', '%s', body)
$$;
SELECT body, as_expected(of_text(body)) AS same FROM unnest(ARRAY['lower(body)', 'body || ''''', 'upper(body)::varchar',
	'CASE WHEN id % 2 = 0 THEN body ELSE '' '' || body END', '(SELECT d.body FROM docs d WHERE d.id = docs.id OFFSET 0)']) body;
\set ECHO none
-- in less memory than the texts of a partition, so that these go to a file; and stored in other ways
CREATE FUNCTION written(query text) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ' || query INTO plan;
	RETURN plan -> 0 -> 'Plan' ->> 'Temp Written Blocks';
END $$;
CREATE FUNCTION with_memory(memory text, body text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	PERFORM set_config('work_mem', memory, true);
	RETURN as_expected(of_text(body));
END $$;
\set ECHO queries
SELECT memory, body, with_memory(memory, body) AS same FROM unnest('{64kB,1MB}'::text[]) memory, unnest('{body,lower(body)}'::text[]) body;
SET work_mem = '64kB';
SELECT written(of_text('lower(body)')) > 2 * written('SELECT id, part, lower(body), simhash_cluster(fp, 3) OVER (PARTITION BY part ORDER BY id) FROM docs')
	AS has_file;
RESET work_mem;
CREATE PROCEDURE store(way text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('ALTER TABLE docs ALTER body SET STORAGE %s', way);
	UPDATE docs SET body = body || '';
END $$;
CALL store('EXTERNAL');
SELECT as_expected(of_text('body')) AS same, with_memory('64kB', 'body') AS with_little;
CALL store('MAIN');
SELECT as_expected(of_text('body')) AS same, with_memory('64kB', 'body') AS with_little;
CALL store('EXTENDED');
-- from joins, subqueries and groups, one by one, and beside other functions
SELECT as_expected('SELECT id, part, leader, connected FROM generate_series(0, 1) p, LATERAL (SELECT id, part,
		simhash_cluster(fp, 3, ''leader'', body, 0.8) OVER w AS leader, simhash_cluster(fp, 3, ''connected'', body, 0.8) OVER w AS connected
	FROM docs WHERE part = p WINDOW w AS (ORDER BY id)) s') AS subplan,
	as_expected('SELECT id, part, simhash_cluster(max(fp), 3, ''leader'', max(body), 0.8) OVER w, simhash_cluster(min(fp), 3, ''connected'', min(body), 0.8) OVER w
	FROM (SELECT * FROM docs UNION ALL SELECT * FROM docs) s GROUP BY id, part WINDOW w AS (PARTITION BY part ORDER BY id)') AS groups,
	as_expected('SELECT id, part, leader, connected FROM (SELECT id, part, simhash_cluster(fp, 3, ''leader'', body, 0.8) OVER w AS leader,
		simhash_cluster(fp, 3, ''connected'', body, 0.8) OVER (w ROWS 2 PRECEDING) AS connected, lag(body) OVER w,
		simhash_cluster(fp, 9, ''leader'', body, 0.2, 1) OVER w, simhash_cluster(fp, 3) OVER w, simhash_cluster(fp, 3, ''leader'', part::text, 1) OVER (ORDER BY id DESC)
	FROM docs WINDOW w AS (PARTITION BY part ORDER BY id)) s') AS beside_others;
-- peers have an order, too, and the key may be any
SELECT ordered, (check_numbers(format('SELECT part, row_number() OVER w AS place, fp, body, simhash_cluster(fp, 3, ''leader'', body, 0.8) OVER w AS leader,
	simhash_cluster(fp, 3, ''connected'', body, 0.8) OVER w AS connected FROM docs WINDOW w AS (PARTITION BY part ORDER BY %s)', ordered), 3, 0.8)).wrong
FROM unnest('{length(body) DESC,fp,key,part}'::text[]) ordered;
-- groups by fingerprints alone first, and texts only within these
SELECT method, k, count(*), count(DISTINCT one) AS groups, count(*) FILTER (WHERE one IS DISTINCT FROM two) AS wrong
FROM unnest('{leader,connected}'::text[]) method, unnest('{1,3}'::int[]) k, LATERAL (
	SELECT min(id) OVER (PARTITION BY checked) AS one, min(id) OVER (PARTITION BY near, within) AS two FROM (
		SELECT *, CASE WHEN rows > 1 THEN simhash_cluster(fp, k, method, body, 0.8) OVER (PARTITION BY near ORDER BY id) END AS within FROM (
			SELECT *, count(*) OVER (PARTITION BY near) AS rows FROM (SELECT id, fp, body, simhash_cluster(fp, k, method, body, 0.8) OVER (ORDER BY id) AS checked,
				simhash_cluster(fp, k) OVER (ORDER BY id) AS near FROM docs) s) s) s WHERE fp IS NOT NULL) s
GROUP BY 1, 2 ORDER BY 1, 2;

-- parameters of a prepared statement
PREPARE checked(int, text, float8, int) AS SELECT count(c) AS rows, max(c) AS clusters
FROM (SELECT simhash_cluster(fp, $1, $2, body, $3, $4) OVER (ORDER BY id) AS c FROM docs) s;
SET plan_cache_mode = force_generic_plan;
EXECUTE checked(3, 'leader', 0.8, 3);
EXECUTE checked(3, 'connected', 0.8, 3);
EXECUTE checked(3, 'leader', 0.2, 1);
EXECUTE checked(3, 'leader', NULL, 1);
\set VERBOSITY terse
EXECUTE checked(3, 'leader', 1.5, 1);
SET plan_cache_mode = force_custom_plan;
EXECUTE checked(3, 'leader', 0.2, 1);
RESET plan_cache_mode;
DEALLOCATE checked;
-- some of the rows, to and fro
SELECT id, leader, connected FROM clusters ORDER BY part, id LIMIT 2 OFFSET 199;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT id, part, leader, connected FROM clusters;
FETCH 1 FROM c;
FETCH ABSOLUTE 300 FROM c;
FETCH BACKWARD 1 FROM c;
SELECT (array_agg(r::text))[299] AS expected FROM (SELECT id, part, leader, connected FROM clusters) r;
DECLARE d CURSOR FOR SELECT id, connected FROM clusters;
FETCH 1 FROM d;
ROLLBACK;
SELECT left_behind();

-- What a role may see is all that there is: a policy, and a barrier.
CREATE ROLE regress_reader;
GRANT SELECT ON docs TO regress_reader;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_part ON docs USING (part = 1);
CREATE VIEW barrier WITH (security_barrier) AS SELECT id, part, simhash_cluster(fp, 3, 'leader', body, 0.8) OVER w AS leader,
	simhash_cluster(fp, 3, 'connected', body, 0.8) OVER w AS connected FROM docs WHERE part = 1 WINDOW w AS (ORDER BY id);
SELECT md5(rows_of('SELECT id, part, leader, connected FROM clusters WHERE part = 1')::text) AS of_part,
	md5(rows_of('SELECT id, part, leader, connected FROM clusters WHERE part = 1 AND leader = connected AND id > 20')::text) AS some \gset
SELECT md5(rows_of('TABLE barrier')::text) = :'of_part' AS barrier,
	md5(rows_of('SELECT * FROM barrier WHERE leader = connected AND id > 20')::text) = :'some' AS some;
SET ROLE regress_reader;
SELECT md5(rows_of(of_text('body'))::text) = :'of_part' AS policy;
RESET ROLE;
ALTER TABLE docs DISABLE ROW LEVEL SECURITY;
DROP OWNED BY regress_reader;
DROP ROLE regress_reader;

-- More features than work_mem has room for, and a text of more than 1 MB, out of line and not; with
-- small texts, and copies.
CREATE TABLE large (id int, fp simhash64, body text);
INSERT INTO large SELECT 10 * n + id, (n / 2)::bigint::simhash64, string_agg(CASE WHEN i % 1000 = id THEN 'x' ELSE md5(n || ' ' || i) END, ' ')
FROM (VALUES (0, 3000), (1, 3000), (2, 5)) v (n, most), generate_series(0, 1) id, LATERAL generate_series(1, most) i GROUP BY n, id;
INSERT INTO large VALUES (30, '0000000000000000', NULL), (31, '0000000000000000', '-'), (32, '00000000000000f0', repeat(repeat('n', 40) || ' ', 3)),
	(33, '00000000000000f0', repeat(repeat('n', 40) || ' ', 26000)), (34, '00000000000000f0', repeat(repeat('n', 40) || ' ', 26001) || 'a b'), (35, '00000000000000ff', repeat('-', 1100000)),
	(36, '00000000000000f0', (SELECT string_agg(repeat('x', 40) || i, ' ') FROM generate_series(1, 24000) i));
INSERT INTO large SELECT id + 100, fp, body FROM large WHERE id IN (0, 1, 35, 36);
CREATE TABLE of_parts AS SELECT id, string_agg(i::text, ' ' ORDER BY md5(i || ' ' || id)) AS body
FROM generate_series(1, 12) id, generate_series(1, 10000) i WHERE i % id < 2 AND i / 1000 <= id GROUP BY id;
SELECT count(*) FROM large WHERE length(body) > 1000000;
SET work_mem = '64kB';
SELECT * FROM check_numbers(numbered('TABLE large', 1, 0.9, 2), 1, 0.9, 2);
-- two texts are alike up to what text_jaccard says, and not above
SELECT count(*), count(*) FILTER (WHERE up_to <> 1 OR above <> 2) AS wrong FROM (
	SELECT DISTINCT a, b, max(up_to) OVER (PARTITION BY a, b) AS up_to, max(above) OVER (PARTITION BY a, b) AS above FROM (
		SELECT a.id AS a, b.id AS b, simhash_cluster('0123456789abcdef', 0, 'leader', one, s, 1) OVER w AS up_to,
			simhash_cluster('0123456789abcdef', 0, 'connected', one, s + 1e-9, 1) OVER w AS above
		FROM of_parts a JOIN of_parts b ON a.id < b.id, text_jaccard(a.body, b.body, words => 1) s, unnest(ARRAY[a.body, b.body]) one WHERE s < 1
		WINDOW w AS (PARTITION BY a.id, b.id)) s) s;
SELECT md5(rows_of(numbered('TABLE large', 1, 0.9, 2))::text) AS large \gset
SELECT md5(rows_of(numbered('SELECT id, fp, body || '''' FROM large', 1, 0.9, 2))::text) = :'large' AS same;
-- of which nothing is left behind, also where the cursor stays open
BEGIN;
DECLARE c CURSOR FOR SELECT simhash_cluster(fp, 1, method, body, 0.5, 1) OVER (PARTITION BY method, n ORDER BY id)
FROM large, generate_series(1, 3) n, unnest('{leader,connected}'::text[]) method WHERE id < 12;
MOVE ALL FROM c;
SELECT left_behind();
COMMIT;
SET temp_file_limit = '50kB';
SELECT left(error_of('SELECT simhash_cluster(fp, 3, ''leader'', lower(body), 0.5) OVER () FROM large'), 5);
RESET temp_file_limit;
SELECT left_behind();
-- nor is memory
CREATE FUNCTION memory_of_session() RETURNS bigint LANGUAGE sql VOLATILE AS
	'SELECT sum(total_bytes) FROM pg_backend_memory_contexts';
CREATE TABLE parts AS SELECT id, id / 5 AS part, (id % 2)::bigint::simhash64 AS fp, repeat(md5((id % 3)::text) || ' ', 40) || id % 4 AS body
FROM generate_series(0, 9999) id;
SELECT count(*), max(bytes) - min(bytes) < 200000 AS given_back FROM (
	SELECT CASE WHEN id % 2500 = 2499 AND leader + connected > 0 THEN memory_of_session() END AS bytes
	FROM (SELECT id, simhash_cluster(fp, 1, 'leader', body, 0.5) OVER w AS leader, simhash_cluster(fp, 1, 'connected', body, 0.5) OVER w AS connected
		FROM parts WINDOW w AS (PARTITION BY part ORDER BY id) OFFSET 0) s OFFSET 0) s WHERE bytes > 0;
RESET work_mem;

-- The first of each cluster stays, and what has no cluster.
DELETE FROM docs USING (SELECT id, row_number() OVER (PARTITION BY cluster ORDER BY id) AS n
	FROM (SELECT id, simhash_cluster(fp, 3, 'leader', body, 0.8) OVER (ORDER BY id) AS cluster FROM docs) s WHERE cluster IS NOT NULL) d
WHERE d.id = docs.id AND n > 1;
SELECT count(*), count(fp) AS with_fp, count(*) FILTER (WHERE body = '') AS empty, count(*) - count(body) AS without_body,
	(SELECT count(*) FROM docs a JOIN docs b ON a.fp <-> b.fp <= 3 AND a.id < b.id WHERE text_jaccard(a.body, b.body, words => 3) >= 0.8) AS partners
FROM docs;

DROP VIEW clusters, barrier;
DROP FUNCTION check_numbers, numbered, draw, with_workers, as_expected, of_text, written, with_memory, memory_of_session;
DROP PROCEDURE store;
DROP TABLE pages, originals, edited, dense, sparse, docs, of_words, expected, large, of_parts, parts;
