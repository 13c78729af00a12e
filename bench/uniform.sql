-- Uniformly random fingerprints.  Every tenth row differs in 1 to 6 bits from
-- another one, which is none of those.

CREATE UNLOGGED TABLE generated AS
SELECT id, (CASE WHEN id % 10 = 0
	THEN hashint8extended(draw(id, 2, :rows / 10) * 10 + 1 + draw(id, 3, 9), 1)
		# flips(id, 1 + draw(id, 4, 6))
	ELSE hashint8extended(id, 1) END)::simhash64 AS fp
FROM ids;
