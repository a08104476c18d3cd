//! Contingency tables and sums on lines, computed on a device, exactly.
//!
//! Each row has a 1 in the cell of its bin of each column, the two digits of its place on a line,
//! and a 1 of its own. The sums over rows of the products of any two of these are all counts of all
//! tables, and what sums, squares and products of places are put together from; every device gives
//! them exactly ([`probity_tensor::whole`]).

use probity_tensor::device::ComputeDevice;
use probity_tensor::whole::{BASE, WholeMatrix, digits};

/// All rows of a rule, held on a device.
#[derive(Debug)]
pub(super) struct Brought {
    matrix: WholeMatrix,
    variables: Vec<Columns>,
}

/// The columns of a variable.
#[derive(Debug)]
struct Columns {
    /// The column of the variable's first bin.
    start: u32,
    /// The number of the variable's bins.
    bins: usize,
    /// Whether the digits of the variable's place on a line follow its bins.
    has_line: bool,
}

impl Columns {
    fn len(&self) -> usize {
        self.bins + if self.has_line { 2 } else { 0 }
    }
}

/// The column of ones.
const ONES: u32 = 0;

/// The sums over some rows for the columns of a scope.
pub(super) struct Sums {
    width: usize,
    /// The products, `[width, width]`.
    products: Vec<i64>,
    /// For each place in the scope, the places of its bins, and of its digits if it has a line.
    places: Vec<(std::ops::Range<usize>, Option<usize>)>,
}

impl Brought {
    /// Brings the rows to `device`; `None` if it has no place for them. The arguments are, by
    /// variable, the number of its bins (`sizes`), the bin of each row, and the place of each row
    /// on its line, if it has one.
    pub(super) fn new(
        sizes: &[usize],
        bins: &[Vec<u16>],
        lines: &[Vec<i32>],
        device: &ComputeDevice,
    ) -> Option<Brought> {
        let mut variables = Vec::with_capacity(sizes.len());
        let mut width = 1;
        for (&bins, line) in sizes.iter().zip(lines) {
            let columns = Columns {
                start: width as u32,
                bins,
                has_line: !line.is_empty(),
            };
            width += columns.len();
            variables.push(columns);
        }
        let rows = bins.first()?.len();
        let mut values = vec![0_i8; rows * width];
        for row in values.chunks_exact_mut(width) {
            row[ONES as usize] = 1;
        }
        for ((columns, bins), line) in variables.iter().zip(bins).zip(lines) {
            let (start, size) = (columns.start as usize, columns.bins);
            for (row, &bin) in values.chunks_exact_mut(width).zip(bins) {
                row[start + usize::from(bin)] = 1;
            }
            for (row, &x) in values.chunks_exact_mut(width).zip(line) {
                if !(0..=BASE * BASE).contains(&i64::from(x)) {
                    return None;
                }
                row[start + size..][..2].copy_from_slice(&digits::<2>(i64::from(x)));
            }
        }
        Some(Brought {
            matrix: WholeMatrix::new(&values, width, device)?,
            variables,
        })
    }

    /// Returns the sums over the rows at `positions`; `None` if the device failed.
    pub(super) fn sums(&self, scope: &[u32], positions: &[u32]) -> Option<Sums> {
        let mut columns = vec![ONES];
        let mut places = Vec::with_capacity(scope.len());
        for &variable in scope {
            let own = &self.variables[variable as usize];
            let bins = columns.len()..columns.len() + own.bins;
            columns.extend(own.start..own.start + own.len() as u32);
            places.push((bins.clone(), own.has_line.then_some(bins.end)));
        }
        Some(Sums {
            width: columns.len(),
            products: self.matrix.gram(positions, &columns)?,
            places,
        })
    }
}

impl Sums {
    /// Returns an entry of the matrix of products.
    fn entry(&self, a: usize, b: usize) -> i64 {
        self.products[a * self.width + b]
    }

    /// Iterates over the numbers of rows in each bin of the column at `place`.
    pub(super) fn margin(&self, place: usize) -> impl Iterator<Item = u32> {
        let bins = self.places[place].0.clone();
        bins.map(|bin| self.entry(bin, bin) as u32)
    }

    /// Iterates over the numbers of rows in each cell of the table of two columns, row-major.
    pub(super) fn table(&self, a: usize, b: usize) -> impl Iterator<Item = u32> {
        let (rows, columns) = (self.places[a].0.clone(), self.places[b].0.clone());
        rows.flat_map(move |row| {
            columns
                .clone()
                .map(move |column| self.entry(row, column) as u32)
        })
    }

    /// Returns Σ x of the places of a column on its line; 0 without one.
    pub(super) fn sum(&self, place: usize) -> i64 {
        self.places[place].1.map_or(0, |low| {
            let ones = ONES as usize;
            self.entry(ones, low) + BASE * self.entry(ones, low + 1)
        })
    }

    /// Returns Σ x y of the places of two columns, or of one with itself; 0 where one has no line.
    pub(super) fn product(&self, a: usize, b: usize) -> i64 {
        let (Some(x), Some(y)) = (self.places[a].1, self.places[b].1) else {
            return 0;
        };
        let crossed = self.entry(x, y + 1) + self.entry(x + 1, y);
        self.entry(x, y) + BASE * crossed + BASE * BASE * self.entry(x + 1, y + 1)
    }
}
