//! How curves are told apart: by marker and by dashes first, so that a grey print says as much, by colour too.

use kuva::plot::scatter::MarkerShape;

/// The look of a curve.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Its colour. Those of Okabe and Ito, which differ for colour-blind eyes too, but for yellow, which is too light for a line.
    pub colour: &'static str,
    /// Its dashes, as SVG has them; empty for a solid line.
    pub dashes: &'static str,
    /// Its marker.
    pub marker: MarkerShape,
}

const COLOURS: [&str; 8] = ["#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#666666"];
const DASHES: [&str; 6] = ["", "8 4", "2 3", "10 3 2 3", "16 5", "8 3 2 3 2 3"];
const MARKERS: [MarkerShape; 8] = [
    MarkerShape::Circle,
    MarkerShape::Square,
    MarkerShape::Triangle,
    MarkerShape::Diamond,
    MarkerShape::TriangleDown,
    MarkerShape::Cross,
    MarkerShape::Star,
    MarkerShape::Plus,
];

/// The look of the curve with this place in the legend.
pub fn style(index: usize) -> Style {
    // The first eight differ in their markers; those after them have the same markers with other dashes and colours.
    Style { colour: COLOURS[(index + index / 8) % 8], dashes: DASHES[index % 6], marker: MARKERS[index % 8] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Figure;
    use std::collections::HashSet;

    #[test]
    fn all_curves_of_a_figure_differ_in_grey() {
        let looks: HashSet<(&str, String)> =
            (0..Figure::MOST_CURVES).map(style).map(|s| (s.dashes, format!("{:?}", s.marker))).collect();
        assert_eq!(looks.len(), Figure::MOST_CURVES);
    }
}
