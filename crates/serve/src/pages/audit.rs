//! The page that starts an audit of a model.

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::answer::{Answer, page_with};
use super::filled::{FormPage, Taken, start};
use super::form::{Choice, Field, Form};
use super::options::{Options, insert, names, specified};
use super::sent::SentForm;
use super::session::Visitor;
use super::views::AuditPage;
use super::words::{attribute, attributes_in_words};
use crate::identifier::Id;
use crate::jobs::specification::{JobKind, JobSpecification};
use crate::operations::specifications::lexicon_attributes;
use crate::service::Service;
use crate::store::{Change, ColumnKind, DataKind, DataSet, Model, ModelKind};
use probity_fairness::strategies::StrategyName;
use probity_nn::modality::ModalityName;

/// A model, and the data sets that its search can start from.
pub(super) struct AuditForm {
    model: Model,
    data: Vec<DataSet>,
}

impl FormPage for AuditForm {
    async fn about(service: &Service, change: &Change, id: &Id) -> Result<AuditForm, Response> {
        let model: Model = service.find(change, id).await?;
        let mut data: Vec<DataSet> = service.newest(change).await?;
        data.retain(|data| fits(&model, data));
        // The data that the model learnt from come first.
        data.sort_by_key(|data| model.data.as_ref() != Some(&data.id));
        Ok(AuditForm { model, data })
    }

    fn first(&self) -> Form {
        let mut form = Form::default();
        let (first, advanced) = self.options();
        first.fill(&mut form);
        advanced.fill(&mut form);
        // The answer to "how long" sets these fields, unless a number does.
        for field in EFFORT {
            form.set(field, "");
        }
        form.set("effort", "standard");
        form.set("samples_format", "csv");
        for name in &self.model.description.protected {
            form.add("protected", name);
        }
        // The last outcome of the description of a table is the one that was said to be good; of texts
        // nobody was asked.
        let described = self.outcomes().last().filter(|_| !self.is_of_texts());
        if let Some(outcome) = described {
            form.set(FAVOURABLE, outcome);
        }
        form
    }

    async fn take(&self, service: &Service, sent: &mut SentForm) -> Taken {
        let (usual_name, asked) = self.specification(&mut sent.form)?;
        let label = sent.label(&usual_name);
        Some(start(service, sent, &label, asked).await)
    }

    fn draw(&self, status: StatusCode, visitor: &Visitor<Change>, form: &Form) -> Answer {
        let (first, advanced) = self.options();
        let fields = advanced.inputs();
        let attributes = self.attributes();
        let attributes = attributes
            .iter()
            .map(|name| Choice::new(name, attribute(name, self.modality())));
        let none = self
            .is_of_texts()
            .then(|| Choice::new("", "It is not said"));
        let outcomes = self.outcomes().iter();
        let outcomes = none
            .into_iter()
            .chain(outcomes.map(|outcome| Choice::new(outcome, outcome)));
        page_with(
            status,
            &AuditPage {
                frame: &visitor.frame(""),
                form,
                id: self.model.id.as_str(),
                label: &self.model.label,
                data: &self.starts(),
                attributes: &attributes.collect::<Vec<_>>(),
                efforts: &Choice::list(&[
                    ("quick", "Quick: a first look, a minute at most"),
                    ("standard", "Standard: five minutes at most"),
                    ("thorough", "Thorough: half an hour at most"),
                ]),
                favourable: &Field {
                    choices: outcomes.collect(),
                    ..first.input(FAVOURABLE)
                },
                fail_above: &first.input("fail_above"),
                advanced: &names(&fields),
                fields: &fields,
            },
        )
    }
}

impl AuditForm {
    fn is_of_texts(&self) -> bool {
        self.model.description.kind == ModelKind::Texts
    }

    fn modality(&self) -> ModalityName {
        match self.is_of_texts() {
            true => ModalityName::Text,
            false => ModalityName::Table,
        }
    }

    /// The choices for the start of the search: data sets, and for texts their columns.
    fn starts(&self) -> Vec<Choice> {
        let columns = |data: &DataSet| -> Vec<Choice> {
            let columns = data.sketch.columns.iter().enumerate();
            columns
                .filter(|(_, column)| column.kind == ColumnKind::Words)
                .map(|(position, column)| {
                    Choice::new(
                        format!("{}.{position}", data.id),
                        format!("{}, column {}", data.label, column.name),
                    )
                })
                .collect()
        };
        let starts = |data: &DataSet| match data.sketch.columns.is_empty() || !self.is_of_texts() {
            true => vec![Choice::new(data.id.as_str(), &data.label)],
            false => columns(data),
        };
        self.data.iter().flat_map(starts).collect()
    }

    /// Returns the data set and the column that were chosen.
    fn start(&self, chosen: &str) -> Option<(Id, Option<String>)> {
        let (id, position) = match chosen.split_once('.') {
            Some((id, position)) => (id, Some(position)),
            None => (chosen, None),
        };
        let data = self.data.iter().find(|data| data.id.as_str() == id)?;
        let column = match position {
            Some(position) => {
                let column = data.sketch.columns.get(position.parse::<usize>().ok()?)?;
                Some(column.name.clone())
            }
            None => None,
        };
        Some((data.id.clone(), column))
    }

    /// The outcomes of which one can be chosen as good; none of a regressor.
    fn outcomes(&self) -> &[String] {
        &self.model.description.classes
    }

    /// The attributes that can be protected.
    fn attributes(&self) -> Vec<String> {
        match self.is_of_texts() {
            true => lexicon_attributes(),
            false => self.model.description.attributes.clone(),
        }
    }

    /// The fields of an audit that the page shows; the second value holds those that most people
    /// leave alone.
    fn options(&self) -> (Options, Options) {
        let strategies = StrategyName::for_modality(self.modality()).into_iter();
        let words: Vec<&str> = strategies.map(StrategyName::name).collect();
        let advanced = [
            "strategy",
            "search.seeds",
            "search.local",
            "budget.time",
            "estimate",
            "samples_format",
            "seed",
        ];
        let advanced = Options::new(JobKind::Audit, &advanced).only("strategy", &words);
        let first = match self.outcomes().is_empty() {
            true => &["fail_above"][..],
            false => &["fail_above", FAVOURABLE],
        };
        (Options::new(JobKind::Audit, first), advanced)
    }

    /// The usual name of the audit, and the specification that the form asks for; or notes errors
    /// in the form.
    fn specification(&self, form: &mut Form) -> Option<(String, JobSpecification)> {
        let attributes = self.attributes();
        let mut protected = form.all("protected").to_vec();
        protected.retain(|name| attributes.contains(name));
        if protected.is_empty() {
            form.refuse("protected", "Choose at least one protected attribute.");
        }
        let start = self.start(form.value("data"));
        if start.is_none() {
            form.refuse("data", "Choose the data that the search starts from.");
        }
        let (data, text_column) = start?;
        let favourable = form.value(FAVOURABLE).to_owned();
        if !favourable.is_empty() && !self.outcomes().contains(&favourable) {
            form.refuse(FAVOURABLE, "Choose one of the outcomes.");
        }
        let by = attributes_in_words(&protected, self.modality());
        let label = format!("{} by {by}", self.model.label);
        let mut asked = json!({
            "kind": JobKind::Audit, "modality": self.modality(), "model": self.model.id, "data": data,
            "protected": protected,
        });
        if let Some(column) = text_column {
            insert(&mut asked, "text.column", column.into());
        }
        for (field, value) in EFFORT.into_iter().zip(effort(form.value("effort"))) {
            insert(&mut asked, field, value);
        }
        let (first, advanced) = self.options();
        first.read(form, &mut asked);
        advanced.read(form, &mut asked);
        let specification = specified(form, asked)?;
        Some((label.chars().take(100).collect(), specification))
    }
}

/// Whether a data set has the inputs that the model takes.
pub(super) fn fits(model: &Model, data: &DataSet) -> bool {
    match (model.description.kind, data.kind) {
        (ModelKind::Texts, DataKind::Texts) => true,
        (ModelKind::Table, DataKind::Table) => model.description.attributes.iter().all(|name| {
            let columns = data.sketch.columns.iter();
            columns
                .map(|column| &column.name)
                .any(|column| column == name)
        }),
        _ => false,
    }
}

/// The field of the outcome that is good to get.
const FAVOURABLE: &str = "population.favourable";

/// The fields that the answer to "how long" fills in.
const EFFORT: [&str; 3] = ["search.seeds", "search.local", "budget.time"];

/// The extent of a search for the answer to "how long": seeds, local trials and time.
fn effort(answer: &str) -> [Value; 3] {
    match answer {
        "quick" => [200.into(), 100.into(), "1m".into()],
        "thorough" => [5000.into(), 2000.into(), "30m".into()],
        _ => [1000.into(), 1000.into(), "5m".into()],
    }
}
