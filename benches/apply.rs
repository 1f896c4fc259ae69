//! How long it takes until an agent's work is home, beside the box's own listing: `cargo bench --bench apply`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may panic, and it prints"
)]

#[cfg(target_os = "linux")]
#[path = "../tests/it/actions"]
mod actions {
    pub mod hands;
    #[allow(dead_code, reason = "the tests use all of it")]
    pub mod world;
}
#[cfg(target_os = "linux")]
#[path = "apply/boxes.rs"]
mod boxes;
#[cfg(target_os = "linux")]
#[path = "../tests/it/support/mod.rs"]
mod support;

fn main() {
    #[cfg(target_os = "linux")]
    boxes::main();
    #[cfg(not(target_os = "linux"))]
    println!("skipped: there are no local boxes on this system");
}
