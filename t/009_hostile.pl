# What is hard to tell apart takes no longer than it has to: features that are
# made to collide, and fingerprints that are near each other.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'set SIMHASH_TEST_EXTRA for tests that take long' if !$ENV{SIMHASH_TEST_EXTRA};
plan skip_all => 'needs /proc' if !-e '/proc/self/stat';

my $features = 40_000;

# The inverse of murmurhash32() in common/hashfn.h, which anybody can compute.
sub murmur_inverse
{
	my ($h) = @_;

	$h ^= $h >> 16;
	$h = $h * 0x7ed1b41d & 0xffffffff;
	$h ^= ($h >> 13) ^ ($h >> 26);
	$h = $h * 0xa5cb9243 & 0xffffffff;
	return $h ^ ($h >> 16);
}

# A feature hash of which hash_combine(), of the two halves by murmurhash32(),
# is 0.
sub colliding
{
	my ($a) = @_;
	my $b = ($a - 0x9e3779b9 - ($a << 6) - ($a >> 2)) & 0xffffffff;

	return (murmur_inverse($b) << 32) | murmur_inverse($a);
}

my $node = PostgreSQL::Test::Cluster->new('hostile');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "jit = off\nmax_parallel_workers_per_gather = 0");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION simhash');

my $file = $node->data_dir . '/colliding';
append_to_file($file, join "\n", map { unpack 'q', pack 'Q', colliding($_) } 1 .. $features);
$node->safe_psql('postgres', <<SQL);
CREATE TABLE colliding (hash bigint);
COPY colliding FROM '$file';
CREATE TABLE inputs (name text, hashes bigint[], weights float8[]);
INSERT INTO inputs
SELECT 'random', array_agg(hashint8extended(i, 1)), array_agg(1.0) FROM generate_series(1, $features) i;
INSERT INTO inputs
SELECT 'made to collide', array_agg(hash), array_agg(1.0) FROM colliding;
INSERT INTO inputs
SELECT 'the same low half', array_agg(i << 32), array_agg(1.0) FROM generate_series(1::bigint, $features) i;
INSERT INTO inputs
SELECT 'small', array_agg(i), array_agg(1.0) FROM generate_series(1, $features) i;
INSERT INTO inputs
SELECT 'one hash of many weights', array_agg(7), array_agg(i / 65536.0) FROM generate_series(1, $features) i;
SQL

# Processor time of a statement, in hundredths of a second, the least of three: of
# one process, as only that of the backend is known.
sub processor_time
{
	my ($statement, $expected) = @_;
	my $used = q{SELECT (regexp_split_to_array(pg_read_file('/proc/self/stat'), ' '))[14];};
	my $least;

	for (1 .. 3)
	{
		my ($before, $count, $after) = split /\n/,
		  $node->safe_psql('postgres',
			"SET max_parallel_workers_per_gather = 0;\n$used\n$statement;\n$used");

		is($count, $expected, 'the result');
		$least = $after - $before if !defined $least || $after - $before < $least;
	}
	return $least;
}

sub features_time
{
	my ($name) = @_;

	return processor_time(
		"SELECT count(*) FROM inputs, simhash_features_hashes(hashes, weights) WHERE name = '$name'",
		$features);
}

my $random = features_time('random');
for my $name ('made to collide', 'the same low half', 'small', 'one hash of many weights')
{
	# comparing each with all others takes hundreds of times as long
	cmp_ok(features_time($name), '<=', 4 * $random + 20, $name);
}

# The same for words of which the hashes agree in their lowest or their highest
# bits, as tables of weights and of documents' words.
my $words = 2000;
$node->safe_psql('postgres', <<SQL);
CREATE TABLE words AS
SELECT feature, CASE WHEN (hash & 1023) = 0 THEN 'lowest' WHEN (hash >> 54) = 0 THEN 'highest'
	ELSE 'none' END AS agree
FROM simhash_features((SELECT string_agg('w' || i, ' ') FROM generate_series(1, 2500000) i));
CREATE TABLE texts AS
SELECT agree, jsonb_object_agg(feature, 2)::simhash_weights AS weights,
	repeat(string_agg(feature, ' ') || ' ', 1000) AS body
FROM (VALUES ('none'), ('lowest'), ('highest')) kinds (agree),
	LATERAL (SELECT feature FROM words w WHERE w.agree = kinds.agree LIMIT $words) w GROUP BY agree;
SQL
for my $test (
	[ 'weights', "SELECT simhash(body, weights) = simhash(body) FROM texts WHERE agree = '%s'", 't' ],
	[ 'idf', "SELECT simhash_idf(body) IS NULL FROM texts WHERE agree = '%s'", 'f' ],
	[ 'distinct words', "SELECT simhash_128(body) IS NULL FROM texts WHERE agree = '%s'", 'f' ],
	[ 'counts', "SELECT simhash(body, tf => 'log') IS NULL FROM texts WHERE agree = '%s'", 'f' ],
	[ 'two words', "SELECT minhash(repeat(substring(body FROM '\\w+ \\w+ '), 3000000), words => 1) IS NULL
		FROM texts WHERE agree = '%s'", 'f' ])
{
	my ($name, $statement, $expected) = @$test;
	my $usual = processor_time(sprintf($statement, 'none'), $expected);

	for my $agree ('lowest', 'highest')
	{
		cmp_ok(processor_time(sprintf($statement, $agree), $expected),
			'<=', 4 * $usual + 20, "words whose $agree bits agree, $name");
	}
}

# Fingerprints of which 44 bits vary: within 8 nearly all of them are connected,
# each with few others.  Few of the pairs that agree in a part need a comparison.
my $rows = 600_000;
$node->safe_psql('postgres', <<SQL);
CREATE TABLE scattered AS SELECT hashint8extended(i, 1)::simhash64 AS fp FROM generate_series(1, $rows) i;
CREATE TABLE dense AS SELECT (fp::bigint & ((1::bigint << 44) - 1))::simhash64 AS fp FROM scattered;
SQL
my $clusters =
  'SELECT count(DISTINCT c) BETWEEN %s FROM (SELECT simhash_cluster(fp, 8) OVER () AS c FROM %s) s';
my $usual = processor_time(sprintf($clusters, "$rows * 0.99 AND $rows", 'scattered'), 't');
cmp_ok(processor_time(sprintf($clusters, '2 AND 1000', 'dense'), 't'),
	'<=', 4 * $usual, 'dense fingerprints');

$node->stop;
done_testing();
