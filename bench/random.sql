-- Pseudo-random numbers that parallel workers may draw: the stream-th number
-- of a row, the same in every run.

CREATE FUNCTION draw(id bigint, stream int, below bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (hashint8extended(id, stream) & 9223372036854775807) % below;

-- Some bits, at most 6.  The same bit may be drawn twice.
CREATE FUNCTION flips(id bigint, bits bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN
	CASE WHEN bits >= 1 THEN 1::bigint << draw(id, 101, 64)::int ELSE 0 END |
	CASE WHEN bits >= 2 THEN 1::bigint << draw(id, 102, 64)::int ELSE 0 END |
	CASE WHEN bits >= 3 THEN 1::bigint << draw(id, 103, 64)::int ELSE 0 END |
	CASE WHEN bits >= 4 THEN 1::bigint << draw(id, 104, 64)::int ELSE 0 END |
	CASE WHEN bits >= 5 THEN 1::bigint << draw(id, 105, 64)::int ELSE 0 END |
	CASE WHEN bits >= 6 THEN 1::bigint << draw(id, 106, 64)::int ELSE 0 END;

CREATE FUNCTION two_words(high bigint, low bigint) RETURNS simhash128
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (high::bit(64) || low::bit(64))::bit(128)::simhash128;
