//! Functions that copy and validate the tables of a plugin.

use super::{Algorithm, Build, Param, ParamKind, Plugin, PluginError, Stamp};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use swapmeet_abi::hosting::{Passed, Text, Unreadable};
use swapmeet_abi::{
    Growing, SWM_ABI_MAJOR, SWM_MAGIC, SWM_PARAM_CHOICE, SWM_PARAM_FILE, SWM_PARAM_NUMBER,
    SWM_PARAM_TEXT, SwmAlgorithm, SwmParamInfo, SwmPlugin,
};
use swapmeet_core::limits;
use swapmeet_core::text::{escaped, excerpt};

impl Plugin {
    /// Reads a plugin's table. The head of the table, with the version, is read first.
    pub(super) fn read(
        path: &Path,
        digest: String,
        stamp: &Stamp,
        table: Passed<'static, *const SwmPlugin>,
    ) -> Result<Self, PluginError> {
        // Read the head. The version in it determines the layout of the table.
        let bad = |what: String| PluginError::BadTable { path: path.to_owned(), what };
        let head = table.head().ok_or_else(|| bad("its entry returns no table".to_owned()))?;
        if head.magic != SWM_MAGIC {
            return Err(bad(format!(
                "its table begins with {:#018x}, expected {SWM_MAGIC:#018x}",
                head.magic
            )));
        }
        if head.abi_major != SWM_ABI_MAJOR {
            return Err(PluginError::OtherAbi {
                path: path.to_owned(),
                major: head.abi_major,
                minor: head.abi_minor,
            });
        }
        let table = table.read().map_err(|why| bad(unreadable::<SwmPlugin>(why)))?;
        // Copy and escape all texts, and check the names.
        let text =
            |s: Text<'_>, what: &str| text(s).map_err(|why| bad(format!("its {what} {why}")));
        let name = text(table.name(), "name")?;
        check_plugin_name(&name).map_err(bad)?;
        let version = text(table.version(), "version")?;
        let build = Build { name, version, digest };
        if table.algorithm_count == 0 || table.algorithms.is_null() {
            return Err(bad("it has no algorithms".to_owned()));
        }
        const MOST_ALGORITHMS: u64 = limits::ALGORITHMS;
        if table.algorithm_count > MOST_ALGORITHMS {
            return Err(bad(format!(
                "it claims {} algorithms, expected at most {MOST_ALGORITHMS}",
                table.algorithm_count
            )));
        }
        // Copy each algorithm with its parameters. The first error refuses the whole plugin.
        let mut algorithms: Vec<Arc<Algorithm>> = Vec::new();
        for (i, raw) in table.algorithms().parts().enumerate() {
            let algorithm = Algorithm::read(raw, path, stamp, &build);
            let algorithm = algorithm.map_err(|what| bad(format!("algorithm {i}: {what}")))?;
            if let Some(first) = algorithms.iter().position(|a| a.name == algorithm.name) {
                return Err(bad(format!(
                    "algorithms {first} and {i} are both named `{}`",
                    algorithm.name
                )));
            }
            algorithms.push(Arc::new(algorithm));
        }
        Ok(Self {
            path: path.to_owned(),
            licence: text(table.licence(), "licence")?,
            abi: (head.abi_major, head.abi_minor),
            name: build.name,
            version: build.version,
            digest: build.digest,
            algorithms,
        })
    }
}

impl Algorithm {
    fn read(
        raw: Passed<'static, *const SwmAlgorithm>,
        file: &Path,
        stamp: &Stamp,
        plugin: &Build,
    ) -> Result<Self, String> {
        let table = raw.read().map_err(unreadable::<SwmAlgorithm>)?;
        let read = |s: Text<'_>, what: &str| text(s).map_err(|why| format!("its {what} {why}"));
        // If a plugin panics while it describes an algorithm, the SDK returns a table without a
        // name and without `plan`. Its title is the error message.
        let name = read(table.name(), "name")?;
        if name.is_empty() && table.plan.is_none() && table.title.len > 0 {
            return Err(read(table.title(), "title")?);
        }
        check_algorithm_name(&name)?;
        let functions =
            raw.functions().ok_or_else(|| format!("`{name}` has no `plan` function"))?;
        if table.collectives == 0 {
            return Err(format!("`{name}` implements no collective"));
        }
        // Check counts before pointers are followed.
        const MOST_PARAMS: u64 = limits::PARAMS;
        if table.param_count > MOST_PARAMS {
            return Err(format!(
                "`{name}` claims {} parameters, expected at most {MOST_PARAMS}",
                table.param_count
            ));
        }
        if table.param_count > 0 && table.params.is_null() {
            return Err(format!("`{name}` has null for its {} parameters", table.param_count));
        }
        let mut params = Vec::new();
        for (i, raw) in table.params().parts().enumerate() {
            let param = Param::read(raw);
            params.push(param.map_err(|what| format!("parameter {i} of `{name}`: {what}"))?);
        }
        Ok(Self {
            title: read(table.title(), "title")?,
            paper: read(table.paper(), "paper")?,
            accepts: read(table.accepts(), "list of what it accepts")?,
            collectives: table.collectives,
            params,
            ports: table.ports,
            plugin: plugin.clone(),
            file: file.to_owned(),
            stamp: stamp.clone(),
            table: OnceLock::from(Ok(functions)),
            name,
        })
    }
}

impl Param {
    fn read(raw: Passed<'_, *const SwmParamInfo>) -> Result<Self, String> {
        let table = raw.read().map_err(unreadable::<SwmParamInfo>)?;
        let read = |s: Text<'_>, what: &str| text(s).map_err(|why| format!("its {what} {why}"));
        const MOST_VALUES: u64 = limits::PARAM_VALUES;
        if table.value_count > MOST_VALUES {
            return Err(format!(
                "it claims {} values, expected at most {MOST_VALUES}",
                table.value_count
            ));
        }
        if table.value_count > 0 && table.values.is_null() {
            return Err(format!("it has null for its {} values", table.value_count));
        }
        let kind = match table.kind {
            SWM_PARAM_CHOICE if table.value_count == 0 => {
                return Err("it is a choice without values".to_owned());
            }
            SWM_PARAM_CHOICE => {
                let values = table.values().parts().map(|value| read(value, "value"));
                ParamKind::Choice(values.collect::<Result<_, _>>()?)
            }
            SWM_PARAM_NUMBER => ParamKind::Number,
            SWM_PARAM_FILE => ParamKind::File,
            SWM_PARAM_TEXT => ParamKind::Text,
            other => {
                return Err(format!(
                    "its kind is {other}, expected {SWM_PARAM_TEXT} to {SWM_PARAM_FILE}"
                ));
            }
        };
        let default = read(table.default_value(), "default")?;
        if !default.is_empty() && kind.canonical(&default).as_ref() != Ok(&default) {
            let expected = kind.canonical(&default).unwrap_or_else(|expected| expected);
            return Err(format!("its default is `{default}`, expected {expected}"));
        }
        Ok(Self {
            key: read(table.key(), "key")?,
            kind,
            default,
            help: read(table.help(), "help")?,
        })
    }
}

pub(super) fn check_plugin_name(name: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    if name.starts_with(char::is_alphanumeric) && name.chars().all(is_allowed) {
        return Ok(());
    }
    Err(format!(
        "its name is `{}`, expected letters, digits, hyphens, underscores, dots and spaces",
        excerpt(name)
    ))
}

pub(super) fn check_algorithm_name(name: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.is_empty() && name.chars().all(is_allowed) {
        return Ok(());
    }
    Err(format!("its name is `{}`, expected lower-case letters, digits and hyphens", excerpt(name)))
}

fn unreadable<T: Growing>(why: Unreadable) -> String {
    match why {
        Unreadable::Null => "no table".to_owned(),
        Unreadable::Small(size) => {
            format!("its table has {size} bytes, expected at least {}", T::SIZE_1_0)
        }
    }
}

/// Copies a plugin's text. Control characters are escaped, because they could affect the terminal.
pub(crate) fn text(s: Text<'_>) -> Result<String, &'static str> {
    if s.ptr.is_null() && s.len > 0 {
        return Err("is null, but has a length");
    }
    if s.len as u64 > limits::TEXT_BYTES {
        return Err("is longer than 1 MiB");
    }
    let text = std::str::from_utf8(s.bytes()).map_err(|_| "is not UTF-8")?;
    Ok(escaped(text).into_owned())
}
