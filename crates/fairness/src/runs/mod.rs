//! The kinds of runs of this crate, as the runner performs them: how each is opened, what is seen
//! of it on its way, and how it is done.

mod audit;
mod certify;
mod compare;
mod fastest;
mod groups;
mod prove;
mod repair;
mod watched;
