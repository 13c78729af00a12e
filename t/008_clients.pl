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
$node->append_conf('postgresql.conf', "listen_addresses = '127.0.0.1'\nenable_seqscan = off");
unlink $node->data_dir . '/pg_hba.conf';
$node->append_conf('pg_hba.conf',
	"local all all trust\nhost all all 127.0.0.1/32 scram-sha-256");
$node->start;
$node->safe_psql('postgres', "ALTER ROLE CURRENT_USER PASSWORD '$password'");

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
	# the compiler that starts soon
	java => [ 'Client.java', [ 'java', '-XX:TieredStopAtLevel=1', '-cp', $classpath ], $url ],
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

# What a user writes first, and what doc/clients.md says of it: kinds of values, each
# as a constant of SQL, and statements with them.  A driver's answer is what the
# server makes of the constant.  In its place is an SQLSTATE, where the value is for no
# statement.
my $uuid = '00112233-4455-6677-8899-aabbccddeeff';
my $sent = 'INSERT INTO sent VALUES ($1) RETURNING fp';
my $wide = 'INSERT INTO wide VALUES ($1) RETURNING fp';
my @of_hashes = map { "SELECT $_(\$1)" } 'simhash_hashes', 'minhash_hashes';
my @of_hashes_128 = map { "SELECT $_(\$1)" } 'simhash_hashes_128', 'minhash_hashes_128';
my @weighted = (
	q{SELECT simhash_tokens('{a,b,c}', $1)},
	q{SELECT simhash_hashes_128(ARRAY[md5('a'), md5('b'), md5('c')]::uuid[], $1)});
my $by_lexeme = q{SELECT simhash('a:1A b:2B c:3C d:4'::tsvector, $1)};
my $by_word = q{SELECT simhash('New York opening', $1)};

sub cast { return map { s/\$1/\$1::$_[0]/r } @_[ 1 .. $#_ ] }
my %kinds = (
	string => [ q{U&'New York, Z\00fcrich opening'::text},
		map { "SELECT $_(\$1)" } qw(simhash minhash simhash_128 minhash_128) ],
	strings => [ q{ARRAY['New York', 'null', 'a,b', '{c}', 'say "hi"', 'back\slash', U&'Z\00fcrich', '']},
		map { "SELECT $_(\$1)" } qw(simhash_tokens minhash_tokens simhash_tokens_128 minhash_tokens_128) ],
	'strings for a string' => [ q{'{"New York"}'::text}, map { "SELECT $_(\$1)" } qw(simhash minhash simhash_128 minhash_128) ],
	null => [ 'NULL', (map { "SELECT $_(\$1)" } qw(simhash minhash simhash_tokens minhash_tokens)), @of_hashes_128 ],
	nothing => [ q{'{}'}, 'SELECT simhash_tokens($1)', 'SELECT minhash_tokens($1)', @of_hashes, @of_hashes_128 ],
	integers => [ q{'{1,6,7}'::bigint[]}, @of_hashes ],
	'all 64 bits' => [ q{'{-1,9223372036854775807}'::bigint[]}, @of_hashes ],
	'unsigned integers' => [ '22003', @of_hashes ],
	UUIDs => [ "ARRAY['$uuid'::uuid]", @of_hashes_128 ],
	'UUIDs as strings' => [ "ARRAY['$uuid'::uuid]", @of_hashes_128 ],
	'strings, cast' => [ "ARRAY['$uuid']", cast('uuid[]', @of_hashes_128) ],
	floats => [ q{'{0.5,2.25,0.001}'::float8[]}, @weighted ],
	'whole numbers' => [ q{'{3,2,1}'::float8[]}, @weighted ],
	'floats and whole numbers' => [ q{'{0.5,2,1}'::float8[]}, @weighted ],
	decimals => [ q{'{0.5,2.25,0.001}'::float8[]}, @weighted ],
	labels => [ q{'{0.5,2.25,0.25,1}'::float4[]}, $by_lexeme ],
	'labels, cast' => [ q{'{0.5,2.25,0.25,1}'::float8[]}, cast('float4[]', $by_lexeme) ],
	JSON => [ q{'{"new": 0.1, "york": 3}'}, $by_word ],
	'JSON, cast' => [ q{'{"new": 0.1, "york": 3}'}, cast('simhash_weights', $by_word) ],
	'JSON object' => [ q{'{"new": 0.1, "york": 3}'::jsonb}, $by_word ],
	# of an EXPLAIN the first line: an index scan
	k => [ '5', q{EXPLAIN (COSTS OFF) SELECT FROM pages WHERE fp <-> minhash('x') <= $1} ],
	digits => [ q{'94456805082048be'}, $sent ],
	'digits, cast' => [ q{'94456805082048be'}, cast('simhash64', $sent), cast('simhash64', 'SELECT $1') ],
	# are read as hexadecimal
	'decimal digits' => [ q{'1234567890123456'}, $sent ],
	'decimal digits, cast' => [ '1234567890123456', cast('numeric', $sent),
		q{SELECT minhash('x') <-> $1::numeric::simhash64} ],
	integer => [ '-1', $sent ],
	'unsigned integer' => [ '18446744073709551615', $sent ],
	'integer, cast' => [ '-1', cast('bigint', $sent) ],
	'unsigned integer, cast' => [ '18446744073709551615', cast('numeric', $sent) ],
	'too large' => [ '22003', cast('numeric', $sent) ],
	'small integer of 128 bits' => [ '42804', $wide ],
	'small integer of 128 bits, cast' => [ '0', cast('numeric', $wide) ],
	'integer of 128 bits, cast' => [ '170141183460469231731687303715884105728', cast('numeric', $wide) ],
	'digits of 128 bits' => [ q{'00112233445566778899aabbccddeeff'}, $wide ],
	UUID => [ "'$uuid'::uuid", $wide ],
	'UUID, cast' => [ "'$uuid'", cast('uuid', $wide), q{SELECT minhash_128('x') <-> $1::uuid::simhash128} ],
	bytes => [ q{'abcdefgh'}, 'SELECT $1::bytea::simhash64' ],
	'bytes of 128 bits' => [ q{'abcdefghijklmnop'}, 'SELECT $1::bytea::simhash128' ]);

# Strings as Python, JavaScript, Java and Go write them.
my $string = q{"New York, Z\u00fcrich opening"};
my $strings = q{"New York", "null", "a,b", "{c}", "say \"hi\"", "back\\\\slash", "Z\u00fcrich", ""};
my $json = q{"{\"new\": 0.1, \"york\": 3}"};
# what those that send text without a type answer, which has no value of a type
my %untyped = (integer => '22P02', UUID => '22P02', 'small integer of 128 bits' => '22P02');
# values that are the same in most languages
my %common = (
	string => $string,
	'strings for a string' => '["New York"]',
	strings => "[$strings]",
	nothing => '[]',
	integers => '[1, 6, 7]',
	'UUIDs as strings' => "['$uuid']",
	'strings, cast' => "['$uuid']",
	floats => '[0.5, 2.25, 1e-3]',
	'whole numbers' => '[3, 2, 1]',
	'floats and whole numbers' => '[0.5, 2, 1]',
	labels => '[0.5, 2.25, 0.25, 1.0]',
	'labels, cast' => '[0.5, 2.25, 0.25, 1.0]',
	JSON => $json,
	'JSON, cast' => $json,
	k => '5',
	digits => '"94456805082048be"',
	'digits, cast' => '"94456805082048be"',
	integer => '-1',
	'integer, cast' => '-1',
	'small integer of 128 bits' => '0',
	'small integer of 128 bits, cast' => '0',
	'digits of 128 bits' => '"00112233445566778899aabbccddeeff"',
	UUID => "'$uuid'",
	'UUID, cast' => "'$uuid'");

# A program of psycopg, of either version.
sub python
{
	my ($module, $jsonb, $more) = @_;

	return (
		language => 'python',
		probe => "import $module",
		program => <<"PYTHON",
import uuid
from decimal import Decimal
import $module as driver
$more
connection = driver.connect("")
connection.autocommit = True
cursor = connection.cursor()

def ask(statement, value):
    try:
        cursor.execute(statement.replace("\$1", "%s"), [value])
        answer = cursor.fetchone()[0]
        print("NULL" if answer is None else answer)
    except driver.Error as error:
        print(getattr(error, "sqlstate", None) or getattr(error, "pgcode", None) or "refused")

ASK
PYTHON
		values => {
			%common,
			null => 'None',
			'all 64 bits' => '[-1, 2**63 - 1]',
			'unsigned integers' => '[1, 2**63]',
			UUIDs => "[uuid.UUID('$uuid')]",
			decimals => '[Decimal("0.5"), Decimal("2.25"), Decimal("0.001")]',
			'JSON, cast' => 'Json({"new": 0.1, "york": 3})',
			'JSON object' => "$jsonb({'new': 0.1, 'york': 3})",
			'decimal digits' => '"1234567890123456"',
			'decimal digits, cast' => '"1234567890123456"',
			'unsigned integer' => '2**64 - 1',
			'unsigned integer, cast' => 'Decimal(2**64 - 1)',
			'too large' => '2**64',
			'integer of 128 bits, cast' => '2**127',
			UUID => "uuid.UUID('$uuid')",
			bytes => 'b"abcdefgh"',
			'bytes of 128 bits' => 'b"abcdefghijklmnop"'
		});
}

my %driver = (
	'psycopg' => {
		python('psycopg', 'Jsonb', 'from psycopg.types.json import Json, Jsonb'),
		errors => { 'unsigned integers' => '42883', 'floats and whole numbers' => 'refused', labels => '42883' }
	},
	'psycopg2' => {
		python('psycopg2', 'Json', "from psycopg2.extras import Json, register_uuid\nregister_uuid()"),
		errors => {
			'strings for a string' => '42883',
			'unsigned integers' => '42883',
			'UUIDs as strings' => '42883'
		}
	},
	# they send what psycopg sends
	'SQLAlchemy' => { language => 'python', probe => 'import sqlalchemy, psycopg2' },
	'Django' => { language => 'python', probe => 'import django.db.backends.postgresql.base' },
	'node-postgres' => {
		language => 'js',
		probe => "require('pg');",
		program => <<'JS',
const { Client } = require('pg');
const client = new Client();

async function ask(text, value) {
    try {
        const answer = (await client.query({ text, values: [value], rowMode: 'array' })).rows[0][0];
        console.log(answer ?? 'NULL');
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
		values => {
			%common,
			null => 'null',
			'all 64 bits' => '[-1n, 2n ** 63n - 1n]',
			'unsigned integers' => '[1, 2n ** 63n]',
			'JSON object' => '{ new: 0.1, york: 3 }',
			'decimal digits' => '1234567890123456n',
			'decimal digits, cast' => '1234567890123456n',
			'unsigned integer, cast' => '2n ** 64n - 1n',
			'too large' => '2n ** 64n',
			'integer of 128 bits, cast' => '2n ** 127n',
			bytes => 'Buffer.from("abcdefgh")',
			'bytes of 128 bits' => 'Buffer.from("abcdefghijklmnop")'
		},
		errors => \%untyped
	},
	'JDBC' => {
		language => 'java',
		probe => 'public class Probe { public static void main(String[] args) throws Exception {
			Class.forName("org.postgresql.Driver"); } }',
		program => <<'JAVA',
import java.math.*;
import java.sql.*;
import java.util.*;

public class Ask {
    static Connection connection;

    static void ask(String statement, Object value) {
        try (PreparedStatement s = connection.prepareStatement(statement.replace("$1", "?"))) {
            s.setObject(1, value);
            ResultSet rows = s.executeQuery();
            rows.next();
            String answer = rows.getString(1);
            System.out.println(answer == null ? "NULL" : answer);
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
		values => {
			string => $string,
			strings => [ "new String[] {$strings}", "connection.createArrayOf(\"text\", new String[] {$strings})" ],
			'strings for a string' => 'new String[] {"New York"}',
			null => 'null',
			integers => [ 'new int[] {1, 6, 7}', 'new Long[] {1L, 6L, 7L}',
				'connection.createArrayOf("bigint", List.of(1L, 6L, 7L).toArray())' ],
			'all 64 bits' => 'new long[] {-1, Long.MAX_VALUE}',
			'unsigned integers' => 'connection.createArrayOf("numeric", new BigInteger[] {BigInteger.TWO.pow(63)})',
			UUIDs => "connection.createArrayOf(\"uuid\", new UUID[] {UUID.fromString(\"$uuid\")})",
			'UUIDs as strings' => "new String[] {\"$uuid\"}",
			'strings, cast' => "new String[] {\"$uuid\"}",
			floats => 'new double[] {0.5, 2.25, 1e-3}',
			'whole numbers' => [ 'new int[] {3, 2, 1}', 'new float[] {3, 2, 1}' ],
			decimals => 'connection.createArrayOf("numeric", new BigDecimal[] {new BigDecimal("0.5"), new BigDecimal("2.25"), new BigDecimal("0.001")})',
			labels => 'new float[] {0.5f, 2.25f, 0.25f, 1}',
			'labels, cast' => 'new double[] {0.5, 2.25, 0.25, 1}',
			JSON => $json,
			'JSON, cast' => $json,
			k => [ '(short) 5', '5', '5L' ],
			digits => '"94456805082048be"',
			'digits, cast' => '"94456805082048be"',
			'decimal digits, cast' => '"1234567890123456"',
			integer => [ '(short) -1', '-1', '-1L', 'BigInteger.valueOf(-1)' ],
			'unsigned integer' => 'BigInteger.TWO.pow(64).subtract(BigInteger.ONE)',
			'too large' => 'BigInteger.TWO.pow(64)',
			'integer, cast' => '-1L',
			'small integer of 128 bits' => '0L',
			'small integer of 128 bits, cast' => '0L',
			'integer of 128 bits, cast' => 'BigInteger.TWO.pow(127)',
			'digits of 128 bits' => '"00112233445566778899aabbccddeeff"',
			UUID => "UUID.fromString(\"$uuid\")",
			'UUID, cast' => "\"$uuid\"",
			'bytes of 128 bits' => '"abcdefghijklmnop".getBytes()'
		},
		errors => {
			digits => '42804',
			'digits of 128 bits' => '42804',
			map { $_ => '42883' } 'strings for a string', 'unsigned integers', 'UUIDs as strings', 'JSON'
		}
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
		var answer sql.NullString
		err := db.QueryRow(statement, value).Scan(&answer)
		if refusal, ok := err.(*pq.Error); ok {
			fmt.Println(refusal.Code)
		} else if err != nil {
			fmt.Println("refused")
		} else if answer.Valid {
			fmt.Println(answer.String)
		} else {
			fmt.Println("NULL")
		}
	}
ASK
}
GO
		values => {
			(map { my $value = $common{$_}; $_ => $value =~ s/'/"/gr } grep { $common{$_} !~ /^\[/ } keys %common),
			string => [ $string, "[]byte($string)" ],
			strings => "pq.Array([]string{$strings})",
			'strings for a string' => 'pq.Array([]string{"New York"})',
			null => 'nil',
			nothing => 'pq.Array([]string{})',
			integers => 'pq.Array([]int64{1, 6, 7})',
			'all 64 bits' => 'pq.Array([]int64{-1, 1<<63 - 1})',
			'unsigned integers' => 'pq.Array([]string{"1", "9223372036854775808"})',
			'UUIDs as strings' => "pq.Array([]string{\"$uuid\"})",
			floats => 'pq.Array([]float64{0.5, 2.25, 1e-3})',
			'whole numbers' => 'pq.Array([]int64{3, 2, 1})',
			labels => 'pq.Array([]float32{0.5, 2.25, 0.25, 1})',
			'decimal digits' => 'int64(1234567890123456)',
			'decimal digits, cast' => 'int64(1234567890123456)',
			'unsigned integer' => 'uint64(1<<64 - 1)',
			'unsigned integer, cast' => '"18446744073709551615"',
			'integer of 128 bits, cast' => '"170141183460469231731687303715884105728"',
			bytes => '[]byte("abcdefgh")',
			'bytes of 128 bits' => '[]byte("abcdefghijklmnop")'
		},
		errors => { %untyped, 'unsigned integer' => 'refused' }
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
	print $db->err ? $db->state : $answer // 'NULL', "\n";
}
ASK
PERL
		ask => 'ask(q{%s}, %s);',
		values => {
			(map { $_ => $common{$_} =~ s/\\u00fc/\\x{fc}/gr } keys %common),
			null => 'undef',
			'all 64 bits' => '[-1, "9223372036854775807"]',
			'unsigned integers' => '[1, "9223372036854775808"]',
			'decimal digits' => '1234567890123456',
			'decimal digits, cast' => '1234567890123456',
			'unsigned integer, cast' => '"18446744073709551615"',
			'integer of 128 bits, cast' => '"170141183460469231731687303715884105728"'
		},
		errors => \%untyped
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
$node->safe_psql('postgres',
	"$table; CREATE TABLE sent (fp simhash64); CREATE TABLE wide (fp simhash128)");
my $stored = join "\n",
  '1|e1e59976bb4d77f2',
  '2|' . $node->safe_psql('postgres', q{SELECT minhash_tokens(ARRAY['New York', 'opening'])}),
  '3|e1e59976bb4d77f3', '4|e1e59976bb4d77f0', '5|e1e59976bb4d77f1', '6|0123456789abcdef';

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

# What the server answers for the constants.
my %answer;
for my $kind (sort keys %kinds)
{
	my ($constant, @statements) = @{ $kinds{$kind} };

	for my $statement (@statements)
	{
		$answer{$kind}{$statement} = $constant =~ /^\d\d\w{3}$/ ? $constant :
		  $node->safe_psql('postgres', "\\pset null NULL\n" . $statement =~ s/\$1/($constant)/r) =~ s/\n.*//sr;
	}
}
like((values %{ $answer{k} })[0], qr/^(Bitmap Heap|Index) Scan/, 'a search uses the index');

# Ask for each value; the program answers each with a line: the first column of the first
# row, 'NULL' for a null, or the SQLSTATE, or 'refused' by the driver itself.
sub check_answers
{
	my ($name) = @_;
	my $driver = $driver{$name};
	my @asks;

	for my $kind (sort keys %{ $driver->{values} })
	{
		my $values = $driver->{values}{$kind};
		my $error = $driver->{errors}{$kind};

		for my $value (ref $values ? @$values : $values)
		{
			push @asks, map { [ $_, $value, $error // $answer{$kind}{$_} ] } sort keys %{ $answer{$kind} };
		}
	}
	my $asks = join "\n", map { sprintf $driver->{ask} // 'ask("%s", %s);', @$_[ 0, 1 ] } @asks;
	my ($out, $err) = run_program($driver->{language}, $driver->{program} =~ s/ASK/$asks/r);
	my @answers = split /\n/, $out;

	is(shift @answers, $$_[2], "$name: $$_[0], $$_[1]") for @asks;
	diag $err if $err;
	return;
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
		check_answers($name) if $driver{$name}{program};
	}
}

$node->stop;
done_testing();
