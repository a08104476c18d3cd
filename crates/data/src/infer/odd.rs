//! Detection of odd cells in a column: signs that programs write where there is no value, such as `.`,
//! numbers far away from all others that stand for something else, such as 8888, and ranges among
//! words, such as `35-44`.

/// The least number of times that a number which stands for something else occurs in the file.
const REPEATS: usize = 5;
/// The numbers that surveys write for no answer, where no number is below zero.
const CODES: [f64; 4] = [-1.0, -7.0, -8.0, -9.0];
/// The multiple of the largest bound of the ranges from which on a number counts as far from them:
/// no age any more, for example.
const FAR_FROM_RANGES: f64 = 10.0;
/// The largest number of different words that may stand among ranges.
const MOST_OTHERS: usize = 5;

/// Returns whether `cell` is a sign that programs and people write where there is no value, and that
/// names no group of people: `.` of SAS, `<NA>` and `NaT` of pandas, `#N/A` of spreadsheets, `\N` and
/// `(null)` of databases, a dash.
pub(super) fn is_blank_sign(cell: &str) -> bool {
    let is_in_any_case = |sign: &&str| cell.eq_ignore_ascii_case(sign);
    is_dash(cell)
        || matches!(cell, "." | "\\N" | "NaT")
        || ["<NA>", "#N/A", "(null)"].iter().any(is_in_any_case)
}

/// Returns whether `cell` is a dash or two, which may also be the opposite of a plus or of a tick.
pub(super) fn is_dash(cell: &str) -> bool {
    matches!(cell, "-" | "--")
}

/// Splits `sorted` into the numbers that stand for something else, each with how often it does, and
/// the others: -1, -7, -8 and -9 among numbers from 0 on, and one digit that is repeated (99, 8888,
/// -999) at either end, again and again, and further from the next number than half of what all
/// others span.
pub(super) fn apart(sorted: Vec<f64>) -> (Vec<(f64, u64)>, Vec<f64>) {
    let runs = sorted.chunk_by(|a, b| a == b);
    let runs: Vec<(f64, usize)> = runs.map(|run| (run[0], run.len())).collect();
    let mut left = &runs[..];
    let mut found = Vec::new();
    // Two numbers have no ends.
    while let [first, second, .., before, last] = left {
        let above = last.0 - before.0;
        let below = second.0 - first.0;
        let negative = left.iter().take_while(|(number, _)| *number < 0.0);
        let is_code = |(number, times): &(f64, usize)| CODES.contains(number) && *times >= REPEATS;
        let are_codes = first.0 < 0.0 && negative.clone().all(is_code);
        let is_low = first.0 < 0.0 && digits_repeat(first.0) && 2.0 * below > last.0 - second.0;
        let is_high = digits_repeat(last.0) && 2.0 * above > before.0 - first.0;
        if last.1 >= REPEATS && is_high {
            found.push((last.0, last.1 as u64));
            left = &left[..left.len() - 1];
        } else if first.1 >= REPEATS && (are_codes || is_low) {
            found.push((first.0, first.1 as u64));
            left = &left[1..];
        } else {
            break;
        }
    }
    found.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let is_left = |number: &f64| !found.iter().any(|(far, _)| far == number);
    let others = sorted.iter().copied().filter(is_left).collect();
    (found, others)
}

/// Returns whether a whole number is one digit, two times or more.
fn digits_repeat(number: f64) -> bool {
    let digits = number.abs().to_string();
    let mut characters = digits.chars();
    let first = characters.next();
    digits.len() > 1 && characters.all(|digit| Some(digit) == first)
}

/// The words before a number below which a range lies, those behind it, and those before and behind one
/// above which it lies.
const BELOW: [&str; 7] = [
    "under",
    "below",
    "less than",
    "fewer than",
    "younger than",
    "up to",
    "at most",
];
const OR_BELOW: [&str; 4] = ["under", "below", "less", "younger"];
const ABOVE: [&str; 6] = [
    "over",
    "above",
    "more than",
    "greater than",
    "older than",
    "at least",
];
const OR_ABOVE: [&str; 5] = ["over", "above", "more", "older", "up"];
/// The words beside a number that only say what it counts.
const COUNTED: [&str; 6] = ["years", "year", "yrs", "old", "of", "age"];

/// A range of numbers, both ends of which may belong to it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Range {
    from: f64,
    to: f64,
}

impl Range {
    fn is_number(self) -> bool {
        self.from == self.to
    }
}

/// The words of a column of ranges: ages, shares, incomes.
#[derive(Debug, PartialEq)]
pub(super) struct Ranges {
    /// The ranges, and the numbers between them, in ascending order.
    pub ranges: Vec<String>,
    /// Numbers that are far from all ranges.
    pub numbers: Vec<String>,
    /// Words that say no range.
    pub words: Vec<String>,
}

/// Returns `words` as ranges, if nearly all of them are ranges, which do not overlap.
pub(super) fn ranges(words: &[String]) -> Option<Ranges> {
    let (mut read, mut others) = (Vec::new(), Vec::new());
    for word in words {
        match range(word).or_else(|| range(&in_signs(word))) {
            Some(range) => read.push((range, word)),
            None => others.push(word.clone()),
        }
    }
    let bounded = || read.iter().filter(|(range, _)| !range.is_number());
    // One range among numbers is no scale, unless it is where the numbers end: `3+` behind 0, 1 and 2.
    let is_end = |(range, _): &(Range, &String)| range.from.is_infinite() || range.to.is_infinite();
    let least = match bounded().all(is_end) && others.is_empty() {
        true => 1,
        false => 2,
    };
    if bounded().count() < least || read.len() < 3 || others.len() > MOST_OTHERS {
        return None;
    }
    let bounds = bounded().flat_map(|(range, _)| [range.from, range.to]);
    let bounds: Vec<f64> = bounds.filter(|bound| bound.is_finite()).collect();
    let largest = bounds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = bounds.iter().copied().fold(f64::INFINITY, f64::min);
    let is_odd = |range: Range| {
        let is_far = range.from > FAR_FROM_RANGES * largest.abs();
        range.is_number() && (is_far || (range.from < 0.0 && least >= 0.0))
    };
    let (odd, mut read): (Vec<_>, Vec<_>) = read.into_iter().partition(|(range, _)| is_odd(*range));
    read.sort_by(|(a, _), (b, _)| a.from.total_cmp(&b.from).then(a.to.total_cmp(&b.to)));
    let is_apart = read.windows(2).all(|pair| pair[0].0.to <= pair[1].0.from);
    let words = |read: Vec<(Range, &String)>| -> Vec<String> {
        read.into_iter().map(|(_, word)| word.clone()).collect()
    };
    is_apart.then(|| Ranges {
        ranges: words(read),
        numbers: words(odd),
        words: others,
    })
}

/// Returns the range that `text` says in words as one in signs: `under 18` as `<18`, `65 and over` as
/// `65+`, `between 25 and 34 years` as `25-34`.
fn in_signs(text: &str) -> String {
    let text = text.to_lowercase();
    let words = text.split_whitespace();
    let words = words.filter(|word| !COUNTED.contains(word));
    let text = words.collect::<Vec<&str>>().join(" ");
    let before = |words: &[&str]| {
        let mut words = words.iter();
        words.find_map(|word| text.strip_prefix(word)?.strip_prefix(' '))
    };
    let behind = |words: &[&str]| {
        let mut words = words.iter();
        words.find_map(|word| {
            let rest = text.strip_suffix(word)?;
            rest.strip_suffix(" and ").or(rest.strip_suffix(" or "))
        })
    };
    if let Some(number) = before(&BELOW).or(behind(&OR_BELOW)) {
        return format!("<{number}");
    }
    if let Some(number) = before(&ABOVE) {
        return format!(">{number}");
    }
    if let Some(number) = behind(&OR_ABOVE) {
        return format!("{number}+");
    }
    match text.strip_prefix("between ").or(text.strip_prefix("from ")) {
        Some(ends) => ends.replacen(" and ", "-", 1),
        None => text,
    }
}

/// Parses the range that `word` says: `35-44`, `20%-<30%`, `$1,000 to $1,999`, `[20, 30)`, `<25`,
/// `>74`, `75+`, or one number.
fn range(word: &str) -> Option<Range> {
    let bare = word.trim_matches(['[', ']', '(', ')']);
    let plain: String = bare
        .chars()
        .filter(|c| !c.is_whitespace() && !['%', '$', '€', '£'].contains(c))
        .collect();
    let number = |text: &str| -> Option<f64> {
        let text = text.trim_start_matches(['<', '>', '=']);
        let is_plain = text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || b".,-".contains(&byte));
        let digits = text.replace(',', "");
        let value: Option<f64> = digits.parse().ok().filter(|_| is_plain);
        value.filter(|value| value.is_finite())
    };
    let range = |(from, to): (&str, &str)| {
        let (from, to) = (number(from)?, number(to)?);
        (from < to).then_some(Range { from, to })
    };
    if bare.len() < word.len() {
        return plain.split_once(',').and_then(range);
    }
    let infinite = f64::INFINITY;
    if let Some(to) = plain.strip_prefix(['<', '≤']) {
        return number(to).map(|to| Range {
            from: -infinite,
            to,
        });
    }
    if let Some(from) = plain.strip_prefix(['>', '≥']).or(plain.strip_suffix('+')) {
        return number(from).map(|from| Range { from, to: infinite });
    }
    if let Some(value) = number(&plain) {
        return Some(Range {
            from: value,
            to: value,
        });
    }
    let separators = ["to", "–", "..", "-"];
    separators.into_iter().find_map(|separator| {
        // A sign stands before the first digit.
        let start = plain.find(|c: char| c.is_ascii_digit())?;
        let at = start + plain[start..].find(separator)?;
        range((&plain[..at], &plain[at + separator.len()..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(values: impl IntoIterator<Item = (f64, usize)>) -> Vec<f64> {
        let mut all: Vec<f64> = values
            .into_iter()
            .flat_map(|(value, times)| std::iter::repeat_n(value, times))
            .collect();
        all.sort_by(f64::total_cmp);
        all
    }

    fn far(sorted: &[f64]) -> Vec<f64> {
        let (far, others) = apart(sorted.to_vec());
        let found: u64 = far.iter().map(|(_, times)| times).sum();
        assert_eq!(found as usize + others.len(), sorted.len());
        far.into_iter().map(|(number, _)| number).collect()
    }

    #[test]
    fn numbers_that_stand_for_something_else_are_found() {
        let scores = || (500..=850).map(|score| (f64::from(score), 3));
        let of = |others: &[(f64, usize)]| far(&many(scores().chain(others.iter().copied())));
        assert_eq!(of(&[]), [0.0; 0]);
        assert_eq!(of(&[(8888.0, 45), (1111.0, 75)]), [1111.0, 8888.0]);
        assert_eq!(of(&[(8888.0, 4)]), [0.0; 0], "too few");
        assert_eq!(of(&[(1000.0, 75)]), [0.0; 0], "not far enough");
        assert_eq!(of(&[(5000.0, 75)]), [0.0; 0], "a number like any other");
        assert_eq!(of(&[(-999.0, 9)]), [-999.0]);
        assert_eq!(of(&[(-1.0, 9)]), [-1.0]);
        let ages = (17..=90).map(|age| (f64::from(age), 10));
        assert_eq!(far(&many(ages)), [0.0; 0]);
        let signed = (-1..=40).map(|change| (f64::from(change), 10));
        assert_eq!(far(&many(signed)), [-1.0]);
        let signed = (-9..=40).map(|change| (f64::from(change), 10));
        assert_eq!(far(&many(signed)), [0.0; 0]);
        assert_eq!(far(&many([(0.0, 900), (9999.0, 30)])), [0.0; 0]);
    }

    #[test]
    fn ranges_are_read() {
        let infinite = f64::INFINITY;
        for (word, from, to) in [
            ("35-44", 35.0, 44.0),
            ("20%-<30%", 20.0, 30.0),
            ("<25", -infinite, 25.0),
            ("<=50", -infinite, 50.0),
            (">74", 74.0, infinite),
            ("75+", 75.0, infinite),
            ("$1,000 to $1,999", 1000.0, 1999.0),
            ("[20, 30)", 20.0, 30.0),
            ("(-5, 10]", -5.0, 10.0),
            ("-5 - 10", -5.0, 10.0),
            ("36", 36.0, 36.0),
            ("1.5 – 2.5", 1.5, 2.5),
        ] {
            assert_eq!(range(word), Some(Range { from, to }), "{word}");
        }
        for word in [
            "Exempt",
            "44-35",
            "a-b",
            "",
            "to",
            "2019-03-04",
            "<x",
            "1E5",
        ] {
            assert_eq!(range(word), None, "{word}");
        }
    }

    #[test]
    fn ranges_are_read_in_words() {
        let infinite = f64::INFINITY;
        for (word, from, to) in [
            ("under 18", -infinite, 18.0),
            ("Less than $10,000", -infinite, 10_000.0),
            ("17 and younger", -infinite, 17.0),
            ("18 or less", -infinite, 18.0),
            ("25 to 34 years", 25.0, 34.0),
            ("between 25 and 34", 25.0, 34.0),
            ("65 and over", 65.0, infinite),
            ("65 years and older", 65.0, infinite),
            ("$30,000 or more", 30_000.0, infinite),
            ("Over 75", 75.0, infinite),
            ("at least 75", 75.0, infinite),
        ] {
            assert_eq!(range(&in_signs(word)), Some(Range { from, to }), "{word}");
        }
        for word in [
            "under",
            "over there",
            "more",
            "a and b",
            "old",
            "between",
            "18 and",
        ] {
            assert_eq!(range(&in_signs(word)), None, "{word}");
        }
    }

    #[test]
    fn ranges_are_put_in_order() {
        let of = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            let found = ranges(&words)?;
            let parts = [found.ranges, found.numbers, found.words];
            Some(parts.map(|part| part.join(" ")))
        };
        let ages = ["35-44", ">74", "<25", "8888", "25-34", "45-74"];
        let expected = ["<25 25-34 35-44 45-74 >74", "8888", ""].map(str::to_owned);
        assert_eq!(of(&ages), Some(expected));
        let words = ["65 and over", "25 to 34", "under 18", "35-64", "18-24"];
        let expected = "under 18 18-24 25 to 34 35-64 65 and over";
        assert_eq!(of(&words), Some([expected, "", ""].map(str::to_owned)));
        let shares = [
            "50%-60%", "Exempt", "<20%", "36", "20%-<30%", "30%-<36%", ">60%", "49",
        ];
        let expected = "<20% 20%-<30% 30%-<36% 36 49 50%-60% >60%";
        assert_eq!(
            of(&shares),
            Some([expected, "", "Exempt"].map(str::to_owned))
        );
        assert_eq!(of(&["1-5", "3-8", "9-12"]), None, "they overlap");
        assert_eq!(of(&["1", "2", "3-4"]), None);
        assert_eq!(of(&["1", "2", "3"]), None);
        let dependents = Some(["0 1 2 3+", "", ""].map(str::to_owned));
        assert_eq!(of(&["1", "3+", "2", "0"]), dependents);
        assert_eq!(of(&["1", "3+", "2", "5"]), None, "3+ is no end");
        assert_eq!(of(&["1", "3+", "2", "2-"]), None, "marks of schools");
        assert_eq!(of(&["1-2", "3-4", "many"]), None, "two are too few");
    }
}
