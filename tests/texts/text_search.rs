//! The searches on texts, over small random networks: whatever they report is real, stays within
//! its limits, and depends neither on batches nor on interruptions.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use probity::fairness::calls::{Calls, CountedModel};
use probity::fairness::check::{Wanted, check_all, check_until_flip};
use probity::fairness::distinct::Mark;
use probity::fairness::domain::Domain;
use probity::fairness::estimate::discriminatory_share;
use probity::fairness::model_under_test::ModelAccess;
use probity::fairness::search::{Ending, Phase, Search, SearchOptions, SearchState};
use probity::fairness::strategies::StrategyName;
use probity::fairness::text::domain::{TextDomain, text_of};
use probity::fairness::text::exchange_counts::count_exchanges;
use probity::fairness::text::limits::{Limits, Similarity, changed};
use probity::fairness::text::source::Source;
use probity::fairness::text::strategy::{Candidates, Steps, TextMemory, TextStrategy, Vectors};
use probity::fairness::text::terms::{Term, Terms};
use probity::nn::{Classifier, Differentiable, ModelError, Objective, Rows, predicted_class};
use probity::run::stream::{Purpose, stream};
use rand::RngExt;

const WORDS: usize = 60;
const DIMENSION: usize = 4;
const WIDTH: usize = 14;
const HIDDEN: usize = 6;

/// A network whose answer hangs on the places of words as well: tanh units over position-weighted
/// sums of word vectors.
struct Toy {
    vectors: Vec<f32>,
    inner: Vec<f32>,
    outer: Vec<f32>,
}

impl Toy {
    fn new(seed: u64) -> Toy {
        let mut stream = stream(seed, Purpose::Weights, 0, 0);
        let mut draw = |count: usize, scale: f32| -> Vec<f32> {
            (0..count)
                .map(|_| scale * (stream.random::<f32>() - 0.5))
                .collect()
        };
        Toy {
            vectors: draw(WORDS * DIMENSION, 2.0),
            inner: draw(HIDDEN * DIMENSION, 2.5),
            outer: draw(2 * HIDDEN, 2.0),
        }
    }

    fn place(position: usize) -> f32 {
        1.0 / (1.0 + 0.3 * position as f32)
    }

    fn hidden(&self, row: &[i32]) -> Vec<f32> {
        (0..HIDDEN)
            .map(|unit| {
                let weights = &self.inner[unit * DIMENSION..(unit + 1) * DIMENSION];
                let sum: f32 = text_of(row)
                    .iter()
                    .enumerate()
                    .map(|(position, &word)| {
                        let word = word as usize * DIMENSION;
                        let vector = &self.vectors[word..word + DIMENSION];
                        let along: f32 = weights.iter().zip(vector).map(|(w, v)| w * v).sum();
                        Toy::place(position + unit) * along
                    })
                    .sum();
                sum.tanh()
            })
            .collect()
    }
}

impl Classifier for Toy {
    fn width(&self) -> usize {
        1 + WIDTH
    }

    fn classes(&self) -> usize {
        2
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        Ok(rows
            .iter()
            .flat_map(|row| {
                let hidden = self.hidden(row);
                [0, 1].map(|class| {
                    let weights = &self.outer[class * HIDDEN..(class + 1) * HIDDEN];
                    weights.iter().zip(&hidden).map(|(w, h)| w * h).sum::<f32>()
                })
            })
            .collect())
    }
}

impl Differentiable for Toy {
    fn features(&self) -> usize {
        WIDTH * DIMENSION
    }

    fn input_gradients(&self, rows: Rows<'_>, cotangents: &[f32]) -> Result<Vec<f32>, ModelError> {
        let mut gradients = Vec::new();
        for (row, cotangent) in rows.iter().zip(cotangents.chunks_exact(2)) {
            let hidden = self.hidden(row);
            let mut gradient = vec![0.0; WIDTH * DIMENSION];
            for (unit, h) in hidden.iter().enumerate() {
                let outer =
                    cotangent[0] * self.outer[unit] + cotangent[1] * self.outer[HIDDEN + unit];
                for position in 0..text_of(row).len() {
                    for d in 0..DIMENSION {
                        gradient[position * DIMENSION + d] += outer
                            * (1.0 - h * h)
                            * Toy::place(position + unit)
                            * self.inner[unit * DIMENSION + d];
                    }
                }
            }
            gradients.extend(gradient);
        }
        Ok(gradients)
    }
}

/// Words 0–4 and "5 6" are one attribute, 7/8 a pair of another.
fn terms() -> Vec<Term> {
    let mut terms: Vec<Term> = (0..6)
        .map(|value: u32| Term {
            attribute: 0,
            value,
            spelled: value.to_string(),
            tokens: if value == 5 {
                vec![5, 6]
            } else {
                vec![value as i32]
            },
            others: (0..6).filter(|&other| other != value).collect(),
        })
        .collect();
    for (own, other) in [(7, 7), (8, 6)] {
        terms.push(Term {
            attribute: 1,
            value: own as u32 - 1,
            spelled: own.to_string(),
            tokens: vec![own],
            others: vec![other],
        });
    }
    terms
}

struct Case {
    model: Toy,
    domain: TextDomain,
    seeds: Vec<Vec<i32>>,
    steps: Steps,
    number: u64,
}

impl Case {
    fn new(number: u64) -> Case {
        let model = Toy::new(number);
        let mut stream = stream(number, Purpose::Synthetic, 0, 0);
        let seeds: Vec<Vec<i32>> = (0..25)
            .map(|_| {
                let length = stream.random_range(3..WIDTH);
                let mut text: Vec<i32> = (0..length)
                    .map(|_| stream.random_range(9..WORDS as i32))
                    .collect();
                for _ in 0..stream.random_range(1..3) {
                    let place = stream.random_range(0..length);
                    text[place] = [0, 1, 2, 3, 4, 7, 8][stream.random_range(0..7)];
                }
                text
            })
            .collect();
        // Neighbours on a ring of the free words; two words have none.
        let free = 9..WORDS as i32 - 2;
        let count = free.len() as i32;
        let candidates = Candidates::new((0..WORDS as i32).map(|word| {
            if free.contains(&word) {
                let on_ring = |step: i32| 9 + (word - 9 + step).rem_euclid(count);
                [1, -1, 2, -2, 3].map(on_ring).to_vec()
            } else {
                Vec::new()
            }
        }));
        let terms = Terms::new(terms());
        let sources = seeds.iter().map(|text| {
            let mut source = Source::new(text.clone(), terms.sites(text), Vec::new());
            source.rank(&[0.1, 0.3, 0.2, 0.0, 0.9, 0.5, 0.0, 0.0]);
            source
        });
        let inputs = (0..seeds.len() as u32).collect();
        let domain = TextDomain::new(WIDTH, Arc::new(sources.collect()), Arc::new(inputs)).unwrap();
        Case {
            model,
            domain,
            seeds,
            steps: Steps::Words(candidates),
            number,
        }
    }

    fn strategy<'a>(&'a self, name: StrategyName, limits: Limits<'a>) -> TextStrategy<'a> {
        TextStrategy {
            global: name,
            local: name,
            model: ModelAccess::Gradients(&self.model),
            domain: &self.domain,
            steps: &self.steps,
            vectors: Vectors {
                values: &self.model.vectors,
                dimension: DIMENSION,
            },
            objective: Objective::Margin,
            limits,
            rank: None,
            seed: self.number,
        }
    }

    fn no_limits(&self) -> Limits<'_> {
        Limits {
            seeds: &self.seeds,
            max_changed: None,
            min_fluency: None,
            min_similarity: None,
        }
    }

    fn start(&self) -> SearchState<TextMemory> {
        SearchState::new(
            (0..self.seeds.len() as u32).map(|seed| self.domain.row(seed)),
            2,
        )
    }

    fn run(&self, strategy: &TextStrategy<'_>, options: &SearchOptions) -> SearchState<TextMemory> {
        let mut state = self.start();
        self.go_on(strategy, options, &mut state, &mut |_| {
            ControlFlow::Continue(())
        });
        state
    }

    fn go_on(
        &self,
        strategy: &TextStrategy<'_>,
        options: &SearchOptions,
        state: &mut SearchState<TextMemory>,
        observe: &mut dyn FnMut(&SearchState<TextMemory>) -> ControlFlow<()>,
    ) -> Ending {
        let search = Search {
            model: &self.model,
            reference: None,
            domain: &self.domain,
            strategy,
            calls: &Calls::default(),
            options,
        };
        search.run(state, observe).unwrap()
    }
}

const ALL: [StrategyName; 5] = [
    StrategyName::AdfAsc,
    StrategyName::AdfHf,
    StrategyName::Asc,
    StrategyName::Hf,
    StrategyName::Rp,
];

/// They, and those that predict and may change several words between two checks.
fn all() -> impl Iterator<Item = StrategyName> {
    let frontiers = [StrategyName::Frontier, StrategyName::FrontierZeroOrder];
    ALL.into_iter().chain(frontiers)
}

fn options() -> SearchOptions {
    SearchOptions {
        max_iter: 6,
        local: 25,
        ..SearchOptions::default()
    }
}

fn pairs(state: &SearchState<TextMemory>) -> Vec<String> {
    state
        .pairs()
        .iter()
        .map(|pair| format!("{pair:?}"))
        .collect()
}

#[test]
fn every_reported_pair_is_real_and_reached_by_neighbours() {
    let mut found = 0;
    for number in 0..40 {
        let case = Case::new(number);
        for name in all() {
            let state = case.run(&case.strategy(name, case.no_limits()), &options());
            assert_eq!(state.phase(), Phase::Done);
            let mut seen = HashSet::new();
            for pair in state.pairs().iter() {
                found += 1;
                let mut other = Vec::new();
                case.domain
                    .write_variant(pair.row, pair.variant as usize, &mut other);
                // Asked alone, both sides have the stated classes, and these differ.
                let class = |row: &[i32]| {
                    predicted_class(&case.model.logits(Rows::new(row, row.len())).unwrap())
                };
                assert_eq!(class(pair.row), pair.label);
                assert_eq!(class(&other), pair.other_label);
                assert_ne!(pair.label, pair.other_label);
                assert_ne!(pair.row, other);
                assert!(seen.insert(pair.row.to_vec()), "the same text twice");
                // Protected tokens are the seed's own, and every other token is reached from the
                // seed's by steps over the ring of neighbours.
                let seed = &case.seeds[pair.seed as usize];
                let text = text_of(pair.row);
                assert_eq!(text.len(), seed.len());
                let start = case.domain.row(pair.seed as u32);
                for (place, (&word, &from)) in text.iter().zip(seed).enumerate() {
                    let has_steps = |row: &[i32]| !case.steps.words(row, place).is_empty();
                    assert!(word == from || (has_steps(&start) && has_steps(pair.row)));
                    assert!(word == from || (from >= 9 && word >= 9));
                }
            }
        }
    }
    assert!(found > 2000, "{found}");
}

#[test]
fn the_walk_changes_one_word_a_step_and_never_returns() {
    let mut moved = 0;
    for number in 0..20 {
        let case = Case::new(number);
        for name in ALL {
            let strategy = case.strategy(name, case.no_limits());
            let options = SearchOptions {
                max_iter: 6,
                local: 0,
                ..options()
            };
            let mut state = case.start();
            // The pairs of the global phase tell at which step a seed was found: it then differs
            // from the seed in at most as many places.
            case.go_on(&strategy, &options, &mut state, &mut |_| {
                ControlFlow::Continue(())
            });
            for pair in state.pairs().iter() {
                let apart = changed(&case.seeds[pair.seed as usize], text_of(pair.row));
                assert!(apart <= pair.step as usize);
                assert_eq!(apart == 0, pair.step == 0, "a walk came back to its seed");
                moved += usize::from(pair.step > 0);
            }
        }
    }
    assert!(moved > 50, "{moved}");
}

#[test]
fn neither_batches_nor_interruptions_matter() {
    for number in 0..6 {
        let case = Case::new(number);
        for name in all() {
            let strategy = case.strategy(name, case.no_limits());
            let whole = case.run(&strategy, &options());
            for batch in [1, 7] {
                let other = case.run(&strategy, &SearchOptions { batch, ..options() });
                assert_eq!(pairs(&whole), pairs(&other), "{name:?}");
            }
            let mut state = case.start();
            while case.go_on(&strategy, &options(), &mut state, &mut |_| {
                ControlFlow::Break(())
            }) == Ending::Interrupted
            {
                let bytes = postcard::to_stdvec(&state).unwrap();
                state = postcard::from_bytes(&bytes).unwrap();
            }
            assert_eq!(pairs(&whole), pairs(&state), "{name:?}");
        }
    }
}

/// What may stand at each place of the seeds: for a third of the places `words` of the ring.
fn places(case: &Case, words: usize) -> Steps {
    let of_seed = |seed: &Vec<i32>| {
        let of_place = |(place, word): (usize, &i32)| {
            let may = *word >= 9 && (place + *word as usize).is_multiple_of(3);
            let from = if may { 9 + (word * 7) % 40 } else { 0 };
            (from..from + words as i32 * i32::from(may)).collect()
        };
        Candidates::new(seed.iter().enumerate().map(of_place))
    };
    let lists = case.seeds.iter().map(of_seed);
    Steps::Places((0..).zip(lists).collect())
}

/// All discriminatory texts that moves lead to from the discriminatory seeds, through
/// discriminatory texts, with at most `most` words changed.
fn reachable(case: &Case, most: usize) -> HashSet<Vec<i32>> {
    let flips = |row: &[i32]| {
        let checks = check_all(&case.model, &case.domain, Rows::new(row, row.len())).unwrap();
        !checks[0].checked.flips.is_empty()
    };
    let mut found: HashSet<Vec<i32>> = HashSet::new();
    for (number, seed) in case.seeds.iter().enumerate() {
        let start = case.domain.row(number as u32);
        let mut open = vec![start.clone()];
        open.retain(|row| flips(row));
        let mut seen: HashSet<Vec<i32>> = open.iter().cloned().collect();
        while let Some(row) = open.pop() {
            found.insert(text_of(&row).to_vec());
            for place in 0..seed.len() {
                for &word in case.steps.words(&row, place) {
                    let mut next = row.clone();
                    next[1 + place] = word;
                    if changed(seed, text_of(&next)) <= most
                        && flips(&next)
                        && seen.insert(next.clone())
                    {
                        open.push(next);
                    }
                }
            }
        }
    }
    found
}

#[test]
fn with_enough_trials_all_that_moves_of_places_lead_to_is_found() {
    let mut beyond = 0;
    for number in 0..8 {
        let mut case = Case::new(number);
        case.steps = places(&case, 3);
        let expected = reachable(&case, 2);
        for name in ALL {
            let limits = Limits {
                max_changed: Some(2),
                ..case.no_limits()
            };
            let mut options = options();
            (options.max_iter, options.local) = (0, 3000);
            let state = case.run(&case.strategy(name, limits), &options);
            let texts = state.pairs().iter().map(|pair| text_of(pair.row).to_vec());
            let found: HashSet<Vec<i32>> = texts.collect();
            // Not `assert_eq`, which would print thousands of texts.
            assert!(
                found == expected,
                "{name:?}: {} of {}",
                found.len(),
                expected.len()
            );
            beyond += found.len() - state.local().starts as usize;
        }
    }
    assert!(beyond > 500, "{beyond}");
}

#[test]
fn a_walker_tries_no_text_twice_while_there_are_others() {
    let mut trials = 0;
    for number in 0..40 {
        let mut case = Case::new(number);
        case.steps = places(&case, 11);
        case.seeds.truncate(1);
        let start = case.domain.row(0);
        let at_place = |place| case.steps.words(&start, place).len();
        // So many that the trials do not try them all.
        if (0..case.seeds[0].len()).map(at_place).sum::<usize>() < 30 {
            continue;
        }
        for name in all() {
            let strategy = case.strategy(name, case.no_limits());
            let mut state = case.start();
            case.go_on(&strategy, &options(), &mut state, &mut |_| {
                ControlFlow::Continue(())
            });
            let tried = state.rows().count(Mark::LocalGenerated);
            assert_eq!(state.local().checks, tried, "{name:?}");
            trials += tried;
        }
    }
    assert!(trials > 500, "{trials}");
}

/// Shares of equal places.
struct Overlap;

impl Similarity for Overlap {
    fn similarity(&self, original: &[i32], text: &[i32]) -> Result<f32, ModelError> {
        Ok(1.0 - changed(original, text) as f32 / original.len() as f32)
    }
}

#[test]
fn limits_hold_for_all_that_is_found_and_cut_something_off() {
    let (mut free, mut limited) = (0, 0);
    for number in 0..10 {
        let case = Case::new(number);
        for name in all() {
            let count = |limits| {
                let state = case.run(&case.strategy(name, limits), &options());
                for pair in state.pairs().iter() {
                    let seed = &case.seeds[pair.seed as usize];
                    let text = text_of(pair.row);
                    assert!(
                        limits
                            .max_changed
                            .is_none_or(|most| changed(seed, text) <= most)
                    );
                    if let Some((least, measure)) = limits.min_similarity {
                        assert!(measure.similarity(seed, text).unwrap() >= least);
                    }
                }
                state.pairs().len()
            };
            free += count(case.no_limits());
            limited += count(Limits {
                max_changed: Some(2),
                ..case.no_limits()
            });
            count(Limits {
                min_similarity: Some((0.75, &Overlap)),
                ..case.no_limits()
            });
        }
    }
    assert!(0 < limited && limited < free, "{limited} {free}");
}

/// Both forms of the check agree for every hint, with variants in ranked order.
#[test]
fn ranked_checks_agree_with_full_ones() {
    let mut flips = 0;
    for number in 0..20 {
        let case = Case::new(number);
        let codes = case.domain.rows();
        let rows = Rows::new(&codes, case.domain.width());
        let full = check_all(&case.model, &case.domain, rows).unwrap();
        for hint in 0..8 {
            let hints = vec![hint; rows.len()];
            let short =
                check_until_flip(&case.model, &case.domain, rows, &hints, Wanted::Logits).unwrap();
            for ((row, full), short) in rows.iter().zip(&full).zip(&short) {
                assert_eq!(full.checked.flips.is_empty(), short.flips.is_empty());
                let hint = hint % case.domain.variants(row) as u32;
                for flip in &short.flips {
                    flips += 1;
                    assert!(full.checked.flips.contains(flip));
                    let is_hint = flip.variant == hint;
                    let is_first = full.checked.flips[0].variant == flip.variant;
                    assert!(
                        is_hint || is_first,
                        "the best rank comes first after the hint"
                    );
                }
            }
        }
    }
    assert!(flips > 100);
}

/// One pass over texts says what checks of each attribute alone and of all say, cut anywhere.
#[test]
fn shares_counted_at_once_are_those_of_each_attribute_and_of_all() {
    let go_on = &mut |_| ControlFlow::Continue(());
    let mut flipped = 0;
    for number in 0..20 {
        let Case { model, domain, .. } = Case::new(number);
        let share = |attributes: Vec<usize>| {
            let names = |text: &&u32| {
                let mut sites = domain.sources()[**text as usize].sites.iter();
                sites.any(|site| attributes.contains(&site.attribute))
            };
            let inputs: Vec<u32> = domain.inputs().iter().filter(names).copied().collect();
            let (texts, only) = (inputs.len() as u64, domain.only(attributes.clone(), inputs));
            let observe = &mut |_| ControlFlow::Continue(());
            let share = discriminatory_share(&model, &only, vec![], texts, 1, observe).unwrap();
            [share.sampled, share.discriminatory]
        };
        let texts = domain.inputs();
        let counts = count_exchanges(&model, (&domain, texts), 1, go_on).unwrap();
        assert_eq!(counts.of_attribute(0), share(vec![0]));
        assert_eq!(counts.of_attribute(1), share(vec![1]));
        assert_eq!(counts.of_all(), share(vec![0, 1]));
        let [done, found] = counts.of_all();
        assert!(counts.is_of(done, found) && !counts.is_of(done + 1, found));
        flipped += found;
        for cut in [0, 1, 11, texts.len()] {
            let (first, rest) = texts.split_at(cut);
            let first = count_exchanges(&model, (&domain, first), 1, go_on).unwrap();
            let rest = count_exchanges(&model, (&domain, rest), 1, go_on).unwrap();
            assert_eq!(first.and(rest).unwrap(), counts);
        }
    }
    assert!(flipped > 100, "{flipped}");
}

/// By predictions more is found for what the model is asked, with gradients and without, and no walk
/// tries a text twice.
#[test]
fn predictions_save_calls() {
    let mut by = [
        StrategyName::AdfAsc,
        StrategyName::Frontier,
        StrategyName::FrontierZeroOrder,
    ]
    .map(|name| (name, 0, 0));
    for number in 0..40 {
        let case = Case::new(2000 + number);
        for (name, found, calls) in &mut by {
            let strategy = case.strategy(*name, case.no_limits());
            let model = &case.model;
            let counter = Calls::default();
            let counted = CountedModel::new(model, &counter);
            let strategy = TextStrategy {
                model: ModelAccess::Gradients(&counted),
                ..strategy
            };
            let search = Search {
                model: &counted,
                reference: None,
                domain: &case.domain,
                strategy: &strategy,
                calls: &counter,
                options: &options(),
            };
            let mut state = case.start();
            let go_on = &mut |_: &SearchState<TextMemory>| ControlFlow::Continue(());
            assert_eq!(search.run(&mut state, go_on).unwrap(), Ending::Complete);
            *found += state.individuals().discriminatory();
            *calls += state.global().model_calls() + state.local().model_calls();
            let gradients = state.global().model_gradients + state.local().model_gradients;
            assert_eq!(gradients == 0, *name == StrategyName::FrontierZeroOrder);
        }
    }
    let [adf, frontier, zero_order] = by.map(|(_, found, calls)| found as f64 / calls as f64);
    assert!(frontier > 1.5 * adf && zero_order > 1.5 * adf, "{by:?}");
}

/// Guided global searches find more than random ones, over many networks.
#[test]
fn gradients_help() {
    let mut found = [0u64; 5];
    for number in 0..60 {
        let case = Case::new(1000 + number);
        for (count, name) in found.iter_mut().zip(ALL) {
            let options = SearchOptions {
                local: 0,
                max_iter: 4,
                ..options()
            };
            let state = case.run(&case.strategy(name, case.no_limits()), &options);
            *count += state.individuals().discriminatory();
        }
    }
    let [adf_asc, adf_hf, asc, hf, rp] = found;
    assert!(
        adf_asc > rp && adf_hf > rp && asc > rp && hf > rp,
        "{found:?}"
    );
}
