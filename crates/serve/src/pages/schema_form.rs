//! A table's schema as a form: one fold a column, with the fields of its kind.
//!
//! Every column has the fields of all three kinds. The fields of the kinds that are not chosen are
//! hidden by the style sheet alone, and hold what the chosen kind suggests for them, so that
//! changing the kind needs no typing.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::data::values;
use super::form::Form;
use super::views::{ColumnFields, Names};
use crate::operations::schema::{AttributeColumn, AttributeKind, TableSchema};
use probity_data::schema::OutOfDomain;
use probity_run::list::{line, words};

/// The name of the field that says which outcome is good to get.
pub(super) const FAVOURABLE: &str = "favourable";

/// The number of values above which whole numbers are not suggested as categories.
const MANY: i64 = 100;

/// The greatest number of lines of a field of levels.
const LINES: usize = 12;

/// Fills the form in from `schema`.
pub(super) fn filled(schema: &TableSchema) -> Form {
    let mut form = Form::default();
    form.set("classes", schema.label.classes.join("\n"));
    // The last outcome of a schema is the one that is good to get.
    if let Some(good) = schema.label.classes.last() {
        form.set(FAVOURABLE, good);
    }
    for (position, attribute) in schema.attributes.iter().enumerate() {
        let names = Names::new(position);
        form.set(&names.kind, word(attribute.kind));
        if attribute.protected {
            form.set(&names.protected, "yes");
        }
        if attribute.ordered == Some(true) {
            form.set(&names.ordered, "yes");
        }
        form.set(&names.missing, line(attribute.missing.marks()));
        form.set(&names.outside, word(attribute.outside));
        let domains = Domains::new(attribute);
        form.set(&names.min, domains.min);
        form.set(&names.max, domains.max);
        form.set(&names.levels, domains.levels);
        form.set(&names.bins, domains.bins);
    }
    form
}

/// The schema that the form describes: `drafted` with what was entered. Errors are noted in the
/// form.
pub(super) fn schema(form: &mut Form, drafted: &TableSchema) -> Option<TableSchema> {
    let mut schema = drafted.clone();
    // Numbers have no classes to enter.
    if !schema.label.is_number() {
        schema.label.classes = lines(form.all("classes"));
    }
    let classes = &schema.label.classes;
    schema
        .label
        .aliases
        .retain(|_, class| classes.contains(class));
    if classes.len() < 2 {
        form.refuse("classes", "Give at least two outcomes, one a line.");
    }
    if let Some(twice) = twice(classes) {
        form.refuse("classes", format!("“{twice}” is listed twice."));
    }
    put_last(form, &mut schema.label.classes);
    for (position, attribute) in schema.attributes.iter_mut().enumerate() {
        read(form, &Names::new(position), attribute);
    }
    (!form.has_errors()).then_some(schema)
}

/// Puts the outcome that was chosen as good to get at the end of `classes`; or notes an error in the
/// form. A form that chooses none leaves them as they are.
fn put_last(form: &mut Form, classes: &mut Vec<String>) {
    let Some(good) = form.filled(FAVOURABLE).map(str::to_owned) else {
        return;
    };
    match classes.iter().position(|class| *class == good) {
        Some(place) => {
            let good = classes.remove(place);
            classes.push(good);
        }
        None => form.refuse(
            FAVOURABLE,
            format!("“{good}” is none of the outcomes that are listed."),
        ),
    }
}

/// The fields of all columns. A column with an error is open.
pub(super) fn columns(form: &Form, schema: &TableSchema) -> Vec<ColumnFields> {
    let fields = |(position, attribute): (usize, &AttributeColumn)| {
        let names = Names::new(position);
        let all = [
            &names.min,
            &names.max,
            &names.levels,
            &names.bins,
            &names.missing,
            &names.outside,
            &names.kind,
        ];
        ColumnFields {
            prefix: format!("c{position}"),
            name: attribute.name.clone(),
            summary: values(attribute),
            is_protected: form.has(&names.protected, "yes"),
            is_open: all.iter().any(|name| form.error(name).is_some()),
            lines: form.value(&names.levels).lines().count().clamp(3, LINES),
            names,
        }
    };
    schema.attributes.iter().enumerate().map(fields).collect()
}

/// The domain of a column as every kind would have it.
struct Domains {
    min: String,
    max: String,
    levels: String,
    bins: String,
}

impl Domains {
    fn new(attribute: &AttributeColumn) -> Domains {
        let levels = attribute.levels.as_deref().unwrap_or_default();
        let bins = attribute.bins.as_deref().unwrap_or_default();
        let numbers: Vec<f64> = levels
            .iter()
            .filter_map(|level| level.parse().ok())
            .collect();
        let range = match attribute.kind {
            AttributeKind::Integer => attribute
                .min
                .map(f64::from)
                .zip(attribute.max.map(f64::from)),
            AttributeKind::Categorical if numbers.len() == levels.len() => numbers
                .iter()
                .copied()
                .reduce(f64::min)
                .zip(numbers.iter().copied().reduce(f64::max)),
            AttributeKind::Categorical => None,
            AttributeKind::Numeric => bins.first().copied().zip(bins.last().copied()),
        };
        let (min, max) = match range {
            Some((min, max)) => (min.floor().to_string(), max.ceil().to_string()),
            None => (String::new(), String::new()),
        };
        Domains {
            min,
            max,
            levels: match attribute.kind {
                AttributeKind::Categorical => levels.join("\n"),
                AttributeKind::Integer => range.map_or(String::new(), all_between),
                AttributeKind::Numeric => String::new(),
            },
            bins: match attribute.kind {
                AttributeKind::Numeric => {
                    let edges: Vec<String> = bins.iter().map(f64::to_string).collect();
                    edges.join(" ")
                }
                _ => range.map_or(String::new(), quarters),
            },
        }
    }
}

/// The whole numbers of a range, one a line, unless there are many.
fn all_between((min, max): (f64, f64)) -> String {
    let (min, max) = (min as i64, max as i64);
    if max - min >= MANY {
        return String::new();
    }
    let numbers: Vec<String> = (min..=max).map(|number| number.to_string()).collect();
    numbers.join("\n")
}

/// The edges of four ranges of equal width.
fn quarters((min, max): (f64, f64)) -> String {
    if min >= max {
        return String::new();
    }
    let edge = |quarter: u8| (min + (max - min) * f64::from(quarter) / 4.0).to_string();
    [0, 1, 2, 3, 4].map(edge).join(" ")
}

fn read(form: &mut Form, names: &Names, attribute: &mut AttributeColumn) {
    let Some(kind) = of_word(form.value(&names.kind)) else {
        form.refuse(&names.kind, "Choose a kind.");
        return;
    };
    let was = std::mem::replace(&mut attribute.kind, kind);
    attribute.protected = form.has(&names.protected, "yes");
    match form.filled(&names.missing).map_or(Ok(Vec::new()), words) {
        Ok(marks) => attribute.missing = marks.into_iter().collect(),
        Err(problem) => form.refuse(&names.missing, format!("This is no list: {problem}.")),
    }
    attribute.outside = of_word(form.value(&names.outside)).unwrap_or_default();
    (attribute.min, attribute.max) = (None, None);
    let was_of_words = was == AttributeKind::Categorical;
    let beside = attribute.levels.take().filter(|_| !was_of_words);
    attribute.ordered = None;
    let drafted = (attribute.bins.take(), attribute.values.take());
    let merge = std::mem::take(&mut attribute.merge);
    match kind {
        AttributeKind::Integer => {
            attribute.min = whole_number(form, &names.min);
            attribute.max = whole_number(form, &names.max);
            if attribute.min > attribute.max && attribute.max.is_some() {
                form.refuse(&names.max, "The largest value is below the smallest.");
            }
            attribute.levels = beside;
        }
        AttributeKind::Categorical => {
            read_levels(form, names, attribute);
            // Spellings of levels that are gone, or that are levels now, are dropped.
            let levels = attribute.levels.as_deref().unwrap_or_default();
            let is_kept = |spelling: &String, level: &String| {
                levels.contains(level) && !levels.contains(spelling)
            };
            attribute.merge = merge;
            attribute
                .merge
                .retain(|spelling, level| is_kept(spelling, level));
        }
        AttributeKind::Numeric => {
            attribute.bins = edges(form, &names.bins);
            // The numbers that stand for the bins belong to these bins and no others.
            if attribute.bins == drafted.0 {
                attribute.values = drafted.1;
            }
            attribute.levels = beside;
        }
    }
}

fn read_levels(form: &mut Form, names: &Names, attribute: &mut AttributeColumn) {
    let levels = lines(form.all(&names.levels));
    if levels.is_empty() {
        form.refuse(&names.levels, "Give the possible values, one a line.");
    }
    if let Some(twice) = twice(&levels) {
        form.refuse(&names.levels, format!("“{twice}” is listed twice."));
    }
    if attribute.outside == OutOfDomain::Clip {
        form.refuse(
            &names.outside,
            "Categories have no nearest value; choose another answer.",
        );
    }
    attribute.levels = Some(levels);
    attribute.ordered = form.has(&names.ordered, "yes").then_some(true);
}

fn whole_number(form: &mut Form, name: &str) -> Option<i32> {
    let number = form.number(name, "a whole number");
    if number.is_none() && form.error(name).is_none() {
        form.refuse(name, "A whole number is needed.");
    }
    number
}

fn edges(form: &mut Form, name: &str) -> Option<Vec<f64>> {
    let mut edges = Vec::new();
    let entered = form.value(name).replace([',', ';'], " ");
    for word in entered.split_whitespace() {
        match word.parse::<f64>() {
            Ok(edge) if edge.is_finite() => edges.push(edge),
            _ => {
                form.refuse(name, format!("“{word}” is not a number."));
                return None;
            }
        }
    }
    if edges.len() < 2 || edges.windows(2).any(|pair| pair[0] >= pair[1]) {
        form.refuse(
            name,
            "At least two ascending numbers are needed, separated by blanks.",
        );
        return None;
    }
    Some(edges)
}

/// The lines of a field, without blanks around them and empty ones.
fn lines(entered: &[String]) -> Vec<String> {
    let lines = entered.iter().flat_map(|text| text.lines());
    let lines = lines.map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// Returns an entry that stands in a list twice.
fn twice(list: &[String]) -> Option<&String> {
    (1..list.len())
        .map(|position| &list[position])
        .zip(1..)
        .find_map(|(entry, position)| list[..position].contains(entry).then_some(entry))
}

/// The word for one of a few things, as the JSON of a schema has it.
fn word<T: Serialize>(value: T) -> String {
    let value = serde_json::to_value(value).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// Reads the thing that a word stands for.
fn of_word<T: DeserializeOwned>(word: &str) -> Option<T> {
    serde_json::from_value(word.into()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_data::builtin;

    fn census() -> TableSchema {
        TableSchema::from_schema(&builtin::schema("census").unwrap().unwrap()).unwrap()
    }

    #[test]
    fn a_form_that_nobody_changes_changes_nothing() {
        for name in builtin::names() {
            let drafted =
                TableSchema::from_schema(&builtin::schema(name).unwrap().unwrap()).unwrap();
            let mut form = filled(&drafted);
            let mut read =
                schema(&mut form, &drafted).unwrap_or_else(|| panic!("{:?}", form.errors()));
            // It makes no difference whether an unordered category says that it is unordered.
            for (read, drafted) in read.attributes.iter_mut().zip(&drafted.attributes) {
                read.ordered = drafted.ordered;
            }
            assert_eq!(read, drafted, "{name}");
            read.check().unwrap();
        }
    }

    #[test]
    fn the_good_outcome_is_the_last_one() {
        let drafted = census();
        let [first, last] = drafted.label.classes.as_slice() else {
            panic!("{:?}", drafted.label.classes)
        };
        assert_eq!(filled(&drafted).value(FAVOURABLE), last);
        let mut form = filled(&drafted).with(FAVOURABLE, first);
        let changed = schema(&mut form, &drafted).unwrap();
        assert_eq!(changed.label.classes, [last.as_str(), first.as_str()]);
        changed.check().unwrap();
    }

    #[test]
    fn numbers_that_stand_for_bins_are_kept_with_their_bins() {
        let mut drafted = census();
        let column = &mut drafted.attributes[0];
        (column.kind, column.min, column.max) = (AttributeKind::Numeric, None, None);
        column.bins = Some(vec![0.0, 10.0, 30.5]);
        column.values = Some(vec![4.0, 10.0]);
        let mut form = filled(&drafted);
        let kept = schema(&mut form, &drafted).unwrap();
        assert_eq!(kept.attributes[0], drafted.attributes[0]);
        let mut form = filled(&drafted).with(&Names::new(0).bins, "0 5 30.5");
        let changed = schema(&mut form, &drafted).unwrap();
        assert_eq!(changed.attributes[0].values, None);
        changed.check().unwrap();
        let mut form = filled(&drafted).with(&Names::new(0).kind, "integer");
        assert_eq!(
            schema(&mut form, &drafted).unwrap().attributes[0].values,
            None
        );
    }

    #[test]
    fn several_marks_of_missing_are_a_list() {
        let mut drafted = census();
        drafted.attributes[0].missing = ["", "NA"].into_iter().collect();
        let mut form = filled(&drafted);
        let name = Names::new(0).missing;
        assert_eq!(form.value(&name), "\"\",NA");
        let kept = schema(&mut form, &drafted).unwrap();
        assert_eq!(kept.attributes[0].missing, drafted.attributes[0].missing);
        let mut form = filled(&drafted).with(&name, "?");
        let changed = schema(&mut form, &drafted).unwrap();
        assert_eq!(changed.attributes[0].missing.marks(), ["?"]);
        let mut form = filled(&drafted).with(&name, "\"NA");
        assert!(schema(&mut form, &drafted).is_none());
        assert!(
            form.error(&name)
                .is_some_and(|error| error.contains("not closed"))
        );
    }

    #[test]
    fn another_kind_is_filled_in_already() {
        let drafted = census();
        let age = drafted
            .attributes
            .iter()
            .position(|column| column.kind == AttributeKind::Integer);
        let names = Names::new(age.unwrap());
        for kind in ["categorical", "numeric"] {
            let mut form = filled(&drafted).with(&names.kind, kind);
            let changed =
                schema(&mut form, &drafted).unwrap_or_else(|| panic!("{:?}", form.errors()));
            changed.check().unwrap();
        }
    }

    #[test]
    fn what_is_wrong_is_said_at_its_field() {
        let drafted = census();
        for (field, value, needle) in [
            ("classes", "one", "two outcomes"),
            ("classes", "one\none", "twice"),
            ("favourable", "other", "none of the outcomes"),
            ("c0-min", "", "needed"),
            ("c0-min", "1.5", "not a whole number"),
            ("c0-max", "-5", "below"),
            ("c0-kind", "other", "kind"),
        ] {
            let mut form = filled(&drafted)
                .with("c0-kind", "integer")
                .with("c0-min", "1")
                .with("c0-max", "2");
            form.set(field, value);
            assert!(schema(&mut form, &drafted).is_none(), "{field}={value}");
            let error = form
                .error(field)
                .unwrap_or_else(|| panic!("{:?}", form.errors()));
            assert!(error.contains(needle), "{error}");
        }
    }

    #[test]
    fn edges_ascend() {
        let read = |text: &str| edges(&mut Form::default().with("bins", text), "bins");
        assert_eq!(read("0, 1.5;3"), Some(vec![0.0, 1.5, 3.0]));
        for wrong in ["", "1", "1 1", "2 1", "0 inf", "a b"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
