//! The CSV file that NCCL's example tuner plugin reads. A size is the number of bytes of the send
//! buffer or the receive buffer, whichever is larger.

use super::{Algorithm, DecisionTable};
use std::fmt::Write as _;

const fn ring(collective: &'static str, ours: &'static str) -> Algorithm {
    Algorithm { collective, ours, name: "ring", number: 1, fan: 0, parameter: None }
}

pub(super) static ALGORITHMS: [Algorithm; 2] =
    [ring("allgather", "ring"), ring("allreduce", "ring-allreduce")];

pub(super) fn csv(tables: &[DecisionTable]) -> String {
    let mut out =
        "# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks\n".to_owned();
    for table in tables {
        for (ranks, rules) in &table.entries {
            let whole = |bytes: u64| {
                if table.collective == "allgather" { bytes.saturating_mul(*ranks) } else { bytes }
            };
            let ends = rules
                .iter()
                .skip(1)
                .map(|(bytes, _)| whole(*bytes) - 1)
                .chain([u64::from(u32::MAX)]);
            for ((bytes, rule), last) in rules.iter().zip(ends) {
                let _ = writeln!(
                    out,
                    "{},{},{last},{},simple,-1,-1,{ranks}",
                    table.collective,
                    whole(*bytes),
                    rule.algorithm.name
                );
            }
        }
    }
    out
}
