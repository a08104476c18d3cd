//! The people of the data who get another decision when nothing but protected attributes changes:
//! how many there are, in which groups, in which direction, and how far their scores move.
//!
//! ```text
//! rows ─► People: individuals, and which variants of them the rows are
//!                    │ each asked about once, all variants        (measure)
//!                    ▼
//!                  Tally: counts that add up over any cut         (tally)
//!                    ▼
//!           PopulationSummary: shares, groups, directions, moves  (summary, intersection)
//! ```
//!
//! A row is discriminatory if some combination of values of the protected attributes, in its own
//! place, gets it another class. Rows that are equal outside the protected attributes are the same
//! individual and have the same variants, so the model is asked about each individual once, whatever
//! the number of rows; equal rows count as often as they stand in the data. Where a predictor is
//! asked with the numbers of the data, rows are equal if these are.
//!
//! Whoever has a protected value that is not known is in no group that could be exchanged for
//! another: such rows are counted, and nothing is said of them.
//!
//! Where every row is asked about, the shares are those of the rows, exactly. The intervals (Clopper
//! and Pearson) are for whom the rows were drawn from. Where only some rows are asked about, drawn
//! without replacement, the intervals hold for all rows, too: they are wider than they need to be.

mod density;
mod graded;
mod intersection;
mod measure;
mod moves;
mod people;
mod plausibility;
mod summary;
mod tally;

pub use density::{Cell, Density, DensityError};
pub(crate) use density::{Column, columns};
pub(crate) use graded::Graded;
pub use graded::PlausibilitySummary;
pub use intersection::Intersection;
pub use measure::count_people;
pub use moves::{ChangeQuantile, Changes, Moves};
pub use people::{People, PopulationRows, Source, Unknown};
pub(crate) use plausibility::PLAUSIBLE;
pub use plausibility::Plausibility;
pub use summary::{Directions, GroupOfRows, GroupedRows, PopulationSummary};
pub use tally::Tally;

#[cfg(test)]
mod tests;
