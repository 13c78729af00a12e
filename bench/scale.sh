# Several servers: look-ups, nearest neighbours, and all pairs in parts, over shards
# by postgres_fdw, against the same on one server.  Sourced by script/bench, which
# lists the variables that they share; measures by the functions of index.sh and
# cluster.sh.
#
# The server of script/bench is the coordinator: its table shards.docs has a
# foreign table for each shard.  It has all rows in public.docs, too, and is the
# one server.  What runs over the shards is the same statement with another
# search_path.  The shards have a port each, from 1 on, and reach each other.

fetch_size=10000
quiet='SET client_min_messages = warning'
across='-c search_path=shards,public'
shipped='Remote SQL: .*(<->|simhash_within)'
pack_columns='id int, part int, fps bigint[]'
shard_names=()                  # of those that the column has
declare -A latencies=()         # µs, by name
declare -A elapsed=()           # seconds, by name
declare -A of_coordinator=()    # seconds of processor time, by name
declare -A of_shards=()

by_key='SELECT fp FROM docs WHERE id = $1'
ten='SELECT fp <-> $1 FROM docs ORDER BY fp <-> $1 LIMIT 10'
pairs='All pairs, in as many parts as there are shards'

start_shards()
{
	local i

	for i in 1 2 3 4; do
		say "Starting shard $i"
		start_server "shard$i" "$i"
		configure "shard$i"
	done
}

# The statements that make servers of the shards.
link_shards()
{
	local i

	say 'CREATE EXTENSION postgres_fdw; CREATE SCHEMA shards;'
	for ((i = 1; i <= shards; i++)); do
		cat <<-SQL
			CREATE SERVER shard$i FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '$work', port '$i',
				dbname 'postgres', extensions 'simhash', async_capable 'true',
				use_remote_estimate 'true', fdw_startup_cost '10', fdw_tuple_cost '0.05',
				fetch_size '$fetch_size');
			CREATE USER MAPPING FOR postgres SERVER shard$i OPTIONS (user 'postgres');
		SQL
	done
}

# link_tables TABLE COLUMNS: the statements that make shards.TABLE of the tables
# of that name.  No condition on an id tells which shard has it.
link_tables()
{
	local i

	say "CREATE TABLE shards.$1 ($2) PARTITION BY LIST ((id % $shards));"
	for ((i = 1; i <= shards; i++)); do
		say "CREATE FOREIGN TABLE shards.$1_$i PARTITION OF shards.$1 FOR VALUES IN ($((i - 1)))
			SERVER shard$i OPTIONS (schema_name 'public', table_name '$1');"
	done
}

# What is fetched with LIMIT: where shards are asked for estimates, these decide
# by their rounding whether LIMIT is sent.
link_nearest()
{
	local i

	for ((i = 1; i <= shards; i++)); do
		say "CREATE FOREIGN TABLE shards.near_$i (id int, fp simhash64) SERVER shard$i
			OPTIONS (schema_name 'public', table_name 'docs', use_remote_estimate 'false');"
	done
}

load_shard()
{
	sql -p "$1" -c "$quiet" -c 'DROP SCHEMA IF EXISTS shards CASCADE' \
		-c 'DROP SCHEMA public CASCADE' -c 'CREATE SCHEMA public' \
		-c 'CREATE EXTENSION simhash' -c "$(link_shards)" \
		-c 'CREATE UNLOGGED TABLE docs (id int PRIMARY KEY, fp simhash64)'
	sql -c "COPY (SELECT id, fp FROM docs WHERE id % $shards = $1 - 1 ORDER BY id) TO STDOUT" |
		sql -p "$1" -c 'COPY docs FROM STDIN'
	sql -p "$1" -c 'CREATE INDEX ON docs USING hamming (fp)' -c 'VACUUM ANALYZE docs'
	sql -p "$1" -c "CREATE UNLOGGED TABLE packs ($pack_columns)" \
		-c 'ALTER TABLE packs ALTER fps SET STORAGE EXTERNAL' \
		-c "$(link_tables packs "$pack_columns")"
}

# load_shards SHARDS MILLIONS: a column of the results
load_shards()
{
	local i

	shards=$1
	set_rows "$2"
	column="$1 shards $2"
	[ "$1" -gt 1 ] || column="1 shard $2"
	columns+=("$column")
	say "$column million rows: loading"
	generate uniform 0
	load_docs 'SELECT id::int, fp FROM generated ORDER BY id'
	sql -c 'DROP TABLE generated' -c 'ALTER TABLE docs ADD PRIMARY KEY (id)' \
		-c 'CREATE INDEX ON docs USING hamming (fp)'
	shard_names=()
	for ((i = 1; i <= shards; i++)); do
		load_shard "$i"
		shard_names+=("shard$i")
	done
	sql -c "$quiet" -c 'DROP SCHEMA IF EXISTS shards CASCADE' -c "$(link_shards)" \
		-c "$(link_tables docs 'id int, fp simhash64')" -c "$(link_nearest)" \
		-c 'ANALYZE shards.docs'
}

# Half of the fingerprints are near one of the table.
create_values()
{
	local batch=1000

	create_batch
	sql -c 'SELECT fp FROM batch ORDER BY id' >"$work/fps"
	sql -c "SELECT fp FROM batch WHERE id % 2 = 0 ORDER BY id LIMIT $few" >"$work/near"
	sql -c "SELECT draw(n, 40, $rows) + 1 FROM generate_series(1, $batch) n" >"$work/ids"
}

# Seconds of processor time of the named servers, of all their processes, after
# the sessions have ended.
cpu_seconds()
{
	local name server stats ticks=0

	for name; do
		server=$(head -n 1 "$work/$name/postmaster.pid")
		while pgrep -P "$server" -f '^postgres: postgres ' >/dev/null; do
			sleep 0.01
		done
		# a process may end meanwhile, and its time is the server's then: once more
		until stats=$(pgrep -P "$server" | sed 's,.*,/proc/&/stat,' |
			xargs cat "/proc/$server/stat" 2>/dev/null); do
			:
		done
		ticks+=" + $(awk '{ ticks += $14 + $15 + (NR == 1 ? $16 + $17 : 0) }
			END { print ticks }' <<<"$stats")"
	done
	calculate "($ticks) / $(getconf CLK_TCK)"
}

# work NAME COMMAND...: what it takes
work()
{
	local begun before before_shards

	before=$(cpu_seconds data)
	before_shards=$(cpu_seconds "${shard_names[@]}")
	begun=$EPOCHREALTIME
	"${@:2}"
	elapsed[$1]+=" $(calculate "$EPOCHREALTIME - $begun" %.3f)"
	of_coordinator[$1]+=" $(calculate "$(cpu_seconds data) - $before")"
	of_shards[$1]+=" $(calculate "$(cpu_seconds "${shard_names[@]}") - $before_shards")"
}

# latency NAME KEY SETTINGS VALUES STATEMENT: what it takes, and the median of a
# call; all of the key must find the same rows
latency()
{
	work "$1" measure_same "$2" "$3" "$4" "$5"
	latencies[$1]+=" $us"
}

# show_latency SECTION NAME: microseconds of a call
show_latency()
{
	# shellcheck disable=SC2086
	show "$1" "$2" "$(median ${latencies[$2]})"
}

# show_cpu NAME VALUES: microseconds of a call over the shards, of the processors of the
# coordinator and of a shard.  The values were gone through twice.
show_cpu()
{
	local calls

	calls=$(($(wc -l <"$work/$2") * 2))
	# shellcheck disable=SC2086
	{
		show Look-ups "$1: processor time of a shard" \
			"$(calculate "1e6 * $(median ${of_shards[$1, shards]}) / $calls / $shards" %.0f)"
		show Look-ups "$1: processor time of the coordinator" \
			"$(calculate "1e6 * $(median ${of_coordinator[$1, shards]}) / $calls" %.0f)"
	}
}

# expect_shipped STATEMENT PATTERN: note where what is sent to a shard does not
# match, or one shard is asked after another
expect_shipped()
{
	local plan

	plan=$(PGOPTIONS="$across -c plan_cache_mode=force_generic_plan" sql -c "PREPARE q AS $1" \
		-c "EXPLAIN (VERBOSE, COSTS OFF) EXECUTE q('$(head -n 1 "$work/fps")')")
	[ "$(grep -Ec "$2" <<<"$plan")" -eq "$shards" ] ||
		note "${column% *}, ${column##* } M rows: not shipped: $1"
	[ "$shards" -eq 1 ] || [ "$(grep -c 'Async Foreign Scan' <<<"$plan")" -eq "$shards" ] ||
		note "${column% *}, ${column##* } M rows: one shard after another: $1"
}

measure_lookups()
{
	local round name names=('primary key, one server' 'primary key, shards' 'k = 3, one server'
		'k = 3, shards' 'k = 8, one server' 'k = 8, shards')

	for ((round = 1; round <= rounds; round++)); do
		latency "${names[0]}" key '' ids "$by_key"
		latency "${names[1]}" key "$across" ids "$by_key"
		latency "${names[2]}" 'within 3' '' fps "$(within docs 3)"
		latency "${names[3]}" 'within 3' "$across" fps "$(within docs 3)"
		latency "${names[4]}" 'within 8' '' fps "$(within docs 8)"
		latency "${names[5]}" 'within 8' "$across" fps "$(within docs 8)"
	done
	for name in "${names[@]}"; do
		show_latency Look-ups "$name"
	done
	show_cpu 'primary key' ids
	show_cpu 'k = 3' fps
	show_cpu 'k = 8' fps
	expect_shipped "$(within docs 3)" "$shipped"
}

# The ten of each shard, and of these ten.  Were it not MATERIALIZED, the rows of
# the shards, which are sorted, would be merged, and one shard asked after another.
ten_of_each()
{
	local i statement=

	for ((i = 1; i <= shards; i++)); do
		statement+="${statement:+ UNION ALL }(SELECT fp <-> \$1 AS d
			FROM shards.near_$i ORDER BY fp <-> \$1 LIMIT 10)"
	done
	printf 'WITH near AS MATERIALIZED (%s) SELECT d FROM near ORDER BY d LIMIT 10' "$statement"
}

measure_nearest()
{
	local round

	for ((round = 1; round <= rounds; round++)); do
		latency 'near, one server' near '' near "$ten"
		latency 'near, of each' near '' near "$(ten_of_each)"
	done
	show_latency 'Nearest 10' 'near, one server'
	show_latency 'Nearest 10' 'near, of each'
	expect_shipped "$(ten_of_each)" 'Remote SQL: .*LIMIT'
}

# hashed_pairs QUERY ARGUMENTS: the statement that tells their number and a hash
hashed_pairs()
{
	printf "SELECT count(*), sum(hashint8(a)::bigint * hashint8(b) + distance) FROM simhash_pairs('%s', %s)" "$1" "$2"
}

# pairs_of SETTINGS K: of all rows, by one call
pairs_of()
{
	answer=$(PGOPTIONS=$1 sql -c "$(hashed_pairs 'SELECT fp::bigint, fp FROM docs' "$2")")
}

# on_shards STATEMENT: on all of them at the same time, each with the number of its
# part for PART; their rows in $answer
on_shards()
{
	local i jobs=()

	rm -f "$work"/answer*
	for ((i = 1; i <= shards; i++)); do
		PGOPTIONS=$(settings -) sql -p "$i" -c "${1//PART/$((i - 1))}" >"$work/answer$i" &
		jobs+=($!)
	done
	for i in "${jobs[@]}"; do
		wait "$i"
	done
	answer=$(cat "$work"/answer*)
}

# pack K: each shard packs the fingerprints of each part, those of 100 pages at a
# time.  The arrays are not compressed, which random bits cannot be.
pack()
{
	on_shards "INSERT INTO packs
		SELECT PART, packed.*
		FROM generate_series(0, pg_relation_size('docs') / current_setting('block_size')::int, 100) page, LATERAL (
			SELECT part, array_agg(fp::bigint)
			FROM (
				SELECT fp, simhash_parts(fp, $1, $shards) AS part FROM docs
				WHERE ctid >= format('(%s,0)', page)::tid AND ctid < format('(%s,0)', page + 100)::tid
			) copies
			GROUP BY part
		) packed"
}

# join_parts K: each shard gets the packs of its part from all, and finds the pairs
join_parts()
{
	on_shards "$(hashed_pairs "SELECT fp, fp::simhash64
		FROM (SELECT unnest(fps) AS fp FROM shards.packs WHERE part = PART) copies" "$1, PART, $shards")"
}

# same_pairs K: the pairs are those of one server
same_pairs()
{
	answer=$(sql -F ' ' -c "SELECT sum(n), sum(s) FROM (VALUES $(
		sed 's/.*/(&)/' <<<"${answer//|/, }" | paste -sd ,)) v (n, s)")
	: "${sums[$column pairs $1]:=$answer}"
	[ "${sums[$column pairs $1]}" = "$answer" ] ||
		fail "$column: other pairs within $1: $answer"
}

# show_work NAME: the medians of processor time and elapsed
show_work()
{
	# shellcheck disable=SC2086
	{
		show "$pairs" "$1" "$(calculate "$(median ${of_coordinator[$1]}) + $(median ${of_shards[$1]})")"
		show "$pairs" "$1, elapsed" "$(median ${elapsed[$1]})"
	}
}

# measure_parts K ROUNDS: all pairs, by one server, by the coordinator, and in as
# many parts as there are shards
measure_parts()
{
	local k=$1 round name

	for ((round = 1; round <= $2; round++)); do
		on_shards 'TRUNCATE packs'
		work "k = $k, one server" pairs_of "$(settings -)" "$k"
		same_pairs "$k"
		work "k = $k, fetched" pairs_of "$(settings -) $across" "$k"
		same_pairs "$k"
		work "k = $k, in parts: packed" pack "$k"
		work "k = $k, in parts: fetched, and pairs" join_parts "$k"
		same_pairs "$k"
	done
	for name in 'one server' fetched 'in parts: packed' 'in parts: fetched, and pairs'; do
		show_work "k = $k, $name"
	done
	on_shards 'SELECT sum(cardinality(fps)) FROM shards.packs WHERE part = PART'
	show "$pairs" "k = $k, parts that a row is in" \
		"$(awk '{ n += $1 } END { printf "%.2f", n / '"$rows"' }' <<<"$answer")"
	show "$pairs" "k = $k, rows of the largest part" "$(sort -n <<<"$answer" | tail -n 1)"
}

# measure_scale SHARDS MILLIONS
measure_scale()
{
	latencies=()
	elapsed=()
	of_coordinator=()
	of_shards=()
	load_shards "$1" "$2"
	create_values
	measure_lookups
	measure_nearest
	measure_parts 3 "$rounds"
	measure_parts 8 1
}

print_scale()
{
	cat <<-METHOD
		Random fingerprints, a tenth of them 1 to 6 bits from another, on one server, and spread evenly
		over as many servers as there are shards, each with a hamming index. A coordinator reaches the
		shards by postgres_fdw, through Unix sockets, with extensions 'simhash', async_capable 'true',
		use_remote_estimate 'true', fdw_startup_cost '10', fdw_tuple_cost '0.05' and fetch_size
		'$fetch_size'. All servers, the coordinator and the client share $(nproc) processors: where there are more
		shards than these, what they do at the same time takes longer than it would on machines of their
		own; the processor's time does not.

		A statement over the shards asks each of them, as the condition does not tell which one has the
		rows: also that for a primary key, \`WHERE id = \$1\`. One server has all rows in one table, and
		runs the same statements without postgres_fdw. Both find the same rows. Ratios are to what the
		same run has measured, in turns. All data is in memory, work_mem = $work_mem. Times of look-ups
		are medians of 1,000 prepared statements, half of them with near neighbours, and of nearest 10 of
		10; others are medians of 3, single ones of pairs within 8. Processor time is
		user and system time of all processes of the servers.
	METHOD
	section Look-ups µs
	section 'Nearest 10' 'µs, of what has a near neighbour. Of each: UNION ALL of the 10 of each shard, MATERIALIZED, and of
these the 10, over foreign tables with use_remote_estimate '"'false'"', so that the LIMIT is sent.'
	section "$pairs" 'Processor time of all servers, in seconds. Fetched: one simhash_pairs on the coordinator, of rows
that it fetches. In parts: each shard packs its fingerprints in arrays, by part. Then it fetches those of
its part from all shards, itself included, and finds their pairs. All shards work at the same time.'
}

bench_scale()
{
	local millions quarter half shards kind few=10 rounds=3

	build_latency
	start_shards
	for millions; do
		quarter=$(calculate "$millions / 4" %g)
		half=$(calculate "$millions / 2" %g)
		measure_scale 1 "$quarter"
		measure_scale 2 "$half"
		measure_scale 1 "$millions"
		measure_scale 2 "$millions"
		measure_scale 4 "$millions"
	done
}
