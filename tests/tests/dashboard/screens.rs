//! Regression tests of screens that were once wrong, with the real program in a terminal.

use super::pty::Terminal;
use crate::support::compile_c;
use std::time::Duration;

fn done(arguments: &str, columns: u16, rows: u16) -> (tempfile::TempDir, Terminal) {
    let folder = tempfile::tempdir().unwrap();
    let terminal =
        Terminal::start(folder.path(), &format!("swapmeet tui {arguments}"), columns, rows);
    terminal.wait_for("done: ");
    (folder, terminal)
}

fn leave(mut terminal: Terminal) {
    terminal.keys("\u{3}");
    terminal.end(0);
}

#[test]
fn quitting_with_unsaved_rows_needs_confirmation() {
    let (folder, mut terminal) =
        done("--topology torus:4x4 --algorithm pex --algorithm bruck", 80, 24);
    terminal.keys("q");
    terminal.wait_for("2 rows on screen not saved. Quit anyway?");
    terminal.keys("n");
    terminal.keys("S\u{15}kept.toml\r");
    terminal.wait_for("saved kept.toml");
    terminal.keys("q");
    terminal.end(0);
    assert_eq!(super::pty::rows(&folder.path().join("kept.csv")).len(), 2);
}

#[test]
fn an_explicit_theme_overrides_no_color() {
    let folder = tempfile::tempdir().unwrap();
    let command = "NO_COLOR=1 swapmeet tui --theme light --topology torus:4x4 --algorithm pex";
    let terminal = Terminal::start(folder.path(), command, 80, 24);
    terminal.wait_for("done: ");
    // The cursor is visible even without colours.
    let mut terminal = terminal;
    terminal.keys("2");
    terminal.wait_for("✓ blocks");
    let marks = terminal.cells("✓");
    assert!(
        marks.iter().any(|cell| cell.bgcolor() != vt100::Color::Default || cell.inverse()),
        "no cursor"
    );
    leave(terminal);
}

#[test]
fn lines_are_sorted_by_visible_columns() {
    let (_folder, mut terminal) =
        done("--topology torus:4x4 --algorithm pex --algorithm bruck", 60, 20);
    terminal.keys("2");
    terminal.wait_for("ratio");
    for _ in 0..12 {
        terminal.keys("s");
        terminal.wait_for("sorted by ");
        let is_sorted =
            || terminal.shown().contains('▴') || terminal.shown().contains("sorted by group");
        terminal.wait("the mark of the column", is_sorted);
        // Wait until the message is gone before the next key.
        terminal.keys("kz");
        terminal.wait("the message to go", || !terminal.shown().contains("sorted by"));
    }
    leave(terminal);
}

#[test]
fn algorithms_share_one_colour_scale() {
    let (_folder, mut terminal) = done(
        "--topology torus:8x8 --algorithm suh-shin --algorithm bruck --machine paragon:rearrangement=declared",
        100,
        34,
    );
    let hot = vt100::Color::Idx(9);
    let arrows =
        |terminal: &Terminal| ["▸", "◂", "▾", "▴"].map(|arrow| terminal.cells(arrow)).concat();
    // The pictures of both algorithms have the same scale, which is that of the algorithm with the
    // higher load.
    let scale = "messages on a link: 0 ·  1 █  2 █  3 █  4 █";
    terminal.keys("2/suh-shin\rg4n");
    terminal.wait_for("suh-shin on torus:8x8");
    terminal.wait_for("link load 1");
    terminal.wait_for(scale);
    let calm = arrows(&terminal);
    assert!(
        !calm.is_empty() && calm.iter().all(|cell| cell.fgcolor() != hot),
        "{}",
        terminal.shown()
    );
    terminal.keys("2/\u{15}bruck\rg4n");
    terminal.wait_for("bruck on torus:8x8");
    // This text appears when the third step has arrived, because the time of this step is the
    // maximum.
    terminal.wait_for("maximum 2.160 ms");
    terminal.keys("ll");
    terminal.wait_for("link load 4");
    terminal.wait_for(scale);
    assert!(arrows(&terminal).iter().any(|cell| cell.fgcolor() == hot), "{}", terminal.shown());
    leave(terminal);
}

#[test]
fn the_bar_of_the_step_that_is_shown_is_a_bar() {
    // The chart shows the times of steps. If a step does not have the same time on all ranks, the
    // chart shows link loads instead.
    for (machine, title) in [("paragon", "time of each step"), ("sp2", "link load of each step")] {
        let arguments = format!("--topology torus:4x4 --algorithm pex --machine {machine}");
        let (_folder, mut terminal) = done(&arguments, 80, 24);
        terminal.keys("4n");
        terminal.wait_for(title);
        let bars = || ["▄", "▇", "█"].map(|bar| terminal.cells(bar)).concat();
        terminal.wait("the bars of all steps", || bars().len() >= 15);
        let bars = bars();
        assert!(bars.iter().all(|cell| cell.bgcolor() == vt100::Color::Default && !cell.inverse()));
        let shown = [&bars[..], &terminal.cells("▴")].concat();
        assert!(shown.iter().any(|cell| cell.bold()), "one is shown");
        leave(terminal);
    }
}

#[test]
fn a_timeout_shows_the_last_step() {
    let folder = tempfile::tempdir().unwrap();
    let command = "swapmeet tui --timeout 10 --proof full --topology torus:64x64 --algorithm gen";
    let mut terminal = Terminal::start(folder.path(), command, 100, 30);
    terminal.wait_for("0/1 cases");
    // While a case runs, its elapsed time must not be in the column of the modelled time.
    terminal.keys("2");
    terminal.wait_for("▸ step ");
    terminal.wait_for("done: 0 cases verified, 1 failed");
    terminal.wait_for("timeout");
    terminal.wait_for("at step ");
    terminal.keys("q");
    terminal.wait_for("not saved");
    terminal.keys("q");
    terminal.end(1);
}

#[test]
fn a_hanging_case_has_no_estimate() {
    let folder = tempfile::tempdir().unwrap();
    let Some(plugin) =
        compile_c("tests/plugins/torture.c", folder.path(), "torture", &[("_DEFAULT_SOURCE", "1")])
    else {
        return;
    };
    let command = format!(
        "swapmeet tui --jobs 1 --plugin-dir {} --topology ring:6 --algorithm gen --algorithm sleeps",
        plugin.display()
    );
    let mut terminal = Terminal::start(folder.path(), &command, 100, 30);
    terminal.wait_for("1/2");
    std::thread::sleep(Duration::from_secs(2));
    terminal.keys("2");
    terminal.wait_for("▸ 3 s");
    assert!(!terminal.shown().contains("left"), "{}", terminal.shown());
    terminal.keys("\u{3}");
    terminal.end(130);
}

#[test]
fn equal_curves_are_drawn_once() {
    let algorithms = "--algorithm pairwise --algorithm pex --algorithm suh-shin";
    let sizes = "--workload uniform:64 --workload uniform:16KiB";
    let (_folder, mut terminal) =
        done(&format!("--topology torus:8x8 {algorithms} {sizes}"), 80, 24);
    terminal.keys("3c");
    terminal.wait_for("● suh-shin");
    terminal.wait_for("▲ pairwise = pex");
    // The curve is flat at its start, so the cell after the marker belongs to the line.
    terminal.wait_for("│▲");
    let line = terminal.line("│▲");
    let after = line.split('▲').nth(1).unwrap().chars().next().unwrap();
    assert!(
        ('\u{2801}'..='\u{28ff}').contains(&after),
        "{after:?} in {line}\n{}",
        terminal.shown()
    );
    leave(terminal);
}

#[test]
fn the_map_describes_the_case_under_the_cursor() {
    let networks = "--topology torus:8x8 --topology torus:4x4 --algorithm pex --algorithm bruck --algorithm suh-shin --machine paragon";
    let sizes = "--workload uniform:16KiB --workload uniform:64 --workload uniform:1KiB";
    let (_folder, mut terminal) = done(&format!("{networks} {sizes}"), 100, 30);
    terminal.wait_for(
        "3 Winners (1 of 3), by block size and nodes: 2D torus, uniform, paragon, wormhole",
    );
    terminal.wait_for("64 B   1 KiB  16 KiB");
    // The rows of the map are sorted by network size, and the columns by block size.
    terminal.keys("ghhh");
    terminal.wait_for("  64 B  suh-shin 1.553 ms; next bruck 1.007 times as long");
    terminal.keys("jll");
    terminal.wait_for("16 KiB  pex 72.17 ms; next suh-shin 1.751 times as long");
    terminal.keys("\r");
    terminal.wait_for("Details: pex on torus:8x8, uniform:16KiB, paragon");
    terminal.keys("3m]");
    terminal.wait_for("by block size and machine: torus:");
    leave(terminal);
}

#[test]
fn filters_match_plugins_and_authors() {
    let algorithms = "--algorithm pex --algorithm gen --algorithm suh-shin --algorithm bruck";
    let (_folder, mut terminal) = done(&format!("--topology torus:4x4 {algorithms}"), 100, 30);
    terminal.keys("2");
    terminal.wait_for("2 Table");
    let cases = |terminal: &Terminal| {
        let shown = terminal.shown();
        let found = shown
            .lines()
            .filter(|line| line.contains('✓'))
            .filter_map(|line| line.trim_start_matches(['│', '†', ' ']).split_whitespace().next());
        let mut found: Vec<&str> = found.collect();
        found.sort_unstable();
        found.join(" ")
    };
    for (filter, left) in [
        ("!pex", "bruck gen suh-shin"),
        ("pex|bruck", "bruck pex"),
        ("!pex|bruck", "gen suh-shin"),
        ("shin ieee", "suh-shin"),
        ("classic", "bruck"),
        ("nothing-of-the-kind", ""),
    ] {
        terminal.keys(&format!("/{filter}\r"));
        terminal.wait(&format!("/{filter} to leave {left:?}"), || {
            terminal.shown().contains(&format!("/{filter} ")) && cases(&terminal) == left
        });
        if left.is_empty() {
            terminal.wait_for("No line matches the filter. Esc shows all.");
        }
        terminal.keys("\u{1b}");
        terminal.wait("all of them again", || cases(&terminal).split(' ').count() == 4);
    }
    leave(terminal);
}
