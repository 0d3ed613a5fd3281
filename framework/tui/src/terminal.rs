//! The terminal: taken over, given back whatever happens, and the loop between.

use crate::app::{App, Looks, Outcome, Wish};
use crate::hits::Hits;
use crate::input::{Input, Signals, has_hung_up};
use crate::screen::draw;
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
use std::io::{self, Stdout, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Between two pictures of something that moves.
const FRAME: Duration = Duration::from_millis(33);
/// Between two looks at signals and the terminal when nothing moves.
const IDLE: Duration = Duration::from_millis(250);

/// Shows the dashboard until it is left, told to end, or its terminal is gone.
pub fn run(setup: Setup, looks: Looks) -> io::Result<Outcome> {
    let signals = Signals::new()?;
    let mut app = App::new(setup, looks);
    let shown = on_screen(|screen| show(screen, &mut app, &signals));
    match shown.flatten() {
        // Nobody is left to be told that nothing more can be shown.
        Err(error) if !has_hung_up() => Err(error),
        _ => Ok(app.outcome()),
    }
}

/// Takes the terminal over for as long as `work` takes, and gives it back even at a panic.
pub fn on_screen<T>(work: impl FnOnce(&mut Screen) -> T) -> io::Result<T> {
    let _restored = restore_at_panic();
    let mut screen = Screen::enter()?;
    Ok(work(&mut screen))
}

fn show(screen: &mut Screen, app: &mut App, signals: &Signals) -> io::Result<()> {
    let began = Instant::now();
    let input = Input::listen()?;
    let mut hits = Hits::default();
    let mut changed = true;
    let mut drawn = None::<Instant>;
    loop {
        changed |= app.tick(began.elapsed());
        // Clocks run while cases do.
        let moving = app.is_moving();
        let due = drawn.is_none_or(|at| at.elapsed() >= FRAME);
        if changed || (moving && due) {
            screen.terminal.draw(|frame| hits = draw(frame, app))?;
            (changed, drawn) = (false, Some(Instant::now()));
        }
        for event in input.within(if moving { FRAME } else { IDLE }) {
            handle(app, &event?, &hits);
            changed = true;
            if app.left().is_some() {
                break;
            }
        }
        match app.wish.take() {
            Some(Wish::Redraw) => screen.redraw()?,
            Some(Wish::Suspend) => screen.suspend()?,
            None => {}
        }
        if signals.resumed() {
            screen.redraw()?;
            changed = true;
        }
        if app.left().is_some() || signals.ended() || has_hung_up() {
            return Ok(());
        }
    }
}

fn handle(app: &mut App, event: &Event, hits: &Hits) {
    match event {
        Event::Key(key) => app.key(key),
        Event::Mouse(mouse) => app.mouse(mouse, hits),
        Event::Paste(text) => app.paste(text),
        Event::Resize(..) | Event::FocusGained | Event::FocusLost => {}
    }
}

/// The terminal while it is ours. Dropped, it is as it was.
pub struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    fn enter() -> io::Result<Self> {
        take()?;
        let terminal = Terminal::new(CrosstermBackend::new(stdout()));
        if terminal.is_err() {
            give_back();
        }
        Ok(Self { terminal: terminal? })
    }

    /// The next picture is drawn in full. (`Terminal::clear` asks the terminal where its cursor is,
    /// and not every terminal answers.)
    fn redraw(&mut self) -> io::Result<()> {
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from(size))
    }

    /// Gives the terminal back, stops, and takes it again when the shell says so; what follows
    /// draws anew.
    fn suspend(&mut self) -> io::Result<()> {
        give_back();
        signal_hook::low_level::emulate_default_handler(SIGTSTP)?;
        take()?;
        self.redraw()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Whether the terminal is ours. To leave the other screen twice would put the cursor back to where
/// it was the first time, and what is written next would go over a panic's message.
static TAKEN: AtomicBool = AtomicBool::new(false);

fn take() -> io::Result<()> {
    // Which colours there are is the theme's: without `NO_COLOR` or against it. Left to itself, the
    // terminal's library would write an empty attribute for each colour, which takes weight and
    // reverse away.
    force_color_output(true);
    TAKEN.store(true, Ordering::Relaxed);
    enable_raw_mode().inspect_err(|_| give_back())?;
    execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste)
        .inspect_err(|_| give_back())
}

/// Gives the terminal back as it was. Nobody is left to be told if that fails.
fn give_back() {
    if !TAKEN.swap(false, Ordering::Relaxed) {
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

/// Puts the panic hook back as it was.
struct Restored;

impl Drop for Restored {
    fn drop(&mut self) {
        if !thread::panicking() {
            drop(std::panic::take_hook());
        }
    }
}

/// At a panic the terminal is given back first, so that the message is seen. A panic in another
/// thread is that thread's end, not the screen's: its message would only be written across it.
fn restore_at_panic() -> Restored {
    let screen = thread::current().id();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if thread::current().id() == screen {
            give_back();
            before(info);
        }
    }));
    Restored
}
