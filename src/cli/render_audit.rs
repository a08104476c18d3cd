//! The results of audits for people.

use super::render::{
    alike, bad_rows, count, counted, not_taken, percent, rate, read_counts, statement, table,
};
use super::render_population::{plausibility, population, text_moves};
use probity::fairness::audit::AuditSummary;
use probity::fairness::estimate::Verdict;
use probity::fairness::modality::{TableDetails, TextDetails};
use probity::fairness::search::Ending;
use probity::fairness::specification::BoundOn;
use probity::fairness::statistics::Share;
use probity::fairness::summary::{BoundSummary, GlobalSummary, LocalSummary, TotalSummary};
use probity::fairness::text::exchanged::Exchanged;
use probity::fairness::text::judge::ValidityMeans;
use probity::predictor::own_numbers::BinEffect;
use probity::predictor::stability::AskedTwice;
use probity::tensor::device::DeviceName;
use serde::Serialize;

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
    let mut text = not_taken(&summary.not_taken, &summary.protected);
    text += &alike(
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
    let samples = match summary.rank {
        Some(_) => format!("{}, the worst first", summary.samples_file),
        None => summary.samples_file.clone(),
    };
    search.push_str(&checks(&summary.total, summary.device, &samples));
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
        if let Some(asked) = &self.asked_twice {
            text.push_str(&asked_twice(asked));
        }
        text
    }
}

/// By how many rows it was found that answers hang on the row alone, and what that may have missed.
fn asked_twice(asked: &AskedTwice) -> String {
    let [_, most] = Share::new(0, asked.rows).ci95;
    format!(
        "Asked twice about {} of the data, in other batches, the predictor gave the same answers; that it gives others to more \
         than {} of the rows would have shown with 97.5 % probability.\n",
        counted(asked.rows, "row", "rows"),
        percent(most)
    )
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
fn checks(total: &TotalSummary, device: DeviceName, samples: &str) -> String {
    let mut text = format!(
        "Checks: {}, {} a second. Pairs of full rows: {}, in {samples}.\n",
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
        Verdict::NotApplicable => format!(
            "NOT APPLICABLE: the bound of {share} says nothing of a model that does not take what is protected, so it is not \
             shown to hold. Measure its groups (probity groups); if that it takes nothing is what is wanted, give --blind-ok \
             (blind_ok = true).\n"
        ),
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
