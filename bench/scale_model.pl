# A model of searches, builds and deduplication by the number of rows, fitted to
# what was measured with 1 and 10 million rows, and compared with what was
# measured with 100 million.  Prints the tables of doc/scaling.md 4, with two
# significant digits, and writes the plot to the file named:
#
#     perl bench/scale_model.pl doc/scaling.svg

use strict;
use warnings;
use List::Util qw(max min sum);
use POSIX qw(ceil floor);

# What was measured

# random fingerprints: millions of rows, blocks, k, pages of the index that a
# search looks at, microseconds of processor time
my @searches = (
	[ 1, 4, 0, 2.000, 2.69 ],
	[ 1, 4, 3, 8.000, 9.63 ],
	[ 1, 4, 6, 44.98, 48.5 ],
	[ 1, 4, 8, 108.45, 110.7 ],
	[ 1, 4, 10, 207.29, 214.3 ],
	[ 1, 3, 3, 18.31, 24.0 ],
	[ 1, 3, 6, 94.10, 115.4 ],
	[ 1, 3, 8, 202.59, 239 ],
	[ 1, 3, 10, 470.47, 603 ],
	[ 10, 4, 0, 2.000, 3.24 ],
	[ 10, 4, 3, 8.16, 12.03 ],
	[ 10, 4, 6, 65.21, 79.8 ],
	[ 10, 4, 8, 185.17, 218.5 ],
	[ 10, 4, 10, 380.59, 497.8 ],
	[ 10, 3, 3, 24.97, 25.7 ],
	[ 10, 3, 6, 161.74, 182 ],
	[ 10, 3, 8, 371.85, 452 ],
	[ 10, 3, 10, 1058.76, 1135 ],
	[ 10, 6, 3, 28.47, 47.3 ],
	[ 10, 6, 6, 134.71, 210 ],
	[ 10, 6, 8, 279.00, 428 ],
	[ 10, 6, 10, 471.15, 744 ],
	[ 10, 8, 3, 140.19, 190 ],
	[ 10, 8, 6, 314.32, 504 ],
	[ 10, 8, 8, 747.11, 1126 ],
	[ 10, 8, 10, 1457.52, 2122 ],
	[ 100, 4, 0, 3.000, 4.29 ],
	[ 100, 4, 3, 16.39, 27.6 ],
	[ 100, 4, 6, 159.55, 247.8 ],
	[ 100, 4, 8, 545.10, 804.8 ],
	[ 100, 4, 10, 1178.2, 1750 ],
	[ 100, 3, 3, 32.61, 48.3 ],
	[ 100, 3, 6, 254.38, 358 ],
	[ 100, 3, 8, 612.26, 937 ],
	[ 100, 3, 10, 2101.6, 2899 ]);

# CREATE INDEX by one process: millions of rows, blocks, maintenance_work_mem in
# MB, seconds of processor time
my @builds = (
	[ 1, 4, 1024, 0.47 ],
	[ 1, 3, 1024, 0.43 ],
	[ 10, 3, 1024, 4.01 ],
	[ 10, 4, 1024, 4.76 ],
	[ 10, 6, 1024, 5.97 ],
	[ 10, 8, 1024, 6.43 ],
	[ 10, 4, 64, 5.68 ],
	[ 10, 4, 16, 6.05 ],
	[ 100, 4, 1024, 54.86 ],
	[ 100, 3, 1024, 48.27 ]);

# simhash_pairs: millions of rows, k, seconds of processor time
my @joins = (
	[ 1, 3, 0.61 ],
	[ 1, 8, 2.67 ],
	[ 10, 3, 7.01 ],
	[ 10, 8, 74.0 ],
	[ 100, 3, 106.8 ]);

my $fitted = 10;    # millions of rows; what has more is predicted

# microseconds of processor time
my $statement = 22;    # a prepared statement, beside the search, with its client
my $result = 4;    # a row that is found
my $read = 5;    # a page that the system has in memory, and shared_buffers have not
my $shard = 170;    # a shard, at the coordinator
my $remote = 250;    # what postgres_fdw sends to a shard, beside the search
my $move = 1.1;    # a fingerprint for a part: packed by one shard, and fetched by another

my $join_row = 35;    # bytes of a row that simhash_pairs keeps

# What is assumed

my $latency = 100;    # microseconds of a read from NVMe
my $reads_a_second = 500_000;
my $round_trip = 100;    # microseconds, between machines
my $round_trips = 4;    # of postgres_fdw, one shard after the other
my $sort_memory = 8192;    # maintenance_work_mem, MB
my $moved = 20;    # bytes of a fingerprint for a part

# The format of the index: src/README

my ($rows_a_leaf, $fps_a_leaf, $children) = map { $_ * 0.88 } 580, 1016, 406;
my $slack = 1 / 6;    # of a leaf, within which its end is chosen
my $queue = 32;    # leaves that are asked for in advance
my $most_levels = 4;    # of a join
my $sort = 50;    # comparisons that sorting a fingerprint takes

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
my %runs;    # by its arguments: this takes most of the time

sub runs
{
	my ($bits, $radius) = @_;
	return $runs{$bits}{$radius} if $runs{$bits}{$radius};
	my $runs = ball($bits, $radius);

	for my $t (1 .. $bits)
	{
		for my $a (0 .. $t)
		{
			$runs -= choose($t, $a) / 2**$t * ball($bits - $t, $radius - max($a, $t - $a));
		}
	}
	return $runs{$bits}{$radius} = $runs;
}

# The planner's estimate (src/am/plan.c): pages of a level of a table, each
# for a prefix of the keys, that a search within k, and within radius in the
# table's block of width bits, looks at.
sub planned_pages
{
	my ($pages, $width, $radius, $k) = @_;
	my $bits = log($pages) / log 2;
	my $leading = min($bits, $width);

	return min($pages,
		sum(0, map { choose($leading, $_) * ball($bits - $leading, $k - $_) } 0 .. $radius));
}

# The same where ranges are no prefixes.  s pages share a value of the block.  A
# run of keys as long as s pages has a part of s + 1 of them, or one less where
# it begins with a page.  Where a page ends is chosen within $slack, by the
# highest bit, so that a run of values begins with a page that often.
sub pages
{
	my ($pages, $width, $radius, $k) = @_;
	my $s = $pages / 2**$width;
	my $bits = log($s) / log 2;
	my $sum = 0;

	return 1 if $k == 0 || $pages <= 1;
	return min($pages, planned_pages(@_) + max($s - $slack, 0) * runs(ceil($width + $bits), $radius))
		if $s <= 1;
	for my $i (0 .. $radius)
	{
		my $runs = runs($width, $i) - ($i > 0 ? runs($width, $i - 1) : 0);

		if ($k - $i >= $bits) { $sum += choose($width, $i) * $s + (1 - $slack) * $runs }
		else
		{
			$sum += choose($width, $i) * ball($bits, $k - $i) +
				(1 - $slack) * $runs * runs(floor($bits + 0.5), $k - $i);
		}
	}
	return min($pages, $sum);
}

# What a search within k of an index of rows rows looks at.
sub search
{
	my ($rows, $blocks, $k) = @_;
	my @width = map { floor(64 * ($_ + 1) / $blocks) - floor(64 * $_ / $blocks) } 0 .. $blocks - 1;
	my @entries = ($rows_a_leaf, ($fps_a_leaf) x ($blocks - 1));
	my @radius = (-1) x $blocks;
	my @planned = (0) x $blocks;
	my %search = (leaves => 0, inner => 0, compared => 0, of_tables => [],
		found => $rows * ball(64, $k) / 2**64);

	for (0 .. $k)
	{
		my @wider = map {
			planned_pages($rows / $entries[$_], $width[$_], $radius[$_] + 1, $k) - $planned[$_]
		} 0 .. $blocks - 1;
		my ($best) = sort { $wider[$a] <=> $wider[$b] || $a <=> $b } 0 .. $blocks - 1;

		$radius[$best]++;
		$planned[$best] += $wider[$best];
	}
	for my $j (grep { $radius[$_] >= 0 } 0 .. $blocks - 1)
	{
		my $leaves = $rows / $entries[$j];
		my $looked_at = pages($leaves, $width[$j], $radius[$j], $k);

		push @{ $search{of_tables} }, $looked_at;
		$search{leaves} += $looked_at;
		for (my $level = $leaves / $children; $level > 1; $level /= $children)
		{
			$search{inner} += pages($level, $width[$j], $radius[$j], $k);
		}
		if ($leaves > 2**$width[$j]) { $search{compared} += $planned[$j] * $entries[$j] }
		else
		{
			# of a leaf at the radius, the entries of one value of the block
			my $within = $radius[$j] == 0 ? 0
				: planned_pages($leaves, $width[$j], $radius[$j] - 1, $k);

			$search{compared} += $within * $entries[$j] +
				($planned[$j] - $within) * $rows / 2**$width[$j];
		}
	}
	$search{pages} = $search{leaves} + $search{inner} + $search{found};
	return \%search;
}

# What the processor time of a search, of a build, and of a join for each row is
# taken to be a sum of

sub search_parts
{
	my $search = search(@_);

	return (1, $search->{pages}, $search->{compared});
}

sub build_parts
{
	my ($rows, $blocks, $megabytes) = @_;
	my $runs = ceil($rows * 16 / ($megabytes * 2**20 * 7 / 8));

	return (1, $blocks, $runs > 1 ? $blocks : 0, $blocks * log($runs) / log 2);
}

# (sorts, comparisons) for a row of a join of rows fingerprints, which differ in
# so many bits: src/near/cut.c, choose_levels; choose_near_segments takes over
# beyond the k that are asked for here.  A group that is too large gets a cut of
# its own.
sub divide
{
	my ($rows, $k, $bits) = @_;
	my @least = (0, $rows / 2);
	my ($sorts, $ways) = (0, 1);

	return @least if $rows / 2 <= $sort * ($k + 1);
	for my $levels (1 .. $most_levels)
	{
		my $in_parts = $bits * $levels / ($k + $levels);
		my $group = $rows / 2**$in_parts;
		my @rest = (0, $group / 2);

		$ways *= ($k + $levels) / $levels;
		$sorts += $ways;
		@rest = divide($group, $k, $bits - $in_parts) if $levels == $most_levels;
		my @all = ($sorts + $ways * $rest[0], $ways * $rest[1]);
		@least = @all if $sort * $all[0] + $all[1] < $sort * $least[0] + $least[1];
	}
	return @least;
}

sub join_parts
{
	my ($rows, $k) = @_;

	return (1, divide($rows, $k, 64));
}

# Fit the factors of the parts to @$measured, a list of [ parts, time ], so that
# the sum of the squares of the relative errors is least.
sub fit
{
	my ($measured) = @_;
	my $n = @{ $measured->[0][0] };
	my @equations = map { [ (0) x ($n + 1) ] } 1 .. $n;

	for my $one (@$measured)
	{
		my ($parts, $time) = @$one;
		my @relative = ((map { $_ / $time } @$parts), 1);

		for my $i (0 .. $n - 1)
		{
			$equations[$i][$_] += $relative[$i] * $relative[$_] for 0 .. $n;
		}
	}
	for my $i (0 .. $n - 1)
	{
		for my $other (grep { $_ != $i } 0 .. $n - 1)
		{
			my $times = $equations[$other][$i] / $equations[$i][$i];

			$equations[$other][$_] -= $times * $equations[$i][$_] for 0 .. $n;
		}
	}
	return map { $equations[$_][$n] / $equations[$_][$_] } 0 .. $n - 1;
}

sub total
{
	my ($factors, @parts) = @_;

	return sum(map { $factors->[$_] * $parts[$_] } 0 .. $#parts);
}

# Microseconds
my @search_costs = fit([
	map { [ [ search_parts($_->[0] * 1e6, @$_[ 1, 2 ]) ], $_->[4] ] }
	grep { $_->[0] <= $fitted } @searches ]);
my @build_costs = fit([
	map { [ [ build_parts($_->[0] * 1e6, @$_[ 1, 2 ]) ], $_->[3] / $_->[0] ] }
	grep { $_->[0] <= $fitted } @builds ]);
my @join_costs = fit([
	map { [ [ join_parts($_->[0] * 1e6, $_->[1]) ], $_->[2] / $_->[0] ] }
	grep { $_->[0] <= $fitted } @joins ]);

sub search_time { return total(\@search_costs, search_parts(@_)) + $result * search(@_)->{found} }
sub build_time { return total(\@build_costs, build_parts(@_)) }
sub join_time { return total(\@join_costs, join_parts(@_)) }

# Bytes
sub index_row
{
	my ($blocks) = @_;

	return 8192 * (1 / $rows_a_leaf + ($blocks - 1) / $fps_a_leaf) * (1 + 1 / $children);
}

sub blocks { return $_[0] < 200e6 ? 4 : 3 }

# Microseconds of a search that reads each leaf from NVMe.  It asks for no more
# leaves in advance than it has read, and for none of the next table.
sub nvme_time
{
	my $search = search(@_);
	my ($rounds, $visited) = (0, 0);

	for my $leaves (@{ $search->{of_tables} })
	{
		my $left = $leaves;

		while ($left > 0)
		{
			my $taken = min($left, 1 + min($visited, $queue));

			$rounds++;
			$visited += $taken;
			$left -= $taken;
		}
	}
	return max($rounds * $latency, $search->{leaves} * 1e6 / $reads_a_second) + search_time(@_) +
		$read * $search->{leaves};
}

# Tables

sub row { print '| ' . join(' | ', @_) . " |\n" }

sub head
{
	my ($first, @others) = @_;

	print "\n";
	row($first, @others);
	print '|---|' . '--:|' x @others . "\n";
}

sub log10 { return log($_[0]) / log 10 }

# Two significant digits
sub figure
{
	my ($number) = @_;
	my $places = 1 - floor(log10($number) + 1e-9);
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

# The least and the greatest error of the model, of a list of [ model, measured ]
sub errors
{
	my @errors = sort { $a <=> $b } map { floor(100 * ($_->[0] / $_->[1] - 1) + 0.5) } @_;
	my ($least, $greatest) = map { $_ ? sprintf '%+d', $_ : 0 } @errors[ 0, -1 ];

	return $least eq $greatest ? "$least %" : "$least to $greatest %";
}

sub print_errors
{
	my $row = sub {
		my ($name, $model, $place, @measured) = @_;
		row($name, map {
			my $of_these = $_;
			errors(map { [ $model->(@$_), $_->[$place] ] } grep { $of_these == ($_->[0] > $fitted) } @measured)
		} 0, 1);
	};

	head('error of the model', '1 and 10 million rows', '100 million');
	$row->('pages that a search reads', sub { search($_[0] * 1e6, @_[ 1, 2 ])->{pages} }, 3, @searches);
	$row->('time of a search', sub { search_time($_[0] * 1e6, @_[ 1, 2 ]) }, 4, @searches);
	$row->('time of a build', sub { $_[0] * build_time($_[0] * 1e6, @_[ 1, 2 ]) }, 3, @builds);
	$row->('time of `simhash_pairs`', sub { $_[0] * join_time($_[0] * 1e6, $_[1]) }, 2, @joins);
}

sub print_predictions
{
	my @plans = map { [ $_, blocks($_) ] } 1e8, 1e9, 8e9;
	my $row = sub {
		my ($name, $value) = @_;
		row($name, map { $value->(@$_) } @plans);
	};

	head('rows', map { count($_->[0]) } @plans);
	$row->('index, GB', sub { figure($_[0] * index_row($_[1]) / 1e9) });
	$row->('build, minutes of one core', sub { figure($_[0] * build_time(@_, $sort_memory) / 60e6) });
	for my $k (3, 8)
	{
		$row->("k = $k: leaves read", sub { figure(search(@_, $k)->{leaves}) });
		$row->("k = $k: in memory", sub { duration($statement + search_time(@_, $k)) });
		$row->("k = $k: leaves on NVMe", sub { duration($statement + nvme_time(@_, $k)) });
	}
}

sub print_shards
{
	head('servers', 'rows of each', 'index, GB', map { ("k = $_: postgres_fdw", 'client') } 3, 8);
	for my $shards (1, 4, 16)
	{
		my $rows = 8e9 / $shards;
		my $blocks = blocks($rows);

		row($shards, count($rows), figure($rows * index_row($blocks) / 1e9), map {
			my $time = $statement + search_time($rows, $blocks, $_);
			(duration($shards * ($shard + $round_trips * $round_trip) + $round_trip + $remote + $time),
				duration($round_trip + $time))
		} 3, 8);
	}
}

# Each copy of a row is read once, and the first sort is that of its part.
sub parts_time
{
	my ($rows, $k) = @_;

	return join_time($rows, $k) + $k * $join_costs[0];
}

sub print_joins
{
	head('', 'one call: core hours', 'GB of memory', 'parts: GB sent', 'core hours: moving', 'joining');
	for my $k (3, 8)
	{
		for my $rows (1e9, 8e9)
		{
			my $copies = $rows * ($k + 1);

			row("k = $k, " . count($rows),
				$rows < 2**31 ? (figure($rows * join_time($rows, $k) / 3.6e9), figure($rows * $join_row / 1e9))
				: ('-', '-'),
				figure($copies * $moved / 1e9), figure($copies * $move / 3.6e9),
				figure($rows * parts_time($rows, $k) / 3.6e9));
		}
	}
}

# The plot

my ($left, $right, $top, $bottom) = (70, 560, 35, 400);
my ($first, $last) = (6, 10);    # powers of ten: rows
my ($least, $most) = (0, 5);    # powers of ten: microseconds
my ($changed, $end) = (200e6, 8e9);    # the default number of blocks changes; the last row

# Colours that the colour-blind tell apart (Okabe and Ito), and for a dark page.
my %colours = (
	3 => [ '#0072b2', '#56b4e9' ],
	6 => [ '#007a5a', '#2fc99a' ],
	8 => [ '#b85c00', '#f0a040' ],
	10 => [ '#a8467e', '#e691c0' ]);
my @ks = sort { $a <=> $b } keys %colours;

sub across { return sprintf '%.1f', $left + (log10($_[0]) - $first) / ($last - $first) * ($right - $left) }
sub down { return sprintf '%.1f', $bottom - (log10($_[0]) - $least) / ($most - $least) * ($bottom - $top) }

sub style
{
	my ($dark) = @_;
	my ($ink, $grid) = $dark ? ('#e6edf3', '#30363d') : ('#1f2328', '#d1d9e0');

	return join ' ', "text,.dot{fill:$ink}", ".grid{stroke:$grid}", ".line{stroke:$ink}",
		map { my $colour = $colours{$_}[$dark]; (".k$_\{stroke:$colour}", ".dot.k$_\{fill:$colour}") } @ks;
}

sub svg_text
{
	my ($x, $y, $anchor, $text) = @_;

	return qq(<text x="$x" y="$y" text-anchor="$anchor">$text</text>\n);
}

sub svg_line
{
	my ($class, @points) = @_;

	return qq(<path class="$class" d="M) . join(' L', map { "$_->[0] $_->[1]" } @points) . qq("/>\n);
}

sub svg_dot { return qq(<circle class="dot $_[0]" cx="$_[1]" cy="$_[2]" r="4.5"/>\n) }

sub svg_grid
{
	my $svg = '';

	for my $rows (map { 10**$_ } $first .. $last)
	{
		$svg .= svg_line('grid', [ across($rows), $top ], [ across($rows), $bottom ])
			. svg_text(across($rows), $bottom + 20, 'middle', count($rows));
	}
	for my $us (map { 10**$_ } $least .. $most)
	{
		$svg .= svg_line('grid', [ $left, down($us) ], [ $right, down($us) ])
			. svg_text($left - 8, down($us) + 4, 'end', $us >= 1000 ? $us / 1000 . ' ms' : "$us µs");
	}
	return $svg . svg_line('line dotted', [ across($changed), $top ], [ across($changed), $bottom ])
		. svg_text(across($changed) + 4, $bottom - 10, 'start', '3 blocks from 200 million rows')
		. svg_text($left, 18, 'start', 'time of a search')
		. svg_text(($left + $right) / 2, $bottom + 42, 'middle', 'rows');
}

sub svg_curves
{
	my $svg = '';

	for my $k (@ks)
	{
		for ([ '', \&search_time, @ks ], [ ' dashed', \&nvme_time, 3, 8 ])
		{
			my ($style, $time, @drawn) = @$_;
			my @rows = map { 1e6 * ($end / 1e6)**($_ / 200) } 0 .. 200;

			$svg .= svg_line("k$k$style", map { [ across($_), down($time->($_, blocks($_), $k)) ] } @rows)
				if grep { $_ == $k } @drawn;
		}
		$svg .= svg_dot("k$k", across($_->[0] * 1e6), down($_->[4]))
			for grep { $_->[1] == 4 && $_->[2] == $k } @searches;
	}
	return $svg;
}

sub svg_legend
{
	my ($x, $y, $svg) = ($right + 25, $top + 10, '');
	my $entry = sub {
		my ($mark, @lines) = @_;
		$svg .= $mark;
		for (@lines)
		{
			$svg .= svg_text($x + 40, $y + 4, 'start', $_);
			$y += 20;
		}
		$y += 6;
	};

	$entry->(svg_line("k$_", [ $x, $y ], [ $x + 30, $y ]), "k = $_") for reverse @ks;
	$y += 14;
	$entry->(svg_line('line', [ $x, $y ], [ $x + 30, $y ]), 'model, index', 'in memory');
	$entry->(svg_line('line dashed', [ $x, $y ], [ $x + 30, $y ]), 'model, leaves', 'on NVMe');
	$entry->(svg_dot('', $x + 15, $y), 'measured,', 'in memory');
	return $svg;
}

sub plot
{
	my ($width, $height) = ($right + 170, $bottom + 55);
	my ($light, $dark) = map { style($_) } 0, 1;

	return <<"END" . svg_grid() . svg_curves() . svg_legend() . "</svg>\n";
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $height" width="$width" height="$height" role="img">
<title>Time of a search by the number of rows</title>
<style>
text{font:13px sans-serif} path{fill:none;stroke-width:2} .grid{stroke-width:1}
.dashed{stroke-dasharray:6 4} .dotted{stroke-width:1;stroke-dasharray:2 4}
$light
\@media (prefers-color-scheme:dark){$dark}
</style>
END
}

die "usage: perl bench/scale_model.pl FILE.svg\n" unless @ARGV == 1;
print_errors();
print_predictions();
print_shards();
print_joins();
open my $file, '>', $ARGV[0] or die "$ARGV[0]: $!\n";
print $file plot();
close $file or die "$ARGV[0]: $!\n";
