//! Connections: so many at a time, each with a limit of time for the head of a request, and their
//! end.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};

use super::log;
use super::router::router;
use super::service::{Service, ServiceError};

/// How long the head of a request may take to arrive, and how long a connection may be idle.
const HEAD: Duration = Duration::from_secs(30);
/// How long requests may go on once the service ends.
const GRACE: Duration = Duration::from_secs(10);
/// How long to wait when no connection can be taken, as when there are no file handles left.
const AFTER_FAULT: Duration = Duration::from_millis(200);

/// A service that listens, but does not answer yet.
pub struct Listening {
    service: Service,
    listener: TcpListener,
}

impl Service {
    /// Listens on `address`.
    ///
    /// # Errors
    /// When it cannot be listened on.
    pub async fn listen(self, address: SocketAddr) -> Result<Listening, ServiceError> {
        let listener = TcpListener::bind(address)
            .await
            .map_err(|source| ServiceError::Listen { address, source })?;
        Ok(Listening {
            service: self,
            listener,
        })
    }

    /// Answers the requests that come over `stream`, one after the other, until it ends: what is
    /// done with a connection, for requests that come another way.
    pub async fn converse(&self, stream: impl AsyncRead + AsyncWrite + Unpin) {
        let (_end, ended) = watch::channel(false);
        connection(stream, router(self.clone()), ended).await;
    }
}

impl Listening {
    /// Where it listens, with the port that the system chose if none was asked for.
    ///
    /// # Errors
    /// When the operating system cannot tell.
    pub fn address(&self) -> Result<SocketAddr, ServiceError> {
        Ok(self.listener.local_addr()?)
    }

    /// Answers requests and works off the queue until `ends`. Jobs that run are then asked to
    /// pause; they go on when the service starts again.
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
        let answers = tokio::spawn(answer(service.clone(), listener, ended));
        ends.await;
        log::line(&"ends; running jobs go on at the next start");
        end.send_replace(true);
        service.board.close();
        for task in [queue, answers] {
            if let Err(error) = task.await {
                log::fault(&error);
            }
        }
        Ok(())
    }
}

/// Takes connections until `ended`, then waits for those that are open.
async fn answer(service: Service, listener: TcpListener, mut ended: watch::Receiver<bool>) {
    let most = service.limits.connections;
    let places = Arc::new(Semaphore::new(most));
    let router = router(service);
    while !*ended.borrow() {
        let Ok(place) = places.clone().acquire_owned().await else {
            return;
        };
        let stream = tokio::select! {
            accepted = listener.accept() => accepted.map(|(stream, _)| stream),
            _ = ended.changed() => break,
        };
        match stream {
            Ok(stream) => {
                // Small answers shall not wait for each other.
                let _ = stream.set_nodelay(true);
                let (router, ended) = (router.clone(), ended.clone());
                tokio::spawn(async move {
                    connection(stream, router, ended).await;
                    drop(place);
                });
            }
            Err(error) => {
                log::fault(&error);
                tokio::time::sleep(AFTER_FAULT).await;
            }
        }
    }
    let all = u32::try_from(most).unwrap_or(u32::MAX);
    // Whoever is not done by then is cut off with the end of the process.
    let _ = tokio::time::timeout(GRACE, places.acquire_many(all)).await;
}

async fn connection(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    router: Router,
    mut ended: watch::Receiver<bool>,
) {
    let mut connection = pin!(
        http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router))
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
