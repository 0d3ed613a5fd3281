//! Shares random sizes among the cases that a worker runs one after another.

use crate::Workload;
use std::cell::RefCell;
use std::sync::Arc;
use swapmeet_core::delivery::collective::{BlockSizes, Tokens};

#[derive(Clone)]
pub(crate) struct Sizes {
    pub blocks: Arc<dyn BlockSizes>,
    pub tokens: Option<Arc<Tokens>>,
}

struct CachedSizes {
    workload: Workload,
    nodes: u64,
    seed: u64,
    sizes: Sizes,
}

thread_local! {
    /// The sizes of the last task that was created on this thread, if they are random.
    static LAST: RefCell<Option<CachedSizes>> = const { RefCell::new(None) };
}

/// Returns the sizes of the last task if they were drawn for the same workload, number of nodes and
/// seed. Otherwise calls `draw`.
pub(crate) fn shared(
    workload: &Workload,
    nodes: u64,
    seed: u64,
    draw: impl FnOnce() -> Result<Sizes, String>,
) -> Result<Sizes, String> {
    // If the last sizes cannot be used, free them before others are drawn, so that the memory of a
    // case does not depend on earlier cases.
    let last = LAST
        .take()
        .filter(|last| (last.nodes, last.seed) == (nodes, seed) && last.workload == *workload);
    let sizes = match last {
        Some(last) => last.sizes,
        None => draw()?,
    };
    if workload.generator.random {
        let (workload, sizes) = (workload.clone(), sizes.clone());
        LAST.set(Some(CachedSizes { workload, nodes, seed, sizes }));
    }
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use crate::Workload;
    use std::sync::Arc;
    use swapmeet_core::network::topology;

    #[test]
    fn sizes_are_drawn_once_for_equal_cases() {
        let sizes = |workload: &str, network: &str, seed| {
            let task =
                Workload::parse(workload).unwrap().task(&topology::parse(network).unwrap(), seed);
            task.unwrap().sizes.unwrap()
        };
        let moe = "moe:experts=8,top=2,tokens=50,bytes=4";
        let first = sizes(moe, "ring:8", 1);
        assert!(Arc::ptr_eq(&first, &sizes(moe, "mesh:2x4", 1)));
        for (workload, network, seed) in [
            (moe, "ring:8", 2),
            (moe, "ring:9", 1),
            ("moe:experts=8,top=2,tokens=51,bytes=4", "ring:8", 1),
        ] {
            let first = sizes(moe, "ring:8", 1);
            assert!(!Arc::ptr_eq(&first, &sizes(workload, network, seed)), "{workload} {network}");
        }
        let again = sizes(moe, "ring:8", 1);
        assert!(!Arc::ptr_eq(&first, &again));
        assert!((0..64).all(|i| first.bytes(i / 8, i % 8) == again.bytes(i / 8, i % 8)));
    }
}
