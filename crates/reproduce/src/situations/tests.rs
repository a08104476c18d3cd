//! Tests that the published counts are found, where the data are.

use super::*;

fn files(case: &PaperCase) -> Option<Vec<PathBuf>> {
    let data = probity_testing::data(&["situation-testing/LoanApplication_v2.csv.gz"])?;
    Some(case.find(&[data]).unwrap())
}

/// Checks that all counts of `case` for these numbers of neighbours are those of the paper, and
/// returns the discoveries.
fn discoveries_where_equal(case: &PaperCase, neighbours: &[u32]) -> Option<Vec<[u32; 4]>> {
    let applicants = Applicants::read(case.paper.set, &files(case)?).unwrap();
    let mut discoveries = Vec::new();
    let is_wanted = |k: u32| neighbours.contains(&k);
    let watch = |_: u64, _: u64| -> ControlFlow<()> { ControlFlow::Continue(()) };
    let finished = rows(case, applicants, &is_wanted, &watch, &mut |row| {
        assert!(row.pairs().all(|(paper, ours)| paper == ours), "{row:?}");
        discoveries.push(row.discoveries.each());
    });
    assert!(finished.unwrap());
    assert_eq!(discoveries.len(), neighbours.len());
    Some(discoveries)
}

#[test]
fn the_counts_of_the_loan_application_are_the_papers() {
    let Some(discoveries) = discoveries_where_equal(&CASES[0], &[15, 30, 50, 100, 250]) else {
        return;
    };
    let first: Vec<[u32; 3]> = discoveries.iter().map(|it| [it[0], it[1], it[2]]).collect();
    assert_eq!(
        first,
        [
            [17, 250, 252],
            [29, 281, 282],
            [37, 309, 312],
            [56, 355, 358],
            [108, 501, 506]
        ]
    );
}

/// For k = 380 they are not, where columns are summed up in another order.
#[test]
fn the_counts_of_the_law_school_are_the_papers() {
    discoveries_where_equal(&CASES[3], &[1, 380]);
    discoveries_where_equal(&CASES[2], &[15]);
}

#[test]
fn whoever_stops_the_work_gets_what_is_there() {
    let Some(files) = files(&CASES[0]) else {
        return;
    };
    let applicants = Applicants::read(CASES[0].paper.set, &files).unwrap();
    let watch = |_: u64, _: u64| -> ControlFlow<()> { ControlFlow::Break(()) };
    let finished = rows(&CASES[0], applicants, &|_| true, &watch, &mut |_| {});
    assert!(!finished.unwrap());
}
