//! Models that know an attribute by the columns that the data spread it over
//! ([`Spread`]).
//!
//! Such a model is asked by a schema in which each of these columns is an attribute of whole numbers, in
//! the place of the attribute that they make up: 1 says that a row has the level of the column, 0 that it
//! has not; or an attribute of the two words that the data have for that. Where the level is missing, or outside of those that are known, the column of a mark of
//! missing values says 1 (`race_nan`); where there is none, all are missing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use probity_data::schema::{Attribute, Kind, OutOfDomain, Schema, Spread};
use probity_nn::{Classifier, ModelError, Rows};

use super::own_numbers::{ClassesByOrder, Predictor};

/// The code of a column of a row whose level is not known: the one after 0 and 1.
const MISSING: i32 = 2;

/// The rows of a schema, with the columns that it spreads attributes over in place of these.
pub struct SpreadRows {
    schema: Schema,
    attributes: Vec<Codes>,
}

/// What becomes of the codes of one attribute.
struct Codes {
    /// The place of the first of its columns.
    start: usize,
    /// The number of columns.
    width: usize,
    /// The codes of the columns for each code of an attribute that is spread over them; empty of one
    /// that is not.
    columns: Vec<Vec<i32>>,
}

impl SpreadRows {
    /// Creates the conversion of rows of `schema`.
    pub fn new(schema: &Schema) -> SpreadRows {
        let (mut attributes, mut columns) = (Vec::new(), Vec::new());
        for attribute in &schema.attributes {
            let start = columns.len();
            let mut codes = Vec::new();
            match schema.format.spread.get(&attribute.name) {
                None => columns.push(attribute.clone()),
                Some(spread) => {
                    let names = spread.columns.iter();
                    columns.extend(names.map(|name| column(name, attribute, spread)));
                    codes = codes_of(attribute, spread);
                }
            }
            attributes.push(Codes {
                start,
                width: columns.len() - start,
                columns: codes,
            });
        }
        let mut schema = schema.clone();
        schema.format.spread = BTreeMap::new();
        schema.attributes = columns;
        SpreadRows { schema, attributes }
    }

    /// Returns the schema by which a model is asked.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Returns the codes of `rows` by [`SpreadRows::schema`].
    pub fn codes<'a>(&self, rows: Rows<'a>) -> Cow<'a, [i32]> {
        if self.attributes.iter().all(|codes| codes.columns.is_empty()) {
            return Cow::Borrowed(rows.codes);
        }
        let mut all = Vec::with_capacity(rows.len() * self.schema.attributes.len());
        for row in rows.iter() {
            for (codes, &code) in self.attributes.iter().zip(row) {
                match usize::try_from(code)
                    .ok()
                    .and_then(|it| codes.columns.get(it))
                {
                    Some(columns) => all.extend_from_slice(columns),
                    None => all.push(code),
                }
            }
        }
        Cow::Owned(all)
    }
}

/// Returns the attribute that the column `name` of `attribute`, one of those of `spread`, is.
fn column(name: &str, attribute: &Attribute, spread: &Spread) -> Attribute {
    let has_mark = spread.mark(&attribute.missing).is_some();
    let may_be_missing = attribute.outside == OutOfDomain::Level && !has_mark;
    Attribute {
        name: name.to_owned(),
        kind: match spread.answers.is_empty() {
            true => Kind::Integer { min: 0, max: 1 },
            // In order: they are one column of a matrix, too.
            false => Kind::Categorical {
                levels: spread.answers.clone(),
                ordered: true,
            },
        },
        protected: attribute.protected,
        named: Vec::new(),
        missing: may_be_missing.then_some("").into_iter().collect(),
        merge: BTreeMap::new(),
        outside: match may_be_missing {
            true => OutOfDomain::Level,
            false => OutOfDomain::Reject,
        },
    }
}

/// Returns the codes of the columns of `spread` for each code of `attribute`.
fn codes_of(attribute: &Attribute, spread: &Spread) -> Vec<Vec<i32>> {
    let known = attribute.declared_domain().1;
    let mark = spread.mark(&attribute.missing);
    let of_code = |code: i32| {
        let said = match code <= known {
            true => spread.said_of(&attribute.decode(code)),
            false => mark.and_then(|mark| spread.said_of(mark)),
        };
        match said {
            Some(said) => said.into_iter().map(i32::from).collect(),
            None => vec![MISSING; spread.columns.len()],
        }
    };
    (0..=attribute.domain().1).map(of_code).collect()
}

/// A predictor that is asked with the columns that attributes are spread over.
pub(super) struct SpreadPredictor {
    predictor: Box<dyn Predictor>,
    rows: SpreadRows,
}

impl SpreadPredictor {
    /// Creates the predictor for the rows that `rows` converts to those of `predictor`.
    pub(super) fn new(predictor: Box<dyn Predictor>, rows: SpreadRows) -> SpreadPredictor {
        SpreadPredictor { predictor, rows }
    }
}

impl Classifier for SpreadPredictor {
    fn width(&self) -> usize {
        self.rows.attributes.len()
    }

    fn classes(&self) -> usize {
        self.predictor.classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        self.logits_with(rows, &[])
    }

    fn logits_with(&self, rows: Rows<'_>, numbers: &[f64]) -> Result<Vec<f32>, ModelError> {
        let codes = self.rows.codes(rows);
        let rows = Rows::new(&codes, self.predictor.width());
        self.predictor.logits_with(rows, numbers)
    }

    fn is_fallible(&self) -> bool {
        self.predictor.is_fallible()
    }
}

impl Predictor for SpreadPredictor {
    fn takes(&self, attribute: usize) -> bool {
        let codes = self.rows.attributes.get(attribute);
        codes.is_none_or(|codes| {
            let mut columns = codes.start..codes.start + codes.width;
            columns.any(|column| self.predictor.takes(column))
        })
    }

    fn words_by_place(&self) -> Vec<String> {
        self.predictor.words_by_place()
    }

    fn takes_matrix(&self) -> bool {
        self.predictor.takes_matrix()
    }

    fn spread_matrix(&self) -> Vec<String> {
        let columns = self.rows.schema.attributes.iter();
        let columns = columns.filter(|_| self.takes_matrix());
        columns.map(|column| column.name.clone()).collect()
    }

    fn decides_by_votes(&self) -> bool {
        self.predictor.decides_by_votes()
    }

    fn classes_by_order(&self) -> Option<ClassesByOrder> {
        self.predictor.classes_by_order()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::RecordBatch;
    use arrow_array::cast::AsArray;
    use arrow_array::types::Int64Type;

    use super::*;
    use crate::callable::{Callable, RowCells, register};
    use crate::graph::GraphOptions;
    use crate::probabilities::Probabilities;
    use crate::protocol::Greeting;
    use crate::source::PredictorOptions;

    fn schema() -> Schema {
        Schema::from_toml(
            r#"
name = "people"
[format.spread.race]
columns = ["race_White", "race_Black"]
levels = ["White", "Black"]
base = "Other"
[label]
name = "y"
classes = ["no", "yes"]
[[attribute]]
name = "age"
kind = "integer"
min = 17
max = 90
[[attribute]]
name = "race"
kind = "categorical"
levels = ["Other", "Black", "White"]
missing = ""
outside = "level"
[[attribute]]
name = "gain"
kind = "numeric"
bins = [0.5, 1.0, 1000.0]
"#,
        )
        .unwrap()
    }

    /// One row of each race, and one of which none is known.
    const ROWS: [i32; 12] = [40, 0, 0, 40, 1, 0, 40, 2, 1, 40, 3, 1];

    #[test]
    fn rows_have_the_columns_of_the_data() {
        let (schema, rows) = (schema(), SpreadRows::new(&schema()));
        let asked = rows.schema();
        asked.check().unwrap();
        let codes = rows.codes(Rows::new(&ROWS, 3));
        let cells = RowCells::new(asked);
        let batch = cells.batch(asked, Rows::new(&codes, 4), &[]).unwrap();
        let names: Vec<String> = batch
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect();
        assert_eq!(names, ["age", "race_White", "race_Black", "gain"]);
        let column = |at: usize| {
            let numbers = batch.column(at).as_primitive::<Int64Type>();
            numbers.iter().collect::<Vec<_>>()
        };
        assert_eq!(column(1), [Some(0), Some(0), Some(1), None]);
        assert_eq!(column(2), [Some(0), Some(1), Some(0), None]);
        let greeting = serde_json::to_value(Greeting::new(asked, 1)).unwrap();
        let white = serde_json::json!(
            {"name": "race_White", "kind": "integer", "min": 0, "max": 1, "nullable": true}
        );
        assert_eq!(greeting["columns"][1], white);
        // And read again they are the same rows.
        let labels = probity_data::table::Labels::Optional;
        let table = probity_data::table::Table::from_arrow(&[batch], &schema, labels).unwrap();
        assert_eq!(table.codes(), ROWS);
        // Without such attributes nothing changes.
        let mut plain = schema;
        plain.format.spread = BTreeMap::new();
        let rows = SpreadRows::new(&plain);
        assert_eq!(*rows.schema(), plain);
        assert_eq!(*rows.codes(Rows::new(&ROWS, 3)), ROWS);
    }

    /// Where the data say in a column of its own that the level is missing, so do the rows.
    #[test]
    fn a_missing_level_has_the_column_of_its_mark() {
        let asked_by = |columns: &str, missing: &str| {
            let mut text = format!(
                "name = \"people\"\n[format.spread.race]\n{columns}\n[label]\nname = \"y\"\n\
                 classes = [\"no\", \"yes\"]\n[[attribute]]\nname = \"race\"\nkind = \"categorical\"\n\
                 levels = [\"Black\", \"White\"]\nmissing = {missing}\n"
            );
            text += "outside = \"level\"\n";
            let schema = Schema::from_toml(&text).unwrap();
            let rows = SpreadRows::new(&schema);
            let asked = rows.schema();
            asked.check().unwrap();
            let codes = rows.codes(Rows::new(&[0, 1, 2], 1)).into_owned();
            let width = asked.attributes.len();
            let cells = RowCells::new(asked);
            let batch = cells.batch(asked, Rows::new(&codes, width), &[]).unwrap();
            let labels = probity_data::table::Labels::Optional;
            let table = probity_data::table::Table::from_arrow(&[batch], &schema, labels).unwrap();
            assert_eq!(table.codes(), [0, 1, 2], "they are the same rows");
            let mut columns = asked.attributes.iter();
            assert!(columns.all(|column| column.outside == OutOfDomain::Reject));
            codes
        };
        let own = "columns = [\"race_White\", \"race_Black\", \"race_nan\"]\n\
                   levels = [\"White\", \"Black\", \"nan\"]";
        for missing in ["\"nan\"", "[\"\", \"nan\"]"] {
            assert_eq!(asked_by(own, missing), [0, 1, 0, 1, 0, 0, 0, 0, 1]);
        }
        // Or rows say so in which no column holds.
        let none = "columns = [\"race_White\", \"race_Black\"]\nlevels = [\"White\", \"Black\"]\nbase = \"?\"";
        assert_eq!(asked_by(none, "\"?\""), [0, 1, 1, 0, 0, 0]);
    }

    /// A model that knows the columns by words is asked with these.
    #[test]
    fn rows_have_the_words_of_the_data() {
        let mut schema = schema();
        let spread = schema.format.spread.get_mut("race").unwrap();
        spread.answers = vec!["no".to_owned(), "yes".to_owned()];
        let rows = SpreadRows::new(&schema);
        let asked = rows.schema();
        asked.check().unwrap();
        let codes = rows.codes(Rows::new(&ROWS, 3));
        let batch = RowCells::new(asked).batch(asked, Rows::new(&codes, 4), &[]);
        let batch = batch.unwrap();
        let words = batch.column(1).as_string::<i32>();
        let words: Vec<Option<&str>> = words.iter().collect();
        assert_eq!(words, [Some("no"), Some("no"), Some("yes"), None]);
        let greeting = serde_json::to_value(Greeting::new(asked, 1)).unwrap();
        assert_eq!(
            greeting["columns"][1]["values"],
            serde_json::json!(["no", "yes", ""])
        );
        let labels = probity_data::table::Labels::Optional;
        let table = probity_data::table::Table::from_arrow(&[batch], &schema, labels).unwrap();
        assert_eq!(table.codes(), ROWS);
    }

    /// A function that gives `yes` the probability 0.9 for a race and a gain, and looks at one column of
    /// the two.
    struct ByRace;

    impl Callable for ByRace {
        fn probabilities(&self, rows: &RecordBatch) -> Result<Vec<f64>, String> {
            assert_eq!(rows.num_columns(), 4);
            let black = rows.column(2).as_primitive::<Int64Type>();
            let gain = rows
                .column(3)
                .as_primitive::<arrow_array::types::Float64Type>();
            let yes = black.iter().zip(gain.iter()).map(|(black, gain)| {
                match black == Some(1) && gain == Some(7.5) {
                    true => 0.9,
                    false => 0.2,
                }
            });
            Ok(yes.flat_map(|yes| [1.0 - yes, yes]).collect())
        }

        fn sha256(&self) -> String {
            "by race".to_owned()
        }

        fn takes(&self, column: &str) -> bool {
            matches!(column, "race_Black" | "gain")
        }
    }

    #[test]
    fn a_predictor_is_asked_with_the_columns() {
        let _registered = register("by-race", Arc::new(ByRace)).unwrap();
        let options = PredictorOptions {
            source: "memory:by-race".parse().unwrap(),
            directory: "/".into(),
            timeout_seconds: 1.0,
            rows: 2,
            graph: GraphOptions::default(),
            probabilities: Probabilities::default(),
            schema: schema(),
        };
        let opened = options.open().unwrap().predictor;
        assert_eq!((opened.width(), opened.classes()), (3, 2));
        let takes = [0, 1, 2].map(|attribute| opened.takes(attribute));
        assert_eq!(takes, [false, true, true]);
        let logits = opened.logits_with(Rows::new(&ROWS, 3), &[7.5; 4]).unwrap();
        let yes: Vec<bool> = logits.chunks(2).map(|pair| pair[1] > pair[0]).collect();
        assert_eq!(yes, [false, true, false, false]);
    }
}
