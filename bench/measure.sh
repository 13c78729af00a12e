# What several parts of script/bench measure by.  Sourced by it; it lists the variables
# that they share.

rounds=3                # of statements that take turns
scanned=plain           # before each statement
settings='-c max_parallel_workers_per_gather=0 -c work_mem=1GB -c enable_mergejoin=off'
one_process='SET max_parallel_maintenance_workers = 0'
by_index='-c max_parallel_workers_per_gather=0 -c enable_seqscan=off'
by_scan='-c max_parallel_workers_per_gather=0 -c enable_indexscan=off -c enable_bitmapscan=off'
most_memory="SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')"     # kB
declare -A sums=()      # of the rows that "COLUMN, KEY" has found
declare -A answers=()   # of "TITLE, MILLIONS"
declare -A growth=()    # of the memory of a title, in kB

sql()
{
	"$bindir/psql" -X -q -At -v ON_ERROR_STOP=1 "$@"
}

# The times in psql's output, in milliseconds.
times()
{
	sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p'
}

calculate()
{
	awk "BEGIN { printf \"${2:-%.2f}\", $1 }"
}

median()
{
	printf '%s\n' "$@" | sort -g | sed -n "$((($# + 1) / 2))p"
}

# One client and its backend on one processor, or PostgreSQL on all again.
pin()
{
	taskset -cp "$cpu" "$(head -n 1 "$work/data/postmaster.pid")" >/dev/null
}

unpin()
{
	taskset -cp "$cpus" "$(head -n 1 "$work/data/postmaster.pid")" >/dev/null
}

# The rows of so many millions; how often, and how much, is measured with them.
set_rows()
{
	rows=$(calculate "$millions * 1000000" %.0f)
	[ "$rows" -ge 10000 ] || fail "$millions million rows are too few"
	kind=small builds=$rounds few=20    # queries for what takes long
	[ "$rows" -le 2000000 ] || kind=large builds=1 few=6
	[ "$rows" -le 20000000 ] || kind=huge builds=1 few=3    # scans take several seconds each
}

# generate MORE [WIDE]: the table generated, of random fingerprints: $rows of these, and
# some more; with 128 bits beside 64 where WIDE is yes
generate()
{
	say "$millions million rows: loading"
	sql -c 'DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE EXTENSION simhash' 2>/dev/null
	sql -v rows="$rows" -v more="$1" -v wide="${2:-no}" -f "$root/bench/random.sql" -f "$root/bench/uniform.sql"
}

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

# time_build TABLE NAME USING [SETTINGS]: milliseconds of an index in $ms
time_build()
{
	sql -c CHECKPOINT
	time_sql "${4:-$one_process}" "CREATE INDEX $2 ON $1 USING $3"
}

bytes_a_row()
{
	sql -c "SELECT round(pg_relation_size('$1')::numeric / $rows, 1)"
}

# The program by which measure times statements.
build_latency()
{
	gcc -O2 -I"$("$(find_pg_config)" --includedir)" -o "$work/latency" \
		"$root/bench/latency.c" -L"$("$bindir/pg_config" --libdir)" -lpq
}

# create_queries TABLE BITS: of its rows, the files that measure reads
create_queries()
{
	sql -v table="$1" -v bits="$2" -v rows="$rows" -f "$root/bench/queries.sql"
	sql -c 'SELECT fp FROM queries ORDER BY n' >"$work/fps"
	sql -c 'SELECT id FROM queries ORDER BY n' >"$work/ids"
	head -n "$few" "$work/fps" >"$work/few"
	sql -c "SELECT fp FROM queries WHERE n % 2 = 1 ORDER BY n LIMIT $few" >"$work/far"
}

# measure SETTINGS VALUES STATEMENT [KEY]: the median in $us.  All statements of a key
# must find the same rows.
measure()
{
	local found sum

	read -r us found sum < <(PGOPTIONS=$1 taskset -c "$cpu" "$work/latency" "$3" <"$work/$2")
	[ -n "${4:-}" ] || return 0
	: "${sums[$column, $4]:=$sum}"
	[ "$sum" = "${sums[$column, $4]}" ] || fail "$column: other rows ($found) from: $3"
}

within()
{
	printf 'SELECT id FROM %s WHERE fp <-> $1 <= %s' "$1" "$2"
}

# expect_plan NODE TITLE STATEMENT: note where its plan has not the node
expect_plan()
{
	local plan value

	value="'$(tail -n 1 "$work/fps")'"
	plan=$(PGOPTIONS=$settings sql -c "EXPLAIN (COSTS OFF) ${3//\$1/$value}")
	[[ $plan = *"$1"* ]] || note "$column, $2: the plan was without $1"
}

# lookup TABLE K: lookups by the primary key and by the index take turns.  Medians
# in $key and $us.
lookup()
{
	local keys=() index=() round

	for ((round = 0; round < rounds; round++)); do
		measure '' ids "SELECT fp FROM $1 WHERE id = \$1"
		keys+=("$us")
		measure "$by_index" fps "$(within "$1" "$2")" "$1 within $2"
		index+=("$us")
	done
	key=$(median "${keys[@]}")
	us=$(median "${index[@]}")
	expect_plan "$1_fp" "$1, k = $2" "$(within "$1" "$2")"
}

# run_once STATEMENT: in a session of its own, after a scan of the tables so that it
# finds all pages mapped, and in a transaction that is rolled back.  Its row in $answer,
# its milliseconds in $ms, and the kB by which it has raised the most memory that
# the backend has had in $grown.
run_once()
{
	local output

	output=$(PGOPTIONS=$settings sql -c "SELECT count(fp IS NULL) FROM $scanned" -c "$most_memory" -c BEGIN \
		-c '\timing on' -c "$1" -c '\timing off' -c "$most_memory")
	answer=$(sed -n 3p <<<"$output")
	grown=$(($(sed -n 5p <<<"$output") - $(sed -n 2p <<<"$output")))
	ms=$(times <<<"$output")
}

# turns SECTION TITLE STATEMENT [TITLE STATEMENT]...: show the medians, in seconds.  The
# statements take turns, but what takes over 15 s runs once.  A statement always
# has the same answer.
turns()
{
	local -A all=()
	local section=$1 round title i first arguments=("${@:2}")

	for ((round = 0; round < rounds; round++)); do
		for ((i = 0; i < ${#arguments[@]}; i += 2)); do
			title=${arguments[i]}
			first=${all[$title]:-0}
			[ "${first%%.*}" -lt 15000 ] || continue
			run_once "${arguments[i + 1]}"
			all[$title]+="$ms "
			growth[$title]=$grown
			: "${answers[$title, $millions]:=$answer}"
			[ "$answer" = "${answers[$title, $millions]}" ] || fail "$column, $title: another answer, $answer"
		done
	done
	for ((i = 0; i < ${#arguments[@]}; i += 2)); do
		# shellcheck disable=SC2086
		show "$section" "${arguments[i]}" "$(calculate "$(median ${all[${arguments[i]}]}) / 1000")"
	done
}
