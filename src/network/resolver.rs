//! Names asked for on threads, because the system's resolver waits: few threads, a short queue, a bell when
//! something has come.

use rustix::event::{EventfdFlags, eventfd};
use std::collections::{HashMap, HashSet};
use std::io;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

const THREADS: usize = 16;
const QUEUE: usize = 256;
/// An answer serves the connection that follows the question; the addresses are judged each time.
pub(crate) const FRESH: Duration = Duration::from_secs(10);
const MOST_KEPT: usize = 1024;

/// What became of a name: its addresses, none when there is no such name.
pub(crate) type Found = Result<Vec<IpAddr>, ()>;

/// How a name is looked up.
pub(crate) type Lookup = dyn Fn(&str) -> Found + Send + Sync;

/// Looks names up without ever waiting.
pub(crate) struct Resolver {
    lookup: Arc<Lookup>,
    ask: SyncSender<String>,
    asked: Arc<Mutex<Receiver<String>>>,
    found: Receiver<(String, Found)>,
    tell: Sender<(String, Found)>,
    bell: Arc<OwnedFd>,
    threads: usize,
    waiting: HashSet<String>,
    kept: HashMap<String, (Instant, Found)>,
}

/// The host's resolver.
pub(crate) fn system(name: &str) -> Found {
    use std::net::ToSocketAddrs;
    match (name, 0).to_socket_addrs() {
        Ok(addresses) => {
            let mut found: Vec<IpAddr> = Vec::new();
            for address in addresses.map(|address| address.ip().to_canonical()) {
                if !found.contains(&address) {
                    found.push(address);
                }
            }
            Ok(found)
        }
        Err(error) if is_passing(&error) => Err(()),
        Err(_) => Ok(Vec::new()),
    }
}

/// Whether it says nothing about the name. The standard library keeps the resolver's code to itself: its words for what
/// passes differ from one library to the other, and a failure of the system's own has its number.
fn is_passing(error: &io::Error) -> bool {
    let words = error.to_string();
    error.raw_os_error().is_some() || words.contains("emporary") || words.contains("ry again")
}

impl Resolver {
    pub(crate) fn new(lookup: Arc<Lookup>) -> io::Result<Self> {
        let (ask, asked) = sync_channel(QUEUE);
        let (tell, found) = channel();
        Ok(Self {
            lookup,
            ask,
            asked: Arc::new(Mutex::new(asked)),
            found,
            tell,
            bell: Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?),
            threads: 0,
            waiting: HashSet::new(),
            kept: HashMap::new(),
        })
    }

    /// What is known about a name now. `None`: it has been asked for, and comes.
    pub(crate) fn look(&mut self, name: &str) -> Option<Found> {
        if let Some((since, found)) = self.kept.get(name)
            && since.elapsed() < FRESH
        {
            return Some(found.clone());
        }
        if self.waiting.contains(name) {
            return None;
        }
        match self.ask.try_send(name.to_owned()) {
            Ok(()) => {}
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => return Some(Err(())),
        }
        self.waiting.insert(name.to_owned());
        if self.threads < THREADS.min(self.waiting.len()) {
            self.start();
        }
        if self.threads == 0 {
            // This machine has no thread left, and nobody would ever answer. The next one to ask finds out anew.
            self.waiting.remove(name);
            return Some(Err(()));
        }
        None
    }

    fn start(&mut self) {
        let (asked, tell) = (Arc::clone(&self.asked), self.tell.clone());
        let (bell, lookup) = (Arc::clone(&self.bell), Arc::clone(&self.lookup));
        let work = move || {
            loop {
                // The lock is let go before the name is looked up.
                let name = asked.lock().unwrap_or_else(PoisonError::into_inner).recv();
                let Ok(name) = name else { return };
                let found = lookup(&name);
                if tell.send((name, found)).is_err() {
                    return;
                }
                let _full_means_rung = rustix::io::write(&bell, &1_u64.to_ne_bytes());
            }
        };
        // A machine that has no thread left has others, or the queue fills and names fail.
        let builder = std::thread::Builder::new().name("names".into()).stack_size(256 * 1024);
        self.threads += usize::from(builder.spawn(work).is_ok());
    }

    /// Ready to read when answers have come.
    pub(crate) fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }

    /// The names that are known now.
    pub(crate) fn arrived(&mut self) -> Vec<(String, Found)> {
        let _empty = rustix::io::read(&self.bell, &mut [0; 8]);
        let arrived: Vec<_> = self.found.try_iter().collect();
        for (name, found) in &arrived {
            self.waiting.remove(name);
            if self.kept.len() >= MOST_KEPT {
                self.kept.retain(|_, (since, _)| since.elapsed() < FRESH);
            }
            // What cannot be known now may be known at once.
            if self.kept.len() < MOST_KEPT && found.is_ok() {
                self.kept.insert(name.clone(), (Instant::now(), found.clone()));
            }
        }
        arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::event::{PollFd, PollFlags, poll};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_name_is_looked_up_once_however_many_wait_for_it() {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let lookup = move |name: &str| {
            counted.fetch_add(1, Ordering::SeqCst);
            if name == "none.example" { Ok(vec![]) } else { Ok(vec![IpAddr::from([1, 2, 3, 4])]) }
        };
        let mut resolver = Resolver::new(Arc::new(lookup)).unwrap();
        assert_eq!(resolver.look("a.example"), None);
        assert_eq!(resolver.look("a.example"), None);
        assert_eq!(resolver.look("none.example"), None);
        let mut arrived = Vec::new();
        while arrived.len() < 2 {
            poll(&mut [PollFd::new(&resolver.bell(), PollFlags::IN)], None).unwrap();
            arrived.extend(resolver.arrived());
        }
        assert_eq!(count.load(Ordering::SeqCst), 2);
        assert_eq!(resolver.look("a.example"), Some(Ok(vec![IpAddr::from([1, 2, 3, 4])])));
        assert_eq!(resolver.look("none.example"), Some(Ok(vec![])));
    }

    #[test]
    fn a_failure_is_not_remembered() {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let lookup = move |_: &str| match counted.fetch_add(1, Ordering::SeqCst) {
            0 => Err(()),
            _ => Ok(vec![IpAddr::from([1, 2, 3, 4])]),
        };
        let mut resolver = Resolver::new(Arc::new(lookup)).unwrap();
        for found in [Err(()), Ok(vec![IpAddr::from([1, 2, 3, 4])])] {
            assert_eq!(resolver.look("a.example"), None);
            poll(&mut [PollFd::new(&resolver.bell(), PollFlags::IN)], None).unwrap();
            assert_eq!(resolver.arrived(), [("a.example".to_owned(), found)]);
        }
        assert!(matches!(resolver.look("a.example"), Some(Ok(_))));
    }

    #[test]
    fn a_flood_of_names_fails_and_does_not_grow() {
        let (release, gate) = channel::<()>();
        let gate = Mutex::new(gate);
        let lookup = move |_: &str| {
            let _released = gate.lock().unwrap().recv();
            Ok(vec![])
        };
        let mut resolver = Resolver::new(Arc::new(lookup)).unwrap();
        let failed = (0..QUEUE + 100).filter(|at| resolver.look(&format!("n{at}")) == Some(Err(()))).count();
        assert!(failed >= 100 - THREADS && resolver.threads <= THREADS, "{failed}");
        drop(release);
    }

    #[test]
    fn the_system_knows_localhost() {
        assert!(system("localhost").unwrap().iter().all(IpAddr::is_loopback));
    }
}
