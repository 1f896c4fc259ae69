//! A signal that ends us ends what we run, too: programs in groups of their own do not hear the terminal's.

use rustix::process::{
    Pid, Signal, kill_process, kill_process_group, test_kill_process, test_kill_process_group,
};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Programs that run. The lock is held while one is started, so that none is missed.
static RUNNING: Mutex<Vec<Running>> = Mutex::new(Vec::new());
/// Raised by the first signal, in its handler.
static ENDING: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// How long they have to end by themselves.
const GRACE: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(10);

/// A program, or the group that it leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Running {
    pid: Pid,
    leads: bool,
}

impl Running {
    fn of_child(child: &Child, leads: bool) -> Option<Self> {
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw)?;
        Some(Self { pid, leads })
    }

    fn tell(self, signal: Signal) {
        let kill = if self.leads { kill_process_group } else { kill_process };
        let _already_gone = kill(self.pid, signal);
    }

    fn is_there(self) -> bool {
        let test = if self.leads { test_kill_process_group } else { test_kill_process };
        test(self.pid).is_ok()
    }
}

/// From now on TERM, INT, HUP and QUIT end every program that we run, and then us as they always did. Nothing else of
/// ours goes on meanwhile that waits for such a program or starts one. While `asks` says so, a question takes INT.
/// Before we end, `last_words` says what is left half done.
///
/// # Errors
/// The handlers cannot be set.
pub(crate) fn end_together(asks: fn() -> bool, last_words: fn()) -> std::io::Result<()> {
    let all = [SIGTERM, SIGINT, SIGHUP, SIGQUIT];
    for signal in all {
        signal_hook::flag::register(signal, Arc::clone(&ENDING))?;
    }
    let mut signals = signal_hook::iterator::Signals::new(all)?;
    std::thread::spawn(move || {
        let Some(signal) = signals.forever().find(|signal| {
            let taken = *signal == SIGINT && asks();
            if taken {
                ENDING.store(false, Ordering::SeqCst);
            }
            !taken
        }) else {
            return;
        };
        let running = running();
        running.iter().for_each(|program| program.tell(Signal::TERM));
        let mut left = GRACE;
        while running.iter().any(|program| program.is_there()) && !left.is_zero() {
            std::thread::sleep(LOOK);
            left = left.saturating_sub(LOOK);
        }
        running.iter().for_each(|program| program.tell(Signal::KILL));
        last_words();
        // It does not come back; the lock is never given back.
        let _unheard_of = signal_hook::low_level::emulate_default_handler(signal);
    });
    Ok(())
}

/// Stays here for the rest of the process when a signal is about to end it, so that no half of a report is printed.
pub(crate) fn stay_when_ending() {
    while ENDING.load(Ordering::SeqCst) {
        std::thread::sleep(LOOK);
    }
}

/// Starts a program; `leads` says whether it gets a group of its own.
pub(super) fn start(leads: bool, start: impl FnOnce() -> std::io::Result<Child>) -> std::io::Result<Child> {
    let mut running = running();
    let child = start()?;
    running.extend(Running::of_child(&child, leads));
    Ok(child)
}

/// Signals a program that leads its group, and all that it has started.
pub(crate) fn tell_group(child: &Child, signal: Signal) {
    Running::of_child(child, true).into_iter().for_each(|group| group.tell(signal));
}

/// It has ended and was waited for.
pub(super) fn ended(child: &Child) {
    let mut running = running();
    running.retain(|program| Some(program.pid) != Running::of_child(child, false).map(|known| known.pid));
}

fn running() -> MutexGuard<'static, Vec<Running>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}
