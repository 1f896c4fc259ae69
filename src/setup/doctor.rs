//! `--doctor`: everything that is there, judged, and nothing changed.

use super::checks::{self, check, context::Context};
use super::observe::observe;
use super::render;
use super::report::Report;
use super::talk::Talk;
use crate::exit::Exit;
use crate::ui;

/// Looks at everything and says what is wrong; the exit code.
pub(super) fn examine(talk: &Talk<'_>, report: &mut Report) -> Exit {
    let observed = observe(talk.paths, talk.request);
    let context = Context::new(talk.request, &observed, talk.paths);
    let checks = checks::all(&context);
    let code = check::exit_code(&checks, talk.request.strict);
    talk.say(render::doctor(&checks, ui::columns()));
    talk.annotate(&checks);
    report.add_checks(checks);
    code
}
