//! Finds the agent in the box, or installs it with its own installer and finds it then.

use super::passed;
use crate::command;
use crate::config::{Agent, EgressRule};
use crate::createos::ProviderKind;
use crate::error::{Error, Result};
use crate::exec::Heard;
use crate::journey::{ProviderBox, Stop};
use crate::ui::{self, Steps};
use std::time::Duration;

/// An installer downloads hundreds of megabytes at worst.
const INSTALL: Duration = Duration::from_secs(480);
/// Names in an allow-list work only after about half a minute (docs/measured/createos-cli.md 4.3): the installer is
/// tried again after each of these pauses, in seconds; a minute in all.
const PAUSES: [u64; 8] = [1, 2, 4, 8, 10, 10, 10, 15];

/// Prints `MISSING name` for every program that the box needs and lacks.
const NEEDED: &str =
    "for p in \"$@\"; do command -v -- \"$p\" >/dev/null 2>&1 || printf 'MISSING %s\\n' \"$p\"; done";

/// Prints the program's absolute path. `$1` is the program, the others are folders to look in, `~` the home.
const FIND: &str = r#"p=$1; shift
for d in "$@"; do case $d in '~/'*) d=$HOME/${d#'~/'};; esac
if [ -f "$d/$p" ] && [ -x "$d/$p" ]; then printf 'FOUND %s\n' "$d/$p"; exit 0; fi; done
f=$(command -v -- "$p") && case $f in /*) printf 'FOUND %s\n' "$f";; esac
exit 0"#;

/// Runs the installer, `$1`, with its variables in front: they are `NAME=value` words.
const INSTALLER: &str = r#"i=$1; shift; for v in "$@"; do export "$v"; done; set -o pipefail; eval "$i""#;

/// An agent that is in the box.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) program: String,
    /// The version that it prints, if it does.
    pub(crate) version: Option<String>,
    /// It came with the image: its installer was not run.
    pub(crate) of_image: bool,
}

/// Looks in the box first; the installer's output streams to the screen.
///
/// # Errors
/// The box lacks what the work needs, the installer fails, or leaves no program.
pub(crate) fn install(
    remote: &ProviderBox,
    agent: Agent,
    egress: &[EgressRule],
    stop: &Stop,
    steps: &mut Steps,
) -> Result<Installed> {
    let (spec, kind) = (agent.spec(), remote.provider.kind());
    needed(remote, agent, if spec.install.is_some() { &["git", "tar"] } else { &["git"] })?;
    if let Some(program) = find(remote, agent)? {
        return Ok(with_version(remote, agent, program, true));
    }
    let Some(installer) = &spec.install else {
        let error = Error::failed(format!("the box has no {}", spec.program));
        return Err(error.help(where_it_comes_from(kind, "the agent")));
    };
    needed(remote, agent, &spec.needs.iter().map(String::as_str).collect::<Vec<_>>())?;
    // A host that the list does not name will not work later either.
    let hopeless = egress.is_empty() || !blocked(agent, egress).is_empty();
    let mut pauses = if hopeless { [].iter() } else { PAUSES.iter() };
    steps.interrupt();
    loop {
        let code = run(remote, installer, agent)?;
        stop.check()?;
        if let Some(program) = find(remote, agent)? {
            return Ok(with_version(remote, agent, program, false));
        }
        let Some(pause) = pauses.next() else {
            return Err(missing(agent, code, egress, kind));
        };
        ui::paragraph(format!("  the names in egress take about 30 s to work; trying again in {pause} s"));
        stop.wait(Duration::from_secs(*pause))?;
    }
}

/// The installer's hosts that an allow-list keeps out.
pub(crate) fn blocked(agent: Agent, egress: &[EgressRule]) -> Vec<&'static str> {
    kept_out(agent.spec().installer_hosts(), egress)
}

/// Those of the hosts that an allow-list keeps out; an empty one lets everything pass.
pub(crate) fn kept_out(
    hosts: impl Iterator<Item = &'static str>,
    egress: &[EgressRule],
) -> Vec<&'static str> {
    let passes = |host: &str| egress.is_empty() || egress.iter().any(|rule| rule.lets_pass(host, 443));
    hosts.filter(|host| !passes(host)).collect()
}

/// What to do for a box that lacks programs: those of a local box are this machine's.
fn where_it_comes_from(provider: ProviderKind, programs: &str) -> String {
    if !provider.has().images {
        return format!(
            "a local box has what this machine has below /usr: install {programs} there, then start again"
        );
    }
    let another_image = command::setup().with("--rootfs", "NAME").flag("--force");
    format!("use an image that has {programs}: {another_image}")
}

fn needed(ProviderBox { provider, id, .. }: &ProviderBox, agent: Agent, programs: &[&str]) -> Result<()> {
    let said = provider.exec_asking(id, NEEDED, programs, Duration::from_secs(60))?;
    let text = said.text();
    let missing: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("MISSING ")).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let all = agent.spec().needs.join(", ");
    Err(Error::failed(format!("the box has no {}", missing.join(", no ")))
        .help(where_it_comes_from(provider.kind(), &format!("bash, git, tar, {all}"))))
}

fn find(ProviderBox { provider, id, .. }: &ProviderBox, agent: Agent) -> Result<Option<String>> {
    let mut args = vec![agent.spec().program.as_str()];
    args.extend(Agent::search_folders().iter().map(String::as_str));
    let said = provider.exec_asking(id, FIND, &args, Duration::from_secs(60))?;
    let text = said.text();
    let found = text.lines().find_map(|line| line.strip_prefix("FOUND "));
    // A path from a box is data: it is only ever one argv word for that same box.
    Ok(found.filter(|path| path.starts_with('/') && path.len() < 1000).map(str::to_owned))
}

fn run(ProviderBox { provider, id, .. }: &ProviderBox, installer: &str, agent: Agent) -> Result<i32> {
    let passed = passed::on();
    let own = agent.spec().environment.iter();
    let all = passed.iter().map(|(name, value)| (name, value)).chain(own);
    let variables: Vec<_> = all.map(|(name, value)| format!("{name}={value}")).collect();
    let mut args = vec![installer];
    args.extend(variables.iter().map(String::as_str));
    Ok(provider.run_long(id, INSTALLER, &args, INSTALL, &mut on_screen())?)
}

/// What a program in the box prints, on the screen as it comes. It may paint progress; its bytes are the box's and go
/// through, without its terminal tricks.
pub(crate) fn on_screen() -> impl FnMut(Heard<'_>) {
    let (mut shown, mut lost) = (Vec::new(), false);
    move |heard| match heard {
        Heard::Output(bytes) => {
            lost = false;
            show(&mut shown, bytes);
        }
        Heard::Lost if std::mem::replace(&mut lost, true) => {}
        Heard::Lost => {
            ui::paragraph("  the connection to the box is lost; what runs there goes on, trying again …");
        }
    }
}

/// Shows whole lines, made visible and set in; of a line that was painted over, the last state.
fn show(pending: &mut Vec<u8>, bytes: &[u8]) {
    pending.extend_from_slice(bytes);
    while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
        let line: Vec<u8> = pending.drain(..=end).collect();
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end();
        let last = text.rsplit('\r').next().unwrap_or(text);
        ui::line(format!("       {}", ui::visible(&without_escapes(last))));
    }
    pending.drain(..pending.len().saturating_sub(64 * 1024));
}

/// Drops CSI sequences: colours and cursor moves of a log that is only read.
fn without_escapes(text: &str) -> String {
    let (mut plain, mut rest) = (String::new(), text);
    while let Some((before, sequence)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = sequence.split_once(|c| ('\u{40}'..='\u{7e}').contains(&c)).map_or("", |(_, after)| after);
    }
    plain + rest
}

fn with_version(remote: &ProviderBox, agent: Agent, program: String, of_image: bool) -> Installed {
    let ProviderBox { provider, id, .. } = remote;
    if agent.spec().install.is_none() {
        return Installed { program, version: None, of_image: false };
    }
    // Only for the screen: an agent that prints none is as good.
    let said = provider.exec(id, "\"$1\" --version </dev/null", &[&program], Duration::from_secs(20));
    let version = said.ok().filter(|said| said.code == 0).and_then(|said| {
        let text = said.text();
        let word = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
        Some(ui::visible(&format!("{} {word:.20}", agent.spec().program)))
    });
    Installed { program, version, of_image }
}

fn missing(agent: Agent, code: i32, egress: &[EgressRule], provider: ProviderKind) -> Error {
    let spec = agent.spec();
    let error = Error::failed(match code {
        0 => format!("the installer of {} left no program {}", spec.title, spec.program),
        _ => format!("the installer of {} failed with exit code {code}", spec.title),
    });
    let blocked = blocked(agent, egress);
    let tool = spec.registry.as_ref().filter(|_| !egress.is_empty() && blocked.is_empty());
    let error = tool.iter().fold(error, |error, tool| {
        let ask = command::program(tool.as_str(), ["config", "get", "registry"]);
        error.help(format!("egress in config.json has to let the host of this pass: {ask}"))
    });
    if blocked.is_empty() {
        return error.help(match provider.has().images {
            true => "use an image that has the agent, or try again",
            false => {
                "what it said stands in the pane of the start; a local box has this machine's network: try again \
                 when that reaches the installer's host"
            }
        });
    }
    let rules: Vec<_> = egress.iter().map(EgressRule::as_str).collect();
    error
        .fact("host", blocked.join(", "))
        .fact("reason", format!("egress in config.json allows {} only", rules.join(", ")))
        .help(format!("add {} to egress in config.json, then start again", blocked.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_installer_is_tried_for_a_minute_and_once_after_the_names_must_work() {
        assert_eq!(PAUSES.iter().sum::<u64>(), 60);
        assert!(PAUSES[0] <= 1, "most names work sooner");
    }

    #[test]
    fn a_local_box_is_told_nothing_of_images() {
        let of = |provider| missing(Agent::default(), 6, &[], provider).hints().join("; ");
        assert!(of(ProviderKind::Createos).contains("image"), "{}", of(ProviderKind::Createos));
        assert!(!of(ProviderKind::Local).contains("image"), "{}", of(ProviderKind::Local));
        let local = where_it_comes_from(ProviderKind::Local, "git");
        assert!(local.contains("install git there") && !local.contains("image"), "{local}");
    }

    #[test]
    fn colours_and_cursor_moves_are_dropped_and_text_stays() {
        assert_eq!(without_escapes("\u{1b}[1;32mok\u{1b}[0m x"), "ok x");
    }
}
