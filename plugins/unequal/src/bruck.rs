//! `padded-bruck` and `two-phase-bruck`: Bruck's algorithm with radix 2 for blocks of different
//! sizes (K. Fan, T. Gilray, V. Pascucci, X. Huang, K. Micinski and S. Kumar, *Optimizing the Bruck
//! Algorithm for Non-uniform All-to-all Communication*, HPDC 2022; code:
//! `harp-lab/bruck-alltoallv`). For p a power of two, with the mean size M of the blocks in a
//! message, they take:
//! * `padded-bruck`: `log2 p (2 alpha + (4 + p/2 m) beta)`;
//! * `two-phase-bruck`: `log2 p (3 alpha + (4 + p/2 (4 + M)) beta)`.
//!
//! Both first exchange the size of the largest block, an integer of 4 bytes. The padded algorithm
//! then sends every block with this length. The two-phase algorithm sends blocks with their own
//! lengths. Before each message with blocks, it sends a message with their lengths. If all blocks
//! have the same size, both are Bruck's algorithm.

use crate::ANYWHERE;
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Problem, Schedule, Set, Stop, Symmetry, bit_words,
};

pub const PADDED: UnequalBruck = UnequalBruck {
    name: "padded-bruck",
    title: "Bruck, with blocks padded to the length of the largest",
    is_padded: true,
};

pub const TWO_PHASE: UnequalBruck = UnequalBruck {
    name: "two-phase-bruck",
    title: "Bruck, with the sizes of the blocks sent before the blocks",
    is_padded: false,
};

pub struct UnequalBruck {
    name: &'static str,
    title: &'static str,
    is_padded: bool,
}

const SIZE_BYTES: u64 = 4;

impl Algorithm for UnequalBruck {
    fn about(&self) -> About {
        About {
            name: self.name,
            title: self.title,
            paper: "K. Fan, T. Gilray, V. Pascucci, X. Huang, K. Micinski, S. Kumar: Optimizing the Bruck Algorithm for Non-uniform All-to-all Communication, HPDC (2022)",
            accepts: "any topology, any number of nodes",
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        schedule.layout(&[n], 1)?;
        // The rule depends only on distances. The host uses the symmetry only if all blocks have
        // the same size.
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        let weights = || std::iter::successors(Some(1), |w| Some(w * 2)).take_while(|w| *w < n);
        let is_uniform = problem.is_uniform();
        if !is_uniform {
            schedule.phase("size of the largest block")?;
            for weight in weights() {
                schedule.step()?;
                for from in &planned {
                    schedule.send(&without_blocks(from, (from + weight) % n, SIZE_BYTES))?;
                }
            }
        }
        schedule.phase("blocks")?;
        for weight in weights() {
            let has_bit = |distance: &u64| distance & weight != 0;
            let blocks = (0..n).filter(has_bit).count() as u64;
            if !is_uniform && !self.is_padded {
                schedule.step()?;
                for from in &planned {
                    let to = (from + weight) % n;
                    schedule.send(&without_blocks(from, to, SIZE_BYTES * blocks))?;
                }
            }
            schedule.step()?;
            for from in &planned {
                let nodes = (0..n).filter(has_bit).map(|distance| (from + distance) % n);
                let words = bit_words(n, nodes);
                let destinations = [Axis::bits(&words)];
                let send = Blocks::new(from, (from + weight) % n)
                    .destinations(Set::product(&destinations));
                let padding = match self.is_padded && !is_uniform {
                    true => blocks * problem.block_bytes() - bytes(problem, n, from, weight),
                    false => 0,
                };
                schedule.send(&send.extra_bytes(padding))?;
            }
        }
        Ok(())
    }
}

/// Returns a message with `bytes` but without blocks: it selects a block that the sender never has,
/// the receiver's block for itself.
fn without_blocks(from: u64, to: u64, bytes: u64) -> Blocks<'static> {
    Blocks::new(from, to).origins(Set::one(to)).destinations(Set::one(to)).extra_bytes(bytes)
}

/// Returns the bytes of the blocks that `from` sends in a step: those whose distance has the bit
/// `weight`, after they have moved by the lower bits of their distance.
fn bytes(problem: &Problem<'_>, n: u64, from: u64, weight: u64) -> u64 {
    let distances = (0..n).filter(|distance| distance & weight != 0);
    let block = |distance: u64| {
        let origin = (from + n - distance % weight) % n;
        problem.pair_bytes(origin, (origin + distance) % n)
    };
    distances.map(block).sum()
}
