# What the generators of joins share: draws, a session, and tables whose statistics are
# wrong.

package Joins;

use strict;
use warnings;

use DBI;
use Exporter 'import';
use Time::HiRes qw(time);

our @EXPORT =
	qw($dbh $version @known_settings below chance pick create_database try_connect rows_of run run_worlds %statistics fill_by);
our ($dbh, $version, @known_settings);

sub below { return int rand $_[0] }

sub chance { return rand() < $_[0] }

sub pick { return $_[ below(scalar @_) ] }

sub connect_to
{
	my ($database) = @_;

	$dbh = DBI->connect("dbi:Pg:dbname=$database", '', '',
		{ RaiseError => 1, PrintError => 0, PrintWarn => 0, AutoCommit => 1, pg_expand_array => 0 });
	$dbh->do('SET client_min_messages = error');
	$dbh->do('SET search_path = world, public');
	$dbh->do('SET jit = off');
	$version = $dbh->{pg_server_version};
	@known_settings = @{ $dbh->selectcol_arrayref('SELECT name FROM pg_settings') };
}

# A server that has just crashed needs some time.
sub try_connect
{
	my ($database) = @_;
	my $wait = time + 60;

	while (!eval { connect_to($database); 1 })
	{
		die $@ if time > $wait;
		sleep 1;
	}
}

# Make the database "joins", with the extension, and a session of it.  Nothing analyzes
# a table but the generator.
sub create_database
{
	try_connect('postgres');
	$dbh->do('ALTER SYSTEM SET autovacuum = off');
	$dbh->do('SELECT pg_reload_conf()');
	$dbh->do('DROP DATABASE IF EXISTS joins');
	$dbh->do('CREATE DATABASE joins');
	$dbh->disconnect;
	try_connect('joins');
	$dbh->do('CREATE EXTENSION simhash SCHEMA public');
}

sub rows_of
{
	my ($sql) = @_;
	my $handle = $dbh->prepare($sql, { pg_direct => 1 });

	$handle->execute;
	return [] if !$handle->{NUM_OF_FIELDS};
	return [
		sort map { join "\t", map { $_ // '\N' } @$_ } @{ $handle->fetchall_arrayref }
	];
}

# Run $code in a transaction with the settings; return its result and its error.
# A statement that is cut short is error 57014.
sub run
{
	my ($settings, $code) = @_;
	my $result;

	eval {
		$dbh->do('BEGIN');
		$dbh->do("SET LOCAL $_") for @$settings;
		$result = $code->();
	};
	my $error = $@ ? $dbh->state . ' ' . ($dbh->errstr // $@) : '';
	$error = "lost $error" if $error && !$dbh->ping;
	# a timeout may come as late as here
	eval { $dbh->do('ROLLBACK'); 1 } || eval { $dbh->do('ROLLBACK') };
	return ($result, $error);
}

# How the statistics of a table become those of other contents: others have an id below
# 0, and are so many times as many as the rows that stay.
our %statistics = (
	right => [ 'fill', 'analyze' ],
	never => ['fill'],
	empty => [ 'analyze', 'fill' ],
	tenth => [ 0.1, 'analyze', 'delete', 'fill' ],
	'reltuples 0' => [ 0.1, 'delete', 'analyze', 'fill' ],
	'half deleted' => [ 1, 'fill', 'analyze', 'delete' ],
	tenfold => [ 9, 'fill', 'analyze', 'delete' ]);

# $fill->() inserts the rows that stay, $fill->(share) others.
sub fill_by
{
	my ($kind, $table, $fill) = @_;

	for my $step (@{ $statistics{$kind} })
	{
		if ($step eq 'analyze') { $dbh->do("ANALYZE $table") }
		elsif ($step eq 'delete') { $dbh->do("DELETE FROM $table WHERE id < 0") }
		else { $fill->($step eq 'fill' ? () : $step) }
	}
}

# Run worlds, each with a seed of its own, until so many seconds have passed.
sub run_worlds
{
	my ($seconds, $seed, $run_world) = @_;
	my $end = time + $seconds;

	for (my $world = $seed; $world == $seed || time < $end; $world++)
	{
		srand $world;
		try_connect('joins') if !$dbh->ping;
		$run_world->($world);
	}
}

1;
