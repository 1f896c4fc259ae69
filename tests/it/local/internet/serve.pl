# The servers of the small internet: a port each. What they say begins with the address at which they were reached.
use strict;
use IO::Socket::IP;
use Socket qw(SOMAXCONN);

$SIG{CHLD} = 'IGNORE';
# All of them end with the first.
setpgrp;
$SIG{TERM} = sub { kill 'KILL', -getpgrp };
$SIG{PIPE} = 'DEFAULT';
my %serves = (
    80 => sub { my ($c, $at) = @_; head($c); print $c "HTTP/1.0 200 OK\r\n\r\nhello from $at\n" },
    81 => sub { my ($c) = @_; head($c); print $c "HTTP/1.0 302 Found\r\nLocation: http://10.0.0.5/\r\n\r\n" },
    # Answers when the other side has said that it will say no more.
    82 => sub { my ($c) = @_; my $n = 0; while (my $got = sysread($c, my $part, 65536)) { $n += $got } print $c "counted $n\n" },
    83 => sub { my ($c) = @_; for ('slow', 'slower', 'done') { print $c "$_\n"; select undef, undef, undef, 0.7 } },
    84 => sub { my ($c) = @_; my $x = 'x' x 65536; 1 while syswrite $c, $x },
    85 => sub { my ($c) = @_; while (my $line = <$c>) { print $c $line } },
    86 => sub { my ($c) = @_; sysread $c, my $never, 1 },
    87 => sub { my ($c) = @_; my $x = join '', map { chr($_ % 251) } 0 .. 65535; print $c $x for 1 .. 1600 },
);
sub head { my ($c) = @_; while (my $line = <$c>) { last if $line =~ /^\r?\n$/ } }
for my $port (keys %serves) {
    my $listener = IO::Socket::IP->new(
        LocalHost => '::', LocalPort => $port, V6Only => 0, Listen => SOMAXCONN, ReuseAddr => 1) or die "$port: $@";
    next if fork;
    while (1) {
        my $c = $listener->accept or next;
        next if fork;
        close $listener;
        $c->autoflush(1);
        (my $at = $c->sockhost) =~ s/^::ffff://;
        $serves{$port}->($c, $at);
        exit;
    }
}
$| = 1;
print "serves\n";
sleep;
