//! `swapmeet place` ranks the ways to assign the axes of ranks to a network. The user states jobs,
//! each of which is a workload over some of the axes. A job runs in all its communicators at the
//! same time, and uses its fastest algorithm.

use crate::args::PlaceArgs;
use crate::failure::{ExitStatus, Failure, INTERRUPTED};
use crate::run::{self, SpecLists};
use crate::{ranking, table};
use std::collections::BTreeSet;
use swapmeet_core::network::mesh::{Mesh, expand_mesh};
use swapmeet_results::{Record, duration, units};
use swapmeet_runner::case::spec_error;
use swapmeet_runner::input::Text;
use swapmeet_runner::registry::{NoAlgorithm, Registry};
use swapmeet_runner::topology;
use swapmeet_workloads::Workload;

/// A workload, and how often it runs in a step of the application.
struct Job {
    workload: Workload,
    weight: f64,
}

struct Placement {
    mesh: String,
    rows: Vec<Record>,
    /// Sums over all jobs in µs, weighted by how often each job runs. In `together_us`, all
    /// communicators of a job run at the same time. In `alone_us`, a single communicator runs, with
    /// the algorithm that is fastest in this situation.
    together_us: f64,
    alone_us: f64,
    bound_us: f64,
}

pub(crate) fn place(args: &PlaceArgs) -> Result<ExitStatus, Failure> {
    let at = Text::flag("--topology", &args.topology);
    let network = topology::parse(&at.value).map_err(|e| spec_error(&at, &e))?;
    if network.mesh().is_some() {
        let message = "--topology: its axes are those of --mesh: leave `mesh=` out";
        return Err(Failure::Usage(message.to_owned()));
    }
    let bad_mesh =
        |expected: String| Failure::Usage(format!("--mesh `{}`: expected {expected}", args.mesh));
    if args.mesh.contains('(') && !args.mesh.ends_with(')') {
        return Err(bad_mesh("a `)` at the end".to_owned()));
    }
    let inner = args.mesh.split_once('(').map_or(&*args.mesh, |(_, inner)| inner);
    let own = Mesh::parse(inner.trim_end_matches(')'), network.nodes()).map_err(bad_mesh)?;
    let own = own.to_string();
    let range = if args.mesh.contains('(') { args.mesh.clone() } else { format!("orders({own})") };
    let mut meshes = expand_mesh(&range, network.radices()).map_err(bad_mesh)?;
    if !meshes.contains(&own) {
        meshes.push(own.clone());
    }
    let jobs = args.jobs_of_step.iter().map(|text| job(text)).collect::<Result<Vec<_>, _>>()?;
    let registry = run::registry(&args.ranking.plugins)?;
    let spec = network.spec();
    let topologies: Vec<String> = meshes.iter().map(|mesh| format!("{spec},mesh={mesh}")).collect();
    let mut rows = Vec::new();
    let mut cases = Vec::new();
    for Job { workload, .. } in &jobs {
        let algorithms = algorithms(args, &registry, workload)?;
        let workload = workload.to_string();
        let lists = SpecLists {
            topologies: &topologies,
            algorithms: &algorithms,
            workloads: &[workload],
            machines: args.machine.as_slice(),
            systems: &[],
        };
        cases.push(run::cases_with(lists, args.seed, None, || Ok(&registry))?);
    }
    args.ranking.check_out(cases.iter().flatten())?;
    for of_job in &cases {
        let Some(of_job) = run::collect(of_job, args.ranking.jobs, &args.ranking.plugins)? else {
            return Ok(INTERRUPTED);
        };
        rows.push(of_job);
    }
    args.ranking.write(rows.iter().flatten())?;
    let ranking = ranked(&meshes, &topologies, &jobs, &rows)?;
    args.ranking.print(&text(&own, &jobs, &ranking))?;
    Ok(ranking::status(rows.iter().flatten()))
}

fn job(text: &str) -> Result<Job, Failure> {
    let (spec, weight) = text.rsplit_once('*').unwrap_or((text, "1"));
    let weight =
        weight.trim().parse().ok().filter(|weight: &f64| *weight > 0.0 && weight.is_finite());
    let weight = weight.ok_or_else(|| {
        Failure::Usage(format!("--job `{text}`: expected a positive weight after `*`"))
    })?;
    let at = Text::flag("--job", spec.trim());
    let workload = Workload::parse(&at.value).map_err(|e| spec_error(&at, &e))?;
    Ok(Job { workload, weight })
}

/// Returns the algorithms that the user named for this collective. If there are none, returns all
/// that implement it and need no input file.
fn algorithms(
    args: &PlaceArgs,
    registry: &Registry,
    workload: &Workload,
) -> Result<Vec<String>, Failure> {
    let word = workload.collective().word;
    let all = run::algorithms_of(registry, word);
    if args.algorithms.is_empty() {
        return Ok(all);
    }
    let name = |spec: &str| spec.split_once(':').map_or(spec, |(name, _)| name).to_owned();
    let of_word: BTreeSet<String> = all.iter().map(|spec| name(spec)).collect();
    // An unknown name is kept, so that an error can show its position later.
    let is_candidate = |spec: &&String| {
        let name = name(spec);
        of_word.contains(&name)
            || matches!(registry.algorithm(&name), Err(NoAlgorithm::Unknown { .. }))
    };
    let given: Vec<String> = args.algorithms.iter().filter(is_candidate).cloned().collect();
    if given.is_empty() {
        return Err(Failure::Usage(format!(
            "no --algorithm implements the {word} of `{workload}`"
        )));
    }
    Ok(given)
}

/// Sorts placements by time. If no algorithm can run some job on a placement, it is left out.
fn ranked(
    meshes: &[String],
    topologies: &[String],
    jobs: &[Job],
    rows: &[Vec<Record>],
) -> Result<Vec<Placement>, Failure> {
    let mut ranking = Vec::new();
    for (mesh, topology) in meshes.iter().zip(topologies) {
        let least = |value: fn(&Record) -> Option<f64>| {
            let of_job = |rows: &Vec<Record>| {
                let own = rows.iter().filter(|row| row.topology == *topology);
                let timed = own.filter_map(|row| Some((value(row)?, row)));
                timed.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(us, row)| (us, row.clone()))
            };
            rows.iter().map(of_job).collect::<Option<Vec<(f64, Record)>>>()
        };
        let alone = least(|row| row.alone_us.or(row.time_us));
        let (Some(together), Some(alone)) = (least(|row| row.time_us), alone) else {
            continue;
        };
        let weighted = |values: &mut dyn Iterator<Item = f64>| {
            values.zip(jobs).map(|(us, job)| us * job.weight).sum()
        };
        ranking.push(Placement {
            mesh: mesh.clone(),
            together_us: weighted(&mut together.iter().map(|(us, _)| *us)),
            alone_us: weighted(&mut alone.iter().map(|(us, _)| *us)),
            bound_us: weighted(&mut together.iter().map(|(_, r)| r.lower_bound_us.unwrap_or(0.0))),
            rows: together.into_iter().map(|(_, row)| row).collect(),
        });
    }
    if ranking.is_empty() {
        let all = || rows.iter().flatten();
        let reason = all().find(|row| !row.reason.is_empty()).map_or("", |row| &row.reason);
        return Err(Failure::Usage(format!("no placement runs every job: {reason}")));
    }
    ranking.sort_by(|a, b| a.together_us.total_cmp(&b.together_us));
    Ok(ranking)
}

fn text(own: &str, jobs: &[Job], ranking: &[Placement]) -> String {
    const MAX: usize = 20;
    // If the times are equal, the ratio is 1, even if both are 0.
    let ratio = |a: f64, b: f64| match a == b {
        true => "1.00".to_owned(),
        false if b > 0.0 => format!("{:.2}", a / b),
        false => String::new(),
    };
    let best = ranking[0].together_us;
    let line = |(rank, placement): (usize, &Placement)| {
        let Placement { mesh, rows, together_us, alone_us, bound_us } = placement;
        let mut cells = vec![
            (rank + 1).to_string(),
            format!("{mesh}{}", if mesh == own { " (yours)" } else { "" }),
            duration(*together_us),
            ratio(*together_us, best),
            ratio(*together_us, *bound_us),
            ratio(*together_us, *alone_us),
        ];
        cells.extend(rows.iter().map(|row| row.algorithm.clone()));
        cells
    };
    let jobs: Vec<String> = jobs.iter().map(|job| job.workload.to_string()).collect();
    let mut header = vec!["rank", "mesh", "time", "time/best", "time/bound", "time/alone"];
    header.extend(jobs.iter().map(String::as_str));
    let numbered = || ranking.iter().enumerate();
    let own_rank = ranking.iter().position(|placement| placement.mesh == own);
    let shown = numbered().filter(|(rank, _)| *rank < MAX || Some(*rank) == own_rank);
    let table = table::plain(&header, &[0, 2, 3, 4, 5], shown.map(line).collect());
    let least = ranking.iter().map(|placement| placement.alone_us).fold(f64::INFINITY, f64::min);
    let is_best_alone = |placement: &Placement| placement.alone_us <= least * (1.0 + 1e-9);
    let alone: Vec<_> = numbered().filter(|(_, placement)| is_best_alone(placement)).collect();
    let total = ranking.len();
    let times = |us: f64| units::factor(us / best);
    let is_best = |placement: &Placement| placement.together_us <= best * (1.0 + 1e-9);
    let bests = ranking.iter().filter(|placement| is_best(placement)).count();
    let standing = |rank: usize| match &ranking[rank] {
        placement if is_best(placement) && bests == 1 => format!("the best of {total}"),
        placement if is_best(placement) => format!("one of the {bests} best of {total}"),
        Placement { together_us, .. } => {
            format!("number {} of {total}, {} times the best", rank + 1, times(*together_us))
        }
    };
    let mut text = format!("{table}\n\n");
    if let (Some((first, fastest)), Some((_, slowest))) = (alone.first(), alone.last()) {
        text += &format!(
            "for one communicator alone, {} is the best placement{} ({}): together, it is {}{}\n",
            fastest.mesh,
            match alone.len() - 1 {
                0 => String::new(),
                1 => ", as is another one".to_owned(),
                others => format!(", as are {others} others"),
            },
            duration(least),
            standing(*first),
            match (alone.len() - 1, is_best(fastest), is_best(slowest)) {
                (0, ..) => String::new(),
                (1, _, true) => ", and so is the other one".to_owned(),
                (_, _, true) => ", and so are the others".to_owned(),
                (1, true, _) => format!(
                    ", and the other one takes {} times as long",
                    times(slowest.together_us)
                ),
                (_, true, _) => format!(
                    ", and the others take up to {} times as long",
                    times(slowest.together_us)
                ),
                (1, ..) => format!(", and the other one is {} times", times(slowest.together_us)),
                _ => format!(", and the others are up to {} times", times(slowest.together_us)),
            },
        );
    }
    match own_rank {
        Some(rank) => text += &format!("your order {own} is {}\n", standing(rank)),
        None => text += &format!("your order {own}: no algorithm runs some of the jobs\n"),
    }
    text
}
