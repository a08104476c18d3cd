//! Pages of documentation, and what is said to happen on them.

pub mod given;
pub mod page;
pub mod shown;
