//! Spending, concurrency and tampering.

use super::*;

const BUDGET: Budget = Budget {
    epsilon: 1.0,
    delta: 0.01,
    slack: 0.0,
};

fn data() -> LedgerData {
    LedgerData {
        file: "d.csv".to_owned(),
        sha256: "ab".to_owned(),
    }
}

fn query(epsilon: f64) -> Charge {
    Charge {
        sha256: "ab".to_owned(),
        mechanism: "count".to_owned(),
        cost: Cost::approximate(epsilon, 0.0),
        not_private: false,
    }
}

#[test]
fn a_budget_is_spent_once() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("budget.toml");
    assert!(matches!(
        charge(&file, query(0.1)),
        Err(LedgerError::Missing { .. })
    ));
    assert!(matches!(read(&file), Err(LedgerError::Missing { .. })));
    declare(&file, data(), BUDGET).unwrap();
    assert!(matches!(
        declare(&file, data(), BUDGET),
        Err(LedgerError::Exists { .. })
    ));
    for _ in 0..10 {
        charge(&file, query(0.1)).unwrap();
    }
    let before = fs::read(&file).unwrap();
    assert!(matches!(
        charge(&file, query(0.001)),
        Err(LedgerError::Spent { .. })
    ));
    let other = Charge {
        sha256: "cd".to_owned(),
        ..query(0.0)
    };
    assert!(matches!(
        charge(&file, other),
        Err(LedgerError::OtherData { .. })
    ));
    assert_eq!(fs::read(&file).unwrap(), before);
    let ledger = read(&file).unwrap();
    assert_eq!(ledger.queries.len(), 10);
    assert!(ledger.remaining().epsilon < 1e-12);
}

#[test]
fn charges_at_the_same_time_are_all_counted() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("budget.toml");
    declare(&file, data(), BUDGET).unwrap();
    let admitted: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    (0..10)
                        .filter(|_| charge(&file, query(0.05)).is_ok())
                        .count()
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(admitted, 20);
    assert_eq!(read(&file).unwrap().queries.len(), 20);
}

#[test]
fn a_ledger_that_was_tampered_with_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("budget.toml");
    declare(&file, data(), BUDGET).unwrap();
    charge(&file, query(0.5)).unwrap();
    let text = fs::read_to_string(&file).unwrap();
    for (from, to) in [
        ("epsilon = 0.5", "epsilon = -0.5"),
        ("epsilon = 0.5", "epsilon = nan"),
        ("format = 1", "format = 2"),
        ("rho = 0.125", ""),
        ("mechanism", "machination"),
    ] {
        assert!(text.contains(from), "{text}");
        fs::write(&file, text.replacen(from, to, 1)).unwrap();
        assert!(
            matches!(read(&file), Err(LedgerError::Foreign { .. })),
            "{to}"
        );
    }
    fs::write(&file, &text[..text.len() / 2]).unwrap();
    assert!(charge(&file, query(0.1)).is_err());
}
