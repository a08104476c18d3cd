//! What the readers of the pages have before they begin.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::page::{Lacks, project};
use crate::probity_command::Workspace;
use probity::data::compressed;
use probity_testing::{Needed, data, skip};

fn copy(workspace: &Workspace, from: &str, to: &str) {
    fs::copy(project(from), workspace.path(to)).unwrap();
}

/// The files of the folder `from` as those of `to`.
fn copy_folder(workspace: &Workspace, from: &str, to: &str) {
    fs::create_dir(workspace.path(to)).unwrap();
    for file in fs::read_dir(project(from)).unwrap() {
        let file = file.unwrap();
        let name = file.file_name();
        fs::copy(file.path(), workspace.path(to).join(name)).unwrap();
    }
}

/// Word vectors, as a file of GloVe's.
fn vectors(workspace: &Workspace) {
    let mut text = Vec::new();
    let mut reader =
        compressed::open(&project("crates/text/embeddings/comments.50d.txt.xz")).unwrap();
    reader.read_to_end(&mut text).unwrap();
    workspace.write("glove.6B.50d.txt", text);
}

/// A census, with people to come, and its schema.
pub fn census(workspace: &Workspace) -> Lacks {
    for line in [
        "data generate people --rows 2000 --out people.csv",
        "data generate people --rows 20 --seed 2 --out new.csv",
        "schema infer people.csv --label-column income --protected sex,origin --out people.toml",
    ] {
        workspace.line(line).exits(0);
    }
    Lacks::new()
}

/// What people are paid: men of the upper grades more.
fn pay() -> String {
    let rows = (0..400).map(|person| {
        let (age, grade, is_man) = (18 + person * 7 % 48, person * 5 % 8, person / 2 % 2);
        let more = if grade > 3 { 900 * is_man } else { 0 };
        let wage = 900 + 20 * age + 250 * grade + more;
        format!("{age},{},{grade},{wage}\n", ["female", "male"][is_man])
    });
    "age,sex,grade,wage\n".to_owned() + &rows.collect::<String>()
}

/// A classifier of the census, and comments.
pub fn classifier(workspace: &Workspace) -> Lacks {
    census(workspace);
    for line in [
        "train --data people.csv --schema people.toml --categories onehot --out models/people",
        "data generate comments --rows 1000 --out comments.csv",
    ] {
        workspace.line(line).exits(0);
    }
    programs(&["curl", "jq", "zip"])
}

/// The classifier, and the specification of an audit of it.
pub fn specification(workspace: &Workspace) -> Lacks {
    let lacks = classifier(workspace);
    workspace.write("friday.toml", block("docs/manual.md", "kind = \"audit\""));
    lacks
}

/// A repair, between an audit of the classifier and one of the repaired.
pub fn repair(workspace: &Workspace) -> Lacks {
    classifier(workspace);
    for line in [
        "audit --model models/people --data people.csv --seeds 100 --local 20 --out runs/before",
        "repair --model models/people --data people.csv --run runs/before --repeats 2 --max-accuracy-loss 0.5 \
         --max-fairness-loss 0.5 --out models/fairer",
        "audit --model models/fairer --data people.csv --seeds 100 --local 20 --out runs/after",
        "groups --model models/people --data people.csv --out runs/groups",
    ] {
        workspace.line(line).exits(0);
    }
    Lacks::new()
}

/// The same, and the programs that a seal is checked by without ours.
pub fn evidence(workspace: &Workspace) -> Lacks {
    repair(workspace);
    let mut lacks = openssl(workspace);
    lacks.extend(programs(&["jq"]));
    if !lacks.is_empty() {
        lacks.push("auditor");
    }
    lacks
}

/// Nothing but the program that makes keys.
pub fn openssl(_: &Workspace) -> Lacks {
    let mut lacks = programs(&["openssl"]);
    if !lacks.is_empty() {
        lacks.push("auditor");
    }
    lacks
}

/// A key of the auditor.
fn auditor(workspace: &Workspace) -> Lacks {
    let mut lacks = programs(&["openssl"]);
    if lacks.is_empty() {
        for line in [
            "genpkey -algorithm ed25519 -out auditor.pem",
            "pkey -in auditor.pem -pubout -out auditor-public.pem",
        ] {
            let made = Command::new("openssl")
                .args(line.split(' '))
                .current_dir(workspace.path("."))
                .output();
            assert!(made.unwrap().status.success(), "openssl {line}");
        }
    } else {
        lacks.push("auditor");
    }
    lacks
}

/// What the manual speaks of besides what its own commands make.
pub fn manual(workspace: &Workspace) -> Lacks {
    vectors(workspace);
    workspace.write("pay.csv", pay());
    let mut lacks = predictors_of_rows(workspace);
    lacks.extend(programs(&["man"]));
    lacks.extend(auditor(workspace));
    workspace
        .line("data generate comments --rows 2000 --seed 3 --out corpus.csv")
        .exits(0);
    let comments = workspace.read("corpus.csv");
    let texts = comments
        .lines()
        .skip(1)
        .filter_map(|line| line.rsplit_once(','));
    let texts: Vec<&str> = texts.map(|(text, _)| text).collect();
    workspace.write("corpus.txt", texts.join("\n"));
    copy(workspace, "tests/data/recurrent/lstm.pt", "toxic.pt");
    copy(
        workspace,
        "tests/data/recurrent/words-special.txt",
        "words.txt",
    );
    copy_folder(workspace, "tests/transformers/encoder", "all-MiniLM-L6-v2");
    for (from, to) in [("bert", "models/toxic-bert"), ("encoder", "models/encoder")] {
        let from = project(&format!("tests/transformers/{from}"));
        let from = from.to_str().unwrap();
        let import = ["import", "--hf", from, "--out", to];
        workspace.run(import).exits(0);
    }
    workspace.write("friday.toml", block("docs/manual.md", "kind = \"audit\""));
    workspace.write("probity.toml", block("docs/manual.md", "[[check]]"));
    match data(&["peer-models/adf-census", "adult"]) {
        None => lacks.extend(["census.safetensors", "data fetch"]),
        Some(folder) => {
            let weights = folder.join("peer-models/adf-census/pytorch_layout.safetensors");
            fs::copy(weights, workspace.path("census.safetensors")).unwrap();
        }
    }
    lacks
}

/// Predictors of rows and of texts.
pub fn predictors(workspace: &Workspace) -> Lacks {
    let mut lacks = predictors_of_rows(workspace);
    workspace
        .line("data generate comments --rows 300 --out comments.csv")
        .exits(0);
    let code = "
import joblib, pandas
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
comments = pandas.read_csv('comments.csv')
texts = make_pipeline(TfidfVectorizer(), LogisticRegression())
joblib.dump(texts.fit(comments['comment_text'], comments['toxic']), 'texts.joblib')
";
    lacks.extend(python(workspace, code));
    std::fs::create_dir(workspace.path("toxic")).unwrap();
    for file in ["model.onnx", "tokenizer.json", "config.json"] {
        let from = format!("tests/transformers/distilbert/{file}");
        copy(workspace, &from, &format!("toxic/{file}"));
    }
    // A service that is not there.
    lacks.push("example.org");
    lacks
}

/// A process, an ONNX file, and models of scikit-learn and XGBoost where there is a Python that has
/// these.
fn predictors_of_rows(workspace: &Workspace) -> Lacks {
    census(workspace);
    workspace.write(
        "predict.py",
        block("docs/predictors.md", "import json, sys"),
    );
    copy(
        workspace,
        "tests/data/predictors/matrix.onnx",
        "people.onnx",
    );
    std::os::unix::fs::symlink(project("scripts"), workspace.path("scripts")).unwrap();
    let code = "
import joblib, pandas
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from xgboost import XGBClassifier
people = pandas.read_csv('people.csv')
X, y = people.drop(columns='income'), people['income']
words = [name for name in X.columns if not pandas.api.types.is_numeric_dtype(X[name])]
encode = make_column_transformer((OneHotEncoder(), words), remainder=StandardScaler())
joblib.dump(make_pipeline(encode, LogisticRegression()).fit(X, y), 'model.joblib')
X[words] = X[words].astype('category')
XGBClassifier(n_estimators=20, enable_categorical=True).fit(X, y == 'high').save_model('model.json')
";
    python(workspace, code)
}

/// Which of `names` are not here.
fn programs(names: &[&'static str]) -> Lacks {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let is_missing = |name: &&&str| !folders.iter().any(|folder| folder.join(name).is_file());
    let missing: Lacks = names.iter().filter(is_missing).copied().collect();
    if !missing.is_empty() {
        skip(Needed::Programs, &format!("no {}", missing.join(", ")));
    }
    missing
}

/// Runs `code`, where there is a Python with the libraries that it needs.
fn python(workspace: &Workspace, code: &str) -> Lacks {
    let python = std::env::var("PROBITY_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let ran = Command::new(&python)
        .args(["-c", code])
        .current_dir(workspace.path("."))
        .stdin(Stdio::null())
        .output();
    let error = match &ran {
        Ok(ran) if ran.status.success() => return Lacks::new(),
        Ok(ran) => String::from_utf8_lossy(&ran.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    let last = error.lines().last().unwrap_or_default();
    skip(
        Needed::Python,
        &format!("{python}: {last} (PROBITY_PYTHON names another)"),
    );
    vec!["python3"]
}

/// The content of the block of a page that begins with `begin`.
fn block(page: &str, begin: &str) -> String {
    let text = fs::read_to_string(project(page)).unwrap();
    let at = text.find(&format!("\n{begin}")).unwrap() + 1;
    let end = at + text[at..].find("```").unwrap();
    text[at..end].to_owned()
}
