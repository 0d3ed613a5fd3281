//! What went wrong, on stderr, with the exit status it has.

use crate::say::say;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;
use swapmeet_runner::input::InputError;

/// Some case was invalid, crashed, timed out or failed.
pub const SOME_FAILED: u8 = 1;
/// Bad usage or bad input.
pub const BAD_INPUT: u8 = 2;
/// Stopped by a Ctrl-C; everything finished so far is on disk.
pub const INTERRUPTED: u8 = 130;

/// Why the program ends early.
#[derive(Debug)]
pub enum Failure {
    /// The user wrote something that can't be.
    Input(Box<InputError>),
    /// Something else that the user can mend: a file that isn't there, a folder that can't be read.
    Usage(String),
    /// Output could not be written.
    Output(String),
    /// Whoever reads our standard output has closed it: nothing to say.
    ClosedPipe,
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Self::Input(Box::new(error))
    }
}

impl Failure {
    /// An error of writing standard output; a reader that went away is no news.
    pub fn printing(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ClosedPipe;
        }
        Self::writing("standard output", error)
    }

    /// An error of writing output elsewhere.
    pub fn writing(what: &str, error: &io::Error) -> Self {
        Self::Output(format!("{what}: {error}"))
    }

    /// An error of opening or writing a file: a place where none can be is for the user to mend, a disk that fails under us is not.
    pub fn file(path: &Path, error: &io::Error) -> Self {
        use io::ErrorKind::{
            AlreadyExists, IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem,
        };
        match error.kind() {
            AlreadyExists | IsADirectory | NotADirectory | NotFound | PermissionDenied | ReadOnlyFilesystem => {
                Self::Usage(format!("{}: {error}", path.display()))
            }
            _ => Self::writing(&path.display().to_string(), error),
        }
    }

    /// What went wrong, in a line.
    pub fn line(&self) -> String {
        match self {
            Self::Input(error) => error.to_string(),
            Self::Usage(message) | Self::Output(message) => message.clone(),
            Self::ClosedPipe => "nobody reads it any more".to_owned(),
        }
    }

    /// Says it and gives the exit status.
    pub fn report(self) -> ExitCode {
        match self {
            Self::Input(error) => {
                say!("{}", render(&error));
                ExitCode::from(BAD_INPUT)
            }
            Self::Usage(message) => {
                say!("error: {message}");
                ExitCode::from(BAD_INPUT)
            }
            Self::Output(message) => {
                say!("error: {message}");
                ExitCode::from(SOME_FAILED)
            }
            Self::ClosedPipe => ExitCode::from(SOME_FAILED),
        }
    }
}

fn render(error: &InputError) -> String {
    let span = error.place.span.clone();
    let label = LabeledSpan::new_primary_with_span(Some("here".to_owned()), span.start..span.end.max(span.start + 1));
    let mut diagnostic = MietteDiagnostic::new(error.to_string()).with_label(label);
    diagnostic.help.clone_from(&error.help);
    let report = Report::new(diagnostic);
    let report = report.with_source_code(NamedSource::new(&error.place.source, error.place.content.to_string()));
    let coloured = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let theme = if coloured { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let mut text = String::new();
    let drawn = GraphicalReportHandler::new_themed(theme).with_links(false).render_report(&mut text, report.as_ref());
    if drawn.is_err() {
        return format!("error: {error}");
    }
    text.trim_end().to_owned()
}
