use super::Overwrite;
use clap::Args;
use std::path::PathBuf;

pub(super) const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  swapmeet completions bash \\
    > ~/.local/share/bash-completion/completions/swapmeet
  swapmeet completions zsh > ~/.zfunc/_swapmeet
  swapmeet completions fish > ~/.config/fish/completions/swapmeet.fish";

pub(super) const MAN_EXAMPLES: &str = "\
Examples:
  swapmeet man | man -l -                   read it
  swapmeet man --out ~/.local/share/man/man1";

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Print the script for this shell.
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Write one page per command to DIR instead of printing one.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Option for existing output files.
    #[command(flatten)]
    pub over: Overwrite,
}
