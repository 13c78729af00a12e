# What the tests of the documents share: running statements as psql shows them.
package Documents;

use strict;
use warnings;

use Exporter qw(import);
use IPC::Run;

our @EXPORT = qw(run_blocks run_sql trimmed);

# Return what psql prints of each of some blocks of statements, and their errors.
# Notices and details are not shown.  Each block has a session of its own, of one psql:
# to start a psql takes as long as to start a session.
sub run_blocks
{
	my ($node, $database, @blocks) = @_;
	my $end = "== the end of a block\n";
	my ($out, $err) = ('', '');

	IPC::Run::run(
		[ 'psql', '-X', '-q', '-d', $node->connstr($database) ],
		'<', \("\\pset footer off\n" . join "\\connect\n", map { "$_\n\\echo $end\\warn $end" } @blocks),
		'>', \$out, '2>', \$err);
	my @out = split /^$end/m, $out, -1;
	my @err = map { s/^(?!ERROR).*\n//mgr } split /^$end/m, $err, -1;
	return map { ($out[$_] // 'psql has ended') . ($err[$_] // '') } 0 .. $#blocks;
}

sub run_sql
{
	return (run_blocks(@_))[0];
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
