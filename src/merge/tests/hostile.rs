//! A box that lies gets a clear refusal, and nothing is touched.

use super::*;
use crate::merge::case::Filters;
use crate::merge::judge::propose_from;
use crate::merge::source::Source;

/// A box whose every answer is made up.
struct Liar {
    parcel: Vec<u8>,
    /// More zero bytes than anybody has.
    endless: bool,
    answer: String,
}

impl Liar {
    fn sending(parcel: Vec<u8>) -> Self {
        Self { parcel, endless: false, answer: "\ncreateos-sandbox: parcel=/x/parcel.tgz\n".into() }
    }
}

impl Remote for Liar {
    fn exec(&mut self, _: &str, _: &[&str]) -> Result<Response> {
        Ok(Response { code: 0, stdout: self.answer.clone(), stderr: String::new() })
    }

    fn push(&mut self, _: &mut (dyn Read + Send), _: &str) -> Result<()> {
        Ok(())
    }

    fn pull(&mut self, _: &str, contents: &mut (dyn Write + Send), limit: u64) -> Result<()> {
        contents.write_all(&self.parcel).unwrap();
        if !self.endless {
            return Ok(());
        }
        // What a provider's client does with output that has no end.
        for _ in 0..=limit >> 20 {
            contents.write_all(&vec![0; 1 << 20]).unwrap();
        }
        Err(Error::failed("the file is larger than expected"))
    }
}

/// A tar with raw names, so that it can hold what no honest tar would.
#[derive(Default)]
struct Tar(Vec<u8>);

impl Tar {
    fn raw(mut self, name: &[u8], kind: u8, target: &[u8], mode: u32, contents: &[u8]) -> Self {
        let mut header = [0u8; 512];
        header[..name.len().min(100)].copy_from_slice(&name[..name.len().min(100)]);
        header[100..108].copy_from_slice(format!("{mode:07o}\0").as_bytes());
        header[124..136].copy_from_slice(format!("{:011o}\0", contents.len()).as_bytes());
        header[156] = kind;
        header[157..157 + target.len()].copy_from_slice(target);
        header[257..265].copy_from_slice(b"ustar  \0");
        header[148..156].copy_from_slice(b"        ");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        self.0.extend(header);
        self.0.extend(contents);
        self.0.resize(self.0.len().div_ceil(512) * 512, 0);
        self
    }

    fn file(self, name: &str, contents: &[u8]) -> Self {
        self.raw(name.as_bytes(), b'0', b"", 0o644, contents)
    }

    /// The four lists; `changed` names files with the contents "x".
    fn lists(self, changed: &[u8], gone: &[u8]) -> Self {
        self.file(".createos-sandbox/changed", changed)
            .file(".createos-sandbox/gone", gone)
            .file(".createos-sandbox/nested", b"")
            .file(".createos-sandbox/unreadable", b"")
    }

    fn gz(self) -> Vec<u8> {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(&self.0).unwrap();
        gz.write_all(&[0; 1024]).unwrap();
        gz.finish().unwrap()
    }
}

fn record(mode: &str, name: &str) -> Vec<u8> {
    format!("{mode} {} {name}\0", digest(b"x")).into_bytes()
}

/// Fetches from the liar with small limits; panics unless it is refused with `why` and nothing is changed.
#[track_caller]
fn refused(liar: &mut Liar, why: &str) {
    let world = World::unprepared();
    world.here("a", "a\n").here("d/b", "b\n");
    let (before, base) = (scan(&world.here), scan(&world.here));
    let limits = Limits { parcel: 1 << 20, contents: 1 << 20 };
    let source = Source { remote: liar, root: &world.root, limits };
    let error = propose_from(
        source,
        &world.here,
        &base,
        &Filters { git: Path::new("git"), keeps_home: &|_| None, on_clash: OnClash::Refuse },
    )
    .unwrap_err();
    let said = format!("{error} {:?}", error.facts());
    assert!(said.contains(why), "[{why}] is not in: {said}");
    assert_eq!(scan(&world.here), before);
    assert!(!world.state.exists());
}

#[test]
fn a_parcel_that_is_none() {
    refused(&mut Liar::sending(b"not gzip".to_vec()), "cannot be read");
    refused(&mut Liar::sending(Vec::new()), "no lists");
    refused(&mut Liar::sending(vec![0x1f, 0x8b]), "cannot be read");
    refused(&mut Liar::sending(vec![b'x'; 2000]), "cannot be read");
    refused(&mut Liar::sending(Tar::default().gz()), "no lists");
    let whole = Tar::default().lists(&record("100644", "n"), b"").file("./n", b"x").gz();
    refused(&mut Liar::sending(whole[..whole.len() / 2].to_vec()), "cannot be read");
    refused(&mut Liar::sending(Tar::default().file("./n", b"x").gz()), "does not begin with its lists");
}

#[test]
fn names_that_lead_elsewhere() {
    for (name, why) in [
        ("../x", "leaves the worktree"),
        ("/etc/cron.d/x", "an absolute path"),
        ("a/../../x", "leaves the worktree"),
        ("d//b", "an empty name"),
        ("", "an empty name"),
    ] {
        refused(&mut Liar::sending(Tar::default().lists(&record("100644", name), b"").gz()), why);
        let sent = Tar::default().lists(b"", b"").raw(format!("./{name}").as_bytes(), b'0', b"", 0o644, b"x");
        refused(&mut Liar::sending(sent.gz()), "it sends");
    }
    refused(&mut Liar::sending(Tar::default().lists(b"", b"../x\0").gz()), "leaves the worktree");
    refused(
        &mut Liar::sending(Tar::default().lists(b"", b"").file("/etc/x", b"x").gz()),
        "no path of the workspace",
    );
}

#[test]
fn lists_that_contradict_themselves() {
    let twice = [record("100644", "n"), record("100755", "n")].concat();
    refused(&mut Liar::sending(Tar::default().lists(&twice, b"").gz()), "twice");
    refused(&mut Liar::sending(Tar::default().lists(b"", b"stranger\0").gz()), "which it cannot be");
    let both = Tar::default().lists(&record("100644", "a"), b"a\0").file("./a", b"x");
    refused(&mut Liar::sending(both.gz()), "which it cannot be");
    // A link and something behind it.
    let through = [record("120000", "l"), record("100644", "l/x")].concat();
    let tar = Tar::default().lists(&through, b"").raw(b"./l", b'2', b"x", 0o777, b"").file("./l/x", b"x");
    refused(&mut Liar::sending(tar.gz()), "as a file and as the folder of");
    let over = Tar::default().lists(&record("120000", "d"), b"").raw(b"./d", b'2', b"x", 0o777, b"");
    refused(&mut Liar::sending(over.gz()), "as a file and as the folder of");
    for bad in [&b"100644 short n\0"[..], b"040000 n\0", b"160000 x n\0", b"100644\0", b"100644 n"] {
        refused(&mut Liar::sending(Tar::default().lists(bad, b"").gz()), "list");
    }
}

#[test]
fn contents_that_are_not_the_promised_ones() {
    let promise = || Tar::default().lists(&record("100644", "n"), b"");
    refused(&mut Liar::sending(promise().file("./n", b"y").gz()), "do not match its own list");
    refused(&mut Liar::sending(promise().gz()), "do not match its own list");
    refused(
        &mut Liar::sending(promise().raw(b"./n", b'0', b"", 0o755, b"x").gz()),
        "do not match its own list",
    );
    refused(
        &mut Liar::sending(promise().raw(b"./n", b'2', b"x", 0o777, b"").gz()),
        "do not match its own list",
    );
    refused(&mut Liar::sending(promise().file("./n", b"x").file("./more", b"x").gz()), "does not name");
    refused(&mut Liar::sending(promise().file("./n", b"x").file("./n", b"x").gz()), "does not name");
    for kind in *b"13467xgSM" {
        let tar = promise().raw(b"./n", kind, b"/etc/passwd", 0o644, b"");
        refused(&mut Liar::sending(tar.gz()), "");
    }
}

#[test]
fn output_without_end() {
    let mut liar = Liar::sending(Tar::default().lists(b"", b"").gz());
    liar.endless = true;
    refused(&mut liar, "larger than expected");
    // Small when packed, not when unpacked.
    let bomb = Tar::default().lists(&record("100644", "n"), b"").file("./n", &vec![b'0'; 40 << 20]);
    refused(&mut Liar::sending(bomb.gz()), "more than 1.0 MB");
    let name = Tar::default().lists(b"", b"").raw(b"././@LongLink", b'L', b"", 0, &vec![b'n'; 1 << 20]);
    refused(&mut Liar::sending(name.gz()), "endless");
}

#[test]
fn answers_that_make_no_sense() {
    for answer in [
        "",
        "hello",
        "\ncreateos-sandbox: parcel=\n",
        "\ncreateos-sandbox: parcel=../x\n",
        "\ncreateos-sandbox: parcel=/a/../../x\n",
        "\ncreateos-sandbox: parcel=/a\u{1b}]0;x\u{7}\n",
    ] {
        let mut liar = Liar::sending(Vec::new());
        liar.answer = answer.into();
        refused(&mut liar, "cannot be trusted");
    }
}

#[test]
fn a_name_for_git_s_own_folder_in_any_spelling_is_dropped() {
    let mut world = World::with(&[("a", "a\n")]);
    world
        .there(".GIT/config", "evil\n")
        .there("d/.Git/hooks/x", "evil\n")
        .there("GIT~1/x", "evil\n")
        .there("b", "b\n");
    let applied = world.apply(Outcome::Applied);
    assert_eq!(reason(&applied.judged, ".GIT/config"), "a path inside .git");
    assert_eq!(applied.judged.iter().filter(|judged| judged.path.is_none()).count(), 3);
    assert!(world.has("b") && !world.has(".GIT") && !world.has("d") && !world.has("GIT~1"));
}
