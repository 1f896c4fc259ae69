//! File sync: what travels and what does not, where its pane is and what it says, and where it is refused.

use super::world::{LONG, World};
use crate::support::{Home, eventually, program, real_herdr};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, Instant};

/// The rules by which names stay home.
const DENY: &str = include_str!("../../../templates/deny.toml");

/// Every file and link of the workspace in the box.
fn in_the_box(world: &World, id: &str) -> BTreeSet<String> {
    let script = "cd /workspace && find . -name .git -prune -o \\( -type f -o -type l \\) -printf '%P\\0'";
    let listed = world.in_box(id, script);
    // The program ends its output with a line end of its own.
    listed.split('\0').filter(|name| !name.is_empty() && *name != "\n").map(str::to_owned).collect()
}

/// Waits until the box holds these paths; meanwhile the pane of the sync may say what is wrong.
#[track_caller]
fn arrive(world: &World, id: &str, pane: &str, paths: &[&str]) {
    let began = Instant::now();
    while !paths.iter().all(|path| in_the_box(world, id).contains(*path)) {
        assert!(began.elapsed() < LONG, "{paths:?} do not arrive:\n{}", world.screen(pane));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A file for each rule of the deny-list, in lower and in upper case.
fn denied() -> Vec<String> {
    let list: Value = toml_edit::de::from_str(DENY).expect("the list is TOML");
    let groups = list["rule"].as_array().expect("rules").iter();
    let names = groups.flat_map(|group| group["names"].as_array().expect("names"));
    let example = |name: &Value| {
        let name = name.as_str().expect("text").replace('*', "any");
        name.strip_suffix('/').map_or(name.clone(), |folder| format!("{folder}/inside"))
    };
    let lower: Vec<String> = names.map(example).collect();
    let upper: Vec<String> = lower.iter().map(|name| format!("UPPER/{}", name.to_uppercase())).collect();
    [lower, upper].concat()
}

/// A private key's shape, built here so that no scanner finds one in this file.
fn private_key() -> String {
    let body = "MIIEowIBAAKCAQEAu1SU1LfVLPHCozMxH2Mo4lgOEePzNm0tRgeLezV6ffAt0gun";
    let edge = |word: &str| format!("-----{word} RSA PRIVATE {}-----\n", "KEY");
    format!("{}{body}\n{body}\n{}", edge("BEGIN"), edge("END"))
}

#[test]
fn what_the_upload_keeps_home_is_not_in_the_box_after_a_sync() {
    let world = World::with_config(json!({
        "agent": "shell", "excludes": ["fixtures/", "*.mp4", "docs/plan.md", "app/[slug]/x.txt"],
        "syncExcludes": ["node_modules", "*.tmp"],
    }));
    let repo = &world.repo;
    let denied = denied();
    for name in &denied {
        repo.write(name, "denied\n").write(&format!("a/b/{name}"), "denied\n");
    }
    for name in ["fixtures/a", "a.mp4", "b/c.mp4", "docs/plan.md", "app/[slug]/x.txt"] {
        repo.write(name, "excluded\n");
    }
    // Tracked and ignored, and ignored alone; a folder of each sort of name.
    repo.write(".gitignore", "*.log\nbuild,1/\nout\\[1\\]/\n\"q\"/\n")
        .write("tracked.log", "x")
        .commit("two");
    for name in ["new.log", "deep/new.log", "build,1/a", "a/build,1/b", "out[1]/a", "\"q\"/a"] {
        repo.write(name, "ignored\n");
    }
    let secrets = [
        "notes.txt",
        "a,b.txt",
        ",",
        "with blank.txt ",
        " ",
        "a/b c/d,e/key.txt",
        "q\"uote.txt",
        "new\nline.txt",
        "tab\tin.txt",
        "[1].txt",
        "st*r.txt",
        "who?.txt",
        "{a,b}.txt",
        "back\\slash.txt",
        "!bang.txt",
        "-dash.txt",
        "caf\u{e9}.txt",
        "em\u{2003}",
        "folder /key",
        "#hash.txt",
    ];
    for name in secrets {
        repo.write(name, private_key());
    }
    let odd = OsStr::from_bytes(b"lat\xe9in \xff.txt");
    std::fs::write(repo.root().join(odd), private_key()).expect("a name that is no text");
    symlink("/etc/passwd", repo.root().join("out-of-here")).expect("a link");
    symlink("README.md", repo.root().join("inside")).expect("a link");
    repo.write("plain.txt", "x").write("a/b/plain.txt", "x").write("docs/other.md", "x").write("1.txt", "x");
    // A rule for files is none for folders.
    repo.write("cmd/credentials/main.go", "x").write("pages/slides.key/index.txt", "x");
    let leaves = [
        ".gitignore",
        "1.txt",
        "README.md",
        "a/b/plain.txt",
        "cmd/credentials/main.go",
        "docs/other.md",
        "inside",
        "pages/slides.key/index.txt",
        "plain.txt",
        "src/main.rs",
    ];

    let (id, _) = world.start();
    assert_eq!(in_the_box(&world, &id), leaves.map(str::to_owned).into());
    // The upload knows nothing of what sync alone leaves out.
    repo.write("node_modules/a", "x").write("a.tmp", "x");
    let synced = world.invoke("sync").ok();
    let pane = synced["pane"].as_str().expect("its pane");
    world.sees(pane, "Sync running");
    // New files with names of which the rules know: contents are not looked at any more, names are.
    repo.write("deep/later.txt", "x").write("newer/credentials/mod.rs", "x");
    for name in &denied {
        repo.write(&format!("later/{name}"), "denied\n");
    }
    repo.write("later/a.mp4", "x").write("fixtures/later", "x").write("later/node_modules/a", "x");
    repo.write("build,1/later", "x").write("zz-last.txt", "x");
    arrive(&world, &id, pane, &["deep/later.txt", "newer/credentials/mod.rs", "zz-last.txt"]);
    let mut expected: BTreeSet<String> = leaves.map(str::to_owned).into();
    expected.extend(["deep/later.txt", "newer/credentials/mod.rs", "zz-last.txt"].map(str::to_owned));
    assert_eq!(in_the_box(&world, &id), expected);

    // The other way the same names stay where they are.
    world.in_box(&id, "cd /workspace && touch .env.box a/.ENV");
    for name in ["from-box.txt", "and-later.txt"] {
        world.in_box(&id, &format!("touch /workspace/{name}"));
        eventually("it comes home", LONG, || repo.root().join(name).exists());
    }
    assert!(!repo.root().join(".env.box").exists() && !repo.root().join("a/.ENV").exists());
}

#[test]
fn the_pane_of_sync_is_below_a_quarter_high_and_takes_no_focus() {
    let world = World::new();
    let (id, pane) = world.start();
    world.answers(&pane, "at", "work");
    let synced = world.press("sync").ok();
    let below = synced["pane"].as_str().expect("its pane").to_owned();
    assert_eq!((&synced["box"], world.panes().len()), (&world.records()[0]["box"], 3));
    eventually("the provider's sync runs", LONG, || world.calls_of("sync").len() == 1);
    let focused = world.panes().into_iter().find(|pane| pane["focused"] == true).expect("one has it");
    assert_eq!(focused["pane_id"], pane.as_str(), "who types to the agent goes on typing");
    if real_herdr().is_some() {
        eventually("below, a quarter high", LONG, || {
            let (above, below) = (world.terminal_size("provision"), world.terminal_size("sync-pane"));
            let share = f64::from(below.0) / f64::from(above.0 + below.0);
            above.1 == below.1 && (share - 0.25).abs() < 0.06
        });
    } else {
        let calls = std::fs::read_to_string(world.home.path().join(".herdr-stand-in/calls")).expect("calls");
        let opened =
            format!("--entrypoint sync --placement split --direction down --target-pane {pane} --no-focus");
        let grown = format!("pane resize --direction down --amount 0.25 --pane {pane}");
        assert!(calls.contains(&opened) && calls.contains(&grown), "{calls}");
    }
    let argv = world.calls_of("sync").remove(0);
    assert_eq!(argv.last(), Some(&id), "flags first, the full id last: {argv:?}");
    for pair in [
        ["--mode", "two-way"],
        ["--local", &world.repo.root().display().to_string()],
        ["--remote", "/workspace"],
    ] {
        assert!(argv.windows(2).any(|words| words == pair), "{pair:?}: {argv:?}");
    }

    // Ctrl-C ends it, and its pane, and nothing else.
    world.herdr(&["pane", "send-keys", &below, "ctrl+c"]);
    eventually("the pane closes", LONG, || !world.pane_ids().contains(&below));
    world.answers(&pane, "still", "here");
}

#[test]
fn sync_says_what_goes_into_the_box_and_takes_a_key_of_its_own() {
    // Variables of the shell in which Herdr was started.
    let leaked = |home: Home| home.var("HERDR_AGENT", "codex").var("CREATEOS_OUTPUT", "json");
    let mut world = World::with(json!({ "agent": "shell" }), leaked);
    world.home.write(".ssh/id_ed25519", "the person's own");
    world.home.write(".ssh/id_ed25519.pub", "ssh-ed25519 AAAA me\n");
    let (id, _) = world.start();
    let synced = world.invoke("sync").ok();
    let below = synced["pane"].as_str().expect("its pane").to_owned();
    let shown = "~/.local/state/herdr/plugins/createos.sandbox/sync-key.pub goes into the box";
    for words in
        [shown, "contents are not scanned while this runs", "Mutagen may be downloaded", "Ctrl-C stops it"]
    {
        world.sees(&below, words);
    }
    world.sees(&below, "Sync running");
    let key = world.state_folder().join("sync-key");
    let public = std::fs::read_to_string(world.state_folder().join("sync-key.pub")).expect("its public half");
    assert_eq!(std::fs::metadata(&key).expect("the key").permissions().mode() & 0o777, 0o600);
    assert_eq!(world.in_box(&id, "cat ~/.ssh/authorized_keys"), public, "nothing but this key is in the box");
    let named = |argv: &Vec<String>| argv.windows(2).any(|words| words == ["-i", &key.display().to_string()]);
    assert!(named(&world.calls_of("sync")[0]), "{:?}", world.calls_of("sync"));

    // There is one at a time, and the next one has the same key.
    let second = world.invoke("sync").ok();
    world.sees(second["pane"].as_str().expect("its pane"), "another file sync runs");
    assert_eq!(world.calls_of("sync").len(), 1);
    world.herdr(&["pane", "send-keys", &below, "ctrl+c"]);
    eventually("the pane closes", LONG, || !world.pane_ids().contains(&below));
    world.script("fail", json!([{ "verb": "sync", "code": "error", "message": "ssh: the moon is down" }]));
    let failed = world.invoke("sync").ok();
    let failed = failed["pane"].as_str().expect("its pane");
    world.sees(failed, "ssh: the moon is down");
    world.sees(failed, "file sync ended with exit code 1");
    assert_eq!(std::fs::read_to_string(key.with_extension("pub")).expect("it stays"), public);
}

/// A Mutagen whose sessions are a person's own, one of this box from before, one of another box, and the one that the
/// sync has begun; what it is told to end is written down.
const MUTAGEN: &str = r#"#!/bin/sh
case "$1 $2" in
"sync list")
    [ "$3" = --template ] || exit 2
    now=$(date +%s)
    printf 'sync_mine notes\nsync_before createos-%s-1000\nsync_other createos-sb-OTHER-%s\n' "$(cat BOX)" "$now"
    printf 'sync_ours createos-%s-%s\n' "$(cat BOX)" "$now" ;;
"sync terminate") echo "$3" >>ENDED ;;
*) exit 2 ;;
esac
"#;

#[test]
fn the_session_that_a_sync_has_left_in_mutagen_is_ended_and_no_other() {
    let world = World::new();
    let (id, _) = world.start();
    let (boxed, ended) = (world.home.write("box-id", &id), world.home.path().join("ended"));
    let script = MUTAGEN.replace("BOX", &boxed.display().to_string());
    let script = script.replace("ENDED", &ended.display().to_string());
    // On PATH first, then where the official program has put its own.
    for place in ["bin/mutagen", ".config/createos/bin/mutagen"] {
        let mutagen = program(&world.home, place, &script);
        let synced = world.invoke("sync").ok();
        let below = synced["pane"].as_str().expect("its pane").to_owned();
        world.sees(&below, "Sync running");
        assert!(!ended.exists(), "while it runs its session stays");
        world.herdr(&["pane", "send-keys", &below, "ctrl+c"]);
        eventually("the pane closes", LONG, || !world.pane_ids().contains(&below));
        assert_eq!(std::fs::read_to_string(&ended).expect("it was told"), "sync_ours\n", "{place}");
        std::fs::remove_file(&ended).expect("it was there");
        std::fs::remove_file(mutagen).expect("it was there");
    }
}

#[test]
fn a_key_that_cannot_be_had_or_used_is_told_before_a_pane_opens() {
    let world = World::new();
    let _ = world.start();
    let keygen = program(&world.home, "bin/ssh-keygen", "#!/bin/sh\necho 'no entropy' >&2\nexit 255\n");
    world.invoke("sync").fails("no key for file sync could be made: no entropy");
    std::fs::remove_file(&keygen).expect("it goes");
    let key = world.state_folder().join("sync-key");
    for spoilt in ["", "not a key\n"] {
        std::fs::write(&key, spoilt).expect("a file");
        std::fs::set_permissions(&key, PermissionsExt::from_mode(0o600)).expect("a mode");
        let refused = world.invoke("sync").fails("the key of file sync cannot be used");
        assert!(refused["fix"].as_str().unwrap().contains("sync-key"), "{refused}");
    }
    assert_eq!(world.panes().len(), 2, "no pane was opened for it");
    std::fs::remove_file(&key).expect("it goes");
    let _ = world.invoke("sync").ok();
}

#[test]
fn boxes_on_this_machine_start_the_same_way_and_have_no_sync() {
    let world = World::with_config(json!({ "agent": "shell", "provider": "local" }));
    let (_, pane) = world.start();
    world.answers(&pane, "in", "side");
    let refused = world.invoke("sync").fails("boxes on this machine have no file sync");
    assert!(refused["fix"].as_str().unwrap().contains("herdr apply"), "{refused}");
    assert!(world.calls().is_empty(), "the official program is not needed");
}
