-- The life of an index of each of the tables: it is compared with sequential
-- scans whenever something has happened to it.  For the tests that include this
-- file, which set the type, the method, the options of the first and of the second
-- index, and the radii.

SELECT 2 * typlen AS digits FROM pg_type WHERE oid = :'type'::regtype \gset
CALL make_tables(3000, :'type');
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
ALTER TABLE uniform ALTER fp SET DEFAULT left('0123456789abcdeffedcba9876543210', :digits)::text:::type;
COPY uniform (id) FROM stdin;
100001
\.
ALTER TABLE uniform ALTER fp DROP DEFAULT;
COPY uniform (id) FROM stdin;
100002
\.
INSERT INTO ascending SELECT i, rpad(lpad(to_hex(i), 16, '0'), :digits, '0')::text:::type
FROM generate_series(1, 3000) i;
DROP INDEX descending_fp;
CREATE INDEX CONCURRENTLY descending_fp ON descending USING :method (fp);
SELECT * FROM check_tables(:'radii', 'uniform|skewed|ascending|descending');
