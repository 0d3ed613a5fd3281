//! Output of the data of a figure as a table of its points.

use crate::figure::Figure;
use swapmeet_results::csv_table;

impl Figure {
    /// Formats all points as CSV with these columns: panel, curve, x, y, and the lower and upper
    /// end of the error bar.
    pub(crate) fn table(&self) -> Result<String, csv::Error> {
        let columns =
            ["panel", "curve", self.x_label, &self.y_label, "low", "high"].map(str::to_owned);
        let curves = self.panels.iter().flat_map(|panel| {
            panel
                .curves
                .iter()
                .chain(&panel.reference)
                .map(|curve| (&panel.title, self.label(&curve.name), &curve.points))
        });
        let points = curves.flat_map(|(title, name, points)| {
            points.iter().map(move |point| {
                let end = |end: Option<f64>| end.map(|end| end.to_string()).unwrap_or_default();
                let (low, high) = (point.interval.map(|i| i.low), point.interval.map(|i| i.high));
                [
                    title.clone(),
                    name.to_owned(),
                    point.x.to_string(),
                    point.y.to_string(),
                    end(low),
                    end(high),
                ]
            })
        });
        csv_table([columns].into_iter().chain(points))
    }
}
