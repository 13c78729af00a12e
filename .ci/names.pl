# Names in src/README, and of functions in comments, that the sources do not have.
#
#     perl .ci/names.pl HEADERS
#
# Run where src is; HEADERS is the directory of PostgreSQL's.  Each file of the sources
# must have one place in the map of src/README; each function in the table of a way must
# be in the file named beside it; each other word with an underscore, or before "()",
# must be somewhere in the sources.

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

# X.[ch] are two files.
sub files
{
	my ($name) = @_;

	return $name =~ /^(.*)\.\[ch\]$/ ? ("$1.c", "$1.h") : ($name);
}

my @lines = split /\n/, slurp('src/README');
my ($room, %listed) = ('');

$text{$_} = slurp($_) for grep { -f && $_ ne 'src/README' } glob('src/* src/*/*');
my $all = join "\n", values %text, slurp('Makefile'), map { slurp($_) } glob('sql/simhash--*.sql');

for my $i (0 .. $#lines)
{
	my $place = 'src/README:' . ($i + 1);
	my $line = $lines[$i];

	$room = $1 if $line =~ /^(\w+): /;
	if ($line =~ /^ {4}([\w.]+\.(?:c|h|\[ch\]))(?: |$)/)
	{
		for my $file (map { $room eq '' ? "src/$_" : "src/$room/$_" } files($1))
		{
			print "$place: $file is listed twice\n" if $listed{$file}++;
			print "$place: there is no $file\n" if !$text{$file};
		}
	}
	elsif ($line =~ /^ {4,}((?:\w+, (?:or )?)?\w+),?(?: or)? {2,}(\.\.\/\w+|[\w.\/]*\w+\.[ch])(?: |$)/)
	{
		my ($functions, $file) = ($1, $2);
		my @files = map { s/\w+\/\.\.\///r } "src/$room/$file";

		@files = glob("$files[0]/*.[ch]") if -d $files[0];
		for my $function (split /, (?:or )?/, $functions)
		{
			$function = "\\w*$function" if $function =~ /^_/;
			print "$place: $function is not in $file\n"
			  if !grep { ($text{$_} // '') =~ /\b$function\b/ } @files;
		}
	}
	# file names in sentences
	while ($line =~ /(?<![\w.\/])([\w\/.]*\w\.(?:\[ch\]|c|h|pl|sql|md|list))\b/g)
	{
		for my $name (files($1))
		{
			print "$place: there is no $name\n"
			  if !-e $name && !grep { /(?:^|\/)\Q$name\E$/ } map { ($_, s/^src/../r) } keys %text;
		}
	}
	while ($line =~ /(?<![\w.\/])(\w+_\w+(?![\w.])|[a-z]\w+(?=\())/g)
	{
		my $word = $1;

		next if $word =~ /(?:^|_)name(?:_|$)/;    # stands for any
		print "$place: nothing is called $word\n"
		  if $all !~ ($word =~ /^_/ ? qr/$word\b/ : qr/\b$word\b/);
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
}
for my $file (grep { /\.[ch]$/ } sort keys %text)
{
	print "src/README: $file is not listed\n" if !$listed{$file};
}
