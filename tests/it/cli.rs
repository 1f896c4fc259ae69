//! The command line itself.

use crate::support::Home;

#[test]
fn an_unknown_command_is_wrong_use() {
    let outcome = Home::new().run(&["bogus"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("bogus"), "{outcome:?}");
}
