use super::*;
use probity_run::specification::file::to_toml;

fn subspaces() -> SubspacesSpecification {
    SubspacesSpecification {
        data: "d.csv".into(),
        columns: vec!["x".into(), "y".into()],
        radius: 0.5,
        k: 3,
        dims: 1,
        top: 1,
        epsilon: 2.0,
        delta: None,
        then_count: false,
        count_share: None,
        ledger: "budget.toml".into(),
        not_private_seed: Some(7),
        table: TableSpecification::default(),
        noise: CountOptions::default(),
    }
}

#[test]
fn the_seed_of_the_noise_is_never_written() {
    let text = to_toml(&subspaces(), None).unwrap();
    assert!(!text.contains("seed"), "{text}");
    let read: SubspacesSpecification =
            toml::from_str("data = 'd'\ncolumns = ['x']\nradius = 1.0\nk = 1\ndims = 1\ntop = 1\nepsilon = 1.0\nledger = 'l'\nnot_private_seed = 7").unwrap();
    assert_eq!(read.not_private_seed, Some(7));
}

#[test]
fn what_only_counts_have_is_refused_without_them() {
    let field = |query: SubspacesSpecification| query.check().unwrap_err().field;
    assert!(subspaces().check().is_ok());
    let noise = CountOptions::default().confidence(0.9);
    let (delta, then_count) = (Some(0.1), true);
    assert_eq!(
        field(SubspacesSpecification {
            delta,
            ..subspaces()
        }),
        "delta"
    );
    assert_eq!(
        field(SubspacesSpecification {
            then_count,
            ..subspaces()
        }),
        "delta"
    );
    assert_eq!(
        field(SubspacesSpecification {
            noise,
            ..subspaces()
        }),
        "noise"
    );
    let whole = SubspacesSpecification {
        delta,
        then_count,
        noise,
        ..subspaces()
    };
    let (choice, then) = whole.split().unwrap();
    assert_eq!(
        (choice.epsilon, then.unwrap().guarantee.epsilon),
        (1.0, 1.0)
    );
    assert_eq!(whole.clone().resolved().count_share, Some(0.5));
    assert!(whole.check().is_ok());
}
