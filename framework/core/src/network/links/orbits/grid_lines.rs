//! Link loads, counted line by line. The symmetry group of the schedule must consist of all shifts
//! or of all exclusive-ors of ranks.
//!
//! Routes follow the dimensions one by one, the last one first. So the line on which a message
//! travels along dimension d is given by two sets of coordinates: the sender's coordinates in the
//! dimensions before d, and the receiver's coordinates in the dimensions after d.

use super::OrbitCounts;
use crate::network::topology::shorter;
use crate::network::transfer::Transfer;

/// The action of the group on ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RankAction {
    /// All shifts. The images of a message go from every rank r to rank `r + s`, for the same
    /// distance s.
    Rotated,
    /// All exclusive-ors. The images of a message go from every rank r to rank `r ^ s`, for the
    /// same number s.
    Xored,
}

/// A mesh or torus with the action of the group on its ranks.
#[derive(Debug)]
pub(super) struct GridLines {
    dims: Vec<u64>,
    nodes: u64,
    wraps: bool,
    action: RankAction,
}

impl GridLines {
    pub(super) fn new(dims: &[u64], wraps: bool, action: RankAction) -> Self {
        Self { dims: dims.to_vec(), nodes: dims.iter().product(), wraps, action }
    }

    pub(super) fn count(&self, messages: &[Transfer]) -> OrbitCounts {
        let hops: Vec<(u128, u64)> = messages.iter().map(|t| self.hops(self.distance(t))).collect();
        OrbitCounts {
            max_messages: self.max_load(messages, |_| 1),
            max_hops: hops.iter().map(|(_, longest)| *longest).max().unwrap_or(0),
            hops: hops.into_iter().map(|(all, _)| all).collect(),
            ..OrbitCounts::default()
        }
    }

    /// Returns the number s of a message ([`RankAction`]). It is the receiver of that image of the
    /// message which rank 0 sends.
    fn distance(&self, t: &Transfer) -> u64 {
        match self.action {
            RankAction::Rotated => (u64::from(t.to) + self.nodes - u64::from(t.from)) % self.nodes,
            RankAction::Xored => u64::from(t.to ^ t.from),
        }
    }

    /// Returns the largest load of a link. `amount` returns the load of each message.
    pub(super) fn max_load(&self, messages: &[Transfer], amount: impl Fn(&Transfer) -> u64) -> u64 {
        let loads: Vec<(u64, u64)> =
            messages.iter().map(|t| (self.distance(t), amount(t))).collect();
        match self.action {
            RankAction::Rotated => self.max_load_rotated(&loads),
            RankAction::Xored => self.max_load_xored(&loads),
        }
    }

    /// Returns two values for all images of a message: the sum of their hops, and the hops of the
    /// longest route.
    fn hops(&self, distance: u64) -> (u128, u64) {
        match self.action {
            RankAction::Rotated => self.hops_rotated(distance),
            RankAction::Xored => self.hops_xored(distance),
        }
    }

    /// Returns the largest load of a link, if the group consists of all shifts.
    ///
    /// Suppose that on a line of n nodes, each node sends to the node t positions further, modulo
    /// n. On a mesh, this puts a load of `min(t, n - t)` on the middle link in each direction,
    /// which is the maximum. On a ring, it puts this load on all links of one direction. So the
    /// maxima of all messages on a line can be added. On a line of dimension d, all images of a
    /// message move by digit d of the distance, or by one more if the addition of the lower digits
    /// carries. It carries if the lower digits of the receiver are less than those of the distance.
    fn max_load_rotated(&self, loads: &[(u64, u64)]) -> u64 {
        let (mut most, mut stride) = (0, 1);
        let mut changes: Vec<(u64, [u64; 2])> = Vec::with_capacity(loads.len());
        for &n in self.dims.iter().rev() {
            let on_line = |t: u64| {
                let least = t.min(n - t);
                match self.wraps {
                    false => [least, least],
                    true if 2 * t <= n => [least, 0],
                    true => [0, least],
                }
            };
            let mut sum = [0_u64; 2];
            changes.clear();
            for (distance, amount) in loads {
                let (t, low) = (distance / stride % n, distance % stride);
                let (plain, carried) = (on_line(t), on_line((t + 1) % n));
                let first = if low > 0 { carried } else { plain };
                for way in 0..2 {
                    sum[way] = sum[way].wrapping_add(first[way].wrapping_mul(*amount));
                }
                if low > 0 {
                    // For receivers whose lower digits are at least `low`, the addition has no
                    // carry. Store the difference between the load without and with a carry.
                    let change =
                        |way: usize| plain[way].wrapping_sub(carried[way]).wrapping_mul(*amount);
                    changes.push((low, [change(0), change(1)]));
                }
            }
            most = most.max(sum[0]).max(sum[1]);
            changes.sort_unstable();
            for same in changes.chunk_by(|a, b| a.0 == b.0) {
                for (_, change) in same {
                    sum = [sum[0].wrapping_add(change[0]), sum[1].wrapping_add(change[1])];
                }
                most = most.max(sum[0]).max(sum[1]);
            }
            stride *= n;
        }
        most
    }

    fn hops_rotated(&self, distance: u64) -> (u128, u64) {
        let (mut all, mut stride) = (0, 1);
        // The hops of the longest route so far: among the images without a carry into this
        // dimension, and among the images with a carry. No image carries into the last dimension,
        // which is visited first.
        let mut longest = [Some(0), None];
        for &n in self.dims.iter().rev() {
            let (t, low) = (distance / stride % n, distance % stride);
            // On each line, a shift by t moves `n - t` nodes up by t coordinates. The other t nodes
            // pass the end of the line and are moved down by `n - t` coordinates.
            let straight = |t: u64| if self.wraps { t.min(n - t) } else { t };
            let around = |t: u64| if self.wraps { t.min(n - t) } else { n - t };
            let on_line = |t: u64| {
                u128::from(n - t) * u128::from(straight(t)) + u128::from(t) * u128::from(around(t))
            };
            let lines = u128::from(self.nodes / (stride * n));
            all += lines
                * (u128::from(stride - low) * on_line(t) + u128::from(low) * on_line((t + 1) % n));
            let mut next = [None, None];
            for (carry, so_far) in [0, 1].into_iter().zip(longest) {
                let Some(so_far) = so_far else { continue };
                // A shift by n leaves every coordinate unchanged and carries.
                let t = t + carry;
                if t < n {
                    next[0] = next[0].max(Some(so_far + straight(t)));
                }
                if t > 0 {
                    next[1] = next[1].max(Some(so_far + around(t)));
                }
            }
            longest = next;
            stride *= n;
        }
        (all, longest[0].max(longest[1]).unwrap_or(0))
    }

    fn max_load_xored(&self, loads: &[(u64, u64)]) -> u64 {
        let (mut most, mut stride) = (0, 1);
        for &n in self.dims.iter().rev() {
            // The change of load from each link of a line to the next, for both directions.
            let mut changes = [vec![0_u64; n as usize + 1], vec![0_u64; n as usize + 1]];
            for (distance, amount) in loads {
                let with = distance / stride % n;
                for a in (0..n).filter(|_| with > 0) {
                    let (plus, hops) = shorter(n, self.wraps, a, a ^ with);
                    let first = if plus { a } else { (a + 1 + n - hops) % n };
                    let line = &mut changes[usize::from(!plus)];
                    let mut note =
                        |at: u64, by: u64| line[at as usize] = line[at as usize].wrapping_add(by);
                    note(first, *amount);
                    note((first + hops).min(n), amount.wrapping_neg());
                    if first + hops > n {
                        note(0, *amount);
                        note(first + hops - n, amount.wrapping_neg());
                    }
                }
            }
            for line in &changes {
                let mut sum = 0_u64;
                for change in line {
                    sum = sum.wrapping_add(*change);
                    most = most.max(sum);
                }
            }
            stride *= n;
        }
        most
    }

    fn hops_xored(&self, distance: u64) -> (u128, u64) {
        let (mut all, mut longest, mut stride) = (0, 0, 1);
        for &n in self.dims.iter().rev() {
            let with = distance / stride % n;
            let of_line = (0..n).map(|a| shorter(n, self.wraps, a, a ^ with).1);
            all += u128::from(of_line.clone().sum::<u64>()) * u128::from(self.nodes / n);
            longest += of_line.max().unwrap_or(0);
            stride *= n;
        }
        (all, longest)
    }
}
