//! `--doctor`: everything that is there, judged, and nothing changed.

use super::checks::{self, check, context::Context};
use super::observe::{Depth, observe};
use super::report::Report;
use super::talk::Talk;
use super::{render, template};
use crate::exit::Exit;
use crate::ui;

/// Looks at everything and says what is wrong; the exit code.
pub(super) fn examine(talk: &Talk<'_>, report: &mut Report) -> Exit {
    let template = template::herdr();
    let observed = observe(template, talk.paths, talk.request, Depth::Doctor);
    let context = Context::new(template, talk.request, &observed, talk.paths, ui::is_on_terminal());
    let checks = checks::all(&context);
    let code = check::exit_code(&checks, talk.request.strict);
    talk.say(render::doctor(&checks, ui::columns()));
    talk.annotate(&checks);
    report.add_checks(checks);
    code
}
