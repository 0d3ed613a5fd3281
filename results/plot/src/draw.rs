//! Draws a figure: all that is known of the plotting library.

use crate::crossover::Crossover;
use crate::curve::{Curve, Point};
use crate::figure::{Figure, Panel};
use crate::quantity::{X, Y};
use crate::style::{Style, style};
use kuva::backend::raster::RasterBackend;
use kuva::backend::svg::SvgBackend;
use kuva::plot::{LinePlot, LineStyle, ScatterPlot};
use kuva::render::figure::Figure as Grid;
use kuva::render::layout::{Layout, TickFormat};
use kuva::render::plots::Plot;
use kuva::render::render::Scene;
use std::sync::Arc;

mod dashes;
mod legend;
mod pixels;
mod rings;

/// A picture that could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the figure could not be drawn: {0}")]
pub struct DrawError(String);

const PANEL: (f64, f64) = (620.0, 420.0);

impl Figure {
    /// As SVG, with text as text.
    pub fn svg(&self) -> String {
        SvgBackend::new().render_scene(&self.scene())
    }

    /// As PNG, `scale` pixels to one of the SVG; the font is the library's own.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, DrawError> {
        let mut scene = self.scene();
        dashes::cut(&mut scene);
        let large = RasterBackend::new().with_scale(2.0 * scale).render_scene(&scene).map_err(DrawError)?;
        pixels::halved(&large).map_err(|e| DrawError(e.to_string()))
    }

    fn scene(&self) -> Scene {
        let columns = match self.panels.len() {
            1 => 1,
            2..=4 => 2,
            _ => 3,
        };
        let rows = self.panels.len().div_ceil(columns);
        let plots = self.panels.iter().map(|panel| self.plots(panel)).collect();
        let layouts = self.panels.iter().map(|panel| self.layout(panel)).collect();
        let mut grid = Grid::new(rows, columns).with_cell_size(PANEL.0, PANEL.1).with_spacing(8.0).with_padding(8.0);
        if !self.title.is_empty() {
            grid = grid.with_title(&self.title).with_title_size(16);
        }
        let mut scene = grid.with_plots(plots).with_layouts(layouts).render();
        let crossovers = self.panels.iter().flat_map(|panel| panel.crossovers.iter().map(move |c| (panel, c)));
        let texts: Vec<String> = crossovers.map(|(panel, c)| self.in_words(panel, c)).collect();
        rings::letter(&mut scene, texts.len());
        legend::add_below(&mut scene, &self.names, &texts);
        scene
    }

    fn plots(&self, panel: &Panel) -> Vec<Plot> {
        let mut plots = Vec::new();
        for curve in &panel.curves {
            let look = self.look(curve);
            plots.extend(curve.pieces(&panel.crowded).map(|points| Plot::Line(self.line(points, look))));
        }
        // Markers and bars above all lines.
        for curve in &panel.curves {
            plots.push(Plot::Scatter(self.markers(curve, self.look(curve))));
        }
        if !panel.crossovers.is_empty() {
            plots.push(rings::plot(panel.crossovers.iter().map(|c| (self.to_x(c.x), c.y))));
        }
        plots
    }

    /// A crossover as the legend says it.
    pub fn in_words(&self, panel: &Panel, crossover: &Crossover) -> String {
        let place = if panel.title.is_empty() { String::new() } else { format!("{}: ", panel.title) };
        let (before, after) = (&crossover.before, &crossover.after);
        if self.x == X::Nodes {
            let (left, right) = (self.x.tick(crossover.within.0), self.x.tick(crossover.within.1));
            return format!("{place}{before} is lowest up to {left} nodes, {after} from {right}");
        }
        format!("{place}{before} is lowest up to about {}, then {after}", self.x.tick(crossover.x))
    }

    fn look(&self, curve: &Curve) -> Style {
        style(self.names.iter().position(|name| *name == curve.name).unwrap_or(0))
    }

    /// Where a value lies on the x axis as the library sees it: of a logarithmic one it gets the powers of two, which is how sizes and nodes
    /// are counted.
    fn to_x(&self, value: f64) -> f64 {
        if self.log.x { value.log2() } else { value }
    }

    fn line(&self, curve: &[Point], look: Style) -> LinePlot {
        let between = self.between();
        // A straight line in bytes is bent on logarithmic axes: drawn as it is, so that lines cross where they do.
        let bent = between.log_x != self.log.x || between.log_y != self.log.y;
        let pieces = if bent { 24 } else { 1 };
        let mut points = Vec::new();
        for pair in curve.windows(2) {
            let (a, b) = ((pair[0].x, pair[0].y), (pair[1].x, pair[1].y));
            for piece in 0..pieces {
                let share = f64::from(piece) / f64::from(pieces);
                let x = if self.log.x { a.0 * (b.0 / a.0).powf(share) } else { a.0 + (b.0 - a.0) * share };
                points.push((self.to_x(x), between.at(a, b, x)));
            }
        }
        points.extend(curve.last().map(|p| (self.to_x(p.x), p.y)));
        let line = LinePlot::new().with_data(points).with_color(look.colour).with_stroke_width(1.5);
        if look.dashes.is_empty() { line } else { line.with_line_style(LineStyle::Custom(look.dashes.to_owned())) }
    }

    fn markers(&self, curve: &Curve, look: Style) -> ScatterPlot {
        let points = curve.points.iter().map(|p| (self.to_x(p.x), p.y));
        let plot = ScatterPlot::new().with_data(points).with_color(look.colour).with_size(4.0).with_marker(look.marker);
        if curve.points.iter().all(|p| p.low.is_none()) {
            return plot;
        }
        let bars = curve.points.iter().map(|p| {
            // On a logarithmic axis a bar that reaches 0 has no end: it stops at a tenth of its point.
            let least = if self.log.y { p.y / 10.0 } else { f64::MIN };
            let low = p.low.unwrap_or(p.y).max(least);
            (p.y - low, p.high.unwrap_or(p.y) - p.y)
        });
        plot.with_y_err_asymmetric(bars)
    }

    fn layout(&self, panel: &Panel) -> Layout {
        let (x, y, log) = (self.x, self.y, self.log);
        let value = move |at: f64| if log.x { at.exp2() } else { at };
        let mut layout = Layout::auto_from_plots(&self.plots(panel))
            .with_x_label(x.label())
            .with_y_label(&self.y_label)
            .with_x_tick_format(TickFormat::Custom(Arc::new(move |at| x.tick(value(at)))))
            .with_y_tick_format(TickFormat::Custom(Arc::new(move |at| y.tick(at))))
            .with_label_size(13)
            .with_tick_size(11);
        if !panel.title.is_empty() {
            layout = layout.with_title(&panel.title).with_title_size(14);
        }
        if log.y {
            layout = layout.with_log_y();
        }
        let xs = panel.curves.iter().flat_map(|c| &c.points).map(|p| self.to_x(p.x));
        let (least, most) = xs.fold((f64::MAX, f64::MIN), |(least, most), x| (least.min(x), most.max(x)));
        // Room for markers at both ends; round a single x, a factor or so to either side.
        let margin = match most - least {
            0.0 if log.x => 1.0,
            0.0 => least.abs().max(1.0) / 2.0,
            range => range * 0.04,
        };
        layout = layout.with_x_axis_min(least - margin).with_x_axis_max(most + margin);
        if log.x {
            // Whole powers of two, at most some ten of them.
            let step = ((most - least) / 10.0).ceil().max(1.0);
            layout = layout.with_x_tick_step(step);
        }
        if y == Y::Ratio {
            layout = layout.with_reference_line(
                kuva::render::annotations::ReferenceLine::horizontal(1.0).with_color("#888888").with_dasharray("1 3"),
            );
        }
        layout
    }
}
