//! What is refused, and that a refusal says nothing of the records.

use crate::probity_command::Workspace;
use crate::probity_command::refusal::refuses;
use crate::{QUERY, count, with_budget, workspace};

#[test]
fn parameters_that_make_no_sense_are_refused() {
    let workspace = with_budget("--epsilon 1 --delta 0.05");
    for (from, to, needle) in [
        ("--k 3", "--k 65", "k = 65 does not fit 65 records"),
        ("--k 3", "--k 0", "--k is 0"),
        ("--radius 0.5", "--radius 0", "--radius is 0"),
        ("--radius 0.5", "--radius -1", "--radius is -1"),
        ("--radius 0.5", "--radius NaN", "a number is expected"),
        ("--radius 0.5", "--radius 1e-9", "too small"),
        ("--delta 0.01", "--delta 0", "--delta is 0"),
        ("--delta 0.01", "--delta 1", "--delta is 1"),
        ("--delta 0.01", "--delta -0.1", "--delta is -0.1"),
        ("--epsilon 0.5", "--epsilon 0", "--epsilon is 0"),
        ("--epsilon 0.5", "--epsilon -1", "--epsilon is -1"),
        ("--epsilon 0.5", "--epsilon inf", "a number is expected"),
        (
            "--columns x,y",
            "--columns x,y,z",
            "declared for the columns x, y, and not for 'z'",
        ),
        (
            "--columns x,y",
            "--columns x",
            "has a range in --range, but is not among",
        ),
        ("--columns x,y", "--columns x,y,x", "is named twice"),
        ("x=0,10,1", "x=10,0,1", "10 to 0, is none"),
        (
            "x=0,10,1",
            "x=-1.7e308,1.7e308,1",
            "-1.7e308 to 1.7e308, is none",
        ),
        ("x=0,10,1", "x=0,10,0", "unit of column 'x'"),
        ("x=0,10,1", "x=0", "a declaration such as"),
    ] {
        let line = count("");
        assert!(line.contains(from));
        refuses(&workspace, &line.replacen(from, to, 1), 2, &[needle]);
    }
    refuses(
        &workspace,
        &format!("outliers count --data d.csv --columns x,y {QUERY}"),
        2,
        &["'x'", "--range", "--schema", "give records away"],
    );
}

/// Nobody has paid for what stands in a cell, in which line, or in the first line of a file without
/// a header. The owner is told.
#[test]
fn a_refusal_says_nothing_of_the_records() {
    let workspace = with_budget("--epsilon 1 --delta 0.05");
    let text = workspace.read("d.csv");
    let concealed = |line: &str, needles: &[&str]| {
        let outcome = refuses(&workspace, line, 2, needles);
        for secret in [
            " line ",
            " row ",
            "inlier",
            "HIV",
            "x, y, name",
            "fields",
            "6.7",
        ] {
            assert!(!outcome.stderr.contains(secret), "{secret}: {outcome:?}");
        }
    };
    let line = |columns: &str, ranges: &str| {
        format!("outliers count --data d.csv --columns {columns} {ranges} {QUERY}")
    };
    let owner = |columns: &str, ranges: &str, needles: &[&str]| {
        refuses(
            &workspace,
            &format!("outliers exact --data d.csv --columns {columns} {ranges} --radius 0.5 --k 3"),
            2,
            needles,
        );
    };
    let words = ("x,name", "--range x=0,10 --range name=0,1");
    let undeclared =
        |column: &str| format!("declared for the columns x, y, and not for '{column}'");
    workspace.write(
        "s.toml",
        "name = \"s\"\n[label]\nname = \"x\"\nclasses = [\"0\", \"1\"]\n\
         [[attribute]]\nname = \"name\"\nkind = \"categorical\"\nlevels = [\"low\", \"high\"]\nordered = true\n",
    );
    concealed(&line(words.0, words.1), &[&undeclared("name")]);
    owner(
        words.0,
        words.1,
        &[
            "d.csv, line 2, column 'name'",
            "'inlier' is not a finite number",
        ],
    );
    concealed(&line("q", "--range q=0,1"), &[&undeclared("q")]);
    owner("q", "--range q=0,1", &["no column 'q'", "x, y, name"]);
    concealed(&line("name", "--schema s.toml"), &[&undeclared("name")]);
    owner("name", "--schema s.toml", &["'inlier' is not a level"]);
    // Another file than that of the budget may not be readable.
    let other = [
        "d.csv cannot be read as the table of the budget",
        "outliers exact",
    ];
    for bad in ["NaN", "inf", "", "HIV"] {
        workspace.write(
            "d.csv",
            text.replacen("1,1,inlier", &format!("1,{bad},inlier"), 1),
        );
        concealed(&count(""), &other);
        owner(
            "x,y",
            "--range x=0,10 --range y=0,10",
            &["d.csv, line 2, column 'y'"],
        );
    }
    workspace.write("d.csv", "x,y,name\n1,6.7\n");
    concealed(&count(""), &other);
    owner(
        "x,y",
        "--range x=0,10 --range y=0,10",
        &["line 2", "2 fields where 3"],
    );
    // What is no fault elsewhere: an empty field behind each row.
    workspace.write("d.csv", "x,y,name\n4,6.7,HIV,\n2,3,HIV,\n");
    concealed(&count(""), &other);
    owner(
        "x,y",
        "--range x=0,10 --range y=0,10",
        &["row 1", "4 fields where 3"],
    );
    workspace.write("d.csv", "6.7,HIV,x\n1,2,3\n");
    concealed(&count(""), &other);
    workspace.write("d.csv", b"x,y,name\n1,\xff\xfe,a\n");
    concealed(&count(""), &other);
    workspace.write("d.csv", "x,y,name\n");
    concealed(&count(""), &other);
    concealed(&count("").replace("d.csv", "gone.csv"), &["gone.csv"]);
}

/// Levels, comments, quotes and separators decide which cells are valid and how many records there
/// are. Who asks may not choose them: each choice would be a free question to single records. The
/// refusals below come before the table is opened, so that they are the same without one.
#[test]
fn how_the_table_is_read_is_no_question() {
    let schema = |levels: &str, format: &str| {
        format!(
            "name = \"s\"\n[format]\n{format}\n[label]\nname = \"y\"\nclasses = [\"0\", \"1\"]\n\
             [[attribute]]\nname = \"age\"\nkind = \"categorical\"\nlevels = [{levels}]\nordered = true\n"
        )
    };
    let workspace = Workspace::new();
    let ages: String = (0..40)
        .map(|at| format!("v{},\"{}\"\n", 40 + at % 6, at % 2))
        .collect();
    workspace.write("d.csv", format!("age,y\n{ages}"));
    let all = "\"v40\", \"v41\", \"v42\", \"v43\", \"v44\", \"v45\", \"v46\"";
    workspace.write("s.toml", schema(all, ""));
    // Whether there is a v46 decides this; whoever is not the owner cannot ask it.
    workspace.write("without.toml", schema(&all.replace(", \"v46\"", ""), ""));
    workspace.write("absent.toml", schema(&all.replace("\"v43\", ", ""), ""));
    for (name, format) in [
        ("comment", "comment = \"4\""),
        ("quote", "quote = \"4\""),
        ("header", "header = false\ncolumns = [\"age\", \"y\"]"),
        ("separator", "separator = \"4\""),
    ] {
        workspace.write(&format!("{name}.toml"), schema(all, format));
    }
    workspace.write("skips.toml", schema(all, "skip_bad_rows = true"));
    let declare = |rest: &str| {
        format!("outliers budget --ledger {rest} --data d.csv --epsilon 9 --delta 0.5")
    };
    workspace
        .line(&declare("budget.toml --schema s.toml"))
        .exits(0)
        .says(&["there are 40 records, in which these columns are numeric throughout: age, y."]);
    let ledger = workspace.read("budget.toml");
    let ask = |rest: &str| {
        format!("outliers count --data d.csv --columns age --radius 0.2 {QUERY} {rest}")
            .replace("--radius 0.5", "")
    };
    let (levels, layout) = ("the levels of the column 'age' are not", "the layout");
    for (rest, needle) in [
        ("--schema without.toml", levels),
        ("--schema absent.toml", levels),
        ("--schema comment.toml", layout),
        ("--schema quote.toml", layout),
        ("--schema header.toml", layout),
        ("--schema separator.toml", layout),
        ("--schema skips.toml", "skip_bad_rows"),
        ("--range age=40,46 --separator 4", layout),
        ("--range age=40,46 --names age,y", layout),
        ("--range age=0,6", "holds words (v40 … v46)"),
        ("--schema s.toml --range age=0,6", "holds words (v40 … v46)"),
    ] {
        let refused = refuses(&workspace, &ask(rest), 2, &[needle]);
        let blind = ask(rest).replace("--data d.csv", "--data gone.csv");
        let blind = refuses(&workspace, &blind, 2, &[needle]);
        assert_eq!(refused.stderr, blind.stderr);
    }
    let blind = ask("--schema s.toml")
        .replace("--data d.csv", "--data gone.csv")
        .replace("--k 3", "--k 40");
    refuses(&workspace, &blind, 2, &["k = 40 does not fit 40 records"]);
    assert_eq!(workspace.read("budget.toml"), ledger);
    // As it was declared.
    let summary = workspace.line(&ask("--schema s.toml --json")).exits(0);
    assert_eq!(summary.json()["rows"], 40);
    // The owner may declare less, and what cannot be declared is refused.
    workspace
        .line(&declare("narrow.toml --columns y"))
        .exits(0)
        .says(&["throughout: y."]);
    refuses(
        &workspace,
        &declare("a.toml --schema skips.toml"),
        2,
        &["skip_bad_rows"],
    );
    refuses(
        &workspace,
        &declare("a.toml --separator ;"),
        2,
        &["nothing to ask for"],
    );
    refuses(
        &workspace,
        &declare("a.toml --schema absent.toml --columns age"),
        2,
        &["d.csv, line 5", "'v43' is not a level"],
    );
}

#[test]
fn ledgers_that_do_not_fit_are_refused() {
    let workspace = workspace();
    refuses(
        &workspace,
        &count(""),
        2,
        &["no ledger", "budget.toml", "probity outliers budget"],
    );
    refuses(
        &workspace,
        "outliers budget --ledger budget.toml",
        2,
        &["no ledger", "budget.toml"],
    );
    let declare = |rest: &str| format!("outliers budget --ledger budget.toml --data d.csv {rest}");
    for (rest, needle) in [
        (
            "--epsilon 0",
            "'--epsilon <NUMBER>': a number from 1e-9 to 1000000 is expected",
        ),
        ("--epsilon 1 --delta 1", "--delta"),
        ("--epsilon 1 --delta 0.1 --slack 0.2", "slack of 0.2"),
        ("", "--epsilon"),
    ] {
        refuses(&workspace, &declare(rest), 2, &[needle]);
    }
    workspace
        .line(&declare("--epsilon 1 --delta 0.05"))
        .exits(0);
    workspace
        .line(&declare("--epsilon 9"))
        .exits(2)
        .complains(&["exists already"]);
    let text = workspace.read("d.csv");
    workspace.write("d.csv", format!("{text}5,5,late\n"));
    workspace
        .line(&count(""))
        .exits(2)
        .complains(&["another data set"]);
    workspace.write("d.csv", text);
    workspace.edit("budget.toml", "epsilon = 1.0", "epsilon = 2.0");
    workspace
        .line(&count(""))
        .exits(2)
        .complains(&["not a ledger that can be trusted"]);
    workspace.write("budget.toml", "nonsense");
    workspace
        .line(&count(""))
        .exits(2)
        .complains(&["budget.toml"]);
}

/// Whether a query with a work limit is refused depends on nothing in the records, and it is not
/// charged then; where it is not refused, it answers.
#[test]
fn a_work_limit_refuses_all_records_alike_or_none() {
    let workspace = workspace();
    let crowded: String = (0..12).map(|_| "1,1,1\n").collect();
    let spread: String = (0..12)
        .map(|at| format!("{},{},{}\n", at % 7, at % 5, at % 3))
        .collect();
    for (name, records) in [("crowded", crowded), ("spread", spread)] {
        workspace.write(&format!("{name}.csv"), format!("x,y,z\n{records}"));
        workspace
            .line(&format!(
                "outliers budget --ledger {name}.toml --data {name}.csv --epsilon 9 --delta 0.5"
            ))
            .exits(0);
        let line = |rest: &str| {
            format!(
                "outliers count --data {name}.csv --columns x,y,z --range x=0,10,1 --range y=0,10,1 --range z=0,10,1 \
                 --radius 0.5 --k 3 --epsilon 0.5 --delta 0.01 --ledger {name}.toml --sensitivity smooth {rest}"
            )
        };
        refuses(
            &workspace,
            &line("--bound exact --work-limit 100000"),
            2,
            &[
                "12 records in 3 dimensions",
                "work_limit of 100000",
                "cover",
            ],
        );
        for (rest, method) in [
            ("--work-limit 1", "cover"),
            ("--work-limit 100000", "cover"),
            ("--bound exact", "branch_and_bound"),
            ("", "branch_and_bound"),
        ] {
            let summary = workspace
                .line(&line(&format!("{rest} --json")))
                .exits(0)
                .json();
            assert_eq!(summary["method"], method, "{name}: {rest}");
        }
    }
}
