//! Subsets of the coordinates of an axis. If the axis has at most 64 coordinates, the set is a
//! word. Otherwise it is stored as runs (intervals of coordinates) or as bits.
//!
//! Ranges and their rotations consist of a few runs, even on long axes. Sets with strides, as in
//! Bruck's algorithm, are stored as bits if their runs would need more words. The form depends only
//! on the coordinates in the set, so equal sets have equal forms.

use super::{Axis, strided};
use crate::delivery::grid::Grid;
use crate::network::symmetry::GroupAxis;
use smallvec::{SmallVec, smallvec};

type Runs = SmallVec<[(u32, u32); 2]>;

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Set {
    /// A bit for each of at most 64 coordinates. Bit c is coordinate c.
    Word(u64),
    /// Half-open intervals (start, end) in ascending order, with gaps between them.
    Runs(Runs),
    /// Bit `c % 64` of word `c / 64` is coordinate c.
    Bits(Box<[u64]>),
}

impl Clone for Set {
    /// Copies the runs as one slice. `SmallVec::clone` copies runs one by one, which took 10 % of
    /// the time of a symmetric all-to-all.
    fn clone(&self) -> Self {
        match self {
            Self::Word(word) => Self::Word(*word),
            Self::Runs(runs) => Self::Runs(Runs::from_slice(runs)),
            Self::Bits(bits) => Self::Bits(bits.clone()),
        }
    }
}

fn words_of(radix: u64) -> usize {
    radix.div_ceil(64) as usize
}

fn low_bits(count: u64) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

impl Set {
    pub(super) fn full(radix: u64) -> Self {
        Self::run(radix, 0, radix)
    }

    pub(super) fn one(radix: u64, coordinate: u64) -> Self {
        Self::run(radix, coordinate, coordinate + 1)
    }

    fn run(radix: u64, from: u64, to: u64) -> Self {
        if radix <= 64 {
            Self::Word(low_bits(to) & !low_bits(from))
        } else {
            Self::Runs(smallvec![(from as u32, to as u32)])
        }
    }

    pub(super) fn of(axis: Axis<'_>, radix: u64) -> Self {
        match axis {
            Axis::All => Self::full(radix),
            Axis::Bits([word]) if radix <= 64 => Self::Word(*word),
            Axis::Bits(bits) => Self::of_bits(bits.into(), radix),
            Axis::Range { first, stride, count } => {
                if count > 1 && stride != 1 {
                    let mut bits = vec![0; words_of(radix)];
                    strided(first, stride, count, radix)
                        .for_each(|c| bits[(c / 64) as usize] |= 1 << (c % 64));
                    return match bits[..] {
                        [word] => Self::Word(word),
                        _ => Self::of_bits(bits.into(), radix),
                    };
                }
                let (first, count) = (u64::from(first), u64::from(count));
                let straight = (radix - first).min(count);
                if radix <= 64 {
                    return Self::Word(
                        low_bits(count - straight) | low_bits(first + straight) & !low_bits(first),
                    );
                }
                let mut runs = Runs::new();
                push_run(&mut runs, (0, (count - straight) as u32));
                push_run(&mut runs, (first as u32, (first + straight) as u32));
                Self::Runs(runs)
            }
        }
    }

    pub(super) fn of_product(sets: &[Axis<'_>], grid: &Grid) -> Self {
        let (mut members, nodes) = (vec![0_u64], grid.nodes());
        for (set, radix) in sets.iter().zip(grid.radices()) {
            let set = Self::of(*set, *radix);
            let coordinates: Vec<u64> = (0..*radix).filter(|c| set.contains(*c)).collect();
            members = members
                .iter()
                .flat_map(|m| coordinates.iter().map(move |c| m * radix + c))
                .collect();
        }
        let mut bits = vec![0; words_of(nodes)];
        members.into_iter().for_each(|member| bits[(member / 64) as usize] |= 1 << (member % 64));
        match bits[..] {
            [word] if nodes <= 64 => Self::Word(word),
            _ => Self::of_bits(bits.into(), nodes),
        }
    }

    /// Stores bits as runs if these need no more words than the bits. A run starts at each 1 bit
    /// after a 0 bit.
    fn of_bits(bits: Box<[u64]>, radix: u64) -> Self {
        let mut before = 0;
        let mut count = 0;
        for word in &bits {
            count += (word & !(word << 1 | before)).count_ones() as usize;
            before = word >> 63;
        }
        if count > words_of(radix) {
            return Self::Bits(bits);
        }
        let mut runs = Runs::with_capacity(count);
        for (i, &word) in (0..).zip(&bits) {
            let (mut rest, base) = (word, i * 64);
            while rest != 0 {
                let from = rest.trailing_zeros();
                let len = (rest >> from).trailing_ones();
                push_run(&mut runs, (base + from, base + from + len));
                rest = if from + len >= 64 { 0 } else { rest & !((1 << (from + len)) - 1) };
            }
        }
        Self::Runs(runs)
    }

    fn of_runs(runs: Runs, radix: u64) -> Self {
        if runs.len() > words_of(radix) {
            Self::Bits(Self::Runs(runs).bits(radix))
        } else {
            Self::Runs(runs)
        }
    }

    fn bits(&self, radix: u64) -> Box<[u64]> {
        match self {
            Self::Word(word) => [*word].into(),
            Self::Bits(bits) => bits.clone(),
            Self::Runs(runs) => {
                let mut bits = vec![0; words_of(radix)];
                for &(from, to) in runs {
                    let (mut at, to) = (u64::from(from), u64::from(to));
                    while at < to {
                        let here = (64 - at % 64).min(to - at);
                        bits[(at / 64) as usize] |= low_bits(here) << (at % 64);
                        at += here;
                    }
                }
                bits.into()
            }
        }
    }

    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Word(word) => u64::from(word.count_ones()),
            Self::Runs(runs) => runs.iter().map(|(from, to)| u64::from(to - from)).sum(),
            Self::Bits(bits) => bits.iter().map(|word| u64::from(word.count_ones())).sum(),
        }
    }

    pub(super) fn contains(&self, coordinate: u64) -> bool {
        match self {
            Self::Word(word) => word >> coordinate & 1 == 1,
            Self::Runs(runs) => {
                runs.iter().any(|run| (u64::from(run.0)..u64::from(run.1)).contains(&coordinate))
            }
            Self::Bits(bits) => bits[(coordinate / 64) as usize] >> (coordinate % 64) & 1 == 1,
        }
    }

    /// Returns the first coordinate. If there is none, returns a number that is at least the radix.
    pub(super) fn first(&self) -> u64 {
        match self {
            Self::Word(word) => word.trailing_zeros().into(),
            Self::Runs(runs) => runs.first().map_or(u64::MAX, |run| run.0.into()),
            Self::Bits(bits) => {
                let word = bits.iter().position(|word| *word != 0).unwrap_or(bits.len());
                let within = bits.get(word).map_or(0, |word| word.trailing_zeros());
                word as u64 * 64 + u64::from(within)
            }
        }
    }

    pub(crate) fn each_word(&self, mut word: impl FnMut(u64)) {
        match self {
            Self::Word(bits) => word(*bits),
            Self::Runs(runs) => {
                runs.iter().for_each(|(from, to)| word(u64::from(*from) << 32 | u64::from(*to)));
            }
            Self::Bits(bits) => bits.iter().copied().for_each(word),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Word(word) => *word == 0,
            Self::Runs(runs) => runs.is_empty(),
            Self::Bits(bits) => bits.iter().all(|word| *word == 0),
        }
    }

    pub(super) fn and(&self, other: &Self, radix: u64) -> Self {
        self.combined(other, radix, |a, b| a & b, |a, b| a && b)
    }

    pub(super) fn minus(&self, other: &Self, radix: u64) -> Self {
        self.combined(other, radix, |a, b| a & !b, |a, b| a && !b)
    }

    pub(super) fn or(&self, other: &Self, radix: u64) -> Self {
        self.combined(other, radix, |a, b| a | b, |a, b| a || b)
    }

    fn combined(
        &self,
        other: &Self,
        radix: u64,
        word: impl Fn(u64, u64) -> u64,
        keep: impl Fn(bool, bool) -> bool,
    ) -> Self {
        match (self, other) {
            (Self::Word(a), Self::Word(b)) => Self::Word(word(*a, *b)),
            (Self::Runs(a), Self::Runs(b)) => Self::of_runs(merged_runs(a, b, keep), radix),
            (a, b) => {
                let mut bits = a.bits(radix);
                match b {
                    Self::Bits(b) => bits.iter_mut().zip(b).for_each(|(a, b)| *a = word(*a, *b)),
                    b => bits.iter_mut().zip(&b.bits(radix)).for_each(|(a, b)| *a = word(*a, *b)),
                }
                Self::of_bits(bits, radix)
            }
        }
    }

    pub(super) fn moved(&self, axis: GroupAxis, element: u64) -> Self {
        if element == 0 {
            return self.clone();
        }
        match self {
            Self::Word(word) if axis.xor => Self::Word(xor_bits(*word, element)),
            Self::Word(word) => Self::Word(
                (word << element | word >> (axis.radix - element)) & low_bits(axis.radix),
            ),
            Self::Runs(runs) if axis.xor => {
                Self::of_runs(xor_runs(runs, element as u32), axis.radix)
            }
            Self::Runs(runs) => {
                Self::of_runs(rotated_runs(runs, axis.radix as u32, element as u32), axis.radix)
            }
            Self::Bits(bits) => {
                let mut to = vec![0; bits.len()];
                if axis.xor {
                    for (i, word) in bits.iter().enumerate() {
                        to[i ^ (element / 64) as usize] = xor_bits(*word, element);
                    }
                } else {
                    copy_bits(bits, 0, axis.radix - element, &mut to, element);
                    copy_bits(bits, axis.radix - element, element, &mut to, 0);
                }
                Self::of_bits(to.into(), axis.radix)
            }
        }
    }
}

fn push_run(runs: &mut Runs, (from, to): (u32, u32)) {
    if from < to {
        match runs.last_mut() {
            Some(last) if last.1 == from => last.1 = to,
            _ => runs.push((from, to)),
        }
    }
}

/// Combines two sets. `keep(in_a, in_b)` returns whether the result contains a coordinate, given
/// whether it is in `a` and in `b`.
fn merged_runs(a: &Runs, b: &Runs, keep: impl Fn(bool, bool) -> bool) -> Runs {
    let end = |runs: &Runs, i: usize| {
        runs.get(i / 2).map_or(u32::MAX, |run| if i.is_multiple_of(2) { run.0 } else { run.1 })
    };
    let (mut i, mut j, mut at, mut out) = (0, 0, 0, Runs::new());
    loop {
        let (of_a, of_b) = (end(a, i), end(b, j));
        let next = of_a.min(of_b);
        if keep(i % 2 == 1, j % 2 == 1) {
            push_run(&mut out, (at, next));
        }
        if next == u32::MAX {
            return out;
        }
        (i, j, at) = (i + usize::from(of_a == next), j + usize::from(of_b == next), next);
    }
}

fn rotated_runs(runs: &Runs, radix: u32, by: u32) -> Runs {
    let mut out = Runs::new();
    for &(from, to) in runs {
        push_run(&mut out, ((from + by).max(radix) - radix, (to + by).max(radix) - radix));
    }
    for &(from, to) in runs {
        push_run(&mut out, ((from + by).min(radix), (to + by).min(radix)));
    }
    out
}

/// Returns the runs after an exclusive-or of all coordinates with the number `with`. Splits the
/// runs into aligned pieces of 2^k coordinates, because an exclusive-or maps each of these to an
/// aligned piece.
fn xor_runs(runs: &Runs, with: u32) -> Runs {
    let mut pieces: Vec<(u32, u32)> = Vec::new();
    for &(mut from, to) in runs {
        while from < to {
            let aligned = if from == 0 { u32::MAX } else { from & from.wrapping_neg() };
            let len = (1 << (31 - (to - from).leading_zeros())).min(aligned);
            let piece = (from ^ with) & !(len - 1);
            pieces.push((piece, piece + len));
            from += len;
        }
    }
    pieces.sort_unstable();
    let mut out = Runs::new();
    pieces.into_iter().for_each(|piece| push_run(&mut out, piece));
    out
}

/// Returns the word whose bit `i ^ with` is bit i of `word`.
fn xor_bits(word: u64, with: u64) -> u64 {
    const HALVES: [u64; 6] = [
        0x5555_5555_5555_5555,
        0x3333_3333_3333_3333,
        0x0f0f_0f0f_0f0f_0f0f,
        0x00ff_00ff_00ff_00ff,
        0x0000_ffff_0000_ffff,
        0x0000_0000_ffff_ffff,
    ];
    let turned = (0..6).filter(|bit| with >> bit & 1 == 1);
    turned.fold(word, |word, bit| {
        (word & HALVES[bit]) << (1 << bit) | word >> (1 << bit) & HALVES[bit]
    })
}

fn copy_bits(bits: &[u64], from: u64, len: u64, to: &mut [u64], at: u64) {
    let mut done = 0;
    while done < len {
        let (source, target) = (from + done, at + done);
        let here = (64 - source % 64).min(64 - target % 64).min(len - done);
        to[(target / 64) as usize] |=
            (bits[(source / 64) as usize] >> (source % 64) & low_bits(here)) << (target % 64);
        done += here;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn members(set: &Set, radix: u64) -> BTreeSet<u64> {
        (0..radix).filter(|c| set.contains(*c)).collect()
    }

    fn set_of(radix: u64, of: &BTreeSet<u64>) -> Set {
        let mut bits = vec![0; words_of(radix)];
        of.iter().for_each(|c| bits[(c / 64) as usize] |= 1 << (c % 64));
        Set::of(Axis::Bits(&bits), radix)
    }

    fn subsets(radix: u64) -> impl Strategy<Value = BTreeSet<u64>> {
        let runs = prop::collection::vec((0..radix, 0..radix), 0..4);
        (runs, prop::collection::btree_set(0..radix, 0..40)).prop_map(move |(runs, mut all)| {
            all.extend(runs.into_iter().flat_map(|(from, len)| from..(from + len).min(radix)));
            all
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::test_tiers::cases(256, 5120)))]

        #[test]
        fn sets_behave_like_sets_of_numbers(
            (radix, a, b, by) in prop_oneof![Just(5_u64), Just(64), Just(65), Just(128), Just(512), Just(1000)]
                .prop_flat_map(|radix| (Just(radix), subsets(radix), subsets(radix), 0..radix))
        ) {
            let (x, y) = (set_of(radix, &a), set_of(radix, &b));
            prop_assert_eq!(&members(&x, radix), &a);
            prop_assert_eq!(x.and(&y, radix), set_of(radix, &(&a & &b)));
            prop_assert_eq!(x.or(&y, radix), set_of(radix, &(&a | &b)));
            prop_assert_eq!(x.minus(&y, radix), set_of(radix, &(&a - &b)));
            prop_assert_eq!((x.count(), x.is_empty()), (a.len() as u64, a.is_empty()));
            prop_assert!(a.first().map_or(x.first() >= radix, |first| x.first() == *first));
            let shift = GroupAxis { radix, unit: 1, xor: false };
            let images = a.iter().map(|c| (c + by) % radix).collect();
            prop_assert_eq!(x.moved(shift, by), set_of(radix, &images));
            if radix.is_power_of_two() {
                let images = a.iter().map(|c| c ^ by).collect();
                prop_assert_eq!(x.moved(GroupAxis { xor: true, ..shift }, by), set_of(radix, &images));
            }
        }

        #[test]
        fn ranges_have_their_coordinates(radix in 1_u64..300, first in 0_u64..300, stride in 1_u64..7, count in 1_u64..300) {
            let first = first % radix;
            let all: Vec<u64> = (0..count).map(|i| (first + i * stride) % radix).collect();
            let distinct: BTreeSet<u64> = all.iter().copied().collect();
            prop_assume!(distinct.len() as u64 == count);
            let axis = Axis::Range { first: first as u32, stride: stride as u32, count: count as u32 };
            prop_assert_eq!(Set::of(axis, radix), set_of(radix, &distinct));
        }
    }
}
