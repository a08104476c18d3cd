//! What pages call the fields of specifications, and what they say of them: their names, and much of
//! what is said of them elsewhere, are for programs and for the command line.

/// What a page says of a field.
pub(super) struct Words {
    /// The dotted path of the field.
    path: &'static str,
    /// The label of the field.
    pub label: &'static str,
    /// A sentence or two on the field; may be empty.
    pub hint: &'static str,
    /// Whether the field is a share, or several, which people write in percent.
    pub is_share: bool,
    /// What the field's words stand for, in the order in which a page offers them; empty where the
    /// page says of each what its type does.
    pub choices: &'static [(&'static str, &'static str)],
}

const fn words(path: &'static str, label: &'static str, hint: &'static str) -> Words {
    Words {
        path,
        label,
        hint,
        is_share: false,
        choices: &[],
    }
}

impl Words {
    const fn share(self) -> Words {
        Words {
            is_share: true,
            ..self
        }
    }

    const fn offering(self, choices: &'static [(&'static str, &'static str)]) -> Words {
        Words { choices, ..self }
    }

    /// What is said of the field at `path`, where anything is.
    pub fn find(path: &str) -> Option<&'static Words> {
        ALL.iter().find(|words| words.path == path)
    }
}

/// Says what is wrong with the field at `path` in the words of the page: `message` calls it by its
/// path.
pub(super) fn in_words(path: &str, message: &str) -> String {
    match (Words::find(path), message.strip_prefix(path)) {
        (Some(words), Some(rest)) => format!("“{}”{rest}", words.label),
        _ => message.to_owned(),
    }
}

/// All fields that pages show.
const ALL: &[Words] = &[
    words(
        "fail_above",
        "Largest acceptable share (%)",
        "The audit fails unless at most so many decisions are shown to change, such as 5 %. Left empty, it only measures.",
    )
    .share(),
    words(
        "population.favourable",
        "Which outcome is good for the person?",
        "The report says who is kept from it.",
    ),
    words(
        "favourable",
        "Which outcome is good for the person?",
        "Not to get it is what people of a group are compared by.",
    ),
    words(
        "k",
        "People looked at on each side",
        "For the question who is treated worse than people like them: how many of those most like each person.",
    ),
    words(
        "level",
        "False finds at most (%)",
        "For the same question: the share of those found who may be found by chance.",
    )
    .share(),
    words(
        "gap",
        "Difference between scores",
        "For the question about counterparts: the scores of a model are compared in place of its decisions, and who differs by more than this is told apart. Left empty, decisions are compared.",
    ),
    words(
        "folds",
        "Parts of the rows",
        "For the question what the columns tell: each part is told by networks that learn from the others.",
    ),
    words(
        "strategy",
        "Way of searching",
        "Left as it is, the search follows what the model says of itself.",
    ),
    words(
        "search.seeds",
        "Starting points",
        "How many rows or texts the search starts from.",
    ),
    words(
        "search.local",
        "Trials around each find",
        "How often the search looks further around somebody whom it has found.",
    ),
    words(
        "budget.time",
        "Time at most",
        "How long to search, such as 60s or 5m.",
    ),
    words(
        "estimate",
        "Inputs for the estimate",
        "How many random inputs tell how common changed decisions are, 10,000 where it is left empty; of texts, how many of yours, all where it is left empty.",
    ),
    words("samples_format", "Form of the file of pairs", "").offering(&[
        ("csv", "CSV, for spreadsheets"),
        ("parquet", "Parquet, for programs"),
    ]),
    words(
        "seed",
        "Seed",
        "The same number gives the same result again.",
    ),
    words(
        "training.seed",
        "Seed",
        "The same number gives the same result again.",
    ),
    words("network.categories", "How categories are read", "").offering(&[
        ("onehot", "Each value by itself"),
        ("codes", "As numbers in the order of the values"),
        ("embed:8", "Each value as eight numbers that are learnt too"),
    ]),
    words(
        "network.hidden",
        "Units of the hidden layers",
        "One number for each layer, with commas between them, such as 64,32.",
    ),
    words("recurrent.embeddings", "Word vectors", "What the network knows of words before it begins.").offering(&[
        (
            "own",
            "Made from these texts first: for texts of any kind and language",
        ),
        (
            "shipped",
            "Those that come with Probity: 700 words of English comments",
        ),
    ]),
    words(
        "recurrent.train_embeddings",
        "Word vectors learn too",
        "They then change with the network while it learns.",
    ),
    words("recurrent.cell", "Kind of memory", "").offering(&[
        ("lstm", "Long short-term memory (LSTM)"),
        ("gru", "Gated recurrent unit (GRU)"),
    ]),
    words("recurrent.layers", "Layers", ""),
    words("recurrent.units", "Units of a layer", ""),
    words(
        "recurrent.bidirectional",
        "Read texts backwards as well",
        "",
    ),
    words(
        "training.epochs",
        "Passes over the data",
        "Left empty, as many as suit the size of the data.",
    ),
    words(
        "training.learning_rate",
        "Learning rate at the start",
        "Left empty, 0.01.",
    ),
    words(
        "training.weight_decay",
        "Weight decay",
        "With 0, a network may learn its rows by heart. Left empty, what suits the size of the data.",
    ),
    words(
        "training.class_weights",
        "Weights of the outcomes",
        "With the word none every row counts alike, with balanced every outcome. Or one number for each outcome, with commas between them.",
    ),
    words(
        "training.test",
        "Kept for testing (%)",
        "The model never learns from these rows.",
    )
    .share(),
    words(
        "training.validation",
        "Used for choosing (%)",
        "The network is kept as it was when it did best on these rows. Left empty, 10 %, but none of few rows.",
    )
    .share(),
    words(
        "max_accuracy_loss",
        "Accuracy that a repair may cost (points of %)",
        "When more is lost, nothing is saved. Left empty, 1 for tables and 2 for texts.",
    )
    .share(),
    words(
        "max_fairness_loss",
        "What other measures of fairness may lose (points of %)",
        "When one of them gets worse by more, nothing is saved.",
    )
    .share(),
    words(
        "shares",
        "Parts of the finds to learn from (%)",
        "One after the other, with commas between them. Left empty, 1 for tables and 5 for texts.",
    )
    .share(),
    words(
        "repeats",
        "Networks for each part",
        "Each begins by itself; several tell what is chance.",
    ),
    words("method", "What the model is trained anew on", "").offering(&[
        ("", "What suits the model"),
        ("samples", "The data and the pairs that the audit found"),
        (
            "certified",
            "The data, against the worst change of a protected value",
        ),
    ]),
    words(
        "save_anyway",
        "Save the model whatever is said against it",
        "The page of the repair says it all the same.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::specification::{JobKind, fields};
    use crate::pages::options::Options;
    use probity_run::specification::FieldKind;

    #[test]
    fn every_word_is_about_a_field_and_offers_what_the_field_takes() {
        for words in ALL {
            let of = JobKind::ALL.iter().find_map(|&kind| {
                let field = fields(kind)
                    .into_iter()
                    .find(|field| field.path == words.path);
                Some((kind, field?))
            });
            let (kind, field) = of.unwrap_or_else(|| panic!("no field {}", words.path));
            if let FieldKind::Choice(known) = &field.kind {
                for (word, _) in words.choices.iter().filter(|(word, _)| !word.is_empty()) {
                    let is_known = known.iter().any(|choice| choice.word == *word);
                    assert!(is_known, "{} is not {word}", words.path);
                }
            }
            assert!(!words.is_share || field.is_number(), "{}", words.path);
            let input = Options::new(kind, &[words.path]).input(words.path);
            let choices = input.choices.iter().map(|choice| choice.label.as_str());
            for said in [input.label.as_str(), &input.hint]
                .into_iter()
                .chain(choices)
            {
                assert!(!said.contains(['`', '_']) && !said.contains("--"), "{said}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_said_by_the_label() {
        let said = in_words("search.seeds", "search.seeds is 0, but must be at least 1.");
        assert_eq!(said, "“Starting points” is 0, but must be at least 1.");
        for (path, message) in [("data", "data is wrong"), ("seed", "The seed is wrong.")] {
            assert_eq!(in_words(path, message), message);
        }
    }
}
