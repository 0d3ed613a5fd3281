//! A macro for topologies that change another topology only in part.

/// Implements the named methods of [`super::Topology`] by calling them on `self.base`.
macro_rules! delegate_to_base {
    ($($name:ident)*) => { $(delegate_to_base!(@ $name);)* };
    (@ kind) => { delegate_to_base!(@@ kind() -> &'static str); };
    (@ nodes) => { delegate_to_base!(@@ nodes() -> u64); };
    (@ switches) => { delegate_to_base!(@@ switches() -> u64); };
    (@ node_network) => { delegate_to_base!(@@ node_network() -> Option<&dyn $crate::network::topology::Topology>); };
    (@ host) => { delegate_to_base!(@@ host(rank: u64) -> u64); };
    (@ radices) => { delegate_to_base!(@@ radices() -> &[u64]); };
    (@ base) => { delegate_to_base!(@@ base() -> Option<(&dyn $crate::network::topology::Topology, u64)>); };
    (@ link_slots) => { delegate_to_base!(@@ link_slots() -> u64); };
    (@ planes) => { delegate_to_base!(@@ planes() -> &[$crate::network::topology::Plane]); };
    (@ diameter) => { delegate_to_base!(@@ diameter() -> u64); };
    (@ eccentricity) => { delegate_to_base!(@@ eccentricity(node: u64) -> u64); };
    (@ degree) => { delegate_to_base!(@@ degree() -> Option<u64>); };
    (@ links_from) => { delegate_to_base!(@@ links_from(node: u64) -> Option<u64>); };
    (@ max_links) => { delegate_to_base!(@@ max_links() -> u64); };
    (@ bisection) => { delegate_to_base!(@@ bisection() -> Option<$crate::network::topology::Bisection>); };
    (@ distance_sum) => { delegate_to_base!(@@ distance_sum() -> Option<u64>); };
    (@ hops_of_all_pairs) => { delegate_to_base!(@@ hops_of_all_pairs() -> Option<u128>); };
    (@ bandwidths) => { delegate_to_base!(@@ bandwidths() -> Option<(f64, f64)>); };
    (@ bandwidth) => { delegate_to_base!(@@ bandwidth(link: u64) -> f64); };
    (@ latencies) => { delegate_to_base!(@@ latencies() -> Option<(f64, f64)>); };
    (@ latency) => { delegate_to_base!(@@ latency(link: u64) -> f64); };
    (@ link_ends) => { delegate_to_base!(@@ link_ends(link: u64) -> Option<(u64, u64)>); };
    (@@ $name:ident($($argument:ident: $type:ty)?) -> $result:ty) => {
        fn $name(&self $(, $argument: $type)?) -> $result {
            self.base.$name($($argument)?)
        }
    };
}

pub(super) use delegate_to_base;
