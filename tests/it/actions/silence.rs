//! Something on the way to the box cuts connections that are silent, and what runs at their other end is killed.

use super::narrow::start_in_a_small_pane;
use super::world::{LONG, World};
use crate::support::outcome;
use serde_json::json;
use std::time::{Duration, Instant};

/// So many files, and so long may a call be silent.
const FILES: usize = 20_000;
const CUT: u64 = 10;

/// git in the box takes longer than that for the base, without a word.
const SLOW_GIT: &str = r#"mkdir -p ~/.local/bin
cat > ~/.local/bin/git <<'EOF'
#!/bin/sh
case " $* " in *" commit "*) sleep 12 ;; esac
exec /usr/bin/git "$@"
EOF
chmod +x ~/.local/bin/git"#;

#[test]
fn a_start_of_twenty_thousand_files_outlives_an_idle_cut_and_shows_how_far_it_is() {
    let mut world = World::new();
    for number in 0..FILES {
        world.repo.write(&format!("d{}/{number}.txt", number % 100), "x\n");
    }
    world.script("image", json!(SLOW_GIT));
    world.script("idle_cut", json!(CUT));
    // A service that says nothing meanwhile: streams are cut, too.
    world.script("heartbeat", json!(0));
    let pane = start_in_a_small_pane(&world, (60, 100));
    pane.expect("Ctrl-]", 3 * LONG);
    let text = pane.text();
    for words in
        ["unpacked 1000 of 20002 files", "recorded 19000 of 20002 files", "prepare  starting point kept"]
    {
        assert!(text.contains(words), "[{words}] was not shown:\n{text}");
    }
    let id = world.boxes()[0]["id"].as_str().expect("an id").to_owned();
    let count = world.in_box(&id, "git -C /workspace ls-files | wc -l");
    assert_eq!(count.trim(), (FILES + 2).to_string());

    // The cut bites: a stream that is silent for as long is ended, and its exit code is 0.
    let program = world.home.path().join("bin/createos");
    let args = ["sandbox", "exec", "--stream", &id, "--", "sh", "-c", "sleep 60; echo done"];
    let mut call = world.home.command_of(&program, &args);
    call.current_dir("/").env("CREATEOS_DO_NOT_TRACK", "1");
    let began = Instant::now();
    let cut = outcome(call);
    assert_eq!((cut.code, cut.stdout.as_str()), (0, ""), "{cut:?}");
    assert!(began.elapsed() < Duration::from_secs(50), "it was cut: {:?}", began.elapsed());
}
