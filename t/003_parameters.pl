# Drivers send parameters without a type, or as smallint: the index serves
# them all.  pgbench sends every variable untyped.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('parameters');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', 'enable_seqscan = off');
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION simhash;
	CREATE TABLE docs AS SELECT i AS id, substr(md5(i::text), 1, 16)::simhash64 AS fp
	FROM generate_series(1, 20000) i;
	CREATE INDEX docs_fp ON docs USING hamming (fp);
	VACUUM ANALYZE docs;
});
my $q = $node->safe_psql('postgres', 'SELECT fp FROM docs WHERE id = 42');

my %where = (
	'untyped centre and bound' => 'fp <-> :q <= :k',
	'bound on the left' => ':k >= fp <-> :q',
	'smallint bound' => 'fp <-> :q <= :k::smallint',
	'bigint bound' => ':q <-> fp <= :k::bigint',
	'between' => 'fp <-> :q BETWEEN 0 AND :k');
for my $name (sort keys %where)
{
	for my $mode (qw(extended prepared))
	{
		my $script = $node->data_dir . '/query.sql';
		my $scans = 'SELECT coalesce(sum(idx_scan), 0) FROM pg_stat_user_indexes';

		# a division by zero unless exactly one row is found
		append_to_file($script,
			"SELECT 1 / (count(*) = 1)::int FROM docs WHERE $where{$name};\n");
		$node->safe_psql('postgres', 'SELECT pg_stat_reset()');
		$node->command_ok(
			[
				'pgbench', '-n', '-t', '10', '-M', $mode, '-f', $script,
				'-D', "q=$q", '-D', 'k=3', $node->connstr('postgres')
			],
			"$name, $mode: right row");
		ok( $node->poll_query_until('postgres', "$scans", 10),
			"$name, $mode: by the index");
		unlink $script;
	}
}

$node->stop;
done_testing();
