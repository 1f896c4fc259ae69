//! docs/screens.md shows what a person sees: every screen is made here by the real binary, and compared.
//! After a change that is meant: `UPDATE_SCREENS=1 cargo test screens`.

use super::examples::redacted;
use crate::actions::world::{LONG, World, typed};
use crate::setup::{CONFIG, createos, fixed_git, machine};
use crate::support::{Herdr, Pty, RESULT, Terminal, User, eventually};

const PAGE: &str = "docs/screens.md";

/// A name in the document, and what was printed.
type Screen = (&'static str, String);

/// A setup from the first doctor to one that finds faults.
fn of_setup() -> Vec<Screen> {
    let home = machine(User::Me);
    fixed_git(&home);
    let mut herdr = Herdr::in_home(&home);
    home.write(
        CONFIG,
        "[ui.toast]\ndelivery = \"herdr\"\n\n[[keys.command]]\nkey = \"prefix+shift+c\"\n\
         type = \"shell\"\ncommand = \"cargo watch\"\n",
    );
    let shown = |args: &[&str]| {
        let outcome = home.run(args);
        let text = outcome.stdout + &outcome.stderr;
        text.replace(home.path().to_str().expect("text"), "~").replace(std::env::consts::ARCH, "x86_64")
    };
    let mut screens = vec![
        ("doctor", shown(&["setup", "herdr", "--doctor"])),
        ("plan", shown(&["setup", "herdr", "--dry-run"])),
        ("done", shown(&["setup", "herdr"])),
        ("again", shown(&["setup", "herdr"])),
    ];
    createos(&home, "v0.0.24", false);
    herdr.script("version", "0.7.4".into());
    std::fs::write(home.path().join(CONFIG), "[ui.toast]\ndelivery = \"off\"\n").expect("the file");
    screens.push(("faults", shown(&["setup", "herdr", "--doctor"])));
    screens
}

/// The popup before a start that would send ignored files, in a pane of eighty columns.
fn of_a_question() -> Vec<Screen> {
    let world = World::new();
    let repo = &world.repo;
    repo.write(".gitignore", "*.local\n")
        .write(".worktreeinclude", "*.local\n")
        .write("dev.local", "port=1\n");
    let pane = world.pane_ids().remove(0);
    let asks = Pty::spawn(typed(&world, &pane, &["herdr", "ask-trust"]), 16, 80);
    let shown = || {
        let mut terminal = Terminal::new(16, 80, 0);
        terminal.process(&asks.bytes());
        terminal.screen().contents()
    };
    eventually("the question is there", LONG, || shown().contains("any other key"));
    vec![("trust", shown())]
}

/// A pane from its start to its end.
fn of_a_pane() -> Vec<Screen> {
    let world = World::new();
    let (id, pane) = world.start();
    world.answers(&pane, "rea", "dy");
    let started = world.screen(&pane);
    let mut screens = vec![("start", until(&started, "attached. Ctrl-]"))];
    world.in_box(&id, "cd /workspace && echo agent >> README.md && git commit -qam work");
    let plain = |text: String| text.replace(world.home.path().to_str().expect("text"), "~");
    let typed = |args: &[&str]| {
        let outcome = crate::support::outcome(typed(&world, &pane, args)).success();
        let lines = outcome.stdout.lines().filter(|line| !line.starts_with(RESULT));
        plain(lines.map(|line| format!("{line}\n")).collect())
    };
    screens.push(("review", typed(&["herdr", "review"])));
    screens.push(("apply", typed(&["herdr", "apply"])));
    screens.push(("info", typed(&["herdr", "info"])));
    world.types(&pane, "exit");
    world.sees(&pane, "q       close this pane");
    let ended = world.screen(&pane);
    let from = ended.rfind("Shell in hd-").map_or(ended.as_str(), |at| &ended[at..]);
    screens.push(("ended", plain(from.trim_end().to_owned())));

    let mut list = Pty::spawn(world.home.command(&["herdr", "boxes"]), 8, 96);
    let last = || {
        let mut terminal = Terminal::new(8, 96, 0);
        terminal.process(&list.bytes());
        terminal.screen().contents()
    };
    eventually("the list is there", LONG, || last().contains("1 box "));
    let boxes = last();
    list.send("q");
    assert!(list.wait(LONG).success());
    screens.push(("boxes", plain(boxes)));
    screens
}

/// A command in a box that is kept, and the project's box.
fn of_cos() -> Vec<Screen> {
    let cos = crate::cos::Cos::local();
    let shown = |args: &[&str]| {
        let outcome = cos.run(args);
        let text = outcome.stdout + &outcome.stderr;
        let own = cos.own().and_then(|own| own["name"].as_str().map(str::to_owned));
        let text = own.map_or(text.clone(), |name| text.replace(&name, "cos-proj-0123456789ab"));
        text.replace(cos.home().path().to_str().expect("text"), "~")
    };
    let kept = shown(&["offload", "-K", ".", "cat README.md; exit 3"]);
    let id = cos.boxes()[0]["id"].as_str().expect("an id").to_owned();
    let _ = cos.home().run(&["local", "sandbox", "rm", "--yes", &id]).success();
    let _forgotten = cos.run(&["status"]).success();
    vec![("offload", kept), ("up", shown(&["up"])), ("status", shown(&["status"]))]
}

/// The text up to the end of the line that holds `last`.
pub fn until(text: &str, last: &str) -> String {
    let at = text.find(last).unwrap_or_else(|| panic!("[{last}] is not in:\n{text}"));
    text[..at].to_owned() + text[at..].lines().next().unwrap_or_default()
}

/// Where the text of a screen begins and ends in the document.
fn place(document: &str, name: &str) -> std::ops::Range<usize> {
    let mark = format!("<!-- screen: {name} -->\n```text\n");
    let start = document.find(&mark).unwrap_or_else(|| panic!("docs/screens.md has no screen {name}"));
    let start = start + mark.len();
    let end = document[start - 1..].find("\n```\n").expect("a block ends") + start;
    start..end
}

#[test]
fn the_screens_in_the_docs_are_what_is_shown() {
    if crate::support::real_herdr().is_some() {
        // Another Herdr has other words for some things.
        return;
    }
    let mut document_text = super::document(PAGE);
    let screens = [of_setup(), of_a_question(), of_a_pane(), of_cos()].concat();
    let plain =
        |text: &str| text.lines().map(|line| redacted(line.trim_end())).collect::<Vec<_>>().join("\n");
    let mut differ = Vec::new();
    for (name, text) in &screens {
        let place = place(&document_text, name);
        let known = plain(&document_text[place.clone()]);
        let now = text.trim_matches('\n').lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        if known != plain(&now) {
            differ.push(format!("{name}: docs/screens.md shows\n{known}\n--- but it is\n{}", plain(&now)));
            document_text.replace_range(place, &format!("{now}\n"));
        }
    }
    assert_eq!(document_text.matches("<!-- screen: ").count(), screens.len(), "every screen has its block");
    if std::env::var_os("UPDATE_SCREENS").is_some() {
        std::fs::write(super::path(PAGE), document_text).expect("docs/screens.md");
        return;
    }
    assert!(differ.is_empty(), "{}\n\nUPDATE_SCREENS=1 cargo test screens", differ.join("\n\n"));
}
