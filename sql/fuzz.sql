-- Hostile input, bounded and seeded: nothing but the documented errors.
\pset format unaligned \pset tuples_only on \set ECHO queries
SELECT setseed(0.64);

\set ECHO none
CREATE FUNCTION random_bytes(length int) RETURNS bytea LANGUAGE sql AS $$
	SELECT coalesce(string_agg(set_byte('\x00', 0, (random() * 255)::int), ''), '')
	FROM generate_series(1, length)
$$;
-- pieces that are special to some parser, in random order
CREATE FUNCTION random_text(pieces int) RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg((ARRAY['0', '1', 'f', 'A', ' ', E'\n', 'g', '(', ')', ',',
		'-', '+', '0x', '3', 'NaN', 'é', U&'\0301', U&'\0345', U&'\AC00', U&'\1100', U&'\1161',
		U&'\11A8', U&'\FDFA', U&'\+01D15E', U&'\00AD', U&'\0378', U&'\+10FFFF', U&'\+0E0001',
		'日', 'ไ', repeat('a', 70), repeat('0123456789abcdef', 1), repeat('01', 32),
		U&'\0130', U&'\00DF', U&'\1E9E', U&'\0958', U&'\2126'])[1 + floor(random() * 38)], ''), '')
	FROM generate_series(1, pieces)
$$;

CREATE FUNCTION fuzz_input(type text, valid text, rounds int) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
	input text;
	output text;
	accepted int := 0;
BEGIN
	FOR i IN 1 .. rounds LOOP
		-- anything at all, or one piece put into, or over, a valid value
		input := random_text((random() * 6)::int);
		IF i % 2 = 0 THEN
			input := overlay(valid PLACING random_text(1)
				FROM 1 + floor(random() * length(valid))::int FOR floor(random() * 2)::int);
		END IF;
		BEGIN
			EXECUTE format('SELECT %L::%s::text', input, type) INTO output;
			-- what is accepted comes out in a form that reads as the same
			EXECUTE format('SELECT %L::%s::text', output, type) INTO STRICT input;
			IF input <> output THEN RETURN format('%s became %s', output, input); END IF;
			accepted := accepted + 1;
		EXCEPTION WHEN invalid_text_representation OR invalid_parameter_value THEN
			-- of weights, the errors name the key, and one is that of the number
			IF (position(input IN SQLERRM) = 0 AND type <> 'simhash_weights')
				OR (SQLSTATE = '22023') <> (SQLERRM ~ '^weight must be between') THEN
				RETURN SQLERRM;
			END IF;
		END;
	END LOOP;
	RETURN CASE WHEN accepted < 50 THEN 'too few valid inputs' ELSE 'as documented' END;
END $$;
\set ECHO queries
SELECT fuzz_input('simhash64', '0123456789abcdef', 3000);
SELECT fuzz_input('simhash128', '0123456789abcdeffedcba9876543210', 3000);
SELECT fuzz_input('hamming_ball', '(0123456789abcdef,3)', 3000);
SELECT fuzz_input('hamming_ball128', '(0123456789abcdeffedcba9876543210,14)', 3000);
SELECT fuzz_input('simhash_weights', '{"a": 1, "é": 0.5, "\u3042": 1e-3, "": 2}', 3000);

-- texts: features and fingerprint agree, however they are cut
\set ECHO none
CREATE FUNCTION fuzz_texts(rounds int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	input text;
	n int;
	tokens text[];
	votes float8[];
	weights simhash_weights;
	tf text;
BEGIN
	FOR i IN 1 .. rounds LOOP
		input := random_text((random() * 60)::int);
		n := 1 + floor(random() * 6);
		tf := (ARRAY['once', 'count', 'log'])[1 + i % 3];
		SELECT array_agg(feature), array_agg(factor * weight) INTO tokens, votes
		FROM simhash_features(input, words => n, tf => tf);
		IF simhash_128(input, words => n, tf => tf) IS DISTINCT FROM simhash_tokens_128(tokens, votes)
			OR simhash(input, words => n, tf => tf) IS DISTINCT FROM simhash_tokens(tokens, votes) THEN
			RETURN 'words: ' || quote_literal(input);
		END IF;
		-- weights of the words that begin with a
		SELECT coalesce(jsonb_object_agg(feature, length(feature) / 3.0), '{}') INTO weights
		FROM simhash_features(input) WHERE feature ~ '^a';
		-- which are rounded down, to multiples of 2^-16
		SELECT array_agg(feature), array_agg(floor(factor * weight * 65536) / 65536) INTO tokens, votes
		FROM simhash_features(input, weights, words => n, tf => tf);
		IF simhash_128(input, weights, words => n, tf => tf) IS DISTINCT FROM simhash_tokens_128(tokens, votes)
			OR simhash(input, weights, words => n, tf => tf) IS DISTINCT FROM simhash_tokens(tokens, votes) THEN
			RETURN 'weights: ' || quote_literal(input);
		END IF;
		SELECT array_agg(feature), array_agg(factor * weight) INTO tokens, votes
		FROM simhash_features(input, chars => n, tf => tf);
		IF simhash_128(input, chars => n, tf => tf) IS DISTINCT FROM simhash_tokens_128(tokens, votes)
			OR simhash(input, chars => n, tf => tf) IS DISTINCT FROM simhash_tokens(tokens, votes) THEN
			RETURN 'chars: ' || quote_literal(input);
		END IF;
		-- Canonical equivalents are one, but for U+0345: NFKC_Casefold makes a
		-- letter of it, which no longer trades places with other marks.
		input := replace(input, U&'\0345', '');
		IF simhash_128(normalize(input, NFD)) IS DISTINCT FROM simhash_128(input) THEN
			RETURN 'decomposed: ' || quote_literal(input);
		END IF;
	END LOOP;
	RETURN 'all agree';
END $$;
\set ECHO queries
SELECT fuzz_texts(3000);

-- arrays
\set ECHO none
CREATE FUNCTION fuzz_arrays(rounds int) RETURNS TABLE (state text, seen bool)
LANGUAGE plpgsql AS $$
DECLARE
	tokens text[];
	weights float8[];
	states text[] := '{}';
BEGIN
	FOR i IN 1 .. rounds LOOP
		SELECT array_agg(CASE WHEN random() < 0.97 THEN random_text(2) END),
			array_agg(CASE WHEN random() < 0.97 THEN (ARRAY[0, 1, 0.5, 1e-300, 2147483648,
				-1, 'NaN', 'Infinity', 1e300])[1 + floor(random() ^ 3 * 9)] END)
		INTO tokens, weights
		FROM generate_series(0, (random() * 5)::int);
		IF random() < 0.1 THEN weights := weights || 1::float8; END IF;
		IF random() < 0.1 THEN tokens := ARRAY[tokens, tokens]; END IF;
		BEGIN
			PERFORM simhash_tokens(tokens, weights), simhash_tokens_128(tokens, weights);
			states := states || '00000'::text;
		EXCEPTION WHEN OTHERS THEN
			states := states || SQLSTATE::text;
		END;
	END LOOP;
	RETURN QUERY SELECT s, s = ANY (states) FROM unnest('{00000,22004,22023,2202E}'::text[]) s
		UNION SELECT s, true FROM unnest(states) s ORDER BY 1;
END $$;
\set ECHO queries
SELECT * FROM fuzz_arrays(3000);

-- casts from bytea and numeric
\set ECHO none
CREATE FUNCTION fuzz_casts(rounds int) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	bytes bytea;
	number numeric;
BEGIN
	FOR i IN 1 .. rounds LOOP
		bytes := random_bytes((random() * 24)::int);
		BEGIN
			IF bytes::simhash64::bytea <> bytes THEN RETURN bytes::text; END IF;
		EXCEPTION WHEN invalid_binary_representation THEN
			IF length(bytes) = 8 THEN RETURN SQLERRM; END IF;
		END;
		BEGIN
			IF bytes::simhash128::bytea <> bytes THEN RETURN bytes::text; END IF;
		EXCEPTION WHEN invalid_binary_representation THEN
			IF length(bytes) = 16 THEN RETURN SQLERRM; END IF;
		END;
		number := (random() - 0.2)::numeric * 10::numeric ^ floor(random() * 24);
		BEGIN
			IF number::simhash64::numeric <> round(number)
				+ (CASE WHEN round(number) < 0 THEN 18446744073709551616 ELSE 0 END)
			THEN RETURN number::text; END IF;
		EXCEPTION WHEN numeric_value_out_of_range THEN
			IF round(number) BETWEEN -9223372036854775808 AND 18446744073709551615
			THEN RETURN SQLERRM; END IF;
		END;
		number := number * 10::numeric ^ floor(random() * 24);
		BEGIN
			IF number::simhash128::numeric <> round(number) + (CASE WHEN round(number) < 0 THEN 2::numeric ^ 128 ELSE 0 END)
			THEN RETURN number::text; END IF;
		EXCEPTION WHEN numeric_value_out_of_range THEN
			IF round(number) BETWEEN -(2::numeric ^ 127) AND 2::numeric ^ 128 - 1 THEN RETURN SQLERRM; END IF;
		END;
	END LOOP;
	RETURN 'as documented';
END $$;
\set ECHO queries
SELECT fuzz_casts(3000);
