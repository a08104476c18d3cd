//! Tests of which tensors become which parts, and of every way in which a file or its words can be
//! refused. Numbers are checked against PyTorch's own in tests/texts/import_recurrent.rs.

use super::error::list;
use super::*;
use crate::recurrent::network::CellKind;
use crate::weights::{Weight, WeightFormat};

/// Makes tensors of these shapes, the values of each counting up from 0.
fn file(tensors: &[(&str, &[usize])]) -> WeightFile {
    WeightFile {
        format: WeightFormat::Safetensors,
        checkpoint_key: None,
        integers: std::collections::BTreeSet::new(),
        beside: std::collections::BTreeSet::new(),
        tensors: tensors
            .iter()
            .map(|(name, shape)| {
                let count: usize = shape.iter().product();
                let weight = Weight {
                    shape: shape.to_vec(),
                    values: (0..count).map(|i| i as f32).collect(),
                };
                ((*name).to_owned(), weight)
            })
            .collect(),
    }
}

/// The tensors of a GRU of 2 units over 3 numbers, with a table of 4 rows and 2 classes.
const GRU: [(&str, &[usize]); 7] = [
    ("embedding.weight", &[4, 3]),
    ("gru.weight_ih_l0", &[6, 3]),
    ("gru.weight_hh_l0", &[6, 2]),
    ("gru.bias_ih_l0", &[6]),
    ("gru.bias_hh_l0", &[6]),
    ("fc.weight", &[2, 2]),
    ("fc.bias", &[2]),
];

/// Makes [`GRU`] with some tensors replaced or added, and some taken away.
fn changed(put: &[(&'static str, &'static [usize])], gone: &[&str]) -> WeightFile {
    let names: Vec<&str> = put
        .iter()
        .map(|(name, _)| *name)
        .chain(gone.iter().copied())
        .collect();
    let mut tensors: Vec<(&str, &[usize])> = GRU
        .into_iter()
        .filter(|(name, _)| !names.contains(name))
        .collect();
    tensors.extend(put);
    file(&tensors)
}

fn vocabulary(rows: &[&str]) -> Words {
    special(rows, None, None)
}

fn special(rows: &[&str], unknown_row: Option<usize>, padding_row: Option<usize>) -> Words {
    Words::Rows(RowWords {
        words: rows.iter().map(|row| (*row).to_owned()).collect(),
        unknown_row,
        padding_row,
        is_word_index: false,
    })
}

fn options() -> TextImportOptions {
    TextImportOptions {
        splitting: Splitting::usual().unwrap(),
        classes: Vec::new(),
        max_length: 10,
        ignored: Vec::new(),
        texts: Vec::new(),
    }
}

const WORDS: [&str; 4] = ["a", "b", "c", "d"];

#[track_caller]
fn refused(weights: &WeightFile, words: &Words, options: &TextImportOptions, needles: &[&str]) {
    let message = import_text(weights, words, options)
        .unwrap_err()
        .to_string();
    for needle in needles {
        assert!(message.contains(needle), "no '{needle}' in: {message}");
    }
}

#[track_caller]
fn misfit(weights: &WeightFile, needles: &[&str]) {
    refused(weights, &vocabulary(&WORDS), &options(), needles);
}

#[test]
fn special_rows_move_to_the_end_or_away() {
    let words = special(&["b", "", "[UNK]", "a"], Some(2), Some(1));
    let (model, report) = import_text(&file(&GRU), &words, &options()).unwrap();
    assert_eq!(
        model.reader.table.vectors(),
        [0.0, 1.0, 2.0, 9.0, 10.0, 11.0, 6.0, 7.0, 8.0]
    );
    let encoded = model.reader.encode("A zebra b").unwrap();
    assert_eq!(encoded.ids, [1, 2, 0]);
    assert_eq!(model.classes, ["0", "1"]);
    assert_eq!(
        (report.words, report.unreachable_words, report.single_output),
        (2, 0, false)
    );
    assert_eq!(report.matched.len(), GRU.len());
    let (model, _) = import_text(&file(&GRU), &vocabulary(&WORDS), &options()).unwrap();
    assert_eq!(model.reader.table.vectors()[12..], [4.5, 5.5, 6.5]);
    assert_eq!(model.reader.sentences.frequencies().total(), 0);
    let mut options = options();
    options.texts = vec!["A zebra b".to_owned(), "a".to_owned()];
    let (model, _) = import_text(&file(&GRU), &vocabulary(&WORDS), &options).unwrap();
    assert_eq!(model.reader.sentences.frequencies().probability("a"), 0.5);
}

#[test]
fn an_embedding_table_is_told_by_its_name_or_by_elimination() {
    let named = changed(&[("encoder.weight", &[4, 3])], &["embedding.weight"]);
    import_text(&named, &vocabulary(&WORDS), &options()).unwrap();
    let without_bias = changed(&[], &["fc.bias"]);
    let (model, _) = import_text(&without_bias, &vocabulary(&WORDS), &options()).unwrap();
    assert_eq!(model.recurrent.head().1, [0.0, 0.0]);
}

#[test]
fn missing_biases_are_zeros_and_single_outputs_are_classes() {
    let weights = changed(
        &[("fc.weight", &[1, 2]), ("fc.bias", &[1])],
        &["gru.bias_ih_l0", "gru.bias_hh_l0"],
    );
    let mut options = options();
    options.classes = vec!["fine".to_owned(), "toxic".to_owned()];
    let (model, report) = import_text(&weights, &vocabulary(&WORDS), &options).unwrap();
    assert!(report.single_output);
    assert_eq!(model.classes, ["fine", "toxic"]);
    assert_eq!(model.recurrent.shape.cell, CellKind::Gru);
    assert_eq!(model.recurrent.direction(0, 0).bias_ih, [0.0; 6]);
    assert_eq!(
        model.recurrent.head(),
        (&[0.0, 0.0, 0.0, 1.0][..], &[0.0, 0.0][..])
    );
}

#[test]
fn words_that_no_text_has_are_counted() {
    let words = vocabulary(&["a", "New", "guinea-bissau", "don't"]);
    let (_, report) = import_text(&file(&GRU), &words, &options()).unwrap();
    assert_eq!(report.unreachable_words, 3);
    assert_eq!(
        report.unreachable_examples,
        ["New", "guinea-bissau", "don't"]
    );
    let words = vocabulary(&["a 1", "b 2", "c 3", "d 4"]);
    refused(
        &file(&GRU),
        &words,
        &options(),
        &["no word", "'a 1'", "text.tokenizer"],
    );
}

#[test]
fn other_networks_are_refused() {
    let dense = file(&[("fc.weight", &[2, 3]), ("fc.bias", &[2])]);
    misfit(&dense, &["nn.LSTM", "fc.weight [2, 3]"]);
    misfit(
        &changed(&[("old.weight_ih_l0", &[6, 3])], &[]),
        &[
            "one nn.LSTM or nn.GRU",
            "gru.weight_ih_l0",
            "old.weight_ih_l0",
        ],
    );
    misfit(
        &changed(&[("gru.weight_hr_l0", &[1, 2])], &[]),
        &["proj_size", "gru.weight_hr_l0"],
    );
    for shape in [&[2, 2][..], &[8, 3], &[12], &[0, 0]] {
        let tensor: Vec<usize> = shape.to_vec();
        let mut weights = file(&GRU);
        let weight = weights.tensors.get_mut("gru.weight_hh_l0").unwrap();
        *weight = Weight {
            values: vec![0.0; tensor.iter().product()],
            shape: tensor,
        };
        misfit(
            &weights,
            &["gru.weight_hh_l0", &format!("{shape:?}"), "nn.RNN"],
        );
    }
    let norm: [(&str, &[usize]); 2] = [("norm.weight", &[2]), ("norm.bias", &[2])];
    misfit(
        &changed(&norm, &[]),
        &["more parts", "norm.weight [2]", "norm.bias [2]"],
    );
    misfit(
        &changed(&[("conv.weight", &[3, 3, 5])], &[]),
        &["more parts", "conv.weight [3, 3, 5]"],
    );
}

#[test]
fn missing_and_misshapen_tensors_are_named() {
    misfit(
        &changed(&[], &["gru.weight_hh_l0"]),
        &["lacks gru.weight_hh_l0;", "gru.bias_hh_l0 [6]"],
    );
    misfit(
        &changed(&[], &["gru.bias_hh_l0"]),
        &["lacks gru.bias_hh_l0;"],
    );
    misfit(
        &changed(&[("gru.weight_ih_l2", &[6, 2])], &[]),
        &["lacks gru.weight_ih_l1;"],
    );
    misfit(
        &changed(&[("gru.weight_ih_l0_reverse", &[6, 3])], &[]),
        &["lacks gru.weight_hh_l0_reverse, gru.bias_ih_l0_reverse"],
    );
    misfit(
        &changed(&[("gru.weight_ih_l0", &[8, 3])], &[]),
        &["gru.weight_ih_l0", "[8, 3]", "[6, 3]", "3 gates of 2 units"],
    );
    misfit(
        &changed(&[("gru.bias_ih_l0", &[6, 1])], &[]),
        &["gru.bias_ih_l0", "[6, 1]", "[6]"],
    );
    misfit(
        &changed(&[("gru.weight_ih_l0", &[6, 0])], &["embedding.weight"]),
        &["the network has 0 numbers"],
    );
    misfit(
        &changed(&[("embedding.weight", &[4, 5])], &[]),
        &["embedding.weight", "[4, 5]", "[4, 3]", "3 numbers a token"],
    );
    misfit(
        &changed(&[("fc.weight", &[2, 4])], &[]),
        &["fc.weight", "[2, 4]", "[2, 2]", "last hidden states"],
    );
    misfit(
        &changed(&[("fc.bias", &[3])], &[]),
        &["fc.bias", "[3]", "[2]"],
    );
    misfit(
        &changed(&[("fc.weight", &[0, 2]), ("fc.bias", &[0])], &[]),
        &["no output", "fc.weight"],
    );
}

#[test]
fn parts_that_cannot_be_told_apart_are_listed() {
    let second: [(&str, &[usize]); 2] = [("out.weight", &[2, 2]), ("out.bias", &[2])];
    misfit(
        &changed(&second, &[]),
        &["one linear layer", "fc.weight [2, 2], out.weight [2, 2]"],
    );
    misfit(
        &changed(&[], &["fc.weight", "fc.bias"]),
        &["one linear layer", "found nothing"],
    );
    misfit(
        &changed(&[("word_emb.weight", &[4, 3])], &[]),
        &[
            "one embedding table",
            "embedding.weight [4, 3], word_emb.weight [4, 3]",
        ],
    );
}

#[test]
fn tensors_beside_the_network_can_be_left_out() {
    let weights = changed(&[("loss.pos_weight", &[1])], &[]);
    misfit(&weights, &["loss.pos_weight [1]", "text.ignore"]);
    let mut options = options();
    options.ignored = vec!["loss.pos_weight".to_owned()];
    let (_, report) = import_text(&weights, &vocabulary(&WORDS), &options).unwrap();
    assert_eq!(report.unused, ["loss.pos_weight"]);
    assert_eq!(report.matched.len(), GRU.len());
    options.ignored = vec!["pos_weight".to_owned()];
    refused(
        &weights,
        &vocabulary(&WORDS),
        &options,
        &["no tensor 'pos_weight'", "loss.pos_weight [1]"],
    );
    let mut weights = changed(&[], &[]);
    weights.beside = ["mean".to_owned()].into();
    misfit(&weights, &["one linear layer: mean;", "text.ignore"]);
    options.ignored = vec!["mean".to_owned()];
    let (_, report) = import_text(&weights, &vocabulary(&WORDS), &options).unwrap();
    assert_eq!(report.unused, ["mean"]);
}

#[test]
fn words_must_fit_the_table() {
    let weights = file(&GRU);
    let bad = |words: &Words, needles: &[&str]| refused(&weights, words, &options(), needles);
    bad(&vocabulary(&WORDS[1..]), &["3 words", "4 rows"]);
    bad(
        &vocabulary(&["a", "b", " ", "d"]),
        &["line 3", "blank", "row 2"],
    );
    bad(
        &vocabulary(&["a", "b", "c", "b"]),
        &["rows 1 and 3 (lines 2 and 4", "'b'"],
    );
    bad(
        &special(&WORDS, Some(4), None),
        &["no unknown row 4", "0 to 3"],
    );
    bad(
        &special(&WORDS, None, Some(9)),
        &["no padding row 9", "0 to 3"],
    );
    let one = changed(&[("embedding.weight", &[1, 3])], &[]);
    refused(
        &one,
        &special(&["a"], Some(0), None),
        &options(),
        &["no words"],
    );
    let table = EmbeddingTable::new(["a", "b"], 3, vec![0.0; 6]).unwrap();
    bad(
        &Words::Embeddings(table),
        &["embedding.weight", "4 rows", "text.vocabulary"],
    );
}

#[test]
fn embeddings_must_fit_the_network() {
    let weights = changed(&[], &["embedding.weight"]);
    let table = EmbeddingTable::new(["a", "b"], 3, vec![1.0, 2.0, 3.0, 5.0, 6.0, 7.0]).unwrap();
    let (model, _) = import_text(&weights, &Words::Embeddings(table), &options()).unwrap();
    assert_eq!(
        model.reader.table.vectors(),
        [1.0, 2.0, 3.0, 5.0, 6.0, 7.0, 3.0, 4.0, 5.0]
    );
    let table = EmbeddingTable::new(["a", "b"], 2, vec![0.0; 4]).unwrap();
    refused(
        &weights,
        &Words::Embeddings(table),
        &options(),
        &["2 numbers", "reads 3"],
    );
    refused(
        &weights,
        &vocabulary(&WORDS),
        &options(),
        &["no embedding table", "text.embeddings"],
    );
}

#[test]
fn class_names_must_fit_the_classes() {
    for (names, needles) in [
        (&["x"][..], &["for 1 classes (x)", "2 classes"][..]),
        (&["x", "y", "z"], &["for 3 classes (x, y, z)"]),
        (&["x", " "], &["is empty"]),
        (&["x", "x"], &["'x' is given twice"]),
    ] {
        let mut options = options();
        options.classes = names.iter().map(|name| (*name).to_owned()).collect();
        refused(&file(&GRU), &vocabulary(&WORDS), &options, needles);
    }
}

#[test]
fn long_lists_are_cut() {
    let names: Vec<String> = (0..100).map(|i| i.to_string()).collect();
    assert!(list(&names).ends_with("18, 19, … (100 in all)"));
    assert_eq!(list(&[]), "nothing");
}

#[test]
fn vocabularies_are_lines_of_text() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words.txt");
    std::fs::write(&path, "\u{feff}the\r\nof\n\nand").unwrap();
    assert_eq!(
        Vocabulary::read(&path).unwrap().value.words.words,
        ["the", "of", "", "and"]
    );
    std::fs::write(&path, b"the\nof\n\xff\n").unwrap();
    let message = Vocabulary::read(&path).unwrap_err().to_string();
    assert!(
        message.contains("words.txt, line 3: not valid UTF-8"),
        "{message}"
    );
    let message = Vocabulary::read(&folder.path().join("none"))
        .unwrap_err()
        .to_string();
    assert!(message.contains("cannot read"), "{message}");
}
