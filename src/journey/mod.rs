//! A worktree's way into a box and its work's way home, for whoever has a box: `worktree`, `createos` and `merge` put
//! together.

mod environment;
mod listing;
mod remote;
mod seeds;
mod stop;
mod upload;

pub(crate) use environment::deliver;
pub(crate) use listing::list;
pub(crate) use remote::ProviderBox;
pub(crate) use seeds::plant;
pub(crate) use stop::Stop;
pub(crate) use upload::Upload;
