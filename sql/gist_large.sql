-- The GiST index gives exactly the rows of a sequential scan, of
-- more rows and within every radius.
\pset format unaligned \pset tuples_only on \set ECHO none

\set type simhash64
\set method gist
-- a sorted build, and one by insertion
\set options ''
\set other_options 'WITH (buffering = on)'
SELECT array(SELECT generate_series(-1, 65)) AS radii \gset
\getenv directory PG_ABS_SRCDIR
\set life :directory '/sql/include/index_life.sql'
\i :life
CALL for_each_table('DROP TABLE %1$s');
