//! Examines one text whole: how the model's probabilities move under every replacement of every
//! protected term.

use serde::Serialize;

use super::domain::TextDomain;
use super::edits::Tokens;
use super::network::SourcedNetwork;
use super::probabilities::softmax;
use super::protected::Protected;
use super::render::render;
use crate::audit_error::AuditError;
use crate::check::{Flip, check_all};
use crate::domain::Domain;
use crate::specification::Deciding;
use probity_nn::Rows;
use probity_nn::decision::Decided;
use probity_nn::text_model::TextModel;
use probity_tensor::device::ComputeDevice;

/// A replacement and its effects.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Swap {
    /// The attribute.
    pub attribute: String,
    /// First token that is replaced, from 0.
    pub position: usize,
    /// The term.
    pub from: String,
    /// The term that takes its place.
    pub to: String,
    /// The changed text.
    pub text: String,
    /// The predicted class of the changed text.
    pub label: String,
    /// Probability, in the changed text, of the class that is predicted for the text as it is.
    pub probability: f32,
    /// The change of that probability from the text as it is.
    pub change: f32,
    /// Whether the predicted class is another one.
    pub flips: bool,
}

/// A text and all its swaps.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Examination {
    /// The text that the model reads.
    pub text: String,
    /// Whether the text was cut to the model's length limit.
    pub truncated: bool,
    /// The predicted class.
    pub label: String,
    /// The probability of the predicted class.
    pub probability: f32,
    /// Whether any swap changes the predicted class.
    pub discriminatory: bool,
    /// All swaps, by place; at each place the largest change first.
    pub swaps: Vec<Swap>,
}

/// Examines `text`.
///
/// # Errors
/// When it holds no term of `protected`, or the model cannot answer.
pub fn examine(
    model: &TextModel,
    protected: &Protected,
    deciding: Deciding<'_>,
    text: &str,
    device: &ComputeDevice,
) -> Result<Examination, AuditError> {
    let attributes = protected.attributes();
    let encoded = model.reader.encode(text)?;
    let read = protected.read(&Tokens::new(&model.reader), &encoded)?;
    let source = read.source;
    if !source.can_vary() {
        return Err(protected.no_term(&read.named, !read.is_english));
    }
    let domain = TextDomain::from_sources(vec![source])?;
    let classes = &model.classes;
    let network = Decided {
        model: SourcedNetwork::new(model.network(domain.tokens(), device)?),
        decision: deciding.of_texts(classes)?,
    };
    let row = domain.row(0);
    let mut checks = check_all(&network, &domain, Rows::new(&row, domain.width()))?;
    let Some(check) = checks.pop() else {
        return Err(protected.no_term(&read.named, !read.is_english));
    };
    let label = check.checked.label as usize;
    let own = softmax(&check.checked.logits)[label];
    let name = |logits: &[f32]| {
        let decided = network.decision.decide(&row, logits);
        network.decision.name(classes, decided).to_owned()
    };
    let mut flips = check.checked.flips.iter().peekable();
    let mut swaps = Vec::new();
    for (variant, logits) in check.variant_logits.chunks_exact(classes.len()).enumerate() {
        let is_this = |flip: &&Flip| flip.variant as usize == variant;
        let flips = flips.next_if(is_this).is_some();
        let Some((site, exchange)) = domain.exchange(&row, variant) else {
            continue;
        };
        let probability = softmax(logits)[label];
        swaps.push(Swap {
            attribute: attributes[site.attribute].clone(),
            position: exchange.edits.first().map_or(0, |edit| edit.tokens.start),
            from: site.from.clone(),
            to: exchange.to.clone(),
            text: render(&model.reader, &encoded, &encoded.ids, Some(exchange))?,
            label: name(logits),
            probability,
            change: probability - own,
            flips,
        });
    }
    swaps.sort_by(|a, b| {
        let by_change = b.change.abs().total_cmp(&a.change.abs());
        a.position.cmp(&b.position).then(by_change)
    });
    Ok(Examination {
        text: encoded.text,
        truncated: encoded.is_truncated,
        label: name(&check.checked.logits),
        probability: own,
        discriminatory: swaps.iter().any(|swap| swap.flips),
        swaps,
    })
}
