//! Every measure of texts against what its definition says, counted the long way.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use rand::RngExt;

use super::*;
use crate::domain::Domain;
use crate::finds::{Finds, FindsSummary};
use crate::pairs::{Pair, Phase};
use crate::text::fluency::ngrams::NgramFluency;
use crate::text::source::Source;
use crate::text::terms::{Term, Terms};
use probity_data::table::Table;
use probity_nn::text_reader::EncodedText;
use probity_run::stream::{Purpose, stream};
use probity_text::embeddings::EmbeddingTable;
use probity_text::frequencies::WordFrequencies;
use probity_text::ngrams::NgramModel;
use probity_text::tokenizer::Tokenizer;
use probity_text::validity::{SentenceEmbedder, token_edits};

const WORDS: i32 = 40;
const DIMENSION: usize = 3;

/// Texts of words; the first two words of the vocabulary are protected and take each other's place.
struct Texts {
    reader: TextReader,
    sources: Vec<Vec<i32>>,
    domain: TextDomain,
    ngrams: Arc<NgramModel>,
    seeds: Vec<EncodedText>,
}

fn texts(seed: u64, count: usize) -> Texts {
    let letter = |at: i32| char::from(b'a' + at as u8);
    let words = (0..WORDS).map(|word| format!("w{}{}", letter(word / 26), letter(word % 26)));
    let words: Vec<String> = words.collect();
    let mut draw = stream(seed, Purpose::UniformInput, 0, 0);
    let vectors = (0..WORDS as usize * DIMENSION).map(|_| draw.random_range(-3..=3) as f32);
    let vectors: Vec<f32> = vectors.collect();
    let names = || words.iter().map(String::as_str);
    let table = EmbeddingTable::new(names(), DIMENSION, vectors).unwrap();
    let sources = (0..count).map(|_| {
        let length = draw.random_range(3..13);
        let mut text: Vec<i32> = (0..length).map(|_| draw.random_range(0..WORDS)).collect();
        text[0] = draw.random_range(0..2);
        text
    });
    let sources: Vec<Vec<i32>> = sources.collect();
    let spelled = sources.iter().map(|text| {
        let words = text.iter().map(|&word| words[word as usize].as_str());
        words.collect()
    });
    let spelled: Vec<Vec<&str>> = spelled.collect();
    let frequencies = WordFrequencies::from_texts(spelled.iter().map(|text| text.iter().copied()));
    let reader = TextReader {
        max_length: 20,
        tokenizer: Tokenizer::new(names()).unwrap(),
        sentences: SentenceEmbedder::fit(&spelled, &table, frequencies),
        table: table.clone(),
    };
    let term = |tokens: i32, other: u32| Term {
        attribute: 0,
        value: tokens as u32,
        spelled: String::new(),
        tokens: vec![tokens],
        others: vec![other],
    };
    let terms = Terms::new(vec![term(0, 1), term(1, 0)]);
    let of = |text: &Vec<i32>| Source::new(text.clone(), terms.sites(text), Vec::new());
    let domain = TextDomain::from_sources(sources.iter().map(of).collect()).unwrap();
    let split = spelled.iter().map(|text| text.iter().copied());
    let ngrams = Arc::new(NgramModel::fit(split, 1).unwrap());
    let seeds = spelled.iter().map(|text| reader.encode(&text.join(" ")));
    Texts {
        seeds: seeds.collect::<Result<_, _>>().unwrap(),
        sources,
        domain,
        ngrams,
        reader,
    }
}

impl Texts {
    /// Rows of texts with at most four free words changed.
    fn finds(&self, seed: u64, count: usize) -> Vec<Vec<i32>> {
        let mut draw = stream(seed, Purpose::UniformInput, 1, 0);
        let mut find = || {
            // Some texts are found in more than others.
            let most = draw.random_range(1..=self.sources.len());
            let source = draw.random_range(0..most);
            let mut row = self.domain.row(source as u32);
            for _ in 0..draw.random_range(0..=4) {
                let at = draw.random_range(0..self.sources[source].len());
                if self.sources[source][at] > 1 {
                    row[1 + at] = draw.random_range(2..WORDS);
                }
            }
            row
        };
        (0..count).map(|_| find()).collect()
    }

    fn measured(&self, rows: &[Vec<i32>], clusters: &DataClusters) -> FindsSummary {
        let model = NgramFluency::new(Arc::clone(&self.ngrams), &self.reader, &self.seeds);
        let model = FluencyModel::Ngrams(Box::new(model));
        let space = TextFinds {
            domain: &self.domain,
            reader: &self.reader,
            clusters,
            fluency: Some(Fluency {
                model: &model,
                reader: &self.reader,
                seeds: &self.seeds,
                least: 0.0,
            }),
            seeds: (0..self.seeds.len())
                .map(|seed| (seed as i32, seed))
                .collect(),
        };
        let mut finds = Finds {
            space: Box::new(space),
            domain: &self.domain,
            seed: 3,
            below: None,
            individuals: HashSet::new(),
            reached: HashSet::new(),
            seeds: 8,
            rows: Vec::new(),
        };
        for row in rows {
            finds.add(&Pair {
                seed: row[0] as u64,
                phase: Phase::Local,
                step: 0,
                row,
                variant: 0,
                label: 0,
                other_label: 1,
                logits: &[],
                other_logits: &[],
            });
        }
        finds.measured(&[]).unwrap().0
    }

    /// The words of a row that are not protected.
    fn free(row: &[i32]) -> Vec<i32> {
        row[1..].iter().copied().filter(|&word| word > 1).collect()
    }

    fn point(&self, row: &[i32]) -> Vec<i32> {
        let words = Texts::free(row);
        let coordinate = |at: usize| {
            let of = |word: &i32| self.reader.table.vectors()[*word as usize * DIMENSION + at];
            let sum: f32 = words.iter().map(of).sum();
            (sum / words.len().max(1) as f32 * 1000.0).round() as i32
        };
        (0..DIMENSION).map(coordinate).collect()
    }

    fn kept(&self, row: &[i32]) -> f64 {
        let original = &self.sources[row[0] as usize];
        let changed = (0..original.len()).filter(|&at| original[at] != row[1 + at]);
        let changed: Vec<usize> = changed.collect();
        if changed.is_empty() {
            return 1.0;
        }
        if changed.windows(2).any(|two| two[1] - two[0] < 3) {
            return 0.0;
        }
        let spelled = |text: &[i32]| -> f64 {
            let words: Vec<&str> = text.iter().map(|&word| self.reader.word(word)).collect();
            self.ngrams.score(&words)
        };
        let change = spelled(&row[1..=original.len()]) - spelled(original);
        (change / changed.len() as f64).exp().min(1.0)
    }
}

fn count_of(words: &[i32]) -> HashMap<i32, i64> {
    let mut counts = HashMap::new();
    words
        .iter()
        .for_each(|&word| *counts.entry(word).or_default() += 1);
    counts
}

/// The words of the longer text that the other has not, as a share.
fn distance(a: &[i32], b: &[i32]) -> f64 {
    let (of_a, of_b) = (count_of(a), count_of(b));
    let shared: i64 = of_a
        .iter()
        .map(|(word, &count)| count.min(of_b.get(word).copied().unwrap_or(0)))
        .sum();
    let longer = a.len().max(b.len());
    (longer as f64 - shared as f64) / longer.max(1) as f64
}

#[test]
fn measures_of_texts_are_those_of_their_definitions() {
    for seed in 0..20 {
        let texts = texts(seed, 60);
        let clusters = DataClusters::of_texts(&texts.domain, &texts.reader);
        let rows = texts.finds(seed, 60);
        // Texts that differ in a protected word only are one individual: the first that is found.
        let mut seen = HashSet::new();
        let person = |row: &&Vec<i32>| {
            let masked = row[1..]
                .iter()
                .map(|&word| if word == 1 { 0 } else { word });
            seen.insert(masked.collect::<Vec<i32>>())
        };
        let kept: Vec<&Vec<i32>> = rows.iter().filter(person).collect();
        let summary = texts.measured(&rows, &clusters);
        assert_eq!(summary.individuals, kept.len() as u64);
        let cells: BTreeSet<i32> = kept.iter().map(|row| row[0]).collect();
        assert_eq!(summary.diversity.cells, cells.len() as u64);
        assert!(cells.len() > 5 && cells.len() < kept.len());

        let (mut sum, mut pairs) = (0.0, 0.0);
        for (place, row) in kept.iter().enumerate() {
            for other in &kept[..place] {
                let (a, b) = (Texts::free(row), Texts::free(other));
                let apart = distance(&a, &b);
                let edits = token_edits(&a, &b) as f64 / a.len().max(b.len()).max(1) as f64;
                assert!(apart <= edits + 1e-12, "{a:?} {b:?}");
                (sum, pairs) = (sum + apart, pairs + 1.0);
            }
        }
        let hamming = summary.diversity.hamming.unwrap();
        assert!((hamming - sum / pairs).abs() < 1e-12, "{hamming}");
        assert_eq!(summary.diversity.l1, None);

        let grades: f64 = kept.iter().map(|row| texts.kept(row)).sum();
        let plausibility = summary.diversity.plausibility.unwrap();
        let mean = grades / kept.len() as f64;
        assert!((plausibility - mean).abs() < 1e-6, "{plausibility} {mean}");
        assert!(mean > 0.1 && mean < 0.9, "{mean}");

        covers_clusters(&texts, &kept, &summary);
    }
}

/// Clusters again, from the clustering by itself.
fn covers_clusters(texts: &Texts, kept: &[&Vec<i32>], summary: &FindsSummary) {
    let of_data = (0..texts.sources.len() as u32).map(|text| texts.domain.row(text));
    let of_data: Vec<Vec<i32>> = of_data.map(|row| texts.point(&row)).collect();
    let table = Table::new(DIMENSION, of_data.concat(), Vec::new());
    let (assignment, centres) = crate::seeds::clusters(&table, 32, 0);
    let used: BTreeSet<u32> = assignment.into_iter().collect();
    assert_eq!(summary.data_clusters, used.len() as u64);
    let nearest = |point: &[i32]| -> (u32, f64) {
        let square = |centre: &[f64]| -> f64 {
            let apart = point.iter().zip(centre);
            apart.map(|(&a, b)| (f64::from(a) - b).powi(2)).sum()
        };
        let all = used.iter().map(|&at| (at, square(&centres[at as usize])));
        all.min_by(|(_, a), (_, b)| a.total_cmp(b)).unwrap()
    };
    let mut reach: HashMap<u32, f64> = HashMap::new();
    for point in &of_data {
        let (cluster, distance) = nearest(point);
        let reach = reach.entry(cluster).or_default();
        *reach = reach.max(distance);
    }
    let covered = kept.iter().filter_map(|row| {
        let (cluster, distance) = nearest(&texts.point(row));
        (distance <= reach[&cluster] + 1e-6).then_some(cluster)
    });
    let covered: BTreeSet<u32> = covered.collect();
    assert_eq!(summary.diversity.clusters, covered.len() as u64);
}

/// The texts without changes are as plausible as they were, and lie each in its own cell and
/// cluster.
#[test]
fn the_texts_themselves_lie_each_in_its_cell() {
    let texts = texts(7, 50);
    let clusters = DataClusters::of_texts(&texts.domain, &texts.reader);
    let rows: Vec<Vec<i32>> = (0..50).map(|text| texts.domain.row(text)).collect();
    let summary = texts.measured(&rows, &clusters);
    let keys = rows.iter().map(|row| texts.domain.individual_key(row));
    let people = keys.collect::<HashSet<u128>>().len() as u64;
    assert_eq!(
        (summary.individuals, summary.diversity.cells),
        (people, people)
    );
    assert_eq!(summary.diversity.plausibility, Some(1.0));
    assert_eq!(summary.diversity.clusters, summary.data_clusters);
}
