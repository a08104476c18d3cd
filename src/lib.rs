//! Probity audits classifiers whose decisions touch people's lives.
//!
//! It trains or imports neural classifiers on tables and searches them for *individual
//! discrimination*: inputs whose decision changes when nothing but a protected attribute does. It
//! also decides whether a few poisoned training rows can change a k-NN prediction.
//!
//! | module         | what is there                                                            |
//! |----------------|--------------------------------------------------------------------------|
//! | [`data`]       | schemas, tables from files and from memory, published data sets          |
//! | [`nn`]         | the two model interfaces, networks, training, import, model directories  |
//! | [`fairness`]   | audits of tables and texts, estimates, certificates, groups, repair      |
//! | [`indirect`]   | people whose attribute the model never sees, beside people like them       |
//! | [`predictor`]  | models that can only be asked: processes and ONNX files                  |
//! | [`knn`]        | k-NN: learn, predict, certify or falsify under poisoning                 |
//! | [`unlearning`] | k-means and sum-product networks from which rows can be deleted exactly  |
//! | [`privacy`]    | outliers under differential privacy                                      |
//! | [`text`]       | words, vectors, protected terms, how close a changed text stays          |
//! | [`report`]     | run directories as pages, Markdown and data                              |
//! | [`run`]        | specifications, run directories, keyed random streams                    |
//! | [`tensor`]     | the only place that knows devices                                        |
//!
//! # Audit a model of tables
//!
//! ```
//! # use std::ops::ControlFlow::Continue;
//! # use probity::data::{builtin, synthetic::synthetic_census};
//! # use probity::nn::train::{options::TableOptions, table::train};
//! # use probity::tensor::device::ComputeDevice;
//! use probity::{Audit, Model};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let schema = builtin::schema("synthetic-census")?.ok_or("no such schema")?;
//! # let table = synthetic_census(&schema, 4_000, 1);
//! # let (options, flex) = (TableOptions::default(), ComputeDevice::flex());
//! # let network = train(&table, &schema, &options, &flex, None, &mut |_, _| Continue(()))?.network;
//! # let directory = std::env::temp_dir().join(format!("probity-doc-{}", std::process::id()));
//! # Model { schema, network }.save(&directory)?;
//! // let table = Table::read("people.csv", &model.schema, Labels::Optional)?;
//! let model = Model::load(&directory)?;
//! # std::fs::remove_dir_all(&directory)?;
//!
//! let audit = Audit::new(&model, &table).protected(["sex"]).seeds(100).local(100).run()?;
//! println!("{}", audit.share()); // of the rows of the table: 12.1 % (11.1 – 13.1)
//! for pair in audit.pairs().take(3) {
//!     println!("{} → {}: {:?}", pair.left(), pair.right(), pair.changed());
//! }
//! # assert!(audit.pairs().count() > 0);
//! # assert!(audit.pairs().all(|pair| pair.changed().len() == 1 && pair.changed()[0].attribute == "sex"));
//! # assert!(audit.pairs().all(|pair| pair.left().class() != pair.right().class()));
//! # Ok(())
//! # }
//! ```
//!
//! # Audit a model of texts
//!
//! ```
//! # use std::ops::ControlFlow::Continue;
//! # use std::path::Path;
//! # use probity::nn::train::{options::TextOptions, text::train_text, text_set::TextSet};
//! # use probity::tensor::device::ComputeDevice;
//! # use probity::text::{comments::CommentGenerator, corpus::TextCorpus, embeddings::shipped};
//! use probity::{Audit, TextModel};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let comments: Vec<_> = (0..1_500).map(|item| CommentGenerator::new(1).comment(item)).collect();
//! # let texts: Vec<String> = comments.iter().map(|comment| comment.text.clone()).collect();
//! # let corpus = TextCorpus {
//! #     labels: comments.iter().map(|comment| u32::from(comment.toxic)).collect(),
//! #     classes: vec!["fine".into(), "toxic".into()],
//! #     texts: texts.clone(),
//! #     ..TextCorpus::default()
//! # };
//! # let set = TextSet::new(corpus, &shipped()?, Path::new("shipped"), 0)?;
//! # let (mut options, flex) = (TextOptions::default(), ComputeDevice::flex());
//! # (options.network.layers, options.network.train_embeddings) = (1, true);
//! # let split = options.split(texts.len());
//! # let corpus = (set.labelled(), set.table());
//! # let trained = train_text(corpus.0, corpus.1, &split, &options, &flex, None, &mut |_, _| Continue(()))?;
//! # let model: TextModel = set.model(&trained, &split.train, 40)?;
//! // let model = TextModel::load("models/comments")?;
//! // let texts = ["My Kenyan neighbour plays chess .", …];
//! let audit = Audit::new(&model, &texts).protected(["country"]).seeds(50).local(10).run()?;
//! println!("{}", audit.share()); // of the texts with a protected term
//! for pair in audit.pairs().take(3) {
//!     println!("{} → {}: {:?}", pair.left(), pair.right(), pair.changed());
//! }
//! # assert!(audit.pairs().count() > 0);
//! # assert!(audit.pairs().all(|pair| pair.changed().len() == 1 && pair.changed()[0].attribute == "country"));
//! # assert!(audit.pairs().all(|pair| pair.left().value("text") != pair.right().value("text")));
//! # Ok(())
//! # }
//! ```
//!
//! # Audit a decision of your own
//!
//! Anything that scores rows is a [`nn::Classifier`]; only its answers are asked for. Here a rule
//! that asks women for more:
//!
//! ```
//! use probity::nn::{Classifier, ModelError, Rows};
//! use probity::{Audit, Schema, Table};
//!
//! struct Rule;
//! impl Classifier for Rule {
//!     fn width(&self) -> usize { 2 }
//!     fn classes(&self) -> usize { 2 }
//!     fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
//!         let score = |row: &[i32]| row[0] as f32 - if row[1] == 0 { 6.5 } else { 4.5 };
//!         Ok(rows.iter().flat_map(|row| [0.0, score(row)]).collect())
//!     }
//! }
//!
//! let schema = Schema::from_toml(r#"
//!     name = "hiring"
//!     [label]
//!     name = "hired"
//!     classes = ["no", "yes"]
//!     [[attribute]]
//!     name = "skill"
//!     kind = "integer"
//!     min = 1
//!     max = 10
//!     [[attribute]]
//!     name = "sex"
//!     kind = "categorical"
//!     levels = ["female", "male"]
//! "#)?;
//! let people = Table::new(2, vec![3, 0, 5, 1, 9, 0], Vec::new());
//!
//! let audit = Audit::new(&Rule, (&schema, &people)).protected(["sex"]).run()?;
//! // Skills 5 and 6 are hired only if male: those of one of the three rows, and of two in ten skills.
//! assert_eq!(audit.share().discriminatory, 1);
//! let [low, high] = audit.uniform().ok_or("no random inputs")?.ci95;
//! assert!(low < 0.2 && 0.2 < high);
//! assert!(audit.pairs().all(|pair| matches!(pair.left().value("skill"), Some("5" | "6"))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Ask whether a poisoned row could change a k-NN prediction
//!
//! ```
//! use probity::knn::{Analysis, Deadline, Method, Parameters, TrainingSet, Verdict};
//!
//! let features = vec![0.0, 0.1, 0.2, 0.3, 5.0, 5.1, 5.2, 5.3];
//! let training = TrainingSet::new(features, 1, vec![0, 0, 0, 0, 1, 1, 1, 1])?;
//! let parameters = Parameters::default().folds(4).seed(7).candidates(1, 3).poison(1);
//! let system = parameters.learn(training)?;
//! let decision = Analysis::new(&system).decide(&[0.15], Method::Auto, Deadline::never())?;
//! assert!(matches!(decision.verdict, Verdict::Certified(_)));
//! # Ok::<(), probity::knn::PoisoningError>(())
//! ```
//!
//! # Delete people from k-means, and from a sum-product network
//!
//! ```
//! use probity::unlearning::kmeans::{KMeans, Points};
//!
//! // Age and income of people 1 to 6, between declared bounds.
//! let values = [23., 21e3, 27., 24e3, 31., 26e3, 58., 81e3, 61., 90e3, 64., 85e3];
//! let people = Points::from_values((1..=6).collect(), &values, &[(0., 120.), (0., 200e3)])?;
//! let kmeans = KMeans::new(2).seed(1);
//! let mut model = kmeans.fit(&people)?;
//! model.delete(&[3, 5])?;
//! let retrained = kmeans.fit(&people.without(&[3, 5])?)?;
//! assert_eq!(model.to_bytes()?, retrained.to_bytes()?);
//! # Ok::<(), probity::unlearning::kmeans::KMeansError>(())
//! ```
//!
//! ```
//! use probity::unlearning::spn::{Dataset, Domain, LeafFamily, SpnParameters, Variable};
//!
//! let age = Domain::Integer { min: 0, max: 120 };
//! let smokes = Domain::Categorical { levels: vec!["no".into(), "yes".into()] };
//! let variables = vec![
//!     Variable::new("age".into(), age, LeafFamily::Gaussian)?,
//!     Variable::new("smokes".into(), smokes, LeafFamily::Categorical)?,
//! ];
//! let values = [23., 1., 27., 1., 31., 0., 58., 0., 61., 0., 64., 1.];
//! let people = Dataset::new(variables, &[1, 2, 3, 4, 5, 6], &[], &values)?;
//! let mut spn = SpnParameters::default().min_rows(2).seed(1).learn(people)?;
//! spn.delete(&[3, 5])?;
//! assert_eq!(spn.to_bytes()?, spn.retrained()?.to_bytes()?);
//! # Ok::<(), probity::unlearning::spn::SpnError>(())
//! ```
//!
//! # Count outliers without giving anyone away
//!
//! ```
//! use probity::privacy::outliers::OutlierCount;
//! use probity::privacy::records::{DeclaredColumn, Grid};
//!
//! let age = DeclaredColumn { name: "age".into(), min: 0.0, max: 120.0, unit: 15.0 };
//! let grid = Grid::new(vec![age])?;
//! let people = grid.place(&[31.0, 32.0, 35.0, 36.0, 40.0, 41.0, 90.0])?;
//! // People with nobody else within half a unit, at a price of epsilon 0.5 and delta 0.01.
//! let answer = OutlierCount::new(1, 0.5, 0.5, 0.01).answer(&grid, &people)?;
//! println!("about {} outliers", answer.count);
//! # Ok::<(), probity::privacy::error::PrivacyError>(())
//! ```
//!
//! The folder `examples/` has the same as programs.

// The command calls the library as any other program does.
#[cfg(feature = "cli")]
extern crate self as probity;

pub use probity_data as data;
pub use probity_fairness as fairness;
pub use probity_indirect as indirect;
pub use probity_knn as knn;
pub use probity_nn as nn;
pub use probity_predictor as predictor;
pub use probity_privacy as privacy;
pub use probity_report as report;
pub use probity_run as run;
#[cfg(feature = "serve")]
pub use probity_serve as serve;
pub use probity_tensor as tensor;
pub use probity_text as text;
pub use probity_unlearning as unlearning;

#[cfg(feature = "cli")]
pub mod cli;
pub mod failure;
pub mod specifications;

pub use probity_data::schema::Schema;
pub use probity_data::table::Table;
pub use probity_fairness::audit::Audit;
pub use probity_nn::model::Model;
pub use probity_nn::text_model::TextModel;
