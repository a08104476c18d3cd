//! The part of the domain that is decided: `age=18..40`, `sector=Private|State`.

use probity_data::schema::{Attribute, Encoded, Encoder, Schema};
use probity_run::specification::FieldError;

/// The field that says the part.
const FIELD: &str = "within";

/// The codes of each attribute of `schema` that `parts` leave, ascending; none where all are left.
///
/// # Errors
/// When a part names no attribute, or one that is `protected` or named before, or values that it
/// does not have.
pub(super) fn codes_within(
    parts: &[String],
    schema: &Schema,
    protected: &[usize],
) -> Result<Vec<Option<Vec<i32>>>, FieldError> {
    let mut codes: Vec<Option<Vec<i32>>> = vec![None; schema.attributes.len()];
    for part in parts {
        let refuse = |expected: String| FieldError::new(FIELD, part, expected);
        let (name, values) = schema.attribute_and_value(part);
        let values = values
            .ok_or_else(|| refuse("such as age=18..40 or sector=Private|State".to_owned()))?;
        let place = schema
            .index_of(name)
            .map_err(|error| refuse(format!("of the schema: {error}")))?;
        if protected.contains(&place) {
            return Err(refuse(format!(
                "without '{name}': it is protected, all of its values are compared"
            )));
        }
        if codes[place].is_some() {
            return Err(refuse(format!("the only one about '{name}'")));
        }
        codes[place] = Some(codes_of(values, &schema.attributes[place], &refuse)?);
    }
    Ok(codes)
}

fn codes_of(
    values: &str,
    attribute: &Attribute,
    refuse: &dyn Fn(String) -> FieldError,
) -> Result<Vec<i32>, FieldError> {
    let encoder = Encoder::new(attribute);
    let code = |value: &str| match encoder.encode(value.trim()) {
        Ok(Encoded::Code(code)) => Ok(code),
        Ok(_) | Err(_) => Err(refuse(format!(
            "of values of '{}': {}",
            attribute.name,
            attribute.expected()
        ))),
    };
    // A level may hold the signs that join and range.
    if let Ok(Encoded::Code(whole)) = encoder.encode(values.trim()) {
        return Ok(vec![whole]);
    }
    let mut codes = Vec::new();
    for value in values.split('|') {
        match value.split_once("..") {
            Some((first, last)) if attribute.is_ordered() => {
                let (first, last) = (code(first)?, code(last)?);
                if first > last || !attribute.are_ordered(&[first, last]) {
                    return Err(refuse("from a smaller value to a larger one".to_owned()));
                }
                codes.extend(first..=last);
            }
            _ => codes.push(code(value)?),
        }
    }
    codes.sort_unstable();
    codes.dedup();
    Ok(codes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_data::builtin;
    use probity_data::schema::Kind;

    #[test]
    fn parts_of_a_domain() {
        let schema = builtin::schema("synthetic-census").unwrap().unwrap();
        let [age, sex] = ["age", "sex"].map(|name| schema.index_of(name).unwrap());
        let asked = |parts: &[&str]| {
            let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
            codes_within(&parts, &schema, &[sex])
        };
        let codes = asked(&["age=20..22|30"]).unwrap();
        assert_eq!(codes[age].as_deref(), Some(&[20, 21, 22, 30][..]));
        for wrong in ["age", "age=30..20", "age=x", "height=3", "sex=male"] {
            assert!(asked(&[wrong]).is_err(), "{wrong}");
        }
        assert!(asked(&["age=20", "age=21"]).is_err());
    }

    #[test]
    fn names_and_levels_may_hold_signs() {
        let mut schema = builtin::schema("synthetic-census").unwrap().unwrap();
        let age = schema.index_of("age").unwrap();
        schema.attributes[age].name = "age=y".to_owned();
        let levels = ["a|b", "a", "c..d"].map(str::to_owned).to_vec();
        let job = schema.index_of("occupation").unwrap();
        schema.attributes[job].kind = Kind::Categorical {
            levels,
            ordered: false,
        };
        let asked = |part: &str| codes_within(&[part.to_owned()], &schema, &[]);
        assert_eq!(
            asked("age=y=20..21").unwrap()[age].as_deref(),
            Some(&[20, 21][..])
        );
        for (part, codes) in [("a|b", &[0][..]), ("a|c..d", &[1, 2]), ("c..d", &[2])] {
            let found = asked(&format!("occupation={part}")).unwrap();
            assert_eq!(found[job].as_deref(), Some(codes), "{part}");
        }
        assert!(asked("age=20").is_err());
    }
}
