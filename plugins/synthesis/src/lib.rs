//! Algorithms that search for a schedule on any network, for collectives whose time depends mainly
//! on bandwidth. `flow` draws a path for each block from the best flow, the division of the demand
//! among paths with the smallest maximum load, and puts the messages into synchronous steps. The
//! `greedy-*` algorithms choose, for each link and step, a rare block that the receiver lacks.
//! Random choices depend only on `seed`. Only the parameter `seconds`, which ends the search after
//! a time, makes a schedule depend on the machine that computes it.

use std::time::{Duration, Instant};
use swapmeet_sdk::{ParamInfo, Problem, Stop, export_plugin};

mod demand;
mod exchange;
pub mod flow;
mod gather;
pub mod greedy;
mod matching;
mod network;
mod orbits;
mod resources;
mod routes;
mod steps;

const SEED: ParamInfo = ParamInfo::number("seed", "1", "another seed gives another schedule");
const SECONDS: ParamInfo = ParamInfo::number(
    "seconds",
    "",
    "end the search after about this time and keep the best schedule; rows are then not repeatable",
);

pub const ENDED_EARLY: &str =
    "the search ended because of `seconds`, so another run may give another schedule";

#[derive(Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    fn start(problem: &Problem<'_>) -> Result<Self, Stop> {
        let seconds = problem.given::<u64>(SECONDS.key())?;
        Ok(Self(seconds.and_then(|s| Instant::now().checked_add(Duration::from_secs(s)))))
    }

    fn has_passed(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

export_plugin!(licence: "MIT OR Apache-2.0", algorithms: [flow::FlowSchedule, greedy::ALL_GATHER, greedy::REDUCE_SCATTER, greedy::ALL_REDUCE, greedy::BROADCAST]);
