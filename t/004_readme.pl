# What the documentation shows is what one gets: each SQL block with its output,
# and each example of a reference table with its result.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('readme');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
# the tables of the README are too small for an index to pay
$node->append_conf('postgresql.conf',
	"enable_seqscan = off\nenable_bitmapscan = off");
$node->start;

my $documentation = join '',
  map { slurp_file($_) } qw(README.md doc/choosing.md doc/deduplicating.md
  doc/indexing.md doc/recipes.md);
my $blocks = 0;
my $rows = 0;

# Notices and details are not shown.
sub run_sql
{
	my ($sql) = @_;
	my ($out, $err) = ('', '');

	IPC::Run::run(
		[ 'psql', '-X', '-q', '-d', $node->connstr('postgres') ],
		'<', \"\\pset footer off\n$sql",
		'>', \$out, '2>', \$err);
	$err =~ s/^(?!ERROR).*\n//mg;
	return $out . $err;
}

sub trimmed
{
	my ($text) = @_;
	$text =~ s/[ \t]+$//mg;
	$text =~ s/\n+\z//;
	return $text;
}

while ($documentation =~ /^```sql\n(.*?)^```\n(?:```\n(.*?)^```\n)?/msg)
{
	my ($sql, $shown) = ($1, $2 // '');

	is(trimmed(run_sql($sql)), trimmed($shown), "block: " . substr $sql, 0, 60);
	$blocks++;
}
while ($documentation =~ /^\| .* \| `([^|]+?)` \| `([^|]+)` \|$/mg)
{
	my ($example, $result) = ($1, $2);

	is(run_sql("\\pset tuples_only on\n\\pset format unaligned\nSELECT $example;"),
		"$result\n", "example: $example");
	$rows++;
}
# the patterns above must not come to match nothing
cmp_ok($blocks, '>=', 50, 'blocks');
cmp_ok($rows, '>=', 50, 'examples');

$node->stop;
done_testing();
