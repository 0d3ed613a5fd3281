//! Files and names from untrusted sources. The program reads them up to a limit and quotes only a
//! part of them. They cannot control a terminal, a spreadsheet or a document.

use crate::support::{compile_c, refused, swapmeet, words};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use swapmeet_results::{Record, Status, read_file};
use swapmeet_tests::program;
use tempfile::{TempDir, tempdir};

/// Writes the rows of two algorithms at two sizes. `change` is applied to the rows of the first
/// algorithm.
fn rows_with(dir: &TempDir, change: impl Fn(&mut Record)) -> PathBuf {
    let path = dir.path().join("rows.csv");
    let run = "run --quiet --topology torus:4x4 --algorithm gen --algorithm pex \
               --workload uniform:8 --workload uniform:64 --force --out";
    swapmeet(&words(run)).arg(&path).assert().success();
    let mut rows = read_file(&path).unwrap();
    rows.iter_mut().filter(|row| row.algorithm == "gen").for_each(change);
    let mut out = csv::Writer::from_path(&path).unwrap();
    out.write_record(swapmeet_results::columns()).unwrap();
    rows.iter().for_each(|row| out.write_record(row.fields()).unwrap());
    out.flush().unwrap();
    path
}

fn printed(command: &str, path: &Path) -> String {
    let output = swapmeet(&words(command)).arg(path).output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn texts_in_row_files_are_escaped_when_they_are_read() {
    let dir = tempdir().unwrap();
    let rows = rows_with(&dir, |row| {
        row.machine = "para\u{1b}[31mgon".to_owned();
        row.note = "a\r\u{202e}b".to_owned();
    });
    assert!(std::fs::read_to_string(&rows).unwrap().contains('\u{1b}'), "nothing is tested");
    let read = read_file(&rows).unwrap();
    assert_eq!(read[0].machine, "para\\u{1b}[31mgon");
    assert_eq!(read[0].note, "a\\r\\u{202e}b");
    let figure = dir.path().join("figure.tex").display().to_string();
    let plot = format!("plot --force --machine para\\u{{1b}}[31mgon --out {figure}");
    for command in [
        "compare",
        "compare --format csv",
        "compare --format json",
        "compare --format markdown",
        "merge --out -",
        "rerun --all",
        "tune --format openmpi",
        &plot,
    ] {
        let message = printed(command, &rows);
        assert!(!message.contains(['\u{1b}', '\u{202e}', '\r']), "{command}: {message:?}");
        assert!(command.starts_with("plot") || message.contains("u{1b}[31mgon"), "{command}");
    }
    let figure = std::fs::read_to_string(figure).unwrap();
    assert!(!figure.contains('\u{1b}') && figure.contains("% torus:4x4"), "{figure}");
}

#[test]
fn names_of_experiments_and_machines_are_escaped_when_they_are_read() {
    let dir = tempdir().unwrap();
    let (file, out) = (dir.path().join("e.toml"), dir.path().join("rows.csv"));
    let experiment =
        "name = \"mine\\u001b[31m\"\ntopologies = [\"ring:4\"]\nalgorithms = [\"ring\"]\n";
    std::fs::write(&file, experiment).unwrap();
    let run = |more: &[&str]| {
        swapmeet(&["run", "--quiet", file.to_str().unwrap(), "--out", out.to_str().unwrap()])
            .args(more)
            .assert()
            .success()
    };
    run(&[]);
    let text = std::fs::read_to_string(&out).unwrap();
    assert!(text.contains("\nmine\\u{1b}[31m,ring,"), "{text}");
    run(&["--resume"]);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), text, "the row is that of the case");
    let own = "machines = [\"m\\u001b\"]\n[machine.\"m\\u001b\"]\nbase = \"paragon\"\n";
    std::fs::write(&file, experiment.to_owned() + own).unwrap();
    let message = refused(&["run", file.to_str().unwrap()]);
    assert!(message.contains("unexpected `\\` in the name"), "{message}");
    for (flag, spec) in [
        ("--topology", "graph:a\u{1b}b"),
        ("--workload", "matrix:a\u{202e}b"),
        ("--algorithm", "schedule:file=a\rb"),
        ("--machine", "paragon:background=a\u{7}b"),
    ] {
        let known = ["--topology", "ring:4", "--algorithm", "ring"];
        let known = known.chunks(2).filter(|pair| pair[0] != flag).flatten().copied();
        let args: Vec<&str> = ["run", flag, spec].into_iter().chain(known).collect();
        let message = refused(&args);
        assert!(message.contains("`, expected no control characters"), "{spec:?}: {message}");
    }
    let on = ["run", "--topology", "ring:4", "--algorithm", "ring", "--on", "mpirun"];
    let message = refused(&[&on[..], &["--name", "a\u{202e}b"]].concat());
    let expected = "expected 1 to 63 characters, without commas, colons, quotation marks and control characters";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn comments_of_latex_figures_and_paths_of_plugins_have_no_control_characters() {
    let dir = tempdir().unwrap();
    let rows = rows_with(&dir, |_| {});
    let figure = dir.path().join("figure.tex");
    swapmeet(&["plot", rows.to_str().unwrap(), "--title", "a\u{1b}[31m\r\u{202e}b", "--out"])
        .arg(&figure)
        .assert()
        .success();
    let text = std::fs::read_to_string(&figure).unwrap();
    assert!(text.lines().any(|line| line == "% a [31m  b"), "{text:?}");
    assert!(!text.contains(['\u{1b}', '\r', '\u{202e}']), "{text:?}");
    let Some(plugin) = compile_c("plugins/ring-c/ring.c", dir.path(), "ring", &[]) else { return };
    let folder = dir.path().join("a\u{1b}[31m\u{202e}");
    std::fs::create_dir(&folder).unwrap();
    std::fs::copy(&plugin, folder.join(plugin.file_name().unwrap())).unwrap();
    std::fs::write(folder.join("broken.so"), "no library").unwrap();
    for args in [
        &["list", "plugins"][..],
        &["list", "plugins", "--format", "csv"],
        &["list", "algorithms", "c-ring"],
    ] {
        let output = swapmeet(args).arg("--plugin-dir").arg(&folder).output().unwrap();
        let message = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(message.contains("a\\u{1b}[31m\\u{202e}/ring.so"), "{args:?}: {message}");
        assert!(!message.contains(['\u{1b}', '\u{202e}']), "{args:?}: {message:?}");
    }
}

/// A spreadsheet executes a cell that begins with one of `=+-@`.
#[test]
fn no_csv_output_has_formulas() {
    let dir = tempdir().unwrap();
    let rows = rows_with(&dir, |row| row.algorithm = "=cmd()".to_owned());
    let formulas = |text: &str| {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let fields: Vec<String> = reader
            .records()
            .flat_map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        assert!(fields.iter().any(|field| field == "'=cmd()"), "{text}");
        fields.iter().any(|f| f.starts_with(['=', '+', '-', '@']) && f.parse::<f64>().is_err())
    };
    assert!(!formulas(&printed("compare --format csv", &rows)));
    for kind in ["curves", "winners", "parts", "traffic"] {
        let figure = dir.path().join(format!("{kind}.svg"));
        let plot = format!("plot {kind} --force --data --out {}", figure.display());
        swapmeet(&words(&plot)).arg(&rows).assert().success();
        let data = std::fs::read_to_string(figure.with_extension("csv")).unwrap();
        assert!(!formulas(&data), "{kind}");
    }
    let times = [1, 2, 4, 8].map(|bytes| format!("{bytes},{}\n", 5 + bytes)).concat();
    std::fs::write(dir.path().join("=cmd()"), format!("bytes,time_us\n{times}")).unwrap();
    let fit = ["fit", "=cmd()", "--name", "x", "--residuals", "residuals.csv"];
    swapmeet(&fit).current_dir(dir.path()).assert().success();
    let text = std::fs::read_to_string(dir.path().join("residuals.csv")).unwrap();
    assert!(text.contains("\n\"'=cmd(), line 2\","), "{text}");
}

#[test]
fn messages_quote_only_a_part_of_a_file() {
    let dir = tempdir().unwrap();
    let long = "x".repeat(1 << 17);
    let file = |name: &str, text: &str| {
        let path = dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let osu = file("osu.txt", &format!("# OSU MPI All-to-All Personalized\n{long}\n"));
    let nccl = file("1_bruck_int32.csv", &format!("highest,a\n{long},3\n"));
    let ping = file("ping.txt", &format!("# OSU MPI Latency Test\n{long}\n"));
    let table = file("table.txt", &format!("bytes,time_us\n1,2\n{long},3\n"));
    let lists = format!("topologies = [\"{long}\"]\nalgorithms = [\"ring\"]\n");
    let experiment = file("e.toml", &lists);
    let rows = rows_with(&dir, |row| row.machine = long.clone()).display().to_string();
    let import =
        ["import", "--name", "a", "--collective", "alltoall", "--ranks", "4", "--out", "-"];
    for (args, most) in [
        ([&import[..], &[&osu]].concat(), 300),
        ([&import[..], &[&nccl]].concat(), 300),
        (vec!["fit", "--name", "a", &ping], 300),
        (vec!["fit", "--name", "a", &table], 300),
        (vec!["tune", "--format", "openmpi", &rows], 5100),
        (vec!["run", &experiment], 6000),
    ] {
        let message = refused(&args);
        assert!(
            message.len() < most && message.contains("xxxx"),
            "{args:?}: {} bytes",
            message.len()
        );
    }
    let message = refused(&[&import[..], &[&osu]].concat());
    let quoted = "x".repeat(80);
    let expected = format!("line 2: `{quoted}...`: expected a comment or a line of numbers\n");
    assert!(message.ends_with(&expected), "{message}");
}

#[test]
fn files_next_to_measurements_and_resumed_files_are_read_up_to_a_limit() {
    let dir = tempdir().unwrap();
    let data = dir.path().join("system/2026/1024_bruck_int32.csv");
    std::fs::create_dir_all(data.parent().unwrap()).unwrap();
    std::fs::write(&data, "highest,rank0,rank1\n1500,1500,1400\n").unwrap();
    symlink("/dev/zero", dir.path().join("system_metadata.csv")).unwrap();
    let message = refused(&["import", data.to_str().unwrap(), "--name", "a", "--out", "-"]);
    let expected = "system_metadata.csv: is a folder or a device, expected metadata of PICO\n";
    assert!(message.ends_with(expected), "{message}");
    // The file has 4 GiB of zeros, which take no space on the disk.
    let rows = dir.path().join("rows.csv");
    std::fs::File::create(&rows).unwrap().set_len(1 << 32).unwrap();
    let script = "ulimit -v 1048576; exec \"$0\" run --resume --topology ring:4 --algorithm ring \
                  --out \"$1\"";
    let output = std::process::Command::new("sh")
        .args(["-c", script])
        .arg(program())
        .arg(&rows)
        .env("XDG_DATA_HOME", "/nonexistent")
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.ends_with("rows.csv: a row of more than 64MiB, expected less\n"), "{message}");
}

/// The name of a PICO file contains the name of an algorithm, which the import writes to the rows.
#[test]
fn names_in_measurements_are_escaped() {
    let dir = tempdir().unwrap();
    let data = dir.path().join("1024_a\u{1b}[31m_int32.csv");
    std::fs::write(&data, "highest,rank0,rank1\n1500,1500,1400\n").unwrap();
    let rows = dir.path().join("rows.csv");
    swapmeet(&["import", data.to_str().unwrap(), "--name", "a", "--collective", "alltoall"])
        .args(["--out", rows.to_str().unwrap()])
        .assert()
        .success();
    assert!(!std::fs::read_to_string(&rows).unwrap().contains('\u{1b}'));
    let rows = read_file(&rows).unwrap();
    assert_eq!((rows[0].status, rows[0].algorithm.as_str()), (Status::Ok, "a\\u{1b}[31m"));
    assert!(rows[0].note.ends_with("1024_a\\u{1b}[31m_int32.csv, line 2"), "{}", rows[0].note);
}
