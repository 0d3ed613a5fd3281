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

/// Returns the algorithms of the selected group with their times, as the what-if view ranks them.
fn ranking(session: &mut Session) -> Vec<String> {
    session.settle();
    session.type_and_wait("5");
    let screen = session.screen(200, 60);
    let names = ["suh-shin", "pex", "bruck", "direct"];
    let lines = screen.lines().map(|line| line.replace('†', " "));
    let own = lines.filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let time = words.windows(3).find(|words| {
            names.contains(&words[0]) && words[1].parse::<f64>().is_ok() && words[2].ends_with('s')
        })?;
        Some(time.join(" "))
    });
    own.collect()
}

fn run(machine: &str) -> Session {
    Session::run(&format!("{TORI}\nmachines = [\"{machine}\"]"))
}

fn set(session: &mut Session, slider: &str, value: &str) {
    session.type_and_wait("5g");
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

/// The independent source is a run of the same cases on the changed machine.
#[test]
fn sliders_give_the_same_times_as_a_run() {
    for (slider, value) in [
        ("startup_us", "220"),
        ("byte_us", "0.5"),
        ("ports", "all"),
        ("rearrangement", "packed"),
        ("model", "flat"),
    ] {
        let mut tried = run("paragon");
        let before = ranking(&mut tried);
        set(&mut tried, slider, value);
        let mut really = run(&format!("paragon:{slider}={value}"));
        let (tried_times, really) = (ranking(&mut tried), ranking(&mut really));
        assert_eq!((tried_times.len(), &tried_times), (4, &really), "{slider}={value}");
        // The trial changes no row of the session.
        tried.keys("D");
        assert_eq!(ranking(&mut tried), before);
    }
}

#[test]
fn other_models_are_tried_and_can_be_reset() {
    let mut tried = run("sp2");
    let before = ranking(&mut tried);
    set(&mut tried, "startup_us", "1");
    assert_eq!(ranking(&mut tried), ranking(&mut run("sp2:startup_us=1")));
    tried.keys("D");
    assert_eq!(ranking(&mut tried), before);
}

/// The trial of another block size has the times of a run with this size.
#[test]
fn a_changed_block_size_gives_the_times_of_a_run() {
    let mut session = run("paragon");
    session.keys("2g");
    set(&mut session, "block size", "4KiB");
    let mut really = run("paragon");
    really.keys("2G");
    assert_eq!(ranking(&mut session), ranking(&mut really));
    assert!(session.screen(120, 40).contains("a trial of paragon, uniform:4KiB"));
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
    let command = "swapmeet tui --topology torus:8x8 --algorithm suh-shin --algorithm pex --workload uniform:8..1KiB*4 --machine paragon";
    let mut terminal = Terminal::start(folder.path(), command, 120, 40);
    terminal.wait_for("done: 8 cases verified");
    terminal.keys("5");
    terminal.wait_for("What if: paragon");
    // Move from the block size to the start-up time, and multiply it by ten.
    terminal.keys("gjj");
    terminal.wait_for("startup_us: ");
    terminal.keys(&"l".repeat(20));
    terminal.wait_for("What if: a trial of paragon:startup_us=");
    terminal.wait_for(" x ");
    terminal.keys("m\u{15}slow\r");
    terminal.wait_for("[machine.slow] is paragon:startup_us=");
    terminal.keys("1a");
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

/// A trial does not change the rows, so the table and the saved file have their own times.
#[test]
fn a_trial_is_marked_and_changes_no_rows() {
    let mut session =
        Session::run("topologies = [\"torus:4x4\"]\nalgorithms = [\"pex\", \"bruck\"]");
    session.keys("2");
    let before = session.screen(80, 24);
    session.type_and_wait("5jjl");
    let screen = session.screen(80, 24);
    assert!(
        screen.contains("a trial of paragon:startup_us=") && screen.contains(" x "),
        "{screen}"
    );
    session.keys("2");
    assert_eq!(session.screen(80, 24), before);
    session.keys("S");
    let screen = session.screen(80, 24);
    assert!(screen.contains("the rows on screen (2 rows)"), "{screen}");
}

/// The name of a machine that exists can be corrected, and the next keys are text.
#[test]
fn a_machine_that_exists_is_rejected() {
    let mut session = run("paragon");
    session.type_and_wait("5jjlm");
    session.control('u');
    session.keys("fugaku");
    session.key(KeyCode::Enter);
    let screen = session.screen(120, 40);
    assert!(screen.contains("machine `fugaku` exists already"), "{screen}");
    session.keys("2");
    session.key(KeyCode::Enter);
    let message = session.app.message().unwrap();
    assert!(message.starts_with("[machine.fugaku2] is paragon:startup_us="), "{message}");
}
