-- The hamming index gives exactly the rows of a sequential scan, of
-- more rows and within every radius.
\pset format unaligned \pset tuples_only on \set ECHO none

\set type simhash64
\set method hamming
SELECT array(SELECT generate_series(-1, 65)) AS radii \gset
\getenv directory PG_ABS_SRCDIR
\set life :directory '/sql/include/index_life.sql'
-- small pages make high tables
\set options 'WITH (fillfactor = 10, blocks = 3)'
\set other_options 'WITH (blocks = 8)'
\i :life
CALL for_each_table('DROP TABLE %1$s');
\set options 'WITH (fillfactor = 10, blocks = 6)'
\set other_options 'WITH (fillfactor = 100, blocks = 4)'
\i :life
CALL for_each_table('DROP TABLE %1$s');

-- 128 bits, within every radius
CALL make_tables(3000, 'simhash128');
CALL for_each_table('CREATE INDEX %1$s_fp ON %1$s USING hamming (fp) WITH (fillfactor = 10, blocks = %2$s)');
CALL change_tables();
SELECT * FROM check_tables(array(SELECT generate_series(-1, 129)));
CALL for_each_table('DROP TABLE %1$s');
