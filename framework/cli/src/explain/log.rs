//! Reads logs of collective benchmarks.

use crate::failure::Failure;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use swapmeet_bridges::import::{
    Measurement, MeasurementFile, Run, SizeOf, Tuning, collective_question, implied, is_like_any,
    is_nccl_tests, medians, read, runs, tuning, without_labels,
};
use swapmeet_core::spec::format_size;
use swapmeet_workloads::file::read_bounded;

const LONGEST: u64 = 256 << 20;

/// The maximum number of runs. Each run's text has an empty line for each line before it.
const MOST_RUNS: usize = 100;

/// Values of `NCCL_ALGO` in lower case. With each of them, NCCL can use only this algorithm.
const ALGORITHMS: [&str; 5] = ["ring", "tree", "nvls", "nvlstree", "pat"];

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Times {
    pub us: f64,
    /// The time if the send buffer is also the receive buffer.
    pub in_place_us: Option<f64>,
}

#[derive(Debug)]
pub(super) struct LogOfRun {
    /// The first and the last line of the run; `None` if the log has only one run.
    pub lines: Option<[usize; 2]>,
    /// What was read from the run, or the reason why it cannot be read.
    pub log: Result<Log, String>,
}

#[derive(Debug, Default)]
pub(super) struct Log {
    measurements: Vec<Measurement>,
    /// The message that asks the user for the collective. It is set if the collective is unknown,
    /// or if the rows contradict the user's flag.
    pub question: Option<String>,
    /// For error messages: where the log states the number of ranks.
    pub source_of_ranks: String,
    pub repeated: BTreeSet<u64>,
    /// The network ports in `NCCL_IB_HCA`; `None` if this variable does not list all ports by name.
    pub named_ports: Option<BTreeSet<String>>,
    pub uses_sockets: bool,
    /// For each measurement without a usable time, a message about it.
    pub omitted: Vec<String>,
    pub ranks: Option<u64>,
    /// The ranks of each communicator, if several communicators ran at the same time.
    pub communicators: Vec<Vec<u64>>,
    pub gpus: BTreeSet<String>,
    pub algorithm: Option<&'static str>,
    /// Whether the log is of an MPI library, whose times a system of GPUs does not predict.
    pub is_mpi: bool,
    pub tuning: Option<Tuning>,
    hosts: BTreeMap<String, u64>,
    rank_hosts: BTreeMap<String, BTreeSet<String>>,
}

impl Log {
    /// Returns whether the file can be read and is a log of a benchmark.
    pub(super) fn is_at(path: &Path) -> bool {
        let text = read_bounded(path, LONGEST, "a log of a benchmark");
        text.is_ok_and(|text| is_like_any(&without_terminal_codes(&text)))
    }

    /// Reads the runs of a log. The path `-` is standard input. `collective` is the user's flag.
    pub(super) fn read_runs(
        path: &Path,
        collective: Option<&str>,
    ) -> Result<Vec<LogOfRun>, Failure> {
        let wrong = |why: String| Failure::Usage(format!("{}: {why}", path.display()));
        let text = if path == Path::new("-") {
            let mut text = String::new();
            let input = std::io::stdin().take(LONGEST).read_to_string(&mut text);
            input.map_err(|error| wrong(error.to_string()))?;
            text
        } else {
            read_bounded(path, LONGEST, "a log of a benchmark").map_err(wrong)?
        };
        Ok(Self::parse_runs(&without_terminal_codes(&text), path, collective))
    }

    fn parse_runs(text: &str, path: &Path, collective: Option<&str>) -> Vec<LogOfRun> {
        let all = if is_nccl_tests(text) { runs(text) } else { Vec::new() };
        if let [] | [_] = &all[..] {
            return vec![LogOfRun { lines: None, log: Self::parse(text, path, collective) }];
        }
        if all.len() > MOST_RUNS {
            let why = format!("it has {} runs, expected at most {MOST_RUNS}", all.len());
            return vec![LogOfRun { lines: None, log: Err(why) }];
        }
        let read = |run: &Run| LogOfRun {
            lines: Some([run.first, run.last]),
            log: Self::parse(&run.text_in(text), path, collective),
        };
        all.iter().map(read).collect()
    }

    fn parse(text: &str, path: &Path, collective: Option<&str>) -> Result<Self, String> {
        let text = without_terminal_codes(text);
        let of_rows = if is_nccl_tests(&text) { implied(&text) } else { None };
        let mut question = None;
        let mut collective = collective;
        if is_nccl_tests(&text) && collective.is_none() {
            question = collective_question(&text).map(|question| question.to_string());
            // The collective is unknown, but the rows contain other information, so they are read.
            collective = question.is_some().then_some("allreduce");
        } else if let (Some(given), Some(rows)) = (collective, &of_rows)
            && !rows.collectives.is_empty()
            && !rows.collectives.iter().any(|known| letters(known) == letters(given))
        {
            question = Some(format!(
                "line {}: its rows are not those of `--collective {given}`: {}, expected {}",
                rows.line,
                rows.reason,
                rows.collectives.join(" or ")
            ));
        }
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
        log.question = question;
        log.named_ports = named_ports(&text);
        log.uses_sockets = text.contains("via NET/Socket");
        // Both MPI benchmarks, OSU and IMB, print sizes of blocks. But OSU can also run NCCL.
        let has_blocks = all.iter().all(|measurement| measurement.size_of == SizeOf::Count);
        let is_nccl = text.lines().any(|line| line.starts_with("# OSU ") && line.contains("CCL"));
        log.is_mpi = has_blocks && !is_nccl;
        log.ranks = all.iter().find_map(|measurement| measurement.ranks);
        let groups = all.iter().map(|m| &m.communicators).find(|groups| groups.len() > 1);
        log.communicators = groups.cloned().unwrap_or_default();
        for (number, line) in (1..).zip(without_labels(&text).lines()) {
            log.read_rank(number, line);
        }
        // An excerpt of a log may not list all ranks, so the number that follows from the rows is
        // used. With several communicators, rows only show the ranks of one.
        let ranks_of_rows = of_rows.as_ref().and_then(|rows| rows.ranks);
        if let (Some(ranks), Some(rows), true) =
            (ranks_of_rows, &of_rows, log.communicators.is_empty())
            && log.ranks.is_none_or(|listed| listed < ranks || log.source_of_ranks.is_empty())
        {
            log.ranks = Some(ranks);
            log.source_of_ranks = format!("line {}: {}", rows.line, rows.reason);
        }
        // Calls without data do not measure the collective.
        let with_data = all.into_iter().filter(|measurement| measurement.size > 0);
        let (timed, omitted): (Vec<_>, Vec<_>) =
            with_data.partition(|measurement| measurement.time_us > 0.0);
        log.omitted = omitted
            .iter()
            .map(|Measurement { size, time_us, line, .. }| {
                let at = if *line > 0 { format!("line {line}: ") } else { String::new() };
                format!(
                    "{at}{} is left out: its time is {time_us:.2} µs, expected more than 0",
                    format_size(*size)
                )
            })
            .collect();
        let mut known = BTreeSet::new();
        for Measurement { collective, size, .. } in &timed {
            if !known.insert((collective, *size)) {
                log.repeated.insert(*size);
            }
        }
        log.measurements = medians(timed);
        match (log.measurements.is_empty(), log.omitted.first()) {
            (true, None) => Err("it has no time of a collective with data".to_owned()),
            (true, Some(first)) => {
                Err(format!("it has no time of a collective with data: {first}"))
            }
            (false, _) => Ok(log),
        }
    }

    /// Returns the times by collective and size. As in nccl-tests, the size is that of the larger
    /// buffer. Sizes of blocks are converted to it, for communicators of `members` ranks.
    pub(super) fn times(&self, members: u64) -> BTreeMap<String, BTreeMap<u64, Times>> {
        let mut all: BTreeMap<String, BTreeMap<u64, Times>> = BTreeMap::new();
        for Measurement { collective, size, size_of, time_us, in_place_us, .. } in
            &self.measurements
        {
            // MPI benchmarks print the size of a block, nccl-tests that of the larger buffer.
            let is_block =
                *size_of == SizeOf::Count && matches!(&**collective, "alltoall" | "allgather");
            let bytes = if is_block { size.saturating_mul(members) } else { *size };
            let times = Times { us: *time_us, in_place_us: *in_place_us };
            all.entry(collective.clone()).or_default().insert(bytes, times);
        }
        all
    }

    /// Reads one of two lines. nccl-tests prints a rank, as in `#  Rank  0 Group  0 Pid  81 on
    /// node1 device  0 [0x1b] NVIDIA H100 80GB HBM3`. NCCL prints the number of ranks of a
    /// communicator, as in `comm 0x5639 rank 0 nRanks 24 nNodes 3 ..`.
    fn read_rank(&mut self, number: usize, line: &str) {
        if line.contains("NCCL INFO") && self.ranks.is_none() {
            let mut words = line.split_whitespace();
            let is_count = |word: &str| word.eq_ignore_ascii_case("nranks");
            self.ranks = words.find(|word| is_count(word)).and_then(|_| words.next()?.parse().ok());
            if self.ranks.is_some() {
                self.source_of_ranks = format!("line {number}: nRanks");
            }
        }
        let words = line.trim_start_matches(|c: char| c == '#' || c.is_whitespace());
        let words: Vec<&str> = words.split_whitespace().collect();
        if words.first() != Some(&"Rank") {
            return;
        }
        self.source_of_ranks = format!("line {number}: the last rank of the list");
        let position = |word: &str| words.iter().position(|other| *other == word);
        // The host name can contain spaces, if somebody replaced it before publishing the log.
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

    /// Returns whether the same rank is on several hosts: each process ran alone, without MPI.
    pub(super) fn has_lone_processes(&self) -> bool {
        self.rank_hosts.values().any(|hosts| hosts.len() > 1)
    }

    pub(super) fn gpus_per_host(&self) -> Option<u64> {
        let mut counts = self.hosts.values();
        let first = *counts.next()?;
        counts.all(|count| *count == first).then_some(first)
    }
}

/// Returns only the letters of a name, because some programs write collectives with hyphens.
fn letters(name: &str) -> String {
    let name = name.to_lowercase().replace("bcast", "broadcast");
    name.chars().filter(char::is_ascii_alphabetic).collect()
}

/// Returns the network ports in `NCCL_IB_HCA`, which NCCL prints or the command line contains.
/// Returns `None` if the variable is not set, excludes ports, or contains prefixes of port names.
fn named_ports(text: &str) -> Option<BTreeSet<String>> {
    const NAMES: [&str; 2] = ["NCCL_IB_HCA set by environment to ", "NCCL_IB_HCA="];
    let value = NAMES.iter().find_map(|name| text.split_once(name)).map(|(_, rest)| rest)?;
    let value = value.trim_start_matches(['"', '\'', '=']);
    let end = value.find(|c: char| c.is_whitespace() || "\"';|".contains(c));
    let value = value[..end.unwrap_or(value.len())].trim_end_matches(['.', ',']);
    let names: BTreeSet<String> = value.split(',').map(str::to_owned).collect();
    let is_driver = |name: &str| matches!(name, "mlx4" | "mlx5");
    let is_port = |name: &String| name.ends_with(|c: char| c.is_ascii_digit()) && !is_driver(name);
    (!value.starts_with('^') && names.iter().all(is_port)).then_some(names)
}

/// Returns the algorithm in `NCCL_ALGO`, which NCCL prints or the command line contains. Returns
/// `None` if the variable is not set, permits several algorithms, or has several different values.
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

    /// In NVIDIA/nccl#1453, the number of ranks is only in a line that NCCL prints.
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

    /// A time of 0 means that the program did not run the size, or rounded the time.
    #[test]
    fn a_size_without_a_time_is_named() {
        let zero = LOG.replace("41.00 ", "0.00 ");
        let log = Log::parse(&zero, Path::new("x"), None).unwrap();
        let expected = "line 6: 1MiB is left out: its time is 0.00 µs, expected more than 0";
        assert_eq!(log.omitted, [expected]);
        assert_eq!(log.times(2)["allreduce"].len(), 1);
        let why = Log::parse(&zero.replace("52.00 ", "0.00 "), Path::new("x"), None).unwrap_err();
        assert!(
            why.contains("no time of a collective with data: line 6: 1MiB is left out"),
            "{why}"
        );
    }

    /// In NVIDIA/nccl-tests#182, a rank is on two hosts. In NVIDIA/nccl-tests#347, a host name has
    /// a space.
    #[test]
    fn a_rank_on_two_hosts_shows_a_build_without_mpi() {
        let names = LOG.replace("node1", "NODE A ").replace("node2", "NODE B");
        let log = Log::parse(&names, Path::new("x"), None).unwrap();
        assert_eq!((log.gpus_per_host(), log.has_lone_processes()), (Some(1), false));
        let twice = names.replace("Rank  1", "Rank  0");
        let log = Log::parse(&twice, Path::new("x"), None).unwrap();
        assert_eq!((log.ranks, log.has_lone_processes()), (Some(1), true));
    }

    /// In NVIDIA/nccl-tests#290, `srun --label` added a label to each line.
    #[test]
    fn a_label_hides_no_gpu() {
        let labelled: String = LOG.lines().map(|line| format!("0: {line}\n")).collect();
        let log = Log::parse(&labelled, Path::new("x"), None).unwrap();
        assert_eq!((log.ranks, log.gpus_per_host()), (Some(2), Some(1)));
        assert_eq!(log.gpus.iter().collect::<Vec<_>>(), ["NVIDIA H100 80GB HBM3"]);
        let copied: String = labelled.replace("0: #", "0: ");
        let log = Log::parse(&copied, Path::new("x"), None).unwrap();
        assert_eq!((log.ranks, log.gpus.len(), log.times(2)["allreduce"].len()), (Some(2), 1, 2));
    }

    #[test]
    fn two_tables_are_two_runs() {
        let labelled: String = LOG.lines().map(|line| format!("0: {line}\n")).collect();
        let labelled = labelled.replace("all_reduce_perf", "all_gather_perf");
        let text = format!("the first\n{LOG}# Avg bus bandwidth    : 3\n\nthe second\n{labelled}");
        let all = Log::parse_runs(&text, Path::new("x"), None);
        assert_eq!([all[0].lines, all[1].lines], [Some([2, 9]), Some([12, 18])]);
        for (run, collective) in all.iter().zip(["allreduce", "allgather"]) {
            let log = run.log.as_ref().unwrap();
            assert_eq!((log.ranks, log.gpus.len(), log.repeated.len()), (Some(2), 1, 0));
            assert_eq!(log.times(2).keys().collect::<Vec<_>>(), [collective]);
        }
        // Rows without a header have the columns of the previous header, even after other text.
        let rows = LOG.lines().skip(5).collect::<Vec<_>>().join("\n");
        let all = Log::parse_runs(&format!("{LOG}again:\n{rows}\n"), Path::new("x"), None);
        assert_eq!(all[1].lines, Some([9, 10]));
        assert_eq!(all[1].log.as_ref().unwrap().times(2)["allreduce"].len(), 2);
        let many = Log::parse_runs(&LOG.repeat(101), Path::new("x"), None);
        assert_eq!(many[0].log.as_ref().unwrap_err(), "it has 101 runs, expected at most 100");
        // With `-N`, nccl-tests repeats all sizes in cycles, without a line between two cycles.
        let all = Log::parse_runs(&format!("{LOG}{rows}\n"), Path::new("x"), None);
        assert_eq!((all.len(), all[0].log.as_ref().unwrap().repeated.len()), (1, 2));
    }

    #[test]
    fn ports_of_a_variable_are_counted() {
        let count = |line: &str| named_ports(line).map(|names| names.len());
        assert_eq!(count("NCCL INFO NCCL_IB_HCA set by environment to mlx5_0,mlx5_3"), Some(2));
        assert_eq!(count("mpirun -x NCCL_IB_HCA==mlx5_0:1 ./x"), Some(1));
        assert_eq!(["NCCL_IB_HCA=mlx5", "NCCL_IB_HCA=^mlx5_0", "x"].map(count), [None; 3]);
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
