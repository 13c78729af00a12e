# Binary COPY, dump and restore keep every fingerprint; malformed binary input
# is an error.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('binary');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;
$node->safe_psql(
	'postgres', q{
	CREATE EXTENSION simhash;
	CREATE TABLE docs (id int PRIMARY KEY, body text,
		fp simhash64 GENERATED ALWAYS AS (simhash(body)) STORED, ball hamming_ball,
		weights simhash_weights,
		weighted simhash64 GENERATED ALWAYS AS (simhash(body || ' a é', weights)) STORED);
	INSERT INTO docs(id, body, ball, weights) SELECT i, CASE WHEN i % 10 > 0 THEN md5(i::text) END,
		hamming_ball(substr(md5(i::text), 1, 16)::simhash64, i % 70 - 3),
		jsonb_build_object('é', 1 / i::float8, md5(i::text), 1e-7, '', i % 3)::simhash_weights
	FROM generate_series(1, 1000) i;
	CREATE INDEX docs_fp ON docs USING hamming (fp);
	CREATE INDEX docs_body ON docs USING gist (simhash(body, words => 2));
	CREATE VIEW near AS SELECT id FROM docs WHERE fp <-> '0123456789abcdef' <= 28;
	CREATE TABLE stored AS SELECT id, fp, ball, weights FROM docs;
	CREATE TABLE wide (id int PRIMARY KEY, body text,
		fp simhash128 GENERATED ALWAYS AS (md5(body)::simhash128) STORED, ball hamming_ball128,
		fps simhash128[]);
	INSERT INTO wide(id, body, ball, fps) SELECT i, CASE WHEN i % 10 > 0 THEN i::text END,
		hamming_ball_128(md5(i::text)::simhash128, i % 140 - 3),
		ARRAY[NULL, md5(i::text)]::simhash128[]
	FROM generate_series(1, 1000) i;
	CREATE INDEX wide_fp ON wide USING hamming (fp);
	CREATE VIEW wide_near AS SELECT id FROM wide WHERE fp <-> '0123456789abcdef0123456789abcdef' <= 58;
	CREATE TABLE wide_stored AS SELECT id, fp, ball, fps FROM wide;
});
my $contents = 'SELECT md5(string_agg(d::text, $$,$$ ORDER BY id)) FROM %s d';
my %before = map { $_ => $node->safe_psql('postgres', sprintf $contents, $_) }
  qw(docs near wide wide_near);

# binary COPY
my $file = $node->data_dir . '/stored.bin';
for my $stored ('stored', 'wide_stored')
{
	$node->safe_psql(
		'postgres', qq{
		COPY $stored TO '$file' (FORMAT binary);
		CREATE TABLE copy_of_$stored (LIKE $stored);
		COPY copy_of_$stored FROM '$file' (FORMAT binary);
	});
	is( $node->safe_psql('postgres', sprintf $contents, "copy_of_$stored"),
		$node->safe_psql('postgres', sprintf $contents, $stored),
		"binary COPY round trip of $stored");
}

# malformed fields, of every length
sub copy_field
{
	my ($type, $bytes) = @_;
	my $path = $node->data_dir . '/field.bin';

	open my $fh, '>:raw', $path or die "cannot write $path: $!";
	print $fh "PGCOPY\n\xff\r\n\0" . pack('NNnN', 0, 0, 1, length $bytes)
	  . $bytes . pack('n', 0xffff);
	close $fh;
	return $node->psql('postgres',
		"CREATE TEMP TABLE t (v $type); COPY t FROM '$path' (FORMAT binary); SELECT v FROM t"
	);
}
my %size = (
	simhash64 => 8,
	hamming_ball => 10,
	simhash128 => 16,
	hamming_ball128 => 18);
for my $type (sort keys %size)
{
	for my $length (0 .. 20)
	{
		my ($code, $out, $err) = copy_field($type, "\0" x $length);

		if ($length == $size{$type})
		{
			like($out, qr/0000000000000000/, "$type of $length bytes");
		}
		else
		{
			like(
				$err,
				qr/insufficient data left in message|incorrect binary data format/,
				"$type of $length bytes");
		}
	}
}
# of weights: a version, and the text form
for my $field ([ "\1{\"A\": 2}", qr/^\{"a": 2\}$/ ], [ "\1{}", qr/^\{\}$/ ],
	[ '', qr/insufficient data left in message/ ],
	[ "\1", qr/invalid input syntax for type simhash_weights/ ],
	[ "\2{}", qr/unsupported simhash_weights version number 2/ ],
	[ "{}", qr/unsupported simhash_weights version number 123/ ],
	[ "\1{}\0", qr/invalid byte sequence/ ],
	[ "\1{\"\xff\": 1}", qr/invalid byte sequence/ ],
	[ "\1{\"a\": -1}", qr/weight must be between 0 and 2147483648, not -1, for key "a"/ ])
{
	my ($code, $out, $err) = copy_field('simhash_weights', $field->[0]);

	like($out . $err, $field->[1], 'weights ' . unpack 'H*', $field->[0]);
}
# of balls: random ones, and the ends
srand 64;
for my $ball ([ 'hamming_ball', 64 ], [ 'hamming_ball128', 128 ])
{
	my ($type, $bits) = @$ball;

	for my $radius (-2, -1, 0, $bits, $bits + 1, 256, -32768, map { int rand(65536) - 32768 } 1 .. 20)
	{
		my $centre = join '', map { chr int rand 256 } 1 .. $bits / 8;
		my ($code, $out, $err) = copy_field($type, $centre . pack 's>', $radius);
		my $valid = $radius >= -1 && $radius <= $bits;
		my $digits = unpack 'H*', $centre;

		like(
			$valid ? $out : $err,
			$valid
			? qr/^\($digits,$radius\)$/
			: qr/invalid radius in external value of type $type: $radius/,
			"$type of radius $radius");
	}
}

# dump and restore
my $dump = $node->data_dir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ],
	'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-f', $dump,
		$node->connstr('restored') ], 'restore');
for (sort keys %before)
{
	is($node->safe_psql('restored', 'SET enable_seqscan = off; ' . sprintf $contents, $_),
		$before{$_}, "the same rows of $_");
}

$node->stop;
done_testing();
