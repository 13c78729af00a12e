# pg_upgrade keeps fingerprints and index files, and each search finds what it
# found before.  The old server is one of this PostgreSQL, or of the installation
# that SIMHASH_TEST_OLD names, the parent of its bin directory.

use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use lib "$FindBin::Bin/..";
use Life;

my $old = PostgreSQL::Test::Cluster->new('old', install_path => $ENV{SIMHASH_TEST_OLD});
my $new = PostgreSQL::Test::Cluster->new('new');
for my $node ($old, $new)
{
	# PostgreSQL 18 has checksums by default
	$node->init(extra => [ '--locale=C', '--encoding=UTF8', '--data-checksums' ]);
	$node->append_conf('postgresql.conf', "autovacuum = off\nlog_statement = none");
}
note 'from ' . $old->pg_version . ' to ' . $new->pg_version;

sub file_names
{
	my ($node) = @_;

	return $node->safe_psql('life',
		"SELECT relname, pg_relation_filenode(oid) FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1"
	);
}

# What the planner knows from statistics of distances.
sub estimates
{
	my ($node) = @_;
	my $plans = $node->safe_psql('life', <<'SQL');
SET search_path = public, ext;
EXPLAIN SELECT FROM docs a JOIN docs b ON a.fp <-> b.fp <= 9;
EXPLAIN SELECT FROM docs a JOIN docs b ON a.wide <-> b.wide <= 9;
SQL
	return join ' ', $plans =~ /rows=(\d+)/g;
}

sub unlogged
{
	my ($node) = @_;

	return $node->safe_psql('life', <<'SQL');
SET search_path = public, ext;
SELECT answer('SELECT * FROM unlogged WHERE fp <-> minhash(body_of(8)) <= 9', 'unlogged_fp'),
	hamming_index_check('unlogged_fp');
SQL
}

$old->start;
create_life_database($old, 'life');
my $answers = answers($old, 'life');
my $file_names = file_names($old);
my $estimates = estimates($old);
my $unlogged = unlogged($old);
$old->stop;

# it writes scripts to where it runs
chdir ${PostgreSQL::Test::Utils::tmp_check};
for my $options ([ '--check' ], [])
{
	command_ok(
		[
			'pg_upgrade', '--no-sync',
			'--old-datadir', $old->data_dir,
			'--new-datadir', $new->data_dir,
			'--old-bindir', $old->config_data('--bindir'),
			'--new-bindir', $new->config_data('--bindir'),
			'--socketdir', $new->host,
			'--old-port', $old->port,
			'--new-port', $new->port,
			@$options
		],
		"pg_upgrade @$options");
}
$new->start;
is(file_names($new), $file_names, 'files are kept, those of indexes, too');
is(answers($new, 'life'), $answers, 'the answers before and after are the same');
is(unlogged($new), $unlogged, 'and those of an unlogged table');
$new->command_ok([ 'vacuumdb', '--all', '--analyze-only' ], 'vacuumdb');
is(estimates($new), $estimates, 'the estimates are the same after ANALYZE');
my (undef, undef, $refused) = $new->psql('life', q{
	INSERT INTO refused VALUES (9999, (SELECT body || ' more' FROM refused LIMIT 1))});
like($refused, qr/violates exclusion constraint "refused_fp"/, 'a constraint refuses a row');

# the same changes of both
$old->start;
change_rows($_, 'life') for $old, $new;
is(answers($new, 'life'), answers($old, 'life'), 'the answers are the same after changes');

$_->stop for $old, $new;
done_testing();
