//! Rows of files in the dashboard: looked at, compared, drawn, and their cases made again.

use super::pty::{Terminal, rows};
use crate::support::swapmeet;
use std::path::Path;

/// A file of two algorithms at three sizes, and one of what OSU's benchmark measured.
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

#[test]
fn rows_of_files_are_opened_measured_ones_too_and_drawn_from_a_key() {
    let folder = tempfile::tempdir().unwrap();
    files(folder.path());
    let mut terminal =
        Terminal::start(folder.path(), "swapmeet tui rows.csv measured.csv", 120, 40);
    terminal.wait_for("8 rows opened");
    // Compared as `compare` does; what was measured is a line of its own.
    terminal.wait_for("3 Comparison");
    terminal.wait_for("measured:here");
    // A schedule is made again; of a time that was measured there is none.
    terminal.keys("2g6");
    terminal.wait_for("step 1 of");
    terminal.keys("2G6");
    terminal.wait_for("The schedule is not available: ");
    // A figure of what the panel shows, and a page of all.
    for (keys, name) in
        [("4F", "curves.svg"), ("9F", "map.pdf"), ("5F", "parts.png"), ("3F", "all.html")]
    {
        terminal.keys(&format!("{keys}\u{15}{name}\r"));
        terminal.wait_for(&format!("saved {name}"));
        assert!(std::fs::metadata(folder.path().join(name)).unwrap().len() > 1000, "{name}");
    }
    // Never over what is there, unasked; nor in a format that nobody named.
    terminal.keys("F\u{15}curves.svg\r");
    terminal.wait_for("curves.svg exists: press Enter");
    terminal.keys("\u{15}curves.gif");
    terminal.wait_for("expected a name that ends in .html");
    // What the rows name is picked, and has its rows.
    terminal.keys("\u{1b}");
    terminal.wait("the line to be gone", || !terminal.shown().contains("expected a name"));
    terminal.keys("a");
    terminal.wait_for("nothing to add");
    // All rows are in files: nothing to ask.
    terminal.keys("q");
    terminal.end(0);
    assert_eq!(rows(&folder.path().join("rows.csv")).len(), 6);
}

#[test]
fn what_is_no_file_of_rows_is_refused_before_the_screen_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    files(folder.path());
    std::fs::write(folder.path().join("torn.csv"), "algorithm,topology\npex\n").unwrap();
    for (files, said) in
        [("torn.csv", "torn.csv"), ("rows.csv osu.txt", "expected result files (.csv)")]
    {
        let terminal = Terminal::start(folder.path(), &format!("swapmeet tui {files}"), 100, 30);
        let left = terminal.end(2);
        assert!(left.contains(said), "{left}");
    }
}
