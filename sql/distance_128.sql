-- What distance.sql tests, of 128 bits.

\set bits 128
\getenv directory PG_ABS_SRCDIR
\set distance :directory '/sql/distance.sql'
-- the same statements as there
\set ECHO none
\i :distance
