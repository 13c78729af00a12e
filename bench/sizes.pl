# Texts of a table of any size: descriptions from standard input (rows of COPY: name,
# body), rows of COPY to standard output (id, body).  Each text has 65 words drawn from
# those of the descriptions, as often as these have them.  Every tenth is a copy of an
# earlier text that is no copy, with 0 to 3 words replaced.  A text depends on its number
# alone, so that none is kept.
#
#     perl bench/sizes.pl FIRST LAST

use strict;
use warnings;

my ($first, $last) = @ARGV;
my @words;

while (<STDIN>)
{
	my (undef, $body) = split /\t/;
	push @words, grep { !/\\/ } split ' ', $body =~ s/\\n/ /gr;
}

srand 1;
@words = @words[ map { rand @words } 1 .. 1 << 16 ];    # so few that a processor's cache holds them

# The seeds are mixed, as perl's generator makes similar numbers of similar seeds.
sub body
{
	my $seed = shift;

	$seed = (($seed >> 16) ^ $seed) * 0x45d9f3b & 0xffffffff for 1 .. 2;
	srand(($seed >> 16) ^ $seed);
	return @words[ map { rand @words } 1 .. 65 ];
}

for my $id ($first .. $last)
{
	my @body = body($id);

	if ($id % 10 == 0)
	{
		my @other = splice @body, 0, 4;

		@body = body(1 + int(rand $id / 10) * 10 + int rand 9);
		$body[ 16 * $_ ] = $other[$_] for 1 .. $id / 10 % 4;
	}
	print "$id\t@body\n";
}
