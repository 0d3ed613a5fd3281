//! The naive host: it follows every block, or every byte, of a rehearsed schedule one by one, as
//! slowly and plainly as can be.
//!
//! It shares nothing with the host that runs cases, which keeps sets as boxes and never looks at a
//! block: where the two agree on a schedule, both are right about it or both wrong in different
//! ways.

use super::record::{Asked, Rehearsed, RehearsedSend};
use crate::collective::Collective;
use crate::stop::Stop;
use blocks::Blocks;
use shares::Shares;
use std::collections::BTreeMap;
use std::fmt;
use values::Values;

mod blocks;
mod shares;
mod values;

/// What was proved of a schedule, and what it amounts to on any machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Proved {
    /// Steps in which anything was sent from one node of the machine to another.
    pub steps: u64,
    /// Messages: sends with the same ends in one step are one.
    pub messages: u64,
    /// Bytes of all messages.
    pub total_bytes: u64,
    /// Bytes of the longest message in each step, summed over the steps.
    pub critical_bytes: u64,
    /// The most messages that one node sends in a step.
    pub max_sends: u64,
    /// The most messages that one node receives in a step.
    pub max_receives: u64,
    /// How many times every node rearranges what it holds.
    pub rearrangements: u64,
    /// Bytes that the busiest node adds to what it has in each step, summed over the steps.
    pub summed_bytes: u64,
}

/// Why a schedule could not be proved right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disproof {
    /// There is none: what the algorithm says, or what no host would take.
    Stopped(Stop),
    /// It breaks a rule or loses something.
    Wrong {
        /// The step, from 1, counting those in which nothing is sent; the last one for what was
        /// never delivered.
        step: u64,
        /// What goes wrong there, in words.
        what: String,
    },
}

impl fmt::Display for Disproof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(stop) => stop.fmt(f),
            Self::Wrong { step, what } => write!(f, "step {step}: {what}"),
        }
    }
}

impl std::error::Error for Disproof {}

/// What the schedule is to do.
pub(super) struct Task<'a> {
    pub(super) collective: Collective,
    pub(super) root: u64,
    /// In a permutation, the node that each node's block is for.
    pub(super) to: &'a [u64],
    pub(super) nodes: u64,
    pub(super) asked: &'a Asked,
}

/// Which node of the machine runs which node of the schedule's grid.
struct Places {
    /// For each node of the schedule's grid, the node of the machine that runs it.
    physical: Vec<u64>,
    /// For each node of the machine, the node of the grid with its own blocks.
    home: Vec<u64>,
}

impl Places {
    fn of(all: &Rehearsed, nodes: u64) -> Self {
        let identity: Vec<u64> = (0..nodes).collect();
        if all.placements.is_empty() {
            return Self { physical: identity.clone(), home: identity };
        }
        let mut places = Self { physical: vec![0; all.placements.len()], home: identity };
        for &(node, physical, home) in &all.placements {
            places.physical[node as usize] = physical;
            if home {
                places.home[physical as usize] = node;
            }
        }
        places
    }
}

/// What is held: blocks, values, or bytes.
trait Holdings {
    /// Carries out one send: the bytes that went, `None` if nothing did.
    fn send(&mut self, send: &RehearsedSend) -> Result<Option<u128>, String>;

    /// What was sent in the step arrives.
    fn arrive(&mut self) -> Result<(), String>;

    /// Does what is to be done between step number `after` and the next.
    fn between(&mut self, after: u64) -> Result<(), String>;

    /// Whether everything is where it should be.
    fn verify(&mut self) -> Result<(), String>;

    /// The most that one node of the machine added to what it had in the step that has ended.
    fn most_summed(&self) -> u128 {
        0
    }
}

/// Follows all that a schedule moves.
pub(super) fn follow(task: &Task<'_>, all: &Rehearsed) -> Result<Proved, Disproof> {
    let places = Places::of(all, task.nodes);
    let mut holdings: Box<dyn Holdings + '_> = match all.moves_byte_counts {
        true => Box::new(Shares::new(task, all).map_err(Disproof::Stopped)?),
        false if task.collective.sums() => Box::new(Values::new(task, all, &places)),
        false => Box::new(Blocks::new(task, all, &places)),
    };
    let wrong = |step: usize| move |what| Disproof::Wrong { step: step as u64, what };
    let mut proved = Proved { rearrangements: all.rearrangements, ..Proved::default() };
    let (mut total, mut critical, mut summed) = (0, 0, 0);
    holdings.between(0).map_err(wrong(0))?;
    for (number, step) in (1..).zip(&all.steps) {
        let mut messages: BTreeMap<(u64, u64), u128> = BTreeMap::new();
        for send in &step.sends {
            let ends = (places.physical[send.from as usize], places.physical[send.to as usize]);
            match holdings.send(send).map_err(wrong(number))? {
                Some(0) if task.asked.skip_empty => {}
                Some(load) if ends.0 != ends.1 => *messages.entry(ends).or_default() += load,
                Some(_) | None => {}
            }
        }
        holdings.arrive().and_then(|()| holdings.between(number as u64)).map_err(wrong(number))?;
        proved.steps += u64::from(!messages.is_empty());
        proved.messages += messages.len() as u64;
        total += messages.values().sum::<u128>();
        critical += messages.values().max().unwrap_or(&0);
        summed += holdings.most_summed();
        proved.max_sends = proved.max_sends.max(most_alike(messages.keys().map(|(from, _)| *from)));
        proved.max_receives =
            proved.max_receives.max(most_alike(messages.keys().map(|(_, to)| *to)));
    }
    holdings.verify().map_err(wrong(all.steps.len()))?;
    proved.total_bytes = total as u64;
    proved.critical_bytes = critical as u64;
    proved.summed_bytes = summed as u64;
    Ok(proved)
}

/// How often the most frequent of these numbers comes.
fn most_alike(numbers: impl Iterator<Item = u64>) -> u64 {
    let mut times: BTreeMap<u64, u64> = BTreeMap::new();
    numbers.for_each(|number| *times.entry(number).or_default() += 1);
    times.into_values().max().unwrap_or(0)
}
