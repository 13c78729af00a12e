# Passages: the statements of doc/passages.md on texts that share parts.  Sourced by
# script/bench; measures by the functions of measure.sh.
#
# On texts of random words of package descriptions, some of which have parts of
# others (passages.pl).

common_from=100         # passages that more texts share are left out
least=0.4               # text_containment() of a pair that passes the check
queries=1000            # texts of which the origin is looked for
questions=1000
passages='Texts that share parts'

# timed TITLE STATEMENT: its seconds, in a session that has loaded the library
timed()
{
	time_sql "SELECT minhash('a')" "$2"
	show "$passages" "$1, s" "$(calculate "$ms / 1000")"
}

# per_text TITLE BYTES
per_text()
{
	show "$passages" "$1" "$(sql -c "SELECT round($2::numeric / $rows)")"
}

make_table()
{
	timed 'the table' 'CREATE UNLOGGED TABLE passages AS
		SELECT id AS doc, p.place, p.start, p.length, p.fp FROM stories, minhash_passages(body) p'
	sql -c 'VACUUM ANALYZE passages'
	per_text 'bytes a text' "pg_table_size('passages')"
}

# What is left of the table is written anew.
leave_out_common()
{
	sql -c "CREATE UNLOGGED TABLE common AS
		SELECT fp FROM passages GROUP BY fp HAVING count(DISTINCT doc) > $common_from" -c 'ANALYZE common' \
		-c 'DELETE FROM passages p USING common c WHERE c.fp <-> p.fp <= 12' \
		-c 'VACUUM FULL passages' -c 'ANALYZE passages'
}

index_table()
{
	sql -c 'ALTER TABLE passages ADD PRIMARY KEY (doc, place)'
	timed 'hamming index' 'CREATE INDEX passages_fp ON passages USING hamming (fp)'
	sql -c 'CREATE INDEX ON common USING hamming (fp)' -c 'VACUUM ANALYZE'
	per_text 'primary key, bytes a text' "pg_relation_size('passages_pkey')"
	per_text 'hamming index, bytes a text' "pg_relation_size('passages_fp')"
}

# The query of doc/passages.md, 2, for texts that others are made of, or that are
# made of others, or neither.  Each is run twice; the second time counts.
find_origins()
{
	sql >"$work/origins" <<-SQL
		CREATE TABLE asked AS SELECT id, body, 0.0::float8 AS ms FROM stories WHERE id % ($rows / $queries) = 7;

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
		BEGIN
			FOR round IN 1 .. 2 LOOP
				FOR a IN SELECT * FROM asked LOOP
					began := clock_timestamp();
					PERFORM * FROM origins(a.body);
					UPDATE asked SET ms = extract(epoch FROM clock_timestamp() - began) * 1000 WHERE id = a.id;
				END LOOP;
			END LOOP;
		END \$\$;

		SELECT round(percentile_cont(0.5) WITHIN GROUP (ORDER BY ms)::numeric, 2) FROM asked;
	SQL
	show "$passages" 'where does this text come from: median, ms' "$(<"$work/origins")"
}

# In processes that PostgreSQL chooses and with its default work_mem.
find_pairs()
{
	local pairs='SELECT a.doc AS a, b.doc AS b
		FROM passages a JOIN passages b ON a.fp <-> b.fp <= 6 AND a.doc < b.doc
		GROUP BY a.doc, b.doc'

	timed 'all pairs' "CREATE UNLOGGED TABLE pairs AS $pairs"
	sql -c "EXPLAIN (COSTS OFF) $pairs" | grep -q HammingJoin || fail 'the pairs are not found by HammingJoin'
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
	timed "$questions questions of 25 words in all texts, mean_length => 5" 'CREATE UNLOGGED TABLE hits AS
		SELECT DISTINCT question_id, s.id AS story_id
		FROM stories s, minhash_passages(body, mean_length => 5) p
			JOIN question_passages q ON p.fp <-> q.fp <= 6'
}

# Single rows, with the trigger of doc/passages.md, 1, and without it.
insert_stories()
{
	local without insert='DO $$ BEGIN FOR i IN 1 .. 2000 LOOP
		INSERT INTO stories SELECT id + 100000000, body FROM stories WHERE id = 7 * i;
		END LOOP; END $$'

	time_sql "SELECT minhash('a')" "$insert"
	without=$ms
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
	time_sql "SELECT minhash('a')" "$insert"
	show "$passages" 'INSERT of a row: what the trigger adds, µs' "$(calculate "($ms - $without) / 2" %.0f)"
}

method_passages()
{
	cat <<-METHOD
		Texts of 65 words, drawn from those of package descriptions, as often as these have them. 10 % have
		30 words in a row of another text among their own, 20 % end with one of 5 boilerplates of 40
		words more, and 0.5 % are copies with 3 words replaced. The statements are those of
		doc/passages.md, with the default mean length and k = 6. Passages that more than $common_from texts share
		are left out, and what is within 12 of them. Where a text comes from is checked by
		text_containment() >= $least in either direction, as 30 words are .45 of such a text.

		All tables are unlogged, and all data is in memory. Statements are run once, with the default
		work_mem and as many parallel workers as PostgreSQL chooses. The origins are looked for in
		PL/pgSQL, of $queries texts, the second time.
	METHOD
}

bench_passages()
{
	start_column "$millions million"
	[ -f "$work/descriptions" ] || read_descriptions en >"$work/descriptions"
	say "$column: making the texts"
	sql -c 'DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE EXTENSION simhash' 2>/dev/null
	perl "$root/bench/passages.pl" "$rows" <"$work/descriptions" >"$work/stories"
	sql -c 'CREATE UNLOGGED TABLE stories (id int, body text)' \
		-c "\\copy stories FROM '$work/stories' (ENCODING 'UTF8')" \
		-c 'ALTER TABLE stories ADD PRIMARY KEY (id)' -c 'VACUUM ANALYZE stories'
	rm "$work/stories"
	make_table
	leave_out_common
	index_table
	find_origins
	find_pairs
	find_questions
	insert_stories
}
