//! Phrases with alternatives: `{black,white} {hole,box}` stands for four.

/// The largest number of phrases that one phrase with alternatives may stand for.
const MOST: usize = 10_000;

/// Returns the problem with the braces of `phrase`, if there is one.
pub(super) fn problem(phrase: &str) -> Option<String> {
    let mut inside: Option<usize> = None;
    let mut phrases: usize = 1;
    for letter in phrase.chars() {
        match (letter, inside) {
            ('{', None) => inside = Some(1),
            ('{', Some(_)) => return Some("one brace opens inside another".to_owned()),
            (',', Some(alternatives)) => inside = Some(alternatives + 1),
            ('}', Some(1)) => return Some("braces hold one alternative; expected two".to_owned()),
            ('}', Some(alternatives)) => {
                phrases = phrases.saturating_mul(alternatives);
                inside = None;
            }
            ('}', None) => return Some("a brace closes that did not open".to_owned()),
            _ => {}
        }
    }
    if inside.is_some() {
        return Some("a brace is not closed".to_owned());
    }
    let groups = phrase.split('{').skip(1);
    let mut groups = groups.filter_map(|rest| rest.split('}').next());
    if groups.any(|group| group.split(',').any(|choice| choice.trim().is_empty())) {
        return Some("an alternative is empty".to_owned());
    }
    (phrases > MOST).then(|| format!("it stands for {phrases} phrases; at most {MOST} are allowed"))
}

/// Expands a phrase with alternatives in braces into the phrases that it stands for, in the order
/// of the alternatives: `{black,white} box` is `black box` and `white box`. A phrase without braces
/// is itself, and so is one whose braces a lexicon would refuse.
pub fn expanded(phrase: &str) -> Vec<String> {
    if problem(phrase).is_some() {
        return vec![phrase.to_owned()];
    }
    let mut phrases = vec![String::new()];
    let mut rest = phrase;
    while let Some((before, (group, after))) = rest
        .split_once('{')
        .and_then(|(before, behind)| Some((before, behind.split_once('}')?)))
    {
        phrases = phrases
            .iter()
            .flat_map(|start| {
                group
                    .split(',')
                    .map(move |choice| format!("{start}{before}{}", choice.trim()))
            })
            .collect();
        rest = after;
    }
    for phrase in &mut phrases {
        phrase.push_str(rest);
    }
    phrases
}
