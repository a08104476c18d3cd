//! A proof, checked by other means than those that made it.
//!
//! * *The partition.* The leaves in the file are halves of halves of the domain: they are put together
//!   again from the file alone. So none overlaps another, none is missing, and their points, counted
//!   anew, are those of the domain; what is proved of them, and of the boxes in the file that leaves
//!   are parts of, comes to what the summary says.
//! * *The boxes.* Boxes drawn by their weight, leaves and the larger ones apart, are decided anew, and
//!   may not claim more than that gives. That the bounds are true is checked by other means: at points
//!   of the box they are held against the leads that plain loops in f64 give, and the points that all
//!   combinations decide alike are counted by asking the network itself: so few of a number of points
//!   are fair or discriminatory with probability 10⁻⁹ at most, if what the file says is true.
//! * *The pairs.* Every pair is asked about again, as those of an audit are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rand::RngExt;
use serde::Serialize;
use serde_json::{Value, json};

use super::boxes::{BOXES, BoxColumns};
use super::count::Counter;
use super::decide::points;
use super::network::Ranges;
use super::partition::{Proved, Region};
use super::relaxation::Relaxation;
use super::run::{Proof, ProveError, ProveSpecification};
use super::summary::{ProvedBound, bounds, proved_share, verdict};
use crate::audit_error::AuditError;
use crate::check::{Wanted, check_until_flip};
use crate::domain::Domain;
use crate::modality::TableWitness;
use crate::samples::SamplesFormat;
use crate::statistics::clopper_pearson;
use crate::verify::{Verification, verify};
use probity_nn::Rows;
use probity_nn::fnn::Activation;
use probity_run::run_directory::{RunDirectory, SUMMARY};
use probity_run::specification::Specification;
use probity_run::stream::{Purpose, stream};

/// Largest number of leaves that are replayed, and of the boxes that they are parts of.
const REPLAYED: u64 = 200;

/// Number of points of a box at which it is replayed.
const POINTS: u64 = 256;

/// Number of combinations of protected values whose leads are computed at a point.
const COMBINATIONS: usize = 16;

/// The probability with which a true count may be taken for a false one.
const MISTAKE: f64 = 1e-9;

/// Largest number of problems that are told.
const TOLD: usize = 10;

/// The result of checking a proof.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ProofVerification {
    /// Boxes that the domain is cut into.
    pub boxes: u64,
    /// Whether the boxes are a partition of the domain and give the counts that the summary says, of what
    /// the run was asked for, and there are as many pairs as it says.
    pub adds_up: bool,
    /// Boxes that were replayed.
    pub replayed: u64,
    /// Replayed boxes that are not as the file says.
    pub refuted: u64,
    /// The result of checking the pairs.
    pub pairs: Verification,
    /// The first problems.
    pub problems: Vec<String>,
}

impl ProofVerification {
    /// Whether nothing is wrong.
    pub fn holds(&self) -> bool {
        self.adds_up && self.refuted == 0 && self.pairs.rejected == 0
    }

    fn problem(&mut self, problem: String) {
        if self.problems.len() < TOLD {
            self.problems.push(problem);
        }
    }
}

/// Verifies the proof in the run directory `run`, whose model is in `model` now if it has moved.
/// `progress` is told how many boxes are replayed.
///
/// # Errors
/// When the run is unfinished, its model is not the one that was proved, or a file cannot be read.
pub fn verify_proof(
    run: &Path,
    model: Option<&Path>,
    progress: &mut dyn FnMut(u64),
) -> Result<ProofVerification, ProveError> {
    let (directory, mut specification, record) =
        RunDirectory::open_specified::<ProveSpecification>(run)?;
    if !directory.file(SUMMARY).is_file() {
        return Err(AuditError::Unfinished {
            run: run.to_owned(),
            kind: ProveSpecification::KIND,
        }
        .into());
    }
    if let Some(model) = model {
        specification.model = PathBuf::from(model);
    }
    let specification = specification.check().map_err(AuditError::from)?;
    let proof = Proof::open_unless(specification, Some(&record), &|changed| {
        AuditError::OtherThanThen {
            role: changed.role.to_owned(),
            now: changed.now.to_owned(),
            then: changed.then.to_owned(),
        }
        .into()
    })?;
    let columns = BoxColumns {
        schema: &proof.model.schema,
        network: &proof.network,
    };
    let mut found = ProofVerification::default();
    let file = directory.unchanged(BOXES)?;
    let boxes = match columns.read(&file) {
        Ok(boxes) => boxes,
        Err(problem) => {
            found.problem(format!("{BOXES}: {problem}"));
            Vec::new()
        }
    };
    found.boxes = boxes.iter().filter(|region| region.is_leaf).count() as u64;
    let summary: Value = directory.read_summary()?;
    let mut claims = Vec::with_capacity(boxes.len());
    match adds_up(&proof, &boxes, &summary, &mut claims) {
        Ok(()) => found.adds_up = true,
        Err(problem) => found.problem(problem),
    }
    let (leaves, larger): (Vec<Region>, Vec<Region>) =
        claims.into_iter().partition(|claim| claim.is_leaf);
    for claims in [leaves, larger] {
        proof.replay(&claims, &mut found, progress)?;
    }
    let samples = directory.unchanged(SamplesFormat::Parquet.file_name())?;
    let witness = TableWitness::of_network(
        proof.model.schema.clone(),
        proof.model.network.clone(),
        &proof.specification().protected,
        record.sha256_of("model").to_owned(),
    )?;
    found.pairs = verify(&samples, &witness, &mut |_| {})?;
    let said = [&summary["witnesses"], &summary["search"]["pairs"]];
    let said: u64 = said.iter().filter_map(|pairs| pairs.as_u64()).sum();
    if said != found.pairs.pairs {
        found.adds_up = false;
        let there = found.pairs.pairs;
        found.problem(format!(
            "{SUMMARY} says {said} pairs (witnesses, and those of a search), and there are {there}"
        ));
    }
    Ok(found)
}

/// Checks that the leaves of `boxes` are a partition of the domain, and that the counts of all of
/// them give what `summary` says. `claims` are as of [`proved_of`].
///
/// # Errors
/// A message about what is wrong.
fn adds_up(
    proof: &Proof,
    boxes: &[Region],
    summary: &Value,
    claims: &mut Vec<Region>,
) -> Result<(), String> {
    let decider = proof.decider();
    let (mut all, mut leaves) = (0u128, 0);
    for region in boxes {
        let points = points(&region.ranges);
        let weight = decider.weight(&region.ranges, points);
        if weight != region.points {
            return Err(format!(
                "box {} has {weight} points, not {}",
                region.number, region.points
            ));
        }
        let known = region.fair.checked_add(region.discriminatory);
        if known.is_none_or(|known| known > region.points) {
            let number = region.number;
            return Err(format!("of box {number} more is proved than it has"));
        }
        if region.is_leaf {
            all = all.saturating_add(points);
            leaves += 1;
        }
    }
    let mut order: Vec<&Region> = boxes.iter().collect();
    let [fair, discriminatory] = proved_of(&mut order, &proof.network.domain(), claims)?;
    if Some(all.to_string().as_str()) != summary["points"].as_str() {
        return Err(format!(
            "the boxes have {all} points, {SUMMARY} says another number"
        ));
    }
    let proved = Proved {
        fair,
        discriminatory,
        boxes: leaves,
    };
    match derived(proof, proved).find(|(name, derived)| summary[name] != *derived) {
        None => Ok(()),
        Some((name, _)) => Err(format!(
            "the boxes do not add up to what {SUMMARY} says is {name}"
        )),
    }
}

/// The values that a summary derives from what is `proved` in all, by their names there.
fn derived(proof: &Proof, proved: Proved) -> impl Iterator<Item = (&'static str, Value)> {
    let (whole, is_weighted) = (proof.whole(), proof.is_weighted());
    let undecided = whole
        .saturating_sub(proved.fair)
        .saturating_sub(proved.discriminatory);
    let of = |count| json!(proved_share(count, whole, is_weighted));
    let specification = proof.specification();
    let declared = specification.fail_above.map(|bound| ProvedBound {
        bound,
        verdict: verdict(proved, whole, bound),
    });
    let within = match specification.within.is_empty() {
        true => Value::Null,
        false => json!(specification.within),
    };
    [
        ("model_sha256", json!(proof.model_sha256())),
        ("protected", json!(specification.protected)),
        ("combinations", json!(proof.network.combinations as u64)),
        ("within", within),
        ("is_weighted", json!(is_weighted)),
        ("fair", of(proved.fair)),
        ("discriminatory", of(proved.discriminatory)),
        ("undecided", of(undecided)),
        ("bounds", json!(bounds(proved, whole))),
        ("boxes", json!(proved.boxes)),
        ("fail_above", json!(declared)),
    ]
    .into_iter()
}

/// The number of fair and of discriminatory points of `region`, by the counts of `boxes`, whose
/// leaves are `region` cut into halves again and again. To `claims` comes what has to hold of each
/// box for that: of one with parts the counts that are more than theirs, and 0 in place of the
/// others.
///
/// # Errors
/// A message about what is wrong.
pub(super) fn proved_of(
    boxes: &mut [&Region],
    region: &Ranges,
    claims: &mut Vec<Region>,
) -> Result<[u128; 2], String> {
    // What is said of the region as one, if anything is, comes first.
    let mut said = 0;
    for at in 0..boxes.len() {
        if boxes[at].ranges == *region {
            boxes.swap(said, at);
            said += 1;
        }
    }
    let own = match &boxes[..said] {
        [] if boxes.is_empty() => return Err("a part of the domain is in no box".to_owned()),
        [] => None,
        [only] if !only.is_leaf && boxes.len() == 1 => {
            return Err(format!("the parts of box {} are missing", only.number));
        }
        [only] if only.is_leaf == (boxes.len() == 1) => Some(*only),
        [first, ..] => return Err(format!("box {} overlaps another", first.number)),
    };
    let parts = &mut boxes[said..];
    match (&*parts, own) {
        ([], Some(leaf)) => {
            claims.push(leaf.clone());
            return Ok([leaf.fair, leaf.discriminatory]);
        }
        ([only], _) => return Err(format!("box {} is not all of its part", only.number)),
        _ => {}
    }
    // Some attribute is cut in the middle by no box, since the region was cut there.
    let cut = |place: usize| {
        let [first, last] = region[place];
        let cut = first + (last - first) / 2;
        let straddles = |of: &&Region| of.ranges[place][0] <= cut && of.ranges[place][1] > cut;
        (first < last && !parts.iter().any(straddles)).then_some((place, cut))
    };
    let Some((place, cut)) = (0..region.len()).find_map(cut) else {
        return Err(format!("box {} overlaps another", parts[0].number));
    };
    let [first, last] = region[place];
    parts.sort_unstable_by_key(|of| of.ranges[place][0] > cut);
    let middle = parts.partition_point(|of| of.ranges[place][0] <= cut);
    let mut region = region.clone();
    let mut sums = [0u128; 2];
    let (below, above) = parts.split_at_mut(middle);
    for (range, part) in [([first, cut], below), ([cut + 1, last], above)] {
        region[place] = range;
        // Each is at most the points of a box; of all there are fewer than 2¹²¹.
        let proved = proved_of(part, &region, claims)?;
        sums = [0, 1].map(|kind| sums[kind].saturating_add(proved[kind]));
    }
    let Some(own) = own else {
        return Ok(sums);
    };
    let more = |said: u128, of_parts: u128| if said > of_parts { said } else { 0 };
    let claim = Region {
        fair: more(own.fair, sums[0]),
        discriminatory: more(own.discriminatory, sums[1]),
        ..own.clone()
    };
    if claim.fair == 0 && claim.discriminatory == 0 {
        return Err(format!("box {} says no more than its parts", own.number));
    }
    let proved = [own.fair.max(sums[0]), own.discriminatory.max(sums[1])];
    if proved[0].saturating_add(proved[1]) > own.points {
        let number = own.number;
        return Err(format!("of box {number} more is proved than it has"));
    }
    claims.push(claim);
    Ok(proved)
}

impl Proof {
    /// Replays some of `boxes`, drawn by their weight; all where there are few.
    fn replay(
        &self,
        boxes: &[Region],
        found: &mut ProofVerification,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ProveError> {
        let mut ends = Vec::with_capacity(boxes.len());
        let mut end = 0u128;
        for region in boxes {
            end = end.saturating_add(region.points);
            ends.push(end);
        }
        if end == 0 {
            return Ok(());
        }
        let drawn = (0..REPLAYED).map(|item| {
            let step = u64::MAX - u64::from(boxes[0].is_leaf);
            let at = stream(0, Purpose::Replay, item, step).random_range(0..end);
            ends.partition_point(|&end| end <= at)
        });
        let chosen: BTreeSet<usize> = match boxes.len() <= REPLAYED as usize {
            true => (0..boxes.len()).collect(),
            false => drawn.collect(),
        };
        for place in chosen {
            let region = &boxes[place];
            found.replayed += 1;
            if let Some(problem) = self.refutation(region)? {
                found.refuted += 1;
                found.problem(format!("box {}: {problem}", region.number));
            }
            progress(found.replayed);
        }
        Ok(())
    }

    /// The reason that speaks against `region`, if there is one.
    fn refutation(&self, region: &Region) -> Result<Option<String>, ProveError> {
        let again = self
            .decider()
            .decide(&region.ranges, &mut Counter::default())?;
        let slack = self.slack(region.points);
        for (name, stated, proved) in [
            ("fair", region.fair, again.fair),
            (
                "discriminatory",
                region.discriminatory,
                again.discriminatory,
            ),
        ] {
            if stated > proved.saturating_add(slack) {
                return Ok(Some(format!(
                    "{stated} points are said to be {name}, {proved} are proved to be"
                )));
            }
        }
        let drawing = self.drawing();
        let rows: Vec<Vec<i32>> = (0..POINTS)
            .map(|point| {
                let mut draw = stream(0, Purpose::Replay, u64::from(region.number), point);
                drawing.one(&region.ranges, &mut draw)
            })
            .collect();
        if let Some(problem) = self.false_bound(region, &rows) {
            return Ok(Some(problem));
        }
        let codes = rows.concat();
        let asked = Rows::new(&codes, self.domain.width());
        let checks = check_until_flip(
            &self.fnn,
            &self.domain,
            asked,
            &vec![0; rows.len()],
            Wanted::Logits,
        )?;
        let unfair = checks
            .iter()
            .filter(|check| !check.flips.is_empty())
            .count() as u64;
        for (name, count, stated) in [
            ("fair", POINTS - unfair, region.fair),
            ("discriminatory", unfair, region.discriminatory),
        ] {
            let [_, most] = clopper_pearson(count, POINTS, 2.0 * MISTAKE);
            let stated = super::summary::share(stated, region.points);
            if most < stated {
                return Ok(Some(format!(
                    "{count} of {POINTS} points are {name}, but {stated} of all are said to be"
                )));
            }
        }
        Ok(None)
    }

    /// The amount by which fewer of `points` may be proved on another machine: nothing, but where
    /// lines are drawn at values of tanh or exp, whose last bits differ between systems.
    fn slack(&self, points: u128) -> u128 {
        match self.model.network.activation {
            Activation::Relu => 0,
            Activation::Tanh | Activation::Sigmoid => points / 100,
        }
    }

    /// A bound of `region` that does not hold at one of `rows`, if there is one.
    fn false_bound(&self, region: &Region, rows: &[Vec<i32>]) -> Option<String> {
        let mut relaxation = Relaxation::new(&self.network, &region.ranges);
        for one in 1..self.network.classes() {
            for other in 0..one {
                let leads = relaxation.leads(one, other);
                for (place, row) in rows.iter().enumerate() {
                    // Of many combinations each point is held against some, all of them in turn.
                    let step = self.network.combinations.div_ceil(COMBINATIONS);
                    for combination in (place % step..self.network.combinations).step_by(step) {
                        let mut variant = Vec::with_capacity(row.len());
                        self.domain.write_variant(row, combination, &mut variant);
                        let logits = self.model.network.reference_logits(&variant);
                        let lead = logits[one] - logits[other];
                        let bounds = leads.at(&self.network, &region.ranges, row, combination);
                        for (least, lead) in bounds.into_iter().zip([lead, -lead]) {
                            if least > lead + leads.error {
                                return Some(format!("a bound of {least} on a lead of {lead}"));
                            }
                        }
                    }
                }
            }
        }
        None
    }
}
