//! What attackers do, and a user who works meanwhile: sockets from other addresses of this machine.

use std::io::{BufReader, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;

use serde_json::json;
use tokio::net::TcpSocket;

use super::http::{PATIENCE, compose, form, read_answer};
use super::{Home, Server};

/// Sockets of an attack on what was once a bound for everybody.
pub const MANY: usize = 1100;
/// Sockets of an attack on memory.
pub const IDLE: usize = 5000;
/// Sockets of an attack on places for requests.
pub const SOME: usize = 500;
/// Bytes of what is downloaded.
pub const LARGE: usize = 32 << 20;

/// With this a service waits for clients for as long as any test takes: what is held is held.
pub const PATIENT: [&str; 2] = ["--idle-time", "10m"];

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

/// `number` connections from one address that each send `bytes`.
pub fn flood(server: &Server, number: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let one = |_| connect(server, attacker(0), bytes);
    (0..number).map(one).collect()
}

/// Lets this process, and the services that it starts, hold as many sockets as they may: so many.
pub fn allow_sockets() -> usize {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    setrlimit(Resource::RLIMIT_NOFILE, most, most).expect("it can be raised");
    usize::try_from(most).unwrap_or(usize::MAX)
}

/// The first line of what a connection answers, as soon as it does; empty if it was cut off.
pub fn first_line(stream: &mut TcpStream) -> String {
    let mut bytes = [0; 12];
    match stream.read_exact(&mut bytes) {
        Ok(()) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => String::new(),
    }
}

/// What became of a connection until now.
#[derive(Debug, PartialEq, Eq)]
pub enum Seen {
    /// Nothing: it is held.
    Nothing,
    /// It was answered with this status.
    Answered(String),
    /// It was closed.
    CutOff,
}

/// What became of `stream`; what it says is left for others to read.
pub fn seen(stream: &TcpStream) -> Seen {
    stream.set_nonblocking(true).expect("it need not wait");
    let mut line = [0; 12];
    let seen = match stream.peek(&mut line) {
        Ok(0) => Seen::CutOff,
        Ok(12) => Seen::Answered(String::from_utf8_lossy(&line[9..]).into_owned()),
        // The rest of the line is on its way.
        Ok(_) => Seen::Nothing,
        Err(error) if error.kind() == ErrorKind::WouldBlock => Seen::Nothing,
        Err(_) => Seen::CutOff,
    };
    stream.set_nonblocking(false).expect("it can wait");
    seen
}

/// How many of `streams` were refused: cut off, or sent away by one of the statuses for that.
pub fn refused(streams: &[TcpStream]) -> usize {
    let is_refusal = |stream: &&TcpStream| match seen(stream) {
        Seen::Nothing => false,
        Seen::Answered(status) => ["429", "503"].contains(&status.as_str()),
        Seen::CutOff => true,
    };
    streams.iter().filter(is_refusal).count()
}

/// A user who works: lists, questions and small uploads, one after the other, from 127.0.0.1.
pub struct User {
    address: String,
    upload: Vec<u8>,
    small: [Vec<u8>; 3],
}

impl User {
    /// A user of `server` with its token.
    pub fn of(server: &Server) -> User {
        let (kind, body) = form(&[("kind", "table")], "few.csv", b"a,b\n1,x\n2,y\n");
        let head = server.head();
        let with_kind = [head.clone(), vec![kind]].concat();
        User {
            address: server.address.clone(),
            upload: compose("POST", "/api/v1/data", &with_kind, &body),
            small: ["/api/v1/service", "/api/v1/models", "/api/v1/data?limit=5"]
                .map(|path| compose("GET", path, &head, &[])),
        }
    }

    /// Asks for something, another thing each turn, and holds that the answer is what it would be if
    /// nobody else were there.
    #[track_caller]
    pub fn works(&self, turn: usize) {
        let (bytes, status) = match turn % 40 {
            0 => (&self.upload, 201),
            other => (&self.small[other % self.small.len()], 200),
        };
        let mut stream = TcpStream::connect(&self.address).expect("the service listens");
        stream
            .set_read_timeout(Some(PATIENCE))
            .expect("a time limit");
        stream.write_all(bytes).expect("the request is taken");
        let answer = read_answer(&mut BufReader::new(stream));
        assert_eq!(answer.status, status, "{}", answer.text());
    }
}

fn head(token: &str) -> Vec<String> {
    vec![format!("Authorization: Bearer {token}")]
}

/// A log-in of which the form does not come; with more lines of its head.
pub fn begun_log_in(more: &[&str]) -> Vec<u8> {
    let lines = [
        "Sec-Fetch-Site: same-origin",
        "Content-Type: application/x-www-form-urlencoded",
        "Content-Length: 100",
    ];
    let lines: Vec<String> = lines
        .iter()
        .chain(more)
        .map(|&line| line.to_owned())
        .collect();
    compose("POST", "/login", &lines, &[])
}

/// An upload of which the end does not come.
pub fn begun_upload(token: &str) -> Vec<u8> {
    let (kind, body) = form(&[("kind", "table")], "a.csv", b"a,b\n1,2\n");
    let length = format!("Content-Length: {}", body.len());
    let head = [head(token), vec![kind, length]].concat();
    let request = compose("POST", "/api/v1/data", &head, &[]);
    [&request, &body[..body.len() - 20]].concat()
}

/// Six hundred bodies of one token that do not end.
pub fn slow_bodies(server: &Server, token: &str) -> Vec<TcpStream> {
    let mut slow = flood(server, SOME, &begun_upload(token));
    let json = [
        head(token),
        vec![
            "Content-Type: application/json".into(),
            "Content-Length: 50".into(),
        ],
    ]
    .concat();
    let begun = compose("POST", "/api/v1/jobs", &json, b"");
    slow.extend(flood(server, 100, &begun));
    slow
}

/// The request for the samples of an audit that found [`LARGE`] bytes of them.
pub fn download(home: &Home, server: &Server) -> impl Fn(&str) -> Vec<u8> + use<> {
    let data = server.census(200);
    let model = server.small_model(&data);
    let audit = server.start(&json!({
        "kind": "audit", "model": model, "data": data, "protected": ["sex"], "samples_format": "csv",
        "search": {"seeds": 5}
    }));
    server.done(&audit);
    std::fs::write(home.run(&audit).join("samples.csv"), vec![b'x'; LARGE]).expect("a file");
    let path = format!("/api/v1/jobs/{audit}/samples");
    move |token| compose("GET", &path, &head(token), &[])
}

/// Three hundred streams of the events of `job`, of one token.
pub fn streams(server: &Server, job: &str, token: &str) -> Vec<TcpStream> {
    let path = format!("/api/v1/jobs/{job}/events");
    flood(server, 300, &compose("GET", &path, &head(token), &[]))
}

/// Members of gzip that unpack to `bytes` bytes of blank lines in all.
fn blank_lines(bytes: usize) -> Vec<u8> {
    let piece = 16 << 20;
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(&vec![b'\n'; piece]).expect("memory");
    let member = writer.finish().expect("memory");
    member.repeat(bytes / piece)
}

/// Uploads of four files that unpack to 20 GiB of blank lines.
pub fn blank_files(server: &Server, token: &str) -> Vec<TcpStream> {
    let file = blank_lines(20 << 30);
    let upload = |(what, name): (&str, &str)| {
        let (kind, body) = form(&[("kind", what)], name, &file);
        let head = [head(token), vec![kind]].concat();
        let request = compose("POST", "/api/v1/data", &head, &body);
        connect(server, attacker(0), &request)
    };
    let files = [
        ("table", "a.csv.gz"),
        ("texts", "b.csv.gz"),
        ("texts", "c.txt.gz"),
        ("table", "d.csv.gz"),
    ];
    files.map(upload).into()
}

/// Everything at once, from twenty addresses and with 32 tokens of another project.
pub struct Crowd {
    /// Connections that say nothing.
    pub idle: Vec<TcpStream>,
    /// Bodies that do not end.
    pub bodies: Vec<TcpStream>,
    /// Downloads that nobody reads.
    pub downloads: Vec<TcpStream>,
}

impl Crowd {
    /// A service whose bounds of a project are lifted, so that no bound of an address, a token or a
    /// project helps, and those who come.
    pub fn come(home: &Home) -> (Server, Crowd) {
        // Fewer where the system allows no process so many.
        let idle = IDLE.min(allow_sockets().saturating_sub(3 * SOME));
        home.new_project("others");
        let tokens: Vec<String> = (0..32).map(|_| home.token_of("others", "editor")).collect();
        let lifted = [
            "--max-requests-per-project",
            "2000",
            "--max-bodies-per-project",
            "1000",
            "--max-rate-per-project",
            "100000",
            "--max-rate",
            "100000",
        ];
        let mut server = home.serve(&[&PATIENT[..], &lifted].concat());
        let hers = std::mem::replace(&mut server.token, tokens[0].clone());
        let download = download(home, &server);
        server.token = hers;
        let from = |number: usize| attacker(u8::try_from(number % 20).expect("a byte"));
        let token = |number: usize| &tokens[number % tokens.len()];
        let crowd = Crowd {
            idle: (0..idle)
                .map(|number| connect(&server, from(number), b""))
                .collect(),
            bodies: (0..SOME)
                .map(|number| connect(&server, from(number), &begun_upload(token(number))))
                .collect(),
            downloads: (0..SOME)
                .map(|number| connect(&server, from(number), &download(token(number))))
                .collect(),
        };
        (server, crowd)
    }
}

/// The memory of the service in MiB, without its jobs: what is resident at present.
pub fn resident(server: &Server) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
    kib.expect("a size") >> 10
}

/// The sockets that the service has open.
pub fn sockets(server: &Server) -> usize {
    let files = std::fs::read_dir(format!("/proc/{}/fd", server.id())).expect("Linux");
    let places = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    let is_socket = |place: &PathBuf| place.to_string_lossy().starts_with("socket:");
    places.filter(is_socket).count()
}
