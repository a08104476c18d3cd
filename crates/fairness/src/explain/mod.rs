//! One person: what the model decides, what it would decide with other protected values, and the
//! smallest change of anything else after which these no longer matter.
//!
//! ```text
//! row N of the file ─► a case of this one input            (modality, `explained`)
//!                         │ check_all: every variant asked about
//!                         ▼
//!                  variants that flip, and in which direction
//!                         │ places that may change, what may stand there, how far that is
//!                         ▼
//!                  changes in order, each checked against all variants   (smallest)
//! ```
//!
//! A change *undoes* a flip if all variants of the changed input get one class. Changes are ordered by
//! how many attributes (or words) they change, then by their distance: the sum, over the attributes,
//! of the change divided by the range of an ordered attribute, 1 for one without order and for a
//! missing value; of a word, its rank among the words that may take the place divided by their
//! number. They are tried in this order, so that what is found is proven smallest, and
//! what is not found within the budget is known to change no fewer attributes than were gone through.
//! Everything is answered on the device of reference.

mod smallest;
pub mod specification;

use serde::Serialize;

pub use self::smallest::Ending;
pub(crate) use self::smallest::{Allows, Place, scaled_distance};
use self::smallest::{Question, Searched, smallest};
use self::specification::ExplainSpecification;
use crate::audit_error::AuditError;
use crate::check::check_all;
use crate::domain::Domain;
use crate::modality::{Change, Modality, ModalityName, ShownPair, TableCase, TextCase};
use crate::pairs::{Pair, Phase};
use crate::predictions::log_probability;
use crate::specification::AuditSpecification;
use probity_data::numbers::place_of;
use probity_nn::decision::{Decision as By, Score};
use probity_nn::{Classifier, Rows};
use probity_run::specification::FieldError;
use probity_tensor::device::ComputeDevice;

/// An attribute, or `text`, and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Named {
    /// The attribute.
    pub attribute: String,
    /// The value of the attribute.
    pub value: String,
}

/// The direction in which a decision changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The favourable class is gained.
    ToFavourable,
    /// The favourable class is lost.
    FromFavourable,
    /// The favourable class is on neither side.
    BetweenOthers,
}

/// The words in place of a class where numbers differ by no more than the gap.
const WITHIN: &str = "within the gap";

/// The decision of the model on an input.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Decision {
    /// The class, or that there is none; where scores are compared, the most probable one; of a
    /// regressor its number.
    pub class: String,
    /// The number that a regressor gives, in the unit of its label; nothing of a classifier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<f64>,
    /// The probability of each class, in the order of the classes; none of a regressor.
    pub probabilities: Vec<f64>,
}

/// The input with other protected values.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Variant {
    /// The protected values, or the text.
    pub values: Vec<Named>,
    /// The values that are not the input's own: none for the input itself.
    pub changed: Vec<Change>,
    /// The decision on the variant.
    #[serde(flatten)]
    pub decision: Decision,
    /// Whether the decision is another class than the input's.
    pub flips: bool,
    /// The direction of the change, where the decision flips and a favourable class is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
}

/// A change after which all variants get one class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Undoing {
    /// The changes to the input.
    pub changes: Vec<Change>,
    /// The distance of the changed input from the input, as the changes are ordered.
    pub distance: f64,
    /// The whole changed input.
    pub input: Vec<Named>,
    /// The class of all of its variants; of a regressor that their numbers are within the gap.
    pub class: String,
}

/// The attempt to undo the flips, and its results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct UndoingSummary {
    /// The reason why the search for changes ended.
    pub ending: Ending,
    /// Whether it is certain that no smaller change undoes the flips than the first of `changes`, or,
    /// where there is none, that none does.
    pub proven: bool,
    /// The number of attributes or words up to which all changes were tried, but for those that add
    /// to one that was found.
    pub complete: usize,
    /// Changes that were tried.
    pub tried: u64,
    /// Rows or texts that the model was asked about in the search.
    pub calls: u64,
    /// Largest number of rows or texts that the model might be asked about.
    pub max_calls: u64,
    /// The smallest change, then the smallest of those that keep something that it changes, and so
    /// on: none changes all that one before it does.
    pub changes: Vec<Undoing>,
}

/// The explanation of the decision on one input.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The kind of inputs: rows of a table, or texts.
    pub modality: ModalityName,
    /// SHA-256 of the model.
    pub model_sha256: String,
    /// SHA-256 of the data file.
    pub data_sha256: String,
    /// Number of the row in its file, from 1.
    pub row: u64,
    /// The input.
    pub input: Vec<Named>,
    /// Protected attributes.
    pub protected: Vec<String>,
    /// The protected attributes that the model has no input for: nothing can flip by them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_taken: Vec<String>,
    /// What users are to know of the answers of a predictor.
    #[serde(skip)]
    pub remarks: Vec<String>,
    /// The other attributes that must not change.
    pub fixed: Vec<String>,
    /// The classes, in the order of the probabilities.
    pub classes: Vec<String>,
    /// The class that is good to get, where one is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub favourable: Option<String>,
    /// The decision on the input.
    #[serde(flatten)]
    pub decision: Decision,
    /// Number of variants with another class.
    pub flips: u64,
    /// All variants, the input among them, in the order of their protected values.
    pub variants: Vec<Variant>,
    /// The number of texts that said which words stand beside each other, by which changes were chosen: 0
    /// where the text was the only one, so that any near words might. Nothing of rows, and where n-grams
    /// of a file or a fluency model said it, or nothing was asked of fluency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fluency_texts: Option<u64>,
    /// The changes that undo the flips; none where there are no flips.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undoing: Option<UndoingSummary>,
}

/// A case of one input.
pub(crate) trait Explained: Modality {
    /// The input of the number `row` in the file that `specification` names.
    fn open_at(
        specification: &AuditSpecification,
        row: u64,
        device: &ComputeDevice,
    ) -> Result<Self, AuditError>;

    /// The input as a row of the domain.
    fn input(&self) -> Vec<i32>;

    /// Names of the classes that have probabilities.
    fn scored(&self) -> &[String];

    /// The number of texts that say which words stand beside each other, 0 where the input is the only
    /// one; nothing of rows, and where something else says it or nothing is asked of fluency.
    fn fluency_texts(&self) -> Option<u64> {
        None
    }

    /// The places of the input that may change, but for the attributes `fixed`.
    fn places(&self, fixed: &[String]) -> Result<Vec<Place>, AuditError>;

    /// The differences between the input and `row`, where places were changed.
    fn changes(&self, row: &[i32]) -> Vec<Change>;

    /// Does `work` with a function that says whether an input may be asked about, by
    /// `specification`.
    fn limited<R>(
        &self,
        specification: &AuditSpecification,
        work: impl FnOnce(Allows<'_>) -> R,
    ) -> R;
}

/// Explains the decision that `specification` names.
///
/// # Errors
/// When something cannot be opened, there is no such row, or the model cannot answer.
pub fn explain(specification: &ExplainSpecification) -> Result<Explanation, AuditError> {
    match specification.modality {
        ModalityName::Table => explained::<TableCase<'_>>(specification),
        ModalityName::Text => explained::<TextCase<'_>>(specification),
    }
}

fn explained<E: Explained>(asked: &ExplainSpecification) -> Result<Explanation, AuditError> {
    let (searched, row) = (asked.as_audit(), asked.row()?);
    let case = E::open_at(&searched, row, &ComputeDevice::flex()).map_err(own_field)?;
    let favourable = asked.favourable.as_deref();
    let favourable = favourable.map(|named| favoured(named, case.scored()));
    let favourable = favourable.transpose()?;
    let places = case.places(&asked.fixed)?;
    let input = case.input();
    let (model, domain) = (case.model().judge(), case.domain());
    let checks = check_all(model, domain, Rows::new(&input, domain.width()))?;
    let Some(check) = checks.first() else {
        return Err(FieldError::new("row", row, "a row with an input").into());
    };
    let scored = case.scored();
    let good = match model.decision() {
        // The higher score.
        By::Gap(_) => favourable.map(|_| 1),
        _ => favourable,
    };
    let logits = check.variant_logits.chunks_exact(model.classes());
    let mut flips = check.checked.flips.iter().peekable();
    let variants = logits.enumerate().map(|(variant, logits)| {
        let flip = flips.next_if(|flip| flip.variant as usize == variant);
        let mut row = Vec::with_capacity(input.len());
        domain.write_variant(&input, variant, &mut row);
        let shown = shown(&case, &input, variant);
        let [_, values] = shown.sides.map(named);
        Variant {
            values: protected_of(&case, values),
            changed: shown.changed,
            decision: decision(model, (&row, logits), scored),
            flips: flip.is_some(),
            direction: flip
                .zip(good)
                .map(|(flip, good)| direction(good, flip.decided[0], flip.decided[1])),
        }
    });
    let variants: Vec<Variant> = variants.collect();
    let sha256 = |role: &str| case.sha256().get(role).cloned().unwrap_or_default();
    let undoing = match check.checked.flips.first() {
        None => None,
        Some(flip) => Some(case.limited(&searched, |allows| {
            let question = Question {
                model,
                domain,
                row: &input,
                places: &places,
                allows,
                most_places: asked.most_places(),
                alternatives: asked.alternatives as usize,
                max_calls: asked.most_calls(),
                hint: flip.variant,
            };
            smallest(&question).map(|found| undoing(&case, found, asked.most_calls()))
        })?),
    };
    Ok(Explanation {
        modality: E::NAME,
        model_sha256: sha256("model"),
        data_sha256: sha256("data"),
        row,
        input: named(shown(&case, &input, domain.own_variant(&input)).sides[0].clone()),
        protected: case.protected().to_vec(),
        not_taken: case.no_inputs().to_vec(),
        remarks: case.remarks().to_vec(),
        fixed: asked.fixed.clone(),
        classes: scored.to_vec(),
        favourable: favourable.map(|place| case.scored()[place as usize].clone()),
        decision: decision(model, (&input, &check.checked.logits), scored),
        flips: check.checked.flips.len() as u64,
        variants,
        fluency_texts: case.fluency_texts(),
        undoing,
    })
}

fn undoing<E: Explained>(case: &E, searched: Searched, max_calls: u64) -> UndoingSummary {
    let changes = searched.found.iter().map(|found| {
        let variant = case.domain().own_variant(&found.row);
        let [input, _] = shown(case, &found.row, variant).sides.map(named);
        Undoing {
            changes: case.changes(&found.row),
            distance: found.distance,
            input,
            class: {
                let decision = case.model().judge().decision();
                match is_number(decision) {
                    true => WITHIN.to_owned(),
                    false => decision.name(case.scored(), found.class).to_owned(),
                }
            },
        }
    });
    UndoingSummary {
        ending: searched.ending,
        proven: !searched.found.is_empty() || searched.ending == Ending::Exhausted,
        complete: searched.complete,
        tried: searched.tried,
        calls: searched.calls,
        max_calls,
        changes: changes.collect(),
    }
}

/// Returns `error` with the field of an explanation in the place of that of an audit.
fn own_field(error: AuditError) -> AuditError {
    match error {
        AuditError::Field(field) if field.field == "population.favourable" => FieldError {
            field: "favourable".to_owned(),
            ..field
        }
        .into(),
        other => other,
    }
}

/// The number of the class that is `named`.
fn favoured(named: &str, classes: &[String]) -> Result<u32, FieldError> {
    let place = place_of(classes, named).map(|place| place as u32);
    place.ok_or_else(|| {
        let expected = format!("one of the classes {}", classes.join(", "));
        FieldError::new("favourable", format!("'{named}'"), expected)
    })
}

fn direction(favourable: u32, from: u32, to: u32) -> Direction {
    match (from == favourable, to == favourable) {
        (false, true) => Direction::ToFavourable,
        (true, false) => Direction::FromFavourable,
        _ => Direction::BetweenOthers,
    }
}

/// Whether numbers are compared.
fn is_number(decision: &By) -> bool {
    matches!(decision, By::Gap(gap) if gap.score == Score::Number)
}

fn decision(
    model: &dyn Classifier,
    (row, logits): (&[i32], &[f32]),
    classes: &[String],
) -> Decision {
    if is_number(model.decision()) {
        let number = Score::Number.compute(logits);
        return Decision {
            class: (number as f32).to_string(),
            number: Some(number),
            probabilities: Vec::new(),
        };
    }
    let probability = |class| log_probability(logits, class).exp();
    let decided = model.decision().decide(row, logits);
    Decision {
        number: None,
        class: model.decision().name(classes, decided).to_owned(),
        probabilities: (0..logits.len()).map(probability).collect(),
    }
}

/// The pair of `row` and its variant of that number.
fn shown<'c, E: Explained>(case: &'c E, row: &[i32], variant: usize) -> ShownPair<'c> {
    case.shown(&Pair {
        seed: 0,
        phase: Phase::Global,
        step: 0,
        row,
        variant: variant as u32,
        label: 0,
        other_label: 0,
        logits: &[],
        other_logits: &[],
    })
}

fn named(values: Vec<(&str, String)>) -> Vec<Named> {
    let named = values.into_iter().map(|(attribute, value)| Named {
        attribute: attribute.to_owned(),
        value,
    });
    named.collect()
}

/// The protected values among `values`, in the order in which they are protected; of a text all of
/// it.
fn protected_of<E: Explained>(case: &E, values: Vec<Named>) -> Vec<Named> {
    if E::NAME == ModalityName::Text {
        return values;
    }
    let of = |name: &String| values.iter().find(|value| value.attribute == *name);
    case.protected().iter().filter_map(of).cloned().collect()
}

#[cfg(test)]
mod tests;
