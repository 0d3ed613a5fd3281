//! The curves panel. It plots time against block size or number of nodes, with one curve for each
//! algorithm, and lists the crossovers of curves. The curves in one plot are a family: their cases
//! differ only in the algorithm and in the block size or number of nodes.

mod axes;

use crate::keys::{Binding, DOWN, NEXT, PREVIOUS, UP, bind, ch};
use crate::memo::Memo;
use crate::paint::{Painter, position, width};
use crate::panel::{Keyed, List, Panel, list_in_field, next_of, wrap_index};
use crate::session::comparison::Compared;
use crate::session::comparison::UNCHARGED;
use crate::session::{RenderKind, Request, Requests, Session};
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
    /// The family that the user has chosen. It is shown if it contains the selected case.
    chosen: Option<(Axis, String)>,
    scale: Scale,
    /// Whether times are divided by the fastest time at the same position.
    is_relative: bool,
    /// The maximum scroll position of the list, at which the last crossover is in the last row.
    farthest: usize,
    /// The curves that pass the filter. The inputs are the number of the analysis, the index of the
    /// family, the filter, and whether times are relative.
    shown: Memo<(u64, usize, String, bool), Shown>,
}

#[derive(Debug)]
struct Shown {
    /// The curves, as they are drawn. Those that are the fastest somewhere are last.
    family: Family,
    crossovers: Vec<Crossover>,
    optimum: Option<Curve>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Action {
    Relative,
    Scale,
    Previous,
    Next,
    Up,
    Down,
}

impl Keyed for Curves {
    const TITLE: &'static str = "Curves";
    type Action = Action;
    const KEYS: &'static [Binding<Action>] = &[
        bind(Action::Relative, &[ch('v')], "show times, or times relative to the fastest")
            .hint("relative"),
        bind(
            Action::Scale,
            &[ch('s')],
            "make both axes logarithmic, only the horizontal one, or none",
        )
        .hint("scale"),
        bind(Action::Previous, PREVIOUS, "previous curves"),
        bind(Action::Next, NEXT, "next curves").pair("[ ]", "curves"),
        bind(Action::Up, UP, "scroll the list of crossovers up"),
        bind(Action::Down, DOWN, "scroll the list of crossovers down").pair("↑↓", "crossovers"),
    ];

    fn act(&mut self, action: Action, session: &Session) -> Requests {
        match action {
            Action::Relative => self.is_relative = !self.is_relative,
            Action::Scale => self.scale = next_of(&Scale::ALL, self.scale),
            Action::Previous => return self.sideways(-1, session),
            Action::Next => return self.sideways(1, session),
            Action::Up => return self.step(-1, session),
            Action::Down => return self.step(1, session),
        }
        Requests::new()
    }

    fn is_idle(&self, action: Action, session: &Session) -> bool {
        match action {
            Action::Relative | Action::Scale => false,
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

    fn figure(&self, session: &Session) -> Option<(RenderKind, Vec<usize>)> {
        let family = session.compared.families.get(self.family(session))?;
        Some((RenderKind::Curves(family.axis), family.groups.iter().copied().collect()))
    }

    /// Shows the next family. If it does not contain the selected case, selects its first group.
    fn sideways(&mut self, by: isize, session: &Session) -> Requests {
        let families = &session.compared.families;
        let next = wrap_index(self.family(session), by, families.len());
        let Some(family) = families.get(next) else { return Requests::new() };
        self.list.cursor = 0;
        self.chosen = Some((family.axis, family.settings.title()));
        let is_here = session.selected_group().is_some_and(|group| family.groups.contains(&group));
        let first = family.groups.first().filter(|_| !is_here);
        first.map(|group| Request::SelectGroup(*group)).into_iter().collect()
    }

    fn draw(&mut self, painter: &mut Painter<'_, '_>, session: &Session, area: Rect) {
        let at = self.family(session);
        let Some(family) = session.compared.families.get(at) else {
            let area = painter.panel(area, Self::TITLE);
            let text = "Curves need rows of at least two block sizes or two sizes of a topology. Choose more in 1, then press a to add them.";
            return painter.placeholder(area, &session.text_without_results(text));
        };
        let which = position(at, session.compared.families.len());
        let title = format!(
            "{} against {}{which}: {}",
            if self.is_relative { "Time relative to the fastest" } else { "Time" },
            family.axis.label(),
            family.settings.title()
        );
        let area = painter.filtered_panel(area, &title, &self.list.filter);
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
            let values = family.shared_xs.iter().map(|x| family.axis.text(*x));
            let values = values.collect::<Vec<_>>().join(", ");
            let several = match family.axis {
                Axis::Nodes => format!("topologies have {values} nodes"),
                Axis::Faults => format!("patterns have {values} failed links"),
                Axis::Block | Axis::Variation | Axis::Parameter(_) => {
                    format!("workloads have blocks of {values}")
                }
            };
            let text = format!("several {several}, so no line is drawn there");
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
        frame(painter, family, &axes, self.is_relative, area, plot);
        let pieces = |curve: &Curve| {
            let style = painter.theme.series(session.styles.number(&curve.algorithm));
            let lines =
                curve.segments(&family.shared_xs).map(|points| axes.line(points, plot.width));
            lines.map(|line| (line, style)).collect::<Vec<_>>()
        };
        let mut lines: Vec<_> = distinct(family).flat_map(pieces).collect();
        // The optimum is dashed, because no algorithm need reach it.
        for points in optimum.iter().flat_map(|curve| curve.segments(&family.shared_xs)) {
            let line = axes.line(points, plot.width);
            lines.extend(dashes(&line).into_iter().map(|dash| (dash, painter.theme.dim)));
        }
        painter.lines(plot, ([axes.x.0, axes.x.1], [axes.y.0, axes.y.1]), &lines);
        // Draw the marks of the fastest last, so that they cover the others.
        let points = distinct(family).flat_map(|curve| {
            let look = session.styles.number(&curve.algorithm);
            curve.points.iter().map(move |point| (look, point))
        });
        let mut points: Vec<(usize, &Point)> = points.collect();
        points.sort_by(|(_, a), (_, b)| b.time.total_cmp(&a.time));
        for (look, point) in points {
            let style = painter.theme.series(look);
            if let Some((low, high)) = interval(session, point).filter(|_| !self.is_relative) {
                let (x, top) = axes.cell((point.x, high), plot);
                let bottom = axes.cell((point.x, low), plot).1;
                (top..=bottom).for_each(|y| painter.dot(plot, x, y, '│', style));
            }
            let (x, y) = axes.cell((point.x, point.time), plot);
            painter.dot(plot, x, y, mark(look), style);
        }
        for crossover in crossovers {
            let time = if self.is_relative { 1.0 } else { crossover.time };
            let (x, y) = axes.cell((crossover.x, time), plot);
            painter.dot(plot, x, y, '✕', painter.theme.accent);
        }
        for (y, crossover) in
            (area.height.saturating_sub(listed)..area.height).zip(crossovers.iter().skip(first))
        {
            let text = remarked(session, family, crossover).in_words(family.axis);
            painter.put(area, 1, y, &format!("✕ {text}"), painter.theme.text);
        }
        if farthest > 0 && listed > 0 {
            let last = first + usize::from(listed);
            let text = format!(" {}..{last} of {} (↑ ↓)", first + 1, crossovers.len());
            let (x, y) = (area.width.saturating_sub(1), area.height.saturating_sub(1));
            painter.put_right(area, x, y, &text, painter.theme.dim);
        }
    }
}

impl Curves {
    /// Returns the curves that pass the filter.
    fn shown(&self, session: &Session) -> Option<Rc<Shown>> {
        let (compared, filter) = (&session.compared, &self.list.filter);
        let at = self.family(session);
        let family = compared.families.get(at)?;
        let inputs = (compared.number, at, filter.text().to_owned(), self.is_relative);
        Some(self.shown.get(inputs, || {
            let mut family = family.only(|algorithm| session.passes(filter, algorithm, ""));
            let crossovers = family.envelope().crossovers;
            let mut optimum = optimum(compared, &family);
            let best = |x: f64| {
                let times = family.curves.iter().filter_map(|curve| curve.time_at(x));
                times.fold(f64::INFINITY, f64::min)
            };
            let best: Vec<(f64, f64)> = family.xs().into_iter().map(|x| (x, best(x))).collect();
            let fastest = |x: f64| {
                best.iter().find(|(other, _)| *other == x).map_or(f64::INFINITY, |(_, time)| *time)
            };
            let wins = |curve: &Curve| {
                curve.points.iter().filter(|point| point.time <= fastest(point.x)).count()
            };
            family.curves.sort_by_key(wins);
            if self.is_relative {
                for curve in family.curves.iter_mut().chain(&mut optimum) {
                    curve.points.iter_mut().for_each(|point| point.time /= fastest(point.x));
                }
            }
            Shown { crossovers, optimum, family }
        }))
    }

    /// Returns the index of the displayed family, which contains the selected case. If several do,
    /// prefers the family that the user has chosen.
    fn family(&self, session: &Session) -> usize {
        let families = &session.compared.families;
        let Some(group) = session.selected_group() else { return 0 };
        let is_chosen = |family: &Family| {
            self.chosen.as_ref().is_some_and(|(axis, title)| {
                *axis == family.axis && *title == family.settings.title()
            })
        };
        let own = (0..families.len()).filter(|at| families[*at].groups.contains(&group));
        own.min_by_key(|at| !is_chosen(&families[*at])).unwrap_or(0)
    }
}

/// Returns a crossover whose names have the mark of unequal charges.
fn remarked(session: &Session, family: &Family, crossover: &Crossover) -> Crossover {
    let named = |name: &String| format!("{name}{}", remark(session, family, name));
    Crossover {
        before: named(&crossover.before),
        after: named(&crossover.after),
        ..crossover.clone()
    }
}

/// Returns the mark `†` if some row of an algorithm in the family has it.
fn remark(session: &Session, family: &Family, algorithm: &str) -> &'static str {
    let has = |group: &usize| !session.compared.remark(*group, algorithm).is_empty();
    if family.groups.iter().any(has) { UNCHARGED } else { "" }
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
    let times = |curve: &Curve| curve.points.iter().map(|p| (p.x, p.time)).collect::<Vec<_>>();
    times(a) == times(b)
}

/// Returns the first of all curves that are equal.
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
    let theme = painter.theme;
    let entry = |curve: &Curve| {
        let alike = family.curves.iter().filter(|other| coincide(curve, other));
        let named = |curve: &Curve| {
            format!("{}{}", curve.algorithm, remark(session, family, &curve.algorithm))
        };
        let names = alike.map(named).collect::<Vec<_>>().join(" = ");
        let look = session.styles.number(&curve.algorithm);
        [mark(look).to_string(), names].map(|text| (text, theme.series(look)))
    };
    let optimum = has_optimum.then(|| ["- -", "optimum"].map(|text| (text.to_owned(), theme.dim)));
    // The curves that are the fastest somewhere are first.
    let mut entries: Vec<_> = distinct(family).map(entry).collect();
    entries.reverse();
    painter.legend(area, entries.into_iter().chain(optimum))
}

fn frame(
    painter: &mut Painter<'_, '_>,
    family: &Family,
    axes: &Axes,
    is_relative: bool,
    area: Rect,
    plot: Rect,
) {
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
        let text = match tick {
            0.0 => "0".to_owned(),
            _ if is_relative => format!("{tick:.2} x"),
            _ => duration(tick),
        };
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
