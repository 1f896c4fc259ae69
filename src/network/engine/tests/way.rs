//! Where the host itself has only a proxy.

use super::*;

/// A proxy of the host's that connects every name to the loopback, and keeps what it was asked.
fn proxy(asked: Arc<Mutex<Vec<String>>>) -> u16 {
    server("127.0.0.1", move |mut stream| {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        asked.lock().unwrap().push(head.clone());
        let port: u16 = head.split_whitespace().nth(1).unwrap().rsplit(':').next().unwrap().parse().unwrap();
        let Ok(mut target) = TcpStream::connect(("127.0.0.1", port)) else {
            stream.write_all(b"HTTP/1.1 503 No\r\n\r\n").unwrap();
            return;
        };
        stream.write_all(b"HTTP/1.1 200 OK\r\nX: y\r\n\r\nfirst,").unwrap();
        let (mut from, mut to) = (stream.try_clone().unwrap(), target.try_clone().unwrap());
        std::thread::spawn(move || {
            let _ended = std::io::copy(&mut from, &mut to);
            let _gone = to.shutdown(std::net::Shutdown::Write);
        });
        let _ended = std::io::copy(&mut target, &mut stream);
        let _gone = stream.shutdown(std::net::Shutdown::Write);
    })
}

#[test]
fn rules_are_judged_by_name_and_the_hosts_proxy_looks_the_name_up() {
    let port = server("127.0.0.1", echo);
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let via = proxy(Arc::clone(&asked));
    let variable = format!("http://user:word@127.0.0.1:{via}");
    let way = Way::from_variables(|name| (name == "HTTPS_PROXY").then(|| variable.clone())).unwrap();
    fn names(name: &str) -> Found {
        match name {
            // As hosts with nothing but a proxy have it: they know no other name.
            "far.example" => Ok(vec![]),
            "127.0.0.1" => Ok(vec![[127, 0, 0, 1].into()]),
            _ => panic!("{name} is looked up here"),
        }
    }
    let (running, mut inside) = run(Start { rules: "far.example".into(), way, names, ..Start::default() });
    let address = inside.resolve("far.example");
    let handle = inside.connected(address, port);
    assert_eq!(inside.exchange(handle, b"hello", true), b"first,hello");
    let head = asked.lock().unwrap()[0].clone();
    assert!(head.starts_with(&format!("CONNECT far.example:{port} HTTP/1.1\r\n")), "{head}");
    assert!(head.contains("Proxy-Authorization: Basic dXNlcjp3b3Jk\r\n"), "{head}");

    let mut stream = TcpStream::connect(running.proxy).unwrap();
    write!(stream, "CONNECT far.example:{port} HTTP/1.1\r\n\r\nhello").unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut said = String::new();
    stream.read_to_string(&mut said).unwrap();
    assert_eq!(said, "HTTP/1.1 200 Connection established\r\n\r\nfirst,hello");

    inside.is_refused(address, closed_port());
    let other = inside.resolve("other.example");
    inside.is_refused(other, port);
    assert_eq!(running.refused(1), [format!("1 other.example:{port}: other.example:{port}")]);
}

#[test]
fn a_name_that_is_known_here_to_lead_home_does_not_go_to_the_hosts_proxy() {
    let port = server("127.0.0.1", echo);
    let asked = Arc::<Mutex<Vec<String>>>::default();
    let via = proxy(Arc::clone(&asked));
    let variable = format!("http://127.0.0.1:{via}");
    let way = Way::from_variables(|name| (name == "HTTPS_PROXY").then(|| variable.clone())).unwrap();
    fn names(name: &str) -> Found {
        match name {
            "home.example" | "127.0.0.1" => Ok(vec![[127, 0, 0, 1].into()]),
            // No resolver at all: it goes by its name.
            "far.example" => Err(()),
            _ => Ok(vec![]),
        }
    }
    let (running, mut inside) = run(Start { way, names, ..Start::default() });
    let said = |target: String| {
        let mut stream = TcpStream::connect(running.proxy).unwrap();
        write!(stream, "CONNECT {target} HTTP/1.1\r\n\r\n").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut said = String::new();
        stream.read_to_string(&mut said).unwrap();
        said
    };
    for (target, status) in [
        (format!("127.1:{port}"), 400),
        (format!("2130706433:{port}"), 400),
        (format!("home.example:{port}"), 403),
        (format!("nas:{port}"), 403),
        (format!("metadata.google.internal:{port}"), 403),
        (format!("far.example:{port}"), 200),
    ] {
        let answer = said(target.clone());
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{target}: {answer}");
    }
    let address = inside.resolve("home.example");
    inside.is_refused(address, port);
    assert_eq!(asked.lock().unwrap().len(), 1, "{asked:?}");
}
