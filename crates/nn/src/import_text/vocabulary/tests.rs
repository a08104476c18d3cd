//! Every form of a vocabulary, and what is wrong with those that are none.

use super::*;
use probity_text::tokenizer::Tokenizer;

fn read(content: &str) -> Result<Vocabulary, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("words");
    std::fs::write(&file, content).unwrap();
    let read = Vocabulary::read(&file).map_err(|error| error.to_string())?;
    Ok(read.value)
}

fn rows(content: &str) -> RowWords {
    let read = read(content).unwrap();
    assert!(read.splitting.is_none());
    read.words.with_rows(None, None).unwrap()
}

/// Makes the words of a network, and the rows of unknown ones and of padding.
fn words(words: &[&str], unknown_row: Option<usize>, padding_row: Option<usize>) -> RowWords {
    RowWords {
        words: words.iter().map(|&word| word.to_owned()).collect(),
        unknown_row,
        padding_row,
        is_word_index: false,
    }
}

#[test]
fn every_form_gives_the_words_of_the_rows() {
    let torchtext = words(&["<unk>", "<pad>", "the", "a"], Some(0), Some(1));
    for content in [
        "<unk>\n<pad>\nthe\na\n",
        "\u{feff}<unk>\r\n<pad>\r\nthe\r\na",
        r#"["<unk>", "<pad>", "the", "a"]"#,
        r#" {"a": 3, "the": 2, "<unk>": 0, "<pad>": 1}"#,
        r#"{"itos": ["<unk>", "<pad>", "the", "a"], "unk_index": 0}"#,
        r#"{"freqs": {}, "stoi": {"a": 3, "the": 2, "<unk>": 0, "<pad>": 1}}"#,
    ] {
        assert_eq!(rows(content), torchtext, "{content}");
    }
    // Words that are called like the parts of other forms, and lines that begin like JSON.
    let called = r#"{"config": 0, "itos": 1, "stoi": 2, "class_name": 3}"#;
    let expected = words(&["config", "itos", "stoi", "class_name"], None, None);
    assert_eq!(rows(called), expected);
    assert_eq!(
        rows("[PAD]\n[UNK]\n{\n["),
        words(&["[PAD]", "[UNK]", "{", "["], Some(1), Some(0))
    );
    let named = read("<unk>\n<pad>\nthe").unwrap().words;
    let named = named.with_rows(Some(2), Some(0)).unwrap();
    assert_eq!((named.unknown_row, named.padding_row), (Some(2), Some(0)));
}

#[test]
fn a_word_index_of_keras_counts_from_one() {
    let index = rows(r#"{"the": 2, "<OOV>": 1, "a": 3}"#);
    assert_eq!(index.words, ["", "<OOV>", "the", "a"]);
    assert_eq!((index.unknown_row, index.padding_row), (Some(1), Some(0)));
    assert!(index.is_word_index);

    let config = |parts: &str| {
        format!(
            r#"{{"class_name": "Tokenizer", "config": {{"filters": "!", "lower": false, "split": " ",
                "document_count": 3, "word_counts": "{{}}", "index_word": "{{}}", {parts}}}}}"#
        )
    };
    let index = r#""word_index": "{\"other\": 1, \"the\": 2, \"a\": 3}""#;
    let all = format!(r#""num_words": null, "char_level": false, "oov_token": "other", {index}"#);
    let read_all = read(&config(&all)).unwrap();
    assert_eq!(read_all.words.words, ["", "other", "the", "a"]);
    assert_eq!(read_all.words.unknown_row, Some(1));
    let splitting = read_all.splitting.unwrap();
    let tokenizer = Tokenizer::splitting(&splitting, ["The?", "the"].into_iter()).unwrap();
    let tokens = tokenizer.tokens("!The? the!").unwrap();
    let ids: Vec<u32> = tokens.iter().map(|token| token.id).collect();
    assert_eq!(ids, [0, 1]);

    let few = read(&config(&all.replace("null", "3"))).unwrap();
    assert_eq!(few.words.words, ["", "other", "the"]);
    for (from, to, expected) in [
        ("false", "true", "characters"),
        (
            r#"{\"other\": 1, \"the\": 2, \"a\": 3}"#,
            r#"{\"a\": 0}"#,
            "do not begin at 1",
        ),
        (
            r#""num_words": null, "#,
            r#""num_words": "x", "#,
            "no Keras tokenizer",
        ),
    ] {
        let error = read(&config(&all.replace(from, to))).unwrap_err();
        assert!(error.contains(expected), "{from}: {error}");
    }
    let error = read(&config(&all).replace(r#""split": " ""#, r#""split": "ab""#)).unwrap_err();
    assert!(error.contains("splits at 'ab'"), "{error}");
}

#[test]
fn what_is_no_vocabulary_is_refused_by_what_is_wrong() {
    for (content, expected) in [
        (
            r#"{"a": 0, "b": 2}"#,
            "no word has the number 1, but 'b' has 2",
        ),
        (r#"{"a": 0, "b": 0}"#, "'a' and 'b' both have the number 0"),
        (r#"{"a": 1, "b": 3}"#, "no word has the number 2"),
        (r#"{"a": 2, "b": 3}"#, "begin at 2"),
        (r#"{"a": -1}"#, "'a' has -1"),
        (r#"{"a": 0.5}"#, "'a' has 0.5"),
        (r#"{"a": "0"}"#, "'a' has \"0\""),
        (r#"["a", 1]"#, "number 1 of its list, from 0, is 1"),
        (r#"["a", "b""#, "begins like JSON, but"),
        (r#"{"a": 0, "#, "begins like JSON, but"),
    ] {
        let error = read(content).unwrap_err();
        assert!(error.contains(expected), "{content}: {error}");
        assert!(
            error.contains("words: ") && error.contains("to_json"),
            "{error}"
        );
    }
    let two = read("<unk>\na\n[UNK]").unwrap().words;
    let error = two.with_rows(None, None).unwrap_err().to_string();
    assert!(error.contains("'<unk>' and '[UNK]'") && error.contains("text.unknown_row"));
}
