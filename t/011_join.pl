# A session that has not met the extension yet, and a process that a parallel plan
# has started, know the join method of it: nothing has to be loaded.

use strict;
use warnings;

use File::Copy;
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use lib $FindBin::Bin;
use Statements;

my $node = PostgreSQL::Test::Cluster->new('join');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', <<'CONF');
jit = off
enable_nestloop = off
min_parallel_table_scan_size = 0
parallel_setup_cost = 0
parallel_tuple_cost = 0
CONF
$node->start;
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simhash;
CREATE TABLE docs WITH (parallel_workers = 2) AS
SELECT i AS id, (hashint8extended(i / 2, 1) # (i % 2))::simhash64 AS fp, 'text ' || i AS body
FROM generate_series(0, 2999) i;
CREATE TABLE batch AS SELECT * FROM docs WHERE id % 10 < 2;
CREATE TABLE wide AS SELECT id, md5((id / 2)::text)::uuid::simhash128 AS fp FROM docs;
-- processes share the outer rows where this takes most of the time
CREATE FUNCTION costly(i int) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE COST 1000000
	AS 'BEGIN RETURN i >= 0; END';
CREATE VIEW near AS SELECT d.id, b.id AS other FROM docs d JOIN batch b ON d.fp <-> b.fp <= 3;
CREATE FUNCTION near_rows(k int) RETURNS bigint LANGUAGE sql
	AS 'SELECT count(*) FROM docs d JOIN batch b ON d.fp <-> b.fp <= $1';
CREATE FUNCTION near_rows_plpgsql(k int) RETURNS bigint LANGUAGE plpgsql
	AS 'BEGIN RETURN (SELECT count(*) FROM docs d JOIN batch b ON d.fp <-> b.fp <= k); END';
ANALYZE docs, batch;
SQL

# The first statement of a session has the join.  Each row of batch is near two of docs.
my %bounds = (
	'a bound' => 'd.fp <-> b.fp <= 3',
	'a bound below' => 'd.fp <-> b.fp < 4',
	'a bound on the left' => '3 >= b.fp <-> d.fp',
	'between' => 'd.fp <-> b.fp BETWEEN 0 AND 3',
	'the function of the distance' => 'simhash_distance(d.fp, b.fp) <= 3',
	'within' => 'simhash_within(d.fp, b.fp, 3)',
	'the operator %' => 'd.fp % b.fp',
	'in a ball' => 'd.fp <@ hamming_ball(b.fp, 3)',
	'a ball with' => 'hamming_ball(b.fp, 3) @> d.fp',
	'a bound from a query' => 'd.fp <-> b.fp <= (SELECT 3)');
my %statements = (
	(map { $_ => [ "SELECT count(*) FROM docs d JOIN batch b ON $bounds{$_}", '1200' ] } keys %bounds),
	'a left join' => [ 'SELECT count(*), count(b.id) FROM docs d LEFT JOIN batch b ON d.fp <-> b.fp <= 3', '3600|1200' ],
	'a full join' => [ 'SELECT count(*) FROM docs d FULL JOIN batch b ON d.fp <-> b.fp <= 3', '3600' ],
	'a semi join' => [ 'SELECT count(*) FROM docs d WHERE EXISTS (SELECT FROM batch b WHERE d.fp <-> b.fp <= 3)', '600' ],
	'an anti join' => [ 'SELECT count(*) FROM docs d WHERE NOT EXISTS (SELECT FROM batch b WHERE d.fp <-> b.fp <= 3)', '2400' ],
	'128 bits' => [ 'SELECT count(*) FROM wide d JOIN wide b ON d.fp <-> b.fp <= 16', '6000' ],
	'128 bits, the operator %' => [ 'SELECT count(*) FROM wide d JOIN wide b ON d.fp % b.fp', '6000' ],
	'a view' => [ 'SELECT count(*) FROM near', '1200' ],
	'a SQL function' => [ 'SELECT near_rows(3)', '1200', 'no plan' ],
	'a PL/pgSQL function' => [ 'SELECT near_rows_plpgsql(3)', '1200', 'no plan' ],
	'texts' => [ 'SELECT count(*) > 500 FROM docs d JOIN batch b ON simhash(d.body) <-> simhash(b.body) <= 0', 't' ]);
my @names = sort keys %statements;
my @found = run_batch($node, map { [ 'postgres', $statements{$_}[0] ] } @names);
my @plans = run_batch($node, map { [ 'postgres', "EXPLAIN (COSTS OFF) $statements{$_}[0]" ] }
	grep { !$statements{$_}[2] } @names);
for my $name (@names)
{
	my (undef, $result, $hidden) = @{ $statements{$name} };

	is(join('', @{ shift @found }), $result, "$name: right rows");
	like((shift @plans)->[0], qr/Custom Scan \(HammingJoin\)/, "$name: by the join") unless $hidden;
}
is($node->safe_psql('postgres', "DELETE FROM docs a USING docs b WHERE a.fp <-> b.fp <= 3 AND a.id > b.id;
		SELECT count(*) FROM docs"),
	'1500', 'a self-join that deletes');

# settings before the library is loaded
is($node->safe_psql('postgres', "SET simhash.enable_hammingjoin = off; SHOW simhash.enable_hammingjoin"),
	'off', 'the setting before all else');
unlike(
	$node->safe_psql('postgres', 'SET simhash.enable_hammingjoin = off;
		EXPLAIN (COSTS OFF) SELECT FROM docs d JOIN batch b ON d.fp <-> b.fp <= 3'),
	qr/HammingJoin/, 'it holds for the first join');
$node->safe_psql('postgres', 'ALTER DATABASE postgres SET simhash.enable_hammingjoin = off');
unlike($node->safe_psql('postgres', 'EXPLAIN (COSTS OFF) SELECT FROM docs d JOIN batch b ON d.fp <-> b.fp <= 3'),
	qr/HammingJoin/, 'as does one of the database');
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET simhash.enable_hammingjoin');

# Workers: the leader takes no part, so that all rows are of theirs.
for my $k ('3', '(SELECT 3)')
{
	my $query = "SELECT count(*) FROM docs d JOIN batch b ON d.fp <-> b.fp <= $k AND costly(d.id + b.id)";
	my $plan = $node->safe_psql('postgres', "SET parallel_leader_participation = off;
		EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) $query");

	like($plan, qr/Gather.*Workers Launched: [12].*HammingJoin.*Parallel Seq Scan on docs/s,
		"k is $k: the join is in workers");
	is($node->safe_psql('postgres', "SET parallel_leader_participation = off; $query"),
		'600', "k is $k: right rows of workers");
}
for my $type ('LEFT', 'semi', 'anti')
{
	my $query = $type eq 'LEFT' ? 'SELECT count(*) FROM docs d LEFT JOIN batch b ON d.fp <-> b.fp <= 3 AND costly(d.id + b.id)'
	  : 'SELECT count(*) FROM docs d WHERE ' . ($type eq 'anti' ? 'NOT ' : '')
	  . 'EXISTS (SELECT FROM batch b WHERE d.fp <-> b.fp <= 3 AND costly(d.id + b.id))';
	my %rows = (LEFT => 1800, semi => 300, anti => 1200);

	like($node->safe_psql('postgres', "EXPLAIN (COSTS OFF) $query"),
		qr/Gather.*HammingJoin.*Parallel Seq Scan on docs/s, "$type: a parallel plan");
	is($node->safe_psql('postgres', "SET parallel_leader_participation = off; $query"),
		$rows{$type}, "$type: right rows of workers");
}

# A library that lies elsewhere: workers load that one, and not the installed one, too.
my ($installed) = glob $node->config_data('--pkglibdir') . '/simhash.{so,dylib}';
my $library = PostgreSQL::Test::Utils::tempdir() . '/simhash';
copy($_, "$library." . (/(\w+)$/)[0]) or die "$_: $!" for $installed;
$node->safe_psql('postgres', "UPDATE pg_proc SET probin = '$library' WHERE probin LIKE '%/simhash'");
is( $node->safe_psql('postgres', <<'SQL'),
ALTER TABLE wide SET (parallel_workers = 2);
CREATE INDEX ON wide USING hamming (fp);
SELECT count(*) FROM simhash_pairs('SELECT id, fp FROM wide', 16);
SQL
	'1500', 'a library elsewhere: an index and pairs by several processes');

$node->stop;
done_testing();
