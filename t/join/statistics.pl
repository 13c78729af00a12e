# Joins planned with the statistics of other contents: none may do more than 3 x the work
# of its best plan.
#
#     statistics.pl SECONDS SEED     on the server of PGHOST, in a database "joins"
#
# Ten statements have tables and a seed of their own.  Each runs with the settings of
# users, and by plans that it could have had: with other settings, and after ANALYZE.
# Work is what EXPLAIN counts, and endless after 10 times the seconds of the best plan.

use strict;
use warnings;

use FindBin;
use JSON::PP;
use List::Util qw(min sum);
use Time::HiRes qw(time);

use lib $FindBin::Bin;
use Joins;

my ($seconds, $seed) = @ARGV;
my ($passed, $failed, $skipped) = (0, 0, 0);
my $bits;    # of the fingerprints of a world

# Units of 0.1 us, fitted to the seconds of some 300 plans: rows that nodes return or
# remove, their starts, pairs that a HammingJoin compares, rows that it sorts, pages of
# tables and indexes, of GiST, and of files that are read.
my %weight = (rows => 0.5, removed => 0.8, loops => 1, candidates => 0.01, sorted => 2.5,
	buffers => 4, gist => 60, temp => 25);
my $allowance = 100_000;    # of 10 ms nobody complains

# Which rows are alike, as an expression of i.
my %alike = (
	'none' => 'i',
	'few' => 'i - (i % 100 = 0)::int',
	'tens' => 'i / 10',
	'a crowd' => 'CASE WHEN i % 20 = 0 THEN i % 400 ELSE i END',
	'copies' => 'abs(i)');

# With the same fingerprints as t, or other ones.
sub create_table
{
	my ($table, $rows, $kind, $pad) = @_;
	my $source = pick('t', $table);
	my %draw = map { $_ => [ pick('none', 'few', 'few', 'tens', 'a crowd'), pick(1, 20, 5000) ] } 'mine', 'other';

	$draw{other}[0] = 'copies' if chance(0.3);
	$dbh->do("CREATE TABLE $table (id int PRIMARY KEY, fp simhash$bits, n int, pad text)");
	for my $index ("ON $table USING hamming (fp)", "ON $table (n)",
		$bits == 64 ? "${table}_gist ON $table USING gist (fp)" : ())
	{
		$dbh->do("CREATE INDEX $index") if chance(0.2);
	}
	fill_by($kind, $table, sub {
		my ($share) = @_;
		my ($alike, $keys) = @{ $draw{ $share ? 'other' : 'mine' } };
		my $last = int(($share // 1) * $rows);

		$dbh->do("INSERT INTO $table SELECT i, (('x' || left(md5('$source' || $alike{$alike}), $bits / 4))::bit($bits)"
			. " # (1::bit($bits) << i % 4))::simhash$bits, hashint4(i) % $keys, repeat('x', $pad)"
			. ' FROM generate_series(' . ($share ? "-$last, -1" : "1, $last") . ') i');
	});
}

sub create_world
{
	my $kind = pick(sort keys %statistics);
	my $pad = pick(0, 0, 400);

	$bits = pick(64, 64, 128);
	$dbh->do('DROP SCHEMA IF EXISTS world CASCADE');
	$dbh->do('CREATE SCHEMA world');
	create_table('t', pick(20_000, 40_000), $kind, $pad);
	create_table('u', pick(20, 2000, 20_000), $kind, $pad);
	return $kind;
}

# Filters that depend on each other: more rows have them than PostgreSQL expects.
sub filter
{
	my ($x) = @_;
	my $m = pick(2, 5, 50);

	return "$x.id % $m = 0 AND ($x.id + 1) % $m = 1 AND $x.id * 2 % " . 2 * $m . ' = 0';
}

# What comes before a statement, and its two sides.
sub sides
{
	my ($left, $right) = ('t', pick('t', 't', 'u'));
	my $r = rand;

	return ('', $left, $right) if $r < 0.6;
	return ('WITH c AS MATERIALIZED (SELECT * FROM t x WHERE ' . filter('x') . ') ', 'c', pick('c', $right))
		if $r < 0.75;
	return ('', '(SELECT * FROM t x WHERE NOT EXISTS (SELECT FROM u y WHERE y.id = x.id))', $right) if $r < 0.85;
	return ('', $right, $left);
}

sub query
{
	my ($with, $left, $right) = sides();
	my @on = 'a.fp <-> b.fp <= ' . pick(0, 3, 3, 8, $bits / 8);
	my $type = pick('inner', 'inner', 'left', 'semi', 'anti');

	push @on, 'a.n = b.n' if chance(0.3);
	push @on, pick('a.id < b.id', 'a.id < b.id', 'a.id <> b.id', 'b.id < a.id', $left eq 't' ? 'a.ctid <> b.ctid' : ())
		if $left eq $right;
	my @where = chance(0.3) ? filter(pick('a', $type eq 'inner' ? 'b' : 'a')) : ();
	my $on = join ' AND ', @on;

	return "${with}SELECT a.id FROM $left a WHERE " . join ' AND ', @where,
		($type eq 'anti' ? 'NOT ' : '') . "EXISTS (SELECT FROM $right b WHERE $on)" if $type =~ /semi|anti/;
	return "${with}SELECT a.id, b.id FROM $left a " . ($type eq 'left' ? 'LEFT ' : '')
		. "JOIN $right b ON $on" . (@where ? " WHERE @where" : '');
}

sub statement
{
	my $query = query();
	my $r = rand;

	return $query if $r < 0.4;
	return "SELECT EXISTS ($query)" if $r < 0.55;
	return "DECLARE c CURSOR FOR $query" if $r < 0.65;
	return "$query LIMIT " . pick(1, 10, 1000);
}

# Add up what a plan and those below it have done; return how many rows it has returned.
sub count_work
{
	my ($plan, $count) = @_;
	my @below = @{ $plan->{Plans} // [] };
	my $loops = $plan->{'Actual Loops'};
	my $rows = $loops * $plan->{'Actual Rows'};
	my $read = sum(0, map { count_work($_, $count) } @below);
	my $pages = ($plan->{'Index Name'} // '') =~ /gist/ ? 'gist' : 'buffers';
	my $buffers = sub { $_[0]{'Shared Hit Blocks'} + $_[0]{'Shared Read Blocks'} };

	$count->{$pages} += $buffers->($plan) - sum(0, map { $buffers->($_) } @below);
	$count->{rows} += $rows;
	$count->{removed} += $loops * sum(0, @$plan{ grep { /^Rows Removed by/ } keys %$plan });
	$count->{loops} += $loops;
	$count->{candidates} += $plan->{Candidates} // 0;
	$count->{sorted} += $read * ($plan->{Passes} // 0) / ($loops || 1);
	return $rows;
}

# The nodes of a plan, outermost first.
sub nodes
{
	my ($plan) = @_;
	my $below = join ', ', map { nodes($_) } @{ $plan->{Plans} // [] };

	return ($plan->{'Custom Plan Provider'} // $plan->{'Node Type'}) . ($below && "($below)");
}

# Run a statement; return its work, rows, nodes and seconds: endless work, if it is cut
# short.  A plan that has ended before is not run again.
sub measure
{
	my ($statement, $timeout, @settings) = @_;
	my $explain = sub { $dbh->selectrow_array("EXPLAIN ($_[0], FORMAT JSON) $statement->{sql}") };
	my ($shape, $plan);
	my $begun = time;
	my (undef, $error) = run([ @settings, 'statement_timeout = ' . int(1000 * $timeout) ], sub {
		$shape = $explain->('COSTS OFF');
		$plan = $statement->{ended}{$shape} //=
			decode_json($explain->('ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF'))->[0]{Plan};
	});

	die "$statement->{sql}: $error" if $error && $error !~ /^57014/;
	return { work => 9**9**9, seconds => $timeout, nodes => nodes(decode_json($shape)->[0]{Plan}) } if !$plan;
	$plan->{seconds} //= time - $begun;
	my %count = (temp => $plan->{'Temp Read Blocks'});
	my $rows = count_work($plan, \%count);
	return { work => sum(map { $weight{$_} * $count{$_} } keys %count),
		seconds => $plan->{seconds}, nodes => nodes($plan), rows => $rows };
}

my @others = (
	[ 'enable_nestloop = off' ],
	[ 'enable_nestloop = off', 'enable_hashjoin = off', 'enable_mergejoin = off' ],
	[ 'max_parallel_workers_per_gather = 0' ],
	[ 'enable_nestloop = off', 'max_parallel_workers_per_gather = 0' ],
	[ 'simhash.enable_hammingjoin = off', 'max_parallel_workers_per_gather = 0' ]);

# Which of PostgreSQL's own plans is best, is its affair: a HammingJoin must be taken where
# it is better, and no worse where it is taken.
sub judge
{
	my ($statement, $analyzed, $world) = @_;
	my $taken = $statement->{taken};
	my @plans = sort { $a->{work} <=> $b->{work} } $taken, $analyzed, @{ $statement->{plans} };
	my ($best) = ((grep { "$_->{nodes} $taken->{nodes}" =~ /HammingJoin/ } @plans), $taken);
	my %rows = map { $_ => 1 } grep { defined } map { $_->{rows} } @plans;

	return $skipped++ if !%rows;
	return $passed++ if keys %rows == 1 && $taken->{work} <= 3 * $best->{work} + $allowance;
	$failed++;
	printf "not ok: %.1f x, rows %s: seed %s\n\t%s;\n", $taken->{work} / $best->{work},
		join(' or ', keys %rows), $world, $statement->{sql};
	printf "\t%.0f: %s\n", $_->{work}, $_->{nodes} for $taken, $best;
}

sub run_world
{
	my ($world) = @_;
	my $kind = create_world();
	my @statements = map { { sql => statement() } } 1 .. 10;

	for my $statement (@statements)
	{
		my @plans = map { measure($statement, 2, @$_) } @others;

		$statement->{plans} = \@plans;
		$statement->{taken} = measure($statement, 2 + 10 * min(map { $_->{seconds} } @plans));
	}
	$dbh->do('ANALYZE t, u');
	judge($_, measure({ sql => $_->{sql} }, 2), "$world, statistics $kind") for @statements;
}

$| = 1;
create_database();
run_worlds($seconds, $seed, \&run_world);
print "skipped: no plan that ends $skipped\n";
print "$passed passed, $failed failed\n";
exit($failed > 0);
