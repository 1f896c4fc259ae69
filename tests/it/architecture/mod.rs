//! How `src` is built: calls go down only, by the drawing in CONTRIBUTING and inside each room; only `ui` writes to the
//! terminal; only `exec`, and who has a process on a terminal of its own, starts programs.

mod circles;
mod known;
mod source;

use known::{BESIDE_ITS_FOLDER, IN_A_CIRCLE, SPAWNS, TOO_LONG, WRITES};
use source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// Files above this many lines are usually two concepts.
const LONG: usize = 400;

#[test]
fn a_room_uses_only_rooms_that_are_drawn_below_it() {
    let contributing = include_str!("../../../CONTRIBUTING.md");
    let (_, drawing) = contributing.split_once("```rooms\n").expect("CONTRIBUTING has the drawing");
    let (drawing, _) = drawing.split_once("```").expect("it ends");
    let lines = drawing.lines().enumerate();
    let heights: BTreeMap<&str, usize> =
        lines.flat_map(|(depth, line)| line.split_whitespace().map(move |room| (room, depth))).collect();
    let source = Source::all();
    let rooms: BTreeSet<&str> = source.code.keys().map(|file| room(file)).collect();
    assert_eq!(heights.keys().copied().collect::<BTreeSet<_>>(), rooms, "the drawing has every room");
    let arrows = source.arrows();
    let up: Vec<String> = arrows
        .iter()
        .filter(|arrow| {
            room(&arrow.from) != room(&arrow.to) && heights[room(&arrow.from)] >= heights[room(&arrow.to)]
        })
        .map(ToString::to_string)
        .collect();
    assert!(up.is_empty(), "CONTRIBUTING draws these the other way:\n{}", up.join("\n"));
    assert!(arrows.len() > 2_000, "only {} arrows were read", arrows.len());
}

#[test]
fn no_files_of_a_room_call_each_other_in_a_circle() {
    let arrows = Source::all().arrows();
    let inside: Vec<_> = arrows.iter().filter(|arrow| room(&arrow.from) == room(&arrow.to)).collect();
    let circles = circles::find(&inside);
    for circle in &circles {
        tell(&format!("\na circle of {} files:", circle.len()));
        for arrow in
            inside.iter().filter(|arrow| circle.contains(&*arrow.from) && circle.contains(&*arrow.to))
        {
            tell(&format!("  {arrow}"));
        }
    }
    only_shrinks("IN_A_CIRCLE", IN_A_CIRCLE, circles.into_iter().flatten().collect());
}

#[test]
fn what_is_passed_on_is_taken_from_its_own_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let files = [
        ("main.rs", "mod room;\nmod other;\nfn main() { room::begin() }"),
        ("room/mod.rs", "mod a;\nmod b;\npub(crate) use a::A;\npub(crate) use b::begin;"),
        (
            "room/a.rs",
            "use super::b;\npub(super) struct A;\nfn f() { g!(\"b::no()\", [b::begin()]) } // super::no",
        ),
        ("room/b.rs", "use crate::other::Other;\npub(crate) fn begin(_: super::A) {}"),
        (
            "other.rs",
            "pub(crate) struct Other;\n#[cfg(test)]\nmod tests { use crate::room::A; fn f() { super::g() } }",
        ),
    ];
    std::fs::create_dir(folder.path().join("room")).expect("a room");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let arrows = Source::read(folder.path().to_owned()).arrows();
    let expected = [
        "main.rs -> room/b.rs (room::begin)",
        "room/a.rs -> room/b.rs (b::begin)",
        "room/b.rs -> other.rs (crate::other::Other)",
        "room/b.rs -> room/a.rs (super::A)",
    ];
    assert_eq!(arrows.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    let circles = circles::find(&arrows.iter().collect::<Vec<_>>());
    assert_eq!(circles, [BTreeSet::from(["room/a.rs", "room/b.rs"])]);
}

#[test]
fn only_ui_writes_to_the_terminal() {
    let writes = |code: &str| {
        // Whether there is a terminal, and how large it is, writes nothing.
        let code = ["std::io", "io", "rustix::stdio"].iter().fold(code.to_owned(), |code, way| {
            let asked = [format!("tcgetwinsize({way}::stdout())"), format!("{way}::stdout().is_terminal()")];
            asked.iter().fold(code, |code, asked| code.replace(asked, ""))
        });
        ["print!(", "println!(", "io::stdout(", "io::stderr("].iter().any(|word| code.contains(word))
    };
    only_shrinks("WRITES", WRITES, outside("ui", writes));
}

#[test]
fn only_exec_starts_programs() {
    let words = ["Command::new(", "libc::fork(", "libc::vfork(", "libc::execve", "posix_spawn"];
    only_shrinks("SPAWNS", SPAWNS, outside("exec", |code| words.iter().any(|word| code.contains(word))));
}

/// The files outside of a room whose code is such.
fn outside(inside: &str, is_such: impl Fn(&str) -> bool) -> BTreeSet<&'static str> {
    let files = Source::all().code.iter().filter(|(file, code)| room(file) != inside && is_such(code));
    files.map(|(file, _)| file.as_str()).collect()
}

#[test]
fn no_file_is_two_concepts_long() {
    let source = Source::all();
    let lengths = source.files().into_iter().map(|file| (source.lines(&file), file));
    let mut lengths: Vec<(usize, String)> = lengths.collect();
    lengths.sort();
    tell(&format!("{} files, the median has {} lines", lengths.len(), lengths[lengths.len() / 2].0));
    lengths.retain(|(lines, _)| *lines > LONG);
    for (lines, file) in &lengths {
        tell(&format!("{lines:5}  src/{file}"));
    }
    only_shrinks("TOO_LONG", TOO_LONG, lengths.iter().map(|(_, file)| file.as_str()).collect());
}

#[test]
fn a_module_with_modules_is_the_mod_of_its_folder() {
    let source = Source::all();
    let files = source.files();
    let beside = |file: &&String| {
        let folder = format!("{}/", file.trim_end_matches(".rs"));
        files.iter().any(|other| other.starts_with(&folder))
    };
    only_shrinks(
        "BESIDE_ITS_FOLDER",
        BESIDE_ITS_FOLDER,
        files.iter().filter(beside).map(String::as_str).collect(),
    );
}

/// Fails for what is found and not listed, and for what is listed and not found any more.
fn only_shrinks(name: &str, listed: &[&str], found: BTreeSet<&str>) {
    let listed: BTreeSet<&str> = listed.iter().copied().collect();
    let new: Vec<_> = found.difference(&listed).collect();
    let gone: Vec<_> = listed.difference(&found).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "{name} in tests/it/architecture/known.rs: new {new:#?}, take out {gone:#?}"
    );
}

/// The room of a file: its folder, or itself.
fn room(file: &str) -> &str {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs")
}

/// For who asks with `--nocapture`, and for a test that fails.
#[expect(clippy::print_stderr, reason = "a test has no other way to say it")]
fn tell(text: &str) {
    eprintln!("{text}");
}
