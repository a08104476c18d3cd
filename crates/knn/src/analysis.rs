//! The driver: quick certificate, certified K set, directed search, exhaustion, unknown at the limit.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::baselines;
use super::certified_k_set::{CertifiedKSet, certified_until};
use super::charges::Demand;
use super::errors::PoisoningError;
use super::exhaust::{Outcome, exhaust};
use super::falsify::{Steer, falsify_targets};
use super::learn_update::LearnUpdate;
use super::quick_certify::quick_certify;
use super::system::{KnnSystem, Query};
use super::targets::{SHARED_ROUNDS, Targets};
use super::tighten::{Game, Play};

/// How robustness is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Enumerates every removal set and learns anew each time (Algorithm 1).
    Baseline,
    /// Fixes K and analyses the prediction phase only (Jia et al. 2022): certifies for that K.
    Jia,
    /// Certifies by quick certificate and certified K set (Li et al. 2022); cannot falsify.
    Li,
    /// Quick certificate, certified K set, directed search, exhaustion of the space that is left.
    #[default]
    Auto,
}

/// Which argument proved robustness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Certificate {
    /// Every candidate K votes alike and resists n removals.
    Quick,
    /// Every K that can be learnt votes alike and resists the removals that can go with it.
    KSet,
    /// Every removal set that was not excluded by proof was tried.
    Exhaustive,
}

/// A removal set that changes the prediction, and what the system does without it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    /// The rows of R, ascending.
    pub removal: Vec<usize>,
    /// The K learnt from T \ R.
    pub k: usize,
    /// The label predicted from T \ R.
    pub label: u16,
}

/// The answer for one test input.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// No removal of at most n rows changes the label: proved.
    Certified(Certificate),
    /// This removal changes the label; it replays through [`super::learn::replay`].
    Falsified(Violation),
    /// Neither was established before the deadline (or by a method that cannot).
    Unknown,
}

/// A verdict with the prediction it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// The label predicted from T.
    pub label: u16,
    /// The K learnt from T.
    pub k: usize,
    /// Whether that label is robust.
    pub verdict: Verdict,
}

/// When a search has to give up; never, unless stated.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deadline<'f> {
    end: Option<Instant>,
    stop: Option<&'f AtomicBool>,
}

impl<'f> Deadline<'f> {
    /// No limit.
    pub fn never() -> Self {
        Self::default()
    }

    /// Gives up as well once `stop` is set.
    pub fn or_when(self, stop: &'f AtomicBool) -> Self {
        Self {
            stop: Some(stop),
            ..self
        }
    }

    /// `limit` from now; a limit beyond what the clock can express is none.
    pub fn after(limit: Duration) -> Self {
        Self {
            end: Instant::now().checked_add(limit),
            stop: None,
        }
    }

    /// Whether the time is over.
    pub fn passed(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
            || self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// The candidates that a K is held against in a game.
const REFERENCES: usize = 4;

/// What is shared by all test inputs: the certified K set, incremental learning over it, and what was found for one K.
pub struct Analysis<'a> {
    pub(crate) system: &'a KnnSystem,
    pub(crate) set: CertifiedKSet,
    pub(crate) update: LearnUpdate<'a>,
    steers: Vec<OnceLock<Steer<'a>>>,
    games: Vec<OnceLock<Option<(Game, Play)>>>,
    /// When what is shared is given up.
    deadline: Deadline<'a>,
}

impl<'a> Analysis<'a> {
    /// Computes the certified K set of `system`.
    pub fn new(system: &'a KnnSystem) -> Self {
        Self::until(system, Deadline::never())
    }

    /// Like [`Analysis::new`]; what is shared by the test inputs is not finished after the deadline. Verdicts stay
    /// sound then, but few are reached: the deadline is for a run that ends.
    pub fn until(system: &'a KnnSystem, deadline: Deadline<'a>) -> Self {
        Self::over(system, certified_until(system, deadline), deadline)
    }

    /// Prepares what is shared for a K set of `system`.
    fn over(system: &'a KnnSystem, set: CertifiedKSet, deadline: Deadline<'a>) -> Self {
        let update = LearnUpdate::over(system, set.indices());
        let games = set.ks().iter().map(|_| OnceLock::new()).collect();
        let steers = set.ks().iter().map(|_| OnceLock::new()).collect();
        Self {
            system,
            set,
            update,
            steers,
            games,
            deadline,
        }
    }

    /// The poisoning threshold n.
    pub fn poison(&self) -> usize {
        self.system.poison()
    }

    /// The K that can be learnt.
    pub fn certified_k_set(&self) -> &CertifiedKSet {
        &self.set
    }

    /// The K at index `at` of the set against those that are hardest to overtake, with bounds for any removals of at most n rows; made when
    /// first needed.
    pub(crate) fn game(&self, at: usize) -> Option<&(Game, Play)> {
        let made = self.games[at].get_or_init(|| {
            let references = self.steer(at).rivals(self, REFERENCES);
            let references: Vec<usize> = references
                .into_iter()
                .map(|rival| self.set.indices()[rival])
                .collect();
            let game = Game::of(
                self.system,
                self.set.indices()[at],
                &references,
                self.deadline,
            )?;
            let any = Demand::any(self.system.poison());
            let mut play = Play::open(&game, &any)?;
            play.go(&game, &any, SHARED_ROUNDS, self.deadline);
            Some((game, play))
        });
        made.as_ref()
    }

    /// What steers to the K at index `at` of the set; made when first needed.
    pub(crate) fn steer(&self, at: usize) -> &Steer<'a> {
        self.steers[at].get_or_init(|| Steer::to(self, at, self.deadline))
    }

    /// Predicts the label of a test input and decides whether it is n-poisoning robust.
    ///
    /// # Errors
    /// Another number of columns than T, or a value that is not finite.
    pub fn decide(
        &self,
        features: &[f64],
        method: Method,
        deadline: Deadline<'_>,
    ) -> Result<Decision, PoisoningError> {
        let query = self.system.query(features)?;
        let k = self.system.k();
        let label = self
            .system
            .predict(&query, &self.system.nothing_removed(), k);
        let verdict = match method {
            Method::Baseline => baselines::enumerate(self.system, &query, label, deadline),
            Method::Jia => baselines::jia(self.system, &query, label),
            Method::Li => self.li(&query, label),
            Method::Auto => self.auto(&query, label, deadline),
        };
        Ok(Decision { label, k, verdict })
    }

    fn li(&self, query: &Query, label: u16) -> Verdict {
        if quick_certify(query).is_some() {
            Verdict::Certified(Certificate::Quick)
        } else if Targets::in_prediction(self, query, label).is_empty() {
            Verdict::Certified(Certificate::KSet)
        } else {
            Verdict::Unknown
        }
    }

    /// Algorithm 2 with its enumeration replaced. Every verdict but *unknown* is a theorem: the first two
    /// certificates by Theorem 4.1 and the theorem of [`certified_k_set()`] with `Targets::feasible`, the third by the
    /// completeness of `exhaust`; a violation has been counted exactly.
    fn auto(&self, query: &Query, label: u16, deadline: Deadline<'_>) -> Verdict {
        if quick_certify(query).is_some() {
            return Verdict::Certified(Certificate::Quick);
        }
        let targets = Targets::feasible(self, query, label);
        if targets.is_empty() {
            return Verdict::Certified(Certificate::KSet);
        }
        if let Some(violation) = falsify_targets(self, query, label, &targets, deadline) {
            return Verdict::Falsified(violation);
        }
        let targets = targets.tightened(self, query, deadline);
        if targets.is_empty() {
            return Verdict::Certified(Certificate::KSet);
        }
        match exhaust(self, query, label, &targets, deadline) {
            Outcome::Violated(violation) => Verdict::Falsified(violation),
            Outcome::Exhausted => Verdict::Certified(Certificate::Exhaustive),
            Outcome::OutOfTime => Verdict::Unknown,
        }
    }
}
