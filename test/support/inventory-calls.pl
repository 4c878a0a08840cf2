#!/usr/bin/perl
# The calls that node has no function for, from inside a sandbox. Prints a line for each: what, with what, and the number
# of the error, which is 0 where it was possible. Arguments: numbers of calls as JSON, the name of a key, processes outside,
# "--", files of sockets.
use strict;
use warnings;
use Socket;

my ($numbers, $key, @rest) = @ARGV;
my %call = $numbers =~ /"(\w+)":(\d+)/g;
my (@outside, @sockets);
while (@rest) { my $word = shift @rest; last if $word eq '--'; push @outside, $word }
@sockets = @rest;

sub say_result { my ($what, $with, $answer) = @_; print "$what $with ", ($answer == -1 ? $!+0 : 0), "\n" }

# With arguments that nothing takes: the filter answers before the kernel looks at them.
say_result('denied', $_, syscall($call{$_}, -1, -1, -1, -1)) for sort keys %call;

# Every process that there can be. The error "not permitted" also tells that there is one.
open my $most, '<', '/proc/sys/kernel/pid_max' or die;
my $last = <$most> + 0;
$last = 65536 if $last > 65536;
my @seen;
for my $pid (1 .. $last, @outside) {
  push @seen, $pid if kill(0, $pid) || $!{EPERM};
}
print "exists $_ 0\n" for @seen;
# Harmless, and the processes outside tell if it reached them.
kill 'CONT', $_, -$_ for @outside;
kill 'CONT', -1;

my $bytes = "\0" x 8;
my $iovec = pack 'Pj', $bytes, 8;
my ($seize, $attach, $pidfd_open) = (0x4206, 16, 434);
for my $pid (grep { $_ != $$ } @seen, @outside) {
  say_result('seize', $pid, syscall($call{ptrace}, $seize, $pid+0, 0, 0));
  say_result('attach', $pid, syscall($call{ptrace}, $attach, $pid+0, 0, 0));
  say_result('memory', $pid, syscall($call{process_vm_readv}, $pid+0, $iovec, 1, $iovec, 1, 0));
}
for my $pid (@outside) { say_result('pidfd', $pid, syscall($pidfd_open, $pid+0, 0)) }

# Of the thread, the process, the session and the user: -1 to -5.
my ($search, $read, $describe, $join) = (10, 11, 6, 1);
my ($type, $own, $text) = ('user', 'keyturn-probe', ' ' x 1024);
for my $ring (-1, -2, -3, -4, -5) {
  say_result('key', "search$ring", syscall($call{keyctl}, $search, $ring, $type, $key, 0));
  say_result('key', "read$ring", syscall($call{keyctl}, $read, $ring, $text, 1024));
  say_result('key', "describe$ring", syscall($call{keyctl}, $describe, $ring, $text, 1024));
  say_result('key', "add$ring", syscall($call{add_key}, $type, $own, $text, 1, $ring));
}
say_result('key', 'join', syscall($call{keyctl}, $join, 0));
say_result('key', 'request', syscall($call{request_key}, $type, $key, 0, 0));

# A datagram needs no connection, and a pair of sockets can be turned to another address.
for my $path (@sockets) {
  my $address = pack_sockaddr_un($path);
  my ($one, $two, $three, $four);
  my $stream = socket($one, AF_UNIX, SOCK_STREAM, 0) && connect($one, $address);
  print "stream $path ", ($stream ? 0 : $!+0), "\n";
  my $datagram = socket($two, AF_UNIX, SOCK_DGRAM, 0) && send($two, 'alone', 0, $address);
  print "datagram $path ", ($datagram ? 0 : $!+0), "\n";
  my $pair = socketpair($three, $four, AF_UNIX, SOCK_DGRAM, 0) && send($three, 'pair', 0, $address);
  print "pair $path ", ($pair ? 0 : $!+0), "\n";
}
