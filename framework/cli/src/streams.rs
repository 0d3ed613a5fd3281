//! Standard output and standard error. In tests, they are buffers that each thread has.

use std::io::{self, IsTerminal, Write};

#[cfg(feature = "in-process")]
pub use capture::Captured;
#[cfg(feature = "in-process")]
pub(crate) use capture::capture;

#[derive(Debug)]
pub(crate) enum Stream {
    Stdout(io::Stdout),
    Stderr(io::Stderr),
    #[cfg(feature = "in-process")]
    Buffer(capture::Buffer),
}

pub(crate) fn stdout() -> Stream {
    #[cfg(feature = "in-process")]
    if let Some([out, _]) = capture::buffers() {
        return Stream::Buffer(out);
    }
    Stream::Stdout(io::stdout())
}

pub(crate) fn stderr() -> Stream {
    #[cfg(feature = "in-process")]
    if let Some([_, err]) = capture::buffers() {
        return Stream::Buffer(err);
    }
    Stream::Stderr(io::stderr())
}

pub(crate) fn is_test() -> bool {
    #[cfg(feature = "in-process")]
    return capture::buffers().is_some();
    #[cfg(not(feature = "in-process"))]
    false
}

/// Prints a message of clap. Help and the version go to standard output, errors to standard error.
pub(crate) fn print_clap(error: &clap::Error) -> io::Result<()> {
    if is_test() {
        let mut stream = if error.use_stderr() { stderr() } else { stdout() };
        return write!(stream, "{}", error.render());
    }
    error.print().and_then(|()| io::stdout().flush())
}

impl Stream {
    pub(crate) fn is_terminal(&self) -> bool {
        match self {
            Self::Stdout(out) => out.is_terminal(),
            Self::Stderr(err) => err.is_terminal(),
            #[cfg(feature = "in-process")]
            Self::Buffer(_) => false,
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stdout(out) => out.write(bytes),
            Self::Stderr(err) => err.write(bytes),
            #[cfg(feature = "in-process")]
            Self::Buffer(buffer) => buffer.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stdout(out) => out.flush(),
            Self::Stderr(err) => err.flush(),
            #[cfg(feature = "in-process")]
            Self::Buffer(_) => Ok(()),
        }
    }
}

#[cfg(feature = "in-process")]
mod capture {
    use std::cell::RefCell;
    use std::io;
    use std::sync::{Arc, Mutex, PoisonError};

    #[derive(Debug)]
    pub struct Captured {
        pub status: u8,
        pub stdout: Vec<u8>,
        pub stderr: Vec<u8>,
    }

    #[derive(Debug, Clone, Default)]
    pub(crate) struct Buffer(Arc<Mutex<Vec<u8>>>);

    thread_local! {
        /// The buffers that replace standard output and standard error while a test runs a command.
        static BUFFERS: RefCell<Option<[Buffer; 2]>> = const { RefCell::new(None) };
    }

    pub(crate) fn capture(command: impl FnOnce() -> u8) -> Captured {
        let buffers = <[Buffer; 2]>::default();
        BUFFERS.set(Some(buffers.clone()));
        let status = command();
        BUFFERS.set(None);
        let [stdout, stderr] = buffers.map(|buffer| buffer.take());
        Captured { status, stdout, stderr }
    }

    pub(super) fn buffers() -> Option<[Buffer; 2]> {
        BUFFERS.with_borrow(Clone::clone)
    }

    impl Buffer {
        pub(super) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn take(&self) -> Vec<u8> {
            std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
        }
    }
}
