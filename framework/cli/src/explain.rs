//! `swapmeet explain` compares measured times with those that a system should reach.

use crate::args::{ExpectArgs, ExpectFormat, ExplainArgs, ExplainFormat, PluginArgs};
use crate::failure::{ExitStatus, Failure, INTERRUPTED, SOME_FAILED, SUCCESS};
use crate::say::say;
use crate::split::Stated;
use crate::{output, table};
use log::{Log, LogOfRun, Times};
use next_steps::{Case, MorePorts, counted, more_ports};
use prediction::{Limit, Place, Prediction, Split, bus_factor, floor_us, predict};
use serde_json::json;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use swapmeet_bridges::import::Opinion;
use swapmeet_core::spec::{format_size, parse_size};
use swapmeet_core::system;
use swapmeet_results::{Record, Status, Verified, duration};

mod log;
mod next_steps;
pub(crate) mod prediction;
mod second_opinion;

/// Limits for the ratio of the expected time to the measured time. The predictions are not fitted
/// to the logs. For large sizes, 80 % of the ratios were between 0.83 and 1.22, and 3 % were below
/// 0.7.
const LOW: f64 = 0.7;
const EXPECTED: [f64; 2] = [0.8, 1.25];
/// If the ratio of a size below [`LARGE`] is in this interval, there is no verdict on the size.
const NO_VERDICT: [f64; 2] = [0.5, 2.0];
/// The size in bytes from which a single low ratio is enough to fail a health check.
const LARGE: u64 = 64 << 20;
/// A remark names each size whose bandwidth is below this fraction of the next smaller size's.
const SLOWER: f64 = 0.9;
/// A remark names each size whose times out of place and in place differ by more than this part.
const UNSTABLE: f64 = 0.3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Low,
    AsExpected,
    High,
    None,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::AsExpected => "as expected",
            Self::High => "high",
            Self::None => "none",
        }
    }

    fn of_size(bytes: u64, ratio: f64) -> Self {
        let [least, most] = NO_VERDICT;
        match ratio {
            ratio if bytes < LARGE && (least..=most).contains(&ratio) => Self::None,
            ratio if ratio < LOW => Self::Low,
            ratio if ratio > EXPECTED[1] => Self::High,
            ratio if ratio >= EXPECTED[0] => Self::AsExpected,
            _ => Self::None,
        }
    }

    /// Returns the verdict on a log, based on its large sizes or, without any, on all sizes.
    fn of_log(sizes: &[(u64, f64)]) -> Self {
        let large: Vec<(u64, f64)> =
            sizes.iter().copied().filter(|(bytes, _)| *bytes >= LARGE).collect();
        let judged = if large.is_empty() { sizes } else { &large };
        let verdicts: Vec<Self> =
            judged.iter().map(|(bytes, ratio)| Self::of_size(*bytes, *ratio)).collect();
        let has = |verdict| verdicts.contains(&verdict);
        let mean = judged.iter().map(|(_, ratio)| ratio.ln()).sum::<f64>() / judged.len() as f64;
        let mean = mean.exp();
        match () {
            () if has(Self::Low) => Self::Low,
            () if has(Self::High) => Self::High,
            // The mean ratio of several sizes is more reliable than the ratio of one size.
            () if judged.len() > 1 && (EXPECTED[0]..=EXPECTED[1]).contains(&mean) => {
                Self::AsExpected
            }
            () if has(Self::AsExpected) && !has(Self::None) => Self::AsExpected,
            () => Self::None,
        }
    }
}

struct Line {
    bytes: u64,
    measured_us: f64,
    prediction: Prediction,
    limit: Limit,
    /// What NCCL's own model predicts for this size, if the log contains it.
    nccl: Option<Opinion>,
}

impl Line {
    fn ratio(&self) -> f64 {
        self.prediction.us / self.measured_us
    }
}

struct Explained {
    collective: String,
    place: Place,
    lines: Vec<Line>,
    /// The geometric mean of the measured times of sizes up to 4 KiB, if there are any.
    measured_floor_us: Option<f64>,
    verdict: Verdict,
    /// If the verdict is low with all network ports, but not with one port for each GPU, the ratio
    /// with one port of the size that decides the verdict.
    ratio_of_one_port: Option<f64>,
    remarks: Vec<String>,
}

impl Explained {
    fn fails(&self) -> bool {
        let is_low = |line: &Line| line.bytes >= LARGE && line.ratio() < LOW;
        self.ratio_of_one_port.is_none() && self.lines.iter().any(is_low)
    }
}

struct ExplainedRun {
    /// The first and the last line of the run; `None` if the log has only one run.
    lines: Option<[usize; 2]>,
    /// Whether the run has an error that makes a health check fail.
    is_broken: bool,
    /// The explanations of its collectives, or the reason why the run is left out.
    outcome: Result<Vec<Explained>, String>,
}

impl ExplainedRun {
    fn heading(&self, index: usize) -> Option<String> {
        let [first, last] = self.lines?;
        let end = match &self.outcome {
            Ok(all) => {
                let ranks = all.first().map(|explained| counted(explained.place.ranks, "rank"));
                ranks.map_or(String::new(), |ranks| format!(", {ranks}"))
            }
            Err(why) => format!(" left out: {why}"),
        };
        Some(format!("run {}: lines {first} to {last}{end}", index + 1))
    }
}

pub(crate) fn explain(args: &ExplainArgs) -> Result<ExitStatus, Failure> {
    let Some(runs) = explain_log(args)? else { return Ok(INTERRUPTED) };
    let written = |of_one: fn(&Explained) -> String, mark: &str| {
        let of_run = |(index, run): (usize, &ExplainedRun)| {
            let heading = run.heading(index).map(|heading| format!("{mark}{heading}\n"));
            let all = run.outcome.iter().flatten().map(of_one);
            heading.into_iter().chain(all).collect::<Vec<_>>().join("\n")
        };
        runs.iter().enumerate().map(of_run).collect::<Vec<_>>().join("\n")
    };
    let text = match args.format {
        ExplainFormat::Text => written(text, ""),
        ExplainFormat::Markdown => written(markdown, "# "),
        ExplainFormat::Json => {
            let document = match &runs[..] {
                [ExplainedRun { lines: None, outcome: Ok(all), .. }] => of_collectives(all),
                _ => json!({ "runs": runs.iter().map(json_of_run).collect::<Vec<_>>() }),
            };
            format!("{document:#}\n")
        }
    };
    output::print(&text)?;
    let fails =
        runs.iter().any(|run| run.is_broken || run.outcome.iter().flatten().any(Explained::fails));
    Ok(if fails { SOME_FAILED } else { SUCCESS })
}

/// Compares measured and expected times of each run. Returns `None` after an interrupt.
fn explain_log(args: &ExplainArgs) -> Result<Option<Vec<ExplainedRun>>, Failure> {
    let wrong = |why: String| Failure::Usage(format!("{}: {why}", args.log.display()));
    let place = match (&args.system, &args.topology, &args.machine) {
        (Some(system), ..) => Some(Place::of_system(system)?),
        (None, Some(topology), Some(machine)) => Some(Place::of_specs(topology, machine)?),
        _ => None,
    };
    let logs = Log::read_runs(&args.log, args.collective.as_deref())?;
    let mut runs = Vec::new();
    for LogOfRun { lines, log } in logs {
        let is_broken = log.is_err();
        let outcome = match (log, &place) {
            (Err(why), _) => Err(why),
            (Ok(log), None) => Err([log.question.clone(), Some(which_system(&log))]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("\n")),
            (Ok(Log { question: Some(question), .. }), Some(_)) => Err(question),
            (Ok(log), Some(place)) => match explain_run(args, &log, place) {
                Ok(None) => return Ok(None),
                Ok(Some(all)) => Ok(all),
                Err(Failure::Usage(why)) => Err(why),
                Err(other) => return Err(other),
            },
        };
        runs.push(ExplainedRun { lines, is_broken, outcome });
    }
    if runs.iter().any(|run| run.outcome.is_ok()) {
        return Ok(Some(runs));
    }
    let reason = |(index, run): (usize, &ExplainedRun)| {
        let why = run.outcome.as_ref().err().cloned().unwrap_or_default();
        run.lines.map_or(why.clone(), |[first, last]| {
            format!("run {}, lines {first} to {last}: {why}", index + 1)
        })
    };
    Err(wrong(runs.iter().enumerate().map(reason).collect::<Vec<_>>().join("\n")))
}

fn explain_run(
    args: &ExplainArgs,
    log: &Log,
    place: &Place,
) -> Result<Option<Vec<Explained>>, Failure> {
    if let Some(ranks) = log.ranks.filter(|ranks| *ranks != place.ranks) {
        let source = match log.source_of_ranks.as_str() {
            "" => String::new(),
            source => format!(" ({source})"),
        };
        let alone = if ranks == 1 {
            "; the processes of a program that was built without MPI measure alone"
        } else {
            ""
        };
        return Err(Failure::Usage(format!(
            "it has {}, but {} has {}{source}{alone}",
            counted(ranks, "rank"),
            place.name,
            place.ranks
        )));
    }
    let stated = Stated {
        groups: &log.communicators,
        ranks: log.ranks,
        line: 0,
        axes: args.axes.as_deref(),
        mesh: args.mesh.as_deref(),
    };
    let place = place.clone().divided(&stated).map_err(Failure::Usage)?;
    let mut all = Vec::new();
    for (collective, times) in &log.times(place.members()) {
        let sizes: Vec<u64> = times.keys().copied().collect();
        // The environment variable `NCCL_ALGO` may permit only one algorithm.
        let permitted = log.algorithm.filter(|name| place.has(collective, name));
        let algorithm = args.algorithm.as_deref().or(permitted);
        let Some(mut predictions) = predict(&place, collective, &sizes, algorithm, &args.plugins)?
        else {
            return Ok(None);
        };
        let communicator = second_opinion::communicator(log, &place);
        let opinion = |bytes| log.tuning.as_ref()?.opinion(collective, bytes, communicator);
        let lines: Vec<Line> = times
            .iter()
            .filter_map(|(bytes, times)| {
                let prediction = predictions.remove(bytes)?;
                let limit = Limit::of(&place, &prediction);
                let nccl = opinion(*bytes);
                Some(Line { bytes: *bytes, measured_us: times.us, prediction, limit, nccl })
            })
            .collect();
        let plugins = &args.plugins;
        let case = Case { log, collective, place: &place, algorithm, plugins };
        let Some(more) = more_ports(&place, collective, &sizes, algorithm, plugins)? else {
            return Ok(None);
        };
        let Some(steps) = case.after_low(&lines)? else { return Ok(None) };
        let mut explained = explained(log, collective, times, &place, lines, steps);
        if let Some(more) = more {
            explained.judge_with_one_port(more);
        }
        if let (None, Some(name)) = (&args.algorithm, permitted) {
            explained.remarks.insert(0, format!(
                "NCCL_ALGO permits only {name}, so no other algorithm of the library is expected (--algorithm names another)"
            ));
        }
        all.push(explained);
    }
    Ok(Some(all))
}

pub(crate) fn is_log(path: &Path) -> bool {
    let is_other = |e: &OsStr| e.eq_ignore_ascii_case("csv") || e.eq_ignore_ascii_case("toml");
    !path.extension().is_some_and(is_other) && Log::is_at(path)
}

pub(crate) type RowsAndNotes = (Vec<Record>, Vec<String>);

/// Returns rows, and verdicts in words, for the dashboard. Returns `None` after an interrupt.
pub(crate) fn rows_of_log(
    log: &Path,
    system: Option<&String>,
    plugins: &PluginArgs,
) -> Result<Option<RowsAndNotes>, Failure> {
    let args = ExplainArgs {
        log: log.to_owned(),
        system: system.cloned(),
        topology: None,
        machine: None,
        algorithm: None,
        collective: None,
        axes: None,
        mesh: None,
        format: ExplainFormat::Text,
        plugins: plugins.clone(),
    };
    let Some(runs) = explain_log(&args)? else { return Ok(None) };
    let row = |explained: &Explained, line: &Line| {
        let Explained { collective, place, .. } = explained;
        let Prediction { us, algorithm, protocol, lower_bound_us, alone_us, .. } = &line.prediction;
        let split = place.split.as_ref();
        let expected = Record {
            experiment: "explain".to_owned(),
            algorithm: "expected".to_owned(),
            collective: collective.clone(),
            topology: place.topology.clone(),
            nodes: place.ranks,
            workload: place.workload(collective, line.bytes),
            machine: place.machine.clone(),
            model: "pipelined".to_owned(),
            status: Status::Ok,
            verified: Verified::None,
            time_us: Some(*us),
            lower_bound_us: Some(*lower_bound_us),
            block_bytes: Some(place.block_bytes(collective, line.bytes)),
            protocol: protocol.clone(),
            communicators: split.map(|split| split.count),
            members: split.map(|split| split.members),
            alone_us: alone_us.filter(|_| split.is_some()),
            note: format!("{algorithm}; {}", line.limit.usage(place, &line.prediction, *us)),
            swapmeet_version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Record::default()
        };
        let measured = Record {
            algorithm: "measured".to_owned(),
            model: "measured".to_owned(),
            time_us: Some(line.measured_us),
            protocol: String::new(),
            alone_us: None,
            note: log.display().to_string(),
            ..expected.clone()
        };
        [measured, expected]
    };
    let of_one = |explained: &Explained| {
        explained.lines.iter().flat_map(|line| row(explained, line)).collect::<Vec<_>>()
    };
    let all = || runs.iter().flat_map(|run| run.outcome.iter().flatten());
    let left_out = runs.iter().enumerate().filter(|(_, run)| run.outcome.is_err());
    let mut notes: Vec<String> = all().map(Explained::sentence).collect();
    notes.extend(left_out.filter_map(|(index, run)| run.heading(index)));
    Ok(Some((all().flat_map(of_one).collect(), notes)))
}

/// Returns the error message that asks the user to state the system.
fn which_system(log: &Log) -> String {
    let found = match (log.gpus.iter().next(), log.ranks) {
        (Some(gpu), Some(ranks)) => format!("the log has {} on {gpu}", counted(ranks, "rank")),
        (None, Some(ranks)) => {
            format!("the log has {} and names no GPU", counted(ranks, "rank"))
        }
        (Some(gpu), None) => format!("the log names {gpu}"),
        (None, None) => "the log names neither GPUs nor ranks".to_owned(),
    };
    let is_like = |title: &str| {
        let models = log.gpus.iter().flat_map(|gpu| gpu.split([' ', '-']));
        let mut models = models.filter(|word| word.contains(|c: char| c.is_ascii_digit()));
        models.any(|model| title.split([' ', ',', ':']).any(|word| word == model))
    };
    let mut proposed: Vec<String> = system::systems()
        .iter()
        .filter(|system| is_like(system.title))
        .map(|system| {
            let domain = log.gpus_per_host().unwrap_or(system.gpus_per_domain);
            let domain = if system.gpus_per_domain > 8 { system.gpus_per_domain } else { domain };
            let ranks = log.ranks.unwrap_or(domain);
            let spec = match ranks.is_multiple_of(domain) {
                true => format!("{}:{}x{domain}", system.name, ranks / domain),
                false => format!("{}:1x{ranks}", system.name),
            };
            format!("{spec} ({})", system.title)
        })
        .collect();
    proposed.sort();
    let proposal = match proposed.is_empty() {
        true => "give --system NAME:NxM, N domains (hosts, or racks with NVLink) of M GPUs (`swapmeet list systems`), or --topology and --machine".to_owned(),
        false => format!(
            "give --system, with the number of domains (hosts, or racks with NVLink) and the GPUs of each, such as\n  {}\nwith nics=K if a domain has K network ports",
            proposed.join("\n  ")
        ),
    };
    format!("the system is unknown: {found}: {proposal}")
}

fn explained(
    log: &Log,
    collective: &str,
    times: &BTreeMap<u64, Times>,
    place: &Place,
    lines: Vec<Line>,
    next_steps: Vec<String>,
) -> Explained {
    let small: Vec<f64> =
        lines.iter().filter(|l| l.bytes <= 4096).map(|l| l.measured_us.ln()).collect();
    let mean = (small.iter().sum::<f64>() / small.len() as f64).exp();
    let measured_floor_us = (!small.is_empty()).then_some(mean);
    let mut remarks = log.omitted.clone();
    // The least time and the protocols of a system are NCCL's, so small sizes of MPI are not
    // judged.
    let is_other = log.is_mpi && place.system.is_some();
    let judged = lines.iter().filter(|line| !is_other || line.bytes >= LARGE);
    let ratios: Vec<(u64, f64)> = judged.map(|line| (line.bytes, line.ratio())).collect();
    let verdict = if ratios.is_empty() { Verdict::None } else { Verdict::of_log(&ratios) };
    if is_other {
        remarks.push(format!(
            "the log is of an MPI library, and the times of a system are those of NCCL or RCCL: only sizes from {} are judged",
            format_size(LARGE)
        ));
    }
    let again: Vec<String> = log.repeated.iter().map(|bytes| format_size(*bytes)).collect();
    if !again.is_empty() {
        remarks.push(format!(
            "measured several times, and the median is judged: {}",
            again.join(", ")
        ));
    }
    remarks.extend(next_steps);
    remarks.extend(ports_of_a_ring(collective, place, &lines));
    if log.has_lone_processes() {
        remarks.push(
            "a rank is on several hosts: the program was built without MPI, so that each host measured alone"
                .to_owned(),
        );
    }
    for (line, next) in lines.iter().zip(lines.iter().skip(1)) {
        if next.measured_us < 0.95 * line.measured_us {
            remarks.push(format!(
                "{} is faster than {} ({} and {}): the library changes its protocol or its algorithm at a wrong size",
                format_size(next.bytes),
                format_size(line.bytes),
                duration(next.measured_us),
                duration(line.measured_us)
            ));
        }
    }
    let slower = lines.iter().zip(lines.iter().skip(1)).filter_map(|(line, next)| {
        let bus = |line: &Line| {
            let factor = bus_factor(collective, place.members());
            line.bytes as f64 / line.measured_us / 1e3 * factor
        };
        (bus(next) < SLOWER * bus(line)).then(|| {
            format!(
                "{} ({:.2} GB/s after {:.2} GB/s at {})",
                format_size(next.bytes),
                bus(next),
                bus(line),
                format_size(line.bytes)
            )
        })
    });
    let slower: Vec<String> = slower.collect();
    if !slower.is_empty() {
        remarks.push(format!("a larger size is slower per byte: {}", slower.join(", ")));
    }
    let unstable = |bytes: &u64| {
        let times = times.get(bytes)?;
        let other = times.in_place_us.filter(|us| *us > 0.0)?;
        let factor = (times.us / other).max(other / times.us);
        (factor > 1.0 + UNSTABLE).then(|| format!("{} ({factor:.1})", format_size(*bytes)))
    };
    let unstable: Vec<String> = lines.iter().filter_map(|line| unstable(&line.bytes)).collect();
    if !unstable.is_empty() {
        remarks.push(format!(
            "unstable: out of place and in place differ by these factors: {}",
            unstable.join(", ")
        ));
    }
    if let Some(tuning) = &log.tuning {
        remarks.extend(second_opinion::remarks(tuning, collective, place, &lines));
    }
    if let Some(line) = lines.last() {
        let Prediction { lower_bound_us, better, us, alone_us, .. } = &line.prediction;
        if let (Some(split), Some(alone_us)) = (&place.split, alone_us) {
            let factor = us / alone_us;
            let why = if factor < 1.01 { "do not disturb each other" } else { "share links" };
            remarks.push(format!(
                "time/alone at {}: {factor:.2}; the {} communicators {why}, and one of them alone should take {}",
                format_size(line.bytes),
                split.count,
                duration(*alone_us)
            ));
        }
        remarks.push(format!(
            "lower bound at {}: {} for any schedule on this system",
            format_size(line.bytes),
            duration(*lower_bound_us)
        ));
        match better {
            Some((algorithm, better_us)) => remarks.push(format!(
                "a faster schedule at {}: {algorithm} would take {}, {:.2} times less than the library's best",
                format_size(line.bytes),
                duration(*better_us),
                us / better_us
            )),
            None => remarks.push(format!(
                "no schedule of this program gains 5 % over the library's best at {}",
                format_size(line.bytes)
            )),
        }
    }
    Explained {
        collective: collective.to_owned(),
        place: place.clone(),
        lines,
        measured_floor_us,
        verdict,
        ratio_of_one_port: None,
        remarks,
    }
}

/// If the measured bus bandwidth is low, returns a remark with the number of ports with which a
/// ring would reach it. In a ring, each domain sends to other domains at the bus bandwidth.
fn ports_of_a_ring(collective: &str, place: &Place, lines: &[Line]) -> Option<String> {
    let (system, domains, _) = place.communicator()?;
    let line = lines.last().filter(|line| line.bytes >= LARGE && line.ratio() < LOW)?;
    if domains == 1 || place.nics() == Some(1) || collective == "alltoall" || place.split.is_some()
    {
        return None;
    }
    let factor = bus_factor(collective, place.members());
    let bus = line.bytes as f64 / line.measured_us / 1e3 * factor;
    let [used, all] = [bus / system.port_gbps, place.nics()? as f64]
        .map(|ports| ports * system.physical_ports as f64);
    Some(format!(
        "a ring would reach the bus bandwidth of {}, {bus:.1} GB/s, with {used:.2} of the {all} network ports of a domain",
        format_size(line.bytes)
    ))
}

impl Explained {
    /// If the verdict is low, judges the log again as if each GPU used only one network port.
    fn judge_with_one_port(&mut self, more: MorePorts) {
        self.remarks.insert(0, more.remark);
        let ratio = |line: &Line, us: &f64| us / line.measured_us;
        let pairs = || self.lines.iter().zip(&more.one_port_us);
        let ratios: Vec<(u64, f64)> =
            pairs().map(|(line, us)| (line.bytes, ratio(line, us))).collect();
        if self.verdict != Verdict::Low || Verdict::of_log(&ratios) == Verdict::Low {
            return;
        }
        let bytes = decisive(&self.lines).map(|line| line.bytes);
        self.ratio_of_one_port =
            ratios.iter().find(|(size, _)| Some(*size) == bytes).map(|(_, ratio)| *ratio);
        self.verdict = Verdict::None;
    }

    fn title(&self) -> String {
        let Place { name, ranks, split, .. } = &self.place;
        let ranks = match split {
            Some(Split { over, count, members, .. }) => {
                format!("{count} communicators of {members} ranks (over={over})")
            }
            None => format!("{ranks} ranks"),
        };
        format!("{}, {ranks}, {name}", self.collective)
    }

    fn sentence(&self) -> String {
        let Some(line) = decisive(&self.lines) else {
            return "there is no time to judge".to_owned();
        };
        let size = format_size(line.bytes);
        let choice = line.prediction.choice();
        let usage = line.limit.usage(&self.place, &line.prediction, line.measured_us);
        let used = if usage.is_empty() { String::new() } else { format!("; {usage}") };
        let ratio = in_words(line.ratio());
        match self.verdict {
            Verdict::Low => {
                let reached = line.limit.reached(&self.place, &line.prediction, line.measured_us);
                let reached =
                    if reached.is_empty() { String::new() } else { format!("; {reached}") };
                let status = if self.fails() {
                    ""
                } else {
                    "; the exit status is 0, because only sizes from 64MiB fail a health check"
                };
                format!(
                    "LOW: at {size}, the speed is {ratio} of what {choice} should reach{reached}{status}"
                )
            }
            Verdict::AsExpected => format!(
                "AS EXPECTED: at {size}, the speed is {ratio} of what {choice} should reach{used}"
            ),
            Verdict::High => format!(
                "HIGH: at {size}, the speed is {ratio} of what {choice} should reach{used}; is the system right?"
            ),
            Verdict::None if self.ratio_of_one_port.is_some() => format!(
                "NO VERDICT: at {size}, the speed is {ratio} of what {choice} should reach with all ports, and {} of that with one port for each GPU",
                in_words(self.ratio_of_one_port.unwrap_or_default())
            ),
            Verdict::None => format!(
                "NO VERDICT: at {size}, the speed is {ratio} of what {choice} should reach, which is within the error of the prediction for such sizes{used}"
            ),
        }
    }

    fn trust(&self) -> String {
        const LARGE_SIZES: &str = "of sizes from 64 MiB in sets that were not fitted, 80 % of ratios are within 0.83 to 1.22 and 95 % within 0.69 to 1.29";
        const OTHER_SIZES: &str = "below 64 MiB, half and twice the predicted time are normal";
        let Some((system, ..)) = self.place.system else {
            return "the parameters of the machine are yours: nothing is known about their error"
                .to_owned();
        };
        let has_large = self.lines.iter().any(|line| line.bytes >= LARGE);
        let mut trust = (if has_large { LARGE_SIZES } else { OTHER_SIZES }).to_owned();
        if system.measured == system::DATA_SHEET_ONLY {
            trust += &format!(
                "; {} is {}: these sets are of other systems",
                system.name,
                system::DATA_SHEET_ONLY
            );
        }
        let own = self.place.own_parameters();
        if !own.is_empty() {
            trust += &format!("; {} is yours: nothing is known about its error", own.join(","));
        }
        trust
    }

    fn floor(&self) -> Option<String> {
        let expected = floor_us(&self.place);
        let us = self.measured_floor_us?;
        Some(format!("floor: {us:.1} µs measured at up to 4 KiB, {expected} µs expected"))
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let row = |line: &Line| {
            let us = &line.prediction.us;
            let bus = |us: f64| {
                let factor = bus_factor(&self.collective, self.place.members());
                format!("{:.2}", line.bytes as f64 / us / 1e3 * factor)
            };
            let mut row = vec![
                format_size(line.bytes),
                duration(line.measured_us),
                duration(*us),
                in_words(line.ratio()),
                bus(line.measured_us),
                bus(*us),
                line.prediction.choice(),
                line.limit.usage(&self.place, &line.prediction, line.measured_us),
            ];
            if self.has_nccl() {
                row.push(second_opinion::cell(line.nccl.as_ref()));
            }
            row
        };
        self.lines.iter().map(row).collect()
    }

    fn header(&self) -> Vec<&'static str> {
        let mut header = HEADER.to_vec();
        header.extend(self.has_nccl().then_some("NCCL"));
        header
    }

    fn has_nccl(&self) -> bool {
        self.lines.iter().any(|line| line.nccl.is_some())
    }
}

fn decisive(lines: &[Line]) -> Option<&Line> {
    let large = lines.iter().filter(|line| line.bytes >= LARGE);
    let decisive = large.min_by(|a, b| a.ratio().total_cmp(&b.ratio()));
    decisive.or_else(|| lines.last())
}

/// Formats a ratio with two decimals, or with four decimals if it is below 0.1.
fn in_words(ratio: f64) -> String {
    if ratio < 0.1 { format!("{ratio:.4}") } else { format!("{ratio:.2}") }
}

const HEADER: [&str; 8] =
    ["size", "measured", "expected", "ratio", "busbw", "expected busbw", "by", LIMITS];
const LIMITS: &str = "limits the expected run";

fn text(explained: &Explained) -> String {
    let mut text = format!("{}\n", explained.title());
    text += &table::plain(&explained.header(), &[0, 1, 2, 3, 4, 5], explained.rows());
    text += &format!("\n\n{}\n", explained.sentence());
    text.extend(explained.floor().map(|floor| format!("{floor}\n")));
    for remark in &explained.remarks {
        text += &format!("{remark}\n");
    }
    text + &format!("how far to trust this: {}\n", explained.trust())
}

fn markdown(explained: &Explained) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let mut text = format!("## {}\n\n**{}**\n\n", explained.title(), explained.sentence());
    let header: Vec<String> = explained.header().into_iter().map(str::to_owned).collect();
    text += &line(&header);
    text += &line(&vec!["---".to_owned(); header.len()]);
    text.extend(explained.rows().iter().map(|cells| line(cells)));
    text += "\n";
    text.extend(explained.floor().map(|floor| format!("- {floor}\n")));
    for remark in &explained.remarks {
        text += &format!("- {remark}\n");
    }
    text + &format!("- how far to trust this: {}\n", explained.trust())
}

/// Returns the JSON of the collective, or of the list of collectives if there are several.
fn of_collectives(all: &[Explained]) -> serde_json::Value {
    let mut documents: Vec<serde_json::Value> = all.iter().map(json).collect();
    match documents.len() {
        1 => documents.remove(0),
        _ => documents.into(),
    }
}

fn json_of_run(run: &ExplainedRun) -> serde_json::Value {
    let mut document = match &run.outcome {
        Ok(all) => match of_collectives(all) {
            serde_json::Value::Array(all) => json!({ "collectives": all }),
            document => document,
        },
        Err(why) => json!({ "left_out": why }),
    };
    if let Some([first, last]) = run.lines {
        document["first_line"] = json!(first);
        document["last_line"] = json!(last);
    }
    document
}

fn json(explained: &Explained) -> serde_json::Value {
    let size = |line: &Line| {
        let Prediction { us, algorithm, protocol, lower_bound_us, better, alone_us, .. } =
            &line.prediction;
        let mut size = json!({
            "bytes": line.bytes,
            "measured_us": line.measured_us,
            "expected_us": us,
            "ratio": line.ratio(),
            "bound_by": line.limit.word(),
            "usage": line.limit.usage(&explained.place, &line.prediction, line.measured_us),
            "algorithm": algorithm,
            "protocol": protocol,
            "lower_bound_us": lower_bound_us,
            "best_algorithm": better.as_ref().map_or(algorithm, |(name, _)| name),
        });
        if let Some(Opinion { algorithm, protocol, us, is_printed }) = &line.nccl {
            size["nccl"] = json!({
                "expected_us": us,
                "algorithm": algorithm,
                "protocol": protocol,
                "is_printed": is_printed,
            });
        }
        if explained.place.split.is_some() {
            size["alone_us"] = json!(alone_us);
        }
        size
    };
    let mut document = json!({
        "collective": explained.collective,
        "ranks": explained.place.ranks,
        "system": explained.place.name,
        "floor_us": explained.measured_floor_us,
        "expected_floor_us": floor_us(&explained.place),
        "verdict": explained.verdict.word(),
        "sentence": explained.sentence(),
        "remarks": explained.remarks,
        "sizes": explained.lines.iter().map(size).collect::<Vec<_>>(),
    });
    if let Some(Split { over, count, members, .. }) = &explained.place.split {
        document["over"] = json!(over);
        document["communicators"] = json!(count);
        document["members"] = json!(members);
    }
    document
}

pub(crate) fn expect(args: &ExpectArgs) -> Result<ExitStatus, Failure> {
    let place = Place::of_system(&args.system)?;
    let sizes = sizes_of(&args.sizes)?;
    let collective = args.collective.replace('_', "-");
    let collective = match collective.as_str() {
        "all-reduce" => "allreduce",
        "all-gather" => "allgather",
        "all-to-all" => "alltoall",
        other => other,
    };
    if place.ranks < 2 {
        let why =
            "has one GPU, and a collective needs at least two: expected a spec such as h100-ib:1x8";
        return Err(Failure::Usage(format!("--system `{}`: {why}", args.system)));
    }
    let Some(predictions) = predict(&place, collective, &sizes, None, &args.plugins)? else {
        return Ok(INTERRUPTED);
    };
    let Some(more) = more_ports(&place, collective, &sizes, None, &args.plugins)? else {
        return Ok(INTERRUPTED);
    };
    output::print(&expected(args.format, &place, collective, &predictions))?;
    if let Some(MorePorts { remark, .. }) = more {
        say!("warning: {remark}");
    }
    Ok(SUCCESS)
}

/// Parses a range of sizes such as `8..16GiB`.
pub(crate) fn sizes_of(range: &str) -> Result<Vec<u64>, Failure> {
    let wrong = || {
        let expected = "expected a size or a range of at least 1 byte, such as 8..16GiB";
        Failure::Usage(format!("--sizes `{range}`: {expected}"))
    };
    let specs = swapmeet_workloads::expand(&format!("uniform:{range}")).map_err(|_| wrong())?;
    let size = |spec: &String| parse_size(spec.trim_start_matches("uniform:"));
    let sizes: Vec<u64> = specs.iter().map(size).collect::<Result<_, _>>().map_err(|_| wrong())?;
    if sizes.contains(&0) { Err(wrong()) } else { Ok(sizes) }
}

fn expected(
    format: ExpectFormat,
    place: &Place,
    collective: &str,
    predictions: &BTreeMap<u64, Prediction>,
) -> String {
    let factor = bus_factor(collective, place.ranks);
    let bandwidths = |bytes: u64, us: f64| {
        let algorithm = bytes as f64 / us / 1e3;
        [algorithm, algorithm * factor]
    };
    match format {
        ExpectFormat::Table => {
            let row = |(bytes, p): (&u64, &Prediction)| {
                let [algorithm, bus] = bandwidths(*bytes, p.us);
                vec![
                    format_size(*bytes),
                    duration(p.us),
                    format!("{algorithm:.2}"),
                    format!("{bus:.2}"),
                    p.choice(),
                    Limit::of(place, p).usage(place, p, p.us),
                ]
            };
            let header = ["size", "time", "algbw", "busbw", "by", "bound by"];
            let rows = predictions.iter().map(row).collect();
            let table = table::plain(&header, &[0, 1, 2, 3], rows);
            format!("{collective}, {} ranks, {} (GB/s)\n{table}\n", place.ranks, place.name)
        }
        ExpectFormat::Csv => {
            let mut text =
                "system,collective,bytes,time_us,algbw_GBps,busbw_GBps,algorithm,protocol\n"
                    .to_owned();
            for (bytes, p) in predictions {
                let [algorithm, bus] = bandwidths(*bytes, p.us);
                text += &format!(
                    "\"{}\",{collective},{bytes},{},{algorithm:.4},{bus:.4},{},{}\n",
                    place.name, p.us, p.algorithm, p.protocol
                );
            }
            text
        }
        ExpectFormat::Json => {
            let size = |(bytes, p): (&u64, &Prediction)| {
                let [algorithm, bus] = bandwidths(*bytes, p.us);
                json!({
                    "bytes": bytes, "expected_us": p.us, "algbw_GBps": algorithm, "busbw_GBps": bus,
                    "algorithm": p.algorithm, "protocol": p.protocol,
                    "bound_by": Limit::of(place, p).word(),
                })
            };
            let document = json!({
                "system": place.name,
                "collective": collective,
                "ranks": place.ranks,
                "sizes": predictions.iter().map(size).collect::<Vec<_>>(),
            });
            format!("{document:#}\n")
        }
        ExpectFormat::AmdCvs => {
            let name = match collective {
                "allreduce" => "all_reduce_perf",
                "allgather" => "all_gather_perf",
                "reduce-scatter" => "reduce_scatter_perf",
                _ => "alltoall_perf",
            };
            // The least bandwidth with which a run passes: the expected bandwidth minus the error
            // of the prediction.
            let least: serde_json::Map<String, serde_json::Value> = predictions
                .iter()
                .map(|(bytes, p)| {
                    let [_, bus] = bandwidths(*bytes, p.us);
                    (bytes.to_string(), format!("{:.2}", bus * EXPECTED[0]).into())
                })
                .collect();
            format!("{:#}\n", json!({ "results": { name: { "bus_bw": least } } }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_the_ratio_and_the_size() {
        let large = |ratio| Verdict::of_size(LARGE, ratio);
        assert_eq!([0.25, 0.69].map(large), [Verdict::Low; 2]);
        assert_eq!([0.8, 1.0, 1.25].map(large), [Verdict::AsExpected; 3]);
        assert_eq!([1.26, 3.0].map(large), [Verdict::High; 2]);
        assert_eq!([0.7, 0.79].map(large), [Verdict::None; 2]);
        let mid = |ratio| Verdict::of_size(1 << 20, ratio);
        assert_eq!([0.5, 1.0, 2.0].map(mid), [Verdict::None; 3]);
        assert_eq!([0.49, 2.01].map(mid), [Verdict::Low, Verdict::High]);
    }

    #[test]
    fn a_log_is_as_bad_as_its_worst_large_size() {
        let mid = (1 << 20, 0.4);
        assert_eq!(Verdict::of_log(&[mid, (LARGE, 1.0)]), Verdict::AsExpected);
        assert_eq!(Verdict::of_log(&[(LARGE, 1.0), (2 * LARGE, 0.6)]), Verdict::Low);
        assert_eq!(Verdict::of_log(&[(LARGE, 1.0), (2 * LARGE, 0.75)]), Verdict::AsExpected);
        assert_eq!(Verdict::of_log(&[(1 << 20, 0.9)]), Verdict::None);
        assert_eq!(Verdict::of_log(&[mid]), Verdict::Low);
    }
}
