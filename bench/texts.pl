# Make documents of the manual pages that standard input names: roughly without roff's
# requests and escapes, long pages cut at ends of lines.  Those of 2 to 10 kB
# are written to the directory, numbered.

use strict;
use warnings;

my ($directory) = @ARGV;
my $written = 0;

sub plain
{
	my ($text) = @_;

	$text =~ s/^\.\s*de\b.*?^\.\.$//gms;    # definitions of requests
	$text =~ s/\\".*$//gm;                  # comments
	$text =~ s/^\.(?:[BIR]{1,2}|S[BHMS]) +|^[.'].*$//gm;
	$text =~ s/\\\[u([0-9A-F]{4,5})\]/chr hex $1/ge;
	$text =~ s/\\[fmu*]?(?:\(..|\[[^\]\n]*\])|\\(?:s[-+]?\d+|[fm*].|[du]|[hv]'[^'\n]*')//g;
	$text =~ s/\\-/-/g;
	$text =~ s/\\e/\\/g;
	$text =~ s/\\[^\w\n]//g;
	$text =~ s/[ \t]+/ /g;
	$text =~ s/\n\s*\n+/\n\n/g;
	return $text;
}

sub write_document
{
	my ($text) = @_;

	return if length $text < 2000 || length $text > 10000;
	open my $file, '>:raw', "$directory/" . ++$written or die $!;
	print $file $text or die $!;
	close $file or die $!;
}

while (my $name = <STDIN>)
{
	chomp $name;
	open my $file, '<:raw', $name or die "$name: $!";
	my $text = do { local $/; <$file> } // '';
	next if $text =~ /\0/ || !utf8::decode($text);
	$text = plain($text);
	utf8::encode($text);

	# equal parts of at most 8 kB and a line
	my $part = length($text) / (int(length($text) / 8000) + 1);
	my $document = '';
	for my $line (split /^/, $text)
	{
		$document .= $line;
		next if length $document < $part;
		write_document($document);
		$document = '';
	}
	write_document($document);
}
