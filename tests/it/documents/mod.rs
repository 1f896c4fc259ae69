//! The documents cannot rot: what they show, list and describe is what the program does.

mod examples;
mod json;
mod known_problems;
#[cfg(target_os = "linux")]
mod screens;
