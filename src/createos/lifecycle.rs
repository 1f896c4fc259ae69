//! `sandbox pause`, `resume` and `rm`.

use super::json;
use super::provider::ASK;
use super::{BoxId, Failure, Provider, Refusal, Status};
use serde_json::Value;
use std::time::{Duration, Instant};

/// The CLI itself polls for up to 5 minutes (docs/measured/createos-cli.md 4.1).
const TRANSITION: Duration = Duration::from_secs(330);

impl Provider {
    /// Takes a snapshot and stops the sandbox.
    ///
    /// # Errors
    /// The provider's refusal; a paused box is one.
    pub(crate) fn pause(&self, id: &BoxId) -> Result<(), Failure> {
        self.transition("pause", id)
    }

    /// Brings a paused sandbox back.
    ///
    /// # Errors
    /// The provider's refusal.
    pub(crate) fn resume(&self, id: &BoxId) -> Result<(), Failure> {
        self.transition("resume", id)
    }

    fn transition(&self, verb: &str, id: &BoxId) -> Result<(), Failure> {
        let full = format!("sandbox {verb}");
        self.finish(&full, self.json(TRANSITION).args([verb, id.as_str()])).map(|_| ())
    }

    /// Deletes a sandbox for ever. One that is already destroyed is fine.
    ///
    /// # Errors
    /// The provider's refusal, also one that stands only in the document (docs/measured/createos-cli.md 3.11).
    pub(crate) fn remove(&self, id: &BoxId) -> Result<(), Failure> {
        const VERB: &str = "sandbox rm";
        let run = self.json(2 * ASK).args(["rm", "--yes", id.as_str()]);
        let ended = run.run().map_err(|error| Failure::from_exec(VERB, &error))?;
        let document = json::first_document(&ended.stdout_text()).unwrap_or(Value::Null);
        let results = document.get("results").and_then(Value::as_array);
        let refused = results
            .into_iter()
            .flatten()
            .find(|row| row.get("deleted").and_then(Value::as_bool) == Some(false));
        if let Some(row) = refused {
            let words = json::text(row, "error").unwrap_or("it was not deleted");
            let refusal = if words.contains("not found") { Refusal::NotFound } else { Refusal::Other };
            return Err(Failure { refusal, verb: VERB.into(), words: words.into() });
        }
        if ended.success() {
            return Ok(());
        }
        let mut failure = self.failed(VERB, &ended);
        // As text each reason has its box before it.
        if let Some(reason) = failure.words.strip_prefix(&format!("{id}: ")) {
            failure.words = reason.to_owned();
        }
        Err(failure)
    }

    /// Waits until the sandbox runs: after `create` and `resume` there is a short time in which it
    /// is "not found" or not yet up (docs/measured/createos-cli.md 3.11).
    ///
    /// # Errors
    /// It does not run within `limit`, or has a status from which it will not.
    pub(crate) fn wait_running(&self, id: &BoxId, limit: Duration) -> Result<(), Failure> {
        const VERB: &str = "waiting for the box";
        let started = Instant::now();
        let mut pause = Duration::from_millis(100);
        loop {
            let last = match self.get(id) {
                Ok(view) => match view.status {
                    Status::Running => return Ok(()),
                    Status::Failed | Status::Destroying | Status::Destroyed => {
                        return Err(Failure::other(VERB, format!("it is {}", view.status)));
                    }
                    status => format!("it is still {status}"),
                },
                Err(failure) if failure.refusal == Refusal::NotFound => failure.words,
                Err(failure) => return Err(failure),
            };
            if started.elapsed() + pause > limit {
                let words = format!("{last} after {} s", limit.as_secs());
                return Err(Failure { refusal: Refusal::TimedOut, verb: VERB.into(), words });
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }
}
