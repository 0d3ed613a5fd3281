//! What went wrong, on stderr, with the exit status it has.

use crate::say::{say, styled, visible};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::io::{self, IsTerminal};
use std::path::Path;
use std::process::ExitCode;
use swapmeet_runner::input::InputError;

/// Some case was invalid, crashed, timed out or failed.
pub(crate) const SOME_FAILED: u8 = 1;
/// Bad usage or bad input.
pub(crate) const BAD_INPUT: u8 = 2;
/// Stopped by a Ctrl-C; everything finished so far is on disk.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why the program ends early.
#[derive(Debug)]
pub(crate) enum Failure {
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
    pub(crate) fn printing(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ClosedPipe;
        }
        Self::writing("standard output", error)
    }

    /// An error of writing output elsewhere.
    pub(crate) fn writing(what: &str, error: &io::Error) -> Self {
        Self::Output(format!("{what}: {error}"))
    }

    /// An error of opening or writing a file: a place where none can be is for the user to mend, a
    /// disk that fails under us is not.
    pub(crate) fn file(path: &Path, error: &io::Error) -> Self {
        use io::ErrorKind::{
            AlreadyExists, IsADirectory, NotADirectory, NotFound, PermissionDenied,
            ReadOnlyFilesystem,
        };
        match error.kind() {
            AlreadyExists | IsADirectory | NotADirectory | NotFound | PermissionDenied
            | ReadOnlyFilesystem => Self::Usage(format!("{}: {error}", path.display())),
            _ => Self::writing(&path.display().to_string(), error),
        }
    }

    /// What went wrong, in a line.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Input(error) => error.to_string(),
            Self::Usage(message) | Self::Output(message) => message.clone(),
            Self::ClosedPipe => "nobody reads it any more".to_owned(),
        }
    }

    /// Says it and gives the exit status.
    pub(crate) fn report(self) -> ExitCode {
        match self {
            Self::Input(error) => {
                styled(&render(&error));
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

/// The message, the line that it is about with the spot marked, and what else to know, as compilers
/// print them.
fn render(error: &InputError) -> String {
    let (content, source) = (visible(&error.place.content), visible(&error.place.source));
    let (content, span) = (content.as_str(), &error.place.span);
    let start = span.start.min(content.len());
    let spot = start..span.end.clamp(start, content.len());
    let snippet = Snippet::source(content).path(&source);
    let snippet = snippet.annotation(AnnotationKind::Primary.span(spot).label("here"));
    let message = visible(&error.to_string());
    let mut report = vec![Level::ERROR.primary_title(message.as_str()).element(snippet)];
    report.extend(
        error.help.as_deref().map(|help| Group::with_title(Level::HELP.secondary_title(help))),
    );
    let coloured = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&report)
}
