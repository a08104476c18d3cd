use super::*;
use probity_data::builtin;
use probity_data::synthetic::synthetic_census;

/// Scores an age against a bound that hangs on the sex; gives so many numbers a row.
struct Rule(usize);

impl Classifier for Rule {
    fn width(&self) -> usize {
        8
    }

    fn classes(&self) -> usize {
        2
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        let score = |row: &[i32]| row.iter().sum::<i32>() as f32 - 40.0;
        let answer = |row| std::iter::once(score(row)).chain([0.0, 1.0]).take(self.0);
        Ok(rows.iter().flat_map(answer).collect())
    }
}

fn people() -> (Schema, Table) {
    let schema = builtin::schema("synthetic-census").unwrap().unwrap();
    let table = synthetic_census(&schema, 50, 1);
    (schema, table)
}

fn refusal(rule: &Rule, schema: &Schema, table: &Table, strategy: StrategyName) -> String {
    let audit = Audit::new(rule, (schema, table)).seeds(10).local(10);
    let run = audit.estimate(100).strategy(strategy).run();
    run.err().unwrap().to_string()
}

#[test]
fn models_and_findings_go_to_other_threads() {
    fn goes<T: Send + Sync>() {}
    goes::<Model>();
    goes::<TextModel>();
    goes::<Findings<TableCase<'static>>>();
    goes::<Findings<TextCase<'static>>>();
    goes::<AuditBuilder<&Model, &Table>>();
}

#[test]
fn a_classifier_of_somebody_elses_is_searched_without_gradients() {
    let (schema, table) = people();
    let audit = Audit::new(&Rule(2), (&schema, &table)).protected(["sex"]);
    let found = audit.seeds(50).local(20).estimate(1000).run().unwrap();
    assert!(found.share().rate > 0.0 && found.pairs().count() > 0);
    for pair in found.pairs() {
        assert_ne!(pair.left().class(), pair.right().class());
        let [change] = pair.changed() else { panic!() };
        assert_eq!(change.attribute, "sex");
        assert_eq!(pair.left().value("sex"), Some(change.from.as_str()));
        assert_eq!(pair.right().value("sex"), Some(change.to.as_str()));
    }
}

#[test]
fn what_does_not_fit_is_refused_by_the_name_of_its_field() {
    let (schema, table) = people();
    let usual = StrategyName::WITHOUT_GRADIENTS;
    let error = refusal(&Rule(2), &schema, &table, StrategyName::Adf);
    assert!(error.starts_with("strategy is adf"), "{error}");
    assert!(error.contains("needs gradients"), "{error}");
    let error = refusal(&Rule(2), &schema, &table, StrategyName::AdfAsc);
    assert!(error.starts_with("strategy is adf-asc"), "{error}");
    let narrow = Table::new(2, vec![0, 1], Vec::new());
    let error = refusal(&Rule(2), &schema, &narrow, usual);
    assert!(error.starts_with("data is a table of 2"), "{error}");
    let outside = Table::new(8, vec![1_000; 8], Vec::new());
    let error = refusal(&Rule(2), &schema, &outside, usual);
    assert!(
        error.starts_with("data is 1000 as 'age' of row 1"),
        "{error}"
    );
    let mut other = schema.clone();
    other.label.classes.push("third".to_owned());
    let error = refusal(&Rule(2), &other, &table, usual);
    assert!(
        error.starts_with("model is 8 attributes and 2 classes"),
        "{error}"
    );
}

#[test]
fn answers_of_the_wrong_length_are_an_error() {
    let (schema, table) = people();
    for numbers in [1, 3] {
        let error = refusal(&Rule(numbers), &schema, &table, StrategyName::RandomWalk);
        assert!(error.contains("predictor failed"), "{error}");
    }
}
