//! Individual discrimination: finding it, counting it, proving each find.
//!
//! The data flow: a [`domain::TabularDomain`] says what inputs there are and which are variants of
//! each other; [`seeds`] picks where to begin; [`search::Search`] advances all seeds in lockstep by
//! a [`strategy::Strategy`] ([`adf::Adf`], or another of [`strategies`]) and [`check`]s them;
//! [`distinct`] counts and [`pairs`] keeps what is found; [`estimate`] says how common it is among
//! all inputs; [`samples`] writes the pairs and [`verify`] re-checks every one of them alone;
//! [`session`] runs a search in its run directory, [`summary`] counts what it did, and [`audit`] is
//! all of it as one call. [`text`] is the same for texts. [`certify`] proves inputs fair without a
//! search, [`prove`] bounds the share of a whole domain that is.
//!
//! Source: Zhang et al., "White-box Fairness Testing through Adversarial Sampling" (ICSE 2020) and
//! its extended version ("Automatic Fairness Testing of Neural Classifiers through Adversarial
//! Sampling", TSE 2021).

pub mod adf;
pub mod audit;
mod audit_error;
mod audit_shares;
pub mod calls;
pub mod certify;
pub mod check;
mod checkpoint;
pub mod compare;
pub mod distinct;
pub mod domain;
pub mod effect;
pub mod estimate;
pub mod explain;
pub mod finds;
pub mod found;
pub mod group;
mod guidance;
pub mod in_memory;
mod local;
pub mod modality;
pub mod model_under_test;
pub mod opened;
mod pace;
pub mod pairs;
pub mod population;
pub mod predictions;
pub mod prove;
pub mod rank;
mod ranked;
pub mod record;
pub mod repair;
mod runs;
pub mod samples;
pub mod scored;
pub mod search;
mod search_state;
pub mod seeds;
pub mod session;
pub mod shards;
pub mod shared_budget;
mod shares;
pub mod specification;
pub mod statistics;
pub mod strategies;
pub mod strategy;
pub mod summary;
pub mod table_model;
pub mod text;
pub mod trace;
pub mod trial;
pub mod verify;
