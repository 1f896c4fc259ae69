//! The one integration binary: the real binary, real git, real boxes.

mod support;

mod about;
#[cfg(target_os = "linux")]
mod actions;
#[cfg(target_os = "linux")]
mod anywhere;
#[cfg(target_os = "linux")]
mod apply;
mod architecture;
mod cli;
mod commands;
#[cfg(target_os = "linux")]
mod cos;
#[cfg(target_os = "linux")]
mod createos_contract;
mod documents;
mod herdr_contract;
mod install_guards;
mod install_script;
#[cfg(target_os = "linux")]
mod local;
mod repository;
mod setup;
mod shim;
#[cfg(target_os = "linux")]
mod trial;
mod upload;
