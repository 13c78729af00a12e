# A text of which no feature has a value in the last bin of a minhash, in none of the
# rounds that fill all bins: so each feature takes all of these rounds.
#
#     avoiding.pl BYTES
#
# Standard input has two words and the hash of both, as one feature, in a line.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../t";
use SplitMix;

my ($bytes) = @ARGV;
my (%after, $text, $word);

while (<STDIN>)
{
	my ($first, $second, $hash) = split;

	push @{ $after{$first} }, $second if avoids(split_mix($hash, 0), 1);
}
# words that all have others after them
while (my @ends = grep { !@{ $after{$_} = [ grep { $after{$_} } @{ $after{$_} } ] } } keys %after)
{
	delete @after{@ends};
}
srand 1;
($word) = sort keys %after;
$text = $word;
while (length $text < $bytes)
{
	$word = $after{$word}[ rand @{ $after{$word} } ];
	$text .= " $word";
}
print substr $text, 0, $bytes;
