//! Replays of sessions in which the dashboard was once wrong. Each file has the experiment (`#:`), the
//! keys, and texts that the screen must or must not show.
//!
//! Of the same list, these defects are tested elsewhere, some of them in addition to a replay:
//!
//! | defect | test |
//! | --- | --- |
//! | A6 | the crossovers of plots |
//! | A10 | `the_first_algorithms_can_be_told_apart` |
//! | A11 | `cancelled_cases_can_be_resumed` |
//! | A13, B3 | `failed_cases_run_again` |
//! | A14 | `a_child_is_killed_soon_after_its_limit` |
//! | A15 | `a_range_of_counts_has_no_units` |
//! | A16 | `small_losses_are_not_red` |
//! | A17 | none: the sentences in the docs have changed |
//! | B1 | `rows_from_files_are_compared_and_rendered` |
//! | C2 | `columns_keep_their_places_during_a_run` |
//! | C6 | `small_maps_have_rows` |
//! | C8 | `every_link_of_16x16_has_a_mark` |

use super::sessions::Session;
use crossterm::event::{Event, KeyCode, KeyEvent};
use swapmeet_tui::{Script, Step};

/// The sizes of terminals at which the texts are searched.
const SIZES: [(u16, u16); 3] = [(80, 24), (120, 40), (200, 60)];

fn press(session: &mut Session, event: &Event) {
    match event {
        Event::Key(key) => session.app.key(key),
        other => unreachable!("{other:?}: the place of a click depends on the size of the screen"),
    }
}

fn replay(text: &str) {
    let experiment: String = text
        .lines()
        .filter_map(|line| line.strip_prefix("#: "))
        .map(|l| format!("{l}\n"))
        .collect();
    let mut session = Session::new(&experiment);
    let script = Script::parse(text).unwrap();
    for step in script.steps() {
        let screens = |session: &mut Session| {
            session.settle();
            SIZES.map(|(width, height)| session.screen(width, height))
        };
        match step {
            Step::Input(event) => {
                press(&mut session, event);
                session.settle();
            }
            Step::Expect(words) => {
                for screen in screens(&mut session) {
                    assert!(screen.contains(words.as_str()), "no `{words}` in\n{screen}");
                }
            }
            Step::Absent(words) => {
                for screen in screens(&mut session) {
                    assert!(!screen.contains(words.as_str()), "`{words}` in\n{screen}");
                }
            }
        }
    }
}

macro_rules! replays {
    ($($name:ident),+ $(,)?) => {$(
        #[test]
        fn $name() {
            replay(include_str!(concat!("replays/", stringify!($name), ".txt")));
        }
    )+};
}

replays!(
    a1, a2, a3, a4, a5, a7, a8, a9, a10, a12, a13, b1, b2, b4, b5, c1, c2, c3, c4, c5, c6, c7, c8,
    c9, c10, c11, c12, d1, d2, d5, d7, d8, d9
);

const ONE: &str = "topologies = [\"torus:4x4\"]\nalgorithms = [\"pex\", \"bruck\"]\nworkloads = [\"uniform:64\", \"uniform:4KiB\"]";

/// The columns of the table are at the same places while cases wait and after they have run.
#[test]
fn columns_keep_their_places_during_a_run() {
    let mut session = Session::new(ONE);
    session.type_and_wait("fR2");
    let places = |session: &mut Session| {
        let screen = session.screen(120, 40);
        let head = screen.lines().find(|line| line.contains("workload")).unwrap().to_owned();
        ["algorithm", "time"].map(|title| head[head.find("workload").unwrap()..].find(title))
    };
    let waiting = places(&mut session);
    session.type_and_wait("f");
    assert_eq!(places(&mut session), waiting);
    assert!(waiting.iter().all(Option::is_some));
}

/// Even on the smallest screen, the map has a row.
#[test]
fn small_maps_have_rows() {
    let mut session = Session::run(ONE);
    session.keys("3m");
    let screen = session.screen(44, 12);
    assert!(
        screen.lines().any(|line| line.contains("torus:4x4") && line.contains('[')),
        "{screen}"
    );
}

/// From the start of the program to the fastest algorithm and the reason: at most eight keys.
#[test]
fn the_answer_and_the_reason_take_few_keys() {
    let mut session = Session::new(
        "topologies = [\"torus:8x8\"]\nalgorithms = [\"suh-shin\", \"bruck\", \"linear\"]\nworkloads = [\"uniform:64..1MiB*4\"]",
    );
    session.type_and_wait("R3");
    let answer = session.screen(100, 30);
    assert!(answer.contains("All-to-all on torus:8x8, paragon: "), "{answer}");
    // To 1 KiB, and why.
    let script =
        Script::parse("key Right\nkey Right\nkey 4\nexpect beats\nexpect instead of").unwrap();
    assert!(script.keys() <= 8);
    for step in script.steps() {
        match step {
            Step::Input(event) => press(&mut session, event),
            Step::Expect(text) => {
                session.settle();
                let screen = session.screen(100, 30);
                assert!(
                    screen.contains(text.as_str()) && screen.contains("uniform:1KiB"),
                    "{screen}"
                );
            }
            Step::Absent(_) => unreachable!(),
        }
    }
}

/// The selection and the view of a session are restored in the next one.
#[test]
fn the_state_of_a_session_can_be_restored() {
    let mut session = Session::run(ONE);
    session.type_and_wait("2/pex 4KiB");
    session.key(KeyCode::Enter);
    session.type_and_wait("gssr4n");
    let state = session.app.state();
    let mut again = Session::with_state(ONE, &state);
    again.app.key(&KeyEvent::from(KeyCode::Char('R')));
    again.settle();
    let screen = again.screen(120, 40);
    assert!(screen.contains("4 Network: pex on torus:4x4, uniform:4KiB"), "{screen}");
    again.keys("2");
    let screen = again.screen(120, 40);
    assert!(screen.contains("algorithm▾"), "{screen}");
}

/// The hints of the bottom line belong to the input while a text is typed.
#[test]
fn a_click_on_a_hint_of_the_input_presses_its_key() {
    let mut session = Session::run(ONE);
    session.keys("2/pex");
    session.click_on(120, 40, "accept");
    let screen = session.screen(120, 40);
    assert!(screen.contains(" /pex ") && !screen.contains("either"), "{screen}");
}

/// A command of all views is run even if the panel has another action with its key: `d` removes a
/// spec in *Choose*, and shows the details elsewhere.
#[test]
fn the_palette_runs_the_command_that_is_shown() {
    let mut session = Session::run(ONE);
    session.keys("1");
    (0..3).for_each(|_| session.key(KeyCode::Right));
    session.keys(":details of the selected");
    session.key(KeyCode::Enter);
    session.settle();
    let screen = session.screen(120, 40);
    assert!(screen.contains("Details: ") && screen.contains("on torus:4x4"), "{screen}");
    assert!(screen.lines().last().unwrap().contains("Esc close"), "{screen}");
    session.key(KeyCode::Esc);
    let screen = session.screen(120, 40);
    assert!(screen.contains("[x] pex") && screen.contains("[x] bruck"), "{screen}");
}

/// Collectives of tokens have no uniform blocks, so they come with a workload of tokens. Without
/// plugins for them, no algorithm fits.
#[test]
fn collectives_of_tokens_come_with_a_workload() {
    let mut session = Session::run(ONE);
    session.keys("1");
    session.click_on(100, 30, "( ) dispatch");
    session.key(KeyCode::Enter);
    let screen = session.screen(100, 30);
    for text in ["(•) dispatch", "dispatch/moe:experts=256", "dispatch: 0 algorithms that may fit"]
    {
        assert!(screen.contains(text), "{text} in\n{screen}");
    }
}
