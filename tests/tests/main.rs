//! Tests across crates, with the real program and the real plugin files, and tests of the bundled
//! plugins. They form a single test program, so that the workspace is linked only once.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests: a failure here is a failed test"
)]

mod algorithms;
mod bundled;
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
