-- The queries of a table plain of :rows rows.  Even ones are a row of the table,
-- less 0 to 3 bits; odd ones are random.

CREATE TABLE queries AS
SELECT n, draw(n, 40, :rows) + 1 AS id,
	CASE WHEN n % 2 = 0
		THEN (fp::bigint # flips(n, draw(n, 41, 4)))::simhash64
		ELSE hashint8extended(n, 42)::simhash64 END AS fp
FROM generate_series(1, 1000) n JOIN plain ON plain.id = draw(n, 43, :rows) + 1;
