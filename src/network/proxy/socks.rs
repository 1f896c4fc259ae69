//! SOCKS 5 (RFC 1928) with names, without authentication: CONNECT only.

use super::step::{Failure, Step, Tongue};
use crate::network::judge::{Host, Target};
use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const NO_AUTHENTICATION: u8 = 0;
/// It stands; the address that it comes from is no business of the box.
pub(super) const ACCEPTED: &[u8] = &answer(0);

const fn answer(code: u8) -> [u8; 10] {
    [5, code, 0, 1, 0, 0, 0, 0, 0, 0]
}

/// The methods that a program offers.
pub(super) fn greeting(said: &[u8]) -> Step {
    let Some(&count) = said.get(1) else { return Step::More };
    let taken = 2 + usize::from(count);
    match said.get(2..taken) {
        None => Step::More,
        Some(methods) if methods.contains(&NO_AUTHENTICATION) => Step::Say(taken, &[5, NO_AUTHENTICATION]),
        Some(_) => Step::Bad(vec![5, 0xff]),
    }
}

/// What it wants.
pub(super) fn request(said: &[u8]) -> Step {
    let bad = |code| Step::Bad(answer(code).to_vec());
    let Some(&[_, command, _, kind]) = said.get(..4) else { return Step::More };
    let (start, length) = match (kind, said.get(4)) {
        (1, _) => (4, 4),
        (4, _) => (4, 16),
        (3, Some(length)) => (5, usize::from(*length)),
        (3, None) => return Step::More,
        _ => return bad(8),
    };
    let taken = start + length + 2;
    let Some(rest) = said.get(start..taken) else { return Step::More };
    if command != 1 {
        return bad(7);
    }
    let (host, port) = rest.split_at(length);
    let host = match (kind, <[u8; 4]>::try_from(host), <[u8; 16]>::try_from(host)) {
        (1, Ok(bytes), _) => Some(Host::Address(Ipv4Addr::from(bytes).into())),
        (4, _, Ok(bytes)) => Some(Host::Address(IpAddr::from(Ipv6Addr::from(bytes)).to_canonical())),
        _ => std::str::from_utf8(host).ok().and_then(Host::parse),
    };
    match (host, u16::from_be_bytes([port[0], port[1]])) {
        (Some(host), port @ 1..) => {
            Step::Connect { tongue: Tongue::Socks, target: Target { host, port }, taken, first: Vec::new() }
        }
        _ => bad(1),
    }
}

/// What a program hears when there is no connection.
pub(super) fn failed(failure: &Failure) -> Vec<u8> {
    let code = match failure {
        Failure::Refused(_) => 2,
        Failure::NoSuchName => 4,
        Failure::System(error) => match error.kind() {
            ErrorKind::NetworkUnreachable => 3,
            ErrorKind::HostUnreachable | ErrorKind::TimedOut => 4,
            ErrorKind::ConnectionRefused => 5,
            _ => 1,
        },
    };
    answer(code).to_vec()
}

#[cfg(test)]
mod tests {
    use crate::network::proxy::{Failure, Step, Tongue, failed, step};

    #[test]
    fn the_greeting_offers_no_authentication_or_it_ends() {
        assert_eq!(step(&[5], false), Step::More);
        assert_eq!(step(&[5, 2, 0], false), Step::More);
        assert_eq!(step(&[5, 2, 2, 0, 5], false), Step::Say(4, &[5, 0]));
        assert_eq!(step(&[5, 1, 2], false), Step::Bad(vec![5, 0xff]));
        assert_eq!(step(&[4, 1, 0, 80], false), Step::Bad(vec![]));
    }

    #[test]
    fn requests_name_a_host_or_an_address() {
        let asked = |kind: &[u8]| [&[5, 1, 0][..], kind, &[1, 187, b'x']].concat();
        for (kind, target) in [
            (&[1, 10, 0, 0, 1][..], "10.0.0.1:443"),
            (b"\x03\x0bExample.org", "example.org:443"),
            (b"\x03\x077.0.0.1", "7.0.0.1:443"),
            (b"\x03\x03::1", "[::1]:443"),
            (&[4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], "[::1]:443"),
            (&[4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1], "10.0.0.1:443"),
        ] {
            let said = asked(kind);
            match step(&said, true) {
                Step::Connect { tongue: Tongue::Socks, target: found, taken, .. } => {
                    assert_eq!((found.to_string().as_str(), taken), (target, said.len() - 1));
                }
                other => panic!("{target}: {other:?}"),
            }
            for cut in 0..said.len() - 1 {
                assert_eq!(step(&said[..cut], true), Step::More, "{target} cut at {cut}");
            }
        }
    }

    #[test]
    fn what_cannot_be_done_has_its_code() {
        let code = |said: &[u8]| match step(said, true) {
            Step::Bad(said) => said[1],
            other => panic!("{other:?}"),
        };
        assert_eq!(code(&[5, 2, 0, 1, 1, 2, 3, 4, 0, 80]), 7, "BIND");
        assert_eq!(code(&[5, 3, 0, 1, 1, 2, 3, 4, 0, 80]), 7, "UDP");
        assert_eq!(code(&[5, 1, 0, 2, 1, 2, 3, 4, 0, 80]), 8);
        assert_eq!(code(&[5, 1, 0, 1, 1, 2, 3, 4, 0, 0]), 1, "port 0");
        assert_eq!(code(&[5, 1, 0, 3, 2, 0xff, 0xfe, 0, 80]), 1);
        assert_eq!(code(b"\x05\x01\x00\x03\x091.2.3.4.5\x00\x50"), 1, "no address, and no name");
        assert_eq!(code(b"\x05\x01\x00\x03\x05127.1\x00\x50"), 1, "an address to some");
        assert_eq!(failed(Tongue::Socks, &Failure::Refused("no".into()))[1], 2);
        let refused = std::io::Error::from_raw_os_error(libc::ECONNREFUSED);
        assert_eq!(failed(Tongue::Socks, &Failure::System(refused))[1], 5);
    }
}
