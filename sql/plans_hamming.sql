-- What plans.sql tests, with a hamming index.

\set method hamming
\getenv directory PG_ABS_SRCDIR
\set plans :directory '/sql/plans.sql'
\i :plans
