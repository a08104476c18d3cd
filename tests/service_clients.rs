//! What many clients see who ask all day: the figures of docs/service.md, which are printed.
//!
//! `cargo test --release --test service_clients -- --ignored --nocapture`

#![cfg(all(feature = "serve", target_os = "linux"))]

mod service;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::time::{sleep, timeout};

use service::Home;
use service::attack::{allow_sockets, attacker, resident};

/// Times that each client asks.
const QUESTIONS: usize = 3;
/// Between two questions.
const PAUSE: Duration = Duration::from_secs(10);
/// Tokens that the clients share.
const TOKENS: usize = 50;

/// The status of each answer, 0 for none, and how long it took: over one connection, which is kept.
async fn client(
    number: usize,
    clients: usize,
    to: SocketAddr,
    token: String,
) -> Vec<(u16, Duration)> {
    sleep(PAUSE.mul_f64(number as f64 / clients as f64)).await;
    let from = attacker(u8::try_from(number % 50).unwrap_or(0));
    let socket = TcpSocket::new_v4().expect("a socket");
    socket
        .bind(SocketAddr::new(from, 0))
        .expect("an own address");
    let mut stream = socket.connect(to).await.expect("the service listens");
    let request = format!(
        "GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    let mut seen = Vec::new();
    for _ in 0..QUESTIONS {
        let start = Instant::now();
        let answer = async {
            stream.write_all(request.as_bytes()).await.ok()?;
            let mut bytes = Vec::new();
            // The list is empty: the answer ends with it.
            while !bytes.ends_with(b"[]") && !bytes.ends_with(b"}") {
                stream
                    .read_buf(&mut bytes)
                    .await
                    .ok()
                    .filter(|&read| read > 0)?;
            }
            std::str::from_utf8(bytes.get(9..12)?).ok()?.parse().ok()
        };
        let status = timeout(Duration::from_secs(30), answer).await;
        seen.push((status.ok().flatten().unwrap_or(0), start.elapsed()));
        sleep(PAUSE).await;
    }
    seen
}

#[test]
#[ignore = "it takes two minutes, and its figures are for reading"]
fn many_clients_are_answered() {
    allow_sockets();
    let home = Home::new();
    let projects = ["a", "b", "c", "d", "e"];
    for project in projects {
        home.new_project(project);
    }
    let tokens: Vec<String> = (0..TOKENS)
        .map(|number| home.token_of(projects[number % projects.len()], "viewer"))
        .collect();
    for clients in [50, 500, 5000] {
        let server = home.serve(&[]);
        let to: SocketAddr = server.address.parse().expect("an address");
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("a runtime");
        let seen: Vec<(u16, Duration)> = runtime.block_on(async {
            let one = |number: usize| client(number, clients, to, tokens[number % TOKENS].clone());
            let tasks: Vec<_> = (0..clients)
                .map(|number| tokio::spawn(one(number)))
                .collect();
            let mut seen = Vec::new();
            for task in tasks {
                seen.extend(task.await.expect("it ends"));
            }
            seen
        });
        let good = seen.iter().filter(|(status, _)| *status == 200).count();
        let mut times: Vec<Duration> = seen.iter().map(|(_, time)| *time).collect();
        times.sort();
        let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
        println!(
            "{clients} clients: {good} of {} answered, median {:.1} ms, p99 {:.1} ms, longest {:.0} ms, {} MiB",
            seen.len(),
            at(50),
            at(99),
            at(100),
            resident(&server)
        );
        assert_eq!(good, seen.len());
    }
}
