//! The properties of a topology as a whole. They are calculated once, when the topology is created.

use super::{Bisection, Plane};

/// The properties of a topology. The method of [`super::Network`] with the same name describes
/// each property.
#[derive(Debug, Clone, Default)]
pub(super) struct Properties {
    pub(super) spec: String,
    pub(super) kind: &'static str,
    pub(super) nodes: u64,
    pub(super) switches: u64,
    pub(super) radices: Vec<u64>,
    pub(super) link_slots: u64,
    pub(super) planes: Vec<Plane>,
    pub(super) diameter: u64,
    pub(super) degree: Option<u64>,
    pub(super) bisection: Option<Bisection>,
    pub(super) distance_sum: Option<u64>,
    /// The sum of hops of all pairs of nodes. If this is `None`, the sum is `distance_sum` times
    /// the number of nodes.
    pub(super) hops_of_all_pairs: Option<u128>,
    /// The number of directed links, or an upper bound. If this is `None`, the bound is `degree`
    /// times the number of nodes or, if nodes have different degrees, the number of link numbers.
    pub(super) max_links: Option<u64>,
    pub(super) bandwidths: Option<(f64, f64)>,
    pub(super) latencies: Option<(f64, f64)>,
}

impl Properties {
    /// Returns the number of directed links, or an upper bound.
    pub(super) fn max_links(&self) -> u64 {
        let regular = self.degree.filter(|_| self.switches == 0);
        let links = regular.map_or(self.link_slots, |degree| degree * self.nodes);
        self.max_links.unwrap_or(links)
    }

    /// Returns the sum of the distances of all pairs of nodes, if this sum is known.
    pub(super) fn hops_of_all_pairs(&self) -> Option<u128> {
        let all_equal = || Some(u128::from(self.distance_sum?) * u128::from(self.nodes));
        self.hops_of_all_pairs.or_else(all_equal)
    }
}

/// Returns the value of all items, if they are equal.
pub(super) fn common<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Option<T> {
    let mut items = items.into_iter();
    let first = items.next()?;
    items.all(|other| other == first).then_some(first)
}

/// Returns the smallest and the largest of these bandwidths or latencies. Returns `None` if all of
/// them are 1, which is the value of the machine.
pub(super) fn extremes(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    let extend = |(least, most): (f64, f64), value: f64| (least.min(value), most.max(value));
    let (least, most) = values.fold((f64::INFINITY, 0.0), extend);
    (least < 1.0 || most > 1.0).then_some((least, most))
}
