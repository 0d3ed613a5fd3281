//! A simple verifier, which follows every block, or every byte, of a recorded schedule. It shares
//! no code with the host that runs cases, which represents sets of blocks as boxes.

use super::record::{Rehearsed, RehearsedRoute, RehearsedSend, Settings};
use crate::collective::Collective;
use crate::stop::Stop;
use blocks::Blocks;
use byte_counts::ByteCounts;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use values::Values;

mod blocks;
mod byte_counts;
mod values;

/// The result of a successful verification: counts that do not depend on the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Proved {
    /// Steps with a message from one node of the machine to another.
    pub steps: u64,
    /// Messages. Sends of a step with the same sender, receiver and route are one message.
    pub messages: u64,
    /// The bytes of all messages.
    pub total_bytes: u64,
    /// The size of the longest message of each step in bytes, summed over all steps.
    pub critical_bytes: u64,
    /// The largest number of messages that one node sends in one step.
    pub max_sends: u64,
    /// The largest number of messages that one node receives in one step.
    pub max_receives: u64,
    /// Number of times that every node rearranges all its data in memory.
    pub rearrangements: u64,
    /// The largest number of bytes that one node adds to its own values in a step, summed over all
    /// steps.
    pub summed_bytes: u64,
}

/// The reason for which a schedule could not be verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disproof {
    /// The algorithm returned an error, or made a call that every host refuses.
    Stopped(Stop),
    /// The schedule breaks a rule or does not deliver all data.
    Wrong {
        /// Number of the step, from 1. For a block that was never delivered, it is the last step.
        step: u64,
        /// Description of the fault.
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

pub(super) struct Goal<'a> {
    pub(super) collective: Collective,
    pub(super) root: u64,
    pub(super) receivers: &'a [u64],
    pub(super) nodes: u64,
    pub(super) settings: &'a Settings,
}

struct Placement {
    physical: Vec<u64>,
    home: Vec<u64>,
}

impl Placement {
    fn new(schedule: &Rehearsed, nodes: u64) -> Self {
        let identity: Vec<u64> = (0..nodes).collect();
        if schedule.placements.is_empty() {
            return Self { physical: identity.clone(), home: identity };
        }
        let mut places = Self { physical: vec![0; schedule.placements.len()], home: identity };
        for &(node, physical, home) in &schedule.placements {
            places.physical[node as usize] = physical;
            if home {
                places.home[physical as usize] = node;
            }
        }
        places
    }
}

trait Holdings {
    /// Performs one send. Returns the bytes sent, or `None` if the send selected nothing. `joined`
    /// tells whether a switch adds or copies the data together with that of an earlier send of the
    /// step.
    fn send(&mut self, send: &RehearsedSend, joined: bool) -> Result<Option<u128>, String>;

    fn arrive(&mut self) -> Result<(), String>;

    /// Performs the redistributions after a step. Only schedules of byte counts have any.
    fn redistribute_after(&mut self, step: u64) -> Result<(), String> {
        let _ = step;
        Ok(())
    }

    fn verify(&mut self) -> Result<(), String>;

    /// Returns the largest number of bytes that a node added to its own values in the last step.
    fn most_summed(&self) -> u128 {
        0
    }
}

/// The sender, the receiver, and what else distinguishes messages: the requested route, the reducer
/// and multicaster, and whether a switch joins the message with an earlier one.
type Message<'a> = (u64, u64, (&'a RehearsedRoute, (u64, u64), bool));

pub(super) fn follow(goal: &Goal<'_>, schedule: &Rehearsed) -> Result<Proved, Disproof> {
    let places = Placement::new(schedule, goal.nodes);
    let mut holdings: Box<dyn Holdings + '_> = match schedule.moves_byte_counts {
        true => Box::new(ByteCounts::new(goal, schedule).map_err(Disproof::Stopped)?),
        false if goal.collective.is_reduction() => Box::new(Values::new(goal, schedule, &places)),
        false => Box::new(Blocks::new(goal, schedule, &places)),
    };
    let wrong = |step: usize| move |what| Disproof::Wrong { step: step as u64, what };
    let mut proved = Proved { rearrangements: schedule.rearrangements, ..Proved::default() };
    let (mut total, mut critical, mut summed) = (0, 0, 0);
    holdings.redistribute_after(0).map_err(wrong(0))?;
    for (number, step) in (1..).zip(&schedule.steps) {
        let mut messages: BTreeMap<Message<'_>, u128> = BTreeMap::new();
        let mut in_switches = BTreeSet::new();
        for send in &step.sends {
            let [from, to] = [send.from, send.to].map(|node| places.physical[node as usize]);
            let switches = (send.reducer, send.multicaster);
            // All sends that a switch adds have the same receiver, and all that it copies have the
            // same sender. They also select the same data.
            let end = if send.reducer > 0 { to } else { from };
            let data = (&send.origins, &send.destinations, &send.segments);
            let uses_switch = switches != (0, 0);
            let joined = uses_switch && !in_switches.insert((switches, end, data));
            // A send with extra bytes is a message even if it selects no block.
            let load = match (holdings.send(send, joined).map_err(wrong(number))?, send.extra_bytes)
            {
                (load, 0) => load,
                (load, extra) => Some(load.unwrap_or(0) + u128::from(extra)),
            };
            match load {
                Some(0) if goal.settings.skip_empty => {}
                Some(load) if from != to || uses_switch => {
                    let route = (&send.route, switches, joined);
                    *messages.entry((from, to, route)).or_default() += load;
                }
                Some(_) | None => {}
            }
        }
        holdings
            .arrive()
            .and_then(|()| holdings.redistribute_after(number as u64))
            .map_err(wrong(number))?;
        proved.steps += u64::from(!messages.is_empty());
        proved.messages += messages.len() as u64;
        total += messages.values().sum::<u128>();
        critical += messages.values().max().unwrap_or(&0);
        summed += holdings.most_summed();
        // If a switch copies messages, the sender sends only the first of them. If a switch adds
        // messages, the receiver receives only the first of them.
        let sent =
            |(_, _, (_, (_, multicaster), joined)): &&Message<'_>| *multicaster == 0 || !joined;
        let received = |(_, _, (_, (reducer, _), joined)): &&Message<'_>| *reducer == 0 || !joined;
        proved.max_sends = proved
            .max_sends
            .max(max_frequency(messages.keys().filter(sent).map(|(from, ..)| *from)));
        proved.max_receives = proved
            .max_receives
            .max(max_frequency(messages.keys().filter(received).map(|(_, to, _)| *to)));
    }
    holdings.verify().map_err(wrong(schedule.steps.len()))?;
    proved.total_bytes = total as u64;
    proved.critical_bytes = critical as u64;
    proved.summed_bytes = summed as u64;
    Ok(proved)
}

fn max_frequency(numbers: impl Iterator<Item = u64>) -> u64 {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    numbers.for_each(|number| *counts.entry(number).or_default() += 1);
    counts.into_values().max().unwrap_or(0)
}
