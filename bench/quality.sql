-- What script/quality measures of the table docs of bench/quality_texts.sql.  Prints its
-- tables.  simhash_audit() compares all texts, so that its figures are exact.

-- Where idf is capped, a word that no text has weighs 1.
CREATE TABLE weights AS
SELECT idf, (SELECT jsonb_object_agg(key, least(value::float8, 4)) || '{"": 1}'
	FROM jsonb_each(idf::jsonb))::simhash_weights AS capped
FROM (SELECT simhash_idf(body) AS idf FROM docs) i;

CREATE TABLE methods (method int GENERATED ALWAYS AS IDENTITY, name text, bits int);
INSERT INTO methods (name, bits)
SELECT name, CASE WHEN name LIKE '%\_128%' THEN 128 ELSE 64 END
FROM (VALUES ('simhash(body, words => 1)'), ('simhash(body, words => 1, tf => ''count'')'),
	('simhash(body, idf, words => 1)'), ('simhash(body, capped, words => 1)'), ('minhash(body, words => 1)'),
	('minhash(body, words => 2)'), ('minhash_128(body, words => 2)'), ('minhash(body, words => 3)'),
	('minhash(body, chars => 3)')) v (name);

-- What is found within each distance.
CREATE TABLE curves (method int, k int, "precision" float8, recall float8);
SELECT format($$
INSERT INTO curves
SELECT %s, max_distance, p.precision, r.recall
FROM (SELECT %L) q (query), simhash_audit(query, sample => 12000, threshold => 0.5, max_distance => %s) p
	JOIN simhash_audit(query, sample => 12000, threshold => 0.8, max_distance => %s) r USING (max_distance)
$$, method, format('SELECT id, %s, body FROM docs, weights', name), bits / 4, bits / 4)
FROM methods ORDER BY method \gexec

SELECT format(E'\n%s, by k, of 128 bits by 2 k\n\n| fingerprint | %s |\n|---|%s\n%s', what,
	(SELECT string_agg(k::text, ' | ' ORDER BY k) FROM generate_series(1, 16) k), repeat('--:|', 16),
	string_agg(line, E'\n' ORDER BY method))
FROM (SELECT what, method, format('| `%s` | %s |', name, string_agg(coalesce(to_char(share, 'FM0.000'), '-'), ' | ' ORDER BY k)) AS line
	FROM methods JOIN curves USING (method),
		LATERAL (VALUES ('Precision', "precision"), ('Recall', recall)) v (what, share)
	WHERE k > 0 AND k % (bits / 64) = 0
	GROUP BY what, method, name) lines
GROUP BY what ORDER BY what;
