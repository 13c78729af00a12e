# Steps of a statement: basic blocks of the library, as a build with t/interrupts.c
# counts them.

package Steps;

use strict;
use warnings;

use Exporter 'import';

use Batch;

our @EXPORT = qw(run_statements);

# Run statements, each in a session of its own that is canceled at so many thousand
# steps, or never.  Return for each one [ what it says, the thousands of steps, the most
# of them between two interrupts ].
sub run_statements
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
