//! The real program in a terminal: files, exit status and restoration of the terminal.

use super::pty::{Terminal, in_terminal, processes_in, rows, shell, some};
use crate::support::{compile_c, swapmeet};
use std::io::Read;
use std::time::{Duration, Instant};
use swapmeet_results::Status;

#[test]
fn pick_run_compare_save_quit() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(folder.path(), "swapmeet tui --out out.csv", 80, 24);
    terminal.wait_for("Choose: 0 cases selected");
    terminal.keys("lllisuh-shin\r");
    terminal.wait_for("[x] suh-shin");
    terminal.keys("ipex\r");
    terminal.wait_for("[x] pex");
    terminal.keys("R2");
    terminal.wait_for("✓ blocks");
    terminal.wait_for("done: 2 cases verified");
    terminal.keys("b");
    terminal.wait_for("baseline: ");
    // Change one setting and run again.
    terminal.keys("1hi\u{15}uniform:8\r");
    terminal.wait_for("[x] uniform:8");
    terminal.keys("a");
    terminal.wait_for("done: 4 cases verified");
    terminal.keys("S\u{15}session.toml\r");
    terminal.wait_for("saved session.toml");
    terminal.keys("Q");
    let left = terminal.end(0);
    assert!(
        left.contains("suh-shin") && left.contains("uniform:8"),
        "the results are left on the screen:\n{left}"
    );

    assert_eq!(rows(&folder.path().join("out.csv")).len(), 4);
    assert_eq!(rows(&folder.path().join("session.csv")).len(), 4);
    swapmeet(&["run", "--out", "again.csv", "session.toml"])
        .current_dir(folder.path())
        .assert()
        .success();
    assert_eq!(rows(&folder.path().join("again.csv")).len(), 4);
}

#[test]
fn a_small_terminal_shows_the_minimum_size() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(
        folder.path(),
        "swapmeet run --tui --topology torus:4x4 --algorithm pex",
        80,
        24,
    );
    terminal.wait_for("done: 1 case verified");
    terminal.resize(140, 44);
    terminal.wait_for("1 case verified");
    terminal.resize(30, 8);
    terminal.wait_for("30x8 is too small");
    terminal.wait_for("44x12 is needed");
    // The row is not saved, so `q` asks for confirmation.
    terminal.keys("q");
    terminal.wait_for("q again quits");
    terminal.keys("q");
    terminal.end(0);
}

#[test]
fn ctrl_c_keeps_rows_and_restores_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    // The first case takes little time, and the second takes long.
    let command = "swapmeet tui --out rows.csv --topology torus:4x4 --topology torus:64x64 --proof full --algorithm gen";
    let mut terminal = Terminal::start(folder.path(), command, 100, 30);
    terminal.wait_for("1/2");
    terminal.keys("\u{3}");
    let left = terminal.end(130);
    assert!(
        left.contains("1 row in rows.csv; some cases have not finished: the same command with"),
        "{left}"
    );
    let rows = rows(&folder.path().join("rows.csv"));
    assert_eq!(rows.iter().map(|r| r.topology.as_str()).collect::<Vec<_>>(), ["torus:4x4"]);
}

/// The last line says how to run the cases that the user has cancelled.
#[test]
fn cancelled_cases_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let command = "swapmeet tui --out rows.csv --topology torus:4x4 --topology torus:64x64 --proof full --algorithm gen";
    let mut terminal = Terminal::start(folder.path(), command, 100, 30);
    terminal.wait_for("1/2");
    terminal.keys("x");
    terminal.wait_for("Cancel them?");
    terminal.keys("y");
    terminal.wait_for("1 stopped");
    terminal.keys("q");
    let left = terminal.end(130);
    assert!(
        left.contains("1 row in rows.csv; some cases have not finished: the same command with"),
        "{left}"
    );
}

/// Without arguments, the dashboard runs an example, so that every panel has content. The user has
/// not requested the rows of the example, so the dashboard exits without a question.
#[test]
fn without_arguments_an_example_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(folder.path(), "swapmeet tui", 80, 24);
    terminal.wait_for("All-to-all on torus:");
    for (panel, content) in
        [("2", "✓ "), ("3c", "┤"), ("m", "░"), ("4", "█"), ("n", "link load"), ("5", "startup_us")]
    {
        terminal.keys(panel);
        terminal.wait_for(content);
    }
    terminal.keys("q");
    terminal.end(0);
}

/// From `swapmeet tui` to the fastest algorithm on a 16x16 torus from 1 KiB to 1 MiB, and the reason
/// for 1 KiB: at most eight keys.
#[test]
fn the_program_answers_a_question_with_few_keys() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(folder.path(), "swapmeet tui", 100, 30);
    terminal.wait_for("All-to-all on torus:16x16, fugaku (default machine): ");
    terminal.wait_for("algorithms were run");
    ["   1 KiB  ", "   1 MiB  "].iter().for_each(|size| terminal.wait_for(size));
    let (to_the_size, to_the_reason) = ("ll", "4");
    assert!(to_the_size.len() + to_the_reason.len() <= 8);
    terminal.keys(to_the_size);
    terminal.wait_for("torus:16x16, 1 KiB: ");
    terminal.keys(to_the_reason);
    terminal.wait_for("uniform:1KiB, fugaku");
    terminal.wait_for(" beats ");
    terminal.keys("\u{3}");
    terminal.end(0);
}

/// The keys of the animated picture in the README still reach the last scene, which they end. Here,
/// they do not wait for the times of the scenes, but only for the texts.
#[test]
fn the_keys_of_the_picture_run_to_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = include_str!("../../../workloads/experiments/quick-start.toml");
    std::fs::write(folder.path().join("quick-start.toml"), experiment).unwrap();
    let script = include_str!("../../../docs/pictures/dashboard.txt");
    let without_time = |line: &str| {
        let (first, rest) = line.split_once(' ').unwrap();
        format!("{}\n", if first.parse::<f64>().is_ok() { rest } else { line })
    };
    let keys: String = script.lines().map(without_time).collect();
    assert!(keys.ends_with("key Ctrl-C\n"));
    std::fs::write(folder.path().join("keys.txt"), keys).unwrap();
    // The status is 2 if a text is missing, and 130 if the last key comes before the end of the run.
    let command = "swapmeet tui quick-start.toml --theme rich --replay keys.txt; test $? -ne 2";
    Terminal::start(folder.path(), command, 112, 34).end(0);
}

/// A key that arrives together with a change of the size is read at once.
#[test]
fn keys_that_arrive_with_a_resize_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let command = "swapmeet tui --topology torus:4x4 --algorithm pex";
    let mut terminal = Terminal::start(folder.path(), command, 80, 24);
    terminal.wait_for("done: 1 case verified");
    for (round, (key, title)) in
        [("1", "┌ 1 Choose"), ("2", "┌ 2 Table")].iter().cycle().take(20).enumerate()
    {
        terminal.resize(80 + round as u16 % 3 * 20, 24 + round as u16 % 2 * 10);
        terminal.keys(key);
        terminal.wait_for(title);
    }
    terminal.keys("\u{3}");
    terminal.end(0);
}

/// Wrong options in `swapmeet.toml`, and files of keys that cannot be written or replayed, are
/// reported with their places.
#[test]
fn wrong_options_and_scripts_are_reported_with_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("absent.txt", "# comment\nabsent Choose\n");
    for (options, flags, message) in [
        ("[tui]\nview = \"tabel\"", "", "swapmeet.toml:2:8: no view `tabel`: expected one of"),
        ("[tui]\ncolumns = [\"stpes\"]", "", "swapmeet.toml:2:12: no column `stpes`: expected"),
        ("[tui.keys]\nhelp = \"q\"", "", "swapmeet.toml:2:8: `q` is also the key of `quit`"),
        ("[tui.keys]\nhepl = \"H\"", "", "swapmeet.toml:2:8: `hepl` is no action of anywhere"),
        ("", "--record absent.txt", "absent.txt exists already: expected the name of a new file"),
        ("", "--replay absent.txt", "absent.txt: line 2: the screen shows `Choose`"),
    ] {
        write("swapmeet.toml", options);
        let command = format!("swapmeet tui --force --out rows.csv {flags}");
        let left = Terminal::start(folder.path(), &command, 160, 40).end(2);
        assert!(left.contains(message), "{message} in\n{left}");
    }
}

/// A double click opens the line that was clicked, also in a list that is scrolled.
#[test]
fn a_double_click_opens_the_line_under_the_mouse() {
    let folder = tempfile::tempdir().unwrap();
    let sizes: Vec<String> = (1..=60).map(|size| format!("--workload uniform:{size}")).collect();
    let command = format!("swapmeet tui --topology ring:4 --algorithm bruck {}", sizes.join(" "));
    let mut terminal = Terminal::start(folder.path(), &command, 80, 24);
    terminal.wait_for("done: 60 cases");
    terminal.keys("2G");
    terminal.wait_for("uniform:60 ");
    let row = |terminal: &Terminal, text: &str| {
        terminal.shown().lines().position(|line| line.contains(text)).unwrap() + 1
    };
    let at = row(&terminal, "uniform:43 ");
    for _ in 0..2 {
        terminal.keys(&format!("\u{1b}[<0;20;{at}M\u{1b}[<0;20;{at}m"));
    }
    terminal.wait_for("Details: bruck on ring:4, uniform:43,");
    terminal.keys("\u{3}");
    terminal.end(0);
}

/// The test answers the question for the background as a terminal would.
#[test]
fn a_light_background_selects_the_light_theme() {
    let folder = tempfile::tempdir().unwrap();
    for (colour, next) in [("ffff/ffff/f0f0", "rich"), ("0000/1010/2020", "light")] {
        let mut terminal =
            Terminal::start(folder.path(), "swapmeet tui --force --out rows.csv", 80, 24);
        terminal.keys(&format!("\u{1b}]11;rgb:{colour}\u{7}\u{1b}[?62;22c"));
        terminal.wait_for("Choose: 0 cases selected");
        terminal.keys("t");
        terminal.wait_for(&format!("theme: {next}"));
        // An answer that arrives late is not typed into the dashboard.
        terminal.keys(&format!("\u{1b}]11;rgb:{colour}\u{1b}\\:"));
        terminal.wait_for("┌ command");
        assert!(!terminal.shown().contains("rgb"), "{}", terminal.shown());
        terminal.keys("\u{3}");
        terminal.end(0);
    }
}

#[test]
fn signals_restore_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal::start(
        folder.path(),
        "sh -c 'echo $$ > pid; exec swapmeet tui --topology torus:4x4 --algorithm pex'",
        80,
        24,
    );
    terminal.wait_for("done: 1 case verified");
    let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
    assert!(std::process::Command::new("kill").arg(pid.trim()).status().unwrap().success());
    terminal.end(0);
}

#[test]
fn stopped_cases_get_no_row_and_can_be_added_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let Some(plugin) =
        compile_c("tests/plugins/torture.c", &path, "torture", &[("_DEFAULT_SOURCE", "1")])
    else {
        return;
    };
    let command = format!(
        "swapmeet tui --jobs 1 --out rows.csv --plugin-dir {} --topology ring:6 --algorithm gen --algorithm sleeps --algorithm bruck",
        plugin.display()
    );
    let mut terminal = Terminal::start(&path, &command, 100, 30);
    terminal.resize(80, 24);
    terminal.wait("the progress in the first line of the narrow screen", || {
        terminal
            .shown()
            .lines()
            .next()
            .is_some_and(|line| line.ends_with("1/3 cases") && line.chars().count() <= 80)
    });
    // A running case shows its elapsed time.
    terminal.keys("2");
    terminal.wait_for("┌ 2 Table");
    terminal.resize(120, 40);
    terminal.wait("the time of the running case", || {
        terminal
            .shown()
            .lines()
            .any(|line| line.contains("▸") && line.contains(" s ") && line.contains(" sleeps "))
    });
    terminal.resize(100, 30);
    terminal.wait("the new screen", || {
        terminal.shown().lines().nth(1).is_some_and(|line| {
            line.starts_with("┌ 2 Table") && line.trim_end().chars().count() == 100
        })
    });
    // The letters of a filter are not commands.
    terminal.keys("2/pex\r\u{1b}");
    std::thread::sleep(Duration::from_millis(200));
    // Any key but `y` and `x` lets the run continue.
    terminal.keys("x");
    terminal.wait_for("2 cases not finished. Cancel them?");
    terminal.keys("n2");
    terminal.wait_for("1 ok, 1 running, 1 waiting");
    terminal.keys("x");
    terminal.wait_for("y or x: cancel   n or Esc: continue");
    terminal.keys("x");
    terminal.wait_for("done: 1 case verified, 2 stopped");
    terminal.wait_for("- stopped");
    let workers = || {
        processes_in(&path).into_iter().filter(|line| line.contains(" worker ")).collect::<Vec<_>>()
    };
    terminal.wait("the worker to be gone", || workers().is_empty());
    // Deselect the algorithm whose plan never ends.
    terminal.keys("1lll/sleeps\r a");
    terminal.wait_for("done: 2 cases verified");
    // No case is running, so the dashboard ends without asking.
    terminal.keys("q");
    terminal.end(0);
    let rows = rows(&path.join("rows.csv"));
    assert_eq!(rows.iter().map(|r| r.algorithm.as_str()).collect::<Vec<_>>(), ["gen", "bruck"]);
}

#[test]
fn a_crash_affects_only_its_own_row() {
    let folder = tempfile::tempdir().unwrap();
    let Some(plugin) =
        compile_c("tests/plugins/torture.c", folder.path(), "torture", &[("_DEFAULT_SOURCE", "1")])
    else {
        return;
    };
    let algorithms = ["gen", "segfault", "bruck", "prints", "exits", "pairwise"];
    let command = format!(
        "swapmeet tui --out rows.csv --plugin-dir {} --topology ring:6 --algorithm {}",
        plugin.display(),
        algorithms.join(" --algorithm ")
    );
    let mut terminal = Terminal::start(folder.path(), &command, 140, 30);
    terminal.wait_for("done: 4 cases verified, 2 failed");
    terminal.keys("2");
    terminal.wait_for("┌ 2 Table");
    terminal.wait("the comparison of all cases", || {
        let shown = terminal.shown();
        shown.matches("✓ blocks").count() == 4 && shown.matches(" crashed ").count() == 2
    });
    let shown = terminal.shown();
    let line = |algorithm: &str| {
        shown.lines().find(|line| line.contains(&format!(" {algorithm} "))).unwrap()
    };
    assert!(
        line("segfault").contains("crashed") && line("segfault").contains("(SIGSEGV)"),
        "{shown}"
    );
    assert!(
        line("exits").contains("crashed") && line("exits").contains("exit status 0"),
        "{shown}"
    );
    for good in ["gen", "bruck", "prints", "pairwise"] {
        assert!(line(good).contains("✓"), "{shown}");
    }
    // Output of plugins goes to the log and does not disturb the screen.
    let frame = |line: &&str| line.starts_with('│') && line.ends_with('│');
    assert_eq!(shown.lines().filter(frame).count(), 26, "{shown}");
    terminal.keys("L");
    terminal.wait_for("┌ Log");
    terminal.wait_for("segfault on ring:6: its process was killed by signal 11 (SIGSEGV)");
    terminal.keys("q");
    terminal.end(1);
    let rows = rows(&folder.path().join("rows.csv"));
    let mut written: Vec<&str> = rows.iter().map(|r| r.algorithm.as_str()).collect();
    // Rows are in the order in which cases ended.
    written.sort_by_key(|name| algorithms.iter().position(|algorithm| algorithm == name));
    assert_eq!(written, algorithms);
    for row in rows {
        let expected = if matches!(row.algorithm.as_str(), "segfault" | "exits") {
            Status::Crashed
        } else {
            Status::Ok
        };
        assert_eq!(row.status, expected, "{}: {}", row.algorithm, row.reason);
    }
}

/// The terminal window is closed while cases run. The processes in the foreground receive a signal.
/// A process in the background only notices that the terminal no longer exists.
#[test]
fn a_hang_up_ends_the_program_and_keeps_rows() {
    for start in ["exec swapmeet", "exec setsid swapmeet"] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let command = format!(
            "{start} tui --out rows.csv --topology torus:4x4 --topology torus:64x64 --proof full --algorithm gen"
        );
        // If `setsid` were the first process of the terminal, it would fork.
        let (master, mut child) =
            in_terminal(shell(&path, &format!("sh -c '{command}'; true")), 100, 30);
        let mut reader = master.try_clone_reader().unwrap();
        let mut parser = vt100::Parser::new(some(30), some(100), 0);
        let mut bytes = [0; 4096];
        while !parser.screen().contents().contains("1/2") {
            let n = reader.read(&mut bytes).unwrap();
            assert!(n > 0, "it ended by itself");
            parser.process(&bytes[..n]);
        }
        assert!(!processes_in(&path).is_empty());
        drop((reader, master));
        until("it has ended", || processes_in(&path).is_empty());
        child.wait().unwrap();
        let rows = rows(&path.join("rows.csv"));
        assert_eq!(rows.iter().map(|r| r.topology.as_str()).collect::<Vec<_>>(), ["torus:4x4"]);
    }
}

#[test]
fn a_blocked_terminal_does_not_delay_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    let command = "swapmeet tui --out rows.csv --topology torus:4x4 --algorithm pex --algorithm gen --repetitions 100; true";
    // The output is larger than the buffer of the terminal, and nothing reads from the terminal.
    let (master, mut child) = in_terminal(shell(&path, command), 200, 60);
    let written =
        || std::fs::read_to_string(path.join("rows.csv")).map_or(0, |text| text.lines().count());
    until("all rows are written", || written() == 201);
    drop(master);
    until("it has ended", || processes_in(&path).is_empty());
    child.wait().unwrap();
    assert_eq!(rows(&path.join("rows.csv")).len(), 200);
}

/// If the terminal disappears, the program cannot write to it any more. It ends as after an interrupt,
/// and keeps its rows.
#[test]
fn the_program_ends_in_order_if_the_terminal_disappears() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    // The shell handles the signal of the closed terminal, so it lives to write the exit status.
    let command = "trap : HUP; swapmeet tui --out rows.csv --topology torus:4x4 --algorithm pex \
                   --algorithm gen; echo status $? > status";
    let (master, mut child) = in_terminal(shell(&path, command), 80, 24);
    let read = |name: &str| std::fs::read_to_string(path.join(name)).unwrap_or_default();
    until("all rows are written", || read("rows.csv").lines().count() == 3);
    drop(master);
    until("it has ended", || read("status").ends_with('\n'));
    child.wait().unwrap();
    assert!(["status 0\n", "status 130\n"].contains(&&*read("status")), "{}", read("status"));
    assert_eq!(rows(&path.join("rows.csv")).len(), 2);
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let patience = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < patience, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_panic_restores_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let command =
        "THIS-TEST --exact dashboard::terminal::panics_on_the_screen --ignored --nocapture";
    let shown = Terminal::start(folder.path(), command, 80, 24).end(101);
    assert!(shown.contains("a requested panic"), "the message is on the normal screen:\n{shown}");
}

#[test]
#[ignore = "panics, within the test above"]
fn panics_on_the_screen() {
    swapmeet_tui::terminal::on_screen(|_| panic!("a requested panic")).unwrap();
}

#[test]
fn without_a_terminal_an_alternative_is_named() {
    let output =
        swapmeet(&["tui", "--topology", "torus:4x4", "--algorithm", "pex"]).assert().code(2);
    let message = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert_eq!(
        message,
        "error: the dashboard needs a terminal for input and output: without one, use `swapmeet run`\n"
    );
}

/// The second case has the same schedule as the first case, so its number of steps is known.
#[test]
fn the_progress_bar_shows_steps_of_a_long_case() {
    let folder = tempfile::tempdir().unwrap();
    let command = "swapmeet run --proof full --jobs 1 --topology mesh:32x32 --algorithm gen \
                   --workload uniform:8 --workload irregular:dist=exponential,mean=8 --out rows.csv";
    let terminal = Terminal::start(folder.path(), command, 120, 30);
    terminal.wait_for("step ");
    terminal.wait_for(" of 1023, ");
    assert!(
        terminal.line(" of 1023, ").contains(" messages/s: gen on mesh:32x32, irregular"),
        "{}",
        terminal.shown()
    );
    terminal.end(0);
}

#[test]
fn an_earlier_run_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let cases = "--algorithm gen --topology torus:4x4 --out rows.csv";
    let command = format!(
        "sh -c 'swapmeet run --quiet {cases} && exec swapmeet run --tui --ascii --theme mono --resume {cases} --topology torus:8x8'"
    );
    let mut terminal = Terminal::start(folder.path(), &command, 100, 30);
    terminal.wait_for("done: 2 cases verified");
    terminal.keys("L");
    terminal.wait_for("1 row of an earlier run loaded");
    terminal.keys("q");
    terminal.end(0);
    let rows = rows(&folder.path().join("rows.csv"));
    assert_eq!(
        rows.iter().map(|r| r.topology.as_str()).collect::<Vec<_>>(),
        ["torus:4x4", "torus:8x8"]
    );
}

#[test]
fn appearance_flags_require_the_dashboard() {
    let output =
        swapmeet(&["run", "--theme", "rich", "--topology", "torus:4x4", "--algorithm", "pex"])
            .assert()
            .code(2);
    let message = String::from_utf8_lossy(&output.get_output().stderr).into_owned();
    assert_eq!(message, "error: --theme and --ascii are for the dashboard: add --tui\n");
}
