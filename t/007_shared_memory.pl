# In a container whose /dev/shm is small, one process works alone; and texts that a disk has no
# room for are an error.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'set SIMHASH_TEST_EXTRA for tests that take long' if !$ENV{SIMHASH_TEST_EXTRA};
my @namespace = qw(unshare --user --map-current-user --keep-caps --mount);
plan skip_all => 'needs namespaces of users' if system("@namespace true 2>/dev/null") != 0;

my $node = PostgreSQL::Test::Cluster->new('shared_memory');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', <<'CONF');
jit = off
max_parallel_workers_per_gather = 2
parallel_setup_cost = 0
work_mem = 1GB
CONF
my $bin = PostgreSQL::Test::Utils::tempdir();
my $disk = PostgreSQL::Test::Utils::tempdir();
my ($pg_ctl) = grep { -x } map { "$_/pg_ctl" } split /:/, $ENV{PATH};
append_to_file("$bin/pg_ctl", "#!/bin/sh\n" .
	qq{exec @namespace sh -c 'mount -t tmpfs -o size=8M tmpfs /dev/shm &&
		mount -t tmpfs -o size=4M tmpfs "$disk" && exec "\$@"' sh "$pg_ctl" "\$@"\n});
chmod 0755, "$bin/pg_ctl";
local $ENV{PATH} = "$bin:$ENV{PATH}";
$node->start;
# the fingerprints alone need 8 MB
$node->safe_psql('postgres', 'CREATE EXTENSION simhash;
	CREATE TABLE million AS SELECT i::bigint::simhash64 AS fp FROM generate_series(1, 1000000) i');
my ($code, $out, $err) = $node->psql('postgres', 'SET simhash.report_progress = on;
	SELECT max(c) FROM (SELECT simhash_cluster(fp, 1) OVER () AS c FROM million) s');
is("$code$out", '01', 'the clusters with a small /dev/shm');
like($err, qr/connecting fingerprints/, 'the progress of them is shown');
unlike($err, qr/workers planned/, 'there is no room for what a team shares');
($code, $out, $err) = $node->psql('postgres', "SET simhash.report_progress = on;
	SELECT max(c) FROM (SELECT simhash_cluster(fp, 0, 'leader', fp::text, 0.5) OVER () AS c FROM million) s");
is("$code$out", '01000000', 'the clusters whose texts are compared');
unlike($err, qr/workers planned/, 'nor is there room for their team');

# the fingerprints fit into work_mem, and the texts not
$node->safe_psql('postgres', "CREATE TABLESPACE small LOCATION '$disk'");
($code, $out, $err) = $node->psql('postgres', <<'SQL', on_error_stop => 0);
\set VERBOSITY sqlstate
SET work_mem = '4MB';
SET temp_tablespaces = small;
PREPARE clusters(int) AS SELECT max(c) FROM (SELECT simhash_cluster(fp, 0, 'leader', repeat(fp::text, 200), 0.5) OVER () AS c
	FROM million WHERE fp::bigint <= $1) s;
EXECUTE clusters(20000);
SELECT count(*) FROM pg_ls_tmpdir((SELECT oid FROM pg_tablespace WHERE spcname = 'small'));
EXECUTE clusters(500);
SQL
is("$out|$err", "0\n500|psql:<stdin>:6: ERROR:  53100", 'a full disk is an error, and nothing is left on it');
$node->stop;

done_testing();
