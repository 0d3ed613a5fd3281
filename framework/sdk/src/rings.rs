//! Rings of ranks, which share the links between groups.

use crate::param::ParamInfo;
use crate::problem::Problem;
use crate::stop::Stop;
use crate::symmetry::Symmetry;

/// Rings that visit all ranks, group by group. Each ring carries one segment of each block. Ring r
/// enters each group at rank r of the group, visits the ranks in ascending order (modulo the size g
/// of a group), and leaves the group at the rank before rank r. So with g rings, every rank sends
/// to the next group on one ring, and all network adapters of a group carry the same load, as with
/// NCCL's channels (`src/graph/rings.cc`). With one ring, groups have no effect.
///
/// ```
/// use swapmeet_sdk::{About, Algorithm, Problem, Rehearsal, Rings, Schedule, Stop};
/// struct Order;
///
/// impl Algorithm for Order {
///     fn about(&self) -> About {
///         About { name: "order", params: &Rings::PARAMS, ..About::DEFAULT }
///     }
///
///     fn plan(&self, problem: &Problem<'_>, schedule: &mut Schedule<'_>) -> Result<(), Stop> {
///         let rings = Rings::of(problem)?;
///         for ring in 0..rings.count() {
///             // Start at rank 0 and visit each next rank.
///             let order: Vec<u64> = (0..6).map(|distance| rings.after(ring, 0, distance)).collect();
///             schedule.log(&format!("{order:?}"));
///         }
///         Ok(())
///     }
/// }
///
/// let problem = Rehearsal::on("groups", &[2, 3]).param("rings", "3");
/// let orders = ["[0, 1, 2, 3, 4, 5]", "[0, 4, 5, 3, 1, 2]", "[0, 1, 5, 3, 4, 2]"];
/// assert_eq!(problem.rehearse(&Order).unwrap().log, orders);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rings {
    nodes: u64,
    group: u64,
    count: u64,
}

impl Rings {
    /// The parameters `rings` and `group`, which [`Rings::of`] reads.
    pub const PARAMS: [ParamInfo; 2] = [
        ParamInfo::number(
            "rings",
            "1",
            "number of rings, which enter groups at different ranks: 1 to the size of a group",
        ),
        ParamInfo::GROUP,
    ];

    /// Returns the rings of a problem. Errors as [`Problem::whole`] and [`Problem::group`].
    pub fn of(problem: &Problem<'_>) -> Result<Self, Stop> {
        let nodes = problem.topology().nodes();
        if problem.whole("rings", 1..=u64::MAX)? == 1 {
            return Ok(Self { nodes, group: 1, count: 1 });
        }
        let group = problem.group("group")?;
        Ok(Self { nodes, group, count: problem.whole("rings", 1..=group)? })
    }

    /// Returns the number of rings.
    pub fn count(self) -> u64 {
        self.count
    }

    /// Returns the symmetry on the line of ranks: shifts by whole groups map each ring to itself.
    pub fn symmetry(self) -> Symmetry {
        Symmetry::shift(self.group)
    }

    /// Returns the rank that is `distance` places after `rank` on a ring.
    pub fn after(self, ring: u64, rank: u64, distance: u64) -> u64 {
        let place = self.turned(rank, self.group - ring);
        self.turned((place + distance) % self.nodes, ring)
    }

    /// Returns the rank that is `distance` places before `rank` on a ring. `distance` is at most
    /// the number of ranks.
    pub fn before(self, ring: u64, rank: u64, distance: u64) -> u64 {
        self.after(ring, rank, self.nodes - distance)
    }

    fn turned(self, rank: u64, by: u64) -> u64 {
        let within = rank % self.group;
        rank - within + (within + by) % self.group
    }
}
