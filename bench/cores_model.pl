#!/usr/bin/env perl
#
# The model of script/bench cores, from the units of one statement that a server
# has logged on standard input.  Arguments: rows, milliseconds of one process and
# of two, and the processor time of a team of one before and after the
# statement, in nanoseconds.

use strict;
use warnings;
use List::Util qw(max sum0);

my ($rows, $one, $two, $before, $after) = @ARGV;
my %steps;                      # seconds of each unit, in order

while (<STDIN>) {
	$steps{$1}[$2] = $3 / 1000
		if /simhash unit: step (\d+) kind \d+ unit (\d+) of \d+: ([\d.]+) ms/;
}

# How long the last of so many processes works, if each takes the next unit as
# soon as it is free.
sub longest
{
	my ($processes, @units) = @_;
	my @busy = (0) x $processes;

	for my $seconds (@units) {
		my $free = 0;

		for (1 .. $#busy) {
			$free = $_ if $busy[$_] < $busy[$free];
		}
		$busy[$free] += $seconds;
	}
	return max @busy;
}

my $units = sum0 map { @$_ } values %steps;
my $rest = ($after - $before) / 1e9 - $units;

printf "rest %.3f\n", $rest / ($rows / 1e6);
for my $processes (2, 16, 64) {
	my $longest = sum0 map { longest($processes, @$_) } values %steps;
	my $time = $rest + $longest;

	printf "share$processes %.2f\n", $longest * $processes / $units if $units > 0;
	printf "time$processes %.2f\n", $time;
	printf "speed$processes %.1f\n", $one / 1000 / $time;
	printf "fit %.2f\n", $time / ($two / 1000) if $processes == 2;
}
