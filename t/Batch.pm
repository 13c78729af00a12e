# Statements of a test that one psql runs, each in a session of its own: to start psql
# takes longer than what most of them do.

package Batch;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(run_batch);

# Run statements, each [ database, statements ] or [ database, statements, role ].  They
# go on after an error.  Return for each one [ output, errors ], with SQLSTATEs.
sub run_batch
{
	my ($node, @batch) = @_;
	my $script = "\\set VERBOSITY verbose\n";

	for (@batch)
	{
		my ($dbname, $statements, $role) = @$_;
		my $session = $node->connstr($dbname) . (defined $role ? " user=$role" : '');

		$script .= "\\connect -reuse-previous=off \"$session\"\n$statements;\n\\echo ==\n\\warn ==\n";
	}
	my (undef, $out, $err) = $node->psql('postgres', $script, on_error_stop => 0);
	my @out = split /\n?^==\n/m, "$out\n", -1;
	my @err = split /\n?^==\n/m, "$err\n", -1;
	die "a statement is lost: $err" if @out != @batch + 1 || @err != @batch + 1;
	return map { [ $out[$_], $err[$_] ] } 0 .. $#batch;
}

1;
