//! What is said of repairs: before and after.

use super::super::chart::{IntervalRow, Intervals};
use super::super::document::{Block, Outcome, Part, Table};
use super::super::model::{
    AgainstControl, CertifiedShare, Mean, RepairFindings, RepairVerdict, Share, Standing,
    TextNetwork, TextRepairFindings,
};
use super::super::model::{ModelFigures, Part as Portion};
use super::super::text::{
    Text, count, counted, estimate, fixed, interval, listed, number, percent,
};
use super::super::verdict::Verdict;
use super::groups;
use super::shares::{InputKind, crossed, four_digits};

/// The verdict and the parts of a repair of a classifier of tables.
pub(super) fn parts(repair: &RepairFindings, id: &str) -> (Vec<Text>, Vec<Part>) {
    let mut verdict = said(&repair.verdict, None);
    let pairs = both(
        &repair.before.discrimination,
        &repair.chosen.figures.discrimination,
    );
    if let Some((before, after)) = pairs.last() {
        let asked = InputKind {
            inputs: "random inputs",
            there: None,
            is_text: false,
        };
        verdict.push(format!(
            "After the repair: {} Before it, {} did ({}).",
            asked.sentence(after),
            percent(before.rate),
            interval(before.ci95)
        ));
    }
    verdict.extend(without(&repair.ignored));
    verdict.push(accuracy(repair));
    let mut parts = vec![shares(&pairs, id), quality(repair)];
    parts.extend(certified(
        &repair.certified_before,
        &repair.certified_after,
        id,
    ));
    parts.push(points(repair));
    let groups = repair.groups_before.iter().zip(&repair.groups_after);
    parts.extend(groups.map(|(before, after)| groups::before_after(before, after)));
    let imported = (repair.origin == "imported")
        .then_some("The network was imported; it may have seen any of these rows before.");
    parts.push(Part::limits([
        "The shares are of random inputs that took no part in training or choosing; accuracy is of rows held out from both.",
        "A lower share does not mean that no one is discriminated against. Audit the repaired model: a search may find what random inputs do not show.",
        "Only the attributes that were audited were repaired. What the repair does to others is not measured here.",
    ].into_iter().chain(imported)));
    (verdict.into_iter().map(Text::from).collect(), parts)
}

/// Whether anything speaks against a repair of a classifier of tables, and whether there is a model.
pub(super) fn outcome(repair: &RepairFindings) -> Outcome {
    let pairs = both(
        &repair.before.discrimination,
        &repair.chosen.figures.discrimination,
    );
    let change = pairs.last().map(|(before, after)| Effect {
        before: before.rate,
        after: after.rate,
        of: "random inputs that are discriminatory",
    });
    concluded(&repair.verdict, None, repair.finished, change)
}

/// Says what came of the repair of a classifier of texts.
pub(super) fn text_outcome(repair: &TextRepairFindings) -> Outcome {
    let change = Effect {
        before: 1.0 - repair.before.fair.share,
        after: 1.0 - repair.chosen.figures.fair.share,
        of: "test texts that are not treated alike",
    };
    let found = Some(Found::of(repair));
    concluded(&repair.verdict, found, repair.finished, Some(change))
}

/// What is said where figures of texts tell nothing.
const TOO_FEW: &str = "Too few texts were found, or networks trained, to tell";

/// The texts of which a repair says how many stay discriminatory.
#[derive(Clone, Copy)]
struct Found {
    texts: u64,
    /// Networks of each kind that it is said of.
    networks: u64,
}

impl Found {
    fn of(repair: &TextRepairFindings) -> Found {
        Found {
            texts: repair.independent,
            networks: repair.control.len() as u64,
        }
    }

    /// `the 120 texts found from the test texts`
    fn named(self) -> String {
        let texts = counted(self.texts, "text", "texts");
        format!("the {texts} found from the test texts")
    }

    /// How many of few texts stay discriminatory without the remedy and with it: shares of a handful would
    /// seem to say more.
    fn too_few(self, control: &AgainstControl) -> String {
        let of = |share: f64| fixed(share * self.texts as f64, 1);
        format!(
            "{TOO_FEW} whether the repair does better than training anew without a remedy: of {}, {} stay discriminatory without the remedy and {} with it, on average over {} of each kind.",
            self.named(),
            of(control.control),
            of(control.repaired),
            counted(self.networks, "network", "networks")
        )
    }
}

/// The share that a repair was to lower, before and after.
struct Effect {
    before: f64,
    after: f64,
    of: &'static str,
}

/// That a repair did not help, where it lowered no share, or no more than training anew without a
/// remedy did; nothing where it did.
fn unhelpful(
    verdict: &RepairVerdict,
    found: Option<Found>,
    change: Option<Effect>,
) -> Option<[String; 2]> {
    let said = |after: f64, before: f64| {
        format!(
            "The repair did not help: {} against {}",
            percent(after),
            percent(before)
        )
    };
    let control = &verdict.against_control;
    match change {
        Some(Effect { before, after, of }) if after >= before => Some([
            said(after, before),
            format!("These are the shares of {of}, after the repair and before it."),
        ]),
        _ if !verdict.worse.is_empty() || control.standing == Standing::Better => None,
        _ => Some(match found {
            Some(_) if control.tells_nothing() => [
                "Whether the repair helped is not shown".to_owned(),
                format!("{TOO_FEW}."),
            ],
            found => {
                let of = match found {
                    None => "These are the discriminatory shares".to_owned(),
                    Some(found) => {
                        let named = found.named();
                        format!("These are the shares that stay discriminatory of {named},")
                    }
                };
                [
                    said(control.repaired, control.control),
                    format!("{of} with the remedy and of training anew without it."),
                ]
            }
        }),
    }
}

/// What came of a repair, of texts by those `found`.
fn concluded(
    verdict: &RepairVerdict,
    found: Option<Found>,
    finished: bool,
    change: Option<Effect>,
) -> Outcome {
    let unsaved = "no model was saved; the figures are of the network that was chosen";
    match (finished, verdict.holds, verdict.saved) {
        (false, _, true) => Outcome::new(
            Verdict::Inconclusive,
            "The repair was interrupted; the model is one of the networks trained until then.",
        ),
        (false, _, false) => Outcome::new(
            Verdict::Inconclusive,
            format!("The repair was interrupted, and {unsaved}."),
        ),
        (true, true, _) => Outcome::from_check(
            true,
            "The repair may be saved: all networks were trained, and nothing got worse than allowed.",
        ),
        (true, false, true) => Outcome::from_check(
            false,
            match unhelpful(verdict, found, change) {
                Some([said, of]) => format!("{said}; the model was saved all the same. {of}"),
                None => "The model was saved although there is something against it.".to_owned(),
            },
        ),
        (true, false, false) => Outcome::from_check(
            false,
            match unhelpful(verdict, found, change) {
                Some([said, of]) => format!("{said}; nothing was saved. {of}"),
                None => format!("There is something against the repair, so {unsaved}."),
            },
        ),
    }
}

/// What the remedy did that retraining alone does not, of texts by those `found`, and what got worse.
fn said(verdict: &RepairVerdict, found: Option<Found>) -> Vec<String> {
    let mut said = Vec::new();
    let control = &verdict.against_control;
    let [without, with] = [control.control, control.repaired].map(percent);
    let figures = match found {
        None => format!(
            "discriminatory are {without} without the remedy and {with} with it, on average"
        ),
        Some(found) => format!(
            "of {}, {without} stay discriminatory without the remedy and {with} with it, on average",
            found.named()
        ),
    };
    let gained = control.gained.ci95.map_or(String::new(), |[low, high]| {
        let points = |share: f64| number((10_000.0 * share).round() / 100.0);
        format!(
            ", a gain of {} points (95\u{a0}% interval {} – {})",
            points(control.gained.mean),
            points(low),
            points(high)
        )
    });
    let few = found.filter(|_| control.tells_nothing());
    said.push(match (control.standing, few) {
        (_, Some(found)) => found.too_few(control),
        (Standing::Better, None) => format!("The repair does better than training anew without a remedy: {figures}{gained}."),
        (Standing::Alike, None) => format!("Training anew without a remedy does as well, as far as these networks can tell: {figures}{gained}."),
        (Standing::Worse, None) => format!("The repair does worse than training anew without a remedy: {figures}{gained}."),
        (Standing::Unknown, None) => format!("Whether training anew without a remedy does as well, these networks cannot tell: {figures}."),
    });
    said.extend(verdict.worse.iter().map(|worse| {
        let of = match worse.protected.is_empty() {
            true => String::new(),
            false => format!(" by {}", crossed(&worse.protected)),
        };
        format!(
            "Worse than allowed: {}{of} went from {} to {}, and {} is allowed.",
            worse.figure,
            four_digits(Some(worse.before)),
            four_digits(Some(worse.after)),
            number(worse.allowed)
        )
    }));
    said
}

/// That no value of the attributes that a network ignores changes a decision of it, if there are any.
fn without(ignored: &[String]) -> Option<String> {
    let names = listed(ignored, "and");
    (!ignored.is_empty()).then(|| {
        format!(
            "The repaired network gives {names} no weight: whatever is entered there, no decision changes. What goes with {} in other columns may still decide.",
            if ignored.len() == 1 { "it" } else { "them" }
        )
    })
}

fn accuracy(repair: &RepairFindings) -> String {
    let (before, after) = (&repair.before.held_out, &repair.chosen.figures.held_out);
    let within = match repair.chosen.within {
        true => "within what the repair may cost",
        false => "more than the repair may cost",
    };
    format!(
        "{} on {} held-out rows went from {} to {}, which is {within}.",
        before.name(),
        count(before.rows()),
        before.shown(),
        after.shown()
    )
}

/// Shares of the same attributes before and after.
fn both<'s>(before: &'s [Share], after: &'s [Share]) -> Vec<(&'s Share, &'s Share)> {
    let twin = |share: &Share| {
        after
            .iter()
            .find(|other| other.protected == share.protected)
    };
    before
        .iter()
        .filter_map(|share| Some((share, twin(share)?)))
        .collect()
}

fn shares(pairs: &[(&Share, &Share)], id: &str) -> Part {
    let rows = pairs.iter().flat_map(|(before, after)| {
        [("before", before), ("after", after)].map(|(when, share)| Row {
            name: format!("{}, {when}", crossed(&share.protected)),
            share: share.rate,
            ci95: share.ci95,
            of: share.sampled,
        })
    });
    let figure = before_after_figure(
        format!("{id}-shares"),
        "Discriminatory share before and after",
        rows.collect(),
    );
    Part::new("Discriminatory share before and after").with_essential(figure)
}

struct Row {
    name: String,
    share: f64,
    ci95: [f64; 2],
    of: u64,
}

/// Rows in turn before and after.
fn before_after_figure(id: String, title: &str, rows: Vec<Row>) -> Block {
    let bars: Vec<IntervalRow> = (0..)
        .zip(&rows)
        .map(|(place, row)| IntervalRow::new(&row.name, row.share, row.ci95, place % 2))
        .collect();
    let table = rows.into_iter().map(|row| {
        vec![
            row.name,
            percent(row.share),
            interval(row.ci95),
            count(row.of),
        ]
    });
    let header = ["Of what", "Share", "95\u{a0}% interval", "Inputs"];
    Block::figure(
        &Intervals { rows: &bars },
        id,
        "Dots are estimates, lines their 95\u{a0}% intervals; the two colours are before and after.",
        Table::new(title, &header, table.collect()),
    )
}

fn quality(repair: &RepairFindings) -> Part {
    let (before, after) = (&repair.before, &repair.chosen.figures);
    let row = |name: &str, figures: &ModelFigures| {
        let mut row = vec![name.to_owned()];
        row.extend(figures.held_out.row());
        row
    };
    let mut header = vec!["Model"];
    header.extend(before.held_out.header());
    let part = Part::new("Quality before and after").with_essential(Block::Table(Table::new(
        format!("On {} held-out rows.", count(before.held_out.rows())),
        &header,
        vec![row("Before", before), row("After", after)],
    )));
    match &repair.parts {
        Some(parts) => part.say(format!(
            "{} were trained on, {} chosen by and {} held out.",
            counted(parts.train, "row", "rows"),
            count(parts.validation),
            count(parts.test)
        )),
        None => part,
    }
}

fn certified(before: &[CertifiedShare], after: &[CertifiedShare], id: &str) -> Option<Part> {
    let twin = |share: &CertifiedShare| {
        after
            .iter()
            .find(|other| other.protected == share.protected)
    };
    let rows: Vec<Row> = before
        .iter()
        .filter_map(|share| Some([("before", share), ("after", twin(share)?)]))
        .flatten()
        .map(|(when, share)| Row {
            name: format!("{}, {when}", crossed(&share.protected)),
            share: share.certified.share,
            ci95: share.certified.ci95,
            of: share.rows,
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let part = Part::new("Held-out rows that are proved fair").say(
        "Of these rows it is proved that no change of the protected attributes changes the decision. A row without a proof may be fair too.",
    );
    Some(part.with(before_after_figure(
        format!("{id}-certified"),
        "Rows proved fair before and after",
        rows,
    )))
}

fn points(repair: &RepairFindings) -> Part {
    let mean = |mean: &Mean| match mean.ci95 {
        Some(ends) => estimate(mean.mean, ends),
        None => percent(mean.mean),
    };
    let rows = repair.points.iter().flat_map(|point| {
        point.changes.iter().map(move |change| {
            let of = match change.protected.is_empty() {
                true => change.figure.clone(),
                false => format!("{}, {}", change.figure, crossed(&change.protected)),
            };
            vec![
                format!("{of}, share {}", number(point.share)),
                count(point.samples),
                percent(change.before),
                change.control.as_ref().map_or("–".to_owned(), mean),
                mean(&change.after),
            ]
        })
    });
    Part::new("All networks that were trained").with(Block::Table(Table::new(
        format!(
            "Means over the networks of each share of the samples, with 95\u{a0}% intervals of the mean. Control: trained anew without a remedy. The model kept is of the share {}.",
            number(repair.chosen.share)
        ),
        &["Figure", "Samples", "Before", "Control", "After"],
        rows.collect(),
    )))
}

/// The verdict and the parts of a repair of a classifier of texts.
pub(super) fn text_parts(repair: &TextRepairFindings, id: &str) -> (Vec<Text>, Vec<Part>) {
    let (before, after) = (&repair.before, &repair.chosen.figures);
    let within = match repair.chosen.within {
        true => "within what the repair may cost",
        false => "more than the repair may cost",
    };
    let said = said(&repair.verdict, Some(Found::of(repair)));
    let mut verdict: Vec<Text> = said.into_iter().map(Text::from).collect();
    verdict.extend([
        Text::new(format!(
            "After the repair {} of {} test texts with a protected term are treated alike under every replacement (95\u{a0}% interval {}); before it were {} ({}).",
            percent(after.fair.share),
            count(repair.test_texts),
            interval(after.fair.ci95),
            percent(before.fair.share),
            interval(before.fair.ci95)
        )),
        Text::new(format!(
            "Accuracy on the test texts went from {} to {}, which is {within}.",
            before.held_out.shown(),
            after.held_out.shown()
        )),
    ]);
    let row = |name: &str, portion: &Portion, of: u64| Row {
        name: name.to_owned(),
        share: portion.share,
        ci95: portion.ci95,
        of,
    };
    let rows = vec![
        row("fair, before", &before.fair, repair.test_texts),
        row("fair, after", &after.fair, repair.test_texts),
        row("proved fair, before", &before.certified, repair.test_texts),
        row("proved fair, after", &after.certified, repair.test_texts),
        row(
            "found discriminatory, repaired before",
            &before.repaired,
            repair.independent,
        ),
        row(
            "found discriminatory, repaired after",
            &after.repaired,
            repair.independent,
        ),
    ];
    let part = Part::new("Fair texts before and after")
        .say(format!(
            "The protected attributes are {}. There were {} discriminatory texts to learn from, and {} were found from the test texts to measure on.",
            repair.protected.join(", "),
            count(repair.found),
            count(repair.independent)
        ))
        .with_essential(before_after_figure(format!("{id}-fair"), "Share of texts", rows));
    let parts = vec![
        part,
        text_networks(repair),
        Part::limits([
            "Fair means: no replacement of one protected term by another of its list changes the decision. Other wordings are not covered.",
            "The independent set was found by searches on the model before; a search on the repaired model may find other texts.",
        ]),
    ];
    (verdict, parts)
}

fn text_networks(repair: &TextRepairFindings) -> Part {
    let row = |name: String, network: &TextNetwork| {
        let portion = |portion: &Portion| estimate(portion.share, portion.ci95);
        vec![
            name,
            network.held_out.shown(),
            portion(&network.repaired),
            portion(&network.certified),
            portion(&network.fair),
        ]
    };
    let mut rows = vec![row("Before".to_owned(), &repair.before)];
    let numbered = |name: &str, networks: &[TextNetwork]| -> Vec<Vec<String>> {
        let networks = networks.iter().enumerate();
        networks
            .map(|(place, network)| row(format!("{name} {}", place + 1), network))
            .collect()
    };
    rows.extend(numbered("Control", &repair.control));
    for point in &repair.points {
        let name = format!("Share {}, repaired", number(point.share));
        rows.extend(numbered(&name, &point.networks));
    }
    Part::new("All networks that were trained").with(Block::Table(Table::new(
        format!(
            "Shares with 95\u{a0}% intervals. Control: trained anew without a remedy. Kept: share {}, repaired {}.",
            number(repair.chosen.share),
            repair.chosen.repeat
        ),
        &["Network", "Accuracy", "Of the found texts, repaired", "Proved fair", "Fair"],
        rows,
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn verdict(standing: &str, worse: &[&str], saved: bool) -> RepairVerdict {
        let worse = worse.iter().map(|figure| {
            json!({"figure": figure, "protected": [], "before": 0.9, "after": 0.8, "allowed": 0.01})
        });
        let verdict = json!({
            "holds": false, "saved": saved, "worse": worse.collect::<Vec<_>>(),
            "against_control": {
                "control": 0.31, "repaired": 0.305, "standing": standing,
                "gained": {"mean": 0.005, "ci95": null}
            }
        });
        serde_json::from_value(verdict).unwrap()
    }

    fn said(verdict: &RepairVerdict, before: f64, after: f64) -> String {
        let of = "random inputs that are discriminatory";
        let change = Effect { before, after, of };
        let outcome = concluded(verdict, None, true, Some(change));
        assert_eq!(outcome.verdict, Verdict::Exceeds);
        outcome.text.to_string().replace('\u{a0}', " ")
    }

    #[test]
    fn a_repair_that_does_not_help_says_so() {
        let worse = verdict("worse", &["discriminatory"], false);
        assert_eq!(
            said(&worse, 0.2367, 0.2370),
            "The repair did not help: 23.70 % against 23.67 %; nothing was saved. \
             These are the shares of random inputs that are discriminatory, after the repair and before it."
        );
        let saved = verdict("worse", &["discriminatory"], true);
        let text = said(&saved, 0.2367, 0.2370);
        assert!(
            text.starts_with(
                "The repair did not help: 23.70 % against 23.67 %; the model was saved"
            ),
            "{text}"
        );
        // What lowers the share no more than training anew does is no help of the repair.
        let alike = verdict("alike", &[], false);
        let text = said(&alike, 0.4, 0.3);
        assert!(
            text.starts_with(
                "The repair did not help: 30.50 % against 31.00 %; nothing was saved."
            ),
            "{text}"
        );
        assert!(text.contains("training anew without it"), "{text}");
    }

    /// Of few texts the figures are counts, and that they tell nothing is said.
    #[test]
    fn too_few_texts_to_tell_are_said_to_be() {
        let with = |ci95: [f64; 2]| {
            let mut of = verdict("alike", &[], false);
            of.against_control.gained.ci95 = Some(ci95);
            of
        };
        let found = |texts| Some(Found { texts, networks: 2 });
        let told = |of: &RepairVerdict, found| {
            let change = Effect {
                before: 0.4,
                after: 0.3,
                of: "test texts that are not treated alike",
            };
            let outcome = concluded(of, found, true, Some(change));
            let said = super::said(of, found).join(" ");
            [outcome.text.to_string(), said].map(|said| said.replace('\u{a0}', " "))
        };
        let wide = with([-0.82, 1.0]);
        let counts = "Too few texts were found, or networks trained, to tell whether the repair does better than \
                      training anew without a remedy: of the 20 texts found from the test texts, 6.2 stay \
                      discriminatory without the remedy and 6.1 with it, on average over 2 networks of each kind.";
        let [outcome, said] = told(&wide, found(20));
        assert_eq!(said, counts);
        assert_eq!(
            outcome,
            "Whether the repair helped is not shown; nothing was saved. Too few texts were found, or networks trained, to tell."
        );
        // What tells, tells: one measure, and what it is of.
        let [outcome, said] = told(&with([-0.04, 0.05]), found(400));
        assert_eq!(
            said,
            "Training anew without a remedy does as well, as far as these networks can tell: of the 400 texts \
             found from the test texts, 31.00 % stay discriminatory without the remedy and 30.50 % with it, on \
             average, a gain of 0.5 points (95 % interval -4 – 5)."
        );
        assert!(
            outcome.ends_with(
                "These are the shares that stay discriminatory of the 400 texts found from the test texts, with the \
                 remedy and of training anew without it."
            ),
            "{outcome}"
        );
        let [_, said] = told(&wide, None);
        assert!(
            said.contains("discriminatory are 31.00 % without"),
            "{said}"
        );
    }

    #[test]
    fn a_network_that_ignores_an_attribute_is_said_to() {
        assert_eq!(without(&[]), None);
        let names = ["sex", "race"].map(str::to_owned);
        let said = without(&names).unwrap();
        assert!(
            said.starts_with("The repaired network gives sex and race no weight"),
            "{said}"
        );
        assert!(said.contains("What goes with them"), "{said}");
    }

    #[test]
    fn a_repair_that_costs_too_much_did_help() {
        let costly = verdict("better", &["accuracy"], false);
        let text = said(&costly, 0.4, 0.1);
        assert!(
            text.starts_with("There is something against the repair"),
            "{text}"
        );
    }
}
