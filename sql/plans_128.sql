-- What plans.sql tests, with a hamming index and 128 bits.

\set method hamming
\set bits 128
\getenv directory PG_ABS_SRCDIR
\set plans :directory '/sql/plans.sql'
\i :plans
