# Many statements that one psql runs: to start psql takes longer than what most of them do.

package Statements;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(run_batch run_session run_shown run_counted trimmed);

# Run scripts of psql, which go on after an error.  Return for each one [ output, errors ].
sub run_scripts
{
	my ($node, $begin, @scripts) = @_;
	my (undef, $out, $err) = $node->psql('postgres',
		join("\n", $begin, map { ($_, '\\echo ==', '\\warn ==', '') } @scripts), on_error_stop => 0);
	my @out = split /\n?^==\n/m, "$out\n", -1;
	my @err = split /\n?^==\n/m, "$err\n", -1;

	die 'psql has ended in statement ' . @err . ": $err" if @out != @scripts + 1 || @err != @scripts + 1;
	return map { [ $out[$_], $err[$_] ] } 0 .. $#scripts;
}

sub connect_to
{
	my ($node, $dbname, $role) = @_;
	my $session = $node->connstr($dbname) . (defined $role ? " user=$role" : '');

	return "\\connect -reuse-previous=off \"$session\"\n";
}

# Run statements, each [ database, statements ] or [ database, statements, role ], each in
# a session of its own.  Errors have SQLSTATEs.
sub run_batch
{
	my ($node, @batch) = @_;

	return run_scripts($node, '\set VERBOSITY verbose',
		map { connect_to($node, @$_[ 0, 2 ]) . "$_->[1];" } @batch);
}

# Run statements in one session.
sub run_session
{
	my ($node, $dbname, @statements) = @_;

	return run_scripts($node, "\\set VERBOSITY verbose\n" . connect_to($node, $dbname), map { "$_;" } @statements);
}

# Run statements as documents show them, each in a session of its own.  Return for each one
# its output with its errors.  Notices and details are not shown.
sub run_shown
{
	my ($node, $dbname, @statements) = @_;

	return map { join "\n", grep { $_ ne '' } $_->[0], $_->[1] =~ /^(?:psql:\S*: )?(ERROR: .*)/mg }
	  run_scripts($node, '\pset format aligned \pset tuples_only off \pset footer off',
		map { connect_to($node, $dbname) . $_ } @statements);
}

# Return a text without white space at the ends of its lines, and at its end.
sub trimmed
{
	my ($text) = @_;
	$text =~ s/[ \t]+$//mg;
	$text =~ s/\n+\z//;
	return $text;
}

# Run statements, each in a session of its own that is canceled at so many thousand steps,
# or never.  Return for each one [ what it says, the thousands of steps, the most of them
# between two interrupts ].  Steps are basic blocks of the library, as a build with
# t/interrupts.c counts them.
sub run_counted
{
	my ($node, $cancel_at, @statements) = @_;
	my @batch = map { [ 'postgres', <<SQL ] } @statements;
SET simhash_test.steps = 0;
SET simhash_test.cancel_at = $cancel_at;
$_;
SHOW simhash_test.steps;
SHOW simhash_test.gap
SQL

	return map {
		my ($out, $err) = @$_;
		my ($result, $steps, $gap) = $out =~ /\A(.*?)\n?(\d+)\n(\d+)\z/s;

		[ $result . $err, $steps, $gap ]
	} run_batch($node, @batch);
}

1;
