//! A direct exchange with one distance in each step, with an injected fault. The algorithm claims
//! that all shifts of the ranks are symmetries. The claim is wrong for `AsymmetricRanks`,
//! `RepeatedPass`, `SilentRank`, `SilentHalf`, `AlternatingPlans` and `ChangingPlans`.

use std::cell::Cell;
use swapmeet_sdk::{About, Algorithm, Blocks, Problem, Schedule, Set, Stop, Symmetry};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum InjectedFault {
    Nothing,
    MissingDistance,
    /// A block is copied instead of moved, and a second copy is sent later.
    DuplicateSend,
    BlockNotHeld,
    /// Each rank sends two messages in a step, although the algorithm promises one port.
    TwoMessagesPerPort,
    /// Odd ranks use the opposite direction. All blocks arrive, but shifts by one are no symmetry.
    AsymmetricRanks,
    /// In one step, the plan iterates over the planned ranks twice.
    RepeatedPass,
    SilentRank,
    /// The upper half of the ranks does not send.
    SilentHalf,
    /// Every second plan uses the opposite direction.
    AlternatingPlans,
    /// Only the second plan uses the opposite direction.
    ChangingPlans,
}

thread_local! {
    /// The number of plans that this thread has made for the last two faults.
    static PLANS: Cell<u64> = const { Cell::new(0) };
}

pub(crate) struct Shifts {
    pub name: &'static str,
    pub fault: InjectedFault,
}

impl Algorithm for Shifts {
    fn about(&self) -> About {
        let ports = if self.fault == InjectedFault::RepeatedPass { 2 } else { 1 };
        About {
            name: self.name,
            title: "Direct exchange, one distance in each step",
            ports,
            ..About::DEFAULT
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        match self.fault {
            InjectedFault::AlternatingPlans | InjectedFault::ChangingPlans => {
                PLANS.set(PLANS.get() + 1);
            }
            _ => PLANS.set(0),
        }
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        let distances: Vec<u64> =
            (1..n - u64::from(self.fault == InjectedFault::MissingDistance && n > 1)).collect();
        let pairs =
            matches!(self.fault, InjectedFault::TwoMessagesPerPort | InjectedFault::RepeatedPass);
        for together in distances.chunks(if pairs { 2 } else { 1 }) {
            schedule.step()?;
            if self.fault == InjectedFault::RepeatedPass {
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
        let is_silent = match self.fault {
            InjectedFault::SilentRank => me == 3,
            InjectedFault::SilentHalf => me >= n / 2,
            _ => false,
        };
        if is_silent {
            return Ok(());
        }
        let back = match self.fault {
            InjectedFault::AsymmetricRanks => me % 2 == 1,
            InjectedFault::AlternatingPlans => PLANS.get() % 2 == 1,
            InjectedFault::ChangingPlans => PLANS.get() == 2,
            _ => false,
        };
        let to = if back { (me + n - distance) % n } else { (me + distance) % n };
        let from =
            if self.fault == InjectedFault::BlockNotHeld && distance == n / 2 { to } else { me };
        let send = Blocks::new(me, to).origins(Set::one(from)).strict();
        match self.fault {
            InjectedFault::DuplicateSend => {
                let next = (me + 1) % n;
                schedule.send(
                    &Blocks::new(me, next)
                        .origins(Set::one(me))
                        .destinations(Set::one(next))
                        .copy(),
                )
            }
            InjectedFault::Nothing
            | InjectedFault::MissingDistance
            | InjectedFault::BlockNotHeld
            | InjectedFault::TwoMessagesPerPort
            | InjectedFault::AsymmetricRanks
            | InjectedFault::RepeatedPass
            | InjectedFault::SilentRank
            | InjectedFault::SilentHalf
            | InjectedFault::AlternatingPlans
            | InjectedFault::ChangingPlans => schedule.send(&send.destinations(Set::one(to))),
        }
    }
}
