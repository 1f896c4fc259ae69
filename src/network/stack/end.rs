//! The stack's end of one TCP connection of the box. Each has an interface and a set of sockets of its own: a set that
//! is shared is searched for every packet.

use super::packet::Flow;
use super::wire::{Room, Wire};
use smoltcp::iface::{
    Config, Interface, PollIngressSingleResult, PollResult, SocketHandle, SocketSet, SocketStorage,
};
use smoltcp::phy::{Device, DeviceCapabilities, PacketMeta, RxToken, TxToken};
use smoltcp::socket::tcp::{RecvError, Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, IpListenEndpoint};

/// What the box has sent and the host's side has not taken, and the other way round: at most so much each.
pub(crate) const BUFFER: usize = 128 * 1024;

/// One connection.
pub(crate) struct End {
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
}

impl End {
    /// Takes a connection's first packet, and says nothing to it yet.
    pub(crate) fn hold(
        wire: &Wire,
        room: &mut Room,
        flow: &Flow,
        packet: &[u8],
        buffer: usize,
        now: Instant,
    ) -> Self {
        let mut socket = Socket::new(SocketBuffer::new(vec![0; buffer]), SocketBuffer::new(vec![0; buffer]));
        socket.set_nagle_enabled(false);
        socket.set_ack_delay(None);
        socket.pause_synack(true);
        let address = IpAddress::from(flow.target.ip());
        let endpoint = IpListenEndpoint { addr: Some(address), port: flow.target.port() };
        let _port_is_not_zero = socket.listen(endpoint);
        let mut sockets = SocketSet::new(vec![SocketStorage::EMPTY]);
        let handle = sockets.add(socket);
        let mut end = Self { interface: interface(wire, room, address, now), sockets, handle };
        end.receive(wire, room, packet, now);
        end
    }

    /// Takes a packet. What is to be said to it is said by [`End::flush`].
    pub(crate) fn receive(&mut self, wire: &Wire, room: &mut Room, packet: &[u8], now: Instant) {
        let mut device = OnePacket { wire, room, packet: Some(packet) };
        let _changed: PollIngressSingleResult =
            self.interface.poll_ingress_single(now, &mut device, &mut self.sockets);
    }

    /// Sends what is to be sent.
    pub(crate) fn flush(&mut self, wire: &Wire, room: &mut Room, now: Instant) {
        let mut device = OnePacket { wire, room, packet: None };
        while self.interface.poll_egress(now, &mut device, &mut self.sockets) != PollResult::None {}
    }

    /// The host's side stands: so does this one.
    pub(crate) fn accept(&mut self) {
        self.socket().pause_synack(false);
    }

    /// The next time at which something is to be sent by itself.
    pub(crate) fn poll_at(&mut self, now: Instant) -> Option<Instant> {
        self.interface.poll_at(now, &self.sockets)
    }

    pub(crate) fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    /// Whether the box has said that it will send no more, and all that it has sent was taken.
    pub(crate) fn is_read_up(&mut self) -> bool {
        self.socket().peek(1) == Err(RecvError::Finished)
    }

    /// Whether nothing goes to the box and comes from it any more: both have said so, or it has broken it off.
    pub(crate) fn is_over(&mut self) -> bool {
        matches!(self.socket().state(), State::Closed | State::TimeWait | State::Listen)
    }
}

/// Answers a packet that belongs to no connection as TCP does.
pub(crate) fn reset(wire: &Wire, room: &mut Room, flow: &Flow, packet: &[u8], now: Instant) {
    let mut interface = interface(wire, room, flow.target.ip().into(), now);
    let mut device = OnePacket { wire, room, packet: Some(packet) };
    interface.poll_ingress_single(now, &mut device, &mut SocketSet::new(Vec::new()));
}

fn interface(wire: &Wire, room: &mut Room, address: IpAddress, now: Instant) -> Interface {
    let mut config = Config::new(HardwareAddress::Ip);
    config.random_seed = u64::from_ne_bytes(crate::random::bytes());
    let mut device = OnePacket { wire, room, packet: None };
    let mut interface = Interface::new(config, &mut device, now);
    let prefix = if matches!(address, IpAddress::Ipv4(_)) { 32 } else { 128 };
    interface.update_ip_addrs(|addresses| {
        let _the_first_has_room = addresses.push(IpCidr::new(address, prefix));
    });
    interface
}

/// A device that gives one packet, and sends through the wire.
struct OnePacket<'a> {
    wire: &'a Wire,
    room: &'a mut Room,
    packet: Option<&'a [u8]>,
}

impl Device for OnePacket<'_> {
    type RxToken<'a>
        = Received<'a>
    where
        Self: 'a;
    type TxToken<'a>
        = Sent<'a>
    where
        Self: 'a;

    fn receive(&mut self, _now: Instant) -> Option<(Received<'_>, Sent<'_>)> {
        let packet = self.packet.take()?;
        Some((Received(packet), self.sent()))
    }

    fn transmit(&mut self, _now: Instant) -> Option<Sent<'_>> {
        Some(self.sent())
    }

    fn capabilities(&self) -> DeviceCapabilities {
        self.wire.capabilities()
    }
}

impl OnePacket<'_> {
    fn sent(&mut self) -> Sent<'_> {
        Sent { wire: self.wire, room: &mut *self.room, meta: PacketMeta::default() }
    }
}

struct Received<'a>(&'a [u8]);

impl RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(self.0)
    }
}

struct Sent<'a> {
    wire: &'a Wire,
    room: &'a mut Room,
    meta: PacketMeta,
}

impl TxToken for Sent<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, build: F) -> R {
        self.wire.write(self.room, length, self.meta, build)
    }

    fn set_meta(&mut self, meta: PacketMeta) {
        self.meta = meta;
    }
}
