//! The host's side of a connection: judged, looked up, judged again, connected.

use super::connection::{Connection, Id, Phase, Socket};
use super::{Engine, Turn};
use crate::network::judge::{self, Host};
use crate::network::own;
use crate::network::proxy::Failure;
use crate::network::resolver::Found;
use crate::network::way::Heard;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, Instant};

/// So long one of several addresses may take to answer; the last one takes what the system gives it.
const ONE_OF_SEVERAL: Duration = Duration::from_secs(5);
/// So long one may take that will have another chance, after those of the other family.
const FIRST_OF_A_FAMILY: Duration = Duration::from_millis(300);
/// So long a name may take to be known here where the host's proxy looks it up: many such hosts have no other resolver.
const KNOWN_HERE: Duration = Duration::from_secs(2);
/// So long the host's proxy may take to answer.
const TALK: Duration = Duration::from_secs(60);
/// The box's own probes end at this machine; the host's side has its own.
const IDLE_SECONDS: Duration = Duration::from_secs(60);

impl Engine {
    /// Begins the way to a connection's target.
    pub(super) fn dial(&mut self, id: Id, connection: &mut Connection) -> Turn {
        let Some(target) = connection.target.clone() else { return Turn::Broken };
        if let Err(refusal) = judge::name(&self.rules, &target) {
            return self.refused(connection, refusal);
        }
        if target.host.is_localhost() {
            // The host's resolver is not asked what this means.
            let addresses = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
            return self.connect(id, connection, &addresses);
        }
        let via = self.way.via(&target).map(|via| via.host.clone());
        match (via, target.host) {
            (Some(_), Host::Name(name)) => {
                connection.deadline = Some(Instant::now() + KNOWN_HERE);
                self.look_up(id, connection, Phase::Judging, name)
            }
            (Some(name), Host::Address(_)) | (None, Host::Name(name)) => {
                self.look_up(id, connection, Phase::Resolving, name)
            }
            (None, Host::Address(address)) => self.connect(id, connection, &[address]),
        }
    }

    fn look_up(&mut self, id: Id, connection: &mut Connection, phase: Phase, name: String) -> Turn {
        connection.phase = phase;
        match self.resolver.look(&name) {
            Some(found) => self.resolved(id, connection, &found),
            None => {
                self.waiting.connection(name, id);
                Turn::Waits
            }
        }
    }

    /// Judges a name that the host's proxy will look up, by what it is here, and goes on to the proxy.
    fn judged_here(&mut self, id: Id, connection: &mut Connection, found: &Found) -> Turn {
        connection.deadline = None;
        let Some(target) = connection.target.clone() else { return Turn::Broken };
        // What is not known here, or not now, goes by its name.
        let here = found.as_deref().unwrap_or_default();
        if let Err(refusal) = judge::by_proxy(&self.rules, &target, here, own::near) {
            return self.refused(connection, refusal);
        }
        let Some(via) = self.way.via(&target).map(|via| via.host.clone()) else { return Turn::Broken };
        self.look_up(id, connection, Phase::Resolving, via)
    }

    /// The name is known.
    pub(super) fn resolved(&mut self, id: Id, connection: &mut Connection, found: &Found) -> Turn {
        match found {
            found if matches!(connection.phase, Phase::Judging) => self.judged_here(id, connection, found),
            Ok(addresses) if !addresses.is_empty() => {
                let addresses = addresses.clone();
                self.connect(id, connection, &addresses)
            }
            Ok(_) => self.fails(connection, &Failure::NoSuchName),
            Err(()) => {
                self.fails(connection, &Failure::System(io::Error::other("the name cannot be looked up now")))
            }
        }
    }

    /// Judges the addresses, and connects to those that pass. Those of the host's own proxy are not the box's: there
    /// the target is judged, by what is known of it.
    fn connect(&mut self, id: Id, connection: &mut Connection, addresses: &[IpAddr]) -> Turn {
        let Some(target) = connection.target.clone() else { return Turn::Broken };
        let mut candidates = VecDeque::new();
        let mut refused = None;
        if let Some(via) = self.way.via(&target) {
            candidates.extend(addresses.iter().map(|address| SocketAddr::new(*address, via.port)));
            if let Host::Address(address) = target.host {
                refused = judge::address(&self.rules, &target, address, own::near).err();
            }
        } else {
            for address in addresses {
                match judge::address(&self.rules, &target, *address, own::near) {
                    Ok(()) => candidates.push_back(SocketAddr::new(address.to_canonical(), target.port)),
                    Err(refusal) => refused = refused.or(Some(refusal)),
                }
            }
            if !candidates.is_empty() {
                refused = None;
            }
        }
        if let Some(refusal) = refused {
            return self.refused(connection, refusal);
        }
        connection.phase = Phase::Connecting(in_turns(candidates));
        self.try_next(id, connection, io::ErrorKind::HostUnreachable.into())
    }

    fn refused(&mut self, connection: &mut Connection, refusal: judge::Refusal) -> Turn {
        let Some(target) = connection.target.clone() else { return Turn::Broken };
        self.refuse(&target, refusal);
        let remedy = refusal.remedy(&self.rules, &target);
        let remedy: Vec<String> = remedy.iter().map(|rule| format!("--egress '{rule}'")).collect();
        let words = format!("{target} is refused: {refusal}; it would need {}", remedy.join(" "));
        self.fails(connection, &Failure::Refused(words))
    }

    /// Connects to the next address; `error` is why the last one failed.
    fn try_next(&mut self, id: Id, connection: &mut Connection, mut error: io::Error) -> Turn {
        connection.back = None;
        let Phase::Connecting(candidates) = &mut connection.phase else { return Turn::Broken };
        while let Some(address) = candidates.pop_front() {
            connection.deadline = patience(address, candidates).map(|patience| Instant::now() + patience);
            match open(address) {
                Ok(fd) => match self.watch(id, true, &fd) {
                    Ok(()) => {
                        connection.back = Some(Socket::new(fd));
                        return Turn::Waits;
                    }
                    Err(source) => error = source,
                },
                Err(source) => error = source,
            }
        }
        self.fails(connection, &Failure::System(error))
    }

    /// Something has taken too long: an address that does not answer, the host's proxy, or the box itself.
    pub(super) fn too_late(&mut self, id: Id) {
        let Some(mut connection) = self.connections.remove(&id) else { return };
        connection.deadline = None;
        let late = || io::Error::from(io::ErrorKind::TimedOut);
        let turn = match connection.phase {
            Phase::Connecting(_) => self.try_next(id, &mut connection, late()),
            Phase::Judging => {
                // It does not wait for that name any more, but for another one.
                self.waiting.forget(id);
                self.judged_here(id, &mut connection, &Err(()))
            }
            Phase::Talking(..) => self.fails(&mut connection, &Failure::System(late())),
            Phase::Farewell => Turn::Over,
            _ => Turn::Broken,
        };
        self.put_back(id, connection, turn);
    }

    /// Whether the host's side stands now.
    pub(super) fn look_connected(&mut self, id: Id, connection: &mut Connection) -> Turn {
        let Some(back) = connection.back.as_mut().filter(|back| back.writable || back.broken) else {
            return Turn::Waits;
        };
        let failed = match rustix::net::sockopt::socket_error(&back.fd) {
            Ok(Ok(())) => None,
            Ok(Err(errno)) | Err(errno) => Some(errno),
        };
        if let Some(errno) = failed {
            return self.try_next(id, connection, errno.into());
        }
        back.broken = false;
        let Some(target) = &connection.target else { return Turn::Broken };
        match self.way.via(target) {
            None => self.stands(connection),
            Some(via) => {
                connection.phase = Phase::Talking(via.talk(target), Vec::new());
                connection.deadline = Some(Instant::now() + TALK);
                self.talk(connection)
            }
        }
    }

    /// Goes on in the conversation with the host's proxy.
    pub(super) fn talk(&mut self, connection: &mut Connection) -> Turn {
        let Connection { back: Some(back), phase: Phase::Talking(talk, said), down, .. } = &mut *connection
        else {
            return Turn::Broken;
        };
        let lost = |errno: Errno| Failure::System(errno.into());
        let mut buffer = [0; 4096];
        loop {
            match back.write(&talk.say) {
                Ok(count) => drop(talk.say.drain(..count)),
                Err(errno) => return self.fails(connection, &lost(errno)),
            }
            match talk.hear(said) {
                Heard::Say(taken) => {
                    said.drain(..taken);
                    continue;
                }
                Heard::Stands(taken) => {
                    down.keep(&said[taken..]);
                    return self.stands(connection);
                }
                Heard::No(words) => return self.fails(connection, &Failure::System(io::Error::other(words))),
                Heard::More => {}
            }
            match back.read(&mut buffer) {
                Ok(Some(0)) => return self.fails(connection, &lost(Errno::CONNRESET)),
                Ok(Some(count)) => said.extend_from_slice(&buffer[..count]),
                Ok(None) => return Turn::Waits,
                Err(errno) => return self.fails(connection, &lost(errno)),
            }
        }
    }

    /// Names that were asked for are known now.
    pub(super) fn names_arrived(&mut self) {
        for (name, found) in self.resolver.arrived() {
            let askers = self.waiting.take(&name);
            for id in askers.connections {
                let Some(mut connection) = self.connections.remove(&id) else { continue };
                let turn = match connection.phase {
                    Phase::Judging | Phase::Resolving => self.resolved(id, &mut connection, &found),
                    _ => Turn::Waits,
                };
                self.put_back(id, connection, turn);
            }
            for question in askers.questions {
                self.answer_name(&question, &name, &found);
            }
        }
    }
}

/// The addresses of both families in turns: where one of them leads nowhere, the other is tried soon. The first comes
/// again at the end, in case it was only slow.
fn in_turns(addresses: VecDeque<SocketAddr>) -> VecDeque<SocketAddr> {
    let Some(first) = addresses.front().copied() else { return addresses };
    let (mut same, mut other): (VecDeque<_>, VecDeque<_>) =
        addresses.into_iter().partition(|address| address.is_ipv4() == first.is_ipv4());
    if other.is_empty() {
        return same;
    }
    let mut turns = VecDeque::new();
    while !(same.is_empty() && other.is_empty()) {
        turns.extend(same.pop_front());
        turns.extend(other.pop_front());
    }
    turns.push_back(first);
    turns
}

/// So long this address may take when those come after it; the last one takes what the system gives it.
fn patience(address: SocketAddr, after: &VecDeque<SocketAddr>) -> Option<Duration> {
    match after.back() {
        None => None,
        Some(last) if *last == address => Some(FIRST_OF_A_FAMILY),
        Some(_) => Some(ONE_OF_SEVERAL),
    }
}

/// A socket that is on its way to an address.
fn open(address: SocketAddr) -> io::Result<std::os::fd::OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let fd = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    let _only_slower = rustix::net::sockopt::set_tcp_nodelay(&fd, true);
    let _only_later = rustix::net::sockopt::set_socket_keepalive(&fd, true)
        .and_then(|()| rustix::net::sockopt::set_tcp_keepidle(&fd, IDLE_SECONDS));
    match rustix::net::connect(&fd, &address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(fd),
        Err(errno) => Err(errno.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(text: &str) -> VecDeque<SocketAddr> {
        text.split_whitespace().map(|address| SocketAddr::new(address.parse().unwrap(), 443)).collect()
    }

    #[test]
    fn families_take_turns_and_the_first_address_has_a_second_chance() {
        for (found, tried) in [
            ("", ""),
            ("1.1.1.1", "1.1.1.1"),
            ("1.1.1.1 1.1.1.2", "1.1.1.1 1.1.1.2"),
            ("2a00::1 2a00::2 1.1.1.1 1.1.1.2 1.1.1.3", "2a00::1 1.1.1.1 2a00::2 1.1.1.2 1.1.1.3 2a00::1"),
            ("1.1.1.1 2a00::1", "1.1.1.1 2a00::1 1.1.1.1"),
        ] {
            assert_eq!(in_turns(addresses(found)), addresses(tried), "{found}");
        }
    }

    #[test]
    fn only_what_comes_again_is_given_up_soon_and_the_last_never() {
        let mut tried = in_turns(addresses("2a00::1 2a00::2 1.1.1.1"));
        let mut waits = Vec::new();
        while let Some(address) = tried.pop_front() {
            waits.push(patience(address, &tried));
        }
        let several = Some(ONE_OF_SEVERAL);
        assert_eq!(waits, [Some(FIRST_OF_A_FAMILY), several, several, None]);
    }
}
