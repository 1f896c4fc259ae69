//! `info`: what is mapped to the pane, and what of it is not here.

use super::delete::told;
use crate::action::mapping::{ActionContext, choose, title};
use crate::action::report::{Notice, Report};
use crate::action::work::home;
use crate::createos::{BoxLimits, Refusal, RefusedTarget};
use crate::error::Result;

/// So many refused targets are shown.
const REFUSED: usize = 5;

/// Tells agent, box, status and paths.
///
/// # Errors
/// There is no box, or the provider cannot be asked.
pub(crate) fn info(context: &ActionContext) -> Result<Report> {
    let chosen = choose(context)?;
    let record = chosen.record;
    let remote = context.remote(&record)?;
    let view = match remote.provider.get(&remote.id) {
        Ok(view) => Some(view),
        Err(failure) if failure.refusal == Refusal::NotFound => None,
        Err(failure) => return Err(failure.into()),
    };
    let status = view.as_ref().map_or("missing", |view| view.status.word()).to_owned();
    // Both may have been changed since the start.
    let auto_pause = view.as_ref().map(|view| view.auto_pause_seconds.map_or("off".into(), duration));
    let egress = view
        .as_ref()
        .map(|view| if view.egress.is_empty() { "everything".into() } else { view.egress.join(", ") });
    let limits =
        view.as_ref().and_then(|view| view.limits.as_ref()).filter(|_| record.provider.has().isolation);
    let limits = limits.map(kept_to);
    let program = record.program.clone().unwrap_or_default();
    let process = record.process.as_ref().map(ToString::to_string).unwrap_or_default();
    let found = home::look(context, &record);
    let note = if chosen.by_worktree { "the only box of this worktree" } else { "" };
    // What a low popup shows without scrolling comes first.
    let first = [
        ("agent", title(&record)),
        ("box", format!("{} ({})", record.name, remote.id)),
        ("status", status.clone()),
        ("note", note.to_owned()),
    ];
    let last = [
        ("worktree", context.paths.show(&record.worktree)),
        ("remote root", record.remote_root.to_string()),
        ("auto-pause", auto_pause.unwrap_or_else(|| record.auto_pause.to_string())),
        ("egress", egress.unwrap_or_default()),
        ("limits", limits.unwrap_or_default()),
        ("provider", record.provider.word().to_owned()),
        ("project", record.project_failed.clone().unwrap_or_default()),
        ("environment", record.environment.join(", ")),
        ("unattended", if record.unattended { "yes, the agent asks nothing" } else { "" }.to_owned()),
        ("program", program.clone()),
        ("process", process.clone()),
    ];
    let via = view.as_ref().and_then(|view| view.via.as_deref());
    let via =
        via.map(|via| ("way out", format!("by this machine's proxy {via}; rules are about names and ports")));
    let refused =
        view.iter().flat_map(|view| &view.refused).take(REFUSED).map(|refused| ("refused", one(refused)));
    let rows = first.into_iter().chain(found.rows()).chain(via).chain(refused).chain(last);
    let table: Vec<_> = rows
        .filter(|(_, value)| !value.is_empty())
        .map(|(label, value)| format!("  {label:<11}   {}", crate::ui::visible(&value)))
        .collect();
    let report = Report::new(table.join("\n"))
        .field("box", record.name.as_str())
        .field("boxId", remote.id.as_str())
        .field("agent", record.agent.to_string())
        .field("bin", program)
        .field("processId", process)
        .field("local", record.worktree.display().to_string())
        .field("remote", record.remote_root.to_string())
        .field("pane", record.pane.as_ref().map(ToString::to_string))
        .field("provider", record.provider.word())
        .field("status", status)
        .field("unattended", record.unattended)
        .field("environment", record.environment.clone())
        .notice(Notice::Popup);
    Ok(told(report, &found))
}

/// What keeps the box to its shape, and what of it does not.
fn kept_to(limits: &BoxLimits) -> String {
    let of = |what: &str, counted: &str| match counted {
        "box" => format!("{what} of the whole box"),
        "none" => format!("{what} not limited"),
        counted => format!("{what} of each {counted}"),
    };
    let processes = match limits.processes_of.as_str() {
        "none" => "processes".to_owned(),
        _ => format!("{} processes", limits.processes),
    };
    [
        of(&processes, &limits.processes_of),
        of("memory", &limits.memory_of),
        of("processors", &limits.processors_of),
    ]
    .join(", ")
}

/// How often a target was refused, and what would let it pass.
fn one(refused: &RefusedTarget) -> String {
    let RefusedTarget { target, count, egress } = refused;
    if egress.is_empty() {
        return format!("{target} ({count})");
    }
    let flags = egress.iter().fold(crate::command::setup(), |command, rule| command.with("--egress", rule));
    // The box's own localhost needs no rule, and a rule takes its port.
    let what = if target.starts_with("localhost:") { "open this machine's to" } else { "allow it in" };
    format!("{target} ({count}); {what} the next box: {}", flags.flag("--force"))
}

/// Seconds as in the settings: `1h30m`.
fn duration(seconds: u64) -> String {
    let parts = [(seconds / 3600, "h"), (seconds / 60 % 60, "m"), (seconds % 60, "s")];
    let words: String = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    if words.is_empty() { "off".into() } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_written_as_the_settings_write_them() {
        for (seconds, words) in
            [(60, "1m"), (1800, "30m"), (5400, "1h30m"), (86400, "24h"), (90, "1m30s"), (0, "off")]
        {
            assert_eq!(duration(seconds), words);
        }
    }

    #[test]
    fn what_is_counted_for_what_is_said() {
        let of = |text: &str| text.to_owned();
        let limits = BoxLimits {
            processes: 2048,
            processes_of: of("box"),
            memory_of: of("process"),
            processors_of: of("none"),
        };
        let words = "2048 processes of the whole box, memory of each process, processors not limited";
        assert_eq!(kept_to(&limits), words);
    }

    #[test]
    fn what_was_refused_comes_with_what_would_let_it_pass() {
        let egress = vec!["*".into(), "localhost:5432".into()];
        let refused = RefusedTarget { target: "localhost:5432".into(), count: 12, egress };
        let words = "localhost:5432 (12); open this machine's to the next box: \
                     createos-sandbox setup herdr --egress '*' --egress localhost:5432 --force";
        assert_eq!(one(&refused), words);
    }
}
