//! Detection of lines before the header that are no data, such as `# exported 2024-03-01`.

use std::io::{self, BufRead, BufReader, Read};

/// The characters by which programs begin lines that are no data.
const SIGNS: [u8; 2] = [b'#', b'%'];

/// The lines before the header that are no data.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Comments {
    /// The character that they begin with.
    pub sign: char,
    /// The number of lines.
    pub lines: usize,
}

impl Comments {
    /// Finds the lines before the header of `text`, the fields of which one of `separators` separates:
    /// there are none unless all lines before it begin with one sign, and no row may begin with it.
    /// What begins with it and has as many fields as the header may be the header.
    ///
    /// # Errors
    /// When the text cannot be read.
    pub fn find(text: impl Read, separators: &[char]) -> io::Result<Option<Comments>> {
        let mut text = BufReader::new(text);
        let may_begin = |first: &u8| SIGNS.contains(first) || matches!(first, b'\n' | b'\r');
        if !text.fill_buf()?.first().is_some_and(may_begin) {
            return Ok(None);
        }
        let (mut line, mut last) = (Vec::new(), Vec::new());
        let mut found: Option<(u8, usize)> = None;
        let (sign, lines) = loop {
            line.clear();
            if text.read_until(b'\n', &mut line)? == 0 {
                return Ok(None);
            }
            let first = line.first().copied();
            match (first.filter(|_| !line.trim_ascii().is_empty()), found) {
                (None, _) => {}
                (Some(first), None) if SIGNS.contains(&first) => found = Some((first, 1)),
                (Some(first), Some((sign, lines))) if first == sign => {
                    found = Some((sign, lines + 1));
                }
                (Some(_), None) => return Ok(None),
                (Some(_), Some(found)) => break found,
            }
            if line.first() == found.as_ref().map(|(sign, _)| sign) {
                std::mem::swap(&mut line, &mut last);
            }
        };
        let times = |line: &[u8], separator: char| {
            let is_separator = |byte: &&u8| char::from(**byte) == separator;
            line.iter().filter(is_separator).count()
        };
        let most = separators
            .iter()
            .map(|&separator| (times(&line, separator), separator))
            .max_by_key(|(times, _)| *times);
        let Some((names, separator)) = most.filter(|(times, _)| *times > 0) else {
            return Ok(None);
        };
        let before = times(&last, separator);
        if before > 0 && before + 1 >= names {
            return Ok(None);
        }
        loop {
            line.clear();
            if text.read_until(b'\n', &mut line)? == 0 {
                let sign = char::from(sign);
                return Ok(Some(Comments { sign, lines }));
            }
            if line.first() == Some(&sign) && times(&line, separator) > 0 {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_before_the_header_that_begin_alike_are_no_data() {
        let rows = "age,sex,income\n40,m,high\n41,f,low\n";
        let found = |text: &str| {
            let found = Comments::find(text.as_bytes(), &[',', ';']).unwrap();
            found.map(|comments| (comments.sign, comments.lines))
        };
        for (before, expected) in [
            ("# exported 2024-03-01\n", Some(('#', 1))),
            ("# exported\r\n#\r\n\r\n# by hand\r\n", Some(('#', 3))),
            ("% exported\n", Some(('%', 1))),
            ("% exported\n# by hand\n", None),
            ("exported\n", None),
            ("# exported, by hand\n", None),
            ("", None),
            ("#age,sex,income\n", None),
            ("# exported\n#sex,income\n", None),
        ] {
            assert_eq!(found(&format!("{before}{rows}")), expected, "{before}");
        }
        let later = |line: &str| found(&format!("# exported\n{rows}{line}\n"));
        assert_eq!(later("# 2 rows"), Some(('#', 1)));
        assert_eq!(later("#12,f,low"), None, "a row");
        assert_eq!(found("# a\ntext\nb\n"), None, "one column");
        assert_eq!(found("# a\n"), None);
    }
}
