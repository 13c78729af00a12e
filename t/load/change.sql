\set r random(1, 1000000)
\set i random(1, 40000)
INSERT INTO docs (fp) SELECT some_fp(:r + n) FROM generate_series(1, 20) n;
DELETE FROM docs WHERE ctid = (SELECT ctid FROM docs WHERE id >= :i LIMIT 1);
UPDATE docs SET fp = some_fp(:r) WHERE ctid = (SELECT ctid FROM docs WHERE id >= :i * 2 LIMIT 1);
