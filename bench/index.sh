# The access method hamming against lookups of a primary key, sequential scans,
# four B-trees, covering ones, and GiST.  Sourced by script/bench, which lists
# the variables that they share.
#
# Up to 2 million rows everything is measured twice, on random fingerprints
# (uniform.sql) and on those of texts with many copies (skewed.sql).  All
# that is compared must find the same rows.

inserts=20000           # rows of a loop of single INSERTs
copies=100000           # rows of a COPY
repeats=3               # of these
cold_rounds=4           # of queries of which little is in memory
cold_queries=20         # of a round
cold_from=10000000      # rows: all of the index but a little is on disk
living_rounds=5         # of lookups
guarded_rounds=9        # of what an exclusion constraint costs
guarded_rows=4000       # of a loop, of which a round has 5
guarded_drawn=210000    # of which enough are apart for all loops
crossover=()
states=('one by one' '5 % more' '20 % more' '100 % more' '1 % deleted' '20 % deleted' '50 % deleted'
	'a queue')
declare -A sums=()      # of the rows that "COLUMN KEY" has found
one_process='SET max_parallel_maintenance_workers = 0'
one_worker='SET max_parallel_maintenance_workers = 1;
	ALTER TABLE plain SET (parallel_workers = 1)'
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

# What is huge is loaded by one process, which keeps it in order.
load()
{
	local huge=0 options=''

	say "$column million rows: loading"
	if [ "$kind" = huge ]; then
		options=$serial
		huge=1
	fi
	PGOPTIONS=$options generate "$1" "$more"
	sql -v rows="$rows" -v more="$more" -v huge="$huge" -f "$root/bench/tables.sql"
	write_values queries
}

# write_values TABLE: of its queries, the files that measure reads
write_values()
{
	sql -c "SELECT fp FROM $1 ORDER BY n" >"$work/fps"
	sql -c "SELECT id FROM $1 ORDER BY n" >"$work/ids"
	head -n "$few" "$work/fps" >"$work/few"
	head -n 100 "$work/fps" >"$work/hundred"
	sql -c "SELECT fp FROM $1 WHERE n % 2 = 1 ORDER BY n LIMIT $few" >"$work/far"
}

# The program by which measure times statements.
build_latency()
{
	gcc -O2 -I"$("$(find_pg_config)" --includedir)" -o "$work/latency" \
		"$root/bench/latency.c" -L"$("$bindir/pg_config" --libdir)" -lpq
}

# measure SETTINGS VALUES STATEMENT: the median in $us, the rows in $found,
# their sum in $sum
measure()
{
	read -r us found sum < <(PGOPTIONS=$1 taskset -c "$cpu" \
		"$work/latency" "$3" <"$work/$2")
}

# measure_same KEY SETTINGS VALUES STATEMENT: as measure, where all statements of
# a key must find the same rows
measure_same()
{
	measure "$2" "$3" "$4"
	: "${sums[$column $1]:=$sum}"
	[ "$sum" = "${sums[$column $1]}" ] ||
		fail "$column: other rows ($found) from: $4"
}

# explain SETTINGS VALUES STATEMENT: for each value, in a session, the pages that
# the innermost node has found in shared_buffers, those that it has read, and
# the milliseconds of the statement
explain()
{
	{
		printf 'PREPARE q(simhash64) AS %s;\n' "$3"
		sed "s/.*/EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) EXECUTE q('&');/" "$work/$2"
	} | PGOPTIONS="$1 -c plan_cache_mode=force_generic_plan" sql -f - | awk '
		/^ *Planning:/ { planning = 1 }
		/^ *Buffers:/ && !planning {
			hit = read = 0
			for (i = 2; i <= NF; i++) {
				if (sub(/^hit=/, "", $i)) hit = $i + 0
				if (sub(/^read=/, "", $i)) read = $i + 0
			}
		}
		/^ *Execution Time:/ { print hit, read, $3; planning = 0 }'
}

nearest='SELECT fp <-> $1 FROM plain ORDER BY fp <-> $1 LIMIT 10'

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

# expect_plan SETTINGS STATEMENT NODE WHAT [VALUES]: note where the plan for a
# parameter has not the named node
expect_plan()
{
	local settings=$1 statement=$2 node=$3 what=$4 plan value

	value=$(tail -n 1 "$work/${5:-fps}")
	plan=$(PGOPTIONS=$settings sql -c "PREPARE q AS $statement" \
		-c "EXPLAIN (COSTS OFF) EXECUTE q('$value')")
	if ! grep -q "$node" <<<"$plan"; then
		note "$column M rows, $what: the plan was $(head -n 1 <<<"$plan"), without $node"
	fi
}

# build_hamming TABLE SETTINGS [OPTIONS]: milliseconds in $ms
build_hamming()
{
	sql -c CHECKPOINT
	time_sql "$2" "CREATE INDEX $1_fp ON $1 USING hamming (fp) ${3:-}"
}

build_btrees()
{
	local block create=()

	for block in 0 1 2 3; do
		create+=("CREATE INDEX blocks_b$block ON blocks (b$block)")
	done
	sql -c CHECKPOINT
	time_sql "$one_process" "${create[@]}"
}

# One worker beside the leader, and none.
build_once()
{
	if [ "$kind" != huge ]; then
		build_hamming plain "$one_worker"
		parallel+=("$ms")
		sql -c 'ALTER TABLE plain RESET (parallel_workers)' -c 'DROP INDEX plain_fp'
	fi
	build_hamming plain "$one_process"
	hamming+=("$ms")
	[ "$kind" != huge ] || return 0
	build_btrees
	btrees+=("$ms")
}

bytes_a_row()
{
	sql -c "SELECT round(sum(pg_relation_size(indexrelid))::numeric / $rows, 1)
		FROM pg_index WHERE indexrelid::regclass::text LIKE '$1'"
}

build_indexes()
{
	local parallel=() hamming=() btrees=()

	while [ "$builds" -gt ${#hamming[@]} ]; do
		if [ ${#hamming[@]} -gt 0 ]; then
			sql -c 'DROP INDEX plain_fp, blocks_b0, blocks_b1, blocks_b2, blocks_b3'
		fi
		build_once
	done
	put build_s "$(calculate "$(median "${hamming[@]}") / 1000")"
	put size "$(bytes_a_row plain_fp)"
	put blocks "$(sql -c "SELECT blocks FROM hamming_index_stats('plain_fp')")"
	if [ "$kind" != huge ]; then
		put build_btrees_s "$(calculate "$(median "${btrees[@]}") / 1000")"
		put build "$(calculate "$(get build_s) / $(get build_btrees_s)")"
		put size_btrees "$(bytes_a_row blocks_b_)"
		put build_parallel_s "$(calculate "$(median "${parallel[@]}") / 1000")"
		put parallel "$(calculate "$(get build_parallel_s) / $(get build_s)")"
	fi
	sql -c 'VACUUM ANALYZE' -c CHECKPOINT
}

# lookup TABLE K NAME: lookups by the primary key and by the index take turns.
# Puts NAME, the median of the ratios, and NAME_us.
lookup()
{
	local table=$1 k=$2 name=$3 key=() index=() ratio=() round

	for round in 1 2 3; do
		measure '' ids "SELECT fp FROM $table WHERE id = \$1"
		key+=("$us")
		measure_same "$table within $k" "$by_index" fps "$(within "$table" "$k")"
		index+=("$us")
		ratio+=("$(calculate "$us / ${key[-1]}")")
	done
	put key_us "$(median "${key[@]}")"
	put "${name}_us" "$(median "${index[@]}")"
	put "${name}_rows" "$found"
	put "$name" "$(median "${ratio[@]}")"
	expect_plan '' "$(within "$table" "$k")" "${table}_fp" "$table, k = $k"
}

# How many pages of the index the queries of a radius look at, on average.
index_pages()
{
	explain "$by_index -c enable_indexscan=off" hundred "$(within plain "$1")" |
		awk '{ pages += $1 + $2 } END { printf "%.1f", pages / NR }'
}

# Size and lookups with each number of blocks.
block_counts()
{
	local counts=(3 4 6 8) blocks k name

	if [ "$kind" = huge ]; then
		counts=(3 4)
	fi
	for blocks in "${counts[@]}"; do
		build_hamming plain "$one_process" "WITH (blocks = $blocks)"
		put "blocks${blocks}_s" "$(calculate "$ms / 1000")"
		put "blocks${blocks}_size" "$(bytes_a_row plain_fp)"
		pin
		for k in 3 6 8 10; do
			name=blocks${blocks}_k$k
			lookup plain "$k" "$name"
			put "${name}_pages" "$(index_pages "$k")"
		done
		unpin
		sql -c 'DROP INDEX plain_fp'
	done
}

# cold_side K PAGES: a line for each value, as explain does, of queries that look
# so many pages ahead after nothing but the first value has been in memory
cold_side()
{
	restart
	sync
	say 3 >/proc/sys/vm/drop_caches
	explain "$by_index -c enable_bitmapscan=off -c effective_io_concurrency=$2" \
		cold "$(within plain "$1")" | sed 1d
}

# cold_result SIDE: the mean of its reads, and the median of its milliseconds
cold_result()
{
	local all

	put "$1_reads" "$(awk '{ reads += $2 } END { printf "%.0f", reads / NR }' "$work/$1")"
	mapfile -t all < <(cut -d ' ' -f 3 "$work/$1")
	put "$1_ms" "$(median "${all[@]}")"
}

# Queries while nothing is in memory, each once with looking ahead and once
# without.  Either is first as often: the second may find the pages in a cache
# that only the disk has.  In the end the system has all files in memory, as
# after a build.
cold()
{
	local k round side sides
	local -A ahead=([cold]=0 [ahead]=64)

	if [ ! -w /proc/sys/vm/drop_caches ]; then
		note "$column M rows, cold: not measured, as only root can empty the system's memory"
		return
	fi
	sql -c "ALTER SYSTEM SET shared_buffers = '128MB'"
	for k in 3 8; do
		rm -f "$work/cold_k$k" "$work/ahead_k$k"
		for ((round = 0; round < cold_rounds; round++)); do
			{
				tail -n 1 "$work/fps"
				sed -n "$((cold_queries * round + 1)),$((cold_queries * (round + 1)))p" \
					"$work/fps"
			} >"$work/cold"
			sides=(cold ahead)
			[ $((round % 2)) -eq 0 ] || sides=(ahead cold)
			for side in "${sides[@]}"; do
				cold_side "$k" "${ahead[$side]}" >>"$work/${side}_k$k"
			done
		done
		cold_result "cold_k$k"
		cold_result "ahead_k$k"
		put "ahead_k$k" "1/$(calculate "$(get "cold_k${k}_ms") / $(get "ahead_k${k}_ms")" %.1f)"
	done
	sql -c 'ALTER SYSTEM RESET shared_buffers'
	restart
	cat "$work"/data/base/*/* >/dev/null
}

lookups()
{
	pin
	measure '' fps 'SELECT 1 WHERE $1::text IS NULL'
	put empty_us "$us"
	for k in 6 8 10 3; do
		lookup plain "$k" "k$k"
	done
	if [ "$kind" != huge ]; then
		measure_same 'plain within 3' '' fps "$(four_btrees)"
		put btrees_us "$us"
		expect_plan '' "$(four_btrees)" BitmapOr 'four B-trees'
	fi
	measure_same few "$by_index" few "$(within plain 3)"
	measure_same few "$by_scan" few "$(within plain 3)"
	put scan_us "$us"
	measure_same nearest "$by_index" far "$nearest"
	put nearest_us "$us"
	measure_same nearest "$by_scan" far "$nearest"
	put nearest_scan_us "$us"
	put nearest "1/$(calculate "$us / $(get nearest_us)" %.0f)"
	unpin
}

# set_guarded COLUMNS: set columns of pg_index, of the index of guarded.  Without
# indisexclusion INSERTs do not check the constraint: so one table and its index
# are measured with and without, and need not be checked row by row before, as ADD
# CONSTRAINT does.  Without indisready INSERTs leave the index alone.
set_guarded()
{
	sql -c "UPDATE pg_index SET $1
		WHERE indexrelid = 'guarded_fp'::regclass"
}

# create_guarded TYPE FP K: tables of all rows of plain, fp made of theirs, with
# nothing else, with a unique B-tree, and with the constraint; rows to insert
# that are more than K from each other and from all of them
create_guarded()
{
	local table columns="id int PRIMARY KEY, fp $1, number bigint"
	local values="id, $2 AS fp, hashint8extended(id, 46) AS number"

	sql -c "CREATE TABLE bare ($columns)" -c "CREATE TABLE keyed ($columns)" \
		-c "CREATE TABLE guarded ($columns,
			CONSTRAINT guarded_fp EXCLUDE USING hamming (fp WITH %))"
	set_guarded 'indisexclusion = false, indisready = false'
	for table in bare keyed guarded; do
		sql -c "INSERT INTO $table SELECT $values FROM plain ORDER BY id"
	done
	sql -c 'ALTER TABLE keyed ADD UNIQUE (number)' -c 'REINDEX INDEX guarded_fp' \
		-c 'VACUUM ANALYZE bare, keyed, guarded' \
		-c "CREATE UNLOGGED TABLE drawn AS SELECT $values
			FROM (SELECT id + $rows AS id, fp FROM more ORDER BY id LIMIT $guarded_drawn) s" \
		-c 'ANALYZE drawn' \
		-c "CREATE UNLOGGED TABLE apart AS SELECT *, row_number() OVER () AS n
			FROM drawn a WHERE NOT EXISTS (SELECT FROM guarded b WHERE a.fp <-> b.fp <= $3)
			AND NOT EXISTS (SELECT FROM drawn b WHERE a.fp <-> b.fp <= $3 AND a.id <> b.id)" \
		-c CHECKPOINT
	sql -c 'SELECT fp FROM apart WHERE n = 1' >"$work/apart"
}

# each_apart STATEMENT: run it for rows r that were not inserted yet, in a loop of
# PL/pgSQL; microseconds a row in $us
each_apart()
{
	time_sql "SET plan_cache_mode = force_generic_plan;
		CREATE TEMP TABLE slice AS SELECT id, fp, number FROM apart
		WHERE n > $next AND n <= $next + $guarded_rows" \
		"DO \$\$ DECLARE r record; BEGIN FOR r IN SELECT * FROM slice LOOP
			$1; END LOOP; END \$\$"
	next=$((next + guarded_rows))
	us=$(calculate "1000 * $ms / $guarded_rows")
}

# constraint BITS TYPE FP K: what refusing near-duplicates adds to an INSERT.  A
# lookup, and INSERTs without and with the constraint, take turns.
constraint()
{
	local next=0 round bare=() keyed=() lookup=() index=() constraint=() ratio=()
	local insert='VALUES (r.id, r.fp, r.number)'

	create_guarded "$2" "$3" "$4"
	set_full_page_writes off
	pin
	for ((round = 0; round < guarded_rounds; round++)); do
		each_apart "INSERT INTO bare $insert"
		bare+=("$us")
		each_apart "INSERT INTO keyed $insert"
		keyed+=("$us")
		each_apart "PERFORM FROM guarded WHERE fp <-> r.fp <= $4"
		lookup+=("$us")
		each_apart "INSERT INTO guarded $insert"
		index+=("$us")
		set_guarded 'indisexclusion = true'
		each_apart "INSERT INTO guarded $insert"
		constraint+=("$us")
		set_guarded 'indisexclusion = false'
		ratio+=("$(calculate "${constraint[-1]} / (${lookup[-1]} + ${index[-1]})")")
	done
	unpin
	set_full_page_writes on
	expect_plan '' "$(within guarded "$4")" guarded_fp "constraint, $1 bits" apart
	put "guarded$1_bare_us" "$(median "${bare[@]}")"
	put "guarded$1_keyed_us" "$(median "${keyed[@]}")"
	put "guarded$1_lookup_us" "$(median "${lookup[@]}")"
	put "guarded$1_index_us" "$(median "${index[@]}")"
	put "guarded$1_us" "$(median "${constraint[@]}")"
	put "guarded$1" "$(median "${ratio[@]}")"
	put "guarded$1_keyed" "$(calculate "$(get "guarded$1_us") / $(get "guarded$1_keyed_us")" %.0f)"
	sql -c 'DROP TABLE bare, keyed, guarded, drawn, apart'
}

constraints()
{
	constraint 64 simhash64 fp 8
	constraint 128 simhash128 'two_words(fp::bigint, hashint8extended(id, 5))' 16
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
	measure_same 'plain within 3' '' fps "$(covering)"
	put covering_us "$us"
	expect_plan '' "$(covering)" 'Index Only Scan' covering
	unpin
	sql -c 'DROP INDEX blocks_cover0, blocks_cover1, blocks_cover2, blocks_cover3'
	time_sql "$one_process" 'CREATE INDEX blocks_gist ON blocks USING gist (fp)'
	put build_gist_s "$(calculate "$ms / 1000")"
	put size_gist "$(bytes_a_row blocks_gist)"
	pin
	measure_same few "$by_index" few "$(within blocks 3)"
	put gist_us "$us"
	expect_plan "$by_index" "$(within blocks 3)" blocks_gist GiST
	unpin
	sql -c 'DROP INDEX blocks_gist'
}

# Every row with its near-duplicates.
join_rows()
{
	local outer=$rows pairs statement by_index='SET simhash.enable_hammingjoin = off'

	if [ "$data" = skewed ]; then
		outer=$((rows / 20))    # there are about a hundred pairs a row
	elif [ "$outer" -gt 1000000 ]; then
		outer=1000000
	fi
	statement="SELECT count(*) FROM plain a JOIN plain b ON a.fp <-> b.fp <= 3
		WHERE a.id <= $outer"
	pin
	pairs=$(sql -c "$statement")
	time_sql "SET max_parallel_workers_per_gather = 0; $by_index" "$statement"
	unpin
	put join "$(calculate "1000 * $ms / $outer")"
	put join_rows "$(calculate "$pairs / $outer" %.1f)"
	sql -c "$by_index" -c "EXPLAIN (COSTS OFF) $statement" | grep -q plain_fp ||
		note "$column M rows, join: not by the index"
}

# The tables that are written to, with and without the indexes, take turns in
# whatever the arguments do to $table.
turn()
{
	local table

	for table in plain plain_bare blocks blocks_bare; do
		"$@"
	done
}

# keep_cost NAME VALUE: one of $table
keep_cost()
{
	costs[$1 $table]+=" $2"
}

# One INSERT a row of $source, in a loop of PL/pgSQL: microseconds a row.
insert_rows()
{
	time_sql "CREATE TEMP TABLE slice AS SELECT id - $next + $id AS id, fp
		FROM $source WHERE id > $next AND id <= $next + $inserts" \
		"DO \$\$ DECLARE r record; BEGIN FOR r IN SELECT * FROM slice LOOP
			INSERT INTO $table (id, fp) VALUES (r.id, r.fp); END LOOP; END \$\$"
	keep_cost "${source}_insert" "$(calculate "1000 * $ms / $inserts")"
}

# copy_rows WAL: per row of $source, microseconds of a COPY and bytes of its WAL,
# which is kept as the cost named.
copy_rows()
{
	local before

	sql -c "COPY (SELECT id - $next + $id, fp FROM $source WHERE id > $next
		AND id <= $next + $copies) TO '$work/rows'" -c CHECKPOINT
	before=$(sql -c 'SELECT pg_current_wal_insert_lsn()')
	time_sql '' "COPY $table (id, fp) FROM '$work/rows'"
	keep_cost "${source}_$1" \
		"$(sql -c "SELECT (pg_current_wal_insert_lsn() - '$before') / $copies.0")"
	[ "$1" = walfull ] || keep_cost "${source}_copy" "$(calculate "1000 * $ms / $copies")"
}

# VACUUM after the rows whose ids end in the digit are deleted: microseconds, and
# bytes of WAL, a dead row.
vacuum_tenth()
{
	local before dead

	dead=$(sql -c "WITH dead AS (DELETE FROM $table WHERE id % 10 = $1 RETURNING 1)
		SELECT count(*) FROM dead")
	sql -c CHECKPOINT
	before=$(sql -c 'SELECT pg_current_wal_insert_lsn()')
	time_sql '' "VACUUM (PARALLEL 0) $table"
	keep_cost vacuum "$(calculate "1000 * $ms / $dead")"
	keep_cost vacuum_wal \
		"$(sql -c "SELECT round((pg_current_wal_insert_lsn() - '$before') / $dead)")"
}

set_full_page_writes()
{
	sql -c "ALTER SYSTEM SET full_page_writes = $1" \
		-c 'SELECT pg_reload_conf()' >/dev/null
	sleep 0.2
}

advance()
{
	next=$((next + $1))
	id=$((id + $1))
}

# The costs of all rows of $source.
write_rows()
{
	local next=0 round

	set_full_page_writes off
	for ((round = 0; round < repeats; round++)); do
		turn insert_rows
		advance "$inserts"
		turn copy_rows wal
		advance "$copies"
	done
	set_full_page_writes on
	turn copy_rows walfull
	advance "$copies"
}

median_cost()
{
	# shellcheck disable=SC2086
	median ${costs[$1]}
}

# extra NAME: what the index adds to the cost, what four B-trees add, and the ratio
extra()
{
	put "$1_table" "$(median_cost "$1 plain_bare")"
	put "$1_extra" "$(calculate "$(median_cost "$1 plain") - $(get "$1_table")")"
	put "$1_btrees_extra" \
		"$(calculate "$(median_cost "$1 blocks") - $(median_cost "$1 blocks_bare")")"
	put "$1" "$(calculate "$(get "$1_extra") / $(get "$1_btrees_extra")")"
}

writes()
{
	local -A costs=()
	local id=$rows source digit cost

	sql -c 'CREATE TABLE plain_bare (LIKE plain, PRIMARY KEY (id))' \
		-c 'CREATE TABLE blocks_bare (LIKE blocks INCLUDING GENERATED, PRIMARY KEY (id))' \
		-c 'INSERT INTO plain_bare SELECT id, fp FROM plain ORDER BY id' \
		-c 'INSERT INTO blocks_bare (id, fp) SELECT id, fp FROM blocks ORDER BY id' \
		-c 'VACUUM ANALYZE plain_bare, blocks_bare'
	for source in more again; do
		write_rows
		for cost in insert copy wal walfull; do
			extra "${source}_$cost"
		done
	done
	for ((digit = 0; digit < builds; digit++)); do
		turn vacuum_tenth "$digit"
	done
	extra vacuum
	extra vacuum_wal
}

# add_living FROM TO: random rows with these ids, without the first
add_living()
{
	sql -c "INSERT INTO living SELECT id, hashint8extended(id, 47)::simhash64
		FROM generate_series($1 + 1, $2) id"
}

# age STATE: what the index of living goes through.  It was built with the rows of
# plain.
age()
{
	local step=$((rows / 30)) day

	case $1 in
		'one by one')
			sql -c 'TRUNCATE living' -c 'INSERT INTO living TABLE plain'
			;;
		*' more')
			add_living "$rows" $((rows + rows / 100 * ${1%% *}))
			;;
		*' deleted')
			sql -c "DELETE FROM living WHERE draw(id, 48, 100) < ${1%% *}"
			sql -c 'VACUUM living'
			;;
		'a queue')
			for ((day = 1; day <= 30; day++)); do
				add_living $((rows + step * (day - 1))) $((rows + step * day))
				sql -c "DELETE FROM living WHERE id <= $step * $day"
				sql -c 'VACUUM living'
			done
			;;
	esac
}

# Lookups by a living index and by one that was just built with the same rows, in
# turns: medians, and that of the ratios.
living()
{
	local state k round living fresh ratio

	for state in "${states[@]}"; do
		sql -c 'CREATE TABLE living AS TABLE plain' \
			-c 'CREATE INDEX living_fp ON living USING hamming (fp)' -c 'VACUUM living'
		age "$state"
		sql -c 'VACUUM (INDEX_CLEANUP off, ANALYZE) living' \
			-c 'CREATE TABLE fresh AS TABLE living' \
			-c 'CREATE INDEX fresh_fp ON fresh USING hamming (fp)' -c 'VACUUM ANALYZE fresh'
		pin
		for k in 3 6 8; do
			living=()
			fresh=()
			ratio=()
			for ((round = 0; round < living_rounds; round++)); do
				measure_same "$state within $k" "$by_index" fps "$(within living "$k")"
				living+=("$us")
				measure_same "$state within $k" "$by_index" fps "$(within fresh "$k")"
				fresh+=("$us")
				ratio+=("$(calculate "${living[-1]} / $us")")
			done
			put "$state k$k" "$(median "${ratio[@]}")"
			put "$state k${k}_us" "$(median "${living[@]}")"
			put "$state k${k}_fresh_us" "$(median "${fresh[@]}")"
		done
		unpin
		sql -c 'DROP TABLE living, fresh'
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
		measure_same "three within $k" "$serial" three "$statement"
		chosen=$us
		measure_same "three within $k" "$by_index" three "$statement"
		index=$us
		measure_same "three within $k" "$by_scan" three "$statement"
		crossover+=("| $k | $plan | $(calculate "$chosen / 1000") | $(
			calculate "$index / 1000") | $(calculate "$us / 1000") |")
		say "    ${crossover[-1]}"
	done
	unpin
}

# run DATA MILLIONS
run()
{
	local data=$1 rows more
	local kind=small few=20 builds=$repeats    # few: queries for what takes long

	column="$1 $2"
	rows=$(calculate "$2 * 1000000" %.0f)
	[ "$rows" -ge 10000 ] || fail "$2 million rows are too few"
	more=$(((inserts + copies) * repeats + copies))
	[ "$data" = uniform ] || [ "$rows" -le 2000000 ] || return 0
	if [ "$rows" -gt 20000000 ]; then
		kind=huge
		few=3    # scans take several seconds each
		builds=1
		more=0
	elif [ "$rows" -gt 2000000 ]; then
		kind=large
		few=6
		builds=1
	fi
	columns+=("$column")
	load "$data"
	block_counts
	build_indexes
	if [ "$data" = uniform ] && [ "$rows" -ge "$cold_from" ]; then
		cold
	fi
	lookups
	[ "$kind" != huge ] || return 0
	if [ "$data" = uniform ] && [ ${#crossover[@]} -eq 0 ]; then
		crossover_rows=$2
		crossover
	fi
	join_rows
	others
	[ "$data" = skewed ] || constraints
	[ "$data" = skewed ] || living
	writes
}

print_method()
{
	cat <<-METHOD
		Uniform: random fingerprints, a tenth of them 1 to 6 bits from another. Skewed: texts of 50
		words, most of them copies of others, exact or not. Times of lookups are medians of 1,000
		prepared statements (of scans and GiST 20, of 10 M rows 6, of 100 M rows 3), half of them with
		near neighbours, by one client on the processor of its backend, with all data in memory, seen
		twice. Ratios are to what the same run has measured on the same data, and all plans have found
		the same rows, with each number of blocks.

		With more than 2 M rows, skewed data is left out. With more than 20 M rows, the tables are
		unlogged, and left out are: builds of four B-trees, lookups by four
		B-trees, covering ones and GiST, the parallel build, 6 and 8 blocks, joins, writes and VACUUM.

		Cold: shared_buffers are 128 MB and empty, and the system's memory is emptied by
		/proc/sys/vm/drop_caches, before $cold_queries queries, each seen once; $cold_rounds times. Without
		look-ahead is with effective_io_concurrency = 0, else it is 64.

	METHOD
}

print_summary()
{
	table_head
	table_row 'lookup, k = 3 / primary key' k3
	table_row 'lookup, k = 6 / primary key' k6
	table_row 'lookup, k = 8 / primary key' k8
	table_row 'lookup, k = 10 / primary key' k10
	table_row 'size, bytes a row' size
	table_row 'size, with 3 blocks' blocks3_size
	table_row 'size, with 4 blocks' blocks4_size
	table_row 'size, with 6 blocks' blocks6_size
	table_row 'build / four B-trees' build
	table_row 'build with one worker / without' parallel
	table_row 'INSERT of a row, extra time / four B-trees' more_insert
	table_row 'COPY, extra time / four B-trees' more_copy
	table_row 'INSERT of exact duplicates / four B-trees' again_insert
	table_row 'COPY of exact duplicates / four B-trees' again_copy
	table_row 'WAL, full_page_writes = off / four B-trees' more_wal
	table_row 'WAL, full_page_writes = on / four B-trees' more_walfull
	table_row 'VACUUM, extra time / four B-trees' vacuum
	table_row 'join, k = 3, µs a probe' join
	table_row 'join, rows found a probe' join_rows
	table_row 'nearest 10, none near / sequential scan' nearest
	table_row 'cold, k = 8, with look-ahead / without' ahead_k8
	table_row 'cold, k = 3, with look-ahead / without' ahead_k3
	say
}

print_details()
{
	say '## Lookups, µs'
	say
	table_head
	table_row 'empty round trip' empty_us
	table_row 'primary key' key_us
	table_row 'hamming, k = 3' k3_us
	table_row 'hamming, k = 6' k6_us
	table_row 'hamming, k = 8' k8_us
	table_row 'hamming, k = 10' k10_us
	table_row 'four B-trees, k = 3' btrees_us
	table_row 'four covering B-trees, k = 3' covering_us
	table_row 'GiST, k = 3' gist_us
	table_row 'sequential scan, k = 3' scan_us
	table_row 'hamming, nearest 10' nearest_us
	table_row 'sequential scan and sort, nearest 10' nearest_scan_us
	table_row 'rows within 3 of the 1,000' k3_rows
	say
	say '## Builds and sizes'
	say
	say 'Without parallel workers but where it is said, maintenance_work_mem = 256MB. Seconds, and bytes'
	say 'a row.'
	say
	table_head
	table_row 'build: hamming' build_s
	table_row 'build: hamming, with one worker' build_parallel_s
	table_row 'build: four B-trees' build_btrees_s
	table_row 'build: covering' build_covering_s
	table_row 'build: GiST' build_gist_s
	table_row 'blocks of hamming' blocks
	table_row 'size: hamming' size
	table_row 'size: four B-trees' size_btrees
	table_row 'size: covering' size_covering
	table_row 'size: GiST' size_gist
}

print_blocks()
{
	local rule='|---|---|--:|--:|' heads=() cells count k name

	for k in 3 6 8 10; do
		rule+='--:|--:|--:|'
		heads+=("k = $k: pages" µs '/ key')
	done
	table 'Numbers of blocks' "$rule" data blocks 'bytes a row' 'build, s' "${heads[@]}"
	for column in "${columns[@]}"; do
		for count in 3 4 6 8; do
			cells=("$(get "blocks${count}_size")" "$(get "blocks${count}_s")")
			[ -n "${cells[0]}" ] || continue
			for k in 3 6 8 10; do
				name=blocks${count}_k$k
				cells+=("$(get "${name}_pages")" "$(get "${name}_us")" "$(get "$name")")
			done
			row "${column/ /, } M" "$count" "${cells[@]}"
		done
	done
	say
	say 'Pages of the index that a query looks at, a mean of 100, times, and ratios to lookups by the'
	say 'primary key that took turns with them.'
	say
}

# section TITLE TEXT ROWS: unless there are none
section()
{
	[ -n "$3" ] || return 0
	say "## $1"
	say
	say "$2"
	say
	table_head
	say "$3"
	say
}

print_cold()
{
	section Cold 'Means of the pages that a query reads, and medians of the times.' "$(
		table_row 'k = 3: pages read' cold_k3_reads
		table_row 'k = 3: ms' cold_k3_ms
		table_row 'k = 3, with look-ahead: pages read' ahead_k3_reads
		table_row 'k = 3, with look-ahead: ms' ahead_k3_ms
		table_row 'k = 8: pages read' cold_k8_reads
		table_row 'k = 8: ms' cold_k8_ms
		table_row 'k = 8, with look-ahead: pages read' ahead_k8_reads
		table_row 'k = 8, with look-ahead: ms' ahead_k8_ms
	)"
}

print_writes()
{
	local text="What the index adds to $inserts INSERTs in a loop of PL/pgSQL and to a COPY of $copies
rows: µs, and bytes of WAL, a row. Medians of $repeats, where tables with and without the indexes take
turns; full_page_writes = on was measured once. Then the same of exact duplicates, fingerprints
of random rows of the table. VACUUM follows all that was inserted, and the deletion of a tenth of
the rows: µs, and bytes of WAL after a checkpoint, a dead row."

	section Writes "$text" "$(
		table_row 'INSERT: hamming' more_insert_extra
		table_row 'INSERT: four B-trees' more_insert_btrees_extra
		table_row 'INSERT: table and primary key' more_insert_table
		table_row 'COPY: hamming' more_copy_extra
		table_row 'COPY: four B-trees' more_copy_btrees_extra
		table_row 'COPY: table and primary key' more_copy_table
		table_row 'WAL: hamming' more_wal_extra
		table_row 'WAL: four B-trees' more_wal_btrees_extra
		table_row 'WAL with full pages: hamming' more_walfull_extra
		table_row 'WAL with full pages: four B-trees' more_walfull_btrees_extra
		table_row 'INSERT of duplicates: hamming' again_insert_extra
		table_row 'INSERT of duplicates: four B-trees' again_insert_btrees_extra
		table_row 'COPY of duplicates: hamming' again_copy_extra
		table_row 'COPY of duplicates: four B-trees' again_copy_btrees_extra
		table_row 'WAL of duplicates: hamming' again_wal_extra
		table_row 'WAL of duplicates: four B-trees' again_wal_btrees_extra
		table_row 'VACUUM: hamming' vacuum_extra
		table_row 'VACUUM: four B-trees' vacuum_btrees_extra
		table_row 'VACUUM: table and primary key' vacuum_table
		table_row 'WAL of VACUUM: hamming' vacuum_wal_extra
		table_row 'WAL of VACUUM: four B-trees' vacuum_wal_btrees_extra
		table_row 'WAL of VACUUM: table and primary key' vacuum_wal_table
	)"
}

print_living()
{
	local state cells k

	table 'A living index' '|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|' data history \
		'k = 3' µs 'fresh, µs' 'k = 6' µs 'fresh, µs' 'k = 8' µs 'fresh, µs'
	for column in "${columns[@]}"; do
		for state in "${states[@]}"; do
			[ -n "$(get "$state k3")" ] || continue
			cells=()
			for k in 3 6 8; do
				cells+=("$(get "$state k$k")" "$(get "$state k${k}_us")"
					"$(get "$state k${k}_fresh_us")")
			done
			row "${column/ /, } M" "$state" "${cells[@]}"
		done
	done
	say
	say 'Lookups after an index was built and random rows came or went, over those by an index that was'
	say "just built with the same rows: medians of $living_rounds that took turns, of the ratios, too. One by one: all"
	say 'rows were inserted. Deleted: at random, and then VACUUM. A queue: 30 times a thirtieth of the'
	say 'rows came, the oldest were deleted, and VACUUM ran.'
}

print_constraints()
{
	local text="µs a row, of rows that are more than 8 bits from all others, or 16: medians of
$guarded_rounds rounds, each of loops of $guarded_rows statements in PL/pgSQL, with generic plans,
full_page_writes = off. Each table has a primary key, too, and all rows; the ratio is to
the lookup and the INSERT without the constraint of the same round."

	section 'Exclusion constraints' "$text" "$(
		table_row 'INSERT: primary key' guarded64_bare_us
		table_row 'INSERT: and a unique B-tree on a random bigint' guarded64_keyed_us
		table_row '64 bits: lookup, k = 8' guarded64_lookup_us
		table_row '64 bits: INSERT, hamming' guarded64_index_us
		table_row '64 bits: INSERT, constraint' guarded64_us
		table_row '64 bits: the ratio' guarded64
		table_row '64 bits: INSERT, constraint / unique B-tree' guarded64_keyed
		table_row '128 bits: lookup, k = 16' guarded128_lookup_us
		table_row '128 bits: INSERT, hamming' guarded128_index_us
		table_row '128 bits: INSERT, constraint' guarded128_us
		table_row '128 bits: the ratio' guarded128
		table_row '128 bits: INSERT, constraint / unique B-tree' guarded128_keyed
	)"
}

print_plans()
{
	if [ ${#crossover[@]} -gt 0 ]; then
		say "## Where the planner leaves the index: uniform, $crossover_rows M, ms"
		say
		say '| k | planned | as planned | index | sequential |'
		say '|--:|---|--:|--:|--:|'
		printf '%s\n' "${crossover[@]}"
	fi
}

bench_index()
{
	local millions data

	columns=()
	result=()
	build_latency
	for millions; do
		for data in uniform skewed; do
			run "$data" "$millions"
		done
	done
	{
		print_machine index
		print_method
		print_summary
		print_details
		print_living
		print_blocks
		print_cold
		print_writes
		print_constraints
		print_plans
		print_notes
	} | tee "$work/results"
	keep_results index
}
