//! QuickCertify (Algorithm 3): every candidate K votes alike and resists n removals.

use crate::system::Query;
use crate::votes::Votes;

/// The label of the test input if no candidate K can be made to vote otherwise by n removals.
///
/// **Theorem 4.1.** If this returns y, the prediction is n-poisoning robust and y is it. *Proof.*
/// Whatever R with |R| <= n is removed, some candidate K is learnt. By the lemma of
/// [`crate::minimal_violating_removal()`], its vote differs from y only if y loses P(t) without t
/// of its rows for some t <= n, hence (Theorem 5.1: the predicate is monotone in t) for t = n,
/// which is what is checked, with the rules for ties: a rival with a smaller label id and an equal
/// count wins. ∎
///
/// The case t = 0 says that y is the vote of every K on T itself. One pass over K_max + n labels
/// suffices: y's count and its strongest rival are updated in constant time a row.
pub fn quick_certify(query: &Query) -> Option<u16> {
    let labels = query.labels();
    let (candidates, poison) = (query.candidates, query.poison);
    let label = {
        let mut votes = Votes::new(query.classes);
        labels
            .iter()
            .take(candidates.first)
            .for_each(|&l| votes.add(l));
        votes.top()?
    };
    let mut rivals = Votes::new(query.classes);
    let mut own = 0_usize;
    let mut read = 0;
    for k in candidates.values() {
        let prefix = (k + poison).min(labels.len());
        for &row in &labels[read.min(prefix)..prefix] {
            if row == label {
                own += 1;
            } else {
                rivals.add(row);
            }
        }
        read = prefix;
        let beaten = rivals.top().is_some_and(|top| {
            let count = rivals.count(top) + poison;
            count > own || (count == own && top < label)
        });
        if own <= poison || beaten {
            return None;
        }
    }
    Some(label)
}
