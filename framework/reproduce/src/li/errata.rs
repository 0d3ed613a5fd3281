//! Where the paper's text does not hold, shown by runs.

use super::MACHINE;
use crate::bench::{Bench, ReproduceError};
use crate::report::{Table, Verdict};

/// The slips.
pub fn table(bench: &Bench<'_>) -> Result<Table, ReproduceError> {
    let mut table = Table::new("Errata", "Slips of the paper, and what verifies instead.");
    let mut met = true;
    for base in ["ring:3", "ring:4", "hypercube:2", "hypercube:3", "torus:3x4", "fully-connected:4"] {
        let spec = format!("rdn:1({base})");
        let row = bench.row(&spec, "rdn-alltoall", "uniform:1", MACHINE)?;
        let least = swapmeet_core::network::topology::parse(&spec).ok().and_then(|net| net.distance_sum());
        met &= row.critical_bytes == least.map(u128::from);
    }
    table.add(
        ("Algorithm 4", "words of the lean variant over six bases"),
        "",
        if met { "the distances from a node to all others" } else { "more than the bound" },
        Verdict::NotGiven,
        "crossing first, as printed, sends what is for the own type over two crossings that it need not share",
    );
    let slip = |table: &mut Table, row: &str, paper: &str, ours: &str, why: &str| {
        table.add((row, ""), paper, ours, Verdict::Differs, why);
    };
    slip(
        &mut table,
        "Algorithms 1 and 2, third step: who sends",
        "my_cluster_id = s1 (and my_node_id != s2, my_id != s')",
        "the nodes of C_s and of C_s', but for s (Algorithm 1) and s'",
        "selects C_s' only where s1 = s2: `variant=printed` reaches everyone from node 0, but from most roots leaves clusters out",
    );
    slip(
        &mut table,
        "Algorithm 2: the call within C_s' starts at",
        "node s2",
        "node s1",
        "s' = (1 - s0, s2, s1) is node s1 of its cluster",
    );
    slip(
        &mut table,
        "Algorithm 2: temp at s'",
        "msg1 \\ {msgC_s'}",
        "msg1 - {msgC_s}",
        "s keeps msgC_s' and sends it in the third step",
    );
    slip(
        &mut table,
        "section V: words of the all-to-all, own blocks",
        "p - 1 messages a node",
        "section VI counts all 128",
        "without them 574 words on RDN^1(B), with them 576",
    );
    slip(&mut table, "section VI: All2All_B within a cluster", "1 + 2 + 3", "1 + 2 + 4", "7, as the sum says");
    slip(
        &mut table,
        "section VI: what takes 134 words",
        "the one-to-all broadcast",
        "the all-to-all broadcast",
        "as Table II says",
    );
    slip(
        &mut table,
        "sections III and IV: ports",
        "one link at a time",
        "a send and a receive at once",
        "what section III says; along rings of more than two nodes the algorithms need it",
    );
    Ok(table)
}
