//! Whether a box may connect: rules, name, port, address in, yes or the reason out. Nothing else is looked at.

#[cfg(test)]
mod tests;

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
            if is_localhost_port(rules, target) {
                Ok(())
            } else {
                Err(Refusal::Localhost)
            }
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
            Self::Place(_, address) | Self::Own(address) | Self::Neighbour(address) => {
                rule(&Host::Address(address), target.port)
            }
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
