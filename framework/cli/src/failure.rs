//! Errors of the program: their messages on standard error and their exit statuses.

use crate::say::{say, styled, visible};
use crate::streams;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::error::Error;
use std::io;
use std::path::Path;
use swapmeet_core::text::shortened;
use swapmeet_results::Record;
use swapmeet_runner::input::InputError;

pub(crate) type ExitStatus = u8;

/// Every case ran or is unsupported.
pub(crate) const SUCCESS: ExitStatus = 0;
/// A case was invalid, crashed, timed out or failed.
pub(crate) const SOME_FAILED: ExitStatus = 1;
/// The usage or the input was wrong.
pub(crate) const BAD_INPUT: ExitStatus = 2;
/// Ctrl-C. The output file contains all finished rows.
pub(crate) const INTERRUPTED: ExitStatus = 130;

#[derive(Debug)]
pub(crate) enum Failure {
    /// An error at a known position of the input.
    Input(Box<InputError>),
    /// An error without a position that the user can correct, such as a missing file.
    Usage(String),
    /// Output could not be written.
    Output(String),
    /// The process that reads standard output has closed it. No message is printed.
    ClosedPipe,
    /// A signal has ended the command while it wrote its output. No message is printed.
    Interrupted,
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Self::Input(Box::new(error))
    }
}

impl Failure {
    /// An error that the user can correct.
    pub(crate) fn usage(error: impl Into<Box<dyn Error>>) -> Self {
        Self::Usage(error.into().to_string())
    }

    /// An error that the input does not cause.
    pub(crate) fn output(error: impl Into<Box<dyn Error>>) -> Self {
        Self::Output(error.into().to_string())
    }

    /// A closed pipe is not reported to the user.
    pub(crate) fn printing(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ClosedPipe;
        }
        Self::writing("standard output", error)
    }

    /// `what` is no standard output, for which see [`Self::printing`].
    pub(crate) fn writing(what: &str, error: &io::Error) -> Self {
        Self::Output(format!("{what}: {error}"))
    }

    /// Converts an error of a file: a usage error if no file can be created at this path, because
    /// the user can correct it, and an output error if the disk fails.
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

    /// Returns the error message in one line.
    pub(crate) fn line(&self) -> String {
        match self {
            Self::Input(error) => error.to_string(),
            Self::Usage(message) | Self::Output(message) => message.clone(),
            Self::ClosedPipe => "its reader has closed it".to_owned(),
            Self::Interrupted => "interrupted".to_owned(),
        }
    }

    pub(crate) fn report(self) -> ExitStatus {
        match self {
            Self::Input(error) => {
                styled(&render(&error));
                BAD_INPUT
            }
            Self::Usage(message) => {
                say!("error: {message}");
                BAD_INPUT
            }
            Self::Output(message) => {
                say!("error: {message}");
                SOME_FAILED
            }
            Self::ClosedPipe => SOME_FAILED,
            Self::Interrupted => INTERRUPTED,
        }
    }
}

/// Prints the status of a case that has no result, and its reason.
pub(crate) fn print_reason(record: &Record) {
    let Record { algorithm, topology, status, reason, .. } = record;
    say!("{algorithm} on {topology}: {status}: {reason}");
}

/// Renders an error as compilers do: the message, the line with the marked position, and the help.
fn render(error: &InputError) -> String {
    let (content, source) = (visible(&error.place.content), visible(&error.place.source));
    let (content, span) = (content.as_str(), &error.place.span);
    let start = span.start.min(content.len());
    let spot = start..span.end.clamp(start, content.len());
    let snippet = Snippet::source(content).path(&source);
    let snippet = snippet.annotation(AnnotationKind::Primary.span(spot).label("here"));
    let message = visible(&shortened(&error.to_string()));
    let help = error.help.as_deref().map(shortened);
    let mut report = vec![Level::ERROR.primary_title(message.as_str()).element(snippet)];
    report.extend(help.as_deref().map(|help| Group::with_title(Level::HELP.secondary_title(help))));
    let coloured = streams::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let renderer = if coloured { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&report)
}
