//! What all test inputs share: the K that can be learnt, incremental learning, and for each K
//! attacks and bounds.

use std::sync::OnceLock;

use crate::certify::amortised_bound::RemovalConstraint;
use crate::certify::frank_wolfe::{FrankWolfe, Relaxation};
use crate::certify::k_set::{CertifiedKSet, certified_until};
use crate::deadline::Deadline;
use crate::falsify::attack::LearningAttack;
use crate::learn::update::LearnUpdate;
use crate::system::KnnSystem;

/// Steps towards a tighter bound for one K and all test inputs.
const SHARED_ROUNDS: usize = 48;

/// The part of an analysis that all test inputs share: the certified K set, incremental learning
/// over it, and what was found for one K.
pub struct Analysis<'a> {
    pub(crate) system: &'a KnnSystem,
    pub(crate) set: CertifiedKSet,
    pub(crate) update: LearnUpdate<'a>,
    attacks: Vec<OnceLock<LearningAttack<'a>>>,
    relaxations: Vec<OnceLock<Option<(Relaxation, FrankWolfe)>>>,
    /// The time at which the work that all test inputs share is given up.
    deadline: Deadline<'a>,
}

impl<'a> Analysis<'a> {
    /// Computes the certified K set of `system`.
    pub fn new(system: &'a KnnSystem) -> Self {
        Self::until(system, Deadline::never())
    }

    /// Returns the analysis as [`Analysis::new`] does, but what is shared by the test inputs is not
    /// finished after the deadline. Verdicts stay sound then, but few are reached: the deadline is
    /// for a run that ends.
    pub fn until(system: &'a KnnSystem, deadline: Deadline<'a>) -> Self {
        Self::over(system, certified_until(system, deadline), deadline)
    }

    /// Prepares what is shared for a K set of `system`.
    fn over(system: &'a KnnSystem, set: CertifiedKSet, deadline: Deadline<'a>) -> Self {
        let update = LearnUpdate::over(system, set.indices());
        let relaxations = set.ks().iter().map(|_| OnceLock::new()).collect();
        let attacks = set.ks().iter().map(|_| OnceLock::new()).collect();
        Self {
            system,
            set,
            update,
            attacks,
            relaxations,
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

    /// Returns the relaxation that holds the K at index `at` of the set against the K that is
    /// hardest to overtake, with bounds for any removals of at most n rows; made when first needed.
    /// `None` if there is no other K, or if the deadline passed.
    pub(crate) fn relaxation(&self, at: usize) -> Option<&(Relaxation, FrankWolfe)> {
        let made = self.relaxations[at].get_or_init(|| {
            let rival = self.attack(at).strongest_rival(&self.update)?;
            if self.deadline.passed() {
                return None;
            }
            let indices = self.set.indices();
            let relaxation = Relaxation::record(self.system, indices[at], indices[rival]);
            let any = RemovalConstraint::any(self.system.poison());
            let mut play = FrankWolfe::open(&relaxation);
            play.go(&relaxation, &any, SHARED_ROUNDS, self.deadline);
            Some((relaxation, play))
        });
        made.as_ref()
    }

    /// Returns the attack that tries to make the K at index `at` of the set learnt; made when first
    /// needed.
    pub(crate) fn attack(&self, at: usize) -> &LearningAttack<'a> {
        self.attacks[at].get_or_init(|| {
            LearningAttack::to(self.system, &self.set, &self.update, at, self.deadline)
        })
    }
}
