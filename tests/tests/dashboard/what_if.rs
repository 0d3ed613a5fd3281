//! The what-if panel. The times that it shows must be those of a run on the changed machine.

use super::pty::{Terminal, rows};
use super::sessions::Session;
use crate::support::swapmeet;
use crossterm::event::KeyCode;

const TORI: &str = r#"
    name = "tried"
    topologies = ["torus:8x8"]
    algorithms = ["suh-shin", "pex", "bruck", "direct"]
    workloads = ["uniform:64", "uniform:4KiB"]
"#;

/// Returns the lines of the comparison without the ratio columns.
fn compared(session: &mut Session) -> Vec<String> {
    session.settle();
    session.keys("3e");
    let screen = session.screen(200, 40);
    session.keys("e");
    let lines = screen.lines().filter(|line| line.contains("blocks"));
    // Keep only the first columns, because rows that were priced again have no lower bound.
    let figures = |line: &str| {
        line.trim_matches(['│', ' ']).split_whitespace().take(5).collect::<Vec<_>>().join(" ")
    };
    lines.map(figures).collect()
}

fn run(machine: &str) -> Session {
    Session::run(&format!("{TORI}\nmachines = [\"{machine}\"]"))
}

fn set(session: &mut Session, slider: &str, value: &str) {
    session.keys("0g");
    for _ in 0..20 {
        if session.cursor_line(200, 60).contains(&format!("{slider} ")) {
            session.key(KeyCode::Enter);
            session.control('u');
            session.keys(value);
            session.key(KeyCode::Enter);
            session.settle();
            return;
        }
        session.key(KeyCode::Down);
    }
    panic!("no slider {slider}:\n{}", session.screen(200, 60));
}

#[test]
fn sliders_give_the_same_times_as_a_run() {
    for (slider, value) in
        [("startup_us", "220"), ("byte_us", "0.5"), ("ports", "all"), ("rearrangement", "packed")]
    {
        let mut tried = run("paragon");
        tried.keys("3");
        set(&mut tried, slider, value);
        let mut really = run(&format!("paragon:{slider}={value}"));
        let (tried, really) = (compared(&mut tried), compared(&mut really));
        assert_eq!(tried.len(), 8);
        assert_eq!(tried, really, "{slider}={value}");
    }
}

#[test]
fn other_models_are_planned_again_and_can_be_reset() {
    let mut tried = run("sp2");
    let before = compared(&mut tried);
    set(&mut tried, "startup_us", "1");
    assert_eq!(compared(&mut tried), compared(&mut run("sp2:startup_us=1")));
    tried.keys("0D");
    assert_eq!(compared(&mut tried), before);
}

#[test]
fn changed_block_size_affects_only_the_case_in_focus() {
    let mut session = run("paragon");
    session.keys("3g");
    set(&mut session, "block size", "1KiB");
    let lines = compared(&mut session);
    assert!(lines.iter().any(|line| line.starts_with("uniform:1KiB")), "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("uniform:4KiB")), "{lines:?}");
    assert!(!lines.iter().any(|line| line.starts_with("uniform:64 ")), "{lines:?}");
}

#[test]
fn invalid_values_of_sliders_are_rejected() {
    let mut session = run("paragon");
    for (slider, value, message) in [
        ("startup_us", "-3", "microseconds, a number from 0"),
        ("ports", "some", "`all` or a whole number"),
        ("block size", "4KB", "expected a size such as"),
    ] {
        set(&mut session, slider, value);
        let screen = session.screen(120, 40);
        assert!(screen.contains(message), "{slider}={value}\n{screen}");
        session.key(KeyCode::Esc);
    }
}

#[test]
fn sliders_update_the_ranking_and_become_a_machine() {
    let folder = tempfile::tempdir().unwrap();
    let command = "swapmeet tui --topology torus:8x8 --algorithm suh-shin --algorithm pex --workload uniform:8..1KiB*4";
    let mut terminal = Terminal::start(folder.path(), command, 120, 40);
    terminal.wait_for("done: 8 cases verified");
    terminal.keys("0e");
    terminal.wait_for("What if: paragon");
    terminal.wait_for("step data of 2 of 2 schedules available");
    // Move from the block size to the start-up time, and multiply it by ten.
    let found = (0..30).any(|_| {
        terminal.keys("j");
        std::thread::sleep(std::time::Duration::from_millis(30));
        terminal.shown().contains("startup_us: ")
    });
    assert!(found, "{}", terminal.shown());
    terminal.keys(&"l".repeat(20));
    terminal.wait_for("What if: changed to paragon:startup_us=");
    terminal.wait_for("8 recalculated instantly in");
    terminal.wait_for("x ");
    terminal.keys("m\u{15}slow\r");
    terminal.wait_for("[machine.slow] is paragon:startup_us=");
    terminal.keys("e1a");
    terminal.wait_for("done: 16 cases verified");
    terminal.keys("S\u{15}slow.toml\r");
    terminal.wait_for("saved slow.toml");
    terminal.keys("q");
    terminal.end(0);
    let toml = std::fs::read_to_string(folder.path().join("slow.toml")).unwrap();
    assert!(toml.contains("[machine.slow]\nbase = \"paragon\"\nstartup_us = "), "{toml}");
    assert!(rows(&folder.path().join("slow.csv")).iter().any(|row| row.machine == "slow"));
    swapmeet(&["run", "--out", "again.csv", "slow.toml"])
        .current_dir(folder.path())
        .assert()
        .success();
}

/// The queue shows the times of the rows. If the what-if panel has changed a case, the queue marks
/// its time, because the time does not include the change.
#[test]
fn times_without_the_changes_are_marked() {
    let mut session =
        Session::run("topologies = [\"torus:4x4\"]\nalgorithms = [\"pex\", \"bruck\"]");
    session.keys("2");
    assert!(!session.screen(80, 24).contains('~'), "{}", session.screen(80, 24));
    session.type_and_wait("0jjl");
    session.keys("2");
    assert!(session.screen(80, 24).contains("✓ ~"), "{}", session.screen(80, 24));
    session.keys("S");
    let screen = session.screen(80, 24);
    assert!(screen.contains("rows without the changes of What if (2 rows)"), "{screen}");
    session.key(KeyCode::Esc);
    session.type_and_wait("0D");
    session.keys("2S");
    let screen = session.screen(80, 24);
    assert!(!screen.contains('~') && screen.contains("rows on screen (2 rows)"), "{screen}");
}
