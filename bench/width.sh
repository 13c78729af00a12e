# 128 bits against 64, in the same run.  Sourced by script/bench; measures by the functions
# of measure.sh and readme.sh.

longest=200             # seconds of all pairs

method_width()
{
	cat <<-METHOD
		Random fingerprints, a tenth of them 1 to 6 bits of each word of 64 from another. Each row has a
		fingerprint of either width, in a table of its own. All is measured by one client on the processor
		of its backend, without parallel workers and with all data in memory.

		Searches are medians of 1,000 prepared statements, seen twice, half of them with near neighbours;
		a sequential scan has found the same rows as the index. Clusters are medians of 3 that took turns,
		single above 15 s, with work_mem = 1GB. All pairs are those of simhash_pairs() in the SELECT list,
		once, with work_mem = 1GB; what takes over $longest s is stopped, and a larger k is not tried then.
	METHOD
}

# all_pairs TABLE BITS K...: in growing order
all_pairs()
{
	local k late=no ms

	for k in "${@:3}"; do
		if [ $late = no ] && ! ms=$(PGOPTIONS="$settings -c statement_timeout=${longest}s" sql \
			-c "SELECT count(fp IS NULL) FROM $1" -c '\timing on' \
			-c "SELECT count(*) FROM (SELECT simhash_pairs('SELECT id, fp FROM $1', $k)) s" 2>"$work/late" | times); then
			grep -q 'due to statement timeout' "$work/late" || fail "$(<"$work/late")"
			late=yes
		fi
		if [ $late = yes ]; then
			show 'All pairs, s' "$2 bits: k = $k" "> $longest"
		else
			show 'All pairs, s' "$2 bits: k = $k" "$(calculate "$ms / 1000")"
		fi
	done
}

# searches_of TABLE BITS K...: and whether a scan finds the same
searches_of()
{
	local k key

	create_queries "$1" "$2"
	for k in "${@:3}"; do
		lookup "$1" "$k"
		show 'Both widths' "$2 bits: search, k = $k, µs" "$us"
		measure "$by_index" few "$(within "$1" "$k")" "few of $1 within $k"
		measure "$by_scan" few "$(within "$1" "$k")" "few of $1 within $k"
	done
}

bench_width()
{
	local scanned='(SELECT fp IS NULL AS fp FROM plain UNION ALL SELECT fp IS NULL FROM wide) s'

	start_column "$millions million"
	load_widths
	pin
	turns 'Both widths' '64 bits: simhash_cluster, k = 8, s' "$(clusters 8 plain)" \
		'128 bits: simhash_cluster, k = 16, s' "$(clusters 16 wide)"
	all_pairs plain 64 6 8 10 11 14 18 22
	all_pairs wide 128 11 16 19 20 24 26 28 33 36 40
	time_build plain plain_fp 'hamming (fp)'
	time_build wide wide_fp 'hamming (fp)'
	sql -c 'VACUUM ANALYZE' -c CHECKPOINT
	show 'Both widths' '64 bits: index, bytes a row' "$(bytes_a_row plain_fp)"
	show 'Both widths' '128 bits: index, bytes a row' "$(bytes_a_row wide_fp)"
	searches_of plain 64 8
	searches_of wide 128 16 20 24
	unpin
}

# Both tables, in the order of the ids.
load_widths()
{
	generate 0 yes
	sql -c 'CREATE TABLE plain AS SELECT id, fp FROM generated' -c 'ALTER TABLE plain ADD PRIMARY KEY (id)' \
		-c 'CREATE TABLE wide AS SELECT id, wide AS fp FROM generated' -c 'ALTER TABLE wide ADD PRIMARY KEY (id)' \
		-c 'DROP TABLE generated' -c 'VACUUM ANALYZE' -c CHECKPOINT
}
