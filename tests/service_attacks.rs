//! Nobody puts the service out of action for the others: every attack that was found is made again,
//! from another address and with another token, while a user works. Each of her requests is answered
//! as if nobody else were there, and who attacks is refused or cut off as docs/service.md says.
//!
//! How long her answers take says `cargo bench --bench service`.

#![cfg(all(feature = "serve", target_os = "linux"))]

mod service;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use service::attack::{
    Crowd, LARGE, MANY, PATIENT, SOME, Seen, User, allow_sockets, attacker, begun_log_in,
    begun_upload, blank_files, connect, download, first_line, flood, refused, resident, seen,
    slow_bodies, sockets, streams,
};
use service::http::{compose, form};
use service::{Home, Server, text, wait_until};

/// Requests of the user during an attack: lists and questions, and two uploads.
const TURNS: usize = 41;

/// Has a user work.
#[track_caller]
fn works(server: &Server) {
    let user = User::of(server);
    for turn in 0..TURNS {
        user.works(turn);
    }
}

/// Waits until all but `held` of the `streams` were refused.
#[track_caller]
fn holds_at_most(held: usize, streams: &[TcpStream]) {
    let least = streams.len() - held;
    wait_until("most are refused", || refused(streams) >= least);
}

#[test]
fn silent_connections_of_one_address_keep_nobody_out() {
    allow_sockets();
    let home = Home::new();
    let server = home.serve(&PATIENT);
    let silent = flood(&server, MANY, b"");
    works(&server);
    holds_at_most(512, &silent);
}

#[test]
fn bodies_that_never_come_hold_no_place() {
    allow_sockets();
    let home = Home::new();
    let server = home.serve(&PATIENT);
    let log_ins = flood(&server, SOME, &begun_log_in(&[]));
    works(&server);
    holds_at_most(16, &log_ins);
}

#[test]
fn slow_bodies_of_one_token_hold_up_that_token_alone() {
    allow_sockets();
    let home = Home::new();
    let other = home.new_token("other");
    let server = home.serve(&PATIENT);
    let slow = slow_bodies(&server, &other);
    works(&server);
    holds_at_most(16, &slow);
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
        &[server.head(), vec![kind, length]].concat(),
        &[],
    );
    let mut stream = connect(&server, attacker(0), &request);
    let sender = stream.try_clone().expect("a second handle");
    // Each byte comes in time.
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
    let server = home.serve(&PATIENT);
    let request = download(&home, &server)(&other);
    let unread = flood(&server, SOME, &request);
    works(&server);
    holds_at_most(64, &unread);
    let begun = unread
        .iter()
        .filter(|stream| seen(stream) == Seen::Answered("200".to_owned()));
    assert!(begun.count() > 0);
}

#[test]
fn who_does_not_read_is_cut_off() {
    let home = Home::new();
    let other = home.new_token("other");
    let server = home.serve(&PATIENT);
    let request = download(&home, &server)(&other);
    server.terminate();
    let server = home.serve(&["--idle-time", "1s"]);
    let before = sockets(&server);
    let mut unread = flood(&server, 10, &request);
    for stream in &mut unread {
        assert_eq!(first_line(stream), "HTTP/1.1 200");
    }
    wait_until("they are cut off", || sockets(&server) <= before);
    // None of them has the whole file.
    for mut stream in unread {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        assert!(bytes.len() < LARGE, "{}", bytes.len());
    }
}

#[test]
fn streams_of_one_token_leave_room_and_end_with_the_token() {
    allow_sockets();
    let home = Home::new();
    let other = home.new_token("other");
    let server = home.serve(&[]);
    let data = server.census(200);
    let job = server.start(&home.endless(&data));
    home.held(1);
    let mut streams = streams(&server, &job, &other);
    let lines: Vec<String> = streams.iter_mut().map(first_line).collect();
    let begun = lines.iter().filter(|line| line.ends_with("200")).count();
    assert!(
        (1..=16).contains(&begun),
        "{begun} streams of one token: {lines:?}"
    );
    works(&server);
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
        .ask("POST", &format!("/api/v1/jobs/{job}/stop"))
        .expect(200);
    server.end_of(&job);
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

#[test]
fn files_that_take_long_to_read_hold_up_nobody() {
    allow_sockets();
    let home = Home::new();
    let other = home.new_token("other");
    let server = home.serve(&[]);
    let begun = blank_files(&server, &other);
    works(&server);
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
    let server = home.serve(&[&PATIENT[..], &["--max-bodies", "80"]].concat());
    let slow: Vec<TcpStream> = (0..SOME)
        .map(|number| {
            let token = &tokens[number % tokens.len()];
            connect(&server, attacker(0), &begun_upload(token))
        })
        .collect();
    works(&server);
    // The project has 64 places, of the 80 that all have.
    holds_at_most(64, &slow);
}

/// Everything at once, from several addresses and with several tokens of another project, whose own
/// bounds are lifted.
#[test]
fn thousands_at_once_leave_room_for_one_more() {
    let home = Home::new();
    let (server, crowd) = Crowd::come(&home);
    works(&server);
    // On a quiet machine it is half of that (docs/service.md). On a busy one more files are read at the
    // same time, by up to 500 threads. A buffer for each of those who are held would be far more.
    let memory = resident(&server);
    assert!(memory <= 256, "{memory} MiB");
    // All of them are still there: nothing was refused or cut off, and nothing answered but what is
    // not read.
    let silent = crowd.idle.iter().chain(&crowd.bodies);
    let held = silent.filter(|stream| seen(stream) == Seen::Nothing);
    assert_eq!(held.count(), crowd.idle.len() + SOME);
    let downloads = crowd.downloads.iter().map(seen);
    let held = downloads.filter(|seen| match seen {
        Seen::Nothing => true,
        Seen::Answered(status) => status == "200",
        Seen::CutOff => false,
    });
    assert_eq!(held.count(), SOME);
}

#[test]
fn only_a_named_proxy_speaks_for_its_clients() {
    let home = Home::new();
    // A form that is waited for is asked for: so it is known that the client was let in.
    let logs_in = |server: &Server, client: &str| {
        let client = format!("X-Forwarded-For: {client}");
        let bytes = begun_log_in(&["Expect: 100-continue", &client]);
        let mut stream = connect(server, attacker(0), &bytes);
        let line = first_line(&mut stream);
        (stream, line)
    };
    let (let_in, one_too_many) = ("HTTP/1.1 100", "HTTP/1.1 429");
    for (proxies, second, expected) in [
        (&[][..], "192.0.2.2", one_too_many),
        (&["--proxy", "127.0.0.2"][..], "192.0.2.2", let_in),
        (&["--proxy", "127.0.0.2"][..], "192.0.2.1", one_too_many),
        (&["--proxy", "127.0.0.3"][..], "192.0.2.2", one_too_many),
    ] {
        let one = ["--max-strangers-per-address", "1"];
        let server = home.serve(&[&PATIENT[..], &one, proxies].concat());
        let (_first, line) = logs_in(&server, "192.0.2.1");
        assert_eq!(line, let_in);
        let (_second, line) = logs_in(&server, second);
        assert_eq!(line, expected, "{second} by {proxies:?}");
    }
}
