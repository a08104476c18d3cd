//! Tables: what they are, how they are read, and where they come from.

mod attribute;
pub mod bins;
pub mod builtin;
pub mod compressed;
pub mod encoding;
pub mod fetch;
pub mod idx;
pub mod infer;
pub mod meant;
pub mod memory;
pub mod named_schema;
pub mod number_form;
pub mod numbers;
pub mod read;
pub mod schema;
mod schema_error;
pub mod source;
pub mod specification;
mod spelling;
mod spread;
pub mod synthetic;
pub mod table;
mod unicode;
pub mod words;
