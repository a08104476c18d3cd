//! What share of a domain is proved in which time.
//!
//! The networks are those of the benchmark of Fairify and FairQuant and the published ADF census
//! network, where the data folder is there (environment PROBITY_DATA_DIR); else random ones of the
//! shapes of the former, whose figures say something of the speed alone. FairQuant's own figures stand
//! beside ours: it compares the protected attribute's ends only.
//!
//! ```text
//! cargo bench --bench prove                            # FairQuant's ten networks
//! cargo bench --bench prove -- AC-2 GC-2               # some of them
//! cargo bench --bench prove -- census                  # the ADF census network: bounds against time
//! cargo bench --bench prove -- model DIR sex,race 60   # a model directory, so many seconds
//! ```
//!
//! What is undecided is given after so many seconds of the clock, with the processor time of all
//! threads at the end, which a busy machine leaves alone. Every proven interval is held against the
//! share among uniform inputs, which are asked one by one.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[cfg(unix)]
use nix::sys::resource::{UsageWho, getrusage};
#[cfg(unix)]
use nix::sys::time::TimeValLike;
use probity::data::builtin;
use probity::data::schema::Schema;
use probity::fairness::domain::TabularDomain;
use probity::fairness::estimate::{Estimate, discriminatory_share};
use probity::fairness::prove::run::{Proof, ProofProgress, ProveSpecification};
use probity::fairness::prove::summary::{Moment, ProveSummary};
use probity::nn::encoding::{Encoding, InputLayout};
use probity::nn::fnn::{Activation, Fnn, Network};
use probity::nn::import::ImportConfig;
use probity::nn::model::Model;
use probity::nn::weights::read_weights;
use probity::run::place::Place;
use probity::run::run_directory::RunDirectory;
use probity::run::specification::{Seconds, Specification};
use probity::tensor::device::ComputeDevice;

type Failure = Box<dyn std::error::Error>;

/// Uniform inputs that are asked.
const SAMPLED: u64 = 1_000_000;

/// A network of the benchmark, and what FairQuant left undecided of it, per cent, in so many seconds:
/// its C program, one thread, split depth 20, on a busy machine.
struct Published {
    name: &'static str,
    hidden: &'static [usize],
    undecided: f64,
    seconds: f64,
    /// Seconds that we take at most.
    limit: f64,
}

const fn published(
    name: &'static str,
    hidden: &'static [usize],
    [undecided, seconds, limit]: [f64; 3],
) -> Published {
    Published {
        name,
        hidden,
        undecided,
        seconds,
        limit,
    }
}

const FAIRQUANT: [Published; 10] = [
    published("AC-1", &[16, 8], [9.3, 1.9, 60.0]),
    published("AC-2", &[100], [20.1, 30.0, 60.0]),
    published("AC-3", &[50], [66.7, 57.0, 60.0]),
    published("AC-4", &[100, 100], [89.5, 75.0, 120.0]),
    published("AC-5", &[64, 64], [86.0, 75.0, 120.0]),
    published("GC-1", &[50], [67.3, 13.0, 60.0]),
    published("GC-2", &[100], [57.8, 46.0, 60.0]),
    published("GC-3", &[9], [41.6, 8.0, 60.0]),
    published("GC-4", &[6, 4], [0.34, 0.3, 60.0]),
    published("GC-5", &[64, 32, 16, 8, 4], [0.19, 2.1, 60.0]),
];

/// Attributes of the benchmark's adult networks with their least and largest codes.
const ADULT: &[(&str, i32, i32)] = &[
    ("age", 10, 100),
    ("workclass", 0, 6),
    ("education", 0, 15),
    ("education-num", 1, 16),
    ("marital-status", 0, 6),
    ("occupation", 0, 13),
    ("relationship", 0, 5),
    ("race", 0, 4),
    ("sex", 0, 1),
    ("capital-gain", 0, 19),
    ("capital-loss", 0, 19),
    ("hours-per-week", 1, 100),
    ("native-country", 0, 40),
];

/// The same of the credit networks.
const CREDIT: &[(&str, i32, i32)] = &[
    ("status", 0, 2),
    ("month", 0, 80),
    ("credit_history", 0, 2),
    ("purpose", 0, 9),
    ("credit_amount", 0, 20_000),
    ("savings", 0, 2),
    ("employment", 0, 2),
    ("investment_as_income_percentage", 1, 4),
    ("other_debtors", 0, 2),
    ("residence_since", 1, 4),
    ("property", 0, 2),
    ("age", 0, 1),
    ("installment_plans", 0, 2),
    ("housing", 0, 2),
    ("number_of_credits", 1, 4),
    ("skill_level", 0, 3),
    ("people_liable_for", 1, 2),
    ("telephone", 0, 1),
    ("foreign_worker", 0, 1),
    ("sex", 0, 1),
];

/// Moments at which bounds are shown, in seconds.
const MOMENTS: [f64; 7] = [1.0, 3.0, 10.0, 30.0, 60.0, 120.0, 600.0];

fn main() -> Result<(), Failure> {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
    let asked: Vec<&str> = asked.into_iter().filter(|of| *of != "--bench").collect();
    let folder = tempfile::tempdir()?;
    println!("{} threads", rayon::current_num_threads());
    match asked[..] {
        ["census"] => census(folder.path()),
        ["model", model, protected, seconds] => {
            let model = Path::new(model);
            let protected: Vec<&str> = protected.split(',').collect();
            against_time(model, &protected, seconds.parse()?, folder.path())
        }
        _ => fairquant(&asked, folder.path()),
    }
}

fn data() -> Option<PathBuf> {
    std::env::var_os("PROBITY_DATA_DIR").map(PathBuf::from)
}

/// Processor time of all threads so far; none where it is not known.
fn processor_time() -> Duration {
    #[cfg(unix)]
    if let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) {
        return Duration::from_micros(usage.user_time().num_microseconds() as u64);
    }
    Duration::ZERO
}

fn schema(attributes: &[(&str, i32, i32)]) -> Result<Schema, Failure> {
    let mut text =
        "name = \"benchmark\"\n[label]\nname = \"y\"\nclasses = [\"no\", \"yes\"]\n".to_owned();
    for (name, min, max) in attributes {
        text += &format!(
            "[[attribute]]\nname = \"{name}\"\nkind = \"integer\"\nmin = {min}\nmax = {max}\n"
        );
    }
    Ok(Schema::from_toml(&text)?)
}

fn fairquant(asked: &[&str], folder: &Path) -> Result<(), Failure> {
    println!(
        "| network | protected | fair % | discriminatory % | undecided % | seconds | processor | boxes | undecided % in FairQuant's seconds | FairQuant's undecided % | sampled % | within |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|");
    for of in &FAIRQUANT {
        if !asked.is_empty() && !asked.contains(&of.name) {
            continue;
        }
        let (attributes, protected) = match of.name.starts_with("AC") {
            true => (ADULT, "sex"),
            false => (CREDIT, "age"),
        };
        let model = folder.join(of.name);
        std::fs::create_dir(&model)?;
        of.model(schema(attributes)?)?.save(&model)?;
        let proved = prove(&model, &[protected], of.limit, &folder.join("run"))?;
        let in_its_time = proved.undecided_at(of.seconds);
        let reached = match in_its_time <= 0.1 * of.undecided {
            true => "",
            false => " (more than a tenth)",
        };
        let summary = &proved.summary;
        println!(
            "| {} | {protected} | {:.2} | {:.3} | {:.2} | {:.1} | {:.1} | {} | {in_its_time:.2} in {} s{reached} | {} | {} |",
            of.name,
            100.0 * summary.fair.share,
            100.0 * summary.discriminatory.share,
            100.0 * summary.undecided.share,
            summary.seconds,
            proved.processor.as_secs_f64(),
            summary.boxes,
            of.seconds,
            of.undecided,
            proved.sampled(),
        );
    }
    Ok(())
}

impl Published {
    fn model(&self, schema: Schema) -> Result<Model, Failure> {
        let weights = data().map(|data| {
            let file = format!("peer-models/fairquant/{}.npz", self.name);
            data.join(file)
        });
        let network = match weights.filter(|file| file.is_file()) {
            Some(file) => {
                let config = format!(
                    "hidden = {:?}\noutput = \"sigmoid\"\n[[layout]]\nweight = \"kernel{{n}}\"\nbias = \"bias{{n}}\"\norientation = \"in-out\"\n",
                    self.hidden
                );
                ImportConfig::from_toml(&config)?
                    .network(&read_weights(&file)?, &schema)?
                    .0
            }
            None => {
                let encodings = vec![Encoding::RAW; schema.attributes.len()];
                let layout = InputLayout::new(&schema.attributes, &encodings);
                Network::random(layout, self.hidden, 2, Activation::Relu, 1)
            }
        };
        Ok(Model { schema, network })
    }
}

fn census(folder: &Path) -> Result<(), Failure> {
    let schema = builtin::schema("adf-census")?.ok_or("no schema adf-census")?;
    let data = data().ok_or("PROBITY_DATA_DIR says where the published network is")?;
    let config = ImportConfig::from_toml(include_str!("../crates/nn/models/adf-fnn.toml"))?;
    let weights = read_weights(&data.join("peer-models/adf-census/keras_layout.npz"))?;
    let (network, _) = config.network(&weights, &schema)?;
    let model = folder.join("model");
    std::fs::create_dir(&model)?;
    Model { schema, network }.save(&model)?;
    for protected in [&["sex"][..], &["race"], &["age"], &["sex", "race", "age"]] {
        against_time(&model, protected, 120.0, folder)?;
    }
    Ok(())
}

/// The bounds on the discriminatory share of the network in `model` at some moments.
fn against_time(
    model: &Path,
    protected: &[&str],
    seconds: f64,
    folder: &Path,
) -> Result<(), Failure> {
    let proved = prove(model, protected, seconds, &folder.join("run"))?;
    println!("\n{} by {}", model.display(), protected.join(" x "));
    println!("| seconds | boxes | discriminatory at least % | at most % | undecided % |");
    println!("|--:|--:|--:|--:|--:|");
    for moment in proved.moments() {
        println!(
            "| {:.1} | {} | {:.3} | {:.2} | {:.2} |",
            moment.seconds,
            moment.boxes,
            100.0 * moment.discriminatory,
            100.0 * (1.0 - moment.fair),
            undecided(moment)
        );
    }
    println!(
        "processor {:.1} s; sampled %: {}",
        proved.processor.as_secs_f64(),
        proved.sampled()
    );
    Ok(())
}

/// What came of a proof.
struct Proved {
    summary: ProveSummary,
    processor: Duration,
    /// All rounds.
    rounds: Vec<Moment>,
    /// The share among uniform inputs.
    estimate: Estimate,
}

fn undecided(moment: &Moment) -> f64 {
    100.0 * (1.0 - moment.fair - moment.discriminatory)
}

impl Proved {
    fn undecided_at(&self, seconds: f64) -> f64 {
        let mut rounds = self.rounds.iter();
        let last = rounds.rfind(|moment| moment.seconds <= seconds);
        last.map_or(100.0, undecided)
    }

    /// The last round before each moment, and the last of all.
    fn moments(&self) -> Vec<&Moment> {
        let mut shown: Vec<&Moment> = Vec::new();
        for seconds in MOMENTS {
            let before = |moment: &&Moment| moment.seconds <= seconds;
            shown.extend(self.rounds.iter().rfind(before));
        }
        shown.extend(self.rounds.last());
        shown.dedup();
        shown
    }

    /// The sampled share, its interval, and whether that meets the proven one.
    fn sampled(&self) -> String {
        let ([low, high], [least, most]) = (self.estimate.ci95, self.summary.bounds);
        let is_within = low <= most && high >= least;
        format!(
            "{:.3} ({:.3} – {:.3}) | {}",
            100.0 * self.estimate.rate,
            100.0 * low,
            100.0 * high,
            if is_within { "yes" } else { "NO" }
        )
    }
}

fn prove(model: &Path, protected: &[&str], seconds: f64, run: &Path) -> Result<Proved, Failure> {
    let mut specification = ProveSpecification::default();
    specification.model = model.to_owned();
    specification.protected = protected.iter().map(|&name| name.to_owned()).collect();
    specification.time = Some(Seconds::from(Duration::from_secs_f64(seconds)));
    specification.estimate = 0;
    // As far as the time goes.
    specification.until_undecided = 0.0;
    let proof = Proof::open(specification.check()?, &Place::New(None))?;
    let mut rounds = Vec::new();
    let before = processor_time();
    let summary = proof.run(&RunDirectory::create(run)?, false, &mut |progress| {
        if let ProofProgress::Prove(moment) = progress {
            rounds.push(moment);
        }
        ControlFlow::Continue(())
    })?;
    let processor = processor_time() - before;
    rounds.extend(summary.trace.last());
    std::fs::remove_dir_all(run)?;
    let opened = Model::load(model)?;
    let places = protected.iter().map(|name| opened.schema.index_of(name));
    let places: Vec<usize> = places.collect::<Result<_, _>>()?;
    let domain = TabularDomain::new(&opened.schema, &opened.network.layout, &places)?;
    let fnn = Fnn::new(&opened.network, &ComputeDevice::flex());
    let go_on = &mut |_| ControlFlow::Continue(());
    Ok(Proved {
        summary,
        processor,
        rounds,
        estimate: discriminatory_share(&fnn, &domain, Vec::new(), SAMPLED, 1, go_on)?,
    })
}
