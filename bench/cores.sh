# All processes of one machine: joins and pairs of random fingerprints by 1, 2, 4, 8 and
# 16.  Sourced by script/bench; measures by the functions of measure.sh and width.sh.

method_cores()
{
	cat <<-METHOD
		$millions million random fingerprints, a tenth of them 1 to 6 bits of each word of 64 from another.
		All data and all that is made of it is in memory, work_mem = 4GB. The statements take turns, and
		have found the same by any number of processes; times are medians of 3, single above 15 s. Pairs are
		those of simhash_pairs() in the SELECT list.
	METHOD
}

# self_joined K: counted in pairs of two rows
self_joined()
{
	printf 'SELECT count(*) FROM plain a JOIN plain b ON a.fp <-> b.fp <= %s AND a.id < b.id' "$1"
}

# paired TABLE K: without a tuplestore of them
paired()
{
	printf "SELECT count(*) FROM (SELECT simhash_pairs('SELECT id, fp FROM %s', %s)) s" "$1" "$2"
}

bench_cores()
{
	local count settings

	load_widths
	for count in 1 2 4 8 16; do
		[ "$count" -le "$(nproc)" ] || continue
		start_column "$count"
		settings="-c max_parallel_workers_per_gather=$((count - 1)) -c max_parallel_workers=16 -c work_mem=4GB"
		turns 'By so many processes' 'self-join, k = 3, s' "$(self_joined 3)" 'self-join, k = 8, s' "$(self_joined 8)" \
			'pairs, k = 8, s' "$(paired plain 8)" '128 bits: pairs, k = 16, s' "$(paired wide 16)" \
			'128 bits: pairs, k = 20, s' "$(paired wide 20)" '128 bits: pairs, k = 24, s' "$(paired wide 24)"
	done
}
