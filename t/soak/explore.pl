# The page that simhash_explore makes, in a real browser: it shows what the
# functions return, its statements run, and what is in a text stays text.

use strict;
use warnings;
use utf8;

use Encode qw(decode_utf8);
use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use lib $FindBin::Bin;
use Browser;

my ($right, $left, $home) = map { chr } 0xe014, 0xe012, 0xe011;
my $directory = PostgreSQL::Test::Utils::tempdir;
my $node = PostgreSQL::Test::Cluster->new('explore');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', 'autovacuum = off');
$node->start;

# 60 families of texts of 60 words, of which 0 to 5 differ: of some pairs it
# depends on k whether they are found, and on the words whether that is right.
$node->safe_psql('postgres', <<'SQL');
CREATE EXTENSION simhash;
CREATE TABLE docs (
	id int PRIMARY KEY, body text,
	fp simhash64 GENERATED ALWAYS AS (minhash(body)) STORED);
INSERT INTO docs (id, body)
SELECT 10 * family + copy, string_agg(
	substr(md5(family || ' ' || word || CASE WHEN word % 11 = 5 AND word < 11 * copy THEN ' ' || copy ELSE '' END),
		1, 6), ' ' ORDER BY word)
FROM generate_series(1, 60) family, generate_series(0, 5) copy, generate_series(1, 60) word
GROUP BY family, copy;
CREATE TABLE truth AS
SELECT a.id AS a, b.id AS b, text_jaccard(a.body, b.body, words => 3) AS similarity, simhash_distance(a.fp, b.fp) AS distance
FROM docs a JOIN docs b ON a.id < b.id;
CREATE TABLE batch (LIKE docs INCLUDING GENERATED);
INSERT INTO batch SELECT id + 10000, body FROM docs WHERE id < 20;
INSERT INTO batch SELECT id + 20000, right(body, 420 - 14 * (id % 10)) FROM docs WHERE id < 100;

CREATE TABLE nulls (id int, body text, fp simhash64);
INSERT INTO nulls SELECT id, body, fp FROM docs WHERE id < 30;
INSERT INTO nulls SELECT NULL, body, fp FROM docs WHERE id = 10;
INSERT INTO nulls VALUES (1, NULL, 255::numeric::simhash64), (2, 'without a fingerprint', NULL), (3, '', NULL);

CREATE TABLE wide AS SELECT id AS "Key", minhash_128(body) AS "the fp", body AS "Body" FROM docs;
CREATE TABLE lone AS SELECT id, fp, body FROM docs WHERE id % 10 = 0;
CREATE TABLE long AS SELECT id, minhash(body) AS fp, body
FROM (SELECT id, repeat('unbroken', 300) || ' ' || repeat(body || ' ', 20) AS body FROM docs WHERE id < 13) s;

CREATE TABLE uuids AS SELECT md5(id::text)::uuid AS id, fp, body FROM docs;
CREATE TABLE names AS SELECT 'it''s ' || id AS id, fp, body FROM uuids;

CREATE TABLE hostile (id int, fp simhash64, body text);
INSERT INTO hostile SELECT n, minhash(body), body FROM (
	SELECT n, E'</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"> '
		'</script x <!--<script> <script x \u2028\u2029 &lt;b&gt; \\u003cb> $& @nonce@ @data@ ' || body || ' ' || n AS body
	FROM docs, generate_series(1, 2) n WHERE id = 10) s;
INSERT INTO hostile SELECT n, minhash(body), body FROM (
	SELECT n, '<img src=x onerror="window.hacked = 1"> <b>short</b> text ' || n AS body FROM generate_series(3, 4) n) s;

CREATE SEQUENCE counter;
CREATE VIEW seen AS SELECT id, fp, body FROM docs;

CREATE DATABASE elsewhere;
CREATE DATABASE latin1 ENCODING 'LATIN1' TEMPLATE template0;
CREATE DATABASE without;
\c latin1
CREATE EXTENSION simhash;
CREATE TABLE docs AS SELECT id, minhash(body) AS fp, body
FROM (SELECT id, U&'caf\00e9 ' || id AS body FROM generate_series(1, 2) id) s;
\c elsewhere
CREATE SCHEMA "far away";
CREATE EXTENSION simhash SCHEMA "far away";
CREATE TABLE docs AS SELECT i AS id, "far away".minhash(body) AS fp, body FROM (
	SELECT i, 'the same words again ' || i % 7 AS body FROM generate_series(1, 50) i) s;
SQL

my $pages = 0;
my $program = 'simhash_explore';    # in the directory of psql, which is the first of PATH

# Make a page; its path, what psql says, and whether the script has failed.
sub make_page
{
	my ($database, @arguments) = @_;
	my $path = "$directory/page" . $pages++ . '.html';
	my $err = '';

	local @ENV{qw(PGHOST PGPORT PGDATABASE)} = ($node->host, $node->port, $database);
	my $ok = IPC::Run::run([ $program, @arguments ],
		'<', \undef, '>', $path, '2>', \$err);
	return ($path, $err, $ok);
}

# the path of a socket of chromium must be short
my $browser = Browser->new(PostgreSQL::Test::Utils::tempdir_short);
my $opened;

# Make a page and open it.
sub explore
{
	my ($path, $err, $ok) = make_page(@_);

	ok($ok, "page of $_[-1]") or diag($err);
	is($err =~ s/^.*NOTICE:  simhash_.*\n//gmr, '', 'nothing is said but progress');
	$browser->get("file://$path");
	$opened = "file://$path";
	return;
}

# What the page has done since it was opened.
sub is_quiet
{
	my ($name) = @_;
	my @requests = $browser->requests;

	is(join("\n", $browser->console), '', "$name: no error in the console");
	cmp_ok(scalar @requests, '>', 0, "$name: requests are seen");
	is(join("\n", grep { $_ ne $opened } @requests), '', "$name: no request but for the page");
	return;
}

sub shown
{
	return $browser->execute_script('return document.getElementById(arguments[0]).textContent', $_[0]);
}

sub commas
{
	my $n = reverse $_[0];
	$n =~ s/(\d{3})(?=\d)/$1,/g;
	return scalar reverse $n;
}

# as JavaScript rounds
sub rounded
{
	return sprintf '%.1f', 100 * $_[0] + 1e-9;
}

sub percent
{
	return $_[0] eq '' ? '–' : rounded($_[0]) . "\xa0%";
}

# Choose a k by keys.
sub choose
{
	my ($k) = @_;
	$browser->send_keys('#k', $home . $right x $k);
	return;
}

# The numbers for each k are those of simhash_audit(), with the same arguments.
sub has_numbers
{
	my ($name, $query, $most, $arguments) = @_;
	my (@expected, @got);

	for (split /\n/, $node->safe_psql('postgres', "SELECT * FROM simhash_audit(\$\$$query\$\$$arguments)"))
	{
		my ($k, $pairs, @rest) = split /\|/, $_, -1;

		push @expected, join ' ', $k, commas($pairs), map {
			$_->[0] eq '' ? (percent(''), '') :
			  (percent($_->[0]), $_->[1] == $_->[2] ? 'exact' : rounded($_->[1]) . '–' . rounded($_->[2]))
		} [ @rest[0 .. 2] ], [ @rest[3 .. 5] ], [ @rest[6 .. 8] ];
	}
	is(scalar @expected, $most + 1, "$name: distances");
	$browser->send_keys('#k', $home);
	for my $k (0 .. $most)
	{
		$browser->send_keys('#k', $right) if $k > 0;
		push @got, join ' ', @{ $browser->execute_script(
			'return [...arguments].map((id) => document.getElementById(id).textContent)',
			qw(chosen pairs precision precision-range related related-range recall recall-range)) };
	}
	is_deeply(\@got, \@expected, "$name: the numbers for each k");
	return;
}

# The statements that the page has, by name.
sub statements
{
	return %{ $browser->execute_script(q{
		return Object.fromEntries([...document.querySelectorAll('.statement')].map(
			(box) => [box.querySelector('h3').textContent, box.querySelector('pre').textContent]))}) };
}

# Run statements, and take back what they do.
sub try_sql
{
	my ($sql, $database) = @_;
	my ($out, $err);

	$node->psql($database // 'postgres', "BEGIN;\n$sql\nROLLBACK;",
		stdout => \$out, stderr => \$err, on_error_stop => 1);
	return $err || $out;
}

# How many pairs of a kind there are to read: the counts on the buttons, of which
# the first is what the page has.
sub counts
{
	return map { shown($_) =~ /(\d+)(?: of ([\d,]+))?$/; $2 // $1 } qw(miss false right);
}

#
# A table that has all: numbers, pairs, statements
#
my $query = 'SELECT id, fp, body FROM docs';
my $checked = $node->safe_psql('postgres',
	"SELECT min(max_distance) FROM simhash_audit(\$\$$query\$\$) WHERE recall_low >= 0.99");
explore('postgres', $query);
is($browser->execute_script('return document.title'), 'Which k?', 'it has a title');
cmp_ok($checked, '>', 0, 'a k that finds what is alike');
is(shown('chosen'), $checked, 'with it the page begins');

# that of a clone makes the same page, but for the time and the number used once
{
	my @made;

	for my $clone (0, 1)
	{
		$program = "$FindBin::Bin/../../script/explore" if $clone;
		my ($path) = make_page('postgres', $query);

		push @made, slurp_file($path) =~ s/"made" : "[^"]*"//r =~ s/\bnonce(=['"]|-)[0-9a-f]{32}/nonce/gr;
	}
	ok($made[0] eq $made[1], 'script/explore makes the same page');
	$program = 'simhash_explore';
}
has_numbers('docs', $query, 10, '');
like($browser->execute_script('return document.getElementById("facts").textContent'),
	qr/SELECT id, fp, body FROM docs.*360; fingerprints of 64 bits.*all rows/s, 'facts');
cmp_ok($browser->execute_script('return document.querySelectorAll("#curves circle").length'), '==', 11, 'a point for each k');
choose(4);
is($browser->execute_script('return document.querySelectorAll("#histogram .beyond").length'), 6, 'bars beyond k');

# what is alike and what is near, counted
for my $k (0, 3, 10)
{
	my $expected = $node->safe_psql('postgres', <<"SQL");
SELECT concat_ws(' ', count(*) FILTER (WHERE similarity >= 0.8 AND distance > $k),
	count(*) FILTER (WHERE similarity < 0.8 AND distance <= $k),
	count(*) FILTER (WHERE similarity >= 0.8 AND distance <= $k))
FROM truth
SQL
	choose($k);
	is(join(' ', counts()), $expected, "k = $k: misses, false matches and right pairs");
}

# reading: the misses come first, then the false matches, then the others
choose(3);
like(shown('place'), qr/^1 of \d+$/, 'the first pair');
my ($all) = shown('place') =~ /of (\d+)/;
my @seen;
# The first pairs by a user's keys, and the others by the page's own events, all in one call.
for my $i (1 .. 11)
{
	for (@{ $browser->execute_script(q{
		const marked = (text) => [...text.querySelectorAll('mark')].map((mark) => mark.textContent).join(' ');
		const seen = [];
		for (let i = 0; i < arguments[0]; i++) {
			if (i > 0)
				document.body.dispatchEvent(
					new KeyboardEvent('keydown', {key: i % 2 ? 'n' : 'ArrowRight', bubbles: true, cancelable: true}));
			const [a, b] = ['a', 'b'].map((side) => document.getElementById('text-' + side));
			seen.push([...['what', 'head-a', 'head-b'].map((id) => document.getElementById(id).textContent),
				a.textContent, b.textContent, marked(a), marked(b)]);
		}
		return seen}, $i < 11 ? 1 : $all - 10) })
	{
		my ($what, $a, $b, @texts) = @$_;
		my ($kind, $distance, $similarity) = $what =~ /^(\w+).* Distance (\d+), similarity ([\d.]+)\.$/;

		push @seen, [ $kind, $a =~ /(\d+)/, $b =~ /(\d+)/, $distance, $similarity, @texts ];
	}
	$browser->send_keys('body', $i % 2 ? 'n' : $right);
}
is(scalar @seen, $all, 'all pairs');
is(join(' ', map { $_->[0] } @seen) =~ s/(\w+)( \1)*/$1/gr, 'Missed False Right', 'the order of pairs');
is($seen[0][3] > 3 && $seen[0][3] <= $seen[1][3], 1, 'the nearest miss comes first');
my %body = map { split /\|/ } split /\n/, $node->safe_psql('postgres', 'SELECT id, body FROM docs');
my %truth = map { /^(.*?\|.*?)\|(.*)$/ } split /\n/, $node->safe_psql('postgres',
	'SELECT a, b, distance, floor(1000 * similarity::numeric) / 1000 FROM truth');
my $wrong = '';
for (@seen)
{
	my ($kind, $a, $b, $distance, $similarity, @rest) = @$_;
	my ($bits, $jaccard) = split /\|/, $truth{"$a|$b"};
	my ($body_a, $body_b) = @body{ $a, $b };
	my $expected = $jaccard < 0.8 ? 'False' : $bits > 3 ? 'Missed' : 'Right';
	my %in_a = map { $_ => 1 } split / /, $body_a;
	my %in_b = map { $_ => 1 } split / /, $body_b;
	my $only_a = join ' ', grep { !$in_b{$_} } split / /, $body_a;
	my $only_b = join ' ', grep { !$in_a{$_} } split / /, $body_b;

	$wrong .= "$a $b: $kind $distance $similarity\n"
	  if $kind ne $expected || $distance != $bits || $similarity != $jaccard ||
	  join('|', @rest) ne join '|', $body_a, $body_b, $only_a, $only_b;
}
is($wrong, '', 'what is shown of each pair, and the words that differ');
is(shown('place'), "$all of $all", 'keys have come to the last pair');
$browser->send_keys('body', 'n');
is(shown('place'), "$all of $all", 'and no farther');
$browser->send_keys('body', 'p');
$browser->send_keys('body', $left);
is(shown('place'), ($all - 2) . " of $all", 'and back');
$browser->click('#previous');
is(shown('place'), ($all - 3) . " of $all", 'by the button, too');
$browser->click('#false');
like(shown('what'), qr/^False match/, 'the first false match');
$browser->send_keys('#k', $right);
is(shown('chosen'), 4, 'an arrow in the slider moves k');
like(shown('place'), qr/^1 of/, 'and begins with the first pair');

# groups
my $sizes = $node->safe_psql('postgres', <<'SQL');
SELECT string_agg(size::text, ' ' ORDER BY size DESC) FROM (
	SELECT count(*) AS size
	FROM simhash_components('SELECT a, b FROM truth WHERE distance <= 4 AND similarity >= 0.8')
	GROUP BY cluster ORDER BY 1 DESC LIMIT 10) s
SQL
is($browser->execute_script(q{return [...document.querySelectorAll('#groups .chosen summary b')]
		.map((b) => b.textContent).join(' ')}), $sizes, 'the sizes of the groups');
is($browser->execute_script(q{return [...document.querySelectorAll('#groups h3')].map((h) => h.textContent).join(', ')}),
	'k = 2, k = 4, k = 6', 'groups at three distances');

# statements, each as it stands there; what compares the texts has its own k
for my $k (4, 8)
{
	choose($k);
	my %statement = statements();
	my ($row) = $statement{Search} =~ /a\.id = (\d+)/;
	my $copies = "SELECT count(*) FROM docs a JOIN docs b ON a.fp <-> b.fp <= $k AND a.id < b.id";

	is(join(', ', sort keys %statement),
		($k == 8 ? 'Constraint, ' : '') . 'Delete copies, Groups, ' . ($k == 8 ? '' : 'Insert, ') . 'Search',
		"k = $k: statements");
	is(try_sql($statement{Search}), $node->safe_psql('postgres', <<"SQL"), "k = $k: search");
SELECT b.id, simhash_distance(a.fp, b.fp) AS distance FROM docs a, docs b
WHERE a.id = $row AND b.id <> $row AND simhash_distance(a.fp, b.fp) <= $k ORDER BY 2, 1
SQL
	isnt(try_sql($statement{Search}), '', "k = $k: it finds something");
	is(try_sql(<<"SQL"), "t|t|t", "k = $k: delete");
CREATE TEMP TABLE before AS SELECT * FROM docs;
$statement{'Delete copies'}
SELECT (SELECT count(*) FROM docs) < (SELECT count(*) FROM before),
	NOT EXISTS (SELECT FROM docs a JOIN docs b ON a.id < b.id AND simhash_distance(a.fp, b.fp) <= $checked
		AND text_jaccard(a.body, b.body, words => 3) >= 0.8),
	NOT EXISTS (SELECT FROM before WHERE id NOT IN (SELECT id FROM docs) AND NOT EXISTS (
		SELECT FROM docs WHERE docs.id < before.id AND simhash_distance(docs.fp, before.fp) <= $checked
			AND text_jaccard(docs.body, before.body, words => 3) >= 0.8));
SQL
	is(try_sql(<<"SQL"), "$sizes", "k = $k: groups") if $k == 4;
CREATE TEMP VIEW found AS @{[ $statement{Groups} ]}
SELECT string_agg(size::text, ' ') FROM (SELECT size FROM found LIMIT 10) s;
SQL
	if ($k == 8)
	{
		like(try_sql("$statement{Constraint}"), qr/could not create exclusion constraint/,
			"k = $k: a constraint needs a table without copies");
		like(try_sql(<<"SQL"), qr/conflicting key value violates/, "k = $k: constraint");
DELETE FROM docs a USING docs b WHERE a.fp <-> b.fp <= $k AND a.id > b.id;
$statement{Constraint}
INSERT INTO docs SELECT 0, body || ' more' FROM docs LIMIT 1;
SQL
	}
	else
	{
		my $new = $node->safe_psql('postgres', <<"SQL");
SELECT string_agg(id::text, ' ' ORDER BY id) FROM batch
WHERE NOT EXISTS (SELECT FROM docs WHERE simhash_distance(docs.fp, batch.fp) <= $k)
SQL
		like($new, qr/^\d+( \d+)+$/, "k = $k: some rows of the batch are new");
		is(try_sql(<<"SQL"), $new, "k = $k: these are inserted");
$statement{Insert}
SELECT string_agg(id::text, ' ' ORDER BY id) FROM docs WHERE id > 9999;
SQL
	}
}
$browser->click('.statement button');
is($browser->execute_script('return getSelection().toString().trim()'), { statements() }->{Search} =~ s/\s+\z//r,
	'a copied statement is selected');

# how it looks
my $background = 'return getComputedStyle(document.body).backgroundColor.match(/\d+/g).map(Number)[0]';
sub emulate
{
	my ($scheme, $media) = @_;
	$browser->execute_cdp_cmd('Emulation.setEmulatedMedia',
		{ media => $media // '', features => [ { name => 'prefers-color-scheme', value => $scheme } ] });
	return $browser->execute_script($background);
}
cmp_ok(emulate('light'), '>', 200, 'light');
cmp_ok(emulate('dark'), '<', 60, 'dark');
is($browser->execute_script('return getComputedStyle(document.querySelector("#curves .precision .dot")).fill'),
	'rgb(86, 180, 233)', 'a colour of the dark scheme');
cmp_ok(emulate('dark', 'print'), '>', 200, 'printed on white');
is($browser->execute_script('return getComputedStyle(document.getElementById("k")).display'), 'none', 'without a slider');
emulate('light');

sub fits
{
	my ($name) = @_;
	my @wide;

	for my $width (360, 768, 1280)
	{
		$browser->execute_cdp_cmd('Emulation.setDeviceMetricsOverride',
			{ width => $width, height => 740, deviceScaleFactor => 1, mobile => JSON::PP::true });
		for my $k (0, 4, 10)
		{
			choose($k);
			my $needed = $browser->execute_script('return document.documentElement.scrollWidth');
			push @wide, "$width, k = $k: $needed" if $needed > $width;
			push @wide, "$width, k = $k: figures in several rows" if $browser->execute_script(
				'return new Set([...document.querySelectorAll(".figure")].map((one) => one.offsetTop)).size') != 1;
			push @wide, "shown at $needed" if $browser->execute_script('return innerWidth') != $width;
		}
	}
	is(join("\n", @wide), '', "$name: fits the width of a phone and of others");
	$browser->execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {});
	return;
}
fits('docs');
is_quiet('docs');

# nothing comes in from outside, even if a script gets in
is($browser->execute_async_script(q{
	const done = arguments[arguments.length - 1];
	document.addEventListener('securitypolicyviolation', (event) => done(event.effectiveDirective));
	fetch('http://127.0.0.1:9/').catch(() => setTimeout(() => done('none'), 2000))}),
	'connect-src', 'the page may not use the network');
is($browser->execute_script(q{
	const script = document.createElement('script');
	script.textContent = 'window.hacked = 1';
	document.body.append(script);
	document.body.insertAdjacentHTML('beforeend', '<svg onload="window.hacked = 1"></svg>');
	return window.hacked}), undef, 'nor run another script');
$browser->console;

#
# A sample, with all arguments
#
explore('postgres', qw(-v sample=100 -v threshold=0.7 -v chars=4 -v max_distance=12 -v seed=7), $query);
has_numbers('sample', $query, 12, ', sample => 100, threshold => 0.7, chars => 4, max_distance => 12, seed => 7');
like(shown('recall-range'), qr/^\d+\.\d–\d+\.\d$/, 'it has intervals');
like(shown('bands'), qr/confidence intervals/, 'and says so');
like(shown('facts'), qr/Sample100 rows/, 'how many rows were drawn');
like(shown('threshold'), qr/^70\xa0% of their runs of 4 characters$/, 'what is alike');
like({ statements() }->{'Delete copies'}, qr/text_jaccard\(a\.body, b\.body, chars => 4\) >= 0\.7$/m,
	'what a delete checks');
choose(4);
my %by_chars = statements();
unlike(try_sql($by_chars{$_}), qr/ERROR/, "chars: $_") for 'Delete copies', 'Groups';
is($browser->execute_script(q{return [...document.querySelectorAll('#groups .chosen summary b')]
		.map((b) => b.textContent).join(' ')}), $node->safe_psql('postgres', <<'SQL'), 'chars: groups by fingerprints alone');
SELECT string_agg(size::text, ' ' ORDER BY size DESC) FROM (
	SELECT count(*) AS size FROM (SELECT simhash_cluster(fp, 4) OVER () AS cluster FROM docs) c
	GROUP BY cluster HAVING count(*) > 1 ORDER BY 1 DESC LIMIT 10) s
SQL
is_quiet('sample');

explore('postgres', qw(-v threshold=0.6 -v words=2), $query);
like({ statements() }->{'Delete copies'}, qr/, 'leader', body, 0\.6, words => 2\) OVER /, 'words of a delete');
choose(6);
is($browser->execute_script(q{return [...document.querySelectorAll('#groups .chosen summary b')]
		.map((b) => b.textContent).join(' ')}), $node->safe_psql('postgres', <<'SQL'), 'words: groups');
SELECT string_agg(size::text, ' ' ORDER BY size DESC) FROM (
	SELECT count(*) AS size FROM simhash_components('SELECT a.id, b.id FROM docs a, docs b WHERE a.id < b.id
		AND simhash_distance(a.fp, b.fp) <= 6 AND text_jaccard(a.body, b.body, words => 2) >= 0.6')
	GROUP BY cluster ORDER BY 1 DESC LIMIT 10) s
SQL
is_quiet('words');

#
# A hostile text, in a query that is hostile, too
#
$query = "SELECT id, fp, body /* </script><b>\x{2028}&amp; */ FROM hostile -- ;";
explore('postgres', '-v', 'max_distance=64', Encode::encode_utf8($query));
is($browser->execute_script('return document.querySelector("#facts code").textContent'),
	"SELECT id, fp, body /* </script><b>\x{2028}&amp; */ FROM hostile --", 'the query is shown as it is');
choose(64);
is(shown('place'), '1 of 6', 'the pairs of the hostile texts');
my %seen;
for (1 .. 6)
{
	# all of it, the equal words, too
	$browser->execute_script('document.querySelectorAll(".text button").forEach((button) => button.click())');
	$seen{ shown("head-$_") } .= shown("text-$_") . "\n" for qw(a b);
	$browser->send_keys('body', 'n');
}
is_deeply(\%seen, { map { my $body = decode_utf8($node->safe_psql('postgres', "SELECT body FROM hostile WHERE id = $_"));
			("id $_" => "$body\n" x 3) } 1 .. 4 }, 'they are shown as they are');
like($browser->execute_script('return document.querySelector("#groups .chosen summary span").textContent'),
	qr{</script><script>window\.hacked = 1</script><img src=x}, 'a line in a group, too');
is($browser->execute_script('return window.hacked'), undef, 'nothing of it has run');
is($browser->execute_script('return document.images.length + " " + document.scripts.length'), '0 2', 'nor become markup');
is_quiet('hostile');

#
# Other tables
#
explore('postgres', 'SELECT id, fp, body FROM nulls WHERE true;');
like(shown('facts'), qr/Rows16, 4 of them without/, 'rows with a NULL are counted');
like(shown('names'), qr/^They name the table/, 'a condition leaves the names known');
is(try_sql(<<"SQL"), '4', 'nulls: no row without an id, a fingerprint or a text is deleted');
@{[ { statements() }->{'Delete copies'} ]}
SELECT count(*) FROM nulls WHERE id IS NULL OR fp IS NULL OR body IS NULL;
SQL
is_quiet('nulls');

explore('postgres', 'SELECT * FROM lone');
has_numbers('lone', 'SELECT * FROM lone', 10, '');
is(shown('place'), 'none', 'no pair');
like(shown('what'), qr/no pair is near or alike/, 'and it says so');
like(shown('names'), qr/^Put in the names/, 'names that are not in the query');
like($browser->execute_script('return document.getElementById("groups").textContent'),
	qr/No two rows are near and alike\./, 'no group');
$browser->send_keys('body', 'n');
is_quiet('lone');

explore('postgres', 'SELECT id, fp, body FROM seen');
like(shown('names'), qr/^Put in the names/, 'nor are those of a view');
is_quiet('view');

# keys of other types
for my $table ('uuids', 'names')
{
	explore('postgres', "SELECT id, fp, body FROM $table");
	has_numbers($table, "SELECT row_number() OVER (ORDER BY id), fp, body FROM $table", 10, '');
	my $key = $browser->execute_script('return document.getElementById("head-a").textContent') =~ s/^id //r;
	is($node->safe_psql('postgres', "SELECT count(*) FROM $table WHERE id::text = \$\$$key\$\$"), 1, "$table: a key");
	like($browser->execute_script('return document.querySelector("#groups .chosen li").textContent'),
		qr/^(it's )?[-0-9a-f]{36}: \w/, "$table: keys of a group");
	choose(4);
	my %by_key = statements();
	isnt(try_sql($by_key{Search}), '', "$table: search");
	unlike(try_sql($by_key{$_}), qr/ERROR/, "$table: $_") for 'Search', 'Groups';
	is(try_sql(<<"SQL"), $node->safe_psql('postgres', <<"SQL2"), "$table: delete");
$by_key{'Delete copies'}
SELECT count(*), min(id::text) FROM $table;
SQL
WITH n AS MATERIALIZED (SELECT row_number() OVER (ORDER BY id) AS n, * FROM $table)
SELECT count(*), min(id::text) FROM n WHERE n NOT IN (SELECT id FROM simhash_components(\$\$
	WITH n AS MATERIALIZED (SELECT row_number() OVER (ORDER BY id) AS n, * FROM $table)
	SELECT a.n, b.n FROM n a JOIN n b ON a.fp <-> b.fp <= $checked AND a.n < b.n
	WHERE text_jaccard(a.body, b.body, words => 3) >= 0.8
\$\$, 'leader') WHERE id <> cluster);
SQL2
	is_quiet($table);
}

explore('postgres', 'SELECT "Key", "the fp", "Body" FROM wide');
has_numbers('wide', 'SELECT * FROM wide', 20, '');
choose(16);
my %wide = statements();
like($wide{Constraint}, qr/EXCLUDE USING hamming \("the fp" WITH %\)/, '128 bits: a constraint is within 16');
is(try_sql("DELETE FROM wide a USING wide b WHERE a.\"the fp\" <-> b.\"the fp\" <= 16 AND a.\"Key\" > b.\"Key\";\n"
		. $wide{Constraint}), '', '128 bits: constraint');
unlike(try_sql($_), qr/ERROR/, '128 bits: ' . substr $_, 0, 20) for @wide{ 'Search', 'Delete copies', 'Groups' };
choose(3);
is(try_sql(<<"SQL"), '20000', '128 bits: insert');
DROP TABLE batch;
CREATE TABLE batch AS SELECT * FROM wide WHERE "Key" < 20 UNION ALL SELECT 20000, minhash_128('a b'), 'a b';
@{[ { statements() }->{Insert} ]}
SELECT string_agg("Key"::text, ' ') FROM wide WHERE "Key" > 9999;
SQL
is_quiet('wide');

explore('postgres', '-v', 'words=1', '-v', 'threshold=0.5', 'SELECT id, fp, body FROM long');
like(shown('threshold'), qr/^50\xa0% of their words$/, 'what is alike');
like(shown('text-a'), qr/Cut here, after 4,000 of 1\d,\d{3} characters\.$/, 'a long text is cut');
fits('long');
is_quiet('long');

# the extension in a schema that is in no search_path
explore('elsewhere', 'SELECT id, fp, body FROM docs');
my %elsewhere = statements();
unlike(try_sql($elsewhere{$_}, 'elsewhere'), qr/ERROR/, "elsewhere: $_") for 'Search', 'Delete copies', 'Groups';
is_quiet('elsewhere');

# another encoding
explore('latin1', '-v', 'max_distance=64', Encode::encode_utf8("SELECT id, fp, body FROM docs WHERE body <> 'é'"));
choose(64);
like(shown('text-a') . shown('facts'), qr/^café \d.*<> 'é'/, 'LATIN1');
is_quiet('latin1');

#
# Errors
#
for (
	[ 'postgres', 'SELECT nothing FROM docs', qr/column "nothing" does not exist/ ],
	[ 'postgres', 'SELECT id, fp FROM docs', qr/three columns|2 columns available/ ],
	[ 'postgres', 'SELECT id, fp, (1 / (id - 600))::text FROM docs', qr/division by zero/ ],
	[ 'postgres', 'DELETE FROM docs RETURNING id, fp, body', qr/ERROR/ ],
	[ 'postgres', "SELECT id, fp, body FROM docs WHERE nextval('counter') > 0", qr/read-only transaction/ ],
	[ 'postgres', 'SELECT * FROM lone WHERE false', qr/no row of the query has an id, a fingerprint and a text/ ],
	[ 'postgres', '-v', 'threshold=2', 'SELECT id, fp, body FROM docs', qr/threshold/ ],
	[ 'postgres', '-c', 'SELECT 1', 'SELECT id, fp, body FROM docs', qr/options/ ],
	[ 'postgres', qr/usage/ ],
	[ 'without', 'SELECT 1, 2, 3', qr/the extension simhash is not in database without/ ],
	[ 'nowhere', 'SELECT 1, 2, 3', qr/database "nowhere" does not exist/ ])
{
	my ($database, @arguments) = @$_;
	my $message = pop @arguments;
	my ($path, $err, $ok) = make_page($database, @arguments);

	ok(!$ok, "an error: @arguments");
	like($err, $message, 'it is named');
	is(-s $path, 0, 'and there is no page');
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM docs'), 360, 'nothing has changed');

undef $browser;
$node->stop;
done_testing();
