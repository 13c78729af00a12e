# A corrupted page of a hamming index gives an error, whatever is done with it,
# and never a crash or an endless loop.

use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use lib $FindBin::Bin;
use Statements;

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

# how many damages: 62 are always the same, and those after them, of script/soak
# damage, random
my $copies = $ENV{SIMHASH_TEST_DAMAGES} || 62;
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
-- of 64 bits, where n is odd of 128
DO \$\$ BEGIN
	FOR n IN 0 .. $copies LOOP
		EXECUTE format('CREATE TABLE docs%s AS SELECT i AS id,
			left(md5(i::text), %s)::simhash%s AS fp FROM generate_series(1, 1500) i',
			n, 16 + 16 * (n % 2), 64 + 64 * (n % 2));
		EXECUTE format('CREATE INDEX docs%s_fp ON docs%s USING hamming (fp)
			WITH (fillfactor = 10, blocks = %s)', n, n, 3 + n / 2 % 6);
		EXECUTE format('DELETE FROM docs%s WHERE id > 1400', n);
	END LOOP;
END \$\$;
SQL
my $block_size = $node->safe_psql('postgres', 'SHOW block_size');
my @paths = split /\n/,
  $node->safe_psql('postgres',
	"SELECT pg_relation_filepath(format('docs%s_fp', n)) FROM generate_series(0, $copies) n");
$node->stop;

# The layout of an index and of a page, as src/am/am.h has it: the page header, from its end on the
# contents (of the metapage, HammingMeta), and at the end of the page a
# HammingSpecial.
my ($metapage, $root) = (0, 2);    # blocks; the root of tree 0
my %header = (pd_lower => 12, pd_upper => 14, pd_special => 16);
my $contents = 24;
my %meta = (magic => $contents, version => $contents + 4);

# What follows from the width of a fingerprint.
my $words;
my $end = $block_size - 8;
my %special = (kind => $end, tree => $end + 2, level => $end + 3, sorted => $end + 4, page_id => $end + 6);

sub set_width
{
	$words = $_[0] / 64;
	return;
}

# How many words the keys of a tree have, where its pages have the special space, and the bytes of
# an element at the back of its leaves.
sub words_of { return $_[0] % 16 == 0 ? $words : 1; }
sub special_of { return $special{kind} - 16 * (words_of($_[0]) + 1); }
sub tail_of { return 8 * (words_of($_[0]) - 1) + ($_[0] == 0 || $_[0] == 15 ? 6 : 0); }

# Return the block number of a leaf of a tree, the first or another one.
sub leaf_of
{
	my ($file, $tree, $skip) = @_;
	my $pages = slurp_file($file);

	for my $block (1 .. length($pages) / $block_size - 1)
	{
		my $page = substr($pages, $block * $block_size, $block_size);
		my ($kind, $its_tree, $level) = unpack('SCC', substr($page, $special{kind}, 4));

		return $block if ($kind & 255) == 2 && $its_tree == $tree && $level == 0 && !$skip--;
	}
	die "$file has no such leaf of tree $tree";
}

# Read some bytes of a page, and write them.
sub peek
{
	my ($file, $block, $offset, $length) = @_;

	return substr(slurp_file($file), $block * $block_size + $offset, $length);
}

sub poke
{
	my ($file, $block, $offset, $bytes) = @_;

	open my $handle, '+<:raw', $file or die "cannot open $file: $!";
	seek $handle, $block * $block_size + $offset, 0;
	print $handle $bytes;
	close $handle;
	return;
}

# Which damage, to which block, from which offset on, and the bytes to put there.
# 'leaf' is the first one of tree 0, and 'second' that of tree 1.
# What comes before the special space is the last part of the array at the back.
sub damages
{
	my $low = special_of(0);
	my $high = $low + 8 * ($words + 1);
	my $rest = "\0" x (8 * ($words - 1));

	return (
		[ 'metapage: magic', $metapage, $meta{magic}, "\1\2\3\4" ],
		[ 'metapage: version', $metapage, $meta{version}, "\xff\0\0\0" ],
		[ 'metapage: kind', $metapage, $special{kind}, "\2\0" ],
		[ 'root: zeros', $root, 0, "\0" x $block_size ],
		[ 'root: not a root', $root, $high, "\1" ],
		[ 'root: order of the children', $root, $contents, "\xff" x 200 ],
		[ 'root: no child', $root, $low - 400, "\xff" x 400 ],
		[ 'root: itself as child', $root, $low - 400, "\0\0\2\0" x 100 ],
		[ 'leaf: zeros', 'leaf', 0, "\0" x $block_size ],
		[ 'leaf: pd_lower', 'leaf', $header{pd_lower}, "\xf0\x1f" ],
		[ 'leaf: pd_upper', 'leaf', $header{pd_upper}, "\x18\0" ],
		[ 'leaf: pd_special', 'leaf', $header{pd_special}, "\x18\0" ],
		[ 'leaf: low key', 'leaf', $low, "\xff" x ($high - $low) ],
		[ 'leaf: high key', 'leaf', $high, "\0" x ($high - $low) ],
		[ 'leaf: kind', 'leaf', $special{kind}, "\3\0" ],
		[ 'leaf: mark of another kind of leaf', 'leaf', $special{kind}, "\4\0" ],
		[ 'leaf: tree', 'leaf', $special{tree}, "\1" ],
		[ 'leaf: level', 'leaf', $special{level}, "\1" ],
		[ 'leaf: sorted', 'leaf', $special{sorted}, "\xff\x7f" ],
		[ 'leaf: page identifier', 'leaf', $special{page_id}, "\0\0" ],
		[ 'leaf: fingerprints', 'leaf', $contents, "\xff" x 80 ],
		[ 'leaf: TIDs', 'leaf', $low - 60, "\xfe" x 60 ],
		[ 'leaf: TIDs without offset', 'leaf', $low - 10 * tail_of(0), "$rest\0\0\1\0\0\0" x 10 ],
		[ 'leaf: TIDs without block', 'leaf', $low - 10 * tail_of(0), "$rest\xff\xff\xff\xff\1\0" x 10 ],
		[ 'second tree: pd_lower', 'second', $header{pd_lower}, "\xf0\x1f" ],
		[ 'second tree: pd_upper', 'second', $header{pd_upper}, "\x18\0" ],
		[ 'second tree: tree', 'second', $special{tree}, "\0\0" ],
		[ 'second tree: fingerprints', 'second', $contents, "\xff" x 80 ],
		[ 'metapage: blocks', $metapage, $contents + 10, "\x09\0" ],
		[ 'metapage: fewer blocks', $metapage, $contents + 10, "\3\0" ],
		[ 'metapage: width', $metapage, $contents + 8, pack('S', 192 - 64 * $words) ]);
}

# In turns: those of 64 bits have even numbers.
my %damages_of;
for my $width (64, 128)
{
	set_width($width);
	$damages_of{$width} = [ map { [ "$width bits, $_->[0]", @$_[ 1 .. 3 ] ] } damages() ];
}
my @damages = map { ($damages_of{64}[$_], $damages_of{128}[$_]) } 0 .. $#{ $damages_of{64} };
push @damages, [ "random $_", undef, undef, undef ]
  for scalar(@damages) .. $copies - 1;

for my $n (0 .. $#damages)
{
	my $file = $node->data_dir . "/$paths[$n]";
	my ($name, $block, $offset, $new) = @{ $damages[$n] };

	set_width($n % 2 ? 128 : 64);
	if (!defined $block)
	{
		$block = int(rand((-s $file) / $block_size));
		$offset = int(rand($block_size));
		# half of them in what describes the page
		$offset = (rand() < 0.5 ? $header{pd_lower} : special_of(0)) + int(rand($block_size - special_of(0) - 4)) if rand() < 0.5;
		$new = join '', map { chr(int(rand(256))) } 1 .. 1 + int(rand(4));
		$damages[$n][0] .= ": block $block, offset $offset, " . unpack('H*', $new);
	}
	$block = leaf_of($file, 0) if $block eq 'leaf';
	$block = leaf_of($file, 1) if $block eq 'second';
	poke($file, $block, $offset, $new);
}
$node->start;
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');

my @statements;
for my $n (0 .. $#damages)
{
	my $type = 'simhash' . ($n % 2 ? 128 : 64);
	my $centre = '0123456789abcdef' x (1 + $n % 2);

	push @statements, <<SQL;
SELECT try(format(statement, 'docs$n')) FROM unnest(ARRAY[
	'SELECT hamming_index_check(''%s_fp'')', 'SELECT hamming_index_stats(''%s_fp'')',
	'SELECT hamming_index_check(''%s_fp'', heap => false)',
	'SELECT count(*) FROM %s WHERE fp <-> ''$centre'' <= 3',
	'SELECT count(*) FROM %s WHERE fp <-> ''$centre'' <= 12',
	'SELECT count(*) FROM %s WHERE fp <-> ''$centre'' <= 128',
	'SELECT count(*) FROM (SELECT FROM %s ORDER BY fp <-> ''$centre'') s',
	'SELECT count(*) FROM %s WHERE fp IS NULL',
	'INSERT INTO %s SELECT i, left(md5(i::text), length(''$centre''))::$type
		FROM generate_series(5000, 6000) i']) statement;
VACUUM docs$n
SQL
}
# in one session: to start one for each takes longer than what it says
my @said = run_session($node, 'postgres', @statements);

for my $n (0 .. $#damages)
{
	my $name = $damages[$n][0];
	my ($out, $err) = @{ $said[$n] };
	my @results = (split(/\n/, $out), $err =~ /ERROR:  (\w{5}): (.*)/ ? "$1 $2" : 'no error');

	is(scalar @results, 10, "$name: the server goes on");
	# a row far beyond the end of its table has the SQLSTATE of an errno that PostgreSQL did not set
	like(
		join("\n", @results),
		qr/\A((no error|(XX00[012]|58P01) .*|\w{5} could not open .*: previous segment is only \d+ blocks)(\n|\z))+\z/,
		"$name: an error, if any, of corruption");
	like($results[0] // '', qr/^XX00[12] /, "$name: found by the check")
	  if $name !~ /^random/;
	# but for rows that the heap does not have, by its structural half, too
	like($results[2] // '', qr/^XX00[12] /, "$name: found by the structural half of the check")
	  if $name !~ /^random|leaf: TIDs$/;

	# such a TID is not handed on
	next if $name !~ /without/;
	like($_ // '', qr/^XX002 .*: entry has no valid TID/, "$name: found by whoever meets it")
	  for @results[ 5, 6, 9 ];
}
is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'),
	$started, 'the server has not crashed');

# What the check tells of the entries of a table.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE exact AS SELECT i AS id, substr(md5(i::text), 1, 16)::simhash64 AS fp
FROM generate_series(1, 100) i;
INSERT INTO exact SELECT i, NULL FROM generate_series(101, 110) i;
CREATE TABLE wide AS SELECT id, left(md5(id::text || fp), 32)::simhash128 AS fp FROM exact;
CREATE TABLE equal AS SELECT i AS id, '0123456789abcdef'::simhash64 AS fp
FROM generate_series(1, 1500) i;
SQL
my %blocks = (exact => 5, wide => 8, equal => 3);

# A copy of a table, and its index, for each change.  All are changed while the server is
# down, once.
my @changes;

# What a statement, where %s is the copy, must say after a change: a function, which gets
# the path of the index and changes its pages.
sub changed
{
	my ($name, $table, $expected, $change, $statement) = @_;

	push @changes, { name => $name, table => $table, expected => $expected, change => $change,
		statement => $statement // "SELECT hamming_index_check('%s_fp')" };
	return;
}

# Add so many bytes to a number of a page.
sub add_to
{
	my ($file, $block, $offset, $form, $added) = @_;

	poke($file, $block, $offset,
		pack($form, unpack($form, peek($file, $block, $offset, length pack($form, 0))) + $added));
	return;
}

# Return a leaf of a tree, of which no entry is said to be in order.
sub unsorted_leaf
{
	my ($file, $tree) = @_;
	my $leaf = leaf_of($file, $tree);

	poke($file, $leaf, $special{sorted}, "\0\0");
	return $leaf;
}

# Append a key, which is the first one but for the last bits, to a leaf of
# tree 1 or above.
sub append
{
	my ($file, $tree, $changed) = @_;
	my $leaf = leaf_of($file, $tree);
	my ($end, $back) = unpack('SS', peek($file, $leaf, $header{pd_lower}, 4));
	my $tail = tail_of($tree);
	my $key = peek($file, $leaf, $contents, 8) . peek($file, $leaf, special_of($tree) - $tail, $tail);

	substr($key, -8) = pack('Q', unpack('Q', substr($key, -8)) ^ $changed);
	poke($file, $leaf, $end, substr($key, 0, 8));
	poke($file, $leaf, $back - $tail, substr($key, 8));
	add_to($file, $leaf, $header{pd_lower}, 'S', 8);
	add_to($file, $leaf, $header{pd_upper}, 'S', -$tail);
	return;
}

# Take the last key from a leaf of a tree.
sub take
{
	my ($file, $tree) = @_;
	my $leaf = unsorted_leaf($file, $tree);

	add_to($file, $leaf, $header{pd_lower}, 'S', -8);
	add_to($file, $leaf, $header{pd_upper}, 'S', tail_of($tree));
	return;
}

# Trees 16 and up, of the second word, are those that are counted from 9 on.
for my $case ([ 'exact', 1, 4 ], [ 'wide', 7, 16, 23 ])
{
	my ($name, @trees) = @$case;

	changed("$name: nothing changed", $name, qr/\A\z/, sub { });
	for my $tree (@trees)
	{
		my $number = $tree + ($tree < 16 ? 1 : -7);

		changed("$name, tree $tree: a fingerprint without rows is harmless", $name,
			qr/\ANOTICE:  00000: block tree $number of index "\w+" has 1 fingerprint without rows\nDETAIL:  .*\nHINT:  .*\z/,
			sub { append($_[0], $tree, 1) });
		changed("$name, tree $tree: a fingerprint twice", $name,
			qr/\AERROR:  XX002: .* a fingerprint is in the tree twice/,
			sub { append($_[0], $tree, 0) });
		changed("$name, tree $tree: a fingerprint is missing", $name,
			qr/\AERROR:  XX002: .* a fingerprint of tree 0 is not here/, sub { take($_[0], $tree) });
	}
	changed("$name: two fingerprints have changed places", $name,
		qr/\AERROR:  XX002: .* entries are out of order/,
		sub {
			my $leaf = leaf_of($_[0], 1);
			my $first = peek($_[0], $leaf, $contents, 8);
			poke($_[0], $leaf, $contents, peek($_[0], $leaf, $contents + 8, 8));
			poke($_[0], $leaf, $contents + 8, $first);
		});
	for my $tree (0, 15)
	{
		changed("$name, tree $tree: a row is missing", $name,
			qr/\AERROR:  XX002: .* a row of the heap is not in the tree/, sub { take($_[0], $tree) });
		changed("$name, tree $tree: a row is another one", $name,
			qr/\AERROR:  XX002: .* a row (is in the index twice|of the heap is not in the tree)/,
			sub {
				my $leaf = unsorted_leaf($_[0], $tree);
				my $tid = special_of($tree) - 6;
				poke($_[0], $leaf, $tid - tail_of($tree), peek($_[0], $leaf, $tid, 6));
			});
	}
}

# Leaves of one fingerprint that do not follow each other do not keep a vacuum for ever
# that looks at them, for a leaf with a mark.  Only hamming_index_check() reports them.
changed('leaves of a fingerprint that do not follow each other: a vacuum ends', 'equal',
	qr/\A\z/,
	sub {
		add_to($_[0], leaf_of($_[0], 0), $special{kind} - 8, 'Q', 1);
		poke($_[0], leaf_of($_[0], 1), $special{kind}, "\4\0");
	},
	'BEGIN; DELETE FROM %1$s; COMMIT; VACUUM %1$s');
my @formats = ([ 'exact', 1, 2 ], [ 'wide', 2, 3 ]);
for my $format (@formats)
{
	my ($table, $version) = @$format;

	changed("an index of the format before this one: $table", $table,
		qr/\AERROR:  XX002: index "\w+" has format version $version,/,
		sub { poke($_[0], $metapage, $meta{version}, pack('L', $version)) });
}

$node->safe_psql('postgres', join ";\n", map {
	my $table = $changes[$_]{table};

	("CREATE TABLE copy$_ AS TABLE $table",
		"CREATE INDEX copy$_\_fp ON copy$_ USING hamming (fp) WITH (blocks = $blocks{$table})")
} 0 .. $#changes);
@paths = split /\n/, $node->safe_psql('postgres',
	"SELECT pg_relation_filepath(format('copy%s_fp', n)) FROM generate_series(0, $#changes) n");
$node->stop;
for my $n (0 .. $#changes)
{
	set_width($changes[$n]{table} eq 'wide' ? 128 : 64);
	$changes[$n]{change}->($node->data_dir . "/$paths[$n]");
}
$node->start;
@said = run_session($node, 'postgres', map { sprintf $changes[$_]{statement}, "copy$_" } 0 .. $#changes);
for my $n (0 .. $#changes)
{
	my $err = $said[$n][1] =~ s/^psql:.*?: //gmr =~ s/\n(?:LOCATION|CONTEXT):.*//gr;

	like($err, $changes[$n]{expected}, $changes[$n]{name});
}

# It is refused by all that read it, and made
# anew by REINDEX.
for my $n (0, 1)
{
	my ($table, $version, $now) = @{ $formats[$n] };
	my $old = 'copy' . ($#changes - 1 + $n);
	my $fp = '0123456789abcdef' x (1 + $n);
	my %refused = (
		'a search' => "SELECT id FROM $old WHERE fp <-> '$fp' <= 3",
		'an order' => "SELECT id FROM $old ORDER BY fp <-> '$fp' LIMIT 1",
		'IS NULL' => "SELECT id FROM $old WHERE fp IS NULL",
		'INSERT' => "INSERT INTO $old VALUES (0, '$fp')",
		'VACUUM' => "DELETE FROM $old WHERE id <= 10; VACUUM (INDEX_CLEANUP on) $old",
		'hamming_index_stats' => "SELECT hamming_index_stats('${old}_fp')",
		'hamming_index_check' => "SELECT hamming_index_check('${old}_fp')");
	for my $name (sort keys %refused)
	{
		my ($code, $out, $err) = $node->psql('postgres', $refused{$name}, on_error_stop => 0);

		like($err,
			qr/ERROR:  index "${old}_fp" has format version $version, but this version of simhash requires $now\nHINT:  REINDEX it\./,
			"the format before this one, $table: $name is refused");
	}
	is( $node->safe_psql('postgres',
			"REINDEX INDEX ${old}_fp; $refused{hamming_index_check}; SELECT count(*) FROM $old WHERE fp <-> '$fp' <= 128"),
		"\n90", "the format before this one, $table: REINDEX makes it anew");
}

unlike(
	slurp_file($node->logfile),
	qr/terminated by signal|PANIC/,
	'no process has crashed');
is($node->safe_psql('postgres', "SELECT hamming_index_check('docs$copies\_fp')"),
	'', 'an index that was left alone is sound');
$node->stop;

done_testing();
