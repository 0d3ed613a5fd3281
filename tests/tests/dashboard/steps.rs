//! The times of steps, and the comparison of two schedules.

use super::pty::{Terminal, rows};
use super::sessions::Session;
use crossterm::event::KeyCode;

/// Returns the text after `words` up to the next two spaces.
fn after(screen: &str, words: &str) -> String {
    let at =
        screen.find(words).unwrap_or_else(|| panic!("no `{words}` in\n{screen}")) + words.len();
    let rest = screen[at..].trim_start();
    rest.split(['\n', '│']).next().unwrap().split("  ").next().unwrap().trim().to_owned()
}

/// Parses a time in µs from the start of a text.
fn us(text: &str) -> f64 {
    let mut words = text.split_whitespace();
    let number: f64 = words.next().unwrap().parse().unwrap();
    number
        * match words.next().unwrap() {
            "µs" => 1.0,
            "ms" => 1e3,
            other => panic!("{other}"),
        }
}

#[test]
fn the_last_step_ends_at_the_time_of_the_row() {
    for machine in [
        "paragon",
        "paragon:model=circuit,virtual_channels=2,ports=all",
        "paragon:model=store-and-forward",
        "delta",
    ] {
        for algorithm in ["suh-shin", "pex", "bruck"] {
            let mut session = Session::run(&format!(
                "topologies = [\"torus:8x8\"]\nalgorithms = [\"{algorithm}\"]\nworkloads = [\"uniform:1KiB\"]\nmachines = [\"{machine}\"]"
            ));
            session.keys("2");
            let time = session
                .cursor_line(160, 50)
                .split_whitespace()
                .skip(1)
                .take(2)
                .collect::<Vec<_>>()
                .join(" ");
            session.type_and_wait("4n");
            session.type_and_wait("G");
            let screen = session.screen(160, 50);
            assert_eq!(after(&screen, "ends at"), time, "{algorithm} on {machine}:\n{screen}");
        }
    }
}

#[test]
fn w_goes_to_the_most_expensive_step() {
    let mut session = Session::run(
        "topologies = [\"ring:8\"]\nalgorithms = [\"linear\", \"ring\"]\nworkloads = [\"uniform:4KiB\"]\nmachines = [\"paragon\"]",
    );
    session.type_and_wait("2G4n");
    session.type_and_wait("w");
    let screen = session.screen(160, 50);
    assert!(screen.contains("most expensive of 7"), "{screen}");
    let longest =
        after(&screen, "time of each step, maximum").split(" (").next().unwrap().to_owned();
    assert!(
        screen
            .lines()
            .any(|line| line.contains(&format!("{longest} ")) && line.contains("ends at")),
        "{screen}"
    );
    session.keys("w");
    assert!(session.screen(160, 50).contains("number 2 of 7 by cost"), "the next most expensive");
}

#[test]
fn times_of_ranks_are_computed_on_request() {
    let mut session = Session::run(
        "topologies = [\"ring:8\"]\nalgorithms = [\"pairwise\"]\nmachines = [\"sp2\"]\nworkloads = [\"uniform:64\"]",
    );
    session.type_and_wait("4n");
    let screen = session.screen(120, 40);
    assert!(screen.contains("link load of each step"), "{screen}");
    session.type_and_wait("w");
    let screen = session.screen(160, 50);
    assert!(screen.contains("most expensive of 7"), "{screen}");
    assert!(screen.contains("mean time of ranks in each step"), "{screen}");
}

/// A broadcast of 100 bytes on four ranks, with 3 µs start-up, 2 µs per link and 0.5 µs per byte,
/// so that a message takes 55 µs. Rank 0 sends to rank 2. Then rank 0 and rank 2 each send to
/// another rank.
#[test]
fn ranks_with_their_own_clocks_are_shown_against_time() {
    let mut session = Session::run(
        "topologies = [\"hypercube:2\"]\nalgorithms = [\"hypercube-broadcast\"]\nworkloads = [\"broadcast/uniform:100\"]\nmachines = [\"free:model=fluid,startup_us=3,hop_us=2,byte_us=0.5\"]",
    );
    session.type_and_wait("4r");
    for (width, height) in [(60, 20), (110, 34), (200, 50)] {
        let screen = session.screen(width, height);
        for part in ["startup", "peer", "rank 0 is the last to end this step, at 55.00 µs"] {
            assert!(
                screen.contains(part) || width < 100,
                "no `{part}` at {width}x{height}:\n{screen}"
            );
        }
        // The rank that receives last waits for about half of the time.
        let line = screen.lines().find(|line| line.starts_with("│ 1 ·")).unwrap();
        let (waits, receives) = (line.matches('·').count(), line.matches(['▒', '█']).count());
        let (waits, all) = (waits as f64, (waits + receives) as f64);
        assert!(
            (waits / all - 58.0 / 110.0).abs() < 0.05,
            "{waits} of {all} at {width}x{height}:\n{screen}"
        );
    }
    insta::assert_snapshot!(session.screen(90, 24));
    // The mean time of a rank is 27.5 µs in the first step and 82.5 µs in the second.
    session.keys("w");
    let screen = session.screen(160, 40);
    assert!(
        screen.contains("step 2: most expensive of 2") && screen.contains("82.50 µs"),
        "{screen}"
    );
    assert!(
        screen.contains("ends at 110.0 µs") && screen.contains("mean time of ranks in each step"),
        "{screen}"
    );
    session.keys("z");
    let closer = session.screen(160, 40);
    assert!(
        closer.contains("27.50 µs") && closer.contains("82.50 µs"),
        "half of the time, with the step in the middle:\n{closer}"
    );
}

#[test]
fn two_schedules_are_aligned_by_step_or_by_time() {
    let mut session = Session::run(
        "topologies = [\"torus:4x4\", \"mesh:4x4\"]\nalgorithms = [\"pex\", \"suh-shin\"]\nworkloads = [\"uniform:64\"]\nmachines = [\"paragon\"]",
    );
    // The fastest algorithm is first.
    session.type_and_wait("2gj4nc");
    session.key(KeyCode::Up);
    session.settle();
    session.keys("ll");
    for (width, height) in [(120, 40), (220, 60), (70, 40)] {
        let screen = session.screen(width, height);
        for part in ["kept: pex, torus:4x4", "suh-shin, torus:4x4"] {
            assert!(screen.contains(part), "no `{part}` at {width}x{height}:\n{screen}");
        }
        assert_eq!(screen.matches("step 3 of").count(), 2, "{screen}");
    }
    let screen = session.screen(160, 50);
    insta::assert_snapshot!(screen);
    // The comparison shows both schedules at the same time: the current schedule at the end of its
    // third step, and the stored schedule in the step that contains this time.
    session.keys("i");
    let screen = session.screen(260, 50);
    let line = screen.lines().find(|line| line.contains("ends at")).unwrap();
    let [kept, here] = line.split("ends at").skip(1).map(us).collect::<Vec<_>>()[..] else {
        panic!("{screen}")
    };
    let length = us(line.trim_start_matches(['│', ' ']));
    assert!(
        kept - length < here && here <= kept,
        "{length} us up to {kept} us, {here} us\n{screen}"
    );
    assert!(screen.contains("step 3 of 4") && !screen.contains("step 3 of 15"), "{screen}");
    // Compare the same algorithm on two networks.
    session.type_and_wait("p]n");
    let screen = session.screen(160, 50);
    assert!(screen.contains("kept: pex, torus:4x4") && screen.contains(", mesh:4x4"), "{screen}");
    session.type_and_wait("2gj4nc");
    session.key(KeyCode::Down);
    session.settle();
    let screen = session.screen(160, 50);
    assert!(!screen.contains("kept: "), "the schedule is no longer kept:\n{screen}");
}

#[test]
fn the_schedule_of_a_running_case_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let command = "swapmeet tui --topology torus:64x64 --proof full --algorithm gen";
    let mut terminal = Terminal::start(folder.path(), command, 120, 40);
    terminal.wait_for("cases have ended");
    // The table shows the step and the elapsed time.
    terminal.keys("2");
    terminal.wait("the step and the time", || {
        let shown = terminal.shown();
        let cases = shown.lines().filter_map(|line| line.split('│').nth(1));
        let texts = cases.filter_map(|case| case.split_once("▸ step "));
        texts.into_iter().any(|(_, text)| text.contains(" s ") && text.contains(" gen "))
    });
    terminal.keys("4n");
    terminal.wait_for("The case is at");
    terminal.keys("\r");
    terminal.wait_for("simulating: step ");
    terminal.wait_for("messages/s");
    let step = || {
        let shown = terminal.shown();
        let number = shown
            .split("│ step ")
            .nth(1)
            .and_then(|rest| rest.split(' ').next()?.parse::<u64>().ok());
        number.unwrap_or(0)
    };
    terminal.wait("three steps", || step() >= 3);
    let mut terminal = terminal;
    terminal.keys("\u{3}");
    terminal.end(130);
}

#[test]
fn repetitions_are_interleaved_and_their_spread_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let workloads = "--workload irregular:dist=lognormal,mean=64,cv=2 --workload irregular:dist=lognormal,mean=4KiB,cv=2";
    let command = format!(
        "swapmeet tui --jobs 1 --out rows.csv --topology torus:4x4 --algorithm pex --algorithm suh-shin {workloads} --repetitions 3 --machine paragon"
    );
    let mut terminal = Terminal::start(folder.path(), &command, 120, 40);
    terminal.wait_for("done: 12 cases verified");
    terminal.keys("4p");
    terminal.wait_for("(n = 3)");
    terminal.keys("3c");
    terminal.wait_for("points are means of 3 repetitions");
    terminal.keys("q");
    terminal.end(0);
    let order: Vec<u32> =
        rows(&folder.path().join("rows.csv")).iter().map(|row| row.repetition).collect();
    assert_eq!(order, [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
}
