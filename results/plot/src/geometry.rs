//! Tests that measure the boxes of all texts of figures, at the widths and fonts of journals.

use crate::appearance::{Appearance, LegendPlace};
use crate::draw::Drawable;
use crate::figure::{Figure, FigureOptions, Reference};
use crate::heat::{HeatColumns, HeatFigure};
use crate::marks::Paper;
use crate::marks::scene::{Anchor, Mark, Scene, Text};
use crate::quantity::Quantity;
use crate::stacked::StackKind;
use crate::stacked::{Scales, StackedBars};
use crate::winners::WinnerFigure;
use swapmeet_results::analysis::Axis;
use swapmeet_results::{Record, Status, Verified, compare, latex_escaped};

pub(crate) const WIDTHS: [&str; 6] = ["84mm", "120mm", "160mm", "178mm", "190mm", "240mm"];
pub(crate) const FONTS: [&str; 3] = ["6pt", "8pt", "10pt"];

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

/// Five allreduce algorithms with vectors of 8 B to 1 MiB on four networks.
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

fn rows_on(networks: &[(&str, u64)], powers: &[u32]) -> Vec<(String, Vec<Record>)> {
    let rows = networks.iter().flat_map(|(topology, nodes)| {
        ALGORITHMS.iter().enumerate().flat_map(move |(number, name)| {
            powers.iter().map(move |power| row(topology, *nodes, number, 1 << power, name))
        })
    });
    vec![("rows.csv".to_owned(), rows.collect())]
}

fn tori() -> Vec<(String, Vec<Record>)> {
    let tori = [("torus:4x4", 16), ("torus:8x8", 64), ("torus:16x16", 256), ("torus:64x64", 4096)];
    rows_on(&tori, &[12])
}

fn options(x: Axis, y: Quantity) -> FigureOptions<'static> {
    let reference = (y == Quantity::Time).then_some(Reference::LowerBound);
    FigureOptions { reference, ..FigureOptions::new(x, y) }
}

fn faults() -> Vec<(String, Vec<Record>)> {
    let vary = |row: &Record| {
        let of = |number: u32| {
            let (links, repetition) = (number / 3, number % 3);
            let slower = 1.0 + f64::from(links * (1 + repetition)) / 8.0;
            Record {
                topology: format!("{},faults={links}", row.topology),
                repetition,
                seed: 42 + u64::from(repetition),
                time_us: row.time_us.map(|time| time * slower),
                optimum_us: row.time_us.map(|time| 0.4 * time * slower),
                ..row.clone()
            }
        };
        (0..27).map(of).collect::<Vec<Record>>()
    };
    let mut files = rows_on(&[("torus:4x4", 16), ("torus:8x8", 64)], &[12]);
    files[0].1 = files[0].1.iter().flat_map(vary).collect();
    files
}

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

fn experts() -> Vec<(String, Vec<Record>)> {
    let repeat = |row: &Record| {
        [0, 1, 2].map(|repetition| Record {
            collective: "alltoall".to_owned(),
            workload: "moe:experts=16,top=2,tokens=64,bytes=4096,skew=1.2".to_owned(),
            repetition,
            seed: 42 + u64::from(repetition),
            time_us: row.time_us.map(|time| time * (1.0 + 0.1 * f64::from(repetition))),
            ..row.clone()
        })
    };
    let mut files = rows_on(&[("torus:4x4", 16), ("fat-tree:8x3", 512)], &[12]);
    files[0].1 = files[0].1.iter().flat_map(repeat).collect();
    files
}

pub(crate) fn tokens() -> Vec<(String, Vec<Record>)> {
    let vary = |row: &Record| {
        [16, 64, 256]
            .into_iter()
            .flat_map(|tokens: u32| {
                ["", ",skew=1"].map(|skew| Record {
                    collective: "alltoall".to_owned(),
                    workload: format!("moe:experts=16,top=2,tokens={tokens},bytes=7KiB{skew}"),
                    time_us: row.time_us.zip(row.startup_us).map(|(time, startup)| {
                        startup + (time - startup) * f64::from(tokens) * (1.0 + skew.len() as f64)
                    }),
                    ..row.clone()
                })
            })
            .collect::<Vec<_>>()
    };
    let mut files = rows_on(&[("torus:4x4", 16), ("fat-tree:8x3", 512)], &[6]);
    files[0].1 = files[0].1.iter().flat_map(vary).collect();
    files
}

fn uneven() -> Vec<(String, Vec<Record>)> {
    let mut files = study();
    files[0].1.retain(|row| {
        let number = ALGORITHMS.iter().position(|name| row.algorithm == *name).unwrap_or(0);
        row.block_bytes.is_some_and(|bytes| bytes >= 8 << (2 * number))
    });
    files
}

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
        let figure = Figure::from_rows(&files, &options(Axis::Block, y)).unwrap();
        all.push((format!("{y:?} against block size"), Box::new(figure)));
    }
    let one = rows_on(&[("torus:4x4", 16)], &[3, 6, 9, 12, 20]);
    let figure = Figure::from_rows(&one, &options(Axis::Block, Quantity::Time)).unwrap();
    all.push(("one panel".to_owned(), Box::new(figure)));
    let figure = Figure::from_rows(&tori(), &options(Axis::Nodes, Quantity::Time)).unwrap();
    all.push(("time against nodes".to_owned(), Box::new(figure)));
    let over_faults = FigureOptions {
        reference: Some(Reference::Optimum),
        ..options(Axis::Faults, Quantity::Time)
    };
    let figure = Figure::from_rows(&faults(), &over_faults).unwrap();
    all.push(("failed links".to_owned(), Box::new(figure)));
    let figure =
        Figure::from_rows(&irregular(), &options(Axis::Variation, Quantity::Time)).unwrap();
    all.push(("time against variation".to_owned(), Box::new(figure)));
    let figure = Figure::from_rows(&experts(), &options(Axis::Block, Quantity::Time)).unwrap();
    all.push(("one size with repetitions".to_owned(), Box::new(figure)));
    for legend in [LegendPlace::Top, LegendPlace::Right, LegendPlace::None] {
        let appearance = Appearance { legend, ..Appearance::default() };
        let time = options(Axis::Block, Quantity::Time);
        let options = FigureOptions { appearance, crossovers: false, reference: None, ..time };
        let figure = Figure::from_rows(&files, &options).unwrap();
        all.push((format!("curves with the legend at {legend:?}"), Box::new(figure)));
        let winners = WinnerFigure::from_rows(&uneven(), &appearance).unwrap();
        all.push((format!("winners with the legend at {legend:?}"), Box::new(winners)));
    }
    let winners = WinnerFigure::from_rows(&uneven(), &Appearance::default()).unwrap();
    all.push(("winners among unequal numbers".to_owned(), Box::new(winners)));
    let winners = WinnerFigure::from_rows(&files, &Appearance::default()).unwrap();
    all.push(("winners".to_owned(), Box::new(winners)));
    let rows = tokens();
    let comparison = compare(&rows, None).unwrap();
    for name in ["tokens", "skew"] {
        let x = Axis::find(name, &comparison).unwrap();
        let figure = Figure::from_rows(&rows, &options(x, Quantity::Time)).unwrap();
        all.push((format!("time against {name}"), Box::new(figure)));
    }
    let winners = WinnerFigure::from_rows(&rows, &Appearance::default()).unwrap();
    all.push(("winners over tokens and skew".to_owned(), Box::new(winners)));
    for (x, y) in [("tokens", "skew"), ("workload", "algorithm"), ("algorithm", "tokens")] {
        let columns = HeatColumns { value: "time_us", x, y };
        let heat = HeatFigure::from_rows(&rows, columns, &Appearance::default()).unwrap();
        all.push((format!("time over {x} and {y}"), Box::new(heat)));
    }
    for (value, x, y) in
        [("time_us", "block_bytes", "algorithm"), ("peak_node_bytes", "algorithm", "block_bytes")]
    {
        let columns = HeatColumns { value, x, y };
        let heat = HeatFigure::from_rows(&files, columns, &Appearance::default()).unwrap();
        all.push((format!("{value} over {x} and {y}"), Box::new(heat)));
    }
    let few = rows_on(&[("torus:8x8x8", 512), ("torus:4x4", 16)], &[3, 12, 20]);
    for kind in [StackKind::Parts, StackKind::Traffic] {
        for scales in [Scales::Shared, Scales::Free] {
            let bars = StackedBars::from_rows(kind, scales, &few, &Appearance::default()).unwrap();
            all.push((format!("{kind:?}, {scales:?} scales"), Box::new(bars)));
        }
    }
    all
}

fn papers() -> impl Iterator<Item = (String, Paper)> {
    WIDTHS.iter().flat_map(|width| {
        FONTS.iter().map(move |font| {
            let paper = Paper { width: width.parse().ok(), font: font.parse().ok() };
            (format!("{width}, {font}"), paper)
        })
    })
}

/// Returns the texts except the letters of crossovers, which may be placed between curves.
fn texts(scene: &Scene) -> Vec<&Text> {
    let text = |mark: &'_ Mark| matches!(mark, Mark::Text(text) if !text.halo);
    let texts = scene.marks.iter().filter(|mark| text(mark));
    texts.filter_map(|mark| if let Mark::Text(text) = mark { Some(text) } else { None }).collect()
}

/// Unless `SWAPMEET_TESTS` is `all`, each figure is drawn only for a third of the papers, in turns.
#[test]
fn texts_are_on_the_page_and_do_not_overlap() {
    let runs_all = std::env::var_os("SWAPMEET_TESTS").is_some_and(|value| value == "all");
    let turns = if runs_all { 1 } else { 3 };
    let mut wrong = Vec::new();
    for (number, (name, figure)) in figures().into_iter().enumerate() {
        for (paper_name, paper) in papers().skip(number % turns).step_by(turns) {
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
            let figure = Figure::from_rows(&rows, &options(x, y)).unwrap();
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

/// With its own ticks, LaTeX would have labels such as 10^1.4 for times from 20 µs to 200 µs.
#[test]
fn latex_figures_have_the_ticks_of_the_other_formats() {
    for (files, x) in [(study(), Axis::Block), (tori(), Axis::Nodes), (faults(), Axis::Faults)] {
        let figure = Figure::from_rows(&files, &options(x, Quantity::Time)).unwrap();
        for (paper_name, paper) in papers() {
            let text = figure.for_latex(&paper);
            for [x, y] in figure.axis_labels(&paper) {
                for (axis, labels) in [("x", x), ("y", y)] {
                    let labels = latex_escaped(&labels.join(","));
                    let ticks = format!("{axis}ticklabels={{{labels}}}");
                    assert!(text.contains(&ticks), "{paper_name}: {ticks}: {text}");
                }
            }
        }
    }
}

/// With labels only at 1, 2 and 3 ms, three quarters of an axis from 20 µs would have none.
#[test]
fn labels_cover_most_of_a_logarithmic_axis() {
    let figure = Figure::from_rows(&study(), &options(Axis::Block, Quantity::Time)).unwrap();
    for (paper_name, paper) in papers() {
        for [_, y] in figure.axis_labels(&paper) {
            assert!(y.iter().any(|label| label.ends_with("µs")), "{paper_name}: {y:?}");
            assert!(y.iter().any(|label| label.ends_with("ms")), "{paper_name}: {y:?}");
        }
    }
}

/// With one shared scale, the drawn lengths are proportional to the values.
#[test]
fn bars_of_all_panels_have_one_scale() {
    let rows = rows_on(&[("torus:8x8x8", 512), ("torus:4x4", 16)], &[3, 20]);
    let lengths = |scales: Scales| -> Vec<f64> {
        let bars = StackedBars::from_rows(StackKind::Parts, scales, &rows, &Appearance::default())
            .unwrap();
        let picture = bars.picture(&Paper::default());
        let marks = &picture.scene().marks;
        let piece = |mark: &Mark| match mark {
            Mark::Lines { points, hint: Some(hint), .. } if hint.starts_with("ring-allreduce") => {
                Some((points[1].0 - points[0].0, hint.clone()))
            }
            _ => None,
        };
        let pieces: Vec<(f64, String)> = marks.iter().filter_map(piece).collect();
        pieces.into_iter().filter(|(_, hint)| hint.contains("startup")).map(|(x, _)| x).collect()
    };
    // The start-up time of the ring is the same for 8 B and for 1 MiB.
    let (shared, free) = (lengths(Scales::Shared), lengths(Scales::Free));
    assert_eq!(shared.len(), 4);
    assert!(shared.iter().all(|length| (length - shared[0]).abs() < 1e-9), "{shared:?}");
    assert!(free[0] > 4.0 * free[1], "{free:?}");
}

#[test]
fn panels_can_share_the_y_axis() {
    let mut rows = study();
    let slow = |row: &Record| row.topology == "torus:4x4";
    for row in rows[0].1.iter_mut().filter(|row| slow(row)) {
        row.time_us = row.time_us.map(|time| 100.0 * time);
    }
    let labels = |share_y: bool| {
        let options = FigureOptions { share_y, ..options(Axis::Block, Quantity::Time) };
        let figure = Figure::from_rows(&rows, &options).unwrap();
        figure.axis_labels(&Paper::default()).into_iter().map(|[_, y]| y).collect::<Vec<_>>()
    };
    let (own, shared) = (labels(false), labels(true));
    assert_ne!(own[0], own[3]);
    assert_eq!(shared[0], shared[3]);
}

#[test]
fn points_of_a_single_size_are_next_to_each_other() {
    let figure = Figure::from_rows(&experts(), &options(Axis::Block, Quantity::Time)).unwrap();
    let picture = figure.picture(&Paper::default());
    let centre = |mark: &Mark| match mark {
        Mark::Circle { centre, hint: Some(hint), .. } => Some((centre.0, hint.clone())),
        Mark::Lines { points, hint: Some(hint), .. } => Some((
            points.iter().map(|point| point.0).sum::<f64>() / points.len() as f64,
            hint.clone(),
        )),
        _ => None,
    };
    let centres: Vec<(f64, String)> = picture.scene().marks.iter().filter_map(centre).collect();
    assert_eq!(centres.len(), 10, "{centres:?}");
    assert!(centres.iter().all(|(_, hint)| hint.contains(" (95 %: ")), "{centres:?}");
    let mut xs: Vec<f64> = centres.iter().map(|(x, _)| *x).collect();
    xs.sort_by(f64::total_cmp);
    assert!(xs.windows(2).all(|pair| pair[1] - pair[0] > 12.0), "{xs:?}");
}

/// Times are start-up + rate x size, so the lines and crossovers can be computed exactly.
#[test]
fn text_ring_and_lines_of_a_crossover_are_at_the_same_place() {
    let model = |name: &str| {
        let number = ALGORITHMS.iter().position(|known| *known == name).unwrap();
        let row = |bytes| row("torus:4x4", 16, number, bytes, name).time_us.unwrap();
        (row(0), (row(1 << 20) - row(0)) / f64::from(1 << 20))
    };
    for y in [Quantity::Time, Quantity::Ratio, Quantity::Bound, Quantity::BusBandwidth] {
        let figure = Figure::from_rows(&study(), &options(Axis::Block, y)).unwrap();
        for panel in &figure.panels {
            assert!(panel.crossovers.len() > 1, "{y:?}");
            for crossover in &panel.crossovers {
                let (x, height) = crossover.at.unwrap();
                assert_eq!(x, crossover.crossover.x, "{y:?}");
                let (a, b) =
                    (model(&crossover.crossover.before), model(&crossover.crossover.after));
                let expected = (b.0 - a.0) / (a.1 - b.1);
                assert!((x / expected - 1.0).abs() < 1e-9, "{y:?}: {x} {expected}");
                for name in [&crossover.crossover.before, &crossover.crossover.after] {
                    let curve = panel.curves.iter().find(|curve| curve.name == *name).unwrap();
                    let on_line = curve.lines.iter().flatten().find(|(at, _)| *at == x).unwrap();
                    assert!((on_line.1 / height - 1.0).abs() < 1e-9, "{y:?}, {name}");
                }
            }
            for curve in panel.curves.iter().filter(|_| y == Quantity::Time) {
                let (startup, rate) = model(&curve.name);
                // Two neighbouring points are connected by several pieces of a line.
                assert!(curve.lines[0].len() > 4 * 18);
                for (x, time) in &curve.lines[0] {
                    assert!(
                        (time / (startup + rate * x) - 1.0).abs() < 1e-9,
                        "{}: {x}",
                        curve.name
                    );
                }
            }
        }
    }
}

#[test]
fn a_legend_without_room_is_moved() {
    let figure = |legend| {
        let appearance = Appearance { legend, ..Appearance::default() };
        let options = FigureOptions { appearance, ..options(Axis::Block, Quantity::Time) };
        Figure::from_rows(&study(), &options).unwrap()
    };
    let (right, bottom) = (figure(LegendPlace::Right), figure(LegendPlace::Bottom));
    let paper =
        |width: &str, font: &str| Paper { width: width.parse().ok(), font: font.parse().ok() };
    let narrow = paper("84mm", "10pt");
    assert_eq!(right.picture(&narrow).svg(), bottom.picture(&narrow).svg());
    let message = "the legend is below the panels: there is no room for it on the right";
    assert_eq!(right.moved_legend(&narrow).as_deref(), Some(message));
    let wide = paper("240mm", "8pt");
    assert_ne!(right.picture(&wide).svg(), bottom.picture(&wide).svg());
    assert_eq!((right.moved_legend(&wide), bottom.moved_legend(&narrow)), (None, None));
}

#[test]
fn all_cells_of_a_heat_map_show_their_values_or_none_does() {
    let columns = HeatColumns { value: "time_us", x: "block_bytes", y: "algorithm" };
    let heat = HeatFigure::from_rows(&study(), columns, &Appearance::default()).unwrap();
    let (mut with, mut without) = (0, 0);
    for (name, paper) in papers() {
        let picture = heat.picture(&paper);
        let is_value = |text: &&Text| {
            let number = text.words.split(' ').next().and_then(|word| word.parse::<f64>().ok());
            text.anchor == Anchor::Middle && text.words.contains('.') && number.is_some()
        };
        match texts(picture.scene()).into_iter().filter(is_value).count() {
            0 => without += 1,
            count => {
                assert_eq!(count, 4 * 5 * 18, "{name}");
                with += 1;
            }
        }
    }
    assert!(with > 0 && without > 0, "{with} {without}");
}

#[test]
fn tied_cells_have_a_border() {
    let mut files = study();
    for row in &mut files[0].1 {
        row.time_us = Some(10.0);
    }
    let stroked = |files: &[(String, Vec<Record>)]| {
        let winners = WinnerFigure::from_rows(files, &Appearance::default()).unwrap();
        let picture = winners.picture(&Paper::default());
        let is_border = |mark: &&Mark| matches!(mark, Mark::Lines { closed: true, look, .. } if look.stroke.is_some() && look.fill.is_none());
        picture.scene().marks.iter().filter(is_border).count()
    };
    assert_eq!((stroked(&files), stroked(&study())), (4 * 18, 0));
}

/// The mark follows the algorithm's name in all figures, but not in data for other programs.
#[test]
fn algorithms_that_are_charged_less_are_marked() {
    let mut files = study();
    for row in files[0].1.iter_mut().filter(|row| row.algorithm == ALGORITHMS[0]) {
        row.note = swapmeet_core::cost::model::UNDECLARED.to_owned();
    }
    let marked = format!("{} †", ALGORITHMS[0]);
    let curves = Figure::from_rows(&files, &options(Axis::Block, Quantity::Time)).unwrap();
    let winners = WinnerFigure::from_rows(&files, &Appearance::default()).unwrap();
    let few = vec![(
        String::new(),
        files[0].1.iter().filter(|row| row.block_bytes == Some(8)).cloned().collect(),
    )];
    let parts =
        StackedBars::from_rows(StackKind::Parts, Scales::Shared, &few, &Appearance::default())
            .unwrap();
    let figures: [&dyn Drawable; 3] = [&curves, &winners, &parts];
    for figure in figures {
        let svg = figure.picture(&Paper { width: "240mm".parse().ok(), font: None }).svg();
        assert!(svg.contains(&format!(">{marked}<")), "{svg}");
        assert!(svg.contains(">† "), "{svg}");
        assert!(!figure.csv().unwrap().contains('†'));
    }
    // The table of winners has the remark in an additional last column.
    let table = winners.csv().unwrap();
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    assert_eq!(reader.headers().unwrap().iter().next_back(), Some("remark"));
    for row in reader.records().map(Result::unwrap) {
        assert_eq!(&row[3] == ALGORITHMS[0], !row[row.len() - 1].is_empty(), "{row:?}");
    }
    let unmarked = WinnerFigure::from_rows(&study(), &Appearance::default()).unwrap();
    assert!(!unmarked.csv().unwrap().lines().next().unwrap().contains("remark"));
    // A heat map has the mark in the cells of the algorithm, after the value or without it.
    let heat = |value, files| {
        let columns = HeatColumns { value, x: "block_bytes", y: "algorithm" };
        HeatFigure::from_rows(files, columns, &Appearance::default()).unwrap()
    };
    let columns = HeatColumns { value: "time_us", x: "algorithm", y: "topology" };
    let wide = HeatFigure::from_rows(&few, columns, &Appearance::default()).unwrap();
    for (figure, paper, has_values) in
        [(&wide, "240mm", true), (&heat("time_us", &files), "120mm", false)]
    {
        let svg = figure.picture(&Paper { width: paper.parse().ok(), font: None }).svg();
        assert_eq!(svg.contains(" †<"), has_values, "{svg}");
        assert!(svg.contains(">†<") || has_values, "{svg}");
        assert!(svg.contains(">† "), "{svg}");
        let table = figure.csv().unwrap();
        let mut reader = csv::Reader::from_reader(table.as_bytes());
        assert_eq!(reader.headers().unwrap().iter().next_back(), Some("remark"));
        for row in reader.records().map(Result::unwrap) {
            let is_marked = row.iter().any(|text| text == ALGORITHMS[0]);
            assert_eq!(is_marked, !row[row.len() - 1].is_empty(), "{row:?}");
        }
    }
    for figure in [heat("steps", &files), heat("time_us", &study())] {
        assert!(!figure.picture(&Paper::default()).svg().contains('†'));
        assert!(!figure.csv().unwrap().contains("remark"));
    }
    let texts: Vec<String> = curves.crossover_texts().collect();
    assert!(texts[0].contains(&format!("{marked} is fastest up to about")), "{texts:?}");
    let picture = winners.picture(&Paper::default());
    let is_mark = |mark: &&Mark| matches!(mark, Mark::Text(text) if text.halo && text.words == "†");
    assert!(picture.scene().marks.iter().any(|mark| is_mark(&mark)));
    let steps = Figure::from_rows(&files, &options(Axis::Block, Quantity::Steps)).unwrap();
    assert!(!steps.picture(&Paper::default()).svg().contains('†'));
}

#[test]
fn styles_are_the_same_in_every_call() {
    let style = |others: &[&str]| {
        let names = [others, &["bruck"]].concat();
        let rows = names
            .iter()
            .flat_map(|name| [3, 12].map(|power| row("torus:4x4", 16, 0, 1 << power, name)));
        let files = vec![("rows.csv".to_owned(), rows.collect())];
        let figure = Figure::from_rows(&files, &options(Axis::Block, Quantity::Time)).unwrap();
        figure.styles.get("bruck")
    };
    assert_eq!(
        style(&["pairwise"]),
        style(&["by-dimension", "linear", "suh-shin", "tuna", "mine"])
    );
}

#[test]
fn maps_say_how_many_algorithms_competed() {
    let svg = |files: &[(String, Vec<Record>)]| {
        let winners = WinnerFigure::from_rows(files, &Appearance::default()).unwrap();
        assert_eq!(winners.maps.len(), 1, "one map of four networks");
        assert_eq!(winners.maps[0].rows.len(), 4);
        winners.picture(&Paper::default()).svg()
    };
    let (even, uneven) = (svg(&study()), svg(&uneven()));
    assert!(even.contains(">In each cell, 5 algorithms competed.<"), "{even}");
    assert!(!even.contains(">no other algorithm<") && even.contains(">vector size<"));
    assert!(uneven.contains(">The number in a cell says how many algorithms competed.<"));
    assert!(uneven.contains(">no other algorithm<"), "{uneven}");
    assert!(uneven.contains("µs; 1 algorithm<") && uneven.contains("; 5 algorithms<"), "{uneven}");
}

#[test]
fn a_legend_has_the_requested_place() {
    let place = |legend: LegendPlace| {
        let appearance = Appearance { legend, ..Appearance::default() };
        let options = FigureOptions { appearance, ..options(Axis::Block, Quantity::Time) };
        let picture = Figure::from_rows(&study(), &options).unwrap().picture(&Paper::default());
        let scene = picture.scene();
        let find = |words: &str| texts(scene).into_iter().find(|text| text.words == words).cloned();
        (find("swing-allreduce").map(|text| text.at), find("torus:4x4").unwrap().at, scene.width)
    };
    let (bottom, panel, _) = place(LegendPlace::Bottom);
    assert!(bottom.unwrap().1 > panel.1);
    let (top, panel, _) = place(LegendPlace::Top);
    assert!(top.unwrap().1 < panel.1);
    let (right, panel, width) = place(LegendPlace::Right);
    assert!(right.unwrap().0 > panel.0 && right.unwrap().0 > 0.6 * width);
    assert_eq!(place(LegendPlace::None).0, None);
}

#[test]
fn the_user_chooses_colours() {
    let colours = [("swing-allreduce".to_owned(), "#123456".parse().unwrap())];
    let appearance = Appearance { colours: &colours, ..Appearance::default() };
    let options = FigureOptions { appearance, ..options(Axis::Block, Quantity::Time) };
    let figure = Figure::from_rows(&study(), &options).unwrap();
    assert!(figure.picture(&Paper::default()).svg().contains("stroke=\"#123456\""));
    for wrong in ["123456", "#12345", "#12345g", "#+12345"] {
        assert!(wrong.parse::<crate::Colour>().is_err(), "{wrong}");
    }
    let unknown = [("nobody".to_owned(), crate::Colour(0, 0, 0))];
    let appearance = Appearance { colours: &unknown, ..Appearance::default() };
    let options = FigureOptions { appearance, ..options };
    let error = Figure::from_rows(&study(), &options).unwrap_err().to_string();
    assert!(error.starts_with("--colour nobody: no algorithm has that name; there are bucket"));
}

#[test]
fn styles_do_not_depend_on_which_algorithms_are_shown() {
    let names: Vec<String> = (0..24).map(|number| format!("algorithm-{number:02}")).collect();
    let rows = |names: &[String]| {
        let rows = names
            .iter()
            .flat_map(|name| [3, 12].map(|power| row("torus:4x4", 16, 0, 1 << power, name)));
        vec![("rows.csv".to_owned(), rows.collect())]
    };
    let appearance = Appearance { algorithms: &names, ..Appearance::default() };
    let options = FigureOptions { appearance, ..options(Axis::Block, Quantity::Time) };
    let all = Figure::from_rows(&rows(&names), &options).unwrap();
    for name in &names {
        let one = Figure::from_rows(&rows(std::slice::from_ref(name)), &options).unwrap();
        assert_eq!(one.styles.get(name), all.styles.get(name));
    }
}
