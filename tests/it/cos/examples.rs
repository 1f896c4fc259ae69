//! The examples of docs/one-shot.md, typed as they stand, on a local box.

use super::Cos;
use crate::support::{binary, outcome};
use std::os::unix::fs::symlink;
use std::path::Path;

#[test]
fn the_examples_of_the_page_run() {
    let page = include_str!("../../../docs/one-shot.md");
    let (_, block) = page.split_once("```sh\n").expect("the page has examples");
    let (block, _) = block.split_once("```").expect("they end");
    let cos = Cos::local();
    symlink(binary(), cos.home().path().join("bin/cos")).expect("a link");
    let test = "import unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(True)\n";
    cos.repo().write("test_it.py", test).write(".gitignore", "dist/\n");
    cos.repo()
        .write("Makefile", "test:\n\techo tested\ndist:\n\tmkdir -p dist && echo made > dist/made\n")
        .commit("more");
    let mut ran = 0;
    for line in block.lines().filter(|line| line.starts_with("cos ")) {
        let mut shell = cos.home().command_of(Path::new("/bin/sh"), &["-c", line]);
        shell.current_dir(cos.repo().root());
        let done = outcome(shell).success();
        ran += 1;
        if line.contains("fanout") {
            assert!(done.stdout.contains("tested"), "{done:?}");
        }
    }
    assert!(ran >= 6, "only {ran} examples");
    assert_eq!(cos.repo().read("dist/made"), "made\n");
    cos.has_nothing_left();
}
