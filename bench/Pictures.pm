# The pictures of the documents that have curves, from bench/results, as SVG.
package Pictures;

use strict;
use warnings;
use utf8;

use Exporter qw(import);
use FindBin;
use List::Util qw(max min sum);
use Results;

our @EXPORT = qw(pictures);

# Colours that the colour-blind tell apart (Okabe and Ito), lighter on dark.
my %colours = (
	blue => [ '#0072b2', '#56b4e9' ],
	orange => [ '#b85c00', '#f0a040' ],
	pink => [ '#a8467e', '#e691c0' ],
	grey => [ '#6b6b6b', '#9a9a9a' ]);

# A picture on a ground of its own, so that a page of any colour shows it.
sub picture
{
	my ($width, $height, $title, @parts) = @_;
	my $scheme = sub {
		my ($which) = @_;
		my ($ground, $ink, $line) =
		  $which ? ('#0d1117', '#e6edf3', '#30363d') : ('#ffffff', '#1f2328', '#d1d9e0');
		return join ' ', ".ground{fill:$ground}", ".halo{stroke:$ground}", ".ink{fill:$ink}",
		  ".line{stroke:$line}", ".frame{stroke:$ink}",
		  map { (".$_\{stroke:$colours{$_}[$which]}", ".f-$_\{fill:$colours{$_}[$which]}") }
		  sort keys %colours;
	};

	return join "\n",
	  qq(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 $width $height" width="$width" height="$height" role="img">),
	  "<title>$title</title>", '<style>',
	  'text{font:14px sans-serif} .small{font-size:12px} .bold{font-weight:bold}',
	  '.curve{fill:none;stroke-width:2.5} .line,.frame{fill:none;stroke-width:1}',
	  '.halo{paint-order:stroke;stroke-width:4px}',
	  $scheme->(0), '@media (prefers-color-scheme:dark){' . $scheme->(1) . '}', '</style>',
	  qq(<rect class="ground" width="$width" height="$height" rx="6"/>), @parts, "</svg>\n";
}

# A text at a place, which is where the anchor says: start, middle or end of it.
sub text
{
	my ($x, $y, $class, $text, $anchor) = @_;

	$text =~ s/&/&amp;/g;
	$text =~ s/</&lt;/g;
	return sprintf '<text x="%.1f" y="%.1f" class="%s" text-anchor="%s">%s</text>', $x, $y, $class,
	  $anchor // 'start', $text;
}

# A line through points [x, y].
sub line
{
	my ($class, @points) = @_;

	return sprintf '<polyline class="%s" points="%s"/>', $class, join ' ', map { sprintf '%.1f,%.1f', @$_ } @points;
}

sub dot
{
	my ($x, $y, $radius, $class) = @_;

	return sprintf '<circle cx="%.1f" cy="%.1f" r="%.1f" class="%s"/>', $x, $y, $radius, $class;
}

# Labels at the right of curves, moved until each has 16 pixels.
sub labels
{
	my ($x, @labels) = @_;    # [y, colour, text]
	my ($last, @parts) = (-100);

	for my $label (sort { $a->[0] <=> $b->[0] } @labels)
	{
		$last = max($label->[0], $last + 16);
		push @parts, text($x, $last + 5, "small halo f-$label->[1]", $label->[2]);
	}
	return @parts;
}

# Recall of minhash(body) by k, and related matches, means and ranges of the kinds of
# text: from 0 to 1, and once more from 0.9.
sub quality
{
	my @kinds = ('English package descriptions', 'Japanese package descriptions', 'Files', 'HTML pages');
	my ($name, @parts) = ('minhash(body, words => 2)');

	for my $panel ([ 60, 0 ], [ 430, 0.9 ])
	{
		my ($left, $least) = @$panel;
		my ($right, $top, $bottom) = ($left + 280, 50, 330);
		my $across = sub { $left + ($_[0] - 1) / 15 * ($right - $left) };
		my $down = sub { $bottom - ($_[0] - $least) / (1 - $least) * ($bottom - $top) };
		my $step = $least ? 0.02 : 0.2;

		push @parts, text($left, 30, 'ink', $least ? 'Share, enlarged: from 0.9 to 1' : 'Share, from 0 to 1');
		for (my $at = $least; $at < 1.001; $at += $step)
		{
			push @parts, line('line', [ $left, $down->($at) ], [ $right, $down->($at) ]),
			  text($left - 8, $down->($at) + 4, 'ink small', sprintf($least ? '%.2f' : '%.1f', $at), 'end');
		}
		push @parts, text($across->($_), $bottom + 20, 'ink small', $_, 'middle') for 2, 4, 6, 8, 10, 12, 14, 16;
		push @parts, text(($left + $right) / 2, $bottom + 42, 'ink', 'k, in bits', 'middle'),
		  line('frame', [ $across->(8), $top ], [ $across->(8), $bottom ]),
		  text($across->(8) + 6, $bottom - 8, 'ink small', 'k = 8');
		push @parts, sprintf('<clipPath id="at%d"><rect x="%d" y="%d" width="%d" height="%d"/></clipPath>',
			$left, $left, $top - 2, $right - $left, $bottom - $top + 2), qq(<g clip-path="url(#at$left)">);
		for my $measure ([ 'Recall', 'blue' ], [ 'Precision', 'orange' ])
		{
			my ($what, $colour) = @$measure;
			my (@mean, @high, @low);

			for my $k (1 .. 16)
			{
				my @of = map { figure("quality#$_/$what, by k, of 128 bits by 2 k", $name, $k) } @kinds;

				push @mean, [ $across->($k), $down->(sum(@of) / @of) ];
				push @high, [ $across->($k), $down->(max @of) ];
				push @low, [ $across->($k), $down->(min @of) ];
			}
			push @parts, sprintf('<polygon class="f-%s" opacity="0.18" points="%s"/>', $colour,
				join ' ', map { sprintf '%.1f,%.1f', @$_ } @high, reverse @low), line("curve $colour", @mean);
		}
		push @parts, '</g>';
		# where the curves have room for them
		push @parts, text($across->($least ? 5.3 : 3.6), $down->($least ? 0.923 : 0.55), 'bold halo f-blue', 'recall'),
		  text($across->($least ? 11.4 : 9), $down->($least ? 0.952 : 0.55), 'bold halo f-orange', 'related');
	}
	return picture(740, 436, 'minhash(body): recall, and the share of related matches, for k from 1 to 16', @parts,
		text(60, 400, 'ink small', 'Recall: the share of the alike pairs that are within k. Related: the share of the pairs '
			  . 'within k that are related.'),
		text(60, 420, 'ink small', 'Lines: the means of four kinds of texts. Areas: from the worst kind to the best.'));
}

my @millions = (1, 10, 100);

# Curves over the rows, with labels.  What does not depend on the rows is one level line,
# at the mean: its differences are those of the runs.
sub curves
{
	my ($left, $right, $down, @series) = @_;    # of [key, factor, colour, label, dash, level]
	my (@parts, @labels);

	for my $series (@series)
	{
		my ($key, $factor, $colour, $label, $dash, $level) = @$series;
		my @figures = map { figure('readme', $key, "$_ million") } @millions;
		my @points;

		if ($level)
		{
			my @known = grep { $_ ne '' } @figures;

			@figures = (sum(@known) / @known) x @millions;
		}
		@points = map { [ $left + $_ * ($right - $left) / 2, $down->($figures[$_] * $factor) ] }
		  grep { $figures[$_] ne '' } 0 .. $#millions;
		push @parts, line("curve $colour" . ($dash ? '" stroke-dasharray="6 4' : ''), @points);
		push @parts, map { dot(@$_, 3.5, "f-$colour") } @points if !$level;
		push @labels, [ $points[-1][1], $colour, $label, $points[-1][0] ];
	}
	for my $end (map { $left + $_ * ($right - $left) / 2 } 1, 2)
	{
		push @parts, labels($end + 10, grep { abs($_->[3] - $end) < 1 } @labels);
	}
	return @parts;
}

# Times by rows: look-ups, scans, joins.  A step of either axis is a power of ten.
sub times_by_rows
{
	my ($left, $right, $top, $bottom) = (80, 440, 40, 440);
	my @steps = ('10 µs', '0.1 ms', '1 ms', '10 ms', '0.1 s', '1 s', '10 s', '100 s', '1,000 s');
	my $height = ($bottom - $top) / $#steps;
	my $down = sub { $bottom - (log($_[0] / 1e-5) / log(10)) * $height };
	my @axes;

	for my $i (0 .. $#steps)
	{
		push @axes, line('line', [ $left, $bottom - $i * $height ], [ $right, $bottom - $i * $height ]),
		  text($left - 8, $bottom - $i * $height + 4, 'ink small', $steps[$i], 'end');
	}
	push @axes, text($left + $_ * ($right - $left) / 2, $bottom + 20, 'ink small', "$millions[$_] million", 'middle')
	  for 0 .. $#millions;
	return picture(720, 500, 'Time of a search and of a join, for 1, 10 and 100 million rows', @axes,
		text(($left + $right) / 2, $bottom + 42, 'ink', 'rows, logarithmic scale', 'middle'),
		text(20, 24, 'ink', 'Time of one statement in one process, logarithmic scale; random fingerprints'),
		curves($left, $right, $down,
			[ 'self-join, k = 8, s', 1, 'orange', 'all pairs, k = 8', 1 ],
			[ 'self-join, k = 3, s', 1, 'orange', 'all pairs, k = 3' ],
			[ 'hash join, s', 1, 'grey', 'hash join, a.fp = b.fp' ],
			[ 'sequential scan, k = 3', 1e-6, 'pink', 'search with a full scan, k = 3' ],
			[ 'hamming, k = 8', 1e-6, 'blue', 'search with the index, k = 8', 1 ],
			[ 'hamming, k = 3', 1e-6, 'blue', 'search with the index, k = 3' ],
			[ 'primary key', 1e-6, 'grey', 'look-up by primary key, mean', 0, 1 ]));
}

# All of them, by their names.
sub pictures
{
	return (quality => quality(), times => times_by_rows());
}

1;
