//! A signal that ends a run ends the programs that it started, and leaves nothing that the next run cannot finish.

use super::{CONFIG, machine};
use crate::support::{Herdr, Home, Pty, User, eventually, program};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(60);

/// A Herdr whose `config check` never ends, and neither does the program that it waits for.
fn hangs(home: &Home) {
    let text = "#!/bin/sh\ncase \"$1 $2\" in\n'--version ') echo 'herdr 0.8.2';;\n\
        'config check') sleep 600 & echo $! > inner; echo $$ > outer.draft; mv outer.draft outer; wait;;\n\
        *) exec herdr-stand-in \"$@\";;\nesac\n";
    program(home, "bin/herdr", text);
}

fn pid(home: &Home, file: &str) -> Pid {
    Pid::from_raw(home.read(file).trim().parse().expect("a number")).expect("a process")
}

/// Gone, or dead and waiting for a parent that never asks.
fn is_gone(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    let is_dead =
        stat.is_ok_and(|stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')));
    test_kill_process(pid).is_err() || is_dead
}

fn started(home: &Home, args: &[&str]) -> Child {
    let mut command = home.command(args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    eventually("the check runs", LIMIT, || home.path().join("outer").exists());
    child
}

#[test]
fn no_program_outlives_a_doctor_or_a_setup_that_is_ended() {
    for (args, signal, number) in [
        (&["setup", "--doctor"][..], Signal::TERM, 15),
        (&["setup", "--doctor", "--json"], Signal::INT, 2),
        (&["setup"], Signal::INT, 2),
        (&["setup"], Signal::HUP, 1),
    ] {
        let home = machine(User::Me);
        hangs(&home);
        let child = started(&home, args);
        let (inner, outer) = (pid(&home, "inner"), pid(&home, "outer"));
        assert!(!is_gone(inner) && !is_gone(outer), "they run");
        kill_process(Pid::from_child(&child), signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(number), "{args:?}: {output:?}");
        assert!(output.stdout.is_empty() && output.stderr.is_empty(), "{args:?}: {output:?}");
        eventually("both are gone", LIMIT, || is_gone(inner) && is_gone(outer));
    }
}

#[test]
fn a_setup_that_is_ended_while_herdr_works_is_finished_or_taken_back() {
    for next in [&["setup"][..], &["setup", "--undo"]] {
        let home = machine(User::Me);
        let herdr = Herdr::in_home(&home);
        if !herdr.is_stand_in() {
            return;
        }
        home.write(CONFIG, "[ui]\n");
        let real = home.path().join("bin/herdr");
        let kept = home.path().join("bin/herdr-stand-in");
        std::fs::rename(&real, &kept).unwrap();
        // It hangs while the plugin is linked, which is in the middle of a setup.
        let text = "#!/bin/sh\ncase \"$1 $2\" in\n\
            'plugin link') herdr-stand-in \"$@\"; echo $$ > inner; echo $$ > outer.draft; mv outer.draft outer; sleep 600;;\n\
            *) exec herdr-stand-in \"$@\";;\nesac\n";
        program(&home, "bin/herdr", text);
        let child = started(&home, &["setup"]);
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        assert_eq!(child.wait_with_output().unwrap().status.signal(), Some(15));
        std::fs::rename(&kept, &real).unwrap();
        let _ = home.run(next).success();
        let _ = home.run(&["setup", "--undo"]).success();
        assert_eq!(home.read(CONFIG), "[ui]\n");
        assert!(herdr.registry().is_empty() && !home.path().join(".local/share").exists());
    }
}

#[test]
fn ctrl_c_in_a_build_says_how_to_go_on_and_the_doctor_knows() {
    for next in [&["setup", "--local", "plug"][..], &["setup", "--undo"]] {
        let home = machine(User::Me);
        let herdr = Herdr::in_home(&home);
        home.write(CONFIG, "[ui]\n");
        let manifest = "id = \"createos.sandbox\"\nname = \"x\"\nversion = \"1.0.0\"\nmin_herdr_version = \"0.7.5\"\n\
            platforms = [\"linux\", \"macos\"]\n[[actions]]\nid = \"start\"\ntitle = \"S\"\ncommand = [\"./run.sh\"]\n";
        home.write("plug/herdr-plugin.toml", manifest);
        home.write("plug/build.sh", "echo $$ > ../outer.draft; mv ../outer.draft ../outer; sleep 600\n");
        let mut terminal = Pty::spawn(home.command(&["setup", "--local", "plug", "--yes"]), 24, 200);
        eventually("the build runs", LIMIT, || home.path().join("outer").exists());
        terminal.send("\x03");
        assert_eq!(terminal.wait(LIMIT).signal(), Some(2));
        for words in [
            "stopped half way; finish it with: createos-sandbox setup herdr --local plug\r\n",
            "or take it back with: createos-sandbox setup herdr --undo\r\n",
        ] {
            eventually("it says so", LIMIT, || terminal.text().contains(words));
        }
        eventually("the build is gone", LIMIT, || is_gone(pid(&home, "outer")));
        let doctor = home.run(&["setup", "--doctor"]);
        assert!(doctor.stdout.contains("the last one was stopped half way"), "{}", doctor.stdout);
        home.write("plug/build.sh", "echo exit > run.sh; chmod 755 run.sh\n");
        let _ = home.run(next).success();
        let doctor = home.run(&["setup", "--doctor"]);
        assert!(!doctor.stdout.contains("half way"), "{}", doctor.stdout);
        let _ = home.run(&["setup", "--undo"]).success();
        assert_eq!(home.read(CONFIG), "[ui]\n");
        assert!(herdr.registry().is_empty());
    }
}
