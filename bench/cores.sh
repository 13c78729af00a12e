# All processes of one machine: simhash_pairs(), simhash_cluster() and joins of random
# fingerprints (uniform.sql) with 1, 2, 4, 8 and 16.  Sourced by script/bench, which
# lists the variables that they share; measures by the functions of cluster.sh.

# compare_processes TITLE STATEMENT: the statement by so many processes, in turns
compare_processes()
{
	local count arguments=() cells=()

	for count in 1 2 4 8 16; do
		[ "$count" -le "$(nproc)" ] || continue
		options["$1, $count"]="-c max_parallel_workers_per_gather=$((count - 1)) -c max_parallel_workers=16"
		arguments+=("$1, $count" "$2")
	done
	turns '' "${arguments[@]}"
	for count in 1 2 4 8 16; do
		cells+=("$(get "$1, $count")")
		[ "$count" -gt "$(nproc)" ] || same "$1, $count" "$1, 1"
	done
	show_row 'One to sixteen processes' random "$millions" "$1" "${cells[@]}"
}

# self_joined K: counted in pairs of two rows
self_joined()
{
	printf 'SELECT count(*) FROM docs a JOIN docs b ON a.fp <-> b.fp <= %s AND a.id < b.id' "$1"
}

# paired K: without a tuplestore of them
paired()
{
	printf "SELECT count(*) FROM (SELECT simhash_pairs('SELECT id, fp FROM docs', %s)) s" "$1"
}

# numbered ARGUMENTS: the number of clusters, without sorting
numbered()
{
	printf 'SELECT max(c) FROM (SELECT simhash_cluster(fp, %s) OVER () AS c FROM docs) s' "$1"
}

measure_cores()
{
	local k

	load_data uniform
	sql -c 'CREATE UNLOGGED TABLE tenth AS SELECT * FROM docs WHERE id % 10 = 0' -c 'VACUUM ANALYZE tenth'
	for k in 3 8; do
		compare_processes "self-join, k = $k" "$(self_joined $k)"
		compare_processes "pairs, k = $k" "$(paired $k)"
		compare_processes "clusters, k = $k" "$(numbered $k)"
		compare_processes "leader, k = $k" "$(numbered "$k, 'leader'")"
	done
	compare_processes 'join of two tables, k = 8' \
		'SELECT count(*) FROM docs a JOIN tenth b ON a.fp <-> b.fp <= 8 AND a.id <> b.id'
	compare_processes 'EXISTS, k = 8' 'SELECT count(*) FROM tenth b
		WHERE EXISTS (SELECT FROM docs a WHERE a.fp <-> b.fp <= 8 AND a.id <> b.id)'
}

print_cores()
{
	cat <<-METHOD
		Random fingerprints, a tenth of them 1 to 6 bits from another. Two tables have a tenth of the rows
		and all of them. All data and all that is made of it is in memory, work_mem = 4GB. The statements
		take turns and have found the same; times are medians of 5, of 3 above 4 s, and single ones above
		15 s. What took longer than 900 s was cancelled. Pairs are counted in the SELECT list, clusters by
		max(), as they are numbered from 1 on.
	METHOD
	table 'One to sixteen processes' '|---|---|---|--:|--:|--:|--:|--:|' \
		data 'rows, M' statement 'one, s' 'two, s' 'four, s' 'eight, s' 'sixteen, s'
}

bench_cores()
{
	local millions rounds=5 kind limit=900 work_mem=4GB

	for millions; do
		set_rows "$millions"
		measure_cores
	done
}
