//! A worktree's way into a box and its work's way home, for whoever has a box: `worktree`, `createos` and `merge` put
//! together.

mod listing;
mod remote;
mod stop;
mod upload;

pub(crate) use listing::list;
pub(crate) use remote::ProviderBox;
pub(crate) use stop::Stop;
pub(crate) use upload::Upload;
