//! What listens in a box, and how a person reaches it from outside.

use super::Sandbox;
use crate::support::{Home, User, eventually};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

/// Says what it has read once the other side has said all.
const COUNTER: &str = "use IO::Socket::INET; my $l = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 5000, Listen => 50) or die $!; \
                       while (my $c = $l->accept) { next if fork; my $n = 0; while (my $got = sysread $c, my $part, 65536) { $n += $got } \
                       print $c \"counted $n\\n\"; exit }";

fn published(made: &Sandbox, args: &[&str]) -> (Child, u16) {
    let mut command = made.command(&[&["-o", "table", "ports", "@"], args].concat());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut said = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut said).expect("it says where");
    let port = said.strip_prefix("127.0.0.1:").and_then(|rest| rest.split(' ').next()?.parse().ok());
    (child, port.unwrap_or_else(|| panic!("no port in {said:?}")))
}

fn count(port: u16, bytes: usize) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it is published");
    stream.write_all(&vec![b'x'; bytes]).expect("it reads");
    stream.shutdown(Shutdown::Write).expect("half of it ends");
    let mut said = String::new();
    stream.read_to_string(&mut said).expect("it answers");
    said
}

#[test]
fn a_port_of_a_box_is_reached_only_while_a_person_has_asked_for_it() {
    for user in User::all() {
        let made = Sandbox::with(Home::of(user), &[]);
        assert_eq!(made.run(&["ports", "@"]).success().json(), serde_json::json!([]), "the proxy is ours");
        let _server = made.start(&["@", "--", "perl", "-e", COUNTER]);
        eventually("it listens", PATIENCE, || {
            made.run(&["ports", "@"]).json() == serde_json::json!([{ "port": 5000 }])
        });
        assert!(TcpStream::connect("127.0.0.1:5000").is_err(), "nothing is published by itself");
        let (mut child, port) = published(&made, &["5000"]);
        assert!(port >= 1024);
        assert_eq!(count(port, 3), "counted 3\n", "{user:?}");
        assert_eq!(count(port, 2_000_000), "counted 2000000\n", "{user:?}");
        let many: Vec<_> = (0..10).map(|n| std::thread::spawn(move || count(port, n))).collect();
        for (n, one) in many.into_iter().enumerate() {
            assert_eq!(one.join().expect("it ends"), format!("counted {n}\n"), "{user:?}");
        }
        child.kill().expect("it runs");
        child.wait().expect("it ends");
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "it goes with who asked");

        // At a port of the person's own choice, and never longer than the box.
        let (mut child, chosen) = published(&made, &["5000", &port.to_string()]);
        assert_eq!((chosen, count(port, 1)), (port, "counted 1\n".into()), "{user:?}");
        let _ = made.run(&["rm", "--yes", "@"]).success();
        assert!(child.wait().expect("it ends").success());
        let mut said = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        assert!(said.contains("is gone, and its port with it"), "{user:?} {said}");
    }
}

#[test]
fn what_cannot_be_published_is_refused() {
    let made = Sandbox::with(Home::new(), &[]);
    for args in [&["ports", "@", "5000", "80"][..], &["ports", "@", "0"], &["ports", "@", "70000"]] {
        assert_eq!(made.run(args).code, 2, "{args:?}");
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    made.run(&["-o", "table", "tunnel", "@", "5000", &port]).fails(1, "could not listen on 127.0.0.1:");
    let (mut child, port) = published(&made, &["5000"]);
    assert_eq!(count_nothing(port), 0, "nothing listens there");
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    let none = Sandbox::of(User::Me);
    none.run(&["-o", "table", "ports", "@"]).fails(2, "no network of its own");
    let host = Sandbox::with(Home::new(), &["--network", "host"]);
    host.run(&["-o", "table", "ports", "@", "5000"]).fails(2, "is at 127.0.0.1:5000");
}

/// So many bytes come before the end.
fn count_nothing(port: u16) -> usize {
    let mut said = Vec::new();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("it is published");
    stream.read_to_end(&mut said).map_or(0, |_| said.len())
}
