# 128 bits against 64, in the same run: the access method and deduplication.  Sourced
# by script/bench, which lists the variables that they share; measures by the
# functions of index.sh and cluster.sh.
#
# On random fingerprints (uniform.sql) and on those of made-up texts with many
# copies (skewed.sql).  Each row has one of each width: 64 bits in the table
# plain, 128 bits in the table wide.

widths='(SELECT fp IS NULL AS fp FROM plain UNION ALL SELECT fp IS NULL FROM wide) s'

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
	show 'Both widths' '64 bits: build, s' "$(calculate "$(median "${plain[@]}") / 1000")"
	show 'Both widths' '128 bits: build, s' "$(calculate "$(median "${wide[@]}") / 1000")"
	show 'Both widths' '64 bits: bytes a row after a build' "$(bytes_a_row plain_fp)"
	show 'Both widths' '128 bits: bytes a row after a build' "$(bytes_a_row wide_fp)"
	sql -c 'VACUUM ANALYZE' -c CHECKPOINT
}

# lookups_of TABLE QUERIES BITS K...: and whether a scan finds the same
lookups_of()
{
	local table=$1 bits=$3 k key ratio

	write_values "$2"
	for k in "${@:4}"; do
		lookup "$table" "$k"
		show 'Both widths' "$bits bits: lookup, k = $k, µs" "$us"
		measure_same "$table, few within $k" "$by_index" few "$(within "$table" "$k")"
		measure_same "$table, few within $k" "$by_scan" few "$(within "$table" "$k")"
	done
	show 'Both widths' "$bits bits: primary key, µs" "$key"
}

# measure_width DATA
measure_width()
{
	local builds=3 few=6 scanned=$widths

	column="$1 $millions"
	columns+=("$column")
	say "$column million rows: loading"
	generate "$1" 0 yes
	sql -v rows="$rows" -f "$root/bench/width.sql"
	pin
	turns 'Both widths' '64 bits: simhash_cluster, k = 8, s' "$(clusters 8 plain)" \
		'128 bits: simhash_cluster, k = 16, s' "$(clusters 16 wide)"
	unpin
	compare_builds
	pin
	lookups_of plain queries 64 3 6 8 10
	lookups_of wide wide_queries 128 7 12 16 20
	unpin
}

print_width()
{
	cat <<-METHOD
		Uniform: random fingerprints, a tenth of them 1 to 6 bits of each word of 64 from another.
		Skewed: those of made-up texts of 50 words, most of them copies of others, exact or not. Each row
		has a fingerprint of either width, in a table of its own. All is measured by one client on the
		processor of its backend, without parallel workers and with all data in memory.

		Lookups are medians of 1,000 prepared statements, seen twice, half of them with near neighbours;
		a sequential scan has found the same rows as the index. The primary key is that of the same
		table. Builds are medians of 3 that took turns, with maintenance_work_mem = 256MB. Clusters are
		medians of 5 that took turns, of 3 above 4 s, and single ones above 15 s, with
		work_mem = $work_mem; what took longer than $limit s was cancelled.
	METHOD
	section 'Both widths' ''
}

bench_width()
{
	local millions rounds=5 kind

	build_latency
	for millions; do
		set_rows "$millions"
		measure_width uniform
		[ "$kind" != small ] || measure_width skewed
	done
}
