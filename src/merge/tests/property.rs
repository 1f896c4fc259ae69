//! Random trees, random edits on both sides: the result is git's own three-way merge, or nothing changes.
//!
//! Two of git's strategies are the reference. `ort` follows renames, and gits up to 2.47 at least do so even
//! with `-X no-renames`; we take a rename for a file that goes and one that comes. So it gets edits without
//! renames, and contents that no other path has. `resolve` goes path by path as we do, and refuses to merge
//! modes; it gets renames too.

use super::*;
use crate::merge::judge;
use crate::merge::parcel::{Arrived, Parcel};
use crate::merge::source::Source;
use crate::merge::spool::Spool;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A tree: path to kind and contents.
type Files = BTreeMap<&'static str, (FileKind, Text)>;

/// Contents that a failure shows as text.
#[derive(Clone, PartialEq, Eq)]
struct Text(Vec<u8>);

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

impl std::ops::Deref for Text {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

const PATHS: [&str; 7] = ["a", "b", "d/a", "d/e/f", "d", "d/e", "x\ny"];

fn contents() -> impl Strategy<Value = (FileKind, Text)> {
    let lines = proptest::collection::vec(0..3u8, 12).prop_map(|lines| {
        // Each line is one of few, so that edits of both sides often meet and often do not.
        let text = lines.iter().enumerate().map(|(at, line)| match line {
            0..2 => format!("line {at}\n"),
            _ => format!("line {at} changed\n"),
        });
        Text(text.collect::<String>().into_bytes())
    });
    prop_oneof![
        6 => lines.clone().prop_map(|text| (FileKind::File, text)),
        2 => lines.prop_map(|text| (FileKind::Executable, text)),
        1 => Just((FileKind::File, Text(b"\0binary".to_vec()))),
        1 => Just((FileKind::File, Text(Vec::new()))),
        1 => prop_oneof![Just("nowhere"), Just("elsewhere")].prop_map(|target| (FileKind::Link, Text(target.as_bytes().to_vec()))),
    ]
}

fn tree() -> impl Strategy<Value = Files> {
    proptest::collection::btree_map(proptest::sample::select(&PATHS[..]), contents(), 0..5).prop_map(whole)
}

/// Without what lies below a file.
fn whole(mut files: Files) -> Files {
    let all: Vec<_> = files.keys().copied().collect();
    files.retain(|path, _| !all.iter().any(|other| path.starts_with(&format!("{other}/"))));
    files
}

/// What one side does.
#[derive(Debug, Clone)]
enum Edit {
    /// A path takes another state, whatever it was: new, edited, or of another type.
    Set(&'static str, (FileKind, Text)),
    Delete(&'static str),
    /// The other executable bit, if it is a file.
    Mode(&'static str),
    /// To a path where something else may be.
    Rename(&'static str, &'static str),
}

fn edits(renames: u32) -> impl Strategy<Value = Vec<Edit>> {
    let path = || proptest::sample::select(&PATHS[..]);
    let edit = prop_oneof![
        5 => (path(), contents()).prop_map(|(path, state)| Edit::Set(path, state)),
        2 => path().prop_map(Edit::Delete),
        1 => path().prop_map(Edit::Mode),
        renames => (path(), path()).prop_map(|(from, to)| Edit::Rename(from, to)),
    ];
    proptest::collection::vec(edit, 0..4)
}

fn edited(base: &Files, edits: &[Edit]) -> Files {
    let mut files = base.clone();
    let set = |files: &mut Files, path: &'static str, state: (FileKind, Text)| {
        files.retain(|other, _| {
            !other.starts_with(&format!("{path}/")) && !path.starts_with(&format!("{other}/"))
        });
        files.insert(path, state);
    };
    for edit in edits {
        match edit {
            Edit::Set(path, state) => set(&mut files, path, state.clone()),
            Edit::Delete(path) => drop(files.remove(path)),
            Edit::Mode(path) => {
                if let Some((kind, _)) = files.get_mut(path) {
                    *kind = match kind {
                        FileKind::File => FileKind::Executable,
                        FileKind::Executable => FileKind::File,
                        FileKind::Link => FileKind::Link,
                    };
                }
            }
            Edit::Rename(from, to) => {
                if let Some(state) = files.remove(from) {
                    set(&mut files, to, state);
                }
            }
        }
    }
    files
}

fn list(files: &Files) -> Base {
    let mut base = Base::default();
    for (path, (kind, bytes)) in files {
        base.insert(RelPath::new(path.as_bytes()).unwrap(), Entry { kind: *kind, hash: digest(bytes) });
    }
    base
}

/// Every path's lines get its name, so that nothing looks like a rename.
fn own(files: Files) -> Files {
    let name = |path: &str, Text(bytes): Text| {
        let (path, text) = (path.replace(['/', '\n'], "-"), String::from_utf8(bytes).unwrap());
        let lines = text.split_inclusive('\n').map(|line| format!("{path} {path} {line}"));
        Text(lines.collect::<String>().into_bytes())
    };
    files.into_iter().map(|(path, (kind, text))| (path, (kind, name(path, text)))).collect()
}

/// git's own merge of whole trees; `None` when it has conflicts.
fn reference(
    folder: &Path,
    strategy: &str,
    base: &Files,
    ours: &Files,
    theirs: &Files,
) -> Option<BTreeMap<Vec<u8>, (String, String)>> {
    let git = |args: &[&str], input: Vec<u8>| {
        let run = Run::new("git")
            .arg("-C")
            .arg(folder)
            .args(["-c", "user.name=t", "-c", "user.email=t"])
            .args(args);
        run.env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", "/nonexistent")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .stdin_bytes(input)
            .run()
            .unwrap()
    };
    let mut stream = Vec::new();
    for (mark, (name, files)) in [("base", base), ("ours", ours), ("theirs", theirs)].into_iter().enumerate()
    {
        stream.extend(
            format!("commit refs/heads/{name}\nmark :{}\ncommitter t <t> 0 +0000\ndata 0\n", mark + 1)
                .bytes(),
        );
        stream.extend(if mark > 0 { b"from :1\n".to_vec() } else { Vec::new() });
        stream.extend(b"deleteall\n");
        for (path, (kind, bytes)) in files {
            let quoted = path.replace('\n', "\\n");
            stream.extend(format!("M {} inline \"{quoted}\"\ndata {}\n", kind.mode(), bytes.len()).bytes());
            stream.extend(&bytes[..]);
            stream.push(b'\n');
        }
    }
    assert!(git(&["init", "-q"], Vec::new()).success());
    let imported = git(&["fast-import", "--quiet"], stream);
    assert!(imported.success(), "{}", imported.stderr_text());
    assert!(git(&["checkout", "-q", "-f", "ours"], Vec::new()).success());
    let merged = git(&["merge", "-q", "-s", strategy, "-m", "m", "theirs"], Vec::new());
    // `resolve` says 2 where it cannot even begin.
    if matches!(merged.code(), 1 | 2) {
        return None;
    }
    assert!(merged.success(), "{}", merged.stderr_text());
    let listed = git(&["ls-tree", "-r", "-z", "HEAD"], Vec::new()).stdout;
    let records = listed.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    Some(
        records
            .map(|record| {
                let tab = record.iter().position(|byte| *byte == b'\t').unwrap();
                let head = String::from_utf8(record[..tab].to_vec()).unwrap();
                let fields: Vec<_> = head.split(' ').collect();
                (record[tab + 1..].to_vec(), (fields[0].to_owned(), fields[2].to_owned()))
            })
            .collect(),
    )
}

/// What is in the worktree, as git would list it.
fn listed(root: &Path) -> BTreeMap<Vec<u8>, (String, String)> {
    use sha1::Digest as _;
    let entries = scan(root);
    entries
        .iter()
        .map(|(path, entry)| {
            let full = root.join(path.as_path());
            let bytes = match entry.kind {
                FileKind::Link => std::fs::read_link(full).unwrap().as_os_str().as_bytes().to_vec(),
                _ => std::fs::read(full).unwrap(),
            };
            let blob = sha1::Sha1::digest([format!("blob {}\0", bytes.len()).as_bytes(), &bytes].concat());
            let hash: String = blob.iter().map(|byte| format!("{byte:02x}")).collect();
            (path.as_bytes().to_vec(), (entry.kind.mode().to_owned(), hash))
        })
        .collect()
}

fn put(root: &Path, files: &Files) {
    for (path, (kind, bytes)) in files {
        let full = root.join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        match kind {
            FileKind::Link => std::os::unix::fs::symlink(std::ffi::OsStr::from_bytes(bytes), full).unwrap(),
            kind => {
                std::fs::write(&full, &bytes[..]).unwrap();
                let mode = if *kind == FileKind::Executable { 0o755 } else { 0o644 };
                std::fs::set_permissions(&full, std::fs::Permissions::from_mode(mode)).unwrap();
            }
        }
    }
}

/// A box that has nothing but the base's contents, and gives them when asked.
struct Contents<'a> {
    base: &'a Files,
    wanted: Vec<u8>,
}

impl Remote for Contents<'_> {
    fn exec(&mut self, _: &str, _: &[&str]) -> Result<Response> {
        let stdout = "\ncreateos-sandbox: parcel=/p\ncreateos-sandbox: kept=yes\n".into();
        Ok(Response { code: 0, stdout, stderr: String::new() })
    }

    fn push(&mut self, contents: &mut (dyn Read + Send), _: &str) -> Result<()> {
        self.wanted.clear();
        contents.read_to_end(&mut self.wanted).unwrap();
        Ok(())
    }

    fn pull(&mut self, _: &str, contents: &mut (dyn Write + Send), _: u64) -> Result<()> {
        let gz = flate2::write::GzEncoder::new(contents, flate2::Compression::fast());
        let mut tar = tar::Builder::new(gz);
        for (number, record) in self.wanted.split(|byte| *byte == 0).filter(|r| !r.is_empty()).enumerate() {
            let (_, bytes) = &self.base[std::str::from_utf8(&record[65..]).unwrap()];
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o644);
            tar.append_data(&mut header, number.to_string(), &bytes[..]).unwrap();
        }
        tar.into_inner().unwrap().finish().unwrap();
        Ok(())
    }
}

/// Base, ours and theirs through the real judgement and the real apply; how it ended.
fn bring_home(folder: &Path, base: &Files, ours: &Files, theirs: &Files) -> Outcome {
    let here = folder.join("here");
    std::fs::create_dir_all(&here).unwrap();
    let init =
        Run::new("git").args(["init", "-q"]).arg(&here).env("GIT_CONFIG_GLOBAL", "/dev/null").run().unwrap();
    assert!(init.success());
    put(&here, ours);
    let (was, now) = (list(base), list(theirs));
    let (spool, mut parcel) = (Spool::new().unwrap(), Parcel::default());
    for (path, entry) in now.iter().filter(|(path, entry)| was.get(path) != Some(entry)) {
        let contents = spool.keep(&theirs[std::str::from_utf8(path.as_bytes()).unwrap()].1).unwrap();
        parcel.changed.insert(path.clone(), Arrived { entry: *entry, contents });
    }
    parcel.gone =
        was.iter().filter(|(path, _)| now.get(path).is_none()).map(|(path, _)| path.clone()).collect();
    let mut remote = Contents { base, wanted: Vec::new() };
    let root = RemoteRoot::default();
    let mut source = Source { remote: &mut remote, root: &root, limits: Limits::default() };
    let filters = Filters { git: Path::new("git"), keeps_home: &|_| None, on_clash: OnClash::Refuse };
    let proposal = judge::judge(&mut source, &here, &was, &filters, parcel, "0".repeat(16), spool).unwrap();
    let ledger = Ledger::new(folder.join("state"));
    ledger.begin(&was).unwrap();
    let before = listed(&here);
    let applied = proposal.apply(&mut remote, &ledger).unwrap();
    match applied.outcome {
        Outcome::Applied => {
            assert_eq!(ledger.base().unwrap(), now);
            let after = listed(&here);
            ledger.undo(&here, false).unwrap();
            assert_eq!(listed(&here), before, "an undo gives everything back");
            ledger.begin(&was).unwrap();
            // Left as applied for the comparison.
            for path in before.keys() {
                std::fs::remove_file(here.join(std::ffi::OsStr::from_bytes(path))).unwrap();
            }
            std::fs::write(folder.join("after"), format!("{after:?}")).unwrap();
        }
        Outcome::Conflict | Outcome::NoChanges | Outcome::AlreadyApplied => {
            assert_eq!(listed(&here), before);
            std::fs::write(folder.join("after"), format!("{before:?}")).unwrap();
        }
    }
    applied.outcome
}

/// Where git merges and we rather ask: a file that both made, of which one is a part of the other.
fn we_ask_more(base: &Files, ours: &Files, theirs: &Files) -> bool {
    PATHS.iter().any(|path| {
        base.get(path).is_none()
            && matches!((ours.get(path), theirs.get(path)), (Some(one), Some(other)) if one != other)
    })
}

/// Where `resolve` asks and we merge: both sides' contents with one side's mode, and binary contents of one side
/// where the other changed nothing but the mode. It merges lines as soon as both sides touched a file.
fn git_asks_more(base: &Files, ours: &Files, theirs: &Files) -> bool {
    PATHS.iter().any(|path| match (base.get(path), ours.get(path), theirs.get(path)) {
        (Some(was), Some(one), Some(other)) => {
            let mode_alone = |side: &(FileKind, Text)| side.0 != was.0 && side.1 == was.1;
            let no_link = ![was.0, one.0, other.0].contains(&FileKind::Link);
            let binary = [was, one, other].iter().any(|(_, text)| text.contains(&0));
            no_link && (one.0 != other.0 || binary && (mode_alone(one) || mode_alone(other)))
        }
        _ => false,
    })
}

/// 32 cases, or as many as `PROPTEST_CASES` says.
fn config() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(32), failure_persistence: None, ..ProptestConfig::default() }
}

fn compare(strategy: &str, base: &Files, ours: &Files, theirs: &Files) -> Result<(), TestCaseError> {
    let dir = tempfile::tempdir().unwrap();
    let git = dir.path().join("git");
    std::fs::create_dir(&git).unwrap();
    let expected = reference(&git, strategy, base, ours, theirs);
    let outcome = bring_home(dir.path(), base, ours, theirs);
    let after = std::fs::read_to_string(dir.path().join("after")).unwrap();
    match (expected, outcome) {
        (None, _) if strategy == "resolve" && git_asks_more(base, ours, theirs) => {}
        (None, outcome) => prop_assert_eq!(outcome, Outcome::Conflict, "git has conflicts"),
        (Some(_), Outcome::Conflict) => prop_assert!(we_ask_more(base, ours, theirs), "git has none"),
        (Some(expected), _) => prop_assert_eq!(after, format!("{expected:?}")),
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]
    #[test]
    fn the_result_is_gits_merge_with_ort_or_nothing_changes(base in tree(), ours in edits(0), theirs in edits(0)) {
        let (ours, theirs) = (own(edited(&base, &ours)), own(edited(&base, &theirs)));
        compare("ort", &own(base), &ours, &theirs)?;
    }

    #[test]
    fn the_result_is_gits_merge_with_resolve_or_nothing_changes(base in tree(), ours in edits(2), theirs in edits(2)) {
        let (ours, theirs) = (edited(&base, &ours), edited(&base, &theirs));
        compare("resolve", &base, &ours, &theirs)?;
    }
}
