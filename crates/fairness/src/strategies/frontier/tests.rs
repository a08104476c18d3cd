use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use rayon::ThreadPoolBuilder;

use super::*;
use crate::calls::{Calls, CountedModel};
use crate::check::check_all;
use crate::checkpoint::expect_fits;
use crate::domain::{Domain, mixed_domain};
use crate::search::{Ending, PhaseCounts, Search, SearchOptions, SearchState};
use probity_nn::decision::{Decided, Decision, Gap, Score, Thresholds};
use probity_nn::encoding::InputLayout;
use probity_nn::fnn::{Activation, Fnn, Network};
use probity_nn::{Classifier, Differentiable, ModelError, Rows};
use probity_tensor::device::ComputeDevice;

type State = SearchState<FrontierMemory>;

struct Case {
    domain: TabularDomain,
    model: Decided<Fnn>,
    has_gradients: bool,
}

impl Case {
    /// A random network of three classes, or two, on the synthetic census.
    fn new(seed: u64, decision: Decision, classes: usize, has_gradients: bool) -> Case {
        let (layout, domain): (InputLayout, TabularDomain) = mixed_domain();
        let network = Network::random(layout, &[8, 4], classes, Activation::Tanh, seed);
        Case {
            domain,
            model: Decided {
                model: Fnn::new(&network, &ComputeDevice::flex()),
                decision,
            },
            has_gradients,
        }
    }

    fn seeds(&self, numbers: std::ops::Range<u64>) -> State {
        let classes = self.model.classes();
        let rows = numbers
            .clone()
            .map(|item| self.domain.random_input(3, item));
        State::from_number(numbers.start, rows, classes)
    }

    /// Goes on from `state`; `observe` sees every round.
    fn run(
        &self,
        mut state: State,
        batch: usize,
        observe: &mut dyn FnMut(&State) -> ControlFlow<()>,
    ) -> (State, Ending) {
        let calls = Calls::default();
        let counted = CountedModel::new(&self.model, &calls);
        let access = match self.has_gradients {
            true => ModelAccess::Gradients(&counted),
            false => ModelAccess::Outputs(&counted),
        };
        let strategy = Frontier::new(access, &self.domain, (1, 1), None, 7);
        let options = SearchOptions {
            max_iter: 8,
            local: 40,
            batch,
            ..SearchOptions::default()
        };
        let search = Search {
            model: &counted,
            reference: None,
            domain: &self.domain,
            strategy: &strategy,
            calls: &calls,
            options: &options,
        };
        expect_fits(&state, &search, Path::new(""), |_, _| true).unwrap();
        let ending = search.run(&mut state, observe).unwrap();
        (state, ending)
    }
}

fn cases() -> Vec<Case> {
    let abstention = Decision::Abstention {
        class: 1,
        low: 0.48,
        high: 0.52,
    };
    let gap = Decision::Gap(Gap {
        score: Score::Probability(1),
        most: 0.01,
    });
    let thresholds = Decision::Thresholds(Thresholds::of_two(1, 0.52));
    vec![
        Case::new(1, Decision::Largest, 2, true),
        Case::new(2, Decision::Largest, 3, true),
        Case::new(1, Decision::Largest, 2, false),
        Case::new(1, thresholds, 2, true),
        Case::new(1, abstention, 2, true),
        Case::new(1, gap, 2, false),
    ]
}

/// Checks by brute force that each pair is one, and that the model was asked about as many
/// individuals as every walk has tried different ones.
#[test]
fn finds_are_finds_and_no_walk_tries_an_individual_twice() {
    let mut found = 0;
    for (number, case) in cases().into_iter().enumerate() {
        let (state, ending) = case.run(case.seeds(0..40), 4096, &mut |state| {
            let walks = state.walkers.iter();
            let walks = walks.filter_map(|walker| walker.memory.walk.as_ref());
            // The start is among those tried.
            let tried: u64 = walks.map(|walk| walk.tried_after_start()).sum();
            if !state.walkers.is_empty() {
                assert_eq!(state.local().checks, tried, "case {number}");
            }
            ControlFlow::Continue(())
        });
        assert_eq!(ending, Ending::Complete);
        for pair in state.pairs().iter() {
            assert!(case.domain.contains(pair.row));
            let rows = Rows::new(pair.row, case.domain.width());
            let check = check_all(&case.model, &case.domain, rows)
                .unwrap()
                .remove(0);
            let flips = check.checked.flips;
            let flip = flips.iter().find(|flip| flip.variant == pair.variant);
            assert_eq!(flip.unwrap().decided, [pair.label, pair.other_label]);
            found += 1;
        }
        let local = state.local();
        assert!(local.checks > 0, "case {number} has no local phase");
        assert_eq!(local.model_gradients == 0, !case.has_gradients);
    }
    assert!(found > 2000, "{found}");
}

fn untimed(counts: &PhaseCounts) -> PhaseCounts {
    PhaseCounts {
        seconds: 0.0,
        ..*counts
    }
}

/// The figures of a search.
fn figures(state: &State) -> (Vec<Vec<i32>>, [PhaseCounts; 2]) {
    let rows = state.pairs().iter().map(|pair| pair.row.to_vec()).collect();
    (rows, [untimed(state.global()), untimed(state.local())])
}

/// Walks depend on nothing around them: batches, threads, interruptions after every round with a
/// checkpoint, and a cut into two parts change nothing.
#[test]
fn walks_depend_on_nothing_around_them() {
    for case in cases() {
        let go_on = &mut |_: &State| ControlFlow::Continue(());
        let (whole, _) = case.run(case.seeds(0..24), 4096, go_on);
        for (threads, batch) in [(1, 1), (3, 5)] {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build();
            let again = pool.unwrap().install(|| {
                let go_on = &mut |_: &State| ControlFlow::Continue(());
                case.run(case.seeds(0..24), batch, go_on).0
            });
            assert!(figures(&again) == figures(&whole));
        }
        let mut state = case.seeds(0..24);
        loop {
            let stop = &mut |_: &State| ControlFlow::Break(());
            let (stopped, ending) = case.run(state, 4096, stop);
            let saved = postcard::to_stdvec(&stopped).unwrap();
            state = postcard::from_bytes(&saved).unwrap();
            if ending == Ending::Complete {
                break;
            }
        }
        assert!(figures(&state) == figures(&whole));
        let rows = |state: &State| -> HashSet<Vec<i32>> {
            state.pairs().iter().map(|pair| pair.row.to_vec()).collect()
        };
        let parts =
            [0..10, 10..24].map(|numbers| rows(&case.run(case.seeds(numbers), 4096, go_on).0));
        // Where seeds of both parts lead to the same start, the whole walks from it once.
        assert!(parts[0].is_subset(&rows(&whole)));
        let both: HashSet<Vec<i32>> = &parts[0] | &parts[1];
        assert!(rows(&whole).is_subset(&both));
    }
}

/// A checkpoint of other sizes is refused.
#[test]
fn a_memory_of_another_model_is_refused() {
    let case = Case::new(1, Decision::Largest, 2, true);
    let mut memory = None;
    case.run(case.seeds(0..24), 4096, &mut |state| {
        let walked = state
            .walkers
            .iter()
            .find(|walker| walker.memory.walk.is_some());
        memory = walked.map(|walker| walker.memory.clone()).or(memory.take());
        ControlFlow::Continue(())
    });
    let memory: FrontierMemory = memory.unwrap();
    let row = case.domain.random_input(1, 1);
    let of = |case: &Case| {
        let access = ModelAccess::Gradients(&case.model);
        Frontier::new(access, &case.domain, (1, 1), None, 7).is_memory(&memory, &row)
    };
    assert!(of(&case));
    assert!(
        !of(&Case::new(1, Decision::Largest, 3, true)),
        "other classes"
    );
}

/// A model that says the same of everybody whose `part` is below the middle of its domain; above
/// it, what the protected attribute says. Its gradients are 0 wherever it has some.
struct Steps {
    domain: TabularDomain,
    part: usize,
}

impl Classifier for Steps {
    fn width(&self) -> usize {
        self.domain.width()
    }

    fn classes(&self) -> usize {
        2
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        let span = &self.domain.spans()[self.part];
        let middle = span.min + span.levels as i32 / 2;
        let told = rows.iter().map(|row| match row[self.part] < middle {
            true => 1.0,
            false => 0.5 - self.domain.own_variant(row) as f32,
        });
        Ok(told.flat_map(|told| [told, 0.0]).collect())
    }
}

impl Differentiable for Steps {
    fn features(&self) -> usize {
        self.domain.spans().iter().map(|span| span.features()).sum()
    }

    fn input_gradients(&self, rows: Rows<'_>, _: &[f32]) -> Result<Vec<f32>, ModelError> {
        Ok(vec![0.0; rows.len() * self.features()])
    }
}

/// Inputs are drawn from places where gradients say nothing, as without gradients; and the
/// gradients are asked for once.
#[test]
fn a_seed_without_slopes_goes_elsewhere() {
    let (_, domain) = mixed_domain();
    let scaled = |part: &usize| domain.spans()[*part].encoding.is_scaled();
    let part = domain.free().iter().copied().find(scaled).unwrap();
    let model = Steps { domain, part };
    let span = &model.domain.spans()[part];
    let seeds = (0..200).map(|item| {
        let mut row = model.domain.random_input(3, item);
        row[part] = span.min;
        row
    });
    let mut state = State::from_number(0, seeds, 2);
    let calls = Calls::default();
    let counted = CountedModel::new(&model, &calls);
    let access = ModelAccess::Gradients(&counted);
    let strategy = Frontier::new(access, &model.domain, (1, 1), None, 7);
    let options = SearchOptions {
        local: 0,
        batch: 64,
        ..SearchOptions::default()
    };
    let search = Search {
        model: &counted,
        reference: None,
        domain: &model.domain,
        strategy: &strategy,
        calls: &calls,
        options: &options,
    };
    let go_on = &mut |_: &State| ControlFlow::Continue(());
    search.run(&mut state, go_on).unwrap();
    // A draw leaves `part` as it is or draws it, each with half a chance: it comes to the upper half
    // with a quarter, so ten draws miss it with 0.056. 31 of 200 would be six standard deviations
    // above the mean.
    assert!(state.pairs().len() > 169, "{}", state.pairs().len());
    assert_eq!(state.global().model_gradients, 2 * 200);
}
