# shellcheck shell=bash
# What the scripts share: packages, a private copy of the PostgreSQL
# installation, and a throwaway server.  Sourced by bash.

set -Eeuo pipefail
export LC_ALL=C    # messages to be searched, numbers with a decimal point
trap 'say_error "${BASH_SOURCE[0]##*/}" "$LINENO"' ERR

server_environment=()    # NAME=VALUE for the server only
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=
kept=    # is $work a folder that stays?
watcher=
installed=()    # the Debian packages that the script has installed

say()
{
	printf '%s\n' "$*"
}

# Say which step begins, and how many seconds after the script has.
step()
{
	printf '[%3d s] %s\n' "$SECONDS" "$*"
}

# watched SHOW COMMAND...: run a command, and say every few seconds what the command
# SHOW, a name and arguments without spaces, prints then.
watched()
{
	local show=$1 status=0 shell=$BASHPID

	shift
	# a sleep that outlives its shell must not keep a pipe open, nor the lock of keep_work
	while sleep 10 >/dev/null 2>&1 8<&- && kill -0 "$shell" 2>/dev/null; do
		step "... $($show)"
	done &
	watcher=$!
	"$@" || status=$?
	end_watcher
	return "$status"
}

# By a signal that has no trap: a shell that has just been forked has those of its parent,
# and would clean up.
end_watcher()
{
	[ -n "$watcher" ] || return 0
	{ kill -KILL "$watcher" && wait "$watcher"; } 2>/dev/null || true
	watcher=
}

# The last line of a file, without psql's "NOTICE", as far as a terminal has room for it.
last_line()
{
	tail -n 1 "$1" | sed 's/^NOTICE:  //' | tr -cd ' -~' | cut -c 1-66
}

# Say which line of which file ends the script.  Not in a subshell: it may fail
# where that is an answer, and where it is none, what waits for it fails, too.
say_error()
{
	[ "$BASH_SUBSHELL" -gt 0 ] || printf '%s: line %s failed\n' "$@" >&2
}

# The watcher of a lane would keep its pipe open.
fail()
{
	end_watcher
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Show the first comment of the script, which says how to call it; end, with an error
# unless the argument asks for it.
usage()
{
	local status=0

	[ "${1:-}" = --help ] || status=1
	sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&$((status + 1))
	exit "$status"
}

# check NAME COMMAND...: run a command as one test, which adds to $passed or
# $failed of the script; show its output where it fails.  Needs begin_work.
check()
{
	local name=$1

	shift
	if "$@" >"$work/check.log" 2>&1; then
		say "ok: $name"
		passed=$((passed + 1))
	else
		cat "$work/check.log"
		say "not ok: $name"
		failed=$((failed + 1))
	fi
}

# Run a command that must write nothing.
silent()
{
	[ -z "$("$@" 2>&1 | tee /dev/stderr)" ]
}

# Add what the last line of a test script's output says to $passed and $failed
# of the script; an output without such a line is a failure.
add_summary()
{
	local summary

	summary=$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$1" | tail -n 1 || true)
	if [[ $summary =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		passed=$((passed + BASH_REMATCH[1]))
		failed=$((failed + BASH_REMATCH[2]))
	else
		failed=$((failed + 1))
	fi
}

# The last line of a test script: how many passed, how many failed.  Where none
# passed, none has run.
finish()
{
	say "$1 passed, $2 failed"
	if [ "$2" -gt 0 ] || [ "$1" -eq 0 ]; then
		exit 1
	fi
}

# The pg_config of a PostgreSQL that extensions can be built for: $PG_CONFIG,
# else the newest one.
find_pg_config()
{
	local candidate

	for candidate in ${PG_CONFIG:-$(ls -d /usr/lib/postgresql/*/bin/pg_config \
		2>/dev/null | sort -rV) $(command -v pg_config || true)}; do
		if [ -f "$("$candidate" --pgxs 2>/dev/null)" ] &&
			[ -f "$("$candidate" --includedir-server)/postgres.h" ] &&
			[ -x "$("$candidate" --bindir)/postgres" ]; then
			printf '%s\n' "$candidate"
			return
		fi
	done
	return 1
}

# Those of the named Debian packages that are not installed.
missing_packages()
{
	local package

	for package; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" \
			= installed ] || printf '%s\n' "$package"
	done
}

# apt-get, as root or through sudo; says which.  Its output is shown where it
# fails.  Scripts that run side by side do so one after the other.
apt()
{
	local as_root=()

	if [ "$(id -u)" -eq 0 ]; then
		step "apt-get $*, as root"
	elif command -v sudo >/dev/null; then
		step "apt-get $*, through sudo"
		as_root=(sudo)
	else
		fail "needs root or sudo to install packages.  Ask for:
    apt-get install $(missing_packages "${wanted[@]}" | tr '\n' ' ')$(
			find_pg_config >/dev/null || say postgresql postgresql-server-dev-all)"
	fi
	watched "last_line $work/apt.log" run_apt "${as_root[@]}" "$@" || {
		tail -n 20 "$work/apt.log" >&2
		fail "apt-get $1 failed"
	}
}

# A package of PostgreSQL would create a server, and start it.  It is told not to.
run_apt()
{
	local as_root=()

	if [ "$1" = sudo ]; then
		as_root=(sudo)
		shift
	fi
	# shellcheck disable=SC2016
	"${as_root[@]}" flock /var/lib/dpkg sh -c '
		trap "rm -f $0; rmdir -p --ignore-fail-on-non-empty ${0%/*}" EXIT
		trap "exit 1" INT TERM HUP
		mkdir -p "${0%/*}" && echo "create_main_cluster = false" >"$0" &&
		DEBIAN_FRONTEND=noninteractive apt-get -q -y "$@"' \
		/etc/postgresql-common/createcluster.d/simhash.conf "$@" >"$work/apt.log" 2>&1
}

# The newest version of PostgreSQL that the distribution has; a server that
# is there already decides.
postgresql_version()
{
	local installed

	installed=$(ls -d /usr/lib/postgresql/*/bin/postgres 2>/dev/null |
		sort -rV | head -n 1 | cut -d / -f 5)
	if [ -n "$installed" ]; then
		printf '%s\n' "$installed"
	else
		apt-cache depends postgresql |
			sed -n 's/.*Depends: postgresql-\([0-9][0-9]*\)$/\1/p' | head -n 1
	fi
}

# Install what is missing to build and run simhash, and the named packages.
install_packages()
{
	local wanted version updated=no

	wanted=(gcc make libc6-dev libutf8proc-dev libxxhash-dev "$@")
	if find_pg_config >/dev/null && ! command -v dpkg-query >/dev/null; then
		return    # another system: the compiler will say what is missing
	fi
	command -v apt-get >/dev/null ||
		fail "install PostgreSQL's server headers, utf8proc and xxHash first"
	if ! find_pg_config >/dev/null; then
		[ -z "${PG_CONFIG:-}" ] ||
			fail "$PG_CONFIG has no server or no server headers"
		apt update
		updated=yes
		version=$(postgresql_version)
		[ -n "$version" ] || fail "found no package of PostgreSQL"
		wanted+=("postgresql-$version" "postgresql-server-dev-$version")
	fi
	mapfile -t wanted < <(missing_packages "${wanted[@]}")
	if [ ${#wanted[@]} -gt 0 ]; then
		[ "$updated" = yes ] || apt update
		apt install --no-install-recommends "${wanted[@]}"
		installed+=("${wanted[@]}")
	fi
	find_pg_config >/dev/null || fail "no PostgreSQL to build for"
}

# What stays of that.
say_installed()
{
	[ ${#installed[@]} -gt 0 ] || return 0
	say "The Debian packages that were installed stay.  They have created no server, and started none.
To remove them, as root:
    apt-get purge --autoremove ${installed[*]}"
}

# The command that creates a server of Debian's PostgreSQL with the named pg_config, where
# there is none.
create_server()
{
	if [[ $1 =~ ^/usr/lib/postgresql/([0-9]+)/ ]] &&
		[[ $'\n'$(pg_lsclusters -h) != *$'\n'"${BASH_REMATCH[1]} "* ]]; then
		say "pg_createcluster --start ${BASH_REMATCH[1]} main"
	fi
}

# The names, each between spaces, of the regression tests and specs that are in a list:
# of the Makefile, of script/test or of script/soak, which a release does not have.
listed_tests()
{
	(cd "$root" && sed -nE "/^(REGRESS|ISOLATION) .*[^\\\\]$/p
		/^(REGRESS|ISOLATION) .*\\\\$/,/[^\\\\]$/p
		s/.*(REGRESS|ISOLATION)='([^']*)'.*/ \2 /p" Makefile script/[st]*) | tr -cs 'a-z0-9_' ' '
}

# Run a command as a user whom PostgreSQL accepts.  That user may not be allowed
# into the directory of the caller.
unprivileged()
{
	local user=nobody

	if [ "$(id -u)" -ne 0 ]; then
		env -C / HOME="$work" TMPDIR="$work" "$@"
		return
	fi
	id postgres >/dev/null 2>&1 && user=postgres
	setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups \
		env -C / HOME="$work" TMPDIR="$work" "$@"
}

# Read file names from standard input, write rows for COPY.  What is not text
# in UTF-8 is skipped; the last line says how many files, why, and the first names.
read_files()
{
	# shellcheck disable=SC2016
	perl -e '
		use strict;
		use warnings;

		sub is_utf8 {
			my ($bytes) = @_;
			1 while $bytes =~ /\G(?:[\x01-\x7f]+|[\xc2-\xdf][\x80-\xbf]
				|\xe0[\xa0-\xbf][\x80-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]{2}
				|\xed[\x80-\x9f][\x80-\xbf]|\xf0[\x90-\xbf][\x80-\xbf]{2}
				|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2})/gcx;
			return (pos($bytes) // 0) == length $bytes;
		}

		sub field {
			my ($text) = @_;
			$text =~ s/\\/\\\\/g;
			$text =~ s/\t/\\t/g;
			$text =~ s/\n/\\n/g;
			$text =~ s/\r/\\r/g;
			return $text;
		}

		my ($begun, $read, $last) = (shift, 0, time);
		my (%skipped, %names);
		sub step { printf STDERR "[%3d s] %s\n", time - $begun, $_[0] }
		local $/ = "\0";
		while (my $name = <STDIN>) {
			chomp $name;
			my ($why, $body);
			if (!open my $file, "<:raw", $name) { $why = $! }
			elsif (-s $file > 250_000_000) { $why = "larger than 250 MB" }
			else {
				local $/;
				$body = <$file> // "";
				$why = "not UTF-8 text" if !is_utf8($body);
			}
			if (defined $why) {
				$name =~ s/[^\x20-\x7e]/?/g;
				push @{ $names{$why} }, $name if $skipped{$why}++ < 3;
				next;
			}
			(my $shown = $name) =~ s/[\x80-\xff]/?/g if !is_utf8($name);
			print field($shown // $name), "\t", field($body), "\n";
			$read++;
			if (time > $last + 4) {
				step("... $read files");
				$last = time;
			}
		}
		my @why = sort { $skipped{$b} <=> $skipped{$a} || $a cmp $b } keys %skipped;
		step("$read files read" . join "", map {
			my @first = @{ $names{$_} };
			push @first, "..." if @first < $skipped{$_};
			"; $skipped{$_} skipped, $_: " . join ", ", @first } @why);
	' "$((EPOCHSECONDS - SECONDS))"
}

# Write package descriptions, in the language named, as rows for COPY.  The
# lists of packages are in $work.
read_descriptions()
{
	local get=(unprivileged apt-get -q -o Dir::State="$work/apt"
		-o Dir::State::lists="$work/apt/lists" -o Dir::Cache="$work/apt"
		-o Acquire::Languages="$1") list

	unprivileged mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial"
	"${get[@]}" update >"$work/apt.log" 2>&1 || {
		tail -n 20 "$work/apt.log" >&2
		fail "apt-get update failed"
	}
	"${get[@]}" indextargets --format '$(FILENAME)' 'Created-By: Translations' |
		while read -r list; do
			unprivileged /usr/lib/apt/apt-helper cat-file "$list"
		done | perl -e '
			use strict;
			use warnings;

			my %escape = ("\\" => "\\\\", "\t" => "\\t", "\n" => "\\n", "\r" => "\\r");
			my %seen;
			local $/ = "";
			while (<STDIN>) {
				my ($name) = /^Package: (.*)/m;
				my ($body) = /^Description-(?!md5)\w+: (.*\n(?: .*\n)*)/m;
				next if !defined $name || !defined $body || $seen{$name}++;
				$body =~ s/^ (?:\.$)?//mg;
				$body =~ s/([\\\t\n\r])/$escape{$1}/g;
				print "$name\t$body\n";
			}'
}

# Make the temporary directory $work, which nobody else can enter (its server
# trusts who can), forget the caller's connection settings, and clean up when
# the script ends.  The argument is how many MB the script needs there, where these are
# more than those of a build and a server.
begin_work()
{
	local parent=${TMPDIR:-/tmp} needed=${1:-250} free variable

	# a short path: that of a socket has a limit of about 100 bytes
	[[ $parent =~ ^/.{0,50}$ ]] || fail "TMPDIR must be an absolute path of at most 50 characters"
	work=$(mktemp -d "$parent/simhash.XXXXXX") || fail "cannot write to $parent"
	for variable in ${!PG*}; do
		[ "$variable" = PG_CONFIG ] || unset "$variable"
	done
	trap end_work EXIT
	trap 'trap "" INT TERM HUP; exit 130' INT
	trap 'trap "" INT TERM HUP; exit 143' TERM HUP
	unprivileged test -x "$parent" || fail "$(unprivileged id -un) cannot enter $parent: set another TMPDIR"
	free=$(df -Pm "$work" | awk 'END { print $4 }')
	[ "$free" -ge "$needed" ] || fail "needs $needed MB in $parent, $free are free: make room, or set another TMPDIR"
}

end_work()
{
	local job

	trap '' INT TERM HUP
	trap - EXIT ERR
	end_watcher
	# with all that it has started, where it has a group of its own
	for job in $(jobs -p); do
		kill -- "-$job" 2>/dev/null || kill "$job" 2>/dev/null || true
	done
	# before anything looks for servers: the processes that files of the root
	# name are gone, and their numbers may be those of others
	rm -rf "$work/debian" || true
	stop_server
	# a test that was interrupted may have been about to start a server
	sleep 0.2
	stop_server
	clear_work
}

# keep_work NAME: after begin_work, have a $work that stays for the next run of that name
# which looks for it, with the copies and what is built of them, unless another run has it
# now.  Nobody else can write there.
keep_work()
{
	local folder=${work%/*}/simhash-$(id -u)-$1

	mkdir -m 700 "$folder" 2>/dev/null || true
	if [ ! -L "$folder" ] &&
		[[ $(stat -c '%u %a' "$folder") =~ ^($(id -u)|$(unprivileged id -u))\ 700$ ]] &&
		exec 8<"$folder" && flock -n 8; then
		clear_work
		work=$folder
		kept=yes
		clear_work
	fi
}

# Remove $work, or, of a folder that stays, what a run leaves there besides.
clear_work()
{
	if [ -n "$kept" ]; then
		find "$work" -mindepth 1 -maxdepth 1 ! -name 'src*' ! -name 'pg*' -exec rm -rf {} +
		rm -rf "$work"/src/{tmp_check,results,output_iso}
	else
		rm -rf "$work"
	fi
}

# Copy the PostgreSQL installation of the named pg_config to $work/pg.  The
# programs of a copied installation find its other directories from where they
# are, and so does the server its $libdir.  No link is kept, neither of a file
# nor of a directory: "make install" writes through links.  A simhash that is
# installed stays behind, so that none of its files is taken for ours; so do
# links to nothing.
copy_postgresql()
{
	local option directory

	for option in bindir pkglibdir sharedir includedir-server; do
		directory=$("$1" "--$option")
		mkdir -p "$work/pg$directory"
		(cd "$directory" &&
			find -L . -name 'simhash*' -prune -o ! -type l -print0 |
			tar --no-recursion --null -T - -chf -) |
			tar -C "$work/pg$directory" -xf -
	done
	bindir=$work/pg$("$1" --bindir)
	for option in pkglibdir sharedir docdir includedir-server; do
		directory=$("$bindir/pg_config" "--$option")
		case $directory in
			"$work"/* | '') ;;
			*) fail "a copy of $1 would install into $directory" ;;
		esac
	done
}

# Run make on the copied sources, with the caller's CC, if any; arguments go to
# make.  Where it fails, show the first error: without the commands (-s), little
# else is in the output.
make_copy()
{
	unprivileged make -s -C "$work/src" PG_CONFIG="$bindir/pg_config" ${CC:+"CC=$CC"} "$@" \
		>"$work/build.log" 2>&1 || {
		grep -i -m 1 -B 5 -A 14 error "$work/build.log" >&2 ||
			tail -n 20 "$work/build.log" >&2
		fail "the build failed; all of its output:" \
			"make -C $root PG_CONFIG=$(find_pg_config)"
	}
}

# Copy the sources and the PostgreSQL installation, so that neither the clone
# nor the system is written to; then build and install.  Arguments go to make.  What
# the sources have that was built may be for another PostgreSQL.  A $work that stays
# has what the last run has built: make finds out what has changed since.
build()
{
	local pg_config commands

	pg_config=$(find_pg_config)
	step "Copying $("$pg_config" --version)"
	mkdir -p "$work/src"
	find "$work/src" -type f ! -regex "$built" -delete
	tar -C "$root" --exclude=.git --exclude='*.o' --exclude='*.bc' --exclude='*.d' --exclude='*.so' \
		--exclude=tmp_check -cf - . | tar -C "$work/src" -xf -
	bindir=$work/pg$("$pg_config" --bindir)
	if [ "$(identify "$pg_config")" != "$(cat "$work/pg.copied" 2>/dev/null)" ]; then
		[ -z "$kept" ] || rm -rf "$work/pg"
		copy_postgresql "$pg_config"
		identify "$pg_config" >"$work/pg.copied"
	fi
	if [ "$(id -u)" -eq 0 ]; then
		chown -R "$(unprivileged id -u):$(unprivileged id -g)" "$work"
	fi
	step "Building simhash"
	commands=$(unprivileged make -C "$work/src" PG_CONFIG="$bindir/pg_config" ${CC:+"CC=$CC"} -nB "$@" all || true)
	objects=$(grep -c -- ' -c .*\.\(o\|bc\) ' <<<"$commands" || true)
	[ -z "$kept" ] || (cd "$work/src" && mark_outdated <<<"$commands")
	watched compiled make_copy -j2 "$@" all
	make_copy "$@" install
	[ -z "$kept" ] || mv "$work/src.new" "$work/src.sums"
}

built='.*\.\(o\|bc\|d\|so\)'    # what make builds in the sources

# What tells one PostgreSQL from another, or from a newer one in its place.
identify()
{
	stat -L -c '%n %s %Y' "$("$1" --bindir)/postgres"
}

# Remove what was built by other commands than those of standard input, or for another
# PostgreSQL.  Else touch the sources that have changed since the last build: one that
# changed while that ran is older than its object.
mark_outdated()
{
	local commands

	commands=$({ cat - "$work/pg.copied" && "${CC:-gcc}" --version; } | cksum)
	if [ "$commands" != "$(cat "$work/src.commands" 2>/dev/null)" ]; then
		find . -regex "$built" -delete
		printf '%s\n' "$commands" >"$work/src.commands"
	fi
	find . -type f ! -regex "$built" -exec cksum {} + >"$work/src.new"
	[ -f "$work/src.sums" ] || : >"$work/src.sums"
	sort "$work/src.sums" "$work/src.sums" "$work/src.new" | uniq -u | cut -d ' ' -f 3- | xargs -rd '\n' touch
}

# How far that is.
compiled()
{
	say "$(find "$work/src" -name '*.o' -o -name '*.bc' | wc -l) of $objects files compiled"
}

# Build t/match.c, which needs no server, as the server's sources are built;
# the arguments are a compiler and its flags.
build_match()
{
	# shellcheck disable=SC2086
	"$@" -Wall -Wextra -Wno-unused-parameter -Werror -g -O2 ${COPT:-} -o "$work/match" \
		-I"$("$(find_pg_config)" --includedir-server)" -I"$root/src" "$root/t/match.c" \
		>"$work/build.log" 2>&1 || {
		cat "$work/build.log" >&2
		fail "the build failed"
	}
}

# What is measured, for the results of script/bench and script/quality.
measured_commit()
{
	git -C "$root" rev-parse --short=10 HEAD | tr -d '\n'
	[ -z "$(git -C "$root" status --porcelain src sql)" ] || printf ', modified'
}

# start_server [NAME PORT]: a server in $work, with its data in the directory
# NAME there; its socket is in $work, and it has no other port.
start_server()
{
	local data=$work/${1:-data} log=$work/${1:-server}.log

	unprivileged "$bindir/initdb" -D "$data" -A trust -U postgres \
		-E UTF8 --locale=C --no-sync >"$work/initdb.log" 2>&1 || {
		cat "$work/initdb.log" >&2
		fail "initdb failed"
	}
	cat >>"$data/postgresql.conf" <<-CONF
		cluster_name = 'simhash_test'
		listen_addresses = ''
		${2:+port = $2}
		unix_socket_directories = '$work'
		fsync = off
		shared_buffers = 256MB
		maintenance_work_mem = 256MB
		max_wal_size = 2GB
	CONF
	unprivileged env "${server_environment[@]}" "$bindir/pg_ctl" \
		-D "$data" -l "$log" -t 300 -w start >/dev/null || {
		cat "$log" >&2
		fail "the server did not start"
	}
	export PGHOST=$work PGUSER=postgres PGDATABASE=postgres
}

# A server for "make installcheck".  Snapshots of autovacuum would keep dead rows
# from the tests of VACUUM.  To compile expressions takes a process longer than most
# statements that PostgreSQL does it for, where a test disables a kind of scan;
# sql/jit.sql asks for it.
start_test_server()
{
	start_server
	"$bindir/psql" -X -q -c 'ALTER SYSTEM SET autovacuum = off' -c 'ALTER SYSTEM SET jit = off' \
		-c 'SELECT pg_reload_conf()' >/dev/null
}

# Stop every server in a directory, $work unless named: ours, and those of tests
# that were interrupted.
stop_server()
{
	local file

	find "${1:-$work}" -name postmaster.pid 2>/dev/null | while read -r file; do
		unprivileged "$bindir/pg_ctl" -D "${file%/*}" -m immediate stop \
			>/dev/null 2>&1 || true
	done
}

# Run a command whose processes and mounts are its own, and end with it; options
# of unshare come first.
contained()
{
	unshare --mount --pid --ipc --fork --kill-child "$@"
}

# Make a bare root of a release.  The sources in it are those of the last commit, as
# the archive of a release has them.
make_root()
{
	local etc=$work/debian/etc

	contained debootstrap --variant=minbase "$1" "$work/debian" &&
		# a mirror may be older than its lists are valid
		echo 'Acquire::Check-Valid-Until "false";' >"$etc/apt/apt.conf.d/old-lists" &&
		echo force-unsafe-io >"$etc/dpkg/dpkg.cfg.d/no-sync" &&
		git -C "$root" archive --prefix=root/simhash/ HEAD | tar -C "$work/debian" -xf -
}

# Run a command in the root, where the sources are.
in_root()
{
	# shellcheck disable=SC2016
	contained --root="$work/debian" --mount-proc \
		env -i -C /root/simhash HOME=/root PATH=/usr/sbin:/usr/bin \
		${http_proxy:+"http_proxy=$http_proxy"} \
		sh -c 'mount -t tmpfs tmpfs /dev/shm && mount -t devpts devpts /dev/pts && exec "$@"' \
		sh "$@"
}
