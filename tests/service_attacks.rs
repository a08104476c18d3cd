//! Nobody puts the service out of action for the others: every attack that was found is made again,
//! from another address and with another token, while a user works.
//!
//! What is asserted is that each of her requests is answered as if nobody else were there. How long
//! the answers took is printed (`--nocapture`), as docs/service.md quotes it.

#![cfg(all(feature = "serve", target_os = "linux"))]

mod service;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;

use service::attack::{Work, allow_sockets, attacker, connect, first_line, resident};
use service::http::{compose, form};
use service::{Home, Server, text};

/// Sockets of an attack on what was once a bound for everybody.
const MANY: usize = 1100;
/// Sockets of an attack on memory.
const IDLE: usize = 5000;
/// Sockets of an attack on places for requests.
const SOME: usize = 500;

fn head(token: &str) -> Vec<String> {
    vec![format!("Authorization: Bearer {token}")]
}

/// The request for the samples of an audit that found 32 MiB of them.
fn download(home: &Home, server: &Server) -> impl Fn(&str) -> Vec<u8> + use<> {
    let data = server.census(200);
    let model = server.small_model(&data);
    let audit = server.start(&json!({
        "kind": "audit", "model": model, "data": data, "protected": ["sex"], "search": {"seeds": 5}
    }));
    server.done(&audit);
    std::fs::write(home.run(&audit).join("samples.csv"), vec![b'x'; 32 << 20]).expect("a file");
    let path = format!("/api/v1/jobs/{audit}/samples");
    move |token| compose("GET", &path, &head(token), &[])
}

/// An upload of which the end does not come.
fn begun_upload(token: &str) -> Vec<u8> {
    let (kind, body) = form(&[("kind", "table")], "a.csv", b"a,b\n1,2\n");
    let length = format!("Content-Length: {}", body.len());
    let head = [head(token), vec![kind, length]].concat();
    let request = compose("POST", "/api/v1/data", &head, &[]);
    [&request, &body[..body.len() - 20]].concat()
}

/// `number` connections from one address that each send `bytes`.
fn flood(server: &Server, number: usize, bytes: &[u8]) -> Vec<TcpStream> {
    let one = |_| connect(server, attacker(0), bytes);
    (0..number).map(one).collect()
}

/// Lets a user work for a while.
fn works(server: &Server, attack: &str) {
    let work = Work::begin(server, &server.token);
    std::thread::sleep(Duration::from_secs(2));
    work.end(attack);
}

#[test]
fn silent_connections_of_one_address_keep_nobody_out() {
    allow_sockets();
    let home = Home::new();
    let server = home.serve(&[]);
    let silent = flood(&server, MANY, b"");
    works(&server, "1,100 silent connections");
    drop(silent);
}

#[test]
fn bodies_that_never_come_hold_no_place() {
    allow_sockets();
    let home = Home::new();
    let server = home.serve(&[]);
    let login = compose(
        "POST",
        "/login",
        &[
            "Sec-Fetch-Site: same-origin".into(),
            "Content-Type: application/x-www-form-urlencoded".into(),
            "Content-Length: 100".into(),
        ],
        &[],
    );
    let silent = flood(&server, SOME, &login);
    works(&server, "500 log-ins without a body");
    drop(silent);
}

#[test]
fn slow_bodies_of_one_token_hold_up_that_token_alone() {
    allow_sockets();
    let home = Home::new();
    let other = home.new_token("other");
    let server = home.serve(&[]);
    let mut slow = flood(&server, SOME, &begun_upload(&other));
    let json = [
        head(&other),
        vec![
            "Content-Type: application/json".into(),
            "Content-Length: 50".into(),
        ],
    ]
    .concat();
    slow.extend(flood(
        &server,
        100,
        &compose("POST", "/api/v1/jobs", &json, b""),
    ));
    works(&server, "600 slow bodies of one token");
    drop(slow);
}

#[test]
fn a_body_that_drips_is_given_up() {
    let home = Home::new();
    let server = home.serve(&["--idle-time", "2s"]);
    let (kind, body) = form(&[("kind", "table")], "a.csv", b"a,b\n1,2\n");
    let length = format!("Content-Length: {}", body.len());
    let request = compose(
        "POST",
        "/api/v1/data",
        &[head(&server.token), vec![kind, length]].concat(),
        &[],
    );
    let mut stream = connect(&server, attacker(0), &request);
    let sender = stream.try_clone().expect("a second handle");
    let drip = std::thread::spawn(move || {
        let mut sender = sender;
        for byte in &body {
            if sender.write_all(&[*byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    });
    assert_eq!(first_line(&mut stream), "HTTP/1.1 408");
    drop(stream);
    drip.join().expect("it ends");
}

#[test]
fn unread_downloads_hold_up_nobody() {
    allow_sockets();
    let home = Home::new();
    let other = home.new_token("other");
    let server = home.serve(&["--idle-time", "3s"]);
    let request = download(&home, &server)(&other);
    let unread = flood(&server, SOME, &request);
    works(&server, "500 unread downloads");
    println!("500 unread downloads: {} MiB resident", resident(&server));
    // Those that were let in are cut off in the end: none of them has the whole file.
    std::thread::sleep(Duration::from_secs(5));
    for mut stream in unread {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        assert!(bytes.len() < 32 << 20, "{}", bytes.len());
    }
}

#[test]
fn streams_of_one_token_leave_room_and_end_with_the_token() {
    allow_sockets();
    let home = Home::new();
    let other = home.new_token("other");
    let server = home.serve(&[]);
    let data = server.census(2000);
    let job = server.start(&json!({
        "kind": "train", "modality": "table", "data": data, "training": {"epochs": 10_000}
    }));
    let path = format!("/api/v1/jobs/{job}/events");
    let mut streams = flood(&server, 300, &compose("GET", &path, &head(&other), &[]));
    let lines: Vec<String> = streams.iter_mut().map(first_line).collect();
    let begun = lines.iter().filter(|line| line.ends_with("200")).count();
    assert!((1..100).contains(&begun), "{begun} streams of one token");
    server.follow(&job, |view| view["state"] == "running");
    works(&server, "300 streams of one token");
    // `probity_ID_SECRET`
    let id = other.split('_').nth(1).expect("an identifier");
    home.command(&["serve", "revoke", id]);
    for (mut stream, line) in streams.into_iter().zip(lines) {
        if line.ends_with("200") {
            let mut rest = Vec::new();
            let ends = stream.read_to_end(&mut rest);
            assert!(!matches!(ends, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock));
        }
    }
    server
        .send("POST", &format!("/api/v1/jobs/{job}/stop"), &json!({}))
        .expect(200);
}

#[test]
fn names_of_columns_are_bounded() {
    let home = Home::new();
    let server = home.serve(&[]);
    let upload =
        |name: &str, file: &[u8]| server.upload("/api/v1/data", &[("kind", "table")], name, file);
    let long = [vec![b'n'; 257], b",b\n1,2\n".to_vec()].concat();
    upload("long.csv", &long).refuses(422, "at most 256");
    let huge = [vec![b'n'; 20 << 20], b"\n1\n".to_vec()].concat();
    upload("huge.csv", &huge).refuses(422, "at most 256");
    let most = [vec![b'n'; 256], b",b\n1,2\n".to_vec()].concat();
    upload("most.csv", &most).expect(201);
}

/// Members of gzip that unpack to `bytes` bytes of blank lines in all.
fn blank_lines(bytes: usize) -> Vec<u8> {
    let piece = 16 << 20;
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(&vec![b'\n'; piece]).expect("memory");
    let member = writer.finish().expect("memory");
    member.repeat(bytes / piece)
}

#[test]
fn files_that_take_long_to_read_hold_up_nobody() {
    allow_sockets();
    let home = Home::new();
    let other = home.new_token("other");
    let server = home.serve(&[]);
    let file = blank_lines(20 << 30);
    let begun: Vec<TcpStream> = [
        ("table", "a.csv.gz"),
        ("texts", "b.csv.gz"),
        ("texts", "c.txt.gz"),
        ("table", "d.csv.gz"),
    ]
    .map(|(what, name)| {
        let (kind, body) = form(&[("kind", what)], name, &[b"", file.as_slice()].concat());
        let request = compose(
            "POST",
            "/api/v1/data",
            &[head(&other), vec![kind]].concat(),
            &body,
        );
        connect(&server, attacker(0), &request)
    })
    .into();
    works(&server, "four files of 20 GiB of blank lines");
    for mut stream in begun {
        assert_eq!(first_line(&mut stream), "HTTP/1.1 422");
    }
}

#[test]
fn lists_come_in_pages() {
    let home = Home::new();
    let server = home.serve(&[]);
    let fields = [("kind", "table")];
    let mut ids: Vec<String> = (0..5)
        .map(|_| {
            text(
                &server
                    .upload("/api/v1/data", &fields, "a.csv", b"a\n1\n")
                    .expect(201)
                    .json()["id"],
            )
        })
        .collect();
    ids.reverse();
    let page = |query: &str| -> Vec<String> {
        let answer = server
            .get(&format!("/api/v1/data{query}"))
            .expect(200)
            .json();
        answer
            .as_array()
            .expect("a list")
            .iter()
            .map(|one| text(&one["id"]))
            .collect()
    };
    assert_eq!(page(""), ids);
    assert_eq!(page("?limit=2"), ids[..2]);
    assert_eq!(page(&format!("?limit=2&before={}", ids[1])), ids[2..4]);
    assert_eq!(page(&format!("?limit=2&before={}", ids[3])), ids[4..]);
    server.get("/api/v1/data?limit=0").refuses(422, "limit");
    server.get("/api/v1/jobs?limit=1000").refuses(422, "limit");
}

/// However many tokens a project has, it leaves room for the others.
#[test]
fn one_project_with_many_tokens_holds_up_itself_alone() {
    allow_sockets();
    let home = Home::new();
    home.new_project("others");
    let tokens: Vec<String> = (0..40).map(|_| home.token_of("others", "editor")).collect();
    let server = home.serve(&["--max-bodies", "80"]);
    let mut slow: Vec<TcpStream> = (0..SOME)
        .map(|number| {
            let token = &tokens[number % tokens.len()];
            connect(&server, attacker(0), &begun_upload(token))
        })
        .collect();
    works(&server, "500 slow bodies of 40 tokens of one project");
    // Most were sent away: the project has 64 places, of the 80 that all have.
    let refused = slow.iter_mut().map(|stream| {
        stream.set_nonblocking(true).expect("it need not wait");
        first_line(stream)
    });
    let refused = refused.filter(|line| line.ends_with("429")).count();
    assert!(refused >= SOME - 64, "{refused}");
}

/// Everything at once, from several addresses and with several tokens of another project, whose own
/// bounds are lifted, so that no bound of an address, a token or a project helps.
#[test]
fn thousands_at_once_leave_room_for_one_more() {
    // Fewer where the system allows no process so many.
    let idle = IDLE.min(allow_sockets().saturating_sub(3 * SOME));
    let home = Home::new();
    home.new_project("others");
    let tokens: Vec<String> = (0..32).map(|_| home.token_of("others", "editor")).collect();
    let mut server = home.serve(&[
        "--idle-time",
        "60s",
        "--max-requests-per-project",
        "2000",
        "--max-bodies-per-project",
        "1000",
    ]);
    let hers = std::mem::replace(&mut server.token, tokens[0].clone());
    let download = download(&home, &server);
    server.token = hers;
    let address = |number: usize| attacker(u8::try_from(number % 20).expect("a byte"));
    let mut held: Vec<TcpStream> = (0..idle)
        .map(|number| connect(&server, address(number), b""))
        .collect();
    for number in 0..SOME {
        let token = &tokens[number % tokens.len()];
        held.push(connect(&server, address(number), &begun_upload(token)));
        held.push(connect(&server, address(number), &download(token)));
    }
    let attack = format!("{idle} idle connections, 500 slow bodies, 500 unread downloads");
    works(&server, &attack);
    let memory = resident(&server);
    println!("{attack}: {memory} MiB resident");
    assert!(memory <= 150, "{memory} MiB");
    // All of them are still there: nothing was answered, refused or cut off.
    let is_held = |stream: &mut TcpStream| {
        stream.set_nonblocking(true).expect("it need not wait");
        match stream.read(&mut [0; 64]) {
            Ok(read) => read == 64,
            Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
        }
    };
    let kept = held.iter_mut().map(is_held).filter(|&kept| kept).count();
    assert_eq!(kept, idle + 2 * SOME);
}

#[test]
fn only_a_named_proxy_speaks_for_its_clients() {
    let home = Home::new();
    let logs_in = |server: &Server, client: &str| {
        let lines = [
            "Sec-Fetch-Site: same-origin",
            "Content-Type: application/x-www-form-urlencoded",
            "Content-Length: 100",
            &format!("X-Forwarded-For: {client}"),
        ];
        let bytes = compose("POST", "/login", &lines.map(str::to_owned), &[]);
        connect(server, attacker(0), &bytes)
    };
    let statuses = |options: &[&str], last: &str| {
        let server = home.serve(
            &[
                &["--max-strangers-per-address", "1", "--idle-time", "4s"],
                options,
            ]
            .concat(),
        );
        let first = logs_in(&server, "192.0.2.1");
        std::thread::sleep(Duration::from_millis(300));
        let mut second = logs_in(&server, last);
        let answer = first_line(&mut second);
        drop(first);
        answer
    };
    // The second waits for its body as the first does, or is one too many.
    assert_eq!(statuses(&[], "192.0.2.2"), "HTTP/1.1 429");
    assert_eq!(
        statuses(&["--proxy", "127.0.0.2"], "192.0.2.2"),
        "HTTP/1.1 408"
    );
    assert_eq!(
        statuses(&["--proxy", "127.0.0.2"], "192.0.2.1"),
        "HTTP/1.1 429"
    );
    assert_eq!(
        statuses(&["--proxy", "127.0.0.3"], "192.0.2.2"),
        "HTTP/1.1 429"
    );
}
