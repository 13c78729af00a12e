# What doc/scaling.md says of several servers, on four of them: its statements and
# their output, what is sent to the shards, rows as those of one table, and shards
# that go away.  The coordinator is another database of the first server.

use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use lib $FindBin::Bin;
use Statements;

my $shards = 4;
my $document = slurp_file('doc/scaling.md');
my @nodes = map { PostgreSQL::Test::Cluster->new("shard$_") } 1 .. $shards;

# The servers know each other as host 'shard1' to 'shard4' in the document, and
# by a file here.
my $services = PostgreSQL::Test::Utils::tempdir() . '/services.conf';
append_to_file($services,
	join '', map { sprintf "[shard%d]\nhost=%s\nport=%d\n", $_ + 1, $nodes[$_]->host, $nodes[$_]->port } 0 .. $#nodes);
$ENV{PGSERVICEFILE} = $services;

my $coordinator = $nodes[0];
$coordinator->init(allows_streaming => 1, extra => [ '--locale=C', '--encoding=UTF8' ]);
$coordinator->append_conf('postgresql.conf', "shared_buffers = 8MB\njit = off\nautovacuum = off");
$coordinator->start;
$coordinator->safe_psql('postgres', 'CREATE DATABASE docs');
# a copy takes less than initdb
$coordinator->backup('base');
for my $node (@nodes[ 1 .. $#nodes ])
{
	$node->init_from_backup($coordinator, 'base');
	$node->start;
}
if ($coordinator->safe_psql('postgres',
	"SELECT count(*) FROM pg_available_extensions WHERE name IN ('postgres_fdw', 'dblink')") != 2)
{
	$_->stop for @nodes;
	plan skip_all => 'postgres_fdw and dblink, of PostgreSQL\'s contrib, are not installed';
}

sub query
{
	my ($sql) = @_;
	return $coordinator->safe_psql('postgres', $sql);
}

# What each of some statements gives, in one session.  A session of the coordinator has
# one of each shard, and to start these takes longer than what they do.
sub queries
{
	my @results = run_session($coordinator, 'postgres', @_);

	$_->[1] =~ /ERROR/ && die $_->[1] for @results;
	return map { $_->[0] } @results;
}

# The statements of the document, each where its first line says.
my %blocks = ('each shard' => 0, 'the coordinator' => 0);
while ($document =~ /^```sql\n-- on (each shard|the coordinator)\n(.*?)^```\n(?:\n?```\n(.*?)^```\n)?/msg)
{
	my ($where, $sql, $shown) = ($1, $2, $3 // '');

	$sql =~ s/\bhost 'shard/service 'shard/g;
	my @results =
	  $where eq 'each shard' ? map { run_shown($_, 'docs', $sql) } @nodes
	  : run_shown($coordinator, 'postgres', $sql);

	is(trimmed($_), trimmed($shown), "on $where: " . substr $sql, 0, 60) for @results;
	$blocks{$where}++;
}
is($blocks{'each shard'} + $blocks{'the coordinator'},
	() = $document =~ /^```sql$/mg, 'each block says where it is run');
cmp_ok($blocks{$_}, '>=', 2, "blocks for $_") for sort keys %blocks;

# What the table of conditions says of each, and what it says of others: under a
# generic plan a condition is a part of the remote statement, or is not.
my $forms = 0;
my ($table) = $document =~ /^(\| condition or sort key \|.*?\n)\n/ms;
$table .= "| `$_` | the shards |\n" for (
	'fp <-> $1 <= 8',
	'fp <-> $1 BETWEEN 0 AND 8',
	'fp % $1',
	'fp <@ hamming_ball($1, 8)',
	'fp = $1',
	'fp <-> simhash($1, $2::simhash_weights) <= 8',
	'minhash(body, words => 3) <-> $1 <= 8',
	q{simhash(body, '{"the": 0}') <-> $1 <= 8},
	'text_containment(body, $1) >= 0.8',
	'text_cosine(body, $1) >= 0.8',
	'fp <-> simhash_tokens($1) <= 8',
	'fp <-> simhash($1::tsvector) <= 8');
my @forms = $table =~ /^\| `([^`]+)` \| the (?:shards|coordinator)(?: from PostgreSQL \d+ on, the coordinator before)? \|$/mg;
my @plans = queries(map {
	my $form = $forms[$_];
	my %parameters = map { $_ => 1 } $form =~ /\$\d/g;
	my $nulls = join ', ', ('NULL') x keys %parameters;
	my $arguments = $nulls ? "($nulls)" : '';
	my $clause = $form =~ /^ORDER BY/ ? $form : "WHERE $form";

	"SET plan_cache_mode = force_generic_plan;
		PREPARE form$_ AS SELECT id FROM docs_1 $clause;
		EXPLAIN (VERBOSE, COSTS OFF) EXECUTE form$_$arguments"
} 0 .. $#forms);
while ($table =~ /^\| `([^`]+)` \| the (shards|coordinator)(?: from PostgreSQL (\d+) on, the (coordinator) before)? \|$/mg)
{
	my ($form, $where) = ($1, defined $3 && $coordinator->pg_version < $3 ? $4 : $2);
	my $plan = shift @plans;

	if ($where eq 'shards')
	{
		like($plan, qr/Remote SQL: SELECT .* FROM public\.docs (WHERE|ORDER BY) /, "$form: sent");
		unlike($plan, qr/^\s*(Filter|Sort Key):/m, "$form: nothing else to do");
	}
	else
	{
		like($plan, qr/^\s*Filter: /m, "$form: not sent");
		like($plan, qr/Remote SQL: SELECT [^()]* FROM public\.docs$/m, "$form: all rows are fetched");
	}
	$forms++;
}
cmp_ok($forms, '>=', 20, 'conditions');

# What is written for many rows is sent as a whole.
my @sent = (
	[ 'the join of a batch', 'SELECT * FROM known',
		qr/(Async Foreign Scan.*Remote SQL: SELECT new, old, body FROM public\.known.*){4}/s ],
	(map { [ "the nearest $_ of each shard", "SELECT * FROM nearest('00ff00ff00ff00ff', $_)",
		qr/(Async Foreign Scan.*Remote SQL: SELECT id, fp FROM public\.docs ORDER BY \(fp .* LIMIT $_\:\:bigint.*){4}/s ] }
		(1, 7, 10, 100)),
	[ 'the nearest of each of a batch', 'SELECT near.id FROM batch, LATERAL nearest(batch.fp, 7) near',
		qr/(Async Foreign Scan.*Remote SQL: SELECT id, fp FROM public\.docs ORDER BY \(fp .* LIMIT 7::bigint.*){4}/s ],
	[ 'a DELETE', q{DELETE FROM docs WHERE fp <-> '00ff00ff00ff00ff' <= 3},
		qr/(Foreign Delete on public.*Remote SQL: DELETE FROM public\.docs WHERE .*){4}/s ]);
@plans = queries(map { "EXPLAIN (VERBOSE, COSTS OFF) $_->[1]" } @sent);
like(shift @plans, $_->[2], "$_->[0]: sent") for @sent;

# Rows of four shards are those of one table.  Every third is near one of another
# shard; there are equal ones, and some have no fingerprint.
$_->safe_psql('docs', 'CREATE TABLE points (id bigint PRIMARY KEY, fp simhash64);
	CREATE INDEX ON points USING hamming (fp)') for @nodes;
query(<<'SQL');
CREATE TABLE points (id bigint, fp simhash64) PARTITION BY HASH (id);
DO $$ BEGIN
	FOR i IN 1 .. 4 LOOP
		EXECUTE format('CREATE FOREIGN TABLE points_%s PARTITION OF points FOR VALUES WITH (MODULUS 4, REMAINDER %s)
			SERVER shard%1$s OPTIONS (table_name ''points'', batch_size ''1000'', fetch_size ''100'')', i, i - 1);
	END LOOP;
END $$;
CREATE TABLE one (id bigint PRIMARY KEY, fp simhash64);
INSERT INTO one SELECT i, CASE WHEN i % 50 <> 0 THEN
	(hashint8extended(i - i % 3, 1) # ((i % 3 / 2)::bigint << i % 62) # (i % 7 / 6) * x'0f00330000000000'::bigint)::simhash64 END
FROM generate_series(1, 3000) i;
INSERT INTO points SELECT * FROM one;
CREATE TABLE several AS SELECT id + 5000 AS id, fp FROM one WHERE id % 20 = 0 OR id > 2995;
CREATE TABLE many AS SELECT * FROM one WHERE id % 2 = 0;
CREATE INDEX ON one USING hamming (fp);
ANALYZE points, one, several, many;
SQL
my %compared = (
	lookups => 'SELECT several.id, found.id FROM several, LATERAL (SELECT id FROM %s WHERE fp <-> several.fp <= %d) found',
	'a join with many' => 'SELECT b.id, d.id FROM many b JOIN %s d ON d.fp <-> b.fp <= %d',
	'NOT EXISTS' => 'SELECT id FROM many b WHERE NOT EXISTS (SELECT FROM %s d WHERE d.fp <-> b.fp <= %d AND d.id <> b.id)',
	'a count' => 'SELECT count(*) FROM %s WHERE fp <-> (SELECT min(fp) FROM one) <= %d',
	'a full join' => 'SELECT b.id, d.id FROM several b FULL JOIN %s d ON d.fp <-> b.fp <= %d',
	pairs => q{SELECT * FROM simhash_pairs('SELECT id, fp FROM %s', %d)},
	clusters => 'SELECT id, simhash_cluster(fp, %2$d) OVER (ORDER BY id) FROM %1$s');
my @ks = (0, 3, 12);
my @found = queries(map {
	my $name = $_;
	map {
		my $table = $_;
		join ";\n", map {
			sprintf "SELECT count(*), md5(string_agg(r::text, ' ' ORDER BY r::text)) FROM ($compared{$name}) r", $table, $_
		} @ks
	} qw(one points)
} sort keys %compared);
for my $name (sort keys %compared)
{
	my ($here, $there) = splice @found, 0, 2;

	unlike($here, qr/^0\|/m, "$name within @ks: some rows");
	is($there, $here, "$name within @ks: the rows of one table");
}
my ($near, $near_here) = queries(map {
	"SELECT several.id, string_agg(distance::text, ' ' ORDER BY distance) FROM several,
		LATERAL (SELECT fp <-> several.fp AS distance FROM $_ ORDER BY fp <-> several.fp LIMIT 5) near GROUP BY 1 ORDER BY 1"
} qw(points one));
is($near, $near_here, 'the nearest: the distances of one table');

# The parts, by what the document has made: uniform fingerprints beside dense ones, and
# beside many copies.  A shard has each fourth row.
my ($groups) = $document =~ /^(CREATE TABLE groups AS\n.*?;)$/ms;
my $uniform = '(hashint8extended(i - i % 3, 1) # ((i % 3 / 2)::bigint << i % 62) # (i % 7 / 6) * x\'0f00330000000000\'::bigint)';
for (
	[ 'dense', 3, 8, 'hashint8extended(i, 1) & hashint8extended(i, 2) & hashint8extended(i, 3)' ],
	[ 'copies', 8, 4, 'hashint8extended(i % 100, 1) # (i % 300 / 100)' ])
{
	my ($set, $k, $parts, $others) = @$_;
	my @firsts = grep { $_ < $parts } 0, 4;
	my $rows = "SELECT i AS id, CASE WHEN i % 50 <> 0 THEN (CASE WHEN i <= 2000 THEN $uniform ELSE $others END)::simhash64 END AS fp
		FROM generate_series(1, 4000) i";

	$nodes[$_]->safe_psql('docs', "CREATE SCHEMA $set; CREATE TABLE $set.docs AS $rows WHERE i % 4 = $_;
		ALTER FUNCTION pack SET search_path = $set, public") for 0 .. $#nodes;
	my ($of_each, $packed, $pairs, $all_pairs, $clusters, $all_clusters) = queries("CREATE TABLE $set AS $rows;
		SELECT on_shards('SELECT pack($k, $parts)');
		" . join('', map { "SELECT on_shards('SELECT join_part($k, %s + $_, $parts)');" } @firsts)
		  . join('', map { "SELECT on_shards('SELECT link_part($k, %s + $_, $parts)');" } @firsts) . "
		DROP TABLE groups; $groups
		SELECT DISTINCT a <= 2000 FROM simhash_pairs('TABLE $set', $k) WHERE distance > 0 ORDER BY 1",
		"SELECT min(count) FROM generate_series(1, 4) shard,
			dblink(format('service=shard%s dbname=docs', shard), 'SELECT count(DISTINCT part) FROM packs') AS packs(count bigint)",
		'SELECT * FROM pairs ORDER BY 1, 2',
		"SELECT a::simhash64, b::simhash64, distance
			FROM simhash_pairs('SELECT DISTINCT fp::bigint, fp FROM $set', $k) ORDER BY 1, 2",
		"SELECT id, coalesce(name, fp) FROM $set LEFT JOIN groups USING (fp) WHERE fp IS NOT NULL ORDER BY id",
		"SELECT id, min(fp::bigint) OVER (PARTITION BY cluster)::simhash64
			FROM (SELECT id, fp, simhash_cluster(fp, $k) OVER () AS cluster FROM $set WHERE fp IS NOT NULL) numbered
			ORDER BY id");
	like($of_each, qr/^f\nt\n?\z/m, "$set within $k: some pairs of them, and of uniform ones");
	is($pairs, $all_pairs, "$set within $k: the pairs of all parts");
	is($clusters, $all_clusters, "$set within $k: the clusters of one table");
	cmp_ok($packed, '>', $parts / 2, "$set: each shard has packs for many parts");
}

# Which of the two joins is taken is a matter of costs.
my $lookup = 'SELECT count(*) FROM points WHERE fp <-> (SELECT fp FROM one WHERE id = 7) <= 3;';
my ($few_plan, $many_plan, $found) = queries('CREATE TABLE few AS SELECT * FROM several LIMIT 3; ANALYZE few;
	EXPLAIN (VERBOSE) SELECT FROM few b JOIN points d ON d.fp <-> b.fp <= 3',
	'EXPLAIN (VERBOSE) SELECT FROM many b JOIN points d ON d.fp <-> b.fp <= 3', $lookup);
like($few_plan, qr/Nested Loop.*(Remote SQL: SELECT fp FROM public\.points WHERE \(public\.simhash_within\(fp, \$1.*){4}/s,
	'few rows are looked up');
like($many_plan, qr/HammingJoin.*(Remote SQL: SELECT fp FROM public\.points.*){4}/s,
	'for many all fingerprints are fetched');

# Run statements in one session; errors are SQL states.
sub states
{
	my ($sql) = @_;
	my ($out, $err) = ('', '');

	$coordinator->psql('postgres', "\\set VERBOSITY sqlstate\n$sql",
		on_error_stop => 0, stdout => \$out, stderr => \$err);
	return ($out, join ' ', $err =~ /ERROR:  (\w{5})$/mg);
}

# A shard that goes away after the first of 100 rows of each were fetched, and one
# that is away.
my ($out, $err) = states(<<"SQL");
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM points;
FETCH 1 FROM c \\g /dev/null
SELECT gone FROM dblink('shard3', \$\$SELECT bool_and(pg_terminate_backend(pid, 60000)) FROM pg_stat_activity
	WHERE application_name = 'postgres_fdw'\$\$) AS t(gone bool);
MOVE ALL FROM c;
ROLLBACK;
$lookup
SQL
like($err, qr/^(57P01|08006)$/, 'a shard goes away during a statement: an error');
is($out, "t\n$found", 'the next statement connects again');

$nodes[2]->stop('immediate');
($out, $err) = states("$lookup\nSELECT count(*) > 0 FROM points_2;");
is($err, '08001', 'a shard that is down: an error');
is($out, 't', 'the others answer');
$nodes[2]->start;
($out, $err) = states(<<"SQL");
$lookup
SELECT dblink_connect('holder', 'shard2') \\g /dev/null
SELECT dblink_exec('holder', 'BEGIN; LOCK TABLE points') \\g /dev/null
SET statement_timeout = '300ms';
$lookup
SET statement_timeout = 0;
SELECT dblink_exec('holder', 'ROLLBACK') \\g /dev/null
$lookup
SQL
is($err, '57014', 'a shard that waits: statement_timeout ends it');
is($out, "$found\n$found", 'all rows of a shard that is up again, and by the statement after that one');

# Databases that have no extension, or have it elsewhere.
for my $other ('', 'CREATE SCHEMA ext; CREATE EXTENSION simhash SCHEMA ext')
{
	$nodes[1]->safe_psql('postgres', 'CREATE DATABASE other');
	$nodes[1]->safe_psql('other', "CREATE TABLE points (id bigint, fp text); $other");
	query(q{CREATE SERVER other FOREIGN DATA WRAPPER postgres_fdw OPTIONS (service 'shard2', dbname 'other', extensions 'simhash');
		CREATE USER MAPPING FOR CURRENT_USER SERVER other;
		CREATE FOREIGN TABLE other (id bigint, fp simhash64) SERVER other OPTIONS (table_name 'points')});
	($out, $err) = states(q{SELECT id FROM other WHERE fp <-> '00ff00ff00ff00ff' <= 3});
	is($err, '42704', 'the extension is not where it should be: ' . ($other || 'nowhere'));
	query('SELECT postgres_fdw_disconnect_all(); DROP SERVER other CASCADE');
	$nodes[1]->safe_psql('postgres', 'DROP DATABASE other WITH (FORCE)');
}

# The query that finds another version of the extension.
my ($versions) = $document =~ /^(SELECT version, schema, .*?;)$/ms;
$nodes[1]->safe_psql('docs', "UPDATE pg_extension SET extversion = '0.9' WHERE extname = 'simhash'");
$nodes[3]->safe_psql('docs', 'ALTER EXTENSION simhash SET SCHEMA pg_catalog');
is(join("\n", sort split /\n/, query($versions)), <<'ROWS' =~ s/\n\z//r, 'which servers differ');
0.9|public|shard2
1.0|pg_catalog|shard4
1.0|public|shard1, shard3
ROWS

$_->stop('immediate') for @nodes;
done_testing();
