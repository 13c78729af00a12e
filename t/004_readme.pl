# What the documentation shows is what one gets: each SQL block with its output,
# and each example of a table with its result.  What stands beside the examples
# (t/neighbours.md) is right, too.  The reference names all that the extension
# offers, links lead somewhere, and tables fit a screen.

use strict;
use warnings;

use Encode qw(decode_utf8);
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use lib $FindBin::Bin;
use Statements;

my $node = PostgreSQL::Test::Cluster->new('readme');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
# the tables are too small for an index to pay; plans are shown, which statistics
# that autovacuum takes could change at any time
$node->append_conf('postgresql.conf',
	"enable_seqscan = off\nenable_bitmapscan = off\nautovacuum = off");
$node->start;

# The SQL in a document is run in a database of its own: a reader may begin with
# any.  That of doc/scaling.md is run on several servers, by 012_scaling.pl, and the
# programs of doc/clients.md by 008_clients.pl.
my %text = map { $_ => slurp_file($_) } 'README.md', glob('doc/*.md'), qw(CHANGELOG.md CONTRIBUTING.md);
my @shown = grep { !m{doc/(?:clients|scaling)|^C} } sort keys %text;
my (undef, %beside) = split /^## (.*)\n/m, slurp_file("$FindBin::Bin/neighbours.md");
my $blocks = 0;
my $rows = 0;
my $links = 0;

# The blocks of SQL in a text, and what it shows below them.
sub blocks_of
{
	my ($text) = @_;
	my @blocks;

	push @blocks, [ $1, $2 // '' ] while $text =~ /^```sql\n(.*?)^```\n(?:```\n(.*?)^```\n)?/msg;
	return @blocks;
}

# The first statement in some SQL that has some words.
sub statement
{
	my ($sql, $words) = @_;

	while ($sql =~ /^(\w(?:\$(\w*)\$.*?\$\2\$|.)*?;)\n/msg)
	{
		return $1 if index($1, $words) >= 0;
	}
	die "no statement has: $words\n";
}

# A document without its code, in which nothing is a link, a heading or a table.
sub prose
{
	my ($text) = @_;
	$text =~ s/^```.*?^```\n//msg;
	return $text;
}

# The anchors of a document's headings, as GitHub makes them.
sub anchors
{
	my ($text) = @_;
	my %anchors;

	for my $heading (decode_utf8(prose($text)) =~ /^#+ (.*)$/mg)
	{
		my $anchor = lc $heading;
		$anchor =~ s/[^\w\- ]//g;
		$anchor =~ tr/ /-/;
		$anchors{$anchor} = 1;
	}
	return \%anchors;
}

for my $document (@shown)
{
	my $database = $document =~ s{.*/|\.md$}{}gr;

	my @blocks = blocks_of($text{$document});
	my $sql = join '', map { $_->[0] } @blocks;

	push @blocks, blocks_of(delete $beside{$document} // '');
	$node->safe_psql('postgres', qq(CREATE DATABASE "$database"));
	$_->[0] =~ s/^-- as shown: (.*)$/statement($sql, $1)/gem for @blocks;
	for my $printed (run_shown($node, $database, map { $_->[0] } @blocks))
	{
		my ($run, $shown) = @{ shift @blocks };

		# PostgreSQL 18 says which nodes our settings are against
		$printed =~ s/^ +Disabled: true\n//mg;
		# these rows come in any order
		$_ = join "\n", sort split /\n/
		  for $run =~ /\bRETURNING\b/ ? ($printed, $shown) : ();
		is(trimmed($printed), trimmed($shown), "$document: " . substr $run, 0, 60);
		$blocks++;
	}
	my @examples = $text{$document} =~ /^\| .* \| `([^|]+?)` \| `([^|]+)` \|$/mg;
	# several rows have commas between them
	my @values = map { join(', ', split /\n/, $_->[0]) . $_->[1] }
	  run_batch($node, map { [ $database, "SELECT $_" ] } @examples[ grep { $_ % 2 == 0 } 0 .. $#examples ]);
	while (my ($example, $result) = splice @examples, 0, 2)
	{
		is(shift @values, $result, "example: $example");
		$rows++;
	}
}
is(join(' ', keys %beside), '', 'neighbours are those of a document');
# the patterns above must not come to match nothing
cmp_ok($blocks, '>=', 50, 'blocks');
cmp_ok($rows, '>=', 50, 'examples');

# From some 260,000 ids on, these do not fit the default work_mem, and each row is
# compared with each id.
my $documentation = join '', @text{@shown};
unlike($documentation, qr/NOT IN \(SELECT/, 'NOT EXISTS instead of NOT IN');

# no row of a table with examples is without one
my @without;
while ($documentation =~ /^\| .* \| Example \| Result \|\n\|[-|]+\|\n((?:\|.*\n)+)/mg)
{
	push @without, grep { !/ \| `[^|]+` \| `[^|]+` \|$/ } split /\n/, $1;
}
is(join("\n", @without), '', 'every row has an example');

# What the extension does not call internal, people call.
my (@public, @internal);
for (split /\n/, $node->safe_psql('reference', q{
	SELECT obj_description(objid, classid::regclass::name) ~ '^internal: ', CASE classid
		WHEN 'pg_proc'::regclass THEN (SELECT proname || '(' FROM pg_proc WHERE oid = objid)
		WHEN 'pg_operator'::regclass THEN (SELECT oprname FROM pg_operator WHERE oid = objid)
		WHEN 'pg_type'::regclass THEN (SELECT typname FROM pg_type WHERE oid = objid)
		WHEN 'pg_opclass'::regclass THEN (SELECT opcname FROM pg_opclass WHERE oid = objid)
		WHEN 'pg_opfamily'::regclass THEN (SELECT opfname FROM pg_opfamily WHERE oid = objid)
		WHEN 'pg_am'::regclass THEN (SELECT amname FROM pg_am WHERE oid = objid)
		WHEN 'pg_cast'::regclass THEN (SELECT format('%s` → `%s', castsource::regtype,
			casttarget::regtype) FROM pg_cast WHERE oid = objid)
		ELSE 'an object of class ' || classid::regclass END
	FROM pg_depend JOIN pg_extension e ON e.oid = refobjid
	WHERE extname = 'simhash' AND refclassid = 'pg_extension'::regclass AND deptype = 'e'
	GROUP BY 1, 2 ORDER BY 1, 2}))
{
	my ($is_internal, $name) = /^([tf])\|(.*)$/ or next;

	push @{ $is_internal eq 't' ? \@internal : \@public }, $name;
}
cmp_ok(@public, '>=', 50, 'public objects');
my @missing = grep {
	$text{'doc/reference.md'} !~ /`(?:\w+ )?\Q$_\E(?:(?<=\()[^`]*| [^`]*)?`/
} @public;
is("@missing", '', 'the reference has all public objects');

cmp_ok(@internal, '>=', 50, 'internal objects');
is(join(' ', grep { $text{'doc/reference.md'} =~ /(?<!\w)\Q$_\E/ } @internal),
	'', 'the reference has no internal object');

for my $document (sort keys %text)
{
	my ($folder) = $document =~ m{^(.*/)?};
	my $prose = prose($text{$document});
	my @wide = grep { length decode_utf8($_) > 120 } $prose =~ /^(\|.*)$/mg;
	my @broken;

	while ($prose =~ /\]\(([^)\s]+)\)/g)
	{
		my $link = $1;
		my ($file, $anchor) = $link =~ /^([^#]*)#?(.*)$/;
		next if $file =~ /^https?:/;
		my $path = $file eq '' ? $document : ($folder // '') . $file;
		1 while $path =~ s{[^/]+/\.\./}{};

		push @broken, $link
		  unless -e $path && ($anchor eq '' || anchors($text{$path} // '')->{$anchor});
		$links++;
	}
	is("@broken", '', "$document: links lead somewhere");
	is(join("\n", @wide), '', "$document: table rows fit a screen");
}
cmp_ok($links, '>=', 50, 'links');

$node->stop;
done_testing();
