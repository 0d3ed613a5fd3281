//! From rows to panels and curves.

use crate::case::split;
use crate::crossover::{Between, Crossover, crossovers};
use crate::curve::{Curve, Point};
use crate::quantity::{Log, X, Y};
use std::collections::HashMap;
use swapmeet_results::{CompareError, Group, Line, Record, Status, compare};

/// Cases that differ in nothing but the algorithm and x.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// What they have in common that other panels haven't; empty for the only panel.
    pub title: String,
    /// A curve an algorithm.
    pub curves: Vec<Curve>,
    /// The values of x that several cases have, such as two shapes of as many nodes: no line goes through their points.
    pub crowded: Vec<f64>,
    /// Where the lowest changes.
    pub crossovers: Vec<Crossover>,
}

/// What is to be shown.
#[derive(Debug, Clone, PartialEq)]
pub struct Wanted<'a> {
    /// On the x axis.
    pub x: X,
    /// On the y axis.
    pub y: Y,
    /// Which axes are logarithmic; what suits them if not given.
    pub log: Option<Log>,
    /// What ratios are to.
    pub baseline: Option<&'a str>,
    /// A title; what all cases have in common if not given.
    pub title: Option<&'a str>,
}

/// Panels, and how they are to be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// On the x axis.
    pub x: X,
    /// On the y axis.
    pub y: Y,
    /// Which axes are logarithmic.
    pub log: Log,
    /// What all panels have in common.
    pub title: String,
    /// What is written along the y axis.
    pub y_label: String,
    /// Every name of a curve, in the order of the legend.
    pub names: Vec<String>,
    /// The panels.
    pub panels: Vec<Panel>,
    /// What is not shown, and why.
    pub notes: Vec<String>,
}

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FigureError {
    /// The rows contradict each other.
    #[error(transparent)]
    Rows(#[from] CompareError),
    /// Nothing is left to show.
    #[error("no row has something to show with {0} on the x axis and {1} on the y axis")]
    Nothing(&'static str, &'static str),
    /// More panels than a figure has room for.
    #[error("the rows make {count} panels, a figure has room for {most}: choose among their {differ}", most = Figure::MOST_PANELS)]
    ManyPanels {
        /// How many.
        count: usize,
        /// In what they differ.
        differ: String,
    },
    /// More curves than can be told apart.
    #[error("the rows have {0} algorithms, a figure tells {most} apart: choose some with --algorithm", most = Figure::MOST_CURVES)]
    ManyCurves(usize),
}

/// What cases of a panel have in common.
type Key = [String; 4];
const KEY_WORDS: [&str; 4] = ["topologies (--topology)", "workloads", "machines (--machine)", "models"];

impl Figure {
    /// The most panels a figure has.
    pub const MOST_PANELS: usize = 12;
    /// The most curves that can be told apart in grey: by marker and by dashes.
    pub const MOST_CURVES: usize = 12;

    /// The figure of the rows of files, given with their names.
    pub fn of(files: &[(String, Vec<Record>)], wanted: &Wanted<'_>) -> Result<Self, FigureError> {
        let (x, y) = (wanted.x, wanted.y);
        let log = wanted.log.unwrap_or_else(|| Log::suits(x, y));
        let nodes: HashMap<&str, u64> =
            files.iter().flat_map(|(_, rows)| rows).map(|r| (r.topology.as_str(), r.nodes)).collect();
        // Statistics and their care for rows that come twice are those of `compare`, of whatever is on the y axis.
        let measured: Vec<(String, Vec<Record>)> =
            files.iter().map(|(name, rows)| (name.clone(), rows.iter().map(|r| measured(y, r)).collect())).collect();
        let comparison = compare(&measured, wanted.baseline)?;
        let mut notes = comparison.notes.clone();
        let (mut without_x, mut without_y, mut not_positive) = (0, 0, 0);
        let mut panels: Vec<(Key, Panel)> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut cases: HashMap<(Key, u64), (&str, &str)> = HashMap::new();
        for group in &comparison.groups {
            let at = nodes.get(group.topology.as_str()).copied().unwrap_or(0);
            let Some((value, key)) = place(x, group, at) else {
                without_x += 1;
                continue;
            };
            for line in &group.lines {
                let Some(point) = point(y, value, line) else {
                    without_y += usize::from(line.status != Status::Unsupported);
                    continue;
                };
                if (log.x && point.x <= 0.0) || (log.y && point.y <= 0.0) {
                    not_positive += 1;
                    continue;
                }
                if !names.contains(&line.algorithm) {
                    names.push(line.algorithm.clone());
                }
                let panel = panel_of(&mut panels, &key);
                let case = (group.topology.as_str(), group.workload.as_str());
                if *cases.entry((key.clone(), point.x.to_bits())).or_insert(case) != case
                    && !panel.crowded.contains(&point.x)
                {
                    panel.crowded.push(point.x);
                }
                curve_of(panel, &line.algorithm).points.push(point);
            }
        }
        let count = |n: usize, what: &str| (n > 0).then(|| format!("{n} {what}{}", if n == 1 { "" } else { "s" }));
        let left_out = [
            count(without_x, "case").map(|c| format!("{c} without {}", x.label())),
            count(without_y, "point").map(|c| format!("{c} without {}", y.label())),
            count(not_positive, "point").map(|c| format!("{c} at 0, which a logarithmic axis hasn't")),
        ];
        notes.extend(left_out.into_iter().flatten().map(|what| format!("not shown: {what}")));
        let mut crowded: Vec<f64> = panels.iter().flat_map(|(_, panel)| panel.crowded.iter().copied()).collect();
        crowded.sort_by(f64::total_cmp);
        crowded.dedup();
        if !crowded.is_empty() {
            let values = crowded.iter().map(|value| x.tick(*value)).collect::<Vec<_>>().join(", ");
            notes.push(format!(
                "several cases have the same {} ({values}): no line goes through their points",
                x.label()
            ));
        }
        if panels.is_empty() {
            return Err(FigureError::Nothing(x.label(), y.label()));
        }
        if names.len() > Self::MOST_CURVES {
            return Err(FigureError::ManyCurves(names.len()));
        }
        let (common, differ) = titles(&mut panels);
        if panels.len() > Self::MOST_PANELS {
            return Err(FigureError::ManyPanels { count: panels.len(), differ });
        }
        names.sort();
        let mut figure = Self {
            x,
            y,
            log,
            y_label: match wanted.baseline {
                Some(baseline) if y == Y::Ratio => format!("completion time over that of {baseline}"),
                _ => y.label().to_owned(),
            },
            title: wanted.title.map_or(common, str::to_owned),
            names,
            panels: panels.into_iter().map(|(_, panel)| panel).collect(),
            notes,
        };
        let between = figure.between();
        for panel in &mut figure.panels {
            for curve in &mut panel.curves {
                curve.points.sort_by(|a, b| a.x.total_cmp(&b.x));
            }
            panel.curves.sort_by(|a, b| a.name.cmp(&b.name));
            panel.crossovers = crossovers(&panel.curves, &panel.crowded, between);
        }
        Ok(figure)
    }

    /// How curves go between points: where costs grow in proportion to bytes, straight in bytes whatever the axes; else straight as drawn.
    pub(crate) fn between(&self) -> Between {
        if self.x == X::Block && self.y.is_linear_in_bytes() {
            Between { log_x: false, log_y: false, dense: true }
        } else {
            Between { log_x: self.log.x, log_y: self.log.y, dense: self.x != X::Nodes }
        }
    }
}

/// The row, with what is on the y axis in place of its time.
fn measured(y: Y, record: &Record) -> Record {
    Record { time_us: y.of(record), ..record.clone() }
}

fn place(x: X, group: &Group, nodes: u64) -> Option<(f64, Key)> {
    let (value, topology, workload) = split(x, &group.topology, nodes, &group.workload)?;
    let machine = if group.machine_is.is_empty() {
        group.machine.clone()
    } else {
        format!("{} = {}", group.machine, group.machine_is)
    };
    Some((value, [topology, workload, machine, group.model.clone()]))
}

fn point(y: Y, x: f64, line: &Line) -> Option<Point> {
    let (value, interval) = match y {
        Y::Ratio => line.ratio.as_ref().map(|r| (r.value, r.interval))?,
        _ => line.time.as_ref().map(|t| (t.mean, t.interval))?,
    };
    let interval = interval.filter(|i| !i.is_point());
    Some(Point { x, y: value, low: interval.map(|i| i.low), high: interval.map(|i| i.high) })
}

fn panel_of<'a>(panels: &'a mut Vec<(Key, Panel)>, key: &Key) -> &'a mut Panel {
    let at = panels.iter().position(|(k, _)| k == key).unwrap_or_else(|| {
        let panel = Panel { title: String::new(), curves: Vec::new(), crowded: Vec::new(), crossovers: Vec::new() };
        panels.push((key.clone(), panel));
        panels.len() - 1
    });
    &mut panels[at].1
}

fn curve_of<'a>(panel: &'a mut Panel, name: &str) -> &'a mut Curve {
    let at = panel.curves.iter().position(|c| c.name == name).unwrap_or_else(|| {
        panel.curves.push(Curve { name: name.to_owned(), points: Vec::new() });
        panel.curves.len() - 1
    });
    &mut panel.curves[at]
}

/// Titles the panels by what tells them apart; returns what they have in common, and in what they differ.
fn titles(panels: &mut [(Key, Panel)]) -> (String, String) {
    let keys: Vec<Key> = panels.iter().map(|(key, _)| key.clone()).collect();
    let same = |part: usize| keys.iter().all(|key| key[part] == keys[0][part]);
    // The model says nothing new where the machine says it.
    let parts = [0, 1, 2, 3].into_iter().filter(|part| *part != 3 || same(2) && !same(3));
    let (common, apart): (Vec<usize>, Vec<usize>) = parts.partition(|part| same(*part));
    let join = |key: &Key, parts: &[usize]| parts.iter().map(|p| key[*p].as_str()).collect::<Vec<_>>().join(", ");
    for ((_, panel), key) in panels.iter_mut().zip(&keys) {
        panel.title = join(key, &apart);
    }
    let differ = apart.iter().map(|part| KEY_WORDS[*part]).collect::<Vec<_>>().join(" and ");
    (join(&keys[0], &common), differ)
}
