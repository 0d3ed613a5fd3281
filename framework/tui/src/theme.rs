//! Colours by what they mean, and what is drawn where there are none.

use ratatui::style::{Color, Modifier, Style};
use std::env;

/// Levels of a heat map, from nothing to the most.
pub(crate) const LEVELS: usize = 6;

/// Colours by what they mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Theme {
    /// What users call it.
    pub(crate) name: &'static str,
    pub(crate) text: Style,
    /// What is less important.
    pub(crate) dim: Style,
    pub(crate) accent: Style,
    pub(crate) good: Style,
    pub(crate) warn: Style,
    pub(crate) bad: Style,
    /// The line under the cursor.
    pub(crate) cursor: Style,
    /// The line under the cursor of a panel that hasn't the keys.
    pub(crate) faint_cursor: Style,
    /// A curve, a bar, an algorithm each.
    pub(crate) series: [Color; 8],
    /// The parts of time.
    pub(crate) parts: [Color; 7],
    /// A heat map's levels.
    pub(crate) heat: [Color; LEVELS],
    /// Whether colours tell things apart; if not, shapes do.
    pub(crate) coloured: bool,
}

const fn fg(color: Color) -> Style {
    Style::new().fg(color)
}

const PLAIN: Style = Style::new();

/// The 16 colours of every terminal, on whatever background it has.
const DEFAULT: Theme = Theme {
    name: "default",
    text: PLAIN,
    dim: fg(Color::DarkGray),
    accent: fg(Color::Cyan).add_modifier(Modifier::BOLD),
    good: fg(Color::Green),
    warn: fg(Color::Yellow),
    bad: fg(Color::LightRed),
    cursor: Style::new().fg(Color::Black).bg(Color::Cyan),
    faint_cursor: fg(Color::Cyan),
    series: [
        Color::Cyan,
        Color::Yellow,
        Color::LightMagenta,
        Color::Green,
        Color::LightRed,
        Color::LightBlue,
        Color::Gray,
        Color::LightYellow,
    ],
    parts: [
        Color::Blue,
        Color::Green,
        Color::Cyan,
        Color::Yellow,
        Color::Magenta,
        Color::Red,
        Color::Gray,
    ],
    heat: [Color::DarkGray, Color::Blue, Color::Cyan, Color::Green, Color::Yellow, Color::LightRed],
    coloured: true,
};

/// The 16 colours, those that can be read on white.
const LIGHT: Theme = Theme {
    name: "light",
    dim: fg(Color::Gray).add_modifier(Modifier::DIM),
    accent: fg(Color::Blue).add_modifier(Modifier::BOLD),
    warn: fg(Color::Magenta),
    bad: fg(Color::Red),
    cursor: Style::new().fg(Color::White).bg(Color::Blue),
    faint_cursor: fg(Color::Blue),
    series: [
        Color::Blue,
        Color::Red,
        Color::Magenta,
        Color::Green,
        Color::DarkGray,
        Color::Cyan,
        Color::Black,
        Color::LightRed,
    ],
    heat: [Color::Gray, Color::Cyan, Color::Blue, Color::Green, Color::Magenta, Color::Red],
    ..DEFAULT
};

/// Shades of one's own, for terminals of 16 million colours.
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
        Color::Rgb(102, 194, 255),
        Color::Rgb(255, 183, 77),
        Color::Rgb(186, 104, 200),
        Color::Rgb(129, 199, 132),
        Color::Rgb(229, 115, 115),
        Color::Rgb(240, 240, 240),
        Color::Rgb(255, 241, 118),
        Color::Rgb(161, 136, 127),
    ],
    parts: [
        Color::Rgb(92, 107, 192),
        Color::Rgb(102, 187, 106),
        Color::Rgb(38, 198, 218),
        Color::Rgb(255, 202, 40),
        Color::Rgb(171, 71, 188),
        Color::Rgb(239, 83, 80),
        Color::Rgb(189, 189, 189),
    ],
    // Inferno's way from black to yellow, in six steps.
    heat: [
        Color::Rgb(58, 60, 74),
        Color::Rgb(87, 16, 110),
        Color::Rgb(158, 42, 99),
        Color::Rgb(216, 79, 60),
        Color::Rgb(248, 149, 34),
        Color::Rgb(252, 255, 164),
    ],
    ..DEFAULT
};

/// No colours: weight and reverse tell what colours told.
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
    /// The names of all themes.
    pub fn names() -> impl Iterator<Item = &'static str> {
        THEMES.iter().map(|theme| theme.name)
    }

    /// The theme of that name.
    pub fn named(name: &str) -> Option<Self> {
        THEMES.into_iter().find(|theme| theme.name == name)
    }

    /// The theme for this terminal: without colours where `NO_COLOR` says so or the terminal has
    /// none.
    pub fn of_environment() -> Self {
        let no_color = env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let dumb = env::var("TERM")
            .is_ok_and(|term| term == "dumb" || term.ends_with("-m") || term == "vt100");
        if no_color || dumb { MONO } else { DEFAULT }
    }

    /// Whether it has any.
    pub fn has_colours(&self) -> bool {
        self.name != MONO.name
    }

    /// The next theme; where there are no colours, there is no other.
    #[must_use]
    pub(crate) fn next(&self) -> Self {
        let at = THEMES.iter().position(|theme| theme.name == self.name).unwrap_or(0);
        THEMES[(at + 1) % THEMES.len()]
    }

    /// The mark of a series, which colour and shape tell from others.
    pub(crate) fn series(&self, index: usize) -> Style {
        fg(self.series[index % self.series.len()])
    }

    /// How a part of time is filled in; waiting for a peer, beyond the parts, is hardly anything.
    pub(crate) fn part(&self, part: usize) -> (char, Style) {
        if part == self.parts.len() {
            return (SHADES[0], self.dim);
        }
        (
            if self.coloured { '█' } else { FILLINGS[part % FILLINGS.len()] },
            fg(self.parts[part % self.parts.len()]),
        )
    }

    /// How a level of heat is drawn.
    pub(crate) fn heat(&self, level: usize) -> Style {
        fg(self.heat[level.min(LEVELS - 1)])
    }
}

pub(crate) const MARKS: [char; 8] = ['●', '■', '▲', '◆', '○', '□', '△', '◇'];
/// Fillings of the parts, where colours don't tell them apart.
const FILLINGS: [char; 7] = ['█', '░', '=', '▓', '▒', 'x', 'o'];
/// Shades of heat, where colours don't tell them.
pub(crate) const SHADES: [char; LEVELS] = ['·', '-', '░', '▒', '▓', '█'];

/// The level of a value between 0 and the most; only nothing is level 0, only the most is the last.
pub(crate) fn level(value: u64, most: u64) -> usize {
    if value == 0 || most == 0 {
        return 0;
    }
    let scaled = u128::from(value) * (LEVELS as u128 - 1);
    (scaled.div_ceil(u128::from(most)) as usize).clamp(1, LEVELS - 1)
}

/// The same where 1 is what everything should be: it is level 1, whatever the most.
pub(crate) fn level_above_one(value: u64, most: u64) -> usize {
    if value < 2 || most < 2 {
        return value.min(1) as usize;
    }
    let scaled = u128::from(value - 1) * (LEVELS as u128 - 2);
    1 + (scaled.div_ceil(u128::from(most - 1)) as usize).clamp(1, LEVELS - 2)
}

/// Whether this terminal's texts are not UTF-8.
pub fn is_ascii_terminal() -> bool {
    let set = |name| env::var(name).ok().filter(|v| !v.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
    // Without any locale it is "C", whose texts are ASCII.
    !locale.is_some_and(|l| l.to_ascii_lowercase().replace('-', "").contains("utf8"))
}

/// What stands for a character where there is only ASCII.
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
        '●' | '✓' => "*",
        '◆' => "&",
        '△' => "A",
        '○' => "o",
        '◇' => "$",
        '■' => "@",
        '□' => "O",
        '✕' | '×' => "x",
        '±' => "+",
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

    #[test]
    fn only_nothing_is_cold_and_only_the_most_is_hottest() {
        assert_eq!([0, 1, 20, 21, 99, 100].map(|v| level(v, 100)), [0, 1, 1, 2, 5, 5]);
        assert_eq!(level(1, u64::MAX), 1);
        assert_eq!(level(u64::MAX, u64::MAX), LEVELS - 1);
        assert_eq!(level(0, 0), 0);
    }

    #[test]
    fn one_is_calm_however_few_the_most_are() {
        assert_eq!([0, 1].map(|v| level_above_one(v, 1)), [0, 1]);
        assert_eq!([0, 1, 2, 8].map(|v| level_above_one(v, 8)), [0, 1, 2, LEVELS - 1]);
        assert_eq!(level_above_one(u64::MAX, u64::MAX), LEVELS - 1);
    }

    #[test]
    fn every_mark_has_one_in_ascii_and_marks_stay_different() {
        // Crossovers and the figures' frame stand among the marks of curves.
        let on_curves = [&MARKS[..], &['✕', '│', '─', '┤']].concat();
        for marks in [&FILLINGS[..], &SHADES[..], &on_curves] {
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
