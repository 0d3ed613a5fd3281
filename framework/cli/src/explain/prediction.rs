//! Predictions of a library's collectives on a system: the time of each algorithm from which the
//! library chooses, and the bytes that it moves through the links of a GPU.

use crate::args::PluginArgs;
use crate::failure::Failure;
use crate::run::{self, SpecLists};
use std::collections::BTreeMap;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::spec::format_size;
use swapmeet_core::system::{self, EFFICIENCY, Expanded, System};
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::spec_error;
use swapmeet_runner::input::Text;
use swapmeet_runner::registry::Registry;
use swapmeet_runner::topology;

/// The place of a measurement.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The spec that the user gave.
    pub name: String,
    pub topology: String,
    pub machine: String,
    pub ranks: u64,
    /// The system with its domains and the GPUs of each; `None` for a topology and a machine.
    pub system: Option<(&'static System, u64, u64)>,
}

impl Place {
    /// Returns the place of a system's spec.
    pub(crate) fn of_system(spec: &str) -> Result<Self, Failure> {
        let at = Text::flag("--system", spec);
        let Expanded { topology, machine } =
            system::expand(spec).map_err(|e| spec_error(&at, &e))?;
        let ranks = topology::parse(&topology).map_err(Failure::usage)?.nodes();
        let (name, shape) = spec.split_once(':').unwrap_or((spec, ""));
        let shape = shape.split(',').next().unwrap_or(shape);
        let (domains, gpus) = shape.split_once('x').unwrap_or(("1", "1"));
        let number = |text: &str| text.parse().unwrap_or(1);
        let known = system::systems().iter().find(|system| system.name == name);
        let system = known.map(|system| (system, number(domains), number(gpus)));
        Ok(Self { name: spec.to_owned(), topology, machine, ranks, system })
    }

    /// Returns the place of a topology and a machine.
    pub(crate) fn of_specs(topology: &str, machine: &str) -> Result<Self, Failure> {
        let at = Text::flag("--topology", topology);
        let network = topology::parse(topology).map_err(|e| spec_error(&at, &e))?;
        Ok(Self {
            name: format!("{}, {machine}", network.spec()),
            topology: network.spec(),
            machine: machine.to_owned(),
            ranks: network.nodes(),
            system: None,
        })
    }

    /// Returns the bytes of a block for a size of nccl-tests.
    pub(crate) fn block_bytes(&self, collective: &str, bytes: u64) -> u64 {
        if is_whole(collective) { bytes } else { bytes.div_ceil(self.ranks).max(1) }
    }

    /// Returns the workload of a size of nccl-tests.
    pub(crate) fn workload(&self, collective: &str, bytes: u64) -> String {
        let block = self.block_bytes(collective, bytes);
        let prefix =
            if collective == "alltoall" { String::new() } else { format!("{collective}/") };
        format!("{prefix}uniform:{}", format_size(block))
    }
}

/// Returns whether a size is that of a whole vector, which is not divided among ranks.
fn is_whole(collective: &str) -> bool {
    matches!(collective, "allreduce" | "broadcast" | "reduce")
}

/// Returns the factor from algorithm bandwidth to bus bandwidth (nccl-tests, doc/PERFORMANCE.md).
pub(crate) fn bus_factor(collective: &str, ranks: u64) -> f64 {
    let n = ranks as f64;
    match collective {
        "allreduce" => 2.0 * (n - 1.0) / n,
        "allgather" | "reduce-scatter" | "alltoall" => (n - 1.0) / n,
        _ => 1.0,
    }
}

/// The prediction for one size.
#[derive(Debug, Clone)]
pub(crate) struct Prediction {
    pub us: f64,
    /// The library's name of the algorithm, or the spec of ours if the user named one.
    pub algorithm: String,
    pub protocol: String,
    pub lower_bound_us: f64,
    /// The bytes that pass through a network port and through the link between a GPU and its
    /// domain, by the expected algorithm.
    pub outside_bytes: f64,
    pub inside_bytes: f64,
    /// The fastest schedule of this project, if it is faster than the library's.
    pub better: Option<(String, f64)>,
}

/// Predicts a collective for several sizes. `algorithm` replaces the choice of the library.
pub(crate) fn predict(
    place: &Place,
    collective: &str,
    sizes: &[u64],
    algorithm: Option<&str>,
    plugins: &PluginArgs,
) -> Result<Option<BTreeMap<u64, Prediction>>, Failure> {
    let registry = run::registry(plugins)?;
    let every = run::algorithms_of(&registry, collective);
    let library = library(place, collective, algorithm, &registry, &every)?;
    let specs: Vec<String> = library.iter().map(|of| of.spec.clone()).collect();
    let Some(of_library) = rows_of(place, collective, sizes, &library, plugins, &registry)? else {
        return Ok(None);
    };
    let Some(of_all) = rows(place, collective, sizes, &every, plugins, &registry)? else {
        return Ok(None);
    };
    let Some(moved) = moved_bytes(place, collective, sizes, &specs, plugins, &registry)? else {
        return Ok(None);
    };
    // A schedule that the library has with another number of segments, or for more domains, is not a
    // better one.
    let of_system = place.system.iter().flat_map(|(system, domains, gpus)| {
        system.library(collective, *domains + 1, *gpus).into_iter().map(|of| of.spec)
    });
    let known: Vec<String> = specs.iter().cloned().chain(of_system).collect();
    let mut predictions = BTreeMap::new();
    for (index, bytes) in sizes.iter().enumerate() {
        let of_size = |rows: &[Record]| -> Vec<Record> {
            let own = rows.iter().skip(index).step_by(sizes.len());
            own.filter(|row| row.status == Status::Ok && row.time_us.is_some()).cloned().collect()
        };
        let time = |row: &Record| row.time_us.unwrap_or(f64::INFINITY);
        let fastest =
            |rows: Vec<Record>| rows.into_iter().min_by(|a, b| time(a).total_cmp(&time(b)));
        let Some(row) = fastest(of_size(&of_library)) else {
            let reason = of_library.iter().find(|row| !row.reason.is_empty());
            let reason = reason.map_or("no algorithm ran", |row| &row.reason);
            return Err(Failure::Usage(format!("{collective} on {}: {reason}", place.name)));
        };
        let of = library.iter().find(|of| is_same(&of.spec, &row.algorithm));
        let [outside, inside] = of.and_then(|of| moved.get(&of.spec)).copied().unwrap_or_default();
        let largest = sizes.iter().copied().max().unwrap_or(1).max(1) as f64;
        let is_new = |row: &Record| !known.iter().any(|spec| is_same(spec, &row.algorithm));
        let new = of_size(&of_all).into_iter().filter(is_new).collect();
        let better = fastest(new).filter(|other| time(other) < 0.99 * time(&row));
        predictions.insert(
            *bytes,
            Prediction {
                us: time(&row),
                algorithm: of.map_or(row.algorithm.clone(), |of| of.name.clone()),
                protocol: row.protocol.clone(),
                lower_bound_us: row.lower_bound_us.unwrap_or(0.0),
                outside_bytes: outside * *bytes as f64 / largest,
                inside_bytes: inside * *bytes as f64 / largest,
                better: better.map(|row| (row.algorithm.clone(), time(&row))),
            },
        );
    }
    Ok(Some(predictions))
}

/// Returns the rows of the algorithms from which the library chooses on a system, each with the
/// protocols that the library has for it: for each algorithm, those of all sizes.
pub(crate) fn library_rows(
    place: &Place,
    collective: &str,
    sizes: &[u64],
    plugins: &PluginArgs,
) -> Result<Option<Vec<Record>>, Failure> {
    let registry = run::registry(plugins)?;
    let library = library(place, collective, None, &registry, &[])?;
    rows_of(place, collective, sizes, &library, plugins, &registry)
}

/// Returns the rows of candidates: for each of them, those of all sizes.
fn rows_of(
    place: &Place,
    collective: &str,
    sizes: &[u64],
    candidates: &[Candidate],
    plugins: &PluginArgs,
    registry: &Registry,
) -> Result<Option<Vec<Record>>, Failure> {
    let mut all = Vec::new();
    for of in candidates {
        let place = Place { machine: of.machine.clone(), ..place.clone() };
        let specs = std::slice::from_ref(&of.spec);
        let Some(rows) = rows(&place, collective, sizes, specs, plugins, registry)? else {
            return Ok(None);
        };
        all.extend(rows);
    }
    Ok(Some(all))
}

/// Returns whether a row's algorithm is that of a spec, whose parameters may be defaults.
fn is_same(spec: &str, algorithm: &str) -> bool {
    let name = |spec: &str| spec.split(':').next().unwrap_or_default().to_owned();
    spec == algorithm || name(spec) == name(algorithm)
}

/// An algorithm from which the library chooses.
struct Candidate {
    name: String,
    spec: String,
    /// The spec of the machine, with the protocols in which the library has the algorithm.
    machine: String,
}

/// Returns the algorithms from which the library chooses.
fn library(
    place: &Place,
    collective: &str,
    algorithm: Option<&str>,
    registry: &Registry,
    every: &[String],
) -> Result<Vec<Candidate>, Failure> {
    let own = |spec: &str| Candidate {
        name: spec.to_owned(),
        spec: spec.to_owned(),
        machine: place.machine.clone(),
    };
    let Some((system, domains, gpus)) = place.system else {
        return Ok(match algorithm {
            Some(spec) => vec![own(spec)],
            None => every.iter().map(|spec| own(spec)).collect(),
        });
    };
    let machine = Machine::parse(&place.machine).map_err(Failure::usage)?;
    let known = |spec: &str| {
        let name = spec.split(':').next().unwrap_or_default();
        registry.algorithms().any(|algorithm| algorithm.name == name)
    };
    let all = system.library(collective, domains, gpus);
    let mut all: Vec<Candidate> = all
        .into_iter()
        .filter(|algorithm| known(&algorithm.spec))
        .map(|algorithm| Candidate {
            name: algorithm.name.to_owned(),
            machine: algorithm.machine(&machine).to_string(),
            spec: algorithm.spec,
        })
        .collect();
    // An algorithm is named as the library does, or by a spec.
    if let Some(name) = algorithm {
        all.retain(|candidate| candidate.name == name);
        return Ok(if all.is_empty() { vec![own(name)] } else { all });
    }
    if all.is_empty() {
        return Err(Failure::Usage(format!(
            "it is not known how NCCL and RCCL run a {collective}: expected allreduce, allgather, reduce-scatter or alltoall, or name an algorithm with --algorithm"
        )));
    }
    Ok(all)
}

/// Returns the rows of algorithms: for each algorithm, those of all sizes.
fn rows(
    place: &Place,
    collective: &str,
    sizes: &[u64],
    algorithms: &[String],
    plugins: &PluginArgs,
    registry: &Registry,
) -> Result<Option<Vec<Record>>, Failure> {
    let mut all = Vec::new();
    for algorithm in algorithms {
        // Different sizes can have the same block size, and equal workloads would be refused.
        let mut workloads: Vec<String> = Vec::new();
        let of_size: Vec<usize> = sizes
            .iter()
            .map(|bytes| {
                let workload = place.workload(collective, *bytes);
                workloads.iter().position(|known| *known == workload).unwrap_or_else(|| {
                    workloads.push(workload);
                    workloads.len() - 1
                })
            })
            .collect();
        let lists = SpecLists {
            topologies: std::slice::from_ref(&place.topology),
            algorithms: std::slice::from_ref(algorithm),
            workloads: &workloads,
            machines: std::slice::from_ref(&place.machine),
            systems: &[],
        };
        let cases = run::cases_with(lists, 42, None, || Ok(registry))?;
        let Some(rows) = run::collect(&cases, None, plugins)? else { return Ok(None) };
        all.extend(of_size.into_iter().map(|workload| rows[workload].clone()));
    }
    Ok(Some(all))
}

/// Returns, for each algorithm, the bytes through a network port and through the link of a GPU for
/// the largest size. On a machine on which bytes take 1 us and nothing else takes time, the time is
/// the bytes on the busiest link. Links of one kind are the busiest if those of the other kind are
/// far faster.
fn moved_bytes(
    place: &Place,
    collective: &str,
    sizes: &[u64],
    algorithms: &[String],
    plugins: &PluginArgs,
    registry: &Registry,
) -> Result<Option<BTreeMap<String, [f64; 2]>>, Failure> {
    const MACHINE: &str = "free:model=pipelined,byte_us=1";
    const FAST: f64 = 1e5;
    let mut moved = BTreeMap::new();
    let Some(largest) = sizes.iter().copied().max().filter(|_| place.system.is_some()) else {
        return Ok(Some(moved));
    };
    for (kind, inside) in [FAST, 1.0 / FAST].into_iter().enumerate() {
        let arguments = place.topology.split(',').map(|argument| match argument.split_once('=') {
            Some(("inside", _)) => format!("inside={inside}"),
            _ => argument.to_owned(),
        });
        let probe = Place {
            topology: arguments.collect::<Vec<_>>().join(","),
            machine: MACHINE.to_owned(),
            ..place.clone()
        };
        let Some(rows) = rows(&probe, collective, &[largest], algorithms, plugins, registry)?
        else {
            return Ok(None);
        };
        for (spec, row) in algorithms.iter().zip(rows) {
            // Bytes outside are those of a port; inside, a byte takes 1/`inside` us.
            let bytes = row.time_us.unwrap_or(0.0) * if kind == 0 { 1.0 } else { inside };
            moved.entry(spec.clone()).or_insert([0.0; 2])[kind] = bytes;
        }
    }
    Ok(Some(moved))
}

/// What limits a collective.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Floor,
    StartUps,
    Nic,
    NvLink,
    Links,
}

impl Limit {
    /// Returns the limit of a prediction.
    pub(crate) fn of(place: &Place, prediction: &Prediction) -> Self {
        let Some((system, domains, _)) = place.system else { return Self::Links };
        let floor = floor_us(place);
        if prediction.us <= floor * 1.001 {
            return Self::Floor;
        }
        let us = |bytes: f64, gbps: f64, fraction: f64| bytes / (gbps * fraction * 1e3);
        let outside = us(prediction.outside_bytes, system.port_gbps, EFFICIENCY[1]);
        let inside = us(prediction.inside_bytes, system.inside_gbps, EFFICIENCY[0]);
        match (outside.max(inside) < 0.5 * prediction.us, outside >= inside && domains > 1) {
            (true, _) => Self::StartUps,
            (false, true) => Self::Nic,
            (false, false) => Self::NvLink,
        }
    }

    /// Returns the word in JSON and in tables.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::StartUps => "start-ups",
            Self::Nic => "NIC",
            Self::NvLink => "NVLink or xGMI",
            Self::Links => "links",
        }
    }

    /// Describes the use of the limiting resource during `us`, in its own units.
    pub(crate) fn usage(self, place: &Place, prediction: &Prediction, us: f64) -> String {
        let Some((system, ..)) = place.system else { return String::new() };
        match self {
            Self::Nic => {
                // A host can have more ports than GPUs.
                let of_port = prediction.outside_bytes / us / 1e3;
                let of_host = system.ports_per_host as f64;
                let each = of_host / system.gpus_per_host as f64;
                let physical = of_host * system.physical_ports as f64;
                format!(
                    "NIC {:.1} of {} GB/s = {:.2} of {physical} ports",
                    of_port * each,
                    system.port_gbps * each,
                    of_port / system.port_gbps * physical
                )
            }
            Self::NvLink => {
                let gbps = prediction.inside_bytes / us / 1e3;
                format!("link of a GPU {gbps:.0} of {} GB/s", system.inside_gbps)
            }
            Self::Floor => format!("least time of a collective, {} us", floor_us(place)),
            Self::StartUps | Self::Links => self.word().to_owned(),
        }
    }
}

/// Returns the least time of a collective on the machine, in us.
pub(crate) fn floor_us(place: &Place) -> f64 {
    let machine = Machine::parse(&place.machine).ok();
    machine.and_then(|machine| machine.number("floor_us")).unwrap_or(0.0)
}
