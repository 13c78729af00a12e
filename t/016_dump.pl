# Dumps in each format have everything, and a restored database answers as the one
# that was dumped.  For script/soak upgrade SIMHASH_TEST_OLD names an installation:
# dumps are of a server of that one, in each format, and back.

use strict;
use warnings;

use FindBin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

use lib $FindBin::Bin;
use Life;

plan skip_all => 'set SIMHASH_TEST_EXTRA for tests that take long' if !$ENV{SIMHASH_TEST_EXTRA};

my $old = PostgreSQL::Test::Cluster->new('old', install_path => $ENV{SIMHASH_TEST_OLD});
my $new = PostgreSQL::Test::Cluster->new('new');
for my $node ($old, $new)
{
	$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
	$node->append_conf('postgresql.conf', "autovacuum = off\nlog_statement = none");
	$node->start;
}
note 'from ' . $old->pg_version . ' to ' . $new->pg_version;
create_life_database($old, 'life');
my $answers = answers($old, 'life');

my $dump = $new->basedir . '/dump';
my @source = ('-d', $old->connstr('life'));

# Run a dump in psql.  Only the role that runs the tests is there already, and only a
# setting may be one that an older server does not know.
sub restore
{
	my ($connection, $name) = @_;
	my $err = '';

	ok(IPC::Run::run([ 'psql', '-X', '-q', '-f', $dump, $connection ], '<', \undef, '2>', \$err), $name);
	$err =~ s/^.*ERROR:  (?:role "\w+" already exists|unrecognized configuration parameter "\w+")\n//mg;
	is($err, '', "$name: no other error");
	return;
}

# all databases
$new->command_ok([ 'pg_dumpall', '-f', $dump, @source ], 'pg_dumpall');
restore($new->connstr('postgres'), 'restore of all databases');
is(answers($new, 'life'), $answers, 'the same answers from all databases');

# whoever owns the database restores it, and need not be a superuser
$new->safe_psql('postgres', 'CREATE ROLE keeper LOGIN');
for my $format ($ENV{SIMHASH_TEST_OLD} ? ('plain', 'custom', 'directory', 'tar') : 'directory')
{
	my @jobs = $format eq 'directory' ? '-j2' : ();
	my @restore =
	  $format eq 'plain'
	  ? ('psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', "$dump.$format")
	  : ('pg_restore', '--no-owner', '--exit-on-error', @jobs, "$dump.$format");

	$new->command_ok([ 'pg_dump', '--no-owner', "-F$format", @jobs, '-f', "$dump.$format", @source ],
		"pg_dump, $format");
	$new->safe_psql('postgres', "CREATE DATABASE $format OWNER keeper");
	$new->command_ok([ @restore, '-U', 'keeper', '-d', $format ], "restore, $format");
	is(answers($new, $format), $answers, "the same answers, $format");
}

# one table
my $contents = q{SELECT md5(string_agg(d::text, ',' ORDER BY id)) FROM docs d};
$new->command_ok([ 'pg_dump', '-t', 'docs', '-e', 'simhash', '-f', $dump, @source ],
	'pg_dump of a table');
$new->safe_psql('postgres', 'CREATE DATABASE one');
$new->safe_psql('one', 'CREATE SCHEMA ext');
$new->command_ok([ 'psql', '-X', '-q', '-v', 'ON_ERROR_STOP=1', '-f', $dump, 'one' ],
	'restore of a table');
is($new->safe_psql('one', $contents), $old->safe_psql('life', $contents), 'the same rows');

# back to the older server, which does not know all settings of a dump
if ($ENV{SIMHASH_TEST_OLD})
{
	$new->command_ok([ 'pg_dump', '-f', $dump, $new->connstr('life') ], 'pg_dump of the new server');
	$old->safe_psql('postgres', 'CREATE DATABASE back');
	restore($old->connstr('back'), 'restore to the old one');
	is(answers($old, 'back'), $answers, 'the same answers from the new server');
}

$_->stop for $old, $new;
done_testing();
