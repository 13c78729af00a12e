# Wherever simhash_cluster, simhash_pairs and simhash_components run out of memory,
# they raise an error, and the session goes on.  Nothing takes more than is documented.
# script/soak memory runs this: what malloc takes for itself, some MB, is in what is
# measured.

use strict;
use warnings;

use POSIX qw(sysconf _SC_PAGESIZE);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

# what limits the memory of one backend
plan skip_all => 'needs prlimit and /proc'
  if !-e '/proc/self/statm' || system('prlimit --version >/dev/null 2>&1') != 0;

my $node = PostgreSQL::Test::Cluster->new('limits');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
# What the leader method finds depends on the order of the rows.  A synchronized
# scan begins where one stopped that ran out of memory.
$node->append_conf('postgresql.conf', <<'CONF');
jit = off
synchronize_seqscans = off
work_mem = 1MB
# simhash_pairs keeps its rows in memory, where no test says otherwise
hash_mem_multiplier = 100
max_parallel_workers_per_gather = 0
autovacuum = off
CONF
$node->start;

# Each two rows of docs are near-duplicates; those of path are all connected.
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simhash;
CREATE TABLE docs AS SELECT i AS id,
	(substr(md5((i / 2)::text), 1, 16)::simhash64::bigint # (i % 2))::simhash64 AS fp
FROM generate_series(0, 199999) i;
CREATE TABLE wide AS SELECT id, (fp::text || reverse(fp::text))::simhash128 AS fp FROM docs;
CREATE TABLE path AS SELECT i AS id, (i # (i >> 1))::bigint::simhash64 AS fp
FROM generate_series(0, 199999) i;
CREATE TABLE million AS SELECT i AS id, i::bigint::simhash64 AS fp
FROM generate_series(1, 1000000) i;
CREATE TABLE wide_half AS SELECT i AS id, lpad(to_hex(i), 32, '0')::simhash128 AS fp
FROM generate_series(1, 500000) i;
SQL
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');

my %statements = (
	'connected' => "SELECT max(c) FROM
		(SELECT simhash_cluster(fp, 3) OVER () AS c FROM docs) s",
	'leader' => "SELECT max(c) FROM
		(SELECT simhash_cluster(fp, 2, 'leader') OVER () AS c FROM path) s",
	'pairs, 128 bits' => "SELECT count(*) FROM (SELECT simhash_pairs('TABLE wide', 3)) s",
	'pairs of a part' => "SELECT count(*) FROM (SELECT simhash_pairs('TABLE docs', 3, 1, 2)) s",
	'pairs in FROM' => "SELECT count(*) FROM simhash_pairs('TABLE docs', 3) s",
	'components' => "SELECT max((c).cluster) FROM
		(SELECT simhash_components('SELECT id, id / 2 FROM docs WHERE id % 3 > 0') AS c) s",
	'components by leader' => "SELECT max((c).cluster) FROM
		(SELECT simhash_components('SELECT id, id / 2 FROM docs', 'leader') AS c) s");
# what each may add to the memory in use
my @megabytes = (1, 2, 4, 6, 9, 12, 16, 21);

# Where a stack cannot grow, no error can be raised: let it grow before.
my $begin = <<'SQL';
SELECT pg_backend_pid() AS pid \gset
\setenv PID :pid
\set VERBOSITY sqlstate
DO $$ BEGIN
	EXECUTE 'SELECT ' || repeat('(1 + ', 2000) || '1' || repeat(')', 2000);
END $$;
SQL
my $page = sysconf(_SC_PAGESIZE);

sub with_megabytes
{
	my ($statement, $megabytes) = @_;

	return "\\! prlimit --pid \$PID --as=\$((\$(cut -d ' ' -f 1 /proc/\$PID/statm)"
	  . " * $page + $megabytes * 1048576)):\n"
	  . "$statement;\n\\! prlimit --pid \$PID --as=unlimited:";
}

# Run lines of a session, which goes on after an error; return what they print, and errors.
sub run
{
	my ($out, $err) = ('', '');

	$node->psql('postgres', join("\n", $begin, @_, ''), on_error_stop => 0, stdout => \$out, stderr => \$err);
	return ($out, $err);
}

# Run the statement without and with each limit, in one session: each time it has
# the expected result or runs out of memory, which does occur.
for my $name (sort keys %statements)
{
	my $statement = $statements{$name};
	my $expected = $node->safe_psql('postgres', $statement);
	my @runs = map { with_megabytes($statement, $_) } @megabytes;
	my ($out, $err) = run("$statement;", @runs, "$statement;");
	my @results = split /\n/, $out;
	my @errors = split /\n/, $err;

	cmp_ok(scalar @errors, '>', 0, "$name: not enough for all");
	is(@results + @errors, @runs + 2, "$name: all have a result or an error");
	is_deeply([ grep { $_ ne $expected } @results ], [], "$name: right results");
	is_deeply([ grep { !/: ERROR:  53200$/ } @errors ], [], "$name: out of memory");
}

# A million rows, or half a million, take no more than documented, and a few
# megabytes for the rest.
my @needs = (
	[ 1, 32, 'SELECT max(c) FROM (SELECT simhash_cluster(fp, 3) OVER () AS c FROM million) s' ],
	[ 1, 44, "SELECT max(c) FROM
		(SELECT simhash_cluster(fp, 1, 'leader') OVER () AS c FROM million) s" ],
	[ 1, 36, "SELECT count(*) FROM (SELECT simhash_pairs('TABLE million', 0)) s" ],
	[ 0.5, 48, 'SELECT max(c) FROM (SELECT simhash_cluster(fp, 3) OVER () AS c FROM wide_half) s' ],
	[ 0.5, 68, "SELECT max(c) FROM
		(SELECT simhash_cluster(fp, 1, 'leader') OVER () AS c FROM wide_half) s" ],
	[ 0.5, 52, "SELECT count(*) FROM (SELECT simhash_pairs('TABLE wide_half', 0)) s" ],
	# the pairs take none, unless by leader
	[ 1, 24, "SELECT max((c).cluster) FROM (SELECT simhash_components(
		'SELECT id, id / n FROM million, generate_series(2, 5) n') AS c) s" ],
	[ 1, 28 + 8, "SELECT max((c).cluster) FROM (SELECT simhash_components(
		'SELECT id, id / 2 FROM million', 'leader') AS c) s" ]);
for my $needs (@needs)
{
	my ($millions, $bytes, $statement) = @$needs;

	is(join('', run(with_megabytes($statement, $millions * $bytes + 8))), $node->safe_psql('postgres', $statement),
		"$bytes bytes a row: " . $statement =~ s/\s+/ /gr);
}

# With less memory than that, simhash_pairs takes no more than it may, 1 MB, and a
# few for the rest.
for my $statement (
	"SELECT count(*) FROM (SELECT simhash_pairs('TABLE million', 1)) s",
	"SELECT count(*) FROM (SELECT simhash_pairs('TABLE million', 1, 0, 2)) s",
	"SELECT count(*) FROM (SELECT simhash_pairs('TABLE wide_half', 1)) s")
{
	is(join('', run('SET hash_mem_multiplier = 1;', with_megabytes($statement, 1 + 8))),
		$node->safe_psql('postgres', $statement), "within work_mem: $statement");
}

# What a statement takes for a row it gives back before the next one: 30,000
# rows, each of which begins a scan or calls a function, take 8 MB at most.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE source AS SELECT i AS id, substr(md5(i::text), 1, 16)::simhash64 AS fp
FROM generate_series(1, 30000) i;
CREATE TABLE refusing (id int, fp simhash64, EXCLUDE USING hamming (fp WITH %) WITH (blocks = 8));
CREATE TABLE one AS SELECT * FROM source LIMIT 1;
CREATE TABLE wide_source AS SELECT id, md5(id::text)::simhash128 AS fp FROM source;
CREATE TABLE wide_refusing (id int, fp simhash128, EXCLUDE USING hamming (fp WITH %));
SQL
my $file = $node->data_dir . '/source';
$node->safe_psql('postgres', "COPY source TO '$file'");
for my $statement (
	'INSERT INTO refusing TABLE source',
	'UPDATE refusing SET fp = (fp::bigint # 1)::simhash64',
	'INSERT INTO refusing TABLE source ON CONFLICT DO NOTHING',
	"TRUNCATE refusing; COPY refusing FROM '$file'",
	'SELECT count(*) FROM source s WHERE EXISTS (SELECT FROM refusing r WHERE r.fp <-> s.fp <= 3)',
	'SELECT count(*) FROM source s, LATERAL
		(SELECT FROM refusing r ORDER BY r.fp <-> s.fp LIMIT 1) n',
	'DO $$ BEGIN FOR i IN 1 .. 30000 LOOP
		PERFORM FROM refusing WHERE fp <-> i::bigint::simhash64 <= 3; END LOOP; END $$',
	'INSERT INTO wide_refusing TABLE wide_source',
	'INSERT INTO wide_refusing TABLE wide_source ON CONFLICT DO NOTHING',
	'SELECT count(*) FROM wide_source s WHERE EXISTS
		(SELECT FROM wide_refusing r WHERE r.fp <-> s.fp <= 7)',
	'SELECT count(*) FROM wide_source s, LATERAL
		(SELECT FROM wide_refusing r ORDER BY r.fp <-> s.fp LIMIT 1) n',
	'SELECT count(c) FROM (SELECT simhash_cluster(fp, 3) OVER (PARTITION BY id) AS c FROM source) s',
	'SELECT count(c) FROM (SELECT simhash_cluster(fp, 3) OVER (PARTITION BY id) AS c FROM wide_source) s',
	"SELECT count(*) FROM source s, LATERAL simhash_pairs('TABLE one', s.id % 65)",
	"SELECT count(*) FROM source, LATERAL simhash_components('SELECT 1, ' || id, 'leader')",
	"SELECT count(*) FROM source, LATERAL simhash_features(id::text || ' and more')",
	'SELECT count(*) FROM wide_source, LATERAL simhash_features_hashes_128(ARRAY[fp::uuid]) u',
	"SELECT count(*) FROM source, LATERAL minhash_passages(repeat(id || ' and more ', 9), mean_length => 3)",
	"SELECT count(*) FROM (SELECT minhash_passages_128(id || ' and more') FROM source) s",
	"SELECT count(*) FROM source, LATERAL simhash_audit('SELECT 1, fp, ''a'' FROM one, generate_series(1, 3)', id)",
	"SELECT count(simhash(id || ' and more')) + count(simhash(id || ' ', tf => 'log'))
		+ count(simhash_128(id || ' and more')) FROM source",
	"SELECT count(minhash(id || ' and more')) + count(minhash(id::text, '{\"1\": 0}'))
		+ count(minhash_128(id || ' and more')) FROM source",
	"SELECT count(text_jaccard(id || ' a b', id || ' b c', '{\"a\": 0}')) FROM source",
	"SELECT count(text_cosine(id || ' a b', id || ' b c', '{\"a\": 2}', tf => 'log')) FROM source",
	"SELECT count(*) FROM source, LATERAL (SELECT minhash_agg(t), minhash_agg_128(t)
		FROM unnest(ARRAY[id::text, 'a']) t) s",
	"SELECT count(simhash(id::text, format('{\"%s\": 2}', id)::simhash_weights)) FROM source",
	"SELECT count(*) FROM source, LATERAL (SELECT simhash_idf(t), simhash_agg(t), simhash_agg_128(t)
		FROM unnest(ARRAY[id::text, 'a']) t) s")
{
	my (undef, $err) = run('SET enable_seqscan = off;', with_megabytes($statement, 8));

	is($err, '', 'memory of each row is given back: ' . $statement =~ s/\s+/ /gr);
}

# Of a text of two million words, all different, no more is kept than work_mem
# has room for, 1 MB: beside the text, of which two need 64 MB for their words.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE long (body text);
ALTER TABLE long ALTER body SET STORAGE EXTERNAL;
INSERT INTO long SELECT string_agg(i::text, ' ') FROM generate_series(1, 2000000) i;
SQL
my $megabytes = $node->safe_psql('postgres', 'SELECT octet_length(body) / 1048576 + 1 FROM long');
for my $call (
	'simhash(body)', "simhash_128(body, tf => 'log')", 'simhash(body, \'{"1": 2}\')',
	'minhash_128(body)', '(SELECT count(*) FROM minhash_passages(body))', 'text_jaccard(body, $$a$$)', 'text_cosine(body, $$a$$)')
{
	is(join('', run(with_megabytes("SELECT $call FROM long", $megabytes + 8))),
		$node->safe_psql('postgres', "SET work_mem = '256MB'; SELECT $call FROM long"), "within work_mem: $call");
}

# A text that might be too long for a row is not shown.
$node->safe_psql('postgres', "CREATE DATABASE latin1 ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
$node->safe_psql('latin1', 'CREATE EXTENSION simhash');
for my $long (
	[ 'latin1', 'SELECT count(*), count(feature) FROM simhash_features(repeat(chr(233), 140000000))', '1|0' ],
	[ 'postgres', "SELECT count(*), count(feature) FROM simhash_features(repeat('x', 300000000))", '1|1' ])
{
	my ($database, $statement, $expected) = @$long;

	is($node->safe_psql($database, $statement), $expected, "long: $statement");
}

# A join takes 1.5 times work_mem at most, as the system counts it: here of rows
# that would take 12 times work_mem.  Shared memory does not count, nor what the
# session takes before.
$node->safe_psql('postgres', <<'SQL');
CREATE TABLE spilled AS SELECT i AS id, hashint8extended(i, 1)::simhash64 AS fp
FROM generate_series(1, 2500000) i;
SQL
my $memory = "\\! grep -E 'VmHWM|RssShmem' /proc/\$PID/status";

# What a statement prints, and by how many kB it grows the memory in use, beside
# shared memory, above that of a small one, with the same work_mem.
sub run_within
{
	my ($work_mem, $small, $statement) = @_;
	my ($out, $errors) = run("SET work_mem = '$work_mem'; SET hash_mem_multiplier = 1;",
		'SET enable_nestloop = off;', "$small;", '\! echo 5 > /proc/$PID/clear_refs', $memory, 'BEGIN;',
		"$statement;", 'ROLLBACK;', $memory);
	my @kilobytes = $out =~ /^\w+:\s+(\d+) kB$/mg;
	is($errors, '', 'no error');
	is(scalar @kilobytes, 4, 'the memory is known');
	return ($out, $kilobytes[2] - $kilobytes[3] - ($kilobytes[0] - $kilobytes[1]));
}

my $delete = 'EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) DELETE FROM spilled a WHERE EXISTS
	(SELECT FROM spilled b WHERE a.fp <-> b.fp <= 3 AND b.id < a.id)';
my ($plan, $used) = run_within('16MB', "$delete AND a.id < 9", $delete);
like($plan, qr/Delete on.*Delete on.*HammingJoin.*Semi.*Disk Usage: \d{6}/s, 'a join spills');
cmp_ok($used, '<', 1.5 * 16384, "memory of a join: $used kB");

# An audit of 300,000 rows would take 14 MB without files.  Half of the rows have
# a partner by their texts, and a fifth by their fingerprints alone.
my $audit = q{SELECT sum(pairs) > 0 FROM simhash_audit($$SELECT id, hashint8extended(id / (1 + id %% 5), 1)::simhash64,
	'some ' || md5(CASE WHEN id %% 4 < 2 THEN id / 4 ELSE -id END::text) FROM spilled WHERE id <= %d$$,
	sample => 100, max_distance => 3)};
(undef, $used) = run_within('2MB', sprintf($audit, 1000), sprintf($audit, 300000));
cmp_ok($used, '<', 1.5 * 2048, "memory of an audit: $used kB");
# Of rows that are drawn it keeps 32 bytes each, however many distances there are.
$audit = q{SELECT count(*) FROM simhash_audit('SELECT id, fp, id::text FROM spilled WHERE id <= %d',
	sample => 1000000, max_distance => 20)};
(undef, $used) = run_within('2MB', sprintf($audit, 1000), sprintf($audit, 50000));
cmp_ok($used, '<', 1.5 * 2048 + 50000 * 32 / 1024, "memory of a large sample: $used kB");

is($node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()'),
	$started, 'the server has not crashed');
$node->stop;
done_testing();
