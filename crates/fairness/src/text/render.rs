//! Ids back to readable text: the seed's own words wherever they were not replaced.

use std::ops::Range;

use super::source::Exchange;
use probity_nn::text_reader::{EncodedText, TextReader};
use probity_text::tokenizer::{TokenizerError, in_case_of};

/// A piece of the seed that is another one in the result.
struct Piece {
    /// Positions of the seed's tokens.
    tokens: Range<usize>,
    /// The ids of what takes their place.
    ids: Vec<i32>,
    /// The same as it is written there.
    spelled: String,
    /// The same as the model spells it: other words where case matters.
    plain: String,
}

/// The text of `ids`, which came from `seed` by replacing words one by one, with `exchange` made in
/// it.
///
/// The result has exactly the tokens that were checked: where the case of the replaced word makes
/// another word, the replacement keeps its own; where a replacement in place would run into its
/// neighbours ("do" in "don't"), blanks are put around it; and where that does not help either, the
/// text is its tokens with blanks between them. A word that was replaced by the unknown one, which
/// has no spelling, is left out.
///
/// # Errors
/// When the tokenizer cannot split the result.
pub fn render(
    reader: &TextReader,
    seed: &EncodedText,
    ids: &[i32],
    exchange: Option<&Exchange>,
) -> Result<String, TokenizerError> {
    let pieces = pieces(reader, seed, ids, exchange);
    let mut wanted: Vec<i32> = Vec::with_capacity(ids.len());
    let mut position = 0;
    for piece in &pieces {
        wanted.extend_from_slice(&ids[position..piece.tokens.start]);
        wanted.extend_from_slice(&piece.ids);
        position = piece.tokens.end;
    }
    wanted.extend_from_slice(&ids[position..]);
    let spellings: [fn(&Piece) -> &str; 2] = [|piece| &piece.spelled, |piece| &piece.plain];
    for spelled in spellings {
        let text = spliced(seed, &pieces, &|_| "", spelled);
        if reader.tokens(&text)? == wanted {
            return Ok(text);
        }
    }
    // Blanks around those alone that need them, and where that is not enough, around all.
    let mut needs_blanks = Vec::with_capacity(pieces.len());
    for piece in &pieces {
        let text = spliced(seed, std::slice::from_ref(piece), &|_| "", |piece| {
            &piece.spelled
        });
        let (before, after) = (
            &seed.ids[..piece.tokens.start],
            &seed.ids[piece.tokens.end..],
        );
        needs_blanks.push(reader.tokens(&text)? != [before, &piece.ids, after].concat());
    }
    let around_some = |piece: usize| if needs_blanks[piece] { " " } else { "" };
    let ways: [&dyn Fn(usize) -> &'static str; 2] = [&around_some, &|_| " "];
    for blank in ways {
        for spelled in spellings {
            let text = spliced(seed, &pieces, blank, spelled);
            if reader.tokens(&text)? == wanted {
                return Ok(text);
            }
        }
    }
    let mut spelled: Vec<&str> = Vec::new();
    let mut position = 0;
    for piece in &pieces {
        let before = position..piece.tokens.start;
        spelled.extend(seed.words[before].iter().map(String::as_str));
        spelled.push(&piece.plain);
        position = piece.tokens.end;
    }
    spelled.extend(seed.words[position..].iter().map(String::as_str));
    Ok(spelled.join(" "))
}

/// What differs from the seed, in order.
fn pieces(
    reader: &TextReader,
    seed: &EncodedText,
    ids: &[i32],
    exchange: Option<&Exchange>,
) -> Vec<Piece> {
    let mut edits = exchange
        .iter()
        .flat_map(|exchange| &exchange.edits)
        .peekable();
    let mut pieces = Vec::new();
    let mut position = 0;
    while position < ids.len() {
        if let Some(edit) = edits.next_if(|edit| edit.tokens.start == position) {
            pieces.push(Piece {
                tokens: edit.tokens.clone(),
                ids: edit.by.clone(),
                spelled: edit.spelled.clone(),
                plain: words(reader, &edit.by),
            });
            position = edit.tokens.end;
            continue;
        }
        let id = ids[position];
        if seed.ids[position] != id {
            let old = seed.text.get(seed.bytes[position].clone());
            let is_left_out = id == reader.tokenizer.unknown() as i32;
            pieces.push(Piece {
                tokens: position..position + 1,
                ids: if is_left_out { Vec::new() } else { vec![id] },
                spelled: in_case_of(old.unwrap_or_default(), &words(reader, &[id])),
                plain: words(reader, &[id]),
            });
        }
        position += 1;
    }
    pieces
}

/// The seed with `pieces` in it, as `spelled` says, and `blank` around each.
fn spliced(
    seed: &EncodedText,
    pieces: &[Piece],
    blank: &dyn Fn(usize) -> &'static str,
    spelled: fn(&Piece) -> &str,
) -> String {
    let mut text = String::with_capacity(seed.text.len());
    let mut done = 0;
    for (number, piece) in pieces.iter().enumerate() {
        let blank = blank(number);
        let start = seed.bytes[piece.tokens.start].start;
        text.push_str(seed.text.get(done..start).unwrap_or_default());
        text.push_str(blank);
        let spelled = spelled(piece);
        // One of the blanks around a word goes with it.
        if spelled.is_empty() && text.ends_with(' ') {
            text.pop();
        }
        text.push_str(spelled);
        text.push_str(blank);
        done = seed.bytes[piece.tokens.end - 1].end;
    }
    text.push_str(seed.text.get(done..).unwrap_or_default());
    text
}

/// The words of `ids` with blanks between them.
pub fn words(reader: &TextReader, ids: &[i32]) -> String {
    let words: Vec<&str> = ids.iter().map(|&id| reader.word(id)).collect();
    words.join(" ")
}
