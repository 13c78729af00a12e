# Passages: the statements of doc/passages.md on texts that share parts, and the
# speed of minhash_passages().  Sourced by script/bench, which lists the variables
# that they share; measures by functions of text.sh.
#
# On texts of random words of package descriptions, some of which have parts of
# others (passages.pl).

common_from=100         # passages that more texts share are left out
least=0.4               # text_containment() of a pair that passes the check
queries=1000            # texts of which the origin is looked for
questions=1000
speeds=()               # rows of the results

# timed NAME STATEMENT: its seconds, as NAME_s, in a session that has loaded the
# library
timed()
{
	ms=$(sql -c "SELECT minhash('a')" -c '\timing on' -c "$2" | times)
	put "$1_s" "$(calculate "$ms / 1000")"
}

# count_of NAME QUERY: what it returns
count_of()
{
	put "$1" "$(sql -c "$2")"
}

# per_text NAME BYTES
per_text()
{
	put "$1" "$(sql -c "SELECT round($2::numeric / $rows)")"
}

make_table()
{
	timed table 'CREATE UNLOGGED TABLE passages AS
		SELECT id AS doc, p.place, p.start, p.length, p.fp FROM stories, minhash_passages(body) p'
	sql -c 'VACUUM ANALYZE passages'
	count_of made 'SELECT count(*) FROM passages'
	per_text table_bytes "pg_table_size('passages')"
	per_text texts_bytes "pg_table_size('stories')"
}

# What is left of the table is written anew.
leave_out_common()
{
	timed common "CREATE UNLOGGED TABLE common AS
		SELECT fp FROM passages GROUP BY fp HAVING count(DISTINCT doc) > $common_from"
	sql -c 'ANALYZE common'
	count_of commons 'SELECT count(*) FROM common'
	timed delete 'DELETE FROM passages p USING common c WHERE c.fp <-> p.fp <= 12'
	sql -c 'VACUUM FULL passages' -c 'ANALYZE passages'
	count_of kept 'SELECT count(*) FROM passages'
}

index_table()
{
	timed key 'ALTER TABLE passages ADD PRIMARY KEY (doc, place)'
	timed index 'CREATE INDEX passages_fp ON passages USING hamming (fp)'
	sql -c 'CREATE INDEX ON common USING hamming (fp)' -c 'VACUUM ANALYZE'
	per_text key_bytes "pg_relation_size('passages_pkey')"
	per_text index_bytes "pg_relation_size('passages_fp')"
}

# The query of doc/passages.md, 2, for texts that others are made of, or that are
# made of others, or neither.  Each is run twice; the second time counts.
find_origins()
{
	sql >"$work/origins" <<-SQL
		CREATE TABLE asked AS
		SELECT id, source, body, 0.0::float8 AS ms, 0::bigint AS answers, false AS found
		FROM stories WHERE id % ($rows / $queries) = 7;

		CREATE FUNCTION origins(asked_for text) RETURNS TABLE (id int, part text, my_part text)
		LANGUAGE plpgsql AS \$\$
		BEGIN
			RETURN QUERY
			WITH shared AS (
				SELECT p.doc, p.start, p.length, q.start AS my_start, q.length AS my_length,
					1.0 / count(*) OVER (PARTITION BY q.place) AS vote
				FROM minhash_passages(asked_for) q JOIN passages p ON p.fp <-> q.fp <= 6
			), candidates AS (
				SELECT doc, sum(vote) AS votes FROM shared GROUP BY doc ORDER BY votes DESC, doc LIMIT 20
			), checked AS (
				SELECT s.id, body, votes, text_containment(body, asked_for) AS of_theirs,
					text_containment(asked_for, body) AS of_mine
				FROM candidates JOIN stories s ON s.id = doc
			)
			SELECT checked.id, substr(body, start, length), substr(asked_for, my_start, my_length)
			FROM checked JOIN shared ON doc = checked.id
			WHERE greatest(of_theirs, of_mine) >= $least
			ORDER BY checked.votes DESC, checked.id, start;
		END \$\$;

		DO \$\$
		DECLARE
			a record;
			began timestamptz;
			spent float8;
			ids int[];
		BEGIN
			FOR round IN 1 .. 2 LOOP
				FOR a IN SELECT * FROM asked LOOP
					began := clock_timestamp();
					ids := ARRAY(SELECT id FROM origins(a.body));
					spent := extract(epoch FROM clock_timestamp() - began) * 1000;
					UPDATE asked SET ms = spent, answers = cardinality(ids), found = source = ANY (ids)
					WHERE id = a.id;
				END LOOP;
			END LOOP;
		END \$\$;

		SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 2),
			round(percentile_cont(0.99) WITHIN GROUP (ORDER BY ms)::numeric, 2),
			round(avg(found::int), 3) FROM asked;
	SQL
	put origin_ms "$(cut -d '|' -f 1 "$work/origins")"
	put origin_99_ms "$(cut -d '|' -f 2 "$work/origins")"
	put origin_recall "$(cut -d '|' -f 3 "$work/origins")"
}

# All pairs, and their check, each in processes that PostgreSQL chooses and with
# its default work_mem.
find_pairs()
{
	timed pairs 'CREATE UNLOGGED TABLE pairs AS
		SELECT a.doc AS a, b.doc AS b
		FROM passages a JOIN passages b ON a.fp <-> b.fp <= 6 AND a.doc < b.doc
		GROUP BY a.doc, b.doc'
	sql -c 'ANALYZE pairs'
	timed check "CREATE UNLOGGED TABLE checked AS
		SELECT a, b FROM pairs JOIN stories x ON x.id = a JOIN stories y ON y.id = b
		WHERE text_containment(x.body, y.body) >= $least
			OR text_containment(y.body, x.body) >= $least"
	sql -c 'ANALYZE checked'
	count_of pairs 'SELECT count(*) FROM pairs'
	count_of checked 'SELECT count(*) FROM checked'
	for kind in excerpt copy; do
		count_of "${kind}_planted" "SELECT count(*) FROM stories WHERE kind = '$kind'"
		for found in pairs checked; do
			count_of "${kind}_$found" "SELECT count(*)
				FROM $found JOIN stories y ON y.id = b AND y.source = a WHERE kind = '$kind'"
		done
	done
	count_of related "SELECT count(*)
		FROM checked JOIN stories x ON x.id = a JOIN stories y ON y.id = b
		WHERE y.source IS DISTINCT FROM a
			AND ARRAY[a, x.source] && ARRAY[y.source, (SELECT source FROM stories WHERE id = y.source)]"
	count_of terms "SELECT count(*)
		FROM checked JOIN stories x ON x.id = a JOIN stories y ON y.id = b
		WHERE x.kind = 'boilerplate' AND y.kind = 'boilerplate'"
	sql -c "EXPLAIN (COSTS OFF) SELECT a.doc, b.doc
		FROM passages a JOIN passages b ON a.fp <-> b.fp <= 6 AND a.doc < b.doc
		GROUP BY a.doc, b.doc" | grep -q HammingJoin || fail 'the pairs are not found by HammingJoin'
}

# Questions of 25 words in a row of texts, doc/passages.md, 5.
find_questions()
{
	sql -c "CREATE TABLE questions AS
		SELECT id, array_to_string((regexp_split_to_array(body, ' '))[11:35], ' ') AS question
		FROM stories WHERE id % ($rows / $questions) = 7" \
		-c 'CREATE TABLE question_passages AS SELECT id AS question_id, fp
			FROM questions, minhash_passages(question, mean_length => 5)' \
		-c ANALYZE
	timed questions 'CREATE UNLOGGED TABLE hits AS
		SELECT DISTINCT question_id, s.id AS story_id
		FROM stories s, minhash_passages(body, mean_length => 5) p
			JOIN question_passages q ON p.fp <-> q.fp <= 6'
	sql -c 'ANALYZE hits'
	count_of hits 'SELECT count(*) FROM hits'
	timed contained 'CREATE UNLOGGED TABLE contained AS SELECT question_id, story_id
		FROM hits JOIN questions q ON q.id = question_id JOIN stories s ON s.id = story_id
		WHERE text_containment(question, body) >= 0.8'
	count_of questions_found 'SELECT count(*) FROM contained WHERE question_id = story_id'
}

# Single rows, with the trigger of doc/passages.md, 1, and without it.
insert_stories()
{
	local insert='DO $$ BEGIN FOR i IN 1 .. 2000 LOOP
		INSERT INTO stories SELECT id + 100000000, kind, source, body FROM stories WHERE id = 7 * i;
		END LOOP; END $$'

	timed plain_insert "$insert"
	sql <<-'SQL'
		DELETE FROM stories WHERE id >= 100000000;
		CREATE FUNCTION make_passages() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			DELETE FROM passages WHERE doc = new.id;
			INSERT INTO passages
			SELECT new.id, p.place, p.start, p.length, p.fp
			FROM minhash_passages(new.body) p
			WHERE NOT EXISTS (SELECT FROM common c WHERE c.fp <-> p.fp <= 12);
			RETURN NULL;
		END $$;
		CREATE TRIGGER inserted AFTER INSERT ON stories
		FOR EACH ROW EXECUTE FUNCTION make_passages();
	SQL
	timed trigger_insert "$insert"
	put trigger_us "$(calculate "($(get trigger_insert_s) - $(get plain_insert_s)) / 0.002" %.0f)"
}

measure_passages()
{
	column="texts $millions"
	columns+=("$column")
	rows=$(calculate "$millions * 1000000" %.0f)
	say "$column million: making the texts"
	sql -c 'DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE EXTENSION simhash' 2>/dev/null
	perl "$root/bench/passages.pl" "$rows" <"$work/descriptions" >"$work/stories"
	sql -c 'CREATE UNLOGGED TABLE stories (id int, kind text, source int, body text)' \
		-c "\\copy stories FROM '$work/stories' (ENCODING 'UTF8')" \
		-c 'ALTER TABLE stories ADD PRIMARY KEY (id)' -c 'VACUUM ANALYZE stories'
	rm "$work/stories"
	timed minhash 'SELECT count(minhash(body)) FROM stories'
	make_table
	leave_out_common
	index_table
	find_origins
	find_pairs
	find_questions
	insert_stories
}

# measure_speed TITLE TABLE: of its texts, microseconds a text
measure_speed()
{
	local title=$1 table=$2 texts us=() i

	create_texts "${table}_rows" passage "SELECT passage FROM $table, minhash_passages(body)"
	sql -c "CREATE UNLOGGED TABLE ${table}_arrays AS
			SELECT ARRAY(SELECT (p.*)::passage FROM minhash_passages(body) p) AS parts
			FROM $table WITH NO DATA" \
		-c "ALTER TABLE ${table}_arrays ALTER parts SET STORAGE EXTERNAL" \
		-c "INSERT INTO ${table}_arrays
			SELECT ARRAY(SELECT (p.place, p.start, p.length, p.passage, p.fp)::passage
				FROM minhash_passages(body) p) FROM $table" \
		-c "VACUUM ANALYZE ${table}_arrays"
	texts=$(sql -c "SELECT count(*) FROM $table")
	pin
	take_turns '' \
		"SELECT count(body) FROM $table" "SELECT count(minhash(body)) FROM $table" \
		"SELECT count(fp) FROM $table, minhash_passages(body)" \
		"SELECT count(parts) FROM ${table}_arrays" "SELECT count(fp) FROM ${table}_arrays, unnest(parts)" \
		"SELECT count(passage) FROM ${table}_rows" "SELECT count(minhash(passage)) FROM ${table}_rows"
	unpin
	for i in "${!ms[@]}"; do
		us+=("$(calculate "1000 * ${ms[i]} / $texts" %.3f)")
	done
	speeds+=("$(row "$title" \
		"$(sql -c "SELECT round(avg(cardinality(regexp_split_to_array(btrim(body), '\s+')))) FROM $table")" \
		"$(sql -c "SELECT round(count(*)::numeric / $texts, 1) FROM ${table}_rows")" \
		"$(calculate "${us[1]} - ${us[0]}")" "$(calculate "${us[2]} - ${us[0]}")" \
		"$(calculate "${us[4]} - ${us[3]}")" "$(calculate "${us[6]} - ${us[5]}")" \
		"$(calculate "(${us[2]} - ${us[0]}) / (${us[1]} - ${us[0]})")" \
		"$(calculate "(${us[2]} - ${us[0]} - ${us[4]} + ${us[3]}) / (${us[1]} - ${us[0]})")" \
		"$(calculate "(${us[2]} - ${us[0]} - ${us[4]} + ${us[3]} - ${us[6]} + ${us[5]}) / (${us[1]} - ${us[0]})")")")
	say "    ${speeds[-1]}"
}

measure_speeds()
{
	sql -c 'DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE EXTENSION simhash' 2>/dev/null
	sql -c 'CREATE TYPE passage AS (place int, start int, length int, passage text, fp simhash64)' \
		-c 'CREATE TABLE descriptions (name text, body text)' \
		-c "\\copy descriptions FROM '$work/descriptions' (ENCODING 'UTF8')"
	create_texts short body 'SELECT body FROM descriptions'
	create_texts long body "SELECT string_agg(body, '' ORDER BY n) AS body
		FROM (SELECT row_number() OVER (ORDER BY md5(name)) AS n, body FROM descriptions) d GROUP BY n / 9"
	measure_speed descriptions short
	measure_speed '9 descriptions, one after the other' long
}

print_passages_method()
{
	cat <<-METHOD
		Texts of 65 words, drawn from those of package descriptions, as often as these have them. 10 % have
		30 words in a row of another text among their own, 20 % end with one of 5 boilerplates of 40
		words more, and 0.5 % are copies with 3 words replaced. The statements are those of
		doc/passages.md, with the default mean length and k = 6. Passages that more than $common_from texts share
		are left out, and what is within 12 of them. A pair passes the check by text_containment() >=
		$least in either direction, as 30 words are .45 of such a text.

		All tables are unlogged, and all data is in memory. Statements are run once, with the default
		work_mem and as many parallel workers as PostgreSQL chooses. The origins are looked for in
		PL/pgSQL, of $queries texts, the second time.
	METHOD
}

print_passages_results()
{
	table_head
	table_row 'texts: bytes a text' texts_bytes
	table_row 'minhash(body) of all, s' minhash_s
	table_row 'the table, s' table_s
	table_row 'passages' made
	table_row 'bytes a text' table_bytes
	table_row 'common ones: counting equal ones, s' common_s
	table_row 'common fingerprints' commons
	table_row 'deleting what is within 12, s' delete_s
	table_row 'passages that stay' kept
	table_row 'primary key, s' key_s
	table_row 'primary key, bytes a text' key_bytes
	table_row 'hamming index, s' index_s
	table_row 'hamming index, bytes a text' index_bytes
	table_row 'where does this text come from: median, ms' origin_ms
	table_row 'the same, 99th percentile, ms' origin_99_ms
	table_row 'of the texts with a source, it is found' origin_recall
	table_row 'all pairs, s' pairs_s
	table_row 'pairs' pairs
	table_row 'the check, s' check_s
	table_row 'pairs that pass' checked
	table_row 'excerpts: planted' excerpt_planted
	table_row 'among the pairs' excerpt_pairs
	table_row 'and passed' excerpt_checked
	table_row 'near-copies: planted' copy_planted
	table_row 'among the pairs' copy_pairs
	table_row 'and passed' copy_checked
	table_row 'passed: both made of a third text' related
	table_row 'passed: both end with a boilerplate' terms
	table_row "$questions questions of 25 words in all texts, mean_length => 5, s" questions_s
	table_row 'candidates' hits
	table_row 'their check, s' contained_s
	table_row 'questions that are found in their texts' questions_found
	table_row 'INSERT of a row: what the trigger adds, µs' trigger_us
}

print_speeds()
{
	table 'minhash_passages(body), µs a text' '|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|' \
		texts words passages 'minhash(body)' 'minhash_passages' 'the rows' 'minhash of the passages' \
		'/ minhash(body)' 'above the rows' 'and above minhash of the passages'
	printf '%s\n' "${speeds[@]}"
	say
	say 'Medians of 7, by one process, less a scan of the same table. The rows are those of unnest() of a'
	say 'stored array that has the same rows. The last three columns are ratios to minhash(body).'
}

bench_passages()
{
	local millions rounds=7 kind found rows

	columns=()
	result=()
	notes=()
	say 'Reading package descriptions'
	read_descriptions en >"$work/descriptions"
	measure_speeds
	for millions; do
		measure_passages
	done
	{
		print_machine passages
		print_passages_method
		say
		print_passages_results
		print_speeds
		print_notes
	} | tee "$work/results"
	keep_results passages
}
