use std::fmt;
use std::str::FromStr;

/// Units of length, in pixels. A pixel is 1/96 inch.
const UNITS: [(&str, f64); 5] =
    [("mm", 96.0 / 25.4), ("cm", 960.0 / 25.4), ("in", 96.0), ("pt", 96.0 / 72.0), ("px", 1.0)];

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Length {
    count: f64,
    unit: &'static str,
    pixels: f64,
}

impl Length {
    pub fn pixels(self) -> f64 {
        self.count * self.pixels
    }

    pub(crate) fn of_pixels(self, pixels: f64) -> Self {
        Self { count: pixels / self.pixels, ..self }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", (self.count * 1000.0).round() / 1000.0, self.unit)
    }
}

impl FromStr for Length {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected =
            || "expected a length above 0 such as 84mm, 3.3in, 240pt or 640px".to_owned();
        let (unit, pixels) =
            UNITS.into_iter().find(|(unit, _)| text.ends_with(unit)).ok_or_else(expected)?;
        let count: f64 = text.trim_end_matches(unit).trim().parse().map_err(|_| expected())?;
        if count > 0.0 && count.is_finite() {
            Ok(Self { count, unit, pixels })
        } else {
            Err(expected())
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Paper {
    pub width: Option<Length>,
    /// The font size, by default 9 points.
    pub font: Option<Length>,
}

/// The minimum and the maximum width of a figure, in multiples of the font size. A narrower figure
/// has no room for axes, and in a wider figure, text is too small to read.
pub(super) const LETTERS: (f64, f64) = (16.0, 400.0);

impl Paper {
    const PANEL: f64 = 520.0;
    const FONT: f64 = 12.0;

    pub(crate) fn font(&self) -> f64 {
        self.font.map_or(Self::FONT, Length::pixels)
    }

    pub(crate) fn width(&self, panels: usize) -> f64 {
        let usual = Self::PANEL * if panels == 1 { 1.25 } else { 2.0 } * self.font() / Self::FONT;
        self.width.map_or(usual, Length::pixels)
    }

    /// Returns the panels per row: two if each is wide enough for the font size, otherwise one.
    pub(crate) fn columns(&self, panels: usize, width: f64) -> usize {
        if panels > 1 && width >= 52.0 * self.font() { 2 } else { 1 }
    }

    pub fn check(&self) -> Result<(), String> {
        let letters = self.width(2) / self.font();
        let (least, most) = LETTERS;
        if (least..=most).contains(&letters) {
            return Ok(());
        }
        Err(format!(
            "the width must be {least} to {most} times the font size, and is {letters:.1} times"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_units() {
        let pixels =
            |text: &str| text.parse::<Length>().map(|length| (length.pixels() * 1e6).round() / 1e6);
        assert_eq!(
            [pixels("72pt"), pixels("25.4mm"), pixels("1in"), pixels("2.54 cm"), pixels("96px")],
            [const { Ok(96.0) }; 5]
        );
        for wrong in ["84", "mm", "-3mm", "0pt", "1e999in", "84 km", ""] {
            assert!(pixels(wrong).is_err(), "{wrong}");
        }
        assert_eq!("84mm".parse::<Length>().unwrap().to_string(), "84mm");
    }

    #[test]
    fn a_narrow_figure_has_one_column_of_panels() {
        let columns = |width: &str, font: &str| {
            let paper = Paper { width: width.parse().ok(), font: font.parse().ok() };
            paper.columns(4, paper.width(4))
        };
        assert_eq!(
            [columns("84mm", "8pt"), columns("180mm", "8pt"), columns("180mm", "14pt")],
            [1, 2, 1]
        );
        assert!(Paper { width: "10mm".parse().ok(), font: None }.check().is_err());
    }
}
