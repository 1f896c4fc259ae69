//! Whether a box may connect: rules, name, port, address in, yes or the reason out. Nothing else is looked at.

use super::kinds::{self, Kind};
use super::own::{Near, WIDEST};
use crate::config::EgressRule;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What a program asked for: a name, or an address that it knew itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Host {
    /// Lower case, without a final dot.
    Name(String),
    /// Never IPv4 in IPv6's clothes.
    Address(IpAddr),
}

/// Where a program wants to connect to.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Target {
    pub(crate) host: Host,
    pub(crate) port: u16,
}

/// Why a box may not connect there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// No rule names it.
    NotListed,
    /// It is called localhost: at the proxy that is the host, and what a program of the box means is most often its own.
    Localhost,
    /// It is at a place that only a rule with exactly that address opens, or a range of that kind.
    Place(Kind, IpAddr),
    /// It is an address of this machine.
    Own(IpAddr),
    /// It is one of a network that this machine is in.
    Neighbour(IpAddr),
}

impl Host {
    /// From what a program wrote; `None` when that is neither a name nor an address.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Some(Self::Address(address.to_canonical()));
        }
        let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
        EgressRule::is_host(&name).then_some(Self::Name(name))
    }

    /// Whether it is a name of a network's own: no public resolver has it, but the host's proxy may.
    fn is_homely(&self) -> bool {
        const HOMELY: [&str; 4] = [".internal", ".local", ".localdomain", ".home.arpa"];
        match self {
            Self::Name(name) => !name.contains('.') || HOMELY.iter().any(|end| name.ends_with(end)),
            Self::Address(_) => false,
        }
    }

    /// Whether it means this machine: a name that the box's own resolver keeps, and no rule but `localhost` opens.
    pub(crate) fn is_localhost(&self) -> bool {
        matches!(self, Self::Name(name) if name == "localhost" || name.ends_with(".localhost"))
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(address) => address.fmt(f),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&rule(&self.host, self.port))
    }
}

/// The first judgement: the name and the port. A name that passes may be asked for; what it resolves to is judged
/// by [`address`]. Rules about addresses let no name pass: asking for every name would be a way out.
///
/// # Errors
/// Why not.
pub(crate) fn name(rules: &[EgressRule], target: &Target) -> Result<(), Refusal> {
    match &target.host {
        Host::Address(_) => Ok(()),
        // `*` is every public address, and this is none.
        host if host.is_localhost() => {
            if is_localhost_port(rules, target) { Ok(()) } else { Err(Refusal::Localhost) }
        }
        Host::Name(name)
            if rules.is_empty() || rules.iter().any(|rule| rule.lets_pass(name, target.port)) =>
        {
            Ok(())
        }
        Host::Name(_) => Err(Refusal::NotListed),
    }
}

/// Whether a name may be asked for at all: some rule lets it pass on some port.
pub(crate) fn may_ask(rules: &[EgressRule], name: &str) -> bool {
    rules.is_empty() || rules.iter().any(|rule| rule.lets_pass(name, rule.port().unwrap_or(443)))
}

/// The second judgement: the address that will be connected to. `near` says how near it is to this machine.
///
/// # Errors
/// Why not.
pub(crate) fn address(
    rules: &[EgressRule],
    target: &Target,
    address: IpAddr,
    near: impl Fn(IpAddr) -> Near,
) -> Result<(), Refusal> {
    name(rules, target)?;
    let address = address.to_canonical();
    let kind = kinds::kind(address);
    if target.host.is_localhost() {
        // The rule says this machine's loopback, whatever the machine's resolver says.
        return if kind == Kind::Loopback { Ok(()) } else { Err(Refusal::Place(kind, address)) };
    }
    let ranges = || rules.iter().filter_map(|rule| rule.range(target.port));
    let is_exact = ranges().any(|(start, prefix)| {
        start.to_canonical() == address && prefix == if start.is_ipv4() { 32 } else { 128 }
    });
    let has_range = || ranges().any(|range| kinds::is_range_of_that_kind(range, address));
    let has_network = || ranges().any(|range| range.1 >= WIDEST && kinds::contains(range, address));
    let is_public_target = || match target.host {
        Host::Name(_) => true,
        Host::Address(_) => {
            rules.is_empty()
                || rules.iter().any(EgressRule::is_everything)
                || ranges().any(|range| kinds::contains(range, address))
        }
    };
    match kind {
        _ if is_exact => Ok(()),
        Kind::Metadata => Err(Refusal::Place(kind, address)),
        Kind::Public if !is_public_target() => Err(Refusal::NotListed),
        Kind::Public => match near(address) {
            Near::Own => Err(Refusal::Own(address)),
            Near::Neighbour if !has_network() => Err(Refusal::Neighbour(address)),
            Near::Neighbour | Near::Far => Ok(()),
        },
        Kind::Loopback if has_range() || is_localhost_port(rules, target) => Ok(()),
        Kind::Loopback if is_called_localhost(&target.host) => Err(Refusal::Localhost),
        _ if !has_range() => Err(Refusal::Place(kind, address)),
        // A network's range does not mean the machine in it.
        _ if near(address) == Near::Own => Err(Refusal::Own(address)),
        _ => Ok(()),
    }
}

/// The judgement where the host's own proxy looks a name up. `here` is what the name is on this machine, nothing when it
/// is not known: all of it must pass, because the proxy may take any. What it finds itself is not seen, so a name of a
/// network's own needs a rule that says more than `*`.
///
/// # Errors
/// Why not.
pub(crate) fn by_proxy(
    rules: &[EgressRule],
    target: &Target,
    here: &[IpAddr],
    near: impl Fn(IpAddr) -> Near,
) -> Result<(), Refusal> {
    name(rules, target)?;
    if let Host::Name(name) = &target.host
        && target.host.is_homely()
        && !rules.iter().any(|rule| !rule.is_everything() && rule.lets_pass(name, target.port))
    {
        return Err(Refusal::NotListed);
    }
    here.iter().try_for_each(|found| address(rules, target, *found, &near))
}

/// Whether a rule `localhost:PORT` means this: that name, or the address that everybody has for it. No other name:
/// whoever keeps it could point it there.
fn is_localhost_port(rules: &[EgressRule], target: &Target) -> bool {
    is_called_localhost(&target.host) && rules.iter().any(|rule| rule.localhost_port() == Some(target.port))
}

fn is_called_localhost(host: &Host) -> bool {
    match host {
        Host::Address(address) => *address == Ipv4Addr::LOCALHOST || *address == Ipv6Addr::LOCALHOST,
        Host::Name(_) => host.is_localhost(),
    }
}

impl Refusal {
    /// The rules that would let it pass, to be added to those that are there. An empty list means any public
    /// address, and would mean less with a rule in it: then `*` comes first.
    pub(crate) fn remedy(self, rules: &[EgressRule], target: &Target) -> Vec<String> {
        let wanted = match self {
            Self::Localhost => format!("localhost:{}", target.port),
            // A resolver that stands in for names, as ours does in a box: the address is another one next time.
            Self::Place(_, address)
                if matches!(target.host, Host::Name(_)) && kinds::contains(kinds::STAND_INS, address) =>
            {
                let (start, prefix) = kinds::STAND_INS;
                format!("{start}/{prefix}")
            }
            Self::NotListed => rule(&target.host, target.port),
            Self::Place(_, address) | Self::Own(address) | Self::Neighbour(address) => rule(&Host::Address(address), target.port),
        };
        let everything = rules.is_empty().then(|| "*".to_owned());
        everything.into_iter().chain([wanted]).collect()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotListed => f.write_str("no egress rule allows it"),
            Self::Localhost => f.write_str(
                "at the proxy that is this machine, not the box, whose own ports are reached without the proxy",
            ),
            Self::Place(kind, address) => write!(f, "{address} is {}", kind.words()),
            Self::Own(address) => write!(f, "{address} is this machine"),
            Self::Neighbour(address) => write!(f, "{address} is in this machine's own network"),
        }
    }
}

/// The rule for exactly this.
fn rule(host: &Host, port: u16) -> String {
    match host {
        Host::Address(IpAddr::V6(address)) => format!("[{address}]:{port}"),
        host => format!("{host}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rules(text: &str) -> Vec<EgressRule> {
        text.split_whitespace().map(|rule| rule.parse().unwrap()).collect()
    }

    fn target(text: &str) -> Target {
        let (host, port) = text.rsplit_once(':').unwrap();
        Target { host: Host::parse(host).unwrap(), port: port.parse().unwrap() }
    }

    /// The machine has 10.9.9.9 and 5.5.5.5, and neighbours in 2a02:1:2:3::/64.
    fn near(address: IpAddr) -> Near {
        let address = address.to_string();
        match ["10.9.9.9", "5.5.5.5"].contains(&address.as_str()) {
            true => Near::Own,
            false if address.starts_with("2a02:1:2:3:") => Near::Neighbour,
            false => Near::Far,
        }
    }

    /// `name:port=address` or a literal.
    fn judged(rule: &str, asked: &str) -> Result<(), Refusal> {
        let (asked, resolved) = asked.split_once('=').unwrap_or((asked, ""));
        let target = target(asked);
        let literal = match target.host {
            Host::Address(address) => Some(address),
            Host::Name(_) => resolved.parse().ok(),
        };
        address(&rules(rule), &target, literal.unwrap(), near)
    }

    #[test]
    fn what_the_rules_let_pass() {
        for (rule, asked) in [
            ("", "example.org:443=1.1.1.1"),
            ("", "1.1.1.1:22"),
            ("", "[2606:4700::1111]:443"),
            ("*", "example.org:443=1.1.1.1"),
            ("*", "1.1.1.1:443"),
            ("*", "example.org:80=64:ff9b::1.1.1.1"),
            ("example.org", "example.org:22=1.1.1.1"),
            ("example.org:443", "Example.ORG.:443=1.1.1.1"),
            ("*.example.org", "a.example.org:443=1.1.1.1"),
            ("1.1.1.1", "1.1.1.1:443"),
            ("1.1.1.1", "[::ffff:1.1.1.1]:443"),
            ("1.0.0.0/8:443", "1.1.1.1:443"),
            ("0.0.0.0/0", "1.1.1.1:443"),
            ("* localhost:5432", "localhost:5432=127.0.0.1"),
            ("* localhost:5432", "localhost:5432=::1"),
            ("* localhost:5432", "example.org:443=1.1.1.1"),
            ("localhost:5432", "127.0.0.1:5432"),
            ("localhost:5432", "[::1]:5432"),
            ("127.0.0.1:5432", "127.0.0.1:5432"),
            ("127.0.0.0/8", "127.0.0.1:5432"),
            ("* 10.1.2.3:5432", "db.example.org:5432=10.1.2.3"),
            ("10.1.2.3", "10.1.2.3:5432"),
            ("10.0.0.0/8", "10.1.2.3:5432"),
            ("10.9.9.9:80", "10.9.9.9:80"),
            ("5.5.5.5", "5.5.5.5:80"),
            ("169.254.169.254", "169.254.169.254:80"),
            ("100.64.0.0/10", "100.64.1.1:80"),
            ("64:ff9b::a00:1", "[64:ff9b::10.0.0.1]:80"),
            ("* 2a02:1:2:3::8", "nas.example:80=2a02:1:2:3::8"),
            ("* 2a02:1:2:3::/64", "nas.example:80=2a02:1:2:3::8"),
            ("*", "far.example:80=2a02:1:2:4::8"),
        ] {
            assert_eq!(judged(rule, asked), Ok(()), "{rule} / {asked}");
        }
    }

    #[test]
    fn what_they_refuse_and_what_would_let_it_pass() {
        for (rule, asked, remedy) in [
            ("example.org", "example.com:443=1.1.1.1", "example.com:443"),
            ("example.org", "a.example.org:443=1.1.1.1", "a.example.org:443"),
            ("example.org:443", "example.org:80=1.1.1.1", "example.org:80"),
            ("example.org", "1.1.1.1:443", "1.1.1.1:443"),
            ("1.1.1.1", "one.example:443=1.1.1.1", "one.example:443"),
            ("", "localhost:5432=127.0.0.1", "* localhost:5432"),
            ("*", "localhost:5432=127.0.0.1", "localhost:5432"),
            ("localhost:5432", "localhost:5433=127.0.0.1", "localhost:5433"),
            ("* localhost:5432", "rebound.example:5432=127.0.0.1", "127.0.0.1:5432"),
            ("* localhost:5432", "127.0.0.2:5432", "127.0.0.2:5432"),
            ("", "127.0.0.1:80", "* localhost:80"),
            ("", "[::1]:80", "* localhost:80"),
            ("", "[::ffff:127.0.0.1]:80", "* localhost:80"),
            ("", "10.1.2.3:80", "* 10.1.2.3:80"),
            ("*", "db.example.org:5432=10.1.2.3", "10.1.2.3:5432"),
            ("db.example.org", "db.example.org:5432=10.1.2.3", "10.1.2.3:5432"),
            ("10.1.2.3", "db.example.org:5432=10.1.2.3", "db.example.org:5432"),
            ("* 10.1.2.3:80", "10.1.2.3:81", "10.1.2.3:81"),
            ("0.0.0.0/0", "10.1.2.3:80", "10.1.2.3:80"),
            ("0.0.0.0/0", "127.0.0.1:80", "localhost:80"),
            ("8.0.0.0/5", "10.1.2.3:80", "10.1.2.3:80"),
            ("::/0", "[fd00::1]:80", "[fd00::1]:80"),
            ("::/0", "[::ffff:10.0.0.1]:80", "10.0.0.1:80"),
            ("*", "169.254.169.254:80", "169.254.169.254:80"),
            ("169.254.0.0/16", "169.254.169.254:80", "169.254.169.254:80"),
            ("*", "meta.example:80=169.254.169.254", "169.254.169.254:80"),
            ("*", "me.example:80=5.5.5.5", "5.5.5.5:80"),
            ("5.0.0.0/8", "5.5.5.5:80", "5.5.5.5:80"),
            ("10.0.0.0/8", "10.9.9.9:80", "10.9.9.9:80"),
            ("*", "nas.example:80=2a02:1:2:3::8", "[2a02:1:2:3::8]:80"),
            ("", "[2a02:1:2:3::8]:80", "* [2a02:1:2:3::8]:80"),
            ("::/0", "[2a02:1:2:3::8]:80", "[2a02:1:2:3::8]:80"),
            ("2a02::/16", "[2a02:1:2:3::8]:80", "[2a02:1:2:3::8]:80"),
            ("*", "hidden.example:80=2002:0a00:0001::1", "[2002:a00:1::1]:80"),
            ("*", "hidden.example:80=64:ff9b::7f00:1", "[64:ff9b::7f00:1]:80"),
            ("*", "hidden.example:80=::ffff:10.0.0.1", "10.0.0.1:80"),
            ("*", "odd.example:80=0.0.0.0", "0.0.0.0:80"),
            ("*", "ours.example:80=198.18.0.7", "198.18.0.0/15"),
            ("", "ours.example:80=198.19.1.7", "* 198.18.0.0/15"),
            ("*", "198.18.0.7:80", "198.18.0.7:80"),
            ("*", "[ff02::1]:80", "[ff02::1]:80"),
        ] {
            let refusal = judged(rule, asked).expect_err(&format!("{rule} / {asked}"));
            let target = target(asked.split('=').next().unwrap());
            assert_eq!(refusal.remedy(&rules(rule), &target).join(" "), remedy, "{rule} / {asked}");
        }
    }

    #[test]
    fn who_asks_the_proxy_for_localhost_hears_where_the_boxs_own_ports_are() {
        for asked in ["localhost:3000=127.0.0.1", "a.localhost:3000=127.0.0.1", "127.0.0.1:3000", "[::1]:3000"] {
            let refusal = judged("", asked).expect_err(asked);
            assert_eq!(refusal, Refusal::Localhost, "{asked}");
            assert!(refusal.to_string().contains("reached without the proxy"), "{refusal}");
        }
        let elsewhere = judged("*", "rebound.example:3000=127.0.0.1");
        assert!(matches!(elsewhere, Err(Refusal::Place(Kind::Loopback, _))));
    }

    #[test]
    fn only_a_name_that_a_rule_lets_pass_is_asked_for() {
        assert!(may_ask(&rules(""), "a.example"));
        assert!(may_ask(&rules("*"), "a.example"));
        assert!(may_ask(&rules("a.example:22"), "a.example"));
        assert!(!may_ask(&rules("a.example 10.0.0.0/8"), "secret.b.example"));
    }

    #[test]
    fn names_and_addresses_in_every_clothing() {
        let parse = |text| Host::parse(text).map(|host| host.to_string());
        assert_eq!(parse("EXAMPLE.org."), Some("example.org".into()));
        assert_eq!(parse("[::1]"), Some("::1".into()));
        assert_eq!(parse("::ffff:10.0.0.1"), Some("10.0.0.1".into()));
        for bad in ["", ".", "a..b", "a b", "a/b", "a\0b", "ä.example", &"a".repeat(64), "[a]", "a:1", "*.a"]
        {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn what_a_resolver_would_read_as_an_address_is_no_name() {
        for bad in [
            "127.1",
            "127.1.",
            "2130706433",
            "0x7f.1",
            "0x7f000001",
            "0X7F000001",
            "127.0x1",
            "0x",
            "017700000001",
            "1.2.3.4.5",
            "-a.example",
            "--force",
        ] {
            assert_eq!(Host::parse(bad), None, "{bad:?}");
        }
        for good in ["1.example", "0xg", "3com.example", "a_b.example", "127.0.0.1.nip.example"] {
            assert!(matches!(Host::parse(good), Some(Host::Name(_))), "{good:?}");
        }
    }

    #[test]
    fn by_the_hosts_proxy_a_name_passes_that_is_not_known_here_to_lead_home() {
        for (rule, asked, here, passes) in [
            ("", "example.org:443", "", true),
            ("*", "example.org:443", "1.1.1.1", true),
            ("example.org", "example.org:22", "1.1.1.1 2606:4700::1111", true),
            ("", "localtest.example:5432", "127.0.0.1", false),
            ("*", "localtest.example:5432", "::1", false),
            ("*", "both.example:443", "1.1.1.1 10.1.2.3", false),
            ("* 10.1.2.3", "both.example:443", "1.1.1.1 10.1.2.3", true),
            ("*", "meta.example:80", "169.254.169.254", false),
            ("*", "me.example:80", "5.5.5.5", false),
            ("example.org", "example.com:443", "", false),
            ("", "nas:80", "", false),
            ("*", "ip6-localhost:80", "", false),
            ("*", "metadata.google.internal:80", "", false),
            ("*", "printer.local:631", "", false),
            ("* nas:80", "nas:80", "", true),
            ("nas:80", "nas:81", "", false),
            ("*.google.internal", "metadata.google.internal:80", "", true),
            ("*.google.internal", "metadata.google.internal:80", "169.254.169.254", false),
        ] {
            let here: Vec<IpAddr> = here.split_whitespace().map(|found| found.parse().unwrap()).collect();
            let judged = by_proxy(&rules(rule), &target(asked), &here, near);
            assert_eq!(judged.is_ok(), passes, "{rule} / {asked} / {here:?}");
        }
    }

    proptest! {
        /// Whatever the rules, an address that is not public passes only where a rule is about addresses.
        #[test]
        fn names_never_open_what_is_not_public(bits in any::<u32>(), port in 1_u16.., everything in any::<bool>()) {
            let address = IpAddr::from(bits.to_be_bytes());
            let rules = rules(if everything { "* a.example *.example" } else { "" });
            let target = Target { host: Host::Name("a.example".into()), port };
            let passes = super::address(&rules, &target, address, |_| Near::Far).is_ok();
            prop_assert_eq!(passes, kinds::kind(address) == Kind::Public);
        }

        /// The remedy is the truth: with it the same connection passes, and what passed before does too.
        #[test]
        fn a_remedy_helps(bits in any::<u32>(), port in 1_u16.., by_name in any::<bool>(), list in 0_usize..4) {
            let address = IpAddr::from(bits.to_be_bytes());
            let host = if by_name { Host::Name("a.example".into()) } else { Host::Address(address) };
            let target = Target { host, port };
            let mut rules = rules(["", "*", "b.example", "10.0.0.0/8"][list]);
            let judge = |rules: &[EgressRule]| super::address(rules, &target, address, |_| Near::Own);
            // The name, its place, and that the machine itself has it.
            for _ in 0..3 {
                if let Err(refusal) = judge(&rules) {
                    for rule in refusal.remedy(&rules, &target) {
                        rules.push(rule.parse().unwrap());
                    }
                }
            }
            prop_assert_eq!(judge(&rules), Ok(()));
        }
    }
}
