//! What is said of a training: how good the model is on the rows that it has not learnt from, beside what
//! guessing would reach, and why an audit of it may say little.

use super::super::chart::{Mark, Plot, Series, Spacing};
use super::super::document::{Block, Part, Table};
use super::super::model::{Caution, Epoch, Quality, TrainingData, TrainingFindings};
use super::super::text::{Text, count, counted, percent};
use super::ending::interrupted;
use super::left_out;
use super::quality;
use super::shares::{alike_throughout, four_digits};

/// Epochs that a table shows at most.
const EPOCHS: usize = 12;

/// The verdict and the parts.
pub(super) fn parts(training: &TrainingFindings, id: &str) -> (Vec<Text>, Vec<Part>) {
    let mut verdict = Vec::new();
    if !training.finished {
        let epochs = counted(training.history.len() as u64, "epoch", "epochs");
        verdict.push(interrupted(Some(epochs)));
    }
    let inputs = match &training.data {
        TrainingData::Rows(_) => "rows of the data",
        TrainingData::Texts(_) => "texts of the data",
    };
    verdict.extend(alike_throughout(
        training.decides_alike.as_ref(),
        inputs,
        "Its decisions tell nothing in these data apart; what an audit finds of it are inputs unlike them.",
    ));
    verdict.extend(measured(training));
    verdict.extend(
        training
            .cautions
            .iter()
            .filter_map(|&caution| said(caution, training)),
    );
    let mut parts = vec![quality::part(&training.parts(), &training.classes)];
    parts.extend(course(training, id));
    parts.push(model(training));
    parts.push(Part::limits([
        "The rows that the model is measured on are like those that it has learnt from; how good it is for other people is not known.",
        "A model that is right on average may be wrong about some groups more often than about others (probity groups), and may decide otherwise about people who differ in a protected attribute alone (probity audit).",
    ]));
    (verdict, parts)
}

/// How good the model is on the part of the data that it knows least.
fn measured(training: &TrainingFindings) -> Option<Text> {
    let (name, quality) = training.parts().pop()?;
    quality::sentence(quality, name)
}

/// What a caution means for whoever goes on to audit the model.
fn said(caution: Caution, training: &TrainingFindings) -> Option<Text> {
    Some(Text::new(match (caution, training.parts().pop(), &training.data) {
        (Caution::FewKnownWords, _, TrainingData::Texts(texts)) => format!(
            "WARNING: only {} of the tokens have a word vector; the model does not read the others. Give word vectors that know these texts with --embeddings FILE (GloVe, word2vec), or make some: probity embeddings train TEXTS --out FILE.",
            percent(texts.coverage())
        ),
        (Caution::Guessing, Some((_, Quality::Classes(of))), _) => {
            let compared = match of.accuracy < of.majority_share {
                true => "right less often than always saying their most frequent class would be",
                false => "hardly better than guessing",
            };
            format!(
                "WARNING: on these rows the model is {compared} ({} right against {}; balanced accuracy {}, where guessing gets {}); what an audit finds in it says little.",
                percent(of.accuracy),
                percent(of.majority_share),
                percent(of.balanced_accuracy),
                percent(1.0 / training.classes.len().max(1) as f64)
            )
        }
        (Caution::Guessing, ..) => "WARNING: on these rows the model is no better than always saying the mean (R² is not above 0); what an audit finds in it says little.".to_owned(),
        (Caution::FewKnownWords, ..) => return None,
    }))
}

/// The loss of each epoch, where there are several.
fn course(training: &TrainingFindings, id: &str) -> Option<Part> {
    let history = &training.history;
    if history.len() < 2 {
        return None;
    }
    let is_validated = history.iter().any(|of| of.validation_loss.is_some());
    let line = |loss: fn(&Epoch) -> Option<f64>| -> Vec<(f64, f64)> {
        let points = history.iter();
        let points = points.filter_map(|of| Some((f64::from(of.epoch), loss(of)?)));
        points.filter(|(_, loss)| loss.is_finite()).collect()
    };
    let mut lines = vec![("training", line(|of| Some(of.loss)))];
    let mut header = vec!["Epoch", "Loss"];
    let mut description =
        "The mean loss of each epoch on the rows that are learnt from.".to_owned();
    if is_validated {
        lines.push(("validation", line(|of| of.validation_loss)));
        header.extend([
            "Validation loss",
            match training.train {
                Quality::Classes(_) => "Validation accuracy",
                Quality::Numbers(_) => "Validation R²",
            },
        ]);
        description += " The second line is of the validation part: where it rises while the first falls, the model learns its rows by heart.";
    }
    let series = lines
        .into_iter()
        .enumerate()
        .map(|(colour, (name, points))| Series::new(name, colour, Mark::Line, points));
    let plot = Plot {
        x: ("epoch".to_owned(), Spacing::Linear),
        y: ("loss".to_owned(), Spacing::FromZero),
        series: series.collect(),
    };
    let (step, last) = (history.len().div_ceil(EPOCHS), history.len() - 1);
    let shown = history.iter().enumerate();
    let shown = shown.filter(|(place, _)| place % step == 0 || *place == last);
    let rows = shown.map(|(_, of)| {
        let mut row = vec![count(u64::from(of.epoch)), four_digits(Some(of.loss))];
        if is_validated {
            row.extend([of.validation_loss, of.validation_accuracy].map(four_digits));
        }
        row
    });
    let table = Table::new("Loss by epoch.", &header, rows.collect());
    let figure = Block::figure(&plot, format!("{id}-course"), description, table);
    Some(Part::new("Course of the training").with(figure))
}

/// The model, and what reading the data gave.
fn model(training: &TrainingFindings) -> Part {
    let mut facts = vec![
        ("Trainable numbers", count(training.parameters)),
        ("Epochs", count(training.history.len() as u64)),
        ("SHA-256 of the model", training.model_sha256.clone()),
    ];
    if let Quality::Classes(_) = training.train {
        facts.insert(0, ("Classes", training.classes.join(", ")));
    }
    let facts = facts.into_iter();
    let facts = facts.map(|(name, value)| (name.into(), Text::value(&value)));
    let mut part = Part::new("The model and its data").with(Block::Facts(facts.collect()));
    let read = match &training.data {
        TrainingData::Rows(rows) => left_out::rows(rows),
        TrainingData::Texts(texts) => {
            let said = format!(
                "{} of {}, {} of which have a word vector; {} cut to the length limit. The model knows {}.",
                counted(texts.texts, "text", "texts"),
                counted(texts.tokens, "token", "tokens"),
                percent(texts.coverage()),
                counted(texts.truncated, "text was", "texts were"),
                counted(texts.words, "word", "words")
            );
            let bad = texts.bad_rows.as_ref().map(left_out::bad_rows);
            [said].into_iter().chain(bad).collect()
        }
    };
    for sentence in read {
        part = part.with_essential(Block::Paragraph(sentence.into()));
    }
    part
}
