//! Runs the job script of `docs/clusters.md` directly, and under a real Slurm.

use crate::support::{swapmeet, swapmeet_process, tools, words};
use serde_json::json;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};
use swapmeet_results::{Record, Verified, read_file};
use swapmeet_tests::project;
use tempfile::{TempDir, tempdir};

const SWEEP: &str = r#"
name = "sweep"
topologies = ["torus:4x4", "torus:8x8", "ring:6", "mesh:4x8"]
algorithms = ["suh-shin", "gen", "pex"]
workloads = ["uniform:64", "uniform:1KiB"]
machines = ["paragon", "delta"]
"#;

fn blocks() -> Vec<String> {
    let page = std::fs::read_to_string(project("docs/clusters.md")).unwrap();
    page.split("```sh\n").skip(1).map(|rest| rest.split_once("```").unwrap().0.to_owned()).collect()
}

fn folder() -> (TempDir, Vec<Record>) {
    let dir = tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    std::fs::write(path("sweep.toml"), SWEEP).unwrap();
    std::fs::write(path("sweep.sh"), &blocks()[0]).unwrap();
    swapmeet_process(&["run", "sweep.toml", "--quiet", "--out", "whole.csv"])
        .current_dir(dir.path())
        .assert()
        .success();
    let whole = timeless(&path("whole.csv"));
    assert_eq!(whole.len(), 48);
    (dir, whole)
}

fn timeless(path: &Path) -> Vec<Record> {
    let rows = read_file(path).unwrap();
    rows.into_iter().map(|row| Record { plan_ms: None, wall_ms: None, ..row }).collect()
}

fn shell(folder: &Path, script: &str) -> Command {
    let mut command = Command::new("sh");
    let path = swapmeet_tests::path_with_program();
    command.args(["-c", script]).current_dir(folder).env("PATH", path);
    command.env_remove("SWAPMEET_PLUGIN_PATH").env("XDG_DATA_HOME", "/nonexistent");
    command
}

fn text(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn the_job_script_can_be_run_twice() {
    let (dir, whole) = folder();
    for task in ["0", "1", "2", "3", "2"] {
        let mut job = shell(dir.path(), "sh sweep.sh");
        job.env("SLURM_ARRAY_TASK_ID", task)
            .env("SLURM_ARRAY_TASK_COUNT", "4")
            .env("SLURM_ARRAY_TASK_MIN", "0");
        let output = job.env("SLURM_CPUS_PER_TASK", "1").output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
    }
    let output =
        shell(dir.path(), "swapmeet merge part-*.csv --experiment sweep.toml --out rows.csv")
            .output()
            .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(timeless(&dir.path().join("rows.csv")), whole);
}

#[test]
fn shards_by_number_contain_the_same_cases() {
    let (dir, whole) = folder();
    // The page has a loop that runs the script on four machines by `ssh`. Here, this computer runs
    // all of them.
    let script = blocks()[2].replace("ssh \"node$i\"", "sh -c");
    let output = shell(dir.path(), &script).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(timeless(&dir.path().join("rows.csv")), whole);
}

/// Each pod gets the number that Kubernetes would give it. The folders of the volumes are replaced
/// by temporary ones.
#[test]
fn the_kubernetes_job_runs_the_sweep() {
    let page = std::fs::read_to_string(project("docs/clusters.md")).unwrap();
    let manifest = page.split_once("```yaml\n").unwrap().1.split_once("```").unwrap().0;
    let Some(job) = tools::yaml(manifest) else { return };
    assert_eq!((&job["apiVersion"], &job["kind"]), (&json!("batch/v1"), &json!("Job")));
    let spec = &job["spec"];
    assert_eq!(spec["completionMode"], "Indexed");
    let pods = spec["completions"].as_u64().unwrap();
    let container = &spec["template"]["spec"]["containers"][0];
    assert_eq!((&container["command"][0], &container["command"][1]), (&json!("sh"), &json!("-c")));
    let (dir, whole) = folder();
    let path = dir.path().to_str().unwrap();
    let script = container["command"][2].as_str().unwrap();
    assert!(script.contains(&format!("--shard auto/{pods} ")), "{script}");
    let script = script.replace("/experiment/", &format!("{path}/"));
    let script = script.replace("/rows/", &format!("{path}/"));
    // The last pod is started twice, as after an eviction.
    for index in (0..pods).chain([pods - 1]) {
        let mut pod = shell(dir.path(), &script);
        let output = pod.env("JOB_COMPLETION_INDEX", index.to_string()).output().unwrap();
        assert!(output.status.success(), "{}", text(&output));
    }
    let merge = page.split('`').find(|code| code.starts_with("swapmeet merge part-")).unwrap();
    let output = shell(dir.path(), merge).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(timeless(&dir.path().join("rows.csv")), whole);
}

#[test]
fn a_real_slurm_runs_the_sweep() {
    if !tools::runs_all() {
        return;
    }
    let Some(slurm) = Slurm::start() else { return };
    let (dir, whole) = folder();
    let submitted = slurm.shell(dir.path(), &blocks()[1]).output().unwrap();
    assert!(submitted.status.success(), "{}", text(&submitted));
    let deadline = Instant::now() + Duration::from_secs(120);
    loop {
        let queue = slurm.shell(dir.path(), "squeue --noheader").output().unwrap();
        if queue.status.success() && queue.stdout.is_empty() {
            break;
        }
        assert!(Instant::now() < deadline, "still queued:\n{}\n{}", text(&queue), slurm.logs());
        std::thread::sleep(Duration::from_millis(200));
    }
    let logs = shell(dir.path(), "cat part-*.log merge.log").output().unwrap();
    assert_eq!(timeless(&dir.path().join("rows.csv")), whole, "{}{}", text(&logs), slurm.logs());
    assert!(
        (0..4).all(|task| dir.path().join(format!("part-{task}.csv")).is_file()),
        "{}",
        text(&logs)
    );
}

/// The job starts the ranks by `mpirun`, which asks Slurm for the nodes of the job. `srun` could
/// start the ranks only if Slurm was built with support for this MPI.
#[test]
fn a_real_slurm_runs_the_written_job() {
    if !tools::runs_all() {
        return;
    }
    if !tools::has(&["mpicc", "mpirun"]) {
        return;
    }
    let Some(slurm) = Slurm::start() else { return };
    let dir = tempdir().unwrap();
    let launch =
        "mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -n {ranks}";
    let cases =
        ["--topology", "fully-connected:2", "--algorithm", "pairwise", "--algorithm", "ring"];
    let job = words("--script job.sh --name cluster --repetitions 2 --out rows.csv");
    swapmeet(&["run", "--on", "slurm"])
        .args(cases)
        .args(job)
        .args(["--launch", launch])
        .current_dir(dir.path())
        .assert()
        .success();
    let submitted =
        slurm.shell(dir.path(), "sbatch --wait --output=job.log job.sh").output().unwrap();
    let log = std::fs::read_to_string(dir.path().join("job.log")).unwrap_or_default();
    assert!(submitted.status.success(), "{}{log}{}", text(&submitted), slurm.logs());
    let rows = read_file(&dir.path().join("rows.csv")).unwrap();
    let measured: Vec<_> =
        rows.iter().map(|row| (&*row.algorithm, &*row.machine, row.verified)).collect();
    let of = |algorithm| [(algorithm, "measured:cluster", Verified::Bytes); 2];
    assert_eq!(measured, [of("pairwise"), of("ring")].concat(), "{log}");
}

/// A running Slurm on this computer. It is stopped when this value is dropped.
struct Slurm {
    dir: TempDir,
}

impl Slurm {
    fn start() -> Option<Self> {
        let missing = ["munged", "slurmctld", "slurmd", "sbatch"]
            .into_iter()
            .find(|name| found(name).is_none());
        if let Some(name) = missing {
            tools::left_out(
                "slurm",
                &format!("no `{name}` here (Debian: apt-get install slurm-wlm)"),
            );
            return None;
        }
        if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
            tools::left_out("slurm", "only root may start slurmd");
            return None;
        }
        let dir = tempdir().unwrap();
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let slurm = Self { dir };
        slurm.configure();
        let at = |name: &str| slurm.dir.path().join(name).display().to_string();
        let flag = |flag: &str, name: &str| format!("{flag}={}", at(name));
        let munged = [
            "--force".to_owned(),
            flag("--key-file", "munge.key"),
            flag("--socket", "munge.socket"),
            flag("--pid-file", "munged.pid"),
            flag("--log-file", "munged.log"),
            flag("--seed-file", "munged.seed"),
        ];
        for (program, args) in [
            ("munged", &munged[..]),
            ("slurmctld", &["-c".to_owned()]),
            ("slurmd", &["-c".to_owned()]),
        ] {
            let started = slurm.command(found(program)?).args(args).output().unwrap();
            assert!(started.status.success(), "{program}: {}{}", text(&started), slurm.logs());
        }
        Some(slurm)
    }

    fn configure(&self) {
        let host =
            String::from_utf8(Command::new("hostname").arg("-s").output().unwrap().stdout).unwrap();
        let (host, dir) = (host.trim(), self.dir.path().display());
        // Both ports are bound at the same time, so that they differ.
        let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [controller, node] = ports.map(|listener| listener.local_addr().unwrap().port());
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        let conf = format!(
            "ClusterName=one\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser=root\nSlurmctldPort={controller}\nSlurmdPort={node}\n\
             AuthType=auth/munge\nAuthInfo=socket={dir}/munge.socket\nCryptoType=crypto/munge\n\
             StateSaveLocation={dir}/state\nSlurmdSpoolDir={dir}/spool\n\
             SlurmctldPidFile={dir}/slurmctld.pid\nSlurmdPidFile={dir}/slurmd.pid\n\
             SlurmctldLogFile={dir}/slurmctld.log\nSlurmdLogFile={dir}/slurmd.log\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n\
             ReturnToService=2\nMpiDefault=none\nJobAcctGatherType=jobacct_gather/none\n\
             AccountingStorageType=accounting_storage/none\nMinJobAge=2\n\
             NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN\n\
             PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
        );
        let write = |name: &str, content: &[u8]| {
            std::fs::write(self.dir.path().join(name), content).unwrap();
        };
        write("slurm.conf", conf.as_bytes());
        // The key need not be secret, because no other computer can reach this cluster. munge
        // requires that no other user can read it.
        write("munge.key", conf.repeat(2).as_bytes());
        std::fs::set_permissions(
            self.dir.path().join("munge.key"),
            PermissionsExt::from_mode(0o400),
        )
        .unwrap();
        for name in ["state", "spool"] {
            std::fs::create_dir(self.dir.path().join(name)).unwrap();
        }
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.dir.path().join("slurm.conf"));
        command
    }

    fn shell(&self, folder: &Path, script: &str) -> Command {
        let mut command = shell(folder, script);
        command.env("SLURM_CONF", self.dir.path().join("slurm.conf"));
        command
    }

    fn logs(&self) -> String {
        let read =
            |name: &str| std::fs::read_to_string(self.dir.path().join(name)).unwrap_or_default();
        ["munged.log", "slurmctld.log", "slurmd.log"].map(read).concat()
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for name in ["slurmd", "slurmctld", "munged"] {
            if let Ok(pid) = std::fs::read_to_string(self.dir.path().join(format!("{name}.pid"))) {
                let kill = |signal: &str| Command::new("kill").args([signal, pid.trim()]).output();
                drop(kill("-TERM"));
                // The daemons may still write their state, so the folder can be removed only after
                // they have ended.
                for _ in 0..100 {
                    if kill("-0").is_ok_and(|answer| !answer.status.success()) {
                        break;
                    }
                    std::thread::sleep(Duration::from_millis(50));
                }
            }
        }
    }
}

fn found(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders =
        std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
    folders.map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// With Open MPI, each rank can run a shard (`docs/clusters.md`).
#[test]
fn ranks_of_mpirun_are_shards() {
    if !tools::runs_all() {
        return;
    }
    if !tools::has(&["mpirun"]) {
        return;
    }
    let page = std::fs::read_to_string(project("docs/clusters.md")).unwrap();
    let command = page
        .split('`')
        .find(|code| code.starts_with("mpirun -n 8"))
        .unwrap()
        .replace("-n 8", "--allow-run-as-root --oversubscribe -n 4");
    let (dir, whole) = folder();
    let path = swapmeet_tests::path_with_program();
    let mut ranks = Command::new("sh");
    ranks.args(["-c", &command]).current_dir(dir.path()).env("PATH", path);
    let ranks = ranks
        .env_remove("SWAPMEET_PLUGIN_PATH")
        .env("XDG_DATA_HOME", "/nonexistent")
        .output()
        .unwrap();
    assert!(ranks.status.success(), "{}", String::from_utf8_lossy(&ranks.stderr));
    let parts: Vec<String> = (0..4).map(|rank| format!("part-{rank}.csv")).collect();
    let merge = ["merge", "--experiment", "sweep.toml", "--out", "rows.csv"];
    swapmeet(&merge).args(parts).current_dir(dir.path()).assert().success();
    assert_eq!(timeless(&dir.path().join("rows.csv")), whole);
}
