//! The population of a random sum-product network, against brute force over the whole domain.

use std::path::Path;

use super::*;
use crate::prove::partition::Partition;
use crate::prove::population::{FittedError, of_network};
use probity_unlearning::spn::leaves::Distribution;
use probity_unlearning::spn::network::NetworkNode;
use probity_unlearning::spn::{Domain as Values, LeafFamily, Network as Spn, Variable};

/// The attributes of the schema and the label, in another order.
fn variables() -> Vec<Variable> {
    let words = |words: &[&str]| Values::Categorical {
        levels: words.iter().map(|word| (*word).to_owned()).collect(),
    };
    let whole = |min, max| Values::Integer { min, max };
    let edges = vec![0.0, 1.5, 2.0, 7.0, 9.0];
    [
        ("y", words(&["a", "b", "c"])),
        ("income", Values::Real { edges }),
        ("colour", words(&["grey", "red", "green", "white", "blue"])),
        ("size", whole(-3, 9)),
        ("sex", words(&["m", "f"])),
        ("rank", words(&["low", "middle", "high"])),
        ("age", whole(0, 2)),
    ]
    .map(|(name, domain)| {
        let family = Variable::usual_family(&domain);
        let family = match domain {
            Values::Real { .. } => LeafFamily::Histogram,
            _ => family,
        };
        Variable::new(name.to_owned(), domain, family).unwrap()
    })
    .into()
}

/// The logarithms of `count` masses that sum to 1.
fn masses(count: usize, draw: &mut Stream) -> Vec<f64> {
    let own: Vec<f64> = (0..count).map(|_| draw.random_range(0.01..1.0)).collect();
    let all: f64 = own.iter().sum();
    own.iter().map(|mass| (mass / all).ln()).collect()
}

fn random_leaf(variable: &Variable, draw: &mut Stream) -> Distribution {
    let (min, range) = variable.range();
    match variable.domain() {
        Values::Categorical { levels } => Distribution::Categorical {
            min: 0.0,
            log_mass: masses(levels.len(), draw),
        },
        Values::Real { edges } => match draw.random() {
            true => Distribution::Gaussian {
                mean: draw.random_range(-2.0..10.0),
                deviation: draw.random_range(0.2..6.0),
            },
            false => Distribution::Histogram {
                whole: false,
                edges: edges.clone(),
                log_mass: masses(edges.len() - 1, draw),
            },
        },
        Values::Integer { .. } => match draw.random_range(0..3) {
            0 => Distribution::Poisson {
                min,
                rate: draw.random_range(0.0..8.0),
            },
            1 => Distribution::Gaussian {
                mean: draw.random_range(min..min + range),
                deviation: draw.random_range(0.3..5.0),
            },
            _ => Distribution::Histogram {
                whole: true,
                edges: vec![min, min + 1.0, min + range + 1.0],
                log_mass: vec![0.3f64.ln(), 0.7f64.ln()],
            },
        },
    }
}

/// Adds a node over `scope`, and what is below it.
fn grow(
    nodes: &mut Vec<NetworkNode>,
    variables: &[Variable],
    scope: &[usize],
    depth: u32,
    draw: &mut Stream,
) -> usize {
    let at = nodes.len();
    nodes.push(NetworkNode::Product(Vec::new()));
    let is_sum = depth < 5 && draw.random_range(0..3) > 0;
    nodes[at] = match scope {
        _ if is_sum => {
            let children: Vec<usize> = (0..draw.random_range(2..4))
                .map(|_| grow(nodes, variables, scope, depth + 2, draw))
                .collect();
            let weights: Vec<f64> = children
                .iter()
                .map(|_| draw.random_range(0.05..1.0))
                .collect();
            let all: f64 = weights.iter().sum();
            let weighted = children.into_iter().zip(weights);
            NetworkNode::Sum(
                weighted
                    .map(|(child, own)| (child, (own / all).ln()))
                    .collect(),
            )
        }
        &[only] => NetworkNode::Leaf(only, random_leaf(&variables[only], draw)),
        _ => {
            let mut parts = vec![Vec::new(); draw.random_range(2..4)];
            for &variable in scope {
                let part = draw.random_range(0..parts.len());
                parts[part].push(variable);
            }
            parts.retain(|part| !part.is_empty());
            let children = parts
                .iter()
                .map(|part| grow(nodes, variables, part, depth + 1, draw));
            NetworkNode::Product(children.collect())
        }
    };
    at
}

fn random_spn(number: u64) -> Spn {
    let mut draw = stream(number, Purpose::UniformInput, 5, 0);
    let (variables, mut nodes) = (variables(), Vec::new());
    let scope: Vec<usize> = (0..variables.len()).collect();
    grow(&mut nodes, &variables, &scope, 0, &mut draw);
    Spn::new(variables, nodes)
}

/// The mass that the network gives to a point, all else summed out: node by node, as it stands.
fn mass(spn: &Spn, node: usize, cells: &[Option<[f64; 2]>]) -> f64 {
    match &spn.nodes()[node] {
        NetworkNode::Sum(children) => {
            let parts = children
                .iter()
                .map(|(child, log)| log.exp() * mass(spn, *child, cells));
            parts.sum()
        }
        NetworkNode::Product(children) => children
            .iter()
            .map(|&child| mass(spn, child, cells))
            .product(),
        NetworkNode::Leaf(variable, leaf) => cells[*variable].map_or(1.0, |cell| {
            let [low, high] = leaf.probability(cell);
            0.5 * (low + high)
        }),
    }
}

/// The values of each variable that the attributes of `row` stand for, where they are not protected.
fn cells(schema: &Schema, spn: &Spn, protected: &[usize], row: &[i32]) -> Vec<Option<[f64; 2]>> {
    let cell = |variable: &Variable| {
        let place = schema.index_of(variable.name()).ok()?;
        let code = row[place];
        if protected.contains(&place) {
            return None;
        }
        if let Values::Real { edges } = variable.domain() {
            return Some([edges[code as usize], edges[code as usize + 1]]);
        }
        let value = variable
            .parse(&schema.attributes[place].decode(code))
            .unwrap();
        Some([value - 0.5, value + 0.5])
    };
    spn.variables().iter().map(cell).collect()
}

/// The share of every point of `truth`.
fn shares(
    (schema, spn, protected): (&Schema, &Spn, &[usize]),
    network: &SumNetwork,
    truth: &[(Vec<u32>, bool)],
) -> Vec<f64> {
    let masses = truth.iter().map(|(point, _)| {
        let row = network.row(point);
        mass(spn, 0, &cells(schema, spn, protected, &row))
    });
    let masses: Vec<f64> = masses.collect();
    let all: f64 = masses.iter().sum();
    masses.iter().map(|mass| mass / all).collect()
}

/// No box is proved to have more of the population than it has, by bounds or by asking, and a proof
/// that goes to its end finds the very shares.
#[test]
fn no_more_of_a_population_is_proved_than_there_is() {
    let schema = schema();
    let (mut tried, mut several, mut proved) = (0, 0, 0.0);
    for number in 0..60 {
        let (network, spn) = (random_network(&schema, number), random_spn(number));
        let mut draw = stream(number, Purpose::UniformInput, 4, 0);
        let protected: &[usize] = [&[2usize][..], &[2, 5], &[1], &[4, 2]][number as usize % 4];
        let domain = TabularDomain::new(&schema, &network.layout, protected).unwrap();
        let fnn = Fnn::new(&network, &ComputeDevice::flex());
        let mut within = [const { None }; 6];
        if number % 3 == 0 && !protected.contains(&0) {
            within[0] = Some(vec![-2, 0, 5]);
        }
        let sums = SumNetwork::new(&network, &domain, &within).unwrap();
        let fitted = of_network(&spn, Path::new("spn"), &schema, &sums).unwrap();
        several += u32::from(fitted.details.components > 1);
        let truth = truth(&fnn, &domain, &sums);
        let shares = shares((&schema, &spn, protected), &sums, &truth);
        let real = |ranges: &Ranges| {
            let mut real = [0.0; 2];
            for ((point, is_fair), share) in truth.iter().zip(&shares) {
                if in_box(point, ranges) {
                    real[usize::from(!is_fair)] += share * 2f64.powi(100);
                }
            }
            real
        };
        let holds = |Verdict {
                         fair,
                         discriminatory,
                         points,
                         ..
                     }: Verdict,
                     real: [f64; 2]| {
            let is_most = |count: u128, real: f64| count as f64 <= real * (1.0 + 1e-9);
            assert!(
                is_most(fair, real[0]) && is_most(discriminatory, real[1]),
                "{number}"
            );
            let all = real[0] + real[1];
            assert!(
                (points as f64 - all).abs() <= 1e-8 * all,
                "{number}: {points} {all}"
            );
        };
        let bounding = Decider::new(&sums, &fitted.measure, &Silent, &domain);
        let asking = Decider::new(&sums, &fitted.measure, &fnn, &domain);
        for _ in 0..10 {
            let ranges = random_box(&sums.domain(), &mut draw);
            let real = real(&ranges);
            let points = points_of(&ranges);
            holds(
                bounding.bounded(&ranges, points, &mut Counter::default()),
                real,
            );
            tried += 1;
            if let Ok(verdict) = asking.decide(&ranges, &mut Counter::default()) {
                holds(verdict, real);
            }
        }
        let mut partition = Partition::new(&asking, sums.domain(), WHOLE).unwrap();
        let mut open = partition.open();
        while !open.is_empty() {
            partition.round(&asking, &mut open).unwrap();
        }
        let [fair, unfair] = real(&sums.domain());
        let found = partition.proved();
        for (count, real) in [(found.fair, fair), (found.discriminatory, unfair)] {
            assert!(
                count as f64 <= real * (1.0 + 1e-12),
                "{number}: {count} {real}"
            );
            assert!(
                count as f64 >= real * (1.0 - 1e-8),
                "{number}: {count} {real}"
            );
        }
        proved += found.discriminatory as f64 / WHOLE as f64;
    }
    assert!(tried == 600 && several > 30, "{several}");
    assert!(proved > 1.0, "some are treated otherwise");
}

#[test]
fn populations_of_other_tables_are_refused() {
    let schema = schema();
    let network = random_network(&schema, 1);
    let domain = TabularDomain::new(&schema, &network.layout, &[2]).unwrap();
    let sums = SumNetwork::new(&network, &domain, &[const { None }; 6]).unwrap();
    let refused = |variables: Vec<Variable>, weights: usize| {
        let mut draw = stream(0, Purpose::UniformInput, 6, 0);
        let mut nodes = vec![NetworkNode::Product(Vec::new())];
        let mut children = Vec::new();
        for (place, variable) in variables.iter().enumerate() {
            let leaf = random_leaf(variable, &mut draw);
            children.push(nodes.len());
            nodes.push(NetworkNode::Leaf(place, leaf));
        }
        let parts = vec![(1, (1.0 / weights as f64).ln()); weights];
        nodes[0] = NetworkNode::Product((2..nodes.len() + 1).collect());
        let product = nodes.remove(0);
        nodes.splice(0..0, [NetworkNode::Sum(parts), product]);
        let spn = Spn::new(variables, nodes);
        match of_network(&spn, Path::new("spn"), &schema, &sums) {
            Err(error) => error.to_string(),
            Ok(fitted) => format!("{:?}", fitted.details),
        }
    };
    let with = |name: &str, domain: Option<Values>| {
        let mut variables = variables();
        let place = variables.iter().position(|one| one.name() == name).unwrap();
        match domain {
            Some(domain) => {
                let family = match domain {
                    Values::Real { .. } => LeafFamily::Gaussian,
                    _ => LeafFamily::Categorical,
                };
                variables[place] = Variable::new(name.to_owned(), domain, family).unwrap();
            }
            None => {
                variables.remove(place);
            }
        }
        variables
    };
    for (variables, weights, said) in [
        (variables(), 4_096, "components: 4096"),
        (variables(), 4_097, "it has 4097 components"),
        (with("sex", None), 1, "components: 1"),
        (with("y", None), 1, "components: 1"),
        (with("rank", None), 1, "'rank'"),
        (
            with("size", Some(Values::Integer { min: 0, max: 8 })),
            1,
            "'-3' of the attribute 'size'",
        ),
        (
            with(
                "size",
                Some(Values::Real {
                    edges: vec![-9.0, 9.0],
                }),
            ),
            1,
            "'size' are real",
        ),
    ] {
        let told = refused(variables, weights);
        assert!(told.contains(said), "{told}");
    }
    // Nothing of the network lies where the proof looks.
    let mut variables = variables();
    variables.retain(|one| one.name() != "y");
    let nodes: Vec<NetworkNode> = std::iter::once(NetworkNode::Product((1..7).collect()))
        .chain(variables.iter().enumerate().map(|(place, variable)| {
            let count = variable.values().unwrap_or(4) as usize;
            let mut log_mass = vec![f64::NEG_INFINITY; count];
            log_mass[0] = 0.0;
            let (min, _) = variable.range();
            NetworkNode::Leaf(
                place,
                match variable.domain() {
                    Values::Real { edges } => Distribution::Histogram {
                        whole: false,
                        edges: edges.clone(),
                        log_mass,
                    },
                    _ => Distribution::Categorical { min, log_mass },
                },
            )
        }))
        .collect();
    let spn = Spn::new(variables, nodes);
    let mut within = [const { None }; 6];
    within[0] = Some(vec![1, 2]);
    let sums = SumNetwork::new(&network, &domain, &within).unwrap();
    let fitted = of_network(&spn, Path::new("spn"), &schema, &sums);
    assert!(matches!(fitted, Err(FittedError::Outside)));
}
