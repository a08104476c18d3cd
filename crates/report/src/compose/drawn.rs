//! What is said of counterparts who were drawn from a density.

use super::super::model::{CounterpartsFindings, DrawnCounterparts, DrawnForGroup, PersonValue};
use super::super::text::{Text, count, counted, decimal, listed, number, percent};
use super::conditions::{elsewhere, in_words};

/// What is said of counterparts that were drawn.
pub(super) const DRAWN_LIMIT: &str = "A counterpart that is drawn is one of many that could be, and no real person. That it is what the person would have been rests on what was declared unaffected, and on nothing else: no data can show it. The density is learnt from the others and smooths, most where columns hang together closely, which moves shares by some points; no interval says by how many, and the real people beside them show it on average alone. Another seed draws others; a few runs show how much hangs on that, and nothing of what is smoothed.";

/// What people get whose counterparts were drawn.
pub(super) enum Outcomes {
    /// Whether they get this class.
    Class(String),
    /// A score of this class.
    Score(String),
    /// A number of this label.
    Number(String),
}

impl Outcomes {
    /// Returns what was asked about the people of a test by counterparts.
    pub(super) fn asked(found: &CounterpartsFindings) -> Outcomes {
        let favourable = || Text::value(&found.favourable).to_string();
        match (&found.number, found.gap) {
            (Some(label), _) => Outcomes::Number(Text::value(label).to_string()),
            (None, Some(_)) => Outcomes::Score(favourable()),
            (None, None) => Outcomes::Class(favourable()),
        }
    }

    /// Returns what people get whose mean is `mean`: `31.00 % do not get ‘yes’`.
    fn said(&self, mean: f64) -> String {
        match self {
            Outcomes::Class(class) => format!("{} do not get ‘{class}’", percent(mean)),
            Outcomes::Score(class) => format!("the mean score of ‘{class}’ is {}", number(mean)),
            Outcomes::Number(label) => format!("the mean ‘{label}’ is {}", number(mean)),
        }
    }

    /// Returns what lies between two means.
    fn between(&self, one: f64, other: f64) -> String {
        let between = (one - other).abs();
        match self {
            Outcomes::Class(_) => format!("{} points", decimal(100.0 * between, 1)),
            _ => number(between),
        }
    }
}

/// The counterparts who were drawn for the members of a group.
pub(super) struct ForGroup<'a> {
    /// The conditions of the group.
    pub protected: &'a [PersonValue],
    /// The conditions of the people with whom it is compared; none where that is everybody else.
    pub reference: &'a [PersonValue],
    /// The number of members.
    pub members: u64,
    /// The number of people with whom it is compared.
    pub others: u64,
    /// How counterparts were drawn, and what was found of them; none where nobody was drawn.
    pub drawn: Option<(&'a DrawnCounterparts, &'a DrawnForGroup)>,
    /// Whether the mean is of the people around those who were drawn.
    pub is_around: bool,
}

/// Returns how real people are decided beside those who were drawn `of` a group, and how many members have
/// nobody like them on the other side; nothing where nobody was drawn.
pub(super) fn sentences(of: &ForGroup<'_>, outcomes: &Outcomes) -> Vec<Text> {
    let Some((how, drawn)) = of.drawn else {
        return Vec::new();
    };
    let (who, elsewhere) = (in_words(of.protected), elsewhere(of.reference));
    if drawn.drawn == Some(0) {
        return vec![Text::from(format!(
            "Everything but the group is unaffected: who stands for each of the people with {who} is this person {elsewhere}, and nothing was drawn."
        ))];
    }
    let nearest = &drawn.nearest;
    let kept = match how.unaffected.is_empty() {
        true => "any other protected attribute",
        false => "what is unaffected",
    };
    // Where nothing is kept, all others are as near.
    let are_some = of.others > nearest.people && drawn.kept != Some(0);
    let real = match are_some {
        true => format!(
            "the {} people {elsewhere} who are nearest to each person in {kept}, and those as near as the last of them,",
            count(nearest.people)
        ),
        false => format!("all {} {elsewhere}", counted(of.others, "person", "people")),
    };
    let apart = match drawn.kept {
        Some(0) => String::new(),
        _ => format!(
            ", as far as these people are near: on average they are {} apart in {kept}",
            number(nearest.distance)
        ),
    };
    let (drawn_are, chance) = match of.is_around {
        true => (
            "the people around the drawn",
            ", the chance of the draws and how far others stand from the drawn",
        ),
        false => ("the drawn", " and the chance of the draws"),
    };
    let mut said = vec![format!(
        "Real people beside those who were drawn for the people with {who}: of {drawn_are} {}; of {real} {}. What lies between, {}, is what the density smooths{chance}{apart}.",
        outcomes.said(drawn.mean),
        outcomes.said(nearest.mean),
        outcomes.between(drawn.mean, nearest.mean),
    )];
    if drawn.unmet > 0 {
        said.push(format!(
            "Careful: of {} of the {} people with {who}, nobody {elsewhere} has the same unaffected values; whoever is drawn for them rests on what the density smooths alone.",
            count(drawn.unmet),
            count(of.members),
        ));
    }
    said.into_iter().map(Text::from).collect()
}

/// Returns what counterparts that are drawn have from the person.
pub(super) fn given(drawn: &DrawnCounterparts) -> String {
    let names = drawn.unaffected.iter();
    let names: Vec<String> = names.map(|name| Text::value(name).to_string()).collect();
    match &names[..] {
        [] => "with nothing of the person but any other protected attribute".to_owned(),
        names => format!(
            "with the {} of the person, and any other protected attribute",
            listed(names, "and")
        ),
    }
}
