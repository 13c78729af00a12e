-- What statistics.sql tests, of 128 bits.

\set bits 128
\getenv directory PG_ABS_SRCDIR
\set statistics :directory '/sql/statistics.sql'
-- the same statements as there
\set ECHO none
\i :statistics
