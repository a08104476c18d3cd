//! The page that starts a comparison of people: the people in a data set, and what a model decides
//! about them, or what the data say was decided.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

use super::answer::{Answer, page_with, redirect};
use super::audit::fits;
use super::filled::{FormPage, Taken, start};
use super::form::{Choice, Field, Form};
use super::named::Named;
use super::options::{Options, insert, names, specified};
use super::sent::SentForm;
use super::session::Visitor;
use super::views::PeoplePage;
use super::words::list;
use crate::identifier::Id;
use crate::jobs::specification::{JobKind, JobSpecification};
use crate::operations::data::schema;
use crate::operations::schema::TableSchema;
use crate::problem::Problem;
use crate::service::Service;
use crate::store::{Change, DataKind, DataSet, Model, ModelKind};

/// The questions that can be asked about people.
const QUESTIONS: [(JobKind, &str); 3] = [
    (
        JobKind::Counterparts,
        "Who is decided worse than their counterpart outside of the group? Everybody is matched with somebody.",
    ),
    (
        JobKind::Situations,
        "Who is treated worse than people like them? Those most like each person are looked at, in the group and outside of it.",
    ),
    (
        JobKind::Proxies,
        "How well do the other columns tell who is in the group?",
    ),
];

/// The field of the outcome that is good to get.
const FAVOURABLE: &str = "favourable";

/// The fields of the comparisons that the page shows first, where a question has them.
const FIRST: [&str; 2] = [FAVOURABLE, "fail_above"];

/// The fields that most people leave alone.
const ADVANCED: [&str; 5] = ["k", "level", "gap", "folds", "seed"];

/// The field of whom people are compared with: what the question says, unless something is chosen.
const BESIDE: &str = "beside";

/// The answer to it that asks for counterparts who are drawn.
const DRAWN: &str = "density";

/// The field of the attributes that such counterparts have from the person.
const UNAFFECTED: &str = "unaffected";

/// The people in a described table, the models that decide about such people, and other tables with
/// their columns.
pub(super) struct PeopleForm {
    data: DataSet,
    schema: TableSchema,
    models: Vec<Model>,
    others: Vec<DataSet>,
}

impl FormPage for PeopleForm {
    async fn about(service: &Service, change: &Change, id: &Id) -> Result<PeopleForm, Response> {
        let data: DataSet = service.find(change, id).await?;
        if data.kind == DataKind::Texts {
            let detail = "People are compared by the columns of a table; these data are texts.";
            return Err(Problem::conflict(detail).into());
        }
        if !data.has_schema {
            return Err(redirect(&format!("/data/{id}/columns")));
        }
        let schema = schema(service, change, id).await?;
        let mut models: Vec<Model> = service.newest(change).await?;
        models.retain(|model| fits(model, &data));
        // The models that learnt from these data come first.
        models.sort_by_key(|model| model.data.as_ref() != Some(id));
        let mut others: Vec<DataSet> = service.newest(change).await?;
        others.retain(|other| other.id != data.id && has_columns_of(other, &schema));
        Ok(PeopleForm {
            data,
            schema,
            models,
            others,
        })
    }

    fn first(&self) -> Form {
        let mut form = Form::default();
        for (kind, _) in QUESTIONS {
            Options::new(kind, &ADVANCED).fill(&mut form);
        }
        form.set("kind", JobKind::Counterparts.name());
        form.set("model", self.models.first().map_or("", |it| it.id.as_str()));
        for attribute in &self.schema.attributes {
            if attribute.protected {
                form.add("protected", attribute.name.as_str());
            }
        }
        // The last outcome of the description is the one that was said to be good.
        if let Some(outcome) = self.outcomes().last() {
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
        let questions = QUESTIONS.map(|(kind, text)| Choice::new(kind.name(), text));
        let outcomes = self.models.iter().map(|it| &it.description.classes[..]);
        let mut outcomes: Vec<&String> = outcomes.chain([self.outcomes()]).flatten().collect();
        outcomes.sort();
        outcomes.dedup();
        let [favourable, fail_above] =
            FIRST.map(|name| Options::new(JobKind::Counterparts, &[name]).input(name));
        let fields = QUESTIONS.map(|(kind, _)| Options::new(kind, &ADVANCED).inputs());
        let mut fields = fields.concat();
        // What several questions have stands there once.
        let mut shown = BTreeSet::new();
        fields.retain(|field| shown.insert(field.name.clone()));
        let attributes = self.schema.attributes.iter();
        let attributes = attributes.map(|it| Choice::new(&it.name, &it.name));
        page_with(
            status,
            &PeoplePage {
                frame: &visitor.frame(""),
                form,
                id: self.data.id.as_str(),
                label: &self.data.label,
                questions: &questions,
                deciders: &self.deciders(),
                beside: &self.beside(),
                attributes: &attributes.collect::<Vec<_>>(),
                favourable: &Field {
                    choices: outcomes
                        .into_iter()
                        .map(|it| Choice::new(it, it))
                        .collect(),
                    ..favourable
                },
                fail_above: &Field {
                    hint: "It fails if a larger share of a group is worse off, such as 5 %. Left empty, it only measures. The last question has none.".to_owned(),
                    ..fail_above
                },
                advanced: &names(&fields),
                fields: &fields,
            },
        )
    }
}

impl PeopleForm {
    /// The outcomes in the data; none where these are numbers.
    fn outcomes(&self) -> &[String] {
        match self.schema.label.is_number() {
            true => &[],
            false => &self.schema.label.classes,
        }
    }

    /// The answers to whose decisions are looked at: those of the models, and the outcomes in the
    /// data.
    fn deciders(&self) -> Vec<Choice> {
        let models = self.models.iter();
        let models =
            models.map(|it| Choice::new(it.id.as_str(), format!("The model {}", it.label)));
        let outcomes = (!self.outcomes().is_empty()).then(|| {
            Choice::new(
                "",
                format!("The outcomes in the data ({})", self.schema.label.name),
            )
        });
        models.chain(outcomes).collect()
    }

    /// Whom people can be compared with.
    fn beside(&self) -> Vec<Choice> {
        let usual = [
            Choice::new("", "The people of the data who are most like them"),
            Choice::new(
                DRAWN,
                "Somebody who is drawn from what the others are like, with what is unaffected as the person has it",
            ),
        ];
        let given = self.others.iter().map(|other| {
            let text = format!(
                "What they would have been by the table {}, the same people row by row",
                other.label
            );
            Choice::new(other.id.as_str(), text)
        });
        usual.into_iter().chain(given).collect()
    }

    /// Puts the answer to whom people are compared with into `asked`; or notes errors in the form.
    fn read_beside(&self, kind: JobKind, form: &mut Form, asked: &mut Value) {
        let beside = form.value(BESIDE).to_owned();
        let is_drawn = beside == DRAWN;
        let attributes = self.schema.attributes.iter().map(|it| &it.name);
        let unaffected = attributes.filter(|name| form.has(UNAFFECTED, name));
        let unaffected: Vec<&String> = unaffected.collect();
        if kind == JobKind::Proxies && !beside.is_empty() {
            form.refuse(
                BESIDE,
                "The question that you chose compares nobody; leave this as it was.",
            );
        }
        if !is_drawn && !unaffected.is_empty() {
            form.refuse(
                UNAFFECTED,
                "This has a meaning only where somebody is drawn; leave it empty.",
            );
        }
        if unaffected.iter().any(|name| form.has("protected", name)) {
            form.refuse(
                UNAFFECTED,
                "Here stands what the group leaves as it is; a protected attribute is what tells the group.",
            );
        }
        if is_drawn {
            insert(asked, "counterpart", DRAWN.into());
            insert(asked, UNAFFECTED, json!(unaffected));
        } else if self.others.iter().any(|it| it.id.as_str() == beside) {
            insert(asked, "counterfactuals", beside.into());
        } else if !beside.is_empty() {
            form.refuse(BESIDE, "Choose whom they are compared with.");
        }
    }

    /// The usual name of the comparison, and the specification that the form asks for; or notes
    /// errors in the form.
    fn specification(&self, form: &mut Form) -> Option<(String, JobSpecification)> {
        let mut questions = QUESTIONS.into_iter().map(|(kind, _)| kind);
        let kind = questions.find(|kind| kind.name() == form.value("kind"));
        if kind.is_none() {
            form.refuse("kind", "Choose what is asked.");
        }
        let mut models = self.models.iter();
        let model = models.find(|model| model.id.as_str() == form.value("model"));
        let is_of_outcomes = form.value("model").is_empty() && !self.outcomes().is_empty();
        if model.is_none() && !is_of_outcomes {
            form.refuse("model", "Choose whose decisions are looked at.");
        }
        let attributes = self.schema.attributes.iter().map(|it| &it.name);
        let protected = attributes.filter(|name| form.has("protected", name));
        let protected: Vec<&String> = protected.collect();
        if protected.is_empty() {
            form.refuse("protected", "Choose at least one protected attribute.");
        }
        let outcomes = model.map_or(self.outcomes(), |it| &it.description.classes[..]);
        let favourable = form.value(FAVOURABLE);
        if !favourable.is_empty() && !outcomes.iter().any(|outcome| outcome == favourable) {
            let known = list(outcomes);
            form.refuse(
                FAVOURABLE,
                format!("What decides here decides for one of {known}; choose one of these."),
            );
        }
        let kind = kind?;
        let mut asked = json!({ "kind": kind, "data": self.data.id, "protected": protected });
        match model {
            Some(model) => insert(&mut asked, "model", json!(model.id)),
            // Proxies need no decisions, and look at the outcomes where there is no model.
            None if kind == JobKind::Proxies => {}
            None => insert(&mut asked, "label", true.into()),
        }
        self.read_beside(kind, form, &mut asked);
        let shown = [&FIRST[..], &ADVANCED].concat();
        let options = Options::new(kind, &shown);
        options.read(form, &mut asked);
        for (other, _) in QUESTIONS {
            for name in Options::new(other, &shown).changed(form) {
                if !options.has(&name) && form.error(&name).is_none() {
                    form.refuse(
                        name,
                        "The question that you chose has no such setting; leave it as it was.",
                    );
                }
            }
        }
        let subject = model.map_or(&self.data.label, |model| &model.label);
        let label = format!("{}: {subject} by {}", kind.title(), list(&protected));
        let specification = specified(form, asked)?;
        Some((label.chars().take(100).collect(), specification))
    }
}

/// Whether `other` is a table with the columns that the schema describes.
fn has_columns_of(other: &DataSet, schema: &TableSchema) -> bool {
    let columns = &other.sketch.columns;
    let has = |name: &str| columns.iter().any(|column| column.name == name);
    other.kind == DataKind::Table && schema.attributes.iter().all(|it| has(&it.name))
}

/// Shows the form about the people in the data that a model learnt from, else in the newest data
/// that have its columns, with the model chosen.
pub(super) async fn of_model(Named(service, visitor, id): Named<Change>) -> Answer {
    let model: Model = service.find(&visitor.may, &id).await?;
    let mut data: Vec<DataSet> = service.newest(&visitor.may).await?;
    data.retain(|data| data.has_schema && fits(&model, data));
    data.sort_by_key(|data| model.data.as_ref() != Some(&data.id));
    let detail = match (model.description.kind, data.first()) {
        (ModelKind::Table, Some(data)) => {
            let page = PeopleForm::about(&service, &visitor.may, &data.id).await?;
            let form = page.first().with("model", id.as_str());
            return page.draw(StatusCode::OK, &visitor, &form);
        }
        (ModelKind::Table, None) => {
            "There are no people to compare: upload a table with the columns of this model, and describe it."
        }
        (ModelKind::Texts, _) => {
            "People are compared by the columns of a table; this model decides about texts."
        }
    };
    Err(Problem::conflict(detail).into())
}
