//! `swapmeet tune` converts the rows of a sweep to a decision table for an MPI library or NCCL.

use crate::args::TuneArgs;
use crate::explain::prediction::{Place, library_rows};
use crate::explain::sizes_of;
use crate::failure::{ExitStatus, Failure, INTERRUPTED, SUCCESS};
use crate::say::say;
use crate::{output, result_files, table};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use swapmeet_bridges::tune::{DefaultLosses, Library, Loss, TimedCase, Uncompared, library};
use swapmeet_core::cost::machine::Machine;
use swapmeet_core::system::System;
use swapmeet_reproduce::{AWS_SOURCE, aws_winners};
use swapmeet_results::stats::Summary;
use swapmeet_results::{CHARGED_LESS, Record, Status, is_measured, rearrangement_remark};
use swapmeet_workloads::file::read_bounded;

/// Writes the table. Also prints how much time is lost without it: if the library uses its default
/// choices, and if one algorithm is used for all cases.
pub(crate) fn tune(args: &TuneArgs) -> Result<ExitStatus, Failure> {
    let Some(library) = library(&args.format) else {
        return Err(Failure::Usage(format!("--format {}: unknown", args.format)));
    };
    output::may_write(&args.out, args.over, &args.files)?;
    let place = args.system.as_deref().map(Place::of_system).transpose()?;
    let rows = match &place {
        Some(place) if args.files.is_empty() => match calculated_rows(args, library, place)? {
            Some(rows) => rows,
            None => return Ok(INTERRUPTED),
        },
        _ => rows_of_files(args, place.as_ref())?,
    };
    warn_of_rearrangement(&rows);
    let system = place.as_ref().and_then(|place| place.system);
    let cells = cells(&rows, system)?;
    let tables = library.decide(&cells).map_err(Failure::Usage)?;
    for Uncompared { collective, algorithm, has_others } in library.uncompared(&cells) {
        let why = if has_others {
            "no row has a time of another algorithm of the library"
        } else {
            "this format can name no other algorithm"
        };
        say!("warning: {collective}: the table always names `{algorithm}`: {why}");
    }
    // Some libraries read only complete tables, so new rules are merged into the library's own.
    let base = args.base.as_deref().map(read_table).transpose()?;
    if base.is_some() && !library.is_patch {
        return Err(Failure::Usage(format!("--base: --format {} is written whole", args.format)));
    }
    let text = library.written(&tables, base.as_deref()).map_err(Failure::Usage)?;
    output::text(&args.out, &text)?;
    if let Some((place, system)) = place.as_ref().zip(system) {
        compare_with_aws(library, &cells, place, system);
    }
    if let Some(default) = &args.default {
        let lost = library.losses(&cells, default);
        if lost.is_empty() {
            return Err(Failure::Usage(format!("--default {default}: no row has a time of it")));
        }
        print_losses("", &lost);
    }
    if let Some(DefaultLosses { losses, without_a_time }) =
        library.losses_of_defaults(&cells, base.as_deref()).map_err(Failure::Usage)?
    {
        print_losses(&format!("by {}: ", library.default_source), &losses);
        for (theirs, times) in without_a_time {
            let cases = if times == 1 { "case" } else { "cases" };
            say!(
                "by {}: {theirs} in {times} {cases}, of which no row has a time",
                library.default_source
            );
        }
    }
    Ok(SUCCESS)
}

/// Warns if the machine charges only some algorithms for rearrangement, and favours the others.
fn warn_of_rearrangement(rows: &[Record]) {
    let marked = table::marked(rows);
    let marked = marked.iter().filter_map(|name| name.strip_suffix(CHARGED_LESS)).collect();
    let machine = rows.first().map(|row| row.case().setting.machine_in_full());
    if let Some(machine) = machine.filter(|_| !BTreeSet::is_empty(&marked)) {
        let remark = rearrangement_remark(&machine, &marked);
        say!("warning: {}", remark.trim_start_matches("† "));
    }
}

fn calculated_rows(
    args: &TuneArgs,
    library: &Library,
    place: &Place,
) -> Result<Option<Vec<Record>>, Failure> {
    let sizes = sizes_of(args.sizes.as_deref().unwrap_or("8..16GiB"))?;
    let mut all = Vec::new();
    for collective in library.collectives_of_systems() {
        let Some(rows) = library_rows(place, collective, &sizes, &args.plugins)? else {
            return Ok(None);
        };
        all.extend(rows);
    }
    match all.is_empty() {
        true => Err(Failure::Usage(format!(
            "--system: --format {} has no algorithm of NCCL: give rows of its algorithms",
            library.name
        ))),
        false => Ok(Some(all)),
    }
}

/// Returns the successful rows of the system. Without a system, returns those of the machine and
/// the topologies that the user named.
fn rows_of_files(args: &TuneArgs, place: Option<&Place>) -> Result<Vec<Record>, Failure> {
    let mut rows = result_files::rows(&args.files)?;
    rows.retain(|row| row.status == Status::Ok);
    let Some(place) = place else {
        rows.retain(|row| {
            args.machine.as_ref().is_none_or(|machine| *machine == row.machine)
                && (args.topology.is_empty() || args.topology.contains(&row.topology))
        });
        one_machine(&rows)?;
        return Ok(rows);
    };
    // A row's machine has all protocols, or only those of the library's algorithm.
    let machine = Machine::parse(&place.machine).map_err(Failure::usage)?;
    let without_protocols = |machine: &Machine| {
        let values = machine.values().into_iter();
        let others = values.filter(|value| value.parameter.key() != "protocols");
        others.map(|value| (value.parameter.key().to_owned(), value.text)).collect::<Vec<_>>()
    };
    let own = without_protocols(&machine);
    rows.retain(|row| {
        row.topology == place.topology
            && Machine::parse(&row.machine).is_ok_and(|other| without_protocols(&other) == own)
    });
    match rows.is_empty() {
        true => Err(Failure::Usage(format!(
            "no row has the topology and the machine of {}: {} and {}",
            place.name, place.topology, place.machine
        ))),
        false => Ok(rows),
    }
}

/// Compares choices with AWS's tables of the fastest measured algorithms and protocols.
fn compare_with_aws(
    library: &Library,
    cases: &[TimedCase],
    place: &Place,
    (system, domains, gpus): (&'static System, u64, u64),
) {
    let shape = format!("{}:{domains}x{gpus}", system.name);
    let (mut compared, mut same, mut with_protocol, mut regrets) = (0, 0, 0, Vec::new());
    for winner in aws_winners(&shape) {
        let block = match winner.collective.as_str() {
            "allreduce" => winner.bytes,
            _ => winner.bytes.div_ceil(place.ranks),
        };
        let of_cell = |case: &&TimedCase| {
            (&case.collective, case.bytes) == (&winner.collective, block)
                && library.name_of(case).is_some()
        };
        let fastest = cases.iter().filter(of_cell).min_by(|a, b| a.time_us.total_cmp(&b.time_us));
        let Some((ours, name)) = fastest.and_then(|case| Some((case, library.name_of(case)?)))
        else {
            continue;
        };
        compared += 1;
        let is_same = name == winner.algorithm;
        same += u64::from(is_same);
        with_protocol += u64::from(is_same && ours.protocol == winner.protocol);
        let is_theirs = |case: &&TimedCase| library.name_of(case) == Some(&winner.algorithm);
        if let Some(theirs) = cases.iter().filter(of_cell).find(is_theirs) {
            regrets.push(theirs.time_us / ours.time_us);
        }
    }
    if compared == 0 {
        return;
    }
    let times = if regrets.is_empty() {
        "no row has a time of AWS's choices".to_owned()
    } else {
        let logarithms: f64 = regrets.iter().map(|regret| regret.ln()).sum();
        let mean = (logarithms / regrets.len() as f64).exp();
        let most = regrets.iter().copied().fold(1.0, f64::max);
        format!(
            "by our prediction, AWS's choices take {mean:.2} times as long (geometric mean), at most {most:.2} times"
        )
    };
    say!(
        "AWS's tables for {shape} ({AWS_SOURCE}): the same algorithm in {same} of {compared} cases, also with the same protocol in {with_protocol}; {times}"
    );
}

/// Errors unless all rows have the same machine, and all rows with the same number of nodes have
/// the same topology, because other times cannot be compared.
fn one_machine(rows: &[Record]) -> Result<(), Failure> {
    let one = |texts: BTreeSet<&str>, what: &str, flag: &str| {
        let list: Vec<&str> = texts.into_iter().collect();
        match list.len() {
            0 | 1 => Ok(()),
            _ => Err(Failure::Usage(format!(
                "the rows have several {what}: {}: name one with {flag}",
                list.join(", ")
            ))),
        }
    };
    one(rows.iter().map(|row| row.machine.as_str()).collect(), "machines", "--machine")?;
    let mut topologies: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    for row in rows {
        topologies.entry(row.nodes).or_default().insert(&row.topology);
    }
    for (nodes, of) in topologies {
        one(of, &format!("topologies of {nodes} nodes"), "--topology")?;
    }
    Ok(())
}

/// Returns one time per case. For predictions, it is the mean of the repetitions. For measurements,
/// it is the median, because background activity of the machine causes outliers.
fn cells(
    rows: &[Record],
    system: Option<(&'static System, u64, u64)>,
) -> Result<Vec<TimedCase>, Failure> {
    let mut times: BTreeMap<(&str, u64, u64, &str, &str), Vec<f64>> = BTreeMap::new();
    for row in rows {
        // An entry of a table is for one block size, so workloads with different sizes are left
        // out.
        if let (Some(time), Some(bytes)) = (row.time_us, row.block_bytes) {
            times
                .entry((&row.collective, row.nodes, bytes, &row.algorithm, &row.protocol))
                .or_default()
                .push(time);
        }
    }
    if times.is_empty() {
        return Err(Failure::Usage("no row has a time and one size of block".to_owned()));
    }
    let is_measured = rows.first().is_some_and(is_measured);
    let cell = |((collective, ranks, bytes, algorithm, protocol), times): (_, Vec<f64>)| {
        let all = Summary::of(&times)?;
        Some(TimedCase {
            collective: str::to_owned(collective),
            ranks,
            bytes,
            algorithm: str::to_owned(algorithm),
            protocol: str::to_owned(protocol),
            system,
            time_us: if is_measured { all.median } else { all.mean },
        })
    };
    Ok(times.into_iter().filter_map(cell).collect())
}

fn read_table(path: &Path) -> Result<String, Failure> {
    /// The maximum number of bytes of a decision table. The table of MPICH has about 30 000 bytes.
    const LONGEST: u64 = 16 << 20;
    read_bounded(path, LONGEST, "a table")
        .map_err(|why| Failure::Usage(format!("{}: {why}", path.display())))
}

/// Prints how much time is lost if `chosen_by` chooses the algorithms instead of the table.
fn print_losses(chosen_by: &str, losses: &[Loss]) {
    let lost = |loss: &&Loss| loss.ratio > 1.0;
    for Loss { collective, ranks, bytes, used, best, ratio } in losses.iter().filter(lost) {
        say!(
            "{chosen_by}{collective} on {ranks} ranks, {bytes} bytes: `{used}` takes {ratio:.2} times as long as `{best}`"
        );
    }
    let (all, none) = (losses.len(), losses.iter().filter(|loss| loss.ratio <= 1.0).count());
    if none > 0 {
        say!("{chosen_by}no time is lost in {none} of {all} cases");
    }
}
