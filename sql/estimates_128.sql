-- What estimates.sql tests, of 128 bits.

\set bits 128
\getenv directory PG_ABS_SRCDIR
\set estimates :directory '/sql/estimates.sql'
\i :estimates
