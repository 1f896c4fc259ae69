//! The questions about a worktree's `.worktreeinclude` and `.createos-sandbox.toml`: on the terminal where a start was typed, in a popup after its key,
//! else in its pane. And the answer, as one of the rules for what leaves.

use super::sheet::Sheet;
use crate::action::mapping::ActionContext;
use crate::config::{Config, PROJECT, Project, Settings};
use crate::error::Result;
use crate::herdr::{Caller, Place};
use crate::state::{Asks, Record, Store};
use crate::worktree::{self, Asked, INCLUDE, Rules, Worktree};
use crate::{command, ui};
use std::path::Path;
use std::time::{Duration, Instant};

/// Names in a question; all of them are in `upload --dry-run`.
const NAMED: usize = 20;
/// More files, or more bytes, are said to be many.
const MANY: (usize, u64) = (200, 50_000_000);
/// How long the process of a popup may take to ask.
const POPUP: Duration = Duration::from_secs(20);

/// The rules of a worktree, with the user's yes.
pub(crate) fn rules(config: &Config, store: &Store, root: &Path) -> Result<Rules> {
    let mut rules = config.rules(root);
    rules.trusted = store.read()?.yes_to(Asks::Include, root).map(str::to_owned);
    Ok(rules)
}

/// A question about a file of the repository that counts only after a yes.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) of: Asks,
    hash: String,
    pub(crate) text: String,
}

impl Question {
    /// What is asked behind the text.
    pub(crate) fn ask(&self) -> &'static str {
        match self.of {
            Asks::Include => "Let them leave with the rest?",
            Asks::Project => "Let it count?",
        }
    }

    /// The keys below the text, and the same in a line.
    fn keys(&self) -> (&'static str, &'static str) {
        match self.of {
            Asks::Include => (
                "  y               let them leave with the rest\n  any other key   keep them home",
                "y lets them leave, other keys keep them home",
            ),
            Asks::Project => (
                "  y               let it count\n  any other key   ignore it",
                "y lets it count, other keys ignore it",
            ),
        }
    }

    /// Keeps the answer.
    ///
    /// # Errors
    /// The state cannot be written.
    pub(crate) fn remember(&self, store: &Store, root: &Path, yes: bool) -> Result<()> {
        store.edit(|state| state.answer(self.of, root, &self.hash, yes))
    }
}

/// Asks once where a start was typed, or its key pressed, what is new. Elsewhere, and where a popup gave no answer, the
/// pane asks.
///
/// # Errors
/// The question cannot be asked, or was left with Ctrl-C.
pub(crate) fn ask_before_start(context: &ActionContext, worktree: &Worktree) -> Result<()> {
    let by_key = context.invocation.caller == Caller::Key;
    if !by_key && !ui::is_on_terminal() {
        return Ok(());
    }
    let questions = unanswered(context, worktree)?;
    if by_key {
        return if questions.is_empty() { Ok(()) } else { ask_by_popup(context, worktree, &questions) };
    }
    for question in questions {
        ui::paragraph(&question.text);
        let yes = ui::confirm(question.ask(), false)?;
        question.remember(&context.store, worktree.root(), yes)?;
    }
    Ok(())
}

/// Opens the popup, and waits until it has every answer or is gone.
fn ask_by_popup(context: &ActionContext, worktree: &Worktree, questions: &[Question]) -> Result<()> {
    if context.herdr.open_plugin_pane("trust", Place::Popup, Some(worktree.root()), &[]).is_err() {
        // One is open already.
        return Ok(());
    }
    let (began, mut was_asked) = (Instant::now(), false);
    loop {
        let is_asked = context.store.is_asked(worktree.root())?;
        let gone = !is_asked && (was_asked || began.elapsed() > POPUP);
        let state = context.store.read()?;
        let is_answered =
            |question: &Question| state.is_answered(question.of, worktree.root(), &question.hash);
        if gone || questions.iter().all(is_answered) {
            return Ok(());
        }
        was_asked |= is_asked;
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The process of the popup, in the worktree.
///
/// # Errors
/// The worktree cannot be listed, or the answer cannot be kept.
pub(crate) fn ask_in_popup(context: &ActionContext) -> Result<()> {
    let worktree = context.worktree()?;
    let _asked = context.store.ask(worktree.root())?;
    ask(context, &worktree)
}

/// Asks in the pane of a start what was answered nowhere before.
///
/// # Errors
/// The worktree cannot be listed, or the answer cannot be kept.
pub(crate) fn ask_in_pane(context: &ActionContext, record: &Record) -> Result<()> {
    ask(context, &Worktree::discover(&context.git()?, &record.worktree)?)
}

fn ask(context: &ActionContext, worktree: &Worktree) -> Result<()> {
    for question in unanswered(context, worktree)? {
        let (keys, short) = question.keys();
        let answer = Sheet::new(&question.text, keys, short).opens_by_itself().ask(|typed| match typed {
            // Herdr's prefix reaches a pane, too.
            [first, ..] if *first < 0x20 && *first != 0x03 && *first != 0x1b => None,
            typed => Some(typed == b"y"),
        })?;
        let Some(yes) = answer else { return Ok(()) };
        question.remember(&context.store, worktree.root(), yes)?;
    }
    Ok(())
}

/// What there is to ask, of contents that were not answered before.
fn unanswered(context: &ActionContext, worktree: &Worktree) -> Result<Vec<Question>> {
    let state = context.store.read()?;
    let settings = Settings::load(&context.config_file())?;
    let mut questions =
        of_worktree(&settings, &context.store, worktree, &context.paths.show(worktree.root()))?;
    questions.retain(|question| !state.is_answered(question.of, worktree.root(), &question.hash));
    Ok(questions)
}

/// What a yes of the user would make count, and does not yet.
///
/// # Errors
/// The worktree cannot be listed, or its files not be read.
pub(crate) fn of_worktree(
    settings: &Settings,
    store: &Store,
    worktree: &Worktree,
    place: &str,
) -> Result<Vec<Question>> {
    let rules = rules(&settings.clone().resolve(), store, worktree.root())?;
    let mut questions = Vec::new();
    if let Some(asked) = worktree::asked(worktree, &rules)? {
        let text = question(place, &asked);
        questions.push(Question { of: Asks::Include, hash: asked.hash, text });
    }
    let state = store.read()?;
    if let Some(project) = Project::read(worktree.root())?
        && state.yes_to(Asks::Project, worktree.root()) != Some(project.hash.as_str())
    {
        let text = of_project(place, &project, settings);
        questions.push(Question { of: Asks::Project, hash: project.hash, text });
    }
    Ok(questions)
}

fn of_project(place: &str, project: &Project, settings: &Settings) -> String {
    let mut text = format!("{PROJECT} of {place} says what its boxes need.\n");
    let mut row = |label: &str, value: &str| text += &format!("\n  {label:<8}   {}", ui::visible_line(value));
    project.on_create.iter().for_each(|command| row("onCreate", command));
    project.on_resume.iter().for_each(|command| row("onResume", command));
    let mine = settings.clone().resolve();
    let wins = |is_set: bool, value: &str| match is_set {
        true => format!("{value}, but your setting wins"),
        false => value.to_owned(),
    };
    if let Some(agent) = project.agent {
        row("agent", &wins(settings.agent.is_some(), &format!("{agent} in place of {}", mine.agent)));
    }
    if let Some(shape) = &project.shape {
        row("shape", &wins(settings.shape.is_some(), &format!("{shape} in place of {}", mine.shape)));
    }
    if let Some(rootfs) = &project.rootfs {
        row("rootfs", &wins(settings.rootfs.is_some(), rootfs.as_str()));
    }
    project.cwd.iter().for_each(|cwd| row("cwd", cwd));
    let names: Vec<&str> = mine.environment.entries().map(|(name, _)| name).collect();
    if !project.on_create.is_empty() || !project.on_resume.is_empty() {
        text += "\n\nIts commands run in the box, before the agent.";
        if !names.is_empty() {
            text += &format!(" They could read there: {}", names.join(", "));
        }
    }
    text + "\n"
}

fn question(place: &str, asked: &Asked) -> String {
    let count = ui::count(asked.files.len() as u64, "file");
    let mut text = format!(
        "{INCLUDE} of {place} names {count} that git ignores, {}.\nThey would go into the box, which may be in the cloud:\n",
        ui::bytes(asked.bytes)
    );
    if asked.files.len() > MANY.0 || asked.bytes > MANY.1 {
        text += &format!("\n  note: that is more than {} files or {}\n", MANY.0, ui::bytes(MANY.1));
    }
    for path in asked.files.iter().take(NAMED) {
        text += &format!("\n  {}", ui::visible_line(&path.to_string()));
    }
    if asked.files.len() > NAMED {
        let all = command::action("upload").flag("--dry-run");
        text += &format!("\n  and {} more; all: {all}", asked.files.len() - NAMED);
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worktree::RelPath;

    fn asked(count: usize, bytes: u64) -> Asked {
        let file = |number: usize| RelPath::new(format!("f{number:03}").as_bytes()).unwrap();
        Asked { hash: String::new(), files: (0..count).map(file).collect(), bytes }
    }

    #[test]
    fn a_question_names_twenty_files_and_says_when_there_are_many() {
        let few = question("~/shop", &asked(2, 300));
        assert!(few.contains("names 2 files") && few.contains("f001") && !few.contains("note:"), "{few}");
        let many = question("~/shop", &asked(201, 300));
        assert!(many.contains("more than 200 files or 50.0 MB") && many.contains("and 181 more"), "{many}");
        assert!(question("~/shop", &asked(1, 50_000_001)).contains("more than 200 files"));
    }
}
