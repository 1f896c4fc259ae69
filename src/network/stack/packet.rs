//! A packet of the box, as far as it must be known before it is somebody's: whose it is, and what is said to one that
//! is nobody's.

use super::wire::{Room, Wire};
use smoltcp::phy::{ChecksumCapabilities, PacketMeta};
use smoltcp::wire::{
    Icmpv4DstUnreachable, Icmpv4Packet, Icmpv4Repr, Icmpv6DstUnreachable, Icmpv6Packet, Icmpv6Repr,
    IpAddress, IpProtocol, IpRepr, Ipv4Packet, Ipv4Repr, Ipv6Packet, Ipv6Repr, TcpPacket, UdpPacket, UdpRepr,
};
use std::net::{IpAddr, SocketAddr};

/// Who speaks to whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Flow {
    pub(crate) source: SocketAddr,
    pub(crate) target: SocketAddr,
}

/// What a packet is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Packet<'a> {
    Tcp { flow: Flow, opens: bool, resets: bool },
    Udp { flow: Flow, payload: &'a [u8] },
}

/// So much of a packet comes back with the reason why it went nowhere.
const QUOTED: usize = 512;

/// Reads a packet; `None` for one that is dropped: no TCP, no UDP, broken, in parts, or between addresses of which one
/// is nobody's.
pub(crate) fn read(packet: &[u8]) -> Option<Packet<'_>> {
    let (source, target, protocol, payload) = match packet.first()? >> 4 {
        4 => {
            let packet = Ipv4Packet::new_checked(packet).ok()?;
            if packet.more_frags() || packet.frag_offset() != 0 {
                return None;
            }
            let (source, target) = (packet.src_addr().into(), packet.dst_addr().into());
            (source, target, packet.next_header(), packet.payload())
        }
        6 => {
            let packet = Ipv6Packet::new_checked(packet).ok()?;
            let (source, target) = (packet.src_addr().into(), packet.dst_addr().into());
            (source, target, packet.next_header(), packet.payload())
        }
        _ => return None,
    };
    let is_somebody = |address: IpAddr| IpAddress::from(address).is_unicast();
    if !is_somebody(source) || !is_somebody(target) {
        return None;
    }
    let flow = |from: u16, to: u16| {
        let ports = from != 0 && to != 0;
        ports.then(|| Flow { source: SocketAddr::new(source, from), target: SocketAddr::new(target, to) })
    };
    match protocol {
        IpProtocol::Tcp => {
            let tcp = TcpPacket::new_checked(payload).ok()?;
            let opens = tcp.syn() && !tcp.ack() && !tcp.rst() && !tcp.fin();
            Some(Packet::Tcp { flow: flow(tcp.src_port(), tcp.dst_port())?, opens, resets: tcp.rst() })
        }
        IpProtocol::Udp => {
            let udp = UdpPacket::new_checked(payload).ok()?;
            Some(Packet::Udp { flow: flow(udp.src_port(), udp.dst_port())?, payload: udp.payload() })
        }
        _ => None,
    }
}

/// Says that nobody listens at a UDP packet's port.
pub(crate) fn unreachable(wire: &Wire, room: &mut Room, packet: &[u8]) {
    let sums = ChecksumCapabilities::ignored();
    if let Ok(ip) = Ipv4Packet::new_checked(packet)
        && let Ok(header) = Ipv4Repr::parse(&ip, &sums)
    {
        let data = &ip.payload()[..ip.payload().len().min(QUOTED)];
        let reason = Icmpv4DstUnreachable::PortUnreachable;
        let said = Icmpv4Repr::DstUnreachable { reason, header, data };
        let ip = Ipv4Repr {
            src_addr: header.dst_addr,
            dst_addr: header.src_addr,
            next_header: IpProtocol::Icmp,
            payload_len: said.buffer_len(),
            hop_limit: 64,
        };
        send(wire, room, IpRepr::Ipv4(ip), |payload| {
            said.emit(&mut Icmpv4Packet::new_unchecked(payload), &wire.capabilities().checksum);
        });
    } else if let Ok(ip) = Ipv6Packet::new_checked(packet)
        && let Ok(header) = Ipv6Repr::parse(&ip)
    {
        let data = &ip.payload()[..ip.payload().len().min(QUOTED)];
        let said = Icmpv6Repr::DstUnreachable { reason: Icmpv6DstUnreachable::PortUnreachable, header, data };
        let (source, target) = (header.dst_addr, header.src_addr);
        let ip = Ipv6Repr {
            src_addr: source,
            dst_addr: target,
            next_header: IpProtocol::Icmpv6,
            payload_len: said.buffer_len(),
            hop_limit: 64,
        };
        send(wire, room, IpRepr::Ipv6(ip), |payload| {
            let mut packet = Icmpv6Packet::new_unchecked(payload);
            said.emit(&source, &target, &mut packet, &wire.capabilities().checksum);
        });
    }
}

/// Answers a UDP packet.
pub(crate) fn answer(wire: &Wire, room: &mut Room, flow: &Flow, payload: &[u8]) {
    let udp = UdpRepr { src_port: flow.target.port(), dst_port: flow.source.port() };
    let (source, target) = (IpAddress::from(flow.target.ip()), IpAddress::from(flow.source.ip()));
    let length = udp.header_len() + payload.len();
    let ip = IpRepr::new(source, target, IpProtocol::Udp, length, 64);
    send(wire, room, ip, |buffer| {
        let mut packet = UdpPacket::new_unchecked(buffer);
        let sums = wire.capabilities().checksum;
        udp.emit(&mut packet, &source, &target, payload.len(), |at| at.copy_from_slice(payload), &sums);
    });
}

fn send(wire: &Wire, room: &mut Room, ip: IpRepr, payload: impl FnOnce(&mut [u8])) {
    wire.write(room, ip.buffer_len(), PacketMeta::default(), |packet| {
        ip.emit(&mut *packet, &wire.capabilities().checksum);
        payload(&mut packet[ip.header_len()..]);
    });
}
