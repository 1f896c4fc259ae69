//! The table of cases: what an agent did, what the user did, and what comes of it.

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
fn preparing_again_is_no_error_and_a_half_made_workspace_is_made_anew() {
    let mut world = World::with(ONE);
    let base = world.ledger.base().unwrap();
    let again = prepare(&mut world.shell, &world.root, "/nonexistent.tgz", &base).unwrap();
    assert_eq!(again.commit.len(), 40);
    // As a kill between unpacking and the commit leaves it.
    let store = world.shell.home.join(".createos-sandbox");
    std::fs::remove_file(store.join("prepared")).unwrap();
    std::fs::write(store.join("preparing"), world.root.as_str()).unwrap();
    world.there("half", "x");
    prepare(&mut world.shell, &world.root, "/nonexistent.tgz", &base).unwrap();
    assert!(!world.there.join("half").exists());
    world.apply(Outcome::NoChanges);
}

#[test]
fn a_workspace_that_is_not_empty_is_refused() {
    let mut world = World::unprepared();
    world.there("precious", "x");
    let error = prepare(&mut world.shell, &world.root, "/nonexistent.tgz", &Base::default()).unwrap_err();
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
        fn exec(&mut self, script: &str, args: &[&str]) -> Result<Answer> {
            let run = self.0.command().env("PATH", &self.0.bin);
            let args = args.iter().map(|arg| self.0.place(arg));
            let ended = run.args(["-c", script, "createos-sandbox"]).args(args).run()?;
            Ok(Answer { code: ended.code(), stdout: ended.stdout_text(), stderr: ended.stderr_text() })
        }
        fn push(&mut self, contents: &mut (dyn Read + Send), path: &str) -> Result<()> {
            self.0.push(contents, path)
        }
        fn pull(&mut self, path: &str, contents: &mut (dyn Write + Send), limit: u64) -> Result<()> {
            self.0.pull(path, contents, limit)
        }
    }
    let error =
        prepare(&mut Bare(&mut world.shell), &world.root, "/nonexistent.tgz", &Base::default()).unwrap_err();
    assert_eq!(error.to_string(), "git is missing in the box");
}

#[test]
fn an_edit_a_new_file_and_a_deletion_come_home() {
    let mut world = World::with(ONE);
    world.there("d/b.txt", "changed\n").there("new/deep/c.txt", "c\n");
    world.agent("rm run.sh");
    let applied = world.apply(Outcome::Applied);
    assert_eq!((applied.files, applied.lines), (3, Stat { insertions: 2, deletions: 2 }));
    assert_eq!(world.read("d/b.txt"), "changed\n");
    assert_eq!(world.read("new/deep/c.txt"), "c\n");
    assert!(!world.has("run.sh"));
    assert_eq!(applied.bytes, std::fs::metadata(applied.patch.unwrap()).unwrap().len());
    world.apply(Outcome::NoChanges);
}

#[test]
fn what_the_agent_does_with_its_repository_changes_nothing() {
    for git in [
        "git add -A && git commit -qm work",
        "git commit -qam work && git commit -q --amend -m other",
        "git checkout -qb topic && git add -A && git commit -qm t && git checkout -q main && git merge -q topic",
        "git add -A && git commit -qm 1 && echo z >> d/b.txt && git commit -qam 2 && git reset -q --soft HEAD~2",
        "git add -A && git commit -qm 1 && git rebase -q --root --exec true",
        "rm -rf .git",
        "rm -rf .git && git init -q && git add -A && git -c user.name=x -c user.email=x commit -qm x",
        "git update-index --assume-unchanged a.txt && git update-index --skip-worktree d/b.txt",
        "git config core.excludesFile /dev/stdin; echo '*' > .git/info/exclude",
        "git config core.worktree /tmp; git config core.bare true",
        "git config filter.x.clean 'echo filtered'; git config core.autocrlf true; git config core.fileMode false",
        "git config diff.noprefix true; git config diff.external /bin/false; git config color.ui always",
    ] {
        let mut world = World::with(ONE);
        world.there("a.txt", "agent\n").there("new.txt", "n\n");
        world.agent(&format!("{git}; true"));
        world.apply(Outcome::Applied);
        assert_eq!((world.read("a.txt"), world.read("new.txt")), ("agent\n".into(), "n\n".into()), "{git}");
        world.apply(Outcome::NoChanges);
    }
}

#[test]
fn applying_the_same_work_twice_is_told_apart() {
    let mut world = World::with(ONE);
    world.there("a.txt", "agent\n");
    let base = world.ledger.base().unwrap();
    world.apply(Outcome::Applied);
    // As if the base had not moved: a kill right after the last rename.
    world.ledger.begin(&base).unwrap();
    world.apply(Outcome::AlreadyApplied);
    world.apply(Outcome::NoChanges);
}

#[test]
fn local_edits_elsewhere_and_nearby_stay() {
    let mut world = World::with(ONE);
    world.here("d/b.txt", "mine\n").here("a.txt", "eins\n2\n3\n4\n5\n6\n7\n8\n9\n");
    world.there("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nneun\n");
    let applied = world.apply(Outcome::Applied);
    assert_eq!(*fate(&applied.judged, "a.txt"), Fate::Merged);
    assert_eq!(world.read("a.txt"), "eins\n2\n3\n4\n5\n6\n7\n8\nneun\n");
    assert_eq!(world.read("d/b.txt"), "mine\n");
    world.apply(Outcome::NoChanges);
    // The next merge starts from what came home, also a second and a third time.
    for round in 1..4 {
        world.there("a.txt", &format!("1\n2\n3\n4\nround {round}\n6\n7\n8\nneun\n"));
        world.apply(Outcome::Applied);
        assert_eq!(world.read("a.txt"), format!("eins\n2\n3\n4\nround {round}\n6\n7\n8\nneun\n"));
    }
}

#[test]
fn edits_of_the_same_line_are_a_conflict_and_nothing_changes() {
    let mut world = World::with(ONE);
    world.here("a.txt", "mine\n");
    world.there("a.txt", "theirs\n").there("other.txt", "new\n");
    let before = scan(&world.here);
    let applied = world.apply(Outcome::Conflict);
    assert_eq!(reason(&applied.judged, "a.txt"), "both sides changed the same lines");
    assert_eq!(scan(&world.here), before);
    let patch = std::fs::read_to_string(applied.patch.unwrap()).unwrap();
    assert!(patch.contains("+theirs") && patch.contains("-9") && patch.contains("b/other.txt"), "{patch}");
    assert_eq!(applied.files, 0);
    // The user gives way, and it comes home.
    world.here("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    world.apply(Outcome::Applied);
    assert_eq!(world.read("a.txt"), "theirs\n");
}

#[test]
fn the_patch_of_a_conflict_applies_to_the_base() {
    let mut world = World::with(ONE);
    world.there("a.txt", "theirs\n").there("n", "n\n");
    world.agent("rm d/b.txt");
    world.here("a.txt", "mine\n");
    let applied = world.apply(Outcome::Conflict);
    world.git_here(&["stash", "-q"]);
    world.git_here(&["apply", applied.patch.unwrap().to_str().unwrap()]);
    assert_eq!((world.read("a.txt"), world.read("n")), ("theirs\n".into(), "n\n".into()));
    assert!(!world.has("d/b.txt"));
}

#[test]
fn every_other_clash_is_named_and_nothing_changes() {
    for (agent, user, name, why) in [
        ("echo t > new", "echo u > new", "new", "both sides made it, differently"),
        ("echo t > a.txt", "rm a.txt", "a.txt", "changed in the box, deleted here"),
        ("rm a.txt", "echo u > a.txt", "a.txt", "deleted in the box, changed here"),
        ("ln -sf d/b.txt run.sh", "echo u > run.sh", "run.sh", "both sides changed it"),
        ("printf 'a\\0b' > a.txt", "echo u > a.txt", "a.txt", "both sides changed it, and it is no text"),
        ("echo t > x", "mkdir x; echo u > x/y", "x", "a folder here, with x/y"),
        ("mkdir x; echo t > x/y", "echo u > x", "x/y", "x is a file here"),
        ("mkdir x; echo t > x/y", "mkdir z; ln -s z x", "x/y", "x is a link here"),
        ("echo t > x", "mkfifo x", "x", "something else has this name here"),
    ] {
        let mut world = World::with(ONE);
        world.agent(agent).there("innocent", "i");
        let run = Run::new("bash").args(["-ec", user]).cwd(&world.here).run().unwrap();
        assert!(run.success());
        let before = scan(&world.here);
        let applied = world.apply(Outcome::Conflict);
        assert_eq!(reason(&applied.judged, name), why, "{agent} / {user}");
        assert_eq!(scan(&world.here), before);
        assert!(!world.has("innocent"));
    }
}

#[test]
fn both_sides_doing_the_same_is_no_conflict() {
    let mut world = World::with(ONE);
    world.agent("rm a.txt; echo same > new; chmod +x run.sh");
    std::fs::remove_file(world.here.join("a.txt")).unwrap();
    world.here("new", "same\n");
    std::fs::set_permissions(world.here.join("run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    world.apply(Outcome::AlreadyApplied);
}

fn mode(world: &World, name: &str) -> u32 {
    std::fs::metadata(world.here.join(name)).unwrap().permissions().mode() & 0o777
}

#[test]
fn modes_travel_and_other_mode_bits_stay() {
    let mut world = World::with(ONE);
    std::fs::set_permissions(world.here.join("a.txt"), std::fs::Permissions::from_mode(0o600)).unwrap();
    world.agent("chmod +x run.sh; echo more >> a.txt; printf '#!/bin/sh\\n' > new.sh; chmod 755 new.sh");
    world.apply(Outcome::Applied);
    assert_eq!(mode(&world, "a.txt"), 0o600);
    assert_eq!((mode(&world, "run.sh") & 0o100, mode(&world, "new.sh") & 0o100), (0o100, 0o100));
    world.agent("chmod -x run.sh; chmod +x a.txt");
    world.here("run.sh", "#!/bin/sh\n# mine\n");
    world.apply(Outcome::Applied);
    assert_eq!(mode(&world, "a.txt"), 0o700);
    assert_eq!(mode(&world, "run.sh") & 0o111, 0);
    assert_eq!(world.read("run.sh"), "#!/bin/sh\n# mine\n");
}

#[test]
fn files_folders_and_links_may_change_into_each_other() {
    let world = World::with(&[("f", "file\n"), ("dir/x", "x\n"), ("dir/sub/y", "y\n"), ("t", "t\n")]);
    symlink("t", world.here.join("l")).unwrap();
    symlink("dir", world.here.join("ld")).unwrap();
    let fresh = World::unprepared();
    for (path, _) in scan(&world.here).iter() {
        let (from, to) = (world.here.join(path.as_path()), fresh.here.join(path.as_path()));
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        match std::fs::read_link(&from) {
            Ok(target) => symlink(target, to).unwrap(),
            Err(_) => drop(std::fs::copy(from, to).unwrap()),
        }
    }
    let mut world = fresh.upload();
    world.agent("rm f; mkdir f; echo in > f/in; rm -r dir; echo now > dir; rm l; mkdir l; echo q > l/q; rm ld; echo n > ld; rm t; ln -s dir t");
    world.apply(Outcome::Applied);
    assert_eq!(scan(&world.here), scan(&world.there));
    assert_eq!((world.read("f/in"), world.read("dir")), ("in\n".into(), "now\n".into()));
    world.apply(Outcome::NoChanges);
    world.agent("rm -r f; echo file > f; rm dir; mkdir -p dir/sub; echo x > dir/x; echo y > dir/sub/y; rm -r l; ln -s dir l");
    world.apply(Outcome::Applied);
    assert_eq!(scan(&world.here), scan(&world.there));
}

#[test]
fn a_folder_that_became_a_link_is_not_followed() {
    let mut world = World::with(&[("dir/x", "x\n"), ("other/x", "x\n")]);
    world.agent("rm -r dir; ln -s other dir; echo changed > other/x");
    let applied = world.apply(Outcome::Applied);
    assert_eq!(applied.files, 3, "{:?}", applied.judged);
    assert_eq!(scan(&world.here), scan(&world.there));
}

#[test]
fn odd_names_come_home() {
    let mut world = World::with(&[("-rf", "1\n"), ("--help", "2\n"), ("sp ace", "3\n"), ("nl\nx/y", "4\n")]);
    world.write(&world.there, b"\xff\xfe", b"bytes\n");
    world.write(&world.there, b"q\"uote\\'s $(x) `y`/]z[*?", b"quoted\n");
    for name in ["-rf", "--help", "sp ace", "nl\nx/y", "-n", " lead", "trail ", "a\tb", "..x", "ü/é"] {
        world.there(name, "changed\n");
    }
    let long = format!("{}/{}", "d".repeat(250), "f".repeat(250));
    world.there(&long, "long\n");
    world.apply(Outcome::Applied);
    assert_eq!(scan(&world.here), scan(&world.there));
    world.agent("rm -r ./-rf ./--help nl* ./-n");
    world.apply(Outcome::Applied);
    assert_eq!(scan(&world.here), scan(&world.there));
}

#[test]
fn contents_are_bytes_whatever_git_would_make_of_them() {
    let world = World::unprepared();
    world.here(".gitattributes", "*.bat text eol=crlf\n*.txt text eol=lf\n*.bin filter=lfs diff=lfs merge=lfs -text\n*.u text working-tree-encoding=UTF-16\n*.c filter=clean\n");
    world.git_here(&["config", "core.autocrlf", "true"]);
    world.git_here(&["config", "filter.clean.clean", "false"]);
    world.git_here(&["config", "filter.clean.required", "true"]);
    world.git_here(&["config", "filter.lfs.clean", "git-lfs-that-is-not-there"]);
    world.git_here(&["config", "filter.lfs.required", "true"]);
    for name in ["a.bat", "b.txt", "c.bin", "d.u", "e.c", "plain"] {
        world.here(name, "one\r\ntwo\nthree\r\n");
    }
    let mut world = world.upload();
    world.agent("test -z \"$(git status --porcelain)\"");
    for name in ["a.bat", "b.txt", "c.bin", "d.u", "e.c", "plain"] {
        world.here(name, "ONE\r\ntwo\nthree\r\n");
        world.there(name, "one\r\ntwo\nthree\r\nfour\r\n");
    }
    world.there("empty", "").there("noeol", "x");
    world.write(&world.there, b"bin", &[0, 255, 10, 13, 0]);
    world.apply(Outcome::Applied);
    for name in ["a.bat", "b.txt", "c.bin", "d.u", "e.c", "plain"] {
        assert_eq!(world.read(name), "ONE\r\ntwo\nthree\r\nfour\r\n", "{name}");
    }
    assert_eq!((world.read("empty"), world.read("noeol")), (String::new(), "x".into()));
    assert_eq!(std::fs::read(world.here.join("bin")).unwrap(), [0, 255, 10, 13, 0]);
    world.apply(Outcome::NoChanges);
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

#[test]
fn ignored_files_stay_in_the_box_and_the_ignore_rules_are_its_own() {
    let mut world = World::with(&[(".gitignore", "target/\n*.log\n"), ("keep.log", "tracked\n")]);
    world.there("target/x", "x").there("y.log", "y").there("sub/.gitignore", "z\n").there("sub/z", "z");
    world.there("keep.log", "tracked and ignored\n");
    let applied = world.apply(Outcome::Applied);
    let names: Vec<_> = applied.judged.iter().map(|judged| judged.name.as_str()).collect();
    assert_eq!(names, ["keep.log", "sub/.gitignore"]);
    // What the rules here ignore stays until the changed rules are home.
    world.there(".gitignore", "*.log\n");
    let applied = world.apply(Outcome::Applied);
    assert_eq!(reason(&applied.judged, "target/x"), "ignored here by git");
    world.apply(Outcome::Applied);
    assert_eq!(world.read("target/x"), "x");
}

#[test]
fn what_the_user_ignores_by_rules_of_his_own_is_dropped_and_named() {
    let mut world = World::with(ONE);
    world.here(".git/info/exclude", "*.private\n/sub/\n");
    world.there("x.private", "x").there("sub/y", "y").there("z", "z");
    let applied = world.apply(Outcome::Applied);
    assert_eq!(reason(&applied.judged, "x.private"), "ignored here by git");
    assert_eq!(reason(&applied.judged, "sub/y"), "ignored here by git");
    assert!(world.has("z") && !world.has("x.private") && !world.has("sub"));
}

#[test]
fn repositories_inside_the_workspace_are_reported_and_left_alone() {
    let mut world = World::with(&[("a", "a\n"), ("sub/b", "b\n")]);
    world.agent("git init -q nest && echo x > nest/x && git init -q sub && echo c > sub/c");
    let proposal = world.fetch();
    assert_eq!(proposal.nested, [RelPath::new(b"nest").unwrap()]);
    world.apply(Outcome::Applied);
    assert!(!world.has("nest") && !world.has("sub/.git"));
    assert_eq!(world.read("sub/c"), "c\n");
}

#[test]
fn links_that_lead_out_and_files_that_stay_home_are_dropped_and_named() {
    let mut world = World::with(ONE);
    world.agent("ln -s /etc/passwd abs; ln -s ../../x up; ln -s d/b.txt fine; ln -s .git/hooks hooks; mkdir -p s; ln -s ../d/b.txt s/fine; ln -s s/../.. trick; ln -s fine chain; ln -s abs chained");
    world.there(".env", "SECRET=1\n").there("s/.env", "x");
    let applied = world.apply(Outcome::Applied);
    for (name, why) in [
        ("abs", "leads out"),
        ("up", "leads out"),
        ("hooks", "into .git"),
        ("trick", "leads out"),
        (".env", "deny-list"),
        ("s/.env", "deny-list"),
    ] {
        assert!(reason(&applied.judged, name).contains(why), "{name}: {}", reason(&applied.judged, name));
        assert!(!world.has(name), "{name}");
    }
    assert_eq!(std::fs::read_link(world.here.join("s/fine")).unwrap(), Path::new("../d/b.txt"));
    assert!(world.has("fine") && world.has("chain"));
    // What is dropped is named each time, and is no change.
    assert_eq!(world.apply(Outcome::NoChanges).judged.len(), 6);
}

#[test]
fn what_runs_code_here_is_named() {
    let mut world = World::with(ONE);
    world.there(".envrc", "x").there(".github/workflows/ci.yml", "x").there("src/main.rs", "x");
    let applied = world.apply(Outcome::Applied);
    let hot: Vec<_> =
        applied.judged.iter().filter(|j| j.runs_code.is_some()).map(|j| j.name.as_str()).collect();
    assert_eq!(hot, [".envrc", ".github/workflows/ci.yml"]);
}

#[test]
fn a_submodule_is_not_written_into() {
    let world = World::unprepared();
    let other = World::with(&[("inner", "i\n")]);
    world.git_here(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        other.here.to_str().unwrap(),
        "sub",
    ]);
    world.git_here(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        other.here.to_str().unwrap(),
        "gone",
    ]);
    world.git_here(&["commit", "-qm", "sub"]);
    world.git_here(&["submodule", "deinit", "-f", "gone"]);
    world.here("a", "a\n");
    std::fs::rename(world.here.join("sub"), world.here.with_extension("sub")).unwrap();
    let mut world = world.upload();
    std::fs::rename(world.here.with_extension("sub"), world.here.join("sub")).unwrap();
    world.there("sub/inner", "evil\n").there("gone/x", "x\n").there("a", "b\n");
    let applied = world.apply(Outcome::Applied);
    assert_eq!(reason(&applied.judged, "sub/inner"), "inside the submodule sub");
    assert_eq!(reason(&applied.judged, "gone/x"), "inside the submodule gone");
    assert_eq!((world.read("sub/inner"), world.read("a")), ("i\n".into(), "b\n".into()));
    // The worktree of a submodule is a worktree like any other: its `.git` is a file.
    let inside = World { here: world.here.join("sub"), ..World::unprepared() };
    assert!(inside.here.join(".git").is_file());
    let mut inside = inside.upload();
    inside.there("inner", "changed\n");
    inside.apply(Outcome::Applied);
    assert_eq!(inside.read("inner"), "changed\n");
}

#[test]
fn a_linked_worktree_is_one_too() {
    let main = World::with(ONE);
    let linked = main.here.with_file_name("linked");
    main.git_here(&["worktree", "add", "-q", "-b", "topic", linked.to_str().unwrap()]);
    let mut world = World { here: linked, ..World::unprepared() }.upload();
    world.there("a.txt", "x\n");
    world.apply(Outcome::Applied);
    assert_eq!(world.read("a.txt"), "x\n");
    assert_eq!(main.read("a.txt"), ONE[0].1);
}

#[test]
fn a_sparse_checkout_is_not_shadowed() {
    let world = World::unprepared();
    world.here("src/a", "a\n").here("docs/b", "b\n");
    world.git_here(&["add", "-A"]);
    world.git_here(&["commit", "-qm", "x"]);
    world.git_here(&["sparse-checkout", "set", "src"]);
    assert!(!world.has("docs/b"));
    let mut world = world.upload();
    world.there("docs/b", "other\n").there("src/a", "x\n");
    let applied = world.apply(Outcome::Conflict);
    assert_eq!(reason(&applied.judged, "docs/b"), "your sparse checkout leaves it out");
    world.agent("rm docs/b; echo n > docs/new");
    world.apply(Outcome::Applied);
    assert_eq!((world.read("docs/new"), world.read("src/a")), ("n\n".into(), "x\n".into()));
}

#[test]
fn the_users_index_and_branches_stay_as_they_are() {
    let mut world = World::with(ONE);
    world.here("staged", "s\n");
    world.git_here(&["add", "staged"]);
    let index = std::fs::read(world.here.join(".git/index")).unwrap();
    world.there("a.txt", "x\n");
    world.apply(Outcome::Applied);
    assert_eq!(std::fs::read(world.here.join(".git/index")).unwrap(), index);
    assert_eq!(world.git_here(&["status", "--porcelain"]), " M a.txt\nA  staged\n");
}

#[test]
fn a_merge_whose_start_the_box_has_lost_is_a_conflict() {
    let mut world = World::with(ONE);
    world.here("a.txt", "eins\n2\n3\n4\n5\n6\n7\n8\n9\n").there("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nneun\n");
    std::fs::remove_dir_all(world.shell.home.join(".createos-sandbox/layers")).unwrap();
    let applied = world.apply(Outcome::Conflict);
    assert!(reason(&applied.judged, "a.txt").contains("no longer has"), "{:?}", applied.judged);
    // A forged start does not count either.
    let layers = world.shell.home.join(".createos-sandbox/layers");
    world.agent(&format!("mkdir -p {0}; cd /var/tmp; mkdir -p $HOME/f; printf 'eins\\n' > $HOME/f/a.txt; tar -czf {0}/0000.tgz -C $HOME/f a.txt", layers.display()));
    world.apply(Outcome::Conflict);
}

#[test]
fn many_applies_keep_twenty_patches() {
    let mut world = World::with(ONE);
    for round in 0..22 {
        world.there("a.txt", &format!("round {round}\n"));
        world.apply(Outcome::Applied);
    }
    assert_eq!(world.ledger.patches().unwrap().len(), 20);
    assert_eq!(std::fs::read_dir(world.state.join("applies")).unwrap().count(), 20);
}

#[test]
fn many_layers_become_one_and_still_hold_the_bases_contents() {
    let mut world = World::with(ONE);
    world.here("a.txt", "eins\n2\n3\n4\n5\n6\n7\n8\n9\n");
    world.there("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nfirst\n").there("changed", "a name of the parcel's own\n");
    world.apply(Outcome::Applied);
    let store = world.shell.home.join(".createos-sandbox");
    for number in 2..41 {
        std::fs::copy(store.join("layers/0001.tgz"), store.join(format!("layers/{number:04}.tgz"))).unwrap();
    }
    world.there("d/b.txt", "the one too many\n");
    world.apply(Outcome::Applied);
    assert_eq!(std::fs::read_dir(store.join("layers")).unwrap().count(), 2);
    world.here("changed", "mine\na name of the parcel's own\n");
    world.there("changed", "a name of the parcel's own\ntheirs\n");
    world.there("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\nsecond\n");
    world.apply(Outcome::Applied);
    assert_eq!(world.read("changed"), "mine\na name of the parcel's own\ntheirs\n");
    assert_eq!(world.read("a.txt"), "eins\n2\n3\n4\n5\n6\n7\n8\nsecond\n");
    let left = std::fs::read_dir(store).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(left.filter(|name| name.to_string_lossy().starts_with("fetch-")).count() <= 2);
}

#[test]
fn only_what_differs_travels_in_one_call() {
    let mut world = World::unprepared();
    for number in 0..2000 {
        world.here(&format!("d{}/f{number}", number % 50), &format!("{number}\n").repeat(100));
    }
    world = world.upload();
    for number in 0..10 {
        world.there(&format!("d{number}/f{number}"), "changed\n");
    }
    (world.shell.runs, world.shell.pulled) = (0, 0);
    let proposal = world.fetch();
    assert_eq!(proposal.patch.files, 10);
    assert_eq!(world.shell.runs, 1);
    assert!(world.shell.pulled < 5000, "{} bytes", world.shell.pulled);
}
