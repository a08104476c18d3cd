use super::*;
use crate::device::tests::answering_devices;

/// A generator of numbers that look random.
struct Draws(u64);

impl Draws {
    fn below(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// Rows on a coarse grid, some moved by far less than f32 can tell: ties and near-ties all over.
fn rows(count: usize, columns: usize, scale: f64) -> Vec<f64> {
    let mut draws = Draws(7);
    let mut value = || draws.below(6) as f64 + draws.below(3) as f64 * 1e-9;
    (0..count * columns)
        .map(|_| (value() + 1000.0) * scale)
        .collect()
}

/// Returns on every device a table in pieces, and one of numbers as they are where nothing shortens
/// them.
fn tables(rows: &[f64], columns: usize) -> Vec<Table> {
    let mut tables = Vec::new();
    for device in answering_devices() {
        for in_pieces in [true, false] {
            let layout = Layout { columns, in_pieces };
            if in_pieces || !device.is_gpu() {
                tables.push(Table::with_layout(rows, layout, &device).unwrap());
            }
        }
    }
    tables
}

fn exact(x: &[f64], y: &[f64]) -> f64 {
    x.iter()
        .zip(y)
        .fold(0.0, |sum, (a, b)| sum + (a - b) * (a - b))
}

const SHAPES: [(usize, f64); 4] = [(1, 1.0), (3, 1e-6), (17, 1e6), (40, 1.0)];

#[test]
fn products_keep_their_bound() {
    for (columns, scale) in SHAPES {
        let rows = rows(300, columns, scale);
        let row = |row: usize| &rows[row * columns..(row + 1) * columns];
        for table in tables(&rows, columns) {
            let found = table
                .distances(&rows[100 * columns..140 * columns])
                .unwrap();
            for (at, &value) in found.values.iter().enumerate() {
                let exact = exact(row(100 + at / 300), row(at % 300));
                assert!((f64::from(value) - exact).abs() <= found.bound);
            }
            for (at, least) in found.at_least(3, (20, 60)).enumerate() {
                assert!(least <= exact(row(103), row(20 + at)));
            }
        }
    }
}

/// The factors in pieces are those that a device which shortens to 8 bits multiplies: it has nothing
/// to shorten, so its products keep the bound as well.
#[test]
fn pieces_have_eight_bits_and_lose_little() {
    let columns = 5;
    let rows = rows(50, columns, 0.37);
    let layout = Layout {
        columns,
        in_pieces: true,
    };
    let centre = vec![370.3; columns];
    for row in rows.chunks_exact(columns) {
        let (near, square) = about(&centre, row);
        let (mut left, mut right) = (Vec::new(), Vec::new());
        layout.vector(&near, square as f32, &mut left);
        layout.row(&near, square as f32, &mut right);
        assert_eq!([left.len(), right.len()], [layout.width(); 2]);
        assert!(left.iter().chain(&right).all(|&x| short(x) == x));
        let products = left
            .iter()
            .zip(&right)
            .map(|(&x, &y)| f64::from(x) * f64::from(y));
        // A row's distance to itself is 0.
        let bound = 2_f64.powi(-15) * 4.0 * square;
        assert!(products.sum::<f64>().abs() <= bound + 2_f64.powi(-23) * square);
        let norm = norm_pieces(square as f32).map(f64::from);
        assert_eq!(norm.iter().sum::<f64>(), f64::from(square as f32));
    }
}

#[test]
fn whoever_is_proposed_with_a_gap_is_nearest() {
    for (columns, scale) in SHAPES {
        let all = rows(330, columns, scale);
        let (vectors, rows) = all.split_at(30 * columns);
        for count in [1, 2, 30] {
            let vectors = &vectors[..count * columns];
            for table in tables(rows, columns) {
                let closest = table.closest(vectors).unwrap();
                let mut known = 0;
                for (at, row) in rows.chunks_exact(columns).enumerate() {
                    let mut true_distances: Vec<(f64, u32)> = vectors
                        .chunks_exact(columns)
                        .zip(0..)
                        .map(|(vector, number)| (exact(vector, row), number))
                        .collect();
                    true_distances.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                    let (nearest, number) = true_distances[0];
                    let gap = f64::from(closest.gap(at));
                    assert!(nearest <= f64::from(closest.at_most(at)));
                    if let Some((next, _)) = true_distances.get(1) {
                        assert!(gap <= next - nearest);
                    }
                    if gap > 0.0 {
                        assert_eq!(closest.vector(at), number);
                        known += 1;
                    }
                }
                assert!(count > 1 || known == 300, "{known}");
            }
        }
    }
}

#[test]
fn counts_within_a_radius_are_right_or_left_open() {
    let mut draws = Draws(11);
    for (columns, side) in [(1, 40), (2, 9), (6, 5), (3, 1 << 22)] {
        let rows: Vec<f64> = (0..200 * columns)
            .map(|_| draws.below(side) as f64)
            .collect();
        let largest = (side * side) as f64;
        for table in tables(&rows, columns) {
            let mut given = 0;
            for squared_radius in [0.0, 1.0, 4.0, (largest / 16.0).floor(), largest] {
                for enough in [0, 1, 5, 1000] {
                    let counts = table.within(&rows, squared_radius, enough).unwrap();
                    assert_eq!(counts.len(), 200);
                    for (row, count) in rows.chunks_exact(columns).zip(counts) {
                        let near = rows
                            .chunks_exact(columns)
                            .filter(|other| exact(row, other) <= squared_radius);
                        if let Some(count) = count {
                            assert_eq!(count, enough.min(near.count() as u32));
                            given += 1;
                        }
                    }
                }
            }
            assert!(given > 1000, "{columns} columns: {given}");
        }
    }
}

#[test]
fn what_does_not_fit_f32_is_not_proposed() {
    let flex = ComputeDevice::flex();
    assert!(Table::new(&[5.0; 6], 1, &flex).is_none());
    assert!(Table::new(&[0.0, 1e13], 1, &flex).is_none());
    assert!(Table::new::<f64>(&[], 3, &flex).is_none());
    let table = Table::new(&[0.0, 1.0], 1, &flex).unwrap();
    assert!(table.closest(&[1e13]).is_none());
    assert!(table.within(&[1e13], 1.0, 1).is_none());
    let rows = [0.0, 1.0];
    let mut distances = SquaredDistances::new(&rows, 1, &flex).unwrap();
    assert!(distances.fill(&[2], &mut [0.0; 2]).is_none());
}
