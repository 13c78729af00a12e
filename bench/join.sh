# HammingJoin against a hash join and the hamming index, on random fingerprints
# (uniform.sql).  Sourced by script/bench, which lists the variables that they share;
# measures by the functions of cluster.sh.

new_rows='NOT EXISTS, batch of 100,000'
new='SELECT count(*), sum(id) FROM batch
	WHERE NOT EXISTS (SELECT FROM docs WHERE docs.fp <-> batch.fp <= 3)'

# self_join CONDITION
self_join()
{
	printf 'SELECT count(*) FROM docs a JOIN docs b ON %s' "$1"
}

# compare NODE NAME STATEMENT [NODE NAME STATEMENT]...: in turns.  A note tells
# where a plan has not the node.
compare()
{
	local arguments=() plan

	while [ $# -gt 0 ]; do
		plan=$(PGOPTIONS=$(settings "$2") sql -c "EXPLAIN $3")
		[[ $plan = *"$1"* ]] || note "${column/ /, } M rows, $2: the plan was without $1"
		arguments+=("$2" "$3")
		shift 3
	done
	turns 'Times, s' "${arguments[@]}"
}

# Where rows are huge in number, what is within 8 takes an hour.
measure_join()
{
	local limit=$limit batch=100000 near equal near8

	near=$(self_join 'a.fp <-> b.fp <= 3')
	near8=$(self_join 'a.fp <-> b.fp <= 8')
	equal=$(self_join 'a.fp = b.fp')
	[ "$kind" != huge ] || limit=$huge_limit
	load_data uniform
	create_batch
	pin
	compare HammingJoin 'self-join, work_mem = 1GB' "$near" 'Hash Join' 'hash join, work_mem = 1GB' "$equal" \
		HammingJoin "$new_rows" "$new"
	if [ "$kind" != huge ]; then
		compare HammingJoin 'self-join, work_mem = 4MB' "$near" HammingJoin 'self-join, k = 8' "$near8" \
			HammingJoin 'self-join, k = 8, work_mem = 1GB' "$near8"
		same 'self-join, work_mem = 4MB' 'self-join, work_mem = 1GB'
		same 'self-join, k = 8' 'self-join, k = 8, work_mem = 1GB'
		sql -c 'CREATE INDEX docs_fp_idx ON docs USING hamming (fp)'
		compare docs_fp_idx "$new_rows, by the hamming index" "$new"
		same "$new_rows, by the hamming index" "$new_rows"
	fi
	unpin
}

print_join()
{
	cat <<-METHOD
		Uniform: random fingerprints, a tenth of them 1 to 6 bits from another.

		A statement runs in a session of its own, on one processor without parallel workers, with all
		data in memory, and work_mem = $work_mem unless another is named. Times are medians of 5,
		of 3 above 4 s, and single ones above 15 s; what took longer than $limit s,
		or $huge_limit s with more than 20 M rows, was cancelled. Equal statements have found the same
		rows, and each plan has been looked at. The table docs has no index, but where the hamming
		index is named. k is 3 unless another is named, and the self-join is

		    $(self_join 'a.fp <-> b.fp <= 3')

		The hash join is the same with a.fp = b.fp.
	METHOD
	section 'Times, s' ''
}

bench_join()
{
	local millions rounds=5 kind

	options["$new_rows, by the hamming index"]='-c simhash.enable_hammingjoin=off'
	options['hash join, work_mem = 1GB']='-c enable_mergejoin=off'
	for millions; do
		set_rows "$millions"
		measure_join
	done
}
