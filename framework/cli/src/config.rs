//! The files `swapmeet.toml`. The current folder's settings override those of the user's file.

use crate::failure::Failure;
use crate::streams;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use swapmeet_runner::config::{Config, Owner};
use swapmeet_workloads::file::read_bounded;

const NAME: &str = "swapmeet.toml";

pub(crate) fn read() -> Result<Config, Failure> {
    if streams::is_test() {
        return Ok(Config::default());
    }
    let user = match user_folder() {
        Some(folder) => of(&folder.join(NAME), Owner::User(&folder))?,
        None => Config::default(),
    };
    Ok(of(Path::new(NAME), Owner::Folder)?.over(user))
}

fn user_folder() -> Option<PathBuf> {
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base =
        absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    Some(base?.join("swapmeet"))
}

fn of(path: &Path, owner: Owner<'_>) -> Result<Config, Failure> {
    const LONGEST: u64 = 1 << 16;
    if matches!(std::fs::metadata(path), Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
    {
        return Ok(Config::default());
    }
    let content = read_bounded(path, LONGEST, "a configuration")
        .map_err(|what| Failure::Usage(format!("{}: {what}", path.display())))?;
    Ok(Config::parse(&path.display().to_string(), &content, owner)?)
}
