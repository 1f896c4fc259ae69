//! Connections through the stack.

use super::inside::question;
use super::*;
use smoltcp::socket::tcp::State;
use smoltcp::wire::{Icmpv4Packet, IpProtocol};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::mpsc::channel;

#[test]
fn a_name_leads_to_its_host_and_every_byte_comes_back() {
    let port = server("127.0.0.1", echo);
    let (_running, mut inside) = run(Start { rules: opened(port), ..Start::default() });
    let address = inside.resolve("Good.Example");
    assert_eq!(address.octets()[..2], [198, 18]);
    assert_eq!(inside.resolve("good.example"), address);
    let handle = inside.connected(address, port);
    let sent = pattern(3_000_000);
    assert!(inside.exchange(handle, &sent, true) == sent);
}

#[test]
fn ipv6_works_in_the_box_and_on_the_hosts_side() {
    if TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    let port = server("::1", echo);
    let (_running, mut inside) = run(Start { rules: opened(port), ..Start::default() });
    let sent = pattern(500_000);
    let literal = inside.connected(Ipv6Addr::LOCALHOST, port);
    assert!(inside.exchange(literal, &sent, true) == sent);
    let address = inside.resolve("six.example");
    let named = inside.connected(address, port);
    assert!(inside.exchange(named, &sent, true) == sent);
}

#[test]
fn what_the_rules_do_not_allow_is_refused_at_once_counted_and_not_asked_for() {
    let port = server("127.0.0.1", echo);
    fn names(name: &str) -> Found {
        assert_ne!(name, "bad.example", "a name that no rule allows leaves this machine");
        super::names(name)
    }
    let (running, mut inside) = run(Start { rules: opened(port), names, ..Start::default() });
    let address = inside.resolve("bad.example");
    inside.is_refused(address, port);
    inside.is_refused(address, 8);
    inside.is_refused(address, 8);
    inside.is_refused(Ipv4Addr::new(1, 1, 1, 1), 443);
    inside.is_refused(Ipv4Addr::new(169, 254, 169, 254), 80);
    inside.is_refused(Ipv4Addr::new(198, 18, 200, 1), 80);
    inside.is_refused(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1), 80);
    assert_eq!(
        running.refused(7),
        [
            format!("1 bad.example:{port}: bad.example:{port}"),
            "2 bad.example:8: bad.example:8".into(),
            "1 1.1.1.1:443: 1.1.1.1:443".into(),
            "1 169.254.169.254:80: 169.254.169.254:80".into(),
            "1 198.18.200.1:80: 198.18.200.1:80".into(),
            "1 [fe80::1]:80: [fe80::1]:80".into(),
        ]
    );
}

#[test]
fn a_name_that_leads_to_a_private_address_is_refused_with_that_address() {
    let port = server("127.0.0.1", echo);
    let (running, mut inside) = run(Start { rules: opened(port), ..Start::default() });
    let address = inside.resolve("private.example");
    inside.is_refused(address, 5432);
    assert_eq!(running.refused(1), ["1 private.example:5432: 10.1.2.3:5432"]);
    // Of several addresses only those that pass are tried.
    let address = inside.resolve("both.example");
    let handle = inside.connected(address, port);
    assert_eq!(inside.exchange(handle, b"hello", true), b"hello");
}

#[test]
fn the_box_hears_the_true_answer_and_no_earlier() {
    let open = server("127.0.0.1", echo);
    let closed = closed_port();
    let rules = format!("{} 127.0.0.1:{closed}", opened(open));
    static GATE: Mutex<()> = Mutex::new(());
    fn names(_: &str) -> Found {
        drop(GATE.lock().unwrap());
        Ok(vec![[127, 0, 0, 1].into()])
    }
    let (running, mut inside) = run(Start { rules, names, ..Start::default() });
    let address = inside.resolve("good.example");
    inside.is_refused(address, closed);
    let second = inside.resolve("both.example");
    let shut = GATE.lock().unwrap();
    let handle = inside.connect(Ipv4Addr::LOCALHOST, open);
    inside.until("a literal address", |inside| inside.state(handle) == State::Established);
    // What was looked up a moment ago is known; this name waits, and so does the connection to it.
    std::thread::sleep(crate::network::resolver::FRESH);
    let waits = inside.connect(second, open);
    for _ in 0..100 {
        inside.turn();
    }
    assert_eq!(inside.state(waits), State::SynSent);
    drop(shut);
    inside.until("a connection", |inside| inside.state(waits) == State::Established);
    assert!(running.refusals.lock().unwrap().targets.is_empty());
}

#[test]
fn each_side_may_end_while_the_other_goes_on() {
    let late = server("127.0.0.1", |mut stream| {
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        stream.write_all(&all).unwrap();
    });
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let early = server("127.0.0.1", move |mut stream| {
        stream.write_all(b"no more from here").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut all = Vec::new();
        stream.read_to_end(&mut all).unwrap();
        tell.lock().unwrap().send(all).unwrap();
    });
    let rules = format!("{} 127.0.0.1:{early}", opened(late));
    let (_running, mut inside) = run(Start { rules, ..Start::default() });
    let sent = pattern(1_000_000);
    let handle = inside.connected(Ipv4Addr::LOCALHOST, late);
    assert!(inside.exchange(handle, &sent, true) == sent);
    let handle = inside.connected(Ipv4Addr::LOCALHOST, early);
    assert_eq!(inside.exchange(handle, b"", false), b"no more from here");
    assert_eq!(inside.state(handle), State::CloseWait);
    let mut rest = &sent[..];
    inside.until("the rest to be sent", |inside| {
        rest = &rest[inside.socket(handle).send_slice(rest).unwrap()..];
        rest.is_empty()
    });
    inside.socket(handle).close();
    inside.until("the end", |inside| !inside.socket(handle).is_open());
    assert!(told.recv_timeout(PATIENCE).unwrap() == sent);
}

#[test]
fn a_break_on_one_side_is_a_break_on_the_other() {
    let (tell, told) = channel();
    let tell = Mutex::new(tell);
    let breaks = server("127.0.0.1", |stream| {
        rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    });
    let listens = server("127.0.0.1", move |mut stream| {
        let error = stream.read(&mut [0; 8]).expect_err("it is broken off");
        tell.lock().unwrap().send(error.kind()).unwrap();
    });
    let rules = format!("{} 127.0.0.1:{listens}", opened(breaks));
    let (_running, mut inside) = run(Start { rules, ..Start::default() });
    let handle = inside.connect(Ipv4Addr::LOCALHOST, breaks);
    inside.until("the break", |inside| inside.state(handle) == State::Closed);
    let handle = inside.connected(Ipv4Addr::LOCALHOST, listens);
    inside.socket(handle).abort();
    inside.until("the break to be sent", |inside| {
        inside.turn();
        told.try_recv().is_ok_and(|kind| kind == std::io::ErrorKind::ConnectionReset)
    });
}

#[test]
fn the_name_server_says_what_is_so() {
    let (_running, mut inside) = run(Start { rules: opened(1), ..Start::default() });
    let codes = |reply: Vec<u8>| (reply[3] & 15, reply[7]);
    assert_eq!(codes(inside.ask("good.example")), (0, 1));
    for kind in [28, 65, 33, 15, 16] {
        assert_eq!(codes(inside.ask_of_kind("good.example", kind)), (0, 0), "{kind}");
    }
    let (_running, mut inside) = run(Start::default());
    assert_eq!(codes(inside.ask("none.example")), (3, 0));
    assert_eq!(codes(inside.ask("late.example")), (2, 0));
    assert_eq!(inside.resolve("localhost"), Ipv4Addr::LOCALHOST);
    assert_eq!(inside.resolve("app.localhost"), Ipv4Addr::LOCALHOST);
    // Over TCP too, two in one piece.
    let handle = inside.connected(crate::network::names::SERVER, 53);
    let one = question("good.example", 1);
    let framed = [&(one.len() as u16).to_be_bytes()[..], &one].concat();
    inside.socket(handle).send_slice(&[framed.clone(), framed].concat()).unwrap();
    let mut said = Vec::new();
    inside.until("both answers", |inside| {
        inside.socket(handle).recv(|come| (come.len(), said.extend_from_slice(come))).unwrap();
        said.len() == 2 * (2 + one.len() + 16)
    });
    assert_eq!(said[..said.len() / 2], said[said.len() / 2..]);
}

#[test]
fn udp_is_refused_at_once() {
    let (_running, mut inside) = run(Start::default());
    inside.say((Ipv4Addr::new(1, 1, 1, 1), 443), b"QUIC");
    let (protocol, payload) = inside.hear();
    assert_eq!(protocol, IpProtocol::Icmp);
    let icmp = Icmpv4Packet::new_checked(&payload[..]).unwrap();
    assert!(icmp.verify_checksum());
    // Destination unreachable, port; and the packet that it is about.
    assert_eq!((payload[0], payload[1], payload[8] >> 4), (3, 3, 4));
    assert!(payload.ends_with(b"QUIC"));
    inside.say((crate::network::names::SERVER, 53), b"no question at all");
    let (protocol, _) = inside.hear();
    assert_eq!(protocol, IpProtocol::Udp, "broken, and said so");
}
