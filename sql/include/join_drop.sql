-- What join_setup.sql made.

CALL for_each_table('DROP TABLE %1$s');
DROP TABLE a, b, c;
SET client_min_messages = warning;
DROP SCHEMA bits_128 CASCADE;
RESET client_min_messages;
DROP FUNCTION joins, same_result, join_plan, check_joins, result_by_join, result_by_loop, result_of, joins_128,
	query_128, costly, volatile_true;
