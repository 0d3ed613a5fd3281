//! The parts of the screen.

/// A part of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Panel {
    /// What to run.
    Explore,
    /// The queue.
    Cases,
    /// Who is faster.
    Comparison,
    /// Time against block size or nodes.
    Curves,
    /// The six parts of time.
    Parts,
    /// A schedule as it happens.
    Network,
    /// All about one case.
    Details,
    /// What plugins and the program had to say.
    Log,
}

impl Panel {
    /// All, by their numbers.
    pub const ALL: [Self; 8] = [
        Self::Explore,
        Self::Cases,
        Self::Comparison,
        Self::Curves,
        Self::Parts,
        Self::Network,
        Self::Details,
        Self::Log,
    ];

    /// Its name on the tab.
    pub fn tab(self) -> &'static str {
        match self {
            Self::Explore => "Explore",
            Self::Cases => "Cases",
            Self::Comparison => "Compare",
            Self::Curves => "Curves",
            Self::Parts => "Parts",
            Self::Network => "Network",
            Self::Details => "Details",
            Self::Log => "Log",
        }
    }

    /// Its number, from 1.
    pub fn number(self) -> u8 {
        self as u8 + 1
    }
}
