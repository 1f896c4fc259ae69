//! Generated `config.toml` files through the real binary: setup then undo gives each back byte for byte, and a second
//! setup changes nothing. Few cases: the merge itself has its own property tests.

#[allow(dead_code, reason = "chords and blank lines are the merge's own tests'")]
#[path = "../../../src/keys/tests/generator.rs"]
mod generator;

use super::{corpus::round, machine};
use crate::support::{Herdr, User};
use proptest::prop_assert;
use proptest::test_runner::{Config, TestRunner};

#[test]
fn any_file_comes_back_byte_for_byte_through_the_binary() {
    let home = machine(User::Me);
    let _herdr = Herdr::in_home(&home);
    let config = Config { cases: 12, failure_persistence: None, max_shrink_iters: 20, ..Config::default() };
    let outcome = TestRunner::new(config).run(&generator::file(), |text| {
        prop_assert!(round(&home, "a generated file", &text, 0o644), "it was refused");
        Ok(())
    });
    outcome.unwrap();
}
