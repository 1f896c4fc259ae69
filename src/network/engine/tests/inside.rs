//! A box's side of the wire: a stack of its own.

use super::PATIENCE;
use rustix::event::{PollFd, PollFlags, poll};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::time::Instant as StackInstant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, IpProtocol, IpRepr, Ipv4Packet, UdpPacket, UdpRepr};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

pub(super) const BOX: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
const BOX6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 2);
const BUFFER: usize = 64 * 1024;

pub(super) struct Inside {
    interface: Interface,
    pub(super) sockets: SocketSet<'static>,
    line: Line,
    began: Instant,
    port: u16,
}

/// The wire, and what has come through it.
pub(super) struct Line {
    fd: OwnedFd,
    /// A thread takes what comes, however busy the test is: what the wire has no room for is lost, and comes again
    /// after a second.
    comes: Receiver<Vec<u8>>,
    came: VecDeque<Vec<u8>>,
    /// What is not TCP.
    pub(super) other: VecDeque<Vec<u8>>,
}

impl Inside {
    pub(super) fn new(fd: OwnedFd) -> Self {
        let (tell, comes) = channel();
        let wire = fd.try_clone().unwrap();
        std::thread::spawn(move || listen(&wire, &tell));
        let mut line = Line { fd, comes, came: VecDeque::new(), other: VecDeque::new() };
        let config = Config::new(HardwareAddress::Ip);
        let mut interface = Interface::new(config, &mut line, StackInstant::ZERO);
        interface.update_ip_addrs(|addresses| {
            addresses.push(IpCidr::new(BOX.into(), 15)).unwrap();
            addresses.push(IpCidr::new(BOX6.into(), 64)).unwrap();
        });
        Self { interface, sockets: SocketSet::new(Vec::new()), line, began: Instant::now(), port: 20_000 }
    }

    pub(super) fn connect(&mut self, address: impl Into<IpAddr>, port: u16) -> SocketHandle {
        let mut socket = Socket::new(SocketBuffer::new(vec![0; BUFFER]), SocketBuffer::new(vec![0; BUFFER]));
        socket.set_nagle_enabled(false);
        self.port += 1;
        let address = address.into();
        let local = if address.is_ipv4() { IpAddr::from(BOX) } else { IpAddr::from(BOX6) };
        let (remote, local) = ((IpAddress::from(address), port), (IpAddress::from(local), self.port));
        socket.connect(self.interface.context(), remote, local).unwrap();
        self.sockets.add(socket)
    }

    pub(super) fn socket(&mut self, handle: SocketHandle) -> &mut Socket<'static> {
        self.sockets.get_mut(handle)
    }

    pub(super) fn state(&mut self, handle: SocketHandle) -> State {
        self.socket(handle).state()
    }

    /// One turn of the box's stack, which waits for at most a moment.
    pub(super) fn turn(&mut self) {
        let now = StackInstant::from_micros(i64::try_from(self.began.elapsed().as_micros()).unwrap());
        self.line.take();
        self.interface.poll(now, &mut self.line, &mut self.sockets);
        if let Ok(packet) = self.line.comes.recv_timeout(Duration::from_millis(2)) {
            self.line.sort(packet);
        }
    }

    /// Turns until it is so.
    pub(super) fn until(&mut self, what: &str, mut is_so: impl FnMut(&mut Self) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(self) {
            assert!(Instant::now() < deadline, "{what} did not come about");
            self.turn();
        }
    }

    /// Connects, and waits until it stands.
    pub(super) fn connected(&mut self, address: impl Into<IpAddr>, port: u16) -> SocketHandle {
        let handle = self.connect(address, port);
        self.until("a connection", |inside| inside.state(handle) == State::Established);
        handle
    }

    /// Connects, and waits until that is refused.
    pub(super) fn is_refused(&mut self, address: impl Into<IpAddr>, port: u16) {
        let handle = self.connect(address, port);
        self.until("a refusal", |inside| inside.state(handle) != State::SynSent);
        assert_eq!(self.state(handle), State::Closed);
    }

    /// Sends all of this and takes what comes until the other side ends.
    pub(super) fn exchange(&mut self, handle: SocketHandle, mut bytes: &[u8], then_ends: bool) -> Vec<u8> {
        let mut taken = Vec::new();
        let mut ended = false;
        self.until("an exchange", |inside| {
            let socket = inside.socket(handle);
            if !bytes.is_empty() && socket.can_send() {
                bytes = &bytes[socket.send_slice(bytes).unwrap()..];
            } else if bytes.is_empty() && then_ends && !std::mem::replace(&mut ended, true) {
                socket.close();
            }
            while socket.can_recv() {
                socket.recv(|come| (come.len(), taken.extend_from_slice(come))).unwrap();
            }
            !socket.may_recv()
        });
        taken
    }

    /// Sends a UDP packet.
    pub(super) fn say(&mut self, to: (Ipv4Addr, u16), payload: &[u8]) {
        let udp = UdpRepr { src_port: 5353, dst_port: to.1 };
        let (source, target) = (IpAddress::from(IpAddr::from(BOX)), IpAddress::from(IpAddr::from(to.0)));
        let ip = IpRepr::new(source, target, IpProtocol::Udp, udp.header_len() + payload.len(), 64);
        let mut packet = vec![0; ip.buffer_len()];
        ip.emit(&mut packet[..], &Default::default());
        let mut inner = UdpPacket::new_unchecked(&mut packet[ip.header_len()..]);
        let sums = Default::default();
        udp.emit(&mut inner, &source, &target, payload.len(), |at| at.copy_from_slice(payload), &sums);
        self.line.send(&packet);
    }

    /// The next packet that is not TCP: its protocol and what is in it.
    pub(super) fn hear(&mut self) -> (IpProtocol, Vec<u8>) {
        self.until("a packet", |inside| !inside.line.other.is_empty());
        let packet = self.line.other.pop_front().unwrap();
        let packet = Ipv4Packet::new_checked(&packet[..]).unwrap();
        assert!(packet.verify_checksum());
        (packet.next_header(), packet.payload().to_vec())
    }

    /// Asks the name server for an address.
    pub(super) fn ask(&mut self, name: &str) -> Vec<u8> {
        self.ask_of_kind(name, 1)
    }

    pub(super) fn ask_of_kind(&mut self, name: &str, kind: u8) -> Vec<u8> {
        let question = question(name, kind);
        self.say((crate::network::names::SERVER, 53), &question);
        let (protocol, payload) = self.hear();
        assert_eq!(protocol, IpProtocol::Udp);
        let udp = UdpPacket::new_checked(&payload[..]).unwrap();
        let ends = (IpAddr::from(crate::network::names::SERVER).into(), IpAddr::from(BOX).into());
        assert!(udp.verify_checksum(&ends.0, &ends.1));
        assert_eq!((udp.src_port(), udp.dst_port()), (53, 5353));
        udp.payload().to_vec()
    }

    /// The address of a name that has one.
    pub(super) fn resolve(&mut self, name: &str) -> Ipv4Addr {
        let reply = self.ask(name);
        assert_eq!(reply[3] & 15, 0, "{name}");
        let [.., a, b, c, d] = reply[..] else { panic!("a reply is longer") };
        Ipv4Addr::new(a, b, c, d)
    }
}

pub(super) fn question(name: &str, kind: u8) -> Vec<u8> {
    let mut packet = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        packet.push(u8::try_from(label.len()).unwrap());
        packet.extend(label.bytes());
    }
    packet.extend([0, 0, kind, 0, 1]);
    packet
}

impl Line {
    pub(super) fn send(&self, packet: &[u8]) {
        loop {
            match rustix::io::write(&self.fd, packet) {
                Err(rustix::io::Errno::AGAIN) => {
                    poll(&mut [PollFd::new(&self.fd.as_fd(), PollFlags::OUT)], None).unwrap();
                }
                // The engine has ended; the test sees that by other means.
                _ => return,
            }
        }
    }

    fn take(&mut self) {
        while let Ok(packet) = self.comes.try_recv() {
            self.sort(packet);
        }
    }

    fn sort(&mut self, packet: Vec<u8>) {
        let is_tcp = packet[if packet[0] >> 4 == 4 { 9 } else { 6 }] == 6;
        if is_tcp { self.came.push_back(packet) } else { self.other.push_back(packet) }
    }
}

/// Takes packets until the other side is gone, or the test.
fn listen(wire: &OwnedFd, tell: &Sender<Vec<u8>>) {
    let mut buffer = [0; 2048];
    loop {
        poll(&mut [PollFd::new(wire, PollFlags::IN)], None).unwrap();
        match rustix::io::read(wire, &mut buffer[..]) {
            Err(rustix::io::Errno::AGAIN) => {}
            Ok(count @ 1..) if tell.send(buffer[..count].to_vec()).is_ok() => {}
            _ => return,
        }
    }
}

impl Device for Line {
    type RxToken<'a> = Came;
    type TxToken<'a> = Goes<'a>;

    fn receive(&mut self, _now: StackInstant) -> Option<(Came, Goes<'_>)> {
        self.take();
        let packet = self.came.pop_front()?;
        Some((Came(packet), Goes(self)))
    }

    fn transmit(&mut self, _now: StackInstant) -> Option<Goes<'_>> {
        Some(Goes(self))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = 1500;
        capabilities
    }
}

pub(super) struct Came(Vec<u8>);

impl RxToken for Came {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

pub(super) struct Goes<'a>(&'a mut Line);

impl TxToken for Goes<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, build: F) -> R {
        let mut packet = vec![0; length];
        let result = build(&mut packet);
        self.0.send(&packet);
        result
    }
}
