//! Shares with intervals, in words and as a chart.

use super::super::chart::{IntervalRow, Intervals};
use super::super::document::{Block, Table};
use super::super::model::{BinEffect, DecidedAlike, Share};
use super::super::text::{
    Text, count, counted, inputs_of, inputs_or_part, interval, listed, percent,
};

/// `sex`, `sex × origin`.
pub(crate) fn crossed(protected: &[String]) -> String {
    protected.join(" × ")
}

/// A figure of quality, if there is one.
pub(super) fn four_digits(figure: Option<f64>) -> String {
    figure.map_or("–".to_owned(), |figure| format!("{figure:.4}"))
}

/// What bins change of a predictor's decisions.
pub(super) fn bins(effect: &BinEffect) -> String {
    format!(
        "{} of {} of the data ({}) get another class from the predictor when the numbers that stand for their bins replace their own. Shares \
         of the rows are of rows with their own. The search begins with those of the first of rows that are alike in all bins; what it makes up, and random inputs, have the numbers of bins.",
        count(effect.changed),
        counted(effect.rows, "row", "rows"),
        percent(effect.share)
    )
}

/// A kind of inputs that a share is of.
#[derive(Clone, Copy)]
pub(super) struct InputKind {
    /// What the share is of, such as `random inputs`.
    pub inputs: &'static str,
    /// Inputs that there are, where only some of them may have been asked about.
    pub there: Option<u64>,
    /// Whether a text's terms are replaced one at a time.
    pub is_text: bool,
}

impl InputKind {
    /// `when only sex or origin is changed`, of inputs of which so many are discriminatory.
    pub fn change(self, protected: &[String], discriminatory: u64) -> String {
        let names = listed(protected, "or");
        match (self.is_text, discriminatory) {
            (true, 0) => format!("by any exchange of a term of {names}"),
            (true, _) => format!("by at least one exchange of a term of {names}"),
            (false, _) => format!("when only {names} is changed"),
        }
    }

    /// The share in a sentence.
    pub fn sentence(self, share: &Share) -> String {
        let change = self.change(&share.protected, share.discriminatory);
        let inputs = self.inputs;
        if share.sampled == 0 {
            return format!(
                "The search was stopped before any of {inputs} was drawn, so nothing can be said of their share."
            );
        }
        if share.discriminatory == 0 {
            return format!(
                "None of {} got another decision {change} (95\u{a0}% interval of the share {}).",
                inputs_of(inputs, share.sampled, self.there),
                interval(share.ci95)
            );
        }
        format!(
            "{} of {} get another decision {change} (95\u{a0}% interval {}).",
            percent(share.rate),
            inputs_or_part(inputs, share.sampled, self.there),
            interval(share.ci95)
        )
    }
}

/// Shares as a chart, of the attributes that any input could be asked about by: of none there is no
/// share.
pub(super) fn figure(id: String, asked: InputKind, shares: &[Share]) -> Block {
    let of_some = shares.iter().any(|share| share.sampled > 0);
    let shares = shares.iter().filter(|share| share.sampled > 0 || !of_some);
    let shares: Vec<&Share> = shares.collect();
    let rows: Vec<IntervalRow> = shares
        .iter()
        .map(|share| IntervalRow::new(&crossed(&share.protected), share.rate, share.ci95, 0))
        .collect();
    let largest = shares.iter().max_by(|a, b| a.rate.total_cmp(&b.rate));
    let description = largest.map(|share| {
        format!(
            "Dots are estimates, lines their 95\u{a0}% intervals. The largest share is {} by {}.",
            percent(share.rate),
            crossed(&share.protected)
        )
    });
    let data = Table::new(
        format!("Share of {} that get another decision", asked.inputs),
        &[
            "Attributes changed",
            "Share",
            "95\u{a0}% interval",
            "Discriminatory",
            "Inputs drawn",
        ],
        shares
            .iter()
            .map(|share| {
                vec![
                    crossed(&share.protected),
                    percent(share.rate),
                    interval(share.ci95),
                    count(share.discriminatory),
                    count(share.sampled),
                ]
            })
            .collect(),
    );
    let description = description.unwrap_or_default();
    Block::figure(&Intervals { rows: &rows }, id, description, data)
}

/// That a new model gives all `inputs` one class, and what that means, as the first thing that is said.
pub(super) fn alike_throughout(
    found: Option<&DecidedAlike>,
    inputs: &str,
    meaning: &str,
) -> Option<Text> {
    let found = found?;
    Some(Text::new(format!(
        "DECIDES EVERYTHING ALIKE: all {} {inputs} get the class ‘{}’. {meaning}",
        count(found.inputs),
        Text::value(&found.class)
    )))
}

/// That a model tells no inputs apart, as the first thing that is said.
pub(super) fn alike(found: Option<&DecidedAlike>) -> Option<String> {
    found.map(|found| {
        format!(
            "The model decides everything alike: each of the {} inputs that it was tried on gets ‘{}’. Who is not told apart is not treated differently, so the figures say nothing of fairness.",
            count(found.inputs),
            Text::value(&found.class)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_no_inputs_there_is_no_share() {
        let share = |name: &str, sampled: u64| Share {
            protected: vec![name.to_owned()],
            sampled,
            discriminatory: 0,
            rate: 0.0,
            ci95: [0.0, 1.0],
        };
        let asked = InputKind {
            inputs: "the texts",
            there: None,
            is_text: true,
        };
        let named = |shares: &[Share]| match figure("shares".into(), asked, shares) {
            Block::Figure(figure) => {
                let rows = figure.data.rows.into_iter();
                rows.map(|cells| cells[0].to_string()).collect::<Vec<_>>()
            }
            other => panic!("{other:?}"),
        };
        let shares = [share("gender", 12), share("religion", 0)];
        assert_eq!(named(&shares), ["gender"]);
        // A run that was stopped at once has drawn none.
        assert_eq!(named(&[share("sex", 0)]), ["sex"]);
    }
}
