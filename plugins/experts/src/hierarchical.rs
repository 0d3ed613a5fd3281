//! `hierarchical-dispatch` and `hierarchical-combine`: a token crosses the network between groups
//! once for each group with a receiver. Through one port, a dispatch takes at most `(G - 1)
//! (alpha + u beta) + (g - 1) (alpha + G m beta)`, a combine `(G - 1) u gamma + (g - 1) G m gamma`
//! more.
//!
//! A dispatch has two phases:
//! 1. Each rank sends one copy of each token to every other group with a receiver, to the rank with
//!    its own position there. In step s, it sends to the rank s groups after it.
//! 2. Each rank copies the tokens from phase 1, and its own, to their receivers in its group. In
//!    step s, it sends to the rank s positions after it.
//!
//! A combine has the same phases in reverse: partial results are added within the group first. This
//! is the normal mode of DeepEP, in which groups are the GPUs of a node.

use crate::ANYWHERE;
use crate::tokens::Tokens;
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Problem, Schedule, Set, Stop,
};

pub const DISPATCH: Hierarchical = Hierarchical {
    name: "hierarchical-dispatch",
    title: "Dispatch by one copy for each group, then copies within groups",
    collectives: &[Collective::Dispatch],
};

pub const COMBINE: Hierarchical = Hierarchical {
    name: "hierarchical-combine",
    title: "Combine by partial sums within groups, then one from each group",
    collectives: &[Collective::Combine],
};

pub struct Hierarchical {
    name: &'static str,
    title: &'static str,
    collectives: &'static [Collective],
}

impl Algorithm for Hierarchical {
    fn about(&self) -> About {
        About {
            name: self.name,
            title: self.title,
            paper: "DeepSeek: DeepEP, normal kernels; https://github.com/deepseek-ai/DeepEP (2025)",
            accepts: "any topology whose nodes can be divided into equal groups",
            collectives: self.collectives,
            params: &[ParamInfo::GROUP],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (n, g) = (problem.topology().nodes(), problem.group("group")?);
        schedule.layout(&[n], 1)?;
        if problem.collective() == Collective::Combine {
            within_groups(problem, schedule, g, combine)?;
            between_groups(problem, schedule, (n, g), combine)
        } else {
            between_groups(problem, schedule, (n, g), dispatch)?;
            within_groups(problem, schedule, g, dispatch)
        }
    }
}

fn dispatch<'a>(near: u64, far: u64, owner: u64, classes: &'a [u64]) -> Blocks<'a> {
    Blocks::new(near, far).origins(Set::one(owner)).segments(Axis::bits(classes)).copy().strict()
}

fn combine<'a>(near: u64, far: u64, owner: u64, classes: &'a [u64]) -> Blocks<'a> {
    Blocks::new(far, near).destinations(Set::one(owner)).segments(Axis::bits(classes)).combine()
}

type SendOf = for<'a> fn(u64, u64, u64, &'a [u64]) -> Blocks<'a>;

fn between_groups(
    problem: &Problem<'_>,
    schedule: &mut Schedule<'_>,
    (n, g): (u64, u64),
    send: SendOf,
) -> Result<(), Stop> {
    let groups = n / g;
    let tokens = Tokens::read(problem, g, |owner, group| {
        [(group + groups - owner / g) % groups, owner, group * g + owner % g]
    })?;
    schedule.phase("between groups")?;
    run_steps(schedule, &tokens, groups, send)
}

/// Plans the sends within groups. In each group, one rank has the same position as the owner of the
/// tokens. In a dispatch, this rank already has the tokens, and sends copies to the receivers. In a
/// combine, the receivers send their results to this rank.
fn within_groups(
    problem: &Problem<'_>,
    schedule: &mut Schedule<'_>,
    g: u64,
    send: SendOf,
) -> Result<(), Stop> {
    let tokens = Tokens::read(problem, 1, |owner, receiver| {
        let (from, to) = (owner % g, receiver % g);
        [(to + g - from) % g, receiver - to + from, receiver]
    })?;
    schedule.phase("within groups")?;
    run_steps(schedule, &tokens, g, send)
}

fn run_steps(
    schedule: &mut Schedule<'_>,
    tokens: &Tokens,
    end: u64,
    send: SendOf,
) -> Result<(), Stop> {
    for step in 1..end {
        schedule.step()?;
        for share in tokens.of_step(step) {
            let [near, far, owner] = share.ranks();
            schedule.send(&send(near, far, owner, &tokens.words(share)))?;
        }
    }
    Ok(())
}
