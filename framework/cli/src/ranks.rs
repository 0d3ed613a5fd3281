//! `swapmeet run --on mpirun|slurm` executes schedules in the format of `export --format mpi` on
//! real MPI ranks, and writes the measured times as rows.

use crate::args::{CaseArgs, On, Overwrite, RowFormat, RunArgs};
use crate::export::translated;
use crate::failure::{ExitStatus, Failure, INTERRUPTED, SOME_FAILED, SUCCESS, print_reason};
use crate::output;
use crate::run::row_file::Remarks;
use crate::run::{
    Tally, complete, experiment, interrupts, place_for, print_remarks, protect_inputs,
    refuse_appearance, shard_cases,
};
use crate::say::say;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use swapmeet_bridges::export::{Format, format, mpi};
use swapmeet_core::text::is_unsafe;
use swapmeet_results::{Record, Status, quoted, read_file};
use swapmeet_runner::case::{Case, CaseGrid};
use swapmeet_runner::isolation::ProcessGroup;

mod failure;

struct Plan {
    cases: Vec<Case>,
    /// The launcher's command line without the program. `{ranks}` stands for the number of ranks.
    launch: Vec<String>,
    name: String,
    warmup: u32,
    repetitions: u32,
    format: &'static Format,
}

/// Runs an experiment on real ranks, or writes a Slurm job that does so.
pub(crate) fn run(
    RunArgs { cases: args, real_ranks: ranks, format: row_format, .. }: &RunArgs,
    on: On,
) -> Result<ExitStatus, Failure> {
    refuse_appearance(&args.appearance)?;
    let mut experiment = experiment(args)?;
    // The program on the ranks repeats a schedule itself, so a case has only one seed here.
    let repetitions = std::mem::replace(&mut experiment.repetitions, 1);
    let all = complete(experiment, &args.plugins, None, true)?;
    let mut cases: Vec<_> = shard_cases(&all, args.shard)?;
    // Measurements do not depend on the machine, so cases that differ only in it run once.
    let mut known = HashSet::new();
    cases.retain(|case| {
        known.insert((case.topology.spec(), case.algorithm.to_string(), case.workload.to_string()))
    });
    if args.resume {
        return Err(Failure::Usage("--resume: measurements cannot be continued".to_owned()));
    }
    if args.settings.has("optimum") {
        let why = "--optimum: measured rows have no optimum, because it depends on a model";
        return Err(Failure::Usage(why.to_owned()));
    }
    protect_inputs(args, &all)?;
    // The name becomes a part of the column `machine`, where commas and colons are separators.
    let name = match &ranks.name {
        Some(name) => name.clone(),
        None => rustix::system::uname().nodename().to_string_lossy().into_owned(),
    };
    if name.is_empty()
        || name.len() > 63
        || name.contains([',', ':', '"', '\''])
        || name.contains(is_unsafe)
    {
        return Err(Failure::Usage(format!(
            "--name {name}: expected 1 to 63 characters, without commas, colons, quotation marks and control characters"
        )));
    }
    let default = match on {
        On::Mpirun => "mpirun -n {ranks}",
        On::Slurm => "srun -n {ranks}",
    };
    let launch: Vec<String> =
        ranks.launch.as_deref().unwrap_or(default).split_whitespace().map(str::to_owned).collect();
    if launch.is_empty() || !launch.iter().any(|word| word.contains("{ranks}")) {
        return Err(Failure::Usage(
            "--launch: expected a command with {ranks} in it, as in `mpirun -n {ranks}`".to_owned(),
        ));
    }
    let format = format("mpi")
        .ok_or_else(|| Failure::Output("this program has no format `mpi`".to_owned()))?;
    let plan = Plan { cases, launch, name, warmup: ranks.warmup.unwrap_or(2), repetitions, format };
    match (on, &ranks.script) {
        (On::Mpirun, None) => run_with_launcher(args, *row_format, &plan, &all),
        (On::Slurm, Some(script)) => write_job(args, &plan, script),
        (On::Mpirun, Some(_)) => Err(Failure::Usage("--script is for --on slurm".to_owned())),
        (On::Slurm, None) => {
            Err(Failure::Usage("--on slurm writes a job: name it with --script FILE".to_owned()))
        }
    }
}

fn run_with_launcher(
    args: &CaseArgs,
    format: Option<RowFormat>,
    plan: &Plan,
    all: &CaseGrid,
) -> Result<ExitStatus, Failure> {
    let remarks = Remarks::default();
    // The program is compiled first, because a failed compilation must leave no output file.
    let folder = tempfile::tempdir().map_err(|e| Failure::file(&std::env::temp_dir(), &e))?;
    let program = compile_program(folder.path())?;
    let mut args = args.clone();
    args.force |= args.out.as_deref().is_some_and(has_no_measurement);
    let args = &args;
    let (mut rows, _) = place_for(args, format, &plan.cases, all, &remarks)?;
    let interrupted = interrupts();
    let (mut tally, mut written) = (Tally::default(), 0);
    let mut finished = true;
    // If the launcher is broken, every case fails in the same way, so a reason is printed once.
    let mut reasons = HashSet::new();
    for (number, case) in plan.cases.iter().enumerate() {
        let place = folder.path().join(number.to_string());
        std::fs::create_dir(&place).map_err(|e| Failure::file(&place, &e))?;
        // The schedule is first simulated and verified. Only a valid one runs on real ranks.
        let Some(record) = export_case(args, plan, case, &place)? else {
            finished = false;
            break;
        };
        let measured = match record.status {
            Status::Ok => measure_case(plan, case, &program, &place, &interrupted)?,
            _ => Some(vec![*record]),
        };
        let Some(measured) = measured else {
            finished = false;
            break;
        };
        for record in measured {
            tally.add(&record);
            let is_new = record.status != Status::Ok && reasons.insert(record.reason.clone());
            if is_new && !args.quiet {
                print_reason(&record);
            }
            rows.push(written, Box::new(record))?;
            written += 1;
        }
        drop(std::fs::remove_dir_all(&place));
    }
    rows.finish()?;
    rows.print_table()?;
    if !args.quiet {
        say!("{}{tally}, measured", if finished { "" } else { "interrupted: " });
    }
    print_remarks(&remarks);
    Ok(match (finished, tally.failed) {
        (false, _) => INTERRUPTED,
        (true, 0) => SUCCESS,
        (true, _) => SOME_FAILED,
    })
}

/// Returns whether a file has no successful measurement, so that a run may overwrite it.
fn has_no_measurement(file: &Path) -> bool {
    if output::is_stdout(file) {
        return false;
    }
    let has_failed = |row: &Record| row.status == Status::Error && row.model == "measured";
    std::fs::metadata(file).is_ok_and(|file| file.is_file() && file.len() == 0)
        || read_file(file).is_ok_and(|rows| !rows.is_empty() && rows.iter().all(has_failed))
}

/// Writes the schedule of a case and returns its row. Returns `None` after an interrupt.
fn export_case(
    args: &CaseArgs,
    plan: &Plan,
    case: &Case,
    folder: &Path,
) -> Result<Option<Box<Record>>, Failure> {
    match translated(case, &args.plugins, plan.format, folder, folder) {
        Ok(record) => Ok(record.map(|record| match record.status {
            Status::Ok => record,
            _ => Box::new(row(plan, case, record.status, record.reason)),
        })),
        // The schedule is valid, but cannot be expressed in the format for real ranks.
        Err(Failure::Usage(why)) => Ok(Some(Box::new(row(plan, case, Status::Unsupported, why)))),
        Err(other) => Err(other),
    }
}

fn row(plan: &Plan, case: &Case, status: Status, reason: String) -> Record {
    Record {
        status,
        reason,
        machine: format!("measured:{}", plan.name),
        model: "measured".to_owned(),
        machine_definition: String::new(),
        ..case.blank_row()
    }
}

fn compile_program(folder: &Path) -> Result<PathBuf, Failure> {
    let (source, program) = (folder.join("replay.c"), folder.join("replay"));
    std::fs::write(&source, mpi::PROGRAM).map_err(|e| Failure::file(&source, &e))?;
    let compiler = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned());
    let output = Command::new(&compiler).args(["-O2", "-o"]).arg(&program).arg(&source).output();
    let output = output.map_err(|e| {
        Failure::Usage(format!(
            "--on mpirun: `{compiler}`: {e}: MPI's C compiler is needed (or name it in MPICC)"
        ))
    })?;
    match output.status.success() {
        true => Ok(program),
        false => {
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            Err(Failure::Usage(format!(
                "--on mpirun: `{compiler}` cannot compile the program for real ranks: {errors}"
            )))
        }
    }
}

/// Returns the rows of the measurement, or `None` after an interrupt.
fn measure_case(
    plan: &Plan,
    case: &Case,
    program: &Path,
    folder: &Path,
    interrupted: &AtomicBool,
) -> Result<Option<Vec<Record>>, Failure> {
    // Errors are written to a file, because the launcher would block on a full pipe.
    let (rows, errors) = (folder.join("rows.csv"), folder.join("errors.txt"));
    let failed = |e: io::Error| Failure::file(&errors, &e);
    let words = launch_words(plan, case);
    let mut command = Command::new(&words[0]);
    command
        .args(&words[1..])
        .arg(program)
        .arg(folder.join("schedule.txt"))
        .args(flags(plan))
        .arg("--out")
        .arg(&rows);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(&errors).map_err(failed)?);
    let mut launcher = ProcessGroup::start(&mut command)
        .map_err(|e| Failure::Usage(format!("--launch: `{}`: {e}", words[0])))?;
    let messages =
        || String::from_utf8_lossy(&std::fs::read(&errors).unwrap_or_default()).into_owned();
    let not_measured = |status: Status, why: &str, said: Option<String>| {
        let reason = said.map_or_else(|| why.to_owned(), |said| format!("{why}: {said}"));
        Ok(Some(vec![row(plan, case, status, reason)]))
    };
    // If the program exits with status 1 and a message, the schedule is invalid on real ranks, for
    // instance because blocks are missing. All other failures are due to the launcher or the
    // machine.
    match launcher.wait(case.options.timeout, interrupted).map_err(failed)? {
        Some(status) if status.success() => read_file(&rows).map(Some).map_err(Failure::usage),
        Some(status) => match failure::of_program(&messages()) {
            Some(own) if status.code() == Some(1) => {
                not_measured(Status::Invalid, "on real ranks", Some(own))
            }
            own => {
                let said = own.or_else(|| failure::of_launcher(&messages(), &plan.launch));
                not_measured(Status::Error, &format!("`{}`: {status}", words[0]), said)
            }
        },
        None if interrupted.load(Ordering::Relaxed) => Ok(None),
        None => {
            let said = messages();
            let said =
                failure::of_program(&said).or_else(|| failure::of_launcher(&said, &plan.launch));
            not_measured(Status::Timeout, "not done in time", said)
        }
    }
}

fn launch_words(plan: &Plan, case: &Case) -> Vec<String> {
    let ranks = case.topology.nodes().to_string();
    plan.launch.iter().map(|word| word.replace("{ranks}", &ranks)).collect()
}

fn flags(plan: &Plan) -> [String; 6] {
    let (warmup, repetitions) = (plan.warmup.to_string(), plan.repetitions.to_string());
    [
        "--warmup".to_owned(),
        warmup,
        "--repetitions".to_owned(),
        repetitions,
        "--name".to_owned(),
        plan.name.clone(),
    ]
}

/// Writes a Slurm job script, and the schedules to a folder next to it.
fn write_job(args: &CaseArgs, plan: &Plan, script: &Path) -> Result<ExitStatus, Failure> {
    // Earlier versions of the folder and the script are replaced together.
    let folder = PathBuf::from(format!("{}.schedules", script.display()));
    let over = Overwrite { force: args.force };
    output::may_write(script, over, args.experiment.iter())?;
    if folder.exists() && !over.force {
        return Err(Failure::Usage(format!(
            "{}: it exists already: --force overwrites it",
            folder.display()
        )));
    }
    if folder.exists() {
        std::fs::remove_dir_all(&folder).map_err(|e| Failure::file(&folder, &e))?;
    }
    std::fs::create_dir_all(&folder).map_err(|e| Failure::file(&folder, &e))?;
    let source = folder.join("replay.c");
    std::fs::write(&source, mpi::PROGRAM).map_err(|e| Failure::file(&source, &e))?;
    let mut runs = String::new();
    let (mut most, mut count) = (0, 0_u64);
    // Cases for which no schedule can be written are reported and left out.
    for case in &plan.cases {
        let place = folder.join((count + 1).to_string());
        std::fs::create_dir_all(&place).map_err(|e| Failure::file(&place, &e))?;
        let Some(record) = export_case(args, plan, case, &place)? else {
            return Ok(INTERRUPTED);
        };
        if record.status != Status::Ok {
            print_reason(&record);
            std::fs::remove_dir_all(&place).map_err(|e| Failure::file(&place, &e))?;
            continue;
        }
        drop(std::fs::remove_file(place.join("replay.c")));
        count += 1;
        most = most.max(case.topology.nodes());
        let words: Vec<String> = launch_words(plan, case)
            .into_iter()
            .chain(flags(plan))
            .map(|word| quoted(&word))
            .collect();
        let (launch, flags) = words.split_at(plan.launch.len());
        let _ =
            writeln!(runs, "# {} on {}, {}", case.algorithm, case.topology.spec(), case.workload);
        let _ = writeln!(
            runs,
            "{} ./replay {count}/schedule.txt {} --out {count}/rows.csv",
            launch.join(" "),
            flags.join(" ")
        );
    }
    let out = args
        .out
        .as_deref()
        .filter(|out| !output::is_stdout(out))
        .map_or_else(|| PathBuf::from("rows.csv"), Path::to_owned);
    let (out, folder) = (absolute(&out)?, absolute(&folder)?);
    let (out, folder) = (quoted(&out.display().to_string()), quoted(&folder.display().to_string()));
    let text = format!(
        "#!/bin/bash\n#SBATCH --job-name=swapmeet\n#SBATCH --ntasks={most}\n\
         # Executes {count} schedules on real ranks and collects the measurements in one row file.\n\
         set -e\ncd {folder}\nmpicc -O2 -o replay replay.c\nrm -f */rows.csv\n{runs}\
         # One header, then all rows.\n\
         {{ head -n 1 1/rows.csv; for i in $(seq 1 {count}); do tail -n +2 $i/rows.csv; done; }} > {out}\n"
    );
    if count == 0 {
        return Err(Failure::Usage("no case has a schedule that can be executed".to_owned()));
    }
    output::file(script, |out| out.write_all(text.as_bytes()))?;
    if !args.quiet {
        say!("{count} schedules: sbatch {}", script.display());
    }
    Ok(SUCCESS)
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|e| Failure::file(path, &e))
}
