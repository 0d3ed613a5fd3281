//! Selection: lists, ranges, completion, forms, studies, the command palette, and undo.

use super::pty::Terminal;
use super::sessions::Session;
use crate::support::swapmeet;
use crossterm::event::KeyCode;
use std::path::Path;
use swapmeet_results::{Record, read_file};
use swapmeet_runner::describe::PluginReader;
use swapmeet_tests::plugin_file;

fn session() -> Session {
    Session::new("topologies = [\"torus:4x4\"]\nalgorithms = [\"suh-shin\"]")
}

fn picked(session: &mut Session, list: &str) -> String {
    let screen = session.screen(200, 60);
    let line = screen
        .lines()
        .find(|line| line.contains(&format!("▸ {list}")))
        .unwrap_or_else(|| panic!("{screen}"));
    line.split(list).nth(1).unwrap().split('│').next().unwrap().trim().to_owned()
}

fn typed(session: &mut Session, text: &str) {
    session.keys("i");
    session.keys(text);
    session.key(KeyCode::Enter);
}

#[test]
fn several_specs_can_be_typed_at_once() {
    let mut session = session();
    session.keys("lll");
    typed(&mut session, "pex  bruck");
    session.keys("hh");
    assert_eq!(picked(&mut session, "Algorithms"), "suh-shin pex bruck");
    typed(&mut session, "ring:9 mesh:2x2");
    session.keys("l");
    assert_eq!(picked(&mut session, "Network"), "torus:4x4 ring:9 mesh:2x2");
    typed(&mut session, "uniform:8..32 one-spike:max=64,rest=1");
    session.keys("l");
    assert_eq!(
        picked(&mut session, "Sizes"),
        "uniform:64 uniform:8 uniform:16 uniform:32 one-spike:max=64,rest=1"
    );
    session.keys("hhi");
    session.keys("ring:4 torsu:4x4");
    let screen = session.screen(100, 30);
    let line = |text: &str| {
        screen.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{screen}"))
    };
    let (at, marks) = (line("ring:4 torsu:4x4"), line("^^^^^"));
    let column = |y: usize, text: &str| {
        screen.lines().nth(y).unwrap().split(text).next().unwrap().chars().count()
    };
    assert_eq!((at + 1, column(at, "torsu")), (marks, column(marks, "^^^^^")), "{screen}");
}

#[test]
fn tab_completes_keys_and_their_values() {
    let mut session = session();
    session.keys("lllli");
    for (typed, completed) in
        [("parag", "paragon"), (":model=c", "paragon:model=circuit"), (",vir", "virtual_channels=")]
    {
        session.keys(typed);
        session.key(KeyCode::Tab);
        assert!(
            session.screen(100, 30).contains(completed),
            "{typed}:\n{}",
            session.screen(100, 30)
        );
    }
}

#[test]
fn the_parameters_of_machines_and_algorithms_are_a_form() {
    let mut session = session();
    // Move to startup_us and increase it. Then change the model, which changes the list of
    // parameters.
    session.keys("llll");
    session.keys("gp");
    assert!(session.screen(120, 50).contains("= paragon"), "{}", session.screen(120, 50));
    session.keys("jl");
    assert!(
        session.screen(120, 50).contains("= paragon:startup_us=84.2"),
        "{}",
        session.screen(120, 50)
    );
    session.key(KeyCode::Enter);
    session.control('u');
    session.keys("oops");
    session.key(KeyCode::Enter);
    assert!(
        session.screen(120, 50).contains("microseconds, a number from 0"),
        "{}",
        session.screen(120, 50)
    );
    session.control('u');
    session.keys("220");
    session.key(KeyCode::Enter);
    session.keys("k");
    session.key(KeyCode::Enter);
    session.control('u');
    session.keys("circuit");
    session.key(KeyCode::Enter);
    let screen = session.screen(120, 50);
    assert!(
        screen.contains("= paragon:model=circuit,startup_us=220")
            && screen.contains("virtual_channels"),
        "{screen}"
    );
    session.keys("p");
    session.keys("h");
    assert_eq!(picked(&mut session, "Machines"), "paragon:model=circuit,startup_us=220");
    // Esc discards the changes of the form.
    session.keys("lgpjd");
    session.key(KeyCode::Esc);
    session.keys("h");
    assert_eq!(picked(&mut session, "Machines"), "paragon:model=circuit,startup_us=220");
}

#[test]
fn selecting_a_study_can_be_undone() {
    let mut session = session();
    session.keys("lllllll");
    session.keys("/figure-14");
    session.key(KeyCode::Enter);
    session.key(KeyCode::Enter);
    session.keys("h");
    assert_eq!(picked(&mut session, "Network"), "mesh:16x16 mesh:32x32 mesh:64x64 mesh:128x128");
    session.keys("u");
    assert_eq!(picked(&mut session, "Network"), "torus:4x4");
    assert_eq!(picked(&mut session, "Sizes"), "uniform:64");
}

#[test]
fn changes_are_undone_in_reverse_order() {
    let mut session = session();
    session.keys("lll");
    typed(&mut session, "pex");
    session.keys("b");
    session.keys("gd");
    session.keys("l");
    assert_eq!(picked(&mut session, "Algorithms"), "pex");
    let message = |session: &mut Session| session.app.message().unwrap_or_default().to_owned();
    session.keys("u");
    assert_eq!(
        (message(&mut session).as_str(), picked(&mut session, "Algorithms").as_str()),
        ("undone: selection", "suh-shin pex")
    );
    session.keys("u");
    assert_eq!(message(&mut session), "undone: baseline");
    session.keys("u");
    assert_eq!(picked(&mut session, "Algorithms"), "suh-shin");
    session.keys("u");
    assert_eq!(message(&mut session), "nothing to undo");
}

#[test]
fn the_palette_finds_and_runs_commands() {
    let folder = tempfile::tempdir().unwrap();
    let command = "swapmeet tui --topology torus:4x4 --algorithm pex";
    let mut terminal = Terminal::start(folder.path(), command, 100, 30);
    terminal.wait_for("done: 1 case verified");
    terminal.keys(":most expensive");
    terminal.wait_for("Network and ranks: go to the most expensive step");
    terminal.keys("\r");
    terminal.wait_for("4 Ranks: pex");
    terminal.keys(":sort\u{1b}[B");
    terminal.wait_for("Table: sort by the next visible column");
    terminal.keys("\u{15}no such thing\r");
    terminal.wait_for("no matching command");
    terminal.keys("\u{15}quit immediately\r");
    terminal.end(0);
}

/// If no selected workload has the collective of a selected algorithm, the algorithm would only
/// give `unsupported` rows. The dashboard therefore offers a workload of this collective.
#[test]
fn a_workload_of_the_collective_is_offered() {
    let mut session = Session::new("topologies = [\"hypercube:4\"]");
    session.keys("lll/allgather");
    session.key(KeyCode::Enter);
    let screen = session.screen(120, 30);
    assert!(screen.contains("hypercube-allgather  allgather · "), "{screen}");
    assert!(screen.contains("alltoall, allgather · Bruck"), "{screen}");
    assert!(!screen.contains("suh-shin"), "filtered by collective:\n{screen}");
    session.keys("G ");
    let offer = "hypercube-allgather needs allgather: w selects allgather/uniform:64";
    assert!(session.screen(80, 24).contains(offer), "{}", session.screen(80, 24));
    session.keys("w");
    assert_eq!(picked(&mut session, "Sizes"), "allgather/uniform:64");
    session.type_and_wait("R");
    let screen = session.screen(80, 24);
    assert!(screen.contains("1 case verified") && !screen.contains("unsupported"), "{screen}");
    session.keys("1w");
    assert!(session.screen(80, 24).contains("the workloads fit hypercube-allgather"));
}

/// The filter of a collective leaves out algorithms that only mention this collective in their
/// titles. An algorithm that reads a file is a template, because it cannot run without the name of
/// the file.
#[test]
fn all_algorithms_of_a_collective_are_selected_at_once() {
    let file = |name| plugin_file(&format!("swapmeet_plugin_{name}"));
    let plugins = ["bine", "classic", "files"].map(file);
    let mut session = Session::with(&plugins, &PluginReader::InProcess, "algorithms = [\"bruck\"]");
    session.keys("lllA");
    assert_eq!(picked_after("l", &mut session), "none selected");
    session.keys("h/gather");
    session.key(KeyCode::Enter);
    session.keys("A");
    let screen = session.screen(120, 40);
    assert!(screen.contains(" +  msccl:file=FILE"), "{screen}");
    assert!(!screen.contains("bine-scatter"), "{screen}");
    assert_eq!(picked_after("l", &mut session), "linear bine-gather");
    session.keys("hA");
    assert_eq!(picked_after("l", &mut session), "none selected");
}

/// Presses keys that close the list of algorithms. Returns the selected algorithms.
fn picked_after(keys: &str, session: &mut Session) -> String {
    session.keys(keys);
    picked(session, "Algorithms")
}

#[test]
fn a_run_without_a_selection_says_which_keys_to_press() {
    let mut session = Session::run("topologies = [\"hypercube:4\"]");
    let expected =
        "no algorithm is selected: press 1, go to Algorithms and select a line with Space";
    assert!(session.screen(120, 30).contains(expected), "{}", session.screen(120, 30));
}

/// The algorithms of the five papers are listed first. All other algorithms follow, grouped by
/// collective.
#[test]
fn algorithms_are_listed_by_paper_and_collective() {
    let mut session = Session::new("topologies = [\"hypercube:4\"]");
    session.keys("lll");
    let screen = session.screen(120, 60);
    let line = |text: &str| {
        screen.lines().position(|line| line.contains(text)).unwrap_or_else(|| panic!("{screen}"))
    };
    let papers = ["suh-shin", "gen ", "four-stage"].map(line);
    let others = ["bruck", "hypercube-broadcast", "hypercube-allgather"].map(line);
    assert!(papers.iter().max() < others.iter().min(), "{screen}");
    assert!(others.is_sorted(), "{screen}");
}

/// The command that `y` copies gives the selected cases.
#[test]
fn the_command_of_the_selection_is_copied() {
    let mut session =
        Session::new("topologies = [\"torus:4x4\"]\nalgorithms = [\"pex\", \"bruck\"]\nseed = 7");
    session.keys("y");
    let expected = "copied: swapmeet run --algorithm pex --algorithm bruck --topology torus:4x4 --workload uniform:64 --machine paragon --seed 7";
    assert!(session.screen(200, 24).contains(expected), "{}", session.screen(200, 24));
}

/// An experiment whose cases are not all combinations of its lists. Its `case` tables name all
/// topologies and algorithms.
const TABLES: &str = r#"
    workloads = ["uniform:64"]
    machines = ["paragon", "mine"]
    exclude = [{ topologies = ["ring:4"], algorithms = ["bruck"] }]

    [machine.mine]
    base = "paragon"
    startup_us = 1

    [[case]]
    topologies = ["ring:4", "torus:2x2"]
    algorithms = ["pex", "bruck"]

    [[case]]
    topologies = ["torus:4x4"]
    algorithms = ["pex"]
    workloads = ["uniform:8..16"]
    machines = ["mine"]
"#;

/// The cases of [`TABLES`], listed by hand.
const CASES: [&str; 8] = [
    "ring:4 pex uniform:64 mine",
    "ring:4 pex uniform:64 paragon",
    "torus:2x2 bruck uniform:64 mine",
    "torus:2x2 bruck uniform:64 paragon",
    "torus:2x2 pex uniform:64 mine",
    "torus:2x2 pex uniform:64 paragon",
    "torus:4x4 pex uniform:16 mine",
    "torus:4x4 pex uniform:8 mine",
];

fn sorted_cases<'a>(rows: impl IntoIterator<Item = &'a Record>) -> Vec<String> {
    let case = |row: &Record| {
        format!("{} {} {} {}", row.topology, row.algorithm, row.workload, row.machine)
    };
    let mut cases: Vec<String> = rows.into_iter().map(case).collect();
    cases.sort();
    cases
}

/// Runs a command that the dashboard has copied. Returns the cases of its rows.
fn cases_of_command(message: &str, folder: &Path) -> Vec<String> {
    let words = message.strip_prefix("copied: swapmeet ").unwrap_or_else(|| panic!("{message}"));
    let rows = folder.join("copied.csv");
    let command = swapmeet(&words.split(' ').collect::<Vec<_>>())
        .current_dir(folder)
        .args(["--quiet", "--force", "--out", rows.to_str().unwrap()])
        .assert();
    command.success();
    sorted_cases(&read_file(&rows).unwrap())
}

/// What the dashboard runs, saves and copies has exactly the cases of the experiment, even if they
/// are not all combinations of its lists.
#[test]
fn a_selection_with_case_and_exclude_tables_keeps_its_cases() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("saved.toml");
    let mut session = Session::run(TABLES);
    assert_eq!(sorted_cases(&session.app.outcome().records), CASES);
    session.keys("1");
    let screen = session.screen(100, 30);
    assert!(screen.contains("Choose: cases of the experiment's tables selected"), "{screen}");
    session.keys("llllll");
    assert_eq!(picked(&mut session, "Network"), "given by the [[case]] tables");
    // Flags cannot express the tables.
    let message = |session: &mut Session| session.app.message().unwrap_or_default().to_owned();
    session.keys("y");
    assert!(message(&mut session).contains("flags cannot express [[case]]"));
    // The saved file has them, so the command names this file.
    session.keys("S");
    session.control('u');
    session.keys(&file.display().to_string());
    session.key(KeyCode::Enter);
    session.keys("y");
    let command = message(&mut session);
    assert_eq!(command, format!("copied: swapmeet run {}", file.display()));
    assert_eq!(cases_of_command(&command, folder.path()), CASES);
    // After a change, the file no longer has the selection.
    session.keys("gi");
    session.control('u');
    session.keys("2");
    session.key(KeyCode::Enter);
    session.keys("y");
    assert!(message(&mut session).contains("flags cannot express [[case]]"));
    session.keys("uy");
    assert_eq!(message(&mut session), command);
    // Without the tables, all combinations of the lists are selected, and the lists are empty.
    let screen = session.screen(100, 30);
    assert!(screen.contains("2 tables"), "{screen}");
    session.keys("Gki");
    session.control('u');
    session.key(KeyCode::Enter);
    assert!(!session.screen(100, 30).contains("2 tables"), "{}", session.screen(100, 30));
    assert_eq!(picked(&mut session, "Network"), "none selected");
}

/// `tui` runs the cases of the file at once, and copies a command that names the file.
#[test]
fn an_experiment_file_with_tables_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("e.toml"), TABLES).unwrap();
    let mut terminal = Terminal::start(folder.path(), "swapmeet tui e.toml", 120, 40);
    terminal.wait_for("done: 8 cases verified");
    terminal.keys("y");
    terminal.wait_for("copied: swapmeet run e.toml");
    terminal.keys("S\u{15}again.toml\r");
    terminal.wait_for("saved again.toml");
    terminal.keys("q");
    terminal.end(0);
    assert_eq!(sorted_cases(&read_file(&folder.path().join("again.csv")).unwrap()), CASES);
}

#[test]
fn help_starts_with_the_active_panel() {
    let mut session = session();
    for (panel, title) in [("4n", "Network and ranks"), ("1", "Choose"), ("3m", "Winners")] {
        session.type_and_wait(panel);
        session.keys("?");
        let screen = session.screen(80, 24);
        let mut lines = screen.lines().skip_while(|line| !line.contains("Keys: arrows scroll"));
        let first = lines.nth(1).unwrap().trim_matches(['│', ' ', '█']);
        assert_eq!(first, title, "{screen}");
        session.keys("?");
    }
    // A description that is too long for the screen continues in the next line.
    session.keys("?");
    let screen = session.screen(80, 24);
    let texts = screen.lines().map(|line| line.trim_matches(['│', ' ', '█']));
    let text = texts.collect::<Vec<_>>().join(" ");
    assert!(text.contains("rows are unsaved (y or q confirms)"), "{text}");
}

/// A system has a network and a machine, and so is neither. The error says how to open it.
#[test]
fn a_system_is_neither_a_network_nor_a_machine() {
    for (list, typed, spec) in
        [("l", "h100-ib:4x8", "h100-ib:4x8"), ("llll", "h100-ib", "h100-ib:2x8")]
    {
        let mut session = Session::new("");
        session.keys(&format!("1{list}i{typed}"));
        let screen = session.screen(120, 40);
        assert!(screen.contains("`h100-ib` is a system, which has its own network"), "{screen}");
        assert!(screen.contains(&format!("`swapmeet tui --system {spec}` opens it")), "{screen}");
    }
}
