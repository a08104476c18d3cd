//! What attackers do and what a user sees meanwhile: sockets from other addresses of this machine,
//! and a user who works until she is told to stop.

use std::io::{BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::net::TcpSocket;

use super::Server;
use super::http::{compose, form, read_answer};

/// How long a user waits for an answer before she gives the service up for dead.
const PATIENCE: Duration = Duration::from_secs(20);

/// The addresses of attackers: 127.0.0.2 and on. The user comes from 127.0.0.1.
pub fn attacker(number: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2 + number))
}

/// A connection to `server` from the address `from`, over which `bytes` were sent. The service may
/// have cut it off already.
pub fn connect(server: &Server, from: IpAddr, bytes: &[u8]) -> TcpStream {
    let to: SocketAddr = server.address.parse().expect("an address");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let stream = runtime.block_on(async {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket
            .bind(SocketAddr::new(from, 0))
            .expect("an own address");
        socket.connect(to).await.expect("the service listens")
    });
    let mut stream = stream.into_std().expect("a plain socket");
    stream.set_nonblocking(false).expect("it can wait");
    stream
        .set_read_timeout(Some(PATIENCE))
        .expect("a time limit");
    let _ = stream.write_all(bytes);
    stream
}

/// Lets this process, and the services that it starts, hold as many sockets as they may: so many.
pub fn allow_sockets() -> usize {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    setrlimit(Resource::RLIMIT_NOFILE, most, most).expect("it can be raised");
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// The first line of what a connection answers; empty if it was cut off or says nothing.
pub fn first_line(stream: &mut TcpStream) -> String {
    let mut bytes = [0; 12];
    match stream.read_exact(&mut bytes) {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => String::new(),
    }
}

/// How often a user with the token `token` hears each status from 127.0.0.1, while she works.
pub struct Work {
    ends: Arc<AtomicBool>,
    worker: JoinHandle<Vec<Duration>>,
}

impl Work {
    /// Begins: lists, questions and small uploads, one after the other.
    pub fn begin(server: &Server, token: &str) -> Work {
        let ends = Arc::new(AtomicBool::new(false));
        let (address, is_over) = (server.address.clone(), ends.clone());
        let head = vec![format!("Authorization: Bearer {token}")];
        let worker = std::thread::spawn(move || {
            let mut times = Vec::new();
            let (kind, body) = form(&[("kind", "table")], "few.csv", b"a,b\n1,x\n2,y\n");
            let with_kind = [head.clone(), vec![kind]].concat();
            let upload = compose("POST", "/api/v1/data", &with_kind, &body);
            let small = ["/api/v1/service", "/api/v1/models", "/api/v1/data?limit=5"]
                .map(|path| compose("GET", path, &head, &[]));
            for turn in 0_usize.. {
                if is_over.load(Ordering::Relaxed) && turn > 8 {
                    break;
                }
                let (bytes, status) = match turn % 40 {
                    0 => (&upload, 201),
                    other => (&small[other % small.len()], 200),
                };
                times.push(answered(&address, bytes, status));
                std::thread::sleep(Duration::from_millis(15));
            }
            times
        });
        Work { ends, worker }
    }

    /// Ends, and says how long the answers took. Each of them was what it should be.
    pub fn end(self, attack: &str) {
        self.ends.store(true, Ordering::Relaxed);
        let mut times = self.worker.join().expect("every answer is a good one");
        times.sort();
        let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
        println!(
            "{attack}: {} answers, median {:.0} ms, p99 {:.0} ms, longest {:.0} ms",
            times.len(),
            at(50),
            at(99),
            at(100)
        );
    }
}

fn answered(address: &str, bytes: &[u8], status: u16) -> Duration {
    let start = Instant::now();
    let mut stream = TcpStream::connect(address).expect("the service listens");
    stream
        .set_read_timeout(Some(PATIENCE))
        .expect("a time limit");
    stream.write_all(bytes).expect("the request is taken");
    let answer = read_answer(&mut BufReader::new(stream));
    assert_eq!(answer.status, status, "{}", answer.text());
    start.elapsed()
}

/// The memory of the service in MiB, without its jobs: what is resident at present.
pub fn resident(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.expect("a size") >> 10
}
