//! Loads plugin files: checks the entry symbol and the ABI version, then copies and validates
//! everything else.
//!
//! The copy is a description that can be sent between processes (see [`crate::describe`]). A
//! process that plans schedules loads the file itself.

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use swapmeet_abi::{
    ENTRY_SYMBOL, Growing, SWM_ABI_MAJOR, SWM_ABI_MINOR, SWM_MAGIC, SWM_PARAM_CHOICE,
    SWM_PARAM_FILE, SWM_PARAM_NUMBER, SWM_PARAM_TEXT, SwmAlgorithm, SwmEntry, SwmHead,
    SwmParamInfo, SwmPlugin, SwmRun, SwmStr, read_sized,
};
use swapmeet_core::limits;
use swapmeet_core::text::{escaped, excerpt};

pub(crate) mod file;
pub mod linked;

use file::{KnownDigest, Stamp, digest_of};

/// The reason why a file cannot be loaded as a plugin.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// The system's loader rejected the file: it is no library, is for another machine, or lacks a
    /// dependency.
    #[error("{path}: not a library that can be loaded: {reason}")]
    NotALibrary {
        path: PathBuf,
        /// The full message of the loader.
        reason: String,
    },
    /// A library without the entry symbol.
    #[error("{path}: not a swapmeet plugin: it has no symbol `{}`", ENTRY_SYMBOL.to_string_lossy())]
    NoEntry { path: PathBuf },
    /// The entry function returned null or something other than a plugin's table.
    #[error("{path}: not a swapmeet plugin: {what}")]
    BadTable {
        path: PathBuf,
        /// The error in the table.
        what: String,
    },
    /// The plugin was built for another major version of the ABI.
    #[error(
        "{path}: built for plugin ABI {major}.{minor}, but this program supports {SWM_ABI_MAJOR}.{SWM_ABI_MINOR}: rebuild the plugin with a header or SDK of version {SWM_ABI_MAJOR}.x"
    )]
    OtherAbi {
        path: PathBuf,
        /// Major version of the plugin's ABI.
        major: u32,
        /// Minor version of the plugin's ABI.
        minor: u32,
    },
    /// The message of the process that loaded the file.
    #[error("{0}")]
    Reported(String),
}

/// The description of a plugin. A loaded library stays in its process forever, because tables and
/// texts may be anywhere in it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plugin {
    /// The plugin file.
    pub path: PathBuf,
    pub name: String,
    pub version: String,
    /// Digest of the file.
    pub digest: String,
    pub licence: String,
    /// ABI version that the plugin was built for.
    pub abi: (u32, u32),
    pub algorithms: Vec<Arc<Algorithm>>,
}

/// An algorithm of a plugin.
#[derive(Debug, Serialize, Deserialize)]
pub struct Algorithm {
    /// The name in specs.
    pub name: String,
    pub title: String,
    /// The publication.
    pub paper: String,
    /// The supported topologies.
    pub accepts: String,
    /// Bit mask of supported collectives: bit `1 << SWM_ALLTOALL` etc.
    pub collectives: u64,
    /// The parameters.
    pub params: Vec<Param>,
    /// Maximum number of messages that a node sends, or receives, in one step; 0 if not stated.
    pub ports: u64,
    /// The plugin to which the algorithm belongs.
    pub plugin: Build,
    pub file: PathBuf,
    /// The state of the file when it was read.
    pub(crate) stamp: Stamp,
    /// The plugin's own table after loading, or the reason why it cannot be loaded.
    #[serde(skip)]
    table: OnceLock<Result<FunctionTable, String>>,
}

/// Name, version and digest of a plugin.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Build {
    pub name: String,
    pub version: String,
    /// Digest of the plugin file; empty if there is no file.
    pub digest: String,
}

/// A parameter of an algorithm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    pub key: String,
    /// The permitted values.
    pub kind: ParamKind,
    /// The default value; empty if it depends on the problem.
    pub default: String,
    /// Meaning and values.
    pub help: String,
}

/// The permitted values of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParamKind {
    /// Any text. Also used for kinds that later ABI versions may add.
    Text,
    /// A nonnegative integer.
    Number,
    /// One of these words.
    Choice(Vec<String>),
    /// The path of a file that the algorithm reads. The row contains its digest.
    File,
}

impl ParamKind {
    /// Returns the permitted words of a choice.
    pub fn words(&self) -> &[String] {
        match self {
            Self::Choice(words) => words,
            Self::Text | Self::Number | Self::File => &[],
        }
    }

    /// Returns the canonical spelling of a value. The error states what is expected.
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

/// The plugin's own table of an algorithm, which is passed back in calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FunctionTable {
    pub(crate) raw: *const SwmAlgorithm,
    pub(crate) supports: Option<SwmRun>,
    pub(crate) plan: SwmRun,
}

// SAFETY: the boundary promises that tables are constant and that calls may come from any thread.
unsafe impl Send for FunctionTable {}
// SAFETY: as above.
unsafe impl Sync for FunctionTable {}

impl Plugin {
    /// Loads a plugin file.
    ///
    /// This runs code of the file and requires the same trust as running a program.
    pub fn load(path: &Path) -> Result<Self, PluginError> {
        Self::load_known(path, None)
    }

    /// Like [`Plugin::load`], with a digest that may be up to date.
    pub(crate) fn load_known(
        path: &Path,
        known: Option<KnownDigest<'_>>,
    ) -> Result<Self, PluginError> {
        if let Some(linked) = linked::at(path) {
            let (digest, stamp) = linked::build(known).map_err(|e| PluginError::NotALibrary {
                path: path.to_owned(),
                reason: e.to_string(),
            })?;
            // SAFETY: it is what a plugin's entry returned.
            return unsafe { Self::read(path, digest, &stamp, (linked.table)()) };
        }
        // The loader would search a bare file name in the system's library directories.
        let file = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let no_library =
            |reason: String| PluginError::NotALibrary { path: path.to_owned(), reason };
        let (digest, stamp) = digest_of(&file, known).map_err(|e| no_library(e.to_string()))?;
        // SAFETY: running the library's initialisers is what the caller asked for. RTLD_LOCAL keeps
        // its symbols to itself.
        let library = unsafe { Library::open(Some(&file), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|e| no_library(chain(&e)))?;
        // If the file was replaced in the meantime, the digest belongs to another build.
        if Stamp::at(&file).ok().as_ref() != Some(&stamp) {
            return Err(no_library("it changed while it was loaded".to_owned()));
        }
        // SAFETY: a symbol of this name is a plugin's entry, of this type.
        let entry = unsafe { library.get::<SwmEntry>(ENTRY_SYMBOL.to_bytes_with_nul()) };
        let table = match entry {
            // SAFETY: the symbol is the entry function, which takes nothing.
            Ok(entry) => unsafe { entry() },
            Err(_) => return Err(PluginError::NoEntry { path: path.to_owned() }),
        };
        // The library is never unloaded: tables, hooks and threads may still point to its code.
        std::mem::forget(library);
        // SAFETY: the boundary promises that what the entry returns is a table for the life of the
        // process, or null.
        unsafe { Self::read(path, digest, &stamp, table) }
    }

    /// Checks the names of the plugin and its algorithms.
    pub(crate) fn check_names(&self) -> Result<(), String> {
        check_plugin_name(&self.name)?;
        self.algorithms.iter().try_for_each(|algorithm| check_algorithm_name(&algorithm.name))
    }

    /// Returns the same plugin with another path.
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

    /// Reads a plugin that is already in memory, such as a linked one. `path` is recorded as its
    /// origin.
    ///
    /// # Safety
    ///
    /// `table` must be null or what a plugin's entry function returned.
    pub unsafe fn of_table(path: &Path, table: *const SwmPlugin) -> Result<Self, PluginError> {
        // SAFETY: the caller promises the same.
        unsafe { Self::read(path, String::new(), &Stamp::default(), table) }
    }

    /// Reads a plugin's table, beginning with its head.
    ///
    /// # Safety
    ///
    /// See [`Plugin::of_table`].
    unsafe fn read(
        path: &Path,
        digest: String,
        stamp: &Stamp,
        table: *const SwmPlugin,
    ) -> Result<Self, PluginError> {
        let bad = |what: String| PluginError::BadTable { path: path.to_owned(), what };
        if table.is_null() {
            return Err(bad("its entry returns no table".to_owned()));
        }
        // SAFETY: every version's table begins with this head.
        let head = unsafe { table.cast::<SwmHead>().read_unaligned() };
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
        // SAFETY: a table of this major version has as many bytes as its head says.
        let table = unsafe { read_sized(table) }.map_err(|size| bad(small::<SwmPlugin>(size)))?;
        let text = |s: SwmStr, what: &str| {
            // SAFETY: a table's texts live as long as the plugin.
            unsafe { text(s) }.map_err(|why| bad(format!("its {what} {why}")))
        };
        let name = text(table.name, "name")?;
        check_plugin_name(&name).map_err(bad)?;
        let version = text(table.version, "version")?;
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
        let mut algorithms: Vec<Arc<Algorithm>> = Vec::new();
        for i in 0..table.algorithm_count as usize {
            // SAFETY: the table promises `algorithm_count` pointers.
            let raw = unsafe { table.algorithms.add(i).read_unaligned() };
            // SAFETY: the table promises that each points to an algorithm's table.
            let algorithm = unsafe { Algorithm::read(raw, path, stamp, &build) };
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
            licence: text(table.licence, "licence")?,
            abi: (head.abi_major, head.abi_minor),
            name: build.name,
            version: build.version,
            digest: build.digest,
            algorithms,
        })
    }
}

/// Refuses names of plugins that would be ambiguous in rows or as part of a file name.
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

/// Returns the error for a table that is smaller than that of any version.
fn small<T: Growing>(size: usize) -> String {
    format!("its table has {size} bytes, expected at least {}", T::SIZE_1_0)
}

impl Algorithm {
    /// Returns the plugin's own table and loads the file if this process has not loaded it yet.
    pub(crate) fn table(&self) -> Result<FunctionTable, String> {
        let load = || {
            // The digest is not computed again, because the sandbox may forbid reading the
            // program's file.
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

    /// Returns a pointer to the plugin's own table, for callers that call the plugin directly.
    /// Loads the file if necessary.
    #[doc(hidden)]
    pub fn raw_table(&self) -> Result<*const SwmAlgorithm, String> {
        self.table().map(|table| table.raw)
    }

    /// Reads the table of an algorithm.
    ///
    /// # Safety
    ///
    /// `raw` must be null or point to the table of an algorithm.
    unsafe fn read(
        raw: *const SwmAlgorithm,
        file: &Path,
        stamp: &Stamp,
        plugin: &Build,
    ) -> Result<Self, String> {
        if raw.is_null() {
            return Err("no table".to_owned());
        }
        // SAFETY: the caller promises an algorithm's table, and it is not null.
        let table = unsafe { read_sized(raw) }.map_err(small::<SwmAlgorithm>)?;
        // SAFETY: a table's texts live as long as the plugin.
        let read =
            |s: SwmStr, what: &str| unsafe { text(s) }.map_err(|why| format!("its {what} {why}"));
        let name = read(table.name, "name")?;
        if name.is_empty() && table.plan.is_none() && table.title.len > 0 {
            return Err(read(table.title, "title")?);
        }
        check_algorithm_name(&name)?;
        let plan = table.plan.ok_or_else(|| format!("`{name}` has no `plan` function"))?;
        if table.collectives == 0 {
            return Err(format!("`{name}` implements no collective"));
        }
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
        for i in 0..table.param_count as usize {
            // SAFETY: the table promises `param_count` pointers.
            let raw = unsafe { table.params.add(i).read_unaligned() };
            // SAFETY: the table promises that each points to a parameter's.
            let param = unsafe { Param::read(raw) };
            params.push(param.map_err(|what| format!("parameter {i} of `{name}`: {what}"))?);
        }
        Ok(Self {
            title: read(table.title, "title")?,
            paper: read(table.paper, "paper")?,
            accepts: read(table.accepts, "list of what it accepts")?,
            collectives: table.collectives,
            params,
            ports: table.ports,
            plugin: plugin.clone(),
            file: file.to_owned(),
            stamp: stamp.clone(),
            table: OnceLock::from(Ok(FunctionTable { raw, supports: table.supports, plan })),
            name,
        })
    }
}

impl Param {
    /// Reads the table of a parameter.
    ///
    /// # Safety
    ///
    /// `raw` must be null or point to the table of a parameter.
    unsafe fn read(raw: *const SwmParamInfo) -> Result<Self, String> {
        if raw.is_null() {
            return Err("no table".to_owned());
        }
        // SAFETY: the caller promises a parameter's table, and it is not null.
        let table = unsafe { read_sized(raw) }.map_err(small::<SwmParamInfo>)?;
        // SAFETY: a table's texts live as long as the plugin.
        let read =
            |s: SwmStr, what: &str| unsafe { text(s) }.map_err(|why| format!("its {what} {why}"));
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
                let values = (0..table.value_count as usize).map(|i| {
                    // SAFETY: the table promises `value_count` texts.
                    read(unsafe { table.values.add(i).read_unaligned() }, "value")
                });
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
        let default = read(table.default_value, "default")?;
        if !default.is_empty() && kind.canonical(&default).as_ref() != Ok(&default) {
            let expected = kind.canonical(&default).unwrap_or_else(|expected| expected);
            return Err(format!("its default is `{default}`, expected {expected}"));
        }
        Ok(Self { key: read(table.key, "key")?, kind, default, help: read(table.help, "help")? })
    }
}

/// Copies a plugin's text and escapes control characters, which could affect the terminal.
///
/// # Safety
///
/// See [`SwmStr::bytes`].
pub(crate) unsafe fn text(s: SwmStr) -> Result<String, &'static str> {
    if s.ptr.is_null() && s.len > 0 {
        return Err("is null, but has a length");
    }
    if s.len as u64 > limits::TEXT_BYTES {
        return Err("is longer than 1 MiB");
    }
    // SAFETY: the caller promises what is needed.
    let bytes = unsafe { s.bytes() };
    let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8")?;
    Ok(escaped(text).into_owned())
}

/// Formats an error with all its causes. The loader's own `Display` omits the reason.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

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
        // SAFETY: the text is a string's.
        let read = |given: &str| unsafe { text(SwmStr::new(given)) };
        assert_eq!(
            read("two\nlines, \u{1b}[31mred, µ"),
            Ok("two\\nlines, \\u{1b}[31mred, µ".to_owned())
        );
    }
}
