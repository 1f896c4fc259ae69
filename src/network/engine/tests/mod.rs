//! The engine at work: a second stack plays the box over a pair of packet sockets, servers on the loopback play the
//! internet. No rights are needed.

mod door;
mod hostile;
mod inside;
mod many;
mod stack;
mod way;

use super::{Door, Engine, Setup};
use crate::network::refused::Refusals;
use crate::network::resolver::Found;
use crate::network::stack::wire::Wire;
use crate::network::way::Way;
use inside::Inside;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// An engine on a thread of its own, until dropped.
struct Running {
    proxy: SocketAddr,
    localhost: SocketAddr,
    refusals: Arc<Mutex<Refusals>>,
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

/// What an engine is started with.
struct Start {
    rules: String,
    way: Way,
    names: fn(&str) -> Found,
    localhost: u16,
}

impl Default for Start {
    fn default() -> Self {
        Self { rules: String::new(), way: Way::default(), names, localhost: 0 }
    }
}

/// The names of the tests' internet.
fn names(name: &str) -> Found {
    let addresses: &[&str] = match name {
        "good.example" | "bad.example" => &["127.0.0.1"],
        "six.example" => &["::1"],
        "private.example" => &["10.1.2.3"],
        "both.example" => &["10.1.2.3", "127.0.0.1"],
        "late.example" => return Err(()),
        _ => &[],
    };
    Ok(addresses.iter().map(|address| address.parse::<IpAddr>().unwrap()).collect())
}

/// Rules that let `good.example` and its kin pass on the loopback at this port.
fn opened(port: u16) -> String {
    format!("good.example six.example both.example private.example 127.0.0.1:{port} [::1]:{port}")
}

fn engine(start: Start) -> (Engine, Running, Inside) {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
    let listen = || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        (OwnedFd::from(listener), address)
    };
    let ((door, proxy), (second, localhost)) = (listen(), listen());
    let (stop, stopped) = rustix::pipe::pipe().unwrap();
    let refusals = Arc::<Mutex<Refusals>>::default();
    let told = Arc::clone(&refusals);
    let names = start.names;
    let engine = Engine::new(Setup {
        rules: start.rules.split_whitespace().map(|rule| rule.parse().unwrap()).collect(),
        way: start.way,
        lookup: Arc::new(names),
        doors: vec![(Door::Proxy, door), (Door::Localhost(start.localhost), second)],
        wire: Some(Wire::new(ours, false)),
        told: Box::new(move |refusals| *told.lock().unwrap() = refusals.clone()),
        stop,
    })
    .unwrap();
    let running = Running { proxy, localhost, refusals, stop: Some(stopped), thread: None };
    (engine, running, Inside::new(theirs))
}

fn run(start: Start) -> (Running, Inside) {
    let (engine, mut running, inside) = engine(start);
    running.go(engine);
    (running, inside)
}

impl Running {
    fn go(&mut self, engine: Engine) {
        self.thread = Some(std::thread::spawn(move || engine.run()));
    }

    /// Waits until so much was refused, and gives the targets with their remedies.
    fn refused(&self, count: u64) -> Vec<String> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let refusals = self.refusals.lock().unwrap().clone();
            if refusals.count() >= count {
                let line = |refused: &crate::network::refused::Refused| {
                    format!("{} {}: {}", refused.count, refused.target, refused.remedy.join(" "))
                };
                return refusals.targets.iter().map(line).collect();
            }
            assert!(Instant::now() < deadline, "{refusals:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop = None;
        let ended = self.thread.take().map(|thread| thread.join());
        if !std::thread::panicking() {
            match ended {
                Some(Ok(Ok(()))) | None => {}
                // The test let go of the box first.
                Some(Ok(Err(error))) => {
                    use std::io::ErrorKind::{ConnectionReset, UnexpectedEof};
                    assert!(matches!(error.kind(), UnexpectedEof | ConnectionReset), "{error}");
                }
                Some(Err(_)) => panic!("the engine panicked"),
            }
        }
    }
}

/// A server on the loopback that does this with each connection.
fn server(address: &str, serve: impl Fn(TcpStream) + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind((address, 0)).unwrap();
    rustix::net::listen(&listener, 1024).unwrap();
    let port = listener.local_addr().unwrap().port();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            let builder = std::thread::Builder::new().stack_size(128 * 1024);
            builder.spawn(move || serve(stream)).unwrap();
        }
    });
    port
}

/// Gives back what it is sent, and ends when the other side has.
fn echo(mut stream: TcpStream) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(count @ 1..) = stream.read(&mut buffer) {
        if stream.write_all(&buffer[..count]).is_err() {
            return;
        }
    }
}

/// A port at which nobody listens.
fn closed_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Bytes that show when some are missing, doubled or out of order.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}
