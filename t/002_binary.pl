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
});
my $contents = 'SELECT md5(string_agg(d::text, $$,$$ ORDER BY id)) FROM %s d';
my $docs = $node->safe_psql('postgres', sprintf $contents, 'docs');
my $near = $node->safe_psql('postgres', sprintf $contents, 'near');

# binary COPY
my $file = $node->data_dir . '/stored.bin';
$node->safe_psql(
	'postgres', qq{
	COPY stored TO '$file' (FORMAT binary);
	CREATE TABLE copied (LIKE stored);
	COPY copied FROM '$file' (FORMAT binary);
});
is( $node->safe_psql('postgres', sprintf $contents, 'copied'),
	$node->safe_psql('postgres', sprintf $contents, 'stored'),
	'binary COPY round trip');

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
my %size = (simhash64 => 8, hamming_ball => 10);
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
srand 64;
for (1 .. 50)
{
	my $bytes = join '', map { chr int rand 256 } 1 .. 10;
	my $radius = unpack 's>', substr $bytes, 8;
	my ($code, $out, $err) = copy_field('hamming_ball', $bytes);

	like(
		$radius >= -1 && $radius <= 64 ? $out : $err,
		$radius >= -1 && $radius <= 64
		? qr/,$radius\)/
		: qr/invalid radius in external value of type hamming_ball: $radius/,
		"radius $radius");
}

# dump and restore
my $dump = $node->data_dir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('postgres') ],
	'pg_dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-X', '-v', 'ON_ERROR_STOP=1', '-f', $dump,
		$node->connstr('restored') ], 'restore');
is($node->safe_psql('restored', sprintf $contents, 'docs'),
	$docs, 'the same rows');
is($node->safe_psql('restored', 'SET enable_seqscan = off; ' . sprintf $contents, 'near'),
	$near, 'and a view that searches them');

$node->stop;
done_testing();
