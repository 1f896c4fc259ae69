//! Whether an address is this machine's. They change, so the system is asked each time.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether this machine has the address now. When the system does not say, it is taken to be.
pub(crate) fn is_own(address: IpAddr) -> bool {
    addresses().is_none_or(|own| own.contains(&address))
}

fn addresses() -> Option<Vec<IpAddr>> {
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
                found.push(Ipv4Addr::from_bits(u32::from_be(address.sin_addr.s_addr)).into());
            }
            libc::AF_INET6 => {
                // SAFETY: as above, this one is IPv6's.
                let address = unsafe { &*entry.ifa_addr.cast::<libc::sockaddr_in6>() };
                found.push(Ipv6Addr::from(address.sin6_addr.s6_addr).into());
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
        assert!(is_own(Ipv4Addr::LOCALHOST.into()));
        assert!(!is_own(Ipv4Addr::new(1, 1, 1, 1).into()));
    }
}
