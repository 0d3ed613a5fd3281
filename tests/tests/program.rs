//! The program as its users see it: commands, output, help, messages and written files.

mod bad_input;
mod ci;
mod cli;
mod clusters;
mod errors_doc;
mod examples;
mod export;
mod figures;
mod files;
mod fit;
mod from_files;
mod help;
mod import;
mod install;
mod machines;
mod measured;
mod networks;
mod optimum;
mod overwriting;
mod pages;
mod prices;
mod ranks;
mod trace;
mod tune;
mod untrusted;
mod walk;
