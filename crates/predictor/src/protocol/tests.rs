use super::*;
use probity_data::builtin;

fn schema() -> Schema {
    builtin::schema("synthetic-census").unwrap().unwrap()
}

#[test]
fn the_greeting_says_everything() {
    let schema = schema();
    let greeting = serde_json::to_value(Greeting::new(&schema, 10)).unwrap();
    assert_eq!(greeting["protocol"], 1);
    assert_eq!(greeting["classes"], serde_json::json!(["low", "high"]));
    let columns = greeting["columns"].as_array().unwrap();
    assert_eq!(columns.len(), schema.attributes.len());
    assert_eq!(columns[0]["name"], "age");
    assert_eq!(columns[0]["kind"], "integer");
    assert_eq!(columns[0]["nullable"], false);
    let sex = schema.index_of("sex").unwrap();
    assert_eq!(columns[sex]["kind"], "categorical");
    assert_eq!(
        columns[sex]["values"].as_array().unwrap().len(),
        schema.attributes[sex].levels()
    );
}

#[test]
fn welcomes() {
    let schema = schema();
    let read = |line: &str| Welcome::read(line.as_bytes(), 1, &schema);
    assert_eq!(read(r#"{"protocol": 1}"#), Ok(vec![0, 1]));
    assert_eq!(
        read(r#"{"protocol": 1, "classes": ["high", "low"], "more": 2}"#),
        Ok(vec![1, 0])
    );
    for (line, needle) in [
        (r#"{"protocol": 2}"#, "version 2"),
        (r#"{"classes": []}"#, "must say {\"protocol\": 1}"),
        (
            r#"{"protocol": 1, "classes": ["yes", "no"]}"#,
            "classes are yes, no, but",
        ),
        (
            r#"{"protocol": 1, "classes": ["high", "low", "low"]}"#,
            "high, low, low",
        ),
        (r#"{"error": "no model.joblib"}"#, "no model.joblib"),
        ("Loading model …", "'Loading model …'"),
    ] {
        let error = read(line).unwrap_err().to_string();
        assert!(error.contains(needle), "{error}");
    }
}

#[test]
fn answers() {
    let read = |line: &str| Answer::read(line.as_bytes(), 4, 3, 2);
    assert_eq!(
        read(r#"{"batch":3,"probabilities":[[1,0],[0.25,0.75]]}"#),
        Ok(vec![vec![1.0, 0.0], vec![0.25, 0.75]])
    );
    assert_eq!(
        read(r#"{"batch":3,"scores":[1,0.25]}"#),
        Ok(vec![vec![0.0, 1.0], vec![0.75, 0.25]])
    );
    for (line, needle) in [
        (r#"{"batch":3,"scores":[0.5]}"#, "answered 1 rows where 2"),
        (r#"{"batch":2,"scores":[1,1]}"#, "it answers batch 2, not 3"),
        (r#"{"scores":[1,1]}"#, "lacks \"batch\": 3"),
        (r#"{"batch":3}"#, "either"),
        (r#"{"batch":3,"scores":[NaN,1]}"#, "NaN and Infinity are no"),
        (r#"{"batch":3,"scores":[-Infinity,1]}"#, "NaN and Infinity"),
        (r#"{"batch":3,"scores":["a",1]}"#, "line 4"),
        ("", "line 4"),
        (r#"{"error":"out of memory"}"#, "reports: out of memory"),
    ] {
        let error = read(line).unwrap_err().to_string();
        assert!(error.contains(needle), "{line}: {error}");
    }
}

#[test]
fn excerpts_are_short_and_printable() {
    let long = "é".repeat(500);
    assert_eq!(excerpt(long.as_bytes(), 0).chars().count(), EXCERPT + 1);
    assert_eq!(excerpt(b"a\x1b[31mb\xff", 0), "a [31mb\u{fffd}");
    assert_eq!(excerpt(b"abc", 9), "");
}
