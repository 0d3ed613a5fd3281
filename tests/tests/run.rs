//! Runs: what becomes of rows when workers die, runs are stopped, taken up again or shared out.

mod durable;
mod host_fails;
mod rerun;
mod resume;
mod workers;
