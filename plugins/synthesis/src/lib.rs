//! Schedules made for any network, for collectives in which bandwidth is what counts.
//!
//! `flow` divides the demand among the paths of the network as in the best flow, draws whole paths
//! from it, and puts the messages into synchronous steps. `greedy-allgather` and its kin choose, for
//! each link and step, a rare block that the receiver lacks.
//!
//! Choices are drawn from `seed`, so a schedule does not depend on the machine that makes it, except
//! with `seconds`, which ends the search after a time.

use std::time::{Duration, Instant};
use swapmeet_sdk::{ParamInfo, Problem, Stop, export_plugin};

mod demand;
mod flow;
mod fluid;
mod gather;
mod greedy;
mod matching;
mod network;
mod orbits;
mod paths;
mod random;
mod resources;
mod routes;
mod steps;

const SEED: ParamInfo = ParamInfo::number("seed", "1", "another seed gives another schedule");
const SECONDS: ParamInfo = ParamInfo::number(
    "seconds",
    "",
    "end the search after about this time and keep the best schedule; rows are then not repeatable",
);

/// The line of the log for a search that `seconds` has ended.
const ENDED_EARLY: &str =
    "the search ended because of `seconds`, so another run may give another schedule";

/// The end of the time for a search.
#[derive(Clone, Copy)]
pub(crate) struct Deadline(Option<Instant>);

impl Deadline {
    /// Starts the clock, if the user gives `seconds`.
    ///
    /// # Errors
    /// If the value is not a whole number.
    fn start(problem: &Problem<'_>) -> Result<Self, Stop> {
        let seconds = problem.given::<u64>(SECONDS.key())?;
        Ok(Self(seconds.and_then(|s| Instant::now().checked_add(Duration::from_secs(s)))))
    }

    fn has_passed(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

export_plugin!(licence: "MIT OR Apache-2.0", algorithms: [flow::FlowSchedule, greedy::ALL_GATHER, greedy::REDUCE_SCATTER, greedy::ALL_REDUCE, greedy::BROADCAST]);

#[cfg(test)]
mod tests;
