# Logical replication keeps every value, in the text and the binary forms, and a
# subscriber's indexes find what the publisher's find.  A streaming standby answers
# as its primary does, by GiST, too.

use strict;
use warnings;

use FindBin;
use lib $FindBin::Bin;
use Life;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'set SIMHASH_TEST_EXTRA for tests that take long' if !$ENV{SIMHASH_TEST_EXTRA};

my $publisher = PostgreSQL::Test::Cluster->new('publisher');
$publisher->init(
	allows_streaming => 'logical',
	extra => [ '--locale=C', '--encoding=UTF8' ]);
$publisher->append_conf('postgresql.conf', 'autovacuum = off');
$publisher->start;
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$subscriber->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$subscriber->append_conf('postgresql.conf', <<'CONF');
autovacuum = off
max_logical_replication_workers = 12
max_worker_processes = 16
wal_retrieve_retry_interval = 100ms
CONF
$subscriber->start;

# Rows that are found by their fingerprints: by a unique index, and by all columns.
# No NULL in a hash index: PostgreSQL 17 and 18 do not find such a row.
create_life_database($publisher, 'life');
$publisher->safe_psql('life', <<'SQL');
SET search_path = public, ext;
CREATE TABLE keyed (fp simhash64 NOT NULL, wide simhash128 NOT NULL, n int, CONSTRAINT keyed_key UNIQUE (fp, wide));
INSERT INTO keyed SELECT fp, wide, min(id) FROM docs WHERE id <= 500 AND fp IS NOT NULL GROUP BY fp, wide;
CREATE INDEX keyed_fp ON keyed USING hamming (fp);
ALTER TABLE keyed REPLICA IDENTITY USING INDEX keyed_key;
CREATE TABLE whole AS SELECT id AS n, plain, wide, weights, distance FROM docs
WHERE id <= 500 AND plain IS NOT NULL;
CREATE INDEX whole_plain ON whole USING hamming (plain);
CREATE INDEX whole_wide ON whole USING hamming (wide);
ALTER TABLE whole REPLICA IDENTITY FULL;
CREATE PUBLICATION computed FOR ALL TABLES;
SQL

# A subscription each.  From PostgreSQL 18 on, generated columns can be sent, into
# ordinary ones.
my %subscription = (
	as_text => [ 'computed', 'binary = false', 'CREATE INDEX whole_btree ON whole (wide, n)' ],
	as_binary => [ 'computed', 'binary = true', 'CREATE INDEX whole_hash ON whole USING hash (plain)' ]);
if ($publisher->pg_version->major >= 18)
{
	$publisher->safe_psql('life',
		'CREATE PUBLICATION stored FOR ALL TABLES WITH (publish_generated_columns = stored)');
	$subscription{as_stored} = [ 'stored', 'binary = true', <<'SQL'];
ALTER TABLE docs ALTER fp DROP EXPRESSION, ALTER weighted DROP EXPRESSION, ALTER wide DROP EXPRESSION;
ALTER TABLE refused ALTER fp DROP EXPRESSION, ALTER wide DROP EXPRESSION;
SQL
}
my $schema = $publisher->basedir . '/schema.sql';
$publisher->command_ok([ 'pg_dump', '--schema-only', '--no-publications', '-f', $schema,
		$publisher->connstr('life') ], 'pg_dump of the schema');
for my $name (sort keys %subscription)
{
	my ($publication, $options, $changes) = @{ $subscription{$name} };

	$subscriber->safe_psql('postgres', "CREATE DATABASE $name");
	$subscriber->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $schema,
			$subscriber->connstr($name) ], "$name: the schema of the publisher");
	$subscriber->safe_psql($name, $changes);
	$subscriber->safe_psql($name, "CREATE SUBSCRIPTION $name CONNECTION '"
		  . $publisher->connstr . " dbname=life' PUBLICATION $publication WITH ($options)");
}
$subscriber->wait_for_subscription_sync($publisher, $_, $_) for sort keys %subscription;

# a standby, too
$publisher->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($publisher, 'base', has_streaming => 1);
$standby->start;

change_rows($publisher, 'life');
$publisher->safe_psql('life', <<'SQL');
SET search_path = public, ext;
UPDATE keyed SET fp = simhash(n::text), n = -n WHERE n % 3 = 0;
UPDATE keyed SET n = n + 1000 WHERE n % 7 = 0;
DELETE FROM keyed WHERE n % 5 = 0;
UPDATE whole SET plain = simhash(n::text), wide = NULL, weights = NULL WHERE n % 3 = 0;
UPDATE whole SET distance = 64 WHERE n % 7 = 0;
DELETE FROM whole WHERE n % 5 = 0;
TRUNCATE parts;
INSERT INTO parts SELECT id, fp FROM docs WHERE fp IS NOT NULL;
INSERT INTO searches VALUES ('SELECT * FROM keyed', 'keyed'), ('SELECT * FROM whole', 'whole');
SQL
# The row is looked up by an index if PostgreSQL can, and never by a hamming index.
my %lookup = (
	as_text => $publisher->pg_version->major >= 16 ? 'whole_btree' : '',
	as_binary => $publisher->pg_version->major >= 17 ? 'whole_hash' : '',
	as_stored => '');
for my $name (sort keys %subscription)
{
	ok( $subscriber->poll_query_until($name, "SELECT n_tup_upd > 0 AND '$lookup{$name}' =
			(SELECT coalesce(string_agg(indexrelname, ','), '') FROM pg_stat_user_indexes i
			WHERE i.relid = t.relid AND idx_scan > 0)
			FROM pg_stat_user_tables t WHERE relname = 'whole'"),
		"$name: rows without a key are looked up by '$lookup{$name}'");
}

# what was copied and what was changed since
my $expected = answers($publisher, 'life');
for my $name (sort keys %subscription)
{
	$publisher->wait_for_catchup($name);
	$subscriber->safe_psql($name, 'REFRESH MATERIALIZED VIEW kept; ANALYZE');
	is(answers($subscriber, $name), $expected, "$name: the answers of the publisher");
}
$publisher->wait_for_catchup($standby);
is(answers($standby, 'life'), $expected, 'standby: the answers of the publisher');
$standby->stop;

my (undef, undef, $filter) = $publisher->psql('life', <<'SQL');
\set VERBOSITY verbose
CREATE PUBLICATION filtered FOR TABLE docs WHERE (fp IS NOT NULL)
SQL
like($filter, qr/ERROR:  0A000: .*\nDETAIL:  User-defined types are not allowed/s,
	'a row filter cannot name a fingerprint');

# A session of pg_recvlogical, or of another program, sees the text forms.
SKIP:
{
	skip 'test_decoding is not installed', 1
	  if !glob $publisher->config_data('--pkglibdir') . '/test_decoding.*';
	my $changes = $publisher->safe_psql('life', <<'SQL');
SELECT FROM pg_create_logical_replication_slot('decoded', 'test_decoding');
INSERT INTO whole VALUES (0, '00000000000000ff', '000000000000000000000000000000ff', '{"A": 2}', 3);
SELECT data FROM pg_logical_slot_get_changes('decoded', NULL, NULL, 'include-xids', 'false');
SELECT FROM pg_drop_replication_slot('decoded');
SQL
	is("$changes\n" =~ s/ (?=\w+\[)/\n/gr, <<'OUT', 'test_decoding shows the text forms');
BEGIN
table public.whole: INSERT:
n[integer]:0
plain[ext.simhash64]:'00000000000000ff'
wide[ext.simhash128]:'000000000000000000000000000000ff'
weights[ext.simhash_weights]:'{"a": 2}'
distance[ext.hamming_distance]:'3'
COMMIT
OUT
}

# Make a change that the subscription as_text cannot apply, and wait until it stops.
# Returns where the transaction ends.
sub stop_subscription
{
	my ($change, $error) = @_;
	my $offset = -s $subscriber->logfile;

	$publisher->safe_psql('life', $change);
	$subscriber->wait_for_log($error, $offset);
	my ($end) = slurp_file($subscriber->logfile, $offset) =~ /$error.*?finished at ([0-9A-F\/]+)/s;
	return $end;
}

sub subscribed
{
	my ($query) = @_;

	$publisher->wait_for_catchup('as_text');
	return $subscriber->safe_psql('as_text', $query);
}

# A row that an exclusion constraint of the subscriber refuses
my $insert = 'INSERT INTO refused (id, body) VALUES (%s, body_of(%s))';
my $refused = qr/conflicting key value violates exclusion constraint "refused_fp"/;
my $rows = 'SELECT id FROM refused WHERE id >= 9000 ORDER BY id';
$subscriber->safe_psql('as_text', sprintf $insert, -1, 9000);
stop_subscription(sprintf($insert, 9000, 9000), $refused);
$subscriber->safe_psql('as_text', 'DELETE FROM refused WHERE id = -1');
is(subscribed($rows), '9000', 'replication goes on when the row in the way is gone');

$subscriber->safe_psql('as_text', sprintf $insert, -1, 9005);
my $end = stop_subscription(sprintf($insert, 9005, 9005), $refused);
$subscriber->safe_psql('as_text', "ALTER SUBSCRIPTION as_text SKIP (lsn = '$end')");
$publisher->safe_psql('life', sprintf $insert, 9010, 9010);
is(subscribed($rows), "9000\n9010", 'replication goes on after the transaction that was skipped');

# A ball has no equality, which the replica identity of all columns needs.
$subscriber->safe_psql($_, "DROP SUBSCRIPTION $_") for grep { $_ ne 'as_text' } keys %subscription;
for my $database ([ $publisher, 'life' ], [ $subscriber, 'as_text' ])
{
	my ($node, $name) = @$database;
	$node->safe_psql($name, 'CREATE TABLE balls (n int, ball ext.hamming_ball, wide ext.hamming_ball128);
		ALTER TABLE balls REPLICA IDENTITY FULL');
}
$publisher->safe_psql('life',
	q{INSERT INTO balls VALUES (1, '(00000000000000ff,3)'), (2, '(000000000000000f,3)')});
$subscriber->safe_psql('as_text', 'ALTER SUBSCRIPTION as_text REFRESH PUBLICATION');
$subscriber->wait_for_subscription_sync($publisher, 'as_text', 'as_text');
$end = stop_subscription('DELETE FROM balls WHERE n = 1',
	qr/could not identify an equality operator for type ext.hamming_ball/);
$subscriber->safe_psql('as_text', "ALTER SUBSCRIPTION as_text SKIP (lsn = '$end')");
is(subscribed('SELECT n FROM balls ORDER BY n'), "1\n2", 'a row with a ball cannot be looked up without a key');

$_->stop for $subscriber, $publisher;
done_testing();
