//! Bruck et al.: ceil(log2 p) steps, at the price of passing blocks on.
//!
//! All-to-all: in step k everyone sends to the rank 2^k on all blocks that have a way to go in which bit k is set. Allgather: in step k everyone sends to the rank
//! 2^k before all it has, as far as the receiver lacks it.

use crate::{ANYWHERE, line};
use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Collective, Problem, Schedule, Set, Stop};

pub struct Bruck;

impl Algorithm for Bruck {
    fn about(&self) -> About {
        About {
            name: "bruck",
            title: "Combining in ceil(log2 p) steps",
            paper: "J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby: Efficient Algorithms for All-to-All Communications in Multiport \
                    Message-Passing Systems, IEEE TPDS (1997)",
            collectives: &[Collective::AllToAll, Collective::AllGather],
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = line(problem, schedule)?;
        let mut far = 1;
        while far < n {
            schedule.step()?;
            if problem.collective() == Collective::AllGather {
                // Rank r has the blocks of r, r + 1, .., r + far - 1.
                let new = far.min(n - far);
                for from in 0..n {
                    let to = (from + n - far) % n;
                    let origins = [Axis::range(from, new)];
                    schedule.send(&Blocks::new(from, to).origins(Set::product(&origins)).copy().strict())?;
                }
            } else {
                let ways = Ways::with_bit(n, far);
                let mut destinations = vec![0; n.div_ceil(64) as usize];
                for from in 0..n {
                    ways.from(from, &mut destinations);
                    let axes = [Axis::bits(&destinations)];
                    schedule.send(&Blocks::new(from, (from + far) % n).destinations(Set::product(&axes)))?;
                }
            }
            far *= 2;
        }
        Ok(())
    }
}

/// The distances, of those below n, in which one bit is set, as bits.
struct Ways {
    n: u64,
    bits: Vec<u64>,
}

impl Ways {
    fn with_bit(n: u64, bit: u64) -> Self {
        let mut bits = vec![0; n.div_ceil(64) as usize];
        for distance in (0..n).filter(|d| d & bit != 0) {
            bits[(distance / 64) as usize] |= 1 << (distance % 64);
        }
        Self { n, bits }
    }

    /// The nodes at these distances from `node`: the bits rotated by as much, word by word.
    fn from(&self, node: u64, out: &mut [u64]) {
        out.fill(0);
        shift_up(&self.bits, node, out);
        // What went beyond n comes round.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotated_bits_are_distances_from_the_node() {
        for n in [1, 2, 5, 63, 64, 65, 130, 200] {
            for bit in [1, 2, 16, 128] {
                let ways = Ways::with_bit(n, bit);
                let mut out = vec![0; n.div_ceil(64) as usize];
                for node in 0..n {
                    ways.from(node, &mut out);
                    for d in 0..out.len() as u64 * 64 {
                        let expected = d < n && ((d + n - node) % n) & bit != 0;
                        assert_eq!(
                            out[(d / 64) as usize] >> (d % 64) & 1 == 1,
                            expected,
                            "n {n}, bit {bit}, node {node}, {d}"
                        );
                    }
                }
            }
        }
    }
}
