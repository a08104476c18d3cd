//! What is said of an audit.

use super::super::chart::{Bars, Histogram, IntervalRow, Intervals, Plot, Series, Spacing};
use super::super::document::{Block, Part, Table};
use super::super::model::{
    AuditFindings, AuditSummary, Modality, Phase, Quality, Trace, Validity, ValidityMeans,
};
use super::super::pairs::{GAP_BINS, PairFindings, Searched};
use super::super::text::{
    Text, count, counted, in_column, interval, listed, not_taken_sentence, number, percent,
    seconds, seconds_in_column,
};
use super::ending::{interrupted, out_of_time};
use super::left_out;
use super::pairs;
use super::population;
use super::shares::{self, InputKind, crossed};
use super::stories;
use super::terms;
use super::texts;

/// The verdict, and the parts that follow what was audited.
pub(super) fn parts(audit: &AuditFindings, id: &str, most_pairs: usize) -> (Vec<Text>, Vec<Part>) {
    let summary = &audit.summary;
    let mut parts: Vec<Part> = planted(audit, id).into_iter().collect();
    let people = summary.population.as_ref();
    parts.extend(
        people
            .into_iter()
            .flat_map(|people| population::parts(people, stories::part(audit), id)),
    );
    let shares = shares_part(audit, id);
    parts.push(match people {
        // What is said of people says more than what is said of inputs that nobody has.
        Some(_) => shares.folded(),
        None => shares,
    });
    if let Some(exchanged) = &summary.unmodified {
        parts.extend(texts::deciding(exchanged, id));
        parts.push(texts::causes(exchanged));
    }
    let moves = audit.summary.unmodified.as_ref();
    parts.extend(moves.and_then(|of| of.moves.as_ref()).map(|moves| {
        let ways = texts::ways(moves);
        population::moves(
            &moves.changes,
            &population::Score::OfClass(moves.positive.clone()),
            "texts",
            id,
        )
        .say(ways)
        .folded()
    }));
    parts.push(found(audit, id).folded());
    parts.extend(pairs::flips(audit, id).map(Part::folded));
    parts.extend(
        audit
            .pairs
            .searched
            .as_ref()
            .map(|searched| searched_part(audit, searched, id).folded()),
    );
    if audit.pairs.pairs > 0 {
        parts.push(gaps(&audit.pairs, id).folded());
    }
    let graded = audit.summary.plausibility.as_ref();
    parts.extend(graded.map(|graded| population::plausibility(graded, id).folded()));
    let browsable = pairs::browsable(audit, id, most_pairs);
    parts.push(match people {
        // A few of them are told already.
        Some(_) => browsable.folded(),
        None => browsable,
    });
    parts.extend(
        audit
            .summary
            .validity
            .as_ref()
            .map(|of| validity(of).folded()),
    );
    parts.push(groups_and_quality(audit).folded());
    parts.push(limits(audit));
    (verdict(audit), parts)
}

impl AuditSummary {
    /// Says who is disadvantaged, and by how much, in a sentence for each protected attribute alone;
    /// nothing where no rows or texts were asked about as they are.
    pub fn disadvantaged(&self) -> Vec<String> {
        let people = self.population.as_ref().map(population::disadvantaged);
        let texts = self.unmodified.as_ref().map(texts::disadvantaged);
        people.or(texts).unwrap_or_default()
    }
}

fn asked(audit: &AuditFindings) -> InputKind {
    let is_text = audit.summary.modality == Modality::Text;
    let texts = audit.summary.texts.as_ref().filter(|_| is_text);
    InputKind {
        inputs: if is_text {
            "the texts with a protected term"
        } else {
            "random inputs"
        },
        there: texts.map(|texts| texts.with_protected_term),
        is_text,
    }
}

fn verdict(audit: &AuditFindings) -> Vec<Text> {
    let summary = &audit.summary;
    let not_taken = not_taken_sentence(&summary.not_taken, &summary.protected);
    let alike = shares::alike(summary.decides_alike.as_ref());
    let mut sentences: Vec<String> = not_taken.into_iter().chain(alike).collect();
    if !summary.decision.is_empty() {
        sentences.push(summary.decision.clone());
    }
    let people = summary.population.as_ref();
    let of_people = people.map(population::verdict);
    sentences.extend(of_people.unwrap_or_default());
    let exchanged = summary.unmodified.as_ref();
    sentences.extend(exchanged.map(texts::verdict).unwrap_or_default());
    match summary.fairness.last() {
        Some(joint) => sentences.push(match summary.modality {
            Modality::Text => texts::unmodified(asked(audit), joint),
            Modality::Table => asked(audit).sentence(joint),
        }),
        None => sentences.push("No share was estimated.".to_owned()),
    }
    let total = &summary.total;
    sentences.push(match &audit.pairs.texts {
        Some(found) if found.texts == 0 => "The search found no text that flips.".to_owned(),
        // Each source flips as it is, and has no other text.
        Some(found) if found.unmodified == found.texts => format!(
            "The search found {}, all as they are written: it changed no other word of them; how often yours flip, this does not say.",
            texts::counts(found)
        ),
        Some(found) => format!(
            "The search, which also changes other words, found {}, {}; how often yours flip, this does not say.",
            texts::counts(found),
            match found.unmodified {
                0 => "none of which flips as it is".to_owned(),
                1 => "1 of which flips as it is".to_owned(),
                flipping => format!("{} of which flip as they are", count(flipping)),
            }
        ),
        None => format!(
            "The search found {} among {} that it checked ({}); it goes where decisions change, so that this is no share of people.",
            counted(
                total.discriminatory,
                "distinct discriminatory individual",
                "distinct discriminatory individuals"
            ),
            count(total.generated),
            percent(total.success_rate)
        ),
    });
    let local = &summary.local;
    if summary.texts.is_some() && local.generated > 0 && local.discriminatory == 0 {
        sentences.push(format!(
            "Around {} it tried {} more and found none that flips.",
            match local.seeds {
                1 => "the text that it had found".to_owned(),
                starts => format!("the {} that it had found", counted(starts, "text", "texts")),
            },
            counted(local.generated, "text", "texts")
        ));
    }
    match summary.ending.as_str() {
        "max_calls" => sentences.push(
            "The search was ended by its budget of model calls; a larger one may find more."
                .to_owned(),
        ),
        "max_found" => sentences
            .push("The search ended at the number of individuals it was told to find.".to_owned()),
        _ => {}
    }
    // Before its search begins there is nothing to tell the time of.
    let searched = Some(total.seconds).filter(|searched| *searched > 0.0);
    let searched = searched.map(|searched| format!("{} of searching", seconds(searched)));
    let cut_short = match summary.ending.as_str() {
        "interrupted" => Some(interrupted(searched)),
        "time" => Some(out_of_time(searched)),
        _ => None,
    };
    let sentences = sentences.into_iter().map(Text::from);
    cut_short.into_iter().chain(sentences).collect()
}

/// What was planted in the data of a demonstration beside what was found in the model.
fn planted(audit: &AuditFindings, id: &str) -> Option<Part> {
    if audit.planted.is_empty() {
        return None;
    }
    let mut rows = Vec::new();
    let mut table = Vec::new();
    for of in &audit.planted {
        let by = crossed(&of.protected);
        let exactly = [of.planted, of.planted];
        rows.push(IntervalRow::new(
            &format!("{by}, planted"),
            of.planted,
            exactly,
            1,
        ));
        rows.push(IntervalRow::new(
            &format!("{by}, found"),
            of.estimated,
            of.ci95,
            0,
        ));
        table.push(vec![
            by,
            percent(of.planted),
            percent(of.estimated),
            interval(of.ci95),
            if of.recovered { "yes" } else { "no" }.to_owned(),
        ]);
    }
    let title = "Discriminatory share, planted and found";
    let header = [
        "Attributes changed",
        "Planted",
        "Found",
        "95\u{a0}% interval",
        "Planted inside",
    ];
    let figure = Block::figure(
        &Intervals { rows: &rows },
        format!("{id}-planted"),
        "Of each two the upper one is the share that the data were made with, the lower one what the audit found with its 95\u{a0}% interval.",
        Table::new(title, &header, table),
    );
    let of_texts = match audit.summary.modality {
        Modality::Table => "",
        Modality::Text => {
            " It is planted in neutral comments, where the named group alone decides the probable label, and up to one label in ten is noise."
        }
    };
    let part = Part::new("Planted and found").say(format!(
        "The data of this demonstration were made, with a known amount of discrimination planted in them.{of_texts} The audit knows nothing of that: it asks the \
         trained model. Where the planted share lies outside of the interval, the model learnt the rule imperfectly, or the sample is one of the 5 in 100 that miss.",
    ));
    Some(part.with_essential(figure))
}

fn shares_part(audit: &AuditFindings, id: &str) -> Part {
    let summary = &audit.summary;
    let asked = asked(audit);
    let mut part = Part::new(match asked.is_text {
        true => "Discriminatory share by protected attribute",
        false => "Discriminatory share of random inputs by protected attribute",
    })
    .say(format!(
        "An input is discriminatory if the model decides differently on a twin that differs in nothing but the protected attributes. \
         The shares are of {}.",
        match asked.is_text {
            true => "the given texts that hold a protected term, all of them or a random part",
            false => "inputs drawn uniformly from all combinations of values that the schema allows, not of the people in the data: they compare models, and \
             speak of people whom the data do not have",
        }
    ));
    if let Some(read) = &summary.texts {
        part = part.with_essential(Block::Paragraph(texts::read(read).into()));
        let decided = summary.unmodified.as_ref();
        let kept = texts::kept(read, decided.map_or(&[][..], |of| &of.decided));
        if !kept.is_empty() {
            part = part.with_essential(Block::List(kept));
        }
    }
    if !summary.fairness.is_empty() {
        let figure = shares::figure(format!("{id}-shares"), asked, &summary.fairness);
        // Of a table the rows come first; random inputs compare models.
        part = match asked.is_text {
            true => part.with_essential(figure),
            false => part.with(figure),
        };
    }
    if let Some(score) = &summary.causal_discrimination {
        part = part.say(format!(
            "The causal discrimination score of the strategy themis is {} ({} interval {}, {} inputs).",
            percent(score.score),
            percent(score.confidence),
            interval(score.interval),
            count(score.sampled)
        ));
    }
    part
}

fn found(audit: &AuditFindings, id: &str) -> Part {
    let summary = &audit.summary;
    let total = &summary.total;
    let mut part = Part::new("What the search found for how many model calls");
    match &summary.trace {
        Some(_) if total.discriminatory == 0 => {
            part = part.say("It found nothing, so there is no curve of finds.")
        }
        Some(trace) if trace.found.len() > 1 => part = part.with(trace_figure(trace, id)),
        Some(_) => {}
        None => {
            part = part.say(
                "The run does not record how the number of finds grew; a run of this version does.",
            )
        }
    }
    let times = [summary.global.seconds, summary.local.seconds, total.seconds];
    let times = seconds_in_column(&times);
    let row = |name: &str, phase: &Phase, time: &str| {
        vec![
            name.to_owned(),
            count(phase.seeds),
            count(phase.steps),
            count(phase.generated),
            count(phase.discriminatory),
            time.to_owned(),
        ]
    };
    let both = vec![
        "Both".to_owned(),
        "–".to_owned(),
        count(summary.global.steps + summary.local.steps),
        count(total.generated),
        count(total.discriminatory),
        times[2].clone(),
    ];
    part = part.with(Block::Table(Table::new(
        "The search by phase. Individuals are counted once, without their protected part; one that both phases reach counts once in the last row.",
        &["Phase", "Starts", "Steps", "Individuals checked", "Discriminatory", "Search time"],
        vec![row("Global", &summary.global, &times[0]), row("Local", &summary.local, &times[1]), both],
    )));
    part = part.with(terms::explained(&terms::SEARCH));
    if let (Some(rows), Some(gradients)) = (total.model_rows, total.model_gradients) {
        part = part.say(format!(
            "The model was asked for {} and {}.",
            counted(rows, "prediction", "predictions"),
            counted(gradients, "gradient", "gradients")
        ));
    }
    if let Some((finds, hamming)) = summary
        .finds
        .as_ref()
        .and_then(|finds| Some((finds, finds.diversity.hamming?)))
    {
        let cells = finds.diversity.cells;
        let (input, differ, cells) = match summary.texts.is_some() {
            false => (
                "row",
                "of the attributes on average; all of them lie in",
                format!(
                    "{} of a grid of three parts an attribute",
                    counted(cells, "cell", "cells")
                ),
            ),
            true => (
                "text",
                "of the words of the longer one on average; all of them were made of",
                counted(cells, "text", "texts"),
            ),
        };
        part = part.say(format!(
            "Of its seeds {} came to a discriminatory {input} of their own. Two finds differ in {} {differ} {cells}, and cover {} of {} of the data.",
            percent(finds.reached),
            percent(hamming),
            count(finds.diversity.clusters),
            counted(finds.data_clusters, "cluster", "clusters")
        ));
    }
    if total.unconfirmed > 0 {
        part = part.say(format!(
            "{} found on another device were not confirmed on the CPU and are left out.",
            counted(total.unconfirmed, "pair", "pairs")
        ));
    }
    if let (Some(sources), Some(raw)) = (summary.sources, summary.raw_discriminatory) {
        part = part.say(format!(
            "The pairs come from {} of the file, of which {}.",
            counted(sources, "text", "texts"),
            counted(raw, "flips as it is", "flip as they are")
        ));
    }
    part
}

fn trace_figure(trace: &Trace, id: &str) -> Block {
    let calls: Vec<u64> = trace
        .model_rows
        .iter()
        .zip(&trace.model_gradients)
        .map(|(rows, gradients)| rows + gradients)
        .collect();
    let (all, most) = (
        calls.last().copied().unwrap_or(0),
        trace.found.last().copied().unwrap_or(0),
    );
    let half = trace.found.iter().position(|&found| 2 * found >= most);
    let half = half.map_or(0, |place| calls[place]);
    let description = format!(
        "{} individuals after {} calls, half of them after {}. A call is a prediction or a gradient.",
        count(most),
        count(all),
        count(half)
    );
    let points = calls.iter().zip(&trace.found);
    let points = points.map(|(&calls, &found)| (calls as f64, found as f64));
    let points = std::iter::once((0.0, 0.0)).chain(points).collect();
    let chart = Plot {
        x: ("model calls".to_owned(), Spacing::FromZero),
        y: ("individuals found".to_owned(), Spacing::FromZero),
        series: vec![Series::curve(0, "found", points)],
    };
    // A few dozen rows tell as much as a chart can.
    let step = calls.len().div_ceil(30).max(1);
    let last = calls.len() - 1;
    let rows = (0..calls.len())
        .filter(|place| place % step == 0 || *place == last)
        .map(|place| vec![count(calls[place]), count(trace.found[place])]);
    let table = Table::new(
        "Distinct discriminatory individuals against model calls",
        &["Model calls", "Individuals found"],
        rows.collect(),
    );
    Block::figure(&chart, format!("{id}-trace"), description, table)
}

fn searched_part(audit: &AuditFindings, searched: &Searched, id: &str) -> Part {
    let is_text = audit.summary.modality == Modality::Text;
    let (heading, said, name) = match is_text {
        true => (
            "Which words the search replaced",
            "The search replaces words that are not protected to come to texts on which the model discriminates. These words of the seeds were \
             replaced most often.",
            "Word",
        ),
        false => (
            "Which other attributes the search changed",
            "The local search starts at an individual that the global search found and changes attributes that are not protected. Its finds are \
             compared here with their start. Only finds are counted, so an attribute that is changed in \
             many of them is one whose change leaves the discrimination standing.",
            "Attribute",
        ),
    };
    let mut part = Part::new(heading).say(said);
    let changed: Vec<&(String, u64)> = searched.changed.iter().take(20).collect();
    if changed.iter().all(|(_, count)| *count == 0) {
        return part.say("None of them differs.");
    }
    let description = changed.first().map(|(name, pairs)| {
        format!(
            "‘{}’ is changed most often, in {} of {} pairs compared.",
            Text::value(name),
            count(*pairs),
            count(searched.compared)
        )
    });
    let rows: Vec<(Text, u64)> = changed
        .iter()
        .map(|(name, count)| (Text::value(name), *count))
        .collect();
    let share = |pairs: u64| percent(pairs as f64 / searched.compared.max(1) as f64);
    let cells = rows
        .iter()
        .map(|(name, pairs)| vec![name.clone(), count(*pairs).into(), share(*pairs).into()]);
    let table = Table {
        caption: format!("Pairs with a changed {}", name.to_lowercase()).into(),
        header: [name, "Pairs", "Share of the pairs compared"]
            .map(Text::from)
            .into(),
        rows: cells.collect(),
    };
    part = part.with(Block::figure(
        &Bars { rows: &rows },
        format!("{id}-searched"),
        description.unwrap_or_default(),
        table,
    ));
    if searched.others > 0 {
        part = part.say(format!(
            "Words that are not listed were replaced {} times.",
            count(searched.others)
        ));
    }
    part
}

fn gaps(found: &PairFindings, id: &str) -> Part {
    let (gaps, pairs) = (&found.gaps, found.pairs);
    let (mean, largest) = (number(gaps.mean), number(gaps.largest));
    let description = format!(
        "{}. Between the sides it moves by {mean} on average and by {largest} at most.",
        pairs::score(found)
    );
    let chart = Histogram {
        bins: &gaps.bins,
        end: gaps.end,
        x_label: "how far the score moves",
        y_label: "pairs",
    };
    let edge = |place: usize| {
        let edge = gaps.end * place as f64 / GAP_BINS as f64;
        match gaps.are_numbers {
            true => number(edge),
            false => format!("{edge:.2}"),
        }
    };
    let rows = gaps.bins.iter().enumerate().map(|(place, &counted)| {
        vec![
            format!("{} – {}", edge(place), edge(place + 1)),
            count(counted),
            percent(counted as f64 / pairs.max(1) as f64),
        ]
    });
    let title = "Pairs by how far their score moves";
    let table = Table::new(title, &["Gap", "Pairs", "Share"], rows.collect());
    let figure = Block::figure(&chart, format!("{id}-gaps"), description, table);
    Part::new("How far the score moves").with(figure)
}

fn validity(validity: &Validity) -> Part {
    let phases = [&validity.global, &validity.local];
    let column = |of: fn(&ValidityMeans) -> f64| in_column(&phases.map(of));
    let columns = [
        column(|means| means.l0),
        column(|means| means.l2),
        column(|means| means.jaccard),
        column(|means| means.bleu),
        column(|means| means.similarity),
    ];
    let rows = ["Global", "Local"].iter().zip(phases).enumerate();
    let rows = rows.map(|(place, (name, means))| {
        let mut row = vec![(*name).to_owned(), count(means.pairs)];
        row.extend(columns.iter().map(|column| column[place].clone()));
        row
    });
    Part::new("How close the found texts are to their seeds").with(Block::Table(Table::new(
        "Means over pairs. L0: token edits; L2: distance of the word vectors; Jaccard: share of common tokens; BLEU: of 1- to 4-grams; similarity: \
         cosine of the sentence vectors.",
        &["Phase", "Pairs", "L0", "L2", "Jaccard", "BLEU", "Similarity"],
        rows.collect(),
    )))
}

fn groups_and_quality(audit: &AuditFindings) -> Part {
    let mut part = Part::new("Group metrics and quality");
    part = match &audit.quality {
        Some(quality) => part.with(quality_table(quality)),
        None => part.say("How accurate the model is, this run does not know: no model directory with its test figures was found where the run names one."),
    };
    if audit.summary.modality == Modality::Table {
        part = part.say(
            "How often a model is right, and wrong, in each group is in a run of probity groups or probity repair; give it beside this one to have \
             it in this report.",
        );
    }
    part
}

/// How a model does on rows that it has not seen.
fn quality_table(quality: &Quality) -> Block {
    Block::Table(Table::new(
        format!(
            "The model on {} that it was not trained on.",
            counted(quality.rows(), "row", "rows")
        ),
        quality.header(),
        vec![quality.row()],
    ))
}

fn limits(audit: &AuditFindings) -> Part {
    let summary = &audit.summary;
    let protected = crossed(&summary.protected);
    let mut limits = vec![
        "The search shows that discrimination exists. Where it finds none, that proves nothing; probity certify can prove single inputs fair.".to_owned(),
        format!("Only {protected} was examined, and only by changing it. Discrimination through other attributes that go along with it, such as a place of residence, is not seen by this method."),
    ];
    match &summary.texts {
        None if summary.fairness.iter().any(|share| share.sampled > 0) => limits.push(
            "The share of random inputs counts all combinations of values alike. Many of them no person has, so that share may be higher or lower among real people.".to_owned(),
        ),
        None => {}
        Some(texts) => limits.extend([
            format!(
                "The shares are of texts with a protected term that another can replace. {} of {} texts {} nothing about the model here.",
                count(texts.without_protected_term),
                count(texts.texts),
                match texts.without_protected_term {
                    1 => "has none and says",
                    _ => "have none and say",
                }
            ),
            "Where all values of a text are exchanged for each other at once, as genders are, a text that names several counts for the one that it names first.".to_owned(),
            "A term is replaced by another of its attribute. Names that no list holds, and hints between the lines, are not changed.".to_owned(),
            "Each interval of an exchange or a term holds by itself. Of many, a few miss by chance.".to_owned(),
            "Texts that the search wrote need not be good sentences; how close they are to real ones is stated above.".to_owned(),
        ]),
    }
    limits.extend(summary.bins.as_ref().map(shares::bins));
    limits.extend(summary.asked_twice.as_ref().map(|asked| {
        format!(
            "That an answer hangs on the row alone was tried by asking twice about {}. What differs more seldom was not seen.",
            counted(asked.rows, "row of the data", "rows of the data")
        )
    }));
    limits.push("Found individuals depend on where the search began and how long it went on; their number is not a measure of how unfair the model is. The share is.".to_owned());
    limits.push("Intervals cover chance in the drawing of inputs (95 %, exact by Clopper and Pearson), not what was left out.".to_owned());
    let part = Part::limits(limits);
    let part = match unused(summary) {
        unused if unused.is_empty() => part,
        unused => part.with_essential(Block::List(unused)),
    };
    let terms = summary.terms.as_ref();
    match terms.map_or(&[][..], |terms| &terms.without_embedding) {
        unknown if unknown.len() > FEW_TERMS => part.say(format!(
            "The terms that the model has no vector for: {}.",
            listed(unknown, "and")
        )),
        _ => part,
    }
}

/// Terms that a terminal names of those that were left out.
const FEW_TERMS: usize = 10;

/// Says which parts of the data, and which terms, were not used as they are.
fn unused(summary: &AuditSummary) -> Vec<Text> {
    let mut said = summary.data.as_ref().map_or(Vec::new(), left_out::rows);
    let texts = summary.texts.as_ref();
    let bad_rows = texts.and_then(|texts| texts.bad_rows.as_ref());
    said.extend(bad_rows.map(left_out::bad_rows));
    said.extend(
        summary
            .values
            .as_ref()
            .map(texts::values)
            .unwrap_or_default(),
    );
    let terms = summary.terms.as_ref();
    let unknown = terms.map_or(&[][..], |terms| &terms.without_embedding);
    if !unknown.is_empty() {
        let left_out = counted(unknown.len() as u64, "term was", "terms were");
        said.push(match unknown.len() <= FEW_TERMS {
            true => format!(
                "{left_out} left out because the model has no vector for them: {}.",
                listed(unknown, "and")
            ),
            false => format!(
                "{left_out} left out because the model has no vector for them, such as {}.",
                listed(&unknown[..FEW_TERMS], "and")
            ),
        });
    }
    said.into_iter().map(Text::from).collect()
}
