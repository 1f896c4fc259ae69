//! CONNECT, and plain requests with a whole URL.

use super::step::{Failure, LONGEST, Step, Tongue};
use crate::network::judge::{Host, Target};
use std::io::ErrorKind;

/// Headers that are between the program and this proxy. The one that is new closes the connection after the answer:
/// a second request on it could name another host.
const OURS: [&str; 6] =
    ["connection", "keep-alive", "proxy-connection", "proxy-authorization", "proxy-authenticate", "host"];
const MOST_HEADERS: usize = 128;

/// Reads a request's head.
pub(super) fn request(said: &[u8]) -> Step {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let taken = match request.parse(said) {
        Ok(httparse::Status::Complete(taken)) => taken,
        Ok(httparse::Status::Partial) if said.len() < LONGEST => return Step::More,
        Ok(httparse::Status::Partial) | Err(httparse::Error::TooManyHeaders) => {
            return Step::Bad(answer(
                "431 Request Header Fields Too Large",
                "the request's head is too long",
            ));
        }
        Err(_) => return bad("this is a proxy for HTTP and SOCKS 5"),
    };
    let (method, path) = (request.method.unwrap_or_default(), request.path.unwrap_or_default());
    if method.eq_ignore_ascii_case("CONNECT") {
        return match target(path, None) {
            Some(target) => Step::Connect { tongue: Tongue::Connect, target, taken, first: Vec::new() },
            None => bad("CONNECT needs a host and a port"),
        };
    }
    let scheme = path.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("http://"));
    let Some(rest) = scheme.and_then(|_| path.get(7..)) else {
        return bad("this is a proxy: it wants CONNECT, or a whole http:// URL");
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, rest) = rest.split_at(end);
    let authority = authority.rsplit_once('@').map_or(authority, |(_, authority)| authority);
    let Some(target) = target(authority, Some(80)) else { return bad("the URL has no host") };
    let slash = if rest.starts_with('/') { "" } else { "/" };
    let version = request.version.unwrap_or(1);
    let mut first = format!("{method} {slash}{rest} HTTP/1.{version}\r\nHost: {authority}\r\n").into_bytes();
    let upgrades = request.headers.iter().any(|header| {
        let value = header.value.to_ascii_lowercase();
        header.name.eq_ignore_ascii_case("connection") && memchr::memmem::find(&value, b"upgrade").is_some()
    });
    for header in request.headers.iter() {
        if OURS.iter().any(|name| header.name.eq_ignore_ascii_case(name)) {
            continue;
        }
        first.extend([header.name.as_bytes(), b": ", header.value, b"\r\n"].concat());
    }
    first.extend(if upgrades { &b"Connection: Upgrade\r\n\r\n"[..] } else { b"Connection: close\r\n\r\n" });
    Step::Connect { tongue: Tongue::Plain, target, taken, first }
}

/// `host:port`; the port may be left out where there is a usual one.
fn target(authority: &str, usual: Option<u16>) -> Option<Target> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port).filter(|port| !port.is_empty())),
        _ => (authority, None),
    };
    let digits = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
    let port = match port {
        Some(port) => port.parse().ok().filter(|number| *number > 0 && digits(port))?,
        None => usual?,
    };
    Some(Target { host: Host::parse(host)?, port })
}

fn bad(words: &str) -> Step {
    Step::Bad(answer("400 Bad Request", words))
}

/// What a program hears when there is no connection.
pub(super) fn failed(failure: &Failure) -> Vec<u8> {
    match failure {
        Failure::Refused(words) => answer("403 Forbidden", words),
        Failure::NoSuchName => answer("502 Bad Gateway", "there is no such name"),
        Failure::System(error) if error.kind() == ErrorKind::TimedOut => {
            answer("504 Gateway Timeout", "the host does not answer")
        }
        Failure::System(error) => answer("502 Bad Gateway", &error.to_string()),
    }
}

fn answer(status: &str, words: &str) -> Vec<u8> {
    let words = format!("createos-sandbox: {words}\n");
    let length = words.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{words}"
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::proxy::step;
    use proptest::prelude::*;

    fn read(text: &str) -> (Tongue, String, String) {
        match step(text.as_bytes(), false) {
            Step::Connect { tongue, target, taken, first } => {
                assert_eq!(&text[taken..], text.split_once("\r\n\r\n").unwrap().1);
                (tongue, target.to_string(), String::from_utf8(first).unwrap())
            }
            other => panic!("{text:?}: {other:?}"),
        }
    }

    #[test]
    fn connect_names_its_target() {
        for (asked, target) in [
            ("example.org:443", "example.org:443"),
            ("EXAMPLE.org.:22", "example.org:22"),
            ("[::1]:80", "[::1]:80"),
            ("[::ffff:127.0.0.1]:80", "127.0.0.1:80"),
            ("10.0.0.1:1", "10.0.0.1:1"),
        ] {
            let text = format!("CONNECT {asked} HTTP/1.1\r\nHost: other.example\r\n\r\nhello");
            assert_eq!(read(&text), (Tongue::Connect, target.into(), String::new()));
        }
    }

    #[test]
    fn a_plain_request_is_passed_on_once_and_without_what_is_for_the_proxy() {
        let text = "POST http://user:secret@Example.org:8080/a?b HTTP/1.1\r\nHost: other.example\r\n\
                    Proxy-Authorization: Basic eA==\r\nConnection: keep-alive\r\nX-A: 1\r\n\r\nbody";
        let passed = "POST /a?b HTTP/1.1\r\nHost: Example.org:8080\r\nX-A: 1\r\nConnection: close\r\n\r\n";
        assert_eq!(read(text), (Tongue::Plain, "example.org:8080".into(), passed.into()));
        let (_, target, first) = read("GET http://example.org?x HTTP/1.0\r\n\r\n");
        assert_eq!(target, "example.org:80");
        assert!(first.starts_with("GET /?x HTTP/1.0\r\nHost: example.org\r\n"), "{first}");
        let (_, _, first) =
            read("GET http://a/ HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
        assert!(first.contains("Connection: Upgrade") && first.contains("Upgrade: websocket"), "{first}");
    }

    #[test]
    fn what_is_no_request_for_a_proxy_is_told_so() {
        for text in [
            "GET / HTTP/1.1\r\n\r\n",
            "GET https://example.org/ HTTP/1.1\r\n\r\n",
            "CONNECT example.org HTTP/1.1\r\n\r\n",
            "CONNECT example.org:0 HTTP/1.1\r\n\r\n",
            "CONNECT example.org:+80 HTTP/1.1\r\n\r\n",
            "CONNECT 127.1:5432 HTTP/1.1\r\n\r\n",
            "CONNECT 2130706433:5432 HTTP/1.1\r\n\r\n",
            "GET http://0x7f000001/ HTTP/1.1\r\n\r\n",
            "CONNECT ::1:80 HTTP/1.1\r\n\r\nx:",
            "GET http:///x HTTP/1.1\r\n\r\n",
            "\x16\x03\x01hello",
        ] {
            match step(text.as_bytes(), false) {
                Step::Bad(said) => assert!(said.starts_with(b"HTTP/1.1 400 "), "{text:?}"),
                // An address without brackets: the last part is the port.
                Step::Connect { target, .. } => assert_eq!(target.to_string(), "[::1]:80"),
                other => panic!("{text:?}: {other:?}"),
            }
        }
        let long = format!("GET http://a/{} HTTP/1.1\r\n", "a".repeat(LONGEST));
        assert!(
            matches!(step(long.as_bytes(), false), Step::Bad(said) if said.starts_with(b"HTTP/1.1 431 "))
        );
        assert_eq!(step(b"CONNECT example.org:443 HTTP/1.1\r\n", false), Step::More);
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_much(said in prop::collection::vec(any::<u8>(), 0..400), greeted in any::<bool>()) {
            if let Step::Connect { taken, .. } | Step::Say(taken, _) = step(&said, greeted) {
                prop_assert!(taken <= said.len());
            }
        }

        #[test]
        fn a_request_line_of_any_words_is_read(path in "\\PC{0,40}") {
            step(format!("GET http://{path} HTTP/1.1\r\n\r\n").as_bytes(), false);
            step(format!("CONNECT {path} HTTP/1.1\r\n\r\n").as_bytes(), false);
        }
    }
}
