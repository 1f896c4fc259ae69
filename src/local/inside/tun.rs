//! The device by which a box's packets come out: made in its network namespace, served by the keeper.

use super::netlink::Netlink;
use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, Result};
use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, OwnedFd};

const NAME: &CStr = c"out0";
/// The box's own address, in the block from which names get theirs, so that the kernel finds the way to them.
const ADDRESS: (Ipv4Addr, u8) = (Ipv4Addr::new(198, 18, 0, 2), 15);
/// Its own, in a private block of nobody's.
const ADDRESS6: (Ipv6Addr, u8) = (Ipv6Addr::new(0xfd1c, 0xb0c5, 0, 0, 0, 0, 0, 2), 64);
/// So many packets may wait. With the kernel's 500, hundreds of connections at once lose some, and a second each.
const QUEUE: u32 = 4096;

// Requests of linux/if_tun.h, whose type differs between the C libraries.
const TUNSETIFF: libc::Ioctl = 0x4004_54ca;
const TUNSETOFFLOAD: libc::Ioctl = 0x4004_54d0;
/// The kernel leaves sums undone, and segments of IPv4 and IPv6 uncut.
const OFFLOADS: libc::c_ulong = 1 | 2 | 4;

/// Makes it, up and with the default routes.
///
/// # Errors
/// The machine has no such devices, or not for this user.
pub(super) fn make() -> Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let device = rustix::fs::open("/dev/net/tun", flags, Mode::empty())?;
    attach(&device)?;
    quiet();
    // SAFETY: a C string.
    let index = unsafe { libc::if_nametoindex(NAME.as_ptr()) };
    if index == 0 {
        return Err(Errno::NODEV);
    }
    let netlink = Netlink::open()?;
    netlink.up(index, QUEUE)?;
    netlink.address(index, ADDRESS.0.into(), ADDRESS.1)?;
    netlink.default_route(index, Ipv4Addr::UNSPECIFIED.into())?;
    // A kernel without IPv6 has no program that asks for it.
    let _v4_only = netlink
        .address(index, ADDRESS6.0.into(), ADDRESS6.1)
        .and_then(|()| netlink.default_route(index, IpAddr::from(Ipv6Addr::UNSPECIFIED)));
    Ok(device)
}

fn attach(device: &OwnedFd) -> Result<()> {
    // SAFETY: zero is a valid ifreq; the name fits and stays terminated.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(NAME.to_bytes()) {
        // Signed on some architectures only.
        *to = *from as libc::c_char;
    }
    let flags = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: TUNSETIFF reads and writes one ifreq, which lives until the call returns.
    super::sys::check(unsafe { libc::ioctl(device.as_raw_fd(), TUNSETIFF, &raw mut request) }.into())?;
    // SAFETY: TUNSETOFFLOAD takes a number.
    super::sys::check(unsafe { libc::ioctl(device.as_raw_fd(), TUNSETOFFLOAD, OFFLOADS) }.into()).map(|_| ())
}

/// No neighbours are looked for: there are none.
fn quiet() {
    for (name, value) in
        [("addr_gen_mode", "1"), ("accept_dad", "0"), ("router_solicitations", "0"), ("accept_ra", "0")]
    {
        let path = format!("/proc/sys/net/ipv6/conf/{}/{name}", NAME.to_string_lossy());
        // At worst the box says what nobody hears.
        let _no_ipv6 = std::fs::write(path, value);
    }
}
