# The access method hamming against lookups of a primary key, sequential scans,
# four B-trees, and GiST.  Sourced by script/bench, which lists the variables that
# they share.
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
	show_build hamming plain_fp "${hamming[@]}"
	show 'Builds and sizes' 'blocks of hamming' \
		"$(sql -c "SELECT blocks FROM hamming_index_stats('plain_fp')")"
	if [ "$kind" != huge ]; then
		show_build 'four B-trees' blocks_b_ "${btrees[@]}"
		show 'Builds and sizes' 'build: hamming, with one worker' \
			"$(calculate "$(median "${parallel[@]}") / 1000")"
	fi
	sql -c 'VACUUM ANALYZE' -c CHECKPOINT
}

# show_build NAME INDEXES MILLISECONDS...
show_build()
{
	show 'Builds and sizes' "build: $1" "$(calculate "$(median "${@:3}") / 1000")"
	show 'Builds and sizes' "size: $1" "$(bytes_a_row "$2")"
}

# lookup TABLE K: lookups by the primary key and by the index take turns.  Medians
# in $key, $us, and, of the ratios, in $ratio.
lookup()
{
	local table=$1 k=$2 keys=() index=() ratios=() round

	for round in 1 2 3; do
		measure '' ids "SELECT fp FROM $table WHERE id = \$1"
		keys+=("$us")
		measure_same "$table within $k" "$by_index" fps "$(within "$table" "$k")"
		index+=("$us")
		ratios+=("$(calculate "$us / ${keys[-1]}")")
	done
	key=$(median "${keys[@]}")
	us=$(median "${index[@]}")
	ratio=$(median "${ratios[@]}")
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
	local counts=(3 4 6 8) blocks k cells key ratio

	if [ "$kind" = huge ]; then
		counts=(3 4)
	fi
	for blocks in "${counts[@]}"; do
		build_hamming plain "$one_process" "WITH (blocks = $blocks)"
		cells=("$(bytes_a_row plain_fp)" "$(calculate "$ms / 1000")")
		pin
		for k in 3 6 8 10; do
			lookup plain "$k"
			cells+=("$(index_pages "$k")" "$us" "$ratio")
		done
		unpin
		show_row 'Numbers of blocks' "${column/ /, } M" "$blocks" "${cells[@]}"
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

# cold_result TITLE FILE: of its lines, the mean of the reads, and the median of the
# milliseconds
cold_result()
{
	local all

	show Cold "$1: pages read" "$(awk '{ reads += $2 } END { printf "%.0f", reads / NR }' "$2")"
	mapfile -t all < <(cut -d ' ' -f 3 "$2")
	show Cold "$1: ms" "$(median "${all[@]}")"
}

# Queries while nothing is in memory, each once with looking ahead and once
# without.  Either is first as often: the second may find the pages in a cache
# that only the disk has.  In the end the system has all files in memory, as
# after a build.
cold()
{
	local k round side sides
	local -A ahead=([cold]=0 [ahead]=64) titles=([cold]= [ahead]=', with look-ahead')

	if [ ! -w /proc/sys/vm/drop_caches ]; then
		note "$column M rows, cold: not measured, as only root can empty the system's memory"
		return
	fi
	sql -c "ALTER SYSTEM SET shared_buffers = '128MB'"
	for k in 3 8; do
		rm -f "$work"/side_*
		for ((round = 0; round < cold_rounds; round++)); do
			{
				tail -n 1 "$work/fps"
				sed -n "$((cold_queries * round + 1)),$((cold_queries * (round + 1)))p" \
					"$work/fps"
			} >"$work/cold"
			sides=(cold ahead)
			[ $((round % 2)) -eq 0 ] || sides=(ahead cold)
			for side in "${sides[@]}"; do
				cold_side "$k" "${ahead[$side]}" >>"$work/side_$side"
			done
		done
		for side in cold ahead; do
			cold_result "k = $k${titles[$side]}" "$work/side_$side"
		done
	done
	sql -c 'ALTER SYSTEM RESET shared_buffers'
	restart
	cat "$work"/data/base/*/* >/dev/null
}

lookups()
{
	local k key ratio

	pin
	for k in 3 6 8 10; do
		lookup plain "$k"
		[ "$k" -gt 3 ] || show 'Lookups, µs' 'primary key' "$key"
		show 'Lookups, µs' "hamming, k = $k" "$us"
	done
	if [ "$kind" != huge ]; then
		measure_same 'plain within 3' '' fps "$(four_btrees)"
		show 'Lookups, µs' 'four B-trees, k = 3' "$us"
		expect_plan '' "$(four_btrees)" BitmapOr 'four B-trees'
	fi
	measure_same few "$by_index" few "$(within plain 3)"
	measure_same few "$by_scan" few "$(within plain 3)"
	show 'Lookups, µs' 'sequential scan, k = 3' "$us"
	measure_same nearest "$by_index" far "$nearest"
	show 'Lookups, µs' 'hamming, nearest 10' "$us"
	measure_same nearest "$by_scan" far "$nearest"
	show 'Lookups, µs' 'sequential scan and sort, nearest 10' "$us"
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
	local insert='VALUES (r.id, r.fp, r.number)' section='Exclusion constraints'

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
	if [ "$1" -eq 64 ]; then
		show "$section" 'INSERT: primary key' "$(median "${bare[@]}")"
		show "$section" 'INSERT: and a unique B-tree on a random bigint' "$(median "${keyed[@]}")"
	fi
	show "$section" "$1 bits: lookup, k = $4" "$(median "${lookup[@]}")"
	show "$section" "$1 bits: INSERT, hamming" "$(median "${index[@]}")"
	show "$section" "$1 bits: INSERT, constraint" "$(median "${constraint[@]}")"
	show "$section" "$1 bits: the ratio" "$(median "${ratio[@]}")"
	sql -c 'DROP TABLE bare, keyed, guarded, drawn, apart'
}

constraints()
{
	constraint 64 simhash64 fp 8
	constraint 128 simhash128 'two_words(fp::bigint, hashint8extended(id, 5))' 16
}

# An index that is here only to be compared with.
gist()
{
	time_sql "$one_process" 'CREATE INDEX blocks_gist ON blocks USING gist (fp)'
	show_build GiST blocks_gist "$ms"
	pin
	measure_same few "$by_index" few "$(within blocks 3)"
	show 'Lookups, µs' 'GiST, k = 3' "$us"
	expect_plan "$by_index" "$(within blocks 3)" blocks_gist GiST
	unpin
	sql -c 'DROP INDEX blocks_gist'
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

# One INSERT a row of more, in a loop of PL/pgSQL: microseconds a row.
insert_rows()
{
	time_sql "CREATE TEMP TABLE slice AS SELECT id - $next + $id AS id, fp
		FROM more WHERE id > $next AND id <= $next + $inserts" \
		"DO \$\$ DECLARE r record; BEGIN FOR r IN SELECT * FROM slice LOOP
			INSERT INTO $table (id, fp) VALUES (r.id, r.fp); END LOOP; END \$\$"
	keep_cost INSERT "$(calculate "1000 * $ms / $inserts")"
}

# Per row of more, microseconds of a COPY, and bytes of its WAL.
copy_rows()
{
	local before

	sql -c "COPY (SELECT id - $next + $id, fp FROM more WHERE id > $next
		AND id <= $next + $copies) TO '$work/rows'" -c CHECKPOINT
	before=$(sql -c 'SELECT pg_current_wal_insert_lsn()')
	time_sql '' "COPY $table (id, fp) FROM '$work/rows'"
	keep_cost WAL "$(sql -c "SELECT (pg_current_wal_insert_lsn() - '$before') / $copies.0")"
	keep_cost COPY "$(calculate "1000 * $ms / $copies")"
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
	keep_cost VACUUM "$(calculate "1000 * $ms / $dead")"
	keep_cost 'WAL of VACUUM' \
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

write_rows()
{
	local next=0 id=$rows round

	set_full_page_writes off
	for ((round = 0; round < repeats; round++)); do
		turn insert_rows
		advance "$inserts"
		turn copy_rows
		advance "$copies"
	done
	set_full_page_writes on
}

median_cost()
{
	# shellcheck disable=SC2086
	median ${costs[$1]}
}

# extra NAME: what the index adds to the cost, and what four B-trees add
extra()
{
	local table

	table=$(median_cost "$1 plain_bare")
	show Writes "$1: hamming" "$(calculate "$(median_cost "$1 plain") - $table")"
	show Writes "$1: four B-trees" \
		"$(calculate "$(median_cost "$1 blocks") - $(median_cost "$1 blocks_bare")")"
	show Writes "$1: table and primary key" "$table"
}

writes()
{
	local -A costs=()
	local digit cost

	sql -c 'CREATE TABLE plain_bare (LIKE plain, PRIMARY KEY (id))' \
		-c 'CREATE TABLE blocks_bare (LIKE blocks INCLUDING GENERATED, PRIMARY KEY (id))' \
		-c 'INSERT INTO plain_bare SELECT id, fp FROM plain ORDER BY id' \
		-c 'INSERT INTO blocks_bare (id, fp) SELECT id, fp FROM blocks ORDER BY id' \
		-c 'VACUUM ANALYZE plain_bare, blocks_bare'
	write_rows
	for ((digit = 0; digit < builds; digit++)); do
		turn vacuum_tenth "$digit"
	done
	for cost in INSERT COPY WAL VACUUM 'WAL of VACUUM'; do
		extra "$cost"
	done
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
	local state k round living fresh ratio cells

	for state in "${states[@]}"; do
		sql -c 'CREATE TABLE living AS TABLE plain' \
			-c 'CREATE INDEX living_fp ON living USING hamming (fp)' -c 'VACUUM living'
		age "$state"
		sql -c 'VACUUM (INDEX_CLEANUP off, ANALYZE) living' \
			-c 'CREATE TABLE fresh AS TABLE living' \
			-c 'CREATE INDEX fresh_fp ON fresh USING hamming (fp)' -c 'VACUUM ANALYZE fresh'
		pin
		cells=()
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
			cells+=("$(median "${ratio[@]}")" "$(median "${living[@]}")" "$(median "${fresh[@]}")")
		done
		unpin
		show_row 'A living index' "${column/ /, } M" "$state" "${cells[@]}"
		sql -c 'DROP TABLE living, fresh'
	done
}

# measure_index DATA MILLIONS
measure_index()
{
	local data=$1 rows more
	local kind=small few=20 builds=$repeats    # few: queries for what takes long

	column="$1 $2"
	rows=$(calculate "$2 * 1000000" %.0f)
	[ "$rows" -ge 10000 ] || fail "$2 million rows are too few"
	more=$(((inserts + copies) * repeats))
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
	gist
	[ "$data" = skewed ] || constraints
	[ "$data" = skewed ] || living
	writes
}

print_index_method()
{
	cat <<-METHOD
		Uniform: random fingerprints, a tenth of them 1 to 6 bits from another. Skewed: texts of 50
		words, most of them copies of others, exact or not. Times of lookups are medians of 1,000
		prepared statements (of scans and GiST 20, of 10 M rows 6, of 100 M rows 3), half of them with
		near neighbours, by one client on the processor of its backend, with all data in memory, seen
		twice. Ratios are to what the same run has measured on the same data, and all plans have found
		the same rows, with each number of blocks.

		With more than 2 M rows, skewed data is left out. With more than 20 M rows, the tables are
		unlogged, and left out are: builds of four B-trees, lookups by these and by GiST, the parallel
		build, 6 and 8 blocks, writes and VACUUM.

		Cold: shared_buffers are 128 MB and empty, and the system's memory is emptied by
		/proc/sys/vm/drop_caches, before $cold_queries queries, each seen once; $cold_rounds times. Without
		look-ahead is with effective_io_concurrency = 0, else it is 64.
	METHOD
}

print_index()
{
	local k rule='|---|---|--:|--:|' heads=()

	print_index_method
	section 'Lookups, µs' ''
	section 'Builds and sizes' \
		'Without parallel workers but where it is said, maintenance_work_mem = 256MB. Seconds, and bytes
a row.'
	table 'A living index' '|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|' data history \
		'k = 3' µs 'fresh, µs' 'k = 6' µs 'fresh, µs' 'k = 8' µs 'fresh, µs'
	cat <<-NOTE

		Lookups after an index was built and random rows came or went, over those by an index that was
		just built with the same rows: medians of $living_rounds that took turns, of the ratios, too. One by one: all
		rows were inserted. Deleted: at random, and then VACUUM. A queue: 30 times a thirtieth of the
		rows came, the oldest were deleted, and VACUUM ran.
	NOTE
	for k in 3 6 8 10; do
		rule+='--:|--:|--:|'
		heads+=("k = $k: pages" µs '/ key')
	done
	table 'Numbers of blocks' "$rule" data blocks 'bytes a row' 'build, s' "${heads[@]}"
	cat <<-NOTE

		Pages of the index that a query looks at, a mean of 100, times, and ratios to lookups by the
		primary key that took turns with them.
	NOTE
	section Cold 'Means of the pages that a query reads, and medians of the times.'
	section Writes "What the index adds to $inserts INSERTs in a loop of PL/pgSQL and to a COPY of $copies
rows: µs, and bytes of WAL without full pages, a row. Medians of $repeats, where tables with and without the
indexes take turns. VACUUM follows all that was inserted, and the deletion of a tenth of the rows:
µs, and bytes of WAL after a checkpoint, a dead row."
	section 'Exclusion constraints' "µs a row, of rows that are more than 8 bits from all others, or 16: medians of
$guarded_rounds rounds, each of loops of $guarded_rows statements in PL/pgSQL, with generic plans,
full_page_writes = off. Each table has a primary key, too, and all rows; the ratio is to
the lookup and the INSERT without the constraint of the same round."
}

bench_index()
{
	local millions data

	build_latency
	for millions; do
		for data in uniform skewed; do
			measure_index "$data" "$millions"
		done
	done
}
