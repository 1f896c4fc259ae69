//! Where a box may connect to: an allow-list.

use super::names::asks_for_help;
use crate::error::Error;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// One rule of the allow-list: `host`, `*.host`, an address, a range in CIDR notation, each with an
/// optional `:port`, or `*` (docs/measured/createos-cli.md 4.3). Kept as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EgressRule {
    text: String,
    target: Target,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Target {
    Everything,
    Host(String),
    Below(String),
    Address(IpAddr),
    Range(IpAddr, u8),
}

impl EgressRule {
    /// The rule's text.
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether the rule certainly lets a connection to this name and port pass. A rule about addresses
    /// may do so too, but that depends on the name's address.
    pub(crate) fn lets_pass(&self, host: &str, port: u16) -> bool {
        let host = host.to_ascii_lowercase();
        let matches = match &self.target {
            Target::Everything => true,
            Target::Host(name) => *name == host,
            Target::Below(name) => host.strip_suffix(name.as_str()).is_some_and(|sub| sub.ends_with('.')),
            Target::Address(_) | Target::Range(..) => false,
        };
        matches && self.takes_port(port)
    }

    fn takes_port(&self, port: u16) -> bool {
        self.port.is_none_or(|only| only == port)
    }

    /// The only port of the rule; any when `None`.
    #[cfg(target_os = "linux")]
    pub(crate) fn port(&self) -> Option<u16> {
        self.port
    }

    /// Whether the rule is `*`.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_everything(&self) -> bool {
        self.target == Target::Everything
    }

    /// The range that a rule about addresses gives for this port: an address alone has its family's longest prefix.
    #[cfg(target_os = "linux")]
    pub(crate) fn range(&self, port: u16) -> Option<(IpAddr, u8)> {
        let range = match self.target {
            Target::Address(address) => (address, if address.is_ipv4() { 32 } else { 128 }),
            Target::Range(address, prefix) => (address, prefix),
            Target::Everything | Target::Host(_) | Target::Below(_) => return None,
        };
        self.takes_port(port).then_some(range)
    }

    /// The port of a rule `localhost:PORT`.
    #[cfg(target_os = "linux")]
    pub(crate) fn localhost_port(&self) -> Option<u16> {
        self.port.filter(|_| self.target == Target::Host("localhost".into()))
    }

    /// Whether a text is the name of a host: none that a resolver would read as a number, and so as an address.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_host(name: &str) -> bool {
        is_host(name)
    }

    /// Whether the rule names this machine's loopback, or what is below that name.
    pub(crate) fn is_localhost(&self) -> bool {
        [Target::Host("localhost".into()), Target::Below("localhost".into())].contains(&self.target)
    }

    /// Whether the rule is `localhost` without a port, which opens nothing: this machine is opened port by port.
    pub(crate) fn is_bare_localhost(&self) -> bool {
        self.port.is_none() && self.target == Target::Host("localhost".into())
    }

    /// Whether the rule is about addresses, so that it may let pass what no name says.
    pub(crate) fn is_about_addresses(&self) -> bool {
        matches!(self.target, Target::Address(_) | Target::Range(..))
    }
}

impl fmt::Display for EgressRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for EgressRule {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let rule = |target, port| Ok(Self { text: text.into(), target, port });
        if text == "*" {
            return rule(Target::Everything, None);
        }
        if let Some(target) = numeric(text) {
            return rule(target, None);
        }
        let (rest, port) = match text.rsplit_once(':') {
            // The standard parser would take "+443" too.
            Some((rest, port)) if port.starts_with(|c: char| c.is_ascii_digit()) => match port.parse() {
                Ok(port @ 1..) => (rest, Some(port)),
                _ => return Err(wrong(text)),
            },
            Some(_) => return Err(wrong(text)),
            None => (text, None),
        };
        let bracketed = rest.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(target) = numeric(bracketed.unwrap_or(rest)) {
            let is_v6_without_brackets = bracketed.is_none() && rest.contains(':');
            return if is_v6_without_brackets { Err(wrong(text)) } else { rule(target, port) };
        }
        let (name, below) = rest.strip_prefix("*.").map_or((rest, false), |name| (name, true));
        if !is_host(name) || asks_for_help(text) {
            return Err(wrong(text));
        }
        let name = name.to_ascii_lowercase();
        rule(if below { Target::Below(name) } else { Target::Host(name) }, port)
    }
}

fn wrong(text: &str) -> Error {
    Error::usage(format!("egress rule \"{text}\" is not accepted"))
        .help("use a host, *.host, an address or a range (10.0.0.0/8), each with an optional :port, or *")
}

/// An address, or a range with a prefix length that its family has.
fn numeric(text: &str) -> Option<Target> {
    let Some((address, prefix)) = text.split_once('/') else {
        return text.parse().ok().map(Target::Address);
    };
    let address = address.parse::<IpAddr>().ok()?;
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let is_number = !prefix.is_empty() && prefix.len() <= 3 && prefix.bytes().all(|b| b.is_ascii_digit());
    let prefix = prefix.parse::<u8>().ok().filter(|prefix| is_number && *prefix <= longest)?;
    Some(Target::Range(address, prefix))
}

/// A host name of letters, digits and hyphens (RFC 1123), no number at the end: `127.1` and `0x7f000001` are addresses
/// to many resolvers.
fn is_host(name: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    name.len() <= 253 && name.split('.').all(label) && !name.rsplit('.').next().is_some_and(is_number)
}

/// Decimal, octal or hexadecimal.
fn is_number(label: &str) -> bool {
    let hexadecimal = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    hexadecimal.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
        || label.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_the_contract_is_accepted() {
        for good in [
            "github.com",
            "*.github.com",
            "localhost",
            "github.com:443",
            "*.example.com:8443",
            "10.1.2.3",
            "10.1.2.3:80",
            "10.0.0.0/8",
            "10.0.0.0/8:443",
            "::1",
            "2001:db8::/32",
            "[2001:db8::1]:443",
            "*",
        ] {
            assert_eq!(good.parse::<EgressRule>().unwrap().to_string(), good);
        }
    }

    #[test]
    fn urls_lists_and_typing_errors_are_refused() {
        for bad in [
            "",
            "https://github.com",
            "github.com/x",
            "a,b",
            "a b",
            "a.",
            ".a",
            "*x.com",
            "*.",
            "a:0",
            "a:+443",
            "a:99999",
            "a:",
            "10.0.0.0/33",
            "256.1.1.1",
            "1.2.3",
            "0x7f000001",
            "a.0X7F",
            "-a.com",
            "--egress",
        ] {
            assert!(bad.parse::<EgressRule>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_rule_lets_its_own_host_pass_and_no_other() {
        let passes = |rule: &str, host| rule.parse::<EgressRule>().unwrap().lets_pass(host, 443);
        assert!(passes("Claude.ai", "claude.ai"));
        assert!(passes("*.claude.ai", "downloads.claude.ai"));
        assert!(!passes("*.claude.ai", "claude.ai"));
        assert!(!passes("*.ai", "claudexai"));
        assert!(!passes("claude.ai:80", "claude.ai"));
        assert!(passes("*", "anything.example"));
    }

    #[test]
    fn localhost_is_a_port_or_nothing() {
        let bare = |rule: &str| rule.parse::<EgressRule>().unwrap().is_bare_localhost();
        assert!(bare("localhost") && bare("LOCALHOST"));
        assert!(!bare("localhost:5432") && !bare("*.localhost") && !bare("*") && !bare("127.0.0.1"));
        let named = |rule: &str| rule.parse::<EgressRule>().unwrap().is_localhost();
        assert!(named("localhost") && named("Localhost:80") && named("*.localhost:80"));
        assert!(!named("*") && !named("127.0.0.1") && !named("localhost.example.com"));
    }
}
