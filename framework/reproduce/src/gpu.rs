//! Measurements of collectives by NCCL, RCCL and similar libraries on clusters of GPUs, and
//! predictions for them. Each row names a system, which stands for a topology and a machine. The
//! time of each candidate, an algorithm with its protocols, is that of a verified schedule. If a
//! row does not state the algorithm and the protocol, the prediction is the shortest time of all
//! candidates.

use crate::bench::ReproduceError;
use crate::engine::{Engine, Specs};
use crate::formula::Value;
use crate::judge;
use crate::library::{Algorithm, Candidate, Place};
use crate::nccl;
use std::collections::{BTreeMap, BTreeSet};
use swapmeet_bridges::fit::linear::error_factor;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::spec::format_size;
use swapmeet_core::system::LibraryAlgorithm;

const TIMES: &str = include_str!("../../../results/measured/gpu/nccl-tests.csv");
const WINNERS: &str = include_str!("../../../results/measured/gpu/aws-winners.csv");

pub const AWS_SOURCE: &str = "aws/aws-ofi-nccl 2daf7d3, Apache-2.0";

/// The algorithm and the protocol that were the fastest in a measurement that AWS made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Winner {
    pub collective: String,
    /// The size as in nccl-tests: of the vector of an allreduce, otherwise of the larger buffer.
    pub bytes: u64,
    /// The name in [`swapmeet_core::system::Counterpart`].
    pub algorithm: String,
    pub protocol: String,
}

/// Returns the cells of AWS's tables for a system such as `p5:2x8`; empty if there are none.
pub fn aws_winners(system: &str) -> Vec<Winner> {
    let rows = table(WINNERS).expect("the committed table can be read");
    let of_system = rows.into_iter().filter(|row| row["system"] == system);
    of_system
        .map(|row| Winner {
            collective: row["collective"].clone(),
            bytes: row["bytes"].parse().expect("a size is a number"),
            algorithm: row["algorithm"].replace("nvls-tree", "nvlstree"),
            protocol: row["protocol"].clone(),
        })
        .collect()
}

/// Formulas can call these calculations, and those of [`judge::call`]:
/// - `gpu.points(constants)`: the measured rows, each with predictions. `constants` is a map from
///   the set of a row, or from `all`, to the settings of the machine `nccl`. The keys of a point
///   are `set`, `system`, `collective`, `algorithm`, `protocol`, `bytes`, `us` and `is_scored`, and
///   for predictions `predicted`, `chosen`, `nccl` and `sheet`.
/// - `gpu.winners(constants, most_gpus)`: the cells of AWS's tables for at most `most_gpus` GPUs.
///   `constants` is a map from a platform to its settings.
/// - `gpu.tuning(_)`: values in published logs, next to those of the formulas of [`nccl`].
/// - `gpu.factor(pairs)`: the error factor of pairs of a predicted and a measured time.
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

/// The predicted time, the algorithm and the protocol.
type Choice = (f64, Algorithm, String);

/// Returns the machine at a place. `constants`, such as `launch_us=9`, change the preset `nccl`.
fn machine(
    place: &Place,
    (constants, floor_us): (&str, Option<f64>),
    algorithm: &LibraryAlgorithm,
) -> Result<Machine, ReproduceError> {
    let spec = format!("{},{constants}", place.kind.machine(place.domains));
    let machine = Machine::parse(spec.trim_end_matches(',')).map_err(|e| e.to_string())?;
    let machine = algorithm.machine(&machine);
    let Some(floor) = floor_us.map(|us| us.to_string()) else { return Ok(machine) };
    machine.with(&[("floor_us", &*floor)]).map_err(|(_, e)| e.to_string().into())
}

/// What to predict: a place, its constants, its floor (the least time of a collective) if it is
/// known, and the algorithms from which the library chooses.
type Wanted = (Place, String, Option<f64>, Vec<Candidate>);

/// Returns the candidates of each place with their times. The fastest candidate is the first.
fn predict(engine: &Engine<'_>, wanted: &[Wanted]) -> Result<Vec<Vec<Choice>>, ReproduceError> {
    // All runs are collected first, so that those with the same schedule are made together.
    let mut candidates = Vec::new();
    for (place, constants, floor_us, algorithms) in wanted {
        let mut of_place = Vec::new();
        for (algorithm, own) in algorithms {
            let specs = Specs {
                topology: place.kind.topology(place.domains, place.gpus),
                algorithm: own.spec.clone(),
                workload: place.workload(),
                machine: machine(place, (constants, *floor_us), own)?.to_string(),
                seeds: 1,
            };
            of_place.push((*algorithm, specs));
        }
        candidates.push(of_place);
    }
    let runs: BTreeSet<Specs> = candidates.iter().flatten().map(|(_, run)| run.clone()).collect();
    engine.run_all(runs)?;
    let mut predicted = Vec::new();
    for of_place in candidates {
        let mut choices: Vec<Choice> = Vec::new();
        for (algorithm, specs) in of_place {
            let outcome = engine.outcome(&specs)?;
            let row = &outcome.0[0];
            let us = row.time_us.ok_or_else(|| format!("{specs:?} has no time: {}", row.reason))?;
            choices.push((us, algorithm, row.protocol.clone()));
        }
        choices.sort_by(|a, b| a.0.total_cmp(&b.0));
        predicted.push(choices);
    }
    Ok(predicted)
}

fn table(text: &str) -> Result<Vec<BTreeMap<String, String>>, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader.deserialize().collect::<Result<_, _>>().map_err(|e| e.to_string())
}

fn settings(constants: &Value, key: &str) -> Result<String, String> {
    let Value::Map(all) = constants else { return Err("constants are no map".to_owned()) };
    let settings = all.get(key).or_else(|| all.get("all"));
    Ok(settings.ok_or_else(|| format!("there are no constants for `{key}`"))?.text())
}

/// Returns the time by the data sheet: only that of the bytes at the stated bandwidths.
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

/// Rows with these words in their notes are not compared: their authors or we doubt them.
const DOUBTED: [&str; 3] = ["unstable", "implausible", "suspected fault"];

fn points(engine: &Engine<'_>, constants: &Value) -> Result<Value, ReproduceError> {
    let rows = table(TIMES)?;
    let us = |row: &BTreeMap<String, String>| row["time_us"].parse::<f64>();
    // The floor (least time) of a log is the geometric mean of its times for up to 4 KiB.
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
    // Only the kernels of NCCL and RCCL are predicted.
    let known = |row: &&BTreeMap<String, String>| {
        row["library"].contains("CCL")
            && !row["library"].contains("MSCCL")
            && (row["algorithm"].is_empty() || Algorithm::named(&row["algorithm"]).is_some())
    };
    let rows: Vec<_> = rows.iter().filter(known).collect();
    let mut wanted = Vec::new();
    for row in &rows {
        let place = Place::of(&row["system"], &row["collective"], &row["bytes"])?;
        let mut algorithms = place.library();
        if let Some(stated) = Algorithm::named(&row["algorithm"]) {
            algorithms.retain(|(algorithm, _)| *algorithm == stated);
        }
        for (_, own) in &mut algorithms {
            if own.protocols.contains(&row["protocol"].as_str()) {
                own.protocols.retain(|name| *name == row["protocol"]);
            }
        }
        wanted.push((place, settings(constants, &row["set"])?, floor(row), algorithms));
    }
    let predicted = predict(engine, &wanted)?;
    let mut all = Vec::new();
    for ((row, (place, _, floor_us, algorithms)), choices) in
        rows.into_iter().zip(&wanted).zip(predicted)
    {
        let (predicted_us, algorithm, protocol) = choices[0].clone();
        let candidates = algorithms
            .iter()
            .flat_map(|(algorithm, own)| own.protocols.iter().map(|name| (*algorithm, *name)));
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
            // If NCCL's model has no value, it is -1, because a formula cannot have an empty value.
            ("nccl", rival.unwrap_or(-1.0).into()),
            ("sheet", sheet_us(place).max(floor_us.unwrap_or(0.0)).into()),
        ]));
    }
    Ok(Value::List(all))
}

/// Returns predictions for AWS's cells. LL is a candidate only if a platform's tables name it.
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
        let mut algorithms = place.library();
        for (_, own) in &mut algorithms {
            own.protocols.retain(|name| named.contains(&(platform.as_str(), *name)));
        }
        wanted.push((place, settings(constants, platform)?, Some(0.0), algorithms));
    }
    let predicted = predict(engine, &wanted)?;
    let mut all = Vec::new();
    for (((row, platform), (place, _, _, algorithms)), choices) in
        rows.iter().zip(&platforms).zip(&wanted).zip(predicted)
    {
        let (_, algorithm, protocol) = &choices[0];
        let candidates = algorithms
            .iter()
            .flat_map(|(algorithm, own)| own.protocols.iter().map(|name| (*algorithm, *name)));
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

    /// All rows in the files of this program have a public address and one of these licences.
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

    /// Of two computers of eight H200 with 400 GB/s, a ring sends 15/8 of the vector out of each.
    #[test]
    fn the_data_sheet_counts_only_bytes() {
        let place = Place::parse("p5en:2x8", "allreduce", 8_000_000);
        assert!((sheet_us(&place) - 8e6 * 15.0 / 8.0 / 400e3).abs() < 1e-9);
        let place = Place::parse("p5en:2x8", "alltoall", 16_000_000);
        assert!((sheet_us(&place) - 8e6 / 50e3).abs() < 1e-9);
    }
}
