# The tables of bench/results, by the keys that script/figures explains.
package Results;

use strict;
use warnings;
use utf8;

use Exporter qw(import);
use FindBin;
use List::Util qw(sum);

our @EXPORT = qw(cells figure rounded);

my $folder = "$FindBin::Bin/../bench/results";
my %results;    # of a file: a list of tables {section, cells => {row => {column => cell}}}

# The cells of a line of a table.
sub cells
{
	my ($line) = @_;

	$line =~ s/^\|\s*|\s*\|\s*$//g;
	return split /\s*\|\s*/, $line, -1;
}

# The key that a cell or a comment has in mind.
sub key
{
	my ($text) = @_;

	$text =~ tr/`*//d;
	$text =~ s/ \(\d+\)$//;
	return $text;
}

# The tables of a file of results, and of those with other numbers of rows.
sub read_results
{
	my ($name) = @_;
	my @files = (grep({ -e } "$folder/$name.md"), glob "$folder/$name-[0-9]*.md");

	return [ map { @{ tables_of($_) } } @files ] if @files;
	die "no bench/results/$name.md\n";
}

sub tables_of
{
	my ($file) = @_;
	my ($caption, @headings, @columns, @tables, $labels) = ('');

	open my $in, '<:encoding(UTF-8)', $file or die "$file: $!\n";
	local $_;
	while (<$in>)
	{
		chomp;
		if (/^(#+) (.*)/)
		{
			splice @headings, length($1) - 1;
			$headings[ length($1) - 1 ] = $2;
			$caption = '';
		}
		elsif (/^\|(?:-+:?\|)+$/)
		{
			my @rule = cells($_);

			($labels) = grep { $rule[$_] =~ /:$/ } 0 .. $#rule;
			push @tables,
			  { section => join('/', grep { $_ } @headings[ 1 .. $#headings ], $caption), cells => {} };
		}
		elsif (/^\|/)
		{
			my @cells = map { key($_) } cells($_);

			if (@tables && defined $labels)
			{
				my $row = join ', ', @cells[ 0 .. $labels - 1 ];

				@{ $tables[-1]{cells}{$row} }{ @columns[ $labels .. $#cells ] } = @cells[ $labels .. $#cells ];
			}
			else { @columns = @cells }
		}
		else
		{
			undef $labels;
			$caption = $_ if /\S/;
			$caption =~ s/[.:]$//;
		}
	}
	return \@tables;
}

# A number as it is read: with two digits, or three from 100 on.
sub rounded
{
	my ($number) = @_;

	if ($number =~ /\./ || $number >= 1000)
	{
		$number = sprintf '%.*g', $number >= 100 ? 3 : 2, $number;
		my $places = $number == 0 ? 0 : 1 - int(log($number) / log(10) + 1000) + 1000;
		$number = sprintf '%.*f', $places > 0 ? $places : 0, $number;
	}
	1 while $number =~ s/^(\d+)(\d{3})/$1,$2/;
	return $number;
}

# The cell of a source, FILE or FILE#SECTION, that has both keys.
sub figure
{
	my ($source, @keys) = @_;

	@keys = map { key($_) } @keys;
	my ($file, $section) = split /#/, $source, 2;
	my (@found, $known);

	$results{$file} //= read_results($file);
	my $pattern = defined $section ? join '.*', map { quotemeta } split /\*/, $section, -1 : '.*';
	for my $table (@{ $results{$file} })
	{
		next if $table->{section} !~ m{^$pattern(/|$)};
		for my $row (@keys)
		{
			for my $column (grep { $_ ne $row } @keys)
			{
				my $cell = $table->{cells}{$row} && $table->{cells}{$row}{$column};
				push @found, $cell if defined $cell;
				$known = 1 if $table->{cells}{$row} && $column =~ /^\d+ million$/;
			}
		}
	}
	return '' if !@found && $known;    # so many rows were not measured
	die "bench/results/$source has no figure of \"$keys[0]\" and \"$keys[1]\"\n" if !@found;
	@found = grep { $_ ne '' } @found or return '';
	if (defined $section && $section =~ /\*/)
	{
		return sprintf '%.*f', length($found[0] =~ s/^\d+\.?//r), sum(@found) / @found;
	}
	my %different = map { $_ => 1 } @found;
	die "bench/results/$source has several figures of \"$keys[0]\" and \"$keys[1]\"\n"
	  if keys %different > 1;
	return $found[0];
}

1;
