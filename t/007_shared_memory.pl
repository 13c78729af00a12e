# In a container whose /dev/shm is small, one process works alone.

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
my ($pg_ctl) = grep { -x } map { "$_/pg_ctl" } split /:/, $ENV{PATH};
append_to_file("$bin/pg_ctl", "#!/bin/sh\n" .
	qq{exec @namespace sh -c 'mount -t tmpfs -o size=8M tmpfs /dev/shm && exec "\$@"' sh "$pg_ctl" "\$@"\n});
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
$node->stop;

done_testing();
