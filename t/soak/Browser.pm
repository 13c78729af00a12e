# A headless chromium, driven by browser.py.
package Browser;

use strict;
use warnings;

use FindBin;
use IPC::Open2;
use JSON::PP;

my $json = JSON::PP->new->utf8->allow_nonref;

# Start a browser that keeps its files in the directory.  It ends with this process.
sub new
{
	my ($class, $directory) = @_;
	my $self = bless {}, $class;

	local @ENV{qw(HOME TMPDIR)} = ($directory, $directory);
	delete local $ENV{DISPLAY};
	$self->{pid} = open2($self->{out}, $self->{in}, '/usr/bin/python3', "$FindBin::Bin/browser.py", $directory);
	return $self;
}

# Methods are those of selenium's driver, and click and send_keys, which have the
# selector of an element first.
sub AUTOLOAD
{
	my ($self, @arguments) = @_;
	my @call = (our $AUTOLOAD =~ s/.*:://r, @arguments);

	print { $self->{in} } $json->encode(\@call), "\n";
	return $json->decode(readline($self->{out}) // die "the browser has gone after: @call\n");
}

# What the console has had to say since the last call.
sub console
{
	my ($self) = @_;
	return map { $_->{message} } @{ $self->get_log('browser') };
}

# The addresses that were asked for since the last call, but for those of the tab
# in which chromium begins.
sub requests
{
	my ($self) = @_;
	my @events = map { decode_json($_->{message})->{message} } @{ $self->get_log('performance') };

	return map { $_->{params}{request}{url} }
	  grep { $_->{method} eq 'Network.requestWillBeSent' && $_->{params}{documentURL} !~ /^chrome:/ } @events;
}

sub DESTROY
{
	my ($self) = @_;
	local $?;

	close $self->{in};
	waitpid $self->{pid}, 0;
	return;
}

1;
