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
