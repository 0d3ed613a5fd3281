//! Loading a plugin file: one symbol, versions first, then everything else copied out and checked.
//!
//! What is copied out is a description, which goes between processes ([`crate::describe`]); a
//! process that makes schedules loads the file it came from.

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

pub(crate) mod file;
pub mod linked;

use file::{KnownDigest, Stamp, digest_of};

/// Why a file could not be loaded as a plugin.
#[derive(Debug, thiserror::Error)]
pub enum PluginError {
    /// The system's loader refused it: no library, not for this machine, a missing dependency.
    #[error("{path}: not a library that can be loaded: {reason}")]
    NotALibrary {
        path: PathBuf,
        /// All the loader said.
        reason: String,
    },
    /// A library, but without the entry symbol.
    #[error("{path}: not a swapmeet plugin: it has no symbol `{}`", ENTRY_SYMBOL.to_string_lossy())]
    NoEntry { path: PathBuf },
    /// The entry function returned nothing, or not a plugin's table.
    #[error("{path}: not a swapmeet plugin: {what}")]
    BadTable {
        path: PathBuf,
        /// What is wrong with the table.
        what: String,
    },
    /// Built for another major version of the boundary.
    #[error(
        "{path}: built for plugin ABI {major}.{minor}, this swapmeet speaks {SWM_ABI_MAJOR}.{SWM_ABI_MINOR}: rebuild the plugin with a header or SDK of version {SWM_ABI_MAJOR}.x"
    )]
    OtherAbi {
        path: PathBuf,
        /// The plugin's major version.
        major: u32,
        /// The plugin's minor version.
        minor: u32,
    },
    /// What the process that loaded it says.
    #[error("{0}")]
    Reported(String),
}

/// What a plugin says of itself. Once a process has loaded it, the library stays for that process's
/// life: its tables and texts may be anywhere in it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plugin {
    /// The file it came from.
    pub path: PathBuf,
    pub name: String,
    pub version: String,
    /// The digest of the file.
    pub digest: String,
    pub licence: String,
    /// The boundary's version it was built for.
    pub abi: (u32, u32),
    pub algorithms: Vec<Arc<Algorithm>>,
}

/// One algorithm of a plugin.
#[derive(Debug, Serialize, Deserialize)]
pub struct Algorithm {
    /// The name users type.
    pub name: String,
    pub title: String,
    /// Where it was published.
    pub paper: String,
    /// On what it runs.
    pub accepts: String,
    /// Bit `1 << SWM_ALLTOALL`, .. for each collective it does.
    pub collectives: u64,
    /// The parameters it takes.
    pub params: Vec<Param>,
    /// The most messages that a node sends, or receives, in one step, as the plugin says; 0 where
    /// it doesn't.
    pub ports: u64,
    /// The plugin it is of.
    pub plugin: Build,
    pub file: PathBuf,
    /// What the file was when it was read.
    pub(crate) stamp: Stamp,
    /// The plugin's own table, once this process has loaded it; or why it can't.
    #[serde(skip)]
    table: OnceLock<Result<FunctionTable, String>>,
}

/// A plugin's name, and which build of it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Build {
    pub name: String,
    pub version: String,
    /// The digest of the plugin's file; empty where it came from none.
    pub digest: String,
}

/// A parameter that an algorithm takes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    pub key: String,
    /// What it may be.
    pub kind: ParamKind,
    /// What it is when not given; empty where that depends on the problem.
    pub default: String,
    /// Meaning and values.
    pub help: String,
}

/// What a parameter may be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParamKind {
    /// Any text: also what a later version of the boundary may add.
    Text,
    /// A whole number, from 0 on.
    Number,
    /// One of these words.
    Choice(Vec<String>),
    /// The path of a file that the algorithm reads: its digest is among a row's inputs.
    File,
}

impl ParamKind {
    /// The words it may be, where it is a choice.
    pub fn words(&self) -> &[String] {
        match self {
            Self::Choice(words) => words,
            Self::Text | Self::Number | Self::File => &[],
        }
    }

    /// The value that a text names, in the one way in which specs spell it; `Err` says what was
    /// expected.
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

/// The plugin's own table of an algorithm, handed back to it in calls.
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
    /// Loads a plugin from a file.
    ///
    /// The file's own code runs: loading a plugin is trusting it as much as running a program.
    pub fn load(path: &Path) -> Result<Self, PluginError> {
        Self::load_known(path, None)
    }

    /// The same, where the digest of the file may be known.
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
        // A bare file name would be looked up in the system's library folders.
        let file = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let no_library =
            |reason: String| PluginError::NotALibrary { path: path.to_owned(), reason };
        let (digest, stamp) = digest_of(&file, known).map_err(|e| no_library(e.to_string()))?;
        // SAFETY: running the library's initialisers is what the caller asked for. RTLD_LOCAL keeps
        // its symbols to itself.
        let library = unsafe { Library::open(Some(&file), RTLD_NOW | RTLD_LOCAL) }
            .map_err(|e| no_library(chain(&e)))?;
        // What was loaded is what was read, or rows would be called those of another build.
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
        // Never unloaded: dropping the handle would unmap code that tables, hooks and threads may
        // still point to.
        std::mem::forget(library);
        // SAFETY: the boundary promises that what the entry returns is a table for the life of the
        // process, or null.
        unsafe { Self::read(path, digest, &stamp, table) }
    }

    /// The same, found at `path`.
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

    /// A plugin that is there already, such as one linked into the program; `path` says where it
    /// came from. Its table is read head first.
    ///
    /// # Safety
    /// `table` must be null or what a plugin's entry returned.
    pub unsafe fn of_table(path: &Path, table: *const SwmPlugin) -> Result<Self, PluginError> {
        // SAFETY: the caller promises the same.
        unsafe { Self::read(path, String::new(), &Stamp::default(), table) }
    }

    /// Reads a plugin's table, head first.
    ///
    /// # Safety
    /// As [`Plugin::of_table`].
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
        // SAFETY: a table's texts live as long as the plugin.
        let text = |s: SwmStr, what: &str| {
            unsafe { text(s) }.map_err(|why| bad(format!("its {what} {why}")))
        };
        let name = text(table.name, "name")?;
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

/// What is said of a table that no version has so small.
fn small<T: Growing>(size: usize) -> String {
    format!("its table has {size} bytes, expected at least {}", T::SIZE_1_0)
}

impl Algorithm {
    /// The plugin's own table. Loads the file, where this process hasn't yet.
    pub(crate) fn table(&self) -> Result<FunctionTable, String> {
        let load = || {
            // Not read again: a sandbox may keep the process from the program's own file.
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

    /// The plugin's own table of the algorithm, for who calls it by himself. Loads the file, where
    /// this process hasn't yet.
    #[doc(hidden)]
    pub fn raw_table(&self) -> Result<*const SwmAlgorithm, String> {
        self.table().map(|table| table.raw)
    }

    /// Reads an algorithm's table.
    ///
    /// # Safety
    /// `raw` must be null or point to an algorithm's table.
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
        let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || !name.chars().all(fine) {
            return Err(format!(
                "its name is `{name}`, expected lower-case letters, digits and hyphens"
            ));
        }
        let plan = table.plan.ok_or_else(|| format!("`{name}` has no `plan` function"))?;
        if table.collectives == 0 {
            return Err(format!("`{name}` does no collective"));
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
    /// Reads a parameter's table.
    ///
    /// # Safety
    /// `raw` must be null or point to a parameter's table.
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
                return Err("it is a choice among no values".to_owned());
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

/// Copies a plugin's text as one line: control characters, which could play tricks with a terminal,
/// stand there escaped.
///
/// # Safety
/// As [`SwmStr::bytes`].
pub(crate) unsafe fn text(s: SwmStr) -> Result<String, &'static str> {
    if s.ptr.is_null() && s.len > 0 {
        return Err("is null, though it has a length");
    }
    if s.len as u64 > limits::TEXT_BYTES {
        return Err("is over a mebibyte long");
    }
    // SAFETY: the caller promises what is needed.
    let bytes = unsafe { s.bytes() };
    let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8")?;
    Ok(text.chars().fold(String::with_capacity(text.len()), |mut line, c| {
        if c.is_control() {
            line.extend(c.escape_default());
        } else {
            line.push(c);
        }
        line
    }))
}

/// An error with all its causes: the loader's own `Display` leaves out the reason.
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
