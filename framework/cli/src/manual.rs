//! `swapmeet man` generates manual pages from the definition of the command line.

use crate::args::{Cli, ManArgs};
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::output;
use clap::{Command, CommandFactory};
use std::io;
use swapmeet_results::atomic_file::StagingFolder;

pub(crate) fn man(args: &ManArgs) -> Result<ExitStatus, Failure> {
    let program = visible();
    match &args.out {
        None => {
            let text = page(program).map_err(|e| Failure::writing("the manual page", &e))?;
            output::print(&String::from_utf8_lossy(&text))?;
        }
        Some(folder) => {
            std::fs::create_dir_all(folder).map_err(|e| Failure::file(folder, &e))?;
            // Pages are first written to a staging folder, so that a failure leaves no incomplete
            // pages.
            let pages = StagingFolder::new(folder).map_err(|e| Failure::file(folder, &e))?;
            clap_mangen::generate_to(program, pages.path())
                .map_err(|e| Failure::file(folder, &e))?;
            let listed =
                std::fs::read_dir(pages.path()).and_then(Iterator::collect::<io::Result<Vec<_>>>);
            let listed = listed.map_err(|e| Failure::file(folder, &e))?;
            for page in &listed {
                output::may_write(&folder.join(page.file_name()), args.over, [""; 0])?;
            }
            for page in listed {
                let path = folder.join(page.file_name());
                std::fs::rename(page.path(), &path).map_err(|e| Failure::file(&path, &e))?;
            }
        }
    }
    Ok(SUCCESS)
}

fn visible() -> Command {
    let all = Cli::command().disable_help_subcommand(true);
    let commands: Vec<Command> = all.get_subcommands().cloned().collect();
    let bare =
        Command::new("swapmeet").version(env!("CARGO_PKG_VERSION")).disable_help_subcommand(true);
    let about = all.get_about().cloned().unwrap_or_default();
    let examples = all.get_after_help().cloned().unwrap_or_default();
    bare.about(about).after_help(examples).subcommands(commands).help_expected(true)
}

fn page(command: Command) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(text)
}
