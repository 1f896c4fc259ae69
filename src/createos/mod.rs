//! Client of the provider command line: typed calls, lenient JSON, version quirks.
//!
//! The provider is the official `createos` program or our own `createos-sandbox local`; both take
//! the same argv (docs/measured/createos-cli.md). Everything that it or a box says is data.

mod account;
mod credentials;
mod delete;
mod exec;
mod failure;
mod id;
mod job;
mod json;
mod lifecycle;
mod listing;
mod process;
mod program;
mod provider;
mod run;
mod status;
mod transfer;
mod words;

#[cfg(test)]
mod tests;

pub(crate) use crate::config::ProviderKind;
pub(crate) use credentials::Credentials;
pub(crate) use failure::{Failure, Result};
pub(crate) use id::{BoxId, BoxName, ProcessId};
pub(crate) use lifecycle::CreateSpec;
pub(crate) use listing::{BoxLimits, BoxView, Listing, RefusedTarget, Scope};
pub(crate) use process::{ProcessView, StartSpec};
pub(crate) use program::{NAME as PROGRAM_NAME, Own, official, on_path};
pub(crate) use provider::Provider;
pub(crate) use run::{BoxRun, RunNews, Unfollowed};
pub(crate) use status::Status;
pub(crate) use words::Refusal;
