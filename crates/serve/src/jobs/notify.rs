//! Notifications: tells projects by their webhooks that their jobs are at an end.
//!
//! Notifications wait in the database until they are taken or given up. A few are sent at the same
//! time, one for each project, so that a webhook that does not answer does not keep others waiting
//! for long. A notification that is not taken is sent again, after longer and longer times.

use std::time::Duration;

use hmac::digest::InvalidLength;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::Itself;
use crate::identifier::Id;
use crate::log;
use crate::moment::Moment;
use crate::outside::{self, Sent};
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{Next, Notification};
use probity_run::run_directory::hex;

/// The permission of the service itself, which works here.
const ITSELF: Itself = Itself::at_work();

/// The number of notifications that are sent at the same time.
const AT_ONCE: usize = 4;

/// How often due notifications are looked for.
const PACE: Duration = Duration::from_secs(1);

/// The seconds after which a notification that was not taken is sent again, attempt by attempt;
/// after the last of them it is given up.
const AGAIN: [u64; 5] = [5, 60, 600, 3600, 4 * 3600];

/// The headers of a notification besides its type: its identifier, and the signature of its body.
const IDENTIFIER: &str = "x-probity-notification";
const SIGNATURE: &str = "x-probity-signature";

impl Service {
    /// Sends notifications until `ended`. One that is under way then is sent again at the next
    /// start.
    pub(crate) async fn notify(&self, mut ended: watch::Receiver<bool>) {
        let mut sending: JoinSet<Id> = JoinSet::new();
        let mut busy: Vec<Id> = Vec::new();
        loop {
            while sending.len() < AT_ONCE {
                let but = busy.clone();
                // A fault is in the log; the next look may find more.
                let due = self.store(move |store| store.claim_notification(ITSELF, &but));
                let Ok(Some(due)) = due.await else { break };
                busy.push(due.project.clone());
                let service = self.clone();
                sending.spawn(async move {
                    service.attempt(&due).await;
                    due.project
                });
            }
            tokio::select! {
                () = tokio::time::sleep(PACE) => {}
                Some(done) = sending.join_next() => match done {
                    Ok(project) => busy.retain(|other| *other != project),
                    Err(error) => log::fault(&error),
                },
                _ = ended.changed() => return,
            }
        }
    }

    /// Sends `due` once, and writes the result.
    async fn attempt(&self, due: &Notification) {
        let (sent, allows_private) = (due.clone(), self.private_hooks);
        let outcome = self
            .blocking(move || {
                let signature = signature(&sent.secret, &sent.body);
                let signature = signature.map_err(|error| Problem::internal(&error))?;
                let headers = [
                    (IDENTIFIER, sent.id.as_str()),
                    (SIGNATURE, signature.as_str()),
                ];
                Ok(outside::post(
                    &sent.url,
                    &headers,
                    &sent.body,
                    allows_private,
                ))
            })
            .await;
        let outcome = outcome.unwrap_or(Sent::Failed("could not be sent anything"));
        let (next, said) = match outcome {
            Sent::Answered(status @ 200..=299) => {
                (Next::Arrived, format!("took it with status {status}"))
            }
            Sent::Answered(status) => (next(due.attempts), format!("answered {status}")),
            Sent::Failed(why) => (next(due.attempts), why.to_owned()),
        };
        let then = match next {
            Next::Arrived => "",
            Next::Again(_) => "; it is sent again",
            Next::GivenUp => "; it is given up",
        };
        log::line(&format_args!(
            "webhook of project {}: of job {} it {said}{then}",
            due.project, due.job
        ));
        let due = due.clone();
        // A fault is in the log; the notification is sent again.
        let _ = self
            .store(move |store| store.end_attempt(ITSELF, &due, &said, next))
            .await;
    }
}

/// The fate of a notification that was not taken, after `attempts` earlier attempts.
fn next(attempts: u32) -> Next {
    match AGAIN.get(attempts as usize) {
        Some(&seconds) => Next::Again(Moment::now().after(Duration::from_secs(seconds))),
        None => Next::GivenUp,
    }
}

/// The text `sha256=` and the HMAC-SHA256 of `body` under `secret`, in hexadecimal digits.
fn signature(secret: &str, body: &str) -> Result<String, InvalidLength> {
    let mut code = Hmac::<Sha256>::new_from_slice(secret.as_bytes())?;
    code.update(body.as_bytes());
    Ok(format!("sha256={}", hex(&code.finalize().into_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_are_those_of_rfc_4231() {
        assert_eq!(
            signature("Jefe", "what do ya want for nothing?").unwrap(),
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn attempts_have_an_end() {
        for attempts in 0..5 {
            assert!(matches!(next(attempts), Next::Again(_)));
        }
        assert_eq!(next(5), Next::GivenUp);
    }
}
