//! Straight to the destination, a distance a step, which all shifts of the ranks map onto itself:
//! wrong in ways that they map onto themselves, too, and in two that they don't.

use swapmeet_sdk::{About, Algorithm, Blocks, Problem, Schedule, Set, Stop, Symmetry};

/// What is wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// Nothing.
    Nothing,
    /// The last distance is left out.
    LeavesOut,
    /// What was sent stays, and is sent once more.
    SendsTwice,
    /// Asks for what somebody else has.
    HasNot,
    /// Two messages at a time, through one port.
    CrowdsPorts,
    /// Odd ranks go the other way round: all arrives, but shifts by one don't map it onto itself.
    IsNotSymmetric,
    /// Goes through the ranks twice in a step.
    GoesThroughTwice,
}

pub(crate) struct Shifts {
    pub name: &'static str,
    pub wrong: Wrong,
}

impl Algorithm for Shifts {
    fn about(&self) -> About {
        let ports = if self.wrong == Wrong::GoesThroughTwice { 2 } else { 1 };
        About {
            name: self.name,
            title: "Straight to the destination, a distance a step",
            ports,
            ..About::DEFAULT
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        let distances: Vec<u64> =
            (1..n - u64::from(self.wrong == Wrong::LeavesOut && n > 1)).collect();
        let pairs = matches!(self.wrong, Wrong::CrowdsPorts | Wrong::GoesThroughTwice);
        for together in distances.chunks(if pairs { 2 } else { 1 }) {
            schedule.step()?;
            if self.wrong == Wrong::GoesThroughTwice {
                for distance in together {
                    planned.iter().try_for_each(|me| self.send(schedule, n, me, *distance))?;
                }
            } else {
                for me in &planned {
                    together
                        .iter()
                        .try_for_each(|distance| self.send(schedule, n, me, *distance))?;
                }
            }
        }
        Ok(())
    }
}

impl Shifts {
    fn send(
        &self,
        schedule: &mut Schedule<'_>,
        n: u64,
        me: u64,
        distance: u64,
    ) -> Result<(), Stop> {
        let back = self.wrong == Wrong::IsNotSymmetric && me % 2 == 1;
        let to = if back { (me + n - distance) % n } else { (me + distance) % n };
        let from = if self.wrong == Wrong::HasNot && distance == n / 2 { to } else { me };
        let send = Blocks::new(me, to).origins(Set::one(from)).strict();
        match self.wrong {
            Wrong::SendsTwice => {
                let next = (me + 1) % n;
                schedule.send(
                    &Blocks::new(me, next)
                        .origins(Set::one(me))
                        .destinations(Set::one(next))
                        .copy(),
                )
            }
            Wrong::Nothing
            | Wrong::LeavesOut
            | Wrong::HasNot
            | Wrong::CrowdsPorts
            | Wrong::IsNotSymmetric
            | Wrong::GoesThroughTwice => schedule.send(&send.destinations(Set::one(to))),
        }
    }
}
