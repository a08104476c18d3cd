//! An audit as a few lines of Rust: a model and its inputs in memory, findings in memory.
//!
//! [`Audit::new`] begins one. What is not said is as in an [`AuditSpecification`]; nothing is
//! written.
//!
//! | model | inputs |
//! |---|---|
//! | [`Model`] | a [`Table`] that was read by the model's schema |
//! | any [`Classifier`] | a [`Schema`] and a [`Table`] that was read by it |
//! | [`TextModel`] | texts, and a [`Lexicon`] where it is not the one that ships |
//! | any [`TextClassifier`] | [`ClassifiedTexts`] |

use std::borrow::Cow;
use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use thiserror::Error;

use super::audit::{Audit, AuditError, AuditSpecification};
use super::estimate::Estimate;
use super::modality::{Change, Modality, TableCase, TextCase, TextParts, TextSubject};
use super::model_under_test::ModelUnderTest;
use super::opened::{
    Opened, open_encoder, open_fluency_model, open_lexicon, open_protected, open_table,
    protected_or_marked,
};
use super::pairs::{Pair, PairStore};
use super::population::PopulationSummary;
use super::ranked::order;
use super::search::Ending;
use super::session::AuditProgress;
use super::shares::JointShares;
use super::strategies::StrategyName;
use super::text::asked::AskedClassifier;
use super::text::protected::Protected;
use super::text::vocabulary::open_reader;
use probity_data::read::BadRows;
use probity_data::read::RowNumbers;
use probity_data::schema::Schema;
use probity_data::table::{Labels, Table};
use probity_nn::decision::Decision;
use probity_nn::encoding::InputLayout;
use probity_nn::modality::ModalityName;
use probity_nn::model::Model;
use probity_nn::text_classifier::TextClassifier;
use probity_nn::text_model::TextModel;
use probity_nn::{Classifier, ModelError, Rows};
use probity_run::specification::{FieldError, Specification};
use probity_tensor::device::ComputeDevice;
use probity_text::lexicon::Lexicon;

/// The name that stands for a file where a specification asks for one and the value is in memory.
const IN_MEMORY: &str = "memory";

/// A thing that an audit can be made of: a model, with `Inputs` that its seeds come from.
pub trait Auditable<Inputs> {
    /// The kind of inputs: rows of a table, or texts.
    type Case: Modality;

    /// The strategy of an audit that names none, where it is not the usual one.
    fn strategy(&self) -> Option<StrategyName> {
        None
    }

    /// The case of this model and `inputs`, searched as `specification` says on `device`.
    ///
    /// # Errors
    /// When they do not fit each other or the specification.
    fn case(
        self,
        inputs: Inputs,
        specification: &AuditSpecification,
        device: &ComputeDevice,
    ) -> Result<Self::Case, AuditError>;
}

impl<'m> Auditable<&'m Table> for &'m Model {
    type Case = TableCase<'m>;

    fn case(
        self,
        table: &'m Table,
        specification: &AuditSpecification,
        device: &ComputeDevice,
    ) -> Result<TableCase<'m>, AuditError> {
        let model = ModelUnderTest::network(&self.network, device);
        let layout = self.network.layout.clone();
        table_case(specification, (&self.schema, layout), model, table)
    }
}

/// Any classifier of rows; only its outputs are asked for.
impl<'m, C: Classifier> Auditable<(&'m Schema, &'m Table)> for &'m C {
    type Case = TableCase<'m>;

    /// The best of those that need no gradients.
    fn strategy(&self) -> Option<StrategyName> {
        Some(StrategyName::without_gradients(ModalityName::Table))
    }

    fn case(
        self,
        (schema, table): (&'m Schema, &'m Table),
        specification: &AuditSpecification,
        _device: &ComputeDevice,
    ) -> Result<TableCase<'m>, AuditError> {
        let described = (schema.attributes.len(), schema.label.classes.len());
        let own = (self.width(), self.classes());
        if own != described {
            let say = |(width, classes)| format!("{width} attributes and {classes} classes");
            let expected = format!("{}, as the schema has", say(described));
            return Err(FieldError::new("model", say(own), expected).into());
        }
        let model = ModelUnderTest::classifier(Box::new(CheckedClassifier(self)));
        table_case(
            specification,
            (schema, InputLayout::unscaled(&schema.attributes)),
            model,
            table,
        )
    }
}

fn table_case<'m>(
    specification: &AuditSpecification,
    (schema, layout): (&Schema, InputLayout),
    model: ModelUnderTest<'m>,
    table: &'m Table,
) -> Result<TableCase<'m>, AuditError> {
    expect_read_by(schema, table)?;
    let protected = protected_or_marked(&specification.protected, schema);
    let table = Opened::unnamed(Cow::Borrowed(table));
    let (read, model) = ((schema.clone(), layout), Opened::unnamed(model));
    let file = specification.population.file.as_deref();
    let file = file.map(|file| open_table(file, schema, Labels::Unneeded));
    TableCase::new(read, model, table, protected)?.deciding(specification, file.transpose()?)
}

/// Refuses a table that was read by another schema, as far as its codes show.
fn expect_read_by(schema: &Schema, table: &Table) -> Result<(), FieldError> {
    let refuse = |given: String| {
        let expected = format!("a table read by the schema '{}'", schema.name);
        Err(FieldError::new("data", given, expected))
    };
    if table.rows() == 0 {
        return refuse("no rows".to_owned());
    }
    if table.width() != schema.attributes.len() {
        return refuse(format!("a table of {} attributes", table.width()));
    }
    let domains: Vec<(i32, i32)> = schema.attributes.iter().map(|a| a.domain()).collect();
    for number in 0..table.rows() {
        let row = table.row(number);
        let mut codes = row.iter().zip(&domains);
        if let Some(place) = codes.position(|(code, (min, max))| code < min || max < code) {
            let attribute = &schema.attributes[place].name;
            let code = row[place];
            return refuse(format!("{code} as '{attribute}' of row {}", number + 1));
        }
    }
    Ok(())
}

impl<'m, T: ?Sized, S> Auditable<&'m T> for &'m TextModel
where
    &'m T: IntoIterator<Item = &'m S>,
    S: AsRef<str> + ?Sized + 'm,
{
    type Case = TextCase<'m>;

    fn case(
        self,
        texts: &'m T,
        specification: &AuditSpecification,
        device: &ComputeDevice,
    ) -> Result<TextCase<'m>, AuditError> {
        let text = &specification.text;
        let lexicon = text.lexicon.as_deref();
        let protected =
            open_protected(lexicon, &specification.protected, &self.reader, text.preset)?;
        let subject = TextSubject::Words(Box::new(Cow::Borrowed(self)));
        text_case(specification, subject, protected, texts, device)
    }
}

impl<'m, T: ?Sized, S> Auditable<(&'m T, &'m Lexicon)> for &'m TextModel
where
    &'m T: IntoIterator<Item = &'m S>,
    S: AsRef<str> + ?Sized + 'm,
{
    type Case = TextCase<'m>;

    fn case(
        self,
        (texts, lexicon): (&'m T, &'m Lexicon),
        specification: &AuditSpecification,
        device: &ComputeDevice,
    ) -> Result<TextCase<'m>, AuditError> {
        let preset = specification.text.preset;
        let protected = Protected::new(lexicon, &specification.protected, &self.reader, preset)?;
        text_case(
            specification,
            TextSubject::Words(Box::new(Cow::Borrowed(self))),
            Opened::unnamed(protected),
            texts,
            device,
        )
    }
}

/// Texts, and the classes that a classifier puts them into.
#[derive(Debug, Clone, Copy)]
pub struct ClassifiedTexts<'m> {
    /// Names of the classes, by number.
    pub classes: &'m [String],
    /// The texts.
    pub texts: &'m [String],
}

/// Any classifier of texts; only its outputs are asked for.
impl<'m, C: TextClassifier> Auditable<ClassifiedTexts<'m>> for &'m C {
    type Case = TextCase<'m>;

    /// The best of those that need no gradients.
    fn strategy(&self) -> Option<StrategyName> {
        Some(StrategyName::without_gradients(ModalityName::Text))
    }

    fn case(
        self,
        inputs: ClassifiedTexts<'m>,
        specification: &AuditSpecification,
        device: &ComputeDevice,
    ) -> Result<TextCase<'m>, AuditError> {
        let (given, own) = (inputs.classes.len(), self.classes());
        if given != own {
            let expected = format!("{own} classes, as the classifier has");
            return Err(FieldError::new("classes", given.to_string(), expected).into());
        }
        let text = &specification.text;
        let lexicon = open_lexicon(text.lexicon.as_deref(), text.preset)?.value;
        let embeddings = text.embeddings.as_deref();
        let reader = open_reader(embeddings, inputs.texts, &lexicon, text.reads())?;
        let named = &specification.protected;
        let protected = Protected::new(&lexicon, named, &reader.value, text.preset)?;
        let asked = AskedClassifier {
            classifier: Arc::new(self),
            gradients: None,
            classes: inputs.classes.to_vec(),
            reader: reader.value,
            vectors_sha256: reader.sha256,
            ender: None,
            instability: 0.0,
        };
        text_case(
            specification,
            TextSubject::Asked(asked),
            Opened::unnamed(protected),
            inputs.texts,
            device,
        )
    }
}

fn text_case<'m, S: AsRef<str> + ?Sized + 'm>(
    specification: &AuditSpecification,
    subject: TextSubject<'m>,
    protected: Opened<Protected>,
    texts: impl IntoIterator<Item = &'m S>,
    device: &ComputeDevice,
) -> Result<TextCase<'m>, AuditError> {
    let encoder = specification.text.encoder.as_deref();
    let fluency_model = specification.text.fluency_model.as_deref();
    let parts = TextParts {
        model: Opened::unnamed(subject),
        directory: None,
        protected,
        texts: Opened::unnamed(texts.into_iter().map(AsRef::as_ref).collect()),
        rows: RowNumbers::default(),
        bad_rows: BadRows::default(),
        begin_at: None,
        encoder: encoder.map(open_encoder).transpose()?,
        fluency_model: fluency_model.map(open_fluency_model).transpose()?,
    };
    TextCase::new(specification, parts, &|_| true, device)
}

/// A classifier that a caller gave, whose answers are counted and checked before they are used.
struct CheckedClassifier<'m, C>(&'m C);

/// A reason why an answer cannot be used.
#[derive(Debug, Error)]
#[error("{given} numbers for {rows} rows of {classes} classes")]
struct WrongAnswer {
    rows: usize,
    classes: usize,
    given: usize,
}

impl<C: Classifier> Classifier for CheckedClassifier<'_, C> {
    fn width(&self) -> usize {
        self.0.width()
    }

    fn classes(&self) -> usize {
        self.0.classes()
    }

    fn is_fallible(&self) -> bool {
        self.0.is_fallible()
    }

    fn decision(&self) -> &Decision {
        self.0.decision()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        let logits = self.0.logits(rows)?;
        let classes = self.classes();
        if logits.len() != rows.len() * classes {
            return Err(ModelError::predictor(WrongAnswer {
                rows: rows.len(),
                classes,
                given: logits.len(),
            }));
        }
        let mut answers = rows.iter().zip(logits.chunks_exact(classes));
        match answers.find(|(_, logits)| logits.iter().any(|logit| !logit.is_finite())) {
            Some((row, _)) => Err(ModelError::NotFinite { row: row.to_vec() }),
            None => Ok(logits),
        }
    }
}

/// An audit that is set up but not begun yet.
#[derive(Clone)]
#[must_use = "an audit is begun by `run`"]
pub struct AuditBuilder<X, Inputs> {
    model: X,
    inputs: Inputs,
    device: ComputeDevice,
    specification: AuditSpecification,
}

impl<M: Modality> Audit<M> {
    /// An audit of `model` that begins at `inputs`: see [`crate::in_memory`].
    #[allow(clippy::new_ret_no_self)] // reads as what it is: a new audit, not begun yet
    pub fn new<X, Inputs>(model: X, inputs: Inputs) -> AuditBuilder<X, Inputs>
    where
        X: Auditable<Inputs, Case = M>,
    {
        let mut specification = AuditSpecification::default();
        specification.modality = M::NAME;
        specification.model = Some(IN_MEMORY.into());
        specification.data = IN_MEMORY.into();
        specification.strategy = model.strategy();
        AuditBuilder {
            model,
            inputs,
            device: ComputeDevice::flex(),
            specification,
        }
    }
}

impl<X, Inputs> AuditBuilder<X, Inputs> {
    /// Protects these attributes, jointly; otherwise those that the schema marks, or all of the
    /// lexicon.
    pub fn protected<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.specification.protected = names.into_iter().map(Into::into).collect();
        self
    }

    /// Searches by `strategy`; otherwise by ADF, or by a strategy that needs no gradients where
    /// there are none.
    pub fn strategy(mut self, strategy: StrategyName) -> Self {
        self.specification.strategy = Some(strategy);
        self
    }

    /// Begins at this number of inputs.
    pub fn seeds(mut self, seeds: usize) -> Self {
        self.specification.search.seeds = seeds;
        self
    }

    /// Makes this number of local trials from each individual that the global phase finds.
    pub fn local(mut self, trials: u32) -> Self {
        self.specification.search.local = trials;
        self
    }

    /// Estimates each share by this number of inputs.
    pub fn estimate(mut self, inputs: u64) -> Self {
        self.specification.estimate = Some(inputs);
        self
    }

    /// Takes `seed` for everything random.
    pub fn seed(mut self, seed: u64) -> Self {
        self.specification.seed = seed;
        self
    }

    /// Changes any other field of the specification.
    pub fn with(mut self, change: impl FnOnce(&mut AuditSpecification)) -> Self {
        change(&mut self.specification);
        self
    }

    /// Searches on `device`; otherwise on the CPU.
    pub fn device(mut self, device: &ComputeDevice) -> Self {
        self.device = device.clone();
        self
    }

    /// Runs the audit to its end.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn run(self) -> Result<Findings<X::Case>, AuditError>
    where
        X: Auditable<Inputs>,
    {
        self.run_observed(&mut |_| ControlFlow::Continue(()))
    }

    /// Runs the audit; `observe` sees every round and may stop it.
    ///
    /// # Errors
    /// See [`AuditError`].
    pub fn run_observed(
        self,
        observe: &mut dyn FnMut(AuditProgress<'_>) -> ControlFlow<()>,
    ) -> Result<Findings<X::Case>, AuditError>
    where
        X: Auditable<Inputs>,
    {
        let specification = self.specification.check()?;
        let case = self.model.case(self.inputs, &specification, &self.device)?;
        let audit = Audit::from_case(specification, case, &self.device)?;
        let (ending, pairs) = audit.search(observe)?;
        let shares = audit.estimates(observe)?;
        let order = match audit.specification().rank {
            Some(rank) => order(rank, audit.case(), &pairs),
            None => (0..pairs.len()).collect(),
        };
        Ok(Findings {
            case: audit.into_case(),
            ending,
            population: shares.population,
            shares: shares.uniform,
            pairs,
            order,
        })
    }
}

/// The results of an audit.
pub struct Findings<M> {
    case: M,
    ending: Ending,
    population: Option<PopulationSummary>,
    shares: Vec<Estimate>,
    pairs: PairStore,
    /// Numbers of the pairs in the order in which they are given.
    order: Vec<usize>,
}

impl<M: Modality> Findings<M> {
    /// The discriminatory share by all protected attributes jointly: of the rows of the table, of
    /// which [`Self::population`] says more, or of the texts with a protected term; of uniform
    /// random inputs where the audit was stopped before the rows were known.
    pub fn share(&self) -> &Estimate {
        // There is one for each attribute, and the joint one last; an audit protects at least one.
        let last = &self.shares[self.shares.len() - 1];
        self.joint().first().unwrap_or(last)
    }

    /// The discriminatory share of uniform random inputs by all protected attributes jointly;
    /// `None` for texts, and where the audit was stopped before any was drawn.
    pub fn uniform(&self) -> Option<&Estimate> {
        self.joint().drawn()
    }

    fn joint(&self) -> JointShares<'_> {
        JointShares::new(M::NAME, self.population.as_ref(), &self.shares)
    }

    /// The share of uniform random inputs, or of the texts with a protected term, for each
    /// protected attribute alone and, if there are several, for all jointly.
    pub fn shares(&self) -> &[Estimate] {
        &self.shares
    }

    /// Shares of the rows of a table whose decisions change; `None` for texts, whose shares are of
    /// those given, and where the audit was stopped before it was known.
    pub fn population(&self) -> Option<&PopulationSummary> {
        self.population.as_ref()
    }

    /// The reason why the search ended.
    pub fn ending(&self) -> Ending {
        self.ending
    }

    /// The pairs that were found: inputs that differ in protected attributes alone and are
    /// classified differently. In the order found, or by their [`Rank`](super::rank::Rank).
    pub fn pairs(&self) -> impl Iterator<Item = FoundPair<'_>> {
        let pairs = self.order.iter().map(|&number| self.pairs.pair(number));
        pairs.map(|pair| self.found(&pair))
    }

    fn found(&self, pair: &Pair<'_>) -> FoundPair<'_> {
        let shown = self.case.shown(pair);
        let [left, right] = shown.sides;
        let input = |values, label: u32| Input {
            values,
            class: &self.case.classes()[label as usize],
        };
        FoundPair {
            left: input(left, pair.label),
            right: input(right, pair.other_label),
            changed: shown.changed,
        }
    }
}

/// Two inputs that differ in protected attributes alone and are classified differently.
#[derive(Debug, Clone)]
pub struct FoundPair<'a> {
    left: Input<'a>,
    right: Input<'a>,
    changed: Vec<Change>,
}

impl<'a> FoundPair<'a> {
    /// The input that was found.
    pub fn left(&self) -> &Input<'a> {
        &self.left
    }

    /// The variant that is classified differently.
    pub fn right(&self) -> &Input<'a> {
        &self.right
    }

    /// The attributes in which they differ, with the values of both sides.
    pub fn changed(&self) -> &[Change] {
        &self.changed
    }
}

/// An input in the schema's words, or a text, and the class that it is given.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    values: Vec<(&'a str, String)>,
    class: &'a str,
}

impl<'a> Input<'a> {
    /// The values of the input by name; that of a text is called `text`.
    pub fn values(&self) -> &[(&'a str, String)] {
        &self.values
    }

    /// The value of the attribute `name` of the input, if there is one.
    pub fn value(&self, name: &str) -> Option<&str> {
        let mut values = self.values.iter();
        values
            .find(|(own, _)| *own == name)
            .map(|(_, value)| value.as_str())
    }

    /// The class that the input is given.
    pub fn class(&self) -> &'a str {
        self.class
    }
}

/// Writes the values and the class, `age=30, sex=female: no`, or a text in quotation marks.
impl fmt::Display for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.values.as_slice() {
            [(_, text)] => write!(f, "\"{text}\"")?,
            values => {
                for (place, (name, value)) in values.iter().enumerate() {
                    let comma = if place == 0 { "" } else { ", " };
                    write!(f, "{comma}{name}={value}")?;
                }
            }
        }
        write!(f, ": {}", self.class)
    }
}

#[cfg(test)]
mod tests;
