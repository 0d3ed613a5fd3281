//! What crosses crates, all in one program of tests, so that the workspace is built for it once:
//! the real program and the real plugin files, as their users have them.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests: a failure here is a failed test"
)]

mod algorithms;
mod check;
mod corpus;
mod dashboard;
mod manifests;
mod modules;
mod plugins;
mod program;
mod run;
mod statistics;
mod support;
