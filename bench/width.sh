# 128 bits against 64, in the same run: constructors, distances, deduplication
# and the access method.  Sourced by script/bench, which lists the variables that
# they share; measures by the functions of text.sh, index.sh and cluster.sh.
#
# On random fingerprints (uniform.sql) and on those of made-up texts with many
# copies (skewed.sql).  Each row has one of each width: 64 bits in the table
# plain, 128 bits in the table wide.

constructors=('simhash(body)' 'simhash(body, words => 3)' 'simhash(body, chars => 4)'
	"simhash(body, tf => 'count')"
	'minhash(body)' 'minhash(body, words => 3)' 'minhash(body, chars => 4)')
constructed=()          # rows of the results
widths='(SELECT fp IS NULL AS fp FROM plain UNION ALL SELECT fp IS NULL FROM wide) s'

# The constructors of both widths, on texts of 2 kB with the words of skewed.sql.
measure_constructors()
{
	local rounds=7 calls=() call i

	create_texts bodies body "SELECT string_agg(body, ' ') AS body
		FROM lines, generate_series(1, 20) i GROUP BY i, line / 27"
	size bodies body
	for call in "${constructors[@]}"; do
		calls+=("$call" "${call/hash(/hash_128(}")
	done
	time_calls bodies "${calls[@]}"
	for ((i = 0; i < ${#calls[@]}; i += 2)); do
		constructed+=("$(row "${calls[i + 1]}" "$(calculate "${ms[i + 1]} / ${ms[i]}")" \
			"$(calculate "1000 * ${ms[i + 1]} / $count")" "$(calculate "1000 * ${ms[i]} / $count")")")
		say "    ${constructed[-1]}"
	done
}

# scan_for TABLE: a distance of each of its rows, which has no index yet
scan_for()
{
	printf "SELECT count(*) FROM %s WHERE fp <-> (SELECT fp FROM %s WHERE id = 1) <= 3" "$1" "$1"
}

compare_distances()
{
	local rounds=11 width

	turns scan64 "$(scan_for plain)" scan128 "$(scan_for wide)"
	ratio distances scan64 scan128
	for width in 64 128; do
		put "distances$width" "$(calculate "$rows / 1000 / $(get "scan${width}_ms")" %.1f)"
	done
}

compare_deduplication()
{
	turns cluster64 "$(clusters 8 plain)" cluster128 "$(clusters 16 wide)"
	ratio cluster cluster128 cluster64
	if [ "$data" = uniform ]; then
		turns pairs64 "$(summed "simhash_pairs('SELECT id, fp FROM plain', 8)")" \
			pairs128 "$(summed "simhash_pairs('SELECT id, fp FROM wide', 16)")"
		ratio pairs pairs128 pairs64
	fi
}

# The builds take turns.
compare_builds()
{
	local round plain=() wide=()

	for ((round = 1; round <= builds; round++)); do
		[ "$round" -eq 1 ] || sql -c 'DROP INDEX plain_fp, wide_fp'
		build_hamming plain "$one_process"
		plain+=("$ms")
		build_hamming wide "$one_process"
		wide+=("$ms")
	done
	put build64_s "$(calculate "$(median "${plain[@]}") / 1000")"
	put build128_s "$(calculate "$(median "${wide[@]}") / 1000")"
	put build "$(calculate "$(get build128_s) / $(get build64_s)")"
	put size64 "$(bytes_a_row plain_fp)"
	put size128 "$(bytes_a_row wide_fp)"
	put blocks64 "$(sql -c "SELECT blocks FROM hamming_index_stats('plain_fp')")"
	put blocks128 "$(sql -c "SELECT blocks FROM hamming_index_stats('wide_fp')")"
	sql -c 'VACUUM ANALYZE' -c CHECKPOINT
}

# lookups_of TABLE QUERIES K...: and whether a scan finds the same
lookups_of()
{
	local table=$1 k

	write_values "$2"
	shift 2
	for k; do
		lookup "$table" "$k" "${table}_k$k"
		measure_same "$table, few within $k" "$by_index" few "$(within "$table" "$k")"
		measure_same "$table, few within $k" "$by_scan" few "$(within "$table" "$k")"
	done
	put "${table}_key_us" "$(get key_us)"
}

# measure_width DATA
measure_width()
{
	local data=$1 builds=3 few=6 scanned=$widths

	column="$data $millions"
	columns+=("$column")
	say "$column million rows: loading"
	generate "$data" 0 yes
	sql -v rows="$rows" -f "$root/bench/width.sql"
	pin
	if [ "$data" = skewed ] && [ ${#constructed[@]} -eq 0 ]; then
		measure_constructors
	fi
	compare_distances
	compare_deduplication
	unpin
	compare_builds
	pin
	lookups_of plain queries 3 6 8 10
	lookups_of wide wide_queries 7 12 16 20
	unpin
}

print_width_method()
{
	cat <<-METHOD
		Uniform: random fingerprints, a tenth of them 1 to 6 bits of each word of 64 from another.
		Skewed: those of made-up texts of 50 words, most of them copies of others, exact or not. Each row
		has a fingerprint of either width, in a table of its own. All is measured by one client on the
		processor of its backend, without parallel workers and with all data in memory. What is
		compared takes turns, and ratios are to what the same run has measured on the same data.

		Lookups are medians of 1,000 prepared statements, seen twice, half of them with near neighbours;
		a sequential scan has found the same rows as the index. The primary key is that of the same
		table. Builds are medians of 3, with maintenance_work_mem = 256MB. Clusters and pairs are
		medians of 5, of 3 above 4 s, and single ones above 15 s, with work_mem = $work_mem; what took
		longer than $limit s was cancelled.
	METHOD
}

print_width_summary()
{
	say
	table_head
	table_row 'lookup, k = 7 (every block exact) / primary key' wide_k7
	table_row 'lookup, k = 12 / primary key' wide_k12
	table_row 'lookup, k = 16 / primary key' wide_k16
	table_row 'lookup, k = 20 / primary key' wide_k20
	table_row 'bytes a row after a build' size128
	table_row 'build / that of 64 bits' build
	table_row 'simhash_cluster, k = 16 / that of 64 bits at k = 8' cluster
	table_row 'simhash_pairs, k = 16, s' pairs128_s
	table_row 'distances a second, sequential scan / those of 64 bits' distances
}

print_constructors()
{
	table 'Constructors, a text of 2 kB' '|---|--:|--:|--:|' \
		call '/ 64 bits' 'µs' '64 bits, µs'
	printf '%s\n' "${constructed[@]}"
}

print_width_details()
{
	local k

	say
	say '## Both widths'
	say
	table_head
	table_row '64 bits: primary key, µs' plain_key_us
	table_row '128 bits: primary key, µs' wide_key_us
	for k in 3 6 8 10; do
		table_row "64 bits: lookup, k = $k, µs" "plain_k${k}_us"
		table_row "64 bits: the same / primary key" "plain_k$k"
	done
	for k in 7 12 16 20; do
		table_row "128 bits: lookup, k = $k, µs" "wide_k${k}_us"
	done
	table_row '64 bits: blocks' blocks64
	table_row '128 bits: blocks' blocks128
	table_row '64 bits: bytes a row after a build' size64
	table_row '64 bits: build, s' build64_s
	table_row '128 bits: build, s' build128_s
	table_row '64 bits: simhash_cluster, k = 8, s' cluster64_s
	table_row '128 bits: simhash_cluster, k = 16, s' cluster128_s
	table_row '64 bits: simhash_pairs, k = 8, s' pairs64_s
	table_row '128 bits, k = 16 / 64 bits, k = 8: simhash_pairs' pairs
	table_row '64 bits: distances a second, M' distances64
	table_row '128 bits: distances a second, M' distances128
	table_row '64 bits: clusters, k = 8' cluster64_answer
	table_row '128 bits: clusters, k = 16' cluster128_answer
	table_row '64 bits: pairs, k = 8, and their sum' pairs64_answer
	table_row '128 bits: pairs, k = 16, and their sum' pairs128_answer
}

bench_width()
{
	local millions rounds=5 kind rows

	columns=()
	result=()
	notes=()
	build_latency
	for millions; do
		set_rows "$millions"
		measure_width uniform
		[ "$kind" != small ] || measure_width skewed
	done
	{
		print_machine width
		print_width_method
		print_width_summary
		print_constructors
		print_width_details
		print_notes
	} | tee "$work/results"
	keep_results width
}
