//! Work coming home: base lists, three ways by path, judgement, patches.

mod remote;

pub(crate) use remote::{Answer, Remote};
