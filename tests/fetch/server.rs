//! A scripted HTTP server on this machine.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// What the server does with one connection: sends bytes, then closes it or falls silent.
pub struct Reply {
    pub bytes: Vec<u8>,
    pub stall: bool,
}

impl Reply {
    pub fn raw(head: &str, body: &[u8]) -> Self {
        let mut bytes = format!("HTTP/1.1 {head}\r\nConnection: close\r\n\r\n").into_bytes();
        bytes.extend_from_slice(body);
        Self {
            bytes,
            stall: false,
        }
    }

    pub fn ok(body: &[u8]) -> Self {
        Self::raw(&format!("200 OK\r\nContent-Length: {}", body.len()), body)
    }

    /// Announces `body`, but breaks off after `sent` bytes.
    pub fn truncated(body: &[u8], sent: usize) -> Self {
        Self::raw(
            &format!("200 OK\r\nContent-Length: {}", body.len()),
            &body[..sent],
        )
    }

    /// The rest of `body` from byte `from`.
    pub fn partial(body: &[u8], from: usize) -> Self {
        let (rest, last, size) = (&body[from..], body.len() - 1, body.len());
        let length = rest.len();
        Self::raw(
            &format!(
                "206 Partial Content\r\nContent-Length: {length}\r\nContent-Range: bytes {from}-{last}/{size}"
            ),
            rest,
        )
    }

    pub fn status(status: &str) -> Self {
        Self::raw(&format!("{status}\r\nContent-Length: 0"), b"")
    }

    pub fn stalling(mut self) -> Self {
        self.stall = true;
        self
    }
}

/// Answers one connection after the other with the scripted replies and keeps the request heads.
pub struct Server {
    pub address: SocketAddr,
    pub stop: Arc<AtomicBool>,
    pub thread: JoinHandle<Vec<String>>,
}

impl Server {
    pub fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let mut heads = Vec::new();
            for reply in replies {
                let (mut connection, _) = listener.accept().unwrap();
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                heads.push(read_head(&mut connection));
                // The client may hang up first, on purpose.
                let _ = connection.write_all(&reply.bytes);
                if reply.stall {
                    // Says nothing more, but keeps the connection until the client gives up.
                    let _ = connection.read(&mut [0]);
                }
            }
            heads
        });
        Self {
            address,
            stop,
            thread,
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}/{path}", self.address)
    }

    /// The heads of the requests that came.
    pub fn requests(self) -> Vec<String> {
        self.stop.store(true, Ordering::SeqCst);
        // Wakes a server that waits for a connection that never came.
        let _ = TcpStream::connect(self.address);
        self.thread.join().unwrap()
    }
}

pub fn read_head(connection: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && connection.read(&mut byte).unwrap() == 1 {
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap().to_lowercase()
}

/// An address where nobody listens: the system never hands out port 1, so no other test can.
pub fn dead_url() -> String {
    "http://127.0.0.1:1/people.csv".into()
}
