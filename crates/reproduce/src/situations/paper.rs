//! The counts that Álvarez and Ruggieri publish, and the data sets that they are about.
//!
//! Álvarez, Ruggieri: Counterfactual Situation Testing (JAIR 82, 2025, doi 10.1613/jair.1.17935); the
//! counts are those of the files of results beside their programs. The protocol, as far as the paper
//! leaves it open, is what gives all of their counts:
//!
//! - *Complainants* are all of the protected group; the other group is everybody else. With sex and
//!   race together that are non-white women, and everybody who is not one.
//! - *Decisions* of the law school are made: admitted where 0.6·UGPA + 0.4·LSAT ≥ 20.8, in the
//!   counterfactual table by its own scores.
//! - *Attributes* are the two numbers; where race is protected, sex is one more, and where sex or both
//!   are, it is none. The distance is the sum over attributes by three in any case.
//! - *Scaling*: every column by mean and standard deviation (divisor n), each table by its own. One
//!   table is scaled anew before every method and every k, in the order of both, so that before the
//!   method of number m at the k of number i people are scaled for the (3i + m)-th time, and
//!   counterfactuals, which the first method does without, for the (2i + m − 1)-th.
//! - *Ties* at the k-th distance: the larger row counts. Whoever is twin to more than k others may not
//!   be among their own k + 1 nearest; all of those are then twins, with the same decision, so that
//!   shares do not depend on it.
//! - *Test*: p₁ − p₂ − 1.645·√(p₁(1 − p₁)/k₁ + p₂(1 − p₂)/k₂), rounded to three decimals, above 0.
//! - *Counterfactually unfair* is whoever is refused, and would not be in the counterfactual table;
//!   significantly so, whoever of them is significant with centres.
//!
//! **What counts on the last bit.** The scores of the law school lie on a grid, so that many people
//! are equally far from another one but for the rounding of their scaled scores; which of them are
//! among the k nearest hangs on the order in which means and variances are summed up. Counts are
//! equal if columns are summed as NumPy did before its version 2.3, see [`super::records`]. Summed as
//! NumPy 2.4 does, 36 of the 150 rows of the law school differ; summed row by row, 127 do, and of
//! the women at k = 60 that are significant in the factual data there are 113 in place of 180.

use serde::Serialize;

use crate::published::{Case, Source};

/// A row of published counts: k; the cases of situation testing, of counterfactual situation testing
/// without and with centres, and the counterfactually unfair; the significant ones of each.
type Published = [u32; 9];

/// The number of people in whose case a method finds something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// By situation testing.
    pub situations: u32,
    /// By counterfactual situation testing.
    pub counterfactual: u32,
    /// By counterfactual situation testing, where the person and the counterfactual count.
    pub with_centres: u32,
    /// By counterfactual fairness.
    pub unfair: u32,
}

impl Counts {
    /// The counts in the order of the columns.
    pub fn each(&self) -> [u32; 4] {
        [
            self.situations,
            self.counterfactual,
            self.with_centres,
            self.unfair,
        ]
    }
}

impl From<[u32; 4]> for Counts {
    fn from([situations, counterfactual, with_centres, unfair]: [u32; 4]) -> Counts {
        Counts {
            situations,
            counterfactual,
            with_centres,
            unfair,
        }
    }
}

/// What the paper has for one number of neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PaperFigures {
    /// The number of neighbours.
    #[serde(skip)]
    pub k: u32,
    /// The people whose shares differ.
    pub cases: Counts,
    /// The numbers of these whose difference is significant by Wald's interval.
    pub significant: Counts,
}

/// A data set with the paper's counts.
pub type PaperCase = Case<Survey>;

/// The applicants of a data set, and what the paper counts among them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Survey {
    /// Where the applicants are from.
    pub set: Set,
    published: &'static [Published],
}

/// Where applicants are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Set {
    /// The synthetic loan application.
    Loans,
    /// The survey of law schools.
    LawSchool(Protected),
}

/// What is protected in the survey of law schools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protected {
    /// Women.
    Sex,
    /// Non-white applicants.
    Race,
    /// Non-white women.
    Both,
}

const LAW_SCHOOL: &str = "situation-testing/clean_LawSchool.csv";

/// The case of a data set; files are those of the people and of their counterfactuals.
const fn case(
    name: &'static str,
    files: &'static [&'static str],
    set: Set,
    published: &'static [Published],
) -> PaperCase {
    Case {
        name,
        source: Source::Files(files),
        paper: Survey { set, published },
    }
}

/// The data sets, in the paper's order.
pub const CASES: [PaperCase; 4] = [
    case(
        "loans",
        &[
            "situation-testing/LoanApplication_v2.csv",
            "situation-testing/cf_LoanApplication_v2.csv",
        ],
        Set::Loans,
        &LOANS,
    ),
    case(
        "law-sex",
        &[LAW_SCHOOL, "situation-testing/cf_LawSchool_lev3_doMale.csv"],
        Set::LawSchool(Protected::Sex),
        &LAW_SEX,
    ),
    case(
        "law-race",
        &[
            LAW_SCHOOL,
            "situation-testing/cf_LawSchool_lev3_doWhite.csv",
        ],
        Set::LawSchool(Protected::Race),
        &LAW_RACE,
    ),
    case(
        "law-both",
        &[
            LAW_SCHOOL,
            "situation-testing/cf_LawSchool_lev3_doMaleWhite.csv",
        ],
        Set::LawSchool(Protected::Both),
        &LAW_BOTH,
    ),
];

impl PaperCase {
    /// The paper's figures, in the order of the numbers of neighbours.
    pub fn figures(&self) -> impl Iterator<Item = PaperFigures> + use<> {
        let rows = self.paper.published.iter();
        rows.map(|&[k, a, b, c, d, e, f, g, h]| PaperFigures {
            k,
            cases: [a, b, c, d].into(),
            significant: [e, f, g, h].into(),
        })
    }
}

/// The counts of the loan application.
const LOANS: [Published; 5] = [
    [15, 55, 288, 420, 376, 44, 272, 272, 241],
    [30, 65, 313, 434, 376, 57, 306, 307, 253],
    [50, 84, 342, 453, 376, 65, 331, 334, 265],
    [100, 107, 395, 480, 376, 85, 383, 385, 288],
    [250, 204, 534, 557, 376, 148, 519, 520, 352],
];

/// The counts of the law school, women.
const LAW_SEX: [Published; 49] = [
    [1, 0, 0, 56, 56, 0, 0, 0, 0],
    [15, 77, 78, 99, 56, 57, 43, 54, 20],
    [30, 101, 120, 129, 56, 69, 88, 92, 15],
    [50, 229, 253, 267, 56, 111, 160, 160, 30],
    [60, 241, 301, 300, 56, 180, 209, 209, 37],
    [70, 271, 289, 292, 56, 190, 249, 249, 52],
    [80, 317, 318, 322, 56, 180, 212, 212, 17],
    [90, 298, 315, 319, 56, 200, 219, 219, 17],
    [100, 258, 296, 296, 56, 124, 221, 221, 21],
    [110, 231, 320, 320, 56, 100, 236, 236, 36],
    [120, 250, 314, 314, 56, 136, 251, 251, 36],
    [130, 300, 314, 323, 56, 124, 243, 243, 32],
    [140, 248, 318, 322, 56, 140, 234, 234, 32],
    [150, 249, 311, 311, 56, 153, 231, 231, 32],
    [160, 235, 352, 352, 56, 156, 250, 250, 43],
    [170, 253, 355, 355, 56, 176, 258, 258, 26],
    [180, 293, 353, 353, 56, 155, 271, 271, 26],
    [190, 328, 375, 375, 56, 173, 272, 272, 26],
    [200, 368, 449, 449, 56, 196, 333, 333, 43],
    [210, 417, 433, 433, 56, 190, 333, 333, 43],
    [220, 422, 451, 451, 56, 210, 348, 348, 43],
    [230, 483, 471, 471, 56, 268, 345, 345, 32],
    [240, 484, 493, 493, 56, 293, 327, 327, 32],
    [250, 484, 493, 493, 56, 366, 341, 341, 32],
    [260, 480, 500, 504, 56, 355, 359, 359, 32],
    [270, 480, 504, 504, 56, 355, 351, 351, 32],
    [280, 496, 504, 504, 56, 350, 379, 379, 32],
    [290, 488, 502, 506, 56, 355, 388, 388, 41],
    [300, 484, 514, 514, 56, 374, 372, 372, 41],
    [310, 470, 511, 511, 56, 339, 383, 383, 52],
    [320, 452, 540, 540, 56, 360, 374, 374, 43],
    [330, 459, 533, 533, 56, 356, 397, 397, 43],
    [340, 502, 544, 544, 56, 350, 366, 366, 43],
    [350, 490, 512, 512, 56, 346, 371, 371, 43],
    [360, 473, 521, 521, 56, 357, 371, 371, 43],
    [370, 447, 494, 494, 56, 282, 405, 405, 43],
    [380, 386, 506, 506, 56, 277, 379, 379, 43],
    [390, 432, 515, 515, 56, 255, 402, 402, 43],
    [400, 432, 527, 527, 56, 291, 402, 402, 43],
    [410, 455, 542, 542, 56, 291, 366, 366, 43],
    [420, 445, 543, 543, 56, 308, 371, 371, 43],
    [430, 436, 555, 555, 56, 308, 364, 364, 43],
    [440, 435, 566, 566, 56, 325, 375, 375, 43],
    [450, 418, 567, 567, 56, 325, 375, 375, 43],
    [460, 417, 594, 594, 56, 325, 459, 459, 43],
    [470, 422, 604, 604, 56, 314, 448, 448, 47],
    [480, 429, 604, 604, 56, 314, 460, 460, 47],
    [490, 464, 605, 605, 56, 332, 467, 478, 47],
    [500, 492, 605, 605, 56, 332, 476, 487, 56],
];

/// The counts of the law school, non-white applicants.
const LAW_RACE: [Published; 49] = [
    [1, 7, 198, 245, 231, 7, 198, 184, 184],
    [15, 33, 256, 286, 231, 28, 244, 244, 190],
    [30, 51, 309, 309, 231, 28, 301, 301, 231],
    [50, 61, 337, 337, 231, 45, 323, 323, 231],
    [60, 62, 356, 356, 231, 46, 349, 349, 231],
    [70, 63, 369, 369, 231, 47, 365, 365, 231],
    [80, 63, 383, 383, 231, 47, 377, 377, 231],
    [90, 59, 392, 392, 231, 47, 383, 383, 231],
    [100, 64, 400, 400, 231, 47, 391, 391, 231],
    [110, 64, 410, 410, 231, 46, 402, 402, 231],
    [120, 67, 410, 410, 231, 48, 402, 402, 231],
    [130, 67, 417, 417, 231, 51, 408, 408, 231],
    [140, 71, 429, 429, 231, 51, 424, 424, 231],
    [150, 73, 437, 437, 231, 56, 431, 431, 231],
    [160, 74, 438, 438, 231, 57, 432, 432, 231],
    [170, 74, 453, 453, 231, 57, 447, 447, 231],
    [180, 78, 466, 466, 231, 57, 460, 460, 231],
    [190, 76, 467, 467, 231, 58, 466, 466, 231],
    [200, 75, 476, 476, 231, 60, 475, 475, 231],
    [210, 79, 476, 476, 231, 62, 475, 475, 231],
    [220, 80, 483, 483, 231, 62, 475, 475, 231],
    [230, 86, 487, 487, 231, 61, 479, 479, 231],
    [240, 79, 497, 497, 231, 64, 489, 489, 231],
    [250, 78, 503, 503, 231, 61, 494, 494, 231],
    [260, 80, 503, 503, 231, 61, 494, 494, 231],
    [270, 80, 510, 510, 231, 64, 501, 501, 231],
    [280, 83, 518, 518, 231, 65, 504, 504, 231],
    [290, 84, 521, 521, 231, 63, 507, 507, 231],
    [300, 80, 532, 532, 231, 63, 519, 519, 231],
    [310, 81, 533, 533, 231, 65, 524, 524, 231],
    [320, 84, 533, 533, 231, 67, 524, 524, 231],
    [330, 88, 536, 536, 231, 68, 515, 515, 231],
    [340, 88, 528, 528, 231, 69, 515, 515, 231],
    [350, 94, 528, 528, 231, 70, 515, 515, 231],
    [360, 97, 531, 531, 231, 70, 518, 518, 231],
    [370, 97, 532, 532, 231, 70, 524, 524, 231],
    [380, 97, 532, 532, 231, 74, 524, 524, 231],
    [390, 98, 548, 548, 231, 80, 532, 532, 231],
    [400, 98, 561, 561, 231, 85, 542, 542, 231],
    [410, 98, 569, 569, 231, 84, 549, 549, 231],
    [420, 99, 575, 575, 231, 80, 560, 560, 231],
    [430, 102, 579, 579, 231, 79, 558, 558, 231],
    [440, 102, 585, 585, 231, 78, 559, 559, 231],
    [450, 102, 595, 595, 231, 78, 565, 565, 231],
    [460, 103, 595, 595, 231, 78, 575, 575, 231],
    [470, 107, 597, 597, 231, 79, 580, 580, 231],
    [480, 107, 597, 597, 231, 82, 580, 580, 231],
    [490, 107, 605, 605, 231, 84, 586, 586, 231],
    [500, 108, 605, 605, 231, 84, 584, 584, 231],
];

/// The counts of the law school, non-white women.
const LAW_BOTH: [Published; 49] = [
    [1, 3, 115, 118, 113, 3, 115, 110, 110],
    [15, 14, 130, 130, 113, 14, 130, 130, 113],
    [30, 14, 138, 138, 113, 14, 138, 138, 113],
    [50, 17, 148, 148, 113, 13, 148, 148, 113],
    [60, 21, 153, 153, 113, 16, 153, 153, 113],
    [70, 24, 153, 153, 113, 20, 153, 153, 113],
    [80, 24, 158, 158, 113, 23, 158, 158, 113],
    [90, 24, 158, 158, 113, 23, 158, 158, 113],
    [100, 24, 160, 160, 113, 23, 160, 160, 113],
    [110, 26, 162, 162, 113, 23, 162, 162, 113],
    [120, 26, 170, 170, 113, 23, 170, 170, 113],
    [130, 26, 171, 171, 113, 23, 171, 171, 113],
    [140, 26, 177, 177, 113, 23, 174, 174, 113],
    [150, 26, 180, 180, 113, 23, 180, 180, 113],
    [160, 26, 185, 185, 113, 23, 185, 185, 113],
    [170, 26, 190, 190, 113, 23, 190, 190, 113],
    [180, 26, 190, 190, 113, 23, 190, 190, 113],
    [190, 29, 190, 190, 113, 23, 190, 190, 113],
    [200, 29, 190, 190, 113, 24, 190, 190, 113],
    [210, 29, 194, 194, 113, 26, 194, 194, 113],
    [220, 29, 199, 199, 113, 26, 194, 194, 113],
    [230, 29, 199, 199, 113, 26, 199, 199, 113],
    [240, 29, 199, 199, 113, 26, 199, 199, 113],
    [250, 29, 199, 199, 113, 26, 199, 199, 113],
    [260, 29, 202, 202, 113, 26, 202, 202, 113],
    [270, 29, 202, 202, 113, 26, 202, 202, 113],
    [280, 31, 204, 204, 113, 28, 204, 204, 113],
    [290, 31, 207, 207, 113, 28, 207, 207, 113],
    [300, 31, 207, 207, 113, 28, 207, 207, 113],
    [310, 35, 212, 212, 113, 28, 212, 212, 113],
    [320, 34, 212, 212, 113, 28, 212, 212, 113],
    [330, 35, 212, 212, 113, 28, 212, 212, 113],
    [340, 38, 212, 212, 113, 28, 212, 212, 113],
    [350, 39, 212, 212, 113, 32, 212, 212, 113],
    [360, 43, 212, 212, 113, 35, 212, 212, 113],
    [370, 43, 213, 213, 113, 35, 212, 212, 113],
    [380, 43, 213, 213, 113, 35, 213, 213, 113],
    [390, 45, 213, 213, 113, 40, 213, 213, 113],
    [400, 45, 213, 213, 113, 40, 213, 213, 113],
    [410, 45, 215, 215, 113, 40, 213, 213, 113],
    [420, 45, 215, 215, 113, 40, 215, 215, 113],
    [430, 45, 215, 215, 113, 40, 215, 215, 113],
    [440, 45, 215, 215, 113, 40, 215, 215, 113],
    [450, 45, 215, 215, 113, 42, 215, 215, 113],
    [460, 45, 221, 221, 113, 43, 213, 213, 113],
    [470, 45, 231, 231, 113, 43, 219, 219, 113],
    [480, 46, 231, 231, 113, 43, 219, 219, 113],
    [490, 46, 233, 233, 113, 43, 221, 221, 113],
    [500, 47, 233, 233, 113, 43, 231, 231, 113],
];

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::published::Absent;

    #[test]
    fn the_counts_are_the_papers() {
        let rows = CASES.map(|case| case.figures().count());
        assert_eq!(rows, [5, 49, 49, 49]);
        for figures in CASES.iter().flat_map(PaperCase::figures) {
            let pairs = figures.cases.each().into_iter();
            for (case, significant) in pairs.zip(figures.significant.each()) {
                assert!(significant <= case, "{figures:?}");
            }
        }
        for case in &CASES {
            let unfair: Vec<u32> = case.figures().map(|figures| figures.cases.unfair).collect();
            assert!(unfair.windows(2).all(|pair| pair[0] == pair[1]));
            let ks: Vec<u32> = case.figures().map(|figures| figures.k).collect();
            assert!(ks.is_sorted());
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        let nowhere = [PathBuf::from("/nonexistent")];
        let files = vec![
            "situation-testing/LoanApplication_v2.csv".to_owned(),
            "situation-testing/cf_LoanApplication_v2.csv".to_owned(),
        ];
        assert_eq!(CASES[0].find(&nowhere), Err(Absent::Files(files)));
    }
}
