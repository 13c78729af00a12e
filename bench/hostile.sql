-- Fingerprints that are hard to cut into small groups: views of one column fp,
-- in the order in which they are measured.  Wants :rows rows in ids, and a
-- table licences (n, body).

CREATE VIEW "all equal" AS
SELECT '0123456789abcdef'::simhash64 AS fp FROM ids;

CREATE VIEW "bits 0 to 15 constant" AS
SELECT (hashint8extended(id, 1) & ~65535::bigint)::simhash64 AS fp FROM ids;

CREATE VIEW "bits 16 to 31 constant" AS
SELECT (hashint8extended(id, 1) & ~(65535::bigint << 16))::simhash64 AS fp FROM ids;

CREATE VIEW "bits 32 to 47 constant" AS
SELECT (hashint8extended(id, 1) & ~(65535::bigint << 32))::simhash64 AS fp FROM ids;

CREATE VIEW "bits 48 to 63 constant" AS
SELECT (hashint8extended(id, 1) & ~(65535::bigint << 48))::simhash64 AS fp FROM ids;

CREATE VIEW "bits 0 to 31 constant" AS
SELECT (hashint8extended(id, 1) & ~4294967295)::simhash64 AS fp FROM ids;

CREATE VIEW "every other byte constant" AS
SELECT (hashint8extended(id, 1) & x'00ff00ff00ff00ff'::bigint)::simhash64 AS fp FROM ids;

CREATE VIEW "five bits of each block constant" AS
SELECT (hashint8extended(id, 1) & x'07ff07ff07ff07ff'::bigint)::simhash64 AS fp FROM ids;

CREATE VIEW "one bit in four set" AS
SELECT (hashint8extended(id, 1) & hashint8extended(id, 2))::simhash64 AS fp FROM ids;

CREATE VIEW "one bit in eight set" AS
SELECT (hashint8extended(id, 1) & hashint8extended(id, 2) & hashint8extended(id, 3))::simhash64 AS fp
FROM ids;

-- Half of them within a distance of each of two centres, all distinct but
-- where the balls overlap: at most 4, and 5 or 6.
CREATE TABLE ball4 AS
WITH RECURSIVE chosen (bits, count, top) AS (
	SELECT 0::bigint, 0, -1
	UNION ALL
	SELECT bits | (1::bigint << i), count + 1, i
	FROM chosen, generate_series(top + 1, 63) i WHERE count < 4)
SELECT bits FROM chosen ORDER BY hashint8(bits) LIMIT :rows / 2;

CREATE TABLE ball6 AS
SELECT bits FROM (SELECT DISTINCT flips(id, 6) AS bits FROM ids) flipped
WHERE bits::simhash64 <-> '0000000000000000' >= 5 LIMIT :rows / 2;

CREATE FUNCTION balls(centre bigint, other bigint, ball regclass) RETURNS SETOF simhash64
LANGUAGE plpgsql AS $$
BEGIN
	RETURN QUERY EXECUTE format('SELECT (bits # centre)::simhash64
		FROM %s, (VALUES (%s), (%s)) centres (centre)
		ORDER BY hashint8(bits # centre)', ball, centre, other);
END $$;

CREATE VIEW "balls of 4, 32 apart" AS
SELECT fp FROM balls(x'0f1e2d3c4b5a6978'::bigint, x'5a4b78691e0f3c2d'::bigint, 'ball4') fp;

CREATE VIEW "balls of 4, 10 apart" AS
SELECT fp FROM balls(x'0f1e2d3c4b5a6978'::bigint, x'0f1d2d3f4b5d697f'::bigint, 'ball4') fp;

CREATE VIEW "balls of 5 and 6, 32 apart" AS
SELECT fp FROM balls(x'0f1e2d3c4b5a6978'::bigint, x'5a4b78691e0f3c2d'::bigint, 'ball6') fp;

CREATE VIEW "balls of 5 and 6, 10 apart" AS
SELECT fp FROM balls(x'0f1e2d3c4b5a6978'::bigint, x'0f1d2d3f4b5d697f'::bigint, 'ball6') fp;

-- Around one centre, at about the distances from it that take longest: at k = 8
-- most of them are connected, each with few others.
CREATE VIEW "three bits in sixteen set" AS
SELECT (hashint8extended(id, 1) & hashint8extended(id, 2)
	& (hashint8extended(id, 3) | hashint8extended(id, 4)))::simhash64 AS fp FROM ids;

CREATE VIEW "ball of 16" AS
SELECT (x'0f1e2d3c4b5a6978'::bigint # (flips(id, 6) | flips(id + :rows, 6)
	| flips(id + 2 * :rows, 4)))::simhash64 AS fp FROM ids;

-- Each with a year and eight words of its own.
CREATE TABLE licensed AS
SELECT id, simhash(concat_ws(' ', 'Copyright', 1980 + draw(id, 2, 45),
	regexp_replace(md5(id::text), '....', '\& ', 'g'), body)) AS fp
FROM ids JOIN licences ON n = 1 + id % (SELECT count(*) FROM licences);

CREATE VIEW "licence texts" AS
SELECT fp FROM licensed ORDER BY id;

CREATE VIEW "licence texts, sorted" AS
SELECT fp FROM licensed ORDER BY fp;

CREATE VIEW "Gray code" AS
SELECT (id::bigint # (id::bigint >> 1))::simhash64 AS fp FROM ids ORDER BY id;

CREATE VIEW "Gray code, in random order" AS
SELECT (id::bigint # (id::bigint >> 1))::simhash64 AS fp FROM ids ORDER BY hashint8(id);

CREATE TABLE walk AS
SELECT id, bit_xor(1::bigint << draw(id, 1, 64)::int) OVER (ORDER BY id)::simhash64 AS fp FROM ids;

CREATE VIEW "random walk, one bit a step" AS
SELECT fp FROM walk ORDER BY id;

CREATE VIEW "the same, in random order" AS
SELECT fp FROM walk ORDER BY hashint8(id);

CREATE VIEW "integers, shifted by 20 bits" AS
SELECT (id::bigint << 20)::simhash64 AS fp FROM ids ORDER BY id;

CREATE VIEW "the same integers, in random order" AS
SELECT (id::bigint << 20)::simhash64 AS fp FROM ids ORDER BY hashint8(id);

CREATE VIEW "uniform, sorted" AS
SELECT hashint8extended(id, 1)::simhash64 AS fp FROM ids ORDER BY fp;
