//! `linear-sync`: direct messages in `ceil((p - 1) / w)` steps. In each step, a node sends w of
//! them.
//! Through one port, the time is `(p - 1) alpha + (p - 1) m beta`. The algorithm is
//! `alltoall_intra_linear_sync` of Open MPI and the scattered all-to-all of MPICH. In the first
//! step, rank r sends to the ranks r + 1 to r + w. Each further step uses the next w distances. The
//! libraries start a new message as soon as any message ends; here, the w messages of a step start
//! together.

use crate::ANYWHERE;
use swapmeet_sdk::{About, Algorithm, Blocks, ParamInfo, Problem, Schedule, Stop, Symmetry};

pub struct LinearSync;

const WINDOW: ParamInfo = ParamInfo::number(
    "window",
    "32",
    "number of messages that a node sends, and receives, in one step",
);

impl Algorithm for LinearSync {
    fn about(&self) -> About {
        About {
            name: "linear-sync",
            title: "Direct messages, a window of them at a time",
            paper: "Open MPI, coll/base alltoall_intra_linear_sync; MPICH, alltoall_intra_scattered",
            params: &[WINDOW],
            ports: u64::MAX,
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        /// The largest number of messages in a step, because all of them are in memory at the same
        /// time.
        const MAX_MESSAGES: u64 = 1 << 22;
        let (n, window) = (problem.topology().nodes(), problem.whole("window", 1..=u64::MAX)?);
        let messages = n.saturating_mul(window.min(n));
        if messages > MAX_MESSAGES {
            return Err(Stop::unsupported(format!(
                "a step of {messages} messages is too large; the limit is {MAX_MESSAGES}"
            )));
        }
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        let mut nearest = 1;
        while nearest < n {
            schedule.step()?;
            let end = nearest.saturating_add(window).min(n);
            for from in &planned {
                for distance in nearest..end {
                    let to = (from + distance) % n;
                    schedule.send(&Blocks::direct(from, to))?;
                }
            }
            nearest = end;
        }
        Ok(())
    }
}
