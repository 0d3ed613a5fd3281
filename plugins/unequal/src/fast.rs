//! `fast` (Y. Lei et al., *FAST: An Efficient Scheduler for All-to-All GPU Communication*, arXiv
//! 2505.09764, 2025). With R rounds between groups of g ranks, it takes at most `(g + R) alpha +
//! T/g beta` plus the time of the bytes within groups. T is the largest number of bytes that one
//! group sends to other groups, or receives from them. If the data of a pair of groups cannot be
//! divided equally among g ranks, their share is rounded up to whole elements. If each rank has one
//! port for other groups, no schedule can transmit these bytes in less than `T/g beta`.
//!
//! 1. The ranks of a group move data, so that each has an equal share of the data for every other
//!    group. They also exchange the data for their own group. In step s, a rank sends to the rank s
//!    positions after it.
//! 2. The shares of pairs of groups form a matrix, which is divided into balanced rounds (see
//!    [`Rounds`]). In a round, a group sends to one other group, and each rank sends to the rank
//!    with its position there.
//! 3. In the step after a round, the receivers pass its data on within their group. In the same
//!    step, they send the data of the next round.
//!
//! In the paper's runtime, the steps overlap further.

use crate::birkhoff::check_pairs;
use crate::rounds::Rounds;
use crate::{ANYWHERE, demand};
use std::collections::BTreeMap;
use swapmeet_sdk::{About, Algorithm, ByteCount, Bytes, ParamInfo, Problem, Schedule, Stop};

pub struct Fast;

impl Algorithm for Fast {
    fn about(&self) -> About {
        About {
            name: "fast",
            title: "Balance within groups, balanced rounds between groups",
            paper: "Y. Lei et al.: FAST: An Efficient Scheduler for All-to-All GPU Communication, arXiv 2505.09764 (2025)",
            accepts: "up to 4,096 nodes that can be divided into at most 256 equal groups",
            params: &[ParamInfo::GROUP],
            // In a step, a rank can send to another group and to all other ranks of its group.
            ports: u64::MAX,
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        const MAX_NODES: u64 = 4096;
        let (n, g) = (problem.topology().nodes(), problem.group("group")?);
        if n > MAX_NODES {
            return Err(Stop::unsupported(format!("{n} nodes are more than {MAX_NODES}")));
        }
        check_pairs((n / g).saturating_mul(n / g))?;
        let g = g as usize;
        let mut held = HeldElements::new(&demand(problem)?, g, problem.element_bytes().max(1));
        schedule.move_byte_counts(&[])?;
        schedule.phase("balance within the group")?;
        let balancing: Vec<Messages> =
            (0..held.groups()).map(|group| held.balance(group)).collect();
        for distance in 1..g {
            schedule.step()?;
            for messages in &balancing {
                let at_distance = |(from, to): &(usize, usize)| (to + g - from % g) % g == distance;
                send(messages.iter().filter(|(ends, _)| at_distance(ends)), schedule)?;
            }
        }
        schedule.phase("between groups")?;
        let mut arrived = Messages::new();
        for round in Rounds::new(&held.shares()) {
            schedule.step()?;
            send(arrived.iter(), schedule)?;
            arrived.clear();
            for (from, to, share) in round {
                held.send_share((from as usize, to as usize), share, &mut arrived, schedule)?;
            }
        }
        schedule.step()?;
        send(arrived.iter(), schedule)
    }
}

type Messages = BTreeMap<(usize, usize), Vec<ByteCount>>;

fn send<'a>(
    messages: impl Iterator<Item = (&'a (usize, usize), &'a Vec<ByteCount>)>,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    for ((from, to), counts) in messages {
        schedule.send_bytes(&Bytes::new(*from as u64, *to as u64, counts))?;
    }
    Ok(())
}

struct HeldElements {
    g: usize,
    element: u64,
    elements: Vec<Vec<u64>>,
}

impl HeldElements {
    fn new(demand: &[Vec<(u32, u64)>], g: usize, element: u64) -> Self {
        let mut elements = vec![vec![0; demand.len()]; demand.len()];
        for (row, demand) in elements.iter_mut().zip(demand) {
            demand.iter().for_each(|(to, bytes)| row[*to as usize] = *bytes / element);
        }
        Self { g, element, elements }
    }

    fn groups(&self) -> usize {
        self.elements.len() / self.g
    }

    fn for_group(&self, rank: usize, group: usize) -> u64 {
        self.elements[rank][group * self.g..][..self.g].iter().sum()
    }

    /// Removes `amount` elements for a group from the data of a rank: first those for the member at
    /// position `first`, then those for the members after it.
    fn take(&mut self, rank: usize, group: usize, first: usize, amount: u64) -> Vec<ByteCount> {
        let mut missing = amount;
        let mut taken = Vec::new();
        for member in (0..self.g).map(|i| (first + i) % self.g) {
            let destination = group * self.g + member;
            let elements = missing.min(self.elements[rank][destination]);
            if elements > 0 {
                self.elements[rank][destination] -= elements;
                taken.push(self.bytes(destination, elements));
                missing -= elements;
            }
        }
        taken
    }

    fn bytes(&self, destination: usize, elements: u64) -> ByteCount {
        ByteCount { destination: destination as u64, bytes: elements * self.element }
    }

    /// Divides a group's data for every other group equally among the ranks of the group, and sends
    /// the data for its own ranks. A rank preferably receives data for its own position, because
    /// the receiver of this data need not pass it on.
    fn balance(&mut self, group: usize) -> Messages {
        let (g, first) = (self.g, group * self.g);
        let mut messages = Messages::new();
        for from in first..first + g {
            for to in (first..first + g).filter(|to| *to != from) {
                let elements = std::mem::take(&mut self.elements[from][to]);
                if elements > 0 {
                    let count = self.bytes(to, elements);
                    messages.entry((from, to)).or_default().push(count);
                }
            }
        }
        for other in (0..self.groups()).filter(|other| *other != group) {
            let mut have: Vec<u64> = (0..g).map(|i| self.for_group(first + i, other)).collect();
            let total: u64 = have.iter().sum();
            let share = |i: usize| total / g as u64 + u64::from((i as u64) < total % g as u64);
            let mut giver = 0;
            for receiver in 0..g {
                while have[receiver] < share(receiver) {
                    while have[giver] <= share(giver) {
                        giver += 1;
                    }
                    let amount = (share(receiver) - have[receiver]).min(have[giver] - share(giver));
                    have[giver] -= amount;
                    have[receiver] += amount;
                    let counts = self.take(first + giver, other, receiver, amount);
                    for count in &counts {
                        self.elements[first + receiver][count.destination as usize] +=
                            count.bytes / self.element;
                    }
                    let ends = (first + giver, first + receiver);
                    messages.entry(ends).or_default().extend(counts);
                }
            }
        }
        messages
    }

    /// Returns, for each group, the other groups. Each has the largest number of elements that one
    /// rank has for it.
    fn shares(&self) -> Vec<Vec<(u32, u64)>> {
        let share = |from: usize, to: usize| {
            let of_rank = |i| self.for_group(from * self.g + i, to);
            (0..self.g).map(of_rank).max().unwrap_or(0)
        };
        let row = |from| {
            let others = (0..self.groups()).filter(move |to| *to != from);
            others.map(|to| (to as u32, share(from, to))).collect()
        };
        (0..self.groups()).map(row).collect()
    }

    /// Adds a round to the schedule. Each rank sends at most `share` elements to the rank at its
    /// position in the other group. The messages that distribute them there are added to `arrived`.
    fn send_share(
        &mut self,
        (from, to): (usize, usize),
        share: u64,
        arrived: &mut Messages,
        schedule: &mut Schedule<'_>,
    ) -> Result<(), Stop> {
        for position in 0..self.g {
            let ends = (from * self.g + position, to * self.g + position);
            let counts = self.take(ends.0, to, position, share);
            if counts.is_empty() {
                continue;
            }
            schedule.send_bytes(&Bytes::new(ends.0 as u64, ends.1 as u64, &counts))?;
            for count in counts {
                if count.destination != ends.1 as u64 {
                    let pass_on = (ends.1, count.destination as usize);
                    arrived.entry(pass_on).or_default().push(count);
                }
            }
        }
        Ok(())
    }
}
