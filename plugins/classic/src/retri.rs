//! ReTri: an all-to-all in `ceil(log3 p)` steps on p ranks, from A. Juerss and S. Schmid,
//! *Revisiting Bruck: Phase-Efficient All-to-All Communication in Reconfigurable Networks*, arXiv
//! 2605.26930 (2026). In each step a rank sends one message in each direction. If p is a power of
//! three, it takes `log3 p (alpha + p/3 m beta)`.
//!
//! In step k (from 0), the remaining distance of a block along the ring of ranks is `3^k t`,
//! forwards or backwards, whichever gives the smaller integer t:
//! * t = 1 modulo 3: the rank sends the block 3^k positions in this direction;
//! * t = 2 modulo 3: the rank sends the block 3^k positions in the opposite direction;
//! * t = 0 modulo 3: the block stays.
//!
//! These values 1, -1 and 0 are the digits of the distance in balanced ternary.

use crate::ANYWHERE;
use crate::bruck::Distances;
use swapmeet_sdk::{About, Algorithm, Axis, Blocks, Problem, Schedule, Set, Stop, Symmetry};

pub struct ReTri;

impl Algorithm for ReTri {
    fn about(&self) -> About {
        About {
            name: "retri",
            title: "Bruck in both directions: ceil(log3 p) steps",
            paper: "A. Juerss, S. Schmid: Revisiting Bruck: Phase-Efficient All-to-All Communication in Reconfigurable Networks, arXiv 2605.26930 (2026)",
            ports: 2,
            ..ANYWHERE
        }
    }

    fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
        let n = problem.topology().nodes();
        schedule.layout(&[n], 1)?;
        let planned = schedule.symmetric(&[Symmetry::shift(1)])?;
        let mut weight = 1;
        let steps = (0..).find(|steps| 3_u64.saturating_pow(*steps) >= n).unwrap_or(0);
        for left in (1..=steps).rev() {
            schedule.step()?;
            let digits = digits(n, weight, left);
            let both = [1, -1].map(|digit| {
                (digit, Distances::matching(n, |distance| digits[distance as usize] == digit))
            });
            let mut destinations = vec![0; n.div_ceil(64) as usize];
            for from in &planned {
                for (digit, distances) in both.iter().filter(|(_, distances)| !distances.is_empty())
                {
                    distances.from(from, &mut destinations);
                    let axes = [Axis::bits(&destinations)];
                    let to = (from + if *digit > 0 { weight } else { n - weight }) % n;
                    schedule.send(&Blocks::new(from, to).destinations(Set::product(&axes)))?;
                }
            }
            weight *= 3;
        }
        Ok(())
    }
}

/// Returns a digit (-1, 0 or 1) for each distance on a ring of `n` ranks. Forwards or backwards, a
/// distance is `weight * t`; t is the smaller of the two numbers, and has at most `left` digits.
/// The digit is the lowest one of t in balanced ternary. If the distance is counted backwards, the
/// digit is negated.
pub fn digits(n: u64, weight: u64, left: u32) -> Vec<i64> {
    let mut digits = vec![0; n as usize];
    for t in (1..=(3_u64.pow(left) - 1) / 2).rev() {
        let ahead = (u128::from(weight) * u128::from(t) % u128::from(n)) as u64;
        let digit = [0, 1, -1][(t % 3) as usize];
        (digits[ahead as usize], digits[((n - ahead) % n) as usize]) = (digit, -digit);
    }
    digits[0] = 0;
    digits
}
