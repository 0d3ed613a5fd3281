//! What the program says of itself: `completions` and `man`.

use super::Over;
use clap::Args;
use std::path::PathBuf;

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  swapmeet completions bash > ~/.local/share/bash-completion/completions/swapmeet
  swapmeet completions zsh > ~/.zfunc/_swapmeet
  swapmeet completions fish > ~/.config/fish/completions/swapmeet.fish";

pub(super) const MAN_EXAMPLES: &str = "\
Examples:
  swapmeet man | man -l -                   read it
  swapmeet man --out ~/.local/share/man/man1";

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// A folder for a page a command; the program's own page to standard output if not given.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Whether that may be over what is there.
    #[command(flatten)]
    pub over: Over,
}
