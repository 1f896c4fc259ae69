//! push and pull: whole files, byte for byte, and links that lead nowhere but into the box.

use super::Sandbox;
use crate::support::User;

/// Bytes that are not text and do not repeat soon.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..length.div_ceil(8)).flat_map(|_| next().to_le_bytes()).take(length).collect()
}

#[test]
fn a_large_binary_file_goes_in_and_comes_out_the_same() {
    for user in User::all() {
        let made = Sandbox::of(user);
        let bytes = noise(100_000_003);
        let file = made.home().write("big.bin", &bytes);
        let back = made.home().path().join("back.bin");
        let _done = made.run(&["push", "@", file.to_str().unwrap(), "/workspace/a/b/big.bin"]).success();
        let _done = made.run(&["pull", "@", "/workspace/a/b/big.bin", back.to_str().unwrap()]).success();
        assert!(std::fs::read(back).unwrap() == bytes, "{user:?}");
    }
}

#[test]
fn streams_work_in_both_directions() {
    let made = Sandbox::of(User::Me);
    for bytes in [vec![], noise(300_000)] {
        let _done = made.run_with_input(&["push", "@", "-", "/tmp/x"], &bytes).success();
        let output = made.command(&["pull", "@", "/tmp/x", "-"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(output.stdout == bytes);
    }
}

#[test]
fn what_cannot_be_copied_is_named() {
    let made = Sandbox::of(User::Me);
    made.say("mkdir /tmp/dir && mkfifo /tmp/fifo");
    let out = made.home().path().join("out");
    let out = out.to_str().unwrap();
    let missing = made.run(&["pull", "@", "/tmp/none", out]);
    assert_eq!((missing.code, missing.json()["error"]["code"].as_str()), (1, Some("not_found")));
    made.run(&["-o", "table", "pull", "@", "/tmp/dir", out]).fails(1, "folder");
    made.run(&["-o", "table", "pull", "@", "/tmp/fifo", out]).fails(1, "not an ordinary file");
    made.run(&["-o", "table", "pull", "@", "relative", out]).fails(2, "absolute");
    made.run(&["-o", "table", "push", "@", "/usr", "/tmp/usr"]).fails(2, "folder");
    made.run(&["-o", "table", "push", "@", "/etc/hostname", "/tmp/fifo"]).fails(1, "not an ordinary file");
    made.run(&["-o", "table", "push", "@", "/etc/hostname", "/usr/x"]).fails(1, "Read-only");
    assert!(!std::path::Path::new(out).exists(), "a failed pull leaves nothing");
}

#[test]
fn links_in_the_box_lead_nowhere_on_the_host() {
    for user in User::all() {
        let made = Sandbox::of(user);
        let secret = made.home().write("secret.txt", "the host's own");
        let folder = made.home().path().to_str().unwrap().to_owned();
        made.say(&format!(
            "ln -s {folder} /tmp/home; ln -s {} /tmp/file; ln -s /etc /tmp/etc",
            secret.display()
        ));
        // Reading through them finds the box's files, or nothing.
        assert_ne!(made.run(&["pull", "@", "/tmp/file", "-"]).code, 0);
        assert_ne!(made.run(&["pull", "@", "/tmp/home/secret.txt", "-"]).code, 0);
        assert!(made.run(&["pull", "@", "/tmp/etc/passwd", "-"]).success().stdout.contains("agent:x:1000"));
        // Writing through them makes files in the box.
        made.run_with_input(&["push", "@", "-", "/tmp/home/secret.txt"], b"pwned");
        made.run_with_input(&["push", "@", "-", "/tmp/file"], b"pwned");
        assert_eq!(made.home().read("secret.txt"), "the host's own");
        // Deleting the box deletes the links.
        let _done = made.run(&["rm", "--yes", "@"]).success();
        assert_eq!(made.home().read("secret.txt"), "the host's own");
    }
}

#[test]
fn a_box_with_shut_and_deep_folders_is_deleted_all_the_same() {
    for user in User::all() {
        let made = Sandbox::of(user);
        made.say(
            "cd /workspace; i=0; while [ $i -lt 300 ]; do mkdir -p deeper-and-deeper; touch deeper-and-deeper/f; \
             cd -P deeper-and-deeper; i=$((i+1)); done; mkdir /tmp/shut; touch /tmp/shut/f; chmod 0 /tmp/shut; \
             touch \"/tmp/new\nline\"; chmod 0555 /home/agent /",
        );
        let _done = made.run(&["rm", "--yes", "@"]).success();
        assert_eq!(made.run(&["get", "@"]).success().json()["status"], "destroyed");
    }
}

#[test]
fn a_pull_has_the_limit_of_a_push_keeps_holes_and_leaves_nothing_when_interrupted() {
    use std::os::unix::fs::MetadataExt;
    let made = Sandbox::of(User::Me);
    made.say("truncate -s 501M /tmp/large; truncate -s 400M /tmp/holes; echo end >> /tmp/holes");
    let folder = made.home().path().join("into");
    std::fs::create_dir(&folder).unwrap();
    let target = folder.join("file");
    let target = target.to_str().unwrap();
    made.run(&["-o", "table", "pull", "@", "/tmp/large", target]).fails(1, "larger than 500 MB");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);

    let mut child = made.command(&["pull", "@", "/tmp/holes", target]).spawn().unwrap();
    while std::fs::read_dir(&folder).unwrap().count() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    // Until it catches the signal it may be ended without being asked: `SigCgt` in its status.
    let caught = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim().to_owned();
        u64::from_str_radix(&mask, 16).unwrap() & (1 << 14) != 0
    };
    crate::support::eventually("it catches TERM", std::time::Duration::from_secs(60), caught);
    let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_ne!(child.wait().unwrap().code(), Some(0));
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);

    let _done = made.run(&["pull", "@", "/tmp/holes", target]).success();
    let pulled = std::fs::metadata(target).unwrap();
    assert_eq!(pulled.len(), 400 * 1024 * 1024 + 4);
    assert!(pulled.blocks() * 512 < 1024 * 1024, "{} blocks", pulled.blocks());
    assert!(std::fs::read(target).unwrap().ends_with(b"\0end\n"));
}
