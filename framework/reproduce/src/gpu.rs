//! Measurements of collectives on clusters of GPUs by NCCL, RCCL and similar libraries, and the
//! predictions for them. Every row names a system, which stands for a topology and a machine.
//!
//! The library chooses an algorithm and a protocol, unless the row states them. The prediction is
//! then the shortest time of all candidates. Each candidate is a run of a verified schedule, except
//! those of [`nvls_us`].

use crate::bench::ReproduceError;
use crate::engine::{Engine, Specs};
use crate::formula::Value;
use crate::judge;
use crate::nccl;
use std::collections::{BTreeMap, BTreeSet};
use swapmeet_bridges::fit::linear::error_factor;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::spec::format_size;
use swapmeet_core::system::{self, System};

const TIMES: &str = include_str!("../../../results/measured/gpu/nccl-tests.csv");
const WINNERS: &str = include_str!("../../../results/measured/gpu/aws-winners.csv");

/// - `gpu.points(constants)`: the measured rows with their predictions. `constants` has the settings
///   of the machine `nccl`: those of the set of a row, if it has any, otherwise those of the key
///   `all`. The keys of a point are `set`, `system`, `collective`, `algorithm`, `protocol`, `bytes`,
///   `us` and `is_scored`, and the predictions `predicted`, `chosen`, `nccl` and `sheet`.
/// - `gpu.winners(constants, most_gpus)`: the cells of AWS's tables with at most this number of GPUs.
///   `constants` has the settings for each platform.
/// - `gpu.tuning(_)`: values of published logs, and those of the formulas of [`nccl`].
/// - `gpu.factor(pairs)`: the error factor of pairs of a predicted and a measured time.
/// - The calculations of [`judge::call`].
pub(crate) fn call(
    engine: &Engine<'_>,
    name: &str,
    arguments: &[Value],
) -> Result<Value, ReproduceError> {
    match (name, arguments) {
        ("gpu.points", [constants]) => points(engine, constants),
        ("gpu.winners", [constants, most_gpus]) => {
            winners(engine, constants, most_gpus.number()? as u64)
        }
        ("gpu.tuning", [_]) => {
            Ok(Value::List(nccl::logged().into_iter().map(Value::Map).collect()))
        }
        ("gpu.factor", [pairs]) => {
            let pair = |pair: &Value| match pair.list()? {
                [predicted, measured] => Ok((predicted.number()?, measured.number()?)),
                _ => Err(format!("{pair:?} is no pair")),
            };
            let pairs = pairs.list()?.iter().map(pair).collect::<Result<Vec<_>, String>>()?;
            Ok(error_factor(pairs.into_iter()).into())
        }
        _ => judge::call(name, arguments),
    }
}

/// The algorithms of a library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Algorithm {
    Ring,
    Tree,
    /// The reduction in the switch of a domain. Between domains, NCCL calls it NVLSTree.
    Nvls,
    Pat,
    /// Sends and receives in a group, for an all-to-all.
    PointToPoint,
}

impl Algorithm {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "ring" => Self::Ring,
            "tree" => Self::Tree,
            "nvls" | "nvls-tree" => Self::Nvls,
            "pat" => Self::Pat,
            "p2p" => Self::PointToPoint,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Tree => "tree",
            Self::Nvls => "nvls",
            Self::Pat => "pat",
            Self::PointToPoint => "p2p",
        }
    }

    /// Returns the spec of the algorithm of this project that sends the same messages; `None` if
    /// there is none.
    fn spec(self, place: &Place) -> Option<String> {
        Some(match (self, place.collective.as_str()) {
            (Self::Ring, "allreduce") => "ring-allreduce".to_owned(),
            (Self::Ring, "allgather") => "ring".to_owned(),
            (Self::Ring, "reduce-scatter") => "ring-reduce-scatter".to_owned(),
            (Self::Pat, "allgather") => "pat-allgather".to_owned(),
            (Self::Pat, "reduce-scatter") => "pat-reduce-scatter".to_owned(),
            (Self::PointToPoint, "alltoall") => "linear".to_owned(),
            // The model cuts messages into chunks itself, so there is one segment for each tree.
            (Self::Tree, "allreduce") => match place.gpus {
                1 => "two-tree-allreduce:segments=2".to_owned(),
                gpus => format!("two-tree-allreduce:segments=2,group={gpus}"),
            },
            _ => return None,
        })
    }

    /// Returns the protocols in which NCCL has the algorithm.
    fn protocols(self) -> &'static [&'static str] {
        match self {
            Self::Ring | Self::Tree => &["LL", "LL128", "Simple"],
            Self::Nvls | Self::Pat | Self::PointToPoint => &["Simple"],
        }
    }
}

/// A collective of a number of bytes on a system.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub kind: &'static System,
    pub domains: u64,
    /// The GPUs of a domain.
    pub gpus: u64,
    pub collective: String,
    /// The vector of an allreduce; otherwise the larger of a rank's two buffers.
    pub bytes: u64,
}

impl Place {
    fn of(system: &str, collective: &str, bytes: &str) -> Result<Self, String> {
        let wrong = || format!("`{system}` with `{bytes}` bytes is no measurement");
        let (name, shape) = system.split_once(':').ok_or_else(wrong)?;
        let kind = system::systems().iter().find(|kind| kind.name == name).ok_or_else(wrong)?;
        let (domains, gpus) = shape.split_once('x').ok_or_else(wrong)?;
        let number = |text: &str| text.parse().map_err(|_| wrong());
        Ok(Self {
            kind,
            domains: number(domains)?,
            gpus: number(gpus)?,
            collective: collective.to_owned(),
            bytes: number(bytes)?,
        })
    }

    /// Returns the place of a test, whose system and collective are known.
    #[cfg(test)]
    pub(crate) fn parse(system: &str, collective: &str, bytes: u64) -> Self {
        Self::of(system, collective, &bytes.to_string()).unwrap()
    }

    pub(crate) fn ranks(&self) -> u64 {
        self.domains * self.gpus
    }

    /// Returns whether the system has AMD's GPUs, on which RCCL runs.
    pub(crate) fn is_amd(&self) -> bool {
        self.kind.name.starts_with("mi")
    }

    fn workload(&self) -> String {
        let block = match self.collective.as_str() {
            "allreduce" => self.bytes,
            _ => self.bytes.div_ceil(self.ranks()),
        };
        format!("{}/uniform:{}", self.collective, format_size(block))
    }

    /// Returns the algorithms that the library can choose.
    fn library(&self) -> Vec<Algorithm> {
        let has_nvls = !self.is_amd() && self.kind.inside_gbps > 300.0 && self.gpus > 1;
        match self.collective.as_str() {
            "alltoall" => vec![Algorithm::PointToPoint],
            "allreduce" if has_nvls => vec![Algorithm::Ring, Algorithm::Tree, Algorithm::Nvls],
            "allreduce" => vec![Algorithm::Ring, Algorithm::Tree],
            _ if self.gpus == 1 => vec![Algorithm::Ring, Algorithm::Pat],
            _ => vec![Algorithm::Ring],
        }
    }
}

/// A time with the algorithm and the protocol that reach it.
type Choice = (f64, Algorithm, String);

/// Constants that replace those of the preset `nccl`.
#[derive(Debug, Clone)]
struct Constants {
    /// The settings of a machine as a spec lists them, such as `launch_us=9,protocols=LL:..`.
    settings: String,
    /// The start-up of NVLS in µs, and the fraction of the data sheet's bandwidth that it reaches.
    nvls: [f64; 2],
}

impl Constants {
    /// Reads settings such as `launch_us=9;nvls=34/0.7`. Both parts may be missing.
    fn read(text: &str) -> Result<Self, String> {
        let (settings, nvls) = text.split_once(";nvls=").unwrap_or((text, "34/0.7"));
        let nvls: Vec<f64> = nvls.split('/').filter_map(|number| number.parse().ok()).collect();
        let nvls = nvls.try_into().map_err(|_| format!("`{text}` has no values of NVLS"))?;
        Ok(Self { settings: settings.to_owned(), nvls })
    }

    /// Returns the machine of a place, with some of the protocols only.
    fn machine(
        &self,
        place: &Place,
        floor_us: Option<f64>,
        protocols: &[&str],
    ) -> Result<Machine, ReproduceError> {
        let spec = format!("{},{}", place.kind.machine(place.domains), self.settings);
        let machine = Machine::parse(spec.trim_end_matches(',')).map_err(|e| e.to_string())?;
        let list = machine.values().into_iter().find(|value| value.parameter.key() == "protocols");
        let list = list.ok_or_else(|| format!("{spec} has no protocols"))?.text;
        let kept: Vec<&str> = list
            .split('+')
            .filter(|one| one.split_once(':').is_some_and(|(name, _)| protocols.contains(&name)))
            .collect();
        let kept = kept.join("+");
        let mut settings = vec![("protocols", kept.as_str())];
        let floor = floor_us.map(|us| us.to_string());
        settings.extend(floor.as_deref().map(|us| ("floor_us", us)));
        machine.with(&settings).map_err(|(_, e)| e.to_string().into())
    }
}

/// Returns the time of NVLS, of which this project has no schedule yet. The formula has the terms of
/// the model `pipelined`: the longest chain of start-ups, the bytes on the busiest link, and the
/// pipeline. A GPU sends S (1 + 1/g) to the switch of its domain and receives as much, at a fraction
/// of the bandwidth of its own. Between domains are NCCL's two trees, in which a domain has K edges:
/// 1, 1.5 and 2 for 2, 3, and more domains. So K S leave it.
fn nvls_us(
    place: &Place,
    machine: &Machine,
    [startup_us, fraction]: [f64; 2],
) -> Result<f64, ReproduceError> {
    let number = |key| machine.number(key).ok_or_else(|| format!("{machine} has no `{key}`"));
    let list = machine.values().into_iter().find(|value| value.parameter.key() == "protocols");
    let text = list.map(|value| value.text).unwrap_or_default();
    let outside = text.split('/').nth(1).and_then(|us| us.parse::<f64>().ok());
    let outside_us = outside.ok_or_else(|| format!("{machine} has no protocol"))?;
    let (size, d, g) = (place.bytes as f64, place.domains as f64, place.gpus as f64);
    let edges = match place.domains {
        1 => 0.0,
        2 => 1.0,
        3 => 1.5,
        _ => 2.0,
    };
    let ports = place.kind.ports_per_host as f64 / place.kind.gpus_per_host as f64 * g;
    let by_ports = size / ports * number("byte_us")?;
    let inside = size / (place.kind.inside_gbps * 1e3 * fraction);
    let hops = 2.0 * d.log2().ceil();
    let chain_us = startup_us + hops * outside_us * number("fabric_factor")?;
    let bytes_us = (inside * (1.0 + 1.0 / g)).max(edges * by_ports);
    let filling_us = (2.0 * inside + hops * by_ports - bytes_us).max(0.0);
    let interval_us = number("chunk_startups")? * chain_us / (1.0 + hops);
    let pipeline_us = match filling_us > interval_us {
        true => 2.0 * (filling_us * interval_us).sqrt() - interval_us,
        false => filling_us,
    };
    let total = number("launch_us")? + chain_us + bytes_us + pipeline_us;
    Ok(total.max(number("floor_us")?))
}

/// A place whose times are predicted: its constants, its floor if it is known, and the algorithms
/// and protocols that the library can choose.
type Wanted = (Place, Constants, Option<f64>, Vec<(Algorithm, Vec<String>)>);

/// Predicts the times of places: for each place, the candidates with their times, the fastest
/// first.
fn predict(engine: &Engine<'_>, wanted: &[Wanted]) -> Result<Vec<Vec<Choice>>, ReproduceError> {
    // First collect all runs, so that those with the same schedule are run together.
    let mut runs = BTreeSet::new();
    let mut candidates = Vec::new();
    for (place, constants, floor_us, algorithms) in wanted {
        let mut of_place = Vec::new();
        for (algorithm, protocols) in algorithms {
            let names: Vec<&str> = protocols.iter().map(String::as_str).collect();
            match algorithm.spec(place) {
                Some(spec) => {
                    let machine = constants.machine(place, *floor_us, &names)?;
                    let specs = Specs {
                        topology: place.kind.topology(place.domains, place.gpus),
                        algorithm: spec,
                        workload: place.workload(),
                        machine: machine.to_string(),
                        seeds: 1,
                    };
                    runs.insert(specs.clone());
                    of_place.push((*algorithm, Err(specs)));
                }
                None => {
                    let machine = constants.machine(place, *floor_us, &names)?;
                    let us = nvls_us(place, &machine, constants.nvls)?;
                    of_place.push((*algorithm, Ok((us, names.concat()))));
                }
            }
        }
        candidates.push(of_place);
    }
    engine.run_all(runs)?;
    let mut predicted = Vec::new();
    for of_place in candidates {
        let mut choices: Vec<Choice> = Vec::new();
        for (algorithm, run) in of_place {
            choices.push(match run {
                Ok((us, protocol)) => (us, algorithm, protocol),
                Err(specs) => {
                    let outcome = engine.outcome(&specs)?;
                    let row = &outcome.0[0];
                    let us = row.time_us.ok_or_else(|| format!("{specs:?} has no time"))?;
                    (us, algorithm, row.protocol.clone())
                }
            });
        }
        choices.sort_by(|a, b| a.0.total_cmp(&b.0));
        predicted.push(choices);
    }
    Ok(predicted)
}

/// Reads a file with a header. Returns the fields of each row by the names of the columns.
fn table(text: &str) -> Result<Vec<BTreeMap<String, String>>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().map_err(|e| e.to_string())
}

fn settings(constants: &Value, key: &str) -> Result<Constants, String> {
    let Value::Map(all) = constants else { return Err("constants are no map".to_owned()) };
    let settings = all.get(key).or_else(|| all.get("all"));
    Constants::read(&settings.ok_or_else(|| format!("there are no constants for `{key}`"))?.text())
}

/// Returns the time by the data sheet: the bytes at its bandwidths, and nothing else.
fn sheet_us(place: &Place) -> f64 {
    let (size, n, g) = (place.bytes as f64, place.ranks() as f64, place.gpus as f64);
    let ports = place.kind.ports_per_host as f64 / place.kind.gpus_per_host as f64;
    let (inside, outside) = match place.collective.as_str() {
        "alltoall" => ((g - 1.0) / n * size, (n - g) / n * size),
        collective => {
            let rounds = if collective == "allreduce" { 2.0 } else { 1.0 };
            let leaves = if place.domains > 1 { 1.0 / g } else { 0.0 };
            let sent = rounds * (n - 1.0) / n * size;
            (if g > 1.0 { sent } else { 0.0 }, sent * leaves)
        }
    };
    let nic = place.kind.port_gbps * ports * 1e3;
    (inside / (place.kind.inside_gbps * 1e3)).max(outside / nic)
}

fn map<const N: usize>(keys: [(&str, Value); N]) -> Value {
    Value::Map(keys.map(|(key, value)| (key.to_owned(), value)).into())
}

/// Rows with these words in their notes are not compared: their authors or ours doubt them.
const DOUBTED: [&str; 3] = ["unstable", "implausible", "suspected fault"];

fn points(engine: &Engine<'_>, constants: &Value) -> Result<Value, ReproduceError> {
    let rows = table(TIMES)?;
    let us = |row: &BTreeMap<String, String>| row["time_us"].parse::<f64>();
    // The floor of a log is the geometric mean of its times of up to 4 KiB.
    let mut small: BTreeMap<[&str; 2], Vec<f64>> = BTreeMap::new();
    for row in &rows {
        let bytes: u64 = row["bytes"].parse().map_err(|_| format!("no bytes in {row:?}"))?;
        if bytes <= 4096 {
            let us = us(row).map_err(|e| e.to_string())?;
            small.entry([&row["set"], &row["system"]]).or_default().push(us.ln());
        }
    }
    let floor = |row: &BTreeMap<String, String>| {
        let logs = small.get(&[row["set"].as_str(), row["system"].as_str()])?;
        let mean = (logs.iter().sum::<f64>() / logs.len() as f64).exp();
        Some((mean * 10.0).round() / 10.0)
    };
    // Other kernels than those of NCCL and RCCL are not predicted.
    let known = |row: &&BTreeMap<String, String>| {
        row["library"].contains("CCL")
            && !row["library"].contains("MSCCL")
            && (row["algorithm"].is_empty() || Algorithm::named(&row["algorithm"]).is_some())
    };
    let rows: Vec<_> = rows.iter().filter(known).collect();
    let mut wanted = Vec::new();
    for row in &rows {
        let place = Place::of(&row["system"], &row["collective"], &row["bytes"])?;
        let algorithms = match Algorithm::named(&row["algorithm"]) {
            Some(stated) => vec![stated],
            None => place.library(),
        };
        let protocols = |algorithm: Algorithm| {
            let all = algorithm.protocols();
            let stated = all.iter().filter(|name| **name == row["protocol"]).collect::<Vec<_>>();
            let names = if stated.is_empty() { all.iter().collect() } else { stated };
            names.into_iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()
        };
        let algorithms: Vec<_> = algorithms.into_iter().map(|a| (a, protocols(a))).collect();
        wanted.push((place, settings(constants, &row["set"])?, floor(row), algorithms));
    }
    let predicted = predict(engine, &wanted)?;
    let mut all = Vec::new();
    for ((row, (place, _, floor_us, algorithms)), choices) in
        rows.into_iter().zip(&wanted).zip(predicted)
    {
        let (predicted_us, algorithm, protocol) = choices[0].clone();
        let candidates = algorithms.iter().flat_map(|(algorithm, protocols)| {
            protocols.iter().map(move |protocol| (*algorithm, protocol.as_str()))
        });
        let rival = candidates.filter_map(|(a, p)| nccl::time_us(place, a, p));
        let rival = rival.reduce(f64::min).map(|us| us.max(floor_us.unwrap_or(0.0)));
        let text = |key: &str| Value::from(row[key].as_str());
        let is_scored = !DOUBTED.iter().any(|doubt| row["note"].contains(doubt));
        let band = match place.bytes {
            0..=65_536 => "small",
            65_537..=16_777_216 => "mid",
            _ => "large",
        };
        all.push(map([
            ("set", text("set")),
            ("system", text("system")),
            ("collective", text("collective")),
            ("algorithm", text("algorithm")),
            ("protocol", text("protocol")),
            ("note", text("note")),
            ("bytes", (place.bytes as f64).into()),
            ("size", format_size(place.bytes).as_str().into()),
            ("band", band.into()),
            ("workload", place.workload().as_str().into()),
            ("us", us(row).map_err(|e| e.to_string())?.into()),
            ("is_scored", is_scored.into()),
            ("predicted", predicted_us.into()),
            ("chosen", format!("{}/{protocol}", algorithm.name()).as_str().into()),
            // A formula cannot have an empty value, so that an absent one is -1.
            ("nccl", rival.unwrap_or(-1.0).into()),
            ("sheet", sheet_us(place).max(floor_us.unwrap_or(0.0)).into()),
        ]));
    }
    Ok(Value::List(all))
}

/// The cells of AWS's tables of the fastest algorithm and protocol. The tables of a platform without
/// LL never name it, so it is no candidate there.
fn winners(
    engine: &Engine<'_>,
    constants: &Value,
    most_gpus: u64,
) -> Result<Value, ReproduceError> {
    let mut rows = table(WINNERS)?;
    let mut kept = Vec::new();
    for row in rows.drain(..) {
        if Place::of(&row["system"], &row["collective"], &row["bytes"])?.ranks() <= most_gpus {
            kept.push(row);
        }
    }
    let rows = kept;
    let mut named: BTreeSet<(&str, &str)> = BTreeSet::new();
    let platform = |row: &BTreeMap<String, String>| {
        row["system"].split(':').next().unwrap_or_default().to_owned()
    };
    let platforms: Vec<String> = rows.iter().map(platform).collect();
    for (row, platform) in rows.iter().zip(&platforms) {
        named.insert((platform, &row["protocol"]));
    }
    let mut wanted = Vec::new();
    for (row, platform) in rows.iter().zip(&platforms) {
        let place = Place::of(&row["system"], &row["collective"], &row["bytes"])?;
        let protocols = |algorithm: Algorithm| {
            let all = algorithm.protocols().iter();
            let kept = all.filter(|name| named.contains(&(platform.as_str(), **name)));
            kept.map(|name| (*name).to_owned()).collect::<Vec<_>>()
        };
        let algorithms: Vec<_> = place.library().into_iter().map(|a| (a, protocols(a))).collect();
        wanted.push((place, settings(constants, platform)?, Some(0.0), algorithms));
    }
    let predicted = predict(engine, &wanted)?;
    let mut all = Vec::new();
    for (((row, platform), (place, _, _, algorithms)), choices) in
        rows.iter().zip(&platforms).zip(&wanted).zip(predicted)
    {
        let (_, algorithm, protocol) = &choices[0];
        let candidates = algorithms.iter().flat_map(|(algorithm, protocols)| {
            protocols.iter().map(move |protocol| (*algorithm, protocol.as_str()))
        });
        let rival = candidates
            .filter_map(|(a, p)| Some((nccl::time_us(place, a, p)?, a, p)))
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let measured = Algorithm::named(&row["algorithm"])
            .ok_or_else(|| format!("no algorithm in {row:?}"))?;
        let is_same = |a: Algorithm| a == measured;
        let with_protocol = |p: &str| p == row["protocol"];
        all.push(map([
            ("platform", platform.as_str().into()),
            ("system", row["system"].as_str().into()),
            ("collective", row["collective"].as_str().into()),
            ("size", format_size(place.bytes).as_str().into()),
            ("measured", format!("{}/{}", measured.name(), row["protocol"]).as_str().into()),
            ("ours", format!("{}/{protocol}", algorithm.name()).as_str().into()),
            ("is_right", is_same(*algorithm).into()),
            ("is_right_with_protocol", (is_same(*algorithm) && with_protocol(protocol)).into()),
            ("nccl_is_right", rival.is_some_and(|(_, a, _)| is_same(a)).into()),
            (
                "nccl_is_right_with_protocol",
                rival.is_some_and(|(_, a, p)| is_same(a) && with_protocol(p)).into(),
            ),
            ("is_ring", is_same(Algorithm::Ring).into()),
        ]));
    }
    Ok(Value::List(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows under a licence that does not permit them here, and rows without a public address, are
    /// in none of the files of this program.
    #[test]
    fn every_row_names_its_source_and_a_licence_that_permits_it() {
        const LICENCES: [&str; 6] =
            ["Apache-2.0", "CC BY 4.0", "MIT", "MIT-0", "UPL-1.0", "NCCL (Apache-2.0)"];
        for text in [TIMES, WINNERS] {
            let rows = table(text).unwrap();
            assert!(rows.len() > 300);
            for row in rows {
                assert!(LICENCES.contains(&row["licence"].as_str()), "{row:?}");
                let source = &row["source"];
                let is_address = source.starts_with("https://") || source.contains('/');
                assert!(is_address && !source.contains("id "), "{row:?}");
            }
        }
    }

    /// On H200, algorithm bandwidth times (1 + 1/g) is nearly constant: 311, 305, 307 and 304 GB/s
    /// for 5 to 8 GPUs, as measured by S. Bekman, Machine Learning Engineering (network/README.md).
    #[test]
    fn the_bandwidth_of_nvls_follows_the_number_of_gpus() {
        let constants = Constants::read("").unwrap();
        for (gpus, gbps) in [(5, 311.0), (6, 305.0), (7, 307.0), (8, 304.0)] {
            let system = format!("p5en:1x{gpus}");
            let place = Place::parse(&system, "allreduce", 1 << 33);
            let machine = constants.machine(&place, None, &["Simple"]).unwrap();
            let us = nvls_us(&place, &machine, constants.nvls).unwrap();
            let found = 8_589_934_592.0 / us / 1e3 * (1.0 + 1.0 / gpus as f64);
            assert!((found / gbps - 1.0_f64).abs() < 0.05, "{gpus}: {found} GB/s");
        }
    }

    /// Two computers of eight H200 with 400 GB/s: an allreduce by a ring sends 15/8 of the vector
    /// out of a computer.
    #[test]
    fn the_data_sheet_counts_only_bytes() {
        let place = Place::parse("p5en:2x8", "allreduce", 8_000_000);
        assert!((sheet_us(&place) - 8e6 * 15.0 / 8.0 / 400e3).abs() < 1e-9);
        let place = Place::parse("p5en:2x8", "alltoall", 16_000_000);
        assert!((sheet_us(&place) - 8e6 / 50e3).abs() < 1e-9);
    }
}
