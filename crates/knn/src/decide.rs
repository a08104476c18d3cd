//! The driver (Algorithm 2): quick certificate, certified K set, search for a violation, tighter
//! bounds, branch and bound; unknown at the limit.

use crate::analysis::Analysis;
use crate::baselines;
use crate::certify::quick::quick_certify;
use crate::certify::targets::Targets;
use crate::deadline::Deadline;
use crate::errors::PoisoningError;
use crate::falsify::branch_and_bound::{Outcome, branch_and_bound};
use crate::falsify::falsify_targets;
use crate::system::Query;
use crate::verdict::{Certificate, Decision, Method, Verdict};

impl Analysis<'_> {
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

    /// Decides by Algorithm 2 with its enumeration replaced. Every verdict but *unknown* is a
    /// theorem: the first two certificates by Theorem 4.1 and the theorem of [`certified_k_set()`]
    /// with `Targets::feasible`, the third by the completeness of `branch_and_bound`; a violation
    /// has been counted exactly.
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
        let targets = targets.left_by_relaxation(self, query, deadline);
        if targets.is_empty() {
            return Verdict::Certified(Certificate::KSet);
        }
        match branch_and_bound(self, query, label, &targets, deadline) {
            Outcome::Violated(violation) => Verdict::Falsified(violation),
            Outcome::Exhausted => Verdict::Certified(Certificate::Exhaustive),
            Outcome::OutOfTime => Verdict::Unknown,
        }
    }
}
