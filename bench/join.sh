# The join method HammingJoin against a hash join, the hamming index and
# hand-written SQL.  Sourced by script/bench, which lists the variables that
# they share; measures by the functions of cluster.sh.
#
# On random fingerprints (uniform.sql), on those of made-up texts with many
# copies (skewed.sql), and of package descriptions (real.sql).  Nothing but
# what names the hamming index is measured with an index.

crossings=()            # "STATEMENT COLUMN"
by_join='-c enable_nestloop=off'
not_by_join='-c simhash.enable_hammingjoin=off'
by_hash='-c enable_mergejoin=off'

# What is measured under several settings of the server.
options[hash]=$by_hash
options[wide_hash]=$by_hash
for memory in 4MB 1GB; do
	for name in self self_k8 copies pairs wide_self; do
		options[${name}_$memory]="-c work_mem=$memory"
	done
	for name in hash wide_hash; do
		options[${name}_$memory]="$by_hash -c work_mem=$memory"
	done
done

near='a.fp <-> b.fp <= 3'
self="SELECT count(*) FROM docs a JOIN docs b ON $near"
equal='SELECT count(*) FROM docs a JOIN docs b ON a.fp = b.fp'
near_pairs="(SELECT a.id AS a, b.id AS b, a.fp <-> b.fp AS distance
	FROM docs a JOIN docs b ON $near AND a.id < b.id) s"
copied="SELECT count(*), sum(id) FROM docs a
	WHERE EXISTS (SELECT FROM docs b WHERE $near AND a.id <> b.id)"
firsts="SELECT count(*), sum(id) FROM docs a
	WHERE NOT EXISTS (SELECT FROM docs b WHERE $near AND a.id > b.id)"
new='SELECT count(*), sum(id) FROM batch
	WHERE NOT EXISTS (SELECT FROM docs WHERE docs.fp <-> batch.fp <= 3)'
matches='SELECT count(*), sum(docs.id) FROM batch JOIN docs ON docs.fp <-> batch.fp <= 3'
limited="SELECT count(*) FROM (SELECT FROM docs a JOIN docs b ON $near AND a.id <> b.id LIMIT"
delete="WITH gone AS (DELETE FROM docs a USING docs b WHERE $near AND a.id > b.id RETURNING a.id)
	SELECT count(*), sum(id) FROM gone"
delete_exists="WITH gone AS (DELETE FROM docs a
		WHERE EXISTS (SELECT FROM docs b WHERE $near AND a.id > b.id) RETURNING a.id)
	SELECT count(*), sum(id) FROM gone"
insert='WITH come AS (INSERT INTO docs SELECT * FROM batch
		WHERE NOT EXISTS (SELECT FROM docs WHERE docs.fp <-> batch.fp <= 3) RETURNING id)
	SELECT count(*), sum(id) FROM come'

# plan NAME STATEMENT
plan()
{
	PGOPTIONS=$(settings "$1") sql -c "EXPLAIN $2"
}

# compare NODE NAME STATEMENT [NODE NAME STATEMENT]...: in turns.  A note tells
# where a plan has not the node.
compare()
{
	local arguments=()

	while [ $# -gt 0 ]; do
		[[ $(plan "$2" "$3") = *"$1"* ]] ||
			note "${column/ /, } M rows, $2: the plan was without $1"
		arguments+=("$2" "$3")
		shift 3
	done
	turns "${arguments[@]}"
}

# The most of all columns of both sides.
widest()
{
	local side c

	for side in a b; do
		for c in c1 c2 c3 c4; do
			printf 'max(%s.%s), ' "$side" "$c"
		done
	done
}

# Four more columns of 100 bytes, which do not get shorter when they are stored.
measure_wide()
{
	local statement scanned=wide

	statement="SELECT $(widest) count(*) FROM wide a JOIN wide b ON"
	sql -c "CREATE UNLOGGED TABLE wide AS
			SELECT id, fp, left(h || md5(h) || md5(h || 1) || md5(h || 2), 100) AS c1,
				left(md5(h || 3) || h || md5(h || 4) || md5(h || 5), 100) AS c2,
				left(md5(h || 6) || md5(h || 7) || h || md5(h || 8), 100) AS c3,
				right(md5(h || 9) || md5(h || 10) || md5(h || 11) || h, 100) AS c4
			FROM docs, md5(id::text) h" -c 'VACUUM ANALYZE wide'
	compare HammingJoin wide_self "$statement $near" \
		'Hash Join' wide_hash "$statement a.fp = b.fp" \
		HammingJoin wide_self_4MB "$statement $near" \
		HammingJoin wide_self_1GB "$statement $near" \
		'Hash Join' wide_hash_4MB "$statement a.fp = b.fp" \
		'Hash Join' wide_hash_1GB "$statement a.fp = b.fp"
	sql -c 'DROP TABLE wide'
	same wide_self_4MB wide_self
	same wide_self_1GB wide_self
	ratio wide_self_hash wide_self wide_hash
	ratio wide_1GB_hash wide_self_1GB wide_hash_1GB
	ratio wide_self_memory wide_self_4MB wide_self_1GB
	ratio wide_hash_memory wide_hash_4MB wide_hash_1GB
	megabytes wide_self wide_self_4MB wide_self_1GB wide_hash wide_hash_4MB wide_hash_1GB
}

# megabytes NAME...: by which the statements have raised their backends' memory
megabytes()
{
	local name

	for name; do
		[ -z "$(get "${name}_grown")" ] ||
			put "${name}_MB" "$(calculate "$(get "${name}_grown") / 1024" %.0f)"
	done
}

# Where rows are huge in number, what is within 8 takes an hour.
measure_huge()
{
	compare HammingJoin self_1GB "$self" 'Hash Join' hash_1GB "$equal" \
		HammingJoin copies_1GB "$copied"
	ratio self_1GB_hash self_1GB hash_1GB
	batch=100000
	create_batch
	turns new_100000_join "$new"
}

measure_self()
{
	compare HammingJoin self "$self" 'Hash Join' hash "$equal" \
		HammingJoin self_k8 "${self/3/8}" HammingJoin self_k8_1GB "${self/3/8}" \
		HammingJoin self_4MB "$self" HammingJoin self_1GB "$self" \
		'Hash Join' hash_4MB "$equal" 'Hash Join' hash_1GB "$equal"
	same self_4MB self
	same self_1GB self
	same self_k8_1GB self_k8
	ratio self_hash self hash
	ratio self_1GB_hash self_1GB hash_1GB
	ratio k8_k3 self_k8 self
	ratio self_memory self_4MB self_1GB
	ratio hash_memory hash_4MB hash_1GB
	compare HammingJoin copies_4MB "$copied" HammingJoin copies_1GB "$copied"
	same copies_4MB copies
	same copies_1GB copies
	ratio copies_memory copies_4MB copies_1GB
	megabytes copies copies_4MB copies_1GB
	megabytes self self_4MB self_1GB self_k8 hash hash_4MB hash_1GB
}

# The estimated cost of the whole statement.
cost()
{
	plan "$1" "$2" | sed -n '1s/.*\.\.\([0-9]*\).*/\1/p'
}

# What the planner takes where all is allowed.
choice()
{
	case $(plan - "$1") in
		*HammingJoin*) say join ;;
		*docs_fp_idx*) say index ;;
		*) say neither ;;
	esac
}

# cross NAME STATEMENT: by the hamming index, which must be there, and by the join
cross()
{
	local chosen best=index way

	options[$1_index]=$not_by_join
	options[$1_join]=$by_join
	compare docs_fp_idx "$1_index" "$2" HammingJoin "$1_join" "$2"
	same "$1_index" "$1_join"
	for way in index join; do
		put "$1_${way}_cost" "$(cost "$1_$way" "$2")"
	done
	chosen=$(choice "$2")
	put "$1_chosen" "$chosen"
	[ "$(calculate "$(get "$1_index_ms") < $(get "$1_join_ms")" %d)" -eq 1 ] || best=join
	put "$1_best" "$best"
	[ "$chosen" = neither ] || ratio "$1_lost" "$1_$chosen" "$1_$best"
	crossings+=("$1 $column")
}

# Where rows have thousands of copies, only what takes one of them at most.
measure_crossings()
{
	local batch most

	sql -c 'CREATE INDEX docs_fp_idx ON docs USING hamming (fp)'
	for batch in 10 100 1000 10000 100000 1000000; do
		[ "$kind" = small ] || [ "$batch" -eq 100000 ] || continue
		[ "$batch" -le 100000 ] || [ "$batch" -le "$rows" ] || continue
		say "    a batch of $batch"
		create_batch
		cross "new_$batch" "$new"
		[[ $column != uniform* ]] || cross "found_$batch" "$matches"
	done
	ratio new_by_index new_100000_join new_100000_index
	if [[ $column = uniform* ]] && [ "$kind" = small ]; then
		cross "self_$rows" "$self"
		for most in 10 1000 100000; do
			cross "limit_$most" "$limited $most) s"
		done
	fi
	sql -c 'DROP INDEX docs_fp_idx'
}

# Statements that name no function.  What is deleted and inserted leaves dead
# rows.
measure_literal()
{
	local rounds=3 batch=100000 statement

	statement=$(summed "$near_pairs")
	create_batch
	if [ "$kind" = small ] || [[ $column = uniform* ]]; then
		compare HammingJoin pairs "$statement" HammingJoin pairs_4MB "$statement" \
			HammingJoin pairs_1GB "$statement"
		same pairs_4MB pairs
		same pairs_1GB pairs
		compare HammingJoin delete "$delete"
	fi
	compare HammingJoin delete_exists "$delete_exists"
	[ -z "$(get delete_s)" ] || same delete delete_exists
	compare HammingJoin insert "$insert"
}

# measure_join DATA
measure_join()
{
	local limit=$limit batch

	load_data "$1"
	pin
	if [ "$kind" = huge ]; then
		limit=$huge_limit
		measure_huge
		unpin
		return
	fi
	compare HammingJoin copies "$copied" HammingJoin firsts "$firsts"
	ratio copies_uniform copies copies "uniform $millions"
	ratio firsts_uniform firsts firsts "uniform $millions"
	if [ "$1" = uniform ]; then
		measure_self
		[ "$kind" != small ] || measure_wide
	fi
	measure_crossings
	measure_literal
	if [ "$1" = uniform ] && [ "$kind" = small ]; then
		by_hand pairs pairs_1GB
	fi
	unpin
}

print_join_method()
{
	print_data
	cat <<-METHOD
		A statement runs in a session of its own, on one processor without parallel workers, with all
		data in memory, and work_mem = $work_mem unless another is named. Times are medians of $rounds,
		of 3 above 4 s, and single ones above 15 s; what took longer than $limit s,
		or $huge_limit s with more than 20 M rows, was cancelled. Data
		that is not uniform, wide rows, statements by hand and most batches were measured with up to
		2 M rows only.
		Ratios are to what the same run has measured. Equal statements have found the same rows, and
		each plan has been looked at. The table docs has no index, but where the hamming index is
		named. k is 3 unless another is named, and the self-join is

		    $self

		The hash join is the same with a.fp = b.fp. By hand: the pairs that hash joins on blocks have
		found, with work_mem = 1GB, on a table that already has the blocks as columns.
	METHOD
}

print_join_summary()
{
	say
	table_head
	table_row 'self-join / hash join' self_hash
	table_row 'the same, with four columns of 100 bytes of each side' \
		wide_self_hash
	table_row 'k = 8 / k = 3' k8_k3
	table_row 'NOT EXISTS, batch of 100,000 / the same by the hamming index' \
		new_by_index
	table_row 'best SQL by hand / the pairs' hand_pairs
	table_row 'the same, both with work_mem = 1GB' hand_pairs_1GB
	table_row 'self-join, work_mem = 4MB / 1GB' self_memory
	table_row 'semi join, work_mem = 4MB / 1GB' copies_memory
	table_row 'semi join / uniform' copies_uniform
	table_row 'anti join / uniform' firsts_uniform
}

print_join_times()
{
	say
	say '## Times, s'
	say
	table_head
	table_row 'self-join' self_s
	table_row 'hash join' hash_s
	table_row 'self-join, k = 8' self_k8_s
	table_row 'self-join, k = 8, work_mem = 1GB' self_k8_1GB_s
	table_row 'self-join, work_mem = 4MB' self_4MB_s
	table_row 'self-join, work_mem = 1GB' self_1GB_s
	table_row 'hash join, work_mem = 4MB' hash_4MB_s
	table_row 'hash join, work_mem = 1GB' hash_1GB_s
	table_row 'self-join / hash join, work_mem = 1GB' self_1GB_hash
	table_row 'hash join, work_mem = 4MB / 1GB' hash_memory
	table_row 'self-join, wide rows' wide_self_s
	table_row 'hash join, wide rows' wide_hash_s
	table_row 'self-join, wide rows, work_mem = 4MB' wide_self_4MB_s
	table_row 'self-join, wide rows, work_mem = 1GB' wide_self_1GB_s
	table_row 'hash join, wide rows, work_mem = 4MB' wide_hash_4MB_s
	table_row 'hash join, wide rows, work_mem = 1GB' wide_hash_1GB_s
	table_row 'self-join / hash join, wide rows, work_mem = 1GB' wide_1GB_hash
	table_row 'self-join, wide rows, work_mem = 4MB / 1GB' wide_self_memory
	table_row 'hash join, wide rows, work_mem = 4MB / 1GB' wide_hash_memory
	table_row 'EXISTS a copy (semi join)' copies_s
	table_row 'EXISTS a copy, work_mem = 4MB' copies_4MB_s
	table_row 'EXISTS a copy, work_mem = 1GB' copies_1GB_s
	table_row 'NOT EXISTS an earlier copy (anti join)' firsts_s
	table_row 'NOT EXISTS, batch of 100,000' new_100000_join_s
	table_row 'NOT EXISTS, batch of 100,000, by the hamming index' new_100000_index_s
	table_row 'by hand: UNION of 4 joins on blocks of 16 bits' blocks_s
	table_row 'by hand: DISTINCT of one join on (block, value)' numbered_s
	table_row 'by hand: UNION of 10 joins on 2 of 5 blocks' keys_s
}

print_literal()
{
	say
	say '## Literally, s and rows'
	say
	say 'What is deleted or inserted is counted by RETURNING, and rolled back; the table is unlogged.'
	say
	say '    SELECT a.id, b.id FROM docs a JOIN docs b ON a.fp <-> b.fp <= 3 AND a.id < b.id'
	say '    DELETE FROM docs a USING docs b WHERE a.fp <-> b.fp <= 3 AND a.id > b.id'
	say '    DELETE FROM docs a WHERE EXISTS (SELECT FROM docs b WHERE a.fp <-> b.fp <= 3 AND a.id > b.id)'
	say '    INSERT INTO docs SELECT * FROM batch'
	say '        WHERE NOT EXISTS (SELECT FROM docs WHERE docs.fp <-> batch.fp <= 3)'
	say
	table_head
	table_row 'SELECT, s' pairs_s
	table_row 'SELECT, work_mem = 4MB, s' pairs_4MB_s
	table_row 'SELECT, work_mem = 1GB, s' pairs_1GB_s
	table_row 'DELETE USING, s' delete_s
	table_row 'DELETE WHERE EXISTS, s' delete_exists_s
	table_row 'INSERT of a batch of 100,000, s' insert_s
	table_row 'SELECT, rows and their sum' pairs_answer
	table_row 'DELETE, rows and their sum' delete_exists_answer
	table_row 'INSERT, rows and their sum' insert_answer
}

# What the first part of a crossing's name stands for.
crossed()
{
	case $1 in
		new_*) say 'batch, NOT EXISTS' ;;
		found_*) say 'batch, JOIN' ;;
		self_*) say self-join ;;
		limit_*) say 'self-join, LIMIT' ;;
	esac
}

print_crossings()
{
	local crossing name index join

	table 'By the hamming index, and by the join: where the planner errs' \
		'|---|---|--:|--:|--:|--:|--:|--:|--:|---|---|--:|' data statement rows \
		'index, ms' 'join, ms' 'index / join' 'index, cost' 'join, cost' 'index / join' \
		faster planned 'planned / faster'
	for crossing in "${crossings[@]}"; do
		read -r name column <<<"$crossing"
		index=${name}_index
		join=${name}_join
		row "${column/ /, } M" "$(crossed "$name")" "${name#*_}" \
			"$(get "${index}_ms")" "$(get "${join}_ms")" \
			"$(calculate "$(get "${index}_ms") / $(get "${join}_ms")")" \
			"$(get "${index}_cost")" "$(get "${join}_cost")" \
			"$(calculate "$(get "${index}_cost") / $(get "${join}_cost")")" \
			"$(get "${name}_best")" "$(get "${name}_chosen")" "$(get "${name}_lost")"
	done
	say
	say 'Each plan was forced; planned is what is chosen where nothing is. A session loads the library'
	say 'in its first statement, which is this one.'
}

print_join_memory()
{
	say
	say '## Memory'
	say
	say 'What the statement adds to the most that its backend has had (VmHWM), MB.'
	say
	table_head
	table_row 'self-join' self_MB
	table_row 'self-join, k = 8' self_k8_MB
	table_row 'hash join' hash_MB
	table_row 'self-join, work_mem = 4MB' self_4MB_MB
	table_row 'hash join, work_mem = 4MB' hash_4MB_MB
	table_row 'self-join, work_mem = 1GB' self_1GB_MB
	table_row 'hash join, work_mem = 1GB' hash_1GB_MB
	table_row 'EXISTS a copy' copies_MB
	table_row 'EXISTS a copy, work_mem = 4MB' copies_4MB_MB
	table_row 'EXISTS a copy, work_mem = 1GB' copies_1GB_MB
	table_row 'self-join, wide rows' wide_self_MB
	table_row 'hash join, wide rows' wide_hash_MB
	table_row 'self-join, wide rows, work_mem = 4MB' wide_self_4MB_MB
	table_row 'hash join, wide rows, work_mem = 4MB' wide_hash_4MB_MB
	table_row 'self-join, wide rows, work_mem = 1GB' wide_self_1GB_MB
	table_row 'hash join, wide rows, work_mem = 1GB' wide_hash_1GB_MB
}

bench_join()
{
	local millions data rounds=5 kind rows

	columns=()
	result=()
	notes=()
	crossings=()
	say 'Reading package descriptions'
	read_descriptions en >"$work/descriptions"
	for millions; do
		set_rows "$millions"
		measure_join uniform
		[ "$kind" = small ] || continue
		for data in skewed real; do
			measure_join "$data"
		done
	done
	{
		print_machine join
		print_join_method
		print_join_summary
		print_join_times
		print_literal
		print_crossings
		print_join_memory
		print_notes
	} | tee "$work/results"
	keep_results join
}
