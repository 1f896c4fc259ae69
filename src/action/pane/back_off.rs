//! When a lost connection is tried again, and when that is left to the person.

use std::time::{Duration, Instant};

/// The wait after a try at once; each one after it is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// An attach that lasted so long was a connection; the back-off starts anew.
const WAS_CONNECTED: Duration = Duration::from_secs(30);
/// After so long without a connection the person decides.
const GIVE_UP: Duration = Duration::from_secs(300);

/// The waits since a connection was lost.
#[derive(Debug)]
pub(crate) struct BackOff {
    lost_since: Option<Instant>,
    /// None: the next try is the first one, at once.
    wait: Option<Duration>,
}

impl BackOff {
    pub(crate) fn new() -> Self {
        Self { lost_since: None, wait: None }
    }

    /// A connection is lost and has not come back.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost_since.is_some()
    }

    /// The connection ended at `now`, after an attach that took `lasted`. How long to wait before the next try,
    /// the first time not at all; `None`: it was tried for long enough.
    pub(crate) fn lost(&mut self, now: Instant, lasted: Duration) -> Option<Duration> {
        if lasted > WAS_CONNECTED {
            *self = Self::new();
        }
        let since = *self.lost_since.get_or_insert(now);
        if now.duration_since(since) >= GIVE_UP {
            *self = Self::new();
            return None;
        }
        let wait = self.wait.unwrap_or(Duration::ZERO);
        self.wait = Some((wait * 2).clamp(FIRST_WAIT, LONGEST_WAIT));
        Some(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The waits of tries that each take `lasted` seconds, until it is given up.
    fn waits(back_off: &mut BackOff, now: &mut Instant, lasted: u64) -> Vec<u64> {
        let lasted = Duration::from_secs(lasted);
        let mut waits = Vec::new();
        while let Some(wait) = back_off.lost(*now, lasted) {
            waits.push(wait.as_secs());
            *now += wait + lasted;
            assert!(waits.len() < 1_000, "it is never given up: {waits:?}");
        }
        waits
    }

    #[test]
    fn waits_grow_to_half_a_minute_and_end_after_five_minutes() {
        let (mut back_off, mut now) = (BackOff::new(), Instant::now());
        assert!(!back_off.is_lost());
        let first = now;
        let waited = waits(&mut back_off, &mut now, 0);
        assert_eq!(waited[..8], [0, 1, 2, 4, 8, 16, 30, 30]);
        assert!(waited[6..].iter().all(|wait| *wait == 30), "{waited:?}");
        assert_eq!((now - first).as_secs(), 301, "the first look after 300 s");
        assert!(!back_off.is_lost(), "what the person wants then is a new beginning");
        // Tries that take their time count too.
        assert_eq!(waits(&mut back_off, &mut now, 29).len(), 8);
    }

    #[test]
    fn an_attach_that_was_a_connection_starts_the_waits_anew() {
        let (mut back_off, mut now) = (BackOff::new(), Instant::now());
        for (lasted, wait) in [(3_600, 0), (0, 1), (30, 2), (31, 0), (0, 1), (0, 2)] {
            now += Duration::from_secs(lasted);
            assert_eq!(back_off.lost(now, Duration::from_secs(lasted)), Some(Duration::from_secs(wait)));
            assert!(back_off.is_lost());
        }
        // One that is lost after hours is not given up for a loss of before.
        now += Duration::from_secs(7_200);
        assert_eq!(back_off.lost(now, Duration::from_secs(7_200)), Some(Duration::ZERO));
    }
}
