//! `swapmeet compare`: prints statistics about the rows of result files.

use crate::args::{CompareArgs, CompareFormat};
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::say::say;
use crate::{output, result_files, table};
use std::path::PathBuf;
use swapmeet_core::delivery::fault::Count;
use swapmeet_core::spec::near_matches;
use swapmeet_results::analysis::{Axis, Overlap, Overlaps, overlaps};
use swapmeet_results::{
    By, CompareError, CompareOptions, UnknownParameter, View, compare_rows, csv_table, duration,
    single_line, write_csv, write_json, write_latex, write_markdown, write_table,
};
use swapmeet_runner::input::Text;

pub(crate) fn compare(args: &CompareArgs) -> Result<ExitStatus, Failure> {
    if args.overlap {
        return overlap(args);
    }
    // In `--pivot FILE.csv`, the word after the flag is a file and not an axis.
    let is_file = |axis: &&str| args.files.is_empty() && !axis.is_empty() || axis.ends_with(".csv");
    let first_file = args.pivot.as_deref().filter(is_file);
    let files: Vec<PathBuf> =
        first_file.map(PathBuf::from).into_iter().chain(args.files.clone()).collect();
    let pivot = if first_file.is_some() { Some("") } else { args.pivot.as_deref() };
    let rows = result_files::compared(&files, |_| true)?;
    let options = CompareOptions {
        by: By::find(&args.by, &rows)
            .map_err(|error| unknown("--by", &args.by, &error, &By::ALL.map(By::label)))?,
        baseline: args.baseline.as_deref(),
        correction: args.correct,
    };
    let comparison = compare_rows(&rows, &options).map_err(refused)?;
    drop(rows);
    let view = match pivot {
        Some("") => View::Pivot(Axis::main(&comparison)),
        Some(name) => View::Pivot(
            Axis::find(name, &comparison)
                .map_err(|error| unknown("--pivot", name, &error, &Axis::ALL.map(Axis::name)))?,
        ),
        None if args.details => View::Details,
        None => View::of(&comparison),
    };
    output::print_trimmed(|out| match args.format {
        CompareFormat::Table => write_table(&comparison, view, out),
        CompareFormat::Markdown => write_markdown(&comparison, view, out),
        CompareFormat::Latex => write_latex(&comparison, view, &args.width, out),
        CompareFormat::Csv => write_csv(&comparison, view, out),
        CompareFormat::Json => write_json(&comparison, view, out),
    })?;
    Ok(SUCCESS)
}

fn overlap(args: &CompareArgs) -> Result<ExitStatus, Failure> {
    let rows = result_files::rows(&args.files)?;
    let Overlaps { pairs, missing, larger } = overlaps(&rows);
    let text = match args.format {
        CompareFormat::Table if pairs.is_empty() => String::new(),
        CompareFormat::Table => overlap_table(&pairs),
        CompareFormat::Csv => overlap_csv(&pairs).map_err(|e| Failure::Output(e.to_string()))?,
        CompareFormat::Json | CompareFormat::Markdown | CompareFormat::Latex => {
            let why = "--overlap prints a table or CSV: give --format table or --format csv";
            return Err(Failure::Usage(why.to_owned()));
        }
    };
    if pairs.is_empty() && missing.is_empty() && larger == 0 {
        let why = "no row is of jobs that ran at the same time: `run --beside` makes such rows";
        return Err(Failure::Usage(why.to_owned()));
    }
    if !pairs.is_empty() {
        output::print(&text)?;
    }
    missing.iter().for_each(|what| say!("remark: {what}"));
    if larger > 0 {
        say!("remark: {} of more than two jobs are left out", Count(larger as u64, "row"));
    }
    Ok(SUCCESS)
}

fn overlap_table(pairs: &[Overlap]) -> String {
    let second = |pair: &Overlap| match pair.start_us {
        0.0 => pair.jobs[1].clone(),
        start => format!("{}, {} later", pair.jobs[1], duration(start)),
    };
    let texts = |text: &dyn Fn(&Overlap) -> String| -> Vec<String> {
        pairs.iter().map(|pair| single_line(&text(pair))).collect()
    };
    let specs = [
        ("topology", texts(&|pair| pair.topology.clone())),
        ("machine", texts(&|pair| pair.machine.clone())),
        ("first", texts(&|pair| pair.jobs[0].clone())),
        ("second", texts(&second)),
    ];
    let is_shared = |texts: &[String]| texts.iter().all(|text| *text == texts[0]);
    let (shared, own): (Vec<_>, Vec<_>) = specs.iter().partition(|(_, texts)| is_shared(texts));
    let times = ["first alone", "second alone", "in turn", "together", "in turn / together"];
    let header: Vec<&str> = own.iter().map(|(name, _)| *name).chain(times).collect();
    let line = |(number, pair): (usize, &Overlap)| {
        let [first, second] = pair.alone_us;
        let times = [first, second, pair.sequential_us(), pair.together_us()].map(duration);
        let specs = own.iter().map(|(_, texts)| texts[number].clone());
        specs.chain(times).chain([format!("{:.2}", pair.gain())]).collect()
    };
    let numbers: Vec<usize> = (own.len()..header.len()).collect();
    let lines = pairs.iter().enumerate().map(line).collect();
    let shared: String = shared.iter().map(|(name, of)| format!("{name}: {}\n", of[0])).collect();
    let gap = if shared.is_empty() { "" } else { "\n" };
    format!("{shared}{gap}{}\n", table::plain(&header, &numbers, lines))
}

fn overlap_csv(pairs: &[Overlap]) -> Result<String, impl std::error::Error> {
    let header = [
        "topology",
        "machine",
        "first",
        "second",
        "start_us",
        "first_alone_us",
        "second_alone_us",
        "first_beside_us",
        "second_beside_us",
        "in_turn_us",
        "together_us",
        "gain",
    ];
    let line = |pair: &Overlap| {
        let Overlap { topology, machine, jobs: [first, second], .. } = pair;
        let texts = [topology, machine, first, second].map(Clone::clone);
        let numbers = [
            pair.start_us,
            pair.alone_us[0],
            pair.alone_us[1],
            pair.beside_us[0],
            pair.beside_us[1],
            pair.sequential_us(),
            pair.together_us(),
            pair.gain(),
        ];
        texts.into_iter().chain(numbers.map(|number| number.to_string())).collect::<Vec<_>>()
    };
    let header = header.map(str::to_owned).to_vec();
    csv_table([header].into_iter().chain(pairs.iter().map(line)))
}

/// Adds suggestions to the error about an unknown axis. `always` are axes that all rows have.
pub(crate) fn unknown(
    flag: &'static str,
    name: &str,
    error: &UnknownParameter,
    always: &[&str],
) -> Failure {
    let (_, found) = error.names();
    let known: Vec<&str> = always.iter().copied().chain(found.iter().map(String::as_str)).collect();
    let (near, all) = match error {
        UnknownParameter::Unknown { .. } => {
            (near_matches(name, known.iter().copied()), format!("there are {}", known.join(", ")))
        }
        UnknownParameter::Ambiguous { .. } => (Vec::new(), String::new()),
    };
    Text::flag(flag, name).error(error.to_string()).near(&near, &all).into()
}

fn refused(error: CompareError) -> Failure {
    let message = error.to_string();
    match error {
        CompareError::NoBaseline { baseline, known } => {
            let near = near_matches(&baseline, known.iter().map(String::as_str));
            let text = Text::flag("--baseline", &baseline);
            text.error(message)
                .near(&near, &format!("there are rows of {}", known.join(", ")))
                .into()
        }
        _ => Failure::Usage(message),
    }
}
