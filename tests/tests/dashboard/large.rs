//! Large screens, and the communication matrix of networks that are not grids.

use super::sessions::Session;
use crossterm::event::KeyCode;

/// Shows the network panel of the first case on the whole screen.
fn network(topology: &str, algorithm: &str) -> Session {
    let mut session =
        Session::run(&format!("topologies = [\"{topology}\"]\nalgorithms = [\"{algorithm}\"]"));
    // On a busy computer, planning may have taken so long that Enter is needed.
    session.keys("4n");
    session.key(KeyCode::Enter);
    session.settle();
    session
}

fn count(screen: &str, marks: &[char]) -> usize {
    screen.chars().filter(|c| marks.contains(c)).count()
}

#[test]
fn all_planes_are_shown_if_they_fit() {
    let mut session = network("torus:8x8x8", "suh-shin");
    let screen = session.screen(220, 60);
    for plane in 1..=8 {
        assert!(screen.contains(&format!("plane {plane} ")), "plane {plane}:\n{screen}");
    }
    assert_eq!(count(&screen, &['■', '□']), 512, "{screen}");
    let screen = session.screen(80, 24);
    assert!(screen.contains("plane 1 of 8") && count(&screen, &['■', '□']) == 64, "{screen}");
}

/// Returns the rows and the columns at which a screen has nodes.
fn places_of_nodes(screen: &str) -> [Vec<usize>; 2] {
    let marks = screen.lines().enumerate().flat_map(|(y, line)| {
        line.chars().enumerate().filter(|(_, c)| "■□".contains(*c)).map(move |(x, _)| (y, x))
    });
    let (mut rows, mut columns): (Vec<usize>, Vec<usize>) = marks.unzip();
    [&mut rows, &mut columns].map(|places| {
        places.sort_unstable();
        places.dedup();
        std::mem::take(places)
    })
}

#[test]
fn panels_use_their_room_on_common_terminals() {
    let mut session = network("torus:4x4", "pex");
    // The drawing of four nodes takes the whole panel. The last cell ends with the panel.
    for ((width, height), expected) in
        [((80, 24), (19, 2)), ((120, 40), (29, 6)), ((200, 50), (49, 8))]
    {
        let screen = session.screen(width, height);
        let [rows, columns] = places_of_nodes(&screen);
        let step = |places: &[usize]| places.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let [rows, columns]: [Vec<usize>; 2] = [step(&rows), step(&columns)];
        assert_eq!((columns, rows), (vec![expected.0; 3], vec![expected.1; 3]), "{screen}");
    }
    // If there is no room for links, nodes are blocks that take the panel.
    let mut large = network("torus:32x16", "suh-shin");
    for ((width, height), rows) in [((80, 24), 8), ((120, 40), 23)] {
        let screen = large.screen(width, height);
        let wide = format!("{:█>1$}", "", usize::from(width) * 3 / 4);
        let taken = screen.lines().filter(|line| line.contains(&wide)).count();
        assert!(taken >= rows, "{taken} rows of blocks:\n{screen}");
    }
    // Cells of one row are as wide as possible.
    let [_, columns] = places_of_nodes(&large.screen(200, 50));
    assert_eq!((columns.len(), columns[1] - columns[0]), (16, 12));
    // Next to another view, the network takes half of the screen.
    session.keys("e");
    for ((width, height), columns) in [((120, 40), 60), ((200, 50), 100)] {
        let screen = session.screen(width, height);
        let [rows, places] = places_of_nodes(&screen);
        assert_eq!((rows.len(), places.len()), (4, 4), "{screen}");
        assert!(places[0] >= columns && places[3] - places[0] > columns / 2, "{screen}");
    }
}

/// Many sizes and long names: the lists and the bars take the whole screen.
#[test]
fn long_lists_use_their_room() {
    let sizes: Vec<String> = (1..30).map(|size| format!("\"broadcast/uniform:{size}\"")).collect();
    let mut session = Session::run(&format!(
        "topologies = [\"hypercube:4\"]\nalgorithms = [\"hypercube-broadcast\", \"linear\"]\nworkloads = [{}]",
        sizes.join(",")
    ));
    for (width, height) in [(120, 40), (200, 50)] {
        session.type_and_wait("1lll");
        let screen = session.screen(width, height);
        let offered = screen.lines().filter(|line| line.starts_with("│  [")).count();
        assert!(offered >= 18, "{offered} algorithms:\n{screen}");
        session.keys("hhh");
        // The whole name of the algorithm is shown.
        let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let has = |screen: &str, text: &str| screen.lines().any(|line| words(line).contains(text));
        assert!(has(&screen, "[x] hypercube-broadcast"), "{screen}");
        session.keys("2");
        let screen = session.screen(width, height);
        assert!(has(&screen, "broadcast/uniform:1 hypercube-broadcast"), "{screen}");
        // The panel of parts shows several groups.
        session.type_and_wait("4p");
        let screen = session.screen(width, height);
        let bars = screen.lines().filter(|line| line.contains("broadcast ██")).count();
        assert!(bars >= 2, "{bars} groups:\n{screen}");
    }
}

#[test]
fn every_link_of_16x16_has_a_mark() {
    let mut session = network("torus:16x16", "pex");
    for (width, height) in [(120, 40), (220, 60)] {
        let screen = session.screen(width, height);
        assert_eq!(count(&screen, &['■', '□']), 256, "{width}x{height}:\n{screen}");
        // In the first step of the pairwise exchange, each node exchanges messages with a
        // neighbour.
        assert_eq!(count(&screen, &['▸', '◂']), 256, "{width}x{height}:\n{screen}");
    }
}

/// In step k of pairwise exchange on 2^d nodes, node i sends to node i xor k.
#[test]
fn a_matrix_has_a_mark_for_each_message() {
    let mut session = network("hypercube:4", "pairwise");
    for step in 1..16 {
        let screen = session.screen(120, 50);
        assert!(screen.contains(&format!("step {step} of 15")), "{screen}");
        let rows = screen.lines().filter_map(|line| {
            let (row, marks) = line.trim_matches(['│', ' ']).split_once(' ')?;
            let marks: Vec<&str> = marks.split_whitespace().collect();
            (marks.len() == 16 && marks.iter().all(|mark| ["·", "■"].contains(mark)))
                .then_some((row.parse::<usize>().ok()?, marks))
        });
        let sends: Vec<(usize, usize)> = rows
            .flat_map(|(row, marks)| {
                (0..16).filter(|to| marks[*to] == "■").map(|to| (row, to)).collect::<Vec<_>>()
            })
            .collect();
        assert_eq!(
            sends,
            (0..16).map(|from| (from, from ^ step)).collect::<Vec<_>>(),
            "step {step}:\n{screen}"
        );
        session.key(KeyCode::Right);
    }
}

/// A matrix of the messages shows either link loads or numbers of bytes. The link load of a message
/// is shown by a colour or, without colours, by a digit.
#[test]
fn a_matrix_shows_the_link_load_of_messages() {
    let mut session = network("dragonfly:3x2x2", "pairwise");
    let screen = session.screen(120, 50);
    let busiest: u64 = screen
        .split("link load ")
        .nth(1)
        .unwrap()
        .split([',', ' '])
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(
        busiest > 1 && screen.contains("maximum link load on the route of a message: 0"),
        "{screen}"
    );
    session.keys("v");
    assert!(session.screen(120, 50).contains("bytes of a message: 0 B"));
    session.keys("vv");
    session.plain();
    let screen = session.screen(120, 50);
    let marks =
        screen.lines().filter(|line| line.contains('.') && line.split_whitespace().count() > 12);
    let figures =
        marks.flat_map(|line| line.split_whitespace().skip(2).filter_map(|mark| mark.parse().ok()));
    assert_eq!(figures.max(), Some(busiest), "{screen}");
}

#[test]
fn networks_of_every_family_have_a_picture() {
    for topology in [
        "fat-tree:4x3",
        "dragonfly:5x4x2",
        "rdn:1(hypercube:2)",
        "fully-connected:9",
        "hyperx:3x3,nodes=2",
    ] {
        let mut session = network(topology, "linear");
        let screen = session.screen(120, 50);
        assert!(screen.contains("rows send to columns"), "{topology}:\n{screen}");
        session.plain();
        assert!(session.screen(120, 50).is_ascii(), "{topology}");
    }
}

/// On each ring of 8 nodes, the communicators over `a` are the even and the odd nodes. Their
/// messages take two hops in a step, so the two communicators share all links of their ring. The
/// communicators over `c` are pairs of neighbours, which share no link.
#[test]
fn links_show_their_communicator() {
    let mut session = Session::run(
        r#"
        topologies = ["torus:2x8,mesh=r:2/a:4/c:2"]
        algorithms = ["ring"]
        workloads = ["uniform:64,over=a", "uniform:64,over=c", "uniform:64"]
        "#,
    );
    // The point of a link is at the end of a line of characters.
    let marks = |screen: &str, mark: char| {
        let points = ['─', '-'].into_iter().flat_map(|line| [[line, mark], [mark, line]]);
        points.map(|point| screen.matches(&String::from_iter(point)).count()).sum::<usize>()
    };
    session.keys("4n");
    session.key(KeyCode::Enter);
    session.settle();
    session.type_and_wait("vvv");
    let shared = session.screen(120, 40);
    let names = "0 r=0/c=0  1 r=0/c=1  2 r=1/c=0  3 r=1/c=1";
    assert!(
        shared.contains("communicator on a link: * several (on 16 of 16 used links)")
            && shared.contains(names),
        "{shared}"
    );
    assert_eq!(marks(&shared, '*'), 16, "{shared}");
    // The matrix shows the communicators of messages.
    session.type_and_wait("M");
    let matrix = session.screen(120, 40);
    assert!(matrix.contains("communicator of a message"), "{matrix}");
    session.type_and_wait("Mp]n");
    let apart = session.screen(120, 40);
    assert!(
        apart.contains("* several (on 0 of 16 used links)")
            && apart.contains("0 r=0/a=0  1 r=0/a=1"),
        "{apart}"
    );
    assert_eq!(marks(&apart, '*'), 0, "{apart}");
    for communicator in '0'..='7' {
        assert_eq!(marks(&apart, communicator), 2, "{communicator}:\n{apart}");
    }
    session.plain();
    let plain = session.screen(120, 40);
    assert!(plain.is_ascii() && marks(&plain, '7') == 2, "{plain}");
    // Without communicators, the panel shows messages.
    session.type_and_wait("p]n");
    let whole = session.screen(120, 40);
    assert!(whole.contains("messages on a link"), "{whole}");
}
