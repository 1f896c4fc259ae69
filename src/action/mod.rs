//! The plugin's actions, one a file.

mod upload;

pub(crate) use upload::upload;
