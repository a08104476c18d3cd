//! A classifier that gives everything one class: every command that could praise it says so first.

use crate::probity_command::{Outcome, Workspace};

/// What the first line begins with.
const ALIKE: &str = "DECIDES EVERYTHING ALIKE: all ";

/// People of whom every hundredth has a high income, whatever else is so.
fn people() -> String {
    let mut table = "age,sex,income\n".to_owned();
    for row in 0..800 {
        let sex = ["female", "male"][(row / 3) % 2];
        let income = if row % 100 == 57 { "high" } else { "low" };
        table += &format!("{},{sex},{income}\n", 20 + (row * 7 + row / 100 * 13) % 50);
    }
    table
}

const SCHEMA: &str = "name = \"people\"\n[label]\nname = \"income\"\nclasses = [\"low\", \"high\"]\n\
    [[attribute]]\nname = \"age\"\nkind = \"integer\"\nmin = 20\nmax = 69\n\
    [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\nlevels = [\"female\", \"male\"]\nprotected = true\n";

#[track_caller]
fn says_so_first(outcome: &Outcome, inputs: &str) {
    let first = outcome.stdout.lines().next().unwrap_or_default();
    let expected = format!("{ALIKE}{inputs}");
    assert!(first.starts_with(&expected), "{first}\n{expected}");
    assert!(
        first.contains("'low'") || first.contains("‘low’"),
        "{first}"
    );
}

/// The same of a command that shows a report.
#[track_caller]
fn reports_so_first(outcome: &Outcome, inputs: &str) {
    let first = outcome.stdout.lines().next().unwrap_or_default();
    let expected = format!("The model decides everything alike: each of the {inputs} inputs");
    assert!(first.contains(&expected), "{first}\n{expected}");
}

#[test]
fn a_table_classifier_that_decides_everything_alike_is_announced() {
    let workspace = Workspace::new();
    workspace.write("people.csv", people());
    workspace.write("people.toml", SCHEMA);
    let train = "train --data people.csv --schema people.toml --hidden 4 --epochs 60 --batch 32 --out model";
    let trained = workspace.line(train).exits(0);
    says_so_first(&trained, "800 rows of the data");
    assert_eq!(workspace.summary("model")["decides_alike"]["inputs"], 800);

    let audited = workspace
        .line("audit --model model --data people.csv --seeds 50 --local 5 --estimate 200 --out audit --fail-above 0.05")
        .exits(0);
    reports_so_first(&audited, "10,800");
    let certified = workspace
        .line("certify --model model --data people.csv --part test --out certificates")
        .exits(0);
    reports_so_first(&certified, "160");
    assert_eq!(
        workspace.summary("certificates")["sets"][0]["certified"]["share"],
        1.0
    );

    // The same network, from its weights. How they are scaled is the import's own matter.
    let config = "hidden = [4]\n[[layout]]\nweight = \"layers.{n}.weight\"\n\
                  bias = \"layers.{n}.bias\"\norientation = \"in-out\"\n";
    workspace.write("network.toml", config);
    let imported = workspace
        .line("import --weights model/weights.safetensors --config network.toml --schema people.toml --out imported --json")
        .exits(0)
        .json();
    let again = workspace
        .line("audit --model imported --data people.csv --seeds 50 --local 5 --estimate 200 --out of-imported --json")
        .exits(0)
        .json();
    assert_eq!(
        imported["decides_alike"].is_object(),
        again["decides_alike"].is_object(),
        "{imported}"
    );

    for run in ["audit", "certificates"] {
        let page = workspace
            .line(&format!("report {run} --format markdown"))
            .exits(0)
            .stdout;
        let verdict = page
            .lines()
            .find(|line| line.starts_with("**"))
            .unwrap_or_default();
        assert!(
            verdict.contains("The model decides everything alike"),
            "{page}"
        );
    }
}

/// Weights of zero, and a bias: what an import of it says.
#[test]
fn an_imported_constant_is_announced() {
    let workspace = Workspace::new();
    workspace.write("people.csv", people());
    workspace.write("people.toml", SCHEMA);
    workspace
        .line("train --data people.csv --schema people.toml --hidden 4 --epochs 1 --out model")
        .exits(0);
    let weights = workspace.path("model/weights.safetensors");
    let mut bytes = std::fs::read(&weights).unwrap();
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let names: serde_json::Value = serde_json::from_slice(&bytes[8..8 + header]).unwrap();
    for (name, tensor) in names.as_object().unwrap() {
        let Some(ends) = tensor["data_offsets"].as_array() else {
            continue;
        };
        let [from, to] =
            [&ends[0], &ends[1]].map(|end| 8 + header + end.as_u64().unwrap() as usize);
        bytes[from..to].fill(0);
        if name == "layers.1.bias" {
            bytes[from..from + 4].copy_from_slice(&1.0f32.to_le_bytes());
        }
    }
    workspace.write("constant.safetensors", bytes);
    let config = "hidden = [4]\n[[layout]]\nweight = \"layers.{n}.weight\"\n\
                  bias = \"layers.{n}.bias\"\norientation = \"in-out\"\n";
    workspace.write("network.toml", config);
    let imported = workspace
        .line("import --weights constant.safetensors --config network.toml --schema people.toml --out imported")
        .exits(0);
    says_so_first(&imported, "10,000 random inputs that it was tried on");

    // What the original decided: everything alike, too, or not.
    let lines = people();
    let (header, rows) = lines.split_once('\n').unwrap();
    let own = |row: &str| format!("{},CLASS\n", row.rsplit_once(',').unwrap().0);
    let rows: String = rows.lines().map(own).collect();
    let constant = format!("{header}\n{rows}");
    let import = "import --weights constant.safetensors --config network.toml --schema people.toml";
    let class = workspace.json("imported/summary.json")["decides_alike"]["class"].clone();
    workspace.write(
        "same.csv",
        constant.replace("CLASS", class.as_str().unwrap()),
    );
    workspace
        .line(&format!("{import} --reference same.csv --out held"))
        .exits(0)
        .says(&["The original agrees on the class of each of"]);
    // A row without an answer is left out, and counted; the others keep their numbers.
    let decided = format!(",{}\n", class.as_str().unwrap());
    let gap = workspace.read("same.csv").replacen(&decided, ",\n", 1);
    workspace.write("gap.csv", gap);
    workspace
        .line(&format!("{import} --reference gap.csv --out gap"))
        .exits(0)
        .says(&["1 row without an answer of the original was left out"]);
    let agreement = &workspace.json("gap/summary.json")["reference"];
    assert_eq!(agreement["rows_without_outcome"], 1);
    workspace
        .line(&format!("{import} --reference people.csv --out other"))
        .exits(2)
        .complains(&[
            "rows otherwise than the original, so nothing was saved",
            "row ",
        ]);
    assert!(!workspace.path("other").exists());
}

#[test]
fn a_text_classifier_that_decides_everything_alike_is_announced() {
    let workspace = Workspace::new();
    let mut comments = "comment,toxic\n".to_owned();
    for row in 0..400 {
        let who = ["she", "he"][row % 2];
        let label = if row % 100 == 57 { "high" } else { "low" };
        comments += &format!("{who} said that number {} is here,{label}\n", row % 7);
    }
    workspace.write("comments.csv", comments);
    let train = "train --texts comments.csv --text-column comment --label-column toxic --layers 1 --units 4 --epochs 3 --out model";
    says_so_first(&workspace.line(train).exits(0), "400 texts of the data");
    let audited = workspace
        .line("audit --model model --texts comments.csv --text-column comment --protected gender --seeds 20 --local 2 --out audit")
        .exits(0);
    reports_so_first(&audited, "400");
    let certified = workspace
        .line("certify --model model --texts comments.csv --text-column comment --protected gender --part test --out certificates")
        .exits(0);
    reports_so_first(&certified, "80");
}

/// One that tells anybody apart is not called so.
#[test]
fn a_classifier_that_decides_is_not_announced() {
    let workspace = Workspace::with_demo(1000);
    for line in [
        "train --data demo/people.csv --schema synthetic-census --epochs 2 --out model",
        "audit --model demo/model --data demo/people.csv --protected region --seeds 20 --local 2 --out audit",
        "certify --model demo/model --data demo/people.csv --protected sex --out certificates",
    ] {
        let outcome = workspace.line(line).exits(0);
        let said = &outcome.stdout;
        assert!(
            !said.contains(ALIKE) && !said.contains("everything alike"),
            "{said}"
        );
    }
}

/// A classifier that learnt nothing is one to look at before it is audited.
#[test]
fn a_classifier_that_guesses_is_warned_of() {
    let workspace = Workspace::new();
    let mut table = "age,sex,income\n".to_owned();
    for row in 0u32..800 {
        let sex = ["female", "male"][(row / 3 % 2) as usize];
        // What is decided has nothing to do with the rest.
        let income = ["low", "high"][(row.wrapping_mul(2_654_435_761) >> 31) as usize];
        table += &format!("{},{sex},{income}\n", 20 + (row * 7 + row / 100 * 13) % 50);
    }
    workspace.write("people.csv", table);
    workspace.write("people.toml", SCHEMA);
    let train = "train --data people.csv --schema people.toml --hidden 4 --epochs 5 --out model";
    workspace.line(train).exits(0).says(&[
        "WARNING: on these rows the model is",
        "where guessing gets 50.00 %",
    ]);
    assert_eq!(workspace.summary("model")["cautions"][0], "guessing");
}
