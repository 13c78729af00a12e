-- Texts of random words, and near copies of them with one word replaced: tables (id,
-- body, fp).  Needs the variable rows.

CREATE FUNCTION words(seed bigint, n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT string_agg('w' || (hashint8extended(i, seed) & 8191), ' ') FROM generate_series(1, n) i
$$;
CREATE FUNCTION edited(body text, seed bigint, n int) RETURNS text LANGUAGE sql IMMUTABLE AS $$
	SELECT regexp_replace(body, '\mw\d+', 'x' || seed, 1, 1 + draw(seed, 51, n)::int)
$$;
CREATE FUNCTION fill(name text, texts text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE UNLOGGED TABLE %I AS SELECT id, body, minhash(body) AS fp
		FROM (%s) s (id, body)', name, texts);
	EXECUTE format('ALTER TABLE %I ADD PRIMARY KEY (id)', name);
END $$;

SELECT fill('a tenth near copies, 500 bytes', format('SELECT i, CASE WHEN i %% 10 = 0
	THEN edited(words(i - 5, 85), i, 85) ELSE words(i, 85) END FROM generate_series(1, %s) i', :rows));
CREATE UNLOGGED TABLE pages AS SELECT n, words(-n, 60) AS body FROM generate_series(0, 9) n;
SELECT fill('half near copies of ten pages, 60 words', format('SELECT i, CASE WHEN i %% 2 = 0
	THEN edited((SELECT body FROM pages WHERE n = i / 2 %% 10), i, 60) ELSE words(i, 60) END
	FROM generate_series(1, %s) i', :rows));
SELECT fill('12,000 texts, 8,000 near copies of a page, 60 words', 'SELECT i, CASE WHEN i % 5 IN (1, 3)
	THEN edited(words(0, 60), i, 60) ELSE words(i, 60) END FROM generate_series(1, 20000) i');
SELECT fill('20,000 different texts, 60 words', 'SELECT i, words(i, 60) FROM generate_series(1, 20000) i');
SELECT fill('2,000 texts with one fingerprint, 60 words', 'SELECT i, words(i, 60)
	FROM generate_series(1, 2000) i');
UPDATE "2,000 texts with one fingerprint, 60 words" SET fp = '0123456789abcdef';
VACUUM ANALYZE;
