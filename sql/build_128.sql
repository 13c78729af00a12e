-- CREATE INDEX on a column of simhash128.
\pset format unaligned \pset tuples_only on \set ECHO queries

\set type simhash128
\set radii '{0, 7, 16, 40}'
\getenv directory PG_ABS_SRCDIR
\set index_build :directory '/sql/include/index_build.sql'
-- the same statements as in build.sql
\set ECHO none
\i :index_build
\set ECHO queries

RESET max_parallel_maintenance_workers;
DROP TABLE built;
DROP FUNCTION state_of;
