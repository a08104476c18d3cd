//! The extension module `probity._probity`: conversions, and the command `probity`. Requests come as
//! specifications, as on the command line; results are run directories.
//!
//! ```text
//! data frame ── Arrow C stream ──► memory:NAME ─┐
//! Python callable ───────────────► memory:NAME ─┤ specification ──► run ──► run directory
//! keyword arguments ── JSON ────────────────────┘                              │
//!                                   probity.Audit and its kin ◄────────────────┘
//! ```
//!
//! * `command` runs the command.
//! * `memory` gives names to what lives in Python, by which a specification can call it.
//! * `runs` performs a specification; `watch` tells Python how far it is, and looks for Ctrl-C.
//! * `reading` reads what a run wrote, and infers schemas.
//! * `clustering` and `network` are k-means and sum-product networks, from which rows can be
//!   deleted.
//! * `errors` says which exception of the package an error becomes.
//!
//! Everything is done with the interpreter let go; it is taken for a question to a model of Python,
//! and now and then for progress.

mod clustering;
mod command;
mod errors;
mod memory;
mod network;
mod reading;
mod runs;
mod watch;

use pyo3::prelude::*;

#[pymodule]
fn _probity(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<clustering::Clustering>()?;
    module.add_class::<memory::NamedTable>()?;
    module.add_class::<network::SumProductNetwork>()?;
    module.add_class::<memory::NamedModel>()?;
    module.add_function(wrap_pyfunction!(command::compute_graphs_in, module)?)?;
    module.add_function(wrap_pyfunction!(command::run_command, module)?)?;
    module.add_function(wrap_pyfunction!(runs::budget_left, module)?)?;
    module.add_function(wrap_pyfunction!(runs::declare_budget, module)?)?;
    module.add_function(wrap_pyfunction!(runs::fields, module)?)?;
    module.add_function(wrap_pyfunction!(runs::perform, module)?)?;
    module.add_function(wrap_pyfunction!(reading::infer_schema, module)?)?;
    module.add_function(wrap_pyfunction!(reading::read_table, module)?)?;
    module.add_function(wrap_pyfunction!(reading::is_text_model, module)?)?;
    module.add_function(wrap_pyfunction!(reading::not_taken, module)?)?;
    module.add_function(wrap_pyfunction!(reading::disadvantaged, module)?)?;
    module.add_function(wrap_pyfunction!(reading::rows_as_asked, module)?)?;
    module.add_function(wrap_pyfunction!(reading::samples_file, module)?)?;
    module.add_function(wrap_pyfunction!(reading::probabilities, module)?)?;
    module.add_function(wrap_pyfunction!(reading::report, module)?)?;
    module.add_function(wrap_pyfunction!(reading::schema, module)?)?;
    module.add_function(wrap_pyfunction!(reading::share_in_words, module)?)?;
    module.add_function(wrap_pyfunction!(reading::shares, module)?)?;
    module.add_function(wrap_pyfunction!(reading::specification, module)?)?;
    module.add_function(wrap_pyfunction!(reading::verify_audit, module)?)?;
    Ok(())
}
