//! Checks what a checkpoint says against its run before anything goes on from it.
//!
//! The seal of a checkpoint finds damage ([`probity_run::sealed`]), but can be made anew by whoever
//! edits the file. What decodes is therefore held against what the run knows by itself: rows are
//! inputs of the domain, variants and classes exist, what a strategy remembers has the sizes of the
//! domain. A state that passes can be gone on from without a panic; that it was reached by this
//! very search, nobody can say.

use std::path::Path;

use super::check::Checked;
use super::domain::Domain;
use super::pairs::Pair;
use super::search::{PhaseCounts, Search, StateOf};
use super::strategy::{LocalWalker, Position, Strategy};
use probity_nn::Classifier;

/// A message that says what is wrong with a state.
pub(super) type Unfit = String;

/// The facts about the inputs of a run that a checkpoint is checked against.
pub(super) struct Inputs<'a> {
    /// The domain that they are from.
    pub(super) domain: &'a dyn Domain,
    /// The number of classes that inputs can have.
    pub(super) classes: usize,
    /// The number of decisions that inputs can get.
    pub(super) decisions: usize,
}

/// Checks that a search can go on from `state`, whose spilled pairs are in `folder`; `is_reached`
/// says whether the search can have come from the seed of a number to an input.
///
/// # Errors
/// A message about what does not fit the run.
pub(super) fn expect_fits<S: Strategy>(
    state: &StateOf<S>,
    search: &Search<'_, S>,
    folder: &Path,
    is_reached: impl Fn(u64, &[i32]) -> bool,
) -> Result<(), Unfit> {
    let strategy = search.strategy;
    let inputs = Inputs::new(search.domain, search.model);
    let most = strategy
        .max_moves(search.options.max_iter)
        .saturating_add(1);
    if state.round == u32::MAX || state.round > most.max(search.options.local) {
        return Err(format!("round {} is beyond the last", state.round));
    }
    let expect_reached = |seed: u64, row: &[i32]| match is_reached(seed, row) {
        true => Ok(()),
        false => Err(format!("what is said to come from seed {seed} does not")),
    };
    for seed in &state.seeds {
        inputs.expect_row(&seed.row, "a seed")?;
        expect_reached(seed.id, &seed.row)?;
        if !strategy.is_memory(&seed.memory, &seed.row) {
            return Err(format!("what is remembered of seed {} is not its", seed.id));
        }
    }
    for walker in &state.walkers {
        inputs.expect_walker(walker)?;
        expect_reached(walker.id, &walker.start.row)?;
        expect_reached(walker.id, &walker.position().row)?;
        if !strategy.is_memory(&walker.memory, &walker.position().row) {
            return Err(format!(
                "what is remembered of start {} is not its",
                walker.id
            ));
        }
    }
    if !strategy.is_learnt(&state.learnt) {
        return Err("what the strategy has learnt is not of this domain".to_owned());
    }
    let sizes = (search.domain.width(), inputs.classes);
    state.pairs.try_each(folder, &mut |pairs| {
        pairs.expect_sizes(sizes.0, sizes.1)?;
        pairs.iter().try_for_each(|pair| {
            inputs.expect_pair(&pair)?;
            expect_reached(pair.seed, pair.row)
        })
    })?;
    state.trace.expect_whole()?;
    let counts = [&state.global, &state.local];
    match counts.into_iter().all(is_count) && state.unconfirmed < MOST {
        true => Ok(()),
        false => Err("a count is out of range".to_owned()),
    }
}

/// The bound that all counts stay below, however long a run takes.
const MOST: u64 = 1 << 62;

pub(super) fn is_count(counts: &PhaseCounts) -> bool {
    let PhaseCounts {
        starts,
        steps,
        checks,
        model_rows,
        model_gradients,
        seconds,
    } = *counts;
    let all = [starts, steps, checks, model_rows, model_gradients];
    all.into_iter().all(|count| count < MOST) && (0.0..MOST as f64).contains(&seconds)
}

impl<'a> Inputs<'a> {
    /// The inputs of `domain`, about which `model` is asked.
    pub(super) fn new(domain: &'a dyn Domain, model: &dyn Classifier) -> Inputs<'a> {
        let classes = model.classes();
        Inputs {
            domain,
            classes,
            decisions: model.decision().count(classes),
        }
    }

    fn expect_row(&self, row: &[i32], what: &str) -> Result<(), Unfit> {
        match self.domain.contains(row) {
            true => Ok(()),
            false => Err(format!("{what} is no input of the model")),
        }
    }

    fn expect_class(&self, class: u32) -> Result<(), Unfit> {
        match (class as usize) < self.classes {
            true => Ok(()),
            false => Err(format!("class {class} is none of the model's")),
        }
    }

    fn expect_decided(&self, decided: u32) -> Result<(), Unfit> {
        match (decided as usize) < self.decisions {
            true => Ok(()),
            false => Err(format!("nothing has the number {decided} that is decided")),
        }
    }

    fn expect_variant(&self, row: &[i32], variant: u32) -> Result<(), Unfit> {
        match (variant as usize) < self.domain.variants(row) {
            true => Ok(()),
            false => Err(format!("an input has no variant {variant}")),
        }
    }

    fn expect_logits(&self, logits: &[f32]) -> Result<(), Unfit> {
        match logits.len() == self.classes && logits.iter().all(|logit| logit.is_finite()) {
            true => Ok(()),
            false => Err("logits are not as many as classes, or not finite".to_owned()),
        }
    }

    fn expect_checked(&self, row: &[i32], checked: &Checked) -> Result<(), Unfit> {
        self.expect_class(checked.label)?;
        self.expect_logits(&checked.logits)?;
        for flip in &checked.flips {
            self.expect_variant(row, flip.variant)?;
            self.expect_class(flip.label)?;
            self.expect_logits(&flip.logits)?;
            for decided in flip.decided {
                self.expect_decided(decided)?;
            }
        }
        Ok(())
    }

    /// Checks that the input where a walker stands is discriminatory.
    pub(super) fn expect_position(&self, position: &Position) -> Result<(), Unfit> {
        self.expect_row(&position.row, "a position")?;
        self.expect_checked(&position.row, &position.check)?;
        match position.check.flips.is_empty() {
            true => Err("a position is not discriminatory".to_owned()),
            false => Ok(()),
        }
    }

    fn expect_walker<M>(&self, walker: &LocalWalker<M>) -> Result<(), Unfit> {
        self.expect_position(&walker.start)?;
        if let Some(away) = &walker.away {
            self.expect_position(away)?;
        }
        match walker.candidate.is_empty() {
            true => Ok(()),
            false => self.expect_row(&walker.candidate, "a candidate"),
        }
    }

    pub(super) fn expect_pair(&self, pair: &Pair<'_>) -> Result<(), Unfit> {
        self.expect_row(pair.row, "a pair")?;
        self.expect_variant(pair.row, pair.variant)?;
        for (class, logits) in [
            (pair.label, pair.logits),
            (pair.other_label, pair.other_logits),
        ] {
            self.expect_decided(class)?;
            self.expect_logits(logits)?;
        }
        Ok(())
    }
}
