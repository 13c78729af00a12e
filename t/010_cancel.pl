# A cancel takes effect soon, wherever it comes.  A build with t/interrupts.c counts
# steps, so that neither the speed of the machine nor what else it does matters:
# script/test makes it.

use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use lib $FindBin::Bin;
use Statements;

plan skip_all => 'needs a build that counts steps' if !$ENV{SIMHASH_TEST_INTERRUPTS};

# Steps between two interrupts, at most, where texts are read, and where none are; a
# statement takes many times more, in thousands, so that a loop without interrupts does
# not hide.  A loop over all of many rows may do no more than fill an array.
my $most_steps_of_texts = 2_500_000;
my $most_steps = 400_000;
my $least_work = 10_000;

my $node = PostgreSQL::Test::Cluster->new('cancel');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', <<'CONF');
jit = off
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
FROM generate_series(0, 99999) i;
CREATE TABLE many AS SELECT i AS id, hashint8extended(i, 1)::simhash64 AS fp FROM generate_series(1, 180000) i;
CREATE TABLE wide AS SELECT id, (fp::text || reverse(fp::text))::simhash128 AS fp FROM docs WHERE id < 20000;
CREATE TABLE path AS SELECT i AS id, (i # (i >> 1))::bigint::simhash64 AS fp
FROM generate_series(0, 59999) i;
CREATE TABLE equal AS SELECT i AS id, 7::bigint::simhash64 AS fp FROM generate_series(1, 6000) i;
CREATE TABLE indexed AS SELECT * FROM docs WHERE id < 60000;
CREATE INDEX indexed_3 ON indexed USING hamming (fp) WITH (blocks = 3);
CREATE INDEX equal_8 ON equal USING hamming (fp) WITH (blocks = 8);
CREATE TABLE texts (marks text, words text, letters text);
ALTER TABLE texts ALTER marks SET STORAGE EXTERNAL, ALTER words SET STORAGE EXTERNAL,
	ALTER letters SET STORAGE EXTERNAL;
INSERT INTO texts SELECT 'e' || repeat(U&'\0323\0301', 300000),
	(SELECT string_agg(md5(i::text), ' ') FROM generate_series(1, 40000) i), repeat('x', 3000000);
SQL

$node->safe_psql('postgres', q{CREATE DATABASE cyrillic ENCODING 'WIN1251' LOCALE 'C' TEMPLATE template0});
$node->safe_psql('cyrillic', 'CREATE EXTENSION simhash');

my %statements = (
	'connected' => 'SELECT max(c) FROM (SELECT simhash_cluster(fp, 3) OVER () AS c FROM docs) s',
	'connected, far' => 'SELECT max(c) FROM
		(SELECT simhash_cluster(fp, 15) OVER () AS c FROM docs WHERE id < 12000) s',
	'connected, 128 bits' => 'SELECT max(c) FROM (SELECT simhash_cluster(fp, 12) OVER () AS c FROM wide) s',
	'pairs of many rows' => "SELECT count(*) FROM (SELECT simhash_pairs('TABLE many', 0)) s",
	'leader of many rows' => "SELECT max(c) FROM (SELECT simhash_cluster(fp, 0, 'leader') OVER () AS c FROM many) s",
	'pairs, 128 bits' => "SELECT count(*) FROM (SELECT simhash_pairs('TABLE wide', 12)) s",
	'join, 128 bits' => 'SELECT count(*) FROM wide a JOIN wide b ON a.fp <-> b.fp <= 8',
	'leader' => "SELECT max(c) FROM
		(SELECT simhash_cluster(fp, 2, 'leader') OVER () AS c FROM path) s",
	'leader, far' => "SELECT max(c) FROM
		(SELECT simhash_cluster(fp, 15, 'leader') OVER () AS c FROM docs WHERE id < 12000) s",
	'one fingerprint' => 'SELECT max(c) FROM (SELECT simhash_cluster(repeat(\'7\', 16 + id / 1000000)::simhash64, 3) OVER () AS c FROM many) s',
	'checked: reading to a file' => "SET work_mem = '1MB'; SELECT max(c) FROM
		(SELECT simhash_cluster(fp, 0, 'leader', repeat(md5(id::text), 3), 0.5) OVER () AS c FROM docs) s",
	'checked: equal texts' => "SET work_mem = '1MB'; SELECT max(c) FROM
		(SELECT simhash_cluster(fp, 0, 'connected', 'one text of some words', 0.5) OVER () AS c FROM equal, generate_series(1, 9)) s",
	'checked: equal texts without a word' => "SELECT max(c) FROM
		(SELECT simhash_cluster(fp, 0, 'leader', repeat('-', 300 + id / 10000), 0.5) OVER () AS c FROM equal, generate_series(1, 9)) s",
	'checked: leaders' => "SELECT max(c) FROM (SELECT simhash_cluster(fp, 3, 'leader', id || ' a b', 0.9) OVER () AS c FROM equal WHERE id < 2500) s",
	'checked: connected' => "SELECT max(c) FROM (SELECT simhash_cluster(fp, 3, 'connected', id || ' a b', 0.9) OVER () AS c FROM equal WHERE id < 2500) s",
	'checked: leaders of a path' => "SELECT max(c) FROM (SELECT simhash_cluster(fp, 2, 'leader', 'a b ' || id / 7, 0.5, 1) OVER () AS c FROM path) s",
	'checked: a connected path' => "SELECT max(c) FROM (SELECT simhash_cluster(fp, 2, 'connected', 'a b ' || id / 7, 1, 1) OVER () AS c FROM path) s",
	'checked: large texts' => "SELECT max(c) FROM (SELECT simhash_cluster('0000000000000007', 0, 'leader', body, 0.5) OVER () AS c
		FROM texts, LATERAL (VALUES (repeat(words, 5)), (repeat(words, 5) || ' a'), (letters), (repeat('-', 3000000)), (letters || ' ')) v (body)) s",
	'checked: many features' => "SELECT max(c) FROM (SELECT simhash_cluster('0000000000000007', 0, 'leader', body, 0.5, 1) OVER () AS c
		FROM (SELECT string_agg(i::text, ' ') FROM generate_series(1, 520000) i) texts (long), LATERAL (VALUES (long), (long || ' a'), (long || ' b')) v (body)) s",
	'checked: large texts, on disk' => "SET work_mem = '256kB'; SELECT max(c) FROM (SELECT simhash_cluster('0000000000000007', 0, 'connected', body, 0.5) OVER () AS c
		FROM texts, LATERAL (VALUES (repeat(words, 2)), (repeat(words, 2) || ' a'), (letters), (letters || ' ')) v (body)) s",
	'pairs' => "SELECT count(*) FROM (SELECT simhash_pairs('TABLE docs', 3)) s",
	'pairs of a part' => "SELECT count(*) FROM (SELECT simhash_pairs('TABLE docs', 3, 1, 2)) s",
	'pairs, far' => "SELECT count(*) FROM
		(SELECT simhash_pairs('SELECT * FROM docs WHERE id < 11000', 15)) s",
	'pairs in FROM' => "SELECT count(*) FROM simhash_pairs('SELECT * FROM docs WHERE id < 60000', 3) s",
	'pairs of equal rows' => "SELECT count(*) FROM
		(SELECT simhash_pairs('SELECT * FROM equal WHERE id < 2500', 3)) s",
	'pairs of which none comes' => "SELECT count(*) FROM
		(SELECT simhash_pairs('SELECT 1, fp FROM equal WHERE id < 2500', 3)) s",
	'join' => 'SELECT count(*) FROM docs a JOIN docs b ON a.fp <-> b.fp <= 3',
	'join, far' => 'SELECT count(*) FROM docs a JOIN docs b ON a.fp <-> b.fp <= 15
		WHERE a.id < 6000 AND b.id < 6000',
	'join of equal rows' => 'SELECT count(*) FROM equal a JOIN equal b ON a.fp <-> b.fp <= 3
		WHERE a.id < 1000 AND b.id < 1000',
	'join, of which no row passes' => 'SELECT count(*) FROM equal a JOIN equal b ON a.fp <-> b.fp <= 3
		AND a.id + b.id < 0 WHERE a.id < 1000 AND b.id < 1000',
	'join of one key' => 'SELECT count(*) FROM many a JOIN many b ON a.fp <-> b.fp <= 0 AND a.id / 1000000 = b.id / 1000000',
	'join, on disk' => "SET work_mem = '4MB'; SELECT count(*), sum(a.id - b.id)
		FROM docs a JOIN docs b ON a.fp <-> b.fp <= 3 WHERE a.id < 60000 AND b.id < 60000",
	'left join' => 'SELECT count(b.id) FROM docs a LEFT JOIN docs b ON a.fp <-> b.fp <= 3 AND b.id < 10000',
	'semi join' => 'SELECT count(*) FROM docs a
		WHERE EXISTS (SELECT FROM docs b WHERE a.fp <-> b.fp <= 3 AND a.id <> b.id)',
	'semi join, on disk' => "SET work_mem = '4MB'; SELECT count(*) FROM docs a
		WHERE EXISTS (SELECT FROM docs b WHERE a.fp <-> b.fp <= 3 AND a.id < b.id AND b.id < 60000)
			AND a.id < 60000",
	'anti join of equal rows' => 'SELECT count(*) FROM equal a WHERE a.id < 1000
		AND NOT EXISTS (SELECT FROM equal b WHERE a.fp <-> b.fp <= 3 AND a.id + b.id < 0 AND b.id < 1000)',
	'components' => "SELECT max((c).cluster) FROM (SELECT simhash_components(
		'SELECT id, hashint8(id + n) FROM docs, generate_series(1, 3) n') AS c) s",
	'components by leader' => "SELECT max((c).cluster) FROM (SELECT simhash_components(
		'SELECT id, hashint8(id + n) & 1048575 FROM docs, generate_series(1, 3) n', 'leader') AS c) s",
	'components of equal pairs' => "SELECT max((c).cluster) FROM (SELECT simhash_components(
		'SELECT 1, 2 FROM docs, generate_series(1, 4)', 'leader') AS c) s",
	'audit' => "SELECT sum(pairs) FROM simhash_audit('SELECT id, fp, repeat(id || '' '', 20) FROM docs WHERE id < 10000')",
	'audit of all' => "SELECT sum(pairs) FROM simhash_audit('SELECT id, fp, '''' FROM docs WHERE id < 5000', 5000)",
	'index searches' => 'SET enable_seqscan = off; SET simhash.enable_hammingjoin = off;
		SELECT count(*) FROM indexed a JOIN indexed b ON b.fp <-> a.fp <= 10 WHERE a.id < 300',
	'index search of equal rows' => 'SET enable_seqscan = off; SET simhash.enable_hammingjoin = off;
		SELECT count(*) FROM generate_series(1, 200) i
		JOIN equal ON fp <-> (i % 2)::bigint::simhash64 <= 3',
	'index order' => "SET enable_seqscan = off; SELECT sum(id) FROM
		(SELECT i.id FROM generate_series(1, 9) n, LATERAL
			(SELECT id FROM indexed ORDER BY fp <-> hashint8extended(n, 1)::simhash64) i) s",
	'index check' => "SELECT hamming_index_check('indexed_3') FROM generate_series(1, 2)",
	'index statistics' => "SELECT count(hamming_index_stats('indexed_3')) FROM generate_series(1, 8)",
	'a combining sequence' => 'SELECT simhash(marks) FROM texts',
	'words' => 'SELECT simhash(repeat(words, 10), words => 3) FROM texts',
	'characters' => 'SELECT simhash(letters, chars => 4) FROM texts',
	'distinct words' => "SET work_mem = '256kB'; SELECT simhash(repeat(words, 3)) FROM texts",
	'minima of words' => 'SELECT minhash(repeat(words, 10)) FROM texts',
	'words of two texts' => "SET work_mem = '256kB'; SELECT text_jaccard(repeat(words, 2), letters, words => 1) FROM texts",
	'features' => 'SELECT count(*) FROM (SELECT simhash_features(repeat(words, 2)) FROM texts) s',
	'passages' => 'SELECT count(*) FROM texts, minhash_passages(repeat(words, 6))',
	'a long key of weights' => q{SELECT ('{"' || repeat('word ', 800000) || '": 1}')::simhash_weights},
	'a feature in another encoding' => '\connect cyrillic
		SELECT length(feature) FROM simhash_features(repeat(chr(230), 500000))',
	'weights of words' => 'SELECT simhash_idf(repeat(words, 2), 1) IS NULL FROM texts',
	'an index' => 'BEGIN; SET LOCAL max_parallel_maintenance_workers = 0;
		CREATE INDEX ON docs USING hamming (fp); ROLLBACK',
	'an index, on disk' => "BEGIN; SET LOCAL max_parallel_maintenance_workers = 0;
		SET LOCAL maintenance_work_mem = '2MB'; CREATE INDEX ON docs USING hamming (fp); ROLLBACK",
	'an index, in parallel' => 'BEGIN; ALTER TABLE docs SET (parallel_workers = 1);
		SET LOCAL max_parallel_maintenance_workers = 1;
		CREATE INDEX ON docs USING hamming (fp); ROLLBACK');

my @names = sort keys %statements;
my @runs = run_counted($node, 0, @statements{@names});
for my $name (@names)
{
	my ($said, $steps, $gap) = @{ shift @runs };

	note "$name: $steps thousand steps, $gap without an interrupt";
	# other processes may do most of it
	cmp_ok($steps, '>=', $least_work, "$name: enough work") || diag $said
	  if $name !~ /parallel/;
	cmp_ok($gap, '<=', $statements{$name} =~ /texts|chr|simhash_weights/ ? $most_steps_of_texts : $most_steps,
		"$name: an interrupt is never far");
}

# What would take long ends when it is canceled, by a team, too, of which nothing is left.
$node->safe_psql('postgres', 'DROP INDEX equal_8;
	INSERT INTO equal SELECT i, 7::bigint::simhash64 FROM generate_series(1, 100000) i');
my $team = 'SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET max_parallel_workers_per_gather = 2;
	SET simhash.report_progress = on';
my @endless = (
	'SELECT count(*) FROM equal a JOIN equal b ON a.fp <-> b.fp <= 3 AND a.id + b.id < 0',
	"SELECT count(*) FROM (SELECT simhash_pairs('SELECT 1, fp FROM equal', 3)) s",
	"SELECT count(*) FROM simhash_audit('SELECT id, fp, ''a b c d e'' FROM equal', 2147483647)",
	"$team; SELECT count(*) FROM simhash_pairs('TABLE many', 15)",
	"$team; SELECT count(*) FROM many a JOIN many b ON a.fp <-> b.fp <= 15 AND a.id < b.id",
	"$team; SELECT max(c) FROM (SELECT simhash_cluster(fp, 15, 'leader') OVER () AS c FROM many) s",
	"$team; SELECT max(c) FROM (SELECT simhash_cluster(fp, 12, 'leader', id::text, 0.5) OVER () AS c FROM many) s",
	"SET work_mem = '64kB'; SELECT max(c) FROM (SELECT simhash_cluster(fp, 3, 'leader', id::text, 0.5) OVER () AS c FROM equal) s",
	"SET work_mem = '64kB'; SELECT max(c) FROM (SELECT simhash_cluster(fp, 3, 'connected', id::text, 0.5) OVER () AS c FROM equal) s");
for my $run (run_counted($node, 100_000, @endless))
{
	my ($said) = @$run;
	my $statement = shift @endless;

	like($said, qr/ERROR:  57014/, "$statement: canceled");
	like($said, qr/2 workers planned, 2 launched/, 'a team was at work') if $statement =~ /\A\Q$team/;
}
is( $node->safe_psql('postgres', "SELECT (SELECT count(*) FROM pg_ls_dir('base/pgsql_tmp', true, false)),
		(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'parallel worker')"),
	'0|0', 'no file and no worker is left');

# A vacuum that is canceled, again and again, while it takes out fingerprints leaves a
# sound index, and may leave fingerprints without rows.  It does not keep the next one,
# for which there are no files, from removing rows, and fingerprints of these.
$ENV{PGOPTIONS} = '-c maintenance_work_mem=1MB -c temp_file_limit=0';
for my $blocks (3, 8)
{
	my ($said, $canceled) = ('ERROR:  57014', -1);
	my ($code, $out, $err);

	$node->safe_psql('postgres', <<SQL);
CREATE TABLE vacuumed AS SELECT * FROM docs WHERE id < 40000 AND id % 4 <> 3;
SET temp_file_limit = -1;
CREATE INDEX vacuumed_fp ON vacuumed USING hamming (fp) WITH (blocks = $blocks);
DELETE FROM vacuumed WHERE id % 4 < 2;
SQL
	for (my $thousands = 50; $said =~ /ERROR:  57014/; $thousands *= 2)
	{
		my ($run) = run_counted($node, $thousands, 'VACUUM (INDEX_CLEANUP on, TRUNCATE off) vacuumed');
		$said = $run->[0];
		$canceled++;
		($code, $out, $err) = $node->psql('postgres', "SET temp_file_limit = -1; SELECT hamming_index_check('vacuumed_fp')");
		is("$code$out", '0', "$blocks blocks, vacuum canceled at $thousands thousand steps: a sound index");
	}
	is($said, '', "$blocks blocks: the last vacuum was not canceled");
	cmp_ok($canceled, '>=', 4, "$blocks blocks: others were");
	like($err, qr/NOTICE:  block tree 2 .* fingerprints without rows\n/, "$blocks blocks: these have left fingerprints");
	is($node->safe_psql('postgres', <<SQL), "10000|t|t\n\n0|t|t\n10000|10000|f", "$blocks blocks: nothing else is left");
SELECT rows, fingerprints BETWEEN 10000 AND 30000, free_pages > 0 FROM hamming_index_stats('vacuumed_fp');
CREATE TABLE vacuumed_before AS SELECT fingerprints - rows AS without_rows FROM hamming_index_stats('vacuumed_fp');
CREATE TABLE alive AS SELECT * FROM vacuumed;
DELETE FROM vacuumed;
VACUUM (INDEX_CLEANUP on, TRUNCATE off) vacuumed;
SET client_min_messages = warning;
SELECT hamming_index_check('vacuumed_fp');
SELECT rows, fingerprints = without_rows, free_pages > 0 FROM hamming_index_stats('vacuumed_fp'), vacuumed_before;
INSERT INTO vacuumed SELECT * FROM alive;
SET temp_file_limit = -1;
REINDEX INDEX vacuumed_fp;
SELECT rows, fingerprints, free_pages > 0 FROM hamming_index_stats('vacuumed_fp');
DROP TABLE vacuumed, vacuumed_before, alive;
SQL
}
delete $ENV{PGOPTIONS};

$node->stop;
done_testing();
