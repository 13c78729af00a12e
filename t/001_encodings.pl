# The same text has the same fingerprint in a database of any encoding.

use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use lib $FindBin::Bin;
use Statements;

my $node = PostgreSQL::Test::Cluster->new('encodings');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->start;

# UTF-8 that the client sends, whatever the database has
local $ENV{PGCLIENTENCODING} = 'UTF8';
my %texts = (
	LATIN1 => "Stra\xc3\x9fe, CAF\xc3\x89 na\xc3\xafve \xc2\xbd 5\xc2\xb5m",
	EUC_JP => "\xe6\x9d\xb1\xe4\xba\xac\xe9\x83\xbd\xe3\x81\xab PostgreSQL"
	  . "\xe3\x82\xab\xe3\x82\xbf",
	SQL_ASCII => "caf\xc3\xa9 na\xc3\xafve \xe6\x9d\xb1\xe4\xba\xac");
my @forms = ("simhash('%s')", "simhash('%s', words => 2)",
	"simhash('%s', chars => 3)", "simhash_tokens(ARRAY['%s', 'b'])",
	"simhash(repeat('%s ', 20000), words => 3)");

# Tests of what queries give, each [ database, query, expected, name ].  Where nothing is
# expected, it is what the query gives in the database postgres.
sub test
{
	my (@tests) = @_;
	my @found = run_batch($node, map { [ @$_[ 0, 1 ] ] } @tests);
	my @there = run_batch($node, map { [ 'postgres', $_->[1] ] } grep { !defined $_->[2] } @tests);

	for (@tests)
	{
		my ($out, $err) = @{ shift @found };

		is($out . $err, $_->[2] // (shift @there)->[0], $_->[3]);
	}
	return;
}

my @encodings = sort keys %texts;
$node->safe_psql('postgres', join ';', 'CREATE EXTENSION simhash',
	map { "CREATE DATABASE in_$_ ENCODING '$_' LOCALE 'C' TEMPLATE template0" } @encodings, 'EUC_JIS_2004');
$node->safe_psql("in_\L$_", 'CREATE EXTENSION simhash') for @encodings, 'EUC_JIS_2004';
for my $encoding (@encodings)
{
	my @queries = map { 'SELECT ' . sprintf $_, $texts{$encoding} } @forms;

	test(map { [ "in_\L$encoding", $_, undef, "$encoding: " . substr $_, 7, 40 ] } @queries);
	test([ "in_\L$encoding", "SELECT count(*) FROM (VALUES " . join(', ', map { "(($_)::text)" } @queries)
		. ') s (fp) WHERE fp ~ \'^[0-9a-f]{16}$\'', scalar @queries, "$encoding: fingerprints" ]);
}

# Features are shown in the database's encoding.  The normalisation of a micro
# sign is a Greek letter, which Latin-1 lacks, and so are accents of their own.
is( $node->safe_psql(
		'in_latin1',
		"SELECT feature, count FROM simhash_features('CAF\xc3\x89 \xc2\xb5m \xc2\xb5m don\xc2\xb4t')"),
	"caf\xc3\xa9|1\n|2\ndon|1\n|1",
	'features in LATIN1');
# What is shown gives its hash.
is( $node->safe_psql(
		'in_latin1', q{
		SELECT count(feature) > 150, count(*) - count(feature),
			count(*) FILTER (WHERE simhash_tokens(CASE WHEN feature IS NOT NULL THEN ARRAY[feature] END)::bigint <> hash)
		FROM (SELECT string_agg(chr(i) || ' x' || chr(i) || 'y', ' ') AS body FROM generate_series(160, 255) i) b,
			(VALUES (1, NULL), (2, NULL), (NULL, 3)) o(words, chars),
			simhash_features(body, words => words, chars => chars)}),
	't|58|0', 'the hash of a feature that is shown');
is( $node->safe_psql(
		'in_euc_jp',
		"SELECT feature FROM simhash_features('\xe6\x9d\xb1\xe4\xba\xac x')"),
	"\xe6\x9d\xb1\xe4\xba\xac\nx",
	'features in EUC_JP');

# A wrong argument is said before a text is read, which has a character that Unicode lacks.
my (undef, undef, $wrong) = $node->psql('in_euc_jp', q{
	SELECT text_cosine(b, b, NULL, NULL, NULL, 'wrong') FROM (SELECT convert_from('\xa3fe', 'EUC_JP')) s (b)});
like($wrong, qr/tf must be/, 'tf comes before the texts');

# Passages are shown in the database's encoding, and are where substr() finds them.
for my $encoding (@encodings)
{
	my $body = "'$texts{$encoding}' || E'\\n-- ' || repeat('$texts{$encoding}, and $texts{$encoding}', 3000)";

	test([ "in_\L$encoding",
			"SELECT count(*) > 1000, string_agg(substr(body, start, length), '' ORDER BY place) = body
			FROM (SELECT $body) s (body), minhash_passages(body, mean_length => 5) GROUP BY body",
			't|t', "passages in $encoding" ],
		[ "in_\L$encoding",
			"SELECT count(*) > 1000, count(*) FILTER (WHERE minhash(passage) IS DISTINCT FROM fp)
			FROM minhash_passages($body, mean_length => 5) WHERE passage IS NOT NULL",
			't|0', "fingerprints of passages in $encoding" ],
		[ "in_\L$encoding", "SELECT place, fp FROM minhash_passages($body, mean_length => 5)", undef,
			"the same passages in $encoding" ]);
}
is( $node->safe_psql('in_latin1', "SELECT place, start, length, passage IS NULL FROM minhash_passages('5 \xc2\xb5m')"),
	'1|1|4|t',
	'a passage that LATIN1 lacks');

# EUC_JIS_2004 has some characters that are two code points: as \xe3\x81\x8b\xe3\x82\x9a,
# a letter and a mark.  They are shown, but for a feature that begins with the mark, which it
# does not have alone; also where a long passage is converted in pieces.
my $ka = "\xe3\x81\x8b\xe3\x82\x9a";
is( $node->safe_psql(
		'in_euc_jis_2004',
		"SELECT feature, feature IS NULL,
			simhash_tokens(CASE WHEN feature IS NOT NULL THEN ARRAY[feature] END)::bigint <> hash
		FROM simhash_features('a $ka$ka')"),
	"a|f|f\n$ka|f|f\n|t|",
	'features in EUC_JIS_2004');
is( $node->safe_psql(
		'in_euc_jis_2004', "
		SELECT count(*), count(*) FILTER (WHERE minhash(passage, chars => 3) IS DISTINCT FROM fp)
		FROM generate_series(65520, 65540) n,
			minhash_passages('\xc3\xa9' || repeat('x', n) || repeat('$ka', 40000), chars => 3)"),
	'42|0', 'passages in EUC_JIS_2004');

# Clusters whose texts are compared: those that the definition and a database in UTF-8 have.
for my $encoding (@encodings)
{
	my $text = $texts{$encoding};
	my $rows = "(VALUES (1, '$text'), (2, '$text'), (3, '$text x'), (4, 'x $text $text'), (5, '-'), (6, '-'), (7, lower('$text')),
		(8, repeat('$text ', 3000)), (9, reverse('abc')), (10, repeat('$text ', 2999) || 'abc')) r (id, body)";
	my $clusters = "SELECT id, simhash_cluster(fp, 1, 'leader', body, 0.6, 2) OVER w, simhash_cluster(fp, 1, 'connected', body, 0.6, 2) OVER w
		FROM $rows, LATERAL (SELECT (id % 2)::bigint::simhash64 AS fp) f WINDOW w AS (ORDER BY id)";

	test([ "in_\L$encoding", $clusters, undef, "clusters in $encoding" ],
		[ "in_\L$encoding",
			"SELECT bool_and((number = 1) = coalesce(text_jaccard('$text', body, words => 2) >= 0.6, false)), count(DISTINCT number) > 3
			FROM ($clusters) c (id, number, connected) JOIN $rows USING (id)",
			't|t', "the cluster of the first text in $encoding" ]);
}
# A text is read where it is compared with another one: one whose character Unicode lacks is not
# read where it is near no other.
my $lacking = "SELECT simhash_cluster(fp::bigint::simhash64, 1, 'leader', convert_from('\\xa3fe', 'EUC_JP'), 0.5) OVER () FROM generate_series";
is($node->safe_psql('in_euc_jp', "$lacking(0, 7, 7) fp"), "1\n2", 'a text that is compared with none');
for my $step (0, 1)
{
	my (undef, undef, $err) = $node->psql('in_euc_jp', "\\set VERBOSITY sqlstate\n$lacking(0, 1) s (n), LATERAL (SELECT n * $step) v (fp)");
	like($err, qr/ERROR:  22P05$/, "two texts, $step apart, with a character that Unicode lacks");
}

# PostgreSQL converts MULE_INTERNAL to few encodings.
my $mule = $node->psql('postgres', "CREATE DATABASE in_mule ENCODING 'MULE_INTERNAL' LOCALE 'C' TEMPLATE template0");
SKIP:
{
	skip 'no MULE_INTERNAL', 2 if $mule != 0;
	local $ENV{PGCLIENTENCODING} = 'SQL_ASCII';

	$node->safe_psql('in_mule', 'CREATE EXTENSION simhash');
	like(
		($node->psql('in_mule', "\\set VERBOSITY sqlstate\nSELECT minhash('a')"))[2],
		qr/ERROR:  42883$/, 'a text in MULE_INTERNAL');
	is($node->safe_psql('in_mule', "SELECT simhash_hashes('{1}')"), '0000000000000001', 'hashes in MULE_INTERNAL');
}

# Weights are shown so, too, but that JSON has an escape for what the encoding lacks.
for my $weights (
	[ 'in_latin1', "{\"\xc2\xb5m\": 0, \"CAF\xc3\x89\": 3}",
		"{\"caf\xc3\xa9\": 3, \"\\u03bcm\": 0}", "5 \xc2\xb5m Caf\xc3\xa9" ],
	[ 'in_euc_jp', "{\"\xe6\x9d\xb1\xe4\xba\xac\": 2}",
		"{\"\xe6\x9d\xb1\xe4\xba\xac\": 2}", "\xe6\x9d\xb1\xe4\xba\xac\xe9\x83\xbd" ],
	[ 'in_euc_jis_2004', "{\"$ka\": 2}", "{\"$ka\": 2}", "$ka$ka" ],
	[ 'in_sql_ascii', "{\"\xc3\x89\": 2}", "{\"\xc3\xa9\": 2}", "\xc3\x89 a b" ])
{
	my ($database, $input, $output, $text) = @$weights;

	test([ $database, "SELECT '$input'::simhash_weights", $output, "weights in $database" ],
		[ $database, "SELECT w = w::text::simhash_weights FROM (SELECT simhash_idf('$text', 1)) s(w)",
			't', "idf in $database" ],
		[ $database, "SELECT simhash('$text', '$input')", undef, "the same weights in $database" ]);
}
like(
	($node->psql('in_latin1', "SELECT simhash_idf('5 \xc2\xb5m', 1)::jsonb"))[2],
	qr/unsupported Unicode escape sequence|cannot be translated|no equivalent/i,
	'jsonb in LATIN1 cannot have that character');

# In SQL_ASCII, bytes that are not valid UTF-8 are separators, also where a
# text is read in pieces: 65536 bytes each.
$ENV{PGCLIENTENCODING} = 'SQL_ASCII';
my %separators = (
	'continuation byte' => '\x80',
	'overlong' => '\xc0\xaf',
	'truncated' => '\xe6\x9d',
	'surrogate' => '\xed\xa0\x80',
	'above U+10FFFF' => '\xf4\x90\x80\x80',
	'no lead byte' => '\xff',
	'at the end' => '\xf0');
test(map { [ 'in_sql_ascii',
	"SELECT bool_and(simhash(repeat('a', n) || 'b' || E'$separators{$_}' || 'c' || E'$separators{$_}')
		= simhash(repeat('a', n) || 'b c'))
	FROM (SELECT 1 UNION ALL SELECT generate_series(65530, 65540)) s (n)",
	't', "$_ after so many bytes" ] } sort keys %separators);
# a character followed by bytes that look like more of it
test(map { [ 'in_sql_ascii',
	"SELECT bool_and(simhash(repeat(' ', n) || E'$_') = simhash(E'$_')) FROM generate_series(65520, 65540) n",
	't', "$_ at the end of a piece" ] } '\xe3\x81\x82\x80\x80\x80\x80', '\xf0\xa0\x80\x80\x80\x80\x80\x80');
is( $node->safe_psql(
		'in_sql_ascii',
		q{SELECT bool_and(simhash(repeat('x', n) || repeat(E'\xe6\x9d\xb1', 30000), tf => 'count')
			= simhash_tokens(ARRAY[repeat('x', n)] || array_fill(E'\xe6\x9d\xb1\xe6\x9d\xb1'::text, ARRAY[29999])))
		FROM generate_series(65530, 65540) n}),
	't',
	'pieces end between code points');

# Bytes that are no character are no word: texts of these alone are like no other.
is( $node->safe_psql(
		'in_sql_ascii',
		q{SELECT string_agg(simhash_cluster::text, ' ') FROM (SELECT simhash_cluster('0000000000000000', 0, 'leader', body, 0) OVER (ORDER BY n)
			FROM (VALUES (1, E'\xff\x80'), (2, E'\xff\x80'), (3, repeat(E'\xc0', 300) || 'a'), (4, repeat(E'\xff', 1000)),
				(5, repeat(E'\xff', 1000)), (6, repeat(E'\xc0', 300) || 'a'), (7, E'\xff b')) v (n, body)) s}),
	'1 2 3 4 5 3 3',
	'clusters of texts with bytes that are no character');

$node->stop;
done_testing();
