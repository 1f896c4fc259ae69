//! A sandbox from its making to its end: `sandbox create`, `get`, `pause`, `resume` and `rm`.

use super::provider::ASK;
use super::{BoxId, BoxName, Failure, Provider, Refusal, Result, Scope, Status, json};
use crate::config::Network;
use serde_json::Value;
use std::time::{Duration, Instant};

/// The service answers when the box is up.
const CREATE: Duration = Duration::from_secs(300);

/// What a new sandbox should be.
#[derive(Debug, Clone)]
pub(crate) struct CreateSpec {
    pub(crate) name: BoxName,
    /// Its shape, as `s-2vcpu-4gb`.
    pub(crate) shape: String,
    /// Its image; the provider's default when `None`.
    pub(crate) rootfs: Option<String>,
    /// Duration text, 1 minute to 24 hours, as `30m`.
    pub(crate) auto_pause: Option<String>,
    /// Allowed hosts; empty allows everything.
    pub(crate) egress: Vec<String>,
    /// Variables of every program in it; a value cannot have a comma.
    pub(crate) env: Vec<(String, String)>,
    /// Its network; only the local provider lets that be chosen.
    pub(crate) network: Network,
    /// Its programs bring a sandbox of their own. Only the local provider has to be told.
    pub(crate) nested: bool,
}

impl Provider {
    /// Makes a sandbox. An answer that cannot be read is no failure by itself: the box is then
    /// looked up by its name (docs/measured/createos-cli.md 3.11).
    ///
    /// # Errors
    /// The provider's refusal, or no box of that name exists afterwards. A box may exist all the same:
    /// [`Failure::may_have_happened`].
    pub(crate) fn create(&self, spec: &CreateSpec) -> Result<BoxId> {
        const VERB: &str = "sandbox create";
        let mut run =
            self.json(CREATE).args(["create", "--name", spec.name.as_str(), "--shape", &spec.shape]);
        if let Some(rootfs) = &spec.rootfs {
            run = run.args(["--rootfs", rootfs]);
        }
        if let Some(auto_pause) = &spec.auto_pause {
            run = run.args(["--auto-pause", auto_pause]);
        }
        for rule in &spec.egress {
            // A comma would split the value in two (docs/measured/createos-cli.md 3.12).
            if rule.contains(',') {
                return Err(Failure::other(VERB, format!("egress rule \"{rule}\" has a comma")));
            }
            run = run.args(["--egress", rule]);
        }
        for (name, value) in &spec.env {
            // The same; and the value is nobody's to see.
            if value.contains(',') {
                return Err(Failure::other(VERB, format!("the value of {name} has a comma")));
            }
            run = run.args(["--env", &format!("{name}={value}")]);
        }
        if spec.network != Network::Own && self.kind().has().network {
            run = run.args(["--network", spec.network.word()]);
        }
        if spec.nested && self.kind().has().isolation {
            run = run.args(["--nested"]);
        }
        let ended = self.finish(VERB, run)?;
        let stdout = ended.stdout_text();
        let id = json::first_document(&stdout)
            .and_then(|document| json::text(&document, "id").and_then(|id| id.parse().ok()));
        match id {
            Some(id) => Ok(id),
            None => {
                let words = match self.find_by_name(&spec.name) {
                    Ok(Some(id)) => return Ok(id),
                    Ok(None) => format!("none is called {}", spec.name),
                    // A no to the listing is none to the create call.
                    Err(failure) => failure.to_string(),
                };
                let stdout: String = stdout.trim().chars().take(200).collect();
                Err(Failure::other(VERB, format!("the answer names no box, and {words}: {stdout}")))
            }
        }
    }

    /// The live sandbox of exactly this name. `None` is only a proof if the listing was complete,
    /// which is what makes it an error otherwise.
    ///
    /// # Errors
    /// The listing failed or is incomplete.
    pub(crate) fn find_by_name(&self, name: &BoxName) -> Result<Option<BoxId>> {
        let listing = self.list(Scope::Everything)?;
        let found = listing.boxes.iter().find(|view| view.name == name.as_str() && !view.status.is_gone());
        match found {
            Some(view) => Ok(Some(view.id.clone())),
            None if listing.complete => Ok(None),
            None => Err(Failure::other("sandbox list", "the provider did not list all boxes")),
        }
    }

    /// What the provider knows about a sandbox. A destroyed one may still be known.
    ///
    /// # Errors
    /// The provider's refusal. [`super::Refusal::NotFound`] is no proof that it is gone.
    pub(crate) fn get(&self, id: &BoxId) -> Result<super::BoxView> {
        let document = self.document("sandbox get", self.json(ASK).args(["get", id.as_str()]))?;
        super::BoxView::parse("sandbox get", &document)
    }
}

/// The CLI itself polls for up to 5 minutes (docs/measured/createos-cli.md 4.1).
const TRANSITION: Duration = Duration::from_secs(330);

impl Provider {
    /// Takes a snapshot and stops the sandbox.
    ///
    /// # Errors
    /// The provider's refusal; a paused box is one.
    pub(crate) fn pause(&self, id: &BoxId) -> Result<()> {
        self.transition("pause", id)
    }

    /// Brings a paused sandbox back.
    ///
    /// # Errors
    /// The provider's refusal.
    pub(crate) fn resume(&self, id: &BoxId) -> Result<()> {
        self.transition("resume", id)
    }

    /// Copies a paused sandbox, as it is; the copy's id.
    ///
    /// # Errors
    /// The provider's refusal; one that runs is one. An answer without an id, too: then there may be a copy.
    pub(crate) fn fork(&self, id: &BoxId) -> Result<BoxId> {
        const VERB: &str = "sandbox fork";
        let document = self.document(VERB, self.json(TRANSITION).args(["fork", id.as_str()]))?;
        // An object of the service's, one with an action, or a list (docs/measured/createos-cli.md 4.1).
        let made = document.get(0).unwrap_or(&document);
        let id = json::text(made, "id").ok_or_else(|| Failure::other(VERB, "the answer names no box"))?;
        id.parse().map_err(|error| Failure::other(VERB, format!("{error}")))
    }

    fn transition(&self, verb: &str, id: &BoxId) -> Result<()> {
        let full = format!("sandbox {verb}");
        self.finish(&full, self.json(TRANSITION).args([verb, id.as_str()])).map(|_| ())
    }

    /// Deletes a sandbox for ever. One that is already destroyed is fine.
    ///
    /// # Errors
    /// The provider's refusal, also one that stands only in the document (docs/measured/createos-cli.md 3.11).
    pub(crate) fn remove(&self, id: &BoxId) -> Result<()> {
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
    pub(crate) fn wait_running(&self, id: &BoxId, limit: Duration) -> Result<()> {
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
