//! A box's way out: whether it may connect, and the two doors through which it does.

mod dns;
mod engine;
mod judge;
mod kinds;
mod names;
mod own;
mod ports;
mod proxy;
mod refused;
mod resolver;
mod stack;
mod way;

pub(crate) use engine::{Door, Engine, Setup};
pub(crate) use names::SERVER;
pub(crate) use ports::{localhost, proxy};
pub(crate) use refused::Refusals;
pub(crate) use resolver::system;
pub(crate) use stack::wire::Wire;
pub(crate) use way::Way;
