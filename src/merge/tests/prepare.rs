//! A fresh box, and one that cannot be made ready.

use super::*;
use std::os::unix::fs::symlink;

const ONE: &[(&str, &str)] =
    &[("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"), ("d/b.txt", "b\n"), ("run.sh", "#!/bin/sh\n")];

#[test]
fn a_fresh_box_has_a_clean_repository_with_one_commit_and_nothing_to_bring_home() {
    let mut world = World::with(ONE);
    world.agent("test -z \"$(git status --porcelain)\" && test \"$(git rev-list --count HEAD)\" = 1");
    world.agent("echo x > x && git add x && git commit -qm x && git reset -q --hard HEAD~1");
    world.apply(Outcome::NoChanges);
}

#[test]
fn every_repository_of_the_box_has_an_identity() {
    let world = World::with(ONE);
    world.agent("git init -q ../second; cd ../second; git commit -q --allow-empty -m x; git log --format=%ae | grep -q agent@");
    // One that the image has stays.
    let world = World::unprepared();
    world.here("a", "a");
    std::fs::write(world.shell.home.join(".gitconfig"), "[user]\n\tname = Own\n\temail = own@example.com\n")
        .unwrap();
    let world = world.upload();
    world.agent("git init -q ../second; cd ../second; git commit -q --allow-empty -m x; test \"$(git log --format=%ae)\" = own@example.com");
}

#[test]
fn preparing_again_is_no_error_and_a_half_made_workspace_is_made_anew() {
    let mut world = World::with(ONE);
    let base = world.ledger.base().unwrap();
    let again = prepare(&mut world.shell, &world.root, "/nonexistent.tgz", &base, None, &mut |_| {}).unwrap();
    assert_eq!(again.len(), 40);
    // As a kill between unpacking and the commit leaves it.
    let store = world.shell.home.join(".createos-sandbox");
    std::fs::remove_file(store.join("prepared")).unwrap();
    std::fs::write(store.join("preparing"), world.root.as_str()).unwrap();
    world.there("half", "x");
    prepare(&mut world.shell, &world.root, "/nonexistent.tgz", &base, None, &mut |_| {}).unwrap();
    assert!(!world.there.join("half").exists());
    world.apply(Outcome::NoChanges);
}

#[test]
fn how_many_files_are_done_is_said_while_they_are_unpacked_and_recorded() {
    let world = World::unprepared();
    for number in 0..2_500 {
        world.here(&format!("d/{number}.txt"), "x\n");
    }
    let mut world = world.upload();
    // Once more, as after a kill between unpacking and the commit, and now heard.
    let store = world.shell.home.join(".createos-sandbox");
    std::fs::remove_file(store.join("prepared")).unwrap();
    std::fs::write(store.join("preparing"), world.root.as_str()).unwrap();
    let base = world.ledger.base().unwrap();
    let mut heard = Vec::new();
    prepare(&mut world.shell, &world.root, "/nonexistent.tgz", &base, None, &mut |text| {
        heard.push(text.to_owned());
    })
    .unwrap();
    let lines = [
        "unpacking 2500 files",
        "unpacked 1000 of 2500 files",
        "unpacked 2000 of 2500 files",
        "recording 2500 files as the base",
        "recorded 1000 of 2500 files",
        "recorded 2000 of 2500 files",
    ];
    assert_eq!(heard, lines);
    world.apply(Outcome::NoChanges);
}

#[test]
fn a_workspace_that_is_not_empty_is_refused() {
    let mut world = World::unprepared();
    world.there("precious", "x");
    let error =
        prepare(&mut world.shell, &world.root, "/nonexistent.tgz", &Base::default(), None, &mut |_| {})
            .unwrap_err();
    assert!(error.to_string().contains("is not empty"), "{error}");
    assert!(world.there.join("precious").exists());
}

#[test]
fn a_program_that_the_box_lacks_is_named() {
    let mut world = World::unprepared();
    // A PATH with everything but git.
    for program in [
        "bash",
        "tar",
        "gzip",
        "sha256sum",
        "sort",
        "comm",
        "find",
        "sed",
        "xargs",
        "grep",
        "realpath",
        "du",
        "tail",
        "cut",
        "tr",
        "wc",
        "id",
        "mkdir",
        "chmod",
        "cat",
    ] {
        let found = which::which(program).unwrap();
        symlink(found, world.shell.bin.join(program)).unwrap();
    }
    struct Bare<'a>(&'a mut Shell);
    impl Remote for Bare<'_> {
        fn exec(&mut self, script: &str, args: &[&str]) -> Result<Response> {
            let run = self.0.command().env("PATH", &self.0.bin);
            let args = args.iter().map(|arg| self.0.place(arg));
            let ended = run.args(["-c", script, "createos-sandbox"]).args(args).run()?;
            Ok(Response { code: ended.code(), stdout: ended.stdout_text(), stderr: ended.stderr_text() })
        }
        fn push(&mut self, contents: &mut (dyn Read + Send), path: &str) -> Result<()> {
            self.0.push(contents, path)
        }
        fn pull(&mut self, path: &str, contents: &mut (dyn Write + Send), limit: u64) -> Result<()> {
            self.0.pull(path, contents, limit)
        }
    }
    let error = prepare(
        &mut Bare(&mut world.shell),
        &world.root,
        "/nonexistent.tgz",
        &Base::default(),
        None,
        &mut |_| {},
    )
    .unwrap_err();
    assert_eq!(error.to_string(), "git is missing in the box");
}

#[test]
fn a_required_lfs_filter_without_its_program_does_not_keep_a_box_from_starting() {
    let world = World::unprepared();
    world.here(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n").here("x.bin", "big\n");
    let config =
        "[filter \"lfs\"]\nclean = git-lfs clean -- %f\nprocess = git-lfs filter-process\nrequired = true\n";
    std::fs::write(world.shell.home.join(".gitconfig"), config).unwrap();
    std::fs::write(world.shell.bin.join("git-lfs"), "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(world.shell.bin.join("git-lfs"), std::fs::Permissions::from_mode(0o755))
        .unwrap();
    // The filter refuses here, too: the case is real.
    let git = world.shell.command().args([
        "-c",
        "cd \"$0\" && git init -q x && cd x && cp ../here/.gitattributes . && echo b > b.bin && git add -A",
    ]);
    assert!(!git.arg(world.here.parent().unwrap()).run().unwrap().success());
    let mut world = world.upload();
    world.agent("echo more >> x.bin && git commit -qam more && test -z \"$(git status --porcelain)\"");
    world.there("x.bin", "bigger\n");
    world.apply(Outcome::Applied);
    assert_eq!(world.read("x.bin"), "bigger\n");
}
