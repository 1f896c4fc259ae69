//! An address of the box's own for every name that it asks for: a connection to it is one to the name, whatever
//! program makes it.

use std::collections::HashMap;
use std::net::Ipv4Addr;

/// The block for tests of network devices, which is no place on the internet.
const FIRST: u32 = Ipv4Addr::new(198, 18, 1, 0).to_bits();
const LAST: u32 = Ipv4Addr::new(198, 19, 255, 254).to_bits();
/// The name server in the box, and where its packets come out.
pub(crate) const SERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);

/// Names and their addresses, for as long as the box lives: some programs never ask twice.
#[derive(Debug, Default)]
pub(crate) struct Names {
    by_name: HashMap<String, Ipv4Addr>,
    names: Vec<String>,
}

impl Names {
    /// The address of a name; `None` when there are no more.
    pub(crate) fn address(&mut self, name: &str) -> Option<Ipv4Addr> {
        if let Some(address) = self.by_name.get(name) {
            return Some(*address);
        }
        let bits = FIRST.checked_add(u32::try_from(self.names.len()).ok()?).filter(|bits| *bits <= LAST)?;
        let address = Ipv4Addr::from_bits(bits);
        self.names.push(name.to_owned());
        self.by_name.insert(name.to_owned(), address);
        Some(address)
    }

    /// The name of an address that was given to one.
    pub(crate) fn name(&self, address: Ipv4Addr) -> Option<&str> {
        let place = address.to_bits().checked_sub(FIRST)?;
        self.names.get(usize::try_from(place).ok()?).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_address_and_no_two_share_one() {
        let mut names = Names::default();
        let first = names.address("a.example").unwrap();
        let second = names.address("b.example").unwrap();
        assert_ne!(first, second);
        assert_eq!(names.address("a.example"), Some(first));
        assert_eq!(names.name(second), Some("b.example"));
        assert_eq!(names.name(Ipv4Addr::new(198, 18, 9, 9)), None);
        assert_eq!(names.name(SERVER), None);
    }

    #[test]
    fn when_all_are_given_away_there_is_none_and_no_old_one_is_given_again() {
        let mut names = Names::default();
        let given = (0..).map_while(|at| names.address(&format!("n{at}"))).count();
        assert_eq!(given, (LAST - FIRST + 1) as usize);
        assert_eq!(names.name(Ipv4Addr::from_bits(LAST)), Some(format!("n{}", given - 1).as_str()));
    }
}
