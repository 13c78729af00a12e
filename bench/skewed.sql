-- Fingerprints of texts of 50 words, 5 lines of 10 words each, whose
-- frequencies follow Zipf's law.  Of 10 texts 3 have lines of their own, 4 are
-- copies of a template, 2 are copies with a version added, and 1 has another
-- line instead of one of the template's.  Templates are used with the
-- frequencies 1 / (rank + 0.0002 * rows), so that the largest group of copies
-- is about a thousandth of the rows.  Where :wide, also of 128 bits.

CREATE TABLE words AS
SELECT id, left(translate(md5(id::text), '0123456789', 'ghijklmnop'),
	(3 + draw(id, 1, 8))::int) AS word
FROM generate_series(1, 20000) id;

CREATE TABLE lines AS
SELECT line, string_agg(word, ' ' ORDER BY place) AS body
FROM (SELECT line, place, floor(20000 ^ (draw(line * 10 + place, 2, 1000000) / 1e6::float8))::int AS id
	FROM generate_series(0, 19999) line, generate_series(0, 9) place) chosen
JOIN words USING (id) GROUP BY line;
ANALYZE lines;

CREATE UNLOGGED TABLE generated AS
SELECT id, simhash(body) AS fp
\if :wide
	, simhash_128(body) AS wide
\endif
FROM (
	SELECT id, concat_ws(' ', l0.body, l1.body, l2.body, l3.body, l4.body,
		CASE WHEN kind IN (7, 8) THEN 'version ' || draw(id, 11, 100) END) AS body
	FROM (
		SELECT id, draw(id, 12, 10) AS kind, draw(id, 13, 5) AS changed,
			(:rows * 0.0002::float8 * 250 ^ (draw(id, 14, 1000000000) / 1e9::float8))::bigint
				AS template
		FROM ids) d
	JOIN lines l0 ON l0.line = CASE WHEN kind < 3 OR kind = 9 AND changed = 0
		THEN draw(id, 20, 20000) ELSE draw(template, 30, 20000) END
	JOIN lines l1 ON l1.line = CASE WHEN kind < 3 OR kind = 9 AND changed = 1
		THEN draw(id, 21, 20000) ELSE draw(template, 31, 20000) END
	JOIN lines l2 ON l2.line = CASE WHEN kind < 3 OR kind = 9 AND changed = 2
		THEN draw(id, 22, 20000) ELSE draw(template, 32, 20000) END
	JOIN lines l3 ON l3.line = CASE WHEN kind < 3 OR kind = 9 AND changed = 3
		THEN draw(id, 23, 20000) ELSE draw(template, 33, 20000) END
	JOIN lines l4 ON l4.line = CASE WHEN kind < 3 OR kind = 9 AND changed = 4
		THEN draw(id, 24, 20000) ELSE draw(template, 34, 20000) END) t;
