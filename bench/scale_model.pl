# A model of searches, builds and deduplication by the number of rows, fitted to
# what was measured with 1 and 10 million rows, and compared with what was
# measured with 100 million.  Prints the tables of doc/scaling.md 4, and writes
# the plot to the file named:
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
# MB, seconds of processor time, bytes of the index
my @builds = (
	[ 1, 4, 1024, 0.47, 44007424 ],
	[ 1, 3, 1024, 0.43, 34742272 ],
	[ 10, 3, 1024, 4.01, 341172224 ],
	[ 10, 4, 1024, 4.76, 431636480 ],
	[ 10, 6, 1024, 5.97, 612368384 ],
	[ 10, 8, 1024, 6.43, 793313280 ],
	[ 10, 4, 64, 5.68, 431636480 ],
	[ 10, 4, 16, 6.05, 431636480 ],
	[ 100, 4, 1024, 54.86, 4342816768 ],
	[ 100, 3, 1024, 48.27, 3437682688 ]);

# simhash_pairs: millions of rows, k, parts, seconds of processor time in all
my @joins = (
	[ 1, 3, 1, 0.61 ],
	[ 1, 8, 1, 2.67 ],
	[ 10, 3, 1, 7.01 ],
	[ 10, 8, 1, 74.0 ],
	[ 100, 3, 1, 106.8 ],
	[ 1, 8, 16, 6.1 ],
	[ 10, 3, 16, 15.1 ],
	[ 10, 8, 16, 88.6 ],
	[ 10, 8, 64, 125 ]);

my $fitted = 10;    # millions of rows; what has more is predicted

# microseconds of processor time
my $statement = 22;    # a prepared statement, beside the search, with its client
my $result = 4;    # a row that is found
my $read = 5;    # a page that the system has in memory, and shared_buffers have not
my $shard = 170;    # a shard, at the coordinator
my $remote = 250;    # what postgres_fdw sends to a shard, beside the search
my $move = 2.05;    # a row fetched by postgres_fdw and inserted, on both sides
my %cut = (3 => 1.6, 8 => 2.2);    # simhash_parts for a row

my $table_row = 44.3;    # bytes of (id bigint, fp simhash64)
my $join_row = 35;    # bytes that simhash_pairs keeps

# What is assumed

my $latency = 100;    # microseconds of a read from NVMe
my $reads_a_second = 500_000;
my $round_trip = 100;    # microseconds, between machines
my $round_trips = 4;    # of postgres_fdw, one shard after the other
my $machine = 256;    # GB of memory
my $for_index = 0.6;    # of it, for the pages of the index
my $sort_memory = 8192;    # maintenance_work_mem, MB
my $moved_row = 45;    # bytes of a row as postgres_fdw gets it
my $stored_row = 48;    # bytes of (part int, id bigint, fp simhash64)
my $night = 8;    # hours

# The format of the index: doc/indexing.md 4

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
	map { [ [ join_parts($_->[0] * 1e6, $_->[1]) ], $_->[3] / $_->[0] ] }
	grep { $_->[0] <= $fitted && $_->[2] == 1 } @joins ]);

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
	my ($text, $first, @others) = @_;

	print "\n$text\n\n";
	row($first, @others);
	print '|---|' . '--:|' x @others . "\n";
}

sub thousands
{
	my $text = sprintf '%.0f', $_[0];

	1 while $text =~ s/^(\d+)(\d{3})/$1,$2/;
	return $text;
}

sub figure
{
	my ($number) = @_;

	return $number >= 100 ? thousands($number) : sprintf $number >= 10 ? '%.1f' : '%.2f', $number;
}

sub count
{
	my ($rows) = @_;

	return $rows >= 1e9 ? $rows / 1e9 . ' G' : $rows / 1e6 . ' M';
}

sub duration
{
	my ($us) = @_;

	return $us >= 10_000 ? sprintf('%.0f ms', $us / 1000)
		: $us >= 1000 ? sprintf('%.1f ms', $us / 1000)
		: sprintf '%.0f µs', $us;
}

# measured (error of the model)
sub compared
{
	my ($measured, $model) = @_;

	my $error = sprintf '%+.0f', 100 * ($model / $measured - 1);

	$error = 0 if $error == 0;    # -0
	return figure($measured) . " ($error %)";
}

# A row for each number of rows and of blocks, a column for each k.
sub print_searches
{
	my ($text, $place, $model) = @_;
	my @ks = (0, 3, 6, 8, 10);
	my (%cells, @names);

	for (@searches)
	{
		my ($millions, $blocks, $k) = @$_;
		my $name = "$millions M | $blocks";

		push @names, $name unless $cells{$name};
		$cells{$name}{$k} = compared($_->[$place], $model->($millions * 1e6, $blocks, $k));
	}
	head($text, 'rows', 'blocks', map { "k = $_" } @ks);
	for my $name (@names)
	{
		row($name, map { $cells{$name}{$_} // '' } @ks);
	}
}

sub print_comparison
{
	print "Measured, and the error of the model\n";
	print_searches('Pages of the index', 3, sub { return search(@_)->{pages} });
	print_searches('Processor time of a search, µs', 4, \&search_time);
	head('CREATE INDEX', 'rows', 'blocks', 'maintenance_work_mem, MB', 'processor time, s', 'bytes a row');
	for (@builds)
	{
		my ($millions, $blocks, $megabytes, $s, $bytes) = @$_;

		row("$millions M", $blocks, $megabytes,
			compared($s, $millions * build_time($millions * 1e6, $blocks, $megabytes)),
			compared($bytes / $millions / 1e6, index_row($blocks)));
	}
	head('simhash_pairs', 'rows', 'k', 'parts', 'processor time, s');
	for (@joins)
	{
		my ($millions, $k, $parts, $s) = @$_;
		my $time = $parts > 1 ? parts_time($millions * 1e6, $k) : join_time($millions * 1e6, $k);

		row("$millions M", $k, $parts, compared($s, $millions * $time));
	}
	print "\nThe parameters, in microseconds\n\n";
	printf "a search: %.2f + %.2f a page + %.5f a comparison\n", @search_costs;
	printf "a row of a build: %.2f + %.3f a table + %.3f a table with files + %.4f a doubling of runs\n",
		@build_costs;
	printf "a row of a join: %.2f + %.3f a sort + %.5f a comparison\n", @join_costs;
}

sub print_blocks
{
	head('Blocks', 'rows', 'blocks', 'GB', map { ("k = $_: leaves", 'µs') } 3, 6, 8, 10);
	for my $rows (1e8, 1e9, 8e9)
	{
		for my $blocks (3 .. 5)
		{
			row(count($rows), $blocks, figure($rows * index_row($blocks) / 1e9),
				map { (thousands(search($rows, $blocks, $_)->{leaves}),
					thousands(search_time($rows, $blocks, $_))) } 3, 6, 8, 10);
		}
	}
}

sub print_predictions
{
	my @rows = (1e8, 1e9, 8e9);
	my @plans = map { [ $_, blocks($_) ] } @rows;
	my $row = sub {
		my ($name, $value) = @_;
		row($name, map { $value->(@$_) } @plans);
	};
	my $gigabytes = sub { return $_[0] * index_row($_[1]) / 1e9 };

	head('One machine', '', map { count($_) } @rows);
	$row->('blocks', sub { $_[1] });
	$row->('table, GB', sub { figure($_[0] * $table_row / 1e9) });
	$row->('index, GB', sub { figure($gigabytes->(@_)) });
	$row->("machines of $machine GB that hold the index in memory",
		sub { ceil($gigabytes->(@_) / $machine / $for_index) });
	$row->('build, core hours', sub { figure($_[0] * build_time(@_, $sort_memory) / 3.6e9) });
	for my $k (3, 6, 8, 10)
	{
		$row->("k = $k: leaves", sub { thousands(search(@_, $k)->{leaves}) });
		$row->("k = $k: in memory", sub { duration($statement + search_time(@_, $k)) });
		$row->("k = $k: a second and core", sub { thousands(1e6 / ($statement + search_time(@_, $k))) });
		$row->("k = $k: leaves on NVMe", sub { duration($statement + nvme_time(@_, $k)) });
		$row->("k = $k: a second, by the NVMe", sub { thousands($reads_a_second / search(@_, $k)->{leaves}) });
		$row->("k = $k: a second and core, on NVMe", sub {
			thousands(1e6 / ($statement + search_time(@_, $k) + $read * search(@_, $k)->{leaves})) });
	}
}

sub print_shards
{
	head('8 G rows in shards', 'shards', 'rows of each', 'its index, GB',
		map({ ("k = $_: fdw", 'client') } 3, 8), 'fdw: core µs', 'client: core µs');
	for my $shards (1, 2, 4, 8, 16, 32)
	{
		my $rows = 8e9 / $shards;
		my $blocks = blocks($rows);
		my $one = $statement + search_time($rows, $blocks, 3);

		row($shards, count($rows), figure($rows * index_row($blocks) / 1e9), (map {
			my $time = $statement + search_time($rows, $blocks, $_);
			(duration($shards * ($shard + $round_trips * $round_trip) + $round_trip + $remote + $time),
				duration($round_trip + $time)) } 3, 8),
			thousands($shards * ($shard + $remote + $one)), thousands($shards * $one));
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
	my @cases = map { my $k = $_; map { [ $_, $k ] } 1e8, 1e9, 8e9 } 3, 8;
	my $row = sub {
		my ($name, $value) = @_;
		row($name, map { $value->(@$_) } @cases);
	};
	my $copies = sub { my ($rows, $k) = @_; return $rows * ($k + 1) };
	my $move_hours = sub { return ($_[0] * $cut{ $_[1] } + $copies->(@_) * $move) / 3.6e9 };
	my $hours = sub { return $_[0] * parts_time(@_) / 3.6e9 };

	head('All pairs', '', map { "k = $_->[1], " . count($_->[0]) } @cases);
	my $one_call = sub { my ($rows, $text) = @_; return $rows < 2**31 ? $text : '-' };

	$row->('in one call, core hours', sub { $one_call->($_[0], figure($_[0] * join_time(@_) / 3.6e9)) });
	$row->('in one call, GB of memory without files', sub { $one_call->($_[0], figure($_[0] * $join_row / 1e9)) });
	$row->('in parts: copies of rows, G', sub { figure($copies->(@_) / 1e9) });
	$row->('GB sent', sub { thousands($copies->(@_) * $moved_row / 1e9) });
	$row->('GB stored', sub { thousands($copies->(@_) * $stored_row / 1e9) });
	$row->('parts that take 4 GB of memory', sub { thousands(ceil($copies->(@_) * $join_row / 4e9)) });
	$row->('cutting and moving, core hours', sub { figure($move_hours->(@_)) });
	$row->('joining, core hours', sub { figure($hours->(@_)) });
	$row->("cores for $night hours", sub { ceil(($move_hours->(@_) + $hours->(@_)) / $night) });
}

# The plot

my ($top, $bottom, $width, $space) = (40, 400, 330, 75);
my ($first, $decades) = (6, 4);    # powers of ten: the rows of a panel
my @kinds = ([ 3, '#0072b2' ], [ 6, '#009e73' ], [ 8, '#d55e00' ], [ 10, '#cc79a7' ]);

sub log10 { return log($_[0]) / log 10 }

sub across
{
	my ($panel, $rows) = @_;

	return sprintf '%.1f', $panel->{left} + (log10($rows) - $first) / $decades * $width;
}

sub down
{
	my ($panel, $value) = @_;
	my ($least, $most) = @$panel{ 'least', 'most' };

	return sprintf '%.1f', $bottom - (log10($value) - $least) / ($most - $least) * ($bottom - $top);
}

sub svg_text
{
	my ($x, $y, $attributes, $text) = @_;

	return qq(<text x="$x" y="$y"$attributes>$text</text>\n);
}

sub svg_grid
{
	my ($panel) = @_;
	my $svg = "<g stroke=\"#dddddd\">\n";
	my $bold = ' font-weight="bold"';

	$svg .= sprintf "<path d=\"M%s %s V%s\"/>\n", across($panel, 10**$_), $top, $bottom
		for $first .. $first + $decades;
	$svg .= sprintf "<path d=\"M%s %s h%s\"/>\n", $panel->{left}, down($panel, 10**$_), $width
		for $panel->{least} .. $panel->{most};
	$svg .= "</g>\n<g text-anchor=\"middle\">\n";
	$svg .= svg_text(across($panel, 10**$_), $bottom + 20, '', count(10**$_))
		for $first .. $first + $decades;
	$svg .= svg_text($panel->{left} + $width / 2, $bottom + 42, '', 'rows');
	$svg .= svg_text($panel->{left} + $width / 2, $top - 15, $bold, $panel->{title});
	$svg .= "</g>\n<g text-anchor=\"end\">\n";
	$svg .= svg_text($panel->{left} - 8, down($panel, 10**$_) + 4, '', $panel->{unit}->(10**$_))
		for $panel->{least} .. $panel->{most};
	return "$svg</g>\n";
}

# A curve of a function of the number of rows, from the one to the other.
sub svg_curve
{
	my ($panel, $from, $to, $attributes, $function) = @_;
	my @points = map { 10**(log10($from) + $_ / 100 * log10($to / $from)) } 0 .. 100;

	return sprintf "<path d=\"M%s\" fill=\"none\" stroke-width=\"2\"%s/>\n",
		join(' L', map { across($panel, $_) . ' ' . down($panel, $function->($_)) } @points), $attributes;
}

sub svg_point
{
	my ($panel, $rows, $value, $colour) = @_;

	return sprintf '<circle cx="%s" cy="%s" r="4" fill="#ffffff" stroke="%s" stroke-width="2"/>' . "\n",
		across($panel, $rows), down($panel, $value), $colour;
}

sub svg_label
{
	my ($panel, $rows, $value, $colour, $text) = @_;

	return svg_text(across($panel, $rows) + 6, down($panel, $value) + 4,
		" fill=\"$colour\" font-weight=\"bold\"", $text);
}

# The default number of blocks changes at $changed rows.
sub svg_times
{
	my ($panel) = @_;
	my $svg = svg_grid($panel);
	my ($changed, $end) = (200e6, 8e9);

	for (@kinds)
	{
		my ($k, $colour) = @$_;
		my $stroke = " stroke=\"$colour\"";
		my $dashed = "$stroke stroke-dasharray=\"2 4\"";

		for (([ 1e6, $changed - 1, 4 ], [ $changed, $end, 3 ]))
		{
			my ($from, $to, $blocks) = @$_;

			$svg .= svg_curve($panel, $from, $to, $stroke, sub { search_time($_[0], $blocks, $k) });
			$svg .= svg_curve($panel, $from, $to, $dashed, sub { nvme_time($_[0], $blocks, $k) })
				if $k == 3 || $k == 8;
		}
		$svg .= svg_point($panel, $_->[0] * 1e6, $_->[4], $colour)
			for grep { $_->[1] == 4 && $_->[2] == $k } @searches;
		$svg .= svg_label($panel, $end, search_time($end, 3, $k), $colour, $k);
	}
	return $svg . svg_text($panel->{left} + 10, $top + 18, '',
		'k = 3, 6, 8, 10; dotted: 3 and 8, leaves on NVMe');
}

sub svg_sizes
{
	my ($panel) = @_;
	my $svg = svg_grid($panel);
	my $end = 8e9;

	for ([ 4, '#0072b2' ], [ 3, '#d55e00' ])
	{
		my ($blocks, $colour) = @$_;

		$svg .= svg_curve($panel, 1e6, $end, " stroke=\"$colour\"",
			sub { $_[0] * index_row($blocks) / 1e9 });
		$svg .= svg_point($panel, $_->[0] * 1e6, $_->[4] / 1e9, $colour)
			for grep { $_->[1] == $blocks && $_->[2] == 1024 } @builds;
	}
	$svg .= svg_curve($panel, 1e6, 1e10, ' stroke="#888888" stroke-dasharray="6 4"', sub { $machine });
	$svg .= svg_text($panel->{left} + 10, down($panel, $machine) - 6, '', "$machine GB");
	$svg .= svg_text($panel->{left} + 10, $top + 18, '',
		'<tspan fill="#0072b2" font-weight="bold">4 blocks</tspan>, '
			. '<tspan fill="#d55e00" font-weight="bold">3 blocks</tspan>');
	return $svg;
}

sub plot
{
	my %times = (left => 70, least => 0, most => 6, title => 'time of a search', unit => sub {
		my ($us) = @_;
		return $us >= 1e6 ? $us / 1e6 . ' s' : $us >= 1000 ? $us / 1000 . ' ms' : "$us µs" });
	my %sizes = (left => 70 + $width + $space, least => -2, most => 3, title => 'size of the index',
		unit => sub { my ($size) = @_; return $size >= 1 ? "$size GB" : 1000 * $size . ' MB' });
	my $svg = sprintf <<'END', $sizes{left} + $width + 25, $bottom + 55;
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$s %2$s" width="%1$s" height="%2$s"
	font-family="sans-serif" font-size="13" fill="#333333" role="img">
<title>Searches and the index by the number of rows</title>
<desc>Lines: the model. Circles: measured.</desc>
<rect width="100%%" height="100%%" fill="#ffffff"/>
END
	return $svg . svg_times(\%times) . svg_sizes(\%sizes) . "</svg>\n";
}

die "usage: perl bench/scale_model.pl FILE.svg\n" unless @ARGV == 1;
print_comparison();
print_blocks();
print_predictions();
print_shards();
print_joins();
open my $file, '>', $ARGV[0] or die "$ARGV[0]: $!\n";
print $file plot();
close $file or die "$ARGV[0]: $!\n";
