//! The few words of rtnetlink(7) that set up a device; its ioctls cannot say all of them without real root.

use rustix::io::{Errno, Result};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use std::net::IpAddr;
use std::os::fd::OwnedFd;

// linux/rtnetlink.h, if_link.h, if_addr.h.
const NEW_LINK: u16 = 16;
const NEW_ADDRESS: u16 = 20;
const NEW_ROUTE: u16 = 24;
const LINK_QUEUE: u16 = 13;
const ADDRESS_ADDRESS: u16 = 1;
const ADDRESS_LOCAL: u16 = 2;
const ROUTE_DEVICE: u16 = 4;
const ADDRESS_NO_DAD: u8 = 2;
const TABLE_MAIN: u8 = 254;
const PROTOCOL_BOOT: u8 = 3;
const ROUTE_UNICAST: u8 = 1;
// linux/netlink.h.
const REQUEST_WITH_ANSWER: u16 = 1 | 4;
const CREATE: u16 = 0x400;
const HEAD: usize = 16;

/// A socket to the kernel's table of devices, addresses and routes, in this network namespace.
pub(super) struct Netlink(OwnedFd);

impl Netlink {
    pub(super) fn open() -> Result<Self> {
        let flags = SocketFlags::CLOEXEC;
        // The first of netlink's protocols, which is what none means, is this one.
        rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, None).map(Self)
    }

    /// Brings a device up, with room for so many waiting packets.
    pub(super) fn up(&self, index: u32, queue: u32) -> Result<()> {
        let up = (libc::IFF_UP as u32).to_ne_bytes();
        let body = [&[0; 4][..], &index.to_ne_bytes(), &up, &up].concat();
        self.say(NEW_LINK, 0, &body, &[(LINK_QUEUE, &queue.to_ne_bytes())])
    }

    pub(super) fn address(&self, index: u32, address: IpAddr, prefix: u8) -> Result<()> {
        let body = [&[family(address), prefix, ADDRESS_NO_DAD, 0][..], &index.to_ne_bytes()].concat();
        let bytes = octets(address);
        self.say(NEW_ADDRESS, CREATE, &body, &[(ADDRESS_LOCAL, &bytes), (ADDRESS_ADDRESS, &bytes)])
    }

    /// Everything of this address's family goes there.
    pub(super) fn default_route(&self, index: u32, any: IpAddr) -> Result<()> {
        let body = [family(any), 0, 0, 0, TABLE_MAIN, PROTOCOL_BOOT, 0, ROUTE_UNICAST, 0, 0, 0, 0];
        self.say(NEW_ROUTE, CREATE, &body, &[(ROUTE_DEVICE, &index.to_ne_bytes())])
    }

    fn say(&self, kind: u16, flags: u16, body: &[u8], attributes: &[(u16, &[u8])]) -> Result<()> {
        rustix::net::send(&self.0, &message(kind, flags, body, attributes), SendFlags::empty())?;
        let mut answer = [0; 1024];
        let (count, _) = rustix::net::recv(&self.0, &mut answer, RecvFlags::empty())?;
        // The answer is an error message, whose error may be none.
        let error = answer[..count].get(HEAD..HEAD + 4).and_then(|bytes| bytes.try_into().ok());
        match error.map(i32::from_ne_bytes) {
            Some(0) => Ok(()),
            Some(error) => Err(Errno::from_raw_os_error(-error)),
            None => Err(Errno::BADMSG),
        }
    }
}

fn family(address: IpAddr) -> u8 {
    let family = if address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
    family as u8
}

fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

fn message(kind: u16, flags: u16, body: &[u8], attributes: &[(u16, &[u8])]) -> Vec<u8> {
    let mut rest = body.to_vec();
    for (name, value) in attributes {
        rest.extend((4 + value.len() as u16).to_ne_bytes());
        rest.extend(name.to_ne_bytes());
        rest.extend(*value);
        rest.resize(rest.len().next_multiple_of(4), 0);
    }
    let length = ((HEAD + rest.len()) as u32).to_ne_bytes();
    let flags = (REQUEST_WITH_ANSWER | flags).to_ne_bytes();
    [&length[..], &kind.to_ne_bytes(), &flags, &[0; 8], &rest].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_says_its_length_and_its_attributes_are_padded() {
        let said = message(NEW_ADDRESS, CREATE, &[1, 2, 3, 4], &[(2, &[9, 8, 7, 6, 5])]);
        assert_eq!(said.len(), HEAD + 4 + 4 + 8);
        assert_eq!(said[..8], [32, 0, 0, 0, 20, 0, 5, 4]);
        assert_eq!(said[HEAD..], [1, 2, 3, 4, 9, 0, 2, 0, 9, 8, 7, 6, 5, 0, 0, 0]);
    }
}
