//! Detection of lines above the names of the columns of a text, such as the title of a report.

use super::records::first_records;
use crate::schema::Format;

/// The separators by which the names are looked for, apart from the one of the text's layout.
const SEPARATORS: [char; 4] = [',', ';', '\t', '|'];
/// The most records above the names.
const MOST_ABOVE: usize = 10;
/// The number of records behind the names that are looked at.
const LOOKED_AT: usize = 30;
/// The least share of these, in percent, that have as many fields as there are names.
const ALIKE: usize = 90;

/// What stands at the beginning of a text whose first record is not the one that names the columns.
pub(super) struct Title {
    /// The first record that holds anything.
    pub first: csv::ByteRecord,
    /// The first record that may name the columns.
    pub names: csv::ByteRecord,
}

impl Title {
    /// Finds what stands above the names of the columns in `text`, the beginning of a file that is
    /// laid out as `format` says, but for the separator, which a title may hide: records in which few
    /// fields are filled, before the first of many records that have as many fields.
    pub fn find(text: &[u8], format: &Format) -> Option<Title> {
        let mut best: Option<Title> = None;
        // The names that the first record would be by some separator.
        let mut without = 0;
        for separator in std::iter::once(format.separator).chain(SEPARATORS) {
            let format = Format {
                separator,
                ..format.clone()
            };
            let mut records = first_records(text, &format);
            if records.len() > 1 && is_names(&records, 0) {
                without = without.max(records[0].len());
            }
            let names = (1..records.len().min(MOST_ABOVE + 1)).find(|&at| is_names(&records, at));
            let Some(at) = names else {
                continue;
            };
            let first = records[..at].iter().position(|above| filled(above) > 0);
            if best
                .as_ref()
                .is_none_or(|it| it.names.len() < records[at].len())
            {
                best = Some(Title {
                    names: records.swap_remove(at),
                    first: records.swap_remove(first.unwrap_or_default()),
                });
            }
        }
        best.filter(|title| title.names.len() > without)
    }
}

/// Returns the number of fields that hold something.
fn filled(record: &csv::ByteRecord) -> usize {
    record.iter().filter(|field| !field.is_empty()).count()
}

/// Returns whether the record at the place `at` of `records` may name the columns of those behind it,
/// and those before it may not.
fn is_names(records: &[csv::ByteRecord], at: usize) -> bool {
    let (fields, names) = (records[at].len(), filled(&records[at]));
    let behind = &records[at + 1..];
    let behind = &behind[..behind.len().min(LOOKED_AT)];
    let is_alike = |record: &&csv::ByteRecord| [fields, fields + 1].contains(&record.len());
    let alike = behind.iter().filter(is_alike).count();
    // The index that pandas writes has no name.
    names >= 2
        && names + 1 >= fields
        && !behind.is_empty()
        && 100 * alike >= ALIKE * behind.len()
        && records[..at].iter().all(|above| 2 * filled(above) <= names)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first field of the title, and the first name.
    fn found(text: &str) -> Option<[String; 2]> {
        let title = Title::find(text.as_bytes(), &Format::default())?;
        let field = |record: &csv::ByteRecord| String::from_utf8(record[0].to_vec()).unwrap();
        Some([field(&title.first), field(&title.names)])
    }

    #[test]
    fn few_fields_above_many_are_a_title() {
        let rows = "age;sex;wage\n40;m;1,5\n41;f;2,5\n42;m;3,5\n";
        for above in ["Applicants;;", "Applicants\n\nof 2024", ";;\nApplicants"] {
            let found = found(&format!("{above}\n{rows}"));
            assert_eq!(
                found,
                Some(["Applicants", "age"].map(str::to_owned)),
                "{above}"
            );
        }
        assert_eq!(found(rows), None);
        assert_eq!(found("age,sex\n"), None);
        assert_eq!(found("text\na, b and c\nd\ne, f\ng\n"), None, "lines");
        assert_eq!(found(""), None);
    }
}
