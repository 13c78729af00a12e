# Texts that share parts: descriptions from standard input (rows of COPY: name,
# body), rows of COPY to standard output (id, body).  Each text
# has 65 words drawn from those of the descriptions, as often as these have them.
# Of 100 texts 10 have 30 words in a row of another text, the source, among
# their own; 20 end with one of 5 boilerplates of 40 words more; and one of
# 200 is a copy of the source with 3 words replaced.
#
#     perl bench/passages.pl ROWS

use strict;
use warnings;

my $rows = shift;
my $length = 65;
my @words;
my @texts;

while (<STDIN>)
{
	my (undef, $body) = split /\t/;
	push @words, grep { !/\\/ } split ' ', $body =~ s/\\n/ /gr;
}
srand 1;
my @boilerplates = map { [ map { $words[ rand @words ] } 1 .. 40 ] } 1 .. 5;

for my $id (0 .. $rows - 1)
{
	# a text after another one, so that a source is never made of its copy
	my $draw = $id < 1000 ? 99 : rand 100;
	my $kind = $draw < 10 ? 'excerpt' : $draw < 10.5 ? 'copy' : $draw < 30.5 ? 'boilerplate' : 'own';
	my $source = $kind =~ /excerpt|copy/ ? int rand $id : undef;
	my @body = map { $words[ rand @words ] } 1 .. $length;

	if ($kind eq 'excerpt')
	{
		my $from = int rand $length - 30 + 1;

		splice @body, rand($length - 30 + 1), 30,
		  (split ' ', $texts[$source])[ $from .. $from + 29 ];
	}
	elsif ($kind eq 'copy')
	{
		my @copy = split ' ', $texts[$source];

		$copy[ rand @copy ] = pop @body for 1 .. 3;
		@body = @copy;
	}
	elsif ($kind eq 'boilerplate')
	{
		push @body, @{ $boilerplates[ rand @boilerplates ] };
	}
	$texts[$id] = "@body";
	print "$id\t$texts[$id]\n";
}
