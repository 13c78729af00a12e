# What a hamming index costs those who write, and how it ages; GiST and four B-trees.
# Sourced by script/bench; measures by the functions of measure.sh.

inserts=20000           # rows of a loop of single INSERTs
living_rounds=5         # of lookups
states=('one by one' '20 % more' '20 % deleted' 'a queue')
guarded_rounds=5        # of what an exclusion constraint costs
guarded_rows=4000       # of a loop, of which a round has 3
guarded_drawn=75000     # of which enough are apart for all loops

load_index()
{
	generate "$guarded_drawn"
	sql -c "CREATE TABLE plain AS SELECT id, fp FROM generated WHERE id <= $rows" \
		-c 'ALTER TABLE plain ADD PRIMARY KEY (id)' \
		-c "CREATE UNLOGGED TABLE more AS SELECT id - $rows AS n, id, fp FROM generated WHERE id > $rows" \
		-c 'ALTER TABLE more ADD PRIMARY KEY (n)' -c 'DROP TABLE generated'
	create_queries plain 64
	sql -c 'VACUUM ANALYZE' -c CHECKPOINT
}

# A quarter of a fingerprint: as a column, and of a query.
in_block()
{
	printf '((%s::bigint >> %s & 65535)::int)' "$1" "$2"
}

# Indexes that are here only to be compared with.  Both find the same rows.
compare_indexes()
{
	local shift four=

	time_build plain plain_gist 'gist (fp)'
	show 'Other indexes' 'GiST: bytes a row' "$(bytes_a_row plain_gist)"
	pin
	measure "$by_index" few "$(within plain 3)" few
	show 'Other indexes' 'GiST: search, k = 3, µs' "$us"
	expect_plan plain_gist GiST "$(within plain 3)"
	unpin
	for shift in 0 16 32 48; do
		time_build plain "block$shift" "btree ($(in_block fp "$shift"))"
		four+="${four:+ OR }$(in_block fp "$shift") = $(in_block '$1::simhash64' "$shift")"
	done
	four="SELECT id FROM plain WHERE ($four) AND fp <-> \$1 <= 3"
	sql -c 'DROP INDEX plain_gist' -c 'VACUUM ANALYZE plain'
	pin
	measure "$by_index" few "$four" few
	measure "$by_index" fps "$four"
	show 'Other indexes' 'four B-trees: search, k = 3, µs' "$us"
	expect_plan BitmapOr 'four B-trees' "$four"
	unpin
	sql -c 'DROP INDEX block0, block16, block32, block48'
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
		'one by one') sql -c 'TRUNCATE living' -c 'INSERT INTO living TABLE plain' ;;
		*' more') add_living "$rows" $((rows + rows / 100 * ${1%% *})) ;;
		*' deleted') sql -c "DELETE FROM living WHERE draw(id, 48, 100) < ${1%% *}" -c 'VACUUM living' ;;
		'a queue')
			for ((day = 1; day <= 30; day++)); do
				add_living $((rows + step * (day - 1))) $((rows + step * day))
				sql -c "DELETE FROM living WHERE id <= $step * $day" -c 'VACUUM living'
			done
			;;
	esac
}

# Lookups by a living index and by one that was just built with the same rows, in
# turns: the median of the ratios.
living()
{
	local state round living ratio

	for state in "${states[@]}"; do
		sql -c 'CREATE TABLE living AS TABLE plain' \
			-c 'CREATE INDEX living_fp ON living USING hamming (fp)' -c 'VACUUM living'
		age "$state"
		sql -c 'VACUUM (INDEX_CLEANUP off, ANALYZE) living' \
			-c 'CREATE TABLE fresh AS TABLE living' \
			-c 'CREATE INDEX fresh_fp ON fresh USING hamming (fp)' -c 'VACUUM ANALYZE fresh'
		pin
		ratio=()
		for ((round = 0; round < living_rounds; round++)); do
			measure "$by_index" fps "$(within living 8)" "$state"
			living=$us
			measure "$by_index" fps "$(within fresh 8)" "$state"
			ratio+=("$(calculate "$living / $us")")
		done
		unpin
		show 'A living index' "$state" "$(median "${ratio[@]}")"
		sql -c 'DROP TABLE living, fresh'
	done
}

# set_guarded COLUMNS: set columns of pg_index, of the index of guarded.  Without
# indisexclusion INSERTs do not check the constraint: so one table and its index
# are measured with and without, and need not be checked row by row before, as ADD
# CONSTRAINT does.  Without indisready INSERTs leave the index alone.
set_guarded()
{
	sql -c "UPDATE pg_index SET $1 WHERE indexrelid = 'guarded_fp'::regclass"
}

# each_row TABLE FROM COUNT ACTION: do this for rows r of the table, in a loop of PL/pgSQL;
# microseconds a row in $us
each_row()
{
	time_sql 'SET plan_cache_mode = force_generic_plan' "DO \$\$ DECLARE r record; BEGIN
		FOR r IN SELECT * FROM $1 WHERE n > $2 AND n <= $2 + $3 LOOP $4; END LOOP; END \$\$"
	us=$(calculate "1000 * $ms / $3")
}

# constraint BITS FP K: what refusing near-duplicates adds to an INSERT.  Tables of all
# rows of plain, with fp made of theirs, with a unique B-tree and with the constraint.
# INSERTs into the first, and into the second without and with the constraint, take
# turns; the rows are more than K from each other and from all of plain.
constraint()
{
	local next=0 round table keyed=() index=() guarded=() insert='VALUES (r.id, r.fp, r.number)'
	local columns="id int PRIMARY KEY, fp simhash$1, number bigint" values="id, $2 AS fp, hashint8extended(id, 46) AS number"

	sql -c "CREATE TABLE keyed ($columns)" \
		-c "CREATE TABLE guarded ($columns, CONSTRAINT guarded_fp EXCLUDE USING hamming (fp WITH %))"
	set_guarded 'indisexclusion = false, indisready = false'
	for table in keyed guarded; do
		sql -c "INSERT INTO $table SELECT $values FROM plain ORDER BY id"
	done
	sql -c 'ALTER TABLE keyed ADD UNIQUE (number)' -c 'REINDEX INDEX guarded_fp' \
		-c "CREATE UNLOGGED TABLE drawn AS SELECT $values FROM more" -c 'VACUUM ANALYZE keyed, guarded, drawn' \
		-c "CREATE UNLOGGED TABLE apart AS SELECT row_number() OVER () AS n, * FROM drawn a
			WHERE NOT EXISTS (SELECT FROM guarded b WHERE a.fp <-> b.fp <= $3)
			AND NOT EXISTS (SELECT FROM drawn b WHERE a.fp <-> b.fp <= $3 AND a.id <> b.id)" \
		-c 'ALTER TABLE apart ADD PRIMARY KEY (n)' -c CHECKPOINT
	set_full_page_writes off
	pin
	for ((round = 0; round < guarded_rounds; round++)); do
		each_row apart $((next + 0 * guarded_rows)) "$guarded_rows" "INSERT INTO keyed $insert"
		keyed+=("$us")
		each_row apart $((next + 1 * guarded_rows)) "$guarded_rows" "INSERT INTO guarded $insert"
		index+=("$us")
		set_guarded 'indisexclusion = true'
		each_row apart $((next + 2 * guarded_rows)) "$guarded_rows" "INSERT INTO guarded $insert"
		guarded+=("$us")
		set_guarded 'indisexclusion = false'
		next=$((next + 3 * guarded_rows))
	done
	unpin
	set_full_page_writes on
	[ "$(sql -c 'SELECT count(*) FROM apart')" -ge "$next" ] || fail "$column, $1 bits: too few rows are apart"
	[ "$1" -ne 64 ] || show 'Exclusion constraints' 'INSERT, unique B-tree' "$(median "${keyed[@]}")"
	show 'Exclusion constraints' "$1 bits: INSERT, hamming" "$(median "${index[@]}")"
	show 'Exclusion constraints' "$1 bits: INSERT, constraint" "$(median "${guarded[@]}")"
	sql -c 'DROP TABLE keyed, guarded, drawn, apart'
}

set_full_page_writes()
{
	sql -c "ALTER SYSTEM SET full_page_writes = $1" -c 'SELECT pg_reload_conf()' >/dev/null
	sleep 0.2
}

# The table with the index and the one without take turns in what the index costs:
# INSERTs, and VACUUM after a tenth of the rows was deleted.
writes()
{
	local -A costs=()
	local round table before dead cost

	sql -c 'CREATE TABLE bare (LIKE plain, PRIMARY KEY (id))' -c 'INSERT INTO bare TABLE plain' \
		-c 'CREATE INDEX plain_fp ON plain USING hamming (fp)' -c 'VACUUM ANALYZE plain, bare'
	set_full_page_writes off
	for ((round = 0; round < rounds; round++)); do
		for table in plain bare; do
			before=$(sql -c 'SELECT pg_current_wal_insert_lsn()')
			each_row more $((round * inserts)) "$inserts" "INSERT INTO $table VALUES (r.id, r.fp)"
			costs["INSERT, µs $table"]+=" $us"
			costs["WAL of INSERT, bytes $table"]+=" $(sql -c "SELECT (pg_current_wal_insert_lsn() - '$before') / $inserts.0")"
		done
	done
	set_full_page_writes on
	for ((round = 0; round < builds; round++)); do
		for table in plain bare; do
			dead=$(sql -c "WITH dead AS (DELETE FROM $table WHERE id % 10 = $round RETURNING 1)
				SELECT count(*) FROM dead" -c CHECKPOINT)
			time_sql '' "VACUUM (PARALLEL 0) $table"
			costs["VACUUM, µs $table"]+=" $(calculate "1000 * $ms / $dead")"
		done
	done
	for cost in 'INSERT, µs' 'WAL of INSERT, bytes' 'VACUUM, µs'; do
		# shellcheck disable=SC2086
		show Writes "$cost" "$(calculate "$(median ${costs["$cost plain"]}) - $(median ${costs["$cost bare"]})")"
	done
}

method_index()
{
	cat <<-METHOD
		Random fingerprints, a tenth of them 1 to 6 bits from another. All is measured by one client
		without parallel workers, with all data in memory.

		Other indexes: searches are medians of 1,000 prepared statements, of GiST 20, of 10 million rows 6,
		seen twice; both have found the same rows. Four B-trees are each on 16 bits.

		A living index: how many times as long searches within 8 take after an index was built and random
		rows came or went as by an index that was just built with the same rows; the median of
		$living_rounds ratios of medians of 1,000. One by one: all rows were inserted. Deleted: at random, and then
		VACUUM. A queue: 30 times a thirtieth of the rows came, the oldest were deleted, and VACUUM ran.

		Exclusion constraints: µs a row, of rows that are more than 8 bits from all others, or 16; medians
		of $guarded_rounds loops of $guarded_rows statements in PL/pgSQL, with full_page_writes = off. Each table has a primary
		key, too, and all rows.

		Writes: what the index adds, a row, to $inserts INSERTs in a loop of PL/pgSQL, with
		full_page_writes = off, the median of $rounds; and to VACUUM after the deletion of a tenth of the rows.
	METHOD
}

bench_index()
{
	start_column "$millions million"
	load_index
	compare_indexes
	living
	constraint 64 fp 8
	constraint 128 'two_words(fp::bigint, hashint8extended(id, 5))' 16
	writes
}
