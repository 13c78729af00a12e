# What each release has written is read by all later versions: a data directory
# with fingerprints, statistics, indexes and WAL, made by t/data/make.  Replay of
# the WAL, searches and checks find what the release found.  New rows come in
# beside the old ones.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

plan skip_all => 'the data directories are of PostgreSQL 15'
  if PostgreSQL::Test::Cluster->new('version')->pg_version->major != 15;

for my $file (glob 't/data/*.tar.xz')
{
	my ($release) = $file =~ m{([^/]+)\.tar\.xz$};
	my $node = PostgreSQL::Test::Cluster->new($release);
	my $backups = $node->backup_dir;

	system_or_bail('mkdir', '-p', $backups);
	system_or_bail('tar', '-xJf', $file, '-C', $backups);
	$node->init_from_backup($node, 'data');
	$node->start;
	like(slurp_file($node->logfile), qr/redo done/, "the WAL of $release is replayed");

	# by the hamming and GiST indexes, by the others, and by sequential scans
	for my $setting (
		'SET enable_seqscan = off',
		'SET enable_seqscan = off; BEGIN; DROP INDEX docs_fp, docs_wide',
		'SET enable_indexscan = off; SET enable_bitmapscan = off')
	{
		is( $node->safe_psql(
				'template1', qq{
				SET jit = off;
				$setting;
				SELECT query FROM answers WHERE rows_of(query) IS DISTINCT FROM answer}),
			'', "the answers are those of $release: $setting");
	}
	is( $node->safe_psql(
			'template1', q{
			SELECT indexrelname FROM pg_stat_user_indexes WHERE idx_scan > 0 AND indexrelname <> 'docs_pkey' ORDER BY 1}),
		"docs_fp\ndocs_fp_btree\ndocs_late\ndocs_wide\ndocs_wide_hash\ngist_fp",
		'the searches have used the indexes');
	cmp_ok($node->safe_psql('template1', 'SELECT count(*) FROM answers WHERE answer <> query'),
		'>', 30, 'there are answers');
	check_indexes($node, "as $release has left them");
	is( $node->safe_psql(
			'template1', q{
			SELECT id FROM docs WHERE fp IS DISTINCT FROM minhash(body_of(n))
				OR wide IS DISTINCT FROM simhash_128(body_of(n))}),
		'', "the texts have the fingerprints of $release");

	$node->safe_psql(
		'template1', q{
		INSERT INTO docs SELECT i, i FROM generate_series(2001, 3000) i;
		DELETE FROM docs WHERE id % 3 = 0;
		VACUUM docs;
		UPDATE docs SET n = n - 5 WHERE id % 4 = 0});
	check_indexes($node, 'after changes');
	my $answers = q{
		SELECT string_agg(rows_of(query), ',' ORDER BY query) FROM answers WHERE query ~ '^SELECT id'};
	is( $node->safe_psql('template1', "SET enable_seqscan = off; SET jit = off; $answers"),
		$node->safe_psql('template1', "SET enable_indexscan = off; SET jit = off; $answers"),
		'indexes and sequential scans agree after changes');
	my ($result, $out, $err) =
	  $node->psql('template1', 'INSERT INTO refused (body) SELECT body FROM refused LIMIT 1');
	like($err, qr/violates exclusion constraint/, 'the constraint refuses a row');
	$node->stop;
}

sub check_indexes
{
	my ($node, $when) = @_;

	is( $node->safe_psql(
			'template1', q{
			SELECT c.relname, hamming_index_check(c.oid) FROM pg_class c JOIN pg_am a ON a.oid = c.relam
			WHERE a.amname = 'hamming' AND c.relkind = 'i' ORDER BY 1}),
		"docs_fp|\ndocs_late|\ndocs_wide|\nrefused_fp_excl|\nunlogged_fp_idx|",
		"the indexes are sound $when");
	return;
}

done_testing();
