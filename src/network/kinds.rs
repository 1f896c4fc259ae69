//! What an address is: public, or a place that a box must not reach unasked. The lists are those of the IANA
//! registries of special-purpose addresses.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Anywhere on the internet.
    Public,
    /// This machine, to itself.
    Loopback,
    /// The neighbours on the same wire.
    LinkLocal,
    /// A network of somebody's own.
    Private,
    /// Between a carrier and its customers, and what VPNs use.
    Carrier,
    /// Many receivers.
    Multicast,
    /// Where clouds keep what a machine is, and its keys.
    Metadata,
    /// Neither of these, and nothing that a connection could be meant for: among them addresses that hide
    /// another one (6to4, Teredo, NAT64 of a network's own).
    Special,
}

impl Kind {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Public => "a public address",
            Self::Loopback => "this machine's own loopback",
            Self::LinkLocal => "a link-local address",
            Self::Private => "a private address",
            Self::Carrier => "a carrier's shared address",
            Self::Multicast => "a multicast address",
            Self::Metadata => "a cloud's metadata address",
            Self::Special => "a reserved address",
        }
    }
}

type Block4 = ([u8; 4], u8, Kind);

const BLOCKS4: [Block4; 17] = [
    ([0, 0, 0, 0], 8, Kind::Special),
    ([10, 0, 0, 0], 8, Kind::Private),
    ([100, 64, 0, 0], 10, Kind::Carrier),
    ([127, 0, 0, 0], 8, Kind::Loopback),
    ([169, 254, 0, 0], 16, Kind::LinkLocal),
    ([172, 16, 0, 0], 12, Kind::Private),
    ([192, 0, 0, 0], 24, Kind::Special),
    ([192, 0, 2, 0], 24, Kind::Special),
    ([192, 31, 196, 0], 24, Kind::Special),
    ([192, 52, 193, 0], 24, Kind::Special),
    ([192, 88, 99, 0], 24, Kind::Special),
    ([192, 168, 0, 0], 16, Kind::Private),
    ([198, 18, 0, 0], 15, Kind::Special),
    ([198, 51, 100, 0], 24, Kind::Special),
    ([203, 0, 113, 0], 24, Kind::Special),
    ([224, 0, 0, 0], 4, Kind::Multicast),
    ([240, 0, 0, 0], 4, Kind::Special),
];

/// The metadata services of clouds; more than one cloud uses the first.
const METADATA4: [[u8; 4]; 6] =
    [[169, 254, 169, 254], [169, 254, 170, 2], [169, 254, 170, 23], [100, 100, 100, 200], [168, 63, 129, 16], [192, 0, 0, 192]];
const METADATA6: [[u16; 8]; 4] = [
    [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254],
    [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23],
    [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254],
    [0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe],
];

type Block6 = ([u16; 8], u8, Kind);

/// What is in none of these, and not in 2000::/3, is special too.
const BLOCKS6: [Block6; 11] = [
    ([0, 0, 0, 0, 0, 0, 0, 1], 128, Kind::Loopback),
    ([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, Kind::Special),
    ([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, Kind::Special),
    ([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, Kind::Special),
    ([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48, Kind::Special),
    ([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, Kind::Special),
    ([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Kind::Private),
    ([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, Kind::LinkLocal),
    ([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, Kind::Private),
    ([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, Kind::Multicast),
    ([0x2000, 0, 0, 0, 0, 0, 0, 0], 3, Kind::Public),
];

/// For tests of network devices; programs that stand in for a resolver take their addresses from here.
pub(crate) const STAND_INS: (IpAddr, u8) = (IpAddr::V4(Ipv4Addr::new(198, 18, 0, 0)), 15);

/// NAT64's prefix that every network may use; the last four bytes are an IPv4 address.
const NAT64: (IpAddr, u8) = (IpAddr::V6(Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0)), 96);

/// What this address is. One that is IPv4 in IPv6's clothes is what the IPv4 address is.
pub(crate) fn kind(address: IpAddr) -> Kind {
    let address = address.to_canonical();
    if is_metadata(address) {
        return Kind::Metadata;
    }
    if contains(NAT64, address)
        && let IpAddr::V6(address) = address
    {
        let [.., a, b, c, d] = address.octets();
        let inner = kind(Ipv4Addr::new(a, b, c, d).into());
        return if inner == Kind::Public { inner } else { Kind::Special };
    }
    blocks()
        .find(|(block, _)| contains(*block, address))
        .map_or_else(|| if address.is_ipv4() { Kind::Public } else { Kind::Special }, |(_, kind)| kind)
}

fn is_metadata(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => METADATA4.contains(&address.octets()),
        IpAddr::V6(address) => METADATA6.contains(&address.segments()),
    }
}

/// The blocks of addresses with their kind, none of which is public but the last.
fn blocks() -> impl Iterator<Item = ((IpAddr, u8), Kind)> {
    let four = BLOCKS4.iter().map(|(bytes, prefix, kind)| ((IpAddr::from(*bytes), *prefix), *kind));
    let six = BLOCKS6.iter().map(|(parts, prefix, kind)| ((IpAddr::from(*parts), *prefix), *kind));
    four.chain(six)
}

/// Whether a range lies within one block that is not public, and this address does too.
pub(crate) fn is_range_of_that_kind(range: (IpAddr, u8), address: IpAddr) -> bool {
    contains(range, address)
        && blocks().any(|((start, prefix), kind)| {
            kind != Kind::Public && prefix <= range.1 && contains((start, prefix), range.0.to_canonical())
        })
}

/// Whether a range contains an address; the two must be of one family.
pub(crate) fn contains((start, prefix): (IpAddr, u8), address: IpAddr) -> bool {
    let shared = |differing: u128, width: u32| differing.leading_zeros() >= 128 - width + u32::from(prefix);
    match (start, address) {
        (IpAddr::V4(start), IpAddr::V4(address)) => {
            shared(u128::from(start.to_bits() ^ address.to_bits()), 32)
        }
        (IpAddr::V6(start), IpAddr::V6(address)) => shared(start.to_bits() ^ address.to_bits(), 128),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kind_of(text: &str) -> Kind {
        kind(text.parse().unwrap())
    }

    #[test]
    fn every_place_that_is_not_the_internet_has_its_kind() {
        for (kind, addresses) in [
            (
                Kind::Public,
                "1.1.1.1 8.8.8.8 11.0.0.0 9.255.255.255 100.63.255.255 100.128.0.0 126.255.255.255",
            ),
            (
                Kind::Public,
                "128.0.0.0 169.253.0.1 172.15.255.255 172.32.0.0 192.167.0.1 198.17.0.1 198.20.0.0",
            ),
            (Kind::Public, "223.255.255.255 2606:4700::1111 2a00::1 2400:: ::ffff:1.1.1.1 64:ff9b::1.1.1.1"),
            (Kind::Loopback, "127.0.0.1 127.255.255.255 ::1 ::ffff:127.0.0.1"),
            (Kind::LinkLocal, "169.254.0.1 169.254.169.253 fe80::1 febf::1 ::ffff:169.254.1.1"),
            (
                Kind::Private,
                "10.0.0.0 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 fc00::1 fdff::1 fec0::1",
            ),
            (Kind::Private, "::ffff:10.0.0.1"),
            (Kind::Carrier, "100.64.0.0 100.127.255.255"),
            (Kind::Multicast, "224.0.0.1 239.255.255.255 ff02::1"),
            (Kind::Metadata, "169.254.169.254 ::ffff:169.254.169.254 169.254.170.23 fd00:ec2::254 fd00:ec2::23 100.100.100.200"),
            (Kind::Special, "0.0.0.0 0.1.2.3 192.0.2.1 198.18.0.1 198.19.255.255 240.0.0.1 255.255.255.255"),
            (Kind::Special, ":: 2001::1 2002:0a00:0001:: 2001:db8::1 64:ff9b::10.0.0.1 64:ff9b::127.0.0.1"),
            (Kind::Special, "64:ff9b::169.254.169.254 64:ff9b:1::1 ::127.0.0.1 4000::1 1::1 100::1 5f00::1"),
        ] {
            for address in addresses.split(' ') {
                assert_eq!(kind_of(address), kind, "{address}");
            }
        }
    }

    #[test]
    fn a_range_is_of_that_kind_when_all_of_it_is() {
        let is = |range: &str, prefix, address: &str| {
            is_range_of_that_kind((range.parse().unwrap(), prefix), address.parse().unwrap())
        };
        assert!(is("10.0.0.0", 8, "10.1.2.3"));
        assert!(is("10.1.0.0", 16, "10.1.2.3"));
        assert!(!is("10.1.0.0", 16, "10.2.2.3"));
        assert!(!is("10.0.0.0", 7, "10.1.2.3"));
        assert!(!is("0.0.0.0", 0, "10.1.2.3"));
        assert!(!is("1.0.0.0", 8, "1.1.1.1"));
        assert!(is("127.0.0.0", 8, "127.0.0.1"));
        assert!(is("fc00::", 7, "fd00::1"));
        assert!(!is("::", 0, "fd00::1"));
    }

    proptest! {
        #[test]
        fn what_hides_an_address_is_never_more_public_than_it(bits in any::<u32>()) {
            let inner = Ipv4Addr::from_bits(bits);
            let [a, b, c, d] = inner.octets().map(u16::from);
            let (high, low) = (a << 8 | b, c << 8 | d);
            prop_assert_eq!(kind(inner.to_ipv6_mapped().into()), kind(inner.into()));
            let hidden = [
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
                Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2001, 0, high, low, 0, 0, !high, !low),
            ];
            for hidden in hidden {
                prop_assert!(kind(hidden.into()) != Kind::Public || kind(inner.into()) == Kind::Public);
            }
        }

        #[test]
        fn a_range_contains_what_has_its_first_bits(bits in any::<u32>(), prefix in 0_u8..=32, other in any::<u32>()) {
            let mask = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
            let range = (IpAddr::V4(Ipv4Addr::from_bits(bits)), prefix);
            prop_assert_eq!(contains(range, Ipv4Addr::from_bits(other).into()), bits & mask == other & mask);
        }
    }
}
