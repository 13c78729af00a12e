-- What estimates.sql tests, of 128 bits.

\set bits 128
\getenv directory PG_ABS_SRCDIR
\set estimates :directory '/sql/estimates.sql'
-- the same statements as there
\set ECHO none
\i :estimates
