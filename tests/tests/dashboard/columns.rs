//! Which columns of a table are visible, and how their values are cut.

use super::panels::compared;
use super::sessions::Session;
use crossterm::event::KeyCode;

#[test]
fn hidden_columns_can_be_scrolled_to() {
    let mut session = compared();
    session.keys("2");
    let head = |session: &mut Session| session.screen(80, 24).lines().nth(2).unwrap().to_owned();
    let narrow = head(&mut session);
    assert!(
        narrow.contains("time") && !narrow.contains("busbw GB/s") && narrow.contains('›'),
        "{narrow}"
    );
    session.keys("llllllllllll");
    let moved = head(&mut session);
    assert!(moved.contains("busbw GB/s") && !moved.contains('›'), "{moved}");
    session.keys("hhhhhhhhhhhh");
    assert_eq!(head(&mut session), narrow);
}

#[test]
fn numbers_are_never_cut() {
    let mut session = Session::run(
        r#"
        topologies = ["torus:4x4", "torus:8x8"]
        algorithms = ["pairwise", "ring", "bruck"]
        workloads = ["uniform:1", "irregular:dist=lognormal,mean=64,cv=2", "irregular:dist=lognormal,mean=4KiB,cv=2"]
        machines = ["paragon", "paragon:startup_us=5"]
        "#,
    );
    session.keys("2");
    let figures = |screen: String| -> std::collections::BTreeSet<String> {
        let words =
            screen.lines().skip(3).flat_map(|line| line.split([' ', '│', '█'])).map(str::to_owned);
        words.filter(|word| word.parse::<f64>().is_ok()).collect()
    };
    let whole = figures(session.screen(250, 60));
    assert!(!whole.is_empty());
    for width in 44..180 {
        let screen = session.screen(width, 60);
        let cut: Vec<String> = figures(screen.clone()).difference(&whole).cloned().collect();
        assert!(cut.is_empty(), "{width} columns: {cut:?}\n{screen}");
    }
    let narrow = session.screen(60, 40);
    assert!(
        narrow.contains("64…") && narrow.contains("4KiB…"),
        "what tells workloads apart:\n{narrow}"
    );
    session.type_and_wait("4n");
    let title = |session: &mut Session| session.screen(72, 24).lines().nth(1).unwrap().to_owned();
    assert!(
        title(&mut session).contains("Network: bruck on torus:4x4, uniform:1, paragon"),
        "{}",
        title(&mut session)
    );
    while !session.screen(250, 24).contains("mean=4KiB") {
        session.keys("p]n");
    }
    assert!(title(&mut session).contains("4KiB"), "{}", title(&mut session));
    session.keys("2");
    let screen = session.screen(110, 34);
    let head = screen.lines().nth(2).unwrap();
    assert!(head.contains("time") && head.contains("ratio"), "{screen}");
}

#[test]
fn common_specs_are_hidden_first() {
    let text = "topologies = [\"torus:8x8\"]\nalgorithms = [\"pex-gen-shift\"]\nworkloads = [\"uniform:64\", \"uniform:16KiB\"]";
    let mut session = Session::run(text);
    session.keys("2");
    let first = |session: &mut Session| session.screen(46, 14).lines().nth(3).unwrap().to_owned();
    let line = first(&mut session);
    assert!(line.contains("│ 64 ") && line.contains("pex-gen-shift"), "{line}");
    assert!(!line.contains("torus:8x8"), "{line}");
    // A case on a second topology makes a column for the topology necessary.
    session.keys("1li");
    session.keys("torus:4x4");
    session.key(KeyCode::Enter);
    session.type_and_wait("a");
    session.keys("2");
    let line = first(&mut session);
    assert!(line.contains("torus:8x8") || line.contains(" 8x8"), "{line}");
}
