//! Logs of benchmarks of collectives: the measured times, and what the log says about the machine.

use crate::failure::Failure;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use swapmeet_bridges::import::{
    Measurement, MeasurementFile, SizeOf, Tuning, is_like_any, medians, read, tuning,
    without_labels,
};
use swapmeet_core::spec::format_size;
use swapmeet_workloads::file::read_bounded;

/// The maximum number of bytes of a log.
const LONGEST: u64 = 256 << 20;

/// The values of `NCCL_ALGO` that name a single algorithm, in small letters.
const ALGORITHMS: [&str; 5] = ["ring", "tree", "nvls", "nvlstree", "pat"];

/// The times of a size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Times {
    pub us: f64,
    /// The time with one buffer for sending and receiving, if it was measured.
    pub in_place_us: Option<f64>,
}

/// A log.
#[derive(Debug, Default)]
pub(super) struct Log {
    measurements: Vec<Measurement>,
    /// The measurements without a usable time, as texts for the user.
    pub omitted: Vec<String>,
    pub ranks: Option<u64>,
    /// The ranks of each communicator, if several ran at the same time.
    pub communicators: Vec<Vec<u64>>,
    /// The models of the GPUs, such as `NVIDIA H100 80GB HBM3`.
    pub gpus: BTreeSet<String>,
    /// The only algorithm that `NCCL_ALGO` permits.
    pub algorithm: Option<&'static str>,
    /// Whether it measured an MPI library, whose times a system of GPUs does not predict.
    pub is_mpi: bool,
    /// What NCCL itself expects.
    pub tuning: Option<Tuning>,
    /// The ranks of each host.
    hosts: BTreeMap<String, u64>,
    /// The hosts of each rank.
    rank_hosts: BTreeMap<String, BTreeSet<String>>,
}

impl Log {
    /// Returns whether a file is a log that can be explained. Files that cannot be read are none.
    pub(super) fn is_at(path: &Path) -> bool {
        let text = read_bounded(path, LONGEST, "a log of a benchmark");
        text.is_ok_and(|text| is_like_any(&without_terminal_codes(&text)))
    }

    /// Reads a log; `-` is standard input. `collective` is its collective, if it names none.
    pub(super) fn read(path: &Path, collective: Option<&str>) -> Result<Self, Failure> {
        let wrong = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
        let text = if path == Path::new("-") {
            let mut text = String::new();
            let input = std::io::stdin().take(LONGEST).read_to_string(&mut text);
            input.map_err(|error| wrong(error.to_string()))?;
            text
        } else {
            read_bounded(path, LONGEST, "a log of a benchmark").map_err(wrong)?
        };
        Self::parse(&text, path, collective).map_err(wrong)
    }

    fn parse(text: &str, path: &Path, collective: Option<&str>) -> Result<Self, String> {
        let text = without_terminal_codes(text);
        let source = MeasurementFile {
            path,
            text: &text,
            collective,
            read_companion: &|_| Err("a log has no companion".to_owned()),
        };
        let all = read(&source, None).map_err(|error| {
            format!("{error} (expected the output of nccl-tests, rccl-tests, OSU or IMB)")
        })?;
        let mut log =
            Self { tuning: tuning(&text), algorithm: algorithm(&text), ..Self::default() };
        // Both MPI benchmarks have sizes of blocks; OSU can also run NCCL.
        let has_blocks = all.iter().all(|measurement| measurement.size_of == SizeOf::Count);
        let is_nccl = text.lines().any(|line| line.starts_with("# OSU ") && line.contains("CCL"));
        log.is_mpi = has_blocks && !is_nccl;
        log.ranks = all.iter().find_map(|measurement| measurement.ranks);
        let groups = all.iter().map(|m| &m.communicators).find(|groups| groups.len() > 1);
        log.communicators = groups.cloned().unwrap_or_default();
        for line in without_labels(&text).lines() {
            log.read_rank(line);
        }
        // Calls without data have no time of a collective.
        let with_data = all.into_iter().filter(|measurement| measurement.size > 0);
        let (timed, omitted): (Vec<_>, Vec<_>) =
            with_data.partition(|measurement| measurement.time_us > 0.0);
        log.omitted = omitted
            .iter()
            .map(|Measurement { size, time_us, line, .. }| {
                let at = if *line > 0 { format!("line {line}: ") } else { String::new() };
                format!(
                    "{at}{} is left out: its time is {time_us:.2} us, expected more than 0",
                    format_size(*size)
                )
            })
            .collect();
        log.measurements = medians(timed);
        match (log.measurements.is_empty(), log.omitted.first()) {
            (true, None) => Err("it has no time of a collective with data".to_owned()),
            (true, Some(first)) => {
                Err(format!("it has no time of a collective with data: {first}"))
            }
            (false, _) => Ok(log),
        }
    }

    /// Returns, for each collective, the times of its sizes, as nccl-tests defines sizes. `members`
    /// is the number of ranks of a communicator.
    pub(super) fn times(&self, members: u64) -> BTreeMap<String, BTreeMap<u64, Times>> {
        let mut all: BTreeMap<String, BTreeMap<u64, Times>> = BTreeMap::new();
        for Measurement { collective, size, size_of, time_us, in_place_us, .. } in
            &self.measurements
        {
            // MPI benchmarks name the size of a block, nccl-tests that of the larger buffer.
            let is_block =
                *size_of == SizeOf::Count && matches!(&**collective, "alltoall" | "allgather");
            let bytes = if is_block { size.saturating_mul(members) } else { *size };
            let times = Times { us: *time_us, in_place_us: *in_place_us };
            all.entry(collective.clone()).or_default().insert(bytes, times);
        }
        all
    }

    /// Reads a line of nccl-tests such as
    /// `#  Rank  0 Group  0 Pid  81 on  node1 device  0 [0x1b] NVIDIA H100 80GB HBM3`, and the number
    /// of ranks from a line of NCCL such as `comm 0x5639 rank 0 nRanks 24 nNodes 3 ..`. With several
    /// communicators, the latter is that of one of them.
    fn read_rank(&mut self, line: &str) {
        if line.contains("NCCL INFO") && self.ranks.is_none() {
            let mut words = line.split_whitespace();
            let is_count = |word: &str| word.eq_ignore_ascii_case("nranks");
            self.ranks = words.find(|word| is_count(word)).and_then(|_| words.next()?.parse().ok());
        }
        let words: Vec<&str> = line.trim_start_matches('#').split_whitespace().collect();
        if words.first() != Some(&"Rank") {
            return;
        }
        let position = |word: &str| words.iter().position(|other| *other == word);
        // A name that was replaced before publication can have spaces.
        let host = position("on").zip(position("device")).filter(|(on, device)| on < device);
        if let (Some((on, device)), Some(rank)) = (host, words.get(1)) {
            let host = words[on + 1..device].join(" ");
            let others = self.rank_hosts.entry((*rank).to_owned()).or_default();
            if others.insert(host.clone()) {
                *self.hosts.entry(host).or_default() += 1;
            }
        }
        if let Some(at) = words.iter().position(|word| word.ends_with(']')) {
            self.gpus.insert(words[at + 1..].join(" "));
        }
    }

    /// Returns whether a rank is on several hosts. Then the program was built without MPI, and each
    /// of its processes measured alone.
    pub(super) fn has_lone_processes(&self) -> bool {
        self.rank_hosts.values().any(|hosts| hosts.len() > 1)
    }

    /// Returns the ranks of a host, if all hosts have the same number.
    pub(super) fn gpus_per_host(&self) -> Option<u64> {
        let mut counts = self.hosts.values();
        let first = *counts.next()?;
        counts.all(|count| *count == first).then_some(first)
    }
}

/// Returns the only algorithm that the variable `NCCL_ALGO` permits, as NCCL prints it or as the
/// command sets it. `None` if it is not set, permits several, or has different values.
fn algorithm(text: &str) -> Option<&'static str> {
    const PRINTED: &str = "NCCL_ALGO set by environment to ";
    let given = text.lines().flat_map(|line| {
        let printed = line.split_once(PRINTED).map(|(_, value)| value);
        let set = line.trim_start().split("NCCL_ALGO=").skip(1);
        printed.into_iter().chain(set)
    });
    let names: BTreeSet<Option<&str>> = given
        .map(|value| {
            let value = value.trim_start_matches(['"', '\'']);
            let end = value.find(|c: char| c.is_whitespace() || "\"';|".contains(c));
            let name = value[..end.unwrap_or(value.len())].trim_end_matches('.').to_lowercase();
            ALGORITHMS.into_iter().find(|known| *known == name.replace('_', ""))
        })
        .collect();
    if names.len() == 1 { names.into_iter().next()? } else { None }
}

/// Returns a text without escape sequences of terminals and carriage returns.
fn without_terminal_codes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\u{1b}' if characters.peek() == Some(&'[') => {
                let is_end = |c: &char| ('@'..='~').contains(c) && *c != '[';
                let _ = characters.find(is_end);
            }
            '\r' => {}
            _ => plain.push(c),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
# nThread 1 nGpus 1 minBytes 8 maxBytes 8
#  Rank  0 Group  0 Pid  81 on  node1 device  0 [0x1b] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid  82 on  node2 device  0 [0x1b] NVIDIA H100 80GB HBM3
# ./build/all_reduce_perf -b 8
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
     1048576        262144     float     sum      -1    41.00   25.57   25.57      0    83.00   12.63   12.63      0
     2097152        524288     float     sum      -1    52.00   40.33   40.33      0    53.00   39.57   39.57      0
";

    #[test]
    fn a_log_names_hosts_gpus_and_both_times() {
        let plain = Log::parse(LOG, Path::new("x"), None).unwrap();
        let coloured = LOG.replace("41.00", "\u{1b}[1;32m41.00\u{1b}[0m").replace('\n', "\r\n");
        for log in [plain, Log::parse(&coloured, Path::new("x"), None).unwrap()] {
            assert_eq!((log.ranks, log.gpus_per_host()), (Some(2), Some(1)));
            assert_eq!(log.gpus.iter().collect::<Vec<_>>(), ["NVIDIA H100 80GB HBM3"]);
            let times = &log.times(2)["allreduce"];
            assert_eq!(times[&1_048_576], Times { us: 41.0, in_place_us: Some(83.0) });
        }
    }

    /// An excerpt without the list of ranks has their number in a line of NCCL (NVIDIA/nccl#1453).
    #[test]
    fn nccl_prints_the_number_of_ranks() {
        let rows = LOG.replace("25.57", "0.00").replace("40.33", "0.00");
        let rows: String = rows.lines().skip(4).map(|line| format!("{line}\n")).collect();
        let line = "h:1:2 [0] NCCL INFO comm 0x5639 rank 0 nRanks 24 nNodes 3 localRanks 8\n";
        let log = Log::parse(&format!("{line}{rows}"), Path::new("x"), Some("allreduce")).unwrap();
        assert_eq!(log.ranks, Some(24));
    }

    #[test]
    fn nccl_algo_is_an_algorithm_if_it_names_one() {
        let read = |line: &str| {
            Log::parse(&format!("{line}\n{LOG}"), Path::new("x"), None).unwrap().algorithm
        };
        assert_eq!(read("h:1:2 [0] NCCL INFO NCCL_ALGO set by environment to Ring"), Some("ring"));
        assert_eq!(read("mpirun -np 2 -x NCCL_ALGO=NVLSTree -x A=b ./x"), Some("nvlstree"));
        assert_eq!(read("export NCCL_ALGO='tree'"), Some("tree"));
        assert_eq!(read("NCCL_ALGO=tree; ./all_reduce_perf"), Some("tree"));
        for line in ["NCCL_ALGO=^NVLS", "NCCL_ALGO=Ring,Tree", "NCCL_ALGO=Ring NCCL_ALGO=Tree", ""]
        {
            assert_eq!(read(line), None, "{line}");
        }
    }

    /// A time of 0 is that of a size that the program did not run, or rounded.
    #[test]
    fn a_size_without_a_time_is_named() {
        let zero = LOG.replace("41.00 ", "0.00 ");
        let log = Log::parse(&zero, Path::new("x"), None).unwrap();
        let expected = "line 6: 1MiB is left out: its time is 0.00 us, expected more than 0";
        assert_eq!(log.omitted, [expected]);
        assert_eq!(log.times(2)["allreduce"].len(), 1);
        let why = Log::parse(&zero.replace("52.00 ", "0.00 "), Path::new("x"), None).unwrap_err();
        assert!(
            why.contains("no time of a collective with data: line 6: 1MiB is left out"),
            "{why}"
        );
    }

    /// Two hosts list the rank 0, as in NVIDIA/nccl-tests#182. The names of hosts in
    /// NVIDIA/nccl-tests#347 have a space.
    #[test]
    fn a_rank_on_two_hosts_shows_a_build_without_mpi() {
        let names = LOG.replace("node1", "NODE A ").replace("node2", "NODE B");
        let log = Log::parse(&names, Path::new("x"), None).unwrap();
        assert_eq!((log.gpus_per_host(), log.has_lone_processes()), (Some(1), false));
        let twice = names.replace("Rank  1", "Rank  0");
        let log = Log::parse(&twice, Path::new("x"), None).unwrap();
        assert_eq!((log.ranks, log.has_lone_processes()), (Some(1), true));
    }

    #[test]
    fn other_texts_are_explained() {
        let why = |text: &str| Log::parse(text, Path::new("x"), None).unwrap_err();
        assert!(why("").contains("expected the output of nccl-tests"));
        assert!(why("hello\n").contains("its format is not recognised"));
        let broken = LOG.split("     1048576").next().unwrap();
        assert!(why(broken).contains("it has no measurement"));
        let cut = &LOG[..LOG.len() - 90];
        assert!(Log::parse(cut, Path::new("x"), None).is_ok() || !why(cut).is_empty());
    }
}
