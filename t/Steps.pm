# Steps of a statement: basic blocks of the library, as a build with t/interrupts.c
# counts them.

package Steps;

use strict;
use warnings;

use Exporter 'import';

our @EXPORT = qw(run_statement);

# Run a statement in a new session, which is canceled at so many thousand steps, or
# never: what it says, the thousands of steps, and the most of them between two
# interrupts.
sub run_statement
{
	my ($node, $statement, $cancel_at) = @_;
	my (undef, $out, $err) = $node->psql('postgres', <<SQL, on_error_stop => 0);
\\set VERBOSITY sqlstate
SET simhash_test.steps = 0;
SET simhash_test.cancel_at = $cancel_at;
$statement;
SHOW simhash_test.steps;
SHOW simhash_test.gap;
SQL
	my ($result, $steps, $gap) = $out =~ /\A(.*?)\n?(\d+)\n(\d+)\s*\z/s;

	return ($result . $err, $steps, $gap);
}

1;
