//! Logs of benchmarks of collectives: the measured times, and what the log says about the machine.

use crate::failure::Failure;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use swapmeet_bridges::import::{
    MeasurementFile, SizeOf, is_like_any, medians, read, without_labels,
};
use swapmeet_workloads::file::read_bounded;

/// The maximum number of bytes of a log.
const LONGEST: u64 = 256 << 20;

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
    /// For each collective, the times of its sizes, as nccl-tests defines sizes.
    pub times: BTreeMap<String, BTreeMap<u64, Times>>,
    pub ranks: Option<u64>,
    /// The models of the GPUs, such as `NVIDIA H100 80GB HBM3`.
    pub gpus: BTreeSet<String>,
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
        let measurements = read(&source, None).map_err(|error| {
            format!("{error} (expected the output of nccl-tests, rccl-tests, OSU or IMB)")
        })?;
        let ranks = measurements.iter().find_map(|measurement| measurement.ranks);
        let mut log = Self { ranks, ..Self::default() };
        for line in without_labels(&text).lines() {
            log.read_rank(line);
        }
        for measurement in medians(measurements) {
            // MPI benchmarks name the size of a block, nccl-tests that of the larger buffer.
            let is_block = measurement.size_of == SizeOf::Count
                && matches!(&*measurement.collective, "alltoall" | "allgather");
            let bytes = match (is_block, log.ranks) {
                (false, _) => measurement.size,
                (true, Some(ranks)) => measurement.size * ranks,
                (true, None) => {
                    return Err("its sizes are those of blocks, and it does not contain the number of ranks".to_owned());
                }
            };
            if bytes == 0 || measurement.time_us <= 0.0 {
                continue;
            }
            let times = Times { us: measurement.time_us, in_place_us: measurement.in_place_us };
            log.times.entry(measurement.collective).or_default().insert(bytes, times);
        }
        match log.times.is_empty() {
            true => Err("it has no time of a collective with data".to_owned()),
            false => Ok(log),
        }
    }

    /// Reads a line of nccl-tests such as
    /// `#  Rank  0 Group  0 Pid  81 on  node1 device  0 [0x1b] NVIDIA H100 80GB HBM3`.
    fn read_rank(&mut self, line: &str) {
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
            let times = &log.times["allreduce"];
            assert_eq!(times[&1_048_576], Times { us: 41.0, in_place_us: Some(83.0) });
        }
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
