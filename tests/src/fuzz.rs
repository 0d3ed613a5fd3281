//! Fuzz targets, each with properties that must hold for any input. `tests/fuzz` runs them millions
//! of times, and `tests/tests/corpus.rs` on the stored corpus.

use std::path::Path;
use swapmeet_bridges::fit::{fit, ping_pong as pings};
use swapmeet_bridges::import::{self, Communicator, FORMATS, MeasurementFile};
use swapmeet_bridges::msccl::{self as xml, StepKind};
use swapmeet_bridges::schedule::{DocumentEvent, EventHandler, HandlerError, Header, read};
use swapmeet_bridges::tune::{TimedCase, library};
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::network::topology;
use swapmeet_optimum::Certificate;
use swapmeet_optimum::check::check;
use swapmeet_plugin_files::count_steps;
use swapmeet_results::{CsvSink, FileRows, Record, Sink, read_rows};
use swapmeet_runner::experiment::Experiment;
use swapmeet_workloads::{Matrix, Workload};

pub mod boundary;

/// A function that panics if a property does not hold for the given bytes.
pub type Target = fn(&[u8]);

pub const TARGETS: [(&str, Target); 14] = [
    ("spec", spec),
    ("experiment", experiment),
    ("rows", rows),
    ("matrix", matrix),
    ("schedule", schedule),
    ("msccl", msccl),
    ("msccl_steps", msccl_steps),
    ("measurements", measurements),
    ("ping_pong", ping_pong),
    ("mpich", mpich),
    ("boundary", boundary::plan),
    ("certificate", certificate),
    ("graph", graph),
    ("tokens", tokens),
];

/// Target: a spec of any kind is either refused, or its canonical spec parses to an equal value.
pub fn spec(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    // The contents of files have their own targets.
    if text.contains("matrix:") || text.contains("graph:") {
        return;
    }
    if let Ok(topology) = topology::parse(text) {
        let again = topology::parse(&topology.spec()).map(|t| (t.spec(), t.nodes()));
        assert_eq!(again.ok(), Some((topology.spec(), topology.nodes())));
        let last = topology.nodes() - 1;
        let mut hops = 0;
        let route = topology.route(0, last, None, &mut |run| hops += run.len);
        assert!(route.is_ok_and(|message| message == hops), "{text}: the route from 0 to {last}");
    }
    if let Ok(workload) = Workload::parse(text) {
        assert_eq!(Workload::parse(&workload.to_string()).ok().as_ref(), Some(&workload));
    }
    if let Ok(machine) = Machine::parse(text) {
        assert_eq!(Machine::parse(text).ok().as_ref(), Some(&machine));
        let figures = ["startup_us", "byte_us", "hop_us", "copy_byte_us"]
            .map(|key| machine.number(key).unwrap_or(0.0));
        assert!(figures.iter().all(|us| us.is_finite() && *us >= 0.0), "{machine:?}");
    }
}

/// Target: a certificate is either refused, or its lower end is at most its upper end.
pub fn certificate(data: &[u8]) {
    let Ok(certificate) = serde_json::from_slice::<Certificate>(data) else { return };
    if let Ok(verified) = check(&certificate) {
        let upper = verified.upper_us.unwrap_or(f64::INFINITY);
        assert!(0.0 <= verified.lower_us && verified.lower_us.is_finite(), "{verified:?}");
        assert!(verified.lower_us <= upper * (1.0 + 1e-6), "{verified:?}");
    }
}

/// Target: a list of edges, with options such as failed links in its first line, is either refused
/// or a network whose routes lead from their start to their end over its links.
pub fn graph(data: &[u8]) {
    const FEW_NODES: u64 = 24;
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (options, edges) = text.split_once('\n').unwrap_or(("", text));
    let Ok(network) = topology::parse_with(&format!("graph:x{options}"), &|_| Ok(edges.to_owned()))
    else {
        return;
    };
    let nodes = network.nodes().min(FEW_NODES);
    for (from, to) in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
        let mut links = Vec::new();
        let hops = network.route(from, to, None, &mut |run| links.extend(run.links()));
        assert_eq!(hops.ok(), Some(links.len() as u64), "from {from} to {to}");
        // Only links between ranks that share a node have no known ends.
        let ends: Option<Vec<_>> = links.iter().map(|link| network.link_ends(*link)).collect();
        let ends = ends.unwrap_or_default();
        assert!(
            ends.windows(2).all(|pair| pair[0].1 == pair[1].0),
            "from {from} to {to}: {ends:?}"
        );
    }
}

/// Target: a file of tokens is either refused, or its tokens have receivers that exist.
pub fn tokens(data: &[u8]) {
    const NODES: u32 = 6;
    let Ok(file) = tempfile::NamedTempFile::new() else { return };
    if std::fs::write(file.path(), data).is_err() {
        return;
    }
    let Ok(ring) = topology::parse(&format!("ring:{NODES}")) else { return };
    for word in ["dispatch", "combine"] {
        let spec = format!("{word}/tokens:{},bytes=8", file.path().display());
        let Ok(workload) = Workload::parse(&spec) else { return };
        let Ok(task) = workload.task(&ring, 1) else { return };
        let Some(tokens) = task.collective.tokens() else { continue };
        for node in 0..u64::from(NODES) {
            for class in 0..tokens.bytes(node).len() as u32 {
                let receivers = tokens.receivers(node, class);
                assert!(!receivers.is_empty() && receivers.iter().all(|node| *node < NODES));
                assert!(receivers.windows(2).all(|pair| pair[0] < pair[1]), "{receivers:?}");
            }
        }
    }
}

/// Target: an experiment is either read, or refused with a position in the text.
pub fn experiment(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Err(error) = Experiment::parse("fuzzed.toml", text)
        && let Some((line, column)) = error.line_and_column()
    {
        let lines = text.split('\n').count();
        assert!(
            (1..=lines).contains(&line) && column >= 1,
            "{line}:{column} of {lines} lines: {error}"
        );
    }
}

/// Target: a schedule is either read event by event, or refused with a line number of the text.
pub fn schedule(data: &[u8]) {
    struct Ignore;
    impl EventHandler for Ignore {
        fn head(&mut self, _: Header) -> Result<(), HandlerError> {
            Ok(())
        }
        fn event(&mut self, _: DocumentEvent) -> Result<(), HandlerError> {
            Ok(())
        }
    }
    if let Err(error) = read(data, &mut Ignore) {
        let lines = data.split(|byte| *byte == b'\n').count();
        assert!(error.line() <= lines, "line {} of {lines}: {error}", error.line());
    }
}

/// Target: an MSCCL algorithm is either refused with a line number, or it has at most as many GPUs
/// as there are tags, and its steps are on lines of the text.
pub fn msccl(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match xml::read(text) {
        Ok(program) => {
            assert!(!program.gpus.is_empty() && text.matches("<gpu").count() >= program.gpus.len());
            let steps =
                program.gpus.iter().flat_map(|gpu| &gpu.blocks).flat_map(|block| &block.steps);
            for step in steps {
                assert!(
                    StepKind::ALL.contains(&step.kind) && step.line <= text.lines().count(),
                    "{step:?}"
                );
            }
        }
        Err(wrong) => assert!(wrong.line >= 1 && wrong.line <= text.split('\n').count(), "{wrong}"),
    }
}

/// Target: an MSCCL algorithm is either refused with a line number, or executed in at most two
/// steps for each operation, because an operation can receive and then send.
pub fn msccl_steps(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let Ok(program) = xml::read(text) else { return };
    // Executing an algorithm with many chunks takes long.
    if program.gpus.iter().flat_map(|gpu| gpu.chunks).sum::<u64>() > 4096 {
        return;
    }
    let operations: usize =
        program.gpus.iter().flat_map(|gpu| &gpu.blocks).map(|block| block.steps.len()).sum();
    match count_steps(&program, 0) {
        Ok(steps) => {
            assert!(steps <= 2 * operations as u64, "{steps} steps of {operations} operations");
        }
        Err(stop) => {
            let message = stop.to_string();
            let line: Option<usize> =
                message.strip_prefix("line ").and_then(|rest| rest.split(':').next()?.parse().ok());
            assert!(
                line.is_some_and(|line| (1..=text.split('\n').count()).contains(&line)),
                "{message}"
            );
        }
    }
}

/// Target: ping-pong measurements are either refused with a line number, or their sizes and times
/// are finite, and the machine that is fitted to them has no negative costs.
pub fn ping_pong(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match pings::read("fuzzed", text) {
        Ok(samples) => {
            assert!(
                samples.iter().all(|sample| sample.time_us.is_finite() && sample.time_us >= 0.0),
                "{samples:?}"
            );
            if let (true, Ok(found)) = (samples.len() <= 100, fit(&samples)) {
                let all = [Some(&found.costs), found.rendezvous.as_ref().map(|(_, costs)| costs)];
                for costs in all.into_iter().flatten() {
                    let both = [costs.startup_us.value, costs.byte_us.value];
                    assert!(both.iter().all(|us| us.is_finite() && *us >= 0.0), "{both:?}");
                }
                assert_eq!(found.fitted.len(), samples.len());
            }
        }
        Err(wrong) => assert!(wrong.line <= text.lines().count() + 1, "{wrong}"),
    }
}

/// Target: a table of MPICH is either refused, or it stays valid when decisions are inserted.
pub fn mpich(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let cell = |bytes, algorithm: &str, time_us| TimedCase {
        collective: "alltoall".to_owned(),
        ranks: 4,
        bytes,
        algorithm: algorithm.to_owned(),
        protocol: String::new(),
        system: None,
        time_us,
    };
    let cells = [cell(8, "bruck", 1.0), cell(8, "pairwise", 2.0), cell(4096, "pairwise", 3.0)];
    let Some(mpich) = library("mpich") else { return };
    let Ok(tables) = mpich.decide(&cells) else { return };
    let Ok(written) = mpich.written(&tables, Some(text)) else { return };
    assert!(
        mpich.written(&tables, Some(&written)).is_ok() && written.contains("brucks"),
        "{written}"
    );
    assert!(
        mpich.losses_of_defaults(&cells, Some(&written)).is_ok_and(|own| own.is_some()),
        "{written}"
    );
}

/// Target: measurements are either refused with a line number, or their times are finite (also the
/// times that NCCL expects), and no block is larger than the size in the file.
pub fn measurements(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Some(tuning) = import::tuning(text) {
        let of = Communicator { ranks: 24, nodes: 3, compute_capability: 100, is_x86: true };
        for collective in ["allreduce", "allgather", "alltoall"] {
            for bytes in [0, 1, 65, 1 << 20, u64::MAX] {
                let opinion = tuning.opinion(collective, bytes, of);
                let us = opinion.as_ref().and_then(|opinion| opinion.us);
                assert!(us.is_none_or(|us| us.is_finite() && us >= 0.0), "{opinion:?}");
            }
        }
    }
    for format in &FORMATS {
        let source = MeasurementFile {
            path: Path::new("8_pairwise_int8.csv"),
            text,
            collective: Some("alltoall"),
            read_companion: &|_| Err("there is none".to_owned()),
        };
        match import::read(&source, Some(format.name)) {
            Ok(list) => {
                for found in list {
                    assert!(found.time_us.is_finite() && found.time_us >= 0.0, "{found:?}");
                    assert!(
                        found.block_bytes(4).is_ok_and(|bytes| bytes <= found.size)
                            || !found.size.is_multiple_of(4),
                        "{found:?}"
                    );
                }
            }
            Err(wrong) => assert!(wrong.line <= text.lines().count() + 1, "{wrong}"),
        }
    }
}

/// Target: if rows can be read, they can be written, and the same rows are read from the result.
pub fn rows(data: &[u8]) {
    let Ok(FileRows { rows: records, .. }) = read_rows("fuzzed.csv".to_owned(), data) else {
        return;
    };
    let mut written = Vec::new();
    let mut csv = CsvSink::new(&mut written);
    for record in &records {
        assert!(csv.record(record).is_ok());
    }
    assert!(csv.finish().is_ok());
    if records.is_empty() {
        return;
    }
    let again = read_rows("written.csv".to_owned(), &written[..]).and_then(FileRows::complete);
    let as_written: Vec<Record> = records.iter().map(Record::as_written).collect();
    assert_eq!(again.ok(), Some(as_written));
}

/// Target: a matrix is either read, or refused with a position in the text.
pub fn matrix(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Matrix::parse(text) {
        Ok(matrix) => assert!(matrix.nodes() >= 1),
        Err(error) => {
            assert!(
                error.line >= 1 && error.line <= text.split('\n').count() + 1 && error.column >= 1,
                "{error:?}"
            );
        }
    }
}

pub fn corpus(target: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target)
}
