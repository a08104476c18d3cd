//! The text tables of the ADF paper (VIII, IX and XI), for a comparison side by side.
//!
//! The paper's Jigsaw set has 313,000 comments; the data that are looked for here are 11,170 of
//! them. Its networks are three layers of ten units over 50-dimensional GloVe vectors, as here.

use crate::published::{Case, Source};
use probity_nn::recurrent::network::CellKind;

/// The paper's protected attributes, under the names that they have here.
pub const ATTRIBUTES: [&str; 4] = ["country", "ethnicity", "race", "religion"];

/// The labelled comments and the word vectors.
pub const COMMENTS: Case<()> = Case {
    name: "comments and word vectors",
    source: Source::Each(&[
        &[
            "toxic_wikipedia/jigsaw_toxic_11170.csv.xz",
            "toxic_wikipedia/train.csv",
        ],
        &[
            "glove/glove.6B.50d.txt",
            "glove/glove.6B.50d.subset.txt.xz",
            "glove/glove.6B.50d.txt.gz",
        ],
    ]),
    paper: (),
};
/// The column of the comments' texts.
pub const TEXT_COLUMN: &str = "comment_text";
/// The column of the comments' labels.
pub const LABEL_COLUMN: &str = "toxic";

/// The number of seeds of Table VIII.
pub const SEEDS: u32 = 1000;

/// One row of Table VIII, Jigsaw: texts found in the global phase, and in the local phase with the
/// share of distinct texts that were discriminatory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effectiveness {
    /// The number of discriminatory seeds.
    pub raw: u32,
    /// The texts found in the global phase by rp, asc, adf-asc, hf and adf-hf.
    pub global: [u32; 5],
    /// The texts found in the local phase by rp and adf, from the texts that adf-asc found.
    pub local: [u32; 2],
    /// The success of the local phase of rp and adf, in percent.
    pub local_success: [f64; 2],
}

/// A row in the order of the table: raw, the global phase, the local phase, its success.
const fn row([raw, a, b, c, d, e, rp, adf]: [u32; 8], local_success: [f64; 2]) -> Effectiveness {
    Effectiveness {
        raw,
        global: [a, b, c, d, e],
        local: [rp, adf],
        local_success,
    }
}

/// The figures of Table VIII, Jigsaw, by attribute.
pub fn effectiveness(cell: CellKind) -> [Effectiveness; 4] {
    match cell {
        CellKind::Lstm => [
            row([22, 26, 106, 123, 224, 254, 32_922, 123_182], [72.9, 88.7]),
            row([37, 33, 101, 147, 262, 321, 54_741, 161_807], [82.0, 91.7]),
            row([49, 60, 195, 211, 359, 372, 78_513, 218_982], [74.9, 87.2]),
            row([51, 52, 163, 204, 325, 358, 83_102, 227_167], [86.2, 93.3]),
        ],
        CellKind::Gru => [
            row([22, 34, 84, 95, 232, 250, 39_242, 98_753], [74.5, 88.9]),
            row([66, 38, 124, 139, 274, 323, 84_765, 181_891], [86.3, 93.3]),
            row([55, 58, 179, 198, 290, 333, 85_106, 218_404], [79.3, 90.1]),
            row([58, 55, 147, 169, 361, 400, 88_945, 200_968], [84.8, 93.5]),
        ],
    }
}

/// Table IX (LSTM, race): L0, L2, Jaccard, BLEU and similarity by asc, adf-asc, hf, adf-hf.
pub const VALIDITY: [[f64; 5]; 4] = [
    [2.6296, 5.5460, 0.8514, 0.8186, 0.8914],
    [2.1851, 5.2825, 0.8770, 0.8577, 0.9135],
    [2.6364, 5.8291, 0.8624, 0.8482, 0.8862],
    [2.6136, 5.5203, 0.8724, 0.8634, 0.8967],
];

/// Table XI, Jigsaw: seconds to 5,000 discriminatory texts by rp and adf-asc, by attribute.
pub fn seconds(cell: CellKind) -> [[f64; 2]; 4] {
    match cell {
        CellKind::Lstm => [
            [2069.5, 1848.1],
            [738.3, 1136.9],
            [1296.3, 2677.5],
            [444.2, 685.6],
        ],
        CellKind::Gru => [
            [1572.1, 910.6],
            [1265.5, 2267.6],
            [472.6, 583.1],
            [919.8, 438.5],
        ],
    }
}

/// Table XIII, Jigsaw: percent of an independent set that is no longer discriminatory after
/// retraining with samples and after certified training, by attribute.
pub fn repaired(cell: CellKind) -> [[f64; 2]; 4] {
    match cell {
        CellKind::Lstm => [[71.6, 51.5], [70.4, 55.6], [58.5, 60.4], [63.8, 55.5]],
        CellKind::Gru => [[64.1, 57.9], [56.6, 61.4], [53.5, 66.3], [40.4, 59.8]],
    }
}

/// The rows of Table XIV: the network, the position of the attribute in [`ATTRIBUTES`], and the
/// percent of an independent set, found by adf-asc, that is no longer discriminatory after retraining
/// with samples of adf-asc (in Table XIII), asc, hf and adf-hf. The first row is of the Wikipedia
/// comments, the second of the Jigsaw comments.
pub const BY_STRATEGY: [(CellKind, usize, [f64; 4]); 2] = [
    (CellKind::Lstm, 2, [64.2, 63.4, 66.3, 67.5]),
    (CellKind::Gru, 1, [56.6, 57.1, 61.7, 62.0]),
];
