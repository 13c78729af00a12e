# A model of searches, builds and deduplication by the number of random rows: the
# tables of doc/scaling.md 4, with two significant digits.  What it takes as given
# was fitted to what one core of an Intel Xeon took with 1 and 10 million rows.
package Model;

use strict;
use warnings;
use utf8;

use Exporter qw(import);
use List::Util qw(max min sum);
use POSIX qw(ceil floor);

our @EXPORT = qw(model_of_one_server model_of_pairs);

# Microseconds of processor time, fitted.  A build: of each row, of each of its
# tables, and, where it sorts in several runs, of each table again, and of each
# table and each doubling of the runs.  A join: of each row, each sort of one, and
# each comparison.
my %search = (once => 0.675, page => 1.1306, comparison => 0.000454);
my %build = (row => 0.2718, table => 0.04932, runs => 0.01692, doubling => 0.00493);
my %join = (row => 0.5075, sort => 0.02606, comparison => 0.0002477);

# The same, measured
my $statement = 22;    # a prepared statement, beside the search, with its client
my $result = 4;    # a row that is found
my $read = 5;    # a page that the system has in memory, and shared_buffers have not
my $move = 1.1;    # a fingerprint for a part: packed by one shard, and fetched by another

# Assumed
my $latency = 100;    # microseconds of a read from NVMe
my $reads_a_second = 500_000;
my $sort_memory = 8 * 2**30;    # maintenance_work_mem

# The formats: src/README.  Leaves are filled to 88 %.
my ($rows_a_leaf, $fps_a_leaf, $children) = map { $_ * 0.88 } 580, 1016, 406;
my $slack = 1 / 6;    # of a leaf, within which its end is chosen
my $queue = 32;    # leaves that are asked for in advance
my $join_row = 35;    # bytes of a row that simhash_pairs keeps
my $moved = 20;    # bytes of a fingerprint for a part
my $most_levels = 4;    # of a join
my $sort = 50;    # comparisons that sorting a fingerprint takes

sub log2 { return log($_[0]) / log 2 }

# The default number of blocks.
sub blocks { return $_[0] < 200e6 ? 4 : 3 }

sub choose
{
	my ($n, $i) = @_;
	my $result = 1;

	$result *= max($n - $_ + 1, 0) / $_ for 1 .. $i;
	return $result;
}

# How many of 2^bits values are within radius of one?  bits may be a fraction.
sub ball
{
	my ($bits, $radius) = @_;

	return sum(0, map { choose($bits, $_) } 0 .. $radius);
}

# Of all values of so many bits in order, those within radius of one make up so
# many runs, on average over that one.  A pair of neighbours differs in its last
# t bits, which are 01..1 and 10..0.  If the centre differs in a of them from
# the one value, it differs in t - a from the other.
sub runs
{
	my ($bits, $radius) = @_;
	my $runs = ball($bits, $radius);

	for my $t (1 .. $bits)
	{
		for my $a (0 .. $t)
		{
			$runs -= choose($t, $a) / 2**$t * ball($bits - $t, $radius - max($a, $t - $a));
		}
	}
	return $runs;
}

# The planner's estimate (src/am/plan.c): pages of a level of a table, each
# for a prefix of the keys, that a search within k, and within radius in the
# table's block of width bits, looks at.
sub planned_pages
{
	my ($pages, $width, $radius, $k) = @_;
	my $leading = min(log2($pages), $width);

	return min($pages, sum(0, map { choose($leading, $_) * ball(log2($pages) - $leading, $k - $_) } 0 .. $radius));
}

# The same where ranges are no prefixes: with 100 million rows, up to 23 % more.
# s pages share a value of the block.  A run of keys as long as s pages has a part
# of s + 1 of them, or one less where it begins with a page.  Where a page ends is
# chosen within $slack, by the highest bit, so that a run of values begins with a
# page that often.
sub pages
{
	my ($pages, $width, $radius, $k) = @_;
	my $s = $pages / 2**$width;
	my $bits = log2($s);
	my $sum = 0;

	return min($pages, planned_pages(@_) + max($s - $slack, 0) * runs(ceil($width + $bits), $radius))
	  if $s <= 1;
	for my $i (0 .. $radius)
	{
		my $runs = runs($width, $i) - ($i > 0 ? runs($width, $i - 1) : 0);
		my $is_whole = $k - $i >= $bits;

		$sum += choose($width, $i) * ($is_whole ? $s : ball($bits, $k - $i)) +
		  (1 - $slack) * $runs * ($is_whole ? 1 : runs(floor($bits + 0.5), $k - $i));
	}
	return min($pages, $sum);
}

# What a search within k of an index of rows rows looks at, and its microseconds.
sub search
{
	my ($rows, $k) = @_;
	my $blocks = blocks($rows);
	my @width = map { floor(64 * ($_ + 1) / $blocks) - floor(64 * $_ / $blocks) } 0 .. $blocks - 1;
	my @entries = ($rows_a_leaf, ($fps_a_leaf) x ($blocks - 1));
	my @radius = (-1) x $blocks;
	my @planned = (0) x $blocks;
	my ($compared, $inner, @leaves) = (0, 0);

	for (0 .. $k)
	{
		my @wider = map { planned_pages($rows / $entries[$_], $width[$_], $radius[$_] + 1, $k) } 0 .. $blocks - 1;
		my ($best) = sort { $wider[$a] - $planned[$a] <=> $wider[$b] - $planned[$b] || $a <=> $b } 0 .. $blocks - 1;

		$radius[$best]++;
		$planned[$best] = $wider[$best];
	}
	for my $j (grep { $radius[$_] >= 0 } 0 .. $blocks - 1)
	{
		my $of_table = $rows / $entries[$j];
		# of a leaf at the radius, the entries of one value of the block
		my $within = planned_pages($of_table, $width[$j], $radius[$j] - 1, $k);
		my $at_radius = $of_table > 2**$width[$j] ? $entries[$j] : $rows / 2**$width[$j];

		push @leaves, pages($of_table, $width[$j], $radius[$j], $k);
		$compared += $within * $entries[$j] + ($planned[$j] - $within) * $at_radius;
		for (my $level = $of_table / $children; $level > 1; $level /= $children)
		{
			$inner += pages($level, $width[$j], $radius[$j], $k);
		}
	}
	my $found = $rows * ball(64, $k) / 2**64;
	my $time = $search{once} + $search{page} * (sum(@leaves) + $inner + $found) +
	  $search{comparison} * $compared + $result * $found;
	return { leaves => sum(@leaves), of_tables => \@leaves, time => $time };
}

# Microseconds of a search that reads each leaf from NVMe.  It asks for no more
# leaves in advance than it has read, and for none of the next table.
sub nvme_time
{
	my ($search) = @_;
	my ($rounds, $visited) = (0, 0);

	for my $leaves (@{ $search->{of_tables} })
	{
		for (my $left = $leaves; $left > 0; $rounds++)
		{
			my $taken = min($left, 1 + min($visited, $queue));

			$visited += $taken;
			$left -= $taken;
		}
	}
	return max($rounds * $latency, $search->{leaves} * 1e6 / $reads_a_second) + $search->{time} +
	  $read * $search->{leaves};
}

# Microseconds of CREATE INDEX.
sub build_time
{
	my ($rows) = @_;
	my $runs = ceil($rows * 16 / ($sort_memory * 7 / 8));

	return $rows * ($build{row} + blocks($rows) * ($build{table} +
			($runs > 1 ? $build{runs} : 0) + $build{doubling} * log2($runs)));
}

# Bytes of the index.
sub index_size
{
	my ($rows) = @_;

	return $rows * 8192 * (1 / $rows_a_leaf + (blocks($rows) - 1) / $fps_a_leaf) * (1 + 1 / $children);
}

# (sorts, comparisons) for a row of a join of rows fingerprints, which differ in
# so many bits: src/near/cut.c, choose_levels.  A group that is too large gets a
# cut of its own.
sub divide
{
	my ($rows, $k, $bits) = @_;
	my @least = (0, $rows / 2);
	my ($sorts, $ways) = (0, 1);

	return @least if $rows / 2 <= $sort * ($k + 1);
	for my $levels (1 .. $most_levels)
	{
		my $in_parts = $bits * $levels / ($k + $levels);
		my @rest = (0, $rows / 2**$in_parts / 2);

		$ways *= ($k + $levels) / $levels;
		$sorts += $ways;
		@rest = divide($rows / 2**$in_parts, $k, $bits - $in_parts) if $levels == $most_levels;
		my @all = ($sorts + $ways * $rest[0], $ways * $rest[1]);
		@least = @all if $sort * $all[0] + $all[1] < $sort * $least[0] + $least[1];
	}
	return @least;
}

# Microseconds of simhash_pairs.
sub join_time
{
	my ($rows, $k) = @_;
	my ($sorts, $comparisons) = divide($rows, $k, 64);

	return $rows * ($join{row} + $join{sort} * $sorts + $join{comparison} * $comparisons);
}

# Two significant digits
sub figure
{
	my ($number) = @_;
	my $places = 1 - floor(log($number) / log(10) + 1e-9);
	my $text = sprintf '%.*f', max($places, 0), floor($number * 10**$places + 0.5) / 10**$places;

	1 while $text =~ s/^(\d+)(\d{3})/$1,$2/;
	return $text;
}

sub count
{
	my ($rows) = @_;

	return $rows >= 1e9 ? $rows / 1e9 . ' billion' : $rows / 1e6 . ' million';
}

sub duration
{
	my ($us) = @_;

	return $us >= 999.5 ? figure($us / 1000) . ' ms' : figure($us) . ' µs';
}

# The lines of a table.
sub lines
{
	my ($head, @rows) = @_;
	my ($first, @others) = map { '| ' . join(' | ', @$_) . ' |' } $head, @rows;

	return ($first, '|---|' . '--:|' x $#$head, @others);
}

sub model_of_one_server
{
	my @rows = (1e8, 1e9, 8e9);
	my $row = sub {
		my ($name, $value) = @_;
		return [ $name, map { $value->($_) } @rows ];
	};

	return lines([ 'rows', map { count($_) } @rows ],
		$row->('index, GB', sub { figure(index_size(@_) / 1e9) }),
		$row->('build, minutes of one core', sub { figure(build_time(@_) / 60e6) }),
		map {
			my $k = $_;
			($row->("k = $k: in memory", sub { duration($statement + search(@_, $k)->{time}) }),
				$row->("k = $k: on NVMe", sub { duration($statement + nvme_time(search(@_, $k))) }))
		} 3, 8);
}

# In parts, each copy of a row is read once, and the first sort is that of its part.
sub model_of_pairs
{
	my $row = sub {
		my ($k, $rows) = @_;
		my $copies = $rows * ($k + 1);
		my $time = join_time($rows, $k);

		return [ "k = $k, " . count($rows),
			$rows < 2**31 ? (figure($time / 3.6e9), figure($rows * $join_row / 1e9)) : ('-', '-'),
			figure($copies * $moved / 1e9), figure($copies * $move / 3.6e9),
			figure(($time + $rows * $k * $join{row}) / 3.6e9) ];
	};

	return lines([ '', 'one call: core hours', 'GB of memory', 'parts: GB sent', 'core hours: moving', 'joining' ],
		map { my $k = $_; map { $row->($k, $_) } 1e9, 8e9 } 3, 8);
}

1;
