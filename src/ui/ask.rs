//! One question, on a terminal only.

use crate::error::{Error, Kind, Result};
use signal_hook::consts::SIGINT;
use std::io::{self, IsTerminal};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// False while a question waits: Ctrl-C ends the question then, and not the process.
static NOTHING_IS_ASKED: AtomicBool = AtomicBool::new(true);

/// Whether a person sits at both ends: what we print is read, and an answer can be typed.
pub(crate) fn is_on_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// Whether a question waits, which Ctrl-C is for then; or was ended by it, and this process is about to end.
pub(crate) fn is_asking() -> bool {
    !NOTHING_IS_ASKED.load(Ordering::SeqCst)
}

/// Asks a yes-or-no question; Enter alone is `default`.
///
/// # Errors
/// The terminal cannot be read, or the person pressed Ctrl-C.
pub(crate) fn confirm(question: &str, default: bool) -> Result<bool> {
    let asking = Asking::begin()?;
    let asked = dialoguer::Confirm::new().with_prompt(question).default(default).interact();
    asked.map_err(|dialoguer::Error::IO(source)| {
        // The question hides the cursor, and only an answer shows it again.
        let _gone = super::raw_note(b"\x1b[?25h\n");
        if source.kind() == io::ErrorKind::Interrupted {
            // The signal may still be on its way to those who would end us by it.
            std::mem::forget(asking);
            return Error::new(
                Kind::Interrupted,
                "stopped at the question; what it asked about was not done",
            );
        }
        Error::cannot_run(format!("the question cannot be asked: {source}")).help("answer it with --yes")
    })
}

/// Lives as long as a question waits.
struct Asking;

impl Asking {
    fn begin() -> Result<Self> {
        static REGISTERED: OnceLock<io::Result<()>> = OnceLock::new();
        let registered = REGISTERED.get_or_init(|| {
            signal_hook::flag::register_conditional_default(SIGINT, &NOTHING_IS_ASKED).map(|_| ())
        });
        if let Err(source) = registered {
            return Err(Error::cannot_run(format!("could not listen for Ctrl-C: {source}")));
        }
        NOTHING_IS_ASKED.store(false, Ordering::SeqCst);
        Ok(Self)
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        NOTHING_IS_ASKED.store(true, Ordering::SeqCst);
    }
}
