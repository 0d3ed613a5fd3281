//! `swapmeet optimum` finds the minimum time in which a network can move the bytes of a workload.

use crate::args::{OptimumArgs, OptimumFormat};
use crate::failure::{ExitStatus, Failure, INTERRUPTED, SOME_FAILED, SUCCESS};
use crate::output;
use crate::run;
use crate::say::say;
use answer::{Answer, Times};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swapmeet_core::cost::bound::Traffic;
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::network::topology;
use swapmeet_core::simulation::{Task, affordable};
use swapmeet_optimum::certificate::{Certificate, ProblemSpecs};
use swapmeet_optimum::check::check;
use swapmeet_optimum::demand::Demand;
use swapmeet_optimum::network::CapacityNetwork;
use swapmeet_optimum::optimum::{MachineTask, Optimum, Options, problem, solve};
use swapmeet_results::duration;
use swapmeet_runner::case::{Case, drawn, spec_error};
use swapmeet_runner::experiment::Experiment;
use swapmeet_runner::input::Text;
use swapmeet_runner::optimum::NO_LINKS;
use swapmeet_runner::registry::Registry;
use swapmeet_runner::topology::parse as parse_topology;
use swapmeet_workloads::Workload;
use swapmeet_workloads::file::{MAX_BYTES, read_bounded};

mod answer;

pub(crate) fn optimum(args: &OptimumArgs) -> Result<ExitStatus, Failure> {
    if let Some(file) = &args.check {
        return verify(file, args.format);
    }
    let cases = cases(args, &run::registry(&args.plugins)?)?;
    let Some(first) = cases.first() else {
        return Err(Failure::Usage("no algorithm supports the collective".to_owned()));
    };
    if let Some(path) = &args.certificate {
        output::may_write(path, args.over, cases.iter().flat_map(run::input_files_of_case))?;
    }
    let start = Instant::now();
    let Case { topology, workload, machine, .. } = first;
    let setting = Setting::new(topology, workload, Arc::clone(machine), first.seed)?;
    let mut optimum = setting.solve(args.gap)?;
    let seconds = start.elapsed().as_secs_f64();
    optimum.certificate.origin = ProblemSpecs {
        topology: topology.spec(),
        workload: workload.to_string(),
        machine: machine.to_string(),
        seed: args.seed,
    };
    if let Some(path) = &args.certificate {
        output::file(path, |out| Ok(serde_json::to_writer(out, &optimum.certificate)?))?;
    }
    let optimum_us = setting.with_startups(&optimum);
    let mut answer = Answer { optimum, wanted_gap: args.gap, optimum_us, seconds, schedule: None };
    // Algorithms can take minutes, so the interval is printed before, unless it is too wide.
    let is_early = args.format == OptimumFormat::Text && !answer.is_wide();
    if is_early {
        output::print(&answer.interval_text())?;
    }
    let runs = topology.nodes() <= answer::MAX_RUN_NODES;
    let cases = if runs { &cases[..] } else { &[] };
    let Some(rows) = run::collect(cases, None, &args.plugins)? else {
        return Ok(INTERRUPTED);
    };
    let times = Times::of(rows);
    answer.use_schedules(&times);
    if args.format == OptimumFormat::Text && !is_early {
        output::print(&answer.interval_text())?;
    }
    output::print(&match args.format {
        OptimumFormat::Text => answer.times_text(&times),
        OptimumFormat::Json => format!("{:#}\n", answer.json(&times)),
    })?;
    Ok(SUCCESS)
}

/// Returns one case for each algorithm that supports the collective and needs no input file.
fn cases(args: &OptimumArgs, registry: &Registry) -> Result<Vec<Case>, Failure> {
    let flag = |name: &str, spec: &Option<String>| {
        spec.iter().map(|spec| Text::flag(name, spec)).collect::<Vec<Text>>()
    };
    let experiment = Experiment {
        topologies: flag("--topology", &args.topology),
        workloads: flag("--workload", &args.workload),
        machines: flag("--machine", &args.machine),
        systems: flag("--system", &args.system),
        seed: args.seed,
        timeout_secs: Some(args.timeout),
        ..Experiment::default()
    };
    run::cases_of_all_algorithms(experiment, registry)
}

struct Setting {
    task: Task,
    /// The bytes of a block if the schedule counts blocks, or 1 if it counts bytes.
    unit_bytes: f64,
    machine: Arc<Machine>,
    name: String,
}

impl Setting {
    fn new(
        topology: &Arc<topology::Network>,
        workload: &Workload,
        machine: Arc<Machine>,
        seed: u64,
    ) -> Result<Self, Failure> {
        // If sizes differ, the demand of each pair of nodes is in memory, so their number is
        // limited.
        if !workload.is_uniform() {
            affordable(topology.nodes()).map_err(Failure::Usage)?;
        }
        let task = workload.task(topology, seed).map_err(Failure::Usage)?;
        let unit_bytes = if workload.counts_blocks() { workload.block_bytes() as f64 } else { 1.0 };
        let name = format!("{}, {workload}", topology.spec());
        Ok(Self { task, unit_bytes, machine, name })
    }

    fn machine_task(&self) -> Result<MachineTask<'_>, Failure> {
        let Some(rates) = self.machine.network_rates() else {
            return Err(Failure::Usage(format!(
                "machine `{}`: {NO_LINKS}: expected a machine with `model=wormhole`, `circuit`, `store-and-forward` or `fluid`, without `noise` and `background`",
                self.machine
            )));
        };
        Ok(MachineTask { task: &self.task, unit_bytes: self.unit_bytes, rates })
    }

    fn solve(&self, gap: f64) -> Result<Optimum, Failure> {
        const QUIET: Duration = Duration::from_secs(5);
        let mut last = Instant::now();
        let progress = &mut |lower: f64, upper: f64| {
            if last.elapsed() >= QUIET {
                last = Instant::now();
                if upper.is_finite() {
                    say!("{}: {} to {} so far", self.name, duration(lower), duration(upper));
                } else {
                    say!("{}: still searching", self.name);
                }
            }
            true
        };
        let options = &mut Options { gap, progress };
        solve(&self.machine_task()?, options)
            .map_err(|e| Failure::Usage(format!("{} on {}: {e}", self.name, self.machine)))
    }

    /// Returns a lower bound in µs for the time of any schedule. It is the lower end of the
    /// interval plus the start-ups and latencies that every schedule has.
    fn with_startups(&self, optimum: &Optimum) -> f64 {
        let traffic = Traffic::of(&self.task).in_bytes(self.unit_bytes);
        let link_byte_us = self.machine.network_rates().map_or(0.0, |rates| rates.link_byte_us);
        let bytes = if link_byte_us > 0.0 { optimum.lower_us / link_byte_us } else { 0.0 };
        let topology = self.task.network().as_ref();
        self.machine.lower_bound(topology, &traffic.with_link_load(bytes)).total_us()
    }
}

/// Verifies a certificate, and that its specs result in its network and its demand.
fn verify(file: &Path, format: OptimumFormat) -> Result<ExitStatus, Failure> {
    let wrong = |why: String| Failure::Usage(format!("{}: {why}", file.display()));
    let text = read_bounded(file, MAX_BYTES, "a certificate").map_err(wrong)?;
    let certificate: Certificate =
        serde_json::from_str(&text).map_err(|e| wrong(format!("not a certificate: {e}")))?;
    let ProblemSpecs { topology, workload, machine, .. } = &certificate.origin;
    let result = check(&certificate).and_then(|verified| {
        let named = named(&certificate.origin).map_err(|e| e.line())?;
        // Decimal numbers in the file may be rounded, so they are compared with a tolerance.
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b;
        let (mut network, demand, unit_us) = named;
        let unit = std::mem::replace(&mut network.capacity_unit, certificate.network.capacity_unit);
        let same = (&network, &demand) == (&certificate.network, &certificate.demand)
            && close(unit, certificate.network.capacity_unit)
            && close(unit_us, certificate.unit_us);
        if !same {
            return Err(format!(
                "its network, demand or speed is not that of {topology}, {workload} on {machine}"
            ));
        }
        Ok(verified)
    });
    let (lower, upper) = (certificate.lower_us, certificate.upper_us);
    match (format, &result) {
        (OptimumFormat::Json, result) => {
            let (verified, reason) = (result.is_ok(), result.as_ref().err());
            let answer = json!({
                "topology": topology, "workload": workload, "machine": machine,
                "lower_us": lower, "upper_us": upper, "verified": verified, "reason": reason,
            });
            output::print(&format!("{answer:#}\n"))?;
        }
        (OptimumFormat::Text, Err(why)) => say!("{}: refused: {why}", file.display()),
        (OptimumFormat::Text, Ok(verified)) => {
            let until = match verified.upper_us {
                Some(_) => format!("to {}", duration(upper)),
                None => "(the upper end has no evidence)".to_owned(),
            };
            output::print(&format!(
                "{}: verified: {topology}, {workload} on {machine} takes {} {until}\n",
                file.display(),
                duration(lower)
            ))?;
        }
    }
    Ok(if result.is_ok() { SUCCESS } else { SOME_FAILED })
}

fn named(origin: &ProblemSpecs) -> Result<(CapacityNetwork, Demand, f64), Failure> {
    let at = Text::flag("topology", &origin.topology);
    let network = parse_topology(&at.value).map_err(|e| spec_error(&at, &e))?;
    let at = Text::flag("workload", &origin.workload);
    let workload = Workload::parse(&at.value).map_err(|e| spec_error(&at, &e))?;
    let machine = swapmeet_runner::case::machine(&Text::flag("machine", &origin.machine), &[])?;
    let network = drawn(&network, origin.seed);
    let setting = Setting::new(&network, &workload, Arc::new(machine), origin.seed)?;
    problem(&setting.machine_task()?).map_err(Failure::usage)
}
