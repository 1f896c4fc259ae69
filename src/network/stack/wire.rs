//! Where packets come from and go to: a TUN, or a packet socket in tests.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use smoltcp::phy::{Checksum, DeviceCapabilities, Medium, PacketMeta};
use std::io;
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What a packet may be; longer ones are segmented by the kernel.
pub(crate) const MTU: usize = 1500;
/// The longest packet, as an IP header can say it.
const LONGEST: usize = 65535;
/// `struct virtio_net_hdr`, before each packet where the kernel does sums and segments.
const HEADER: usize = 10;
const A_MOMENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };
const NEEDS_CSUM: u8 = 1;
const GSO_TCPV4: u8 = 1;
const TCP: u8 = 6;
const TCP_SUM: usize = 16;

/// A descriptor that gives and takes one packet with each call, and never waits.
#[derive(Debug)]
pub(crate) struct Wire {
    fd: OwnedFd,
    /// The kernel sums and segments TCP, and a header says of each packet how far.
    offload: bool,
}

/// Room for one packet with its header; the engine has one for each direction.
pub(crate) struct Room(Vec<u8>);

impl Room {
    pub(crate) fn new() -> Self {
        Self(vec![0; HEADER + LONGEST])
    }
}

impl Wire {
    pub(crate) fn new(fd: OwnedFd, offload: bool) -> Self {
        Self { fd, offload }
    }

    pub(crate) fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The next packet; `None` when there is none now.
    ///
    /// # Errors
    /// There will be none any more.
    pub(crate) fn read<'a>(&self, room: &'a mut Room) -> io::Result<Option<&'a [u8]>> {
        let skipped = if self.offload { HEADER } else { 0 };
        loop {
            match rustix::io::read(&self.fd, &mut *room.0) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => return Ok(Some(room.0.get(skipped..count).unwrap_or_default())),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(None),
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    /// Sends a packet that `build` writes. One that the kernel does not take is lost, as packets are.
    pub(crate) fn write<R>(
        &self,
        room: &mut Room,
        length: usize,
        meta: PacketMeta,
        build: impl FnOnce(&mut [u8]) -> R,
    ) -> R {
        let length = length.min(LONGEST);
        let (header, packet) = room.0.split_at_mut(HEADER);
        let packet = &mut packet[..length];
        let result = build(packet);
        let _lost = if self.offload {
            header.copy_from_slice(&describe(packet, meta.segmentation_offload_size.map_or(0, u16::from)));
            rustix::io::write(&self.fd, &room.0[..HEADER + length])
        } else {
            match rustix::io::write(&self.fd, &*packet) {
                // A socket has room for few packets, and a reader of its own that makes some.
                Err(Errno::AGAIN) => {
                    let _came = poll(&mut [PollFd::new(&self.fd, PollFlags::OUT)], Some(&A_MOMENT));
                    rustix::io::write(&self.fd, &*packet)
                }
                written => written,
            }
        };
        result
    }

    /// What the stack has to do itself. IPv6 is not segmented by the kernel: this version of the stack forgets to say
    /// so when it sends.
    pub(crate) fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = MTU;
        let checksum = &mut capabilities.checksum;
        checksum.ipv4 = Checksum::Tx;
        checksum.udp = Checksum::Tx;
        checksum.icmpv4 = Checksum::Tx;
        checksum.icmpv6 = Checksum::Tx;
        // What comes may not be summed yet: nothing is verified.
        checksum.tcp = if self.offload { Checksum::None } else { Checksum::Tx };
        if self.offload {
            capabilities.segmentation.tcpv4 = NonZeroUsize::new(LONGEST);
        }
        capabilities
    }
}

/// The header of an outgoing packet; a TCP packet gets the sum of its pseudo-header.
fn describe(packet: &mut [u8], segment: u16) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    let (start, protocol, addresses) = match packet.first().map(|byte| byte >> 4) {
        Some(4) if packet.len() >= 20 => (usize::from(packet[0] & 15) * 4, packet[9], 12..20),
        Some(6) if packet.len() >= 40 => (40, packet[6], 8..40),
        _ => return header,
    };
    let Some(length) = packet.len().checked_sub(start).filter(|length| protocol == TCP && *length >= 20)
    else {
        return header;
    };
    let words = packet[addresses].chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let mut sum = words.sum::<u32>() + u32::from(TCP) + u32::try_from(length).unwrap_or(0);
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    packet[start + TCP_SUM..start + TCP_SUM + 2].copy_from_slice(&(sum as u16).to_be_bytes());
    header[0] = NEEDS_CSUM;
    if segment > 0 {
        header[1] = GSO_TCPV4;
        let data = start + usize::from(packet[start + 12] >> 4) * 4;
        header[2..4].copy_from_slice(&(data as u16).to_ne_bytes());
        header[4..6].copy_from_slice(&segment.to_ne_bytes());
    }
    header[6..8].copy_from_slice(&(start as u16).to_ne_bytes());
    header[8..10].copy_from_slice(&(TCP_SUM as u16).to_ne_bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tcp_packet_says_where_its_sum_goes_and_how_it_is_cut() {
        let mut packet = vec![0; 20 + 32 + 3000];
        packet[0] = 0x45;
        packet[9] = TCP;
        packet[12..20].copy_from_slice(&[198, 18, 1, 0, 198, 18, 0, 2]);
        packet[20 + 12] = 8 << 4;
        let header = describe(&mut packet, 1448);
        let word = |at: usize| u16::from_ne_bytes([header[at], header[at + 1]]);
        assert_eq!((header[0], header[1], word(2), word(4), word(6), word(8)), (1, 1, 52, 1448, 20, 16));
        let sum = 198 * 256 + 18 + 256 + 198 * 256 + 18 + 2 + 6 + 3032;
        let folded = (sum & 0xffff) + (sum >> 16);
        assert_eq!(u32::from(u16::from_be_bytes([packet[36], packet[37]])), folded);
    }

    #[test]
    fn nothing_is_said_of_what_is_no_tcp_packet() {
        for packet in [&mut [][..], &mut [0x45; 19], &mut [0x4f; 20], &mut [0x60; 39], &mut [0x60; 45]] {
            assert_eq!(describe(packet, 0), [0; HEADER]);
        }
    }
}
