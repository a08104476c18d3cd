//! How fast audits of tables are, against what their arithmetic allows, and where the time goes.
//!
//! The network is the published ADF census network where the data folder is there (environment
//! PROBITY_DATA_DIR), else a random one of the same shape; speed does not
//! depend on the weights except through the share of successful trials.
//!
//! Each line says what was done a second of the clock and a second of processor time (which a busy
//! machine leaves alone), and which share of the floating-point operations that the processor can
//! do in that processor time the work needs: two for each weight and row asked about, and as many
//! for each gradient, whose forward pass the check has done.
//!
//! ```text
//! cargo bench --bench local_phase                   # all below, with one thread and with all
//! cargo bench --bench local_phase -- parts          # the parts of one check
//! cargo bench --bench local_phase -- searches       # local phases: protected sets, strategies
//! cargo bench --bench local_phase -- answers        # estimates, and pairs that are verified
//! cargo bench --bench local_phase -- growth         # 10², 10³, 10⁴ seeds
//! cargo bench --bench local_phase -- million        # 10⁴, 10⁵, 10⁶ seeds × 100 trials, and memory
//! cargo bench --bench local_phase -- networks       # rows a second of one thread, other networks
//! ```

use std::hint::black_box;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[cfg(unix)]
use nix::sys::resource::{UsageWho, getrusage};
#[cfg(unix)]
use nix::sys::time::TimeValLike;
use probity::data::builtin;
use probity::data::schema::Schema;
use probity::data::table::{Labels, Table};
use probity::fairness::calls::{Calls, CountedModel};
use probity::fairness::check::{Wanted, check_until_flip};
use probity::fairness::distinct::{DistinctInputs, InputKey, JoinedKey, Mark};
use probity::fairness::domain::{Domain, TabularDomain};
use probity::fairness::estimate::discriminatory_share;
use probity::fairness::modality::{Sample, TableWitness, Witness};
use probity::fairness::model_under_test::ModelAccess;
use probity::fairness::search::{Search, SearchOptions, SearchState};
use probity::fairness::seeds::clustered_seeds;
use probity::fairness::strategies::tuning::Tuning;
use probity::fairness::strategies::{Ingredients, StrategyName, WithStrategy, with_strategy};
use probity::fairness::strategy::Strategy;
use probity::nn::encoding::{Encoding, InputLayout};
use probity::nn::fnn::{Activation, Fnn, Network};
use probity::nn::import::ImportConfig;
use probity::nn::weights::read_weights;
use probity::nn::{Classifier, Differentiable, Objective, Rows};
use probity::tensor::device::ComputeDevice;
use pulp::{Simd, WithSimd};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let mut under_test = UnderTest::load()?;
    let all = rayon::current_num_threads();
    println!(
        "network: {}, {} multiply-adds a forward row; {all} threads",
        under_test.origin,
        under_test.network.multiply_adds(),
    );
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let is_asked = |what: &str| asked.iter().any(|argument| argument == what);
    if is_asked("growth") {
        return growth(&under_test);
    }
    if is_asked("networks") {
        return networks(&under_test);
    }
    under_test.peak = (0..3).map(|_| peak()).fold(0.0, f64::max);
    println!("peak: {:.1} GFLOP/s a thread", 1e-9 * under_test.peak);
    if is_asked("million") {
        return million(&under_test);
    }
    let is_all = !["parts", "searches", "answers"].into_iter().any(is_asked);
    if is_all || is_asked("parts") {
        breakdown(&under_test)?;
    }
    for threads in [1, all] {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        let done = pool.install(|| -> Result<(), String> {
            println!("{threads} threads");
            if is_all || is_asked("searches") {
                searches(&under_test).map_err(|failure| failure.to_string())?;
            }
            if is_all || is_asked("answers") {
                answers(&under_test).map_err(|failure| failure.to_string())?;
            }
            Ok(())
        });
        done?;
    }
    Ok(())
}

/// Floating-point operations a second of one thread: fused multiply-adds of registers.
fn peak() -> f64 {
    struct Loop;
    impl WithSimd for Loop {
        type Output = f64;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> f64 {
            const ROUNDS: usize = 10_000_000;
            let (factor, term) = (simd.splat_f32s(black_box(0.999)), simd.splat_f32s(1e-3));
            let one = simd.splat_f32s(black_box(1.0));
            let [mut a, mut b, mut c, mut d, mut e] = [one; 5];
            let [mut f, mut g, mut h, mut i, mut j] = [one; 5];
            let started = processor_time();
            // Written out, since a loop over them would keep them in memory: this is compiled for size.
            for _ in 0..ROUNDS {
                a = simd.mul_add_f32s(a, factor, term);
                b = simd.mul_add_f32s(b, factor, term);
                c = simd.mul_add_f32s(c, factor, term);
                d = simd.mul_add_f32s(d, factor, term);
                e = simd.mul_add_f32s(e, factor, term);
                f = simd.mul_add_f32s(f, factor, term);
                g = simd.mul_add_f32s(g, factor, term);
                h = simd.mul_add_f32s(h, factor, term);
                i = simd.mul_add_f32s(i, factor, term);
                j = simd.mul_add_f32s(j, factor, term);
            }
            let sums = [a, b, c, d, e, f, g, h, i, j];
            for sum in sums {
                black_box(simd.reduce_sum_f32s(sum));
            }
            let time = (processor_time() - started).as_secs_f64();
            (2 * sums.len() * ROUNDS * S::F32_LANES) as f64 / time
        }
    }
    pulp::Arch::new().dispatch(Loop)
}

/// Processor time of all threads so far; none where it is not known.
fn processor_time() -> Duration {
    #[cfg(unix)]
    if let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) {
        return Duration::from_micros(usage.user_time().num_microseconds() as u64);
    }
    Duration::ZERO
}

/// The most memory so far, in MB.
fn memory() -> f64 {
    #[cfg(unix)]
    if let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) {
        return usage.max_rss() as f64 / 1024.0;
    }
    f64::NAN
}

/// What some work took.
struct Took {
    seconds: f64,
    processor: f64,
}

impl Took {
    fn of<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<(Took, T), Failure> {
        let (started, processor) = (Instant::now(), processor_time());
        let done = work()?;
        let took = Took {
            seconds: started.elapsed().as_secs_f64(),
            processor: (processor_time() - processor).as_secs_f64(),
        };
        Ok((took, done))
    }

    fn print(&self, name: &str, (count, what): (f64, &str), operations: f64, peak: f64) {
        println!(
            "  {name:34} {:10.0} {what}/s, {:10.0} a processor second, {:4.1} % of the peak",
            count / self.seconds,
            count / self.processor,
            100.0 * operations / self.processor / peak,
        );
    }
}

/// Local phases: of ADF on several protected sets, and of other strategies.
fn searches(under_test: &UnderTest) -> Result<(), Failure> {
    under_test.search(StrategyName::Adf, &["sex"], 1000, 1000)?;
    under_test.search(StrategyName::Adf, &["sex", "race", "age"], 1000, 1000)?;
    under_test.search(StrategyName::Adf, &["sex"], 100, 1000)?;
    for (name, trials) in [
        (StrategyName::Eidig, 1000),
        (StrategyName::AequitasRandom, 1000),
        (StrategyName::AequitasFully, 1000),
        (StrategyName::RandomWalk, 1000),
        (StrategyName::Sg, 50),
    ] {
        under_test.search(name, &["sex"], 1000, trials)?;
    }
    Ok(())
}

/// Answers without a search.
fn answers(under_test: &UnderTest) -> Result<(), Failure> {
    estimate(under_test)?;
    verification(under_test)
}

/// Shares of uniform inputs.
fn estimate(under_test: &UnderTest) -> Result<(), Failure> {
    for protected in [&["sex"][..], &["sex", "race", "age"]] {
        let domain = under_test.domain(protected)?;
        let model = Fnn::new(&under_test.network, &ComputeDevice::flex());
        let calls = Calls::default();
        let model = CountedModel::new(&model, &calls);
        let (took, _) = Took::of(|| {
            let go_on = &mut |_| ControlFlow::Continue(());
            Ok(discriminatory_share(
                &model,
                &domain,
                Vec::new(),
                1 << 19,
                1,
                go_on,
            )?)
        })?;
        let rows = calls.so_far().rows as f64;
        let name = format!("estimate, {}", protected.join(" x "));
        let operations = rows * under_test.operations();
        took.print(&name, (rows, "rows"), operations, under_test.peak);
    }
    Ok(())
}

/// Pairs asked about anew, in 32 and in 64 bits.
fn verification(under_test: &UnderTest) -> Result<(), Failure> {
    let domain = under_test.domain(&["sex"])?;
    let protected = ["sex".to_owned()];
    let (schema, network) = (under_test.schema.clone(), under_test.network.clone());
    let witness = TableWitness::of_network(schema, network, &protected, String::new())?;
    let samples: Vec<Sample> = (0..1 << 15)
        .map(|item| {
            let row = domain.random_input(2, item);
            let mut other = Vec::new();
            let variant = 1 - domain.own_variant(&row);
            domain.write_variant(&row, variant, &mut other);
            Sample {
                seed: item,
                source_row: None,
                origin: None,
                row,
                other,
                numbers: [Vec::new(), Vec::new()],
                texts: [String::new(), String::new()],
                label: String::new(),
                other_label: String::new(),
            }
        })
        .collect();
    let samples: Vec<&Sample> = samples.iter().collect();
    let (took, _) = Took::of(|| {
        for block in samples.chunks(4096) {
            black_box(witness.answers(block)?);
        }
        Ok(())
    })?;
    let pairs = samples.len() as f64;
    // Those in 64 bits take twice the room in registers.
    let operations = 6.0 * pairs * under_test.operations();
    took.print(
        "verification",
        (pairs, "pairs"),
        operations,
        under_test.peak,
    );
    Ok(())
}

/// Seeds and trials against time: linear.
fn growth(under_test: &UnderTest) -> Result<(), Failure> {
    for (seeds, trials) in [
        (100, 1000),
        (1000, 1000),
        (10_000, 1000),
        (1000, 100),
        (1000, 10_000),
    ] {
        under_test.search(StrategyName::Adf, &["sex"], seeds, trials)?;
    }
    Ok(())
}

/// Many seeds, each with few trials.
fn million(under_test: &UnderTest) -> Result<(), Failure> {
    for seeds in [10_000, 100_000, 1_000_000] {
        under_test.search(StrategyName::Adf, &["sex"], seeds, 100)?;
        println!("  {:.0} MB of memory at most until now", memory());
    }
    Ok(())
}

/// Logits and input gradients of one thread, for networks of other kinds and widths.
fn networks(under_test: &UnderTest) -> Result<(), Failure> {
    let domain = under_test.domain(&["sex"])?;
    let codes: Vec<i32> = (0..4096)
        .flat_map(|item| domain.random_input(1, item))
        .collect();
    let narrow = &[64, 32, 16, 8, 4][..];
    for (name, encoding, hidden, activation) in [
        ("scaled, ReLU", Encoding::RAW, narrow, Activation::Relu),
        ("scaled, tanh", Encoding::RAW, narrow, Activation::Tanh),
        ("one-hot, ReLU", Encoding::OneHot, narrow, Activation::Relu),
        ("3 x 512", Encoding::RAW, &[512; 3], Activation::Relu),
        ("3 x 1,024", Encoding::RAW, &[1024; 3], Activation::Relu),
    ] {
        let layout = InputLayout::new(&under_test.schema.attributes, &[encoding; 13]);
        let network = Network::random(layout, hidden, 2, activation, 1);
        let model = Fnn::new(&network, &ComputeDevice::flex());
        let rows = Rows::new(&codes, domain.width());
        let cotangents: Vec<f32> = (0..rows.len()).flat_map(|_| [1.0, -1.0]).collect();
        let rate = |work: &dyn Fn()| {
            let times = (0..9).map(|_| {
                let started = Instant::now();
                work();
                started.elapsed().as_secs_f64()
            });
            rows.len() as f64 / times.fold(f64::INFINITY, f64::min)
        };
        let forward = rate(&|| {
            black_box(model.logits(rows).ok());
        });
        let gradients = rate(&|| {
            black_box(model.input_gradients(rows, &cotangents).ok());
        });
        println!("{name:16} {forward:10.0} forward rows/s, {gradients:10.0} gradient rows/s");
    }
    Ok(())
}

/// The parts of one check, each alone in large batches on all threads, for one protected pair.
fn breakdown(under_test: &UnderTest) -> Result<(), Failure> {
    let domain = under_test.domain(&["sex"])?;
    let model = Fnn::new(&under_test.network, &ComputeDevice::flex());
    let checks: usize = 1 << 18;
    let chunk = 512;
    let codes: Vec<i32> = (0..chunk as u64)
        .flat_map(|item| domain.random_input(1, item))
        .collect();
    let width = domain.width();
    let rows = Rows::new(&codes, width);
    let time = |name: &str, work: &(dyn Fn() + Sync)| {
        let started = Instant::now();
        (0..checks / chunk).into_par_iter().for_each(|_| work());
        let nanoseconds = started.elapsed().as_secs_f64() * 1e9 / checks as f64;
        println!("  {name:46} {nanoseconds:8.1} ns a check");
    };
    // A check: two forward rows; the gradients that led to it: two rows, forward and backward.
    let operations = 2 * 2 * 3 * under_test.network.multiply_adds();
    println!(
        "arithmetic of a check with fresh gradients: {operations} floating-point operations\n\
         ({} when the forward pass of the check is shared with the gradient's)",
        2 * 2 * 2 * under_test.network.multiply_adds()
    );
    let hints = vec![0; chunk];
    time("variants: 2 forward rows and their comparison", &|| {
        black_box(check_until_flip(&model, &domain, rows, &hints, Wanted::Logits).ok());
    });
    let cotangents: Vec<f32> = (0..chunk).flat_map(|_| [1.0, -1.0]).collect();
    time("gradients: 2 rows, forward and backward", &|| {
        for _ in 0..2 {
            black_box(model.input_gradients(rows, &cotangents).ok());
        }
    });
    time("keys of a row and of its individual", &|| {
        for row in rows.iter() {
            black_box(domain.key(row));
        }
    });
    let started = Instant::now();
    let mut set = DistinctInputs::default();
    for item in 0..checks as u64 {
        let row = item.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - InputKey::JOINED_BITS);
        let key = InputKey::Joined(JoinedKey {
            row,
            variant_bits: 1,
        });
        set.mark(key, &[Mark::LocalGenerated, Mark::LocalDiscriminatory]);
    }
    black_box(&set);
    println!(
        "  {:46} {:8.1} ns a check (one thread)",
        "distinct inputs: two marks of an input",
        started.elapsed().as_secs_f64() * 1e9 / checks as f64
    );
    Ok(())
}

struct UnderTest {
    origin: &'static str,
    /// Floating-point operations a second of one thread.
    peak: f64,
    schema: Schema,
    network: Network,
    table: Table,
}

impl UnderTest {
    fn load() -> Result<UnderTest, Failure> {
        let schema = builtin::schema("adf-census")?.ok_or("no schema adf-census")?;
        let data = std::env::var_os("PROBITY_DATA_DIR").map(PathBuf::from);
        let network = |data: &PathBuf| data.join("peer-models/adf-census/keras_layout.npz");
        if let Some(data) = data.filter(|data| network(data).is_file()) {
            let weights = network(&data);
            let config = ImportConfig::from_toml(include_str!("../crates/nn/models/adf-fnn.toml"))?;
            let (network, _) = config.network(&read_weights(&weights)?, &schema)?;
            let table = Table::read(data.join("adf/census.csv.gz"), &schema, Labels::Required)?;
            return Ok(UnderTest {
                origin: "published ADF census network",
                peak: f64::NAN,
                schema,
                network,
                table,
            });
        }
        let layout = InputLayout::new(&schema.attributes, &[Encoding::RAW; 13]);
        let network = Network::random(layout, &[64, 32, 16, 8, 4], 2, Activation::Relu, 1);
        let domain = TabularDomain::new(&schema, &network.layout, &[8])?;
        let codes = (0..32_561).flat_map(|item| domain.random_input(1, item));
        Ok(UnderTest {
            origin: "random network of the ADF census network's shape",
            peak: f64::NAN,
            table: Table::new(13, codes.collect(), Vec::new()),
            schema,
            network,
        })
    }

    fn domain(&self, protected: &[&str]) -> Result<TabularDomain, Failure> {
        let protected = protected
            .iter()
            .map(|name| self.schema.index_of(name))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(TabularDomain::new(
            &self.schema,
            &self.network.layout,
            &protected,
        )?)
    }

    /// Floating-point operations of a row's forward pass, and of its gradient's backward pass.
    fn operations(&self) -> f64 {
        2.0 * self.network.multiply_adds() as f64
    }

    /// Inputs to begin at: rows of the data by clusters, or uniform ones where there are too few.
    fn seeds(&self, domain: &TabularDomain, count: usize) -> Vec<Vec<i32>> {
        if count > self.table.rows() {
            let items = 0..count as u64;
            return items.map(|item| domain.random_input(1, item)).collect();
        }
        let seeds = clustered_seeds(&self.table, 4, count, 1);
        let rows = seeds.iter().map(|&row| self.table.row(row as usize));
        rows.map(<[i32]>::to_vec).collect()
    }

    fn search(
        &self,
        name: StrategyName,
        protected: &[&str],
        seeds: usize,
        trials: u32,
    ) -> Result<(), Failure> {
        let domain = self.domain(protected)?;
        let calls = Calls::default();
        let model = Fnn::new(&self.network, &ComputeDevice::flex());
        let model = CountedModel::new(&model, &calls);
        let ingredients = Ingredients {
            model: ModelAccess::Gradients(&model),
            domain: &domain,
            objective: Objective::Margin,
            step_global: 1,
            step_local: 1,
            tuning: &Tuning::default(),
            rank: None,
            seed: 1,
        };
        let work = LocalPhase {
            under_test: self,
            title: format!(
                "{}, {}, {seeds} x {trials}",
                name.name(),
                protected.join(" x ")
            ),
            model: &model,
            domain: &domain,
            calls: &calls,
            seeds: self.seeds(&domain, seeds),
            trials,
        };
        with_strategy(name, &ingredients, work)?
    }
}

/// A search whose local phase is measured.
struct LocalPhase<'a> {
    under_test: &'a UnderTest,
    title: String,
    model: &'a dyn Classifier,
    domain: &'a TabularDomain,
    calls: &'a Calls,
    seeds: Vec<Vec<i32>>,
    trials: u32,
}

impl WithStrategy for LocalPhase<'_> {
    type Output = Result<(), Failure>;

    fn with<S: Strategy>(self, strategy: &S) -> Result<(), Failure> {
        let options = SearchOptions {
            local: self.trials,
            ..SearchOptions::default()
        };
        let search = Search {
            model: self.model,
            reference: None,
            domain: self.domain,
            strategy,
            calls: self.calls,
            options: &options,
        };
        let seeds = strategy.own_seeds(self.seeds.len()).unwrap_or(self.seeds);
        let mut state: SearchState<S::Memory, S::Shared> = SearchState::new(seeds, 2);
        // As an audit does by default.
        let folder = tempfile::tempdir()?;
        state.spill_to(folder.path().to_owned(), 256 << 20);
        let is_global = |state: &SearchState<S::Memory, S::Shared>| state.round() > 0;
        // Until the global phase is over: its end is round 0 of the local one.
        search.run(&mut state, &mut |state| match is_global(state) {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        })?;
        let (took, _) =
            Took::of(|| Ok(search.run(&mut state, &mut |_| ControlFlow::Continue(()))?))?;
        let local = state.local();
        let asked = (local.model_rows + local.model_gradients) as f64;
        let operations = asked * self.under_test.operations();
        let checks = (local.checks as f64, "checks");
        took.print(&self.title, checks, operations, self.under_test.peak);
        println!(
            "    {} checks, {} rows, {} gradients, {} individuals found, {} pairs, {:.0} ns of the clock a check",
            local.checks,
            local.model_rows,
            local.model_gradients,
            state.individuals().count(Mark::LocalDiscriminatory),
            state.found().len(),
            1e9 * took.seconds / local.checks as f64,
        );
        Ok(())
    }
}
