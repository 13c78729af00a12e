# A hamming index survives crashes under load, gives the same answers on a
# standby, after promotion and after point-in-time recovery.  There is one of each
# width.  Each has 8 blocks, so that the insertion of a fingerprint takes two WAL
# records.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

plan skip_all => 'set SIMHASH_TEST_EXTRA for tests that take long' if !$ENV{SIMHASH_TEST_EXTRA};

# PostgreSQL's generic WAL, of the build that counts steps, is a way to write the same
# records: what comes after a crash and on a standby shows whether they are right.
my $generic = $ENV{SIMHASH_TEST_INTERRUPTS};

# Two programs are started to archive a segment, and two to restore it: they are not so
# small as script/test would have them.
my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(
	allows_streaming => 1,
	has_archiving => 1,
	extra => [ '--locale=C', '--encoding=UTF8', '--data-checksums', '--wal-segsize=16' ]);
# A snapshot of autovacuum's would keep rows from the vacuums of the test, and its
# own vacuums would write records between those that are counted.
$primary->append_conf('postgresql.conf', <<'CONF');
wal_consistency_checking = 'generic'
autovacuum = off
max_wal_size = 2GB
log_statement = none
CONF
$primary->start;
my $setup = slurp_file('t/load/setup.sql');
$primary->safe_psql('postgres', $setup);

# Start a load of 8 sessions in the background, and wait until it has inserted some rows.
# One session waits: to start one takes as long as what the load does meanwhile.
sub start_load
{
	my ($node, $rows) = @_;
	my $first = $node->safe_psql('postgres', 'SELECT last_value FROM docs_id_seq');
	my $load = IPC::Run::start(
		[
			'pgbench', '--no-vacuum', '--client=8', '--time=180',
			'--file=t/load/change.sql@60', '--file=t/load/search.sql@1',
			'--file=t/load/purge.sql@1', $node->connstr('postgres')
		],
		'>', \my $out, '2>', \my $err);

	$node->safe_psql('postgres', <<SQL);
DO 'BEGIN
	FOR i IN 1 .. 1800 LOOP
		IF (SELECT last_value FROM docs_id_seq) >= $first + $rows THEN
			RETURN;
		END IF;
		PERFORM pg_sleep(0.1);
	END LOOP;
	RAISE ''the load does not run'';
END';
SQL
	return $load;
}

# End a load when its sessions have ended their transactions, as its time would.
sub end_load
{
	my ($load, $name) = @_;

	$load->signal('ALRM');
	ok($load->finish, "$name: the load ended without an error");
	return;
}

# Kill the server with signal 9, and start it again when its processes have
# noticed.
sub crash
{
	my ($node) = @_;
	my $tries = 100;

	$node->kill9;
	until ($node->start(fail_ok => 1))
	{
		die 'the server does not start' unless $tries--;
		usleep(100_000);
		$node->stop('fast', fail_ok => 1);
	}
	return;
}

sub check
{
	my ($node, $when) = @_;

	# each tree is searched within each radius of its block
	is($node->safe_psql('postgres',
			"SELECT hamming_index_check('docs_fp'), hamming_index_check('docs_wide'); SELECT verify_all(3)"),
		"|\nas the table", "the indexes are sound, and agree with the table, $when");
	return;
}

# What searches find, to compare servers.
sub answers
{
	my ($node) = @_;

	return $node->safe_psql('postgres', <<'SQL');
SET enable_seqscan = off;
SELECT r, k, count(id), sum(id) FROM unnest('{1,2,3,77}'::int[]) r
	CROSS JOIN unnest('{0,1,3,6,10,20,64}'::int[]) k LEFT JOIN docs ON fp <-> some_fp(r) <= k
GROUP BY r, k ORDER BY r, k;
SELECT r, k, count(id), sum(id) FROM unnest('{1,2,3,77}'::int[]) r
	CROSS JOIN unnest('{0,7,20,128}'::int[]) k LEFT JOIN docs ON wide <-> widen(some_fp(r)) <= k
GROUP BY r, k ORDER BY r, k;
SELECT count(*) FROM docs WHERE fp IS NULL;
SQL
}

# a crash
my $load = start_load($primary, 1500);
crash($primary);
eval { $load->finish };    # pgbench has lost its connections
check($primary, 'after a crash');

# the searches of the load and of the checks are by the index
is($primary->safe_psql('postgres', 'SELECT indexrelname FROM pg_stat_user_indexes WHERE idx_scan > 0 ORDER BY 1'),
	"docs_fp\ndocs_wide", 'searches use both indexes');

# Sessions that all want to split a page take no more pages than they use.
$primary->safe_psql('postgres', <<'SQL');
CREATE TABLE equal (fp simhash64);
CREATE INDEX equal_fp ON equal USING hamming (fp);
SQL
my $insert = $primary->basedir . '/insert.sql';
append_to_file($insert,
	'INSERT INTO equal SELECT 7::bigint::simhash64 FROM generate_series(1, 100)');
command_ok(
	[
		'pgbench', '--no-vacuum', '--client=8', '--transactions=50',
		"--file=$insert", $primary->connstr('postgres')
	],
	'8 sessions insert equal fingerprints');
is( $primary->safe_psql(
		'postgres',
		"SELECT rows, free_pages < pages / 4, hamming_index_check('equal_fp') FROM hamming_index_stats('equal_fp')"
	),
	'40000|t|',
	'few pages are left over');

# a standby, while the primary is loaded; where it falls behind what the primary
# keeps, there is the archive
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1, has_restoring => 1);
$standby->append_conf('postgresql.conf', 'max_standby_streaming_delay = -1');
$standby->start;
$primary->wait_for_catchup($standby);
# the half of the check that needs no lock of the table
my $structure = "SELECT hamming_index_check('docs_fp', heap => false),
	hamming_index_check('docs_wide', heap => false)";
$load = start_load($primary, 100);
is($standby->safe_psql('postgres', "SELECT verify(some_fp(7), k) FROM generate_series(0, 12, 3) k; $structure; $structure"),
	"\n" x 5 . "|\n|", 'standby: the index is sound, and agrees with the table, under load');
is($primary->safe_psql('postgres', "$structure; $structure"), "|\n|", 'primary: the indexes are sound under load');
end_load($load, 'on the primary');
my (undef, undef, $refused) = $standby->psql('postgres',
	"\\set VERBOSITY verbose\nSELECT hamming_index_check('docs_fp')");
like($refused,
	qr/ERROR:  55000: cannot compare .* during recovery\nHINT:  Use hamming_index_check\(index, heap => false\)\./,
	'standby: the check of index and table says what can be checked there');

if ($generic)
{
	$primary->wait_for_catchup($standby);
	is(answers($standby), answers($primary), 'standby: the answers of the primary');
	$_->stop for $standby, $primary;
	done_testing();
	exit;
}

# indexes that are made while their table changes
$load = start_load($primary, 100);
$primary->safe_psql('postgres', 'REINDEX INDEX CONCURRENTLY docs_fp; REINDEX INDEX CONCURRENTLY docs_wide;
	CREATE INDEX CONCURRENTLY docs_other ON docs USING hamming (fp) WITH (blocks = 3)');
end_load($load, 'beside index builds');
is( $primary->safe_psql('postgres',
		"SELECT hamming_index_check('docs_fp'), hamming_index_check('docs_wide'),
			hamming_index_check('docs_other');
		DROP INDEX docs_other"),
	'||',
	'indexes made concurrently are sound');
$primary->wait_for_catchup($standby);
is(answers($standby), answers($primary), 'standby: the answers of the primary');

# point-in-time recovery, from the same backup
my $before = answers($primary);
$primary->safe_psql('postgres', "SELECT pg_create_restore_point('here');
	DELETE FROM docs WHERE id % 2 = 0; SELECT pg_switch_wal()");
my $recovered = PostgreSQL::Test::Cluster->new('recovered');
$recovered->init_from_backup($primary, 'base', has_restoring => 1);
$recovered->append_conf('postgresql.conf', <<'CONF');
recovery_target_name = 'here'
recovery_target_action = 'promote'
CONF
$recovered->start;
$recovered->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()')
  or die 'recovery did not end';
is(answers($recovered), $before, 'point-in-time recovery: the answers of then');
check($recovered, 'after point-in-time recovery');
$recovered->stop;

# Recovery ends between the two records of an insertion, which have a leaf of each of
# four trees, or amid the records of a vacuum, which have one of a tree.  What is left
# is a fingerprint without rows, in the block trees 5 to 8 of one of the indexes: the
# check says so, nothing finds it, and the next row that has it uses it.  When that row
# is gone, VACUUM removes it.  One index of each width, by one source.
sub records_of
{
	my ($statement, $page) = @_;
	my $here = 'SELECT pg_current_wal_insert_lsn()';
	# pg_waldump reads what is on disk, and recovery what is in the archive
	my ($start, $end) = split /\n/, $primary->safe_psql('postgres', "$here; $statement; $here; SELECT pg_switch_wal()");
	my $dump = '';

	IPC::Run::run([ 'pg_waldump', '--rmgr=Generic', '--path', $primary->data_dir . '/pg_wal',
		'--start', $start, '--end', $end ], '>', \$dump)
	  or die 'pg_waldump failed';
	return $dump =~ /lsn: ([0-9A-F\/]+).* blkref #$page/g;
}
my $lone = 'fedcba9876543210';
$primary->backup('shortly before');
$primary->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP on, TRUNCATE off) docs');
# A sweep that comes to a leaf which is half empty merges it with the next one, by a
# record more: until no such leaf is left, the fingerprint goes and comes again.
my @records;
for (1 .. 10)
{
	@records = records_of("INSERT INTO docs (fp) VALUES ('$lone')", 3);
	$primary->safe_psql('postgres', "DELETE FROM docs WHERE fp = '$lone'");
	# index after index
	push @records, records_of('VACUUM (INDEX_CLEANUP on, TRUNCATE off, PARALLEL 0) docs', 0);
	last if @records == 30;
}
is(scalar @records, 30, 'an insertion takes a record for four trees, and a removal one for each');
for my $target (
	[ 'an insertion', 'docs_fp', $records[1], 5 .. 8 ],
	[ 'a removal', 'docs_wide', $records[18], 5 .. 9 ])
{
	my ($what, $index, $lsn, @trees) = @$target;
	my $name = "$what of $index";
	my $halved = PostgreSQL::Test::Cluster->new("halved_$name" =~ s/ /_/gr);
	$halved->init_from_backup($primary, 'shortly before', has_restoring => 1);
	$halved->append_conf('postgresql.conf', <<CONF);
recovery_target_lsn = '$lsn'
recovery_target_inclusive = off
recovery_target_timeline = 'current'
recovery_target_action = 'promote'
CONF
	$halved->start;
	$halved->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()')
	  or die 'recovery did not end';
	my ($code, $out, $err) = $halved->psql('postgres',
		"SELECT hamming_index_check('docs_fp'), hamming_index_check('docs_wide')");
	is($code, 0, "$name was halved: no corruption");
	is_deeply(
		[ $err =~ /NOTICE:  (block tree \d+ of index "\w+" has 1 fingerprint) without rows/g ],
		[ map { "block tree $_ of index \"$index\" has 1 fingerprint" } @trees ],
		"$name was halved: what is left");
	is($halved->safe_psql('postgres', "SELECT verify('$lone', k) FROM generate_series(-1, 64, 5) k") =~ s/\n//gr,
		'', "$name was halved: the index agrees with the table");
	($code, $out, $err) = $halved->psql('postgres', <<SQL);
INSERT INTO docs (fp) VALUES ('$lone');
SELECT hamming_index_check('docs_fp'), hamming_index_check('docs_wide'), verify('$lone', 3),
	verify('0123456789abcdef', 60);
SQL
	is("$code$out$err", '0|||', "$name was halved: the fingerprint comes back");
	($code, $out, $err) = $halved->psql('postgres', <<SQL);
DELETE FROM docs WHERE fp = '$lone';
VACUUM (INDEX_CLEANUP on, TRUNCATE off) docs;
SELECT hamming_index_check('docs_fp'), hamming_index_check('docs_wide');
SQL
	is("$code$out$err", '0|', "$name was halved: and goes");
	$halved->stop;
}

# promotion
$primary->safe_psql('postgres', 'DELETE FROM equal; VACUUM (INDEX_CLEANUP on) equal');
$primary->wait_for_catchup($standby);
$before = answers($primary);
$primary->stop;
$standby->promote;
is(answers($standby), $before, 'promoted standby: the answers of the primary');
$load = start_load($standby, 300);
end_load($load, 'promoted standby');
check($standby, 'on the promoted standby');

# The free space map is not logged, so that a standby does not have the pages that the
# primary has freed.  When it has none, a vacuum finds them.
is($standby->safe_psql('postgres', <<'SQL'), 't', 'promoted standby: free pages are used');
INSERT INTO equal SELECT 7::bigint::simhash64 FROM generate_series(1, 40000);
DELETE FROM equal WHERE ctid = (SELECT min(ctid) FROM equal);
VACUUM (INDEX_CLEANUP on) equal;
SELECT pages AS before FROM hamming_index_stats('equal_fp') \gset
INSERT INTO equal SELECT 7::bigint::simhash64 FROM generate_series(1, 20000);
SELECT pages = :before FROM hamming_index_stats('equal_fp');
SQL
$standby->stop;

# checksums
command_ok([ 'pg_checksums', '--check', '-D', $standby->data_dir ],
	'checksums are right');

# without WAL: unlogged, and wal_level = minimal
my $minimal = PostgreSQL::Test::Cluster->new('minimal');
$minimal->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$minimal->append_conf('postgresql.conf', <<'CONF');
wal_level = minimal
max_wal_senders = 0
CONF
$minimal->start;
$minimal->safe_psql('postgres', "BEGIN; $setup; INSERT INTO docs (fp)
	SELECT some_fp(i) FROM generate_series(1, 5000) i; COMMIT;
	CREATE UNLOGGED TABLE unlogged AS SELECT * FROM docs;
	CREATE INDEX unlogged_fp ON unlogged USING hamming (fp)");
crash($minimal);
check($minimal, 'made under wal_level = minimal, after a crash');
is( $minimal->safe_psql('postgres', <<'SQL'), "|0\n|5000", 'an unlogged index is empty after a crash');
SELECT hamming_index_check('unlogged_fp'), rows FROM hamming_index_stats('unlogged_fp');
INSERT INTO unlogged SELECT * FROM docs LIMIT 5000;
SELECT hamming_index_check('unlogged_fp'), rows FROM hamming_index_stats('unlogged_fp');
SQL
$minimal->stop;

done_testing();
