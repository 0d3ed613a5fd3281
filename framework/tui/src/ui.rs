//! What is shown and where the cursors are: all of the session that is of no consequence to its rows.

use crate::model::comparison::Column;
pub use crate::panel::Panel;
use crate::theme::Theme;
use crate::typed::Typing;
use std::time::Duration;

/// How curves are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Both axes logarithmic.
    LogLog,
    /// Only x.
    LogX,
    /// Neither.
    Linear,
}

/// What the network panel shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// Messages on links.
    Messages,
    /// Bytes on links.
    Bytes,
    /// Bytes held by nodes.
    Held,
}

/// Playing a schedule.
#[derive(Debug, Clone, Copy)]
pub struct Player {
    /// The step shown, from 0.
    pub step: usize,
    /// Whether it moves on.
    pub plays: bool,
    /// Steps a second.
    pub speed: f64,
    /// What is shown.
    pub shown: Shown,
    /// Which plane of three dimensions.
    pub plane: usize,
    /// How often planes were turned: along which of three dimensions they are counted.
    pub turned: usize,
    /// When the step was shown first.
    pub since: Duration,
}

/// What is asked before something is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Question {
    /// Whether cases may be left unrun.
    Quit,
    /// The same, with the rows there are left on the normal screen.
    QuitLeaving,
    /// Whether rows that are in no file may go.
    Run,
}

/// What is shown, and where the cursors are.
pub struct Ui {
    /// The panel that has the keys.
    pub panel: Panel,
    /// Whether it has the whole screen.
    pub expanded: bool,
    /// What shares the screen with pickers, queue and comparison.
    pub companion: Panel,
    /// The open list of the pickers.
    pub section: usize,
    /// The cursor in each list of the pickers.
    pub items: [usize; 5],
    /// The cursors of panels, by number.
    pub cursors: [usize; 8],
    /// The filters of panels, by number.
    pub filters: [String; 8],
    /// What the comparison is sorted by; `None` for groups, fastest first.
    pub sort: Option<Column>,
    /// The other way round.
    pub reverse: bool,
    /// How many columns of figures are skipped where not all have room.
    pub across: usize,
    /// Which family of curves.
    pub family: usize,
    /// Which group of bars.
    pub group: usize,
    /// How curves are drawn.
    pub scale: Scale,
    /// Whether bars are shares.
    pub shares: bool,
    /// The schedule.
    pub player: Player,
    /// What is being typed.
    pub typing: Option<Typing>,
    /// Whether the keys are shown, scrolled by so many lines.
    pub help: Option<usize>,
    /// What is asked before something is lost.
    pub asked: Option<Question>,
    /// Whether the picture is held still.
    pub frozen: bool,
    /// The last thing to be told, and whether it is bad.
    pub message: Option<(String, bool)>,
    /// Colours.
    pub theme: Theme,
    /// Whether only ASCII is drawn.
    pub ascii: bool,
    /// Lines of the panel that has the keys, as last drawn.
    pub page: usize,
}

impl Ui {
    /// As a session begins.
    pub fn new(theme: Theme, ascii: bool) -> Self {
        Self {
            panel: Panel::Explore,
            expanded: false,
            companion: Panel::Parts,
            section: 0,
            items: [0; 5],
            cursors: [0; 8],
            filters: Default::default(),
            sort: None,
            reverse: false,
            across: 0,
            family: 0,
            group: 0,
            scale: Scale::LogLog,
            shares: false,
            player: Player {
                step: 0,
                plays: false,
                speed: 2.0,
                shown: Shown::Messages,
                plane: 0,
                turned: 0,
                since: Duration::ZERO,
            },
            typing: None,
            help: None,
            asked: None,
            frozen: false,
            message: None,
            theme,
            ascii,
            page: 10,
        }
    }
}
