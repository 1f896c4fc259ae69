//! create, list, get, exec, rm.

use super::Sandbox;
use crate::support::{Home, Pty, User, outcome};
use std::time::Duration;

#[test]
fn a_box_is_made_listed_shown_and_deleted() {
    for user in User::all() {
        let home = Home::of(user);
        let made = Sandbox::with(home, &["--name", "web-1", "--auto-pause", "30m", "--env", "KEY=value"]);
        let view = made.run(&["get", "web-1"]).success().json();
        assert_eq!(view["id"], made.id());
        assert_eq!(view["status"], "running");
        assert_eq!(view["shape"], "s-1vcpu-1gb");
        assert_eq!((&view["vcpu"], &view["mem_mib"]), (&1.into(), &1024.into()));
        assert_eq!(view["auto_pause_after_seconds"], 1800);
        assert_eq!(view["envs"][0], "KEY", "names only, never values");
        assert!(!view.to_string().contains("value"));
        let listed = made.run(&["list"]).success().json();
        assert_eq!(listed.as_array().map(Vec::len), Some(1));
        assert_eq!(listed[0], view);

        let removed = made.run(&["-o", "json", "rm", "--yes", "web-1"]).success();
        assert_eq!(removed.stdout, format!("Deleted web-1 ({})\n", made.id()), "text, whatever was said");
        assert_eq!(made.run(&["get", "@"]).success().json()["status"], "destroyed");
        assert_eq!(made.run(&["list"]).success().json(), serde_json::json!([]));
        let again = made.run(&["rm", "--yes", "@"]).success();
        assert_eq!(again.stdout, format!("Deleted {}\n", made.id()), "once more is fine");
        let boxes = made.home().path().join(".local/share/createos-sandbox/boxes");
        let left: Vec<_> =
            std::fs::read_dir(boxes).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| name == "lock" || name == "destroyed.json"), "{left:?}");
    }
}

#[test]
fn the_program_s_exit_code_and_signal_come_back() {
    let made = Sandbox::of(User::Me);
    assert_eq!(made.sh("exit 7").code, 7);
    assert_eq!(made.sh("kill -TERM $$").code, 128 + 15);
    made.run(&["exec", "@", "--", "no-such-program"]).fails(127, "no-such-program");
    made.run(&["exec", "@", "--", "/etc/passwd"]).fails(126, "Permission denied");
}

#[test]
fn exec_is_raw_and_rm_is_text_as_the_official_main_line_has_them() {
    let made = Sandbox::of(User::Me);
    let raw = made.run(&["-o", "json", "exec", "@", "--", "sh", "-c", "printf out; printf err >&2; exit 3"]);
    assert_eq!((raw.code, raw.stdout.as_str(), raw.stderr.as_str()), (3, "out\n", "err\n"));
    let streamed = made.run(&["-o", "json", "exec", "--stream", "@", "--", "printf", "out"]).success();
    assert_eq!(streamed.stdout, "out", "byte for byte");
    for args in [
        &["-o", "json", "exec", "@", "--", "no-such-program"][..],
        &["-o", "json", "exec", "nobody", "--", "true"],
        &["-o", "json", "exec", "@", "true"],
        &["-o", "json", "rm", "--yes", "nobody"],
    ] {
        let failed = made.run(args);
        assert!(failed.code != 0 && failed.stdout.is_empty(), "no document: {failed:?}");
        assert!(failed.stderr.starts_with("error: "), "{failed:?}");
    }
    let some = made.run(&["rm", "--yes", "nobody", "@"]);
    assert_eq!((some.code, some.stdout), (1, format!("Deleted {}\n", made.id())), "the other one goes");
    assert!(some.stderr.starts_with("error: nobody: no sandbox named"), "{}", some.stderr);
}

#[test]
fn output_that_cannot_be_written_is_a_failure_and_a_closed_pipe_is_none() {
    let made = Sandbox::of(User::Me);
    made.run_with_input(&["push", "@", "-", "/tmp/x"], b"short");
    let commands: [&[&str]; 6] = [
        &["exec", "@", "--", "echo", "hi"],
        &["exec", "--stream", "@", "--", "echo", "hi"],
        &["-o", "json", "process", "list", "@"],
        &["list"],
        &["list", "--quiet"],
        &["pull", "@", "/tmp/x", "-"],
    ];
    for args in commands {
        let mut command = made.command(args);
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{args:?}: {said}");
        assert!(said.contains("could not write") && said.contains("No space left"), "{args:?}: {said}");
    }
    for args in &commands[..5] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = made.command(args).stdout(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{args:?}: {output:?}");
    }
}

#[test]
fn a_create_that_is_cut_short_leaves_nothing() {
    for user in User::all() {
        let home = Home::of(user);
        let left = || {
            let names = |folder: &str| {
                let entries = std::fs::read_dir(home.path().join(folder)).into_iter().flatten().flatten();
                let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
                names.filter(|name| name != "lock").collect::<Vec<_>>()
            };
            [names("tmp"), names(".local/share/createos-sandbox/boxes")].concat()
        };
        let create = || home.command(&["local", "sandbox", "create", "--shape", "s-1vcpu-1gb"]);
        let mut cut = 0;
        for (number, signal) in ["INT", "TERM", "HUP", "KILL"].into_iter().cycle().take(24).enumerate() {
            let mut child = create().stdout(std::process::Stdio::piped()).spawn().expect("it starts");
            std::thread::sleep(Duration::from_millis(3 * number as u64));
            let sent = std::process::Command::new("kill")
                .args([&format!("-{signal}"), &child.id().to_string()])
                .status();
            assert!(sent.is_ok());
            let ended = child.wait().expect("it ends");
            let mut said = String::new();
            std::io::Read::read_to_string(&mut child.stdout.take().expect("a pipe"), &mut said)
                .expect("text");
            let made = serde_json::from_str::<serde_json::Value>(&said)
                .ok()
                .and_then(|made| Some(made["id"].as_str()?.to_owned()));
            if signal == "KILL" {
                // The next one cleans up behind it.
                let made = outcome(create()).success().json()["id"].as_str().expect("an id").to_owned();
                let _ = home.run(&["local", "sandbox", "rm", "--yes", &made]).success();
            }
            for listed in home.run(&["local", "sandbox", "list", "--quiet"]).stdout.split_whitespace() {
                // One that was killed between its end and its word has made a box, which is on the list.
                assert!(
                    made.as_deref() == Some(listed) || signal == "KILL",
                    "{user:?} {signal} {ended:?} left {listed}"
                );
                let _ = home.run(&["local", "sandbox", "rm", "--yes", listed]).success();
            }
            cut += usize::from(made.is_none());
            let left: Vec<_> = left().into_iter().filter(|name| name != "destroyed.json").collect();
            assert!(left.is_empty(), "{user:?} {signal} after {} ms left {left:?}", 3 * number);
        }
        assert!(cut > 0, "none was cut short");
    }
}

#[test]
fn what_the_official_program_would_drop_is_an_error() {
    let made = Sandbox::of(User::Me);
    for wrong in [
        &["exec", "@", "--stream", "--", "true"][..],
        &["process", "start", "@", "--pty", "--", "true"],
        &["process", "start", "@", "--cwd", "/tmp", "--", "true"],
        &["get", "@", "another"],
        &["exec", "@", "true"],
        &["create", "--shape", "s-1vcpu-1gb", "stray"],
    ] {
        assert_eq!(made.run(wrong).code, 2, "{wrong:?}");
    }
    let late = made.run(&["-o", "json", "process", "start", "@", "--cwd", "/tmp", "--", "true"]);
    assert_eq!(late.json()["error"]["code"], "bad_request", "one document, on stdout");
    assert!(late.stderr.is_empty());
}

#[test]
fn what_cannot_be_done_here_is_refused_and_not_pretended() {
    let home = Home::new();
    let create = |flags: &[&str]| {
        let mut args = vec!["local", "-o", "table", "sandbox", "create", "--shape", "s-1vcpu-1gb"];
        args.extend(flags);
        home.run(&args)
    };
    create(&["--egress", "https://github.com"]).fails(2, "is not accepted");
    create(&["--network", "none", "--egress", "github.com"]).fails(2, "nothing that could keep to it");
    create(&["--network", "host", "--egress", "github.com"]).fails(2, "nothing that could keep to it");
    create(&["--rootfs", "debian:13"]).fails(2, "choices: [host]");
    create(&["--network", "office"]).fails(2, "pick one of: own, host, none");
    create(&["--auto-pause", "5s"]).fails(2, "between 1 minute");
    create(&["--name", "a-name-that-is-longer-than-22"]).fails(2, "cannot be the name of a box");
    create(&["--name", "\u{1b}[2J"]).fails(2, "\\x1b[2J");
    create(&["--env", "A=b,c"]).fails(2, "comma");
    home.run(&["local", "-o", "table", "sandbox", "create", "--shape", "s-9vcpu-1gb"])
        .fails(2, "is not allowed, choices: [");
    assert_eq!(home.run(&["local", "sandbox", "list"]).success().json(), serde_json::json!([]));
}

#[test]
fn names_are_unique_and_free_again_after_the_box_is_gone() {
    let made = Sandbox::with(Home::new(), &["--name", "only-one"]);
    let again = ["create", "--shape", "s-1vcpu-1gb", "--name", "only-one"];
    assert_eq!(made.run(&again).json()["error"]["code"], "conflict");
    let _done = made.run(&["rm", "--yes", "only-one"]).success();
    let _done = made.run(&again).success();
    assert_eq!(made.run(&["get", "no-such"]).json()["error"]["code"], "not_found");
}

#[test]
fn arguments_and_output_pass_through_byte_for_byte() {
    use std::os::unix::ffi::OsStrExt;
    let made = Sandbox::of(User::Me);
    let odd = [&b"new\nline"[..], b"\xff\xfe", b"", b"--help", b"$HOME `x` \"'", b"\x1b[2J"];
    let mut command = made.command(&["exec", "--stream", "@", "--", "printf", "%s\\0"]);
    command.args(odd.map(std::ffi::OsStr::from_bytes));
    let output = command.output().unwrap();
    let wanted: Vec<u8> = odd.iter().flat_map(|arg| arg.iter().copied().chain([0])).collect();
    assert_eq!(output.stdout, wanted);
}

#[test]
fn stdin_reaches_the_program_and_an_unread_pipe_holds_nobody_up() {
    let made = Sandbox::of(User::Me);
    let big = vec![b'x'; 3_000_000];
    let counted = made.run_with_input(&["exec", "--stream", "@", "--", "wc", "-c"], &big);
    assert_eq!(counted.success().stdout.trim(), "3000000");
    let file = made.home().write("in.txt", "from a file");
    let read = made.run(&["exec", "--stream", "--stdin", file.to_str().unwrap(), "@", "--", "cat"]);
    assert_eq!(read.success().stdout, "from a file");

    let mut command = made.command(&["exec", "--stream", "@", "--", "echo", "done"]);
    let mut child =
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().unwrap();
    let _held_open = child.stdin.take();
    crate::support::eventually("exec ends although its stdin is open", Duration::from_secs(60), || {
        child.try_wait().unwrap().is_some()
    });
}

#[test]
fn an_exec_that_is_killed_takes_its_program_with_it() {
    let made = Sandbox::of(User::Me);
    let mut child = made.command(&["exec", "--stream", "@", "--", "sh", "-c", "touch began; sleep 1000"]);
    let mut child = child.spawn().unwrap();
    crate::support::eventually("the program runs", Duration::from_secs(60), || {
        made.sh("test -e began").code == 0
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let running =
        made.home().path().join(".local/share/createos-sandbox/boxes").join(made.id()).join("running");
    let left: Vec<String> = std::fs::read_dir(running)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        // Beside it lies the pipe through which it was spoken to.
        .filter(|name| !name.ends_with(".control"))
        .collect();
    assert_eq!(left.len(), 1, "the record of the killed one is still there");
    crate::support::eventually("its PID 1 is gone", Duration::from_secs(60), || {
        !std::path::Path::new(&format!("/proc/{}", left[0])).exists()
    });
}

#[test]
fn an_interrupt_at_the_terminal_reaches_the_program_and_not_its_box() {
    let made = Sandbox::of(User::Me);
    let script = "trap 'echo caught; exit 9' INT; echo ready; while :; do sleep 0.1; done";
    let command = made.command(&["exec", "--stream", "@", "--", "sh", "-c", script]);
    let mut pty = Pty::spawn(command, 24, 80);
    pty.expect("ready", Duration::from_secs(60));
    pty.send("\x03");
    pty.expect("caught", Duration::from_secs(60));
    assert_eq!(pty.wait(Duration::from_secs(60)).code(), Some(9));
}

#[test]
fn a_damaged_record_hides_no_other_box() {
    let made = Sandbox::with(Home::new(), &["--name", "whole"]);
    made.home()
        .write(".local/share/createos-sandbox/boxes/sb-01ARZ3NDEKTSV4RRFFQ69G5FAV/meta.json", "{ not json");
    let listed = made.run(&["list"]);
    assert!(listed.stderr.contains("sb-01ARZ3NDEKTSV4RRFFQ69G5FAV"), "{listed:?}");
    assert_eq!(listed.success().json()[0]["name"], "whole");
}

#[test]
fn a_box_whose_record_is_damaged_is_deleted_by_its_id() {
    for damage in [Some("{ not json"), Some("{\"version\": 1}"), None] {
        let made = Sandbox::with(Home::new(), &["--name", "broken"]);
        let process = made.start(&["@", "--", "sleep", "1000"]);
        let folder = made.home().path().join(".local/share/createos-sandbox/boxes").join(made.id());
        let running = || std::fs::read_dir(folder.join("running")).unwrap();
        let init = running().next().expect("it runs").unwrap().file_name().into_string().unwrap();
        match damage {
            Some(text) => std::fs::write(folder.join("meta.json"), text).unwrap(),
            None => std::fs::remove_file(folder.join("meta.json")).unwrap(),
        }
        let rm = format!("delete the box: createos-sandbox local sandbox rm --yes {}", made.id());
        let listed = made.run(&["list"]);
        assert!(listed.stderr.contains(&rm), "{listed:?}");
        assert_eq!(listed.success().json(), serde_json::json!([]));
        made.run(&["-o", "table", "get", "@"]).fails(1, &rm);
        assert_eq!(made.run(&["process", "get", "@", &process]).code, 1);

        let removed = made.run(&["rm", "--yes", "@"]).success();
        assert_eq!(removed.stdout, format!("Deleted {}, whose record was damaged\n", made.id()));
        assert!(!folder.exists());
        assert!(!std::path::Path::new("/proc").join(&init).exists(), "what ran in it has ended");
        assert!(made.run(&["list"]).success().stderr.is_empty(), "there is nothing to warn of any more");
        assert_eq!(made.run(&["rm", "--yes", "@"]).code, 1, "there is no such box any more");
    }
}

#[test]
fn a_record_of_a_newer_version_is_not_taken_for_a_damaged_one() {
    let made = Sandbox::of(User::Me);
    let meta =
        made.home().path().join(".local/share/createos-sandbox/boxes").join(made.id()).join("meta.json");
    let whole = std::fs::read(&meta).unwrap();
    std::fs::write(&meta, "{\"version\": 3, \"other\": true}").unwrap();
    made.run(&["-o", "table", "rm", "--yes", "@"]).fails(1, "newer createos-sandbox");
    std::fs::write(&meta, whole).unwrap();
}

#[test]
fn where_isolation_is_refused_nothing_runs_and_the_step_is_named() {
    if !rustix::process::geteuid().is_root() {
        return; // Only root can prepare a machine that refuses.
    }
    let home = Home::of(User::Nobody);
    let create = home.command(&["local", "-o", "table", "sandbox", "create", "--shape", "s-1vcpu-1gb"]);
    // As in a container: part of /proc is covered, so the kernel allows no new one.
    let script = "mount --make-rprivate / && mount -t tmpfs cover /proc/acpi 2>/dev/null \
                  || mount -t tmpfs cover /proc/fs || exit 77; exec \"$@\"";
    let mut inside = std::process::Command::new("unshare");
    inside.args(["-m", "sh", "-c", script, "sh"]).arg(create.get_program()).args(create.get_args());
    inside.env_clear();
    for (name, value) in create.get_envs() {
        inside.env(name, value.unwrap_or_default());
    }
    let refused = outcome(inside);
    assert_eq!(refused.code, 2, "{refused:?}");
    for words in ["nothing was run", "mounting a new /proc", "systempaths=unconfined"] {
        assert!(refused.stderr.contains(words), "[{words}] {refused:?}");
    }
    assert!(!home.path().join(".local").exists(), "not even a folder is left");
    assert_eq!(std::fs::read_dir(home.path().join("tmp")).unwrap().count(), 0, "the probe has cleaned up");
}
