//! `review`: the box's new work and its judgement on the screen, applied on `y`.

use super::apply::{carry_out, put_back, put_back_words};
use crate::action::mapping::{ActionContext, Chosen, RECORD, choose};
use crate::action::pane::terminal::{self, Keys, OtherScreen, Typed};
use crate::action::report::{Notice, Report};
use crate::action::work::{RunningBox, is_there};
use crate::command::{self, Command};
use crate::error::{Error, Result};
use crate::herdr::{Caller, Place};
use crate::merge::{OnClash, Outcome};
use crate::state::Record;
use crate::ui::{self, Pager, Shade, Toned, Wish};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Keys within the first second were meant for the pane below.
const CALM: Duration = Duration::from_secs(1);
/// So many bytes of a review go into Herdr's log, which keeps 64 KiB: the result line has to fit in behind them.
const LOGGED: usize = 48 * 1024;
/// How often the size of the screen is looked at.
const GLANCE: Duration = Duration::from_millis(250);

/// Shows the proposal. A key opens a pane for it; on a command line it is shown right here, and
/// without a terminal it is printed.
///
/// # Errors
/// There is no box, it cannot be asked, or what was to be applied could not be.
pub(crate) fn review(context: &ActionContext) -> Result<Report> {
    let chosen = choose(context)?;
    let record = &chosen.record;
    if context.invocation.caller == Caller::Key {
        let env = [(RECORD, record.id.as_str())];
        context.herdr.open_plugin_pane("review", Place::Overlay, Some(&record.worktree), &env).map_err(
            |error| Error::from(error).help(format!("or review it in a terminal: {}", again(record))),
        )?;
        return Ok(Report::new("").notice(Notice::Nothing).about("opened", record.name.as_str()));
    }
    show(context, &chosen)
}

/// The process of the pane that a key opened.
///
/// # Errors
/// The record is gone, or the box cannot be asked.
pub(crate) fn pane(context: &ActionContext) -> Result<()> {
    let record =
        context.named_record().ok_or_else(|| Error::failed("the box of this review is gone already"))?;
    ui::line(format!("\n  asking box {} …", record.name));
    let report = show(context, &Chosen { record, by_worktree: false })?;
    let text = match &report.refused {
        Some(error) => ui::format_error(error),
        None if report.text.is_empty() => return Ok(()),
        None => ui::visible(&report.text),
    };
    ui::paragraph(format!("\n{text}\n\n  any key closes this"));
    Keys::take()?.wait();
    Ok(())
}

fn show(context: &ActionContext, chosen: &Chosen) -> Result<Report> {
    let record = &chosen.record;
    is_there(context, record)?;
    let mut running = RunningBox::wake(context, record)?;
    running.notes = running.ledger.recover()?;
    let proposal = running.propose(OnClash::Refuse)?;
    let (mut lines, outcome) = (proposal.review()?, proposal.outcome());
    let (stays, unknown) = running.elsewhere();
    let put_back = put_back(&running, outcome)?;
    // Behind the summary, before the files.
    let besides = stays
        .iter()
        .map(|work| format!("  stays    {}   not in the checked-out tree", ui::visible_line(work)))
        .chain(unknown.iter().map(|what| format!("  unknown  {}", ui::visible_line(what))))
        .chain(
            (!put_back.is_empty())
                .then(|| format!("  note     {}", ui::visible_line(&put_back_words(&put_back, record)))),
        );
    let besides: Vec<_> = besides.map(|line| Toned::new(Shade::Warning, line)).collect();
    lines.splice(1..1, besides);
    let left = |word: &str| {
        Report::new("")
            .about(word, record.name.as_str())
            .field("would", outcome.word())
            .field("bytes", proposal.patch.bytes)
            .field("files", proposal.patch.files)
            .field("elsewhere", stays.clone())
            .field("putBack", put_back.clone())
    };
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) {
        let most = if context.invocation.logged { LOGGED } else { usize::MAX };
        print(&lines, most, &again(record));
        return Ok(left("shown"));
    }
    let place = ui::visible(&context.paths.show(&record.worktree));
    let may = matches!(outcome, Outcome::Applied | Outcome::AlreadyApplied);
    let footer = match may {
        true => format!("y apply to {place}   q leave it   space, b, n, p move"),
        false => "q close   space, b, n, p move".into(),
    };
    if page(lines, footer, may)? {
        return carry_out(running, chosen.why(), proposal);
    }
    Ok(left("left"))
}

/// The same review, to be typed.
fn again(record: &Record) -> Command {
    command::action("review").on(&record.name)
}

/// Prints the lines, at most so many bytes of them.
fn print(lines: &[Toned], most: usize, again: &Command) {
    let mut left = most;
    for (at, line) in lines.iter().enumerate() {
        let text = line.styled(false);
        let Some(rest) = left.checked_sub(text.len() + 1) else {
            ui::line(format!("… {} more lines, on a terminal: {again}", lines.len() - at));
            return;
        };
        left = rest;
        ui::line(text);
    }
}

/// Shows the lines until the person decides; `true` for `y`, where that is a choice.
fn page(lines: Vec<Toned>, footer: String, may: bool) -> Result<bool> {
    let colour = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var("TERM").is_ok_and(|term| term != "dumb");
    let keys = Keys::take()?;
    let _screen = OtherScreen::enter("\x1b[?1049h");
    let mut pager = Pager::new(lines, footer, terminal::size());
    let began = Instant::now();
    let mut shown = String::new();
    loop {
        pager.resize(terminal::size());
        let frame = pager.frame(colour);
        if frame != shown {
            let _gone = ui::raw(frame.as_bytes());
            shown = frame;
        }
        match keys.read(GLANCE) {
            Typed::Ended => return Ok(false),
            Typed::Nothing => {}
            Typed::Bytes(bytes) => match pager.key(&bytes) {
                Wish::Stay => {}
                Wish::Quit => return Ok(false),
                Wish::Yes if may && began.elapsed() >= CALM => return Ok(true),
                Wish::Yes => {}
            },
        }
    }
}
