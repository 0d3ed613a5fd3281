//! Rows that a session keeps, holds back, saves or discards.

use super::panels::compared;
use super::sessions::{Session, experiment};
use crossterm::event::KeyCode;
use swapmeet_tui::ExitMode;

#[test]
fn adding_a_case_keeps_existing_rows() {
    let mut session = Session::new("topologies = [\"torus:4x4\"]\nalgorithms = [\"pex\"]");
    session.type_and_wait("a");
    session.keys("1llli");
    session.keys("bruck");
    session.key(KeyCode::Enter);
    session.type_and_wait("a");
    assert_eq!(session.app.outcome().records.len(), 2);
    session.type_and_wait("a");
    assert!(session.screen(80, 24).contains("nothing to add"), "{}", session.screen(80, 24));
}

#[test]
fn freezing_holds_back_events() {
    let mut session =
        Session::new("topologies = [\"torus:4x4\"]\nalgorithms = [\"pex\", \"bruck\"]");
    session.type_and_wait("fR");
    session.keys("2");
    assert!(session.screen(80, 24).contains("Table: 2 waiting"), "{}", session.screen(80, 24));
    session.type_and_wait("f");
    assert!(session.screen(80, 24).contains("Table: 2 ok"), "{}", session.screen(80, 24));
}

#[test]
fn quitting_asks_first_while_cases_run() {
    let mut session = Session::new("topologies = [\"torus:4x4\"]\nalgorithms = [\"pex\"]");
    session.type_and_wait("fR");
    session.keys("q");
    assert!(
        session.screen(80, 24).contains("1 case not finished. Quit anyway?"),
        "{}",
        session.screen(80, 24)
    );
    for no in [KeyCode::Char('n'), KeyCode::Esc, KeyCode::Char('x')] {
        session.key(no);
        assert!(
            session.app.exit_mode().is_none() && !session.screen(80, 24).contains("Quit anyway?"),
            "{no}"
        );
        session.keys("q");
    }
    session.keys("q");
    assert_eq!(session.app.exit_mode(), Some(ExitMode::Plain));
    session.keys("Qy");
    assert_eq!(session.app.exit_mode(), Some(ExitMode::PrintRows));
}

#[test]
fn leaving_with_rows_asks_first_while_cases_run() {
    let mut session = Session::new("topologies = [\"torus:4x4\"]\nalgorithms = [\"pex\"]");
    session.type_and_wait("fR");
    session.keys("Q");
    let screen = session.screen(80, 24);
    assert!(screen.contains("1 case not finished. Quit and print 0 rows?"), "{screen}");
    session.keys("n");
    assert!(session.app.exit_mode().is_none());
    session.keys("QQ");
    assert_eq!(session.app.exit_mode(), Some(ExitMode::PrintRows));
}

#[test]
fn saved_rows_need_no_confirmation() {
    let folder = tempfile::tempdir().unwrap();
    let mut session = Session::run("topologies = [\"torus:4x4\"]\nalgorithms = [\"pex\"]");
    session.keys("S");
    session.control('u');
    session.keys(&folder.path().join("s.toml").display().to_string());
    session.key(KeyCode::Enter);
    let message = session.app.message().unwrap().to_owned();
    assert!(
        message.contains("s.toml (1 case) and ") && message.ends_with("s.csv (1 row)"),
        "{message}"
    );
    let asks = "not saved. Discard and run?";
    session.keys("R");
    assert!(!session.screen(80, 24).contains(asks));
    session.settle();
    session.keys("R");
    assert!(session.screen(80, 24).contains(asks), "the new row is not saved");
}

#[test]
fn unsaved_rows_need_confirmation() {
    let mut session = Session::run("topologies = [\"torus:4x4\"]\nalgorithms = [\"pex\"]");
    session.keys("2R");
    assert!(session.screen(80, 24).contains("1 row on screen not saved. Discard and run?"));
    session.type_and_wait("n");
    assert_eq!(session.app.outcome().records.len(), 1);
    session.type_and_wait("fRy");
    assert!(session.app.outcome().records.is_empty(), "the new rows are held back");
}

#[test]
fn a_saved_session_is_an_experiment() {
    let mut session = compared();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("saved.toml");
    session.keys("S");
    session.control('u');
    session.keys(&file.display().to_string());
    session.key(KeyCode::Enter);
    let saved = experiment(&std::fs::read_to_string(&file).unwrap());
    let again = |texts: &[swapmeet_runner::input::Text]| {
        texts.iter().map(|t| t.value.clone()).collect::<Vec<_>>()
    };
    assert_eq!(again(&saved.algorithms), ["suh-shin", "pex", "bruck"]);
    assert_eq!((saved.name.as_str(), saved.repetitions), ("snapshot", 3));
    assert_eq!(saved.baseline.map(|b| b.value).as_deref(), Some("pex"));
    let rows = std::fs::read_to_string(folder.path().join("saved.csv")).unwrap();
    assert_eq!(swapmeet_results::read_records("saved.csv", &rows).unwrap().len(), 81);
    session.keys("S");
    session.control('u');
    session.keys(&file.display().to_string());
    session.key(KeyCode::Enter);
    assert!(session.screen(80, 24).contains("exists: press Enter"), "{}", session.screen(80, 24));
}

/// The rows of the example need no confirmation, but those of `+` do, because the user has requested
/// them. *Choose* counts the cases of `+`.
#[test]
fn rows_of_all_algorithms_need_confirmation() {
    let text = "topologies = [\"ring:4\"]\nalgorithms = [\"pairwise\"]";
    let mut example = Session::example(text);
    example.settle();
    example.keys("q");
    assert_eq!(example.app.exit_mode(), Some(ExitMode::Plain));
    // The example continues with all algorithms that fit, except those that search for a schedule,
    // which `+` runs.
    let mut session = Session::example(text);
    session.settle();
    let before = session.app.outcome().records.len();
    session.type_and_wait("3m+");
    let rows = session.app.outcome().records.len();
    assert!(rows > before, "{}", session.screen(120, 40));
    session.keys("1");
    let screen = session.screen(120, 40);
    let words = screen.split("Choose: ").nth(1).unwrap();
    let selected: usize = words.split(' ').next().unwrap().parse().unwrap();
    assert!(selected >= rows, "{screen}");
    session.keys("q");
    let screen = session.screen(120, 40);
    assert!(screen.contains("on screen not saved. Quit anyway?"), "{screen}");
    assert_eq!(session.app.exit_mode(), None);
    session.keys("nR");
    let screen = session.screen(120, 40);
    assert!(screen.contains("on screen not saved. Discard and run?"), "{screen}");
}

/// If a file cannot be written, its name can be corrected, and the next keys are text.
#[test]
fn a_file_name_that_is_refused_can_be_corrected() {
    let mut session = Session::run("topologies = [\"torus:4x4\"]\nalgorithms = [\"pex\"]");
    for key in ["2F", "S"] {
        session.keys(key);
        session.control('u');
        session.keys("/absent/x.png");
        session.key(KeyCode::Enter);
        session.settle();
        session.keys("4");
        let screen = session.screen(120, 40);
        assert!(screen.contains("/absent/x.png4"), "{screen}");
        session.key(KeyCode::Backspace);
        session.key(KeyCode::Enter);
        let screen = session.screen(120, 40);
        assert!(screen.contains("/absent is no directory"), "{screen}");
        session.key(KeyCode::Esc);
    }
}
