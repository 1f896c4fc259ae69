//! Large files and many of them.

use super::{ROW, Table, result};

/// 200 MB that no packer makes smaller, and a text beside it.
const LARGE: &str = "head -c 200000000 /dev/urandom > large; seq 9 > text; sha256sum large";

#[test]
fn two_hundred_megabytes_come_home_and_go_back() {
    let table = Table::new();
    let pair = table.pair(ROW.start);
    let sum = pair.agent(LARGE);
    let applied = pair.apply().success();
    assert_eq!(result(&applied)["files"], 2, "{applied:?}");
    assert!(result(&applied)["bytes"].as_u64().unwrap() > 200_000_000, "{applied:?}");
    assert_eq!(pair.user("sha256sum large"), sum);
    // What came home is where the next merge starts from, packed or not.
    pair.agent("echo theirs >> text");
    pair.user("sed -i 's/^1$/mine/' text");
    let _ = pair.apply().success();
    pair.user("(echo mine; seq 2 9; echo theirs) | cmp - text");
    let _ = pair.herdr(&["undo"]).success();
    pair.user("sed -i 's/^mine$/1/' text");
    let _ = pair.herdr(&["undo"]).success();
    pair.user("test ! -e large -a ! -e text");
}

#[test]
fn ten_thousand_changed_paths_come_home_clash_and_go_back() {
    let table = Table::new();
    // Every sort of change, 2,000 of each.
    let pair = table.pair(
        "for n in $(seq 20); do mkdir d$n; for k in $(seq 100); do echo $n.$k > d$n/e$k; echo x > d$n/r$k; : > d$n/m$k; done; done",
    );
    let before = pair.here();
    pair.agent(
        "for n in $(seq 20); do rm d$n/r*; chmod +x d$n/m*; mkdir new$n
             for k in $(seq 100); do echo agent > d$n/e$k; echo $n.$k > new$n/n$k; ln -s n$k new$n/l$k; done; done",
    );
    let applied = pair.apply().success();
    assert_eq!(result(&applied)["files"], 10_000);
    assert_eq!(pair.here(), pair.there());
    let _ = pair.herdr(&["undo"]).success();
    assert_eq!(pair.here(), before);
    pair.user(
        "for n in $(seq 20); do mkdir new$n; for k in $(seq 100); do echo mine > new$n/n$k; done; done",
    );
    let clashing = pair.here();
    let clash = pair.apply();
    assert_eq!((clash.code, result(&clash)["files"].as_array().map(Vec::len)), (1, Some(2_000)));
    assert!(clash.stderr.lines().count() < 20, "a person reads the first of them: {}", clash.stderr);
    assert_eq!(pair.here(), clashing);
    let _ = pair.herdr(&["apply", "--on-clash", "theirs"]).success();
    assert_eq!(pair.here(), pair.there());
}
