-- What estimates.sql tests, with a million rows and within every radius.

\set rows 1000000
SELECT array(SELECT generate_series(-1, 65)) AS radii \gset
\getenv directory PG_ABS_SRCDIR
\set estimates :directory '/sql/estimates.sql'
\i :estimates
