//! NCCL's own predictions, which a log contains with `NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=TUNING`:
//! - a table, printed by the first rank of a communicator, with a latency in µs and a bandwidth in
//!   GB/s for each collective, algorithm and protocol (`ncclTopoTuneModel` in src/graph/tuning.cc).
//!   Until NCCL 2.17, a header `Latency/AlgBw` names the columns, as in `Tree/    LL`. From 2.18
//!   on, the table has blocks of up to three algorithms, with headers `Algorithm` and `Protocol`.
//! - from 2.20 on, a line for each call (src/enqueue.cc), such as `65536 Bytes -> Algo 0 proto 0
//!   time 37.798233`. Only releases from 2.23 on name the collective. From 2.24 on, a line has
//!   names instead of the numbers, no time, and the bytes of a block.

use std::collections::BTreeMap;

const COLLECTIVES: [(&str, &str); 5] = [
    ("Broadcast", "broadcast"),
    ("Reduce", "reduce"),
    ("AllGather", "allgather"),
    ("ReduceScatter", "reduce-scatter"),
    ("AllReduce", "allreduce"),
];

/// NCCL's algorithms by number: the name in NCCL's table, and the name in our systems.
const ALGORITHMS: [(&str, &str); 7] = [
    ("Tree", "tree"),
    ("Ring", "ring"),
    ("CollNetDirect", "collnetdirect"),
    ("CollNetChain", "collnetchain"),
    ("NVLS", "nvls"),
    ("NVLSTree", "nvlstree"),
    ("PAT", "pat"),
];

const PROTOCOLS: [&str; 3] = ["LL", "LL128", "Simple"];

const FIRST_WITH_FACTORS: [u64; 2] = [2, 10];

/// The factors by which NCCL multiplies the bandwidth of a tree, for each protocol and for each
/// power of two from 64 bytes to 256 MiB (`treeCorrectionFactor` in src/graph/tuning.cc, NCCL 2.10
/// to 2.30).
const TREE_FACTORS: [[f64; 23]; 3] = [
    [
        1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8,
        0.9, 1.0, 1.0, 1.0, 1.0,
    ],
    [
        1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9,
        0.9, 0.9, 0.9, 1.0, 1.0,
    ],
    [
        0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8,
        0.7, 0.7, 0.8, 0.9, 0.9,
    ],
];

/// The largest number of channels of a communicator (`MAXCHANNELS`).
const MOST_CHANNELS: u64 = 64;

/// NCCL's numbers of an algorithm and a protocol.
type Choice = (usize, usize);

type PrintedCall = (Choice, Option<f64>);

/// What a log states about NCCL's own model of the time.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tuning {
    /// The release of NCCL, such as `[2, 22]`.
    pub version: Option<[u64; 2]>,
    /// Whether the library is RCCL, whose factors are unknown: they depend on the kind of GPU.
    pub is_rccl: bool,
    nodes: Option<u64>,
    channels: Option<u64>,
    /// The latency in µs and the bandwidth in GB/s. Columns whose bandwidth is 0 have no entry.
    table: BTreeMap<(&'static str, Choice), [f64; 2]>,
    /// The printed calls, by collective (`None` if the log does not name it) and bytes.
    calls: BTreeMap<(Option<&'static str>, u64), PrintedCall>,
    /// Whether calls that name the collective are printed with the bytes of a block (from 2.24 on).
    counts_blocks: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct Communicator {
    pub ranks: u64,
    /// The number of computers, or of racks that NVLink connects, if the log does not state it.
    pub nodes: u64,
    /// The compute capability of the GPUs times ten, such as 80 for A100.
    pub compute_capability: u64,
    pub is_x86: bool,
}

/// NCCL's prediction for a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Opinion {
    /// The name of the algorithm, as in this project's systems, such as `nvlstree`.
    pub algorithm: &'static str,
    pub protocol: &'static str,
    /// The time in µs; `None` if the log has only the choice of algorithm and protocol.
    pub us: Option<f64>,
    /// Whether NCCL printed this choice. Otherwise, the choice is computed from the table.
    pub is_printed: bool,
}

/// Reads NCCL's lines in a log. Returns `None` if the log has neither a table nor a line of a call.
pub fn tuning(text: &str) -> Option<Tuning> {
    let mut all = Tuning::default();
    // The lines of several processes can alternate, so each process has its own columns.
    let mut columns: BTreeMap<&str, Columns> = BTreeMap::new();
    for line in text.lines() {
        all.read_version(line);
        let Some((process, message)) = line.split_once("NCCL INFO ") else { continue };
        all.read_communicator(message);
        if let Some((call, choice)) = message.split_once(" Bytes -> Algo ") {
            all.read_call(call, choice);
        } else if message.contains('|') {
            all.read_row(columns.entry(process.trim()).or_default(), message);
        }
    }
    (!all.table.is_empty() || !all.calls.is_empty()).then_some(all)
}

#[derive(Debug, Default)]
struct Columns {
    /// The algorithms of the current block of the table, until the line with the protocols is read.
    algorithms: Vec<usize>,
    choices: Vec<Choice>,
}

/// Returns NCCL's number of an algorithm, spelled as in the table or as in the line of a call.
fn algorithm(name: &str) -> Option<usize> {
    let plain = |name: &str| name.replace('_', "").to_lowercase();
    let name = plain(name);
    // Until 2.13, there was one algorithm CollNet, in the table's position of CollNetDirect.
    let name = if name == "collnet" { "collnetdirect" } else { &name };
    ALGORITHMS.iter().position(|(_, own)| *own == name)
}

fn protocol(name: &str) -> Option<usize> {
    PROTOCOLS.iter().position(|own| own.eq_ignore_ascii_case(name))
}

impl Tuning {
    /// Reads the release from a line such as `NCCL version 2.22.3+cuda12.5`.
    fn read_version(&mut self, line: &str) {
        let Some((before, version)) = line.split_once("CCL version ") else { return };
        let mut numbers = version.split(['.', '+', '-']).map_while(|word| word.parse().ok());
        if let (None, Some(major), Some(minor)) = (self.version, numbers.next(), numbers.next()) {
            self.version = Some([major, minor]);
        }
        self.is_rccl |= before.ends_with('R');
    }

    /// Reads `comm 0x5639 rank 0 nRanks 24 nNodes 3 ..` and `16 coll channels, ..`.
    fn read_communicator(&mut self, message: &str) {
        let words: Vec<&str> = message.split_whitespace().collect();
        let after = |name: &str| {
            let at = words.iter().position(|word| *word == name)?;
            words.get(at + 1)?.parse::<u64>().ok()
        };
        if words.first() == Some(&"comm") {
            self.nodes = self.nodes.or(after("nNodes"));
        }
        if words.get(1..3) == Some(&["coll", "channels,"]) {
            let channels = words.first().and_then(|word| word.parse().ok());
            self.channels = self.channels.or(channels.filter(|channels| *channels > 0));
        }
    }

    fn read_call(&mut self, call: &str, choice: &str) {
        let words: Vec<&str> = choice.split_whitespace().collect();
        let &[algo, "proto", proto, ref rest @ ..] = words.as_slice() else { return };
        let number = |word: &str, most: usize| word.parse().ok().filter(|n: &usize| *n < most);
        let choice = algorithm(algo)
            .or_else(|| number(algo, ALGORITHMS.len()))
            .zip(protocol(proto).or_else(|| number(proto, PROTOCOLS.len())));
        let us = match rest {
            ["time", us, ..] => us.parse().ok().filter(|us: &f64| us.is_finite() && *us > 0.0),
            _ => None,
        };
        let (name, bytes) = match call.split_once(": ") {
            Some((name, bytes)) => (Some(name.trim()), bytes),
            None => (None, call),
        };
        let collective = name.map(collective);
        if let (Some(choice), Ok(bytes), false) =
            (choice, bytes.trim().parse(), collective == Some(None))
        {
            self.counts_blocks |= collective.is_some() && algorithm(algo).is_some();
            self.calls.insert((collective.flatten(), bytes), (choice, us));
        }
    }

    /// Reads the table's column names or the values of a collective. A value that is cut is
    /// ignored.
    fn read_row(&mut self, columns: &mut Columns, message: &str) {
        let Some((whole, _)) = message.rsplit_once('|') else { return };
        let mut cells = whole.split('|').map(str::trim);
        match cells.next().unwrap_or_default() {
            "Latency/AlgBw" => {
                let choice = |cell: &str| {
                    let (algo, proto) = cell.split_once('/')?;
                    algorithm(algo.trim()).zip(protocol(proto.trim()))
                };
                columns.choices = cells.map_while(choice).collect();
            }
            "Algorithm" => {
                columns.algorithms = cells.map_while(algorithm).collect();
                columns.choices = Vec::new();
            }
            // In the last block, NCCL prints more groups of protocols than there are algorithms.
            "Protocol" => {
                let each = |algo: usize| (0..PROTOCOLS.len()).map(move |proto| (algo, proto));
                let expected: Vec<Choice> =
                    columns.algorithms.iter().copied().flat_map(each).collect();
                let names: Vec<usize> = cells.map_while(protocol).collect();
                let is_same = |(choice, name): &(Choice, usize)| choice.1 == *name;
                columns.choices =
                    expected.into_iter().zip(names).take_while(is_same).map(|(c, _)| c).collect();
            }
            name => {
                let Some(collective) = collective(name) else { return };
                let value = |cell: &str| {
                    let (latency, bandwidth) = cell.split_once('/')?;
                    let pair = [latency.trim().parse().ok()?, bandwidth.trim().parse().ok()?];
                    pair.iter().all(|v: &f64| v.is_finite() && *v >= 0.0).then_some(pair)
                };
                for (choice, pair) in columns.choices.iter().zip(cells.map_while(value)) {
                    if pair[1] > 0.0 {
                        self.table.entry((collective, *choice)).or_insert(pair);
                    }
                }
            }
        }
    }

    pub fn has_table(&self) -> bool {
        !self.table.is_empty()
    }

    pub fn gbps(&self, word: &str, opinion: &Opinion) -> Option<f64> {
        let choice = algorithm(opinion.algorithm).zip(protocol(opinion.protocol))?;
        let pair = self.table.iter().find(|((own, other), _)| *own == word && *other == choice);
        pair.map(|(_, [_, gbps])| *gbps)
    }

    /// Returns NCCL's prediction for a call of the collective `word`. `bytes` is the size of the
    /// larger buffer of a rank. Returns `None` if the log does not have the necessary values, or if
    /// the factors of the release are unknown.
    pub fn opinion(&self, word: &str, bytes: u64, of: Communicator) -> Option<Opinion> {
        let word = COLLECTIVES.iter().map(|(_, own)| *own).find(|own| *own == word)?;
        let has_blocks = self.counts_blocks && matches!(word, "allgather" | "reduce-scatter");
        let printed = if has_blocks { bytes / of.ranks.max(1) } else { bytes };
        let call =
            self.calls.get(&(Some(word), printed)).or_else(|| self.calls.get(&(None, bytes)));
        let named = |(algo, proto): Choice, us, is_printed| Opinion {
            algorithm: ALGORITHMS[algo].1,
            protocol: PROTOCOLS[proto],
            us,
            is_printed,
        };
        match call {
            Some((choice, Some(us))) => Some(named(*choice, Some(*us), true)),
            Some((choice, None)) => Some(named(*choice, self.time(word, *choice, bytes, of), true)),
            None => {
                let of_word = self.table.keys().filter(|(own, _)| *own == word);
                let timed = of_word.filter_map(|(_, choice)| {
                    Some((*choice, self.time(word, *choice, bytes, of)?))
                });
                let (choice, us) = timed.min_by(|a, b| a.1.total_cmp(&b.1))?;
                Some(named(choice, Some(us), false))
            }
        }
    }

    /// Returns the time by `ncclTopoGetAlgoTime` (src/graph/tuning.cc): latency + bytes /
    /// bandwidth. For an allreduce, the bandwidth of Tree and the latency of Ring/Simple are
    /// multiplied by a factor. In NCCL 2.29 and later, the bandwidth of NVLSTree on Blackwell is,
    /// too.
    fn time(&self, word: &str, choice: Choice, bytes: u64, of: Communicator) -> Option<f64> {
        let [mut latency, mut bandwidth] = *self
            .table
            .iter()
            .find_map(|((own, other), pair)| (*own == word && *other == choice).then_some(pair))?;
        let version = self.version.unwrap_or([2, u64::MAX]);
        if self.is_rccl || version < FIRST_WITH_FACTORS {
            return None;
        }
        let (algo, proto) = (ALGORITHMS[choice.0].1, PROTOCOLS[choice.1]);
        let is_allreduce = word == "allreduce";
        let is_tree = algo == "tree"
            || (algo == "nvlstree"
                && (of.compute_capability >= 100 && of.is_x86)
                && version >= [2, 29]);
        // Below 64 bytes, NCCL until 2.21 takes the first factor, and later releases take none.
        let exponent = match (bytes >> 6).checked_ilog2() {
            None if version < [2, 22] => Some(0),
            exponent => exponent,
        };
        let factor = exponent.and_then(|at| TREE_FACTORS[choice.1].get(at as usize));
        if let (true, true, Some(factor)) = (is_allreduce, is_tree, factor) {
            bandwidth *= factor;
        }
        if is_allreduce && algo == "ring" && proto == "Simple" && self.nodes.unwrap_or(of.nodes) > 1
        {
            // If the number of channels is unknown, the largest number is assumed.
            let channels = self.channels.unwrap_or(MOST_CHANNELS);
            let is_plateau = match version < [2, 18] {
                true => bytes as f64 >= of.ranks as f64 / 16.0 * 65536.0,
                false => bytes / channels.saturating_mul(of.ranks).max(1) >= 64,
            };
            let factor = match of.compute_capability {
                90.. if version == [2, 17] => 1.5,
                80.. if version >= [2, 18] => 1.4,
                _ => 1.9,
            };
            latency *= if is_plateau { factor } else { 1.0 };
        }
        let us = latency + bytes as f64 / (1e3 * bandwidth);
        us.is_finite().then_some(us)
    }
}

fn collective(name: &str) -> Option<&'static str> {
    COLLECTIVES.iter().find(|(theirs, _)| *theirs == name).map(|(_, own)| *own)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_NODES: Communicator =
        Communicator { ranks: 2, nodes: 2, compute_capability: 120, is_x86: true };

    /// An excerpt of a log of NCCL 2.29.7 with two processes on an RTX 5090 (eunomia-bpf/nccl-eBPF,
    /// docs/tmp/default-suboptimal-search.md, MIT).
    const BLOCKS: &str = "\
lab:3038984:3038984 [0] NCCL INFO NCCL version 2.29.7+cuda12.9
lab:3038984:3038984 [0] NCCL INFO   Algorithm   |                            Tree                  |                            Ring                  |                   CollNetDirect                  |
lab:3038984:3038984 [0] NCCL INFO   Protocol    |             LL |          LL128 |         Simple |             LL |          LL128 |         Simple |             LL |          LL128 |         Simple |
lab:3038984:3038984 [0] NCCL INFO  Max NThreads |            512 |            640 |            512 |            512 |            640 |            256 |              0 |              0 |            640 |
lab:3038984:3038984 [0] NCCL INFO     Broadcast |     0.0/   0.0 |     0.0/   0.0 |     0.0/   0.0 |     9.3/   1.2 |    18.0/   0.0 |    22.4/   2.4 |     0.0/   0.0 |     0.0/   0.0 |     0.0/   0.0 |
lab:3038984:3038984 [0] NCCL INFO     AllGather |     0.0/   0.0 |     0.0/   0.0 |     0.0/   0.0 |    11.6/   2.4 |    22.5/   0.0 |    22.4/   4.8 |     5.0/   0.0 |     8.5/   0.0 |    14.0/   0.0 |
lab:3038984:3038984 [0] NCCL INFO     AllReduce |    16.8/   0.5 |    31.0/   0.0 |    36.4/   1.9 |    16.6/   1.2 |    31.0/   0.0 |    36.4/   2.4 |     5.0/   0.0 |     8.5/   0.0 |    14.0/   0.0 |
lab:3038984:3038984 [0] NCCL INFO   Algorithm   |                             PAT                  |
lab:3038984:3038984 [0] NCCL INFO   Protocol    |             LL |          LL128 |         Simple |             LL |          LL128 |         Simple |             LL |          LL128 |         Simple |
lab:3038984:3038984 [0] NCCL INFO  Max NThreads |              0 |              0 |              0 |
lab:3038984:3038984 [0] NCCL INFO     AllGather |     0.0/   0.0 |     0.0/   0.0 |    17.6/   3.6 |
lab:3038984:3038984 [0] NCCL INFO Broadcast: 16384 Bytes -> Algo RING proto LL channel{Lo..Hi}={0..1}
lab:3038984:3038984 [0] NCCL INFO Broadcast: 32768 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..0}
";

    fn choice(opinion: &Opinion) -> (&'static str, &'static str) {
        (opinion.algorithm, opinion.protocol)
    }

    /// NCCL printed its choice of protocol, which follows from the table. The times are 9.3 +
    /// bytes/1200 µs with LL, and 22.4 + bytes/2400 µs with Simple. So LL is faster for 16 KiB, and
    /// Simple for 32 KiB.
    #[test]
    fn the_table_gives_the_choices_that_nccl_printed() {
        let all = tuning(BLOCKS).unwrap();
        assert_eq!((all.version, all.is_rccl), (Some([2, 29]), false));
        let without_calls = Tuning { calls: BTreeMap::new(), ..all.clone() };
        for (bytes, protocol) in [(16_384, "LL"), (32_768, "Simple")] {
            let printed = all.opinion("broadcast", bytes, TWO_NODES).unwrap();
            let computed = without_calls.opinion("broadcast", bytes, TWO_NODES).unwrap();
            assert_eq!(choice(&printed), ("ring", protocol));
            assert_eq!((choice(&computed), computed.us), (choice(&printed), printed.us));
            assert!(printed.is_printed && !computed.is_printed);
        }
        // For blocks of two ranks, PAT takes 17.6 + 65536/3600 µs, Ring/Simple 22.4 + 65536/4800
        // µs.
        let gathered = all.opinion("allgather", 65_536, TWO_NODES).unwrap();
        assert_eq!(choice(&gathered), ("pat", "Simple"));
        assert!((gathered.us.unwrap() - 35.804).abs() < 0.001, "{gathered:?}");
    }

    /// In NVIDIA/nccl#1453, NCCL 2.22.3 printed these times for 24 ranks on three computers. The
    /// latencies, 25.2 µs for Tree/LL and 48.5 µs for Tree/LL128, are from the table of a similar
    /// cluster in NVIDIA/nccl#1519. Each bandwidth, which NCCL prints with one decimal, follows
    /// from one printed time.
    #[test]
    fn times_are_those_that_nccl_printed() {
        let table = "NCCL version 2.22.3+cuda12.5
a:1:2 [0] NCCL INFO   Algorithm   |                            Tree                  |
a:1:2 [0] NCCL INFO   Protocol    |             LL |          LL128 |         Simple |
a:1:2 [0] NCCL INFO     AllReduce |    25.2/   8.7 |    48.5/  70.4 |   448.0/   0.0 |
";
        let of = Communicator { ranks: 24, nodes: 3, compute_capability: 90, is_x86: true };
        let all = tuning(table).unwrap();
        for (bytes, expected, named) in [
            (256, 25.229_528, ("tree", "LL")),
            (512, 25.259_054, ("tree", "LL")),
            (65_536, 37.798_233, ("tree", "LL")),
            (131_072, 51.603_912, ("tree", "LL128")),
            (262_144, 54.707_825, ("tree", "LL128")),
        ] {
            let found = all.opinion("allreduce", bytes, of).unwrap();
            assert_eq!(choice(&found), named, "{bytes}");
            let us = found.us.unwrap();
            assert!((us / expected - 1.0).abs() < 0.003, "{bytes}: {us}, expected {expected}");
        }
        let line = "[0] a:1:1 [0] NCCL INFO 8589934592 Bytes -> Algo 1 proto 2 time 86069.968750\n";
        let printed = tuning(line).unwrap().opinion("allreduce", 1 << 33, of).unwrap();
        assert_eq!((choice(&printed), printed.us), (("ring", "Simple"), Some(86_069.968_75)));
    }

    /// The header of NCCL until 2.17. Lines of another process are between those of the table
    /// (NVIDIA/nccl#340 and nccl-tests#89).
    #[test]
    fn older_tables_are_read() {
        let text = "\
n:5637:5670 [0] NCCL INFO Latency/AlgBw |    Tree/    LL |    Tree/ LL128 |    Tree/Simple |    Ring/    LL |    Ring/ LL128 |    Ring/Simple | CollNet/    LL | CollNet/ LL128 | CollNet/Simple |
n:5637:5671 [1] NCCL INFO Trees [0] -1/-1/-1->1->0|0->1->-1/-1/-1
n:5637:5670 [0] NCCL INFO  Max NThreads |            512 |            640 |            512 |            512 |            640 |            256 |            512 |            640 |            512 |
n:5637:5670 [0] NCCL INFO     Broadcast |     0.0/   0.0 |     0.0/   0.0 |     0.0/   0.0 |     6.3/   0.0 |    14.0/   0.0 |    18.0/   9.0 |     0.0/   0.0 |     0.0/   0.0 |     0.0/   0.0 |
";
        let opinion = |version: &str| {
            let text = format!("NCCL version {version}+cuda11.1\n{text}");
            tuning(&text).unwrap().opinion("broadcast", 9_000_000, TWO_NODES)
        };
        assert_eq!(opinion("2.14.3").unwrap().us, Some(1018.0));
        // The factors of this release are unknown.
        assert_eq!(opinion("2.8.3"), None);
    }

    #[test]
    fn damaged_lines_give_no_wrong_value() {
        // Every prefix of the log must be read without a panic, also with the line ends of Windows.
        let full = tuning(BLOCKS).unwrap();
        for end in (0..BLOCKS.len()).step_by(7) {
            for text in [BLOCKS[..end].to_owned(), BLOCKS[..end].replace('\n', "\r\n")] {
                let Some(cut) = tuning(&text) else { continue };
                assert!(cut.table.iter().all(|(key, pair)| full.table.get(key) == Some(pair)));
            }
        }
        for line in [
            "NCCL INFO x Bytes -> Algo 1 proto 2 time 3",
            "NCCL INFO 8 Bytes -> Algo 9 proto 2 time 3",
            "NCCL INFO 8 Bytes -> Algo 1 proto",
            "NCCL INFO Latency/AlgBw | Tree |",
            "NCCL INFO AllReduce | nan/ inf | -1.0/ 2.0 |",
            "NCCL INFO |",
        ] {
            assert_eq!(tuning(line), None, "{line}");
        }
        let rccl =
            tuning("RCCL version 2.18.6+hip6.0\nNCCL INFO 8 Bytes -> Algo 1 proto 2 time 3\n");
        assert!(rccl.unwrap().is_rccl);
    }
}
