//! `info`: what is mapped to the pane.

use super::report::{Notice, Report};
use super::session::Session;
use super::start::title;
use super::which::choose;
use crate::createos::Refusal;
use crate::error::Result;

/// Tells agent, box, status and paths.
///
/// # Errors
/// There is no box, or the provider cannot be asked.
pub(super) fn info(session: &Session) -> Result<Report> {
    let record = choose(session)?.record;
    let remote = session.remote(&record)?;
    let status = match remote.provider.get(&remote.id) {
        Ok(view) => view.status.word().to_owned(),
        Err(failure) if failure.refusal == Refusal::NotFound => "missing".into(),
        Err(failure) => return Err(failure.into()),
    };
    let text = |value: Option<&str>| value.unwrap_or("").to_owned();
    let program = text(record.program.as_deref());
    let process = text(record.process.as_ref().map(|id| id.as_str()));
    let pane = text(record.pane.as_ref().map(|id| id.as_str()));
    let worktree = record.worktree.display().to_string();
    let rows = [
        ("agent", title(&record)),
        ("program", program.clone()),
        ("box", format!("{} ({})", record.name, remote.id)),
        ("status", status.clone()),
        ("worktree", session.paths.show(&record.worktree)),
        ("remote root", record.remote_root.clone()),
        ("process", process.clone()),
        ("auto-pause", record.auto_pause.clone()),
        ("provider", record.provider.word().to_owned()),
    ];
    let table: Vec<_> = rows
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(label, value)| format!("  {label:<11}   {}", crate::ui::visible(value)))
        .collect();
    Ok(Report::new(table.join("\n"))
        .field("box", record.name.as_str())
        .field("boxId", remote.id.as_str())
        .field("agent", record.agent.as_str())
        .field("bin", program)
        .field("processId", process)
        .field("local", worktree)
        .field("remote", record.remote_root.as_str())
        .field("pane", pane)
        .field("provider", record.provider.word())
        .field("status", status)
        .notice(Notice::Popup))
}
