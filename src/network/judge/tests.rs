//! What passes and what does not, by table and by chance.

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
