-- The literal query uses an index, however it is written: an index of GiST, whose
-- plans are shown, and hamming indexes of 64 and of 128 bits, of which only what
-- differs is.
\pset format unaligned \pset tuples_only on \set ECHO queries

\set VERBOSITY terse
CREATE TABLE shown (run int, query text, plan text);
GRANT SELECT, INSERT ON shown TO public;
\set ECHO none
-- The fingerprints and names of each width alike.
CREATE FUNCTION of_any_width(plan text) RETURNS text LANGUAGE sql AS $$
	SELECT regexp_replace(regexp_replace(replace(plan, 'simhash128', 'simhash64'),
		'[0-9a-f]{16,32}', 'q', 'g'), '(simhash|hamming_ball)_?128', '\1', 'g')
$$;
-- Show a query and its plan, if it is the first run or the plan is another one there:
-- only an index of GiST can return fingerprints.
CREATE FUNCTION as_before(query text, lines text[]) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	this_run int := current_setting('simhash_test.run');
	this_plan text := array_to_string(lines, ' / ');
	short text := of_any_width(query);
BEGIN
	IF this_run = 1 OR NOT EXISTS (SELECT FROM shown s WHERE s.query = short
			AND regexp_replace(plan, 'Index Only Scan using \w+ on \w+ / ', '', 'g') = of_any_width(this_plan)) THEN
		RETURN NEXT regexp_replace(query, '\s+', ' ', 'g') || ': ' || this_plan;
	END IF;
	INSERT INTO shown VALUES (this_run, short, of_any_width(this_plan));
END $$;
CREATE FUNCTION plan_as_before(query text) RETURNS SETOF text LANGUAGE sql AS
	'SELECT as_before(query, ARRAY[proves(query)])';
CREATE FUNCTION use_as_before(query text) RETURNS SETOF text LANGUAGE sql AS
	'SELECT as_before(query, ARRAY(SELECT index_use(query)))';
CREATE FUNCTION rows_as_before(query text) RETURNS SETOF text LANGUAGE sql AS
	'SELECT as_before(query, ARRAY[same_rows(query)::text])';
\set ECHO queries

\getenv directory PG_ABS_SRCDIR
\set plans :directory '/sql/include/index_plans.sql'
\set ECHO none
\set method gist
\set bits 64
\set suffix ''
\set ball hamming_ball
SET simhash_test.run = 1;
\i :plans
\echo == hamming
\set method hamming
SET simhash_test.run = 2;
\i :plans
\echo == hamming, 128 bits
\set bits 128
\set suffix _128
\set ball hamming_ball_128
SET simhash_test.run = 3;
\i :plans
\set ECHO queries
-- each run has shown as many
SELECT count(*) FROM shown GROUP BY run ORDER BY run;
DROP FUNCTION plan_as_before, use_as_before, rows_as_before, as_before, of_any_width;
DROP TABLE shown;
