# A headless chromium, driven through chromedriver by the W3C's WebDriver
# protocol.
package Browser;

use strict;
use warnings;

use HTTP::Tiny;
use IPC::Run;
use JSON::PP;

# Is all that it needs installed?
sub is_installed
{
	return !grep {
		my $program = $_;
		!grep { -x "$_/$program" } split /:/, $ENV{PATH};
	} qw(chromium chromedriver);
}

# Start a browser that keeps its files in the directory.  It dies with this
# process, however that ends: the kernel ends chromedriver, and chromium ends when
# the other end of its pipe is closed.
sub new
{
	my ($class, $directory) = @_;
	# a connection that is kept has each request wait for an acknowledgement
	my $http = HTTP::Tiny->new(keep_alive => 0, timeout => 180);
	my $self = bless { http => $http, out => '' }, $class;
	my @arguments = ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
		'--disable-crash-reporter', '--no-first-run', '--lang=en',
		'--remote-debugging-pipe', "--user-data-dir=$directory/profile");

	local @ENV{qw(HOME TMPDIR)} = ($directory, $directory);
	delete local $ENV{DISPLAY};
	$self->{driver} = IPC::Run::start([ qw(setpriv --pdeathsig KILL chromedriver --port=0) ],
		'<', \undef, '>', \$self->{out}, '2>&1');
	IPC::Run::pump($self->{driver})
	  until $self->{out} =~ /started successfully on port (\d+)/;
	$self->{url} = "http://127.0.0.1:$1";
	my $session = $self->call('POST', '/session', {
		capabilities => { alwaysMatch => {
			browserName => 'chrome',
			'goog:loggingPrefs' => { browser => 'ALL', performance => 'ALL' },
			'goog:chromeOptions' => { args => \@arguments } } } });
	$self->{url} .= "/session/$session->{sessionId}";
	return $self;
}

sub call
{
	my ($self, $method, $path, $body) = @_;
	my $response = $self->{http}->request($method, $self->{url} . $path,
		$body ? { content => encode_json($body) } : {});
	my $value = eval { decode_json($response->{content})->{value} };

	die "WebDriver: $method $path: $response->{status} $response->{content}"
	  if !$response->{success};
	return $value;
}

sub open_page
{
	my ($self, $path) = @_;
	$self->call('POST', '/url', { url => "file://$path" });
	return;
}

# Run the body of a function in the page, and return what it does.
sub run
{
	my ($self, $script, @arguments) = @_;
	return $self->call('POST', '/execute/sync', { script => $script, args => \@arguments });
}

# The same of a function whose last argument takes the result.
sub run_async
{
	my ($self, $script, @arguments) = @_;
	return $self->call('POST', '/execute/async', { script => $script, args => \@arguments });
}

# Type keys into the first element that a selector finds.
sub type
{
	my ($self, $selector, $keys) = @_;
	my ($id) = values %{ $self->call('POST', '/element',
			{ using => 'css selector', value => $selector }) };

	$self->call('POST', "/element/$id/value", { text => $keys });
	return;
}

sub click
{
	my ($self, $selector) = @_;
	my ($id) = values %{ $self->call('POST', '/element',
			{ using => 'css selector', value => $selector }) };

	$self->call('POST', "/element/$id/click", {});
	return;
}

sub devtools
{
	my ($self, $command, $parameters) = @_;
	return $self->call('POST', '/goog/cdp/execute', { cmd => $command, params => $parameters });
}

# What the console has had to say since the last call.
sub console
{
	my ($self) = @_;
	return map { $_->{message} } @{ $self->call('POST', '/se/log', { type => 'browser' }) };
}

# The addresses that were asked for since the last call, but for those of the tab
# in which chromium begins.
sub requests
{
	my ($self) = @_;
	my @events = map { decode_json($_->{message})->{message} }
	  @{ $self->call('POST', '/se/log', { type => 'performance' }) };

	return map { $_->{params}{request}{url} }
	  grep { $_->{method} eq 'Network.requestWillBeSent' &&
		  $_->{params}{documentURL} !~ /^chrome:/ } @events;
}

sub DESTROY
{
	my ($self) = @_;
	local ($@, $?);

	eval { $self->call('DELETE', '') };
	IPC::Run::kill_kill($self->{driver}) if $self->{driver};
	return;
}

1;
