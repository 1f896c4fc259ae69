//! The pane that shows a box: the attach child, and what its end means.

use super::agent::{End, find_end};
use super::holding::{hold, hold_and_bring_back};
use super::terminal::{Keys, LoneKeys, Typed};
use crate::action::mapping::{ActionContext, box_id, is_deleted, title};
use crate::createos::{ProcessId, Provider};
use crate::error::Result;
use crate::exit::Exit;
use crate::fs::Lock;
use crate::paths::own_binary;
use crate::state::{Record, RecordId, Recorded};
use crate::ui;
use rustix::termios::Termios;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How long the first attach waits for a process to print something: into a terminal that shows nothing the
/// official program types Ctrl-L (docs/measured/createos-cli.md 3.8).
const FIRST_WORDS: Duration = Duration::from_secs(2);

/// A first attach that is lost sooner has answered nothing that a program asks at its start.
const ANSWERED: Duration = Duration::from_secs(3);

/// Shows a box until the person closes the pane. `_owned` is the record's lock: while this runs the
/// pane has an owner.
pub(crate) fn show(context: &ActionContext, id: &RecordId, _owned: &Lock) -> Result<()> {
    show_from(context, id, BackOff::default())
}

/// The same for a pane that nobody has asked for: the provider is asked what became of the box before anything
/// attaches to it, so that a box that is paused stays so.
pub(crate) fn show_restored(context: &ActionContext, id: &RecordId, _owned: &Lock) -> Result<()> {
    show_from(context, id, BackOff::after_a_restart(Instant::now()))
}

fn show_from(context: &ActionContext, id: &RecordId, back_off: BackOff) -> Result<()> {
    let mut watch = Watch { back_off, ..Watch::begin("closes this pane") };
    loop {
        match watch.until_over(context, id)? {
            Over::Left => return Ok(()),
            Over::Forgotten(last) => return hold(context, id, "its box was deleted", last.as_ref()),
            Over::Ended(record, end) => {
                let why = words(&record, &end);
                if matches!(end, End::Gone | End::Going) {
                    return hold(context, id, &why, Some(&record));
                }
                if !hold_and_bring_back(context, &why, &record)? {
                    return Ok(());
                }
            }
        }
    }
}

/// Why a box is shown no more.
pub(crate) enum Over {
    /// The person did not wait for a lost connection.
    Left,
    /// The record is gone, and with it the box; what it was, if it was seen.
    Forgotten(Option<Record>),
    Ended(Record, End),
}

/// A terminal that shows a box, over attaches and lost connections.
pub(crate) struct Watch {
    modes: Option<Termios>,
    back_off: BackOff,
    last: Option<Record>,
    /// What `q` does while a lost connection is waited for.
    quits: &'static str,
}

impl Watch {
    pub(crate) fn begin(quits: &'static str) -> Self {
        // Ctrl-C is the agent's; between two children it must not end the pane.
        let _ignored =
            signal_hook::flag::register(signal_hook::consts::SIGINT, Arc::new(AtomicBool::new(false)));
        Self { modes: ui::terminal::line_modes(), back_off: BackOff::default(), last: None, quits }
    }

    /// Shows the box until the attach ends for more than a lost connection.
    ///
    /// # Errors
    /// The state or the terminal cannot be read.
    pub(crate) fn until_over(&mut self, context: &ActionContext, id: &RecordId) -> Result<Over> {
        loop {
            let Some(mut record) = current(context, id, self.last.as_ref())? else {
                return Ok(Over::Forgotten(self.last.take()));
            };
            let (end, lasted) = match record.process.clone() {
                Some(process) => {
                    attempt(context, &mut record, &process, self.back_off.is_lost(), self.modes.as_ref())
                }
                None => (End::Exited(String::new()), Duration::ZERO),
            };
            // As it is now: somebody may have paused the box meanwhile, and said so.
            if let Some(now) = context.store.read()?.record(id) {
                record = now.clone();
            }
            self.last = Some(record.clone());
            let again = match end {
                End::Lost(_) => self.back_off.lost(Instant::now(), lasted).map(|wait| ("trying", wait)),
                End::Going => self.back_off.lost(Instant::now(), lasted).map(|wait| ("looking", wait)),
                End::Gone | End::Detached | End::Exited(_) | End::Paused | End::Failed => None,
            };
            let Some((what, wait)) = again else {
                self.back_off = BackOff::default();
                return Ok(Over::Ended(record, end));
            };
            let when = match wait.as_secs() {
                0 => "at once".to_owned(),
                seconds => format!("in {seconds} s (q {})", self.quits),
            };
            let (title, why) = (title(&record), words(&record, &end));
            ui::paragraph(format!("\n{title} in {}: {why}; {what} again {when}", record.name));
            if wait_or_quit(wait)? {
                return Ok(Over::Left);
            }
        }
    }
}

/// Shows the process until its attach ends; why it did, and how long it took. When the connection was lost
/// before, the provider is asked first: an attach that only waits for it must not count as a connection.
fn attempt(
    context: &ActionContext,
    record: &mut Record,
    process: &ProcessId,
    was_lost: bool,
    modes: Option<&Termios>,
) -> (End, Duration) {
    if was_lost {
        match find_end(context, record, process) {
            Ok(None) => {}
            Ok(Some(end)) => return (end, Duration::ZERO),
            Err(error) => return (End::Lost(error.message().to_owned()), Duration::ZERO),
        }
    }
    // Whoever wanted it shown has it now; a key from here on finds a box that had to be brought back.
    let _answered = std::fs::remove_file(context.store.wake_file(&record.id));
    let first = record.shown.as_ref() != Some(process);
    let attached = attach(context, record, process);
    ui::terminal::restore(modes);
    let (end, lasted) = match attached {
        Ok((says_detached, lasted)) => (judge(context, record, process, says_detached), lasted),
        // Nothing was proven, and the program may be back in a moment: it is being upgraded.
        Err(error) => (End::Lost(error.message().to_owned()), Duration::ZERO),
    };
    if first && lasted < ANSWERED && matches!(end, End::Lost(_)) {
        // It may have asked, and heard no answer: the next attach is its first.
        if let Err(error) = set_shown(context, record, None) {
            return (End::Lost(error.message().to_owned()), lasted);
        }
    }
    (end, lasted)
}

/// Says which process a terminal has shown.
fn set_shown(context: &ActionContext, record: &mut Record, process: Option<&ProcessId>) -> Result<()> {
    record.shown = process.cloned();
    context.store.change(&record.id, |record| record.shown = process.cloned())
}

/// The record, also one that the state has lost; `None` when its box was deleted.
fn current(context: &ActionContext, id: &RecordId, last: Option<&Record>) -> Result<Option<Record>> {
    match (context.store.read()?.record(id).cloned(), last) {
        (None, Some(last)) if !is_deleted(context, last)? => Ok(Some(last.clone())),
        (record, _) => Ok(record),
    }
}

/// Runs the attach child in the pane's own terminal. Only the child carries `HERDR_AGENT`: on the pane
/// it would stick to whatever runs there later (docs/measured/herdr.md 13). True when it says that the person has
/// detached, which counts only while the agent runs; and how long it took.
fn attach(context: &ActionContext, record: &mut Record, process: &ProcessId) -> Result<(bool, Duration)> {
    let provider = context.provider(record.provider)?;
    let id = box_id(record)?;
    // Settings that are wrong meanwhile must not shut a person in: the key is then the usual one.
    let key = context.config().map(|config| config.detach_key).unwrap_or_default();
    let mut run = provider.attach(&id, process, key);
    if !provider.kind().has().screen {
        // What was shown before is not to act a second time; what nobody has seen yet asks for its answers.
        let old = match record.shown.as_ref() == Some(process) {
            true => provider.process_get(&id, process).map_or(0, |view| view.output).to_string(),
            false => {
                wait_for_first_words(&provider, record, process)?;
                "none".to_owned()
            }
        };
        run = run.through(own_binary()?, ["herdr", "relay", &old]);
    }
    if record.shown.as_ref() != Some(process) {
        set_shown(context, record, Some(process))?;
    }
    let label = record.agent.get().ok().and_then(|agent| agent.spec().label.clone());
    let run = label.iter().fold(run, |run, label| run.env("HERDR_AGENT", label));
    let began = Instant::now();
    let code = run.run()?.code();
    Ok((Exit::of_program(code) == Exit::DETACHED, began.elapsed()))
}

/// Waits until the process has printed something, or has ended, or for two seconds.
fn wait_for_first_words(provider: &Provider, record: &Record, process: &ProcessId) -> Result<()> {
    let (id, began) = (box_id(record)?, Instant::now());
    while began.elapsed() < FIRST_WORDS {
        match provider.process_get(&id, process) {
            Ok(view) if view.running && view.output == 0 => std::thread::sleep(Duration::from_millis(100)),
            // Whatever is wrong, the attach meets it too, and its end is judged.
            Ok(_) | Err(_) => break,
        }
    }
    Ok(())
}

fn judge(context: &ActionContext, record: &Record, process: &ProcessId, says_detached: bool) -> End {
    match find_end(context, record, process) {
        Ok(Some(end)) => end,
        // The agent runs. A stream that simply ends has the exit code of a detach; only that says so.
        Ok(None) if says_detached => End::Detached,
        Ok(None) => End::Lost("the connection to the box was lost".into()),
        Err(error) => End::Lost(error.message().to_owned()),
    }
}

fn words(record: &Record, end: &End) -> String {
    match end {
        End::Detached => "this pane is detached, the agent runs on in the box".into(),
        End::Exited(how) if how.is_empty() => "the agent has ended".into(),
        End::Exited(how) => format!("the agent has ended, {how}"),
        End::Paused => match &record.auto_pause {
            Recorded::Known(after) if !record.paused_by_hand => {
                format!("the box is paused; it pauses after {after} without activity")
            }
            _ => "the box is paused".into(),
        },
        End::Failed => "the box has failed".into(),
        End::Going => "its box is being deleted".into(),
        End::Gone => "its box was deleted".into(),
        End::Lost(why) => ui::visible(why),
    }
}

/// Waits, but a `q` ends it: true.
fn wait_or_quit(limit: Duration) -> Result<bool> {
    if limit.is_zero() {
        return Ok(false);
    }
    if !std::io::stdin().is_terminal() {
        std::thread::sleep(limit);
        return Ok(false);
    }
    let keys = Keys::take()?;
    let began = Instant::now();
    let mut lone = LoneKeys::new(began);
    while began.elapsed() < limit || lone.is_waiting() {
        let left = limit.saturating_sub(began.elapsed());
        let typed = keys.read(left.clamp(Duration::from_millis(10), Duration::from_millis(250)));
        match (lone.take(&typed, Instant::now()), typed) {
            (Some(b'q'), _) | (_, Typed::Ended) => return Ok(true),
            _ => {}
        }
    }
    Ok(false)
}

/// The wait after a try at once; each one after it is twice as long.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait between two tries.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// An attach that lasted so long was a connection; the back-off starts anew.
const WAS_CONNECTED: Duration = Duration::from_secs(30);
/// After so long without a connection the person decides.
const GIVE_UP: Duration = Duration::from_secs(300);

/// The waits since a connection was lost.
#[derive(Debug, Default)]
struct BackOff {
    lost_since: Option<Instant>,
    /// None: the next try is the first one, at once.
    wait: Option<Duration>,
}

impl BackOff {
    /// Herdr's end was the end of every connection.
    fn after_a_restart(now: Instant) -> Self {
        Self { lost_since: Some(now), wait: None }
    }

    /// A connection is lost and has not come back.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost_since.is_some()
    }

    /// The connection ended at `now`, after an attach that took `lasted`. How long to wait before the next try,
    /// the first time not at all; `None`: it was tried for long enough.
    pub(crate) fn lost(&mut self, now: Instant, lasted: Duration) -> Option<Duration> {
        if lasted > WAS_CONNECTED {
            *self = Self::default();
        }
        let since = *self.lost_since.get_or_insert(now);
        if now.duration_since(since) >= GIVE_UP {
            *self = Self::default();
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
        let (mut back_off, mut now) = (BackOff::default(), Instant::now());
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
        let (mut back_off, mut now) = (BackOff::default(), Instant::now());
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
