//! The numbers of specifications: every one has bounds, and no number that is within them, or
//! beyond them, makes a run panic, abort or take more memory than there is.
//!
//! The fields are those of [`probity::specifications`], found in the schemas of their types; a
//! field or a kind that is new is tested without being named here, or misses its base below.

mod probity_command;

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use probity::nn::train::TrainSpecification;
use probity::run::specification::file::{SpecificationError, read};
use probity::run::specification::{Field, FieldError, FieldKind, Specification};
use probity::specifications::{Visitor, each};
use probity_command::Workspace;

/// Numbers that need no upper bound: any 63 bits are a seed.
fn is_seed(field: &Field) -> bool {
    matches!(field.name(), "seed" | "not_private_seed")
}

/// How a specification of some kind is performed: by `probity run`, or as the options of a command
/// with these words.
enum How {
    Run,
    Options(&'static str),
}
use How::{Options, Run};

/// Small specifications of every kind, so that each number has a meaning in one of them.
const BASES: &[(&str, How, &str)] = &[
    (
        "train",
        Run,
        "data = 'demo/people.csv'\nschema = 'synthetic-census'\n[training]\nepochs = 1\nvalidation = 0.2\n[network]\nhidden = [4]",
    ),
    (
        "train",
        Run,
        "modality = 'text'\ndata = 'comments.csv'\ntext_column = 'comment_text'\nlabel_column = 'toxic'\n[training]\nepochs = 1\n[recurrent]\nlayers = 1\nunits = 3",
    ),
    (
        "train",
        Run,
        "modality = 'text'\ndata = 'comments.csv'\ntext_column = 'comment_text'\nlabel_column = 'toxic'\n[training]\nepochs = 1\n[transformer]\nblocks = 1\nheads = 1\nwidth = 8\ninner = 8\npieces = 8",
    ),
    (
        "import",
        Run,
        "modality = 'text'\n[hugging_face]\ndirectory = 'absent'",
    ),
    (
        "import",
        Run,
        "modality = 'text'\nweights = 'absent.pt'\n[text]\nvocabulary = 'absent.txt'",
    ),
    (
        "audit",
        Run,
        "model = 'demo/model'\ndata = 'demo/people.csv'\nestimate = 100\n[search]\nseeds = 5\nlocal = 5",
    ),
    (
        "audit",
        Run,
        "model = 'demo/model'\ndata = 'demo/people.csv'\nestimate = 100\nstrategy = 'themis'\n[search]\nseeds = 5\n[tuning]\nerror_bound = 0.05",
    ),
    (
        "audit",
        Run,
        "model = 'demo/model'\ndata = 'demo/people.csv'\nestimate = 100\nstrategy = 'random-walk'\n[search]\nseeds = 5\nlocal = 5",
    ),
    (
        "audit",
        Run,
        "model = 'demo/model'\ndata = 'demo/people.csv'\nestimate = 100\nstrategy = 'aequitas-fully'\n[search]\nseeds = 5\nlocal = 5",
    ),
    (
        "audit",
        Run,
        "model = 'demo/model'\ndata = 'demo/people.csv'\nestimate = 100\nstrategy = 'sg'\n[search]\nseeds = 5\nlocal = 5",
    ),
    (
        "audit",
        Run,
        "model = 'demo/model'\ndata = 'demo/people.csv'\nestimate = 100\nstrategy = 'eidig'\n[search]\nseeds = 5\nlocal = 5\n[population]\nplausibility = 'fit'\nmin_plausibility = 0.05",
    ),
    (
        "audit",
        Run,
        "data = 'demo/people.csv'\nestimate = 100\n[predictor]\nsource = 'command:false'\nschema = 'synthetic-census'\n[search]\nseeds = 5\nlocal = 5",
    ),
    (
        "audit",
        Run,
        "modality = 'text'\nmodel = 'text'\ndata = 'comments.csv'\nestimate = 100\n[search]\nseeds = 3\nlocal = 3\n[text]\ncolumn = 'comment_text'",
    ),
    (
        "audit",
        Run,
        "modality = 'text'\ndata = 'comments.csv'\nestimate = 100\n[predictor]\nsource = 'command:false'\n[search]\nseeds = 3\nlocal = 3\n[text]\ncolumn = 'comment_text'",
    ),
    (
        "compare",
        Run,
        "model = 'demo/model'\ndata = 'demo/people.csv'\nrepeats = 1\nstrategies = ['adf', 'eidig', 'sg', 'themis']\n[search]\nseeds = 5\nlocal = 5\n[tuning]\nerror_bound = 0.05",
    ),
    (
        "compare",
        Run,
        "data = 'demo/people.csv'\nrepeats = 1\n[predictor]\nsource = 'command:false'\nschema = 'synthetic-census'\n[search]\nseeds = 5\nlocal = 5",
    ),
    (
        "compare",
        Run,
        "modality = 'text'\nmodel = 'text'\ndata = 'comments.csv'\nrepeats = 1\nstrategies = ['adf-asc']\n[search]\nseeds = 3\nlocal = 3\n[text]\ncolumn = 'comment_text'",
    ),
    (
        "compare",
        Run,
        "modality = 'text'\ndata = 'comments.csv'\nrepeats = 1\nstrategies = ['rp']\n[predictor]\nsource = 'command:false'\n[search]\nseeds = 3\nlocal = 3\n[text]\ncolumn = 'comment_text'",
    ),
    (
        "repair",
        Run,
        "model = 'demo/model'\ndata = 'demo/people.csv'\nruns = ['demo/audit']\nrepeats = 1\n[training]\nepochs = 1\n[table]\nestimate = 100",
    ),
    (
        "repair",
        Run,
        "model = 'demo/model'\ndata = 'demo/people.csv'\nruns = ['demo/audit']\nrepeats = 1\nmethod = 'certified'\n[training]\nepochs = 1\n[table]\nestimate = 100\n[groups]\nresamples = 20\n[certified]\nkappa = 0.5",
    ),
    (
        "repair",
        Run,
        "modality = 'text'\nmodel = 'text'\ndata = 'comments.csv'\nprotected = ['country']\nrepeats = 1\n[training]\nepochs = 1\n[text]\nseeds = 30\nlocal = 30\n[certified]\nkappa = 0.5",
    ),
    (
        "certify",
        Run,
        "model = 'demo/model'\ndata = 'demo/people.csv'\nsplits = 2\nexhaustive = true",
    ),
    (
        "certify",
        Run,
        "modality = 'text'\nmodel = 'text'\ndata = 'comments.csv'\nprotected = ['country']\nsplits = 2\n[text]\ncolumn = 'comment_text'",
    ),
    (
        "prove",
        Run,
        "model = 'demo/model'\nmarginals = 'demo/people.csv'\nwithin = ['age=20..24']\ntime = '1s'\nmax_boxes = 40\nestimate = 100",
    ),
    (
        "groups",
        Run,
        "model = 'demo/model'\ndata = 'demo/people.csv'\n[groups]\nresamples = 20",
    ),
    (
        "groups",
        Run,
        "modality = 'text'\nmodel = 'text'\ndata = 'comments.csv'\nlabel_column = 'toxic'\nprotected = ['country']\n[groups]\nresamples = 20\n[text]\ncolumn = 'comment_text'",
    ),
    (
        "groups",
        Run,
        "modality = 'text'\ndata = 'comments.csv'\nlabel_column = 'toxic'\nprotected = ['country']\n[predictor]\nsource = 'command:false'\n[groups]\nresamples = 20\n[text]\ncolumn = 'comment_text'",
    ),
    (
        "situations",
        Run,
        "model = 'demo/model'\ndata = 'demo/people.csv'\nprotected = ['sex=female']\nk = 5\nweights = ['age=2']\ncounterpart = 'density'\nunaffected = ['hours']",
    ),
    (
        "counterparts",
        Run,
        "model = 'demo/model'\ndata = 'demo/people.csv'\nprotected = ['sex=female']",
    ),
    (
        "proxies",
        Run,
        "data = 'demo/people.csv'\nschema = 'synthetic-census'\nprotected = ['sex=female']\nfolds = 2",
    ),
    (
        "predict",
        Options("predict"),
        "model = 'demo/model'\ndata = 'demo/people.csv'",
    ),
    (
        "explain",
        Options("explain"),
        "model = 'demo/model'\ndata = 'demo/people.csv'\nrow = 3",
    ),
    (
        "explain",
        Options("explain"),
        "data = 'demo/people.csv'\nrow = 3\n[predictor]\nsource = 'command:false'\nschema = 'synthetic-census'",
    ),
    (
        "evaluate",
        Options("evaluate"),
        "model = 'demo/model'\ndata = 'demo/people.csv'",
    ),
    (
        "knn",
        Run,
        "train = 'train.csv'\ntest = 'test.csv'\n[input]\nlabel_column = 'y'\n[analysis]\npoison = [1]\n[learning]\nfolds = 3\nlargest_k = 3",
    ),
    (
        "knn",
        Run,
        "train = 'train.csv'\ntest = 'test.csv'\n[input]\nlabel_column = 'y'\n[analysis]\npoison_percent = 2.0\n[learning]\nfolds = 3\nlargest_k = 3",
    ),
    (
        "knn",
        Run,
        "train = 'images.idx'\ntest = 'images.idx'\n[input]\ntrain_labels = 'labels.idx'\ntest_labels = 'labels.idx'\n[reading]\nimage_blocks = 2\n[analysis]\npoison = [1]\n[learning]\nfolds = 2\nlargest_k = 2",
    ),
    (
        "knn predict",
        Options("knn predict"),
        "train = 'train.csv'\ntest = 'test.csv'\n[input]\nlabel_column = 'y'\n[learning]\nfolds = 3\nlargest_k = 3",
    ),
    (
        "knn predict",
        Options("knn predict"),
        "train = 'images.idx'\ntest = 'images.idx'\n[input]\ntrain_labels = 'labels.idx'\ntest_labels = 'labels.idx'\n[reading]\nimage_blocks = 2\n[learning]\nfolds = 2\nlargest_k = 2",
    ),
    (
        "kmeans fit",
        Run,
        "data = 'train.csv'\nclusters = 2\n[input]\nlabel_column = 'y'\nbounds = [{ min = 0.0, max = 1.0 }]",
    ),
    (
        "kmeans fit",
        Run,
        "data = 'train.csv'\nclusters = 2\nalgorithm = 'lloyd'\n[input]\nlabel_column = 'y'\nbounds = [{ min = 0.0, max = 1.0 }]",
    ),
    (
        "kmeans fit",
        Run,
        "data = 'train.csv'\nclusters = 2\nalgorithm = 'divide-conquer'\n[input]\nlabel_column = 'y'\nbounds = [{ min = 0.0, max = 1.0 }]",
    ),
    (
        "kmeans fit",
        Run,
        "data = 'images.idx'\nclusters = 2\n[input]\nlabels = 'labels.idx'\n[reading]\nimage_blocks = 2",
    ),
    (
        "kmeans bench",
        Run,
        "data = 'train.csv'\nclusters = 2\n[input]\nlabel_column = 'y'\nbounds = [{ min = 0.0, max = 1.0 }]\n[benchmark]\ndeletions = 3\nrepeats = 1",
    ),
    (
        "kmeans bench",
        Run,
        "data = 'images.idx'\nclusters = 2\n[reading]\nimage_blocks = 2\n[benchmark]\ndeletions = 3\nrepeats = 1",
    ),
    (
        "kmeans delete",
        Options("kmeans delete --model clusters --ids 1 --verify"),
        "data = 'images.idx'\n[reading]\nimage_blocks = 2",
    ),
    (
        "kmeans assign",
        Options("kmeans assign"),
        "model = 'clusters'\ndata = 'images.idx'\n[reading]\nimage_blocks = 2",
    ),
    (
        "spn fit",
        Run,
        "data = 'demo/people.csv'\nschema = 'synthetic-census'",
    ),
    (
        "spn fit",
        Run,
        "data = 'demo/people.csv'\nschema = 'synthetic-census'\n[learning]\nindependence = 'rdc'",
    ),
    (
        "spn bench",
        Run,
        "data = 'demo/people.csv'\nschema = 'synthetic-census'\n[protocol]\nrows = 50\ndeletions = 3\nrepeats = 1",
    ),
    (
        "outliers count",
        Run,
        "data = 'train.csv'\ncolumns = ['a', 'b']\nradius = 0.3\nk = 3\nepsilon = 1.0\ndelta = 0.01\nledger = 'ledger.toml'\n[table]\nranges = [{ column = 'a', min = 0.0, max = 1.0 }, { column = 'b', min = 0.0, max = 1.0 }]",
    ),
    (
        "outliers count",
        Run,
        "data = 'train.csv'\ncolumns = ['a', 'b']\nradius = 0.3\nk = 3\nepsilon = 1.0\ndelta = 0.01\nledger = 'ledger.toml'\n[table]\nranges = [{ column = 'a', min = 0.0, max = 1.0 }, { column = 'b', min = 0.0, max = 1.0 }]\n[noise]\nsensitivity = 'smooth'\ninterval_share = 0.5",
    ),
    (
        "outliers subspaces",
        Run,
        "data = 'train.csv'\ncolumns = ['a', 'b']\nradius = 0.3\nk = 3\ndims = 1\ntop = 1\nepsilon = 1.0\nledger = 'ledger.toml'\n[table]\nranges = [{ column = 'a', min = 0.0, max = 1.0 }, { column = 'b', min = 0.0, max = 1.0 }]",
    ),
    (
        "outliers subspaces",
        Run,
        "data = 'train.csv'\ncolumns = ['a', 'b']\nradius = 0.3\nk = 3\ndims = 1\ntop = 1\nepsilon = 1.0\nthen_count = true\ndelta = 0.01\nledger = 'ledger.toml'\n[table]\nranges = [{ column = 'a', min = 0.0, max = 1.0 }, { column = 'b', min = 0.0, max = 1.0 }]\n[noise]\nsensitivity = 'smooth'\ninterval_share = 0.5",
    ),
    (
        "outliers exact",
        Options("outliers exact --range a=0,1 --range b=0,1"),
        "data = 'train.csv'\ncolumns = ['a', 'b']\nradius = 0.3\nk = 3",
    ),
    (
        "outliers exact",
        Options("outliers exact --range a=0,1 --range b=0,1"),
        "data = 'train.csv'\ncolumns = ['a', 'b']\nradius = 0.3\nk = 3\nepsilon = 1.0\ndelta = 0.01",
    ),
    (
        "embeddings train",
        Options("embeddings train words.txt"),
        "min_count = 1\nepochs = 1\nwidth = 4",
    ),
];

/// Fields that only say how long to go on: at its upper bound such a run ends when it is stopped,
/// and what it did until then is what counts.
const LONG: &[&str] = &[
    "training.epochs",
    "training.patience",
    "estimate",
    "table.estimate",
    "table.counterfactuals",
    "search.local",
    "search.max_iter",
    "search.seeds",
    "text.seeds",
    "text.local",
    "text.max_iter",
    "tuning.error_bound",
    "tuning.surrogate_rows",
    "repeats",
    "splits",
    "text.splits",
    "groups.resamples",
    "benchmark.repeats",
    "benchmark.retrainings",
    "protocol.repeats",
    "epochs",
    "clustering.iterations",
    "clustering.restarts",
    "width",
];

/// Fields of a part that several kinds share, which one of them refuses whatever they say, or for
/// tables, which are what the bases of `predict`, `explain`, `evaluate` and the comparisons of people are of.
const NEVER: &[&str] = &[
    "counterparts: predictor.rate",
    "counterparts: predictor.retries",
    "counterparts: predictor.rows",
    "counterparts: predictor.tolerance",
    "proxies: predictor.rate",
    "proxies: predictor.retries",
    "proxies: predictor.rows",
    "proxies: predictor.tolerance",
    "situations: predictor.rate",
    "situations: predictor.retries",
    "situations: predictor.rows",
    "situations: predictor.tolerance",
    "predict: predictor.rate",
    "predict: predictor.retries",
    "predict: predictor.rows",
    "predict: predictor.tolerance",
    "explain: predictor.rate",
    "explain: predictor.retries",
    "explain: predictor.tolerance",
    "explain: text.max_l0",
    "explain: text.max_length",
    "explain: text.min_fluency",
    "explain: text.min_similarity",
    "explain: text.neighbours",
    "evaluate: label_threshold",
    "evaluate: predictor.rate",
    "evaluate: predictor.retries",
    "evaluate: predictor.rows",
    "evaluate: predictor.tolerance",
    "outliers exact: noise.interval_share",
];

/// Fields at whose upper bound a network takes the memory that it is bounded by: gigabytes.
const LARGE: &[&str] = &["recurrent.units", "recurrent.layers", "transformer.width"];

/// Address space of a run.
const MEMORY: &str = "4GiB";
/// After this a run is said to hang; each but those of [`LONG`] takes a moment.
const PATIENCE: Duration = Duration::from_secs(600);
/// How much of a processor's time a run of [`LONG`] gets before it is stopped.
const STOPPED: Duration = Duration::from_millis(200);

/// A folder with everything that the bases read.
fn workspace() -> Workspace {
    let workspace = Workspace::with_demo(300);
    let line = |line: &str| workspace.line(line).exits(0);
    line("data generate comments --rows 300 --out comments.csv");
    line(
        "train --texts comments.csv --text-column comment_text --label-column toxic --layers 1 --epochs 1 --out text",
    );
    let rows = |count: u32| {
        let row = |at: u32| {
            format!(
                "0.{:03},0.{:03},{}\n",
                at * 379 % 997,
                at * 83 % 991,
                at % 2
            )
        };
        "a,b,y\n".to_owned() + &(1..=count).map(row).collect::<String>()
    };
    workspace.write("train.csv", rows(60));
    workspace.write("test.csv", rows(5));
    let words = "the quick fox sees the lazy dog and the dog sees the fox\n".repeat(20);
    workspace.write("words.txt", words);
    let pixels = (0..20 * 16).map(|at: u32| (at * 37 % 251) as u8);
    let head = [0, 0, 8, 3, 0, 0, 0, 20, 0, 0, 0, 4, 0, 0, 0, 4];
    workspace.write(
        "images.idx",
        head.into_iter().chain(pixels).collect::<Vec<u8>>(),
    );
    let labels = (0..20_u8).map(|at| at % 2);
    let head = [0, 0, 8, 1, 0, 0, 0, 20];
    workspace.write(
        "labels.idx",
        head.into_iter().chain(labels).collect::<Vec<u8>>(),
    );
    line("kmeans fit --data images.idx --image-blocks 2 --clusters 2 --out clusters");
    line("outliers budget --ledger ledger.toml --data train.csv --epsilon 1000000 --delta 0.999");
    workspace
}

/// Numbers to try in any field: none, below none, the smallest and largest of their kinds, and what
/// stands just beyond the whole numbers of 32 bits and of an `f64`.
fn anything() -> Vec<toml::Value> {
    let whole = [0, -1, 1 << 32, (1 << 53) + 1, i64::MAX, i64::MIN];
    let real = [
        0.0,
        -1.0,
        1e-308,
        1e308,
        f64::NAN,
        f64::INFINITY,
        -f64::INFINITY,
    ];
    let whole = whole.map(toml::Value::Integer).into_iter();
    whole.chain(real.map(toml::Value::Float)).collect()
}

/// The bounds of `field`: the largest and smallest numbers that it may be.
fn ends(field: &Field) -> Vec<toml::Value> {
    let is_whole = match &field.kind {
        FieldKind::List(kind) => **kind == FieldKind::Integer,
        kind => *kind == FieldKind::Integer,
    };
    let least = field.minimum.or(field.above.map(f64::next_up));
    let most = field.maximum.or(field.below.map(f64::next_down));
    let value = |end: f64| match is_whole {
        true => toml::Value::Integer(end as i64),
        false => toml::Value::Float(end),
    };
    least.into_iter().chain(most).map(value).collect()
}

/// `base` with `value` at the dotted `path`.
fn with(base: &toml::Table, path: &str, value: toml::Value) -> toml::Table {
    let mut whole = base.clone();
    let mut table = &mut whole;
    let names: Vec<&str> = path.split('.').collect();
    for name in &names[..names.len() - 1] {
        let inner = table
            .entry(*name)
            .or_insert_with(|| toml::Table::new().into());
        table = inner.as_table_mut().expect("a table of fields");
    }
    table.insert(names[names.len() - 1].to_owned(), value);
    whole
}

/// Whether an `error` about the number at `path` names it, the table that it may not be in, or what
/// in `base` it contradicts.
fn names(error: &FieldError, path: &str, base: &toml::Table) -> bool {
    let is_above = path
        .strip_prefix(&error.field)
        .is_some_and(|rest| rest.starts_with('.'));
    let mut names = error.field.split('.');
    let first = names.next().and_then(|name| base.get(name));
    let given = names.fold(first, |value, name| value?.get(name));
    let is_contradicted = given.is_some() && error.expected.starts_with("left out");
    error.field == path || is_above || is_contradicted || error.expected.contains(path)
}

/// What is run with one number.
struct Trial {
    what: String,
    line: Vec<String>,
    is_long: bool,
}

/// Tries numbers in all fields of all kinds, and collects what is to be run.
struct Walk<'w> {
    folder: &'w Path,
    trials: Vec<Trial>,
    /// Fields that were refused whatever they were.
    never: Vec<String>,
}

impl Visitor for Walk<'_> {
    fn visit<S: Specification>(&mut self) {
        let fields: Vec<Field> = S::fields().into_iter().filter(Field::is_number).collect();
        let mut accepted = BTreeSet::new();
        for (at, (_, how, base)) in BASES
            .iter()
            .enumerate()
            .filter(|(_, base)| base.0 == S::KIND)
        {
            let base: toml::Table = base.parse().unwrap();
            for field in &fields {
                for (number, value) in anything().into_iter().chain(ends(field)).enumerate() {
                    let name = format!("{at}-{}-{number}.toml", field.path);
                    if self.tried::<S>((how, &base), field, value, &name) {
                        accepted.insert(field.path.clone());
                    }
                }
                for beyond in [1_u64 << 63, u64::MAX] {
                    refuses_beyond::<S>(&base, field, beyond);
                }
            }
        }
        let never = fields
            .iter()
            .filter(|field| !accepted.contains(&field.path));
        self.never
            .extend(never.map(|field| format!("{}: {}", S::KIND, field.path)));
    }
}

impl Walk<'_> {
    /// Whether `value` is accepted; if so, it is to be run.
    fn tried<S: Specification>(
        &mut self,
        (how, base): (&How, &toml::Table),
        field: &Field,
        value: toml::Value,
        name: &str,
    ) -> bool {
        let what = format!("{} with {} = {value}", S::KIND, field.path);
        let is_most = ends(field).last() == Some(&value);
        let value = match &field.kind {
            FieldKind::List(_) => vec![value].into(),
            _ => value,
        };
        let mut written = with(base, &field.path, value);
        written.insert("kind".to_owned(), S::KIND.into());
        let file = self.folder.join(name);
        std::fs::write(&file, toml::to_string(&written).unwrap()).unwrap();
        let checked = match read::<S>(&file) {
            Ok((specification, _)) => specification.check().map(|checked| checked.into_inner()),
            Err(SpecificationError::Field { source, .. }) => Err(source),
            Err(other) => panic!("{what}: {other}"),
        };
        let specification = match checked {
            Ok(specification) => specification,
            Err(error) => {
                assert!(names(&error, &field.path, base), "{what}: {error}");
                return false;
            }
        };
        if is_most && LARGE.contains(&field.path.as_str()) {
            return true;
        }
        let mut line: Vec<String> = match how {
            Run => vec!["run".to_owned(), name.to_owned()],
            Options(words) => words.split(' ').map(str::to_owned).collect(),
        };
        if let Options(_) = how {
            line.extend(options::<S>(&specification));
        }
        let is_written = !matches!(S::KIND, "explain" | "outliers exact" | "kmeans delete");
        if is_written {
            line.extend(["--out".to_owned(), format!("{name}.out")]);
        }
        let is_end = is_most || field.path == "tuning.error_bound";
        self.trials.push(Trial {
            what,
            line,
            is_long: is_end && LONG.contains(&field.path.as_str()),
        });
        true
    }
}

/// Holds that a number which TOML has no form for, but JSON has, is refused by its field.
fn refuses_beyond<S: Specification>(base: &toml::Table, field: &Field, beyond: u64) {
    if field.name() == "not_private_seed" {
        return; // It is never written, so that all 64 bits serve.
    }
    let mut value = serde_json::to_value(base).unwrap();
    let pointer = field.path.replace('.', "/");
    let (tables, name) = pointer.rsplit_once('/').unwrap_or(("", &pointer));
    let mut table = &mut value;
    for part in tables.split('/').filter(|part| !part.is_empty()) {
        table = table
            .as_object_mut()
            .unwrap()
            .entry(part)
            .or_insert_with(|| serde_json::json!({}));
    }
    table[name] = match &field.kind {
        FieldKind::List(_) => serde_json::json!([beyond]),
        _ => beyond.into(),
    };
    let error = S::from_json(&value)
        .and_then(S::check)
        .expect_err(&field.path);
    assert!(names(&error, &field.path, base), "{}: {error}", S::KIND);
}

/// The options of the command line that say what `specification` says.
fn options<S: Specification>(specification: &S) -> Vec<String> {
    let value = serde_json::to_value(specification).unwrap();
    let fields = S::fields()
        .into_iter()
        .filter(|field| field.is_changed_in(&value));
    let given = fields.filter_map(|field| {
        let value = value.pointer(&format!("/{}", field.path.replace('.', "/")))?;
        let words = match value {
            serde_json::Value::String(text) => text.clone(),
            serde_json::Value::Array(values) => {
                let words = values
                    .iter()
                    .map(|value| value.to_string().replace('"', ""));
                words.collect::<Vec<_>>().join(",")
            }
            other => other.to_string(),
        };
        Some([format!("--{}", field.flag()?), words])
    });
    given.flatten().collect()
}

/// The time of processors that `child` has spent, where the system says so: how far it has come is
/// then no matter of what else the machine does. Else the time since it `began`.
fn spent(child: &Child, began: Instant) -> Duration {
    let ticks = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
        // Behind the name, which may hold anything: the state is the first word, and the ticks of the
        // program and of the system for it are the twelfth and thirteenth.
        let (_, words) = stat.rsplit_once(") ")?;
        let words = words.split(' ').skip(11).take(2);
        let ticks: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        Some(ticks.iter().sum())
    };
    // Linux counts a hundred a second.
    ticks().map_or_else(
        || began.elapsed(),
        |ticks: u64| Duration::from_millis(10 * ticks),
    )
}

/// What is wrong with how the command ends on `trial`, in `folder`.
fn wrong(folder: &Path, trial: &Trial) -> Option<String> {
    let said = folder.join(format!("{}.stderr", trial.line.join("_").replace('/', "_")));
    let mut child = probity_command::command()
        .current_dir(folder)
        .args(&trial.line)
        .args(["--memory-limit", MEMORY])
        // Each thread has its part of the address space, and some machines have many cores.
        .env("RAYON_NUM_THREADS", "2")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&said).unwrap())
        .spawn()
        .unwrap();
    let began = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break Some(status),
            None if trial.is_long && spent(&child, began) > STOPPED => break None,
            None if began.elapsed() > PATIENCE => break None,
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let said = || std::fs::read_to_string(&said).unwrap();
    let Some(status) = status else {
        child.kill().unwrap();
        child.wait().unwrap();
        return (!trial.is_long).then(|| format!("{}: not done after {PATIENCE:?}", trial.what));
    };
    let is_well = matches!(status.code(), Some(0..=3)) && !said().contains("panicked");
    (!is_well).then(|| format!("{}: {status}\n{}", trial.what, said()))
}

#[test]
fn no_number_breaks_a_run() {
    let workspace = workspace();
    let folder = workspace.path("");
    let mut walk = Walk {
        folder: &folder,
        trials: Vec::new(),
        never: Vec::new(),
    };
    each(&mut walk);
    assert_eq!(walk.never, NEVER, "tried by no base");
    assert!(walk.trials.len() > 200, "{} trials", walk.trials.len());
    let (left, wrongs) = (Mutex::new(walk.trials), Mutex::new(Vec::new()));
    let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some(trial) = left.lock().unwrap().pop() else {
                        break;
                    };
                    let found = wrong(&folder, &trial);
                    wrongs.lock().unwrap().extend(found);
                }
            });
        }
    });
    let wrongs = wrongs.into_inner().unwrap();
    assert!(
        wrongs.is_empty(),
        "{} runs:\n{}",
        wrongs.len(),
        wrongs.join("\n")
    );
}

#[test]
fn every_number_has_both_bounds() {
    struct Bounds(Vec<String>);
    impl Visitor for Bounds {
        fn visit<S: Specification>(&mut self) {
            for field in S::fields().iter().filter(|field| field.is_number()) {
                let has_least = field.minimum.or(field.above).is_some();
                let has_most = field.maximum.or(field.below).is_some();
                if !(has_least && has_most || is_seed(field)) {
                    self.0.push(format!("{}: {}", S::KIND, field.path));
                }
            }
        }
    }
    let mut bounds = Bounds(Vec::new());
    each(&mut bounds);
    assert!(bounds.0.is_empty(), "without bounds: {:#?}", bounds.0);
}

/// Widths that are within their bounds may together be more than a machine can train.
#[test]
fn networks_of_too_many_weights_are_refused() {
    let mut table = TrainSpecification::of_table("a.csv", "census");
    table.network.get_or_insert_default().hidden = vec![8192; 5];
    assert!(table.clone().check().is_ok());
    table.network.get_or_insert_default().hidden = vec![8192; 6];
    assert_eq!(table.check().unwrap_err().field, "network.hidden");
    let mut texts = TrainSpecification::of_texts("a.csv", "toxic");
    let network = texts.recurrent.get_or_insert_default();
    (network.layers, network.units) = (1, 4096);
    assert!(texts.clone().check().is_ok());
    texts.recurrent.get_or_insert_default().layers = 64;
    assert_eq!(texts.check().unwrap_err().field, "recurrent.units");
}

/// The list of kinds is all that there are: every type that says its kind in the source.
#[test]
fn every_kind_is_listed() {
    struct Kinds(BTreeSet<String>);
    impl Visitor for Kinds {
        fn visit<S: Specification>(&mut self) {
            assert!(self.0.insert(S::KIND.to_owned()), "{} twice", S::KIND);
        }
    }
    let mut listed = Kinds(BTreeSet::new());
    each(&mut listed);
    let mut declared = BTreeSet::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![root.join("src"), root.join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() && !matches!(name.as_str(), "tests" | "target") {
                folders.push(path);
            } else if name.ends_with(".rs") && name != "tests.rs" {
                let text = std::fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]").next().unwrap();
                let kinds = text.split("const KIND: &'static str = \"").skip(1);
                declared.extend(
                    kinds
                        .filter_map(|rest| rest.split('"').next())
                        .map(str::to_owned),
                );
            }
        }
    }
    assert_eq!(listed.0, declared);
}
