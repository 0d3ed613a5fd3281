//! The units of work, bandwidth and weight. They are whole numbers, so that sums are exact.
//!
//! A link of bandwidth 1 transmits a power of two of units of *work* per tick, and the fastest link
//! transmits from `2^(CAPACITY_BITS - 1)` to `2^CAPACITY_BITS`. The largest *weight* of a message
//! is `2^WEIGHT_BITS`. A *level* is a rate divided by a weight, with [`Units::level_bits`] binary
//! places. The numbers of bits are chosen so that a level has 64 bits, and the sum of the weights
//! of 2^27 messages has fewer.

use super::fold::Fold;
use super::{Fairness, Fluid};
use crate::cost::model::ticks::{LAST, PER_US, Ticks};
use crate::network::topology::Network;

const CAPACITY_BITS: i32 = 48;
const WEIGHT_BITS: i32 = 32;
/// The smallest weight is at least `2^(WEIGHT_BITS - MOST_RATIO_BITS)`. Messages with longer routes
/// have this weight.
const MOST_RATIO_BITS: i32 = 20;

#[derive(Debug, Clone, Copy)]
pub(super) struct Units {
    /// The work of a byte.
    byte: f64,
    /// The work that a link of bandwidth 1 transmits in a tick.
    link: f64,
    /// The work that an injection link transmits in a tick; 0 if there are none.
    injection: f64,
    fairness: Fairness,
    /// The weight of a message whose round-trip time is 1 µs.
    weight: f64,
    /// The binary logarithm of the smallest weight.
    least_weight_bits: i32,
}

impl Units {
    /// Returns the units of a network. If the network is too large (`fits` is false), they are not
    /// used.
    pub(super) fn new(machine: &Fluid, topology: &Network, fits: bool) -> Self {
        // Find the largest bandwidth, and the range of the round-trip times of links.
        let (mut widest, mut longest) = (0.0_f64, 0.0_f64);
        let (mut shortest, mut has_zero) = (f64::INFINITY, false);
        let links = 0..if fits { topology.link_slots() } else { 0 };
        let links = links.filter(|link| topology.link_ends(*link).is_some());
        for link in links {
            let bandwidth = topology.bandwidth(link);
            widest = widest.max(bandwidth);
            let rtt = machine.round_trip_us(topology.latency(link), 1.0 / bandwidth);
            longest = longest.max(rtt);
            has_zero |= rtt == 0.0;
            shortest = if rtt > 0.0 { shortest.min(rtt) } else { shortest };
        }
        // The time of a byte on a link of bandwidth 1. If links take no time, no route contains
        // them, and injection links are the only links.
        let injection_us = machine.injection_byte_us;
        let byte_us = if machine.byte_us > 0.0 { machine.link_byte_us() } else { injection_us };
        let injection = if injection_us > 0.0 { byte_us / injection_us } else { 0.0 };
        let exponent = widest.max(injection).log2().ceil().max(-300.0) as i32;
        let link = 2_f64.powi(CAPACITY_BITS - exponent);
        // Weights are inverse round-trip times. A message whose round-trip time is 0 has the weight
        // of a round-trip time of 1 µs.
        let is_equal = machine.fairness == Fairness::Equal || shortest == f64::INFINITY;
        let most = if has_zero { (1.0 / shortest).max(1.0) } else { 1.0 / shortest };
        // Requested routes can be longer than the diameter.
        let longest = longest * 4.0 * topology.diameter().max(1) as f64;
        let ratio = if is_equal { 1.0 } else { most * longest.max(1.0) };
        Self {
            byte: byte_us * PER_US * link,
            link,
            injection: injection * link,
            fairness: if is_equal { Fairness::Equal } else { Fairness::Rtt },
            weight: 2_f64.powi(WEIGHT_BITS) / most,
            least_weight_bits: WEIGHT_BITS - (ratio.log2().ceil() as i32).clamp(0, MOST_RATIO_BITS),
        }
    }

    /// Returns the binary places of a level.
    pub(super) fn level_bits(&self) -> u32 {
        (63 - CAPACITY_BITS + self.least_weight_bits) as u32
    }

    /// Returns the binary logarithm of the smallest weight.
    pub(super) fn least_weight_bits(&self) -> u32 {
        self.least_weight_bits as u32
    }

    /// Returns the work of a number of bytes, as a whole number. It is at least 1, and limited so
    /// that it takes longer than [`LAST`] only by a small factor.
    pub(super) fn work(&self, bytes: f64) -> f64 {
        let most = LAST as f64 * 2_f64.powi(CAPACITY_BITS + 1);
        (bytes * self.byte).round().clamp(1.0, most)
    }

    /// Returns the weight of a message with this round-trip time in µs.
    pub(super) fn weight(&self, round_trip_us: f64) -> u64 {
        let most = 2_f64.powi(WEIGHT_BITS);
        if self.fairness == Fairness::Equal {
            return most as u64;
        }
        let rtt = if round_trip_us > 0.0 { round_trip_us } else { 1.0 };
        (self.weight / rtt).round().clamp(2_f64.powi(self.least_weight_bits), most) as u64
    }

    /// Returns the capacity of each link of a folded network, in units of work per tick: of the
    /// links between nodes, and of the injection links.
    pub(super) fn capacities(&self, topology: &Network, fold: &Fold) -> Vec<u64> {
        let capacity = |work: f64| (work.round() as u64).max(1);
        let bandwidth = |link| topology.link_ends(link).map_or(1.0, |_| topology.bandwidth(link));
        let links = (0..fold.slots()).map(|orbit| bandwidth(fold.first_link(orbit)) * self.link);
        let injection = (fold.slots()..fold.links()).map(|_| self.injection);
        links.chain(injection).map(capacity).collect()
    }
}

/// Returns the time that work takes at a rate, rounded to the nearest tick. It is later than
/// [`LAST`] if the rate is 0.
pub(super) fn duration(work: i128, rate: u64) -> Ticks {
    let rate = i128::from(rate);
    let nearest = (2 * work.max(0) + rate).checked_div(2 * rate);
    let duration = nearest.and_then(|ticks| Ticks::try_from(ticks).ok()).unwrap_or(LAST + 1);
    duration.min(LAST + 1)
}
