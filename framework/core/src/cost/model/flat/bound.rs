//! Lower bounds of the model `flat` ([`crate::cost::model::flat`]). S is the largest number of
//! bytes that a node must send, and R the largest number of bytes that a node must receive. tc is
//! `copy_byte_us`, td is `byte_us`, and p is the number of ports of a node. Three bounds are
//! computed, and the largest is used.
//!
//! **Bound 1, from bytes**, is the sum of three times:
//! * Rearrangement: `S rearrange_byte_us`, because a stage starts when all nodes have composed
//!   their data. With a second send buffer this time is 0, because nodes then compose data during
//!   transmission.
//! * A start-up: one half at the sender of a message, and one half at its receiver.
//! * Transmission, which is the largest of three times:
//!   1. The time of the sender. In blocking mode the sender is busy with its half of the copying
//!      and with the transmission, `S (tc/2 + td)`. In nonblocking mode its copying engine is busy
//!      for `S tc/2`. If the same node also receives R bytes, `R tc/2` is added.
//!   2. The time of the p ports of a node: `S td/p` for sending, and `R td/p` for receiving.
//!   3. The receiver's half of the copying: `R tc/2`.
//!
//! **Bound 2, from start-ups**, is the minimum time in which data reaches all of its destinations.
//! In blocking mode, a node that starts a send is free again half a start-up later, and the
//! receiver can forward the data a whole start-up after the send began. So after t halves of a
//! start-up, data has reached at most F(t+1) nodes including its origin, where F are the Fibonacci
//! numbers (1, 1, 2, 3, 5, etc.). If data has d destinations, the bound is the smallest t with
//! F(t+1) > d. This is the postal model with a latency of two sends (Bar-Noy & Kipnis, 1992). In
//! nonblocking mode, the sends of a stage do not wait for receives, so this bound is only one
//! start-up.
//!
//! **Bound 3, from reductions**, is a start-up and the time of the bytes that one node must reduce.
//!
//! The three bounds must not be added: the node that forwards most, the node that sends most and
//! the node that reduces most can be different nodes.

use super::{Flat, Mode};
use crate::cost::bound::{Bound, BoundKind, Traffic};
use crate::cost::kind::{Kind, Times};

/// Returns the lower bound for `nodes` nodes.
pub(super) fn lower_bound(machine: &Flat, traffic: &Traffic, nodes: u64) -> Bound {
    let blocking = machine.mode == Mode::Blocking;
    let half_copy = machine.copy_byte_us / 2.0;
    let sending = half_copy + if blocking { machine.byte_us } else { 0.0 };
    let by_sender = traffic.sent * sending
        + if traffic.by_same_node { traffic.received * half_copy } else { 0.0 };
    let through_ports = machine.byte_us / machine.ports.at_most(nodes - 1) as f64;
    let by_sender = by_sender.max(traffic.sent * through_ports);
    let by_receiver = traffic.received * through_ports.max(half_copy);
    let composes_meanwhile = !blocking && machine.buffers > 1;
    let composing = if composes_meanwhile { 0.0 } else { traffic.sent * machine.rearrange_byte_us };
    let by_bytes = Bound {
        kind: BoundKind::Bytes,
        times: Times::of([
            (Kind::Startup, machine.startup_us),
            (Kind::Transmission, by_sender.max(by_receiver)),
            (Kind::Rearrangement, composing),
        ]),
    };
    let halves = if blocking { halves_to_reach(traffic.peers + 1) } else { 2 };
    let by_startups = Times::of([(Kind::Startup, halves as f64 * machine.startup_us / 2.0)]);
    let by_sums = Times::of([
        (Kind::Startup, machine.startup_us),
        (Kind::Reduction, traffic.summed * machine.reduce_byte_us),
    ]);
    by_bytes.max(by_startups.into()).max(by_sums.into())
}

/// Returns the minimum time, in halves of a start-up, until data can have reached `nodes` nodes.
fn halves_to_reach(nodes: u64) -> u64 {
    let (mut before, mut reached, mut halves) = (1_u128, 1_u128, 1);
    while reached < u128::from(nodes) {
        (before, reached) = (reached, before + reached);
        halves += 1;
    }
    halves
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_reached_nodes_grows_like_fibonacci_numbers() {
        assert_eq!([2, 3, 4, 5, 6, 8, 9, 1024].map(halves_to_reach), [2, 3, 4, 4, 5, 5, 6, 16]);
    }
}
