//! What no schedule can beat on a machine of the model `flat` ([`crate::cost::model::flat`]), where
//! S is the most that one node must send, R the most that one must receive.
//!
//! * Composing: a stage begins when all have composed what they send in it, so S
//!   `rearrange_byte_us`; not with a second send buffer, where composing goes on beside
//!   transmission.
//! * A message takes half a start-up at either end, before its first byte and after its last. In
//!   between, in blocking mode, its sender is busy copying half and with all of the transmission: S
//!   (tc/2 + td); in nonblocking mode its copying engine with S tc/2. What the same node receives
//!   is copied in its time as well: R tc/2 more. Through the p ports of a node go S td/p out, R
//!   td/p in; and R tc/2.
//! * Start-ups alone, in blocking mode: a node that begins to send at one moment is free again half
//!   a start-up later, and who has received can pass it on a whole one later. So what d others get
//!   takes t halves of a start-up, where the Fibonacci number after the t-th (1, 1, 2, 3, 5, ..) is
//!   the first over d (the postal model with a latency of two sends: Bar-Noy & Kipnis, 1992). In
//!   nonblocking mode sends of a stage wait for no receive: one start-up is what is sure.
//! * Adding up, after a start-up: what one node must add to what it has, `reduce_byte_us` a byte.
//!
//! Neither of these two is a part of the others' sum: those who pass on need not be those with the
//! most bytes.

use super::{Flat, Mode};
use crate::cost::bound::{Bound, BoundKind, Traffic};

/// The bound for so many nodes, of which one has something for another at least.
pub(super) fn lower_bound(machine: &Flat, traffic: &Traffic, nodes: u64) -> Bound {
    let blocking = machine.mode == Mode::Blocking;
    let half_copy = machine.copy_byte_us / 2.0;
    let sending = half_copy + if blocking { machine.byte_us } else { 0.0 };
    let by_sender =
        traffic.sent * sending + if traffic.by_one { traffic.received * half_copy } else { 0.0 };
    let through_ports = machine.byte_us / machine.ports.at_most(nodes - 1) as f64;
    let by_sender = by_sender.max(traffic.sent * through_ports);
    let by_receiver = traffic.received * through_ports.max(half_copy);
    let beside = !blocking && machine.buffers > 1;
    let by_bytes = Bound {
        startup_us: machine.startup_us,
        transmission_us: by_sender.max(by_receiver),
        rearrangement_us: if beside { 0.0 } else { traffic.sent * machine.rearrange_byte_us },
        kind: BoundKind::Bytes,
        ..Bound::default()
    };
    let halves = if blocking { halves_to_reach(traffic.peers + 1) } else { 2 };
    let by_startups =
        Bound { startup_us: halves as f64 * machine.startup_us / 2.0, ..Bound::default() };
    let reduction_us = traffic.summed * machine.reduce_byte_us;
    by_bytes.or(by_startups).or(Bound {
        startup_us: machine.startup_us,
        reduction_us,
        ..Bound::default()
    })
}

/// Halves of a start-up until so many nodes can have heard of something.
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
    fn who_has_heard_of_it_grows_as_fibonacci_has_it() {
        assert_eq!([2, 3, 4, 5, 6, 8, 9, 1024].map(halves_to_reach), [2, 3, 4, 4, 5, 5, 6, 16]);
    }
}
