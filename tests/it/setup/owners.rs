//! Whose `config.toml` it is: links, hard links, other owners, generators, and what hangs on a file beside its bytes.

use super::{CONFIG, SETTINGS, contents, machine, seen_once};
use crate::support::{Herdr, Home, User, outcome, program};
use std::os::unix::fs::{MetadataExt, symlink};
use std::process::Command;

/// The setup goes through without the keys: it warns and prints the block, and the doctor says why.
#[track_caller]
fn gets_the_block(home: &Home, why: &str) {
    let setup = home.run(&["setup"]).success();
    assert!(setup.stdout.contains("config.toml was not written: "), "{}", setup.stdout);
    assert!(setup.stdout.contains(why), "[{why}] is not in {}", setup.stdout);
    assert!(setup.stdout.contains("\n[[keys.command]]\nkey = \"prefix+shift+s\""), "{}", setup.stdout);
    assert_eq!(home.run(&["setup", "--strict"]).code, 1);
    let doctor = home.run(&["setup", "--doctor"]).success();
    let row = doctor.stdout.lines().find(|line| line.contains("config-owner")).expect("the check");
    assert!(row.trim_start().starts_with("warn") && row.contains(why), "{row}");
}

#[test]
fn a_file_with_two_names_keeps_both() {
    for user in User::all() {
        let home = machine(user);
        let herdr = Herdr::in_home(&home);
        seen_once(&home, &herdr);
        let other = home.write("dotfiles/herdr.toml", "[ui]\n");
        std::fs::create_dir_all(home.path().join(".config/herdr")).unwrap();
        let config = home.path().join(CONFIG);
        std::fs::hard_link(&other, &config).unwrap();
        let before = contents(home.path());
        gets_the_block(&home, "has 2 hard links, which a new file would part");
        assert_eq!(std::fs::metadata(&config).unwrap().nlink(), 2);
        let _ = home.run(&["setup", "--undo"]).success();
        assert_eq!(contents(home.path()), before);
        // One that got its second name after a setup is not written by undo either.
        std::fs::remove_file(&other).unwrap();
        let _ = home.run(&["setup"]).success();
        std::fs::hard_link(&config, &other).unwrap();
        let undo = home.run(&["setup", "--undo"]).success();
        assert!(undo.stdout.contains("take our entries out by hand"), "{}", undo.stdout);
        assert!(home.read(CONFIG).contains("createos.sandbox.start"));
    }
}

#[test]
fn settings_with_two_names_are_not_written_either() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let settings = home.write(SETTINGS, "{}");
    std::fs::hard_link(&settings, home.path().join("other.json")).unwrap();
    let setup = home.run(&["setup", "--force", "--agent", "pi"]).success();
    assert!(setup.stdout.contains("config.json was not written: "), "{}", setup.stdout);
    assert!(setup.stdout.contains("\"agent\": \"pi\""), "the settings to put there: {}", setup.stdout);
    assert_eq!(home.read("other.json"), "{}");
}

#[test]
fn somebody_elses_file_that_we_may_write_stays_his() {
    if !User::all().contains(&User::Nobody) {
        return;
    }
    let home = machine(User::Nobody);
    let _herdr = Herdr::in_home(&home);
    let config = home.write(CONFIG, "[ui]\n");
    std::os::unix::fs::chown(&config, Some(0), Some(65534)).unwrap();
    home.mode(CONFIG, 0o664);
    // It can be written, but a file that takes its place cannot be given to its owner.
    let as_user = |program: &str, args: &[&str]| outcome(home.command_of(program.as_ref(), args)).code;
    assert_eq!(as_user("sh", &["-c", "printf '# more\\n' >> .config/herdr/config.toml"]), 0);
    assert_ne!(as_user("chown", &["0", ".config/herdr"]), 0, "the refusal bites");
    gets_the_block(&home, "belongs to uid 0, gid 65534, and a new file of ours would not");
    assert_eq!(home.read(CONFIG), "[ui]\n# more\n");
    let metadata = std::fs::metadata(&config).unwrap();
    assert_eq!((metadata.uid(), metadata.gid(), metadata.mode() & 0o777), (0, 65534, 0o664));
    let _ = home.run(&["setup", "--undo"]).success();
    // A group that we are not in cannot be given either.
    std::os::unix::fs::chown(&config, Some(65534), Some(0)).unwrap();
    gets_the_block(&home, "belongs to uid 65534, gid 0, and a new file of ours would not");
}

#[cfg(target_os = "linux")]
#[test]
fn what_hangs_on_the_file_stays_on_it() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    for user in User::all() {
        let home = machine(user);
        let _herdr = Herdr::in_home(&home);
        let config = home.write(CONFIG, "[ui]\n");
        if setxattr(&config, "user.mark", b"mine", XattrFlags::empty()).is_err() {
            return;
        }
        let mark = || {
            let mut room = [0; 16];
            getxattr(&config, "user.mark", &mut room).map(|length| room[..length].to_vec())
        };
        let _ = home.run(&["setup"]).success();
        assert!(home.read(CONFIG).contains("createos.sandbox.start"));
        assert_eq!(mark(), Ok(b"mine".to_vec()));
        let _ = home.run(&["setup", "--undo"]).success();
        assert_eq!((home.read(CONFIG).as_str(), mark()), ("[ui]\n", Ok(b"mine".to_vec())));
    }
}

#[test]
fn a_link_into_folders_that_are_not_there_gets_them_and_undo_takes_them_away() {
    for user in User::all() {
        let home = machine(user);
        let herdr = Herdr::in_home(&home);
        seen_once(&home, &herdr);
        std::fs::create_dir(home.path().join("dotfiles")).unwrap();
        symlink("../../dotfiles/herdr/deep/config.toml", home.path().join(CONFIG)).unwrap();
        home.own(home.path());
        let before = contents(home.path());
        let doctor = home.run(&["setup", "--doctor"]).success();
        assert!(
            doctor.stdout.contains("there is none yet; setup makes it at ~/.config/herdr/../../dotfiles"),
            "{}",
            doctor.stdout
        );
        let _ = home.run(&["setup"]).success();
        assert!(home.read("dotfiles/herdr/deep/config.toml").contains("createos.sandbox.start"));
        assert!(home.path().join(CONFIG).is_symlink());
        let again = home.run(&["setup"]).success();
        assert!(again.stdout.contains("Nothing was changed."), "{}", again.stdout);
        let _ = home.run(&["setup", "--undo"]).success();
        assert_eq!(contents(home.path()), before, "the folder that was there stays, ours go");
    }
}

#[test]
fn a_link_that_leads_to_no_folder_gets_the_block() {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    seen_once(&home, &herdr);
    symlink("nowhere", home.path().join("dotfiles")).unwrap();
    symlink("../../dotfiles/config.toml", home.path().join(CONFIG)).unwrap();
    let before = contents(home.path());
    gets_the_block(&home, "dotfiles leads to no folder");
    let _ = home.run(&["setup", "--undo"]).success();
    assert_eq!(contents(home.path()), before);
}

#[test]
fn a_file_that_nix_makes_is_left_to_it() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    // As Home Manager links it: through its own files into the store.
    let store = "/nix/store/00000000000000000000000000000000-home-manager-files/.config/herdr/config.toml";
    std::fs::create_dir_all(home.path().join(".config/herdr")).unwrap();
    std::fs::create_dir_all(home.path().join(".local/state/nix")).unwrap();
    symlink(store, home.path().join(".local/state/nix/config.toml")).unwrap();
    symlink("../../.local/state/nix/config.toml", home.path().join(CONFIG)).unwrap();
    gets_the_block(&home, &format!("Nix writes it, from {store}"));
    assert!(!std::path::Path::new(store).exists(), "nothing is made there");
    let setup = home.run(&["setup"]).success();
    assert!(setup.stdout.contains("put the block below where the file is made"), "{}", setup.stdout);
}

#[test]
fn a_file_that_chezmoi_makes_is_left_to_it() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    home.write(CONFIG, "[ui]\n");
    // As chezmoi answers: the source of a file that it knows, an error for any other.
    let knows = format!(
        "#!/bin/sh\n[ \"$1 $2\" = \"source-path {}\" ] || {{ echo 'chezmoi: not managed' >&2; exit 1; }}\n\
         echo /home/me/dotfiles/config.toml.tmpl\n",
        home.path().join(CONFIG).display()
    );
    program(&home, "bin/chezmoi", &knows);
    gets_the_block(&home, "chezmoi writes it, from /home/me/dotfiles/config.toml.tmpl");
    assert_eq!(home.read(CONFIG), "[ui]\n");
    program(&home, "bin/chezmoi", "#!/bin/sh\necho 'chezmoi: not managed' >&2\nexit 1\n");
    let _ = home.run(&["setup"]).success();
    assert!(home.read(CONFIG).contains("createos.sandbox.start"));
}

#[test]
fn an_attribute_that_forbids_changes_is_a_warning() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let config = home.write(CONFIG, "[ui]\n");
    let forbid = |sign: &str| {
        Command::new("chattr").arg(sign).arg(&config).output().is_ok_and(|out| out.status.success())
    };
    // Only root may, and only on some file systems.
    if !forbid("+i") {
        return;
    }
    let bites = std::fs::write(&config, "x").is_err();
    let setup = home.run(&["setup"]);
    assert!(forbid("-i"));
    assert!(bites && setup.code == 0 && setup.stdout.contains("config.toml was not written: "), "{setup:?}");
}
