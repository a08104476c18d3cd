use super::*;
use probity_data::builtin;
use probity_data::synthetic::synthetic_census;
use std::sync::Mutex;

/// A classifier that scores an age against a bound that hangs on the sex; gives the number of
/// numbers in its field for each row.
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
    assert!(found.uniform().unwrap().rate > 0.0 && found.pairs().count() > 0);
    // The share is that of the rows; that of random inputs has a name of its own.
    assert_eq!(found.share(), found.population().unwrap().joint().unwrap());
    assert_eq!(found.share().sampled, 50);
    assert_eq!(found.uniform().unwrap().sampled, 1000);
    assert_eq!(found.uniform(), found.shares().last());
    for pair in found.pairs() {
        assert_ne!(pair.left().class(), pair.right().class());
        let [change] = pair.changed() else { panic!() };
        assert_eq!(change.attribute, "sex");
        assert_eq!(pair.left().value("sex"), Some(change.from.as_str()));
        assert_eq!(pair.right().value("sex"), Some(change.to.as_str()));
    }
}

#[test]
fn without_an_answer_about_the_rows_the_share_is_that_of_random_inputs() {
    let (schema, table) = people();
    let stopped_at = |is_end: fn(&AuditProgress<'_>) -> bool| {
        let audit = Audit::new(&Rule(2), (&schema, &table)).protected(["sex"]);
        let audit = audit.seeds(5).local(5).estimate(100_000);
        let observe = &mut |progress: AuditProgress<'_>| match is_end(&progress) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        audit.run_observed(observe).unwrap()
    };
    let found = stopped_at(|progress| matches!(progress, AuditProgress::Population { .. }));
    assert_eq!(found.population(), None);
    assert_eq!(found.share().sampled, 100_000);
    assert_eq!(found.uniform(), Some(found.share()));
    // What was begun is of fewer inputs, and the rows are known.
    let found = stopped_at(|progress| matches!(progress, AuditProgress::Estimate { .. }));
    assert_eq!(found.share().sampled, 50);
    assert!(found.uniform().unwrap().sampled < 100_000);
}

#[test]
fn what_does_not_fit_is_refused_by_the_name_of_its_field() {
    let (schema, table) = people();
    let usual = StrategyName::without_gradients(ModalityName::Table);
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

/// A classifier that calls a text rude that shouts, and one that names women and ends in a
/// question.
struct Shouting(Mutex<Vec<String>>);

impl TextClassifier for Shouting {
    fn classes(&self) -> usize {
        2
    }

    fn logits(&self, texts: &[&str]) -> Result<Vec<f32>, ModelError> {
        let mut asked = self.0.lock().unwrap();
        asked.extend(texts.iter().map(|&text| text.to_owned()));
        let rude = |text: &str| {
            let lower = text.to_lowercase();
            let names = lower
                .split(|c: char| !c.is_alphabetic())
                .any(|word| word == "women");
            let score = f32::from(u8::from(names)) + f32::from(u8::from(text.contains('?')));
            score + f32::from(u8::from(text.contains("NEVER"))) - 1.5
        };
        Ok(texts.iter().flat_map(|text| [0.0, rude(text)]).collect())
    }
}

/// Every text that the search and the estimate ask about is a text of the file with something
/// exchanged: its capitals, signs and spaces are there.
#[test]
fn a_classifier_of_texts_is_asked_by_what_is_written() {
    let classes = ["polite", "rude"].map(str::to_owned);
    let texts = [
        "  Do you think that the Men of this town  are good drivers? \u{1f600} xyzzy",
        "Men  are often right about the old house; I NEVER said it.",
        "The weather was nice.",
        "",
        "Women work hard, and the weather is good",
    ]
    .map(str::to_owned);
    let inputs = ClassifiedTexts {
        classes: &classes,
        texts: &texts,
    };
    let mut found_by = Vec::new();
    for strategy in [StrategyName::Rp, StrategyName::AdfZeroOrder] {
        let model = Shouting(Mutex::default());
        let audit = Audit::new(&model, inputs)
            .protected(["gender"])
            .strategy(strategy);
        let audit = audit.seeds(5).local(20).with(|specification| {
            specification.text.min_fluency = Some(0.0);
        });
        let found = audit.run().unwrap();
        assert_eq!(found.share().sampled, 3);
        assert_eq!(found.share().discriminatory, 2);
        assert_eq!(found.uniform(), None);
        let pairs: Vec<_> = found.pairs().collect();
        assert!(!pairs.is_empty());
        let asked = model.0.lock().unwrap();
        for pair in &pairs {
            for side in [pair.left(), pair.right()] {
                let text = side.value("text").unwrap();
                let asks = text.starts_with("  Do ") && text.ends_with("? \u{1f600} xyzzy");
                let shouts = text.contains("  are ") && text.contains("I NEVER said");
                assert!(asks || shouts, "{text}");
                assert!(asked.iter().any(|asked| asked == text), "{text}");
            }
        }
        found_by.push(pairs.len());
    }
    assert!(found_by[0] > 1, "{found_by:?}");
}

#[test]
fn a_classifier_without_gradients_refuses_strategies_that_follow_them() {
    let classes = ["polite", "rude"].map(str::to_owned);
    let texts = ["The women are here?".to_owned()];
    let inputs = ClassifiedTexts {
        classes: &classes,
        texts: &texts,
    };
    let model = Shouting(Mutex::default());
    let refused = Audit::new(&model, inputs)
        .strategy(StrategyName::AdfAsc)
        .run();
    let message = refused.err().unwrap().to_string();
    let needed = "strategy is adf-asc, but must be another: it needs gradients";
    assert!(message.starts_with(needed), "{message}");
    assert!(
        message.ends_with("these need outputs only: frontier-zero-order, adf-zero-order, rp"),
        "{message}"
    );
    let local = Audit::new(&model, inputs).with(|specification| {
        specification.text.local_strategy = Some(StrategyName::Hf);
    });
    let message = local.run().err().unwrap().to_string();
    assert!(
        message.starts_with("text.local_strategy is hf"),
        "{message}"
    );
}
