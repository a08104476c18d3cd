//! The space of a clustering on a device: squared distances of rows to centroids, exactly.
//!
//! A coordinate, and one of a centroid, is a whole number from 0 to 64², hence two digits of base
//! 64; its square is four. With x = l + 64 h and c = m + 64 g, x·c = l m + 64 (l g + h m) + 4096 h g
//! on the axes of ordered columns, and on the indicator axes of a category it is the height times
//! the centroid's coordinate on the axis of its level. So |x − c|² is put together from sums of
//! products of digits, which every device gives exactly ([`probity_tensor::whole`]).

use probity_tensor::device::ComputeDevice;
use probity_tensor::whole::{BASE, WholeMatrix, digits};

use crate::spn::variable::{AXIS, INDICATOR};

/// The number of columns of an ordered variable: two digits of its coordinate, four of the square.
const ORDERED: usize = 6;
/// The number of vectors whose products give |x|²: one a digit of the squares.
const SQUARES: usize = 4;
/// The number of vectors whose products give x·c: by weight 1, 64 and 4096 on the axes of ordered
/// columns, and by weight 1 and 64 on indicator axes.
const PRODUCTS: usize = 5;

/// All rows of a geometry, held on a device.
#[derive(Debug)]
pub(super) struct Brought {
    matrix: WholeMatrix,
    /// For each variable, its first column, and the number of levels of a category.
    variables: Vec<(u32, Option<usize>)>,
}

impl Brought {
    /// Brings the rows with these `coordinates`, by variable, to `device`; `None` if it has no place
    /// for them. `indicators` are the levels of the variables that are categories.
    pub(super) fn new(
        coordinates: &[Vec<i32>],
        indicators: &[Option<usize>],
        device: &ComputeDevice,
    ) -> Option<Brought> {
        let mut variables = Vec::with_capacity(indicators.len());
        let mut width = 0;
        for &levels in indicators {
            variables.push((width as u32, levels));
            width += levels.unwrap_or(ORDERED);
        }
        let rows = coordinates.first()?.len();
        let mut values = vec![0_i8; rows * width];
        for (column, &(start, levels)) in coordinates.iter().zip(&variables) {
            for (row, &x) in values.chunks_exact_mut(width).zip(column) {
                let cells = &mut row[start as usize..];
                if levels.is_some() {
                    cells[x as usize] = 1;
                } else {
                    cells[..ORDERED].copy_from_slice(&ordered(i64::from(x))?);
                }
            }
        }
        Some(Brought {
            matrix: WholeMatrix::new(&values, width, device)?,
            variables,
        })
    }

    /// Returns the squared distances of the rows at `positions` to the centroids (`[centroids,
    /// axes]`), in the columns of `scope`, by centroid, then by place. `None` if the device failed.
    pub(super) fn distances(
        &self,
        scope: &[u32],
        axes: &[usize],
        centroids: &[i64],
        positions: &[u32],
    ) -> Option<Vec<Vec<i64>>> {
        let is_coordinate = |c: &i64| (0..=i64::from(AXIS)).contains(c);
        if !centroids.iter().all(is_coordinate) {
            return None;
        }
        let variables = scope
            .iter()
            .map(|&variable| self.variables[variable as usize]);
        let columns: Vec<u32> = variables
            .clone()
            .flat_map(|(start, levels)| start..start + levels.unwrap_or(ORDERED) as u32)
            .collect();
        let width = axes[axes.len() - 1];
        let mut vectors = Vec::new();
        let ordered = variables.map(|(_, levels)| levels);
        for digit in 0..SQUARES {
            for levels in ordered.clone() {
                match levels {
                    Some(levels) => vectors.extend(std::iter::repeat_n(0, levels)),
                    None => vectors.extend((0..ORDERED).map(|at| i8::from(at == 2 + digit))),
                }
            }
        }
        for centroid in centroids.chunks_exact(width) {
            for weight in 0..PRODUCTS {
                for (levels, axes) in ordered.clone().zip(axes.windows(2)) {
                    let span = &centroid[axes[0]..axes[1]];
                    match levels {
                        Some(_) => vectors.extend(span.iter().map(|&c| of_level(c, weight))),
                        None => vectors.extend(of_axis(span[0], weight)),
                    }
                }
            }
        }
        let products = self.matrix.times(positions, &columns, &vectors)?;
        let categories = ordered.flatten().count() as i64;
        let height = i64::from(INDICATOR);
        let by_row = products.chunks_exact(SQUARES + PRODUCTS * (centroids.len() / width));
        let by_centroid = centroids.chunks_exact(width).enumerate();
        let distances = by_centroid.map(|(at, centroid)| {
            let norm: i64 = centroid.iter().map(|c| c * c).sum();
            by_row.clone().map(move |row| {
                let (squares, of_centroids) = row.split_at(SQUARES);
                let of = &of_centroids[at * PRODUCTS..(at + 1) * PRODUCTS];
                let own = number(squares) + categories * height * height;
                own + norm - 2 * (number(&of[..3]) + height * number(&of[3..]))
            })
        });
        Some(distances.map(Iterator::collect).collect())
    }
}

/// Returns the cells of a coordinate; `None` for what is none.
fn ordered(x: i64) -> Option<[i8; ORDERED]> {
    if !(0..=i64::from(AXIS)).contains(&x) {
        return None;
    }
    let ([low, high], [a, b, c, d]) = (digits(x), digits(x * x));
    Some([low, high, a, b, c, d])
}

/// Returns the factors of an ordered column's cells for the centroid's coordinate `c`.
fn of_axis(c: i64, weight: usize) -> [i8; ORDERED] {
    let [low, high] = digits(c);
    let (of_low, of_high) = match weight {
        0 => (low, 0),
        1 => (high, low),
        2 => (0, high),
        _ => (0, 0),
    };
    [of_low, of_high, 0, 0, 0, 0]
}

/// Returns the factor of the cell of a level for the centroid's coordinate `c` on its axis.
fn of_level(c: i64, weight: usize) -> i8 {
    let [low, high] = digits(c);
    match weight {
        3 => low,
        4 => high,
        _ => 0,
    }
}

/// Returns the number with these digits, the lowest first, however large they are.
fn number(digits: &[i32]) -> i64 {
    digits
        .iter()
        .rev()
        .fold(0, |sum, &digit| sum * BASE + i64::from(digit))
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::super::space::{Geometry, Space};
    use super::super::step::distance;
    use super::*;
    use crate::spn::tests::{data, generator};

    #[test]
    fn a_device_gives_the_distances_of_the_reference() {
        for case in 0..60 {
            let draws = &mut generator(case);
            let (rows, width) = (draws.random_range(1..60), draws.random_range(1..8));
            let data = data(draws, rows, width, &[0, 1, 2, 3, 4, 5]);
            let geometry = Geometry::new(&data);
            let brought = Brought::new(
                &geometry.coordinates,
                &geometry.indicators,
                &ComputeDevice::flex(),
            )
            .unwrap();
            let scope: Vec<u32> = (0..width as u32)
                .filter(|&at| at == 0 || draws.random::<bool>())
                .collect();
            let space = Space {
                geometry: &geometry,
                data: &data,
                scope: &scope,
                key: 1,
                clusters: 2,
            };
            let axes = geometry.axes(&scope);
            let last = axes[axes.len() - 1];
            let centroids: Vec<i64> = (0..3 * last)
                .map(|_| match draws.random_range(0..4) {
                    0 => 0,
                    1 => i64::from(AXIS),
                    _ => draws.random_range(0..=i64::from(AXIS)),
                })
                .collect();
            let positions: Vec<u32> = (0..40)
                .map(|_| draws.random_range(0..rows as u32))
                .collect();
            let found = brought
                .distances(&scope, &axes, &centroids, &positions)
                .unwrap();
            for (distances, centroid) in found.iter().zip(centroids.chunks_exact(last)) {
                for (&found, &position) in distances.iter().zip(&positions) {
                    assert_eq!(found, distance(space, &axes, centroid, position));
                }
            }
        }
    }
}
