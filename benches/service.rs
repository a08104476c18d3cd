//! What a user of the service sees while it is attacked, and what many clients see who ask all day:
//! the figures of docs/service.md. Linux only.
//!
//! `cargo bench --bench service` takes some three minutes; `-- attacks` and `-- clients` measure a
//! part.

#[cfg(target_os = "linux")]
#[path = "../tests/service/mod.rs"]
mod service;

fn main() {
    #[cfg(target_os = "linux")]
    {
        let asked: Vec<String> = std::env::args().skip(1).collect();
        let names_any = |parts: &[&str]| asked.iter().any(|word| parts.contains(&word.as_str()));
        let is_asked = |part: &str| names_any(&[part]) || !names_any(&["attacks", "clients"]);
        if is_asked("attacks") {
            attacks::measure();
        }
        if is_asked("clients") {
            clients::measure();
        }
    }
}

/// `times` in words.
#[cfg(target_os = "linux")]
fn summary(mut times: Vec<std::time::Duration>) -> String {
    times.sort();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e3;
    format!(
        "median {:.1} ms, p99 {:.1} ms, longest {:.0} ms",
        at(50),
        at(99),
        at(100)
    )
}

#[cfg(target_os = "linux")]
mod attacks {
    use std::time::{Duration, Instant};

    use crate::service::attack::{
        Crowd, MANY, PATIENT, SOME, User, allow_sockets, begun_log_in, blank_files, download,
        flood, resident, slow_bodies, streams,
    };
    use crate::service::{Home, Server};

    /// How long a user works during an attack.
    const WORK: Duration = Duration::from_secs(2);
    /// Between two of her requests.
    const PAUSE: Duration = Duration::from_millis(15);

    /// Every attack of tests/service_attacks.rs that is held while a user works.
    pub fn measure() {
        allow_sockets();
        attacked("1,100 silent connections", |_, server, _| {
            flood(server, MANY, b"")
        });
        attacked("500 log-ins without a body", |_, server, _| {
            flood(server, SOME, &begun_log_in(&[]))
        });
        attacked("600 slow bodies of one token", |_, server, other| {
            slow_bodies(server, other)
        });
        attacked(
            "500 unread downloads of one token",
            |home, server, other| flood(server, SOME, &download(home, server)(other)),
        );
        attacked("300 streams of one token", |home, server, other| {
            let data = server.census(2000);
            let job = server.start(&home.endless(&data));
            home.held(1);
            streams(server, &job, other)
        });
        attacked("four files of 20 GiB of blank lines", |_, server, other| {
            blank_files(server, other)
        });
        let home = Home::new();
        let (server, crowd) = Crowd::come(&home);
        let idle = crowd.idle.len();
        let attack = format!("{idle} idle connections, 500 slow bodies, 500 unread downloads");
        works(&attack, &server);
    }

    /// Has a user work while what `attack` opens is held: given a home, a service and the token of
    /// another.
    fn attacked<T>(name: &str, attack: impl FnOnce(&Home, &Server, &str) -> T) {
        let home = Home::new();
        let other = home.new_token("other");
        let server = home.serve(&PATIENT);
        let held = attack(&home, &server, &other);
        works(name, &server);
        drop(held);
    }

    fn works(attack: &str, server: &Server) {
        let user = User::of(server);
        let (began, mut times) = (Instant::now(), Vec::new());
        while began.elapsed() < WORK || times.is_empty() {
            let start = Instant::now();
            user.works(times.len());
            times.push(start.elapsed());
            std::thread::sleep(PAUSE);
        }
        println!(
            "{attack}: {} answers, {}, {} MiB",
            times.len(),
            crate::summary(times),
            resident(server)
        );
    }
}

#[cfg(target_os = "linux")]
mod clients {
    use std::net::SocketAddr;
    use std::time::{Duration, Instant};

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpSocket;
    use tokio::time::{sleep, timeout};

    use crate::service::Home;
    use crate::service::attack::{allow_sockets, attacker, resident};

    /// Times that each client asks.
    const QUESTIONS: usize = 3;
    /// Between two questions.
    const PAUSE: Duration = Duration::from_secs(10);
    /// Tokens that the clients share.
    const TOKENS: usize = 50;

    /// Clients that ask for the list of jobs every ten seconds.
    pub fn measure() {
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
                let one =
                    |number: usize| client(number, clients, to, tokens[number % TOKENS].clone());
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
            println!(
                "{clients} clients: {good} of {} answered, {}, {} MiB",
                seen.len(),
                crate::summary(seen.iter().map(|(_, time)| *time).collect()),
                resident(&server)
            );
            assert_eq!(good, seen.len());
        }
    }

    /// The status of each answer, 0 for none, and how long it took: over one connection, which is
    /// kept.
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
}
