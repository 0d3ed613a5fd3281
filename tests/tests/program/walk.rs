//! Runs the commands of the first section of `docs/bridges.md` in order.

use crate::support::{tools, words};
use std::path::Path;
use std::process::Command;
use swapmeet_results::{Status, Verified, read_file};
use swapmeet_tests::{build, project};
use tempfile::tempdir;

const PROGRAM: &str = "#include <mpi.h>\nint main(int argc, char **argv) { char out[64] = {0}, in[64]; MPI_Init(&argc, &argv); \
MPI_Alltoall(out, 16, MPI_CHAR, in, 16, MPI_CHAR, MPI_COMM_WORLD); return MPI_Finalize(); }\n";

/// Runs a command in a shell, in a folder, with the program on its search path. Returns what it
/// prints.
pub(super) fn shell(folder: &Path, command: &str) -> String {
    let path = format!("{}:{}", build().display(), std::env::var("PATH").unwrap());
    let mut sh = Command::new("sh");
    sh.args(["-c", command]).current_dir(folder).env("PATH", path).env("NO_COLOR", "1");
    sh.env_remove("SWAPMEET_PLUGIN_PATH").env("XDG_DATA_HOME", "/nonexistent");
    // Use the settings that a user of a machine with few cores would use.
    for key in words(
        "OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_rmaps_base_oversubscribe \
        OMPI_MCA_mpi_yield_when_idle",
    ) {
        sh.env(key, "1");
    }
    let output = sh.output().unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{command}: {said}");
    said
}

#[test]
fn the_commands_from_a_plugin_to_an_open_mpi_rule_work() {
    if !tools::has(&["cc", "make", "mpicc", "mpirun"]) {
        return;
    }
    let dir = tempdir().unwrap();
    let folder = dir.path();
    std::fs::write(folder.join("program.c"), PROGRAM).unwrap();
    shell(folder, "mpicc -o program program.c");
    let document = std::fs::read_to_string(project("docs/bridges.md")).unwrap();
    let walk = document.split("```console walk\n").nth(1).unwrap().split("```").next().unwrap();
    let commands: Vec<&str> = walk.lines().map(|line| line.strip_prefix("$ ").unwrap()).collect();
    assert_eq!(commands.len(), 11);
    let said: Vec<String> = commands.iter().map(|command| shell(folder, command)).collect();
    let measured = read_file(&folder.join("measured.csv")).unwrap();
    assert_eq!(measured.len(), 3 * 6 * 10);
    assert!(measured.iter().all(|row| row.status == Status::Ok
        && row.verified == Verified::Bytes
        && row.machine == "measured:here"));
    let compared = &said[5];
    let beside = compared.split("measured and predicted times\n").nth(1).unwrap();
    let line = beside
        .lines()
        .find(|line| line.contains("uniform:256") && line.contains("  mine  "))
        .unwrap();
    assert!(
        line.contains("measured:here")
            && line.contains("sp2")
            && line.ends_with(|c: char| c.is_ascii_digit()),
        "{line}"
    );
    assert_eq!(read_file(&folder.join("both.csv")).unwrap().len(), 18 + 180);
    assert!(
        std::fs::read_to_string(folder.join("report.html"))
            .unwrap()
            .contains("<h3>measured and predicted times</h3>")
    );
    // An experiment file accepts the machine.
    let machine = std::fs::read_to_string(folder.join("here.toml")).unwrap();
    let experiment = format!(
        "topologies = [\"ring:4\"]\nalgorithms = [\"ring\"]\nmachines = [\"here\"]\n{machine}"
    );
    std::fs::write(folder.join("next.toml"), experiment).unwrap();
    shell(folder, "swapmeet run next.toml --out next.csv");
    assert!(std::fs::read_to_string(folder.join("rules.txt")).unwrap().contains("# ranks"));
}
