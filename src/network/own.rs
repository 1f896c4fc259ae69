//! Whether an address is this machine's, or a neighbour's. They change, so the system is asked each time.

use super::kinds;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// How near an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Near {
    /// This machine has it.
    Own,
    /// It is on a wire of this machine's, and its router does not stand between. Only said of IPv6, where such an
    /// address does not show it: it is as public as any.
    Neighbour,
    Far,
}

/// A wider network is nobody's home.
pub(crate) const WIDEST: u8 = 48;

/// How near the address is now. When the system does not say, it is taken to be this machine's.
pub(crate) fn near(address: IpAddr) -> Near {
    addresses().map_or(Near::Own, |own| among(&own, address))
}

/// How near it is to a machine that has these addresses, each with the prefix of its network.
fn among(own: &[(IpAddr, u8)], address: IpAddr) -> Near {
    let is_near = |(known, prefix): &(IpAddr, u8)| {
        known.is_ipv6() && !known.is_loopback() && *prefix >= WIDEST && kinds::contains((*known, *prefix), address)
    };
    if own.iter().any(|(known, _)| *known == address) {
        Near::Own
    } else if own.iter().any(is_near) {
        Near::Neighbour
    } else {
        Near::Far
    }
}

fn addresses() -> Option<Vec<(IpAddr, u8)>> {
    let mut first: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: `first` is a place for one pointer.
    if unsafe { libc::getifaddrs(&raw mut first) } != 0 {
        return None;
    }
    let mut found = Vec::new();
    let mut next = first;
    while !next.is_null() {
        // SAFETY: the list is the system's until it is freed below, and `next` one of its entries.
        let entry = unsafe { &*next };
        next = entry.ifa_next;
        if entry.ifa_addr.is_null() {
            continue;
        }
        // SAFETY: an address has a family, and is as long and as aligned as its family's structure.
        match i32::from(unsafe { (*entry.ifa_addr).sa_family }) {
            libc::AF_INET => {
                // SAFETY: as above, this one is IPv4's.
                let address = unsafe { &*entry.ifa_addr.cast::<libc::sockaddr_in>() };
                found.push((Ipv4Addr::from_bits(u32::from_be(address.sin_addr.s_addr)).into(), 32));
            }
            libc::AF_INET6 => {
                // SAFETY: as above, this one is IPv6's.
                let address = unsafe { &*entry.ifa_addr.cast::<libc::sockaddr_in6>() };
                let mask = entry.ifa_netmask.cast::<libc::sockaddr_in6>();
                // SAFETY: a mask is of its address's family.
                let mask = (!mask.is_null()).then(|| unsafe { (*mask).sin6_addr.s6_addr });
                let prefix = mask.map_or(128, |mask| u128::from_be_bytes(mask).leading_ones());
                let prefix = u8::try_from(prefix).unwrap_or(128);
                found.push((Ipv6Addr::from(address.sin6_addr.s6_addr).into(), prefix));
            }
            _ => {}
        }
    }
    // SAFETY: the list is the one that was given, and nothing of it is used any more.
    unsafe { libc::freeifaddrs(first) };
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loopback_is_ours_and_somebody_elses_address_is_not() {
        assert_eq!(near(Ipv4Addr::LOCALHOST.into()), Near::Own);
        assert_eq!(near(Ipv4Addr::new(1, 1, 1, 1).into()), Near::Far);
    }

    #[test]
    fn who_shares_a_home_network_of_ipv6_is_a_neighbour() {
        let own = [
            ("127.0.0.1", 32),
            ("::1", 128),
            ("5.5.5.5", 32),
            ("2a02:1:2:3::7", 64),
            ("2a02:9::1", 32),
            ("2a02:7::1", 128),
        ];
        let own = own.map(|(address, prefix)| (address.parse().unwrap(), prefix));
        for (address, near) in [
            ("2a02:1:2:3::7", Near::Own),
            ("5.5.5.5", Near::Own),
            ("2a02:1:2:3::8", Near::Neighbour),
            ("2a02:1:2:4::8", Near::Far),
            ("2a02:9::2", Near::Far),
            ("2a02:7::2", Near::Far),
            ("5.5.5.6", Near::Far),
            ("::2", Near::Far),
        ] {
            assert_eq!(among(&own, address.parse().unwrap()), near, "{address}");
        }
    }
}
