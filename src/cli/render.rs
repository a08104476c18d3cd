//! Tables and sentences for people.

use std::path::PathBuf;

use comfy_table::{Cell, CellAlignment, Table, presets};
use serde::Serialize;

use probity::data::read::BadRows;
use probity::data::table::ReadCounts;
use probity::fairness::audit::AuditSummary;
use probity::fairness::estimate::{Estimate, Verdict};
use probity::fairness::modality::{TableDetails, TextDetails};
use probity::fairness::search::Ending;
use probity::fairness::specification::BoundOn;
use probity::fairness::summary::{BoundSummary, GlobalSummary, LocalSummary, TotalSummary};
use probity::fairness::text::exchanged::Exchanged;
use probity::fairness::text::judge::ValidityMeans;
use probity::nn::alike::DecidedAlike;
use probity::nn::metrics::{Errors, Metrics, Quality};
use probity::predictor::own_numbers::BinEffect;
use probity::report::PageError;
use probity::report::text;
use probity::run::run_directory::RunDirectory;
use probity::tensor::device::DeviceName;

use super::render_population::{plausibility, population, text_moves};
pub(super) use probity::report::text::count;

/// `1 row`, `2 rows`; the space is a plain one.
pub(super) fn counted(number: u64, one: &str, more: &str) -> String {
    text::counted(number, one, more).replace('\u{a0}', " ")
}

/// A figure with six decimals; one that these would say nothing of, or fill lines, by its power.
pub(super) fn figure(value: f64) -> String {
    match value.abs() {
        size if size == 0.0 || (1e-4..1e15).contains(&size) => format!("{value:.6}"),
        _ => format!("{value:.6e}"),
    }
}

/// A Markdown table; columns after the first are right-aligned.
pub(super) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(header.to_vec());
    for row in rows {
        table.add_row(row.iter().enumerate().map(|(column, text)| {
            let alignment = if column == 0 {
                CellAlignment::Left
            } else {
                CellAlignment::Right
            };
            Cell::new(text).set_alignment(alignment)
        }));
    }
    format!("{table}\n")
}

/// A share as everywhere; the spaces of a terminal are plain, so that they can be searched for.
pub(super) fn percent(share: f64) -> String {
    text::percent(share).replace('\u{a0}', " ")
}

/// An interval of shares.
pub(super) fn interval(ends: [f64; 2]) -> String {
    text::interval(ends).replace('\u{a0}', " ")
}

/// Draws the plots that belong to the run in `directory`; where they are, a line each.
pub(super) fn plots(directory: &RunDirectory) -> Result<String, PageError> {
    let plots = probity::report::plots::write(directory.path())?;
    let line = |plot: &PathBuf| format!("Plot: {}\n", plot.display());
    Ok(plots.iter().map(line).collect())
}

/// A rate of something a second.
pub(super) fn rate(number: u64, seconds: f64) -> String {
    if seconds > 0.0 {
        count((number as f64 / seconds).round() as u64)
    } else {
        "-".to_owned()
    }
}

/// That a classifier tells none of `inputs` apart, and what that means; nothing where it does.
pub(super) fn alike(found: Option<&DecidedAlike>, inputs: &str, meaning: &str) -> String {
    found.map_or(String::new(), |found| {
        format!(
            "DECIDES EVERYTHING ALIKE: all {} {inputs} get the class '{}'. {meaning}\n\n",
            count(found.inputs),
            found.class
        )
    })
}

/// The plain statement about one protected set; `inputs` are what the share is of.
pub(super) fn statement(estimate: &Estimate, inputs: &str) -> String {
    format!(
        "By {}: {} of {inputs} are discriminatory (95 % interval {}, {} sampled).\n",
        estimate.protected.join(" × "),
        percent(estimate.rate),
        interval(estimate.ci95),
        count(estimate.sampled)
    )
}

/// What only the audits of one modality have, for people.
pub(super) trait Shown: Serialize {
    /// What shares are of.
    const INPUTS: &'static str;

    /// What a model is tried on that treats all alike.
    const TRIED: &'static str;

    /// Why there are only that many seeds.
    fn only(seeds: u64) -> String;

    /// What was made of the data.
    fn inputs(&self) -> String;

    /// What the shares come from, where they are of the data as they are: then they come first.
    fn causes(&self) -> Option<String> {
        None
    }

    /// What is said of the pairs.
    fn pairs(&self) -> String {
        String::new()
    }
}

/// The result of an audit.
pub(super) fn audit<D: Shown>(summary: &AuditSummary<D>) -> String {
    let mut text = alike(
        summary.decides_alike.as_ref(),
        D::TRIED,
        "Who is not told apart is not treated differently: that nothing was found says nothing of fairness.",
    );
    if !summary.decision.is_empty() {
        text.push_str(&format!("{}\n", summary.decision));
    }
    let details = &summary.details;
    let statements = summary.fairness.iter();
    let mut shares: String = statements.map(|of| statement(of, D::INPUTS)).collect();
    let mut search = phases(&summary.global, &summary.local, &summary.total);
    search.push_str(&checks(
        &summary.total,
        summary.device,
        &summary.samples_file,
    ));
    match details.causes() {
        Some(causes) => {
            text.push_str(&details.inputs());
            let is_known = !summary.fairness.is_empty();
            shares.push_str(&bound(summary.fail_above.as_ref(), is_known));
            text.push_str(&[&shares, &causes, "\n", &search, &details.pairs()].concat());
        }
        None => {
            let graded = summary.plausibility.as_ref();
            search.push_str(&graded.map_or_else(String::new, plausibility));
            search.push_str(&details.inputs());
            search.push_str(&details.pairs());
            let declared = summary.fail_above.as_ref();
            let on = |share: BoundOn, is_known| {
                bound(declared.filter(|bound| bound.on == share), is_known)
            };
            let is_known = (summary.population.is_some(), !summary.fairness.is_empty());
            let people = summary.population.as_ref();
            let people = people.map_or(STOPPED.to_owned(), population);
            text.push_str(&[&people, &on(BoundOn::Data, is_known.0), "\n", &search, "\n"].concat());
            text.push_str(&[UNIFORM, &shares, &on(BoundOn::Uniform, is_known.1)].concat());
        }
    }
    text.push_str(ending(summary.ending));
    text
}

/// That the rows of the data were not asked about.
const STOPPED: &str =
    "Stopped before the rows of the data were asked about: their share is not known.\n";

/// What the uniform shares are for.
const UNIFORM: &str = "For comparing models, and for people whom the data do not have: inputs drawn uniformly from \
     all values that the schema allows.\n";

/// Kinds of exchanges and terms that are shown.
const CAUSES: usize = 8;

/// Which exchanges and which terms the texts flip by.
fn causes(exchanged: &Exchanged) -> String {
    let mut text = text_moves(&exchanged.moves);
    let pairs = exchanged.pairs.iter().take(CAUSES).map(|pair| {
        vec![
            pair.attribute.clone(),
            format!("{} → {}", pair.from, pair.to),
            count(pair.texts),
            count(pair.flipped),
            percent(pair.rate),
        ]
    });
    let pairs: Vec<Vec<String>> = pairs.collect();
    if !pairs.is_empty() {
        let header = ["attribute", "exchange", "texts", "flipped", "share"];
        text.push_str(&table(&header, &pairs));
    }
    let terms = exchanged.terms.iter().take(CAUSES).map(|term| {
        vec![
            term.attribute.clone(),
            term.term.clone(),
            count(term.texts),
            count(term.flipped),
            percent(term.share_without),
        ]
    });
    let terms: Vec<Vec<String>> = terms.collect();
    if !terms.is_empty() {
        let header = ["attribute", "term", "texts", "flipped", "share without it"];
        text.push_str(&table(&header, &terms));
    }
    text
}

impl Shown for TableDetails {
    const INPUTS: &'static str = "uniform random inputs";
    const TRIED: &'static str = "rows and random inputs that it was tried on";

    fn only(seeds: u64) -> String {
        format!("the data have {seeds} rows")
    }

    fn inputs(&self) -> String {
        let mut text = read_counts(&self.data);
        if let Some(effect) = &self.bins {
            text.push_str(&format!("{}.\n", bins(effect)));
        }
        text
    }
}

/// What reading did to values and rows, where it did anything.
pub(super) fn read_counts(counts: &ReadCounts) -> String {
    let (mapped, skipped) = (counts.mapped_values, counts.skipped_rows);
    let mut text = String::new();
    if mapped > 0 || skipped > 0 {
        text = format!(
            "Of the data, {} outside the domains {} mapped and {} left out, as the schema asks.\n",
            counted(mapped, "value", "values"),
            if mapped == 1 { "was" } else { "were" },
            counted(skipped, "row", "rows")
        );
    }
    text + &bad_rows(&counts.bad_rows)
}

/// What was left out because something is wrong with it, where anything was.
pub(super) fn bad_rows(found: &BadRows) -> String {
    match found.is_empty() {
        true => String::new(),
        false => format!("{found}.\n"),
    }
}

/// What bins change of a predictor's decisions on rows of the data, without a full stop.
pub(super) fn bins(effect: &BinEffect) -> String {
    format!(
        "{} of {} rows of the data ({}) get another class from the predictor when the numbers that stand for their bins \
         replace their own. Rows of the data are audited with their own, rows that are alike in all bins with those of \
         the first of them (of such rows shares are not exact); those that the search makes up, and random inputs, have \
         the numbers of bins",
        count(effect.changed),
        count(effect.rows),
        percent(effect.share)
    )
}

impl Shown for TextDetails {
    const INPUTS: &'static str = "the texts with a protected term, as they are,";
    const TRIED: &'static str = "texts with a protected term";

    fn only(seeds: u64) -> String {
        format!("{seeds} texts hold a protected term")
    }

    fn inputs(&self) -> String {
        let texts = &self.texts;
        let mut text = format!(
            "Of {} texts, {} hold a protected term and {} hold none and were left out; {} were cut to the model's length.\n",
            count(texts.texts),
            count(texts.with_protected_term),
            count(texts.without_protected_term),
            count(texts.truncated)
        ) + &bad_rows(&texts.bad_rows);
        if !self.terms.without_embedding.is_empty() {
            text.push_str(&format!(
                "{} terms were left out because the model has no vector for them: {}.\n",
                self.terms.without_embedding.len(),
                abbreviated(&self.terms.without_embedding)
            ));
        }
        for (number, one, more) in [
            (
                texts.foreign,
                "text is not English",
                "texts are not English",
            ),
            (texts.blank, "text has no word", "texts have no word"),
        ] {
            if number > 0 {
                let said = counted(number, one, more);
                text.push_str(&format!("{said}: no term was looked for there.\n"));
            }
        }
        text
    }

    fn causes(&self) -> Option<String> {
        Some(causes(&self.unmodified))
    }

    fn pairs(&self) -> String {
        let mut text = format!(
            "The pairs come from {}, of which {} flip as they are. Validity of what was found, against its seed:\n",
            counted(self.pairs.sources, "text", "different texts"),
            count(self.pairs.raw_discriminatory)
        );
        let row = |name: &str, means: &ValidityMeans| {
            let mut cells = vec![name.to_owned(), count(means.pairs)];
            cells.extend(means.means().map(|mean| format!("{mean:.4}")));
            cells
        };
        let columns = [
            "phase",
            "pairs",
            "L0",
            "L2",
            "Jaccard",
            "BLEU",
            "similarity",
        ];
        let validity = &self.pairs.validity;
        text.push_str(&table(
            &columns,
            &[
                row("global", &validity.global),
                row("local", &validity.local),
            ],
        ));
        text
    }
}

/// At most eight of `names`, and how many more there are.
fn abbreviated(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Both phases of a search as a table.
fn phases(global: &GlobalSummary, local: &LocalSummary, total: &TotalSummary) -> String {
    let row = |name: &str, starts: u64, steps: u64, generated: u64, found: u64, seconds: f64| {
        let share = if generated > 0 {
            percent(found as f64 / generated as f64)
        } else {
            "-".to_owned()
        };
        vec![
            name.to_owned(),
            if starts > 0 {
                count(starts)
            } else {
                "-".into()
            },
            count(steps),
            count(generated),
            count(found),
            share,
            rate(found, seconds),
            format!("{seconds:.2}"),
        ]
    };
    let mut text = table(
        &[
            "phase",
            "starts",
            "steps",
            "generated",
            "discriminatory",
            "success",
            "per second",
            "seconds",
        ],
        &[
            row(
                "global",
                global.seeds,
                global.iterations,
                global.generated,
                global.discriminatory,
                global.seconds,
            ),
            row(
                "local",
                local.seeds,
                local.trials,
                local.generated,
                local.discriminatory,
                local.seconds,
            ),
            row(
                "both",
                0,
                global.iterations + local.trials,
                total.generated,
                total.discriminatory,
                total.seconds,
            ),
        ],
    );
    text.push_str(
        "generated and discriminatory count distinct individuals (the protected part left out).\n",
    );
    text
}

/// How much was checked, where the pairs are, and what was not confirmed.
fn checks(total: &TotalSummary, device: DeviceName, samples_file: &str) -> String {
    let mut text = format!(
        "Checks: {}, {} a second. Pairs of full rows: {}, in {samples_file}.\n",
        count(total.checks),
        count(total.checks_per_second.round() as u64),
        count(total.discriminatory_rows),
    );
    if total.unconfirmed > 0 {
        text.push_str(&format!(
            "{} pairs found on {device} were not confirmed on the CPU and are left out.\n",
            count(total.unconfirmed),
        ));
    }
    text
}

/// What a declared bound's interval says, if the share is known.
fn bound(summary: Option<&BoundSummary>, is_known: bool) -> String {
    let Some(bound) = summary else {
        return String::new();
    };
    let share = percent(bound.bound);
    let more = match bound.on {
        BoundOn::Data => "more of them would tell",
        BoundOn::Uniform => "raise --estimate",
    };
    match bound.verdict {
        Verdict::Within => {
            format!("Within the bound of {share}: the whole interval is below it.\n")
        }
        Verdict::Exceeds => {
            format!("EXCEEDS the bound of {share}: the whole interval is above it.\n")
        }
        Verdict::Inconclusive if !is_known => format!(
            "INCONCLUSIVE: the audit was stopped before its share was known, so the bound of {share} is not shown to hold.\n"
        ),
        Verdict::Inconclusive => format!(
            "INCONCLUSIVE: the interval contains the bound of {share}, so it is not shown to hold; {more}.\n"
        ),
    }
}

/// Why a search ended early.
fn ending(ending: Ending) -> &'static str {
    match ending {
        Ending::Complete => "",
        Ending::MaxFound => "Stopped: --max-found was reached.\n",
        Ending::Time => "Stopped: the time is used up. This is what was found so far.\n",
        Ending::MaxCalls => {
            "Stopped: the budget of calls is used up. This is what was found so far.\n"
        }
        Ending::Interrupted => "Interrupted. This is what was found so far.\n",
    }
}

/// Quality of a model on several parts of its data.
pub(super) fn quality(parts: &[(&str, &Quality)], classes: &[String]) -> String {
    let of_classes = parts.iter();
    let of_classes: Vec<(&str, &Metrics)> = of_classes
        .filter_map(|(name, quality)| Some((*name, quality.metrics()?)))
        .collect();
    let of_numbers: Vec<(&str, &Errors)> = parts
        .iter()
        .filter_map(|(name, quality)| match quality {
            Quality::Classes(_) => None,
            Quality::Numbers(errors) => Some((*name, errors)),
        })
        .collect();
    match of_numbers.is_empty() {
        true => metrics(&of_classes, classes),
        false => errors(&of_numbers),
    }
}

/// Errors of a regressor on several parts of its data.
fn errors(parts: &[(&str, &Errors)]) -> String {
    let rows: Vec<Vec<String>> = parts
        .iter()
        .map(|(name, errors)| {
            vec![
                (*name).to_owned(),
                count(errors.rows as u64),
                errors
                    .r_squared
                    .map_or("-".to_owned(), |r| format!("{r:.4}")),
                amount(errors.mean_absolute),
                amount(errors.root_mean_squared),
                amount(errors.mean_label),
                amount(errors.mean_prediction),
            ]
        })
        .collect();
    let head = [
        "part",
        "rows",
        "R²",
        "mean absolute error",
        "root mean squared error",
        "mean label",
        "mean prediction",
    ];
    table(&head, &rows)
}

/// A number in the unit of a label, in four digits that count, and never fewer than all before the
/// point.
pub(super) fn amount(number: f64) -> String {
    let before = match number == 0.0 || !number.is_finite() {
        true => 1,
        false => number.abs().log10().floor() as i32 + 1,
    };
    format!("{number:.*}", (4 - before).clamp(0, 12) as usize)
}

/// Quality of a classifier on several parts of its data.
fn metrics(parts: &[(&str, &Metrics)], classes: &[String]) -> String {
    let rows: Vec<Vec<String>> = parts
        .iter()
        .map(|(name, metrics)| {
            vec![
                (*name).to_owned(),
                count(metrics.rows as u64),
                percent(metrics.accuracy),
                percent(metrics.majority_share),
                percent(metrics.balanced_accuracy),
                metrics
                    .auc
                    .map_or("-".to_owned(), |auc| format!("{auc:.4}")),
                format!("{:.4}", metrics.f1),
            ]
        })
        .collect();
    let mut text = table(
        &[
            "part",
            "rows",
            "accuracy",
            "majority class",
            "balanced",
            "AUC",
            "F1",
        ],
        &rows,
    );
    if let Some((name, metrics)) = parts.last() {
        let mut header = vec!["actual".to_owned()];
        header.extend(classes.iter().map(|class| format!("predicted {class}")));
        let rows: Vec<Vec<String>> = classes
            .iter()
            .zip(&metrics.confusion)
            .map(|(class, row)| {
                let mut cells = vec![class.clone()];
                cells.extend(row.iter().map(|&rows| count(rows)));
                cells
            })
            .collect();
        if metrics.undecided > 0 {
            let rows = counted(metrics.undecided, "row", "rows");
            text.push_str(&format!(
                "Of {rows} of the {name} part nothing is decided.\n"
            ));
        }
        text.push_str(&format!("Confusion matrix, {name} part:\n"));
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        text.push_str(&table(&header, &rows));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(percent(0.03141), "3.14 %");
        assert_eq!(interval([0.0, 3.689e-6]), "0.00 % – 0.00037 %");
        assert_eq!(rate(10, 0.0), "-");
        assert_eq!(
            (counted(1, "row", "rows"), counted(0, "row", "rows")),
            ("1 row".into(), "0 rows".into())
        );
        assert_eq!(
            (figure(0.0), figure(0.25)),
            ("0.000000".into(), "0.250000".into())
        );
        assert_eq!(
            (figure(-8.5e307), figure(1e-300)),
            ("-8.500000e307".into(), "1.000000e-300".into())
        );
    }
}
