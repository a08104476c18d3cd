//! The words in which PostgreSQL differs from SQLite, in whose words statements and tables are
//! written.

/// What is added to the tables of SQLite: the log refuses to be changed.
pub(super) const APPEND_ONLY_SQLITE: &str = "
CREATE TRIGGER log_is_not_changed BEFORE UPDATE ON log
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;

CREATE TRIGGER log_is_not_shortened BEFORE DELETE ON log
BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
";

/// The same for PostgreSQL.
const APPEND_ONLY_POSTGRES: &str = "
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the log is append-only'; END $$;

CREATE TRIGGER log_is_not_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON log
FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
";

/// Words of tables. Texts are compared byte by byte, as in SQLite, whatever the language of the
/// server. Every table gets a column that grows with each row, as all of SQLite have one.
const OF_TABLES: [(&str, &str); 6] = [
    (
        "INTEGER PRIMARY KEY AUTOINCREMENT",
        "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
    ),
    ("INTEGER", "BIGINT"),
    ("REAL", "DOUBLE PRECISION"),
    ("BLOB", "BYTEA"),
    ("TEXT", "TEXT COLLATE \"C\""),
    (
        "\n) STRICT;",
        ",\n    rowid BIGINT GENERATED ALWAYS AS IDENTITY\n);",
    ),
];

/// Words of statements.
const OF_STATEMENTS: [(&str, &str); 2] = [
    ("instr(", "strpos("),
    (
        "json_extract(specification, '$.model')",
        "(specification::json ->> 'model')",
    ),
];

/// Returns the SQL that makes `tables` in PostgreSQL.
pub(super) fn tables(tables: &str) -> String {
    let text = replaced(tables, &OF_TABLES);
    format!("{text}{APPEND_ONLY_POSTGRES}")
}

/// Returns `statement` in the words of PostgreSQL. Parameters are `?`, counted from the first, or
/// `?1`; no statement has a question mark in a text.
pub(super) fn statement(statement: &str) -> String {
    let text = replaced(statement, &OF_STATEMENTS);
    let mut parts = text.split('?');
    let mut result = parts.next().unwrap_or_default().to_owned();
    for (place, part) in (1..).zip(parts) {
        result.push('$');
        if !part.starts_with(|c: char| c.is_ascii_digit()) {
            result.push_str(&format!("{place}"));
        }
        result.push_str(part);
    }
    result
}

fn replaced(text: &str, words: &[(&str, &str)]) -> String {
    words
        .iter()
        .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_numbered() {
        assert_eq!(
            statement("SELECT a FROM b WHERE c = ? AND instr(lower(d), ?) > 0"),
            "SELECT a FROM b WHERE c = $1 AND strpos(lower(d), $2) > 0"
        );
        assert_eq!(
            statement("SELECT a FROM b WHERE ?2 IS NULL OR c IN (?1, ?2)"),
            "SELECT a FROM b WHERE $2 IS NULL OR c IN ($1, $2)"
        );
    }

    #[test]
    fn tables_have_the_types_of_the_server() {
        let text = "CREATE TABLE a (\n    b TEXT PRIMARY KEY,\n    c INTEGER\n) STRICT;\n";
        let made = tables(text);
        assert!(made.starts_with(
            "CREATE TABLE a (\n    b TEXT COLLATE \"C\" PRIMARY KEY,\n    c BIGINT,\n    rowid BIGINT GENERATED ALWAYS AS IDENTITY\n);\n"
        ));
    }
}
