//! `direct-dispatch` and `direct-combine`: one message for each pair of ranks of which one has
//! tokens for the other. Through one port, a dispatch takes at most `(p - 1) (alpha + m beta)`, and
//! a combine takes at most `(p - 1) (alpha + m beta + m gamma)`.
//!
//! In step s, each rank sends to the rank s positions after it (dispatch) or before it (combine). A
//! token with two receivers on one node crosses the network between nodes twice. By default, all
//! messages are sent at the same time, as in DeepEP's low-latency mode, and only the ports of the
//! machine limit them. `window` divides the messages among steps.

use crate::ANYWHERE;
use crate::tokens::Tokens;
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Problem, Schedule, Set, Stop,
};

pub const DISPATCH: Direct = Direct {
    name: "direct-dispatch",
    title: "Dispatch by a message for each receiving rank",
    collectives: &[Collective::Dispatch],
};

pub const COMBINE: Direct = Direct {
    name: "direct-combine",
    title: "Combine by a message from each rank with a partial result",
    collectives: &[Collective::Combine],
};

pub struct Direct {
    name: &'static str,
    title: &'static str,
    collectives: &'static [Collective],
}

const WINDOW: ParamInfo =
    ParamInfo::number("window", "", "messages that a rank sends in one step; by default all");

impl Algorithm for Direct {
    fn about(&self) -> About {
        About {
            name: self.name,
            title: self.title,
            paper: "DeepSeek: DeepEP, low-latency kernels; https://github.com/deepseek-ai/DeepEP (2025)",
            collectives: self.collectives,
            params: &[WINDOW],
            ports: u64::MAX,
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        let window = problem.given::<u64>("window")?.unwrap_or(u64::MAX);
        if window == 0 {
            return Err(Stop::failed("`window`: expected a whole number from 1"));
        }
        schedule.layout(&[n], 1)?;
        let tokens = Tokens::read(problem, 1, |owner, to| [(to + n - owner) % n, owner, to])?;
        for distance in 1..n {
            if (distance - 1).is_multiple_of(window) {
                schedule.step()?;
            }
            for share in tokens.of_step(distance) {
                let ([_, other, owner], words) = (share.ranks(), tokens.words(share));
                let classes = Axis::bits(&words);
                schedule.send(&match problem.collective() {
                    Collective::Combine => Blocks::new(other, owner)
                        .destinations(Set::one(owner))
                        .segments(classes)
                        .combine(),
                    _ => Blocks::new(owner, other)
                        .origins(Set::one(owner))
                        .segments(classes)
                        .copy()
                        .strict(),
                })?;
            }
        }
        Ok(())
    }
}
