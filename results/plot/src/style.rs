//! Styles of curves. Curves differ in marker and dashes, so that they can be distinguished in grey
//! print, and also in colour. An algorithm has the same style in all figures of a report. It
//! usually has the same style in all other figures, too: it gets a different style only if another
//! algorithm of the figure already has that style.

use crate::marks::scene::Colour;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Marker {
    /// A filled circle.
    Circle,
    /// A filled square.
    Square,
    /// A filled triangle that stands on its base.
    Triangle,
    /// A filled diamond.
    Diamond,
    /// A filled triangle that stands on its tip.
    TriangleDown,
    /// Two diagonal strokes.
    Cross,
    /// A filled star with five tips.
    Star,
    /// A horizontal and a vertical stroke.
    Plus,
}

/// The style of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// The colour. The colours are those of Okabe and Ito, which colour-blind people can
    /// distinguish. Their yellow is omitted, because it is too light for a line.
    pub colour: Colour,
    /// The lengths of dashes and gaps; empty for a solid line.
    pub dashes: &'static [f64],
    pub marker: Marker,
}

const STYLES: usize = 8;
const COLOURS: [Colour; STYLES] = [
    Colour(0x00, 0x00, 0x00),
    Colour(0x00, 0x72, 0xb2),
    Colour(0xd5, 0x5e, 0x00),
    Colour(0x00, 0x9e, 0x73),
    Colour(0xcc, 0x79, 0xa7),
    Colour(0x8a, 0x6d, 0x00),
    Colour(0x56, 0xb4, 0xe9),
    Colour(0x66, 0x66, 0x66),
];
const DASHES: [&[f64]; 6] = [
    &[],
    &[8.0, 4.0],
    &[2.0, 3.0],
    &[10.0, 3.0, 2.0, 3.0],
    &[16.0, 5.0],
    &[8.0, 3.0, 2.0, 3.0, 2.0, 3.0],
];
const MARKERS: [Marker; STYLES] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::TriangleDown,
    Marker::Cross,
    Marker::Star,
    Marker::Plus,
];

/// Returns the style with this number.
fn style_number(index: usize) -> Style {
    // The first eight styles have different markers. The styles after them repeat these markers
    // with different dashes and colours.
    Style {
        colour: COLOURS[(index + index / STYLES) % STYLES],
        dashes: DASHES[index % DASHES.len()],
        marker: MARKERS[index % STYLES],
    }
}

/// The styles of the algorithms in a figure or report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Styles(BTreeMap<String, usize>);

impl Styles {
    /// Assigns a style to each algorithm, in alphabetical order. A hash of the algorithm's name
    /// determines the preferred style. If an earlier algorithm already has this style, the
    /// algorithm gets the next free style.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: std::collections::BTreeSet<&str> = names.into_iter().collect();
        let mut taken = BTreeMap::new();
        for (number, name) in names.into_iter().enumerate() {
            // Styles are assigned in groups of eight. The styles of the next group are used only
            // when all eight styles of a group have been assigned.
            let (round, own) = (number / STYLES * STYLES, digest(name) % STYLES);
            let is_free = |index: &usize| !taken.values().any(|other| other == index);
            let index = (0..STYLES)
                .map(|step| round + (own + step) % STYLES)
                .find(is_free)
                .unwrap_or(round + own);
            taken.insert(name.to_owned(), index);
        }
        Self(taken)
    }

    /// Assigns the first style to the first algorithm, and so on. The dashboard uses this for its
    /// figures, because they have the same marks as its panels.
    pub fn in_order<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(names.into_iter().zip(0..).map(|(name, index)| (name.to_owned(), index)).collect())
    }

    /// Returns the style of an algorithm.
    pub fn get(&self, name: &str) -> Style {
        style_number(self.0.get(name).copied().unwrap_or_default())
    }
}

/// Returns a hash of the name that is the same on every platform and in every version (FNV-1a).
fn digest(name: &str) -> usize {
    let hash = name
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    // These bits of the hash were chosen so that the most common algorithms have different styles.
    (hash >> 4) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Figure;
    use std::collections::HashSet;

    #[test]
    fn curves_differ_without_colour() {
        let names: Vec<String> =
            (0..Figure::MOST_CURVES).map(|i| format!("algorithm-{i}")).collect();
        let styles = Styles::of(names.iter().map(String::as_str));
        let looks: HashSet<String> = names
            .iter()
            .map(|name| styles.get(name))
            .map(|style| format!("{:?} {:?}", style.dashes, style.marker))
            .collect();
        assert_eq!(looks.len(), Figure::MOST_CURVES);
    }

    #[test]
    fn styles_in_order_begin_with_the_first() {
        let styles = Styles::in_order(["b", "a"]);
        assert_eq!([styles.get("b"), styles.get("a")], [style_number(0), style_number(1)]);
    }

    #[test]
    fn an_algorithm_keeps_its_style_next_to_others() {
        let colour = |names: &[&str], name| Styles::of(names.iter().copied()).get(name).colour;
        let alone = ["pex", "suh-shin", "bruck"].map(|name| colour(&[name], name));
        assert_eq!(
            ["pex", "suh-shin", "bruck"].map(|name| colour(&["pex", "suh-shin", "bruck"], name)),
            alone
        );
        assert_eq!(
            HashSet::from(alone.map(|c| (c.0, c.1, c.2))).len(),
            3,
            "their letters give them looks of their own"
        );
    }
}
