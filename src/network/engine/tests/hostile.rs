//! Packets of a box that means ill: the same ones in each run.

use super::*;
use std::net::Ipv4Addr;

/// Enough to meet every branch many times, and a second's work.
const PACKETS: usize = if cfg!(debug_assertions) { 15_000 } else { 150_000 };

/// Numbers that look random.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % below
    }
}

/// Packets that are in order, of every kind that the engine knows.
fn seeds(port: u16) -> Vec<Vec<u8>> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (fd, ours) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
    let mut inside = Inside::new(fd);
    inside.connect(Ipv4Addr::LOCALHOST, port);
    inside.connect(Ipv4Addr::new(1, 1, 1, 1), 443);
    inside.connect(std::net::Ipv6Addr::LOCALHOST, port);
    inside.connect(crate::network::names::SERVER, 53);
    inside.say((crate::network::names::SERVER, 53), &inside::question("good.example", 1));
    inside.say((Ipv4Addr::new(1, 1, 1, 1), 443), b"QUIC");
    inside.turn();
    let mut seeds = Vec::new();
    let mut buffer = [0; 2048];
    while let Ok(count) = rustix::io::read(&ours, &mut buffer[..]) {
        seeds.push(buffer[..count].to_vec());
    }
    assert_eq!(seeds.len(), 6);
    seeds
}

#[test]
fn no_packet_ends_the_engine_or_opens_what_is_shut() {
    let port = server("127.0.0.1", echo);
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (box_side, engine_side) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
    let (mut engine, mut running, mut inside) = engine(Start { rules: opened(port), ..Start::default() });
    let honest = engine.wire.replace(Wire::new(engine_side, false));
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let seeds = seeds(port);
    // What the engine answers leads deeper: flags, numbers and windows around its own.
    let mut heard: Vec<Vec<u8>> = Vec::new();
    let mut buffer = [0; 2048];
    for _ in 0..PACKETS {
        let mut packet = match dice.roll(8) {
            0 => (0..dice.roll(120)).map(|_| dice.roll(256) as u8).collect(),
            1 | 2 if !heard.is_empty() => turned_round(&heard[dice.roll(heard.len())]),
            _ => seeds[dice.roll(seeds.len())].clone(),
        };
        for _ in 0..dice.roll(5) {
            if !packet.is_empty() {
                let at = dice.roll(packet.len());
                packet[at] = [0, 0xff, 1, 0x80, dice.roll(256) as u8][dice.roll(5)];
            }
        }
        match dice.roll(12) {
            0 => packet.truncate(dice.roll(packet.len() + 1)),
            1 => packet.extend((0..dice.roll(200)).map(|_| 0x41)),
            _ => {}
        }
        if packet.is_empty() {
            continue;
        }
        rustix::io::write(&box_side, &packet).unwrap();
        engine.take_packets().unwrap();
        for _ in 0..engine.ready.len() {
            if let Some(id) = engine.ready.pop_front() {
                engine.serve(id);
            }
        }
        engine.answer_asked();
        engine.names_arrived();
        engine.ring();
        while let Ok(count) = rustix::io::read(&box_side, &mut buffer[..]) {
            if heard.len() < 500 {
                heard.push(buffer[..count].to_vec());
            } else {
                heard[dice.roll(500)] = buffer[..count].to_vec();
            }
        }
        assert!(engine.connections.len() <= engine.most);
    }
    assert!(heard.len() == 500, "the engine has answered much of it");
    let targets = &engine.refusals.targets;
    assert!(targets.iter().all(|refused| !refused.target.starts_with("good.example:")));

    // And then it serves an honest box.
    for (id, connection) in std::mem::take(&mut engine.connections) {
        engine.end(id, connection, true);
    }
    engine.wire = honest;
    running.go(engine);
    let address = inside.resolve("good.example");
    let handle = inside.connected(address, port);
    assert_eq!(inside.exchange(handle, b"hello", true), b"hello");
}

/// An answer as if it were a question: who speaks and who listens have changed places.
fn turned_round(packet: &[u8]) -> Vec<u8> {
    let mut packet = packet.to_vec();
    let (addresses, ports) = if packet[0] >> 4 == 4 { (12..20, 20..24) } else { (8..40, 40..44) };
    for range in [addresses, ports] {
        if let Some(both) = packet.get_mut(range) {
            let half = both.len() / 2;
            both.rotate_left(half);
        }
    }
    // An answer's number is what is expected next.
    if packet[0] >> 4 == 4 && packet.len() >= 32 {
        packet[24..32].rotate_left(4);
    }
    packet
}
