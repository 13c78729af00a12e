# Random joins with and without HammingJoin: the same statement must give the
# same rows.
#
#     queries.pl SECONDS SEED     on the server of PGHOST, in a database "joins"
#
# Every 100 statements have tables of their own, and a seed of their own, which
# is printed with a statement that fails: that seed repeats them.  A part of a
# statement has a second form where PostgreSQL has no join method of its own:
# "\1 form to test \2 form to compare with \3".  Parameters are {0}, {1}.

use strict;
use warnings;

use FindBin;
use JSON::PP;
use List::Util qw(min);

use lib $FindBin::Bin;
use Joins;

my ($seconds, $seed) = @ARGV;
my $statements = 100;
my $most_rows = 20_000;

my ($passed, $failed, $skipped, $refused) = (0, 0, 0, 0);
my %used;    # how often each kind of HammingJoin was seen in a plan
my (@tables, @writable, @centres, @many_centres);
my ($bits, $type, $layout);    # of the fingerprints of a world
my @keys;      # pairs of expressions that can be equal
our $depth;    # of subqueries in subqueries
my ($names, @values);

#
# Tables
#

sub flip
{
	my ($value, $count) = @_;

	$value ^= 1 << below(64) for 1 .. $count;
	return $value;
}

sub random_bits { return below(1 << 32) << 32 | below(1 << 32) }

# 64 bits are in one word of 128, or twice in it.
sub literal
{
	my $digits = sprintf '%016x', $_[0];

	return "'" . $layout =~ s/x/$digits/gr . "'";
}

sub choose_type
{
	$bits = pick(64, 128);
	$type = "simhash$bits";
	$layout = $bits == 64 ? 'x' : pick('x0123456789abcdef', '0123456789abcdefx', 'xx');
}

sub fingerprint
{
	my ($kind) = @_;
	my $value =
		$kind eq 'near' ? flip(pick(@centres), below(7))
		: $kind eq 'many' ? flip(pick(@many_centres), below(4))
		: $kind eq 'skewed' ? flip($centres[ @centres * rand()**4 ], below(4))
		: $kind eq 'equal' ? pick(@centres[ 0 .. 1 ])
		: $kind eq 'few bits' ? $centres[0] ^ below(64)
		: $kind eq 'extreme' ? pick(0, ~0, 1 << 63, 1)
		: random_bits();

	return literal($value);
}

sub maybe_null
{
	my ($chance, $value) = @_;

	return chance($chance) ? 'NULL' : $value;
}

sub row
{
	my ($id, $kinds, $nulls, $length) = @_;

	return join ', ', $id, (map { maybe_null($nulls, fingerprint(pick(@$kinds))) } 1 .. 2),
		maybe_null(0.2, below(8)),
		maybe_null(0.1, sprintf "'%s'", pick('a' .. 'z') x below($length));
}

sub fill
{
	my ($table, $rows, $first) = @_;
	my @kinds = ('near', 'skewed', 'equal', 'few bits', 'extreme', 'random');
	# large tables do not match too often
	my @mine = $rows > 1000 ? (('many') x 60, pick(@kinds)) : map { pick(@kinds) } 1 .. 3;
	my $nulls = pick(0, 0, 0.1, 0.1, 0.5, $rows < 40 ? 1 : 0);
	my $length = pick(2, 2, 20, 200, 1000);

	return if !$rows;
	$dbh->do("INSERT INTO $table (id, fp, fq, n, s) VALUES "
			. join ', ', map { '(' . row($first + $_, \@mine, $nulls, $length) . ')' } 1 .. $rows);
}

# Fill a table and make its indexes, in an order that leaves the statistics wrong.
sub fill_wrongly
{
	my ($table, $rows) = @_;
	my $first = below(20);

	add_indexes($table);
	fill_by(chance(0.5) ? 'right' : pick(sort keys %statistics), $table, sub {
		my $count = int($rows * ($_[0] // 1));

		fill($table, $count, @_ ? -$count - 1 : $first);
	});
}

sub add_indexes
{
	my ($table) = @_;

	$dbh->do("CREATE INDEX ON $table (id)") if chance(0.6);
	$dbh->do("CREATE INDEX ON $table (fp)") if chance(0.2);
	$dbh->do("CREATE INDEX ON $table (n, id)") if chance(0.2);
	$dbh->do("CREATE INDEX ON $table USING hamming (fp)") if chance(0.3);
}

# Columns that were dropped, and that were added, are elsewhere in a row.
sub create_table
{
	my ($table, $rows) = @_;

	if (chance(0.3))
	{
		$dbh->do("CREATE TABLE $table (id int, gone text, fp $type, fq $type, n int)");
		$dbh->do("INSERT INTO $table (id) SELECT 1 FROM generate_series(1, 3)") if $rows;
		$dbh->do("ALTER TABLE $table DROP gone, ADD s text DEFAULT 'new'");
	}
	else
	{
		$dbh->do("CREATE TABLE $table (id int NOT NULL, fp $type, fq $type, n int, s text)");
	}
	fill_wrongly($table, $rows);
}

sub create_partitioned
{
	my ($table, $rows) = @_;

	$dbh->do("CREATE TABLE $table (id int, fp $type, fq $type, n int, s text)"
			. ' PARTITION BY RANGE (id)');
	$dbh->do("CREATE TABLE ${table}_low PARTITION OF $table FOR VALUES FROM (MINVALUE) TO (10)");
	$dbh->do("CREATE TABLE ${table}_high (s text, n int, fq $type, fp $type, id int)");
	$dbh->do("ALTER TABLE $table ATTACH PARTITION ${table}_high FOR VALUES FROM (10) TO (MAXVALUE)");
	fill_wrongly($table, $rows);
}

sub create_views
{
	$dbh->do('CREATE VIEW v1 AS SELECT id, fp, fq, n, s FROM t1 WHERE n IS DISTINCT FROM 2');
	$dbh->do('CREATE VIEW v2 WITH (security_barrier) AS'
			. ' SELECT id, fq AS fp, fp AS fq, n, s FROM t2 WHERE length(s) > 0');
	$dbh->do('CREATE POLICY p ON t3 USING (n IS DISTINCT FROM 1)');
	$dbh->do('ALTER TABLE t3 ENABLE ROW LEVEL SECURITY');
	$dbh->do('GRANT ALL ON ALL TABLES IN SCHEMA world TO joins_reader');
}

# Expressions of a relation, and of another one, of the same type or of two types
# that have an equality.  All may be NULL.
sub create_keys
{
	my $floats = "('{NaN,1,2,-0,0,3,4,5}'::float8[])";

	$dbh->do('CREATE TYPE pair AS (x int, y text)');
	$dbh->do('CREATE DOMAIN small AS int');
	@keys = (
		[ '%s.n', '%s.n' ], [ '%s.id', '%s.id' ], [ '%s.n', '%s.id' ], [ '%s.fp', '%s.fq' ],
		[ '%s.n::bigint', '%s.n' ], [ '%s.n::bigint', '%s.n::smallint' ], [ 'mod(%s.id, 3)', '%s.n::bigint' ],
		[ '%s.n::numeric', '%s.n + 0.00' ], [ '%s.n::numeric', '%s.id / 2.0' ],
		[ '%s.n::float8', '%s.n::float4' ], [ "${floats}[%s.n]", "${floats}[%s.n + 1]" ],
		[ '(%s.n > 3)', '(%s.id > 9)' ], [ '%s.s', '%s.s' ], [ 'left(%s.s, 1)', 'left(%s.s, 1)' ],
		[ 'left(%s.s, 2)::char(2)', '%s.s::char(5)' ], [ 'length(%s.s)', '%s.n' ],
		[ 'ARRAY[%s.n, 1]', 'ARRAY[%s.n, 1]' ], [ "ROW(%s.n, 'x')::pair", "ROW(%s.n, 'x')::pair" ],
		[ '%s.n::small', '%s.n' ], [ '%s.n::small', '%s.id::small' ]);
	return if !$dbh->selectrow_array("SELECT count(*) FROM pg_collation WHERE collprovider = 'i'");
	$dbh->do("CREATE COLLATION ci (PROVIDER = icu, LOCALE = 'und-u-ks-level2', DETERMINISTIC = false)");
	push @keys, ([ 'left(%s.s, 1) COLLATE ci', 'upper(left(%s.s, 1))' ]) x 2;
}

sub create_world
{
	choose_type();
	@centres = map { random_bits() } 1 .. 2 + below(8);
	@many_centres = map { random_bits() } 1 .. 2000;
	$dbh->do('DROP SCHEMA IF EXISTS world CASCADE');
	$dbh->do('CREATE SCHEMA world');
	$dbh->do('GRANT ALL ON SCHEMA world TO joins_reader');
	create_table("t$_", pick(0, 1, 5, 12, 30)) for 1 .. 5;
	create_table("m$_", 50 + below(250)) for 1 .. 3;
	create_table("l$_", 1500 + below(2000)) for 1 .. 2;
	create_partitioned("p$_", pick(10, 30, 30, 200)) for 1 .. 3;
	create_views();
	create_keys();
	@writable = map { "t$_" } 1 .. 5;
	push @writable, 'p1', 'm1';
}

# The tables of a statement of so many: large ones only where it has two.
sub choose_tables
{
	my ($count) = @_;

	@tables = ((map { "t$_" } 1 .. 5), 'v1', 'v2', 'p1', 'p2');
	push @tables, 'm1' .. 'm3' if $count == 3;
	@tables = ('m1' .. 'm3', 't1' .. 't5', 'p1', 'p2', 'v1', 'v2') if $count == 2;
	@tables = ('l1', 'l2', 'm1') if $count == 2 && chance(0.5);
	@tables = ('p1' .. 'p3') if chance(0.2);
}

# Are the tables such that partitions are joined with partitions?
sub of_partitions { return $tables[0] eq 'p1' }

#
# Expressions.  A relation is an alias; each has the columns id, fp, fq, n, s.
#

sub alias { return 'q' . ++$names }

sub radius_value
{
	return chance(0.85) ? below(9) : -1 + below($bits + 2);
}

# A parameter of the statement.
sub parameter
{
	push @values, [ radius_value(), radius_value() ] if @values < 2;
	return '{' . below(scalar @values) . '}';
}

# $outer are the relations of the queries around.
sub radius
{
	my ($outer, @sides) = @_;
	my $r = rand;

	return radius_value() if $r < 0.62;
	return parameter() if $r < 0.72;
	return '(' . radius_value() . ')::' . pick('smallint', 'bigint') if $r < 0.77;
	return '(SELECT ' . pick(radius_value(), parameter()) . ')' if $r < 0.82;
	return '(SELECT min(n) FROM ' . pick(@tables) . ' WHERE id > ' . below(9) . ')' if $r < 0.85;
	return pick(@$outer) . '.n' if $r < 0.93 && @$outer;
	return '(SELECT ' . pick(@$outer) . '.n + 1)' if $r < 0.95 && @$outer;
	return pick(@sides) . '.n' if $r < 0.96;
	return 'NULL::int' if $r < 0.965;
	return '(' . below(6) . ' + floor(random() * 0.5)::int)' if $r < 0.975;
	return radius_value();
}

sub fingerprint_of
{
	my (@relations) = @_;
	my $a = pick(@relations);
	my $r = rand;

	return "$a.fp" if $r < 0.72;
	return "$a.fq" if $r < 0.80;
	return "coalesce($a.fp, $a.fq)" if $r < 0.84;
	return "nullif($a.fq, $a.fp)" if $r < 0.86;
	return "CASE WHEN $a.n > 3 THEN $a.fp ELSE $a.fq END" if $r < 0.88;
	return "($a.fp::bit($bits) # 1::bit($bits))::$type" if $r < 0.92;
	return "coalesce($a.fp, " . literal(pick(@centres)) . ')' if $r < 0.94;
	return "coalesce($a.fp, " . pick(@relations) . '.fp)' if $r < 0.98;
	return "(SELECT max(fp) FROM " . pick(@tables) . " WHERE id = $a.id)" if $r < 0.985;
	return "greatest($a.fp, $a.fq)";
}

# A clause "near each other", of two lists of relations.
sub near
{
	my ($left, $right, $outer) = @_;
	my ($x, $y) = (fingerprint_of(@$left), fingerprint_of(@$right));
	my $k = radius($outer, @$left, @$right);
	my $ball = $bits == 64 ? 'hamming_ball' : 'hamming_ball_128';

	($x, $y) = ($y, $x) if chance(0.5);
	return pick(
		"$x <-> $y <= $k", "$x <-> $y <= $k",
		"$k >= $x <-> $y", "$x <-> $y < $k",
		"$k > $x <-> $y", "$x <-> $y BETWEEN 0 AND $k",
		"NOT $x <-> $y > $k", "simhash_within($x, $y, $k)",
		"simhash_within($x, $y, $k)", "$x <@ $ball($y, $k)",
		"$ball($y, $k) @> $x", "$x % $y",
		"$x <-># $y <= $k");
}

# Values of two lists of relations are equal.  They may depend on more than one
# relation of a list, and on one of the queries around.
sub equality
{
	my ($left, $right, $outer) = @_;
	my $key = pick(@keys);
	my ($x, $y) = map { sprintf $key->[$_], pick(@{ ($left, $right)[$_] }) } 0, 1;

	$x = "coalesce($x, " . sprintf($key->[0], pick(@$left)) . ')' if chance(0.15);
	$y = "nullif($y, " . sprintf($key->[1], pick(@$outer)) . ')' if @$outer && chance(0.3);
	return chance(0.5) ? "$x = $y" : "$y = $x";
}

sub equalities
{
	my @sides = @_;

	return map { equality(@sides) } 1 .. pick(0, 0, 0, 0, 1, 1, 2, 3);
}

# A clause that a join by another one has to check.
sub simple_clause
{
	my ($left, $right, $outer) = @_;
	my ($a, $b) = (pick(@$left), pick(@$right));

	return pick(
		"$a.id < $b.id", "$a.id <> $b.id",
		"$a.n = $b.n", "$a.id = $b.id",
		"$a.n IS NULL", "$b.fp IS NULL",
		"coalesce($b.n, 3) > " . below(5), "$a.s < $b.s",
		"$a.fq = $b.fp", "$a.n IS DISTINCT FROM $b.n",
		"$b.s IS NOT NULL", "$a.n + $b.n > 4",
		"($a.id < 9 OR $b.n = 2)", "$a.id = ANY ('{1,2,3,4,5,6,7,8,9,20}')",
		'(SELECT true)', parameter() . ' > 1',
		'random() >= 0', "$b IS NOT NULL",
		"coalesce($a.id, $b.id) > 3", "NOT $a.fp <-> $b.fq <= 20",
		"$a.fp <-> " . fingerprint('near') . " <= 12",
		"($a.fp <-> $b.fp <= 2 OR $a.id = $b.id)");
}

sub clause
{
	my ($left, $right, $outer) = @_;

	return sublink([ @$left, @$right ], $outer) if $depth < 2 && chance(0.12);
	return near($left, $right, $outer) if chance(0.15);
	return simple_clause($left, $right, $outer);
}

sub join_clause
{
	my ($left, $right, $outer) = @_;
	my @clauses = chance(0.93) ? near($left, $right, $outer) : 'true';

	push @clauses, clause($left, $right, $outer) while chance(0.35);
	push @clauses, equalities($left, $right, $outer);
	push @clauses, pick(@$left) . '.id = ' . pick(@$right) . '.id' if of_partitions() && chance(0.8);
	@clauses = reverse @clauses if chance(0.3);
	return join ' AND ', @clauses;
}

# A condition with a subquery.
sub sublink
{
	my ($relations, $outer) = @_;
	local $depth = $depth + 1;
	my @outside = (@$outer, @$relations);
	my ($from, @inside) = tree(chance(0.75) ? 1 : 2, \@outside);
	my $where = join ' AND ', near(\@inside, $relations, \@outside),
		(map { clause(\@inside, $relations, \@outside) } ('') x chance(0.4)),
		equalities(\@inside, $relations, \@outside);
	my $body = "FROM $from WHERE $where";
	my $a = pick(@$relations);
	my $b = pick(@inside);
	my $r = rand;

	return "EXISTS (SELECT $body)" if $r < 0.3;
	return "NOT EXISTS (SELECT $body)" if $r < 0.6;
	return "$a.id IN (SELECT $b.id $body)" if $r < 0.72;
	return "$a.id NOT IN (SELECT coalesce($b.id, 1) $body)" if $r < 0.76;
	return "$a.fp IN (SELECT $b.fp FROM $from)" if $r < 0.80;
	return "$a.n <= (SELECT count(*) $body)" if $r < 0.86;
	return "$a.fp = (SELECT max($b.fp) $body)" if $r < 0.90;
	return "(EXISTS (SELECT $body) OR $a.n = 2)" if $r < 0.95;
	return "$a.id > ALL (SELECT $b.n $body)";
}

#
# What a query reads
#

# Columns of a subquery, of one or more relations.
sub columns
{
	my (@relations) = @_;
	my ($a, $b, $c) = map { pick(@relations) } 1 .. 3;
	my $s = chance(0.8) ? "$c.s" : "$c\::text";
	my $n = chance(0.8) ? "$b.n" : pick("coalesce($b.n, 3)", '5', "$a.n * 2 - $b.n");
	my $id = chance(0.8) ? "$a.id" : "coalesce($a.id, $b.id, 7)";
	my $fp = chance(0.85) ? "$a.fp" : fingerprint_of(@relations);

	return "$id AS id, $fp AS fp, $c.fq AS fq, $n AS n, $s AS s";
}

sub full_join
{
	my ($outer) = @_;
	my ($left, @left) = tree(1, $outer);
	my ($right, @right) = tree(1, $outer);
	my $on = join_clause(\@left, \@right, $outer);
	my $columns = columns(@left, @right);
	my $where = chance(0.3) ? clause(\@left, \@right, $outer) : 'true';

	return "\1SELECT $columns FROM $left FULL JOIN $right ON $on WHERE $where\2"
		. "SELECT $columns FROM $left LEFT JOIN $right ON $on WHERE $where UNION ALL"
		. " SELECT $columns FROM $right LEFT JOIN $left ON false"
		. " WHERE NOT EXISTS (SELECT FROM $left WHERE $on) AND $where\3";
}

sub grouped_query
{
	my ($from, $where, @inside) = @_;
	my ($a, $b) = map { pick(@inside) } 1 .. 2;

	return "SELECT " . pick('min', 'max', 'count') . "($b.id)::int AS id, $a.fp AS fp,"
		. " max($b.fq) AS fq, count(*)::int AS n, min($b.s) AS s FROM $from $where GROUP BY $a.fp";
}

# Fingerprints that are connected with those of some rows.
sub recursive_query
{
	my $table = pick(@tables);
	my $near = near(['r'], ['x'], []);

	return "WITH RECURSIVE r AS (SELECT id, fp, fq, n, s FROM $table WHERE id < 6 UNION"
		. " SELECT x.id, x.fp, x.fq, x.n, x.s FROM r JOIN " . pick(@tables) . " x ON $near)"
		. ' SELECT * FROM r';
}

sub function_query
{
	my $list = join ', ', map { maybe_null(0.1, fingerprint(pick('near', 'equal'))) } 1 .. below(12);

	return "SELECT x.o::int AS id, x.f AS fp, x.f AS fq, 2 AS n, 'f'::text AS s"
		. " FROM unnest(ARRAY[$list]::${type}\[]) WITH ORDINALITY x (f, o)";
}

sub subquery
{
	my ($outer, $may_correlate) = @_;
	local $depth = $depth + 1;
	my $count = $depth < 2 && chance(of_partitions() ? 0.6 : 0.3) ? 2 : 1;
	my @outside = $may_correlate ? @$outer : ();
	my $r = rand;

	return full_join($outer) if $r < 0.22 && $depth < 3;
	return recursive_query() if chance(0.08) && !$may_correlate;
	return function_query() if chance(0.08) && !$may_correlate;
	my ($from, @inside) = tree($count, $outer);
	my @clauses;
	push @clauses, near(\@inside, \@outside, \@outside) if @outside && chance(of_partitions() ? 0.3 : 0.8);
	push @clauses, clause(\@inside, \@inside, $outer) if chance(0.4);
	my $where = @clauses ? 'WHERE ' . join ' AND ', @clauses : '';
	my $query = 'SELECT ' . columns(@inside) . " FROM $from $where";

	return $query if $r < 0.45 || of_partitions() && chance(0.5);
	return "$query OFFSET 0" if $r < 0.5;
	return grouped_query($from, $where, @inside) if $r < 0.6;
	return $query =~ s/^SELECT/SELECT DISTINCT/r if $r < 0.65;
	return "$query UNION ALL $query" if $r < 0.7;
	return "$query UNION ALL SELECT id, fp, fq, n, s FROM " . pick(@tables) if $r < 0.78;
	return "WITH c AS MATERIALIZED ($query) SELECT * FROM c" if $r < 0.85;
	return "$query ORDER BY 1, 2, 3, 4, 5 LIMIT " . (1 + below(20)) if $r < 0.95;
	return "SELECT id, fp::$type AS fp, fq::$type AS fq, n::int AS n, s FROM (VALUES ("
		. join('), (', map { row($_, [ 'near', 'equal' ], 0.1, 3) } 1 .. 5)
		. ')) v (id, fp, fq, n, s)';
}

# A relation, and its alias.
sub leaf
{
	my ($outer) = @_;
	my $text = $depth < 3 && chance(0.3) ? '(' . subquery($outer, 0) . ')' : pick(@tables);
	my $alias = alias();

	return ("$text $alias", $alias);
}

# A query with columns that are computed from a row of another relation, too.
sub with_columns_of
{
	my ($outer, $query) = @_;
	my $inner = alias();

	return "SELECT $inner.id, "
		. pick("$inner.fp", "coalesce($inner.fp, $outer.fp)", "greatest($inner.fp, $outer.fp)")
		. ' AS fp, ' . pick("$inner.fq", "$outer.fq") . ' AS fq, '
		. pick("coalesce($inner.n, $outer.n + 100)", "least($inner.n, $outer.id)", "$outer.n + $inner.n")
		. " AS n, $inner.s FROM ($query) $inner";
}

sub lateral
{
	my ($outer) = @_;
	my $text = subquery($outer, 1);
	my $alias = alias();

	$text = with_columns_of(pick(@$outer), $text) if chance(0.5);
	return ("LATERAL ($text) $alias", $alias);
}

# A table joined with itself, mostly so that its rows are read once.
sub self_join
{
	my ($outer) = @_;
	my $table = pick(@tables);
	my ($a, $b) = (alias(), alias());
	my $both = sub { my ($x) = @_; return ($x, $x =~ s/\b$a\b/$b/gr) };
	my ($x, $y) = $both->(fingerprint_of($a));
	my @clauses = ("$x <-> $y <= " . radius($outer, $a, $b),
		pick("$a.id < $b.id", "$b.id < $a.id", "$a.id <> $b.id", "$a.n <> $b.n", "$a.s > $b.s", "$a.id < $b.n"));

	push @clauses, join ' = ', $both->(pick("$a.n", "$a.s", "mod($a.id, 3)")) if chance(0.3);
	push @clauses, $both->(pick("$a.n > 2", "$a.s IS NOT NULL", "$a.id < 20")) if chance(0.3);
	push @clauses, clause([$a], [$b], $outer) if chance(0.3);
	return ("$table $a JOIN $table $b ON " . join(' AND ', @clauses), $a, $b);
}

# A join of so many relations, and their aliases.
sub tree
{
	my ($count, $outer) = @_;

	return leaf($outer) if $count == 1;
	return self_join($outer) if $count == 2 && chance(0.15);
	my $on_left = chance(0.7) ? $count - 1 : 1 + below($count - 1);
	my ($left, @left) = tree($on_left, $outer);
	my $type = pick(('JOIN') x 5, ('LEFT JOIN') x 5, ('RIGHT JOIN') x 3);
	my $is_lateral = $count - $on_left == 1 && $type ne 'RIGHT JOIN' && $depth < 2
		&& chance(of_partitions() ? 0.5 : 0.12);
	my ($right, @right) =
		$is_lateral ? lateral([ @$outer, @left ]) : tree($count - $on_left, $outer);
	my $on = $is_lateral && chance(of_partitions() ? 0.1 : 0.6) ? 'true' : join_clause(\@left, \@right, $outer);

	$right = "($right)" if @right > 1;
	return ("$left $type $right ON $on", @left, @right);
}

#
# Statements
#

sub expression
{
	my (@relations) = @_;
	my ($a, $b) = map { pick(@relations) } 1 .. 2;

	return pick(
		"$a.id", "$a.fp", "$b.n", "$a.s", $a, "$a\::text",
		"coalesce($a.fp, $b.fp)", "$a.fp <-> $b.fp", "$a.fp IS NULL",
		"coalesce($b.n, -1)", "$a.id + $b.id", "coalesce($a.s, 'none')",
		"($b).fq", "CASE WHEN $b.id IS NULL THEN 'no' ELSE $a.s END",
		$depth < 2 && chance(0.3) ? scalar_query(@relations) : "$a.n");
}

# It reads its tables for each row.
sub scalar_query
{
	my (@relations) = @_;
	local $depth = $depth + 1;
	my ($from, @inside) = tree(pick(1, 2, 2), \@relations);
	my $a = pick(@inside);
	my $where = chance(0.6) ? ' WHERE ' . clause(\@inside, \@relations, \@relations) : '';

	return '(SELECT ' . pick('count(*)', "min($a.id)", "max($a.fp)") . " FROM $from$where)";
}

sub aggregate
{
	my (@relations) = @_;
	my ($a, $b) = map { pick(@relations) } 1 .. 2;

	return pick(
		'count(*)', "count($a.fp)", "min($b.fp)", "sum($a.n)", "sum($b.id)",
		"max($a.s)", "bool_or($b.n > 2)", "count(DISTINCT $b.id)", "count($b)",
		"sum(coalesce($a.n, 0) + $b.id)",
		"array_agg($a.id ORDER BY $a.id)", "sum($a.fp <-> $b.fp)",
		"count(*) FILTER (WHERE $a.fp <-> $b.fq <= 9)");
}

sub where
{
	my ($relations, $has_sublink) = @_;
	my @clauses;

	push @clauses, sublink($relations, []) if $has_sublink || chance(0.4);
	push @clauses, clause($relations, $relations, []) while chance(0.35);
	return @clauses ? ' WHERE ' . join ' AND ', @clauses : '';
}

# Partitions, or a join of them, that depend on a row of another partition.
sub partitions_query
{
	@tables = ('p1' .. 'p3');
	my ($a, $b, $c, $d) = map { alias() } 1 .. 4;
	my $inner = "SELECT $b.id, $b.fp, $b.fq, $b.n, $b.s FROM " . pick(@tables) . " $b";
	my @on = ("$a.id = $d.id");

	push @on, near([$a], [$d], []) if chance(0.4);
	push @on, clause([$a], [$d], []) while chance(0.4);
	$inner .= pick(' JOIN ', ' LEFT JOIN ') . pick(@tables) . " $c ON $b.id = $c.id AND "
		. near([$b], [$c], []) if chance(0.7);
	return 'SELECT ' . join(', ', map { expression($a, $d) } 1 .. 3) . ' FROM ' . pick(@tables)
		. " $a LEFT JOIN LATERAL (" . with_columns_of($a, $inner) . ") $d ON " . join ' AND ', @on;
}

sub query
{
	return partitions_query() if chance(0.05);
	my $count = pick(1, 2, 2, 2, 2, 3, 3, 3, 4, 5);

	choose_tables($count);
	my ($from, @relations) = tree($count, []);
	my $rest = " FROM $from" . where(\@relations, $count == 1);
	my @columns = map { expression(@relations) } 1 .. 1 + below(4);
	my $r = rand;
	if ($r < 0.45)
	{
		$rest .= ' FOR UPDATE OF q1' if $from =~ /^\w+ q1\b/ && chance(0.2);
		return 'SELECT ' . join(', ', @columns) . $rest;
	}
	if ($r < 0.60)
	{
		my @aggregates = map { aggregate(@relations) } 1 .. 1 + below(3);

		return 'SELECT ' . join(', ', @aggregates) . $rest;
	}
	if ($r < 0.75)
	{
		my $a = pick(@relations);
		my $group = pick("$a.n", "$a.fp", "$a.id, $a.n", "coalesce($a.n, 1)", "$a.s");
		my $having = chance(0.2) ? ' HAVING count(*) > 1' : '';

		return "SELECT $group, " . join(', ', map { aggregate(@relations) } 1 .. 2)
			. $rest . " GROUP BY $group$having";
	}
	if ($r < 0.85)
	{
		return 'SELECT ' . join(', ', @columns) . $rest . ' ORDER BY '
			. join(', ', map { $_ . pick('', ' DESC', ' NULLS FIRST') } 1 .. @columns)
			. ' LIMIT ' . (1 + below(30)) . pick('', ' OFFSET ' . below(5));
	}
	return 'SELECT DISTINCT ' . join(', ', @columns) . $rest if $r < 0.92;
	return 'SELECT ' . join(', ', @columns) . ', count(*) OVER (PARTITION BY '
		. pick(@relations) . ".n)$rest" if $r < 0.96;
	return "SELECT *$rest";
}

# A source and a clause of it for a statement that changes table a.
sub source
{
	my ($from, @relations) = tree(pick(1, 1, 1, 2), []);

	return ($from, join_clause(['a'], \@relations, []), @relations);
}

sub delete_or_update
{
	my ($table) = @_;
	my ($from, $where, @relations) = source();
	my $how = pick('USING', 'EXISTS', 'NOT EXISTS', 'IN');
	my $set = pick('n = a.n + 1', 'fp = a.fq', "s = a.s || 'x', n = 3", 'id = a.id + 20');
	my $is_update = chance(0.5);
	my $verb = $is_update ? "UPDATE $table a SET $set" : "DELETE FROM $table a";

	return "$verb WHERE $how (SELECT FROM $from WHERE $where) RETURNING a.*" if $how =~ /EXISTS/;
	return "$verb WHERE a.id IN (SELECT a.id FROM $table a, $from WHERE $where) RETURNING a.*"
		if $how eq 'IN';
	return "$verb " . ($is_update ? 'FROM' : 'USING') . " $from WHERE $where RETURNING a.*";
}

sub insert
{
	my ($table) = @_;
	my ($from, $where, @relations) = source();
	my $columns = columns(@relations);

	return "INSERT INTO $table (id, fp, fq, n, s) SELECT $columns FROM $from"
		. " WHERE NOT EXISTS (SELECT FROM $table a WHERE $where) RETURNING *";
}

# MERGE fails where two rows of the source change the same one; then it must
# fail without HammingJoin, too.
sub merge
{
	my ($table) = @_;
	my ($from, $on, @relations) = source();
	my $b = alias();
	my $source = '(SELECT ' . columns(@relations) . " FROM $from) $b";
	my $insert = "INSERT (id, fp, fq, n, s) VALUES ($b.id, $b.fp, $b.fq, $b.n, $b.s)";

	$on = join_clause(['a'], [$b], []);
	if ($version >= 170000 && chance(0.4))
	{
		return "\1MERGE INTO $table a USING $source ON $on"
			. " WHEN MATCHED THEN DO NOTHING WHEN NOT MATCHED BY SOURCE THEN DELETE"
			. " WHEN NOT MATCHED THEN $insert\2"
			. "WITH d AS (DELETE FROM $table a WHERE NOT EXISTS (SELECT FROM $source WHERE $on))"
			. " INSERT INTO $table (id, fp, fq, n, s) SELECT $b.id, $b.fp, $b.fq, $b.n, $b.s"
			. " FROM $source WHERE NOT EXISTS (SELECT FROM $table a WHERE $on)\3";
	}
	return "MERGE INTO $table a USING $source ON $on"
		. ' WHEN MATCHED ' . pick('', 'AND a.n > 3 ') . 'THEN '
		. pick('DELETE', 'UPDATE SET n = a.n + 1', 'DO NOTHING', 'DO NOTHING')
		. pick('', " WHEN NOT MATCHED THEN $insert");
}

sub change
{
	my $table = pick(@writable);

	choose_tables(3);
	return ($table, pick(\&delete_or_update, \&delete_or_update, \&insert, \&merge)->($table));
}

#
# Settings
#

# For both runs of a statement.
sub common_settings
{
	return chance(0.15) ? ("ROLE joins_reader") : ();
}

sub parallel_settings
{
	return (
		'parallel_setup_cost = 0',
		'parallel_tuple_cost = 0',
		'min_parallel_table_scan_size = 0',
		'max_parallel_workers_per_gather = ' . (1 + below(3)),
		'parallel_leader_participation = ' . pick('on', 'on', 'off'),
		chance(0.4) ? 'cpu_operator_cost = 1' : (),
		chance(0.3) ? ('debug_parallel_query = on', 'force_parallel_mode = on') : ());
}

# By these a HammingJoin has workers of its own.
sub team_settings
{
	return (
		'parallel_setup_cost = 0',
		'parallel_tuple_cost = 0',
		'cpu_tuple_cost = 0',
		'seq_page_cost = 0',
		"min_parallel_table_scan_size = '1GB'",
		'max_parallel_workers_per_gather = ' . pick(1, 1, 2, 3, 8),
		chance(0.1) ? 'max_parallel_workers = ' . below(2) : ());
}

# How likely some settings are.
my @likely = (
	[ 0.7, 'enable_nestloop = off' ], [ 0.4, 'enable_hashjoin = off' ], [ 0.4, 'enable_mergejoin = off' ],
	[ 0.3, 'enable_indexscan = off', 'enable_bitmapscan = off' ], [ 0.1, 'enable_seqscan = off' ],
	[ 0.7, 'min_eager_agg_group_size = 0' ], [ 0.2, 'cpu_tuple_cost = 1' ], [ 0.2, 'join_collapse_limit = 1' ],
	[ 0.1, 'from_collapse_limit = 1' ], [ 0.1, 'geqo_threshold = 2' ]);

# For the run with HammingJoin.  Without methods of PostgreSQL's own it is chosen
# where it can be.
sub settings
{
	my @settings = (
		'work_mem = ' . pick("'64kB'", "'64kB'", "'128kB'", "'4MB'", "'64MB'"),
		'hash_mem_multiplier = ' . pick(1, 1, 2),
		'plan_cache_mode = ' . pick('auto', 'force_generic_plan', 'force_custom_plan'),
		'enable_eager_aggregate = ' . pick('on', 'on', 'off'));

	push @settings, @$_[ 1 .. $#$_ ] for grep { chance($_->[0]) } @likely;
	push @settings, 'enable_hashjoin = off', 'enable_mergejoin = off' if of_partitions() && chance(0.6);
	push @settings, 'enable_' . pick(qw(hashagg sort material memoize incremental_sort)) . ' = off'
		if chance(0.3);
	push @settings, 'enable_partitionwise_join = on', 'enable_partitionwise_aggregate = on'
		if chance(of_partitions() ? 0.9 : 0.4);
	push @settings, 'random_page_cost = ' . pick(0.1, 1, 100) if chance(0.3);
	push @settings, chance(0.5) ? parallel_settings() : team_settings() if chance(0.7);
	return grep { my ($name) = /^(\w+)/; grep { $_ eq $name } @known_settings } @settings;
}

#
# Runs
#

# The form of a statement to test, or to compare with.
sub form
{
	my ($sql, $which) = @_;

	1 while $sql =~ s/\x01([^\x01-\x03]*)\x02([^\x01-\x03]*)\x03/$which eq 'test' ? $1 : $2/e;
	return $sql;
}

sub with_values
{
	my ($sql, $set) = @_;

	$sql =~ s/\{(\d)\}/'(' . $values[$1][$set] . ')'/ge;
	return $sql;
}

sub with_parameters
{
	my ($sql) = @_;

	$sql =~ s/\{(\d)\}/'$' . ($1 + 1)/ge;
	return $sql;
}

sub expected
{
	my ($statement, $set, $timeout, @settings) = @_;
	my $sql = with_values(form($statement->{sql}, 'compare'), $set);

	return run(
		[
			"statement_timeout = '$timeout'", 'simhash.enable_hammingjoin = off',
			@{ $statement->{common} }, @settings
		],
		sub {
			return changed_rows($statement, $sql) if $statement->{table};
			$dbh->do("DECLARE expected NO SCROLL CURSOR FOR $sql");
			return rows_of("FETCH $most_rows FROM expected");
		});
}

# What a statement that changes a table returns, where both forms do, and leaves in it.
sub changed_rows
{
	my ($statement, $sql) = @_;
	my $rows = rows_of($sql);

	return [ ($statement->{sql} =~ /\x01MERGE/ ? () : @$rows), '--',
		@{ rows_of("SELECT * FROM $statement->{table}") } ];
}

# Note the kinds of the HammingJoins in a plan, below nodes of these names, innermost
# first.  Return the names of its nodes.
sub note_node
{
	my ($node, $seen, @above) = @_;
	my $name = join ' ', grep { defined } @$node{ 'Partial Mode', 'Custom Plan Provider', 'Node Type' };
	my @below = map { note_node($_, $seen, $name, @above) } @{ $node->{Plans} // [] };
	my $above = join ', ', @above;

	return ($name, @below) if $name !~ /HammingJoin/;
	my %kinds = (
		$node->{'Join Type'} => 1,
		'two or more' => $seen->{statements},
		'in workers' => !!($above =~ /Gather/),
		'in partial groups' => !!("@below" =~ /Partial/),
		'partitionwise' => !!($above =~ /^Append/),
		'partitionwise, inside a loop' => !!($above =~ /^(?:(?!Append).)*Nested Loop, Append/),
		'more passes' => ($node->{Passes} // 0) > 1,
		'by a team' => $node->{'Workers Planned'},
		'on disk' => $node->{'Disk Usage'},
		'keys' => $node->{Keys},
		'two or more keys' => !!(($node->{Keys} // '') =~ /\) AND \(/),
		'reads rows once' => 1 == grep({ $_->{'Parent Relationship'} eq 'child' } @{ $node->{Plans} }),
		'rescans' => ($node->{'Actual Loops'} // 0) > 1);
	$seen->{$_} = 1 for 'statements', grep { $kinds{$_} } keys %kinds;
	return ($name, @below);
}

# Count the plans that have a HammingJoin, and of what kinds these are.
sub note_plan
{
	my ($statement, $analyze) = @_;
	my ($json) = $dbh->selectrow_array("EXPLAIN (ANALYZE $analyze, COSTS OFF, FORMAT JSON) $statement");
	my %seen;

	note_node(decode_json($json)->[0]{Plan}, \%seen);
	$used{$_}++ for keys %seen;
}

sub actual_fetched
{
	my ($sql, $count) = @_;

	$dbh->do("DECLARE few CURSOR FOR $sql");
	return [ sort map { @{ rows_of('FETCH FROM few') } } 1 .. $count ];
}

# What a statement should give that ends early: any of the rows, so many.
sub expected_few
{
	my ($statement, $expected, $actual) = @_;
	my %left;

	return [ 0 + !!@$expected ] if $statement->{how} eq 'exists';
	$left{$_}++ for @$expected;
	my @few = grep { $left{$_}-- > 0 } @$actual;
	return @few == min($statement->{few}, scalar @$expected) ? \@few : $expected;
}

sub actual_cursor
{
	my ($sql) = @_;
	my @rows;

	$dbh->do("DECLARE actual SCROLL CURSOR FOR $sql");
	push @rows, @{ rows_of('FETCH 3 FROM actual') };
	push @rows, @{ rows_of('FETCH ALL FROM actual') };
	$dbh->do('MOVE ABSOLUTE 0 IN actual');
	my $again = rows_of('FETCH ALL FROM actual');
	@rows = sort @rows;
	return [ 'the cursor gives other rows the second time', "@rows", "@$again" ]
		if "@rows" ne "@$again";
	return \@rows;
}

sub actual_held
{
	my ($sql) = @_;

	$dbh->do("DECLARE held SCROLL CURSOR WITH HOLD FOR $sql");
	rows_of('FETCH 2 FROM held');
	$dbh->do('COMMIT');
	my $rows = eval { $dbh->do('MOVE ABSOLUTE 0 IN held'); rows_of('FETCH ALL FROM held') };
	my $error = $@;
	$dbh->do('CLOSE held');
	die $error if $error;
	return $rows;
}

sub actual_prepared
{
	my ($sql, $set, $is_called_before) = @_;
	my ($call, $other) = map {
		my $values = $_;
		'EXECUTE actual' . (@values ? '(' . join(', ', map { $_->[$values] } @values) . ')' : '')
	} $set, 1 - $set;

	$dbh->do('DEALLOCATE ALL');
	$dbh->do('PREPARE actual' . (@values ? '(' . join(', ', ('int') x @values) . ')' : '') . " AS $sql");
	note_plan($call, 'off');
	rows_of($other) if $is_called_before;
	return rows_of($call);
}

sub actual
{
	my ($statement, $set) = @_;
	my $sql = form($statement->{sql}, 'test');
	my $how = $statement->{how};

	$sql = "SELECT EXISTS ($sql)" if $how eq 'exists';
	$sql = "SELECT * FROM ($sql) q LIMIT $statement->{few}" if $how eq 'limit';
	my $with_values = with_values($sql, $set);

	return run(
		[
			"statement_timeout = '40s'", 'simhash.enable_hammingjoin = on',
			@{ $statement->{common} }, @{ $statement->{settings} }
		],
		sub {
			return actual_prepared(with_parameters($sql), $set, $statement->{is_called_before}) if $how eq 'prepared';
			note_plan($with_values, 'off') if $how ne 'explain';
			return changed_rows($statement, $with_values) if $statement->{table};
			rows_of("EXPLAIN (ANALYZE, VERBOSE, COSTS OFF) $with_values") if $how eq 'explain';
			note_plan($with_values, 'on') if $how eq 'explain';
			return actual_cursor($with_values) if $how eq 'cursor';
			return actual_held($with_values) if $how eq 'held';
			return actual_fetched($with_values, $statement->{few}) if $how eq 'fetch';
			return rows_of($with_values);
		});
}

sub make_statement
{
	my %statement;

	($names, $depth, @values) = (0, 0);
	if (chance(0.2))
	{
		@statement{qw(table sql)} = change();
		$statement{how} = 'plain';
	}
	else
	{
		$statement{sql} = query();
		$statement{how} =
			pick(('plain', 'prepared', 'explain') x 2, 'cursor', 'held', 'exists', 'limit', 'fetch');
	}
	$statement{how} = 'plain' if $statement{sql} =~ /FOR UPDATE/;
	$statement{how} = 'explain' if $tables[0] eq 'l1' && chance(0.5);
	$statement{few} = 1 + below(10) if $statement{how} =~ /exists|limit|fetch/;
	# drawn here, for a statement that is skipped, too: a slower machine skips others
	$statement{is_called_before} = chance(0.5);
	$statement{common} = [ common_settings() ];
	$statement{settings} = [ settings() ];
	return \%statement;
}

sub report
{
	my ($statement, $set, $world, $why) = @_;

	print "$why: seed $world, $statement->{how}\n";
	print "\tSET $_;\n" for @{ $statement->{common} }, @{ $statement->{settings} };
	print "\t", with_values(form($statement->{sql}, 'test'), $set), ";\n";
	print "\tcompared with: ", with_values(form($statement->{sql}, 'compare'), $set), ";\n"
		if $statement->{sql} =~ /\x01/;
	print "\tin the form: ", with_parameters(form($statement->{sql}, 'test')), ";\n"
		if $statement->{how} eq 'prepared' && @values;
}

# Some of the rows that only one of the two results has.
sub report_rows
{
	my ($expected, $actual) = @_;
	my %balance;

	$balance{$_}++ for @$expected;
	$balance{$_}-- for @$actual;
	for my $row ((grep { $balance{$_} } sort keys %balance)[ 0 .. 9 ])
	{
		print "\t", $balance{$row} > 0 ? 'missing' : 'wrong', ": $row\n" if defined $row;
	}
}

# Run a statement both ways and compare.
sub compare
{
	my ($statement, $world) = @_;
	my $set = below(2);
	my ($expected, $error) = expected($statement, $set, '2s');

	if ($error =~ ($statement->{few} ? qr/^(?!lost)./ : qr/^(57014|0A000|54|53)/) || @{ $expected // [] } >= $most_rows)
	{
		$skipped++;
		return;
	}
	my ($actual, $actual_error) = $error =~ /^lost/ ? (undef, 'was not run') : actual($statement, $set);
	my $why = '';

	$expected = expected_few($statement, $expected, $actual) if $statement->{few} && $actual;
	if ($actual_error =~ /^57014/)
	{
		# by these settings it may take as long without HammingJoin
		my @settings = @{ $statement->{settings} };
		(undef, $error) = actual({ %$statement, settings => [ @settings, 'simhash.enable_hammingjoin = off' ] }, $set);
		(undef, $error) = expected($statement, $set, '40s', @settings) if $error =~ /^0A000/;
		if ($error =~ /^57014/)
		{
			$skipped++;
			return;
		}
	}
	if ($actual_error =~ /^0A000 .*FULL JOIN/)
	{
		$refused++;
		return;
	}
	# of several wrong rows either plan may meet another one first
	if ($error =~ /^(21000|235|42501)/)
	{
		$why = "error \"$actual_error\", and not \"$error\"" if $actual_error !~ /^(21000|235|42501)/;
	}
	elsif ($error || $actual_error)
	{
		$why = "error \"$actual_error\", and not \"$error\"";
	}
	elsif ("@$actual" ne "@$expected")
	{
		$why = sprintf '%d rows, and not %d', scalar @$actual, scalar @$expected;
	}
	if ($why)
	{
		$failed++;
		report($statement, $set, $world, "not ok: $why");
		report_rows($expected, $actual) if $expected && $actual;
		try_connect('joins') if !$dbh->ping;
		return;
	}
	$passed++;
}

# All worlds are of one session, whose memory script/soak watches.
sub run_world
{
	my ($world) = @_;

	create_world();
	for (1 .. $statements)
	{
		my $statement = make_statement();

		compare($statement, $world);
	}
}

$| = 1;
create_database();
$dbh->do('DROP ROLE IF EXISTS joins_reader');
$dbh->do('CREATE ROLE joins_reader');
run_worlds($seconds, $seed, \&run_world);
if (!$used{statements})
{
	print "not ok: no plan had a HammingJoin\n";
	$failed++;
}
print "HammingJoin, seen in plans: ", join(', ', map { "$_ $used{$_}" } sort keys %used), "\n";
print "skipped: too long or too large $skipped, FULL JOIN refused $refused\n";
print "$passed passed, $failed failed\n";
exit($failed > 0);
