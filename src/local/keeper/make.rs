//! Makes the network of a box.

use crate::error::Error;
use crate::local::boxes::refusal;
use crate::local::entry::spawn::{Shared, spawn};
use crate::local::failure::Result;
use crate::local::wire::channel::Channel;
use crate::local::wire::spec::{Errand, Event, NetworkOrder, Part};
use crate::network::{Door, Wire};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::Stdio;

/// All parts of a box's network. It lives as long as somebody has one of its namespaces.
pub(crate) struct Made {
    pub(crate) shared: Shared,
    pub(crate) doors: Vec<(Door, OwnedFd)>,
    /// Where the box's packets come out; without it there are only the doors.
    pub(crate) wire: Option<Wire>,
}

/// Makes one.
///
/// # Errors
/// The system refuses it.
pub(crate) fn make(root: &Path, uid: Option<u32>, order: NetworkOrder) -> Result<Made> {
    let wrong = |source: io::Error| Error::failed(format!("could not make the box's network: {source}"));
    let (ours, theirs) = Channel::pair().map_err(wrong)?;
    let mut maker = spawn(root, uid, None, theirs, Stdio::null(), Stdio::null())?;
    let made = ours.send(&Errand::Network(order), None).map_err(wrong).map_err(Into::into);
    let made = made.and_then(|()| collect(&ours));
    let _gone = maker.kill();
    let _reaped = maker.wait();
    made
}

fn collect(channel: &Channel) -> Result<Made> {
    let wrong = |source: io::Error| Error::failed(format!("could not make the box's network: {source}"));
    let (mut user, mut net, mut wire, mut doors) = (None, None, None, Vec::new());
    loop {
        match channel.receive::<Event>().map_err(wrong)? {
            Some((Event::Made(part), Some(fd))) => match part {
                Part::User => user = Some(fd),
                Part::Net => net = Some(fd),
                Part::Proxy => doors.push((Door::Proxy, fd)),
                Part::Wire => wire = Some(Wire::new(fd, true)),
                Part::Localhost(port) => doors.push((Door::Localhost(port), fd)),
            },
            Some((Event::Ready, _)) => break,
            Some((Event::Refused(refused), _)) => return Err(refusal::explain(&refused).into()),
            other => {
                let said =
                    other.map_or("the connection was closed".into(), |(event, _)| format!("{event:?}"));
                return Err(Error::failed("the box's network was not made").fact("reason", said).into());
            }
        }
    }
    match (user, net) {
        (Some(user), Some(net)) => Ok(Made { shared: Shared { user, net }, doors, wire }),
        _ => Err(Error::failed("the box's network is not complete").into()),
    }
}
