//! Limits on how long a client may take to read and to send.
//!
//! Both bounds are on the time that the service waits for the client, and give back some of it for
//! the bytes that came through: a client on a slow line is let alone, one that only holds a place
//! is not.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};

use super::problem::{Problem, ProblemKind};

/// The least number of bytes a second that a client must read or send, once it has used up its
/// time.
const RATE: f64 = 1024.0;

/// How many idle times a body may take altogether, besides the time that its bytes give back.
pub const TIMES: u32 = 3;

/// The time that the writes of a connection may still wait.
struct Left {
    /// How long the writes may wait in all.
    patience: Duration,
    /// How long the writes have waited, less the time that was given back for what was read since.
    waited: Duration,
}

impl Left {
    fn time(&self) -> Duration {
        self.patience.saturating_sub(self.waited)
    }

    /// Records a write of `bytes` bytes that `waited` so long.
    fn written(&mut self, bytes: usize, waited: Duration) {
        self.waited = (self.waited + waited).saturating_sub(earned(bytes as u64));
    }
}

/// A connection that is cut off when its client does not read what it asked for.
pub struct Patient<S> {
    stream: S,
    left: Left,
    /// The time when the present wait began, and the end of the wait.
    waits: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl<S> Patient<S> {
    /// Makes a connection of `stream` that is cut off once writes have waited for `patience`.
    pub fn new(stream: S, patience: Duration) -> Patient<S> {
        Patient {
            stream,
            left: Left {
                patience,
                waited: Duration::ZERO,
            },
            waits: None,
        }
    }

    /// Counts the wait of a write that ended as `written`, and returns its result, or that the
    /// connection is cut off.
    fn watch(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        match written {
            Poll::Pending => {
                let left = self.left.time();
                let (_, end) = self.waits.get_or_insert_with(|| {
                    let now = Instant::now();
                    (now, Box::pin(sleep_until(now + left)))
                });
                ready!(end.as_mut().poll(context));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
            Poll::Ready(Ok(bytes)) => {
                let waited = self.waits.take().map(|(start, _)| start.elapsed());
                self.left.written(bytes, waited.unwrap_or_default());
                Poll::Ready(Ok(bytes))
            }
            failed => failed,
        }
    }
}

fn earned(bytes: u64) -> Duration {
    Duration::from_secs_f64(bytes as f64 / RATE)
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// How fast the body of a request has to arrive.
pub struct Pace {
    idle: Duration,
    end: Instant,
}

impl Pace {
    /// Makes the pace of a body; `idle` may pass between two pieces.
    pub fn new(idle: Duration) -> Pace {
        Pace {
            idle,
            end: Instant::now() + idle * TIMES,
        }
    }

    /// Waits for the `next` piece.
    /// Fails when it does not come in time, or all pieces together come too slowly.
    pub async fn next<T>(&self, next: impl Future<Output = T>) -> Result<T, Problem> {
        let end = self.end.min(Instant::now() + self.idle);
        timeout_at(end, next)
            .await
            .map_err(|_| Problem::new(ProblemKind::TooSlow, "The body did not arrive in time."))
    }

    /// Records that `bytes` bytes came.
    pub fn came(&mut self, bytes: usize) {
        self.end += earned(bytes as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    fn run<T>(work: impl Future<Output = T>) -> T {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_time().build().unwrap().block_on(work)
    }

    #[test]
    fn a_client_that_does_not_read_is_cut_off() {
        run(async {
            let (client, server) = duplex(16);
            let mut server = Patient::new(server, Duration::from_millis(50));
            let error = server.write_all(&[0; 64]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            drop(client);
        });
    }

    #[test]
    fn a_client_that_reads_is_not() {
        run(async {
            let (mut client, server) = duplex(1024);
            let mut server = Patient::new(server, Duration::from_secs(600));
            let reads = async {
                let (mut all, mut piece) = (0, [0; 1024]);
                while all < 8 * 1024 {
                    all += client.read(&mut piece).await.unwrap();
                }
            };
            let bytes = [0; 8 * 1024];
            let (written, ()) = tokio::join!(server.write_all(&bytes), reads);
            written.unwrap();
        });
    }

    #[test]
    fn who_reads_slowly_gets_time_back() {
        let second = Duration::from_secs(1);
        let mut left = Left {
            patience: 4 * second,
            waited: Duration::ZERO,
        };
        // A kilobyte a second may go on for ever.
        for _ in 0..100 {
            left.written(1024, second);
            assert_eq!(left.time(), 4 * second);
        }
        // Half a kilobyte may not: each piece waits for half a second more than it gives back.
        for pieces in 1..8 {
            left.written(512, second);
            assert_eq!(left.time(), 4 * second - pieces * second / 2);
        }
        left.written(0, second);
        assert_eq!(left.time(), Duration::ZERO);
        // Time that was waited beyond the limit is given back as well.
        left.written(3 << 10, Duration::ZERO);
        assert_eq!(left.time(), 5 * second / 2);
    }

    #[test]
    fn a_body_comes_at_a_pace() {
        run(async {
            let mut pace = Pace::new(Duration::from_millis(40));
            assert!(pace.next(std::future::pending::<()>()).await.is_err());
            pace.next(async {}).await.unwrap();
            tokio::time::sleep(Duration::from_millis(120)).await;
            assert!(pace.next(std::future::pending::<()>()).await.is_err());
            pace.came(10 << 10);
            let nap = tokio::time::sleep(Duration::from_millis(20));
            pace.next(nap).await.unwrap();
        });
    }
}
