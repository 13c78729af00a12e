-- The tables of a run, from what uniform.sql or skewed.sql has generated with
-- both widths: plain and wide, and the queries of each.  Physical order is that
-- of the ids.

CREATE TABLE plain (id int PRIMARY KEY, fp simhash64);
INSERT INTO plain SELECT id, fp FROM generated ORDER BY id;
CREATE TABLE wide (id int PRIMARY KEY, fp simhash128);
INSERT INTO wide SELECT id, wide FROM generated ORDER BY id;
DROP TABLE generated, ids;

\ir queries.sql

-- The same, with as many bits less in each word.
CREATE TABLE wide_queries AS
SELECT n, draw(n, 40, :rows) + 1 AS id,
	CASE WHEN n % 2 = 0
		THEN (fp::bit(128) # two_words(flips(n, draw(n, 41, 4)),
			flips(-n, draw(-n, 41, 4)))::bit(128))::simhash128
		ELSE two_words(hashint8extended(n, 42), hashint8extended(n, 45)) END AS fp
FROM generate_series(1, 1000) n JOIN wide ON wide.id = draw(n, 43, :rows) + 1;
VACUUM ANALYZE;
CHECKPOINT;
