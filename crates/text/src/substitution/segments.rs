//! Parts of a text that are no sentence: addresses, names of users, markup, code.

use std::ops::Range;

/// Ends of names of sites and files; longer ones first where one begins another.
const ENDINGS: [&str; 30] = [
    "com", "org", "net", "edu", "gov", "mil", "info", "biz", "co", "uk", "us", "de", "fr", "io",
    "tv", "me", "html", "htm", "php", "asp", "aspx", "jpg", "jpeg", "png", "gif", "svg", "pdf",
    "txt", "ogg", "exe",
];

/// The words before a colon in links to pages that are no text.
const SPACES: [&str; 16] = [
    "user",
    "talk",
    "user talk",
    "user_talk",
    "wikipedia",
    "wp",
    "file",
    "image",
    "category",
    "template",
    "help",
    "special",
    "portal",
    "mediawiki",
    "media",
    "module",
];

/// Tags whose content is no sentence.
const CODE: [&str; 8] = [
    "nowiki",
    "code",
    "pre",
    "math",
    "source",
    "syntaxhighlight",
    "script",
    "style",
];

/// The longest HTML tag that is believed to be one.
const LONGEST_TAG: usize = 400;

/// Returns the byte ranges of `text` that no edit may touch, ascending and disjoint.
pub(super) fn untouched(text: &str) -> Vec<Range<usize>> {
    let mut zones = Vec::new();
    markup(text, &mut zones);
    chunks(text, &mut zones);
    zones.sort_unstable_by_key(|zone| (zone.start, zone.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(zones.len());
    for zone in zones {
        match merged.last_mut() {
            Some(last) if zone.start <= last.end => last.end = last.end.max(zone.end),
            _ => merged.push(zone),
        }
    }
    merged
}

/// Adds the zones of templates, targets of links, tags, entities, and code between backticks.
fn markup(text: &str, zones: &mut Vec<Range<usize>>) {
    let mut at = 0;
    while let Some(found) = rest(text, at).find(['{', '[', '<', '&', '`']) {
        let start = at + found;
        let here = rest(text, start);
        let length = if here.starts_with("{{") {
            closed(here, "{{", "}}")
        } else if here.starts_with("{|") {
            closed(here, "{|", "|}")
        } else if here.starts_with("[[") {
            target(here)
        } else if here.starts_with('<') {
            tag(here)
        } else if here.starts_with('&') {
            entity(here)
        } else if let Some(code) = here.strip_prefix('`') {
            let end = code.find(['`', '\n']);
            end.filter(|&end| code[end..].starts_with('`'))
                .map(|end| end + 2)
        } else {
            None
        };
        if let Some(length) = length {
            zones.push(start..start + length);
        }
        at = start + length.unwrap_or(1);
    }
}

fn rest(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

/// Returns the length of the part at the start of `text` that `open` and `close` enclose, with
/// nested ones.
fn closed(text: &str, open: &str, close: &str) -> Option<usize> {
    let mut depth = 0;
    let mut at = 0;
    loop {
        let here = rest(text, at);
        let opening = here.find(open);
        let closing = here.find(close)?;
        match opening.filter(|&opening| opening < closing) {
            Some(opening) => {
                depth += 1;
                at += opening + open.len();
            }
            None => {
                depth -= 1;
                at += closing + close.len();
                if depth <= 0 {
                    return Some(at);
                }
            }
        }
    }
}

/// Returns the length of a link up to the text that is shown; all of it where that is no text, or
/// where the link is not closed.
fn target(text: &str) -> Option<usize> {
    let inner = text.strip_prefix("[[")?;
    let end = inner.find(['\n', ']']).unwrap_or(inner.len());
    let end = inner.find("[[").map_or(end, |other| other.min(end));
    if !inner[end..].starts_with("]]") {
        // Where it should have ended nobody knows: at the end of the clause at the latest.
        let clause = inner[..end].find(['.', ',', ';', '!', '?', '"']);
        return Some(2 + clause.unwrap_or(end));
    }
    let (inner, end) = (&inner[..end], end + 2);
    let space = inner.split(':').next().unwrap_or_default();
    let is_media = ["file", "image", "category"].contains(&space.trim().to_lowercase().as_str());
    if is_media && inner.contains(':') {
        return Some(end + 2);
    }
    match inner.find('|') {
        Some(bar) => Some(2 + bar + 1),
        None if inner.contains([':', '#', '(', '/']) => Some(end + 2),
        None => None,
    }
}

/// Returns the length of a tag, with its content where that is code.
fn tag(text: &str) -> Option<usize> {
    if text.starts_with("<!--") {
        return text.find("-->").map(|end| end + 3);
    }
    let name = text[1..].trim_start_matches('/');
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let end = text.find('>').filter(|&end| end < LONGEST_TAG)?;
    if text[1..end].contains('<') {
        return None;
    }
    let word_end = name.find(|c: char| !c.is_ascii_alphanumeric());
    let word = name[..word_end.unwrap_or(name.len())].to_ascii_lowercase();
    let is_opening = !text.starts_with("</") && !text[..end].ends_with('/');
    if is_opening && CODE.contains(&word.as_str()) {
        let close = format!("</{word}");
        if let Some(closing) = text.to_ascii_lowercase().find(&close) {
            return Some(closing);
        }
    }
    Some(end + 1)
}

/// Returns the length of an entity: `&amp;`, `&#39;`.
fn entity(text: &str) -> Option<usize> {
    let end = text.find(';').filter(|&end| (2..=10).contains(&end))?;
    let name = text[1..end].strip_prefix('#').unwrap_or(&text[1..end]);
    name.bytes()
        .all(|byte| byte.is_ascii_alphanumeric())
        .then_some(end + 1)
}

/// Adds the zones of addresses, mentions, hashtags, names of users and files.
fn chunks(text: &str, zones: &mut Vec<Range<usize>>) {
    let mut at = 0;
    for chunk in text.split_inclusive(char::is_whitespace) {
        let start = at;
        at += chunk.len();
        let chunk = chunk.trim_end();
        addresses(chunk, start, zones);
        names(chunk, start, zones);
    }
}

fn addresses(chunk: &str, start: usize, zones: &mut Vec<Range<usize>>) {
    let lower = chunk.to_ascii_lowercase();
    let begin = ["http:", "https:", "ftp:", "www.", "mailto:", "irc:"]
        .iter()
        .filter_map(|scheme| lower.find(scheme))
        .min();
    if let Some(begin) = begin {
        let length = rest(chunk, begin).find(['<', '>', '"', ']', '|', '}']);
        let end = length.map_or(chunk.len(), |length| begin + length);
        zones.push(start + begin..start + end);
    }
    let colon = lower.find(':').filter(|&colon| colon + 1 < chunk.len());
    if let Some(colon) = colon {
        let word = lower[..colon].rfind(|c: char| !c.is_alphanumeric() && c != '_');
        let word = word.map_or(0, |at| {
            at + lower[at..].chars().next().map_or(1, char::len_utf8)
        });
        if SPACES.contains(&&lower[word..colon]) {
            zones.push(start + word..start + chunk.len());
        }
    }
    for (mark, _) in chunk.match_indices(['@', '#']) {
        let is_inner = |c: char| c.is_alphanumeric() || "._-+".contains(c);
        let after = rest(chunk, mark + 1);
        let end = after.find(|c: char| !is_inner(c)).unwrap_or(after.len());
        let name = after[..end].trim_end_matches(['.', '-', '+', '_']);
        if name.is_empty() {
            continue;
        }
        let before = &chunk[..mark];
        let is_mail = chunk[mark..].starts_with('@') && before.ends_with(char::is_alphanumeric);
        let from = if is_mail {
            before.trim_end_matches(is_inner).len()
        } else {
            mark
        };
        zones.push(start + from..start + mark + 1 + name.len());
    }
}

/// Adds the zones of words with digits or underscores in them, and of words with an ending like
/// `.com`.
fn names(chunk: &str, start: usize, zones: &mut Vec<Range<usize>>) {
    let is_inner = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let mut at = 0;
    while let Some(begin) = rest(chunk, at).find(is_inner) {
        let begin = at + begin;
        let here = rest(chunk, begin);
        let length = here.find(|c: char| !is_inner(c)).unwrap_or(here.len());
        let word = here[..length].trim_end_matches(['.', '-']);
        if is_name(word) {
            zones.push(start + begin..start + begin + word.len());
        }
        at = begin + length;
    }
}

fn is_name(word: &str) -> bool {
    if word.contains('_') {
        return word.len() > 1;
    }
    let ending = word.rsplit_once('.').filter(|(name, ending)| {
        name.len() > 1 && ENDINGS.contains(&ending.to_ascii_lowercase().as_str())
    });
    if ending.is_some_and(|(name, _)| name.ends_with(char::is_alphanumeric)) {
        return true;
    }
    let parts: Vec<&str> = word
        .split(['-', '.'])
        .filter(|part| !part.is_empty())
        .collect();
    let has_letters = parts.iter().any(|part| part.contains(char::is_alphabetic));
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let numbered = parts.len() > 1 && has_letters && parts.last().is_some_and(is_number);
    numbered || parts.iter().any(|part| is_mixed(part))
}

/// Returns whether a part has both letters and digits, except in words like "3rd", "1990s" and
/// "20th".
fn is_mixed(part: &str) -> bool {
    let digits = part.trim_start_matches(|c: char| c.is_ascii_digit());
    let has_digit = part.contains(|c: char| c.is_ascii_digit());
    let is_ordinal = ["", "s", "st", "nd", "rd", "th", "yo", "am", "pm", "k", "m"];
    has_digit && !is_ordinal.contains(&digits.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_names_and_markup_are_no_sentences() {
        for (text, expected) in [
            (
                "see http://a.b/black, or www.white.org now",
                "http://a.b/black,|www.white.org",
            ),
            ("mail he.she@white.com!", "he.she@white.com"),
            (
                "@black said #BlackLives; item # black",
                "@black|#BlackLives",
            ),
            ("a &amp; b &#39; c & d;", "&amp;|&#39;"),
            (
                "x <b class=\"black\">she</b> < y > z",
                "<b class=\"black\">|</b>",
            ),
            ("<code>black man</code> he", "<code>black man</code>"),
            (
                "[[Muslim|a believer]] [[Jew]] [[User:Black]]",
                "[[Muslim||[[User:Black]]",
            ),
            (
                "the [[Black Book is here, black [[Jew]\nblack",
                "[[Black Book is here|[[Jew",
            ),
            ("{{he|{{she}}|her}} his", "{{he|{{she}}|her}}"),
            (
                "user-black-2 black_man bl4ck 40-year-old 3rd",
                "user-black-2|black_man|bl4ck",
            ),
            (
                "WP:BLACK and black.com, file.jpg. U.S. Mr. He.",
                "WP:BLACK|black.com|file.jpg",
            ),
            ("the `black` box ` black", "`black`"),
        ] {
            let zones = untouched(text);
            let found: Vec<&str> = zones.iter().map(|zone| &text[zone.clone()]).collect();
            assert_eq!(found.join("|"), expected, "{text}");
        }
    }
}
