//! Scripts of the dashboard: keys with their times, which `--record` writes and `--replay` repeats,
//! and texts that the screen must or must not show. Each line has an optional time in seconds, a
//! word and the rest of the line, such as `1.25 key Down` or `expect 42 cases`.

use crate::keys::Key;
use crossterm::event::{Event, KeyEvent, KeyEventKind};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

/// A step of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Key(KeyEvent),
    /// Wait until the screen shows this text.
    Expect(String),
    /// The screen must not show this text.
    Absent(String),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script(Vec<(Duration, Step)>);

impl Script {
    /// Parses a script. Lines that start with `#` are comments. The error names the line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut steps = Vec::new();
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
                Ok::<_, String>((at, Step::Key(key.event())))
            };
            match word {
                "key" => steps.push(key(rest)?),
                "type" => {
                    for c in rest.chars() {
                        steps.push(key(&if c == ' ' {
                            "Space".to_owned()
                        } else {
                            c.to_string()
                        })?);
                    }
                }
                "expect" => steps.push((at, Step::Expect(rest.to_owned()))),
                "absent" => steps.push((at, Step::Absent(rest.to_owned()))),
                other => {
                    return Err(format!(
                        "line {number}: expected `key`, `type`, `expect` or `absent`, found `{other}`"
                    ));
                }
            }
        }
        Ok(Self(steps))
    }

    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.0.iter().map(|(_, step)| step)
    }

    /// Returns the number of keys that the user presses.
    pub fn keys(&self) -> usize {
        self.steps().filter(|step| matches!(step, Step::Key(_))).count()
    }
}

/// A script that is being replayed.
#[derive(Debug)]
pub(crate) struct Player {
    steps: std::vec::IntoIter<(Duration, Step)>,
    next: Option<(Duration, Step)>,
    /// The time at which the player started to wait for a text.
    waits: Option<Instant>,
}

impl Player {
    pub(crate) fn new(script: Script) -> Self {
        let mut steps = script.0.into_iter();
        let next = steps.next();
        Self { steps, next, waits: None }
    }

    /// Returns the keys that are due. `shows` tells whether the screen shows a text. The error says
    /// which text the screen does not show, or should not show.
    pub(crate) fn due(
        &mut self,
        now: Duration,
        shows: impl Fn(&str) -> bool,
    ) -> Result<Option<KeyEvent>, String> {
        /// The time within which the screen must show an expected text.
        const PATIENCE: Duration = Duration::from_secs(30);
        while let Some((_, step)) = self.next.take_if(|(at, _)| *at <= now) {
            match step {
                Step::Key(event) => {
                    self.next = self.steps.next();
                    return Ok(Some(event));
                }
                Step::Absent(text) if shows(&text) => {
                    return Err(format!("the screen shows `{text}`"));
                }
                Step::Expect(text) if !shows(&text) => {
                    let since = self.waits.get_or_insert_with(Instant::now);
                    if since.elapsed() > PATIENCE {
                        return Err(format!("the screen does not show `{text}`"));
                    }
                    self.next = Some((now, Step::Expect(text)));
                    return Ok(None);
                }
                Step::Absent(_) | Step::Expect(_) => {
                    (self.waits, self.next) = (None, self.steps.next());
                }
            }
        }
        Ok(None)
    }
}

/// Writes the keys of a session to a file.
#[derive(Debug)]
pub(crate) struct Recorder(File);

impl Recorder {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let mut file = File::create_new(path)?;
        writeln!(
            file,
            "# seconds, `key`, and the name of the key: swapmeet tui --replay repeats it"
        )?;
        Ok(Self(file))
    }

    pub(crate) fn record(&mut self, now: Duration, event: &Event) -> io::Result<()> {
        let Event::Key(key) = event else { return Ok(()) };
        if key.kind == KeyEventKind::Release {
            return Ok(());
        }
        writeln!(self.0, "{:.3} key {}", now.as_secs_f64(), Key::of(key).name())
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
            why.contains("expected `key`, `type`, `expect` or `absent`, found `press`"),
            "{why}"
        );
    }

    #[test]
    fn a_player_waits_for_expected_texts() {
        let script = Script::parse("expect done\n1 key q\nabsent gone\n").unwrap();
        let mut player = Player::new(script);
        let second = Duration::from_secs(1);
        assert_eq!(player.due(second, |_| false), Ok(None));
        let quit = player.due(second, |text| text == "done").unwrap().unwrap();
        assert_eq!(Key::of(&quit).name(), "q");
        assert_eq!(player.due(second, |_| true), Err("the screen shows `gone`".to_owned()));
    }
}
