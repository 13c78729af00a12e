# The access method hamming against lookups of a primary key, sequential scans,
# four B-trees, covering ones, and GiST.  Sourced by script/bench, which lists
# the variables that they share.
#
# Everything is measured twice, on random fingerprints (uniform.sql) and on
# those of texts with many copies (skewed.sql).  The baselines must find the
# same rows.

inserts=20000           # rows of a loop of single INSERTs
copies=100000           # rows of a COPY
repeats=3               # of these, and of a build of at most 2 million rows
notes=()
crossover=()
one_process='SET max_parallel_maintenance_workers = 0'
serial='-c max_parallel_workers_per_gather=0'
by_index="$serial -c enable_seqscan=off"
by_scan="$serial -c enable_indexscan=off -c enable_bitmapscan=off"

# Milliseconds that the statements take, in $ms.  The first argument is for
# what comes before, and is not timed.
time_sql()
{
	local before=$1 statement arguments=()

	shift
	for statement; do
		arguments+=(-c "$statement")
	done
	ms=$(sql ${before:+-c "$before"} -c '\timing on' "${arguments[@]}" |
		times | awk '{ s += $1 } END { print s }')
}

load()
{
	say "$column million rows: loading"
	generate "$1" "$more"
	sql -v rows="$rows" -f "$root/bench/tables.sql"
	sql -c 'SELECT fp FROM queries ORDER BY n' >"$work/fps"
	sql -c 'SELECT id FROM queries ORDER BY n' >"$work/ids"
	head -n "$few" "$work/fps" >"$work/few"
	sql -c "SELECT fp FROM queries WHERE n % 2 = 1 ORDER BY n LIMIT $few" \
		>"$work/far"
}

# measure SETTINGS VALUES STATEMENT: the median in $us, the rows in $found,
# their sum in $sum
measure()
{
	read -r us found sum < <(PGOPTIONS=$1 taskset -c "$cpu" \
		"$work/latency" "$3" <"$work/$2")
}

# as measure, where the rows must have the sum of before, $4
measure_same()
{
	measure "$1" "$2" "$3"
	[ "$sum" = "$4" ] || fail "$column: other rows ($found) from: $3"
}

within()
{
	printf 'SELECT id FROM %s WHERE fp <-> $1 <= %s' "$1" "$2"
}

in_blocks()
{
	printf '(%s & 65535)::int' "(\$1::simhash64)::bigint >> $1"
}

four_btrees()
{
	printf 'SELECT id FROM blocks WHERE (b0 = %s OR b1 = %s OR b2 = %s OR b3 = %s)
		AND fp <-> $1 <= 3' "$(in_blocks 0)" "$(in_blocks 16)" \
		"$(in_blocks 32)" "$(in_blocks 48)"
}

covering()
{
	local block statement=

	for block in 0 1 2 3; do
		statement+=${statement:+ UNION }"SELECT id FROM blocks
			WHERE b$block = $(in_blocks $((16 * block))) AND fp <-> \$1 <= 3"
	done
	printf '%s' "$statement"
}

# Note where the plan for a parameter has not the named node.
expect_plan()
{
	local settings=$1 statement=$2 node=$3 what=$4 plan value

	value=$(tail -n 1 "$work/fps")
	plan=$(PGOPTIONS=$settings sql -c "PREPARE q AS $statement" \
		-c "EXPLAIN (COSTS OFF) EXECUTE q('$value')")
	if ! grep -q "$node" <<<"$plan"; then
		notes+=("$column M rows, $what: the plan was $(head -n 1 <<<"$plan"), without $node")
		say "    ${notes[-1]}"
	fi
}

build_once()
{
	local block create=()

	sql -c CHECKPOINT
	time_sql "$one_process" 'CREATE INDEX plain_fp ON plain USING hamming (fp)'
	hamming+=("$ms")
	for block in 0 1 2 3; do
		create+=("CREATE INDEX blocks_b$block ON blocks (b$block)")
	done
	sql -c CHECKPOINT
	time_sql "$one_process" "${create[@]}"
	btrees+=("$ms")
}

bytes_a_row()
{
	sql -c "SELECT round(sum(pg_relation_size(indexrelid))::numeric / $rows, 1)
		FROM pg_index WHERE indexrelid::regclass::text LIKE '$1'"
}

build_indexes()
{
	local hamming=() btrees=() builds=1

	if [ "$rows" -le 2000000 ]; then
		builds=$repeats
	fi
	while [ "$builds" -gt ${#hamming[@]} ]; do
		if [ ${#hamming[@]} -gt 0 ]; then
			sql -c 'DROP INDEX plain_fp, blocks_b0, blocks_b1, blocks_b2, blocks_b3'
		fi
		build_once
	done
	sql -c 'VACUUM ANALYZE plain, blocks' -c CHECKPOINT
	put build_s "$(calculate "$(median "${hamming[@]}") / 1000")"
	put build_btrees_s "$(calculate "$(median "${btrees[@]}") / 1000")"
	put build "$(calculate "$(get build_s) / $(get build_btrees_s)")"
	put size "$(bytes_a_row plain_fp)"
	put size_btrees "$(bytes_a_row blocks_b_)"
}

# Lookups by the primary key and by the index take turns.
lookup()
{
	local k=$1 key=() index=() round

	for round in 1 2 3; do
		measure '' ids 'SELECT fp FROM plain WHERE id = $1'
		key+=("$us")
		measure "$by_index" fps "$(within plain "$k")"
		index+=("$us")
	done
	put "key_us" "$(median "${key[@]}")"
	put "k${k}_us" "$(median "${index[@]}")"
	put "k${k}_rows" "$found"
	put "k$k" "$(calculate "$(get "k${k}_us") / $(get key_us)")"
	expect_plan '' "$(within plain "$k")" plain_fp "k = $k"
}

lookups()
{
	pin
	measure '' fps 'SELECT 1 WHERE $1::text IS NULL'
	put empty_us "$us"
	for k in 6 8 10 3; do
		lookup "$k"
	done
	all_sum=$sum
	measure_same '' fps "$(four_btrees)" "$all_sum"
	put btrees_us "$us"
	expect_plan '' "$(four_btrees)" BitmapOr 'four B-trees'
	measure "$by_index" few "$(within plain 3)"
	few_sum=$sum
	measure_same "$by_scan" few "$(within plain 3)" "$few_sum"
	put scan_us "$us"
	measure "$by_index" far "SELECT fp <-> \$1 FROM plain ORDER BY fp <-> \$1 LIMIT 10"
	put nearest_us "$us"
	measure_same "$by_scan" far \
		"SELECT fp <-> \$1 FROM plain ORDER BY fp <-> \$1 LIMIT 10" "$sum"
	put nearest_scan_us "$us"
	put nearest "1/$(calculate "$us / $(get nearest_us)" %.0f)"
	unpin
}

# The indexes that are here only to be compared with, one at a time.
others()
{
	local block create=()

	for block in 0 1 2 3; do
		create+=("CREATE INDEX blocks_cover$block ON blocks (b$block) INCLUDE (id, fp)")
	done
	time_sql "$one_process" "${create[@]}"
	put build_covering_s "$(calculate "$ms / 1000")"
	put size_covering "$(bytes_a_row blocks_cover%)"
	pin
	measure_same '' fps "$(covering)" "$all_sum"
	put covering_us "$us"
	expect_plan '' "$(covering)" 'Index Only Scan' covering
	unpin
	sql -c 'DROP INDEX blocks_cover0, blocks_cover1, blocks_cover2, blocks_cover3'
	time_sql "$one_process" 'CREATE INDEX blocks_gist ON blocks USING gist (fp)'
	put build_gist_s "$(calculate "$ms / 1000")"
	put size_gist "$(bytes_a_row blocks_gist)"
	pin
	measure_same "$by_index" few "$(within blocks 3)" "$few_sum"
	put gist_us "$us"
	expect_plan "$by_index" "$(within blocks 3)" blocks_gist GiST
	unpin
	sql -c 'DROP INDEX blocks_gist'
}

# Every row with its near-duplicates.
join_rows()
{
	local outer=$rows pairs statement

	if [ "$data" = skewed ]; then
		outer=$((rows / 20))    # there are about a hundred pairs a row
	elif [ "$outer" -gt 1000000 ]; then
		outer=1000000
	fi
	statement="SELECT count(*) FROM plain a JOIN plain b ON a.fp <-> b.fp <= 3
		WHERE a.id <= $outer"
	pin
	pairs=$(sql -c "$statement")
	time_sql "SET max_parallel_workers_per_gather = 0" "$statement"
	unpin
	put join "$(calculate "1000 * $ms / $outer")"
	put join_rows "$(calculate "$pairs / $outer" %.1f)"
	sql -c "EXPLAIN (COSTS OFF) $statement" | grep -q plain_fp ||
		notes+=("$column M rows, join: not by the index")
}

# write_rows TABLE FULL_PAGE_WRITES: per row, microseconds of a COPY in $us
# and bytes of WAL in $wal.  Advances $next and $id.
write_rows()
{
	local before

	sql -c "COPY (SELECT id - $next + $id, fp FROM more WHERE id > $next
		AND id <= $next + $copies) TO '$work/rows'" \
		-c "ALTER SYSTEM SET full_page_writes = $2" \
		-c 'SELECT pg_reload_conf()' >/dev/null
	sleep 0.2
	sql -c CHECKPOINT
	before=$(sql -c 'SELECT pg_current_wal_insert_lsn()')
	time_sql '' "COPY $1 (id, fp) FROM '$work/rows'"
	wal=$(sql -c "SELECT (pg_current_wal_insert_lsn() - '$before') / $copies.0")
	us=$(calculate "1000 * $ms / $copies")
	next=$((next + copies))
	id=$((id + copies))
}

# One INSERT a row, in a loop of PL/pgSQL: microseconds a row in $us.
insert_rows()
{
	time_sql "CREATE TEMP TABLE slice AS SELECT id - $next + $id AS id, fp
		FROM more WHERE id > $next AND id <= $next + $inserts" \
		"DO \$\$ DECLARE r record; BEGIN FOR r IN SELECT * FROM slice LOOP
			INSERT INTO $1 (id, fp) VALUES (r.id, r.fp); END LOOP; END \$\$"
	us=$(calculate "1000 * $ms / $inserts")
	next=$((next + inserts))
	id=$((id + inserts))
}

# write_costs TABLE ROW: all of it, for a table as it is
write_costs()
{
	local next=0 inserted=() copied=() wals=() round

	for ((round = 0; round < repeats; round++)); do
		insert_rows "$1"
		inserted+=("$us")
		write_rows "$1" off
		copied+=("$us")
		wals+=("$wal")
	done
	result["insert_$2 $column"]=$(median "${inserted[@]}")
	result["copy_$2 $column"]=$(median "${copied[@]}")
	result["wal_$2 $column"]=$(median "${wals[@]}")
	write_rows "$1" on
	result["walfull_$2 $column"]=$wal
}

writes()
{
	local id=$rows kind ours theirs

	write_costs plain hamming
	write_costs blocks btrees
	sql -c 'DROP INDEX plain_fp, blocks_b0, blocks_b1, blocks_b2, blocks_b3'
	write_costs plain none
	write_costs blocks blocks
	for kind in insert copy wal walfull; do
		ours=$(calculate "$(get ${kind}_hamming) - $(get ${kind}_none)")
		theirs=$(calculate "$(get ${kind}_btrees) - $(get ${kind}_blocks)")
		put "${kind}_extra" "$ours"
		put "${kind}_btrees_extra" "$theirs"
		put "$kind" "$(calculate "$ours / $theirs")"
	done
}

# What the planner chooses for large radii, and what it should.
crossover()
{
	local k statement chosen plan index

	pin
	head -n 3 "$work/far" >"$work/three"
	for k in 3 6 8 10 12 14 16 18 20 22 24 26 28 30 32 34; do
		statement="SELECT count(id) FROM plain WHERE fp <-> \$1 <= $k"
		plan=Sequential
		if sql -c "SET max_parallel_workers_per_gather = 0" \
			-c "EXPLAIN ${statement/\$1/"'$(head -n 1 "$work/far")'"}" |
			grep -q plain_fp; then
			plan=Index
		fi
		measure "$serial" three "$statement"
		chosen=$us
		measure_same "$by_index" three "$statement" "$sum"
		index=$us
		measure_same "$by_scan" three "$statement" "$sum"
		crossover+=("| $k | $plan | $(calculate "$chosen / 1000") | $(
			calculate "$index / 1000") | $(calculate "$us / 1000") |")
		say "    ${crossover[-1]}"
	done
	unpin
}

run()
{
	data=$1
	column="$1 $2"
	columns+=("$column")
	rows=$(calculate "$2 * 1000000" %.0f)
	[ "$rows" -ge 10000 ] || fail "$2 million rows are too few"
	more=$(((inserts + copies) * repeats + copies))
	few=20    # queries for what takes long
	if [ "$rows" -gt 2000000 ]; then
		few=6    # scans take a second each
	fi
	load "$data"
	build_indexes
	lookups
	if [ "$data" = uniform ] && [ ${#crossover[@]} -eq 0 ]; then
		crossover_rows=$2
		crossover
	fi
	join_rows
	others
	writes
}

print_method()
{
	cat <<-METHOD
		Uniform: random fingerprints, a tenth of them 1 to 6 bits from another. Skewed: texts of 50
		words, most of them copies of others, exact or not. Times of lookups are medians of 1,000
		prepared statements (of scans and GiST 20, of 10 M rows 6), half of them with near neighbours, by one
		client on the processor of its backend, with all data in memory, seen twice. Ratios are to what
		the same run has measured on the same data, and all plans have found the same rows.

	METHOD
}

print_goals()
{
	table_head
	table_row 'lookup, k = 3 / primary key' '1.5 (1 M), 1.7 (10 M)' k3
	table_row 'lookup, k = 6 / primary key' '4, 6' k6
	table_row 'lookup, k = 8 / primary key' '10, 15' k8
	table_row 'lookup, k = 10 / primary key' '25, 40' k10
	table_row 'nearest 10, none near / sequential scan' '1/30' nearest
	table_row 'build / four B-trees' 1.0 build
	table_row 'size, bytes a row' 66 size
	table_row 'INSERT of a row, extra time / four B-trees' 2 insert
	table_row 'COPY, extra time / four B-trees' 2 copy
	table_row 'WAL, full_page_writes = off / four B-trees' '' wal
	table_row 'WAL, full_page_writes = on / four B-trees' '' walfull
	table_row 'join, k = 3, µs a probe' '6, 8' join
	table_row 'join, rows found a probe' '' join_rows
	say
}

print_details()
{
	say '## Lookups, µs'
	say
	table_head
	table_row 'empty round trip' '' empty_us
	table_row 'primary key' '' key_us
	table_row 'hamming, k = 3' '' k3_us
	table_row 'hamming, k = 6' '' k6_us
	table_row 'hamming, k = 8' '' k8_us
	table_row 'hamming, k = 10' '' k10_us
	table_row 'four B-trees, k = 3' '' btrees_us
	table_row 'four covering B-trees, k = 3' '' covering_us
	table_row 'GiST, k = 3' '' gist_us
	table_row 'sequential scan, k = 3' '' scan_us
	table_row 'hamming, nearest 10' '' nearest_us
	table_row 'sequential scan and sort, nearest 10' '' nearest_scan_us
	table_row 'rows within 3 of the 1,000' '' k3_rows
	say
	say '## Builds and sizes'
	say
	say 'Without parallel workers, maintenance_work_mem = 256MB. Seconds, and bytes a row.'
	say
	table_head
	table_row 'build: hamming' '' build_s
	table_row 'build: four B-trees' '' build_btrees_s
	table_row 'build: covering' '' build_covering_s
	table_row 'build: GiST' '' build_gist_s
	table_row 'size: hamming' '' size
	table_row 'size: four B-trees' '' size_btrees
	table_row 'size: covering' '' size_covering
	table_row 'size: GiST' '' size_gist
	say
}

print_writes()
{
	say '## Writes'
	say
	say "What the index adds to $inserts INSERTs in a loop of PL/pgSQL and to a COPY of $copies"
	say 'rows: µs, and bytes of WAL, a row. Medians of 3; full_page_writes = on was measured once.'
	say
	table_head
	table_row 'INSERT: hamming' '' insert_extra
	table_row 'INSERT: four B-trees' '' insert_btrees_extra
	table_row 'INSERT: table and primary key' '' insert_none
	table_row 'COPY: hamming' '' copy_extra
	table_row 'COPY: four B-trees' '' copy_btrees_extra
	table_row 'COPY: table and primary key' '' copy_none
	table_row 'WAL: hamming' '' wal_extra
	table_row 'WAL: four B-trees' '' wal_btrees_extra
	table_row 'WAL with full pages: hamming' '' walfull_extra
	table_row 'WAL with full pages: four B-trees' '' walfull_btrees_extra
	say
}

print_plans()
{
	say "## Where the planner leaves the index: uniform, $crossover_rows M, ms"
	say
	say '| k | planned | as planned | index | sequential |'
	say '|--:|---|--:|--:|--:|'
	printf '%s\n' "${crossover[@]}"
	if [ ${#notes[@]} -gt 0 ]; then
		say
		say '## Plans that were not as expected'
		say
		printf -- '- %s\n' "${notes[@]}"
	fi
}

bench_index()
{
	local millions

	columns=()
	result=()
	gcc -O2 -I"$("$(find_pg_config)" --includedir)" -o "$work/latency" \
		"$root/bench/latency.c" -L"$("$bindir/pg_config" --libdir)" -lpq
	for millions; do
		for data in uniform skewed; do
			run "$data" "$millions"
		done
	done
	{
		print_machine index
		print_method
		print_goals
		print_details
		print_writes
		print_plans
	} | tee "$work/results"
	keep_results index
}
