# The rows of README.md: searches, joins and groups of random fingerprints; with what
# doc/large-tables.md and doc/indexing.md show of the same.  Sourced by script/bench.

batch=100000            # rows of a new batch, half of them near one of the table
cold_rounds=4           # of queries of which nothing is in memory
cold_queries=20         # of a round

# self_join CONDITION
self_join()
{
	printf 'SELECT count(*) FROM plain a JOIN plain b ON %s' "$1"
}

# clusters K [TABLE]
clusters()
{
	printf 'SELECT count(DISTINCT c) FROM (SELECT simhash_cluster(fp, %s) OVER () AS c FROM %s) s' \
		"$1" "${2:-plain}"
}

load_readme()
{
	generate 0
	sql -c 'ALTER TABLE generated RENAME TO plain' -c 'ALTER TABLE plain ADD PRIMARY KEY (id)'
	[ "$kind" = huge ] || sql -c 'ALTER TABLE plain SET LOGGED'
	create_queries plain 64
	sql -c "CREATE UNLOGGED TABLE batch AS
		SELECT $rows + n AS id, CASE WHEN n % 2 = 0
			THEN (fp::bigint # flips(n, draw(n, 41, 4)))::simhash64
			ELSE hashint8extended(n, 42)::simhash64 END AS fp
		FROM generate_series(1, $batch) n JOIN plain ON plain.id = draw(n, 43, $rows) + 1" \
		-c 'VACUUM ANALYZE' -c CHECKPOINT
}

# What is within 8 of 100 million takes hours.
joins()
{
	local near near8 equal new

	near=$(self_join 'a.fp <-> b.fp <= 3')
	near8=$(self_join 'a.fp <-> b.fp <= 8')
	equal=$(self_join 'a.fp = b.fp')
	new='SELECT count(*), sum(id) FROM batch WHERE NOT EXISTS (SELECT FROM plain WHERE plain.fp <-> batch.fp <= 3)'
	expect_plan HammingJoin self-join "$near"
	expect_plan 'Hash Join' 'hash join' "$equal"
	expect_plan HammingJoin 'NOT EXISTS' "$new"
	turns 'Joins and groups' 'self-join, k = 3, s' "$near" 'hash join, s' "$equal" \
		'NOT EXISTS of 100,000 rows, s' "$new"
	[ "$kind" != huge ] || return 0
	turns 'Joins and groups' 'self-join, k = 8, s' "$near8" \
		'simhash_cluster, k = 3, s' "$(clusters 3)" 'simhash_cluster, k = 8, s' "$(clusters 8)" \
		'simhash_pairs, k = 3, s' "SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM plain', 3)"
	memory 'simhash_cluster, k = 3'
	memory 'simhash_pairs, k = 3'
}

# memory NAME: of a statement
memory()
{
	show 'Joins and groups' "$1: bytes a row" "$(calculate "1024 * ${growth["$1, s"]} / $rows" %.0f)"
}

# One worker beside the leader, and none.
builds()
{
	local round one=() two=()

	for ((round = 0; round < builds; round++)); do
		[ "$round" -eq 0 ] || sql -c 'DROP INDEX plain_fp'
		if [ "$kind" != huge ]; then
			time_build plain plain_fp 'hamming (fp)' 'SET max_parallel_maintenance_workers = 1;
				ALTER TABLE plain SET (parallel_workers = 1)'
			two+=("$ms")
			sql -c 'ALTER TABLE plain RESET (parallel_workers)' -c 'DROP INDEX plain_fp'
		fi
		time_build plain plain_fp 'hamming (fp)'
		one+=("$ms")
	done
	show 'The index' 'build, s' "$(calculate "$(median "${one[@]}") / 1000")"
	[ "$kind" = huge ] || show 'The index' 'build by two processes, s' "$(calculate "$(median "${two[@]}") / 1000")"
	show 'The index' 'bytes a row' "$(bytes_a_row plain_fp)"
	sql -c 'VACUUM ANALYZE' -c CHECKPOINT
}

searches()
{
	local k key

	for k in 3 6 8 10; do
		lookup plain "$k"
		[ "$k" -gt 3 ] || show 'Searches, µs' 'primary key' "$key"
		show 'Searches, µs' "hamming, k = $k" "$us"
	done
	measure "$by_index" few "$(within plain 3)" few
	measure "$by_scan" few "$(within plain 3)" few
	show 'Searches, µs' 'sequential scan, k = 3' "$us"
	measure "$by_index" far 'SELECT fp <-> $1 FROM plain ORDER BY fp <-> $1 LIMIT 10'
	show 'Searches, µs' 'hamming, nearest 10' "$us"
}

# cold_side K PAGES: the milliseconds of queries that look so many pages ahead, after
# nothing but the first of them has been in memory
cold_side()
{
	restart
	sync
	say 3 >/proc/sys/vm/drop_caches
	{
		printf 'PREPARE q(simhash64) AS %s;\n\\timing on\n' "$(within plain "$1")"
		sed "s/.*/EXECUTE q('&');/" "$work/cold"
	} | PGOPTIONS="$by_index -c enable_bitmapscan=off -c effective_io_concurrency=$2
		-c plan_cache_mode=force_generic_plan" sql -f - | times | sed 1d
}

# Queries while nothing is in memory, with looking ahead and without.  Either is first
# as often: the second may find the pages in a cache that only the disk has.  In
# the end the system has all files in memory, as after a build.
cold()
{
	local round side sides ms

	if [ ! -w /proc/sys/vm/drop_caches ]; then
		note "$column, cold: not measured, as only root can empty the system's memory"
		return
	fi
	sql -c "ALTER SYSTEM SET shared_buffers = '128MB'"
	for ((round = 0; round < cold_rounds; round++)); do
		{
			tail -n 1 "$work/fps"
			sed -n "$((cold_queries * round + 1)),$((cold_queries * (round + 1)))p" "$work/fps"
		} >"$work/cold"
		sides=('3 0' '8 0' '8 64')
		[ $((round % 2)) -eq 0 ] || sides=('8 64' '8 0' '3 0')
		for side in "${sides[@]}"; do
			# shellcheck disable=SC2086
			cold_side $side >>"$work/side $side"
		done
	done
	for side in '3 0' '8 0' '8 64'; do
		mapfile -t ms <"$work/side $side"
		show Cold "k = ${side% *}, ${side#* } pages ahead, ms" "$(median "${ms[@]}")"
		rm "$work/side $side"
	done
	sql -c 'ALTER SYSTEM RESET shared_buffers'
	restart
	cat "$work"/data/base/*/* >/dev/null
}

method_readme()
{
	cat <<-METHOD
		Random fingerprints, a tenth of them 1 to 6 bits from another. One client and its backend are on
		one processor, without parallel workers but where it is said, and all data is in memory.

		Searches are medians of 1,000 prepared statements (scans and nearest 20, of 10 million rows 6, of
		100 million 3), half of them with near neighbours, seen twice; the nearest 10 are of a query
		without a near row. The scan has found the same rows as the index. The index is built with
		maintenance_work_mem = 256MB. Joins and groups are medians of 3, single above 15 s, with
		work_mem = 1GB; NOT EXISTS is of a batch, half of it near a row, within 3; the hash join is by =.
		Bytes a row of these are what the statement adds to the most that its backend has had (VmHWM).

		With more than 20 million rows the table is unlogged, and what would take hours is left out.
		Cold, which is measured then: shared_buffers are 128 MB and empty, and the system's memory is
		emptied before $cold_queries queries, $cold_rounds times; medians.
	METHOD
}

bench_readme()
{
	start_column "$millions million"
	load_readme
	pin
	joins
	unpin
	builds
	pin
	searches
	unpin
	[ "$kind" != huge ] || cold
}
