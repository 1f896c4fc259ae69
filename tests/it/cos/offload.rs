//! `cos offload` on real local boxes.

use super::{Cos, is_there, mixed};
use crate::support::{Outcome, eventually, outcome};
use std::time::Duration;

#[test]
fn a_command_runs_on_a_copy_and_nothing_is_left() {
    let cos = Cos::local();
    let done = cos.run(&["offload", ".", "cat README.md; ls -A; pwd; echo err >&2"]).success();
    assert_eq!(done.stdout, "hello\n.gitignore\nREADME.md\nsrc\n/work\nerr\n", "{done:?}");
    assert!(done.stderr.contains(".env"), "what stayed home is named: {done:?}");
    cos.has_nothing_left();
    // Words are joined, and from the command on everything is the command's.
    let words = cos.run(&["offload", "-x", "src", ".", "echo", "a  b", "-x", "--", "--help"]).success();
    assert_eq!(words.stdout, "a b -x -- --help\n");
    let between = cos.run(&["offload", ".", "--exclude=src", "ls"]).success();
    assert_eq!(between.stdout, "README.md\n");
    cos.has_nothing_left();
}

#[test]
fn its_exit_code_is_the_commands_and_a_signals() {
    let cos = Cos::local();
    assert_eq!(cos.run(&["offload", ".", "exit 7"]).code, 7);
    assert_eq!(cos.run(&["offload", ".", "kill -9 $$"]).code, 137);
    let missing = cos.run(&["offload", ".", "no-such-program-here"]);
    assert_eq!(missing.code, 127);
    assert!(missing.stderr.contains("only the programs of this machine that are below /usr"), "{missing:?}");
    cos.has_nothing_left();
}

#[test]
fn twenty_megabytes_of_mixed_bytes_arrive_byte_for_byte() {
    let cos = Cos::local();
    let bytes = mixed(20_000_000);
    cos.repo().write("blob.bin", &bytes);
    let output = cos.command(&["offload", ".", "cat blob.bin"]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout == bytes, "{} of {} bytes", output.stdout.len(), bytes.len());
    cos.has_nothing_left();
}

#[test]
fn output_comes_at_once_and_in_the_order_written() {
    use std::io::{BufRead, BufReader};
    let cos = Cos::local();
    let script = "for i in 1 2 3; do echo out $i; echo err $i >&2; done; echo > /dev/stderr anew; sleep 30";
    let mut child = cos.start(&["offload", ".", script]);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = Vec::new();
    for _ in 0..7 {
        seen.push(lines.next().unwrap().unwrap());
    }
    assert_eq!(seen, ["out 1", "err 1", "out 2", "err 2", "out 3", "err 3", "anew"]);
    // It has come while the command still runs.
    assert!(child.try_wait().unwrap().is_none());
    rustix::process::kill_process(
        rustix::process::Pid::from_raw(child.id() as i32).unwrap(),
        rustix::process::Signal::TERM,
    )
    .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    eventually("the box goes", Duration::from_secs(30), || {
        cos.boxes().is_empty() && cos.records().is_empty()
    });
}

#[test]
fn a_box_is_kept_when_that_was_asked_and_shown_until_it_is_gone() {
    let cos = Cos::local();
    let kept = cos.run(&["offload", "-K", ".", "touch here; exit 3"]);
    assert_eq!(kept.code, 3);
    let id = cos.boxes()[0]["id"].as_str().unwrap().to_owned();
    assert!(kept.stderr.contains(&format!("sandbox get {id}")), "{kept:?}");
    assert!(kept.stderr.contains(&format!("sandbox rm --yes {id}")), "{kept:?}");
    let status = cos.run(&["status"]).success();
    assert!(status.stdout.contains("kept") && status.stdout.contains(&id), "{status:?}");
    // One that passes is deleted with the flag too; the kept one stays.
    let _ = cos.run(&["offload", "-K", ".", "true"]).success();
    assert_eq!(cos.boxes().len(), 1);
    let _ = cos.home().run(&["local", "sandbox", "rm", "--yes", &id]).success();
    let status = cos.run(&["status"]).success();
    assert!(!status.stdout.contains(&id), "what is gone is forgotten: {status:?}");
    cos.has_nothing_left();
}

#[test]
fn what_leaves_is_a_part_of_a_worktree_or_a_folder_without_links_and_secrets() {
    let cos = Cos::local();
    cos.repo()
        .write("src/target/built", "x")
        .write("src/lib/a.py", "1")
        .write("src/notes.gif", "x")
        .commit("more");
    cos.repo().write("src/node_modules/left", "x").write("src/new.py", "2");
    let listed = |outcome: Outcome| outcome.success().stdout;
    // Tracked files are never dropped by the fixed excludes, untracked ones are.
    let all = listed(cos.run(&["offload", "src", "find . -type f | sort"]));
    assert_eq!(all, "./lib/a.py\n./main.py\n./new.py\n./notes.gif\n./target/built\n");
    let folder = cos.home().path().join("plain");
    for name in ["dist/x", "sub/deep.txt", "top.txt", "sub/id_rsa", "café\n.txt"] {
        cos.home().write(&format!("plain/{name}"), "x");
    }
    std::os::unix::fs::symlink("/etc/passwd", folder.join("out")).unwrap();
    let odd = std::os::unix::ffi::OsStrExt::from_bytes(&b"odd\xff"[..]);
    std::fs::write(folder.join::<&std::ffi::OsStr>(odd), "x").unwrap();
    let plain = folder.display().to_string();
    let all = listed(cos.run(&["offload", &plain, "find . -type f | sort; test ! -e out"]));
    assert_eq!(all, "./café\n./odd\u{fffd}\n./sub/deep.txt\n./top.txt\n.txt\n");
    let dry = cos.run(&["offload", "--dry-run", &plain]).success();
    assert!(dry.stdout.contains("  leaves   ") && dry.stdout.contains("id_rsa"), "{dry:?}");
    assert!(dry.stdout.contains("link out") && dry.stdout.contains("dist"), "{dry:?}");
    cos.has_nothing_left();
}

#[test]
fn folders_that_are_none_or_too_much_are_refused_before_a_box_is_made() {
    let cos = Cos::local();
    let home = cos.home().path().display().to_string();
    for (dir, words) in [
        ("nowhere", "is not there"),
        ("README.md", "is no folder"),
        ("/", "holds your home folder"),
        (home.as_str(), "holds your home folder"),
    ] {
        let _ = cos.run(&["offload", dir, "true"]).fails(2, words);
    }
    let _ = cos.run(&["offload", ".", "  "]).fails(2, "the command is blank");
    let _ = cos.run(&["offload", "-x", "[", ".", "true"]).fails(2, "is no pattern");
    let _ = cos
        .run(&["offload", "-s", "huge", ".", "true"])
        .fails(1, "shape 'huge' not allowed on your plan. Allowed: ");
    let _ = cos.run(&["offload", "-s", "-bad", ".", "true"]).fails(2, "");
    let _ = cos.run(&["offload", "-p", "nobody", ".", "true"]).fails(2, "unknown egress preset 'nobody'");
    let _ = cos.run(&["offload", "-e", "a b", ".", "true"]).fails(2, "egress rule");
    let _ = cos.run(&["offload", "-o", "../x", ".", "true"]).fails(2, "-o ../x");
    let _ = cos.run(&["offload", "-v", "A=b,c", ".", "true"]).fails(2, "comma");
    cos.has_nothing_left();
    // An empty folder is a folder.
    std::fs::create_dir(cos.home().path().join("empty")).unwrap();
    let empty = cos.home().path().join("empty").display().to_string();
    let done = cos.run(&["offload", &empty, "ls -A | wc -l"]).success();
    assert_eq!(done.stdout.trim(), "0", "{done:?}");
}

#[test]
fn only_named_variables_go_and_their_values_are_not_shown() {
    let cos = Cos::local();
    let mut command =
        cos.command(&["offload", "-v", "A=one", "-v", "B", ".", "echo $A$B$C; cat /proc/self/environ"]);
    command.env("B", "two").env("C", "three");
    let done = outcome(command).success();
    assert!(done.stdout.starts_with("onetwo\n") && !done.stdout.contains("three"), "{done:?}");
    assert!(!done.stderr.contains("one"), "{done:?}");
    let _ = cos.run(&["offload", "-v", "NOT_SET", ".", "true"]).fails(2, "it is not set here");
}

#[test]
fn a_long_command_arrives_and_so_does_one_that_is_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let cos = Cos::local();
    let long = format!("x={}; echo ${{#x}}", "y".repeat(110_000));
    assert_eq!(cos.run(&["offload", ".", &long]).success().stdout, "110000\n");
    let mut command = cos.command(&["offload", "."]);
    command.arg(std::ffi::OsStr::from_bytes(b"printf '\xff\xfe' | od -An -tx1"));
    assert_eq!(outcome(command).success().stdout.trim(), "ff fe");
    assert!(!is_there(cos.repo().root(), ".cos"));
    cos.has_nothing_left();
}

#[test]
fn a_reader_that_goes_away_ends_the_command_and_its_box() {
    let cos = Cos::local();
    let mut child = cos.start(&["offload", ".", "yes"]);
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(128 + 13));
    cos.has_nothing_left();
}

#[test]
fn a_machine_that_cannot_do_it_says_so_before_a_box_is_made() {
    let cos = Cos::local();
    let mut without_git = cos.command(&["offload", ".", "true"]);
    without_git.env("PATH", cos.home().path().join("bin"));
    let _ = outcome(without_git).fails(2, "git is not on PATH");
    // The state folder cannot be made: no box without a record.
    let file = cos.home().write("a-file", "x");
    let mut no_state = cos.command(&["offload", ".", "true"]);
    no_state.env("COS_STATE_DIR", file.join("state"));
    let _ = outcome(no_state).fails(1, "a-file");
    let mut empty = cos.command(&["offload", ".", "echo ok"]);
    for name in ["COS_STATE_DIR", "COS_CLI", "COS_NO_AUTOINSTALL", "COS_CLI_INSTALL_URL"] {
        empty.env(name, "");
    }
    assert_eq!(outcome(empty).success().stdout, "ok\n");
    cos.has_nothing_left();
}

#[test]
fn what_leaves_is_no_more_than_the_service_takes_and_the_largest_folders_are_named() {
    let cos = Cos::local();
    let large = cos.home().path().join("large");
    std::fs::create_dir_all(large.join("a/b")).unwrap();
    // Noise, which no compression makes smaller; sparse elsewhere.
    let noise = mixed(1 << 20);
    let mut file = std::fs::File::create(large.join("a/b/noise")).unwrap();
    for _ in 0..510 {
        std::io::Write::write_all(&mut file, &noise).unwrap();
    }
    std::fs::write(large.join("small"), "x").unwrap();
    let refused =
        cos.run(&["offload", &large.display().to_string(), "true"]).fails(1, "the upload is larger than");
    assert!(refused.stderr.contains("a/b (534.8 MB)"), "{refused:?}");
    cos.has_nothing_left();
}
