//! `probity groups` of texts, `probity predict` and `probity evaluate`, end to end.

use serde_json::Value;

use crate::probity_command::Workspace;

/// Comments with planted discrimination, and a classifier that learned it.
fn demo() -> Workspace {
    let workspace = Workspace::new();
    workspace.line("demo text --out demo --rows 2500").exits(0);
    workspace
}

const TEXTS: &str =
    "--model demo/model --texts demo/comments.csv --text-column comment_text --label-column toxic";

fn value<'a>(summary: &'a Value, attribute: &str, value: &str) -> &'a Value {
    let attributes = summary["attributes"].as_array().unwrap();
    let attribute = attributes.iter().find(|it| it["attribute"] == attribute);
    let values = attribute.unwrap()["values"].as_array().unwrap();
    values.iter().find(|it| it["value"] == value).unwrap()
}

#[test]
fn subgroups_of_texts_are_measured_and_reported() {
    let workspace = demo();
    workspace
        .line(&format!(
            "groups {TEXTS} --protected religion,gender --resamples 100 --out subgroups"
        ))
        .exits(0)
        .says(&[
            "Final bias metric by religion",
            "BPSN AUC",
            "That it is the positive class was not said",
        ]);
    let summary = workspace.summary("subgroups");
    assert_eq!(summary["modality"], "text");
    let male = value(&summary, "gender", "male");
    assert!(male["texts"].as_u64().unwrap() > 50);
    // Neutral comments with a burdened term are toxic nine times in ten, others hardly ever.
    let [burdened, other] = ["male", "female"].map(|name| {
        let rate = &value(&summary, "gender", name)["predicted_positive_rate"];
        rate["value"].as_f64().unwrap()
    });
    assert!(burdened > other + 0.1, "{burdened} {other}");
    for area in ["subgroup_auc", "bpsn_auc", "bnsp_auc"] {
        let [low, high] = [0, 1].map(|end| male[area]["ci95"][end].as_f64().unwrap());
        let value = male[area]["value"].as_f64().unwrap();
        assert!(low <= value && value <= high && high <= 1.0);
    }
    workspace.line("run subgroups --out again").exits(0);
    assert_eq!(summary, workspace.summary("again"));
    workspace
        .line("report subgroups --format markdown")
        .exits(0)
        .says(&["Texts by religion", "The final bias metric is a quarter"]);
    workspace
        .line("report subgroups --format model-card")
        .exits(0)
        .says(&["Final bias metric"]);
    for (rest, needle) in [
        (
            "--positive 2",
            "--positive is '2', but the classes are 0, 1",
        ),
        ("--favourable 1", "--favourable is given"),
        ("--protected planet", "planet"),
    ] {
        workspace
            .line(&format!("groups {TEXTS} {rest}"))
            .exits(2)
            .complains(&[needle]);
    }
}

#[test]
fn templates_are_generated_and_measured() {
    let workspace = demo();
    workspace
        .line("data generate templates --protected religion --out templates.csv")
        .exits(0)
        .says(&["texts, ", "fewest of a value"]);
    let texts = "--texts templates.csv --text-column text --label-column label";
    let summary = workspace
        .line(&format!(
            "groups --model demo/model {texts} --protected religion --resamples 20 --json"
        ))
        .exits(0)
        .json();
    assert_eq!(summary["attributes"][0]["absent"], 0);
    assert_eq!(summary["attributes"][0]["naming"], summary["texts"]);
    for (line, needle) in [
        ("data generate templates --rows 3", "--rows"),
        ("data generate people --protected sex", "--protected"),
        ("data generate templates --protected planet", "planet"),
    ] {
        workspace.line(line).exits(2).complains(&[needle]);
    }
}

#[test]
fn predictions_of_texts_and_rows_are_those_that_are_evaluated() {
    let workspace = demo();
    workspace
        .line("predict --model demo/model --texts demo/comments.csv --text-column comment_text --out p.csv")
        .exits(0)
        .says(&["2,500 texts", "Predictions: p.csv"]);
    let evaluation = workspace
        .line(&format!("evaluate {TEXTS} --json"))
        .exits(0)
        .json();
    let comments = workspace.read("demo/comments.csv");
    let mut comments = csv::Reader::from_reader(comments.as_bytes());
    let predictions = workspace.read("p.csv");
    let mut predictions = csv::Reader::from_reader(predictions.as_bytes());
    assert_eq!(predictions.headers().unwrap().len(), 7);
    let pairs = comments.records().zip(predictions.records());
    let (mut right, mut loss) = (0.0, 0.0);
    for (comment, prediction) in pairs {
        let (comment, prediction) = (comment.unwrap(), prediction.unwrap());
        assert_eq!(comment[0], prediction[1]);
        right += f64::from(u8::from(comment[1] == prediction[2]));
        let class: usize = comment[1].parse().unwrap();
        loss -= prediction[3 + class].parse::<f64>().unwrap().ln();
    }
    let accuracy = evaluation["accuracy"].as_f64().unwrap();
    assert!((accuracy - right / 2500.0).abs() < 1e-12);
    let mean = evaluation["log_loss"]["mean"].as_f64().unwrap();
    assert!(
        (mean - loss / 2500.0).abs() < 1e-9,
        "{mean} {}",
        loss / 2500.0
    );
    workspace
        .line(&format!("evaluate {TEXTS} --part test"))
        .exits(0)
        .says(&["Log loss", "Brier score", "Calibration error"]);
    workspace
        .line("predict --model demo/model --texts demo/comments.csv --text-column comment_text --out p.parquet")
        .exits(0);
    let people = Workspace::with_demo(300);
    let evaluated = people.line("evaluate --model demo/model --data demo/people.csv --json");
    assert_eq!(evaluated.exits(0).json()["rows"], 300);
    people
        .line("predict --model demo/model --data demo/people.csv")
        .exits(0)
        .says(&["row,predicted,probability_"]);
}
