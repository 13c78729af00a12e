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

use IO::Select;
use IO::Socket::UNIX;
use Socket;

my ($directory, $servers, @ports) = @ARGV;
my ($bytes, %port, %peer) = (0);
my $waiting = IO::Select->new(\*STDIN);

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
	$waiting->add($client, $server);
	return;
}

# One of the two sides has gone: so does the other.
sub disconnect
{
	foreach my $side (@_)
	{
		$waiting->remove($side);
		delete $peer{$side};
		close $side;
	}
	return;
}

sub pass_on
{
	my ($from, $to) = @_;
	my $length = sysread $from, my $data, 65536;

	return disconnect($from, $to) if !$length;
	$bytes += $length;
	for (my $sent = 0; $sent < $length;)
	{
		my $written = syswrite $to, $data, $length - $sent, $sent;
		return disconnect($from, $to) if !defined $written;
		$sent += $written;
	}
	return;
}

$SIG{PIPE} = 'IGNORE';
$| = 1;
while (1)
{
	foreach my $ready ($waiting->can_read)
	{
		if ($ready == \*STDIN)
		{
			sysread(STDIN, my $line, 100) or exit;
			print "$bytes\n";
			$bytes = 0;
		}
		elsif ($port{$ready}) { connect_to(scalar $ready->accept, $port{$ready}) }
		elsif ($peer{$ready}) { pass_on($ready, $peer{$ready}) }
	}
}
