//! What a run says and asks. With `--json` it says nothing and asks nothing.

use super::checks::check::Check;
use super::observe::Observed;
use super::observe::programs::Program;
use super::offer::Consent;
use super::plan::{Displaced, Plan};
use super::render;
use super::request::Request;
use super::template;
use crate::error::Result;
use crate::exit::Exit;
use crate::keys::Chord;
use crate::paths::Paths;
use crate::ui::{self, Said};

/// One run, as the person before it sees it.
pub(super) struct Talk<'a> {
    pub(super) request: &'a Request,
    pub(super) paths: &'a Paths,
}

/// What a person says to a plan.
pub(super) enum Answer {
    Go,
    Leave,
    /// Give this action another chord, so that Herdr keeps its own.
    Keep(String, Chord),
    /// Turn Herdr's notices on as well.
    Notices,
}

impl Talk<'_> {
    /// Says something, unless stdout is one JSON document.
    pub(super) fn say(&self, text: impl AsRef<str>) {
        if !self.request.json {
            ui::line(text);
        }
    }

    /// Whether a person is there who may be asked.
    pub(super) fn asks(&self) -> bool {
        !self.request.yes && !self.request.json && !self.request.dry_run && ui::is_on_terminal()
    }

    /// Whether missing programs may be installed.
    pub(super) fn consent(&self) -> Consent {
        match self.request {
            Request { dry_run: true, .. } => Consent::DryRun,
            Request { install_missing: true, .. } => Consent::Given,
            _ if self.asks() => Consent::Ask,
            _ => Consent::None,
        }
    }

    /// Failures as annotations, where a workflow runs us.
    pub(super) fn annotate(&self, checks: &[Check]) {
        if std::env::var_os("GITHUB_ACTIONS").is_none_or(|value| value.is_empty()) {
            return;
        }
        for line in render::annotations(checks, self.request.strict) {
            if self.request.json { ui::note(line) } else { ui::line(line) }
        }
    }

    pub(super) fn show(&self, title: &str, plan: &Plan, diffs: bool) {
        self.say(render::plan(title, plan, self.paths, diffs));
    }

    /// Shows the plan, and asks when a person is there. False means that nothing is to be done.
    pub(super) fn go_ahead(&self, title: &str, plan: &Plan, question: &str, default: bool) -> Result<bool> {
        let asks = self.asks();
        self.show(title, plan, asks || self.request.dry_run);
        if self.request.dry_run {
            self.say("Nothing was changed (--dry-run).");
            return Ok(false);
        }
        if asks && !ui::confirm(question, default)? {
            self.say("Nothing was changed.");
            return Ok(false);
        }
        Ok(true)
    }

    /// The one question of a setup. What it offers beside yes and no changes the plan, which is shown again then.
    pub(super) fn agree(&self, title: &str, plan: &Plan) -> Result<Answer> {
        let keep = plan.displaced.as_ref().and_then(|displaced| Some((displaced, displaced.instead?)));
        let edits = plan.edits_keys();
        let (keep, notices) = (keep.filter(|_| edits), plan.notices_off && edits);
        if !self.asks() || (keep.is_none() && !notices) {
            let go = self.go_ahead(title, plan, "Continue?", true)?;
            return Ok(if go { Answer::Go } else { Answer::Leave });
        }
        self.show(title, plan, true);
        let mut others = Vec::new();
        if let Some((Displaced { action, field, .. }, chord)) = keep {
            self.say(format!("  k  keeps Herdr's {field}: {action} gets {chord}"));
            others.push('k');
        }
        if notices {
            self.say("  t  turns Herdr's notices on, too: they tell what an action did");
            others.push('t');
        }
        Ok(match (ui::choose("Continue?", true, &others)?, keep) {
            (Said::Yes, _) => Answer::Go,
            (Said::Other('k'), Some((displaced, chord))) => Answer::Keep(displaced.action.clone(), chord),
            (Said::Other('t'), _) => Answer::Notices,
            _ => {
                self.say("Nothing was changed.");
                Answer::Leave
            }
        })
    }

    /// With `--strict` a warning fails.
    pub(super) fn code(&self, plan: &Plan) -> Exit {
        Exit::failed_if(self.request.strict && !plan.warnings.is_empty())
    }
}

/// The host with its version.
pub(super) fn host(observed: &Observed) -> String {
    let title = &template::herdr().title;
    match observed.programs.get("herdr").map(|choice| &choice.program) {
        Some(Program::Found { text, .. }) => format!("{title} {}", ui::visible(text)),
        _ => title.clone(),
    }
}
