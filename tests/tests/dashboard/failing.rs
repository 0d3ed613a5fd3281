//! The network panel for schedules that fail. The dashboard simulates them in a worker, so that a
//! plugin cannot harm the dashboard.

use super::sessions::Session;
use crate::support::compile_c;
use crossterm::event::KeyCode;
use swapmeet_runner::describe::{PluginReader, READER_MEMORY};
use swapmeet_tests::program;
use tempfile::tempdir;

/// Returns the network panel for each of these algorithms of the torture plugin. `seconds` is the
/// time limit for each case.
fn panels(algorithms: &[&str], seconds: f64) -> Option<Vec<String>> {
    let dir = tempdir().unwrap();
    let file =
        compile_c("tests/plugins/torture.c", dir.path(), "torture", &[("_DEFAULT_SOURCE", "1")])?;
    let reader = PluginReader::Child {
        command: vec![program().into(), "describe-plugins".into()],
        memory_limit: READER_MEMORY,
    };
    let quoted: Vec<String> = algorithms.iter().map(|name| format!("\"{name}\"")).collect();
    let text = format!(
        "topologies = [\"torus:3x3\"]\nalgorithms = [{}]\ntimeout_secs = {seconds:?}\n",
        quoted.join(", ")
    );
    let mut session = Session::with(&[file], &reader, &text);
    session.type_and_wait("R");
    session.keys("4n");
    let mut panel = |name: &&str| {
        session.keys("2/");
        session.control('u');
        session.keys(name);
        session.key(KeyCode::Enter);
        session.keys("g4n");
        session.key(KeyCode::Enter);
        session.settle();
        session.key(KeyCode::End);
        session.settle();
        session.screen(100, 24)
    };
    Some(algorithms.iter().map(&mut panel).collect())
}

#[test]
fn failing_plugins_do_not_affect_the_dashboard() {
    let Some(panels) = panels(&["segfault", "exits", "loops", "babbles"], 0.3) else { return };
    for (screen, message) in panels.iter().zip([
        "crashed: its process was killed by signal 11 (SIGSEGV)",
        "crashed: its process ended with exit status 0",
        "timeout: not done after 0.3 s",
        "timeout: not done after 0.3 s",
    ]) {
        assert!(screen.contains(message), "{screen}");
        assert!(!screen.contains("noise"), "{screen}");
    }
}

#[test]
fn invalid_schedules_are_shown_up_to_the_invalid_send() {
    let Some(panels) = panels(&["repeats"], 30.0) else { return };
    let screen = &panels[0];
    for part in ["step 2 of 2", "invalid, send from 0 (F) to 1 (T): step 2: "] {
        assert!(screen.contains(part), "no `{part}` in\n{screen}");
    }
    // Apart from the invalid send, one send of node 2 was in progress.
    let picture: Vec<&str> = screen.lines().filter(|line| line.contains(['□', '■'])).collect();
    let nodes: String =
        picture.iter().flat_map(|line| line.chars()).filter(|c| "FT□■".contains(*c)).collect();
    assert_eq!(nodes, "FT■□□□□□□", "{screen}");
}

/// `!` runs only the failed cases again.
#[test]
fn failed_cases_run_again() {
    let dir = tempdir().unwrap();
    let Some(file) =
        compile_c("tests/plugins/torture.c", dir.path(), "torture", &[("_DEFAULT_SOURCE", "1")])
    else {
        return;
    };
    let reader = PluginReader::Child {
        command: vec![program().into(), "describe-plugins".into()],
        memory_limit: READER_MEMORY,
    };
    let text = "topologies = [\"torus:3x3\"]\nalgorithms = [\"segfault\", \"prints\"]\n";
    let mut session = Session::with(&[file], &reader, text);
    session.type_and_wait("R");
    session.type_and_wait("2!");
    let screen = session.screen(120, 30);
    assert!(screen.contains("done: 1 case verified, 1 failed"), "{screen}");
    assert_eq!(session.app.outcome().records.len(), 2);
    // The text about the crash is a whole sentence.
    session.keys("/segfault");
    session.key(KeyCode::Enter);
    session.type_and_wait("g4n");
    let screen = session.screen(120, 30);
    assert!(screen.contains("crashed: its process was killed by signal 11"), "{screen}");
    assert!(!screen.contains("The case is its process"), "{screen}");
}
