//! `swapmeet fit` fits a machine to measurements, and writes it as a table of an experiment file.

use crate::args::FitArgs;
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::say::say;
use crate::{output, result_files};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::io;
use swapmeet_bridges::fit::{Costs, Estimate, Fit, Sample, fit as fitted, ping_pong};
use swapmeet_results::{FileRows, Record, Status, csv_table, read_rows};
use swapmeet_workloads::file::read_bounded;

mod system;

const LONGEST: u64 = 256 << 20;

pub(crate) fn fit(args: &FitArgs) -> Result<ExitStatus, Failure> {
    // The name must be valid as a TOML key.
    if args.name.is_empty()
        || !args.name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
    {
        return Err(Failure::Usage(format!(
            "--name {}: expected letters, digits, - and _",
            args.name
        )));
    }
    output::may_write(&args.out, args.over, &args.files)?;
    if let Some(spec) = &args.system {
        return system::fit(args, spec);
    }
    if let Some(path) = &args.residuals {
        output::may_write(path, args.over, &args.files)?;
    }
    // A file contains point-to-point samples, or rows of collectives, which become samples.
    let (mut samples, mut rows) = (Vec::new(), Vec::new());
    for file in &args.files {
        let wrong = |why: String| Failure::Usage(format!("{}: {why}", file.display()));
        let text = read_bounded(file, LONGEST, "measurements").map_err(wrong)?;
        let name = file.display().to_string();
        if ping_pong::is_like(&text) {
            samples.extend(ping_pong::read(&name, &text).map_err(|why| wrong(why.to_string()))?);
        } else {
            let read = read_rows(name, text.as_bytes());
            let FileRows { rows: found, torn } = read.map_err(Failure::usage)?;
            result_files::warn(&torn);
            rows.extend(found);
        }
    }
    samples.extend(of_rows(&rows, args.machine.as_deref())?);
    let fit = fitted(&samples).map_err(Failure::Usage)?;
    let text = table(&args.name, &samples, &fit);
    // The table of residuals has one line for each sample, in which the user can find outliers.
    if let Some(path) = &args.residuals {
        output::file(path, |out| {
            let text = residual_table(&samples, &fit).map_err(io::Error::other)?;
            out.write_all(text.as_bytes())
        })?;
    }
    output::text(&args.out, &text)?;
    say!("{}", residuals(&samples, &fit));
    Ok(SUCCESS)
}

fn residual_table(samples: &[Sample], fit: &Fit) -> Result<String, csv::Error> {
    let header =
        ["source", "messages", "bytes", "time_us", "fitted_us", "residual_percent", "weight"];
    let rows = samples.iter().zip(&fit.fitted).map(|(sample, (time, weight))| {
        let Sample { source, messages, bytes, time_us } = sample;
        let residual = 100.0 * (time_us / time - 1.0);
        [
            source.clone(),
            messages.to_string(),
            bytes.to_string(),
            time_us.to_string(),
            format!("{time:.3}"),
            format!("{residual:.2}"),
            format!("{weight:.3}"),
        ]
    });
    csv_table([header.map(str::to_owned)].into_iter().chain(rows))
}

/// Converts each measured row to a sample: its time, its number of steps, and its critical bytes
/// (the sum over all steps of the longest message). If the measured row lacks the last two, those
/// of the predicted row of the same case are used.
fn of_rows(rows: &[Record], machine: Option<&str>) -> Result<Vec<Sample>, Failure> {
    fn case(row: &Record) -> [&str; 4] {
        [&row.topology, &row.collective, &row.workload, &row.algorithm]
    }
    let (measured, predicted): (Vec<&Record>, Vec<&Record>) =
        rows.iter().filter(|row| row.status == Status::Ok).partition(|row| row.model == "measured");
    let measured: Vec<&Record> =
        measured.into_iter().filter(|row| machine.is_none_or(|name| name == row.machine)).collect();
    let machines: BTreeSet<&str> = measured.iter().map(|row| row.machine.as_str()).collect();
    if machines.len() > 1 {
        let list: Vec<&str> = machines.into_iter().collect();
        return Err(Failure::Usage(format!(
            "the rows have several machines: {}: name one with --machine",
            list.join(", ")
        )));
    }
    let known: HashMap<[&str; 4], &Record> =
        predicted.into_iter().map(|row| (case(row), row)).collect();
    let mut unknown = BTreeSet::new();
    let samples = measured.iter().filter_map(|row| {
        let like = known.get(&case(row)).copied().unwrap_or(row);
        let figures = row.steps.zip(row.critical_bytes).or(like.steps.zip(like.critical_bytes));
        let Some((steps, bytes)) = figures.filter(|(steps, _)| *steps > 0) else {
            unknown.insert(format!("{} on {}, {}", row.algorithm, row.topology, row.workload));
            return None;
        };
        let source = format!("{} on {}, {}", row.algorithm, row.topology, row.workload);
        Some(Sample { source, messages: steps as f64, bytes: bytes as f64, time_us: row.time_us? })
    });
    let samples: Vec<Sample> = samples.collect();
    if let (true, Some(first)) = (samples.is_empty() && !measured.is_empty(), unknown.first()) {
        return Err(Failure::Usage(format!(
            "no measured row has the columns steps and critical_bytes (such as {first}): add a file with predicted rows of the same cases"
        )));
    }
    if !unknown.is_empty() {
        say!("{} cases are omitted, because their number of steps is unknown", unknown.len());
    }
    Ok(samples)
}

fn table(name: &str, samples: &[Sample], fit: &Fit) -> String {
    let mut text = format!("# {}\n", residuals(samples, fit));
    let one = |text: &mut String, name: &str, costs: &Costs| {
        let _ = writeln!(text, "[machine.{name}]\nbase = \"free\"");
        for (key, Estimate { value, interval }) in
            [("startup_us", costs.startup_us), ("byte_us", costs.byte_us)]
        {
            let sure =
                interval.map(|(from, to)| format!("  # 95 %: {} to {}", figure(from), figure(to)));
            let _ = writeln!(text, "{key} = {}{}", figure(value), sure.unwrap_or_default());
        }
    };
    match &fit.rendezvous {
        None => one(&mut text, name, &fit.costs),
        Some((from, long)) => {
            let _ = writeln!(
                text,
                "# Two ways of sending: messages shorter than rendezvous_bytes = {from}, and from there on."
            );
            one(&mut text, name, &fit.costs);
            text.push('\n');
            one(&mut text, &format!("{name}-rendezvous"), long);
        }
    }
    text
}

/// Formats a value with six significant digits and without an exponent.
fn figure(value: f64) -> String {
    if value == 0.0 {
        return "0.0".to_owned();
    }
    let digits = (5 - value.abs().log10().floor() as i64).clamp(1, 15) as usize;
    let text = format!("{value:.digits$}");
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}

fn residuals(samples: &[Sample], fit: &Fit) -> String {
    let kept = samples.iter().zip(&fit.fitted).filter(|(_, (_, weight))| *weight > 0.0);
    let mut left: Vec<f64> =
        kept.map(|(sample, (time, _))| 100.0 * (sample.time_us / time - 1.0).abs()).collect();
    left.sort_by(f64::total_cmp);
    let [median, most] =
        [left.get(left.len() / 2), left.last()].map(|value| value.copied().unwrap_or(0.0));
    let out = match samples.len() - left.len() {
        0 => String::new(),
        out => format!(", {out} omitted as outliers"),
    };
    format!(
        "fitted to {} times{out}; residuals: median {median:.1} %, largest {most:.1} %",
        left.len()
    )
}
