# Deduplication: simhash_cluster() and simhash_pairs() against rank() and
# hand-written SQL.  Sourced by script/bench, which lists the variables that
# they share.
#
# On random fingerprints (uniform.sql), on those of made-up texts with many
# copies (skewed.sql), of package descriptions (real.sql), and on inputs that
# are hard to cut into small groups (hostile.sql).

limit=300               # seconds; what takes longer is cancelled
huge_limit=1200         # the same with more than 20 million rows
batch=10000             # rows of a new batch
work_mem=64MB
scanned=docs            # before each statement
declare -A options=()   # of the server, for a statement by its name
hostile=()              # "MILLIONS INPUT"
ranks='SELECT count(DISTINCT r) FROM (SELECT rank() OVER (ORDER BY fp) AS r FROM docs) s'

# settings NAME: of the session in which a statement runs
settings()
{
	say "-c max_parallel_workers_per_gather=0 -c work_mem=$work_mem ${options[$1]:-}"
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

# turns NAME STATEMENT [NAME STATEMENT]...: the medians, as NAME_s.  The
# statements take turns, $rounds times, those that take long less often.
turns()
{
	local -A all=() often=()
	local arguments=("$@") round i name over

	for ((round = 1; round <= rounds; round++)); do
		for ((i = 0; i < $#; i += 2)); do
			name=${arguments[i]}
			[ "$round" -le "${often[$name]:-$rounds}" ] || continue
			run_once "$name" "${arguments[i + 1]}"
			all[$name]+=" $ms"
			often[$name]=$((${ms%.*} > 15000 ? 1 : ${ms%.*} > 4000 ? 3 : rounds))
			result["${name}_answer $column"]=$answer
			result["${name}_grown $column"]=$grown
		done
	done
	for name in "${!all[@]}"; do
		# shellcheck disable=SC2086
		ms=$(median ${all[$name]})
		over=
		[ "${ms%.*}" -lt "${limit}000" ] || over='> '
		result["${name}_ms $column"]=$ms
		put "${name}_s" "$over$(calculate "$ms / 1000")"
	done
}

# ratio KEY NAME BASE [COLUMN]: of the times of two names, the second in
# another column
ratio()
{
	local base=${result["$3_ms ${4:-$column}"]:-} over=

	[ -n "$base" ] || return 0
	[[ $(get "$2_s") != '>'* ]] || over='> '
	put "$1" "$over$(calculate "$(get "$2_ms") / $base")"
}

# memory NAME...: bytes a row
memory()
{
	local name

	for name; do
		[ -z "$(get "${name}_grown")" ] ||
			put "${name}_bytes" "$(calculate "1024 * $(get "${name}_grown") / $rows" %.0f)"
	done
}

# same NAME NAME: they have found the same, if they have ended
same()
{
	[[ " $(get "$1_answer") $(get "$2_answer") " = *' - '* ]] ||
		[ "$(get "$1_answer")" = "$(get "$2_answer")" ] ||
		fail "$column: $1 found $(get "$1_answer"), $2 $(get "$2_answer")"
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

all_pairs='SELECT count(*) FROM (SELECT simhash_pairs($$SELECT id, fp FROM docs$$, 3)) s'

# load_docs SOURCE: the table docs, of a table or view
load_docs()
{
	sql -c 'DROP TABLE IF EXISTS docs' 2>/dev/null
	sql -c "CREATE UNLOGGED TABLE docs AS $1" -c 'VACUUM ANALYZE docs'
}

measure_clusters()
{
	turns rank "$ranks" k3 "$(clusters 3)" leader "$(clusters "3, 'leader'")"
	ratio k3_rank k3 rank
	memory rank k3 leader
	if [ -n "$(get k3_bytes)" ] && [ -n "$(get rank_bytes)" ]; then
		put k3_beyond $(($(get k3_bytes) - $(get rank_bytes)))
	fi
	if [ "$kind" != huge ]; then
		turns k6 "$(clusters 6)" k8 "$(clusters 8)"
		ratio k6_k3 k6 k3
		ratio k8_k3 k8 k3
		memory k8
	fi
	if [ "$kind" = small ]; then
		turns k10 "$(clusters 10)"
		ratio k10_k3 k10 k3
	fi
	ratio k3_uniform k3 k3 "uniform $millions"
	ratio k6_uniform k6 k6 "uniform $millions"
	ratio k8_uniform k8 k8 "uniform $millions"
	ratio k10_uniform k10 k10 "uniform $millions"
	ratio leader_uniform leader leader "uniform $millions"
}

# The default work_mem.
measure_little_memory()
{
	local work_mem=4MB

	turns rank4 "$ranks" k3m4 "$(clusters 3)"
	ratio k3m4_rank k3m4 rank4
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

# Pairs that differ in at most 3 bits agree in one of 4 blocks of 16 bits, and
# in one of the 10 keys that two of 5 blocks of 12 or 13 bits make.
create_blocks()
{
	sql -c "CREATE UNLOGGED TABLE blocks AS
			SELECT id, fp, (f & 65535)::int AS b0, (f >> 16 & 65535)::int AS b1,
				(f >> 32 & 65535)::int AS b2, (f >> 48 & 65535)::int AS b3
			FROM docs, CAST(fp AS bigint) f" \
		-c "CREATE UNLOGGED TABLE numbered AS
			SELECT id, fp, block, (fp::bigint >> 16 * block & 65535)::int AS value
			FROM docs, generate_series(0, 3) block" \
		-c "CREATE UNLOGGED TABLE keys AS
			SELECT id, fp, c0 << 13 | c1 AS k0, c0 << 13 | c2 AS k1, c0 << 13 | c3 AS k2,
				c0 << 13 | c4 AS k3, c1 << 13 | c2 AS k4, c1 << 13 | c3 AS k5, c1 << 13 | c4 AS k6,
				c2 << 13 | c3 AS k7, c2 << 13 | c4 AS k8, c3 << 13 | c4 AS k9
			FROM (SELECT id, fp, (f & 8191)::int AS c0, (f >> 13 & 8191)::int AS c1,
					(f >> 26 & 8191)::int AS c2, (f >> 39 & 8191)::int AS c3, (f >> 52 & 4095)::int AS c4
				FROM docs, CAST(fp AS bigint) f) s" \
		-c 'VACUUM ANALYZE blocks, numbered, keys'
}

# joined TABLE COLUMNS...: hash joins, and the pairs once
joined()
{
	local table=$1 columns statement=

	shift
	for columns; do
		statement+=${statement:+ UNION }"SELECT a.id AS a, b.id AS b, a.fp <-> b.fp AS distance
			FROM $table a JOIN $table b USING ($columns) WHERE a.id < b.id AND a.fp <-> b.fp <= 3"
	done
	summed "($statement) s"
}

# by_hand NAME...: against statements, which have the same answer
by_hand()
{
	local work_mem=1GB name best= other

	say '    by hand'
	create_blocks
	turns keys "$(joined keys k0 k1 k2 k3 k4 k5 k6 k7 k8 k9)" \
		blocks "$(joined blocks b0 b1 b2 b3)" \
		numbered "$(summed '(SELECT DISTINCT a.id AS a, b.id AS b, a.fp <-> b.fp AS distance
			FROM numbered a JOIN numbered b USING (block, value)
			WHERE a.id < b.id AND a.fp <-> b.fp <= 3) s')"
	sql -c 'DROP TABLE blocks, numbered, keys'
	for name in keys blocks numbered; do
		[ -n "$(get ${name}_ms)" ] || continue
		same "$name" "$1"
		if [ -z "$best" ] ||
			[ "$(calculate "$(get ${name}_ms) < $(get ${best}_ms)" %d)" -eq 1 ]; then
			best=$name
		fi
	done
	for other; do
		ratio "hand_$other" "$best" "$other"
	done
}

measure_pairs()
{
	local batch_pairs

	batch_pairs=$(summed '(SELECT a.id AS a, b.id AS b, a.fp <-> b.fp AS distance
		FROM batch a JOIN docs b ON a.fp <-> b.fp <= 3) s')
	turns from "$(summed "simhash_pairs('SELECT id, fp FROM docs', 3)")"
	[ "$kind" = huge ] || turns streamed "$all_pairs"
	memory from streamed
	[ "$kind" != small ] || by_hand from
	create_batch
	turns batch "$batch_pairs"
	if [ "$kind" != huge ]; then
		sql -c 'CREATE INDEX ON docs USING hamming (fp)'
		options[index]='-c simhash.enable_hammingjoin=off'
		turns index "$batch_pairs"
		same index batch
	fi
}

# load_data DATA: a column of the results, and the table docs
load_data()
{
	column="$1 $millions"
	columns+=("$column")
	say "$column million rows: loading"
	generate "$1" 0 <"$work/descriptions"    # for real.sql
	load_docs 'SELECT id::int, fp FROM generated ORDER BY id'
	sql -c 'DROP TABLE generated'
}

measure_data()
{
	local limit=$limit

	[ "$kind" != huge ] || limit=$huge_limit
	load_data "$1"
	pin
	measure_clusters
	if [ "$1" = uniform ]; then
		[ "$kind" = huge ] || measure_little_memory
		measure_pairs
	elif [ "$kind" = small ]; then
		turns streamed "$all_pairs"
	fi
	unpin
}

measure_hostile()
{
	local rounds=3 base="uniform $millions" input inputs name worst=()

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
		hostile+=("$column")
		say "$input, $millions million rows"
		load_docs "SELECT fp FROM \"$input\""
		pin
		turns k3 "$(clusters 3)" leader "$(clusters "3, 'leader'")" k8 "$(clusters 8)"
		unpin
		ratio k3_uniform k3 k3 "$base"
		ratio leader_uniform leader leader "$base"
		ratio k8_uniform k8 k8 "$base"
		worst+=("k3 $(get k3_uniform)" "leader $(get leader_uniform)" "k8 $(get k8_uniform)")
	done
	column=$base
	for name in k3 leader k8; do
		put "worst_$name" "$(printf '%s\n' "${worst[@]}" |
			sed -n "s/^$name //p" | awk '$NF > most + 0 { most = $NF; line = $0 }
				END { print line }')"
	done
}

# The texts as rows for COPY.
read_texts()
{
	say 'Reading package descriptions and licences'
	read_descriptions en >"$work/descriptions"
	find /usr/share/common-licenses /usr/share/doc -type f \( -name copyright \
		-o -path '*/common-licenses/*' \) -print0 |
		read_files >"$work/licences" 2>"$work/files.log"
}

# What the subjects of this file and of join.sh are measured on.
print_data()
{
	cat <<-DATA
		Uniform: random fingerprints, a tenth of them 1 to 6 bits from another. Skewed: made-up texts
		of 50 words, most of them copies of others, exact or not. Real: Debian's package descriptions,
		each repeated with one word replaced until there are enough.

	DATA
}

print_cluster_method()
{
	print_data
	cat <<-METHOD
		A statement runs in a session of its own, on one processor without parallel workers, with all
		data in memory, and work_mem = $work_mem for both sides unless another is named. Times are
		medians of $rounds, of 3 above 4 s, and single ones above 15 s; what took longer than $limit s,
		or $huge_limit s with more than 20 M rows, was cancelled, and what would take minutes was measured with up to 2 M rows only. Ratios are
		to what the same run has measured. Clusters are counted by

		    SELECT count(DISTINCT c) FROM (SELECT simhash_cluster(fp, 3) OVER () AS c FROM docs) s

		and the baseline is

		    $ranks
	METHOD
}

print_cluster_summary()
{
	say
	table_head
	table_row 'simhash_cluster, k = 3, s' k3_s
	table_row 'simhash_cluster, k = 3 / rank()' k3_rank
	table_row 'k = 6 / k = 3' k6_k3
	table_row 'k = 8 / k = 3' k8_k3
	table_row 'k = 3 / uniform' k3_uniform
	table_row 'worst hostile input / uniform, k = 3' worst_k3
	table_row 'worst hostile input / uniform, leader, k = 3' worst_leader
	table_row 'worst hostile input / uniform, k = 8' worst_k8
	table_row 'simhash_pairs in FROM, k = 3, s' from_s
	table_row 'best SQL by hand / simhash_pairs' hand_from
}

print_clusters()
{
	say
	say '## Clusters'
	say
	table_head
	table_row 'rank(), s' rank_s
	table_row 'k = 3, s' k3_s
	table_row 'k = 6, s' k6_s
	table_row 'k = 8, s' k8_s
	table_row 'k = 10, s' k10_s
	table_row "leader, k = 3, s" leader_s
	table_row 'k = 10 / k = 3' k10_k3
	table_row 'k = 6 / uniform' k6_uniform
	table_row 'k = 8 / uniform' k8_uniform
	table_row 'k = 10 / uniform' k10_uniform
	table_row 'leader, k = 3 / uniform' leader_uniform
	table_row 'rank(), work_mem = 4MB, s' rank4_s
	table_row 'k = 3, work_mem = 4MB, s' k3m4_s
	table_row 'k = 3 / rank(), work_mem = 4MB' k3m4_rank
	table_row 'distinct fingerprints' rank_answer
	table_row 'clusters, k = 3' k3_answer
	table_row 'clusters, k = 6' k6_answer
	table_row 'clusters, k = 8' k8_answer
	table_row 'clusters, k = 10' k10_answer
	table_row 'clusters, leader, k = 3' leader_answer
}

print_pairs()
{
	say
	say '## Pairs, k = 3'
	say
	say "By hand: the pairs that the hash joins have found, with work_mem = 1GB, on a table that already"
	say "has the blocks as columns. A batch is $batch rows, half of them near one of the others."
	say
	table_head
	table_row 'simhash_pairs in FROM, s' from_s
	table_row 'simhash_pairs in the select list, s' streamed_s
	table_row 'by hand: UNION of 4 joins on blocks of 16 bits, s' blocks_s
	table_row 'by hand: DISTINCT of one join on (block, value), s' numbered_s
	table_row 'by hand: UNION of 10 joins on 2 of 5 blocks, s' keys_s
	table_row 'a batch, HammingJoin, s' batch_s
	table_row 'a batch, by a hamming index, s' index_s
	table_row 'pairs' streamed_answer
}

print_hostile()
{
	[ ${#hostile[@]} -gt 0 ] || return 0
	table 'Hostile inputs, against uniform data of as many rows' \
		'|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|' input 'rows, M' \
		'k = 3, s' '/ uniform' clusters 'leader, s' '/ uniform' clusters \
		'k = 8, s' '/ uniform' clusters
	for column in "${hostile[@]}"; do
		row "${column#* }" "${column%% *}" "$(get k3_s)" "$(get k3_uniform)" "$(get k3_answer)" \
			"$(get leader_s)" "$(get leader_uniform)" "$(get leader_answer)" \
			"$(get k8_s)" "$(get k8_uniform)" "$(get k8_answer)"
	done
}

print_memory()
{
	say
	say '## Memory'
	say
	say "What the statement adds to the most that its backend has had (VmHWM), bytes a row. rank() sorts"
	say 'in work_mem, and simhash_cluster() has a tuplestore of the rows there.'
	say
	table_head
	table_row 'rank()' rank_bytes
	table_row 'simhash_cluster, k = 3' k3_bytes
	table_row 'the same, beyond rank()' k3_beyond
	table_row 'simhash_cluster, leader, k = 3' leader_bytes
	table_row 'simhash_cluster, k = 8' k8_bytes
	table_row 'simhash_pairs in FROM' from_bytes
	table_row 'simhash_pairs in the select list' streamed_bytes
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

bench_cluster()
{
	local millions rounds=5 kind rows work_mem=1GB

	columns=()
	result=()
	read_texts
	for millions; do
		set_rows "$millions"
		measure_data uniform
		if [ "$kind" = small ]; then
			measure_data skewed
			measure_data real
			measure_hostile
		fi
	done
	{
		print_machine cluster
		print_cluster_method
		print_cluster_summary
		print_clusters
		print_pairs
		print_hostile
		print_memory
	} | tee "$work/results"
	keep_results cluster
}
