//! A network that is another one but for something: what stays as it is there, said once.

/// Methods of [`super::Topology`] that the network `self.base` answers, by their names.
macro_rules! as_base {
    ($($name:ident)*) => { $(as_base!(@ $name);)* };
    (@ kind) => { as_base!(@@ kind() -> &'static str); };
    (@ nodes) => { as_base!(@@ nodes() -> u64); };
    (@ switches) => { as_base!(@@ switches() -> u64); };
    (@ node_network) => { as_base!(@@ node_network() -> Option<&dyn $crate::network::topology::Topology>); };
    (@ host) => { as_base!(@@ host(rank: u64) -> u64); };
    (@ radices) => { as_base!(@@ radices() -> &[u64]); };
    (@ base) => { as_base!(@@ base() -> Option<(&dyn $crate::network::topology::Topology, u64)>); };
    (@ link_slots) => { as_base!(@@ link_slots() -> u64); };
    (@ planes) => { as_base!(@@ planes() -> &[$crate::network::topology::Plane]); };
    (@ diameter) => { as_base!(@@ diameter() -> u64); };
    (@ eccentricity) => { as_base!(@@ eccentricity(node: u64) -> u64); };
    (@ degree) => { as_base!(@@ degree() -> Option<u64>); };
    (@ links_from) => { as_base!(@@ links_from(node: u64) -> Option<u64>); };
    (@ max_links) => { as_base!(@@ max_links() -> u64); };
    (@ bisection) => { as_base!(@@ bisection() -> Option<$crate::network::topology::Bisection>); };
    (@ distance_sum) => { as_base!(@@ distance_sum() -> Option<u64>); };
    (@ hops_of_all_pairs) => { as_base!(@@ hops_of_all_pairs() -> Option<u128>); };
    (@ bandwidths) => { as_base!(@@ bandwidths() -> Option<(f64, f64)>); };
    (@ bandwidth) => { as_base!(@@ bandwidth(link: u64) -> f64); };
    (@ latencies) => { as_base!(@@ latencies() -> Option<(f64, f64)>); };
    (@ latency) => { as_base!(@@ latency(link: u64) -> f64); };
    (@ link_ends) => { as_base!(@@ link_ends(link: u64) -> Option<(u64, u64)>); };
    (@@ $name:ident($($argument:ident: $type:ty)?) -> $result:ty) => {
        fn $name(&self $(, $argument: $type)?) -> $result {
            self.base.$name($($argument)?)
        }
    };
}

pub(super) use as_base;
