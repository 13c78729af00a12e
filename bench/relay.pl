#!/usr/bin/env perl
# Count the bytes that servers of PostgreSQL send each other:
#
#     relay.pl DIRECTORY SERVERS PORT...
#
# listens on the sockets of the ports in DIRECTORY, and passes what comes on to
# those in SERVERS, and back.  Answers each line of standard input by the number
# of bytes that have passed since the last one, and ends with standard input.
use strict;
use warnings;

use Errno;
use IO::Select;
use IO::Socket::UNIX;
use Socket;

my ($directory, $servers, @ports) = @ARGV;
my ($bytes, %port, %peer, %pending) = (0);
my $waiting = IO::Select->new(\*STDIN);
my $writing = IO::Select->new;

foreach my $port (@ports)
{
	my $listener = IO::Socket::UNIX->new(
		Local => "$directory/.s.PGSQL.$port",
		Type => SOCK_STREAM,
		Listen => 100) or die "cannot listen on port $port: $!\n";
	$port{$listener} = $port;
	$waiting->add($listener);
}

sub connect_to
{
	my ($client, $port) = @_;
	my $server = IO::Socket::UNIX->new(
		Peer => "$servers/.s.PGSQL.$port",
		Type => SOCK_STREAM) or die "cannot connect to port $port: $!\n";

	$peer{$client} = $server;
	$peer{$server} = $client;
	$_->blocking(0) foreach $client, $server;
	$waiting->add($client, $server);
	return;
}

# One of the two sides has gone: so does the other.
sub disconnect
{
	foreach my $side (@_)
	{
		$waiting->remove($side);
		$writing->remove($side);
		delete $peer{$side};
		delete $pending{$side};
		close $side;
	}
	return;
}

# Who takes nothing for now may be waiting for another connection: what is for
# him is kept.
sub write_to
{
	my ($side) = @_;
	my $written = syswrite $side, $pending{$side};

	return disconnect($side, $peer{$side}) if !defined $written && !$!{EAGAIN};
	substr $pending{$side}, 0, $written // 0, '';
	if ($pending{$side} eq '') { $writing->remove($side) }
	else { $writing->add($side) }
	return;
}

sub pass_on
{
	my ($from) = @_;
	my $to = $peer{$from};
	my $length = sysread $from, my $data, 65536;

	return if !defined $length && $!{EAGAIN};
	return disconnect($from, $to) if !$length;
	$bytes += $length;
	$pending{$to} .= $data;
	return write_to($to);
}

$SIG{PIPE} = 'IGNORE';
$| = 1;
while (1)
{
	my ($readable, $writable) = IO::Select->select($waiting, $writing);

	foreach my $ready (@$writable)
	{
		write_to($ready) if $peer{$ready};
	}
	foreach my $ready (@$readable)
	{
		if ($ready == \*STDIN)
		{
			sysread(STDIN, my $line, 100) or exit;
			print "$bytes\n";
			$bytes = 0;
		}
		elsif ($port{$ready}) { connect_to(scalar $ready->accept, $port{$ready}) }
		elsif ($peer{$ready}) { pass_on($ready) }
	}
}
