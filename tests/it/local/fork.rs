//! `fork`: a copy of a paused box.

use super::{Sandbox, on_a_full_disk};
use crate::support::{Home, User, outcome};

#[test]
fn a_copy_has_the_files_and_settings_and_none_of_the_programs() {
    for user in User::all() {
        let made =
            Sandbox::with(Home::of(user), &["--network", "none", "--env", "A=1", "--auto-pause", "1h"]);
        made.say(
            "mkdir -p deep/er; echo text > deep/er/a; ln -s a deep/er/link; ln -s /etc/passwd out; chmod 750 deep; \
             echo secret > closed; chmod 000 closed; mkdir dark; echo in > dark/f; chmod 000 dark; mkfifo pipe; \
             printf '#!/bin/sh\\necho ran\\n' > tool; chmod 755 tool; touch -d 2020-01-01 deep/er/a",
        );
        let running = made.start(&["@", "--", "sleep", "1000"]);
        let refused = made.run(&["fork", "@"]);
        assert_eq!(refused.code, 1);
        assert!(refused.stdout.contains("fork needs a paused snapshot"), "{refused:?}");
        let _ = made.run(&["pause", "@"]).success();
        let forked = made.run(&["fork", "@"]).success();
        assert!(forked.stderr.contains("none of its programs"), "{forked:?}");
        let view = forked.json();
        let id = view["id"].as_str().unwrap();
        assert_ne!(id, made.id());
        assert_eq!(
            (view["status"].as_str(), view["forked_from"].as_str()),
            (Some("running"), Some(made.id()))
        );
        assert_eq!((&view["envs"][0], &view["auto_pause_after_seconds"]), (&"A".into(), &3600.into()));
        let say =
            |script: &str| made.run(&["exec", "--stream", id, "--", "sh", "-c", script]).success().stdout;
        assert_eq!(say("cat deep/er/link; readlink out; ./tool; echo $A"), "text\n/etc/passwd\nran\n1\n");
        assert_eq!(say("stat -c %a deep closed dark tool; date -r deep/er/a +%Y"), "750\n0\n0\n755\n2020\n");
        assert_eq!(
            say("chmod 700 dark closed; cat dark/f closed; test -e pipe || echo none"),
            "in\nsecret\nnone\n"
        );
        let none = made.run(&["process", "list", id]).success().json();
        assert_eq!(none.as_array().map(Vec::len), Some(0));
        // They go their own ways, and the source is as it was.
        let _ = say("echo changed > deep/er/a");
        let _ = made.run(&["resume", "@"]).success();
        assert_eq!(made.say("cat deep/er/a; stat -c %a closed dark"), "text\n0\n0\n");
        assert_eq!(made.process(&running)["state"], "running");
    }
}

#[test]
fn several_copies_are_a_list() {
    let made = Sandbox::of(User::Me);
    let _ = made.run(&["pause", "@"]).success();
    let forked = made.run(&["fork", "--count", "2", "@"]).success().json();
    assert_eq!(forked.as_array().map(Vec::len), Some(2));
    let _ = made.run(&["fork", "--count", "0", "@"]).fails(2, "");
}

#[test]
fn a_copy_that_fails_leaves_nothing() {
    let made = Sandbox::of(User::Me);
    made.say("head -c 100000 /dev/zero > large");
    let _ = made.run(&["pause", "@"]).success();
    let failed = on_a_full_disk(&made, &["fork", "@"]);
    assert_eq!(failed.code, 1, "{failed:?}");
    let boxes = made.home().path().join(".local/share/createos-sandbox/boxes");
    let left: Vec<_> = std::fs::read_dir(&boxes).unwrap().flatten().map(|entry| entry.file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().starts_with("copy-")), "{left:?}");
    assert_eq!(made.run(&["list"]).success().json().as_array().map(Vec::len), Some(1));
    // One that was killed is swept up by the next.
    std::fs::create_dir_all(boxes.join("copy-sb-x/root/a")).unwrap();
    let _ = outcome(made.command(&["fork", "@"])).success();
    let _ = made.run(&["create", "--shape", "s-1vcpu-1gb", "--network", "none"]).success();
    assert!(!boxes.join("copy-sb-x").exists());
}
