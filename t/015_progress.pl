# What a long call shows of its progress: each phase, and more every few seconds.  Only
# the call that is made to wait has to show such a message.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'set SIMHASH_TEST_EXTRA for tests that take long' if !$ENV{SIMHASH_TEST_EXTRA};

my $node = PostgreSQL::Test::Cluster->new('progress');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', <<'CONF');
simhash.report_progress = on
parallel_setup_cost = 0
parallel_tuple_cost = 0
max_parallel_workers_per_gather = 2
max_parallel_workers = 0
CONF
$node->start;
$node->safe_psql('postgres', <<'SQL');
SET client_min_messages = warning;
CREATE EXTENSION simhash;
CREATE TABLE docs AS SELECT i AS id, hashint8extended(i / 2, 1)::simhash64 AS fp FROM generate_series(1, 5000) i;
ANALYZE docs;
SQL

# The notices of a statement, without those that the time makes.
sub notices
{
	my ($statement) = @_;
	my ($code, $out, $err) = $node->psql('postgres', $statement);

	return [ grep { !/ % done, about | rows so far/ } $err =~ /NOTICE:  (.*)/g ];
}

is_deeply(
	notices("SELECT max(c) FROM (SELECT simhash_cluster(fp, 3, 'leader') OVER () c FROM docs) s"),
	[
		'simhash_cluster: reading rows',
		'simhash_cluster: connecting fingerprints',
		'simhash_cluster: connecting fingerprints: 2 workers planned, 0 launched',
		'simhash_cluster: choosing leaders'
	],
	'clusters');
is_deeply(
	notices("SELECT max(c) FROM (SELECT simhash_cluster(fp, 3, 'leader', id::text, 0.5) OVER () c FROM docs) s"),
	[
		'simhash_cluster: reading rows',
		'simhash_cluster: connecting fingerprints',
		'simhash_cluster: connecting fingerprints: 2 workers planned, 0 launched',
		'simhash_cluster: choosing leaders'
	],
	'clusters whose texts are compared');
is_deeply(
	notices("SELECT max(c) FROM (SELECT simhash_cluster(fp, 3, 'connected', id::text, 0.5) OVER () c FROM docs) s"),
	[ 'simhash_cluster: reading rows', 'simhash_cluster: connecting fingerprints' ],
	'this process alone compares the texts of steps');
my @pairs = (
	'simhash_pairs: finding pairs',
	'simhash_pairs: finding pairs: 2 workers planned, 0 launched');
is_deeply(
	notices("SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM docs', 3)"),
	[ 'simhash_pairs: reading rows', @pairs ], 'pairs');
is_deeply(
	notices("SELECT count(*) FROM simhash_components('SELECT id, id / 2 FROM docs')"),
	[ 'simhash_components: reading rows', 'simhash_components: grouping ids' ],
	'components');
is_deeply(
	notices("SET enable_nestloop = off; SELECT count(*) FROM docs a JOIN docs b ON a.fp <-> b.fp <= 3 AND a.id < b.id"),
	[
		'HammingJoin: reading rows',
		'HammingJoin: finding pairs',
		'HammingJoin: finding pairs: 2 workers planned, 0 launched'
	],
	'a join');
is_deeply(
	notices("SELECT count(*) FROM simhash_pairs('SELECT simhash_cluster(fp, 3) OVER (), fp FROM docs WHERE id < 9', 3)"),
	[
		'simhash_pairs: reading rows',
		'simhash_cluster: reading rows',
		'simhash_cluster: connecting fingerprints',
		'simhash_cluster: connecting fingerprints: 2 workers planned, 0 launched',
		@pairs
	],
	'a call within a call, and after it');

# a message comes 3 seconds after the call has begun, if the query has made a row since
my ($code, $out, $err) = $node->psql('postgres', <<'SQL');
SELECT count(*) FROM simhash_pairs('SELECT i, (i::bigint)::simhash64 FROM generate_series(1, 7) i
	WHERE pg_sleep(CASE i WHEN 5 THEN 3.1 ELSE 0 END)::text IS NOT NULL', 3)
SQL
like($err, qr/NOTICE:  simhash_pairs: reading rows: 5 rows so far$/m, 'a query that makes its rows slowly');

$node->stop;
done_testing();
