//! Bytes of points and traces: little-endian, lengths first, nothing that is not part of the model.
//!
//! Equal models have equal bytes. What only saves work ([`super::refine`]) is left out, and so are the slots
//! of deleted rows.

use super::errors::KMeansError;
use super::points::{ONE, Points};
use super::round::Round;
use super::rule::{Parameters, Rule};
use super::trace::{Key, Trace};

/// Appends values to bytes.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// The bytes so far.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Appends one number.
    pub fn u64(&mut self, value: u64) {
        self.bytes.extend(value.to_le_bytes());
    }

    /// Appends one number.
    pub fn f64(&mut self, value: f64) {
        self.u64(value.to_bits());
    }

    /// Appends numbers, their count first.
    pub fn all<const N: usize, T: Copy>(
        &mut self,
        values: impl ExactSizeIterator<Item = T>,
        bytes: impl Fn(T) -> [u8; N],
    ) {
        self.u64(values.len() as u64);
        self.bytes.reserve(values.len() * N);
        for value in values {
            self.bytes.extend(bytes(value));
        }
    }
}

/// Takes values off bytes.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Reads from the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], KMeansError> {
        let (taken, rest) = self
            .bytes
            .split_at_checked(count)
            .ok_or_else(|| damaged("it ends too early"))?;
        self.bytes = rest;
        Ok(taken)
    }

    /// Takes one number.
    ///
    /// # Errors
    /// When the bytes end.
    pub fn u64(&mut self) -> Result<u64, KMeansError> {
        let taken = self.take(8)?;
        Ok(u64::from_le_bytes(std::array::from_fn(|at| taken[at])))
    }

    /// Takes one number.
    ///
    /// # Errors
    /// When the bytes end.
    pub fn f64(&mut self) -> Result<f64, KMeansError> {
        Ok(f64::from_bits(self.u64()?))
    }

    /// Takes a count that fits this machine.
    ///
    /// # Errors
    /// When the bytes end, or it does not fit.
    pub fn count(&mut self) -> Result<usize, KMeansError> {
        usize::try_from(self.u64()?).map_err(|_| damaged("a count is too large"))
    }

    /// Takes numbers, their count first.
    ///
    /// # Errors
    /// When the bytes end.
    pub fn all<const N: usize, T>(
        &mut self,
        value: impl Fn([u8; N]) -> T,
    ) -> Result<Vec<T>, KMeansError> {
        let count = self.count()?;
        let size = count
            .checked_mul(N)
            .ok_or_else(|| damaged("a count is too large"))?;
        let (values, _) = self.take(size)?.as_chunks::<N>();
        Ok(values.iter().map(|&bytes| value(bytes)).collect())
    }

    /// Checks that all bytes have been taken.
    ///
    /// # Errors
    /// When some are left.
    pub fn end(self) -> Result<(), KMeansError> {
        if self.bytes.is_empty() {
            Ok(())
        } else {
            Err(damaged("it goes on after its end"))
        }
    }
}

pub(crate) fn damaged(problem: &'static str) -> KMeansError {
    KMeansError::Damaged { problem }
}

impl Points {
    /// Appends the live rows.
    pub fn write(&self, to: &mut Writer) {
        to.u64(self.columns() as u64);
        let slots: Vec<usize> = self.live_slots().collect();
        to.all(slots.iter().map(|&slot| self.id(slot)), u64::to_le_bytes);
        to.u64((slots.len() * self.columns()) as u64);
        to.bytes.reserve(slots.len() * self.columns() * 4);
        for slot in slots {
            for &value in self.row(slot) {
                to.bytes.extend(value.to_le_bytes());
            }
        }
    }

    /// Takes rows.
    ///
    /// # Errors
    /// Bytes that [`Points::write`] does not write.
    pub fn read(from: &mut Reader<'_>) -> Result<Points, KMeansError> {
        let columns = from.count()?;
        let ids: Vec<u64> = from.all(u64::from_le_bytes)?;
        if !ids.is_sorted() {
            return Err(damaged("its rows are not in order"));
        }
        let rows = from.all(i32::from_le_bytes)?;
        Points::new(ids, rows, columns)
    }
}

impl Parameters {
    /// Appends the parameters.
    pub fn write(&self, to: &mut Writer) {
        to.u64(self.clusters as u64);
        to.u64(self.iterations as u64);
        match self.rule {
            Rule::Lloyd => to.u64(0),
            Rule::Quantized { epsilon, gamma } => {
                to.u64(1);
                to.f64(epsilon);
                to.f64(gamma);
            }
        }
    }

    /// Takes parameters.
    ///
    /// # Errors
    /// Bytes that [`Parameters::write`] does not write.
    pub fn read(from: &mut Reader<'_>) -> Result<Parameters, KMeansError> {
        Ok(Parameters {
            clusters: from.count()?,
            iterations: from.count()?,
            rule: match from.u64()? {
                0 => Rule::Lloyd,
                1 => Rule::Quantized {
                    epsilon: from.f64()?,
                    gamma: from.f64()?,
                },
                _ => return Err(damaged("its algorithm is unknown")),
            },
        })
    }
}

impl Trace {
    /// Appends everything but the points.
    pub fn write(&self, to: &mut Writer) {
        self.parameters.write(to);
        to.u64(self.key.seed);
        to.u64(self.key.node);
        to.all(self.seeds.iter().copied(), u64::to_le_bytes);
        to.u64(self.rounds.len() as u64);
        let slots: Vec<usize> = self.points.live_slots().collect();
        for round in &self.rounds {
            to.all(round.centroids.iter().copied(), i32::to_le_bytes);
            to.all(
                slots.iter().map(|&slot| round.clusters[slot]),
                u16::to_le_bytes,
            );
            to.all(round.counts.iter().copied(), u64::to_le_bytes);
            to.all(round.sums.iter().copied(), i64::to_le_bytes);
            to.bytes.extend(round.loss.to_le_bytes());
        }
    }

    /// The bytes of everything but the points: equal for equal models.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        self.write(&mut writer);
        writer.into_bytes()
    }

    /// Takes a trace of `points`, which must be those that it was written with.
    ///
    /// # Errors
    /// Bytes that [`Trace::write`] does not write, or of other points.
    pub fn read(from: &mut Reader<'_>, points: Points) -> Result<Trace, KMeansError> {
        let parameters = Parameters::read(from)?;
        let key = Key {
            seed: from.u64()?,
            node: from.u64()?,
        };
        let rule = parameters.check(points.columns(), key)?;
        let seeds: Vec<u64> = from.all(u64::from_le_bytes)?;
        if seeds.len() != rule.clusters || seeds.iter().any(|&id| points.slot(id).is_none()) {
            return Err(damaged("its seeds are not among its rows"));
        }
        let count = from.count()?;
        if count == 0 || count - 1 > rule.iterations {
            return Err(damaged("it has no round, or too many"));
        }
        let mut rounds = Vec::new();
        for _ in 0..count {
            rounds.push(read_round(from, &points, rule.clusters)?);
        }
        Ok(Trace::from_parts(
            parameters, key, rule, points, seeds, rounds,
        ))
    }
}

fn read_round(
    from: &mut Reader<'_>,
    points: &Points,
    clusters: usize,
) -> Result<Round, KMeansError> {
    let round = Round {
        centroids: from.all(i32::from_le_bytes)?,
        clusters: from.all(u16::from_le_bytes)?,
        counts: from.all(u64::from_le_bytes)?,
        sums: from.all(i64::from_le_bytes)?,
        loss: {
            let bytes = from.take(16)?;
            i128::from_le_bytes(std::array::from_fn(|at| bytes[at]))
        },
        margins: None,
    };
    let values = clusters * points.columns();
    let fits = round.centroids.len() == values
        && round.sums.len() == values
        && round.counts.len() == clusters
        && round.clusters.len() == points.slots()
        && round
            .centroids
            .iter()
            .all(|value| (0..=ONE).contains(value))
        && round
            .clusters
            .iter()
            .all(|&cluster| usize::from(cluster) < clusters)
        && round.counts.iter().sum::<u64>() == points.len() as u64;
    if fits {
        Ok(round)
    } else {
        Err(damaged("a round does not fit its rows"))
    }
}
