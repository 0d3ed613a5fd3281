//! The cost model by which NCCL itself chooses an algorithm and a protocol (`src/graph/tuning.cc`
//! in NVIDIA/nccl at commit 5067397, June 2026).
//! A time is a latency plus the bytes divided by a bandwidth. NCCL finds the bandwidth of rings and
//! trees by a search. The result of the search is rarely published, so here, it is the best
//! possible bandwidth: that of all NVLinks of a GPU, and between computers at most that of all
//! network ports. There are no values for an all-to-all, and none for AMD's GPUs, for which RCCL
//! has its own model.

use crate::formula::Value;
use crate::library::{Algorithm, Place};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Chip {
    Ampere,
    Hopper,
    Blackwell,
}

/// Three values, for the protocols LL, LL128 and Simple.
type Protocols = [f64; 3];

const NAMES: [&str; 3] = ["LL", "LL128", "Simple"];

/// Three values: for one computer, for two, and for more.
type Computers = [f64; 3];

/// What NCCL's search finds: the links that an algorithm uses.
#[derive(Debug, Clone, Copy)]
struct Graph {
    channels: f64,
    channel_gbps: f64,
    /// The bandwidth of a channel within a computer.
    inside_gbps: f64,
    /// Whether the part of a tree in each computer is a single chain, as on computers with one GPU.
    has_plain_trees: bool,
}

#[derive(Debug, Clone, Copy)]
struct Ranks {
    computers: f64,
    each: f64,
    is_allreduce: bool,
    chip: Chip,
    /// Whether the processors are from AMD. For these, NCCL has other constants.
    has_amd_cpu: bool,
}

impl Ranks {
    fn all(self) -> f64 {
        self.computers * self.each
    }

    fn steps(self) -> f64 {
        (self.all() - 1.0) * if self.is_allreduce { 2.0 } else { 1.0 }
    }

    fn at<T: Copy>(self, values: [T; 3]) -> T {
        values[match self.computers {
            x if x <= 1.0 => 0,
            x if x <= 2.0 => 1,
            _ => 2,
        }]
    }

    fn of_chip<T: Copy>(self, [ampere, hopper, blackwell]: [T; 3]) -> T {
        match self.chip {
            Chip::Ampere => ampere,
            Chip::Hopper => hopper,
            Chip::Blackwell => blackwell,
        }
    }
}

/// Returns the latency in µs (`baseLatencies` and `hwLatencies`, with NVLink within computers).
fn latency_us(ranks: Ranks, algorithm: Algorithm, protocol: usize) -> f64 {
    const TREE_OUTSIDE: Protocols = [5.0, 8.5, 14.0];
    let several = ranks.computers > 1.0;
    let (base, inside, outside): (Protocols, Protocols, Protocols) = match algorithm {
        Algorithm::Tree => ([6.8, 14.0, 8.4], [0.6, 1.25, 4.0], TREE_OUTSIDE),
        Algorithm::Pat => ([8.0; 3], [0.0, 0.0, 4.0], [0.0, 0.0, 14.0]),
        Algorithm::Nvls => ([0.0; 3], [0.0, 0.0, 25.0], [0.0, 0.0, 20.9]),
        _ => ([6.6, 14.0, 8.4], [0.6, 1.9, 3.4], [2.7, 4.0, 14.0]),
    };
    let (base, inside) = (base[protocol], inside[protocol]);
    let outside = if ranks.each == 1.0 { TREE_OUTSIDE[protocol] } else { outside[protocol] };
    let rounds = ranks.computers.log2().floor();
    match algorithm {
        Algorithm::Tree => base + 2.0 * ((ranks.each - 1.0) * inside + rounds * outside),
        Algorithm::Nvls => inside + 2.0 * rounds * outside,
        Algorithm::Pat => base + rounds * outside / 3.5 + ranks.all() * 2.8,
        _ => {
            // Over the network, each step of a ring also takes the time for posting a message.
            let post = if ranks.has_amd_cpu { 2.0 } else { 1.0 };
            let post = if protocol == 2 { 3.0 * post } else { post };
            let inside = if several { inside.max(post) } else { inside };
            let rounds = if ranks.is_allreduce { 2.0 } else { 1.0 };
            let crossing = rounds * (ranks.computers - 1.0);
            base + (ranks.steps() - crossing) * inside + crossing * outside
        }
    }
}

/// Returns the bandwidth in GB/s, or `None` if NCCL does not have this protocol for this algorithm.
fn gbps(ranks: Ranks, graph: Graph, algorithm: Algorithm, protocol: usize) -> Option<f64> {
    let channels = graph.channels;
    // LL's limit depends on the GPUs of one computer, or on the processors of several.
    let ll_max: Computers = match (ranks.computers > 1.0, ranks.has_amd_cpu) {
        (true, false) => [39.0, 39.0, 20.4],
        (true, true) => [87.7, 22.5, 19.0],
        _ => ranks.of_chip([[87.7, 22.5, 19.0], [141.0, 45.0, 35.0], [282.0, 90.0, 70.0]]),
    };
    let ll_max = ranks.at(ll_max);
    let bus = channels * graph.channel_gbps;
    let by_ranks = ranks.all() / ranks.steps();
    Some(match algorithm {
        Algorithm::Ring => {
            let most = ranks.of_chip([20.0, 36.7, 40.0]);
            by_ranks
                * match protocol {
                    0 => ll_max.min(bus * 0.5),
                    1 => (bus * 0.92).min(channels * most),
                    _ => bus,
                }
        }
        Algorithm::Tree if ranks.is_allreduce => {
            let most = ranks.at(ranks.of_chip([
                [24.0, 23.6, 17.8],
                [38.7, 41.4, 36.0],
                [70.0, 42.8, 24.0],
            ]));
            let most_ll128 = ranks.at(ranks.of_chip([
                [20.0, 20.0, 20.0],
                [36.7, 36.7, 29.0],
                [55.6, 31.67, 20.0],
            ]));
            let bus = (bus * 0.92).min(channels * most);
            let share = if ranks.computers > 1.0 { 120.0 / 128.0 } else { 7.0 / 9.0 };
            let bus = match protocol {
                0 => (bus / 3.8).min(ll_max),
                1 => (bus * share).min(channels * most_ll128),
                _ => bus,
            };
            bus * if graph.has_plain_trees { 0.85 } else { 1.0 } * 0.5
        }
        Algorithm::Nvls if ranks.is_allreduce && protocol == 2 && ranks.chip != Chip::Ampere => {
            let efficiency = ranks.of_chip([0.0, 0.85, 0.74]);
            let inside = graph.inside_gbps * efficiency * (channels - 1.0) / channels * 2.0;
            let outside = match ranks.computers {
                x if x <= 1.0 => f64::INFINITY,
                x if x <= 2.0 => 2.0 * graph.channel_gbps,
                _ => graph.channel_gbps,
            };
            let most = ranks.at(ranks.of_chip([[0.0; 3], [0.0, 57.7, 45.5], [0.0, 96.0, 80.0]]));
            let most = if ranks.computers > 1.0 { most } else { f64::INFINITY };
            by_ranks * channels * inside.min(outside).min(most)
        }
        Algorithm::Pat if !ranks.is_allreduce && protocol == 2 && ranks.each == 1.0 => bus * 0.75,
        _ => return None,
    })
}

/// Returns the time in µs that NCCL predicts, or `None` if its model has no value.
pub(crate) fn time_us(place: &Place, algorithm: Algorithm, protocol: &str) -> Option<f64> {
    /// Factors on the bandwidth of trees, by protocol and power of two (`treeCorrectionFactor`).
    const TREE: [[f64; 23]; 3] = [
        [
            1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7,
            0.8, 0.9, 1.0, 1.0, 1.0, 1.0,
        ],
        [
            1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8,
            0.9, 0.9, 0.9, 0.9, 1.0, 1.0,
        ],
        [
            0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7,
            0.8, 0.7, 0.7, 0.8, 0.9, 0.9,
        ],
    ];
    if place.kind.is_amd() || place.collective == "alltoall" {
        return None;
    }
    let protocol = NAMES.iter().position(|name| *name == protocol)?;
    let inside_gbps = place.kind.inside_gbps;
    let (chip, nvlink) = match inside_gbps {
        x if x <= 300.0 => (Chip::Ampere, 12.0 * 20.0),
        x if x <= 450.0 => (Chip::Hopper, 18.0 * 20.6),
        _ => (Chip::Blackwell, 18.0 * 40.1),
    };
    let ranks = Ranks {
        computers: place.domains as f64,
        each: place.gpus as f64,
        is_allreduce: place.collective == "allreduce",
        chip,
        has_amd_cpu: place.kind.name == "p5",
    };
    let channels = match (place.gpus, chip) {
        (1, _) => 2.0,
        (_, Chip::Ampere) => 24.0,
        _ => 16.0,
    };
    let ports = place.kind.ports_per_host as f64 / place.kind.gpus_per_host as f64;
    let outside = ports * ranks.each * place.kind.port_gbps;
    let total = match (place.domains, place.gpus) {
        (1, _) => nvlink,
        (_, 1) => outside,
        _ => nvlink.min(outside),
    };
    let graph = Graph {
        channels,
        channel_gbps: total / channels,
        inside_gbps: nvlink / channels,
        has_plain_trees: place.gpus == 1,
    };
    let bandwidth = gbps(ranks, graph, algorithm, protocol)?;
    let bytes = place.bytes as f64;
    let power = (place.bytes >> 6).checked_ilog2().map(|power| power as usize);
    let is_corrected = match algorithm {
        Algorithm::Tree => true,
        Algorithm::Nvls => chip == Chip::Blackwell && place.domains > 1,
        Algorithm::Ring | Algorithm::Pat | Algorithm::PointToPoint => false,
    };
    let correction = power.filter(|_| is_corrected).and_then(|power| TREE[protocol].get(power));
    let is_plateau = algorithm == Algorithm::Ring
        && protocol == 2
        && place.domains > 1
        && ranks.is_allreduce
        && bytes / (channels * ranks.all()) >= 64.0;
    let latency = latency_us(ranks, algorithm, protocol) * if is_plateau { 1.4 } else { 1.0 };
    Some(latency + bytes / (1e3 * bandwidth * correction.copied().unwrap_or(1.0)))
}

/// A value that a published log contains due to `NCCL_DEBUG_SUBSYS=TUNING`: the collective, the
/// algorithm, the protocol, the latency in µs and the bandwidth in GB/s. Latency or bandwidth is
/// negative if it was not printed, or if the version had another formula for it.
type Logged = (&'static str, Algorithm, usize, f64, f64);

/// A log of two computers with one GPU each, connected by sockets, with NCCL 2.29.7.
const SOCKETS: (&str, [Logged; 14]) = (
    "eunomia-bpf/nccl-eBPF 14f9bca docs/tmp/default-suboptimal-search.md",
    [
        ("allreduce", Algorithm::Tree, 0, 16.8, 0.5),
        ("allreduce", Algorithm::Tree, 1, 31.0, -1.0),
        ("allreduce", Algorithm::Tree, 2, 36.4, 1.9),
        ("allreduce", Algorithm::Ring, 0, 16.6, 1.2),
        ("allreduce", Algorithm::Ring, 1, 31.0, -1.0),
        ("allreduce", Algorithm::Ring, 2, 36.4, 2.4),
        ("allgather", Algorithm::Ring, 0, 11.6, 2.4),
        ("allgather", Algorithm::Ring, 1, 22.5, -1.0),
        ("allgather", Algorithm::Ring, 2, 22.4, 4.8),
        ("allgather", Algorithm::Pat, 2, 17.6, 3.6),
        ("reduce-scatter", Algorithm::Ring, 0, 11.6, 2.4),
        ("reduce-scatter", Algorithm::Ring, 1, 22.5, -1.0),
        ("reduce-scatter", Algorithm::Ring, 2, 22.4, 4.8),
        ("reduce-scatter", Algorithm::Pat, 2, 17.6, 3.6),
    ],
);

/// A log of two computers of eight H100. For these values, the older NCCL has the same formulas.
const H100: (&str, [Logged; 6]) = (
    "NVIDIA/nccl issue 1519",
    [
        ("allgather", Algorithm::Ring, 0, 23.3, -1.0),
        ("allgather", Algorithm::Ring, 1, 44.6, -1.0),
        ("allgather", Algorithm::Ring, 2, 70.0, 21.3),
        ("allreduce", Algorithm::Tree, 0, 25.2, -1.0),
        ("allreduce", Algorithm::Tree, 1, 48.5, -1.0),
        ("reduce-scatter", Algorithm::Ring, 2, 70.0, 21.3),
    ],
);

/// Returns the values in the logs, as maps with the keys `file`, `what`, `printed` and `formula`.
pub(crate) fn logged() -> Vec<BTreeMap<String, Value>> {
    let mut all = Vec::new();
    for (log, values, each) in [(SOCKETS.0, &SOCKETS.1[..], 1.0), (H100.0, &H100.1[..], 8.0)] {
        for (collective, algorithm, protocol, latency, bandwidth) in values {
            let ranks = Ranks {
                computers: 2.0,
                each,
                is_allreduce: *collective == "allreduce",
                chip: Chip::Hopper,
                has_amd_cpu: false,
            };
            // NCCL's search found four channels with sockets, and one ring of 20 GB/s with H100.
            let total = match (each > 1.0, algorithm) {
                (true, _) => 20.0,
                (false, Algorithm::Ring) => 2.4,
                (false, _) => 4.8,
            };
            let channels = if each > 1.0 { 1.0 } else { 4.0 };
            let channel_gbps = total / channels;
            let graph = Graph {
                channels,
                channel_gbps,
                inside_gbps: channel_gbps,
                has_plain_trees: each == 1.0,
            };
            let formulas = [
                ("latency, us", *latency, Some(latency_us(ranks, *algorithm, *protocol))),
                ("bandwidth, GB/s", *bandwidth, gbps(ranks, graph, *algorithm, *protocol)),
            ];
            for (what, printed, formula) in formulas {
                let Some(formula) = formula.filter(|_| printed >= 0.0) else { continue };
                let name = format!("{collective} {algorithm:?}/{}", NAMES[*protocol]);
                let keys = [
                    ("file", Value::from(log)),
                    ("what", format!("{name}, {what}").as_str().into()),
                    ("printed", printed.into()),
                    ("formula", formula.into()),
                ];
                all.push(keys.map(|(key, value)| (key.to_owned(), value)).into());
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tolerance is due to the single decimal with which NCCL prints the values.
    #[test]
    fn the_formulas_give_the_values_of_published_logs() {
        let all = logged();
        assert!(all.len() >= 20, "{} values", all.len());
        for value in all {
            let number = |key: &str| value[key].number().unwrap();
            let (printed, formula) = (number("printed"), number("formula"));
            assert!((printed - formula).abs() < 0.051, "{value:?}");
        }
    }

    #[test]
    fn there_is_no_value_for_other_collectives_and_gpus() {
        let of = |system: &str, collective: &str, algorithm, protocol| {
            let place = Place::parse(system, collective, 1 << 20);
            time_us(&place, algorithm, protocol)
        };
        assert_eq!(of("b300:1x8", "alltoall", Algorithm::PointToPoint, "Simple"), None);
        assert_eq!(of("mi300x:1x8", "allreduce", Algorithm::Ring, "Simple"), None);
        assert_eq!(of("p5:2x8", "allreduce", Algorithm::Pat, "Simple"), None);
        assert_eq!(of("p5:2x8", "allreduce", Algorithm::Nvls, "LL"), None);
        // The latency is 1.4 x (8.4 + 28 x 6 + 2 x 14) µs. The bandwidth is 370.8 GB/s x 16/30.
        let ring = of("p5:2x8", "allreduce", Algorithm::Ring, "Simple").unwrap();
        let expected = (8.4 + 28.0 * 6.0 + 28.0) * 1.4 + 1_048_576.0 / (370_800.0 * 16.0 / 30.0);
        assert!((ring - expected).abs() < 1e-9, "{ring}");
    }
}
