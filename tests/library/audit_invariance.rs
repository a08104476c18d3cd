//! What an audit finds does not depend on how it is computed: not on the batch size, the threads,
//! or where it was interrupted.

use std::ops::ControlFlow;

use crate::random_audit::{Case, Found, State, cases, holds_what_it_reports, options};
use probity::fairness::check::check_all;
use probity::fairness::distinct::Mark;
use probity::fairness::domain::Domain;
use probity::fairness::estimate::discriminatory_share;
use probity::fairness::search::{Ending, Phase, SearchOptions, SearchState};
use probity::nn::Rows;
use rayon::ThreadPoolBuilder;

/// Results are identical for batch sizes 1, 7 and 4,096 and for 1 and 2 threads.
#[test]
fn neither_batch_nor_threads_matter() {
    for case in cases() {
        let mut found = Vec::new();
        for threads in [1, 2, 3] {
            let pool = ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            for batch in [1, 7, 4096] {
                let options = SearchOptions {
                    batch,
                    ..options(10, 30)
                };
                let (state, share) = pool.install(|| {
                    let share =
                        discriminatory_share(&case.fnn, &case.domain, vec![], 3000, 1, &mut |_| {
                            ControlFlow::Continue(())
                        });
                    (case.run(&options), share.unwrap())
                });
                found.push((Found::of(&state), share));
            }
        }
        assert!(found[0].0.counts[5] > 20, "{:?}", found[0].0.counts);
        for other in &found[1..] {
            assert!(
                found[0] == *other,
                "{:?} {:?}",
                found[0].0.counts,
                other.0.counts
            );
        }
    }
}

/// A search that is stopped after every k-th round, saved, read back and taken up again ends as one
/// that was never stopped.
#[test]
fn interruptions_do_not_matter() {
    for case in cases() {
        let options = options(10, 30);
        let whole = Found::of(&case.run(&options));
        for every in [1, 3, 8] {
            let mut state = case.start();
            let mut rounds = 0;
            let mut stops = 0;
            loop {
                let ending = case.go_on(&options, &mut state, &mut |_| {
                    rounds += 1;
                    if rounds % every == 0 {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                });
                if ending == Ending::Complete {
                    break;
                }
                assert_eq!(ending, Ending::Interrupted);
                stops += 1;
                let saved = postcard::to_stdvec(&state).unwrap();
                state = postcard::from_bytes(&saved).unwrap();
            }
            assert!(stops >= 30 / every, "{stops}");
            assert!(whole == Found::of(&state), "every {every}");
        }
    }
}

/// What `observe` saw before it stopped the search is still there, and verifies.
#[test]
fn a_stopped_search_keeps_what_it_found() {
    let case = Case::synthetic(3, &["sex", "origin"]);
    let whole = case.run(&options(10, 30));
    for stop_after in [1, 2, 5, 20] {
        let mut state = case.start();
        let mut seen = 0;
        let mut rounds = 0;
        let ending = case.go_on(&options(10, 30), &mut state, &mut |state| {
            assert!(state.pairs().len() >= seen, "pairs are never lost");
            seen = state.pairs().len();
            rounds += 1;
            if rounds == stop_after {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        assert_eq!(ending, Ending::Interrupted);
        assert_eq!(state.pairs().len(), seen);
        let first: Vec<_> = whole.pairs().iter().take(seen).collect();
        assert!(state.pairs().iter().eq(first), "the beginning of the whole");
        holds_what_it_reports(&case, &state);
    }
}

/// `max_found` is met exactly, in either phase, and the pairs are the first ones of the whole
/// search.
#[test]
fn max_found_is_exact() {
    let case = Case::synthetic(8, &["sex"]);
    let whole = case.run(&options(10, 30));
    let (all, global) = (
        whole.individuals().discriminatory(),
        whole.individuals().count(Mark::GlobalDiscriminatory),
    );
    assert!(1 < global && global + 5 < all, "{global} {all}");
    for enough in [1, 2, global - 1, global, global + 1, global + 5, all] {
        let options = SearchOptions {
            max_found: Some(enough),
            ..options(10, 30)
        };
        let state = case.run(&options);
        assert_eq!(state.individuals().discriminatory(), enough);
        let pairs = state.pairs().len();
        assert!(
            state.pairs().iter().eq(whole.pairs().iter().take(pairs)),
            "{enough}"
        );
        holds_what_it_reports(&case, &state);
    }
    let unreachable = SearchOptions {
        max_found: Some(all + 1),
        ..options(10, 30)
    };
    assert!(Found::of(&case.run(&unreachable)) == Found::of(&whole));
}

/// No local trial, no global move, no seed at all: nothing fails, and nothing is invented.
#[test]
fn empty_phases() {
    let case = Case::synthetic(3, &["sex", "origin"]);
    let unmoved = case.run(&options(0, 0));
    assert_eq!(unmoved.phase(), Phase::Done);
    assert_eq!(unmoved.global().checks, 60);
    assert_eq!((unmoved.global().steps, unmoved.local().steps), (0, 0));
    let mut discriminatory = 0;
    for item in 0..60 {
        let row = case.domain.random_input(case.seed, item);
        let check = check_all(&case.fnn, &case.domain, Rows::new(&row, row.len())).unwrap();
        discriminatory += usize::from(!check[0].checked.flips.is_empty());
    }
    assert_eq!(unmoved.pairs().len(), discriminatory);
    let global_only = case.run(&options(10, 0));
    assert_eq!(global_only.local().checks, 0);
    assert!(global_only.pairs().len() >= discriminatory);
    let mut nobody: State = SearchState::new(Vec::new(), 2);
    let ending = case.go_on(&options(10, 10), &mut nobody, &mut |_| {
        ControlFlow::Continue(())
    });
    assert_eq!(ending, Ending::Complete);
    assert!(nobody.pairs().is_empty() && nobody.individuals().is_empty());
    let no_time = SearchOptions {
        time: Some(std::time::Duration::ZERO),
        ..options(10, 10)
    };
    assert_eq!(case.run(&no_time).global().checks, 0);
}
