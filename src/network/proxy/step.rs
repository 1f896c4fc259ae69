//! How far a program has come with what it says, and how it is answered.

use crate::network::judge::Target;
use std::io;

/// A head is at most this long.
pub(crate) const LONGEST: usize = 16 * 1024;

/// How a program speaks to the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tongue {
    /// `CONNECT host:port`.
    Connect,
    /// `GET http://host/…`, one request.
    Plain,
    /// SOCKS 5.
    Socks,
}

/// What a program has said so far.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Not all of it.
    More,
    /// So many bytes are done with; answer this, and go on.
    Say(usize, &'static [u8]),
    /// It wants to connect there. So many bytes are done with, and these go to the target first.
    Connect { tongue: Tongue, target: Target, taken: usize, first: Vec<u8> },
    /// Nonsense: answer this, and close.
    Bad(Vec<u8>),
}

/// Why a connection does not come about.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The rules are against it; in words.
    Refused(String),
    /// The name is not known.
    NoSuchName,
    /// What the system said.
    System(io::Error),
}
