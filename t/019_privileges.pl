# Whoever creates the extension without being a superuser gets no rights by it, and
# nobody gets by it the rows or the rights of others.

use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use lib $FindBin::Bin;
use Statements;

my $node = PostgreSQL::Test::Cluster->new('privileges');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
$node->append_conf('postgresql.conf', "autovacuum = off\nlog_statement = none");
$node->start;
$node->safe_psql('postgres', $_)
  for 'CREATE ROLE keeper LOGIN', 'CREATE ROLE reader LOGIN',
  map { "CREATE DATABASE $_ OWNER keeper" } qw(shop trap restored);

# Run statements as a role, each in a session of its own.  Return the output of each, or
# the SQLSTATE of its first error.
sub as_role
{
	my ($role, $dbname, @statements) = @_;

	return map { $_->[1] =~ /ERROR:  (\w{5})/ ? $1 : $_->[0] }
	  run_batch($node, map { [ $dbname, $_, $role ] } @statements);
}

# Run statements as a role: each is allowed if it has no SQLSTATE with it.
sub try
{
	my ($role, $dbname, @tests) = @_;
	my @results = as_role($role, $dbname, map { $_->[0] } @tests);

	is(shift @results, $_->[1] // '', "$role: $_->[0]") for @tests;
	return;
}

# The owner of a database has the extension, but not what is in it.
try('reader', 'shop', [ 'CREATE EXTENSION simhash', '42501' ]);
try(
	'keeper', 'shop',
	['CREATE EXTENSION simhash'],
	["COMMENT ON EXTENSION simhash IS 'of the keeper'"],
	['ALTER EXTENSION simhash UPDATE'],
	['DROP EXTENSION simhash'],
	['CREATE EXTENSION simhash'],
	['CREATE SCHEMA other'],
	[ 'ALTER EXTENSION simhash SET SCHEMA other', '42501' ],
	[ 'ALTER EXTENSION simhash DROP FUNCTION hamming_bound_below(bigint)', '42501' ],
	[ 'DROP FUNCTION hamming_bound_below(bigint)', '2BP01' ],
	[ q{CREATE OR REPLACE FUNCTION hamming_bound_below(bigint) RETURNS bigint LANGUAGE sql AS 'SELECT 1'},
		'42501' ]);
try(
	'reader', 'shop',
	[ 'ALTER EXTENSION simhash UPDATE', '42501' ],
	[ 'DROP EXTENSION simhash', '42501' ]);

# Planted functions count their calls, also those of a transaction that fails.
my $planted = q{LANGUAGE plpgsql AS 'BEGIN PERFORM nextval(''evil.calls''); RETURN NULL; END'};
my $called = 'SELECT is_called FROM evil.calls';

# The script of the extension runs as a superuser, in a schema of the keeper.  What is
# there already stays the keeper's.
$node->safe_psql('trap', "SET ROLE keeper; CREATE SCHEMA evil; CREATE SEQUENCE evil.calls;
	CREATE FUNCTION evil.refuse(int) RETURNS boolean $planted");
my @objects = (
	'DOMAIN evil.simhash64 AS text',
	'TYPE evil.hamming_ball AS ENUM ()',
	'TABLE evil.simhash_weights ()',
	'DOMAIN evil.hamming_distance AS int CHECK (evil.refuse(VALUE))',
	"FUNCTION evil.hamming_bound_below(bigint) RETURNS bigint $planted");
my @states = as_role('keeper', 'trap', map { "BEGIN; CREATE $_; CREATE EXTENSION simhash SCHEMA evil" } @objects);
like(shift @states, qr/^427(?:10|23)$/, substr($_, 0, 40) . ' is in the way') for @objects;

# Functions and operators of any types with the names of the extension's, and what the
# script could take for core's.
my @lookalikes = split /\n/, $node->safe_psql('shop', <<'SQL');
SELECT format('FUNCTION evil.%I(%s) RETURNS int', proname,
	array_to_string(array_fill('anyelement'::text, ARRAY[pronargs::int]), ', '))
FROM (SELECT DISTINCT proname, pronargs FROM pg_proc WHERE oid >= 16384 AND pronargs > 0) p;
SQL
push @lookalikes,
  map { "FUNCTION evil.$_" } 'btequalimage(oid) RETURNS boolean', 'btint4cmp(int, int) RETURNS int',
  'format(text, regprocedure, text) RETURNS text', 'obj_description(oid, text) RETURNS text',
  'set_config(text, text, boolean) RETURNS text', 'name_is_text(name, text) RETURNS boolean',
  'add_text(text, text) RETURNS text';
$node->safe_psql('trap', join ";\n", 'SET ROLE keeper', map { "CREATE $_" }
	(map { "$_ $planted" } @lookalikes),
	'OPERATOR evil.= (LEFTARG = name, RIGHTARG = text, FUNCTION = evil.name_is_text)',
	'OPERATOR evil.|| (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.add_text)',
	(map { "OPERATOR evil.$_ (LEFTARG = anyelement, RIGHTARG = anyelement, FUNCTION = evil.simhash64_eq)" }
		  '<', '<=', '=', '<>', '>=', '>', '%', '<@', '@>', '<->', '<->#'),
	map { "DOMAIN evil.$_ AS pg_catalog.$_" } qw(text bytea uuid int8 float8 oid regprocedure));
# the extension is created among lookalikes
try('keeper', 'trap', ['SET search_path = evil; CREATE EXTENSION simhash']);
is($node->safe_psql('trap', $called), 'f', 'the script calls nothing planted');

my $members = <<'SQL';
CREATE TEMP VIEW members AS
SELECT classid, objid FROM pg_depend JOIN pg_extension e ON e.oid = refobjid
WHERE extname = 'simhash' AND refclassid = 'pg_extension'::regclass AND deptype = 'e';
SELECT pg_describe_object(classid, objid, 0) FROM members ORDER BY 1
SQL
is( $node->safe_psql('trap', "SET search_path = evil; $members"),
	$node->safe_psql('shop', "SET search_path = public; $members"),
	'nothing planted belongs to the extension');
is( $node->safe_psql(
		'trap', <<"SQL") =~ s/.*\n--\n?//sr,
$members;
SELECT '--';
CREATE TEMP VIEW planted AS
SELECT 'pg_proc'::regclass::oid AS classid, oid AS objid FROM pg_proc WHERE pronamespace = 'evil'::regnamespace
UNION ALL SELECT 'pg_operator'::regclass, oid FROM pg_operator WHERE oprnamespace = 'evil'::regnamespace
UNION ALL SELECT 'pg_type'::regclass, oid FROM pg_type WHERE typnamespace = 'evil'::regnamespace
EXCEPT TABLE members;
SELECT DISTINCT pg_describe_object(classid, objid, 0) FROM pg_depend
WHERE (refclassid, refobjid) IN (TABLE planted) AND (classid, objid) NOT IN (TABLE planted);
SQL
	'', 'nothing depends on what is planted');

# A search path that puts operators and functions of others before those of the
# extension and of core, of the same types.  Views have theirs since they were made.
$node->safe_psql('shop', <<'SQL');
CREATE FUNCTION body_of(i int) RETURNS text IMMUTABLE RETURN (
	SELECT string_agg(CASE WHEN w = i % 5 * 7 THEN 'other' ELSE left(md5(i / 5 || ' ' || w), 4) END, ' ')
	FROM generate_series(1, 30) w);
CREATE TABLE docs (
	id int PRIMARY KEY,
	body text,
	fp simhash64 GENERATED ALWAYS AS (minhash(body)) STORED,
	wide simhash128 GENERATED ALWAYS AS (minhash_128(body, '{"other": 0}')) STORED
);
INSERT INTO docs SELECT i, body_of(i) FROM generate_series(1, 2000) i;
CREATE INDEX docs_fp ON docs USING hamming (fp);
CREATE INDEX docs_wide ON docs USING hamming (wide);
CREATE INDEX docs_gist ON docs USING gist (simhash(body));
CREATE VIEW near AS SELECT id, fp <-> minhash(body_of(8)) AS bits FROM docs WHERE fp <-> minhash(body_of(8)) < 9;
CREATE VIEW near_128 AS SELECT id FROM docs WHERE wide % minhash_128(body_of(8));
CREATE VIEW near_gist AS SELECT id FROM docs WHERE simhash(body) <-> simhash(body_of(8)) <= 6;
CREATE VIEW nearest AS SELECT fp <-> minhash(body_of(8)) FROM docs ORDER BY fp <-> minhash(body_of(8)) LIMIT 9;
CREATE VIEW joined AS SELECT a.id, b.id AS other FROM docs a JOIN docs b ON a.fp <-> b.fp <= 6 AND a.id < b.id;
CREATE VIEW clusters AS SELECT id, simhash_cluster(wide, 16) OVER (ORDER BY id) FROM docs;
CREATE VIEW ids AS SELECT id, fp FROM docs;
CREATE VIEW pairs AS SELECT a, b FROM simhash_pairs('TABLE public.ids', 6);
CREATE VIEW groups AS SELECT * FROM simhash_components('TABLE public.pairs');
CREATE VIEW texts AS SELECT id, fp, body FROM docs;
CREATE VIEW audit AS SELECT * FROM simhash_audit('TABLE public.texts', sample => 50);
CREATE VIEW centre AS SELECT simhash_centroid(fp), max(wide), simhash_idf(body, 1000) FROM docs;
CREATE MATERIALIZED VIEW kept AS SELECT a, b, fp FROM pairs JOIN docs ON id = a WHERE fp <-> minhash(body_of(8)) > 9;
CREATE UNIQUE INDEX kept_ids ON kept (a, b);
CREATE TABLE refused (body text, fp simhash64 GENERATED ALWAYS AS (minhash(body)) STORED);
ANALYZE;
CREATE SCHEMA evil;
CREATE SEQUENCE evil.calls;
SQL

# The views, and what is in the plan of each.
my %plans = (
	near => 'docs_fp',
	near_128 => 'docs_wide',
	near_gist => 'docs_gist',
	nearest => 'docs_fp',
	joined => 'HammingJoin',
	clusters => 'WindowAgg',
	pairs => 'simhash_pairs',
	groups => 'simhash_components',
	audit => 'simhash_audit',
	centre => 'Aggregate',
	kept => 'kept');

my $settings = 'SET enable_seqscan = off; SET enable_nestloop = off';

sub answers
{
	my ($dbname) = @_;
	my @views = sort keys %plans;
	my @found = run_batch($node, map { [ $dbname, "$settings; $_" ] }
		map { ("EXPLAIN TABLE public.$_", "TABLE public.$_") } @views);
	my @answers;

	for my $view (@views)
	{
		my ($plan, $rows) = splice @found, 0, 2;

		like($plan->[0], qr/\b$plans{$view}\b/, "$dbname: plan of $view");
		is($rows->[1], '', "$dbname: rows of $view");
		push @answers, $view, sort split /\n/, $rows->[0];
	}
	return join "\n", @answers;
}

my $answers = answers('shop');
$node->safe_psql('postgres', 'CREATE DATABASE others OWNER keeper TEMPLATE shop');
@lookalikes = split /\n/, $node->safe_psql('shop', <<'SQL');
CREATE TEMP VIEW lookalikes AS
SELECT p.oid, proname AS name, oprname, oprleft, oprright
FROM pg_proc p JOIN pg_depend ON classid = 'pg_proc'::regclass AND objid = p.oid AND deptype = 'e'
	LEFT JOIN pg_operator ON oprcode = p.oid
WHERE p.oid >= 16384 AND prokind <> 'a'
	AND NOT proargtypes::oid[] || prorettype && '{internal, cstring}'::regtype[]::oid[]
UNION ALL
SELECT oprcode, 'planted_' || oid, oprname, oprleft, oprright FROM pg_operator
WHERE oprnamespace = 'pg_catalog'::regnamespace
	AND ARRAY[oprleft, oprright] <@ '{int2, int4, int8, float8, bool, text, name, oid}'::regtype[]::oid[];
SELECT DISTINCT format('FUNCTION evil.%I(%s) RETURNS %s', name, pg_get_function_identity_arguments(oid),
	pg_get_function_result(oid)) FROM lookalikes
UNION ALL
SELECT format('OPERATOR evil.%s (LEFTARG = %s, RIGHTARG = %s, FUNCTION = evil.%I)', oprname,
	oprleft::regtype, oprright::regtype, name) FROM lookalikes WHERE oprname IS NOT NULL
UNION ALL
SELECT format('DOMAIN evil.%s AS text', typname) FROM pg_type
WHERE oid >= 16384 AND typtype IN ('b', 'd') AND typelem = 0;
SQL
$node->safe_psql('shop', join ";\n", 'SET check_function_bodies = off',
	map { 'CREATE ' . $_ . (/^FUNCTION/ ? " $planted" : '') } @lookalikes);
$node->safe_psql('postgres', "ALTER DATABASE $_ SET search_path = evil, pg_catalog, public")
  for 'shop', 'restored';

is(answers('shop'), $answers, 'a hostile search_path, the same answers');
my @changes = (
	'INSERT INTO public.refused VALUES (public.body_of(10)), (public.body_of(20))',
	'ALTER TABLE public.refused ADD EXCLUDE USING hamming (fp WITH OPERATOR(public.%))',
	'INSERT INTO public.refused VALUES (public.body_of(11)) ON CONFLICT DO NOTHING',
	'UPDATE public.refused SET body = NULL',
	'ALTER TABLE public.refused ADD wide public.simhash128 GENERATED ALWAYS AS (public.minhash_128(body)) STORED',
	'VACUUM ANALYZE public.docs',
	'REINDEX TABLE public.docs',
	'REINDEX TABLE CONCURRENTLY public.docs',
	'CREATE INDEX CONCURRENTLY ON public.kept USING hamming (fp)',
	'REFRESH MATERIALIZED VIEW public.kept',
	'REFRESH MATERIALIZED VIEW CONCURRENTLY public.kept',
	map { "SELECT public.hamming_index_check('public.docs_$_')" } 'fp', 'wide');
my @done = run_batch($node, map { [ 'shop', $_ ] } @changes);
is((shift @done)->[1], '', "a hostile search_path: $_") for @changes;

my $dump = $node->basedir . '/dump.sql';
$node->command_ok([ 'pg_dump', '-f', $dump, $node->connstr('shop') ], 'pg_dump');
$node->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, $node->connstr('restored') ],
	'restore');
$node->safe_psql('restored', 'ANALYZE');
is(answers('restored'), $answers, 'a hostile search_path, the same answers after a restore');
is($node->safe_psql($_, $called), 'f', "$_: nothing planted is called") for 'shop', 'restored';

# Who may not read a table learns nothing of it.
try('reader', 'others', map { [ $_, '42501' ] }
	"EXPLAIN SELECT FROM docs WHERE fp <-> 'ffffffffffffffff' <= 9",
	"SELECT FROM simhash_pairs('SELECT id, fp FROM docs', 3)",
	"SELECT FROM simhash_components('SELECT id, id FROM docs')",
	"SELECT FROM simhash_audit('SELECT id, fp, body FROM docs')",
	"SELECT FROM simhash_audit_pairs('SELECT id, fp, body FROM docs')",
	"SELECT hamming_index_stats('docs_fp')",
	"SELECT hamming_index_check('docs_fp')",
	"SELECT hamming_index_check('docs_fp', heap => false)");

# Who may read some of its rows learns nothing of the others, also by a function that
# looks at every row it gets, and by an operator that looks at every value.
$node->safe_psql('others', <<'SQL');
GRANT CREATE ON SCHEMA public TO reader;
GRANT SELECT ON docs TO reader;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_readers ON docs USING (id > 1000);
SET ROLE reader;
CREATE FUNCTION peek(int) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN
	IF $1 <= 1000 THEN
		RAISE 'row % is hidden', $1;
	END IF;
	RETURN true;
END $$;
CREATE FUNCTION peek(simhash64, simhash64) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN
	RAISE '% and % are hidden', $1, $2;
END $$;
RESET ROLE;
CREATE OPERATOR === (LEFTARG = simhash64, RIGHTARG = simhash64, FUNCTION = peek,
	RESTRICT = simhash_restrict, JOIN = simhash_join);
SQL
my @looks = (
	[ 'docs_fp', 'SELECT id FROM docs WHERE fp <-> minhash(body_of(1008)) <= 9 AND peek(id)' ],
	[ 'docs_fp', 'SELECT id, fp <-> minhash(body_of(1008)) FROM docs WHERE peek(id) ORDER BY 2 LIMIT 5' ],
	[ 'docs_wide', 'SELECT id FROM docs WHERE wide % minhash_128(body_of(1008)) AND peek(id)' ],
	[ 'Scan', 'SELECT id FROM docs WHERE simhash(body) <-> simhash(body_of(1008)) <= 9 AND peek(id)' ],
	[ 'HammingJoin', 'SELECT a.id, b.id FROM docs a JOIN docs b ON a.fp <-> b.fp <= 6 AND peek(least(a.id, b.id))' ],
	[ 'WindowAgg', 'SELECT id, simhash_cluster(wide, 16) OVER (ORDER BY id) FROM docs WHERE peek(id)' ],
	[ 'simhash_pairs', q{SELECT * FROM simhash_pairs('SELECT id, fp FROM docs WHERE peek(id)', 6)} ],
	[ 'simhash_audit', q{SELECT * FROM simhash_audit('SELECT id, fp, body FROM docs WHERE peek(id)')} ]);
my @plans = as_role('reader', 'others', map { "$settings; EXPLAIN $_->[1]" } @looks);
my @rows = as_role('reader', 'others', map { "$settings; $_->[1]" } @looks);
my @own = run_batch($node, map { [ 'others', $_->[1] =~ s/peek(\((?:[^()]|(?1))*\))/$1 > 1000/r ] } @looks);
for (@looks)
{
	my ($word, $query) = @$_;
	my ($own, $err) = @{ shift @own };

	like(shift @plans, qr/\b$word\b/, "reader: plan of $query");
	is($err, '', 'the rows that reader should have');
	is(join("\n", sort split /\n/, shift @rows), join("\n", sort split /\n/, $own), 'reader: rows of it');
}
my @estimates = ("SELECT FROM docs WHERE fp === 'ffffffffffffffff'", 'SELECT FROM docs a JOIN docs b ON a.fp === b.fp');
@plans = as_role('reader', 'others', map { "EXPLAIN $_" } @estimates);
like(shift @plans, qr/rows=/, "reader: estimate of $_") for @estimates;

# What a superuser does with an index or a view of others calls their functions with
# their rights.
$node->safe_psql('others', <<'SQL');
SET ROLE keeper;
CREATE FUNCTION spy(simhash64) RETURNS simhash64 LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
	RAISE NOTICE 'called by %', current_user;
	BEGIN
		PERFORM set_config('role', 'none', true);
		RAISE NOTICE 'called by %, who was another', current_user;
	EXCEPTION WHEN insufficient_privilege THEN
	END;
	RETURN $1;
END $$;
CREATE TABLE spied (id int, fp simhash64);
CREATE INDEX spied_fp ON spied USING hamming (spy(fp));
CREATE MATERIALIZED VIEW spies AS
SELECT * FROM public.simhash_pairs('SELECT id, public.spy(fp) FROM public.spied', 3) WITH NO DATA;
INSERT INTO spied VALUES (1, '0123456789abcdef');
SQL
my @statements = ("SELECT hamming_index_check('spied_fp')", 'REINDEX INDEX spied_fp', 'REFRESH MATERIALIZED VIEW spies');
my @said = run_batch($node, map { [ 'others', $_ ] } @statements);
for (@statements)
{
	my %who = map { $_ => 1 } (shift @said)->[1] =~ /called by (.*)/g;

	is(join(', ', sort keys %who), 'keeper', "who is called: $_");
}

# Settings are for everybody, but no way past the limit of temporary files.
$node->safe_psql('others', "ALTER ROLE reader SET temp_file_limit = '100kB'; CREATE TABLE many AS
	SELECT i AS id, hashint8extended(i, 1)::simhash64 AS fp FROM generate_series(1, 100000) i;
	ALTER TABLE many OWNER TO reader; ANALYZE many");
try(
	'reader', 'others',
	['SET simhash.enable_hammingjoin = off; SET simhash.report_progress = on'],
	map { [ "SET work_mem = 64; SET maintenance_work_mem = 1024; $_", '53400' ] }
	  'SELECT FROM many a JOIN many b ON a.fp <-> b.fp <= 1 AND a.id < b.id',
	"SELECT FROM simhash_pairs('SELECT id, fp FROM many', 1)",
	'CREATE INDEX ON many USING hamming (fp)');

$node->stop;
done_testing();
