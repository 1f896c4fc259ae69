//! `try`: the whole loop on a real box.

use crate::actions::widths;
use crate::support::{Home, PATH, Pty, Repo, User, eventually, outcome, program};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// A busy machine is slow, and the limit is only there to end a hang.
const PATIENCE: Duration = Duration::from_secs(120);

/// Everything below the home but the home itself, as `try` must leave it.
fn leftovers(home: &Home) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![home.path().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(home.path()).expect("below the home").display().to_string();
            if path.is_dir() {
                folders.push(path);
            }
            if !["run", "tmp"].contains(&name.as_str()) {
                found.push(name);
            }
        }
    }
    found
}

/// Processes whose environment or command line names the home.
fn processes_of(home: &Home) -> Vec<String> {
    let needle = home.path().to_str().expect("a name");
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let read = |file: &str| std::fs::read(entry.path().join(file)).unwrap_or_default();
        let text = [read("environ"), read("cmdline")].concat();
        if String::from_utf8_lossy(&text).contains(needle) {
            found.push(format!("{}: {}", entry.path().display(), String::from_utf8_lossy(&read("cmdline"))));
        }
    }
    found
}

#[test]
fn the_agents_commit_comes_home_and_nothing_is_left() {
    for user in User::all() {
        let home = Home::of(user);
        let outcome = home.run(&["try"]).success();
        for step in ["1/7", "2/7", "3/7", "4/7", "5/7", "6/7", "7/7"] {
            assert!(outcome.stdout.contains(step), "{step} as {user:?}: {outcome:?}");
        }
        assert!(outcome.stdout.contains(".env"), "what stayed home is named: {outcome:?}");
        assert!(outcome.stdout.contains("\n+Hello from inside the box"), "the diff is shown: {outcome:?}");
        assert_eq!(leftovers(&home), Vec::<String>::new(), "as {user:?}");
        eventually("its processes end", PATIENCE, || processes_of(&home).is_empty());
    }
}

#[test]
fn nothing_of_it_is_lost_in_a_narrow_terminal() {
    for columns in [45, 25] {
        let home = Home::new();
        let mut pty = Pty::spawn(home.command(&["try"]), widths::ROWS, columns);
        for words in [
            "createos-sandbox try: an agent's work in a box and home again, on this machine",
            "1/7 isolate own user, files, processes and network",
            "4/7 upload 3 files, 94 B; 1 stayed home: .env",
            "7/7 delete the box and every file of this try are gone",
            "+Hello from inside the box.",
            "Next, with boxes on this machine: createos-sandbox setup herdr --provider local",
        ] {
            widths::shows(&pty, columns, words);
        }
        assert!(pty.wait(PATIENCE).success(), "{}", pty.text());
    }
}

#[test]
fn a_worktree_is_tried_on_a_copy_and_stays_as_it_was() {
    let home = Home::new();
    let repo = Repo::init(&home.path().join("work"));
    repo.write("a.txt", "one\n").write(".env", "TOKEN=1\n").write("dir/b.sh", "#!/bin/sh\n").commit("begin");
    repo.write("new.txt", "not committed\n");
    let before = repo.git(&["status", "--porcelain"]);
    let outcome = home.run(&["try", "--worktree", "work"]).success();
    assert!(outcome.stdout.contains("It is not on PATH yet"), "{outcome:?}");
    assert!(outcome.stdout.contains("3 files"), "{outcome:?}");
    assert!(outcome.stdout.contains(".env"), "{outcome:?}");
    assert_eq!(repo.git(&["status", "--porcelain"]), before);
    assert_eq!(repo.read("a.txt"), "one\n");

    program(&home, "bin/createos-sandbox", "#!/bin/sh\n");
    let mut installed = home.command(&["try"]);
    installed.env("PATH", format!("{}/bin:{PATH}", home.path().display()));
    let installed = self::outcome(installed).success();
    let end = "\nor, with CreateOS microVMs: createos-sandbox setup herdr\n";
    assert!(installed.stdout.ends_with(end), "{installed:?}");
}

#[test]
fn a_large_worktree_with_everything_in_it_works() {
    let home = Home::new();
    let module = Repo::init(&home.path().join("module"));
    module.write("inside.txt", "of the submodule\n").commit("module");
    let repo = Repo::init(&home.path().join("work"));
    let mut noise = 0x2545_f491_4f6c_dd1d_u64;
    for i in 0..5_000_u32 {
        // 10 kB each, 50 MB in all; every tenth file is noise, the others are text.
        let contents: Vec<u8> = if i % 10 == 0 {
            (0..1_250)
                .flat_map(|_| {
                    noise ^= noise << 13;
                    noise ^= noise >> 7;
                    noise ^= noise << 17;
                    noise.to_le_bytes()
                })
                .collect()
        } else {
            format!("line {i} of a source file, ordinary text\n").repeat(250).into_bytes()
        };
        repo.write(&format!("src/{}/größe {i}.txt", i % 97), contents);
    }
    std::os::unix::fs::symlink("src/0", repo.root().join("link")).expect("a link");
    std::os::unix::fs::symlink("/etc/passwd", repo.root().join("out")).expect("a link");
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "add", "-q", "../module", "vendor"]);
    repo.commit("begin");
    let outcome = home.run(&["try", "--worktree", "work"]).success();
    assert!(outcome.stdout.contains("5,002 files"), "5,000 files, .gitmodules and a link: {outcome:?}");
}

#[test]
fn ctrl_c_at_any_step_leaves_nothing() {
    for step in ["1/7", "3/7", "4/7"] {
        let home = Home::new();
        let mut pty = Pty::spawn(home.command(&["try"]), 30, 120);
        pty.expect(step, PATIENCE);
        pty.send([3]);
        let status = pty.wait(PATIENCE);
        assert_eq!(status.code(), Some(130), "at {step}:\n{}", pty.text());
        assert_eq!(leftovers(&home), Vec::<String>::new(), "at {step}");
        eventually("its processes end", PATIENCE, || processes_of(&home).is_empty());
    }
}

#[test]
fn a_folder_outside_git_is_wrong_use() {
    let home = Home::new();
    std::fs::create_dir(home.path().join("plain")).expect("a folder");
    home.run(&["try", "--worktree", "plain"]).fails(2, "git");
    home.run(&["try", "--worktree", "absent"]).fails(2, "absent");
}

/// A user namespace in which no further one may be made, as some systems are configured for everybody.
fn without_namespaces(home: &Home) -> Command {
    let script = r#"echo 0 > /proc/sys/user/max_user_namespaces && exec "$0" "$@""#;
    let binary = crate::support::binary();
    let mut command =
        home.command_of(Path::new("unshare"), &["--user", "--map-root-user", "sh", "-c", script]);
    command.arg(binary).arg("try").env("PATH", PATH);
    command
}

#[test]
fn without_namespaces_nothing_runs_and_the_reason_is_named() {
    for user in User::all() {
        let home = Home::of(user);
        let outcome = outcome(without_namespaces(&home));
        assert_eq!(outcome.code, 2, "as {user:?}: {outcome:?}");
        assert!(outcome.stderr.contains("namespace"), "as {user:?}: {outcome:?}");
        assert_eq!(leftovers(&home), Vec::<String>::new());
    }
}

#[test]
fn nothing_in_the_worktree_is_taken_for_configuration() {
    let home = Home::new();
    let repo = Repo::init(&home.path().join("work"));
    let traced = home.path().join("traced");
    let settings = format!("[trace2]\n\teventTarget = {}\n", traced.display());
    repo.write(".gitconfig", &settings).write(".config/git/config", &settings).write("a.txt", "one\n");
    repo.commit("begin");
    // It bites: git with that home does write there.
    let mut bite = Command::new("git");
    bite.arg("init").arg(home.path().join("tmp/bite")).env("HOME", repo.root());
    assert!(bite.output().expect("git starts").status.success() && traced.exists());
    std::fs::remove_file(&traced).expect("the proof");
    std::fs::remove_dir_all(home.path().join("tmp/bite")).expect("the repository");
    home.run(&["try", "--worktree", "work"]).success();
    assert!(!traced.exists(), "{}", home.read("traced"));
}

#[test]
fn a_missing_object_is_not_fetched_by_a_program_of_the_repositorys_choice() {
    let home = Home::new();
    let repo = Repo::init(&home.path().join("work"));
    repo.write(".gitignore", "*.o\n").write("a.txt", "one\n").commit("begin");
    let object = repo.git(&["rev-parse", "HEAD:.gitignore"]);
    repo.git(&["update-index", "--skip-worktree", ".gitignore"]);
    let ran = home.path().join("ran");
    for (key, value) in [
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        ("remote.origin.url", "./elsewhere"),
        ("remote.origin.uploadpack", &format!("touch {}; false", ran.display())),
    ] {
        repo.git(&["config", key, value]);
    }
    std::fs::remove_file(repo.root().join(".gitignore")).expect("the file");
    let (folder, rest) = object.trim().split_at(2);
    std::fs::remove_file(repo.root().join(".git/objects").join(folder).join(rest)).expect("the object");
    let config = repo.read(".git/config");
    // It bites: plain git does run the program.
    let mut bite = Command::new("git");
    let _fails =
        bite.args(["cat-file", "-p", object.trim()]).current_dir(repo.root()).output().expect("git starts");
    assert!(ran.exists(), "git would fetch");
    std::fs::remove_file(&ran).expect("the proof");
    std::fs::write(repo.root().join(".git/config"), &config).expect("what that git changed");
    let _either_way = home.run(&["try", "--worktree", "work"]);
    assert!(!ran.exists(), "a program of the repository's choice ran");
    assert_eq!(repo.read(".git/config"), config);
}

#[test]
fn an_interrupted_try_does_not_wait_for_a_pipe_in_the_worktree() {
    let home = Home::new();
    let repo = Repo::init(&home.path().join("work"));
    repo.write("a.txt", "one\n").commit("begin");
    std::fs::create_dir(repo.root().join("sub")).expect("a folder");
    let made =
        Command::new("mkfifo").arg(repo.root().join("sub/.gitignore")).status().expect("mkfifo starts");
    assert!(made.success());
    let mut pty = Pty::spawn(home.command(&["try", "--worktree", "work"]), 30, 120);
    pty.expect("1/7", PATIENCE);
    pty.send([3]);
    assert_eq!(pty.wait(PATIENCE).code(), Some(130), "{}", pty.text());
    eventually("git ends too", PATIENCE, || {
        processes_of(&home).is_empty()
            && std::fs::read_dir(home.path().join("tmp")).expect("a folder").count() == 0
    });
}
