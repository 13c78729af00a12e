# All processes of one machine: simhash_pairs(), simhash_cluster() and joins with
# one process and with two, and a model of more.  Sourced by script/bench, which
# lists the variables that they share; measures by the functions of cluster.sh.
#
# On random fingerprints (uniform.sql) and on those of made-up texts with many
# copies (skewed.sql), and, for the model, on a tenth as many that are dense:
# clusters of up to 100,000, and the worst of hostile.sql.

two='-c max_parallel_workers_per_gather=1'
dense='SELECT id::int, (hashint8extended(id / (3000 * 10 ^ (id % 3))::int, (id % 3)::int)
	# flips(id, 4))::simhash64 AS fp FROM ids ORDER BY hashint8(id)'
measured=()             # "NAME COLUMN"
modelled=()             # the same

# paired K [TABLE]: without a tuplestore of them
paired()
{
	printf "SELECT count(*) FROM (SELECT simhash_pairs('SELECT id, fp FROM %s', %s)) s" \
		"${2:-docs}" "$1"
}

# numbered ARGUMENTS [TABLE]: the number of clusters, without sorting
numbered()
{
	printf 'SELECT max(c) FROM (SELECT simhash_cluster(fp, %s) OVER () AS c FROM %s) s' \
		"$1" "${2:-docs}"
}

# at_once CPU...: milliseconds of $statement, run on each CPU at the same time
at_once()
{
	local place

	for place; do
		PGOPTIONS=$(settings once) sql -c "COPY (SELECT pg_backend_pid())
			TO PROGRAM 'xargs taskset -cp $place >/dev/null'" -c 'SELECT count(fp) FROM docs' \
			-c '\timing on' -c "$statement" | times &
	done | sort -n | tail -n 1
}

# self_joined K [TABLE]: a table with itself
self_joined()
{
	printf 'SELECT count(*) FROM %s a JOIN %s b ON a.fp <-> b.fp <= %s AND a.id < b.id' \
		"${2:-docs}" "${2:-docs}" "$1"
}

# near_tenth K: two tables, of which the second has a tenth of the rows
near_tenth()
{
	printf 'SELECT count(*) FROM docs a JOIN tenth b ON a.fp <-> b.fp <= %s AND a.id <> b.id' "$1"
}

# partnered K [NOT]: a tenth of the rows, by whether they have a partner among all
partnered()
{
	printf 'SELECT count(*) FROM tenth b
		WHERE %s EXISTS (SELECT FROM docs a WHERE a.fp <-> b.fp <= %s AND a.id <> b.id)' "${2:-}" "$1"
}

# busy K: what two busy processors gain at all
busy()
{
	local round statement alone=() both=()

	statement=$(paired "$1")
	for ((round = 1; round <= (${1} == 3 ? 5 : 1); round++)); do
		alone+=("$(at_once "$cpu")")
		both+=("$(at_once "$cpu" "${cpus##*[-,]}")")
	done
	note "Pairs, k = $1, $column M: $(median "${alone[@]}") ms alone, $(median "${both[@]}") ms
  beside the same on another processor, so that two can take
  $(calculate "$(median "${both[@]}") / 2 / $(median "${alone[@]}")") of the time of one"
}

# Until the end of input, look at the memory of the server's processes.  Then
# print, in bytes: what a leader of a team shares with it, the leader's own
# memory, that of a worker, and that of a process without a team.
watch_memory()
{
	perl -e '
		use strict;
		use warnings;
		no warnings qw(inplace portable);

		my ($postmaster) = @ARGV;
		my (%own, %shared, %leads, %is_worker);
		sub slurp { local (@ARGV, $/) = shift; return <> // "" }
		sub most { return (sort { $b <=> $a } @_, 0)[0] }
		while (!select(my $ready = "\1", undef, undef, 0.2)) {
			for my $pid (split " ", slurp("/proc/$postmaster/task/$postmaster/children")) {
				my ($leader) = slurp("/proc/$pid/cmdline") =~ /parallel worker for PID (\d+)/;
				$is_worker{$pid} = $leads{$leader} = 1 if defined $leader;
				my ($own) = slurp("/proc/$pid/status") =~ /^RssAnon:\s+(\d+)/m or next;
				$own{$pid} = most($own{$pid} // 0, 1024 * $own);
				my $shared = 0;
				for (slurp("/proc/$pid/maps") =~ m{^(\S+) rw-s .*(?:/dev/shm/PostgreSQL|pgsql_tmp)}mg) {
					my ($from, $to) = map { hex } split /-/;
					$shared += $to - $from;
				}
				$shared{$pid} = most($shared{$pid} // 0, $shared);
			}
		}
		print join(" ", most(map { $shared{$_} // 0 } keys %leads),
			most(map { $own{$_} // 0 } keys %leads), most(map { $own{$_} // 0 } keys %is_worker),
			most(map { $own{$_} } grep { !$leads{$_} && !$is_worker{$_} } keys %own)), "\n";
	' "$(head -n 1 "$work/data/postmaster.pid")"
}

# one_and_two NAME STATEMENT: one process and two
one_and_two()
{
	local memory name place=0

	measured+=("$1 $column")
	options[$1_two]="$two ${options[$1]:-}"
	mkfifo "$work/end"
	watch_memory <"$work/end" >"$work/memory" &
	exec 9>"$work/end"
	turns "$1" "$2" "$1_two" "$2"
	exec 9>&-
	wait $!
	rm "$work/end"
	read -ra memory <"$work/memory"
	for name in shared leader worker one; do
		put "$1_$name" "$(calculate "${memory[place]} / $rows" %.0f)"
		place=$((place + 1))
	done
	same "$1" "$1_two"
	ratio "$1_ratio" "$1_two" "$1"
}

# Build the library that logs the processor time of each unit of work.
build_traced()
{
	cp "$work/src/simhash.so" "$work/plain.so"
	touch "$work/src/src/near/team.c"
	COPT="${COPT:-} -DSIMHASH_TRACE_UNITS" make_copy all
	cp "$work/src/simhash.so" "$work/traced.so"
}

# library NAME: what sessions load from now on
library()
{
	cp "$work/$1.so" "$work/next.so"
	mv "$work/next.so" "$("$bindir/pg_config" --pkglibdir)/simhash.so"
}

# model NAME STATEMENT: by the units of a team of one.  What is not in a unit
# is measured without logging, which takes time.
model()
{
	local key value spent="SELECT split_part(pg_read_file('/proc/self/schedstat'), ' ', 1)"

	[ -n "$(get "$1_ms")" ] || one_and_two "$1" "$2"
	modelled+=("$1 $column")
	: >"$work/server.log"
	library traced
	PGOPTIONS="$(settings "$1_two") -c max_parallel_workers=0 -c log_min_messages=fatal" \
		sql -c "SELECT count(fp) FROM $scanned" -c "$spent" -c "$2" -c "$spent" \
		-c 'SET log_min_messages = log' -c 'SET log_min_error_statement = panic' \
		-c "$2" >"$work/spent"
	library plain
	while read -r key value; do
		put "$1_$key" "$value"
	done < <(perl "$root/bench/cores_model.pl" "$rows" "$(get "$1_ms")" "$(get "$1_two_ms")" \
		"$(sed -n 2p "$work/spent")" "$(sed -n 4p "$work/spent")" <"$work/server.log")
}

# load_cores DATA: the tables docs and, of 128 bits, wide; once if it is huge
load_cores()
{
	column="$1 $millions"
	say "$column million rows: loading"
	if [ "$kind" = huge ]; then
		generate "$1" 0
		sql -c 'DROP TABLE ids' -c 'ALTER TABLE generated RENAME TO docs' -c 'VACUUM ANALYZE docs'
	else
		generate "$1" 0 yes
		load_docs 'SELECT id::int, fp FROM generated ORDER BY id'
		sql -c 'CREATE UNLOGGED TABLE wide AS SELECT id::int, wide AS fp FROM generated ORDER BY id' \
			-c 'CREATE UNLOGGED TABLE tenth AS SELECT * FROM docs WHERE id % 10 = 0' \
			-c 'DROP TABLE generated' -c 'VACUUM ANALYZE wide' -c 'VACUUM ANALYZE tenth'
	fi
}

measure_cores()
{
	local k scanned=docs

	load_cores "$1"
	if [ "$kind" != huge ] && [ "$1" = uniform ]; then
		busy 3
		busy 8
	fi
	for k in 3 8; do
		one_and_two "pairs$k" "$(paired $k)"
		one_and_two "connected$k" "$(numbered $k)"
		one_and_two "joined$k" "$(self_joined $k)"
		[ "$kind" != huge ] || continue
		one_and_two "leader$k" "$(numbered "$k, 'leader'")"
		one_and_two "near$k" "$(near_tenth $k)"
		one_and_two "semi$k" "$(partnered $k)"
		one_and_two "anti$k" "$(partnered $k NOT)"
	done
	[ "$kind" != huge ] || return 0
	options[small8]='-c work_mem=4MB'
	one_and_two small8 "$(self_joined 8)"
	for k in 3 8; do
		model "pairs$k" "$(paired $k)"
		model "connected$k" "$(numbered $k)"
		model "joined$k" "$(self_joined $k)"
	done
	model leader3 "$(numbered "3, 'leader'")"
	scanned=wide
	one_and_two pairs16 "$(paired 16 wide)"
	one_and_two connected16 "$(numbered 16 wide)"
}

# model_dense NAME ROWS: for the table or view of that name
model_dense()
{
	local k

	column="$1 $(calculate "$rows / 1000000" %g)"
	load_docs "$2"
	[ "$1" != clusters ] || model pairs3 "$(paired 3)"
	for k in 3 8; do
		model "connected$k" "$(numbered $k)"
		model "leader$k" "$(numbered "$k, 'leader'")"
	done
}

measure_dense()
{
	local rows=$((rows / 10)) view

	say "dense, a tenth of $millions million rows: loading"
	sql -c 'DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE EXTENSION simhash' 2>/dev/null
	sql -f "$root/bench/random.sql" -c "CREATE UNLOGGED TABLE ids AS
			SELECT id FROM generate_series(1, $rows) id" -c 'ANALYZE ids' \
		-c "CREATE TABLE licences AS SELECT 1 AS n, 'text' AS body" \
		-v rows="$rows" -f "$root/bench/hostile.sql"
	model_dense clusters "$dense"
	for view in 'one bit in eight set' 'three bits in sixteen set' 'ball of 16' \
		'balls of 5 and 6, 10 apart'; do
		model_dense "$view" "SELECT row_number() OVER ()::int AS id, fp FROM \"$view\""
	done
}

print_cores_method()
{
	cat <<-METHOD
		Uniform: random fingerprints, a tenth of them 1 to 6 bits of each word of 64 from another.
		Skewed: those of made-up texts of 50 words, most of them copies of others, exact or not.
		Clusters: a third each in clusters of 100,000, 10,000 and 1,000, 4 bits from a centre; the other
		dense ones are those of bench/hostile.sql. All data and all that is made of it is in memory,
		work_mem = $work_mem. One process has max_parallel_workers_per_gather = 0, two have 1; they may
		use all processors. Their statements take turns and have found the same; times are medians of 5,
		of 3 above 4 s, and single ones above 15 s. What took longer than $limit s was cancelled. Pairs are
		counted in the SELECT list, clusters by max(), as they are numbered from 1 on.

		The model: a team of one process logs the processor time of each unit of work. So many processes
		take the units of a step in order, each the next one when it is free. A step ends with its last
		unit. The serial rest is what is in no unit: it is added. The largest share is the work of the
		process that works longest in each step, over the mean of all processes. The fit is what the model says of two
		processes, over what was measured. The speed-up is against one process without a team.
	METHOD
}

label()
{
	case $1 in
		pairs*) say "pairs, k = ${1#pairs}" ;;
		connected*) say "clusters, k = ${1#connected}" ;;
		leader*) say "leader, k = ${1#leader}" ;;
		joined*) say "self-join, k = ${1#joined}" ;;
		near*) say "join of all and a tenth, k = ${1#near}" ;;
		semi*) say "EXISTS, a tenth, k = ${1#semi}" ;;
		anti*) say "NOT EXISTS, a tenth, k = ${1#anti}" ;;
		small*) say "self-join, work_mem = 4MB, k = ${1#small}" ;;
	esac
}

print_cores()
{
	local name

	table 'One process and two' '|---|---|---|--:|--:|--:|--:|' \
		data 'rows, M' statement 'one, s' 'two, s' 'two / one' found
	for name in "${measured[@]}"; do
		column=${name#* }
		name=${name%% *}
		row "${column% *}" "${column##* }" "$(label "$name")" "$(get "${name}_s")" \
			"$(get "${name}_two_s")" "$(get "${name}_ratio")" "$(get "${name}_answer")"
	done
	table 'Memory, bytes a row' '|---|---|---|--:|--:|--:|--:|' \
		data 'rows, M' statement 'one process' 'of two: shared' 'the leader' 'the worker'
	for name in "${measured[@]}"; do
		column=${name#* }
		name=${name%% *}
		[[ $column = @(uniform|skewed)* ]] || continue
		row "${column% *}" "${column##* }" "$(label "$name")" "$(get "${name}_one")" \
			"$(get "${name}_shared")" "$(get "${name}_leader")" "$(get "${name}_worker")"
	done
}

print_model()
{
	local name

	[ ${#modelled[@]} -gt 0 ] || return 0
	table 'Model of 2, 16 and 64 processes' \
		'|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|' data 'rows, M' statement \
		'rest, s / M' 'share, 2' 16 64 fit '16: s' speed-up '64: s' speed-up
	for name in "${modelled[@]}"; do
		column=${name#* }
		name=${name%% *}
		row "${column% *}" "${column##* }" "$(label "$name")" "$(get "${name}_rest")" \
			"$(get "${name}_share2")" "$(get "${name}_share16")" "$(get "${name}_share64")" \
			"$(get "${name}_fit")" "$(get "${name}_time16")" "$(get "${name}_speed16")" \
			"$(get "${name}_time64")" "$(get "${name}_speed64")"
	done
	say
	say 'Rest: seconds a million rows. Share: the largest over the mean.'
}

bench_cores()
{
	local millions rounds=5 kind rows limit=900 work_mem=12GB

	columns=()
	result=()
	notes=()
	build_traced
	for millions; do
		set_rows "$millions"
		measure_cores uniform
		if [ "$kind" != huge ]; then
			measure_cores skewed
			measure_dense
		fi
	done
	{
		print_machine cores
		print_cores_method
		print_cores
		print_model
		print_notes
	} | tee "$work/results"
	keep_results cores
}
