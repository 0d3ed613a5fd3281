//! Predicts the times of a collective on a system, for the algorithms from which a library chooses.

use crate::args::PluginArgs;
use crate::failure::Failure;
use crate::run::{self, SpecLists};
use crate::split::{Stated, axes_of_stride, communicators};
use std::collections::{BTreeMap, BTreeSet};
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::spec::format_size;
use swapmeet_core::system::{self, EFFICIENCY, Expanded, System};
use swapmeet_results::{Record, Status};
use swapmeet_runner::case::spec_error;
use swapmeet_runner::input::Text;
use swapmeet_runner::registry::Registry;
use swapmeet_runner::topology;

/// A faster schedule is named only if it is faster by at least this factor.
const GAIN: f64 = 1.05;

/// The network and the machine of a measurement.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub name: String,
    pub topology: String,
    pub machine: String,
    pub ranks: u64,
    /// The system, the number of its domains, and the number of GPUs in each domain.
    pub system: Option<(&'static System, u64, u64)>,
    pub split: Option<Split>,
}

/// Communicators that run the same collective at the same time.
#[derive(Debug, Clone)]
pub(crate) struct Split {
    /// The axes over which a communicator extends (`over=` in a workload).
    pub over: String,
    pub count: u64,
    pub members: u64,
    /// The number of domains of a communicator, and the number of its GPUs in each of them.
    shape: (u64, u64),
    /// The topology of one communicator, with its GPUs' network ports, if a system is given.
    alone: Option<String>,
}

impl Place {
    pub(crate) fn of_system(spec: &str) -> Result<Self, Failure> {
        let at = Text::flag("--system", spec);
        let Expanded { topology, machine } =
            system::expand(spec).map_err(|e| {
                let own = "`swapmeet list systems` shows all; docs/gpu.md, `Your own cluster`, says how to describe others with nics=, floor_us= and fabric_factor=";
                let near: Vec<String> = e.near.iter().map(|name| format!("`{name}`")).collect();
                let near = match near.is_empty() {
                    true => String::new(),
                    false => format!("did you mean {}? ", near.join(" or ")),
                };
                let name = spec.split(':').next().unwrap_or(spec);
                let is_known = system::systems().iter().any(|system| system.name == name);
                let error = spec_error(&at, &e);
                if is_known { error } else { error.help(near + own) }
            })?;
        let ranks = topology::parse(&topology).map_err(Failure::usage)?.nodes();
        let (name, shape) = spec.split_once(':').unwrap_or((spec, ""));
        let shape = shape.split(',').next().unwrap_or(shape);
        let (domains, gpus) = shape.split_once('x').unwrap_or(("1", "1"));
        let number = |text: &str| text.parse().unwrap_or(1);
        let known = system::systems().iter().find(|system| system.name == name);
        let system = known.map(|system| (system, number(domains), number(gpus)));
        Ok(Self { name: spec.to_owned(), topology, machine, ranks, system, split: None })
    }

    pub(crate) fn of_specs(topology: &str, machine: &str) -> Result<Self, Failure> {
        let at = Text::flag("--topology", topology);
        let network = topology::parse(topology).map_err(|e| spec_error(&at, &e))?;
        Ok(Self {
            name: format!("{}, {machine}", network.spec()),
            topology: network.spec(),
            machine: machine.to_owned(),
            ranks: network.nodes(),
            system: None,
            split: None,
        })
    }

    /// Divides the ranks into the communicators that a log or the user's flags state.
    pub(crate) fn divided(self, stated: &Stated<'_>) -> Result<Self, String> {
        let stride = match stated.axes {
            Some(_) => None,
            None => axes_of_stride(stated.groups),
        };
        let stated = match &stride {
            Some([mesh, axis]) => Stated { axes: Some(axis), mesh: Some(mesh), ..*stated },
            None => *stated,
        };
        let Some((over, all)) = communicators(&stated, &self.topology)? else { return Ok(self) };
        // The library chooses its algorithm by the domains of a communicator.
        let gpus = self.system.map_or(u64::MAX, |(.., gpus)| gpus);
        let shapes: BTreeSet<(u64, u64)> = all
            .all()
            .map(|ranks| {
                let domains = ranks.iter().map(|rank| u64::from(*rank) / gpus);
                let domains = domains.collect::<BTreeSet<u64>>().len() as u64;
                (domains, ranks.len() as u64 / domains)
            })
            .collect();
        let whole = |(domains, gpus): &(u64, u64)| domains * gpus == all.size();
        let shape = match Vec::from_iter(shapes)[..] {
            [shape] if whole(&shape) => shape,
            _ => {
                return Err(format!(
                    "its communicators over `{over}` have different numbers of GPUs in a domain: expected the same number in each"
                ));
            }
        };
        let alone = self.system.map(|(system, ..)| {
            let nics = self.nics().unwrap_or(gpus);
            system.topology_with(shape.0, shape.1, (nics * shape.1).div_ceil(gpus))
        });
        let split = Split { over, count: all.count(), members: all.size(), shape, alone };
        Ok(Self { topology: all.network().spec(), split: Some(split), ..self })
    }

    pub(crate) fn members(&self) -> u64 {
        self.split.as_ref().map_or(self.ranks, |split| split.members)
    }

    /// If a system has several communicators, returns the place of a single one.
    fn alone(&self) -> Option<Self> {
        let topology = self.split.as_ref()?.alone.clone()?;
        let system = self.communicator();
        Some(Self { topology, system, ranks: self.members(), split: None, ..self.clone() })
    }

    pub(crate) fn with_nics(&self, nics: u64) -> Self {
        let arguments = self.topology.split(',').map(|argument| match argument.split_once('=') {
            Some(("nics", _)) => format!("nics={nics}"),
            _ => argument.to_owned(),
        });
        Self { topology: arguments.collect::<Vec<_>>().join(","), ..self.clone() }
    }

    pub(crate) fn own_parameters(&self) -> Vec<&str> {
        let settings = self.name.split(',').skip(1);
        settings.filter(|setting| setting.contains('=') && !setting.starts_with("mesh=")).collect()
    }

    pub(crate) fn nics(&self) -> Option<u64> {
        let mut arguments = self.topology.split(',');
        arguments.find_map(|argument| argument.strip_prefix("nics="))?.parse().ok()
    }

    /// Returns whether no two communicators share a network port or a link of a GPU.
    fn shares_no_link(&self) -> bool {
        self.system.zip(self.split.as_ref()).is_some_and(|((.., gpus), split)| {
            let (domains, own) = split.shape;
            domains == 1 || own == gpus || self.nics().is_some_and(|nics| nics >= gpus)
        })
    }

    pub(crate) fn communicator(&self) -> Option<(&'static System, u64, u64)> {
        let (system, domains, gpus) = self.system?;
        let (domains, gpus) = self.split.as_ref().map_or((domains, gpus), |split| split.shape);
        Some((system, domains, gpus))
    }

    pub(crate) fn has(&self, collective: &str, name: &str) -> bool {
        self.communicator().is_some_and(|(system, domains, gpus)| {
            system.library(collective, domains, gpus).iter().any(|of| of.name == name)
        })
    }

    /// Converts a size of nccl-tests (the bytes of the larger buffer) to the bytes of a block.
    pub(crate) fn block_bytes(&self, collective: &str, bytes: u64) -> u64 {
        if is_whole(collective) { bytes } else { bytes.div_ceil(self.members()).max(1) }
    }

    pub(crate) fn workload(&self, collective: &str, bytes: u64) -> String {
        let block = self.block_bytes(collective, bytes);
        let prefix =
            if collective == "alltoall" { String::new() } else { format!("{collective}/") };
        let over =
            self.split.as_ref().map_or(String::new(), |split| format!(",over={}", split.over));
        format!("{prefix}uniform:{}{over}", format_size(block))
    }
}

/// Returns whether the size of nccl-tests is that of a vector that is not divided among the ranks.
fn is_whole(collective: &str) -> bool {
    matches!(collective, "allreduce" | "broadcast" | "reduce")
}

/// Returns the ratio of bus bandwidth to algorithm bandwidth (nccl-tests, doc/PERFORMANCE.md).
pub(crate) fn bus_factor(collective: &str, ranks: u64) -> f64 {
    let n = ranks as f64;
    match collective {
        "allreduce" => 2.0 * (n - 1.0) / n,
        "allgather" | "reduce-scatter" | "alltoall" => (n - 1.0) / n,
        _ => 1.0,
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Prediction {
    pub us: f64,
    /// The library's name of the algorithm, or the spec that the user stated.
    pub algorithm: String,
    pub protocol: String,
    pub alone_us: Option<f64>,
    /// The times of all algorithms from which the library chooses, by name.
    pub of_library: BTreeMap<String, f64>,
    pub lower_bound_us: f64,
    pub outside_bytes: f64,
    pub inside_bytes: f64,
    /// This project's fastest schedule and its time, if the gain is at least [`GAIN`].
    pub better: Option<(String, f64)>,
}

impl Prediction {
    /// Returns the algorithm and its protocol, such as `ring/LL128`.
    pub(crate) fn choice(&self) -> String {
        let slash = if self.protocol.is_empty() { "" } else { "/" };
        format!("{}{slash}{}", self.algorithm, self.protocol)
    }
}

/// Predicts the time of a collective for each size. `algorithm` replaces the library's choice.
/// Returns `None` after an interrupt.
pub(crate) fn predict(
    place: &Place,
    collective: &str,
    sizes: &[u64],
    algorithm: Option<&str>,
    plugins: &PluginArgs,
) -> Result<Option<BTreeMap<u64, Prediction>>, Failure> {
    let registry = run::registry(plugins)?;
    let every = run::algorithms_of(&registry, collective);
    let sweep = Sweep { place, collective, sizes, plugins, registry: &registry };
    let library = sweep.library(algorithm, &every)?;
    let own = |spec: &String| Candidate::of_spec(spec, place);
    let every: Vec<Candidate> = every.iter().map(own).collect();
    let Some(of_library) = sweep.library_rows(&library)? else { return Ok(None) };
    let Some(of_all) = sweep.rows(&every)? else { return Ok(None) };
    let Some(moved) = sweep.moved_bytes(&library)? else { return Ok(None) };
    // Other variants of the library's own schedules are not suggested as faster schedules.
    let of_system = place.communicator().into_iter().flat_map(|(system, domains, gpus)| {
        system.library(collective, domains + 1, gpus).into_iter().map(|of| of.spec)
    });
    let known: Vec<String> = library.iter().map(|of| of.spec.clone()).chain(of_system).collect();
    let named = |row: &Record| library.iter().find(|of| is_same(&of.spec, &row.algorithm));
    let largest = sizes.iter().copied().max().unwrap_or(1).max(1) as f64;
    let mut predictions = BTreeMap::new();
    for (index, bytes) in sizes.iter().enumerate() {
        let own = of_size(&of_library, index, sizes);
        let times = own.iter().filter_map(|row| Some((named(row)?.name.clone(), time(row))));
        let times = times.collect();
        let Some(row) = fastest(own) else {
            let reason = of_library.iter().find(|row| !row.reason.is_empty());
            let reason = reason.map_or("no algorithm ran", |row| &row.reason);
            return Err(Failure::Usage(format!("{collective} on {}: {reason}", place.name)));
        };
        let of = named(row);
        let [outside, inside] = of.and_then(|of| moved.get(&of.spec)).copied().unwrap_or_default();
        let mut new = of_size(&of_all, index, sizes);
        new.retain(|row| !known.iter().any(|spec| is_same(spec, &row.algorithm)));
        let better = fastest(new).filter(|other| time(other) <= time(row) / GAIN);
        predictions.insert(
            *bytes,
            Prediction {
                us: time(row),
                algorithm: of.map_or(row.algorithm.clone(), |of| of.name.clone()),
                protocol: row.protocol.clone(),
                alone_us: row.alone_us,
                of_library: times,
                lower_bound_us: row.lower_bound_us.unwrap_or(0.0),
                outside_bytes: outside * *bytes as f64 / largest,
                inside_bytes: inside * *bytes as f64 / largest,
                better: better.map(|row| (row.algorithm.clone(), time(row))),
            },
        );
    }
    Ok(Some(predictions))
}

fn time(row: &Record) -> f64 {
    row.time_us.unwrap_or(f64::INFINITY)
}

fn fastest(rows: Vec<&Record>) -> Option<&Record> {
    rows.into_iter().min_by(|a, b| time(a).total_cmp(&time(b)))
}

fn of_size<'a>(rows: &'a [Record], index: usize, sizes: &[u64]) -> Vec<&'a Record> {
    let own = rows.iter().skip(index).step_by(sizes.len());
    own.filter(|row| row.status == Status::Ok && row.time_us.is_some()).collect()
}

/// Returns the rows of the library's algorithms, with all protocols. The rows are sorted by
/// algorithm, then by size.
pub(crate) fn library_rows(
    place: &Place,
    collective: &str,
    sizes: &[u64],
    plugins: &PluginArgs,
) -> Result<Option<Vec<Record>>, Failure> {
    let registry = run::registry(plugins)?;
    let sweep = Sweep { place, collective, sizes, plugins, registry: &registry };
    sweep.rows(&sweep.library(None, &[])?)
}

/// Returns the expected time of each size in µs, or `None` after an interrupt. `algorithm` replaces
/// the library's choice.
pub(crate) fn library_times(
    place: &Place,
    collective: &str,
    sizes: &[u64],
    algorithm: Option<&str>,
    plugins: &PluginArgs,
) -> Result<Option<Vec<f64>>, Failure> {
    let registry = run::registry(plugins)?;
    let every = run::algorithms_of(&registry, collective);
    let sweep = Sweep { place, collective, sizes, plugins, registry: &registry };
    let Some(rows) = sweep.library_rows(&sweep.library(algorithm, &every)?)? else {
        return Ok(None);
    };
    let best = (0..sizes.len()).map(|index| fastest(of_size(&rows, index, sizes)).map(time));
    Ok(Some(best.map(|us| us.unwrap_or(f64::INFINITY)).collect()))
}

/// Compares only the names, because a spec can omit parameters with default values.
fn is_same(spec: &str, algorithm: &str) -> bool {
    let name = |spec: &str| spec.split(':').next().unwrap_or_default().to_owned();
    spec == algorithm || name(spec) == name(algorithm)
}

struct Candidate {
    name: String,
    spec: String,
    /// The spec of the machine. It has only the protocols that the library has for this algorithm.
    machine: String,
}

impl Candidate {
    fn of_spec(spec: &str, place: &Place) -> Self {
        Self { name: spec.to_owned(), spec: spec.to_owned(), machine: place.machine.clone() }
    }
}

struct Sweep<'a> {
    place: &'a Place,
    collective: &'a str,
    sizes: &'a [u64],
    plugins: &'a PluginArgs,
    registry: &'a Registry,
}

impl Sweep<'_> {
    /// Returns the library's algorithms, or only `algorithm` if it is given. Without a system, the
    /// library's algorithms are unknown, so all algorithms in `every` are returned instead.
    fn library(
        &self,
        algorithm: Option<&str>,
        every: &[String],
    ) -> Result<Vec<Candidate>, Failure> {
        let own = |spec: &str| Candidate::of_spec(spec, self.place);
        let Some((system, domains, gpus)) = self.place.communicator() else {
            return Ok(match algorithm {
                Some(spec) => vec![own(spec)],
                None => every.iter().map(|spec| own(spec)).collect(),
            });
        };
        let machine = Machine::parse(&self.place.machine).map_err(Failure::usage)?;
        let known = |spec: &str| {
            let name = spec.split(':').next().unwrap_or_default();
            self.registry.algorithms().any(|algorithm| algorithm.name == name)
        };
        let all = system.library(self.collective, domains, gpus);
        let mut all: Vec<Candidate> = all
            .into_iter()
            .filter(|algorithm| known(&algorithm.spec))
            .map(|algorithm| Candidate {
                name: algorithm.name.to_owned(),
                machine: algorithm.machine(&machine).to_string(),
                spec: algorithm.spec,
            })
            .collect();
        if let Some(name) = algorithm {
            all.retain(|candidate| candidate.name == name);
            return Ok(if all.is_empty() { vec![own(name)] } else { all });
        }
        if all.is_empty() {
            return Err(Failure::Usage(format!(
                "it is not known how NCCL and RCCL run a {}: expected allreduce, allgather, reduce-scatter or alltoall, or name an algorithm with --algorithm",
                self.collective
            )));
        }
        Ok(all)
    }

    /// Returns the rows, and adds to each the time of a single communicator. If an algorithm cannot
    /// run on all communicators, and they share no links, its row is that of a single communicator.
    fn library_rows(&self, candidates: &[Candidate]) -> Result<Option<Vec<Record>>, Failure> {
        let Some(mut rows) = self.rows(candidates)? else { return Ok(None) };
        let Some(place) = self.place.alone() else { return Ok(Some(rows)) };
        let Some(alone) = (Sweep { place: &place, ..*self }).rows(candidates)? else {
            return Ok(None);
        };
        for (row, alone) in rows.iter_mut().zip(alone) {
            let alone_us = alone.time_us;
            if row.status == Status::Unsupported && self.place.shares_no_link() {
                *row = alone;
            }
            row.alone_us = alone_us;
        }
        Ok(Some(rows))
    }

    fn rows(&self, candidates: &[Candidate]) -> Result<Option<Vec<Record>>, Failure> {
        // Sizes can have the same block size, but duplicate workloads are refused.
        let mut workloads: Vec<String> = Vec::new();
        let of_size: Vec<usize> = self
            .sizes
            .iter()
            .map(|bytes| {
                let workload = self.place.workload(self.collective, *bytes);
                workloads.iter().position(|known| *known == workload).unwrap_or_else(|| {
                    workloads.push(workload);
                    workloads.len() - 1
                })
            })
            .collect();
        let mut all = Vec::new();
        for Candidate { spec, machine, .. } in candidates {
            let lists = SpecLists {
                topologies: std::slice::from_ref(&self.place.topology),
                algorithms: std::slice::from_ref(spec),
                workloads: &workloads,
                machines: std::slice::from_ref(machine),
                systems: &[],
            };
            let cases = run::cases_with(lists, 42, None, || Ok(self.registry))?;
            let Some(rows) = run::collect(&cases, None, self.plugins)? else { return Ok(None) };
            all.extend(of_size.iter().map(|workload| rows[*workload].clone()));
        }
        Ok(Some(all))
    }

    /// Returns how many bytes each algorithm moves over the busiest network port and over the
    /// busiest link of a GPU, for the largest size. For each of these two kinds of links, cases run
    /// on a machine on which only bytes on this kind take time. The time in µs is then the number
    /// of bytes.
    fn moved_bytes(
        &self,
        candidates: &[Candidate],
    ) -> Result<Option<BTreeMap<String, [f64; 2]>>, Failure> {
        const MACHINE: &str = "free:model=pipelined,byte_us=1";
        const FAST: f64 = 1e5;
        let mut moved = BTreeMap::new();
        let largest = self.sizes.iter().copied().max();
        let Some(largest) = largest.filter(|_| self.place.system.is_some()) else {
            return Ok(Some(moved));
        };
        for (kind, inside) in [FAST, 1.0 / FAST].into_iter().enumerate() {
            let with_inside = |topology: &str| {
                let arguments =
                    topology.split(',').map(|argument| match argument.split_once('=') {
                        Some(("inside", _)) => format!("inside={inside}"),
                        _ => argument.to_owned(),
                    });
                arguments.collect::<Vec<_>>().join(",")
            };
            let mut place = Place {
                topology: with_inside(&self.place.topology),
                machine: MACHINE.to_owned(),
                ..self.place.clone()
            };
            if let Some(alone) = place.split.as_mut().and_then(|split| split.alone.as_mut()) {
                *alone = with_inside(alone);
            }
            let probe = Sweep { place: &place, sizes: &[largest], ..*self };
            let own = |of: &Candidate| Candidate::of_spec(&of.spec, &place);
            let candidates: Vec<Candidate> = candidates.iter().map(own).collect();
            let Some(rows) = probe.library_rows(&candidates)? else { return Ok(None) };
            for (Candidate { spec, .. }, row) in candidates.into_iter().zip(rows) {
                // With this machine, a byte on the link of a GPU takes 1/`inside` µs.
                let bytes = row.time_us.unwrap_or(0.0) * if kind == 0 { 1.0 } else { inside };
                moved.entry(spec).or_insert([0.0; 2])[kind] = bytes;
            }
        }
        Ok(Some(moved))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    Floor,
    StartUps,
    Nic,
    NvLink,
    Links,
}

impl Limit {
    pub(crate) fn of(place: &Place, prediction: &Prediction) -> Self {
        let Some((system, domains, _)) = place.communicator() else { return Self::Links };
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

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::StartUps => "start-ups",
            Self::Nic => "NIC",
            Self::NvLink => "NVLink or xGMI",
            Self::Links => "links",
        }
    }

    pub(crate) fn usage(self, place: &Place, prediction: &Prediction, us: f64) -> String {
        let Some((system, _, gpus)) = place.system else { return String::new() };
        match self {
            Self::Nic => {
                // Only the ports of participating GPUs count, because a host can have more GPUs.
                let share = prediction.outside_bytes / us / 1e3 / system.port_gbps;
                let each = place.nics().unwrap_or(0) as f64 / gpus as f64;
                let of_host = each * gpus.min(system.gpus_per_host) as f64;
                let gbps = system.port_gbps * of_host;
                let physical = of_host * system.physical_ports as f64;
                let plural = if physical == 1.0 { "" } else { "s" };
                format!(
                    "NIC {} of {} GB/s per host = {:.2} of {physical} port{plural}",
                    rounded(share * gbps),
                    rounded(gbps),
                    share * physical
                )
            }
            Self::NvLink => {
                let gbps = prediction.inside_bytes / us / 1e3;
                format!("link of a GPU {gbps:.0} of {} GB/s", system.inside_gbps)
            }
            Self::Floor => format!("least time of a collective, {} µs", floor_us(place)),
            Self::StartUps | Self::Links => self.word().to_owned(),
        }
    }

    /// For a time that is low, describes which part of the limiting resource's rate was reached.
    pub(crate) fn reached(self, place: &Place, prediction: &Prediction, us: f64) -> String {
        let usage = self.usage(place, prediction, us);
        let Some((system, ..)) = place.system else { return usage };
        let (name, share) = match self {
            Self::Nic => ("NIC", prediction.outside_bytes / us / 1e3 / system.port_gbps),
            Self::NvLink => {
                ("link of a GPU", prediction.inside_bytes / us / 1e3 / system.inside_gbps)
            }
            _ => return usage,
        };
        let detail = usage.strip_prefix(name).unwrap_or(&usage).trim_start();
        format!("the {name} should limit; {share:.2} of its rate was reached ({detail})")
    }
}

fn rounded(gbps: f64) -> String {
    match gbps {
        gbps if gbps >= 100.0 || (gbps - gbps.round()).abs() < 1e-9 => format!("{gbps:.0}"),
        gbps if gbps >= 10.0 => format!("{gbps:.1}"),
        _ => format!("{gbps:.2}"),
    }
}

/// Returns the floor, which is the least time of any collective on the machine.
pub(crate) fn floor_us(place: &Place) -> f64 {
    let machine = Machine::parse(&place.machine).ok();
    machine.and_then(|machine| machine.number("floor_us")).unwrap_or(0.0)
}
