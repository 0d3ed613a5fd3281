//! The terminal: taken over, given back whatever happens, and the loop between.

use crate::app::{App, Outcome, Setup, Wish};
use crate::view::{Hits, draw};
use crossterm::cursor::Show;
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture, Event, poll, read,
};
use crossterm::execute;
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use signal_hook::consts::{SIGCONT, SIGHUP, SIGTERM, SIGTSTP};
use std::io::{self, Stdout, stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Between two pictures of something that moves.
const FRAME: Duration = Duration::from_millis(33);
/// Between two looks at the signals when nothing moves.
const IDLE: Duration = Duration::from_millis(250);

/// Shows the dashboard until it is left.
pub fn run(setup: Setup) -> io::Result<Outcome> {
    let signals = Signals::new()?;
    let mut app = App::new(setup);
    on_screen(|screen| show(screen, &mut app, &signals))??;
    Ok(app.outcome())
}

/// Takes the terminal over for as long as `work` takes, and gives it back even at a panic.
pub fn on_screen<T>(work: impl FnOnce(&mut Screen) -> T) -> io::Result<T> {
    let _restored = restore_at_panic();
    let mut screen = Screen::enter()?;
    Ok(work(&mut screen))
}

fn show(screen: &mut Screen, app: &mut App, signals: &Signals) -> io::Result<()> {
    let began = Instant::now();
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
            app.ui.page = hits.page;
            (changed, drawn) = (false, Some(Instant::now()));
        }
        if poll(if moving { FRAME } else { IDLE })? {
            // All that was typed meanwhile: holding a key down must not run behind.
            loop {
                handle(app, &read()?, &hits);
                if app.leave.is_some() || !poll(Duration::ZERO)? {
                    break;
                }
            }
            changed = true;
        }
        match app.wish.take() {
            Some(Wish::Redraw) => screen.terminal.clear()?,
            Some(Wish::Suspend) => screen.suspend(signals)?,
            None => {}
        }
        if signals.resumed.swap(false, Ordering::Relaxed) {
            screen.terminal.clear()?;
            changed = true;
        }
        if app.leave.is_some() || signals.ended.load(Ordering::Relaxed) {
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

    /// Gives the terminal back, stops, and takes it again when the shell says so.
    fn suspend(&mut self, signals: &Signals) -> io::Result<()> {
        give_back();
        signal_hook::low_level::emulate_default_handler(SIGTSTP)?;
        take()?;
        signals.resumed.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Whether the terminal is ours. To leave the other screen twice would put the cursor back to where it was the first time, and what is
/// written next would go over a panic's message.
static TAKEN: AtomicBool = AtomicBool::new(false);

fn take() -> io::Result<()> {
    TAKEN.store(true, Ordering::Relaxed);
    enable_raw_mode().inspect_err(|_| give_back())?;
    execute!(stdout(), EnterAlternateScreen, EnableMouseCapture, EnableBracketedPaste).inspect_err(|_| give_back())
}

/// Gives the terminal back as it was. Nobody is left to be told if that fails.
fn give_back() {
    if !TAKEN.swap(false, Ordering::Relaxed) {
        return;
    }
    drop(execute!(stdout(), DisableBracketedPaste, DisableMouseCapture, LeaveAlternateScreen, Show));
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

/// At a panic the terminal is given back first, so that the message is seen. A panic in another thread is that thread's end, not the
/// screen's: its message would only be written across it.
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

/// Signals that end or wake a program.
struct Signals {
    ended: Arc<AtomicBool>,
    resumed: Arc<AtomicBool>,
}

impl Signals {
    fn new() -> io::Result<Self> {
        let signals = Self { ended: Arc::default(), resumed: Arc::default() };
        for signal in [SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::clone(&signals.ended))?;
        }
        signal_hook::flag::register(SIGCONT, Arc::clone(&signals.resumed))?;
        Ok(signals)
    }
}
