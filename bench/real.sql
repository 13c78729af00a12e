-- Fingerprints of package descriptions, which come from standard input, each
-- repeated with one word replaced by one of another description until there
-- are enough.

CREATE TABLE texts (name text, body text);
\copy texts FROM pstdin (ENCODING 'UTF8')

CREATE TABLE split AS
SELECT row_number() OVER (ORDER BY md5(name)) AS n, words, cardinality(words) AS count
FROM texts, regexp_split_to_array(btrim(body, E' \n'), '\s+') words;
ANALYZE split;

CREATE UNLOGGED TABLE generated AS
SELECT id, simhash(CASE WHEN round = 0 THEN array_to_string(a.words, ' ')
	ELSE array_to_string(a.words[:place - 1] || b.words[1 + draw(id, 2, b.count)::int]
		|| a.words[place + 1:], ' ') END) AS fp
FROM (SELECT id, 1 + id % texts AS n, id / texts AS round, 1 + draw(id, 3, texts) AS other
	FROM ids, (SELECT count(*) AS texts FROM split) t) d
JOIN split a USING (n) JOIN split b ON b.n = other,
	LATERAL (SELECT 1 + draw(id, 4, a.count)::int AS place) p;
