//! Merging shards: what is new among their finds, in the order of one machine.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

use serde::de::DeserializeOwned;

use super::part::{Head, INDIVIDUALS, KeptPair, Marked, PAIRS, ROUNDS, ROWS, Round, STARTS, Start};
use crate::audit::AuditError;
use crate::calls::CallCounts;
use crate::checkpoint::{Inputs, is_count};
use crate::distinct::MarkCounts;
use crate::domain::KEY_BITS;
use crate::estimate::Estimate;
use crate::modality::Modality;
use crate::pairs::{Pair, PairSource, Phase};
use crate::population::{People, PopulationSummary, Tally};
use crate::search::{PhaseCounts, SearchCounts};
use crate::shares::EstimatePart;
use crate::text::exchange_counts::ExchangeCounts;
use crate::trace::Trace;
use probity_run::run_directory::RunError;
use probity_run::shards::{Section, ShardFile, ShardFolder, Stage};

/// The shards of one stage after the other, and what each says of itself.
pub(super) struct Merge {
    shards: Vec<Found>,
    global: PhaseCounts,
    local: PhaseCounts,
    unconfirmed: u64,
    rows: MarkCounts,
    individuals: MarkCounts,
    trace: Trace,
}

/// A shard, and marks of its pairs that are new among all.
struct Found {
    file: ShardFile,
    phase: Phase,
    head: Head,
    new_rows: Bits,
    new_individuals: Bits,
}

/// A list of one bit for each pair.
struct Bits(Vec<u64>);

impl Bits {
    fn new(pairs: u64) -> Bits {
        Bits(vec![0; pairs.div_ceil(64) as usize])
    }

    fn set(&mut self, at: u64) {
        self.0[(at / 64) as usize] |= 1 << (at % 64);
    }

    fn is_set(&self, at: u64) -> bool {
        self.0[(at / 64) as usize] >> (at % 64) & 1 == 1
    }
}

/// Shards whose next items wait in an order.
struct Queue<T, K> {
    sections: Vec<Section<T>>,
    waiting: Vec<Option<T>>,
    heap: BinaryHeap<Reverse<(K, usize)>>,
}

impl<T: DeserializeOwned, K: Ord> Queue<T, K> {
    fn new(sections: Vec<Section<T>>, key: &dyn Fn(&T, usize) -> K) -> Result<Self, RunError> {
        let count = sections.len();
        let mut queue = Queue {
            sections,
            waiting: (0..count).map(|_| None).collect(),
            heap: BinaryHeap::new(),
        };
        for shard in 0..count {
            queue.advance(shard, key)?;
        }
        Ok(queue)
    }

    fn advance(&mut self, shard: usize, key: &dyn Fn(&T, usize) -> K) -> Result<(), RunError> {
        if let Some(item) = self.sections[shard].next().transpose()? {
            self.heap.push(Reverse((key(&item, shard), shard)));
            self.waiting[shard] = Some(item);
        }
        Ok(())
    }

    /// The next item of all, of equal ones that of the first shard; and the shard that it is of.
    fn pop(&mut self, key: &dyn Fn(&T, usize) -> K) -> Result<Option<(usize, T)>, RunError> {
        let Some(Reverse((_, shard))) = self.heap.pop() else {
            return Ok(None);
        };
        let item = self.waiting[shard].take();
        self.advance(shard, key)?;
        Ok(item.map(|item| (shard, item)))
    }

    /// The key of the next item.
    fn next_key(&self) -> Option<&K> {
        self.heap.peek().map(|Reverse((key, _))| key)
    }
}

impl Merge {
    /// Reads the `global` shards and the `local` ones through, and checks their content against
    /// `inputs` and `case`.
    ///
    /// # Errors
    /// When one cannot be read, or says what no shard of this audit says.
    pub(super) fn read<M: Modality>(
        case: &M,
        inputs: &Inputs<'_>,
        global: Vec<ShardFile>,
        local: Vec<ShardFile>,
    ) -> Result<Merge, AuditError> {
        let of = |phase| move |file: ShardFile| Found::read(file, phase);
        let mut shards: Vec<Found> = global
            .into_iter()
            .map(of(Phase::Global))
            .chain(local.into_iter().map(of(Phase::Local)))
            .collect::<Result<_, RunError>>()?;
        for shard in &shards {
            shard.expect_pairs(case, inputs)?;
        }
        let rows = settle(&mut shards, ROWS, |shard, pair, _| shard.new_rows.set(pair))?;
        let mut global = rounds(&shards, Phase::Global)?;
        let mut local = rounds(&shards, Phase::Local)?;
        let individuals = settle(&mut shards, INDIVIDUALS, |shard, pair, round| {
            shard.new_individuals.set(pair);
            let rounds = match shard.phase {
                Phase::Global => &mut global,
                _ => &mut local,
            };
            if let Some(round) = rounds.get_mut(round as usize) {
                round.found += 1;
            }
        })?;
        if local.is_empty() {
            // That in which one machine sees that there is nothing to begin at.
            local.push(Done::default());
        }
        let sum = |phase| {
            let counts = shards.iter().filter(|shard| shard.phase == phase);
            counts.fold(PhaseCounts::default(), |sum, shard| {
                sum.with(&shard.head.counts)
            })
        };
        let (global_counts, mut local_counts) = (sum(Phase::Global), sum(Phase::Local));
        let mut trace = Trace::default();
        let (mut calls, mut found) = (CallCounts::default(), 0);
        for round in global.iter().chain(&local) {
            calls.rows = calls.rows.saturating_add(round.rows);
            calls.gradients = calls.gradients.saturating_add(round.gradients);
            found += round.found;
            trace.note(calls, found);
        }
        let unconfirmed = shards.iter().map(|shard| shard.head.unconfirmed);
        let unconfirmed = unconfirmed.fold(0, u64::saturating_add);
        let mut merge = Merge {
            global: global_counts,
            local: PhaseCounts::default(),
            unconfirmed,
            rows,
            individuals,
            trace,
            shards,
        };
        local_counts.starts = merge.starts();
        merge.local = local_counts;
        Ok(merge)
    }

    /// The number of individuals that the global phase found, at which the local phase begins.
    pub(super) fn starts(&self) -> u64 {
        let global = self
            .shards
            .iter()
            .filter(|shard| shard.phase == Phase::Global);
        let bits = global.flat_map(|shard| &shard.new_individuals.0);
        bits.map(|bits| u64::from(bits.count_ones())).sum()
    }

    /// The counts of the work done.
    pub(super) fn counts(&self) -> SearchCounts<'_> {
        SearchCounts {
            global: &self.global,
            local: &self.local,
            individuals: &self.individuals,
            rows: &self.rows,
            unconfirmed: self.unconfirmed,
            trace: &self.trace,
        }
    }

    /// The estimates of all shards together.
    ///
    /// # Errors
    /// When shards estimate other things.
    pub(super) fn estimates(&self) -> Result<Vec<Estimate>, AuditError> {
        let global = self
            .shards
            .iter()
            .filter(|shard| shard.phase == Phase::Global);
        let parts = global.map(|shard| shard.head.estimates.clone());
        match (summed(parts), self.shards.first()) {
            (Some(estimates), _) => Ok(estimates),
            (None, Some(first)) => {
                let problem = "it estimates something else than other shards";
                Err(first.file.refuse(problem).into())
            }
            (None, None) => Ok(Vec::new()),
        }
    }

    /// The effects of exchanges on the texts of all shards, which the `estimates` are of; none of
    /// rows.
    ///
    /// # Errors
    /// When shards counted other texts.
    pub(super) fn exchanges(
        &self,
        estimates: &[Estimate],
    ) -> Result<Option<ExchangeCounts>, AuditError> {
        let global = self
            .shards
            .iter()
            .filter(|shard| shard.phase == Phase::Global);
        let mut parts = global.map(|shard| (&shard.file, shard.head.exchanges.clone()));
        let Some((first, mut sum)) = parts.next() else {
            return Ok(None);
        };
        let refuse = |file: &ShardFile| file.refuse("it counts other exchanges than other shards");
        for (file, part) in parts {
            sum = match (sum, part) {
                (None, None) => None,
                (Some(sum), Some(part)) => Some(sum.and(part).ok_or_else(|| refuse(file))?),
                _ => return Err(refuse(file).into()),
            };
        }
        let joint = estimates.last();
        let is_joint = |sum: &ExchangeCounts| {
            joint.is_some_and(|joint| sum.is_of(joint.sampled, joint.discriminatory))
        };
        match sum {
            Some(sum) if !is_joint(&sum) => Err(refuse(first).into()),
            sum => Ok(sum),
        }
    }

    /// The result of all shards together about `people`.
    ///
    /// # Errors
    /// When shards counted others, or not all of them.
    pub(super) fn population(&self, people: &People<'_>) -> Result<PopulationSummary, AuditError> {
        let mut sum = Tally::new(people);
        for shard in self
            .shards
            .iter()
            .filter(|shard| shard.phase == Phase::Global)
        {
            let part = shard.head.population.as_ref();
            sum = part.and_then(|part| sum.and(part)).ok_or_else(|| {
                let problem = "it counts other rows of the data than other shards";
                shard.file.refuse(problem)
            })?;
        }
        match self.shards.first() {
            Some(first) if !sum.is_of(people) => {
                let problem = "the rows of the data that shards counted do not add up";
                Err(first.file.refuse(problem).into())
            }
            _ => Ok(PopulationSummary::new(people, &sum)),
        }
    }

    /// Writes `count` starts, all or none, in the order of one machine, as the file `name`.
    pub(super) fn write_starts(
        &self,
        folder: &ShardFolder,
        name: Stage,
        count: u64,
    ) -> Result<(), AuditError> {
        let key = |start: &Start, _: usize| start.found.0;
        let sections = self.shards.iter().map(|shard| shard.file.section(STARTS));
        let mut queue = Queue::new(sections.collect(), &key)?;
        let mut next = || -> Result<Option<Start>, RunError> {
            loop {
                let Some((shard, start)) = queue.pop(&key)? else {
                    return Ok(None);
                };
                let shard = &self.shards[shard];
                if start.found.1 >= shard.head.pairs {
                    return Err(shard.file.refuse("a start is none of its pairs"));
                }
                if shard.new_individuals.is_set(start.found.1) {
                    return Ok(Some(start));
                }
            }
        };
        let mut starts = std::iter::from_fn(|| next().map_err(io::Error::other).transpose())
            .take(count as usize);
        Ok(folder.write_merged(name, &count, |writer| writer.fallible_section(&mut starts))?)
    }
}

/// The pairs whose rows are new, in the order of one machine.
impl PairSource for Merge {
    fn blocks(
        &self,
        size: usize,
        each: &mut dyn FnMut(&[Pair<'_>]) -> io::Result<()>,
    ) -> io::Result<()> {
        let phases: Vec<bool> = self
            .shards
            .iter()
            .map(|shard| shard.phase != Phase::Global)
            .collect();
        let key = |pair: &KeptPair, shard: usize| (phases[shard], pair.step);
        let sections = self.shards.iter().map(|shard| shard.file.section(PAIRS));
        let mut queue = Queue::new(sections.collect(), &key).map_err(io::Error::other)?;
        let mut next = vec![0_u64; self.shards.len()];
        let mut block: Vec<(Phase, KeptPair)> = Vec::new();
        let mut give = |block: &mut Vec<(Phase, KeptPair)>| {
            let pairs: Vec<Pair<'_>> = block
                .iter()
                .map(|(phase, pair)| pair.pair(*phase))
                .collect();
            each(&pairs)?;
            block.clear();
            io::Result::Ok(())
        };
        while let Some((shard, pair)) = queue.pop(&key).map_err(io::Error::other)? {
            let number = next[shard];
            next[shard] += 1;
            if self.shards[shard].new_rows.is_set(number) {
                block.push((self.shards[shard].phase, pair));
            }
            if block.len() == size {
                give(&mut block)?;
            }
        }
        match block.is_empty() {
            true => Ok(()),
            false => give(&mut block),
        }
    }
}

impl Found {
    fn read(file: ShardFile, phase: Phase) -> Result<Found, RunError> {
        let head: Head = file.head()?;
        // A pair takes more than a byte: no more memory is asked for than the file gives reason to.
        if head.pairs > file.section_bytes(PAIRS) {
            return Err(file.refuse("it has fewer pairs than it says"));
        }
        if !is_count(&head.counts) || head.unconfirmed >= 1 << 62 {
            return Err(file.refuse("a count is out of range"));
        }
        Ok(Found {
            new_rows: Bits::new(head.pairs),
            new_individuals: Bits::new(head.pairs),
            file,
            phase,
            head,
        })
    }

    /// Checks that the pairs of the shard are pairs of this audit, as many as it says, in the order
    /// of their rounds.
    fn expect_pairs<M: Modality>(&self, case: &M, inputs: &Inputs<'_>) -> Result<(), RunError> {
        let (mut count, mut round) = (0, 0);
        for pair in self.file.section::<KeptPair>(PAIRS) {
            let pair = pair?;
            let shown = pair.pair(self.phase);
            let fits = inputs.expect_pair(&shown);
            fits.map_err(|problem| self.file.refuse(&problem))?;
            if !case.is_reached(pair.seed, shown.row) {
                return Err(self.file.refuse("a pair does not come from its seed"));
            }
            if pair.step < round {
                return Err(self.file.refuse("its pairs are not in order"));
            }
            round = pair.step;
            count += 1;
        }
        match count == self.head.pairs {
            true => Ok(()),
            false => Err(self.file.refuse("it has not as many pairs as it says")),
        }
    }
}

/// Counts the keys in `section` of all shards, each once with its marks of all of them. `first` is
/// told of the pair in which each was first found discriminatory: its shard, its number, its round.
fn settle(
    shards: &mut [Found],
    section: usize,
    mut first: impl FnMut(&mut Found, u64, u32),
) -> Result<MarkCounts, RunError> {
    let key = |marked: &Marked, _: usize| marked.key;
    let sections = shards.iter().map(|shard| shard.file.section(section));
    let mut queue = Queue::new(sections.collect(), &key)?;
    let mut counts = MarkCounts::default();
    let mut before = None;
    while let Some(&key_of_all) = queue.next_key() {
        let (mut marks, mut of) = (0, None);
        // Local shards come after all global ones, so the order of shards is that of phases.
        let mut found: Option<((bool, u32), usize, u64)> = None;
        while queue.next_key() == Some(&key_of_all) {
            let Some((at, marked)) = queue.pop(&key)? else {
                break;
            };
            let shard = &shards[at];
            of = Some(at);
            if marked.key >> KEY_BITS != 0 || marked.marks == 0 || marked.marks > 15 {
                return Err(shard.file.refuse("a key is none"));
            }
            marks |= marked.marks;
            let Some((round, pair)) = marked.found else {
                continue;
            };
            if pair >= shard.head.pairs {
                return Err(shard.file.refuse("a key is of none of its pairs"));
            }
            let when = (shard.phase != Phase::Global, round);
            if found.as_ref().is_none_or(|(first, ..)| when < *first) {
                found = Some((when, at, pair));
            }
        }
        if let Some(at) = of.filter(|_| before.is_some_and(|before| before >= key_of_all)) {
            return Err(shards[at].file.refuse("its keys are not in order"));
        }
        before = Some(key_of_all);
        counts.add_key(marks);
        if let Some(((_, round), at, pair)) = found {
            first(&mut shards[at], pair, round);
        }
    }
    Ok(counts)
}

/// The counts of one round in all shards.
#[derive(Debug, Clone, Copy, Default)]
struct Done {
    rows: u64,
    gradients: u64,
    found: u64,
}

/// The rounds of `phase`, summed over the shards; a shard that ended before adds nothing.
fn rounds(shards: &[Found], phase: Phase) -> Result<Vec<Done>, RunError> {
    let mut rounds: Vec<Done> = Vec::new();
    for shard in shards.iter().filter(|shard| shard.phase == phase) {
        let mut before: Round = (0, 0);
        for (number, round) in shard.file.section::<Round>(ROUNDS).enumerate() {
            let round = round?;
            let done = (round.0.checked_sub(before.0), round.1.checked_sub(before.1));
            let (Some(rows), Some(gradients)) = done else {
                return Err(shard.file.refuse("its calls become fewer"));
            };
            if rounds.len() <= number {
                rounds.push(Done::default());
            }
            rounds[number].rows = rounds[number].rows.saturating_add(rows);
            let sum = rounds[number].gradients.saturating_add(gradients);
            rounds[number].gradients = sum;
            before = round;
        }
        let counts = &shard.head.counts;
        if before != (counts.model_rows, counts.model_gradients) {
            return Err(shard.file.refuse("its calls do not add up"));
        }
    }
    Ok(rounds)
}

/// The estimates that shards counted parts of.
fn summed(parts: impl Iterator<Item = Vec<EstimatePart>>) -> Option<Vec<Estimate>> {
    let mut sums: Option<Vec<EstimatePart>> = None;
    for part in parts {
        let Some(sums) = &mut sums else {
            sums = Some(part);
            continue;
        };
        if sums.len() != part.len() {
            return None;
        }
        for (sum, (names, done, found)) in sums.iter_mut().zip(part) {
            if sum.0 != names {
                return None;
            }
            sum.1 = sum.1.checked_add(done)?;
            sum.2 = sum.2.checked_add(found)?;
        }
    }
    let sums = sums.unwrap_or_default().into_iter();
    if sums.as_slice().iter().any(|(_, done, found)| found > done) {
        return None;
    }
    Some(
        sums.map(|(names, done, found)| Estimate::new(names, done, found))
            .collect(),
    )
}
