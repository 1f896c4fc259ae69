//! The pictures of the documents are drawn from the cells of a terminal in which the real binary ran, and compared.
//! After a change that is meant: `UPDATE_SCREENS=1 cargo test pictures`.
// `anstyle-svg` draws a stream of output, not a screen on which a cursor moved: so the drawing is ours.

use super::examples::redacted;
use crate::actions::delete::ask_delete;
use crate::actions::world::{LONG, World, typed};
use crate::setup::{CONFIG, createos, fixed_git, machine};
use crate::support::{Herdr, Home, Pty, Terminal, User, eventually};
use std::fmt::Write as _;

const FOLDER: &str = "docs/pictures";
/// The size of a cell and the frame around all of them, in units of the picture.
const CELL: (u32, u32, u32) = (9, 20, 16);
/// Text colours on light and on dark ground: none, then red, green, yellow, blue, magenta, cyan and grey as terminals
/// number them from 1.
const LIGHT: [&str; 8] =
    ["#1f2328", "#b62324", "#116329", "#7d4e00", "#0550ae", "#6639ba", "#1b7c83", "#59636e"];
const DARK: [&str; 8] =
    ["#e6edf3", "#ff7b72", "#56d364", "#e3b341", "#79c0ff", "#d2a8ff", "#56d4dd", "#9198a1"];

/// A picture: its file's name, its words for who does not see it, and its screen.
struct Picture {
    name: &'static str,
    words: &'static str,
    terminal: Terminal,
    /// Rows that begin so come one after the other.
    steps: Option<&'static str>,
}

fn picture(name: &'static str, words: &'static str, (rows, columns): (u16, u16), output: &[u8]) -> Picture {
    let mut terminal = Terminal::new(rows, columns, 0);
    terminal.process(output);
    Picture { name, words, terminal, steps: None }
}

/// What is pressed, shown and looked at on the way from a setup to a list of boxes.
fn pictures() -> Vec<Picture> {
    let mut all = Vec::new();
    let plain = |home: &Home, bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).expect("text");
        text.replace(home.path().to_str().expect("text"), "~").into_bytes()
    };

    let home = Home::new();
    let mut tries = Pty::spawn(home.command(&["try"]), 30, 84);
    assert!(tries.wait(LONG).success(), "{}", tries.text());
    let words = "try: an agent edits and commits in a local box, and its commit comes home as a patch";
    all.push(Picture { steps: Some("/7  "), ..picture("try", words, (30, 84), &tries.bytes()) });

    let home = machine(User::Me);
    fixed_git(&home);
    let mut herdr = Herdr::in_home(&home);
    home.write(
        CONFIG,
        "[[keys.command]]\nkey = \"prefix+shift+c\"\ntype = \"shell\"\ncommand = \"cargo watch\"\n",
    );
    let asks = Pty::spawn(home.command(&["setup", "herdr"]), 24, 80);
    asks.expect("Continue?", LONG);
    let words = "setup shows its four changes and the keys, and asks one question";
    all.push(picture("setup", words, (24, 80), &plain(&home, asks.bytes())));
    drop(asks);
    let _ = home.run(&["setup", "herdr", "--yes"]).success();
    createos(&home, "v0.0.29", true);
    herdr.script("version", "0.7.4".into());
    let mut doctor = Pty::spawn(home.command(&["setup", "herdr", "--doctor"]), 44, 88);
    let _ = doctor.wait(LONG);
    let text = String::from_utf8(plain(&home, doctor.bytes())).expect("text");
    let text = text.replace(std::env::consts::ARCH, "x86_64");
    let words = "the doctor: every check in its group, and the one fault with its fix at the end";
    all.push(picture("doctor", words, (44, 88), text.as_bytes()));

    let world = World::new();
    let (id, pane) = world.start();
    world.answers(&pane, "rea", "dy");
    let started = super::screens::until(&world.screen(&pane), "attached. Ctrl-]").replace('\n', "\r\n");
    let words = "a start in a pane: five steps with their times, then the agent's own screen";
    all.push(picture("start", words, (12, 80), &plain(&world.home, started.into_bytes())));
    world.in_box(
        &id,
        "cd /workspace && echo 'from the agent' >> README.md && mkdir .vscode \
         && echo '{}' > .vscode/tasks.json && git add -A && git commit -qm work",
    );
    let review = Pty::spawn(typed(&world, &pane, &["herdr", "review"]), 24, 80);
    review.expect("y apply", LONG);
    let words = "review: the patch before it comes home; a file that would run code here is marked";
    all.push(picture("review", words, (24, 80), &plain(&world.home, review.bytes())));
    let asks = ask_delete(&world, &pane, (16, 72));
    asks.expect("any other key", LONG);
    let words = "the question before a delete names what is not home yet";
    all.push(picture("delete", words, (16, 72), &plain(&world.home, asks.bytes())));
    let list = Pty::spawn(world.home.command(&["herdr", "boxes"]), 8, 96);
    eventually("the list is there", LONG, || list.text().contains("1 box "));
    let words = "boxes: each with its state, its pane and its worktree";
    all.push(picture("boxes", words, (8, 96), &plain(&world.home, list.bytes())));
    all
}

/// Neighbouring cells of one look: the first column, the classes, the text.
fn runs(screen: &vt100::Screen, row: u16) -> Vec<(u16, String, String)> {
    let mut runs: Vec<(u16, String, String)> = Vec::new();
    for column in 0..screen.size().1 {
        let cell = screen.cell(row, column).expect("a cell of the screen");
        let mut class = String::new();
        if let vt100::Color::Idx(colour @ 1..8) = cell.fgcolor() {
            write!(class, "c{colour} ").expect("text");
        }
        for (name, has) in [("b ", cell.bold()), ("d ", cell.dim()), ("v ", cell.inverse())] {
            class.push_str(if has { name } else { "" });
        }
        let text = if cell.has_contents() { cell.contents() } else { " " };
        match runs.last_mut().filter(|(_, last, _)| *last == class) {
            Some((.., run)) => run.push_str(text),
            None => runs.push((column, class, text.to_owned())),
        }
    }
    // Blanks in front of a run are its place.
    for (column, class, text) in &mut runs {
        if !class.contains('v') {
            let trimmed = text.trim_start_matches(' ');
            *column += (text.len() - trimmed.len()) as u16;
            *text = trimmed.trim_end_matches(' ').to_owned();
        }
    }
    runs.retain(|(.., text)| !text.is_empty());
    runs
}

/// The screen as a picture, a row of it in a line.
fn svg(picture: &Picture) -> String {
    let screen = picture.terminal.screen();
    let (wide, high, frame) = CELL;
    let rows: Vec<Vec<_>> = (0..screen.size().0).map(|row| runs(screen, row)).collect();
    let used = rows.iter().rposition(|runs| !runs.is_empty()).map_or(0, |last| last + 1);
    let (width, height) = (u32::from(screen.size().1) * wide + 2 * frame, used as u32 * high + 2 * frame);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" role=\"img\">\n\
         <title>{}</title>\n<style>\n{}</style>\n\
         <rect class=\"g\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\n",
        picture.words,
        style(&rows, picture.steps)
    );
    let mut step = 0;
    for (row, runs) in rows.iter().enumerate().filter(|(_, runs)| !runs.is_empty()) {
        let (top, mut line) = (frame + row as u32 * high, String::new());
        step += u32::from(begins_step(runs, picture.steps) || ends_steps(runs, step, &rows, picture.steps));
        for (column, class, text) in runs {
            let (x, cells) = (frame + u32::from(*column) * wide, text.chars().count() as u32 * wide);
            if class.contains('v') {
                write!(line, "<rect class=\"t\" x=\"{x}\" y=\"{top}\" width=\"{cells}\" height=\"{high}\"/>")
                    .expect("text");
            }
            // Where a font or a viewer folds blanks, words still stand in their column.
            let mut at = *column;
            for part in text.split("  ") {
                let words = part.trim_start_matches(' ');
                let start = at + (part.len() - words.len()) as u16;
                at += part.chars().count() as u16 + 2;
                if words.is_empty() {
                    continue;
                }
                let (x, length) = (frame + u32::from(start) * wide, words.chars().count() as u32 * wide);
                let (class, y) = (class.trim_end(), top + high - 5);
                let words = words.replace('&', "&amp;").replace('<', "&lt;");
                write!(
                    line,
                    "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" textLength=\"{length}\">{words}</text>"
                )
                .expect("text");
            }
        }
        let group = if picture.steps.is_some() { format!("<g class=\"s{step}\">") } else { "<g>".into() };
        writeln!(out, "{group}{line}</g>").expect("text");
    }
    out + "</svg>\n"
}

fn begins_step(runs: &[(u16, String, String)], steps: Option<&str>) -> bool {
    steps.is_some_and(|mark| {
        runs.first().is_some_and(|(.., text)| text.get(1..).is_some_and(|rest| rest.starts_with(mark)))
    })
}

/// Whether what comes after the last step begins here.
fn ends_steps(
    runs: &[(u16, String, String)],
    step: u32,
    rows: &[Vec<(u16, String, String)>],
    steps: Option<&str>,
) -> bool {
    let all = rows.iter().filter(|runs| begins_step(runs, steps)).count() as u32;
    steps.is_some() && step == all && !begins_step(runs, steps)
}

/// Colours for light and dark ground, and when each step comes.
fn style(rows: &[Vec<(u16, String, String)>], steps: Option<&str>) -> String {
    let colours = |[text, coloured @ ..]: [&str; 8], ground: &str, edge: &str| {
        let each = (1..).zip(coloured).map(|(number, colour)| format!(".c{number}{{fill:{colour}}}"));
        format!(
            "text,.t{{fill:{text}}}.g{{fill:{ground};stroke:{edge}}}{}.v{{fill:{ground}}}",
            each.collect::<String>()
        )
    };
    let mut css = format!(
        "text{{font:15px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}}.b{{font-weight:700}}.d{{opacity:.65}}\n{}\n@media(prefers-color-scheme:dark){{{}}}\n",
        colours(LIGHT, "#ffffff", "#d1d9e0"),
        colours(DARK, "#0d1117", "#3d444d")
    );
    let count = rows.iter().filter(|runs| begins_step(runs, steps)).count() + 1;
    for step in (1..=count).filter(|_| count > 1) {
        let (from, seconds) = (step * 70 / (count + 1), count + 6);
        writeln!(
            css,
            "@keyframes k{step}{{0%,{from}%{{opacity:0}}{}%,100%{{opacity:1}}}}.s{step}{{animation:k{step} {seconds}s infinite}}",
            from + 1
        )
        .expect("text");
    }
    css + if count > 1 { "@media(prefers-reduced-motion){g{animation:none!important}}\n" } else { "" }
}

/// A picture's rows without what differs from run to run: places, times, names.
fn essence(svg: &str) -> Vec<String> {
    let rows = svg.lines().filter(|line| line.starts_with("<g"));
    let runs = rows.map(|row| {
        let texts = row.split("<text class=\"").skip(1).map(|run| {
            let (class, rest) = run.split_once('"').expect("a class ends");
            let text =
                rest.split_once('>').and_then(|(_, rest)| rest.split_once("</text>")).expect("a run").0;
            format!("[{class}]{}", redacted(text))
        });
        texts.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
    });
    svg.lines().filter(|line| line.starts_with("<title>")).map(str::to_owned).chain(runs).collect()
}

#[test]
fn the_pictures_are_what_is_shown_and_have_words() {
    if crate::support::real_herdr().is_some() {
        // Another Herdr has other words for some things.
        return;
    }
    let update = std::env::var_os("UPDATE_SCREENS").is_some();
    let pages: String = super::documents().iter().map(|name| super::document(name)).collect();
    let mut differ = Vec::new();
    for picture in pictures() {
        let (file, now) = (format!("{FOLDER}/{}.svg", picture.name), svg(&picture));
        let known = std::fs::read_to_string(super::path(&file)).unwrap_or_default();
        if essence(&known) != essence(&now) {
            if update {
                std::fs::create_dir_all(super::path(FOLDER)).expect("docs/pictures");
                std::fs::write(super::path(&file), &now).expect("the picture");
            }
            let (known, now) = (essence(&known).join("\n"), essence(&now).join("\n"));
            differ.push(format!("{file} shows\n{known}\n--- but it is\n{now}"));
        }
        let shown = pages.contains(&format!("![{}](pictures/{}.svg)", picture.words, picture.name))
            || pages.contains(&format!("![{}]({file})", picture.words));
        assert!(update || shown, "no page shows {file} with the words \"{}\"", picture.words);
    }
    assert!(update || differ.is_empty(), "{}\n\nUPDATE_SCREENS=1 cargo test pictures", differ.join("\n\n"));
}
