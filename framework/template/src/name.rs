/// A plugin's name: lower-case letters, digits and single hyphens, beginning with a letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error(
        "`{0}` is not a plugin name, expected lower-case letters, digits and single hyphens, beginning with a letter, such as `my-ring`"
    )]
    Form(String),
    /// The name is a keyword of Rust or C, or the name of another crate in the plugin's folder.
    #[error("`{0}` is reserved: it is a keyword or a crate of every plugin; try `my-{0}`")]
    Reserved(String),
    #[error("the name has {0} letters, expected at most {most}", most = Name::MAX_LETTERS)]
    TooLong(usize),
}

/// Names that a crate (`test`, `core`, `std`), a type, or a C function cannot have.
const RESERVED: &str = "\
    abstract as async await become box break const continue core crate do dyn else enum extern \
    false final fn for gen if impl in let loop macro match mod move mut override priv proc-macro \
    pub ref return self static std struct super swapmeet-abi swapmeet-sdk test trait true try \
    type typeof union unsafe unsized use virtual where while yield alloc";

impl Name {
    pub const MAX_LETTERS: usize = 64;

    /// Parses a name.
    ///
    /// ```
    /// use swapmeet_template::Name;
    /// assert!(Name::parse("torus-2d").is_ok());
    /// let error = Name::parse("Torus").unwrap_err();
    /// assert!(error.to_string().starts_with("`Torus` is not a plugin name, expected lower-case letters"));
    /// ```
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let has_form =
            text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(is_allowed);
        if !has_form || text.ends_with('-') || text.contains("--") {
            return Err(NameError::Form(text.to_owned()));
        }
        if text.len() > Self::MAX_LETTERS {
            return Err(NameError::TooLong(text.len()));
        }
        if RESERVED.split_whitespace().any(|word| word == text) {
            return Err(NameError::Reserved(text.to_owned()));
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn ident(&self) -> String {
        self.0.replace('-', "_")
    }

    /// Returns the name as that of a type. For example, `my-ring` becomes `MyRing`.
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

    pub(crate) fn fill_in(&self, template: &str) -> String {
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
        assert_eq!(name.fill_in("@NAME@ @ident@ @Type@"), "two-stage-2d two_stage_2d TwoStage2d");
    }

    #[test]
    fn invalid_names_are_refused() {
        for wrong in ["", "-a", "a-", "a--b", "2d", "a_b", "a b", "A", "../a", "é"] {
            assert_eq!(Name::parse(wrong), Err(NameError::Form(wrong.to_owned())));
        }
        assert_eq!(
            Name::parse("fn").unwrap_err().to_string(),
            "`fn` is reserved: it is a keyword or a crate of every plugin; try `my-fn`"
        );
        assert_eq!(
            Name::parse(&"a".repeat(65)).unwrap_err().to_string(),
            "the name has 65 letters, expected at most 64"
        );
    }
}
