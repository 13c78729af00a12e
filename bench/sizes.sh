# What doc/large-tables.md plans: from a table of texts to the list of its near-duplicates,
# on stock settings.  Sourced by script/bench; measures by the functions of measure.sh.

# k for minhash_128() and so many rows, as doc/choosing.md advises.
advised()
{
	k=20
	[ "$rows" -gt 1000000 ] || k=24
	[ "$rows" -gt 100000 ] || k=28
}

method_sizes()
{
	cat <<-METHOD
		Texts of 65 words, drawn from those of package descriptions; a tenth are copies of another with 0 to
		3 words replaced, of which those with 3 are not alike. The server has the settings that PostgreSQL
		comes with: shared_buffers 128 MB, work_mem 4 MB, maintenance_work_mem 64 MB, two workers, fsync. Each
		statement runs once, in a session of its own, with what its predecessors left in the system's memory.

		The copies are listed by the two statements of doc/large-tables.md, by one statement of README.md ("one
		call"), or not at all (all pairs of fingerprints, counted; up to 10 million rows). Memory is the most
		that the process of a statement has had (VmHWM), with what it shares with its workers.
	METHOD
}

stock()
{
	local setting

	buffers=128
	for setting in fsync=on autovacuum=on jit=on shared_buffers=128MB maintenance_work_mem=64MB max_wal_size=1GB \
		effective_cache_size=4GB checkpoint_timeout=5min max_worker_processes=8; do
		sql -c "ALTER SYSTEM SET ${setting%=*} = '${setting#*=}'"
	done
	restart
}

# timed_statement TITLE STATEMENT: its seconds, and in $peak the GB that its process has had
timed_statement()
{
	local output

	output=$(sql -c '\timing on' -c "$2" -c '\timing off' -c "$most_memory")
	show 'From texts to copies' "$1, s" "$(calculate "$(times <<<"$output") / 1000")"
	peak=$(calculate "$(tail -n 1 <<<"$output") * 1024 / 1e9")
}

gigabytes()
{
	show 'From texts to copies' "$1, GB" "$(calculate "$(sql -c "SELECT $2") / 1e9" %.3f)"
}

# load_texts FIRST LAST: rows of these numbers
load_texts()
{
	perl "$root/bench/sizes.pl" "$1" "$2" <"$work/descriptions" |
		sql -c "COPY articles FROM STDIN (ENCODING 'UTF8')"
}

bench_sizes()
{
	local k peak

	start_column "$millions million"
	stock
	advised
	[ -f "$work/descriptions" ] || read_descriptions en >"$work/descriptions"
	say "$column: loading"
	PGOPTIONS='-c client_min_messages=warning' sql -c 'DROP SCHEMA public CASCADE' -c 'CREATE SCHEMA public' \
		-c 'CREATE EXTENSION simhash' -c 'CREATE TABLE articles (id bigint PRIMARY KEY, body text)'
	load_texts 1 $((rows / 2)) &
	load_texts $((rows / 2 + 1)) "$rows"
	wait $!
	sql -c 'VACUUM ANALYZE articles' -c CHECKPOINT
	show 'From texts to copies' k "$k"
	gigabytes 'the texts' "pg_table_size('articles')"
	timed_statement 'the column' \
		'ALTER TABLE articles ADD fp simhash128 GENERATED ALWAYS AS (minhash_128(body)) STORED'
	sql -c 'VACUUM ANALYZE articles' -c CHECKPOINT
	timed_statement 'the index' 'CREATE INDEX articles_fp ON articles USING hamming (fp)'
	gigabytes 'the index' "pg_relation_size('articles_fp')"
	if [ "$rows" -le 10000000 ]; then
		timed_statement 'all pairs' "SELECT count(*) FROM (SELECT simhash_pairs('SELECT id, fp FROM articles', $k)) p"
		show 'From texts to copies' 'memory of all pairs, GB' "$peak"
	fi
	[ "$rows" -gt 2000000 ] || timed_statement 'one call' "SELECT count(*) FROM (
		SELECT id, first_value(id) OVER (PARTITION BY cluster ORDER BY id) AS stays
		FROM (SELECT id, simhash_cluster(fp, $k, 'leader', body, 0.8) OVER (ORDER BY id) AS cluster
			FROM articles) clustered
		WHERE cluster IS NOT NULL) named
		WHERE id <> stays"
	timed_statement 'the groups' "CREATE TABLE near AS
		SELECT id, near_group
		FROM (SELECT id, near_group, count(*) OVER (PARTITION BY near_group) AS size
			FROM (SELECT id, simhash_cluster(fp, $k) OVER () AS near_group FROM articles) connected
			WHERE near_group IS NOT NULL) groups
		WHERE size > 1"
	show 'From texts to copies' 'memory of the groups, GB' "$peak"
	sql -c 'ANALYZE near'
	timed_statement 'the copies' "CREATE TABLE copies AS
		SELECT id, stays
		FROM (SELECT id, first_value(id) OVER (PARTITION BY near_group, cluster ORDER BY id) AS stays
			FROM (SELECT id, near_group, simhash_cluster(fp, $k, 'leader', body, 0.8)
					OVER (PARTITION BY near_group ORDER BY id) AS cluster
				FROM near JOIN articles USING (id)) clustered
			WHERE cluster IS NOT NULL) named
		WHERE id <> stays"
	sql -c 'ALTER TABLE copies ADD PRIMARY KEY (id)' -c 'ANALYZE copies'
	show 'From texts to copies' 'rows in groups' "$(sql -c 'SELECT count(*) FROM near')"
	show 'From texts to copies' 'copies found' "$(sql -c 'SELECT count(*) FROM copies')"
	timed_statement 'hamming_index_check' "SELECT hamming_index_check('articles_fp')"
	timed_statement 'REINDEX' 'REINDEX INDEX articles_fp'
	timed_statement 'DELETE of the copies' 'DELETE FROM articles USING copies WHERE articles.id = copies.id'
	timed_statement 'VACUUM after it' 'VACUUM articles'
}
