-- Further columns of a hamming index: the executor compares them.
\pset format unaligned \pset tuples_only on \set ECHO queries
SET max_parallel_workers_per_gather = 0;

-- near fingerprints of 40 sites, of which the last are NULL, as some fingerprints are
CREATE TABLE tenants (id int PRIMARY KEY, site int, lang text, fp simhash64, wide simhash128);
INSERT INTO tenants
SELECT id, nullif(id % 41, 40), (ARRAY['en', 'de', NULL])[id % 3 + 1], near, md5(base::text)::uuid::simhash128
FROM (SELECT id, base, CASE WHEN id % 17 > 0 THEN
		(hashint8extended(base, 1) # (1::bigint << id % 60) # (1::bigint << id % 7))::simhash64 END AS near
	FROM (SELECT id, id % 300 AS base FROM generate_series(1, 6000) id) ids) made;
CREATE INDEX tenants_fp ON tenants USING hamming (fp, site, lang);
CREATE INDEX tenants_wide ON tenants USING hamming (wide, site);
ANALYZE tenants;
SELECT hamming_index_check('tenants_fp'), hamming_index_check('tenants_wide');

-- with each kind of condition the rows are those of a sequential scan
SELECT fp AS near, wide FROM tenants WHERE id = 7 \gset
SELECT fp AS other FROM tenants WHERE id = 307 \gset
CREATE TEMP TABLE conditions AS
SELECT 'SELECT * FROM tenants WHERE ' || replace(fingerprint, '?', :'near') || ' AND ' || scope AS query
FROM unnest(ARRAY['true', 'fp <-> ''?'' <= 3', 'fp <-> ''?'' <= 12', 'fp = ''?''', 'fp % ''?''', 'fp IS NULL',
		'fp IS NOT NULL', 'fp <-> NULL <= 3', format('fp <-> ''?'' <= 8 AND fp <-> %L <= 6', :'other'),
		format('wide <-> %L <= 40', :'wide'), format('wide = %L', :'wide')]) fingerprint,
	unnest(ARRAY['true', 'site = 7', 'site = 7 AND lang = ''de''', 'site IS NULL', 'site IS NOT NULL', 'site = NULL',
		'lang IS NULL AND site = 12', 'site IN (7, 8, 9)', 'site = ANY (''{}'')', 'NOT site = 7', 'site < 20']) scope;
SELECT count(*), count(*) FILTER (WHERE same_rows(query)) AS same FROM conditions;
SET enable_indexscan = off;
SELECT count(*) FILTER (WHERE same_rows(query)) AS by_bitmap FROM conditions;
RESET enable_indexscan;
SELECT index_use('SELECT * FROM tenants WHERE fp <-> ''00000000000000ff'' <= 3 AND site = 7 AND lang = ''de''');

-- nearest rows
SELECT same_rows(format('SELECT fp <-> %L AS d FROM tenants WHERE %s ORDER BY d LIMIT %s', :'near', scope, n))
FROM (VALUES ('site = 7', 5), ('site = 9 AND lang = ''en''', 1000), ('site IS NULL', 20)) v (scope, n);
SELECT index_use('SELECT id FROM tenants WHERE site = 7 ORDER BY fp <-> ''00000000000000ff'' LIMIT 5');
SELECT column_name, pg_index_column_has_property('tenants_fp', n::int, 'distance_orderable')
FROM unnest('{fp,site}'::text[]) WITH ORDINALITY c (column_name, n);

-- the planner knows what a search reads: all that is near, whatever the site
CREATE FUNCTION index_rows(condition text) RETURNS bigint LANGUAGE plpgsql SET enable_seqscan = off
SET enable_indexscan = off AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT json) SELECT * FROM tenants WHERE ' || condition INTO plan;
	RETURN plan #>> '{0,Plan,Plans,0,Plan Rows}';
END $$;
SELECT index_rows('fp <-> ''00000000000000ff'' <= 30') = index_rows('fp <-> ''00000000000000ff'' <= 30 AND site = 7') AS same,
	index_rows('site = 7') = count(*) AS all FROM tenants;
-- and that each element of an array would be a search
SELECT plan_lines('SELECT * FROM tenants WHERE fp <-> ''00000000000000ff'' <= 3 AND site IN (7, 8, 9)', 'Cond|Filter');

-- that the executor looks at all conditions of each row again
CREATE FUNCTION slow(site int) RETURNS int LANGUAGE plpgsql IMMUTABLE COST 1000 AS 'BEGIN RETURN site; END';
CREATE INDEX tenants_slow ON tenants USING hamming (fp, slow(site));
SET enable_bitmapscan = off;
SELECT index_use('SELECT * FROM tenants WHERE slow(site) = 7');
RESET enable_bitmapscan;
DROP INDEX tenants_slow;

-- pages are those of an index without further columns
CREATE INDEX tenants_alone ON tenants USING hamming (fp);
CHECKPOINT;
CREATE FUNCTION pages(index regclass) RETURNS text LANGUAGE sql AS $$
	-- without the LSN and the checksum of each
	SELECT md5(string_agg(substr(page, 11), '' ORDER BY n))
	FROM (SELECT n, pg_read_binary_file(pg_relation_filepath(index), n * 8192, 8192) AS page
		FROM generate_series(0, pg_relation_size(index) / 8192 - 1) n) pages
$$;
SELECT pages('tenants_fp') = pages('tenants_alone') AS same;
DROP INDEX tenants_alone;

-- a row that got another site, and rows that went
UPDATE tenants SET site = 7 WHERE site = 8;
DELETE FROM tenants WHERE id % 3 = 0;
VACUUM tenants;
INSERT INTO tenants SELECT id + 6000, site, lang, fp, wide FROM tenants WHERE site < 9;
SELECT hamming_index_check('tenants_fp'), count(*) FILTER (WHERE same_rows(query)) AS same FROM conditions;

-- what is refused: a first column that is no fingerprint, and a second one that is; from
-- PostgreSQL 17 on, a type has its schema
SELECT replace(error_of(format('CREATE INDEX ON tenants USING hamming (%s)', columns)), 'public.', '') AS error
FROM unnest(ARRAY['site', 'site, fp', '(id::bigint), fp', 'fp, wide', 'fp, site, fp', '(wide::simhash64), (site + 1), fp',
	'fp, (fp::text::bytea)', 'fp, (1.5::float8)', 'fp, site DESC', 'fp) INCLUDE (site']) columns;

-- constraints: only of the same site, of which NULL is none
CREATE TYPE mood AS ENUM ('sad', 'glad');
\set ECHO none
CREATE FUNCTION refuses(type text, one text, two text) RETURNS TABLE (same text, other text, nulls text)
LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TEMP TABLE scoped (fp simhash64, wide simhash128, s %s,
		CONSTRAINT narrow EXCLUDE USING hamming (fp WITH %%, s WITH =),
		CONSTRAINT wide EXCLUDE USING hamming (wide WITH %%, s WITH =))', type);
	EXECUTE format('INSERT INTO scoped VALUES (''00000000000000ff'', NULL, %L), (NULL, %L, %1$L),
		(''00000000000000ff'', %2$L, NULL)', one, repeat('f', 32));
	same := (SELECT string_agg(error_of(format('INSERT INTO scoped VALUES (%L, %L, %L)', n, w, one)), '; ')
		FROM (VALUES ('000000000000000f', NULL), (NULL, '0fff' || repeat('f', 28))) v (n, w));
	other := error_of(format('INSERT INTO scoped VALUES (''000000000000000f'', %L, %L)', repeat('f', 32), two));
	nulls := error_of(format('INSERT INTO scoped VALUES (''000000000000000f'', %L, NULL)', repeat('f', 32)));
	DROP TABLE scoped;
	RETURN NEXT;
END $$;
\set ECHO queries
SELECT type, regexp_count(same, '23P01') AS same, other ~ '^no error' AS other, nulls ~ '^no error' AS nulls
FROM (VALUES ('smallint', '1', '2'), ('int', '1', '2'), ('bigint', '1', '2'), ('oid', '1', '2'), ('text', 'a', 'A'),
	('varchar(9)', 'a', 'b'), ('char(3)', 'a', 'b'), ('uuid', md5('a'), md5('b')), ('date', '2026-01-01', '2026-01-02'),
	('timestamp', '2026-01-01', '2026-01-02'), ('timestamptz', '2026-01-01', '2026-01-02'), ('numeric', '1.0', '1.1'),
	('boolean', 'f', 't'), ('bytea', '\x00', '\x01'), ('inet', '10.0.0.1', '10.0.0.2'), ('cidr', '10.0.0.0/8', '11.0.0.0/8'),
	('mood', 'sad', 'glad'), ('int[]', '{1,2}', '{2,1}'), ('text[]', '{a,NULL}', '{a}')) v (type, one, two),
	refuses(type, one, two);

-- a check of the numbers, partial, deferred, and by ON CONFLICT
CREATE FUNCTION numbers(body text) RETURNS text[] LANGUAGE sql IMMUTABLE AS
	'SELECT coalesce(array_agg(m[1]), ''{}'') FROM regexp_matches(body, ''[0-9]+'', ''g'') m';
CREATE TABLE invoices (id int, site int, body text, CONSTRAINT once
	EXCLUDE USING hamming (minhash(body) WITH %, site WITH =, numbers(body) WITH =) WHERE (id < 100)
	DEFERRABLE INITIALLY IMMEDIATE);
INSERT INTO invoices SELECT 1, 1, 'The invoice of the month of May that you asked for is 120 euros in all, please pay soon';
INSERT INTO invoices SELECT 2, 1, replace(body, '120', '130') FROM invoices;
INSERT INTO invoices SELECT 3, 2, body FROM invoices WHERE id = 1;
INSERT INTO invoices SELECT 4, 1, replace(body, 'soon', 'today') FROM invoices WHERE id = 1;
INSERT INTO invoices SELECT 104, 1, replace(body, 'soon', 'today') FROM invoices WHERE id = 1;
BEGIN;
SET CONSTRAINTS once DEFERRED;
INSERT INTO invoices SELECT 5, 1, replace(body, 'soon', 'now') FROM invoices WHERE id = 1;
DELETE FROM invoices WHERE id = 1;
COMMIT;
UPDATE invoices SET site = 2 WHERE id = 5;
UPDATE invoices SET id = 4 WHERE id = 104;
SELECT id, site FROM invoices ORDER BY id;
CREATE TABLE pages_once (id int, site int, fp simhash128, EXCLUDE USING hamming (fp WITH %, site WITH =));
INSERT INTO pages_once SELECT i, i % 3, repeat('0f', 16)::simhash128 FROM generate_series(1, 7) i
ON CONFLICT DO NOTHING RETURNING id, site;
SELECT pg_get_indexdef('pages_once_fp_site_excl'::regclass), pg_get_constraintdef(oid)
FROM pg_constraint WHERE conname = 'pages_once_fp_site_excl';

-- classes of users
CREATE OPERATOR CLASS bad_ops FOR TYPE float8 USING hamming AS OPERATOR 3 =, OPERATOR 1 <;
CREATE OPERATOR CLASS good_ops FOR TYPE float8 USING hamming AS OPERATOR 3 =;
SELECT opcname, amvalidate(oid) FROM pg_opclass WHERE opcname IN ('bad_ops', 'good_ops') ORDER BY 1;
CREATE TABLE floats (fp simhash64, x float8, EXCLUDE USING hamming (fp WITH %, x good_ops WITH =));
INSERT INTO floats VALUES ('00000000000000ff', 'NaN'), ('00000000000000ff', 1), ('00000000000000ff', 'NaN');
CREATE OPERATOR CLASS order_ops FOR TYPE simhash64 USING hamming AS OPERATOR 3 =,
	OPERATOR 4 <-># FOR ORDER BY integer_ops;
CREATE TABLE two (fp simhash64, other simhash64);
CREATE INDEX ON two USING hamming (fp, other order_ops);
SET enable_seqscan = off;
SELECT * FROM two ORDER BY other <-> '00000000000000ff' LIMIT 1;
RESET enable_seqscan;
DROP TABLE two;
DROP OPERATOR FAMILY order_ops USING hamming;
DROP TABLE floats, invoices, pages_once, tenants;
DROP OPERATOR FAMILY bad_ops USING hamming;
DROP OPERATOR FAMILY good_ops USING hamming;
DROP FUNCTION index_rows, slow, pages, refuses, numbers;
DROP TYPE mood;
