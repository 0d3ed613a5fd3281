//! Setting up and restoring the terminal, and the event loop.

use crate::app::{App, Appearance, Options, SessionResult, TerminalRequest};
use crate::click_map::ClickMap;
use crate::input::{Input, Signals, has_hung_up};
use crate::screen::draw;
use crate::script::{Player, Recorder, Script};
use crate::session::Setup;
use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event,
};
use crossterm::execute;
use crossterm::style::force_color_output;
use crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::layout::Rect;
use signal_hook::consts::SIGTSTP;
use std::io::{self, Stdout, Write, stdout};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use swapmeet_core::text::base64;

/// The time between two frames while the screen changes.
const FRAME: Duration = Duration::from_millis(33);
/// The time between two checks for signals otherwise.
const IDLE: Duration = Duration::from_millis(250);

#[derive(Debug, Default)]
pub struct Replay {
    pub script: Option<Script>,
    pub recorder: Option<Recorder>,
}

/// The reason for a session without a result.
#[derive(Debug, thiserror::Error)]
pub enum EndedBy {
    /// The terminal or the file of a recorder failed.
    #[error(transparent)]
    Terminal(#[from] io::Error),
    /// The screen contradicts the script; the text names the line.
    #[error("{0}")]
    Script(String),
}

/// Shows the dashboard until the user exits, a signal arrives or the terminal is closed. Also
/// returns [`App::state`].
pub fn run(
    setup: Setup,
    options: Options,
    appearance: Appearance,
    replay: Replay,
) -> Result<(SessionResult, String), EndedBy> {
    let signals = Signals::new()?;
    let mut app = App::new(setup, options, appearance);
    let shown = on_screen(|screen| show(screen, &mut app, &signals, replay))?;
    app.session.unfreeze();
    match shown {
        // After a hang-up, there is no place to report the error.
        Err(error) if !has_hung_up() => Err(error),
        _ => Ok((app.outcome(), app.state())),
    }
}

/// Runs `work` in dashboard mode, which ends even after a panic.
pub fn on_screen<T>(work: impl FnOnce(&mut Screen) -> T) -> io::Result<T> {
    let _restored = restore_at_panic();
    let mut screen = Screen::enter()?;
    Ok(work(&mut screen))
}

fn show(
    screen: &mut Screen,
    app: &mut App,
    signals: &Signals,
    Replay { script, mut recorder }: Replay,
) -> Result<(), EndedBy> {
    let mut player = script.map(Player::new);
    let began = Instant::now();
    let input = Input::listen()?;
    let mut clicks = ClickMap::default();
    let mut changed = true;
    let mut drawn = None::<Instant>;
    loop {
        changed |= app.tick(began.elapsed());
        // While cases run, the elapsed times change. Results of other work change the screen when
        // they arrive, which `tick` reports.
        let moving = app.is_animated();
        let due = drawn.is_none_or(|at| at.elapsed() >= FRAME);
        if changed || (moving && due) {
            screen.terminal.draw(|frame| clicks = draw(frame, app))?;
            (changed, drawn) = (false, Some(Instant::now()));
        }
        if let Some(player) = &mut player {
            let shows = |text: &str| app.shows(text);
            if let Some(event) = player.due(began.elapsed(), shows).map_err(EndedBy::Script)? {
                handle(app, &event, &clicks);
                changed = true;
                if app.exit_mode().is_none() {
                    continue;
                }
            }
        }
        let is_idle = !app.expects_events() && player.is_none();
        for event in input.within(if is_idle { IDLE } else { FRAME }) {
            let event = event?;
            if let Some(recorder) = &mut recorder {
                recorder.record(began.elapsed(), &event)?;
            }
            handle(app, &event, &clicks);
            changed = true;
            if app.exit_mode().is_some() {
                break;
            }
        }
        match app.terminal_request.take() {
            Some(TerminalRequest::Redraw) => screen.redraw()?,
            Some(TerminalRequest::Copy(text)) => copy(&text)?,
            Some(TerminalRequest::Suspend) => screen.suspend()?,
            None => {}
        }
        if signals.resumed() {
            screen.redraw()?;
            changed = true;
        }
        if app.exit_mode().is_some() || signals.ended() || has_hung_up() {
            return Ok(());
        }
    }
}

fn handle(app: &mut App, event: &Event, clicks: &ClickMap) {
    match event {
        Event::Key(key) => app.key(key),
        Event::Mouse(mouse) => app.mouse(mouse, clicks),
        Event::Paste(text) => app.paste(text),
        Event::Resize(..) | Event::FocusGained | Event::FocusLost => {}
    }
}

/// Puts a text on the clipboard of the terminal by the control sequence OSC 52, which also works
/// over SSH.
fn copy(text: &str) -> io::Result<()> {
    let mut out = stdout();
    write!(out, "\x1b]52;c;{}\x07", base64(text.as_bytes()))?;
    out.flush()
}

/// The terminal in dashboard mode. Dropping it restores the terminal.
pub struct Screen {
    /// Never dropped: without a terminal, `Terminal` reports that it cannot show the cursor, and
    /// panics if standard error is that terminal.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
}

impl Screen {
    fn enter() -> io::Result<Self> {
        take_over()?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout()));
        if terminal.is_err() {
            restore_terminal();
        }
        Ok(Self { terminal: ManuallyDrop::new(terminal?) })
    }

    /// Makes the next frame redraw everything. `Terminal::clear` would query the cursor position,
    /// which some terminals do not answer.
    fn redraw(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from(size))
    }

    /// Suspends the process, with the terminal restored meanwhile.
    fn suspend(&mut self) -> io::Result<()> {
        restore_terminal();
        signal_hook::low_level::emulate_default_handler(SIGTSTP)?;
        take_over()?;
        self.redraw()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore_terminal();
    }
}

/// Whether the terminal is in dashboard mode. Leaving the alternate screen twice would move the
/// cursor, and further output would overwrite the message of a panic.
static OWNS_TERMINAL: AtomicBool = AtomicBool::new(false);

fn take_over() -> io::Result<()> {
    // The theme respects `NO_COLOR`. Without this, crossterm would also switch off bold and
    // reverse.
    force_color_output(true);
    OWNS_TERMINAL.store(true, Ordering::Relaxed);
    enable_raw_mode().inspect_err(|_| restore_terminal())?;
    execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste)
        .inspect_err(|_| restore_terminal())
}

/// Errors are ignored, because there is no place to report them.
fn restore_terminal() {
    if !OWNS_TERMINAL.swap(false, Ordering::Relaxed) {
        return;
    }
    drop(execute!(
        stdout(),
        DisableBracketedPaste,
        DisableMouseCapture,
        LeaveAlternateScreen,
        Show
    ));
    drop(disable_raw_mode());
}

struct PanicHookGuard;

impl Drop for PanicHookGuard {
    fn drop(&mut self) {
        if !thread::panicking() {
            drop(std::panic::take_hook());
        }
    }
}

/// Installs a panic hook that restores the terminal before it prints. Messages of other threads
/// would overwrite the screen.
fn restore_at_panic() -> PanicHookGuard {
    let screen = thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if thread::current().id() == screen {
            restore_terminal();
            before(info);
        }
    }));
    PanicHookGuard
}
