//! Reads TOML files with serde. Errors have the position of the mistake in the file.

use crate::input::{InputError, Place, Text};
use serde::de::{DeserializeOwned, Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use swapmeet_core::spec::near_matches;
use swapmeet_core::text::escaped;
use toml::Spanned;

thread_local! {
    /// The file that this thread reads, which texts need for their positions. It is a global
    /// variable, because serde passes no context to a deserializer.
    static FILE: RefCell<Option<Place>> = const { RefCell::new(None) };
}

pub(crate) fn read<T: DeserializeOwned>(source: &str, content: &str) -> Result<T, InputError> {
    let file =
        Place { source: source.to_owned(), content: content.into(), span: 0..0, is_file: true };
    FILE.set(Some(file.clone()));
    let value = toml::Deserializer::parse(content).and_then(T::deserialize);
    FILE.set(None);
    value.map_err(|error| {
        let place = Place { span: error.span().unwrap_or_default(), ..file };
        input_error(&Text { value: String::new(), place }, error.message())
    })
}

pub(crate) fn place(span: Range<usize>) -> Place {
    let file = FILE.with_borrow(Clone::clone).unwrap_or_else(|| unreachable!("no file is read"));
    Place { span, ..file }
}

/// Returns a text with its position in the file that this thread reads. Escapes control characters.
pub(crate) fn text(text: &Spanned<String>) -> Text {
    Text { value: escaped(text.get_ref()).into_owned(), place: place(text.span()) }
}

fn input_error(at: &Text, message: &str) -> InputError {
    if let Some((key, keys)) =
        message.strip_prefix("unknown field `").and_then(|rest| rest.rsplit_once("`, expected "))
    {
        let keys: Vec<&str> = keys.split('`').skip(1).step_by(2).collect();
        let near = near_matches(key, keys.iter().copied());
        let error = at.error(format!("unknown key `{}`", escaped(key)));
        return error.near(&near, &format!("expected one of {}", keys.join(", ")));
    }
    let wrong = message.strip_prefix("invalid type: ");
    let Some((found, expected)) = wrong
        .or_else(|| message.strip_prefix("invalid value: "))
        .and_then(|rest| rest.rsplit_once(", expected "))
    else {
        return at.error(message.trim_end().replace('\n', ", "));
    };
    let expected = match expected {
        "a boolean" => "true or false",
        "a map" => "a table",
        "a sequence" => "a list of tables",
        "a string" => "a text in quotes",
        "a nonzero u32" => "a whole number from 1 to 4294967295",
        "f64" => "a number",
        "u64" => "a whole number from 0 to 18446744073709551615",
        other => other,
    };
    let written = &at.place.content[at.place.span.clone()];
    let is_date = written.starts_with(|c: char| c.is_ascii_digit());
    let found = match found.split(' ').next() {
        Some("string") => "a text".to_owned(),
        Some("sequence") => "a list".to_owned(),
        Some("map") if !is_date => "a table".to_owned(),
        _ => written.replace('_', ""),
    };
    at.error(format!("expected {expected}, found {found}"))
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(text(&Spanned::deserialize(deserializer)?))
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.value)
    }
}

pub(crate) fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Text>, D::Error> {
    texts_not_table(deserializer, None)
}

/// Reads a list of texts, as [`texts`] does. If the file has a table instead, the error is `hint`.
pub(crate) fn texts_not_table<'de, D: Deserializer<'de>>(
    deserializer: D,
    hint: Option<&'static str>,
) -> Result<Vec<Text>, D::Error> {
    struct Texts(Option<&'static str>);

    impl<'de> Visitor<'de> for Texts {
        type Value = Vec<Text>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of texts in quotes")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<Text>, A::Error> {
            let mut texts = Vec::new();
            while let Some(text) = list.next_element()? {
                texts.push(text);
            }
            if texts.is_empty() {
                return Err(A::Error::custom("the list is empty, expected at least one entry"));
            }
            Ok(texts)
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, _: A) -> Result<Vec<Text>, A::Error> {
            Err(self
                .0
                .map_or_else(|| A::Error::invalid_type(Unexpected::Map, &self), A::Error::custom))
        }
    }

    deserializer.deserialize_seq(Texts(hint))
}
