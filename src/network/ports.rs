//! Which ports of its own loopback a box finds taken: the proxy's, and those that its rules open on the host's.

use crate::config::EgressRule;

/// Where the proxy listens, unless a rule wants that port.
const PROXY: u16 = 3128;

/// The ports of the rules `localhost:PORT`, each once.
pub(crate) fn localhost(rules: &[EgressRule]) -> Vec<u16> {
    let mut ports: Vec<u16> = rules.iter().filter_map(EgressRule::localhost_port).collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

/// The port of the proxy.
pub(crate) fn proxy(rules: &[EgressRule]) -> u16 {
    let taken = localhost(rules);
    (PROXY..=u16::MAX).find(|port| !taken.contains(port)).unwrap_or(PROXY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proxy_makes_way_for_a_rule() {
        let rules = |text: &str| -> Vec<EgressRule> {
            text.split_whitespace().map(|rule| rule.parse().unwrap()).collect()
        };
        assert_eq!(proxy(&rules("* example.org:3128 localhost:5432")), 3128);
        let both = rules("localhost:3129 localhost:3128 localhost localhost:3129");
        assert_eq!((proxy(&both), localhost(&both)), (3130, vec![3128, 3129]));
    }
}
