# Binary COPY, dump and restore keep every fingerprint; malformed binary input
# is an error.

use strict;
use warnings;

use FindBin;
use IO::Socket::UNIX;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use lib $FindBin::Bin;
use Statements;

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

# A field of a type, whether a value or malformed, and what is said of it.
my @fields;
my %size = (
	simhash64 => 8,
	hamming_ball => 10,
	simhash128 => 16,
	hamming_ball128 => 18);
for my $type (sort keys %size)
{
	push @fields, map { [ $type, "\0" x $_,
		$_ == $size{$type} ? qr/^\(?0000000000000000/ : qr/insufficient data left in message|incorrect binary data format/ ] }
	  0, 4, $size{$type} - 1 .. $size{$type} + 1, 20;
}
# weights: a version, and the text form
push @fields, map { [ 'simhash_weights', @$_ ] } (
	[ "\1{\"A\": 2}", qr/^\{"a": 2\}$/ ], [ "\1{}", qr/^\{\}$/ ],
	[ '', qr/insufficient data left in message/ ],
	[ "\1", qr/invalid input syntax for type simhash_weights/ ],
	[ "\2{}", qr/unsupported simhash_weights version number 2/ ],
	[ "{}", qr/unsupported simhash_weights version number 123/ ],
	[ "\1{}\0", qr/invalid byte sequence/ ],
	[ "\1{\"\xff\": 1}", qr/invalid byte sequence/ ],
	[ "\1{\"a\": -1}", qr/weight must be between 0 and 2147483648, not -1, for key "a"/ ]);
# balls: the ends
for my $ball ([ 'hamming_ball', 64 ], [ 'hamming_ball128', 128 ])
{
	my ($type, $bits) = @$ball;
	my $digits = substr '0123456789abcdef' x 2, 0, $bits / 4;

	push @fields, map { [ $type, pack('H*', $digits) . pack('s>', $_),
		$_ >= -1 && $_ <= $bits ? qr/^\($digits,$_\)$/ : qr/invalid radius in external value of type $type: $_/ ] }
	  -2, -1, 0, $bits, $bits + 1, 256, -32768;
}
my @batch;
for (@fields)
{
	my ($type, $bytes) = @$_;
	my $path = $node->data_dir . '/field' . @batch . '.bin';

	open my $fh, '>:raw', $path or die "cannot write $path: $!";
	print $fh "PGCOPY\n\xff\r\n\0" . pack('NNnN', 0, 0, 1, length $bytes) . $bytes . pack('n', 0xffff);
	close $fh;
	push @batch, [ 'postgres', "CREATE TEMP TABLE t (v $type); COPY t FROM '$path' (FORMAT binary); SELECT v FROM t" ];
}
my @read = run_batch($node, @batch);
like(join('', @{ shift @read }), $_->[2], "$_->[0] of " . unpack 'H*', $_->[1]) for @fields;

# Random bytes and damaged values, as binary parameters: so many of each type, and
# as many of its arrays.
my $inputs = $ENV{SIMHASH_TEST_INPUTS} || 2000;
my $seed = $ENV{SIMHASH_TEST_SEED} || int(rand(1e9));
note("SIMHASH_TEST_SEED=$seed");
srand($seed);

# raw_connect() is in the newer minor releases only
my $socket = IO::Socket::UNIX->new($node->host . '/.s.PGSQL.' . $node->port) or die "cannot connect: $!";
my $options = '-c log_statement=none -c log_min_messages=fatal -c client_encoding=UTF8';
my $startup = pack('N', 196608) . join "\0",
  user => $node->safe_psql('postgres', 'SELECT current_user'),
  database => 'postgres',
  options => $options,
  "\0";
$socket->print(pack('N', 4 + length $startup), $startup);
answer();

# One message of the protocol.
sub message
{
	my ($type, $body) = @_;

	return $type . pack('N', 4 + length $body) . $body;
}

# Read up to the next ReadyForQuery.  Return the fields of the row, or undef and the
# SQLSTATE of an error, or 'accepted' if a value was accepted that is wrong.
sub answer
{
	my ($accepted, @answer);

	while (1)
	{
		my ($head, $body) = ('', '');

		die 'the connection is lost' if $socket->read($head, 5) != 5;
		my ($type, $length) = unpack 'aN', $head;
		die 'the connection is lost' if $length > 4 && !$socket->read($body, $length - 4);
		return @answer if $type eq 'Z';
		$accepted = 1 if $type eq '2';
		@answer = unpack 'x2(N/a*)*', $body if $type eq 'D';
		@answer = (undef, $accepted ? 'accepted' : $body =~ /\0C(.{5})\0/) if $type eq 'E';
	}
}

my %oid = split /[|\n]/, $node->safe_psql('postgres', q{SELECT oid::regtype, oid FROM pg_type
	WHERE oid >= 16384 AND typtype IN ('b', 'd')});

# Send values of a type.  Return for each an answer(): how the server sends the value,
# and how it sends the value that it has read from the text form.
sub send_values
{
	my ($type, $send, @values) = @_;
	my $query = "SELECT $send(\$1), $send(\$1::text::$type)";
	my @answers;

	$socket->print(message('P', "\0$query\0" . pack 'nN', 1, $oid{$type}), message('S', ''));
	answer();
	while (my @some = splice @values, 0, 100)
	{
		$socket->print(
			map { message('B', "\0\0" . pack 'nnnN/a*nn', 1, 1, 1, $_, 1, 1),
				message('E', pack 'xN', 0), message('S', '') } @some);
		push @answers, map { [ answer() ] } @some;
	}
	return @answers;
}

sub random_bytes
{
	my ($count) = @_;

	return join '', map { chr int rand 256 } 1 .. $count;
}

sub one_of
{
	return $_[ rand @_ ];
}

# Replace parts of a value.
sub damage
{
	my ($value) = @_;

	for (0 .. rand 3)
	{
		my $place = int rand 1 + length $value;
		my $part = substr $value, rand 1 + length $value, rand 9;

		substr($value, $place, rand 9) = one_of('', $part, random_bytes(1 + rand 4),
			pack('N', one_of(0, 1, 2**31 - 1, 2**31, 2**32 - 1)));
	}
	return $value;
}

sub random_weights
{
	return sprintf "\1{%s}", join ', ', map {
		sprintf '"%s": %s',
		  one_of('', 'a', 'B', "stra\xc3\x9fe", "\xef\xac\x83", '\u00b5', '\ud83d\ude00', '\\\\', 'x' x 99),
		  one_of(0, 1, '-0', 0.25, '1e-7', '1E9', 2147483648, '1e309')
	} 1 .. rand 4;
}

sub random_array
{
	my ($oid, $random) = @_;
	my @elements = map { rand() < 0.2 ? "\xff" x 4 : pack 'N/a*', $random->() } 1 .. 1 + rand 3;

	return join '', pack('N5', 1, 0, $oid, scalar @elements, 1), @elements;
}

my %random = (
	hamming_distance => [ 'int4send', sub { random_bytes(4) } ],
	simhash64 => [ 'simhash64_send', sub { random_bytes(8) } ],
	simhash128 => [ 'simhash128_send', sub { random_bytes(16) } ],
	hamming_ball => [ 'hamming_ball_send', sub { random_bytes(8) . pack 's>', -2 + rand 68 } ],
	hamming_ball128 => [ 'hamming_ball128_send', sub { random_bytes(16) . pack 's>', -2 + rand 132 } ],
	simhash_weights => [ 'simhash_weights_send', \&random_weights ]);

# Is it known that the value is valid?  Of weights and arrays it is not.
sub is_valid
{
	my ($type, $value) = @_;
	my $radius;

	return length $value == 4 if $type eq 'hamming_distance';
	return if !$size{$type};
	return 0 if length $value != $size{$type};
	return 1 if $type !~ /ball/;
	$radius = unpack 's>', substr $value, -2;
	return $radius >= -1 && $radius <= 8 * $size{$type} - 16;
}

# Test $inputs values of a type, with a name of the function that sends it and a
# function that makes valid ones.
sub fuzz
{
	my ($type, $send, $random) = @_;
	my @values = map { one_of(random_bytes(rand 40), $random->(), damage($random->())) } 1 .. $inputs;
	my @answers = send_values($type, $send, @values);
	my (%count, @sent, @wrong);

	for my $i (0 .. $#values)
	{
		my ($sent, $other) = @{ $answers[$i] };
		my $valid = is_valid($type, $values[$i]);

		if (defined $sent)
		{
			push @sent, $sent;
			push @wrong, $values[$i] if $sent ne $other || defined $valid && (!$valid || $sent ne $values[$i]);
		}
		else
		{
			$count{$other}++;
			push @wrong, $values[$i] if $valid || $other !~ /^(?:22...|08P01|42804|54000)$/;
		}
	}
	note(join ', ', "$type: " . @sent . ' accepted', map { "$_ $count{$_}" } sort keys %count);
	push @wrong, map { $_->[0] // $_->[1] }
	  grep { ($_->[0] // '') ne shift @sent } send_values($type, $send, @sent);
	is(join(' ', map { unpack 'H*', $_ } @wrong), '', "$inputs binary values of $type");
	return;
}

for my $type (sort keys %random)
{
	my ($send, $make) = @{ $random{$type} };
	my $oid = $oid{$type};

	fuzz($type, $send, $make);
	fuzz("$type\[]", 'array_send', sub { random_array($oid, $make) });
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
