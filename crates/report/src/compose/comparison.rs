//! Two audits side by side: before and after a repair, or two models.

use super::super::change::Change;
use super::super::chart::{IntervalRow, Intervals};
use super::super::document::{Block, Part, Section, Table};
use super::super::model::{AuditFindings, Comparison, Findings, Modality, Report, Share};
use super::super::text::{Text, count, interval, percent};
use super::shares::crossed;

/// The section of `comparison`; nothing if it names runs that are no audits.
pub(super) fn section(report: &Report, comparison: &Comparison, id: String) -> Option<Section> {
    let audit = |place: usize| match &report.runs.get(place)?.findings {
        Findings::Audit(audit) => Some((report.runs[place].name.as_str(), audit.as_ref())),
        _ => None,
    };
    let (first, second) = (audit(comparison.first)?, audit(comparison.second)?);
    let (title, words) = match comparison.is_repair {
        true => ("Before and after the repair", ["before", "after"]),
        false => ("Two models side by side", ["first", "second"]),
    };
    let compared = kinds(first.1, second.1);
    let verdict = compared
        .iter()
        .filter_map(|kind| kind.verdict(words))
        .collect();
    let what = match comparison.is_repair {
        true => "The second model is what probity repair made of the first, as its directory says.",
        false => {
            "Both audits are of the same inputs and protected attributes, but of different models."
        }
    };
    let said = format!("{what} First: {}. Second: {}.", first.0, second.0);
    let parts = compared.iter().enumerate().map(|(place, kind)| {
        let part = Part::new(&format!("Discriminatory share of {}", kind.inputs));
        let part = match place {
            0 => part.say(said.as_str()),
            _ => part,
        };
        let part = part.with(kind.figure(&id, words));
        match place + 1 == compared.len() {
            true => part.with(found(words, first.1, second.1)),
            false => part,
        }
    });
    let parts = parts.collect();
    Some(Section {
        id,
        title: Text::new(format!(
            "{title}: {} and {}",
            comparison.first + 1,
            comparison.second + 1
        )),
        outcome: None,
        verdict,
        parts,
    })
}

/// Shares of one kind in both audits.
struct Compared<'a> {
    inputs: &'static str,
    /// How the figure is called.
    name: &'static str,
    shares: [&'a [Share]; 2],
}

/// The shares that both audits have, the most telling kind first: of the rows of the data, where both
/// looked at the same ones, then of random inputs; of texts.
fn kinds<'a>(first: &'a AuditFindings, second: &'a AuditFindings) -> Vec<Compared<'a>> {
    let mut kinds = Vec::new();
    let people = (&first.summary.population, &second.summary.population);
    if let (Some(a), Some(b)) = people
        && (&a.part, &a.population_sha256, a.asked) == (&b.part, &b.population_sha256, b.asked)
    {
        kinds.push(Compared {
            inputs: a.source(),
            name: "people",
            shares: [&a.shares, &b.shares],
        });
    }
    kinds.push(Compared {
        inputs: match first.summary.modality {
            Modality::Table => "random inputs",
            Modality::Text => "texts",
        },
        name: "shares",
        shares: [&first.summary.fairness, &second.summary.fairness],
    });
    kinds
}

impl Compared<'_> {
    fn verdict(&self, words: [&str; 2]) -> Option<Text> {
        let [a, b] = [self.shares[0].last()?, self.shares[1].last()?];
        let apart = Change::between(a.ci95, b.ci95).said();
        Some(Text::new(format!(
            "{} of {} in the {} audit ({}), {} in the {} one ({}): {apart}.",
            percent(a.rate),
            self.inputs,
            words[0],
            interval(a.ci95),
            percent(b.rate),
            words[1],
            interval(b.ci95)
        )))
    }

    fn figure(&self, id: &str, words: [&str; 2]) -> Block {
        let mut rows = Vec::new();
        let mut table = Vec::new();
        for share in self.shares[0] {
            let mut others = self.shares[1].iter();
            let twin = others.find(|other| other.protected == share.protected);
            for (colour, share) in [Some(share), twin].into_iter().enumerate() {
                let Some(share) = share else { continue };
                let name = format!("{}, {}", crossed(&share.protected), words[colour]);
                rows.push(IntervalRow::new(&name, share.rate, share.ci95, colour));
                table.push(vec![
                    name,
                    percent(share.rate),
                    interval(share.ci95),
                    count(share.sampled),
                ]);
            }
        }
        let [first, second] = words;
        let header = [
            "Attributes changed",
            "Share",
            "95\u{a0}% interval",
            "Inputs asked about",
        ];
        Block::figure(
            &Intervals { rows: &rows },
            format!("{id}-{}", self.name),
            format!("Dots are estimates, lines their 95\u{a0}% intervals, {first} and {second}."),
            Table::new(
                format!("Discriminatory share of {} in both audits", self.inputs),
                &header,
                table,
            ),
        )
    }
}

fn found(words: [&str; 2], first: &AuditFindings, second: &AuditFindings) -> Block {
    let row = |word: &str, audit: &AuditFindings| {
        let total = &audit.summary.total;
        vec![
            word.to_owned(),
            count(total.discriminatory),
            count(total.generated),
            percent(total.success_rate),
            audit
                .quality
                .as_ref()
                .map_or("–".to_owned(), |quality| quality.shown()),
        ]
    };
    Block::Table(Table::new(
        "What the searches found. Their numbers depend on the search; the shares above are what to compare.",
        &[
            "Audit",
            "Discriminatory individuals",
            "Individuals checked",
            "Of those checked",
            "Accuracy of the model",
        ],
        vec![row(words[0], first), row(words[1], second)],
    ))
}
