//! Colour themes, and replacements for terminals without colours or without Unicode.

use crate::background::Background;
use ratatui::style::Color::{
    self, Cyan, Gray, Green, Indexed, LightMagenta, LightRed, Reset, Yellow,
};
use ratatui::style::{Modifier, Style};
use std::env;
use swapmeet_core::cost::kind::Kind;

/// The levels of a heat map, from zero to the maximum.
pub(crate) const LEVELS: usize = 6;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Theme {
    pub(crate) name: &'static str,
    pub(crate) text: Style,
    pub(crate) dim: Style,
    pub(crate) accent: Style,
    pub(crate) good: Style,
    pub(crate) warn: Style,
    pub(crate) bad: Style,
    pub(crate) cursor: Style,
    pub(crate) faint_cursor: Style,
    /// The colours of algorithms in curves and maps. They have the hues of saved figures
    /// (`swapmeet_plot::style`), with a contrast to the background that saved figures need not have.
    pub(crate) series: [Color; 8],
    /// The colours of the kinds of time.
    pub(crate) parts: [Color; 7],
    pub(crate) heat: [Color; LEVELS],
    /// Whether algorithms have colours, or only marks.
    pub(crate) coloured: bool,
}

const fn fg(color: Color) -> Style {
    Style::new().fg(color)
}

const PLAIN: Style = Style::new();
const BLUE: Color = Indexed(75);

/// Returns colours of the 256-colour palette or, if the numbers are larger, of 24 bits (`0xrrggbb`).
/// 0 is the default colour.
const fn colours<const N: usize>(numbers: [u32; N]) -> [Color; N] {
    let mut colours = [Reset; N];
    let mut at = 0;
    while at < N {
        colours[at] = match numbers[at] {
            0 => Reset,
            number @ 1..=255 => Indexed(number as u8),
            number => Color::from_u32(number),
        };
        at += 1;
    }
    colours
}

/// A theme for dark backgrounds. Colours of the 256-colour palette replace standard ones that are
/// too dark on black.
const DEFAULT: Theme = Theme {
    name: "default",
    text: PLAIN,
    dim: fg(Indexed(245)),
    accent: fg(Cyan).add_modifier(Modifier::BOLD),
    good: fg(Green),
    warn: fg(Yellow),
    bad: fg(LightRed),
    cursor: Style::new().fg(Color::Black).bg(Cyan),
    faint_cursor: fg(Cyan),
    series: colours([32, 202, 36, 175, 117, 214, 198, 137]),
    parts: [BLUE, Green, Cyan, Yellow, LightMagenta, LightRed, Gray],
    heat: [Indexed(245), BLUE, Cyan, Green, Yellow, LightRed],
    coloured: true,
};

/// A theme for light backgrounds, on which few standard colours can be read.
const LIGHT: Theme = Theme {
    name: "light",
    dim: fg(Indexed(240)),
    accent: fg(Indexed(25)).add_modifier(Modifier::BOLD),
    good: fg(Indexed(28)),
    warn: fg(Indexed(130)),
    bad: fg(Indexed(160)),
    cursor: Style::new().fg(Indexed(231)).bg(Indexed(25)),
    faint_cursor: fg(Indexed(25)),
    series: colours([25, 160, 29, 162, 27, 130, 89, 52]),
    parts: colours([26, 28, 23, 130, 127, 160, 242]),
    heat: colours([243, 26, 23, 28, 127, 160]),
    ..DEFAULT
};

const RICH: Theme = Theme {
    name: "rich",
    text: fg(Color::Rgb(216, 222, 233)),
    dim: fg(Color::Rgb(110, 120, 138)),
    accent: fg(Color::Rgb(136, 192, 208)).add_modifier(Modifier::BOLD),
    good: fg(Color::Rgb(163, 190, 140)),
    warn: fg(Color::Rgb(235, 203, 139)),
    bad: fg(Color::Rgb(224, 108, 117)),
    cursor: Style::new().fg(Color::Rgb(30, 36, 48)).bg(Color::Rgb(136, 192, 208)),
    faint_cursor: fg(Color::Rgb(136, 192, 208)),
    series: colours([
        0x4f9cf9, 0xf07642, 0x57be8c, 0xde8cbe, 0x78d6f0, 0xd6b648, 0xd63e86, 0xaa7658,
    ]),
    parts: colours([0x7180d6, 0x66bb6a, 0x26c6da, 0xffca28, 0xbe60ce, 0xef5350, 0xbdbdbd]),
    // The Inferno colour map with brighter dark colours.
    heat: colours([0x767a8c, 0xaa62cc, 0xde528c, 0xe8624e, 0xf89522, 0xfcffa4]),
    ..DEFAULT
};

/// A theme without colours.
const MONO: Theme = Theme {
    name: "mono",
    dim: Style::new().add_modifier(Modifier::DIM),
    accent: Style::new().add_modifier(Modifier::BOLD),
    good: PLAIN,
    warn: PLAIN,
    bad: Style::new().add_modifier(Modifier::BOLD),
    cursor: Style::new().add_modifier(Modifier::REVERSED),
    faint_cursor: Style::new().add_modifier(Modifier::BOLD),
    series: [Reset; 8],
    parts: [Reset; 7],
    heat: [Reset; LEVELS],
    coloured: false,
    ..DEFAULT
};

const THEMES: [Theme; 4] = [DEFAULT, LIGHT, RICH, MONO];

impl Theme {
    pub fn names() -> impl Iterator<Item = &'static str> {
        THEMES.iter().map(|theme| theme.name)
    }

    pub fn named(name: &str) -> Option<Self> {
        THEMES.into_iter().find(|theme| theme.name == name)
    }

    /// Returns the theme for this terminal: without colours if `NO_COLOR` is set or the terminal
    /// has none.
    pub fn of_environment() -> Self {
        let no_color = env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let dumb = env::var("TERM")
            .is_ok_and(|term| term == "dumb" || term.ends_with("-m") || term == "vt100");
        if no_color || dumb { MONO } else { DEFAULT }
    }

    #[must_use]
    pub fn on(self, background: Background) -> Self {
        match background {
            Background::Light if self.has_colours() => LIGHT,
            Background::Light | Background::Dark => self,
        }
    }

    pub fn has_colours(&self) -> bool {
        self.name != MONO.name
    }

    #[must_use]
    pub(crate) fn next(&self) -> Self {
        let at = THEMES.iter().position(|theme| theme.name == self.name).unwrap_or(0);
        THEMES[(at + 1) % THEMES.len()]
    }

    pub(crate) fn series(&self, number: usize) -> Style {
        // As in saved figures, each further eight algorithms have the colours shifted by one.
        fg(self.series[(number + number / self.series.len()) % self.series.len()])
    }

    pub(crate) fn part(&self, kind: Kind) -> (char, Style) {
        if kind == Kind::Peer {
            return (SHADES[0], self.dim);
        }
        let part = kind as usize;
        (
            if self.coloured { '█' } else { FILLINGS[part % FILLINGS.len()] },
            fg(self.parts[part % self.parts.len()]),
        )
    }

    pub(crate) fn heat(&self, level: usize) -> Style {
        fg(self.heat[level.min(LEVELS - 1)])
    }
}

/// The marks of the kinds of time without colours.
const FILLINGS: [char; 7] = ['█', '░', '=', '▓', '▒', 'x', 'o'];
/// The marks of the levels of a heat map without colours.
pub(crate) const SHADES: [char; LEVELS] = ['·', '-', '░', '▒', '▓', '█'];

/// Returns the level of a value in a heat map up to `most`. Only 0 has level 0; the other levels
/// are equal intervals.
pub(crate) fn level(value: u64, most: u64) -> usize {
    if value == 0 || most == 0 {
        return 0;
    }
    let scaled = u128::from(value) * (LEVELS as u128 - 1);
    (scaled.div_ceil(u128::from(most)) as usize).clamp(1, LEVELS - 1)
}

/// Returns the level of a value in a heat map up to `most`, where 1 always has level 1.
pub(crate) fn level_above_one(value: u64, most: u64) -> usize {
    if value < 2 || most < 2 {
        return value.min(1) as usize;
    }
    let scaled = u128::from(value - 1) * (LEVELS as u128 - 2);
    1 + (scaled.div_ceil(u128::from(most - 1)) as usize).clamp(1, LEVELS - 2)
}

pub fn is_ascii_terminal() -> bool {
    let set = |name| env::var(name).ok().filter(|v| !v.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    !locale.is_some_and(|l| l.to_ascii_lowercase().replace('-', "").contains("utf8"))
}

/// The characters of panels, and those that replace them at the same places.
const DRAWN: &str = "─━╌–—▃▄│┃╎┌┐└┘├┤┬┴┼╭╮╰╯▒±╱▸▶→›◂◀←‹▴▲↑▾▼↓█▓░·…●✓•◆△○◇■□✖★✚▽µ☆✕×†▁▂▀▅▆▇\u{2800}";
const REPLACED: &str = "-------|||+++++++++++++++/>>>><<<<^^^vvv#%:.~***&Ao$@OXwHuuzxx!__'=== ";

pub(crate) fn ascii(symbol: &str) -> Option<&'static str> {
    let first = symbol.chars().next().filter(|_| !symbol.is_ascii())?;
    Some(match DRAWN.chars().position(|drawn| drawn == first) {
        Some(at) => &REPLACED[at..=at],
        None if ('\u{2801}'..='\u{28ff}').contains(&first) => ".",
        None => "?",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contrast::{contrast, ratio};
    use swapmeet_results::{STYLES, mark};

    #[test]
    fn contrasts_are_those_of_the_definition() {
        // Two examples of the Web Content Accessibility Guidelines 2: black, and the grey #767676.
        assert_eq!(ratio([0; 3], [255; 3]), 21.0);
        assert!((ratio([0x76; 3], [255; 3]) - 4.54).abs() < 0.005);
    }

    /// WCAG 2 requires a contrast ratio of 4.5 for text.
    #[test]
    fn every_style_can_be_read() {
        for theme in THEMES.iter().filter(|theme| theme.has_colours()) {
            // This pattern names every field, so that a new style does not compile until it is
            // added here.
            let Theme {
                name: _,
                text: plain,
                dim,
                accent,
                good,
                warn,
                bad,
                cursor,
                faint_cursor,
                series,
                parts,
                heat,
                coloured: _,
            } = *theme;
            let styles = [plain, dim, accent, good, warn, bad, cursor, faint_cursor];
            let marks = [&series[..], &parts, &heat].concat();
            for style in styles.into_iter().chain(marks.into_iter().map(fg)) {
                let (front, back) = (style.fg.unwrap_or_default(), style.bg.unwrap_or_default());
                let contrast = contrast(front, back, theme.name == "light");
                assert!(contrast >= 4.5, "{}: {contrast:.2} of {style:?}", theme.name);
                assert!(!style.add_modifier.contains(Modifier::DIM), "{}: {style:?}", theme.name);
            }
        }
    }

    /// The first eight algorithms differ in colour, and the first twelve in colour and mark. The
    /// distance of two colours is that of their red, green and blue values. On a terminal, a person
    /// with normal vision can tell two colours apart if their distance is about 40 or more.
    #[test]
    fn the_first_algorithms_can_be_told_apart() {
        for theme in THEMES.iter().filter(|theme| theme.has_colours()) {
            let back = if theme.name == "light" { [0; 3] } else { [229; 3] };
            let rgb = theme.series.map(|colour| crate::contrast::rgb(colour, back));
            for (i, one) in rgb.iter().enumerate() {
                for other in &rgb[..i] {
                    let distance: f64 =
                        one.iter().zip(other).map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum();
                    assert!(distance.sqrt() > 60.0, "{}: {one:?} {other:?}", theme.name);
                }
            }
        }
        for theme in THEMES {
            let looks: Vec<(char, Style)> = (0..12).map(|i| (mark(i), theme.series(i))).collect();
            assert!((0..12).all(|i| (0..i).all(|j| looks[i].0 != looks[j].0)), "{}", theme.name);
        }
    }

    #[test]
    fn heat_levels_reserve_the_ends_for_zero_and_maximum() {
        assert_eq!([0, 1, 20, 21, 99, 100].map(|v| level(v, 100)), [0, 1, 1, 2, 5, 5]);
        assert_eq!(level(1, u64::MAX), 1);
        assert_eq!(level(u64::MAX, u64::MAX), LEVELS - 1);
        assert_eq!(level(0, 0), 0);
    }

    #[test]
    fn a_value_of_one_has_level_one() {
        assert_eq!([0, 1].map(|v| level_above_one(v, 1)), [0, 1]);
        assert_eq!([0, 1, 2, 8].map(|v| level_above_one(v, 8)), [0, 1, 2, LEVELS - 1]);
        assert_eq!(level_above_one(u64::MAX, u64::MAX), LEVELS - 1);
    }

    #[test]
    fn ascii_replacements_of_marks_are_unique() {
        // The marks of curves, crossovers and axes are drawn in the same plot. Maps show marks next
        // to shades.
        let marks: Vec<char> = (0..STYLES).map(mark).collect();
        let on_curves = [&marks[..], &['✕', '│', '─', '┤']].concat();
        let in_maps = [&marks[..], &['░', '▒', '▓', '█', '╱']].concat();
        for marks in [&FILLINGS[..], &SHADES[..], &on_curves, &in_maps] {
            let mut folded: Vec<String> = marks
                .iter()
                .map(|c| ascii(&c.to_string()).map_or(c.to_string(), str::to_owned))
                .collect();
            folded.sort();
            folded.dedup();
            assert_eq!(folded.len(), marks.len());
            assert!(!folded.contains(&"?".to_owned()));
        }
    }
}
