-- The queries of a :table of fingerprints of :bits bits.  Even ones are a row of the
-- table, less 0 to 3 bits; odd ones are random.

SET client_min_messages = warning;
DROP TABLE IF EXISTS queries;
CREATE TABLE queries AS
SELECT n, draw(n, 40, :rows) + 1 AS id,
	(CASE WHEN n % 2 = 0
		THEN fp::bit(:bits) # flips(n, draw(n, 41, 4))::bit(64)::bit(:bits)
		ELSE (hashint8extended(n, 42)::bit(64) || hashint8extended(n, 45)::bit(64))::bit(:bits)
		END)::simhash:bits AS fp
FROM generate_series(1, 1000) n JOIN :table t ON t.id = draw(n, 43, :rows) + 1;
