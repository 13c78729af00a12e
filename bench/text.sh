# Making fingerprints, against md5() of the same rows, and comparing texts.  Sourced
# by script/bench, which lists the variables that they share.
#
# The texts are manual pages from Debian packages, which are only unpacked in
# $work (texts.pl).

rounds=7                # of statements that take turns, after one to warm up
declare -A packages=(
	[english]='manpages manpages-dev git-man perl-doc'
	[chinese]='manpages-zh'
	[japanese]='manpages-ja manpages-ja-dev'
	[accents]='manpages-fr manpages-de manpages-es manpages-pl'
	[mixed]='manpages-cs manpages-el manpages-ru manpages-tr manpages-vi')

download()
{
	(cd "$work/packages" && apt-get -q download "$@") >"$work/apt.log" 2>&1
}

make_texts()
{
	local package name wanted

	command -v apt-get >/dev/null || fail 'the texts are from Debian packages'
	mkdir -p "$work/packages" "$work/texts"
	read -ra wanted <<<"${packages[*]}"
	say "Downloading: ${wanted[*]}"
	download "${wanted[@]}" || {
		apt update
		download "${wanted[@]}" || fail "$(tail -n 5 "$work/apt.log")"
	}
	for package in "$work"/packages/*.deb; do
		dpkg-deb -x "$package" "${package%%_*}"
	done
	find "$work/packages" -type f -name '*.gz' -path '*/man/*' -exec gunzip -f {} +
	for name in "${!packages[@]}"; do
		mkdir "$work/texts/$name"
		for package in ${packages[$name]}; do
			find "$work/packages/$package/" -type f -path '*/man/*'
		done | LC_ALL=C sort | perl "$root/bench/texts.pl" "$work/texts/$name"
	done
}

# create_texts TABLE COLUMNS QUERY: a table that is not compressed
create_texts()
{
	sql -c "CREATE UNLOGGED TABLE $1 AS $3 WITH NO DATA" \
		-c "ALTER TABLE $1 ALTER ${2// / SET STORAGE EXTERNAL, ALTER } SET STORAGE EXTERNAL" \
		-c "INSERT INTO $1 $3" -c "VACUUM ANALYZE $1"
}

create_tables()
{
	local name

	sql -c 'CREATE EXTENSION simhash'
	for name in "${!packages[@]}"; do
		create_texts "$name" body "SELECT pg_read_file('$work/texts/$name/' || name) AS body
			FROM pg_ls_dir('$work/texts/$name') name"
	done
	for name in accents mixed; do
		create_texts "${name}_nfd" body "SELECT normalize(body, NFD) AS body FROM $name"
	done
	create_texts pieces body 'SELECT substr(body, i, 5000) AS body
		FROM english, generate_series(1, char_length(body) - 4999, 5000) i'
	create_texts pairs 'a b' 'SELECT body AS a, lead(body) OVER () AS b FROM pieces'
}

# time_calls TABLE CALL...: the median milliseconds of each of the calls for all rows,
# which take turns, in the array $ms
time_calls()
{
	local table=$1 round call i times of_one

	shift
	mapfile -t times < <({
		say '\timing on'
		for ((round = 0; round <= rounds; round++)); do
			for call; do
				say "SELECT count($call) FROM $table;"
			done
		done
	} | PGOPTIONS='-c max_parallel_workers_per_gather=0 -c client_min_messages=warning' sql -f - | times)
	[ ${#times[@]} -eq $(((rounds + 1) * $#)) ] || fail "failed: $*"
	ms=()
	for ((i = 0; i < $#; i++)); do
		of_one=()
		for ((round = 1; round <= rounds; round++)); do
			of_one+=("${times[round * $# + i]}")
		done
		ms+=("$(median "${of_one[@]}")")
	done
}

# size TABLE COLUMN: its rows in $count, its megabytes in $mb
size()
{
	read -r count mb < <(sql -F ' ' -c "SELECT count(*), sum(octet_length($2)) / 1e6
		FROM $1")
}

# compare_calls TITLE TABLE: its $calls, of which md5 is the first
compare_calls()
{
	local i

	size "$2" body
	time_calls "$2" "${calls[@]}"
	for i in "${!calls[@]}"; do
		show_row 'Texts, against md5(body)' "$1" "${calls[i]}" "$(calculate "${ms[i]} / ${ms[0]}")" \
			"$(calculate "$mb * 1000 / ${ms[i]}" %.0f)" "$(calculate "1000 * ${ms[i]} / $count")"
	done
}

compare_texts()
{
	local calls=('md5(body)') features

	for features in '' ', words => 3' ', chars => 4'; do
		calls+=("simhash(body$features, tf => 'count')" "simhash(body$features)"
			"simhash(body$features, tf => 'log')" "minhash(body$features)")
	done
	compare_calls English english
	compare_calls Chinese chinese
	compare_calls Japanese japanese
	calls=('md5(body)' 'simhash(body)' 'simhash(body, words => 3)' 'simhash(body, chars => 4)'
		'minhash(body)')
	compare_calls 'With accents' accents
	compare_calls 'the same, NFD' accents_nfd
	compare_calls Mixed mixed
	compare_calls 'the same, NFD' mixed_nfd
}

compare_pairs()
{
	local rounds=3 i calls=('text_jaccard(a, b, words => 3)' 'text_jaccard(a, b, words => 1)'
		'text_containment(a, b, words => 3)' "text_cosine(a, b, words => 3, tf => 'count')")

	count=$(sql -c 'SELECT count(*) FROM pairs')
	time_calls pairs "${calls[@]}"
	for i in "${!calls[@]}"; do
		show_row 'Similarity of two texts' 'pieces of 5 kB' "${calls[i]}" \
			"$(calculate "${ms[i]} / ${ms[0]}" %.1f)" "$(calculate "1000 * ${ms[i]} / $count")"
	done
}

describe_texts()
{
	local name

	for name in english chinese japanese accents mixed; do
		size "$name" body
		show_row Texts "$name" "$count" "$(calculate "$mb" %.1f)" \
			"$(sql -c "SELECT round(100 - 100 * sum(octet_length(
				regexp_replace(body, '[^\\x01-\\x7f]+', '', 'g')))::numeric
				/ sum(octet_length(body))) FROM $name")" "${packages[$name]}"
	done
}

print_text()
{
	cat <<-METHOD
		Times are medians of $rounds rounds (3 where it takes long), in which the statements of a
		table take turns on one processor, without parallel workers. Bodies are stored
		EXTERNAL, so that nothing is decompressed. A body is a manual page or a part of one,
		2 to 10 kB, without most of its markup.
	METHOD
	table Texts '|---|--:|--:|--:|---|' text documents MB 'not ASCII, %' 'from the packages'
	table 'Texts, against md5(body)' '|---|---|--:|--:|--:|' text call '/ md5' MB/s 'µs a document'
	table 'Similarity of two texts' '|---|---|--:|--:|' pairs call '/ the first' 'µs a pair'
}

bench_text()
{
	create_tables
	describe_texts
	pin
	compare_texts
	compare_pairs
	unpin
}
