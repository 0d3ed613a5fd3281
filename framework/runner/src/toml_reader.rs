//! Reads TOML from the parsed tree instead of through serde. In the tree, every key and every list
//! entry has its position in the file, which error messages need.

use crate::input::{InputError, Place, Text};
use std::borrow::Cow;
use std::sync::Arc;
use swapmeet_core::spec::near_matches;
use swapmeet_core::text::escaped;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

/// The text of a TOML file, with methods that read its values.
pub(crate) struct TomlReader {
    source: String,
    content: Arc<str>,
}

impl TomlReader {
    pub(crate) fn new(source: &str, content: &str) -> Self {
        Self { source: source.to_owned(), content: content.into() }
    }

    /// Parses the file and returns its tree of tables, in which each value has its position in the
    /// file.
    pub(crate) fn tree(&self) -> Result<Spanned<DeTable<'_>>, InputError> {
        DeTable::parse(&self.content).map_err(|e| {
            let text = self.text("", e.span().unwrap_or(0..0));
            text.error(e.message().trim_end().replace('\n', ", "))
        })
    }

    /// Returns the error for a key that is not one of `keys`. `what` is the name of the table for
    /// the message.
    pub(crate) fn unknown<const N: usize>(
        &self,
        key: &Spanned<Cow<'_, str>>,
        what: &str,
        keys: [&str; N],
    ) -> InputError {
        let name = key.get_ref().as_ref();
        let error = self.text(name, key.span()).error(format!("unknown key `{name}`"));
        error.near(&near_matches(name, keys), &format!("{what} has: {}", keys.join(", ")))
    }

    /// Returns a text of the file with escaped control characters, and its position.
    pub(crate) fn text(&self, value: &str, span: std::ops::Range<usize>) -> Text {
        let place = Place {
            source: self.source.clone(),
            content: Arc::clone(&self.content),
            span,
            is_file: true,
        };
        Text { value: escaped(value).into_owned(), place }
    }

    pub(crate) fn wrong(&self, value: &Spanned<DeValue<'_>>, expected: &str) -> InputError {
        self.text("", value.span())
            .error(format!("expected {expected}, found {}", named(value.get_ref())))
    }

    pub(crate) fn string(&self, value: &Spanned<DeValue<'_>>) -> Result<Text, InputError> {
        match value.get_ref() {
            DeValue::String(s) => Ok(self.text(s, value.span())),
            _ => Err(self.wrong(value, "a text in quotes")),
        }
    }

    pub(crate) fn strings(&self, value: &Spanned<DeValue<'_>>) -> Result<Vec<Text>, InputError> {
        let list: &DeArray<'_> = match value.get_ref() {
            DeValue::Array(list) => list,
            _ => return Err(self.wrong(value, "a list of texts in quotes")),
        };
        if list.is_empty() {
            return Err(self
                .text("", value.span())
                .error("the list is empty, expected at least one entry"));
        }
        list.iter().map(|entry| self.string(entry)).collect()
    }

    pub(crate) fn whole(
        &self,
        value: &Spanned<DeValue<'_>>,
        least: u64,
        most: u64,
    ) -> Result<u64, InputError> {
        let expected = || format!("a whole number from {least} to {most}");
        let DeValue::Integer(i) = value.get_ref() else {
            return Err(self.wrong(value, &expected()));
        };
        let digits = i.as_str().replace('_', "");
        u64::from_str_radix(digits.trim_start_matches('+'), i.radix())
            .ok()
            .filter(|n| (least..=most).contains(n))
            .ok_or_else(|| {
                self.text("", value.span())
                    .error(format!("expected {}, found {digits}", expected()))
            })
    }

    pub(crate) fn truth(&self, value: &Spanned<DeValue<'_>>) -> Result<bool, InputError> {
        match value.get_ref() {
            DeValue::Boolean(truth) => Ok(*truth),
            _ => Err(self.wrong(value, "true or false")),
        }
    }

    pub(crate) fn number(&self, value: &Spanned<DeValue<'_>>) -> Option<String> {
        match value.get_ref() {
            DeValue::Integer(i) if i.radix() == 10 => Some(i.as_str().replace('_', "")),
            DeValue::Float(x) => Some(x.as_str().replace('_', "")),
            DeValue::String(s) => Some(s.to_string()),
            // Refuse a hexadecimal, octal or binary integer, which is probably meant as a bit mask.
            DeValue::Integer(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Array(_)
            | DeValue::Table(_) => None,
        }
    }

    pub(crate) fn table<'v>(
        &self,
        value: &'v Spanned<DeValue<'v>>,
    ) -> Result<&'v DeTable<'v>, InputError> {
        match value.get_ref() {
            DeValue::Table(table) => Ok(table),
            _ => Err(self.wrong(value, "a table")),
        }
    }
}

fn named(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "a truth value",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
