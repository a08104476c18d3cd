//! Tests of substitutions in texts.

mod corpus;
mod reading;
mod zones;

use std::sync::LazyLock;

use super::*;

/// The substitution for all attributes that are not opt-in.
static ALL: LazyLock<Substitution> =
    LazyLock::new(|| Substitution::new(&Lexicon::shipped(), &[]).unwrap());

/// Returns, for every exchange, the text that it makes of `text`, and whether it can be undone:
/// exactly, or up to spellings and capitals, so that undone and done again it is the same.
fn reversed(substitution: &Substitution, text: &str) -> Vec<(String, bool)> {
    let analysis = substitution.analyse(text).unwrap();
    let mut results = Vec::new();
    for site in &analysis.sites {
        for exchange in &site.exchanges {
            let other = apply(text, &exchange.edits);
            let texts = exchanged(
                substitution,
                site.attribute,
                exchange.value,
                site.value,
                &other,
            );
            let is_same = |back: &String| {
                back == text
                    || exchanged(
                        substitution,
                        site.attribute,
                        site.value,
                        exchange.value,
                        back,
                    )
                    .contains(&other)
            };
            let is_back = texts.iter().any(is_same);
            results.push((other, is_back));
        }
    }
    results
}

/// Returns `text` with the value `to` in the place of `from`.
fn exchanged(
    substitution: &Substitution,
    attribute: usize,
    from: usize,
    to: usize,
    text: &str,
) -> Vec<String> {
    let analysis = substitution.analyse(text).unwrap();
    let sites = analysis.sites.iter();
    let sites = sites.filter(|site| {
        let is_from = site.value == from
            || substitution.terms.attributes[substitution.chosen[attribute]].exchange;
        site.attribute == attribute && is_from
    });
    let exchanges = sites.flat_map(|site| &site.exchanges);
    let exchanges = exchanges.filter(|exchange| exchange.value == to || from == exchange.value);
    exchanges
        .map(|exchange| apply(text, &exchange.edits))
        .collect()
}
