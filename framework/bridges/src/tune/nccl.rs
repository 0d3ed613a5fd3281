//! The files of NCCL's tuners: the CSV of NCCL's example tuner plugin (NVIDIA/nccl 5067397,
//! plugins/tuner/example) and that of Meta's NCCLX (meta-pytorch/torchcomms 59426ba,
//! comms/ncclx/meta/tuner). The first matching line applies. A size is the number of bytes of the
//! larger of the send and receive buffers, which NCCLX always divides by the ranks.

use super::{Algorithm, DecisionTable, Parameter};
use std::fmt::Write as _;
use swapmeet_core::system::COUNTERPARTS;

/// All algorithms of the library except for sends in a group, for which a tuner has no rule.
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

/// A line of a file: a rule with its first and its last size.
struct Line {
    collective: String,
    algorithm: &'static str,
    protocol: String,
    /// Sizes as NCCL's tuners compare them. The last one is `None` for all larger sizes.
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
        // The plugin has no word for all larger sizes. With 0 channels, NCCL decides their number.
        let last = last.unwrap_or(u64::MAX);
        let nodes = domains.map_or("-1".to_owned(), |[domains, _]| domains.to_string());
        let _ =
            writeln!(out, "{collective},{first},{last},{algorithm},{protocol},0,{nodes},{ranks}");
    }
    out
}

/// Rules of NCCLX have numbers of hosts and of ranks of each, so all cases must be of a system.
pub(super) fn ncclx(tables: &[DecisionTable]) -> Result<String, String> {
    let mut out =
        "# collective,bytesPerRank,algorithm,protocol,channels,nNodes,nLocalRanks\n".to_owned();
    for Line { collective, algorithm, protocol, first, last, ranks, domains } in lines(tables) {
        let Some([domains, gpus]) = domains else {
            return Err("a rule names the ranks of each host: name a system with --system".into());
        };
        // Only multiples of the number of ranks have equal shares.
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
