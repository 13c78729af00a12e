# Draw precision against recall, a curve for each of some kinds of fingerprint,
# from what script/quality has printed; of several such tables in a file, from
# the first:
#
#     perl bench/quality_plot.pl bench/results/2026-11-22-pg15-quality.md >doc/quality.svg

use strict;
use warnings;

# name in the tables, name in the plot, colour
my @curves = (
	[ 'MinHash, 128 numbers, words => 3', 'MinHash, 128 numbers, words => 3', '#888888' ],
	[
		"simhash(body, words => 1, tf => 'count')", "simhash(words => 1, tf => 'count')",
		'#e69f00'
	],
	[ 'simhash(body, words => 1)', 'simhash(words => 1)', '#d55e00' ],
	[ 'simhash(body, words => 2)', 'simhash(words => 2)', '#cc79a7' ],
	[ 'simhash_128(body, words => 1)', 'simhash_128(words => 1)', '#000000' ],
	[ 'minhash(body, words => 1)', 'minhash(words => 1)', '#009e73' ],
	[ 'minhash(body, words => 2)', 'minhash(words => 2)', '#0072b2' ],
	[ 'minhash_128(body, words => 2)', 'minhash_128(words => 2)', '#56b4e9' ]);
my %is_named = map { $_ => 1 } (3, 8);    # points that are named; of 128 bits, 6 and 16
my ($left, $right, $top, $bottom) = (70, 680, 20, 420);
my $least = 0.5;    # of precision

# $table{name}{precision or recall} is a list, $points{name} the head of each
sub read_tables
{
	my (%table, %points, $measure, @heads);

	while (my $line = <>)
	{
		chomp $line;
		if ($line =~ /^(Precision|Recall), by /) { $measure = lc $1 }
		elsif ($line !~ /^\|/) { $measure = undef if $line ne '' }
		elsif (!defined $measure || $line =~ /^\|--/) { next }
		else
		{
			my ($name, @cells) = $line =~ /\| *([^|]*?) *(?=\|)/g;
			if ($name !~ s/^`(.*)`$/$1/) { @heads = @cells; next }
			$table{$name}{$measure} //= [@cells];
			$points{$name} //= [@heads];
		}
	}
	return (\%table, \%points);
}

sub across { return sprintf '%.1f', $left + $_[0] * ($right - $left) }
sub down { return sprintf '%.1f', $top + (1 - $_[0]) / (1 - $least) * ($bottom - $top) }

sub escape
{
	my ($text) = @_;

	$text =~ s/&/&amp;/g;
	$text =~ s/</&lt;/g;
	$text =~ s/>/&gt;/g;
	return $text;
}

sub print_text
{
	my ($x, $y, $attributes, $text) = @_;

	printf "<text x=\"%s\" y=\"%s\"%s>%s</text>\n", $x, $y, $attributes, escape($text);
}

sub print_grid
{
	print "<g stroke=\"#dddddd\">\n";
	printf "<path d=\"M%s %s V%s\"/>\n", across($_ / 10), $top, $bottom for 0 .. 10;
	printf "<path d=\"M%s %s H%s\"/>\n", $left, down($_ / 10), $right for 10 * $least .. 10;
	print "</g>\n<g text-anchor=\"middle\">\n";
	print_text(across($_ / 10), $bottom + 20, '', sprintf '%.1f', $_ / 10) for 0 .. 10;
	print_text(($left + $right) / 2, $bottom + 45,
		'', 'recall: the part of the pairs that are alike that is found');
	print_text(25, ($top + $bottom) / 2,
		sprintf(' transform="rotate(-90 25 %s)"', ($top + $bottom) / 2),
		'precision: the part of what is found that is right');
	print "</g>\n<g text-anchor=\"end\">\n";
	print_text($left - 8, down($_ / 10) + 4, '', sprintf '%.1f', $_ / 10) for 10 * $least .. 10;
	print "</g>\n";
}

sub print_curve
{
	my ($colour, $measured, $points, $scale) = @_;
	my (@path, @marks);

	for my $i (0 .. $#$points)
	{
		my ($precision, $recall) = ($measured->{precision}[$i], $measured->{recall}[$i]);
		next if $precision eq '-' || $precision < $least;
		push @path, across($recall) . ' ' . down($precision);
		push @marks, [ across($recall), down($precision), $points->[$i] ];
	}
	printf "<g fill=\"%s\">\n", $colour;
	printf "<path d=\"M%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n",
		join(' L', @path), $colour;
	printf "<circle cx=\"%s\" cy=\"%s\" r=\"3\"/>\n", @$_[ 0, 1 ] for @marks;
	for my $mark (grep { $is_named{ $_->[2] } } @marks)
	{
		print_text($mark->[0] - 6, $mark->[1] + 14,
			' text-anchor="end" font-weight="bold" stroke="#ffffff" stroke-width="3" paint-order="stroke"',
			$scale * $mark->[2]);
	}
	print "</g>\n";
}

my ($table, $points) = read_tables();
printf <<'END', $right + 20, $bottom + 60;
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$s %2$s" width="%1$s" height="%2$s"
	font-family="sans-serif" font-size="13" fill="#333333" role="img">
<title>Precision and recall of fingerprints</title>
<desc>Each point of a curve is a k, the distance up to which fingerprints count as near.</desc>
<rect width="100%%" height="100%%" fill="#ffffff"/>
END
print_grid();
my $line = $bottom - 22 * @curves - 30;
printf "<rect x=\"%s\" y=\"%s\" width=\"510\" height=\"%s\" fill=\"#ffffff\"/>\n",
	$left + 10, $line - 20, 22 * @curves + 35;
print_text($left + 20, $line, '', 'points: k = 1 .. 16, of 128 bits 2 .. 32; of MinHash, the similarity estimated');
for my $curve (@curves)
{
	my ($name, $label, $colour) = @$curve;
	die "no tables of $name\n" unless $table->{$name}{precision} && $table->{$name}{recall};
	print_curve($colour, $table->{$name}, $points->{$name}, $name =~ /hash_128\(/ ? 2 : 1);
	$line += 22;
	printf "<path d=\"M%s %s h24\" stroke=\"%s\" stroke-width=\"3\"/>\n", $left + 20, $line - 4, $colour;
	print_text($left + 52, $line, '', $label);
}
print "</svg>\n";
