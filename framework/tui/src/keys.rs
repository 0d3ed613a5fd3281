//! Every key is a named action in one table, [`BINDINGS`]: the key handling, the help overlay and the documentation are made of it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Everything a key can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Leave, once it is clear that nothing is lost.
    Quit,
    /// Leave at once.
    QuitNow,
    /// Leave, and print the results on the normal screen.
    QuitLeaving,
    /// Show or hide the keys.
    Help,
    /// Close what is open, step by step.
    Back,
    /// One up.
    Up,
    /// One down.
    Down,
    /// One to the left.
    Left,
    /// One to the right.
    Right,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first.
    First,
    /// To the last.
    Last,
    /// To the next panel.
    NextPanel,
    /// To the panel before.
    PreviousPanel,
    /// To a panel by its number, from 1.
    Show(u8),
    /// The panel alone on the screen, or all of them.
    Expand,
    /// Narrow down a list.
    Filter,
    /// Hold the picture still.
    Freeze,
    /// Run what is picked, from the start.
    Run,
    /// Run what is picked and not on screen yet.
    Add,
    /// Give up what runs, and begin no more cases.
    Stop,
    /// Compare the others with this algorithm.
    Baseline,
    /// Write experiment and rows to files.
    Save,
    /// The next theme.
    Theme,
    /// Draw everything anew.
    Redraw,
    /// Back to the shell for a while.
    Suspend,
    /// Look at a case closely.
    Open,
    /// Sort by the next column.
    Sort,
    /// Turn the order round.
    Reverse,
    /// Pick, or pick no longer.
    Pick,
    /// Change what the cursor is on.
    Edit,
    /// Type a spec.
    Type,
    /// Take out of the list.
    Remove,
    /// Turn the planes of three dimensions.
    Turn,
    /// The next way of looking at it.
    View,
    /// The group before.
    PreviousGroup,
    /// The next group.
    NextGroup,
    /// Play, or pause.
    Play,
    /// Faster.
    Faster,
    /// Slower.
    Slower,
    /// Walk the schedule, however long it takes.
    Record,
    /// Take what was typed.
    Accept,
    /// Leave the input as it was.
    Cancel,
    /// Complete the word.
    Complete,
}

/// Where a key has its meaning. A narrower place goes before [`Scope::Anywhere`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Everywhere but while typing.
    Anywhere,
    /// In the pickers.
    Explore,
    /// In the queue.
    Cases,
    /// In the comparison.
    Comparison,
    /// In the curves.
    Curves,
    /// In the bars.
    Parts,
    /// In the network.
    Network,
    /// While typing; every other key is text.
    Typing,
}

impl Scope {
    /// All, in the order in which help has them.
    pub const ALL: [Self; 8] = [
        Self::Anywhere,
        Self::Explore,
        Self::Cases,
        Self::Comparison,
        Self::Curves,
        Self::Parts,
        Self::Network,
        Self::Typing,
    ];

    /// What help calls it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Anywhere => "Anywhere",
            Self::Explore => "Explore",
            Self::Cases => "Cases",
            Self::Comparison => "Comparison",
            Self::Curves => "Curves",
            Self::Parts => "Parts",
            Self::Network => "Network",
            Self::Typing => "While typing",
        }
    }
}

/// A key with its modifiers. Shift is in the character itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    code: KeyCode,
    control: bool,
}

const fn ch(c: char) -> Key {
    Key { code: KeyCode::Char(c), control: false }
}

const fn ctrl(c: char) -> Key {
    Key { code: KeyCode::Char(c), control: true }
}

const fn key(code: KeyCode) -> Key {
    Key { code, control: false }
}

impl Key {
    /// Whether an event is this key.
    fn is(self, event: &KeyEvent) -> bool {
        event.code == self.code && event.modifiers.contains(KeyModifiers::CONTROL) == self.control
    }

    /// As help writes it.
    pub fn name(self) -> String {
        let name = match self.code {
            KeyCode::Char(' ') => "Space".to_owned(),
            KeyCode::Char(c) if self.control => c.to_ascii_uppercase().to_string(),
            KeyCode::Char(c) => c.to_string(),
            KeyCode::Esc => "Esc".to_owned(),
            KeyCode::BackTab => "Shift-Tab".to_owned(),
            KeyCode::PageUp => "PgUp".to_owned(),
            KeyCode::PageDown => "PgDn".to_owned(),
            KeyCode::Delete => "Del".to_owned(),
            KeyCode::F(n) => format!("F{n}"),
            other => format!("{other:?}"),
        };
        if self.control { format!("Ctrl-{name}") } else { name }
    }
}

/// One row of the table.
#[derive(Debug)]
pub struct Binding {
    /// Where it holds.
    pub scope: Scope,
    /// What it does.
    pub action: Action,
    /// The keys that ask for it.
    pub keys: &'static [Key],
    /// A word for the line at the bottom; empty if it isn't to be there.
    pub hint: &'static str,
    /// A sentence for help.
    pub help: &'static str,
}

impl Binding {
    /// Its keys, as help writes them.
    pub fn keys_text(&self) -> String {
        self.keys.iter().map(|k| k.name()).collect::<Vec<_>>().join(" ")
    }
}

macro_rules! bindings {
    ($($scope:ident { $($action:expr, [$($key:expr),+], $hint:literal, $help:literal;)+ })+) => {
        &[$($(Binding { scope: Scope::$scope, action: $action, keys: &[$($key),+], hint: $hint, help: $help },)+)+]
    };
}

/// All keys.
pub static BINDINGS: &[Binding] = {
    use Action::*;
    use KeyCode as K;
    bindings! {
        Anywhere {
            Help, [ch('?'), key(K::F(1))], "help", "show these keys; any key closes them";
            Quit, [ch('q')], "quit", "leave; asks first while cases run: y or q again leaves";
            Run, [ch('R'), key(K::F(5))], "run", "run what is picked anew; asks first if that loses rows";
            Add, [ch('a')], "add", "run what is picked and has no row yet";
            Stop, [ch('x')], "stop", "give up what runs, which gets no row; begin nothing more";
            Baseline, [ch('b')], "", "compare with this algorithm; again: with the fastest";
            Save, [ch('S'), ctrl('s')], "save", "save what is picked as an experiment, rows as CSV beside it";
            Filter, [ch('/')], "filter", "show only lines with these words; Esc shows all";
            Expand, [ch('e')], "expand", "give the panel the whole screen, or share it again";
            Freeze, [ch(' '), ch('f')], "", "hold the picture still; runs go on, rows are kept";
            NextPanel, [key(K::Tab)], "next panel", "to the next panel";
            PreviousPanel, [key(K::BackTab)], "", "to the panel before";
            Show(1), [ch('1')], "panels", "Explore";
            Show(2), [ch('2')], "", "Cases";
            Show(3), [ch('3')], "", "Comparison";
            Show(4), [ch('4')], "", "Time against block size or nodes";
            Show(5), [ch('5')], "", "Where time goes";
            Show(6), [ch('6')], "", "The network";
            Show(7), [ch('7')], "", "Details of a case";
            Show(8), [ch('8')], "", "Log";
            Up, [key(K::Up), ch('k')], "", "one up";
            Down, [key(K::Down), ch('j')], "", "one down";
            Left, [key(K::Left), ch('h')], "", "one to the left";
            Right, [key(K::Right), ch('l')], "", "one to the right";
            PageUp, [key(K::PageUp), ctrl('b')], "", "a page up";
            PageDown, [key(K::PageDown), ctrl('f')], "", "a page down";
            First, [ch('g'), key(K::Home)], "", "to the first";
            Last, [ch('G'), key(K::End)], "", "to the last";
            Theme, [ch('t')], "", "the next theme";
            Redraw, [ctrl('l')], "", "draw everything anew";
            Suspend, [ctrl('z')], "", "back to the shell for a while (`fg` returns)";
            Back, [key(K::Esc)], "", "close what is open: input, filter, expanded panel";
            QuitLeaving, [ch('Q')], "", "leave, and print the results on the normal screen";
            QuitNow, [ctrl('c')], "", "leave at once; finished rows are on disk";
        }
        Explore {
            Pick, [ch(' ')], "pick", "pick what the cursor is on, or drop it";
            Edit, [key(K::Enter)], "edit", "change the spec under the cursor, or type one of its kind";
            Type, [ch('i')], "type", "type a spec";
            Remove, [ch('d'), key(K::Delete)], "", "take a spec out of the list";
            Left, [key(K::Left), ch('h')], "", "open the list before";
            Right, [key(K::Right), ch('l')], "lists", "open the next list";
        }
        Cases {
            Open, [key(K::Enter)], "details", "details of the case";
        }
        Comparison {
            Open, [key(K::Enter)], "details", "details of the row's case";
            Sort, [ch('s')], "sort", "sort by the next column";
            Reverse, [ch('r')], "reverse", "turn the order round";
            Left, [key(K::Left), ch('h')], "", "columns to the left";
            Right, [key(K::Right), ch('l')], "columns", "columns that had no room";
        }
        Curves {
            View, [ch('v')], "scale", "both axes logarithmic, only that of sizes or nodes, or neither";
            PreviousGroup, [ch('['), key(K::Left), ch('h')], "", "the curves before";
            NextGroup, [ch(']'), key(K::Right), ch('l')], "curves", "the next curves";
            Up, [key(K::Up), ch('k')], "", "crossovers that had no room, upwards";
            Down, [key(K::Down), ch('j')], "crossovers", "crossovers that had no room";
        }
        Parts {
            View, [ch('v')], "times/shares", "times, or shares of each algorithm's time";
            PreviousGroup, [ch('['), key(K::Left), ch('h')], "", "the cases of the group before";
            NextGroup, [ch(']'), key(K::Right), ch('l')], "group", "the cases of the next group";
        }
        Network {
            Play, [ch(' ')], "play", "play the schedule, or pause";
            Left, [key(K::Left), ch('h')], "", "a step back";
            Right, [key(K::Right), ch('l')], "step", "a step on";
            Up, [key(K::Up), ch('k')], "", "the case before";
            Down, [key(K::Down), ch('j')], "case", "the next case";
            View, [ch('v')], "what", "messages on links, bytes on links, bytes held by nodes";
            Faster, [ch('+'), ch('=')], "", "play faster";
            Slower, [ch('-')], "speed", "play slower";
            First, [ch('g'), key(K::Home)], "", "to the first step";
            Last, [ch('G'), key(K::End)], "", "to the last step";
            PreviousGroup, [ch('[')], "", "the plane before, in three dimensions";
            NextGroup, [ch(']')], "plane", "the next plane";
            Turn, [ch('p')], "turn", "turn the planes of three dimensions to another pair of them";
            Record, [key(K::Enter)], "", "walk a long schedule that isn't walked unasked";
        }
        Typing {
            Accept, [key(K::Enter)], "take", "take what was typed";
            Cancel, [key(K::Esc)], "cancel", "leave everything as it was";
            Complete, [key(K::Tab)], "complete", "complete the word";
            QuitNow, [ctrl('c')], "", "leave at once";
        }
    }
};

/// What a key asks for in a place, if anything.
pub fn action(scope: Scope, event: &KeyEvent) -> Option<Action> {
    let find = |scope| BINDINGS.iter().find(|b| b.scope == scope && b.keys.iter().any(|k| k.is(event)));
    let found = if scope == Scope::Typing { find(scope) } else { find(scope).or_else(|| find(Scope::Anywhere)) };
    found.map(|b| b.action)
}

/// The line at the bottom: the keys of a place, its own first, a word for each pair that belongs together, and what it does.
pub fn hints(scope: Scope) -> impl Iterator<Item = (String, &'static Binding)> {
    let of = move |wanted: Scope| BINDINGS.iter().filter(move |b| b.scope == wanted && !b.hint.is_empty());
    let own = of(scope).filter(move |_| scope != Scope::Anywhere);
    let anywhere = (scope != Scope::Typing).then_some(Scope::Anywhere);
    // A network has no lines to show only some of.
    let anywhere = anywhere.into_iter().flat_map(of);
    let mut anywhere: Vec<&Binding> =
        anywhere.filter(|b| scope != Scope::Network || b.action != Action::Filter).collect();
    // One who knows where to find the keys, the way out, and how to run and to get elsewhere, finds the rest.
    let first = |b: &&Binding| match b.action {
        Action::Help | Action::Quit => 0,
        Action::Run | Action::Add => 1,
        Action::Show(_) => 2,
        _ => 3,
    };
    anywhere.sort_by_key(first);
    own.chain(anywhere).map(|b| (hint_keys(b), b))
}

/// The keys of a word at the bottom: of two that go opposite ways, both.
fn hint_keys(binding: &Binding) -> String {
    match binding.action {
        Action::Right => "←→".to_owned(),
        Action::Down => "↑↓".to_owned(),
        Action::NextGroup => "[ ]".to_owned(),
        Action::Slower => "+-".to_owned(),
        Action::Show(_) => "1-8".to_owned(),
        _ => binding.keys.first().map(|k| k.name()).unwrap_or_default(),
    }
}

/// The table as documentation has it.
pub fn markdown() -> String {
    let mut text = String::new();
    for scope in Scope::ALL {
        text += &format!("| {} | |\n| --- | --- |\n", scope.title());
        for binding in BINDINGS.iter().filter(|b| b.scope == scope) {
            let keys: Vec<String> = binding.keys.iter().map(|k| format!("`{}`", k.name())).collect();
            text += &format!("| {} | {} |\n", keys.join(" "), binding.help);
        }
        text.push('\n');
    }
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things_in_one_place() {
        for scope in Scope::ALL {
            let keys: Vec<&Key> = BINDINGS.iter().filter(|b| b.scope == scope).flat_map(|b| b.keys).collect();
            for (i, key) in keys.iter().enumerate() {
                assert!(!keys[..i].contains(key), "{} twice in {scope:?}", key.name());
            }
        }
    }

    #[test]
    fn a_narrower_place_goes_first() {
        let space = KeyEvent::new(KeyCode::Char(' '), KeyModifiers::NONE);
        assert_eq!(action(Scope::Explore, &space), Some(Action::Pick));
        assert_eq!(action(Scope::Network, &space), Some(Action::Play));
        assert_eq!(action(Scope::Cases, &space), Some(Action::Freeze));
        assert_eq!(action(Scope::Typing, &space), None, "text");
    }

    #[test]
    fn the_documentation_has_this_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/dashboard.md");
        let text = std::fs::read_to_string(path).unwrap();
        assert!(text.contains(&markdown()), "docs/dashboard.md should have:\n\n{}\n", markdown());
    }

    #[test]
    fn letters_with_control_are_other_keys() {
        let event = |modifiers| KeyEvent::new(KeyCode::Char('c'), modifiers);
        assert_eq!(action(Scope::Anywhere, &event(KeyModifiers::CONTROL)), Some(Action::QuitNow));
        assert_eq!(action(Scope::Anywhere, &event(KeyModifiers::NONE)), None);
    }
}
