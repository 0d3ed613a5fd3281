//! The name of a plugin, and what it becomes in sources.

/// A plugin's name: lower-case letters, digits and single hyphens, a letter first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(String);

/// A name that can't be one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not of the form that names have.
    #[error(
        "`{0}` is no plugin's name, expected lower-case letters, digits and single hyphens, a letter first, such as `my-ring`"
    )]
    Form(String),
    /// A word that Rust or C keeps for itself, or a crate that the folder carries.
    #[error(
        "`{0}` is taken: it is a word of the language or a crate that every plugin carries; try `my-{0}`"
    )]
    Taken(String),
    /// Too long for a file's name.
    #[error("the name has {0} letters, expected at most {most}", most = Name::LONGEST)]
    Long(usize),
}

/// Words that a crate, a type or a C function can't be called. `test`, `core` and `std` are crates
/// that cargo refuses.
const TAKEN: [&str; 59] = [
    "abstract",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "core",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc-macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "swapmeet-abi",
    "swapmeet-sdk",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "union",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    "alloc",
];

impl Name {
    /// The longest name, in letters.
    pub const LONGEST: usize = 64;

    /// Reads a name.
    ///
    /// ```
    /// use swapmeet_template::Name;
    /// assert!(Name::parse("torus-2d").is_ok());
    /// let error = Name::parse("Torus").unwrap_err();
    /// assert!(error.to_string().starts_with("`Torus` is no plugin's name, expected lower-case letters"));
    /// ```
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let formed = text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(fine);
        if !formed || text.ends_with('-') || text.contains("--") {
            return Err(NameError::Form(text.to_owned()));
        }
        if text.len() > Self::LONGEST {
            return Err(NameError::Long(text.len()));
        }
        if TAKEN.contains(&text) {
            return Err(NameError::Taken(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// As a crate or a function: `my_ring`.
    fn ident(&self) -> String {
        self.0.replace('-', "_")
    }

    /// As a type: `MyRing`.
    fn type_name(&self) -> String {
        let capital = |word: &str| {
            let mut letters = word.chars();
            letters
                .next()
                .map(|c| c.to_ascii_uppercase().to_string() + letters.as_str())
                .unwrap_or_default()
        };
        self.0.split('-').map(capital).collect()
    }

    /// A template's text with the name in its place.
    pub(crate) fn put_into(&self, template: &str) -> String {
        let (version, rust) = (env!("CARGO_PKG_VERSION"), env!("CARGO_PKG_RUST_VERSION"));
        let names =
            [("@NAME@", self.as_str()), ("@ident@", &self.ident()), ("@Type@", &self.type_name())];
        let versions = [("@VERSION@", version), ("@RUST@", rust)];
        names.iter().chain(&versions).fold(template.to_owned(), |text, (placeholder, value)| {
            text.replace(placeholder, value)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_a_crate_and_a_type() {
        let name = Name::parse("two-stage-2d").unwrap();
        assert_eq!(name.put_into("@NAME@ @ident@ @Type@"), "two-stage-2d two_stage_2d TwoStage2d");
    }

    #[test]
    fn what_no_compiler_or_file_system_would_take_is_refused() {
        for wrong in ["", "-a", "a-", "a--b", "2d", "a_b", "a b", "A", "../a", "é"] {
            assert_eq!(Name::parse(wrong), Err(NameError::Form(wrong.to_owned())));
        }
        assert_eq!(
            Name::parse("fn").unwrap_err().to_string(),
            "`fn` is taken: it is a word of the language or a crate that every plugin carries; try `my-fn`"
        );
        assert_eq!(
            Name::parse(&"a".repeat(65)).unwrap_err().to_string(),
            "the name has 65 letters, expected at most 64"
        );
    }
}
