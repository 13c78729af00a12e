-- Row estimates of a Hamming ball, of as many bits, for as many rows, and within the
-- radii, that another file asks for that includes this one.
\pset format unaligned \pset tuples_only on

\if :{?bits}
	\set ball hamming_ball :bits
	\set make_ball hamming_ball_128
	\set restrict simhash_restrict_ :bits
\else
	\set bits 64
	\set ball hamming_ball
	\set make_ball hamming_ball
	\set restrict simhash_restrict
	\if :{?rows}
	\else
		\set ECHO queries
	\endif
\endif
\if :{?rows}
\else
	\set rows 100000
	SELECT ARRAY[-1, 0, 1, 2, 3, 4, :bits / 2 - 1, :bits / 2, :bits / 2 + 1, :bits - 1, :bits, :bits + 1] AS radii \gset
\endif
SELECT :bits / 8 AS near, CASE :bits WHEN 64 THEN 6 ELSE 20 END AS far,
	left(repeat('0123456789abcdef', 8), :bits / 4) AS q, lpad('ff', :bits / 4, '0') AS ff,
	lpad('fc', :bits / 4, '0') AS fc, rpad('ff', :bits / 4, '0') AS other, repeat('f', :bits / 4) AS ones \gset

CREATE FUNCTION estimate(query text, property text DEFAULT 'Plan Rows') RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan->0->'Plan'->>property;
END $$;

CREATE TABLE docs (fp simhash:bits);
INSERT INTO docs SELECT left(md5(i::text), :bits / 4)::simhash:bits
FROM generate_series(1, :rows) i;
ANALYZE docs;
-- between 1 and 1,000 for small k, growing with k, with any way to ask; where the
-- centre is not known, the pairs that ANALYZE has counted are none for each of these k
CREATE VIEW asked AS
SELECT name, k, estimate(format('SELECT FROM docs WHERE ' || condition, :'q', k)) AS rows
FROM generate_series(0, :far) k, (VALUES
	('constant', 'fp <-> %L <= %s'),
	('below', 'fp <-> %L < %s + 1'),
	('ball', 'fp <@ ' || :'make_ball' || '(%L, %s)'),
	('unknown', 'fp <-> (SELECT %L::simhash' || :bits || ') <= %s')
	) c(name, condition);
SELECT name, min(rows) >= 1 AND max(rows) <= 1000 AS sane,
	bool_and(grows >= 0) AS never_falls, bool_and(grows > 0) AS grows
FROM (SELECT *, rows - lag(rows, 1, 0.0::float8) OVER (PARTITION BY name ORDER BY k) AS grows
	FROM asked) s GROUP BY name ORDER BY name;
-- %, and what is not known when a query is planned, is within an eighth of the bits
SELECT k - :near AS more, of_near = rows AS same, of_unknown = rows AS unknown
FROM generate_series(:near - 1, :near + 1) k,
	estimate(format('SELECT FROM docs WHERE fp %% %L', :'q')) of_near,
	estimate(format('SELECT FROM docs WHERE fp <-> %L <= (SELECT 1)', :'q')) of_unknown,
	estimate(format('SELECT FROM docs WHERE fp <-> %L <= %s', :'q', k)) rows;
-- half of the rows at half of the bits, all at all, none below 0
SELECT k, round((estimate(format('SELECT FROM docs WHERE fp <-> %L <= %s', :'q', k))
	/ :rows)::numeric, 2) AS part
FROM unnest(ARRAY[-1, :bits / 2 - 8, :bits / 2 - 4, :bits / 2, :bits / 2 + 4, :bits / 2 + 8, :bits, 200]) k;
SELECT round((estimate(format('SELECT FROM docs WHERE fp <-> %L > %s', :'q', :bits / 2))
	/ :rows)::numeric, 2) AS more_than_half;
-- a join, and a semijoin
SELECT estimate('SELECT FROM docs a JOIN docs b ON a.fp <-> b.fp <= 3')
	BETWEEN :rows AND 10 * :rows AS joined,
	estimate('SELECT FROM docs a WHERE EXISTS
		(SELECT FROM docs b WHERE a.fp <-> b.fp <= 3)') <= :rows AS semijoined;
-- neither none nor all where a semijoin or an antijoin cannot know
SELECT estimate('SELECT FROM docs a WHERE EXISTS
		(SELECT FROM docs b WHERE a.fp <-> b.fp <= 3)') BETWEEN 0.1 * :rows AND 0.9 * :rows AS semijoin,
	estimate('SELECT FROM docs a WHERE NOT EXISTS
		(SELECT FROM docs b WHERE a.fp <-> b.fp <= 3)') BETWEEN 0.1 * :rows AND 0.9 * :rows AS antijoin;
-- two columns of one row, of which nothing is known
SELECT estimate('SELECT FROM (SELECT fp, fp AS other FROM docs OFFSET 0) s
	WHERE fp <-> other <= 3') BETWEEN 0.001 * :rows AND 0.1 * :rows AS two_columns;
-- without statistics k + 1 rows, but in a join one for each row
CREATE TABLE unanalyzed (fp simhash:bits) WITH (autovacuum_enabled = off);
INSERT INTO unanalyzed SELECT fp FROM docs LIMIT 100000;
SELECT k, estimate(format('SELECT FROM unanalyzed WHERE fp <-> %L <= %s', :'q', k)) AS rows,
	estimate(format('SELECT FROM unanalyzed WHERE fp <-> (SELECT %L::simhash%s) <= %s', :'q', :bits, k)) AS unknown,
	round((estimate(format('SELECT FROM unanalyzed a JOIN unanalyzed b ON a.fp <-> b.fp <= %s', k))
		/ estimate('SELECT FROM unanalyzed'))::numeric, 1) AS joined
FROM unnest(ARRAY[0, 1, 3]) k;
-- where pairs are at all distances, % is within an eighth of the bits, and the pairs of a ball are counted, too
CREATE TABLE steps AS SELECT (~ 0::bit(:bits) << i)::simhash:bits AS fp FROM generate_series(0, :bits) i;
ANALYZE steps;
SELECT k - :near AS more, estimate('SELECT FROM steps a JOIN steps b ON a.fp % b.fp') = rows AS same,
	estimate(format('SELECT FROM steps a JOIN steps b ON a.fp <@ %s(b.fp, %s)', :'make_ball', k)) = rows AS ball
FROM generate_series(:near - 1, :near + 1) k,
	estimate(format('SELECT FROM steps a JOIN steps b ON a.fp <-> b.fp <= %s', k)) rows;
DROP TABLE steps;

-- A row is no partner of itself where a clause excludes that, as < does, but <= does not.
CREATE TABLE ids AS SELECT row_number() OVER () AS id, fp, left(md5(fp::text), :bits / 4)::simhash:bits AS other
FROM docs LIMIT 20000;
CREATE TABLE same_ids AS TABLE ids;
CREATE TABLE one AS SELECT 1 AS id;
CREATE TABLE twins AS SELECT row_number() OVER () AS id, fp FROM ids, generate_series(1, 2) WHERE id <= 3000;
CREATE TABLE twenty AS SELECT id, left(md5((id % 20)::text), :bits / 4)::simhash:bits AS fp FROM generate_series(1, 4000) id;
CREATE TABLE parts (LIKE ids, part int) PARTITION BY LIST (part);
CREATE TABLE part_1 PARTITION OF parts FOR VALUES IN (1);
CREATE TABLE part_2 PARTITION OF parts FOR VALUES IN (2);
INSERT INTO parts SELECT *, 1 + id % 2 FROM ids;
CREATE VIEW shown AS SELECT * FROM ids;
CREATE VIEW self_joins AS
SELECT kind, excluded, array_agg(DISTINCT estimate(format(query, condition, clause))) AS rows
FROM (VALUES ('inner', 'SELECT FROM ids a JOIN ids b ON %s AND %s'),
	('semi', 'SELECT FROM ids a WHERE EXISTS (SELECT FROM ids b WHERE %s AND %s)'),
	('anti', 'SELECT FROM ids a WHERE NOT EXISTS (SELECT FROM ids b WHERE %s AND %s)'),
	('pulled up', 'SELECT FROM shown a JOIN (SELECT * FROM shown) b ON %s AND %s')) k(kind, query),
	(VALUES ('a.fp <-> b.fp <= 3'), ('a.fp % b.fp'), ('a.fp <@ ' || :'make_ball' || '(b.fp, 3)'),
	(:'make_ball' || '(a.fp, 3) @> b.fp')) c(condition),
	(VALUES ('a.id < b.id', true), ('a.id > b.id', true), ('b.id <> a.id', true), ('a.ctid < b.ctid', true),
	('a.ctid <> b.ctid', true), ('a.id <= b.id', false), ('a.id < b.id + 1', false)) o(clause, excluded)
WHERE kind <> 'pulled up' OR clause !~ 'ctid'
GROUP BY kind, excluded ORDER BY kind, excluded;
ANALYZE ids, same_ids, one, twins, twenty, parts;
SELECT * FROM self_joins;
CREATE INDEX ON ids USING hamming (fp);
SELECT * FROM self_joins WHERE excluded;
DROP INDEX ids_fp_idx;
SELECT :bits = 64 AS has_gist \gset
\if :has_gist
	CREATE INDEX ON ids USING gist (fp);
	SELECT * FROM self_joins WHERE excluded;
	DROP INDEX ids_fp_idx;
\endif
SET enable_partitionwise_join = on;
SET max_parallel_workers_per_gather = 0;	-- a Gather has the rows of the parents
SELECT name, round(estimate(query)::numeric, -2) AS rows FROM (VALUES
	(1, 'partitions', 'SELECT FROM parts a JOIN parts b ON a.fp <-> b.fp <= 3 AND a.id < b.id'),
	(2, 'pairs of partitions', 'SELECT FROM parts a JOIN parts b ON a.fp <-> b.fp <= 3 AND a.id < b.id AND a.part = b.part'),
	(3, 'an expression', 'SELECT FROM ids a JOIN ids b ON coalesce(a.fp, a.other) <-> coalesce(b.fp, b.other) <= 3 AND a.id < b.id'),
	(4, 'another expression', 'SELECT FROM ids a JOIN ids b ON coalesce(a.fp, a.other) <-> coalesce(b.other, b.fp) <= 3 AND a.id < b.id'),
	(5, 'another column', 'SELECT FROM ids a JOIN ids b ON a.fp <-> b.other <= 3 AND a.id < b.id'),
	(6, 'another table', 'SELECT FROM ids a JOIN same_ids b ON a.fp <-> b.fp <= 3 AND a.id < b.id'),
	(7, 'another pair of tables', 'SELECT FROM ids a JOIN ids b ON a.fp <-> b.fp <= 3 JOIN ids c ON a.id = c.id AND c.id < b.id'),
	(8, 'an outer join above', 'SELECT FROM ids a CROSS JOIN ids b LEFT JOIN one ON a.id < b.id WHERE a.fp <-> b.fp <= 3'),
	(9, 'never analyzed', 'SELECT FROM unanalyzed a JOIN unanalyzed b ON a.fp <-> b.fp <= 3 AND a.ctid <> b.ctid'),
	(10, 'the other twin', 'SELECT FROM twins a JOIN twins b ON a.fp <-> b.fp <= 3 AND a.id <> b.id'),
	(11, 'both twins', 'SELECT FROM twins a JOIN twins b ON a.fp <-> b.fp <= 3'),
	(12, 'the other twin, left join', 'SELECT FROM twins a LEFT JOIN twins b ON a.fp <-> b.fp <= 3 AND a.id <> b.id'),
	(13, 'rows with others', 'SELECT FROM twins a WHERE EXISTS (SELECT FROM twins b WHERE a.fp <-> b.fp <= 3 AND a.id <> b.id)'),
	(14, '20 values', 'SELECT FROM twenty a JOIN twenty b ON a.fp <-> b.fp <= 3 AND a.id <> b.id')) q(n, name, query)
ORDER BY n;
RESET max_parallel_workers_per_gather;
RESET enable_partitionwise_join;
-- where nothing is known, a row may have a partner or not
SELECT estimate('SELECT FROM unanalyzed a WHERE EXISTS (SELECT FROM unanalyzed b WHERE a.fp <-> b.fp <= 3 AND a.ctid <> b.ctid)')
	/ estimate('SELECT FROM unanalyzed') BETWEEN 0.1 AND 0.9 AS never_analyzed;
DROP VIEW self_joins, shown;
DROP TABLE ids, same_ids, one, twins, twenty, parts;
-- rows without a fingerprint have no partner, on either side
CREATE TABLE sparse AS SELECT CASE WHEN n % 4 = 0 THEN fp END AS fp
FROM (SELECT fp, row_number() OVER () AS n FROM docs LIMIT 20000) d;
ANALYZE sparse;
SELECT estimate('SELECT FROM sparse a JOIN docs b ON a.fp <-> b.fp <= 1') AS left_side,
	estimate('SELECT FROM docs a JOIN sparse b ON a.fp <-> b.fp <= 1') AS right_side,
	estimate('SELECT FROM sparse a JOIN sparse b ON a.fp <-> b.fp <= 1') AS both_sides,
	estimate('SELECT FROM sparse a JOIN sparse b ON a.fp <-> b.fp <= 1 AND a.ctid <> b.ctid') AS other_rows;

-- Fingerprints that lie dense, and nearly all differ: one half is within 4 bits of a
-- centre, the other one random.
CREATE FUNCTION flip(bits varbit, n bigint) RETURNS varbit LANGUAGE sql AS $$
	SELECT set_bit(bits, place, 1 - get_bit(bits, place)) FROM (SELECT abs(hashint8(n)) % length(bits)) s(place)
$$;
CREATE FUNCTION near(centre varbit, n bigint) RETURNS varbit LANGUAGE sql AS
	'SELECT flip(flip(flip(flip(centre, 4 * n), 4 * n + 1), 4 * n + 2), 4 * n + 3)';
CREATE TABLE dense AS
SELECT CASE WHEN i % 2 = 0 THEN left(md5(i::text), :bits / 4)::simhash:bits
	ELSE near(('x' || :'q')::varbit, i)::bit(:bits)::simhash:bits END AS fp
FROM generate_series(1, 2000) i;
ANALYZE dense;
SELECT k, estimate(format('SELECT FROM dense a JOIN dense b ON a.fp <-> b.fp <= %s', k)) / n BETWEEN 0.2 AND 5 AS joined,
	estimate(format('SELECT FROM dense WHERE fp <-> (SELECT %L::simhash%s) <= %s', :'q', :bits, k)) / (n / 2000)
		BETWEEN 0.2 AND 5 AS unknown
FROM (SELECT k, sum(n) FILTER (WHERE distance <= k) AS n
	FROM unnest(ARRAY[2, 3, 4, 6, 8]) k,
		(SELECT a.fp <-># b.fp AS distance, count(*) AS n FROM dense a, dense b GROUP BY 1) d
	GROUP BY k) s
ORDER BY k;
-- half of the rows have another one near, and are not taken for all
SELECT estimate('SELECT FROM dense a WHERE EXISTS (SELECT FROM dense b WHERE a.fp <-> b.fp <= 8 AND a.ctid <> b.ctid)')
	BETWEEN 500 AND 1800 AS semijoin,
	estimate('SELECT FROM dense a WHERE NOT EXISTS (SELECT FROM dense b WHERE a.fp <-> b.fp <= 8 AND a.ctid <> b.ctid)')
	BETWEEN 200 AND 1500 AS antijoin;
-- two columns that lie dense elsewhere, and originals with many copies
CREATE TABLE elsewhere AS SELECT (~ fp::bit(:bits))::simhash:bits AS fp FROM dense;
CREATE TABLE originals AS SELECT fp FROM docs LIMIT 20;
CREATE TABLE copies AS SELECT near(fp::bit(:bits), i)::bit(:bits)::simhash:bits AS fp
FROM originals, generate_series(1, 100) i;
ANALYZE elsewhere, originals, copies;
SELECT estimate('SELECT FROM dense a JOIN elsewhere b ON a.fp <-> b.fp <= 8') <= 5 * 2000 AS elsewhere,
	estimate('SELECT FROM originals a JOIN copies b ON a.fp <-> b.fp <= 8') / 2000 BETWEEN 0.2 AND 5 AS copies;
-- of 1,023 stored values, one in three is compared
SET default_statistics_target = 1022;
CREATE TABLE thin AS SELECT DISTINCT fp FROM dense;
CREATE TABLE thin_elsewhere AS SELECT DISTINCT fp FROM elsewhere;
ANALYZE thin, thin_elsewhere;
RESET default_statistics_target;
SELECT cardinality(histogram_bounds::text::text[]) AS stored,
	estimate('SELECT FROM thin a JOIN thin_elsewhere b ON a.fp <-> b.fp <= 8') <= 5 * 2000 AS elsewhere
FROM pg_stats WHERE tablename = 'thin';
DROP TABLE elsewhere, originals, copies, thin, thin_elsewhere;
-- near the centre, far from it, and of other rows
SELECT round(estimate(format('SELECT FROM dense WHERE fp <-> %L <= 5', :'q'))::numeric, -3) AS near,
	estimate(format('SELECT FROM dense WHERE fp <-> %L <= 5', :'other')) AS far,
	estimate('SELECT FROM dense a JOIN docs b ON a.fp <-> b.fp <= 5') <= 5 * 2000 AS others;

-- the most common values within k are counted
CREATE TABLE common (fp simhash:bits);
INSERT INTO common SELECT CASE WHEN i % 10 < 4 THEN :'ff'
	WHEN i % 10 < 6 THEN :'fc'
	WHEN i % 10 > 6 THEN left(md5(i::text), :bits / 4) END::simhash:bits
FROM generate_series(1, 10000) i;
ANALYZE common;
SELECT k, round(estimate(format(
	'SELECT FROM common WHERE fp <-> %L <= %s', :'ff', k))::numeric, -3) AS rows
FROM unnest(ARRAY[0, 1, 2, 3, :bits]) k;
SELECT round(estimate(format('SELECT FROM common WHERE fp <-> %L <= 3', :'ones'))
	::numeric, -3) AS rows;
SELECT estimate('SELECT FROM common WHERE fp <-> NULL <= 3') AS null_centre,
	round(estimate(format('SELECT FROM common WHERE fp <-> (SELECT NULL::simhash%s) <= 3', :bits))::numeric, -3) AS unknown;
-- a value that a restriction leaves out makes no pairs; ANALYZE reads all rows, and counts all pairs
CREATE TABLE frames AS SELECT i AS id, i % 20 = 0 AS half,
	CASE i % 10 WHEN 0 THEN :'ff' ELSE left(md5(i::text), :bits / 4) END::simhash:bits AS fp
FROM generate_series(1, 6000) i;
CREATE TABLE other_frames AS TABLE frames;
ANALYZE frames, other_frames;
SELECT condition, estimate('SELECT FROM frames a JOIN frames b ON a.fp <-> b.fp <= 3' || condition) BETWEEN least AND most AS right
FROM (VALUES ('', 300e3, 420e3), (' AND a.half AND b.half', 500, 1800), (' AND a.id > 150 AND b.id > 150', 200e3, 420e3))
	v (condition, least, most);
SELECT condition, estimate(format('SELECT FROM frames a JOIN frames b ON a.fp <-> b.fp <= 3 AND %s AND %s',
	format(condition, 'a', :'ff'), format(condition, 'b', :'ff'))) <= 12000 AS self_join,
	estimate(format('SELECT FROM frames a JOIN other_frames b ON a.fp <-> b.fp <= 3 AND %s',
	format(condition, 'a', :'ff'))) <= 12000 AS one_side,
	estimate(format('SELECT FROM frames a WHERE EXISTS (SELECT FROM frames b WHERE a.fp <-> b.fp <= 3 AND a.id <> b.id AND %s)',
	format(condition, 'b', :'ff'))) <= 800 AS semijoin
FROM unnest(ARRAY['%s.fp <> %L', 'NOT %s.fp = %L', '%s.fp IS DISTINCT FROM %L', '%1$s.fp NOT IN (%2$L, %2$L)',
	'%1$s.fp <> %2$L AND %1$s.id > 10']) condition;
-- where ANALYZE draws rows, what the samples differ by is hardly ever a pair that remains
CREATE TABLE drawn AS SELECT CASE i % 10 WHEN 0 THEN :'ff' ELSE left(md5(i::text), :bits / 4) END::simhash:bits AS fp
FROM generate_series(1, 40000) i;
CREATE FUNCTION analyzed_estimates(query text) RETURNS SETOF float8 LANGUAGE plpgsql AS $$
BEGIN
	FOR i IN 1 .. 12 LOOP
		ANALYZE drawn;
		RETURN NEXT estimate(query);
	END LOOP;
END $$;
SELECT count(*) FILTER (WHERE rows <= 160000) > 8 AS most FROM analyzed_estimates(
	format('SELECT FROM drawn a JOIN drawn b ON a.fp <-> b.fp <= 3 AND a.fp <> %L AND b.fp <> %1$L', :'ff')) rows;
DROP FUNCTION analyzed_estimates;
DROP TABLE drawn;
-- also below an outer join
SELECT estimate(format('SELECT FROM other_frames s LEFT JOIN frames a ON s.id = a.id AND a.fp <> %L
	LEFT JOIN frames b ON a.fp <-> b.fp <= 3 AND b.fp <> %1$L', :'ff')) < 20000 AS outer_join;
-- a self-join reads no row again as its own partner, which would take long from a file
SELECT format('SELECT FROM frames a JOIN frames b ON a.fp <-> b.fp <= 3 AND a.id < b.id AND a.fp <> %L AND b.fp <> %1$L', :'ff')
	AS query \gset
SET max_parallel_workers_per_gather = 0;
CREATE TEMP TABLE in_memory AS SELECT estimate(:'query', 'Total Cost') AS cost;
SET work_mem = '180kB';
SELECT estimate(:'query', 'Total Cost') / cost < 1.5 AS self_join FROM in_memory;
DROP TABLE in_memory;
RESET work_mem;
RESET max_parallel_workers_per_gather;
-- a function that is not immutable is not called for each value, nor where no row needs its result
CREATE FUNCTION raise() RETURNS boolean LANGUAGE plpgsql STABLE AS $$ BEGIN RAISE 'called by the planner'; END $$;
SELECT estimate(format('SELECT FROM frames a JOIN frames b ON a.fp <-> b.fp <= 3 AND CASE WHEN a.fp = %L THEN raise() END', :'ff')) > 0
	AS planned;
DROP FUNCTION raise;
-- a restriction of another column leaves out none of the pairs of the rows that remain, as many as it leaves out
CREATE TABLE tenths AS SELECT i % 10 <> 1 AS active,
	CASE i % 10 WHEN 0 THEN :'ff' ELSE left(md5(i::text), :bits / 4) END::simhash:bits AS fp
FROM generate_series(1, 100000) i;
SET default_statistics_target = 400;	-- ANALYZE reads all rows
ANALYZE tenths;
RESET default_statistics_target;
SELECT estimate('SELECT FROM tenths a JOIN tenths b ON a.fp <-> b.fp <= 3 AND a.active AND b.active')
	BETWEEN 1e8 / 2 AND 1e8 * 2 AS tenths;
DROP TABLE frames, other_frames, tenths;
-- which side of a semijoin or antijoin has the NULLs does not depend on how it is written
SELECT outer_side, kind, count(DISTINCT rows) AS estimates, bool_and(rows BETWEEN least AND most) AS sane
FROM (VALUES ('sparse', 'docs', 'EXISTS', 1, 5000), ('sparse', 'docs', 'NOT EXISTS', 15000, 20000),
		('docs', 'sparse', 'EXISTS', 1, :rows - 1), ('docs', 'sparse', 'NOT EXISTS', 1, :rows - 1))
		v(outer_side, inner_side, kind, least, most),
	unnest(ARRAY['o.fp <-> i.fp <= 3', 'i.fp <-> o.fp <= 3']) clause,
	estimate(format('SELECT FROM %s o WHERE %s (SELECT FROM %s i WHERE %s)', outer_side, kind, inner_side, clause)) rows
GROUP BY outer_side, kind ORDER BY 1, 2;
-- a part of NULLs that pg_restore_attribute_stats() or a superuser has written may be anything
CREATE FUNCTION set_null_part(relation regclass, part float4) RETURNS void LANGUAGE sql AS
	'UPDATE pg_statistic SET stanullfrac = part WHERE starelid = relation';
SELECT part, bool_and(estimate(query) BETWEEN 0 AND 1e12) AS sane
FROM unnest(ARRAY[-1, 2, 'NaN']::float4[]) part, set_null_part('sparse', part) s, unnest(ARRAY[
		'SELECT FROM sparse WHERE fp <-> (SELECT fp FROM docs LIMIT 1) <= 3',
		'SELECT FROM sparse a JOIN docs b ON a.fp <-> b.fp <= 3', 'SELECT FROM docs a JOIN sparse b ON a.fp <-> b.fp <= 3',
		'SELECT FROM docs a WHERE EXISTS (SELECT FROM sparse b WHERE a.fp <-> b.fp <= 3)',
		'SELECT FROM sparse a WHERE NOT EXISTS (SELECT FROM sparse b WHERE a.fp <-> b.fp <= 3)']) query
GROUP BY 1 ORDER BY 1;
DROP FUNCTION set_null_part;
-- an operator of another type does not make its values fingerprints
CREATE TABLE numbers AS SELECT i % 5 AS n FROM generate_series(1, 1000) i;
ANALYZE numbers;
CREATE FUNCTION in_ball(int, :ball) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RETURN true; END';
CREATE OPERATOR <@ (LEFTARG = int, RIGHTARG = :ball, FUNCTION = in_ball, RESTRICT = :restrict);
SELECT estimate(format('SELECT FROM numbers WHERE n <@ %s(%L, 3)', :'make_ball', :'q')) BETWEEN 1 AND 1000 AS sane;

-- a search within 3 or 6 costs so many times as much as one within 0: it reads more leaves
CREATE INDEX ON docs USING hamming (fp);
SET enable_seqscan = off;
SELECT k, estimate(format('SELECT FROM docs WHERE fp <-> %L <= %s', :'q', k), 'Total Cost')
	/ estimate(format('SELECT FROM docs WHERE fp <-> %L <= 0', :'q'), 'Total Cost') BETWEEN k AND k + 2 AS about_as_much
FROM unnest(ARRAY[3, 6]) k;
SELECT k - :near AS more, estimate(format('SELECT FROM docs WHERE fp %% %L', :'q'), 'Total Cost')
	= estimate(format('SELECT FROM docs WHERE fp <-> %L <= %s', :'q', k), 'Total Cost') AS same
FROM generate_series(:near - 1, :near + 1) k;
-- a scan for rows with a fingerprint, or for those without one, reads no others
CREATE TABLE filling AS SELECT CASE WHEN i % 100 = 0 THEN left(md5(i::text), :bits / 4)::simhash:bits END AS fp
FROM generate_series(1, 20000) i;
CREATE INDEX ON filling USING hamming (fp);
ANALYZE filling;
SET enable_indexscan = off;
CREATE FUNCTION index_cost(query text) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan->0->'Plan'->'Plans'->0->>'Total Cost';
END $$;
SELECT index_cost('SELECT FROM docs WHERE fp IS NULL')
	<= index_cost(format('SELECT FROM docs WHERE fp <-> %L <= 0', :'q')) AS no_nulls;
-- as much as the scan of a partial index, which has nothing else
CREATE TEMP TABLE full_index AS SELECT index_cost('SELECT FROM filling WHERE fp IS NOT NULL') AS cost;
CREATE INDEX ON filling USING hamming (fp) WHERE fp IS NOT NULL;
SELECT cost / index_cost('SELECT FROM filling WHERE fp IS NOT NULL') BETWEEN 0.7 AND 1.5 AS few_values FROM full_index;
DROP FUNCTION index_cost;
DROP TABLE filling, full_index;
RESET enable_indexscan;
RESET enable_seqscan;

-- HammingJoin is for joins whose other clauses leave many of its pairs, but not where
-- most of these are read in vain: a row without a partner reads all of its pairs
CREATE FUNCTION is_hamming_join(query text) RETURNS boolean LANGUAGE plpgsql SET max_parallel_workers_per_gather = 0 AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE 'EXPLAIN (FORMAT JSON) ' || query INTO plan;
	RETURN plan::text ~ 'HammingJoin' AND plan::text !~ 'AdaptiveJoin';
END $$;
CREATE TABLE few AS SELECT id, left(md5((id % 5)::text), :bits / 4)::simhash:bits AS fp FROM generate_series(1, 10000) id;
CREATE INDEX ON few (id);
CREATE TABLE sites AS SELECT near(('x' || :'q')::varbit, i)::bit(:bits)::simhash:bits AS fp, i % 100 AS site
FROM generate_series(1, 10000) i;
CREATE TABLE random_sites AS SELECT fp, i % 200 AS site FROM (SELECT fp, row_number() OVER () AS i FROM docs LIMIT 20000) d;
CREATE TABLE family AS SELECT fp FROM sites UNION ALL (SELECT fp FROM docs LIMIT 10000);
ANALYZE few, sites, random_sites, family;
SELECT name, is_hamming_join(query) FROM (VALUES
	(1, 'semi join, few rows by another index', 'SELECT FROM few a WHERE EXISTS (SELECT FROM few b
		WHERE a.fp <-> b.fp <= 3 AND b.id BETWEEN a.id + 1 AND a.id + 5)'),
	(2, 'anti join, few rows by another index', 'SELECT FROM few a WHERE NOT EXISTS (SELECT FROM few b
		WHERE a.fp <-> b.fp <= 3 AND b.id BETWEEN a.id + 1 AND a.id + 5)'),
	(3, 'few pairs of a site are near', 'SELECT FROM random_sites a JOIN random_sites b USING (site) WHERE a.fp <-> b.fp <= 4'),
	(4, 'many pairs of a site are near', 'SELECT FROM sites a JOIN sites b USING (site) WHERE a.fp <-> b.fp <= 4')
	) q(n, name, query) ORDER BY n;
SELECT name, is_hamming_join(query) FROM (VALUES
	('half of the rows have many partners', 'SELECT FROM family a WHERE NOT EXISTS (SELECT FROM family b
		WHERE a.fp <-> b.fp <= 8 AND a.ctid <> b.ctid)')) q(name, query);
DROP FUNCTION is_hamming_join;
DROP TABLE few, sites, random_sites, family;
DROP VIEW asked;
DROP TABLE docs, unanalyzed, sparse, dense, common, numbers;
DROP OPERATOR <@ (int, :ball);
DROP FUNCTION in_ball, flip, near;

-- every bound in every position: no error, and as many rows as without the
-- planner's help
CREATE TABLE points (id int, a simhash:bits, b simhash:bits);
INSERT INTO points
SELECT id, left(md5(id::text), :bits / 4)::simhash:bits,
	(left(md5((id + id % 3)::text), :bits / 4)::simhash:bits::bit(:bits)
	# (~ 0::bit(:bits) >> (:bits - id)))::simhash:bits
FROM generate_series(1, 20) id;
INSERT INTO points VALUES (21, NULL, :'ff'), (22, :'ff', NULL),
	(23, :'ff', (~ :'ff'::simhash:bits::bit(:bits))::simhash:bits), (24, :'ff', :'ff');
CREATE INDEX ON points USING hamming (a);
ANALYZE points;
-- the number of rows that a statement returns or changes, undone, or its error
CREATE FUNCTION rows_or_error(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n bigint;
BEGIN
	EXECUTE statement;
	GET DIAGNOSTICS n = ROW_COUNT;
	RAISE EXCEPTION USING ERRCODE = 'UNDO1', MESSAGE = n;
EXCEPTION
	WHEN SQLSTATE 'UNDO1' THEN RETURN SQLERRM;
	WHEN OTHERS THEN RETURN SQLSTATE || ': ' || SQLERRM;
END $$;
CREATE TABLE statements (n int, left_side text, right_side text, statement text);
INSERT INTO statements VALUES (1, 'p.a', 'p.b', 'SELECT FROM points p WHERE %s'),
	(2, 'p.a', quote_literal(:'ff'), 'SELECT FROM points p WHERE %s'),
	(3, 'p.a', 'q.b', 'SELECT FROM points p JOIN points q ON %s'),
	(4, quote_literal(:'ff'), 'p.a', format('SELECT FROM points p WHERE %%s ORDER BY p.a <-> %L LIMIT 9', :'other')),
	(5, format('(SELECT %L::simhash%s)', :'ff', :bits), 'p.a', 'SELECT FROM points p WHERE %s OR p.id = 1'),
	(6, 'p.a', 'q.b', 'SELECT FROM points q LEFT JOIN points p ON %s'),
	(7, 'p.a', 'q.b', 'SELECT FROM points q WHERE EXISTS (SELECT FROM points p WHERE %s)'),
	(8, 'p.a', 'q.b', 'SELECT FROM points q WHERE NOT EXISTS (SELECT FROM points p WHERE %s)'),
	(9, 'p.a', 'p.b', 'UPDATE points p SET id = 0 WHERE %s'),
	(10, 'p.a', 'q.b', 'UPDATE points p SET id = 0 FROM points q WHERE q.id = 7 AND %s'),
	(11, 'q.a', 'p.b', 'DELETE FROM points p USING points q WHERE q.id < p.id AND %s');
CREATE TABLE conditions (condition text);
INSERT INTO conditions VALUES ('%s <-> %s <= %s'), ('%3$s::bigint >= %1$s <-> %2$s'),
	('%s <-> %s < %s + 1'), ('%3$s::smallint + 1 > %1$s <-> %2$s'), ('%s <-> %s BETWEEN 0 AND %s'),
	('NOT %s <-> %s > %s'), ('simhash_within(%s, %s, %s)'), ('%s <@ ' || :'make_ball' || '(%s, %s)'),
	(:'make_ball' || '(%1$s, %3$s) @> %2$s');
SET enable_seqscan = off;
-- what no plan may do costs much, for which each statement would be compiled
SET jit = off;
CREATE TABLE plain AS
SELECT n, k, rows_or_error(format(statement, format('(%s <-># %s) + 0 <= %s', left_side, right_side, k))) AS rows
FROM statements, unnest(:'radii'::int[]) k;
CREATE TABLE asked AS
SELECT n, k, condition, rows_or_error(format(statement, format(condition, left_side, right_side, k))) AS rows
FROM statements, unnest(:'radii'::int[]) k, conditions
-- each row that is changed and undone makes the next statement slower
WHERE n <= 8 OR condition = '%s <-> %s <= %s' OR k NOT BETWEEN 1 AND :bits - 5;
RESET enable_seqscan;
RESET jit;
SELECT n, condition, array_agg(k ORDER BY k) AS k, min(asked.rows) AS wrong
FROM plain JOIN asked USING (n, k) WHERE plain.rows <> asked.rows GROUP BY n, condition ORDER BY 1, 2;
SELECT conditions, varies, array_agg(n ORDER BY n) AS statements
FROM (SELECT n, count(DISTINCT condition) AS conditions, count(DISTINCT rows) >= 3 AS varies FROM asked GROUP BY n) s
GROUP BY conditions, varies ORDER BY conditions;
DROP FUNCTION estimate, rows_or_error;
DROP TABLE points, statements, conditions, plain, asked;
