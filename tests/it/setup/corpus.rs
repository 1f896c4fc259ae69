//! Real and made-up `config.toml` files: setup then undo gives each back byte for byte, with mode and link; a
//! second setup changes nothing; what does not parse is not touched.

use super::{CONFIG, machine};
use crate::support::{Herdr, Home, User};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Sets up and takes back; false when the file cannot be read by Herdr, and then it stays as it is.
pub fn round(home: &Home, name: &str, original: &[u8], mode: u32) -> bool {
    let path = home.path().join(CONFIG);
    home.write(CONFIG, original);
    home.mode(CONFIG, mode);
    let now = || std::fs::read(&path).expect("the file is there");
    let setup = home.run(&["setup"]);
    if setup.code != 0 {
        assert_eq!((setup.code, now() == original), (1, true), "{name}: {}", setup.stderr);
        assert!(
            setup.stderr.contains("config.toml, line ") || setup.stderr.contains("Herdr cannot read"),
            "{name}: {}",
            setup.stderr
        );
        return false;
    }
    let written = now();
    let again = home.run(&["setup"]).success();
    assert!(again.stdout.contains("Nothing was changed."), "{name}: {}", again.stdout);
    assert_eq!(now(), written, "{name}: a second setup");
    let _ = home.run(&["setup", "--undo"]).success();
    assert!(now() == original, "{name}: undo");
    let bits = std::fs::metadata(&path).expect("metadata").permissions().mode() & 0o7777;
    assert_eq!(bits, mode, "{name}: the mode");
    true
}

/// Every second file, from `first` on: the halves run side by side.
fn each(folder: &Path, first: usize) -> (usize, usize) {
    let home = machine(User::Me);
    let herdr = Herdr::in_home(&home);
    let (mut merged, mut refused) = (0, 0);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    files.retain(|file| file.extension().is_some_and(|e| e == "toml"));
    for (index, file) in files.iter().skip(first).step_by(2).enumerate() {
        let bytes = std::fs::read(file).expect("a file");
        let name = file.file_name().expect("a name").to_string_lossy();
        let mode = [0o644, 0o600, 0o664][index % 3];
        if round(&home, &name, &bytes, mode) { merged += 1 } else { refused += 1 }
    }
    drop(herdr);
    (merged, refused)
}

fn made_up() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/keys")
}

/// Real files, which are no part of the repository.
fn real() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/herdr-configs");
    let folder = std::env::var_os("CREATEOS_SANDBOX_HERDR_CONFIGS").map_or(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

#[test]
fn made_up_files_come_back_byte_for_byte() {
    let (merged, refused) = each(&made_up(), 0);
    assert!(merged >= 15 && refused >= 3, "{merged} merged, {refused} refused");
}

#[test]
fn the_other_made_up_files_come_back_byte_for_byte() {
    let (merged, refused) = each(&made_up(), 1);
    assert!(merged >= 15 && refused >= 3, "{merged} merged, {refused} refused");
}

#[test]
fn a_megabyte_comes_back_byte_for_byte() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let mut text = String::from("[keys]\nprefix = \"ctrl+a\"\n");
    let line = format!("# {}\n", "x".repeat(97));
    while text.len() < 1_000_000 {
        text.push_str("\n[[keys.command]]\nkey = \"f5\"\ncommand = \"true\"\n");
        text.push_str(&line.repeat(50));
    }
    assert!(round(&home, "a megabyte", text.as_bytes(), 0o600));
}

/// What the files are made for: each kind is there, by what it holds and not by its name.
#[test]
fn every_kind_of_file_is_among_the_made_up_ones() {
    let files: Vec<Vec<u8>> = std::fs::read_dir(made_up())
        .expect("a folder")
        .map(|entry| std::fs::read(entry.expect("an entry").path()).expect("a file"))
        .collect();
    assert!(files.len() >= 30, "only {} files", files.len());
    let is = |what: &str, test: &dyn Fn(&str) -> bool| {
        assert!(files.iter().any(|file| std::str::from_utf8(file).is_ok_and(test)), "no file {what}");
    };
    let lf = |text: &str| text.replace("\r\n", "").contains('\n');
    is("with CRLF", &|text| text.contains("\r\n") && !lf(text));
    is("with mixed ends", &|text| text.contains("\r\n") && lf(text));
    is("with a BOM", &|text| text.starts_with('\u{feff}') && text.len() > 3);
    is("without a final newline", &|text| !text.is_empty() && !text.ends_with('\n'));
    is("with an inline array", &|text| text.contains("command = [{") || text.contains("command = [ {"));
    is("with dotted keys", &|text| text.lines().any(|line| line.starts_with("keys.")));
    is("with [keys] after commands", &|text| {
        text.find("[[keys.command]]")
            .zip(text.rfind("\n[keys]"))
            .is_some_and(|(command, keys)| command < keys)
    });
    is("with an array of chords", &|text| text.contains("key = [\""));
    is("with one chord twice", &|text| {
        let chords: Vec<&str> = text.lines().filter(|line| line.starts_with("key = ")).collect();
        chords.iter().any(|chord| chords.iter().filter(|other| *other == chord).count() > 1)
    });
    is("with all six taken", &|text| {
        ["s", "c", "y", "a", "i", "x"]
            .iter()
            .all(|letter| text.contains(&format!("\"prefix+shift+{letter}\"")))
    });
    is("with a multi-line inline table of TOML 1.1", &|text| text.contains("{\n"));
    is("with an escape of TOML 1.1", &|text| text.contains("\\e"));
    is("with tabs", &|text| text.contains("\n\t"));
    is("that is empty", &str::is_empty);
    is("with only comments", &|text| {
        !text.is_empty() && text.lines().all(|line| line.is_empty() || line.starts_with('#'))
    });
    assert!(files.iter().any(|file| std::str::from_utf8(file).is_err()), "no file that is not UTF-8");
}

#[test]
fn real_files_come_back_byte_for_byte() {
    let Some(folder) = real() else { return };
    let merged = each(&folder, 0).0 + each(&folder, 1).0;
    assert_eq!(merged, 17, "the rest are templates or do not parse");
}

#[test]
fn a_chain_of_links_stays_one_and_the_real_file_is_written() {
    for user in User::all() {
        let home = machine(user);
        let _herdr = Herdr::in_home(&home);
        home.write("dotfiles/herdr.toml", "[ui]\n");
        std::fs::create_dir_all(home.path().join(".config/herdr")).unwrap();
        symlink("herdr.toml", home.path().join("dotfiles/link.toml")).unwrap();
        symlink("../../dotfiles/link.toml", home.path().join(CONFIG)).unwrap();
        home.own(home.path());
        let _ = home.run(&["setup"]).success();
        assert!(home.path().join(CONFIG).is_symlink() && home.path().join("dotfiles/link.toml").is_symlink());
        assert!(home.read("dotfiles/herdr.toml").contains("createos.sandbox.start"));
        assert!(home.path().join(".config/herdr/config.toml.before-createos").exists());
        let _ = home.run(&["setup", "--undo"]).success();
        assert!(home.path().join(CONFIG).is_symlink());
        assert_eq!(home.read("dotfiles/herdr.toml"), "[ui]\n");
    }
}

#[test]
fn a_dangling_link_gets_its_file_and_undo_takes_the_file_only() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    std::fs::create_dir_all(home.path().join(".config/herdr")).unwrap();
    std::fs::create_dir_all(home.path().join("dotfiles")).unwrap();
    symlink("../../dotfiles/new.toml", home.path().join(CONFIG)).unwrap();
    let _ = home.run(&["setup"]).success();
    assert!(home.read("dotfiles/new.toml").contains("createos.sandbox.start"));
    let _ = home.run(&["setup", "--undo"]).success();
    assert!(home.path().join(CONFIG).is_symlink() && !home.path().join("dotfiles/new.toml").exists());
}

#[test]
fn a_link_into_a_folder_that_cannot_be_written_gets_the_block_instead() {
    for user in User::all() {
        let home = machine(user);
        let _herdr = Herdr::in_home(&home);
        home.write("store/herdr.toml", "[ui]\n");
        std::fs::create_dir_all(home.path().join(".config/herdr")).unwrap();
        symlink("../../store/herdr.toml", home.path().join(CONFIG)).unwrap();
        home.own(home.path());
        home.mode("store", 0o555);
        let setup = home.run(&["setup"]).success();
        assert!(setup.stdout.contains("config.toml was not written"), "{}", setup.stdout);
        assert_eq!(home.read("store/herdr.toml"), "[ui]\n");
        home.mode("store", 0o755);
    }
}

#[test]
fn herdrs_own_variables_move_the_file_as_herdr_reads_them() {
    let home = machine(User::Me);
    let elsewhere = home.path().join("elsewhere/my.toml");
    let home = home.var("HERDR_CONFIG_PATH", elsewhere.to_str().unwrap());
    let herdr = Herdr::in_home(&home);
    home.write("elsewhere/my.toml", "[ui]\n");
    let _ = home.run(&["setup"]).success();
    assert!(home.read("elsewhere/my.toml").contains("createos.sandbox.start"));
    assert!(!home.path().join(CONFIG).exists());
    assert_eq!(herdr.registry().len(), 1);
    let _ = home.run(&["setup", "--undo"]).success();
    assert_eq!(home.read("elsewhere/my.toml"), "[ui]\n");
}

#[test]
fn an_empty_variable_makes_herdrs_paths_relative_and_ours_follow() {
    let home = machine(User::Me).var("XDG_CONFIG_HOME", "");
    let _herdr = Herdr::in_home(&home);
    let _ = home.run(&["setup"]).success();
    assert!(home.read("herdr/config.toml").contains("createos.sandbox.start"));
    assert!(home.path().join("herdr/plugins.json").exists());
    let _ = home.run(&["setup", "--undo"]).success();
    assert!(!home.path().join("herdr/config.toml").exists());
}
