# A corrupted page of a hamming index gives an error, whatever is done with it,
# and never a crash or an endless loop.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('corruption');
my @options = ('--locale=C', '--encoding=UTF8');
# PostgreSQL 18 has checksums by default, which would see it all first
push @options, '--no-data-checksums' if $node->pg_version >= 18;
$node->init(extra => \@options);
# an endless loop would be an error of its own, long after any other one
$node->append_conf('postgresql.conf', <<CONF);
autovacuum = off
statement_timeout = '${PostgreSQL::Test::Utils::timeout_default}s'
enable_seqscan = off
enable_bitmapscan = off
CONF
$node->start;

my $copies = 60;
my $seed = $ENV{SIMHASH_TEST_SEED} || int(rand(1e9));
note("SIMHASH_TEST_SEED=$seed");
srand($seed);

$node->safe_psql('postgres', <<SQL);
CREATE EXTENSION simhash;
CREATE FUNCTION try(statement text) RETURNS text LANGUAGE plpgsql AS \$\$
BEGIN
	EXECUTE statement;
	RETURN 'no error';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END \$\$;
DO \$\$ BEGIN
	FOR n IN 0 .. $copies LOOP
		EXECUTE format('CREATE TABLE docs%s AS SELECT i AS id,
			substr(md5(i::text), 1, 16)::simhash64 AS fp FROM generate_series(1, 1500) i', n);
		EXECUTE format('CREATE INDEX docs%s_fp ON docs%s USING hamming (fp)
			WITH (fillfactor = 10)', n, n);
		EXECUTE format('DELETE FROM docs%s WHERE id > 1400', n);
	END LOOP;
END \$\$;
SQL
my $block_size = $node->safe_psql('postgres', 'SHOW block_size');
my @paths = split /\n/,
  $node->safe_psql('postgres',
	"SELECT pg_relation_filepath(format('docs%s_fp', n)) FROM generate_series(0, $copies) n");
$node->stop;

# The layout of a page, as src/am/am.h has it: the page header, from its end on the
# contents (of the metapage, HammingMeta), and at the end of the page a
# HammingSpecial.
my ($metapage, $root, $leaf) = (0, 1, 6);    # blocks; the first leaf of table 0
my %header = (pd_lower => 12, pd_upper => 14, pd_special => 16);
my $contents = 24;
my %meta = (magic => $contents, version => $contents + 4);
my $special_size = 40;
my $special = $block_size - $special_size;
my %special = (
	low => $special,
	high => $special + 16,
	kind => $special + 32,
	table => $special + 34,
	level => $special + 36,
	page_id => $special + 38);

# Which damage, to which block, from which offset on, and the bytes to put there.
# What comes before the special space is the last part of the array at the back.
my @damages = (
	[ 'metapage: magic', $metapage, $meta{magic}, "\1\2\3\4" ],
	[ 'metapage: version', $metapage, $meta{version}, "\xff\0\0\0" ],
	[ 'metapage: kind', $metapage, $special{kind}, "\2\0" ],
	[ 'root: zeros', $root, 0, "\0" x $block_size ],
	[ 'root: not a root', $root, $special{high}, "\1" ],
	[ 'root: order of the children', $root, $contents, "\xff" x 200 ],
	[ 'root: no child', $root, $special - 400, "\xff" x 400 ],
	[ 'root: itself as child', $root, $special - 400, "\0\0\1\0" x 100 ],
	[ 'leaf: zeros', $leaf, 0, "\0" x $block_size ],
	[ 'leaf: pd_lower', $leaf, $header{pd_lower}, "\xf0\x1f" ],
	[ 'leaf: pd_upper', $leaf, $header{pd_upper}, "\x18\0" ],
	[ 'leaf: pd_special', $leaf, $header{pd_special}, "\x18\0" ],
	[ 'leaf: low key', $leaf, $special{low}, "\xff" x 16 ],
	[ 'leaf: high key', $leaf, $special{high}, "\0" x 16 ],
	[ 'leaf: kind', $leaf, $special{kind}, "\3\0" ],
	[ 'leaf: table', $leaf, $special{table}, "\1\0" ],
	[ 'leaf: level', $leaf, $special{level}, "\1\0" ],
	[ 'leaf: page identifier', $leaf, $special{page_id}, "\0\0" ],
	[ 'leaf: fingerprints', $leaf, $contents, "\xff" x 80 ],
	[ 'leaf: TIDs', $leaf, $special - 60, "\xfe" x 60 ],
	[ 'leaf: TIDs without offset', $leaf, $special - 60, "\0\0\1\0\0\0" x 10 ],
	[ 'leaf: TIDs without block', $leaf, $special - 60, "\xff\xff\xff\xff\1\0" x 10 ]);
push @damages, [ "random $_", undef, undef, undef ]
  for scalar(@damages) .. $copies - 1;

for my $n (0 .. $#damages)
{
	my $file = $node->data_dir . "/$paths[$n]";
	my ($name, $block, $offset, $bytes) = @{ $damages[$n] };

	if (!defined $block)
	{
		$block = int(rand((-s $file) / $block_size));
		$offset = int(rand($block_size));
		# half of them in what describes the page
		$offset = (rand() < 0.5 ? $header{pd_lower} : $special) + int(rand(36)) if rand() < 0.5;
		$bytes = join '', map { chr(int(rand(256))) } 1 .. 1 + int(rand(4));
		$damages[$n][0] .= ": block $block, offset $offset, " . unpack('H*', $bytes);
	}
	open my $handle, '+<:raw', $file or die "cannot open $file: $!";
	seek $handle, $block * $block_size + $offset, 0;
	print $handle $bytes;
	close $handle;
}
$node->start;
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');

for my $n (0 .. $#damages)
{
	my $name = $damages[$n][0];
	my ($code, $out, $err) = $node->psql('postgres', <<SQL);
SELECT try(format(statement, 'docs$n')) FROM unnest(ARRAY[
	'SELECT hamming_index_check(''%s_fp'')', 'SELECT hamming_index_stats(''%s_fp'')',
	'SELECT count(*) FROM %s WHERE fp <-> ''0123456789abcdef'' <= 3',
	'SELECT count(*) FROM %s WHERE fp <-> ''0123456789abcdef'' <= 12',
	'SELECT count(*) FROM %s WHERE fp <-> ''0123456789abcdef'' <= 64',
	'SELECT count(*) FROM (SELECT FROM %s ORDER BY fp <-> ''0123456789abcdef'') s',
	'SELECT count(*) FROM %s WHERE fp IS NULL',
	'INSERT INTO %s SELECT i, substr(md5(i::text), 1, 16)::simhash64
		FROM generate_series(5000, 9000) i']) statement;
VACUUM docs$n;
SQL
	my @results = split /\n/, $out;

	is(scalar @results, 8, "$name: the server goes on");
	like(
		join("\n", @results),
		qr/\A((no error|(XX00[012]|58P01) .*)(\n|\z))+\z/,
		"$name: an error, if any, of corruption");
	like($results[0], qr/^XX00[12] /, "$name: found by the check")
	  if $name !~ /^random/;

	# such a TID is not handed on
	next if $name !~ /without/;
	like($_, qr/^XX002 .*: entry has no valid TID/, "$name: found by whoever meets it")
	  for @results[ 4, 5 ], $err =~ s/.*ERROR:  /XX002 /r;
}
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'),
	$started, 'the server has not crashed');
unlike(
	slurp_file($node->logfile),
	qr/terminated by signal|PANIC/,
	'no process has crashed');
is($node->safe_psql('postgres', "SELECT hamming_index_check('docs$copies\_fp')"),
	'', 'an index that was left alone is sound');
$node->stop;

done_testing();
