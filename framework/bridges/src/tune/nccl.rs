//! The files of NCCL's tuners. One is the CSV file of NCCL's example tuner plugin (NVIDIA/nccl
//! 5067397, plugins/tuner/example), the other is that of Meta's NCCLX (meta-pytorch/torchcomms
//! 59426ba, comms/ncclx/meta/tuner). The first line that matches applies. A size is the number of
//! bytes of the larger of the send and receive buffers. NCCLX always divides this size by the
//! number of ranks.

use super::{Algorithm, DecisionTable, Parameter};
use std::fmt::Write as _;
use swapmeet_core::system::COUNTERPARTS;

/// All algorithms of the library except for sends in a group, which a rule of a tuner cannot name.
pub(super) static ALGORITHMS: [Algorithm; COUNTERPARTS.len() - 1] = {
    let mut all = [algorithm(0); COUNTERPARTS.len() - 1];
    let mut index = 0;
    while index < all.len() {
        all[index] = algorithm(index + 1);
        index += 1;
    }
    all
};

const fn algorithm(row: usize) -> Algorithm {
    let own = COUNTERPARTS[row];
    Algorithm {
        collective: own.collective,
        ours: own.ours,
        name: own.name,
        number: 0,
        fan: 0,
        parameter: Some(Parameter::OfSystem),
    }
}

/// A line of a file: a rule with the range of sizes to which it applies.
struct Line {
    collective: String,
    algorithm: &'static str,
    protocol: String,
    /// The range of sizes, as NCCL's tuners compare them. Without `last`, it has no upper end.
    first: u64,
    last: Option<u64>,
    ranks: u64,
    domains: Option<[u64; 2]>,
}

fn lines(tables: &[DecisionTable]) -> Vec<Line> {
    let mut lines = Vec::new();
    for table in tables {
        for (ranks, rules) in &table.entries {
            let whole = |bytes: u64| match table.collective {
                "allreduce" => bytes,
                _ => bytes.saturating_mul(*ranks),
            };
            let ends = rules.iter().skip(1).map(|(bytes, _)| Some(whole(*bytes) - 1));
            for ((bytes, rule), last) in rules.iter().zip(ends.chain([None])) {
                lines.push(Line {
                    collective: table.collective.replace('-', ""),
                    algorithm: match rule.algorithm.name {
                        "nvlstree" => "nvls_tree",
                        name => name,
                    },
                    protocol: rule.protocol.to_lowercase(),
                    first: whole(*bytes),
                    last,
                    ranks: *ranks,
                    domains: rule.domains,
                });
            }
        }
    }
    lines
}

pub(super) fn csv(tables: &[DecisionTable]) -> String {
    let mut out =
        "# collective,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks\n".to_owned();
    for Line { collective, algorithm, protocol, first, last, ranks, domains } in lines(tables) {
        // The plugin has no word for an open range. If channels are 0, NCCL decides their number.
        let last = last.unwrap_or(u64::MAX);
        let nodes = domains.map_or("-1".to_owned(), |[domains, _]| domains.to_string());
        let _ =
            writeln!(out, "{collective},{first},{last},{algorithm},{protocol},0,{nodes},{ranks}");
    }
    out
}

/// Rules of NCCLX state the hosts and the ranks of each, so all cases must be of a system.
pub(super) fn ncclx(tables: &[DecisionTable]) -> Result<String, String> {
    let mut out =
        "# collective,bytesPerRank,algorithm,protocol,channels,nNodes,nLocalRanks\n".to_owned();
    for Line { collective, algorithm, protocol, first, last, ranks, domains } in lines(tables) {
        let Some([domains, gpus]) = domains else {
            return Err("a rule names the ranks of each host: name a system with --system".into());
        };
        // NCCLX compares sizes per rank, so only multiples of the number of ranks remain.
        let first = first.div_ceil(ranks);
        let sizes = match last {
            Some(last) if last / ranks < first => continue,
            Some(last) => format!("[{first},{}]", last / ranks),
            None => format!("[{first},)"),
        };
        let _ = writeln!(out, "{collective},{sizes},{algorithm},{protocol},-1,{domains},{gpus}");
    }
    Ok(out)
}
