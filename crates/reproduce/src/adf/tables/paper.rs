//! The tables on tabular data of the ADF paper (IV to VII and X), for a comparison side by side.
//!
//! The census network is the published one. The paper's networks for credit and bank were not
//! published: here they are trained by Probity, on all rows, as thoroughly as the paper's Table III
//! says.

use serde::Serialize;

use crate::published::{Case, Source};
use probity_nn::train::options::{Learning, NetworkOptions};

/// The six-layer network of the paper's Table III.
pub fn network() -> NetworkOptions {
    let mut options = NetworkOptions::default();
    options.hidden = vec![64, 32, 16, 8, 4];
    options
}

/// The files of the data sets, relative to a data folder.
pub const CENSUS: &str = "adf/census.csv.gz";
pub const BANK: &str = "adf/bank.csv.gz";
pub const CREDIT: &str = "adf/credit_sample.csv";

/// One of the paper's data sets.
pub type PaperSet = Case<DataSet>;

/// How a data set is searched.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DataSet {
    /// The greatest number of rows that the paper starts from.
    pub most_seeds: usize,
    /// The epochs, and the rows of a step, of the training of its network; `None` where the
    /// published one is used.
    steps: Option<(u32, usize)>,
}

/// The data sets, in the paper's order.
pub const SETS: [PaperSet; 3] = [
    Case {
        name: "census",
        source: Source::Each(&[
            &[CENSUS],
            &["peer-models/adf-census/pytorch_layout.safetensors"],
        ]),
        paper: DataSet {
            most_seeds: usize::MAX,
            steps: None,
        },
    },
    Case {
        name: "bank",
        source: Source::Files(&[BANK]),
        paper: DataSet {
            most_seeds: usize::MAX,
            steps: Some((32, 256)),
        },
    },
    Case {
        name: "credit",
        source: Source::Files(&[CREDIT]),
        paper: DataSet {
            most_seeds: 600,
            steps: Some((120, 32)),
        },
    },
];

/// The name of the built-in schema of a data set's file.
pub fn schema_name(data_set: &str) -> String {
    format!("adf-{data_set}")
}

impl DataSet {
    /// The options for training the network of the data set; `None` where the published one is
    /// used.
    pub fn training(&self, seed: u64) -> Option<Learning> {
        let (epochs, batch) = self.steps?;
        Some(Learning {
            epochs: Some(epochs),
            batch: Some(batch),
            learning_rate: Some(0.005),
            weight_decay: Some(0.0),
            validation: Some(0.0),
            test: 0.0,
            seed,
            ..Learning::default()
        })
    }
}

/// A row of the paper's tables on tabular data. Of two or three figures the order is aequitas,
/// sg, adf.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PaperRow {
    /// The data set.
    pub data: &'static str,
    /// The protected attribute, as the schema calls it.
    pub attribute: &'static str,
    /// Table IV: distinct samples generated, and discriminatory ones, by aequitas and by adf.
    pub overall: [[u32; 2]; 2],
    /// Table V: distinct samples generated, and discriminatory ones, by sg and by adf, in 500
    /// seconds.
    pub in_time: [[u32; 2]; 2],
    /// Table VI: discriminatory samples of the global phase.
    pub global: [u32; 3],
    /// Table VII: discriminatory samples of the local phase, for each start.
    pub local: [u32; 3],
    /// Table X: seconds to 1,000 discriminatory samples.
    pub seconds: [f64; 3],
}

/// The rows of the tables, in the paper's order.
pub const ROWS: [PaperRow; 6] = [
    PaperRow {
        data: "census",
        attribute: "age",
        overall: [[56_955, 6_045], [491_650, 256_980]],
        in_time: [[1_290, 544], [8_202, 3_453]],
        global: [101, 291, 658],
        local: [216, 422, 598],
        seconds: [172.64, 720.49, 59.15],
    },
    PaperRow {
        data: "census",
        attribute: "race",
        overall: [[54_734, 4_737], [344_162, 139_179]],
        in_time: [[1_541, 632], [10_677, 4_290]],
        global: [95, 139, 456],
        local: [153, 371, 526],
        seconds: [128.75, 506.33, 65.95],
    },
    PaperRow {
        data: "census",
        attribute: "sex",
        overall: [[32_148, 2_930], [259_227, 47_644]],
        in_time: [[1_482, 280], [22_977, 4_164]],
        global: [37, 54, 334],
        local: [189, 210, 321],
        seconds: [158.37, 2_128.42, 78.68],
    },
    PaperRow {
        data: "bank",
        attribute: "age",
        overall: [[32_870, 8_949], [700_285, 364_758]],
        in_time: [[1_385, 842], [5_911, 3_587]],
        global: [43, 142, 872],
        local: [221, 634, 708],
        seconds: [191.16, 521.79, 106.93],
    },
    PaperRow {
        data: "credit",
        attribute: "age",
        overall: [[99_560, 38_479], [398_209, 233_664]],
        in_time: [[2_752, 1_574], [5_771, 3_923]],
        global: [175, 247, 594],
        local: [448, 600, 750],
        seconds: [176.31, 321.63, 64.92],
    },
    PaperRow {
        data: "credit",
        attribute: "sex",
        overall: [[33_137, 4_996], [312_919, 73_497]],
        in_time: [[3_202, 926], [14_711, 4_091]],
        global: [47, 87, 451],
        local: [142, 280, 337],
        seconds: [156.22, 476.52, 102.90],
    },
];
