//! The algorithm of Bruck et al. (sections 3 and 4) with radix k: about `(k - 1) ceil(log_k p)`
//! steps.
//!
//! The times with k = 2 and p a power of two are:
//! * all-to-all: `log2 p (alpha + p/2 m beta)`;
//! * allgather: `log2 p alpha + (p - 1) m beta`.
//!
//! In an all-to-all, the distance of a block to its destination is written in base k. For the digit
//! with weight k^i and each value j from 1 to k - 1, each rank sends all blocks with this digit to
//! the rank j k^i positions after it. In an allgather, each rank has the blocks of k^i ranks when
//! the steps of digit i begin. It sends these blocks to the ranks k^i, 2 k^i, up to (k - 1) k^i
//! positions before it, except blocks that the receiver already has. With one port there is one
//! step for each receiver.

use crate::{ANYWHERE, line};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Planned, Problem, Schedule, Set, Stop,
    Symmetry, bit_words,
};

pub struct Bruck;

const RADIX: ParamInfo = ParamInfo::number(
    "radix",
    "2",
    "k, at least 2; a larger k takes more steps and passes on fewer blocks",
);

impl Algorithm for Bruck {
    fn about(&self) -> About {
        About {
            name: "bruck",
            title: "Bruck: combined blocks in ceil(log2 p) steps",
            paper: "J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby: Efficient Algorithms for All-to-All Communications in Multiport \
                    Message-Passing Systems, IEEE TPDS (1997)",
            collectives: &[Collective::AllToAll, Collective::AllGather],
            params: &[RADIX],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let k = problem.whole("radix", 2..=u64::MAX)?;
        let n = line(problem, schedule)?;
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        let mut weight = 1;
        while weight < n {
            for digit in (1..k).take_while(|digit| digit.saturating_mul(weight) < n) {
                schedule.step()?;
                if problem.collective() == Collective::AllGather {
                    allgather(n, weight, digit * weight, &planned, schedule)?;
                } else {
                    let distances =
                        Distances::matching(n, |distance| distance / weight % k == digit);
                    all_to_all(n, digit * weight, &distances, &planned, schedule)?;
                }
            }
            weight = weight.saturating_mul(k);
        }
        Ok(())
    }
}

/// Adds a send of `weight` blocks to the rank `distance` positions before. They are the blocks of
/// the sender and of the ranks after it.
fn allgather(
    n: u64,
    weight: u64,
    distance: u64,
    planned: &Planned,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    planned.iter().try_for_each(|from| {
        let origins = [Axis::range(from, weight.min(n - distance))];
        schedule.send(
            &Blocks::new(from, (from + n - distance) % n)
                .origins(Set::product(&origins))
                .copy()
                .strict(),
        )
    })
}

fn all_to_all(
    n: u64,
    distance: u64,
    distances: &Distances,
    planned: &Planned,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let mut destinations = vec![0; n.div_ceil(64) as usize];
    planned.iter().try_for_each(|from| {
        distances.from(from, &mut destinations);
        let axes = [Axis::bits(&destinations)];
        schedule.send(&Blocks::new(from, (from + distance) % n).destinations(Set::product(&axes)))
    })
}

/// A set of distances from 0 to n - 1, with one bit for each.
pub struct Distances {
    n: u64,
    bits: Vec<u64>,
}

impl Distances {
    pub fn matching(n: u64, has: impl Fn(u64) -> bool) -> Self {
        Self { n, bits: bit_words(n, (0..n).filter(|distance| has(*distance))) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bits.iter().all(|word| *word == 0)
    }

    /// Writes the set of the nodes at these distances from `node` to `out`, by rotating the bits.
    pub fn from(&self, node: u64, out: &mut [u64]) {
        out.fill(0);
        shift_up(&self.bits, node, out);
        shift_down(&self.bits, self.n - node, out);
        let spare = (out.len() as u64 * 64 - self.n) as u32;
        if let Some(last) = out.last_mut() {
            *last &= u64::MAX >> spare;
        }
    }
}

fn shift_up(bits: &[u64], by: u64, out: &mut [u64]) {
    let (words, rest) = ((by / 64) as usize, by % 64);
    for (i, word) in bits.iter().enumerate() {
        if let Some(low) = out.get_mut(i + words) {
            *low |= word << rest;
        }
        if rest > 0
            && let Some(high) = out.get_mut(i + words + 1)
        {
            *high |= word >> (64 - rest);
        }
    }
}

fn shift_down(bits: &[u64], by: u64, out: &mut [u64]) {
    let (words, rest) = ((by / 64) as usize, by % 64);
    for (i, word) in bits.iter().enumerate().skip(words) {
        out[i - words] |= word >> rest;
        if rest > 0 && i > words {
            out[i - words - 1] |= word << (64 - rest);
        }
    }
}
