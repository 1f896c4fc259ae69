//! The engine of a box's way out: one thread that waits for the box's packets and connections, for names and for the
//! hosts that it has connected to, and passes on what comes.

mod asker;
mod connection;
mod dial;
mod door;
mod packets;
mod pump;
mod setup;
#[cfg(test)]
mod tests;

pub(crate) use setup::{Door, Setup};

use super::judge::Target;
use super::names::Names;
use super::refused::Refusals;
use super::resolver::Resolver;
use super::stack::wire::{Room, Wire};
use super::stack::{end::End, packet::Flow};
use super::way::Way;
use crate::config::EgressRule;
use asker::{Asked, Waiting};
use connection::{Connection, Front, Id, Phase, Socket};
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use smoltcp::time::Instant as StackInstant;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// So many connections a box may have at once.
const MOST: usize = 4096;
/// With more than these, new ones get small buffers.
const MANY: usize = 512;
const SMALL_BUFFER: usize = 32 * 1024;
/// What is passed on between sockets goes through this much.
const SHARED: usize = 128 * 1024;
/// How often what was refused is told, at most.
const TELL: Duration = Duration::from_millis(500);
/// Between two looks at a connection that claims to have something to do and does not.
const LEAST_WAIT: Duration = Duration::from_millis(5);

const WIRE: u64 = 0;
const NAMES: u64 = 1;
const STOP: u64 = 2;
const DOORS: u64 = 16;
const CONNECTIONS: u64 = 1 << 20;

/// The engine.
pub(crate) struct Engine {
    rules: Vec<EgressRule>,
    way: Way,
    resolver: Resolver,
    names: Names,
    doors: Vec<(Door, OwnedFd)>,
    wire: Option<Wire>,
    told: Box<dyn FnMut(&Refusals) + Send>,
    _stop: OwnedFd,
    refusals: Refusals,
    /// When something was refused that has not been told.
    untold: Option<Instant>,
    epoll: OwnedFd,
    connections: HashMap<Id, Box<Connection>>,
    flows: HashMap<Flow, Id>,
    waiting: Waiting,
    next: Id,
    /// Those that have something to do.
    ready: VecDeque<Id>,
    timers: BTreeSet<(Instant, Id)>,
    /// A listener has somebody for whom there was no room.
    crowded: bool,
    most: usize,
    began: Instant,
    /// Room for packets in both directions; the first only where packets come.
    received: Option<Room>,
    sent: Room,
    shared: Vec<u8>,
    /// Questions that have come over TCP in this turn.
    asked: Vec<Asked>,
}

/// What happens to a connection after its turn.
enum Turn {
    /// It waits for something.
    Waits,
    /// It has more to do.
    Again,
    /// It is over, in order.
    Over,
    /// It is over, and both sides shall see that it was broken off.
    Broken,
}

impl Engine {
    pub(crate) fn new(setup: Setup) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let add = |fd: BorrowedFd<'_>, what: u64| {
            epoll::add(&epoll, fd, EventData::new_u64(what), EventFlags::IN | EventFlags::ET)
        };
        let resolver = Resolver::new(setup.lookup)?;
        add(resolver.bell(), NAMES)?;
        add(setup.stop.as_fd(), STOP)?;
        if let Some(wire) = &setup.wire {
            add(wire.as_fd(), WIRE)?;
        }
        for (number, (_, fd)) in (DOORS..).zip(&setup.doors) {
            add(fd.as_fd(), number)?;
        }
        let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
        Ok(Self {
            rules: setup.rules,
            way: setup.way,
            resolver,
            names: Names::default(),
            doors: setup.doors,
            wire: setup.wire,
            told: setup.told,
            _stop: setup.stop,
            refusals: Refusals::default(),
            untold: None,
            epoll,
            connections: HashMap::new(),
            flows: HashMap::new(),
            waiting: Waiting::default(),
            next: CONNECTIONS,
            ready: VecDeque::new(),
            timers: BTreeSet::new(),
            crowded: false,
            // Each has two descriptors at most.
            most: usize::try_from(files.saturating_sub(64) / 2).unwrap_or(MOST).clamp(16, MOST),
            began: Instant::now(),
            received: None,
            sent: Room::new(),
            shared: vec![0; SHARED],
            asked: Vec::new(),
        })
    }

    /// Works until it is told to stop.
    ///
    /// # Errors
    /// The system does not let it wait, or the box's packets come no more.
    pub(crate) fn run(mut self) -> io::Result<()> {
        give_memory_back();
        let mut events = Vec::with_capacity(256);
        let mut has_packets = false;
        loop {
            let wait =
                if has_packets || !self.ready.is_empty() { Some(Duration::ZERO) } else { self.next_timer() };
            let wait = wait.and_then(|wait| Timespec::try_from(wait).ok());
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), wait.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            for event in events.drain(..) {
                let flags = event.flags;
                match event.data.u64() {
                    STOP => {
                        self.tell();
                        return Ok(());
                    }
                    WIRE => has_packets = true,
                    NAMES => self.names_arrived(),
                    door if door < CONNECTIONS => self.accept((door - DOORS) as usize),
                    number => {
                        let id = number >> 1;
                        if let Some(connection) = self.connections.get_mut(&id) {
                            connection.note(number & 1 == 1, flags);
                            self.queue(id);
                        }
                    }
                }
            }
            if has_packets {
                has_packets = self.take_packets()?;
            }
            for _ in 0..self.ready.len() {
                if let Some(id) = self.ready.pop_front() {
                    self.serve(id);
                }
            }
            self.answer_asked();
            self.ring();
        }
    }

    /// Gives a connection its turn.
    fn serve(&mut self, id: Id) {
        let Some(mut connection) = self.connections.remove(&id) else { return };
        connection.queued = false;
        let turn = self.turn(id, &mut connection);
        let is_broken = matches!(turn, Turn::Broken);
        match turn {
            Turn::Waits | Turn::Again => {
                self.say(&mut connection);
                self.set_timer(id, &mut connection);
                self.connections.insert(id, connection);
                if matches!(turn, Turn::Again) {
                    self.queue(id);
                }
            }
            Turn::Over | Turn::Broken => self.end(id, connection, is_broken),
        }
    }

    fn turn(&mut self, id: Id, connection: &mut Connection) -> Turn {
        if let Front::Door(front, _) = &connection.front
            && front.broken
        {
            return Turn::Broken;
        }
        match connection.phase {
            Phase::Head { .. } => self.read_head(id, connection),
            Phase::Judging | Phase::Resolving => Turn::Waits,
            Phase::Connecting(_) => self.look_connected(id, connection),
            Phase::Talking(..) => self.talk(connection),
            Phase::Open => self.pass_on(connection),
            Phase::Farewell => self.farewell(connection),
            Phase::Names(_) => self.serve_names(id, connection),
        }
    }

    /// Passes on in both directions.
    fn pass_on(&mut self, connection: &mut Connection) -> Turn {
        let Connection { front, back: Some(back), up, down, .. } = connection else { return Turn::Broken };
        let more = match front {
            Front::Door(front, _) => pump::sockets(front, back, up, &mut self.shared)
                .and_then(|more| Ok(pump::sockets(back, front, down, &mut self.shared)? || more)),
            Front::Stack(_, end) => {
                pump::up(end, back, up).and_then(|more| Ok(pump::down(back, end, down)? || more))
            }
        };
        // A box that breaks it off leaves its side without an end.
        let is_broken = match front {
            Front::Door(..) => false,
            Front::Stack(_, end) => end.is_over() && !up.shut && !end.socket().can_recv(),
        };
        let is_over = up.shut
            && down.shut
            && match front {
                Front::Door(..) => true,
                Front::Stack(_, end) => end.is_over(),
            };
        match more {
            Err(_) => Turn::Broken,
            Ok(_) if is_broken => Turn::Broken,
            Ok(_) if is_over => Turn::Over,
            Ok(true) => Turn::Again,
            Ok(false) => Turn::Waits,
        }
    }

    /// Sends what the stack has to say.
    fn say(&mut self, connection: &mut Connection) {
        let now = self.now();
        if let (Front::Stack(_, end), Some(wire)) = (&mut connection.front, &self.wire) {
            end.flush(wire, &mut self.sent, now);
        }
    }

    fn end(&mut self, id: Id, mut connection: Box<Connection>, is_broken: bool) {
        if let Front::Stack(flow, end) = &mut connection.front {
            if is_broken {
                end.socket().abort();
            }
            self.flows.remove(flow);
        }
        if matches!(connection.phase, Phase::Judging | Phase::Resolving) {
            self.waiting.forget(id);
        }
        self.say(&mut connection);
        if is_broken {
            if let Front::Door(front, _) = &connection.front {
                front.break_off();
            }
            connection.back.iter().for_each(Socket::break_off);
        }
        if let Some(timer) = connection.timer {
            self.timers.remove(&(timer, id));
        }
        drop(connection);
        if std::mem::take(&mut self.crowded) {
            (0..self.doors.len()).for_each(|door| self.accept(door));
        }
    }

    /// A new connection, with something to do.
    fn begin(&mut self, connection: Connection) -> Id {
        let id = self.next;
        self.next += 1;
        if let Front::Stack(flow, _) = &connection.front {
            self.flows.insert(*flow, id);
        }
        self.connections.insert(id, Box::new(connection));
        self.queue(id);
        id
    }

    fn is_full(&self) -> bool {
        self.connections.len() >= self.most
    }

    fn buffer(&self) -> usize {
        if self.connections.len() < MANY { super::stack::end::BUFFER } else { SMALL_BUFFER }
    }

    fn queue(&mut self, id: Id) {
        if let Some(connection) = self.connections.get_mut(&id)
            && !std::mem::replace(&mut connection.queued, true)
        {
            self.ready.push_back(id);
        }
    }

    /// Watches a socket of a connection.
    fn watch(&self, id: Id, is_back: bool, fd: &OwnedFd) -> io::Result<()> {
        let number = id << 1 | u64::from(is_back);
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        Ok(epoll::add(&self.epoll, fd, EventData::new_u64(number), flags)?)
    }

    fn set_timer(&mut self, id: Id, connection: &mut Connection) {
        let now = self.now();
        let timer = match (&mut connection.front, &connection.phase) {
            // One that is held back would claim to have something to say all the time.
            (Front::Stack(_, end), Phase::Open | Phase::Names(_)) => end.poll_at(now).map(|at| {
                let at = self.began + Duration::from_micros(u64::try_from(at.total_micros()).unwrap_or(0));
                at.max(Instant::now() + LEAST_WAIT)
            }),
            _ => connection.deadline,
        };
        if timer == connection.timer {
            return;
        }
        if let Some(old) = std::mem::replace(&mut connection.timer, timer) {
            self.timers.remove(&(old, id));
        }
        self.timers.extend(timer.map(|timer| (timer, id)));
    }

    fn next_timer(&self) -> Option<Duration> {
        let first = self.timers.first().map(|(at, _)| *at);
        let next = first.into_iter().chain(self.untold.map(|since| since + TELL)).min();
        next.map(|at| at.saturating_duration_since(Instant::now()))
    }

    /// Deals with what time has brought.
    fn ring(&mut self) {
        let now = Instant::now();
        while let Some((at, id)) = self.timers.first().copied()
            && at <= now
        {
            self.timers.pop_first();
            let Some(connection) = self.connections.get_mut(&id) else { continue };
            connection.timer = None;
            match (&connection.front, &connection.phase) {
                (Front::Stack(..), Phase::Open | Phase::Names(_)) => self.queue(id),
                _ => self.too_late(id),
            }
        }
        if self.untold.is_some_and(|since| since + TELL <= now) {
            self.tell();
        }
    }

    fn refuse(&mut self, target: &Target, refusal: super::judge::Refusal) {
        self.refusals.add(&self.rules, target, refusal);
        self.untold.get_or_insert_with(Instant::now);
    }

    fn tell(&mut self) {
        if self.untold.take().is_some() {
            (self.told)(&self.refusals);
        }
    }

    fn now(&self) -> StackInstant {
        StackInstant::from_micros(i64::try_from(self.began.elapsed().as_micros()).unwrap_or(i64::MAX))
    }
}

/// Buffers that are done with go back to the system: one library keeps them, the other never does.
fn give_memory_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: sets a number of the allocator's.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, (SMALL_BUFFER / 2) as libc::c_int);
    }
}
