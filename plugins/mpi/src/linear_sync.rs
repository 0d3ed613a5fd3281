//! Direct, so many at a time: ceil((p - 1) / w) steps of w messages each, (p - 1) alpha + (p - 1) m
//! beta through one port; Open MPI's `alltoall_intra_linear_sync`, MPICH's scattered.
//!
//! With a window of w, rank r sends to r + 1, .., r + w and receives from r - 1, .., r - w; then
//! the next w. The libraries begin another as soon as any ends; here w begin together.

use crate::ANYWHERE;
use swapmeet_sdk::{About, Algorithm, Blocks, ParamInfo, Problem, Schedule, Set, Stop, Symmetry};

pub(crate) struct LinearSync;

const WINDOW: ParamInfo =
    ParamInfo::number("window", "32", "messages that a node sends, and receives, in a step");

impl Algorithm for LinearSync {
    fn about(&self) -> About {
        About {
            name: "linear-sync",
            title: "Straight to the destination, a window of messages at a time",
            paper: "Open MPI, coll/base alltoall_intra_linear_sync; MPICH, alltoall_intra_scattered",
            params: &[WINDOW],
            ports: u64::MAX,
            ..ANYWHERE
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        /// A step is held as a whole.
        const MOST: u64 = 1 << 22;
        let n = problem.topology().nodes();
        let messages = n.saturating_mul(window(problem)?.min(n));
        if messages > MOST {
            return Err(Stop::unsupported(format!(
                "a step of {messages} messages is too large, at most {MOST} are taken"
            )));
        }
        Ok(())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (n, window) = (problem.topology().nodes(), window(problem)?);
        // Each rank sends to those at the same distances, whichever it is.
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        let mut nearest = 1;
        while nearest < n {
            schedule.step()?;
            let beyond = nearest.saturating_add(window).min(n);
            for from in &planned {
                for distance in nearest..beyond {
                    let to = (from + distance) % n;
                    schedule.send(
                        &Blocks::new(from, to)
                            .origins(Set::one(from))
                            .destinations(Set::one(to))
                            .strict(),
                    )?;
                }
            }
            nearest = beyond;
        }
        Ok(())
    }
}

fn window(problem: &Problem<'_>) -> Result<u64, Stop> {
    problem.whole("window", 1..=u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn a_window_of_w_takes_a_wth_of_the_steps_and_w_messages_at_a_node() {
        for n in 1..12_u64 {
            for window in 1..14_u64 {
                let problem =
                    Rehearsal::on("ring", &[n]).ports(window).param("window", &window.to_string());
                let proved = problem.verify(&LinearSync).unwrap();
                assert_eq!(
                    (proved.steps, proved.messages),
                    ((n - 1).div_ceil(window), n * (n - 1))
                );
                assert_eq!(proved.max_sends, window.min(n - 1), "{n}, {window}");
            }
        }
    }

    #[test]
    fn a_window_has_room_for_one() {
        let refused =
            Rehearsal::on("ring", &[4]).param("window", "0").plan(&LinearSync).unwrap_err();
        assert!(refused.to_string().starts_with("`window=0`: "));
    }
}
