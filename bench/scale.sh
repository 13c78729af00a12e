# Several servers: look-ups, nearest neighbours, batches, clusters, and all pairs
# in parts, over shards by postgres_fdw, against the same on one server.  Sourced
# by script/bench, which lists the variables that they share; measures by the
# functions of index.sh, cluster.sh and join.sh.
#
# The server of script/bench is the coordinator: its table shards.docs has a
# foreign table for each shard.  It has all rows in public.docs, too, and is the
# one server.  What runs over the shards is the same statement with another
# search_path.  The shards have a port each, from 1 on, and reach each other.

fetch_size=10000
quiet='SET client_min_messages = warning'
across='-c search_path=shards,public'
planned='-c plan_cache_mode=force_custom_plan'
shipped='Remote SQL: .*(<->|simhash_within)'
pack_columns='id int, part int, fps bigint[]'
shard_names=()                  # of those that the column has
declare -A latencies=()         # µs, by name
declare -A elapsed=()           # seconds, by name
declare -A of_coordinator=()    # seconds of processor time, by name
declare -A of_shards=()

by_key='SELECT fp FROM docs WHERE id = $1'
ten='SELECT fp <-> $1 FROM docs ORDER BY fp <-> $1 LIMIT 10'

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

# set_servers OPTION VALUE: of all servers, on the coordinator and on each shard
set_servers()
{
	local i statements=

	for ((i = 1; i <= shards; i++)); do
		statements+="ALTER SERVER shard$i OPTIONS (SET $1 '$2');"
	done
	sql -c "$statements"
	for ((i = 1; i <= shards; i++)); do
		sql -p "$i" -c "$statements"
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
	sql -c "SELECT fp FROM batch WHERE id % 2 = 1 ORDER BY id LIMIT $few" >"$work/far"
	sql -c "SELECT draw(n, 40, $rows) + 1 FROM generate_series(1, $batch) n" >"$work/ids"
	head -n 100 "$work/fps" >"$work/hundred"
	head -n 100 "$work/ids" >"$work/hundred_ids"
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

# put_latency NAME VALUES: microseconds of a call, and of all servers' processors.
# The values were gone through twice.
put_latency()
{
	local calls

	calls=$(($(wc -l <"$work/$2") * 2))
	# shellcheck disable=SC2086
	{
		put "$1_us" "$(median ${latencies[$1]})"
		put "$1_coordinator" "$(calculate "1e6 * $(median ${of_coordinator[$1]}) / $calls" %.0f)"
		put "$1_shard" "$(calculate "1e6 * $(median ${of_shards[$1]}) / $calls / $shards" %.0f)"
	}
	result["$1_ms $column"]=$(calculate "$(get "$1_us") / 1000" %.4f)
}

# wire NAME UNITS COMMAND...: the bytes between the servers, for each unit
wire()
{
	local bytes

	set_servers host "$work/wire"
	say >&"${relay[1]}"
	read -r _ <&"${relay[0]}"
	"${@:3}"
	say >&"${relay[1]}"
	read -r bytes <&"${relay[0]}"
	set_servers host "$work"
	put "$1_bytes" "$(calculate "$bytes / $2" %.1f)"
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
	local round name

	for ((round = 1; round <= rounds; round++)); do
		latency key_one key '' ids "$by_key"
		latency key key "$across" ids "$by_key"
		latency k3_one 'within 3' '' fps "$(within docs 3)"
		latency k3 'within 3' "$across" fps "$(within docs 3)"
		latency k8_one 'within 8' '' fps "$(within docs 8)"
		latency k8 'within 8' "$across" fps "$(within docs 8)"
		latency key_planned 'hundred keys' "$across $planned" hundred_ids "$by_key"
		latency k3_planned 'hundred within 3' "$across $planned" hundred "$(within docs 3)"
	done
	for name in key_one key; do
		put_latency "$name" ids
	done
	for name in k3_one k3 k8_one k8; do
		put_latency "$name" fps
	done
	put_latency key_planned hundred_ids
	put_latency k3_planned hundred
	ratio k3_key k3 key
	ratio k3_key_one k3_one key_one
	ratio k8_key k8 key
	ratio k3_across k3 k3_one
	ratio key_across key key_one
	ratio k3_key_planned k3_planned key_planned
	for name in key k3; do
		put "${name}_cpu" $(($(get "${name}_coordinator") + shards * $(get "${name}_shard")))
	done
	put k3_key_cpu "$(calculate "$(get k3_cpu) / $(get key_cpu)")"
	expect_shipped "$(within docs 3)" "$shipped"
	wire key 2000 measure "$across" ids "$by_key"
	wire k3 2000 measure "$across" fps "$(within docs 3)"
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

# measure_nearest VALUES: with the largest fetch_size, which takes long, once
measure_nearest()
{
	local round size

	for ((round = 1; round <= rounds; round++)); do
		latency "$1_one" "$1" '' "$1" "$ten"
		for size in 10 100; do
			set_servers fetch_size "$size"
			latency "$1_$size" "$1" "$across" "$1" "$ten"
		done
		latency "$1_each" "$1" '' "$1" "$(ten_of_each)"
	done
	wire "$1_each" $((2 * few)) measure '' "$1" "$(ten_of_each)"
	for size in 10 100; do
		set_servers fetch_size "$size"
		wire "$1_$size" $((2 * few)) measure "$across" "$1" "$ten"
	done
	set_servers fetch_size "$fetch_size"
	wire "$1_$fetch_size" $((2 * few)) latency "$1_$fetch_size" "$1" "$across" "$1" "$ten"
	for size in one 10 100 "$fetch_size" each; do
		put_latency "$1_$size" "$1"
	done
	ratio "$1_each_one" "$1_each" "$1_one"
	expect_shipped "$(ten_of_each)" 'Remote SQL: .*LIMIT'
}

# How a batch is compared with what the shards have.
way()
{
	local plan

	plan=$(PGOPTIONS=$(settings "$1") sql -c "EXPLAIN (VERBOSE) $2")
	if [[ $plan = *HammingJoin* ]]; then
		say join
	elif grep -Eq "$shipped" <<<"$plan"; then
		say look-ups
	else
		say neither
	fi
}

# both NAME STATEMENT: on one server and over the shards
both()
{
	turns "$1_one" "$2" "$1" "$2"
	same "$1_one" "$1"
	ratio "$1_across" "$1" "$1_one"
	megabytes "$1"
	wire "$1" 1e6 run_once "$1" "$2"
}

measure_batches()
{
	local batch name

	for batch in 1000 100000; do
		create_batch
		for name in new matches; do
			options[${name}_$batch]=$across
			both "${name}_$batch" "${!name}"
			put "${name}_${batch}_way" "$(way "${name}_$batch" "${!name}")"
		done
	done
	batch=1000
	create_batch
	options[new_lookups]="$across $not_by_join"
	options[new_join]="$across $by_join"
	turns new_lookups "$new" new_join "$new"
	same new_lookups new_join
}

measure_clusters_across()
{
	options[fetch]=$across
	options[k3_clusters]=$across
	both k3_clusters "$(clusters 3)"
	turns fetch 'SELECT count(fp), sum(id) FROM docs'
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

drop_packs()
{
	on_shards 'TRUNCATE packs'
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

# put_work NAME: the medians
put_work()
{
	# shellcheck disable=SC2086
	{
		put "$1_s" "$(median ${elapsed[$1]})"
		put "$1_cpu" "$(calculate "$(median ${of_coordinator[$1]}) + $(median ${of_shards[$1]})")"
	}
}

# measure_parts K ROUNDS: all pairs, by one server, by the coordinator, and in as
# many parts as there are shards
measure_parts()
{
	local k=$1 round name

	for ((round = 1; round <= $2; round++)); do
		drop_packs
		work "one_k$k" pairs_of "$(settings -)" "$k"
		same_pairs "$k"
		work "fetched_k$k" pairs_of "$(settings -) $across" "$k"
		same_pairs "$k"
		work "pack_k$k" pack "$k"
		work "parts_k$k" join_parts "$k"
		same_pairs "$k"
	done
	for name in one fetched pack parts; do
		put_work "${name}_k$k"
	done
	put "job_k$k" "$(calculate "$(get "pack_k${k}_cpu") + $(get "parts_k${k}_cpu")")"
	put "job_one_k$k" "$(calculate "$(get "job_k$k") / $(get "one_k${k}_cpu")")"
	put "job_fetched_k$k" "$(calculate "$(get "job_k$k") / $(get "fetched_k${k}_cpu")")"
	put "job_shard_k$k" "$(calculate "$(get "job_k$k") / $shards")"
	on_shards 'SELECT sum(cardinality(fps)) FROM shards.packs WHERE part = PART'
	put "copies_k$k" "$(awk '{ n += $1 } END { printf "%.2f", n / '"$rows"' }' <<<"$answer")"
	put "largest_k$k" "$(sort -n <<<"$answer" | tail -n 1)"
	wire "parts_k$k" "$rows" join_parts "$k"
	wire "fetched_k$k" "$rows" pairs_of "$(settings -) $across" "$k"
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
	measure_nearest near
	measure_nearest far
	measure_batches
	measure_clusters_across
	measure_parts 3 "$rounds"
	measure_parts 8 1
}

print_scale_method()
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
		$few; others are medians of $rounds, single ones above 15 s and of pairs within 8. Processor time is
		user and system time of all processes of the servers. What crosses the wire are the bytes of
		PostgreSQL's protocol, both ways, between servers.
	METHOD
}

print_scale_summary()
{
	say
	table_head
	table_row 'look-up, k = 3 / primary key, both over the shards' k3_key
	table_row 'the same, processor time' k3_key_cpu
	table_row 'pairs in parts, k = 3 / fetched by one server, processor time' job_fetched_k3
	table_row 'pairs in parts, k = 8 / fetched by one server, processor time' job_fetched_k8
}

print_scale_lookups()
{
	say
	say '## Look-ups'
	say
	say "µs. Planned anew: without the plan that a prepared statement keeps, so that the shards are asked"
	say 'for estimates, too.'
	say
	table_head
	table_row 'primary key, one server' key_one_us
	table_row 'primary key, shards' key_us
	table_row 'k = 3, one server' k3_one_us
	table_row 'k = 3, shards' k3_us
	table_row 'k = 8, one server' k8_one_us
	table_row 'k = 8, shards' k8_us
	table_row 'k = 3 / primary key, one server' k3_key_one
	table_row 'k = 3 / primary key, shards' k3_key
	table_row 'k = 8 / primary key, shards' k8_key
	table_row 'primary key, shards / one server' key_across
	table_row 'k = 3, shards / one server' k3_across
	table_row 'primary key, shards, planned anew' key_planned_us
	table_row 'k = 3, shards, planned anew' k3_planned_us
	table_row 'k = 3 / primary key, shards, planned anew' k3_key_planned
	table_row 'primary key: processor time of a shard' key_shard
	table_row 'k = 3: processor time of a shard' k3_shard
	table_row 'k = 8: processor time of a shard' k8_shard
	table_row 'primary key: processor time of the coordinator' key_coordinator
	table_row 'k = 3: processor time of the coordinator' k3_coordinator
	table_row 'primary key: bytes between servers' key_bytes
	table_row 'k = 3: bytes between servers' k3_bytes
}

print_scale_nearest()
{
	local values size

	say
	say '## Nearest 10'
	say
	say 'µs and bytes between servers, of what has a near neighbour and of what has none: ORDER BY and'
	say 'LIMIT over the partitions, of which each shard hands in fetch_size rows, one shard after another.'
	say "Of each: UNION ALL of the 10 of each shard, MATERIALIZED, and of these the 10, over foreign tables"
	say "with use_remote_estimate 'false', so that the LIMIT is sent."
	say
	table_head
	for values in near far; do
		table_row "$values, one server" "${values}_one_us"
		for size in 10 100 "$fetch_size"; do
			table_row "$values, fetch_size = $size" "${values}_${size}_us"
			table_row "$values, fetch_size = $size: bytes" "${values}_${size}_bytes"
		done
		table_row "$values, of each" "${values}_each_us"
		table_row "$values, of each: bytes" "${values}_each_bytes"
		table_row "$values, of each / one server" "${values}_each_one"
	done
}

# print_both TITLE KEY
print_both()
{
	table_row "$1, one server, s" "$2_one_s"
	table_row "$1, shards, s" "$2_s"
	table_row "$1, shards / one server" "$2_across"
	table_row "$1, shards: the way" "$2_way"
	table_row "$1, shards: MB between servers" "$2_bytes"
	table_row "$1, shards: memory of the coordinator, MB" "$2_MB"
}

print_scale_batches()
{
	local batch

	say
	say '## Batches and clusters'
	say
	say 'Half of a batch is near one of the others. The way is what is planned: look-ups, one of each'
	say 'shard for each row of the batch, or a join of all that is fetched. Memory is what the statement'
	say 'adds to the most that its backend has had (VmHWM).'
	say
	table_head
	for batch in 1000 100000; do
		print_both "$batch rows, NOT EXISTS" "new_$batch"
		print_both "$batch rows, JOIN" "matches_$batch"
	done
	table_row '1000 rows, NOT EXISTS, by look-ups, s' new_lookups_s
	table_row '1000 rows, NOT EXISTS, by the join, s' new_join_s
	table_row 'id and fp of all rows fetched, s' fetch_s
	print_both 'clusters, k = 3' k3_clusters
}

print_scale_pairs()
{
	local k

	say
	say '## All pairs, in as many parts as there are shards'
	say
	say 'Processor time of all servers, in seconds. Fetched: one simhash_pairs on the coordinator, of rows'
	say 'that it fetches. In parts: each shard packs its fingerprints in arrays, by part. Then it fetches those of'
	say 'its part from all shards, itself included, and finds their pairs. All shards work at the same time.'
	say
	table_head
	for k in 3 8; do
		table_row "k = $k, one server" "one_k${k}_cpu"
		table_row "k = $k, fetched" "fetched_k${k}_cpu"
		table_row "k = $k, in parts: packed" "pack_k${k}_cpu"
		table_row "k = $k, in parts: fetched, and pairs" "parts_k${k}_cpu"
		table_row "k = $k, in parts: both / one server" "job_one_k$k"
		table_row "k = $k, in parts: both / fetched" "job_fetched_k$k"
		table_row "k = $k, in parts: both, of a shard" "job_shard_k$k"
		table_row "k = $k, one server, elapsed" "one_k${k}_s"
		table_row "k = $k, fetched, elapsed" "fetched_k${k}_s"
		table_row "k = $k, in parts: packed, elapsed" "pack_k${k}_s"
		table_row "k = $k, in parts: fetched, and pairs, elapsed" "parts_k${k}_s"
		table_row "k = $k, parts that a row is in" "copies_k$k"
		table_row "k = $k, rows of the largest part" "largest_k$k"
		table_row "k = $k, fetched: bytes a row between servers" "fetched_k${k}_bytes"
		table_row "k = $k, in parts: bytes a row between servers" "parts_k${k}_bytes"
	done
}

bench_scale()
{
	local millions quarter half few=10 rounds=3 shards kind rows scanned

	columns=()
	result=()
	notes=()
	scanned='(SELECT fp FROM public.docs UNION ALL SELECT fp FROM docs WHERE id = 0) s'
	build_latency
	start_shards
	unprivileged mkdir "$work/wire"
	coproc relay { unprivileged perl "$work/src/bench/relay.pl" "$work/wire" "$work" 1 2 3 4; }
	for millions; do
		quarter=$(calculate "$millions / 4" %g)
		half=$(calculate "$millions / 2" %g)
		measure_scale 1 "$quarter"
		measure_scale 2 "$half"
		measure_scale 1 "$millions"
		measure_scale 2 "$millions"
		measure_scale 4 "$millions"
	done
	{
		print_machine scale
		print_scale_method
		print_scale_summary
		print_scale_lookups
		print_scale_nearest
		print_scale_batches
		print_scale_pairs
		print_notes
	} | tee "$work/results"
	keep_results scale
}
