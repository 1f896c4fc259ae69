//! What an agent makes besides the checked-out tree is found and named, and deletions are proven.

use super::*;

impl World {
    #[track_caller]
    fn elsewhere(&mut self) -> Vec<String> {
        let found = elsewhere(&mut self.shell, &self.root).unwrap_or_else(|e| panic!("{e} {:?}", e.facts()));
        assert_eq!(found.unknown, Vec::<String>::new());
        found.work
    }
}

#[test]
fn every_place_in_which_an_agent_keeps_work_is_named() {
    for (script, named) in [
        ("true", &[][..]),
        (
            "echo x > new; git add -A; git commit -qm x; git checkout -qb topic; git commit -q --allow-empty -m y",
            &[],
        ),
        (
            "git checkout -qb feat; echo x > f; git add -A; git commit -qm f; echo y >> f; git commit -qam g; git checkout -q -",
            &["branch feat: 2 commits"],
        ),
        (
            "git checkout -qb feat; echo x > f; git add -A; git commit -qm f; git checkout -q main; git merge -q feat",
            &[],
        ),
        // Its tree is the one that is checked out.
        (
            "git checkout -qb feat; echo x > f; git add -A; git commit -qm f; git checkout -q main; git merge -q --squash feat; git commit -qm f",
            &[],
        ),
        (
            "git checkout -q --detach; echo x > f; git add -A; git commit -qm f; git tag v1; git checkout -q main",
            &["tag v1: 1 commit"],
        ),
        ("echo x >> a.txt; git stash -q", &["a stash"]),
        ("echo x >> a.txt; git stash -q; echo y > a.txt; git stash -q", &["2 stashes"]),
        (
            "git worktree add -q .claude/worktrees/agent-1 -b agent-1; cd .claude/worktrees/agent-1; touch 1 2; echo x >> a.txt",
            &[".claude/worktrees/agent-1: 3 files"],
        ),
        (
            "echo .claude >> .git/info/exclude; git worktree add -q --detach .claude/wt; cd .claude/wt; echo x > f; git add f; git commit -qm f; echo y > g",
            &[".claude/wt: 1 file, 1 commit"],
        ),
        (
            "mkdir sub; cd sub; git init -q; git config user.email a@example.com; git config user.name a; echo x > x; git add x; git commit -qm x; echo y > y",
            &["sub: 1 commit, 1 file"],
        ),
        // A clone that nobody worked in is nothing that could be lost.
        ("git clone -q . ../copy; git clone -q ../copy vendor/lib", &[]),
        (
            "git clone -q . ../copy; git clone -q ../copy vendor/lib; cd vendor/lib; echo x > x; git add x; git -c user.name=a -c user.email=a commit -qm x; git tag t",
            &["vendor/lib: 1 commit"],
        ),
        ("git config user.useConfigOnly true; git notes add -m n", &["refs/notes/commits: 1 commit"]),
        ("git add -A; git commit -q --amend -m other --allow-empty; git branch old HEAD@{1}", &[]),
        (
            "git checkout -qb 'odd$(x)-\u{fc}'; echo x > f; git add -A; git commit -qm f; git checkout -q main",
            &["branch odd$(x)-\u{fc}: 1 commit"],
        ),
        ("rm -rf .git", &[]),
    ] {
        let mut world = World::with(ONE);
        world.agent(script);
        assert_eq!(world.elsewhere(), named, "{script}");
    }
}

#[test]
fn commits_on_no_branch_are_remembered_by_where_they_were_left() {
    let mut world = World::with(ONE);
    world.agent("git checkout -q --detach; echo x > f; git add -A; git commit -qm f; git checkout -q main");
    let found = world.elsewhere();
    let [only] = found.as_slice() else { panic!("{found:?}") };
    assert!(only.starts_with("on no branch, at ") && only.ends_with(": 1 commit"), "{only}");
    // What a branch has is named once.
    world.agent("git branch kept HEAD@{1}");
    assert_eq!(world.elsewhere(), ["branch kept: 1 commit"]);
}

#[test]
fn what_git_cannot_look_into_is_said_to_be_unknown() {
    let mut world = World::with(ONE);
    world.agent("mkdir broken; echo nonsense > broken/.git");
    let found = elsewhere(&mut world.shell, &world.root).unwrap();
    assert_eq!((found.work.len(), found.unknown.as_slice()), (0, &["broken".to_owned()][..]));
    world.agent("rm -rf broken; echo nonsense > .git/HEAD");
    let found = elsewhere(&mut world.shell, &world.root).unwrap();
    assert_eq!(found.unknown, ["the workspace's own repository"]);
}

#[test]
fn no_program_that_a_repository_names_is_run_and_nothing_is_written() {
    let mut world = World::with(ONE);
    world.agent(
        "touch=\"touch $PWD/../ran; false\"; git config core.fsmonitor \"$touch\"; git config log.showSignature true
         git config gpg.program \"$touch\"; git config core.pager \"$touch\"; mkdir sub; cd sub; git init -q
         git config core.fsmonitor \"$touch\"; echo x > x",
    );
    let before = scan(&world.there);
    assert_eq!(world.elsewhere(), ["sub: 1 file"]);
    assert!(!world.there.join("../ran").exists());
    assert_eq!(scan(&world.there), before);
}

/// Puts a program of the box before the real one.
fn lie(world: &World, program: &str, script: &str) {
    let path = world.shell.bin.join(program);
    std::fs::write(&path, format!("#!/bin/bash\nreal=/usr/bin/{program}\n{script}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_file_that_is_on_the_disk_is_not_believed_to_be_gone_whoever_lies() {
    let lists = r#"case "$*" in *ls-files*) exit 0;; *) exec "$real" "$@";; esac"#;
    let nothing = r#"case "$*" in *printf*) exit 0;; *) exec "$real" "$@";; esac"#;
    // The list of what is gone is made up after everything honest was done.
    let packs = r#"case "$*" in *-cf*) "$real" "$@" > ~/t.tar; cd ~; mkdir -p n/.createos-sandbox; cd n
        : > .createos-sandbox/changed; printf 'a.txt\0' > .createos-sandbox/gone; : > .createos-sandbox/nested; : > .createos-sandbox/unreadable
        exec "$real" --format=gnu -cf - .createos-sandbox/changed .createos-sandbox/gone .createos-sandbox/nested .createos-sandbox/unreadable;;
        *) exec "$real" "$@";; esac"#;
    for (program, script) in [("git", lists), ("find", nothing), ("comm", "cat /dev/null"), ("tar", packs)] {
        let mut world = World::with(ONE);
        world.there("new", "new\n");
        if program == "comm" {
            lie(&world, "comm", r#"case "$*" in *known*) cat "$3";; *) exec "$real" "$@";; esac"#);
        } else {
            lie(&world, program, script);
        }
        let before = scan(&world.here);
        let error = world.try_apply().unwrap_err();
        assert!(error.message().contains("are still on its disk, nothing was changed"), "{program}: {error}");
        assert_eq!(scan(&world.here), before, "{program}");
    }
}

#[test]
fn what_is_really_gone_is() {
    let mut world = World::with(&[("a", "a"), ("d/b", "b"), ("e/c", "c"), ("f/g", "g"), ("h", "h")]);
    // Also behind a folder that became a link to where such a file is, and where a folder took a file's place.
    world.agent("mkdir ../o; echo b > ../o/b; rm -r d a; ln -s ../o d; rm -r e; echo now > e; rm -r f; rm h; mkdir h; echo x > h/x");
    let applied = world.apply(Outcome::Applied);
    assert!(!world.has("a") && !world.has("d") && world.read("e") == "now\n" && world.read("h/x") == "x\n");
    assert_eq!(reason(&applied.judged, "d"), "a link that leads out of the worktree: ../o");
    assert_eq!(applied.deleted, 5, "{:?}", applied.judged);
}

#[test]
fn whoever_deletes_more_than_half_is_to_be_asked_about() {
    let files: Vec<(String, String)> = (0..22).map(|n| (format!("d/{n}"), n.to_string())).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    for (delete, asks) in [("d/1", false), ("d/1?", false), ("d/1* d/2", true)] {
        let mut world = World::with(&files);
        world.agent(&format!("rm {delete}"));
        let proposal = world.propose();
        assert_eq!(proposal.deletes_most(), asks, "{delete}: {}", proposal.deletions());
    }
    let mut few = World::with(&files[..8]);
    few.agent("rm -r d");
    assert!(!few.propose().deletes_most());
}
