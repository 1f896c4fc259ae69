//! What is said where it is hard to say it: a full disk behind stdout, a pipe that does not block, and words that are
//! read once.

use super::{CONFIG, SETTINGS, machine};
use crate::support::{Herdr, User, outcome};

// There is no such device elsewhere.
#[cfg(target_os = "linux")]
#[test]
fn a_setup_whose_words_are_lost_says_that_it_is_done() {
    for (args, words) in [
        (&["setup"][..], "The setup is done all the same.\n"),
        (&["setup", "--json"], ""),
        (&["setup", "--undo"], "The setup was taken back all the same.\n"),
        (&["setup", "--json"], "The setup is done all the same.\n"),
    ] {
        let home = machine(User::Me);
        let herdr = Herdr::in_home(&home);
        let before = !words.contains("done");
        if before {
            let _ = home.run(&["setup"]).success();
        }
        let mut command = home.command(args);
        command.stdout(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
        command.stderr(std::process::Stdio::piped());
        let ended = command.spawn().unwrap().wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(1), "{said}");
        assert!(said.contains("could not write to stdout"), "{said}");
        assert!(said.starts_with(words), "{args:?}: {said}");
        assert_eq!(said.contains("all the same"), !words.is_empty(), "nothing was to be done: {said}");
        assert_eq!(herdr.registry().is_empty(), args.contains(&"--undo"));
    }
}

// Nowhere else can a pipe be made small.
#[cfg(target_os = "linux")]
#[test]
fn a_document_goes_whole_through_a_pipe_that_does_not_block() {
    use rustix::pipe::{PipeFlags, fcntl_setpipe_size, pipe_with};
    use std::io::Read;

    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    // The plan writes the settings a line each, which makes a long diff.
    let excludes: Vec<String> = (0..500).map(|number| format!("folder-{number}/")).collect();
    home.write(SETTINGS, serde_json::json!({ "excludes": excludes }).to_string());
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).unwrap();
    let size = fcntl_setpipe_size(&writer, 4096).unwrap();
    rustix::io::ioctl_fionbio(&writer, true).unwrap();
    let mut command = home.command(&["setup", "--force", "--dry-run", "--json"]);
    command.stdout(writer).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    drop(command);
    // It is read only when the pipe is full, so that the writer has met a pipe that takes nothing.
    crate::support::eventually("the pipe is full", std::time::Duration::from_secs(60), || {
        rustix::io::ioctl_fionread(&reader).unwrap() as usize >= size
    });
    let mut text = String::new();
    std::fs::File::from(reader).read_to_string(&mut text).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success() && ended.stderr.is_empty(), "{ended:?}");
    let document: serde_json::Value = serde_json::from_str(&text).expect("a whole document");
    assert_eq!(document["exitCode"], 0);
    assert!(text.len() > size, "it does not fit at once");
}

#[test]
fn a_file_that_may_not_be_written_is_named_once() {
    if !User::all().contains(&User::Nobody) {
        return;
    }
    let home = machine(User::Nobody);
    let _herdr = Herdr::in_home(&home);
    let config = home.write(CONFIG, "[ui]\n");
    std::os::unix::fs::chown(&config, Some(0), Some(0)).unwrap();
    let probe = outcome(home.command_of("sh".as_ref(), &["-c", "echo >> .config/herdr/config.toml"]));
    assert_ne!(probe.code, 0, "the refusal bites");
    let setup = home.run(&["setup"]).success();
    assert!(
        setup.stdout.contains("~/.config/herdr/config.toml was not written: permission denied\n"),
        "{}",
        setup.stdout
    );
    let _ = home.run(&["setup", "--undo"]).success();
    std::fs::create_dir_all(home.path().join(SETTINGS).parent().unwrap()).unwrap();
    home.own(home.path());
    std::os::unix::fs::chown(home.path().join(SETTINGS).parent().unwrap(), Some(0), Some(0)).unwrap();
    let setup = home.run(&["setup"]).success();
    assert!(
        setup.stdout.contains("createos.sandbox may not be written: permission denied\n"),
        "{}",
        setup.stdout
    );
}

#[test]
fn a_chord_that_herdr_does_not_know_is_said_in_a_sentence() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup"]).success();
    let text = home.read(CONFIG).replace("prefix+shift+i", "prefix+delete");
    home.write(CONFIG, text);
    let doctor = home.run(&["setup", "--doctor"]);
    let words = "info has no key: prefix+delete on line";
    let seen = doctor.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(seen.contains(words) && seen.contains(": Herdr knows no key `delete`"), "{}", doctor.stdout);
}
