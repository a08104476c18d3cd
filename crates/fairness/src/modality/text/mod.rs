//! Texts as inputs: the model that classifies them, the protected terms of a lexicon, and the texts
//! that seeds come from.
//!
//! Only texts with a protected term can be compared with anything; the others are counted and left
//! out. Seeds come from clusters of the texts' mean word vectors, in turn. The share of
//! discriminatory texts is that of the given texts (random words are no text, as section 5.2 of the
//! paper says), drawn without replacement, with the interval of a binomial share: what the texts
//! say of the source that they were drawn from.

mod begin;
mod explained;
mod kept;
mod looked;
mod open;
mod subject;
mod witness;

use std::collections::{BTreeMap, HashSet};
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float32Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use rayon::prelude::*;
use serde::Serialize;

pub use self::kept::{KeptBy, NamingTexts};
pub use self::open::TextParts;
use self::open::Texts;
pub use self::subject::TextSubject;
pub(crate) use self::witness::AsWritten;
pub use self::witness::{Origins, TextInputs, TextWitness};
use super::{Change, EstimatedSet, InputsRead, Method, Modality, ModalityName, ShownPair};
use crate::audit_error::AuditError;
use crate::domain::Domain;
use crate::estimate::{SetCounts, count_discriminatory, estimated_sets};
use crate::finds::{DataClusters, FindSpace, TextFinds};
use crate::model_under_test::{ModelAccess, ModelUnderTest};
use crate::pairs::Pair;
use crate::samples::walk_columns;
use crate::search::Phase;
use crate::specification::{AuditSpecification, TextSpecification};
use crate::strategies::{StrategyName, WithStrategy};
use crate::text::domain::{TextDomain, text_of};
use crate::text::exchange_counts::{ExchangeCounts, count_exchanges};
use crate::text::exchanged::Exchanged;
use crate::text::fluency::{Fluency, FluencyModel};
use crate::text::judge::{Embed, Judge, ValidityMeans};
use crate::text::limits::{Limits, Similarity};
use crate::text::probabilities::softmax;
use crate::text::protected::TermCounts;
use crate::text::render::{render, words};
use crate::text::strategy::{Steps, TextStrategy};
use crate::text::values::TextValues;
use probity_data::read::BadRows;
use probity_nn::decision::Decision;
use probity_nn::text_reader::EncodedText;
use probity_predictor::KillHandle;
use probity_run::stream::{Purpose, drawn, permutation};
use probity_tensor::device::ComputeDevice;
use probity_text::validity::Validity;

/// A model of texts, its protected terms, and the texts where a search begins.
///
/// The seeds belong to it: the order in which protected values are tried is measured on them.
pub struct TextCase<'m> {
    texts: Arc<Texts<'m>>,
    searched: ModelUnderTest<'m>,
    /// The domain of all texts with a protected term, with the order of their exchanges.
    domain: TextDomain,
    steps: Steps,
    seeds: Vec<EncodedText>,
    seed_ids: Vec<Vec<i32>>,
    /// The source of each seed in the domain.
    seed_sources: Vec<u32>,
    source_rows: Vec<u64>,
    fluency_model: Option<FluencyModel>,
}

/// Counts of the texts by what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TextCounts {
    /// Texts in the file.
    pub texts: u64,
    /// Number of texts with a protected term that has a replacement.
    pub with_protected_term: u64,
    /// Number of texts without such a term: nothing can be compared, so they are left out.
    pub without_protected_term: u64,
    /// Number of the texts left out that name a protected value all the same: no other takes
    /// its place, mostly since other words of the text speak of it as well.
    pub kept: u64,
    /// The attributes of which some texts name a value that nothing takes the place of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub naming: Vec<NamingTexts>,
    /// Texts cut to the model's length limit.
    pub truncated: u64,
    /// Texts that are not English: no term is looked for in them.
    pub foreign: u64,
    /// Texts without a word.
    pub blank: u64,
    /// Rows of the table left out because something is wrong with them.
    #[serde(skip_serializing_if = "BadRows::is_empty")]
    pub bad_rows: BadRows,
}

/// Mean validity of what was found, against the seeds.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ValiditySummary {
    /// Pairs of the global phase.
    pub global: ValidityMeans,
    /// Pairs of the local phase.
    pub local: ValidityMeans,
}

/// The part of the summary of an audit that only texts have.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TextDetails {
    /// SHA-256 of the texts file.
    pub texts_sha256: String,
    /// Counts of the texts by what became of them.
    pub texts: TextCounts,
    /// Search strategy of the local phase.
    pub local_strategy: StrategyName,
    /// Counts of the protected terms: how many, and which the model cannot tell apart.
    pub terms: TermCounts,
    /// Values that none of the texts name.
    pub values: TextValues,
    /// The effects of exchanges on the texts as they are.
    pub unmodified: Exchanged,
    /// The notes taken of the pairs.
    #[serde(flatten)]
    pub pairs: TextTally,
}

/// The notes taken of pairs of texts.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TextTally {
    /// Different texts that pairs were made of.
    pub sources: u64,
    #[serde(skip)]
    from: HashSet<u64>,
    /// Seeds that are discriminatory as they are.
    pub raw_discriminatory: u64,
    /// Validity of the found texts.
    pub validity: ValiditySummary,
}

/// The texts x and x' of a pair, and the difference between them, with the token where it stands in
/// x.
type Sides = ([String; 2], Option<(Change, u32)>);

impl<'m> TextCase<'m> {
    /// The case of `parts`, searched as `specification` says, with the texts whose positions `keep`
    /// takes, as if there were no others.
    ///
    /// # Errors
    /// When none of them holds a protected term, or the model cannot read or answer them.
    pub fn new(
        specification: &AuditSpecification,
        parts: TextParts<'m, '_>,
        keep: &dyn Fn(usize) -> bool,
        device: &ComputeDevice,
    ) -> Result<TextCase<'m>, AuditError> {
        let (texts, domain) = Texts::new(specification, parts, keep)?;
        TextCase::begun((Arc::new(texts), domain), specification, device)
    }

    /// Position in the file, from 1, of each seed's text.
    pub fn source_rows(&self) -> &[u64] {
        &self.source_rows
    }

    /// All texts, in the order in which shares are estimated of them.
    fn in_order(&self, seed: u64) -> Vec<u32> {
        let count = self.domain.sources().len() as u32;
        permutation(seed, Purpose::UniformInput, 0, count)
    }

    /// Judges validity by the sentence encoder, where there is one.
    fn with_judge<R>(&self, work: impl FnOnce(&Judge<'_>) -> R) -> R {
        match &self.texts.encoder {
            None => work(&Judge::new(self.texts.subject.reader(), None)),
            Some(encoder) => {
                let embed = |text: &str| encoder.embed(text);
                work(&Judge::new(
                    self.texts.subject.reader(),
                    Some(&embed as Embed<'_>),
                ))
            }
        }
    }

    /// The measure of fluency by `model`, with the `least` share that a text may keep.
    fn fluency<'a>(&'a self, model: &'a FluencyModel, least: f32) -> Fluency<'a> {
        Fluency {
            model,
            reader: self.texts.subject.reader(),
            seeds: &self.seeds,
            least,
        }
    }

    /// The limits to which `options` let a text be changed, by `judge`.
    fn limits<'a>(&'a self, options: &TextSpecification, judge: &'a Judge<'_>) -> Limits<'a> {
        let fluency = options.least_fluency().zip(self.fluency_model.as_ref());
        let least = options.min_similarity;
        Limits {
            seeds: &self.seed_ids,
            max_changed: options.max_changed(),
            min_fluency: fluency.map(|(least, model)| self.fluency(model, least)),
            min_similarity: least.map(|least| (least, judge as &dyn Similarity)),
        }
    }

    /// The texts x and x', and the difference between them: the value and the token where it stands
    /// in x.
    fn sides(&self, pair: &Pair<'_>) -> Result<Sides, AuditError> {
        let seed = &self.seeds[pair.seed as usize];
        let text = text_of(pair.row);
        let x = render(self.texts.subject.reader(), seed, text, None)?;
        let Some((site, exchange)) = self.domain.exchange(pair.row, pair.variant as usize) else {
            return Ok(([x.clone(), x], None));
        };
        let other = render(self.texts.subject.reader(), seed, text, Some(exchange))?;
        let change = Change {
            attribute: self.texts.protected.attributes()[site.attribute].clone(),
            from: site.from.clone(),
            to: exchange.to.clone(),
        };
        let position = exchange.edits.first().map_or(0, |edit| edit.tokens.start);
        Ok(([x, other], Some((change, position as u32))))
    }

    /// A pair, rendered and judged.
    fn judged<'p>(&self, pair: Pair<'p>, judge: &Judge<'_>) -> Result<JudgedPair<'p>, AuditError> {
        let seed = &self.seeds[pair.seed as usize];
        let text = text_of(pair.row);
        let ([x, other], change) = self.sides(&pair)?;
        let (change, position) = change.unzip();
        let tokens = seed.ids.iter().zip(text).enumerate();
        let changed: Vec<String> = tokens
            .filter(|(_, (from, to))| from != to)
            .map(|(position, (_, to))| {
                let by = words(self.texts.subject.reader(), &[*to]);
                format!("{position}: {} -> {by}", seed.words[position])
            })
            .collect();
        Ok(JudgedPair {
            validity: judge.judge(seed, text)?,
            pair,
            x,
            other,
            change: change.unwrap_or_default(),
            position: position.unwrap_or_default(),
            changed: changed.join("; "),
        })
    }
}

impl<'m> Modality for TextCase<'m> {
    const NAME: ModalityName = ModalityName::Text;
    type Domain = TextDomain;
    type Tally = TextTally;
    type Details = TextDetails;
    type Witness = TextWitness;

    fn open(
        specification: &AuditSpecification,
        device: &ComputeDevice,
    ) -> Result<TextCase<'m>, AuditError> {
        open::open(specification, None, device)
    }

    fn sha256(&self) -> &BTreeMap<String, String> {
        &self.texts.sha256
    }

    fn protected(&self) -> &[String] {
        self.texts.protected.attributes()
    }

    fn classes(&self) -> &[String] {
        &self.texts.classes
    }

    fn favourable(&self) -> &str {
        let classes = self.texts.subject.classes();
        classes
            .get(self.texts.favourable)
            .map_or("", String::as_str)
    }

    fn model(&self) -> &ModelUnderTest<'_> {
        &self.searched
    }

    fn domain(&self) -> &TextDomain {
        &self.domain
    }

    fn find_space(&self) -> Box<dyn FindSpace + '_> {
        let reader = self.texts.subject.reader();
        let clusters = || DataClusters::of_texts(&self.domain, reader);
        let model = self.fluency_model.as_ref();
        let sources = self.seed_sources.iter().enumerate();
        Box::new(TextFinds {
            domain: &self.domain,
            reader,
            clusters: self.texts.clusters.get_or_init(clusters),
            fluency: model.map(|model| self.fluency(model, 0.0)),
            seeds: sources
                .map(|(seed, &source)| (source as i32, seed))
                .collect(),
        })
    }

    fn begun_anew(
        &self,
        specification: &AuditSpecification,
        device: &ComputeDevice,
    ) -> Result<Option<TextCase<'m>>, AuditError> {
        let texts = (Arc::clone(&self.texts), self.texts.domain()?);
        TextCase::begun(texts, specification, device).map(Some)
    }

    fn inputs_read(&self) -> InputsRead {
        InputsRead::Text {
            texts: self.texts.counts.clone(),
        }
    }

    fn ender(&self) -> Option<&KillHandle> {
        self.texts.subject.ender()
    }

    fn instability(&self) -> f32 {
        self.texts.subject.instability()
    }

    fn seeds(&self, _clusters: usize, _count: usize, _seed: u64) -> Vec<Vec<i32>> {
        let sources = self.seed_sources.iter();
        sources.map(|&source| self.domain.row(source)).collect()
    }

    fn probes(&self, most: usize, seed: u64) -> Vec<Vec<i32>> {
        let texts = self.domain.inputs();
        let some = drawn(seed, Purpose::LookedAt, 0, texts.len() as u32, most).into_iter();
        some.map(|at| self.domain.row(texts[at as usize])).collect()
    }

    fn with_strategy<W: WithStrategy>(
        &self,
        method: &Method<'_>,
        model: ModelAccess<'_>,
        work: W,
    ) -> Result<W::Output, AuditError> {
        let strategy = method.strategy;
        strategy.expect_fitting("strategy", ModalityName::Text)?;
        strategy.expect_usable("strategy", model)?;
        let options = method.text;
        let local = options.local_strategy(strategy);
        local.expect_usable("text.local_strategy", model)?;
        self.with_judge(|judge| {
            let strategy = TextStrategy {
                global: strategy,
                local,
                model,
                domain: &self.domain,
                steps: &self.steps,
                vectors: self.texts.subject.vectors(),
                objective: method.search.objective(ModalityName::Text),
                limits: self.limits(options, judge),
                rank: method.rank,
                seed: method.seed,
            };
            Ok(work.with(&strategy))
        })
    }

    /// Whether a row can be reached: steps replace free words of the seed, so that lengths stay.
    fn is_reached(&self, seed: u64, row: &[i32]) -> bool {
        let tokens = self.texts.subject.reader().table.vectors().len()
            / self.texts.subject.reader().dimension().max(1);
        let is_token = |&id: &i32| usize::try_from(id).is_ok_and(|id| id < tokens);
        let seed = usize::try_from(seed).ok();
        let source = seed.and_then(|seed| self.seed_sources.get(seed));
        source.is_some_and(|&source| row.first() == Some(&(source as i32)))
            && text_of(row).iter().all(is_token)
    }

    fn estimated_sets(
        &self,
        inputs: u64,
        seed: u64,
    ) -> Result<Vec<EstimatedSet<TextDomain>>, AuditError> {
        let order = self.in_order(seed);
        let most = usize::try_from(inputs).unwrap_or(usize::MAX);
        let sets = estimated_sets(self.texts.protected.attributes()).into_iter();
        sets.map(|protected| {
            let named = self.texts.protected.attributes().iter().enumerate();
            let named = named.filter(|(_, name)| protected.contains(name));
            let attributes: Vec<usize> = named.map(|(attribute, _)| attribute).collect();
            let sources = self.domain.sources();
            let can_vary = |text: &&u32| {
                let mut sites = sources[**text as usize].sites.iter();
                sites.any(|site| attributes.contains(&site.attribute))
            };
            let varying = order.iter().filter(can_vary).copied();
            let inputs: Vec<u32> = varying.take(most).collect();
            Ok(EstimatedSet {
                inputs: inputs.len() as u64,
                domain: self.domain.only(attributes, inputs),
                protected,
            })
        })
        .collect()
    }

    /// Counts all sets from one answer: a text of the joint set is asked about once, with all that
    /// may be exchanged in it. The other sets keep only those of their texts for which the joint
    /// one has no more room.
    fn count_sets(
        &self,
        sets: &[EstimatedSet<TextDomain>],
        items: &dyn Fn(u64) -> Range<u64>,
        seed: u64,
        observe: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
    ) -> Result<SetCounts, AuditError> {
        let Some((joint, alone)) = sets.split_last() else {
            return Ok(SetCounts::default());
        };
        let model = self.searched.judge();
        let texts = joint.domain.inputs();
        let is_joint: HashSet<u32> = texts.iter().copied().collect();
        // Both are in one order, and the joint set leaves none out that the other has.
        let rest = alone.iter().map(|set| {
            let shared = set.domain.inputs().iter();
            let shared = shared.take_while(|text| is_joint.contains(text)).count() as u64;
            let items = items(set.inputs - shared);
            shared + items.start..shared + items.end
        });
        let rest: Vec<Range<u64>> = rest.collect();
        let of_joint = items(joint.inputs);
        // As many as are asked about of the others, where these are not all.
        let most = match joint.inputs < self.domain.sources().len() as u64 {
            true => joint.inputs as usize,
            false => usize::MAX,
        };
        let Texts {
            kept,
            subject,
            decision,
            ..
        } = &*self.texts;
        let places = kept::in_order(kept, decision, (seed, most));
        let of_kept = items(places.len() as u64);
        let places = &places[of_kept.start as usize..of_kept.end as usize];
        let texts = &texts[of_joint.start as usize..of_joint.end as usize];
        let length = |items: &Range<u64>| items.end - items.start;
        let all = length(&of_joint) + rest.iter().map(length).sum::<u64>() + length(&of_kept);
        let _ = observe(0, all);
        let asked = (&joint.domain, texts);
        let mut exchanges = count_exchanges(model, asked, self.texts.favourable, &mut |done| {
            observe(done, all)
        })?;
        let [mut done, _] = exchanges.of_all();
        let mut of_sets = Vec::with_capacity(sets.len());
        for (attribute, (set, items)) in alone.iter().zip(rest).enumerate() {
            let [mut texts, mut flipped] = exchanges.of_attribute(attribute);
            // Whoever stops it at the texts that all sets share wants no others.
            if done >= length(&of_joint) {
                let before = done;
                let observe = &mut |done| observe(before + done, all);
                let (more, found) = count_discriminatory(model, &set.domain, items, seed, observe)?;
                texts += more;
                flipped += found;
                done += more;
            }
            of_sets.push([texts, flipped]);
        }
        of_sets.push(exchanges.of_all());
        if done + length(&of_kept) >= all {
            let before = done;
            let observe = &mut |done| observe(before + done, all);
            let asked = (subject, decision);
            let (decided, more) = kept::decide((kept, places), asked, observe)?;
            exchanges.set_kept(decided);
            done += more;
        }
        Ok(SetCounts {
            of_sets,
            exchanges: Some(exchanges),
            is_cut: done < all,
        })
    }

    fn shown(&self, pair: &Pair<'_>) -> ShownPair<'_> {
        // What the tokenizer made it can split again; were it not so, the words would still be
        // right.
        let spelled = |_| {
            let mut other = Vec::with_capacity(self.domain.width());
            self.domain
                .write_variant(pair.row, pair.variant as usize, &mut other);
            let sides =
                [pair.row, &other].map(|row| words(self.texts.subject.reader(), text_of(row)));
            (sides, None)
        };
        let (sides, change) = self.sides(pair).unwrap_or_else(spelled);
        ShownPair {
            sides: sides.map(|text| vec![("text", text)]),
            changed: change.into_iter().map(|(change, _)| change).collect(),
        }
    }

    fn columns(&self) -> ArrowSchema {
        let mut fields = vec![
            ("seed".to_owned(), DataType::UInt64),
            ("source_row".to_owned(), DataType::UInt64),
            ("phase".to_owned(), DataType::Utf8),
            ("step".to_owned(), DataType::UInt32),
        ];
        for name in ["text", "x", "other", "attribute", "from", "to"] {
            fields.push((name.to_owned(), DataType::Utf8));
        }
        fields.push(("position".to_owned(), DataType::UInt32));
        for name in ["changed", "label_x", "label_other"] {
            fields.push((name.to_owned(), DataType::Utf8));
        }
        for side in ["x", "other"] {
            let classes = self.texts.subject.classes().iter();
            fields.extend(classes.map(|class| (format!("p_{side}_{class}"), DataType::Float32)));
        }
        fields.push(("l0".to_owned(), DataType::UInt32));
        for name in ["l2", "jaccard", "bleu", "similarity"] {
            fields.push((name.to_owned(), DataType::Float32));
        }
        let field = |(name, data_type)| Field::new(name, data_type, false);
        ArrowSchema::new(fields.into_iter().map(field).collect::<Vec<_>>())
    }

    fn batch(
        &self,
        columns: &ArrowSchema,
        pairs: &[Pair<'_>],
        tally: &mut TextTally,
    ) -> Result<RecordBatch, AuditError> {
        let rows = self.with_judge(|judge| {
            let judged = pairs.par_iter().map(|pair| self.judged(*pair, judge));
            judged.collect::<Result<Vec<_>, _>>()
        })?;
        for row in &rows {
            let is_global = row.pair.phase == Phase::Global;
            let means = match is_global {
                true => &mut tally.validity.global,
                false => &mut tally.validity.local,
            };
            means.add(&row.validity);
            let is_seed = text_of(row.pair.row) == self.seed_ids[row.pair.seed as usize];
            tally.from.insert(row.pair.seed);
            tally.sources = tally.from.len() as u64;
            tally.raw_discriminatory += u64::from(is_global && is_seed);
        }
        let text = |of: &dyn Fn(&JudgedPair<'_>) -> String| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(rows.iter().map(of)))
        };
        let number = |of: &dyn Fn(&JudgedPair<'_>) -> f32| -> ArrayRef {
            Arc::new(Float32Array::from_iter_values(rows.iter().map(of)))
        };
        let count = |of: &dyn Fn(&JudgedPair<'_>) -> u32| -> ArrayRef {
            Arc::new(UInt32Array::from_iter_values(rows.iter().map(of)))
        };
        let class = |label: u32| self.texts.classes[label as usize].clone();
        let (seed, phase, step) = walk_columns(pairs);
        let source = pairs
            .iter()
            .map(|pair| self.source_rows[pair.seed as usize]);
        let mut arrays = vec![
            seed,
            Arc::new(UInt64Array::from_iter_values(source)),
            phase,
            step,
            text(&|row| self.seeds[row.pair.seed as usize].text.clone()),
            text(&|row| row.x.clone()),
            text(&|row| row.other.clone()),
            text(&|row| row.change.attribute.clone()),
            text(&|row| row.change.from.clone()),
            text(&|row| row.change.to.clone()),
            count(&|row| row.position),
            text(&|row| row.changed.clone()),
            text(&|row| class(row.pair.label)),
            text(&|row| class(row.pair.other_label)),
        ];
        for place in 0..self.texts.subject.classes().len() {
            arrays.push(number(&|row| softmax(row.pair.logits)[place]));
        }
        for place in 0..self.texts.subject.classes().len() {
            arrays.push(number(&|row| softmax(row.pair.other_logits)[place]));
        }
        arrays.push(count(&|row| row.validity.l0 as u32));
        arrays.push(number(&|row| row.validity.l2 as f32));
        arrays.push(number(&|row| row.validity.jaccard as f32));
        arrays.push(number(&|row| row.validity.bleu as f32));
        arrays.push(number(&|row| row.validity.similarity as f32));
        Ok(RecordBatch::try_new(Arc::new(columns.clone()), arrays)?)
    }

    fn details(
        &self,
        specification: &AuditSpecification,
        tally: TextTally,
        exchanges: Option<&ExchangeCounts>,
    ) -> TextDetails {
        let strategy = specification.strategy();
        let exchanged = |counts| {
            let protected = &self.texts.protected;
            let named = (protected.attributes(), protected.values());
            let decisions = (self.favourable(), &self.texts.classes[..]);
            let mut exchanged = Exchanged::new(counts, named, decisions);
            exchanged.moves.is_favourable_given = specification.population.favourable.is_some();
            if let Decision::Gap(gap) = &self.texts.decision {
                exchanged.moves.gap = Some(gap.most);
            }
            exchanged
        };
        TextDetails {
            unmodified: exchanges.map(exchanged).unwrap_or_default(),
            texts_sha256: self.texts.sha256.get("data").cloned().unwrap_or_default(),
            texts: self.texts.counts.clone(),
            local_strategy: specification.text.local_strategy(strategy),
            terms: self.texts.protected.counts().clone(),
            values: self.texts.values.clone(),
            pairs: tally,
        }
    }

    fn witness(
        specification: &AuditSpecification,
        model: Option<&Path>,
        samples: &Path,
    ) -> Result<TextWitness, AuditError> {
        TextWitness::open(specification, model, samples)
    }
}

/// One pair, rendered and judged.
struct JudgedPair<'p> {
    pair: Pair<'p>,
    x: String,
    other: String,
    change: Change,
    position: u32,
    changed: String,
    validity: Validity,
}
