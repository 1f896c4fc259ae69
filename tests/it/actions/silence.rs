//! Something on the way to the box cuts connections that are silent, and what runs at their other end is killed.

use super::world::World;
use serde_json::json;

#[test]
fn a_start_of_twenty_thousand_files_outlives_a_cut_after_ten_silent_seconds() {
    let mut world = World::new();
    for number in 0..20_000 {
        world.repo.write(&format!("many/{}/{number}.txt", number % 200), format!("{number}\n"));
    }
    world.repo.commit("many");
    // Whatever machine this is: preparing them is silent for longer than that.
    let git = "case $* in *\" add \"*|*update-index*|*write-tree*|*commit*) [ -e ~/slept ] || { touch ~/slept; sleep 12; };; esac";
    world.script(
        "image",
        json!(format!(
            "mkdir -p ~/slow; printf '%s\\n' '#!/bin/sh' '{git}' 'exec /usr/bin/git \"$@\"' > ~/slow/git; \
             chmod +x ~/slow/git; echo 'PATH=~/slow:$PATH' >> ~/.bash_profile"
        )),
    );
    world.script("idle_cut", json!(10));
    let (id, pane) = world.start();
    world.sees(&pane, "5/5  start    attached");
    world.in_box(&id, "test -e ~/slept");
    assert_eq!(world.in_box(&id, "find /workspace/many -type f | wc -l").trim(), "20000");
}
