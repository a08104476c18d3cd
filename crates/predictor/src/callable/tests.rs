use super::*;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use probity_data::table::{Labels, Table};

fn schema() -> Schema {
    Schema::from_toml(
        r#"
name = "s"
[label]
name = "y"
classes = ["no", "yes"]
[[attribute]]
name = "age"
kind = "integer"
min = 17
max = 90
missing = ""
outside = "level"
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["Female", "Male"]
missing = ""
outside = "level"
[[attribute]]
name = "gain"
kind = "numeric"
bins = [0.5, 1.0, 1000.0]
values = [0.75, 7.0]
"#,
    )
    .unwrap()
}

/// A function that gives `yes` the probability age / 200.
struct ByAge;

impl Callable for ByAge {
    fn probabilities(&self, rows: &RecordBatch) -> Result<Vec<f64>, String> {
        assert!(rows.num_rows() <= 2);
        let ages = rows.column(0).as_primitive::<Int64Type>();
        if ages.iter().any(|age| age == Some(66)) {
            return Err("no such age".to_owned());
        }
        let shares = ages.iter().map(|age| age.unwrap_or(0) as f64 / 200.0);
        Ok(shares.flat_map(|share| [1.0 - share, share]).collect())
    }

    fn sha256(&self) -> String {
        "by age".to_owned()
    }
}

#[test]
fn rows_are_what_the_data_would_be() {
    let schema = schema();
    let codes = [40, 0, 0, 91, 2, 1, 17, 1, 1];
    let numbers = [f64::NAN, 123.5, f64::NAN];
    let cells = RowCells::new(&schema);
    let batch = cells
        .batch(&schema, Rows::new(&codes, 3), &numbers)
        .unwrap();
    let ages: Vec<_> = batch.column(0).as_primitive::<Int64Type>().iter().collect();
    assert_eq!(ages, [Some(40), None, Some(17)]);
    let sexes: Vec<_> = batch.column(1).as_string::<i32>().iter().collect();
    assert_eq!(sexes, [Some("Female"), None, Some("Male")]);
    let gains: Vec<_> = batch
        .column(2)
        .as_primitive::<Float64Type>()
        .iter()
        .collect();
    assert_eq!(gains, [Some(0.75), Some(123.5), Some(7.0)]);
    // And read again they are the same rows.
    let table = Table::from_arrow(&[batch], &schema, Labels::Optional).unwrap();
    assert_eq!(table.codes(), codes);
}

#[test]
fn a_name_is_asked_while_it_lasts() {
    let schema = schema();
    let registered = register("by-age", Arc::new(ByAge)).unwrap();
    assert!(register("by-age", Arc::new(ByAge)).is_err());
    let predictor = CallablePredictor::find("by-age", &schema, 2).unwrap();
    let codes: Vec<i32> = (17..30).flat_map(|age| [age, 0, 0]).collect();
    let logits = predictor.logits(Rows::new(&codes, 3)).unwrap();
    assert_eq!(logits.len(), 26);
    assert!((f64::from(logits[1]).exp() - 0.085).abs() < 1e-6);
    let failed = predictor.logits(Rows::new(&[66, 0, 0], 3)).unwrap_err();
    let source = std::error::Error::source(&failed).map(ToString::to_string);
    assert!(source.is_some_and(|source| source.contains("no such age")));
    drop(registered);
    assert!(CallablePredictor::find("by-age", &schema, 2).is_err());
}

#[test]
fn numbers_beside_words_are_text_and_beside_numbers_are_numbers() {
    let schema = Schema::from_toml(
        r#"
name = "s"
[label]
name = "y"
classes = ["no", "yes"]
[[attribute]]
name = "rate"
kind = "numeric"
bins = [0.5, 1.0, 1000.0]
values = [0.75, 7.0]
levels = ["Exempt"]
missing = "NA"
outside = "level"
[[attribute]]
name = "score"
kind = "numeric"
bins = [0.0, 10.0, 20.0]
levels = ["8888", "-1"]
"#,
    )
    .unwrap();
    let codes = [1, 0, 2, 2, 3, 3, 0, 1];
    let own = [f64::NAN, 2.5, f64::NAN, f64::NAN, f64::NAN, f64::NAN];
    let numbers = [&own[..], &[0.875, 12.5]].concat();
    let cells = RowCells::new(&schema);
    let batch = cells
        .batch(&schema, Rows::new(&codes, 2), &numbers)
        .unwrap();
    let rates: Vec<_> = batch.column(0).as_string::<i32>().iter().collect();
    assert_eq!(rates, [Some("7"), Some("Exempt"), None, Some("0.875")]);
    let scores: Vec<_> = batch
        .column(1)
        .as_primitive::<Float64Type>()
        .iter()
        .collect();
    assert_eq!(scores, [Some(2.5), Some(8888.0), Some(-1.0), Some(12.5)]);
    // And read again they are the same rows.
    let table = Table::from_arrow(&[batch], &schema, Labels::Optional).unwrap();
    assert_eq!(table.codes(), codes);
}
