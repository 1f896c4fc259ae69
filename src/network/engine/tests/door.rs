//! Connections through the listeners in the box.

use super::*;

fn proxied(running: &Running, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(running.proxy).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

fn all(mut stream: TcpStream) -> String {
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    said
}

fn connected(running: &Running, target: &str) -> TcpStream {
    let mut stream = proxied(running, &format!("CONNECT {target} HTTP/1.1\r\nHost: x\r\n\r\n"));
    let mut said = [0; 39];
    stream.read_exact(&mut said).unwrap();
    assert_eq!(&said, b"HTTP/1.1 200 Connection established\r\n\r\n");
    stream
}

#[test]
fn connect_passes_on_both_ways_what_was_said_too_early_as_well() {
    let port = server("127.0.0.1", echo);
    let (running, _inside) = run(Start { rules: opened(port), ..Start::default() });
    let stream = connected(&running, &format!("good.example:{port}"));
    let sent = pattern(3_000_000);
    let (mut writer, to_send) = (stream.try_clone().unwrap(), sent.clone());
    let sender = std::thread::spawn(move || {
        writer.write_all(&to_send).unwrap();
        writer.shutdown(std::net::Shutdown::Write).unwrap();
    });
    let mut got = Vec::new();
    (&stream).read_to_end(&mut got).unwrap();
    sender.join().unwrap();
    assert!(got == sent);
    let early = proxied(&running, &format!("CONNECT good.example:{port} HTTP/1.1\r\n\r\nearly"));
    early.shutdown(std::net::Shutdown::Write).unwrap();
    assert!(all(early).ends_with("\r\n\r\nearly"));
}

#[test]
fn the_proxy_says_why_not() {
    let port = server("127.0.0.1", echo);
    let closed = closed_port();
    let rules = format!("{} none.example 127.0.0.1:{closed}", opened(port));
    let (running, _inside) = run(Start { rules, ..Start::default() });
    for (target, status, words) in [
        (
            "bad.example:443",
            403,
            "bad.example:443 is refused: no egress rule allows it; it would need --egress 'bad.example:443'",
        ),
        (
            "private.example:5432",
            403,
            "10.1.2.3 is a private address; it would need --egress '10.1.2.3:5432'",
        ),
        ("localhost:1", 403, "--egress 'localhost:1'"),
        ("none.example:443", 502, "there is no such name"),
        (&format!("good.example:{closed}"), 502, "Connection refused"),
    ] {
        let said = all(proxied(&running, &format!("CONNECT {target} HTTP/1.1\r\n\r\n")));
        assert!(said.starts_with(&format!("HTTP/1.1 {status} ")) && said.contains(words), "{said}");
    }
    let said = all(proxied(&running, "GET / HTTP/1.1\r\n\r\n"));
    assert!(said.starts_with("HTTP/1.1 400 "), "{said}");
    assert_eq!(running.refused(3).len(), 3);
}

#[test]
fn a_plain_request_is_passed_on_and_its_connection_closed() {
    let port = server("127.0.0.1", |mut stream| {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
            head.push(byte[0]);
        }
        stream.write_all(b"HTTP/1.0 200 OK\r\n\r\n").unwrap();
        stream.write_all(&head).unwrap();
    });
    let (running, _inside) = run(Start { rules: opened(port), ..Start::default() });
    let said =
        all(proxied(&running, &format!("GET http://good.example:{port}/a HTTP/1.1\r\nX-A: 1\r\n\r\n")));
    let head = format!("GET /a HTTP/1.1\r\nHost: good.example:{port}\r\nX-A: 1\r\nConnection: close\r\n\r\n");
    assert_eq!(said, format!("HTTP/1.0 200 OK\r\n\r\n{head}"));
}

#[test]
fn socks_takes_names_and_addresses() {
    let port = server("127.0.0.1", echo);
    let (running, _inside) = run(Start { rules: opened(port), ..Start::default() });
    let [high, low] = port.to_be_bytes();
    for (target, code) in [
        ([&[3, 12][..], b"good.example"].concat(), 0),
        (vec![1, 127, 0, 0, 1], 0),
        ([&[3, 11][..], b"bad.example"].concat(), 2),
        (vec![1, 1, 1, 1, 1], 2),
    ] {
        let mut stream = proxied(&running, "");
        stream.write_all(&[5, 1, 0]).unwrap();
        let mut said = [0; 2];
        stream.read_exact(&mut said).unwrap();
        assert_eq!(said, [5, 0]);
        stream.write_all(&[&[5, 1, 0][..], &target, &[high, low]].concat()).unwrap();
        let mut said = [0; 10];
        stream.read_exact(&mut said).unwrap();
        assert_eq!(said[..2], [5, code], "{target:?}");
        stream.write_all(b"hello").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(all(stream), if code == 0 { "hello" } else { "" });
    }
}

#[test]
fn the_address_that_a_name_has_in_the_box_is_the_name_at_the_proxy_too() {
    let port = server("127.0.0.1", echo);
    let (running, mut inside) = run(Start { rules: opened(port), ..Start::default() });
    let address = inside.resolve("good.example");
    let stream = connected(&running, &format!("{address}:{port}"));
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(all(stream), "");
    let address = inside.resolve("bad.example");
    let said = all(proxied(&running, &format!("CONNECT {address}:{port} HTTP/1.1\r\n\r\n")));
    assert!(said.contains(&format!("bad.example:{port} is refused")), "{said}");
    let said = all(proxied(&running, "CONNECT 198.18.200.1:80 HTTP/1.1\r\n\r\n"));
    assert!(said.contains("198.18.200.1 is a reserved address"), "{said}");
}

#[test]
fn a_rule_for_localhost_is_a_listener_in_the_box() {
    let port = server("127.0.0.1", echo);
    let start = |rules: String| Start { rules, localhost: port, ..Start::default() };
    let (running, _inside) = run(start(format!("localhost:{port}")));
    let mut stream = TcpStream::connect(running.localhost).unwrap();
    stream.write_all(b"hello").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(all(stream), "hello");
    let stream = connected(&running, &format!("localhost:{port}"));
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(all(stream), "");
    // The rules hold there too.
    let (running, _inside) = run(start(String::new()));
    let mut stream = TcpStream::connect(running.localhost).unwrap();
    assert!(!matches!(stream.read(&mut [0; 8]), Ok(1..)));
    assert_eq!(running.refused(1), [format!("1 localhost:{port}: * localhost:{port}")]);
}

#[test]
fn a_break_on_one_side_is_a_break_on_the_other() {
    let port = server("127.0.0.1", |stream| {
        rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO)).unwrap();
    });
    let (running, _inside) = run(Start { rules: opened(port), ..Start::default() });
    let mut stream = connected(&running, &format!("good.example:{port}"));
    let error = stream.read(&mut [0; 8]).expect_err("it is broken off");
    assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
}
