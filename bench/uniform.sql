-- Uniformly random fingerprints in the order of their ids, of one word or, where :wide, of
-- two as well: :rows rows, and :more.  Every tenth differs in 1 to 6 bits of a word from
-- another one, which is none of those.

CREATE FUNCTION word(id bigint, stream int) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN id % 10 = 0
	THEN hashint8extended(draw(id, 2, :rows / 10) * 10 + 1 + draw(id, 3, 9), stream)
		# flips(id * stream, 1 + draw(id * stream, 4, 6))
	ELSE hashint8extended(id, stream) END;

CREATE UNLOGGED TABLE generated AS
SELECT id, word(id, 1)::simhash64 AS fp
\if :wide
	, two_words(word(id, 1), word(id, 5)) AS wide
\endif
FROM (SELECT generate_series(1, :rows + :more) AS id) ids;
