-- PostgreSQL 16 and later: input errors are soft
SELECT pg_input_is_valid('0123456789abcdef', 'simhash64') AS good,
	pg_input_is_valid('0123', 'simhash64') AS bad;
SELECT message, sql_error_code
FROM pg_input_error_info('0123', 'simhash64');
SELECT pg_input_is_valid('(0123456789abcdef,3)', 'hamming_ball') AS good,
	pg_input_is_valid('(0123456789abcdef,)', 'hamming_ball') AS bad;
SELECT pg_input_is_valid('{"a": 1}', 'simhash_weights') AS good, w, pg_input_is_valid(w, 'simhash_weights') AS bad
FROM unnest(ARRAY['', '{"a": 1', '{"a": -1}', '{"a b": 1}', '{"a": 1, "A": 1}', '{"": 1, "": 1}', '{"\ud800": 1}']) w;
SELECT message, detail, sql_error_code
FROM pg_input_error_info('{"a b": 1}', 'simhash_weights');
