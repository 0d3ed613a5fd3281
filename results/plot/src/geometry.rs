//! Tests that measure the boxes of all texts, for every kind of figure at the widths and font sizes
//! of journals.

use crate::draw::Drawable;
use crate::figure::{Figure, FigureOptions};
use crate::marks::Paper;
use crate::marks::scene::{Mark, Scene, Text};
use crate::quantity::Quantity;
use crate::stack::StackKind;
use crate::stacked::StackedBars;
use crate::winners::WinnerFigure;
use swapmeet_results::analysis::Axis;
use swapmeet_results::{Record, Status, Verified};

pub(crate) const WIDTHS: [&str; 6] = ["84mm", "120mm", "160mm", "178mm", "190mm", "240mm"];
pub(crate) const FONTS: [&str; 3] = ["6pt", "8pt", "10pt"];

/// Returns a row whose time is a start-up time plus a time for each byte.
pub(crate) fn row(topology: &str, nodes: u64, algorithm: usize, bytes: u64, name: &str) -> Record {
    let (steps, rate) =
        ([6.0, 9.0, 12.0, 30.0, 126.0][algorithm], [5e-3, 4e-3, 3e-3, 2.4e-3, 2e-3]);
    let startup = 3.4 * steps;
    let transmission = rate[algorithm] * bytes as f64;
    Record {
        algorithm: name.to_owned(),
        plugin: "classic".to_owned(),
        plugin_version: "0.1.0".to_owned(),
        topology: topology.to_owned(),
        nodes,
        collective: "allreduce".to_owned(),
        workload: format!("allreduce/uniform:{bytes}"),
        machine: "free:startup_us=3.4,byte_us=0.002".to_owned(),
        model: "wormhole".to_owned(),
        seed: 42,
        status: Status::Ok,
        verified: Verified::Contributions,
        time_us: Some(startup + transmission),
        startup_us: Some(startup),
        transmission_us: Some(transmission),
        lower_bound_us: Some(0.5 * (startup + transmission)),
        steps: Some(steps as u64),
        sum_link_messages: Some(2 * steps as u64),
        messages: Some(nodes * steps as u64),
        max_link_messages: Some(1 + algorithm as u64),
        peak_node_bytes: Some(2 * u128::from(bytes)),
        total_bytes: Some(u128::from(nodes * bytes)),
        total_hop_bytes: Some(u128::from(3 * nodes * bytes)),
        block_bytes: Some(bytes),
        ..Record::default()
    }
}

pub(crate) const ALGORITHMS: [&str; 5] = [
    "recursive-doubling-allreduce",
    "rabenseifner-allreduce",
    "swing-allreduce",
    "bucket-allreduce",
    "ring-allreduce",
];

/// Returns the rows of five allreduce algorithms with vectors of 8 B to 1 MiB on four networks.
pub(crate) fn study() -> Vec<(String, Vec<Record>)> {
    rows_on(
        &[
            ("torus:8x8x8", 512),
            ("fat-tree:8x3", 512),
            ("dragonfly:32x4x4", 512),
            ("torus:4x4", 16),
        ],
        &(3..=20).collect::<Vec<u32>>(),
    )
}

/// Returns rows of five algorithms on `networks` for vectors whose sizes are powers of two.
fn rows_on(networks: &[(&str, u64)], powers: &[u32]) -> Vec<(String, Vec<Record>)> {
    let rows = networks.iter().flat_map(|(topology, nodes)| {
        ALGORITHMS.iter().enumerate().flat_map(move |(number, name)| {
            powers.iter().map(move |power| row(topology, *nodes, number, 1 << power, name))
        })
    });
    vec![("rows.csv".to_owned(), rows.collect())]
}

/// Returns rows of one vector size on square tori.
fn tori() -> Vec<(String, Vec<Record>)> {
    let tori = [("torus:4x4", 16), ("torus:8x8", 64), ("torus:16x16", 256), ("torus:64x64", 4096)];
    rows_on(&tori, &[12])
}

fn options(x: Axis, y: Quantity) -> FigureOptions<'static> {
    FigureOptions {
        x,
        y,
        log: None,
        baseline: None,
        title: None,
        labels: &[],
        bound: y == Quantity::Time,
    }
}

/// Returns rows of irregular sizes with several coefficients of variation.
fn irregular() -> Vec<(String, Vec<Record>)> {
    let vary = |row: &Record| {
        [0.25, 0.5, 1.0, 2.0].map(|cv| Record {
            collective: "alltoall".to_owned(),
            workload: format!("irregular:dist=lognormal,mean=512,cv={cv}"),
            time_us: row.time_us.map(|time| time * (1.0 + cv)),
            ..row.clone()
        })
    };
    let mut files = rows_on(&[("torus:4x4", 16), ("torus:8x8", 64)], &[12]);
    files[0].1 = files[0].1.iter().flat_map(vary).collect();
    files
}

/// Returns one figure of each kind, with a name for messages.
pub(crate) fn figures() -> Vec<(String, Box<dyn Drawable>)> {
    let files = study();
    let mut all: Vec<(String, Box<dyn Drawable>)> = Vec::new();
    for y in [
        Quantity::Time,
        Quantity::Ratio,
        Quantity::Bound,
        Quantity::Steps,
        Quantity::LinkMessages,
        Quantity::NodeBytes,
        Quantity::BusBandwidth,
    ] {
        let figure = Figure::of(&files, &options(Axis::Block, y)).unwrap();
        all.push((format!("{y:?} against block size"), Box::new(figure)));
    }
    let one = rows_on(&[("torus:4x4", 16)], &[3, 6, 9, 12, 20]);
    let figure = Figure::of(&one, &options(Axis::Block, Quantity::Time)).unwrap();
    all.push(("one panel".to_owned(), Box::new(figure)));
    let figure = Figure::of(&tori(), &options(Axis::Nodes, Quantity::Time)).unwrap();
    all.push(("time against nodes".to_owned(), Box::new(figure)));
    let figure = Figure::of(&irregular(), &options(Axis::Variation, Quantity::Time)).unwrap();
    all.push(("time against variation".to_owned(), Box::new(figure)));
    let winners = WinnerFigure::of(&files, None, &[]).unwrap();
    all.push(("winners".to_owned(), Box::new(winners)));
    let few = rows_on(&[("torus:8x8x8", 512), ("torus:4x4", 16)], &[3, 12, 20]);
    for kind in [StackKind::Parts, StackKind::Steps, StackKind::Traffic] {
        let bars = StackedBars::of(kind, &few, None, &[]).unwrap();
        all.push((format!("{kind:?}"), Box::new(bars)));
    }
    all
}

/// Returns all papers on which figures are tested.
fn papers() -> impl Iterator<Item = (String, Paper)> {
    WIDTHS.iter().flat_map(|width| {
        FONTS.iter().map(move |font| {
            let paper = Paper { width: width.parse().ok(), font: font.parse().ok() };
            (format!("{width}, {font}"), paper)
        })
    })
}

/// Returns all texts of a picture, except the letters of crossovers, which are placed between
/// curves.
fn texts(scene: &Scene) -> Vec<&Text> {
    let text = |mark: &'_ Mark| matches!(mark, Mark::Text(text) if !text.halo);
    let texts = scene.marks.iter().filter(|mark| text(mark));
    texts.filter_map(|mark| if let Mark::Text(text) = mark { Some(text) } else { None }).collect()
}

#[test]
fn texts_are_on_the_page_and_do_not_overlap() {
    let mut wrong = Vec::new();
    for (name, figure) in figures() {
        for (paper_name, paper) in papers() {
            let picture = figure.picture(&paper);
            let (scene, mut boxes) = (picture.scene(), Vec::<([f64; 4], &str)>::new());
            for text in texts(scene) {
                let [left, top, right, bottom] = text.bounds();
                let words = &text.words;
                if left < 0.0 || top < 0.0 || right > scene.width || bottom > scene.height {
                    wrong.push(format!("{name}, {paper_name}: `{words}` leaves the page"));
                }
                for (other, others) in &boxes {
                    if left < other[2] && other[0] < right && top < other[3] && other[1] < bottom {
                        wrong.push(format!("{name}, {paper_name}: `{words}` covers `{others}`"));
                    }
                }
                boxes.push(([left, top, right, bottom], words));
            }
        }
    }
    let first: Vec<&String> = wrong.iter().take(40).collect();
    assert!(wrong.is_empty(), "{} texts, first: {first:#?}", wrong.len());
}

#[test]
fn every_axis_has_at_least_three_labels() {
    let mut wrong = Vec::new();
    for x in [Axis::Block, Axis::Nodes] {
        for y in [Quantity::Time, Quantity::Ratio, Quantity::NodeBytes, Quantity::LinkMessages] {
            let rows = if x == Axis::Nodes { tori() } else { study() };
            let figure = Figure::of(&rows, &options(x, y)).unwrap();
            for (paper_name, paper) in papers() {
                for (panel, labels) in figure.axis_labels(&paper).iter().enumerate() {
                    if labels.iter().any(|axis| axis.len() < 3) {
                        wrong.push(format!(
                            "{y:?} against {x:?}, {paper_name}, panel {panel}: {labels:?}"
                        ));
                    }
                }
            }
        }
    }
    let first: Vec<&String> = wrong.iter().take(40).collect();
    assert!(wrong.is_empty(), "{} axes, first: {first:#?}", wrong.len());
}

/// The times of the issue, from 20 µs to 3 ms, span two powers of ten. Labels at 1, 2 and 3 ms alone
/// would leave three quarters of the axis without a number.
#[test]
fn labels_cover_most_of_a_logarithmic_axis() {
    let figure = Figure::of(&study(), &options(Axis::Block, Quantity::Time)).unwrap();
    for (paper_name, paper) in papers() {
        for [_, y] in figure.axis_labels(&paper) {
            assert!(y.iter().any(|label| label.ends_with("µs")), "{paper_name}: {y:?}");
            assert!(y.iter().any(|label| label.ends_with("ms")), "{paper_name}: {y:?}");
        }
    }
}
