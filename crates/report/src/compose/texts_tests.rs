use serde_json::json;

use super::*;
use crate::model::{AuditFindings, DecidedTexts, Findings, Report, RunReport};
use crate::pairs::{PairFile, read_pairs};

fn shown(pieces: &[Piece]) -> String {
    let pieces = pieces.iter().map(|piece| match piece {
        Piece::Plain(text) => text.to_string(),
        Piece::Marked(text) => format!("[{text}]"),
    });
    pieces.collect()
}

fn within(x: &str, other: &str) -> [String; 2] {
    differing(x, other).map(|pieces| shown(&pieces))
}

#[test]
fn what_differs_is_marked() {
    assert_eq!(
        within("she is a doctor", "he is a doctor"),
        ["[she] is a doctor", "[he] is a doctor"]
    );
    assert_eq!(within("a b", "a b"), ["a b[]", "a b[]"]);
    assert_eq!(within("a x", "a x x"), ["a x[]", "a x [x]"]);
    let long = "w ".repeat(5000);
    let [own, _] = within(&format!("{long}she {long}"), &format!("{long}he {long}"));
    assert!(own.chars().count() < 400 && own.contains("[she]"), "{own}");
}

#[test]
fn replaced_words_of_the_source_are_marked_each() {
    let marked = |source: &str, x: &str| shown(&replaced(source, x));
    assert_eq!(
        marked("a good man and a bad dog", "a great man and a poor dog"),
        "a [good] man and a [bad] dog"
    );
    assert_eq!(marked("good dog", "good dog"), "good dog");
    assert_eq!(marked("good dogs bark", "good bark"), "good [dogs] bark");
    let long = "w ".repeat(5000);
    let source = |word: &str| format!("{long}{word} {long}{word} {long}");
    let marked = marked(&source("she"), &source("he"));
    assert!(marked.chars().count() < 800, "{marked}");
    assert_eq!(marked.matches("[she]").count(), 2);
}

#[test]
fn what_was_not_looked_at_is_said() {
    let mut texts = TextCounts {
        texts: 10,
        with_protected_term: 6,
        without_protected_term: 4,
        truncated: 0,
        foreign: 0,
        blank: 0,
        kept: 0,
        naming: Vec::new(),
        bad_rows: None,
    };
    let said = |texts: &TextCounts| read(texts).replace('\u{a0}', " ");
    let all = "Of 10 texts, 6 hold a protected term that another can replace and 4 hold none and were left out.";
    assert_eq!(said(&texts), all);
    (texts.truncated, texts.foreign, texts.blank) = (1, 2, 1);
    assert_eq!(
        said(&texts),
        format!(
            "{all} 2 texts are not English: no term was looked for in them. 1 text has no word. 1 text \
             was longer than is read of one (by the model, or max_length) and was cut there: what follows was not seen."
        )
    );
    // That a text names nobody is not said of one that does.
    (texts.kept, texts.truncated, texts.foreign, texts.blank) = (3, 0, 0, 0);
    let naming = json!({
        "attribute": "gender", "texts": 9, "kept": 4, "by_words": 3,
        "kept_by": [{ "words": "bitch", "texts": 2 }, { "words": "dick", "texts": 1 }],
    });
    texts.naming = vec![serde_json::from_value(naming).unwrap()];
    assert_eq!(
        said(&texts),
        "Of 10 texts, 6 hold a protected term that another can replace; 4 were left out: 3 name a \
         protected value that nothing takes the place of, and 1 names none."
    );
    let decided = |kept: [u64; 3]| -> Vec<DecidedTexts> {
        let of = |texts: [u64; 3]| -> serde_json::Value {
            let names = ["rude", "odd", "kind"].iter().zip(texts);
            let of = names.map(|(name, texts)| json!({ "decision": name, "texts": texts }));
            of.collect()
        };
        let all = json!([{ "attribute": "gender", "kept": of(kept), "exchanged": of([1, 0, 4]) }]);
        serde_json::from_value(all).unwrap()
    };
    let said =
        |decided: &[DecidedTexts]| kept(&texts, decided)[0].to_string().replace('\u{a0}', " ");
    let named = "4 texts name gender, but it is not exchanged there; in 3 of them words stand that \
                 speak of it as well, such as ‘bitch’ (in 2) and ‘dick’ (in 1). In the others a name or \
                 other mention fixes the value, or no value that is exchanged, and whose words the \
                 model knows, can take its place.";
    assert_eq!(said(&[]), named);
    assert_eq!(
        said(&decided([3, 0, 1])),
        format!(
            "{named} Of these 75.00 % are decided ‘rude’, 0.00 % ‘odd’ and 25.00 % ‘kind’; of those in \
             which it is exchanged 20.00 %, 0.00 % and 80.00 %."
        )
    );
    // A share of some is not said to be one of all.
    assert!(said(&decided([1, 0, 1])).contains("Of 2 of these 50.00 % are decided"));
}

/// Three sources; of the first, two texts beside itself, one of which the second comes to as well.
const SAMPLES: &str = "\
seed,source_row,phase,step,text,x,other,attribute,from,to,position,changed,label_x,label_other,\
p_x_no,p_x_yes,p_other_no,p_other_yes,l0,l2,jaccard,bleu,similarity
0,7,global,0,he is good,he is good,she is good,gender,he,she,0,,no,yes,0.9,0.1,0.4,0.6,0,0,1,1,1
0,7,local,0,he is good,he is fine,she is fine,gender,he,she,0,2: good -> fine,no,yes,\
0.99,0.01,0.1,0.9,1,1,0.5,0.5,0.9
0,7,local,1,he is good,he is nice,she is nice,gender,he,she,0,2: good -> nice,no,yes,\
0.9,0.1,0.3,0.7,1,1,0.5,0.5,0.9
1,9,local,0,he is kind,he is fine,she is fine,gender,he,she,0,2: kind -> fine,no,yes,\
0.99,0.01,0.1,0.9,1,1,0.5,0.5,0.9
2,11,global,1,a Jew is bad,a Jew is poor,a Sikh is poor,religion,jew,sikh,1,3: bad -> poor,no,yes,\
0.8,0.2,0.3,0.7,1,1,0.5,0.5,0.9
";

fn report(pairs: u64, samples: &str, changes: &[(&str, serde_json::Value)]) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("samples.csv");
    std::fs::write(&file, samples).unwrap();
    let protected = ["gender", "religion"].map(str::to_owned);
    let from = PairFile {
        file: &file,
        protected: &protected,
        decisions: &[],
        favourable: Some("yes"),
        strategy: "adf-asc",
        are_ranked: false,
    };
    let found = read_pairs(&from, true).unwrap();
    assert_eq!(found.pairs, pairs);
    let phase = json!({
        "seeds": 3, "steps": 4, "generated": 9, "discriminatory": 4, "checks": 9, "seconds": 0.1,
    });
    let mut summary = json!({
        "modality": "text", "ending": "complete", "strategy": "adf-asc", "protected": protected,
        "texts": {
            "texts": 60, "with_protected_term": 40, "without_protected_term": 20, "truncated": 1,
            "foreign": 2, "blank": 3,
        },
        "unmodified": {
            "texts": 40, "flipped": 10, "kinds": 30,
            "per_exchange": [{
                "protected": protected, "texts": 40, "exchanges_per_text": 2.5, "share": 0.125,
                "ci95": [0.06, 0.25],
            }],
            "effects": [{
                "attribute": "gender", "tendency": "one_sided",
                "values": [{
                    "value": "male", "inputs": 20, "net": 0.4,
                    "gain": { "count": 8, "share": 0.4, "ci95": [0.19, 0.64] },
                    "lose": { "count": 0, "share": 0.0, "ci95": [0.0, 0.17] },
                }, {
                    "value": "female", "inputs": 15, "net": -0.1,
                    "gain": { "count": 0, "share": 0.0, "ci95": [0.0, 0.22] },
                    "lose": { "count": 1, "share": 0.1, "ci95": [0.0, 0.32] },
                }],
                "exchanges": [{
                    "from": "male", "to": "female", "inputs": 20,
                    "gain": { "count": 8, "share": 0.4, "ci95": [0.19, 0.64] },
                    "lose": { "count": 0, "share": 0.0, "ci95": [0.0, 0.17] },
                }],
            }],
            "moves": {
                "positive": "yes",
                "to_positive": { "count": 9, "share": 0.225, "ci95": [0.1, 0.4] },
                "from_positive": { "count": 1, "share": 0.025, "ci95": [0.0, 0.1] },
                "changes": {
                    "mean": 0.1, "largest": 0.5, "quantiles": [], "bin_width": 0.5,
                    "bins": [30, 10],
                },
            },
            "pairs": [{
                "attribute": "gender", "from": "he", "to": "she", "texts": 20, "flipped": 8,
                "to_positive": 8,
                "rate": 0.4, "ci95": [0.19, 0.64],
            }],
            "terms": [{
                "attribute": "gender", "term": "she", "texts": 5, "flipped": 3, "alone": 8,
                "share_without": 0.05, "ci95_without": [0.01, 0.17],
            }],
        },
        "values": {
            "left_out": [{ "attribute": "religion", "values": ["Jain", "Sikh"] }],
            "unnamed": [{
                "attribute": "gender", "values": ["a", "b", "c", "d", "e", "f", "g", "h"],
            }],
        },
        "sources": 3, "raw_discriminatory": 1, "global": phase, "local": phase,
        "total": {
            "generated": 9, "discriminatory": 4, "discriminatory_rows": pairs,
            "success_rate": 0.44, "checks": 9, "seconds": 0.2,
        },
        "fairness": [{
            "protected": protected, "sampled": 40, "discriminatory": 10, "rate": 0.25,
            "ci95": [0.13, 0.41],
        }],
        "fail_above": { "bound": 0.5, "verdict": "within" },
        "samples_file": "samples.csv",
    });
    for (key, value) in changes {
        summary[*key] = value.clone();
    }
    let audit = AuditFindings {
        planted: Vec::new(),
        model_sha256: "m".to_owned(),
        inputs_sha256: "i".to_owned(),
        repaired_from: None,
        quality: None,
        summary: serde_json::from_value(summary).unwrap(),
        pairs: found,
    };
    Report {
        schema_version: 1,
        command: "report",
        probity_version: "0",
        runs: vec![RunReport {
            name: "run".to_owned(),
            called: None,
            directory: "run".into(),
            command: "audit".to_owned(),
            probity_version: None,
            ended: None,
            subject: Vec::new(),
            options: Vec::new(),
            reproduce: None,
            summary_sha256: String::new(),
            is_sealed: false,
            architecture: None,
            findings: Findings::Audit(Box::new(audit)),
        }],
        comparisons: Vec::new(),
    }
}

#[track_caller]
fn stand_in_order(text: &str, needles: &[&str]) {
    let mut rest = text;
    for needle in needles {
        let place = rest.find(needle);
        let place = place.unwrap_or_else(|| panic!("no '{needle}' in {rest}"));
        rest = &rest[place + needle.len()..];
    }
}

#[test]
fn texts_as_they_are_come_before_those_of_the_search() {
    let markdown = report(5, SAMPLES, &[]).to_markdown().replace('\u{a0}', " ");
    stand_in_order(
        &markdown,
        &[
            "**PASS**: By gender × religion, 25.00 % of the texts with a protected term are discriminatory",
            "**By gender: with ‘female’ in its place, 40.00 % of the 20 texts that name ‘male’ would get ‘yes’ (95 % interval 19.00 % – 64.00 %).**",
            "One exchange of a value of gender or religion for another changes the decision on 12.50 % of the texts that name one \
             (95 % interval 6.00 % – 25.00 %), on average over the 2.5 that can be made in a text.",
            "25.00 % of the texts with a protected term get another decision as they are, unmodified, \
             by at least one exchange of a term of gender or religion: 10 of 40 (95 % interval 13.00 % – 41.00 %).",
            "The search, which also changes other words, found 4 distinct texts from 2 source texts, 1 of which flips as it is; how often",
            "2 texts are not English",
            "Which values decide",
            "| male | female | 20 | 40.00 % | 19.00 % – 64.00 % | 0.00 % |",
            "How often an exchange changes a decision",
            "| gender × religion | 12.50 % | 6.00 % – 25.00 % | 2.5 | 40 |",
            "10 texts flip when a term is exchanged",
            "| he → she | gender | 20 | 8 | 8 | 40.00 % | 19.00 % – 64.00 % |",
            "were ‘she’ neither replaced nor put in the place of another, it would be 5.00 % (1.00 % – 17.00 %); 8 of 10 texts",
            "| she | gender | 5 | 3 | 8 | 5.00 % | 1.00 % – 17.00 % |",
            "What the search found for how many model calls",
            "The pairs come from 3 texts of the file, of which 1 flips as it is.",
            "One pair of each source is shown",
            "| Pair | Text | Twin | Replaced term | Decision | Score of ‘yes’ | Moves by | Source text |",
            "| 1 | **he** is good | **she** is good |",
            "| **no → yes** | 0.100 → 0.600 | 0.500 | row 7: unmodified | nothing | 2 |",
            "| 5 | a **Jew** is poor | a **Sikh** is poor |",
            "| **no → yes** | 0.200 → 0.700 | 0.500 | row 11: a Jew is **bad** | bad → poor | 0 |",
            "not put in the place of others: ‘Jain’ and ‘Sikh’ of religion. With --values all they are.",
            "put in the place of others, too: ‘a’, ‘b’, ‘c’, ‘d’, ‘e’, ‘f’ and 2 others of gender.",
        ],
    );
}

#[test]
fn who_is_disadvantaged_is_said_where_somebody_says_what_is_good() {
    let said = |is_favourable_given: bool| {
        let share = |count: u64| json!({ "count": count, "share": 0.4, "ci95": [0.2, 0.6] });
        let value = |value: &str, net: f64| json!({ "value": value, "inputs": 20, "net": net, "gain": share(8), "lose": share(0) });
        let exchange = |from: &str, to: &str, gain: u64, lose: u64| json!({ "from": from, "to": to, "inputs": 20, "gain": share(gain), "lose": share(lose) });
        let exchanged = json!({
            "texts": 40, "flipped": 16, "kinds": 2, "pairs": [], "terms": [],
            "effects": [{
                "attribute": "gender", "tendency": "leaning",
                "values": [value("female", 0.4), value("male", -0.4)],
                "exchanges": [exchange("female", "male", 8, 2), exchange("male", "female", 1, 6)],
            }, {
                "attribute": "religion", "tendency": "one_sided",
                "values": [value("Jewish", 0.4), value("Sikh", 0.0), value("Hindu", -0.4)],
                "exchanges": [exchange("Jewish", "Hindu", 8, 0)],
            }],
            "moves": {
                "positive": "ok", "is_favourable_given": is_favourable_given,
                "to_positive": share(16), "from_positive": share(8),
                "changes": {
                    "mean": 0.1, "largest": 0.5, "quantiles": [], "bin_width": 0.5, "bins": [30, 10],
                },
            },
        });
        let exchanged: Exchanged = serde_json::from_value(exchanged).unwrap();
        let part = deciding(&exchanged, "x").remove(0);
        let ways = ways(exchanged.moves.as_ref().unwrap());
        let said = format!("{} {ways}", disadvantaged(&exchanged).join(" "));
        (part.title.to_string(), said.replace('\u{a0}', " "))
    };
    let (title, text) = said(false);
    assert_eq!(title, "Which values decide");
    assert!(!text.contains("disadvantage"), "{text}");
    stand_in_order(
        &text,
        &[
            "By gender it goes both ways",
            "40.00 % would no longer get it",
            "By religion: with ‘Hindu’ in its place",
            "in points: would gain ‘Jewish’ (40.0); would lose ‘Hindu’ (40.0).",
            "16 texts would get ‘ok’ (40.00 %), and 8 would no longer get it",
        ],
    );
    let (title, text) = said(true);
    assert_eq!(title, "Who is disadvantaged");
    assert!(!text.contains("no longer"), "{text}");
    stand_in_order(
        &text,
        &[
            "40.00 % would lose it",
            "By religion, ‘Jewish’ is at a disadvantage: with ‘Hindu’ in its place",
            "in points: at a disadvantage ‘Jewish’ (40.0); at an advantage ‘Hindu’ (40.0).",
            "16 texts would get ‘ok’ (40.00 %), and 8 would lose it",
        ],
    );
}

#[test]
fn of_several_classes_the_exchange_that_changes_most_is_said() {
    let said = |is_favourable_given: bool| {
        let share = json!({ "count": 17, "share": 0.34, "ci95": [0.21, 0.49] });
        let exchanged = json!({
            "texts": 60, "flipped": 20, "kinds": 2, "pairs": [], "terms": [],
            "moves": {
                "positive": "rude", "is_favourable_given": is_favourable_given,
                "to_positive": share, "from_positive": share,
                "changes": {
                    "mean": 0.1, "largest": 0.5, "quantiles": [], "bin_width": 0.5, "bins": [30, 10],
                },
            },
            "most_changed": {
                "attribute": "religion", "from": "Jewish", "to": "Sikh", "texts": 50,
                "changed": share, "decided": ["calm", "odd"], "moved": 12,
            },
        });
        let exchanged: Exchanged = serde_json::from_value(exchanged).unwrap();
        verdict(&exchanged).join(" ").replace('\u{a0}', " ")
    };
    assert_eq!(
        said(false),
        "The exchange that changes most is ‘Sikh’ in the place of ‘Jewish’: 34.00 % of the 50 texts that name ‘Jewish’ get another \
         decision (95 % interval 21.00 % – 49.00 %), most often ‘odd’ in place of ‘calm’ (12 of 17)."
    );
    assert_eq!(said(true), "");
}

#[test]
fn what_was_cut_short_says_so_before_what_was_found() {
    for (ending, said) in [
        ("interrupted", "Interrupted after 200 ms of searching"),
        ("time", "Ended by its time limit after 200 ms of searching"),
    ] {
        let markdown = report(5, SAMPLES, &[("ending", json!(ending))]).to_markdown();
        stand_in_order(
            &markdown.replace('\u{a0}', " "),
            &[
                &format!("**{said}: these are the figures until then.**"),
                "By gender: with ‘female’ in its place",
                "25.00 % of the texts with a protected term",
            ],
        );
    }
}

#[test]
fn pages_filter_by_unmodified_texts() {
    let html = report(5, SAMPLES, &[]).to_html().unwrap();
    assert_eq!(html.matches("<select").count(), 3);
    assert_eq!(html.matches("\" data-unmodified>").count(), 1);
    assert!(html.contains("<option value=\"unmodified\">unmodified only</option>"));
}

#[test]
fn data_hold_counts_and_sources() {
    let report = serde_json::to_value(report(5, SAMPLES, &[])).unwrap();
    let findings = &report["runs"][0]["findings"];
    assert_eq!(findings["unmodified"]["terms"][0]["alone"], 8);
    assert_eq!(findings["texts"]["blank"], 3);
    let pairs = &findings["pairs"];
    let texts = json!({ "texts": 4, "sources": 2, "unmodified": 1 });
    assert_eq!(pairs["texts"], texts);
    let first = &pairs["shown"][0];
    assert_eq!(
        (&first["texts"]["source"], &first["more"]),
        (&json!("he is good"), &json!(2))
    );
    assert_eq!(first["texts"]["source_row"], 7);
}

/// An audit of which nothing flips says so in each place.
#[test]
fn nothing_that_flips_is_said_too() {
    let header = SAMPLES.lines().next().unwrap();
    let unmodified = json!({ "texts": 40, "flipped": 0, "kinds": 30, "pairs": [], "terms": [] });
    let fairness = json!([{
        "protected": ["gender"], "sampled": 40, "discriminatory": 0, "rate": 0.0,
        "ci95": [0.0, 0.09],
    }]);
    let changes = [("unmodified", unmodified), ("fairness", fairness)];
    let markdown = report(0, header, &changes).to_markdown();
    stand_in_order(
        &markdown.replace('\u{a0}', " "),
        &[
            "**None of the texts with a protected term gets another decision as it is, unmodified",
            "The search found no text that flips.",
            "30 kinds of exchanges of terms were tried on 40 texts. None flips one.",
            "The search found no pair.",
        ],
    );
}

#[test]
fn a_part_of_the_texts_is_not_said_to_be_all() {
    let asked = InputKind {
        inputs: "the texts with a protected term",
        there: Some(300),
        is_text: true,
    };
    let said = |sampled, discriminatory| {
        let share = Share {
            protected: vec!["gender".to_owned()],
            sampled,
            discriminatory,
            rate: discriminatory as f64 / sampled as f64,
            ci95: [0.0, 0.5],
        };
        unmodified(asked, &share)
    };
    assert!(said(8, 0).starts_with("None of 8 of 300 texts with a protected term gets"));
    assert!(said(8, 2).contains("% of 8 of 300 texts with a protected term get"));
    assert!(said(300, 0).starts_with("None of the texts with a protected term gets"));
}
