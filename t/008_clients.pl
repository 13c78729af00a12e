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

# What a driver is asked is a statement with a parameter and a value, in the
# driver's language.  A program answers each with a line: the first column of
# the first row, 'NULL' for a null, or the SQLSTATE, or 'refused' by the driver
# itself.
my $insert = 'INSERT INTO sent VALUES ($1) RETURNING fp';
my $ones = 'f' x 16;
my $insert_wide = 'INSERT INTO wide VALUES ($1) RETURNING fp';
my $insert_number = 'INSERT INTO wide VALUES ($1::numeric) RETURNING fp';
my $insert_uuid = 'INSERT INTO wide VALUES ($1::uuid) RETURNING fp';
my $uuid = '00112233-4455-6677-8899-aabbccddeeff';
my $digits = $uuid =~ tr/-//dr;
my $half = '8' . '0' x 31;
my $type = 'SELECT pg_typeof($1)::text';
# the plan's first line
my $near = q{EXPLAIN (COSTS OFF) SELECT FROM pages WHERE fp <-> simhash('x') <= $1};
my $index = qr/^(Bitmap Heap|Index) Scan/;

# Tokens as an array of SQL, and in double quotes, as Python, JavaScript, Java and
# Go read them.
my $tokens =
  q{ARRAY['New York', 'null', 'a,b', '{c}', 'say "hi"', 'back\slash', U&'Z\00fcrich', '']};
my $list =
  q{"New York", "null", "a,b", "{c}", "say \"hi\"", "back\\\\slash", "Z\u00fcrich", ""};
my $weights = q{"{\"new\": 0.1, \"york\": 3}"};

# What a user writes first, without a cast: kinds of values, each as a constant
# of SQL, and calls with them.  A driver's answer is what the server makes of the
# constant.  In its place is an SQLSTATE, where the value is for no call; drivers
# that get another one have it in their errors.
my @of_tokens = map { $_ . '($1)' }
  qw(simhash_tokens minhash_tokens simhash_tokens_128 minhash_tokens_128);
my @of_hashes = ('simhash_hashes($1)', 'minhash_hashes($1)');
my @of_hashes_128 = ('simhash_hashes_128($1)', 'minhash_hashes_128($1)');
my @weighted = (
	q{simhash_tokens('{a,b,c}', $1)},
	q{simhash_hashes_128(ARRAY[md5('a'), md5('b'), md5('c')]::uuid[], $1)});
my @by_word = (q{simhash('New York opening', $1)}, q{minhash_128('York opening', weights => $1)});

sub features { return "(SELECT md5(string_agg(f::text, ' ')) FROM simhash_features_$_[0](\$1) f)" }
my %natural = (
	string => [ q{U&'New York, Z\00fcrich opening'::text},
		'simhash($1)', 'minhash($1)', 'simhash_128($1)', 'minhash_128($1)' ],
	strings => [ $tokens, @of_tokens, features('tokens') ],
	'no strings' => [ q{'{}'::text[]}, @of_tokens ],
	'a string for strings' => [ '22P02', 'simhash_tokens($1)', 'minhash_tokens_128($1)' ],
	'strings for a string' => [ q{'{"New York"}'::text}, 'simhash($1)', 'minhash_128($1)' ],
	null => [ 'NULL', 'simhash($1)', 'simhash_tokens($1)', 'simhash_hashes_128($1)' ],
	integers => [ q{'{1,6,7}'::bigint[]}, @of_hashes, features('hashes') ],
	'all 64 bits' => [ q{'{-1,9223372036854775807}'::bigint[]}, @of_hashes ],
	'unsigned' => [ '22003', @of_hashes ],
	'no integers' => [ q{'{}'::bigint[]}, @of_hashes ],
	UUIDs => [ "ARRAY['$uuid'::uuid]", @of_hashes_128, features('hashes_128') ],
	'UUIDs as strings' => [ "ARRAY['$uuid'::uuid]", @of_hashes_128 ],
	'no UUIDs' => [ q{'{}'::uuid[]}, @of_hashes_128 ],
	floats => [ q{'{0.5,2.25,0.001}'::float8[]}, @weighted ],
	'whole numbers' => [ q{'{3,2,1}'::float8[]}, @weighted ],
	decimals => [ q{'{0.5,2.25,0.001}'::float8[]}, @weighted ],
	labels => [ q{'{0.5,2.25,0.25,1}'::float4[]},
		q{simhash('a:1A b:2B c:3C d:4'::tsvector, $1)} ],
	'labels of float8' => [ '42883', q{simhash('a'::tsvector, $1)} ],
	JSON => [ q{'{"new": 0.1, "york": 3}'::simhash_weights}, $by_word[0] ],
	'stop list' => [ q{'{"york": 0}'::simhash_weights}, $by_word[1] ],
	dict => [ 'refused', $by_word[0] ],
	'JSON object' => [ q{'{"new": 0.1, "york": 3}'::simhash_weights}, $by_word[0] ],
	'an object of json' => [ '42883', $by_word[0] ]);

my %python = (
	string => q{"New York, Z\u00fcrich opening"},
	null => 'None',
	'a string for strings' => '"New York"',
	'strings for a string' => '["New York"]',
	strings => "[$list]",
	'no strings' => '[]',
	integers => '[1, 6, 7]',
	'all 64 bits' => '[-1, 2**63 - 1]',
	unsigned => '[1, 2**63]',
	'no integers' => '[]',
	UUIDs => "[uuid.UUID('$uuid')]",
	'UUIDs as strings' => "['$uuid']",
	'no UUIDs' => '[]',
	floats => '[0.5, 2.25, 1e-3]',
	'whole numbers' => '[3, 2, 1]',
	decimals => '[Decimal("0.5"), Decimal("2.25"), Decimal("0.001")]',
	labels => '[0.5, 2.25, 0.25, 1.0]',
	JSON => $weights,
	'stop list' => q{'{"york": 0}'},
	dict => '{"new": 0.1, "york": 3}');

my %driver = (
	'psycopg' => {
		language => 'python',
		probe => 'import psycopg',
		program => <<'PYTHON',
import uuid
from decimal import Decimal
import psycopg
from psycopg.types.json import Json, Jsonb

connection = psycopg.connect(autocommit=True)

def ask(statement, value):
    try:
        answer = connection.execute(statement.replace("$1", "%s"), [value]).fetchone()[0]
        print("NULL" if answer is None else answer)
    except psycopg.Error as error:
        print(error.sqlstate or "refused")

ASK
PYTHON
		values => {
			%python,
			'JSON object' => 'Jsonb({"new": 0.1, "york": 3})',
			'an object of json' => 'Json({"new": 0.1, "york": 3})'
		},
		errors => { unsigned => '42883', labels => '42883' },
		asks => [
			[ $insert, '-1', $ones ],
			[ $insert, '-32769', 'ffffffffffff7fff' ],
			[ $insert, '-2**63', '8000000000000000' ],
			[ $insert, '2**63', '8000000000000000' ],
			[ $insert, '2**64 - 1', $ones ],
			[ $insert, '2**64', '22003' ],
			[ $insert, 'Decimal(-1)', $ones ],
			[ $insert, '1.0', '42804' ],
			[ $insert, '"94456805082048be"', '94456805082048be' ],
			[ $insert, '"1234567890123456"', '1234567890123456' ],
			[ 'SELECT $1::numeric::simhash64', '"1234567890123456"', '000462d53c8abac0' ],
			[ 'SELECT $1::bytea::simhash64', 'b"abcdefgh"', '6162636465666768' ],
			[ 'SELECT fp <-> $1::bigint::simhash64 FROM pages WHERE id = 6', '-1', '32' ],
			[ 'SELECT fp <-> $1 FROM pages WHERE id = 6', '-1', '42883' ],
			[ $type, '"a"', '42P18' ],
			[ $type, '["a"]', '42P18' ],
			[ $type, '[]', '42P18' ],
			[ $type, '5', 'smallint' ],
			[ $type, '32768', 'integer' ],
			[ $type, '2**31', 'bigint' ],
			[ $type, '2**63', 'numeric' ],
			[ $type, '0.5', 'double precision' ],
			[ $type, 'Decimal("0.5")', 'numeric' ],
			[ $type, '[5]', 'smallint[]' ],
			[ $near, '5', $index ],
			[ $near =~ s/<= \$1/BETWEEN 0 AND \$1/r, '5', $index ],
			[ $near =~ s/(fp.*) <= \$1/\$1 > $1/r, '5', $index ],
			[ $near, '2**31', $index ],
			[ $insert_wide, "uuid.UUID('$uuid')", $digits ],
			[ $insert_wide, "'$digits'", $digits ],
			[ $insert_wide, '2**127', $half ],
			[ $insert_wide, '0', '42804' ],
			[ $insert_number, '0', '0' x 32 ],
			[ q{SELECT simhash('New York opening', $1::simhash_weights)}, 'Json({"new": 0.1, "york": 3})', 'b97cce1d9dd0bf1a' ],
			[ q{SELECT simhash_tokens('{a,b}', $1)}, '[0.5, 2]', 'refused' ],
			[ q{SELECT simhash('a:1A b:2B c:3C d:4'::tsvector, $1::float4[])}, '[0.5, 2.25, 0.25, 1.0]', '8c40219a46b9f81b' ],
			[ $insert_number, '2**128 - 1', 'f' x 32 ],
			[ $insert_number, '2**128', '22003' ],
			[ 'SELECT $1::bytea::simhash128', 'b"abcdefghijklmnop"', unpack 'H*', 'abcdefghijklmnop' ],
			[ 'SELECT fp::uuid FROM wide WHERE fp <-> $1 <= 0', "'$digits'", $uuid ],
			[ "SELECT simhash_distance(\$1::simhash128, '$digits')", "'$digits'", '0' ]
		]
	},
	'psycopg2' => {
		language => 'python',
		probe => 'import psycopg2',
		program => <<'PYTHON',
import uuid
from decimal import Decimal
import psycopg2
from psycopg2.extras import Json, register_uuid

register_uuid()
connection = psycopg2.connect("")
connection.autocommit = True
cursor = connection.cursor()

def ask(statement, value):
    try:
        cursor.execute(statement.replace("$1", "%s"), [value])
        answer = cursor.fetchone()[0]
        print("NULL" if answer is None else answer)
    except psycopg2.Error as error:
        print(error.pgcode or "refused")

ASK
PYTHON
		values => { %python, 'JSON object' => 'Json({"new": 0.1, "york": 3})' },
		errors => {
			'strings for a string' => '42883',
			unsigned => '42883',
			'UUIDs as strings' => '42883'
		},
		asks => [
			[ $insert, '-1', $ones ],
			[ $insert, '2**64 - 1', $ones ],
			[ $type, '"a"', 'unknown' ],
			[ $type, '["a"]', 'text[]' ],
			[ $type, '[]', 'unknown' ],
			[ $type, '5', 'integer' ],
			[ $type, '2**31', 'bigint' ],
			[ $type, '2**63', 'numeric' ],
			[ $type, '0.5', 'numeric' ],
			[ $type, '[5]', 'integer[]' ],
			[ 'SELECT simhash_hashes_128($1::uuid[])', "['$uuid']", $digits ],
			[ $near, '5', $index ]
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
			string => q{"New York, Z\u00fcrich opening"},
			strings => "[$list]",
			'no strings' => '[]',
			'a string for strings' => '"New York"',
			'strings for a string' => '["New York"]',
			null => 'null',
			integers => '[1, 6, 7]',
			'all 64 bits' => '[-1n, 2n ** 63n - 1n]',
			unsigned => '[1, 2n ** 63n]',
			'no integers' => '[]',
			'UUIDs as strings' => "['$uuid']",
			'no UUIDs' => '[]',
			floats => '[0.5, 2.25, 1e-3]',
			'whole numbers' => '[3, 2, 1]',
			labels => '[0.5, 2.25, 0.25, 1]',
			JSON => $weights,
			'stop list' => q{'{"york": 0}'},
			'JSON object' => '{ new: 0.1, york: 3 }'
		},
		asks => [
			[ $insert, '-1', '22P02' ],
			[ $insert, '1234567890123456n', '1234567890123456' ],
			[ 'SELECT $1::numeric::simhash64', '1234567890123456n', '000462d53c8abac0' ],
			[ 'INSERT INTO sent VALUES ($1::bigint) RETURNING fp', '-1n', $ones ],
			[ 'INSERT INTO sent VALUES ($1::numeric) RETURNING fp', '-1n', $ones ],
			[ 'INSERT INTO sent VALUES ($1::numeric) RETURNING fp', '2n ** 64n - 1n', $ones ],
			[ 'SELECT $1::bytea::simhash64', 'Buffer.from("abcdefgh")', '6162636465666768' ],
			[ $type, '"a"', '42P18' ],
			[ $type, '["a"]', '42P18' ],
			[ $type, '5', '42P18' ],
			[ $type, '[5]', '42P18' ],
			[ $near, '5', $index ],
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
import java.math.*;
import java.sql.*;
import java.util.*;
import org.postgresql.util.PGobject;

public class Ask {
    static Connection connection;

    static PGobject object(String type, String value) throws SQLException {
        PGobject object = new PGobject();
        object.setType(type);
        object.setValue(value);
        return object;
    }

    static void ask(String statement, Object value) {
        try (PreparedStatement s = connection.prepareStatement(statement.replace("$1", "?"))) {
            if (value instanceof String)
                s.setString(1, (String) value);
            else
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
			string => q{"New York, Z\u00fcrich opening"},
			strings => [ "new String[] {$list}",
				"connection.createArrayOf(\"text\", new String[] {$list})",
				"connection.createArrayOf(\"varchar\", List.of($list).toArray())" ],
			'no strings' => 'new String[] {}',
			'a string for strings' => '"New York"',
			'strings for a string' => 'new String[] {"New York"}',
			null => 'null',
			integers => [ 'new short[] {1, 6, 7}', 'new int[] {1, 6, 7}', 'new long[] {1, 6, 7}', 'new Long[] {1L, 6L, 7L}',
				'connection.createArrayOf("bigint", List.of(1L, 6L, 7L).toArray())' ],
			'all 64 bits' => 'new long[] {-1, Long.MAX_VALUE}',
			unsigned => 'connection.createArrayOf("numeric", new BigInteger[] {BigInteger.ONE, BigInteger.TWO.pow(63)})',
			'no integers' => 'new long[] {}',
			UUIDs => "connection.createArrayOf(\"uuid\", new UUID[] {UUID.fromString(\"$uuid\")})",
			'UUIDs as strings' => "new String[] {\"$uuid\"}",
			'no UUIDs' => 'connection.createArrayOf("uuid", new UUID[] {})',
			floats => [ 'new double[] {0.5, 2.25, 1e-3}', 'new Double[] {0.5, 2.25, 1e-3}' ],
			'whole numbers' => [ 'new int[] {3, 2, 1}', 'new float[] {3, 2, 1}' ],
			decimals => 'connection.createArrayOf("numeric", new BigDecimal[] {new BigDecimal("0.5"), new BigDecimal("2.25"), new BigDecimal("0.001")})',
			labels => 'new float[] {0.5f, 2.25f, 0.25f, 1}',
			'labels of float8' => 'new double[] {0.5, 2.25, 0.25, 1}',
			JSON => $weights,
			'stop list' => 'object("simhash_weights", "{\"york\": 0}")',
			'JSON object' => "object(\"jsonb\", $weights)"
		},
		errors => {
			'a string for strings' => '42883',
			'strings for a string' => '42883',
			unsigned => '42883',
			'UUIDs as strings' => '42883',
			JSON => '42883'
		},
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
			[ 'SELECT simhash_tokens($1)', 'List.of("New York")', '07006' ],
			[ $type, '"a"', 'character varying' ],
			[ $type, 'new String[] {"a"}', 'character varying[]' ],
			[ $type, '(short) 5', 'smallint' ],
			[ $type, '5', 'integer' ],
			[ $type, '5L', 'bigint' ],
			[ $type, 'BigInteger.ONE', 'numeric' ],
			[ $type, '0.5', 'double precision' ],
			[ $near, '(short) 5', $index ],
			[ $near, '5', $index ],
			[ $near, '5L', $index ],
			[ $insert_wide, "java.util.UUID.fromString(\"$uuid\")", $digits ],
			[ $insert_wide, 'BigInteger.TWO.pow(127)', $half ],
			[ $insert_wide, '0L', '42804' ],
			[ $insert_number, '0L', '0' x 32 ],
			[ q{SELECT simhash('New York opening', $1::simhash_weights)}, $weights, 'b97cce1d9dd0bf1a' ],
			[ 'SELECT simhash_hashes_128($1::uuid[])', "new String[] {\"$uuid\"}", $digits ],
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
		answer := sql.NullString{String: "NULL"}
		err := db.QueryRow(statement, value).Scan(&answer)
		if refusal, ok := err.(*pq.Error); ok {
			answer.String = string(refusal.Code)
		} else if err != nil {
			answer.String = "refused"
		} else if !answer.Valid {
			answer.String = "NULL"
		}
		fmt.Println(answer.String)
	}
ASK
}
GO
		values => {
			string => [ q{"New York, Z\u00fcrich opening"}, q{[]byte("New York, Z\u00fcrich opening")} ],
			strings => "pq.Array([]string{$list})",
			'no strings' => 'pq.Array([]string{})',
			'a string for strings' => '"New York"',
			'strings for a string' => 'pq.Array([]string{"New York"})',
			null => 'nil',
			integers => 'pq.Array([]int64{1, 6, 7})',
			'all 64 bits' => 'pq.Array([]int64{-1, 1<<63 - 1})',
			unsigned => 'pq.Array([]string{"1", "9223372036854775808"})',
			'no integers' => 'pq.Array([]int64{})',
			'UUIDs as strings' => "pq.Array([]string{\"$uuid\"})",
			'no UUIDs' => 'pq.Array([]string{})',
			floats => 'pq.Array([]float64{0.5, 2.25, 1e-3})',
			'whole numbers' => 'pq.Array([]int64{3, 2, 1})',
			labels => 'pq.Array([]float32{0.5, 2.25, 0.25, 1})',
			JSON => [ $weights, "[]byte($weights)" ],
			'stop list' => q{"{\"york\": 0}"}
		},
		asks => [
			[ $insert, '-1', '22P02' ],
			[ $insert, 'int64(1234567890123456)', '1234567890123456' ],
			[ 'SELECT $1::bigint::simhash64', 'int64(1234567890123456)', '000462d53c8abac0' ],
			[ 'INSERT INTO sent VALUES ($1::bigint) RETURNING fp', 'int64(-1)', $ones ],
			[ 'INSERT INTO sent VALUES ($1::numeric) RETURNING fp', '"18446744073709551615"', $ones ],
			[ 'INSERT INTO sent VALUES ($1::numeric) RETURNING fp', 'uint64(1<<64 - 1)', 'refused' ],
			[ 'SELECT $1::bytea::simhash64', '[]byte("abcdefgh")', '6162636465666768' ],
			[ 'SELECT simhash_tokens($1)', '[]string{"New York"}', 'refused' ],
			[ 'SELECT simhash_hashes($1)', 'pq.Array([]uint64{1, 1<<63})', 'refused' ],
			[ $type, '"a"', '42P18' ],
			[ $type, 'pq.Array([]string{"a"})', '42P18' ],
			[ $type, '5', '42P18' ],
			[ $near, '5', $index ],
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
	print $db->err ? $db->state : $answer // 'NULL', "\n";
}
ASK
PERL
		ask => 'ask(q{%s}, %s);',
		values => {
			string => '"New York, Z\x{fc}rich opening"',
			strings => '[' . $list =~ s/\\u00fc/\\x{fc}/r . ']',
			'no strings' => '[]',
			'a string for strings' => '"New York"',
			'strings for a string' => '["New York"]',
			null => 'undef',
			integers => '[1, 6, 7]',
			'all 64 bits' => '[-1, "9223372036854775807"]',
			unsigned => '[1, "9223372036854775808"]',
			'no integers' => '[]',
			'UUIDs as strings' => "['$uuid']",
			'no UUIDs' => '[]',
			floats => '[0.5, 2.25, 1e-3]',
			'whole numbers' => '[3, 2, 1]',
			labels => '[0.5, 2.25, 0.25, 1]',
			JSON => $weights,
			'stop list' => q{'{"york": 0}'}
		},
		asks => [
			[ $insert, '-1', '22P02' ],
			[ $insert, '1234567890123456', '1234567890123456' ],
			[ 'SELECT $1::numeric::simhash64', '1234567890123456', '000462d53c8abac0' ],
			[ $type, '"a"', '42P18' ],
			[ $type, '["a"]', '42P18' ],
			[ $type, '5', '42P18' ],
			[ $near, '5', $index ],
			[ $insert_wide, "'$digits'", $digits ],
			[ $insert_uuid, "'$uuid'", $digits ],
			[ $insert_number, "'170141183460469231731687303715884105728'", $half ]
		]
	},
	'SQLAlchemy' => {
		language => 'python',
		probe => 'import sqlalchemy, psycopg2; print(psycopg2.__name__)',
		program => <<'PYTHON',
import re
import uuid
from decimal import Decimal
from sqlalchemy import create_engine, func, select, text
from sqlalchemy.exc import DBAPIError

connection = create_engine("postgresql+psycopg2://").connect()

def ask(statement, value):
    call = re.fullmatch(r"SELECT (\w+)\(\$1\)", statement)
    if call:
        query = select(getattr(func, call[1])(value))
    else:
        query = text(statement.replace("$1", ":value")).bindparams(value=value)
    try:
        with connection.begin():
            answer = connection.execute(query).scalar()
        print("NULL" if answer is None else answer)
    except DBAPIError as error:
        print(error.orig.pgcode or "refused")

ASK
PYTHON
		values => \%python,
		asks => [ [ $near, '5', $index ] ]
	},
	'Django' => {
		language => 'python',
		probe => 'from django.db.backends.postgresql.base import Database; print(Database.__name__)',
		program => <<'PYTHON',
import os
import re
import uuid
from decimal import Decimal
import django
from django.conf import settings
from django.db import connection, models, Error

settings.configure(DATABASES={"default": {
    "ENGINE": "django.db.backends.postgresql", "NAME": os.environ["PGDATABASE"]}})
django.setup()

class Page(models.Model):
    class Meta:
        app_label = db_table = "pages"

def ask(statement, value):
    call = re.fullmatch(r"SELECT (\w+)\(\$1\)", statement)
    try:
        if call:
            function = models.Func(models.Value(value), function=call[1], output_field=models.TextField())
            answer = Page.objects.annotate(answer=function).values_list("answer", flat=True)[0]
        else:
            with connection.cursor() as cursor:
                cursor.execute(statement.replace("$1", "%s"), [value])
                answer = cursor.fetchone()[0]
        print("NULL" if answer is None else answer)
    except Error as error:
        cause = error.__cause__
        print(getattr(cause, "sqlstate", None) or getattr(cause, "pgcode", None) or "refused")

ASK
PYTHON
		values => \%python,
		asks => [ [ $near, '5', $index ] ]
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

# What the server answers for the constants.
my %answer;
for my $kind (keys %natural)
{
	my ($constant, @calls) = @{ $natural{$kind} };

	$answer{$kind}{$_} = $constant for @calls;
}
my @queries = map {
	my $kind = $_;
	map { [ $kind, $_ ] } sort keys %{ $answer{$kind} }
} grep { $natural{$_}[0] !~ /^\w+$/ } sort keys %natural;
my @constants = split /\n/, $node->safe_psql('postgres', join ";\n",
	map { 'SELECT coalesce((' . $$_[1] =~ s/\$1/$natural{$$_[0]}[0]/r . ")::text, 'NULL')" } @queries);
is(scalar @constants, scalar @queries, 'answers');
$answer{$$_[0]}{$$_[1]} = shift @constants for @queries;

sub natural_calls
{
	my ($driver) = @_;
	my $values = $driver->{values};
	my @asks;

	for my $kind (sort keys %$values)
	{
		my (undef, @calls) = @{ $natural{$kind} };

		for my $value (ref $values->{$kind} ? @{ $values->{$kind} } : $values->{$kind})
		{
			push @asks, [ "SELECT $_", $value, $driver->{errors}{$kind} // $answer{$kind}{$_} ] for @calls;
		}
	}
	return @asks;
}

sub check_answers
{
	my ($name) = @_;
	my $driver = $driver{$name};
	my $ask = $driver->{ask} // 'ask("%s", %s);';
	my $program = $driver->{program};
	my @asks = (@{ $driver->{asks} }, natural_calls($driver));
	my $asks = join "\n", map { sprintf $ask, @$_[ 0, 1 ] } @asks;
	my ($out, $err);
	my @answers;

	$program =~ s/ASK/$asks/;
	($out, $err) = run_program($driver->{language}, $program);
	@answers = split /\n/, $out;
	for (@asks)
	{
		my ($statement, $value, $answer) = @$_;

		my $test = "$name: $statement, $value";

		ref $answer ? like(shift @answers, $answer, $test) : is(shift @answers, $answer, $test);
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
		# what it stands on
		chomp $out;
		$driver{$name}{errors} //= $driver{$out}{errors} if $out;
		check_page($name) if $page{$name};
		check_answers($name);
	}
}

$node->stop;
done_testing();
