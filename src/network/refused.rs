//! What a box was refused: by name and port, how often, and what would let it pass.

use super::judge::{Refusal, Target};
use crate::config::EgressRule;
use serde::{Deserialize, Serialize};

/// So many different targets are told apart; a box must not fill the host's memory with names.
const MOST: usize = 256;

/// One target that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refused {
    /// Name or address, and port.
    pub(crate) target: String,
    pub(crate) count: u64,
    /// Why, in words.
    pub(crate) reason: String,
    /// The rules that would let it pass.
    pub(crate) remedy: Vec<String>,
}

/// All of them, in the order in which they were first refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusals {
    pub(crate) targets: Vec<Refused>,
    /// How often something else was refused when there was no more room.
    pub(crate) others: u64,
}

impl Refusals {
    pub(crate) fn add(&mut self, rules: &[EgressRule], target: &Target, refusal: Refusal) {
        let text = target.to_string();
        if let Some(known) = self.targets.iter_mut().find(|known| known.target == text) {
            known.count += 1;
        } else if self.has_room() {
            self.targets.push(Refused {
                target: text,
                count: 1,
                reason: refusal.to_string(),
                remedy: refusal.remedy(rules, target),
            });
        } else {
            self.others += 1;
        }
    }

    /// Whether there is room for one more: the oldest that was refused only once makes way, so that a flood of names does
    /// not hide what comes later.
    fn has_room(&mut self) -> bool {
        if self.targets.len() < MOST {
            return true;
        }
        let Some(oldest) = self.targets.iter().position(|known| known.count == 1) else { return false };
        self.targets.remove(oldest);
        self.others += 1;
        true
    }

    /// These, and what came later.
    pub(crate) fn and(mut self, later: &Self) -> Self {
        self.others += later.others;
        for new in &later.targets {
            if let Some(known) = self.targets.iter_mut().find(|known| known.target == new.target) {
                // The rules are the box's, and the newest words are about them.
                *known = Refused { count: known.count + new.count, ..new.clone() };
            } else if self.has_room() {
                self.targets.push(new.clone());
            } else {
                self.others += new.count;
            }
        }
        self
    }

    /// How often anything was refused.
    #[cfg(test)]
    pub(crate) fn count(&self) -> u64 {
        self.others + self.targets.iter().map(|refused| refused.count).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::judge::Host;

    #[test]
    fn the_same_target_is_counted_and_a_flood_of_names_is_bounded() {
        let mut refusals = Refusals::default();
        let mut refuse = |name: String| {
            let host = Host::parse(&name).unwrap();
            refusals.add(&[], &Target { host, port: 443 }, Refusal::NotListed);
        };
        for _ in 0..2 {
            refuse("wanted.example".into());
        }
        for at in 0..1000 {
            refuse(format!("n{at}.example"));
        }
        refuse("late.example".into());
        assert_eq!(refusals.count(), 1003);
        assert_eq!(refusals.targets.len(), MOST);
        assert_eq!(refusals.targets[0].count, 2);
        assert_eq!(refusals.targets[0].remedy, ["*", "wanted.example:443"]);
        assert_eq!(refusals.targets[MOST - 1].target, "late.example:443");
        assert_eq!(Refusals::default().and(&refusals), refusals);
    }
}
