//! Errors of the program, their messages and exit statuses.

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

/// Each case ran successfully or is unsupported.
pub(crate) const SUCCESS: ExitStatus = 0;
/// A case was invalid, crashed, timed out or failed.
pub(crate) const SOME_FAILED: ExitStatus = 1;
pub(crate) const BAD_INPUT: ExitStatus = 2;
/// The exit status after Ctrl-C. The output file contains all finished rows.
pub(crate) const INTERRUPTED: ExitStatus = 130;

#[derive(Debug)]
pub(crate) enum Failure {
    /// An error at a known position of the input.
    Input(Box<InputError>),
    Usage(String),
    Output(String),
    /// The reader of standard output has closed the pipe. No message is printed.
    ClosedPipe,
    /// A signal ended the command while it wrote output. No message is printed.
    Interrupted,
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Self {
        Self::Input(Box::new(error))
    }
}

impl Failure {
    pub(crate) fn usage(error: impl Into<Box<dyn Error>>) -> Self {
        Self::Usage(error.into().to_string())
    }

    pub(crate) fn output(error: impl Into<Box<dyn Error>>) -> Self {
        Self::Output(error.into().to_string())
    }

    /// The failure of a write to standard output. A closed pipe is not reported to the user.
    pub(crate) fn printing(error: &io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self::ClosedPipe;
        }
        Self::writing("standard output", error)
    }

    /// Returns the failure of a write to a file. For standard output, use [`Self::printing`].
    pub(crate) fn writing(what: &str, error: &io::Error) -> Self {
        Self::Output(format!("{what}: {error}"))
    }

    /// Returns a usage error if the path is wrong, or an output error if the disk fails.
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

pub(crate) fn print_reason(record: &Record) {
    let Record { algorithm, topology, status, reason, .. } = record;
    say!("{algorithm} on {topology}: {status}: {reason}");
}

/// Renders an error as compilers do: the message, the marked part of the input, and the help.
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
