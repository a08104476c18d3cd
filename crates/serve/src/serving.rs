//! Connections: a bounded number of them at a time and from an address, each with limits of time
//! for the head of a request and for reading its answer; and their end.

use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use super::address::Peer;
use super::limits::Limits;
use super::log;
use super::router::router;
use super::service::{Service, ServiceError};
use super::stall::Patient;

/// How long the head of a request may take to arrive, and how long a connection may be idle, unless
/// clients are given more time.
const HEAD: Duration = Duration::from_secs(30);
/// The number of bytes of the head of a request, and of the data that wait to be sent.
const BUFFER: usize = 64 << 10;
/// How long requests may go on once the service ends.
const GRACE: Duration = Duration::from_secs(10);
/// How long to wait when no connection can be taken, as when there are no file handles left.
const AFTER_FAULT: Duration = Duration::from_millis(200);

/// The number of open files that a service needs besides its connections and the files that arrive.
const FILES: u64 = 256;

/// A service that listens, but does not answer yet.
pub struct Listening {
    service: Service,
    listener: TcpListener,
}

impl Service {
    /// Opens the storage of artefacts, where there is one, and listens on `address`.
    ///
    /// # Errors
    /// When the storage cannot be used, or the address cannot be listened on.
    pub async fn listen(self, address: SocketAddr) -> Result<Listening, ServiceError> {
        allow_files(&self.limits);
        self.open_artefacts().await?;
        let listener = TcpListener::bind(address)
            .await
            .map_err(|source| ServiceError::Listen { address, source })?;
        Ok(Listening {
            service: self,
            listener,
        })
    }

    /// Answers the requests that come over `stream`, one after the other, until it ends, as over a
    /// connection.
    pub async fn converse(&self, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let (_end, ended) = watch::channel(false);
        let peer = Peer(Ipv4Addr::LOCALHOST.into());
        connection(stream, peer, self, router(self.clone()), ended).await;
    }
}

impl Listening {
    /// The address that the service listens on, with the port that the system chose if none was
    /// asked for.
    ///
    /// # Errors
    /// When the operating system cannot tell.
    pub fn address(&self) -> Result<SocketAddr, ServiceError> {
        Ok(self.listener.local_addr()?)
    }

    /// Answers requests and runs the jobs of the queue until `ends`. Jobs that run are then asked
    /// to pause; they go on when the service starts again.
    ///
    /// # Errors
    /// When the queue cannot be taken up.
    pub async fn run(self, ends: impl Future<Output = ()>) -> Result<(), ServiceError> {
        let Listening { service, listener } = self;
        let (end, ended) = watch::channel(false);
        service.take_up().await?;
        let queue = tokio::spawn({
            let (service, ended) = (service.clone(), ended.clone());
            async move { service.work_off(ended).await }
        });
        // The service says that it runs until its own jobs have paused, and nobody is answered any more.
        let (leave, left) = watch::channel(false);
        let leases = tokio::spawn({
            let service = service.clone();
            async move { service.watch_leases(left).await }
        });
        let tokens = tokio::spawn({
            let (service, ended) = (service.clone(), ended.clone());
            async move { service.watch_tokens(ended).await }
        });
        let notifications = tokio::spawn({
            let (service, ended) = (service.clone(), ended.clone());
            async move { service.notify(ended).await }
        });
        let retention = tokio::spawn({
            let (service, ended) = (service.clone(), ended.clone());
            async move { service.expire(ended).await }
        });
        let artefacts = tokio::spawn({
            let (service, ended) = (service.clone(), ended.clone());
            async move { service.tend_artefacts(ended).await }
        });
        let greeting = tokio::spawn({
            let service = service.clone();
            async move { service.greet_provider().await }
        });
        let answers = tokio::spawn(answer(service.clone(), listener, ended));
        ends.await;
        log::line(&"ends; running jobs go on at the next start");
        end.send_replace(true);
        service.board.close();
        for task in [
            queue,
            tokens,
            notifications,
            retention,
            artefacts,
            greeting,
            answers,
        ] {
            join(task).await;
        }
        leave.send_replace(true);
        join(leases).await;
        service.leave().await;
        Ok(())
    }
}

/// Waits for the end of a task.
async fn join(task: JoinHandle<()>) {
    if let Err(error) = task.await {
        log::fault(&error);
    }
}

/// Lets this process have as many files open as `limits` need, as far as the system allows it.
#[cfg(unix)]
fn allow_files(limits: &Limits) {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let needed = (limits.connections + limits.bodies) as u64 + FILES;
    let Ok((now, most)) = getrlimit(Resource::RLIMIT_NOFILE) else {
        return;
    };
    let allowed = needed.min(most);
    if now < allowed && setrlimit(Resource::RLIMIT_NOFILE, allowed, most).is_err() || most < needed
    {
        log::line(&format_args!(
            "note: the system allows fewer open files than the {needed} that all connections and uploads may take; see ulimit -n"
        ));
    }
}

#[cfg(not(unix))]
fn allow_files(_: &Limits) {}

/// Accepts connections until `ended`, then waits for those that are open.
async fn answer(service: Service, listener: TcpListener, mut ended: watch::Receiver<bool>) {
    let most = service.limits.connections;
    let places = Arc::new(Semaphore::new(most));
    let router = router(service.clone());
    while !*ended.borrow() {
        let Ok(place) = places.clone().acquire_owned().await else {
            return;
        };
        let stream = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = ended.changed() => break,
        };
        match stream {
            Ok((stream, address)) => {
                let peer = Peer(address.ip());
                // A proxy holds the connections of all the clients that it forwards for.
                let own = service.gate.connect(peer.0.into());
                if own.is_none() && !peer.is_among(&service.proxies) {
                    continue;
                }
                // Small answers shall not wait for each other.
                let _ = stream.set_nodelay(true);
                let (service, router) = (service.clone(), router.clone());
                let ended = ended.clone();
                tokio::spawn(async move {
                    connection(stream, peer, &service, router, ended).await;
                    drop((own, place));
                });
            }
            Err(error) => {
                log::fault(&error);
                tokio::time::sleep(AFTER_FAULT).await;
            }
        }
    }
    let all = u32::try_from(most).unwrap_or(u32::MAX);
    // Connections that are not done by then are cut off with the end of the process.
    let _ = tokio::time::timeout(GRACE, places.acquire_many(all)).await;
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    peer: Peer,
    service: &Service,
    router: Router,
    mut ended: watch::Receiver<bool>,
) {
    let stream = Patient::new(stream, service.limits.idle_time);
    let router = TowerToHyperService::new(router);
    let answers = service_fn(|mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        router.call(request)
    });
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD.max(service.limits.idle_time))
            .max_buf_size(BUFFER)
            .serve_connection(TokioIo::new(stream), answers)
    );
    let end = async { ended.wait_for(|&ended| ended).await.is_ok() };
    // What a client does to its own connection is no concern of the log.
    tokio::select! {
        _ = connection.as_mut() => {}
        _ = end => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}
