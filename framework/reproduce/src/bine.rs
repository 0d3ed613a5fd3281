//! De Sensi et al.: the distances between senders and receivers in the Bine algorithms, and the
//! number of bytes that these algorithms send between groups of nodes.

use crate::bench::{Bench, ReproduceError};
use crate::data::{PaperTexts, read};
use crate::report::{Table, Verdict};
use crate::swing::distance;
use serde::Deserialize;
use swapmeet_core::simulation::listener::{Listener, ScheduleEvent};

/// The topology of the runs. In a ring, ranks with consecutive numbers are neighbours.
const RANKS: &str = "ring:1024";
/// The number of nodes in a group. Each of these values is tested.
const GROUPS: [u64; 3] = [16, 64, 256];
/// The maximum saving of bytes that the paper claims, in per cent.
const A_THIRD: f64 = 100.0 / 3.0;

#[derive(Debug, Deserialize)]
struct Bine {
    #[serde(flatten)]
    words: PaperTexts,
    pair: Vec<Pair>,
}

/// An algorithm of the paper, and the existing algorithm with which it is compared.
#[derive(Debug, Deserialize)]
struct Pair {
    workload: String,
    bine: String,
    rival: String,
}

/// Returns all tables of the paper that can be reproduced.
pub(crate) fn tables(bench: &Bench<'_>) -> Result<Vec<Table>, ReproduceError> {
    let bine: Bine = read("bine", include_str!("../papers/bine.toml"))?;
    Ok(vec![distances(&bine, bench)?, global_links(&bine, bench)?, bine.words.left_out()])
}

fn distances(bine: &Bine, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = bine.words.table("Distances");
    for (algorithm, paper) in [
        ("bine-broadcast", &distance as &dyn Fn(u32) -> u64),
        ("binomial-broadcast", &|terms| 1 << (terms - 1)),
    ] {
        let steps = bench.run(RANKS, algorithm, &["broadcast/uniform:1"], &["free"])?.steps;
        for (i, facts) in (0..).zip(&steps) {
            let expected = paper(steps.len() as u32 - i);
            table.add_whole((&format!("step {i}"), algorithm), expected, facts.max_hops);
        }
    }
    Ok(table)
}

/// A listener that adds up the load that crosses from one group of consecutive nodes to another.
/// The result is the average over all positions of the group boundaries.
struct Crossing {
    /// The load for each group size in `GROUPS`.
    loads: [f64; GROUPS.len()],
}

impl Listener for Crossing {
    fn notify(&mut self, event: ScheduleEvent<'_>) {
        let ScheduleEvent::Step(step) = event else { return };
        if step.number == 1 {
            self.loads = [0.0; GROUPS.len()];
        }
        for transfer in step.transfers {
            let distance = u64::from(transfer.from.abs_diff(transfer.to));
            for (load, group) in self.loads.iter_mut().zip(GROUPS) {
                // Multiply the load by the fraction of group boundary positions that separate the
                // sender from the receiver.
                *load += transfer.load as f64 * distance.min(group) as f64
                    / group as f64
                    / step.segments as f64;
            }
        }
    }
}

fn global_links(bine: &Bine, bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = bine.words.table("Global links");
    for Pair { workload, bine, rival } in &bine.pair {
        let crossing = |algorithm: &str| {
            let mut crossing = Crossing { loads: [0.0; GROUPS.len()] };
            bench.watch(RANKS, algorithm, workload, &mut crossing).map(|_| crossing.loads)
        };
        let (ours, theirs) = (crossing(bine)?, crossing(rival)?);
        for (group, (ours, theirs)) in GROUPS.into_iter().zip(ours.into_iter().zip(theirs)) {
            let saved = 100.0 * (1.0 - ours / theirs);
            let row = format!("{bine} against {rival}");
            // A saving of zero or less would satisfy the upper bound, but it contradicts the claim.
            let verdict =
                if saved > 0.0 { Verdict::at_most(A_THIRD, saved) } else { Verdict::Fails };
            table.add(
                (&row, &format!("groups of {group}")),
                "up to 33 % less",
                format!("{saved:.1} % less"),
                verdict,
            );
        }
    }
    Ok(table)
}
