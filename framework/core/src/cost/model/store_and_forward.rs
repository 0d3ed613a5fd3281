//! `store-and-forward`: synchronous steps, each message stored at every node it passes.
//!
//! A message of L bytes over h links takes `h (ts + L tw)` (Li, Peng & Chu, section III), a step as long as its longest message does; `ts` and `tw` are
//! `startup_us` and `byte_us`. Links are not shared within a step in the schedules it was made for; where they are, the messages on a link follow
//! each other, and what the busiest link needs beyond the longest message is contention.
//!
//! A step that asks more messages of a node than it has ports is run in turns, each of them as long as its longest message, in which every node takes the
//! longest that it still has, one a port. No order takes less: of a node's messages the (i p + 1)-th longest, of p ports, is in one of the turns that come
//! after the i longest ones, or is the longest there. (The longest message once a turn would charge one long message as often as there are short ones.)

use super::synchronous::{Model, StepCost, Synchronous};
use super::turns::Turns;
use super::{Evaluator, Scale};
use crate::cost::machine::Machine;
use crate::simulation::step::{Step, Transfer};

pub(super) fn evaluator(machine: &Machine, scale: Scale<'_>) -> Box<dyn Evaluator> {
    // Hops are start-ups here, a message starts up at every node it passes: there is no propagation.
    let none = StepCost::default();
    Box::new(Synchronous::new(machine, scale, Model { none, price_of_step, circuits: false }))
}

fn price_of_step(machine: &Machine, step: &Step<'_>, unit_bytes: f64, turns: Turns) -> StepCost {
    let turns = turns.count;
    let (ts, tw) = (machine.startup_us, machine.byte_us);
    let facts = &step.facts;
    let slowest = if turns > 1 { in_turns(machine, step, unit_bytes) } else { longest(machine, step, unit_bytes) };
    let on_busiest_link = facts.max_link_messages as f64 * ts + facts.through_link() * unit_bytes * tw;
    StepCost {
        startup: slowest.startup,
        transmission: slowest.transmission,
        propagation: None,
        contention: (on_busiest_link - slowest.us()).max(0.0),
    }
}

/// Time that one or more messages take.
#[derive(Debug, Clone, Copy, Default)]
struct Time {
    startup: f64,
    transmission: f64,
}

impl Time {
    /// Of the message number `i` of a step.
    fn of(machine: &Machine, step: &Step<'_>, unit_bytes: f64, i: usize) -> Self {
        let t = &step.transfers[i];
        let hops = f64::from(t.hops);
        let over_links = step.inverse_bandwidth.get(i).copied().unwrap_or(hops);
        Self {
            startup: hops * machine.startup_us,
            transmission: over_links * t.load as f64 * unit_bytes * machine.byte_us,
        }
    }

    fn us(self) -> f64 {
        self.startup + self.transmission
    }

    fn later(self, other: Self) -> Self {
        if other.us() > self.us() { other } else { self }
    }
}

/// The message that takes longest.
fn longest(machine: &Machine, step: &Step<'_>, unit_bytes: f64) -> Time {
    let all = (0..step.transfers.len()).map(|i| Time::of(machine, step, unit_bytes, i));
    all.fold(Time::default(), Time::later)
}

/// All turns together, where each node sends, and receives, its longest messages first.
fn in_turns(machine: &Machine, step: &Step<'_>, unit_bytes: f64) -> Time {
    let ports = usize::try_from(machine.ports.count()).unwrap_or(usize::MAX);
    let mut turns: Vec<Time> = Vec::new();
    let mut messages: Vec<usize> = (0..step.transfers.len()).collect();
    for end in [|t: &Transfer| t.from, |t: &Transfer| t.to] {
        let node = |i: &usize| end(&step.transfers[*i]);
        messages.sort_unstable_by_key(node);
        for of_one in messages.chunk_by(|a, b| node(a) == node(b)) {
            let mut times: Vec<Time> = of_one.iter().map(|i| Time::of(machine, step, unit_bytes, *i)).collect();
            times.sort_unstable_by(|a, b| b.us().total_cmp(&a.us()));
            for (turn, first) in times.into_iter().step_by(ports).enumerate() {
                match turns.get_mut(turn) {
                    Some(longest) => *longest = longest.later(first),
                    None => turns.push(first),
                }
            }
        }
    }
    turns.into_iter().fold(Time::default(), |sum, turn| Time {
        startup: sum.startup + turn.startup,
        transmission: sum.transmission + turn.transmission,
    })
}

#[cfg(test)]
mod tests {
    use crate::cost::model::test_steps::price;

    /// Node 0 sends 100 bytes over 3 links, 2 over 1 and 1 over 2; node 5 sends 10 over 1; one port.
    #[test]
    fn turns_are_as_long_as_their_longest_messages_not_all_as_long_as_the_longest() {
        let sends = [(0, 3, 100), (0, 1, 2), (0, 2, 1), (5, 6, 10)];
        let parts = price("mesh:8", "free:model=store-and-forward,startup_us=1,byte_us=1", &[&sends]).parts;
        // Turns of 3 + 300 (and node 5's message), 1 + 2 or 2 + 2.
        assert_eq!((parts.startup, parts.transmission), (Some(3.0 + 2.0 + 1.0), Some(300.0 + 2.0 + 2.0)));
        let two = price("mesh:8", "free:model=store-and-forward,startup_us=1,byte_us=1,ports=2", &[&sends]).parts;
        assert_eq!((two.startup, two.transmission), (Some(3.0 + 1.0), Some(300.0 + 2.0)));
        let all = price("mesh:8", "free:model=store-and-forward,startup_us=1,byte_us=1,ports=all", &[&sends]).parts;
        assert_eq!((all.startup, all.transmission), (Some(3.0), Some(300.0)));
    }

    /// One node has many messages, another has a long one: the long one takes one of the turns, and the others go on.
    #[test]
    fn a_long_message_and_many_short_ones_at_different_nodes_add_up() {
        let sends = [(0, 1, 1), (0, 2, 1), (2, 1, 1), (3, 4, 100)];
        let parts = price("fully-connected:5", "free:model=store-and-forward,startup_us=10,byte_us=1", &[&sends]).parts;
        assert_eq!((parts.startup, parts.transmission), (Some(20.0), Some(101.0)));
    }
}
