//! What is said of proofs.

use super::super::chart::{Mark, Plot, Series, Spacing, Tile, Treemap};
use super::super::document::{Block, Part, Table};
use super::super::model::{ProveFindings, ProvedPlace};
use super::super::text::{Text, count, counted, interval, listed, percent, seconds};
use super::ending::interrupted;
use super::left_out;

/// Numbers of the colours of what is fair, discriminatory and undecided.
const COLOURS: [usize; 3] = [2, 1, 7];

/// The verdict and the parts.
pub(super) fn parts(prove: &ProveFindings, id: &str) -> (Vec<Text>, Vec<Part>) {
    let of = match (&prove.population, prove.is_weighted) {
        (Some(_), _) => "people drawn from the fitted population".to_owned(),
        (None, true) => "people drawn by the marginals of the data".to_owned(),
        (None, false) => format!(
            "{} combinations of the other attributes",
            grouped(&prove.points)
        ),
    };
    let names: Vec<String> = prove
        .protected
        .iter()
        .map(|it| Text::value(it).to_string())
        .collect();
    let by = format!(
        "{} {}",
        listed(&names, "and"),
        if names.len() == 1 { "is" } else { "are" }
    );
    let of = match prove.within.is_empty() {
        true => format!("Of {of}"),
        false => {
            let within: Vec<String> = prove
                .within
                .iter()
                .map(|it| Text::value(it).to_string())
                .collect();
            format!("Within {} alone: of {of}", listed(&within, "and"))
        }
    };
    let mut verdict = vec![Text::new(format!(
        "{of}, {} are proven to be decided alike whatever {by}, {} are proven to be decided otherwise, {} are undecided.",
        percent(prove.fair.share),
        percent(prove.discriminatory.share),
        percent(prove.undecided.share)
    ))];
    let mut share = format!(
        "The discriminatory share is certain to be within {}",
        interval(prove.bounds)
    );
    if let Some(estimate) = &prove.estimate {
        share.push_str(&format!(
            "; it is estimated at {} (95\u{a0}% interval {}) from {} of the boxes that are not wholly decided",
            percent(estimate.rate),
            interval(estimate.ci95),
            counted(estimate.sampled, "point", "points")
        ));
    }
    verdict.push(Text::new(share + "."));
    let read = prove.marginals.as_ref().map_or(Vec::new(), left_out::rows);
    verdict.extend(
        read.into_iter()
            .map(|said| Text::from(format!("Of the table of marginals: {said}"))),
    );
    if let Some(population) = &prove.population {
        verdict.push(Text::new(format!(
            "The population is a sum-product network, here a mixture of {}, of which {} lies in the domain that is decided and counts as the whole.",
            counted(population.components, "product", "products"),
            percent(population.inside)
        )));
    }
    if let Some(bound) = &prove.fail_above {
        let held = match bound.verdict.as_str() {
            "within" => "is proven to hold",
            "exceeds" => "is proven not to hold",
            _ => "is neither proven to hold nor not to",
        };
        let bound = percent(bound.bound);
        verdict.push(Text::new(format!(
            "The declared bound of at most {bound} {held}."
        )));
    }
    if let Some(search) = &prove.search {
        verdict.push(Text::new(format!(
            "A search from {} of undecided boxes found {} among {} that it checked: {} of full rows.",
            counted(search.seeds, "point", "points"),
            counted(
                search.discriminatory,
                "discriminatory individual",
                "discriminatory individuals"
            ),
            count(search.generated),
            counted(search.pairs, "pair", "pairs")
        )));
    }
    verdict.extend(ended(prove).map(Text::from));
    if prove.ending == "interrupted" {
        verdict.insert(0, interrupted(None));
    }
    (
        verdict,
        vec![
            shares(prove),
            places(prove, id),
            course(prove, id),
            limits(),
        ],
    )
}

/// Why it ended with something undecided.
fn ended(prove: &ProveFindings) -> Option<&'static str> {
    match prove.ending.as_str() {
        "decided" if prove.undecided.share > 0.0 => Some(
            "The proof ended because no more than the share that it was asked for is undecided (until_undecided), or nothing is left that could be split.",
        ),
        "time" => Some("The proof was ended by its time limit; a longer one may decide more."),
        "max-boxes" => Some("The proof was ended by its number of boxes; more may decide more."),
        _ => None,
    }
}

/// How many combinations were decided.
fn shares(prove: &ProveFindings) -> Part {
    let rows = [
        ("Fair", &prove.fair),
        ("Discriminatory", &prove.discriminatory),
        ("Undecided", &prove.undecided),
    ];
    let rows = rows.map(|(name, part)| {
        let points = part.points.as_deref().map_or("–".to_owned(), grouped);
        vec![name.to_owned(), points, percent(part.share)]
    });
    let compared = format!(
        "At each of them all {} combinations of the values of what is protected are compared.",
        count(prove.combinations)
    );
    Part::new("What was proven")
        .say(compared)
        .with_essential(Block::Table(Table::new(
            "Combinations of the other attributes by what was proven of them",
            &["Proven", "Combinations", "Share"],
            rows.into(),
        )))
}

fn places(prove: &ProveFindings, id: &str) -> Part {
    let tiles = prove.map.iter().map(|place| Tile {
        size: place.share,
        shares: [place.fair, place.discriminatory],
    });
    let tiles: Vec<Tile> = tiles.collect();
    let rows = prove.largest.iter().map(|place| {
        vec![
            in_words(place),
            percent(place.share),
            percent(place.discriminatory),
            percent(place.fair),
        ]
    });
    let description = "All that was to be decided in parts, each as large as its share of it. Within a part, from above: what is fair, discriminatory and undecided.";
    Part::new("Where it is").with_essential(Block::figure(
        &Treemap {
            tiles: &tiles,
            names: ["fair", "discriminatory", "undecided"].map(Text::from),
            colours: COLOURS,
        },
        format!("{id}-domain"),
        description,
        Table::new(
            "Parts with most of what is proven to be discriminatory; what is undecided may lie anywhere",
            &[
                "Part",
                "Of the domain",
                "Discriminatory at least",
                "Fair at least",
            ],
            rows.collect(),
        ),
    ))
}

fn in_words(place: &ProvedPlace) -> String {
    let conditions = place.conditions.iter();
    let conditions = conditions.map(|is| format!("{} {}", is.attribute, is.values));
    let conditions: Vec<String> = conditions.collect();
    match conditions.is_empty() {
        true => "all that was decided".to_owned(),
        false => conditions.join("; "),
    }
}

/// The share that is neither, without what rounding leaves of nothing.
fn undecided(fair: f64, discriminatory: f64) -> f64 {
    let undecided = 1.0 - fair - discriminatory;
    if undecided < 1e-12 { 0.0 } else { undecided }
}

/// Decimal digits with thousands set apart.
fn grouped(digits: &str) -> String {
    let first = (digits.len() + 2) % 3 + 1;
    let (head, tail) = digits.split_at(first.min(digits.len()));
    let groups = tail.as_bytes().chunks(3).map(String::from_utf8_lossy);
    std::iter::once(head.into())
        .chain(groups)
        .collect::<Vec<_>>()
        .join(",")
}

fn course(prove: &ProveFindings, id: &str) -> Part {
    let curve = |place: usize, name: &str, of: &dyn Fn(&[f64; 2]) -> f64| {
        let points = prove.trace.iter().map(|moment| {
            let shares = [moment.fair, moment.discriminatory];
            (moment.seconds.max(1e-3), 100.0 * of(&shares))
        });
        Series::new(name, COLOURS[place], Mark::Line, points.collect())
    };
    let plot = Plot {
        x: ("seconds".to_owned(), Spacing::Logarithmic),
        y: ("% of the domain".to_owned(), Spacing::FromZero),
        series: vec![
            curve(0, "fair", &|shares| shares[0]),
            curve(1, "discriminatory", &|shares| shares[1]),
            curve(2, "undecided", &|shares| undecided(shares[0], shares[1])),
        ],
    };
    let rows = prove.trace.iter().map(|moment| {
        vec![
            seconds(moment.seconds),
            count(moment.boxes),
            percent(moment.fair),
            percent(moment.discriminatory),
            percent(undecided(moment.fair, moment.discriminatory)),
        ]
    });
    let deciding = prove.deciding.iter().take(6);
    let deciding = deciding.map(|of| format!("{} ({})", of.attribute, percent(of.share)));
    let deciding: Vec<String> = deciding.collect();
    let mut part = Part::new("What was proven when").with(Block::figure(
        &plot,
        format!("{id}-proven"),
        "Shares of the domain that were proven after so many seconds; each was proven at its time already.",
        Table::new(
            "Proven shares against time",
            &["Time", "Boxes", "Fair", "Discriminatory", "Undecided"],
            rows.collect(),
        ),
    ));
    if !deciding.is_empty() {
        part = part.say(format!(
            "The domain was cut into {} at {}; the share is that of the undecided points of the boxes that were cut there.",
            counted(prove.boxes, "box", "boxes"),
            deciding.join(", ")
        ));
    }
    part
}

fn limits() -> Part {
    Part::limits([
        "A proof is about the network and its declared domain: every combination counts alike unless marginals or a population were given, also those that no person has.",
        "It is about the classes that the network computes in 32 bits on the CPU, by the largest logit; thresholds and other devices are not covered.",
        "What is undecided may be fair or not.",
    ])
}
