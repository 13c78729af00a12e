# Making fingerprints, against md5() and to_tsvector() of the same rows, and
# against other programs.  Sourced by script/bench, which lists the variables
# that they share.
#
# The texts are manual pages from Debian packages, which are only unpacked in
# $work (texts.pl), and descriptions of packages.

rounds=7                # of statements that take turns, after one to warm up
titles=10000000
shape_bytes=2000000
weights=100000
pairs=10000             # of descriptions
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
	read -ra wanted <<<"simhash ${packages[*]}"
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
	apt-cache dumpavail | sed -n 's/^Description[^:]*: //p' |
		LC_ALL=C awk 'length($0) >= 45 && length($0) <= 55' |
		LC_ALL=C sort -u >"$work/texts/titles"
}

# create_texts TABLE COLUMNS QUERY: a table that is not compressed
create_texts()
{
	sql -c "CREATE UNLOGGED TABLE $1 AS $3 WITH NO DATA" \
		-c "ALTER TABLE $1 ALTER ${2// / SET STORAGE EXTERNAL, ALTER } SET STORAGE EXTERNAL" \
		-c "INSERT INTO $1 $3" -c "VACUUM ANALYZE $1"
}

# cut_texts TABLE LENGTH: its texts in pieces of so many characters
cut_texts()
{
	create_texts "$1$2" body "SELECT substr(body, i, $2) AS body
		FROM $1, generate_series(1, char_length(body) - $2 + 1, $2) i"
}

# Pairs of descriptions that a fingerprint finds, and the function that checked
# pairs before text_jaccard().
create_pairs()
{
	sql -c 'CREATE EXTENSION pg_trgm' -c "CREATE TABLE descriptions
		(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text, body text)"
	read_descriptions en |
		sql -c "COPY descriptions (name, body) FROM STDIN (ENCODING 'UTF8')"
	create_texts pairs 'a b' "SELECT a.body AS a, b.body AS b
		FROM simhash_pairs('SELECT id, minhash(body, words => 2) FROM descriptions', 8) p
			JOIN descriptions a ON a.id = p.a JOIN descriptions b ON b.id = p.b
		WHERE a.body <> b.body
		ORDER BY md5(a.name || ' ' || b.name) LIMIT $pairs"
	create_texts long_pairs 'a b' \
		'SELECT body AS a, lead(body) OVER () AS b FROM english5000'
	sql <<-'SQL'
		CREATE FUNCTION jaccard(a text, b text) RETURNS float8
		LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
		RETURN (SELECT count(*) FILTER (WHERE fa.hash = fb.hash)::float8 / nullif(count(*), 0)
			FROM simhash_features(a, words => 3) fa
				FULL JOIN simhash_features(b, words => 3) fb USING (hash));
	SQL
}

create_shapes()
{
	sql -F ' ' -c "SELECT a, b, simhash_tokens(ARRAY[a || ' ' || b])::bigint
		FROM (SELECT chr(97 + i % 26) || chr(97 + i / 26) FROM generate_series(1, 40) i) first (a),
			(SELECT chr(97 + i % 26) || chr(97 + i / 26) FROM generate_series(1, 40) i) second (b)" |
		perl "$root/bench/avoiding.pl" "$shape_bytes" >"$work/texts/avoiding"
	sql -v bytes="$shape_bytes" -v avoiding="$work/texts/avoiding" \
		-v words="(SELECT string_agg(body, ' ') FROM english)" -f "$root/bench/shapes.sql"
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
	create_texts titles title "SELECT title
		FROM (SELECT row_number() OVER () AS n, title
				FROM string_to_table(pg_read_file('$work/texts/titles'), E'\n') title) t
			JOIN generate_series(1, $titles) i ON n = 1 + i % $(wc -l <"$work/texts/titles")"
	create_texts repeated body 'SELECT body FROM english, generate_series(1, 5) i ORDER BY i'
	create_texts vectors doc "SELECT to_tsvector('simple', body) AS doc FROM english"
	create_texts features feature "SELECT document, feature
		FROM (SELECT row_number() OVER () AS document, body FROM english) d,
			string_to_table(body, ' ') feature"
	cut_texts chinese 50
	cut_texts chinese 500
	cut_texts english 500
	cut_texts english 5000
	create_texts keywords tokens "SELECT ARRAY(SELECT substr(body, 5 * i + 1, 2)
				FROM generate_series(0, 9) i) AS tokens,
			'{11.7,10.9,10.6,10,9.6,9.5,9.1,8.7,8.5,8}'::float8[] AS weights
		FROM chinese50"
	create_texts weights w "SELECT jsonb_object_agg(token, weight)::simhash_weights AS w
		FROM (SELECT key AS token, value::float8 AS weight
				FROM (SELECT simhash_idf(body)::jsonb AS idf FROM english) e,
					jsonb_each_text(idf)
			UNION ALL SELECT 'madeup' || i, 1 + i % 100 / 10.0
				FROM generate_series(1, $weights) i
			LIMIT $weights) w"
	create_pairs
	create_shapes
}

# The median milliseconds of each of the statements, which take turns, in the
# array $ms.  The first argument is for what comes before, and is not timed.
take_turns()
{
	local setup=$1 round i times of_one

	shift
	mapfile -t times < <({
		printf '%s\n' "$setup" '\timing on'
		for ((round = 0; round <= rounds; round++)); do
			printf '%s;\n' "$@"
		done
	} | PGOPTIONS='-c max_parallel_workers_per_gather=0 -c work_mem=256MB
		-c client_min_messages=warning' sql -f - | times)
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

# time_calls TABLE CALL...
time_calls()
{
	local statements=("${@:2}")

	statements=("${statements[@]/#/SELECT count(}")
	take_turns '' "${statements[@]/%/) FROM $1}"
}

# text_row TITLE CALL MS: of documents of a size
text_row()
{
	row "$1" "$2" "$(calculate "$3 / ${ms[0]}")" \
		"$(calculate "$mb * 1000 / $3" %.0f)" "$(calculate "1000 * $3 / $count")"
}

# compare_calls TITLE TABLE: its $calls, of which md5 is the first
compare_calls()
{
	local i

	size "$2" body
	time_calls "$2" "${calls[@]}"
	for i in "${!calls[@]}"; do
		text_row "$1" "${calls[i]}" "${ms[i]}"
	done
}

compare_texts()
{
	local calls=('md5(body)') features

	table 'Texts, against md5(body)' '|---|---|--:|--:|--:|' \
		text call '/ md5' MB/s 'µs a document'
	for features in '' ', words => 3' ', chars => 4'; do
		calls+=("simhash(body$features, tf => 'count')" "simhash(body$features)"
			"simhash(body$features, tf => 'log')")
	done
	compare_calls English english
	compare_calls Chinese chinese
	compare_calls Japanese japanese
	calls=('md5(body)' 'simhash(body)' 'simhash(body, words => 3)' 'simhash(body, chars => 4)')
	compare_calls 'With accents' accents
	compare_calls 'the same, NFD' accents_nfd
	compare_calls Mixed mixed
	compare_calls 'the same, NFD' mixed_nfd
	size english body
	take_turns '' 'SELECT count(md5(body)) FROM english' \
		'SELECT simhash_idf(body) IS NULL FROM english' \
		'SELECT count(simhash(doc)) FROM vectors' \
		'SELECT count(minhash(doc)) FROM vectors'
	text_row English 'simhash_idf(body)' "${ms[1]}"
	text_row English 'simhash(tsvector)' "${ms[2]}"
	text_row English 'minhash(tsvector)' "${ms[3]}"
}

# sketch TITLE TABLE: minhash, against simhash of the same features
sketch()
{
	local features

	size "$2" body
	for features in 'words => 1' 'words => 2' 'chars => 4'; do
		time_calls "$2" "simhash(body, $features, tf => 'count')" "minhash(body, $features)"
		row "$1" "$features" "$(calculate "${ms[1]} / ${ms[0]}")" \
			"$(calculate "1000 * ${ms[0]} / $count")" "$(calculate "1000 * ${ms[1]} / $count")"
	done
}

compare_sketches()
{
	table "minhash, against simhash with tf => 'count'" '|---|---|--:|--:|--:|' \
		text features '/ simhash' 'simhash, µs' 'minhash, µs'
	sketch 'English, 500 bytes' english500
	sketch 'English, 5 kB' english5000
	sketch 'Chinese, 500 characters' chinese500
	sketch Chinese chinese
	sketch Japanese japanese
}

# check_pairs TITLE TABLE: of its pairs, $calls
check_pairs()
{
	local i

	count=$(sql -c "SELECT count(*) FROM $2")
	time_calls "$2" "${calls[@]}"
	for i in "${!calls[@]}"; do
		row "$1" "${calls[i]}" "$(calculate "${ms[i]} / ${ms[0]}" %.1f)" \
			"$(calculate "1000 * ${ms[i]} / $count")"
	done
}

compare_checks()
{
	local rounds=3 calls

	table 'Similarity of two texts' '|---|---|--:|--:|' \
		pairs call '/ the first' 'µs a pair'
	calls=('text_jaccard(a, b, words => 3)' 'text_jaccard(a, b, words => 1)'
		'text_containment(a, b, words => 3)' "text_cosine(a, b, words => 3, tf => 'count')"
		'similarity(a, b)' 'jaccard(a, b)')
	check_pairs 'descriptions that differ' pairs
	calls=("${calls[@]:0:4}")
	check_pairs 'pieces of 5 kB' long_pairs
	say
	say 'The descriptions, of packages, are pairs within 8 bits by minhash(body, words => 2).'
	say 'similarity(a, b) is that of pg_trgm; jaccard(a, b) counts what simhash_features() returns'
	say 'for words => 3.'
}

compare_tsvector()
{
	local rounds=3

	size english body
	take_turns '' "SELECT count(to_tsvector('simple', body)) FROM english" \
		'SELECT count(simhash(body)) FROM english'
	table "English, against to_tsvector('simple', body)" '|---|--:|--:|' \
		call 'times faster' MB/s
	row to_tsvector '' "$(calculate "$mb * 1000 / ${ms[0]}" %.1f)"
	row simhash "$(calculate "${ms[0]} / ${ms[1]}" %.1f)" \
		"$(calculate "$mb * 1000 / ${ms[1]}" %.0f)"
}

# weigh WORDS: with weights from a table, a parameter, and a constant
weigh()
{
	local kind=(table parameter constant) i

	take_turns "SELECT w FROM weights \\gset
		SET plan_cache_mode = force_generic_plan;
		PREPARE texts(simhash_weights) AS
			SELECT count(simhash(body, \$1, words => $1)) FROM repeated;
		PREPARE once(simhash_weights) AS SELECT simhash('a', \$1, words => $1);" \
		"SELECT count(simhash(body, words => $1)) FROM repeated" \
		"SELECT count(simhash(body, w, words => $1)) FROM weights, repeated" \
		"EXECUTE texts(:'w')" \
		"SELECT count(simhash(body, :'w', words => $1)) FROM repeated" \
		"SELECT simhash('a', w, words => $1) FROM weights" \
		"EXECUTE once(:'w')" \
		"SELECT simhash('a', :'w', words => $1)"
	row "words => $1" none '' '' "$(calculate "${ms[0]}" %.0f)" ''
	for i in 0 1 2; do
		row "words => $1" "a ${kind[i]}" \
			"$(calculate "(${ms[i + 1]} - ${ms[i + 4]}) / ${ms[0]}")" \
			"$(calculate "${ms[i + 1]} / ${ms[0]}")" \
			"$(calculate "${ms[i + 1]}" %.0f)" "$(calculate "${ms[i + 4]}" %.0f)"
	done
}

compare_weights()
{
	table "English five times, with $weights weights, against none" \
		'|---|---|--:|--:|--:|--:|' \
		call 'weights from' 'a document' 'the query' 'query, ms' 'once in it, ms'
	weigh 1
	weigh 3
}

# call_row TITLE THEIRS MS EMPTY: microseconds a row above an empty call
call_row()
{
	row "$1" "$2" "$(calculate "1000 * ($3 - $4) / $count" %.3f)" \
		"$(calculate "1000 * $4 / $count" %.3f)"
}

# measure_call TITLE THEIRS TABLE EMPTY CALL
measure_call()
{
	count=$(sql -c "SELECT count(*) FROM $3")
	take_turns '' "SELECT count($4) FROM $3" "SELECT count($5) FROM $3"
	call_row "$1" "$2" "${ms[1]}" "${ms[0]}"
}

measure_calls()
{
	local rounds=3 title

	table 'Short texts and features, µs each above an empty call' \
		'|---|--:|--:|--:|' what yanyiwu µs 'empty call'
	size titles title
	title="$count titles of $(calculate "$mb * 1e6 / $count" %.0f) bytes,"
	measure_call "$title simhash" '' titles 'octet_length(title)' 'simhash(title)'
	measure_call "$title the same, tf => 'count'" '' titles 'octet_length(title)' \
		"simhash(title, tf => 'count')"
	measure_call "$title minhash" '' titles 'octet_length(title)' 'minhash(title)'
	measure_call "$title minhash, chars => 3" '' titles 'octet_length(title)' \
		'minhash(title, chars => 3)'
	measure_call '10 keywords with weights' 0.735 keywords \
		'cardinality(tokens)' 'simhash_tokens(tokens, weights)'
	measure_call '50 characters of Chinese' 14.5 chinese50 \
		'octet_length(body)' 'simhash(body)'
	measure_call '500 characters of Chinese' 184 chinese500 \
		'octet_length(body)' 'simhash(body)'
	count=$(sql -c 'SELECT count(*) FROM features')
	take_turns '' \
		'SELECT count(n) FROM (SELECT count(feature) AS n FROM features GROUP BY document) s' \
		'SELECT count(n) FROM (SELECT simhash_agg(feature) AS n FROM features GROUP BY document) s'
	call_row 'simhash_agg(feature), above count(feature)' '' "${ms[1]}" "${ms[0]}"
	say
	say "yanyiwu's are that library's own figures, for a debug build at 2.49 GHz."
}

# The median milliseconds of a command that may write *.sim.  Writing over old
# ones would wait for the disk.
time_command()
{
	local round start taken=()

	for ((round = 0; round < rounds; round++)); do
		rm -f "$work"/texts/english/*.sim
		start=$(date +%s%N)
		"$@" >"$work/command.log"
		taken+=("$((($(date +%s%N) - start) / 1000))")
	done
	calculate "$(median "${taken[@]}") / 1000"
}

write_signatures()
{
	find "$work/texts/english" -name '*[0-9]' -print0 |
		xargs -0 taskset -c "$cpu" "$other" -w
}

command_row()
{
	row "$1" "$(calculate "$2" %.0f)" "$(calculate "$mb * 1000 / $2" %.0f)"
}

compare_command()
{
	local other=$work/packages/simhash/usr/bin/simhash files file

	size english body
	cat "$work"/texts/english/*[0-9] >"$work/texts/one"
	files=$(time_command write_signatures)
	file=$(time_command taskset -c "$cpu" "$other" "$work/texts/one")
	take_turns '' 'SELECT count(simhash(body)) FROM english' \
		'SELECT count(simhash(body, chars => 8)) FROM english'
	table "The English texts, against Debian's command simhash" '|---|--:|--:|' \
		what ms MB/s
	command_row "simhash -w, $count files" "$files"
	command_row 'simhash, one file of them all' "$file"
	command_row 'simhash(body)' "${ms[0]}"
	command_row 'simhash(body, chars => 8)' "${ms[1]}"
	say
	say 'That is another algorithm: it keeps the 128 least CRC-32 of all windows of 8 bytes. -w writes'
	say 'a file of these for each; without it, they go to standard output.'
}

# compare_shapes TITLE CALL...: each shape by each call, against words by that call
compare_shapes()
{
	local rounds=3 title=$1 call i names statements cells=() rule='|---|'

	shift
	mapfile -t names < <(sql -c 'SELECT name FROM shapes ORDER BY n')
	for call; do
		statements=()
		for i in "${!names[@]}"; do
			statements+=("SELECT count($call) FROM shapes WHERE n = $i")
		done
		take_turns "SET work_mem = '4MB';" "${statements[@]}"
		rule+='--:|'
		cells[0]+=" $(calculate "${ms[0]}" %.1f) |"
		for ((i = 1; i < ${#names[@]}; i++)); do
			cells[i]+=" $(calculate "${ms[i]} / ${ms[0]}" %.1f) |"
		done
	done
	table "$title" "$rule" text "$@"
	names[0]='words, ms'
	for i in "${!names[@]}"; do
		say "| ${names[i]} |${cells[i]}"
	done
}

compare_all_shapes()
{
	compare_shapes 'Texts that take long, against words: simhash' 'simhash(body)' \
		'simhash(body, words => 3)' 'simhash(body, chars => 3)' "simhash(body, tf => 'count')" \
		"simhash(body, tf => 'log')" "simhash(body, '{\"a\": 2}')" 'simhash_128(body)'
	compare_shapes 'Texts that take long, against words: minhash' 'minhash(body)' \
		'minhash(body, words => 1)' 'minhash(body, chars => 3)' "minhash(body, '{\"a\": 0}')" \
		'minhash_128(body)' 'minhash_128(body, chars => 3)'
	compare_shapes 'Texts that take long, against words: others' \
		'(SELECT count(fp) FROM minhash_passages(body))' \
		'(SELECT count(fp) FROM minhash_passages(body, chars => 3))' 'text_jaccard(body, body)' \
		'text_jaccard(body, body, chars => 3)' "text_cosine(body, body, tf => 'log')" \
		'(SELECT simhash_idf(b, 1) FROM (VALUES (body)) v (b))'
	say
	say "Each text has $shape_bytes bytes.  Words are English, and work_mem is 4 MB."
}

print_text_method()
{
	cat <<-METHOD
		Times are medians of $rounds rounds (3 where it takes long), in which the statements of a
		table take turns on one processor, without parallel workers. Bodies are stored
		EXTERNAL, so that nothing is decompressed. A body is a manual page or a part of one,
		2 to 10 kB, without most of its markup.
	METHOD
	describe_texts
}

describe_texts()
{
	local name

	table Texts '|---|--:|--:|--:|---|' text documents MB 'not ASCII, %' 'from the packages'
	for name in english chinese japanese accents mixed; do
		size "$name" body
		row "$name" "$count" "$(calculate "$mb" %.1f)" \
			"$(sql -c "SELECT round(100 - 100 * sum(octet_length(
				regexp_replace(body, '[^\\x01-\\x7f]+', '', 'g')))::numeric
				/ sum(octet_length(body))) FROM $name")" "${packages[$name]}"
	done
}

bench_text()
{
	create_tables
	pin
	{
		print_machine text
		print_text_method
		compare_texts
		compare_sketches
		compare_checks
		compare_tsvector
		compare_weights
		measure_calls
		compare_all_shapes
		compare_command
	} | tee "$work/results"
	unpin
	keep_results text
}
