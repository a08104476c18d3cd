//! What is said of an import: what of the file became the network, and whether that answers as the original.

use super::super::document::{Block, Part, Table};
use super::super::model::{Agreement, ImportFindings, ImportedNetwork, Modality};
use super::super::text::{Text, count, counted, number};
use super::left_out;
use super::shares::alike_throughout;

/// The verdict and the parts.
pub(super) fn parts(import: &ImportFindings) -> (Vec<Text>, Vec<Part>) {
    let inputs = match import.modality {
        Modality::Table => "random inputs that it was tried on",
        Modality::Text => "texts of random words that it was tried on",
    };
    let alike = alike_throughout(
        import.decides_alike.as_ref(),
        inputs,
        "See whether it does so on inputs of yours before you believe that it is fair.",
    );
    let mut said = vec![format!(
        "{}: {} matched, {} unused; {}.",
        import.format,
        counted(import.matched.len() as u64, "tensor", "tensors"),
        count(import.unused.len() as u64),
        counted(import.parameters, "parameter", "parameters")
    )];
    said.extend(entered(import));
    said.extend(import.reference.as_ref().map_or_else(Vec::new, agreement));
    said.extend(network(import));
    let hash = (
        "SHA-256 of the model".into(),
        Text::value(&import.model_sha256),
    );
    let parts = vec![
        tensors(import),
        Part::new("The model").with(Block::Facts(vec![hash])),
        limits(import),
    ];
    let said = said.into_iter().map(Text::from);
    (alike.into_iter().chain(said).collect(), parts)
}

/// What the outputs of a network for tables are taken for, and what enters it for words: a network
/// whose classes or levels were counted otherwise answers otherwise.
fn entered(import: &ImportFindings) -> Vec<String> {
    let outputs = import.outputs.iter().enumerate();
    let outputs: Vec<String> = outputs
        .map(|(number, class)| format!("{number} is ‘{}’", Text::value(class)))
        .collect();
    let mut said = Vec::new();
    if !outputs.is_empty() {
        said.push(format!("Of its classes {}.", outputs.join(", ")));
    }
    if !import.inputs.is_empty() {
        said.push(format!(
            "What enters for words, bins and what is beside numbers: {}.",
            import.inputs.join("; ")
        ));
    }
    said
}

/// What an import does not show. That nobody compared the answers is said wherever it is read.
fn limits(import: &ImportFindings) -> Part {
    let quality =
        "How good the model is, and whether it treats groups alike, is not measured here.";
    let unseen = "That tensors match does not show that the network answers as the original: names, activations and the numbers of classes and words may be other than said here. Answers of the original would show it (--reference).";
    let part = Part::limits([quality]);
    match import.reference {
        Some(_) => part,
        None => part.with_essential(Block::Paragraph(unseen.into())),
    }
}

/// That the network answers as the original, and what it was not asked about.
fn agreement(agreement: &Agreement) -> Vec<String> {
    let inputs = counted(agreement.inputs, "input", "inputs");
    let mut said = vec![match agreement.largest_difference {
        None => format!("The original agrees on the class of each of {inputs}."),
        Some(most) => format!(
            "The original gives the same answers to {inputs}; probabilities or numbers differ by {} at most.",
            number(most)
        ),
    }];
    said.extend(
        agreement
            .data
            .as_ref()
            .map_or_else(Vec::new, left_out::rows),
    );
    for (number, [one, more]) in [
        (
            agreement.rows_without_outcome,
            [
                "row without an answer of the original was",
                "rows without an answer of the original were",
            ],
        ),
        (
            agreement.blank,
            ["text without a word was", "texts without a word were"],
        ),
    ] {
        if number > 0 {
            said.push(format!("{} left out.", counted(number, one, more)));
        }
    }
    said
}

/// What a network for texts is, and how it reads them.
fn network(import: &ImportFindings) -> Vec<String> {
    let classes: Vec<String> = import
        .classes
        .iter()
        .map(|class| Text::value(class).to_string())
        .collect();
    let mut said = Vec::new();
    match &import.network {
        Some(ImportedNetwork::Recurrent {
            cell,
            inputs,
            units,
            layers,
            bidirectional,
        }) => {
            let both = match bidirectional {
                true => " in both directions",
                false => "",
            };
            said.push(format!(
                "{}, {} of {}{both}; {} of {}; classes {}.",
                cell.to_uppercase(),
                counted(*layers, "layer", "layers"),
                counted(*units, "unit", "units"),
                counted(import.words.unwrap_or_default(), "word", "words"),
                counted(*inputs, "number", "numbers"),
                classes.join(", ")
            ));
        }
        Some(ImportedNetwork::Transformer {
            vocabulary,
            layers,
            heads,
            units,
        }) => {
            let of = match &classes[..] {
                [] => "an encoder without classes".to_owned(),
                classes => format!("classes {}", classes.join(", ")),
            };
            said.push(format!(
                "{}, {} of {} and {}; {}, of which texts have at most {}; {of}.",
                import.architecture.as_deref().unwrap_or("Transformer"),
                counted(*layers, "layer", "layers"),
                counted(*units, "unit", "units"),
                counted(*heads, "head", "heads"),
                counted(*vocabulary, "piece", "pieces"),
                count(import.max_length.unwrap_or_default())
            ));
        }
        None => {}
    }
    if let Some(positive) = classes.get(1).filter(|_| import.single_output) {
        said.push(format!(
            "The single output is the log-odds of class ‘{positive}’."
        ));
    }
    for (row, what) in [
        (import.unknown_row, "stands for unknown words"),
        (import.padding_row, "pads texts"),
    ] {
        said.extend(row.map(|row| format!("Row {row} of the table {what}.")));
    }
    if let Some(words) = import.unreachable_words.filter(|&words| words > 0) {
        let examples = &import.unreachable_examples;
        let more = match words > examples.len() as u64 {
            true => " …",
            false => "",
        };
        let examples: Vec<String> = examples
            .iter()
            .map(|word| Text::value(word).to_string())
            .collect();
        said.push(format!(
            "{} cannot occur in a text as it is split: {}{more}",
            counted(words, "word", "words"),
            examples.join(" ")
        ));
    }
    if import.masked.is_some() {
        said.push("It has the head of a masked language model, which measures fluency in audits with --fluency-model.".to_owned());
    }
    said
}

/// What became of each tensor. What did not match comes first, and is all that a terminal shows.
fn tensors(import: &ImportFindings) -> Part {
    let named = |name: &str| Text::value(name).to_string();
    let matched = import.matched.iter().map(|(name, shape)| {
        let sizes: Vec<String> = shape.iter().map(u64::to_string).collect();
        vec![named(name), sizes.join(" × ")]
    });
    let others = [("unused", &import.unused), ("missing", &import.missing)];
    let others = others.into_iter().flat_map(|(what, names)| {
        let row = move |name: &String| vec![named(name), what.to_owned()];
        names.iter().map(row)
    });
    let others = Table::new(
        "Tensors of the file that the network has no place for (unused), and of the network that the file lacks (missing).",
        &["Tensor", "What became of it"],
        others.collect(),
    );
    let matched = Table::new(
        "Tensors of the file that became the network.",
        &["Tensor", "Shape"],
        matched.collect(),
    );
    let part = Part::new("What of the file became the network");
    let part = match others.rows.is_empty() {
        true => part,
        false => part.with_essential(Block::Table(others)),
    };
    part.with(Block::Table(matched))
}
