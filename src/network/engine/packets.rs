//! The second door: the box's packets, and the name server that they find.

use super::asker::{Asked, By};
use super::connection::{Connection, Front, Id, Phase};
use super::{End, Engine, Flow, Turn};
use crate::network::dns::{self, Answer};
use crate::network::judge::{self, Host, Target};
use crate::network::names::SERVER;
use crate::network::resolver::Found;
use crate::network::stack::end;
use crate::network::stack::packet::{self, Packet};
use crate::network::stack::wire::Room;
use std::io;
use std::net::{IpAddr, Ipv4Addr};

const DNS: u16 = 53;
/// So many packets are taken before the connections have their turn.
const BATCH: usize = 64;

impl Engine {
    /// Takes some packets; true when there may be more.
    pub(super) fn take_packets(&mut self) -> io::Result<bool> {
        let mut room = self.received.take().unwrap_or_else(Room::new);
        let mut result = Ok(true);
        for _ in 0..BATCH {
            let Some(wire) = &self.wire else { break };
            match wire.read(&mut room) {
                Ok(Some(packet)) => self.take_packet(packet),
                Ok(None) => {
                    result = Ok(false);
                    break;
                }
                Err(error) => {
                    result = Err(error);
                    break;
                }
            }
        }
        self.received = Some(room);
        result
    }

    fn take_packet(&mut self, bytes: &[u8]) {
        match packet::read(bytes) {
            None => {}
            Some(Packet::Tcp { flow, opens, resets }) => match self.flows.get(&flow).copied() {
                Some(id) => self.take_segment(id, bytes, resets),
                None if opens => self.open_flow(flow, bytes),
                None => self.reset_flow(&flow, bytes),
            },
            Some(Packet::Udp { flow, payload }) if flow.target == (SERVER, DNS).into() => {
                match dns::question(payload) {
                    Ok(question) => self.ask(Asked { question, by: By::Udp(flow) }),
                    Err(reply) => reply.into_iter().for_each(|reply| self.reply_udp(&flow, &reply)),
                }
            }
            Some(Packet::Udp { .. }) => {
                if let Some(wire) = &self.wire {
                    packet::unreachable(wire, &mut self.sent, bytes);
                }
            }
        }
    }

    fn take_segment(&mut self, id: Id, bytes: &[u8], resets: bool) {
        let now = self.now();
        let Some(connection) = self.connections.get_mut(&id) else { return };
        let Front::Stack(_, end) = &mut connection.front else { return };
        match (&connection.phase, &self.wire) {
            (Phase::Open | Phase::Names(_), Some(wire)) => {
                end.receive(wire, &mut self.sent, bytes, now);
                self.queue(id);
            }
            // It does not wait any longer. Asking again is no answer to what is still on its way.
            _ if resets => {
                if let Some(connection) = self.connections.remove(&id) {
                    self.end(id, connection, true);
                }
            }
            _ => {}
        }
    }

    fn reset_flow(&mut self, flow: &Flow, bytes: &[u8]) {
        let now = self.now();
        if let Some(wire) = &self.wire {
            end::reset(wire, &mut self.sent, flow, bytes, now);
        }
    }

    /// A new connection: nothing is said before it is judged, and the host's side stands.
    fn open_flow(&mut self, flow: Flow, bytes: &[u8]) {
        let now = self.now();
        let port = flow.target.port();
        let is_names = flow.target == (SERVER, DNS).into();
        let target = Target { host: self.host(flow.target.ip()), port };
        // The box's kernel asks again after a second; a refusal would be no true answer.
        let (true, Some(wire)) = (!self.is_full(), &self.wire) else { return };
        let buffer = if is_names { dns::LONGEST * 4 } else { self.buffer() };
        let mut end = End::hold(wire, &mut self.sent, &flow, bytes, buffer, now);
        let phase = if is_names { Phase::Names(Vec::new()) } else { Phase::Resolving };
        if is_names {
            end.accept();
        }
        let connection = Connection::new(Front::Stack(flow, Box::new(end)), phase, Some(target));
        let id = self.begin(connection);
        let Some(mut connection) = self.connections.remove(&id) else { return };
        let turn = if is_names { Turn::Waits } else { self.dial(id, &mut connection) };
        self.put_back(id, connection, turn);
    }

    /// What an address means in the box.
    pub(super) fn host(&self, address: IpAddr) -> Host {
        let name = match address {
            IpAddr::V4(address) => self.names.name(address),
            IpAddr::V6(_) => None,
        };
        name.map_or(Host::Address(address.to_canonical()), |name| Host::Name(name.to_owned()))
    }

    /// Answers a question, now or when the name is known.
    fn ask(&mut self, asked: Asked) {
        let Some(name) = asked.question.name.clone() else { return self.reply(&asked, Answer::NoSuchName) };
        if !asked.question.wants_address {
            return self.reply(&asked, Answer::Nothing);
        }
        let host = Host::Name(name.clone());
        if host.is_localhost() {
            return self.reply(&asked, Answer::Address(Ipv4Addr::LOCALHOST));
        }
        let target = Target { host, port: 443 };
        // One that will be refused has an address too: so it is seen which port was wanted, and nobody else is asked.
        // Nor is anybody where the host's proxy looks names up.
        if !judge::may_ask(&self.rules, &name) || self.way.via(&target).is_some() {
            return self.answer_name(&asked, &name, &Ok(vec![SERVER.into()]));
        }
        match self.resolver.look(&name) {
            Some(found) => self.answer_name(&asked, &name, &found),
            None => match self.waiting.question(name, asked) {
                // Too many wait: one that came by packet is dropped, as on any crowded wire.
                Err(asked) if matches!(asked.by, By::Tcp(_)) => self.reply(&asked, Answer::Failed),
                Ok(()) | Err(_) => {}
            },
        }
    }

    /// Answers with the address that the name has in the box, if there is such a name.
    pub(super) fn answer_name(&mut self, asked: &Asked, name: &str, found: &Found) {
        let answer = match found {
            Ok(addresses) if addresses.is_empty() => Answer::NoSuchName,
            Ok(_) => self.names.address(name).map_or(Answer::Failed, Answer::Address),
            Err(()) => Answer::Failed,
        };
        self.reply(asked, answer);
    }

    fn reply(&mut self, asked: &Asked, answer: Answer) {
        let reply = dns::reply(&asked.question, answer);
        match asked.by {
            By::Udp(flow) => self.reply_udp(&flow, &reply),
            By::Tcp(id) => {
                if let Some(connection) = self.connections.get_mut(&id)
                    && let Front::Stack(_, end) = &mut connection.front
                {
                    let length = u16::try_from(reply.len()).unwrap_or(0).to_be_bytes();
                    // A box that asks and does not listen goes without.
                    let _full = end.socket().send_slice(&[&length[..], &reply].concat());
                    self.queue(id);
                }
            }
        }
    }

    fn reply_udp(&mut self, flow: &Flow, reply: &[u8]) {
        if let Some(wire) = &self.wire {
            packet::answer(wire, &mut self.sent, flow, reply);
        }
    }

    /// Questions over TCP, each with its length before it.
    pub(super) fn serve_names(&mut self, id: Id, connection: &mut Connection) -> Turn {
        let Connection { front: Front::Stack(_, end), phase: Phase::Names(said), .. } = &mut *connection
        else {
            return Turn::Broken;
        };
        let mut questions = Vec::new();
        let mut buffer = [0; dns::LONGEST];
        while end.socket().can_recv() && said.len() < 2 * dns::LONGEST {
            let Ok(count) = end.socket().recv_slice(&mut buffer) else { break };
            said.extend_from_slice(&buffer[..count]);
        }
        while let Some((length, rest)) = said.split_first_chunk::<2>()
            && let length = usize::from(u16::from_be_bytes(*length))
            && let Some(question) = rest.get(..length)
        {
            questions.push(dns::question(question));
            said.drain(..2 + length);
        }
        if said.len() >= 2 * dns::LONGEST {
            return Turn::Broken;
        }
        if end.is_over() {
            return Turn::Over;
        }
        if end.is_read_up() {
            end.socket().close();
        }
        for question in questions {
            match question {
                // Answered once the connection is back in its place.
                Ok(question) => self.asked.push(Asked { question, by: By::Tcp(id) }),
                Err(_) => return Turn::Broken,
            }
        }
        Turn::Waits
    }

    /// Answers what was asked over TCP.
    pub(super) fn answer_asked(&mut self) {
        for asked in std::mem::take(&mut self.asked) {
            self.ask(asked);
        }
    }
}
