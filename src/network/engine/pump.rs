//! Passing on what comes, in both directions, with their ends.

use super::connection::{Pipe, Socket};
use crate::network::stack::end::End;
use rustix::io::Result;

/// So much goes through one connection before it is the next one's turn.
const TURN: usize = 512 * 1024;

/// Passes on from one socket to another; true when there is more to do at once. `shared` is only used in here.
///
/// # Errors
/// One of them was broken off.
pub(super) fn sockets(
    from: &mut Socket,
    to: &mut Socket,
    pipe: &mut Pipe,
    shared: &mut [u8],
) -> Result<bool> {
    let mut passed = 0;
    loop {
        if !pipe.kept().is_empty() {
            let count = to.write(pipe.kept())?;
            pipe.gave(count);
            if !pipe.kept().is_empty() {
                return Ok(false);
            }
        }
        if pipe.ended {
            shut(to, pipe);
            return Ok(false);
        }
        // What could not be given is not taken either: then its sender waits.
        if !to.writable {
            return Ok(false);
        }
        if passed >= TURN {
            return Ok(true);
        }
        match from.read(shared)? {
            None => return Ok(false),
            Some(0) => pipe.ended = true,
            Some(count) => {
                passed += count;
                let given = to.write(&shared[..count])?;
                if given < count {
                    pipe.keep(&shared[given..count]);
                }
            }
        }
    }
}

/// Passes on what the box has sent through the stack.
///
/// # Errors
/// The host's side was broken off.
pub(super) fn up(end: &mut End, to: &mut Socket, pipe: &mut Pipe) -> Result<bool> {
    let count = to.write(pipe.kept())?;
    pipe.gave(count);
    let mut passed = 0;
    while pipe.kept().is_empty() && to.writable && end.socket().can_recv() {
        if passed >= TURN {
            return Ok(true);
        }
        let given = end.socket().recv(|bytes| match to.write(bytes) {
            Ok(count) => (count, Ok(count)),
            Err(errno) => (0, Err(errno)),
        });
        match given {
            Ok(given) => passed += given?,
            // Broken off by the box; seen by the caller.
            Err(_) => break,
        }
    }
    if pipe.kept().is_empty() && end.is_read_up() {
        pipe.ended = true;
        shut(to, pipe);
    }
    Ok(false)
}

/// Passes on what the host's side has sent.
///
/// # Errors
/// It was broken off.
pub(super) fn down(from: &mut Socket, end: &mut End, pipe: &mut Pipe) -> Result<bool> {
    let mut passed = 0;
    if !pipe.kept().is_empty() && end.socket().may_send() {
        let count = end.socket().send_slice(pipe.kept()).unwrap_or(0);
        pipe.gave(count);
    }
    while pipe.kept().is_empty() && !pipe.ended && from.readable && end.socket().can_send() {
        if passed >= TURN {
            return Ok(true);
        }
        let taken = end.socket().send(|room| match from.read(room) {
            Ok(Some(0)) => (0, Ok(None)),
            Ok(count) => (count.unwrap_or(0), Ok(count.or(Some(0)))),
            Err(errno) => (0, Err(errno)),
        });
        match taken {
            Ok(Ok(Some(count))) => passed += count,
            Ok(Ok(None)) => pipe.ended = true,
            Ok(Err(errno)) => return Err(errno),
            Err(_) => break,
        }
    }
    if pipe.ended && pipe.kept().is_empty() && !pipe.shut {
        pipe.shut = true;
        end.socket().close();
    }
    Ok(false)
}

fn shut(to: &Socket, pipe: &mut Pipe) {
    if !pipe.shut {
        pipe.shut = true;
        to.finish();
    }
}
