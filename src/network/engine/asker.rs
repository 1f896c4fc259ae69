//! Who waits for a name: connections, of which there are only so many, and questions, of which a box may ask any number.

use super::connection::Id;
use crate::network::dns::Question;
use crate::network::stack::packet::Flow;
use std::collections::{BTreeSet, HashMap};

/// So many questions wait for one name, and so many in all. Who asks in vain asks again.
const MOST_A_NAME: usize = 64;
const MOST: usize = 4096;

/// A question to the name server, and how it came.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) question: Question,
    pub(super) by: By,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum By {
    Udp(Flow),
    Tcp(Id),
}

/// Those who wait, by the name.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    names: HashMap<String, Askers>,
    /// How many questions wait for any of them.
    questions: usize,
}

/// Those who wait for one name.
#[derive(Debug, Default)]
pub(super) struct Askers {
    pub(super) connections: BTreeSet<Id>,
    pub(super) questions: Vec<Asked>,
}

impl Waiting {
    /// A connection waits for one name at a time.
    pub(super) fn connection(&mut self, name: String, id: Id) {
        self.names.entry(name).or_default().connections.insert(id);
    }

    /// Takes a question once, however often it is asked.
    ///
    /// # Errors
    /// There is no room: the question.
    pub(super) fn question(&mut self, name: String, asked: Asked) -> Result<(), Asked> {
        let known = self.names.get(&name).map_or(&[][..], |askers| &askers.questions);
        if known.contains(&asked) {
            return Ok(());
        }
        if known.len() >= MOST_A_NAME || self.questions >= MOST {
            return Err(asked);
        }
        self.questions += 1;
        self.names.entry(name).or_default().questions.push(asked);
        Ok(())
    }

    /// A connection does not wait any longer. The names are few: no more are looked up at once.
    pub(super) fn forget(&mut self, id: Id) {
        for askers in self.names.values_mut() {
            askers.connections.remove(&id);
        }
    }

    /// All who have waited for a name that is known now.
    pub(super) fn take(&mut self, name: &str) -> Askers {
        let askers = self.names.remove(name).unwrap_or_default();
        self.questions -= askers.questions.len();
        askers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::dns;

    fn asked(name: &str, number: u16) -> Asked {
        let mut packet = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        packet[..2].copy_from_slice(&number.to_be_bytes());
        for label in name.split('.') {
            packet.push(u8::try_from(label.len()).unwrap());
            packet.extend(label.bytes());
        }
        packet.extend([0, 0, 1, 0, 1]);
        let flow = Flow { source: ([198, 18, 0, 2], 5353).into(), target: ([198, 18, 0, 1], 53).into() };
        Asked { question: dns::question(&packet).unwrap(), by: By::Udp(flow) }
    }

    #[test]
    fn a_flood_of_questions_is_bounded_for_a_name_and_in_all() {
        let mut waiting = Waiting::default();
        let ask = |waiting: &mut Waiting, at: usize, names: usize| {
            let name = format!("n{}.example", at % names);
            let asked = asked(&name, u16::try_from(at / names % 60_000).unwrap());
            usize::from(waiting.question(name, asked).is_ok())
        };
        assert_eq!((0..50_000).map(|at| ask(&mut waiting, at, 1)).sum::<usize>(), MOST_A_NAME);
        assert_eq!(waiting.take("n0.example").questions.len(), MOST_A_NAME);
        assert_eq!((0..50_000).map(|at| ask(&mut waiting, at, 250)).sum::<usize>(), MOST);
        let kept = (0..250).map(|at| waiting.take(&format!("n{at}.example")).questions.len());
        assert_eq!((kept.sum::<usize>(), waiting.questions, waiting.names.len()), (MOST, 0, 0));
    }

    #[test]
    fn the_same_question_asked_again_is_the_same() {
        let mut waiting = Waiting::default();
        for number in [1, 2, 1, 1, 2] {
            waiting.question("a.example".into(), asked("a.example", number)).unwrap();
        }
        assert_eq!(waiting.take("a.example").questions, [asked("a.example", 1), asked("a.example", 2)]);
        assert!(waiting.take("a.example").questions.is_empty());
    }

    #[test]
    fn a_connection_that_has_ended_does_not_wait() {
        let mut waiting = Waiting::default();
        for id in 0..1000 {
            waiting.connection("a.example".into(), id);
            waiting.forget(id);
        }
        waiting.connection("a.example".into(), 7);
        assert_eq!(waiting.take("a.example").connections, BTreeSet::from([7]));
    }
}
