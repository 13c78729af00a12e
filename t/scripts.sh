# shellcheck shell=bash disable=SC2154
# Tests of "make install" and of the scripts.  Sourced by script/test, with a copy of
# the sources and of PostgreSQL, which is spoilt.

# Whatever is installed, arguments go to make, has a name of ours, so that it
# can be told from what others install, and goes again.  PostgreSQL itself may be
# in a directory of such a name.
install_and_uninstall()
{
	local option directory directories=() others=()

	for option in bindir pkglibdir sharedir docdir; do
		directory=$work/scratch$("$bindir/pg_config" "--$option")
		directories+=("$directory")
		others+=(! -path "$directory/simhash*" ! -path "$directory/*/simhash*")
	done
	rm -rf "$work/scratch" &&
		unprivileged mkdir "$work/scratch" &&
		make_copy DESTDIR="$work/scratch" "$@" install &&
		[ -n "$(find "${directories[@]}" -name 'simhash*.so')" ] &&
		[ -x "${directories[0]}/simhash_explore" ] &&
		silent find "$work/scratch" ! -type d "${others[@]}" &&
		silent broken_links "$work/scratch" &&
		make_copy DESTDIR="$work/scratch" "$@" uninstall &&
		silent find "$work/scratch" ! -type d &&
		silent find "${directories[@]}" -name '*simhash*'
}

# The names that the library exports and that could be those of another one:
# all but ours and those that PostgreSQL asks each library for.
foreign_names()
{
	nm -D --defined-only "$work/src/simhash.so" | awk '$2 ~ /[A-Z]/ { print $3 }' |
		grep -vE '^(pg_finfo_)?(simhash|simhash64|simhash128|hamming|gist_simhash64)_|^Pg_magic_func$|^_(PG_init|init|fini)$'
}

# The links in the documents below a directory that lead to no file there.
broken_links()
{
	local count=0 document link

	while read -r document; do
		while read -r link; do
			count=$((count + 1))
			[ -e "${document%/*}/${link%%#*}" ] ||
				say "$document: $link"
		done < <(grep -oP '\]\(\K[\w.][^):\s]*(?=\))' "$document")
	done < <(find "$1" -name '*.md')
	[ "$count" -ge 10 ] || say "only $count links"
}

# Run the lines of a script that sources lib.sh, in a shell of its own, which may hang.
script()
{
	printf '%s\n' ". '$root/script/lib.sh'" "$@" >"$work/lines"
	timeout 60 bash "$work/lines" 2>&1 || true
}

# As on a machine that has none.
no_postgresql()
{
	script 'ls() { return 2; }' 'command() { return 1; }' 'unset PG_CONFIG' \
		'if find_pg_config; then echo found; fi' 'say end' | diff - <(echo end)
}

failing_script()
{
	script 'f() { (exit 3) | cat; }' 'x=$(f; f)' 'say end' |
		diff - <(echo 'lines: line 3 failed')
}

# As a build in a lane, whose pipe is waited for.
failing_lane()
{
	script '(watched "say waiting" fail "no build") | cat || say end' |
		diff - <(printf '%s\n' 'lines: no build' end)
}

small_directory()
{
	script 'df() { printf "%s\n" "head of df" "disk 9 1 20 mount"; }' 'unset TMPDIR' 'begin_work 30' |
		diff - <(echo 'lines: needs 30 MB in /tmp, 20 are free: make room, or set another TMPDIR')
}

other_directory()
{
	mkdir -m 755 "$work/other" &&
		script "TMPDIR=$work/other" begin_work 'say "${work%.*}"' | diff - <(echo "$work/other/simhash") &&
		script "TMPDIR=$work/other" 'id() { echo 0; }' 'setpriv() { [[ $* != *" -x "* ]] && echo nobody; }' begin_work |
		diff - <(echo "lines: nobody cannot enter $work/other: set another TMPDIR") &&
		silent ls "$work/other"
}

# As a user who may install nothing, where nothing is installed.
packages_to_ask_for()
{
	script 'unset PG_CONFIG' 'find_pg_config() { return 1; }' 'dpkg-query() { return 1; }' 'apt-cache() { :; }' \
		'id() { echo 1000; }' 'command() { [ "$2" != sudo ]; }' 'install_packages xz-utils' |
		diff - <(echo 'lines: needs root or sudo to install packages.  Ask for:
    apt-get install gcc make libc6-dev libutf8proc-dev libxxhash-dev xz-utils postgresql postgresql-server-dev-all')
}

# Debian's PostgreSQL has a server, another version of it has none, and ours is no Debian's.
servers_to_create()
{
	script 'pg_lsclusters() { echo "15  main 5432 down postgres /data /log"; }' \
		'for name in lib/postgresql/15 lib/postgresql/17 local; do create_server "/usr/$name/bin/pg_config"; done' |
		diff - <(echo 'pg_createcluster --start 17 main')
}

# The names are looked at first: where there is no PostgreSQL, too.
not_a_test()
{
	! PG_CONFIG=nowhere "$root/script/test" hamming "$1" >"$work/usage" 2>&1 &&
		diff "$work/usage" <(echo "test: there is no test $1 in t, nor in REGRESS or ISOLATION of the Makefile")
}

shows_usage()
{
	"$root/script/$1" --help >"$work/usage" && grep "^    script/$1 " "$work/usage" &&
		! "$root/script/$1" --nothing 2>"$work/usage.wrong" && diff "$work/usage" "$work/usage.wrong"
}

# What prove says where each test is skipped, as some are on some versions.
skipped_tests()
{
	local passed=0 failed=0

	printf '%s\n' 'Files=1, Tests=0,  0 wallclock secs' 'Result: NOTESTS' >"$work/skipped.log"
	count_tests "$work/skipped.log"
	[ "$passed $failed" = '0 0' ]
}

# A folder stays, without the data of its server.  A second run at the same time has another.
keeps_folder()
{
	local lines="TMPDIR=$work
begin_work
keep_work kept
say \"folder \$kept\""

	printf '%s\n' ". '$root/script/lib.sh'" "$lines" >"$work/second"
	script "$lines" 'mkdir "$work/src" "$work/data"' "bash '$work/second'" | diff - <(printf '%s\n' 'folder yes' 'folder ') &&
		diff <(ls "$work"/simhash-*-kept) <(echo src) && silent find "$work" -mindepth 1 -maxdepth 1 -name 'simhash.??????' &&
		rm -r "$work"/simhash-*-kept
}

# A source that changed while its object was made is newer than that afterwards, and no other
# one is.  Other commands make all objects anew.
finds_outdated()
{
	mkdir -p "$work/outdated/src" && echo 15 >"$work/outdated/pg.copied" &&
		script "work=$work/outdated" 'cd "$work/src"' 'touch a.c b.c' 'mark_outdated <<<"gcc -c"' 'touch a.o b.o' \
			'mv "$work/src.new" "$work/src.sums"' 'echo changed >a.c' 'touch -r b.c a.c' 'mark_outdated <<<"gcc -c"' \
			'find . -newer a.o' 'mark_outdated <<<"clang -c"' 'ls' | diff - <(printf '%s\n' ./a.c a.c b.c)
}

# Take what is built here in place of building it anew, and keep nothing of it.
use_built()
{
	sed -i "s/ --exclude='\*\.[a-z]*'//g" "$work/src/script/lib.sh" &&
		sed -i '/ || keep_work /d' "$work/src/script/test"
}

# Of a new test in the copied sources, which needs nothing to be built.
accepts_output()
{
	echo 'SELECT 6 * 7 AS answer;' >"$work/src/sql/answer.sql"
	! "$work/src/script/test" answer && sed -i '/^REGRESS = /s/ \\$/ answer \\/' "$work/src/Makefile" &&
		PG_CONFIG="$bindir/pg_config" "$work/src/script/test" --accept answer >"$work/accept.log" &&
		grep '^accepted: answer$' "$work/accept.log" && silent grep FAILED "$work/accept.log" &&
		[ "$(tail -n 1 "$work/accept.log")" = '2 passed, 0 failed' ] &&
		grep '^     42$' "$work/src/expected/answer.out"
}

# The object and the bitcode of each source, where there is both.
counts_files()
{
	mkdir -p "$work/counted/src" && touch "$work"/counted/src/{a.c,a.o,a.bc,a.d,b.o} &&
		script "work=$work/counted" objects=4 compiled | diff - <(echo '3 of 4 files compiled')
}

# The compiler's message is shown, and neither its call nor much more.  Nothing else is made
# anew, by -B for example: script/demo would compile all that includes a header of that.
failing_build()
{
	! (make_copy COPT='-include missing.h' -W src/type/type.c src/type/type.o) >"$work/failing.log" 2>&1 &&
		grep 'error:.*missing\.h' "$work/failing.log" &&
		! grep -e '-O2' "$work/failing.log" &&
		[ "$(wc -l <"$work/failing.log")" -le 10 ]
}

explore_help()
{
	"$bindir/simhash_explore" --help |
		grep -F "    $bindir/simhash_explore [PSQL OPTIONS] 'SELECT id, fp, body FROM docs' >page.html"
}

no_query()
{
	! "$bindir/simhash_explore" -d postgres >"$work/usage" 2>&1 &&
		grep -F "    $bindir/simhash_explore [PSQL OPTIONS] 'SELECT id, fp, body FROM docs' >page.html" "$work/usage"
}

# make_page QUERY: the data of the page.
make_page()
{
	"$bindir/simhash_explore" "$1" 2>&1 | sed 's/.* id="data">//'
}

# Keys of a type are shown as they are, of pairs and where there is none.
any_key()
{
	local data

	data=$(make_page "SELECT $1 AS id, minhash(body) AS fp, body
		FROM (SELECT i, repeat('the same words ', 9) || i / 2 AS body FROM generate_series(0, 3) i) s") &&
		grep -o '"rows" : 4, "used" : 4,' <<<"$data" &&
		[ "$(grep -o '"key" : "[^"]*"' <<<"$data" | sort)" = "$(printf '"key" : "%s"\n' "${@:2}")" ]
}

no_rows()
{
	[ "$(make_page 'SELECT NULL::uuid, NULL::simhash64, NULL' | tail -n 1)" = \
		'simhash_explore: no row of the query has an id, a fingerprint and a text' ]
}

# Make the copy of PostgreSQL one in which another simhash is installed, whose
# files nobody may write to.
install_another()
{
	local library share

	library=$("$bindir/pg_config" --pkglibdir)
	share=$("$bindir/pg_config" --sharedir)
	echo 'not a library' >"$library/simhash.so"
	echo 'exit 1' >"$bindir/simhash_explore"
	echo "default_version = '9.9'" >"$share/extension/simhash.control"
	echo 'SELECT 1 / 0;' >"$share/extension/simhash--9.9.sql"
	ln -s nowhere "$share/tsearch_data/link"
	find "$work/pg" -type f -exec chmod a-w {} +
}

list_files()
{
	find "$work/pg" -printf '%p %m %i %T@ %l\n' | sort
}

# Texts that differ in a word, one of another kind, and what is no text; with
# names that a terminal, a shell and COPY take for something else.
write_texts()
{
	local day name number=0

	mkdir "$work/texts"
	for day in Monday Tuesday Wednesday; do
		for name in "$day" "of $day" $'it\'s `'"$day" $'\e[31m\n'"$day" $'caf\xe9 '"$day"; do
			number=$((number + 1))
			{
				seq -s ' ' 1000 1200
				echo "The committee met on $day."
			} >"$work/texts/$name"
		done
	done
	seq -s ' ' 3000 3200 >"$work/texts/other"
	: >"$work/texts/empty"
	for number in 1 2 3 4 5; do
		printf '\xff' >"$work/texts/"$'\e[31mbinary'"$number"
	done
}

# In a directory that the server's user cannot enter.  Of the sources that were built
# for this test.
demo()
{
	mkdir -m 700 "$work/closed"
	(cd "$work/closed" && PG_CONFIG="$bindir/pg_config" \
		"$work/src/script/demo" "$work/texts") >"$work/demo.log" 2>&1 ||
		{ cat "$work/demo.log"; return 1; }
}

demo_begins()
{
	head -n 1 "$work/demo.log" |
		grep "^\[ *[0-9]* s\] Looking for near-duplicates below $work/texts, "
}

demo_says()
{
	grep -q -- "$1" "$work/demo.log" || { cat "$work/demo.log"; return 1; }
}

# What is no text takes one line.
demo_skips()
{
	demo_says '^\[ *[0-9]* s\] 17 files read; 5 skipped, not UTF-8 text: .*binary.*, .*binary.*, .*binary.*, \.\.\.$' &&
		[ "$(grep -c binary "$work/demo.log")" -eq 1 ]
}

# The page is where the demo says, and has the files.
demo_page()
{
	demo_says "^    $work/closed/simhash-demo\.html$" &&
		grep -q '"rows" : 17, "used" : 16,' "$work/closed/simhash-demo.html"
}

demo_keeps_silent()
{
	silent grep -iE 'fail|error|denied' <(sed "s:/tmp/simhash\.[[:alnum:]]*::" "$work/demo.log") &&
		silent grep -P '[^\x20-\x7e\n]' "$work/demo.log"
}

say "== scripts"
check 'every exported name begins with ours' silent foreign_names
check 'make uninstall removes what make install installs' install_and_uninstall
check 'so it does without LLVM' install_and_uninstall with_llvm=no
check 'a search for a PostgreSQL that is not there is silent' no_postgresql
check 'a script that fails says where, once' failing_script
check 'a build that fails says why' failing_build
check 'and ends its lane' failing_lane
check 'files of bitcode are counted, too' counts_files
check 'a directory without room is named' small_directory
check 'TMPDIR is another one' other_directory
check 'without root and sudo the packages are named' packages_to_ask_for
check 'a PostgreSQL without a server gets one' servers_to_create
check 'script/test --help' shows_usage test
check 'script/demo --help' shows_usage demo
check 'a name that is no test' not_a_test nothing
check 'a file that others include is no test' not_a_test construct_width
check 'skipped tests have not failed' skipped_tests
check 'a folder stays for the next run' keeps_folder
check 'what has changed is built anew' finds_outdated
use_built
check 'script/test --accept' accepts_output
check 'the copy of PostgreSQL has no links' silent find "$work/pg" -type l
check 'simhash_explore shows how to call it' explore_help
check 'without a query, too' no_query
start_server
"$bindir/psql" -X -q -c 'CREATE EXTENSION simhash'
check 'integers as keys' any_key 'i - 1' -1 0 1 2
check 'texts as keys' any_key "'it''s ' || i" "it's "{0..3}
check 'uuids as keys' any_key "('00000000-0000-0000-0000-00000000000' || i)::uuid" 00000000-0000-0000-0000-00000000000{0..3}
check 'no rows' no_rows
stop_server
install_another
list_files >"$work/before"
write_texts
check 'script/demo runs where another simhash is installed' demo
check 'and changes nothing there' diff "$work/before" <(list_files)
check 'it says first what it does' demo_begins
check 'it says which step begins' demo_says '^\[ *[0-9]* s\] Building simhash$'
check 'it says in one line what it skips' demo_skips
check 'it finds the groups' \
	demo_says '^15 of 17 files have near-duplicates, in 1 group\.$'
check 'it compares the texts' \
	demo_says '^Of 4 different texts, 2 are near-duplicates of the first text of their group\.$'
check 'it shows by which statement' \
	demo_says "^    FROM (SELECT id, simhash_cluster(fp, 10, 'leader', body, 0\.8) OVER (ORDER BY id) AS cluster FROM texts) clustered$"
check 'it says how similar they are' demo_says '^ 99 %, [0-8] bits\? '
check 'it says what differs' demo_says '+ tuesday  - monday$'
check 'it leaves a page' demo_page
check 'it says how to keep the server' demo_says "^    script/demo --keep $work/texts$"
check 'it says how to install' demo_says "^    make PG_CONFIG=$bindir/pg_config install$"
check 'it says nothing else' demo_keeps_silent
