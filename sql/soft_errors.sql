-- PostgreSQL 16 and later: input errors are soft
SELECT pg_input_is_valid('0123456789abcdef', 'simhash64') AS good,
	pg_input_is_valid('0123', 'simhash64') AS bad;
SELECT message, sql_error_code
FROM pg_input_error_info('0123', 'simhash64');
SELECT pg_input_is_valid('(0123456789abcdef,3)', 'hamming_ball') AS good,
	pg_input_is_valid('(0123456789abcdef,)', 'hamming_ball') AS bad;
