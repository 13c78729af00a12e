# Names in src/README, and of functions in comments, that the sources do not have.
#
#     perl .ci/names.pl HEADERS
#
# Run where src is; HEADERS is the directory of PostgreSQL's.  src/README must name each
# file of the sources in the section of its folder, which begins with "FOLDER: "; each
# function of a way must be in the file named beside it; each other word with an
# underscore, or before "()", must be somewhere in the sources.

use strict;
use warnings;

my %text;    # of each file of the sources

sub slurp
{
	my ($file) = @_;

	open my $in, '<', $file or die "$file: $!";
	local $/;
	return scalar <$in>;
}

my @lines = split /\n/, slurp('src/README');
my ($folder, %listed) = ('src');

$text{$_} = slurp($_) for grep { -f && $_ ne 'src/README' } glob('src/* src/*/*');
my $all = join "\n", values %text, slurp('Makefile'), map { slurp($_) } glob('sql/simhash--*.sql');

for my $i (0 .. $#lines)
{
	my $place = 'src/README:' . ($i + 1);
	my $line = $lines[$i];

	$folder = "src/$1" if $line =~ /^(\w+): / && -d "src/$1";
	$folder = 'src' if $line =~ /^---/;
	print "$place: $1 is not in $2\n"
	  if $line =~ /^ {4,}(\w+) +(\w+\/\w+\.c|planner\.c)(?: |$)/ && ($text{"src/$2"} // '') !~ /\b$1\b/;
	while ($line =~ /(?<![\w.\/])([\w\/.]*\w\.(?:\[ch\]|(?:c|h|pl|sql|md|list)\b))/g)
	{
		# X.[ch] are two files
		for my $name ($1 =~ /^(.*)\[ch\]$/ ? ("$1c", "$1h") : ($1))
		{
			$listed{"$folder/$name"} = 1;
			print "$place: there is no $name\n"
			  if !-e $name && !grep { /(?:^|\/)\Q$name\E$/ } keys %text;
		}
	}
	while ($line =~ /(?<![\w.\/])(\w+_\w+(?![\w.])|[a-z]\w+(?=\())/g)
	{
		print "$place: nothing is called $1\n" if $all !~ /\b$1\b/;
	}
}
# Functions in comments and in other READMEs, as begin_all(): SQL has them, or code of ours
# or of PostgreSQL's headers.  Static ones of PostgreSQL have capitals, where one is named.
my @code = @text{ grep { /\.[ch]$/ } keys %text };
push @code, map { slurp($_) } glob('sql/simhash--*.sql'), `find $ARGV[0] -name '*.h'` =~ /(.+)/g;
my %words = map { $_ => 1 } map { s/\/\*.*?\*\///gsr =~ /\w+/g } @code;

for my $file (sort keys %text)
{
	my $said = $file =~ /README$/ ? $text{$file} : join "\n", $text{$file} =~ /\/\*.*?\*\//gs;

	for my $name ($said =~ /\b([a-z0-9]+_[a-z0-9_]+)\(\)/g)
	{
		print "$file: nothing is called $name\n" if !$words{$name} && $name !~ /_name$/;
	}
	print "src/README: $file is not listed\n" if $file =~ /\.[ch]$/ && !$listed{$file};
}
