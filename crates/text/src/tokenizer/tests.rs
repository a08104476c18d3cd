//! Tests of how texts are split and numbered.

use super::*;

fn tokenizer() -> Tokenizer {
    Tokenizer::new(["the", "do", "n't", "cat", "é"].into_iter()).unwrap()
}

fn split(text: &str) -> Vec<String> {
    tokenizer()
        .tokens(text)
        .unwrap()
        .into_iter()
        .map(|token| token.text)
        .collect()
}

#[test]
fn words_are_split_as_published_vectors_need_them() {
    for (text, expected) in [
        ("The CAT", "the cat"),
        ("don't, can\u{2019}t WON'T", "do n't , ca n't wo n't"),
        (
            "she'll I'm they've we're he'd it's",
            "she 'll i 'm they 've we 're he 'd it 's",
        ),
        ("o'clock baha'i O'Brien's", "o'clock baha'i o'brien 's"),
        ("'quoted' rock 'n' roll", "' quoted ' rock ' n ' roll"),
        ("guinea-bissau well-known", "guinea - bissau well - known"),
        ("1,000.5 3rd 2nd. v2", "1,000.5 3rd 2nd . v2"),
        ("==Heading==\n\ta.b", "= = heading = = a . b"),
        (
            "caf\u{e9} cafe\u{301} na\u{ef}ve",
            "caf\u{e9} caf\u{e9} na\u{ef}ve",
        ),
        ("!!! :-)", "! ! ! : - )"),
        ("it 's n't", "it 's n't"),
    ] {
        assert_eq!(split(text).join(" "), expected, "{text}");
    }
    assert!(split(" \n\t ").is_empty() && split("").is_empty());
}

#[test]
fn bytes_point_into_the_original_text() {
    let text = "\u{feff}The É, DON\u{2019}T \u{1f642}cats!";
    let tokens = tokenizer().tokens(text).unwrap();
    let parts: Vec<&str> = tokens
        .iter()
        .map(|token| &text[token.bytes.clone()])
        .collect();
    assert_eq!(
        parts,
        [
            "The",
            "É",
            ",",
            "DO",
            "N\u{2019}T",
            "\u{1f642}",
            "cats",
            "!"
        ]
    );
    let ids: Vec<u32> = tokens.iter().map(|token| token.id).collect();
    assert_eq!(ids, [0, 4, 5, 1, 2, 5, 5, 5]);
}

#[test]
fn random_texts_keep_their_characters_in_order() {
    use rand::RngExt;
    let alphabet: Vec<char> = "aB'é\u{301}\u{2019} -.1,\u{0}\n🙂İß中".chars().collect();
    let tokenizer = tokenizer();
    for item in 0..3000 {
        let mut draws =
            probity_run::stream::stream(1, probity_run::stream::Purpose::Synthetic, item, 0);
        let text: String = (0..draws.random_range(0..12))
            .map(|_| alphabet[draws.random_range(0..alphabet.len())])
            .collect();
        let tokens = tokenizer.tokens(&text).unwrap();
        let mut end = 0;
        for token in &tokens {
            assert!(
                token.bytes.start >= end && token.bytes.end > token.bytes.start,
                "{text:?}"
            );
            let skipped = &text[end..token.bytes.start];
            assert!(
                skipped.chars().all(|c| c.is_whitespace() || c == '\0'),
                "{text:?}"
            );
            assert!(!token.text.chars().any(char::is_whitespace));
            end = token.bytes.end;
        }
        assert!(
            text[end..].chars().all(|c| c.is_whitespace() || c == '\0'),
            "{text:?}"
        );
        // A token by itself is that token again.
        for token in &tokens {
            let again = tokenizer.tokens(&token.text).unwrap();
            assert!(
                again.len() == 1 && again[0].text == token.text || token.text.contains('\''),
                "{text:?} {token:?} {again:?}"
            );
        }
    }
}

#[test]
fn what_stands_between_blanks_is_split_as_in_the_whole() {
    use rand::RngExt;
    let alphabet =
        "aB'é\u{301}\u{2019}    -.1,\u{0}\n\t🙂İß中ΣsσnT\u{a0}\u{200b}\u{3000}\u{1c}ᄀ\u{1161}";
    let alphabet: Vec<char> = alphabet.chars().collect();
    let tokenizer = tokenizer();
    for item in 0..20_000 {
        let mut draws =
            probity_run::stream::stream(2, probity_run::stream::Purpose::Synthetic, item, 0);
        let text: String = (0..draws.random_range(0..16))
            .map(|_| alphabet[draws.random_range(0..alphabet.len())])
            .collect();
        let whole = tokenizer.found(&text).unwrap();
        let ids: Vec<u32> = whole.iter().map(|token| token.id).collect();
        // The second time they are remembered.
        for _ in 0..2 {
            let has = |ids: &[u32]| tokenizer.has_ids(&text, ids.iter().copied()).unwrap();
            assert!(has(&ids) && !has(&[&ids[..], &[0]].concat()), "{text:?}");
            let (last, before) = ids.split_last().unwrap_or((&0, &[]));
            assert!(ids.is_empty() || !has(before) && !has(&[before, &[last + 1]].concat()));
            assert_eq!(tokenizer.tokens(&text).unwrap(), whole, "{text:?}");
        }
        assert_eq!(tokenizer.ids(&text).unwrap(), ids);
    }
    // Patterns of others may match across blanks.
    let across = Splitting::named("regex:a b|.").unwrap().unwrap();
    let across = Tokenizer::splitting(&across, ["a b"].into_iter()).unwrap();
    assert_eq!(across.ids("a b").unwrap(), [0]);
}

#[test]
fn what_is_saved_is_read_back() {
    let json = tokenizer().to_json().unwrap();
    let back = Tokenizer::from_json(json.as_bytes(), Path::new("tokenizer.json")).unwrap();
    let text = "Don't pet the CAT-é [UNK]!";
    assert_eq!(
        back.tokens(text).unwrap(),
        tokenizer().tokens(text).unwrap()
    );
    assert_eq!((back.unknown(), back.id("cat"), back.id("dog")), (5, 3, 5));
    assert_eq!((back.word(3).as_deref(), back.word(6)), (Some("cat"), None));
    assert_eq!(back.to_json().unwrap(), json);
}

#[test]
fn a_vocabulary_may_hold_the_name_of_the_unknown_word() {
    let own = Tokenizer::new(["[UNK]", "cat"].into_iter()).unwrap();
    let json = own.to_json().unwrap();
    let back = Tokenizer::from_json(json.as_bytes(), Path::new("t.json")).unwrap();
    for tokenizer in [own, back] {
        assert_eq!((tokenizer.unknown(), tokenizer.id("[UNK]")), (2, 0));
        assert_eq!(tokenizer.id("dog"), 2);
    }
}

#[test]
fn foreign_files_are_refused() {
    let file = Path::new("x/tokenizer.json");
    let message = |json: &str| {
        Tokenizer::from_json(json.as_bytes(), file)
            .unwrap_err()
            .to_string()
    };
    assert!(message("{").contains("x/tokenizer.json is not a readable tokenizer"));
    let json = tokenizer().to_json().unwrap();
    assert!(message(&json.replace("\"cat\":3", "\"cat\":7")).contains("gaps"));
    assert!(message(&json.replace("\"[UNK]\":5", "\"[UNK]\":9")).contains("not the last"));
    let cut = json.find("\"pre_tokenizer\":").unwrap();
    let end = json.find("\"post_processor\"").unwrap();
    let none = format!("{}\"pre_tokenizer\":null,{}", &json[..cut], &json[end..]);
    assert!(message(&none).contains("not split"));
    assert!(matches!(
        Tokenizer::new([].into_iter()),
        Err(TokenizerError::Size { words: 0 })
    ));
}

#[test]
fn replaced_words_keep_the_case_of_the_old_ones() {
    let text = "French people and GERMANS, I say.";
    let changed = splice(
        text,
        &[(0..6, "new zealand"), (18..25, "turks"), (27..28, "we")],
    );
    assert_eq!(changed, "New zealand people and TURKS, We say.");
    assert_eq!(splice("a b", &[(0..1, ""), (2..3, "c")]), " c");
}

/// Returns the tokens of `text` when split by `name`, and the bytes of the text that they are made
/// of.
fn split_by(name: &str, text: &str) -> (Vec<String>, Vec<String>) {
    let splitting = Splitting::named(name).unwrap().unwrap();
    let tokenizer = Tokenizer::splitting(&splitting, ["a"].into_iter()).unwrap();
    let json = tokenizer.to_json().unwrap();
    let again = Tokenizer::from_json(json.as_bytes(), Path::new("t.json")).unwrap();
    let tokens = tokenizer.tokens(text).unwrap();
    assert_eq!(tokens, again.tokens(text).unwrap());
    let parts = tokens
        .iter()
        .map(|token| text[token.bytes.clone()].to_owned());
    let parts = parts.collect();
    (tokens.into_iter().map(|token| token.text).collect(), parts)
}

#[test]
fn texts_are_split_as_other_libraries_do() {
    let text = "She said: \"Don't, É\u{a0}stop!\"<br />B\"c (x_y) a-b;\tZ.\n";
    for (name, tokens, parts) in [
        (
            "whitespace",
            "She|said:|\"Don't,|É|stop!\"<br|/>B\"c|(x_y)|a-b;|Z.",
            "She|said:|\"Don't,|É|stop!\"<br|/>B\"c|(x_y)|a-b;|Z.",
        ),
        (
            "whitespace-lower",
            "she|said:|\"don't,|é|stop!\"<br|/>b\"c|(x_y)|a-b;|z.",
            "She|said:|\"Don't,|É|stop!\"<br|/>B\"c|(x_y)|a-b;|Z.",
        ),
        (
            "basic-english",
            "she|said|don|'|t|,|é|stop|!|bc|(|x_y|)|a-b|z|.",
            "She|said|Don|'|t|,|É|stop|!|B\"c|(|x_y|)|a-b|Z|.",
        ),
        (
            "keras",
            "she|said|don't|é\u{a0}stop|br|b|c|x|y|a|b|z",
            "She|said|Don't|É\u{a0}stop|br|B|c|x|y|a|b|Z",
        ),
        (
            r"regex:\w+",
            "She|said|Don|t|É|stop|br|B|c|x_y|a|b|Z",
            "She|said|Don|t|É|stop|br|B|c|x_y|a|b|Z",
        ),
        (
            r"regex-lower:\p{L}+|!",
            "she|said|don|t|é|stop|!|br|b|c|x|y|a|b|z",
            "She|said|Don|t|É|stop|!|br|B|c|x|y|a|b|Z",
        ),
        ("regex:q*", "", ""),
    ] {
        let (found, made_of) = split_by(name, text);
        assert_eq!(found.join("|"), tokens, "{name}");
        assert_eq!(made_of.join("|"), parts, "{name}");
    }
    assert!(Splitting::named("words").unwrap().is_none());
    for name in ["regex:(", "regex:", "regex-lower:[z-a]"] {
        let error = Splitting::named(name).unwrap_err().to_string();
        assert!(error.contains("is no pattern"), "{error}");
    }
    let spaced = Splitting::keras("#", false, '_').unwrap();
    let tokenizer = Tokenizer::splitting(&spaced, ["A B"].into_iter()).unwrap();
    let ids: Vec<u32> = tokenizer
        .tokens("A B_#c")
        .unwrap()
        .iter()
        .map(|token| token.id)
        .collect();
    assert_eq!(ids, [0, 1]);
}

/// Returns a word-level tokenizer as the library writes it, with `parts` of its JSON replaced.
fn foreign(parts: &[(&str, &str)]) -> String {
    let part = |name: &str, usual: &str| {
        let own = parts.iter().find(|(part, _)| *part == name);
        own.map_or(usual, |(_, own)| own).to_owned()
    };
    let added = r#"[{"id":0,"content":"[PAD]","single_word":false,"lstrip":false,"rstrip":false,
        "normalized":false,"special":true}]"#;
    format!(
        r#"{{"version":"1.0","truncation":{},"padding":{},"added_tokens":{},
            "normalizer":{},"pre_tokenizer":{},"post_processor":{},"decoder":null,"model":{}}}"#,
        part("truncation", "null"),
        part("padding", "null"),
        part("added_tokens", added),
        part("normalizer", r#"{"type":"Lowercase"}"#),
        part("pre_tokenizer", r#"{"type":"Whitespace"}"#),
        part("post_processor", "null"),
        part(
            "model",
            r#"{"type":"WordLevel","vocab":{"[PAD]":0,"[UNK]":1,"good":2,"bad":3},"unk_token":"[UNK]"}"#
        ),
    )
}

#[test]
fn tokenizers_from_elsewhere_say_how_they_split_and_what_their_rows_are() {
    let file = Path::new("x/tokenizer.json");
    let read =
        |parts: &[(&str, &str)]| ForeignTokenizer::from_json(foreign(parts).as_bytes(), file);
    let padding = r#"{"strategy":"BatchLongest","direction":"Right","pad_to_multiple_of":null,
        "pad_id":0,"pad_type_id":0,"pad_token":"[PAD]"}"#;
    let cut = |direction: &str| {
        format!(
            r#"{{"direction":"{direction}","max_length":7,"strategy":"LongestFirst","stride":0}}"#
        )
    };
    let found = read(&[("padding", padding), ("truncation", &cut("Right"))]).unwrap();
    assert_eq!(found.words, ["[PAD]", "[UNK]", "good", "bad"]);
    assert_eq!((found.unknown, found.padding), (Some(1), Some(0)));
    assert_eq!(found.max_length, Some(7));
    let own = Tokenizer::splitting(&found.splitting, ["bad", "good"].into_iter()).unwrap();
    let text = "Not BAD, good!";
    let tokens = own.tokens(text).unwrap();
    let ids: Vec<u32> = tokens.iter().map(|token| token.id).collect();
    assert_eq!(ids, [2, 0, 2, 1, 2]);
    assert_eq!(&text[tokens[1].bytes.clone()], "BAD");

    let message = |parts: &[(&str, &str)]| read(parts).unwrap_err().to_string();
    let model = |vocabulary: &str| {
        format!(r#"{{"type":"WordLevel","vocab":{vocabulary},"unk_token":"[UNK]"}}"#)
    };
    let gap = model(r#"{"[PAD]":0,"a":2}"#);
    let twice = model(r#"{"[PAD]":0,"a":1,"b":1}"#);
    let added = r#"[{"id":4,"content":"very","single_word":false,"lstrip":false,"rstrip":false,
        "normalized":false,"special":false}]"#;
    let around = r#"{"type":"BertProcessing","sep":["[UNK]",1],"cls":["[PAD]",0]}"#;
    let parts = r#"{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,
        "end_of_word_suffix":null,"fuse_unk":false,"byte_fallback":false,"vocab":{"a":0},"merges":[]}"#;
    for (part, expected) in [
        (("model", gap.as_str()), "numbers have gaps"),
        (("model", twice.as_str()), "two words"),
        (("model", parts), "parts of words"),
        (("pre_tokenizer", "null"), "not split"),
        (("post_processor", around), "more tokens than their words"),
        (("added_tokens", added), "before texts are split"),
        (("truncation", &cut("Left")), "cut at their beginning"),
    ] {
        let message = message(&[part]);
        assert!(message.contains(expected), "{message}");
        assert!(message.contains("x/tokenizer.json"), "{message}");
    }
    let broken = ForeignTokenizer::from_json(b"{", file).unwrap_err();
    assert!(broken.to_string().contains("not a readable tokenizer"));
}
