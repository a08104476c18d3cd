//! What every search strategy must uphold, on random networks: only real pairs, inputs within their
//! domains, budgets kept, the same seed the same result whatever the batch and the threads, and an
//! interrupted search that ends as an uninterrupted one does.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::random_audit::{Case, Found, cases, holds_what_it_reports, options};
use probity::fairness::calls::{Calls, CountedModel};
use probity::fairness::distinct::Mark;
use probity::fairness::domain::TabularDomain;
use probity::fairness::model_under_test::ModelAccess;
use probity::fairness::search::{Ending, PhaseCounts, Search, SearchOptions, SearchState};
use probity::fairness::strategies::tuning::Tuning;
use probity::fairness::strategies::{Ingredients, StrategyName, WithStrategy, with_strategy};
use probity::fairness::strategy::Strategy;
use probity::nn::modality::ModalityName;
use probity::nn::{Classifier, Differentiable, ModelError, Rows};
use rayon::ThreadPoolBuilder;

/// A model that counts the rows outside their domains that it is asked about.
struct Guarded<'a, M: ?Sized> {
    model: &'a M,
    domain: &'a TabularDomain,
    outside: AtomicU64,
}

impl<M: ?Sized> Guarded<'_, M> {
    fn look_at(&self, rows: Rows<'_>) {
        let spans = self.domain.spans();
        let is_outside = |row: &[i32]| {
            row.iter()
                .zip(spans)
                .any(|(&code, span)| !(span.min..span.min + span.levels as i32).contains(&code))
        };
        let outside = rows.iter().filter(|row| is_outside(row)).count();
        self.outside.fetch_add(outside as u64, Ordering::Relaxed);
    }
}

impl<M: Classifier + ?Sized> Classifier for Guarded<'_, M> {
    fn width(&self) -> usize {
        self.model.width()
    }

    fn classes(&self) -> usize {
        self.model.classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        self.look_at(rows);
        self.model.logits(rows)
    }
}

impl<M: Differentiable + ?Sized> Differentiable for Guarded<'_, M> {
    fn features(&self) -> usize {
        self.model.features()
    }

    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        self.look_at(rows);
        self.model.input_gradients(rows, cotangents)
    }
}

/// One search, perhaps stopped and taken up again after every so many rounds.
struct Run<'a> {
    case: &'a Case,
    model: &'a dyn Classifier,
    calls: &'a Calls,
    options: &'a SearchOptions,
    stop_every: Option<u32>,
}

/// What is left of a search when its types are forgotten.
struct Ran {
    ending: Ending,
    found: Found,
    discriminatory: u64,
    globally: u64,
    phases: [PhaseCounts; 2],
    stops: u32,
    pairs: Vec<Vec<i32>>,
}

impl WithStrategy for Run<'_> {
    type Output = Ran;

    fn with<S: Strategy>(self, strategy: &S) -> Ran {
        let seeds = strategy.own_seeds(self.case.seeds).unwrap_or_else(|| {
            (0..self.case.seeds as u64)
                .map(|item| crate::random_audit::seed_row(self.case, item))
                .collect()
        });
        let mut state: SearchState<S::Memory, S::Shared> =
            SearchState::new(seeds, self.model.classes());
        let search = Search {
            model: self.model,
            reference: None,
            domain: &self.case.domain,
            strategy,
            calls: self.calls,
            options: self.options,
        };
        let (mut rounds, mut stops) = (0, 0);
        let ending = loop {
            let ending = search
                .run(&mut state, &mut |_| {
                    rounds += 1;
                    match self.stop_every {
                        Some(every) if rounds % every == 0 => ControlFlow::Break(()),
                        _ => ControlFlow::Continue(()),
                    }
                })
                .unwrap();
            if ending != Ending::Interrupted {
                break ending;
            }
            stops += 1;
            let saved = postcard::to_stdvec(&state).unwrap();
            state = postcard::from_bytes(&saved).unwrap();
        };
        holds_what_it_reports(self.case, &state);
        Ran {
            ending,
            found: Found::of(&state),
            discriminatory: state.individuals().discriminatory(),
            globally: state.individuals().count(Mark::GlobalDiscriminatory),
            phases: [*state.global(), *state.local()],
            stops,
            pairs: state.pairs().iter().map(|pair| pair.row.to_vec()).collect(),
        }
    }
}

/// Small enough for many searches.
fn tuning() -> Tuning {
    Tuning {
        error_bound: 0.02,
        ..Tuning::default()
    }
}

/// Whether a strategy is given gradients, or outputs only.
#[derive(Clone, Copy, PartialEq)]
enum Access {
    Gradients,
    Outputs,
}

fn ingredients<'a>(case: &'a Case, model: ModelAccess<'a>, tuning: &'a Tuning) -> Ingredients<'a> {
    Ingredients {
        model,
        domain: &case.domain,
        objective: case.objective,
        step_global: case.steps.0,
        step_local: case.steps.1,
        tuning,
        rank: None,
        seed: case.seed,
    }
}

fn run(
    case: &Case,
    name: StrategyName,
    options: &SearchOptions,
    access: Access,
    stop_every: Option<u32>,
) -> Ran {
    let calls = Calls::default();
    let guarded = Guarded {
        model: &case.fnn,
        domain: &case.domain,
        outside: AtomicU64::new(0),
    };
    let counted = CountedModel::new(&guarded, &calls);
    let model = match access {
        Access::Gradients => ModelAccess::Gradients(&counted),
        Access::Outputs => ModelAccess::Outputs(&counted),
    };
    let tuning = tuning();
    let ingredients = ingredients(case, model, &tuning);
    let work = Run {
        case,
        model: &counted,
        calls: &calls,
        options,
        stop_every,
    };
    let ran = with_strategy(name, &ingredients, work).unwrap();
    let outside = guarded.outside.load(Ordering::Relaxed);
    assert_eq!(outside, 0, "{}: rows outside their domains", name.name());
    ran
}

/// What a strategy is, for what is known of it by name.
struct Facts;

impl WithStrategy for Facts {
    type Output = (bool, bool);

    fn with<S: Strategy>(self, strategy: &S) -> Self::Output {
        (S::LEARNS, strategy.own_seeds(1).is_none())
    }
}

/// What is said of a strategy by its name, before it is made, is so: whether its finds can be traced
/// to rows of the data, above all, by which repairs keep them out of what is held out.
#[test]
fn names_say_what_strategies_are() {
    let case = &cases()[0];
    for name in StrategyName::for_modality(ModalityName::Table) {
        let tuning = tuning();
        let ingredients = ingredients(case, ModelAccess::Gradients(&case.fnn), &tuning);
        let is = with_strategy(name, &ingredients, Facts).unwrap();
        let said = (!name.is_divisible(), name.takes_seeds());
        assert_eq!(said, is, "{}", name.name());
    }
    for name in StrategyName::ALL {
        let written = serde_json::to_value(name).unwrap();
        assert_eq!(written, name.name());
    }
}

/// Every strategy, on every case: what is reported holds, something is found, inputs stay in their
/// domains, and no more is checked than the options allow.
#[test]
fn real_pairs_within_domains_and_budgets() {
    for case in cases() {
        for name in StrategyName::for_modality(ModalityName::Table) {
            let ran = run(&case, name, &options(10, 30), Access::Gradients, None);
            let label = name.name();
            assert_eq!(ran.ending, Ending::Complete, "{label}");
            assert!(ran.discriminatory > 0, "{label}");
            let [global, local] = ran.phases;
            assert!(local.checks <= local.steps, "{label}");
            assert!(local.steps <= local.starts * 30, "{label}");
            assert!(global.model_rows >= global.checks * 2, "{label}");
            if name == StrategyName::Themis {
                assert_eq!((local.starts, local.steps), (0, 0));
            } else {
                assert!(global.checks <= 60 * 11, "{label}: {}", global.checks);
                assert_eq!(local.starts, ran.globally, "{label}");
            }
            let asks_for_gradients = global.model_gradients + local.model_gradients > 0;
            assert_eq!(asks_for_gradients, name.needs_gradients(), "{label}");
        }
    }
}

/// Random schemas, encodings, protected sets, objectives and steps.
#[test]
fn real_pairs_on_random_cases() {
    let mut found = 0;
    for number in 0..16 {
        let case = Case::random(number);
        for name in StrategyName::for_modality(ModalityName::Table) {
            found += run(&case, name, &options(4, 8), Access::Gradients, None).discriminatory;
        }
    }
    assert!(found > 2000, "{found}");
}

/// The same for batches of 1, 7 and 4,096 and for 1, 2 and 3 threads.
#[test]
fn neither_batch_nor_threads_matter() {
    for case in cases() {
        for name in StrategyName::for_modality(ModalityName::Table) {
            let mut first: Option<Found> = None;
            for (threads, batch) in [(1, 4096), (1, 1), (2, 7), (3, 4096)] {
                let pool = ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                let options = SearchOptions {
                    batch,
                    ..options(10, 20)
                };
                let ran = pool.install(|| run(&case, name, &options, Access::Gradients, None));
                match &first {
                    None => first = Some(ran.found),
                    Some(first) => assert!(
                        *first == ran.found,
                        "{}, {threads} threads, batch {batch}: {:?} {:?}",
                        name.name(),
                        first.counts,
                        ran.found.counts
                    ),
                }
            }
        }
    }
}

/// Stopped after every round, or every third, saved, read back and taken up again.
#[test]
fn interruptions_do_not_matter() {
    for case in cases() {
        for name in StrategyName::for_modality(ModalityName::Table) {
            let options = options(10, 20);
            let whole = run(&case, name, &options, Access::Gradients, None);
            for every in [1, 3] {
                let parts = run(&case, name, &options, Access::Gradients, Some(every));
                assert!(parts.stops >= 2, "{}: {}", name.name(), parts.stops);
                // Gradients that are kept in memory only are computed again, from outputs by more
                // rows.
                if name == StrategyName::AdfZeroOrder {
                    assert_eq!(whole.found.pairs, parts.found.pairs);
                } else {
                    assert!(whole.found == parts.found, "{}", name.name());
                }
            }
        }
    }
}

/// Another seed gives another search; a budget of individuals is met exactly, by the first pairs of
/// the whole search; no time, no check.
#[test]
fn seeds_matter_and_budgets_are_exact() {
    let mut case = Case::synthetic(8, &["sex"]);
    for name in StrategyName::for_modality(ModalityName::Table) {
        let whole = run(&case, name, &options(10, 20), Access::Gradients, None);
        for enough in [1, 3, whole.discriminatory - 1] {
            let limited = SearchOptions {
                max_found: Some(enough),
                ..options(10, 20)
            };
            let ran = run(&case, name, &limited, Access::Gradients, None);
            assert_eq!(ran.ending, Ending::MaxFound, "{}", name.name());
            assert_eq!(ran.discriminatory, enough, "{}", name.name());
            assert!(whole.pairs.starts_with(&ran.pairs), "{}", name.name());
        }
        let no_time = SearchOptions {
            time: Some(Duration::ZERO),
            ..options(10, 20)
        };
        let ran = run(&case, name, &no_time, Access::Gradients, None);
        assert_eq!(ran.ending, Ending::Time);
        assert_eq!(ran.phases[0].checks + ran.phases[1].checks, 0);
        case.seed += 1;
        let other = run(&case, name, &options(10, 20), Access::Gradients, None);
        assert_ne!(whole.found.pairs, other.found.pairs, "{}", name.name());
        case.seed -= 1;
    }
}

/// A strategy that needs no gradient does the same with a plain classifier; the others are refused,
/// by an error that names them and the others.
#[test]
fn outputs_are_enough_for_the_others() {
    let case = Case::synthetic(3, &["sex", "origin"]);
    for name in StrategyName::for_modality(ModalityName::Table) {
        let options = options(5, 10);
        if !name.needs_gradients() {
            let with = run(&case, name, &options, Access::Gradients, None);
            let without = run(&case, name, &options, Access::Outputs, None);
            assert!(with.found == without.found, "{}", name.name());
            continue;
        }
        let calls = Calls::default();
        let ingredients = Ingredients {
            model: ModelAccess::Outputs(&case.fnn),
            domain: &case.domain,
            objective: case.objective,
            step_global: 1,
            step_local: 1,
            tuning: &tuning(),
            rank: None,
            seed: 1,
        };
        let work = Run {
            case: &case,
            model: &case.fnn,
            calls: &calls,
            options: &options,
            stop_every: None,
        };
        let Err(error) = with_strategy(name, &ingredients, work) else {
            panic!("{} without gradients", name.name());
        };
        let message = error.to_string();
        assert!(
            message.contains(name.name()) && message.contains("adf-zero-order"),
            "{message}"
        );
    }
}

/// The stopping rule of themis: the score's interval is as narrow as asked, and holds the true
/// share.
#[test]
fn themis_stops_when_the_score_is_known() {
    struct Score<'a>(Run<'a>);
    impl WithStrategy for Score<'_> {
        type Output = (f64, [f64; 2], u64);

        fn with<S: Strategy>(self, strategy: &S) -> Self::Output {
            let run = self.0;
            let seeds = strategy.own_seeds(run.case.seeds).unwrap();
            let mut state: SearchState<S::Memory, S::Shared> = SearchState::new(seeds, 2);
            let search = Search {
                model: run.model,
                reference: None,
                domain: &run.case.domain,
                strategy,
                calls: run.calls,
                options: run.options,
            };
            search
                .run(&mut state, &mut |_| ControlFlow::Continue(()))
                .unwrap();
            let score = strategy.causal_discrimination(state.learnt()).unwrap();
            assert!(score.is_reached);
            (score.score, score.interval, score.sampled)
        }
    }
    let case = Case::synthetic(8, &["sex"]);
    let truth = {
        let hits = (0..40_000)
            .filter(|&item| {
                crate::random_audit::is_discriminatory(
                    &case,
                    &crate::random_audit::seed_row(&case, item),
                )
            })
            .count();
        hits as f64 / 40_000.0
    };
    let mut before = 0;
    for error_bound in [0.05, 0.02, 0.01] {
        let calls = Calls::default();
        let tuning = Tuning {
            confidence: 0.9999,
            error_bound,
            ..Tuning::default()
        };
        let ingredients = Ingredients {
            model: ModelAccess::Outputs(&case.fnn),
            domain: &case.domain,
            objective: case.objective,
            step_global: 1,
            step_local: 1,
            tuning: &tuning,
            rank: None,
            seed: 5,
        };
        let work = Score(Run {
            case: &case,
            model: &case.fnn,
            calls: &calls,
            options: &options(10, 0),
            stop_every: None,
        });
        let (score, [low, high], sampled) =
            with_strategy(StrategyName::Themis, &ingredients, work).unwrap();
        assert!(high - low <= 2.0 * error_bound);
        // The truth itself is known to four standard errors, at most 0.01.
        assert!(low - 0.01 < truth && truth < high + 0.01, "{score} {truth}");
        assert!(sampled >= 1000 && sampled > before);
        before = sampled;
    }
}
