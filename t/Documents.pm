# What the tests of the documents share: running a statement as psql shows it.
package Documents;

use strict;
use warnings;

use Exporter qw(import);
use IPC::Run;

our @EXPORT = qw(run_sql trimmed);

# Return what psql prints of the statements, and their errors.  Notices and
# details are not shown.
sub run_sql
{
	my ($node, $database, $sql) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run(
		[ 'psql', '-X', '-q', '-d', $node->connstr($database) ],
		'<', \"\\pset footer off\n$sql",
		'>', \$out, '2>', \$err);
	$err =~ s/^(?!ERROR).*\n//mg;
	return $out . $err;
}

# Return a text without white space at the ends of its lines, and at its end.
sub trimmed
{
	my ($text) = @_;
	$text =~ s/[ \t]+$//mg;
	$text =~ s/\n+\z//;
	return $text;
}

1;
