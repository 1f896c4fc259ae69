//! The box's own name server, as far as bytes go: one question in, an address or nothing out.

use super::judge::Host;
use std::net::Ipv4Addr;

/// No answer of ours is longer: a question of at most 259 bytes, and one address.
pub(crate) const LONGEST: usize = 512;
const HEADER: usize = 12;
const IN: u16 = 1;
const A: u16 = 1;
const RESPONSE: u16 = 0x8000;
const OPCODE: u16 = 0x7800;
const RECURSION_DESIRED: u16 = 0x0100;
const RECURSION_AVAILABLE: u16 = 0x0080;
/// A name keeps its address for as long as the box lives; what reads this looks again before a resolver here has
/// forgotten that the name exists.
const SECONDS: u32 = 60;

/// A question that can be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    id: u16,
    flags: u16,
    /// The section as it came: names are answered in the letters in which they were asked.
    section: Vec<u8>,
    /// The name, when it is one of a host.
    pub(crate) name: Option<String>,
    /// Whether it asks for an IPv4 address.
    pub(crate) wants_address: bool,
}

/// What is said to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Address(Ipv4Addr),
    /// The name is there, what was asked about it is not.
    Nothing,
    NoSuchName,
    /// The host's resolver did not know either.
    Failed,
}

/// Reads a question.
///
/// # Errors
/// It is none that can be answered with data; with it, what to answer, if anything.
pub(crate) fn question(packet: &[u8]) -> Result<Question, Option<Vec<u8>>> {
    let (head, rest) = packet.split_at_checked(HEADER).ok_or(None)?;
    let word = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let (id, flags) = (word(0), word(2));
    if flags & RESPONSE != 0 {
        return Err(None);
    }
    if flags & OPCODE != 0 {
        return Err(Some(message(id, flags, 4, &[], None)));
    }
    let broken = || Err(Some(message(id, flags, 1, &[], None)));
    // One question, no answers; what EDNS adds at the end is of no use here.
    if word(4) != 1 || word(6) != 0 || word(8) != 0 {
        return broken();
    }
    let mut labels = Vec::new();
    let mut at = 0;
    loop {
        let Some(&length) = rest.get(at) else { return broken() };
        let length = usize::from(length);
        at += 1;
        if length == 0 {
            break;
        }
        // A pointer leads nowhere in the first name of a message.
        let Some(label) = rest.get(at..at + length).filter(|_| length < 64 && at + length < 255) else {
            return broken();
        };
        labels.push(String::from_utf8_lossy(label).into_owned());
        at += length;
    }
    let Some(&[k0, k1, c0, c1]) = rest.get(at..at + 4) else { return broken() };
    let (kind, class) = (u16::from_be_bytes([k0, k1]), u16::from_be_bytes([c0, c1]));
    let name = match Host::parse(&labels.join(".")) {
        Some(Host::Name(name)) => Some(name),
        // What looks like an address is asked about by nobody who means well.
        _ => None,
    };
    let wants_address = kind == A && class == IN;
    Ok(Question { id, flags, section: rest[..at + 4].to_vec(), name, wants_address })
}

/// The message that answers a question.
pub(crate) fn reply(question: &Question, answer: Answer) -> Vec<u8> {
    let (code, address) = match answer {
        Answer::Address(address) => (0, Some(address)),
        Answer::Nothing => (0, None),
        Answer::NoSuchName => (3, None),
        Answer::Failed => (2, None),
    };
    message(question.id, question.flags, code, &question.section, address)
}

fn message(id: u16, flags: u16, code: u16, section: &[u8], address: Option<Ipv4Addr>) -> Vec<u8> {
    let flags = RESPONSE | RECURSION_AVAILABLE | flags & (OPCODE | RECURSION_DESIRED) | code;
    let counts = [u16::from(!section.is_empty()), u16::from(address.is_some()), 0, 0];
    let mut message = Vec::with_capacity(HEADER + section.len() + 16);
    for word in [id, flags].into_iter().chain(counts) {
        message.extend(word.to_be_bytes());
    }
    message.extend(section);
    if let Some(address) = address {
        // The name is the question's, which begins right after the header.
        for word in [0xc000 | HEADER as u16, A, IN] {
            message.extend(word.to_be_bytes());
        }
        message.extend(SECONDS.to_be_bytes());
        message.extend(4_u16.to_be_bytes());
        message.extend(address.octets());
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn asked(name: &str, kind: u16) -> Vec<u8> {
        let mut packet = vec![0x12, 0x34, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
        for label in name.split('.') {
            packet.push(u8::try_from(label.len()).unwrap());
            packet.extend(label.bytes());
        }
        packet.extend([0, (kind >> 8) as u8, kind as u8, 0, 1]);
        packet
    }

    #[test]
    fn an_address_is_answered_in_the_letters_of_the_question() {
        let question = question(&asked("Example.ORG", A)).unwrap();
        assert_eq!(question.name.as_deref(), Some("example.org"));
        assert!(question.wants_address);
        let reply = reply(&question, Answer::Address(Ipv4Addr::new(198, 18, 0, 9)));
        assert_eq!(reply[..12], [0x12, 0x34, 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
        assert_eq!(reply[12..29], asked("Example.ORG", A)[12..29]);
        assert_eq!(reply[29..], [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 198, 18, 0, 9]);
    }

    #[test]
    fn other_kinds_have_no_data_and_names_that_are_not_there_no_name() {
        for kind in [28, 65, 64, 33, 15, 16, 12, 255] {
            assert!(!question(&asked("a.example", kind)).unwrap().wants_address, "{kind}");
        }
        let question = question(&asked("a.example", 28)).unwrap();
        assert_eq!(reply(&question, Answer::Nothing)[2..8], [0x81, 0x80, 0, 1, 0, 0]);
        assert_eq!(reply(&question, Answer::NoSuchName)[3], 0x83);
        assert_eq!(reply(&question, Answer::Failed)[3], 0x82);
    }

    #[test]
    fn what_is_broken_is_said_to_be() {
        let good = asked("a.example", A);
        let changed = |at: usize, byte: u8| {
            let mut packet = good.clone();
            packet[at] = byte;
            question(&packet)
        };
        let code = |result: Result<Question, Option<Vec<u8>>>| result.unwrap_err().unwrap()[3] & 15;
        assert_eq!(changed(2, 0x81), Err(None), "a response is not answered");
        assert_eq!(question(&good[..11]), Err(None));
        assert_eq!(code(changed(2, 0x28)), 4);
        assert_eq!(code(changed(5, 2)), 1);
        assert_eq!(code(changed(7, 1)), 1);
        assert_eq!(code(changed(12, 0xc0)), 1, "a pointer");
        assert_eq!(code(changed(12, 63)), 1);
        assert_eq!(code(question(&good[..good.len() - 1])), 1);
        assert_eq!(question(&asked("127.0.0.1", A)).unwrap().name, None);
        assert_eq!(question(&asked("127.1", A)).unwrap().name, None);
        assert_eq!(question(&asked("a b.example", A)).unwrap().name, None);
    }

    proptest! {
        #[test]
        fn no_packet_is_too_much(packet in prop::collection::vec(any::<u8>(), 0..600)) {
            match question(&packet) {
                Ok(question) => prop_assert!(reply(&question, Answer::Address(Ipv4Addr::LOCALHOST)).len() < LONGEST),
                Err(reply) => prop_assert!(reply.is_none_or(|reply| reply.len() == HEADER)),
            }
        }

        #[test]
        fn a_damaged_question_is_none_or_another(at in 0_usize..27, byte in any::<u8>()) {
            let mut packet = asked("a.example", A);
            packet[at] = byte;
            if let Ok(question) = question(&packet) {
                prop_assert!(packet.len() - HEADER >= question.section.len());
            }
        }
    }
}
