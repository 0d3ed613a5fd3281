//! The curves panel. It plots time against block size or number of nodes, with one curve for each
//! algorithm, and lists the crossovers of curves. The curves in one plot are a family: their cases
//! differ only in the algorithm and in the block size or number of nodes.

mod axes;

use crate::keys::{Binding, DOWN, NEXT, PREVIOUS, UP, bind, ch};
use crate::memo::Memo;
use crate::paint::{Painter, position, width};
use crate::panel::{Keyed, List, Panel, list_in_field, next_of, wrap_index};
use crate::session::comparison::Compared;
use crate::session::{RenderKind, Session};
use axes::{Axes, Scale};
use ratatui::layout::Rect;
use std::rc::Rc;
use swapmeet_results::analysis::{Axis, Crossover, Curve, Family, Point};
use swapmeet_results::{duration, mark};

const LEFT: u16 = 9;

#[derive(Debug, Default)]
pub(crate) struct Curves {
    /// The list of crossovers. The cursor of this list is its scroll position.
    list: List,
    family: usize,
    scale: Scale,
    /// The maximum scroll position of the list, at which the last crossover is in the last row.
    farthest: usize,
    seen: usize,
    /// The curves that pass the filter. The inputs are the number of the analysis, the index of the
    /// family and the filter.
    shown: Memo<(u64, usize, String), Shown>,
}

#[derive(Debug)]
struct Shown {
    family: Family,
    crossovers: Vec<Crossover>,
    optimum: Option<Curve>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Scale,
    Previous,
    Next,
    Up,
    Down,
}

impl Keyed for Curves {
    const TAB: &'static str = "Curves";
    const TITLE: &'static str = "Time against block size or nodes";
    type Action = Action;
    const KEYS: &'static [Binding<Action>] = &[
        bind(
            Action::Scale,
            &[ch('v')],
            "make both axes logarithmic, only the horizontal one, or none",
        )
        .hint("scale"),
        bind(Action::Previous, PREVIOUS, "previous curves"),
        bind(Action::Next, NEXT, "next curves").pair("[ ]", "curves"),
        bind(Action::Up, UP, "scroll the list of crossovers up"),
        bind(Action::Down, DOWN, "scroll the list of crossovers down").pair("↑↓", "crossovers"),
    ];

    fn act(&mut self, action: Action, session: &mut Session) {
        match action {
            Action::Scale => self.scale = next_of(&Scale::ALL, self.scale),
            Action::Previous => self.sideways(-1, session),
            Action::Next => self.sideways(1, session),
            Action::Up => self.step(-1, session),
            Action::Down => self.step(1, session),
        }
    }

    fn is_idle(&self, action: Action, session: &Session) -> bool {
        match action {
            Action::Scale => false,
            Action::Previous | Action::Next => session.compared.families.len() < 2,
            Action::Up | Action::Down => self.farthest == 0,
        }
    }
}

impl Panel for Curves {
    list_in_field!();

    fn lines(&self, session: &Session) -> usize {
        self.shown(session).map_or(0, |shown| shown.crossovers.len())
    }

    fn figure(&self, session: &Session) -> RenderKind {
        let family = session.compared.families.get(self.family);
        RenderKind::Curves(family.map_or(Axis::Block, |family| family.axis))
    }

    fn sideways(&mut self, by: isize, session: &mut Session) {
        self.family = wrap_index(self.family, by, session.compared.families.len());
        self.list.cursor = 0;
    }

    fn sync(&mut self, session: &Session) {
        if self.seen != session.group {
            self.seen = session.group;
            let family = session
                .compared
                .families
                .iter()
                .position(|family| family.groups.contains(&session.group));
            self.family = family.unwrap_or(self.family);
        }
        self.family = self.family.min(session.compared.families.len().saturating_sub(1));
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let Some(family) = session.compared.families.get(self.family) else {
            let area = painter.panel(area, Self::TITLE);
            let text = "Curves need rows of at least two block sizes or two sizes of a topology. Select more in Explore (1), then press a to add them.";
            return painter.placeholder(area, &session.text_without_results(text));
        };
        let which = position(self.family, session.compared.families.len());
        let filter = &self.list.filter;
        let title = format!(
            "Time against {}{which}: {}{}",
            family.axis.label(),
            family.title(),
            filter.suffix()
        );
        let area = painter.panel(area, &title);
        let Some(shown) = self.shown(session) else { return };
        let Shown { family, crossovers, optimum } = &*shown;
        if family.curves.is_empty() {
            return painter.placeholder(area, "No algorithm matches the filter. Esc shows all.");
        }
        // Reserve rows for the list of crossovers, but leave most of the area to the curves.
        let words = if area.height > 14 { usize::from(area.height / 6).max(3) } else { 0 };
        let listed = crossovers.len().min(words);
        let farthest = crossovers.len() - listed;
        (self.farthest, self.list.cursor) = (farthest, self.list.cursor.min(farthest));
        let first = self.list.cursor;
        let listed = listed as u16;
        let mut legend = legend(painter, session, family, optimum.is_some(), area);
        if !family.shared_xs.is_empty() && area.height > 10 {
            let values = family
                .shared_xs
                .iter()
                .map(|x| family.axis.text(*x))
                .collect::<Vec<_>>()
                .join(", ");
            let text = match family.axis {
                Axis::Nodes => {
                    format!("several topologies have {values} nodes, so no line is drawn there")
                }
                Axis::Faults => {
                    format!(
                        "several patterns have {values} failed links, so no line is drawn there"
                    )
                }
                Axis::Block | Axis::Variation | Axis::Parameter(_) => {
                    format!("several workloads have blocks of {values}, so no line is drawn there")
                }
            };
            painter.put(area, 1, legend, &text, painter.theme.dim);
            legend += 1;
        }
        if let Some(text) = repetitions(session, family).filter(|_| area.height > 12) {
            painter.put(area, 1, legend, &text, painter.theme.dim);
            legend += 1;
        }
        let plot = Rect {
            x: area.x + LEFT + 1,
            y: area.y + legend,
            width: area.width.saturating_sub(LEFT + 3),
            height: area.height.saturating_sub(legend + 2 + listed),
        };
        if plot.width < 10 || plot.height < 3 {
            return painter
                .placeholder(area, "Not enough space for curves. Press e to expand the panel.");
        }
        let axes = Axes::new(family, optimum.as_slice(), self.scale);
        frame(painter, family, &axes, area, plot);
        let pieces = |curve: &Curve| {
            let style = painter.theme.series(session.styles.number(&curve.algorithm));
            let lines =
                curve.segments(&family.shared_xs).map(|points| axes.line(points, plot.width));
            // Curves whose times have not been recalculated yet are dashed.
            let dashed = session.compared.is_outdated(&curve.algorithm);
            let drawn = lines.flat_map(|line| if dashed { dashes(&line) } else { vec![line] });
            drawn.map(|line| (line, style)).collect::<Vec<_>>()
        };
        let mut lines: Vec<_> = distinct(family).flat_map(pieces).collect();
        // The optimum is dashed, because no algorithm need reach it.
        for points in optimum.iter().flat_map(|curve| curve.segments(&family.shared_xs)) {
            let line = axes.line(points, plot.width);
            lines.extend(dashes(&line).into_iter().map(|dash| (dash, painter.theme.dim)));
        }
        painter.lines(plot, ([axes.x.0, axes.x.1], [axes.y.0, axes.y.1]), &lines);
        for curve in distinct(family) {
            let look = session.styles.number(&curve.algorithm);
            let style = painter.theme.series(look);
            for point in &curve.points {
                if let Some((low, high)) = interval(session, point) {
                    let (x, top) = axes.cell((point.x, high), plot);
                    let bottom = axes.cell((point.x, low), plot).1;
                    (top..=bottom).for_each(|y| painter.dot(plot, x, y, '│', style));
                }
                let (x, y) = axes.cell((point.x, point.time), plot);
                painter.dot(plot, x, y, mark(look), style);
            }
        }
        for crossover in crossovers {
            let (x, y) = axes.cell((crossover.x, crossover.time), plot);
            painter.dot(plot, x, y, '✕', painter.theme.accent);
        }
        for (y, crossover) in
            (area.height.saturating_sub(listed)..area.height).zip(crossovers.iter().skip(first))
        {
            painter.put(
                area,
                1,
                y,
                &format!("✕ {}", crossover.in_words(family.axis)),
                painter.theme.text,
            );
        }
        if farthest > 0 && listed > 0 {
            let last = first + usize::from(listed);
            let text = format!(" {}..{last} of {} (↑ ↓)", first + 1, crossovers.len());
            painter.put_right(
                area,
                area.width.saturating_sub(1),
                area.height.saturating_sub(1),
                &text,
                painter.theme.dim,
            );
        }
    }
}

impl Curves {
    /// Returns the curves that pass the filter; `None` if there is no family.
    fn shown(&self, session: &Session) -> Option<Rc<Shown>> {
        let (compared, filter) = (&session.compared, &self.list.filter);
        let family = compared.families.get(self.family)?;
        Some(self.shown.get((compared.number, self.family, filter.text().to_owned()), || {
            let family = family.only(|algorithm| session.passes(filter, algorithm, ""));
            let crossovers = family.envelope().crossovers;
            Shown { crossovers, optimum: optimum(compared, &family), family }
        }))
    }
}

/// Returns the ends of the 95 % confidence interval of the time at a point; `None` if there are no
/// repetitions.
fn interval(session: &Session, point: &Point) -> Option<(f64, f64)> {
    let line = session.compared.groups.get(point.group)?.lines.get(point.line)?;
    let interval = line.time.as_ref()?.interval.filter(|interval| !interval.is_point())?;
    Some((interval.low.max(0.0), interval.high))
}

/// Returns a note about the number of repetitions; `None` if no case is repeated.
fn repetitions(session: &Session, family: &Family) -> Option<String> {
    let points = family.curves.iter().flat_map(|curve| &curve.points);
    let line = |point: &Point| {
        session.compared.groups.get(point.group)?.lines.get(point.line)?.time.as_ref().map(|t| t.n)
    };
    let counts: Vec<usize> = points.filter_map(line).collect();
    let (least, most) = (counts.iter().min()?, counts.iter().max()?);
    let text = if least == most { most.to_string() } else { format!("{least} to {most}") };
    (*most > 1).then(|| format!("points are means of {text} repetitions, │ is the 95 % interval"))
}

fn dashes(line: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
    const LONG: usize = 4;
    line.chunks(LONG).step_by(2).map(<[_]>::to_vec).collect()
}

/// Returns the curve of the optimum, which is the same for all algorithms; `None` if no row has an
/// optimum.
fn optimum(compared: &Compared, family: &Family) -> Option<Curve> {
    let at = |x: f64| {
        let points = family.curves.iter().flat_map(|curve| &curve.points).filter(|p| p.x == x);
        let known = |point: &Point| {
            let line = compared.groups.get(point.group)?.lines.get(point.line)?;
            Some(Point { time: line.optimum?.mean_us, ..*point })
        };
        points.filter_map(known).next()
    };
    let points: Vec<Point> = family.xs().into_iter().filter_map(at).collect();
    (!points.is_empty()).then(|| Curve { algorithm: "optimum".to_owned(), points: points.into() })
}

fn coincide(a: &Curve, b: &Curve) -> bool {
    let times =
        |curve: &Curve| curve.points.iter().map(|point| (point.x, point.time)).collect::<Vec<_>>();
    times(a) == times(b)
}

/// Returns the curves that differ. If several curves are equal, only the first of them is returned.
fn distinct(family: &Family) -> impl Iterator<Item = &Curve> {
    let is_new = |(i, curve): &(usize, &Curve)| {
        !family.curves[..*i].iter().any(|other| coincide(curve, other))
    };
    family.curves.iter().enumerate().filter(is_new).map(|(_, curve)| curve)
}

fn legend(
    painter: &mut Painter<'_, '_>,
    session: &Session,
    family: &Family,
    has_optimum: bool,
    area: Rect,
) -> u16 {
    let (compared, theme) = (&session.compared, painter.theme);
    let entry = |curve: &Curve| {
        let alike = family.curves.iter().filter(|other| coincide(curve, other));
        let names = alike.map(|other| other.algorithm.as_str()).collect::<Vec<_>>().join(" = ");
        let old = if compared.is_outdated(&curve.algorithm) { " (outdated)" } else { "" };
        let look = session.styles.number(&curve.algorithm);
        [mark(look).to_string(), format!("{names}{old}")].map(|text| (text, theme.series(look)))
    };
    let optimum = has_optimum.then(|| ["- -", "optimum"].map(|text| (text.to_owned(), theme.dim)));
    painter.legend(area, distinct(family).map(entry).chain(optimum))
}

fn frame(painter: &mut Painter<'_, '_>, family: &Family, axes: &Axes, area: Rect, plot: Rect) {
    let theme = painter.theme;
    let (left, top) = (plot.x - area.x, plot.y - area.y);
    for y in 0..plot.height {
        painter.dot(area, left - 1, top + y, '│', theme.dim);
    }
    for x in 0..plot.width {
        painter.dot(area, left + x, top + plot.height, '─', theme.dim);
    }
    painter.dot(area, left - 1, top + plot.height, '└', theme.dim);
    // Draw the labels of the time axis, at most one label in each row.
    let mut taken: Vec<u16> = Vec::new();
    for tick in axes.y_ticks() {
        let y = axes.cell((axes.origin, tick), plot).1;
        if taken.iter().any(|other| other.abs_diff(y) < 2) {
            continue;
        }
        taken.push(y);
        let text = if tick == 0.0 { "0".to_owned() } else { duration(tick) };
        painter.put_right(area, left - 1, top + y, &text, theme.dim);
        painter.dot(area, left - 1, top + y, '┤', theme.dim);
    }
    // Draw as many labels of the horizontal axis as fit.
    let mut free = 0;
    for value in family.xs() {
        let x = left + axes.cell((value, axes.floor), plot).0;
        let text = family.axis.text(value);
        let from = x.saturating_sub(width(&text) / 2).min(area.width.saturating_sub(width(&text)));
        painter.dot(area, x, top + plot.height, '┴', theme.dim);
        if from >= free {
            free = painter.put(area, from, top + plot.height + 1, &text, theme.dim) + 1;
        }
    }
}
