//! How curves are told apart: by marker and by dashes first, so that a grey print says as much, by
//! colour too. An algorithm looks the same in all figures of a report, and wherever else no other
//! takes its place.

use crate::marks::scene::Colour;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Marker {
    /// Filled.
    Circle,
    /// Filled.
    Square,
    /// Filled, on its base.
    Triangle,
    /// Filled.
    Diamond,
    /// Filled, on its tip.
    TriangleDown,
    /// Two strokes.
    Cross,
    /// Filled, five tips.
    Star,
    /// Two strokes.
    Plus,
}

/// The look of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// Its colour. Those of Okabe and Ito, which differ for colour-blind eyes too, but for yellow,
    /// which is too light for a line.
    pub colour: Colour,
    /// Its dashes; none for a solid line.
    pub dashes: &'static [f64],
    pub marker: Marker,
}

const LOOKS: usize = 8;
const COLOURS: [Colour; LOOKS] = [
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
const MARKERS: [Marker; LOOKS] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::TriangleDown,
    Marker::Cross,
    Marker::Star,
    Marker::Plus,
];

/// The look with this number.
fn look(index: usize) -> Style {
    // The first eight differ in their markers; those after them have the same markers with other
    // dashes and colours.
    Style {
        colour: COLOURS[(index + index / LOOKS) % LOOKS],
        dashes: DASHES[index % DASHES.len()],
        marker: MARKERS[index % LOOKS],
    }
}

/// The looks of names that are shown together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Styles(BTreeMap<String, usize>);

impl Styles {
    /// Of names: each has the look that its letters give it, unless one that comes before it in the
    /// alphabet took it; then it has the next free one.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let names: std::collections::BTreeSet<&str> = names.into_iter().collect();
        let mut taken = BTreeMap::new();
        for (number, name) in names.into_iter().enumerate() {
            // Eight looks to a round; the next round begins once all of one are taken.
            let (round, own) = (number / LOOKS * LOOKS, digest(name) % LOOKS);
            let is_free = |index: &usize| !taken.values().any(|other| other == index);
            let index = (0..LOOKS)
                .map(|step| round + (own + step) % LOOKS)
                .find(is_free)
                .unwrap_or(round + own);
            taken.insert(name.to_owned(), index);
        }
        Self(taken)
    }

    /// The look of a name, which is one of them.
    pub fn get(&self, name: &str) -> Style {
        look(self.0.get(name).copied().unwrap_or_default())
    }
}

/// A number for a name, the same on every platform and in every version (FNV-1a).
fn digest(name: &str) -> usize {
    let hash = name
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    // These bits give the usual rivals looks of their own.
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
