//! Rows that the dashboard reads from files: their comparison, their figures, and the simulation of
//! their cases.

use super::pty::{Terminal, rows};
use super::sessions::Session;
use crate::support::swapmeet;
use std::path::Path;

/// Writes two files: rows of two algorithms at three sizes, and imported measurements.
fn files(folder: &Path) {
    let run = "run --topology torus:4x4 --algorithm pex --algorithm suh-shin --workload uniform:8..128*4 --out rows.csv";
    swapmeet(&run.split(' ').collect::<Vec<_>>()).current_dir(folder).assert().success();
    let measured = "\
# OSU MPI All-to-All Personalized Exchange Latency Test v7.4
# Size       Avg Latency(us)
8                       75.00
64                      95.00
";
    std::fs::write(folder.join("osu.txt"), measured).unwrap();
    let import =
        "import osu.txt --topology torus:4x4 --name here --algorithm pairwise --out measured.csv";
    swapmeet(&import.split(' ').collect::<Vec<_>>()).current_dir(folder).assert().success();
}

/// Rows have their own machine, so the status line does not name the default machine.
#[test]
fn rows_from_files_have_no_default_machine() {
    let folder = tempfile::tempdir().unwrap();
    let run = "run --topology torus:4x4 --algorithm pex --workload uniform:8 --machine paragon --out rows.csv";
    swapmeet(&run.split(' ').collect::<Vec<_>>()).current_dir(folder.path()).assert().success();
    let mut terminal = Terminal::start(folder.path(), "swapmeet tui rows.csv", 120, 40);
    terminal.wait_for("paragon");
    terminal.wait_for("1 row opened");
    assert!(!terminal.shown().contains("(default)"), "{}", terminal.shown());
    terminal.keys("q");
    terminal.end(0);
}

#[test]
fn rows_from_files_are_compared_and_rendered() {
    let folder = tempfile::tempdir().unwrap();
    files(folder.path());
    let mut terminal =
        Terminal::start(folder.path(), "swapmeet tui rows.csv measured.csv", 120, 40);
    terminal.wait_for("8 rows opened");
    // Measured rows form a separate line of the comparison.
    terminal.keys("2");
    terminal.wait_for("2 Table: 8 ok");
    terminal.wait_for("measured:here");
    // The dashboard can show the schedule of a simulated row, but not of a measured row.
    terminal.keys("2g/!measured\rg4n");
    terminal.wait_for("step 1 of");
    terminal.keys("2/\u{15}measured\rg4n");
    terminal.wait_for("The schedule is not available: ");
    // Write figures and a report.
    for (keys, name) in [
        ("2/\u{15}!measured\rg3cF", "curves.svg"),
        ("mF", "map.pdf"),
        ("4pF", "parts.png"),
        ("2F", "all.html"),
        ("4nF", "network.svg"),
        ("F", "network.png"),
        ("rF", "ranks.pdf"),
    ] {
        terminal.keys(&format!("{keys}\u{15}{name}\r"));
        terminal.wait_for(&format!("saved {name}"));
        assert!(std::fs::metadata(folder.path().join(name)).unwrap().len() > 1000, "{name}");
    }
    // Existing files are not overwritten, and unknown formats are rejected.
    terminal.keys("3cF\u{15}curves.svg\r");
    terminal.wait_for("curves.svg exists: press Enter");
    terminal.keys("\u{15}curves.gif");
    terminal.wait_for("expected a name that ends in .html");
    // The specs of the rows are selected in the lists, and the cases of the rows count as finished.
    terminal.keys("\u{1b}");
    terminal.wait("the line to be gone", || !terminal.shown().contains("expected a name"));
    terminal.keys("a");
    terminal.wait_for("nothing to add");
    // A run would replace the opened rows, so it asks first.
    terminal.keys("R");
    terminal.wait_for("Replace 8 rows from files by");
    terminal.keys("n");
    // All rows are already in files, so the dashboard ends without asking.
    terminal.keys("q");
    terminal.end(0);
    assert_eq!(rows(&folder.path().join("rows.csv")).len(), 6);
}

/// Followed files may not exist yet, may grow, and may be replaced by other files.
#[test]
fn files_are_followed_while_they_grow_and_when_they_are_replaced() {
    let folder = tempfile::tempdir().unwrap();
    files(folder.path());
    let text = std::fs::read_to_string(folder.path().join("rows.csv")).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let write = |name: &str, rows: &[&str]| {
        std::fs::write(folder.path().join(name), [&lines[..1], rows].concat().concat()).unwrap();
    };
    let command = "swapmeet tui --follow a.csv --follow b.csv";
    let mut terminal = Terminal::start(folder.path(), command, 120, 40);
    terminal.wait_for("Waiting for rows in a.csv, b.csv ...");
    write("a.csv", &lines[1..3]);
    terminal.wait_for("2 new rows read");
    // The second row of the other file is incomplete at first.
    write("b.csv", &[lines[3], &lines[4][..40]]);
    terminal.wait_for("1 new row read");
    write("b.csv", &lines[3..5]);
    terminal.keys("2");
    terminal.wait_for("2 Table: 4 ok");
    write("a.csv", &lines[5..7]);
    terminal.wait_for("a.csv was replaced: 4 rows read");
    write("a.csv", &lines[5..6]);
    terminal.wait_for("a.csv was replaced: 3 rows read");
    terminal.wait_for("2 Table: 3 ok");
    // A file that cannot be read keeps its rows.
    std::fs::write(folder.path().join("b.csv"), "no rows").unwrap();
    terminal.wait_for("b.csv:1: the header has no column `experiment`");
    terminal.wait_for("2 Table: 3 ok");
    terminal.keys("\u{3}");
    terminal.end(0);
}

/// A log of nccl-tests is shown beside the expected times, with the verdict of `explain`. The times
/// are those of AWS's allreduce on two P5 (results/measured/gpu, Apache-2.0), whose verdict is known.
#[test]
fn a_log_is_shown_beside_the_expected_times() {
    let folder = tempfile::tempdir().unwrap();
    let mut log = "# ./build/all_reduce_perf -b 64M -e 16G\n".to_owned();
    log += "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n";
    for (bytes, us) in [(1_u64 << 30, 4650.0), (4 << 30, 17_100.0), (16 << 30, 66_147.0)] {
        log += &format!(" {bytes} {} float sum -1 {us} 0.00 0.00 0 {us} 0.00 0.00 0\n", bytes / 4);
    }
    std::fs::write(folder.path().join("nccl.log"), log).unwrap();
    let mut terminal =
        Terminal::start(folder.path(), "swapmeet tui nccl.log --system p5:2x8", 140, 40);
    terminal.wait_for("6 rows opened; AS EXPECTED: at ");
    terminal.keys("2");
    terminal.wait_for("measured");
    terminal.keys("3c");
    terminal.wait_for("expected");
    terminal.wait_for("measured");
    terminal.keys("\u{3}");
    terminal.end(0);
}

/// With `free:byte_us=1`, the optimum of an exchange on a mesh is the time in which the data
/// crosses the bisection.
#[test]
fn rows_with_optimum_show_it_in_comparison_and_curves() {
    let folder = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::start(
        folder.path(),
        "swapmeet tui --optimum --topology mesh:4x4 --algorithm linear --algorithm pairwise \
         --workload uniform:8..128*4 --machine free:byte_us=1,ports=all",
        140,
        40,
    );
    terminal.wait_for("done: ");
    terminal.keys("2");
    terminal.wait_for("time/optimum");
    terminal.keys("3c");
    terminal.wait_for("- - optimum");
    terminal.keys("\u{3}");
    terminal.end(0);
}

/// With the rows of `links`, the network panel shows the effect of the loss of each link on the
/// time. In the graph, the bridge 0-1 connects node 0 with the triangle of nodes 1, 2 and 3. The
/// maximum link load is three messages, on the bridge. Without the link 1-2, it is four messages,
/// on the link 1-3.
#[test]
fn rows_of_links_show_what_the_loss_of_a_link_costs() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("net.txt"), "0 1\n1 2\n1 3\n2 3\n").unwrap();
    for (topology, file) in [("graph:net.txt", "graph.csv"), ("mesh:3x3", "mesh.csv")] {
        let links =
            "links --algorithm linear --workload uniform:100 --machine free:byte_us=1,ports=all";
        let mut args: Vec<&str> = links.split(' ').collect();
        args.extend(["--topology", topology, "--out", file]);
        swapmeet(&args).current_dir(folder.path()).assert().success();
    }
    let mut terminal = Terminal::start(folder.path(), "swapmeet tui graph.csv", 120, 40);
    terminal.wait_for("5 rows opened");
    terminal.keys("2g4n");
    terminal.wait_for("step 1 of");
    terminal.keys("vvv");
    terminal.wait_for("What the loss of a link costs");
    terminal.wait_for("all links: 300.0 µs; without 1-2 (1 more): 400.0 µs; 1 disconnects");
    terminal.wait_for("0-1             disconnects");
    terminal.wait_for("1-2                 1.333 x");
    terminal.wait_for("2-3                 1.000 x");
    terminal.wait_for("time without the link: 1.000 x");
    terminal.keys("\u{3}");
    terminal.end(0);
    // A grid is drawn as a picture. Without the rows of `links`, a message says where they come
    // from.
    let mut terminal = Terminal::start(folder.path(), "swapmeet tui mesh.csv", 120, 40);
    terminal.wait_for("13 rows opened");
    terminal.keys("2g4n");
    terminal.wait_for("step 1 of");
    terminal.keys("vvv");
    terminal.wait_for("What the loss of a link costs");
    terminal.wait_for("▸");
    terminal.keys("\u{3}");
    terminal.end(0);
    let run = "run --topology mesh:3x3 --algorithm linear --quiet --out rows.csv";
    swapmeet(&run.split(' ').collect::<Vec<_>>()).current_dir(folder.path()).assert().success();
    let mut terminal = Terminal::start(folder.path(), "swapmeet tui rows.csv", 120, 40);
    terminal.wait_for("1 row opened");
    terminal.keys("4n");
    terminal.wait_for("step 1 of");
    terminal.keys("vvv");
    terminal.wait_for(
        "open a file of `swapmeet links --out FILE` to see what the loss of a link costs",
    );
    terminal.keys("\u{3}");
    terminal.end(0);
}

#[test]
fn invalid_input_is_rejected_before_the_screen_opens() {
    let folder = tempfile::tempdir().unwrap();
    files(folder.path());
    std::fs::write(folder.path().join("torn.csv"), "algorithm,topology\npex\n").unwrap();
    for (arguments, message) in [
        ("torn.csv", "torn.csv"),
        ("rows.csv osu.txt", "expected result files (.csv)"),
        ("--topology torus:4x0", "dimension 2 is 0"),
    ] {
        let command = format!("swapmeet tui {arguments}");
        let terminal = Terminal::start(folder.path(), &command, 100, 30);
        let left = terminal.end(2);
        assert!(left.contains(message), "{left}");
    }
}

/// If the last row only lacks its line end, all rows are shown. If the last row breaks off earlier,
/// all rows before it are shown.
#[test]
fn an_incomplete_last_row_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        ["run", "--topology", "ring:4", "--algorithm", "pex", "--algorithm", "bruck", "--out"];
    swapmeet(&arguments).arg("rows.csv").current_dir(folder.path()).assert().success();
    let text = std::fs::read_to_string(folder.path().join("rows.csv")).unwrap();
    for (cut, opened, note) in [
        (1, "2 rows opened", "the last row has no line end, so its last value may be cut off"),
        (90, "1 row opened", "the last row breaks off and is left out: the run that wrote it"),
    ] {
        std::fs::write(folder.path().join("cut.csv"), &text[..text.len() - cut]).unwrap();
        let mut terminal = Terminal::start(folder.path(), "swapmeet tui cut.csv", 120, 30);
        terminal.wait_for(&format!("{opened}; cut.csv:3: {note}"));
        terminal.keys("L");
        terminal.wait_for("┌ Log");
        let shown = terminal.shown();
        assert!(shown.contains(&format!("cut.csv:3: {note}")), "{shown}");
        assert_eq!(shown.matches("cut.csv:3").count(), 1, "{shown}");
        terminal.keys("\u{3}");
        terminal.end(0);
    }
}

/// The colours of figures are those of `swapmeet_plot`. On the screen, an algorithm has the same hue
/// in every theme; its lightness depends on the background.
#[test]
fn algorithms_have_the_marks_and_hues_of_figures() {
    const FIGURES: [(&str, &str, &str); 6] = [
        ("pairwise", "▲", "#009e73"),
        ("pex", "◆", "#cc79a7"),
        ("linear", "▼", "#56b4e9"),
        ("direct", "★", "#882255"),
        ("bruck", "✚", "#a05a2c"),
        ("row-column", "○", "#d55e00"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let names = FIGURES.map(|(name, ..)| name);
    let run = "run --topology ring:16 --workload uniform:64..256*4 --machine paragon --quiet --out rows.csv";
    let algorithms = names.iter().flat_map(|name| ["--algorithm", name]);
    let arguments: Vec<&str> = run.split(' ').chain(algorithms).collect();
    swapmeet(&arguments).current_dir(folder.path()).assert().success();
    let quoted = names.map(|name| format!("\"{name}\"")).join(", ");
    let mut session = Session::run(&format!(
        "topologies = [\"ring:16\"]\nworkloads = [\"uniform:64\", \"uniform:256\"]\nalgorithms = [{quoted}]"
    ));
    session.keys("3v");
    let hue = |rgb: [u8; 3]| {
        let most = rgb.iter().max().unwrap() - rgb.iter().min().unwrap();
        assert!(most > 40, "{rgb:?} is grey");
        let [r, g, b] = rgb.map(f64::from);
        (3_f64.sqrt() * (g - b)).atan2(2.0 * r - g - b).to_degrees()
    };
    for (name, mark, colour) in FIGURES {
        let plot = ["plot", "rows.csv", "--algorithm", name, "--force", "--out", "one.svg"];
        swapmeet(&plot).current_dir(folder.path()).assert().success();
        let figure = std::fs::read_to_string(folder.path().join("one.svg")).unwrap();
        assert!(figure.contains(colour), "{name}: {figure}");
        // A hollow marker has only a stroke.
        let is_hollow = figure.contains("<circle") && figure.contains("fill=\"none\"");
        assert_eq!(mark == "○", is_hollow, "{name}: {figure}");
        let part = |at: usize| u8::from_str_radix(&colour[at..at + 2], 16).unwrap();
        for theme in ["default", "light", "rich"] {
            let shown = session.colour_of(theme, &format!("{mark} {name}"));
            let turned = (hue(shown) - hue([1, 3, 5].map(part))).rem_euclid(360.0);
            assert!(turned.min(360.0 - turned) < 27.0, "{theme}, {name}: {shown:?}");
        }
    }
}

/// One definition of the algorithms that fit: those that support the collective.
#[test]
fn rows_from_files_have_the_counts_of_the_run() {
    // `pex` needs a power of two ranks, and so supports only one of the networks.
    for topologies in ["\"torus:6x6\"", "\"torus:6x6\", \"torus:4x4\""] {
        let mut session = Session::with_state(
            &format!(
                "topologies = [{topologies}]\nalgorithms = [\"pex\", \"bruck\", \"pairwise\"]"
            ),
            "",
        );
        session.type_and_wait("R3");
        let answer = |session: &mut Session| {
            let screen = session.screen(200, 60);
            let line = screen.lines().find(|line| line.contains("algorithms were run"));
            line.unwrap_or_else(|| panic!("{screen}")).to_owned()
        };
        let expected = if topologies.contains("4x4") { "3 of " } else { "2 of " };
        let of_run = answer(&mut session);
        assert!(of_run.contains(expected), "{of_run}");
        let mut again = Session::opened(session.app.outcome().records);
        assert_eq!(answer(&mut again), of_run);
    }
}

/// The machine of a row keeps the name that the experiment gave it.
#[test]
fn rows_from_files_keep_the_names_of_machines() {
    let text = "topologies = [\"torus:4x4\"]\nalgorithms = [\"pex\"]\nmachines = [\"mine\"]\n[machine.mine]\nbase = \"paragon\"\nstartup_us = 80";
    let mut session = Session::run(text);
    session.type_and_wait("5");
    assert!(session.screen(100, 30).contains("5 What if: mine "), "{}", session.screen(100, 30));
    let mut again = Session::opened(session.app.outcome().records);
    again.type_and_wait("5");
    assert!(again.screen(100, 30).contains("5 What if: mine "), "{}", again.screen(100, 30));
}
