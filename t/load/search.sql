\set r random(1, 1000000)
\set k random(0, 12)
SELECT verify(some_fp(:r), :k);
