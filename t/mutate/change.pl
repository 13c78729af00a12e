# Change an operator, a constant or a condition of a random line of src.
#
#     perl t/mutate/change.pl SEED NUMBER
#
# Changes a file below the current directory, and says which line, and how.  The
# same SEED and NUMBER, 0 or more, make the same change of the same sources.
# script/soak mutate asks the tests whether they notice.

use strict;
use warnings;

my ($seed, $number) = @ARGV;
my @lines;    # [file, sites of a line]
my %text;

# What may stand for what else; a constant may be one more.
my @operators = (
	[ qr/(?<=\s)<(?=\s)/, '<=' ], [ qr/(?<=\s)<=(?=\s)/, '<' ],
	[ qr/(?<=\s)>(?=\s)/, '>=' ], [ qr/(?<=\s)>=(?=\s)/, '>' ],
	[ qr/==/, '!=' ], [ qr/!=/, '==' ], [ qr/&&/, '||' ], [ qr/\|\|/, '&&' ],
	[ qr/(?<=\s)\+(?=\s)/, '-' ], [ qr/(?<=\s)-(?=\s)/, '+' ],
	[ qr/\+=/, '-=' ], [ qr/-=/, '+=' ], [ qr/\btrue\b/, 'false' ], [ qr/\bfalse\b/, 'true' ],
	[ qr/\bMin\b/, 'Max' ], [ qr/\bMax\b/, 'Min' ], [ qr/(?<![\w.])\d+\b(?!\.)/, undef ]);

# The text with blanks for comments, strings, assertions and all directives but
# definitions.
sub code_only
{
	my ($code) = @_;
	my $blank = sub { $_[0] =~ s/[^\n]/ /gr };

	$code =~ s{(/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+')}{$blank->($1)}gse;
	$code =~ s{^([ \t]*\#[ \t]*(?!define)\w+(?:[^\n]*\\\n)*[^\n]*)}{$blank->($1)}gme;
	$code =~ s{\b((?:Static)?Assert\w*\s*(\((?:[^()]|(?2))*\)))}{$blank->($1)}gse;
	return $code;
}

for my $file (sort glob('src/*.[ch] src/*/*.[ch]'))
{
	next if $file eq 'src/text/unicode_table.c';
	open my $in, '<', $file or die "$file: $!";
	local $/;
	$text{$file} = <$in>;

	my $code = code_only($text{$file});
	my %sites;    # by line: [offset, length, what comes there]

	for my $operator (@operators)
	{
		my ($pattern, $other) = @$operator;

		push @{ $sites{ substr($code, 0, $-[0]) =~ tr/\n// } },
		  [ $-[0], $+[0] - $-[0], $other // substr($code, $-[0], $+[0] - $-[0]) + 1 ]
		  while $code =~ /$pattern/g;
	}
	while ($code =~ /\b(?:if|while) (\((?:[^()]|(?1))*\))/g)
	{
		push @{ $sites{ substr($code, 0, $-[1]) =~ tr/\n// } },
		  [ $-[1], $+[1] - $-[1], '(!' . substr($text{$file}, $-[1], $+[1] - $-[1]) . ')' ];
	}
	push @lines, [ $file, $sites{$_} ] for sort { $a <=> $b } keys %sites;
}

srand($seed);
my ($file, $sites) = @{ $lines[ rand @lines ] };
my $site = $sites->[ rand @$sites ];
($file, $sites) = @{ $lines[ rand @lines ] }, $site = $sites->[ rand @$sites ] for 1 .. $number;
my ($offset, $length, $other) = @$site;
my $line = 1 + substr($text{$file}, 0, $offset) =~ tr/\n//;

print "$file:$line: ", substr($text{$file}, $offset, $length) =~ s/\s+/ /gr, ' -> ',
  $other =~ s/\s+/ /gr, "\n";
substr($text{$file}, $offset, $length) = $other;
open my $out, '>', $file or die "$file: $!";
print $out $text{$file};
close $out or die "$file: $!";
