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
        self.say(render::plan(title, plan, self.paths, diffs, ui::columns()));
    }

    /// Shows the plan, and asks when a person is there. False means that nothing is to be done.
    pub(super) fn go_ahead(&self, title: &str, plan: &Plan, question: &str, default: bool) -> Result<bool> {
        Ok(self.ask(title, plan, question, default, Vec::new())? == Said::Yes)
    }

    /// The one question of a setup. What it offers beside yes and no changes the plan, which is shown again then.
    pub(super) fn agree(&self, title: &str, plan: &Plan) -> Result<Answer> {
        let edits = plan.edits_keys();
        let keep = plan.displaced.as_ref().and_then(|displaced| Some((displaced, displaced.instead?)));
        let keep = keep.filter(|_| edits);
        let mut offers = Vec::new();
        if let Some((Displaced { action, field, .. }, chord)) = keep {
            offers.push(('k', format!("keeps Herdr's {field}: {action} gets {chord}")));
        }
        if plan.notices_off && edits {
            offers.push(('t', "turns Herdr's notices on, too: they tell what an action did".into()));
        }
        Ok(match (self.ask(title, plan, "Continue?", true, offers)?, keep) {
            (Said::Yes, _) => Answer::Go,
            (Said::Other('k'), Some((displaced, chord))) => Answer::Keep(displaced.action.clone(), chord),
            (Said::Other('t'), _) => Answer::Notices,
            _ => Answer::Leave,
        })
    }

    /// Shows the plan, with its diffs in a dry run and for who asks for them, and asks where a person is there.
    fn ask(
        &self,
        title: &str,
        plan: &Plan,
        question: &str,
        default: bool,
        mut offers: Vec<(char, String)>,
    ) -> Result<Said> {
        let mut diffs = self.request.dry_run;
        if plan.changes.iter().any(|change| change.step().diff().is_some()) {
            offers.insert(0, ('d', "shows what changes in the files, line by line".into()));
        }
        loop {
            self.show(title, plan, diffs);
            if self.request.dry_run {
                self.say("Nothing was changed (--dry-run).");
                return Ok(Said::No);
            }
            if !self.asks() {
                return Ok(Said::Yes);
            }
            for (letter, does) in &offers {
                ui::paragraph(format!("  {letter}  {does}"));
            }
            let letters: Vec<char> = offers.iter().map(|(letter, _)| *letter).collect();
            match ui::choose(question, default, &letters)? {
                Said::Other('d') => {
                    diffs = true;
                    offers.retain(|(letter, _)| *letter != 'd');
                }
                Said::No => {
                    self.say("Nothing was changed.");
                    return Ok(Said::No);
                }
                said => return Ok(said),
            }
        }
    }

    /// With `--strict` a warning fails.
    pub(super) fn code(&self, plan: &Plan) -> Exit {
        Exit::failed_if(self.request.strict && !plan.warnings.is_empty())
    }
}

/// The host with its version.
pub(super) fn host(observed: &Observed) -> String {
    let title = &template::HERDR.title;
    match observed.programs.get("herdr").map(|choice| &choice.program) {
        Some(Program::Found { text, .. }) => format!("{title} {}", ui::visible(text)),
        _ => title.clone(),
    }
}
