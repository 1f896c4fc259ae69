//! The plugin's actions, on a Herdr (the stand-in, or the real one that `HERDR_BIN_PATH` names) and real boxes.

mod agents;
mod boxes;
mod day;
mod delete;
mod failures;
mod hands;
mod holding;
mod info;
mod lists;
mod lost;
mod named;
mod narrow;
mod pause;
mod programs;
mod prune;
mod quirks;
mod races;
mod reserved;
mod restored;
mod result;
mod review;
mod slow;
mod story;
mod sync;
mod upgrade;
mod which;
pub mod world;
