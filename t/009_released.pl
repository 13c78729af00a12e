# What each release has written is read by all later versions: the files of tables
# and indexes, made by t/data/make.  Here they are put in the place of empty ones.
# Their pages are the same in each version of PostgreSQL, as pg_upgrade needs them.
# Searches and checks find what the release found.  New rows come in beside the old ones.

use strict;
use warnings;

use File::Copy qw(copy);
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

for my $file (glob 't/data/*.tar.xz')
{
	my ($release) = $file =~ m{([^/]+)\.tar\.xz$};
	my $node = PostgreSQL::Test::Cluster->new($release);
	my $files = PostgreSQL::Test::Utils::tempdir;

	# pages without checksums, as the files have them
	$node->init(extra => [ '--locale=C', '--encoding=UTF8',
			$node->pg_version->major < 18 ? () : '--no-data-checksums' ]);
	$node->append_conf('postgresql.conf', "autovacuum = off\njit = off");
	$node->start;
	$node->safe_psql('postgres', slurp_file("t/data/$release.sql"));
	system_or_bail('tar', '-xJf', $file, '-C', $files);
	$node->safe_psql('postgres', "COPY answers FROM '$files/answers'");
	my %path = map { split / / } split /\n/, $node->safe_psql(
		'postgres', q{
		SELECT relname || ' ' || pg_relation_filepath(oid) FROM pg_class
		WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i') AND relname <> 'answers'});
	is_deeply([ sort map { "$files/$_" } 'answers', keys %path ], [ sort glob "$files/*" ],
		"$release has a file of each table and index");
	$node->stop;
	for my $name (keys %path)
	{
		my $path = $node->data_dir . "/$path{$name}";

		unlink glob "${path}_*";
		copy("$files/$name", $path) or die "cannot copy $name: $!";
	}
	# a page has the end of its last change in the WAL, which may not be in the future
	system_or_bail('pg_resetwal', '-l', '000000010000000100000000', $node->data_dir);
	$node->start;
	$node->safe_psql('postgres', 'ANALYZE');

	# by the hamming and GiST indexes, by the others, and by sequential scans
	for my $setting (
		'SET enable_seqscan = off',
		'SET enable_seqscan = off; BEGIN; DROP INDEX docs_fp, docs_wide',
		'SET enable_indexscan = off; SET enable_bitmapscan = off')
	{
		is( $node->safe_psql(
				'postgres', qq{
				$setting;
				SELECT query FROM answers WHERE rows_of(query) IS DISTINCT FROM answer}),
			'', "the answers are those of $release: $setting");
	}
	is( $node->safe_psql(
			'postgres', q{
			SELECT relname FROM pg_class
			WHERE relkind = 'i' AND relnamespace = 'public'::regnamespace AND pg_stat_get_numscans(oid) = 0
			ORDER BY 1}),
		"empty_fp\nempty_wide\nrefused_fp_excl",
		'the searches have used the indexes');
	is( $node->safe_psql(
			'postgres', q{
			SELECT height, rows, nulls, free_pages > 1 FROM hamming_index_stats('pages_fp')}),
		'3|2998|999|t', 'there are pages of three levels, of NULLs, and free ones');
	cmp_ok($node->safe_psql('postgres', 'SELECT count(*) FROM answers WHERE answer <> query'),
		'>', 30, 'there are answers');
	check_indexes($node, "as $release has left them");
	is( $node->safe_psql(
			'postgres', q{
			SELECT id FROM docs WHERE fp IS DISTINCT FROM minhash(body_of(n))
				OR wide IS DISTINCT FROM simhash_128(body_of(n))}),
		'', "the texts have the fingerprints of $release");

	$node->safe_psql(
		'postgres', q{
		INSERT INTO docs SELECT i, i FROM generate_series(2001, 3000) i;
		INSERT INTO empty SELECT fp, wide FROM docs;
		DELETE FROM docs WHERE id % 3 = 0;
		VACUUM docs;
		UPDATE docs SET n = n - 5 WHERE id % 4 = 0});
	check_indexes($node, 'after changes');
	my $answers = q{
		SELECT string_agg(rows_of(query), ',' ORDER BY query) FROM answers WHERE query ~ '^SELECT id'};
	is( $node->safe_psql('postgres', "SET enable_seqscan = off; $answers"),
		$node->safe_psql('postgres', "SET enable_indexscan = off; $answers"),
		'indexes and sequential scans agree after changes');
	my ($result, $out, $err) =
	  $node->psql('postgres', 'INSERT INTO refused (body) SELECT body FROM refused LIMIT 1');
	like($err, qr/violates exclusion constraint/, 'the constraint refuses a row');
	$node->safe_psql('postgres', 'REINDEX SCHEMA public');
	check_indexes($node, 'made anew');
	$node->stop;
}

sub check_indexes
{
	my ($node, $when) = @_;

	is( $node->safe_psql(
			'postgres', q{
			SELECT c.relname, hamming_index_check(c.oid) FROM pg_class c JOIN pg_am a ON a.oid = c.relam
			WHERE a.amname = 'hamming' AND c.relkind = 'i' ORDER BY 1}),
		"docs_fp|\ndocs_late|\ndocs_wide|\nempty_fp|\nempty_wide|\n" . join('', map { "narrow_$_|\n" } 3, 6, 7, 8)
		  . "pages_fp|\nrefused_fp_excl|\n" . join("\n", map { "wide_$_|" } 3, 6, 7, 8),
		"the indexes are sound $when");
	return;
}

done_testing();
