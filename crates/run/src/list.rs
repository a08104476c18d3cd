//! Lists in one line, as options and forms have them.

/// Returns the words in `text`, a line of CSV (RFC 4180): between commas, in double quotes where
/// they have commas or begin with a double quote, which is doubled within them.
///
/// # Errors
/// What is wrong with the quotes, in words.
pub fn words(text: &str) -> Result<Vec<String>, &'static str> {
    let (mut words, mut rest) = (Vec::new(), text);
    loop {
        let (word, after) = match rest.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let (word, after) = rest.split_at(rest.find(',').unwrap_or(rest.len()));
                (word.to_owned(), after)
            }
        };
        words.push(word);
        match after.strip_prefix(',') {
            Some(more) => rest = more,
            None if after.is_empty() => return Ok(words),
            None => return Err("a comma is expected after what is in double quotes"),
        }
    }
}

/// Returns the text before the closing quote, and the text that follows it.
fn unquoted(mut text: &str) -> Result<(String, &str), &'static str> {
    let mut word = String::new();
    loop {
        let (before, after) = text.split_once('"').ok_or("a double quote is not closed")?;
        word.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                word.push('"');
                text = more;
            }
            None => return Ok((word, after)),
        }
    }
}

/// Returns the name in front of the first `=` and the words after it, of which there may be none. A
/// name with an equals sign of its own stands in double quotes.
///
/// # Errors
/// The problem with the text, in words.
pub fn named_words(text: &str) -> Result<(String, Vec<String>), &'static str> {
    const EXPECTED: &str = "a name, an equals sign and values are expected, as in race=NA";
    let (name, rest) = match text.strip_prefix('"') {
        Some(quoted) => unquoted(quoted)?,
        None => {
            let (name, _) = text.split_once('=').ok_or(EXPECTED)?;
            (name.to_owned(), &text[name.len()..])
        }
    };
    match rest.strip_prefix('=') {
        Some("") if !name.is_empty() => Ok((name, Vec::new())),
        Some(values) if !name.is_empty() => Ok((name, words(values)?)),
        _ => Err(EXPECTED),
    }
}

/// Writes `words` as a line that [`words()`] reads.
pub fn line<T: AsRef<str>>(words: impl IntoIterator<Item = T>) -> String {
    let written = |word: T| {
        let word = word.as_ref();
        match word.is_empty() || word.starts_with('"') || word.contains(',') {
            true => format!("\"{}\"", word.replace('"', "\"\"")),
            false => word.to_owned(),
        }
    };
    let words: Vec<String> = words.into_iter().map(written).collect();
    words.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_commas_stand_in_quotes() {
        let of = |text: &str| words(text).map(|words| words.join("|"));
        for (text, expected) in [
            ("", ""),
            ("a,b", "a|b"),
            ("a,", "a|"),
            ("\"a,b\",c d", "a,b|c d"),
            ("x,\"\"\"ä\"\", y\"", "x|\"ä\", y"),
            ("5\" pipe,b", "5\" pipe|b"),
            ("\"\"", ""),
        ] {
            assert_eq!(of(text).unwrap(), expected, "{text}");
        }
        for text in ["\"a", "\"a\"b", "a,\"", "\"a\"\""] {
            assert!(of(text).is_err(), "{text}");
        }
    }

    #[test]
    fn words_may_have_a_name() {
        for (text, name, list) in [
            ("race=NA,?", "race", &["NA", "?"][..]),
            ("race=", "race", &[]),
            ("race=\"\"", "race", &[""]),
            ("a b=x=y", "a b", &["x=y"]),
            ("\"sex (m=1)\"=\"a, b\"", "sex (m=1)", &["a, b"]),
        ] {
            let (found, words) = named_words(text).unwrap();
            assert_eq!(
                (found.as_str(), &words[..]),
                (
                    name,
                    &list.iter().map(|&w| w.to_owned()).collect::<Vec<_>>()[..]
                )
            );
        }
        for text in ["race", "=NA", "\"race\"", "\"race=NA"] {
            assert!(named_words(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for (list, text) in [
            (&["a", "b"][..], "a,b"),
            (&["sex (m=1)", "distance, km"], "sex (m=1),\"distance, km\""),
            (&["\"yes\""], "\"\"\"yes\"\"\""),
            (&["said \"yes\""], "said \"yes\""),
            (&[""], "\"\""),
            (&["", "NA"], "\"\",NA"),
        ] {
            assert_eq!(line(list), text);
            assert_eq!(words(text).unwrap(), list);
        }
    }
}
