//! `swapmeet links` ranks the links of a network by the time that the failure of each single link
//! costs. Times without this link are compared with times on the intact network.

use crate::args::LinksArgs;
use crate::failure::{ExitStatus, Failure, INTERRUPTED, print_reason};
use crate::run::{self, SpecLists};
use crate::say::say;
use crate::{ranking, table};
use swapmeet_core::network::topology::{Network, SingleFault, single_faults};
use swapmeet_results::analysis::DISCONNECTS;
use swapmeet_results::{Record, Status, duration, units};
use swapmeet_runner::case::{Case, spec_error};
use swapmeet_runner::input::Text;
use swapmeet_runner::topology;

/// The maximum number of node pairs of all damaged networks that are in memory at a time.
const MOST_PAIRS: u64 = 1 << 26;

struct LinkRows {
    fault: SingleFault,
    rows: Vec<Record>,
}

pub(crate) fn links(args: &LinksArgs) -> Result<ExitStatus, Failure> {
    let at = Text::flag("--topology", &args.topology);
    let network = topology::parse(&at.value).map_err(|e| spec_error(&at, &e))?;
    let faults = faults(network.as_ref(), args)?;
    // The first topology is the intact network. Each other topology lacks one link. If the failure
    // of a link disconnects ranks, no case can run without this link, so there is no topology for
    // it.
    let spec = network.spec();
    let runnable = faults.iter().filter(|fault| !fault.disconnects);
    let topologies: Vec<String> =
        std::iter::once(spec.clone()).chain(runnable.map(|fault| without(&spec, fault))).collect();
    let registry = run::registry(&args.ranking.plugins)?;
    let machine = match &args.machine {
        Some(machine) => machine.clone(),
        None => {
            let (machine, remark) = run::default_machine(&[&args.topology])?;
            say!("{remark}");
            machine.value
        }
    };
    let cases = |topologies: &[String]| {
        let lists = SpecLists {
            topologies,
            algorithms: &args.algorithms,
            workloads: args.workload.as_slice(),
            machines: std::slice::from_ref(&machine),
            systems: &[],
        };
        run::cases_with(lists, args.seed, None, || Ok(&registry))
    };
    let of_intact = cases(&topologies[..1])?;
    if of_intact.len() != args.algorithms.len() {
        return Err(Failure::Usage("--workload: expected one size instead of a range".to_owned()));
    }
    args.ranking.check_out(&of_intact)?;
    // A damaged network has large tables of routes, so only some are in memory at a time.
    let nodes = network.nodes().max(1);
    let at_a_time = (MOST_PAIRS / nodes.saturating_mul(nodes)).clamp(8, 256) as usize;
    let mut rows = Vec::new();
    for part in topologies.chunks(at_a_time) {
        let of_part = run::collect(&cases(part)?, args.ranking.jobs, &args.ranking.plugins)?;
        let Some(of_part) = of_part else { return Ok(INTERRUPTED) };
        rows.extend(of_part);
    }
    let (intact, damaged) = rows.split_at(args.algorithms.len());
    let ranking = ranked(&spec, faults, intact, damaged, &of_intact);
    let all = || intact.iter().chain(ranking.iter().flat_map(|link| &link.rows));
    args.ranking.write(all())?;
    args.ranking.print(&(text(intact, &ranking) + "\n"))?;
    for row in intact.iter().filter(|row| row.status == Status::Unsupported) {
        print_reason(row);
    }
    Ok(ranking::status(all()))
}

/// Returns one fault for each link to examine, in which only this link fails.
fn faults(network: &Network, args: &LinksArgs) -> Result<Vec<SingleFault>, Failure> {
    let refused = |why: &str| Failure::Usage(format!("--topology {}: {why}", args.topology));
    if network.damage().is_some_and(|damage| !damage.drawn().is_empty()) {
        return Err(refused(
            "one more failure would change the links that are drawn at random: name them with `down=` and `slow=`, as in the column `faults`",
        ));
    }
    let faults = single_faults(network, args.one_per_orbit);
    faults.ok_or_else(|| refused("it has too many links to examine each of them"))
}

fn without(spec: &str, fault: &SingleFault) -> String {
    const DOWN: &str = ",down=";
    let (a, b) = fault.ends;
    match spec.split_once(DOWN) {
        Some((network, listed)) => format!("{network}{DOWN}{a}-{b}+{listed}"),
        None => format!("{spec}{DOWN}{a}-{b}"),
    }
}

/// Ranks the links. Links whose failure disconnects ranks come first. The other links follow in
/// descending order of the slowdown of the algorithm that is slowed down most.
fn ranked(
    spec: &str,
    faults: Vec<SingleFault>,
    intact: &[Record],
    damaged: &[Record],
    cases: &[Case],
) -> Vec<LinkRows> {
    let mut runs = damaged.chunks(intact.len());
    let disconnected = |fault: &SingleFault| {
        let row = |case: &Case| Record {
            topology: without(spec, fault),
            status: Status::Unsupported,
            reason: DISCONNECTS.to_owned(),
            ..case.blank_row()
        };
        cases[..intact.len()].iter().map(row).collect()
    };
    let mut ranking: Vec<LinkRows> = faults
        .into_iter()
        .map(|fault| LinkRows {
            rows: match fault.disconnects {
                true => disconnected(&fault),
                false => runs.next().unwrap_or_default().to_vec(),
            },
            fault,
        })
        .collect();
    let worst = |link: &LinkRows| {
        let slowdowns = intact.iter().zip(&link.rows).filter_map(|(a, b)| slowdown(a, b));
        if link.fault.disconnects { f64::INFINITY } else { slowdowns.fold(0.0, f64::max) }
    };
    ranking.sort_by(|a, b| worst(b).total_cmp(&worst(a)));
    ranking
}

fn slowdown(intact: &Record, row: &Record) -> Option<f64> {
    let (before, after) = (intact.time_us?, row.time_us?);
    (before > 0.0).then(|| after / before)
}

fn text(intact: &[Record], ranking: &[LinkRows]) -> String {
    const MAX: usize = 40;
    let mut header = vec!["link down", "links"];
    let names = table::marked(intact);
    header.extend(names.iter().map(String::as_str));
    let time = |row: &Record| match row.time_us {
        Some(us) => duration(us),
        None => row.status.to_string(),
    };
    let mut rows = vec![
        ["none".to_owned(), String::new()].into_iter().chain(intact.iter().map(time)).collect(),
    ];
    for LinkRows { fault, rows: of_link } in ranking.iter().take(MAX) {
        let (a, b) = fault.ends;
        let cell = |(before, row): (&Record, &Record)| match slowdown(before, row) {
            _ if fault.disconnects => "disconnects".to_owned(),
            Some(ratio) if is_faster(ratio) => format!("{} ({} x, faster)", time(row), less(ratio)),
            Some(ratio) => format!("{} ({ratio:.3} x)", time(row)),
            None => time(row),
        };
        let cells = intact.iter().zip(of_link).map(cell);
        let link = [format!("{a}-{b}"), fault.images.to_string()];
        rows.push(link.into_iter().chain(cells).collect());
    }
    let numbers: Vec<usize> = (1..header.len()).collect();
    let table = table::plain(&header, &numbers, rows);
    let more = ranking.len().saturating_sub(MAX);
    let more = (more > 0).then(|| format!("{more} more links; --out FILE has all of them"));
    let mark = names.iter().any(|name| name.ends_with('†')).then(|| table::UNCHARGED.to_owned());
    let lines = [table].into_iter().chain(more).chain(mark).chain(speed_ups(intact, ranking));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns whether a ratio is below 1 by more than a rounding error.
fn is_faster(ratio: f64) -> bool {
    ratio < 1.0 - 1e-6
}

fn less(ratio: f64) -> String {
    let text = format!("{ratio:.3}");
    if text == "1.000" { units::factor(ratio) } else { text }
}

/// Names the links whose failure makes an algorithm faster, with the reason.
fn speed_ups(intact: &[Record], ranking: &[LinkRows]) -> Vec<String> {
    let of_algorithm = |(number, before): (usize, &Record)| {
        let ratios = ranking.iter().filter(|link| !link.fault.disconnects).filter_map(|link| {
            let ratio = slowdown(before, link.rows.get(number)?)?;
            is_faster(ratio).then_some((ratio, link.fault.ends))
        });
        let ratios: Vec<(f64, (u64, u64))> = ratios.collect();
        let (ratio, (a, b)) = ratios.iter().copied().min_by(|x, y| x.0.total_cmp(&y.0))?;
        let others = match ratios.len() - 1 {
            0 => String::new(),
            others => format!(" and {}", units::count(others, "other link")),
        };
        let name = &before.algorithm;
        Some(format!("{name} is faster without {a}-{b} ({} x){others}", less(ratio)))
    };
    let mut lines: Vec<String> = intact.iter().enumerate().filter_map(of_algorithm).collect();
    if !lines.is_empty() {
        lines.push(
            "The loss of a link can make a schedule faster, because routes do not depend on loads: \
             of several shortest paths, the one over the links with the lowest numbers is used, \
             although it may share links with other messages. Without the link, another path is used."
                .to_owned(),
        );
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times of `linear` on a torus with and without a link, which differ only by rounding.
    #[test]
    fn a_rounding_error_is_no_speed_up() {
        let times = |intact: f64, without: f64| {
            let row = |time| Record {
                algorithm: "linear".to_owned(),
                time_us: Some(time),
                ..Record::default()
            };
            let fault = SingleFault { ends: (0, 1), images: 1, disconnects: false };
            text(&[row(intact)], &[LinkRows { fault, rows: vec![row(without)] }])
        };
        let rounded = times(133.822_001, 133.822);
        assert!(rounded.contains("(1.000 x)") && !rounded.contains("faster"), "{rounded}");
        let faster = times(1e6, 999_990.0);
        assert!(faster.contains("(0.99999 x, faster)"), "{faster}");
        assert!(faster.contains("linear is faster without 0-1 (0.99999 x)"), "{faster}");
    }
}
