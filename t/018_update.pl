# ALTER EXTENSION simhash UPDATE makes what a new installation has, from each version
# from which there is an update, and what is stored goes on working.  There is always
# an update: to "next", a version that this test makes up.

use strict;
use warnings;

use File::Basename qw(dirname);
use File::Copy qw(cp);
use File::Path qw(make_path);
use FindBin;
use lib $FindBin::Bin;
use Life;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'set SIMHASH_TEST_EXTRA for tests that take long' if !$ENV{SIMHASH_TEST_EXTRA};

# An installation of the test's own, for the files of that version: links, but for the
# programs, as these look for their directories from where they are.
my $top = PostgreSQL::Test::Utils::tempdir();
my ($bindir, $pkglibdir, $sharedir) =
  map { (run_command([ 'pg_config', "--$_" ]))[0] } qw(bindir pkglibdir sharedir);
my $extension = "$top$sharedir/extension";
make_path("$top$bindir", dirname("$top$pkglibdir"), $extension);
cp("$bindir/$_", "$top$bindir/$_") or die "cannot copy $_: $!" for qw(initdb pg_config pg_ctl postgres psql);
symlink $_, "$top$_"
  for $pkglibdir, grep { $_ ne "$sharedir/extension" } glob("$sharedir/*"), glob("$sharedir/extension/*");
plan skip_all => 'a copy of this PostgreSQL uses the directories of the original'
  if (run_command([ "$top$bindir/pg_config", '--sharedir' ]))[0] ne "$top$sharedir";

my $control = slurp_file("$extension/simhash.control");
my ($released) = $control =~ /^default_version = '(.*)'/m;

# Write a file of the extension, in place of the link.
sub write_file
{
	my ($name, $contents) = @_;

	unlink "$extension/$name";
	append_to_file("$extension/$name", $contents);
	return;
}

sub set_default_version
{
	my ($version) = @_;

	write_file('simhash.control', $control =~ s/^default_version = .*/default_version = '$version'/mr);
	return;
}

# a database that the first version has made
my $node = PostgreSQL::Test::Cluster->new('update', install_path => dirname("$top$bindir"));
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->start;
set_default_version('1.0');
create_life_database($node, 'life');
my $before = answers($node, 'life');

# The version "next": changes of many kinds, which the C library of today serves.  The
# script ends with what comments on the functions without a comment.
my $changes = <<'SQL';
CREATE FUNCTION simhash64_eq(simhash64, bigint) RETURNS boolean
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE FUNCTION simhash64_cmp(simhash64, bigint) RETURNS integer
	AS 'MODULE_PATHNAME' LANGUAGE C IMMUTABLE STRICT LEAKPROOF PARALLEL SAFE;
CREATE OPERATOR = (
	LEFTARG = simhash64, RIGHTARG = bigint, FUNCTION = simhash64_eq,
	RESTRICT = eqsel, JOIN = eqjoinsel
);
ALTER OPERATOR FAMILY simhash64_ops USING btree ADD
	OPERATOR 3 = (simhash64, bigint),
	FUNCTION 1 (simhash64, bigint) simhash64_cmp(simhash64, bigint);
CREATE CAST (simhash64 AS text) WITH INOUT;
ALTER TYPE simhash_weights SET (STORAGE = external);
ALTER FUNCTION simhash_similarity(simhash64, simhash64) COST 10;
ALTER OPERATOR % (simhash64, simhash64) SET (RESTRICT = contsel);
COMMENT ON ACCESS METHOD hamming IS 'made up';
REVOKE EXECUTE ON FUNCTION hamming_index_check(regclass, boolean) FROM PUBLIC;
SQL
my ($script, $comments) = slurp_file("$extension/simhash--$released.sql") =~ /\A(.*)^(DO \$\$.*)\z/ms;
write_file('simhash--next.sql', $script . $changes . $comments);
write_file("simhash--$released--next.sql", $changes . $comments);
set_default_version('next');

# A session that has loaded the library goes on while another one updates.
my $update = "psql -X -q -d '" . $node->connstr('life') . "' -c 'ALTER EXTENSION simhash UPDATE' </dev/null";
is($node->safe_psql('life', <<SQL), "1.0\n0\nnext\n1\n1\n", 'a session goes on');
SET search_path = public, ext;
SET enable_seqscan = off;
PREPARE search AS SELECT count(*) FROM docs WHERE fp <-> minhash('new words') <= 3;
SELECT extversion FROM pg_extension WHERE extname = 'simhash';
EXECUTE search;
\\! $update
SELECT extversion FROM pg_extension WHERE extname = 'simhash';
BEGIN;
INSERT INTO docs (id, body) VALUES (-1, 'new words');
EXECUTE search;
SELECT count(*) FROM docs WHERE fp = minhash('new words')::bigint;
ROLLBACK;
SELECT hamming_index_check('docs_fp');
SQL
is(answers($node, 'life'), $before, 'the answers of before, without a REINDEX');

# The objects of the extension after commands of an owner who is no superuser, as
# pg_dump writes them out for pg_upgrade: with all that belongs to them.  The members
# of an operator family come in any order.
sub objects
{
	my (@commands) = @_;

	$node->safe_psql('postgres', 'CREATE DATABASE compared OWNER owner');
	$node->safe_psql('compared', join(';', @commands), extra_params => [ '-U', 'owner' ]);
	my ($dump) = run_command([ 'pg_dump', '--binary-upgrade', '--schema-only', $node->connstr('compared') ]);
	$node->safe_psql('postgres', 'DROP DATABASE compared');
	$dump =~ s/'\d+'::pg_catalog\.oid/OID/g;
	my (undef, @entries) = split /^-- Name: /m, $dump;
	my %objects;
	for my $entry (@entries)
	{
		my ($name, @lines) = grep { !/^(--|\\|$)/ } split /[ ,;]*\n/, $entry;
		$objects{ join "\n", $name, sort @lines } = 1;
	}
	return \%objects;
}

# What differs between a database with a new extension and one that was updated.
sub differences
{
	my ($from, $to) = @_;
	my $new = objects("CREATE EXTENSION simhash VERSION '$to'");
	my $updated = objects("CREATE EXTENSION simhash VERSION '$from'", "ALTER EXTENSION simhash UPDATE TO '$to'");

	return sort map({ "new: $_" } grep { !$updated->{$_} } keys %$new),
	  map { "updated: $_" } grep { !$new->{$_} } keys %$updated;
}

$node->safe_psql('postgres', 'CREATE ROLE owner LOGIN');
for my $path (split /\n/, $node->safe_psql('postgres',
		"SELECT source, target FROM pg_extension_update_paths('simhash') WHERE path IS NOT NULL"))
{
	my ($from, $to) = split /\|/, $path;

	is(join("\n", differences($from, $to)), '', "an update from $from to $to makes what is new in $to");
}

# Where all changes are forgotten, each of them is seen.
write_file("simhash--$released--next.sql", '');
is(join('', map { s/; Schema:.*//sr . "\n" } differences($released, 'next')),
	<<'OUT', 'what an update forgets is seen');
new: %; Type: OPERATOR
new: =; Type: OPERATOR
new: ACCESS METHOD hamming; Type: COMMENT
new: CAST (public.simhash64 AS text); Type: CAST
new: FUNCTION hamming_index_check(index regclass, heap boolean); Type: ACL
new: FUNCTION simhash64_cmp(public.simhash64, bigint); Type: COMMENT
new: FUNCTION simhash64_eq(public.simhash64, bigint); Type: COMMENT
new: simhash64_cmp(public.simhash64, bigint); Type: FUNCTION
new: simhash64_eq(public.simhash64, bigint); Type: FUNCTION
new: simhash64_ops; Type: OPERATOR FAMILY
new: simhash_similarity(public.simhash64, public.simhash64); Type: FUNCTION
new: simhash_weights; Type: TYPE
updated: %; Type: OPERATOR
updated: ACCESS METHOD hamming; Type: COMMENT
updated: simhash64_ops; Type: OPERATOR FAMILY
updated: simhash_similarity(public.simhash64, public.simhash64); Type: FUNCTION
updated: simhash_weights; Type: TYPE
OUT

$node->stop;
done_testing();
