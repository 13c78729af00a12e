# A serializable search conflicts with each insertion of a row that it would have
# found, within any radius.
#
# The transaction that has searched is prepared: its predicate locks stay, and a
# second one of the same session inserts.  The second one has missed a mark of the
# first, so that it fails if it conflicts with the search.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $seed = $ENV{SIMHASH_TEST_SEED} || int(rand(1e9));
note("SIMHASH_TEST_SEED=$seed");
srand($seed);

my $node = PostgreSQL::Test::Cluster->new('serializable');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
# of all locks that a search takes, none becomes one of the whole index
$node->append_conf('postgresql.conf', <<'CONF');
autovacuum = off
max_prepared_transactions = 1
max_pred_locks_per_relation = 1000
CONF
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simhash; CREATE TABLE marks (mark int)');

# Search within k of a random fingerprint, and insert one at a distance from it.
sub search_and_insert
{
	my ($id, $bits, $k, $distance) = @_;
	my @bits = map { int rand 2 } 1 .. $bits;
	my $centre = join '', @bits;
	my %flipped;

	$flipped{ int rand $bits } = 1 while keys %flipped < $distance;
	$bits[$_] ^= 1 for keys %flipped;
	my $inserted = join '', @bits;

	return "BEGIN ISOLATION LEVEL SERIALIZABLE;
		SELECT FROM docs$bits WHERE fp <-> B'$centre'::simhash$bits <= $k;
		INSERT INTO marks VALUES (1);
		PREPARE TRANSACTION 'search';
		BEGIN ISOLATION LEVEL SERIALIZABLE;
		SELECT FROM marks;
		INSERT INTO docs$bits VALUES ($id, B'$inserted'::simhash$bits);
		COMMIT;
		ROLLBACK PREPARED 'search';\n";
}

for my $bits (64, 128)
{
	my $id = 0;
	my $script = 'SET enable_seqscan = off;';

	$node->safe_psql('postgres', "CREATE TABLE docs$bits (id int, fp simhash$bits);
		CREATE INDEX ON docs$bits USING hamming (fp)");
	for my $k (0 .. $bits / 4)
	{
		$script .= search_and_insert($id++, $bits, $k, $_ % 2 ? $k : int rand($k + 1)) for 1 .. 20;
	}
	my (undef, undef, $errors) = $node->psql('postgres', $script, on_error_stop => 0);
	is(scalar(() = $errors =~ /could not serialize access/g), $id, "all of $id, of $bits bits, fail");
	is($node->safe_psql('postgres', "SELECT count(*) FROM docs$bits"), 0, 'and insert nothing');

	# where no segment is alike, there is no conflict, unless the index is locked
	$script = 'SET enable_seqscan = off;';
	$script .= search_and_insert($id++, $bits, $_, $bits) for 0 .. $bits / 64 * 15;
	$node->psql('postgres', $script, on_error_stop => 0);
	is($node->safe_psql('postgres', "SELECT count(*) FROM docs$bits"), $bits / 64 * 15,
		"those of the opposite fingerprint commit");
}

$node->stop;
done_testing();
