-- The texts that script/quality measures with.  Wants a table texts (name, body);
-- :least is the least number of words, :most the largest number of texts.

-- Line ends are no spaces in Chinese or Japanese.  A tsvector has its limits.
CREATE TABLE docs AS
SELECT row_number() OVER (ORDER BY md5(name))::int AS id, name, body, words
FROM (SELECT name,
		regexp_replace(left(body, 250000), '([⺀-鿿、。])\n([⺀-鿿])', '\1\2', 'g') AS body
	FROM texts) t,
	LATERAL (SELECT sum(count) AS words FROM simhash_features(body)) f
WHERE words >= :least
ORDER BY id LIMIT :most;
ALTER TABLE docs ADD PRIMARY KEY (id);
ANALYZE docs;
