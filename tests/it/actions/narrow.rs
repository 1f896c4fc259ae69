//! Panes get small: what a start, its pane and the popups say is broken between words, at 40 columns, and
//! what matters stays in sight, at 8 rows of 30.

use super::delete::ask_delete;
use super::world::{CALM, LONG, World, typed};
use crate::support::{Pty, Terminal, eventually};
use serde_json::json;

const COLUMNS: u16 = 40;

/// The pane of a start as a terminal of this size: its process, on a record that is ready for it.
pub fn start_in_a_small_pane(world: &World, (rows, columns): (u16, u16)) -> Pty {
    // Herdr's own start would finish a record that nobody owns.
    eventually("the start of Herdr is dealt with", LONG, || {
        let logs = world.herdr(&["plugin", "log", "list"])["logs"].clone();
        logs[0]["status"] == "succeeded"
    });
    let record = json!({
        "id": "0badcafe", "phase": "starting", "provider": "createos", "box": "hd-shop-ab3dxyzzy",
        "socket": world.home.path().join(".config/herdr/herdr.sock"), "agent": "shell",
        "local": world.repo.root(), "remote": "/workspace", "autoPause": "30m",
    });
    world.edit_state(|state| {
        *state = json!({ "version": 1, "installation": "ab3d", "records": [record] });
    });
    let mut command = typed(world, &world.pane_ids()[0], &["herdr", "provision"]);
    command.env("CREATEOS_SANDBOX_RECORD", "0badcafe");
    Pty::spawn(command, rows, columns)
}

/// What the screen shows, row by row.
fn rows(pty: &Pty) -> Vec<String> {
    let mut screen = Terminal::new(60, COLUMNS, 0);
    screen.process(&pty.bytes());
    let screen = screen.screen();
    for (row, text) in screen.rows(0, COLUMNS).enumerate() {
        let wrapped = screen.row_wrapped(u16::try_from(row).expect("a row"));
        // That line is the official program's own; and no command is ever broken, so that it can be copied.
        let whole =
            text.starts_with("  attached to proc_") || text.trim_start().starts_with("createos-sandbox ");
        assert!(!wrapped || whole, "the terminal had to break this line: {text}");
    }
    screen.rows(0, COLUMNS).map(|row| row.trim_end().to_owned()).collect()
}

#[track_caller]
fn shows(pty: &Pty, lines: &str) {
    let screen = rows(pty).join("\n");
    assert!(screen.contains(lines), "[{lines}] is not in:\n{screen}");
}

#[test]
fn a_start_and_the_holding_screen_fit_into_forty_columns() {
    let world = World::new();
    let mut pane = start_in_a_small_pane(&world, (60, COLUMNS));
    pane.expect("Ctrl-]", LONG);
    // Every step was seen before it was done, packing first: its line is replaced by what came of it.
    let text = pane.text();
    for (before, after) in [("packing", "1/5  create"), ("1/5  create   …", "1/5  create   sb-")] {
        let before = text.find(before).unwrap_or_else(|| panic!("[{before}] was not shown:\n{text}"));
        assert!(before < text.rfind(after).expect("it is done"), "{text}");
    }
    for step in ["2/5  upload   …", "3/5  prepare  …", "4/5  install  …", "5/5  start    …"] {
        assert!(text.contains(step), "[{step}] was not shown:\n{text}");
    }
    shows(&pane, "Shell in hd-shop-ab3dxyzzy\ns-2vcpu-4gb, pauses after 30m");
    shows(&pane, "  2/5  upload   2 files, 19 B; 1 stayed\n                home");
    shows(&pane, "  5/5  start    attached. Ctrl-]\n                detaches");
    pane.send("exit 7\n");
    pane.expect("close this pane", LONG);
    shows(&pane, "Shell in hd-shop-ab3dxyzzy: the agent\nhas ended, exit code 7.");
    shows(&pane, "  Enter   resume and reattach\n  s       a shell on THIS machine, in\n          ~/shop\n");
    shows(
        &pane,
        "  q       close this pane (the box\n          stays:\n          createos-sandbox herdr boxes)",
    );
    std::thread::sleep(CALM);
    pane.send("q");
    assert!(pane.wait(LONG).success(), "q closes it");
    assert_eq!(world.boxes().len(), 1, "the box stays");
}

#[test]
fn a_failed_start_fits_and_its_command_stays_whole() {
    let mut world = World::new();
    let words = "sandbox limit reached (2 of 2), delete one of them first";
    world.script("fail", json!([{ "verb": "create", "code": "forbidden", "message": words }]));
    let pane = start_in_a_small_pane(&world, (60, COLUMNS));
    pane.expect("close this pane", LONG);
    shows(
        &pane,
        "error: sandbox create failed: sandbox\n  limit reached (2 of 2), delete one of\n  them first",
    );
    shows(&pane, "\n  createos-sandbox herdr boxes\n");
}

#[test]
fn popups_fit_into_forty_columns() {
    let world = World::new();
    let (_, pane) = world.start();
    let mut command = typed(&world, &pane, &["herdr", "message"]);
    command.env("CREATEOS_SANDBOX_MESSAGE", "info\n\n  worktree      ~/a/very long/folder of mine/shop");
    let message = Pty::spawn(command, 20, COLUMNS);
    message.expect("any key closes this", LONG);
    shows(&message, "  worktree      ~/a/very long/folder of\n                mine/shop");

    let question = ask_delete(&world, &pane, (20, COLUMNS));
    question.expect("keep it", LONG);
    shows(&question, "  y, or the same key again   delete it\n");
    let name = world.box_name();
    shows(&question, &format!("  box           {name}"));
    shows(&question, "\n                (Shell)\n");
}

/// What a person sees on a screen of 8 rows of 30.
fn seen(pty: &Pty) -> String {
    let mut screen = Terminal::new(8, 30, 0);
    screen.process(&pty.bytes());
    screen.screen().contents()
}

#[track_caller]
fn sees(pty: &Pty, expected: &str) {
    eventually(&format!("only this is seen:\n{expected}\n"), LONG, || seen(pty) == expected);
}

#[test]
fn on_eight_rows_the_choices_of_the_holding_screen_are_in_sight() {
    let world = World::new();
    let mut pane = start_in_a_small_pane(&world, (8, 30));
    pane.expect("Ctrl-]", LONG);
    pane.send("exit 7\n");
    sees(
        &pane,
        "the agent has ended, exit code\n7.\n\n  Enter   resume and reattach\n  s       a shell on THIS\n          \
         machine\n  q       close this pane",
    );
}

#[test]
fn on_eight_rows_a_popup_has_its_beginning_and_its_keys_in_sight() {
    let world = World::new();
    let (_, pane) = world.start();
    let mut command = typed(&world, &pane, &["herdr", "message"]);
    let rows: Vec<_> = (1..=9).map(|n| format!("  row {n}")).collect();
    command.env("CREATEOS_SANDBOX_MESSAGE", format!("info\n\n{}", rows.join("\n")));
    let mut message = Pty::spawn(command, 8, 30);
    let keys = "arrows scroll, any other key\ncloses this";
    sees(&message, &format!("info\n  row 1\n  row 2\n  row 3\n  row 4\n  row 5\n{keys}"));
    std::thread::sleep(CALM);
    message.send("\x1b[B\x1b[B");
    sees(&message, &format!("  row 2\n  row 3\n  row 4\n  row 5\n  row 6\n  row 7\n{keys}"));
    message.resize(20, 30);
    message.expect("  any key closes this", LONG);
    message.resize(8, 30);
    sees(&message, &format!("info\n  row 1\n  row 2\n  row 3\n  row 4\n  row 5\n{keys}"));
    message.send("x");
    assert!(message.wait(LONG).success());

    let question = ask_delete(&world, &pane, (8, 30));
    let name = world.box_name();
    sees(
        &question,
        &format!(
            "Delete this box for ever?\n  box\n  {name} (Shell)\n  worktree      ~/shop\n  not applied   \
             nothing\n\n\ny deletes, other keys keep it"
        ),
    );
}

#[test]
fn the_terminal_in_the_box_has_the_panes_size_and_follows_it() {
    let world = World::new();
    let mut pane = start_in_a_small_pane(&world, (50, 90));
    pane.expect("Ctrl-]", LONG);
    for (rows, columns) in [(50, 90), (20, 61), (44, 130)] {
        pane.resize(rows, columns);
        let began = std::time::Instant::now();
        // The last row is the official program's own.
        let rows = rows - 1;
        while !pane.text().contains(&format!("<{rows} {columns}>")) {
            assert!(began.elapsed() < LONG, "not {rows} {columns}:\n{}", pane.text());
            pane.send("echo \"<$(stty size)>\"\n");
            std::thread::sleep(std::time::Duration::from_millis(300));
        }
    }
}
