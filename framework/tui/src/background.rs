//! The background colour of the terminal, which decides between a dark and a light theme. The
//! control sequence OSC 11 requests it. A terminal that does not know this sequence ignores it, so
//! the attributes (DA1), which every terminal reports, are requested too.

use crossterm::event::{Event, KeyCode, KeyModifiers};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{IsTerminal, Write, stdin, stdout};
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    Dark,
    Light,
}

/// The time limit for an answer. [`AnswerFilter`] removes a later one from the key events.
const LIMIT: Duration = Duration::from_millis(200);

const LONGEST: usize = 256;

impl Background {
    pub fn of_terminal() -> Option<Self> {
        if !stdin().is_terminal() || !stdout().is_terminal() {
            return None;
        }
        // In raw mode, the answer is not printed, and arrives without a newline.
        enable_raw_mode().ok()?;
        let answer = ask();
        drop(disable_raw_mode());
        Self::of_answer(&answer?)
    }

    /// Returns the background in an answer such as `ESC ] 11 ; rgb:ffff/ffff/ffff BEL`.
    fn of_answer(answer: &str) -> Option<Self> {
        let colour = answer.split("]11;rgb:").nth(1)?;
        let parts: Vec<f64> = colour
            .split('/')
            .take(3)
            .filter_map(|part| {
                let digits: String = part.chars().take_while(char::is_ascii_hexdigit).collect();
                let most = 16_f64.powi(i32::try_from(digits.len()).ok()?) - 1.0;
                Some(f64::from(u32::from_str_radix(&digits, 16).ok()?) / most)
            })
            .collect();
        let [red, green, blue] = parts[..] else { return None };
        // The weights of the colours in brightness, as in ITU-R BT.601.
        let brightness = 0.299 * red + 0.587 * green + 0.114 * blue;
        Some(if brightness > 0.5 { Self::Light } else { Self::Dark })
    }
}

/// Returns everything that the terminal sends until its attributes are complete; `None` if they do
/// not arrive in time.
fn ask() -> Option<String> {
    let mut out = stdout();
    out.write_all(b"\x1b]11;?\x07\x1b[c").and_then(|()| out.flush()).ok()?;
    let (end, input) = (Instant::now() + LIMIT, rustix::stdio::stdin());
    let mut answer = Vec::new();
    while answer.len() < LONGEST {
        let left = end.checked_duration_since(Instant::now())?;
        let left = Timespec { tv_sec: 0, tv_nsec: left.subsec_nanos().into() };
        if poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&left)).ok()? == 0 {
            return None;
        }
        let mut bytes = [0; 64];
        let count = rustix::io::read(input, &mut bytes).ok().filter(|count| *count > 0)?;
        answer.extend(&bytes[..count]);
        let text = String::from_utf8_lossy(&answer);
        // The attributes are sent last, as `ESC [ ?`, a list of numbers, and `c`.
        if text.split("\x1b[?").nth(1).is_some_and(|attributes| attributes.contains('c')) {
            return Some(text.into_owned());
        }
    }
    None
}

/// Removes a late answer from the events of the terminal, because its characters would act as keys.
#[derive(Debug, Default)]
pub(crate) struct AnswerFilter {
    /// The number of events removed from the current answer; 0 outside of one.
    removed: usize,
}

impl AnswerFilter {
    pub(crate) fn removes(&mut self, event: &Event) -> bool {
        let Event::Key(key) = event else { return false };
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        // The answer is between `ESC ]` (Alt with the bracket) and BEL (Ctrl-G) or `ESC \` (Alt
        // with the backslash).
        match (key.code, self.removed) {
            (KeyCode::Char(']'), 0) if alt => self.removed = 1,
            (_, 0) => return false,
            (KeyCode::Char('g'), _) if control => self.removed = 0,
            (KeyCode::Char('\\'), _) if alt => self.removed = 0,
            (_, LONGEST..) => self.removed = 0,
            _ => self.removed += 1,
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crossterm::event::KeyEvent;

    #[test]
    fn answers_contain_the_background() {
        let of = Background::of_answer;
        assert_eq!(of("\x1b]11;rgb:ffff/ffff/eeee\x1b\\\x1b[?62;4c"), Some(Background::Light));
        assert_eq!(of("\x1b]11;rgb:1e/1e/2e\x07\x1b[?6c"), Some(Background::Dark));
        for other in ["\x1b[?62c", "\x1b]11;rgb:zz/00/00\x07", "\x1b]11;rgb:00/00\x07"] {
            assert_eq!(of(other), None, "{other:?}");
        }
    }

    /// A late answer contains `r`, `g`, `b` and digits, which are commands of the dashboard.
    #[test]
    fn late_answers_are_no_keys() {
        let key = |c, modifiers| Event::Key(KeyEvent::new(KeyCode::Char(c), modifiers));
        let mut filter = AnswerFilter::default();
        let mut kept =
            |events: Vec<Event>| events.iter().filter(|event| !filter.removes(event)).count();
        let plain = |text: &str| text.chars().map(|c| key(c, KeyModifiers::NONE)).collect();
        let answer = |end: Event| {
            let text: Vec<Event> = plain("11;rgb:ffff/ffff/ffff");
            [vec![key(']', KeyModifiers::ALT)], text, vec![end]].concat()
        };
        assert_eq!(kept(answer(key('\\', KeyModifiers::ALT))), 0);
        assert_eq!(kept(plain("rgb")), 3);
        assert_eq!(kept(answer(key('g', KeyModifiers::CONTROL))), 0);
        assert_eq!(kept(plain("]x")), 2);
    }
}
