//! What a terminal shows and what it is left with.

use super::Sandbox;
use crate::support::{Pty, Terminal, User, eventually};
use std::time::Duration;

const LONG: Duration = Duration::from_secs(60);
/// Alternate screen, mouse, paste, hidden cursor: what an agent's interface turns on.
const FULL_SCREEN: &str = "printf '\\033[?1049h\\033[?1000h\\033[?2004h\\033[?25lready'; exec sleep 1000";

fn attach(made: &Sandbox, process: &str, more: &[&str]) -> Pty {
    let mut args = vec!["process", "attach"];
    args.extend(more);
    args.extend(["@", process]);
    Pty::spawn(made.command(&args), 24, 80)
}

#[test]
fn text_that_is_cut_in_the_middle_of_a_letter_arrives_whole() {
    let made = Sandbox::of(User::Me);
    let script =
        "for b in 342 202 254 360 237 246 200; do printf \"\\\\$b\"; sleep 0.05; done; printf '\\377end'";
    let id = made.start(&["--pty", "@", "--", "sh", "-c", script]);
    let pty = attach(&made, &id, &["--after", "0"]);
    pty.expect("end", LONG);
    let wanted = b"\xe2\x82\xac\xf0\x9f\xa6\x80\xffend";
    assert!(pty.bytes().windows(wanted.len()).any(|window| window == wanted), "{:?}", pty.bytes());
}

#[test]
fn every_way_out_gives_the_terminal_back() {
    let made = Sandbox::of(User::Me);
    type Leave = fn(&mut Pty);
    let ways: [(&str, Leave); 3] = [
        ("detach", |pty| pty.send("\x1d")),
        ("detach, as kitty sends it", |pty| pty.send("\x1b[93;5u")),
        ("TERM", |pty| {
            let pid = rustix::process::Pid::from_raw(pty.id().cast_signed()).expect("a process id");
            rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
        }),
    ];
    let id = made.start(&["--pty", "@", "--", "sh", "-c", FULL_SCREEN]);
    for (way, leave) in ways {
        let mut pty = attach(&made, &id, &["--after", "0"]);
        pty.expect("ready", LONG);
        leave(&mut pty);
        let status = pty.wait(LONG);
        assert_eq!(status.code(), Some(if way == "TERM" { 128 + 15 } else { 0 }), "{way}");
        eventually("the modes are taken back", LONG, || {
            ["1049l", "1000l", "2004l", "25h"]
                .iter()
                .all(|mode| pty.text().contains(&format!("\x1b[?{mode}")))
        });
    }
    assert_eq!(made.process(&id)["state"], "running");
}

#[test]
fn a_shell_s_screen_is_not_left_when_it_was_never_entered() {
    let made = Sandbox::of(User::Me);
    let id = made.start(&["--pty", "@", "--", "sh", "-c", "printf ready; exec sleep 1000"]);
    let mut pty = attach(&made, &id, &["--after", "0"]);
    pty.expect("ready", LONG);
    pty.send("\x1d");
    pty.wait(LONG);
    eventually("the cursor is shown", LONG, || pty.text().contains("\x1b[?25h"));
    assert!(!pty.text().contains("1049"), "{:?}", pty.text());
}

#[test]
fn a_terminal_that_comes_later_shows_the_screen_as_it_is_and_nothing_acts_again() {
    let made = Sandbox::of(User::Me);
    let acts = "\\033]52;c;b2xk\\007\\033]9;done\\007\\033[6n\\033[c\\007";
    let lines = "for n in $(seq 60); do echo line $n; done";
    let script = format!(
        "printf '\\033]2;a title\\007{acts}'; {lines}; printf '\\033[?1000h\\033[?2004hready'; read go; {FULL_SCREEN}"
    );
    let id = made.start(&["--pty", "--rows", "24", "--cols", "80", "@", "--", "sh", "-c", &script]);
    eventually("it waits", LONG, || made.process(&id)["output"]["bytes"].as_u64() > Some(500));
    let shown = |pty: &Pty| {
        let mut terminal = Terminal::new(24, 80, 0);
        terminal.process(&pty.bytes());
        (
            terminal.screen().contents(),
            terminal.screen().bracketed_paste(),
            terminal.screen().alternate_screen(),
        )
    };
    // Nobody has answered what the program has asked: its first terminal does.
    let mut first = attach(&made, &id, &[]);
    first.expect("ready", LONG);
    let acting = ["\x1b]52", "\x1b]9", "\x1b[6n", "\x1b[c", "\x07"];
    assert!(acting.iter().all(|order| first.text().contains(order)), "{:?}", first.text());
    let seen = shown(&first);
    first.send("\x1d");
    first.wait(LONG);
    let mut later = attach(&made, &id, &[]);
    later.expect("ready", LONG);
    assert_eq!(shown(&later), seen);
    for order in acting {
        assert!(!later.text().contains(order), "{order:?} acts again: {:?}", later.text());
    }
    for order in ["\x1b]2;a title\x1b\\", "\x1b[?1000h", "\x1b[?2004h"] {
        assert!(later.text().contains(order), "{order:?}: {:?}", later.text());
    }
    assert!(!later.text().contains("line 20\r"), "what has left the screen is not shown again");
    later.send("go\r");
    later.expect("1049h", LONG);
    eventually("it has the whole screen", LONG, || shown(&later).2);
    let full = attach(&made, &id, &[]);
    for mode in ["1049h", "1000h", "2004h", "25l"] {
        full.expect(&format!("\x1b[?{mode}"), LONG);
    }
    // Whoever names a place gets every byte from there on, as from the official program.
    let all = attach(&made, &id, &["--after", "0"]);
    all.expect("\x1b]52;c;b2xk\x07", LONG);
    all.expect("line 20\r", LONG);
}

#[test]
fn a_pasted_key_does_not_detach() {
    let made = Sandbox::of(User::Me);
    let id = made.start(&["--pty", "@", "--", "sh", "-c", "printf ready; cat"]);
    let mut pty = attach(&made, &id, &[]);
    pty.expect("ready", LONG);
    pty.send("\x1b[200~a\x1db\x1b[201~\r");
    pty.send("still here\r");
    pty.expect("still here", LONG);
    pty.send("\x1b[93;133u");
    assert_eq!(pty.wait(LONG).code(), Some(0), "with Num Lock on, as kitty sends it");
}

#[test]
fn a_flood_is_kept_within_bounds_and_what_was_lost_is_said() {
    let made = Sandbox::of(User::Me);
    let script = "head -c 9000000 /dev/zero | tr '\\0' x; echo; echo the-end";
    let id = made.start(&["@", "--", "sh", "-c", script]);
    eventually("it ends", LONG, || made.process(&id)["state"] == "exited");
    let output = made.process(&id)["output"].clone();
    let number = |key: &str| output[key].as_u64().unwrap();
    assert_eq!(number("newest_seq"), 9_000_009);
    assert!((1 << 20..=8 << 20).contains(&number("bytes")), "{output}");
    let replay = made.run(&["process", "attach", "--after", "0", "@", &id]).success();
    assert_eq!(replay.stdout.len() as u64, number("bytes"));
    assert!(replay.stdout.ends_with("x\nthe-end\n"));
    assert!(replay.stderr.contains("not kept any more"), "{}", replay.stderr);
}

#[test]
fn somebody_who_watches_gets_everything_however_fast_it_comes() {
    let made = Sandbox::of(User::Me);
    // Waits for the watcher, then writes more than is kept.
    let script = "read go; head -c 20000000 /dev/zero | tr '\\0' x";
    let id = made.start(&["@", "--", "sh", "-c", script]);
    let watched = made.run_with_input(&["process", "attach", "--stdin", "--after", "0", "@", &id], b"go\n");
    assert_eq!((watched.code, watched.stdout.len()), (0, 20_000_000), "{}", watched.stderr);
}

#[test]
fn a_replay_on_a_terminal_gives_it_back_too() {
    let made = Sandbox::of(User::Me);
    let script = "printf '\\033[?10\\r49h\\033[?1000h\\033[5;6r\\033(0\\033[4h\\033]11;red\\007done'";
    let id = made.start(&["--pty", "@", "--", "sh", "-c", script]);
    eventually("it ends", LONG, || made.process(&id)["state"] == "exited");
    for more in [&["--after", "0"][..], &["--no-follow"]] {
        let mut pty = attach(&made, &id, more);
        assert_eq!(pty.wait(LONG).code(), Some(0));
        let undone = ["[?1049l", "[?1000l", "[r", "(B", "[4l", "]111", "[!p", "[?7h", "[?25h"];
        eventually("everything is undone", LONG, || {
            undone.iter().all(|order| pty.text().contains(&format!("\x1b{order}")))
        });
    }
}

#[test]
fn a_late_answer_to_a_program_is_not_typed_into_the_shell() {
    let made = Sandbox::of(User::Me);
    let id = made.start(&["--pty", "@", "--", "sh", "-c", "printf ready; read go; printf '\\033[c'"]);
    let attach = made.command(&["process", "attach", "--after", "0", "@", &id]);
    // The rest of the terminal's input, as a shell would find it.
    let script = "\"$@\"; stty -icanon -echo min 0 time 20; printf '<%s>' \"$(cat | od -An -c)\"";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, "sh"]).arg(attach.get_program()).args(attach.get_args()).env_clear();
    shell.current_dir(made.home().path());
    for (name, value) in attach.get_envs() {
        shell.env(name, value.unwrap_or_default());
    }
    let mut pty = Pty::spawn(shell, 24, 80);
    pty.expect("ready", LONG);
    pty.send("go\r");
    pty.expect("\x1b[c", LONG);
    pty.send("\x1b[?62;22c");
    pty.wait(LONG);
    pty.expect("<>", LONG);
}
