//! `swapmeet tune`: converts the rows of a sweep to a decision table for an MPI library or NCCL.

use crate::args::TuneArgs;
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::say::say;
use crate::{output, result_files};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use swapmeet_bridges::tune::{DefaultLosses, Loss, TimedCase, Uncompared, library};
use swapmeet_results::stats::Summary;
use swapmeet_results::{Record, Status, is_measured};
use swapmeet_workloads::file::read_bounded;

/// Writes the table, and prints how much time is lost without this table. There are two
/// comparisons: with the algorithms that the library itself would choose, and with one algorithm
/// for all cases.
pub(crate) fn tune(args: &TuneArgs) -> Result<ExitStatus, Failure> {
    // Only successful rows of the selected machine and topologies are considered.
    let Some(library) = library(&args.format) else {
        return Err(Failure::Usage(format!("--format {}: unknown", args.format)));
    };
    output::may_write(&args.out, args.over, &args.files)?;
    let mut rows = result_files::rows(&args.files)?;
    rows.retain(|row| {
        row.status == Status::Ok
            && args.machine.as_ref().is_none_or(|machine| *machine == row.machine)
    });
    rows.retain(|row| args.topology.is_empty() || args.topology.contains(&row.topology));
    // The fastest algorithm of each case becomes a rule of the table.
    let cells = cells(&rows)?;
    let tables = library.decide(&cells).map_err(Failure::Usage)?;
    for Uncompared { collective, algorithm, has_others } in library.uncompared(&cells) {
        let why = if has_others {
            "no row has a time of another algorithm of the library"
        } else {
            "this format can name no other algorithm"
        };
        say!("warning: {collective}: the table always names `{algorithm}`: {why}");
    }
    // Some libraries read only complete tables. For these libraries, the new rules are merged into
    // the library's own table.
    let base = args.base.as_deref().map(read_table).transpose()?;
    if base.is_some() && !library.is_patch {
        return Err(Failure::Usage(format!("--base: --format {} is written whole", args.format)));
    }
    let text = library.written(&tables, base.as_deref()).map_err(Failure::Usage)?;
    output::text(&args.out, &text)?;
    // Print how much time would be lost if one algorithm were used for all cases.
    if let Some(default) = &args.default {
        let lost = library.losses(&cells, default);
        if lost.is_empty() {
            return Err(Failure::Usage(format!("--default {default}: no row has a time of it")));
        }
        print_losses("", &lost);
    }
    // Print how much time would be lost if the library chose the algorithms.
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

/// Returns one time per case. All rows must have the same machine, and all rows with the same
/// number of nodes must have the same topology. The time of a case is the mean of its predictions.
/// For measurements it is the median, because background activity of the machine causes outliers.
fn cells(rows: &[Record]) -> Result<Vec<TimedCase>, Failure> {
    // Times on different machines or topologies cannot be compared, so mixed rows are an error.
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
    // Collect the times of the repetitions of each case.
    let mut times: BTreeMap<(&str, u64, u64, &str), Vec<f64>> = BTreeMap::new();
    for row in rows {
        // Leave out irregular workloads, because their blocks differ in size and an entry of the
        // table has a single block size.
        if let (Some(time), Some(bytes)) = (row.time_us, row.block_bytes) {
            times
                .entry((&row.collective, row.nodes, bytes, &row.algorithm))
                .or_default()
                .push(time);
        }
    }
    if times.is_empty() {
        return Err(Failure::Usage("no row has a time and one size of block".to_owned()));
    }
    // Combine the repetitions of each case into one time.
    let is_measured = rows.first().is_some_and(is_measured);
    let cell =
        |((collective, ranks, bytes, algorithm), times): ((&str, u64, u64, &str), Vec<f64>)| {
            let all = Summary::of(&times)?;
            Some(TimedCase {
                collective: collective.to_owned(),
                ranks,
                bytes,
                algorithm: algorithm.to_owned(),
                time_us: if is_measured { all.median } else { all.mean },
            })
        };
    Ok(times.into_iter().filter_map(cell).collect())
}

/// Reads a decision table of a library.
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
