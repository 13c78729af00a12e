# What each release has written is read by all later versions: a data directory
# with fingerprints, statistics, indexes and WAL, made by t/data/make.  Replay of
# the WAL, searches and checks find what the release found.  New rows come in
# beside the old ones.  The install script of a release stays as it is, and so do its
# test vectors.

use strict;
use warnings;

use Digest::MD5 qw(md5_hex);
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
			SELECT relname FROM pg_class
			WHERE relkind = 'i' AND relnamespace = 'public'::regnamespace AND pg_stat_get_numscans(oid) = 0
			ORDER BY 1}),
		"refused_fp_excl\nunlogged_fp_idx",
		'the searches have used the indexes');
	is( $node->safe_psql(
			'template1', q{
			SELECT height, rows, nulls, free_pages > 1 FROM hamming_index_stats('pages_fp')}),
		'3|2998|999|t', 'there are pages of three levels, of NULLs, and free ones');
	cmp_ok($node->safe_psql('template1', 'SELECT count(*) FROM answers WHERE answer <> query'),
		'>', 30, 'there are answers');
	check_indexes($node, "as $release has left them");
	is( $node->safe_psql(
			'template1', q{
			SELECT id FROM docs WHERE fp IS DISTINCT FROM minhash(body_of(n))
				OR wide IS DISTINCT FROM simhash_128(body_of(n))}),
		'', "the texts have the fingerprints of $release");

	my %contents = map { ($_ => $node->safe_psql('template1', "SELECT contents FROM files WHERE name = '$_'")) }
	  ("sql/simhash--$release.sql", 'sql/vectors.sql');
	my %vectors = map { ($_ => 1) } split /\n/, slurp_file('sql/vectors.sql');
	is(md5_hex(slurp_file("sql/simhash--$release.sql") =~ s/\n$//r), $contents{"sql/simhash--$release.sql"},
		"the install script of $release");
	is(join("\n", grep { !$vectors{$_} } split /\n/, $contents{'sql/vectors.sql'}),
		'', "the vectors of $release");

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
		"docs_fp|\ndocs_late|\ndocs_wide|\n" . join('', map { "narrow_$_|\n" } 3, 6, 7, 8)
		  . "pages_fp|\nrefused_fp_excl|\nunlogged_fp_idx|\n" . join("\n", map { "wide_$_|" } 3, 6, 7, 8),
		"the indexes are sound $when");
	return;
}

done_testing();
