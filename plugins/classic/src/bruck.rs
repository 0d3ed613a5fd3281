//! Bruck et al.: (k - 1) ceil(log_k p) steps, at the price of passing blocks on: with radix k = 2
//! ceil(log2 p) (alpha + p/2 m beta) all-to-all, ceil(log2 p) alpha + (p - 1) m beta for an
//! allgather, where p is a power of two; sections 3 and 4.
//!
//! All-to-all: for the digit of k^i, and each value j from 1 to k - 1 that it may have, everyone
//! sends to the rank j k^i on all blocks whose way to go has j there. Allgather: having the blocks
//! of k^i ranks, everyone sends them to the ranks k^i, 2 k^i, .., (k - 1) k^i before, as far as the
//! receiver lacks them. One port: a step for each.

use crate::{ANYWHERE, line};
use swapmeet_sdk::{
    About, Algorithm, Axis, Blocks, Collective, ParamInfo, Planned, Problem, Schedule, Set, Stop,
    Symmetry,
};

pub(crate) struct Bruck;

const RADIX: ParamInfo = ParamInfo::number(
    "radix",
    "2",
    "k, from 2: fewer blocks are passed on the larger it is, in more steps",
);

impl Algorithm for Bruck {
    fn about(&self) -> About {
        About {
            name: "bruck",
            title: "Combining in ceil(log2 p) steps",
            paper: "J. Bruck, C.-T. Ho, S. Kipnis, E. Upfal, D. Weathersby: Efficient Algorithms for All-to-All Communications in Multiport \
                    Message-Passing Systems, IEEE TPDS (1997)",
            collectives: &[Collective::AllToAll, Collective::AllGather],
            params: &[RADIX],
            ..ANYWHERE
        }
    }

    fn supports(&self, problem: &Problem<'_>) -> Result<(), Stop> {
        radix(problem).map(|_| ())
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let (n, k) = (line(problem, schedule)?, radix(problem)?);
        // What goes where depends on the way still to go alone.
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        let mut far = 1;
        while far < n {
            for digit in (1..k).take_while(|digit| digit.saturating_mul(far) < n) {
                schedule.step()?;
                if problem.collective() == Collective::AllGather {
                    allgather(n, far, digit * far, &planned, schedule)?;
                } else {
                    let distances = Distances::having(n, |distance| distance / far % k == digit);
                    all_to_all(n, digit * far, &distances, &planned, schedule)?;
                }
            }
            far = far.saturating_mul(k);
        }
        Ok(())
    }
}

/// Rank r has the blocks of r, r + 1, .., r + far - 1.
fn allgather(
    n: u64,
    far: u64,
    by: u64,
    planned: &Planned,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    planned.iter().try_for_each(|from| {
        let origins = [Axis::range(from, far.min(n - by))];
        schedule.send(
            &Blocks::new(from, (from + n - by) % n).origins(Set::product(&origins)).copy().strict(),
        )
    })
}

fn all_to_all(
    n: u64,
    by: u64,
    distances: &Distances,
    planned: &Planned,
    schedule: &mut Schedule<'_>,
) -> Result<(), Stop> {
    let mut destinations = vec![0; n.div_ceil(64) as usize];
    planned.iter().try_for_each(|from| {
        distances.from(from, &mut destinations);
        let axes = [Axis::bits(&destinations)];
        schedule.send(&Blocks::new(from, (from + by) % n).destinations(Set::product(&axes)))
    })
}

/// k.
fn radix(problem: &Problem<'_>) -> Result<u64, Stop> {
    problem.whole("radix", 2..=u64::MAX)
}

/// Some of the distances below n, as bits.
pub(crate) struct Distances {
    n: u64,
    bits: Vec<u64>,
}

impl Distances {
    pub(crate) fn having(n: u64, has: impl Fn(u64) -> bool) -> Self {
        let mut bits = vec![0; n.div_ceil(64) as usize];
        for distance in (0..n).filter(|distance| has(*distance)) {
            bits[(distance / 64) as usize] |= 1 << (distance % 64);
        }
        Self { n, bits }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.bits.iter().all(|word| *word == 0)
    }

    /// The nodes at these distances from `node`: the bits rotated by as much, word by word.
    pub(crate) fn from(&self, node: u64, out: &mut [u64]) {
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
    use swapmeet_sdk::Rehearsal;

    #[test]
    fn rotated_bits_are_distances_from_the_node() {
        for n in [1, 2, 5, 63, 64, 65, 130, 200] {
            for bit in [1, 2, 16, 128] {
                let distances = Distances::having(n, |distance| distance & bit != 0);
                let mut out = vec![0; n.div_ceil(64) as usize];
                for node in 0..n {
                    distances.from(node, &mut out);
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

    #[test]
    fn every_radix_takes_a_step_for_each_value_of_each_digit() {
        for n in 1..30_u64 {
            for k in 2..6_u64 {
                let problem = Rehearsal::on("ring", &[n]).param("radix", &k.to_string());
                let steps: u64 = (0..)
                    .map(|i| k.pow(i))
                    .take_while(|far| *far < n)
                    .map(|far| (1..k).filter(|digit| digit * far < n).count() as u64)
                    .sum();
                let exchanged = problem.verify(&Bruck).unwrap();
                assert_eq!(exchanged.steps, steps, "{n}, radix {k}");
                let gathered = problem.collective(Collective::AllGather, 0).verify(&Bruck).unwrap();
                assert_eq!(
                    (gathered.steps, gathered.critical_bytes),
                    (steps, n - 1),
                    "{n}, radix {k}"
                );
            }
        }
    }

    #[test]
    fn a_radix_below_two_is_none() {
        let refused = Rehearsal::on("ring", &[4]).param("radix", "1").plan(&Bruck).unwrap_err();
        assert!(refused.to_string().starts_with("`radix=1`: "));
    }
}
