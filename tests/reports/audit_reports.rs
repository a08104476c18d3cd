//! Everything that an audit reports holds when looked at pair by pair and counted by hand.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::sync::Mutex;

use crate::random_audit::{Case, cases, holds_what_it_reports, options, without_protected};
use probity::fairness::adf::{Adf, AdfMemory};
use probity::fairness::distinct::{Mark, MarkCounts};
use probity::fairness::domain::Domain;
use probity::fairness::strategy::{GlobalStep, LocalWalker, Strategy};
use probity::nn::ModelError;

/// Dozens of random networks, protected sets, objectives and step sizes: every reported pair holds,
/// and every count is the count of what is there.
#[test]
fn every_report_of_random_audits_holds() {
    let (mut found, mut local) = (0, 0);
    for number in 0..60 {
        let case = Case::random(number);
        let options = options(number as u32 % 12, number as u32 % 17);
        let state = case.run(&options);
        assert!(state.global().checks <= case.seeds as u64 * (u64::from(options.max_iter) + 1));
        assert_eq!(
            state.local().steps,
            state.local().starts * u64::from(options.local)
        );
        assert!(state.local().checks <= state.local().steps);
        holds_what_it_reports(&case, &state);
        found += state.pairs().len();
        local += state.local().checks;
    }
    // The cases are not empty ones.
    assert!(found > 1000 && local > 2000, "{found} {local}");
}

/// The counts are a plain recount of the inputs that the strategy went to.
#[test]
fn counts_are_a_plain_recount() {
    for case in cases().into_iter().chain((0..12).map(Case::random)) {
        let watched = Watched {
            inner: case.strategy(),
            global: Mutex::new(Vec::new()),
            local: Mutex::new(Vec::new()),
        };
        let mut state = case.start();
        case.run_by(&watched, &options(6, 15), &mut state, &mut |_| {
            ControlFlow::Continue(())
        });
        let mut global = watched.global.into_inner().unwrap();
        global.extend((0..case.seeds as u64).map(|item| case.domain.random_input(case.seed, item)));
        let local = watched.local.into_inner().unwrap();
        assert_eq!(
            state.global().checks,
            global.len() as u64,
            "one check a place"
        );
        assert_eq!(state.local().checks, local.len() as u64);
        assert_eq!(
            state.global().steps + case.seeds as u64,
            global.len() as u64
        );
        let people = |rows: &[Vec<i32>]| -> HashSet<Vec<i32>> {
            rows.iter()
                .map(|row| without_protected(&case, row))
                .collect()
        };
        let recount = |set: &MarkCounts, global: &HashSet<Vec<i32>>, local: &HashSet<Vec<i32>>| {
            assert_eq!(set.count(Mark::GlobalGenerated), global.len() as u64);
            assert_eq!(set.count(Mark::LocalGenerated), local.len() as u64);
            assert_eq!(set.len(), global.union(local).count() as u64);
        };
        recount(state.individuals(), &people(&global), &people(&local));
        let (global, local) = (global.into_iter().collect(), local.into_iter().collect());
        recount(state.rows(), &global, &local);
    }
}

/// ADF, with a list of the places that it went to.
struct Watched<'a> {
    inner: Adf<'a>,
    global: Mutex<Vec<Vec<i32>>>,
    local: Mutex<Vec<Vec<i32>>>,
}

impl Strategy for Watched<'_> {
    type Memory = AdfMemory;
    type Shared = ();

    fn is_memory(&self, memory: &AdfMemory, row: &[i32]) -> bool {
        self.inner.is_memory(memory, row)
    }

    fn is_learnt(&self, shared: &()) -> bool {
        self.inner.is_learnt(shared)
    }

    fn name(&self) -> &'static str {
        "watched"
    }

    fn global_moves(
        &self,
        shared: &(),
        walkers: &mut [GlobalStep<'_, AdfMemory>],
    ) -> Result<(), ModelError> {
        self.inner.global_moves(shared, walkers)?;
        let mut seen = self.global.lock().unwrap();
        seen.extend(walkers.iter().map(|walker| walker.row.clone()));
        Ok(())
    }

    fn local_moves(
        &self,
        shared: &(),
        trial: u32,
        walkers: &mut [LocalWalker<AdfMemory>],
    ) -> Result<(), ModelError> {
        self.inner.local_moves(shared, trial, walkers)?;
        let mut seen = self.local.lock().unwrap();
        let moved = walkers
            .iter()
            .filter(|walker| walker.candidate != walker.position().row);
        seen.extend(moved.map(|walker| walker.candidate.clone()));
        Ok(())
    }
}
