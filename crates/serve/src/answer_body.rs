//! The bodies of answers, sent in small pieces.
//!
//! An answer holds the places of its request until it has been sent, and ends when the token that
//! asked for it is revoked.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::BoxError;
use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

use super::gate::OwnPlaces;

/// The number of bytes of a piece. A long answer is handed on piece by piece as its client reads
/// it, and the places of its request are held until then.
const PIECE: usize = 16 << 10;

/// A future that ends when a token is revoked.
pub type Revoked = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The body of an answer, which holds the places of its request.
pub struct AnswerBody {
    body: Body,
    rest: Bytes,
    revoked: Option<Revoked>,
    _places: OwnPlaces,
}

impl AnswerBody {
    /// Makes a body that holds `places` and sends `body`, until it ends or `revoked` does.
    pub fn new(body: Body, places: OwnPlaces, revoked: Option<Revoked>) -> AnswerBody {
        AnswerBody {
            body,
            rest: Bytes::new(),
            revoked,
            _places: places,
        }
    }

    fn piece(&mut self) -> Frame<Bytes> {
        let most = self.rest.len().min(PIECE);
        Frame::data(self.rest.split_to(most))
    }
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if let Some(revoked) = &mut self.revoked
            && revoked.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Some(Err("the token was revoked".into())));
        }
        if !self.rest.is_empty() {
            return Poll::Ready(Some(Ok(self.piece())));
        }
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => Poll::Ready(Some(Ok(match frame.into_data() {
                Ok(data) => {
                    self.rest = data;
                    self.piece()
                }
                Err(other) => other,
            }))),
            Poll::Ready(Some(Err(error))) => Poll::Ready(Some(Err(error.into()))),
            Poll::Ready(None) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let inner = self.body.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}
