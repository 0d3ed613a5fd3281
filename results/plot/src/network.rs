//! Pictures of networks whose links are coloured by the cost of losing them.

mod layout;

use crate::appearance::{Appearance, LegendPlace};
use crate::draw::{Drawable, LegendRow, heading, panel_title, remarks};
use crate::error::{FigureError, check_panels};
use crate::labels::Labels;
use crate::marks::outline::Point;
use crate::marks::scene::{
    Anchor, BLACK, Colour, GREY, Mark, PALE, Scene, ShapeStyle, Stroke, WHITE,
};
use crate::marks::text::width;
use crate::marks::{Paper, Picture};
use crate::titles::Titles;
use layout::{Ends, Layout};
use swapmeet_results::analysis::{CommonSettings, LinkCost, LinkCosts, link_costs};
use swapmeet_results::{Record, csv_table, duration, without_parameter};

/// The colours of costs, from the lowest to the highest: the scale OrRd of ColorBrewer (C. Brewer,
/// colorbrewer2.org). It gets darker from end to end, so that it can be read in grey print.
const RAMP: [Colour; 5] = [
    Colour(0xfd, 0xd4, 0x9e),
    Colour(0xfc, 0x8d, 0x59),
    Colour(0xe3, 0x4a, 0x33),
    Colour(0xb3, 0x00, 0x00),
    Colour(0x5e, 0x00, 0x00),
];

/// The dashes of links whose failure disconnects ranks.
const DISCONNECTS: &[f64] = &[3.0, 1.5];

/// The links of a network for one algorithm.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkPanel {
    /// The algorithm, and the settings in which the panel differs from other panels.
    pub title: String,
    pub costs: LinkCosts,
    layout: Layout,
}

/// A figure of networks whose links are coloured by the cost of losing them.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkFigure {
    pub legend: LegendPlace,
    pub title: String,
    pub panels: Vec<NetworkPanel>,
    pub labels: Labels,
    /// The largest ratio of the time without a link to the time with all links, at least 1. The
    /// scale of colours starts at 1.
    most: f64,
}

impl NetworkFigure {
    /// Makes the figure from the rows of `files`, which are pairs of a file name and its rows.
    pub fn of(
        files: &[(String, Vec<Record>)],
        appearance: &Appearance<'_>,
    ) -> Result<Self, FigureError> {
        let all = link_costs(files.iter().flat_map(|(_, rows)| rows));
        if all.is_empty() {
            return Err(FigureError::NoLinks);
        }
        let settings = |costs: &LinkCosts| CommonSettings::of(&costs.case.setting.borrowed());
        let titles = Titles::of(&all.iter().map(settings).collect::<Vec<_>>());
        let differ = [&*titles.differ, "algorithms (--algorithm)"];
        let differ: Vec<&str> = differ.into_iter().filter(|column| !column.is_empty()).collect();
        check_panels(all.len(), &differ.join(" and "))?;
        let algorithm = |costs: &LinkCosts| costs.case.implementation.algorithm.clone();
        let names: Vec<String> = all.iter().map(algorithm).collect();
        let labels = Labels::of(appearance, &names.iter().map(String::as_str).collect())?;
        let most = all.iter().filter_map(|costs| Some(costs.worst()?.1)).fold(1.0, f64::max);
        let panels = all.into_iter().zip(titles.panels).map(|(costs, title)| {
            let name = labels.name(&costs.case.implementation.algorithm);
            let title = if title.is_empty() { name.to_owned() } else { format!("{name}, {title}") };
            let known: Vec<Ends> = costs.links.keys().copied().collect();
            let network = ["down", "ranks", "place", "routing"]
                .iter()
                .fold(costs.case.setting.topology.clone(), |spec, key| {
                    without_parameter(&spec, key).into_owned()
                });
            NetworkPanel { title, layout: Layout::of(&network, &known), costs }
        });
        Ok(Self {
            legend: appearance.legend,
            title: appearance.title.map_or(titles.common, str::to_owned),
            panels: panels.collect(),
            labels,
            most,
        })
    }

    /// Returns the colour and the relative width of a ratio of times.
    fn style(&self, ratio: f64) -> (Colour, f64) {
        let share = if self.most > 1.0 { (ratio - 1.0) / (self.most - 1.0) } else { 0.0 };
        let share = share.clamp(0.0, 1.0);
        (colour(share), 0.14 + 0.2 * share)
    }

    /// Returns the stroke and the tooltip of a link.
    fn link(&self, costs: &LinkCosts, (a, b): Ends, font: f64) -> (Stroke, String) {
        match costs.links.get(&(a, b)) {
            Some(LinkCost::Ratio(ratio)) => {
                let (colour, wide) = self.style(*ratio);
                let text = format!("{a}-{b}: {} ({ratio:.3} x)", duration(ratio * costs.time_us));
                (Stroke { colour, width: wide * font, dashes: &[] }, text)
            }
            Some(LinkCost::Disconnects) => {
                let stroke = Stroke { colour: BLACK, width: 0.3 * font, dashes: DISCONNECTS };
                (stroke, format!("{a}-{b}: disconnects ranks"))
            }
            None => {
                let stroke = Stroke { colour: PALE, width: 0.14 * font, dashes: &[] };
                (stroke, format!("{a}-{b}: not examined"))
            }
        }
    }

    /// Draws a panel between `left` and `right`. Returns the y coordinate of its lower end.
    fn panel(
        &self,
        scene: &mut Scene,
        panel: &NetworkPanel,
        (left, right): (f64, f64),
        top: f64,
        font: f64,
    ) -> f64 {
        let place = ((left + right) / 2.0, right - left);
        let top = panel_title(scene, &panel.title, place, top, font) + 0.5 * font;
        // Scale the layout to the panel. Its vertices have a distance of about 1, and links around
        // the edge need less than 1 on each side.
        let layout = &panel.layout;
        let [x_low, y_low, x_high, y_high] = layout.bounds();
        let (wide, high) = (x_high - x_low + 1.2, y_high - y_low + 1.2);
        let unit = ((right - left) / wide).min(0.9 * (right - left) / high).min(5.0 * font);
        let middle = (left + right) / 2.0;
        let at = |(px, py): Point| {
            (middle + (px - (x_low + x_high) / 2.0) * unit, top + (py - y_low + 0.6) * unit)
        };
        // Draw expensive links on top of others, and vertices on top of links.
        let weight = |ends: &Ends| match panel.costs.links.get(ends) {
            Some(LinkCost::Disconnects) => f64::INFINITY,
            Some(LinkCost::Ratio(ratio)) => *ratio,
            None => 0.0,
        };
        let mut links: Vec<Ends> = layout.links.clone();
        links.sort_by(|a, b| weight(a).total_cmp(&weight(b)));
        for ends in links {
            let (stroke, hint) = self.link(&panel.costs, ends, font);
            let look = ShapeStyle { fill: None, stroke: Some(stroke) };
            for line in layout.lines(ends) {
                let (points, hint) = (line.map(at).to_vec(), Some(hint.clone()));
                scene.marks.push(Mark::Lines { points, closed: false, look, hint });
            }
        }
        self.vertices(scene, layout, &at, unit, font);
        top + high * unit
    }

    /// Draws the vertices: nodes as circles with their numbers, if these have room, and switches as
    /// squares.
    fn vertices(
        &self,
        scene: &mut Scene,
        layout: &Layout,
        at: &dyn Fn(Point) -> Point,
        unit: f64,
        font: f64,
    ) {
        let size = 0.7 * font;
        let longest = width(&layout.places.len().saturating_sub(1).to_string(), size);
        let has_numbers = longest + 0.6 * font < 0.7 * unit && 1.4 * font < 0.7 * unit;
        let radius = if has_numbers { longest.max(size) / 2.0 + 0.3 * font } else { 0.12 * unit };
        let stroke = Stroke { colour: GREY, width: 0.08 * font, dashes: &[] };
        let look = ShapeStyle { fill: Some(WHITE), stroke: Some(stroke) };
        for (vertex, place) in (0..).zip(&layout.places) {
            let (x, y) = at(*place);
            let is_node = vertex < layout.nodes;
            let hint = Some(format!("{} {vertex}", if is_node { "node" } else { "switch" }));
            scene.marks.push(if is_node {
                Mark::Circle { centre: (x, y), radius, look, hint }
            } else {
                let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
                let points = corners.map(|(dx, dy)| (x + dx * radius, y + dy * radius)).to_vec();
                Mark::Lines { points, closed: true, look, hint }
            });
            if has_numbers {
                let place = (x, y + 0.36 * size);
                scene.text(place, &vertex.to_string(), size, Anchor::Middle);
            }
        }
    }

    /// Returns the entries of the legend, each with the length of its sample in letters and with
    /// its text.
    fn entries(&self) -> Vec<(Entry, f64, String)> {
        let costs = || self.panels.iter().map(|panel| &panel.costs);
        let scale = match self.most > 1.0 {
            true => format!("time without the link: 1 x to {:.3} x", self.most),
            false => "the loss of a link costs no time".to_owned(),
        };
        let mut entries = vec![(Entry::Scale, if self.most > 1.0 { 10.0 } else { 3.0 }, scale)];
        if costs().any(|costs| costs.disconnecting().next().is_some()) {
            entries.push((Entry::Disconnects, 3.0, "the loss disconnects ranks".to_owned()));
        }
        let is_open = |panel: &NetworkPanel| {
            panel.layout.links.iter().any(|ends| !panel.costs.links.contains_key(ends))
        };
        if self.panels.iter().any(is_open) {
            entries.push((Entry::NotExamined, 3.0, "not examined".to_owned()));
        }
        entries
    }

    /// Describes, for each panel, the links whose loss costs most time.
    fn worst(&self) -> impl Iterator<Item = String> {
        self.panels.iter().map(|NetworkPanel { title, costs, .. }| {
            let mut text = match costs.worst() {
                Some((links, ratio)) => format!(
                    "{title}: {} instead of {} ({ratio:.3} x) without {}",
                    duration(ratio * costs.time_us),
                    duration(costs.time_us),
                    listed(&links)
                ),
                None => format!("{title}: the loss of a link costs no time"),
            };
            let cut: Vec<Ends> = costs.disconnecting().collect();
            if !cut.is_empty() {
                text += &format!("; ranks are disconnected without {}", listed(&cut));
            }
            text
        })
    }
}

/// An entry of the legend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    Scale,
    Disconnects,
    NotExamined,
}

impl Drawable for NetworkFigure {
    /// Formats the costs of all links as CSV. The ratio of a link whose failure disconnects ranks
    /// is empty.
    fn csv(&self) -> Result<String, csv::Error> {
        let header = ["panel", "link", "ratio", "disconnects"].map(str::to_owned);
        let rows = self.panels.iter().flat_map(|panel| {
            panel.costs.links.iter().map(|((a, b), cost)| {
                let (ratio, disconnects) = match cost {
                    LinkCost::Ratio(ratio) => (ratio.to_string(), "no"),
                    LinkCost::Disconnects => (String::new(), "yes"),
                };
                [panel.title.clone(), format!("{a}-{b}"), ratio, disconnects.to_owned()]
            })
        });
        csv_table([header].into_iter().chain(rows))
    }

    fn picture(&self, paper: &Paper) -> Picture {
        let font = paper.font();
        let mut scene = Scene::new(paper.width(self.panels.len()), font / 12.0);
        let top = heading(&mut scene, &self.title, font);
        let entries = self.entries();
        let legend = |scene: &mut Scene, space: (f64, f64), top: f64| {
            let mut row = LegendRow::new(space, top + 1.4 * font, font);
            for (entry, letters, text) in &entries {
                let (x, y) = row.entry(scene, (letters + 0.8) * font, text);
                let (right, middle) = (x + letters * font, y - 0.36 * font);
                match entry {
                    Entry::Scale => {
                        /// The number of rectangles of the colour scale.
                        const PIECES: usize = 24;
                        let step = letters * font / PIECES as f64;
                        for piece in 0..PIECES {
                            let share = piece as f64 / (PIECES - 1) as f64;
                            let share = if self.most > 1.0 { share } else { 0.0 };
                            let left = x + piece as f64 * step;
                            let area = [left, y - 0.8 * font, left + step, y + 0.1 * font];
                            scene.filled(area, colour(share), None);
                        }
                    }
                    Entry::Disconnects => {
                        let points = vec![(x, middle), (right, middle)];
                        scene.line(points, BLACK, 0.3 * font, DISCONNECTS);
                    }
                    Entry::NotExamined => {
                        scene.line(vec![(x, middle), (right, middle)], PALE, 0.14 * font, &[]);
                    }
                }
            }
            row.end()
        };
        let body = |scene: &mut Scene, right: f64, top: f64| {
            let columns = paper.columns(self.panels.len(), right);
            let cell = (right - font) / columns as f64 - font;
            let mut top = top;
            for row in self.panels.chunks(columns) {
                let ends = (0..).zip(row).map(|(column, panel)| {
                    let left = font + f64::from(column) * (cell + font);
                    self.panel(scene, panel, (left, left + cell), top, font)
                });
                top = ends.fold(top, f64::max) + 0.5 * font;
            }
            top
        };
        let wide =
            |(_, letters, text): &(Entry, f64, String)| (letters + 0.8) * font + width(text, font);
        let wide = entries.iter().map(wide).fold(0.0, f64::max).min(0.4 * scene.width);
        let top = self.legend.arrange(&mut scene, (top, font), wide, legend, body);
        let worst: Vec<String> = self.worst().collect();
        scene.height = remarks(&mut scene, &worst, top, font) + font;
        Picture::new(scene, &self.title, paper)
    }

    fn remarks(&self) -> Vec<String> {
        self.worst().collect()
    }
}

/// Returns the colour at a position from 0 to 1 of the scale.
fn colour(share: f64) -> Colour {
    let last = RAMP.len() - 1;
    let index = ((share * last as f64) as usize).min(last - 1);
    let within = share * last as f64 - index as f64;
    let mix = |low: u8, high: u8| {
        (f64::from(low) + (f64::from(high) - f64::from(low)) * within).round() as u8
    };
    let (low, high) = (RAMP[index], RAMP[index + 1]);
    Colour(mix(low.0, high.0), mix(low.1, high.1), mix(low.2, high.2))
}

/// Returns a phrase that names up to four of the links.
fn listed(links: &[Ends]) -> String {
    const MOST: usize = 4;
    let names: Vec<String> = links.iter().take(MOST).map(|(a, b)| format!("{a}-{b}")).collect();
    match (links.len(), links.len().saturating_sub(MOST)) {
        (1, _) => format!("the link {}", names[0]),
        (_, 0) => format!("one of the links {}", names.join(", ")),
        (_, more) => format!("one of the links {} and {more} more", names.join(", ")),
    }
}
