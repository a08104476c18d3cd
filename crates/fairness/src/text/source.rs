//! A text as an audit holds it: its tokens, what its protected terms may be exchanged for, and
//! which tokens a search may not touch.
//!
//! Everything that needs the text as people write it (which words name a protected value, what a
//! pronoun becomes, where a URL ends) is decided once, when the text is opened. What a search walks
//! over are tokens.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// Tokens that take the place of others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenEdit {
    /// Positions of the tokens that are replaced.
    pub tokens: Range<usize>,
    /// The tokens that take their place.
    pub by: Vec<i32>,
    /// The new tokens as they are written.
    pub spelled: String,
}

/// A protected value put in the place of another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exchange {
    /// The term that takes the place, as reports show it.
    pub to: String,
    /// The number of this value among all that may be put anywhere, by which influence is counted.
    pub number: u32,
    /// The value: its number among the values of all attributes, in
    /// the order of [`super::protected::Protected::values`].
    pub value: u32,
    /// The edits: ascending, without overlap, at least one.
    pub edits: SmallVec<[TokenEdit; 1]>,
}

/// A protected term, or all terms of one value, with the exchanges that may be made of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// Attribute: position among the audited ones.
    pub attribute: usize,
    /// The term, as reports show it.
    pub from: String,
    /// The value that it names: its number among the values of all attributes, in
    /// the order of [`super::protected::Protected::values`].
    pub value: u32,
    /// Positions that an exchange may change, ascending, without overlap.
    pub spans: SmallVec<[Range<usize>; 1]>,
    /// The mark that stands for these tokens when two texts are compared as individuals.
    pub class: u32,
    /// The exchanges of the term, best first.
    pub exchanges: Vec<Exchange>,
}

/// A text with its protected terms.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// The tokens of the text.
    pub ids: Vec<i32>,
    /// The sites where protected values are named, in the order of their first tokens.
    pub sites: Vec<Site>,
    /// Tokens that no step of a search may change, ascending, without overlap.
    pub fixed: Vec<Range<usize>>,
}

/// A text in which one run of tokens stands for any of several, by the place of the run and by how
/// many tokens take it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// The positions of the run.
    pub tokens: Range<usize>,
    /// The runs of tokens that may stand there: all of one length.
    pub by: Vec<Vec<i32>>,
}

impl Exchange {
    /// Number of tokens by which a text grows.
    pub fn growth(&self) -> usize {
        let by: usize = self.edits.iter().map(|edit| edit.by.len()).sum();
        let tokens: usize = self.edits.iter().map(|edit| edit.tokens.len()).sum();
        by.saturating_sub(tokens)
    }

    /// Number of tokens that edits take without a substitute: no part of a text shrinks by more.
    fn loss(&self) -> usize {
        let edits = self.edits.iter();
        let losses = edits.map(|edit| edit.tokens.len().saturating_sub(edit.by.len()));
        losses.sum()
    }

    /// Appends `text` with the edits made to `out`.
    pub fn write(&self, text: &[i32], out: &mut Vec<i32>) {
        let mut position = 0;
        for edit in &self.edits {
            out.extend_from_slice(&text[position..edit.tokens.start]);
            out.extend_from_slice(&edit.by);
            position = edit.tokens.end;
        }
        out.extend_from_slice(&text[position..]);
    }

    /// The position of token `position` of a text after the exchange; `None` inside an edit.
    pub fn position_in(&self, position: usize) -> Option<usize> {
        let mut there = position;
        for edit in &self.edits {
            if position < edit.tokens.start {
                break;
            }
            if position < edit.tokens.end {
                return None;
            }
            there = there + edit.by.len() - edit.tokens.len();
        }
        Some(there)
    }

    /// The tokens from the first edit to the last one.
    fn range(&self) -> Range<usize> {
        let first = self.edits.first().map_or(0, |edit| edit.tokens.start);
        let last = self.edits.last().map_or(0, |edit| edit.tokens.end);
        first..last
    }
}

impl Source {
    /// A text of `ids` with `sites`, all spans of which are fixed, and `fixed` besides.
    pub fn new(ids: Vec<i32>, mut sites: Vec<Site>, mut fixed: Vec<Range<usize>>) -> Source {
        let first = |site: &Site| site.spans.first().map_or(0, |span| span.start);
        sites.sort_by_key(first);
        let spans = sites.iter().flat_map(|site| site.spans.iter().cloned());
        fixed.extend(spans);
        Source {
            fixed: merged(fixed),
            ids,
            sites,
        }
    }

    /// Whether a protected value can be exchanged.
    pub fn can_vary(&self) -> bool {
        self.sites.iter().any(|site| !site.exchanges.is_empty())
    }

    /// The number of exchanges.
    pub fn exchanges(&self) -> usize {
        self.sites.iter().map(|site| site.exchanges.len()).sum()
    }

    /// The exchange of this number, sites in order, with its site.
    pub fn exchange(&self, number: usize) -> Option<(&Site, &Exchange)> {
        let mut left = number;
        for site in &self.sites {
            if let Some(exchange) = site.exchanges.get(left) {
                return Some((site, exchange));
            }
            left -= site.exchanges.len();
        }
        None
    }

    /// Whether a search may change the token at `position`.
    pub fn is_free(&self, position: usize) -> bool {
        let after = self.fixed.partition_point(|range| range.end <= position);
        let range = self.fixed.get(after);
        range.is_none_or(|range| position < range.start)
    }

    /// Whether steps of a search make `text` of this one: nothing that is fixed differs.
    pub fn is_made(&self, text: &[i32]) -> bool {
        let is_same = |range: &Range<usize>| {
            let mut both = self.ids[range.clone()].iter().zip(&text[range.clone()]);
            both.all(|(own, other)| own == other)
        };
        self.ids.len() == text.len() && self.fixed.iter().all(is_same)
    }

    /// The text that `text`, which steps of a search make of this one or such a one after an
    /// exchange, was before the exchange; `None` for any other text.
    pub fn before<'t>(&self, text: &'t [i32]) -> Option<(Cow<'t, [i32]>, Option<&Exchange>)> {
        if self.is_made(text) {
            return Some((Cow::Borrowed(text), None));
        }
        let mut exchanges = self.sites.iter().flat_map(|site| &site.exchanges);
        exchanges.find_map(|exchange| {
            let before = self.undone(exchange, text)?;
            Some((Cow::Owned(before), Some(exchange)))
        })
    }

    /// The text before `exchange`, if that can have made `text`.
    fn undone(&self, exchange: &Exchange, text: &[i32]) -> Option<Vec<i32>> {
        // Of many exchanges few put their words where the text has them: those are found first.
        let (mut read, mut done) = (0, 0);
        for edit in &exchange.edits {
            read += edit.tokens.start.checked_sub(done)?;
            let there = text.get(read..read + edit.by.len())?;
            // A word or two: compared here, which is faster than being called for.
            if there.iter().zip(&edit.by).any(|(there, by)| there != by) {
                return None;
            }
            read += edit.by.len();
            done = edit.tokens.end;
        }
        let mut before = Vec::with_capacity(self.ids.len());
        let mut rest = text;
        for edit in &exchange.edits {
            let (same, after) = rest.split_at_checked(edit.tokens.start - before.len())?;
            before.extend_from_slice(same);
            before.extend_from_slice(&self.ids[edit.tokens.clone()]);
            rest = after.get(edit.by.len()..)?;
        }
        before.extend_from_slice(rest);
        self.is_made(&before).then_some(before)
    }

    /// Whether all places are of the text and all tokens `is_token`: what a file says may be untrue.
    pub fn is_sound(&self, is_token: &dyn Fn(&i32) -> bool) -> bool {
        let length = self.ids.len();
        let is_ascending = |ranges: &mut dyn Iterator<Item = &Range<usize>>| {
            let mut end = 0;
            for range in ranges {
                if range.start < end || range.end < range.start || length < range.end {
                    return false;
                }
                end = range.end;
            }
            true
        };
        let is_made = |exchange: &Exchange| {
            let mut edits = exchange.edits.iter();
            let tokens = edits.clone().flat_map(|edit| &edit.by);
            !exchange.edits.is_empty()
                && is_ascending(&mut exchange.edits.iter().map(|edit| &edit.tokens))
                && edits.all(|edit| !edit.by.is_empty())
                && tokens.into_iter().all(is_token)
        };
        let mut sites = self.sites.iter();
        self.ids.iter().all(is_token)
            && is_ascending(&mut self.fixed.iter())
            && sites.all(|site| {
                is_ascending(&mut site.spans.iter()) && site.exchanges.iter().all(is_made)
            })
    }

    /// Largest number of tokens by which the text grows.
    pub fn growth(&self) -> usize {
        let exchanges = self.sites.iter().flat_map(|site| &site.exchanges);
        exchanges.map(Exchange::growth).max().unwrap_or(0)
    }

    /// Keeps the sites for which `keep` is true.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&Site) -> bool) -> Source {
        Source {
            sites: self.sites.iter().filter(|s| keep(s)).cloned().collect(),
            ..self.clone()
        }
    }

    /// Leaves out the exchanges for one of `values`, and the sites that have no other.
    #[must_use]
    pub fn without_values(mut self, values: &BTreeSet<u32>) -> Source {
        for site in &mut self.sites {
            site.exchanges
                .retain(|exchange| !values.contains(&exchange.value));
        }
        self.sites.retain(|site| !site.exchanges.is_empty());
        self
    }

    /// The part of the text that has a say in what a model sees of it that reads `reads` tokens,
    /// whatever is exchanged, with what can be exchanged in what is read.
    ///
    /// **Lemma.** For every exchange whose first edit begins among the first `reads` tokens, the
    /// first `reads` tokens of the text after it are those of what this returns after it; every
    /// other exchange changes nothing that is read. *Proof.* Before the end of what is read the
    /// edits shorten the text by at most L tokens, what all of them take without a substitute. So
    /// what is read ends at token `reads` + L of the text as it was, or inside an edit: both are
    /// kept. ∎
    #[must_use]
    pub fn window(&self, reads: usize) -> Source {
        let mut sites = self.sites.clone();
        for site in &mut sites {
            site.exchanges
                .retain(|exchange| exchange.range().start < reads);
        }
        sites.retain(|site| !site.exchanges.is_empty());
        let exchanges = sites.iter().flat_map(|site| &site.exchanges);
        let kept = exchanges
            .map(|exchange| {
                let ends = exchange.edits.iter().map(|edit| edit.tokens.end);
                (reads + exchange.loss()).max(ends.max().unwrap_or(0))
            })
            .max()
            .unwrap_or(reads);
        let length = self.ids.len().min(kept);
        Source {
            ids: self.ids[..length].to_vec(),
            fixed: self
                .fixed
                .iter()
                .filter(|range| range.start < length)
                .map(|range| range.start..range.end.min(length))
                .collect(),
            sites,
        }
    }

    /// The runs that exchanges of each site make of tokens, by place and length of what takes it.
    pub fn stretches(&self) -> Vec<Stretch> {
        let mut stretches: Vec<Stretch> = Vec::new();
        for site in &self.sites {
            let first = stretches.len();
            for exchange in &site.exchanges {
                let tokens = exchange.range();
                let by = self.within(exchange, &tokens);
                let own = &mut stretches[first..];
                let same = own
                    .iter_mut()
                    .find(|other| other.tokens == tokens && other.by[0].len() == by.len());
                match same {
                    Some(other) => other.by.push(by),
                    None => stretches.push(Stretch {
                        tokens,
                        by: vec![by],
                    }),
                }
            }
        }
        stretches
    }

    /// The tokens that stand in the place of `tokens`, the range of `exchange`, after it.
    fn within(&self, exchange: &Exchange, tokens: &Range<usize>) -> Vec<i32> {
        let mut by = Vec::new();
        let mut position = tokens.start;
        for edit in &exchange.edits {
            by.extend_from_slice(&self.ids[position..edit.tokens.start]);
            by.extend_from_slice(&edit.by);
            position = edit.tokens.end;
        }
        by
    }

    /// Sorts the exchanges of every site by falling `influence` of the value put there (by its
    /// number); equal ones keep their order.
    pub fn rank(&mut self, influence: &[f32]) {
        let of = |exchange: &Exchange| influence.get(exchange.number as usize).copied();
        for site in &mut self.sites {
            site.exchanges
                .sort_by(|a, b| of(b).unwrap_or(0.0).total_cmp(&of(a).unwrap_or(0.0)));
        }
    }
}

/// Sorts `ranges` in ascending order, those that touch or overlap made one.
pub fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut all: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match all.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => all.push(range),
        }
    }
    all
}
