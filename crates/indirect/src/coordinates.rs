//! The coordinates by which people are compared, and the distance between two of them.
//!
//! Every attribute gives a person one [`Cell`]: a number, or a level that has no order. The distance
//! of two people is the weighted mean, over the attributes, of how far their cells lie apart:
//!
//! * two numbers: their difference, in standard deviations of the attribute among all people;
//! * two levels: 0 if they are the same, else 1;
//! * a number and a level (a value that is missing, or a level beside the numbers): 1.
//!
//! That is Gower's mean of distances by attribute (1971), with standard deviations in place of
//! ranges, so that one extreme value does not make all others alike. A standard deviation is the
//! typical difference of two numbers, as 1 is that of two levels.

/// What a person has of an attribute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell {
    /// A number, in standard deviations of the attribute.
    Number(f64),
    /// A level without an order.
    Level(i32),
}

impl Cell {
    /// Returns how far this cell lies from `other`.
    #[inline]
    pub fn distance(self, other: Cell) -> f64 {
        match (self, other) {
            (Cell::Number(a), Cell::Number(b)) => (a - b).abs(),
            (Cell::Level(a), Cell::Level(b)) if a == b => 0.0,
            _ => 1.0,
        }
    }
}

/// The cells of one attribute, one a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name of the attribute.
    pub name: String,
    /// The weight of the attribute in the mean.
    pub weight: f64,
    cells: Cells,
}

/// The cells of a column, in the form that is compared fastest.
#[derive(Debug, Clone, PartialEq)]
enum Cells {
    Numbers(Vec<f64>),
    Levels(Vec<i32>),
    Mixed(Vec<Cell>),
}

impl Column {
    /// Creates the column of an attribute whose cells are the numbers `values`, which are scaled
    /// already.
    pub fn ordered(name: &str, values: Vec<f64>) -> Column {
        Column {
            name: name.to_owned(),
            weight: 1.0,
            cells: Cells::Numbers(values),
        }
    }

    /// Creates the column of an attribute with the given cells.
    pub fn new(name: &str, weight: f64, cells: &[Cell]) -> Column {
        let numbers = cells.iter().map(|cell| match *cell {
            Cell::Number(number) => Some(number),
            Cell::Level(_) => None,
        });
        let levels = cells.iter().map(|cell| match *cell {
            Cell::Level(level) => Some(level),
            Cell::Number(_) => None,
        });
        let numbers: Option<Vec<f64>> = numbers.collect();
        let levels: Option<Vec<i32>> = levels.collect();
        let cells = match (numbers, levels) {
            (Some(numbers), _) => Cells::Numbers(numbers),
            (None, Some(levels)) => Cells::Levels(levels),
            (None, None) => Cells::Mixed(cells.to_vec()),
        };
        Column {
            name: name.to_owned(),
            weight,
            cells,
        }
    }

    /// Returns the cell of the person `row`.
    pub fn cell(&self, row: usize) -> Cell {
        match &self.cells {
            Cells::Numbers(numbers) => Cell::Number(numbers[row]),
            Cells::Levels(levels) => Cell::Level(levels[row]),
            Cells::Mixed(cells) => cells[row],
        }
    }

    /// Returns whether anybody has a number.
    pub fn has_numbers(&self) -> bool {
        match &self.cells {
            Cells::Numbers(_) => true,
            Cells::Levels(_) => false,
            Cells::Mixed(cells) => cells.iter().any(|it| matches!(it, Cell::Number(_))),
        }
    }

    /// Returns the number of people.
    pub fn rows(&self) -> usize {
        match &self.cells {
            Cells::Numbers(numbers) => numbers.len(),
            Cells::Levels(levels) => levels.len(),
            Cells::Mixed(cells) => cells.len(),
        }
    }

    /// Returns the cells of the people `rows`.
    fn select(&self, rows: &[u32]) -> Column {
        let cells = match &self.cells {
            Cells::Numbers(numbers) => {
                Cells::Numbers(rows.iter().map(|&row| numbers[row as usize]).collect())
            }
            Cells::Levels(levels) => {
                Cells::Levels(rows.iter().map(|&row| levels[row as usize]).collect())
            }
            Cells::Mixed(cells) => {
                Cells::Mixed(rows.iter().map(|&row| cells[row as usize]).collect())
            }
        };
        Column {
            name: self.name.clone(),
            weight: self.weight,
            cells,
        }
    }

    /// Adds to `sums` the weighted distances of `cell` to the people from `first` on.
    #[inline(always)]
    fn add_distances(&self, cell: Cell, first: usize, sums: &mut [f64]) {
        let weight = self.weight;
        let range = first..first + sums.len();
        match (&self.cells, cell) {
            (Cells::Numbers(numbers), Cell::Number(number)) => {
                for (sum, other) in sums.iter_mut().zip(&numbers[range]) {
                    *sum += weight * (number - other).abs();
                }
            }
            (Cells::Levels(levels), Cell::Level(level)) => {
                for (sum, &other) in sums.iter_mut().zip(&levels[range]) {
                    *sum += if level == other { 0.0 } else { weight };
                }
            }
            (Cells::Mixed(cells), cell) => {
                for (sum, &other) in sums.iter_mut().zip(&cells[range]) {
                    *sum += weight * cell.distance(other);
                }
            }
            _ => {
                for sum in sums {
                    *sum += weight;
                }
            }
        }
    }
}

/// The coordinates of people: one column an attribute.
#[derive(Debug, Clone, PartialEq)]
pub struct Coordinates {
    columns: Vec<Column>,
    /// The sum of the weights.
    weights: f64,
    rows: usize,
}

impl Coordinates {
    /// Creates the coordinates of people from `columns`, all of which have as many rows.
    pub fn new(columns: Vec<Column>) -> Coordinates {
        let rows = columns.iter().map(Column::rows).min().unwrap_or(0);
        let weights: f64 = columns.iter().map(|column| column.weight).sum();
        Coordinates {
            weights: if weights > 0.0 { weights } else { 1.0 },
            rows,
            columns,
        }
    }

    /// Returns the number of people.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the columns.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the coordinates of the people `rows`, in that order.
    #[must_use]
    pub fn select(&self, rows: &[u32]) -> Coordinates {
        Coordinates {
            columns: self.columns.iter().map(|it| it.select(rows)).collect(),
            weights: self.weights,
            rows: rows.len(),
        }
    }

    /// Returns the part that each column has in the distance of `person` and the person `row`; they
    /// add up to it.
    pub fn parts(&self, person: &[Cell], row: usize) -> Vec<f64> {
        let columns = self.columns.iter().zip(person);
        columns
            .map(|(column, cell)| column.weight * cell.distance(column.cell(row)) / self.weights)
            .collect()
    }

    /// Returns the cells of the person `row`, one a column.
    pub fn person(&self, row: usize) -> Vec<Cell> {
        self.columns.iter().map(|column| column.cell(row)).collect()
    }

    /// Returns a distance that is not exceeded by that of any two of these people: the weighted mean of
    /// the largest differences by attribute.
    pub fn largest_distance(&self) -> f64 {
        let largest = self.columns.iter().map(|column| {
            let cells = (0..column.rows()).map(|row| column.cell(row));
            let (mut low, mut high, mut has_level) = (f64::INFINITY, f64::NEG_INFINITY, false);
            for cell in cells {
                match cell {
                    Cell::Number(number) => (low, high) = (low.min(number), high.max(number)),
                    Cell::Level(_) => has_level = true,
                }
            }
            let numbers = if low <= high { high - low } else { 0.0 };
            column.weight * numbers.max(if has_level { 1.0 } else { 0.0 })
        });
        largest.sum::<f64>() / self.weights
    }

    /// Returns the distance of `person`, one cell a column, to the person `row` of these.
    pub fn distance(&self, person: &[Cell], row: usize) -> f64 {
        let mut sum = [0.0];
        self.distances(person, row, &mut sum);
        sum[0]
    }

    /// Fills `distances` with the distances of `person`, one cell a column, to the people from
    /// `first` on.
    ///
    /// Each is summed by itself in the order of the columns, so its bits depend neither on how many
    /// are computed at a time nor on the instructions of the processor.
    pub fn distances(&self, person: &[Cell], first: usize, distances: &mut [f64]) {
        pulp::Arch::new().dispatch(Distances {
            of: self,
            person,
            first,
            distances,
        });
    }
}

/// The distances of a person to several others, computed with the widest instructions there are.
struct Distances<'a> {
    of: &'a Coordinates,
    person: &'a [Cell],
    first: usize,
    distances: &'a mut [f64],
}

impl pulp::WithSimd for Distances<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: pulp::Simd>(self, _simd: S) {
        self.distances.fill(0.0);
        for (column, &cell) in self.of.columns.iter().zip(self.person) {
            column.add_distances(cell, self.first, self.distances);
        }
        for distance in self.distances {
            *distance /= self.of.weights;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mixed() -> Coordinates {
        let unknown = Cell::Level(9);
        Coordinates::new(vec![
            Column::ordered("age", vec![0.5, -1.5, 2.0]),
            Column::new("job", 2.0, &[0, 1, 0].map(Cell::Level)),
            Column::new("pay", 1.0, &[Cell::Number(1.0), unknown, unknown]),
        ])
    }

    #[test]
    fn distances_are_weighted_means_over_attributes() {
        let people = mixed();
        let first = people.person(0);
        // (2 + 2·1 + 1) / 4, and (1.5 + 0 + 1) / 4.
        assert_eq!(people.distance(&first, 1), 1.25);
        assert_eq!(people.distance(&first, 2), 0.625);
        assert_eq!(people.distance(&first, 0), 0.0);
        // Two values that are not known do not differ.
        assert_eq!(people.distance(&people.person(1), 2), 3.5 / 4.0 + 0.5);
    }

    #[test]
    fn bits_do_not_depend_on_how_many_distances_are_computed_at_a_time() {
        let values = |seed: u64| -> Vec<f64> {
            let random = (0..257_u64).map(|i| (i * 7919 + seed) % 1009);
            random.map(|it| it as f64 / 97.0).collect()
        };
        let columns = (1..8).map(|seed| Column::ordered("c", values(seed * 31)));
        let people = Coordinates::new(columns.collect());
        let person = people.person(3);
        let mut all = vec![0.0; people.rows()];
        people.distances(&person, 0, &mut all);
        for (row, distance) in all.iter().enumerate() {
            assert_eq!(distance.to_bits(), people.distance(&person, row).to_bits());
        }
        let mut some = vec![0.0; 100];
        people.distances(&person, 57, &mut some);
        assert_eq!(some, all[57..157]);
    }

    #[test]
    fn no_distance_is_larger_than_the_largest() {
        let people = mixed();
        for one in 0..people.rows() {
            for other in 0..people.rows() {
                let distance = people.distance(&people.person(one), other);
                assert!(distance <= people.largest_distance());
            }
        }
        // (3.5 + 2·1 + 1) / 4
        assert_eq!(people.largest_distance(), 6.5 / 4.0);
    }

    #[test]
    fn selected_people_keep_their_coordinates() {
        let people = mixed();
        let chosen = people.select(&[2, 0]);
        assert_eq!(chosen.rows(), 2);
        assert_eq!(chosen.person(0), people.person(2));
        assert_eq!(chosen.person(1), people.person(0));
    }
}
