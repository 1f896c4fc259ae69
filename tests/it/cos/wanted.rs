//! `-o`: what comes home from /work, judged as hostile, whole or not at all.

use super::{Cos, is_there};

#[test]
fn a_file_and_a_folder_come_home_also_after_a_failure() {
    let cos = Cos::local();
    let script = "mkdir -p out/deep; echo made > out/deep/a; printf x > out/tool; chmod +x out/tool; ln -s deep/a out/link; \
                  ln out/deep/a out/hard; exit 4";
    let done = cos.run(&["offload", "-o", "out", ".", script]);
    assert_eq!(done.code, 4, "{done:?}");
    assert_eq!(cos.repo().read("out/deep/a"), "made\n");
    assert_eq!(cos.repo().read("out/link"), "made\n");
    assert_eq!(cos.repo().read("out/hard"), "made\n");
    use std::os::unix::fs::PermissionsExt;
    let mode = |name: &str| cos.repo().root().join(name).metadata().unwrap().permissions().mode() & 0o111;
    assert!(mode("out/tool") != 0 && mode("out/deep/a") == 0);
    // What is there is replaced; what is beside it stays.
    cos.repo().write("out/mine", "mine");
    let _ = cos
        .run(&["offload", "--out=/work/out/deep/a", ".", "mkdir -p out/deep; echo anew > out/deep/a"])
        .success();
    assert_eq!(cos.repo().read("out/deep/a"), "anew\n");
    assert_eq!(cos.repo().read("out/mine"), "mine");
    let names: Vec<_> = std::fs::read_dir(cos.repo().root().join("out/deep")).unwrap().flatten().collect();
    assert_eq!(names.len(), 1, "nothing staged is left: {names:?}");
    cos.has_nothing_left();
}

#[test]
fn what_is_not_there_is_said_and_fails_a_command_that_passed() {
    let cos = Cos::local();
    let _ = cos.run(&["offload", "-o", "dist", ".", "true"]).fails(1, "dist is not there");
    let _ = cos.run(&["offload", "-o", "dist", ".", "exit 5"]).fails(5, "dist is not there");
    cos.has_nothing_left();
}

#[test]
fn a_hostile_archive_changes_nothing() {
    let cos = Cos::local();
    cos.repo().write("kept/a", "mine");
    std::os::unix::fs::symlink("/tmp", cos.repo().root().join("away")).unwrap();
    for (wanted, script, words) in [
        (
            "kept",
            "mkdir kept2; rm -rf kept; mkdir kept; echo x > kept/a; ln -s /etc/passwd kept/b",
            "leads out",
        ),
        ("kept", "rm -rf kept; mkdir kept; echo x > kept/a; ln -s ../../x kept/b", "leads out"),
        ("kept", "rm -rf kept; mkdir kept; echo x > kept/a; mkfifo kept/pipe", "neither file nor link"),
        ("kept", "rm -rf kept; mkdir -p kept/a/b; echo x > kept/a/b/c", "kept/a is no folder here"),
        ("away/x", "rm -rf away; mkdir away; echo x > away/x", "away is no folder here"),
        ("README.md/x", "rm README.md; mkdir README.md; echo x > README.md/x", "README.md is no folder here"),
        ("src", "rm -rf src; echo x > src", "src is a folder here"),
        (
            "kept",
            // A tar of the box's own that lies.
            "mkdir -p ~/.local/bin; printf '#!/bin/sh\\nshift; cd /tmp; mkdir -p e; echo x > e/f; exec /usr/bin/tar -czPf $1 \
             --transform s,e/f,../../evil, e/f\\n' > ~/.local/bin/tar; chmod +x ~/.local/bin/tar",
            "nothing was changed",
        ),
    ] {
        let done = cos.run(&["offload", "-o", wanted, ".", script]).fails(1, words);
        assert_eq!(cos.repo().read("kept/a"), "mine", "{script}: {done:?}");
        assert!(
            !is_there(cos.repo().root(), "kept/b") && !is_there(cos.repo().root(), "../evil"),
            "{script}"
        );
        assert!(!is_there(std::path::Path::new("/tmp"), "x"), "{script}");
    }
    cos.has_nothing_left();
}
