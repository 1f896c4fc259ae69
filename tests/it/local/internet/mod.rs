//! The way out of a box by its device, with a small internet of the tests' own: servers in a network namespace, at public and
//! private addresses, and between them and a machine of its own one wire. Nothing of it needs root, or leaves the test.

use crate::support::{Home, Outcome, User, binary, eventually, outcome, skipped};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const HOSTS: &str = "127.0.0.1 localhost\n1.2.3.4 allowed.example\n1.2.3.5 other.example\n10.0.0.5 private.example\n\
                     1.2.3.4 both.example\n10.0.0.5 both.example\n1.2.3.4 rebound.example\n";

/// The machine, with the internet at its wire.
struct Internet {
    home: Home,
    world: Child,
    stdin: Option<ChildStdin>,
    /// Whose namespaces the machine has, and in which of them its user is an ordinary one.
    at: [String; 2],
}

impl Internet {
    fn of(user: User) -> Option<Self> {
        let home = Home::of(user);
        let opens = |path: &str| {
            outcome(home.command_of(Path::new("sh"), &["-c", &format!(": <> {path}")])).code == 0
        };
        if !opens("/dev/net/tun") {
            skipped(&format!("for {user:?}: /dev/net/tun cannot be opened; chmod 666 /dev/net/tun opens it"));
            return None;
        }
        home.write("hosts", HOSTS);
        home.write("resolv.conf", "");
        home.write("nsswitch.conf", "hosts: files\n");
        home.write("serve.pl", include_str!("serve.pl"));
        let script = home.write("world.sh", include_str!("world.sh"));
        let (script, folder) = (script.display().to_string(), home.path().display().to_string());
        let mut world =
            home.command_of(Path::new("unshare"), &["-U", "-r", "-n", "-m", "bash", &script, &folder]);
        let mut world = world.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("unshare");
        let mut said = String::new();
        BufReader::new(world.stdout.take().expect("a pipe")).read_line(&mut said).expect("it says who it is");
        let mut numbers = said.split_whitespace().map(str::to_owned);
        let at = [numbers.next(), numbers.next()].map(|number| number.expect("the world stands"));
        let stdin = world.stdin.take();
        Some(Self { home, world, stdin, at })
    }

    /// The real binary on this machine.
    fn command(&self, args: &[&str]) -> Command {
        let (program, [whole, user]) = (binary(), &self.at);
        let mut all =
            vec!["-t", whole, "-U", "-n", "-m", "--preserve-credentials", "nsenter", "-t", user, "-U"];
        all.extend([
            "--preserve-credentials",
            program.to_str().expect("text"),
            "local",
            "-o",
            "json",
            "sandbox",
        ]);
        all.extend(args);
        self.home.command_of(Path::new("nsenter"), &all)
    }

    fn run(&self, args: &[&str]) -> Outcome {
        outcome(self.command(args))
    }

    /// Makes a box with these rules; its id.
    #[track_caller]
    fn with_rules(&self, rules: &[&str]) -> String {
        let mut args = vec!["create", "--shape", "s-1vcpu-1gb"];
        args.extend(rules.iter().flat_map(|rule| ["--egress", *rule]));
        self.run(&args).success().json()["id"].as_str().expect("an id").to_owned()
    }

    fn bash(&self, id: &str, script: &str) -> Outcome {
        self.run(&["exec", "--stream", id, "--", "bash", "-c", script])
    }

    fn perl(&self, id: &str, script: &str) -> Outcome {
        self.run(&["exec", "--stream", id, "--", "perl", "-e", &format!("use IO::Socket::IP; {script}")])
    }

    /// What a server says to a program in the box that asks it for a page.
    fn page(&self, id: &str, host: &str, port: u16) -> Outcome {
        self.bash(
            id,
            &format!("exec 3<>/dev/tcp/{host}/{port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3"),
        )
    }

    #[track_caller]
    fn reaches(&self, id: &str, host: &str, port: u16, words: &str) {
        let page = self.page(id, host, port);
        assert!(page.code == 0 && page.stdout.contains(words), "{host}:{port}: [{words}] is not in {page:?}");
    }

    /// It is refused, and at once.
    #[track_caller]
    fn is_refused(&self, id: &str, host: &str, port: u16) {
        let began = Instant::now();
        let page = self.page(id, host, port);
        assert!(page.code != 0 && page.stderr.contains("Connection refused"), "{host}:{port}: {page:?}");
        assert!(began.elapsed() < Duration::from_secs(10), "{host}:{port} took {:?}", began.elapsed());
    }

    fn refused(&self, id: &str) -> Vec<(String, serde_json::Value)> {
        let view = self.run(&["get", id]).success().json();
        let all = view["refused"].as_array().cloned().unwrap_or_default();
        all.into_iter()
            .map(|one| (one["target"].as_str().unwrap_or_default().to_owned(), one["egress"].clone()))
            .collect()
    }

    /// The process that keeps the network of this box.
    #[track_caller]
    fn keeper(&self, id: &str) -> u32 {
        let lock = self.home.read(&format!(".local/share/createos-sandbox/boxes/{id}/keeper.lock"));
        lock.split(' ').next().and_then(|pid| pid.parse().ok()).expect("it has signed its lock")
    }
}

impl Drop for Internet {
    fn drop(&mut self) {
        let listed = self.run(&["list", "--quiet"]);
        for id in listed.stdout.split_whitespace() {
            let removed = self.run(&["rm", "--yes", id]);
            assert!(std::thread::panicking() || removed.code == 0, "{removed:?}");
        }
        drop(self.stdin.take());
        let _ended = self.world.wait();
    }
}

#[test]
fn a_program_that_knows_no_proxy_reaches_what_the_rules_let_pass() {
    for internet in User::all().into_iter().filter_map(Internet::of) {
        let any = internet.with_rules(&[]);
        internet.reaches(&any, "allowed.example", 80, "hello from 1.2.3.4");
        internet.reaches(&any, "1.2.3.5", 80, "hello from 1.2.3.5");
        internet.reaches(&any, "2600:2::5", 80, "hello from 2600:2::5");
        // Of a name that leads to both, only the public address is ever asked.
        internet.reaches(&any, "both.example", 80, "hello from 1.2.3.4");
        for host in
            ["private.example", "10.0.0.5", "169.254.169.254", "11.0.0.1", "2600:1::2", "nowhere.example"]
        {
            if host == "nowhere.example" {
                assert_ne!(internet.page(&any, host, 80).code, 0);
            } else {
                internet.is_refused(&any, host, 80);
            }
        }
        // The true answer of a host that is let pass.
        internet.is_refused(&any, "1.2.3.4", 4444);
        // A redirect is a connection of its own, and judged as one.
        internet.reaches(&any, "allowed.example", 81, "Location: http://10.0.0.5/");
        internet.is_refused(&any, "10.0.0.5", 80);
        let known = || internet.refused(&any).iter().any(|(target, _)| target == "private.example:80");
        eventually("the refusal is known by its name", PATIENCE, known);
        let refused = internet.refused(&any);
        let remedy = |wanted: &str| {
            refused.iter().find(|(target, _)| target == wanted).map(|(_, egress)| egress.clone())
        };
        assert_eq!(remedy("10.0.0.5:80"), Some(serde_json::json!(["*", "10.0.0.5:80"])), "{refused:?}");
        assert!(remedy("1.2.3.4:4444").is_none(), "the host's answer is no refusal of ours: {refused:?}");

        let named = internet.with_rules(&["allowed.example:80"]);
        internet.reaches(&named, "allowed.example", 80, "hello from 1.2.3.4");
        for (host, port) in
            [("allowed.example", 81), ("other.example", 80), ("1.2.3.4", 80), ("both.example", 80)]
        {
            internet.is_refused(&named, host, port);
        }
        let private = internet.with_rules(&["*", "10.0.0.5:80"]);
        internet.reaches(&private, "private.example", 80, "hello from 10.0.0.5");
        internet.reaches(&private, "allowed.example", 80, "hello from 1.2.3.4");
        internet.is_refused(&private, "169.254.169.254", 80);
    }
}

#[test]
fn a_name_that_begins_to_lead_home_is_refused() {
    for internet in User::all().into_iter().filter_map(Internet::of) {
        let id = internet.with_rules(&[]);
        // The box keeps the address that it has for the name, as browsers and JVMs do, and so does the process that asks.
        let script = "my $a; sub ask { my $s = IO::Socket::IP->new(PeerHost => $a // 'rebound.example', PeerPort => 80) or return \"$!\\n\"; \
                      $a //= $s->peerhost; print $s \"GET / HTTP/1.0\\r\\n\\r\\n\"; local $/; my $t = <$s>; $t =~ s/.*\\r\\n\\r\\n//s; $t } \
                      $| = 1; print ask(); while (<STDIN>) { print ask() }";
        let script = format!("use IO::Socket::IP; {script}");
        let mut command = internet.command(&["exec", "--stream", &id, "--", "perl", "-e", &script]);
        let mut client = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let mut said = BufReader::new(client.stdout.take().expect("a pipe"));
        let mut line = || {
            let mut line = String::new();
            said.read_line(&mut line).expect("it says something");
            line
        };
        assert_eq!(line(), "hello from 1.2.3.4\n");
        // In place: the file is what is mounted.
        let hosts = HOSTS.replace("1.2.3.4 rebound", "10.0.0.5 rebound");
        std::fs::write(internet.home.path().join("hosts"), hosts).expect("the file");
        let mut stdin = client.stdin.take().expect("a pipe");
        let began = Instant::now();
        loop {
            std::io::Write::write_all(&mut stdin, b"again\n").expect("it reads");
            match line().as_str() {
                "Connection refused\n" => break,
                // What was looked up a moment ago serves a moment longer, and still leads to where it was judged to lead.
                said => assert_eq!(said, "hello from 1.2.3.4\n"),
            }
            assert!(began.elapsed() < PATIENCE, "it is never looked up again");
            std::thread::sleep(Duration::from_millis(500));
        }
        drop(stdin);
        assert!(client.wait().expect("it ends").success());
    }
}

#[test]
fn ends_pauses_and_hundreds_of_megabytes_pass_as_they_are() {
    for internet in User::all().into_iter().filter_map(Internet::of) {
        let id = internet.with_rules(&[]);
        let half = "my $s = IO::Socket::IP->new(PeerHost => '1.2.3.4', PeerPort => 82) or die $!; \
                    print $s 'x' x 3_000_000; $s->flush; shutdown $s, 1; print <$s>";
        assert_eq!(internet.perl(&id, half).success().stdout, "counted 3000000\n");
        let slow = "my $s = IO::Socket::IP->new(PeerHost => 'allowed.example', PeerPort => 83) or die $!; print <$s>";
        assert_eq!(internet.perl(&id, slow).success().stdout, "slow\nslower\ndone\n");
        let huge = "use Digest::MD5; my $s = IO::Socket::IP->new(PeerHost => '1.2.3.4', PeerPort => 87) or die $!; \
                    my $d = Digest::MD5->new; $d->addfile($s); print $d->hexdigest, \"\\n\"; \
                    my $x = join '', map { chr($_ % 251) } 0 .. 65535; $d->add($x) for 1 .. 1600; print $d->hexdigest, \"\\n\"";
        let said = internet.perl(&id, huge).success().stdout;
        let sums: Vec<&str> = said.lines().collect();
        assert!(sums.len() == 2 && sums[0] == sums[1], "100 MB: {said}");
        // QUIC falls back when it hears no, and not only nothing.
        let quic = "my $s = IO::Socket::IP->new(PeerHost => 'allowed.example', PeerPort => 443, Proto => 'udp', Type => SOCK_DGRAM) or die $!; \
                    $s->send('x'); my $r = ''; vec($r, fileno $s, 1) = 1; select $r, undef, undef, 5; print defined $s->recv(my $b, 9) ? 'answered' : \"$!\"";
        assert_eq!(internet.perl(&id, quic).success().stdout, "Connection refused");
    }
}

#[test]
fn five_hundred_connections_at_once_are_all_served() {
    for internet in User::all().into_iter().filter_map(Internet::of) {
        let id = internet.with_rules(&[]);
        let script = "my @all = map { IO::Socket::IP->new(PeerHost => '1.2.3.4', PeerPort => 85, Blocking => 0) or die $! } 1 .. 500; \
                      for my $s (@all) { while (!$s->connect and ($!{EINPROGRESS} || $!{EALREADY} || $!{EWOULDBLOCK})) { my $w = ''; vec($w, fileno $s, 1) = 1; select undef, $w, undef, 20 } \
                      die \"$!\" unless $s->connected; $s->blocking(1); $s->autoflush(1) } \
                      my $n = 0; print $_ 'connection ', fileno $_, \"\\n\" for @all; \
                      for (@all) { my $line = <$_>; $n++ if $line eq 'connection ' . fileno($_) . \"\\n\" } print $n";
        let script = format!("use Errno; {script}");
        let served = internet.perl(&id, &script);
        assert_eq!(served.success().stdout, "500");
    }
}

#[test]
fn two_hundred_who_never_read_hold_nobody_up_and_little_memory() {
    for internet in User::all().into_iter().filter_map(Internet::of) {
        let id = internet.with_rules(&[]);
        let script = "use IO::Socket::IP; my @all = map { IO::Socket::IP->new(PeerHost => '1.2.3.4', PeerPort => 84) or die $! } 1 .. 200; \
                      $| = 1; print \"all\\n\"; sleep 1000";
        let mut command = internet.command(&["exec", "--stream", &id, "--", "perl", "-e", script]);
        let mut idle = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let mut said = String::new();
        BufReader::new(idle.stdout.take().expect("a pipe")).read_line(&mut said).expect("all are connected");
        assert_eq!(said, "all\n");
        let keeper = internet.keeper(&id);
        let resident = || {
            let status = std::fs::read_to_string(format!("/proc/{keeper}/status")).expect("its status");
            let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
            line.split_whitespace().nth(1).and_then(|size| size.parse::<u64>().ok()).expect("kB")
        };
        let mut last = 0;
        eventually("it takes no more", PATIENCE, || {
            std::thread::sleep(Duration::from_millis(500));
            let now = resident();
            std::mem::replace(&mut last, now) == now
        });
        assert!(last < 128 * 1024, "{last} kB for 200 connections");
        let began = Instant::now();
        internet.reaches(&id, "allowed.example", 80, "hello from 1.2.3.4");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        idle.kill().expect("it runs");
        idle.wait().expect("it ends");
    }
}

#[test]
fn a_connection_ends_with_its_keeper() {
    for internet in User::all().into_iter().filter_map(Internet::of) {
        let id = internet.with_rules(&[]);
        let script = "use IO::Socket::IP; my $s = IO::Socket::IP->new(PeerHost => '1.2.3.4', PeerPort => 86) or die $!; \
                      $| = 1; print \"connected\\n\"; print <$s>";
        let mut command = internet.command(&["exec", "--stream", &id, "--", "perl", "-e", script]);
        let mut client = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
        let mut said = String::new();
        BufReader::new(client.stdout.take().expect("a pipe")).read_line(&mut said).expect("it connects");
        let killed = Command::new("kill").args(["-KILL", &internet.keeper(&id).to_string()]).status();
        assert!(killed.expect("kill runs").success());
        let ended = client.wait_with_output().expect("it ends");
        let words = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(137), "{words}");
        assert!(words.contains("what kept the network of the box has ended"), "{words}");
        internet.reaches(&id, "allowed.example", 80, "hello from 1.2.3.4");
    }
}
