//! The other services of a database: which of them run, and what became of jobs there.
//!
//! Services that share a database tell each other nothing but what stands there. So each looks
//! around every second, and tells how far its jobs are. It sees jobs that others were told of, or
//! run, and shows them; that a user had
//! another service stop a job which it runs; and that a service counts no longer. Whose number has
//! stayed the same for the time of a lease, by the clock of who looks, is gone: its jobs are taken
//! up. A service that comes back after that, as from a network that was cut, finds that its jobs are
//! not its own any more, and lets them go.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::Itself;
use super::board::JobView;
use super::progress::Progress;
use super::queue::Held;
use crate::identifier::Id;
use crate::log;
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{Job, JobState};

/// The permission of the service itself, which works here.
const ITSELF: Itself = Itself::at_work();

/// How often a service says that it runs, and looks around.
pub(super) const PACE: Duration = Duration::from_secs(1);

/// How many paces a service may be silent at least, however short leases are.
const PACES: u32 = 8;

/// The other services, as they were seen.
pub(super) struct Neighbours {
    lease: Duration,
    looked: Option<Instant>,
    seen: HashMap<Id, Seen>,
    /// What the others were told of the progress of own jobs.
    told: HashMap<Id, Progress>,
}

struct Seen {
    beats: u64,
    since: Instant,
}

impl Neighbours {
    /// No neighbours yet; each may be silent for the time `lease`.
    pub fn new(lease: Duration) -> Neighbours {
        Neighbours {
            lease: lease.max(PACE * PACES),
            looked: None,
            seen: HashMap::new(),
            told: HashMap::new(),
        }
    }

    /// Records what the numbers of the `others` are `now`, and returns those services that have
    /// been silent for too long. A service that could not look for a while itself, as when the
    /// database was away for all, begins to wait anew.
    fn look(&mut self, others: &[(Id, u64)], now: Instant) -> Vec<(Id, u64)> {
        let last = self.looked.replace(now);
        if last.is_some_and(|last| now - last > self.lease / 2) {
            self.seen.clear();
        }
        self.seen
            .retain(|id, _| others.iter().any(|(other, _)| other == id));
        let mut silent = Vec::new();
        for (id, beats) in others {
            let seen = self.seen.entry(id.clone()).or_insert(Seen {
                beats: *beats,
                since: now,
            });
            if seen.beats != *beats {
                *seen = Seen {
                    beats: *beats,
                    since: now,
                };
            }
            if now - seen.since > self.lease {
                silent.push((id.clone(), *beats));
            }
        }
        silent
    }
}

impl Service {
    /// Says that this service runs, and looks at the jobs and the other services.
    pub(super) async fn look_around(&self, neighbours: &mut Neighbours) -> Result<(), Problem> {
        let was_taking = self.queue.is_taking();
        let held = self.queue.running().clone();
        let shown = self.board.all();
        let news: Vec<(Job, Progress)> = held
            .iter()
            .filter_map(|(id, held)| {
                let progress = shown.get(id)?.progress.clone()?;
                let is_new = neighbours.told.get(id) != Some(&progress);
                is_new.then(|| (held.job.clone(), progress))
            })
            .collect();
        let telling = news.clone();
        let around = self
            .store(move |store| store.look_around(ITSELF, &telling))
            .await?;
        neighbours.told.retain(|id, _| held.contains_key(id));
        let news = news.into_iter().map(|(job, progress)| (job.id, progress));
        neighbours.told.extend(news);
        for (other, beats) in neighbours.look(&around.others, Instant::now()) {
            let id = other.clone();
            let is_gone = self.store(move |store| store.bury(ITSELF, &id, beats));
            if is_gone.await? {
                log::line(&format_args!(
                    "another service, {other}, is silent for too long: its jobs are taken up"
                ));
            }
        }
        let jobs: HashMap<&Id, &Job> = around.jobs.iter().map(|job| (&job.id, job)).collect();
        for (id, held) in &held {
            let is_same = |now: &&&Job| now.lease() == held.job.lease() && self.holds(now);
            match jobs.get(id).filter(is_same) {
                Some(now) if now.state == JobState::Stopping => self.queue.stop(id),
                Some(_) => {}
                None => self.lose(held),
            }
        }
        for job in &around.jobs {
            if held.contains_key(&job.id) {
                continue;
            }
            let before = shown.get(&job.id);
            if before.is_none_or(|view| view.job != *job) {
                let now = JobView::from(job.clone());
                self.board.replace(&job.id, before, Some(now));
            }
            if job.state == JobState::Queued {
                continue;
            }
            if job.instance.is_none() {
                // It may have to wait for a process that the other service left; the next look does
                // not.
                let (service, job) = (self.clone(), job.clone());
                tokio::spawn(async move { service.take_up_one(&job).await });
            } else if self.holds(job) && !was_taking && !self.is_at_hand(job) {
                // It was taken, but the answer of the database was lost on its way, or what it needs
                // could not be had. What there is of it may have to be stored: nobody waits for that.
                let (service, job) = (self.clone(), job.clone());
                tokio::spawn(async move { service.give_back(&job).await });
            }
        }
        for (id, before) in &shown {
            if !jobs.contains_key(id) && !held.contains_key(id) {
                let (row, scope) = (id.clone(), before.job.scope(ITSELF));
                let now: Option<Job> = self.store(move |store| store.find(&scope, &row)).await?;
                let now = now.map(JobView::from);
                self.board.replace(id, Some(before), now);
            }
        }
        if around.jobs.iter().any(|job| job.state == JobState::Queued) {
            self.show_queue().await;
            self.queue.wake();
        }
        Ok(())
    }

    /// Whether `job` is held here, or may be about to be.
    fn is_at_hand(&self, job: &Job) -> bool {
        let running = self.queue.running();
        let held = running.get(&job.id);
        self.queue.is_taking() || held.is_some_and(|held| held.job.lease() == job.lease())
    }

    /// Lets go of a job that is another service's now, or at an end.
    fn lose(&self, held: &Held) {
        let Some(worker) = &held.worker else {
            held.pause();
            return;
        };
        // Where arrived files are being put in their places, the end of that finds it out.
        let Ok(mut arrived) = worker.arrived.try_lock() else {
            return;
        };
        arrived.is_over = true;
        self.queue.forget(&held.job);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_counts_no_longer_is_silent() {
        let ids = ["0123456789abcdef", "fedcba9876543210"].map(|id| id.parse::<Id>().unwrap());
        let lease = Duration::from_secs(60);
        let mut neighbours = Neighbours::new(lease);
        let begin = Instant::now();
        let mut look = |seconds: u64, one: u64, other: u64| {
            let others = [(ids[0].clone(), one), (ids[1].clone(), other)];
            let now = begin + Duration::from_secs(seconds);
            let silent = neighbours.look(&others, now).into_iter();
            silent
                .map(|(id, beats)| (id == ids[0], beats))
                .collect::<Vec<_>>()
        };
        for second in 0..=60 {
            assert_eq!(look(second, second, 7), [], "{second}");
        }
        assert_eq!(look(61, 61, 7), [(false, 7)]);
        // It counts again.
        assert_eq!(look(62, 62, 8), []);
        // Who looks had no database for a while, as the others.
        assert_eq!(look(180, 62, 8), []);
        for second in 181..=240 {
            assert_eq!(look(second, 62, second), [], "{second}");
        }
        assert_eq!(look(241, 62, 241), [(true, 62)]);
    }

    #[test]
    fn short_leases_are_no_reason_to_give_up_a_service() {
        let id: Id = "0123456789abcdef".parse().unwrap();
        let mut neighbours = Neighbours::new(Duration::from_millis(50));
        let begin = Instant::now();
        for second in 0..=8 {
            let now = begin + Duration::from_secs(second);
            assert_eq!(neighbours.look(&[(id.clone(), 1)], now), []);
        }
        let now = begin + Duration::from_secs(9);
        assert_eq!(neighbours.look(&[(id.clone(), 1)], now), [(id, 1)]);
    }
}
