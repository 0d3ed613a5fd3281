//! `swapmeet new-plugin` and `swapmeet header` write the first files of a plugin.

use crate::args::NewPluginArgs;
use crate::failure::{ExitStatus, Failure, SUCCESS};
use crate::output;
use crate::run::bundled_owner;
use crate::say::say;
use std::path::Path;
use swapmeet_template::{HEADER, Language, Name, Workspace, WriteError, files, write};

pub(crate) fn new_plugin(args: &NewPluginArgs) -> Result<ExitStatus, Failure> {
    let name = Name::parse(&args.name).map_err(Failure::usage)?;
    let folder = Path::new(name.as_str());
    let above = Workspace::above(folder);
    write(folder, &files(&name, args.lang, &above)).map_err(|e| match e {
        WriteError::Io { path, source } => Failure::file(&path, &source),
        WriteError::Exists(_) => Failure::Usage(e.to_string()),
    })?;
    let build = match args.lang {
        Language::Rust => "cargo build --release",
        Language::C => "make",
    };
    if let Some(plugin) = bundled_owner(name.as_str()) {
        say!(
            "remark: the bundled plugin `{plugin}` has an algorithm `{}`: one hides the other, unless yours is renamed",
            args.name
        );
    }
    if let (Workspace::NotMember(root), Language::Rust) = (&above, args.lang) {
        say!(
            "remark: {} is a workspace of its own, because the workspace in {} does not list it",
            args.name,
            root.display()
        );
    }
    say!("made {}; next: cd {} && {build}, then see its README.md", args.name, args.name);
    Ok(SUCCESS)
}

pub(crate) fn header() -> Result<ExitStatus, Failure> {
    output::print(HEADER)?;
    Ok(SUCCESS)
}
