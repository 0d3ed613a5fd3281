//! Loads plugin files: checks the entry symbol and the ABI version, then copies and validates the
//! plugin's tables. The copies can be sent to other processes (see [`crate::describe`]).

pub(crate) mod file;
pub mod linked;

use crate::defect;
use crate::process::shared::in_plugin;
use file::{KnownDigest, Stamp, digest_of};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use swapmeet_abi::hosting::{Functions, Passed, Text, Unreadable};
use swapmeet_abi::{
    ENTRY_SYMBOL, Growing, SWM_ABI_MAJOR, SWM_ABI_MINOR, SWM_MAGIC, SWM_PARAM_CHOICE,
    SWM_PARAM_FILE, SWM_PARAM_NUMBER, SWM_PARAM_TEXT, SwmAlgorithm, SwmEntry, SwmParamInfo,
    SwmPlugin,
};
use swapmeet_core::delivery::collective::{CollectiveKind, of_bits};
use swapmeet_core::limits;
use swapmeet_core::text::{escaped, excerpt};

#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    #[error("{path}: not a library that can be loaded: {reason}")]
    NotALibrary { path: PathBuf, reason: String },
    #[error("{path}: not a swapmeet plugin: it has no symbol `{}`", ENTRY_SYMBOL.to_string_lossy())]
    NoEntry { path: PathBuf },
    /// The entry function returned null, or a pointer to something other than a plugin's table.
    #[error("{path}: not a swapmeet plugin: {what}")]
    BadTable { path: PathBuf, what: String },
    #[error(
        "{path}: built for plugin ABI {major}.{minor}, but this program supports {SWM_ABI_MAJOR}.{SWM_ABI_MINOR}: rebuild the plugin with a header or SDK of version {SWM_ABI_MAJOR}.x"
    )]
    OtherAbi { path: PathBuf, major: u32, minor: u32 },
    #[error("{0}")]
    Reported(String),
}

/// A loaded library is never unloaded, because this process continues to use its tables and texts.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plugin {
    pub path: PathBuf,
    pub name: String,
    pub version: String,
    pub digest: String,
    pub licence: String,
    pub abi: (u32, u32),
    pub algorithms: Vec<Arc<Algorithm>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct Algorithm {
    pub name: String,
    pub title: String,
    pub paper: String,
    pub accepts: String,
    /// Bit `c` is set if the collective with the number `c` in the ABI is supported.
    pub collectives: u64,
    pub params: Vec<Param>,
    /// The largest number of messages that a node sends or receives in one step; 0 if unknown.
    pub ports: u64,
    pub plugin: Build,
    pub file: PathBuf,
    pub(crate) stamp: Stamp,
    /// The plugin's own table, after the file was loaded in this process, or the reason why it
    /// cannot be loaded.
    #[serde(skip)]
    table: OnceLock<Result<Functions<'static>, String>>,
}

/// The papers whose algorithms are listed first. Each entry has the beginning of the paper's
/// reference, and a list of authors that is used as a heading.
pub const PAPERS: [(&str, &str); 5] = [
    ("Y.-J. Suh", "Suh & Shin"),
    ("R. Thakur, A. Choudhary", "Thakur, Choudhary & Fox"),
    ("W. Liu", "Liu, Wang & Prasanna"),
    ("C. C. Spencer", "Spencer"),
    ("Y. Li, S. Peng", "Li, Peng & Chu"),
];

impl Algorithm {
    /// Errors if the algorithm does not implement the collective. Called before a case uses memory.
    pub fn check_implements(&self, kind: &CollectiveKind) -> Result<(), String> {
        if self.collectives >> kind.code & 1 == 1 {
            return Ok(());
        }
        let others: Vec<String> =
            of_bits(self.collectives).map(|kind| format!("`{}/..`", kind.word)).collect();
        let others = others.join(", ");
        Err(format!("`{}` does not implement `{}`, only workloads {others}", self.name, kind.word))
    }

    pub fn main_paper(&self) -> Option<usize> {
        PAPERS.iter().position(|(start, _)| self.paper.starts_with(start))
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Build {
    pub name: String,
    pub version: String,
    pub digest: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    pub key: String,
    pub kind: ParamKind,
    /// The default value. Empty if it depends on the problem.
    pub default: String,
    pub help: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParamKind {
    /// Any text. Kinds of parameters that later ABI versions add are treated as texts.
    Text,
    Number,
    Choice(Vec<String>),
    /// The name of a file. The digest of the file becomes part of the row.
    File,
}

impl ParamKind {
    pub fn words(&self) -> &[String] {
        match self {
            Self::Choice(words) => words,
            Self::Text | Self::Number | Self::File => &[],
        }
    }

    /// Returns a value in its canonical spelling. The error describes which values are valid.
    pub fn canonical(&self, text: &str) -> Result<String, String> {
        let expected = match self {
            Self::Text | Self::File => return Ok(text.to_owned()),
            Self::Number if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) => {
                let digits = text.trim_start_matches('0');
                return Ok(if digits.is_empty() { "0".to_owned() } else { digits.to_owned() });
            }
            Self::Number => "a whole number".to_owned(),
            Self::Choice(words) if words.iter().any(|word| word == text) => {
                return Ok(text.to_owned());
            }
            Self::Choice(words) => format!("one of {}", words.join(", ")),
        };
        Err(expected)
    }
}

impl Plugin {
    /// Loads a plugin file and runs code in it. This requires the same trust as running a program.
    pub fn load(path: &Path) -> Result<Self, PluginError> {
        Self::load_known(path, None)
    }

    /// Loads a plugin file without computing its digest, which takes longer than loading the file.
    pub fn load_without_digest(path: &Path) -> Result<Self, PluginError> {
        let stamp = Stamp::at(linked::file_of(path)).unwrap_or_default();
        Self::load_known(path, Some(KnownDigest { stamp: &stamp, digest: "" }))
    }

    /// Loads a plugin file. If its metadata equals that of `known`, the digest is not computed
    /// again.
    pub(crate) fn load_known(
        path: &Path,
        known: Option<KnownDigest<'_>>,
    ) -> Result<Self, PluginError> {
        if let Some(linked) = linked::at(path) {
            let (digest, stamp) = linked::build(known).map_err(|e| PluginError::NotALibrary {
                path: path.to_owned(),
                reason: e.to_string(),
            })?;
            let table = (linked.table)();
            // The entry function has installed the panic hook of the SDK.
            defect::store_messages();
            // SAFETY: the table was returned by a plugin's entry function.
            let table = unsafe { Passed::new(table) };
            return Self::read(path, digest, &stamp, table);
        }
        // If the name had no directory, the loader would search the system's directories for it.
        let file = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let no_library =
            |reason: String| PluginError::NotALibrary { path: path.to_owned(), reason };
        let (digest, stamp) = digest_of(&file, known).map_err(|e| no_library(e.to_string()))?;
        // SAFETY: opening a library runs its initialisers, which the caller has requested.
        // RTLD_LOCAL hides its symbols from other libraries.
        let library = in_plugin(|| unsafe { Library::open(Some(&file), RTLD_NOW | RTLD_LOCAL) })
            .map_err(|e| no_library(chain(&e)))?;
        if Stamp::at(&file).ok().as_ref() != Some(&stamp) {
            return Err(no_library("it changed while it was loaded".to_owned()));
        }
        // SAFETY: a symbol with this name is the entry function of a plugin and has its type.
        let entry = unsafe { library.get::<SwmEntry>(ENTRY_SYMBOL.to_bytes_with_nul()) };
        let table = match entry {
            // SAFETY: the symbol is the entry function, which has no parameters.
            Ok(entry) => in_plugin(|| unsafe { entry() }),
            Err(_) => return Err(PluginError::NoEntry { path: path.to_owned() }),
        };
        // The library must stay loaded, because tables, hooks and threads may point to its code.
        std::mem::forget(library);
        // SAFETY: by the ABI, the function returns null or a table that exists as long as the
        // process.
        let table = unsafe { Passed::new(table.cast_const()) };
        Self::read(path, digest, &stamp, table)
    }

    pub(crate) fn check_names(&self) -> Result<(), String> {
        check_plugin_name(&self.name)?;
        self.algorithms.iter().try_for_each(|algorithm| check_algorithm_name(&algorithm.name))
    }

    #[must_use]
    pub(crate) fn at(mut self, path: &Path) -> Self {
        for algorithm in &mut self.algorithms {
            if let Some(algorithm) = Arc::get_mut(algorithm) {
                path.clone_into(&mut algorithm.file);
            }
        }
        path.clone_into(&mut self.path);
        self
    }

    #[must_use]
    pub(crate) fn with_build(mut self, digest: &str, stamp: &Stamp) -> Self {
        let build = Build {
            name: self.name.clone(),
            version: self.version.clone(),
            digest: digest.to_owned(),
        };
        for algorithm in self.algorithms.iter_mut().filter_map(Arc::get_mut) {
            algorithm.plugin = build.clone();
            algorithm.stamp = stamp.clone();
        }
        digest.clone_into(&mut self.digest);
        self
    }

    /// Reads a plugin whose table is already in memory. `path` is stored as the path of its file.
    ///
    /// # Safety
    ///
    /// `table` must be null or a pointer that a plugin's entry function returned.
    pub unsafe fn of_table(path: &Path, table: *const SwmPlugin) -> Result<Self, PluginError> {
        defect::store_messages();
        // SAFETY: the caller promises null or a plugin's table.
        let table = unsafe { Passed::new(table) };
        Self::read(path, String::new(), &Stamp::default(), table)
    }
}

impl Algorithm {
    pub(crate) fn table(&self) -> Result<Functions<'static>, String> {
        let load = || {
            // The digest is known, and the sandbox may forbid reading the program's file again.
            let known = KnownDigest { stamp: &self.stamp, digest: &self.plugin.digest };
            let plugin = Plugin::load_known(&self.file, Some(known)).map_err(|e| e.to_string())?;
            let again = plugin.algorithms.iter().find(|again| again.name == self.name);
            let again = again.ok_or_else(|| {
                format!("{} has no algorithm `{}` any more", self.file.display(), self.name)
            })?;
            again.table()
        };
        self.table.get_or_init(load).clone()
    }

    #[doc(hidden)]
    pub fn raw_table(&self) -> Result<*const SwmAlgorithm, String> {
        self.table().map(|functions| functions.table())
    }
}

/// Returns an error message with all causes, which the `Display` of the loader's errors omits.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

impl Plugin {
    /// Reads a plugin's table. Starts with the head of the table, which contains the version.
    fn read(
        path: &Path,
        digest: String,
        stamp: &Stamp,
        table: Passed<'static, *const SwmPlugin>,
    ) -> Result<Self, PluginError> {
        // The head is checked first, because the version determines the layout of the table.
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
        // An error in any algorithm refuses the whole plugin.
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
        // If the entry function of a plugin panics, the SDK returns a table without a name whose
        // title is the panic message.
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
        // Counts are checked before pointers to the counted items are followed.
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

fn check_plugin_name(name: &str) -> Result<(), String> {
    let is_allowed = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ' ');
    if name.starts_with(char::is_alphanumeric) && name.chars().all(is_allowed) {
        return Ok(());
    }
    Err(format!(
        "its name is `{}`, expected letters, digits, hyphens, underscores, dots and spaces",
        excerpt(name)
    ))
}

fn check_algorithm_name(name: &str) -> Result<(), String> {
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

/// Copies a text of a plugin. Escapes control characters, which could affect the terminal.
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

#[cfg(test)]
mod tests {
    use super::*;
    use swapmeet_abi::SwmStr;

    #[test]
    fn values_have_one_spelling_and_others_say_what_was_expected() {
        let words = ParamKind::Choice(vec!["rows".to_owned(), "columns".to_owned()]);
        let expected = |what: &str| Err(what.to_owned());
        assert_eq!(ParamKind::Number.canonical("007"), Ok("7".to_owned()));
        assert_eq!(ParamKind::Number.canonical("00"), Ok("0".to_owned()));
        assert_eq!(ParamKind::Number.canonical("-1"), expected("a whole number"));
        assert_eq!(ParamKind::Number.canonical(""), expected("a whole number"));
        assert_eq!(words.canonical("rows"), Ok("rows".to_owned()));
        assert_eq!(words.canonical("row"), expected("one of rows, columns"));
        assert_eq!(ParamKind::Text.canonical("any Text"), Ok("any Text".to_owned()));
    }

    #[test]
    fn texts_are_one_line_and_leave_the_terminal_alone() {
        // SAFETY: the text borrows the bytes of a string.
        let read = |given: &str| text(unsafe { Passed::new(SwmStr::new(given)) });
        assert_eq!(
            read("two\nlines, \u{1b}[31mred, µ"),
            Ok("two\\nlines, \\u{1b}[31mred, µ".to_owned())
        );
    }
}
