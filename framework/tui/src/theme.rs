//! Colour themes. This module also contains replacements for terminals without colours or without
//! Unicode.

use crate::background::Background;
use ratatui::style::{Color, Modifier, Style};
use std::env;
use swapmeet_core::cost::kind::Kind;

/// The number of levels of a heat map. Level 0 stands for zero, and the last level for the maximum.
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
    /// The colours of the kinds of time, such as start-up or contention.
    pub(crate) parts: [Color; 7],
    pub(crate) heat: [Color; LEVELS],
    /// Whether algorithms are distinguished by colour. Otherwise, they are only distinguished by
    /// the shape of their marks.
    pub(crate) coloured: bool,
}

const fn fg(color: Color) -> Style {
    Style::new().fg(color)
}

const PLAIN: Style = Style::new();

/// A theme for dark backgrounds. It uses the standard colours of the terminal, and colours of the
/// 256-colour palette in place of standard colours that are too dark on black.
const DEFAULT: Theme = Theme {
    name: "default",
    text: PLAIN,
    dim: fg(Color::Indexed(245)),
    accent: fg(Color::Cyan).add_modifier(Modifier::BOLD),
    good: fg(Color::Green),
    warn: fg(Color::Yellow),
    bad: fg(Color::LightRed),
    cursor: Style::new().fg(Color::Black).bg(Color::Cyan),
    faint_cursor: fg(Color::Cyan),
    series: [
        Color::Indexed(32),
        Color::Indexed(202),
        Color::Indexed(36),
        Color::Indexed(175),
        Color::Indexed(117),
        Color::Indexed(214),
        Color::Indexed(198),
        Color::Indexed(137),
    ],
    parts: [
        Color::Indexed(75),
        Color::Green,
        Color::Cyan,
        Color::Yellow,
        Color::LightMagenta,
        Color::LightRed,
        Color::Gray,
    ],
    heat: [
        Color::Indexed(245),
        Color::Indexed(75),
        Color::Cyan,
        Color::Green,
        Color::Yellow,
        Color::LightRed,
    ],
    coloured: true,
};

/// A theme for light backgrounds. It uses the 256-colour palette, because few standard colours can
/// be read on white.
const LIGHT: Theme = Theme {
    name: "light",
    dim: fg(Color::Indexed(240)),
    accent: fg(Color::Indexed(25)).add_modifier(Modifier::BOLD),
    good: fg(Color::Indexed(28)),
    warn: fg(Color::Indexed(130)),
    bad: fg(Color::Indexed(160)),
    cursor: Style::new().fg(Color::Indexed(231)).bg(Color::Indexed(25)),
    faint_cursor: fg(Color::Indexed(25)),
    series: [
        Color::Indexed(25),
        Color::Indexed(160),
        Color::Indexed(29),
        Color::Indexed(162),
        Color::Indexed(27),
        Color::Indexed(130),
        Color::Indexed(89),
        Color::Indexed(52),
    ],
    parts: [
        Color::Indexed(26),
        Color::Indexed(28),
        Color::Indexed(23),
        Color::Indexed(130),
        Color::Indexed(127),
        Color::Indexed(160),
        Color::Indexed(242),
    ],
    heat: [
        Color::Indexed(243),
        Color::Indexed(26),
        Color::Indexed(23),
        Color::Indexed(28),
        Color::Indexed(127),
        Color::Indexed(160),
    ],
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
    series: [
        Color::Rgb(79, 156, 249),
        Color::Rgb(240, 118, 66),
        Color::Rgb(87, 190, 140),
        Color::Rgb(222, 140, 190),
        Color::Rgb(120, 214, 240),
        Color::Rgb(214, 182, 72),
        Color::Rgb(214, 62, 134),
        Color::Rgb(170, 118, 88),
    ],
    parts: [
        Color::Rgb(113, 128, 214),
        Color::Rgb(102, 187, 106),
        Color::Rgb(38, 198, 218),
        Color::Rgb(255, 202, 40),
        Color::Rgb(190, 96, 206),
        Color::Rgb(239, 83, 80),
        Color::Rgb(189, 189, 189),
    ],
    // The hues of the Inferno colour map, with dark colours made brighter so that they can be read.
    heat: [
        Color::Rgb(118, 122, 140),
        Color::Rgb(170, 98, 204),
        Color::Rgb(222, 82, 140),
        Color::Rgb(232, 98, 78),
        Color::Rgb(248, 149, 34),
        Color::Rgb(252, 255, 164),
    ],
    ..DEFAULT
};

/// A theme without colours. It uses bold and reverse text instead.
const MONO: Theme = Theme {
    name: "mono",
    dim: Style::new().add_modifier(Modifier::DIM),
    accent: Style::new().add_modifier(Modifier::BOLD),
    good: PLAIN,
    warn: PLAIN,
    bad: Style::new().add_modifier(Modifier::BOLD),
    cursor: Style::new().add_modifier(Modifier::REVERSED),
    faint_cursor: Style::new().add_modifier(Modifier::BOLD),
    series: [Color::Reset; 8],
    parts: [Color::Reset; 7],
    heat: [Color::Reset; LEVELS],
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

    /// Returns the default theme for this terminal. The theme has no colours if `NO_COLOR` is set
    /// or if the terminal does not support colours.
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
        // Each further group of eight algorithms uses the same colours, shifted by one, as in saved
        // figures.
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

/// In themes without colours, the marks of the kinds of time.
const FILLINGS: [char; 7] = ['█', '░', '=', '▓', '▒', 'x', 'o'];
/// In themes without colours, the marks of the levels of a heat map.
pub(crate) const SHADES: [char; LEVELS] = ['·', '-', '░', '▒', '▓', '█'];

/// Returns the level of `value` in a heat map, where `most` is the maximum. Level 0 is only for the
/// value 0. The other levels divide the range up to `most` into equal intervals.
pub(crate) fn level(value: u64, most: u64) -> usize {
    if value == 0 || most == 0 {
        return 0;
    }
    let scaled = u128::from(value) * (LEVELS as u128 - 1);
    (scaled.div_ceil(u128::from(most)) as usize).clamp(1, LEVELS - 1)
}

/// Returns the level of `value` in a heat map, where `most` is the maximum. In contrast to
/// [`level`], the value 1 always has level 1.
pub(crate) fn level_above_one(value: u64, most: u64) -> usize {
    if value < 2 || most < 2 {
        return value.min(1) as usize;
    }
    let scaled = u128::from(value - 1) * (LEVELS as u128 - 2);
    1 + (scaled.div_ceil(u128::from(most - 1)) as usize).clamp(1, LEVELS - 2)
}

/// Returns whether the terminal's locale is not UTF-8.
pub fn is_ascii_terminal() -> bool {
    let set = |name| env::var(name).ok().filter(|v| !v.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    // If no locale is set, the locale is "C", which is ASCII.
    !locale.is_some_and(|l| l.to_ascii_lowercase().replace('-', "").contains("utf8"))
}

/// Returns the ASCII replacement of a character; `None` if the character is ASCII.
pub(crate) fn ascii(symbol: &str) -> Option<&'static str> {
    if symbol.is_ascii() {
        return None;
    }
    Some(match symbol.chars().next().unwrap_or(' ') {
        '─' | '━' | '╌' | '–' | '—' => "-",
        '│' | '┃' | '╎' => "|",
        '┌' | '┐' | '└' | '┘' | '├' | '┤' | '┬' | '┴' | '┼' | '╭' | '╮' | '╰' | '╯' => {
            "+"
        }
        '╱' => "/",
        '▸' | '▶' | '→' | '›' => ">",
        '◂' | '◀' | '←' | '‹' => "<",
        '▴' | '▲' | '↑' => "^",
        '▾' | '▼' | '↓' => "v",
        '█' => "#",
        '▓' => "%",
        '▒' => "+",
        '░' => ":",
        '·' => ".",
        '…' => "~",
        '●' | '✓' | '•' => "*",
        '◆' => "&",
        '△' => "A",
        '○' => "o",
        '◇' => "$",
        '■' => "@",
        '□' => "O",
        '✖' => "X",
        '★' => "w",
        '✚' => "H",
        '▽' => "u",
        '☆' => "z",
        '✕' | '×' => "x",
        '±' => "+",
        '†' => "!",
        'µ' => "u",
        '▁' | '▂' => "_",
        '▀' => "'",
        '▃' | '▄' => "-",
        '▅'..='▇' => "=",
        '\u{2800}' => " ",
        '\u{2801}'..='\u{28ff}' => ".",
        _ => "?",
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
    /// distance is that in red, green and blue, of which a person with normal vision can tell about
    /// 40 apart on a terminal.
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
