//! Who proposes is no part of a model: fits, deletions and assignments on any devices give the
//! bytes of the reference.
//!
//! Many small cases have flex stand for a device, which is asked however little there is to do; two
//! larger ones ask every device that answers.

use probity_run::stream::{Purpose, Words};
use probity_tensor::device::ComputeDevice;
use probity_tensor::proposer::Proposer;
use probity_testing::devices;
use probity_unlearning::kmeans::mixture::mixture;
use probity_unlearning::kmeans::points::ONE;
use probity_unlearning::kmeans::{Algorithm, KMeans, Model, Points, Tree, nearest};
use probity_unlearning::spn::{Dataset, Domain, Independence, LeafFamily, Spn, SpnParameters};
use probity_unlearning::spn::{SpnError, Variable};

/// Numbers drawn one after the other, from the number of a case alone.
struct Draw {
    words: Words,
    at: u64,
}

impl Draw {
    fn new(case: u64) -> Draw {
        Draw {
            words: Words::new(7, Purpose::Mixture, &[case]),
            at: 0,
        }
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.at += 1;
        self.words.below(bound, self.at)
    }

    /// Some of the ids, in the order of `ids`.
    fn some(&mut self, ids: &[u64], most: u64) -> Vec<u64> {
        let start = self.below(ids.len() as u64) as usize;
        let count = 1 + self.below(most) as usize;
        ids[start..ids.len().min(start + count)].to_vec()
    }
}

/// The reference alone, and a device beside it.
fn proposers() -> [Proposer; 2] {
    [
        Proposer::default(),
        Proposer::always(&ComputeDevice::flex()),
    ]
}

/// Rows with ties and near-ties: binary, on a grid, a unit of the last place apart, or anywhere.
fn rows(draw: &mut Draw) -> Points {
    let (rows, columns) = (12 + draw.below(60) as usize, 1 + draw.below(40) as usize);
    let style = draw.below(4);
    let values = (0..rows * columns).map(|_| match style {
        0 => draw.below(2) as i32 * ONE,
        1 => draw.below(4) as i32 * (ONE / 4),
        2 => draw.below(3) as i32 * (ONE / 3) + draw.below(3) as i32,
        _ => draw.below(ONE as u64 + 1) as i32,
    });
    let values = values.collect();
    Points::new((1..=rows as u64).collect(), values, columns).unwrap()
}

#[test]
fn clusterings_are_the_same_bytes_whoever_proposes() {
    for case in 0..160 {
        let draw = &mut Draw::new(case);
        let points = rows(draw);
        let algorithm = match case % 3 {
            0 => Algorithm::Lloyd,
            1 => Algorithm::default(),
            _ => Algorithm::DivideConquer {
                tree: "1x2x2".parse::<Tree>().unwrap(),
            },
        };
        let kmeans = KMeans::new(1 + draw.below(4) as usize)
            .algorithm(algorithm)
            .restarts(1 + draw.below(2) as usize)
            .seed(case);
        let ids: Vec<u64> = (1..=points.len() as u64).collect();
        let deleted = draw.some(&ids[..ids.len() - 5], 4);
        let remaining = points.without(&deleted).unwrap();
        let expected = kmeans.fit(&remaining).unwrap().to_bytes().unwrap();
        for fitted_on in proposers() {
            let fitted = Model::fit(points.clone().on(&fitted_on), &kmeans).unwrap();
            for deleted_on in proposers() {
                let mut model = fitted.clone().on(&deleted_on);
                model.delete(&deleted).unwrap();
                assert!(model.to_bytes().unwrap() == expected, "case {case}");
                let centroids = fitted.centroids();
                assert_eq!(
                    nearest(&remaining.clone().on(&deleted_on), centroids),
                    nearest(&remaining, centroids),
                    "case {case}"
                );
            }
            let retrained = fitted.clone().on(&fitted_on).retrained_on(&points).unwrap();
            assert!(retrained.to_bytes().unwrap() == fitted.to_bytes().unwrap());
        }
    }
}

/// Ordered columns and categories, dependent and not, from two populations.
fn table(draw: &mut Draw) -> Result<Dataset, SpnError> {
    let levels = |count: usize| Domain::Categorical {
        levels: (0..count).map(|level| level.to_string()).collect(),
    };
    let domains = [
        (levels(2), LeafFamily::Categorical),
        (levels(5), LeafFamily::Categorical),
        (Domain::Integer { min: 0, max: 30 }, LeafFamily::Histogram),
        (
            Domain::Real {
                edges: vec![0.0, 0.25, 0.5, 1.0],
            },
            LeafFamily::Gaussian,
        ),
    ];
    let width = 2 + draw.below(5) as usize;
    let chosen: Vec<usize> = (0..width).map(|_| draw.below(4) as usize).collect();
    let variables = chosen.iter().enumerate().map(|(at, &kind)| {
        let (domain, family) = domains[kind].clone();
        Variable::new(format!("v{at}"), domain, family)
    });
    let variables = variables.collect::<Result<Vec<Variable>, SpnError>>()?;
    let rows = 30 + draw.below(60);
    let mut values = Vec::new();
    for _ in 0..rows {
        let population = draw.below(2);
        for kind in &chosen {
            let share = (population * 40 + draw.below(61)) as f64 / 100.0;
            values.push(match kind {
                0 => share.round(),
                1 => (share * 4.0).round(),
                2 => (share * 30.0).round(),
                _ => share,
            });
        }
    }
    let ids: Vec<u64> = (1..=rows).collect();
    Dataset::new(variables, &ids, &[], &values)
}

#[test]
fn networks_are_the_same_bytes_whoever_computes_their_sums() {
    for case in 0..80 {
        let draw = &mut Draw::new(1000 + case);
        let data = table(draw).unwrap();
        let parameters = SpnParameters::default()
            .seed(case)
            .min_rows(4 + draw.below(8) as usize)
            .clusters(2 + draw.below(3) as u8)
            .bins(2 + draw.below(7) as u16);
        let parameters = match case % 5 {
            0 => parameters.choice_rows(25),
            1 => parameters.independence(Independence::Rdc),
            _ => parameters.threshold(0.05),
        };
        let ids: Vec<u64> = (1..=data.rows() as u64).collect();
        let deleted = draw.some(&ids[..ids.len() - 5], 4);
        let mut expected = Spn::learn(parameters, data.clone()).unwrap();
        let learnt = expected.to_bytes().unwrap();
        expected.delete(&deleted).unwrap();
        let retrained = expected.retrained().unwrap().to_bytes().unwrap();
        assert!(expected.to_bytes().unwrap() == retrained, "case {case}");
        for learnt_on in proposers() {
            for deleted_on in proposers() {
                let spn = Spn::learn(parameters, data.clone().on(&learnt_on)).unwrap();
                assert!(spn.to_bytes().unwrap() == learnt, "case {case}");
                let mut spn = spn.on(&deleted_on);
                spn.delete(&deleted).unwrap();
                assert!(spn.to_bytes().unwrap() == retrained, "case {case}");
                let anew = spn.retrained().unwrap().to_bytes().unwrap();
                assert!(anew == retrained, "case {case}");
            }
        }
    }
}

/// Every device, and flex among them, proposes however little there is to do.
fn every_proposer() -> Vec<Proposer> {
    let all = std::iter::once(ComputeDevice::flex()).chain(devices());
    all.map(|device| Proposer::always(&device)).collect()
}

#[test]
fn clusterings_are_the_same_bytes_on_every_device() {
    let (points, _) = mixture(700, 30, 4, 1).unwrap();
    for algorithm in [
        Algorithm::Lloyd,
        Algorithm::default(),
        Algorithm::DivideConquer {
            tree: Tree::default(),
        },
    ] {
        let options = KMeans::new(5).algorithm(algorithm).restarts(2);
        let fitted = options.fit(&points).unwrap();
        let mut deleted = fitted.clone();
        deleted.delete(&[3, 17, 400]).unwrap();
        for proposer in every_proposer() {
            let mut model = Model::fit(points.clone().on(&proposer), &options).unwrap();
            assert!(model.to_bytes().unwrap() == fitted.to_bytes().unwrap());
            assert_eq!(model.assignment(), fitted.assignment());
            model.delete(&[3, 17, 400]).unwrap();
            assert!(model.to_bytes().unwrap() == deleted.to_bytes().unwrap());
        }
    }
}

#[test]
fn networks_are_the_same_bytes_on_every_device() {
    let domains = [
        Domain::Integer { min: 0, max: 40 },
        Domain::Categorical {
            levels: ["a", "b", "c"].map(str::to_owned).to_vec(),
        },
        Domain::Real {
            edges: vec![0.0, 10.0, 20.0, 60.0],
        },
    ];
    let variables = domains.into_iter().cycle().take(6).enumerate();
    let variables = variables.map(|(at, domain)| {
        let family = match domain {
            Domain::Categorical { .. } => LeafFamily::Categorical,
            _ => LeafFamily::Histogram,
        };
        Variable::new(format!("v{at}"), domain, family).unwrap()
    });
    let rows = 900;
    let value = |row: u64, column: u64| match column % 3 {
        1 => (row * 7 / 3 + column) % 3,
        _ => (row * (5 + column) / 4 + row % 2 * 11) % 40,
    };
    let values: Vec<f64> = (0..rows)
        .flat_map(|row| (0..6).map(move |column| value(row, column) as f64))
        .collect();
    let ids: Vec<u64> = (0..rows).collect();
    let data = Dataset::new(variables.collect(), &ids, &[], &values).unwrap();
    let learn = |data: Dataset| Spn::learn(SpnParameters::default().min_rows(30), data).unwrap();
    let learnt = learn(data.clone()).to_bytes().unwrap();
    for proposer in every_proposer() {
        let mut spn = learn(data.clone().on(&proposer));
        assert!(spn.to_bytes().unwrap() == learnt);
        spn.delete(&[5, 600]).unwrap();
        let anew = spn.retrained().unwrap().on(&Proposer::default());
        assert!(spn.to_bytes().unwrap() == anew.to_bytes().unwrap());
    }
}
