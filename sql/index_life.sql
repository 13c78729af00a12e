-- The life of an index of each of the tables: it is compared with sequential
-- scans whenever something has happened to it.  For the tests that include this
-- file, which set the method, the options of the first and of the second index, and
-- the radii.

CALL make_tables(3000);
CALL for_each_table('CREATE INDEX %1$s_fp ON %1$s USING ' || :'method' || ' (fp) ' || :'options');
SELECT * FROM check_tables(:'radii');
CALL change_tables();
SELECT * FROM check_tables(:'radii');
VACUUM uniform, skewed, duplicates, half_bits, one_block, ascending, descending, extremes, only_null;
SELECT * FROM check_tables(:'radii');
-- row by row
CALL refill_tables();
SELECT * FROM check_tables(:'radii');
-- made again
CALL for_each_table('DROP INDEX %1$s_fp');
CALL for_each_table('CREATE INDEX %1$s_fp ON %1$s USING ' || :'method' || ' (fp) ' || :'other_options');
SELECT * FROM check_tables(:'radii');
REINDEX INDEX CONCURRENTLY uniform_fp;
REINDEX TABLE skewed;
TRUNCATE ascending;
COPY uniform FROM stdin;
100001	0123456789abcdef
100002	\N
\.
INSERT INTO ascending SELECT i, i::bigint::simhash64 FROM generate_series(1, 3000) i;
DROP INDEX descending_fp;
CREATE INDEX CONCURRENTLY descending_fp ON descending USING :method (fp);
SELECT * FROM check_tables(:'radii') WHERE tab IN ('uniform', 'skewed', 'ascending', 'descending');
