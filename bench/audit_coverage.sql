-- How often the intervals of simhash_audit() have what is true of all rows, by
-- its seed:
--
--     psql -v seeds=100 -f bench/random.sql -f bench/audit_coverage.sql
--
-- in a database with simhash, for a few minutes.  Returns a row for each table
-- of made-up texts and sample: in how many of 100 seeds either interval has the
-- truth, which a sample of all rows gives, on average over the distances and at the
-- worst one, and how wide it is on average over the seeds at the worst one.  Of
-- 95 % intervals 93 or more should; of 100 seeds, by chance, as few as 88 may.

\if :{?seeds}
\else
\set seeds 100
\endif
SET client_min_messages = warning;

-- Texts of a family are made of its words.  Of 1,000 words of member number n
-- so many are others.
CREATE TEMP TABLE families (name text, family int, members int, changed int);
INSERT INTO families
SELECT 'pairs', i, CASE WHEN i <= 500 THEN 2 ELSE 1 END,
	(ARRAY[5, 10, 20, 30, 50, 80])[1 + draw(i, 1, 6)]
FROM generate_series(1, 5500) i
UNION ALL
-- the largest has 500 members
SELECT 'power', i, greatest(500 / i, 1), (ARRAY[0, 10, 20, 40, 80])[1 + draw(i, 1, 5)]
FROM generate_series(1, 2500) i
UNION ALL
SELECT 'most', i, (ARRAY[1, 2, 2, 2, 3, 5])[1 + draw(i, 2, 6)],
	(ARRAY[5, 10, 20, 40, 80])[1 + draw(i, 1, 5)]
FROM generate_series(1, 2200) i
UNION ALL
-- 30 words of 80 are the same in all texts
SELECT 'boilerplate', i, CASE WHEN i <= 300 THEN 2 ELSE 1 END,
	(ARRAY[5, 10, 20, 30, 50, 80])[1 + draw(i, 1, 6)]
FROM generate_series(1, 3000) i
UNION ALL
-- see below
SELECT 'equal', i, CASE WHEN i <= 500 THEN 2 ELSE 1 END,
	(ARRAY[5, 10, 20, 30, 50, 80])[1 + draw(i, 1, 6)]
FROM generate_series(1, 5500) i;

CREATE TEMP TABLE texts AS
SELECT name, row_number() OVER (ORDER BY name, family, member) AS id,
	(SELECT string_agg(CASE
			WHEN name = 'boilerplate' AND place <= 30 THEN 'boilerplate' || place
			WHEN member > 1 AND draw((family * 1000 + member) * 100 + place, 3, 1000) < changed
				THEN 'x' || draw((family * 1000 + member) * 100 + place, 4, 20000)
			ELSE 'w' || draw(family * 100 + place, 5, 20000) END, ' ' ORDER BY place)
		FROM generate_series(1, 80) place) AS body
FROM families, generate_series(1, members) member;

CREATE TEMP TABLE audited AS
SELECT name, id, minhash(body, words => 3) AS fp, body FROM texts
UNION ALL
SELECT name || ', simhash', id, simhash(body), body FROM texts WHERE name = 'pairs';

-- texts that are not alike, and have the same fingerprint
UPDATE audited SET fp = minhash('the same fingerprint'::text)
WHERE name = 'equal' AND id % 200 = 0;

CREATE FUNCTION pg_temp.audit(name text, sample int, seed bigint) RETURNS TABLE (
	k int, pairs bigint, "precision" float8, precision_low float8,
	precision_high float8, recall float8, recall_low float8, recall_high float8)
LANGUAGE sql
RETURN simhash_audit(format('SELECT id, fp, body FROM audited WHERE name = %L', name),
	sample => sample, seed => seed);

CREATE TEMP TABLE audits AS
SELECT name, sample, seed, a.*
FROM (SELECT DISTINCT name FROM audited) n,
	(SELECT 1000000 AS sample, 1 AS seed UNION ALL
		SELECT sample, seed
		FROM unnest(ARRAY[100, 300, 1000]) sample, generate_series(1, :seeds) seed) s,
	pg_temp.audit(name, sample, seed) a;

CREATE TEMP TABLE coverage AS
SELECT name, a.sample, k, avg((truth.precision BETWEEN a.precision_low - 1e-9
		AND a.precision_high + 1e-9)::int::float8 * 100) AS precision_covered,
	avg(a.precision_high - a.precision_low) AS precision_width,
	avg((truth.recall BETWEEN a.recall_low - 1e-9
		AND a.recall_high + 1e-9)::int::float8 * 100) AS recall_covered,
	avg(a.recall_high - a.recall_low) AS recall_width
FROM audits a JOIN audits truth USING (name, k)
WHERE truth.sample = 1000000 AND a.sample < truth.sample
GROUP BY name, a.sample, k;

SELECT name, sample, round(avg(precision_covered)::numeric, 1) AS "covered, precision",
	round(min(precision_covered)::numeric, 1) AS "least",
	round(avg(recall_covered)::numeric, 1) AS "covered, recall",
	round(min(recall_covered)::numeric, 1) AS "least",
	round(max(precision_width)::numeric, 3) AS "widest, precision",
	round(max(recall_width)::numeric, 3) AS "widest, recall"
FROM coverage GROUP BY name, sample ORDER BY name, sample;
