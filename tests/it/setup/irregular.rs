//! Only regular files are read and written: a device, a FIFO, a socket or a folder is nobody's to replace.

use super::{CONFIG, SETTINGS, machine};
use crate::support::{Herdr, Home, Outcome, User, binary, outcome};
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::Path;
use std::process::Command;

/// Runs it with a limit, since what waits for a FIFO waits for ever.
fn run(home: &Home, config: Option<&Path>, args: &[&str]) -> Outcome {
    let program = binary();
    let mut all = vec!["60", program.to_str().expect("a plain path")];
    all.extend(args);
    let mut command = home.command_of("timeout".as_ref(), &all);
    command.envs(config.map(|path| ("HERDR_CONFIG_PATH", path)));
    outcome(command)
}

fn make(program: &str, args: &[&str], path: &Path) {
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
    assert!(Command::new(program).arg(path).args(args).status().expect("it starts").success());
}

/// The setup goes through without the keys, and what lies there stays what it was.
fn is_left_alone(home: &Home, config: Option<&Path>, at: &Path, kind: &str) {
    let before = std::fs::symlink_metadata(at).expect("it is there").file_type();
    let doctor = run(home, config, &["setup", "--doctor"]);
    assert_eq!(doctor.code, 0, "{kind}: {}{}", doctor.stdout, doctor.stderr);
    assert!(doctor.stdout.contains(&format!("is {kind}, not a regular file")), "{}", doctor.stdout);
    let setup = run(home, config, &["setup"]).success();
    assert!(setup.stdout.contains(&format!("is {kind}, not a regular file")), "{}", setup.stdout);
    assert!(setup.stdout.contains("createos.sandbox.start"), "the block to paste: {}", setup.stdout);
    let _ = run(home, config, &["setup", "--undo"]).success();
    assert_eq!(std::fs::symlink_metadata(at).expect("it is there").file_type(), before);
}

#[test]
fn a_config_that_is_a_fifo_or_a_folder_is_left_alone() {
    for kind in ["a FIFO", "a folder"] {
        let home = machine(User::Me);
        let herdr = Herdr::in_home(&home);
        if !herdr.is_stand_in() {
            return;
        }
        let path = home.path().join(CONFIG);
        if kind == "a FIFO" {
            make("mkfifo", &[], &path)
        } else {
            make("mkdir", &[], &path)
        }
        is_left_alone(&home, None, &path, kind);
    }
}

#[test]
fn a_link_to_a_device_never_replaces_the_device() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    // As /dev/null, in a folder of its own. Some containers let not even root make one.
    let node = home.path().join("devices/null");
    std::fs::create_dir_all(node.parent().unwrap()).unwrap();
    if !Command::new("mknod").arg(&node).args(["c", "1", "3"]).status().unwrap().success() {
        return;
    }
    is_left_alone(&home, Some(&node), &node, "a device");
    let link = home.path().join("linked.toml");
    symlink(&node, &link).unwrap();
    is_left_alone(&home, Some(&link), &node, "a device");
    assert!(std::fs::metadata(&node).unwrap().file_type().is_char_device());
}

#[test]
fn settings_that_are_a_fifo_are_not_waited_for() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let path = home.path().join(SETTINGS);
    make("mkfifo", &[], &path);
    let setup = run(&home, None, &["setup"]).success();
    assert!(setup.stdout.contains("is a FIFO, not a regular file"), "{}", setup.stdout);
    assert!(std::fs::metadata(&path).unwrap().file_type().is_fifo());
}

#[test]
fn a_registry_that_is_a_fifo_is_an_error() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    if !herdr.is_stand_in() {
        return;
    }
    make("mkfifo", &[], &home.path().join(".config/herdr/plugins.json"));
    let _ = run(&home, None, &["setup"]).fails(1, "plugin registry cannot be read");
}
