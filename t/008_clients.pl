# The programs of doc/clients.md print what that page shows, and drivers send
# values as it says.  What is not installed is skipped, unless the environment
# variable SIMHASH_TEST_CLIENTS names it.

use strict;
use warnings;

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('clients');
$node->init(extra => [ '--locale=C', '--encoding=UTF8' ]);
# JDBC has no other way in, and others must not come in by it
open my $random, '<:raw', '/dev/urandom' or plan skip_all => 'needs /dev/urandom';
read $random, my $bytes, 16;
my $password = unpack 'H*', $bytes;
$node->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'");
unlink $node->data_dir . '/pg_hba.conf';
$node->append_conf('pg_hba.conf',
	"local all all trust\nhost all all 127.0.0.1/32 scram-sha-256");
$node->start;
$node->safe_psql('postgres', "ALTER ROLE CURRENT_USER PASSWORD '$password'");
$node->safe_psql('postgres',
	'CREATE EXTENSION simhash; CREATE TABLE sent (fp simhash64); CREATE TABLE wide (fp simhash128)');

my $user = $node->safe_psql('postgres', 'SELECT current_user');
my $url = 'jdbc:postgresql://127.0.0.1:' . $node->port . "/postgres?user=$user&password=$password";
my $classpath = $ENV{CLASSPATH} // '/usr/share/java/postgresql.jar';
my $directory = PostgreSQL::Test::Utils::tempdir;

delete @ENV{ grep { /^PG/ } keys %ENV };
@ENV{qw(PGHOST PGPORT PGUSER PGPASSWORD PGDATABASE)} =
  ('127.0.0.1', $node->port, $user, $password, 'postgres');
$ENV{GOPATH} //= '/usr/share/gocode';
$ENV{GO111MODULE} //= 'off';

# Of each language: the name of a source file, what runs it, its arguments.
my %language = (
	python => [ 'client.py', ['python3'] ],
	js => [ 'client.js', ['node'] ],
	java => [ 'Client.java', [ 'java', '-cp', $classpath ], $url ],
	go => [ 'client.go', [ 'go', 'run' ] ],
	perl => [ 'client.pl', ['perl'] ]);

# What a program prints, and, where it fails, why.
sub run_program
{
	my ($language, $source) = @_;
	my ($file, $command, @arguments) = @{ $language{$language} };
	my ($out, $err) = ('', '');
	my $ok;

	open my $fh, '>', "$directory/$file" or die "cannot write $file: $!";
	print $fh $source;
	close $fh;
	$ok = eval {
		IPC::Run::run([ @$command, "$directory/$file", @arguments ],
			'<', \undef, '>', \$out, '2>', \$err);
	};
	return ($out, $ok ? '' : $@ || $err || "exit code $?");
}

# What a driver is asked is a statement with a parameter and a value, in the
# driver's language.  A program answers each with a line: the first column of
# the first row, or the SQLSTATE, or 'refused' by the driver itself.
my $tokens =
  $node->safe_psql('postgres', q{SELECT simhash_tokens(ARRAY['New York'])});
my $text = $node->safe_psql('postgres', q{SELECT simhash('{"New York"}')});
my $insert = 'INSERT INTO sent VALUES ($1) RETURNING fp';
my $ones = 'f' x 16;
my $insert_wide = 'INSERT INTO wide VALUES ($1) RETURNING fp';
my $insert_number = 'INSERT INTO wide VALUES ($1::numeric) RETURNING fp';
my $insert_uuid = 'INSERT INTO wide VALUES ($1::uuid) RETURNING fp';
my $uuid = '00112233-4455-6677-8899-aabbccddeeff';
my $digits = $uuid =~ tr/-//dr;
my $half = '8' . '0' x 31;
isnt($text, $tokens, 'the text of an array is another text');

my %driver = (
	'psycopg' => {
		language => 'python',
		probe => 'import psycopg',
		program => <<'PYTHON',
import decimal
import uuid
import psycopg

connection = psycopg.connect(autocommit=True)

def ask(statement, value):
    try:
        print(connection.execute(statement.replace("$1", "%s"), [value]).fetchone()[0])
    except psycopg.Error as error:
        print(error.sqlstate)

ASK
PYTHON
		asks => [
			[ $insert, '-1', $ones ],
			[ $insert, '-32769', 'ffffffffffff7fff' ],
			[ $insert, '-2**63', '8000000000000000' ],
			[ $insert, '2**63', '8000000000000000' ],
			[ $insert, '2**64 - 1', $ones ],
			[ $insert, '2**64', '22003' ],
			[ $insert, 'decimal.Decimal(-1)', $ones ],
			[ $insert, '1.0', '42804' ],
			[ $insert, '"94456805082048be"', '94456805082048be' ],
			[ $insert, '"1234567890123456"', '1234567890123456' ],
			[ 'SELECT $1::numeric::simhash64', '"1234567890123456"', '000462d53c8abac0' ],
			[ 'SELECT $1::bytea::simhash64', 'b"abcdefgh"', '6162636465666768' ],
			[ 'SELECT fp <-> $1::bigint::simhash64 FROM pages WHERE id = 6', '-1', '32' ],
			[ 'SELECT fp <-> $1 FROM pages WHERE id = 6', '-1', '42883' ],
			[ 'SELECT simhash($1)', '["New York"]', $text ],
			[ 'SELECT simhash_tokens($1::text[])', '["New York"]', $tokens ],
			[ 'SELECT simhash_hashes($1::bigint[])', '[1, 6, 7]', '0000000000000007' ],
			[ $insert_wide, "uuid.UUID('$uuid')", $digits ],
			[ $insert_wide, "'$digits'", $digits ],
			[ $insert_wide, '2**127', $half ],
			[ $insert_wide, '0', '42804' ],
			[ $insert_number, '0', '0' x 32 ],
			[ $insert_number, '2**128 - 1', 'f' x 32 ],
			[ $insert_number, '2**128', '22003' ],
			[ 'SELECT $1::bytea::simhash128', 'b"abcdefghijklmnop"', unpack 'H*', 'abcdefghijklmnop' ],
			[ 'SELECT fp::uuid FROM wide WHERE fp <-> $1 <= 0', "'$digits'", $uuid ],
			[ "SELECT simhash_distance(\$1::simhash128, '$digits')", "'$digits'", '0' ]
		]
	},
	'node-postgres' => {
		language => 'js',
		probe => "require('pg');",
		program => <<'JS',
const { Client } = require('pg');
const client = new Client();

async function ask(text, value) {
    try {
        console.log((await client.query({ text, values: [value], rowMode: 'array' })).rows[0][0]);
    } catch (error) {
        console.log(error.code);
    }
}

(async () => {
    await client.connect();
    for (const [statement, value] of [
ASK
    ])
        await ask(statement, value);
    await client.end();
})();
JS
		ask => '["%s", %s],',
		asks => [
			[ $insert, '-1', '22P02' ],
			[ $insert, '1234567890123456n', '1234567890123456' ],
			[ 'SELECT $1::numeric::simhash64', '1234567890123456n', '000462d53c8abac0' ],
			[ 'INSERT INTO sent VALUES ($1::bigint) RETURNING fp', '-1n', $ones ],
			[ 'INSERT INTO sent VALUES ($1::numeric) RETURNING fp', '-1n', $ones ],
			[ 'INSERT INTO sent VALUES ($1::numeric) RETURNING fp', '2n ** 64n - 1n', $ones ],
			[ 'SELECT $1::bytea::simhash64', 'Buffer.from("abcdefgh")', '6162636465666768' ],
			[ 'SELECT simhash($1)', '["New York"]', $text ],
			[ 'SELECT simhash_tokens($1::text[])', '["New York"]', $tokens ],
			[ 'SELECT simhash_hashes($1::bigint[])', '[1n, 6n, 7n]', '0000000000000007' ],
			[ $insert_wide, "'$digits'", $digits ],
			[ $insert_wide, "'$uuid'", '22P02' ],
			[ $insert_uuid, "'$uuid'", $digits ],
			[ $insert_number, '2n ** 127n', $half ],
			[ 'SELECT $1::bytea::simhash128', 'Buffer.from("abcdefghijklmnop")', unpack 'H*', 'abcdefghijklmnop' ]
		]
	},
	'JDBC' => {
		language => 'java',
		probe => <<'JAVA',
public class Probe {
    public static void main(String[] args) throws Exception {
        Class.forName("org.postgresql.Driver");
    }
}
JAVA
		program => <<'JAVA',
import java.math.BigInteger;
import java.sql.*;

public class Ask {
    static Connection connection;

    static void ask(String statement, Object value) {
        try (PreparedStatement s = connection.prepareStatement(statement.replace("$1", "?"))) {
            if (value instanceof String)
                s.setString(1, (String) value);
            else
                s.setObject(1, value);
            ResultSet rows = s.executeQuery();
            rows.next();
            System.out.println(rows.getString(1));
        } catch (SQLException e) {
            System.out.println(e.getSQLState());
        }
    }

    public static void main(String[] args) throws Exception {
        connection = DriverManager.getConnection(args[0]);
ASK
    }
}
JAVA
		asks => [
			[ $insert, '(short) -1', $ones ],
			[ $insert, '-1', $ones ],
			[ $insert, '-1L', $ones ],
			[ $insert, 'BigInteger.valueOf(-1)', $ones ],
			[ $insert, 'BigInteger.TWO.pow(64).subtract(BigInteger.ONE)', $ones ],
			[ $insert, 'BigInteger.TWO.pow(64)', '22003' ],
			[ $insert, '"94456805082048be"', '42804' ],
			[ 'INSERT INTO sent VALUES ($1::simhash64) RETURNING fp', '"94456805082048be"', '94456805082048be' ],
			[ 'SELECT fp <-> $1 FROM pages WHERE id = 4', '"94456805082048be"', '42883' ],
			[ 'SELECT fp <-> $1::simhash64 FROM pages WHERE id = 4', '"94456805082048be"', '0' ],
			[ 'SELECT $1::simhash64', '"1234567890123456"', '1234567890123456' ],
			[ 'SELECT $1::numeric::simhash64', '"1234567890123456"', '000462d53c8abac0' ],
			[ 'SELECT simhash($1)', 'connection.createArrayOf("text", new String[] {"New York"})', $tokens ],
			[ $insert_wide, "java.util.UUID.fromString(\"$uuid\")", $digits ],
			[ $insert_wide, 'BigInteger.TWO.pow(127)', $half ],
			[ $insert_wide, '0L', '42804' ],
			[ $insert_number, '0L', '0' x 32 ],
			[ $insert_wide, qq{"$digits"}, '42804' ],
			[ 'INSERT INTO wide VALUES ($1::simhash128) RETURNING fp', qq{"$digits"}, $digits ],
			[ 'SELECT $1::bytea::simhash128', '"abcdefghijklmnop".getBytes()', unpack 'H*', 'abcdefghijklmnop' ]
		]
	},
	'Go' => {
		language => 'go',
		probe => "package main\nimport _ \"github.com/lib/pq\"\nfunc main() {}\n",
		program => <<'GO',
package main

import (
	"database/sql"
	"fmt"

	"github.com/lib/pq"
)

func main() {
	db, _ := sql.Open("postgres", "sslmode=disable")
	ask := func(statement string, value interface{}) {
		var answer string
		err := db.QueryRow(statement, value).Scan(&answer)
		if refusal, ok := err.(*pq.Error); ok {
			answer = string(refusal.Code)
		} else if err != nil {
			answer = "refused"
		}
		fmt.Println(answer)
	}
ASK
}
GO
		asks => [
			[ $insert, '-1', '22P02' ],
			[ $insert, 'int64(1234567890123456)', '1234567890123456' ],
			[ 'SELECT $1::bigint::simhash64', 'int64(1234567890123456)', '000462d53c8abac0' ],
			[ 'INSERT INTO sent VALUES ($1::bigint) RETURNING fp', 'int64(-1)', $ones ],
			[ 'INSERT INTO sent VALUES ($1::numeric) RETURNING fp', '"18446744073709551615"', $ones ],
			[ 'INSERT INTO sent VALUES ($1::numeric) RETURNING fp', 'uint64(1<<64 - 1)', 'refused' ],
			[ 'SELECT $1::bytea::simhash64', '[]byte("abcdefgh")', '6162636465666768' ],
			[ 'SELECT simhash($1)', 'pq.Array([]string{"New York"})', $text ],
			[ 'SELECT simhash_tokens($1::text[])', 'pq.Array([]string{"New York"})', $tokens ],
			[ $insert_wide, qq{"$digits"}, $digits ],
			[ $insert_uuid, qq{"$uuid"}, $digits ],
			[ $insert_number, '"170141183460469231731687303715884105728"', $half ],
			[ 'SELECT $1::bytea::simhash128', '[]byte("abcdefghijklmnop")', unpack 'H*', 'abcdefghijklmnop' ]
		]
	},
	'DBD::Pg' => {
		language => 'perl',
		probe => 'use DBD::Pg;',
		program => <<'PERL',
use strict;
use warnings;
use DBI;

my $db = DBI->connect('dbi:Pg:', '', '', { PrintError => 0 });

sub ask
{
	my ($statement, $value) = @_;
	my ($answer) = $db->selectrow_array($statement =~ s/\$1/?/r, {}, $value);
	print $answer // $db->state, "\n";
}
ASK
PERL
		ask => 'ask(q{%s}, %s);',
		asks => [
			[ $insert, '-1', '22P02' ],
			[ $insert, '1234567890123456', '1234567890123456' ],
			[ 'SELECT $1::numeric::simhash64', '1234567890123456', '000462d53c8abac0' ],
			[ 'SELECT simhash($1)', '["New York"]', $text ],
			[ 'SELECT simhash_tokens($1::text[])', '["New York"]', $tokens ],
			[ $insert_wide, "'$digits'", $digits ],
			[ $insert_uuid, "'$uuid'", $digits ],
			[ $insert_number, "'170141183460469231731687303715884105728'", $half ]
		]
	},
	'SQLAlchemy' =>
	  { language => 'python', probe => 'import sqlalchemy, psycopg2' },
	'Django' => {
		language => 'python',
		probe => 'import django.db.backends.postgresql.base'
	});
my %required = map { $_ => 1 } split ' ', $ENV{SIMHASH_TEST_CLIENTS} // '';
for (grep { !$driver{$_} } keys %required)
{
	die "SIMHASH_TEST_CLIENTS names \"$_\", which is none of " . join ', ', sort keys %driver;
}

# The page: its table, what each program prints, and the programs.
my ($introduction, @sections) = split /^## /m, slurp_file('doc/clients.md');
my ($table, $printed) =
  $introduction =~ /^```sql\n(.*?)^```\n.*?^```\n(.*?)^```\n/ms;
my %page;
for (@sections)
{
	$page{$1} = [ $2, $3 ] if /^\d+\. (\S+)\n.*?^```(\w+)\n(.*?)^```/ms;
}
is_deeply([ sort keys %page ],
	[ sort 'psycopg', 'node-postgres', 'JDBC', 'Go', 'SQLAlchemy', 'Django' ],
	'the programs of doc/clients.md');
$node->safe_psql('postgres', $table);
my $stored = join "\n",
  '1|94456805082048bc',
  '2|' . $node->safe_psql('postgres', q{SELECT simhash_tokens(ARRAY['New York', 'opening'])}),
  '3|94456805082048bd', '4|94456805082048be', '5|94456805082048bf', '6|0123456789abcdef';

sub check_page
{
	my ($name) = @_;
	my ($language, $source) = @{ $page{$name} };

	$node->safe_psql('postgres', 'TRUNCATE pages');
	my ($out, $err) = run_program($language, $source);
	is($out, $printed, "$name: prints") or diag $err;
	is($node->safe_psql('postgres', 'SELECT id, fp FROM pages ORDER BY id'),
		$stored, "$name: stores");
}

sub check_answers
{
	my ($name) = @_;
	my $driver = $driver{$name};
	my $ask = $driver->{ask} // 'ask("%s", %s);';
	my $program = $driver->{program};
	my $asks = join "\n", map { sprintf $ask, @$_[ 0, 1 ] } @{ $driver->{asks} };
	my ($out, $err);
	my @answers;

	$program =~ s/ASK/$asks/;
	($out, $err) = run_program($driver->{language}, $program);
	@answers = split /\n/, $out;
	for (@{ $driver->{asks} })
	{
		my ($statement, $value, $answer) = @$_;

		is(shift @answers, $answer, "$name: $statement, $value");
	}
	diag $err if $err;
}

for my $name (sort keys %driver)
{
  SKIP:
	{
		my ($out, $err) = run_program(@{ $driver{$name} }{qw(language probe)});
		my ($why) = $err =~ /^(.*(?:Error:|Exception|find|locate|found).*)/m;

		is($err, '', "$name: is there") if $required{$name};
		skip "$name: " . ($why // $err), 1 if $err;
		check_page($name) if $page{$name};
		check_answers($name) if $driver{$name}{asks};
	}
}

$node->stop;
done_testing();
