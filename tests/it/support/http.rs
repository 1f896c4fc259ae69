//! A web server on this machine's own address, with exactly the answers that a test gives it.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// One answer.
#[derive(Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// What `Content-Length` says, when it is not the truth.
    pub claimed: Option<usize>,
    /// After the body nothing comes, and the connection stays open until the client goes.
    pub stalls: bool,
    /// So long nothing comes in the middle of the body.
    pub pause: Duration,
}

impl Answer {
    /// 200 with this body.
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            body: body.into(),
            claimed: None,
            stalls: false,
            pause: Duration::ZERO,
        }
    }

    /// Another page, as a release's "latest" is.
    pub fn redirect(to: &str) -> Self {
        Self { status: 302, headers: vec![("Location".into(), to.into())], ..Self::ok("") }
    }

    /// The body stops in its middle, as on a line that hangs.
    pub fn stalled(body: impl Into<Vec<u8>>, claimed: usize) -> Self {
        Self { claimed: Some(claimed), stalls: true, ..Self::ok(body) }
    }

    /// The body comes in two halves.
    pub fn slow(body: impl Into<Vec<u8>>, pause: Duration) -> Self {
        Self { pause, ..Self::ok(body) }
    }

    /// The body ends early.
    pub fn cut(body: impl Into<Vec<u8>>, claimed: usize) -> Self {
        Self { claimed: Some(claimed), ..Self::ok(body) }
    }
}

/// Serves until it is dropped.
pub struct Server {
    port: u16,
    answers: Arc<Mutex<HashMap<String, Answer>>>,
    asked: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// A server that answers 404 to everything that it was not given.
    pub fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (answers, asked, stop) =
            <(Arc<Mutex<HashMap<String, Answer>>>, Arc<Mutex<Vec<String>>>, _)>::default();
        let stop: Arc<AtomicBool> = stop;
        let (served, seen, over) = (Arc::clone(&answers), Arc::clone(&asked), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            for stream in listener.incoming() {
                if over.load(Ordering::SeqCst) {
                    return;
                }
                // A client that goes away early is the client's business.
                let _gone = stream.and_then(|stream| serve(stream, &served, &seen));
            }
        });
        Self { port, answers, asked, stop, thread: Some(thread) }
    }

    /// Gives the answer for a path.
    pub fn at(&self, path: &str, answer: Answer) {
        self.answers.lock().expect("the answers").insert(path.into(), answer);
    }

    /// `http://127.0.0.1:PORT` and the path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The paths that were asked for, in their order.
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("the paths").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes the thread out of its wait for the next client.
        let _already_gone = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the server does not panic");
        }
    }
}

fn serve(
    mut stream: TcpStream,
    answers: &Mutex<HashMap<String, Answer>>,
    asked: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    asked.lock().expect("the paths").push(path.clone());
    let missing = Answer { status: 404, ..Answer::ok("not found") };
    let answer = answers.lock().expect("the answers").get(&path).cloned().unwrap_or(missing);
    let length = answer.claimed.unwrap_or(answer.body.len());
    let headers: String = answer.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    write!(
        stream,
        "HTTP/1.1 {} x\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n",
        answer.status
    )?;
    if !request.starts_with("HEAD ") {
        let (first, second) = answer.body.split_at(answer.body.len() / 2);
        stream.write_all(first)?;
        std::thread::sleep(answer.pause);
        stream.write_all(second)?;
    }
    if answer.stalls {
        stream.set_read_timeout(Some(Duration::from_secs(120)))?;
    } else {
        stream.shutdown(std::net::Shutdown::Write)?;
    }
    // Until the client has read all: closing at once could take the answer away from it.
    std::io::copy(&mut stream.take(1 << 16), &mut std::io::sink())?;
    Ok(())
}
