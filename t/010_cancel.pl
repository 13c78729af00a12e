# A cancel takes effect wherever it comes: what a statement still does after it
# is a small part of what it does in all.  Both are measured in processor time of
# its own backend, in the same run, so that neither the speed of the machine nor
# what else it does matters.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

plan skip_all => 'set SIMHASH_TEST_EXTRA for tests that take long' if !$ENV{SIMHASH_TEST_EXTRA};
plan skip_all => 'needs /proc' if !-e '/proc/self/stat';

# Each statement is canceled when it has done these parts of its work.  After the
# cancel it may use $may_take of the time of all of its work, as it frees memory, too.
my @parts = (0.1, 0.5, 0.9);
my $may_take = 0.2;
# Ticks, of a hundredth of a second as a rule, that a statement takes at least, so
# that the part which it may take is more than the error of a measurement.
my $least_ticks = 10;

my $node = PostgreSQL::Test::Cluster->new('cancel');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
# What the leader method finds depends on the order of the rows.  A synchronized
# scan begins where a canceled one stopped.
$node->append_conf('postgresql.conf', <<'CONF');
jit = off
synchronize_seqscans = off
max_parallel_workers_per_gather = 0
max_parallel_maintenance_workers = 0
maintenance_work_mem = 256MB
work_mem = 256MB
autovacuum = off
CONF
$node->start;

# Each two rows of docs are near-duplicates; those of path are all connected, and
# those of equal have one fingerprint.
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simhash;
CREATE TABLE docs AS SELECT i AS id,
	(hashint8extended(i / 2, 1) # (i % 2))::simhash64 AS fp
FROM generate_series(0, 999999) i;
CREATE TABLE wide AS SELECT id, (fp::text || reverse(fp::text))::simhash128 AS fp FROM docs WHERE id < 300000;
CREATE TABLE path AS SELECT i AS id, (i # (i >> 1))::bigint::simhash64 AS fp
FROM generate_series(0, 499999) i;
CREATE TABLE equal AS SELECT i AS id, 7::bigint::simhash64 AS fp FROM generate_series(1, 30000) i;
CREATE TABLE indexed AS SELECT * FROM docs WHERE id < 300000;
CREATE INDEX indexed_3 ON indexed USING hamming (fp) WITH (blocks = 3);
CREATE INDEX equal_8 ON equal USING hamming (fp) WITH (blocks = 8);
CREATE TABLE texts (marks text, words text, letters text);
ALTER TABLE texts ALTER marks SET STORAGE EXTERNAL, ALTER words SET STORAGE EXTERNAL,
	ALTER letters SET STORAGE EXTERNAL;
INSERT INTO texts SELECT 'e' || repeat(U&'\0323\0301', 5000000),
	(SELECT string_agg(md5(i::text), ' ') FROM generate_series(1, 400000) i), repeat('x', 30000000);
SQL

my %statements = (
	'connected' => 'SELECT max(c) FROM (SELECT simhash_cluster(fp, 3) OVER () AS c FROM docs) s',
	'connected, far' => 'SELECT max(c) FROM
		(SELECT simhash_cluster(fp, 15) OVER () AS c FROM docs WHERE id < 60000) s',
	'connected, 128 bits' => 'SELECT max(c) FROM (SELECT simhash_cluster(fp, 12) OVER () AS c FROM wide) s',
	'pairs, 128 bits' => "SELECT count(*) FROM (SELECT simhash_pairs('TABLE wide', 12)) s",
	'join, 128 bits' => 'SELECT count(*) FROM wide a JOIN wide b ON a.fp <-> b.fp <= 8',
	'leader' => "SELECT max(c) FROM
		(SELECT simhash_cluster(fp, 2, 'leader') OVER () AS c FROM path) s",
	'leader, far' => "SELECT max(c) FROM
		(SELECT simhash_cluster(fp, 15, 'leader') OVER () AS c FROM docs WHERE id < 60000) s",
	'pairs' => "SELECT count(*) FROM (SELECT simhash_pairs('TABLE docs', 3)) s",
	'pairs of a part' => "SELECT count(*) FROM (SELECT simhash_pairs('TABLE docs', 3, 1, 2)) s",
	'pairs, far' => "SELECT count(*) FROM
		(SELECT simhash_pairs('SELECT * FROM docs WHERE id < 60000', 15)) s",
	'pairs in FROM' => "SELECT count(*) FROM simhash_pairs('SELECT * FROM docs WHERE id < 500000', 3) s",
	'pairs of equal rows' => "SELECT count(*) FROM
		(SELECT simhash_pairs('SELECT * FROM equal WHERE id < 2500', 3)) s",
	'pairs of which none comes' => "SELECT count(*) FROM
		(SELECT simhash_pairs('SELECT 1, fp FROM equal', 3)) s",
	'join' => 'SELECT count(*) FROM docs a JOIN docs b ON a.fp <-> b.fp <= 3',
	'join, far' => 'SELECT count(*) FROM docs a JOIN docs b ON a.fp <-> b.fp <= 15
		WHERE a.id < 60000 AND b.id < 60000',
	'join of equal rows' => 'SELECT count(*) FROM equal a JOIN equal b ON a.fp <-> b.fp <= 3
		WHERE a.id < 2500 AND b.id < 2500',
	'join, of which no row passes' => 'SELECT count(*) FROM equal a JOIN equal b ON a.fp <-> b.fp <= 3
		AND a.id + b.id < 0 WHERE a.id < 2500 AND b.id < 2500',
	'join, on disk' => "SET work_mem = '4MB'; SELECT count(*), sum(a.id - b.id)
		FROM docs a JOIN docs b ON a.fp <-> b.fp <= 3 WHERE a.id < 300000 AND b.id < 300000",
	'left join' => 'SELECT count(b.id) FROM docs a LEFT JOIN docs b ON a.fp <-> b.fp <= 3 AND b.id < 10000',
	'semi join' => 'SELECT count(*) FROM docs a
		WHERE EXISTS (SELECT FROM docs b WHERE a.fp <-> b.fp <= 3 AND a.id <> b.id)',
	'semi join, on disk' => "SET work_mem = '4MB'; SELECT count(*) FROM docs a
		WHERE EXISTS (SELECT FROM docs b WHERE a.fp <-> b.fp <= 3 AND a.id < b.id AND b.id < 300000)
			AND a.id < 300000",
	'anti join of equal rows' => 'SELECT count(*) FROM equal a WHERE a.id < 2500
		AND NOT EXISTS (SELECT FROM equal b WHERE a.fp <-> b.fp <= 3 AND a.id + b.id < 0 AND b.id < 2500)',
	'components' => "SELECT max((c).cluster) FROM (SELECT simhash_components(
		'SELECT id, hashint8(id + n) FROM docs, generate_series(1, 3) n') AS c) s",
	'components by leader' => "SELECT max((c).cluster) FROM (SELECT simhash_components(
		'SELECT id, hashint8(id + n) & 1048575 FROM docs, generate_series(1, 3) n', 'leader') AS c) s",
	'components of equal pairs' => "SELECT max((c).cluster) FROM (SELECT simhash_components(
		'SELECT 1, 2 FROM docs, generate_series(1, 4)', 'leader') AS c) s",
	'distances' => "SELECT sum(pairs) FROM simhash_distances('docs', 'fp', 25000)",
	'index searches' => 'SET enable_seqscan = off; SET simhash.enable_hammingjoin = off;
		SELECT count(*) FROM indexed a JOIN indexed b ON b.fp <-> a.fp <= 10 WHERE a.id < 2000',
	'index search of equal rows' => 'SET enable_seqscan = off; SET simhash.enable_hammingjoin = off;
		SELECT count(*) FROM generate_series(1, 300) i
		JOIN equal ON fp <-> (i % 2)::bigint::simhash64 <= 3',
	'index order' => "SET enable_seqscan = off; SELECT sum(id) FROM
		(SELECT i.id FROM generate_series(1, 3) n, LATERAL
			(SELECT id FROM indexed ORDER BY fp <-> hashint8extended(n, 1)::simhash64) i) s",
	'index check' => "SELECT hamming_index_check('indexed_3')",
	'index statistics' => "SELECT count(hamming_index_stats('indexed_3')) FROM generate_series(1, 8)",
	'a combining sequence' => 'SELECT simhash(marks) FROM texts',
	'words' => 'SELECT simhash(repeat(words, 10), words => 3) FROM texts',
	'characters' => 'SELECT simhash(letters, chars => 4) FROM texts',
	'distinct words' => "SET work_mem = '256kB'; SELECT simhash(words) FROM texts",
	'minima of words' => 'SELECT minhash(repeat(words, 10)) FROM texts',
	'words of two texts' => "SET work_mem = '256kB'; SELECT text_jaccard(words, letters, words => 1) FROM texts",
	'features' => 'SELECT count(*) FROM (SELECT simhash_features(words) FROM texts) s',
	'passages' => 'SELECT count(*) FROM texts, minhash_passages(repeat(words, 10))',
	'weights of words' => 'SELECT simhash_idf(words, 1) IS NULL FROM texts',
	'an index' => 'BEGIN; SET LOCAL max_parallel_maintenance_workers = 0;
		CREATE INDEX ON docs USING hamming (fp); ROLLBACK',
	'an index, on disk' => "BEGIN; SET LOCAL max_parallel_maintenance_workers = 0;
		SET LOCAL maintenance_work_mem = '2MB'; CREATE INDEX ON docs USING hamming (fp); ROLLBACK",
	'an index, in parallel' => 'BEGIN; ALTER TABLE docs SET (parallel_workers = 1);
		SET LOCAL max_parallel_maintenance_workers = 1;
		CREATE INDEX ON docs USING hamming (fp); ROLLBACK');

# Processor time that a process has used, in ticks.
sub ticks
{
	my ($pid) = @_;
	my @fields = split / /, slurp_file("/proc/$pid/stat") =~ s/.*\) //sr;

	return $fields[11] + $fields[12];
}

# Run a statement, in a new session, which ends with its result or an error, and
# then waits.  Cancel it when it has used some ticks, if any are given.  What it
# says, and the ticks that it has used in all and since the cancel.
sub run_statement
{
	my ($statement, $cancel_at) = @_;
	my ($in, $out) = ('', '');
	my $session = IPC::Run::start(
		[ 'psql', '-X', '-q', '-A', '-t', '-v', 'VERBOSITY=sqlstate', $node->connstr('postgres') ],
		'<', \$in, '>', \$out, '2>&1',
		my $timeout = IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	my ($pid, $begin, $canceled);

	$in = "SELECT 'pid ' || pg_backend_pid();\n";
	$session->pump until $out =~ /^pid (\d+)\n/;
	$pid = $1;
	$begin = ticks($pid);
	$out = '';
	# psql says the end: a query could be what the cancel comes to
	$in = "$statement;\n\\echo the end\n";
	while ($out !~ /^the end$/m)
	{
		$session->pump_nb;
		if (defined $cancel_at && !defined $canceled && ticks($pid) - $begin >= $cancel_at)
		{
			$canceled = ticks($pid);
			kill 'INT', $pid;
		}
		usleep(2000);
	}
	my $end = ticks($pid);
	$in = "\\q\n";
	$session->finish;
	return ($out =~ s/\n?the end\n//r, $end - $begin, defined $canceled ? $end - $canceled : undef);
}

for my $name (sort keys %statements)
{
	my ($result, $ticks) = run_statement($statements{$name});
	my ($latest, @wrong) = (0);

	cmp_ok($ticks, '>=', $least_ticks, "$name: work enough to be measured")
	  or diag $result;
	for my $part (@parts)
	{
		my ($said, undef, $after) = run_statement($statements{$name}, $part * $ticks);

		# it may have done all of its work by then
		push @wrong, "$part: $said, without a cancel $result"
		  if $said !~ /ERROR:  57014/ && !($part > 0.6 && $said eq $result);
		$latest = $after if defined $after && $after > $latest;
	}
	is_deeply(\@wrong, [], "$name: canceled, whenever the cancel comes");
	cmp_ok($latest, '<=', $may_take * $ticks + 2, "$name: soon, $latest of $ticks ticks");
}

# A vacuum that is canceled, again and again, while it takes out fingerprints leaves
# a sound index, and the next one goes on.
for my $blocks (3, 8)
{
	my ($said, $canceled) = ('', 0);

	$node->safe_psql('postgres', <<SQL);
CREATE TABLE vacuumed AS SELECT * FROM docs WHERE id < 200000 AND id % 4 <> 3;
CREATE INDEX vacuumed_fp ON vacuumed USING hamming (fp) WITH (blocks = $blocks);
DELETE FROM vacuumed WHERE id % 4 < 2;
SQL
	for my $ticks (2, 3, 4, 8, 16, 0)
	{
		my ($code, $out, $err);

		($said) = run_statement('VACUUM (INDEX_CLEANUP on, TRUNCATE off) vacuumed', $ticks || undef);
		$canceled++ if $said =~ /ERROR:  57014/;
		($code, $out, $err) = $node->psql('postgres', "SELECT hamming_index_check('vacuumed_fp')");
		is("$code$out$err", '0', "$blocks blocks, vacuum canceled after $ticks ticks: a sound index");
	}
	is($said, '', "$blocks blocks: the last vacuum was not canceled");
	cmp_ok($canceled, '>=', 2, "$blocks blocks: others were");
	is( $node->safe_psql('postgres',
			"SELECT rows, fingerprints, free_pages > 0 FROM hamming_index_stats('vacuumed_fp')"),
		'50000|50000|t', "$blocks blocks: nothing else is left");
	$node->safe_psql('postgres', 'DROP TABLE vacuumed');
}

$node->stop;
done_testing();
