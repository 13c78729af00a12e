# Where old_snapshot_threshold lets a vacuum remove rows that a snapshot sees, a scan
# with that snapshot raises an error and never passes over the rows: each kind of scan
# of a hamming index, as of a GiST or a btree index.  What it goes by is that a page
# has changed since.  So here vacuums remove rows that nobody sees, from pages where
# the scans look for others.

use strict;
use warnings;

use Digest::MD5 qw(md5_hex);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'set SIMHASH_TEST_EXTRA for tests that take long' if !$ENV{SIMHASH_TEST_EXTRA};

my $node = PostgreSQL::Test::Cluster->new('old_snapshot');
plan skip_all => 'PostgreSQL 17 has no old_snapshot_threshold' if $node->pg_version >= 17;
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
# with 0 a snapshot is too old after some seconds: no other setting is sooner
$node->append_conf('postgresql.conf', <<'CONF');
old_snapshot_threshold = 0
autovacuum = off
enable_seqscan = off
jit = off
CONF
$node->start;

# Nobody sees the rows with the fingerprint "none", one of the two with "one", and
# those without a fingerprint.
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simhash;
CREATE TABLE docs AS SELECT i AS id, md5(CASE WHEN i > 0 THEN i::text ELSE 'one' END) AS fp
FROM generate_series(0, 20000) i;
CREATE TABLE hamming AS SELECT id, left(fp, 16)::simhash64 AS fp FROM docs;
CREATE TABLE hamming_wide AS SELECT id, fp::simhash128 FROM docs;
CREATE TABLE gist AS TABLE hamming;
CREATE TABLE btree AS TABLE hamming;
CREATE INDEX ON hamming USING hamming (fp) WITH (blocks = 4, fillfactor = 10);
CREATE INDEX ON hamming_wide USING hamming (fp) WITH (blocks = 4, fillfactor = 10);
CREATE INDEX ON gist USING gist (fp);
CREATE INDEX ON btree USING btree (fp);
VACUUM ANALYZE;
BEGIN;
CREATE TEMP TABLE unseen ON COMMIT DROP AS
SELECT -1 AS id, md5(word) AS fp FROM unnest('{one,none,none,NULL}'::text[]) word;
INSERT INTO hamming SELECT id, left(fp, 16)::simhash64 FROM unseen;
INSERT INTO hamming_wide SELECT id, fp::simhash128 FROM unseen;
INSERT INTO gist SELECT id, left(fp, 16)::simhash64 FROM unseen;
INSERT INTO btree SELECT id, left(fp, 16)::simhash64 FROM unseen;
ROLLBACK;
CREATE FUNCTION outcome(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	n int;
BEGIN
	EXECUTE 'SELECT count(*) FROM (' || query || ') s' INTO n;
	RETURN n;
EXCEPTION WHEN snapshot_too_old THEN
	RETURN SQLERRM;
END $$;
SQL
# what a query wants, how many rows it has, and whether a page of these has changed
sub queries
{
	my ($digits) = @_;
	my ($none, $one, $other) = map { substr md5_hex($_), 0, $digits } qw(none one 1);
	# they differ in the first block, so that tree 1 of a hamming index has them
	my ($near_none, $near_one) = map { s/^(.)/sprintf '%x', hex($1) ^ 1/er } $none, $one;

	return (
		[ "fp = '$none'", 0, 1 ],
		[ "fp = '$one'", 1, 1 ],
		[ "fp = '$other'", 1, 0 ],
		[ 'fp IS NULL', 0, 1 ],
		[ "fp <-> '$near_none' <= 3", 0, 1 ],
		[ "fp <-> '$near_one' <= 3", 1, 1 ],
		[ "fp <-> '$near_none' <= 3 ORDER BY fp <-> '$near_none'", 0, 1 ],
		[ "fp <-> '$near_one' <= 3 ORDER BY fp <-> '$near_one'", 1, 1 ]);
}
my @cases;
for my $bitmap ('off', 'on')
{
	for my $table (qw(hamming hamming_wide gist btree))
	{
		my @queries = queries($table eq 'hamming_wide' ? 32 : 16);

		# a btree index finds no near ones, and a search by GiST reads many pages
		@queries = @queries[ 0 .. 3 ] if $table eq 'btree';
		@queries = grep { $_->[2] } @queries if $table eq 'gist';
		push @cases, map { [ $bitmap, "SELECT FROM $table WHERE $_->[0]", $_->[1], $_->[2] ] } @queries;
	}
}
my @statements = map { "SET LOCAL enable_bitmapscan = $_->[0];
	SELECT outcome(\$\$$_->[1]\$\$);" } @cases;
my $vacuum = "psql -X -q -d '" . $node->connstr('postgres') . "' -c 'VACUUM (INDEX_CLEANUP on)' </dev/null";
my ($out, $err) = ('', '');

# The first statement takes the snapshot, and another session vacuums.  Then wait until the
# snapshot is too old for a btree index.  PostgreSQL looks how old snapshots may be when it
# reads a page of a table.
my ($by_btree) = map { $_->[1] } grep { $_->[1] =~ /btree/ && $_->[3] } @cases;
my $wait = "DO \$do\$ BEGIN
	WHILE outcome(\$\$$by_btree\$\$) <> 'snapshot too old' LOOP
		PERFORM pg_sleep(0.1);
		PERFORM FROM docs LIMIT 1;
	END LOOP;
END \$do\$;";
$node->psql('postgres',
	join("\n", 'BEGIN ISOLATION LEVEL REPEATABLE READ;', @statements, "\\! $vacuum", $wait, @statements, 'COMMIT;', ''),
	stdout => \$out, stderr => \$err, timeout => $PostgreSQL::Test::Utils::timeout_default);
my @outcomes = split /\n/, $out;

is($err, '', 'no other error');
for my $i (0 .. $#cases)
{
	my ($bitmap, $query, $rows, $changed) = @{ $cases[$i] };

	is($outcomes[$i], $rows, "$query, bitmap scans $bitmap: before");
	is($outcomes[$i + @cases], $changed ? 'snapshot too old' : $rows,
		"$query, bitmap scans $bitmap: after");
}
$node->stop;

done_testing();
