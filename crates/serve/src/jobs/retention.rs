//! Retention: deletes the jobs that have been kept for as long as their project, or the service,
//! keeps them.

use std::time::Duration;

use tokio::sync::watch;

use super::Itself;
use crate::log;
use crate::problem::Problem;
use crate::service::Service;
use crate::store::Contents;

/// The permission of the service itself, which works here.
const ITSELF: Itself = Itself::at_work();

/// How often jobs that are to be deleted are looked for; jobs are kept for days.
const PACE: Duration = Duration::from_secs(10 * 60);

impl Service {
    /// Deletes the jobs that have been kept for long enough, at once and every now and then, until
    /// `ended`.
    pub(crate) async fn expire(&self, mut ended: watch::Receiver<bool>) {
        loop {
            // A fault is in the log; the next look may find more.
            let _ = self.expire_now().await;
            tokio::select! {
                () = tokio::time::sleep(PACE) => {}
                _ = ended.changed() => return,
            }
        }
    }

    async fn expire_now(&self) -> Result<(), Problem> {
        let days = self.limits.kept_days;
        let jobs = self
            .store(move |store| store.expired_jobs(ITSELF, days))
            .await?;
        for job in jobs {
            let (id, kind) = (job.id.clone(), job.kind);
            let is_gone = self.store(move |store| store.expire_job(ITSELF, &job));
            if is_gone.await? {
                self.discard(Contents::of_job(&id)).await?;
                log::job(&id, kind, "deleted: it was kept for as long as jobs are");
            }
        }
        Ok(())
    }
}
