//! Standard output, for data only: where plugins run in this process, what they print goes to standard error.

use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::OnceLock;

static KEPT: OnceLock<File> = OnceLock::new();

/// Keeps standard output for [`data`]; whatever else is printed, by anybody's code, goes to standard error from now on.
pub fn keep() -> io::Result<()> {
    let own = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    rustix::stdio::dup2_stdout(io::stderr())?;
    // Kept once is kept.
    drop(KEPT.set(own));
    Ok(())
}

/// Whether data go to a terminal.
pub fn is_terminal() -> bool {
    KEPT.get().map_or_else(|| io::stdout().is_terminal(), IsTerminal::is_terminal)
}

/// Where data go.
pub fn data() -> io::Result<Box<dyn Write>> {
    Ok(match KEPT.get() {
        Some(own) => Box::new(own.try_clone()?),
        None => Box::new(io::stdout()),
    })
}
