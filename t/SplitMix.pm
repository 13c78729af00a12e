# Arithmetic of doc/algorithm.md, "Minima: minhash", modulo 2^64; for features that
# somebody chooses.

package SplitMix;

use strict;
use warnings;
no warnings 'portable';

use Exporter 'import';

our @EXPORT = qw(split_mix unmix avoids);

sub shift_right { return ($_[0] & ~0) >> $_[1] }

# S(seed, i)
sub split_mix
{
	use integer;
	my ($seed, $i) = @_;
	my $z = $seed + ($i + 1) * 0x9E3779B97F4A7C15;

	$z = ($z ^ shift_right($z, 30)) * 0xBF58476D1CE4E5B9;
	$z = ($z ^ shift_right($z, 27)) * 0x94D049BB133111EB;
	return $z ^ shift_right($z, 31);
}

# The h of which split_mix(h, 0) is z.
sub unmix
{
	use integer;
	my ($z) = @_;

	$z = ($z ^ shift_right($z, 31) ^ shift_right($z, 62)) * 0x319642B2D24D8EC3;
	$z = ($z ^ shift_right($z, 27) ^ shift_right($z, 54)) * 0x96DE1B173F119089;
	return ($z ^ shift_right($z, 30) ^ shift_right($z, 60)) - 0x9E3779B97F4A7C15;
}

my @multipliers = map { split_mix(4, $_) | 1 } 0 .. 63;

# Are the values of a feature, mixed = split_mix(hash, 0), in none of so many last
# bins, in each of the rounds 0 to 63?
sub avoids
{
	use integer;
	my ($mixed, $bins) = @_;

	for my $multiplier (@multipliers)
	{
		return 0 if shift_right($mixed * $multiplier, 58) >= 64 - $bins;
	}
	return 1;
}

1;
