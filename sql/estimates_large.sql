-- What estimates.sql tests, with more rows and within every radius; of 128 bits, every
-- fifth.

\set rows 250000
SELECT array(SELECT generate_series(-1, 65)) AS radii \gset
\getenv directory PG_ABS_SRCDIR
\set estimates :directory '/sql/estimates.sql'
\set ECHO none
\i :estimates
\set bits 128
SELECT array(SELECT generate_series(-1, 129, 5)) AS radii \gset
\i :estimates
