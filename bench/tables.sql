-- The tables of a run, from what uniform.sql or skewed.sql has generated: one
-- for the access methods, one with the blocks that four B-trees need, the rows
-- to be added later, and the queries.  Physical order is that of the ids.  A
-- huge table is not copied and not logged, and no rows are added to it.

DROP TABLE ids;
\if :huge
ALTER TABLE generated RENAME TO plain;
ALTER TABLE plain ADD PRIMARY KEY (id);
ANALYZE plain;
\else
CREATE TABLE plain (id int PRIMARY KEY, fp simhash64);
INSERT INTO plain SELECT id, fp FROM generated WHERE id <= :rows ORDER BY id;

CREATE UNLOGGED TABLE more AS
SELECT id - :rows AS id, fp FROM generated WHERE id > :rows ORDER BY id;
DROP TABLE generated;

CREATE TABLE blocks (id int PRIMARY KEY, fp simhash64,
	b0 int GENERATED ALWAYS AS ((fp::bigint & 65535)::int) STORED,
	b1 int GENERATED ALWAYS AS ((fp::bigint >> 16 & 65535)::int) STORED,
	b2 int GENERATED ALWAYS AS ((fp::bigint >> 32 & 65535)::int) STORED,
	b3 int GENERATED ALWAYS AS ((fp::bigint >> 48 & 65535)::int) STORED);
INSERT INTO blocks (id, fp) SELECT id, fp FROM plain ORDER BY id;
\endif

\ir queries.sql
VACUUM ANALYZE;
CHECKPOINT;
