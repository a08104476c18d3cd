//! Ids back to readable text: the seed's own words wherever they were not replaced.

use std::ops::Range;

use super::domain::Replacement;
use probity_nn::text_model::{EncodedText, TextModel};
use probity_text::tokenizer::{TokenizerError, splice};

/// The text of `ids`, which came from `seed` by replacing words one by one, with `replacement`
/// (what, and the words that take its place) made in it.
///
/// The result has exactly the tokens that were checked: where a replacement in place would run
/// into its neighbours ("do" in "don't"), blanks are put around it, and where that does not help
/// either, the text is its tokens with blanks between them.
///
/// # Errors
/// When the tokenizer cannot split the result.
pub fn render(
    model: &TextModel,
    seed: &EncodedText,
    ids: &[i32],
    replacement: Option<(&Replacement, &[i32])>,
) -> Result<String, TokenizerError> {
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    let mut wanted: Vec<i32> = Vec::new();
    let mut position = 0;
    while position < ids.len() {
        if let Some((replacement, by)) = replacement
            && replacement.occurrence.start == position
        {
            let end = position + replacement.occurrence.length;
            let bytes = seed.bytes[position].start..seed.bytes[end - 1].end;
            changes.push((bytes, words(model, by)));
            wanted.extend_from_slice(by);
            position = end;
            continue;
        }
        let id = ids[position];
        wanted.push(id);
        if seed.ids[position] != id {
            changes.push((seed.bytes[position].clone(), words(model, &[id])));
        }
        position += 1;
    }
    let has_tokens = |text: &str| -> Result<bool, TokenizerError> {
        let tokens = model.tokenizer.tokens(text)?;
        Ok(tokens
            .iter()
            .map(|token| token.id as i32)
            .eq(wanted.iter().copied()))
    };
    let in_place: Vec<(Range<usize>, &str)> = changes
        .iter()
        .map(|(bytes, words)| (bytes.clone(), words.as_str()))
        .collect();
    let text = splice(&seed.text, &in_place);
    if has_tokens(&text)? {
        return Ok(text);
    }
    let spaced: Vec<(Range<usize>, String)> = changes
        .iter()
        .map(|(bytes, words)| (bytes.clone(), format!(" {words} ")))
        .collect();
    let spaced: Vec<(Range<usize>, &str)> = spaced
        .iter()
        .map(|(bytes, words)| (bytes.clone(), words.as_str()))
        .collect();
    let text = splice(&seed.text, &spaced);
    if has_tokens(&text)? {
        return Ok(text);
    }
    let mut spelled: Vec<String> = Vec::new();
    let mut position = 0;
    while position < ids.len() {
        match replacement {
            Some((replacement, by)) if replacement.occurrence.start == position => {
                spelled.push(words(model, by));
                position += replacement.occurrence.length;
            }
            _ => {
                spelled.push(if seed.ids[position] == ids[position] {
                    seed.words[position].clone()
                } else {
                    words(model, &ids[position..=position])
                });
                position += 1;
            }
        }
    }
    Ok(spelled.join(" "))
}

/// The words of `ids` with blanks between them.
pub fn words(model: &TextModel, ids: &[i32]) -> String {
    let words: Vec<&str> = ids.iter().map(|&id| model.word(id)).collect();
    words.join(" ")
}
