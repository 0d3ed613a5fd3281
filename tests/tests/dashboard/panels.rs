//! The content of the panels with rows of the bundled plugins, and the drawing of panels at any
//! size.

use super::sessions::{MARKER, Session};
use crossterm::event::KeyCode;
use proptest::prelude::*;
use ratatui::buffer::Cell;
use ratatui::layout::Rect;

/// Runs a mid-sized comparison: two tori, one of which `pex` does not support, with fixed and
/// random sizes.
pub(super) fn compared() -> Session {
    Session::run(
        r#"
        name = "snapshot"
        topologies = ["torus:4x4", "torus:8x8", "torus:6x6"]
        algorithms = ["suh-shin", "pex", "bruck"]
        workloads = ["uniform:64", "uniform:16KiB", "irregular:dist=lognormal,mean=512,cv=2"]
        machines = ["paragon"]
        baseline = "pex"
        repetitions = 3
        "#,
    )
}

/// The keys that show each panel, and its name.
const PANELS: [(&str, &str); 9] = [
    ("1", "choose"),
    ("2", "table"),
    ("3m", "winners"),
    ("c", "curves"),
    ("4p", "parts"),
    ("n", "network"),
    ("5", "what_if"),
    ("2d", "details"),
    ("L", "log"),
];

/// The number of views and overlays.
const NUMBERS: usize = 7;

/// Switches to each panel and calls `f`. Some content is computed only when its panel is shown, so
/// `f` is called after this work has ended.
fn for_each_panel(session: &mut Session, mut f: impl FnMut(&mut Session, &str)) {
    for (keys, name) in PANELS {
        session.type_and_wait(keys);
        f(session, name);
    }
}

#[test]
fn panels_have_their_expected_content() {
    let mut session = compared();
    // On a large screen, two views are next to each other.
    session.type_and_wait("3e");
    let screen = session.screen(100, 30);
    assert!(screen.contains("1 Choose") && screen.contains("3 Winners (1 of"), "{screen}");
    insta::assert_snapshot!("screen", screen);
    session.keys("e");
    for_each_panel(&mut session, |session, name| {
        insta::assert_snapshot!(name, session.screen(120, 40));
    });
}

#[test]
fn panels_draw_only_within_their_area_at_any_size() {
    let mut session = compared();
    for_each_panel(&mut session, |_, _| {});
    let session = std::cell::RefCell::new(session);
    proptest!(ProptestConfig::with_cases(swapmeet_tests::cases(32)), |(
        panel in 0..NUMBERS,
        (x, y) in (0_u16..5, 0_u16..5),
        (width, height) in prop_oneof![(1_u16..=60, 1_u16..=20), (1_u16..=250, 1_u16..=80)],
        key in "[Mvr]?",
    )| {
        let mut session = session.borrow_mut();
        if !key.is_empty() {
            session.keys("4n");
            session.type_and_wait(&key);
        }
        let area = Rect { x, y, width, height };
        let buffer = session.draw_panel(panel, area);
        let outside = buffer.area.positions().filter(|position| !area.contains(*position));
        for position in outside {
            prop_assert_eq!(buffer[position].symbol(), MARKER, "{:?}: {}", area, panel);
            prop_assert_eq!(buffer[position].style(), Cell::default().style());
        }
    });
}

#[test]
fn the_screen_can_be_drawn_at_any_size() {
    let mut session = compared();
    // Overlays: the help, a confirmation, a text input with an error, and the command palette.
    for keys in ["3c", "?", "q", "n1lixyz", "\u{1b}:so"] {
        for c in keys.chars() {
            session.key(if c == '\u{1b}' { KeyCode::Esc } else { KeyCode::Char(c) });
        }
        session.settle();
        let session = std::cell::RefCell::new(&mut session);
        proptest!(ProptestConfig::with_cases(60), |(width in 1_u16..=250, height in 1_u16..=80)| {
            session.borrow_mut().screen(width, height);
        });
    }
    let screen = session.screen(40, 5);
    assert!(screen.contains("40x5 is too small") && screen.contains("44x12 is needed"), "{screen}");
}

/// The expected values are those of the formulas in nccl-tests' `doc/PERFORMANCE.md` for an
/// all-to-all of 16 ranks with blocks of 16 KiB: algbw is the data of a rank over the time, and
/// busbw is 15/16 of it.
#[test]
fn bandwidths_are_columns_of_the_comparison() {
    let mut session = Session::run(
        "topologies = [\"torus:4x4\"]\nalgorithms = [\"pex\"]\nworkloads = [\"uniform:16KiB\"]",
    );
    session.keys("2");
    let screen = session.screen(200, 24);
    assert!(screen.contains("algbw GB/s") && screen.contains("busbw GB/s"), "{screen}");
    let line = screen.lines().find(|line| line.contains("✓ blocks")).unwrap();
    let words: Vec<&str> = line.trim_matches(['│', ' ', '█']).split_whitespace().collect();
    let [.., algorithm, bus] = words[..] else { panic!("{line}") };
    let ms: f64 = words[1].parse().unwrap();
    let expected = 16.0 * 16384.0 / (ms * 1e-3) / 1e9;
    let close =
        |text: &str, expected: f64| (text.parse::<f64>().unwrap() / expected - 1.0).abs() < 1e-3;
    assert!(close(algorithm, expected), "{line}");
    assert!(close(bus, expected * 15.0 / 16.0), "{line}");
}

/// The table of all times in the map panel has the same times as the comparison.
#[test]
fn the_map_can_show_all_times() {
    let mut session = compared();
    session.keys("3mghhv");
    let screen = session.screen(80, 24);
    let words = |name: &str| {
        let line = screen.lines().find(|line| line.contains(name)).unwrap();
        line.trim_matches(['│', ' ']).split_whitespace().skip(2).collect::<Vec<_>>().join(" ")
    };
    assert!(screen.contains("times on torus:4x4") && screen.contains("64 B"), "{screen}");
    assert_eq!(words("✚ bruck"), "1.564 ms 24.80 ms", "{screen}");
    assert_eq!(words("◆ pex"), "6.615 ms 10.56 ms", "{screen}");
    session.keys("v");
    assert!(!session.screen(80, 24).contains("times on"));
}

/// An algorithm has the same mark in curves and maps, whatever the filter leaves out.
#[test]
fn an_algorithm_keeps_its_mark() {
    let mut session = compared();
    let marks = |session: &mut Session, algorithm: &str| {
        let screen = session.screen(120, 40);
        let words: Vec<&str> = screen.split_whitespace().collect();
        let is_mark = |word: &str| word.chars().count() == 1 && !word.is_ascii();
        let is_named = |word: &str| word.trim_end_matches('†') == algorithm;
        let pair = words.windows(2).find(|pair| is_named(pair[1]) && is_mark(pair[0]));
        pair.map(|pair| pair[0].to_owned())
    };
    session.keys("3c");
    let all = ["suh-shin", "pex", "bruck"].map(|name| marks(&mut session, name));
    assert_eq!(all, ["●", "◆", "✚"].map(|mark| Some(mark.to_owned())), "as in saved figures");
    session.keys("/!suh-shin");
    session.key(KeyCode::Enter);
    assert_eq!(marks(&mut session, "suh-shin"), None);
    assert_eq!(marks(&mut session, "bruck"), all[2]);
    session.keys("m");
    assert_eq!(marks(&mut session, "bruck"), all[2]);
    assert_eq!(marks(&mut session, "pex"), all[1]);
}

/// Under the model `flat`, the time has no propagation part. The parts that are listed after the
/// propagation part must nevertheless have the right names.
#[test]
fn missing_parts_do_not_shift_names() {
    let mut session = Session::run(
        r#"
        topologies = ["ring:9"]
        algorithms = ["direct", "row-column"]
        machines = ["sp2"]
        "#,
    );
    session.keys("4p");
    let screen = session.screen(200, 60);
    assert!(screen.contains("rearrangement 10 %") && !screen.contains("propagation"), "{screen}");
}

#[test]
fn all_pictures_of_networks() {
    let mut session = Session::run(
        r#"
        topologies = ["mesh:4x6", "torus:2x3x4", "ring:9", "hypercube:4"]
        algorithms = ["pairwise"]
        "#,
    );
    session.keys("4nl");
    let mut seen = String::new();
    for (keys, what) in [
        ("", "a mesh: messages on links"),
        ("vv", "a mesh: bytes held by nodes"),
        ("vp]n", "a plane of a three-dimensional network"),
        ("]", "the next plane"),
        ("o", "a plane in another orientation"),
        ("p]n", "a ring that is broken into rows"),
        ("p]nl", "a hypercube: the communication matrix"),
        ("vv", "the matrix in bytes"),
        ("vvr", "ranks against time"),
        ("zzll", "ranks against time, zoomed in"),
    ] {
        session.type_and_wait(keys);
        seen += &format!("== {what}\n{}\n", session.screen(70, 24));
    }
    insta::assert_snapshot!(seen);
}

/// The line under the cursor and the overlays have backgrounds of their own. Every style must be
/// readable on these backgrounds, too.
#[test]
fn everything_on_screen_can_be_read_in_every_theme() {
    let mut session = compared();
    let panels = ["1", "lllG", "2", "s", "3m", "v", "v", "c", "v", "d", "L", "5jjl", "jjj", "4p"];
    let pictures = ["n", "l", "v", "v", "v", "M", "r", "n", "c"];
    for keys in panels.into_iter().chain(pictures).chain(["?", " 2/p", "<:", "<S"]) {
        for key in keys.chars() {
            let code = if key == '<' { KeyCode::Esc } else { KeyCode::Char(key) };
            session.key(code);
        }
        session.settle();
        for theme in ["default", "light", "rich"] {
            assert_eq!(session.unreadable(theme, 120, 40), None, "after the keys {keys}");
        }
    }
}

#[test]
fn plain_terminals_show_the_same_content() {
    let mut session = compared();
    session.plain();
    for keys in ["1", "2", "3m", "c", "4p", "n", "r", "5", "?"] {
        session.type_and_wait(keys);
        let screen = session.screen(120, 40);
        assert!(screen.is_ascii(), "panel {keys}:\n{screen}");
        assert!(
            !screen.contains('?') || screen.contains("? help") || keys == "?",
            "panel {keys}:\n{screen}"
        );
        assert!(!session.is_coloured(120, 40), "panel {keys}");
    }
    insta::assert_snapshot!("plain", session.screen(80, 24));
}

/// Opens the details of the line under the cursor. Returns the screen and the title that the
/// details should have.
fn opened(session: &mut Session) -> (String, String) {
    session.settle();
    let line = session.cursor_line(120, 24);
    let mut words = line.split_whitespace();
    let (workload, algorithm) = (words.next().unwrap(), words.next().unwrap());
    let here = format!("Details: {algorithm} on torus:4x4, {workload}, paragon");
    session.key(KeyCode::Enter);
    session.settle();
    (session.screen(120, 24), here)
}

#[test]
fn enter_opens_the_case_under_the_cursor() {
    let text = r#"
        topologies = ["torus:4x4"]
        algorithms = ["pairwise", "bruck", "ring", "suh-shin"]
        workloads = ["uniform:1", "uniform:10KiB"]
        "#;
    for keys in ["2", "2r", "2s", "2ss", "2sr", "2G/ring", "2/10K", "2G", "2jj"] {
        let mut session = Session::run(text);
        session.keys(keys);
        if keys.contains('/') {
            // The filter may hide the selected case, so go to the first line.
            session.key(KeyCode::Enter);
            session.keys("g");
        }
        let (screen, here) = opened(&mut session);
        assert!(screen.contains(&here), "{keys}: expected {here}\n{screen}");
        // Typing a filter and removing it does not change the selection.
        session.keys("2/bruck");
        session.key(KeyCode::Esc);
        let (screen, here) = opened(&mut session);
        assert!(screen.contains(&here), "{keys}, filter gone: expected {here}\n{screen}");
    }
    let mut session = Session::run(text);
    // If the filter hides the selected case, Enter opens the first line.
    session.keys("2/pairwise");
    session.key(KeyCode::Enter);
    session.key(KeyCode::Enter);
    let screen = session.screen(120, 24);
    assert!(screen.contains("Details: pairwise on"), "{screen}");
}

#[test]
fn errors_are_marked_while_a_spec_is_typed() {
    let mut session = Session::new("algorithms = [\"pex\"]");
    session.keys("lllji");
    session.keys("x");
    session.key(KeyCode::Esc);
    session.keys("hh");
    session.keys("itorus:16x0");
    insta::assert_snapshot!(session.screen(80, 24));
    session.key(KeyCode::Enter);
    assert!(session.screen(80, 24).contains("dimension 2 is 0"), "the spec is rejected");
    session.key(KeyCode::Backspace);
    session.keys("8");
    session.key(KeyCode::Enter);
    assert!(session.screen(80, 24).contains("[x] torus:16x8"), "{}", session.screen(80, 24));
}

#[test]
fn filters_apply_to_every_panel() {
    let mut session = compared();
    for (panel, words, there, gone) in [
        ("1lll", "doubling", "recursive doubling", "suh-shin "),
        ("2", "6x6 unsupported", "6x6", "4x4"),
        ("2g", "8x8 16KiB pex", "pex", "bruck"),
        ("3c", "bruck", "✚ bruck", "pex"),
        ("4p", "pex", "pex", "│ bruck"),
        ("2d", "bytes", "peak_node_bytes", "Phase 3"),
        ("L", "done", "72 cases verified", "not a power of two"),
    ] {
        session.type_and_wait(panel);
        session.keys("/");
        session.keys(words);
        let screen = session.screen(80, 24);
        let lines = || screen.lines().skip(2).take(16);
        assert!(
            lines().any(|l| l.contains(there)) && !lines().any(|l| l.contains(gone)),
            "{panel}:\n{screen}"
        );
        session.key(KeyCode::Esc);
        let screen = session.screen(80, 24);
        assert!(screen.contains(gone), "Esc restores the previous filter:\n{screen}");
    }
}

#[test]
fn broken_lines_have_marks_only_for_nodes() {
    let mut session = Session::run("topologies = [\"ring:200\"]\nalgorithms = [\"ring\"]");
    session.plain();
    session.keys("4n");
    session.key(KeyCode::Enter);
    session.type_and_wait("l");
    // All nodes of a ring send in the first step.
    let screen = session.screen(80, 24);
    let marks: Vec<usize> = screen
        .lines()
        .skip(5)
        .map(|line| line.trim_matches(['|', ' ']).len() / 2)
        .take_while(|n| *n > 0)
        .collect();
    assert_eq!((marks.iter().sum::<usize>(), marks.last()), (200, Some(&10)), "{screen}");
    assert!(!screen.lines().nth(10).unwrap().contains('.'), "{screen}");
}

#[test]
fn invalid_settings_are_rejected() {
    let mut session = Session::new("repetitions = 3\nseed = 18446744073709551613");
    session.keys("hhhhhh");
    session.keys("llllll");
    session.keys("i");
    session.control('u');
    session.keys("4");
    let screen = session.screen(100, 24);
    assert!(
        screen.contains("4 repetitions exceed the largest seed, 18446744073709551615"),
        "{screen}"
    );
    session.key(KeyCode::Esc);
    session.keys("ji");
    session.control('u');
    session.keys("18446744073709551614");
    session.key(KeyCode::Enter);
    let screen = session.screen(100, 24);
    assert!(screen.contains("3 repetitions exceed the largest seed"), "{screen}");
}

/// If a text has no room on a small screen, it is wrapped, or the screen says that it is hidden.
#[test]
fn small_screens_say_what_they_hide() {
    let mut session = Session::run(
        r#"
        topologies = ["torus:4x4"]
        algorithms = ["pex", "suh-shin", "bruck", "pairwise"]
        "#,
    );
    for (keys, height, text) in [
        ("4pf", 24, "frozen"),
        ("fF", 24, " .png .pdf are figures"),
        ("<5", 14, "2 further algorithms are hidden"),
    ] {
        for key in keys.chars() {
            session.key(if key == '<' { KeyCode::Esc } else { KeyCode::Char(key) });
        }
        session.settle();
        let screen = session.screen(80, height);
        assert!(screen.contains(text), "no `{text}` in\n{screen}");
    }
}

#[test]
fn repetitions_are_counted_from_one_everywhere() {
    let mut session = compared();
    session.keys("2");
    session.key(KeyCode::Enter);
    for repetition in 1..=3 {
        session.settle();
        let screen = session.screen(80, 24);
        assert!(screen.contains(&format!("Details of repetition {repetition} of 3: ")), "{screen}");
        session.keys("l");
    }
}

#[test]
fn the_mouse_selects_sorts_and_scrolls() {
    let mut session = compared();
    session.keys("2");
    session.click_on(120, 40, "time   ratio");
    session.click_on(120, 40, "time▴");
    let sorted = session.screen(120, 40);
    assert!(sorted.contains("time▾"), "{sorted}");
    session.click_on(80, 24, "3 Winners");
    assert!(session.screen(80, 24).contains("3 Winners (1 of"));
    // The hints of the bottom line, and the scales of sliders.
    session.click_on(80, 24, "c curves");
    assert!(session.screen(80, 24).contains("Time against block size"));
    session.type_and_wait("5jj");
    session.click_on(120, 40, "┼");
    assert!(session.screen(120, 40).contains("a trial of"), "{}", session.screen(120, 40));
    session.keys("D2g");
    // The screen is high enough to show all lines.
    let before = session.cursor_row(80, 100);
    session.wheel_on(80, 100, "suh-shin", 2);
    assert_eq!(session.cursor_row(80, 100), before + 6, "two notches of three lines");
}

/// The links that were drawn are part of the case, so they are above the list of all columns.
#[test]
fn details_show_the_faults_of_a_case() {
    let mut session = Session::run("topologies = [\"torus:4x4,faults=2\"]\nalgorithms = [\"pex\"]");
    session.type_and_wait("2d");
    let screen = session.screen(120, 40);
    let (first, _) = screen.split_once("ALL COLUMNS").unwrap();
    assert!(first.contains(" faults                down="), "{screen}");
}

#[test]
fn the_last_page_of_details_is_full() {
    let mut session = compared();
    session.type_and_wait("2dG");
    let screen = session.screen(80, 24);
    assert!(screen.contains("Details of repetition 1 of 3: "), "{screen}");
    assert!(
        screen.lines().skip(2).take(20).all(|line| line.trim_matches([' ', '│', '█']).len() > 3),
        "{screen}"
    );
}

/// The least time of a collective hides all differences, so no algorithm is announced as the
/// fastest.
#[test]
fn equal_times_are_not_announced_as_a_winner() {
    let mut session = Session::run(
        r#"
        topologies = ["torus:4x4"]
        algorithms = ["suh-shin", "pex", "bruck"]
        workloads = ["uniform:64", "uniform:256", "uniform:1KiB"]
        machines = ["paragon:floor_us=1000000"]
        "#,
    );
    session.keys("3");
    let screen = session.screen(200, 40);
    for text in [
        "and 2 others are equally fast at all sizes (floor).",
        "and 2 others 1.000 s (floor)",
        "; equally fast: ",
    ] {
        assert!(screen.contains(text), "no `{text}` in\n{screen}");
    }
    assert!(!screen.contains("not significantly different"), "{screen}");
}

/// A figure of curves has only those that pass the filter.
#[test]
fn figures_have_the_rows_that_pass_the_filter() {
    let mut session = Session::run(
        r#"
        topologies = ["torus:4x4"]
        algorithms = ["suh-shin", "pex", "bruck"]
        workloads = ["uniform:64", "uniform:256"]
        "#,
    );
    session.keys("3cF");
    let screen = session.screen(120, 40);
    assert!(screen.contains("a figure of times of 6 rows on the screen"), "{screen}");
    session.key(KeyCode::Esc);
    for (filter, text) in [("pex", "a figure of times of 2 rows on the screen"), ("none", "no row")]
    {
        session.keys("/");
        session.control('u');
        session.keys(filter);
        session.key(KeyCode::Enter);
        session.keys("F");
        let screen = session.screen(120, 40);
        assert!(screen.contains(text), "no `{text}` in\n{screen}");
        session.key(KeyCode::Esc);
    }
}
