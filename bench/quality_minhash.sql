-- MinHash with 128 numbers over the sets of three-word shingles: what it finds.
-- Here a distance is how many of the 128 numbers differ.

SELECT format('CREATE UNLOGGED TABLE minima AS SELECT id, ARRAY[%s] AS numbers
		FROM docs, simhash_features(body, words => 3) GROUP BY id',
	string_agg(format('min(hashint8extended(hash, %s))', seed), ', '))
FROM generate_series(1, 128) seed \gexec
ALTER TABLE minima ADD PRIMARY KEY (id);

-- Candidates are equal in one of 64 bands of two numbers: of two texts of which
-- half the numbers are equal, one pair in 100 million is none.
CREATE UNLOGGED TABLE bands AS
SELECT id, band, numbers[2 * band - 1] AS odd, numbers[2 * band] AS even
FROM minima, generate_series(1, 64) band;
ANALYZE minima, bands;

CREATE TABLE differences AS
SELECT a, b, (SELECT count(*)::int FROM unnest(x.numbers, y.numbers) u (n, m) WHERE n <> m) AS distance
FROM (SELECT DISTINCT a.id AS a, b.id AS b FROM bands a JOIN bands b USING (band, odd, even)
		WHERE a.id < b.id) c
	JOIN minima x ON x.id = a JOIN minima y ON y.id = b;

CREATE TABLE minhash_curve AS
SELECT *, 2 * precision * recall / nullif(precision + recall, 0) AS f1
FROM (SELECT DISTINCT k, (count(jaccard) OVER w)::float8 / nullif(count(a) OVER w, 0) AS precision,
		(count(*) FILTER (WHERE jaccard >= 0.8) OVER w)::float8 /
			(SELECT nullif(count(*), 0) FROM pairs WHERE jaccard >= 0.8) AS recall
	FROM generate_series(0, 128) k LEFT JOIN differences ON distance = k LEFT JOIN pairs USING (a, b)
	WINDOW w AS (ORDER BY k)) c;
