//! Detection of columns that hold nothing but truths, in several spellings: `T`, `yes` and `1` beside
//! `FALSE` and `no`.

use crate::spelling::written_truth;

/// Returns the spellings of each truth, that of the first word first, if `words` are nothing else, some
/// truth is spelt in several ways, and the other one is there as well.
pub(super) fn truths(words: &[String]) -> Option<[Vec<String>; 2]> {
    let first = written_truth(words.first()?)?;
    let mut spellings = [Vec::new(), Vec::new()];
    for word in words {
        let place = usize::from(written_truth(word)? != first);
        spellings[place].push(word.clone());
    }
    (words.len() > 2 && !spellings[1].is_empty()).then_some(spellings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_truths_are_told_apart_from_words() {
        let found = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
            truths(&words).map(|spellings| spellings.map(|words| words.join(" ")))
        };
        let all = [
            "no", "T", "TRUE", "F", "1.0", "Y", "0", "yes", "N", "False", "1",
        ];
        let expected = ["no F 0 N False", "T TRUE 1.0 Y yes 1"].map(str::to_owned);
        assert_eq!(found(&all), Some(expected));
        for other in [
            &["yes", "no"][..],
            &["Y", "yes", "1"],
            &["Y", "N", "maybe"],
            &["0", "1", "2"],
            &["01", "no", "1"],
            &[],
        ] {
            assert_eq!(found(other), None, "{other:?}");
        }
    }
}
