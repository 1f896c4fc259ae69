//! The first door: what a program says to a proxy, and what is said back. Bytes in, a step out.

mod http;
mod socks;
mod step;

pub(crate) use step::{Failure, LONGEST, Step, Tongue};

/// Looks at what has come; `greeted` once a SOCKS greeting has been answered.
pub(crate) fn step(said: &[u8], greeted: bool) -> Step {
    match said.first() {
        None => Step::More,
        Some(5) if greeted => socks::request(said),
        Some(5) => socks::greeting(said),
        // SOCKS 4 knows no names.
        Some(4) => Step::Bad(Vec::new()),
        Some(_) => http::request(said),
    }
}

/// What the program hears when the connection stands.
pub(crate) fn accepted(tongue: Tongue) -> &'static [u8] {
    match tongue {
        Tongue::Connect => b"HTTP/1.1 200 Connection established\r\n\r\n",
        Tongue::Plain => b"",
        Tongue::Socks => socks::ACCEPTED,
    }
}

/// What it hears when it does not.
pub(crate) fn failed(tongue: Tongue, failure: &Failure) -> Vec<u8> {
    match tongue {
        Tongue::Connect | Tongue::Plain => http::failed(failure),
        Tongue::Socks => socks::failed(failure),
    }
}
