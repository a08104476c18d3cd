//! Writes ids as readable text: the seed's own words wherever they were not replaced.

use std::borrow::Cow;
use std::ops::Range;

use super::source::Exchange;
use probity_nn::text_reader::{EncodedText, TextReader};
use probity_text::tokenizer::{TokenizerError, in_case_of};

/// A piece of the seed that is another one in the result.
struct Piece<'a> {
    /// Positions of the seed's tokens.
    tokens: Range<usize>,
    /// The ids that take the place of these tokens.
    ids: &'a [i32],
    /// The words that these ids are written as there.
    spelled: Cow<'a, str>,
}

/// A function that gives the text of a piece, by the tokenizer's words where it is not to be as it
/// is spelled.
type Spelled<'f> = &'f dyn for<'p> Fn(&'p Piece<'_>) -> Cow<'p, str>;

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
    let mut text = String::with_capacity(seed.text.len());
    render_to(&mut text, reader, seed, ids, exchange)?;
    Ok(text)
}

/// Appends the text of [`render`] to `out`.
///
/// # Errors
/// Like [`render`].
pub fn render_to(
    out: &mut String,
    reader: &TextReader,
    seed: &EncodedText,
    ids: &[i32],
    exchange: Option<&Exchange>,
) -> Result<(), TokenizerError> {
    let pieces = pieces(reader, seed, ids, exchange);
    let wanted = with_pieces(ids, &pieces);
    let begin = out.len();
    let as_written: Spelled<'_> = &|piece| Cow::Borrowed(&piece.spelled);
    // The same as the model spells it: other words where case matters.
    let plain: Spelled<'_> = &|piece| Cow::Owned(words(reader, piece.ids));
    for spelled in [as_written, plain] {
        splice(out, seed, &pieces, &|_| "", spelled);
        if reader.has_tokens(&out[begin..], wanted.clone())? {
            return Ok(());
        }
        out.truncate(begin);
    }
    // Blanks around those alone that need them, and where that is not enough, around all.
    let mut needs_blanks = Vec::with_capacity(pieces.len());
    for piece in &pieces {
        let alone = std::slice::from_ref(piece);
        splice(out, seed, alone, &|_| "", as_written);
        let keeps_others = reader.has_tokens(&out[begin..], with_pieces(&seed.ids, alone))?;
        needs_blanks.push(!keeps_others);
        out.truncate(begin);
    }
    let around_some = |piece: usize| if needs_blanks[piece] { " " } else { "" };
    let ways: [&dyn Fn(usize) -> &'static str; 2] = [&around_some, &|_| " "];
    for blank in ways {
        for spelled in [as_written, plain] {
            splice(out, seed, &pieces, blank, spelled);
            if reader.has_tokens(&out[begin..], wanted.clone())? {
                return Ok(());
            }
            out.truncate(begin);
        }
    }
    let mut position = 0;
    let mut spelled: Vec<Cow<'_, str>> = Vec::new();
    let own = |tokens: Range<usize>| seed.words[tokens].iter().map(|word| Cow::from(&word[..]));
    for piece in &pieces {
        spelled.extend(own(position..piece.tokens.start));
        spelled.push(plain(piece));
        position = piece.tokens.end;
    }
    spelled.extend(own(position..seed.words.len()));
    out.push_str(&spelled.join(" "));
    Ok(())
}

/// Returns `ids` with `pieces` in them.
fn with_pieces<'a>(ids: &'a [i32], pieces: &'a [Piece<'_>]) -> impl Iterator<Item = i32> + Clone {
    let ends = pieces.iter().map(|piece| piece.tokens.end);
    let starts = pieces.iter().map(|piece| piece.tokens.start);
    let kept = std::iter::once(0)
        .chain(ends)
        .zip(starts.chain([ids.len()]));
    let put = pieces.iter().map(|piece| piece.ids).chain([&[][..]]);
    let both = kept.zip(put);
    both.flat_map(|((from, to), put)| ids[from..to].iter().chain(put).copied())
}

/// The pieces in which a text differs from the seed, in order.
fn pieces<'a>(
    reader: &TextReader,
    seed: &EncodedText,
    ids: &'a [i32],
    exchange: Option<&'a Exchange>,
) -> Vec<Piece<'a>> {
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
                ids: &edit.by,
                spelled: Cow::Borrowed(&edit.spelled),
            });
            position = edit.tokens.end;
            continue;
        }
        let id = ids[position];
        if seed.ids[position] != id {
            let old = seed.text.get(seed.bytes[position].clone());
            let is_left_out = id == reader.tokenizer.unknown() as i32;
            let spelled = in_case_of(old.unwrap_or_default(), reader.word(id));
            pieces.push(Piece {
                tokens: position..position + 1,
                ids: if is_left_out {
                    &[]
                } else {
                    &ids[position..=position]
                },
                spelled: Cow::Owned(spelled),
            });
        }
        position += 1;
    }
    pieces
}

/// Appends the seed with `pieces` in it, as `spelled` says, and `blank` around each.
fn splice(
    out: &mut String,
    seed: &EncodedText,
    pieces: &[Piece<'_>],
    blank: &dyn Fn(usize) -> &'static str,
    spelled: Spelled<'_>,
) {
    let begin = out.len();
    let mut done = 0;
    for (number, piece) in pieces.iter().enumerate() {
        let blank = blank(number);
        let start = seed.bytes[piece.tokens.start].start;
        out.push_str(seed.text.get(done..start).unwrap_or_default());
        out.push_str(blank);
        let spelled = spelled(piece);
        // One of the blanks around a word goes with it.
        if spelled.is_empty() && out[begin..].ends_with(' ') {
            out.pop();
        }
        out.push_str(&spelled);
        out.push_str(blank);
        done = seed.bytes[piece.tokens.end - 1].end;
    }
    out.push_str(seed.text.get(done..).unwrap_or_default());
}

/// The words of `ids` with blanks between them.
pub fn words(reader: &TextReader, ids: &[i32]) -> String {
    let words: Vec<&str> = ids.iter().map(|&id| reader.word(id)).collect();
    words.join(" ")
}
