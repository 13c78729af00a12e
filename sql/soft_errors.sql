-- PostgreSQL 16 and later: input errors are soft
\pset format unaligned \pset tuples_only on
SELECT type, pg_input_is_valid(good, type) AS good, pg_input_is_valid(left(good, -1), type) AS bad
FROM (VALUES ('simhash64', '0123456789abcdef'), ('simhash128', '0123456789abcdef0123456789abcdef'),
	('hamming_ball', '(0123456789abcdef,3)'),
	('hamming_ball128', '(0123456789abcdef0123456789abcdef,3)')) i(type, good);
SELECT message, sql_error_code
FROM unnest('{simhash64,simhash128,hamming_ball,hamming_ball128}'::text[]) type,
	pg_input_error_info('0123', type);
SELECT pg_input_is_valid('{"a": 1}', 'simhash_weights') AS good, w, pg_input_is_valid(w, 'simhash_weights') AS bad
FROM unnest(ARRAY['', '{"a": 1', '{"a": -1}', '{"a b": 1}', '{"a": 1, "A": 1}', '{"": 1, "": 1}', '{"\ud800": 1}']) w;
SELECT message, detail, sql_error_code
FROM pg_input_error_info('{"a b": 1}', 'simhash_weights');
SELECT message, detail, sql_error_code
FROM pg_input_error_info('{"a": -1}', 'simhash_weights');
