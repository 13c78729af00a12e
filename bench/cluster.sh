# Deduplication: simhash_cluster() and simhash_pairs().  Sourced by script/bench,
# which lists the variables that they share.
#
# On random fingerprints (uniform.sql), on inputs that are hard to cut into small
# groups (hostile.sql), and on texts that are compared (copies.sql).

limit=300               # seconds; what takes longer is cancelled
huge_limit=1200         # the same with more than 20 million rows
batch=10000             # rows of a new batch
work_mem=64MB           # of a statement whose name has no other one
scanned=docs            # before each statement
declare -A options=()   # of the server, for a statement by its name

# settings NAME: of the session in which a statement runs
settings()
{
	local memory=$work_mem

	[[ $1 != *'work_mem = '* ]] || memory=${1##*work_mem = }
	say "-c max_parallel_workers_per_gather=0 -c work_mem=$memory ${options[$1]:-}"
}

# run_once NAME STATEMENT: in a session of its own, after a scan of a table so
# that it finds all pages mapped, and in a transaction that is rolled back.  Its
# row in $answer, its milliseconds in $ms, and the kB by which it has raised the
# most memory that the backend has had in $grown.
run_once()
{
	local output peak="SELECT substring(pg_read_file('/proc/self/status')
		FROM 'VmHWM:\s+(\d+)')"

	answer=-
	grown=
	if output=$(PGOPTIONS="$(settings "$1") -c statement_timeout=${limit}s
		-c client_min_messages=warning" sql -F ' ' -c "SELECT count(fp) FROM $scanned" -c "$peak" \
		-c BEGIN -c '\timing on' -c "$2" -c '\timing off' -c "$peak" 2>"$work/errors"); then
		answer=$(sed -n 3p <<<"$output")
		grown=$(($(sed -n 5p <<<"$output") - $(sed -n 2p <<<"$output")))
	else
		grep -q 'statement timeout' "$work/errors" || fail "$(<"$work/errors")"
	fi
	ms=$(times <<<"$output")
}

# turns SECTION NAME STATEMENT [NAME STATEMENT]...: show the medians, in seconds, or put
# them where SECTION is empty.  The statements take turns, $rounds times, those that
# take long less often.
turns()
{
	local -A all=() often=()
	local section=$1 arguments=("${@:2}") round i name over

	for ((round = 1; round <= rounds; round++)); do
		for ((i = 0; i < ${#arguments[@]}; i += 2)); do
			name=${arguments[i]}
			[ "$round" -le "${often[$name]:-$rounds}" ] || continue
			run_once "$name" "${arguments[i + 1]}"
			all[$name]+=" $ms"
			often[$name]=$((${ms%.*} > 15000 ? 1 : ${ms%.*} > 4000 ? 3 : rounds))
			result["answer of $name $column"]=$answer
			result["grown by $name $column"]=$grown
		done
	done
	for ((i = 0; i < ${#arguments[@]}; i += 2)); do
		name=${arguments[i]}
		# shellcheck disable=SC2086
		ms=$(median ${all[$name]})
		over=
		[ "${ms%.*}" -lt "${limit}000" ] || over='> '
		result["ms of $name $column"]=$ms
		over+=$(calculate "$ms / 1000")
		if [ -n "$section" ]; then
			show "$section" "$name" "$over"
		else
			put "$name" "$over"
		fi
	done
}

# ratio NAME BASE [COLUMN]: of the times of two names, the second in another column
ratio()
{
	local base=${result["ms of $2 ${3:-$column}"]:-}

	[ -z "$base" ] || calculate "$(get "ms of $1") / $base"
}

# memory TITLE NAME: bytes a row
memory()
{
	[ -z "$(get "grown by $2")" ] ||
		show Memory "$1" "$(calculate "1024 * $(get "grown by $2") / $rows" %.0f)"
}

# same NAME NAME: they have found the same, if they have ended
same()
{
	[[ " $(get "answer of $1") $(get "answer of $2") " = *' - '* ]] ||
		[ "$(get "answer of $1")" = "$(get "answer of $2")" ] ||
		fail "$column: $1 found $(get "answer of $1"), $2 $(get "answer of $2")"
}

# clusters ARGUMENTS [TABLE]
clusters()
{
	printf 'SELECT count(DISTINCT c) FROM (SELECT simhash_cluster(fp, %s) OVER () AS c FROM %s) s' \
		"$1" "${2:-docs}"
}

# summed FROM: the pairs' number and a sum that tells whether they are the same
summed()
{
	printf 'SELECT count(*), sum(a::bigint * b + distance) FROM %s' "$1"
}

# load_docs SOURCE: the table docs, of a table or view
load_docs()
{
	sql -c 'DROP TABLE IF EXISTS docs' 2>/dev/null
	sql -c "CREATE UNLOGGED TABLE docs AS $1" -c 'VACUUM ANALYZE docs'
}

measure_clusters()
{
	local k ks=(3 6 8 10)

	if [ "$kind" = huge ]; then
		ks=(3)
	elif [ "$kind" = large ]; then
		ks=(3 6 8)
	fi
	for k in "${ks[@]}"; do
		turns Clusters "k = $k, s" "$(clusters "$k")"
		show Clusters "clusters, k = $k" "$(get "answer of k = $k, s")"
		memory "simhash_cluster, k = $k" "k = $k, s"
	done
	turns Clusters 'leader, k = 3, s' "$(clusters "3, 'leader'")"
	show Clusters 'clusters, leader, k = 3' "$(get 'answer of leader, k = 3, s')"
	memory 'simhash_cluster, leader, k = 3' 'leader, k = 3, s'
}

# Rows of which half are near one of the table.
create_batch()
{
	sql -c 'DROP TABLE IF EXISTS batch' 2>/dev/null
	sql -c "CREATE UNLOGGED TABLE batch AS
		SELECT $rows + n AS id, CASE WHEN n % 2 = 0
			THEN (fp::bigint # flips(n, draw(n, 41, 4)))::simhash64
			ELSE hashint8extended(n, 42)::simhash64 END AS fp
		FROM generate_series(1, $batch) n JOIN docs ON docs.id = draw(n, 43, $rows) + 1" \
		-c 'VACUUM ANALYZE batch'
}

measure_pairs()
{
	local section='Pairs, k = 3' batch_pairs by_index='a batch, by a hamming index, s'

	batch_pairs=$(summed '(SELECT a.id AS a, b.id AS b, a.fp <-> b.fp AS distance
		FROM batch a JOIN docs b ON a.fp <-> b.fp <= 3) s')
	turns "$section" 'simhash_pairs in FROM, s' "$(summed "simhash_pairs('SELECT id, fp FROM docs', 3)")"
	memory 'simhash_pairs in FROM' 'simhash_pairs in FROM, s'
	create_batch
	turns "$section" 'a batch, HammingJoin, s' "$batch_pairs"
	if [ "$kind" != huge ]; then
		sql -c 'CREATE INDEX ON docs USING hamming (fp)'
		options[$by_index]='-c simhash.enable_hammingjoin=off'
		turns "$section" "$by_index" "$batch_pairs"
		same "$by_index" 'a batch, HammingJoin, s'
	fi
}

# load_data DATA: a column of the results, and the table docs
load_data()
{
	column="$1 $millions"
	columns+=("$column")
	say "$column million rows: loading"
	generate "$1" 0
	load_docs 'SELECT id::int, fp FROM generated ORDER BY id'
	sql -c 'DROP TABLE generated'
}

measure_cluster()
{
	local limit=$limit

	[ "$kind" != huge ] || limit=$huge_limit
	load_data uniform
	pin
	measure_clusters
	measure_pairs
	unpin
}

measure_hostile()
{
	local rounds=3 base="uniform $millions" input inputs name cells

	say "hostile, $millions million rows: loading"
	sql -c 'CREATE TABLE files (name text, body text)' \
		-c "COPY files FROM STDIN (ENCODING 'UTF8')" \
		-c 'CREATE TABLE licences AS SELECT row_number() OVER () AS n, body
			FROM (SELECT left(body, 4000) AS body
				FROM (SELECT DISTINCT ON (body) * FROM files WHERE length(body) > 1000) f
				ORDER BY name NOT LIKE $$%common-licenses%$$, md5(name) LIMIT 100) f' \
		-v rows="$rows" -f "$root/bench/hostile.sql" <"$work/licences"
	mapfile -t inputs < <(sql -c "SELECT relname FROM pg_class WHERE relkind = 'v'
		AND relnamespace = 'public'::regnamespace ORDER BY oid")
	for input in "${inputs[@]}"; do
		column="$millions $input"
		say "$input, $millions million rows"
		load_docs "SELECT fp FROM \"$input\""
		pin
		turns '' 'k = 3, s' "$(clusters 3)" 'leader, k = 3, s' "$(clusters "3, 'leader'")" \
			'k = 8, s' "$(clusters 8)"
		unpin
		cells=()
		for name in 'k = 3, s' 'leader, k = 3, s' 'k = 8, s'; do
			cells+=("$(get "$name")" "$(ratio "$name" "$name" "$base")" "$(get "answer of $name")")
		done
		show_row 'Hostile inputs, against uniform data of as many rows' "$input" "$millions" "${cells[@]}"
	done
}

# checked METHOD TABLE: clusters of texts that are alike, and in place of method what
# tells nothing of texts
checked()
{
	printf 'SELECT count(DISTINCT c), sum(length(body)) FROM (SELECT body, simhash_cluster(fp, 10, %s)
		OVER (ORDER BY id) AS c FROM "%s") s' "$1" "$2"
}

# Stock settings: two workers, and 4 MB.
measure_texts()
{
	local rounds=3 limit=60 work_mem=4MB input inputs name cells names=(plain leader connected pairs)

	say "texts, $millions million rows: loading"
	sql -v rows="$rows" -f "$root/bench/copies.sql" >/dev/null
	mapfile -t inputs < <(sql -c "SELECT relname FROM pg_class WHERE relkind = 'r'
		AND relname ~ 'texts|copies' AND relnamespace = 'public'::regnamespace ORDER BY oid")
	for name in "${names[@]}"; do
		options[$name]='-c max_parallel_workers_per_gather=2'
	done
	for input in "${inputs[@]}"; do
		column="$millions $input"
		scanned="\"$input\""
		say "$input"
		turns '' plain "$(checked "'leader'" "$input")" \
			leader "$(checked "'leader', body, 0.8" "$input")" \
			connected "$(checked "'connected', body, 0.8" "$input")" \
			pairs "SELECT count(*), sum(cluster) FROM simhash_components(\$\$
				SELECT a.id, b.id FROM \"$input\" a JOIN \"$input\" b ON a.fp <-> b.fp <= 10 AND a.id < b.id
				WHERE text_jaccard(a.body, b.body, words => 3) >= 0.8\$\$, 'leader')"
		cells=()
		for name in "${names[@]}"; do
			cells+=("$(get "$name")")
		done
		show_row 'Texts that are compared' "$input" "$(sql -c "SELECT count(*) FROM \"$input\"")" "${cells[@]}" \
			"$(get 'answer of leader' | sed 's/ .*//')"
	done
}

# The rows of so many millions, and how much is measured with them.
set_rows()
{
	rows=$(calculate "$1 * 1000000" %.0f)
	[ "$rows" -ge 10000 ] || fail "$1 million rows are too few"
	kind=small
	[ "$rows" -le 2000000 ] || kind=large
	[ "$rows" -le 20000000 ] || kind=huge
}

print_cluster()
{
	cat <<-METHOD
		Uniform: random fingerprints, a tenth of them 1 to 6 bits from another.

		A statement runs in a session of its own, on one processor without parallel workers, with all
		data in memory, and work_mem = 1GB. Times are medians of 5, of 3 above 4 s, and single ones above
		15 s; what took longer than $limit s, or $huge_limit s with more than 20 M rows, was cancelled, and
		what would take minutes was measured with up to 2 M rows only. Clusters are counted by

		    $(clusters 3)
	METHOD
	section Clusters ''
	section 'Pairs, k = 3' 'A batch is 10000 rows, half of them near one of the others.'
	section Memory 'What the statement adds to the most that its backend has had (VmHWM), bytes a row.
simhash_cluster() has a tuplestore of the rows there.'
	table 'Hostile inputs, against uniform data of as many rows' \
		'|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|' input 'rows, M' \
		'k = 3, s' '/ uniform' clusters 'leader, s' '/ uniform' clusters \
		'k = 8, s' '/ uniform' clusters
	table 'Texts that are compared' '|---|--:|--:|--:|--:|--:|--:|' 'input; k = 10' rows \
		"'leader', fingerprints alone, s" "'leader', texts, s" "'connected', texts, s" \
		'pairs and simhash_components, s' "clusters, 'leader', texts"
	cat <<-METHOD

		Texts are compared with stock settings, work_mem = 4MB and two workers, and selected beside
		the clusters. Medians of 3; alike are texts that share 80 % of their runs of three words.
	METHOD
}

bench_cluster()
{
	local millions rounds=5 kind work_mem=1GB

	find /usr/share/common-licenses /usr/share/doc -type f \( -name copyright \
		-o -path '*/common-licenses/*' \) -print0 |
		read_files >"$work/licences" 2>"$work/files.log"
	for millions; do
		set_rows "$millions"
		measure_cluster
		if [ "$kind" = small ]; then
			measure_hostile
			measure_texts
		fi
	done
}
