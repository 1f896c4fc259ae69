//! The first door: connections to the listeners in the box, up to where they want to, and what they are told when that
//! cannot be.

use super::connection::{Connection, Front, Id, Phase, Socket};
use super::{Door, Engine, Turn};
use crate::network::judge::{Host, Target};
use crate::network::proxy::{self, Step};
use rustix::net::SocketFlags;
use std::time::{Duration, Instant};

/// So long a program may take to say where it wants to.
const HEAD: Duration = Duration::from_secs(60);
/// So long it may take to hear why not.
const FAREWELL: Duration = Duration::from_secs(5);

impl Engine {
    /// Takes those who have come to a listener.
    pub(super) fn accept(&mut self, number: usize) {
        loop {
            let Some((door, listener)) = self.doors.get(number) else { return };
            let door = *door;
            if self.is_full() {
                self.crowded = true;
                return;
            }
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let fd = match rustix::net::accept_with(listener, flags) {
                Ok(fd) => fd,
                Err(rustix::io::Errno::AGAIN) => return,
                Err(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE | rustix::io::Errno::NOMEM) => {
                    self.crowded = true;
                    return;
                }
                // Gone already.
                Err(
                    rustix::io::Errno::CONNABORTED | rustix::io::Errno::INTR | rustix::io::Errno::PROTO,
                ) => continue,
                // It stays so for a while, and whoever comes next brings it here again.
                Err(_) => return,
            };
            let _only_slower = rustix::net::sockopt::set_tcp_nodelay(&fd, true);
            let front = Front::Door(Socket::new(fd), None);
            let (phase, target) = match door {
                Door::Proxy => (Phase::Head { said: Vec::new(), greeted: false }, None),
                Door::Localhost(port) => {
                    (Phase::Resolving, Some(Target { host: Host::Name("localhost".into()), port }))
                }
            };
            let mut connection = Connection::new(front, phase, target);
            connection.deadline = Some(Instant::now() + HEAD);
            let id = self.begin(connection);
            let Some(mut connection) = self.connections.remove(&id) else { return };
            let watched = match &connection.front {
                Front::Door(front, _) => self.watch(id, false, &front.fd),
                Front::Stack(..) => Ok(()),
            };
            let turn = match (watched, door) {
                (Err(_), _) => Turn::Broken,
                (Ok(()), Door::Proxy) => Turn::Waits,
                (Ok(()), Door::Localhost(_)) => self.dial(id, &mut connection),
            };
            self.put_back(id, connection, turn);
        }
    }

    /// Keeps a connection that was worked on outside of its turn, or ends it.
    pub(super) fn put_back(&mut self, id: Id, mut connection: Box<Connection>, turn: Turn) {
        match turn {
            Turn::Waits | Turn::Again => {
                self.say(&mut connection);
                self.set_timer(id, &mut connection);
                connection.queued = false;
                self.connections.insert(id, connection);
                self.queue(id);
            }
            Turn::Over => self.end(id, connection, false),
            Turn::Broken => self.end(id, connection, true),
        }
    }

    /// Reads on in what a program says to the proxy.
    pub(super) fn read_head(&mut self, id: Id, connection: &mut Connection) -> Turn {
        let Connection {
            front: Front::Door(front, tongue), phase: Phase::Head { said, greeted }, up, ..
        } = &mut *connection
        else {
            return Turn::Broken;
        };
        let mut buffer = [0; 4096];
        loop {
            match front.read(&mut buffer) {
                Ok(Some(0)) | Err(_) => return Turn::Broken,
                Ok(Some(count)) => said.extend_from_slice(&buffer[..count]),
                Ok(None) => return Turn::Waits,
            }
            loop {
                match proxy::step(said, *greeted) {
                    Step::More if said.len() > proxy::LONGEST => return Turn::Broken,
                    Step::More => break,
                    Step::Say(taken, answer) => {
                        said.drain(..taken);
                        *greeted = true;
                        // Two bytes always fit in a connection that has sent nothing yet.
                        front.writable = true;
                        if front.write(answer).ok() != Some(answer.len()) {
                            return Turn::Broken;
                        }
                    }
                    Step::Connect { tongue: spoken, mut target, taken, mut first } => {
                        *tongue = Some(spoken);
                        // One that has looked a name up here first.
                        if let Host::Address(address) = target.host {
                            target.host = self.host(address);
                        }
                        first.extend_from_slice(&said[taken..]);
                        up.keep(&first);
                        connection.target = Some(target);
                        connection.phase = Phase::Resolving;
                        connection.deadline = None;
                        return self.dial(id, connection);
                    }
                    Step::Bad(answer) => return self.part(connection, &answer),
                }
            }
        }
    }

    /// The connection stands, and the box hears so.
    pub(super) fn stands(&mut self, connection: &mut Connection) -> Turn {
        match &mut connection.front {
            Front::Door(_, tongue) => {
                // Before anything that the host has said.
                let rest = connection.down.kept().to_vec();
                let count = rest.len();
                connection.down.gave(count);
                connection.down.keep(tongue.map_or(&[][..], proxy::accepted));
                connection.down.keep(&rest);
            }
            Front::Stack(_, end) => end.accept(),
        }
        connection.phase = Phase::Open;
        connection.deadline = None;
        self.pass_on(connection)
    }

    /// The connection does not come about, and the box hears why.
    pub(super) fn fails(&mut self, connection: &mut Connection, failure: &proxy::Failure) -> Turn {
        connection.back = None;
        match connection.front {
            Front::Door(_, Some(tongue)) => self.part(connection, &proxy::failed(tongue, failure)),
            // An answer of no protocol: the connection is broken off, as one to a closed port is.
            Front::Door(_, None) | Front::Stack(..) => Turn::Broken,
        }
    }

    /// Says this and then no more.
    fn part(&mut self, connection: &mut Connection, said: &[u8]) -> Turn {
        connection.up = Default::default();
        connection.down = Default::default();
        connection.down.keep(said);
        connection.phase = Phase::Farewell;
        connection.deadline = Some(Instant::now() + FAREWELL);
        if let Front::Door(front, _) = &mut connection.front {
            front.writable = true;
        }
        self.farewell(connection)
    }

    /// Waits until the program has heard it: a close with something unread would take the words back.
    pub(super) fn farewell(&mut self, connection: &mut Connection) -> Turn {
        let Connection { front: Front::Door(front, _), down, .. } = connection else { return Turn::Broken };
        match front.write(down.kept()) {
            Ok(count) => down.gave(count),
            Err(_) => return Turn::Over,
        }
        if !down.kept().is_empty() {
            return Turn::Waits;
        }
        if !down.shut {
            down.shut = true;
            front.finish();
        }
        // It may say so much while it is told; then it is the next one's turn.
        for _ in 0..4 {
            match front.read(&mut self.shared) {
                Ok(Some(0)) | Err(_) => return Turn::Over,
                Ok(Some(_)) => {}
                Ok(None) => return Turn::Waits,
            }
        }
        Turn::Again
    }
}
