//! Every patch is given to the real `git apply`, which has to make the one tree of the other.

use super::*;
use crate::merge::tests::git;
use crate::worktree::FileKind::{Executable, File, Link};
use proptest::prelude::*;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

type State = Option<(FileKind, Vec<u8>)>;

fn put(root: &Path, path: &RelPath, state: &State) {
    let full = root.join(path.as_path());
    std::fs::create_dir_all(full.parent().unwrap()).unwrap();
    match state {
        None => {}
        Some((Link, target)) => symlink(std::ffi::OsStr::from_bytes(target), &full).unwrap(),
        Some((kind, bytes)) => {
            std::fs::write(&full, bytes).unwrap();
            let mode = if *kind == Executable { 0o755 } else { 0o644 };
            std::fs::set_permissions(&full, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    }
}

fn get(root: &Path, path: &RelPath) -> State {
    let full = root.join(path.as_path());
    let found = std::fs::symlink_metadata(&full).ok()?;
    if found.is_symlink() {
        return Some((Link, std::fs::read_link(&full).unwrap().into_os_string().as_bytes().to_vec()));
    }
    let kind = if found.permissions().mode() & 0o100 != 0 { Executable } else { File };
    Some((kind, std::fs::read(&full).unwrap()))
}

fn patch_of(name: &[u8], before: &State, after: &State) -> (Vec<u8>, Stat) {
    let side =
        |state: &State| state.clone().map(|(kind, bytes)| Side { kind, contents: Contents::Bytes(bytes) });
    let (mut patch, mut stat) = (Vec::new(), Stat::default());
    let path = RelPath::new(name).unwrap();
    write(&mut patch, &path, side(before).as_ref(), side(after).as_ref(), &mut stat).unwrap();
    (patch, stat)
}

/// Applies the patch forwards and backwards with git; panics unless both trees come out exactly.
#[track_caller]
fn git_takes(name: &[u8], before: State, after: State) {
    let dir = tempfile::tempdir().unwrap();
    let path = RelPath::new(name).unwrap();
    let (patch, _) = patch_of(name, &before, &after);
    let file = dir.path().join("p.patch");
    std::fs::write(&file, &patch).unwrap();
    let root = dir.path().join("w");
    std::fs::create_dir(&root).unwrap();
    git(&root, &["init", "-q"]);
    put(&root, &path, &before);
    git(&root, &["-c", "apply.whitespace=nowarn", "apply", "../p.patch"]);
    assert_eq!(get(&root, &path), after, "{}", String::from_utf8_lossy(&patch));
    if matches!((&before, &after), (Some((old, _)), Some((new, _))) if (*old == Link) != (*new == Link)) {
        return; // `git apply -R` cannot take back a change of type, its own neither
    }
    git(&root, &["-c", "apply.whitespace=nowarn", "apply", "-R", "../p.patch"]);
    assert_eq!(get(&root, &path), before, "{}", String::from_utf8_lossy(&patch));
}

fn text(text: &str) -> State {
    Some((File, text.as_bytes().to_vec()))
}

#[test]
fn git_takes_every_kind_of_change() {
    git_takes(b"a", text("1\n2\n3\n"), text("1\nzwei\n3\n"));
    git_takes(b"a", text("1\n"), text("1"));
    git_takes(b"a", text("1"), text("2"));
    git_takes(b"a", None, text("new\n"));
    git_takes(b"a", None, text(""));
    git_takes(b"a", text(""), text("x\n"));
    git_takes(b"d/a", text("gone\n"), None);
    git_takes(b"a", text("same\n"), Some((Executable, b"same\n".to_vec())));
    git_takes(b"a", text("one\n"), Some((Executable, b"two\n".to_vec())));
    git_takes(b"a", None, Some((Link, b"some/where".to_vec())));
    git_takes(b"a", Some((Link, b"x".to_vec())), Some((Link, b"y".to_vec())));
    git_takes(b"a", text("file\n"), Some((Link, b"y".to_vec())));
    git_takes(b"a", Some((Link, b"y".to_vec())), text("file\n"));
    git_takes(b"a", text("crlf\r\nb\r\n"), text("crlf\r\nc\r\n"));
}

#[test]
fn git_takes_binary_contents() {
    let mut noise: Vec<u8> = (0..100_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    noise[0] = 0;
    git_takes(b"a", None, Some((File, noise.clone())));
    git_takes(b"a", Some((File, noise.clone())), Some((File, b"\0".to_vec())));
    git_takes(b"a", Some((File, noise)), None);
    // Larger than what is tried, and nothing that gets smaller: it is stored block by block.
    for more in [1, 65_535, 70_001] {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let noise = (0..1024 * 1024 + more).map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        });
        let noise: Vec<u8> = [0].into_iter().chain(noise).collect();
        let (patch, _) = patch_of(b"a", &None, &Some((File, noise.clone())));
        assert!(patch.len() < noise.len() * 13 / 10);
        git_takes(b"a", None, Some((File, noise)));
    }
}

#[test]
fn git_takes_every_name() {
    for name in [
        &b"a b"[..],
        b"-rf",
        b"a\nb\tc",
        b"\xff\xfe/x",
        b"q\"uo\\te",
        "\u{e4}/\u{202e}x".as_bytes(),
        b"tab\t end ",
    ] {
        git_takes(name, None, text("new\n"));
        git_takes(name, text("old\n"), text("new\n"));
    }
}

#[test]
fn lines_are_counted() {
    let (_, stat) = patch_of(b"a", &text("1\n2\n3\n"), &text("1\n3\n4\n5\n"));
    assert_eq!(stat, Stat { insertions: 2, deletions: 1 });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn git_takes_any_pair_of_contents(
        old in proptest::collection::vec("[ab\r]{0,3}\n?", 0..40),
        new in proptest::collection::vec("[ab\r]{0,3}\n?", 0..40),
    ) {
        let (old, new) = (old.concat(), new.concat());
        prop_assume!(old != new);
        git_takes(b"a", text(&old), text(&new));
    }
}
