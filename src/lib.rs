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
//! | [`predictor`]  | models that can only be asked: processes and ONNX files                  |
//! | [`knn`]        | k-NN: learn, predict, certify or falsify under poisoning                 |
//! | [`unlearning`] | k-means and sum-product networks from which rows can be deleted exactly  |
//! | [`privacy`]    | outliers under differential privacy                                      |
//! | [`text`]       | words, vectors, protected terms, how close a changed text stays          |
//! | [`report`]     | run directories as pages, Markdown and data                              |
//! | [`run`]        | specifications, run directories, keyed random streams                    |
//! | [`tensor`]     | the only place that knows devices                                        |
//!
//! # Example: audit a model
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use probity::data::{builtin, synthetic::synthetic_census};
//! use probity::fairness::audit::Audit;
//! use probity::nn::model::Model;
//! use probity::nn::train::{options::TableOptions, table::train};
//! use probity::tensor::device::ComputeDevice;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Or Table::read("people.csv", &schema, …), and Model::load("models/people").
//! let schema = builtin::schema("synthetic-census")?.ok_or("no such schema")?;
//! let table = synthetic_census(&schema, 4_000, 1);
//! let (options, flex) = (TableOptions::default(), ComputeDevice::flex());
//! let network =
//!     train(&table, &schema, &options, &flex, None, &mut |_, _| ControlFlow::Continue(()))?.network;
//! let model = Model { schema, network };
//!
//! let audit = Audit::new(&model, &table).protected(["sex"]).seeds(100).local(100).run()?;
//! println!("{}", audit.share()); // 12.1 % (11.5 – 12.8)
//! for pair in audit.pairs().take(3) {
//!     println!("{} → {}: {:?}", pair.left(), pair.right(), pair.changed());
//! }
//! # assert!(audit.pairs().count() > 0);
//! # assert!(audit.pairs().all(|pair| pair.changed() == ["sex"]));
//! # assert!(audit.pairs().all(|pair| pair.left().class() != pair.right().class()));
//! # Ok(())
//! # }
//! ```
//!
//! # Example: how much does a decision rule discriminate?
//!
//! Anything that gives logits is a [`nn::Classifier`]. Here a rule that asks women for more:
//!
//! ```
//! use probity::data::schema::Schema;
//! use probity::fairness::domain::TabularDomain;
//! use probity::fairness::estimate::discriminatory_share;
//! use probity::nn::encoding::{Encoding, InputLayout};
//! use probity::nn::{Classifier, ModelError, Rows};
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
//! let layout = InputLayout::new(&schema.attributes, &[Encoding::RAW; 2]);
//! let domain = TabularDomain::new(&schema, &layout, &[1])?;
//! let sex = vec!["sex".into()];
//! let go_on = &mut |_| std::ops::ControlFlow::Continue(());
//! let share = discriminatory_share(&Rule, &domain, sex, 10_000, 1, go_on)?;
//! // Skills 5 and 6 of 10 are hired only if male.
//! assert!(share.ci95[0] < 0.2 && 0.2 < share.ci95[1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use probity_data as data;
pub use probity_fairness as fairness;
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
