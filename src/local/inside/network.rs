//! The network of a box: made here, handed out part by part, and kept by whoever holds the parts. Nothing of the box runs
//! in this process, and nothing of it stays.

use super::super::wire::channel::Channel;
use super::super::wire::spec::{Event, NetworkOrder, Part, Step};
use super::namespaces;
use super::outcome::{During, Isolated};
use super::{sys, tun};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};

/// So many connections may wait for the keeper; the kernel gives what it allows.
const BACKLOG: i32 = 4096;

pub(super) fn make(channel: &Channel, order: &NetworkOrder) -> Isolated<()> {
    namespaces::of_a_network()?;
    sys::loopback_up().during(Step::Setup, "loopback")?;
    let give = |part: Part, fd: &dyn AsFd| {
        channel.send(&Event::Made(part), Some(fd.as_fd())).during(Step::Setup, "send a descriptor")
    };
    for (part, path) in [(Part::User, "/proc/self/ns/user"), (Part::Net, "/proc/self/ns/net")] {
        give(part, &std::fs::File::open(path).during(Step::Setup, path)?)?;
    }
    let (v4, v6) = (IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST));
    give(Part::Proxy, &listen(v4, order.proxy).during(Step::Setup, "listen for the proxy")?)?;
    for port in &order.localhost {
        give(Part::Localhost(*port), &listen(v4, *port).during(Step::Setup, "listen on the loopback")?)?;
        // Where the kernel has no IPv6, no program asks for it.
        if let Ok(second) = listen(v6, *port) {
            give(Part::Localhost(*port), &second)?;
        }
    }
    // Without it the proxy is the only door, and whoever asks is told so.
    if let Ok(device) = tun::make() {
        give(Part::Wire, &device)?;
    }
    Ok(())
}

/// A listener that never waits.
fn listen(address: IpAddr, port: u16) -> rustix::io::Result<OwnedFd> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    rustix::net::bind(&socket, &SocketAddr::new(address, port))?;
    rustix::net::listen(&socket, BACKLOG)?;
    Ok(socket)
}
