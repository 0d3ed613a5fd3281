//! The text form of a field of a row.
//! Times are rounded to a millionth of a microsecond. The last bits of a sum of floating-point
//! numbers depend on the order of the additions, and so on the compiler. A rounded value is written
//! with the fewest digits from which the same value is read back (Rust's `{}`).

use std::hash::{Hash, Hasher};
use std::io::Write;
use swapmeet_core::text::escaped;

pub(crate) const STEPS: f64 = 1e6;

/// Times from this on (2^51 steps, 37 minutes) are not rounded: rounding twice could change them.
pub(crate) const FINEST: f64 = 2_251_799_813.0;

/// Rounds a time to whole steps. Negative zero becomes zero.
pub(crate) fn rounded(x: f64) -> f64 {
    let x = if x.abs() < FINEST { (x * STEPS).round() / STEPS } else { x };
    if x == 0.0 { 0.0 } else { x }
}

/// The error for a time or a size that exceeds the range of a double.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("column `{column}` is {value}, expected a finite number")]
pub struct NotFinite {
    pub column: &'static str,
    pub value: f64,
}

pub(crate) trait Field: Clone {
    /// The type of the column, named as in Table Schema: `string`, `integer` or `number`.
    const TYPE: &'static str;

    fn write(&self) -> String;

    /// Parses the text of a field. The error states which values are expected.
    fn read(text: &str) -> Result<Self, String>;

    fn as_written(&self) -> Self {
        self.clone()
    }

    /// Hashes the value that is read back after this value was written.
    fn hash_as_written(&self, state: &mut impl Hasher);

    /// Returns the value as a number, or `None` if the type is not a floating-point number.
    fn number(&self) -> Option<f64> {
        None
    }
}

/// A text that looks like a formula is executed by spreadsheets, so an apostrophe is written before
/// it. When a text is read, its control characters are escaped, because the file may be untrusted.
impl Field for String {
    const TYPE: &'static str = "string";

    fn write(&self) -> String {
        if is_formula(self) { format!("'{self}") } else { self.clone() }
    }
    fn read(text: &str) -> Result<Self, String> {
        let plain = text.strip_prefix('\'').filter(|rest| is_formula(rest));
        Ok(escaped(plain.unwrap_or(text)).into_owned())
    }
    fn as_written(&self) -> Self {
        escaped(self).into_owned()
    }
    fn hash_as_written(&self, state: &mut impl Hasher) {
        escaped(self).hash(state);
    }
}

/// Formats rows as CSV, first the header. Texts that a spreadsheet would execute are escaped.
pub fn csv_table<R>(rows: impl IntoIterator<Item = R>) -> Result<String, csv::Error>
where
    R: IntoIterator<Item: AsRef<str>>,
{
    let mut bytes = Vec::new();
    write_csv_table(&mut bytes, rows)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

pub(crate) fn write_csv_table<R>(
    out: impl Write,
    rows: impl IntoIterator<Item = R>,
) -> Result<(), csv::Error>
where
    R: IntoIterator<Item: AsRef<str>>,
{
    let is_number = |text: &str| text.parse().is_ok_and(f64::is_finite);
    let field = |text: &str| {
        if is_number(text) { text.to_owned() } else { Field::write(&text.to_owned()) }
    };
    let mut writer = csv::Writer::from_writer(out);
    for row in rows {
        writer.write_record(row.into_iter().map(|text| field(text.as_ref())))?;
    }
    Ok(writer.flush()?)
}

/// Returns whether a spreadsheet could execute a text. Apostrophes may precede a formula.
fn is_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r'])
}

macro_rules! integer_fields {
    ($($type:ty),+) => {$(
        impl Field for $type {
            const TYPE: &'static str = "integer";

            fn write(&self) -> String {
                self.to_string()
            }
            fn read(text: &str) -> Result<Self, String> {
                text.parse().map_err(|_| "a whole number".to_owned())
            }
            fn hash_as_written(&self, state: &mut impl Hasher) {
                self.hash(state);
            }
        }
    )+};
}

integer_fields!(u32, u64, u128);

impl Field for f64 {
    const TYPE: &'static str = "number";

    fn write(&self) -> String {
        rounded(*self).to_string()
    }
    fn read(text: &str) -> Result<Self, String> {
        text.parse::<Self>().ok().filter(|x| x.is_finite()).ok_or_else(|| "a number".to_owned())
    }
    fn as_written(&self) -> Self {
        rounded(*self)
    }
    fn hash_as_written(&self, state: &mut impl Hasher) {
        rounded(*self).to_bits().hash(state);
    }
    fn number(&self) -> Option<f64> {
        Some(*self)
    }
}

/// If a column does not apply to a case, its field is empty.
impl<T: Field> Field for Option<T> {
    const TYPE: &'static str = T::TYPE;

    fn write(&self) -> String {
        self.as_ref().map(T::write).unwrap_or_default()
    }
    fn read(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            Ok(None)
        } else {
            T::read(text).map(Some).map_err(|e| format!("{e}, or nothing"))
        }
    }
    fn as_written(&self) -> Self {
        self.as_ref().map(T::as_written)
    }
    fn hash_as_written(&self, state: &mut impl Hasher) {
        self.is_some().hash(state);
        self.iter().for_each(|value| value.hash_as_written(state));
    }
    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(T::number)
    }
}

/// Defines an enum of words. Writing, reading and error messages use the same list.
macro_rules! words {
    ($(#[$doc:meta])+ $type:ident { $($(#[$about:meta])+ $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub enum $type {
            $($(#[$about])+ $variant,)+
        }

        impl $type {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.word())
            }
        }

        impl $crate::field::Field for $type {
            const TYPE: &'static str = "string";

            fn write(&self) -> String {
                self.word().to_owned()
            }
            fn read(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok(Self::$variant),)+
                    _ => Err(format!("one of {}", [$($word),+].join(", "))),
                }
            }
            fn hash_as_written(&self, state: &mut impl std::hash::Hasher) {
                std::hash::Hash::hash(self, state);
            }
        }
    };
}
pub(crate) use words;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_look_like_formulas_are_escaped() {
        for text in [
            "=HYPERLINK(\"http://x\")",
            "+1",
            "-1",
            "@sum",
            "\t=1",
            "'=1",
            "''=1",
            "'",
            "it's",
            "a=b",
            "",
        ] {
            let written = text.to_owned().write();
            assert!(!written.starts_with(['=', '+', '-', '@', '\t', '\r']), "{written}");
            assert_eq!(String::read(&written).as_deref(), Ok(&*escaped(text)));
        }
    }

    #[test]
    fn texts_are_escaped_when_they_are_read() {
        let read = |text: &str| String::read(text).unwrap();
        assert_eq!(read("a\u{1b}[31m\r\n\u{202e}"), "a\\u{1b}[31m\\r\\n\\u{202e}");
        assert_eq!(read("'=1\u{7}"), "=1\\u{7}");
    }

    #[test]
    fn a_table_has_no_formulas() {
        let rows = [["name", "=x"], ["=1+1", "-1.5"], ["+a", "-inf"], ["@b, c", "1e3"]];
        assert_eq!(csv_table(rows).unwrap(), "name,'=x\n'=1+1,-1.5\n'+a,'-inf\n\"'@b, c\",1e3\n");
    }

    #[test]
    fn times_are_rounded_to_a_millionth() {
        assert_eq!((0.1 + 0.2).write(), "0.3");
        assert_eq!(1.5e9.write(), "1500000000");
        assert_eq!(123_456_789.123_456_78.write(), "123456789.123457");
        assert_eq!((-1e-9).write(), "0");
    }

    #[test]
    fn large_values_are_not_rounded() {
        assert_eq!(1e22.write(), "10000000000000000000000");
        assert_eq!(f64::MAX.as_written(), f64::MAX);
        let largest = FINEST - 1e-6;
        assert_eq!(rounded(rounded(largest)), rounded(largest));
    }

    #[test]
    fn invalid_numbers_are_refused() {
        assert_eq!(f64::read("NaN"), Err("a number".to_owned()));
        assert_eq!(f64::read("1e999"), Err("a number".to_owned()));
        assert_eq!(u64::read("18446744073709551616"), Err("a whole number".to_owned()));
        assert_eq!(Option::<u64>::read("1.5"), Err("a whole number, or nothing".to_owned()));
    }
}
