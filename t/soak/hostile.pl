# What is hard to tell apart takes no more steps than it has to: features that are
# made to collide, texts of few features, and fingerprints that are near each other.
# A build with t/interrupts.c counts the steps: script/soak steps makes it.

use strict;
use warnings;
no warnings 'portable';

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use lib "$FindBin::Bin/..";
use Statements;

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

# The steps of a statement, in thousands.
sub steps
{
	my ($statement, $expected) = @_;
	my ($run) = run_counted($node, 0, $statement);

	is($run->[0], $expected, 'the result');
	return $run->[1];
}

sub features_steps
{
	my ($name) = @_;

	return steps(
		"SELECT count(*) FROM inputs, simhash_features_hashes(hashes, weights) WHERE name = '$name'",
		$features);
}

my $random = features_steps('random');
for my $name ('made to collide', 'the same low half', 'small', 'one hash of many weights')
{
	# comparing each with all others takes hundreds of times as many
	cmp_ok(features_steps($name), '<=', 4 * $random, $name);
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
	repeat(string_agg(feature, ' ') || ' ', 100) AS body
FROM (VALUES ('none'), ('lowest'), ('highest')) kinds (agree),
	LATERAL (SELECT feature FROM words w WHERE w.agree = kinds.agree LIMIT $words) w GROUP BY agree;
SQL
for my $test (
	[ 'weights', "SELECT simhash(body, weights) = simhash(body) FROM texts WHERE agree = '%s'", 't' ],
	[ 'idf', "SELECT simhash_idf(body) IS NULL FROM texts WHERE agree = '%s'", 'f' ],
	[ 'distinct words', "SELECT simhash_128(body) IS NULL FROM texts WHERE agree = '%s'", 'f' ],
	[ 'counts', "SELECT simhash(body, tf => 'log') IS NULL FROM texts WHERE agree = '%s'", 'f' ],
	[ 'two words', "SELECT minhash(repeat(substring(body FROM '\\w+ \\w+ '), 300000), words => 1) IS NULL
		FROM texts WHERE agree = '%s'", 'f' ])
{
	my ($name, $statement, $expected) = @$test;
	my $usual = steps(sprintf($statement, 'none'), $expected);

	for my $agree ('lowest', 'highest')
	{
		cmp_ok(steps(sprintf($statement, $agree), $expected),
			'<=', 4 * $usual, "words whose $agree bits agree, $name");
	}
}

# Texts of few features, against one of as many different words: to find that a bin of
# a minhash has no value takes 128 rounds, unless it is seen that features come again.
my $different = q{(SELECT string_agg(i::text, ' ') FROM generate_series(100000, 199999) i)};
for my $call ('minhash(%s)', 'minhash(%s, words => 1)', 'minhash(%s, chars => 3)', 'minhash_128(%s)',
	'(SELECT minhash_agg(w) FROM string_to_table(%s, \' \') w)',
	'(SELECT max(fp) FROM minhash_passages(%s, mean_length => 1001))')
{
	my $statement = "SELECT $call IS NULL";
	my $usual = steps(sprintf($statement, $different), 'f');

	for my $few (
		q{repeat('0,', 100000)}, q{repeat('ab cd ef gh ', 25000)}, q{repeat('x', 700000)},
		q{(SELECT string_agg((hashint8extended(i, 1) & 15)::text, ' ') FROM generate_series(1, 100000) i)})
	{
		cmp_ok(steps(sprintf($statement, $few), 'f'), '<=', 2 * $usual, sprintf($call, $few));
	}
}

# Arithmetic of doc/algorithm.md, "Minima: minhash", modulo 2^64.
sub shift_right { return ($_[0] & ~0) >> $_[1] }

# S(seed, i)
sub split_mix
{
	use integer;
	my ($seed, $i) = @_;
	my $z = $seed + ($i + 1) * 0x9E3779B97F4A7C15;

	$z = ($z ^ shift_right($z, 30)) * 0xBF58476D1CE4E5B9;
	$z = ($z ^ shift_right($z, 27)) * 0x94D049BB133111EB;
	return $z ^ shift_right($z, 31);
}

# The h of which split_mix(h, 0) is z.
sub unmix
{
	use integer;
	my ($z) = @_;

	$z = ($z ^ shift_right($z, 31) ^ shift_right($z, 62)) * 0x319642B2D24D8EC3;
	$z = ($z ^ shift_right($z, 27) ^ shift_right($z, 54)) * 0x96DE1B173F119089;
	return ($z ^ shift_right($z, 30) ^ shift_right($z, 60)) - 0x9E3779B97F4A7C15;
}

my @multipliers = map { split_mix(4, $_) | 1 } 0 .. 63;

# Are the values of a feature, mixed = split_mix(hash, 0), in none of so many last
# bins, in each of the rounds 0 to 63?
sub avoids
{
	use integer;
	my ($mixed, $bins) = @_;

	for my $multiplier (@multipliers)
	{
		return 0 if shift_right($mixed * $multiplier, 58) >= 64 - $bins;
	}
	return 1;
}

# Hashes of which no value is in the last bins, in none of the rounds 0 to 63.
sub avoiding
{
	my ($bins, $count) = @_;
	my @hashes;

	for (my $i = 0; @hashes < $count; $i++)
	{
		my $mixed = split_mix(1, $i);

		push @hashes, unmix($mixed) if avoids($mixed, $bins);
	}
	return @hashes;
}

# Each of these values must be looked at, but once.
my $avoiding = 4000;
for my $bins (1, 3)
{
	$node->safe_psql('postgres', "INSERT INTO inputs VALUES ('$bins bins', '{"
		. join(',', avoiding($bins, $avoiding)) . "}')");
	cmp_ok(steps("SELECT minhash_hashes(hashes) IS NULL FROM inputs WHERE name = '$bins bins'", 'f'),
		'<=', 100 * $avoiding / 1000, "values that avoid $bins bins");
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
my $usual = steps(sprintf($clusters, "$rows * 0.99 AND $rows", 'scattered'), 't');
cmp_ok(steps(sprintf($clusters, '2 AND 1000', 'dense'), 't'),
	'<=', 4 * $usual, 'dense fingerprints');

$node->stop;
done_testing();
