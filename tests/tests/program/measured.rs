//! `run --on` runs schedules on real ranks and writes rows of the measured times.

use crate::support::{refused, swapmeet, swapmeet_process, tools, words};
use std::path::Path;
use std::process::Command;
use swapmeet_results::{Status, Verified, read_file};
use tempfile::tempdir;

#[test]
fn a_run_on_real_ranks_writes_measured_rows() {
    if !tools::has(&["mpicc", "mpirun"]) {
        return;
    }
    let dir = tempdir().unwrap();
    let out = dir.path().join("rows.csv");
    let launch =
        "mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -n {ranks}";
    let cases = words(
        "--topology fully-connected:4 --topology ring:3 --algorithm bruck --algorithm binary-exchange",
    );
    let on =
        ["--on", "mpirun", "--launch", launch, "--name", "here", "--repetitions", "3", "--out"];
    let run = swapmeet(&["run"]).args(&cases).args(on).arg(&out).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let rows = read_file(&out).unwrap();
    let of = |status: Status| rows.iter().filter(|row| row.status == status).collect::<Vec<_>>();
    assert!(rows.iter().all(|row| row.machine == "measured:here" && row.model == "measured"));
    assert!(of(Status::Ok).len() == 2 * 3, "{rows:?}");
    assert!(
        of(Status::Ok).iter().all(
            |row| row.verified == Verified::Bytes && row.time_us.is_some_and(|time| time > 0.0)
        )
    );
    let refused: Vec<_> =
        of(Status::Unsupported).iter().map(|row| (&*row.topology, &*row.algorithm)).collect();
    assert_eq!(refused, [("fully-connected:4", "binary-exchange"), ("ring:3", "binary-exchange")]);
    let again = swapmeet(&["run"]).args(&cases).args(on).arg(&out).output().unwrap();
    assert_eq!(again.status.code(), Some(2), "rows are not written over");
}

/// If a launcher cannot start the ranks, this is an error, not an invalid schedule. The first
/// sentence of the launcher's output is the reason. On the terminal, advice follows.
#[test]
fn a_failing_launcher_states_its_reason() {
    let dir = tempdir().unwrap();
    let (launcher, out) = (dir.path().join("launcher"), dir.path().join("rows.csv"));
    std::fs::write(
        &launcher,
        "echo -----
echo 'There are not enough slots available in the system to satisfy the 4'
echo 'slots that were requested by the application:'
echo
echo 'Either request fewer procs for your application, please proceed.'
exit 1
",
    )
    .unwrap();
    let launch = format!("sh -eu -c exec>&2;.\u{24}0 {} {{ranks}}", launcher.display());
    // The shell's script must be one word, so it has no spaces.
    let launch = launch.replace(".\u{24}0", ".${IFS}$0");
    let args = words("run --on mpirun --topology ring:4 --algorithm bruck --name here --launch");
    let run =
        swapmeet_process(&args).arg(launch).arg("--out").arg(&out).env("MPICC", "true").output();
    let run = run.unwrap();
    let message = String::from_utf8_lossy(&run.stderr);
    let rows = read_file(&out).unwrap();
    assert_eq!((run.status.code(), rows[0].status), (Some(1), Status::Error), "{message}");
    let reason = "There are not enough slots available in the system to satisfy the 4 slots that were requested by the application; try --launch 'mpirun --oversubscribe -n {ranks}'";
    assert!(rows[0].reason.ends_with(reason), "{}", rows[0].reason);
    assert!(message.contains(reason), "{message}");
    let attempt = |compiler: &str, out: &Path| {
        let mut run = swapmeet_process(&args);
        let run = run.arg("false {ranks}").arg("--out").arg(out).env("MPICC", compiler);
        let run = run.output().unwrap();
        (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    let (status, message) = attempt("true", &out);
    assert_eq!(status, Some(1), "{message}");
    assert!(read_file(&out).unwrap()[0].reason.contains("`false`"), "{message}");
    let other = dir.path().join("other.csv");
    let (status, message) = attempt("false", &other);
    assert!(status == Some(2) && !other.exists(), "{message}");
    let missing = || {
        let mut run = swapmeet_process(&args);
        let run = run.arg("no-such-launcher {ranks}").arg("--out").arg(&other);
        let run = run.env("MPICC", "true").output().unwrap();
        (run.status.code(), String::from_utf8_lossy(&run.stderr).into_owned())
    };
    let first = missing();
    assert!(first.1.contains("`no-such-launcher`: No such file"), "{}", first.1);
    assert_eq!(missing(), first);
}

#[test]
fn a_job_for_slurm_compiles_runs_and_collects() {
    if !tools::has(&["mpicc", "mpirun", "bash"]) {
        return;
    }
    let dir = tempdir().unwrap();
    let (script, out) = (dir.path().join("a job.sh"), dir.path().join("rows.csv"));
    let launch =
        "mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -n {ranks}";
    let mut args = words(
        "run --on slurm --topology fully-connected:2 --topology ring:3 --algorithm ring \
        --name cluster --repetitions 2 --launch",
    );
    args.extend([launch, "--script"]);
    swapmeet(&args).arg(&script).arg("--out").arg(&out).assert().success();
    let text = std::fs::read_to_string(&script).unwrap();
    assert!(
        text.starts_with("#!/bin/bash\n#SBATCH --job-name=swapmeet\n#SBATCH --ntasks=3\n"),
        "{text}"
    );
    let ran = Command::new("bash").arg(&script).current_dir("/").output().unwrap();
    assert!(ran.status.success(), "{}\n{text}", String::from_utf8_lossy(&ran.stderr));
    let rows = read_file(&out).unwrap();
    assert_eq!(
        rows.iter().map(|row| (row.nodes, row.repetition)).collect::<Vec<_>>(),
        [(2, 0), (2, 1), (3, 0), (3, 1)]
    );
    let message = refused(&[&args[..], &[script.to_str().unwrap()]].concat());
    assert!(message.contains("a job.sh: the file exists already, with"), "{message}");
}
