//! Scripts: keys and clicks with their times, which `--record` writes and `--replay` repeats, and
//! texts that the screen must or must not show. A line has an optional time in seconds, a word and
//! the rest, such as `1.25 key Down`, `click 12 5` (column and row from 0) or `expect 42 cases`.

use crate::keys::Key;
use crossterm::event::{
    Event, KeyEventKind, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A key, a click, a movement of the wheel, or a pasted text.
    Input(Event),
    /// Wait until the screen shows this text.
    Expect(String),
    /// The screen must not show this text.
    Absent(String),
}

const MOUSE: [(&str, MouseEventKind); 3] = [
    ("click", MouseEventKind::Down(MouseButton::Left)),
    ("wheel-up", MouseEventKind::ScrollUp),
    ("wheel-down", MouseEventKind::ScrollDown),
];

/// The steps of a script.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script(Vec<Timed>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Timed {
    at: Duration,
    line: usize,
    step: Step,
}

impl Script {
    /// Parses a script, whose comments start with `#`. The error names the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut all = Vec::new();
        let mut at = Duration::ZERO;
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim_end();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
            let seconds = first.parse().ok().and_then(|s| Duration::try_from_secs_f64(s).ok());
            let (word, rest) = match seconds {
                Some(time) => {
                    at = at.max(time);
                    rest.split_once(' ').unwrap_or((rest, ""))
                }
                None => (first, rest),
            };
            let key = |name: &str| {
                let key = Key::parse(name).ok_or_else(|| {
                    format!("line {number}: `{name}` is no key: expected a name as in the help (?)")
                })?;
                Ok::<_, String>(Step::Input(Event::Key(key.event())))
            };
            let mouse = |kind: MouseEventKind| {
                let place = rest.split_once(' ').and_then(|(column, row)| {
                    Some((column.parse::<u16>().ok()?, row.parse::<u16>().ok()?))
                });
                let (column, row) = place.ok_or_else(|| {
                    format!("line {number}: expected a column and a row, found `{rest}`")
                })?;
                let event = MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE };
                Ok::<_, String>(Step::Input(Event::Mouse(event)))
            };
            let steps = match word {
                "key" => vec![key(rest)?],
                "type" => {
                    let name = |c: char| if c == ' ' { "Space".to_owned() } else { c.to_string() };
                    rest.chars().map(|c| key(&name(c))).collect::<Result<_, _>>()?
                }
                "paste" => vec![Step::Input(Event::Paste(rest.to_owned()))],
                "expect" => vec![Step::Expect(rest.to_owned())],
                "absent" => vec![Step::Absent(rest.to_owned())],
                other => match MOUSE.iter().find(|(name, _)| *name == other) {
                    Some((_, kind)) => vec![mouse(*kind)?],
                    None => {
                        return Err(format!(
                            "line {number}: expected `key`, `type`, `click`, `wheel-up`, `wheel-down`, `paste`, `expect` or `absent`, found `{other}`"
                        ));
                    }
                },
            };
            all.extend(steps.into_iter().map(|step| Timed { at, line: number, step }));
        }
        Ok(Self(all))
    }

    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.0.iter().map(|timed| &timed.step)
    }

    pub fn keys(&self) -> usize {
        self.steps().filter(|step| matches!(step, Step::Input(Event::Key(_)))).count()
    }
}

#[derive(Debug)]
pub(crate) struct Player {
    steps: std::iter::Peekable<std::vec::IntoIter<Timed>>,
    waits: Option<Instant>,
}

impl Player {
    pub(crate) fn new(script: Script) -> Self {
        Self { steps: script.0.into_iter().peekable(), waits: None }
    }

    pub(crate) fn due(
        &mut self,
        now: Duration,
        shows: impl Fn(&str) -> bool,
    ) -> Result<Option<Event>, String> {
        const PATIENCE: Duration = Duration::from_secs(30);
        while let Some(Timed { line, step, .. }) = self.steps.peek().filter(|next| next.at <= now) {
            match step {
                Step::Absent(text) if shows(text) => {
                    return Err(format!("line {line}: the screen shows `{text}`"));
                }
                Step::Expect(text) if !shows(text) => {
                    let since = self.waits.get_or_insert_with(Instant::now);
                    if since.elapsed() > PATIENCE {
                        return Err(format!("line {line}: the screen does not show `{text}`"));
                    }
                    return Ok(None);
                }
                Step::Input(_) | Step::Absent(_) | Step::Expect(_) => self.waits = None,
            }
            if let Some(Timed { step: Step::Input(event), .. }) = self.steps.next() {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }
}

#[derive(Debug)]
pub struct Recorder(File);

impl Recorder {
    /// Creates the file. Errors if it exists already.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut file = File::create_new(path)?;
        writeln!(file, "# seconds, and a key or a click: swapmeet tui --replay repeats it")?;
        Ok(Self(file))
    }

    pub(crate) fn record(&mut self, now: Duration, event: &Event) -> io::Result<()> {
        let text = match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                format!("key {}", Key::of(key).name())
            }
            Event::Mouse(mouse) => match MOUSE.iter().find(|(_, kind)| *kind == mouse.kind) {
                Some((word, _)) => format!("{word} {} {}", mouse.column, mouse.row),
                None => return Ok(()),
            },
            // A script has one line for each step.
            Event::Paste(text) => format!("paste {}", text.replace(['\r', '\n'], " ")),
            Event::Key(_) | Event::Resize(..) | Event::FocusGained | Event::FocusLost => {
                return Ok(());
            }
        };
        writeln!(self.0, "{:.3} {text}", now.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_have_keys_texts_and_comments() {
        let script = Script::parse("# comment\n0.5 key Down\ntype a b\nexpect 42 cases\n").unwrap();
        assert_eq!(script.keys(), 4);
        assert_eq!(script.steps().last(), Some(&Step::Expect("42 cases".to_owned())));
        let why = Script::parse("key Up\nkey Hyper").unwrap_err();
        assert!(why.starts_with("line 2: `Hyper` is no key"), "{why}");
        let why = Script::parse("press x").unwrap_err();
        assert!(
            why.contains("expected `key`, `type`, `click`") && why.ends_with("found `press`"),
            "{why}"
        );
    }

    /// What a recorder writes, a script repeats.
    #[test]
    fn recorded_events_are_those_of_the_script() {
        let folder = std::env::temp_dir().join(format!("swapmeet-script-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("session.txt");
        let at = |kind, column, row| {
            Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })
        };
        let events = [
            Event::Key(crate::keys::ctrl('r').event()),
            at(MouseEventKind::Down(MouseButton::Left), 12, 5),
            at(MouseEventKind::ScrollDown, 3, 0),
            Event::Paste("torus:4x4 mesh:4x4".to_owned()),
        ];
        let mut recorder = Recorder::create(&file).unwrap();
        for (event, second) in events.iter().zip(1..) {
            recorder.record(Duration::from_secs(second), event).unwrap();
        }
        // Movements of the mouse are not recorded.
        recorder.record(Duration::from_secs(9), &at(MouseEventKind::Moved, 1, 1)).unwrap();
        let script = Script::parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let inputs = events.map(Step::Input);
        assert_eq!(script.steps().collect::<Vec<_>>(), inputs.iter().collect::<Vec<_>>());
        std::fs::remove_dir_all(&folder).unwrap();
        let why = Script::parse("click 12").unwrap_err();
        assert!(why.contains("line 1: expected a column and a row, found `12`"), "{why}");
    }

    #[test]
    fn a_player_waits_for_expected_texts() {
        let script = Script::parse("expect done\n1 key q\nabsent gone\n").unwrap();
        let mut player = Player::new(script);
        let second = Duration::from_secs(1);
        assert_eq!(player.due(second, |_| false), Ok(None));
        let quit = player.due(second, |text| text == "done").unwrap().unwrap();
        assert_eq!(quit, Event::Key(crate::keys::ch('q').event()));
        assert_eq!(player.due(second, |_| true), Err("line 3: the screen shows `gone`".to_owned()));
    }
}
