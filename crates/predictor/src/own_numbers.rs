//! Support for rows of the data that keep their own numbers.
//!
//! A search walks on bins, and a predictor is asked with one number for each
//! ([`super::values`]). Where an individual is one of the data's, it is asked with the numbers that
//! stand there: all of its variants with the same ones, outside the protected attributes, and in
//! these each value with its own where it has the bin of the data's row. Of several rows of the
//! data that have the same codes outside the protected attributes, the first one counts, so that
//! the numbers are a function of the codes, and two variants never differ in more than protected
//! attributes.

use std::collections::HashMap;
use std::sync::Arc;

use probity_data::table::{CellNumbers, Table};
use probity_nn::{Classifier, ModelError, Rows, predicted_class};
use serde::Serialize;

/// A classifier that takes numbers of a row's own in place of those that its bins stand for
/// ([`Classifier::logits_with`]).
pub trait Predictor: Classifier {
    /// Returns whether the predictor has an input for the attribute of this number; by default it
    /// has.
    fn takes(&self, _attribute: usize) -> bool {
        true
    }

    /// Returns what the model is given for words that enter by their places in the schema, attribute by
    /// attribute; by default none do.
    fn words_by_place(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns whether the model gets rows as a matrix, whose columns have no names; by default it gets
    /// names.
    fn takes_matrix(&self) -> bool {
        false
    }

    /// Returns the columns of this matrix in their order, where attributes are spread over some of them;
    /// by default none are.
    fn spread_matrix(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns whether the model's own decisions follow something else than the probabilities that it is
    /// asked for; by default they do not.
    fn decides_by_votes(&self) -> bool {
        false
    }

    /// Returns the classes that the model's outputs are taken for, one after the other, where it
    /// does not name them and they are words; by default it names them.
    fn classes_by_order(&self) -> Option<ClassesByOrder> {
        None
    }
}

/// Classes that a model does not name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassesByOrder {
    /// The classes, in the order of the outputs that they are taken for.
    pub classes: Vec<String>,
    /// The advice to whoever means another order.
    pub remedy: &'static str,
}

/// Splits `rows` and their `numbers`, of which each row has `columns`, into batches of `most` rows.
pub(super) fn batches<'a>(
    rows: Rows<'a>,
    numbers: &'a [f64],
    columns: usize,
    most: usize,
) -> impl Iterator<Item = (Rows<'a>, &'a [f64])> {
    let mut numbers = numbers.chunks((most * columns).max(1));
    let codes = rows.codes.chunks(most * rows.width.max(1));
    codes.map(move |codes| {
        let numbers = numbers.next().unwrap_or_default();
        (Rows::new(codes, rows.width), numbers)
    })
}

/// The numbers that the individuals of the data have, instead of those that their bins stand for.
#[derive(Debug)]
pub struct OwnNumbers {
    /// The numeric attributes.
    places: Vec<usize>,
    /// The attributes that tell individuals apart: all attributes that are not protected.
    telling: Vec<usize>,
    /// The codes of the telling attributes, and the place where the individual's numbers begin.
    individuals: HashMap<Box<[i32]>, usize>,
    /// The code and the number of each numeric attribute, individual by individual.
    cells: Vec<(i32, f64)>,
}

impl OwnNumbers {
    /// Collects the numbers of the rows of `table`, which are `numbers`, for a search that may
    /// change the attributes `protected`.
    pub fn new(table: &Table, numbers: &CellNumbers, protected: &[usize]) -> OwnNumbers {
        let mut own = OwnNumbers {
            places: numbers.places().to_vec(),
            telling: (0..table.width())
                .filter(|place| !protected.contains(place))
                .collect(),
            individuals: HashMap::new(),
            cells: Vec::new(),
        };
        own.add(table, numbers);
        own
    }

    /// Collects the numbers of the row `row` of `table` alone: everything that is made of the row
    /// keeps them, wherever it has the code of the row.
    pub fn of_row(table: &Table, numbers: &CellNumbers, row: usize) -> OwnNumbers {
        let codes = numbers.places().iter().map(|&place| table.row(row)[place]);
        OwnNumbers {
            places: numbers.places().to_vec(),
            telling: Vec::new(),
            individuals: HashMap::from([(Box::default(), 0)]),
            cells: codes.zip(numbers.row(row).iter().copied()).collect(),
        }
    }

    /// Adds the numbers of the rows of another `table` of the same schema, but for individuals that
    /// are known already.
    pub fn add(&mut self, table: &Table, numbers: &CellNumbers) {
        for at in 0..table.rows() {
            let row = table.row(at);
            let key = self.key(row);
            if !self.individuals.contains_key(&key) {
                self.individuals.insert(key, self.cells.len());
                let codes = self.places.iter().map(|&place| row[place]);
                self.cells
                    .extend(codes.zip(numbers.row(at).iter().copied()));
            }
        }
    }

    fn key(&self, row: &[i32]) -> Box<[i32]> {
        self.telling.iter().map(|&place| row[place]).collect()
    }

    /// Returns the numeric attributes.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// Appends the numbers of `row`, one for each numeric attribute; NaN where it is that which the
    /// code stands for.
    pub fn append(&self, row: &[i32], out: &mut Vec<f64>) {
        let Some(&start) = self.individuals.get(&self.key(row)) else {
            out.extend(self.places.iter().map(|_| f64::NAN));
            return;
        };
        let cells = self.places.iter().zip(&self.cells[start..]);
        out.extend(
            cells.map(|(&place, &(code, number))| match row[place] == code {
                true => number,
                false => f64::NAN,
            }),
        );
    }
}

/// A predictor that is asked about individuals of the data with their own numbers.
pub struct WithOwnNumbers {
    /// The predictor.
    pub predictor: Box<dyn Predictor>,
    /// The individuals' numbers.
    pub numbers: Arc<OwnNumbers>,
}

impl Classifier for WithOwnNumbers {
    fn width(&self) -> usize {
        self.predictor.width()
    }

    fn classes(&self) -> usize {
        self.predictor.classes()
    }

    fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
        let mut numbers = Vec::with_capacity(rows.len() * self.numbers.places.len());
        rows.iter()
            .for_each(|row| self.numbers.append(row, &mut numbers));
        self.predictor.logits_with(rows, &numbers)
    }

    fn logits_with(&self, rows: Rows<'_>, numbers: &[f64]) -> Result<Vec<f32>, ModelError> {
        match numbers.is_empty() {
            true => self.logits(rows),
            false => self.predictor.logits_with(rows, numbers),
        }
    }

    fn is_fallible(&self) -> bool {
        self.predictor.is_fallible()
    }
}

/// The change of decisions on rows of the data when their numbers are replaced by those that stand
/// for the bins.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct BinEffect {
    /// The number of rows that were asked about both ways.
    pub rows: u64,
    /// The number of rows that get another class.
    pub changed: u64,
    /// The share of rows that get another class, changed / rows.
    pub share: f64,
}

impl BinEffect {
    /// Asks `predictor` about the rows `chosen` of `table` in both ways: with their own numbers,
    /// which are `numbers`, and with those of the bins.
    ///
    /// # Errors
    /// When it cannot answer.
    pub fn measure(
        predictor: &dyn Predictor,
        (table, numbers): (&Table, &CellNumbers),
        chosen: impl Iterator<Item = usize> + Clone,
    ) -> Result<BinEffect, ModelError> {
        let codes: Vec<i32> = chosen
            .clone()
            .flat_map(|row| table.row(row))
            .copied()
            .collect();
        let own: Vec<f64> = chosen.flat_map(|row| numbers.row(row)).copied().collect();
        let rows = Rows::new(&codes, table.width());
        let [raw, binned] = [&own[..], &[]].map(|numbers| predictor.logits_with(rows, numbers));
        let (raw, binned) = (raw?, binned?);
        let classes = predictor.classes();
        let pairs = raw.chunks_exact(classes).zip(binned.chunks_exact(classes));
        let differs =
            |(raw, binned): &(&[f32], &[f32])| predicted_class(raw) != predicted_class(binned);
        let changed = pairs.filter(differs).count() as u64;
        let rows = rows.len() as u64;
        Ok(BinEffect {
            rows,
            changed,
            share: changed as f64 / rows.max(1) as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use probity_data::schema::Schema;
    use probity_data::table::Labels;
    use std::io::Write;

    const SCHEMA: &str = r#"
name = "people"
[label]
name = "class"
classes = ["no", "yes"]
[[attribute]]
name = "wage"
kind = "numeric"
bins = [0, 10, 20]
values = [4, 15]
[[attribute]]
name = "sex"
kind = "categorical"
levels = ["f", "m"]
[[attribute]]
name = "age"
kind = "numeric"
bins = [0, 40, 90]
values = [30, 60]
"#;

    /// A classifier that says yes where wage + age is at least 45.
    struct Sum;

    impl Classifier for Sum {
        fn width(&self) -> usize {
            3
        }
        fn classes(&self) -> usize {
            2
        }
        fn logits(&self, rows: Rows<'_>) -> Result<Vec<f32>, ModelError> {
            self.logits_with(rows, &[])
        }

        fn logits_with(&self, rows: Rows<'_>, numbers: &[f64]) -> Result<Vec<f32>, ModelError> {
            let wages = [4.0, 15.0];
            let ages = [30.0, 60.0];
            let pick = |own: f64, code: i32, values: [f64; 2]| match own.is_nan() {
                true => values[code as usize],
                false => own,
            };
            let logits = rows.iter().enumerate().flat_map(|(at, row)| {
                let own = numbers.get(2 * at..2 * at + 2).unwrap_or(&[f64::NAN; 2]);
                let sum = pick(own[0], row[0], wages) + pick(own[1], row[2], ages);
                [0.0, sum as f32 - 44.5]
            });
            Ok(logits.collect())
        }
    }

    impl Predictor for Sum {}

    fn read(text: &str) -> (Table, CellNumbers) {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let schema = Schema::from_toml(SCHEMA).unwrap();
        let read = Table::read_with_numbers(file.path(), &schema, Labels::Optional);
        read.unwrap().value
    }

    fn collect_numbers(own: &OwnNumbers, row: [i32; 3]) -> Vec<Option<f64>> {
        let mut numbers = Vec::new();
        own.append(&row, &mut numbers);
        let number = |number: f64| (!number.is_nan()).then_some(number);
        numbers.into_iter().map(number).collect()
    }

    #[test]
    fn individuals_of_the_data_keep_their_numbers_in_all_variants() {
        let (table, numbers) = read("wage,sex,age\n9.5,f,36\n1,m,20\n12,m,70\n9,m,44\n");
        // Sex is protected: the second row is the same individual as the first, by its codes.
        let own = OwnNumbers::new(&table, &numbers, &[1]);
        for sex in [0, 1] {
            assert_eq!(collect_numbers(&own, [0, sex, 0]), [Some(9.5), Some(36.0)]);
            assert_eq!(collect_numbers(&own, [1, sex, 1]), [Some(12.0), Some(70.0)]);
            assert_eq!(
                collect_numbers(&own, [1, sex, 0]),
                [None, None],
                "nobody of the data"
            );
        }
        // Sex and age are: a variant with another age has that one's number.
        let own = OwnNumbers::new(&table, &numbers, &[1, 2]);
        for sex in [0, 1] {
            assert_eq!(collect_numbers(&own, [0, sex, 0]), [Some(9.5), Some(36.0)]);
            assert_eq!(collect_numbers(&own, [0, sex, 1]), [Some(9.5), None]);
        }
    }

    #[test]
    fn variants_differ_in_protected_attributes_only() {
        let (table, numbers) = read("wage,sex,age\n9.5,f,36\n1,m,20\n12,m,70\n9,m,44\n3,f,41\n");
        for protected in [&[1][..], &[2], &[1, 2], &[0, 2]] {
            let own = OwnNumbers::new(&table, &numbers, protected);
            let all = (0..8).map(|code| [code & 1, code >> 1 & 1, code >> 2]);
            for one in all.clone() {
                for other in all.clone() {
                    let is_variant =
                        (0..3).all(|at| one[at] == other[at] || protected.contains(&at));
                    for (column, place) in [(0, 0), (1, 2)] {
                        if is_variant && !protected.contains(&place) {
                            assert_eq!(
                                collect_numbers(&own, one)[column],
                                collect_numbers(&own, other)[column]
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_effect_of_bins_is_counted() {
        // Their own sums are 45.5, 21, 82 and 53; by their bins they are 34, 34, 75 and 64.
        let data = read("wage,sex,age\n9.5,f,36\n1,m,20\n12,m,70\n9,m,44\n");
        let effect = BinEffect::measure(&Sum, (&data.0, &data.1), 0..4).unwrap();
        assert_eq!((effect.rows, effect.changed, effect.share), (4, 1, 0.25));
        let effect = BinEffect::measure(&Sum, (&data.0, &data.1), 1..4).unwrap();
        assert_eq!((effect.rows, effect.changed), (3, 0));
        let asked = WithOwnNumbers {
            numbers: Arc::new(OwnNumbers::new(&data.0, &data.1, &[1])),
            predictor: Box::new(Sum),
        };
        let yes = |row: [i32; 3]| predicted_class(&asked.logits(Rows::new(&row, 3)).unwrap()) == 1;
        assert!(yes([0, 0, 0]) && yes([0, 1, 0]), "9.5 and 36");
        let by_bins = Sum.logits(Rows::new(&[0, 0, 0], 3)).unwrap();
        assert_eq!(predicted_class(&by_bins), 0, "4 and 30");
    }
}
